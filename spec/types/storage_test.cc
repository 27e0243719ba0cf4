// Blocks of literals: what is kept, what is copied, what is left undefined.
#include "spec/types/storage.h"

#include <algorithm>
#include <cstring>

#include "gtest/gtest.h"
#include "spec/types/literal.h"

namespace assay {
namespace {

constexpr size_t kLarge = size_t{3} << 20;

TEST(Storage, LargeBlocksComeBack) {
  uint8_t* first = nullptr;
  {
    Storage block(kLarge);
    first = block.data();
  }
  const Storage again(kLarge - 100);
  EXPECT_EQ(again.data(), first);
  const Storage other(kLarge);
  EXPECT_NE(other.data(), again.data());
}

TEST(Storage, BlocksThatAreMuchLargerAreNotSpent) {
  uint8_t* large = nullptr;
  {
    Storage block(16 * kLarge);
    large = block.data();
  }
  const Storage small(kLarge);
  EXPECT_NE(small.data(), large);
}

TEST(Storage, CopiesAreEqualAndApart) {
  for (const size_t size : {size_t{0}, size_t{100}, kLarge}) {
    Storage original(size);
    if (size > 0) std::memset(original.data(), 7, size);
    Storage copy = original;
    EXPECT_TRUE(copy == original);
    if (size == 0) continue;
    copy.data()[size - 1] = 8;
    EXPECT_FALSE(copy == original);
    original = copy;
    EXPECT_TRUE(copy == original);
  }
}

TEST(Storage, LiteralsThatAreNotUndefinedAreZeroInUsedMemory) {
  const Shape shape = Shape::Array(ElementType::kU8, {static_cast<int64_t>(kLarge)});
  {
    Literal used = *Literal::CreateUndefined(shape);
    std::memset(used.bytes().data(), 7, used.bytes().size());
  }
  const Literal zeros(shape);
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  EXPECT_TRUE(std::all_of(zeros.bytes().begin(), zeros.bytes().end(), is_zero));
}

TEST(Storage, UndefinedLiteralsHaveALimitToo) {
  const Shape shape = Shape::Array(ElementType::kF32, {1024});
  EXPECT_TRUE(Literal::CreateUndefined(shape, 4096).ok());
  EXPECT_EQ(Literal::CreateUndefined(shape, 4095).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace assay
