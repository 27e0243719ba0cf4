// Tests what holds for every row of the op table, whatever the op.
#include "spec/ops/op_table.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "spec/numerics/profile.h"

namespace assay {
namespace {

TEST(OpTableTest, NamesRoundTrip) {
  ASSERT_EQ(AllOps().size(), static_cast<size_t>(kOpcodeCount));
  std::set<std::string_view> names;
  for (const OpInfo& info : AllOps()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(OpcodeFromName(info.name), info.opcode) << info.name;
    EXPECT_EQ(&Info(info.opcode), &info) << info.name;
  }
  EXPECT_EQ(OpcodeFromName(""), std::nullopt);
  EXPECT_EQ(OpcodeFromName("ADD"), std::nullopt);
  EXPECT_EQ(OpcodeFromName("zzz"), std::nullopt);
}

TEST(OpTableTest, EveryRowIsComplete) {
  for (const OpInfo& info : AllOps()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.chapter.empty()) << info.name;
    EXPECT_TRUE(info.operands.max == kAnyNumber || info.operands.max >= info.operands.min)
        << info.name;
    std::set<Attr> seen;
    for (const AttrSpec& spec : info.attributes) {
      EXPECT_TRUE(seen.insert(spec.attr).second)
          << info.name << " lists " << Info(spec.attr).name << " twice";
      EXPECT_FALSE(IsCommon(spec.attr))
          << info.name << " lists the common " << Info(spec.attr).name;
    }
    // Two attributes of one op with the same text name could not be told apart by a reader.
    std::set<std::string_view> texts;
    for (const AttrSpec& spec : info.attributes)
      EXPECT_TRUE(texts.insert(Info(spec.attr).name).second) << info.name;
  }
}

TEST(OpTableTest, ElementwiseOpsForwardTheirDimensions) {
  for (const OpInfo& info : AllOps()) {
    if (!info.Is(kElementwise) || !info.IsDefined()) continue;
    EXPECT_GE(info.operands.min, 1) << info.name;
    EXPECT_EQ(info.callees, CalleeForm::kNone) << info.name;
  }
}

// Folds of the oracle and of the compiler take the flag for "a reduction by it is recognised".
TEST(OpTableTest, TheAssociativeOpsAreTheRecognisedCombiners) {
  std::set<Opcode> associative;
  for (const OpInfo& info : AllOps()) {
    if (!info.Is(kAssociative)) continue;
    associative.insert(info.opcode);
    EXPECT_TRUE(info.Is(kCommutative)) << info.name << ": folds are in any order";
    EXPECT_EQ(info.operands.min, 2) << info.name;
    EXPECT_EQ(info.operands.max, 2) << info.name;
  }
  EXPECT_EQ(associative,
            (std::set<Opcode>{Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum,
                              Opcode::kAnd, Opcode::kOr, Opcode::kXor}));
}

TEST(OpTableTest, BudgetsBeyondStrictHaveASource) {
  for (const OpInfo& info : AllOps()) {
    const UlpBudget& strict = info.numeric.strict;
    const UlpBudget& xla = info.numeric.xla;
    EXPECT_GE(xla.f32, strict.f32) << info.name;
    EXPECT_GE(xla.f64, strict.f64) << info.name;
    EXPECT_GE(xla.f16, strict.f16) << info.name;
    EXPECT_GE(xla.bf16, strict.bf16) << info.name;
    EXPECT_GE(xla.complex, strict.complex) << info.name;
    const bool more = xla.f32 > strict.f32 || xla.f64 > strict.f64 || xla.f16 > strict.f16 ||
                      xla.bf16 > strict.bf16 || xla.complex > strict.complex;
    EXPECT_EQ(more, !info.numeric.xla_source.empty()) << info.name;
  }
}

// A profile says what a correct implementation may do, and is not fitted to a defect of one.
TEST(OpTableTest, NoBudgetIsFittedToADefect) {
  constexpr double kMostUlps = 16, kMostTimesStrict = 4;
  for (const OpInfo& info : AllOps()) {
    const UlpBudget& strict = info.numeric.strict;
    const UlpBudget& xla = info.numeric.xla;
    for (double UlpBudget::* type : {&UlpBudget::f32, &UlpBudget::f64, &UlpBudget::f16,
                                     &UlpBudget::bf16, &UlpBudget::complex}) {
      if (xla.*type == strict.*type) continue;
      EXPECT_LE(xla.*type, kMostUlps) << info.name;
      EXPECT_LE(xla.*type, kMostTimesStrict * strict.*type) << info.name;
    }
  }
}

TEST(OpTableTest, DefinedFunctionsHaveABudget) {
  for (const OpInfo& info : AllOps()) {
    if (!info.IsDefined() || info.numeric.comparison != ComparisonClass::kUlp) continue;
    EXPECT_GT(info.numeric.strict.f32, 0) << info.name;
    EXPECT_GT(info.numeric.strict.f64, 0) << info.name;
    EXPECT_GT(info.numeric.strict.f16, 0) << info.name;
    EXPECT_GT(info.numeric.strict.bf16, 0) << info.name;
    EXPECT_EQ(info.numeric.strict.complex > 0, (info.types & kC) != 0) << info.name;
  }
}

// Operation semantics 1.8 has these numbers.
TEST(OpTableTest, StrictBudgetsFollowTheDocument) {
  const std::pair<Opcode, double> kRows[] = {
      {Opcode::kExponential, 2}, {Opcode::kExponentialMinusOne, 4},
      {Opcode::kLog, 2},         {Opcode::kLogPlusOne, 4},
      {Opcode::kSine, 2},        {Opcode::kCosine, 2},
      {Opcode::kTan, 4},         {Opcode::kTanh, 4},
      {Opcode::kLogistic, 4},    {Opcode::kErf, 4},
      {Opcode::kRsqrt, 2},       {Opcode::kCbrt, 3},
      {Opcode::kPower, 4},       {Opcode::kAtan2, 4}};
  for (const auto& [opcode, ulps] : kRows) {
    EXPECT_EQ(Info(opcode).numeric.strict.f32, ulps) << Name(opcode);
    EXPECT_EQ(Info(opcode).numeric.strict.f64, ulps) << Name(opcode);
    EXPECT_EQ(Info(opcode).numeric.strict.f16, 1) << Name(opcode);
    EXPECT_EQ(Info(opcode).numeric.strict.bf16, 1) << Name(opcode);
  }
  for (Opcode exact :
       {Opcode::kAdd, Opcode::kDivide, Opcode::kSqrt, Opcode::kRemainder, Opcode::kConvert}) {
    EXPECT_EQ(Info(exact).numeric.comparison, ComparisonClass::kExact) << Name(exact);
    EXPECT_EQ(Info(exact).numeric.xla.f32, 0) << Name(exact);
  }
}

TEST(OpTableTest, TypeMasks) {
  EXPECT_TRUE(Matches(kAnyArray, ElementType::kPred));
  EXPECT_TRUE(Matches(kI, ElementType::kU4));
  EXPECT_TRUE(Matches(kF, ElementType::kF8E8M0FNU));
  EXPECT_TRUE(Matches(kC, ElementType::kC128));
  EXPECT_FALSE(Matches(kAnyArray, ElementType::kToken));
  EXPECT_FALSE(Matches(kAnyArray, ElementType::kTuple));
  EXPECT_FALSE(Matches(kF, ElementType::kS32));
}

TEST(OpTableTest, DefaultCompareTypes) {
  EXPECT_EQ(DefaultCompareType(ElementType::kF32), CompareType::kFloat);
  EXPECT_EQ(DefaultCompareType(ElementType::kC64), CompareType::kFloat);
  EXPECT_EQ(DefaultCompareType(ElementType::kS4), CompareType::kSigned);
  EXPECT_EQ(DefaultCompareType(ElementType::kU64), CompareType::kUnsigned);
  EXPECT_EQ(DefaultCompareType(ElementType::kPred), CompareType::kUnsigned);
}

TEST(ProfileTest, EveryGrantHasASource) {
  ASSERT_EQ(AllClauses().size(), static_cast<size_t>(ClauseId::kClauseCount));
  for (const Clause& clause : AllClauses()) {
    EXPECT_FALSE(clause.name.empty());
    EXPECT_FALSE(clause.meaning.empty()) << clause.name;
    if (clause.strict || clause.xla) {
      EXPECT_FALSE(clause.source.empty()) << clause.name;
    }
    EXPECT_TRUE(clause.xla || !clause.strict) << clause.name << ": xla grants what strict does";
  }
}

TEST(ProfileTest, StrictGrantsOrderOnly) {
  for (int i = 0; i < static_cast<int>(ClauseId::kClauseCount); ++i) {
    const ClauseId id = static_cast<ClauseId>(i);
    EXPECT_EQ(Profile::Strict().Grants(id), id == ClauseId::kReassociation);
    EXPECT_TRUE(Profile::XlaGpu().Grants(id));
  }
}

TEST(ProfileTest, FindByName) {
  EXPECT_EQ(*Profile::Find("strict"), &Profile::Strict());
  EXPECT_EQ(*Profile::Find("xla"), &Profile::Xla());
  EXPECT_NE(std::string(Profile::Find("loose").status().message()).find("strict, xla and xla-gpu"),
            std::string::npos);
}

}  // namespace
}  // namespace assay
