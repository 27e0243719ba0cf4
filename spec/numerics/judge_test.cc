// The judge and the profiles by themselves. testdata/judge.txt has expectations written by hand,
// answers, and the verdict on each; no oracle takes part.
#include <gmock/gmock.h>

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/numerics/clause_limits.h"
#include "spec/numerics/expectation.h"
#include "spec/numerics/profile.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

constexpr struct {
  std::string_view word;
  uint32_t flag;
} kFlags[] = {{"forced", kForced},
              {"nan", kMayBeNan},
              {"inf", kMayBePosInf},
              {"-inf", kMayBeNegInf},
              {"any-zero", kZeroSignFree},
              {"flush", kMayFlush},
              {"undecided", kUndecided},
              {"not-finite", kNotFinite},
              {"zero", kMayBeZero},
              {"property", kByProperty},
              {"no-positive-zero", kNoPositiveZero},
              {"no-negative-zero", kNoNegativeZero}};

double NumberOf(absl::string_view text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text;
  return value;
}

// "CENTRE +- RADIUS [FLAG ...]", or flags alone.
ElementBound BoundOf(std::string_view text) {
  ElementBound bound;
  std::vector<absl::string_view> words = absl::StrSplit(ToAbsl(text), ' ', absl::SkipEmpty());
  size_t next = 0;
  if (words.size() >= 3 && words[1] == "+-") {
    bound.centre = NumberOf(words[0]);
    bound.radius = NumberOf(words[2]);
    next = 3;
  }
  for (; next < words.size(); ++next) {
    if (words[next] == "of" && next + 1 < words.size()) {
      const double magnitude = NumberOf(words[++next]);
      const bool is_known = next + 1 < words.size() && words[next + 1] == "known";
      if (is_known) ++next;
      bound.set_magnitude(magnitude, is_known);
      continue;
    }
    const auto* at = std::find_if(std::begin(kFlags), std::end(kFlags),
                                  [&](const auto& row) { return row.word == ToStd(words[next]); });
    if (at == std::end(kFlags)) {
      ADD_FAILURE() << "no flag is called " << words[next];
    } else {
      bound.flags |= at->flag;
    }
  }
  return bound;
}

absl::StatusOr<Literal> ValueOf(const Shape& shape, std::string_view text) {
  return ReadLiteral(shape, text);
}

// Fields of one case, in their order: a `plain:` begins a leaf, the others are about the last one.
void AddField(const CaseField& field, Expectation& expectation) {
  if (field.key == "plain") {
    const size_t blank = field.value.find(' ');
    const absl::StatusOr<Shape> shape = ReadShape(field.value.substr(0, blank));
    ASSERT_TRUE(shape.ok()) << shape.status();
    absl::StatusOr<Literal> plain = ValueOf(*shape, field.value.substr(blank + 1));
    ASSERT_TRUE(plain.ok()) << plain.status();
    expectation.leaves.emplace_back().plain = *std::move(plain);
    return;
  }
  if (field.key == "inconclusive") {
    expectation.inconclusive = field.value;
    return;
  }
  if (field.key == "property") {
    // All elements of the leaf, together: their squares add up to one.
    PropertyExpectation& property = expectation.properties.emplace_back();
    property.what = field.value;
    const auto leaf = static_cast<int64_t>(expectation.leaves.size()) - 1;
    property.parts.push_back(expectation.leaves.back().plain);
    property.present.push_back(true);
    for (int64_t i = 0; i < property.parts[0].element_count(); ++i)
      property.places.push_back({leaf, i, 0, i});
    property.violation = [](absl::Span<const Literal> parts, const std::vector<bool>&) {
      double sum = 0;
      for (int64_t i = 0; i < parts[0].element_count(); ++i)
        sum += parts[0].GetDouble(i) * parts[0].GetDouble(i);
      return std::fabs(sum - 1) < 1e-6 ? std::string() : StrCat("the squares add up to ", sum);
    };
    return;
  }
  ASSERT_FALSE(expectation.leaves.empty()) << field.key << ": comes behind a plain:";
  ArrayExpectation& leaf = expectation.leaves.back();
  if (field.key == "bound") leaf.bounds.push_back(BoundOf(field.value));
  if (field.key == "nan-bits") leaf.nan_bits = field.value == "known";
  if (field.key == "significand") leaf.significand = static_cast<int>(NumberOf(field.value));
  if (field.key == "choices") {
    std::vector<uint64_t>& codes = leaf.choices[field.index];
    const Shape scalar = Shape::Scalar(leaf.plain.element_type());
    for (absl::string_view text : absl::StrSplit(field.value, ' ', absl::SkipEmpty())) {
      if (text == "undecided") continue;
      const absl::StatusOr<Literal> code = ValueOf(scalar, ToStd(text));
      ASSERT_TRUE(code.ok()) << code.status();
      codes.push_back(code->GetBits(0));
    }
  }
}

