// Slices that start at 0 with stride 1, pads of nothing, windows one after the other, one group,
// nothing that may be left out.
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

bool TrySlice(Reduction& reduction, const Instruction* at, int64_t d, Field field) {
  const int64_t operand = at->operand(0)->shape().dimension(d), result = at->shape().dimension(d);
  SliceRange range = at->attributes().SliceRanges(Attr::kSlice)[d];
  const SliceRange old = range;
  if (field == Field::kSliceStart) {
    range.limit -= range.start;
    range.start = 0;
  } else {
    range.stride = 1;
    range.limit = range.start + result;
  }
  if (old == range || range.limit > operand || !reduction.Wants()) return false;
  ReduceCase c = reduction.best().Clone();
  Attributes& attributes = Counterpart(*c.module, at)->mutable_attributes();
  std::get<std::vector<SliceRange>>(*attributes.Find(Attr::kSlice))[d] = range;
  return reduction.Try(std::move(c), "plain slice");
}

// The result keeps its size, or the sizes of what uses the pad follow.
bool TryPad(Reduction& reduction, const Instruction* at, int64_t d, Field field, bool follow) {
  const int64_t operand = at->operand(0)->shape().dimension(d), result = at->shape().dimension(d);
  PaddingDim padding = at->attributes().Padding(Attr::kPadding)[d];
  const PaddingDim old = padding;
  if (field == Field::kPadLow) padding.low = 0;
  if (field == Field::kPadHigh) padding.high = 0;
  if (field == Field::kPadInterior) padding.interior = 0;
  if (padding == old || (!follow && field == Field::kPadHigh)) return false;
  const int64_t size = PaddedSize(operand, padding);
  if (!follow) padding.high += result - size;
  if (!reduction.Wants()) return false;
  ReduceCase c = reduction.best().Clone();
  Instruction* changed = Counterpart(*c.module, at);
  std::get<std::vector<PaddingDim>>(*changed->mutable_attributes().Find(Attr::kPadding))[d] =
      padding;
  if (!follow) return reduction.Try(std::move(c), "plain pad");
  // Resize computes `high` from the sizes, so that it comes out as set here.
  const Equivalence sizes(*c.module, LinkKind::kSizes);
  std::optional<ReduceCase> resized = Resize(c, sizes, {{sizes.ClassOf(changed, 0, d), size}});
  return resized && reduction.Try(*std::move(resized), "plain pad");
}

bool TryFields(Reduction& reduction, const Instruction* at) {
  const bool is_slice = at->opcode() == Opcode::kSlice;
  if (!is_slice && at->opcode() != Opcode::kPad) return false;
  for (int64_t d = 0; d < at->shape().rank(); ++d) {
    if (is_slice && (TrySlice(reduction, at, d, Field::kSliceStart) ||
                     TrySlice(reduction, at, d, Field::kSliceStride))) {
      return true;
    }
    for (Field field : {Field::kPadInterior, Field::kPadLow, Field::kPadHigh}) {
      if (is_slice) break;
      if (TryPad(reduction, at, d, field, /*follow=*/true) ||
          TryPad(reduction, at, d, field, /*follow=*/false)) {
        return true;
      }
    }
  }
  return false;
}

// A field of a window that has its neutral value where it does nothing.
struct WindowField {
  int64_t WindowDim::* field;
  int64_t neutral;
};
constexpr WindowField kWindowFields[] = {
    {&WindowDim::base_dilation, 1}, {&WindowDim::window_dilation, 1},
    {&WindowDim::stride, 1},        {&WindowDim::low, 0},
    {&WindowDim::high, 0},          {&WindowDim::size, 1}};

int64_t Spread(int64_t count, int64_t dilation) {
  return count == 0 ? 0 : (count - 1) * dilation + 1;
}

// What a window needs for so many places, of the operand and its padding.
int64_t RoomFor(const WindowDim& window, int64_t places) {
  return (places - 1) * window.stride + Spread(window.size, window.window_dilation);
}

// One window of an op, and the dimension along which it moves.
struct MovingWindow {
  const Instruction* at;
  int64_t number, along, size;  // of the operand's dimension

  static MovingWindow Of(const Instruction* at, int64_t number) {
    const ConvDimLabels* labels = at->attributes().DimLabels();
    const int64_t along = labels == nullptr ? number : labels->input_spatial[number];
    return {at, number, along, at->operand(0)->shape().dimension(along)};
  }
  const WindowDim& window() const { return at->attributes().Window(Attr::kWindow)[number]; }
  int64_t Places() const {
    const WindowDim& w = window();
    const int64_t room = Spread(size, w.base_dilation) + w.low + w.high;
    const int64_t needed = Spread(w.size, w.window_dilation);
    return room < needed ? 0 : (room - needed) / w.stride + 1;
  }
};

