// Vectors of integers and truths, and the moves of lanes, 32 bytes at a time. What has no
// instruction is done lane by lane.
#include <algorithm>
#include <array>
#include <string_view>

#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

// Instructions on lanes of one, two, four and eight bytes; nullptr: there is none.
using LaneOps = const VexOp* [4];

int SizeIndex(int bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; }

const VexOp* BinaryOp(unsigned opcode, const Kind& kind) {
  static constexpr LaneOps kAdds = {&kPaddb, &kPaddw, &kPaddd, &kPaddq};
  static constexpr LaneOps kSubs = {&kPsubb, &kPsubw, &kPsubd, &kPsubq};
  static constexpr LaneOps kMuls = {nullptr, &kPmullw, &kPmulld, nullptr};
  const int size = SizeIndex(kind.bytes);
  switch (opcode) {
    case llvm::Instruction::And:
      return &kAndPs;
    case llvm::Instruction::Or:
      return &kOrPs;
    case llvm::Instruction::Xor:
      return &kXorPs;
    case llvm::Instruction::Add:
      return kind.is_whole() ? kAdds[size] : nullptr;
    case llvm::Instruction::Sub:
      return kind.is_whole() ? kSubs[size] : nullptr;
    case llvm::Instruction::Mul:
      return kind.is_whole() ? kMuls[size] : nullptr;
    default:
      return nullptr;
  }
}

constexpr LaneOps kEquals = {&kPcmpeqb, &kPcmpeqw, &kPcmpeqd, &kPcmpeqq};
constexpr LaneOps kGreaters = {&kPcmpgtb, &kPcmpgtw, &kPcmpgtd, &kPcmpgtq};

const VexOp* MinMaxOp(llvm::Intrinsic::ID id, int bytes) {
  static constexpr LaneOps kSmin = {&kPminsb, &kPminsw, &kPminsd, nullptr};
  static constexpr LaneOps kSmax = {&kPmaxsb, &kPmaxsw, &kPmaxsd, nullptr};
  static constexpr LaneOps kUmin = {&kPminub, &kPminuw, &kPminud, nullptr};
  static constexpr LaneOps kUmax = {&kPmaxub, &kPmaxuw, &kPmaxud, nullptr};
  switch (id) {
    case llvm::Intrinsic::smin:
      return kSmin[SizeIndex(bytes)];
    case llvm::Intrinsic::smax:
      return kSmax[SizeIndex(bytes)];
    case llvm::Intrinsic::umin:
      return kUmin[SizeIndex(bytes)];
    case llvm::Intrinsic::umax:
      return kUmax[SizeIndex(bytes)];
    default:
      return nullptr;
  }
}

bool IsUnset(const llvm::Value& value) { return llvm::isa<llvm::UndefValue>(value); }

}  // namespace

Address FunctionTranslator::Area(int bytes) {
  if (areas_used_ == areas_.size()) areas_.push_back({0, 0});
  FrameArea& area = areas_[areas_used_++];
  if (area.bytes < bytes) area = {values_.NewFrameBytes(bytes, kPieceBytes), bytes};
  return Address::At(Gpr::kRbp, area.place);
}

Address FunctionTranslator::LaneAddress(const Value& value, int lane) {
  return values_.Slot(value).Plus(lane * values_.LaneBytes(value));
}

void FunctionTranslator::ByLanes(const Instruction& instruction) {
  const Kind kind = values_.KindOf(instruction);
  if (!kind.is_vector) return Refuse(std::string("an instruction: ") + instruction.getOpcodeName());
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const unsigned operands = call != nullptr ? call->arg_size() : instruction.getNumOperands();
  for (unsigned k = 0; k < operands; ++k) {
    const Value& operand = *instruction.getOperand(k);
    if (operand.getType()->isVectorTy() && !llvm::isa<llvm::Constant>(operand)) {
      (void)values_.InMemory(operand);
    }
  }
  for (lane_ = 0; lane_ < kind.lanes && values_.refused().empty(); ++lane_) {
    VisitScalar(instruction);
    values_.ReleasePins();
  }
  lane_ = -1;
  values_.DefineInSlot(instruction);
}