std::string CountsOf(const Judgement& judgement) {
  return StrCat(Name(judgement.verdict), ", ", judgement.passed, " passed, ", judgement.forced,
                " forced, ", judgement.inconclusive, " inconclusive, ", judgement.failed,
                " failed");
}

TEST(JudgeTest, SaysWhatTheCasesSay) {
  CasesForTest cases("spec/numerics/testdata/judge.txt",
                     {"plain", "bound", "significand", "nan-bits", "choices", "property",
                      "inconclusive", "pass", "fail", "open", "answer", "expect"});
  EXPECT_GE(cases.blocks().size(), 40u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    Expectation expectation;
    std::vector<Literal> answer;
    int verdicts = 0;
    for (const CaseField& field : block.fields) {
      if (field.key == "row") continue;
      const bool is_verdict = field.key == "pass" || field.key == "fail" || field.key == "open";
      if (is_verdict) {
        SCOPED_TRACE(StrCat(field.key, ": ", field.value));
        ++verdicts;
        const absl::StatusOr<Literal> value =
            ValueOf(expectation.leaves.at(0).plain.shape(), field.value);
        ASSERT_TRUE(value.ok()) << value.status();
        const std::string wanted = field.key == "open" ? "inconclusive" : field.key;
        const Judgement judgement = Judge(expectation, *value);
        EXPECT_EQ(Name(judgement.verdict), wanted) << judgement.reason;
        EXPECT_EQ(judgement.reason.empty(), wanted == "pass") << judgement.reason;
      } else if (field.key == "answer") {
        absl::StatusOr<Literal> value =
            ValueOf(expectation.leaves.at(answer.size()).plain.shape(), field.value);
        ASSERT_TRUE(value.ok()) << value.status();
        answer.push_back(*std::move(value));
      } else if (field.key == "expect") {
        ++verdicts;
        std::vector<const Literal*> leaves;
        for (const Literal& leaf : answer) leaves.push_back(&leaf);
        cases.ExpectValue(field, CountsOf(JudgeLeaves(expectation, leaves)));
      } else {
        ASSERT_NO_FATAL_FAILURE(AddField(field, expectation));
      }
    }
    EXPECT_GE(verdicts, 1) << "judges nothing";
  }
}

TEST(JudgeTest, WrongShapesFail) {
  Expectation expectation;
  expectation.leaves.emplace_back().plain = Literal(Shape::Array(ElementType::kF32, {2}));
  EXPECT_EQ(Judge(expectation, Literal(Shape::Array(ElementType::kF32, {3}))).verdict,
            Verdict::kFail);
  EXPECT_EQ(Judge(expectation, Literal(Shape::Array(ElementType::kS32, {2}))).verdict,
            Verdict::kFail);
  const Judgement none = JudgeLeaves(expectation, {});
  EXPECT_EQ(none.verdict, Verdict::kFail);
  EXPECT_FALSE(none.reason.empty());
}

TEST(JudgeTest, TheFirstAndTheWorstFailureAreNamed) {
  Expectation expectation;
  expectation.leaves.emplace_back().plain =
      *ReadLiteral(Shape::Array(ElementType::kF32, {4}), "{1, 1, 1, 1}");
  const Literal answer =
      *ReadLiteral(Shape::Array(ElementType::kF32, {4}), "{1, 1.0000001, 1.0000006, 1}");
  const Judgement judgement = Judge(expectation, answer);
  EXPECT_EQ(judgement.first.element, 1);
  EXPECT_EQ(judgement.first.ulps, 1);
  EXPECT_EQ(judgement.worst.element, 2);
  EXPECT_EQ(judgement.worst.ulps, 5);
  EXPECT_THAT(DescribeFailure(expectation, answer, judgement), testing::HasSubstr("exactly 1"));

  // No number is as far off as NaN.
  const Literal with_nan =
      *ReadLiteral(Shape::Array(ElementType::kF32, {4}), "{1, 1.0000006, nan, 1e30}");
  EXPECT_EQ(Judge(expectation, with_nan).first.element, 1);
  EXPECT_EQ(Judge(expectation, with_nan).worst.element, 2);
}

