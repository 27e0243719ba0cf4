// Emits reduce and reduce-window, in order or with partial results in vector lanes.
#include "optimized/codegen/reduction.h"

#include <cmath>
#include <limits>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/codegen/windows.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

// The neutral element of a recognised combiner: -0 for a float sum, since +0 would turn a sum of
// -0s into +0.
llvm::Constant* Identity(ValueBuilder& builder, Opcode op, ElementType type, int width) {
  llvm::Type* t = builder.RegisterType(type, width);
  const double infinity = std::numeric_limits<double>::infinity();
  int bits = BitWidth(type);
  auto code = [&](double value) -> llvm::Constant* {
    if (BitWidth(type) >= 32) return builder.Float(t, value);
    const FloatFormat& format = Format(type);
    if (std::isinf(value) && !format.HasInfinity()) {
      value = std::copysign(format.MaxFinite(), value);
      // Without a sign the least value is that of code 0.
      if (value < 0 && format.special == SpecialValues::kExponent) value = DecodeFloat(format, 0);
    }
    return builder.Int(t, EncodeFloat(format, value));
  };
  bool lowest = op == Opcode::kMaximum;
  switch (op) {
    case Opcode::kAdd:
      if (!IsFloat(type)) return builder.Int(t, 0);
      return code(builder.bends().Holds("optimize-kernel/neutral-zero-positive", nullptr, false)
                      ? 0.0
                      : -0.0);
    case Opcode::kMultiply:
      return IsFloat(type) ? code(1) : builder.Int(t, 1);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (IsFloat(type) &&
          builder.bends().Holds("optimize-kernel/neutral-extreme-zero", nullptr, false)) {
        return code(0);
      }
      if (IsFloat(type)) return code(lowest ? -infinity : infinity);
      if (IsPred(type)) return builder.Int(t, lowest ? 0 : 1);
      if (!IsSigned(type)) return builder.Int(t, lowest ? 0 : ~uint64_t{0});
      return builder.Int(t, lowest ? uint64_t{1} << (bits - 1) : (uint64_t{1} << (bits - 1)) - 1);
    case Opcode::kAnd:
      return builder.Int(t, ~uint64_t{0});
    default:
      return builder.Int(t, 0);
  }
}

// Folds the lanes of `vector` into one value, halving. The last step combines scalars: a value of
// one lane is never a vector (ValueBuilder::WithWidth).
Value* FoldLanes(ValueBuilder& builder, Opcode op, ElementType type, Value* vector) {
  for (int width = builder.WidthOf(vector); width > 2; width /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value* upper = builder.ir().CreateShuffleVector(vector, high);
    Value* lower = builder.ir().CreateShuffleVector(vector, low);
    vector = EmitCombiner(builder, op, type, lower, upper);
  }
  return EmitCombiner(builder, op, type, builder.ir().CreateExtractElement(vector, uint64_t{0}),
                      builder.ir().CreateExtractElement(vector, uint64_t{1}));
}

// From so many elements on, short lines are reduced in short vectors.
constexpr int64_t kManyElements = 256;

// The way in which a reduce or a reduce-window combines: by code of its own where the combiner is
// recognised, by applying the computation elsewhere.
struct Combining {
  const Computation& computation;
  int64_t operands;  // reduced together
  ElementType type;  // of the first of them
  std::optional<Opcode> recognised;
  ElementType accumulator;  // of a recognised combiner; `type` otherwise
};

Combining CombiningOf(const Instruction& instruction) {
  const Computation& computation = *instruction.callee();
  const int64_t operands = instruction.operand_count() / 2;
  const ElementType type = instruction.operand(0)->shape().element_type();
  const std::optional<Opcode> recognised =
      operands == 1 ? RecognisedCombiner(computation) : std::nullopt;
  return {computation, operands, type, recognised, AccumulatorOf(type, recognised)};
}

absl::StatusOr<ElementValues> InitialValues(ElementEmitter& emitter, const Frame* frame,
                                            const Instruction& instruction, int width) {
  ElementValues initial;
  const int64_t operands = instruction.operand_count() / 2;
  for (int64_t k = 0; k < operands; ++k) {
    ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitSpread(frame, instruction.operand(operands + k),
                                                           ElementIndex(), width));
    initial.push_back(value);
  }
  return initial;
}

