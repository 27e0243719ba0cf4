// Sums the products of each result element of dot and convolution, widely or in order.
#include "reference/ops/contraction/products.h"

#include "reference/bounds/choices/legal_choices.h"
#include "reference/interpreter/widening.h"
#include "reference/scalar/arithmetic.h"
#include "reference/scalar/double_double.h"
#include "reference/values/complex_types.h"
#include "reference/values/narrow_types.h"
#include "spec/base/status_macros.h"
#include "spec/ops/factor_type.h"

namespace assay::reference {
namespace {

// The elements of an operand in the order of `dims`, converted to To.
template <typename To>
std::vector<To> Arranged(const Literal& operand, const DimList& dims) {
  std::vector<To> values;
  values.reserve(static_cast<size_t>(dims.Count()));
  DispatchComplex(operand.element_type(), [&](auto tag) {
    absl::Span<const typename decltype(tag)::type> in =
        operand.data<typename decltype(tag)::type>();
    if constexpr (std::is_same_v<To, std::complex<double>>) {
      dims.ForEachPlace([&](int64_t at) { values.push_back({in[at].real(), in[at].imag()}); });
    }
  });
  DispatchComputed(operand.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> in = operand.data<T>();
    if constexpr (!std::is_same_v<To, std::complex<double>>) {
      dims.ForEachPlace([&](int64_t at) {
        if constexpr (kIsReal<T>) {
          values.push_back(static_cast<To>(Widen<double>(in[at])));
        } else {
          values.push_back(static_cast<To>(in[at]));
        }
      });
    }
  });
  return values;
}

// Sets every result element to finish(sum) after step(sum, a, b) was called for each of its
// products a b. `finish` may take the linear index of the element too.
template <typename To, typename Sum, typename T, typename Step, typename Finish>
void SumUp(const OpContext& op, const ProductSums& sums, Literal& result, Step step,
           Finish finish) {
  const std::vector<To> lhs = Arranged<To>(op.literal(0), sums.lhs);
  const std::vector<To> rhs = Arranged<To>(op.literal(1), sums.rhs);
  absl::Span<T> out = result.data<T>();
  sums.for_each_block([&](const ProductSums::Block& block) {
    const int64_t terms = static_cast<int64_t>(block.runs.size()) * sums.length;
    for (int64_t c = 0; c < block.columns && !op.OutOfTime(terms); ++c) {
      Sum sum{};
      sums.ForEachProduct(block, c, [&](int64_t a, int64_t b) { step(sum, lhs[a], rhs[b]); });
      const int64_t at = block.result + c * block.result_step;
      if constexpr (std::is_invocable_v<Finish, Sum, int64_t>) {
        out[at] = finish(std::move(sum), at);
      } else {
        out[at] = finish(sum);
      }
    }
  });
}

// Sums of products in an order that the legal choices give, the products rounded or not.
template <typename T>
void SumUpInOrder(const OpContext& op, const ProductSums& sums, Literal& result) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const int64_t site = op.analysis.choices->Site(op.count());
  SumUp<double, std::vector<std::pair<A, A>>, T>(
      op, sums, result,
      [](std::vector<std::pair<A, A>>& factors, double a, double b) {
        factors.emplace_back(static_cast<A>(a), static_cast<A>(b));
      },
      [&](std::vector<std::pair<A, A>> factors, int64_t at) {
        if (factors.empty()) return T{};
        return Round<T>(op.analysis.choices->CombineProducts(factors, site + at));
      });
}

template <typename T>
void SumUpAs(const OpContext& op, const ProductSums& sums, Literal& result) {
  if constexpr (kIsReal<T>) {
    // Doubles are no numbers of a narrower accumulator.
    const bool narrows =
        !std::is_same_v<T, double> && (op.literal(0).element_type() == ElementType::kF64 ||
                                       op.literal(1).element_type() == ElementType::kF64);
    if (op.analysis.choices != nullptr && !narrows) return SumUpInOrder<T>(op, sums, result);
  }
  if constexpr (std::is_same_v<T, double>) {
    SumUp<double, DoubleDouble, T>(
        op, sums, result, [](DoubleDouble& sum, double a, double b) { sum.AddProduct(a, b); },
        [](const DoubleDouble& sum) { return sum.Rounded(); });
  } else if constexpr (kIsReal<T>) {
    SumUp<double, double, T>(
        op, sums, result, [](double& sum, double a, double b) { sum += a * b; },
        [](double sum) { return Round<T>(sum); });
  } else if constexpr (kIsPred<T>) {
    SumUp<uint64_t, uint64_t, T>(
        op, sums, result, [](uint64_t& sum, uint64_t a, uint64_t b) { sum |= a & b; },
        [](uint64_t sum) { return sum != 0; });
  } else {
    SumUp<uint64_t, uint64_t, T>(
        op, sums, result, [](uint64_t& sum, uint64_t a, uint64_t b) { sum += a * b; },
        [](uint64_t sum) { return static_cast<T>(sum); });
  }
}

// A sum of complex products (a + b i)(c + d i), as the sums of their four real products.
template <typename Sum>
struct ComplexSum {
  Sum real{0.0}, imaginary{0.0};

  static void AddProduct(double& sum, double a, double b) { sum += a * b; }
  static void AddProduct(DoubleDouble& sum, double a, double b) { sum.AddProduct(a, b); }
  static double Rounded(double sum) { return sum; }
  static double Rounded(const DoubleDouble& sum) { return sum.Rounded(); }

  void Add(std::complex<double> a, std::complex<double> b) {
    AddProduct(real, a.real(), b.real());
    AddProduct(real, -a.imag(), b.imag());
    AddProduct(imaginary, a.real(), b.imag());
    AddProduct(imaginary, a.imag(), b.real());
  }
};

