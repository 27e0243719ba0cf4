// Cells are functions of their names, and every mode means what the program means.
#include "fuzz/matrix/matrix.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "fuzz/matrix/invalid.h"
#include "fuzz/matrix/levels.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

TEST(Matrix, NamesAreUnique) {
  std::set<std::string> names;
  const std::vector<MatrixCell> cells = MatrixCells(MatrixTier::kCi, 3, 40);
  ASSERT_GT(cells.size(), 50u);
  for (const MatrixCell& cell : cells) EXPECT_TRUE(names.insert(cell.Name()).second) << cell.Name();
}

TEST(Matrix, ShardsAreTheWholeAndTiersGrow) {
  std::set<std::string> smoke, parts;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kSmoke)) smoke.insert(cell.Name());
  for (int64_t i = 0; i < 3; ++i) {
    for (const MatrixCell& cell : MatrixCells(MatrixTier::kSmoke, i, 3))
      EXPECT_TRUE(parts.insert(cell.Name()).second);
  }
  EXPECT_EQ(parts, smoke);
  std::set<std::string> larger;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kFull, 5, 60)) larger.insert(cell.Name());
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kCi, 5, 60))
    EXPECT_TRUE(larger.contains(cell.Name())) << cell.Name();
}

TEST(Matrix, IsLarge) {
  // A tenth of them.
  EXPECT_GE(MatrixCells(MatrixTier::kFull, 4, 10).size(), 3000u);
  EXPECT_LE(MatrixCells(MatrixTier::kSmoke, 4, 10).size(), 600u);
}

// A mode changes what a compiler sees and not what is right.
TEST(Matrix, ModesKeepTheMeaning) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  std::map<std::string, Literal> plain;
  int compared = 0;
  std::set<MatrixMode> modes;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kFull, 11, 97)) {
    if (cell.pattern.sizes != SizeStyle::kSmall || cell.pattern.family != ValueFamily::kOrdinary)
      continue;
    const std::optional<Case> built = BuildCell(cell);
    if (!built.has_value()) continue;
    const auto value = EvaluateOn(*oracle, CheckCase::Of(*built->module, built->inputs), Limits());
    ASSERT_TRUE(value.ok()) << cell.Name() << ": " << value.status();
    const std::string name = cell.Name().substr(0, cell.Name().rfind('/'));
    if (cell.mode == MatrixMode::kArguments) {
      plain.emplace(name, *value);
    } else if (const auto at = plain.find(name); at != plain.end()) {
      const bool is_sharded = cell.mode == MatrixMode::kSharded;
      const std::vector<Literal> alone = {*value};
      for (const Literal& one : is_sharded ? value->elements() : alone)
        EXPECT_TRUE(one.BitwiseEqual(at->second)) << cell.Name();
      ++compared;
      modes.insert(cell.mode);
    }
  }
  EXPECT_GT(compared, 40);
  EXPECT_EQ(modes.size(), size_t{kMatrixModeCount - 1});
}

// On an element type to which a pattern of it applies.
TEST(Matrix, EveryOpHasACell) {
  std::set<std::string_view> seen;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kSmoke)) {
    if (seen.contains(Name(cell.opcode()))) continue;
    const std::optional<Case> built = BuildCell(cell);
    if (!built.has_value()) continue;
    for (const Computation* computation : built->module->computations())
      for (const Instruction* at : *computation) seen.insert(Name(at->opcode()));
  }
  for (int i = 0; i < kOpcodeCount; ++i) {
    const std::string_view name = Name(static_cast<Opcode>(i));
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

// Types of an op's row that have no cell, and why; "*": all. Whoever adds a cell takes it from
// here.
constexpr std::pair<std::string_view, std::string_view> kTypesWithoutCells[] = {
    // Cells of what begins a transfer hold its end, too.
    {"all-gather-done", "*"},
    {"all-reduce-done", "*"},
    {"async-done", "*"},
    {"collective-permute-done", "*"},
    {"copy-done", "*"},
    {"recv", "*"},
    {"recv-done", "*"},
    {"send-done", "*"},
    // Numbers of devices and random state have one type.
    {"partition-id", "*"},
    {"replica-id", "*"},
    {"rng-get-and-update-state", "*"},
    {"iota", "pred c64 c128"},
    {"bitcast-convert", "pred"},
    {"map", "pred"},
    {"ragged-dot", "pred"},
    {"scan", "pred"},
    {"select-and-scatter", "pred"},
    {"topk", "pred"},
    {"abs", "u2 u4 u8 u16 u32 u64"},
    {"sign", "u2 u4 u8 u16 u32 u64"},
    {"rng-bit-generator", "u2 u4"},
    {"cholesky", "narrow f16 bf16 c64 c128"},
    {"complex", "narrow f16 bf16"},
    {"fft", "narrow f16 bf16"},
    {"triangular-solve", "narrow f16 bf16"},
    {"scaled-dot", "narrow f16 f64"},
    {"rng", "narrow pred s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64"},
};

bool HasType(std::string_view types, ElementType type) {
  const std::string words = StrCat(" ", types, " ");
  const bool is_narrow = IsFloat(type) && BitWidth(type) <= 8;
  return types == "*" || (is_narrow && words.find(" narrow ") != std::string::npos) ||
         words.find(StrCat(" ", Name(type), " ")) != std::string::npos;
}

bool IsListed(std::string_view op, ElementType type) {
  for (const auto& [name, types] : kTypesWithoutCells)
    if (name == op) return HasType(types, type);
  return false;
}

TEST(Matrix, EveryTypeOfEveryOpHasACellOrAReason) {
  std::set<std::pair<Opcode, ElementType>> there;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kSmoke))
    there.emplace(cell.opcode(), cell.pattern.type);
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    for (const ElementType type : MatrixTypes()) {
      const bool is_bit = IsInteger(type) && BitWidth(type) == 1;  // few ops are tried on them
      if (is_bit || !Matches(op.types, type)) continue;
      EXPECT_TRUE(there.contains({op.opcode, type}) || IsListed(op.name, type))
          << op.name << " on " << Name(type) << " has no cell";
    }
  }
}

