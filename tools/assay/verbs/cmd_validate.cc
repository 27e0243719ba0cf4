// assay validate: the states of a module between passes, each judged by what the one before allows.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

#include "absl/strings/str_split.h"
#include "conformance/dumps/validate_run.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "reports/page/html.h"
#include "spec/base/clock.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

constexpr size_t kMostShownLines = 40;
constexpr StepVerdict::Kind kKinds[] = {StepVerdict::kPassed, StepVerdict::kFailed,
                                        StepVerdict::kInconclusive, StepVerdict::kNotJudged,
                                        StepVerdict::kUnchanged};

struct Options {
  std::string folder, inputs, filter, profile = "xla", page;
  uint64_t seed = 1;
  int jobs = 0;
  double seconds = 0;  // 0: no limit
  bool all = false, json = false;
  LimitOptions limits;

  int Jobs() const {
    return jobs > 0 ? jobs : static_cast<int>(std::thread::hardware_concurrency());
  }
};
// A step is evaluated several times, each of which may take the limit of time.
constexpr double kStepsOfTimeout = 4;

Style StyleOf(StepVerdict::Kind kind) {
  switch (kind) {
    case StepVerdict::kPassed:
      return Style::kGood;
    case StepVerdict::kFailed:
      return Style::kBad;
    case StepVerdict::kInconclusive:
      return Style::kWarn;
    default:
      return Style::kDim;
  }
}

using Counts = std::map<StepVerdict::Kind, int64_t>;

std::string Tally(Counts& counts) {
  std::string text;
  for (StepVerdict::Kind kind : kKinds)
    StrAppend(&text, text.empty() ? "" : ", ", counts[kind], " ", Name(kind));
  return text;
}

// The first lines of a diff, and how many were left out.
std::string FirstLines(const std::string& text, int64_t most) {
  size_t end = 0;
  for (int64_t line = 0; line < most && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  const auto left = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return left == 0 ? text : StrCat(text.substr(0, end), "... ", left, " more lines\n");
}

nlohmann::json ToJson(const std::string& module, const DumpStep& step) {
  const StepVerdict& verdict = step.verdict;
  nlohmann::json json = {{"type", "step"},
                         {"module", module},
                         {"pipeline", step.after.pipeline},
                         {"pass", step.after.pass},
                         {"before", step.before.path},
                         {"after", step.after.path},
                         {"status", Name(verdict.kind)},
                         {"reason", verdict.reason},
                         {"elements", verdict.elements},
                         {"failed", verdict.failed},
                         {"undecided", verdict.undecided},
                         {"shared", verdict.shared},
                         {"renamed", verdict.renamed},
                         {"seconds", step.seconds}};
  if (verdict.kind != StepVerdict::kFailed) return json;
  json["where"] = verdict.where;
  json["opcode"] = verdict.opcode;
  json["op_name"] = verdict.op_name;
  json["source"] = verdict.source;
  json["stretch"] = verdict.stretch;
  json["failure"] = verdict.failure;
  if (!step.diff.empty()) json["diff"] = FirstLines(step.diff, kMostShownLines);
  return json;
}

std::string Card(std::string_view title, const std::string& body) {
  return StrCat("<section class=\"card\"><h2>", EscapeHtml(title), "</h2>\n", body, "</section>\n");
}

std::string Pre(std::string_view text) { return StrCat("<pre>", EscapeHtml(text), "</pre>\n"); }

// Removed lines and added ones in their colours.
std::string DiffHtml(const std::string& diff) {
  std::string html = "<pre>";
  for (absl::string_view line : absl::StrSplit(diff, '\n', absl::SkipEmpty())) {
    const char* tone = line[0] == '-' ? "bad" : line[0] == '+' ? "good" : "soft";
    StrAppend(&html, "<span class=\"", tone, "\">", EscapeHtml(ToStd(line)), "</span>\n");
  }
  return html + "</pre>\n";
}

std::string Facts(const DumpStep& step) {
  const StepVerdict& verdict = step.verdict;
  std::vector<std::vector<std::string>> rows;
  auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) rows.push_back({EscapeHtml(what), EscapeHtml(value)});
  };
  add("from", TitleOf(step.before));
  add("to", TitleOf(step.after));
  add("file before", step.before.path);
  add("file after", step.after.path);
  add("wrong array", StrCat(verdict.where, verdict.opcode.empty() ? "" : ", ", verdict.opcode));
  add("op_name", verdict.op_name);
  add("source", verdict.source);
  std::string stretch;
  for (const std::string& name : verdict.stretch) StrAppend(&stretch, name, " ");
  add("stretch", stretch);
  add("wrong elements", StrCat(verdict.failed, " of ", verdict.elements));
  add("shared arrays", StrCat(verdict.shared));
  return HtmlTable({{"what"}, {"value"}}, rows);
}

