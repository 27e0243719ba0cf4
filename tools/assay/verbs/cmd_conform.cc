// assay conform: the suites of golden values and of known causes, on any backend.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "conformance/golden.h"
#include "conformance/known/ledger.h"
#include "conformance/module_check.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/cases/known_option.h"
#include "tools/assay/cases/shard.h"
#include "tools/assay/conform/invalid_cases.h"
#include "tools/assay/conform/package_verb.h"
#include "tools/assay/conform/protocol_suite.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"
#include "tools/assay/verbs/conform_matrix.h"

namespace assay {
namespace {

struct Options {
  std::string suite = "goldens";
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  std::string filter;
  bool all = false;
  bool json = false;
  MatrixOptions matrix;
  KnownOption known;
  ShardOption shard;
  LimitOptions limits;
  RecordOptions record;
  PackageOption package;
};

std::string_view StatusOf(const GoldenResult& result) {
  return result.known.empty() ? StatusWord(result.outcome.kind) : "waived";
}

nlohmann::json ToJson(const GoldenResult& result) {
  nlohmann::json json = {
      {"name", result.name}, {"status", StatusOf(result)}, {"detail", result.outcome.Describe()}};
  if (!result.known.empty()) json["known"] = result.known;
  return json;
}

// Counts of how the goldens ended: per file of the suite, or per op.
void PrintTable(const std::vector<GoldenCase>& cases, const std::vector<GoldenResult>& results,
                bool by_op) {
  struct Group {
    std::set<std::string> ops;
    std::map<std::string_view, int64_t> counts;
  };
  std::map<std::string, Group> groups;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<std::string> names = {cases[i].file.substr(0, cases[i].file.find('.'))};
    for (const std::string& name : by_op ? cases[i].ops : names) {
      groups[name].ops.insert(cases[i].ops.begin(), cases[i].ops.end());
      ++groups[name].counts[StatusOf(results[i])];
    }
  }
  Table table({{by_op ? "op" : "suite"},
               {"ops", Table::kRight},
               {"passed", Table::kRight},
               {"failed", Table::kRight},
               {"unsupported", Table::kRight},
               {"crashed", Table::kRight}});
  for (auto& [name, group] : groups) {
    auto cell = [&counts = group.counts](const char* status, Style style) {
      int64_t count = counts[status];
      return count == 0 ? std::string("-") : Styled(style, StrCat(count));
    };
    table.Add({name, by_op ? "" : Grouped(static_cast<int64_t>(group.ops.size())),
               cell("passed", Style::kGood), cell("failed", Style::kBad),
               cell("unsupported", Style::kWarn), cell("crashed", Style::kBad)});
  }
  Print(table.ToString());
}

absl::Status Record(const Options& options, const std::vector<GoldenCase>& cases,
                    const std::vector<GoldenResult>& results, RunRow run) {
  for (size_t i = 0; i < results.size(); ++i) {
    CaseRow row;
    // The family of a golden, for the page's table, is the file that it stands in.
    row.name = cases[i].file.substr(0, cases[i].file.find('.')) + "__" + results[i].name;
    row.subject = options.backend;
    row.status = StatusOf(results[i]);
    row.detail = results[i].outcome.Describe();
    if (!results[i].known.empty()) row.detail = StrCat(results[i].known, "\n", row.detail);
    for (const GoldenCase::Row& golden : cases[i].rows) {
      for (const Literal& leaf : golden.expected) row.elements += leaf.element_count();
    }
    run.cases.push_back(std::move(row));
  }
  options.record.Save(run);
  return options.package.Save(run, {options.suite, "", options.filter});
}

// Cases that must be refused.
absl::StatusOr<int> RunInvalidSuite(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         OpenBackend(options.backend, options.python, options.limits.timeout));
  RunRow run = BeginRun("conform", options.backend, CommandLine());
  run.backend_version = backend->Describe().version;
  if (!options.json) Print(WhoIs(backend->Describe()));
  ASSAY_ASSIGN_OR_RETURN(KnownCases known, options.known.Read(run.backend_version));
  const double start = Now();
  const InterruptGuard guard;
  ASSAY_ASSIGN_OR_RETURN(
      run.cases, RunInvalid({options.backend, options.filter, options.json, options.limits.Get()},
                            *backend, known));
  run.seconds = Now() - start;
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : run.cases) ++counts[row.status];
  nlohmann::json summary = {{"type", "summary"},          {"verb", "conform"},
                            {"suite", "invalid"},         {"filter", options.filter},
                            {"backend", options.backend}, {"backend_version", run.backend_version},
                            {"seconds", run.seconds}};
  for (const char* status : {"passed", "failed", "unsupported", "crashed", "timed out", "waived"})
    summary[status] = counts[status];
  const std::vector<std::string> alarms = known.Alarms();
  if (!options.known.path.empty()) summary["alarms"] = alarms;
  run.summary = JsonText(summary);
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    Print(StrCat(counts["passed"], " refused, ", counts["failed"], " accepted, ",
                 counts["unsupported"], " unsupported, ", counts["crashed"], " crashed",
                 counts["waived"] > 0 ? StrCat(", ", counts["waived"], " waived") : ""));
  }
  PrintAlarms(alarms, options.json);
  if (InterruptRequested()) return kExitInterrupted;
  ASSAY_RETURN_IF_ERROR(
      options.package.Save(run, {"invalid", "", options.filter}, options.known.Text()));
  if (!alarms.empty()) return kExitFailure;
  return counts["failed"] + counts["crashed"] + counts["timed out"] > 0 ? kExitFailure : kExitOk;
}

