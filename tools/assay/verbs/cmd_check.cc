// assay check: modules with inputs on the oracle and on a backend, judged by derived bounds.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <new>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "conformance/module_check.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "reports/case_name.h"
#include "reports/latest.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/cases/known_option.h"
#include "tools/assay/cases/shard.h"
#include "tools/assay/environment.h"
#include "tools/assay/graphs/cut_graph.h"
#include "tools/assay/graphs/graph_file.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/check_power.h"
#include "tools/assay/texts/cut_text.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  std::string profile;
  uint64_t seed = 1;
  bool draw_elided = false;
  std::string cut = "auto";
  int64_t sample = -1;
  std::string graph;  // where to
  bool all = false;
  bool power = false;
  int64_t mistakes = 0, recompilations = 0;
  bool json = false;
  std::string infeed;
  InputOptions inputs;  // only the devices
  KnownOption known;
  ShardOption shard;
  LimitOptions limits;
  RecordOptions record;
};

constexpr std::string_view kWaived = "waived";

using StatusCounts = std::map<std::string_view, int64_t>;

int64_t CountOf(const StatusCounts& counts, std::string_view status) {
  auto at = counts.find(status);
  return at == counts.end() ? 0 : at->second;
}

Style StyleOf(std::string_view status) {
  if (status == "passed") return Style::kGood;
  for (std::string_view open :
       {"inconclusive", "nothing to judge", "not judged", "rejected", "waived"})
    if (status == open) return Style::kWarn;
  return status == "unsupported" ? Style::kDim : Style::kBad;
}

std::string StatusWordOf(const Outcome& outcome) {
  const std::string_view status = StatusOfCheck(outcome);
  return Styled(StyleOf(status), status);
}

// "12 passed, 1 failed": what happened to one subject over a group of modules.
std::string Tally(const StatusCounts& counts) {
  std::string text;
  for (std::string_view status : StatusWords()) {
    const int64_t count = CountOf(counts, status);
    if (count == 0) continue;
    StrAppend(&text, text.empty() ? "" : ", ", Styled(StyleOf(status), StrCat(count, " ", status)));
  }
  return text;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) StrAppend(&text, text.empty() ? "" : ", ", word);
  return text;
}

const SubjectResult* Find(const ModuleResult& result, bool stored) {
  for (const SubjectResult& subject : result.subjects) {
    if ((subject.subject == "stored") == stored) return &subject;
  }
  return nullptr;
}

std::string SubjectCell(const ModuleResult& result, bool stored) {
  const SubjectResult* subject = Find(result, stored);
  return subject == nullptr ? "-" : StatusWordOf(subject->outcome);
}

std::string ModuleTable(const std::vector<ModuleResult>& results, const std::string& backend) {
  Table table({{"module"},
               {backend},
               {"stored"},
               {"elements", Table::kRight},
               {"one answer", Table::kRight},
               {"bound used", Table::kRight},
               {"oracle", Table::kRight},
               {"compile", Table::kRight},
               {"run", Table::kRight}});
  for (const ModuleResult& result : results) {
    const SubjectResult* judged = Find(result, false);
    if (judged == nullptr) judged = Find(result, true);
    if (judged == nullptr) {
      table.Add({result.name, StatusWordOf(result.outcome), "-"});
      continue;
    }
    const Judgement& judgement = judged->outcome.judgement;
    table.Add(
        {result.name, SubjectCell(result, false), SubjectCell(result, true),
         Grouped(judgement.elements),
         Percent(static_cast<double>(judgement.forced), static_cast<double>(judgement.elements)),
         judgement.forced == judgement.elements
             ? "-"
             : absl::StrFormat("%.0f %%", 100 * judgement.max_ulps_used),
         Seconds(result.oracle_seconds), Seconds(judged->compile_seconds),
         Seconds(judged->run_seconds)});
  }
  return table.ToString();
}

