// Fft. Document: operation semantics chapter 11, Fft.
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/components.h"
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/values/lines.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Sizes of an fft: batches of arrays that are transformed along their last dimensions, of which the
// very last one may hold half a spectrum.
struct Transform {
  FftKind kind;
  DimVector lengths;  // of the transformed dimensions, in the time domain
  int64_t batches = 1;
  int64_t total = 1;                // product of the lengths
  int64_t input_size, output_size;  // elements of one array

  explicit Transform(const OpContext& op)
      : kind(op.instruction.attributes().Word<FftKind>(Attr::kFftType)) {
    for (int64_t length : op.instruction.attributes().Integers(Attr::kFftLength)) {
      lengths.push_back(length);
      total *= length;
    }
    const Shape& input = op.literal(0).shape();
    input_size = output_size = 1;
    for (int64_t d = 0; d < input.rank(); ++d) {
      if (d < input.rank() - static_cast<int64_t>(lengths.size())) {
        batches *= input.dimension(d);
      } else {
        input_size *= input.dimension(d);
        output_size *= op.shape.dimension(d);
      }
    }
  }
  bool inverse() const { return kind == FftKind::kIfft || kind == FftKind::kIrfft; }
  // Number of values that are kept of the spectrum of a real signal.
  int64_t half() const { return lengths.back() / 2 + 1; }
};

// exp(2 pi i k / n), exact at the quarters of the circle.
template <typename W>
std::complex<W> UnitRoot(int64_t k, int64_t n) {
  static constexpr int kQuarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  if (4 * k % n == 0) return {W(kQuarters[4 * k / n % 4][0]), W(kQuarters[4 * k / n % 4][1])};
  const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                            static_cast<long double>(n);
  return {static_cast<W>(std::cos(angle)), static_cast<W>(std::sin(angle))};
}

// The transform of lines of one length.
template <typename W>
class LineTransform {
 public:
  using C = std::complex<W>;

  LineTransform(int64_t length, bool inverse) : length_(length), inverse_(inverse) {
    for (int64_t k = 0; k < length; ++k) {
      const C root = UnitRoot<W>(k, length);
      roots_.push_back(inverse ? root : std::conj(root));
    }
  }

  // X[k] = sum of x[n] exp(-2 pi i n k / N); the inverse conjugates the roots and divides by N.
  void Apply(std::vector<C>& line) const {
    line = Sum(line.data(), 1, length_);
    if (!inverse_) return;
    for (C& x : line) x /= static_cast<W>(length_);
  }

 private:
  // The sums over `n` values that lie `step` apart. With n = p m and p its least prime factor,
  // they are made of p sums over m values.
  std::vector<C> Sum(const C* x, int64_t step, int64_t n) const {
    if (n == 1) return {x[0]};
    int64_t p = 2;
    while (n % p != 0) p = p * p > n ? n : p + 1;
    const int64_t m = n / p;
    std::vector<std::vector<C>> parts;
    for (int64_t r = 0; r < p; ++r) parts.push_back(Sum(x + r * step, step * p, m));
    std::vector<C> sums(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k)
      for (int64_t r = 0; r < p; ++r) sums[k] += parts[r][k % m] * roots_[r * k % n * step];
    return sums;
  }

  int64_t length_;
  bool inverse_;
  std::vector<C> roots_;
};

// Transforms `values`, of the given sizes, along one dimension.
template <typename W>
void AlongDimension(std::vector<std::complex<W>>& values, const DimVector& sizes, size_t d,
                    bool inverse) {
  const Lines lines(sizes, static_cast<int64_t>(d));
  const LineTransform<W> transform(lines.length, inverse);
  std::vector<std::complex<W>> line(static_cast<size_t>(lines.length));
  for (int64_t number = 0; number < lines.count; ++number) {
    for (int64_t k = 0; k < lines.length; ++k) line[k] = values[lines.Element(number, k)];
    transform.Apply(line);
    for (int64_t k = 0; k < lines.length; ++k) values[lines.Element(number, k)] = line[k];
    line.resize(static_cast<size_t>(lines.length));
  }
}

