// One function of LLVM IR to machine code, in one pass over its blocks. What the emitter of this
// project writes is known; anything else is refused, and LLVM translates the module. Follows the
// LLVM language reference: bits are those that it defines, and where it leaves a choice, any.
// Functions follow the calling convention of the System V ABI; vectors go through memory, whose
// address is passed in their place.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "optimized/cpu/native/assembler/assembler.h"
#include "optimized/cpu/native/direct/links.h"
#include "optimized/cpu/native/direct/values.h"
#include "optimized/defects/bends.h"

namespace assay::direct {

// Instructions on lanes of f32, f64, and on one of each.
struct FloatOps {
  VexOp ps, pd, ss, sd;
};

class FunctionTranslator {
 public:
  FunctionTranslator(const llvm::Function& function, Assembler& assembler, Links& links,
                     const KernelBends& bends);
  // Empty, or why the function is refused.
  const std::string& Run();

 private:
  using Instruction = llvm::Instruction;
  using Value = llvm::Value;

  // Control: function_translator.cc.
  void DeclareValues();
  void EmitBlock(const llvm::BasicBlock& block, const llvm::BasicBlock* next);
  void Visit(const Instruction& instruction);
  bool VisitFloat(const Instruction& instruction);
  bool VisitVector(const Instruction& instruction);
  void VisitScalar(const Instruction& instruction);
  void EndUses(const Instruction& instruction);
  bool IsDeferred(const Instruction& instruction);
  void Terminate(const Instruction& instruction, const llvm::BasicBlock* next);
  void BranchOn(const llvm::BranchInst& branch, const llvm::BasicBlock* next);
  void Switch(const llvm::SwitchInst& choice, const llvm::BasicBlock* next);
  void FollowEdge(const llvm::BasicBlock& from, const llvm::BasicBlock& to,
                  const llvm::BasicBlock* next);
  void CopyPhis(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  void CopyToFrame(const Value& value, Address to, bool as_bytes);
  void WriteEnds();

  // Calls: calls.cc.
  void ReceiveArguments();
  void ReceiveVector(const llvm::Argument& argument, Gpr pointer);
  void Return(const llvm::ReturnInst& ret);
  void Call(const llvm::CallInst& call);
  void PassArguments(const llvm::CallInst& call, bool has_result_pointer);
  void TakeResult(const llvm::CallInst& call, int32_t result_place);
  bool CopyMemory(const llvm::CallInst& call);

  // Memory: memory.cc.
  Address AddressOf(const Value& pointer);
  Address InScratch(const Address& at);
  void Load(const llvm::LoadInst& load);
  void Store(const llvm::StoreInst& store);
  void LoadPiece(Vec to, const Address& at, int bytes);
  void StorePiece(const Address& at, Vec from, int bytes);
  void Offset(const llvm::GetElementPtrInst& gep);
  void Allocate(const llvm::AllocaInst& alloca);

  // Integers, one at a time: integers.cc. In a loop over lanes the operands are those of a lane.
  Gpr General(const Value& value);
  Gpr GeneralCopy(const Value& value);
  Gpr SignedCopy(const Value& value);
  void Canonical(Gpr reg, int bits);
  void SetGeneral(const Instruction& instruction, Gpr reg);
  void Arithmetic(const Instruction& instruction);
  void Shift(const Instruction& instruction);
  void Divide(const Instruction& instruction);
  Condition Compare(const llvm::ICmpInst& compare);
  Condition CompareOrTest(const Value& condition);
  void IntegerMinMax(const llvm::MinMaxIntrinsic& choice);
  void IntegerFunction(const llvm::IntrinsicInst& call);
  void SelectGeneral(const llvm::SelectInst& select);
  bool Integer(const Instruction& instruction);

  // Conversions of one number, of a lane as well: conversions.cc.
  Vec Float(const Value& value);
  void SetFloat(const Instruction& instruction, Vec reg);
  bool Convert(const Instruction& instruction);
  void ResizeInteger(const Instruction& instruction);
  void FloatToInteger(const llvm::IntrinsicInst& call, bool is_signed);
  void ClampToInteger(Gpr to, Vec from, int bits, bool is_signed);
  void WideFloatToInteger(Gpr to, Vec from, bool is_signed);
  void IntegerToFloat(const Instruction& instruction, bool is_signed);
  void ScalarBitCast(const Instruction& instruction);

  // Floats, scalars and vectors alike: floats.cc.
  int Length(const Value& value);
  void FloatArithmetic(const Instruction& instruction, const FloatOps& ops);
  void FloatUnary(const Instruction& instruction, const FloatOps& ops);
  void Round(const llvm::IntrinsicInst& call, int mode);
  void RoundAway(const llvm::IntrinsicInst& call);
  void SignOps(const Instruction& instruction);
  void MultiplyAdd(const llvm::IntrinsicInst& call);
  void FloatMinMax(const llvm::IntrinsicInst& call, bool is_max);
  void FloatCompare(const llvm::FCmpInst& compare);
  void SelectFloat(const llvm::SelectInst& select);
  bool FloatIntrinsic(const llvm::IntrinsicInst& call);

  // Vectors: vectors.cc, vector_casts.cc.
  bool VectorBinary(const Instruction& instruction);
  // Defines a vector or a float as what `op` makes of each piece of its first two operands.
  void PieceByPiece(const Instruction& instruction, const VexOp& op);
  bool VectorShift(const Instruction& instruction);
  bool VectorCompare(const llvm::ICmpInst& compare);
  bool VectorIntrinsic(const llvm::IntrinsicInst& call);
  bool SelectVector(const llvm::SelectInst& select);
  bool ReduceOr(const llvm::IntrinsicInst& call);
  bool InsertLane(const llvm::InsertElementInst& insert);
  bool ExtractLane(const llvm::ExtractElementInst& extract);
  bool Shuffle(const llvm::ShuffleVectorInst& shuffle);
  bool ShuffleRegisters(const llvm::ShuffleVectorInst& shuffle);
  // Into the last of the scratch registers.
  void PickLanes(const llvm::ShuffleVectorInst& shuffle, int to_piece);
  bool VectorCast(const Instruction& instruction);
  bool Extend(const Instruction& instruction, bool is_signed);
  bool Truncate(const Instruction& instruction);
  bool ExtendFloat(const Instruction& instruction);
  bool TruncateFloat(const Instruction& instruction);
  bool VectorIntegerToFloat(const Instruction& instruction, bool is_signed);
  bool CopyBits(const Instruction& instruction);
  // A truth's pieces at this width: in registers or in memory.
  Operand TruthPiece(const Value& truth, int lane_bytes, int piece);
  // Prepares that; false where the width cannot be had.
  bool HaveTruths(const Value& truth, int lane_bytes);
  // Lanes of half the bytes, in an area of the frame.
  Address HalveLanes(const Address& from, int lanes, int from_bytes);
  // Bytes of the frame for the time of one instruction.
  Address Area(int bytes);
  // Every lane for itself, through memory.
  void ByLanes(const Instruction& instruction);
  Address LaneAddress(const Value& value, int lane);

  void Refuse(std::string why) { values_.Refuse(std::move(why)); }
  // True if a planted defect forgets this side condition, which does not hold here.
  bool IsForgotten(std::string_view claim) const { return bends_.Holds(claim, nullptr, false); }

  const llvm::Function& function_;
  Assembler& a_;
  Links& links_;
  const KernelBends& bends_;
  Values values_;
  llvm::DenseMap<const llvm::BasicBlock*, Label> blocks_;
  Label body_, leave_;
  int32_t result_pointer_ = 0;  // where the address of a result in memory is kept
  bool has_vectors_ = false;
  int lane_ = -1;  // the lane that is worked on; -1: the value is no vector
  // Truths at another width, and areas of the frame, for the instruction that is being translated.
  llvm::DenseMap<const Value*, Address> widened_;
  struct FrameArea {
    int32_t place;
    int bytes;
  };
  std::vector<FrameArea> areas_;
  size_t areas_used_ = 0;
};

}  // namespace assay::direct
