// The templates by which kernels are emitted whose threads work together (template_plan.h chooses).
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/gpu/templates/template_plan.h"

namespace assay::gpu {

struct TemplateContext {
  const KernelPlan& plan;
  const NestPlan& nest;
  const TemplateChoice& choice;
  ElementEmitter& elements;
  const ElementEmitter::Frame* frame;  // in which the nest's outputs and the subjects are seen
  llvm::Value *block, *thread;         // i64
  // Computes all outputs at an index of theirs, and stores them.
  std::function<absl::Status(const ElementIndex& index)> store;
  // kRowFusion: those with one value per row, in the place of rows.
  std::function<absl::Status(const ElementIndex& index)> store_per_row;

  llvm::IRBuilder<>& ir() const { return elements.builder().ir(); }
  const KernelBends& bends() const { return elements.builder().bends(); }
  const Shape& written() const { return WrittenShape(*nest.outputs[0].instruction); }
};

// Adding a template: a row of the table in templates.cc, and a function of NestChooser that says
// where it fits.
struct TemplateCode {
  KernelTemplate kind;
  int64_t (*blocks)(const NestPlan& nest, const TemplateChoice& choice);
  absl::Status (*emit)(TemplateContext& context);
};
const TemplateCode& CodeOf(KernelTemplate kind);  // not of kThreads

int64_t VectorBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitVectors(TemplateContext& context);
int64_t RowBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitRows(TemplateContext& context);
int64_t RowFusionBlocks(const NestPlan& nest, const TemplateChoice& choice);
// `store` may have nothing to do: all results have one value per row.
absl::Status EmitRowFusion(TemplateContext& context);
int64_t AttentionBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitAttention(TemplateContext& context);
int64_t ColumnBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitColumns(TemplateContext& context);
int64_t TransposedBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitTransposed(TemplateContext& context);
int64_t DotBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitDotTiles(TemplateContext& context);
int64_t TensorBlocks(const NestPlan& nest, const TemplateChoice& choice);
absl::Status EmitTensorTiles(TemplateContext& context);

// Gives accesses of several elements the alignment that is known of their addresses, and takes
// apart those that it does not allow.
void AlignAccesses(llvm::Function& kernel);

}  // namespace assay::gpu