// The transform of one array. Real signals have zero imaginary parts, and so has the result of
// irfft.
template <typename W>
std::vector<std::complex<W>> TransformArray(const Transform& transform,
                                            std::vector<std::complex<W>> values) {
  const size_t last = transform.lengths.size() - 1;
  const int64_t length = transform.lengths[last];
  DimVector sizes = transform.lengths;
  const int64_t rows = length == 0 ? 0 : transform.total / length;
  if (transform.kind == FftKind::kIrfft) {
    sizes[last] = transform.half();
    for (size_t d = 0; d < last; ++d) AlongDimension(values, sizes, d, true);
    // The other half of each line's spectrum is the conjugate of this one.
    std::vector<std::complex<W>> whole(static_cast<size_t>(transform.total));
    for (int64_t row = 0; row < rows; ++row) {
      const std::complex<W>* from = values.data() + row * transform.half();
      std::complex<W>* to = whole.data() + row * length;
      for (int64_t k = 0; k < length; ++k) {
        const int64_t mirrored = length - k;
        to[k] = k < transform.half() ? from[k] : std::conj(from[mirrored]);
        if (k == 0 || k == mirrored) to[k] = to[k].real();
      }
    }
    values = std::move(whole);
    sizes[last] = length;
    AlongDimension(values, sizes, last, true);
    return values;
  }
  AlongDimension(values, sizes, last, transform.inverse());
  if (transform.kind == FftKind::kRfft) {
    std::vector<std::complex<W>> half;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < transform.half(); ++k) half.push_back(values[row * length + k]);
    values = std::move(half);
    sizes[last] = transform.half();
  }
  for (size_t d = 0; d < last; ++d) AlongDimension(values, sizes, d, transform.inverse());
  return values;
}

// Calls f(batch, exact result) for every array. `seen(slot)` gives the real and imaginary parts of
// the operand's elements, slots 2 i and 2 i + 1, or element `slot` if the operand is real.
template <typename W, typename Seen, typename F>
void ForEachTransform(const Transform& transform, Seen seen, F f) {
  const bool real_input = transform.kind == FftKind::kRfft;
  for (int64_t batch = 0; batch < transform.batches; ++batch) {
    std::vector<std::complex<W>> values(static_cast<size_t>(transform.input_size));
    for (int64_t i = 0; i < transform.input_size; ++i) {
      const int64_t at = batch * transform.input_size + i;
      values[i] = real_input ? std::complex<W>(seen(at), 0)
                             : std::complex<W>(seen(2 * at), seen(2 * at + 1));
    }
    if (transform.total == 0) continue;
    f(batch, TransformArray<W>(transform, std::move(values)));
  }
}

// Calls f(slot of the result, value) for the parts of the result of one array.
template <typename W, typename F>
void ForEachSlot(const Transform& transform, int64_t batch,
                 const std::vector<std::complex<W>>& values, F f) {
  const bool real_output = transform.kind == FftKind::kIrfft;
  for (int64_t i = 0; i < transform.output_size; ++i) {
    const int64_t at = batch * transform.output_size + i;
    if (real_output) {
      f(at, values[i].real());
    } else {
      f(2 * at, values[i].real());
      f(2 * at + 1, values[i].imag());
    }
  }
}

Literal PartsOf(const Literal& literal) {
  return IsComplex(literal.element_type()) ? Components(literal) : literal;
}
Array PartsOf(const Array& array) {
  return IsComplex(array.literal.element_type()) ? Components(array) : array;
}

// Moves every part of the result by as much as the contract permits when all parts are moved alike,
// up or down as `liberties` choose.
template <typename W>
void UseContract(const Transform& transform, LegalChoices& choices, W unit,
                 std::vector<std::complex<W>>& values) {
  W squares = 0;
  const bool real_output = transform.kind == FftKind::kIrfft;
  for (std::complex<W>& value : values) {
    if (real_output) value = value.real();
    squares += std::norm(value);
  }
  const W parts = static_cast<W>(values.size()) * (real_output ? 1 : 2);
  // One ulp less than the contract, since the result is rounded afterwards.
  const W budget = 8 * (1 + std::log2(static_cast<W>(transform.total))) - 1;
  const W step = unit * budget * std::sqrt(squares / parts);
  const int64_t site = choices.Site(2 * static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t slot = site + 2 * static_cast<int64_t>(i);
    const W real = choices.IsUp(slot) ? step : -step;
    const W imaginary = choices.IsUp(slot + 1) ? step : -step;
    values[i] += std::complex<W>(real, real_output ? 0 : imaginary);
  }
}

