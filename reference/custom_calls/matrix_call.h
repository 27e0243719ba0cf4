// Custom calls on batches of matrices: they read operands as discs and write results one matrix at
// a time, once for the plain values and once for the bounds.
#pragma once

#include <algorithm>
#include <vector>

#include "reference/bounds/ball.h"
#include "reference/bounds/choices/residual_choice.h"
#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"
#include "reference/custom_calls/custom_call.h"
#include "reference/values/leaves.h"
#include "reference/values/matrices/matrix.h"
#include "spec/base/status_macros.h"

namespace assay::reference {

// The results of one call, arrays in the order of the tuple.
struct CallResults {
  const OpContext& op;
  bool bounds;  // which of the two is being written
  std::vector<Array> arrays;

  Shape ShapeOf(int64_t k) const { return arrays[k].literal.shape(); }

  // Element i of result k, whose element type is E.
  template <typename E, typename S>
  void Set(int64_t k, int64_t i, const Ball<S>& ball) {
    using T = typename Scalar<E>::Real;
    // Beside the units that a radius is made of, subnormal results are rounded by a whole step.
    const auto radius = ball.radius > 0 ? ball.radius + UlpAt<T>(0) : ball.radius;
    if (!bounds) {
      arrays[k].literal.template data<E>()[i] = RoundNumber<E>(ball.centre);
    } else if (!ball.IsKnown()) {
      SetUndecided(arrays[k], i);
    } else if constexpr (std::is_same_v<E, T>) {
      FinishExact<T>(op.clauses, arrays[k], i, WithOverflow<T>({ball.centre, radius, 0}));
    } else {
      FinishExact<T>(op.clauses, arrays[k], 2 * i,
                     WithOverflow<T>({ball.centre.real(), radius, 0}));
      FinishExact<T>(op.clauses, arrays[k], 2 * i + 1,
                     WithOverflow<T>({ball.centre.imag(), radius, 0}));
    }
  }
  void SetInteger(int64_t k, int64_t i, int64_t value) {
    if (!bounds) arrays[k].literal.SetInteger(i, value);
  }
};

// The part of a call that belongs to one matrix of its batch. E is the element type of its first
// operand.
template <typename E>
struct MatrixCall {
  using Element = E;
  using S = typename Scalar<E>::WideNumber;
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  using Number = Ball<S>;
  using NumberMatrix = Matrix<Number>;

  const OpContext& op;
  const std::vector<Array>& operands;  // complex ones as their parts
  CallResults& results;
  int64_t batch, batches;

  // Sizes of the last two dimensions of operand k and of result k.
  int64_t Rows(int64_t k) const { return FromEnd(op.array(k).literal.shape(), 2); }
  int64_t Columns(int64_t k) const { return FromEnd(op.array(k).literal.shape(), 1); }
  int64_t ResultRows(int64_t k) const { return FromEnd(results.ShapeOf(k), 2); }
  int64_t ResultColumns(int64_t k) const { return FromEnd(results.ShapeOf(k), 1); }

  // True if the product of two finite elements of the batch overflows. What a routine then does is
  // its own: LAPACK says nothing of it.
  bool MayOverflow() const {
    const W largest = std::sqrt(OverflowThreshold<T>());
    for (size_t k = 0; k < operands.size(); ++k) {
      const ElementType type = operands[k].literal.element_type();
      if (!IsFloat(type) || BitWidth(type) != 8 * static_cast<int64_t>(sizeof(T))) continue;
      const absl::Span<const T> parts = operands[k].literal.template data<T>();
      const size_t count = parts.size() / static_cast<size_t>(batches);
      for (const T part : parts.subspan(static_cast<size_t>(batch) * count, count)) {
        const W size = std::fabs(Widen<W>(part));
        if (std::isfinite(size) && size > largest) return true;
      }
    }
    return false;
  }

