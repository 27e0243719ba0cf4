// Emits the loop nest that computes elements of an instruction and stores them, as a WalkPlan says.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/plan/kernel_plan.h"

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

  // One nest that stores all outputs, whose elements have the same dimensions: what they share is
  // computed once.
  absl::Status Emit(absl::Span<const KernelOutput> outputs, const WalkPlan& walk);

  // Stores only the elements of the part, which counts those of the whole array in row-major order.
  // It begins and ends at multiples of `unit`, and so do lines of the array.
  absl::Status EmitElementsOfPart(absl::Span<const KernelOutput> outputs, const WalkPlan& walk,
                                  int64_t unit);

 private:
  using IndexAt = std::function<ElementIndex(llvm::Value* i, int width)>;

  absl::Status EmitDimension(const WalkPlan& walk, const Shape& shape, ElementIndex index);
  // From dimension `index.dims.size()` on. `rows`: those of the squares, once they are known.
  absl::Status EmitTiles(const WalkPlan& walk, const Shape& shape, ElementIndex index,
                         LoopPart rows);
  // One square: `rows` along the walk's dimension, `columns` along the innermost one.
  absl::Status EmitTile(const WalkPlan& walk, int64_t innermost, const ElementIndex& index,
                        LoopPart rows, LoopPart columns);
  // Emits the nest element by element.
  absl::Status EmitElements(const WalkPlan& walk, int64_t innermost, const ElementIndex& index,
                            LoopPart rows, LoopPart columns);
  // Emits the nest by squares of as many elements as a vector has lanes: each is read as vectors
  // along the walk's dimension, turned in registers, and stored as vectors along the innermost one.
  absl::Status EmitTurnedSquares(const WalkPlan& walk, int64_t innermost, const ElementIndex& index,
                                 LoopPart rows, LoopPart columns);
  absl::Status EmitTurnedSquare(const WalkPlan& walk, int64_t innermost,
                                const ElementIndex& corner);
  // The part of `range` that begins at `begin`, `tile` elements or what is left.
  LoopPart TileAt(llvm::Value* begin, LoopPart range, int tile);
  // The innermost loop over `extent` elements, or the part of them: whole vectors, then what is
  // left.
  absl::Status EmitLaneLoop(int width, LoopPart range, int64_t extent, const IndexAt& index_at);
  // The elements of the part that are in one line along dimension `innermost`.
  absl::Status EmitLine(const WalkPlan& walk, const Shape& shape, int64_t innermost, int64_t unit,
                        llvm::Value* line);
  absl::Status StoreAll(const ElementIndex& index);
  void Store(const KernelOutput& output, const ElementIndex& index, const ElementValues& element);
  void StoreLanes(ElementType type, llvm::Value* value, llvm::Value* pointer);
  // The range of a loop over `extent`: the kernel's part if this loop is the one that is cut.
  LoopPart Range(bool is_outermost, int64_t extent);

  ElementEmitter& elements_;
  const KernelResults& results_;
  LoopPart part_;
  absl::Span<const KernelOutput> outputs_;
};

}  // namespace assay
