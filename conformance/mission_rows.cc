// Rows of the documents' checklist from their table, and what the ops of a golden have to do with
// them.
#include "conformance/mission_rows.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "conformance/golden_files.h"

namespace assay {

namespace {

// Names of the documents that are not those of the text.
constexpr std::pair<std::string_view, std::string_view> kDocumentNames[] = {
    {"clz", "count-leading-zeros"},
    {"collapse", "reshape"},
    {"composite-call", "call"},
    {"conv", "convolution"},
    {"cos", "cosine"},
    {"cross-replica-sum", "all-reduce"},
    {"div", "divide"},
    {"eq", "compare"},
    {"exp", "exponential"},
    {"expm1", "exponential-minus-one"},
    {"ge", "compare"},
    {"gt", "compare"},
    {"le", "compare"},
    {"log1p", "log-plus-one"},
    {"lt", "compare"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"mul", "multiply"},
    {"ne", "compare"},
    {"neg", "negate"},
    {"optimization-barrier", "opt-barrier"},
    {"population-count", "popcnt"},
    {"pow", "power"},
    {"rem", "remainder"},
    {"rev", "reverse"},
    {"sin", "sine"},
    {"sub", "subtract"},
    {"top-k", "topk"},
};

bool IsAboutAnOp(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kKinds = {"op", "op-attribute", "op-overload",
                                                      "shape-rule"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

bool BeginsWithName(std::string_view subject, std::string_view name) {
  return subject.starts_with(name) &&
         (subject.size() == name.size() || subject[name.size()] == '-');
}

// The op, or group of ops, that the row's id names: the longest name that fits.
std::string_view SubjectOf(const MissionRow& row) {
  const size_t dash = row.id.find('-');
  if (dash == std::string_view::npos || !IsAboutAnOp(row.kind)) return "";
  const std::string_view subject = row.id.substr(dash + 1);
  std::string_view longest, found;
  auto consider = [&](std::string_view name, std::string_view op) {
    if (name.size() <= longest.size() || !BeginsWithName(subject, name)) return;
    longest = name;
    found = op;
  };
  for (const OpInfo& op : AllOps()) consider(op.name, op.name);
  for (const auto& [name, op] : kDocumentNames) consider(name, op);
  consider("unary", "unary");
  consider("binary", "binary");
  return found;
}

std::vector<MissionRow> ReadRows() {
  std::vector<MissionRow> rows;
  std::string_view text = MissionRowFiles().front().content;
  bool is_heading = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (std::exchange(is_heading, false)) continue;
    std::array<std::string_view, 4> fields;
    std::string_view rest = line;
    for (std::string_view& field : fields) {
      field = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    }
    if (!fields[3].empty()) rows.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return rows;
}

}  // namespace

const std::vector<MissionRow>& MissionRows() {
  static const std::vector<MissionRow> rows = ReadRows();
  return rows;
}

std::vector<const MissionRow*> RowsOfOp(const OpInfo& op) {
  std::string_view group;
  if (op.Is(kElementwise) && op.operands.IsFixed()) {
    if (op.operands.min == 1) group = "unary";
    if (op.operands.min == 2) group = "binary";
  }
  std::vector<const MissionRow*> rows;
  for (const MissionRow& row : MissionRows()) {
    const std::string_view subject = SubjectOf(row);
    if (!subject.empty() && (subject == op.name || subject == group)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace assay
