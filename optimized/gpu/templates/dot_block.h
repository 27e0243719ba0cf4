// The part that templates of dots and convolutions have in common: a block computes a square of
// results from strips of both operands in shared memory.
#pragma once

#include <functional>
#include <vector>

#include "optimized/analysis/walks/contractions.h"
#include "optimized/gpu/templates/block_builder.h"
#include "optimized/gpu/templates/dot_sizes.h"
#include "optimized/gpu/templates/templates.h"

namespace assay::gpu {

// Blocks of the grid: squares of `side` results, of each batch.
int64_t SquareBlocks(const Instruction& dot, int64_t side);

class DotBlock {
 public:
  // The claims that a template of its own makes (gates/claim_names.cc).
  struct Claims {
    const char *no_tail, *no_first_barrier, *no_second_barrier, *rows, *columns;
  };
  // Products of elements of `type`, added in `sum_type`; `depth` contracted elements to a strip.
  struct Form {
    ElementType type, sum_type;
    int64_t side = 0, depth = 0;
    Claims claims;
  };
  DotBlock(TemplateContext& context, const Form& form);

 protected:
  int64_t Bent(const char* claim, int64_t known) const {
    return c_.bends().Number(claim, c_.plan.instruction, known);
  }
  bool Forgets(const char* claim) const {
    return c_.bends().Holds(claim, c_.plan.instruction, false);
  }
  llvm::Value* Div(llvm::Value* dividend, int64_t divisor) {
    return ir_.CreateUDiv(dividend, e_.Index(divisor));
  }
  llvm::Value* Rem(llvm::Value* dividend, int64_t divisor) {
    return ir_.CreateURem(dividend, e_.Index(divisor));
  }
  llvm::Value* Plus(llvm::Value* value, int64_t more) {
    return ir_.CreateAdd(value, e_.Index(more));
  }

  // Loads the element of a strip that a turn of this thread fills, number 0 to StripTurns() - 1,
  // and stores it at the place that `place` gives for its line and its depth in the strip.
  // Neighbouring threads read along what is contiguous in the operand.
  using PlaceInStrip = std::function<llvm::Value*(llvm::Value* line, llvm::Value* depth)>;
  absl::Status FillOnce(int64_t operand, llvm::Value* turn, llvm::Value* depth, llvm::Value* strip,
                        const PlaceInStrip& place);
  int64_t StripTurns() const { return form_.side * form_.depth / c_.choice.block_size; }
  // The sums over all strips: `fill` makes those that begin at a depth, `add` adds their products.
  absl::StatusOr<ElementValues> SumStrips(
      const ElementValues& zeros, const std::function<absl::Status(llvm::Value* depth)>& fill,
      const std::function<absl::StatusOr<ElementValues>(const ElementValues& sums)>& add);
  // Stores a sum, at a row and a column of the batch, where there is such a result.
  absl::Status Store(llvm::Value* row, llvm::Value* column, llvm::Value* sum);

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const Instruction& dot_;
  const Form form_;
  llvm::Value *first_row_ = nullptr, *first_column_ = nullptr;  // of the block

 private:
  // An operand's element as the products' type; zero behind the end of what is contracted.
  absl::StatusOr<llvm::Value*> Element(int64_t operand, llvm::Value* line, llvm::Value* depth);

  const DotSizes sizes_;
  llvm::Value* batch_ = nullptr;
};

}  // namespace assay::gpu