// Clause k of the table is the one that the enumeration calls k.
TEST(ProfileTest, ClausesStandInTheOrderOfTheirNumbers) {
  constexpr struct {
    ClauseId id;
    std::string_view name;
    bool strict, xla;
  } kRows[] = {{ClauseId::kFlushSubnormals, "flush-subnormals", false, true},
               {ClauseId::kExcessPrecision, "excess-precision", false, true},
               {ClauseId::kContraction, "contraction", false, true},
               {ClauseId::kReassociation, "reassociation", true, true},
               {ClauseId::kReciprocalDivision, "reciprocal-division", false, true},
               {ClauseId::kReciprocalRoot, "reciprocal-root", false, true},
               {ClauseId::kNestedQuotients, "nested-quotients", false, true},
               {ClauseId::kConstantChains, "constant-chains", false, true},
               {ClauseId::kExponentials, "exponentials", false, true},
               {ClauseId::kLiteralReducer, "literal-reducer", false, true},
               {ClauseId::kSumsOfSums, "sums-of-sums", false, true},
               {ClauseId::kScatterStarts, "scatter-starts", false, true},
               {ClauseId::kNarrowFactors, "narrow-factors", false, false},
               {ClauseId::kApproximateQuotients, "approximate-quotients", false, false},
               {ClauseId::kEitherRounding, "either-rounding", false, false}};
  ASSERT_EQ(std::size(kRows), AllClauses().size());
  for (size_t i = 0; i < std::size(kRows); ++i) {
    SCOPED_TRACE(kRows[i].name);
    EXPECT_EQ(static_cast<size_t>(kRows[i].id), i);
    EXPECT_EQ(AllClauses()[i].name, kRows[i].name);
    EXPECT_FALSE(AllClauses()[i].meaning.empty());
    EXPECT_FALSE(AllClauses()[i].source.empty());
    EXPECT_EQ(LimitOf(kRows[i].id).id, kRows[i].id);
    EXPECT_FALSE(LimitOf(kRows[i].id).changes.empty());
    EXPECT_FALSE(LimitOf(kRows[i].id).kept_by.empty());
    EXPECT_EQ(Profile::Strict().Grants(kRows[i].id), kRows[i].strict);
    EXPECT_EQ(Profile::Xla().Grants(kRows[i].id), kRows[i].xla);
    const bool is_of_gpus = kRows[i].xla || AllClauses()[i].gpu;
    EXPECT_EQ(Profile::XlaGpu().Grants(kRows[i].id), is_of_gpus);
    EXPECT_EQ(Profile::XlaGpu().AsWritten().Grants(kRows[i].id),
              is_of_gpus && !AllClauses()[i].rewrites);
    EXPECT_EQ(Profile::Xla().AsWritten().Grants(kRows[i].id),
              kRows[i].xla && !AllClauses()[i].rewrites);
  }
}

// The folds of exponentials are granted to the releases that make them.
TEST(ProfileTest, ReleasesHaveAVersion) {
  const Profile& gated = ProfileOfJaxlib(Profile::Xla(), "0.12.0");
  EXPECT_EQ(gated.name(), "xla@2026-09");
  EXPECT_EQ(*Profile::Find("xla@2026-09"), &gated);
  EXPECT_FALSE(gated.Grants(ClauseId::kExponentials));
  EXPECT_TRUE(gated.Grants(ClauseId::kConstantChains) && gated.IsXla());
  EXPECT_EQ(&gated.AsWritten(), &Profile::Xla().AsWritten());
  const Profile& on_gpus = ProfileOfJaxlib(Profile::XlaGpu(), "1.0");
  EXPECT_EQ(on_gpus.name(), "xla-gpu@2026-09");
  EXPECT_EQ(&on_gpus.AsWritten(), &Profile::XlaGpu().AsWritten());
  for (const char* release : {"0.10.2", "0.11.2", "0.4.31", "", "new"})
    EXPECT_EQ(&ProfileOfJaxlib(Profile::Xla(), release), &Profile::Xla()) << release;
  EXPECT_EQ(&ProfileOfJaxlib(Profile::Strict(), "0.12.0"), &Profile::Strict());
}

TEST(ProfileTest, IsFoundByName) {
  EXPECT_EQ(*Profile::Find("strict"), &Profile::Strict());
  EXPECT_EQ(*Profile::Find("xla"), &Profile::Xla());
  EXPECT_EQ(*Profile::Find("xla-gpu"), &Profile::XlaGpu());
  EXPECT_EQ(*Profile::Find("xla-gpu-as-written"), &Profile::XlaGpu().AsWritten());
  EXPECT_TRUE(Profile::XlaGpu().AsWritten().IsAsWritten());
  EXPECT_FALSE(Profile::XlaGpu().IsAsWritten() || Profile::Strict().IsAsWritten());
  EXPECT_THAT(std::string(Profile::Find("fast").status().message()),
              testing::HasSubstr("the profiles are strict, xla and xla-gpu"));
}

}  // namespace
}  // namespace assay
