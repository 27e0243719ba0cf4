#include "reference/ops/reduction/fold.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "reference/bounds/ball.h"
#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/widening.h"
#include "reference/scalar/double_double.h"
#include "reference/values/narrow_types.h"
#include "spec/ops/op_table.h"

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

// The accumulator of floats: wide, rounded once at the end, or the type itself.
template <typename Op, typename T>
T AccumulateReal(absl::Span<const T> in, T init, const IndexMap& terms, bool stepwise,
                 LegalChoices* choices, int64_t slot) {
  constexpr bool kSum = std::is_same_v<Op, Add>, kProduct = std::is_same_v<Op, Multiply>;
  if constexpr (kSum || kProduct) {
    if (choices != nullptr && !stepwise) {
      using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
      std::vector<A> values = {Widen<A>(init)};
      for (int64_t at : terms) values.push_back(Widen<A>(in[at]));
      return Round<T>(choices->Combine(values, kProduct, slot));
    }
  }
  if (stepwise) {
    T value = init;
    for (int64_t at : terms) {
      using W = Working<T>;
      value = Round<T>(Op::template Real<W>(Widen<W>(value), Widen<W>(in[at])));
    }
    return value;
  }
  if constexpr (std::is_same_v<Op, Add> && std::is_same_v<T, double>) {
    DoubleDouble sum(init);
    for (int64_t at : terms) sum.Add(in[at]);
    return sum.Rounded();
  } else {
    using W = std::conditional_t<std::is_same_v<Op, Add> || std::is_same_v<Op, Multiply>, Wide<T>,
                                 Working<T>>;
    W value = Widen<W>(init);
    for (int64_t at : terms) value = Op::template Real<W>(value, Widen<W>(in[at]));
    return Round<T>(value);
  }
}

// f(...f(f(init, x0), x1)...) for one result element.
template <typename Op, typename T>
T Accumulate(absl::Span<const T> in, T init, const IndexMap& terms, bool stepwise,
             LegalChoices* choices, int64_t slot) {
  if constexpr (kIsReal<T>) {
    if constexpr (requires { &Op::template Real<Working<T>>; })
      return AccumulateReal<Op, T>(in, init, terms, stepwise, choices, slot);
  } else if constexpr (kIsPred<T>) {
    if constexpr (requires { &Op::Predicate; }) {
      T value = init;
      for (int64_t at : terms) value = Op::Predicate(value, in[at]);
      return value;
    }
  } else if constexpr (requires { &Op::template Integer<T>; }) {
    T value = init;
    for (int64_t at : terms) value = Op::template Integer<T>(value, in[at]);
    return value;
  }
  return init;  // and, or, xor of floats: rejected by the verifier
}

// A fold of one array whose type is computed.
Array FoldComputed(const OpContext& op, bool bounding, Opcode combiner, const Array& input,
                   const Array& init, const FoldTerms& terms, absl::Span<const int64_t> dimensions,
                   FoldRules rules) {
  const ElementType type = input.literal.element_type();
  Array result{Literal(Shape::Array(type, dimensions))};
  DispatchComputed(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> in = input.literal.data<T>(), first = init.literal.data<T>();
    absl::Span<T> out = result.literal.data<T>();
    LegalChoices* choices = op.analysis.choices;
    const int64_t site = choices == nullptr ? 0 : choices->Site(static_cast<int64_t>(out.size()));
    VisitCombiner(combiner, [&](auto meaning) {
      IndexMap list;
      for (size_t o = 0; o < out.size(); ++o) {
        const auto at = static_cast<int64_t>(o);
        terms.List(at, list);
        out[o] = Accumulate<decltype(meaning), T>(in, first[terms.InitOf(at)], list, rules.stepwise,
                                                  choices, site + at);
      }
    });
  });
  if (bounding) BoundRecognisedFold(op, combiner, input, init, terms, rules, result);
  return result;
}