// Is a plug-in called as the PJRT C API says, and does it answer so?
absl::StatusOr<int> RunProtocolSuite(const Options& options) {
  RunRow run = BeginRun("conform", options.backend, CommandLine());
  const double start = Now();
  const InterruptGuard guard;
  ASSAY_ASSIGN_OR_RETURN(const ProtocolTotals totals,
                         RunProtocol({options.backend, options.filter, options.matrix.page,
                                      options.json, options.all, options.limits.Get().seconds}));
  run.seconds = Now() - start;
  run.backend_version = totals.version;
  run.cases = totals.rows;
  nlohmann::json summary = {{"type", "summary"},
                            {"verb", "conform"},
                            {"suite", "protocol"},
                            {"filter", options.filter},
                            {"backend", options.backend},
                            {"backend_version", totals.version},
                            {"passed", totals.passed},
                            {"violates", totals.violates},
                            {"crashed", totals.crashed},
                            {"not there", totals.not_there},
                            {"open",
                             {{"passed", totals.open_passed},
                              {"no error", totals.open_violates},
                              {"died", totals.open_crashed},
                              {"not there", totals.open_not_there}}},
                            {"seconds", run.seconds}};
  run.summary = JsonText(summary);
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    Print(StrCat(totals.passed, " passed, ", totals.violates, " violate the document, ",
                 totals.crashed, " crashed, ", totals.not_there,
                 " not there; of what it leaves open ", totals.open_passed, " refused, ",
                 totals.open_violates, " taken, ", totals.open_crashed, " died"));
  }
  if (InterruptRequested()) return kExitInterrupted;
  return totals.violates + totals.crashed > 0 ? kExitFailure : kExitOk;
}

bool IsLedger(const Options& options) { return options.suite != "goldens"; }

// A case of a ledger of causes has a name and the sentence that the compiler broke; what is right
// is beside its program.
absl::StatusOr<std::vector<GoldenCase>> CasesOf(const std::string& ledger) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Cause> causes, ReadLedger(ledger));
  std::vector<GoldenCase> cases;
  for (const Cause& cause : causes) {
    GoldenCase one;
    one.file = std::string(Name(cause.severity));
    one.name = cause.name;
    one.ops = {cause.component};
    one.citation = cause.sentence;
    cases.push_back(std::move(one));
  }
  return cases;
}

