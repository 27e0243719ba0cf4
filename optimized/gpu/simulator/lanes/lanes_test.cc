// The loops over lanes that are compiled for several instruction sets give the same bits (of NaN:
// that it is one).
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"

namespace assay::gpu {
namespace {

constexpr int kMostBytes = 16 * kLanes;
struct alignas(64) LaneRegister {
  std::array<uint8_t, kMostBytes> bytes = {};
};

// Bytes in which the edges of every type are frequent.
LaneRegister RandomRegister(std::mt19937_64& random) {
  constexpr uint64_t kEdges[] = {0,
                                 1,
                                 ~uint64_t{0},
                                 uint64_t{1} << 63,
                                 0x7FFFFFFFFFFFFFFF,
                                 0x7F8000007F800000,
                                 0x3F8000003F800000,
                                 0x80007C0033FF0001,
                                 0x7FF0000000000000,
                                 0x43E0000000000000,
                                 0x41DFFFFFFFE00000,
                                 0x4B7FFFFF477FE000,
                                 0x0000000100000001,
                                 0x000FFFFFFFFFFFFF};
  LaneRegister made;
  for (int at = 0; at < kMostBytes; at += 8) {
    const uint64_t word = random() % 2 == 0 ? kEdges[random() % std::size(kEdges)] : random();
    std::memcpy(&made.bytes[at], &word, 8);
  }
  return made;
}

// One NaN for all.
void MakeNansAlike(LaneType type, LaneRegister& values) {
  if (type < kF16) return;
  const int bytes = BytesOf(type);
  const uint64_t infinity = type == kF16    ? 0x7C00
                            : type == kBF16 ? 0x7F80
                            : type == kF32  ? 0x7F800000
                                            : 0x7FF0000000000000;
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t value = 0;
    std::memcpy(&value, &values.bytes[lane * bytes], bytes);
    if ((value & ~sign) <= infinity) continue;
    value = infinity | 1;
    std::memcpy(&values.bytes[lane * bytes], &value, bytes);
  }
}

bool GivesTruths(int op) {
  return (op >= kSAddOverflow && op <= kSLessEqual) || (op >= kOrderedEqual && op <= kUnordered);
}

std::vector<LaneTable> TablesOfHost() {
  std::vector<LaneTable> tables = {BaselineLanes()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    tables.push_back(Avx2Lanes());
  }
#endif
  tables.push_back(Lanes());
  return tables;
}

TEST(LaneTables, GiveTheSameBits) {
  const std::vector<LaneTable> tables = TablesOfHost();
  std::mt19937_64 random(1);
  int compared = 0;
  const auto compare = [&](auto function_of, LaneType result_type, const char* what, int number) {
    if (function_of(tables[0]) == nullptr) return;
    for (int round = 0; round < 40; ++round) {
      LaneRegister a = RandomRegister(random);
      const LaneRegister b = RandomRegister(random), c = RandomRegister(random);
      if (number == kSelect) {
        for (uint8_t& truth : a.bytes) truth &= 1;
      }
      LaneRegister first;
      function_of(tables[0])(&first, &a, &b, &c);
      MakeNansAlike(result_type, first);
      for (size_t k = 1; k < tables.size(); ++k) {
        LaneRegister other;
        function_of(tables[k])(&other, &a, &b, &c);
        MakeNansAlike(result_type, other);
        ASSERT_EQ(first.bytes, other.bytes) << what << " " << number << ", table " << k;
        ++compared;
      }
    }
  };
  for (int op = 0; op < kLaneOps; ++op) {
    for (int type = 0; type < kLaneTypes; ++type) {
      const auto result = static_cast<LaneType>(GivesTruths(op) ? kI8 : type);
      compare([&](const LaneTable& table) { return table.ops[op][type]; }, result, "operation", op);
    }
  }
  for (int how = 0; how < kLaneConversions; ++how) {
    for (int from = 0; from < kLaneTypes; ++from) {
      for (int to = 0; to < kLaneTypes; ++to) {
        compare([&](const LaneTable& table) { return table.conversions[how][from][to]; },
                static_cast<LaneType>(to), "conversion", -1 - how);
      }
    }
  }
  EXPECT_GT(compared, 10000);
}

}  // namespace
}  // namespace assay::gpu
