// A stand-in for libcublasLt in tests, in the library that stands in for the driver: products by
// the host counterpart on the pretended device's memory. It notes handles that are not there,
// attributes of a wrong size, sizes that do not fit, and what is left when the library's handle
// goes.
#include <algorithm>
#include <complex>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/driver/libraries/cublas_calls.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "optimized/gpu/library/host_library.h"
#include "spec/base/status_macros.h"
#include "spec/types/element_type.h"

namespace assay::gpu {
namespace {

struct PretendDescription {
  int compute = 0, scale = 0;
  int32_t transpose_a = kCublasKeep, transpose_b = kCublasKeep;
  uint32_t epilogue = kCublasEpilogueNone;
  uint64_t bias = 0;
};

struct PretendLayout {
  ElementType type = ElementType::kF32;
  int64_t rows = 0, columns = 0, leading = 0, stride = 0;
  int32_t batches = 1;

  // Elements from the first one of the first matrix to the last one of the last.
  int64_t Reach() const { return (batches - 1) * stride + (columns - 1) * leading + rows; }
  int64_t Bytes() const { return Reach() * StorageBytes(type); }
};

struct PretendCublas {
  std::map<void*, std::unique_ptr<PretendDescription>> descriptions;
  std::map<void*, std::unique_ptr<PretendLayout>> layouts;
  int handles = 0;
};
PretendCublas& Cublas() {
  static auto& cublas = *new PerDevice<PretendCublas>();
  return cublas.Here();
}
CublasHandle TheHandle() { return &Cublas(); }

CublasStatus Wrong(const std::string& what) {
  NoteMisuse(what);
  return kCublasInvalidValue;
}

std::optional<ElementType> TypeOf(int data) {
  switch (data) {
    case kCudaR16F:
      return ElementType::kF16;
    case kCudaR16BF:
      return ElementType::kBF16;
    case kCudaR32F:
      return ElementType::kF32;
    case kCudaR64F:
      return ElementType::kF64;
    case kCudaC32F:
      return ElementType::kC64;
    case kCudaC64F:
      return ElementType::kC128;
    default:
      return std::nullopt;
  }
}

template <typename Value>
CublasStatus TakeAttribute(const char* name, Value& to, const void* value, size_t bytes) {
  if (value == nullptr || bytes != sizeof to) return Wrong(absl::StrCat(name, ": a wrong size"));
  std::memcpy(&to, value, sizeof to);
  return kCublasSuccess;
}

std::complex<double> ScaleAt(const void* value, int type) {
  switch (type) {
    case kCudaR32F:
      return *static_cast<const float*>(value);
    case kCudaR64F:
      return *static_cast<const double*>(value);
    case kCudaC32F:
      return std::complex<double>(*static_cast<const std::complex<float>*>(value));
    default:
      return *static_cast<const std::complex<double>*>(value);
  }
}

const PretendLayout* FindLayout(CublasHandle layout) {
  const auto found = Cublas().layouts.find(layout);
  return found == Cublas().layouts.end() ? nullptr : found->second.get();
}

// A matrix of the device, copied to the host.
struct Fetched {
  std::vector<std::byte> bytes;
  MatrixView view;
};
absl::StatusOr<Fetched> Fetch(DeviceMemory& memory, const void* address,
                              const PretendLayout& layout, bool transposed) {
  Fetched fetched;
  fetched.bytes.resize(static_cast<size_t>(layout.Bytes()));
  ASSAY_RETURN_IF_ERROR(
      memory.CopyOut(reinterpret_cast<uint64_t>(address), absl::MakeSpan(fetched.bytes)));
  fetched.view = {fetched.bytes.data(), layout.type, transposed ? layout.leading : 1,
                  transposed ? 1 : layout.leading, layout.stride};
  return fetched;
}

struct Operands {
  const void *a, *b, *c;
  void* d;
  PretendLayout a_layout, b_layout, c_layout, d_layout;
};

ByteRange RangeOf(const void* address, const PretendLayout& layout) {
  return {reinterpret_cast<uint64_t>(address), static_cast<uint64_t>(layout.Bytes())};
}

// The sizes of a product; what does not fit is said, and its depth is -1.
MatrixProduct SizesOf(const PretendDescription& how, const Operands& on) {
  const bool turn_a = how.transpose_a == kCublasTranspose;
  const bool turn_b = how.transpose_b == kCublasTranspose;
  MatrixProduct product;
  product.batches = on.d_layout.batches;
  product.rows = on.d_layout.rows;
  product.columns = on.d_layout.columns;
  product.depth = turn_a ? on.a_layout.rows : on.a_layout.columns;
  if ((turn_a ? on.a_layout.columns : on.a_layout.rows) != product.rows ||
      (turn_b ? on.b_layout.rows : on.b_layout.columns) != product.columns ||
      (turn_b ? on.b_layout.columns : on.b_layout.rows) != product.depth ||
      on.a_layout.batches != product.batches || on.b_layout.batches != product.batches) {
    NoteMisuse("cublasLtMatmul: sizes that do not fit");
    product.depth = -1;
  } else if (on.d_layout.leading != on.d_layout.rows) {
    NoteMisuse("cublasLtMatmul: a result with holes, which no test has");
    product.depth = -1;
  }
  return product;
}

absl::Status Compute(DeviceMemory& memory, const PretendDescription& how, const Operands& on,
                     MatrixProduct product) {
  ASSAY_ASSIGN_OR_RETURN(const Fetched a,
                         Fetch(memory, on.a, on.a_layout, how.transpose_a == kCublasTranspose));
  ASSAY_ASSIGN_OR_RETURN(const Fetched b,
                         Fetch(memory, on.b, on.b_layout, how.transpose_b == kCublasTranspose));
  product.a = a.view;
  product.b = b.view;
  Fetched c;
  if (product.beta != 0) {
    ASSAY_ASSIGN_OR_RETURN(c, Fetch(memory, on.c, on.c_layout, false));
    product.c = c.view;
  }
  std::vector<std::byte> bias(static_cast<size_t>(product.rows * StorageBytes(on.d_layout.type)));
  if ((how.epilogue & kCublasEpilogueBias) != 0) {
    ASSAY_RETURN_IF_ERROR(memory.CopyOut(how.bias, absl::MakeSpan(bias)));
    product.bias = bias.data();
    product.bias_by_row = true;
  }
  if ((how.epilogue & kCublasEpilogueRelu) != 0) product.activation = LibraryActivation::kRelu;
  if ((how.epilogue & kCublasEpilogueGelu) != 0) product.activation = LibraryActivation::kGelu;
  std::vector<std::byte> result(static_cast<size_t>(on.d_layout.Bytes()));
  product.d = {result.data(), on.d_layout.type, 1, on.d_layout.leading, on.d_layout.stride};
  RunProduct(product);
  return memory.CopyIn(reinterpret_cast<uint64_t>(on.d), result);
}

CublasStatus PutProduct(const PretendDescription& how, const Operands& on,
                        std::complex<double> alpha, double beta, CudaHandle stream) {
  MatrixProduct product = SizesOf(how, on);
  if (product.depth < 0) return kCublasInvalidValue;
  product.alpha_real = alpha.real();
  product.alpha_imag = alpha.imag();
  product.beta = beta;
  StreamWork work{"cublasLtMatmul",
                  {RangeOf(on.a, on.a_layout), RangeOf(on.b, on.b_layout)},
                  {RangeOf(on.d, on.d_layout)},
                  nullptr};
  if (beta != 0) work.reads.push_back(RangeOf(on.c, on.c_layout));
  if ((how.epilogue & kCublasEpilogueBias) != 0)
    work.reads.push_back(
        {how.bias, static_cast<uint64_t>(product.rows * StorageBytes(on.d_layout.type))});
  DeviceMemory& memory = StandInMemory();
  work.run = [&memory, how, on, product] { return Compute(memory, how, on, product); };
  return PutOnStream(stream, std::move(work)) == kCudaSuccess ? kCublasSuccess
                                                              : kCublasExecutionFailed;
}

}  // namespace
}  // namespace assay::gpu