// HTML that opens from disk and needs nothing else: what the pass changed, which stretch is wrong,
// and by how much.
std::string ValidatePage(const std::string& module, const DumpStep& step,
                         const std::string& command) {
  std::string html = StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>",
      EscapeHtml(StrCat(module, ": ", TitleOf(step.after))), "</title>\n<style>", StyleSheet(),
      "\npre .bad{color:var(--bad)}pre .good{color:var(--good)}</style></head><body>\n<header><h1>",
      EscapeHtml(module), "</h1><p class=\"verdict\">", StatusBadge(Name(step.verdict.kind)), " ",
      EscapeHtml(StrCat(TitleOf(step.after), ": ", step.verdict.reason)), "</p></header><main>\n");
  html += Card("Where", Facts(step));
  html += Card("What is allowed, and what came", Pre(step.verdict.failure));
  if (!step.diff.empty()) html += Card("What the pass changed", DiffHtml(step.diff));
  html += Card("Again", Pre(command));
  return html + "</main></body></html>\n";
}

class Telling {
 public:
  explicit Telling(const Options& options) : options_(options) {}

  void Begin(const DumpedModule& dumped) {
    module_ = &dumped;
    of_module_.clear();
    told_not_judged_.clear();
    if (!options_.json) Print(Styled(Style::kBold, dumped.name));
  }

  void Tell(const DumpStep& step) {
    ++counts_[step.verdict.kind];
    ++of_module_[step.verdict.kind];
    if (step.verdict.kind == StepVerdict::kFailed && !options_.page.empty() && page_.empty())
      page_ = ValidatePage(module_->name, step, CommandLine());
    if (options_.json) {
      progress_.Clear();
      PrintJson(ToJson(module_->name, step));
    } else {
      TellPeople(step);
    }
  }

  // An unreadable module, or inputs that do not fit it: said, and the next one follows.
  void Excuse(const absl::Status& status) {
    progress_.Clear();
    ++unreadable_;
    if (options_.json) {
      PrintJson({{"type", "module"},
                 {"module", module_->name},
                 {"status", "unreadable"},
                 {"detail", ToStd(status.message())}});
    } else {
      Print(StrCat("  ", Styled(Style::kWarn, "unreadable"), "  ", ToStd(status.message())));
    }
  }

  void End() {
    progress_.Clear();
    if (!options_.json && !of_module_.empty()) Print(StrCat("  ", Tally(of_module_)));
  }

  // A line that changes on a terminal; in a log one of its own now and then.
  void Progress(int64_t done, int64_t total) {
    const std::string text =
        StrCat(done, " of ", total, " states",
               module_ == nullptr ? "" : StrCat(", telling of ", module_->name));
    progress_.Show(text);
    constexpr double kBetweenLines = 10;
    if (isatty(STDERR_FILENO) != 0 || Now() - last_line_ < kBetweenLines) return;
    last_line_ = Now();
    std::fprintf(stderr, "validating: %s\n", text.c_str());
  }

  absl::StatusOr<int> Finish(int64_t modules, double seconds, const ValidateRunEnd& end) {
    if (!page_.empty()) ASSAY_RETURN_IF_ERROR(WriteFile(options_.page, page_));
    if (options_.json) {
      nlohmann::json line{{"type", "summary"},
                          {"verb", "validate"},
                          {"modules", modules},
                          {"unreadable", unreadable_},
                          {"states", end.states},
                          {"not_followed", NotFollowed(end)},
                          {"profile", options_.profile},
                          {"seed", options_.seed},
                          {"page", page_.empty() ? "" : options_.page},
                          {"seconds", seconds}};
      for (StepVerdict::Kind kind : kKinds) line[std::string(Name(kind))] = counts_[kind];
      PrintJson(line);
    } else {
      if (!page_.empty()) Print(StrCat("page of the first failure: ", options_.page));
      Print("");
      Print(StrCat(Count(modules, "module"), " judged by profile ", options_.profile, " in ",
                   Seconds(seconds),
                   unreadable_ == 0 ? "" : StrCat(", ", unreadable_, " unreadable"), "; steps:"));
      Print(Tally(counts_));
    }
    if (end.interrupted || end.out_of_time) {
      PrintError(StrCat(end.interrupted ? "interrupted" : "the time was up (--time)", ": ",
                        NotFollowed(end), " of ", end.states, " states not looked at"));
    }
    if (end.interrupted) return kExitInterrupted;
    if (counts_[StepVerdict::kFailed] > 0) return kExitFailure;
    const int64_t judged = counts_[StepVerdict::kPassed] + counts_[StepVerdict::kUnchanged] +
                           counts_[StepVerdict::kInconclusive];
    return judged > 0 ? kExitOk : kExitUsage;
  }

 private:
  static int64_t NotFollowed(const ValidateRunEnd& end) {
    const bool is_early = end.interrupted || end.out_of_time;
    return is_early ? std::max<int64_t>(end.states - end.followed, 0) : 0;
  }