template <typename C>
void SumUpComplex(const OpContext& op, const ProductSums& sums, Literal& result) {
  using T = typename C::value_type;
  using Sum = ComplexSum<std::conditional_t<std::is_same_v<T, double>, DoubleDouble, double>>;
  SumUp<std::complex<double>, Sum, C>(
      op, sums, result,
      [](Sum& sum, std::complex<double> a, std::complex<double> b) { sum.Add(a, b); },
      [](const Sum& sum) {
        return C(static_cast<T>(Sum::Rounded(sum.real)),
                 static_cast<T>(Sum::Rounded(sum.imaginary)));
      });
}

// The op with its operands and its sums in the types of spec/ops/factor_type.h.
class SumsInTypes {
 public:
  SumsInTypes(const OpContext& op, bool bounding)
      : op_(op),
        bounding_(bounding),
        result_(op.instruction.shape().element_type()),
        sum_(SumType(TypeOf(0), TypeOf(1), result_)),
        shape_(ConvertsResult() ? Shape::Array(ComputedType(sum_), op.shape.dimensions())
                                : op.shape) {}

  bool IsMixed() const {
    return ConvertsResult() || FactorOf(0) != TypeOf(0) || FactorOf(1) != TypeOf(1);
  }
  bool ConvertsResult() const { return sum_ != result_; }

  absl::Status ConvertFactors() {
    for (size_t k = 0; k < op_.operands.size(); ++k) {
      const auto side = static_cast<int64_t>(k);
      if (k > 1 || FactorOf(side) == TypeOf(side)) {
        factors_.push_back(*op_.operands[k]);
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(Array factor,
                             ConvertArray(op_, op_.array(side), FactorOf(side), bounding_));
      ASSAY_ASSIGN_OR_RETURN(factor, InComputedType(std::move(factor)));
      factors_.push_back({std::make_shared<const Array>(std::move(factor)), {}});
    }
    for (const Value& factor : factors_) operands_.push_back(&factor);
    return absl::OkStatus();
  }
  OpContext Context() const { return op_.On(shape_, operands_); }
  // The sums in the type of the context, which stands for the instruction's.
  absl::StatusOr<Array> Result(Array sums) const {
    for (ElementType type : {sum_, result_, op_.type()}) {
      if (sums.literal.element_type() == type) continue;
      ASSAY_ASSIGN_OR_RETURN(Array next, ConvertArray(op_, sums, type, bounding_));
      sums = std::move(next);
    }
    return sums;
  }

 private:
  ElementType TypeOf(int64_t side) const { return op_.literal(side).element_type(); }
  ElementType FactorOf(int64_t side) const {
    return FactorType(TypeOf(side), TypeOf(1 - side), result_);
  }
  absl::StatusOr<Array> InComputedType(Array array) const {
    const ElementType type = ComputedType(array.literal.element_type());
    if (type == array.literal.element_type()) return array;
    return ConvertArray(op_, array, type, bounding_);
  }

  const OpContext& op_;
  bool bounding_;
  ElementType result_, sum_;  // of the instruction, where the context has a wider one
  Shape shape_;
  std::vector<Value> factors_;
  std::vector<const Value*> operands_;
};

}  // namespace

absl::Status EvaluateProductSums(const OpContext& op, const ProductSums& sums, Literal& result) {
  const bool complex = IsComplex(op.type());
  for (int64_t k : {0, 1}) {
    const ElementType type = op.literal(k).element_type();
    const bool has_meaning = complex ? IsComplex(type) : IsComputed(type);
    if (!has_meaning || (IsFloat(type) && !IsFloat(op.type()))) return UnsupportedType(op, type);
  }
  const bool summed = DispatchComplex(
      op.type(), [&](auto tag) { SumUpComplex<typename decltype(tag)::type>(op, sums, result); });
  const bool done = summed || DispatchComputed(op.type(), [&](auto tag) {
                      SumUpAs<typename decltype(tag)::type>(op, sums, result);
                    });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

absl::Status EvaluateInTypes(const OpContext& op, EvaluateSumsFn evaluate, Literal& result) {
  SumsInTypes sums(op, /*bounding=*/false);
  if (!sums.IsMixed()) return evaluate(op, result);
  ASSAY_RETURN_IF_ERROR(sums.ConvertFactors());
  if (!sums.ConvertsResult()) return evaluate(sums.Context(), result);
  Array made{Literal(sums.Context().shape)};
  ASSAY_RETURN_IF_ERROR(evaluate(sums.Context(), made.literal));
  ASSAY_ASSIGN_OR_RETURN(Array converted, sums.Result(std::move(made)));
  result = std::move(converted.literal);
  return absl::OkStatus();
}

absl::Status BoundInTypes(const OpContext& op, EvaluateSumsFn evaluate, BoundSumsFn bound,
                          Array& result) {
  SumsInTypes sums(op, /*bounding=*/true);
  if (!sums.IsMixed()) return bound(op, result);
  ASSAY_RETURN_IF_ERROR(sums.ConvertFactors());
  if (!sums.ConvertsResult()) return bound(sums.Context(), result);
  Array made{Literal(sums.Context().shape)};
  ASSAY_RETURN_IF_ERROR(evaluate(sums.Context(), made.literal));
  ASSAY_RETURN_IF_ERROR(bound(sums.Context(), made));
  ASSAY_ASSIGN_OR_RETURN(result, sums.Result(std::move(made)));
  return absl::OkStatus();
}

}  // namespace assay::reference
