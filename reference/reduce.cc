// Reduce. Document: operation semantics chapter 10, "Recognised combiners" and Reduce.
#include "reference/reduce.h"

#include <algorithm>
#include <numeric>

#include "reference/bounds/elements.h"
#include "reference/components.h"
#include "reference/double_double.h"
#include "reference/interpreter.h"
#include "reference/narrow_types.h"

namespace assay::reference {
namespace {

const Instruction* SkipConverts(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kConvert) instruction = instruction->operand(0);
  return instruction;
}

// A chain of converts loses nothing on the way if no step narrows.
bool OnlyWidens(const Instruction* from, const Instruction* to) {
  for (; from != to; from = from->operand(0)) {
    const ElementType wide = from->shape().element_type();
    const ElementType narrow = from->operand(0)->shape().element_type();
    if (!IsFloat(wide) || !IsFloat(narrow) || BitWidth(wide) <= BitWidth(narrow)) return false;
  }
  return true;
}

// The accumulator of floats: wide, rounded once at the end.
template <typename Op, typename T>
T AccumulateReal(absl::Span<const T> in, T init, int64_t base, const IndexMap& offsets) {
  if constexpr (std::is_same_v<Op, Add> && std::is_same_v<T, double>) {
    DoubleDouble sum(init);
    for (int64_t offset : offsets) sum.Add(in[base + offset]);
    return sum.Rounded();
  } else {
    using W = std::conditional_t<std::is_same_v<Op, Add> || std::is_same_v<Op, Multiply>, Wide<T>,
                                 Working<T>>;
    W value = Widen<W>(init);
    for (int64_t offset : offsets) value = Op::template Real<W>(value, Widen<W>(in[base + offset]));
    return Round<T>(value);
  }
}

// f(...f(f(init, x0), x1)...) for one result element.
template <typename Op, typename T>
T Accumulate(absl::Span<const T> in, T init, int64_t base, const IndexMap& offsets) {
  if constexpr (kIsReal<T>) {
    if constexpr (requires { &Op::template Real<Working<T>>; })
      return AccumulateReal<Op, T>(in, init, base, offsets);
  } else if constexpr (kIsPred<T>) {
    if constexpr (requires { &Op::Predicate; }) {
      T value = init;
      for (int64_t offset : offsets) value = Op::Predicate(value, in[base + offset]);
      return value;
    }
  } else if constexpr (requires { &Op::template Integer<T>; }) {
    T value = init;
    for (int64_t offset : offsets) value = Op::template Integer<T>(value, in[base + offset]);
    return value;
  }
  return init;  // and, or, xor of floats: rejected by the verifier
}

// The reduce of one array whose type is computed.
Array ReduceArray(const OpContext& op, bool bounding, Opcode combiner, const Array& operand,
                  const Array& init, const ReduceGeometry& geometry) {
  Array result(Literal(Shape::Array(operand.literal.element_type(), op.shape.dimensions())));
  DispatchComputed(operand.literal.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> in = operand.literal.data<T>();
    absl::Span<const T> first = init.literal.data<T>();
    absl::Span<T> out = result.literal.data<T>();
    VisitCombiner(combiner, [&](auto meaning) {
      for (size_t o = 0; o < out.size(); ++o)
        out[o] = Accumulate<decltype(meaning), T>(in, first[geometry.own_init ? o : 0],
                                                  geometry.bases[o], geometry.offsets);
    });
  });
  if (bounding) BoundRecognisedReduce(op.freedoms, combiner, operand, init, geometry, result);
  return result;
}

// Narrow types accumulate in the wider one and are rounded, or wrapped, at the end.
absl::StatusOr<Array> ReduceNarrow(const OpContext& op, bool bounding, Opcode combiner,
                                   const ReduceGeometry& geometry) {
  const ElementType wide = ComputedType(op.type());
  absl::StatusOr<Array> operand = ConvertArray(op, op.array(0), wide, bounding);
  absl::StatusOr<Array> init = ConvertArray(op, op.array(1), wide, bounding);
  if (!operand.ok()) return operand.status();
  if (!init.ok()) return init.status();
  const Array sums = ReduceArray(op, bounding, combiner, *operand, *init, geometry);
  absl::StatusOr<Array> result = ConvertArray(op, sums, op.type(), bounding);
  const bool rounds =
      IsFloat(op.type()) && (combiner == Opcode::kAdd || combiner == Opcode::kMultiply);
  // A literal reducer rounds at every step; what that gives is not followed.
  if (result.ok() && bounding && rounds && op.freedoms.literal_reducer &&
      geometry.offsets.size() > 1)
    MakeUndecided(*result);
  return result;
}