template <typename T>
void TransformAll(const OpContext& op, Literal& result) {
  const Transform transform(op);
  const Literal operand = PartsOf(op.literal(0));
  Literal parts = PartsOf(result);
  absl::Span<T> out = parts.data<T>();
  ForEachTransform<Wide<T>>(
      transform, [&](int64_t slot) { return Widen<Wide<T>>(operand.data<T>()[slot]); },
      [&](int64_t batch, std::vector<std::complex<Wide<T>>> values) {
        if (op.analysis.choices != nullptr && transform.total > 1)
          UseContract(transform, *op.analysis.choices, UnitRoundoff<T>(), values);
        ForEachSlot(transform, batch, values,
                    [&](int64_t slot, Wide<T> value) { out[slot] = Round<T>(value); });
      });
  if (!parts.bytes().empty())
    std::memcpy(result.bytes().data(), parts.bytes().data(), parts.bytes().size());
}

// Sums over the parts of its operand, of which the bound of one array's transform is made.
template <typename T>
struct OperandSizes {
  using W = Wide<T>;
  W largest = 0, sum = 0;            // of the absolute values, with their radii
  W squares = 0;                     // of the absolute values in units of the largest
  W propagated = 0, radii_norm = 0;  // the sum and the norm of the radii
  bool finite = true;

  template <typename Seen>
  OperandSizes(int64_t first, int64_t count, const Seen& seen) {
    W squares_of_radii = 0;
    for (int64_t i = first; i < first + count; ++i) {
      const Range<W> x = seen(i);
      finite = finite && (x.flags & ~uint32_t{kZeroSignFree}) == 0;
      largest = std::max(largest, std::fabs(x.centre) + x.radius);
      sum += std::fabs(x.centre) + x.radius;
      propagated += x.radius;
      squares_of_radii += x.radius * x.radius;
    }
    radii_norm = std::sqrt(squares_of_radii);
    for (int64_t i = first; finite && largest > 0 && i < first + count; ++i) {
      const Range<W> x = seen(i);
      const W part = (std::fabs(x.centre) + x.radius) / largest;
      squares += part * part;
    }
  }
};

// The property of one array's result that its error is as small as the contract says, which is said
// of all elements together. `exact`: the parts of the exact result.
template <typename W>
std::shared_ptr<const Property> NormProperty(ElementType type, std::vector<W> exact, W limit) {
  auto property = std::make_shared<Property>();
  property->what = "|X - fft(x)| <= 8 u (1 + log2 N) |fft(x)|";
  const auto elements = static_cast<int64_t>(exact.size()) / BoundsPerElement(type);
  property->parts = {Shape::Array(type, {elements})};
  property->violation = [exact = std::move(exact), limit](absl::Span<const Literal> parts,
                                                          const std::vector<bool>&) -> std::string {
    W squares = 0;
    for (size_t k = 0; k < exact.size(); ++k) {
      const W error = parts[0].GetComponent(static_cast<int64_t>(k)) - exact[k];
      squares += error * error;
    }
    if (std::sqrt(squares) <= limit) return "";
    return StrCat("the norm of the error is ", static_cast<double>(std::sqrt(squares)), ", where ",
                  static_cast<double>(limit), " is allowed");
  };
  return property;
}

// The contract bounds the norm of the error of one array's result: 8 u (1 + log2 N) times the norm
// of the exact result, which by Parseval is that of the operand times sqrt(N), or divided by it. No
// element can be off by more, and where that is too little to know of one, all are judged together.
// To that the operand's own radii add up.
template <typename T>
class FftBound {
 public:
  using W = Wide<T>;

  FftBound(const OpContext& op, const Transform& transform, Array& result)
      : op_(op),
        transform_(transform),
        result_(result),
        operand_(PartsOf(op.array(0))),
        parts_(PartsOf(result)),
        n_(static_cast<W>(transform.total)),
        scale_(!transform.inverse()                ? W{1}
               : transform.kind == FftKind::kIrfft ? 2 / n_  // each value and its mirror image
                                                   : 1 / n_),
        least_(op.clauses.Has(ClauseId::kFlushSubnormals) ? Tiny<T>() : UlpAt<T>(0)) {
    parts_.facts().bounds.clear();
  }

  void Run() {
    ForEachTransform<W>(
        transform_, [&](int64_t slot) { return Of(slot).centre; },
        [&](int64_t batch, const auto& values) { BoundOne(batch, values); });
    result_.facts().bounds = std::move(parts_.facts().bounds);
  }

