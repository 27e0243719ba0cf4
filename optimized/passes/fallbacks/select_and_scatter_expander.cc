// Element k of all windows is a strided slice of the padded array; what is scattered to it is the
// source spread out by the same strides.
#include "optimized/passes/fallbacks/select_and_scatter_expander.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

constexpr int64_t kMostElements = 64;

int64_t WindowElements(const Instruction& inst) {
  int64_t count = 1;
  for (const WindowDim& dim : inst.attributes().Window(Attr::kWindow)) {
    count *= std::min(dim.size, kMostElements + 1);
    if (count > kMostElements) break;
  }
  return count;
}

class Windows {
 public:
  explicit Windows(Instruction* inst)
      : inst_(*inst),
        into_(inst->parent()),
        window_(inst->attributes().Window(Attr::kWindow)),
        whole_(Plain(inst->operand(0)->shape())),
        places_(Plain(inst->operand(1)->shape())),
        rank_(whole_.rank()) {}

  Instruction* Expand() {
    padded_ = Padded(inst_.operand(0));
    const int64_t count = WindowElements(inst_);
    for (int64_t k = 0; k < count; ++k) Consider(k);
    Instruction* init = AddSplat(into_, whole_, inst_.operand(2));
    Instruction* result = init;
    for (int64_t k = 0; k < count; ++k) result = Scatter(k, result);
    return result->shape() == inst_.shape() ? result
                                            : into_->Add(Opcode::kCopy, inst_.shape(), {result});
  }

 private:
  static Shape Plain(const Shape& shape) {
    return Shape::Array(shape.element_type(), shape.dimensions());
  }
  static Shape Like(const Shape& shape, ElementType type) {
    return Shape::Array(type, shape.dimensions());
  }

  Instruction* Zero(ElementType type) { return into_->AddConstant(Literal(Shape::Scalar(type))); }

  Instruction* Pad(Instruction* value, std::vector<PaddingDim> padding, const Shape& shape) {
    const ElementType type = value->shape().element_type();
    return into_->Add(Opcode::kPad, Like(shape, type), {value, Zero(type)},
                      Attributes().Set(Attr::kPadding, AttrValue(std::move(padding))));
  }

  Instruction* Padded(Instruction* array) {
    std::vector<PaddingDim> padding;
    Shape shape = whole_;
    for (int64_t d = 0; d < rank_; ++d) {
      const WindowDim& dim = window_[static_cast<size_t>(d)];
      padding.push_back({dim.low, dim.high, 0});
      shape.set_dimension(d, whole_.dimension(d) + dim.low + dim.high);
    }
    return Pad(array, std::move(padding), shape);
  }

  // Gives the place of element k in the window.
  DimVector Offsets(int64_t k) const {
    DimVector offsets(static_cast<size_t>(rank_));
    for (int64_t d = rank_ - 1; d >= 0; --d) {
      const int64_t size = window_[static_cast<size_t>(d)].size;
      offsets[static_cast<size_t>(d)] = k % size;
      k /= size;
    }
    return offsets;
  }

  // The number of steps between the first and the last place, counted in elements, plus one.
  int64_t Extent(int64_t d) const {
    return (places_.dimension(d) - 1) * window_[static_cast<size_t>(d)].stride + 1;
  }

  // Element k of every window, and where it is one of the array.
  Instruction* Candidates(int64_t k) {
    const DimVector offsets = Offsets(k);
    std::vector<SliceRange> ranges;
    for (int64_t d = 0; d < rank_; ++d) {
      const int64_t start = offsets[static_cast<size_t>(d)];
      ranges.push_back({start, start + Extent(d), window_[static_cast<size_t>(d)].stride});
    }
    return into_->Add(Opcode::kSlice, Like(places_, whole_.element_type()), {padded_},
                      SliceAttr(std::move(ranges)));
  }
  Instruction* Inside(int64_t k) {
    const DimVector offsets = Offsets(k);
    Literal inside(Like(places_, ElementType::kPred));
    for (int64_t i = 0; i < inside.element_count(); ++i) {
      bool is_inside = true;
      int64_t rest = i;
      for (int64_t d = rank_ - 1; d >= 0; --d) {
        const WindowDim& dim = window_[static_cast<size_t>(d)];
        const int64_t at =
            rest % places_.dimension(d) * dim.stride + offsets[static_cast<size_t>(d)] - dim.low;
        rest /= places_.dimension(d);
        is_inside = is_inside && at >= 0 && at < whole_.dimension(d);
      }
      inside.SetInteger(i, is_inside ? 1 : 0);
    }
    return into_->AddConstant(std::move(inside));
  }