absl::StatusOr<Value> ReduceRecognised(Interpreter& interpreter, const OpContext& op,
                                       Opcode combiner, const ReduceGeometry& geometry) {
  const bool bounding = interpreter.bounding();
  MemoryMeter& memory = interpreter.memory();
  if (IsNarrowType(op.type())) {
    absl::StatusOr<Array> result = ReduceNarrow(op, bounding, combiner, geometry);
    if (!result.ok()) return result.status();
    return MakeValue(*std::move(result), memory);
  }
  if (IsComplex(op.type())) {  // a sum of complex numbers is that of their parts
    Array result{Literal(op.shape)};
    for (Part part : {Part::kReal, Part::kImaginary}) {
      SetPart(ReduceArray(op, bounding, combiner, PartOf(op.array(0), part),
                          PartOf(op.array(1), part), geometry),
              part, result);
    }
    return MakeValue(std::move(result), memory);
  }
  return MakeValue(ReduceArray(op, bounding, combiner, op.array(0), op.array(1), geometry), memory);
}

// Any other combiner is applied literally. It works on columns: one running value or one input per
// result element, an array per operand of the reduce.
using Column = std::vector<Value>;

class LiteralReduce {
 public:
  // `dimensions` of the columns: one, when the combiner can be lifted, else none.
  LiteralReduce(Interpreter& interpreter, const Computation& combiner, bool lifted,
                int64_t column_size)
      : interpreter_(interpreter), combiner_(combiner), lifted_(lifted), size_(column_size) {}

  absl::StatusOr<Column> Combine(const Column& a, const Column& b) {
    std::vector<Value> arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    absl::StatusOr<Value> value = lifted_ ? interpreter_.RunLifted(combiner_, arguments, {size_})
                                          : interpreter_.Run(combiner_, arguments);
    if (!value.ok()) return value.status();
    return value->IsTuple() ? std::move(value->elements) : Column{*std::move(value)};
  }

  // f(...f(f(init, x0), x1)...), taking the inputs in the given order.
  absl::StatusOr<Column> Left(Column init, const std::vector<Column>& inputs,
                              absl::Span<const size_t> order) {
    absl::StatusOr<Column> value = std::move(init);
    for (size_t k : order) {
      value = Combine(*value, inputs[k]);
      if (!value.ok()) return value.status();
    }
    return value;
  }
  // f(init, f(x0, f(x1, ...)))
  absl::StatusOr<Column> Right(const Column& init, const std::vector<Column>& inputs) {
    absl::StatusOr<Column> value = inputs.back();
    for (size_t k = inputs.size() - 1; k-- > 0;) {
      value = Combine(inputs[k], *value);
      if (!value.ok()) return value.status();
    }
    return Combine(init, *value);
  }
  // f(init, pairs of pairs of pairs)
  absl::StatusOr<Column> Tree(const Column& init, std::vector<Column> level) {
    while (level.size() > 1) {
      std::vector<Column> next;
      for (size_t k = 0; k + 1 < level.size(); k += 2) {
        absl::StatusOr<Column> pair = Combine(level[k], level[k + 1]);
        if (!pair.ok()) return pair.status();
        next.push_back(*std::move(pair));
      }
      if (level.size() % 2 != 0) next.push_back(level.back());
      level = std::move(next);
    }
    return Combine(init, level[0]);
  }

 private:
  Interpreter& interpreter_;
  const Computation& combiner_;
  bool lifted_;
  int64_t size_;
};

// A fixed permutation that looks like none.
std::vector<size_t> Shuffled(size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  uint64_t state = 0x9E3779B97F4A7C15u ^ n;
  for (size_t k = n; k > 1; --k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(order[k - 1], order[(state >> 33) % k]);
  }
  return order;
}

bool SameBound(const Array& a, const Array& b, int64_t i) {
  const int64_t width = BoundsPerElement(a.literal.element_type());
  if (width == 0)
    return a.literal.GetBits(i) == b.literal.GetBits(i) && CodesOf(a, i) == CodesOf(b, i);
  constexpr ElementBound kAllForced{0, 0, 0, kForced};
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot) {
    if (a.literal.GetComponentBits(slot) != b.literal.GetComponentBits(slot)) return false;
    const ElementBound p = a.bounds.empty() ? kAllForced : a.bounds[slot];
    const ElementBound q = b.bounds.empty() ? kAllForced : b.bounds[slot];
    if (p.flags != q.flags) return false;
    if (p.flags == kForced) continue;
    if (p.centre != q.centre || p.centre_low != q.centre_low || p.radius != q.radius) return false;
  }
  return true;
}

