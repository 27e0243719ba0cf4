// Operations on 32 lanes at once: pure functions of up to three registers. A register is 32 values
// of one type, side by side.
#pragma once

#include <cstdint>

#include "optimized/gpu/simulator/lanes/stamps.h"

namespace assay::gpu {

inline constexpr int kLanes = 32;
#define ASSAY_LANES for (int k = 0; k < kLanes; ++k)

// Integers of other widths live zero-extended in the next larger type; truths in kI8, as 0 and 1;
// pointers in kI64.
enum LaneType : uint8_t { kI8, kI16, kI32, kI64, kI128, kF16, kBF16, kF32, kF64, kLaneTypes };

enum LaneOp : uint8_t {
  // Integers. Shifts by too much give 0 or the sign; division by 0 gives 0.
  kAdd,
  kSub,
  kMul,
  kUDiv,
  kSDiv,
  kURem,
  kSRem,
  kShl,
  kLShr,
  kAShr,
  kAnd,
  kOr,
  kXor,
  kSMin,
  kSMax,
  kUMin,
  kUMax,
  kAbs,
  kPopulation,
  kLeadingZeros,
  kTrailingZeros,
  kSwapBytes,
  kReverseBits,
  kFunnelLeft,
  kFunnelRight,
  kSAddSat,
  kUAddSat,
  kSSubSat,
  kUSubSat,
  kSAddOverflow,
  kUAddOverflow,
  kSSubOverflow,
  kUSubOverflow,
  kSMulOverflow,
  kUMulOverflow,
  kEqual,
  kNotEqual,
  kULess,
  kULessEqual,
  kSLess,
  kSLessEqual,
  // a + sign-extended b (of this type) times the first lane of c, as pointers are computed; the
  // same with a shift.
  kIndexTimes,
  kIndexShift,
  // Floats.
  kFAdd,
  kFSub,
  kFMul,
  kFDiv,
  kFRem,
  kFNeg,
  kFAbs,
  kCopySign,
  kFma,
  kSqrt,
  kFloor,
  kCeil,
  kTrunc,
  kRoundEven,
  kRound,
  kMinNum,
  kMaxNum,
  kMinimum,
  kMaximum,
  kLdexp,
  kOrderedEqual,
  kOrderedLess,
  kOrderedLessEqual,
  kOrderedNotEqual,
  kOrdered,
  kUnorderedEqual,
  kUnorderedLess,
  kUnorderedLessEqual,
  kUnorderedNotEqual,
  kUnordered,
  // a (of kI8) ? b : c, by size.
  kSelect,
  kCopy,
  kLaneOps
};

enum LaneConversion : uint8_t {
  kZeroExtend,  // or cut off
  kSignExtend,
  kSignedToFloat,
  kUnsignedToFloat,
  kFloatToSigned,  // saturating, NaN is 0
  kFloatToUnsigned,
  kFloatToFloat,
  kLaneConversions
};

using LaneFunction = void (*)(void* result, const void* a, const void* b, const void* c);

// Tells what 32 addresses have in common, in the lanes that `mask` names.
struct AddressSurvey {
  bool is_inside = true;       // each address - base <= span
  bool is_consecutive = true;  // each is `step` after the lane before
  bool is_same = true;
  uint64_t bits = 0;  // all of them, or-ed
};
using SurveyFunction = AddressSurvey (*)(const uint64_t* addresses, uint32_t mask, uint64_t base,
                                         uint64_t span, uint64_t step);
// to[lane] = from[lane] in the lanes of the mask.
using BlendFunction = void (*)(void* to, const void* from, uint32_t mask);
// 32 values of memory, `step` bytes apart, to a register or from one.
using SpreadFunction = void (*)(void* to, const void* from, uint64_t step);
// Tells whether a read, or a write, of all of a range is ordered with all that was done there. If
// so the stamps are renewed.
using StampFunction = bool (*)(const StampRange& range, const StampLimits& limits);
// A shuffle of 32-bit values: the lane that each lane takes its value from, by what instructions
// `up`, `down`, `bfly` and `idx` (0 to 3) say of its own number, offset and clamp; and whether that
// lane is within its segment.
struct ShuffleLanes {
  const uint32_t* values;
  const uint32_t* offsets;
  const uint32_t* clamps;
  uint32_t* results;
  uint32_t* from;
  uint8_t* in_range;
};
using ShuffleFunction = void (*)(const ShuffleLanes& lanes);

struct LaneTable {
  LaneFunction ops[kLaneOps][kLaneTypes] = {};
  LaneFunction conversions[kLaneConversions][kLaneTypes][kLaneTypes] = {};  // [from][to]
  SurveyFunction survey = nullptr;
  StampFunction read_stamps = nullptr, write_stamps = nullptr;
  ShuffleFunction shuffle[4] = {};
  BlendFunction blend[5] = {};                      // by binary logarithm of the bytes
  SpreadFunction collect[5] = {}, scatter[5] = {};  // likewise
};

// One table per instruction set of hosts. They give the same bits.
LaneTable BaselineLanes();
LaneTable Avx2Lanes();
LaneTable Avx512Lanes();

// The best one for this host.
const LaneTable& Lanes();

inline int BytesOf(LaneType type) {
  constexpr int kBytes[] = {1, 2, 4, 8, 16, 2, 2, 4, 8};
  return kBytes[type];
}

}  // namespace assay::gpu
