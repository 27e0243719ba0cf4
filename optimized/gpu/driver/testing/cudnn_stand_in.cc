// A stand-in for libcudnn in tests, in the library that stands in for the driver: convolutions by
// their definition on the pretended device's memory. It notes handles that are not there, sizes
// that do not fit, too small workspaces, and what is left when the library's handle goes.
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/driver/libraries/cudnn_calls.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "spec/base/status_macros.h"
#include "spec/types/native.h"

namespace assay::gpu {
namespace {

struct Pretended {
  enum class Kind : uint8_t { kTensor, kFilter, kConvolution, kActivation };
  Kind kind = Kind::kTensor;
  int type = kCudnnFloat, groups = 1, mode = kCudnnIdentity;
  std::vector<int> sizes, strides, padding, steps, dilation;

  int64_t Reach() const {
    int64_t reach = 1;
    for (size_t d = 0; d < sizes.size(); ++d) reach += int64_t{sizes[d] - 1} * strides[d];
    return reach;
  }
  int64_t ElementBytes() const { return type == kCudnnDouble ? 8 : type == kCudnnFloat ? 4 : 2; }
  uint64_t Bytes() const { return static_cast<uint64_t>(Reach() * ElementBytes()); }
};

struct PretendCudnn {
  std::map<void*, std::unique_ptr<Pretended>> made;
  int handles = 0;
  CudaHandle stream = nullptr;
};
PretendCudnn& Cudnn() {
  static auto& cudnn = *new PerDevice<PretendCudnn>();
  return cudnn.Here();
}
constexpr size_t kWorkspace = 48;  // that any convolution wants

CudnnStatus WrongCudnn(const std::string& what) {
  NoteMisuse(what);
  return kCudnnBadParameter;
}

Pretended* FindCudnn(CudnnHandle handle, Pretended::Kind kind) {
  const auto found = Cudnn().made.find(handle);
  return found != Cudnn().made.end() && found->second->kind == kind ? found->second.get() : nullptr;
}

double At(const std::vector<std::byte>& bytes, int type, int64_t place) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes.data() + place * static_cast<int64_t>(sizeof value), sizeof value);
    return static_cast<double>(static_cast<float>(value));
  };
  if (type == kCudnnDouble) {
    double value = 0;
    std::memcpy(&value, bytes.data() + place * 8, 8);
    return value;
  }
  if (type == kCudnnHalf) return read(Half());
  return type == kCudnnBFloat16 ? read(BFloat16()) : read(float());
}

void Put(std::vector<std::byte>& bytes, int type, int64_t place, double number) {
  const auto write = [&](auto value) {
    std::memcpy(bytes.data() + place * static_cast<int64_t>(sizeof value), &value, sizeof value);
  };
  const auto single = static_cast<float>(number);
  if (type == kCudnnDouble) write(number);
  if (type == kCudnnFloat) write(single);
  if (type == kCudnnHalf) write(Half(single));
  if (type == kCudnnBFloat16) write(BFloat16(single));
}

// f(place in x, place in w, place in y) for each product; false: sizes that do not fit.
template <typename F>
bool ForEachTerm(const Pretended& x, const Pretended& w, const Pretended& y,
                 const Pretended& convolution, F f) {
  const size_t rank = x.sizes.size(), space = rank - 2;
  const int groups = convolution.groups;
  if (w.sizes.size() != rank || y.sizes.size() != rank || convolution.padding.size() != space ||
      x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1] || w.sizes[1] * groups != x.sizes[1] ||
      y.sizes[1] % groups != 0)
    return false;
  for (size_t d = 0; d < space; ++d) {
    const int reach = (w.sizes[d + 2] - 1) * convolution.dilation[d] + 1;
    if (y.sizes[d + 2] !=
        (x.sizes[d + 2] + 2 * convolution.padding[d] - reach) / convolution.steps[d] + 1)
      return false;
  }
  const auto walk = [&](auto&& self, size_t d, int64_t xo, int64_t wo, int64_t yo) -> void {
    if (d == rank) return f(xo, wo, yo);
    for (int o = 0; o < y.sizes[d]; ++o) {
      for (int k = 0; k < w.sizes[d]; ++k) {
        const int i = o * convolution.steps[d - 2] + k * convolution.dilation[d - 2] -
                      convolution.padding[d - 2];
        if (i < 0 || i >= x.sizes[d]) continue;
        self(self, d + 1, xo + int64_t{i} * x.strides[d], wo + int64_t{k} * w.strides[d],
             yo + int64_t{o} * y.strides[d]);
      }
    }
  };
  const int per_group = y.sizes[1] / groups;
  for (int b = 0; b < y.sizes[0]; ++b)
    for (int o = 0; o < y.sizes[1]; ++o)
      for (int c = 0; c < w.sizes[1]; ++c)
        walk(walk, 2,
             int64_t{b} * x.strides[0] + int64_t{o / per_group * w.sizes[1] + c} * x.strides[1],
             int64_t{o} * w.strides[0] + int64_t{c} * w.strides[1],
             int64_t{b} * y.strides[0] + int64_t{o} * y.strides[1]);
  return true;
}