absl::StatusOr<std::vector<GoldenCase>> CasesFor(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<GoldenCase> cases,
                         IsLedger(options) ? CasesOf(options.suite) : DocumentGoldens());
  std::erase_if(cases, [&](const GoldenCase& golden) {
    return golden.name.find(options.filter) == std::string::npos;
  });
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, options.shard.Get());
  if (!cases.empty()) return shard.Of(cases);
  return absl::NotFoundError(StrCat("no case's name has '", options.filter, "' in it"));
}

// The program of a cause, judged by the oracle as `assay check` does, and so is what lies beside it
// as right.
GoldenResult RunCause(const std::string& folder, Oracle& oracle, const BackendMaker& make_backend,
                      Backend* warm, const CompileOptions& compile) {
  GoldenResult result;
  result.name = std::filesystem::path(folder).filename().string();
  const absl::StatusOr<Cause> cause = ReadCause(folder);
  const absl::StatusOr<const Profile*> profile =
      cause.ok() ? Profile::Find(cause->profile) : absl::StatusOr<const Profile*>(cause.status());
  if (!profile.ok()) {
    result.outcome = OutcomeOf(profile.status(), Phase::kIdle);
    return result;
  }
  CheckOptions options;
  options.profile = *profile;
  options.compile = compile;
  const ModuleResult checked =
      warm != nullptr ? CheckModule(cause->Case(), oracle, warm, options)
                      : CheckModuleIsolated(cause->Case(), oracle, make_backend, options);
  result.outcome = checked.outcome;
  // The reason is with the answer that was judged.
  for (const SubjectResult& subject : checked.subjects) {
    if (subject.outcome.kind == checked.outcome.kind) result.outcome = subject.outcome;
  }
  return result;
}

// A backend that lives in another process already is kept warm; any other is made in a child
// process per golden.
std::vector<GoldenResult> RunAll(const std::vector<GoldenCase>& cases, const Options& options,
                                 Backend& probe, KnownCases& known) {
  CompileOptions compile;
  compile.limits = options.limits.Get();
  const bool isolate = probe.Describe().in_process;
  auto make_backend = [&] {
    return OpenBackend(options.backend, options.python, options.limits.timeout);
  };
  std::vector<GoldenResult> results;
  StepProgress progress("golden", cases.size());
  const std::unique_ptr<Oracle> oracle = IsLedger(options) ? MakeOracle() : nullptr;
  const auto run = [&](const GoldenCase& golden) {
    if (oracle != nullptr) {
      const std::string folder = (std::filesystem::path(options.suite) / golden.name).string();
      return RunCause(folder, *oracle, make_backend, isolate ? nullptr : &probe, compile);
    }
    return isolate ? RunGoldenIsolated(golden, make_backend, compile)
                   : RunGolden(golden, probe, compile);
  };
  for (const GoldenCase& golden : cases) {
    progress.Begin(golden.name);
    GoldenResult result = run(golden);
    if (InterruptRequested()) break;
    result.known = known.Excuse(golden.name, StatusWord(result.outcome.kind));
    results.push_back(std::move(result));
    if (options.json) {
      progress.Clear();
      nlohmann::json line = ToJson(results.back());
      line["type"] = "golden";
      line["ops"] = golden.ops;
      line["citation"] = golden.citation;
      PrintJson(line);
    }
  }
  return results;
}

void PrintResults(const std::vector<GoldenCase>& cases, const std::vector<GoldenResult>& results,
                  std::map<std::string_view, int64_t>& counts, bool by_op) {
  PrintTable(cases, results, by_op);
  for (const GoldenResult& result : results) {
    if (result.outcome.IsPass()) continue;
    if (!result.known.empty()) {
      Print(StrCat(Styled(Style::kWarn, "waived"), " ", result.name, ": ", result.known));
      continue;
    }
    Print(StrCat(Styled(Style::kBad, StatusWord(result.outcome.kind)), " ", result.name, ": ",
                 result.outcome.Describe()));
  }
  Print(StrCat(counts["passed"], " passed, ", counts["failed"], " failed, ", counts["unsupported"],
               " unsupported, ", counts["crashed"], " crashed",
               counts["waived"] > 0 ? StrCat(", ", counts["waived"], " waived") : ""));
}

