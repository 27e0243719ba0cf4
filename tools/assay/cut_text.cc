// Words and tables from the JSON form of a report, which child processes hand over.
#include "tools/assay/cut_text.h"

#include "absl/strings/str_format.h"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"

namespace assay {

std::string CutSummary(const nlohmann::json& cuts) {
  const auto number = [&](const char* key) { return cuts.value(key, int64_t{0}); };
  return StrCat("by cuts: ", Count(number("captures"), "capture"), ", ",
                Count(number("rounds"), "compilation"), ", ", Grouped(number("undecided")), " of ",
                Grouped(number("elements")), " elements undecided, ", number("outputs_equal"),
                " of ", number("outputs"), " results bit for bit as without captures");
}

std::string StretchTable(const nlohmann::json& cuts) {
  Table table({{"stretch to"},
               {"op"},
               {"where"},
               {"elements", Table::kRight},
               {"undecided", Table::kRight},
               {"wrong", Table::kRight},
               {"bound used", Table::kRight}});
  for (const nlohmann::json& stretch : cuts.value("stretches", nlohmann::json::array())) {
    const std::string source = stretch.value("source", "");
    table.Add({stretch.value("name", ""), stretch.value("opcode", ""),
               source.empty() ? stretch.value("op_name", "") : source,
               Grouped(stretch.value("elements", int64_t{0})),
               Grouped(stretch.value("inconclusive", int64_t{0})),
               Grouped(stretch.value("failed", int64_t{0})),
               absl::StrFormat("%.0f %%", 100 * stretch.value("bound_used", 0.0))});
  }
  return table.ToString();
}

}  // namespace assay