// The levels on which an op on a type can be met: its own, in a loop or a call, on two devices.
std::vector<ConformanceLevel> LevelsOf(Opcode op, ElementType type) {
  std::vector<ConformanceLevel> levels = {std::max(LevelOf(op), LevelOf(type))};
  for (const ConformanceLevel level :
       {ConformanceLevel::kControlFlow, ConformanceLevel::kCollectives})
    if (level > levels.front()) levels.push_back(level);
  return levels;
}

// Levels beyond its own on which an op has no cells, and why.
struct LevelWithoutCells {
  std::string_view op;
  ConformanceLevel level;
  std::string_view types;
};
constexpr LevelWithoutCells kLevelsWithoutCells[] = {
    // Nothing of a token, or of work that goes on beside, is split between devices.
    {"after-all", ConformanceLevel::kCollectives, "*"},
    {"async-start", ConformanceLevel::kCollectives, "*"},
    {"async-update", ConformanceLevel::kCollectives, "*"},
    // A program is not run twice for what is random in it.
    {"rng", ConformanceLevel::kControlFlow, "*"},
    {"rng", ConformanceLevel::kCollectives, "*"},
    // Its arrays have one element.
    {"scatter", ConformanceLevel::kCollectives, "pred"},
};

bool IsListed(std::string_view op, ElementType type, ConformanceLevel level) {
  for (const LevelWithoutCells& one : kLevelsWithoutCells)
    if (one.op == op && one.level == level && HasType(one.types, type)) return true;
  return false;
}

TEST(Levels, EveryTypeOfEveryOpHasACellOnEveryLevelThatItAdmits) {
  std::set<std::tuple<Opcode, ElementType, ConformanceLevel>> there;
  for (MatrixCell cell : MatrixCells(MatrixTier::kCi)) {
    if (cell.mode != MatrixMode::kArguments || cell.pattern.family != ValueFamily::kOrdinary)
      continue;
    const auto add = [&](MatrixMode mode, ConformanceLevel level) {
      if (there.contains({cell.opcode(), cell.pattern.type, level})) return;
      cell.mode = mode;
      if (const std::optional<Case> built = BuildCell(cell); built.has_value())
        there.emplace(cell.opcode(), cell.pattern.type, LevelOf(*built->module));
    };
    add(MatrixMode::kArguments, std::max(LevelOf(cell.opcode()), LevelOf(cell.pattern.type)));
    if (cell.pattern.sizes > SizeStyle::kThreshold) continue;
    add(MatrixMode::kCall, ConformanceLevel::kControlFlow);
    add(MatrixMode::kSharded, ConformanceLevel::kCollectives);
  }
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    for (const ElementType type : MatrixTypes()) {
      const bool is_bit = IsInteger(type) && BitWidth(type) == 1;  // few ops are tried on them
      if (is_bit || !Matches(op.types, type) || IsListed(op.name, type)) continue;
      for (const ConformanceLevel level : LevelsOf(op.opcode, type)) {
        EXPECT_NE(there.contains({op.opcode, type, level}), IsListed(op.name, type, level))
            << op.name << " on " << Name(type) << ": a cell on level " << Name(level)
            << " is missing, or listed as missing and there";
      }
    }
  }
}

TEST(Levels, AreCalledByNumberAndByName) {
  for (const LevelInfo& info : ConformanceLevels()) {
    EXPECT_EQ(&Info(info.level), &info);
    EXPECT_EQ(ConformanceLevelOf(info.name).value(), info.level);
    EXPECT_EQ(ConformanceLevelOf(StrCat(static_cast<int>(info.level))).value(), info.level);
  }
  EXPECT_EQ(ConformanceLevelOf("9").status().message(),
            "no level '9'; 1 integer-core, 2 float-core, 3 narrow-types, 4 linear-algebra, "
            "5 control-flow, 6 collectives, 7 dynamic-shapes, 8 named-calls");
}

// The verifier refuses them all, with words.
TEST(Invalid, ManyModulesBreakOneRuleEach) {
  std::set<std::string> names;
  std::map<std::string_view, int> by_rule;
  for (const InvalidModule& invalid : DerivedInvalidModules()) {
    EXPECT_TRUE(names.insert(invalid.name).second) << invalid.name;
    EXPECT_FALSE(Verify(*invalid.module).message().empty()) << invalid.name;
    ++by_rule[invalid.rule];
  }
  EXPECT_GE(names.size(), 700u);
  for (const InvalidRule& rule : InvalidRules()) EXPECT_GT(by_rule[rule.name], 3) << rule.name;
}

}  // namespace
}  // namespace assay
