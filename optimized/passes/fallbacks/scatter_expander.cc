// A window may lie partly outside of the array, and then its elements inside count. So the array
// gets room for that on all sides, which is cut off in the end.
#include "optimized/passes/fallbacks/scatter_expander.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/fallbacks/index_rows.h"
#include "optimized/passes/util/counted_loop.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

constexpr ElementType kIndex = ElementType::kS64;

class ScatterLoop {
 public:
  explicit ScatterLoop(Instruction* scatter)
      : scatter_(*scatter),
        into_(scatter->parent()),
        count_(scatter->operand_count() / 2),
        whole_(scatter->operand(0)->shape()),
        update_(scatter->operand(count_ + 1)->shape()),
        numbers_(IndexNumbers::OfScatter(*scatter)) {
    window_.resize(whole_.rank(), 1);
    const std::vector<int64_t> place = numbers_.WindowDimOf(update_.rank(), whole_.rank());
    for (int64_t d = 0; d < update_.rank(); ++d) {
      if (place[d] >= 0) window_[place[d]] = update_.dimension(d);
    }
  }

  Instruction* Expand() {
    const IndexRows rows = AddIndexRows(scatter_.operand(count_), numbers_, /*wide=*/true);
    map_ = rows.map;
    for (int64_t d : map_) has_room_ = has_room_ || window_[d] > 1;
    for (int64_t k = 0; k < count_; ++k) combiners_.push_back(CombinerOf(k));
    std::vector<Instruction*> state = {rows.matrix};
    const int64_t trips = rows.matrix->shape().dimension(0);
    for (int64_t k = 0; k < count_; ++k) state.push_back(Updates(k, trips));
    for (int64_t k = 0; k < count_; ++k) state.push_back(WithRoom(scatter_.operand(k)));
    const std::vector<Instruction*> last =
        AddCountedLoop(into_, trips, state, static_cast<size_t>(1 + count_),
                       [this](Computation* body, Instruction* at,
                              absl::Span<Instruction* const> now) { return Trip(body, at, now); });
    std::vector<Instruction*> results;
    for (int64_t k = 0; k < count_; ++k) results.push_back(WithoutRoom(last[k], k));
    return scatter_.shape().IsTuple() ? into_->Add(Opcode::kTuple, scatter_.shape(), results)
                                      : results[0];
  }

 private:
  Shape WindowShape(int64_t k) const {
    return Shape::Array(scatter_.operand(k)->shape().element_type(), window_);
  }

  // The combiner's result number k by itself.
  Computation* CombinerOf(int64_t k) const {
    const Computation& both = *scatter_.callee();
    if (!both.root()->shape().IsTuple()) return scatter_.callees()[0];
    Computation* one = into_->parent()->AddComputation(both.name());
    std::vector<Instruction*> parameters;
    for (const Instruction* parameter : both.parameters()) {
      parameters.push_back(one->AddParameter(parameter->parameter_number(), parameter->shape()));
    }
    one->set_root(AddElement(one, one->CopyFrom(both, parameters), k));
    return one;
  }

  // Array number k of the updates, a row per index vector.
  Instruction* Updates(int64_t k, int64_t rows) const {
    Instruction* update = scatter_.operand(count_ + 1 + k);
    Int64List order;
    for (int64_t d = 0; d < update_.rank(); ++d) {
      if (std::find(numbers_.window_dims.begin(), numbers_.window_dims.end(), d) ==
          numbers_.window_dims.end())
        order.push_back(d);
    }
    order.insert(order.end(), numbers_.window_dims.begin(), numbers_.window_dims.end());
    DimVector sizes, stacked = {rows};
    for (int64_t d : order) sizes.push_back(update_.dimension(d));
    stacked.insert(stacked.end(), window_.begin(), window_.end());
    const ElementType type = update->shape().element_type();
    update =
        into_->Add(Opcode::kTranspose, Shape::Array(type, sizes), {update}, DimensionsAttr(order));
    return into_->Add(Opcode::kReshape, Shape::Array(type, stacked), {update});
  }

  // Tells how far a window may reach out of the array along d, at either side.
  int64_t Room(int64_t d) const {
    return std::find(map_.begin(), map_.end(), d) == map_.end() ? 0 : window_[d] - 1;
  }

  Instruction* WithRoom(Instruction* array) const {
    const ElementType type = array->shape().element_type();
    DimVector sizes(whole_.dimensions().begin(), whole_.dimensions().end());
    if (!has_room_) return array;
    std::vector<PaddingDim> padding;
    for (int64_t d = 0; d < whole_.rank(); ++d) {
      padding.push_back({Room(d), Room(d), 0});
      sizes[d] += 2 * Room(d);
    }
    Instruction* zero = into_->AddConstant(Literal(Shape::Scalar(type)));
    return into_->Add(Opcode::kPad, Shape::Array(type, sizes), {array, zero},
                      Attributes().Set(Attr::kPadding, AttrValue(std::move(padding))));
  }