uint64_t AddressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// One convolution: what is summed from where, and what is done to the sums.
struct Job {
  Pretended x, w, y, convolution;
  uint64_t at_x = 0, at_w = 0, at_y = 0;
  int result = 2;  // 0: x, 1: w, 2: y
  double alpha = 1, side = 0;
  uint64_t at_side = 0, at_bias = 0;  // of y; bias 0: none
  bool is_relu = false;
};

absl::Status RunJob(DeviceMemory& memory, const Job& job) {
  const auto fetch = [&](uint64_t address,
                         uint64_t count) -> absl::StatusOr<std::vector<std::byte>> {
    std::vector<std::byte> bytes(count);
    ASSAY_RETURN_IF_ERROR(memory.CopyOut(address, absl::MakeSpan(bytes)));
    return bytes;
  };
  const Pretended* const parts[] = {&job.x, &job.w, &job.y};
  const uint64_t places[] = {job.at_x, job.at_w, job.at_y};
  std::vector<std::byte> bytes[3];
  for (int k = 0; k < 3; ++k) {
    if (k == job.result) continue;
    ASSAY_ASSIGN_OR_RETURN(bytes[k], fetch(places[k], parts[k]->Bytes()));
  }
  const Pretended& out = *parts[job.result];
  const int type = job.x.type;
  std::vector<double> sums(static_cast<size_t>(out.Reach()));
  ForEachTerm(job.x, job.w, job.y, job.convolution, [&](int64_t x, int64_t w, int64_t y) {
    const int64_t at[] = {x, w, y};
    double product = 1;
    for (int k = 0; k < 3; ++k)
      if (k != job.result) product *= At(bytes[k], type, at[k]);
    sums[static_cast<size_t>(at[job.result])] += product;
  });
  std::vector<std::byte> side, bias, result(out.Bytes());
  if (job.side != 0) {
    ASSAY_ASSIGN_OR_RETURN(side, fetch(job.at_side, out.Bytes()));
  }
  if (job.at_bias != 0) {
    ASSAY_ASSIGN_OR_RETURN(
        bias, fetch(job.at_bias, static_cast<uint64_t>(out.sizes[1] * out.ElementBytes())));
  }
  for (size_t k = 0; k < sums.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    double value = job.alpha * sums[k];
    if (job.side != 0) value += job.side * At(side, type, place);
    if (job.at_bias != 0) value += At(bias, type, place / out.strides[1] % out.sizes[1]);
    Put(result, type, place, job.is_relu && value < 0 ? 0 : value);
  }
  return memory.CopyIn(places[job.result], result);
}

CudnnStatus PutJob(const char* name, CudnnHandle handle, const Job& job, void* workspace,
                   size_t workspace_bytes, CudaHandle stream) {
  if (handle != &Cudnn() || Cudnn().handles == 0) return WrongCudnn("no such handle of cuDNN");
  if (!ForEachTerm(job.x, job.w, job.y, job.convolution, [](int64_t, int64_t, int64_t) {}))
    return WrongCudnn(absl::StrCat(name, ": sizes that do not fit"));
  if (workspace == nullptr || workspace_bytes < kWorkspace)
    return WrongCudnn(absl::StrCat(name, ": too small a workspace"));
  StreamWork work{name, {}, {}, nullptr};
  const auto add = [&](uint64_t address, const Pretended& part, bool is_written) {
    (is_written ? work.writes : work.reads).push_back({address, part.Bytes()});
  };
  add(job.at_x, job.x, job.result == 0);
  add(job.at_w, job.w, job.result == 1);
  add(job.at_y, job.y, job.result == 2);
  if (job.side != 0) add(job.at_side, job.y, false);
  work.writes.push_back({AddressOf(workspace), workspace_bytes});
  DeviceMemory& memory = StandInMemory();
  work.run = [&memory, job] { return RunJob(memory, job); };
  return PutOnStream(stream, std::move(work)) == 0 ? kCudnnSuccess : kCudnnExecutionFailed;
}

