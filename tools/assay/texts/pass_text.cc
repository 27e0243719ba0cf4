// Reads the list of steps, the rules of order, and the pass's cases.
#include "tools/assay/texts/pass_text.h"

#include <algorithm>

#include "conformance/mission_rows.h"
#include "nlohmann/json.hpp"
#include "optimized/pipeline/stages.h"
#include "spec/base/case_file.h"
#include "spec/base/nearest_word.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/texts/pass_case_files.h"

namespace assay {
namespace {

std::string_view Meaning(Stage stage) {
  switch (stage) {
    case Stage::kLegalize:
      return "required, at the start";
    case Stage::kOptimize:
      return "optional";
    case Stage::kFlatten:
      return "required, at the end";
  }
  return "";
}

std::string ConditionOf(const PipelineStep& step) {
  if (step.when == nullptr) return "always";
  return StrCat(step.on_request ? "on request: " : "", step.when->meaning);
}

// A line per step of the pass, inner ones included.
void AddRuns(absl::Span<const PipelineStep> steps, std::string_view pass, std::string_view where,
             std::string_view outer_condition, std::vector<std::string>& runs) {
  for (const PipelineStep& step : steps) {
    const std::string condition = step.when == nullptr && !outer_condition.empty()
                                      ? std::string(outer_condition)
                                      : ConditionOf(step);
    if (step.IsFixedPoint()) {
      AddRuns(step.inner, pass, StrCat(", in ", step.pass, " until nothing changes"), condition,
              runs);
    } else if (step.pass == pass) {
      runs.push_back(StrCat(condition, " (", Meaning(step.stage), where, ")"));
    }
  }
}

void AddOrder(std::string_view pass, std::vector<std::string>& order) {
  for (const OrderRule& rule : OrderRules()) {
    if (rule.first != pass && rule.second != pass) continue;
    const bool is_first = rule.first == pass;
    const std::string_view other = is_first ? rule.second : rule.first;
    const std::string_view how =
        rule.kind == OrderRule::Kind::kFollowed ? (is_first ? "followed by " : "runs again behind ")
        : rule.kind == OrderRule::Kind::kOnce   ? (is_first ? "once, before " : "behind the only ")
                                                : (is_first ? "before " : "behind ");
    order.push_back(StrCat(how, other, ": ", rule.why));
  }
}

void AddSentences(const CaseBlock& block, std::vector<std::string>& sentences) {
  for (const std::string& id : block.Words("row")) {
    const auto row = std::find_if(MissionRows().begin(), MissionRows().end(),
                                  [&](const MissionRow& each) { return each.id == id; });
    if (row == MissionRows().end()) continue;
    std::string text = StrCat(row->name, ": ", row->must);
    if (std::find(sentences.begin(), sentences.end(), text) == sentences.end())
      sentences.push_back(std::move(text));
  }
}

absl::Status AddCases(PassDescription& pass) {
  constexpr std::string_view kKeys[] = {"pass", "options", "log", "before", "after", "error"};
  for (const Embedded& file : PassCaseFiles()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseBlock> blocks,
                           ParseCases(file.name, file.content, kKeys));
    for (const CaseBlock& block : blocks) {
      const std::vector<std::string> passes = block.Words("pass");
      if (passes.empty() || passes[0] != pass.info->name) continue;
      AddSentences(block, pass.sentences);
      const CaseField *before = block.Find("before"), *after = block.Find("after");
      if (before == nullptr || after == nullptr) continue;
      const bool is_near_miss = after->value == "untouched";
      ++(is_near_miss ? pass.near_misses : pass.cases);
      const size_t length = before->text.size() + after->text.size();
      if (is_near_miss) continue;
      if (pass.name.empty() || length < pass.before.size() + pass.after.size()) {
        pass.name = block.name;
        pass.before = before->text;
        pass.after = after->text;
      }
    }
  }
  return absl::OkStatus();
}

std::string Indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) StrAppend(&out, "    ", text.substr(0, end), "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string WhenItRuns(std::string_view pass) {
  std::vector<std::string> runs;
  AddRuns(PipelineSteps(), pass, "", "", runs);
  // The least strict of its conditions.
  for (const std::string& run : runs)
    if (run.starts_with("always")) return "always";
  return runs.empty() ? "on request: it refuses programs that have a meaning"
                      : runs[0].substr(0, runs[0].rfind(" ("));
}

absl::StatusOr<PassDescription> DescribePass(std::string_view name) {
  PassDescription pass;
  pass.info = FindPass(name);
  if (pass.info == nullptr) {
    std::vector<std::string> names;
    for (const PassInfo& info : AllPasses()) names.emplace_back(info.name);
    std::string known;
    for (const std::string& each : names) StrAppend(&known, known.empty() ? "" : ", ", each);
    const std::string meant = DidYouMean(std::string(name), names);
    return absl::NotFoundError(
        StrCat("no pass is called '", name, "'", meant, " There are ", known));
  }
  AddRuns(PipelineSteps(), name, "", "", pass.runs);
  AddOrder(name, pass.order);
  ASSAY_RETURN_IF_ERROR(AddCases(pass));
  return pass;
}

nlohmann::json ToJson(const PassDescription& pass) {
  return {{"pass", pass.info->name},
          {"meaning", pass.info->meaning},
          {"when", WhenItRuns(pass.info->name)},
          {"runs", pass.runs},
          {"order", pass.order},
          {"sentences", pass.sentences},
          {"cases", pass.cases},
          {"near_misses", pass.near_misses},
          {"case", {{"name", pass.name}, {"before", pass.before}, {"after", pass.after}}}};
}

std::string ToText(const PassDescription& pass) {
  std::string out = StrCat(pass.info->name, ": ", pass.info->meaning, "\n");
  const auto list = [&](std::string_view what, const std::vector<std::string>& lines) {
    for (size_t k = 0; k < lines.size(); ++k)
      StrAppend(&out, "  ", k == 0 ? what : "          ", "  ", lines[k], "\n");
  };
  list("runs      ",
       pass.runs.empty() ? std::vector<std::string>{WhenItRuns(pass.info->name)} : pass.runs);
  list("order     ", pass.order);
  list("documents ", pass.sentences);
  StrAppend(&out, "  cases       ", pass.cases, ", near misses ", pass.near_misses, "\n");
  if (pass.name.empty()) return out;
  StrAppend(&out, "  before (", pass.name, ")\n", Indented(pass.before), "  after\n",
            Indented(pass.after));
  return out;
}

}  // namespace assay