std::string FamilyTable(const std::vector<ModuleResult>& results, const std::string& backend) {
  struct Family {
    int64_t modules = 0, elements = 0, forced = 0;
    double bound_used = 0;
    StatusCounts tested, stored;
  };
  std::map<std::string, Family> families;
  for (const ModuleResult& result : results) {
    Family& family = families[std::string(FamilyOfCase(result.name))];
    ++family.modules;
    const SubjectResult* tested = Find(result, false);
    const SubjectResult* stored = Find(result, true);
    ++family.tested[StatusOfCheck(tested != nullptr ? tested->outcome : result.outcome)];
    if (stored != nullptr) ++family.stored[StatusOfCheck(stored->outcome)];
    const SubjectResult* judged = tested != nullptr ? tested : stored;
    if (judged == nullptr) continue;
    const Judgement& judgement = judged->outcome.judgement;
    family.elements += judgement.elements;
    family.forced += judgement.forced;
    family.bound_used = std::max(family.bound_used, judgement.max_ulps_used);
  }
  Table table({{"family"},
               {"modules", Table::kRight},
               {backend},
               {"stored"},
               {"elements", Table::kRight},
               {"one answer", Table::kRight},
               {"bound used", Table::kRight}});
  for (const auto& [name, family] : families) {
    table.Add({name, Grouped(family.modules), Tally(family.tested), Tally(family.stored),
               Grouped(family.elements),
               Percent(static_cast<double>(family.forced), static_cast<double>(family.elements)),
               family.bound_used == 0 ? "-" : absl::StrFormat("%.0f %%", 100 * family.bound_used)});
  }
  return table.ToString();
}

void PrintIndented(const std::string& text) {
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    Print(StrCat("    ", line));
  }
}

bool IsOpen(const Outcome& outcome) {
  return outcome.kind == Outcome::kInconclusive || outcome.kind == Outcome::kNothingToJudge;
}

// Why a module is neither right nor wrong, in one line: the reasons of its subjects, each once.
std::string WhyOpen(const ModuleResult& result) {
  std::vector<std::string> reasons = {};
  for (const SubjectResult& subject : result.subjects) {
    if (!IsOpen(subject.outcome)) continue;
    const std::string reason = subject.outcome.Describe();
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
      reasons.push_back(reason);
    }
  }
  return reasons.empty() ? result.outcome.Describe() : Joined(reasons);
}

void PrintFailure(const ModuleResult& result, const Options& options) {
  Print("");
  Print(StrCat(StatusWordOf(result.outcome), " ", Styled(Style::kBold, result.name)));
  PrintIndented(result.outcome.Describe());
  for (const SubjectResult& subject : result.subjects) {
    if (subject.outcome.IsPass()) continue;
    PrintIndented(StrCat(subject.subject, ": ", StatusOfCheck(subject.outcome)));
    PrintIndented(subject.outcome.Describe());
  }
  PrintIndented(StrCat("repeat: assay check ", result.path, " --backend ", options.backend,
                       PythonArgument(options.python),
                       options.profile.empty() ? "" : StrCat(" --profile ", options.profile),
                       options.seed == Options{}.seed ? "" : StrCat(" --seed ", options.seed),
                       options.inputs.DevicesArgument(),
                       options.infeed.empty() ? "" : StrCat(" --infeed ", options.infeed),
                       options.draw_elided ? " --draw-elided" : ""));
}

// Lists the modules that did not pass: a line for one in which nothing is wrong, otherwise the
// reason and the command that repeats it.
void PrintProblems(const std::vector<ModuleResult>& results, const Options& options) {
  for (const ModuleResult& result : results) {
    if (!result.unsupported.empty()) {
      Print(StrCat(StatusWordOf(result.outcome), " ", result.name,
                   ": no meaning here yet: ", Joined(result.unsupported)));
    } else if (IsOpen(result.outcome)) {
      Print(StrCat(StatusWordOf(result.outcome), " ", result.name, ": ", WhyOpen(result)));
    }
    for (const SubjectResult& subject : result.subjects) {
      if (!subject.waived.empty())
        Print(StrCat("waived ", result.name, " (", subject.subject, "): ", subject.waived));
    }
    if (!result.known.empty())
      Print(StrCat(Styled(Style::kWarn, kWaived), " ", result.name, ": ", result.known));
  }
  for (const ModuleResult& result : results) {
    const bool quiet = result.outcome.IsPass() || IsOpen(result.outcome) ||
                       !result.unsupported.empty() || !result.known.empty();
    if (!quiet) PrintFailure(result, options);
  }
}

