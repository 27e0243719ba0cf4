// Arrays from a counter-based generator: the same bits on every machine.
#include "conformance/inputs/random_literal.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// splitmix64: the state is a counter, so a stream is a function of (seed, stream) alone.
class Uniform {
 public:
  Uniform(uint64_t seed, uint64_t stream) : state_(seed * 0x9E3779B97F4A7C15u) {
    state_ ^= Mix(stream + 0x632BE59BD9B4E019u);
  }
  // In [0, 1), a multiple of 2^-53: exact on every machine.
  double Next() { return static_cast<double>(Mix(state_ += 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53; }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

void SortRows(const Shape& shape, std::vector<double>& values) {
  if (shape.rank() == 0 || values.empty()) return;
  size_t row = static_cast<size_t>(shape.dimension(shape.rank() - 1));
  for (size_t i = 0; i + row <= values.size(); i += row) {
    std::sort(values.begin() + static_cast<std::ptrdiff_t>(i),
              values.begin() + static_cast<std::ptrdiff_t>(i + row));
  }
}

absl::Status MakeSymmetric(const Shape& shape, double diagonal, std::vector<double>& values) {
  const int64_t rank = shape.rank();
  if (rank < 2 || shape.dimension(rank - 1) != shape.dimension(rank - 2) ||
      !IsFloat(shape.element_type())) {
    return absl::InvalidArgumentError(
        StrCat(shape.ToString(), " holds no square matrices of floats to be made symmetric"));
  }
  const int64_t n = shape.dimension(rank - 1);
  for (int64_t at = 0; at < shape.ElementCount(); at += n * n) {
    double* matrix = values.data() + at;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        matrix[i * n + j] = matrix[j * n + i] = (matrix[i * n + j] + matrix[j * n + i]) / 2;
      }
      matrix[i * n + i] += diagonal;
    }
  }
  return absl::OkStatus();
}

}  // namespace

ValueRule ValueRule::Default(const Shape& shape) {
  ValueRule rule;
  if (IsSigned(shape.element_type())) {
    rule.lo = -8;
    rule.hi = 8;
  } else if (IsUnsigned(shape.element_type())) {
    rule.lo = 0;
    rule.hi = 8;
  }
  return rule;
}

absl::StatusOr<Literal> RandomLiteral(const Shape& shape, const ValueRule& rule, uint64_t seed,
                                      uint64_t stream) {
  ElementType type = shape.element_type();
  if (!IsPred(type) && !IsInteger(type) && !IsFloat(type) && !IsComplex(type)) {
    return MakeError(ErrorClass::kUnsupported, StrCat("no values can be drawn for ",
                                                      shape.ToString(), "; give them in a file"));
  }
  if (!(rule.lo < rule.hi)) {
    return absl::InvalidArgumentError(
        StrCat("the range [", rule.lo, ", ", rule.hi, ") of ", shape.ToString(), " is empty"));
  }
  if (shape.HasDynamicDimension()) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("a value of dynamic shape ", shape.ToString(), " cannot be drawn"));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  Uniform uniform(seed, stream);
  // A complex element is its two parts, one after the other.
  const int64_t parts = IsComplex(type) ? 2 : 1;
  std::vector<double> values(static_cast<size_t>(literal.element_count() * parts));
  for (double& value : values) {
    double u = uniform.Next();
    if (IsPred(type)) {
      value = u < 0.5 ? 0 : 1;
      continue;
    }
    if (rule.skew != 1) u = std::pow(u, rule.skew);
    value = rule.lo + (rule.hi - rule.lo) * u;
    if (IsInteger(type)) value = std::floor(value);
  }
  if (rule.symmetric) {
    ASSAY_RETURN_IF_ERROR(MakeSymmetric(shape, rule.diagonal, values));
  }
  if (rule.sorted) SortRows(shape, values);
  if (type == ElementType::kF32) {
    std::copy(values.begin(), values.end(), literal.data<float>().begin());
    return literal;
  }
  if (IsComplex(type)) {
    for (size_t i = 0; i < static_cast<size_t>(literal.element_count()); ++i) {
      const std::complex<double> value(values[2 * i], values[2 * i + 1]);
      if (type == ElementType::kC64) {
        literal.data<std::complex<float>>()[i] = std::complex<float>(value);
      } else {
        literal.data<std::complex<double>>()[i] = value;
      }
    }
    return literal;
  }
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    double value = values[static_cast<size_t>(i)];
    if (IsFloat(type)) {
      literal.SetDouble(i, value);
    } else if (value >= 0x1p63) {
      literal.SetInteger(i, static_cast<int64_t>(static_cast<uint64_t>(value)));
    } else {
      literal.SetInteger(i, static_cast<int64_t>(value));
    }
  }
  return literal;
}

}  // namespace assay