// `carried` combined with the operands' elements at `at`.
absl::StatusOr<ElementValues> CombineWithOperands(ElementEmitter& emitter, const Frame* frame,
                                                  const Instruction& instruction,
                                                  const ElementValues& carried,
                                                  const ElementIndex& at) {
  ValueBuilder& builder = emitter.builder();
  const Combining combining = CombiningOf(instruction);
  std::vector<ElementValues> arguments;
  for (Value* value : carried) arguments.push_back({value});
  for (int64_t k = 0; k < combining.operands; ++k) {
    ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, instruction.operand(k), at));
    arguments.push_back({value});
  }
  if (combining.recognised.has_value()) {
    Value* term = builder.Convert(combining.type, combining.accumulator, arguments[1][0]);
    return ElementValues{
        EmitCombiner(builder, *combining.recognised, combining.accumulator, carried[0], term)};
  }
  return emitter.Apply(combining.computation, std::move(arguments), at.width);
}

// The index of a reduce's operand for an element of the result and a position in what is reduced.
struct ReducedIndex {
  const ReduceDims& dims;
  std::vector<Value*> result;

  ElementIndex At(const std::vector<Value*>& reduced, int width, int lane_dim) const {
    ElementIndex full;
    full.dims.assign(dims.kept.size() + dims.reduced.size(), nullptr);
    for (size_t d = 0; d < dims.kept.size(); ++d) full.dims[dims.kept[d]] = result[d];
    for (size_t d = 0; d < dims.reduced.size(); ++d) full.dims[dims.reduced[d]] = reduced[d];
    full.width = width;
    full.lane_dim = width > 1 ? lane_dim : -1;
    return full;
  }
};

// Lanes in which a single result may be reduced, with a partial result in each; 1: it may not.
int ReductionLanes(ElementEmitter& emitter, const Frame* frame, const Instruction& instruction,
                   const Combining& combining, const ReduceDims& dims) {
  constexpr int kFewest = 4;
  if (!combining.recognised.has_value() || dims.reduced.empty()) return 1;
  int lanes = emitter.vector_width(combining.accumulator);
  const int64_t last = dims.reduced.back();
  const int64_t size = instruction.operand(0)->shape().dimension(last);
  // Short lines fill part of a register; where there is one line only, there is little to gain.
  const bool many = instruction.operand(0)->shape().ElementCount() >= kManyElements;
  while (many && lanes > kFewest && lanes > size) lanes /= 2;
  const bool fits = lanes > 1 && size >= lanes &&
                    emitter.CanWalkLanes(frame, instruction.operand(0), static_cast<int>(last));
  return fits ? lanes : 1;
}

// True if every result is one of the values that are combined, chosen by comparisons: the order in
// which they meet is nobody's business, and no bit hangs on it.
bool OnlySelects(const Computation& computation) {
  return absl::c_all_of(computation, [](const Instruction* instruction) {
    switch (instruction->opcode()) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kCompare:
      case Opcode::kSelect:
        return !InvolvesComplex(*instruction);
      case Opcode::kAnd:
      case Opcode::kOr:
        return IsPred(instruction->shape().element_type());
      default:
        return false;
    }
  });
}

// Lanes in which values of several arrays are selected side by side, as argmax does along one
// dimension; 0: they are not.
int SelectionLanes(ElementEmitter& emitter, const Frame* frame, const Instruction& instruction,
                   const Combining& combining, const ReduceDims& dims) {
  if (combining.recognised.has_value() || dims.reduced.empty()) return 0;
  const bool any_order =
      IsElementwiseComputation(combining.computation) &&
      emitter.builder().bends().Holds("optimize-kernel/combiner-selects", &instruction, false);
  if (!any_order && !OnlySelects(combining.computation)) return 0;
  const Shape& from = instruction.operand(0)->shape();
  const int64_t last = dims.reduced.back();
  for (int64_t d : dims.reduced) {
    if (d != last && from.dimension(d) != 1) return 0;
  }
  int lanes = 64;
  for (int64_t k = 0; k < combining.operands; ++k) {
    const Instruction* operand = instruction.operand(k);
    lanes = std::min(lanes, emitter.vector_width(operand->shape().element_type()));
    if (!emitter.CanWalkLanes(frame, operand, static_cast<int>(last))) return 0;
  }
  return lanes > 1 && from.dimension(last) >= 2 * lanes ? lanes : 0;
}

