// Emits what the threads of a block do together: shared memory, barriers, shuffles.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/Intrinsics.h"
#include "optimized/codegen/element_emitter.h"

namespace assay::gpu {

class BlockBuilder {
 public:
  explicit BlockBuilder(ElementEmitter& elements)
      : elements_(elements), ir_(elements.builder().ir()) {}

  // Memory of the block for so many elements; nothing is in it.
  llvm::Value* SharedArray(ElementType type, int64_t count, std::string_view name);
  // All threads of the block meet here.
  void Barrier();
  // The value of the lane whose number differs from this one's by `lanes` (a power of two). All
  // lanes of the warp take part.
  llvm::Value* ShuffleXor(llvm::Value* value, int64_t lanes, int64_t mask = 0xFFFFFFFF);
  // The value of the lane `lanes` before this one; of the first ones, their own. All take part.
  llvm::Value* ShuffleUp(llvm::Value* value, int64_t lanes, int64_t mask = 0xFFFFFFFF);
  // `body` where `condition` holds. Values emitted inside are not reused outside.
  absl::Status If(llvm::Value* condition, const std::function<absl::Status()>& body);
  // The values that `body` gives where `condition` holds, `otherwise` elsewhere.
  absl::StatusOr<ElementValues> ValuesIf(
      llvm::Value* condition, const ElementValues& otherwise,
      const std::function<absl::StatusOr<ElementValues>()>& body);

  llvm::Value* Below(llvm::Value* value, int64_t end) {
    return ir_.CreateICmpULT(value, elements_.Index(end));
  }
  // The largest of the two numbers that are none too large.
  llvm::Value* AtMost(llvm::Value* value, int64_t last);

 private:
  // By an instruction for words.
  struct Exchange {
    llvm::Intrinsic::ID id;
    int64_t lanes, mask;
    int edge;  // lanes beyond it keep their own
  };
  llvm::Value* Shuffle(llvm::Value* value, const Exchange& exchange);
  llvm::Value* ShuffleWord(llvm::Value* word, const Exchange& exchange);

  ElementEmitter& elements_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace assay::gpu
