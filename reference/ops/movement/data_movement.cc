// Ops that only move elements. Document: operation semantics chapter 4 (bitcast) and 9.
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/narrow.h"
#include "reference/scalar/convert_ops.h"
#include "reference/values/index_map.h"
#include "reference/values/lines.h"
#include "reference/values/narrow_types.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Calls f(linear index, index) for every element of `shape` in row-major order.
template <typename F>
void ForEachIndex(const Shape& shape, F f) {
  DimVector index(shape.rank(), 0);
  const int64_t count = shape.ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    f(i, absl::MakeConstSpan(index));
    NextIndex(shape.dimensions(), absl::MakeSpan(index));
  }
}

// The map result[i] = operand[offset + sum of index[d] * strides[d]].
IndexMap LinearMap(const Shape& shape, absl::Span<const int64_t> strides, int64_t offset = 0) {
  IndexMap map(shape.ElementCount());
  ForEachIndex(shape, [&](int64_t i, absl::Span<const int64_t> index) {
    map[i] = offset + LinearIndex(strides, index);
  });
  return map;
}

// result[i...] = operand[k], k[d] = i[dimensions[d]], or 0 where the operand has size 1.
IndexMap BroadcastMap(const OpContext& op) {
  const Shape& operand = op.literal(0).shape();
  absl::Span<const int64_t> dimensions = op.instruction.attributes().Integers(Attr::kDimensions);
  const DimVector operand_strides = RowMajorStrides(operand.dimensions());
  DimVector strides(op.shape.rank(), 0);
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (operand.dimension(d) != 1) strides[dimensions[d]] = operand_strides[d];
  return LinearMap(op.shape, strides);
}

// Dimension d of the result is dimension permutation[d] of the operand.
IndexMap TransposeMap(const OpContext& op) {
  absl::Span<const int64_t> permutation = op.instruction.attributes().Integers(Attr::kDimensions);
  const DimVector operand_strides = RowMajorStrides(op.literal(0).shape().dimensions());
  DimVector strides(op.shape.rank());
  for (int64_t d = 0; d < op.shape.rank(); ++d) strides[d] = operand_strides[permutation[d]];
  return LinearMap(op.shape, strides);
}

// Index i becomes N - 1 - i along the listed dimensions.
IndexMap ReverseMap(const OpContext& op) {
  DimVector strides = RowMajorStrides(op.shape.dimensions());
  int64_t offset = 0;
  for (int64_t d : op.instruction.attributes().Integers(Attr::kDimensions)) {
    offset += (op.shape.dimension(d) - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return LinearMap(op.shape, strides, offset);
}

// Element j along a dimension is element start + j * stride of the operand.
IndexMap SliceMap(const OpContext& op) {
  DimVector strides = RowMajorStrides(op.literal(0).shape().dimensions());
  int64_t offset = 0;
  absl::Span<const SliceRange> ranges = op.instruction.attributes().SliceRanges(Attr::kSlice);
  for (int64_t d = 0; d < op.shape.rank(); ++d) {
    offset += ranges[d].start * strides[d];
    strides[d] *= ranges[d].stride;
  }
  return LinearMap(op.shape, strides, offset);
}

IndexMap IdentityMap(const OpContext& op) {
  IndexMap map(op.count());
  for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<int64_t>(i);
  return map;
}

template <IndexMap (*kMap)(const OpContext&)>
absl::Status EvaluateMoved(const OpContext& op, Literal& result) {
  return MoveElements(op.literal(0), kMap(op), result);
}
template <IndexMap (*kMap)(const OpContext&)>
absl::Status BoundMoved(const OpContext& op, Array& result) {
  if (!op.array(0).Certain()) MoveBounds(op.array(0), kMap(op), result);
  return absl::OkStatus();
}

// reshape: elements keep their row-major order.
absl::Status EvaluateSameOrder(const OpContext& op, Literal& result) {
  std::memcpy(result.bytes().data(), op.literal(0).bytes().data(), result.bytes().size());
  return absl::OkStatus();
}

// The logical element at each position in memory, for an untiled layout.
std::vector<int64_t> LogicalOfPhysical(const Shape& shape) {
  std::vector<int64_t> logical(shape.ElementCount());
  const DimVector strides = LayoutStrides(shape);
  ForEachIndex(shape, [&](int64_t i, absl::Span<const int64_t> index) {
    logical[LinearIndex(strides, index)] = i;
  });
  return logical;
}

// The p-th element in the memory order of the result is the p-th in that of the operand.
IndexMap BitcastMap(const OpContext& op) {
  const std::vector<int64_t> from = LogicalOfPhysical(op.instruction.operand(0)->shape());
  const std::vector<int64_t> to = LogicalOfPhysical(op.shape);
  IndexMap map(to.size());
  for (size_t p = 0; p < to.size(); ++p) map[to[p]] = from[p];
  return map;
}

absl::Status CheckBitcast(const OpContext& op) {
  const Shape& from = op.instruction.operand(0)->shape();
  for (const Shape* shape : {&from, &op.shape}) {
    if (const LayoutExtras* extras = shape->layout().extras();
        extras != nullptr && !extras->tiles.empty()) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat(op.instruction.name(),
                              ": the oracle does not evaluate bitcast of the "
                              "tiled layout of ",
                              shape->ToString(true)));
    }
  }
  auto width = [](ElementType type) { return IsPred(type) ? 8 : BitWidth(type); };
  if (width(from.element_type()) == width(op.type()) &&
      from.ElementCount() == op.shape.ElementCount())
    return absl::OkStatus();
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(),
                          ": the oracle does not evaluate a bitcast that "
                          "changes the element width, ",
                          from.ToString(true), " to ", op.shape.ToString(true)));
}