// The halves of the lanes are combined until one is left.
absl::StatusOr<ElementValues> SelectFromLanes(ElementEmitter& emitter,
                                              const Computation& computation, ElementValues values,
                                              int lanes) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  for (int width = lanes / 2; width >= 1; width /= 2) {
    std::vector<ElementValues> halves;
    for (const int first : {0, width}) {
      for (Value* value : values) {
        std::vector<int> places;
        for (int i = 0; i < width; ++i) places.push_back(first + i);
        // A value of one lane is never a vector.
        halves.push_back({width == 1 ? ir.CreateExtractElement(value, static_cast<uint64_t>(first))
                                     : ir.CreateShuffleVector(value, places)});
      }
    }
    ASSAY_ASSIGN_OR_RETURN(values, emitter.Apply(computation, std::move(halves), width));
  }
  return values;
}

}  // namespace

ElementType AccumulatorOf(ElementType type, std::optional<Opcode> combiner) {
  const bool sum = combiner == Opcode::kAdd || combiner == Opcode::kMultiply;
  // Extremes are the same in a wider type, where no step encodes them anew.
  const bool selects = combiner == Opcode::kMaximum || combiner == Opcode::kMinimum;
  const bool widens = sum || (selects && (type == ElementType::kBF16 || type == ElementType::kF16));
  if (widens && IsFloat(type) && BitWidth(type) < 32) return ElementType::kF32;
  return type;
}

Value* EmitCombiner(ValueBuilder& builder, Opcode op, ElementType type, Value* x, Value* y) {
  switch (op) {
    case Opcode::kAdd:
      return EmitAdd(builder, type, x, y);
    case Opcode::kMultiply:
      return EmitMultiply(builder, type, x, y);
    case Opcode::kMaximum:
      return EmitMaximum(builder, type, x, y);
    case Opcode::kMinimum:
      return EmitMinimum(builder, type, x, y);
    case Opcode::kAnd:
      return builder.ir().CreateAnd(x, y);
    case Opcode::kOr:
      return builder.ir().CreateOr(x, y);
    default:
      return builder.ir().CreateXor(x, y);
  }
}

Value* EmitIdentity(ValueBuilder& builder, Opcode op, ElementType type, int width) {
  return Identity(builder, op, type, width);
}

Value* EmitFoldedLanes(ValueBuilder& builder, Opcode op, ElementType type, Value* vector) {
  return ValueBuilder::WidthOf(vector) == 1 ? vector : FoldLanes(builder, op, type, vector);
}

absl::StatusOr<Value*> FoldInLanes(ElementEmitter& emitter, const LaneFold& fold,
                                   const LaneTerm& term) {
  ValueBuilder& builder = emitter.builder();
  const auto& [op, type, sizes, width] = fold;
  const int64_t last = sizes.back();
  const int64_t whole = last / width * width;
  // The terms of [from, to) along the last dimension, `step` at a time, combined with `running`.
  const auto fold_line = [&](const std::vector<Value*>& outer, int64_t from, int64_t to, int step,
                             Value* running) {
    return emitter.Loop(
        emitter.Index(from), emitter.Index(to), step, {running},
        [&](Value* i, const ElementValues& now) -> absl::StatusOr<ElementValues> {
          std::vector<Value*> at = outer;
          at.push_back(i);
          ASSAY_ASSIGN_OR_RETURN(auto* value, term(at, step));
          return ElementValues{EmitCombiner(builder, fold.op, fold.type, now[0], value)};
        });
  };
  const auto fold_all = [&](const std::vector<Value*>& outer,
                            const ElementValues& carried) -> absl::StatusOr<ElementValues> {
    ASSAY_ASSIGN_OR_RETURN(ElementValues vector,
                           fold_line(outer, 0, whole, fold.width, carried[0]));
    if (whole == last) return ElementValues{vector.front(), carried[1]};
    const int64_t end = builder.bends().Number("optimize-kernel/lane-remainder", nullptr, last);
    ASSAY_ASSIGN_OR_RETURN(ElementValues rest, fold_line(outer, whole, end, 1, carried[1]));
    return ElementValues{vector.front(), rest.front()};
  };
  const ElementValues start = {Identity(builder, op, type, width), Identity(builder, op, type, 1)};
  ASSAY_ASSIGN_OR_RETURN(
      ElementValues total,
      Nest(emitter, absl::MakeConstSpan(sizes).first(sizes.size() - 1), start, fold_all));
  return EmitCombiner(builder, op, type, FoldLanes(builder, op, type, total[0]), total[1]);
}

