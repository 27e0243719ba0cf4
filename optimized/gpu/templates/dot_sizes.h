// A dot or a convolution as products of matrices: which rows, columns and contracted elements there
// are, and where in the arrays they lie. A convolution has its windows' positions as rows, output
// features as columns, and contracts the places of a window with the input features; its groups are
// batches. Document: operation semantics chapter 11.
#pragma once

#include <cstdint>
#include <vector>

#include "optimized/codegen/element_emitter.h"
#include "spec/ir/module.h"

namespace assay::gpu {

// Contracted elements of a strip that threads multiply.
inline constexpr int64_t kTileDepth = 16;

struct DotSizes {
  DimVector batch, rows, columns;  // as dimensions
  DimVector depth;                 // contracted
  int64_t batches = 1, row_count = 1, column_count = 1, depth_count = 1;

  static DotSizes Of(const Instruction& contraction);
};

// True if each element of the operand (0: the left one) lies behind that of the contracted element
// before it; false if behind that of the line before it.
bool DepthIsInnermost(const Instruction& contraction, int64_t operand);

// The index of the result at a row and a column of a batch (numbers in row-major order).
std::vector<llvm::Value*> ResultPlace(ElementEmitter& emitter, const Instruction& contraction,
                                      llvm::Value* batch, llvm::Value* row, llvm::Value* column);

// An operand's element at a line (a row of the left operand, a column of the right one) and a
// contracted element; in padding and in holes there is none, and it counts as zero.
struct OperandPlace {
  std::vector<llvm::Value*> dims;
  llvm::Value* exists = nullptr;  // nullptr: it always does
};
OperandPlace PlaceOfOperand(ElementEmitter& emitter, const Instruction& contraction,
                            int64_t operand, llvm::Value* batch, llvm::Value* line,
                            llvm::Value* depth);

}  // namespace assay::gpu
