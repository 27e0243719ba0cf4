// The part that templates of dots and convolutions have in common: a block computes a square of
// results from strips of both operands in shared memory.
#pragma once

#include <algorithm>
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
    const char *no_tail, *no_first_barrier, *no_second_barrier, *rows, *columns, *open_groups,
        *buffers;
  };
  // Products of elements of `types`, added in `sum_type`; `depth` contracted elements to a strip.
  // f32 loses `rounded_bits` before it becomes an element, rounded to nearest.
  struct Form {
    ElementType types[2], sum_type;
    int rounded_bits = 0;
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

  // Shared memory for a strip of each operand, or for two where the next one is copied ahead.
  void MakeStrips(int64_t elements);
  llvm::Value* Strip(int64_t operand, llvm::Value* buffer);
  // Loads the elements of a strip that a turn of this thread fills, number 0 to StripTurns() - 1,
  // and stores them at the place that `place` gives for the line and the depth in the strip of the
  // first, or has them copied there. Neighbouring threads read along what is contiguous in the
  // operand.
  using PlaceInStrip = std::function<llvm::Value*(llvm::Value* line, llvm::Value* depth)>;
  absl::Status FillOnce(int64_t operand, llvm::Value* turn, llvm::Value* depth, llvm::Value* strip,
                        const PlaceInStrip& place);
  int64_t StripTurns(int64_t operand) const {
    return form_.side * form_.depth / (c_.choice.block_size * Lanes(operand));
  }
  // The sums over all strips: `fill` makes those that begin at a depth, `add` adds their products.
  absl::StatusOr<ElementValues> SumStrips(
      const ElementValues& zeros,
      const std::function<absl::Status(llvm::Value* depth, llvm::Value* buffer)>& fill,
      const std::function<absl::StatusOr<ElementValues>(const ElementValues& sums,
                                                        llvm::Value* buffer)>& add);
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
  // An f32 without its last bits: rounded to nearest, and never to infinity.
  llvm::Value* Rounded(llvm::Value* single);
  bool CopiesAhead() const { return c_.choice.copied[0] > 0; }
  int64_t Lanes(int64_t operand) const { return std::max<int64_t>(1, c_.choice.copied[operand]); }
  // The place of an operand's element; `exists`, if it is set, says that it is not behind the end
  // of what is contracted, where an element stands for it that is.
  ElementIndex IndexOf(int64_t operand, llvm::Value* line, llvm::Value* depth,
                       llvm::Value*& exists);
  // Elements as the products' type; zeros where they do not exist.
  absl::StatusOr<llvm::Value*> Elements(int64_t operand, const ElementIndex& index,
                                        llvm::Value* exists);
  // False: they must be loaded and stored.
  absl::StatusOr<bool> CopyElements(int64_t operand, const ElementIndex& index, llvm::Value* exists,
                                    llvm::Value* to);

  const DotSizes sizes_;
  llvm::Value* batch_ = nullptr;
  std::vector<llvm::Value*> strips_;
  int64_t strip_elements_ = 0;
};

}  // namespace assay::gpu