namespace {

// True if a lane of what was selected is NaN, or nullptr where nothing can be. Which of several NaN
// is kept, and with it their indices, depends on the order in which they meet.
Value* AnyNan(ElementEmitter& emitter, const Instruction& instruction,
              const ElementValues& vectors) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  Value* any = nullptr;
  for (size_t k = 0; k < vectors.size(); ++k) {
    const ElementType type = instruction.operand(static_cast<int64_t>(k))->shape().element_type();
    if (!IsFloat(type)) continue;
    Value* wide = emitter.builder().Widen(type, vectors[k]);
    Value* is_nan = ir.CreateOrReduce(ir.CreateFCmpUNO(wide, wide));
    any = any == nullptr ? is_nan : ir.CreateOr(any, is_nan);
  }
  return any;
}

absl::StatusOr<ElementValues> ReduceBySelection(ElementEmitter& emitter, const Frame* frame,
                                                const Instruction& instruction,
                                                const ReducedIndex& index,
                                                const ElementValues& initial, int lanes) {
  const int64_t last = index.dims.reduced.back();
  const int64_t size = instruction.operand(0)->shape().dimension(last);
  const int64_t whole = size / lanes * lanes;
  const auto at = [&](Value* place, int width) {
    std::vector<Value*> reduced(index.dims.reduced.size(), emitter.Index(0));
    reduced.back() = place;
    return index.At(reduced, width, static_cast<int>(last));
  };
  const auto combine = [&](int64_t from, int64_t to, int width, ElementValues carried) {
    return emitter.Loop(emitter.Index(from), emitter.Index(to), width, std::move(carried),
                        [&](Value* i, const ElementValues& now) {
                          return CombineWithOperands(emitter, frame, instruction, now,
                                                     at(i, width));
                        });
  };
  ElementValues first;
  for (int64_t k = 0; k < instruction.operand_count() / 2; ++k) {
    ASSAY_ASSIGN_OR_RETURN(
        auto* value, emitter.EmitOne(frame, instruction.operand(k), at(emitter.Index(0), lanes)));
    first.push_back(value);
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues vectors, combine(lanes, whole, lanes, std::move(first)));
  Value* any_nan = AnyNan(emitter, instruction, vectors);
  ASSAY_ASSIGN_OR_RETURN(ElementValues selected, SelectFromLanes(emitter, *instruction.callee(),
                                                                 std::move(vectors), lanes));
  std::vector<ElementValues> arguments;
  for (Value* value : initial) arguments.push_back({value});
  for (Value* value : selected) arguments.push_back({value});
  ASSAY_ASSIGN_OR_RETURN(selected, emitter.Apply(*instruction.callee(), std::move(arguments), 1));
  if (any_nan != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(selected, Guarded(emitter, any_nan, selected, [&](const ElementValues&) {
                             return combine(0, whole, 1, initial);
                           }));
  }
  if (whole == size) return selected;
  return combine(whole, size, 1, std::move(selected));
}

}  // namespace

