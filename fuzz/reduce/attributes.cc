// Makes attributes plain: slices that start at 0 with stride 1, pads of nothing, windows one after
// the other, one group, no optional attributes.
#include <algorithm>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/resize.h"
#include "fuzz/reduce/steps.h"

namespace assay {
namespace {

int64_t PaddedSize(int64_t size, const PaddingDim& padding) {
  return std::max<int64_t>(
      size + std::max<int64_t>(size - 1, 0) * padding.interior + padding.low + padding.high, 0);
}

void OfferSlice(Candidates& to, const Instruction* at, int64_t d, bool to_start) {
  to.Offer(at, [&](ReduceCase&, Instruction* changed) {
    auto& ranges =
        std::get<std::vector<SliceRange>>(*changed->mutable_attributes().Find(Attr::kSlice));
    SliceRange& range = ranges[d];
    const SliceRange old = range;
    if (to_start) {
      range.limit -= std::exchange(range.start, 0);
    } else {
      range.stride = 1;
      range.limit = range.start + at->shape().dimension(d);
    }
    return !(old == range) && range.limit <= at->operand(0)->shape().dimension(d);
  });
}

// Offers a pad without the `field`. The result keeps its size, or the sizes of what uses the pad
// follow.
void OfferPad(Candidates& to, const Instruction* at, int64_t d, int64_t PaddingDim::* field,
              bool follow) {
  const int64_t operand = at->operand(0)->shape().dimension(d);
  PaddingDim padding = at->attributes().Padding(Attr::kPadding)[d];
  if (std::exchange(padding.*field, 0) == 0) return;
  const int64_t size = PaddedSize(operand, padding);
  if (!follow) padding.high += at->shape().dimension(d) - size;
  to.Offer([&]() -> std::optional<ReduceCase> {
    ReduceCase c = to.best().Clone();
    Instruction* changed = Counterpart(*c.module, at);
    std::get<std::vector<PaddingDim>>(*changed->mutable_attributes().Find(Attr::kPadding))[d] =
        padding;
    if (!follow) return c;
    // Resize computes `high` from the sizes, so that it comes out as set here.
    const Equivalence sizes(*c.module, LinkKind::kSizes);
    return Resize(c, sizes, {{sizes.ClassOf(changed, 0, d), size}});
  });
}

void OfferFields(Candidates& to, const Instruction* at) {
  for (int64_t d = 0; d < at->shape().rank(); ++d) {
    if (at->opcode() == Opcode::kSlice) {
      for (bool to_start : {true, false}) OfferSlice(to, at, d, to_start);
    } else if (at->opcode() == Opcode::kPad) {
      for (auto field : {&PaddingDim::interior, &PaddingDim::low, &PaddingDim::high}) {
        for (bool follow : {true, false}) OfferPad(to, at, d, field, follow);
      }
    }
  }
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

// The room, in the operand and its padding, that a window needs for so many places.
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

// Offers another window over an operand of that size, of which the end is kept or the beginning.
void OfferWindow(Candidates& to, const MovingWindow& old, const WindowDim& now, int64_t size,
                 bool keep_end = false) {
  to.Offer([&]() -> std::optional<ReduceCase> {
    ReduceCase c = to.best().Clone();
    Instruction* changed = Counterpart(*c.module, old.at);
    auto& windows =
        std::get<std::vector<WindowDim>>(*changed->mutable_attributes().Find(Attr::kWindow));
    windows[old.number] = now;
    const Equivalence sizes(*c.module, LinkKind::kSizes);
    SizeByClass wanted;
    if (size != old.size) wanted[sizes.ClassOf(changed->operand(0), 0, old.along)] = size;
    const ConvDimLabels* labels = changed->attributes().DimLabels();
    if (labels != nullptr && now.size != old.window().size) {
      const int64_t of_kernel = labels->kernel_spatial[old.number];
      const bool is_new =
          wanted.try_emplace(sizes.ClassOf(changed->operand(1), 0, of_kernel), now.size).second;
      if (!is_new) return std::nullopt;  // the kernel is the operand itself
    }
    return Resize(c, sizes, std::move(wanted), keep_end);
  });
}

// Offers a window with a plainer field: as it comes; with the padding, or the part of the operand,
// that leaves as many places.
void OfferPlainer(Candidates& to, const MovingWindow& old, const WindowField& plain) {
  WindowDim now = old.window();
  if (now.*plain.field == plain.neutral) return;
  now.*plain.field = plain.neutral;
  OfferWindow(to, old, now, old.size);
  const int64_t places = old.Places();
  if (places == 0) return;
  const int64_t left = RoomFor(now, places) - now.low - now.high;
  const bool is_front = plain.field == &WindowDim::low;
  if (now.base_dilation == 1 && left >= 1 && left < old.size)
    OfferWindow(to, old, now, left, /*keep_end=*/is_front);
  if (plain.field == &WindowDim::high) return;
  now.high = RoomFor(now, places) - Spread(old.size, now.base_dilation) - now.low;
  OfferWindow(to, old, now, old.size);
}

void OfferWindows(Candidates& to, const Instruction* at) {
  if (at->opcode() != Opcode::kConvolution && at->opcode() != Opcode::kReduceWindow &&
      at->opcode() != Opcode::kSelectAndScatter) {
    return;  // nobody knows what moves in a custom call
  }
  const auto count = static_cast<int64_t>(at->attributes().Window(Attr::kWindow).size());
  for (int64_t d = 0; d < count; ++d) {
    const MovingWindow old = MovingWindow::Of(at, d);
    WindowDim now = old.window();
    now.reversal = false;
    if (old.window().reversal) OfferWindow(to, old, now, old.size);
    for (const WindowField& plain : kWindowFields) OfferPlainer(to, old, plain);
  }
}

// Offers a convolution with all features, or the whole batch, in one group.
void OfferOneGroup(Candidates& to, const Instruction* at) {
  if (at->opcode() != Opcode::kConvolution) return;
  for (Attr groups : {Attr::kFeatureGroupCount, Attr::kBatchGroupCount}) {
    const int64_t count = at->attributes().Integer(groups, 1);
    if (count <= 1) continue;
    to.Offer([&] {
      ReduceCase c = to.best().Clone();
      Instruction* changed = Counterpart(*c.module, at);
      changed->mutable_attributes().Remove(groups);
      const Equivalence sizes(*c.module, LinkKind::kSizes);
      SizeByClass wanted;
      if (groups == Attr::kBatchGroupCount) {
        const int64_t batch = at->attributes().DimLabels()->input_batch;
        const Instruction* data = changed->operand(0);
        wanted[sizes.ClassOf(data, 0, batch)] = data->shape().dimension(batch) / count;
      }
      return Resize(c, sizes, std::move(wanted));
    });
  }
}

// Leaves out optional attributes: promises about indices, precisions, channels, flags.
void OfferDefaults(Candidates& to, const Instruction* at) {
  if (at->opcode() == Opcode::kCustomCall) return;  // whose attributes its target reads
  for (const AttrSpec& spec : Info(at->opcode()).attributes) {
    if (spec.presence != AttrSpec::kOptional || !at->attributes().Has(spec.attr)) continue;
    to.Offer(at, [&](ReduceCase&, Instruction* changed) {
      changed->mutable_attributes().Remove(spec.attr);
      return true;
    });
  }
}

}  // namespace

void SimplifyAttributes(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    OfferFields(to, at);
    OfferWindows(to, at);
    OfferOneGroup(to, at);
    OfferDefaults(to, at);
  }
}

}  // namespace assay
