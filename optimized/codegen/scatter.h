// Scatter and select-and-scatter: the result starts as a copy of the operand, or as one value, then
// updates are combined in, in row-major order. As one loop, or in parts that never meet and can run
// at the same time. Documents: operation semantics chapters 9 (Scatter), 10 (SelectAndScatter).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "llvm/IR/Instructions.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/target/target.h"
#include "spec/ir/module.h"

namespace assay {

struct ScatterContext {
  ElementEmitter& elements;  // operands are its sources
  const Instruction& instruction;
  llvm::ArrayRef<llvm::Value*> results;  // by leaf; a scatter's hold the operand already
  int width = 1;                         // of vectors along rows (ScattersRows)
  int64_t short_by = 0;                  // added to the length of rows by a planted defect
  // Combines an update with what is there in one step of the memory.
  std::optional<llvm::AtomicRMWInst::BinOp> atomic = std::nullopt;
};

// True if rows of windows can be combined in vectors.
bool ScattersRows(const Instruction& scatter, const Target& target);

// All updates.
absl::Status EmitScatterUpdates(ScatterContext& context);

// The parts of a scatter that can run at the same time.
struct ScatterSplit {
  enum Kind : uint8_t {
    kWhole,     // none: windows meet, and their order matters
    kElements,  // each element of the updates
    kColumns,   // each place within windows, for all windows in order
  } kind = kWhole;
  int64_t parts = 1;                                                // 0: nothing to do
  std::optional<llvm::AtomicRMWInst::BinOp> atomic = std::nullopt;  // elements meet in any order
};
ScatterSplit SplitOfScatter(const Instruction& scatter);
absl::Status EmitScatterPart(ScatterContext& context, ScatterSplit::Kind kind, llvm::Value* part);

absl::Status EmitSelectAndScatter(ScatterContext& context);
// Its two steps: element `at` of the result, then part `part` of ApartWindows; parts share no
// element.
absl::Status EmitStartValue(ScatterContext& context, llvm::Value* at);
int64_t ApartWindows(const Instruction& select_and_scatter);
absl::Status EmitSelectedWindows(ScatterContext& context, llvm::Value* part);

}  // namespace assay
