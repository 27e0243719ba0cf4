// A plan per lengths, type and number of lines is kept for the life of the library; its workspace
// is the caller's, call by call.
#include <dlfcn.h>

#include <map>
#include <utility>
#include <vector>

#include "optimized/gpu/driver/libraries/cusolver.h"
#include "optimized/gpu/driver/libraries/cusolver_calls.h"
#include "spec/attributes/attribute_words.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

const LibraryPlace& CufftPlace() {
  static const auto& place = *new LibraryPlace{"cuFFT",
                                               "ASSAY_LIBCUFFT",
                                               {"libcufft.so.12", "libcufft.so.11"},
                                               "transforms run by kernels of our own instead",
                                               "the CUDA toolkit (package libcufft)"};
  return place;
}
constexpr LibraryStatus kCufftStatuses[] = {
    {kCufftInvalidPlan, "no such plan"},        {kCufftAllocFailed, "out of memory"},
    {kCufftInvalidValue, "a value is invalid"}, {kCufftInternalError, "an internal error"},
    {kCufftExecFailed, "the kernel failed"},    {kCufftSetupFailed, "it could not start"},
    {kCufftInvalidSize, "a size is not taken"}, {kCufftNotSupported, "it has no such transform"},
};
absl::Status CheckCufft(CufftStatus status, std::string_view what) {
  if (status == 0) return absl::OkStatus();
  return LibraryError(CufftPlace(), what, status, kCufftStatuses, kCufftAllocFailed,
                      kCufftNotSupported);
}

struct KeptPlan {
  CufftPlan plan = 0;
  size_t workspace_bytes = 0;
};

class Cufft : public DeviceLibrary {
 public:
  Cufft() = default;
  ~Cufft() override {
    for (const auto& [what, kept] : plans_) calls_.cufftDestroy(kept.plan);
  }
  Cufft(const Cufft&) = delete;
  Cufft& operator=(const Cufft&) = delete;

  absl::Status Start(void* library) {
#define ASSAY_CUFFT_FIND(name, ...)                                                    \
  calls_.name = reinterpret_cast<CufftStatus (*)(__VA_ARGS__)>(dlsym(library, #name)); \
  if (calls_.name == nullptr) return LacksCall(CufftPlace(), #name);
    ASSAY_CUFFT_CALLS(ASSAY_CUFFT_FIND)
#undef ASSAY_CUFFT_FIND
    return absl::OkStatus();
  }
  std::string_view name() const override { return CufftPlace().name; }
  bool Takes(const Instruction& instruction) const override {
    if (instruction.opcode() != Opcode::kFft) return false;
    const Attributes& attributes = instruction.attributes();
    const auto kind = static_cast<FftKind>(attributes.Integer(Attr::kFftType));
    const size_t rank = attributes.Integers(Attr::kFftLength).size();
    return (kind == FftKind::kFft || kind == FftKind::kRfft) && rank >= 1 && rank <= 3 &&
           instruction.shape().ElementCount() > 0;
  }
  absl::Status Run(const Instruction& instruction, const LibraryArrays& arrays) override;

 private:
  // By type, lines, then lengths.
  absl::StatusOr<KeptPlan> PlanOf(const std::vector<long long>& what);

  CufftCalls calls_;
  std::map<std::vector<long long>, KeptPlan> plans_;
};

absl::StatusOr<KeptPlan> Cufft::PlanOf(const std::vector<long long>& what) {
  const auto found = plans_.find(what);
  if (found != plans_.end()) return found->second;
  std::vector<long long> sizes(what.begin() + 2, what.end());
  KeptPlan made;
  ASSAY_RETURN_IF_ERROR(CheckCufft(calls_.cufftCreate(&made.plan), "a plan"));
  absl::Status status =
      CheckCufft(calls_.cufftSetAutoAllocation(made.plan, 0), "the memory of a plan");
  if (status.ok()) {
    status =
        CheckCufft(calls_.cufftMakePlanMany64(
                       made.plan, static_cast<int>(sizes.size()), sizes.data(), nullptr, 1, 0,
                       nullptr, 1, 0, static_cast<int>(what[0]), what[1], &made.workspace_bytes),
                   "making a plan");
  }
  if (!status.ok()) {
    calls_.cufftDestroy(made.plan);
    return status;
  }
  plans_[what] = made;
  return made;
}

absl::Status Cufft::Run(const Instruction& instruction, const LibraryArrays& arrays) {
  const Attributes& attributes = instruction.attributes();
  const absl::Span<const int64_t> lengths = attributes.Integers(Attr::kFftLength);
  const bool is_real = static_cast<FftKind>(attributes.Integer(Attr::kFftType)) == FftKind::kRfft;
  const bool is_wide = instruction.shape().element_type() == ElementType::kC128;
  const int type = is_real ? (is_wide ? kCufftD2Z : kCufftR2C) : (is_wide ? kCufftZ2Z : kCufftC2C);
  int64_t line = 1;
  for (const int64_t length : lengths) line *= length;
  std::vector<long long> what = {type, instruction.operand(0)->shape().ElementCount() / line};
  what.insert(what.end(), lengths.begin(), lengths.end());
  ASSAY_ASSIGN_OR_RETURN(const KeptPlan kept, PlanOf(what));
  ASSAY_ASSIGN_OR_RETURN(const uint64_t workspace, arrays.workspace(kept.workspace_bytes));
  ASSAY_RETURN_IF_ERROR(CheckCufft(calls_.cufftSetStream(kept.plan, arrays.stream), "its stream"));
  const auto at = [](uint64_t address) { return reinterpret_cast<void*>(address); };
  ASSAY_RETURN_IF_ERROR(
      CheckCufft(calls_.cufftSetWorkArea(kept.plan, at(workspace)), "its workspace"));
  void *in = at(arrays.operands[0]), *out = at(arrays.results[0]);
  CufftStatus status = 0;
  if (is_real) {
    status = (is_wide ? calls_.cufftExecD2Z : calls_.cufftExecR2C)(kept.plan, in, out);
  } else {
    status =
        (is_wide ? calls_.cufftExecZ2Z : calls_.cufftExecC2C)(kept.plan, in, out, kCufftForward);
  }
  return CheckCufft(status, StrCat("the transform ", instruction.name()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCufft(const std::string& library) {
  ASSAY_ASSIGN_OR_RETURN(void* const opened, OpenLibrary(CufftPlace(), library));
  auto cufft = std::make_unique<Cufft>();
  ASSAY_RETURN_IF_ERROR(cufft->Start(opened));
  return cufft;
}

}  // namespace assay::gpu