absl::Status EvaluateBitcast(const OpContext& op, Literal& result) {
  ASSAY_RETURN_IF_ERROR(CheckBitcast(op));
  if (BitWidth(op.type()) >= 8) return MoveElements(op.literal(0), BitcastMap(op), result);
  // SetBits stores codes of less than a byte extended by their signedness.
  const IndexMap map = BitcastMap(op);
  for (size_t i = 0; i < map.size(); ++i)
    result.SetBits(static_cast<int64_t>(i), op.literal(0).GetBits(map[i]));
  return absl::OkStatus();
}

absl::Status BoundBitcast(const OpContext& op, Array& result) {
  if (op.literal(0).element_type() == op.type()) {
    if (!op.array(0).Certain()) MoveBounds(op.array(0), BitcastMap(op), result);
    return absl::OkStatus();
  }
  const IndexMap map = BitcastMap(op);
  const bool moved_only = IsMovedOnly(*op.instruction.operand(0));
  for (size_t i = 0; i < map.size(); ++i)
    ReinterpretBound(op.array(0), map[i], result, static_cast<int64_t>(i), moved_only);
  return absl::OkStatus();
}

// The linear result index of every operand element of a pad, or -1 for those that negative padding
// cuts off. Index i of a dimension goes to low + i * (interior + 1).
std::vector<int64_t> PadTargets(const OpContext& op) {
  const Shape& operand = op.literal(0).shape();
  absl::Span<const PaddingDim> padding = op.instruction.attributes().Padding(Attr::kPadding);
  const DimVector strides = RowMajorStrides(op.shape.dimensions());
  std::vector<int64_t> targets(operand.ElementCount(), -1);
  ForEachIndex(operand, [&](int64_t i, absl::Span<const int64_t> index) {
    int64_t target = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t at = padding[d].low + index[d] * (padding[d].interior + 1);
      if (at < 0 || at >= op.shape.dimension(static_cast<int64_t>(d))) return;
      target += at * strides[d];
    }
    targets[i] = target;
  });
  return targets;
}

absl::Status EvaluatePad(const OpContext& op, Literal& result) {
  ASSAY_RETURN_IF_ERROR(MoveElements(op.literal(1), IndexMap(op.count(), 0), result));
  const std::vector<int64_t> targets = PadTargets(op);
  const size_t width = StorageBytes(op.type());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0) continue;
    std::memcpy(result.bytes().data() + targets[i] * width,
                op.literal(0).bytes().data() + i * width, width);
  }
  return absl::OkStatus();
}

absl::Status BoundPad(const OpContext& op, Array& result) {
  if (op.array(0).Certain() && op.array(1).Certain()) return absl::OkStatus();
  MoveBounds(op.array(1), IndexMap(op.count(), 0), result);
  MakeBounds(result);
  const std::vector<int64_t> targets = PadTargets(op);
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0) MoveBound(op.array(0), static_cast<int64_t>(i), result, targets[i]);
  return absl::OkStatus();
}

// Calls f(operand number, first operand element, first result element, run length).
template <typename F>
void ForEachConcatenatedRun(const OpContext& op, F f) {
  const int64_t dimension = op.instruction.attributes().Integers(Attr::kDimension)[0];
  const Lines result(op.shape, dimension);
  int64_t first = 0;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Lines operand(op.literal(k).shape(), dimension);
    for (int64_t o = 0; o < result.outer; ++o) {
      f(static_cast<int64_t>(k), operand.Block(o, 0), result.Block(o, first),
        operand.length * operand.inner);
    }
    first += operand.length;
  }
}