// The parts of a convolution; false: a handle that is not there.
bool ReadJob(CudnnHandle x, CudnnHandle w, CudnnHandle y, CudnnHandle convolution,
             const void* alpha, Job& job) {
  const Pretended* const parts[] = {FindCudnn(x, Pretended::Kind::kTensor),
                                    FindCudnn(w, Pretended::Kind::kFilter),
                                    FindCudnn(y, Pretended::Kind::kTensor),
                                    FindCudnn(convolution, Pretended::Kind::kConvolution)};
  for (const Pretended* part : parts)
    if (part == nullptr) return false;
  job.x = *parts[0];
  job.w = *parts[1];
  job.y = *parts[2];
  job.convolution = *parts[3];
  job.alpha = job.x.type == kCudnnDouble ? *static_cast<const double*>(alpha)
                                         : *static_cast<const float*>(alpha);
  return job.w.type == job.x.type && job.y.type == job.x.type;
}

CudnnStatus Make(const char* name, CudnnHandle* handle, Pretended::Kind kind) {
  if (const int entered = EnterStandIn(name); entered != 0) return entered;
  auto made = std::make_unique<Pretended>();
  made->kind = kind;
  *handle = made.get();
  Cudnn().made.emplace(made.get(), std::move(made));
  return kCudnnSuccess;
}

// A destroying call does its work even where it is told to fail.
CudnnStatus Destroy(const char* name, CudnnHandle handle) {
  const int entered = EnterStandIn(name);
  if (Cudnn().made.erase(handle) != 1) return WrongCudnn(absl::StrCat(name, ": no such thing"));
  return entered;
}

}  // namespace
}  // namespace assay::gpu

using namespace assay::gpu;  // the calls below have the names of C

