// A local allocator of registers: the one that was not used for the longest time is given up.
#include "optimized/cpu/native/direct/values.h"

#include <algorithm>
#include <cstring>

namespace assay::direct {
namespace {

constexpr std::array kCallerSaved = {Gpr::kRsi, Gpr::kRdi, Gpr::kR8,
                                     Gpr::kR9,  Gpr::kR10, Gpr::kR11};
constexpr std::array kCalleeSaved = {Gpr::kRbx, Gpr::kR12, Gpr::kR13, Gpr::kR14, Gpr::kR15};
constexpr int kFirstVector = 4;  // those below are scratch

bool SurvivesCalls(int reg) {
  return std::find(kCalleeSaved.begin(), kCalleeSaved.end(), static_cast<Gpr>(reg)) !=
         kCalleeSaved.end();
}

bool IsUsedInItsBlockAlone(const llvm::Value& value) {
  const llvm::BasicBlock* block = nullptr;
  if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value)) {
    block = instruction->getParent();
  } else {
    block = &llvm::cast<llvm::Argument>(value).getParent()->getEntryBlock();
  }
  for (const llvm::User* user : value.users()) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    if (instruction->getParent() != block || llvm::isa<llvm::PHINode>(instruction)) return false;
  }
  return true;
}

}  // namespace

Values::Values(Assembler& assembler, Links& links) : assembler_(assembler), links_(links) {
  for (Register& reg : registers_[kGeneral]) reg.owner = kReserved;
  for (Gpr reg : kCallerSaved) registers_[kGeneral][static_cast<int>(reg)].owner = kFree;
  for (Gpr reg : kCalleeSaved) registers_[kGeneral][static_cast<int>(reg)].owner = kFree;
  for (int k = 0; k < kFirstVector; ++k) registers_[kVector][k].owner = kReserved;
}

void Values::Declare(const llvm::Value& value, bool must_stay) {
  Record record;
  record.kind = direct::KindOf(value.getType());
  if (!record.kind.is_known) {
    Refuse("a type");
    // Its code will never run, but what follows reads the record.
    record.kind = direct::KindOf(llvm::PointerType::getUnqual(value.getContext()));
  }
  record.first_piece = static_cast<int32_t>(pieces_.size());
  record.uses = static_cast<int32_t>(value.getNumUses());
  record.is_local = !must_stay && IsUsedInItsBlockAlone(value);
  const auto number = static_cast<int32_t>(records_.size());
  // Truths may become as wide as eight bytes.
  pieces_.resize(
      pieces_.size() + record.kind.pieces(record.kind.is_truth() ? 8 : record.kind.bytes),
      Piece{number});
  records_.push_back(record);
  numbers_[&value] = number;
}

Values::Record& Values::RecordOf(const llvm::Value& value) {
  const auto found = numbers_.find(&value);
  if (found != numbers_.end()) return records_[found->second];
  // A use before the definition: nothing that comes of it is run.
  Refuse("a value out of order");
  Declare(value, true);
  return records_.back();
}

Kind Values::KindOf(const llvm::Value& value) {
  const auto found = numbers_.find(&value);
  return found != numbers_.end() ? records_[found->second].kind : direct::KindOf(value.getType());
}

int Values::LaneBytes(const llvm::Value& value) {
  const Kind kind = KindOf(value);
  if (!kind.is_vector || !kind.is_truth() || llvm::isa<llvm::Constant>(value)) return kind.bytes;
  return RecordOf(value).truth_bytes;
}

void Values::SetTruthBytes(const llvm::Value& value, int bytes) {
  RecordOf(value).truth_bytes = bytes;
}

int Values::Allocate(Bank bank) {
  int found = -1;
  const auto look = [&](int reg) {
    Register& each = registers_[bank][reg];
    if (each.owner == kReserved || each.is_pinned || each.owner == kTemporary) return;
    const bool is_free = each.owner == kFree;
    if (found >= 0) {
      const Register& best = registers_[bank][found];
      if (best.owner == kFree || (!is_free && best.used_at <= each.used_at)) return;
    }
    found = reg;
  };
  if (bank == kVector) {
    for (int reg = kFirstVector; reg < 16; ++reg) look(reg);
  } else {
    for (Gpr reg : kCallerSaved) look(static_cast<int>(reg));
    for (Gpr reg : kCalleeSaved) look(static_cast<int>(reg));
  }
  if (found < 0) {
    Refuse("too many registers at once");
    return 0;
  }
  Release(bank, found);
  const Gpr general = static_cast<Gpr>(found);
  if (bank == kGeneral && SurvivesCalls(found) &&
      std::find(saved_.begin(), saved_.end(), general) == saved_.end()) {
    saved_.push_back(general);
  }
  registers_[bank][found] = {kTemporary, ++clock_, true};
  return found;
}