// A line for every program that was cut; of a single program the stretches, too.
void PrintCuts(const std::vector<ModuleResult>& results) {
  for (const ModuleResult& result : results) {
    for (const SubjectResult& subject : result.subjects) {
      if (subject.cuts.is_null()) continue;
      Print(StrCat(result.name, " ", CutSummary(subject.cuts)));
      if (const std::string drawn = DrawSummary(subject.cuts); !drawn.empty())
        Print(StrCat(result.name, " ", drawn));
      if (results.size() == 1) Print(StretchTable(subject.cuts));
    }
  }
}

StatusCounts CountStatuses(const std::vector<ModuleResult>& results) {
  StatusCounts counts;
  for (const ModuleResult& result : results) {
    ++counts[result.known.empty() ? StatusOfCheck(result.outcome) : kWaived];
  }
  return counts;
}

nlohmann::json Summary(const StatusCounts& counts, const Options& options, const Profile& profile,
                       double seconds) {
  nlohmann::json json = {{"type", "summary"},
                         {"verb", "check"},
                         {"backend", options.backend},
                         {"profile", profile.name()},
                         {"seconds", seconds}};
  for (std::string_view status : StatusWords()) json[std::string(status)] = CountOf(counts, status);
  json["waived"] = CountOf(counts, kWaived);
  if (!options.shard.text.empty()) json["shard"] = options.shard.text;
  return json;
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// On what it was judged, for the store: a pass on other inputs says nothing of a failure.
std::string InputsOf(const ModuleResult& result, const Options& options) {
  return result.inputs_generated ? StrCat("drawn from seed ", options.seed)
                                 : std::string(CaseRow::kRecorded);
}

void Record(const Options& options, const std::vector<ModuleResult>& results,
            const nlohmann::json& summary, RunRow run, double seconds) {
  run.seconds = seconds;
  run.summary = JsonText(summary);
  for (const ModuleResult& result : results) {
    if (result.subjects.empty()) {
      CaseRow row;
      row.name = result.name;
      row.status = StatusOfCheck(result.outcome);
      row.detail =
          result.unsupported.empty() ? result.outcome.Describe() : Joined(result.unsupported);
      run.cases.push_back(std::move(row));
    }
    for (const SubjectResult& subject : result.subjects) {
      CaseRow row;
      row.name = result.name;
      row.subject = subject.subject;
      const Judgement& judgement = subject.outcome.judgement;
      row.status = StatusOfCheck(subject.outcome);
      row.detail = subject.outcome.Describe();
      if (!result.known.empty() && IsBad(row)) {
        row.status = kWaived;
        row.detail = StrCat(result.known, "\n", row.detail);
      }
      row.elements = judgement.elements;
      row.failed = judgement.failed;
      row.inconclusive = judgement.inconclusive;
      row.forced = judgement.forced;
      row.bound_used = judgement.max_ulps_used;
      row.compile_seconds = subject.compile_seconds;
      row.run_seconds = subject.run_seconds;
      row.source = AbsolutePath(result.path);
      row.inputs = InputsOf(result, options);
      run.cases.push_back(std::move(row));
    }
  }
  options.record.Save(run);
}

absl::StatusOr<std::vector<CaseFile>> AllCases(const std::vector<std::string>& paths) {
  std::vector<CaseFile> all;
  for (const std::string& path : paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseFile> cases, FindCases(path));
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

// Checks in this process, on a backend that lives in another one. What cannot be allocated here
// ends only its own module.
ModuleResult CheckHere(const CaseFile& file, Oracle& oracle, Backend& backend,
                       const CheckOptions& check) {
  try {
    return CheckModule(file, oracle, &backend, check);
  } catch (const std::bad_alloc&) {
    ModuleResult result;
    result.name = file.name;
    result.path = file.module_path;
    result.outcome = OutcomeOfOracle(MakeError(
        ErrorClass::kOutOfMemory, "this machine has no memory for the arrays of the program"));
    return result;
  }
}

// A backend that lives in another process already is kept warm; any other is made in a child
// process per module. Ends before the module at which an interrupt comes.
std::vector<ModuleResult> CheckAll(const std::vector<CaseFile>& cases, const Options& options,
                                   const CheckOptions& check, Backend* outside, KnownCases& known) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  BackendMaker make_backend;
  if (options.backend != "none") {
    make_backend = [&options] {
      return OpenBackend(options.backend, options.python, options.limits.timeout);
    };
  }
  std::vector<ModuleResult> results;
  StepProgress progress("checking", cases.size());
  for (const CaseFile& file : cases) {
    progress.Begin(file.name);
    ModuleResult result = outside != nullptr
                              ? CheckHere(file, *oracle, *outside, check)
                              : CheckModuleIsolated(file, *oracle, make_backend, check);
    if (InterruptRequested()) break;
    result.known = known.Excuse(result.name, StatusOfCheck(result.outcome));
    results.push_back(std::move(result));
    if (options.json) {
      progress.Clear();
      nlohmann::json line = ToJson(results.back());
      if (!results.back().known.empty()) line["known"] = results.back().known;
      line["type"] = "module";
      PrintJson(line);
    }
  }
  return results;
}

// Modules of which every subject's answer passed and showed next to nothing.
int64_t CountMistrusted(const std::vector<ModuleResult>& results) {
  return std::count_if(results.begin(), results.end(), [](const ModuleResult& result) {
    return result.outcome.kind == Outcome::kMistrusted;
  });
}

// Modules whose inputs were not given.
int64_t CountDrawn(const std::vector<ModuleResult>& results) {
  return std::count_if(results.begin(), results.end(),
                       [](const ModuleResult& result) { return result.inputs_generated; });
}

void PrintResults(const std::vector<ModuleResult>& results, const StatusCounts& counts,
                  const Options& options, const std::string& judged_how) {
  const bool each = options.all || results.size() <= 12;
  Print(each ? ModuleTable(results, options.backend) : FamilyTable(results, options.backend));
  if (each) PrintCuts(results);
  PrintProblems(results, options);
  Print("");
  Print(StrCat(Count(static_cast<int64_t>(results.size()), "module"), judged_how));
  if (const int64_t count = CountDrawn(results); count > 0) {
    Print(StrCat(count, " on inputs drawn from seed ", options.seed,
                 ": no arrays stand beside the module"));
  }
  for (const ModuleResult& result : results) {
    if (result.constants_drawn > 0)
      Print(Styled(Style::kWarn,
                   StrCat(result.name, ": ", DrawnConstantsText(result.constants_drawn))));
  }
  if (const int64_t count = CountMistrusted(results); count > 0) {
    Print(StrCat(count, " passed with outputs that are nearly all zero, equal or NaN"));
  }
  for (std::string_view status :
       {"unreadable", "nothing to judge", "not judged", "rejected", "timed out", "waived"}) {
    if (CountOf(counts, status) > 0) Print(StrCat(CountOf(counts, status), " ", status));
  }
  Print(StrCat(CountOf(counts, "passed"), " passed, ", CountOf(counts, "failed"), " failed, ",
               CountOf(counts, "inconclusive"), " inconclusive, ", CountOf(counts, "unsupported"),
               " unsupported, ", CountOf(counts, "crashed"), " crashed"));
}

// Refusals and limits are no failures, but they are no verdicts either: where nothing else came
// out, and wherever a program was not even asked of the backend, the status says so.
int ExitStatusOf(const StatusCounts& counts, const std::vector<ModuleResult>& results) {
  if (CountOf(counts, "failed") + CountOf(counts, "crashed") > 0) return kExitFailure;
  for (std::string_view status :
       {"unreadable", "nothing to judge", "not judged", "rejected", "timed out"}) {
    if (CountOf(counts, status) > 0) return kExitUsage;
  }
  const bool is_any_judged =
      CountOf(counts, kWaived) > 0 ||
      std::any_of(results.begin(), results.end(), [](const ModuleResult& result) {
        return std::any_of(
            result.subjects.begin(), result.subjects.end(), [](const SubjectResult& subject) {
              return subject.outcome.IsPass() || subject.outcome.judgement.elements > 0;
            });
      });
  return is_any_judged ? kExitOk : kExitUsage;
}

CutMode CutModeOf(std::string_view word) {
  if (word == "off") return CutMode::kOff;
  if (word == "all") return CutMode::kAll;
  return word == "pieces" ? CutMode::kPieces : CutMode::kAuto;
}

// Draws the module with the bounds that its cuts used.
absl::Status DrawBounds(const std::vector<ModuleResult>& results, const std::string& path) {
  for (const ModuleResult& result : results) {
    for (const SubjectResult& subject : result.subjects) {
      if (subject.cuts.is_null()) continue;
      ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                             LoadCaseModule({result.name, result.path, result.inputs_path}));
      return WriteGraph(path, CutGraph(*module, subject.cuts));
    }
  }
  return absl::FailedPreconditionError(
      StrCat(path, " was not written: the program could not be cut on the backend"));
}