#define ASSAY_ENTER_CUDNN(name) \
  if (const int entered = EnterStandIn(#name); entered != 0) return entered;
#define ASSAY_PRETEND_CUDNN(what, kind)                            \
  CudnnStatus cudnnCreate##what(CudnnHandle* made) {               \
    return Make("cudnnCreate" #what, made, Pretended::Kind::kind); \
  }                                                                \
  CudnnStatus cudnnDestroy##what(CudnnHandle made) { return Destroy("cudnnDestroy" #what, made); }

extern "C" {

ASSAY_PRETEND_CUDNN(TensorDescriptor, kTensor)
ASSAY_PRETEND_CUDNN(FilterDescriptor, kFilter)
ASSAY_PRETEND_CUDNN(ConvolutionDescriptor, kConvolution)
ASSAY_PRETEND_CUDNN(ActivationDescriptor, kActivation)

CudnnStatus cudnnCreate(CudnnHandle* handle) {
  ASSAY_ENTER_CUDNN(cudnnCreate)
  ++Cudnn().handles;
  *handle = &Cudnn();
  return kCudnnSuccess;
}

CudnnStatus cudnnDestroy(CudnnHandle handle) {
  const int entered = EnterStandIn("cudnnDestroy");
  if (handle != &Cudnn() || Cudnn().handles == 0) return WrongCudnn("cudnnDestroy: no such handle");
  if (--Cudnn().handles == 0) {
    for (size_t k = 0; k < Cudnn().made.size(); ++k) NoteMisuse("leaked: a descriptor of cuDNN");
    Cudnn().made.clear();
  }
  return entered;
}

CudnnStatus cudnnSetStream(CudnnHandle, void* stream) {
  ASSAY_ENTER_CUDNN(cudnnSetStream)
  if (!HasStandInStream(stream)) return WrongCudnn("cudnnSetStream: a stream that is not there");
  Cudnn().stream = stream;
  return kCudnnSuccess;
}

CudnnStatus cudnnSetTensorNdDescriptor(CudnnHandle tensor, int type, int rank, const int* sizes,
                                       const int* strides) {
  ASSAY_ENTER_CUDNN(cudnnSetTensorNdDescriptor)
  Pretended* to = FindCudnn(tensor, Pretended::Kind::kTensor);
  if (to == nullptr || rank < 4 || rank > 8)
    return WrongCudnn("cudnnSetTensorNdDescriptor: no such tensor, or a rank it has not");
  to->type = type;
  to->sizes.assign(sizes, sizes + rank);
  to->strides.assign(strides, strides + rank);
  to->strides[1] += static_cast<int>(BendOf("cudnnSetTensorNdDescriptor"));
  return kCudnnSuccess;
}

CudnnStatus cudnnSetFilterNdDescriptor(CudnnHandle filter, int type, int format, int rank,
                                       const int* sizes) {
  ASSAY_ENTER_CUDNN(cudnnSetFilterNdDescriptor)
  Pretended* to = FindCudnn(filter, Pretended::Kind::kFilter);
  if (to == nullptr || rank < 4 || rank > 8)
    return WrongCudnn("cudnnSetFilterNdDescriptor: no such filter, or a rank it has not");
  to->type = type;
  to->sizes.assign(sizes, sizes + rank);
  to->strides.assign(static_cast<size_t>(rank), 1);
  if (BendOf("cudnnSetFilterNdDescriptor") != 0) format = kCudnnFeaturesLast;
  int step = 1;
  const auto pack = [&](int d) {
    to->strides[static_cast<size_t>(d)] = step;
    step *= sizes[d];
  };
  if (format == kCudnnFeaturesLast) pack(1);
  for (int d = rank - 1; d >= 2; --d) pack(d);
  if (format == kCudnnFeaturesFirst) pack(1);
  pack(0);
  return kCudnnSuccess;
}

CudnnStatus cudnnSetConvolutionNdDescriptor(CudnnHandle convolution, int rank, const int* padding,
                                            const int* strides, const int* dilation, int mode,
                                            int) {
  ASSAY_ENTER_CUDNN(cudnnSetConvolutionNdDescriptor)
  Pretended* to = FindCudnn(convolution, Pretended::Kind::kConvolution);
  if (to == nullptr || mode != kCudnnCrossCorrelation)
    return WrongCudnn("cudnnSetConvolutionNdDescriptor: no such convolution");
  to->padding.assign(padding, padding + rank);
  to->padding[0] += static_cast<int>(BendOf("cudnnSetConvolutionNdDescriptor"));
  to->steps.assign(strides, strides + rank);
  to->dilation.assign(dilation, dilation + rank);
  return kCudnnSuccess;
}

CudnnStatus cudnnSetConvolutionGroupCount(CudnnHandle convolution, int groups) {
  ASSAY_ENTER_CUDNN(cudnnSetConvolutionGroupCount)
  Pretended* to = FindCudnn(convolution, Pretended::Kind::kConvolution);
  if (to == nullptr || groups < 1) return WrongCudnn("cudnnSetConvolutionGroupCount: none such");
  to->groups = groups + static_cast<int>(BendOf("cudnnSetConvolutionGroupCount"));
  return kCudnnSuccess;
}

CudnnStatus cudnnSetConvolutionMathType(CudnnHandle convolution, int) {
  ASSAY_ENTER_CUDNN(cudnnSetConvolutionMathType)
  if (FindCudnn(convolution, Pretended::Kind::kConvolution) == nullptr)
    return WrongCudnn("cudnnSetConvolutionMathType: no such convolution");
  return kCudnnSuccess;
}

CudnnStatus cudnnSetActivationDescriptor(CudnnHandle activation, int mode, int, double) {
  ASSAY_ENTER_CUDNN(cudnnSetActivationDescriptor)
  Pretended* to = FindCudnn(activation, Pretended::Kind::kActivation);
  if (to == nullptr) return WrongCudnn("cudnnSetActivationDescriptor: no such activation");
  to->mode = mode + static_cast<int>(BendOf("cudnnSetActivationDescriptor"));
  return kCudnnSuccess;
}

CudnnStatus cudnnGetConvolutionForwardWorkspaceSize(CudnnHandle, CudnnHandle, CudnnHandle,
                                                    CudnnHandle, CudnnHandle, int, size_t* bytes) {
  ASSAY_ENTER_CUDNN(cudnnGetConvolutionForwardWorkspaceSize)
  *bytes = kWorkspace;
  return kCudnnSuccess;
}
CudnnStatus cudnnGetConvolutionBackwardDataWorkspaceSize(CudnnHandle, CudnnHandle, CudnnHandle,
                                                         CudnnHandle, CudnnHandle, int,
                                                         size_t* bytes) {
  ASSAY_ENTER_CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize)
  *bytes = kWorkspace;
  return kCudnnSuccess;
}
CudnnStatus cudnnGetConvolutionBackwardFilterWorkspaceSize(CudnnHandle, CudnnHandle, CudnnHandle,
                                                           CudnnHandle, CudnnHandle, int,
                                                           size_t* bytes) {
  ASSAY_ENTER_CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize)
  *bytes = kWorkspace;
  return kCudnnSuccess;
}

CudnnStatus cudnnConvolutionForward(CudnnHandle handle, const void* alpha, CudnnHandle x_tensor,
                                    const void* x, CudnnHandle w_filter, const void* w,
                                    CudnnHandle convolution, int, void* workspace,
                                    size_t workspace_bytes, const void*, CudnnHandle y_tensor,
                                    void* y) {
  ASSAY_ENTER_CUDNN(cudnnConvolutionForward)
  Job job;
  if (!ReadJob(x_tensor, w_filter, y_tensor, convolution, alpha, job))
    return WrongCudnn("cudnnConvolutionForward: a handle that is not there");
  job.at_x = AddressOf(x);
  job.at_w = AddressOf(w);
  job.at_y = AddressOf(y);
  return PutJob("cudnnConvolutionForward", handle, job, workspace, workspace_bytes, Cudnn().stream);
}

CudnnStatus cudnnConvolutionBackwardData(CudnnHandle handle, const void* alpha,
                                         CudnnHandle w_filter, const void* w, CudnnHandle dy_tensor,
                                         const void* dy, CudnnHandle convolution, int,
                                         void* workspace, size_t workspace_bytes, const void*,
                                         CudnnHandle dx_tensor, void* dx) {
  ASSAY_ENTER_CUDNN(cudnnConvolutionBackwardData)
  Job job;
  if (!ReadJob(dx_tensor, w_filter, dy_tensor, convolution, alpha, job))
    return WrongCudnn("cudnnConvolutionBackwardData: a handle that is not there");
  job.at_x = AddressOf(dx);
  job.at_w = AddressOf(w);
  job.at_y = AddressOf(dy);
  job.result = 0;
  return PutJob("cudnnConvolutionBackwardData", handle, job, workspace, workspace_bytes,
                Cudnn().stream);
}

CudnnStatus cudnnConvolutionBackwardFilter(CudnnHandle handle, const void* alpha,
                                           CudnnHandle x_tensor, const void* x,
                                           CudnnHandle dy_tensor, const void* dy,
                                           CudnnHandle convolution, int, void* workspace,
                                           size_t workspace_bytes, const void*,
                                           CudnnHandle dw_filter, void* dw) {
  ASSAY_ENTER_CUDNN(cudnnConvolutionBackwardFilter)
  Job job;
  if (!ReadJob(x_tensor, dw_filter, dy_tensor, convolution, alpha, job))
    return WrongCudnn("cudnnConvolutionBackwardFilter: a handle that is not there");
  job.at_x = AddressOf(x);
  job.at_w = AddressOf(dw);
  job.at_y = AddressOf(dy);
  job.result = 1;
  return PutJob("cudnnConvolutionBackwardFilter", handle, job, workspace, workspace_bytes,
                Cudnn().stream);
}

CudnnStatus cudnnConvolutionBiasActivationForward(
    CudnnHandle handle, const void* alpha, CudnnHandle x_tensor, const void* x,
    CudnnHandle w_filter, const void* w, CudnnHandle convolution, int, void* workspace,
    size_t workspace_bytes, const void* side_alpha, CudnnHandle z_tensor, const void* z,
    CudnnHandle bias_tensor, const void* bias, CudnnHandle activation, CudnnHandle y_tensor,
    void* y) {
  ASSAY_ENTER_CUDNN(cudnnConvolutionBiasActivationForward)
  Job job;
  const Pretended* features = FindCudnn(bias_tensor, Pretended::Kind::kTensor);
  const Pretended* mode = FindCudnn(activation, Pretended::Kind::kActivation);
  if (!ReadJob(x_tensor, w_filter, y_tensor, convolution, alpha, job) || features == nullptr ||
      mode == nullptr || FindCudnn(z_tensor, Pretended::Kind::kTensor) == nullptr)
    return WrongCudnn("cudnnConvolutionBiasActivationForward: a handle that is not there");
  if (features->sizes[1] != job.y.sizes[1])
    return WrongCudnn("cudnnConvolutionBiasActivationForward: a bias of another size");
  job.at_x = AddressOf(x);
  job.at_w = AddressOf(w);
  job.at_y = AddressOf(y);
  job.side = job.x.type == kCudnnDouble ? *static_cast<const double*>(side_alpha)
                                        : *static_cast<const float*>(side_alpha);
  job.at_side = AddressOf(z);
  job.at_bias = AddressOf(bias);
  job.is_relu = mode->mode == kCudnnRelu;
  return PutJob("cudnnConvolutionBiasActivationForward", handle, job, workspace, workspace_bytes,
                Cudnn().stream);
}

}  // extern "C"
