// Real and imaginary parts are arrays of their own, so that the products are those of real numbers.
#include "optimized/passes/fallbacks/contractions/fft_expander.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "optimized/passes/util/rule_util.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

constexpr ElementType kWide = ElementType::kF64;
// A matrix of roots has at most so many rows; shorter factors make fewer products.
constexpr int64_t kLongestFactor = 1024, kShortLine = 16;

// The largest factor that a matrix of few rows serves; `length` itself if it is short, or a prime.
int64_t FactorOf(int64_t length) {
  if (length <= kShortLine) return length;
  for (int64_t factor = kShortLine; factor > 1; --factor)
    if (length % factor == 0) return factor;
  for (int64_t factor = kShortLine + 1; factor * factor <= length; ++factor)
    if (length % factor == 0) return factor;
  return length;
}

bool HasShortFactors(int64_t length) {
  while (length > 1) {
    const int64_t factor = FactorOf(length);
    if (factor > kLongestFactor) return false;
    length /= factor;
  }
  return length == 1;
}

struct Parts {
  Instruction *re, *im;
};

class Transformer {
 public:
  explicit Transformer(Instruction* fft)
      : into_(fft->parent()),
        kind_(fft->attributes().Word<FftKind>(Attr::kFftType)),
        lengths_(fft->attributes().Integers(Attr::kFftLength)) {
    is_inverse_ = kind_ == FftKind::kIfft || kind_ == FftKind::kIrfft;
  }

  Instruction* Expand(Instruction* fft) {
    Instruction* x = fft->operand(0);
    const int64_t rank = x->shape().rank();
    Parts parts = PartsOf(x);
    const auto axes = static_cast<int64_t>(lengths_.size());
    const auto along = [&](int64_t d) { parts = Along(parts, d, x->shape().rank()); };
    if (kind_ == FftKind::kRfft) {
      along(rank - 1);
      parts = Head(parts, lengths_.back() / 2 + 1);
    }
    const bool is_real = kind_ == FftKind::kRfft || kind_ == FftKind::kIrfft;
    for (int64_t d = rank - axes; d < rank - (is_real ? 1 : 0); ++d) along(d);
    if (kind_ == FftKind::kIrfft) {
      parts = WholeSpectrum(parts, lengths_.back());
      along(rank - 1);
      return As(fft->shape().element_type(), parts.re, fft->shape());
    }
    const ElementType type =
        fft->shape().element_type() == ElementType::kC128 ? kWide : ElementType::kF32;
    const Shape part = Shape::Array(type, parts.re->shape().dimensions());
    return into_->Add(Opcode::kComplex, fft->shape(),
                      {As(type, parts.re, part), As(type, parts.im, part)});
  }

 private:
  Instruction* As(ElementType type, Instruction* value, const Shape& shape) {
    if (value->shape().element_type() == type) return value;
    return into_->Add(Opcode::kConvert, shape, {value});
  }

  Parts PartsOf(Instruction* value) {
    const Shape wide = Shape::Array(kWide, value->shape().dimensions());
    if (!IsComplex(value->shape().element_type())) {
      Instruction* zero = into_->AddConstant(Literal(Shape::Scalar(kWide)));
      return {As(kWide, value, wide), AddSplat(into_, wide, zero)};
    }
    const ElementType type =
        value->shape().element_type() == ElementType::kC128 ? kWide : ElementType::kF32;
    const Shape part = Shape::Array(type, value->shape().dimensions());
    Instruction* re = into_->Add(Opcode::kReal, part, {value});
    Instruction* im = into_->Add(Opcode::kImag, part, {value});
    return {As(kWide, re, wide), As(kWide, im, wide)};
  }

  template <typename F>
  static Parts Both(const Parts& parts, F f) {
    return {f(parts.re), f(parts.im)};
  }

  Parts Reshaped(const Parts& parts, DimVector sizes) {
    return Both(parts, [&](Instruction* value) {
      return into_->Add(Opcode::kReshape, Shape::Array(kWide, sizes), {value});
    });
  }