// --graph draws one module, and always cuts it.
absl::Status CheckGraphOptions(const Options& options, size_t modules) {
  if (options.graph.empty()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(CheckGraphPath(options.graph));
  if (modules == 1 && options.backend != "none" && options.cut != "off" && !options.power)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("--graph draws one module that is cut on a backend: name one module, and neither "
             "--backend none nor --cut off nor --power"));
}

// Without a backend only what is stored beside the modules is judged.
BackendDescription NobodyElse() {
  BackendDescription description;
  description.name = "none";
  description.version = "the stored results alone";
  return description;
}

// Stored results are XLA's, whatever the backend promises of its own.
absl::StatusOr<const Profile*> ProfileOfCheck(const std::string& name,
                                              const BackendDescription& who) {
  const bool is_of_release = who.is_jax && who.profile != nullptr && who.profile->IsXla();
  if (name.empty() && is_of_release) return who.profile;
  return ChooseProfile(name.empty() ? "xla" : name, nullptr);
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, options.shard.Get());
  ASSAY_ASSIGN_OR_RETURN(std::vector<CaseFile> cases, AllCases(options.paths));
  cases = shard.Of(cases);
  ASSAY_RETURN_IF_ERROR(CheckGraphOptions(options, cases.size()));
  std::unique_ptr<Backend> probe;
  if (options.backend != "none") {
    ASSAY_ASSIGN_OR_RETURN(probe,
                           OpenBackend(options.backend, options.python, options.limits.timeout));
  }
  if (options.sample < CutSubject::kSampleBig) {
    return absl::InvalidArgumentError(
        StrCat("--sample: ", options.sample, " is not -1 or a number above it"));
  }
  const BackendDescription who = probe == nullptr ? NobodyElse() : probe->Describe();
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, ProfileOfCheck(options.profile, who));
  CheckOptions check;
  check.profile = profile;
  check.compile.limits = options.limits.Get();
  check.seed = options.seed;
  check.draw_elided = options.draw_elided;
  check.cut = CutModeOf(options.cut);
  if (!options.graph.empty() && check.cut == CutMode::kAuto) check.cut = CutMode::kAll;
  check.sample = options.sample;
  check.infeed = options.infeed;
  if (options.inputs.devices_given) check.devices = options.inputs.devices;
  if (options.power) return RunPower(cases, probe.get(), check, options.all, options.json);
  if (options.mistakes + options.recompilations > 0) {
    if (probe == nullptr) return absl::InvalidArgumentError("--mistakes needs a backend");
    const CutPowerOptions wanted{options.mistakes, options.recompilations, {}};
    return RunMistakes(cases, *probe, check, wanted, options.json);
  }
  if (probe != nullptr && probe->Describe().in_process) probe.reset();

  ASSAY_ASSIGN_OR_RETURN(KnownCases known, options.known.Read(who.version));
  RunRow run = BeginRun("check", options.backend, CommandLine());
  run.backend_version = who.version;
  if (!options.json) Print(StrCat(WhoIs(who), "; ", DescribeInputs(cases, options.seed)));
  const double start = Now();
  const InterruptGuard guard(/*ends_evaluations=*/true);
  const std::vector<ModuleResult> results = CheckAll(cases, options, check, probe.get(), known);
  const double seconds = Now() - start;
  const StatusCounts counts = CountStatuses(results);
  nlohmann::json summary = Summary(counts, options, *profile, seconds);
  summary["backend_version"] = who.version;
  summary["not_judged"] = cases.size() - results.size();
  const std::vector<std::string> alarms = known.Alarms();
  if (!options.known.path.empty()) summary["alarms"] = alarms;
  Record(options, results, summary, std::move(run), seconds);
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintResults(results, counts, options,
                 StrCat(" judged by profile ", profile->name(), " in ", Seconds(seconds)));
  }
  PrintAlarms(alarms, options.json);
  if (!options.graph.empty()) ASSAY_RETURN_IF_ERROR(DrawBounds(results, options.graph));
  if (results.size() < cases.size()) {
    PrintError(StrCat(
        "interrupted: ", Count(static_cast<int64_t>(cases.size() - results.size()), "module"),
        " not judged"));
    return kExitInterrupted;
  }
  if (!alarms.empty()) return kExitFailure;
  return ExitStatusOf(counts, results);
}

}  // namespace