 private:
  Range<W> Of(int64_t slot) const { return Seen<T>(op_.clauses, operand_, slot); }

  template <typename Values>
  void BoundOne(int64_t batch, const Values& values) {
    const bool real_input = transform_.kind == FftKind::kRfft;
    const int64_t input_slots = transform_.input_size * (real_input ? 1 : 2);
    const int64_t output_slots =
        transform_.output_size * (transform_.kind == FftKind::kIrfft ? 1 : 2);
    const OperandSizes<T> operand(batch * input_slots, input_slots,
                                  [&](int64_t slot) { return Of(slot); });
    const W norm = operand.largest * std::sqrt(operand.squares * n_) * scale_;
    const W growth = 8 * UnitRoundoff<T>() * (1 + std::log2(n_));
    const W radius = growth * norm + operand.propagated * scale_ + n_ * least_;
    // Some order of the additions overflows, in a part that the result may have nothing of.
    // What is turned to lie along an axis may be rounded beyond the largest number, too.
    const bool overflows = !(operand.sum * (1 + growth) <= W{std::numeric_limits<T>::max()});
    if (!operand.finite || overflows || !std::isfinite(radius)) {
      for (int64_t i = 0; i < output_slots; ++i) SetUndecided(parts_, batch * output_slots + i);
      return;
    }
    std::vector<W> exact(static_cast<size_t>(output_slots));
    ForEachSlot(transform_, batch, values, [&](int64_t slot, W value) {
      exact[static_cast<size_t>(slot - batch * output_slots)] = value;
      FinishExact<T>(op_.clauses, parts_, slot, WithOverflow<T>({value, radius, 0}));
    });
    // The judge calls a bound of an element useful up to the cube root of the unit roundoff.
    const W mean = norm / std::sqrt(n_);
    if (radius <= std::cbrt(UnitRoundoff<T>()) / 4 * mean) return;
    // The result is rounded once more, and what is computed here is not exact either.
    const W limit = (growth + 2 * UnitRoundoff<T>()) * norm +
                    operand.radii_norm * std::sqrt(n_) * scale_ + n_ * least_ * std::sqrt(n_);
    const auto property = NormProperty<W>(op_.type(), std::move(exact), limit);
    for (int64_t i = 0; i < transform_.output_size; ++i)
      result_.facts().origins.insert_or_assign(batch * transform_.output_size + i,
                                               Origin{property, 0, i});
  }

  const OpContext& op_;
  const Transform& transform_;
  Array& result_;
  const Array operand_;
  Array parts_;
  W n_, scale_, least_;
};

// A transform of one value is that value. Written out it is a product with (1, 0), which gives
// zeros of either sign, and for what is not finite something else.
template <typename T>
void BoundOneValue(const OpContext& op, const Transform& transform, Array& result) {
  const Array operand = PartsOf(op.array(0));
  Array parts = PartsOf(result);
  parts.facts().bounds.clear();
  const int64_t read = transform.kind == FftKind::kRfft ? 1 : 2;
  const int64_t given = transform.kind == FftKind::kIrfft ? 1 : 2;
  for (int64_t i = 0; i < transform.batches; ++i) {
    std::array<Range<Wide<T>>, 2> seen = {};
    bool finite = true;
    for (int64_t k = 0; k < read; ++k) {
      seen[static_cast<size_t>(k)] = Seen<T>(op.clauses, operand, i * read + k);
      finite = finite && (seen[static_cast<size_t>(k)].flags & ~uint32_t{kZeroSignFree}) == 0;
    }
    for (int64_t k = 0; k < given; ++k) {
      const Range<Wide<T>>& x = seen[static_cast<size_t>(k)];
      if (!finite) {
        SetUndecided(parts, i * given + k);
      } else if (!x.Single() || x.centre == 0) {
        FinishExact<T>(op.clauses, parts, i * given + k, x);
      }
    }
  }
  result.facts().bounds = std::move(parts.facts().bounds);
}

template <typename T>
void BoundAll(const OpContext& op, Array& result) {
  const Transform transform(op);
  if (transform.total > 1) {
    FftBound<T>(op, transform, result).Run();
  } else if (transform.total == 1) {
    BoundOneValue<T>(op, transform, result);
  }
}

