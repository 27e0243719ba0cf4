// Ops on complex numbers that are exact or defined by float arithmetic on their parts. Documents:
// operation semantics chapters 5, 6 and 8.
#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"
#include "reference/scalar/compare.h"
#include "reference/values/complex_types.h"
#include "reference/values/elementwise.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Gives an array its plain values and, if `bounding`, its bounds. Evaluate and Bound make the two
// functions of a row from one such function.
using ApplyPartsFn = absl::Status (*)(const OpContext& op, bool bounding, Array& result);

template <ApplyPartsFn kApply>
absl::Status Evaluate(const OpContext& op, Literal& result) {
  Array values{Literal(op.shape)};
  ASSAY_RETURN_IF_ERROR(kApply(op, false, values));
  result = std::move(values.literal);
  return absl::OkStatus();
}

template <ApplyPartsFn kApply>
absl::Status Bound(const OpContext& op, Array& result) {
  return kApply(op, true, result);
}

template <Opcode kOpcode>
absl::Status ApplyEachPart(const OpContext& op, bool bounding, Array& result) {
  return ApplyByParts(op, kOpcode, bounding, result);
}

// (a + b i)(c + d i) = (a c - b d) + (a d + b c) i, every product and every sum rounded.
absl::Status EvaluateMultiply(const OpContext& op, Literal& result) {
  DispatchComplex(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    MapBinary<std::complex<T>>(op.literal(0), op.literal(1), result,
                               [](std::complex<T> x, std::complex<T> y) {
                                 const T ac = x.real() * y.real(), bd = x.imag() * y.imag();
                                 const T ad = x.real() * y.imag(), bc = x.imag() * y.real();
                                 return std::complex<T>(ac - bd, ad + bc);
                               });
  });
  return absl::OkStatus();
}

// (x c) d may be x (c d): two products of complex numbers, each within sqrt(5) unit roundoffs of
// its modulus, stand for two others.
void WidenProductOfConstants(const OpContext& op, Array& result) {
  const Array first = Components(op.array(0)), second = Components(op.array(1));
  const Array product = Components(result);
  DispatchComplex(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type::value_type;
    using W = Wide<T>;
    auto largest = [&](const Array& array, int64_t i) {
      auto part = [&](int64_t k) {
        const Range<W> x = Seen<T>(op.clauses, array, k);
        return std::fabs(x.centre) + x.radius;
      };
      return std::hypot(part(2 * i), part(2 * i + 1));
    };
    for (int64_t i = 0; i < op.count(); ++i) {
      constexpr uint32_t kInfinite = kMayBePosInf | kMayBeNegInf;
      const auto overflows = [&](int64_t slot) {
        const Range<W> x = Seen<T>(op.clauses, product, slot);
        return !x.HasFinite() || (x.flags & kInfinite) != 0;
      };
      if (overflows(2 * i) || overflows(2 * i + 1)) {
        // In another order other products overflow, and their sums are no numbers.
        SetUndecided(result, i);
        continue;
      }
      const W radius = largest(first, i) * largest(second, i) * 10 * UnitRoundoff<T>() +
                       8 * static_cast<W>(UlpAt<T>(0));
      for (int64_t slot : {2 * i, 2 * i + 1}) {
        Range<W> x = Seen<T>(op.clauses, product, slot);
        if (!x.HasFinite() || x.Undecided() || !std::isfinite(radius)) continue;
        x.radius += radius;
        const bool flush = op.clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
        Store(result, slot, x, flush ? uint32_t{kMayFlush} : 0);
      }
    }
  });
}

// Infinity times one is NaN by the rule of products, of which one part is a product with zero.
void OpenWhatIsNotFinite(Array& result) {
  const Literal& values = result.literal;
  for (int64_t i = 0; i < values.element_count(); ++i) {
    const bool is_finite =
        std::isfinite(values.GetComponent(2 * i)) && std::isfinite(values.GetComponent(2 * i + 1));
    if (!is_finite) SetUndecided(result, i);
  }
}

