// Computes the elements of a kernel's nests and stores them, at the places that its plan names. Who
// computes which element is left to the kernel.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/plan/kernel_plan.h"

namespace assay::gpu {

class NestStorer {
 public:
  // `ir` and `plan` outlive it.
  NestStorer(llvm::IRBuilder<>& ir, const KernelPlan& plan, const KernelBends& bends);
  NestStorer(const NestStorer&) = delete;
  NestStorer& operator=(const NestStorer&) = delete;

  // The pointers to operands and results, by leaf: nullptr where a leaf is no array.
  void Bind(std::vector<std::vector<llvm::Value*>> operands, std::vector<llvm::Value*> results);

  // Stores element number `number` of a nest, in row-major order.
  absl::Status StoreElement(const NestPlan& nest, llvm::Value* number);
  // All outputs are computed before one is stored: a result may lie where an operand does.
  absl::Status StoreAt(const NestPlan& nest, const ElementIndex& index);

  ElementEmitter& elements() { return elements_; }
  const ElementEmitter::Frame* frame() const { return frame_; }
  const std::vector<std::vector<llvm::Value*>>& operands() const { return operands_; }
  const std::vector<llvm::Value*>& results() const { return results_; }

 private:
  absl::StatusOr<std::vector<llvm::Value*>> StartsOf(const NestOutput& output);
  void StoreLeaf(int leaf, ElementIndex at, const std::vector<llvm::Value*>& starts,
                 llvm::Value* value);

  const KernelPlan& plan_;
  const KernelBends bends_;
  ValueBuilder values_;
  ElementEmitter elements_;
  std::vector<std::vector<llvm::Value*>> operands_;
  std::vector<llvm::Value*> results_;
  std::vector<Shape> result_shapes_;
  const ElementEmitter::Frame* frame_ = nullptr;
};

}  // namespace assay::gpu