  Instruction* Binary(Opcode opcode, Instruction* a, Instruction* b) {
    return into_->Add(opcode, a->shape(), {a, b});
  }
  Instruction* Not(Instruction* value) { return into_->Add(Opcode::kNot, value->shape(), {value}); }
  Instruction* Select(Instruction* which, Instruction* a, Instruction* b) {
    return into_->Add(Opcode::kSelect, a->shape(), {which, a, b});
  }
  Instruction* Map(Computation* function, ElementType type, Instruction* a, Instruction* b) {
    Int64List all;
    for (int64_t d = 0; d < rank_; ++d) all.push_back(d);
    return into_->Add(Opcode::kMap, Like(a->shape(), type), {a, b}, DimensionsAttr(all),
                      {function});
  }

  // Compares what was chosen so far with element k.
  void Consider(int64_t k) {
    Instruction* candidate = Candidates(k);
    Instruction* inside = Inside(k);
    Instruction* number = AddSplatInteger(into_, Like(places_, ElementType::kS32), k);
    if (k == 0) {
      value_ = candidate, chosen_ = number, any_ = inside;
      return;
    }
    Instruction* keeps = Map(inst_.callees()[0], ElementType::kPred, value_, candidate);
    Instruction* wins = Binary(Opcode::kOr, Not(any_), Not(keeps));
    Instruction* takes = Binary(Opcode::kAnd, inside, wins);
    value_ = Select(takes, candidate, value_);
    chosen_ = Select(takes, number, chosen_);
    any_ = Binary(Opcode::kOr, any_, inside);
  }

  Instruction* Spread(Instruction* value, int64_t k) {
    const DimVector offsets = Offsets(k);
    std::vector<PaddingDim> padding;
    for (int64_t d = 0; d < rank_; ++d) {
      const WindowDim& dim = window_[static_cast<size_t>(d)];
      const int64_t low = offsets[static_cast<size_t>(d)] - dim.low;
      padding.push_back({low, whole_.dimension(d) - Extent(d) - low, dim.stride - 1});
    }
    return Pad(value, std::move(padding), whole_);
  }

  Instruction* Scatter(int64_t k, Instruction* before) {
    Instruction* number = AddSplatInteger(into_, chosen_->shape(), k);
    Instruction* hits =
        into_->Add(Opcode::kCompare, Like(places_, ElementType::kPred), {chosen_, number},
                   Attributes().Set(Attr::kDirection, Direction::kEq));
    hits = Binary(Opcode::kAnd, hits, any_);
    Instruction* combined =
        Map(inst_.callees()[1], whole_.element_type(), before, Spread(inst_.operand(1), k));
    return Select(Spread(hits, k), combined, before);
  }

  const Instruction& inst_;
  Computation* into_;
  absl::Span<const WindowDim> window_;
  Shape whole_, places_;
  int64_t rank_;
  Instruction *padded_ = nullptr, *value_ = nullptr, *chosen_ = nullptr, *any_ = nullptr;
};

}  // namespace

bool SelectAndScatterExpander::Matches(const Instruction& inst) const {
  const ElementType type = inst.shape().element_type();
  for (const Instruction* operand : inst.operands())
    if (operand->shape().element_type() != type) return false;
  if (inst.callee(1)->root()->shape().element_type() != type) return false;
  if (inst.shape().ElementCount() == 0 || inst.operand(1)->shape().ElementCount() == 0)
    return false;
  const absl::Span<const WindowDim> window = inst.attributes().Window(Attr::kWindow);
  const bool is_dilated = std::any_of(window.begin(), window.end(), [](const WindowDim& dim) {
    return dim.base_dilation != 1 || dim.window_dilation != 1;
  });
  return !is_dilated && WindowElements(inst) <= kMostElements;
}

Instruction* SelectAndScatterExpander::Expand(Instruction* inst) const {
  return Windows(inst).Expand();
}

}  // namespace assay