  // Element i of this batch of operand k.
  Number At(int64_t k, int64_t i) const {
    const int64_t at = batch * (op.array(k).literal.element_count() / batches) + i;
    if constexpr (std::is_same_v<E, T>) {
      bool known = true;
      const auto [centre, radius] = Part(k, at, known);
      return known ? Number(centre, radius) : Number(centre, Number::Unknown().radius);
    } else {
      bool known = true;
      const auto [re, re_radius] = Part(k, 2 * at, known);
      const auto [im, im_radius] = Part(k, 2 * at + 1, known);
      return {S(re, im), known ? re_radius + im_radius : Number::Unknown().radius};
    }
  }
  NumberMatrix ReadExactly(int64_t k) const {
    NumberMatrix matrix(Rows(k), Columns(k));
    for (size_t i = 0; i < matrix.values.size(); ++i)
      matrix.values[i] = At(k, static_cast<int64_t>(i));
    return matrix;
  }
  // Class RESID lets a routine be off by 4 (n + 2) u of each element at least, n being the smaller
  // size, or by 4 (m + n) u of the matrix's norm. Evaluations that make choices use it.
  enum class ResidualSize { kByElement, kByNorm };
  NumberMatrix Read(int64_t k, ResidualSize size = ResidualSize::kByElement) const {
    NumberMatrix matrix = ReadExactly(k);
    Choose(matrix, size);
    return matrix;
  }
  void Choose(NumberMatrix& matrix, ResidualSize size = ResidualSize::kByElement) const {
    if (results.bounds) return;
    const int64_t units = size == ResidualSize::kByElement
                              ? 4 * (std::min(matrix.rows, matrix.columns) + 2)
                              : 4 * (matrix.rows + matrix.columns);
    ResidualChoice choice(op, static_cast<int64_t>(matrix.values.size()), Residual(units));
    for (Number& number : matrix.values) number.centre = choice(number.centre);
  }

  void Set(int64_t k, int64_t i, const Number& number) {
    results.template Set<E>(k, First(k) + i, number);
  }
  void SetReal(int64_t k, int64_t i, const Ball<W>& ball) {
    results.template Set<T>(k, First(k) + i, ball);
  }
  // Set for a result whose element type is N instead of E.
  template <typename N>
  void SetAs(int64_t k, int64_t i, const Ball<typename Scalar<N>::WideNumber>& ball) {
    results.template Set<N>(k, First(k) + i, ball);
  }
  void SetInteger(int64_t k, int64_t i, int64_t value) {
    results.SetInteger(k, First(k) + i, value);
  }
  // Element i of this batch of result k, an integer, is one of `values`.
  void SetOneOf(int64_t k, int64_t i, absl::Span<const int64_t> values) {
    if (!results.bounds) return;
    Literal scalar(Shape::Scalar(results.ShapeOf(k).element_type()));
    std::vector<uint64_t> codes;
    for (int64_t value : values) {
      scalar.SetInteger(0, value);
      codes.push_back(scalar.GetBits(0));
    }
    SetCodes(results.arrays[k], First(k) + i, std::move(codes));
  }
  void Write(int64_t k, const NumberMatrix& matrix) {
    for (size_t i = 0; i < matrix.values.size(); ++i)
      Set(k, static_cast<int64_t>(i), matrix.values[i]);
  }
  // Nothing is known about this batch of result k.
  void Undecide(int64_t k) {
    const int64_t count = results.arrays[k].literal.element_count() / batches;
    for (int64_t i = 0; results.bounds && i < count; ++i)
      SetUndecided(results.arrays[k], First(k) + i);
  }
  // Nothing is known about the elements of this batch of result k one by one, but they are part
  // `part` of `property`.
  void JudgeByProperty(int64_t k, const std::shared_ptr<const Property>& property, int64_t part,
                       Origin::Piece piece = Origin::kWhole) {
    Undecide(k);
    const int64_t count = results.arrays[k].literal.element_count() / batches;
    for (int64_t i = 0; results.bounds && i < count; ++i)
      results.arrays[k].facts().origins.insert_or_assign(First(k) + i,
                                                         Origin{property, part, i, piece});
  }
  // Element i of result k is also element `index` of part `part` of `property`, which judges it
  // where all of the part comes out of the program.
  void Attach(int64_t k, int64_t i, const std::shared_ptr<const Property>& property, int64_t part,
              int64_t index) {
    MakeBounds(results.arrays[k]);
    results.arrays[k].facts().origins.insert_or_assign(First(k) + i, Origin{property, part, index});
  }
  // The origin of element i of this batch of operand k; null if none is known.
  const Origin* OriginOf(int64_t k, int64_t i) const {
    const Array& array = op.array(k);
    const auto origin =
        array.facts().origins.find(batch * (array.literal.element_count() / batches) + i);
    return origin == array.facts().origins.end() ? nullptr : &origin->second;
  }
  // True if the judge would find the bounds of all these numbers useful: radii up to 2^(-p/3) of
  // the larger of the number and the root mean square of all. Radii must be smaller by 2^-8, which
  // leaves room for those of results that are made of them.
  static bool AreUseful(absl::Span<const Number> numbers) {
    W squares = 0;
    for (const Number& x : numbers) squares += x.Modulus() * x.Modulus();
    const W mean = std::sqrt(squares / static_cast<W>(std::max<size_t>(numbers.size(), 1)));
    const W part = std::cbrt(UnitRoundoff<T>()) / 256;
    return std::all_of(numbers.begin(), numbers.end(), [&](const Number& x) {
      return x.IsKnown() && x.radius <= part * std::max(x.Modulus(), mean);
    });
  }
  void UndecideAll() {
    for (size_t k = 0; k < results.arrays.size(); ++k) Undecide(static_cast<int64_t>(k));
  }

