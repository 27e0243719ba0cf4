// Words and tables from the JSON form of a report, which child processes hand over.
#include "tools/assay/texts/cut_text.h"

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"

namespace assay {

std::string CutSummary(const nlohmann::json& cuts) {
  const auto number = [&](const char* key) { return cuts.value(key, int64_t{0}); };
  return StrCat("by cuts: ", Count(number("captures"), "capture"), ", ",
                Count(number("rounds"), "compilation"), ", ", Grouped(number("undecided")), " of ",
                Grouped(number("elements")), " elements undecided, ", number("outputs_equal"),
                " of ", number("outputs"), " results bit for bit as without captures",
                number("not_sampled") > 0
                    ? StrCat(", ", Grouped(number("not_sampled")), " more elements not sampled")
                    : "");
}

std::string DrawSummary(const nlohmann::json& cuts) {
  const int64_t draws = cuts.value("draws", int64_t{0});
  if (draws == 0) return "";
  const std::string furthest = cuts.value("furthest", "");
  return StrCat("no verdict, a hint: of the undecided elements ",
                Grouped(cuts.value("plausible", int64_t{0})), " are plausible and ",
                Grouped(cuts.value("suspect", int64_t{0})), " suspect beside ",
                Count(draws, "random legal evaluation"),
                furthest.empty() ? "" : StrCat("; the furthest out: ", furthest));
}

std::string StretchTable(const nlohmann::json& cuts) {
  Table table({{"stretch to"},
               {"op"},
               {"where"},
               {"elements", Table::kRight},
               {"not sampled", Table::kRight},
               {"undecided", Table::kRight},
               {"wrong", Table::kRight},
               {"bound used", Table::kRight}});
  for (const nlohmann::json& stretch : cuts.value("stretches", nlohmann::json::array())) {
    const std::string source = stretch.value("source", "");
    table.Add({stretch.value("name", ""), stretch.value("opcode", ""),
               source.empty() ? stretch.value("op_name", "") : source,
               Grouped(stretch.value("elements", int64_t{0})),
               Grouped(stretch.value("not_sampled", int64_t{0})),
               Grouped(stretch.value("inconclusive", int64_t{0})),
               Grouped(stretch.value("failed", int64_t{0})),
               absl::StrFormat("%.0f %%", 100 * stretch.value("bound_used", 0.0))});
  }
  return table.ToString();
}

}  // namespace assay