// Gives a register up; what is in it and still needed goes to the frame.
void Values::Release(Bank bank, int reg) {
  const int32_t owner = registers_[bank][reg].owner;
  if (owner >= 0) {
    Store(bank, owner);
    pieces_[owner].reg = -1;
  }
  registers_[bank][reg] = {};
}

void Values::Store(Bank bank, int number) {
  Piece& piece = pieces_[number];
  Record& record = records_[piece.record];
  if (piece.in_slot || (record.is_local && record.uses <= 0)) return;
  const Address at = PieceAddress(record, number - record.first_piece);
  if (bank == kGeneral) {
    assembler_.Int(kMovStore, 64, static_cast<Gpr>(piece.reg), at);
  } else if (record.kind.is_vector) {
    assembler_.Vex(kMovUpsStore, 256, static_cast<Vec>(piece.reg), at);
  } else {
    assembler_.Vex(record.kind.bits == 32 ? kMovSsStore : kMovSdStore, 128,
                   static_cast<Vec>(piece.reg), at);
  }
  piece.in_slot = true;
}

void Values::GiveSlot(Record& record) {
  if (record.slot != 0) return;
  const int lane_bytes = record.kind.is_truth() ? record.truth_bytes : record.kind.bytes;
  const int bytes = record.kind.pieces(lane_bytes) * record.kind.piece_bytes();
  auto& free = free_slots_[bytes];
  if (!free.empty()) {
    record.slot = free.back();
    free.pop_back();
  } else {
    record.slot = NewFrameBytes(bytes, std::min(bytes, kPieceBytes));
  }
}

void Values::FreeSlot(Record& record) {
  if (record.slot == 0) return;
  const int lane_bytes = record.kind.is_truth() ? record.truth_bytes : record.kind.bytes;
  free_slots_[record.kind.pieces(lane_bytes) * record.kind.piece_bytes()].push_back(record.slot);
  record.slot = 0;
}

int32_t Values::NewFrameBytes(int64_t bytes, int alignment) {
  constexpr int64_t kMostBytes = 1 << 16;
  if (bytes > kMostBytes || frame_bytes_ + bytes > kMostBytes) {
    Refuse("a large frame");
    return -frame_bytes_;
  }
  frame_bytes_ += static_cast<int32_t>(bytes);
  frame_bytes_ = (frame_bytes_ + alignment - 1) / alignment * alignment;
  return -frame_bytes_;
}

Address Values::PieceAddress(Record& record, int piece) {
  GiveSlot(record);
  return Address::At(Gpr::kRbp, record.slot + piece * record.kind.piece_bytes());
}

int Values::ReadPiece(Bank bank, Record& record, int index) {
  const int32_t number = record.first_piece + index;
  int reg = pieces_[number].reg;
  if (reg < 0) {
    reg = Allocate(bank);
    if (!refused_.empty()) return reg;
    const Address at = PieceAddress(record, index);
    if (bank == kGeneral) {
      assembler_.Int(kMov, 64, static_cast<Gpr>(reg), at);
    } else if (record.kind.is_vector) {
      assembler_.Vex(kMovUps, 256, static_cast<Vec>(reg), at);
    } else {
      assembler_.Vex(record.kind.bits == 32 ? kMovSs : kMovSd, 128, static_cast<Vec>(reg), at);
    }
    pieces_[number].reg = static_cast<int8_t>(reg);
    registers_[bank][reg].owner = number;
  }
  registers_[bank][reg].is_pinned = true;
  registers_[bank][reg].used_at = ++clock_;
  return reg;
}

bool Values::LoadConstant(Gpr to, const llvm::Constant& constant) {
  uint64_t bits = 0;
  if (ConstantBits(constant, 0, bits)) {
    assembler_.MoveImmediate(to, bits);
    return true;
  }
  return links_.LoadAddress(to, constant);
}

Gpr Values::General(const llvm::Value& value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    const Gpr to = NewGeneral();
    if (!LoadConstant(to, *constant)) Refuse("a constant");
    return to;
  }
  if (llvm::isa<llvm::AllocaInst>(value)) {
    const Gpr to = NewGeneral();
    assembler_.Int(kLea, 64, to, Slot(value));
    return to;
  }
  return static_cast<Gpr>(ReadPiece(kGeneral, RecordOf(value), 0));
}

Operand Values::GeneralOperand(const llvm::Value& value) {
  if (llvm::isa<llvm::Constant, llvm::AllocaInst>(value)) return General(value);
  Record& record = RecordOf(value);
  if (pieces_[record.first_piece].reg >= 0 || !pieces_[record.first_piece].in_slot ||
      record.uses > 1) {
    return General(value);
  }
  return PieceAddress(record, 0);
}