absl::StatusOr<int> RunMatrixSuite(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         OpenBackend(options.backend, options.python, options.limits.timeout));
  RunRow run = BeginRun("conform", options.backend, CommandLine());
  run.backend_version = backend->Describe().version;
  if (!options.json) Print(WhoIs(backend->Describe()));
  const double start = Now();
  const InterruptGuard guard;
  MatrixOptions matrix = options.matrix;
  matrix.backend = options.backend;
  matrix.filter = options.filter;
  matrix.all = options.all;
  matrix.json = options.json;
  matrix.limits = options.limits.Get();
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, options.shard.Get());
  matrix.shard_index = shard.index;
  matrix.shard_count = shard.count;
  ASSAY_ASSIGN_OR_RETURN(KnownCases known, options.known.Read(run.backend_version));
  ASSAY_ASSIGN_OR_RETURN(const MatrixTotals totals, RunMatrix(matrix, *backend, known));
  const std::vector<std::string> alarms = known.Alarms();
  run.seconds = Now() - start;
  nlohmann::json summary = SummaryOf(matrix, totals);
  summary.update({{"shard", options.shard.text},
                  {"backend_version", run.backend_version},
                  {"seconds", run.seconds}});
  if (!options.known.path.empty()) summary["alarms"] = alarms;
  run.summary = JsonText(summary);
  run.cases = totals.cases;
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintTotals(matrix, totals, run.seconds);
  }
  PrintAlarms(alarms, options.json);
  if (InterruptRequested()) return kExitInterrupted;
  ASSAY_RETURN_IF_ERROR(options.package.Save(
      run, {"matrix", matrix.tier, matrix.filter, options.shard.text, matrix.level, totals.profile},
      options.known.Text()));
  return alarms.empty() && IsHeld(matrix, totals) ? kExitOk : kExitFailure;
}