  // c u, the contract's unit for a residual, in wide numbers (operation semantics 0.3, class
  // RESID).
  static W Residual(int64_t c) { return static_cast<W>(c) * UnitRoundoff<T>(); }

 private:
  static int64_t FromEnd(const Shape& shape, int64_t d) {
    return d <= shape.rank() ? shape.dimension(shape.rank() - d) : 1;
  }
  int64_t First(int64_t k) const {
    return batch * (results.arrays[k].literal.element_count() / batches);
  }
  std::pair<W, W> Part(int64_t k, int64_t slot, bool& known) const {
    const W plain = Widen<W>(operands[k].literal.template data<T>()[slot]);
    if (!results.bounds) return {plain, 0};
    const Range<W> x = Seen<T>(op.clauses, operands[k], slot);
    known = known && (x.flags & ~uint32_t{kZeroSignFree}) == 0;
    return known ? std::pair<W, W>(x.centre, x.radius) : std::pair<W, W>(plain, 0);
  }
};

// Calls f(MatrixCall<E>) for every matrix, first for the values, then in bound mode for the bounds.
// The batch dimensions are those of operand 0 before its last `matrix_rank`.
template <typename F>
absl::StatusOr<Value> ForEachMatrix(Interpreter& interpreter, const OpContext& op,
                                    int64_t matrix_rank, F f) {
  CallResults results{op, false, {}};
  std::vector<Array> operands;
  int64_t cost = 0;
  for (const Shape& shape : LeavesOf(op.shape)) {
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
    results.arrays.emplace_back(Literal(shape));
    cost += shape.ElementCount();
  }
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Array& operand = op.array(static_cast<int64_t>(k));
    operands.push_back(IsComplex(operand.literal.element_type()) ? Components(operand) : operand);
  }
  const Shape& first = op.literal(0).shape();
  int64_t batches = 1, longest = 1;
  for (int64_t d = 0; d < first.rank(); ++d) {
    if (d < first.rank() - matrix_rank) batches *= first.dimension(d);
    longest = std::max(longest, first.dimension(d));
  }
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(cost * longest));
  const bool done = DispatchNumber(first.element_type(), [&](auto tag) {
    for (bool bounds : {false, true}) {
      if (bounds && !interpreter.bounding()) break;
      results.bounds = bounds;
      for (int64_t batch = 0; batch < batches; ++batch) {
        MatrixCall<typename decltype(tag)::type> call{op, operands, results, batch, batches};
        if (bounds && call.MayOverflow()) {
          call.UndecideAll();
        } else {
          f(std::move(call));
        }
      }
    }
  });
  if (!done) return UnsupportedType(op, first.element_type());
  return ValueOfLeaves(std::move(results.arrays), op.shape, interpreter.memory());
}

}  // namespace assay::reference