bool FunctionTranslator::HaveTruths(const Value& truth, int lane_bytes) {
  if (llvm::isa<llvm::Constant>(truth)) return true;
  const int from_bytes = values_.LaneBytes(truth);
  if (from_bytes == lane_bytes || widened_.contains(&truth)) return true;
  const int lanes = values_.KindOf(truth).lanes;
  Address at = values_.InMemory(truth);
  if (from_bytes > lane_bytes) {
    for (int bytes = from_bytes; bytes > lane_bytes; bytes /= 2) {
      at = HalveLanes(at, lanes, bytes);
    }
    widened_[&truth] = at;
    return true;
  }
  static constexpr const VexOp* kWidenings[3][4] = {{nullptr, &kPmovsxbw, &kPmovsxbd, &kPmovsxbq},
                                                    {nullptr, nullptr, &kPmovsxwd, &kPmovsxwq},
                                                    {nullptr, nullptr, nullptr, &kPmovsxdq}};
  const VexOp& op = *kWidenings[SizeIndex(from_bytes)][SizeIndex(lane_bytes)];
  const Address wide = Area(std::max(lanes * lane_bytes, kPieceBytes));
  for (int k = 0; k * kPieceBytes < lanes * lane_bytes; ++k) {
    a_.Vex(op, 256, ScratchVec(0), at.Plus(k * kPieceBytes * from_bytes / lane_bytes));
    a_.Vex(kMovUpsStore, 256, ScratchVec(0), wide.Plus(k * kPieceBytes));
  }
  widened_[&truth] = wide;
  return true;
}

Operand FunctionTranslator::TruthPiece(const Value& truth, int lane_bytes, int piece) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&truth)) {
    return values_.ConstantPiece(*constant, piece, lane_bytes);
  }
  const auto widened = widened_.find(&truth);
  if (widened != widened_.end()) return widened->second.Plus(piece * kPieceBytes);
  return values_.VectorOperand(truth, piece);
}

bool FunctionTranslator::VectorBinary(const Instruction& instruction) {
  const Kind kind = values_.KindOf(instruction);
  const VexOp* op = BinaryOp(instruction.getOpcode(), kind);
  if (op == nullptr || kind.is_float) return false;
  const Value& x = *instruction.getOperand(0);
  const Value& y = *instruction.getOperand(1);
  if (kind.is_truth()) {
    const bool is_logic = op == &kAndPs || op == &kOrPs || op == &kXorPs;
    const int bytes = std::max(values_.LaneBytes(x), values_.LaneBytes(y));
    if (!is_logic || !HaveTruths(x, bytes) || !HaveTruths(y, bytes)) return false;
    values_.SetTruthBytes(instruction, bytes);
    for (int k = 0; k < values_.Pieces(instruction); ++k) {
      Operand first = TruthPiece(x, bytes, k);
      const Vec to = values_.NewVector();
      if (first.is_memory) {
        a_.Vex(kMovUps, 256, ScratchVec(0), first);
        first = ScratchVec(0);
      }
      a_.Vex(*op, 256, to, static_cast<Vec>(first.number), TruthPiece(y, bytes, k));
      values_.Define(instruction, k, to);
      values_.ReleasePins();
    }
    return true;
  }
  PieceByPiece(instruction, *op);
  return true;
}

void FunctionTranslator::PieceByPiece(const Instruction& instruction, const VexOp& op) {
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec first = values_.Vector(*instruction.getOperand(0), k);
    const Operand second = values_.VectorOperand(*instruction.getOperand(1), k);
    const Vec to = values_.NewVector();
    a_.Vex(op, Length(instruction), to, first, second);
    values_.Define(instruction, k, to);
    values_.ReleasePins();
  }
}