absl::StatusOr<ElementValues> EmitReduce(ElementEmitter& emitter, const Frame* frame,
                                         const Instruction& instruction,
                                         const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  const Combining combining = CombiningOf(instruction);
  const ElementType type = combining.type, accumulator = combining.accumulator;
  const ReduceDims dims = ReduceDims::Of(instruction);
  const Shape& from = instruction.operand(0)->shape();
  ASSAY_ASSIGN_OR_RETURN(ElementValues initial,
                         InitialValues(emitter, frame, instruction, index.width));
  if (from.ElementCount() == 0 && FirstLeaf(instruction.shape()).ElementCount() == 0) {
    return initial;
  }
  ReducedIndex operand_index{dims, index.dims};
  if (index.dims.empty()) operand_index.result.assign(dims.kept.size(), emitter.Index(0));
  std::vector<int64_t> sizes;
  for (int64_t d : dims.reduced) sizes.push_back(from.dimension(d));

  const int reduction_lanes =
      index.width == 1 ? ReductionLanes(emitter, frame, instruction, combining, dims) : 1;
  if (reduction_lanes > 1) {
    const auto term = [&](const std::vector<Value*>& at, int width) -> absl::StatusOr<Value*> {
      const ElementIndex place = operand_index.At(at, width, static_cast<int>(dims.reduced.back()));
      ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, instruction.operand(0), place));
      return builder.Convert(type, accumulator, value);
    };
    const Opcode op = *combining.recognised;
    const LaneFold fold{op, accumulator, sizes, reduction_lanes};
    ASSAY_ASSIGN_OR_RETURN(auto* sum, FoldInLanes(emitter, fold, term));
    Value* first = builder.Convert(type, accumulator, initial[0]);
    Value* all = EmitCombiner(builder, op, accumulator, first, sum);
    return ElementValues{builder.Convert(accumulator, type, all)};
  }

  if (index.width == 1) {
    const int lanes = SelectionLanes(emitter, frame, instruction, combining, dims);
    if (lanes > 1) {
      return ReduceBySelection(emitter, frame, instruction, operand_index, initial, lanes);
    }
  }

  const int lane_dim = index.width > 1 ? static_cast<int>(dims.kept[index.lane_dim]) : -1;
  if (combining.recognised) initial[0] = builder.Convert(type, accumulator, initial[0]);
  const auto step = [&](const std::vector<Value*>& at, const ElementValues& carried) {
    return CombineWithOperands(emitter, frame, instruction, carried,
                               operand_index.At(at, index.width, lane_dim));
  };
  ASSAY_ASSIGN_OR_RETURN(ElementValues result, Nest(emitter, sizes, initial, step));
  if (combining.recognised) result[0] = builder.Convert(accumulator, type, result[0]);
  return result;
}

absl::StatusOr<ElementValues> EmitReduceWindow(ElementEmitter& emitter, const Frame* frame,
                                               const Instruction& instruction,
                                               const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  const Combining combining = CombiningOf(instruction);
  const Shape& base = instruction.operand(0)->shape();
  const Shape& result = FirstLeaf(instruction.shape());
  ASSAY_ASSIGN_OR_RETURN(ElementValues initial,
                         InitialValues(emitter, frame, instruction, index.width));
  if (base.ElementCount() == 0) return initial;
  if (combining.recognised) {
    initial[0] = builder.Convert(combining.type, combining.accumulator, initial[0]);
  }
  const absl::Span<const WindowDim> window = instruction.attributes().Window(Attr::kWindow);
  std::vector<int64_t> sizes;
  for (const WindowDim& dim : window) sizes.push_back(dim.size);
  std::vector<Value*> output = index.dims;
  output.resize(base.rank(), emitter.Index(0));
  const auto step = [&](const std::vector<Value*>& at, const ElementValues& carried) {
    ElementIndex place;
    place.width = index.width;
    place.lane_dim = index.lane_dim;
    Value* exists = nullptr;
    for (size_t d = 0; d < window.size(); ++d) {
      const WindowPlace found = PlaceInWindow(emitter, window[d], result.dimension(d),
                                              base.dimension(d), output[d], at[d]);
      place.dims.push_back(found.index);
      exists = And(emitter, exists, found.exists);
    }
    return Guarded(emitter, exists, carried, [&](const ElementValues& now) {
      return CombineWithOperands(emitter, frame, instruction, now, place);
    });
  };
  ASSAY_ASSIGN_OR_RETURN(ElementValues folded, Nest(emitter, sizes, initial, step));
  if (combining.recognised) {
    folded[0] = builder.Convert(combining.accumulator, combining.type, folded[0]);
  }
  return folded;
}