// Elements on which another order disagrees are undecided.
Column Agreed(const Column& first, const Column& other, MemoryMeter& memory) {
  Column agreed;
  for (size_t n = 0; n < first.size(); ++n) {
    Array merged = *first[n].array;
    for (int64_t i = 0; i < merged.literal.element_count(); ++i)
      if (!SameBound(merged, *other[n].array, i)) SetUndecided(merged, i);
    agreed.push_back(MakeValue(std::move(merged), memory));
  }
  return agreed;
}

absl::StatusOr<Column> ReduceColumns(Interpreter& interpreter, LiteralReduce& reduce,
                                     const Column& init, const std::vector<Column>& inputs) {
  std::vector<size_t> in_order(inputs.size());
  std::iota(in_order.begin(), in_order.end(), size_t{0});
  absl::StatusOr<Column> left = reduce.Left(init, inputs, in_order);
  if (!left.ok() || !interpreter.bounding() || !interpreter.freedoms().reassociate ||
      inputs.size() < 2)
    return left;
  Column agreed = *std::move(left);
  const int orders = interpreter.freedoms().commute ? 3 : 2;
  for (int order = 0; order < orders; ++order) {
    absl::StatusOr<Column> other = order == 0 ? reduce.Right(init, inputs)
                                   : order == 1
                                       ? reduce.Tree(init, inputs)
                                       : reduce.Left(init, inputs, Shuffled(inputs.size()));
    if (!other.ok()) return other.status();
    agreed = Agreed(agreed, *other, interpreter.memory());
  }
  return agreed;
}

// Elements `bases[o] + offset` of an operand as an array of the given shape.
Value Gather(const Array& operand, absl::Span<const int64_t> bases, int64_t offset,
             const Shape& shape, MemoryMeter& memory) {
  IndexMap map(bases.begin(), bases.end());
  for (int64_t& at : map) at += offset;
  Array column{Literal(shape)};
  const size_t width = StorageBytes(shape.element_type());
  for (size_t o = 0; o < map.size(); ++o) {
    std::memcpy(column.literal.bytes().data() + o * width,
                operand.literal.bytes().data() + map[o] * width, width);
  }
  if (!operand.Certain()) MoveBounds(operand, map, column);
  return MakeValue(std::move(column), memory);
}

absl::StatusOr<Value> ReduceLiterally(Interpreter& interpreter, const OpContext& op,
                                      const ReduceGeometry& geometry) {
  const Computation& combiner = *op.instruction.callee();
  absl::StatusOr<bool> lifted = interpreter.CanLift(combiner);
  if (!lifted.ok()) return lifted.status();
  const size_t arity = op.operands.size() / 2;
  MemoryMeter& memory = interpreter.memory();
  std::vector<Array> results;
  for (size_t n = 0; n < arity; ++n) {
    const Shape& shape = op.shape.IsTuple() ? op.shape.elements()[n] : op.shape;
    results.push_back(Array{Literal(shape)});
  }
  const auto outputs = static_cast<int64_t>(geometry.bases.size());
  const int64_t step = *lifted ? outputs : 1;
  for (int64_t first = 0; first < outputs; first += step) {
    absl::Span<const int64_t> bases =
        absl::MakeConstSpan(geometry.bases)
            .subspan(static_cast<size_t>(first), static_cast<size_t>(step));
    auto gather = [&](size_t operand, absl::Span<const int64_t> from, int64_t offset) {
      const Array& array = op.array(static_cast<int64_t>(operand));
      const ElementType type = array.literal.element_type();
      return Gather(array, from, offset, *lifted ? Shape::Array(type, {step}) : Shape::Scalar(type),
                    memory);
    };
    IndexMap starts(static_cast<size_t>(step), 0);
    if (geometry.own_init) std::iota(starts.begin(), starts.end(), first);
    Column init;
    for (size_t n = 0; n < arity; ++n) init.push_back(gather(arity + n, starts, 0));
    std::vector<Column> inputs(geometry.offsets.size());
    for (size_t k = 0; k < inputs.size(); ++k)
      for (size_t n = 0; n < arity; ++n) inputs[k].push_back(gather(n, bases, geometry.offsets[k]));
    LiteralReduce reduce(interpreter, combiner, *lifted, step);
    absl::StatusOr<Column> column = ReduceColumns(interpreter, reduce, init, inputs);
    if (!column.ok()) return column.status();
    for (size_t n = 0; n < arity; ++n) {
      const Array& part = *(*column)[n].array;
      Literal& whole = results[n].literal;
      std::memcpy(whole.bytes().data() + first * StorageBytes(whole.element_type()),
                  part.literal.bytes().data(), part.literal.bytes().size());
      for (int64_t o = 0; o < step && !part.Certain(); ++o)
        MoveBound(part, o, results[n], first + o);
    }
  }
  std::vector<Value> values;
  for (Array& result : results) values.push_back(MakeValue(std::move(result), memory));
  return op.shape.IsTuple() ? Value::Tuple(std::move(values)) : values[0];
}

