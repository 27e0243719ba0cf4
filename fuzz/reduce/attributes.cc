// Slices that start at 0 with stride 1, pads of nothing.
#include <algorithm>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/reduction.h"
#include "fuzz/reduce/resize.h"

namespace assay {
namespace {

// One candidate: a field of dimension `d` of a slice or pad set to its neutral value. The result
// keeps its size, or (`follow`) takes the size that comes out.
enum class Field { kSliceStart, kSliceStride, kPadLow, kPadHigh, kPadInterior };

int64_t PaddedSize(int64_t size, const PaddingDim& padding) {
  return std::max<int64_t>(
      size + std::max<int64_t>(size - 1, 0) * padding.interior + padding.low + padding.high, 0);
}

bool TryField(Reduction& reduction, const Instruction* at, int64_t d, Field field, bool follow) {
  ReduceCase c = reduction.best().Clone();
  Instruction* changed = Counterpart(*c.module, at);
  int64_t operand = at->operand(0)->shape().dimension(d), result = at->shape().dimension(d);
  if (field == Field::kSliceStart || field == Field::kSliceStride) {
    auto& range =
        std::get<std::vector<SliceRange>>(*changed->mutable_attributes().Find(Attr::kSlice))[d];
    SliceRange old = range;
    if (field == Field::kSliceStart) {
      range.limit -= range.start;
      range.start = 0;
    } else {
      range.stride = 1;
      range.limit = range.start + result;
    }
    return !follow && !(old == range) && range.limit <= operand &&
           reduction.Try(std::move(c), "plain slice");
  }
  auto& padding =
      std::get<std::vector<PaddingDim>>(*changed->mutable_attributes().Find(Attr::kPadding))[d];
  PaddingDim old = padding;
  if (field == Field::kPadLow) padding.low = 0;
  if (field == Field::kPadHigh) padding.high = 0;
  if (field == Field::kPadInterior) padding.interior = 0;
  if (padding == old) return false;
  if (!follow) {
    if (field == Field::kPadHigh) return false;
    padding.high += result - PaddedSize(operand, padding);
    return reduction.Try(std::move(c), "plain pad");
  }
  // The sizes of what uses the pad follow. Resize computes `high` from the sizes, so that it comes
  // out as set here.
  Equivalence sizes(*c.module, LinkKind::kSizes);
  std::optional<ReduceCase> resized =
      Resize(c, sizes, {{sizes.ClassOf(changed, 0, d), PaddedSize(operand, padding)}});
  return resized && reduction.Try(*std::move(resized), "plain pad");
}

bool TryFields(Reduction& reduction, const Instruction* at) {
  bool slice = at->opcode() == Opcode::kSlice, pad = at->opcode() == Opcode::kPad;
  if (!slice && !pad) return false;
  auto fields = slice ? std::vector<Field>{Field::kSliceStart, Field::kSliceStride}
                      : std::vector<Field>{Field::kPadInterior, Field::kPadLow, Field::kPadHigh};
  for (int64_t d = 0; d < at->shape().rank(); ++d) {
    for (Field field : fields) {
      for (bool follow : {true, false}) {
        if (TryField(reduction, at, d, field, follow)) return true;
      }
    }
  }
  return false;
}

}  // namespace

bool SimplifyAttributes(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    for (int64_t i = 0; k < reduction.best().module->computations().size();) {
      const Computation* computation = reduction.best().module->computations()[k];
      if (i >= computation->instruction_count() || reduction.Expired()) break;
      if (TryFields(reduction, *std::next(computation->begin(), i))) {
        changed = true;
      } else {
        ++i;
      }
    }
  }
  return changed;
}

}  // namespace assay
