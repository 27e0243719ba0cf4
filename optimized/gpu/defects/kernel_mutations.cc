// The list of mistakes, and a function or two for each.
#include "optimized/gpu/defects/kernel_mutations.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace assay::gpu {
namespace {

using llvm::Instruction;

llvm::Intrinsic::ID IdOf(const Instruction& at) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);
  return call == nullptr ? llvm::Intrinsic::not_intrinsic : call->getIntrinsicID();
}

void Erase(Instruction& at) {
  if (!at.use_empty()) at.replaceAllUsesWith(llvm::Constant::getNullValue(at.getType()));
  at.eraseFromParent();
}

// ---- synchronisation ----

bool IsBarrier(Instruction& at) {
  switch (IdOf(at)) {
    case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    case llvm::Intrinsic::nvvm_barrier_cta_sync_all:
    case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count:
    case llvm::Intrinsic::nvvm_barrier_cta_sync_count:
      return true;
    default:
      return false;
  }
}
bool IsWarpSync(Instruction& at) { return IdOf(at) == llvm::Intrinsic::nvvm_bar_warp_sync; }
bool IsAsyncWait(Instruction& at) {
  return IdOf(at) == llvm::Intrinsic::nvvm_cp_async_wait_group ||
         IdOf(at) == llvm::Intrinsic::nvvm_cp_async_wait_all;
}

// Only the first warp comes to the barrier.
void GuardBarrier(Instruction& at) {
  llvm::BasicBlock* before = at.getParent();
  llvm::BasicBlock* barrier = before->splitBasicBlock(&at, "guarded");
  llvm::BasicBlock* after = barrier->splitBasicBlock(at.getNextNode(), "after");
  before->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> ir(before);
  llvm::Value* thread =
      ir.CreateIntrinsic(ir.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  ir.CreateCondBr(ir.CreateICmpULT(thread, ir.getInt32(16)), barrier, after);
}

// ---- lanes ----

bool IsShuffle(Instruction& at) {
  switch (IdOf(at)) {
    case llvm::Intrinsic::nvvm_shfl_sync_up_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_up_f32:
    case llvm::Intrinsic::nvvm_shfl_sync_down_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_down_f32:
    case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_bfly_f32:
    case llvm::Intrinsic::nvvm_shfl_sync_idx_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_idx_f32:
      return true;
    default:
      return false;
  }
}
void WrongLane(Instruction& at) {
  llvm::IRBuilder<> ir(&at);
  // Butterflies whose every distance is one more still add up all lanes.
  const bool is_butterfly = IdOf(at) == llvm::Intrinsic::nvvm_shfl_sync_bfly_i32 ||
                            IdOf(at) == llvm::Intrinsic::nvvm_shfl_sync_bfly_f32;
  llvm::Value* offset = at.getOperand(2);
  at.setOperand(2, is_butterfly ? ir.CreateShl(offset, 1) : ir.CreateAdd(offset, ir.getInt32(1)));
}
void HalfTheLanes(Instruction& at) {
  llvm::IRBuilder<> ir(&at);
  at.setOperand(0, ir.CreateLShr(at.getOperand(0), ir.getInt32(1)));
}
void OwnValue(Instruction& at) {
  at.replaceAllUsesWith(at.getOperand(1));
  at.eraseFromParent();
}

// ---- guards and indices ----

llvm::ICmpInst* GuardOf(Instruction& at) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(&at);
  if (branch == nullptr || !branch->isConditional()) return nullptr;
  return llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
}
bool IsTail(Instruction& at) {
  const llvm::ICmpInst* compare = GuardOf(at);
  return compare != nullptr && compare->isRelational();
}
bool IsChosenThread(Instruction& at) {
  const llvm::ICmpInst* compare = GuardOf(at);
  return compare != nullptr && compare->isEquality();
}
void AlwaysGo(Instruction& at) {
  llvm::cast<llvm::BranchInst>(at).setCondition(llvm::ConstantInt::getTrue(at.getContext()));
}
void OneMore(Instruction& at) {
  llvm::ICmpInst* compare = GuardOf(at);
  const auto predicate = compare->getPredicate();
  compare->setPredicate(llvm::CmpInst::isStrictPredicate(predicate)
                            ? llvm::CmpInst::getNonStrictPredicate(predicate)
                            : llvm::CmpInst::getStrictPredicate(predicate));
}

