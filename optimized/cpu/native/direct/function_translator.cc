// Blocks, branches, and what is handed on at their ends.
#include "optimized/cpu/native/direct/function_translator.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"

namespace assay::direct {
namespace {

// Dominators come first, and what is in a loop before what is behind it.
std::vector<const llvm::BasicBlock*> OrderOf(const llvm::Function& function) {
  struct Visit {
    const llvm::BasicBlock* block;
    unsigned left;  // successors that were not looked at
  };
  std::vector<const llvm::BasicBlock*> order;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 32> seen;
  std::vector<Visit> path;
  const auto enter = [&](const llvm::BasicBlock* block) {
    if (seen.insert(block).second) {
      path.push_back({block, block->getTerminator()->getNumSuccessors()});
    }
  };
  enter(&function.getEntryBlock());
  while (!path.empty()) {
    Visit& top = path.back();
    if (top.left == 0) {
      order.push_back(top.block);
      path.pop_back();
    } else {
      enter(top.block->getTerminator()->getSuccessor(--top.left));
    }
  }
  return {order.rbegin(), order.rend()};
}

}  // namespace

FunctionTranslator::FunctionTranslator(const llvm::Function& function, Assembler& assembler,
                                       Links& links, const KernelBends& bends)
    : function_(function),
      a_(assembler),
      links_(links),
      bends_(bends),
      values_(assembler, links),
      body_(assembler.NewLabel()),
      leave_(assembler.NewLabel()) {}

const std::string& FunctionTranslator::Run() {
  const std::vector<const llvm::BasicBlock*> order = OrderOf(function_);
  for (const llvm::BasicBlock* block : order) blocks_[block] = a_.NewLabel();
  DeclareValues();
  a_.Bind(body_);
  if (values_.refused().empty()) ReceiveArguments();
  for (size_t k = 0; k < order.size() && values_.refused().empty(); ++k) {
    const llvm::BasicBlock* next = k + 1 < order.size() ? order[k + 1] : nullptr;
    EmitBlock(*order[k], next);
    // A block that is reached from this one alone finds the registers as they are.
    if (next == nullptr || next->getSinglePredecessor() != order[k]) values_.ForgetRegisters();
  }
  WriteEnds();
  return values_.refused();
}

void FunctionTranslator::DeclareValues() {
  for (const llvm::Argument& argument : function_.args()) values_.Declare(argument, true);
  for (const llvm::BasicBlock& block : function_) {
    if (!blocks_.contains(&block)) continue;  // nothing leads there
    for (const llvm::PHINode& phi : block.phis()) {
      values_.Declare(phi, true);
      values_.DefineInSlot(phi);
    }
  }
}

void FunctionTranslator::EmitBlock(const llvm::BasicBlock& block, const llvm::BasicBlock* next) {
  a_.Bind(blocks_[&block]);
  for (const Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode>(instruction) || IsDeferred(instruction)) continue;
    if (instruction.isTerminator()) {
      Terminate(instruction, next);
      EndUses(instruction);
    } else {
      if (!instruction.getType()->isVoidTy())
        values_.Declare(instruction, llvm::isa<llvm::AllocaInst>(instruction));
      if (!values_.refused().empty()) return;
      Visit(instruction);
      EndUses(instruction);
      if (!instruction.getType()->isVoidTy() && instruction.use_empty())
        values_.EndUse(instruction);
    }
    values_.ReleasePins();
    if (!values_.refused().empty()) return;
  }
}

void FunctionTranslator::EndUses(const Instruction& instruction) {
  for (const llvm::Use& use : instruction.operands()) {
    const auto* operand = llvm::dyn_cast<Instruction>(use.get());
    if (operand != nullptr && IsDeferred(*operand)) {
      EndUses(*operand);
    } else {
      values_.EndUse(*use);
    }
  }
}

// Comparisons become one with the branch or selection that reads them, offsets with the access to
// memory: they are translated there.
bool FunctionTranslator::IsDeferred(const Instruction& instruction) {
  if (!instruction.hasOneUse()) return false;
  const auto* user = llvm::cast<Instruction>(*instruction.user_begin());
  if (user->getParent() != instruction.getParent()) return false;
  if (llvm::isa<llvm::ICmpInst>(instruction)) {
    if (instruction.getType()->isVectorTy()) return false;
    if (llvm::isa<llvm::BranchInst>(user)) return true;
    const auto* select = llvm::dyn_cast<llvm::SelectInst>(user);
    return select != nullptr && select->getCondition() == &instruction &&
           direct::KindOf(select->getType()).in_general;
  }
  const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
  if (gep == nullptr) return false;
  const bool is_address = llvm::isa<llvm::LoadInst>(user) ||
                          (llvm::isa<llvm::StoreInst>(user) &&
                           llvm::cast<llvm::StoreInst>(user)->getPointerOperand() == &instruction);
  if (!is_address || gep->getType()->isVectorTy()) return false;
  if (gep->hasAllConstantIndices()) return true;
  const uint64_t size =
      function_.getDataLayout().getTypeAllocSize(gep->getSourceElementType()).getFixedValue();
  return gep->getNumIndices() == 1 && size <= 8 && (size & (size - 1)) == 0 && size != 0 &&
         gep->getOperand(1)->getType()->isIntegerTy(64);
}