bool FunctionTranslator::VectorShift(const Instruction& instruction) {
  static constexpr const VexOp* kByNumber[3][3] = {
      {&kPsllw, &kPslld, &kPsllq}, {&kPsrlw, &kPsrld, &kPsrlq}, {&kPsraw, &kPsrad, nullptr}};
  static constexpr const VexOp* kByLanes[3][3] = {
      {nullptr, &kPsllvd, &kPsllvq}, {nullptr, &kPsrlvd, &kPsrlvq}, {nullptr, &kPsravd, nullptr}};
  const Kind kind = values_.KindOf(instruction);
  if (!kind.is_whole() || kind.bytes == 1) return false;
  const int form = instruction.getOpcode() == Instruction::Shl    ? 0
                   : instruction.getOpcode() == Instruction::LShr ? 1
                                                                  : 2;
  const int size = SizeIndex(kind.bytes) - 1;
  const auto* constant = llvm::dyn_cast<llvm::Constant>(instruction.getOperand(1));
  const auto* splat = constant == nullptr
                          ? nullptr
                          : llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getSplatValue());
  const VexOp* op = splat != nullptr ? kByNumber[form][size] : kByLanes[form][size];
  if (op == nullptr) return false;
  if (splat == nullptr) {
    PieceByPiece(instruction, *op);
    return true;
  }
  const auto places = static_cast<int64_t>(splat->getLimitedValue(255));
  const auto bent = static_cast<uint8_t>(bends_.Number("direct-code/lane-shift", nullptr, places));
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec x = values_.Vector(*instruction.getOperand(0), k);
    const Vec to = values_.NewVector();
    a_.VexShift(*op, 256, to, x, bent);
    values_.Define(instruction, k, to);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::VectorCompare(const llvm::ICmpInst& compare) {
  const Kind kind = values_.KindOf(*compare.getOperand(0));
  if (kind.is_truth() || (compare.isSigned() && !kind.is_whole())) return false;
  const llvm::CmpInst::Predicate predicate = compare.getPredicate();
  const bool is_equality = compare.isEquality();
  // Greater and less, the operands turned round; the others are negations.
  const llvm::CmpInst::Predicate strict =
      compare.isNonStrictPredicate() ? compare.getInversePredicate() : predicate;
  const bool is_turned = strict == llvm::CmpInst::ICMP_SLT || strict == llvm::CmpInst::ICMP_ULT;
  const bool is_negated = compare.isNonStrictPredicate() || predicate == llvm::CmpInst::ICMP_NE;
  const Value& x = *compare.getOperand(is_turned ? 1 : 0);
  const Value& y = *compare.getOperand(is_turned ? 0 : 1);
  const VexOp& op = *(is_equality ? kEquals : kGreaters)[SizeIndex(kind.bytes)];
  const Address sign = values_.Splat(uint64_t{1} << (8 * kind.bytes - 1), kind.bytes);
  values_.SetTruthBytes(compare, kind.bytes);
  for (int k = 0; k < values_.Pieces(compare); ++k) {
    Vec first = values_.Vector(x, k);
    Operand second = values_.VectorOperand(y, k);
    if (compare.isUnsigned() && !IsForgotten("direct-code/lanes-below-half")) {
      a_.Vex(kXorPs, 256, ScratchVec(0), first, sign);
      a_.Vex(kXorPs, 256, ScratchVec(1), values_.Vector(y, k), sign);
      first = ScratchVec(0);
      second = ScratchVec(1);
    }
    const Vec to = values_.NewVector();
    a_.Vex(op, 256, to, first, second);
    if (is_negated) a_.Vex(kXorPs, 256, to, to, values_.Splat(~uint64_t{0}, 8));
    values_.Define(compare, k, to);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::VectorIntrinsic(const llvm::IntrinsicInst& call) {
  if (call.getIntrinsicID() == llvm::Intrinsic::vector_reduce_or) return ReduceOr(call);
  const Kind kind = values_.KindOf(call);
  if (!kind.is_vector || kind.is_float || !kind.is_whole()) return false;
  if (call.getIntrinsicID() == llvm::Intrinsic::abs) {
    static constexpr LaneOps kAbs = {&kPabsb, &kPabsw, &kPabsd, nullptr};
    const VexOp* op = kAbs[SizeIndex(kind.bytes)];
    if (op == nullptr) return false;
    for (int k = 0; k < values_.Pieces(call); ++k) {
      const Operand x = values_.VectorOperand(*call.getArgOperand(0), k);
      const Vec to = values_.NewVector();
      a_.Vex(*op, 256, to, x);
      values_.Define(call, k, to);
      values_.ReleasePins();
    }
    return true;
  }
  const VexOp* op = MinMaxOp(call.getIntrinsicID(), kind.bytes);
  if (op == nullptr) return false;
  PieceByPiece(call, *op);
  return true;
}

bool FunctionTranslator::ReduceOr(const llvm::IntrinsicInst& call) {
  const Value& truth = *call.getArgOperand(0);
  const Kind kind = values_.KindOf(truth);
  if (!kind.is_truth()) return false;
  const Vec any = ScratchVec(0);
  a_.Vex(kXorPs, 256, any, any, any);
  for (int k = 0; k < values_.Pieces(truth); ++k) {
    a_.Vex(kOrPs, 256, any, any, values_.VectorOperand(truth, k));
    values_.ReleasePins();
  }
  a_.VexGeneral(kPmovmskb, 256, kScratch, any);
  const int bytes = kind.lanes * values_.LaneBytes(truth);
  if (bytes < kPieceBytes) {
    a_.GroupImmediate(kAndImm, 32, kScratch, (1 << bytes) - 1);
  } else {
    a_.Int(kTest, 32, kScratch, kScratch);
  }
  const Gpr to = values_.NewGeneral();
  a_.Set(Condition::kNotEqual, kScratch);
  a_.Int(kMovzx8, 32, to, kScratch);
  values_.Define(call, to);
  return true;
}

bool FunctionTranslator::SelectVector(const llvm::SelectInst& select) {
  const Kind kind = values_.KindOf(select);
  const Value& condition = *select.getCondition();
  const Value& yes = *select.getTrueValue();
  const Value& no = *select.getFalseValue();
  int bytes = kind.bytes;
  if (kind.is_truth()) {
    bytes = std::max({values_.LaneBytes(yes), values_.LaneBytes(no), values_.LaneBytes(condition)});
    if (!HaveTruths(yes, bytes) || !HaveTruths(no, bytes)) return false;
    values_.SetTruthBytes(select, bytes);
  }
  const bool by_lanes = condition.getType()->isVectorTy();
  if (by_lanes) {
    if (!HaveTruths(condition, bytes)) return false;
  } else {
    a_.Move(kScratch, values_.General(condition));
    a_.Group(kNeg, 64, kScratch);
    a_.Vex(kMovQ, 128, ScratchVec(0), kScratch);
    a_.Vex(kBroadcastQ, 256, ScratchVec(0), ScratchVec(0));
  }
  for (int k = 0; k < values_.Pieces(select); ++k) {
    if (by_lanes) {
      const Operand mask = TruthPiece(condition, bytes, k);
      a_.Vex(mask.is_memory ? kMovUps : kMovAps, 256, ScratchVec(0), mask);
    }
    const Operand otherwise = kind.is_truth() ? TruthPiece(no, bytes, k) : values_.Vector(no, k);
    const Vec to = values_.NewVector();
    Vec from = to;
    if (otherwise.is_memory) {
      a_.Vex(kMovUps, 256, to, otherwise);
    } else {
      from = static_cast<Vec>(otherwise.number);
    }
    a_.VexImmediate(kPblendvb, 256, to, from,
                    kind.is_truth() ? TruthPiece(yes, bytes, k) : values_.VectorOperand(yes, k), 0);
    values_.Define(select, k, to);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::InsertLane(const llvm::InsertElementInst& insert) {
  const auto* lane = llvm::dyn_cast<llvm::ConstantInt>(insert.getOperand(2));
  const Value& vector = *insert.getOperand(0);
  const Value& element = *insert.getOperand(1);
  const Kind kind = values_.KindOf(insert);
  if (lane == nullptr || lane->getLimitedValue(kind.lanes) >= uint64_t(kind.lanes)) return false;
  if (!values_.InheritSlot(insert, vector)) {
    values_.SetTruthBytes(insert, values_.LaneBytes(vector));
    const Address to = values_.Slot(insert);
    for (int k = 0; k < values_.Pieces(insert) && !IsUnset(vector); ++k) {
      values_.Load(ScratchVec(0), vector, k);
      a_.Vex(kMovUpsStore, 256, ScratchVec(0), to.Plus(k * kPieceBytes));
    }
  }
  const Address at = LaneAddress(insert, static_cast<int>(lane->getZExtValue()));
  const int bytes = values_.LaneBytes(insert);
  if (kind.is_float) {
    StorePiece(at, values_.Vector(element), bytes);
  } else {
    Gpr from = values_.General(element);
    if (kind.is_truth()) {
      a_.Move(kScratch, from);
      a_.Group(kNeg, 64, kScratch);
      from = kScratch;
    }
    a_.Int(bytes == 1 ? kMovStore8 : kMovStore, bytes == 1 ? 32 : 8 * bytes, from, at);
  }
  values_.DefineInSlot(insert);
  return true;
}

bool FunctionTranslator::ExtractLane(const llvm::ExtractElementInst& extract) {
  const auto* lane = llvm::dyn_cast<llvm::ConstantInt>(extract.getIndexOperand());
  const Value& vector = *extract.getVectorOperand();
  const Kind kind = values_.KindOf(vector);
  if (lane == nullptr || lane->getLimitedValue(kind.lanes) >= uint64_t(kind.lanes)) return false;
  const int bytes = values_.LaneBytes(vector);
  const Address at = values_.InMemory(vector).Plus(static_cast<int>(lane->getZExtValue()) * bytes);
  if (kind.is_float) {
    const Vec to = values_.NewVector();
    LoadPiece(to, at, bytes);
    values_.Define(extract, 0, to);
    return true;
  }
  const Gpr to = values_.NewGeneral();
  a_.Int(bytes == 1 ? kMovzx8 : bytes == 2 ? kMovzx16 : kMov, bytes == 8 ? 64 : 32, to, at);
  if (kind.is_truth()) a_.GroupImmediate(kAndImm, 32, to, 1);
  values_.Define(extract, to);
  return true;
}

// Whole registers at a time, of lanes of four and eight bytes.
bool FunctionTranslator::ShuffleRegisters(const llvm::ShuffleVectorInst& shuffle) {
  const Kind kind = values_.KindOf(shuffle);
  if (kind.is_truth() || kind.bytes < 4) return false;
  for (int k = 0; k < values_.Pieces(shuffle); ++k) {
    PickLanes(shuffle, k);
    const Vec to = values_.NewVector();
    a_.Vex(kMovAps, 256, to, ScratchVec(3));
    values_.Define(shuffle, k, to);
    values_.ReleasePins();
  }
  return true;
}

// A piece of the result takes from every piece of the operands the lanes that come from there.
void FunctionTranslator::PickLanes(const llvm::ShuffleVectorInst& shuffle, int to_piece) {
  const Vec to = ScratchVec(3);
  const int words = values_.KindOf(shuffle).bytes / 4;
  const int lanes = kPieceBytes / 4 / words;  // of a piece
  const int from_lanes = values_.KindOf(*shuffle.getOperand(0)).lanes;
  const llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
  a_.Vex(kXorPs, 256, to, to, to);
  for (int source = 0; source < 2; ++source) {
    const Value& from = *shuffle.getOperand(source);
    for (int piece = 0; piece < values_.Pieces(from) && !IsUnset(from); ++piece) {
      std::array<uint32_t, 8> place{}, taken{};
      bool is_used = false;
      for (int lane = 0; lane < lanes && to_piece * lanes + lane < int(mask.size()); ++lane) {
        const int wanted = mask[to_piece * lanes + lane] - source * from_lanes;
        if (wanted < 0 || wanted >= from_lanes || wanted / lanes != piece) continue;
        is_used = true;
        const int64_t from_lane = bends_.Number("direct-code/picked-lane", nullptr, wanted % lanes);
        for (int word = 0; word < words; ++word) {
          place[lane * words + word] = static_cast<uint32_t>(from_lane * words + word);
          taken[lane * words + word] = ~uint32_t{0};
        }
      }
      if (!is_used) continue;
      const auto constant = [&](const std::array<uint32_t, 8>& data) {
        return Address::Constant(
            a_.Constant(std::string_view(reinterpret_cast<const char*>(data.data()), sizeof data)));
      };
      a_.Vex(kMovUps, 256, ScratchVec(0), constant(place));
      a_.Vex(kPermd, 256, ScratchVec(1), ScratchVec(0), values_.VectorOperand(from, piece));
      a_.Vex(kMovUps, 256, ScratchVec(2), constant(taken));
      a_.VexImmediate(kPblendvb, 256, to, to, ScratchVec(1), static_cast<uint8_t>(2 << 4));
      values_.ReleasePins();
    }
  }
}

bool FunctionTranslator::Shuffle(const llvm::ShuffleVectorInst& shuffle) {
  const Value& x = *shuffle.getOperand(0);
  const Value& y = *shuffle.getOperand(1);
  const int bytes = values_.LaneBytes(x);
  if (!IsUnset(y) && values_.LaneBytes(y) != bytes) return false;
  if (values_.KindOf(shuffle).is_truth()) values_.SetTruthBytes(shuffle, bytes);
  const int from_lanes = values_.KindOf(x).lanes;
  const llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
  const bool is_splat = std::all_of(mask.begin(), mask.end(), [](int lane) { return lane <= 0; });
  if (!is_splat && ShuffleRegisters(shuffle)) return true;
  const Address first = values_.InMemory(x);
  if (is_splat) {
    static constexpr LaneOps kBroadcasts = {&kBroadcastB, &kBroadcastW, &kBroadcastD, &kBroadcastQ};
    for (int k = 0; k < values_.Pieces(shuffle); ++k) {
      const Vec to = values_.NewVector();
      a_.Vex(*kBroadcasts[SizeIndex(bytes)], 256, to, first);
      values_.Define(shuffle, k, to);
      values_.ReleasePins();
    }
    return true;
  }
  const Address second = IsUnset(y) ? first : values_.InMemory(y);
  int to_lane = 0;
  for (const int lane : mask) {
    const Address to = LaneAddress(shuffle, to_lane++);
    if (lane < 0 || (lane >= from_lanes && IsUnset(y))) continue;
    const Address from =
        lane < from_lanes ? first.Plus(lane * bytes) : second.Plus((lane - from_lanes) * bytes);
    a_.Int(bytes == 1   ? kMovzx8
           : bytes == 2 ? kMovzx16
                        : kMov,
           bytes == 8 ? 64 : 32, kScratch, from);
    a_.Int(bytes == 1 ? kMovStore8 : kMovStore, bytes == 1 ? 32 : 8 * bytes, kScratch, to);
  }
  values_.DefineInSlot(shuffle);
  return true;
}

}  // namespace assay::direct