template <typename F>
bool DispatchComponent(ElementType type, F f) {
  const ElementType component = ComponentType(type);
  if (component != ElementType::kF32 && component != ElementType::kF64) return false;
  if (component == ElementType::kF32) f(TypeTag<float>{});
  if (component == ElementType::kF64) f(TypeTag<double>{});
  return true;
}

// The operand's dimensions, the transformed ones of the lengths that are asked for.
DimVector TransformedSizes(const OpContext& op) {
  const absl::Span<const int64_t> lengths = op.instruction.attributes().Integers(Attr::kFftLength);
  const absl::Span<const int64_t> given = op.literal(0).shape().dimensions();
  DimVector sizes(given.begin(), given.end());
  std::copy(lengths.begin(), lengths.end(), sizes.end() - static_cast<int64_t>(lengths.size()));
  return sizes;
}

// A complex transform whose lengths are not the operand's sizes.
bool IsResized(const OpContext& op) {
  return IsComplex(op.type()) && IsComplex(op.literal(0).element_type()) &&
         absl::MakeConstSpan(TransformedSizes(op)) != op.literal(0).shape().dimensions();
}

// `array` cut to `sizes`, or padded with zeros, behind its last elements.
Array Resized(const Array& array, const DimVector& sizes) {
  Array result{Literal(Shape::Array(array.literal.element_type(), sizes))};
  const Shape& from = array.literal.shape();
  const DimVector strides = RowMajorStrides(from.dimensions());
  DimVector index(sizes.size(), 0);
  for (int64_t i = 0; i < result.literal.element_count(); ++i) {
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d)
      inside = inside && index[d] < from.dimension(static_cast<int64_t>(d));
    if (inside) CopyElements(array, LinearIndex(strides, index), result, i, 1);
    NextIndex(sizes, absl::MakeSpan(index));
  }
  return result;
}

// Calls `f` with a transform of fitting sizes that the op is, between an operand and a result that
// are resized.
template <typename F>
Array TransformResized(const OpContext& op, F f) {
  const DimVector sizes = TransformedSizes(op);
  const Value operand{std::make_shared<const Array>(Resized(op.array(0), sizes)), {}};
  const Value* operands[] = {&operand};
  const Shape shape = Shape::Array(op.type(), sizes);
  const OpContext fitting = op.On(shape, operands);
  Array result{Literal(shape)};
  f(fitting, result);
  const absl::Span<const int64_t> back = op.shape.dimensions();
  return Resized(result, DimVector(back.begin(), back.end()));
}

absl::Status EvaluateFft(const OpContext& op, Literal& result) {
  const bool done = DispatchComponent(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!IsResized(op)) return TransformAll<T>(op, result);
    result = TransformResized(op, [](const OpContext& fitting, Array& transformed) {
               TransformAll<T>(fitting, transformed.literal);
             }).literal;
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

absl::Status BoundFft(const OpContext& op, Array& result) {
  DispatchComponent(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!IsResized(op)) return BoundAll<T>(op, result);
    result = TransformResized(op, [](const OpContext& fitting, Array& transformed) {
      TransformAll<T>(fitting, transformed.literal);
      BoundAll<T>(fitting, transformed);
    });
  });
  return absl::OkStatus();
}

// Number of values times the sum of the prime factors of the lengths.
int64_t FftCost(const OpContext& op) {
  if (op.literal(0).element_count() == 0) return 0;
  double factors = 1;
  double elements =
      static_cast<double>(op.count()) + static_cast<double>(op.literal(0).element_count());
  if (IsResized(op)) {
    double transformed = 1;
    for (int64_t size : TransformedSizes(op)) transformed *= static_cast<double>(size);
    // Far more than is ever transformed, and too long to factor.
    if (transformed > 1e12) return std::numeric_limits<int64_t>::max();
    elements += transformed;
  }
  for (int64_t length : op.instruction.attributes().Integers(Attr::kFftLength)) {
    int64_t rest = length;
    for (int64_t p = 2; p * p <= rest; ++p)
      for (; rest % p == 0; rest /= p) factors += static_cast<double>(p);
    factors += static_cast<double>(rest);
  }
  const double cost = factors * elements;
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

absl::Span<const OpEvaluation> FftEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kFft, .evaluate = EvaluateFft, .bound = BoundFft, .cost = FftCost},
  };
  return kRows;
}

}  // namespace assay::reference