void FunctionTranslator::Visit(const Instruction& instruction) {
  widened_.clear();
  areas_used_ = 0;
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return Load(llvm::cast<llvm::LoadInst>(instruction));
    case Instruction::Store:
      return Store(llvm::cast<llvm::StoreInst>(instruction));
    case Instruction::GetElementPtr:
      return Offset(llvm::cast<llvm::GetElementPtrInst>(instruction));
    case Instruction::Alloca:
      return Allocate(llvm::cast<llvm::AllocaInst>(instruction));
    case Instruction::Call:
      if (!llvm::isa<llvm::IntrinsicInst>(instruction))
        return Call(llvm::cast<llvm::CallInst>(instruction));
      if (CopyMemory(llvm::cast<llvm::CallInst>(instruction))) return;
      break;
    default:
      break;
  }
  bool has_vectors = instruction.getType()->isVectorTy();
  for (const llvm::Use& use : instruction.operands()) has_vectors |= use->getType()->isVectorTy();
  has_vectors_ |= has_vectors;
  if (VisitFloat(instruction)) return;
  if (has_vectors) {
    if (VisitVector(instruction)) return;
    return ByLanes(instruction);
  }
  VisitScalar(instruction);
}

void FunctionTranslator::VisitScalar(const Instruction& instruction) {
  if (Integer(instruction) || Convert(instruction)) return;
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
    return SelectGeneral(*select);
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    const Value& pair = *extract->getAggregateOperand();
    if (values_.KindOf(pair).is_struct() && lane_ < 0) {
      return values_.Define(instruction, 0,
                            values_.VectorCopy(pair, static_cast<int>(*extract->idx_begin())));
    }
  }
  if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    if (values_.KindOf(instruction).is_struct() && lane_ < 0) {
      const int member = static_cast<int>(*insert->idx_begin());
      values_.Define(instruction, member, values_.VectorCopy(*insert->getInsertedValueOperand()));
      return values_.Define(instruction, 1 - member,
                            values_.VectorCopy(*insert->getAggregateOperand(), 1 - member));
    }
  }
  if (llvm::isa<llvm::FreezeInst>(instruction) && lane_ < 0) {
    if (values_.KindOf(instruction).in_general)
      return SetGeneral(instruction, GeneralCopy(*instruction.getOperand(0)));
  }
  Refuse(std::string("an instruction: ") + instruction.getOpcodeName());
}

bool FunctionTranslator::VisitVector(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::ICmp:
      return VectorCompare(llvm::cast<llvm::ICmpInst>(instruction));
    case Instruction::Select:
      return SelectVector(llvm::cast<llvm::SelectInst>(instruction));
    case Instruction::InsertElement:
      return InsertLane(llvm::cast<llvm::InsertElementInst>(instruction));
    case Instruction::ExtractElement:
      return ExtractLane(llvm::cast<llvm::ExtractElementInst>(instruction));
    case Instruction::ShuffleVector:
      return Shuffle(llvm::cast<llvm::ShuffleVectorInst>(instruction));
    case Instruction::Call:
      return VectorIntrinsic(llvm::cast<llvm::IntrinsicInst>(instruction));
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      return VectorShift(instruction);
    default:
      break;
  }
  if (instruction.isBinaryOp()) return VectorBinary(instruction);
  return instruction.isCast() && VectorCast(instruction);
}

void FunctionTranslator::Terminate(const Instruction& instruction, const llvm::BasicBlock* next) {
  if (const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
    Return(*ret);
  } else if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    BranchOn(*branch, next);
  } else if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    Switch(*choice, next);
  } else {
    Refuse(std::string("an instruction: ") + instruction.getOpcodeName());
  }
}

void FunctionTranslator::BranchOn(const llvm::BranchInst& branch, const llvm::BasicBlock* next) {
  const llvm::BasicBlock& from = *branch.getParent();
  if (branch.isUnconditional()) return FollowEdge(from, *branch.getSuccessor(0), next);
  const Condition holds = CompareOrTest(*branch.getCondition());
  const llvm::BasicBlock& yes = *branch.getSuccessor(0);
  const llvm::BasicBlock& no = *branch.getSuccessor(1);
  if (yes.phis().empty()) {
    a_.JumpIf(holds, blocks_[&yes]);
    return FollowEdge(from, no, next);
  }
  const Label otherwise = a_.NewLabel();
  a_.JumpIf(Inverse(holds), otherwise);
  FollowEdge(from, yes, nullptr);
  a_.Bind(otherwise);
  FollowEdge(from, no, next);
}