using namespace assay;       // the calls below have the names of C
using namespace assay::gpu;  // likewise

#define ASSAY_ENTER_CUBLAS(name) \
  if (const int entered = EnterStandIn(#name); entered != 0) return entered;

extern "C" {

CublasStatus cublasLtCreate(CublasHandle* handle) {
  ASSAY_ENTER_CUBLAS(cublasLtCreate)
  ++Cublas().handles;
  *handle = TheHandle();
  return kCublasSuccess;
}

// A destroying call does its work even where it is told to fail: nothing could be done about
// it.
CublasStatus cublasLtDestroy(CublasHandle handle) {
  const int entered = EnterStandIn("cublasLtDestroy");
  if (handle != TheHandle() || Cublas().handles == 0)
    return Wrong("cublasLtDestroy: no such handle");
  if (--Cublas().handles == 0) {
    for (size_t k = 0; k < Cublas().descriptions.size(); ++k) NoteMisuse("leaked: a description");
    for (size_t k = 0; k < Cublas().layouts.size(); ++k) NoteMisuse("leaked: a layout");
    Cublas().descriptions.clear();
    Cublas().layouts.clear();
  }
  return entered;
}

CublasStatus cublasLtMatmulDescCreate(CublasHandle* description, int compute, int scale) {
  ASSAY_ENTER_CUBLAS(cublasLtMatmulDescCreate)
  auto made = std::make_unique<PretendDescription>();
  made->compute = compute;
  made->scale = scale;
  *description = made.get();
  Cublas().descriptions.emplace(made.get(), std::move(made));
  return kCublasSuccess;
}

CublasStatus cublasLtMatmulDescDestroy(CublasHandle description) {
  const int entered = EnterStandIn("cublasLtMatmulDescDestroy");
  if (Cublas().descriptions.erase(description) != 1)
    return Wrong("cublasLtMatmulDescDestroy: no such description");
  return entered;
}

CublasStatus cublasLtMatmulDescSetAttribute(CublasHandle description, int attribute,
                                            const void* value, size_t bytes) {
  ASSAY_ENTER_CUBLAS(cublasLtMatmulDescSetAttribute)
  const auto found = Cublas().descriptions.find(description);
  if (found == Cublas().descriptions.end())
    return Wrong("cublasLtMatmulDescSetAttribute: no such description");
  PretendDescription& to = *found->second;
  constexpr const char* kName = "cublasLtMatmulDescSetAttribute";
  switch (attribute) {
    case kCublasTransposeA:
      return TakeAttribute(kName, to.transpose_a, value, bytes);
    case kCublasTransposeB:
      return TakeAttribute(kName, to.transpose_b, value, bytes);
    case kCublasEpilogue:
      return TakeAttribute(kName, to.epilogue, value, bytes);
    case kCublasBiasPointer:
      return TakeAttribute(kName, to.bias, value, bytes);
    default:
      return Wrong(absl::StrCat(kName, ": attribute ", attribute));
  }
}

CublasStatus cublasLtMatrixLayoutCreate(CublasHandle* layout, int type, uint64_t rows,
                                        uint64_t columns, int64_t leading) {
  ASSAY_ENTER_CUBLAS(cublasLtMatrixLayoutCreate)
  const std::optional<ElementType> element = TypeOf(type);
  if (!element.has_value() || rows == 0 || columns == 0 || leading < static_cast<int64_t>(rows))
    return Wrong("cublasLtMatrixLayoutCreate: no such matrix");
  auto made = std::make_unique<PretendLayout>();
  made->type = *element;
  made->rows = static_cast<int64_t>(rows);
  made->columns = static_cast<int64_t>(columns);
  made->leading = leading + BendOf("cublasLtMatrixLayoutCreate");
  *layout = made.get();
  Cublas().layouts.emplace(made.get(), std::move(made));
  return kCublasSuccess;
}

CublasStatus cublasLtMatrixLayoutDestroy(CublasHandle layout) {
  const int entered = EnterStandIn("cublasLtMatrixLayoutDestroy");
  if (Cublas().layouts.erase(layout) != 1)
    return Wrong("cublasLtMatrixLayoutDestroy: no such layout");
  return entered;
}

CublasStatus cublasLtMatrixLayoutSetAttribute(CublasHandle layout, int attribute, const void* value,
                                              size_t bytes) {
  ASSAY_ENTER_CUBLAS(cublasLtMatrixLayoutSetAttribute)
  const auto found = Cublas().layouts.find(layout);
  constexpr const char* kName = "cublasLtMatrixLayoutSetAttribute";
  if (found == Cublas().layouts.end()) return Wrong(absl::StrCat(kName, ": no such layout"));
  if (attribute == kCublasBatchCount)
    return TakeAttribute(kName, found->second->batches, value, bytes);
  if (attribute == kCublasBatchStride) {
    const CublasStatus taken = TakeAttribute(kName, found->second->stride, value, bytes);
    found->second->stride += BendOf(kName);
    return taken;
  }
  return Wrong(absl::StrCat(kName, ": attribute ", attribute));
}

CublasStatus cublasLtMatmul(CublasHandle handle, CublasHandle description, const void* alpha,
                            const void* a, CublasHandle a_layout, const void* b,
                            CublasHandle b_layout, const void* beta, const void* c,
                            CublasHandle c_layout, void* d, CublasHandle d_layout,
                            const void* algorithm, void* workspace, size_t workspace_bytes,
                            void* stream) {
  ASSAY_ENTER_CUBLAS(cublasLtMatmul)
  const auto how = Cublas().descriptions.find(description);
  const PretendLayout* const layouts[] = {FindLayout(a_layout), FindLayout(b_layout),
                                          FindLayout(c_layout), FindLayout(d_layout)};
  if (handle != TheHandle() || Cublas().handles == 0 || how == Cublas().descriptions.end() ||
      std::count(std::begin(layouts), std::end(layouts), nullptr) > 0)
    return Wrong("cublasLtMatmul: a handle that is not there");
  const Operands on{a, b, c, d, *layouts[0], *layouts[1], *layouts[2], *layouts[3]};
  if (!HasStandInStream(stream)) return Wrong("cublasLtMatmul: a stream that is not there");
  if (algorithm != nullptr || workspace != nullptr || workspace_bytes != 0)
    return Wrong("cublasLtMatmul: an algorithm or a workspace, which nobody gives");
  const int scale = how->second->scale;
  if (BendOf("cublasLtMatmul") != 0) how->second->epilogue ^= kCublasEpilogueRelu;
  return PutProduct(*how->second, on, ScaleAt(alpha, scale), ScaleAt(beta, scale).real(), stream);
}

}  // extern "C"
