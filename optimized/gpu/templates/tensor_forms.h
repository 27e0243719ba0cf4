// In which types tensor cores multiply the operands of a dot, so that its contract holds.
// Documents: PTX ISA 8.8, mma.sync (types and shapes); arXiv 2511.10909 (bits that sums keep);
// operation semantics chapter 11; hlo-format 4.0.4 (algorithms).
#pragma once

#include <optional>
#include <string_view>

#include "optimized/gpu/target/architecture.h"
#include "spec/ir/instruction.h"

namespace assay::gpu {

struct TensorForm {
  // Elements of either operand in shared memory. f32 stands for tf32: its low 13 bits are zero.
  ElementType types[2] = {ElementType::kF16, ElementType::kF16};
  ElementType sum = ElementType::kF32;
  // Bits of an f32 that are rounded off before it becomes an element.
  int rounded_bits = 0;
  // f64: products of 16 rows and 8 in depth by one instruction.
  bool is_whole_f64 = false;
  std::string_view reason;
};

// Elements that are contracted by one instruction, which is what a strip is deep.
int64_t TensorDepth(const TensorForm& form);

// Gives that of a dot or a convolution; nothing where threads must multiply.
std::optional<TensorForm> TensorFormOf(const Instruction& dot, const Architecture& architecture);

}  // namespace assay::gpu
