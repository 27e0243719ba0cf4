// A convolution is described by tensors with any strides, in the order [batch, features, space],
// and a filter that is packed in one of two orders.
#include "optimized/gpu/driver/libraries/cudnn.h"

#include <dlfcn.h>

#include <limits>
#include <utility>
#include <vector>

#include "optimized/gpu/driver/libraries/cudnn_calls.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/library/library_call.h"

namespace assay::gpu {
namespace {

using enum LibraryRoutine;

const LibraryPlace& CudnnPlace() {
  static const auto& place =
      *new LibraryPlace{"cuDNN",
                        "ASSAY_LIBCUDNN",
                        {"libcudnn.so.9"},
                        "convolutions run by kernels of our own instead",
                        "NVIDIA's package cudnn9-cuda-13 (nvidia-cudnn-cu13 of PyPI)"};
  return place;
}

constexpr LibraryStatus kCudnnStatuses[] = {
    {kCudnnNotInitialised, "it is not initialised"},  {kCudnnBadParameter, "a parameter is wrong"},
    {kCudnnNotSupported, "it has no such algorithm"}, {kCudnnInternalError, "an internal error"},
    {kCudnnHostMemory, "out of the host's memory"},   {kCudnnDeviceMemory, "out of memory"},
    {kCudnnExecutionFailed, "the kernel failed"},
};

absl::Status CheckCudnn(CudnnStatus status, std::string_view what) {
  if (status == kCudnnSuccess) return absl::OkStatus();
  // Its statuses come in thousands.
  const int kind = status >= 3000 && status < 4000 ? kCudnnNotSupported : status;
  return LibraryError(CudnnPlace(), what, kind, kCudnnStatuses, kCudnnDeviceMemory,
                      kCudnnNotSupported);
}

// -1: a type that is not taken.
int CudnnTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return kCudnnFloat;
    case ElementType::kF64:
      return kCudnnDouble;
    case ElementType::kF16:
      return kCudnnHalf;
    case ElementType::kBF16:
      return kCudnnBFloat16;
    default:
      return -1;
  }
}

// Sizes and strides of an array, in the order of the interface. One spatial dimension becomes two,
// as it has none of one.
struct Layout {
  std::vector<int> sizes, strides;
};
Layout LayoutOf(const Shape& shape, int64_t first, int64_t second, const Int64List& spatial) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int64_t d = shape.rank() - 2; d >= 0; --d)
    strides[static_cast<size_t>(d)] = strides[static_cast<size_t>(d) + 1] * shape.dimension(d + 1);
  Layout layout;
  const auto add = [&](int64_t d) {
    layout.sizes.push_back(static_cast<int>(shape.dimension(d)));
    layout.strides.push_back(static_cast<int>(strides[static_cast<size_t>(d)]));
  };
  add(first);
  add(second);
  for (const int64_t d : spatial) add(d);
  if (spatial.size() == 1) {
    layout.sizes.push_back(1);
    layout.strides.push_back(1);
  }
  return layout;
}

// kCudnnFeaturesFirst or kCudnnFeaturesLast; -1: the filter is packed in another order.
int FilterFormat(const ConvDimLabels& labels) {
  const auto is_order = [&](std::vector<int64_t> dims) {
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k] != static_cast<int64_t>(k)) return false;
    return true;
  };
  std::vector<int64_t> first = {labels.kernel_output_feature, labels.kernel_input_feature};
  std::vector<int64_t> last = {labels.kernel_output_feature};
  for (const int64_t d : labels.kernel_spatial) {
    first.push_back(d);
    last.push_back(d);
  }
  last.push_back(labels.kernel_input_feature);
  return is_order(first) ? kCudnnFeaturesFirst : is_order(last) ? kCudnnFeaturesLast : -1;
}

using Create = CudnnStatus (*)(CudnnHandle*);
using Destroy = CudnnStatus (*)(CudnnHandle);

// Descriptors of one call, destroyed with the object.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors() {
    for (const auto& [handle, destroy] : made_) destroy(handle);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  absl::StatusOr<CudnnHandle> Make(Create create, Destroy destroy) {
    CudnnHandle handle = nullptr;
    ASSAY_RETURN_IF_ERROR(CheckCudnn(create(&handle), "a descriptor"));
    made_.push_back({handle, destroy});
    return handle;
  }

 private:
  std::vector<std::pair<CudnnHandle, Destroy>> made_;
};