  Parts Exchanged(const Parts& parts, int64_t a, int64_t b) {
    if (a == b) return parts;
    return Both(parts, [&](Instruction* value) {
      const absl::Span<const int64_t> now = value->shape().dimensions();
      DimVector sizes(now.begin(), now.end());
      Int64List order;
      for (int64_t d = 0; d < value->shape().rank(); ++d) order.push_back(d);
      std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
      std::swap(sizes[static_cast<size_t>(a)], sizes[static_cast<size_t>(b)]);
      return into_->Add(Opcode::kTranspose, Shape::Array(kWide, sizes), {value},
                        DimensionsAttr(order));
    });
  }

  // Transforms along a dimension, whatever the others.
  Parts Along(Parts parts, int64_t d, int64_t rank) {
    parts = Exchanged(parts, d, rank - 1);
    const absl::Span<const int64_t> sizes = parts.re->shape().dimensions();
    const DimVector back(sizes.begin(), sizes.end());
    const int64_t length = back.back();
    parts = Line(Reshaped(parts, {parts.re->shape().ElementCount() / length, length}), length);
    if (is_inverse_) parts = Scaled(parts, 1.0 / static_cast<double>(length));
    return Exchanged(Reshaped(parts, back), d, rank - 1);
  }

  Parts Scaled(const Parts& parts, double factor) {
    return Both(parts, [&](Instruction* value) {
      Instruction* by = AddSplat(into_, value->shape(), AddScalarFloat(into_, kWide, factor));
      return into_->Add(Opcode::kMultiply, value->shape(), {value, by});
    });
  }

  // exp(-2 pi i a b / length) for all rows a and columns b, its conjugate for inverse transforms.
  Parts Roots(int64_t rows, int64_t columns, int64_t length) {
    const Shape shape = Shape::Array(kWide, {rows, columns});
    Literal re(shape), im(shape);
    for (int64_t a = 0; a < rows; ++a) {
      for (int64_t b = 0; b < columns; ++b) {
        const int64_t turn = a * b % length;
        const double angle =
            2 * std::numbers::pi * static_cast<double>(turn) / static_cast<double>(length);
        // Quarters of the circle are exact.
        const bool is_axis = 4 * turn % length == 0;
        const double cosine = std::cos(angle), sine = std::sin(angle);
        re.SetDouble(a * columns + b, is_axis ? std::round(cosine) : cosine);
        const double turned = is_axis ? std::round(sine) : sine;
        im.SetDouble(a * columns + b, is_inverse_ ? turned : 0 - turned);
      }
    }
    return {into_->AddConstant(std::move(re)), into_->AddConstant(std::move(im))};
  }

  Instruction* Binary(Opcode opcode, Instruction* a, Instruction* b) {
    return into_->Add(opcode, a->shape(), {a, b});
  }

  // (a + ib)(c + id), where `times` multiplies.
  template <typename F>
  Parts Product(const Parts& x, const Parts& y, F times) {
    return {Binary(Opcode::kSubtract, times(x.re, y.re), times(x.im, y.im)),
            Binary(Opcode::kAdd, times(x.re, y.im), times(x.im, y.re))};
  }

  // All lines, the rows of a matrix, by all roots of their length.
  Parts ByMatrix(const Parts& lines, int64_t length) {
    const Attributes sums = Attributes()
                                .Set(Attr::kLhsContractingDims, {int64_t{1}})
                                .Set(Attr::kRhsContractingDims, {int64_t{0}});
    return Product(lines, Roots(length, length, length), [&](Instruction* a, Instruction* b) {
      return into_->Add(Opcode::kDot, a->shape(), {a, b}, sums);
    });
  }