Gpr Values::GeneralCopy(const llvm::Value& value) {
  if (llvm::isa<llvm::Constant, llvm::AllocaInst>(value)) return General(value);
  Record& record = RecordOf(value);
  Piece& piece = pieces_[record.first_piece];
  if (piece.reg >= 0 && record.is_local && record.uses == 1 &&
      !registers_[kGeneral][piece.reg].is_pinned) {
    const int reg = piece.reg;
    piece.reg = -1;
    registers_[kGeneral][reg] = {kTemporary, ++clock_, true};
    return static_cast<Gpr>(reg);
  }
  const Operand from = GeneralOperand(value);
  const Gpr to = NewGeneral();
  assembler_.Int(kMov, 64, to, from);
  return to;
}

Vec Values::Vector(const llvm::Value& value, int index) {
  if (!llvm::isa<llvm::Constant>(value)) {
    return static_cast<Vec>(ReadPiece(kVector, RecordOf(value), index));
  }
  const Vec to = NewVector();
  const Kind kind = KindOf(value);
  const Operand from = VectorOperand(value, index);
  if (kind.is_vector) {
    assembler_.Vex(kMovUps, 256, to, from);
  } else {
    assembler_.Vex(kind.bits == 32 ? kMovSs : kMovSd, 128, to, from);
  }
  return to;
}

Operand Values::VectorOperand(const llvm::Value& value, int index) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    return ConstantPiece(*constant, index, 1);
  }
  Record& record = RecordOf(value);
  const Piece& piece = pieces_[record.first_piece + index];
  // Scalars are read as 16 bytes by some instructions: only vectors stay where they are.
  if (piece.reg >= 0 || !piece.in_slot || record.uses > 1 || !record.kind.is_vector) {
    return Vector(value, index);
  }
  return PieceAddress(record, index);
}

Vec Values::VectorCopy(const llvm::Value& value, int index) {
  if (llvm::isa<llvm::Constant>(value)) return Vector(value, index);
  Record& record = RecordOf(value);
  Piece& piece = pieces_[record.first_piece + index];
  if (piece.reg >= 0 && record.is_local && record.uses == 1 &&
      !registers_[kVector][piece.reg].is_pinned) {
    const int reg = piece.reg;
    piece.reg = -1;
    registers_[kVector][reg] = {kTemporary, ++clock_, true};
    return static_cast<Vec>(reg);
  }
  const Operand from = VectorOperand(value, index);
  const Vec to = NewVector();
  assembler_.Vex(from.is_memory ? kMovUps : kMovAps, record.kind.is_vector ? 256 : 128, to, from);
  return to;
}

void Values::Load(Gpr to, const llvm::Value& value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    if (!LoadConstant(to, *constant)) Refuse("a constant");
    return;
  }
  if (llvm::isa<llvm::AllocaInst>(value)) return assembler_.Int(kLea, 64, to, Slot(value));
  Record& record = RecordOf(value);
  const int reg = pieces_[record.first_piece].reg;
  if (reg >= 0) {
    assembler_.Move(to, static_cast<Gpr>(reg));
  } else {
    assembler_.Int(kMov, 64, to, PieceAddress(record, 0));
  }
}

void Values::Load(Vec to, const llvm::Value& value, int index) {
  const Kind kind = KindOf(value);
  const int length = kind.is_vector ? 256 : 128;
  const VexOp& load = kind.is_vector ? kMovUps : kind.bits == 32 ? kMovSs : kMovSd;
  if (llvm::isa<llvm::Constant>(value)) {
    assembler_.Vex(load, length, to, VectorOperand(value, index));
    return;
  }
  Record& record = RecordOf(value);
  const int reg = pieces_[record.first_piece + index].reg;
  if (reg >= 0) {
    assembler_.Vex(kMovAps, length, to, static_cast<Vec>(reg));
  } else {
    assembler_.Vex(load, length, to, PieceAddress(record, index));
  }
}

void Values::DefineIn(Bank bank, const llvm::Value& value, int index, int reg) {
  Record& record = RecordOf(value);
  const int32_t number = record.first_piece + index;
  if (!refused_.empty()) return;
  registers_[bank][reg] = {number, ++clock_, true};
  pieces_[number].reg = static_cast<int8_t>(reg);
  pieces_[number].in_slot = false;
  if (!record.is_local) Store(bank, number);
}

Address Values::Slot(const llvm::Value& value) { return PieceAddress(RecordOf(value), 0); }

void Values::DefineInSlot(const llvm::Value& value) {
  Record& record = RecordOf(value);
  GiveSlot(record);
  const int count = Pieces(value);
  for (int k = 0; k < count; ++k) pieces_[record.first_piece + k].in_slot = true;
}

