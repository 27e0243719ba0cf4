// assay check: modules with inputs on the oracle and on a backend, judged by derived bounds.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "conformance/module_check.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/process/isolate.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"
#include "tools/assay/verbs/check_power.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string backend = "cpu";
  std::string profile;
  uint64_t seed = 1;
  bool all = false;
  bool power = false;
  bool json = false;
  LimitOptions limits;
  RecordOptions record;
};

// Memory that a forked child shares with us: where it was when it died.
class SharedStep {
 public:
  SharedStep()
      : text_(static_cast<char*>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedStep() {
    if (text_ != MAP_FAILED) munmap(text_, kSize);
  }
  void Set(const char* step) {
    if (text_ != MAP_FAILED) std::strncpy(text_, step, kSize - 1);
  }
  std::string Get() const { return text_ == MAP_FAILED ? "" : text_; }

 private:
  static constexpr size_t kSize = 64;
  char* text_;
};

class Checker {
 public:
  Checker(const Options& options, const Profile* profile, std::unique_ptr<Backend> shared)
      : options_(options), shared_(std::move(shared)), oracle_(MakeOracle()) {
    check_.profile = profile;
    check_.compile.limits = options.limits.Get();
    check_.seed = options.seed;
  }

  // In a child process, so that what dies takes only its own module with it. A backend that lives
  // in another process already is kept warm instead.
  ModuleResult Check(const CaseFile& file) {
    if (shared_ != nullptr) {
      return CheckModule(file, *oracle_, shared_.get(), check_, [](const char*) {});
    }
    SharedStep step;
    IsolateLimits limits;
    limits.seconds = 4 * check_.compile.limits.seconds;
    limits.memory_bytes = check_.compile.limits.memory_bytes;
    Isolated child = RunIsolated([&] { return InChild(file, step); }, limits);
    if (child.ok()) {
      nlohmann::json json = nlohmann::json::parse(child.bytes, nullptr, false);
      if (json.is_object()) return ModuleResultFromJson(json);
    }
    return Died(file, step.Get(), child);
  }

 private:
  // Under a limit of ours the backend is to blame only for what it was doing itself.
  static ModuleResult Died(const CaseFile& file, const std::string& step, const Isolated& child) {
    const bool out_of_time = child.end == Isolated::End::kTimeout;
    const bool is_limit = out_of_time || child.end == Isolated::End::kOutOfMemory;
    const bool is_backend = step == "compiling" || step == "running";
    ModuleResult result;
    result.name = file.name;
    result.path = file.module_path;
    result.status = is_limit && !is_backend ? CheckStatus::kInconclusive : CheckStatus::kCrashed;
    result.detail = StrCat("while ", step, ": ", child.Describe());
    if (is_limit) {
      StrAppend(&result.detail, "; ", out_of_time ? "--timeout" : "--max-memory",
                " raises the limit");
    }
    return result;
  }

  std::string InChild(const CaseFile& file, SharedStep& step) {
    absl::StatusOr<std::unique_ptr<Backend>> backend = nullptr;
    if (options_.backend != "none") {
      step.Set("starting the backend");
      backend = OpenBackend(options_.backend);
    }
    ModuleResult result;
    if (backend.ok()) {
      result = CheckModule(file, *oracle_, backend->get(), check_,
                           [&](const char* at) { step.Set(at); });
    } else {
      result.name = file.name;
      result.status = CheckStatus::kCrashed;
      result.detail = std::string(backend.status().message());
    }
    return JsonText(ToJson(result));
  }

  const Options& options_;
  std::unique_ptr<Backend> shared_;  // out of process; nullptr: made in each child
  std::unique_ptr<Oracle> oracle_;
  CheckOptions check_;
};

Style StyleOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return Style::kGood;
    case CheckStatus::kInconclusive:
      return Style::kWarn;
    case CheckStatus::kUnsupported:
      return Style::kDim;
    default:
      return Style::kBad;
  }
}

std::string Word(CheckStatus status) { return Styled(StyleOf(status), Name(status)); }

// "12 passed, 1 failed": what happened to one subject over a group of modules.
std::string Tally(const std::map<CheckStatus, int64_t>& counts) {
  std::string text;
  for (const auto& [status, count] : counts) {
    StrAppend(&text, text.empty() ? "" : ", ",
              Styled(StyleOf(status), StrCat(count, " ", Name(status))));
  }
  return text;
}

// Names are FAMILY__REST; a name without the underscores is its own family.
std::string FamilyOf(const std::string& name) { return name.substr(0, name.find("__")); }

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
  return subject == nullptr ? "-" : Word(subject->status);
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
      table.Add({result.name, Word(result.status), "-"});
      continue;
    }
    table.Add({result.name, SubjectCell(result, false), SubjectCell(result, true),
               Grouped(judged->elements),
               Percent(static_cast<double>(judged->forced), static_cast<double>(judged->elements)),
               judged->forced == judged->elements
                   ? "-"
                   : absl::StrFormat("%.0f %%", 100 * judged->bound_used),
               Seconds(result.oracle_seconds), Seconds(judged->compile_seconds),
               Seconds(judged->run_seconds)});
  }
  return table.ToString();
}

