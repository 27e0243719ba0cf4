// Elements that are judged by a property, with others: also behind those of another device.
#include "gtest/gtest.h"
#include "spec/numerics/expectation.h"

namespace assay {
namespace {

Literal Pair(double first, double second) {
  Literal literal(Shape::Array(ElementType::kF32, {2}));
  literal.SetDouble(0, first);
  literal.SetDouble(1, second);
  return literal;
}

// Two elements whose sum is `sum`.
Expectation OfSum(double sum) {
  ArrayExpectation leaf;
  leaf.plain = Pair(sum, 0);
  leaf.bounds.assign(2, ElementBound{0, 0, 0, kByProperty});
  PropertyExpectation property;
  property.what = "their sum";
  property.parts.push_back(leaf.plain);
  property.present = {true};
  property.places = {{0, 0, 0, 0}, {0, 1, 0, 1}};
  property.violation = [sum](absl::Span<const Literal> parts, const std::vector<bool>&) {
    return parts[0].GetDouble(0) + parts[0].GetDouble(1) == sum ? "" : "the sum is wrong";
  };
  Expectation expectation;
  expectation.leaves.push_back(std::move(leaf));
  expectation.properties.push_back(std::move(property));
  return expectation;
}

TEST(Append, KeepsWhatIsAskedOfTheNextDevice) {
  Expectation both = OfSum(3);
  both.Append(OfSum(5));
  ASSERT_EQ(both.leaves.size(), 2u);
  const Judgement right = Judge(both, Literal::Tuple({Pair(1, 2), Pair(4, 1)}));
  EXPECT_EQ(right.verdict, Verdict::kPass) << right.reason;
  EXPECT_EQ(right.elements, 4);
  const Judgement first = Judge(both, Literal::Tuple({Pair(1, 1), Pair(4, 1)}));
  EXPECT_EQ(first.verdict, Verdict::kFail);
  EXPECT_EQ(first.first.leaf, 0);
  const Judgement second = Judge(both, Literal::Tuple({Pair(1, 2), Pair(4, 2)}));
  EXPECT_EQ(second.verdict, Verdict::kFail);
  EXPECT_EQ(second.first.leaf, 1);
}

TEST(Append, IsInconclusiveWhenOneDeviceIs) {
  Expectation both = OfSum(3), open = OfSum(5);
  open.inconclusive = "undecided";
  both.Append(std::move(open));
  EXPECT_EQ(Judge(both, Literal::Tuple({Pair(1, 2), Pair(4, 1)})).verdict, Verdict::kInconclusive);
}

TEST(Judge, DoesNotPassWhatNoPropertyJudges) {
  Expectation expectation = OfSum(3);
  expectation.properties.clear();
  const Judgement judgement = Judge(expectation, Pair(1, 2));
  EXPECT_EQ(judgement.verdict, Verdict::kInconclusive);
  EXPECT_EQ(judgement.inconclusive, 2);
}

}  // namespace
}  // namespace assay
