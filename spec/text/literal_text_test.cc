// Literals written and read are the same bits, for every element type and rank.
#include <gtest/gtest.h>

#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

void ExpectSame(const Literal& literal) {
  std::string text = WriteLiteral(literal);
  absl::StatusOr<Literal> read = ReadLiteral(literal.shape(), text);
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << text;
  ASSERT_TRUE(read->BitwiseEqual(literal)) << literal.shape().ToString() << "\n"
                                           << text << "\n"
                                           << WriteLiteral(*read);
}

// Bits that mean a value of the type: any code of floats and integers, 0 or 1 for pred.
uint64_t LegalBits(ElementType type, uint64_t bits) {
  int width = IsPred(type) ? 1 : std::min(BitWidth(type), 64);
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

TEST(LiteralText, EveryCodeOfTheNarrowTypes) {
  for (const TypeInfo& info : AllTypes()) {
    if (!IsArrayType(info.type) || info.bits > 16) continue;
    Literal literal(Shape::Array(info.type, {int64_t{1} << info.bits}));
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      literal.SetBits(i, LegalBits(info.type, static_cast<uint64_t>(i)));
    }
    ExpectSame(literal);
  }
}

TEST(LiteralText, RandomBitsOfTheWideTypes) {
  uint64_t state = 7;
  auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
  };
  for (const TypeInfo& info : AllTypes()) {
    if (!IsArrayType(info.type) || info.bits <= 16) continue;
    Literal literal(Shape::Array(info.type, {20, 30}));
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      if (info.type == ElementType::kC128) {
        literal.data<std::complex<double>>()[i] = {std::bit_cast<double>(next()),
                                                   std::bit_cast<double>(next())};
      } else {
        // Every fourth one near the edges, where exponents and specials are.
        uint64_t bits = i % 4 == 0 ? (next() & 3) << (info.bits - 2) : next();
        literal.SetBits(i, LegalBits(info.type, bits));
      }
    }
    ExpectSame(literal);
  }
}

TEST(LiteralText, Specials) {
  for (ElementType type :
       {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64}) {
    const FloatFormat& format = Format(type);
    uint64_t infinity = EncodeFloat(format, HUGE_VAL);
    uint64_t sign = uint64_t{1} << (format.bits() - 1);
    uint64_t quiet = QuietNan(format);
    std::vector<uint64_t> codes = {0,
                                   sign,
                                   1,
                                   sign | 1,
                                   infinity - 1,
                                   infinity,
                                   sign | infinity,
                                   quiet,
                                   sign | quiet,
                                   infinity | 1,
                                   sign | infinity | 5,
                                   quiet | 3};
    Literal literal(Shape::Array(type, {static_cast<int64_t>(codes.size())}));
    for (size_t i = 0; i < codes.size(); ++i) literal.SetBits(static_cast<int64_t>(i), codes[i]);
    ExpectSame(literal);
  }
}

