// Reverse post-order with loops in one piece.
#include "optimized/gpu/simulator/block_order.h"

#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace assay::gpu {
namespace {

using Blocks = std::vector<const llvm::BasicBlock*>;

// Appends `blocks`, which all lie in `around`, with each loop within it pulled together at its
// first block.
void AppendLoops(const Blocks& blocks, const llvm::Loop* around, const llvm::LoopInfo& loops,
                 Blocks& to) {
  llvm::DenseSet<const llvm::Loop*> done;
  for (const llvm::BasicBlock* block : blocks) {
    const llvm::Loop* loop = loops.getLoopFor(block);
    while (loop != around && loop->getParentLoop() != around) loop = loop->getParentLoop();
    if (loop == around) {
      to.push_back(block);
    } else if (done.insert(loop).second) {
      Blocks inside;
      for (const llvm::BasicBlock* other : blocks) {
        if (loop->contains(other)) inside.push_back(other);
      }
      AppendLoops(inside, loop, loops, to);
    }
  }
}

}  // namespace

std::vector<const llvm::BasicBlock*> OrderOfBlocks(const llvm::Function& function) {
  const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function);
  const Blocks blocks(order.begin(), order.end());
  if (blocks.size() < 3) return blocks;
  llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
  const llvm::LoopInfo loops(dominators);
  Blocks result;
  AppendLoops(blocks, nullptr, loops, result);
  return result;
}

}  // namespace assay::gpu