  // With length = p m: element m a + b of a line is (a, b) of a matrix. Its columns are transformed
  // first, then turned by what they lie behind, then the rows.
  Parts Line(const Parts& lines, int64_t length) {
    if (length == 1) return lines;
    const int64_t p = FactorOf(length), m = length / p;
    if (m == 1) return ByMatrix(lines, length);
    const int64_t count = lines.re->shape().dimension(0);
    Parts parts = Exchanged(Reshaped(lines, {count, p, m}), 1, 2);
    parts = Reshaped(ByMatrix(Reshaped(parts, {count * m, p}), p), {count, m, p});
    const Parts turns = Both(Roots(m, p, length), [&](Instruction* roots) {
      return into_->Add(Opcode::kBroadcast, parts.re->shape(), {roots}, DimensionsAttr({1, 2}));
    });
    parts = Product(parts, turns, [&](Instruction* a, Instruction* b) {
      return Binary(Opcode::kMultiply, a, b);
    });
    parts = Reshaped(Exchanged(parts, 1, 2), {count * p, m});
    parts = Reshaped(Line(parts, m), {count, p, m});
    return Reshaped(Exchanged(parts, 1, 2), {count, length});
  }

  Instruction* Cut(Instruction* value, int64_t start, int64_t limit) {
    std::vector<SliceRange> ranges;
    const absl::Span<const int64_t> now = value->shape().dimensions();
    DimVector sizes(now.begin(), now.end());
    for (int64_t size : sizes) ranges.push_back({0, size, 1});
    ranges.back() = {start, limit, 1};
    sizes.back() = limit - start;
    return into_->Add(Opcode::kSlice, Shape::Array(kWide, sizes), {value},
                      SliceAttr(std::move(ranges)));
  }

  Parts Head(const Parts& parts, int64_t count) {
    return Both(parts, [&](Instruction* value) { return Cut(value, 0, count); });
  }

  // The other half of a real signal's spectrum is the conjugate of this one; the parts that stand
  // for themselves are real, whatever is given.
  Parts WholeSpectrum(const Parts& parts, int64_t length) {
    const int64_t half = length / 2 + 1, last = parts.re->shape().rank() - 1;
    Instruction* im = parts.im;
    Literal counts(Shape::Array(ElementType::kPred, {half}));
    for (int64_t k = 0; k < half; ++k) counts.SetInteger(k, k != 0 && 2 * k != length ? 1 : 0);
    Instruction* mask =
        into_->Add(Opcode::kBroadcast, Shape::Array(ElementType::kPred, im->shape().dimensions()),
                   {into_->AddConstant(std::move(counts))}, DimensionsAttr({last}));
    Instruction* zero = AddSplat(into_, im->shape(), AddScalarFloat(into_, kWide, 0));
    im = into_->Add(Opcode::kSelect, im->shape(), {mask, im, zero});
    if (length < 3) return {parts.re, im};
    const auto whole = [&](Instruction* value, bool negates) {
      Instruction* rest = Cut(value, 1, length - half + 1);
      rest = into_->Add(Opcode::kReverse, rest->shape(), {rest}, DimensionsAttr({last}));
      if (negates) rest = into_->Add(Opcode::kNegate, rest->shape(), {rest});
      const absl::Span<const int64_t> now = value->shape().dimensions();
      DimVector sizes(now.begin(), now.end());
      sizes.back() = length;
      return into_->Add(Opcode::kConcatenate, Shape::Array(kWide, sizes), {value, rest},
                        Attributes().Set(Attr::kDimension, {last}));
    };
    return {whole(parts.re, false), whole(im, true)};
  }

  Computation* into_;
  FftKind kind_;
  absl::Span<const int64_t> lengths_;
  bool is_inverse_ = false;
};

}  // namespace

bool FftExpander::Matches(const Instruction& inst) const {
  const Shape &given = inst.operand(0)->shape(), &made = inst.shape();
  if (given.ElementCount() == 0 || made.ElementCount() == 0) return false;
  if (!given.layout().IsRowMajor() || !made.layout().IsRowMajor()) return false;
  for (int64_t length : inst.attributes().Integers(Attr::kFftLength))
    if (!HasShortFactors(length)) return false;
  return true;
}

Instruction* FftExpander::Expand(Instruction* inst) const { return Transformer(inst).Expand(inst); }

}  // namespace assay
