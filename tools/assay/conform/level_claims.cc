// Counts cells by level and puts the claim into words.
#include "tools/assay/conform/level_claims.h"

#include <vector>

#include "spec/base/strings.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

struct Column {
  std::string_view name;
  int64_t LevelCounts::* count;
};
constexpr Column kColumns[] = {
    {"cells", &LevelCounts::cells}, {"passed", &LevelCounts::passed},
    {"open", &LevelCounts::open},   {"waived", &LevelCounts::waived},
    {"wrong", &LevelCounts::wrong}, {"unsupported", &LevelCounts::unsupported},
};

std::string Label(const LevelInfo& info) {
  return StrCat(static_cast<int>(info.level), " ", info.name);
}

}  // namespace

void LevelClaims::Add(ConformanceLevel level, const std::string& cell, std::string_view status) {
  LevelCounts& counts = counts_[static_cast<size_t>(level) - 1];
  ++counts.cells;
  if (status == "passed") {
    ++counts.passed;
  } else if (status == "inconclusive" || status == "nothing to judge") {
    ++counts.open;
  } else if (status == "waived") {
    ++counts.waived;
  } else {
    if (counts.first.empty()) counts.first = StrCat(cell, " ", status);
    ++(status == "unsupported" ? counts.unsupported : counts.wrong);
  }
}

int LevelClaims::held() const {
  int held = 0;
  for (int i = 0; i < kConformanceLevelCount; ++i) {
    const LevelCounts& counts = counts_[static_cast<size_t>(i)];
    if (counts.against() > 0) break;
    if (counts.cells > 0) held = i + 1;
  }
  return held;
}

std::string LevelClaims::Sentence(std::string_view profile) const {
  const int level = held();
  LevelCounts sum;
  for (int i = 0; i < level; ++i) {
    for (const Column& column : kColumns)
      sum.*column.count += counts_[static_cast<size_t>(i)].*column.count;
  }
  std::string text =
      level == 0 ? StrCat("holds no level by profile ", profile)
                 : StrCat("holds level ", level, " of ", kConformanceLevelCount, ", ",
                          Name(static_cast<ConformanceLevel>(level)), ", by profile ", profile,
                          ": ", Grouped(sum.passed), " of ", Grouped(sum.cells), " cells pass");
  if (sum.open > 0) StrAppend(&text, ", ", Grouped(sum.open), " are open");
  if (sum.waived > 0) StrAppend(&text, ", ", Grouped(sum.waived), " are waived");
  for (const LevelInfo& info : ConformanceLevels()) {
    const LevelCounts& next = counts(info.level);
    if (next.against() == 0) continue;
    StrAppend(&text, "; level ", static_cast<int>(info.level), ", ", info.name, ", lacks ",
              Grouped(next.against()), " of ", Grouped(next.cells), ", the first is ", next.first);
    break;
  }
  return text;
}

std::string LevelClaims::TextTable() const {
  std::vector<Table::Column> columns = {{"level"}};
  for (const Column& column : kColumns)
    columns.push_back({std::string(column.name), Table::kRight});
  Table table(columns);
  for (const LevelInfo& info : ConformanceLevels()) {
    if (counts(info.level).cells == 0) continue;
    std::vector<std::string> row = {Label(info)};
    for (const Column& column : kColumns) {
      const int64_t count = counts(info.level).*column.count;
      row.push_back(count == 0 ? "-" : Grouped(count));
    }
    table.Add(row);
  }
  return table.ToString();
}

std::string LevelClaims::MarkdownTable() const {
  std::string text = "| level | what it has |", rule = "| --- | --- |";
  for (const Column& column : kColumns) {
    StrAppend(&text, " ", column.name, " |");
    rule += " --: |";
  }
  StrAppend(&text, "\n", rule, "\n");
  for (const LevelInfo& info : ConformanceLevels()) {
    StrAppend(&text, "| ", Label(info), " | ", info.contents, " |");
    for (const Column& column : kColumns)
      StrAppend(&text, " ", counts(info.level).*column.count, " |");
    text += "\n";
  }
  return text;
}

nlohmann::json LevelClaims::ToJson() const {
  nlohmann::json levels = nlohmann::json::array();
  for (const LevelInfo& info : ConformanceLevels()) {
    nlohmann::json row = {{"level", static_cast<int>(info.level)},
                          {"name", std::string(info.name)},
                          {"first", counts(info.level).first}};
    for (const Column& column : kColumns)
      row[std::string(column.name)] = counts(info.level).*column.count;
    levels.push_back(std::move(row));
  }
  return levels;
}

}  // namespace assay
