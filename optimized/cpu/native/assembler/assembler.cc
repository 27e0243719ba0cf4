// Prefixes, ModRM and SIB bytes, and the places that are known only at the end.
#include "optimized/cpu/native/assembler/assembler.h"

#include <cstring>

namespace assay::direct {
namespace {

constexpr uint8_t Low(uint8_t number) { return number & 7; }
constexpr bool IsHigh(uint8_t number) { return number >= 8; }
bool IsHigh(Gpr reg) { return IsHigh(static_cast<uint8_t>(reg)); }

bool BaseIsHigh(const Operand& other) {
  if (!other.is_memory) return IsHigh(other.number);
  return other.address.kind != Address::Kind::kConstant && IsHigh(other.address.base);
}
bool IndexIsHigh(const Operand& other) {
  return other.is_memory && other.address.kind == Address::Kind::kIndexed &&
         IsHigh(other.address.index);
}
// Behind what fits a signed byte four bytes are saved.
bool IsShort(int32_t value) { return value >= -128 && value <= 127; }

}  // namespace

void Assembler::Word32(uint32_t word) {
  for (int k = 0; k < 4; ++k) Byte(static_cast<uint8_t>(word >> (8 * k)));
}

void Assembler::Rex(bool wide, uint8_t reg, const Operand& other, bool force) {
  const int rex = (wide ? 8 : 0) | (IsHigh(reg) ? 4 : 0) | (IndexIsHigh(other) ? 2 : 0) |
                  (BaseIsHigh(other) ? 1 : 0);
  if (rex != 0 || force) Byte(static_cast<uint8_t>(0x40 | rex));
}

void Assembler::ModRm(uint8_t reg, const Operand& other, int bytes_behind) {
  const auto field = static_cast<uint8_t>(Low(reg) << 3);
  if (!other.is_memory) {
    Byte(0xC0 | field | Low(other.number));
    return;
  }
  const Address& at = other.address;
  if (at.kind == Address::Kind::kConstant) {
    Byte(field | 5);
    const auto place = static_cast<uint32_t>(code_.size());
    fixups_.push_back(
        {place, place + 4 + static_cast<uint32_t>(bytes_behind), at.displacement, true});
    Word32(0);
    return;
  }
  const uint8_t base = Low(Number(at.base));
  // A base of rbp or r13 has no form without a displacement; one of rsp or r12 needs a SIB byte.
  const bool bare = at.displacement == 0 && base != 5;
  const uint8_t mode = bare ? 0 : IsShort(at.displacement) ? 0x40 : 0x80;
  if (at.kind == Address::Kind::kIndexed) {
    Byte(mode | field | 4);
    Byte(static_cast<uint8_t>(at.scale << 6 | Low(Number(at.index)) << 3 | base));
  } else if (base == 4) {
    Byte(mode | field | 4);
    Byte(0x24);
  } else {
    Byte(mode | field | base);
  }
  if (bare) return;
  if (mode == 0x40) {
    Byte(static_cast<uint8_t>(at.displacement));
  } else {
    Word32(static_cast<uint32_t>(at.displacement));
  }
}

void Assembler::Int(const IntOp& op, int bits, Gpr reg, const Operand& other) {
  if (bits == 16) Byte(0x66);
  if (op.prefix != 0) Byte(op.prefix);
  // Without a prefix the bytes of rsi and rdi would be those of other registers.
  const bool store8 = op.opcode == kMovStore8.opcode && op.map == 0;
  const bool force = op.byte_source && (store8 ? Number(reg) >= 4 : !other.is_memory);
  Rex(bits == 64, Number(reg), other, force);
  if (op.map == 1) Byte(0x0F);
  Byte(op.opcode);
  ModRm(Number(reg), other, 0);
}

void Assembler::Group(const GroupOp& op, int bits, const Operand& operand) {
  Rex(bits == 64, 0, operand, false);
  Byte(op.opcode);
  ModRm(op.extension, operand, 0);
}

void Assembler::GroupImmediate(const GroupOp& op, int bits, const Operand& operand,
                               int32_t immediate) {
  Rex(bits == 64, 0, operand, false);
  const bool is_short = IsShort(immediate);
  Byte(is_short ? 0x83 : op.opcode);
  ModRm(op.extension, operand, is_short ? 1 : 4);
  if (is_short) {
    Byte(static_cast<uint8_t>(immediate));
  } else {
    Word32(static_cast<uint32_t>(immediate));
  }
}

void Assembler::ShiftImmediate(const GroupOp& op, int bits, Gpr reg, int by) {
  Rex(bits == 64, 0, reg, false);
  Byte(op.opcode);
  ModRm(op.extension, reg, 1);
  Byte(static_cast<uint8_t>(by));
}

void Assembler::MoveImmediate(Gpr to, uint64_t value) {
  const bool is_signed32 = static_cast<uint64_t>(static_cast<int64_t>(
                               static_cast<int32_t>(static_cast<uint32_t>(value)))) == value;
  if (value >> 32 == 0) {
    Rex(false, 0, to, false);
    Byte(0xB8 | Low(Number(to)));
    Word32(static_cast<uint32_t>(value));
  } else if (is_signed32) {
    Rex(true, 0, to, false);
    Byte(0xC7);
    ModRm(0, to, 4);
    Word32(static_cast<uint32_t>(value));
  } else {
    Rex(true, 0, to, false);
    Byte(0xB8 | Low(Number(to)));
    Word32(static_cast<uint32_t>(value));
    Word32(static_cast<uint32_t>(value >> 32));
  }
}

void Assembler::Set(Condition condition, Gpr low_byte) {
  Rex(false, 0, low_byte, true);
  Byte(0x0F);
  Byte(0x90 | static_cast<uint8_t>(condition));
  ModRm(0, low_byte, 0);
}

void Assembler::MoveIf(Condition condition, Gpr to, const Operand& from) {
  Rex(true, Number(to), from, false);
  Byte(0x0F);
  Byte(0x40 | static_cast<uint8_t>(condition));
  ModRm(Number(to), from, 0);
}

void Assembler::SignExtendRax(int bits) {
  if (bits == 64) Byte(0x48);
  Byte(0x99);
}

void Assembler::Push(Gpr reg) {
  Rex(false, 0, reg, false);
  Byte(0x50 | Low(Number(reg)));
}

void Assembler::Pop(Gpr reg) {
  Rex(false, 0, reg, false);
  Byte(0x58 | Low(Number(reg)));
}

void Assembler::EmitVex(const VexOp& op, int length, Registers registers, const Operand& last,
                        int immediate) {
  const auto tail =
      static_cast<uint8_t>((~registers.second & 15) << 3 | (length == 256 ? 4 : 0) | op.prefix);
  const uint8_t first = IsHigh(registers.first) ? 0 : 0x80;
  if (op.map == 1 && !op.wide && !IndexIsHigh(last) && !BaseIsHigh(last)) {
    Byte(0xC5);
    Byte(first | tail);
  } else {
    Byte(0xC4);
    Byte(first | (IndexIsHigh(last) ? 0 : 0x40) | (BaseIsHigh(last) ? 0 : 0x20) | op.map);
    Byte((op.wide ? 0x80 : 0) | tail);
  }
  Byte(op.opcode);
  ModRm(registers.first, last, immediate >= 0 ? 1 : 0);
  if (immediate >= 0) Byte(static_cast<uint8_t>(immediate));
}

void Assembler::ShiftBy(const VexOp& op, int bits, Gpr to, const Operand& from, Gpr by) {
  VexOp sized = op;
  sized.wide = bits == 64;
  EmitVex(sized, 128, {Number(to), Number(by)}, from, -1);
}

void Assembler::ZeroUpper() {
  Byte(0xC5);
  Byte(0xF8);
  Byte(0x77);
}

Label Assembler::NewLabel() {
  labels_.push_back(-1);
  return static_cast<Label>(labels_.size() - 1);
}

void Assembler::Bind(Label label) {
  labels_[static_cast<uint32_t>(label)] = static_cast<int64_t>(code_.size());
}

void Assembler::Target(Label label) {
  const auto place = static_cast<uint32_t>(code_.size());
  fixups_.push_back({place, place + 4, static_cast<int32_t>(label), false});
  Word32(0);
}

void Assembler::Jump(Label label) {
  Byte(0xE9);
  Target(label);
}

void Assembler::JumpIf(Condition condition, Label label) {
  Byte(0x0F);
  Byte(0x80 | static_cast<uint8_t>(condition));
  Target(label);
}

void Assembler::Call(Label label) {
  Byte(0xE8);
  Target(label);
}

void Assembler::Call(Gpr function) {
  Rex(false, 0, function, false);
  Byte(0xFF);
  ModRm(2, function, 0);
}

void Assembler::LoadAddress(Gpr to, Label label) {
  Rex(true, Number(to), Gpr::kRax, false);
  Byte(kLea.opcode);
  Byte(static_cast<uint8_t>(Low(Number(to)) << 3 | 5));
  Target(label);
}

int32_t Assembler::Constant(std::string_view bytes) {
  const auto known = shared_.find(bytes);
  if (known != shared_.end()) return known->second;
  const size_t alignment = bytes.size() >= 32 ? 32 : bytes.size();
  data_.resize((data_.size() + alignment - 1) / alignment * alignment);
  const auto place = static_cast<int32_t>(data_.size());
  data_ += bytes;
  shared_.emplace(bytes, place);
  return place;
}

int32_t Assembler::Data(std::string_view bytes) {
  data_.resize((data_.size() + 31) / 32 * 32);
  const auto place = static_cast<int32_t>(data_.size());
  data_ += bytes;
  return place;
}

const std::vector<uint8_t>& Assembler::Finish() {
  code_.resize((code_.size() + 31) / 32 * 32, 0xCC);
  const auto data = static_cast<int64_t>(code_.size());
  code_.insert(code_.end(), data_.begin(), data_.end());
  for (const Fixup& fixup : fixups_) {
    const int64_t target = fixup.is_constant ? data + fixup.target : labels_[fixup.target];
    const auto distance = static_cast<int32_t>(target - fixup.next);
    std::memcpy(&code_[fixup.at], &distance, sizeof distance);
  }
  fixups_.clear();
  return code_;
}

}  // namespace assay::direct