Address Values::InMemory(const llvm::Value& value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    const Kind kind = KindOf(value);
    std::string bytes(static_cast<size_t>(kind.pieces(kind.bytes)) * kind.piece_bytes(), '\0');
    for (int lane = 0; lane < kind.lanes; ++lane) {
      uint64_t bits = 0;
      if (!ConstantBits(*constant, lane, bits)) Refuse("a constant");
      if (kind.is_vector && kind.is_truth() && bits != 0) bits = 0xFF;
      std::memcpy(&bytes[lane * (kind.is_vector ? kind.bytes : 8)], &bits, kind.bytes);
    }
    return Address::Constant(assembler_.Constant(bytes));
  }
  Record& record = RecordOf(value);
  const int count = Pieces(value);
  const Bank bank = record.kind.in_general ? kGeneral : kVector;
  for (int k = 0; k < count; ++k) {
    if (pieces_[record.first_piece + k].reg >= 0) Store(bank, record.first_piece + k);
  }
  return PieceAddress(record, 0);
}

void Values::PlaceArray(const llvm::Value& value, int64_t bytes) {
  RecordOf(value).slot = NewFrameBytes(bytes, kPieceBytes);
}

bool Values::InheritSlot(const llvm::Value& to, const llvm::Value& from) {
  if (llvm::isa<llvm::Constant>(from)) return false;
  Record& source = RecordOf(from);
  if (!source.is_local || source.uses != 1) return false;
  (void)InMemory(from);
  const int count = Pieces(from);
  for (int k = 0; k < count; ++k) {
    Piece& piece = pieces_[source.first_piece + k];
    if (piece.reg >= 0) registers_[kVector][piece.reg] = {};
    piece.reg = -1;
  }
  const int32_t slot = source.slot;
  const int truth_bytes = source.truth_bytes;
  source.slot = 0;
  Record& target = RecordOf(to);
  target.truth_bytes = truth_bytes;
  // A slot that lasts for the function is not given back: it may serve any value.
  FreeSlot(target);
  target.slot = slot;
  return true;
}

Address Values::ConstantPiece(const llvm::Constant& constant, int piece, int truth_bytes) {
  const Kind kind = direct::KindOf(constant.getType());
  if (!kind.is_vector) {
    uint64_t bits = 0;
    if (!ConstantBits(constant, piece, bits)) Refuse("a constant");
    // The splat is as wide as a register: a sign or a bound may be an operand of instructions on
    // whole ones.
    return Splat(bits, kind.bytes);
  }
  const int bytes = kind.is_truth() ? truth_bytes : kind.bytes;
  std::string data(kPieceBytes, '\0');
  const int lanes = std::min(kind.lanes, kPieceBytes / bytes);
  for (int lane = 0; lane < lanes; ++lane) {
    uint64_t bits = 0;
    if (!ConstantBits(constant, piece * (kPieceBytes / bytes) + lane, bits)) Refuse("a constant");
    if (kind.is_truth() && bits != 0) bits = ~uint64_t{0};
    std::memcpy(&data[lane * bytes], &bits, bytes);
  }
  return Address::Constant(assembler_.Constant(data));
}

Address Values::Splat(uint64_t bits, int bytes) {
  std::string data(kPieceBytes, '\0');
  for (int at = 0; at < kPieceBytes; at += bytes) std::memcpy(&data[at], &bits, bytes);
  return Address::Constant(assembler_.Constant(data));
}

void Values::ReleasePins() {
  for (auto& bank : registers_) {
    for (Register& reg : bank) {
      reg.is_pinned = false;
      if (reg.owner == kTemporary) reg = {};
    }
  }
}

void Values::EndUse(const llvm::Value& value) {
  const auto found = numbers_.find(&value);
  if (found == numbers_.end()) return;
  Record& record = records_[found->second];
  if (--record.uses > 0) return;
  const Bank bank = record.kind.in_general ? kGeneral : kVector;
  const int count = Pieces(value);
  for (int k = 0; k < count; ++k) {
    Piece& piece = pieces_[record.first_piece + k];
    if (piece.reg >= 0) registers_[bank][piece.reg] = {};
    piece.reg = -1;
  }
  if (record.is_local && !llvm::isa<llvm::AllocaInst>(value)) FreeSlot(record);
}

void Values::LeaveForCall() {
  for (int reg = 0; reg < 16; ++reg) {
    if (registers_[kGeneral][reg].owner >= 0 && !SurvivesCalls(reg)) Release(kGeneral, reg);
    if (registers_[kVector][reg].owner >= 0) Release(kVector, reg);
  }
}

void Values::ForgetRegisters() {
  for (auto& bank : registers_) {
    for (Register& reg : bank) {
      if (reg.owner >= 0) pieces_[reg.owner].reg = -1;
      if (reg.owner != kReserved) reg = {};
    }
  }
}

}  // namespace assay::direct