// Narrow types accumulate in the wider one and are rounded, or wrapped, at the end.
absl::StatusOr<Array> FoldNarrow(const OpContext& op, bool bounding, Opcode combiner,
                                 const Array& input, const Array& init, const FoldTerms& terms,
                                 absl::Span<const int64_t> dimensions) {
  const ElementType type = input.literal.element_type(), wide = ComputedType(type);
  absl::StatusOr<Array> inputs = ConvertArray(op, input, wide, bounding);
  absl::StatusOr<Array> inits = ConvertArray(op, init, wide, bounding);
  if (!inputs.ok()) return inputs.status();
  if (!inits.ok()) return inits.status();
  const Array sums = FoldComputed(op, bounding, combiner, *inputs, *inits, terms, dimensions, {});
  absl::StatusOr<Array> result = ConvertArray(op, sums, type, bounding);
  const bool rounds = IsFloat(type) && (combiner == Opcode::kAdd || combiner == Opcode::kMultiply);
  if (!result.ok() || !bounding || !rounds || !op.clauses.Has(ClauseId::kLiteralReducer))
    return result;
  // A literal reducer rounds at every step; what that gives is not followed.
  IndexMap list;
  for (int64_t o = 0; o < terms.results(); ++o) {
    terms.List(o, list);
    if (list.size() > 1) SetUndecided(*result, o);
  }
  return result;
}

// A product of complex numbers in any order: every factor rounds with a relative error of sqrt(5) u
// at most, in modulus, while nothing on the way leaves the range.
template <typename C>
void MultiplyComplex(const OpContext& op, bool bounding, const Array& input, const Array& init,
                     const FoldTerms& terms, Array& result) {
  using T = typename C::value_type;
  using W = Wide<T>;
  using D = Ball<std::complex<W>>;
  const Array inputs = Components(input), inits = Components(init);
  bool known = true;
  auto read = [&](const Array& parts, int64_t i) {
    const auto re = Seen<T>(op.clauses, parts, 2 * i), im = Seen<T>(op.clauses, parts, 2 * i + 1);
    known = known && ((re.flags | im.flags) & ~uint32_t{kZeroSignFree}) == 0;
    return D({re.centre, im.centre}, re.radius + im.radius);
  };
  auto plain = [](const Array& parts, int64_t i) {
    const T* at = &parts.literal.data<T>()[2 * i];
    return std::complex<W>(at[0], at[1]);
  };
  IndexMap list;
  for (int64_t o = 0; o < terms.results(); ++o) {
    terms.List(o, list);
    std::complex<W> value = plain(inits, terms.InitOf(o));
    for (int64_t at : list) value *= plain(inputs, at);
    result.literal.data<C>()[o] = C(static_cast<T>(value.real()), static_cast<T>(value.imag()));
    if (!bounding) continue;
    if (list.empty()) {
      MoveBound(init, terms.InitOf(o), result, o);
      continue;
    }
    known = true;
    D product = read(inits, terms.InitOf(o));
    W least = std::min<W>(1, product.Modulus()), most = std::max<W>(1, product.Modulus());
    for (int64_t at : list) {
      const D factor = read(inputs, at);
      product = product * factor;
      least *= std::min<W>(1, factor.Modulus());
      most *= std::max<W>(1, factor.Modulus() + factor.radius);
    }
    const bool in_range =
        least > Tiny<T>() * W{0x1p30} && most < OverflowThreshold<T>() * W{0x1p-30};
    if (!known || !product.IsKnown() || !in_range) {
      SetUndecided(result, o);
      continue;
    }
    const W growth = static_cast<W>(list.size() + 1) * W{2.5} * UnitRoundoff<T>();
    const W radius = product.radius + (product.Modulus() + product.radius) * growth * (1 + growth);
    Store(result, 2 * o, Range<W>{product.centre.real(), radius, 0}, 0);
    Store(result, 2 * o + 1, Range<W>{product.centre.imag(), radius, 0}, 0);
  }
}

// Whether the fold has a rule of its own on the type.
bool IsRecognisedOn(ElementType type, Opcode combiner, FoldRules rules) {
  if (IsComplex(type)) return combiner == Opcode::kAdd || combiner == Opcode::kMultiply;
  return IsComputed(type) || (IsNarrowType(type) && !rules.stepwise);
}

absl::StatusOr<Array> FoldRecognised(const OpContext& op, bool bounding, Opcode combiner,
                                     const Array& input, const Array& init, const FoldTerms& terms,
                                     absl::Span<const int64_t> dimensions, FoldRules rules) {
  const ElementType type = input.literal.element_type();
  if (IsNarrowType(type)) return FoldNarrow(op, bounding, combiner, input, init, terms, dimensions);
  if (IsComplex(type)) {  // a sum of complex numbers is that of their parts
    Array result{Literal(Shape::Array(type, dimensions))};
    if (combiner == Opcode::kMultiply) {
      DispatchComplex(type, [&](auto tag) {
        MultiplyComplex<typename decltype(tag)::type>(op, bounding, input, init, terms, result);
      });
      return result;
    }
    for (Part part : {Part::kReal, Part::kImaginary}) {
      SetPart(FoldComputed(op, bounding, combiner, PartOf(input, part), PartOf(init, part), terms,
                           dimensions, rules),
              part, result);
    }
    return result;
  }
  return FoldComputed(op, bounding, combiner, input, init, terms, dimensions, rules);
}

