// Writes the folder of a cause.
#include "tools/assay/findings/known_folder.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/bug_page.h"
#include "fuzz/triage/triage.h"
#include "fuzz/triage/wrong_element.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"
#include "tools/assay/findings/known_inputs.h"
#include "tools/assay/findings/known_siblings.h"
#include "tools/assay/text_files.h"
#include "tools/assay/texts/jax_text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kShownElements = 32;  // of an input in cause.json
constexpr int kTries = 4;
constexpr int kSeconds = 60;  // that repro.py waits

// A failing program that is asked again and again while a folder is made.
struct Failure {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;
  Outcome outcome;
  WrongElement wrong;
  std::string expected, got;                           // of that element
  std::vector<std::pair<std::string, Literal>> right;  // out0, ... where the oracle says them
};

std::string Path(const Cause& cause, const char* file) {
  return (fs::path(cause.folder) / file).string();
}

// Notes where the program differs first, in words and for the script.
void NoteWrongElement(const Checker& checker, Failure& failure) {
  const std::vector<const Literal*> leaves = Leaves(checker.answer());
  if (leaves.empty()) return;
  const Expectation& right = checker.expectation();
  const ElementFailure first = JudgeLeaves(right, leaves).first;
  failure.wrong = ElementOf(checker.answer(), first, &right);
  const auto leaf = static_cast<size_t>(first.leaf);
  if (leaf >= leaves.size() || leaf >= right.leaves.size()) return;
  if (first.element >= leaves[leaf]->element_count()) return;
  failure.got = DescribeElement(*leaves[leaf], first.element);
  failure.expected = DescribeAllowed(right.leaves[leaf], first.element);
}

absl::StatusOr<Failure> Observe(const CheckSubject& subject, const Cause& cause,
                                const KnownPeer& peer) {
  Failure failure;
  const CaseFile file = cause.Case();
  ASSAY_ASSIGN_OR_RETURN(failure.module, LoadCaseModule(file));
  if (!file.arrays_path.empty()) {
    ASSAY_ASSIGN_OR_RETURN(CaseArrays arrays, LoadArrays(*failure.module, file.arrays_path, 1));
    failure.inputs = std::move(arrays.arguments);
  } else {
    ASSAY_ASSIGN_OR_RETURN(failure.inputs, FindFailingInputs(subject, *failure.module, peer.sets));
  }
  const CheckCase check = CheckCase::Of(*failure.module, failure.inputs);
  Checker checker(subject, check);
  // Memory that was written over shows now and then.
  for (int i = 0; i < kTries && !failure.outcome.IsFailure(); ++i)
    failure.outcome = checker.Check().outcome;
  if (!failure.outcome.IsFailure()) {
    return absl::FailedPreconditionError(
        StrCat("it does not fail any more: ", StateWord(failure.outcome),
               "; set its status to "
               "\"fixed\" with the release as the reason, or remove the folder"));
  }
  if (failure.outcome.kind == Outcome::kWrong) NoteWrongElement(checker, failure);
  absl::StatusOr<Literal> right = EvaluateOn(subject.oracle, check, subject.limits);
  if (!right.ok()) return failure;
  int64_t number = 0;
  for (const Literal* leaf : Leaves(*right))
    failure.right.emplace_back(StrCat("out", number++), *leaf);
  return failure;
}

absl::Status WriteArrays(const Cause& cause, const Failure& failure) {
  std::vector<std::pair<std::string, const Literal*>> arrays;
  for (size_t i = 0; i < failure.inputs.size(); ++i)
    arrays.emplace_back(StrCat("in", i), &failure.inputs[i]);
  for (const auto& [name, value] : failure.right) arrays.emplace_back(name, &value);
  if (arrays.empty()) return absl::OkStatus();
  return WriteNpz(Path(cause, "program.npz"), arrays);
}

// A string of Python.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

std::string ReproScript(const Cause& cause, const Failure& failure) {
  std::vector<std::string> types;
  for (const Literal& input : failure.inputs) types.push_back(NumpyName(input.element_type()));
  const std::string& judgement = failure.outcome.Describe();
  std::string script = absl::StrReplaceAll(
      std::string(TextFile("known_repro.py")),
      {{"@TITLE@", absl::StrReplaceAll(cause.title, {{"\\", "\\\\"}, {"\"", "\\\""}})},
       {"@KIND@", Quoted(cause.measured.kind)},
       {"@WORDS@", Quoted(cause.measured.message)},
       {"@SIGNAL@", StrCat(SignalOfDeath(judgement))},
       {"@SECONDS@", StrCat(kSeconds)},
       {"@TYPES@", nlohmann::json(types).dump()},
       {"@OUTPUT@", StrCat(std::max<int64_t>(failure.wrong.output, 0))},
       {"@ELEMENT@", StrCat(failure.wrong.element)},
       {"@RIGHT@", Quoted(failure.expected)},
       {"@WRONG@", failure.wrong.test.empty() ? "False" : failure.wrong.test},
       {"@ALLOWED@", failure.wrong.allowed}});
  return script;
}

void NoteInputs(const Failure& failure, MeasuredCause& measured) {
  measured.inputs.clear();
  for (const Literal& input : failure.inputs) {
    const bool is_small = input.element_count() <= kShownElements;
    measured.inputs.push_back(
        StrCat(input.shape().ToString(), " ", is_small ? input.ToString() : "in program.npz"));
  }
}

