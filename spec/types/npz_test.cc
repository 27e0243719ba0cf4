// Archives written and read back, and damaged ones, which are errors.
#include <zlib.h>

#include "spec/types/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spec/base/strings.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string TemporaryPath(const std::string& name) {
  return (std::filesystem::path(::testing::TempDir()) / name).string();
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// An array of the type whose codes run through their range.
Literal Counting(ElementType type, std::initializer_list<int64_t> dimensions) {
  Literal literal(Shape::Array(type, dimensions));
  auto bytes = literal.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  if (BitWidth(type) < 8) {
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      literal.SetBits(i, static_cast<uint64_t>(i) & ((uint64_t{1} << BitWidth(type)) - 1));
    }
  }
  return literal;
}

TEST(Npz, EveryArrayTypeSurvives) {
  std::string path = TemporaryPath("every_type.npz");
  std::vector<Literal> literals;
  for (const TypeInfo& info : AllTypes()) {
    if (!IsArrayType(info.type)) continue;
    literals.push_back(Counting(info.type, {3, 5}));
    literals.push_back(Counting(info.type, {}));
    literals.push_back(Counting(info.type, {4, 0, 2}));
  }
  std::vector<std::pair<std::string, const Literal*>> arrays;
  for (size_t i = 0; i < literals.size(); ++i) arrays.emplace_back(StrCat("a", i), &literals[i]);
  ASSERT_TRUE(WriteNpz(path, arrays).ok());
  auto read = ReadNpz(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), literals.size());
  for (size_t i = 0; i < literals.size(); ++i) {
    absl::StatusOr<Literal> back = AsShape(read->at(StrCat("a", i)), literals[i].shape());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(back->BitwiseEqual(literals[i])) << literals[i].shape().ToString();
  }
}

TEST(Npz, WrongShapeOrTypeIsNamed) {
  Literal array = Counting(ElementType::kF32, {2, 3});
  for (const Shape& shape : {Shape::Array(ElementType::kF32, {3, 2}),
                             Shape::Array(ElementType::kS32, {2, 3}), Shape::Token()}) {
    auto status = AsShape(array, shape).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("f32[2,3]"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(shape.ToString()));
  }
  Literal bytes = Counting(ElementType::kU8, {16});
  EXPECT_FALSE(AsShape(bytes, Shape::Array(ElementType::kU4, {16})).ok()) << "codes above 15";
}

TEST(Npz, ABoundedDimensionHoldsItsBound) {
  const Literal array = Counting(ElementType::kS32, {4});
  Shape bounded = Shape::Array(ElementType::kS32, {4});
  bounded.set_dynamic(0, true);
  const auto value = AsShape(array, bounded);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->shape().ToString(), bounded.ToString());
  EXPECT_EQ(value->GetInteger(3), array.GetInteger(3));
  const std::string path = TemporaryPath("bounded.npz");
  ASSERT_TRUE(WriteNpz(path, {{"a", &*value}}).ok());
  const auto read = ReadNpz(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(AsShape(read->at("a"), bounded)->BitwiseEqual(*value));
}

TEST(Npz, LimitHoldsBeforeAllocation) {
  std::string path = TemporaryPath("limit.npz");
  Literal array = Counting(ElementType::kF32, {1000});
  ASSERT_TRUE(WriteNpz(path, {{"a", &array}}).ok());
  EXPECT_EQ(ParseNpz(FileBytes(path), 1000).status().code(), absl::StatusCode::kResourceExhausted);
}

