// The checklist of the documents is read whole, and its rows belong to the right ops.
#include "conformance/mission_rows.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

std::set<std::string_view> IdsOf(std::string_view name) {
  std::set<std::string_view> ids;
  for (const OpInfo& op : AllOps()) {
    if (op.name != name) continue;
    for (const MissionRow* row : RowsOfOp(op)) ids.insert(row->id);
  }
  return ids;
}

TEST(MissionRows, AreThoseOfTheFile) {
  ASSERT_GT(MissionRows().size(), 1000u);
  EXPECT_EQ(MissionRows().front().id, "gloss-array");
  for (const MissionRow& row : MissionRows()) EXPECT_FALSE(row.must.empty()) << row.id;
}

struct OpRow {
  std::string_view op;
  std::string_view has;
  std::string_view has_not;
};

TEST(MissionRows, BelongToTheOpTheyName) {
  const OpRow kRows[] = {
      {"concatenate", "shape-concatenate-other-dims", "shape-dot-size-match"},
      {"reduce", "shape-reduce-variadic-order", "shape-reduce-window-init-left"},
      {"reduce-window", "shape-reduce-window-init-left", "shape-reduce-variadic-order"},
      // By the documents' name for it.
      {"convolution", "shape-conv-batch-group-divisor", "shape-convert"},
      {"maximum", "op-max", "op-map"},
      // Rows about all ops of a kind belong to each op of that kind, and to no other.
      {"add", "shape-binary-same-type", "shape-unary-same-shape"},
      {"negate", "shape-unary-same-shape", "shape-binary-same-type"},
      {"dot", "shape-dot-size-match", "shape-binary-same-type"},
  };
  for (const OpRow& row : kRows) {
    const std::set<std::string_view> ids = IdsOf(row.op);
    EXPECT_TRUE(ids.contains(row.has)) << row.op << " " << row.has;
    EXPECT_FALSE(ids.contains(row.has_not)) << row.op << " " << row.has_not;
  }
}

TEST(MissionRows, NearlyAllOfThemAreShownSomewhere) {
  std::set<std::string_view> shown;
  for (const OpInfo& op : AllOps()) {
    for (const MissionRow* row : RowsOfOp(op)) shown.insert(row->id);
  }
  int about_ops = 0;
  for (const MissionRow& row : MissionRows()) {
    if (row.kind == "op" || row.kind == "shape-rule" || row.kind == "op-attribute") ++about_ops;
  }
  // The rest is about several ops: channels, precision, windows.
  EXPECT_GE(shown.size() + 15, static_cast<size_t>(about_ops));
}

}  // namespace
}  // namespace assay
