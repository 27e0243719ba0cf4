// Arrays are row-major and cuSOLVER's matrices are stored by columns: it sees the transposed
// matrix, whose upper factor lies where our lower one is to be.
#include "optimized/gpu/driver/libraries/cusolver.h"

#include <dlfcn.h>

#include <limits>

#include "optimized/gpu/driver/libraries/cusolver_calls.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/library/library_call.h"

namespace assay::gpu {
namespace {

const LibraryPlace& CusolverPlace() {
  static const auto& place = *new LibraryPlace{"cuSOLVER",
                                               "ASSAY_LIBCUSOLVER",
                                               {"libcusolver.so.12", "libcusolver.so.11"},
                                               "Cholesky factors come from our own kernel instead",
                                               "the CUDA toolkit (package libcusolver)"};
  return place;
}
constexpr LibraryStatus kCusolverStatuses[] = {
    {kCusolverNotInitialised, "it is not initialised"},
    {kCusolverAllocFailed, "out of memory"},
    {kCusolverInvalidValue, "a value is invalid"},
    {kCusolverExecutionFailed, "the kernel failed"},
    {kCusolverInternalError, "an internal error"},
    {kCusolverNotSupported, "it has no such routine"},
};
absl::Status CheckCusolver(CusolverStatus status, std::string_view what) {
  if (status == 0) return absl::OkStatus();
  return LibraryError(CusolverPlace(), what, status, kCusolverStatuses, kCusolverAllocFailed,
                      kCusolverNotSupported);
}

class Cusolver : public DeviceLibrary {
 public:
  Cusolver() = default;
  ~Cusolver() override {
    if (handle_ != nullptr) calls_.cusolverDnDestroy(handle_);
  }
  Cusolver(const Cusolver&) = delete;
  Cusolver& operator=(const Cusolver&) = delete;

  absl::Status Start(void* library) {
#define ASSAY_CUSOLVER_FIND(name, ...)                                                    \
  calls_.name = reinterpret_cast<CusolverStatus (*)(__VA_ARGS__)>(dlsym(library, #name)); \
  if (calls_.name == nullptr) return LacksCall(CusolverPlace(), #name);
    ASSAY_CUSOLVER_CALLS(ASSAY_CUSOLVER_FIND)
#undef ASSAY_CUSOLVER_FIND
    return CheckCusolver(calls_.cusolverDnCreate(&handle_), "its start");
  }
  std::string_view name() const override { return CusolverPlace().name; }
  bool Takes(const Instruction& instruction) const override {
    if (!IsLibraryCall(instruction)) return false;
    const absl::StatusOr<LibraryCall> call = ReadLibraryCall(instruction);
    if (!call.ok() || call->routine != LibraryRoutine::kCholesky) return false;
    const Shape& shape = instruction.operand(0)->shape();
    return shape.ElementCount() > 0 &&
           shape.dimension(shape.rank() - 1) <= std::numeric_limits<int>::max() / 8;
  }
  absl::Status Run(const Instruction& instruction, const LibraryArrays& arrays) override;

 private:
  using Size = CusolverStatus (*)(CusolverHandle, int, int, void*, int, int*);
  using Factor = CusolverStatus (*)(CusolverHandle, int, int, void*, int, void*, int, int*);
  struct Routine {
    ElementType type;
    Size size;
    Factor factor;
  };
  Routine RoutineOf(ElementType type) const {
    const Routine routines[] = {
        {ElementType::kF32, calls_.cusolverDnSpotrf_bufferSize, calls_.cusolverDnSpotrf},
        {ElementType::kF64, calls_.cusolverDnDpotrf_bufferSize, calls_.cusolverDnDpotrf},
        {ElementType::kC64, calls_.cusolverDnCpotrf_bufferSize, calls_.cusolverDnCpotrf},
        {ElementType::kC128, calls_.cusolverDnZpotrf_bufferSize, calls_.cusolverDnZpotrf}};
    for (const Routine& routine : routines)
      if (routine.type == type) return routine;
    return {type, nullptr, nullptr};
  }

  CusolverCalls calls_;
  CusolverHandle handle_ = nullptr;
};

absl::Status Cusolver::Run(const Instruction& instruction, const LibraryArrays& arrays) {
  ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(instruction));
  const Shape& shape = instruction.operand(0)->shape();
  const Routine routine = RoutineOf(shape.element_type());
  if (routine.size == nullptr) return absl::UnimplementedError("cuSOLVER: no such type");
  const int64_t n = shape.dimension(shape.rank() - 1);
  const int64_t matrix_bytes = n * n * StorageBytes(shape.element_type());
  ASSAY_RETURN_IF_ERROR(
      CheckCusolver(calls_.cusolverDnSetStream(handle_, arrays.stream), "its stream"));
  const int triangle = call.lower ? kCublasUpper : kCublasLower;
  const auto order = static_cast<int>(n);
  const auto at = [](uint64_t address) { return reinterpret_cast<void*>(address); };
  int elements = 0;
  ASSAY_RETURN_IF_ERROR(
      CheckCusolver(routine.size(handle_, triangle, order, at(arrays.results[0]), order, &elements),
                    "the size of a workspace"));
  ASSAY_ASSIGN_OR_RETURN(
      const uint64_t workspace,
      arrays.workspace(static_cast<uint64_t>(elements) * StorageBytes(shape.element_type())));
  if (arrays.results[0] != arrays.operands[0]) {
    ASSAY_RETURN_IF_ERROR(arrays.copy(arrays.results[0], arrays.operands[0],
                                      static_cast<uint64_t>(shape.ByteSize())));
  }
  const int64_t matrices = shape.ElementCount() / (n * n);
  for (int64_t k = 0; k < matrices; ++k) {
    ASSAY_RETURN_IF_ERROR(CheckCusolver(
        routine.factor(handle_, triangle, order,
                       at(arrays.results[0] + static_cast<uint64_t>(k * matrix_bytes)), order,
                       at(workspace), elements,
                       static_cast<int*>(at(arrays.results[2] + 4 * static_cast<uint64_t>(k)))),
        StrCat("the factor ", instruction.name())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCusolver(const std::string& library) {
  ASSAY_ASSIGN_OR_RETURN(void* const opened, OpenLibrary(CusolverPlace(), library));
  auto cusolver = std::make_unique<Cusolver>();
  ASSAY_RETURN_IF_ERROR(cusolver->Start(opened));
  return cusolver;
}

}  // namespace assay::gpu