absl::StatusOr<Value> ReduceBy(Interpreter& interpreter, const OpContext& op,
                               const ReduceGeometry& geometry) {
  if (op.operands.size() == 2) {
    std::optional<Opcode> combiner = RecognisedCombiner(*op.instruction.callee());
    if (combiner && (!IsComplex(op.type()) || *combiner == Opcode::kAdd))
      return ReduceRecognised(interpreter, op, *combiner, geometry);
  }
  return ReduceLiterally(interpreter, op, geometry);
}

absl::StatusOr<Value> ApplyReduce(Interpreter& interpreter, const OpContext& op) {
  if (absl::Status status = interpreter.budget().Take(op.literal(0).element_count() + 1);
      !status.ok())
    return status;
  if (absl::Status status = interpreter.memory().Check(op.shape.ByteSize()); !status.ok())
    return status;
  const ReduceGeometry geometry =
      GeometryOf(op.literal(0).shape(), op.instruction.attributes().Integers(Attr::kDimensions));
  return ReduceBy(interpreter, op, geometry);
}

}  // namespace

absl::StatusOr<Value> CombineMembers(Interpreter& interpreter, const OpContext& op,
                                     const Shape& shape, absl::Span<const Value* const> members) {
  if (members.size() == 1) return *members[0];
  const auto others = static_cast<int64_t>(members.size()) - 1;
  const int64_t count = shape.ElementCount();
  if (absl::Status status = interpreter.budget().Take(count * others + 1); !status.ok())
    return status;
  // The others' operands below each other.
  const Shape stacked_shape = Shape::Array(shape.element_type(), {others, count});
  if (absl::Status status = interpreter.memory().Check(stacked_shape.ByteSize()); !status.ok())
    return status;
  Array stacked{Literal(stacked_shape)};
  ReduceGeometry geometry;
  geometry.own_init = true;
  geometry.bases.resize(static_cast<size_t>(count));
  std::iota(geometry.bases.begin(), geometry.bases.end(), int64_t{0});
  for (int64_t k = 0; k < others; ++k) {
    const Array& other = *members[k + 1]->array;
    absl::Span<const uint8_t> bytes = other.literal.bytes();
    if (!bytes.empty())
      std::memcpy(stacked.literal.bytes().data() + k * bytes.size(), bytes.data(), bytes.size());
    for (int64_t i = 0; i < count && !(other.Certain() && stacked.Certain()); ++i)
      MoveBound(other, i, stacked, k * count + i);
    geometry.offsets.push_back(k * count);
  }
  const Value rest = MakeValue(std::move(stacked), interpreter.memory());
  const Value* operands[] = {&rest, members[0]};
  const OpContext combined{op.instruction, shape, operands, op.freedoms};
  return ReduceBy(interpreter, combined, geometry);
}

std::optional<Opcode> RecognisedCombiner(const Computation& computation) {
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* root = SkipConverts(computation.root());
  switch (root->opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      break;
    default:
      return std::nullopt;
  }
  const Instruction* a = SkipConverts(root->operand(0));
  const Instruction* b = SkipConverts(root->operand(1));
  const Instruction *first = computation.parameter(0), *second = computation.parameter(1);
  if (!((a == first && b == second) || (a == second && b == first))) return std::nullopt;
  if (!OnlyWidens(root->operand(0), a) || !OnlyWidens(root->operand(1), b)) return std::nullopt;
  // Back in one step, to where it came from.
  if (computation.root() != root &&
      (computation.root()->operand(0) != root ||
       computation.root()->shape().element_type() != a->shape().element_type()))
    return std::nullopt;
  return root->opcode();
}

ReduceGeometry GeometryOf(const Shape& operand, absl::Span<const int64_t> reduced) {
  const DimVector strides = RowMajorStrides(operand.dimensions());
  DimVector kept_sizes, kept_strides, reduced_sizes, reduced_strides;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    (is_reduced ? reduced_sizes : kept_sizes).push_back(operand.dimension(d));
    (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  auto list = [](absl::Span<const int64_t> sizes, absl::Span<const int64_t> steps) {
    IndexMap places;
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return places;
    DimVector index(sizes.size(), 0);
    do {
      places.push_back(LinearIndex(steps, index));
    } while (NextIndex(sizes, absl::MakeSpan(index)));
    return places;
  };
  return {list(kept_sizes, kept_strides), list(reduced_sizes, reduced_strides)};
}

absl::Span<const OpEvaluation> ReduceEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kReduce, nullptr, nullptr, ApplyReduce},
  };
  return kRows;
}

}  // namespace assay::reference