  Instruction* WithoutRoom(Instruction* array, int64_t k) const {
    const Shape& shape = scatter_.operand(k)->shape();
    if (has_room_) {
      std::vector<SliceRange> ranges;
      for (int64_t d = 0; d < whole_.rank(); ++d) {
        ranges.push_back({Room(d), Room(d) + whole_.dimension(d), 1});
      }
      array = into_->Add(Opcode::kSlice, Shape::Array(shape.element_type(), shape.dimensions()),
                         {array}, SliceAttr(std::move(ranges)));
    }
    const Shape& result =
        scatter_.shape().IsTuple() ? scatter_.shape().elements()[k] : scatter_.shape();
    return array->shape() == result ? array : into_->Add(Opcode::kCopy, result, {array});
  }

  // Computes where the window begins in the array with room, and whether it reaches the array at
  // all.
  std::vector<Instruction*> Starts(Computation* body, Instruction* vector, Instruction*& reaches) {
    const auto integer = [&](int64_t value) { return AddScalarInteger(body, kIndex, value); };
    const auto compare = [&](Instruction* a, Instruction* b, Direction direction) {
      return body->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {a, b},
                       Attributes().Set(Attr::kDirection, direction));
    };
    std::vector<Instruction*> starts;
    for (int64_t d = 0; d < whole_.rank(); ++d) {
      const auto at = std::find(map_.begin(), map_.end(), d);
      if (at == map_.end()) {
        starts.push_back(integer(0));
        continue;
      }
      Instruction* start = AddSliceAt(body, vector, 0, integer(at - map_.begin()));
      Instruction* above = compare(start, integer(-window_[d]), Direction::kGt);
      Instruction* below = compare(start, integer(whole_.dimension(d)), Direction::kLt);
      Instruction* inside = body->Add(Opcode::kAnd, above->shape(), {above, below});
      reaches =
          reaches == nullptr ? inside : body->Add(Opcode::kAnd, inside->shape(), {reaches, inside});
      starts.push_back(Room(d) == 0
                           ? start
                           : body->Add(Opcode::kAdd, start->shape(), {start, integer(Room(d))}));
    }
    return starts;
  }

  std::vector<Instruction*> Trip(Computation* body, Instruction* at,
                                 absl::Span<Instruction* const> now) {
    Instruction* reaches = nullptr;
    const std::vector<Instruction*> starts = Starts(body, AddSliceAt(body, now[0], 0, at), reaches);
    const auto with_starts = [&](std::vector<Instruction*> operands) {
      operands.insert(operands.end(), starts.begin(), starts.end());
      return operands;
    };
    std::vector<Instruction*> windows, operands;
    for (int64_t k = 0; k < count_; ++k) {
      windows.push_back(body->Add(Opcode::kDynamicSlice, WindowShape(k),
                                  with_starts({now[1 + count_ + k]}),
                                  Attributes().Set(Attr::kDynamicSliceSizes, window_)));
    }
    operands = windows;
    for (int64_t k = 0; k < count_; ++k) {
      operands.push_back(AddSliceAt(body, now[1 + k], 0, at));
    }
    Int64List all;
    for (int64_t d = 0; d < whole_.rank(); ++d) all.push_back(d);
    std::vector<Instruction*> next(now.begin(), now.begin() + 1 + count_);
    for (int64_t k = 0; k < count_; ++k) {
      Instruction* combined = body->Add(Opcode::kMap, WindowShape(k), operands, DimensionsAttr(all),
                                        {&combiners_[k], 1});
      if (reaches != nullptr) {
        Instruction* which = AddSplat(
            body, Shape::Array(ElementType::kPred, combined->shape().dimensions()), reaches);
        combined = body->Add(Opcode::kSelect, combined->shape(), {which, combined, windows[k]});
      }
      Instruction* whole = now[1 + count_ + k];
      next.push_back(
          body->Add(Opcode::kDynamicUpdateSlice, whole->shape(), with_starts({whole, combined})));
    }
    return next;
  }

  const Instruction& scatter_;
  Computation* into_;
  const int64_t count_;  // of arrays
  const Shape &whole_, &update_;
  const IndexNumbers numbers_;
  DimVector window_;  // its sizes, by dimension of the arrays
  Int64List map_;     // component of the index vector -> dimension of the arrays
  bool has_room_ = false;
  std::vector<Computation*> combiners_;
};

}  // namespace

bool ScatterExpander::Matches(const Instruction& inst) const {
  const int64_t count = inst.operand_count() / 2;
  const Computation& combiner = *inst.callee();
  if (combiner.has_calls()) return false;
  for (int64_t k = 0; k < count; ++k) {
    const ElementType type = inst.operand(k)->shape().element_type();
    if (inst.operand(count + 1 + k)->shape().element_type() != type ||
        combiner.parameters()[k]->shape().element_type() != type ||
        combiner.parameters()[count + k]->shape().element_type() != type)
      return false;
  }
  return inst.operand(0)->shape().ElementCount() > 0 &&
         inst.operand(count + 1)->shape().ElementCount() > 0;
}

Instruction* ScatterExpander::Expand(Instruction* inst) const { return ScatterLoop(inst).Expand(); }

}  // namespace assay
