// Keeps track of where the values of a function are: registers serve as a cache of a frame on the
// stack, block by block. A value that only its own block uses reaches the frame when its register
// is needed for something else; any other is written there as soon as it is known.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "optimized/cpu/native/assembler/assembler.h"
#include "optimized/cpu/native/direct/kinds.h"
#include "optimized/cpu/native/direct/links.h"

namespace assay::direct {

// Registers that hold no values: for use within the translation of an instruction.
inline constexpr Gpr kScratch = Gpr::kRax, kScratch2 = Gpr::kRdx, kScratch3 = Gpr::kRcx;
constexpr Vec ScratchVec(int k) { return static_cast<Vec>(k); }  // 0 to 3

class Values {
 public:
  Values(Assembler& assembler, Links& links);

  // Makes a value known, before its first use. `must_stay`: others than its users read its slot.
  void Declare(const llvm::Value& value, bool must_stay);
  Kind KindOf(const llvm::Value& value);
  // Bytes of a lane; of truths those of the lanes that they come from.
  int LaneBytes(const llvm::Value& value);
  void SetTruthBytes(const llvm::Value& value, int bytes);
  int Pieces(const llvm::Value& value) { return KindOf(value).pieces(LaneBytes(value)); }

  // A register that holds the value, until ReleasePins.
  Gpr General(const llvm::Value& value);
  Vec Vector(const llvm::Value& value, int piece = 0);
  // The operand where it is, in a register or in memory.
  Operand GeneralOperand(const llvm::Value& value);
  Operand VectorOperand(const llvm::Value& value, int piece = 0);
  // A register of its own with the value in it, to be changed.
  Gpr GeneralCopy(const llvm::Value& value);
  Vec VectorCopy(const llvm::Value& value, int piece = 0);
  Gpr NewGeneral() { return static_cast<Gpr>(Allocate(kGeneral)); }
  Vec NewVector() { return static_cast<Vec>(Allocate(kVector)); }

  // Load into registers of the caller's choice, which hold nothing; nothing is remembered.
  void Load(Gpr to, const llvm::Value& value);
  void Load(Vec to, const llvm::Value& value, int piece = 0);

  // Says that a new register holds the value.
  void Define(const llvm::Value& value, Gpr reg) { DefineIn(kGeneral, value, 0, int(reg)); }
  void Define(const llvm::Value& value, int piece, Vec reg) {
    DefineIn(kVector, value, piece, int(reg));
  }
  // Says that the value is in its slot.
  void DefineInSlot(const llvm::Value& value);
  Address Slot(const llvm::Value& value);
  // The value is the address of so many bytes of the frame.
  void PlaceArray(const llvm::Value& value, int64_t bytes);
  // The value's bytes in memory, written there if need be. Constants as well.
  Address InMemory(const llvm::Value& value);
  // `to` takes the slot of `from`, which dies; false where that cannot be.
  bool InheritSlot(const llvm::Value& to, const llvm::Value& from);
  // 32 bytes of a constant, its truths `truth_bytes` wide.
  Address ConstantPiece(const llvm::Constant& constant, int piece, int truth_bytes);
  Address Splat(uint64_t bits, int bytes);

  // Between the pieces of a vector: registers may be taken for something else.
  void ReleasePins();
  // After an instruction: one use of `value` is over.
  void EndUse(const llvm::Value& value);
  // Before and after a call: writes what registers lose and is still needed, and forgets it.
  void LeaveForCall();
  // At the end of a block.
  void ForgetRegisters();

  // Bytes of the frame, below a base that is a multiple of 32.
  int32_t NewFrameBytes(int64_t bytes, int alignment);
  int32_t frame_bytes() const { return frame_bytes_; }
  // Registers that belong to the caller and were used.
  const std::vector<Gpr>& saved() const { return saved_; }
  static int32_t SavePlace(size_t k) { return -16 - 8 * static_cast<int32_t>(k); }

  void Refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
  }
  const std::string& refused() const { return refused_; }

 private:
  enum Bank { kGeneral, kVector };
  static constexpr int kFree = -1, kTemporary = -2, kReserved = -3;
  struct Piece {
    int32_t record = 0;
    int8_t reg = -1;
    bool in_slot = false;
  };
  struct Record {
    Kind kind;
    int32_t first_piece = 0;
    int32_t slot = 0;  // 0: none yet
    int32_t uses = 0;
    int truth_bytes = 1;
    bool is_local = false;
  };
  struct Register {
    int32_t owner = kFree;
    uint32_t used_at = 0;
    bool is_pinned = false;
  };

  Record& RecordOf(const llvm::Value& value);
  int Allocate(Bank bank);
  void DefineIn(Bank bank, const llvm::Value& value, int piece, int reg);
  void Store(Bank bank, int piece);
  void Release(Bank bank, int reg);
  int ReadPiece(Bank bank, Record& record, int piece);
  Address PieceAddress(Record& record, int piece);
  void GiveSlot(Record& record);
  void FreeSlot(Record& record);
  bool LoadConstant(Gpr to, const llvm::Constant& constant);

  Assembler& assembler_;
  Links& links_;
  llvm::DenseMap<const llvm::Value*, int32_t> numbers_;
  std::vector<Record> records_;
  std::vector<Piece> pieces_;
  std::array<std::array<Register, 16>, 2> registers_;
  std::vector<Gpr> saved_;
  llvm::DenseMap<int, std::vector<int32_t>> free_slots_;  // by their size
  int32_t frame_bytes_ = 64;                              // what is saved lies on top
  uint32_t clock_ = 0;
  std::string refused_;
};

}  // namespace assay::direct