void FunctionTranslator::Switch(const llvm::SwitchInst& choice, const llvm::BasicBlock* next) {
  const Gpr value = values_.General(*choice.getCondition());
  for (const auto& each : choice.cases()) {
    const uint64_t wanted = each.getCaseValue()->getZExtValue();
    a_.MoveImmediate(kScratch, wanted);
    a_.Int(kCmp, 64, value, kScratch);
    const Label otherwise = a_.NewLabel();
    a_.JumpIf(Condition::kNotEqual, otherwise);
    FollowEdge(*choice.getParent(), *each.getCaseSuccessor(), nullptr);
    a_.Bind(otherwise);
  }
  FollowEdge(*choice.getParent(), *choice.getDefaultDest(), next);
}

void FunctionTranslator::FollowEdge(const llvm::BasicBlock& from, const llvm::BasicBlock& to,
                                    const llvm::BasicBlock* next) {
  CopyPhis(from, to);
  if (&to != next) a_.Jump(blocks_[&to]);
}

// Uses scratch registers alone: another edge of the block must find the registers as they were.
void FunctionTranslator::CopyToFrame(const Value& value, Address to, bool as_bytes) {
  const Kind kind = values_.KindOf(value);
  if (kind.in_general) {
    values_.Load(kScratch, value);
    return a_.Int(kMovStore, 64, kScratch, to);
  }
  if (as_bytes && kind.is_truth() && values_.LaneBytes(value) != 1)
    return Refuse("truths in a phi");
  for (int k = 0; k < values_.Pieces(value); ++k) {
    values_.Load(ScratchVec(0), value, k);
    const VexOp& store = kind.is_vector    ? kMovUpsStore
                         : kind.bits == 32 ? kMovSsStore
                                           : kMovSdStore;
    a_.Vex(store, kind.is_vector ? 256 : 128, ScratchVec(0), to.Plus(k * kind.piece_bytes()));
  }
}

void FunctionTranslator::CopyPhis(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  struct Copy {
    const llvm::PHINode* phi;
    const Value* value;
    int32_t staged;
  };
  std::vector<Copy> copies;
  bool overlaps = false;
  for (const llvm::PHINode& phi : to.phis()) {
    const Value* value = phi.getIncomingValueForBlock(&from);
    if (value == &phi) continue;
    const auto* other = llvm::dyn_cast<llvm::PHINode>(value);
    overlaps |= other != nullptr && other->getParent() == &to;
    copies.push_back({&phi, value, 0});
  }
  if (!overlaps || IsForgotten("direct-code/phis-apart")) {
    for (const Copy& copy : copies) CopyToFrame(*copy.value, values_.Slot(*copy.phi), true);
    return;
  }
  for (Copy& copy : copies) {
    const Kind kind = values_.KindOf(*copy.phi);
    copy.staged = values_.NewFrameBytes(kind.pieces(kind.bytes) * kind.piece_bytes(), 8);
    CopyToFrame(*copy.value, Address::At(Gpr::kRbp, copy.staged), true);
  }
  for (const Copy& copy : copies) {
    const Kind kind = values_.KindOf(*copy.phi);
    const int bytes = kind.pieces(kind.bytes) * kind.piece_bytes();
    for (int at = 0; at < bytes; at += 8) {
      a_.Int(kMov, 64, kScratch, Address::At(Gpr::kRbp, copy.staged + at));
      a_.Int(kMovStore, 64, kScratch, values_.Slot(*copy.phi).Plus(at));
    }
  }
}

// The ends of a function are written last, when it is known how large the frame is and which
// registers it has to save.
void FunctionTranslator::WriteEnds() {
  constexpr int32_t kOutgoing = 64, kPage = 4096;
  const std::vector<Gpr>& saved = values_.saved();
  a_.Bind(leave_);
  for (size_t k = 0; k < saved.size(); ++k) {
    a_.Int(kMov, 64, saved[k], Address::At(Gpr::kRbp, Values::SavePlace(k)));
  }
  if (has_vectors_) a_.ZeroUpper();
  a_.Int(kMov, 64, Gpr::kRsp, Address::At(Gpr::kRbp, -8));
  a_.Pop(Gpr::kRbp);
  a_.Return();

  a_.Bind(links_.LabelOf(function_));
  a_.Push(Gpr::kRbp);
  a_.Move(Gpr::kRax, Gpr::kRsp);
  a_.Move(Gpr::kRbp, Gpr::kRsp);
  a_.GroupImmediate(kAndImm, 64, Gpr::kRbp, -32);
  const int32_t frame = (values_.frame_bytes() + 31) / 32 * 32 + kOutgoing;
  // Page by page, so that a stack that has to grow does.
  for (int32_t at = kPage; at < frame; at += kPage) {
    a_.GroupImmediate(kOrImm, 64, Address::At(Gpr::kRbp, -at), 0);
  }
  a_.Int(kLea, 64, Gpr::kRsp, Address::At(Gpr::kRbp, -frame));
  a_.Int(kMovStore, 64, Gpr::kRax, Address::At(Gpr::kRbp, -8));
  for (size_t k = 0; k < saved.size(); ++k) {
    a_.Int(kMovStore, 64, saved[k], Address::At(Gpr::kRbp, Values::SavePlace(k)));
  }
  a_.Jump(body_);
}

}  // namespace assay::direct