unsigned SpaceOf(const Instruction& at) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&at);
  return pointer == nullptr ? 0 : pointer->getType()->getPointerAddressSpace();
}
bool IsGlobalAccess(Instruction& at) { return SpaceOf(at) == 1; }
bool IsSharedAccess(Instruction& at) { return SpaceOf(at) == 3; }
bool IsSharedStore(Instruction& at) { return llvm::isa<llvm::StoreInst>(at) && SpaceOf(at) == 3; }
bool IsVectorAccess(Instruction& at) {
  return SpaceOf(at) != 0 && llvm::getLoadStoreType(&at)->isVectorTy();
}
// The pointer's place among the operands.
unsigned PointerAt(const Instruction& at) { return llvm::isa<llvm::StoreInst>(at) ? 1 : 0; }
void NextElement(Instruction& at) {
  llvm::IRBuilder<> ir(&at);
  llvm::Type* element = llvm::getLoadStoreType(&at)->getScalarType();
  llvm::Value* moved = ir.CreateGEP(element, at.getOperand(PointerAt(at)), ir.getInt32(1));
  at.setOperand(PointerAt(at), moved);
}

bool IsBlockNumber(Instruction& at) {
  return IdOf(at) == llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x;
}
bool IsThreadNumber(Instruction& at) {
  return IdOf(at) == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x;
}
void TakeLane(Instruction& at) {
  llvm::IRBuilder<> ir(&at);
  llvm::Value* lane =
      ir.CreateIntrinsic(ir.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  at.replaceAllUsesWith(lane);
  at.eraseFromParent();
}

// ---- atomics ----

bool IsAtomicAdd(Instruction& at) {
  const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at);
  return atomic != nullptr && atomic->getOperation() == llvm::AtomicRMWInst::Add;
}
void MakePlain(Instruction& at) {
  auto& atomic = llvm::cast<llvm::AtomicRMWInst>(at);
  llvm::IRBuilder<> ir(&at);
  llvm::Value* old = ir.CreateLoad(atomic.getType(), atomic.getPointerOperand());
  ir.CreateStore(ir.CreateAdd(old, atomic.getValOperand()), atomic.getPointerOperand());
  at.replaceAllUsesWith(old);
  at.eraseFromParent();
}
void NarrowScope(Instruction& at) {
  llvm::cast<llvm::AtomicRMWInst>(at).setSyncScopeID(
      at.getContext().getOrInsertSyncScopeID("block"));
}

constexpr KernelMutation kMutations[] = {
    {"drop-barrier", "A barrier is left out.", IsBarrier, Erase},
    {"guard-barrier", "A barrier is reached by some threads only.", IsBarrier, GuardBarrier},
    {"drop-warp-sync", "A synchronisation of a warp is left out.", IsWarpSync, Erase},
    {"drop-async-wait", "Copies are not waited for.", IsAsyncWait, Erase},
    {"shuffle-wrong-lane", "A shuffle takes the value of the lane beside the right one.", IsShuffle,
     WrongLane},
    {"shuffle-half-mask", "A shuffle names half of the lanes.", IsShuffle, HalfTheLanes},
    {"shuffle-own-value", "A shuffle is left out.", IsShuffle, OwnValue},
    {"tail-forgotten", "A comparison with a bound is not made.", IsTail, AlwaysGo},
    {"tail-off-by-one", "A bound is off by one.", IsTail, OneMore},
    {"all-threads-write", "Something for one thread is done by all.", IsChosenThread, AlwaysGo},
    {"global-off-by-one", "An access of global memory is one element too far.", IsGlobalAccess,
     NextElement},
    {"shared-off-by-one", "An access of shared memory is one element too far.", IsSharedAccess,
     NextElement},
    {"vector-misaligned", "A vector is accessed one element too far.", IsVectorAccess, NextElement},
    {"shared-not-written", "A store to shared memory is left out.", IsSharedStore, Erase},
    {"block-forgotten", "All blocks do the work of the first.", IsBlockNumber, Erase},
    {"warp-forgotten", "All warps do the work of the first.", IsThreadNumber, TakeLane},
    {"atomic-plain", "An atomic addition is done in three steps.", IsAtomicAdd, MakePlain},
    {"atomic-block-scope", "An atomic is one among the threads of a block.", IsAtomicAdd,
     NarrowScope},
};

std::vector<Instruction*> PlacesOf(const KernelMutation& mutation, llvm::Function& kernel) {
  std::vector<Instruction*> places;
  for (Instruction& at : llvm::instructions(kernel)) {
    if (mutation.applies(at)) places.push_back(&at);
  }
  return places;
}

}  // namespace

absl::Span<const KernelMutation> KernelMutations() { return kMutations; }

const KernelMutation* FindKernelMutation(std::string_view name) {
  for (const KernelMutation& mutation : kMutations) {
    if (mutation.name == name) return &mutation;
  }
  return nullptr;
}

size_t CountPlaces(const KernelMutation& mutation, llvm::Function& kernel) {
  return PlacesOf(mutation, kernel).size();
}

bool Mutate(const KernelMutation& mutation, size_t place, llvm::Function& kernel) {
  const std::vector<Instruction*> places = PlacesOf(mutation, kernel);
  if (place >= places.size()) return false;
  mutation.apply(*places[place]);
  return true;
}

}  // namespace assay::gpu
