// Arrays are row-major and cuBLASLt's matrices are stored by columns: what it computes is the
// transposed result, from the sides in the other order, so that a bias goes along its rows.
#include "optimized/gpu/driver/libraries/cublas.h"

#include <dlfcn.h>

#include <complex>
#include <vector>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

const LibraryPlace& CublasPlace() {
  static const auto& place = *new LibraryPlace{"cuBLASLt",
                                               "ASSAY_LIBCUBLASLT",
                                               {"libcublasLt.so.13", "libcublasLt.so.12"},
                                               "products run by kernels of our own instead",
                                               "the CUDA toolkit (package libcublas)"};
  return place;
}
constexpr LibraryStatus kCublasStatuses[] = {
    {kCublasNotInitialised, "it is not initialised"}, {kCublasAllocFailed, "out of memory"},
    {kCublasInvalidValue, "a value is invalid"},      {kCublasArchMismatch, "the GPU is too old"},
    {kCublasExecutionFailed, "the kernel failed"},    {kCublasInternalError, "an internal error"},
    {kCublasNotSupported, "it has no such product"},
};

struct TypeRow {
  ElementType type;
  int data, compute, scale;
};
constexpr TypeRow kTypes[] = {
    {ElementType::kF16, kCudaR16F, kCublasCompute32F, kCudaR32F},
    {ElementType::kBF16, kCudaR16BF, kCublasCompute32F, kCudaR32F},
    {ElementType::kF32, kCudaR32F, kCublasCompute32F, kCudaR32F},
    {ElementType::kF64, kCudaR64F, kCublasCompute64F, kCudaR64F},
    {ElementType::kC64, kCudaC32F, kCublasCompute32F, kCudaC32F},
    {ElementType::kC128, kCudaC64F, kCublasCompute64F, kCudaC64F},
};
const TypeRow* FindType(ElementType type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return &row;
  return nullptr;
}

// One side behind its batch dimensions: its two sizes, the last one being next in memory.
struct Side {
  int64_t rows, columns;
  bool contracts_last;
};
Side SideOf(const Shape& shape, const Int64List& contracting) {
  const int64_t rank = shape.rank();
  return {shape.dimension(rank - 2), shape.dimension(rank - 1), contracting[0] == rank - 1};
}

// Descriptions and layouts of one product, destroyed with the object.
class ProductParts {
 public:
  explicit ProductParts(const CublasCalls& calls) : calls_(calls) {}
  ~ProductParts() {
    for (CublasHandle layout : layouts_) calls_.cublasLtMatrixLayoutDestroy(layout);
    if (description_ != nullptr) calls_.cublasLtMatmulDescDestroy(description_);
  }
  ProductParts(const ProductParts&) = delete;
  ProductParts& operator=(const ProductParts&) = delete;

  CublasStatus Describe(const TypeRow& type) {
    return calls_.cublasLtMatmulDescCreate(&description_, type.compute, type.scale);
  }
  template <typename Value>
  CublasStatus Set(int attribute, Value value) {
    return calls_.cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof value);
  }
  // A row-major matrix, as the library sees it: by columns, with the sizes exchanged.
  CublasStatus AddLayout(int type, int64_t rows, int64_t columns, int32_t batches) {
    CublasHandle layout = nullptr;
    CublasStatus status = calls_.cublasLtMatrixLayoutCreate(
        &layout, type, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows), columns);
    if (status != kCublasSuccess) return status;
    layouts_.push_back(layout);
    if (batches == 1) return status;
    const int64_t stride = rows * columns;
    status = calls_.cublasLtMatrixLayoutSetAttribute(layout, kCublasBatchCount, &batches,
                                                     sizeof batches);
    if (status != kCublasSuccess) return status;
    return calls_.cublasLtMatrixLayoutSetAttribute(layout, kCublasBatchStride, &stride,
                                                   sizeof stride);
  }
  CublasHandle description() const { return description_; }
  CublasHandle layout(size_t k) const { return layouts_[k]; }

 private:
  const CublasCalls& calls_;
  CublasHandle description_ = nullptr;
  std::vector<CublasHandle> layouts_;
};

// A number in the type of scales, on the host.
struct Scale {
  float real = 0;
  double wide = 0;
  std::complex<float> complex;
  std::complex<double> wide_complex;
  int type;

  Scale(int scale_type, double re, double im)
      : real(static_cast<float>(re)),
        wide(re),
        complex(static_cast<float>(re), static_cast<float>(im)),
        wide_complex(re, im),
        type(scale_type) {}
  const void* data() const {
    if (type == kCudaR32F) return &real;
    if (type == kCudaR64F) return &wide;
    return type == kCudaC32F ? static_cast<const void*>(&complex) : &wide_complex;
  }
};

uint32_t EpilogueOf(const GemmConfig& gemm) {
  uint32_t epilogue = gemm.has_bias ? kCublasEpilogueBias : 0;
  if (gemm.activation == LibraryActivation::kRelu) epilogue |= kCublasEpilogueRelu;
  if (gemm.activation == LibraryActivation::kGelu) epilogue |= kCublasEpilogueGelu;
  return epilogue == 0 ? kCublasEpilogueNone : epilogue;
}

const void* OnDevice(uint64_t address) { return reinterpret_cast<const void*>(address); }

}  // namespace