TEST(LiteralText, Layout) {
  auto written = [](std::initializer_list<int64_t> dimensions) {
    Literal literal(Shape::Array(ElementType::kS32, dimensions));
    for (int64_t i = 0; i < literal.element_count(); ++i) literal.SetInteger(i, i + 1);
    ExpectSame(literal);
    return WriteLiteral(literal);
  };
  EXPECT_EQ(written({}), "1");
  EXPECT_EQ(written({3}), "{1, 2, 3}");
  EXPECT_EQ(written({2, 2}), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(written({2, 1}), "{ {1}, {2} }");
  EXPECT_EQ(written({1, 1, 1, 2}), "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }");
  EXPECT_EQ(written({0}), "{}");
  EXPECT_EQ(written({2, 0}), "{ {}, {} }");
  EXPECT_EQ(written({0, 2}), "{  }");
  EXPECT_EQ(written({2, 0, 3}), "{ {  }, {  } }");
}

TEST(LiteralText, NumbersAsXlaPrintsThem) {
  auto number = [](ElementType type, double value) {
    Literal literal(Shape::Scalar(type));
    literal.SetDouble(0, value);
    ExpectSame(literal);
    return WriteLiteral(literal);
  };
  EXPECT_EQ(number(ElementType::kF32, 0.1f), "0.1");
  EXPECT_EQ(number(ElementType::kF32, 1e-5f), "1e-05");
  EXPECT_EQ(number(ElementType::kF32, 1e10f), "1e+10");
  EXPECT_EQ(number(ElementType::kF32, 16777217), "16777216");
  EXPECT_EQ(number(ElementType::kF32, 1.0f / 3), "0.333333343");
  EXPECT_EQ(number(ElementType::kF64, 1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(number(ElementType::kBF16, 0.1), "0.1001");
  EXPECT_EQ(number(ElementType::kF16, 0.1), "0.099976");
  EXPECT_EQ(number(ElementType::kF32, -0.0), "-0");
  EXPECT_EQ(number(ElementType::kPred, 1), "true");
}

// A bounded dimension holds its bound; without a bound there is nothing to hold.
TEST(LiteralText, OfDynamicShapes) {
  const auto read = [](const std::string& constant) {
    return ReadModule("HloModule m\nENTRY e {\n  ROOT c = " + constant + "\n}\n");
  };
  const auto module = read("s32[<=4]{0} constant({0, 1, -2, 3})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_NE(WriteModule(**module).find("s32[<=4]{0} constant({0, 1, -2, 3})"), std::string::npos)
      << WriteModule(**module);
  EXPECT_EQ((*module)->entry()->root()->literal()->GetInteger(2), -2);
  EXPECT_FALSE(read("s32[<=4]{0} constant({0, 1})").ok());
  EXPECT_FALSE(read("s32[?]{0} constant({0, 1})").ok());
}

TEST(LiteralText, Tuples) {
  Literal nested = Literal::Tuple({});
  std::vector<Literal> elements;
  elements.push_back(Literal::Scalar<int32_t>(ElementType::kS32, 7));
  elements.push_back(std::move(nested));
  Literal tuple = Literal::Tuple(std::move(elements));
  EXPECT_EQ(WriteLiteral(tuple), "( 7, () )");
  ExpectSame(tuple);
}

TEST(LiteralText, AcceptedForms) {
  struct Row {
    Shape shape;
    const char* text;
    const char* written;
  };
  const Row rows[] = {
      {Shape::Array(ElementType::kPred, {3}), "{true, 0, 5}", "{1, 0, 1}"},
      {Shape::Scalar(ElementType::kF32), "3e+2", "300"},
      {Shape::Scalar(ElementType::kF64), "1e-400", "0"},
      {Shape::Scalar(ElementType::kU64), "18446744073709551615", "18446744073709551615"},
      {Shape::Scalar(ElementType::kU64), "-1", "18446744073709551615"},
      {Shape::Scalar(ElementType::kBF16), "65505", "6.554e+04"},
      {Shape::Scalar(ElementType::kC64), "(1, -inf)", "(1, -inf)"},
      {Shape::Array(ElementType::kS32, {2}), "{1 /*c*/ 2}", "{1, 2}"},
      {Shape::Scalar(ElementType::kF32), "-nan(0x1234)", "-nan(0x1234)"},
      // One element has no need of braces, whatever the rank.
      {Shape::Array(ElementType::kS32, {1}), "4", "{4}"},
      {Shape::Array(ElementType::kF32, {1, 1}), "-2.5", "{ {-2.5} }"},
      {Shape::Array(ElementType::kC64, {1}), "(1, 2)", "{(1, 2)}"},
      {Shape::Array(ElementType::kPred, {1}), "true", "{1}"},
      // Types without infinity have what a conversion gives them.
      {Shape::Scalar(ElementType::kF8E4M3FN), "-inf", "-nan"},
      {Shape::Scalar(ElementType::kF8E5M2FNUZ), "inf", "nan"},
      {Shape::Scalar(ElementType::kF4E2M1FN), "-inf", "-6"},
  };
  for (const Row& row : rows) {
    absl::StatusOr<Literal> literal = ReadLiteral(row.shape, row.text);
    ASSERT_TRUE(literal.ok()) << row.text << ": " << literal.status();
    EXPECT_EQ(WriteLiteral(*literal), row.written);
  }
}

}  // namespace
}  // namespace assay