// A factor in the type of scales.
struct Factor {
  float single;
  double wide;
  explicit Factor(double value) : single(static_cast<float>(value)), wide(value) {}
  const void* In(int type) const {
    return type == kCudnnDouble ? static_cast<const void*>(&wide) : &single;
  }
};

const void* Read(uint64_t address) { return reinterpret_cast<const void*>(address); }
void* Written(uint64_t address) { return reinterpret_cast<void*>(address); }

// A convolution has handles of its arrays, by the part they play in the forward one.
struct Parts {
  CudnnHandle input = nullptr, filter = nullptr, output = nullptr, convolution = nullptr;
  int type = kCudnnFloat;
};

class Cudnn : public DeviceLibrary {
 public:
  Cudnn() = default;
  ~Cudnn() override {
    if (handle_ != nullptr) calls_.cudnnDestroy(handle_);
  }
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  absl::Status Start(void* library) {
#define ASSAY_CUDNN_FIND(name, ...)                                                    \
  calls_.name = reinterpret_cast<CudnnStatus (*)(__VA_ARGS__)>(dlsym(library, #name)); \
  if (calls_.name == nullptr) return LacksCall(CudnnPlace(), #name);
    ASSAY_CUDNN_CALLS(ASSAY_CUDNN_FIND)
#undef ASSAY_CUDNN_FIND
    return CheckCudnn(calls_.cudnnCreate(&handle_), "its start");
  }

  std::string_view name() const override { return CudnnPlace().name; }
  bool Takes(const Instruction& instruction) const override;
  absl::Status Run(const Instruction& instruction, const LibraryArrays& arrays) override;

 private:
  absl::StatusOr<CudnnHandle> Tensor(Descriptors& made, int type, const Layout& layout) const {
    ASSAY_ASSIGN_OR_RETURN(
        CudnnHandle const tensor,
        made.Make(calls_.cudnnCreateTensorDescriptor, calls_.cudnnDestroyTensorDescriptor));
    ASSAY_RETURN_IF_ERROR(CheckCudnn(
        calls_.cudnnSetTensorNdDescriptor(tensor, type, static_cast<int>(layout.sizes.size()),
                                          layout.sizes.data(), layout.strides.data()),
        "a tensor"));
    return tensor;
  }
  absl::StatusOr<Parts> Describe(Descriptors& made, const Instruction& at,
                                 const LibraryCall& call) const;
  absl::StatusOr<CudnnHandle> Convolution(Descriptors& made, const Instruction& at, int type) const;
  absl::Status RunForward(const Instruction& at, const LibraryCall& call, const Parts& parts,
                          const LibraryArrays& arrays, Descriptors& made) const;
  absl::Status RunGradient(const LibraryCall& call, const Parts& parts,
                           const LibraryArrays& arrays) const;

  CudnnCalls calls_;
  CudnnHandle handle_ = nullptr;
};

bool Cudnn::Takes(const Instruction& instruction) const {
  if (!IsLibraryCall(instruction)) return false;
  const absl::StatusOr<LibraryCall> call = ReadLibraryCall(instruction);
  if (!call.ok() || !IsConvolution(call->routine)) return false;
  const ElementType type = call->result->element_type();
  if (CudnnTypeOf(type) < 0 || FilterFormat(*instruction.attributes().DimLabels()) < 0)
    return false;
  for (const Instruction* operand : instruction.operands()) {
    const Shape& shape = operand->shape();
    if (shape.element_type() != type || shape.ElementCount() == 0 ||
        shape.ElementCount() > std::numeric_limits<int>::max())
      return false;
  }
  if (call->result->ElementCount() == 0) return false;
  const absl::Span<const WindowDim> window = instruction.attributes().Window(Attr::kWindow);
  if (window.empty() || window.size() > 3) return false;
  for (const WindowDim& dim : window)
    if (dim.low != dim.high || dim.low < 0 || dim.base_dilation != 1 || dim.reversal) return false;
  const LibraryActivation activation = call->conv.activation;
  return call->routine != kConvBiasActivation ||
         (call->bias >= 0 &&
          (activation == LibraryActivation::kNone || activation == LibraryActivation::kRelu));
}

absl::StatusOr<CudnnHandle> Cudnn::Convolution(Descriptors& made, const Instruction& at,
                                               int type) const {
  ASSAY_ASSIGN_OR_RETURN(
      CudnnHandle const convolution,
      made.Make(calls_.cudnnCreateConvolutionDescriptor, calls_.cudnnDestroyConvolutionDescriptor));
  std::vector<int> padding, strides, dilation;
  const absl::Span<const WindowDim> window = at.attributes().Window(Attr::kWindow);
  for (const WindowDim& dim : window) {
    padding.push_back(static_cast<int>(dim.low));
    strides.push_back(static_cast<int>(dim.stride));
    dilation.push_back(static_cast<int>(dim.window_dilation));
  }
  if (window.size() == 1) {
    padding.push_back(0);
    strides.push_back(1);
    dilation.push_back(1);
  }
  const bool is_wide = type == kCudnnDouble;
  ASSAY_RETURN_IF_ERROR(
      CheckCudnn(calls_.cudnnSetConvolutionNdDescriptor(
                     convolution, static_cast<int>(padding.size()), padding.data(), strides.data(),
                     dilation.data(), kCudnnCrossCorrelation, is_wide ? kCudnnDouble : kCudnnFloat),
                 "a convolution"));
  const auto groups = static_cast<int>(at.attributes().Integer(Attr::kFeatureGroupCount, 1));
  ASSAY_RETURN_IF_ERROR(
      CheckCudnn(calls_.cudnnSetConvolutionGroupCount(convolution, groups), "its groups"));
  // Without it f32 may be computed with fewer digits.
  const bool is_f32 = type == kCudnnFloat;
  ASSAY_RETURN_IF_ERROR(CheckCudnn(
      calls_.cudnnSetConvolutionMathType(convolution, is_f32 ? kCudnnFmaMath : kCudnnDefaultMath),
      "its digits"));
  return convolution;
}

absl::StatusOr<Parts> Cudnn::Describe(Descriptors& made, const Instruction& at,
                                      const LibraryCall& call) const {
  const ConvDimLabels& labels = *at.attributes().DimLabels();
  const ConvShapes shapes = ConvShapesOf(call.routine, at, *call.result);
  Parts parts;
  parts.type = CudnnTypeOf(call.result->element_type());
  ASSAY_ASSIGN_OR_RETURN(parts.input, Tensor(made, parts.type,
                                             LayoutOf(*shapes.input, labels.input_batch,
                                                      labels.input_feature, labels.input_spatial)));
  ASSAY_ASSIGN_OR_RETURN(parts.output,
                         Tensor(made, parts.type,
                                LayoutOf(*shapes.output, labels.output_batch, labels.output_feature,
                                         labels.output_spatial)));
  ASSAY_ASSIGN_OR_RETURN(parts.filter, made.Make(calls_.cudnnCreateFilterDescriptor,
                                                 calls_.cudnnDestroyFilterDescriptor));
  const Layout filter = LayoutOf(*shapes.filter, labels.kernel_output_feature,
                                 labels.kernel_input_feature, labels.kernel_spatial);
  ASSAY_RETURN_IF_ERROR(CheckCudnn(
      calls_.cudnnSetFilterNdDescriptor(parts.filter, parts.type, FilterFormat(labels),
                                        static_cast<int>(filter.sizes.size()), filter.sizes.data()),
      "a filter"));
  ASSAY_ASSIGN_OR_RETURN(parts.convolution, Convolution(made, at, parts.type));
  return parts;
}

absl::Status Cudnn::RunForward(const Instruction& at, const LibraryCall& call, const Parts& parts,
                               const LibraryArrays& arrays, Descriptors& made) const {
  size_t bytes = 0;
  ASSAY_RETURN_IF_ERROR(CheckCudnn(calls_.cudnnGetConvolutionForwardWorkspaceSize(
                                       handle_, parts.input, parts.filter, parts.convolution,
                                       parts.output, kCudnnForwardPrecomputed, &bytes),
                                   "the size of a workspace"));
  ASSAY_ASSIGN_OR_RETURN(const uint64_t workspace, arrays.workspace(bytes));
  const Factor alpha(call.conv.result_scale), none(0), side(call.conv.side_scale);
  if (call.routine == kConvForward) {
    return CheckCudnn(calls_.cudnnConvolutionForward(
                          handle_, alpha.In(parts.type), parts.input, Read(arrays.operands[0]),
                          parts.filter, Read(arrays.operands[1]), parts.convolution,
                          kCudnnForwardPrecomputed, Written(workspace), bytes, none.In(parts.type),
                          parts.output, Written(arrays.results[0])),
                      StrCat("the convolution ", at.name()));
  }
  ASSAY_ASSIGN_OR_RETURN(
      CudnnHandle const activation,
      made.Make(calls_.cudnnCreateActivationDescriptor, calls_.cudnnDestroyActivationDescriptor));
  const bool is_relu = call.conv.activation == LibraryActivation::kRelu;
  ASSAY_RETURN_IF_ERROR(
      CheckCudnn(calls_.cudnnSetActivationDescriptor(
                     activation, is_relu ? kCudnnRelu : kCudnnIdentity, kCudnnPropagateNan, 0),
                 "an activation"));
  const ConvDimLabels& labels = *at.attributes().DimLabels();
  Layout features;
  const auto count = static_cast<int>(call.result->dimension(labels.output_feature));
  features.sizes.assign(std::max<size_t>(labels.output_spatial.size(), 2) + 2, 1);
  features.strides.assign(features.sizes.size(), 1);
  features.sizes[1] = count;
  features.strides[0] = count;
  ASSAY_ASSIGN_OR_RETURN(CudnnHandle const bias, Tensor(made, parts.type, features));
  // Without a side input the library wants the address of one that it does not read.
  const uint64_t z =
      call.addend >= 0 ? arrays.operands[static_cast<size_t>(call.addend)] : arrays.results[0];
  return CheckCudnn(
      calls_.cudnnConvolutionBiasActivationForward(
          handle_, alpha.In(parts.type), parts.input, Read(arrays.operands[0]), parts.filter,
          Read(arrays.operands[1]), parts.convolution, kCudnnForwardPrecomputed, Written(workspace),
          bytes, call.addend >= 0 ? side.In(parts.type) : none.In(parts.type), parts.output,
          Read(z), bias, Read(arrays.operands[static_cast<size_t>(call.bias)]), activation,
          parts.output, Written(arrays.results[0])),
      StrCat("the convolution ", at.name()));
}

absl::Status Cudnn::RunGradient(const LibraryCall& call, const Parts& parts,
                                const LibraryArrays& arrays) const {
  const bool of_input = call.routine == kConvBackwardInput;
  size_t bytes = 0;
  ASSAY_RETURN_IF_ERROR(CheckCudnn(of_input
                                       ? calls_.cudnnGetConvolutionBackwardDataWorkspaceSize(
                                             handle_, parts.filter, parts.output, parts.convolution,
                                             parts.input, kCudnnBackwardData1, &bytes)
                                       : calls_.cudnnGetConvolutionBackwardFilterWorkspaceSize(
                                             handle_, parts.input, parts.output, parts.convolution,
                                             parts.filter, kCudnnBackwardFilter1, &bytes),
                                   "the size of a workspace"));
  ASSAY_ASSIGN_OR_RETURN(const uint64_t workspace, arrays.workspace(bytes));
  const Factor alpha(call.conv.result_scale), none(0);
  const void *first = Read(arrays.operands[0]), *second = Read(arrays.operands[1]);
  void* result = Written(arrays.results[0]);
  if (of_input) {  // from the output's gradient and the filter
    return CheckCudnn(calls_.cudnnConvolutionBackwardData(
                          handle_, alpha.In(parts.type), parts.filter, second, parts.output, first,
                          parts.convolution, kCudnnBackwardData1, Written(workspace), bytes,
                          none.In(parts.type), parts.input, result),
                      "the gradient of a convolution's input");
  }
  return CheckCudnn(calls_.cudnnConvolutionBackwardFilter(
                        handle_, alpha.In(parts.type), parts.input, first, parts.output, second,
                        parts.convolution, kCudnnBackwardFilter1, Written(workspace), bytes,
                        none.In(parts.type), parts.filter, result),
                    "the gradient of a convolution's filter");
}

absl::Status Cudnn::Run(const Instruction& instruction, const LibraryArrays& arrays) {
  ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(instruction));
  ASSAY_RETURN_IF_ERROR(CheckCudnn(calls_.cudnnSetStream(handle_, arrays.stream), "its stream"));
  Descriptors made;
  ASSAY_ASSIGN_OR_RETURN(const Parts parts, Describe(made, instruction, call));
  const bool is_gradient =
      call.routine == kConvBackwardInput || call.routine == kConvBackwardFilter;
  return is_gradient ? RunGradient(call, parts, arrays)
                     : RunForward(instruction, call, parts, arrays, made);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCudnn(const std::string& library) {
  ASSAY_ASSIGN_OR_RETURN(void* const opened, OpenLibrary(CudnnPlace(), library));
  auto cudnn = std::make_unique<Cudnn>();
  ASSAY_RETURN_IF_ERROR(cudnn->Start(opened));
  return cudnn;
}

}  // namespace assay::gpu