// Words that are the same in the next process: messages of protobuf begin with a mark that changes.
std::string StableWords(const std::string& words) {
  return std::string(absl::StripTrailingAsciiWhitespace(words.substr(0, words.find("goo.gle/"))));
}

// Who is to blame, as triage says it; with a limit of time the program is reduced on the way.
absl::Status AskTriage(Cause& cause, const KnownPeer& peer, const CheckSubject& subject,
                       Failure& failure) {
  ASSAY_ASSIGN_OR_RETURN(const Finding finding,
                         FindingOf(subject, *failure.module, failure.inputs));
  TriageOptions options;
  options.reduce = peer.reduce_seconds > 0;
  options.reduce_seconds = peer.reduce_seconds;
  options.python = peer.python;
  ASSAY_ASSIGN_OR_RETURN(const TriageReport report,
                         Triage(finding, peer.oracle, peer.backend, options));
  if (!report.result.confirmed) return absl::AbortedError("it failed once and not again");
  MeasuredCause& measured = cause.measured;
  measured.kind = std::string(Name(failure.outcome.kind));
  measured.seen_on = report.page.backend_version;
  measured.bucket = report.result.bucket;
  measured.pass = report.page.pass_blame.pass;
  measured.verdict = report.page.pass_blame.verdict;
  measured.flags = {report.page.pass_blame.checks.begin(), report.page.pass_blame.checks.end()};
  measured.numpy = report.result.second_opinion;
  const bool has_words =
      IsCrash(failure.outcome.kind) || failure.outcome.kind == Outcome::kRejected;
  measured.message = has_words ? StableWords(WordsOfDeath(report.page)) : "";
  for (const auto& [file, text] : {std::pair{"before.hlo", &report.page.pass_blame.before},
                                   std::pair{"after.hlo", &report.page.pass_blame.after}}) {
    std::error_code ignored;
    fs::remove(Path(cause, file), ignored);
    if (!text->empty()) ASSAY_RETURN_IF_ERROR(WriteFile(Path(cause, file), *text));
  }
  if (!options.reduce) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(
      WriteFile(Path(cause, "program.hlo"), SpellNegativeZeros(report.page.finding.module_text)));
  failure.inputs = report.page.finding.inputs;
  return WriteInputs(Path(cause, "program.npz"), failure.inputs);
}

// Writes the program in JAX, and keeps it only where it shows the same.
absl::Status WriteJax(Cause& cause, const KnownPeer& peer, const Failure& failure) {
  cause.measured.has_jax = false;
  const std::string path = Path(cause, "jax.py");
  if (absl::StatusOr<std::string> own = ReadFile(path); own.ok() && !IsJaxText(*own)) {
    cause.measured.has_jax = RunScript(cause, "jax.py", peer.python) == 1;
    return absl::OkStatus();
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  if (failure.wrong.output < 0) return absl::OkStatus();
  const std::optional<std::string> text =
      JaxText(*failure.module, failure.inputs, failure.wrong, cause.title, failure.expected);
  if (!text.has_value()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(WriteFile(path, *text));
  cause.measured.has_jax = RunScript(cause, "jax.py", peer.python) == 1;
  if (!cause.measured.has_jax) fs::remove(path, ignored);
  return absl::OkStatus();
}

}  // namespace

int RunScript(const Cause& cause, const std::string& script, const std::string& python) {
  const std::string quote = "'";
  const std::string command = StrCat("exec ", quote, python, quote, " ", quote,
                                     Path(cause, script.c_str()), quote, " >/dev/null 2>&1");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

absl::Status RefreshFolder(Cause& cause, const KnownPeer& peer) {
  const CheckSubject subject{peer.oracle, peer.backend, peer.profile, {}, kTriageLimits};
  ASSAY_ASSIGN_OR_RETURN(Failure failure, Observe(subject, cause, peer));
  ASSAY_RETURN_IF_ERROR(AskTriage(cause, peer, subject, failure));
  if (peer.reduce_seconds > 0) {
    ASSAY_ASSIGN_OR_RETURN(failure, Observe(subject, cause, peer));
  }
  MeasuredCause& measured = cause.measured;
  measured.expected = failure.expected;
  measured.got = failure.got;
  if (failure.got.empty()) {
    const std::string death = failure.outcome.Describe();
    measured.got = measured.message.empty() ? death.substr(0, death.find('\n')) : measured.message;
    measured.expected = "a result";
  }
  NoteInputs(failure, measured);
  ASSAY_RETURN_IF_ERROR(WriteArrays(cause, failure));
  ASSAY_RETURN_IF_ERROR(WriteFile(Path(cause, "repro.py"), ReproScript(cause, failure)));
  if (const int status = RunScript(cause, "repro.py", peer.python); status != 1) {
    return absl::AbortedError(StrCat("it fails here, but repro.py ends with ", status));
  }
  ASSAY_RETURN_IF_ERROR(WriteJax(cause, peer, failure));
  NoteSiblings(subject, *failure.module, failure.inputs, failure.outcome.kind, measured);
  return WriteCause(cause);
}

}  // namespace assay
