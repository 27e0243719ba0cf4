// From LLVM IR to the compact form: what all parts of the decoder share.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "optimized/gpu/simulator/kernel_writer.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {

// A scalar of LLVM and how lanes hold it.
struct ScalarType {
  LaneType lane = kI32;
  int bits = 32;
  bool is_float = false;
  int bytes() const { return BytesOf(lane); }
  // Integers of other widths than their lane's are kept zero-extended.
  bool is_odd() const { return !is_float && bits != 8 * bytes(); }
};

using Registers = llvm::SmallVector<Register, 4>;

// A scalar in memory.
struct PlacedScalar {
  ScalarType type;
  uint64_t offset = 0;
};

class Decoder {
 public:
  Decoder(const llvm::Function& function, const SimulatorOptions& options, KernelCode& code);
  absl::Status Run();

  // ---- for the parts ----
  KernelCode& code() { return code_; }
  KernelWriter& writer() { return writer_; }
  const llvm::DataLayout& layout() const { return layout_; }
  const SimulatorOptions& options() const { return options_; }

  absl::Status Unknown(const llvm::Value& value, std::string_view why = "");
  absl::StatusOr<ScalarType> Scalar(const llvm::Type* type);
  // The scalars of a type, in order, with their places in memory.
  absl::StatusOr<std::vector<PlacedScalar>> Scalars(llvm::Type* type);
  absl::StatusOr<Registers> ValueOf(const llvm::Value* value);
  absl::StatusOr<Register> ScalarOf(const llvm::Value* value);
  void Define(const llvm::Value* value, Registers registers) {
    values_[value] = std::move(registers);
  }

  Register Apply(LaneOp op, LaneType type, Register a, Register b = kNoRegister,
                 Register c = kNoRegister);
  Register Convert(LaneConversion conversion, LaneType from, LaneType to, Register a);
  // Cuts to the width of an odd type; extends the sign of one within its lane.
  Register Narrow(ScalarType type, Register a);
  Register SignExtended(ScalarType type, Register a);
  Register Number(int bytes, unsigned __int128 value) { return writer_.Constant(bytes, value); }
  // The place of a variable of the module, or of an alloca, within its space.
  absl::StatusOr<uint64_t> AddressOf(const llvm::Value* variable);
  // A register that launches fill in, made when it is first asked for.
  Register ThreadRegister(Register& place, bool is_uniform);
  // Finds the memory that a pointer points into. Fills in `base`, `argument`, `low` and `high`.
  void FindBase(const llvm::Value* pointer, bool is_write, MemoryOp& to);

 private:
  struct PendingEdge {
    const llvm::BasicBlock* from;
    const llvm::BasicBlock* to;
    uint32_t edge;
  };
  absl::Status PlaceVariables();
  absl::Status PlaceArguments();
  absl::Status DecodeBlock(const llvm::BasicBlock& block);
  absl::Status DecodeInstruction(const llvm::Instruction& instruction);
  absl::Status DecodeTerminator(const llvm::Instruction& instruction);
  absl::Status DecodePhis(const llvm::BasicBlock& block);
  absl::Status FillEdge(const PendingEdge& pending);
  uint32_t NewEdge(const llvm::BasicBlock* from, const llvm::BasicBlock* to);
  absl::StatusOr<Registers> ConstantOf(const llvm::Constant* constant);
  absl::StatusOr<uint64_t> ConstantAddress(const llvm::Constant* constant);
  void NoteSource(const llvm::Instruction& instruction);

  const llvm::Function& function_;
  const SimulatorOptions& options_;
  const llvm::DataLayout& layout_;
  KernelCode& code_;
  KernelWriter writer_;
  llvm::DenseMap<const llvm::Value*, Registers> values_;
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> numbers_;
  struct Variable {
    uint64_t address = 0;  // with its tag
    uint64_t low = 0, high = 0;
  };
  llvm::DenseMap<const llvm::Value*, Variable> variables_;
  std::vector<PendingEdge> pending_;
};

// The parts: each decodes its kinds of instructions, and says Unimplemented for the rest.
absl::Status DecodeBinary(Decoder& decoder, const llvm::BinaryOperator& binary);
// An index of 32 bits must not have lost any on its way to an address.
absl::Status RequireIndexFits(Decoder& decoder, const llvm::Value& index);
absl::Status DecodeCompare(Decoder& decoder, const llvm::CmpInst& compare);
absl::Status DecodeCast(Decoder& decoder, const llvm::CastInst& cast);
absl::Status DecodeSelect(Decoder& decoder, const llvm::SelectInst& select);
absl::Status DecodeAggregate(Decoder& decoder, const llvm::Instruction& instruction);
absl::Status DecodeAddress(Decoder& decoder, const llvm::GetElementPtrInst& address);
absl::Status DecodeLoad(Decoder& decoder, const llvm::LoadInst& load);
absl::Status DecodeStore(Decoder& decoder, const llvm::StoreInst& store);
absl::Status DecodeAtomic(Decoder& decoder, const llvm::AtomicRMWInst& atomic);
absl::Status DecodeExchange(Decoder& decoder, const llvm::AtomicCmpXchgInst& exchange);
absl::Status DecodeIntrinsic(Decoder& decoder, const llvm::IntrinsicInst& call);
// Intrinsics of the GPU alone: thread numbers, barriers, shuffles, votes.
absl::Status DecodeDeviceIntrinsic(Decoder& decoder, const llvm::IntrinsicInst& call);
// From floats, saturating.
absl::StatusOr<Register> FloatToInteger(Decoder& decoder, ScalarType from, ScalarType to,
                                        bool is_signed, Register a);

// The bytes of a constant, as memory holds it. False where it has none.
bool BytesOfConstant(const llvm::Constant& constant, const llvm::DataLayout& layout, std::byte* to);

}  // namespace assay::gpu
