// The plain verdict first, cuts where it is open.
#include "bench/verdict.h"

#include "conformance/case_files.h"
#include "conformance/cuts/cut_check.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

TimedOutputs::TimedOutputs(const Workload& workload, const Profile& profile, const Limits& limits,
                           Oracle& oracle)
    : workload_(workload),
      profile_(profile),
      limits_(limits),
      oracle_(oracle),
      expectation_(oracle.Expect(*workload.module, Pointers(workload.inputs), profile, limits)) {}

std::string TimedOutputs::VerdictByCuts(Backend& backend, const Literal& output) const {
  CompileOptions options;
  options.limits = limits_;
  CutSubject cut{
      *workload_.module, Pointers(workload_.inputs), oracle_, backend, profile_, options};
  cut.plain = Leaves(output);
  return std::string(Name(CheckByCuts(cut).verdict));
}

std::string TimedOutputs::VerdictOn(Backend& backend, const Literal& output) const {
  if (!expectation_.ok() && ClassOf(expectation_.status()) != ErrorClass::kTimeout) {
    return StrCat("not judged: the oracle ended with ", Name(ClassOf(expectation_.status())));
  }
  if (expectation_.ok()) {
    const auto verdict = Judge(*expectation_, output).verdict;
    if (verdict != Verdict::kInconclusive) return std::string(Name(verdict));
  }
  return VerdictByCuts(backend, output);
}

}  // namespace assay