absl::StatusOr<std::unique_ptr<CublasLt>> CublasLt::Load(const std::string& library) {
  ASSAY_ASSIGN_OR_RETURN(void* const opened, OpenLibrary(CublasPlace(), library));
  std::unique_ptr<CublasLt> made(new CublasLt());
#define ASSAY_CUBLAS_FIND(name, ...)                                                         \
  made->calls_.name = reinterpret_cast<CublasStatus (*)(__VA_ARGS__)>(dlsym(opened, #name)); \
  if (made->calls_.name == nullptr) return LacksCall(CublasPlace(), #name);
  ASSAY_CUBLAS_CALLS(ASSAY_CUBLAS_FIND)
#undef ASSAY_CUBLAS_FIND
  ASSAY_RETURN_IF_ERROR(made->Check(made->calls_.cublasLtCreate(&made->handle_), "its start"));
  return made;
}

CublasLt::~CublasLt() {
  // The library stays loaded: it has threads of its own.
  if (handle_ != nullptr) calls_.cublasLtDestroy(handle_);
}

absl::Status CublasLt::Check(CublasStatus status, std::string_view what) const {
  if (status == kCublasSuccess) return absl::OkStatus();
  return LibraryError(CublasPlace(), what, status, kCublasStatuses, kCublasAllocFailed,
                      kCublasNotSupported);
}

bool CublasLt::Takes(const Instruction& instruction) const {
  if (!IsLibraryCall(instruction)) return false;
  const absl::StatusOr<LibraryCall> read = ReadLibraryCall(instruction);
  if (!read.ok() || read->routine > LibraryRoutine::kGemmLt) return false;
  const LibraryCall& call = *read;
  const GemmConfig& gemm = call.gemm;
  const auto fits = [&](const Shape& shape, const Int64List& batch, const Int64List& contracting) {
    const int64_t rank = shape.rank();
    for (size_t d = 0; d < batch.size(); ++d)
      if (batch[d] != static_cast<int64_t>(d)) return false;
    return contracting.size() == 1 && rank == static_cast<int64_t>(batch.size()) + 2 &&
           contracting[0] >= rank - 2;
  };
  const Shape &lhs = instruction.operand(0)->shape(), &rhs = instruction.operand(1)->shape();
  return FindType(lhs.element_type()) != nullptr &&
         FindType(call.result->element_type()) != nullptr && call.result->ElementCount() > 0 &&
         lhs.ElementCount() > 0 && gemm.precision_algorithm.empty() &&
         fits(lhs, gemm.lhs_batch, gemm.lhs_contracting) &&
         fits(rhs, gemm.rhs_batch, gemm.rhs_contracting);
}

absl::Status CublasLt::Run(const Instruction& instruction, const LibraryArrays& arrays) {
  ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(instruction));
  const auto at = [&](int64_t operand) { return arrays.operands[static_cast<size_t>(operand)]; };
  const GemmConfig& gemm = call.gemm;
  const Shape &lhs = instruction.operand(0)->shape(), &out = *call.result;
  const Shape& rhs = instruction.operand(1)->shape();
  const TypeRow &type = *FindType(lhs.element_type()), &result = *FindType(out.element_type());
  const Side left = SideOf(lhs, gemm.lhs_contracting), right = SideOf(rhs, gemm.rhs_contracting);
  const int64_t m = out.dimension(out.rank() - 2), n = out.dimension(out.rank() - 1);
  const auto batches = static_cast<int32_t>(out.ElementCount() / (m * n));
  ProductParts parts(calls_);
  ASSAY_RETURN_IF_ERROR(Check(parts.Describe(type), "the description of a product"));
  // Seen by columns, a side whose contracting dimension comes last is transposed on the right and
  // as it is on the left.
  ASSAY_RETURN_IF_ERROR(
      Check(parts.Set(kCublasTransposeA, right.contracts_last ? kCublasTranspose : kCublasKeep),
            "the order of the right side"));
  ASSAY_RETURN_IF_ERROR(
      Check(parts.Set(kCublasTransposeB, left.contracts_last ? kCublasKeep : kCublasTranspose),
            "the order of the left side"));
  ASSAY_RETURN_IF_ERROR(Check(parts.Set(kCublasEpilogue, EpilogueOf(gemm)), "the epilogue"));
  if (call.bias >= 0)
    ASSAY_RETURN_IF_ERROR(
        Check(parts.Set(kCublasBiasPointer, OnDevice(at(call.bias))), "the bias"));
  const auto layout = [&](int data, int64_t rows, int64_t columns) {
    return Check(parts.AddLayout(data, rows, columns, batches), "the layout of a matrix");
  };
  ASSAY_RETURN_IF_ERROR(layout(type.data, right.rows, right.columns));
  ASSAY_RETURN_IF_ERROR(layout(type.data, left.rows, left.columns));
  ASSAY_RETURN_IF_ERROR(layout(result.data, m, n));
  const Scale alpha(type.scale, gemm.alpha_real, gemm.alpha_imag), beta(type.scale, gemm.beta, 0);
  // Without C the library wants the address of one that it does not read.
  const uint64_t c = call.addend >= 0 ? at(call.addend) : arrays.results[0];
  return Check(calls_.cublasLtMatmul(handle_, parts.description(), alpha.data(), OnDevice(at(1)),
                                     parts.layout(0), OnDevice(at(0)), parts.layout(1), beta.data(),
                                     OnDevice(c), parts.layout(2),
                                     reinterpret_cast<void*>(arrays.results[0]), parts.layout(2),
                                     nullptr, nullptr, 0, arrays.stream),
               StrCat("the product ", instruction.name()));
}

}  // namespace assay::gpu
