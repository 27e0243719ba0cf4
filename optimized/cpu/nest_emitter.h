// Emits the loop nest that computes elements of an instruction and stores them, as a WalkPlan says.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/cpu/plan/walk_plan.h"

namespace assay {

// Elements computed in one nest and where they go.
struct KernelOutput {
  const ElementEmitter::Frame* frame;
  const Instruction* instruction;
  std::vector<int> leaves;  // results written, one per leaf of the instruction
  // Position of element 0 within the result; empty: the whole result.
  std::vector<llvm::Value*> starts;
};

// The results of a kernel by leaf; no pointer for what is not an array.
struct KernelResults {
  std::vector<Shape> shapes;
  std::vector<llvm::Value*> pointers;
};

// A part of the outermost loop; null: all of it.
struct LoopPart {
  llvm::Value* begin = nullptr;
  llvm::Value* end = nullptr;
};

class NestEmitter {
 public:
  NestEmitter(ElementEmitter& elements, const KernelResults& results, LoopPart part)
      : elements_(elements), results_(results), part_(part) {}

  absl::Status Emit(const KernelOutput& output, const WalkPlan& walk);

 private:
  using IndexAt = std::function<ElementIndex(llvm::Value* i, int width)>;

  absl::Status EmitDimension(const KernelOutput& output, const WalkPlan& walk, const Shape& shape,
                             ElementIndex index);
  // The innermost loop: whole vectors, then single elements.
  absl::Status EmitLaneLoop(const KernelOutput& output, int width, LoopPart range,
                            const IndexAt& index_at);
  absl::Status StoreAt(const KernelOutput& output, const ElementIndex& index);
  void StoreLanes(ElementType type, llvm::Value* value, llvm::Value* pointer);
  // The range of a loop over `extent`: the kernel's part if this loop is the one that is cut.
  LoopPart Range(bool is_outermost, int64_t extent);

  ElementEmitter& elements_;
  const KernelResults& results_;
  LoopPart part_;
};

// The array of an output's elements: of the first leaf, whose dimensions all have.
const Shape& WrittenShape(const KernelOutput& output);

}  // namespace assay
