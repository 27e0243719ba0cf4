// The table of loops over 32 lanes. Included by one source per instruction set, each of which names
// the function that gives its table; all else has internal linkage, so that the linker cannot mix
// them.
#pragma once

#include <cstdint>

#include "optimized/gpu/simulator/lanes/float_lanes.h"
#include "optimized/gpu/simulator/lanes/integer_lanes.h"
#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"
#include "optimized/gpu/simulator/lanes/memory_lanes.h"

namespace assay::gpu {
namespace {

using OpRow = LaneFunction (&)[kLaneTypes];

template <class Op>
void Integers1(OpRow row) {
  row[kI8] = Map1<Op, uint8_t, uint8_t>;
  row[kI16] = Map1<Op, uint16_t, uint16_t>;
  row[kI32] = Map1<Op, uint32_t, uint32_t>;
  row[kI64] = Map1<Op, uint64_t, uint64_t>;
  row[kI128] = Map1<Op, U128, U128>;
}
template <class Op>
void Integers2(OpRow row) {
  row[kI8] = Map2<Op, uint8_t, uint8_t>;
  row[kI16] = Map2<Op, uint16_t, uint16_t>;
  row[kI32] = Map2<Op, uint32_t, uint32_t>;
  row[kI64] = Map2<Op, uint64_t, uint64_t>;
  row[kI128] = Map2<Op, U128, U128>;
}
template <class Op>
void Integers3(OpRow row) {
  row[kI8] = Map3<Op, uint8_t, uint8_t>;
  row[kI16] = Map3<Op, uint16_t, uint16_t>;
  row[kI32] = Map3<Op, uint32_t, uint32_t>;
  row[kI64] = Map3<Op, uint64_t, uint64_t>;
  row[kI128] = Map3<Op, U128, U128>;
}
template <class Op>
void IntegerTruths(OpRow row) {
  row[kI8] = Map2<Op, uint8_t, uint8_t>;
  row[kI16] = Map2<Op, uint8_t, uint16_t>;
  row[kI32] = Map2<Op, uint8_t, uint32_t>;
  row[kI64] = Map2<Op, uint8_t, uint64_t>;
  row[kI128] = Map2<Op, uint8_t, U128>;
}
template <class Op>
void Floats1(OpRow row) {
  row[kF16] = MapFloat1<Op, Half>;
  row[kBF16] = MapFloat1<Op, Brain>;
  row[kF32] = MapFloat1<Op, float>;
  row[kF64] = MapFloat1<Op, double>;
}
template <class Op>
void Floats2(OpRow row) {
  row[kF16] = MapFloat2<Op, Half>;
  row[kBF16] = MapFloat2<Op, Brain>;
  row[kF32] = MapFloat2<Op, float>;
  row[kF64] = MapFloat2<Op, double>;
}
template <class Op>
void FloatTruths(OpRow row) {
  row[kF16] = MapFloatTruth<Op, Half>;
  row[kBF16] = MapFloatTruth<Op, Brain>;
  row[kF32] = MapFloatTruth<Op, float>;
  row[kF64] = MapFloatTruth<Op, double>;
}

inline void FillIntegers(LaneTable& table) {
  Integers2<AddOp>(table.ops[kAdd]);
  Integers2<SubOp>(table.ops[kSub]);
  Integers2<MulOp>(table.ops[kMul]);
  Integers2<UDivOp>(table.ops[kUDiv]);
  Integers2<SDivOp>(table.ops[kSDiv]);
  Integers2<URemOp>(table.ops[kURem]);
  Integers2<SRemOp>(table.ops[kSRem]);
  Integers2<ShlOp>(table.ops[kShl]);
  Integers2<LShrOp>(table.ops[kLShr]);
  Integers2<AShrOp>(table.ops[kAShr]);
  Integers2<AndOp>(table.ops[kAnd]);
  Integers2<OrOp>(table.ops[kOr]);
  Integers2<XorOp>(table.ops[kXor]);
  Integers2<SMinOp>(table.ops[kSMin]);
  Integers2<SMaxOp>(table.ops[kSMax]);
  Integers2<UMinOp>(table.ops[kUMin]);
  Integers2<UMaxOp>(table.ops[kUMax]);
  Integers2<SAddSatOp>(table.ops[kSAddSat]);
  Integers2<UAddSatOp>(table.ops[kUAddSat]);
  Integers2<SSubSatOp>(table.ops[kSSubSat]);
  Integers2<USubSatOp>(table.ops[kUSubSat]);
  Integers1<AbsOp>(table.ops[kAbs]);
  Integers1<PopulationOp>(table.ops[kPopulation]);
  Integers1<LeadingZerosOp>(table.ops[kLeadingZeros]);
  Integers1<TrailingZerosOp>(table.ops[kTrailingZeros]);
  Integers1<SwapBytesOp>(table.ops[kSwapBytes]);
  Integers1<ReverseBitsOp>(table.ops[kReverseBits]);
  Integers3<FunnelLeftOp>(table.ops[kFunnelLeft]);
  Integers3<FunnelRightOp>(table.ops[kFunnelRight]);
  IntegerTruths<EqualOp>(table.ops[kEqual]);
  IntegerTruths<NotEqualOp>(table.ops[kNotEqual]);
  IntegerTruths<ULessOp>(table.ops[kULess]);
  IntegerTruths<ULessEqualOp>(table.ops[kULessEqual]);
  IntegerTruths<SLessOp>(table.ops[kSLess]);
  IntegerTruths<SLessEqualOp>(table.ops[kSLessEqual]);
  IntegerTruths<SAddOverflowOp>(table.ops[kSAddOverflow]);
  IntegerTruths<UAddOverflowOp>(table.ops[kUAddOverflow]);
  IntegerTruths<SSubOverflowOp>(table.ops[kSSubOverflow]);
  IntegerTruths<USubOverflowOp>(table.ops[kUSubOverflow]);
  IntegerTruths<SMulOverflowOp>(table.ops[kSMulOverflow]);
  IntegerTruths<UMulOverflowOp>(table.ops[kUMulOverflow]);
  table.ops[kIndexTimes][kI8] = IndexTimes<uint8_t>;
  table.ops[kIndexTimes][kI16] = IndexTimes<uint16_t>;
  table.ops[kIndexTimes][kI32] = IndexTimes<uint32_t>;
  table.ops[kIndexTimes][kI64] = IndexTimes<uint64_t>;
  table.ops[kIndexShift][kI8] = IndexShift<uint8_t>;
  table.ops[kIndexShift][kI16] = IndexShift<uint16_t>;
  table.ops[kIndexShift][kI32] = IndexShift<uint32_t>;
  table.ops[kIndexShift][kI64] = IndexShift<uint64_t>;
}

template <class T>
void BitsOfFloats(LaneTable& table, LaneType type) {
  using Bits = typename BitsOfFloat<T>::Type;
  table.ops[kFNeg][type] = Map1<NegateOp, Bits, Bits>;
  table.ops[kFAbs][type] = Map1<WithoutSignOp, Bits, Bits>;
  table.ops[kCopySign][type] = Map2<CopySignOp, Bits, Bits>;
  table.ops[kFma][type] = MapFma<T>;
  table.ops[kLdexp][type] = MapLdexp<T>;
}

inline void FillFloats(LaneTable& table) {
  Floats2<FAddOp>(table.ops[kFAdd]);
  Floats2<FSubOp>(table.ops[kFSub]);
  Floats2<FMulOp>(table.ops[kFMul]);
  Floats2<FDivOp>(table.ops[kFDiv]);
  Floats2<FRemOp>(table.ops[kFRem]);
  Floats1<SqrtOp>(table.ops[kSqrt]);
  Floats1<FloorOp>(table.ops[kFloor]);
  Floats1<CeilOp>(table.ops[kCeil]);
  Floats1<TruncOp>(table.ops[kTrunc]);
  Floats1<RoundEvenOp>(table.ops[kRoundEven]);
  Floats1<RoundOp>(table.ops[kRound]);
  Floats2<MinNumOp>(table.ops[kMinNum]);
  Floats2<MaxNumOp>(table.ops[kMaxNum]);
  Floats2<MinimumOp>(table.ops[kMinimum]);
  Floats2<MaximumOp>(table.ops[kMaximum]);
  FloatTruths<OrderedEqualOp>(table.ops[kOrderedEqual]);
  FloatTruths<OrderedLessOp>(table.ops[kOrderedLess]);
  FloatTruths<OrderedLessEqualOp>(table.ops[kOrderedLessEqual]);
  FloatTruths<OrderedNotEqualOp>(table.ops[kOrderedNotEqual]);
  FloatTruths<OrderedOp>(table.ops[kOrdered]);
  FloatTruths<UnorderedEqualOp>(table.ops[kUnorderedEqual]);
  FloatTruths<UnorderedLessOp>(table.ops[kUnorderedLess]);
  FloatTruths<UnorderedLessEqualOp>(table.ops[kUnorderedLessEqual]);
  FloatTruths<UnorderedNotEqualOp>(table.ops[kUnorderedNotEqual]);
  FloatTruths<UnorderedOp>(table.ops[kUnordered]);
  BitsOfFloats<Half>(table, kF16);
  BitsOfFloats<Brain>(table, kBF16);
  BitsOfFloats<float>(table, kF32);
  BitsOfFloats<double>(table, kF64);
}

template <class T>
void FillMoves(LaneTable& table, LaneType type) {
  table.ops[kSelect][type] = Select<T>;
  table.ops[kCopy][type] = Copy<T>;
}

template <class From>
void ConversionsOfInteger(LaneTable& table, LaneType from) {
  LaneFunction(&zero)[kLaneTypes] = table.conversions[kZeroExtend][from];
  LaneFunction(&sign)[kLaneTypes] = table.conversions[kSignExtend][from];
  zero[kI8] = ToInteger<From, uint8_t, false>;
  zero[kI16] = ToInteger<From, uint16_t, false>;
  zero[kI32] = ToInteger<From, uint32_t, false>;
  zero[kI64] = ToInteger<From, uint64_t, false>;
  zero[kI128] = ToInteger<From, U128, false>;
  sign[kI8] = ToInteger<From, uint8_t, true>;
  sign[kI16] = ToInteger<From, uint16_t, true>;
  sign[kI32] = ToInteger<From, uint32_t, true>;
  sign[kI64] = ToInteger<From, uint64_t, true>;
  sign[kI128] = ToInteger<From, U128, true>;
  LaneFunction(&is_signed)[kLaneTypes] = table.conversions[kSignedToFloat][from];
  LaneFunction(&is_unsigned)[kLaneTypes] = table.conversions[kUnsignedToFloat][from];
  is_signed[kF16] = MapIntegerToFloat<From, Half, true>;
  is_signed[kBF16] = MapIntegerToFloat<From, Brain, true>;
  is_signed[kF32] = MapIntegerToFloat<From, float, true>;
  is_signed[kF64] = MapIntegerToFloat<From, double, true>;
  is_unsigned[kF16] = MapIntegerToFloat<From, Half, false>;
  is_unsigned[kBF16] = MapIntegerToFloat<From, Brain, false>;
  is_unsigned[kF32] = MapIntegerToFloat<From, float, false>;
  is_unsigned[kF64] = MapIntegerToFloat<From, double, false>;
}

template <class From>
void ConversionsOfFloat(LaneTable& table, LaneType from) {
  LaneFunction(&is_signed)[kLaneTypes] = table.conversions[kFloatToSigned][from];
  LaneFunction(&is_unsigned)[kLaneTypes] = table.conversions[kFloatToUnsigned][from];
  is_signed[kI8] = MapFloatToInteger<From, uint8_t, true>;
  is_signed[kI16] = MapFloatToInteger<From, uint16_t, true>;
  is_signed[kI32] = MapFloatToInteger<From, uint32_t, true>;
  is_signed[kI64] = MapFloatToInteger<From, uint64_t, true>;
  is_signed[kI128] = MapFloatToInteger<From, U128, true>;
  is_unsigned[kI8] = MapFloatToInteger<From, uint8_t, false>;
  is_unsigned[kI16] = MapFloatToInteger<From, uint16_t, false>;
  is_unsigned[kI32] = MapFloatToInteger<From, uint32_t, false>;
  is_unsigned[kI64] = MapFloatToInteger<From, uint64_t, false>;
  is_unsigned[kI128] = MapFloatToInteger<From, U128, false>;
  LaneFunction(&floats)[kLaneTypes] = table.conversions[kFloatToFloat][from];
  floats[kF16] = MapFloatToFloat<From, Half>;
  floats[kBF16] = MapFloatToFloat<From, Brain>;
  floats[kF32] = MapFloatToFloat<From, float>;
  floats[kF64] = MapFloatToFloat<From, double>;
}

template <class T>
void FillPlaces(LaneTable& table, int shift) {
  table.blend[shift] = Blend<T>;
  table.collect[shift] = Collect<T>;
  table.scatter[shift] = Scatter<T>;
}

inline LaneTable MakeLaneTable() {
  LaneTable table;
  table.survey = Survey;
  table.read_stamps = ReadStamps;
  table.write_stamps = WriteStamps;
  table.shuffle[0] = ShuffleBy<0>;
  table.shuffle[1] = ShuffleBy<1>;
  table.shuffle[2] = ShuffleBy<2>;
  table.shuffle[3] = ShuffleBy<3>;
  FillPlaces<uint8_t>(table, 0);
  FillPlaces<uint16_t>(table, 1);
  FillPlaces<uint32_t>(table, 2);
  FillPlaces<uint64_t>(table, 3);
  FillPlaces<U128>(table, 4);
  FillIntegers(table);
  FillFloats(table);
  FillMoves<uint8_t>(table, kI8);
  FillMoves<uint16_t>(table, kI16);
  FillMoves<uint32_t>(table, kI32);
  FillMoves<uint64_t>(table, kI64);
  FillMoves<U128>(table, kI128);
  FillMoves<uint16_t>(table, kF16);
  FillMoves<uint16_t>(table, kBF16);
  FillMoves<uint32_t>(table, kF32);
  FillMoves<uint64_t>(table, kF64);
  ConversionsOfInteger<uint8_t>(table, kI8);
  ConversionsOfInteger<uint16_t>(table, kI16);
  ConversionsOfInteger<uint32_t>(table, kI32);
  ConversionsOfInteger<uint64_t>(table, kI64);
  ConversionsOfInteger<U128>(table, kI128);
  ConversionsOfFloat<Half>(table, kF16);
  ConversionsOfFloat<Brain>(table, kBF16);
  ConversionsOfFloat<float>(table, kF32);
  ConversionsOfFloat<double>(table, kF64);
  return table;
}

}  // namespace
}  // namespace assay::gpu