// A deflated, Fortran-ordered int16 array as numpy.savez_compressed writes it (zip64 fields in the
// local header included).
TEST(Npz, DeflatedFortranOrder) {
  std::string bytes = FileBytes(StrCat(ASSAY_SOURCE_DIR, "/spec/types/testdata/fortran_i2.npz"));
  ASSERT_FALSE(bytes.empty());
  auto arrays = ParseNpz(bytes);
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  const Literal& a = arrays->at("a");
  EXPECT_EQ(a.shape().ToString(), "s16[2,3]");
  EXPECT_EQ(a.ToString(), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
}

// numpy has no names for 8-bit floats and integers below a byte: it writes their bytes as '<V1', or
// as '<f1', and the type that is wanted says what they are.
TEST(Npz, BytesOfTypesThatNumpyDoesNotKnow) {
  const Literal array = Counting(ElementType::kU8, {3});
  const std::string path = TemporaryPath("bytes.npz");
  ASSERT_TRUE(WriteNpz(path, {{"a", &array}}).ok());
  const std::string written = FileBytes(path);
  for (std::string_view descr : {"<V1", "|V1", "<f1", "|f1"}) {
    SCOPED_TRACE(descr);
    std::string bytes = written;
    // The check sum is of the content: the array is taken from the archive's own bytes.
    const size_t at = bytes.find("|u1");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 3, descr);
    const size_t start = bytes.find("\x93NUMPY");
    const size_t length = bytes.find("PK\x01\x02") - start;
    const uint32_t sum =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()) + start,
                                    static_cast<unsigned>(length)));
    const size_t directory = bytes.find("PK\x01\x02");
    for (size_t i = 0; i < 4; ++i)
      bytes[14 + i] = bytes[directory + 16 + i] = static_cast<char>(sum >> (8 * i) & 0xFF);
    const auto read = ParseNpz(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    for (ElementType type : {ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kF8E8M0FNU})
      EXPECT_TRUE(AsShape(read->at("a"), Shape::Array(type, {3})).ok());
  }
}

TEST(Npz, SignedIntegersBelowAByteComeAsCodes) {
  Literal codes(Shape::Array(ElementType::kU8, {4}));
  const int64_t given[] = {0x0F, 0x07, 0xF8, 0x08}, wanted[] = {-1, 7, -8, -8};
  for (int64_t i = 0; i < 4; ++i) codes.SetInteger(i, given[i]);
  const auto read = AsShape(codes, Shape::Array(ElementType::kS4, {4}));
  ASSERT_TRUE(read.ok()) << read.status();
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(read->GetInteger(i), wanted[i]);
  codes.SetInteger(0, 0x10);
  EXPECT_FALSE(AsShape(codes, Shape::Array(ElementType::kS4, {4})).ok());
}

// Every cut and every flipped byte is an error or an archive, never a crash.
TEST(Npz, DamagedArchives) {
  std::string bytes = FileBytes(StrCat(ASSAY_SOURCE_DIR, "/spec/types/testdata/fortran_i2.npz"));
  ASSERT_TRUE(ParseNpz(bytes).ok());
  int readable = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(ParseNpz(bytes.substr(0, i)).ok()) << "cut at " << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      readable += ParseNpz(damaged, 1 << 20).ok();
    }
  }
  // Flips in fields that carry nothing here (times, versions) leave it readable; others must not.
  EXPECT_LT(readable, static_cast<int>(bytes.size()) * 8 / 2);
}

// A small archive can hold an array that does not fit into memory: it is refused by the sizes in
// its directory.
TEST(Npz, AnArrayThatIsNotAdmittedIsNotUnpacked) {
  const Literal array(Shape::Array(ElementType::kF32, {1000}));
  const std::string path = testing::TempDir() + "admission.npz";
  ASSERT_TRUE(WriteNpz(path, {{"in0", &array}, {"extra", &array}}).ok());
  std::vector<std::string> asked;
  const auto admit = [&](std::string_view name, int64_t bytes) -> absl::Status {
    EXPECT_GE(bytes, 4000);
    asked.emplace_back(name);
    return name == "in0" ? absl::OkStatus() : absl::InvalidArgumentError("nobody wants extra");
  };
  const auto refused = ReadNpz(path, kDefaultLiteralLimit, admit);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("nobody wants extra"), absl::string_view::npos);
  EXPECT_EQ(asked, (std::vector<std::string>{"in0", "extra"}));
  EXPECT_EQ(ReadNpz(path).value().size(), 2);
}

}  // namespace
}  // namespace assay
