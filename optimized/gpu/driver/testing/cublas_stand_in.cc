// A stand-in for libcublasLt in tests, in the library that stands in for the driver: products by
// the host counterpart on the pretended device's memory. It notes handles that are not there,
// attributes of a wrong size, sizes that do not fit, and what is left when the library's handle
// goes.
#include <complex>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/driver/cublas_calls.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "optimized/gpu/library/host_library.h"
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
  static auto& cublas = *new PretendCublas();
  return cublas;
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
absl::StatusOr<Fetched> Fetch(const void* address, const PretendLayout& layout, bool transposed) {
  Fetched fetched;
  fetched.bytes.resize(static_cast<size_t>(layout.Bytes()));
  const absl::Status copied =
      StandInMemory().CopyOut(reinterpret_cast<uint64_t>(address), absl::MakeSpan(fetched.bytes));
  if (!copied.ok()) return copied;
  fetched.view = {fetched.bytes.data(), layout.type, transposed ? layout.leading : 1,
                  transposed ? 1 : layout.leading, layout.stride};
  return fetched;
}

CublasStatus OfMemory(const absl::Status& status) {
  return Wrong(absl::StrCat("cublasLtMatmul: ", status.message()));
}

struct Operands {
  const void *a, *b, *c;
  void* d;
  const PretendLayout *a_layout, *b_layout, *c_layout, *d_layout;
};

CublasStatus Compute(const PretendDescription& how, const Operands& on, std::complex<double> alpha,
                     double beta) {
  const bool turn_a = how.transpose_a == kCublasTranspose;
  const bool turn_b = how.transpose_b == kCublasTranspose;
  auto a = Fetch(on.a, *on.a_layout, turn_a);
  if (!a.ok()) return OfMemory(a.status());
  auto b = Fetch(on.b, *on.b_layout, turn_b);
  if (!b.ok()) return OfMemory(b.status());
  MatrixProduct product;
  product.a = a->view;
  product.b = b->view;
  product.batches = on.d_layout->batches;
  product.rows = on.d_layout->rows;
  product.columns = on.d_layout->columns;
  product.depth = turn_a ? on.a_layout->rows : on.a_layout->columns;
  if ((turn_a ? on.a_layout->columns : on.a_layout->rows) != product.rows ||
      (turn_b ? on.b_layout->rows : on.b_layout->columns) != product.columns ||
      (turn_b ? on.b_layout->columns : on.b_layout->rows) != product.depth ||
      on.a_layout->batches != product.batches || on.b_layout->batches != product.batches)
    return Wrong("cublasLtMatmul: sizes that do not fit");
  product.alpha_real = alpha.real();
  product.alpha_imag = alpha.imag();
  product.beta = beta;
  absl::StatusOr<Fetched> c = Fetched();
  if (beta != 0) {
    c = Fetch(on.c, *on.c_layout, false);
    if (!c.ok()) return OfMemory(c.status());
    product.c = c->view;
  }
  std::vector<std::byte> bias(static_cast<size_t>(product.rows * StorageBytes(on.d_layout->type)));
  if ((how.epilogue & kCublasEpilogueBias) != 0) {
    const absl::Status copied = StandInMemory().CopyOut(how.bias, absl::MakeSpan(bias));
    if (!copied.ok()) return OfMemory(copied);
    product.bias = bias.data();
    product.bias_by_row = true;
  }
  if ((how.epilogue & kCublasEpilogueRelu) != 0) product.activation = LibraryActivation::kRelu;
  if ((how.epilogue & kCublasEpilogueGelu) != 0) product.activation = LibraryActivation::kGelu;
  if (on.d_layout->leading != on.d_layout->rows)
    return Wrong("cublasLtMatmul: a result with holes, which no test has");
  std::vector<std::byte> result(static_cast<size_t>(on.d_layout->Bytes()));
  product.d = {result.data(), on.d_layout->type, 1, on.d_layout->leading, on.d_layout->stride};
  RunProduct(product);
  const absl::Status copied = StandInMemory().CopyIn(reinterpret_cast<uint64_t>(on.d), result);
  return copied.ok() ? kCublasSuccess : OfMemory(copied);
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
  made->leading = leading;
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
  if (attribute == kCublasBatchStride)
    return TakeAttribute(kName, found->second->stride, value, bytes);
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
  const Operands on{a,
                    b,
                    c,
                    d,
                    FindLayout(a_layout),
                    FindLayout(b_layout),
                    FindLayout(c_layout),
                    FindLayout(d_layout)};
  if (handle != TheHandle() || Cublas().handles == 0 || how == Cublas().descriptions.end() ||
      on.a_layout == nullptr || on.b_layout == nullptr || on.c_layout == nullptr ||
      on.d_layout == nullptr)
    return Wrong("cublasLtMatmul: a handle that is not there");
  if (!HasStandInStream(stream)) return Wrong("cublasLtMatmul: a stream that is not there");
  if (algorithm != nullptr || workspace != nullptr || workspace_bytes != 0)
    return Wrong("cublasLtMatmul: an algorithm or a workspace, which nobody gives");
  const int scale = how->second->scale;
  return Compute(*how->second, on, ScaleAt(alpha, scale), ScaleAt(beta, scale).real());
}

}  // extern "C"
