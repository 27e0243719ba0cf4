// One card for the verdict, one for the diff, in the style of the report.
#include "tools/assay/verbs/validate_page.h"

#include "absl/strings/str_split.h"
#include "conformance/dumps/diff.h"
#include "reports/html.h"
#include "reports/version.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMostDiffLines = 2000;

std::string Card(std::string_view title, const std::string& body) {
  return StrCat("<section class=\"card\"><h2>", EscapeHtml(title), "</h2>\n", body,
                "</section>\n");
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

}  // namespace

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
  if (step.module_after != nullptr) {
    html += Card("What the pass changed",
                 DiffHtml(DiffOf(step.module_before, *step.module_after, kMostDiffLines)));
  }
  html += Card("Again", Pre(command));
  return html + "</main></body></html>\n";
}

}  // namespace assay