void DeclareCheck(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths,
           "Modules, or folders of modules; NAME.npz beside NAME.hlo has in0.. and out0.., and so "
           "have the runs that a dump recorded (*snapshot*.pb)")
      .Required();
  AddBackendOption(line, options->backend, options->python,
                   "Who is judged; none: only the stored results");
  AddProfileOption(line, options->profile,
                   "By which the backend and the stored results are judged (default: xla, or what "
                   "the backend permits beyond it)");
  line.Add("--seed", options->seed, "Of the inputs of modules that come without").ShowDefault();
  options->inputs.DeclareDevices(line);
  line.Add("--infeed", options->infeed,
           "Arrays item0, item1, ... (of device 1: item0_d1) that infeeds take, in an .npz file");
  line.AddFlag("--draw-elided", options->draw_elided, kDrawElidedText);
  line.Add(
          "--cut", options->cut,
          "Compile once more with values from inside as results and judge each stretch between "
          "them: where the verdict is inconclusive, passes by bounds with room for mistakes that "
          "show, or is wrong, to say where; never; always; or with each stretch compiled by itself")
      .OneOf({"auto", "off", "all", "pieces"})
      .ShowDefault();
  line.Add("--sample", options->sample,
           "Of each captured dot and convolution judge so many elements (corners, edges of tiles, "
           "extremes, NaNs and others drawn from --seed), and go on from what was seen of the "
           "rest; 0: all; -1: a sample of those that would take long, all of the others")
      .ShowDefault();
  line.Add("--graph", options->graph,
           "Cut the module and draw it here (.svg, .png, .pdf, .dot), coloured by the share of the "
           "allowed bound that each captured value used; a failing stretch has red frames");
  line.AddFlag("--power", options->power,
               "Bend one element of every right answer instead: how many are called wrong?");
  line.Add("--mistakes", options->mistakes,
           "Compile each module with so many single mistakes that show in its results: how many "
           "fail, and is the instruction named?")
      .NonNegative();
  line.Add("--recompilations", options->recompilations,
           "Compile each module in so many other legal ways, cut at random places: does one fail?")
      .NonNegative();
  line.AddFlag("--all", options->all, "A line for every module, not only for every family");
  line.AddFlag("--json", options->json, "One JSON object per module, then a summary");
  options->known.Declare(line);
  options->shard.Declare(line);
  options->limits.Declare(line);
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