// The suites that have verdicts of their own kind; nullopt: another.
absl::StatusOr<std::optional<int>> RunOwnSuite(const Options& options) {
  std::optional<int> exit;
  const bool is_claim = !options.matrix.level.empty() || !options.matrix.profile.empty();
  if (is_claim && options.suite != "matrix")
    return absl::InvalidArgumentError("--level and --profile are of --suite matrix");
  const bool is_plain = options.known.path.empty() && options.shard.text.empty();
  if (options.suite == "matrix") {
    ASSAY_ASSIGN_OR_RETURN(exit, RunMatrixSuite(options));
  } else if (options.suite == "invalid") {
    if (!options.shard.text.empty())
      return absl::InvalidArgumentError("--shard is not for --suite invalid");
    ASSAY_ASSIGN_OR_RETURN(exit, RunInvalidSuite(options));
  } else if (options.suite == "protocol") {
    if (!is_plain || !options.package.folder.empty()) {
      return absl::InvalidArgumentError(
          "--known, --shard and --package are not for --suite protocol");
    }
    ASSAY_ASSIGN_OR_RETURN(exit, RunProtocolSuite(options));
  }
  return exit;
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<int> done,
                         options.package.Do(options.matrix.page, options.python,
                                            options.limits.timeout, options.known));
  if (done.has_value()) return *done;
  ASSAY_ASSIGN_OR_RETURN(const std::optional<int> own, RunOwnSuite(options));
  if (own.has_value()) return *own;
  const MatrixOptions& matrix = options.matrix;
  if (matrix.tier != MatrixOptions().tier || !matrix.page.empty() || !matrix.cases.empty()) {
    return absl::InvalidArgumentError("--tier, --page and --cases are of --suite matrix");
  }
  if (!options.package.folder.empty() && !options.shard.text.empty()) {
    return absl::InvalidArgumentError("a package of a part is of --suite matrix alone");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> probe,
                         OpenBackend(options.backend, options.python, options.limits.timeout));
  ASSAY_ASSIGN_OR_RETURN(std::vector<GoldenCase> cases, CasesFor(options));
  RunRow run = BeginRun("conform", options.backend, CommandLine());
  run.backend_version = probe->Describe().version;
  if (!options.json) Print(WhoIs(probe->Describe()));
  ASSAY_ASSIGN_OR_RETURN(KnownCases known, options.known.Read(run.backend_version));
  const double start = Now();
  const InterruptGuard guard;
  const std::vector<GoldenResult> results = RunAll(cases, options, *probe, known);
  const size_t not_run = cases.size() - results.size();
  cases.resize(results.size());
  run.seconds = Now() - start;
  std::map<std::string_view, int64_t> counts;
  for (const GoldenResult& result : results) ++counts[StatusOf(result)];
  nlohmann::json summary = {{"type", "summary"},
                            {"verb", "conform"},
                            {"suite", options.suite},
                            {"filter", options.filter},
                            {"shard", options.shard.text},
                            {"backend", options.backend},
                            {"backend_version", run.backend_version},
                            {"passed", counts["passed"]},
                            {"failed", counts["failed"]},
                            {"unsupported", counts["unsupported"]},
                            {"timed out", counts["timed out"]},
                            {"crashed", counts["crashed"]},
                            {"waived", counts["waived"]},
                            {"not_run", not_run},
                            {"seconds", run.seconds}};
  const std::vector<std::string> alarms = known.Alarms();
  if (!options.known.path.empty()) summary["alarms"] = alarms;
  run.summary = JsonText(summary);
  const absl::Status saved = Record(options, cases, results, std::move(run));
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintResults(cases, results, counts, options.all);
  }
  PrintAlarms(alarms, options.json);
  if (not_run > 0) {
    PrintError(StrCat("interrupted: ", Count(static_cast<int64_t>(not_run), "golden"), " not run"));
    return kExitInterrupted;
  }
  ASSAY_RETURN_IF_ERROR(saved);
  if (!alarms.empty()) return kExitFailure;
  return counts["failed"] + counts["crashed"] + counts["timed out"] > 0 ? kExitFailure : kExitOk;
}

}  // namespace

void DeclareConform(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("--suite", options->suite,
           "goldens: worked examples of the documents; matrix: every op on every element type, "
           "sizes, values and modes; invalid: modules that must be refused; protocol: how a PJRT "
           "plug-in "
           "answers its C API; or the folder of a "
           "ledger of causes, such as "
           "conformance/known/xla-cpu")
      .ShowDefault();
  AddBackendOption(line, options->backend, options->python, "Who is judged");
  line.Add("--filter", options->filter, "Only goldens with this text in their name");
  line.AddFlag("--all", options->all, "A line for every op, not only for every file");
  line.AddFlag("--json", options->json, "One JSON object per golden, then a summary");
  line.Add("--tier", options->matrix.tier, "Of the matrix: smoke, ci or full").ShowDefault();
  line.Add("--level", options->matrix.level,
           "Of the matrix: the cells up to this level of conformance, by number or name (1 "
           "integer-core ... 8 named-calls); the exit status is 0 if it is held");
  AddProfileOption(line, options->matrix.profile,
                   "Of the matrix: by which results are judged (default: the backend's)");
  line.Add("--page", options->matrix.page, "Of the matrix and the protocol: write the table here");
  line.Add("--cases", options->matrix.cases,
           "Of the matrix: write the programs and inputs of cells that fail into this folder");
  options->known.Declare(line);
  options->shard.Declare(line);
  options->limits.Declare(line);
  options->record.Declare(line);
  options->package.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
