// Windows and their elements, as loops of one thread or as the work of each of many.
#include "optimized/codegen/scatter.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/reductions.h"
#include "optimized/codegen/indexing.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/codegen/reduction.h"
#include "optimized/codegen/windows.h"
#include "optimized/defects/bends.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

namespace {

std::vector<int64_t> SizesOf(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

const Shape& LeafShape(const Instruction& instruction, int64_t leaf) {
  return instruction.shape().IsTuple() ? instruction.shape().elements()[leaf] : instruction.shape();
}

// result[at] = combiner(result[at], updates), all leaves together; `width` elements from `at` on.
absl::Status CombineInto(ScatterContext& context, const Computation& combiner, Value* at,
                         const ElementValues& updates, int width = 1) {
  ValueBuilder& b = context.elements.builder();
  std::vector<ElementValues> arguments;
  std::vector<Value*> addresses;
  for (size_t k = 0; k < updates.size(); ++k) {
    const ElementType type = LeafShape(context.instruction, k).element_type();
    addresses.push_back(context.elements.Address(type, context.results[k], at));
    arguments.push_back({b.Load(type, addresses[k], width)});
  }
  for (Value* update : updates) arguments.push_back({update});
  ASSAY_ASSIGN_OR_RETURN(ElementValues combined,
                         context.elements.Apply(combiner, std::move(arguments), width));
  for (size_t k = 0; k < updates.size(); ++k) {
    b.Store(LeafShape(context.instruction, k).element_type(), combined[k], addresses[k]);
  }
  return absl::OkStatus();
}

// The number of the updates' dimensions that stand before those of windows: all where they are
// mixed. If the index vectors are the outer dimensions, updates come in the order of their windows.
size_t OuterDims(const std::vector<int64_t>& inside) {
  const auto first = absl::c_find_if(inside, [](int64_t d) { return d >= 0; });
  return std::all_of(first, inside.end(), [](int64_t d) { return d >= 0; }) ? first - inside.begin()
                                                                            : inside.size();
}

struct AtomicRow {
  Opcode opcode;
  llvm::AtomicRMWInst::BinOp of_signed, of_unsigned;
};
// Combinations of integers whose order does not matter.
constexpr AtomicRow kAtomicRows[] = {
    {Opcode::kAdd, llvm::AtomicRMWInst::Add, llvm::AtomicRMWInst::Add},
    {Opcode::kAnd, llvm::AtomicRMWInst::And, llvm::AtomicRMWInst::And},
    {Opcode::kMaximum, llvm::AtomicRMWInst::Max, llvm::AtomicRMWInst::UMax},
    {Opcode::kMinimum, llvm::AtomicRMWInst::Min, llvm::AtomicRMWInst::UMin},
    {Opcode::kOr, llvm::AtomicRMWInst::Or, llvm::AtomicRMWInst::Or},
    {Opcode::kXor, llvm::AtomicRMWInst::Xor, llvm::AtomicRMWInst::Xor},
};

// The parts of a scatter that never meet.
class ScatterPlaces {
 public:
  explicit ScatterPlaces(const Instruction& scatter)
      : numbers_(IndexNumbers::OfScatter(scatter)),
        update_(scatter.operand(scatter.operand_count() / 2 + 1)->shape()),
        inside_(numbers_.WindowDimOf(update_.rank(), scatter.operand(0)->shape().rank())) {}

  // True if windows have one element along the dimensions that index vectors choose: windows at
  // different places share nothing, and different places within windows never meet.
  bool PointsAtElements() const {
    return absl::c_all_of(numbers_.index_map, [&](int64_t d) {
      const auto found = absl::c_find(inside_, d);
      return found == inside_.end() || update_.dimension(found - inside_.begin()) == 1;
    });
  }
  int64_t Columns() const {
    int64_t count = 1;
    for (int64_t d = 0; d < update_.rank(); ++d) {
      if (inside_[d] >= 0) count *= update_.dimension(d);
    }
    return count;
  }

 private:
  const IndexNumbers numbers_;
  const Shape& update_;
  const std::vector<int64_t> inside_;
};

// For each index vector: where its window starts, then the window's elements. A window that lies
// inside the array as a whole is combined row by row, in vectors; any other one element by element,
// each of which is skipped if it falls outside.
class ScatterEmitter {
 public:
  explicit ScatterEmitter(ScatterContext& context)
      : context_(context),
        e_(context.elements),
        i_(context.instruction),
        count_(i_.operand_count() / 2),
        whole_(i_.operand(0)->shape()),
        update_(i_.operand(count_ + 1)->shape()),
        numbers_(IndexNumbers::OfScatter(i_)),
        inside_(numbers_.WindowDimOf(update_.rank(), whole_.rank())) {
    outer_ = OuterDims(inside_);
  }

  absl::Status Run() {
    width_ = context_.width;
    short_by_ = context_.short_by;
    const std::vector<int64_t> sizes = SizesOf(update_);
    return Nest(e_, absl::MakeConstSpan(sizes).first(outer_), {},
                [&](const std::vector<Value*>& at, const ElementValues&) { return Window(at); })
        .status();
  }

  // One element of the updates.
  absl::Status RunElement(Value* linear) {
    const std::vector<Value*> at = e_.Delinearize(update_.dimensions(), linear);
    outer_ = static_cast<size_t>(update_.rank());
    return Window(at).status();
  }

  // One place within windows, of all windows in order.
  absl::Status RunColumn(Value* linear) {
    std::vector<int64_t> window_sizes, outer_sizes;
    for (int64_t d = 0; d < update_.rank(); ++d) {
      (inside_[d] >= 0 ? window_sizes : outer_sizes).push_back(update_.dimension(d));
    }
    const std::vector<Value*> within = e_.Delinearize(window_sizes, linear);
    outer_ = static_cast<size_t>(update_.rank());
    return Nest(e_, outer_sizes, {},
                [&](const std::vector<Value*>& outer, const ElementValues&) {
                  std::vector<Value*> at;
                  size_t next_outer = 0, next_within = 0;
                  for (int64_t d = 0; d < update_.rank(); ++d) {
                    at.push_back(inside_[d] >= 0 ? within[next_within++] : outer[next_outer++]);
                  }
                  return Window(at);
                })
        .status();
  }

 private:
  int64_t rows_dim() const { return update_.rank() - 1; }

  // The window of the index vector at `outer`.
  absl::StatusOr<ElementValues> Window(const std::vector<Value*>& outer) {
    std::vector<Value*> at = outer;
    at.resize(update_.rank(), e_.Index(0));
    ASSAY_ASSIGN_OR_RETURN(
        start_, EmitWindowStart(e_, nullptr, numbers_, *i_.operand(count_), whole_.rank(), at));
    // A negative start with an offset may reach the array. Only a large unsigned start, read as
    // negative, must not wrap into range.
    Value* exists = nullptr;
    const bool wraps =
        i_.operand(count_)->shape().element_type() == ElementType::kU64 &&
        !e_.builder().bends().Holds("optimize-kernel/scatter-start-small", &i_, false);
    Value* whole_fits = nullptr;
    for (int64_t d = 0; d < whole_.rank(); ++d) {
      Value* first = start_.components[d].value;
      if (first == nullptr) continue;
      if (wraps) exists = And(e_, exists, IsInRange(e_, first, whole_.dimension(d)));
      whole_fits = And(e_, whole_fits, IsInRange(e_, first, whole_.dimension(d) - Extent(d) + 1));
    }
    return Guarded(e_, exists, {}, [&](const ElementValues&) -> absl::StatusOr<ElementValues> {
      if (width_ == 1) return Elements(at);
      ASSAY_RETURN_IF_ERROR(
          Guarded(e_, whole_fits, {}, [&](const ElementValues&) { return Rows(at); }).status());
      if (whole_fits == nullptr) return ElementValues{};
      return Guarded(e_, e_.builder().ir().CreateNot(whole_fits), {},
                     [&](const ElementValues&) { return Elements(at); });
    });
  }

  // The size of a window along a dimension of the operand.
  int64_t Extent(int64_t dim) const {
    const auto found = absl::c_find(inside_, dim);
    return found == inside_.end() ? 1 : update_.dimension(found - inside_.begin());
  }

  std::vector<int64_t> InnerSizes(int64_t end) const {
    std::vector<int64_t> sizes;
    for (int64_t d = outer_; d < end; ++d) sizes.push_back(update_.dimension(d));
    return sizes;
  }

  // The element of the operand that `at` of the updates belongs to.
  ElementIndex Target(const std::vector<Value*>& at) {
    ElementIndex target;
    for (int64_t d = 0; d < whole_.rank(); ++d) {
      target.dims.push_back(start_.batch[d] != nullptr ? start_.batch[d] : e_.Index(0));
    }
    for (int64_t d = 0; d < update_.rank(); ++d) {
      if (inside_[d] >= 0) target.dims[inside_[d]] = at[d];
    }
    for (int64_t d = 0; d < whole_.rank(); ++d) {
      Value* first = start_.components[d].value;
      if (first != nullptr) target.dims[d] = e_.IndexAdd(target.dims[d], first);
    }
    return target;
  }

  // Combines the updates at `at`, `width` of them along the last dimension.
  absl::StatusOr<ElementValues> Combine(const std::vector<Value*>& at, const ElementIndex& target,
                                        int width) {
    ElementIndex source;
    source.dims = at;
    source.width = width;
    if (width > 1) source.lane_dim = static_cast<int>(rows_dim());
    ElementValues updates;
    for (int64_t k = 0; k < count_; ++k) {
      ASSAY_ASSIGN_OR_RETURN(auto* value, e_.EmitOne(nullptr, i_.operand(count_ + 1 + k), source));
      updates.push_back(value);
    }
    Value* linear = e_.LinearOf(whole_.dimensions(), target);
    if (context_.atomic.has_value()) {
      const ElementType type = whole_.element_type();
      e_.builder().ir().CreateAtomicRMW(*context_.atomic,
                                        e_.Address(type, context_.results[0], linear), updates[0],
                                        llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
      return ElementValues{};
    }
    ASSAY_RETURN_IF_ERROR(CombineInto(context_, *i_.callee(), linear, updates, width));
    return ElementValues{};
  }

  // `at` with the inner dimensions from `inner`.
  std::vector<Value*> WithInner(std::vector<Value*> at, const std::vector<Value*>& inner) const {
    std::copy(inner.begin(), inner.end(), at.begin() + static_cast<int64_t>(outer_));
    return at;
  }

  absl::StatusOr<ElementValues> Elements(const std::vector<Value*>& outer) {
    return Nest(e_, InnerSizes(update_.rank()), {},
                [&](const std::vector<Value*>& inner, const ElementValues&) {
                  const std::vector<Value*> at = WithInner(outer, inner);
                  const ElementIndex target = Target(at);
                  Value* fits = nullptr;
                  for (int64_t d = 0; d < whole_.rank(); ++d) {
                    if (start_.components[d].value == nullptr) continue;
                    const int64_t limit = e_.builder().bends().Number(
                        "optimize-kernel/scatter-limit", &i_, whole_.dimension(d));
                    fits = And(e_, fits, IsInRange(e_, target.dims[d], limit));
                  }
                  return Guarded(e_, fits, {},
                                 [&](const ElementValues&) { return Combine(at, target, 1); });
                });
  }

  absl::StatusOr<ElementValues> Rows(const std::vector<Value*>& outer) {
    const int64_t length = update_.dimension(rows_dim()) + short_by_;
    const int64_t vectors = std::max<int64_t>(0, length) / width_ * width_;
    return Nest(e_, InnerSizes(rows_dim()), {},
                [&](const std::vector<Value*>& inner,
                    const ElementValues&) -> absl::StatusOr<ElementValues> {
                  std::vector<Value*> at = WithInner(outer, inner);
                  const auto loop = [&](int64_t from, int64_t to, int step) {
                    return e_.Loop(e_.Index(from), e_.Index(to), step, {},
                                   [&](Value* k, const ElementValues&) {
                                     at.back() = k;
                                     return Combine(at, Target(at), step);
                                   });
                  };
                  ASSAY_RETURN_IF_ERROR(loop(0, vectors, width_).status());
                  if (vectors >= length) return ElementValues{};
                  return loop(vectors, length, 1);
                });
  }

  ScatterContext& context_;
  ElementEmitter& e_;
  const Instruction& i_;
  const int64_t count_;
  const Shape &whole_, &update_;
  const IndexNumbers numbers_;
  const std::vector<int64_t> inside_;  // IndexNumbers::WindowDimOf
  size_t outer_ = 0;                   // leading dimensions of the updates that are no window's
  int width_ = 1;
  int64_t short_by_ = 0;  // a planted defect
  WindowStart start_;     // of the window that is being emitted
};

}  // namespace

bool ScattersRows(const Instruction& scatter, const Target& target) {
  if (scatter.operand_count() != 3) return false;
  const Shape &whole = scatter.operand(0)->shape(), &update = scatter.operand(2)->shape();
  if (whole.ElementCount() == 0 || update.ElementCount() == 0) return false;
  const std::vector<int64_t> inside =
      IndexNumbers::OfScatter(scatter).WindowDimOf(update.rank(), whole.rank());
  if (OuterDims(inside) == inside.size() || inside.back() != whole.rank() - 1) return false;
  const ElementType type = whole.element_type();
  const Computation& combiner = *scatter.callee();
  const bool simple =
      RecognisedCombiner(combiner).has_value() || combiner.root()->opcode() == Opcode::kParameter;
  const int width = target.VectorWidth(type);
  return simple && BitWidth(type) >= 8 && width >= 2 &&
         update.dimension(update.rank() - 1) >= width;
}

absl::Status EmitScatterUpdates(ScatterContext& context) {
  const Instruction& i = context.instruction;
  const int64_t n = i.operand_count() / 2;
  if (i.operand(0)->shape().ElementCount() == 0 || i.operand(n + 1)->shape().ElementCount() == 0) {
    return absl::OkStatus();
  }
  return ScatterEmitter(context).Run();
}

ScatterSplit SplitOfScatter(const Instruction& scatter) {
  const int64_t n = scatter.operand_count() / 2;
  const Shape &whole = scatter.operand(0)->shape(), &update = scatter.operand(n + 1)->shape();
  if (whole.ElementCount() == 0 || update.ElementCount() == 0) return {ScatterSplit::kWhole, 0, {}};
  const ElementType type = whole.element_type();
  const std::optional<Opcode> combiner = RecognisedCombiner(*scatter.callee());
  const bool has_atomics = BitWidth(type) == 32 || BitWidth(type) == 64;
  if (n == 1 && IsInteger(type) && has_atomics && combiner.has_value()) {
    for (const AtomicRow& row : kAtomicRows) {
      if (row.opcode != *combiner) continue;
      return {ScatterSplit::kElements, update.ElementCount(),
              IsSigned(type) ? row.of_signed : row.of_unsigned};
    }
  }
  const ScatterPlaces places(scatter);
  if (!places.PointsAtElements()) return {ScatterSplit::kWhole, 1, {}};
  if (scatter.attributes().Flag(Attr::kUniqueIndices)) {
    return {ScatterSplit::kElements, update.ElementCount(), {}};
  }
  return {ScatterSplit::kColumns, places.Columns(), {}};
}

absl::Status EmitScatterPart(ScatterContext& context, ScatterSplit::Kind kind, Value* part) {
  ScatterEmitter emitter(context);
  return kind == ScatterSplit::kElements ? emitter.RunElement(part) : emitter.RunColumn(part);
}

namespace {

// The dimensions along which windows share no element.
std::vector<bool> ApartDims(const Instruction& select_and_scatter) {
  std::vector<bool> apart;
  for (const WindowDim& w : select_and_scatter.attributes().Window(Attr::kWindow)) {
    apart.push_back(w.stride >= w.size);
  }
  return apart;
}

}  // namespace

int64_t ApartWindows(const Instruction& select_and_scatter) {
  const Shape& source = select_and_scatter.operand(1)->shape();
  if (source.ElementCount() == 0 || select_and_scatter.shape().ElementCount() == 0) return 0;
  const std::vector<bool> apart = ApartDims(select_and_scatter);
  int64_t count = 1;
  for (size_t d = 0; d < apart.size(); ++d) {
    if (apart[d]) count *= source.dimension(static_cast<int64_t>(d));
  }
  return count;
}

absl::Status EmitStartValue(ScatterContext& context, Value* at) {
  const Instruction& i = context.instruction;
  ElementEmitter& e = context.elements;
  const ElementType type = i.shape().element_type();
  ASSAY_ASSIGN_OR_RETURN(auto* init, e.EmitOne(nullptr, i.operand(2), ElementIndex()));
  e.builder().Store(type, init, e.Address(type, context.results[0], at));
  return absl::OkStatus();
}

absl::Status EmitSelectedWindows(ScatterContext& context, Value* part) {
  const Instruction& i = context.instruction;
  ElementEmitter& e = context.elements;
  ValueBuilder& b = e.builder();
  llvm::IRBuilder<>& ir = b.ir();
  const Shape &whole = i.operand(0)->shape(), &source = i.operand(1)->shape();
  absl::Span<const WindowDim> window = i.attributes().Window(Attr::kWindow);
  ASSAY_ASSIGN_OR_RETURN(auto* init, e.EmitOne(nullptr, i.operand(2), ElementIndex()));
  std::vector<int64_t> apart_sizes, other_sizes, sizes;
  const std::vector<bool> apart = part == nullptr ? std::vector<bool>(window.size()) : ApartDims(i);
  for (size_t d = 0; d < window.size(); ++d) {
    sizes.push_back(window[d].size);
    (apart[d] ? apart_sizes : other_sizes).push_back(source.dimension(static_cast<int64_t>(d)));
  }
  const std::vector<Value*> chosen_part =
      part == nullptr ? std::vector<Value*>() : e.Delinearize(apart_sizes, part);
  const Computation &select = *i.callees()[0], &scatter = *i.callees()[1];
  return Nest(e, other_sizes, {},
              [&](const std::vector<Value*>& others,
                  const ElementValues&) -> absl::StatusOr<ElementValues> {
                std::vector<Value*> o;
                size_t next_apart = 0, next_other = 0;
                for (bool is_apart : apart) {
                  o.push_back(is_apart ? chosen_part[next_apart++] : others[next_other++]);
                }
                // Carried: the chosen element's place (-1: none yet) and value.
                absl::StatusOr<ElementValues> choice = Nest(
                    e, sizes, {e.Index(-1), init},
                    [&](const std::vector<Value*>& k,
                        const ElementValues& carried) -> absl::StatusOr<ElementValues> {
                      ElementIndex at;
                      Value* exists = nullptr;
                      for (size_t d = 0; d < window.size(); ++d) {
                        WindowPlace place = PlaceInWindow(e, window[d], source.dimension(d),
                                                          whole.dimension(d), o[d], k[d]);
                        at.dims.push_back(place.index);
                        exists = And(e, exists, place.exists);
                      }
                      return Guarded(
                          e, exists, carried,
                          [&](const ElementValues& now) -> absl::StatusOr<ElementValues> {
                            ASSAY_ASSIGN_OR_RETURN(auto* candidate,
                                                   e.EmitOne(nullptr, i.operand(0), at));
                            ASSAY_ASSIGN_OR_RETURN(ElementValues keep,
                                                   e.Apply(select, {{now[1]}, {candidate}}, 1));
                            Value* kept =
                                ir.CreateAnd(keep.front(), ir.CreateICmpSGE(now[0], e.Index(0)));
                            Value* linear = e.LinearOf(whole.dimensions(), at);
                            return ElementValues{ir.CreateSelect(kept, now[0], linear),
                                                 ir.CreateSelect(kept, now[1], candidate)};
                          });
                    });
                if (!choice.ok()) return choice.status();
                Value* chosen = (*choice)[0];
                return Guarded(
                    e, ir.CreateICmpSGE(chosen, e.Index(0)), {},
                    [&](const ElementValues&) -> absl::StatusOr<ElementValues> {
                      ElementIndex at;
                      at.dims = o;
                      ASSAY_ASSIGN_OR_RETURN(auto* value, e.EmitOne(nullptr, i.operand(1), at));
                      ASSAY_RETURN_IF_ERROR(CombineInto(context, scatter, chosen, {value}));
                      return ElementValues{};
                    });
              })
      .status();
}

absl::Status EmitSelectAndScatter(ScatterContext& context) {
  const Instruction& i = context.instruction;
  ElementEmitter& e = context.elements;
  if (i.shape().ElementCount() == 0) return absl::OkStatus();
  const absl::Status status =
      e.Loop(e.Index(0), e.Index(i.shape().ElementCount()), 1, {},
             [&](Value* at, const ElementValues&) -> absl::StatusOr<ElementValues> {
               ASSAY_RETURN_IF_ERROR(EmitStartValue(context, at));
               return ElementValues{};
             })
          .status();
  if (!status.ok() || i.operand(1)->shape().ElementCount() == 0) return status;
  return EmitSelectedWindows(context, nullptr);
}

}  // namespace assay
