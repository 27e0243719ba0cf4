// A dot seen through the ops that only move elements on their way to it, and those that move its
// result: where in memory each factor of its dimensions goes. Kernels that pack their operands read
// a transpose, a slice or a narrower float as it lies, and write a transpose where it belongs.
// Document: HLO passes, "Instruction fusion"; operation semantics chapter 11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// An array as it lies in the memory of another one: dimension by dimension the factors of its
// index, outermost first, with steps in elements.
struct ArrayView {
  struct Factor {
    int64_t size = 1, step = 0;
  };
  ElementType type = ElementType::kF32;  // in memory
  int64_t start = 0;
  std::vector<std::vector<Factor>> dims;

  static ArrayView Of(const Shape& shape);  // row-major
};

// Numbers that planted defects change: the claim, the op, the number as it is.
using NumberBend = std::function<int64_t(std::string_view claim, const Instruction& op, int64_t)>;

struct ContractionView {
  const Instruction* dot = nullptr;
  const Instruction* sums = nullptr;  // whose elements are written: the dot, or the last behind it
  const Instruction* lhs_source = nullptr;  // whose memory is read
  const Instruction* rhs_source = nullptr;
  ArrayView lhs, rhs, out;
};

// `before`: the ops between an operand and memory, those next to the dot first. `after`: those
// between the dot and the result, the one next to the dot first. nullopt: no steps say this.
std::optional<ContractionView> ViewContraction(const Instruction& dot,
                                               absl::Span<const Instruction* const> lhs_before,
                                               absl::Span<const Instruction* const> rhs_before,
                                               absl::Span<const Instruction* const> after,
                                               const NumberBend& bend = nullptr);

// A dot by itself, or a fusion of such ops around one, with whatever is made of its sums element by
// element behind them; its sources are operands of the dot or parameters of the fusion.
std::optional<ContractionView> ViewContraction(const Instruction& kernel,
                                               const NumberBend& bend = nullptr);

// The instruction of a fusion whose elements the rest of it is made of; nullptr: nothing is behind
// the sums, or it is no such fusion.
const Instruction* SumsBeforeEpilogue(const Instruction& kernel);

// True if such an op may stand before a dot, or behind one. It may still be that no steps say it.
bool MayStandBefore(const Instruction& op);
bool MayStandBehind(const Instruction& op, const Instruction& dot);

// An axis of several arrays at once, with a step in each.
struct CommonAxis {
  int64_t size = 1;
  std::vector<int64_t> steps;
};
// One dimension of several arrays, cut where any of them is cut; false: the cuts do not fit.
bool AppendCommonAxes(absl::Span<const std::vector<ArrayView::Factor>* const> of,
                      std::vector<CommonAxis>& axes);

// The axes of a contraction by role, outermost first; steps of lhs, rhs and out, 0 where one does
// not move. nullopt: they do not fit.
struct ContractionAxes {
  std::vector<CommonAxis> batch, m, n, sum;
};
std::optional<ContractionAxes> AxesOf(const ContractionView& view);

// The sums that lie side by side in the result and are completed together, of one operand; 0: none.
int64_t LineOfSums(const ContractionView& view);

}  // namespace assay
