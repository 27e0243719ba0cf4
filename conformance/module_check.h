// One module with inputs, checked: the oracle says which answers are right, and the answers of a
// backend and those stored beside the module are judged.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case_files.h"
#include "conformance/cuts/cut_check.h"
#include "nlohmann/json.hpp"
#include "spec/backend/backend.h"
#include "spec/backend/check.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"

namespace assay {

// The judgement of one answer.
struct SubjectResult {
  std::string subject;  // the backend's name, or "stored"
  Outcome outcome;
  std::string waived;  // why a stored answer that fails counts as passed (waivers.json)
  double compile_seconds = 0, run_seconds = 0;
  nlohmann::json cuts;  // ToJson(CutReport); null where the program was not cut
};

struct ModuleResult {
  std::string name, path;
  // The worst of the subjects'; nothing to judge if there is none; not run if there is no module,
  // or no arrays that fit it.
  Outcome outcome;
  std::vector<std::string>
      unsupported;  // names of ops and types that the oracle has no meaning for
  int64_t instructions = 0;
  bool inputs_generated = false;
  int64_t constants_drawn = 0;  // in the place of elided ones: it is not the program of the file
  std::string inputs_path;      // an .npz or a recorded run; "" where they were drawn
  double oracle_seconds = 0;
  std::vector<SubjectResult> subjects;
  std::string known;  // why a failure of it is waived; "" if nobody knows of it
};

using BackendMaker = std::function<absl::StatusOr<std::unique_ptr<Backend>>()>;

struct CheckOptions {
  const Profile* profile = nullptr;
  CompileOptions compile;
  uint64_t seed = 1;         // of inputs for modules that come without
  bool draw_elided = false;  // constants without values are drawn from the seed
  CutMode cut = CutMode::kAuto;
  int64_t sample = CutSubject::kSampleBig;  // of captured contractions (cut_check.h)
  // The number of devices that run; nothing: as the arrays are numbered or the module's header
  // says.
  std::optional<DeviceAssignment> devices = std::nullopt;
  std::string infeed = "";  // an .npz file with what infeeds take (LoadInfeed)
};

// The case that a check of the module with these arrays is about.
CheckCase CaseOf(const Module& module, const CaseArrays& arrays);

// A stored answer that is proved wrong is listed with the proof (conformance/waivers.h). It then
// counts as passed.
//
// `backend` may be nullptr: only the stored answers are judged then. Phases are noted in `note`, so
// that a caller can say where a child process died.
ModuleResult CheckModule(const CaseFile& file, Oracle& oracle, Backend* backend,
                         const CheckOptions& options, std::atomic<Phase>* note = nullptr);

// An answer of a backend, on one device, with what the oracle says of the case.
struct AnswerToJudge {
  const CheckCase& check_case;
  const Expectation& expectation;  // ExpectationOf the case
  const Literal& answer;
};
// The expectation of the whole program that CheckModule judges by; open where the program is so big
// that it is judged by cuts alone.
absl::StatusOr<Expectation> ExpectationOf(const CheckCase& check_case, Oracle& oracle,
                                          const CheckOptions& options);
// Judges the answer as CheckModule does, as a whole and by cuts.
SubjectResult JudgeAnswer(const AnswerToJudge& answer, Oracle& oracle, Backend& backend,
                          const CheckOptions& options);

// Checks a module in a child process, so that what dies takes only its own module with it. The
// child makes the backend that it checks; an empty `make_backend`: none. The calling process must
// be single-threaded.
ModuleResult CheckModuleIsolated(const CaseFile& file, Oracle& oracle,
                                 const BackendMaker& make_backend, const CheckOptions& options);

// The status of a check: what is refused is no wrong answer. By the oracle, before a backend was
// asked, it is "not judged"; by the backend "rejected".
std::string_view StatusOfCheck(const Outcome& outcome);

// The object that `assay check --json` prints for a module (docs/json.md).
nlohmann::json ToJson(const ModuleResult& result);

}  // namespace assay