absl::Status EvaluateConcatenate(const OpContext& op, Literal& result) {
  const size_t width = StorageBytes(op.type());
  ForEachConcatenatedRun(op, [&](int64_t k, int64_t from, int64_t to, int64_t run) {
    if (run == 0) return;
    std::memcpy(result.bytes().data() + to * width, op.literal(k).bytes().data() + from * width,
                run * width);
  });
  return absl::OkStatus();
}

absl::Status BoundConcatenate(const OpContext& op, Array& result) {
  bool certain = true;
  for (size_t k = 0; k < op.operands.size(); ++k) certain = certain && op.array(k).Certain();
  if (certain) return absl::OkStatus();
  MakeBounds(result);
  ForEachConcatenatedRun(op, [&](int64_t k, int64_t from, int64_t to, int64_t run) {
    for (int64_t i = 0; i < run; ++i) MoveBound(op.array(k), from + i, result, to + i);
  });
  return absl::OkStatus();
}

// The index along iota_dimension, converted to the element type as an integer of any size.
absl::Status EvaluateIota(const OpContext& op, Literal& result) {
  const int64_t dimension = op.instruction.attributes().Integer(Attr::kIotaDimension);
  bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<T> out = result.data<T>();
    ForEachIndex(op.shape, [&](int64_t i, absl::Span<const int64_t> index) {
      out[i] = ConvertElement<T>(index[dimension]);
    });
  });
  if (done) return absl::OkStatus();
  // Types below a byte wrap, narrow floats round; a complex number has the index as its real part.
  ForEachIndex(op.shape, [&](int64_t i, absl::Span<const int64_t> index) {
    const auto value = static_cast<uint64_t>(index[dimension]);
    if (IsComplex(op.type())) {
      result.SetComponentBits(2 * i, EncodeInteger(Format(op.type()), value, false));
    } else {
      result.SetInteger(i, index[dimension]);
    }
  });
  return absl::OkStatus();
}

// Indices that a narrow type rounds may be read before that.
absl::Status BoundIota(const OpContext& op, Array& result) {
  const ElementType type = op.type();
  const int64_t dimension = op.instruction.attributes().Integer(Attr::kIotaDimension);
  if (!IsFloat(type) || !op.clauses.Has(ClauseId::kExcessPrecision)) return absl::OkStatus();
  const FloatFormat& format = Format(type);
  const int64_t size = op.shape.dimensions()[dimension];
  const bool has_all = size <= int64_t{1} << format.precision() &&
                       static_cast<double>(size) <= format.MaxFinite() + 1 &&
                       format.special != SpecialValues::kExponent;  // which has no zero
  if (has_all) return absl::OkStatus();
  ForEachIndex(op.shape, [&](int64_t i, absl::Span<const int64_t> index) {
    const auto exact = static_cast<double>(index[dimension]);
    if (IsNarrowType(type)) return FinishNarrow(op.clauses, result, i, exact);
    DispatchReal(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsNarrow<T>)
        FinishSingle<T>(op.clauses, result, i, {static_cast<Wide<T>>(exact), 0, 0}, View::kNone);
    });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OpEvaluation> DataMovementEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kBroadcast,
       .evaluate = EvaluateMoved<BroadcastMap>,
       .bound = BoundMoved<BroadcastMap>},
      {.opcode = Opcode::kTranspose,
       .evaluate = EvaluateMoved<TransposeMap>,
       .bound = BoundMoved<TransposeMap>},
      {.opcode = Opcode::kReverse,
       .evaluate = EvaluateMoved<ReverseMap>,
       .bound = BoundMoved<ReverseMap>},
      {.opcode = Opcode::kSlice,
       .evaluate = EvaluateMoved<SliceMap>,
       .bound = BoundMoved<SliceMap>},
      {.opcode = Opcode::kReshape, .evaluate = EvaluateSameOrder, .bound = BoundMoved<IdentityMap>},
      {.opcode = Opcode::kBitcast, .evaluate = EvaluateBitcast, .bound = BoundBitcast},
      {.opcode = Opcode::kPad, .evaluate = EvaluatePad, .bound = BoundPad},
      {.opcode = Opcode::kConcatenate, .evaluate = EvaluateConcatenate, .bound = BoundConcatenate},
      {.opcode = Opcode::kIota, .evaluate = EvaluateIota, .bound = BoundIota, .any_type = true},
  };
  return kRows;
}

}  // namespace assay::reference