std::string FamilyTable(const std::vector<ModuleResult>& results, const std::string& backend) {
  struct Family {
    int64_t modules = 0, elements = 0, forced = 0;
    double bound_used = 0;
    std::map<CheckStatus, int64_t> tested, stored;
  };
  std::map<std::string, Family> families;
  for (const ModuleResult& result : results) {
    Family& family = families[FamilyOf(result.name)];
    ++family.modules;
    const SubjectResult* tested = Find(result, false);
    const SubjectResult* stored = Find(result, true);
    ++family.tested[tested != nullptr ? tested->status : result.status];
    if (stored != nullptr) ++family.stored[stored->status];
    const SubjectResult* judged = tested != nullptr ? tested : stored;
    if (judged == nullptr) continue;
    family.elements += judged->elements;
    family.forced += judged->forced;
    family.bound_used = std::max(family.bound_used, judged->bound_used);
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

// The reasons of an undecided module in one line, each once: nothing is wrong, nothing to repeat.
std::string WhyInconclusive(const ModuleResult& result) {
  std::vector<std::string> reasons = {};
  for (const SubjectResult& subject : result.subjects) {
    if (subject.status != CheckStatus::kInconclusive) continue;
    if (std::find(reasons.begin(), reasons.end(), subject.detail) == reasons.end()) {
      reasons.push_back(subject.detail);
    }
  }
  return reasons.empty() ? result.detail : Joined(reasons);
}

void PrintFailure(const ModuleResult& result, const Options& options) {
  Print("");
  Print(StrCat(Word(result.status), " ", Styled(Style::kBold, result.name)));
  PrintIndented(result.detail);
  for (const SubjectResult& subject : result.subjects) {
    if (subject.status == CheckStatus::kPassed) continue;
    PrintIndented(StrCat(subject.subject, ": ", Name(subject.status)));
    PrintIndented(subject.detail);
  }
  PrintIndented(StrCat("repeat: assay check ", result.path, " --backend ", options.backend,
                       PythonArgument(),
                       options.profile.empty() ? "" : StrCat(" --profile ", options.profile),
                       options.seed == Options{}.seed ? "" : StrCat(" --seed ", options.seed)));
}

// What was not passed: one line where nothing is wrong, otherwise the reason and the command that
// repeats it.
void PrintProblems(const std::vector<ModuleResult>& results, const Options& options) {
  for (const ModuleResult& result : results) {
    if (!result.unsupported.empty()) {
      Print(StrCat(Word(result.status), " ", result.name,
                   ": no meaning here yet: ", Joined(result.unsupported)));
    } else if (result.status == CheckStatus::kInconclusive) {
      Print(StrCat(Word(result.status), " ", result.name, ": ", WhyInconclusive(result)));
    }
    for (const SubjectResult& subject : result.subjects) {
      if (!subject.waived.empty())
        Print(StrCat("waived ", result.name, " (", subject.subject, "): ", subject.waived));
    }
  }
  for (const ModuleResult& result : results) {
    bool quiet = result.status == CheckStatus::kPassed ||
                 result.status == CheckStatus::kInconclusive || !result.unsupported.empty();
    if (!quiet) PrintFailure(result, options);
  }
}

using StatusCounts = std::array<int64_t, 6>;

StatusCounts CountStatuses(const std::vector<ModuleResult>& results) {
  StatusCounts counts{};
  for (const ModuleResult& result : results) ++counts[static_cast<size_t>(result.status)];
  return counts;
}

int64_t At(const StatusCounts& counts, CheckStatus status) {
  return counts[static_cast<size_t>(status)];
}

nlohmann::json Summary(const StatusCounts& counts, const Options& options, const Profile& profile,
                       double seconds) {
  nlohmann::json json = {{"type", "summary"},
                         {"verb", "check"},
                         {"backend", options.backend},
                         {"profile", profile.name()},
                         {"seconds", seconds}};
  for (size_t i = 0; i < counts.size(); ++i) {
    json[std::string(Name(static_cast<CheckStatus>(i)))] = counts[i];
  }
  return json;
}

void Record(const Options& options, const std::vector<ModuleResult>& results,
            const nlohmann::json& summary, RunRow run, double seconds) {
  run.seconds = seconds;
  run.summary = JsonText(summary);
  for (const ModuleResult& result : results) {
    if (result.subjects.empty()) {
      CaseRow row;
      row.name = result.name;
      row.status = Name(result.status);
      row.detail = result.unsupported.empty() ? result.detail : Joined(result.unsupported);
      run.cases.push_back(std::move(row));
    }
    for (const SubjectResult& subject : result.subjects) {
      CaseRow row;
      row.name = result.name;
      row.subject = subject.subject;
      row.status = Name(subject.status);
      row.detail = subject.detail;
      row.elements = subject.elements;
      row.failed = subject.failed;
      row.inconclusive = subject.inconclusive;
      row.forced = subject.forced;
      row.bound_used = subject.bound_used;
      row.compile_seconds = subject.compile_seconds;
      row.run_seconds = subject.run_seconds;
      run.cases.push_back(std::move(row));
    }
  }
  options.record.Save(run);
}

absl::StatusOr<std::vector<CaseFile>> AllCases(const std::vector<std::string>& paths) {
  std::vector<CaseFile> all;
  for (const std::string& path : paths) {
    absl::StatusOr<std::vector<CaseFile>> cases = FindCases(path);
    if (!cases.ok()) return cases.status();
    all.insert(all.end(), cases->begin(), cases->end());
  }
  return all;
}

std::vector<ModuleResult> CheckAll(const std::vector<CaseFile>& cases, Checker& checker,
                                   bool json) {
  std::vector<ModuleResult> results;
  ProgressLine progress;
  for (const CaseFile& file : cases) {
    progress.Show(StrCat("checking ", results.size() + 1, " of ", cases.size(), ": ", file.name));
    results.push_back(checker.Check(file));
    if (json) {
      progress.Clear();
      nlohmann::json line = ToJson(results.back());
      line["type"] = "module";
      PrintJson(line);
    }
  }
  return results;
}

int Run(const Options& options) {
  absl::StatusOr<std::vector<CaseFile>> cases = AllCases(options.paths);
  if (!cases.ok()) return Fail(cases.status());
  std::unique_ptr<Backend> probe;
  if (options.backend != "none") {
    absl::StatusOr<std::unique_ptr<Backend>> opened = OpenBackend(options.backend);
    if (!opened.ok()) return Fail(opened.status());
    probe = *std::move(opened);
  }
  absl::StatusOr<const Profile*> profile =
      ChooseProfile(options.profile.empty() ? "xla" : options.profile, nullptr);
  if (!profile.ok()) return Fail(profile.status());
  if (options.power) {
    CheckOptions check;
    check.profile = *profile;
    check.compile.limits = options.limits.Get();
    check.seed = options.seed;
    return RunPower(*cases, probe.get(), check, options.all, options.json);
  }
  if (probe != nullptr && probe->Describe().in_process) probe.reset();

  RunRow run = BeginRun("check", options.backend, CommandLine());
  double start = Now();
  Checker checker(options, *profile, std::move(probe));
  std::vector<ModuleResult> results = CheckAll(*cases, checker, options.json);
  double seconds = Now() - start;

  StatusCounts counts = CountStatuses(results);
  nlohmann::json summary = Summary(counts, options, **profile, seconds);
  Record(options, results, summary, std::move(run), seconds);
  if (options.json) {
    PrintJson(summary);
  } else {
    bool each = options.all || results.size() <= 12;
    Print(each ? ModuleTable(results, options.backend) : FamilyTable(results, options.backend));
    PrintProblems(results, options);
    Print("");
    Print(StrCat(Count(static_cast<int64_t>(results.size()), "module"), " judged by profile ",
                 (*profile)->name(), " in ", Seconds(seconds)));
    if (At(counts, CheckStatus::kUnreadable) > 0) {
      Print(StrCat(At(counts, CheckStatus::kUnreadable), " unreadable"));
    }
    Print(StrCat(At(counts, CheckStatus::kPassed), " passed, ", At(counts, CheckStatus::kFailed),
                 " failed, ", At(counts, CheckStatus::kInconclusive), " inconclusive, ",
                 At(counts, CheckStatus::kUnsupported), " unsupported, ",
                 At(counts, CheckStatus::kCrashed), " crashed"));
  }
  if (At(counts, CheckStatus::kFailed) + At(counts, CheckStatus::kCrashed) > 0) return kExitFailure;
  return At(counts, CheckStatus::kUnreadable) > 0 ? kExitUsage : kExitOk;
}

}  // namespace

void DeclareCheck(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths,
           "Modules, or folders of modules; NAME.npz beside NAME.hlo has in0.. and out0..")
      .Required();
  AddBackendOption(line, options->backend, "Who is judged; none: only the stored results");
  line.Add("--profile", options->profile,
           "strict or xla, by which the backend and the stored results are judged; default: xla")
      .OneOf({"strict", "xla"});
  line.Add("--seed", options->seed, "Of the inputs of modules that come without").ShowDefault();
  line.AddFlag("--power", options->power,
               "Bend one element of every right answer instead: how many are called wrong?");
  line.AddFlag("--all", options->all, "A line for every module, not only for every family");
  line.AddFlag("--json", options->json, "One JSON object per module, then a summary");
  options->limits.Declare(line);
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