  void TellPeople(const DumpStep& step) {
    const StepVerdict& verdict = step.verdict;
    const bool is_quiet =
        verdict.kind == StepVerdict::kUnchanged || verdict.kind == StepVerdict::kPassed;
    if (is_quiet && !options_.all) return;
    // The reason for which one state is not judged is often that of all that follow.
    if (verdict.kind == StepVerdict::kNotJudged && !options_.all &&
        ++told_not_judged_[verdict.reason] > 1)
      return;
    progress_.Clear();
    std::string line =
        StrCat("  ", Styled(StyleOf(verdict.kind), Name(verdict.kind)), "  ", TitleOf(step.after));
    if (!verdict.reason.empty()) StrAppend(&line, ": ", verdict.reason);
    if (options_.all && verdict.kind == StepVerdict::kPassed) {
      StrAppend(&line, ": ", Count(verdict.shared, "shared array"), ", ", verdict.undecided, " of ",
                verdict.elements, " elements undecided, ", Seconds(step.seconds));
    }
    Print(line);
    if (verdict.kind == StepVerdict::kFailed) Show(step);
  }

  static void Show(const DumpStep& step) {
    const StepVerdict& verdict = step.verdict;
    Print(StrCat("    between   ", step.before.path, "\n    and       ", step.after.path));
    std::string what = StrCat("    wrong     ", verdict.where);
    if (!verdict.opcode.empty()) StrAppend(&what, ", ", verdict.opcode);
    if (!verdict.op_name.empty()) StrAppend(&what, " (", verdict.op_name, ")");
    if (!verdict.source.empty()) StrAppend(&what, " at ", verdict.source);
    Print(what);
    Print(verdict.failure);
    if (!step.diff.empty()) Print(FirstLines(step.diff, kMostShownLines));
  }

  const Options& options_;
  const DumpedModule* module_ = nullptr;
  Counts counts_, of_module_;
  std::map<std::string, int64_t> told_not_judged_;
  int64_t unreadable_ = 0;
  std::string page_;
  ProgressLine progress_;
  double last_line_ = Now();
};

// Tells where the inputs come from, for the first line.
std::string InputsOf(const Options& options, const std::vector<DumpedModule>& modules) {
  if (!options.inputs.empty()) return StrCat("inputs of ", options.inputs);
  const auto recorded = std::count_if(modules.begin(), modules.end(), [](const DumpedModule& each) {
    return !each.recorded.empty();
  });
  const auto drawn = static_cast<int64_t>(modules.size()) - recorded;
  if (modules.size() == 1 && recorded == 1)
    return StrCat("inputs recorded in ", modules.front().recorded.front());
  std::string text = "inputs";
  if (recorded > 0) StrAppend(&text, " recorded for ", Count(recorded, "module"));
  if (drawn > 0) StrAppend(&text, recorded > 0 ? "," : "", " drawn, seed ", options.seed);
  return text;
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DumpedModule> dumps, FindDumps(options.folder));
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, ChooseProfile(options.profile, nullptr));
  ValidateOptions validate;
  validate.profile = profile;
  validate.limits = options.limits.Get();
  validate.inputs = options.inputs;
  validate.seed = options.seed;
  std::vector<DumpedModule> followed;
  for (const DumpedModule& dumped : dumps)
    if (dumped.name.find(options.filter) != std::string::npos) followed.push_back(dumped);
  if (followed.empty()) {
    return absl::NotFoundError(
        StrCat("no module's name in ", options.folder, " contains '", options.filter, "'"));
  }
  ValidateRunOptions run{validate, options.Jobs(), options.seconds,
                         kStepsOfTimeout * validate.limits.seconds};
  if (!options.json) Print(InputsOf(options, followed));
  const double start = Now();
  Telling telling(options);
  absl::Status unfit;
  ValidateListener listener;
  listener.begin = [&](const DumpedModule& dumped) { telling.Begin(dumped); };
  listener.tell = [&](const DumpStep& step) { telling.Tell(step); };
  listener.excuse = [&](const absl::Status& status) {
    unfit.Update(status);
    telling.Excuse(status);
  };
  listener.end = [&] { telling.End(); };
  listener.progress = [&](int64_t done, int64_t total) { telling.Progress(done, total); };
  const InterruptGuard guard;
  const ValidateRunEnd end = ValidateDumps(followed, [] { return MakeOracle(); }, run, listener);
  // Inputs that were named must fit; a module that cannot be read is one of many.
  if (!unfit.ok() && !options.inputs.empty()) return unfit;
  return telling.Finish(static_cast<int64_t>(followed.size()), Now() - start, end);
}

}  // namespace

void DeclareValidate(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("DIR", options->folder,
           "A folder of --xla_dump_to with --xla_dump_hlo_pass_re=.*, of any platform")
      .Required();
  line.Add("--filter", options->filter, "Only modules whose name contains this");
  line.Add("--inputs", options->inputs,
           "An npz with in0, in1, ...; otherwise what a snapshot in DIR recorded, or drawn ones");
  line.Add("--seed", options->seed, "Of the inputs that are drawn").ShowDefault();
  AddProfileOption(line, options->profile, "By which passes are judged").ShowDefault();
  line.Add("--page", options->page, "Write an HTML page of the first step that fails");
  line.Add("--jobs", options->jobs, "Processes (default: one per core)").Positive();
  line.AddDuration("--time", options->seconds,
                   "Of the whole run, after which what was judged is shown; 0: no limit");
  line.AddFlag("--all", options->all,
               "A line for every step, not only for those that did not pass");
  line.AddFlag("--json", options->json, "One JSON object per step, then a summary");
  options->limits.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