absl::Status BoundMultiply(const OpContext& context, Array& result) {
  // The licensed forms are of the product of the numbers, not of those of their parts.
  const OpContext op{context.instruction, context.shape, context.operands, context.clauses,
                     context.analysis};
  const Array a = PartOf(op.array(0), Part::kReal), b = PartOf(op.array(0), Part::kImaginary);
  const Array c = PartOf(op.array(1), Part::kReal), d = PartOf(op.array(1), Part::kImaginary);
  const PartArithmetic parts(op, true);
  absl::Status status;
  auto apply = [&](Opcode opcode, const Array& x, const Array& y) {
    absl::StatusOr<Array> values = parts.Apply(opcode, a.literal.shape(), {&x, &y});
    if (values.ok()) return *std::move(values);
    status = values.status();
    return x;
  };
  const bool is_square = op.instruction.operand(0) == op.instruction.operand(1);
  const Array ac = apply(Opcode::kMultiply, a, is_square ? a : c);
  const Array bd = apply(Opcode::kMultiply, b, is_square ? b : d);
  const Array ad = apply(Opcode::kMultiply, a, d), bc = apply(Opcode::kMultiply, b, c);
  SetPart(apply(Opcode::kSubtract, ac, bd), Part::kReal, result);
  SetPart(apply(Opcode::kAdd, ad, bc), Part::kImaginary, result);
  const LicensedForms& licensed = context.licensed;
  const bool is_chain = (licensed.scales_twice || licensed.scale_of_both >= 0) &&
                        op.clauses.Has(ClauseId::kConstantChains);
  if (status.ok() && is_chain) WidenProductOfConstants(op, result);
  if (status.ok() && licensed.gives_back_operand && op.clauses.Has(ClauseId::kConstantChains))
    OpenWhatIsNotFinite(result);
  return status;
}

// Two complex numbers are equal if both parts are.
absl::Status ApplyCompare(const OpContext& op, bool bounding, Array& result) {
  const Array a = Components(op.array(0)), b = Components(op.array(1));
  Shape shape = a.literal.shape();
  shape.set_element_type(ElementType::kPred);
  ASSAY_ASSIGN_OR_RETURN(Array parts,
                         PartArithmetic(op, bounding).Apply(Opcode::kCompare, shape, {&a, &b}));
  const bool all = DirectionOf(op.instruction) == Direction::kEq;
  auto joined = [all](uint64_t x, uint64_t y) { return all ? x & y : x | y; };
  for (int64_t i = 0; i < op.count(); ++i) {
    result.literal.SetBits(i,
                           joined(parts.literal.GetBits(2 * i), parts.literal.GetBits(2 * i + 1)));
    if (parts.Certain()) continue;
    std::vector<uint64_t> outcomes;
    for (uint64_t x : CodesOf(parts, 2 * i))
      for (uint64_t y : CodesOf(parts, 2 * i + 1)) outcomes.push_back(joined(x, y));
    SetCodes(result, i, std::move(outcomes));
  }
  return absl::OkStatus();
}

// A complex number becomes complex part by part and real by its real part; a real number becomes
// the real part of a complex one.
absl::Status ApplyConvert(const OpContext& op, bool bounding, Array& result) {
  const bool from_complex = IsComplex(op.literal(0).element_type());
  const bool to_complex = IsComplex(op.type());
  if (from_complex && to_complex) return ApplyByParts(op, Opcode::kConvert, bounding, result);
  const Array real = from_complex ? PartOf(op.array(0), Part::kReal) : op.array(0);
  const Shape shape = Shape::Array(ComponentType(op.type()), op.shape.dimensions());
  ASSAY_ASSIGN_OR_RETURN(Array converted,
                         PartArithmetic(op, bounding).Apply(Opcode::kConvert, shape, {&real}));
  if (to_complex) {
    SetPart(converted, Part::kReal, result);  // the other part is +0
    return absl::OkStatus();
  }
  std::memcpy(result.literal.bytes().data(), converted.literal.bytes().data(),
              result.literal.bytes().size());
  result.facts().bounds = std::move(converted.facts().bounds);
  result.facts().choices = std::move(converted.facts().choices);
  return absl::OkStatus();
}