// With another window over an operand of that size, of which the end is kept or the beginning.
bool TryWindow(Reduction& reduction, const MovingWindow& old, const WindowDim& now, int64_t size,
               bool keep_end = false) {
  if (!reduction.Wants()) return false;
  ReduceCase c = reduction.best().Clone();
  Instruction* changed = Counterpart(*c.module, old.at);
  std::get<std::vector<WindowDim>>(*changed->mutable_attributes().Find(Attr::kWindow))[old.number] =
      now;
  const Equivalence sizes(*c.module, LinkKind::kSizes);
  SizeByClass wanted;
  if (size != old.size) wanted[sizes.ClassOf(changed->operand(0), 0, old.along)] = size;
  const ConvDimLabels* labels = changed->attributes().DimLabels();
  if (labels != nullptr && now.size != old.window().size) {
    const int64_t of_kernel = labels->kernel_spatial[old.number];
    const bool is_new =
        wanted.try_emplace(sizes.ClassOf(changed->operand(1), 0, of_kernel), now.size).second;
    if (!is_new) return false;  // the kernel is the operand itself
  }
  std::optional<ReduceCase> resized = Resize(c, sizes, std::move(wanted), keep_end);
  return resized && reduction.Try(*std::move(resized), "plain window");
}

// A window with a plainer field: as it comes; with the padding, or the part of the operand, that
// leaves as many places.
bool TryPlainer(Reduction& reduction, const MovingWindow& old, const WindowField& plain) {
  WindowDim now = old.window();
  if (now.*plain.field == plain.neutral) return false;
  now.*plain.field = plain.neutral;
  if (TryWindow(reduction, old, now, old.size)) return true;
  const int64_t places = old.Places();
  if (places == 0) return false;
  const int64_t left = RoomFor(now, places) - now.low - now.high;
  const bool is_front = plain.field == &WindowDim::low;
  if (now.base_dilation == 1 && left >= 1 && left < old.size &&
      TryWindow(reduction, old, now, left, /*keep_end=*/is_front)) {
    return true;
  }
  if (plain.field == &WindowDim::high) return false;
  now.high = RoomFor(now, places) - Spread(old.size, now.base_dilation) - now.low;
  return TryWindow(reduction, old, now, old.size);
}

bool TryWindows(Reduction& reduction, const Instruction* at) {
  if (at->opcode() != Opcode::kConvolution && at->opcode() != Opcode::kReduceWindow &&
      at->opcode() != Opcode::kSelectAndScatter) {
    return false;  // of a custom call nobody knows what moves
  }
  const auto count = static_cast<int64_t>(at->attributes().Window(Attr::kWindow).size());
  for (int64_t d = 0; d < count; ++d) {
    const MovingWindow old = MovingWindow::Of(at, d);
    WindowDim now = old.window();
    now.reversal = false;
    if (old.window().reversal && TryWindow(reduction, old, now, old.size)) return true;
    for (const WindowField& plain : kWindowFields) {
      if (TryPlainer(reduction, old, plain)) return true;
    }
  }
  return false;
}

// All features, or the whole batch, in one group.
bool TryOneGroup(Reduction& reduction, const Instruction* at) {
  if (at->opcode() != Opcode::kConvolution) return false;
  for (Attr groups : {Attr::kFeatureGroupCount, Attr::kBatchGroupCount}) {
    const int64_t count = at->attributes().Integer(groups, 1);
    if (count <= 1 || !reduction.Wants()) continue;
    ReduceCase c = reduction.best().Clone();
    Instruction* changed = Counterpart(*c.module, at);
    changed->mutable_attributes().Remove(groups);
    const Equivalence sizes(*c.module, LinkKind::kSizes);
    SizeByClass wanted;
    if (groups == Attr::kBatchGroupCount) {
      const int64_t batch = at->attributes().DimLabels()->input_batch;
      const Instruction* data = changed->operand(0);
      wanted[sizes.ClassOf(data, 0, batch)] = data->shape().dimension(batch) / count;
    }
    std::optional<ReduceCase> resized = Resize(c, sizes, std::move(wanted));
    if (resized && reduction.Try(*std::move(resized), "one group")) return true;
  }
  return false;
}

// Without what may be left out: promises about indices, precisions, channels, flags.
bool TryDefaults(Reduction& reduction, const Instruction* at) {
  if (at->opcode() == Opcode::kCustomCall) return false;  // whose attributes its target reads
  for (const AttrSpec& spec : Info(at->opcode()).attributes) {
    if (spec.presence != AttrSpec::kOptional || !at->attributes().Has(spec.attr)) continue;
    if (!reduction.Wants()) continue;
    ReduceCase c = reduction.best().Clone();
    Counterpart(*c.module, at)->mutable_attributes().Remove(spec.attr);
    if (reduction.Try(std::move(c), "attribute left out")) return true;
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
      const Instruction* at = *std::next(computation->begin(), i);
      if (TryFields(reduction, at) || TryWindows(reduction, at) || TryOneGroup(reduction, at) ||
          TryDefaults(reduction, at)) {
        changed = true;
      } else {
        ++i;
      }
    }
  }
  return changed;
}

}  // namespace assay