// Any other combiner is applied literally. It works on columns: one running value or one input per
// result element, an array per input of the fold.
using Column = std::vector<Value>;

class LiteralFold {
 public:
  LiteralFold(Interpreter& interpreter, const Computation& combiner, int64_t column_size)
      : interpreter_(interpreter), combiner_(combiner), size_(column_size) {}

  absl::StatusOr<Column> Combine(const Column& a, const Column& b) {
    std::vector<Value> arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    return ApplyToElements(interpreter_, combiner_, arguments, {size_});
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

// Slot `slot` as an interval: stored, or one number. False if it is neither.
bool IntervalOf(const Array& array, int64_t slot, ElementBound& interval) {
  constexpr uint32_t kIntervals = kMayFlush | kZeroSignFree;
  if (!array.bounds.empty() && (array.bounds[slot].flags & kForced) == 0) {
    interval = array.bounds[slot];
    return (interval.flags & ~kIntervals) == 0;
  }
  interval = {array.literal.GetComponent(slot), 0, 0, 0};
  return std::isfinite(interval.centre);
}

// Widens slot `slot` of `merged` so that it also holds what `other` says of it. False if the two
// are not about the same real number, as far as can be told after `steps` roundings each.
bool AgreeOnSlot(Array& merged, const Array& other, int64_t slot, int64_t steps) {
  ElementBound a, b;
  if (!IntervalOf(merged, slot, a) || !IntervalOf(other, slot, b)) return false;
  const double apart =
      std::fabs((b.centre - a.centre) + (b.centre_low - a.centre_low)) * (1 + 0x1p-50);
  const double magnitude = std::max(std::fabs(a.centre), std::fabs(b.centre));
  const double rounding = static_cast<double>(steps) *
                          std::exp2(1 - Format(merged.literal.element_type()).precision()) *
                          magnitude;
  if (!(apart <= std::max({a.radius, b.radius, rounding}))) return false;
  a.radius = std::max(a.radius, (b.radius + apart) * (1 + 0x1p-50));
  a.flags |= b.flags;
  MakeBounds(merged);
  merged.bounds[slot] = a;
  return true;
}

bool AgreeOnElement(Array& merged, const Array& other, int64_t i, int64_t steps) {
  if (SameBound(merged, other, i)) return true;
  const int64_t width = BoundsPerElement(merged.literal.element_type());
  if (width == 0) return false;
  if (!merged.choices.empty()) merged.choices.erase(i);
  bool agree = true;
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
    agree = agree && AgreeOnSlot(merged, other, slot, steps);
  return agree;
}

// What several orders of `steps` steps say of the elements. Where they agree within their bounds,
// the combiner is taken to be associative on real numbers, and orders that were not tried to stray
// up to twice as far; elements on which they disagree are undecided.
Column Agreed(const Column& first, absl::Span<const Column> others, int64_t steps,
              MemoryMeter& memory) {
  Column agreed;
  for (size_t n = 0; n < first.size(); ++n) {
    Array merged = *first[n].array;
    const int64_t width = BoundsPerElement(merged.literal.element_type());
    for (int64_t i = 0; i < merged.literal.element_count(); ++i) {
      const bool agree = std::all_of(others.begin(), others.end(), [&](const Column& other) {
        return AgreeOnElement(merged, *other[n].array, i, steps);
      });
      if (!agree) {
        SetUndecided(merged, i);
      } else if (!SameBound(merged, *first[n].array, i)) {
        for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
          merged.bounds[slot].radius *= 2;
      }
    }
    agreed.push_back(MakeValue(std::move(merged), memory));
  }
  return agreed;
}

absl::StatusOr<Column> FoldColumns(Interpreter& interpreter, LiteralFold& fold, const Column& init,
                                   const std::vector<Column>& inputs, FoldRules rules) {
  std::vector<size_t> in_order(inputs.size());
  std::iota(in_order.begin(), in_order.end(), size_t{0});
  absl::StatusOr<Column> left = fold.Left(init, inputs, in_order);
  const ClauseSet clauses = interpreter.clauses();
  if (!left.ok() || !interpreter.bounding() || inputs.size() < 2 ||
      !(clauses.Has(ClauseId::kReassociation) || rules.any_order))
    return left;
  std::vector<absl::StatusOr<Column>> others;
  if (rules.any_order) {
    std::vector<size_t> reversed(in_order.rbegin(), in_order.rend());
    others.push_back(fold.Left(init, inputs, reversed));
  } else {
    others.push_back(fold.Right(init, inputs));
    others.push_back(fold.Tree(init, inputs));
  }
  if (rules.any_order || interpreter.analysis().is_xla)
    others.push_back(fold.Left(init, inputs, Shuffled(inputs.size())));
  std::vector<Column> columns;
  for (absl::StatusOr<Column>& other : others) {
    if (!other.ok()) return other.status();
    columns.push_back(*std::move(other));
  }
  return Agreed(*left, columns, static_cast<int64_t>(inputs.size()), interpreter.memory());
}

// Elements that a column of inputs may hold together, so that memory stays small.
constexpr int64_t kMaxChunk = int64_t{1} << 18;

// Folds the result elements `chunk`, all of which have `count` terms, and stores them.
absl::Status FoldChunk(Interpreter& interpreter, const Computation& combiner,
                       absl::Span<const Array* const> inputs, absl::Span<const Array* const> inits,
                       const FoldTerms& terms, absl::Span<const int64_t> chunk, int64_t count,
                       FoldRules rules, std::vector<Array>& results) {
  MemoryMeter& memory = interpreter.memory();
  IndexMap from, list;
  for (int64_t o : chunk) from.push_back(terms.InitOf(o));
  Column init;
  for (const Array* array : inits) init.push_back(PickElements(*array, from, memory));
  std::vector<IndexMap> maps(count, IndexMap(chunk.size()));
  for (size_t c = 0; c < chunk.size(); ++c) {
    terms.List(chunk[c], list);
    for (int64_t k = 0; k < count; ++k) maps[k][c] = list[k];
  }
  std::vector<Column> columns(count);
  for (int64_t k = 0; k < count; ++k)
    for (const Array* array : inputs) columns[k].push_back(PickElements(*array, maps[k], memory));
  LiteralFold fold(interpreter, combiner, static_cast<int64_t>(chunk.size()));
  absl::StatusOr<Column> folded = FoldColumns(interpreter, fold, init, columns, rules);
  if (!folded.ok()) return folded.status();
  for (size_t n = 0; n < results.size(); ++n) {
    const Array& part = *(*folded)[n].array;
    Literal& whole = results[n].literal;
    const size_t width = StorageBytes(whole.element_type());
    for (size_t c = 0; c < chunk.size(); ++c) {
      std::memcpy(whole.bytes().data() + chunk[c] * width, part.literal.bytes().data() + c * width,
                  width);
      if (!part.Certain()) MoveBound(part, static_cast<int64_t>(c), results[n], chunk[c]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Array>> FoldLiterally(
    Interpreter& interpreter, const Computation& combiner, absl::Span<const Array* const> inputs,
    absl::Span<const Array* const> inits, const FoldTerms& terms,
    absl::Span<const int64_t> dimensions, FoldRules rules) {
  std::vector<Array> results;
  for (const Array* input : inputs)
    results.push_back(Array{Literal(Shape::Array(input->literal.element_type(), dimensions))});
  // Result elements with equally many terms are folded together.
  std::map<int64_t, IndexMap> by_count;
  IndexMap list;
  for (int64_t o = 0; o < terms.results(); ++o) {
    terms.List(o, list);
    by_count[static_cast<int64_t>(list.size())].push_back(o);
  }
  for (const auto& [count, members] : by_count) {
    const int64_t step = std::max<int64_t>(1, kMaxChunk / std::max<int64_t>(count, 1));
    for (int64_t first = 0; first < static_cast<int64_t>(members.size()); first += step) {
      if (absl::Status status =
              FoldChunk(interpreter, combiner, inputs, inits, terms,
                        absl::MakeConstSpan(members).subspan(first, step), count, rules, results);
          !status.ok())
        return status;
    }
  }
  return results;
}

}  // namespace

Value PickElements(const Array& source, absl::Span<const int64_t> map, MemoryMeter& memory) {
  const auto count = static_cast<int64_t>(map.size());
  Array picked{Literal(Shape::Array(source.literal.element_type(), {count}))};
  const size_t width = StorageBytes(source.literal.element_type());
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(picked.literal.bytes().data() + i * width,
                source.literal.bytes().data() + map[i] * width, width);
    if (!source.Certain()) MoveBound(source, map[i], picked, i);
  }
  return MakeValue(std::move(picked), memory);
}

Value Collate(std::vector<Array> arrays, bool as_tuple, MemoryMeter& memory) {
  std::vector<Value> values;
  for (Array& array : arrays) values.push_back(MakeValue(std::move(array), memory));
  return as_tuple ? Value::Tuple(std::move(values)) : std::move(values[0]);
}

absl::StatusOr<std::vector<Value>> ApplyToElements(Interpreter& interpreter,
                                                   const Computation& computation,
                                                   absl::Span<const Value> arguments,
                                                   absl::Span<const int64_t> dimensions) {
  auto leaves = [](Value value) {
    return value.IsTuple() ? std::move(value.elements) : std::vector<Value>{std::move(value)};
  };
  absl::StatusOr<bool> lifted = interpreter.CanLift(computation);
  if (!lifted.ok()) return lifted.status();
  if (*lifted) {
    absl::StatusOr<Value> value = interpreter.RunLifted(computation, arguments, dimensions);
    if (!value.ok()) return value.status();
    return leaves(*std::move(value));
  }
  MemoryMeter& memory = interpreter.memory();
  std::vector<Array> results;
  const Shape& shape = computation.root()->shape();
  for (size_t n = 0; n < (shape.IsTuple() ? shape.elements().size() : 1); ++n) {
    const Shape& leaf = shape.IsTuple() ? shape.elements()[n] : shape;
    results.push_back(Array{Literal(Shape::Array(leaf.element_type(), dimensions))});
  }
  const int64_t count = results[0].literal.element_count();
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Value> scalars;
    for (const Value& argument : arguments) {
      Array scalar{Literal(Shape::Scalar(argument.array->literal.element_type()))};
      const size_t width = scalar.literal.bytes().size();
      std::memcpy(scalar.literal.bytes().data(), argument.array->literal.bytes().data() + i * width,
                  width);
      MoveBound(*argument.array, i, scalar, 0);
      scalars.push_back(MakeValue(std::move(scalar), memory));
    }
    absl::StatusOr<Value> value = interpreter.Run(computation, scalars);
    if (!value.ok()) return value.status();
    const std::vector<Value> outcome = leaves(*std::move(value));
    for (size_t n = 0; n < results.size(); ++n) {
      Literal& whole = results[n].literal;
      const size_t width = StorageBytes(whole.element_type());
      std::memcpy(whole.bytes().data() + i * width, outcome[n].array->literal.bytes().data(),
                  width);
      if (!outcome[n].array->Certain()) MoveBound(*outcome[n].array, 0, results[n], i);
    }
  }
  std::vector<Value> values;
  for (Array& result : results) values.push_back(MakeValue(std::move(result), memory));
  return values;
}

absl::StatusOr<std::vector<Array>> Fold(Interpreter& interpreter, const OpContext& op,
                                        const Computation& combiner,
                                        absl::Span<const Array* const> inputs,
                                        absl::Span<const Array* const> inits,
                                        const FoldTerms& terms,
                                        absl::Span<const int64_t> dimensions, FoldRules rules) {
  if (inputs.size() == 1) {
    const std::optional<Opcode> recognised = RecognisedCombiner(combiner);
    if (recognised.has_value() &&
        IsRecognisedOn(inputs[0]->literal.element_type(), *recognised, rules)) {
      absl::StatusOr<Array> result = FoldRecognised(
          op, interpreter.bounding(), *recognised, *inputs[0], *inits[0], terms, dimensions, rules);
      if (!result.ok()) return result.status();
      std::vector<Array> results;
      results.push_back(*std::move(result));
      return results;
    }
  }
  return FoldLiterally(interpreter, combiner, inputs, inits, terms, dimensions, rules);
}

std::optional<Opcode> RecognisedCombiner(const Computation& computation) {
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* root = SkipConverts(computation.root());
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
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

}  // namespace assay::reference