// real and imag. A float is its own real part, and its imaginary part is +0.
template <Part kPart>
absl::Status ApplyPart(const OpContext& op, bool, Array& result) {
  if (IsComplex(op.literal(0).element_type())) {
    Array part = PartOf(op.array(0), kPart);
    std::memcpy(result.literal.bytes().data(), part.literal.bytes().data(),
                result.literal.bytes().size());
    result.facts().bounds = std::move(part.facts().bounds);
  } else if (kPart == Part::kReal) {
    std::memcpy(result.literal.bytes().data(), op.literal(0).bytes().data(),
                result.literal.bytes().size());
    result.facts().bounds = op.array(0).facts().bounds;
  } else if (const uint64_t zero = EncodeFloat(Format(op.type()), 0); zero != 0) {
    // A type without a zero has NaN for it.
    for (int64_t i = 0; i < op.count(); ++i) result.literal.SetBits(i, zero);
  }
  return absl::OkStatus();
}

absl::Status ApplyComplex(const OpContext& op, bool, Array& result) {
  const Array &real = op.array(0), &imaginary = op.array(1);
  SetPart(real, Part::kReal, result);
  SetPart(imaginary, Part::kImaginary, result);
  // Both parts of one element that is judged by a property make it whole again.
  for (const auto& [i, part] : real.facts().origins) {
    const auto other = imaginary.facts().origins.find(i);
    if (part.piece != Origin::kReal || other == imaginary.facts().origins.end()) continue;
    const Origin& rest = other->second;
    if (rest.piece == Origin::kImaginary && rest.property == part.property &&
        rest.part == part.part && rest.index == part.index)
      result.facts().origins.insert_or_assign(i, Origin{part.property, part.part, part.index});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OpEvaluation> ComplexPartEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kReal,
       .evaluate = Evaluate<ApplyPart<Part::kReal>>,
       .bound = Bound<ApplyPart<Part::kReal>>,
       .any_type = true},
      {.opcode = Opcode::kImag,
       .evaluate = Evaluate<ApplyPart<Part::kImaginary>>,
       .bound = Bound<ApplyPart<Part::kImaginary>>,
       .any_type = true},
      {.opcode = Opcode::kComplex,
       .evaluate = Evaluate<ApplyComplex>,
       .bound = Bound<ApplyComplex>},
  };
  return kRows;
}

absl::Span<const OpEvaluation> ComplexArithmeticEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kAdd,
       .evaluate = Evaluate<ApplyEachPart<Opcode::kAdd>>,
       .bound = Bound<ApplyEachPart<Opcode::kAdd>>},
      {.opcode = Opcode::kSubtract,
       .evaluate = Evaluate<ApplyEachPart<Opcode::kSubtract>>,
       .bound = Bound<ApplyEachPart<Opcode::kSubtract>>},
      {.opcode = Opcode::kNegate,
       .evaluate = Evaluate<ApplyEachPart<Opcode::kNegate>>,
       .bound = Bound<ApplyEachPart<Opcode::kNegate>>},
      {.opcode = Opcode::kMultiply, .evaluate = EvaluateMultiply, .bound = BoundMultiply},
      {.opcode = Opcode::kCompare,
       .evaluate = Evaluate<ApplyCompare>,
       .bound = Bound<ApplyCompare>},
      {.opcode = Opcode::kConvert,
       .evaluate = Evaluate<ApplyConvert>,
       .bound = Bound<ApplyConvert>,
       .any_type = true},
  };
  return kRows;
}

}  // namespace assay::reference
