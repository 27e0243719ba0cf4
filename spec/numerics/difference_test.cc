// Tests the words for pairs of values that differ.
#include "spec/numerics/difference.h"

#include "gtest/gtest.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

Literal Read(const Shape& shape, const char* text) {
  absl::StatusOr<Literal> literal = ReadLiteral(shape, text);
  EXPECT_TRUE(literal.ok()) << literal.status() << " " << text;
  return literal.ok() ? *std::move(literal) : Literal(shape);
}

TEST(Difference, SaysWhatIsWrongOfAnElement) {
  const struct {
    ElementType type;
    const char *right, *answer, *words;
  } kRows[] = {
      {ElementType::kF32, "nan", "-inf", "a NaN is lost"},
      {ElementType::kF32, "1", "nan", "a NaN appears"},
      {ElementType::kF32, "inf", "65504", "an infinity is lost"},
      {ElementType::kF16, "3", "-inf", "an infinity appears"},
      {ElementType::kF64, "2.5", "-2.5", "the sign is wrong"},
      {ElementType::kF32, "inf", "-inf", "the sign is wrong"},
      {ElementType::kF32, "0", "-0", "the sign of a zero is wrong"},
      {ElementType::kF32, "1e-20", "0", "it vanishes"},
      {ElementType::kF32, "0", "3", "it is not zero"},
      {ElementType::kF32, "1", "1.00000024", "it is off by 2 ulp"},
      {ElementType::kS32, "1187840956", "-1187840956", "the sign is wrong"},
      {ElementType::kS8, "-75", "127", "it saturates"},
      {ElementType::kU8, "15", "255", "it saturates"},
      {ElementType::kU8, "0", "64", "only the low 4 bits are right"},
      {ElementType::kS32, "0", "256", "only the low 8 bits are right"},
      {ElementType::kS32, "5", "0", "it is zero"},
      {ElementType::kS32, "5", "6", ""},
      {ElementType::kPred, "true", "false", ""},
      {ElementType::kC64, "(inf, nan)", "(inf, 2)", "of the imaginary part, a NaN is lost"},
      {ElementType::kC64, "(0, -1)", "(0, 1)", "of the imaginary part, the sign is wrong"},
      {ElementType::kC64, "(0.8, 1)", "(0, 1)", "of the real part, it vanishes"},
  };
  for (const auto& row : kRows) {
    const Shape shape = Shape::Array(row.type, {});
    EXPECT_EQ(DifferenceInWords(Read(shape, row.right), Read(shape, row.answer), 0), row.words)
        << row.right << " " << row.answer;
  }
}

TEST(Difference, SaysByHowMuchAnAnswerIsMoved) {
  const Shape shape = Shape::Array(ElementType::kS32, {6});
  const Literal right = Read(shape, "{1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(MoveInWords(right, Read(shape, "{2, 3, 4, 5, 6, 9}")),
            "the answer is the right one moved by -1 (element i is that of i + 1)");
  EXPECT_EQ(MoveInWords(right, Read(shape, "{0, 0, 1, 2, 3, 4}")),
            "the answer is the right one moved by 2 (element i is that of i - 2)");
  EXPECT_EQ(MoveInWords(right, Read(shape, "{1, 2, 3, 4, 5, 7}")), "");
  EXPECT_EQ(MoveInWords(Read(shape, "{1, 1, 1, 1, 1, 1}"), Read(shape, "{1, 1, 1, 1, 1, 0}")), "");
}

}  // namespace
}  // namespace assay
