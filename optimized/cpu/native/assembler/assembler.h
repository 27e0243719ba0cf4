// Writes x86-64 instructions, constants and jumps to a buffer of bytes. The constants come to lie
// behind the code and are addressed relative to it, so that the whole may lie anywhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/cpu/native/assembler/encodings.h"

namespace assay::direct {

enum class Label : uint32_t {};

// A place in memory: [base + displacement], [base + index << scale + displacement], or a constant.
struct Address {
  enum class Kind : uint8_t { kBase, kIndexed, kConstant };
  Kind kind = Kind::kBase;
  Gpr base = Gpr::kRbp;
  Gpr index = Gpr::kRax;
  uint8_t scale = 0;         // a power of two, as its exponent: 0 to 3
  int32_t displacement = 0;  // of a constant: its place among them

  static Address At(Gpr base, int32_t displacement) {
    return {Kind::kBase, base, Gpr::kRax, 0, displacement};
  }
  static Address Constant(int32_t place) {
    return {Kind::kConstant, Gpr::kRbp, Gpr::kRax, 0, place};
  }
  Address Plus(int32_t bytes) const {
    Address moved = *this;
    moved.displacement += bytes;
    return moved;
  }
};

// The operand that may be a register or memory.
struct Operand {
  Operand(Gpr reg) : number(static_cast<uint8_t>(reg)) {}       // NOLINT: reads as the register
  Operand(Vec reg) : number(static_cast<uint8_t>(reg)) {}       // NOLINT
  Operand(const Address& at) : is_memory(true), address(at) {}  // NOLINT
  bool is_memory = false;
  uint8_t number = 0;
  Address address;
};

class Assembler {
 public:
  Assembler() { code_.reserve(4096); }

  // General registers; `bits`: 32 or 64, of stores 8 or 16 as well.
  void Int(const IntOp& op, int bits, Gpr reg, const Operand& other);
  void Group(const GroupOp& op, int bits, const Operand& operand);
  void GroupImmediate(const GroupOp& op, int bits, const Operand& operand, int32_t immediate);
  void ShiftImmediate(const GroupOp& op, int bits, Gpr reg, int by);
  void Move(Gpr to, Gpr from) { Int(kMov, 64, to, from); }
  // Leaves the flags as they are.
  void MoveImmediate(Gpr to, uint64_t value);
  void Set(Condition condition, Gpr low_byte);
  void MoveIf(Condition condition, Gpr to, const Operand& from);
  void SignExtendRax(int bits);  // into rdx
  void Push(Gpr reg);
  void Pop(Gpr reg);
  void Return() { Byte(0xC3); }

  // `length`: 128 or 256. `second`: the register between the first and the last, if there is one.
  struct Registers {
    uint8_t first, second;
  };
  void Vex(const VexOp& op, int length, Vec first, Vec second, const Operand& last) {
    EmitVex(op, length, {Number(first), Number(second)}, last, -1);
  }
  void Vex(const VexOp& op, int length, Vec first, const Operand& last) {
    EmitVex(op, length, {Number(first), 0}, last, -1);
  }
  void VexImmediate(const VexOp& op, int length, Vec first, Vec second, const Operand& last,
                    uint8_t immediate) {
    EmitVex(op, length, {Number(first), Number(second)}, last, immediate);
  }
  void VexShift(const VexOp& op, int length, Vec to, Vec from, uint8_t by) {
    EmitVex(op, length, {op.extension, Number(to)}, from, by);
  }
  // From or to a general register in the first place.
  void VexGeneral(const VexOp& op, int length, Gpr first, const Operand& last) {
    EmitVex(op, length, {static_cast<uint8_t>(first), 0}, last, -1);
  }
  void ShiftBy(const VexOp& op, int bits, Gpr to, const Operand& from, Gpr by);
  void ZeroUpper();

  // Jumps and calls within the code.
  Label NewLabel();
  void Bind(Label label);
  // Bytes from the beginning; of a bound label.
  int64_t PlaceOf(Label label) const { return labels_[static_cast<uint32_t>(label)]; }
  void Jump(Label label);
  void JumpIf(Condition condition, Label label);
  void Call(Label label);
  void Call(Gpr function);
  void LoadAddress(Gpr to, Label label);

  // A constant's place; equal ones share it. Aligned as its size asks, up to 32 bytes.
  int32_t Constant(std::string_view bytes);
  // An array, which nothing else shares.
  int32_t Data(std::string_view bytes);

  // The code and its constants, once all labels are bound.
  const std::vector<uint8_t>& Finish();
  size_t size() const { return code_.size(); }
  const std::vector<uint8_t>& code() const { return code_; }

 private:
  struct Fixup {
    uint32_t at;     // of the displacement
    uint32_t next;   // of the instruction behind
    int32_t target;  // label, or place of a constant
    bool is_constant;
  };
  static uint8_t Number(Vec reg) { return static_cast<uint8_t>(reg); }
  static uint8_t Number(Gpr reg) { return static_cast<uint8_t>(reg); }
  void Byte(uint8_t byte) { code_.push_back(byte); }
  void Word32(uint32_t word);
  void Rex(bool wide, uint8_t reg, const Operand& other, bool force);
  void ModRm(uint8_t reg, const Operand& other, int bytes_behind);
  void EmitVex(const VexOp& op, int length, Registers registers, const Operand& last,
               int immediate);
  void Target(Label label);

  std::vector<uint8_t> code_;
  std::string data_;
  std::map<std::string, int32_t, std::less<>> shared_;
  std::vector<int64_t> labels_;  // -1: not bound
  std::vector<Fixup> fixups_;
};

}  // namespace assay::direct