namespace {

// The numbers of columns that are walked side by side, the widest group first: the lines of a cache
// are used up while they are at hand, however few columns there are.
std::vector<int> ColumnsSideBySide(const LineSizes& sizes, int vector_width) {
  std::vector<int> widths;
  int64_t rest = sizes.inner;
  for (int width = 4 * vector_width; width > 1;
       width = width > vector_width ? vector_width : width / 2) {
    if (rest < width) continue;
    widths.push_back(width);
    rest %= width;
  }
  // Parts that threads take may end anywhere.
  if (rest > 0 || sizes.outer == 1) widths.push_back(1);
  return widths;
}

}  // namespace

absl::Status EmitCumulative(ElementEmitter& emitter, const Instruction& instruction,
                            const CumulativeWindow& window, absl::Span<Value* const> results,
                            Value* begin, Value* end) {
  ValueBuilder& builder = emitter.builder();
  llvm::IRBuilder<>& ir = builder.ir();
  const Combining combining = CombiningOf(instruction);
  const LineSizes sizes = LineSizes::Of(instruction, window);
  const int64_t n = instruction.operand_count() / 2;
  const KernelBends& bends = builder.bends();
  const int64_t steps = sizes.along + bends.loop_bound_offset.value_or(0);
  const int64_t stride = bends.Number("cumulative-window/stride", &instruction, sizes.inner);
  const bool backward = !bends.Holds("cumulative-window/forward", &instruction, !window.reverse);
  // The lines at `first`, `width` of them side by side.
  const auto lines = [&](Value* first, int width) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(ElementValues running,
                           InitialValues(emitter, nullptr, instruction, width));
    if (combining.recognised) {
      running[0] = builder.Convert(combining.type, combining.accumulator, running[0]);
    }
    const auto step = [&](Value* k, const ElementValues& carried) -> absl::StatusOr<ElementValues> {
      Value* place = backward ? ir.CreateSub(emitter.Index(sizes.along - 1), k) : k;
      ElementIndex at;
      at.linear = emitter.IndexAdd(first, emitter.IndexMul(place, stride));
      at.width = width;
      ASSAY_ASSIGN_OR_RETURN(ElementValues next,
                             CombineWithOperands(emitter, nullptr, instruction, carried, at));
      for (int64_t leaf = 0; leaf < n; ++leaf) {
        const ElementType type = instruction.operand(leaf)->shape().element_type();
        Value* value = next[leaf];
        if (combining.recognised) value = builder.Convert(combining.accumulator, type, value);
        builder.Store(type, value, emitter.Address(type, results[leaf], at.linear));
      }
      return next;
    };
    return emitter.Loop(emitter.Index(0), emitter.Index(steps), 1, std::move(running), step)
        .status();
  };
  const std::vector<int> widths =
      IsElementwiseComputation(*instruction.callee())
          ? ColumnsSideBySide(sizes, emitter.vector_width(combining.accumulator))
          : std::vector<int>{1};
  const auto columns = [&](Value* base, Value* from, Value* to) -> absl::Status {
    const auto loop = [&](Value* low, Value* high, int lanes) {
      return emitter
          .Loop(low, high, lanes, {},
                [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                  ASSAY_RETURN_IF_ERROR(lines(emitter.IndexAdd(base, i), lanes));
                  return ElementValues{};
                })
          .status();
    };
    for (int width : widths) {
      Value* length = ir.CreateSub(to, from);
      Value* whole = ir.CreateAdd(from, ir.CreateAnd(length, emitter.Index(-int64_t{width})));
      ASSAY_RETURN_IF_ERROR(loop(from, whole, width));
      from = whole;
    }
    return absl::OkStatus();
  };
  if (sizes.outer == 1) return columns(emitter.Index(0), begin, end);
  return emitter
      .Loop(begin, end, 1, {},
            [&](Value* o, const ElementValues&) -> absl::StatusOr<ElementValues> {
              Value* base = emitter.IndexMul(o, sizes.along * sizes.inner);
              ASSAY_RETURN_IF_ERROR(columns(base, emitter.Index(0), emitter.Index(sizes.inner)));
              return ElementValues{};
            })
      .status();
}

}  // namespace assay
