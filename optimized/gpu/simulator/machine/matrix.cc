// Products of small matrices by tensor cores (PTX ISA 8.8, section 9.7.14.5), with the rounding of
// hardware as it was observed (arXiv 2511.10909): all terms of a group are aligned to the largest
// one, cut to a number of bits, and added exactly; the sum is rounded to float towards zero.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/machine/warp.h"

namespace assay::gpu {
namespace {

// A number as an integer times a power of two.
struct Scaled {
  int64_t digits = 0;
  int exponent = 0;  // of the unit of the leading digit of a normal number
};

// `fraction`: bits behind the point. Subnormal numbers and zero have the least exponent.
Scaled ScaledOf(float value, int fraction, int least) {
  if (value == 0) return {0, least};
  const int exponent = std::max(std::ilogb(value), least);
  return {static_cast<int64_t>(std::ldexp(value, fraction - exponent)), exponent};
}

int64_t ShiftedDown(int64_t value, int shift) {
  // Zeros have no say in where the sum is aligned: they may be far above it.
  if (value == 0) return 0;
  if (shift <= 0) return value << -shift;
  if (shift > 62) return 0;
  return value < 0 ? -(-value >> shift) : value >> shift;
}

// digits * 2^exponent with `most` digits, towards zero.
float TowardsZero(int64_t digits, int exponent, int most) {
  if (digits == 0) return 0;
  uint64_t magnitude = digits < 0 ? -static_cast<uint64_t>(digits) : digits;
  const int width = std::bit_width(magnitude);
  // Subnormal results have fewer digits.
  const int dropped = std::max(width - most, -149 - exponent);
  if (dropped > 0) {
    magnitude = dropped > 63 ? 0 : magnitude >> dropped;
    exponent += dropped;
  }
  const double value = std::ldexp(static_cast<double>(magnitude), exponent);
  const float result = value > 0x1.fffffep127 ? 0x1.fffffep127f : static_cast<float>(value);
  return digits < 0 ? -result : result;
}

struct FloatFormat {
  int fraction;  // bits behind the point of an operand
  int least;     // exponent of its smallest normal number
};

FloatFormat FormatOf(MatrixType type) {
  switch (type) {
    case MatrixType::kHalf:
      return {10, -14};
    case MatrixType::kBrain:
      return {7, -126};
    case MatrixType::kTf32:
      return {10, -126};
    case MatrixType::kE4M3:
      return {3, -6};
    default:
      return {2, -14};
  }
}

bool IsF8(MatrixType type) { return type == MatrixType::kE4M3 || type == MatrixType::kE5M2; }
bool IsInteger(MatrixType type) { return type == MatrixType::kS8 || type == MatrixType::kU8; }

// The form of operands, and the rounding of sums.
struct SumForm {
  FloatFormat a, b;
  int terms;          // that are added at once
  int fraction_bits;  // behind the point of the largest
  int digits;         // of a sum
};

SumForm SumFormOf(const MatrixOp& op, const TensorCore& core) {
  SumForm form = {FormatOf(op.a_type), FormatOf(op.b_type), core.terms, core.fraction_bits, 24};
  if (op.a_type == MatrixType::kTf32) form.terms /= 2;
  if (IsF8(op.a_type)) {
    form.terms = 2 * core.terms;
    form.fraction_bits = core.f8_fraction_bits;
    form.digits = std::min(24, core.f8_fraction_bits + 1);
  }
  form.terms = std::clamp(form.terms, 1, op.depth);
  return form;
}

// c + the products of one group.
float AddProducts(float c, const float* a, const float* b, int count, const SumForm& form) {
  double plain = c;
  bool is_finite = std::isfinite(c);
  for (int k = 0; k < count; ++k) {
    is_finite = is_finite && std::isfinite(a[k]) && std::isfinite(b[k]);
    plain += static_cast<double>(a[k]) * b[k];
  }
  if (!is_finite) return static_cast<float>(plain);
  const Scaled start = ScaledOf(c, 23, -126);
  int most = start.exponent;
  std::array<Scaled, 32> terms;
  for (int k = 0; k < count; ++k) {
    const Scaled x = ScaledOf(a[k], form.a.fraction, form.a.least);
    const Scaled y = ScaledOf(b[k], form.b.fraction, form.b.least);
    terms[k] = {x.digits * y.digits, x.exponent + y.exponent};
    if (terms[k].digits != 0) most = std::max(most, terms[k].exponent);
  }
  int64_t sum = ShiftedDown(start.digits, 23 - form.fraction_bits + most - start.exponent);
  for (int k = 0; k < count; ++k) {
    sum += ShiftedDown(terms[k].digits, form.a.fraction + form.b.fraction - form.fraction_bits +
                                            most - terms[k].exponent);
  }
  return TowardsZero(sum, most - form.fraction_bits, form.digits);
}

// The elements of A and B (8 columns), put together from what lanes hold.
template <class T>
struct Elements {
  std::array<std::array<T, 32>, 16> a = {};
  std::array<std::array<T, 32>, 8> b = {};
};

// Each operand of the instruction holds `each` elements side by side of a row; those of A go down
// 8 rows, then along.
struct Place {
  int row, column;
};
Place PlaceInA(int lane, int number, int each, int rows) {
  const int held = number / each, halves = rows / 8;
  return {lane / 4 + held % halves * 8, lane % 4 * each + number % each + held / halves * 4 * each};
}
Place PlaceInB(int lane, int number, int each) {
  return {lane / 4, lane % 4 * each + number % each + number / each * 4 * each};
}
Place PlaceInC(int lane, int k) { return {lane / 4 + k / 2 * 8, lane % 4 * 2 + k % 2}; }

// All elements of both; `element(places, type, lane, k)` reads one.
template <class T, class Element>
Elements<T> Gather(const MatrixOp& op, int each, const Element& element) {
  Elements<T> all;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int k = 0; k < op.rows * op.depth / kLanes; ++k) {
      const Place at = PlaceInA(lane, k, each, op.rows);
      all.a[at.row][at.column] = element(op.a, op.a_type, lane, k);
    }
    for (int k = 0; k < 8 * op.depth / kLanes; ++k) {
      const Place at = PlaceInB(lane, k, each);
      all.b[at.row][at.column] = element(op.b, op.b_type, lane, k);
    }
  }
  return all;
}

float E4M3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::nanf("");
  const float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                    : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (bits & 0x80) != 0 ? -value : value;
}

}  // namespace

int Warp::IntegerElement(const std::vector<Register>& places, MatrixType type, int lane, int k) {
  const uint8_t byte = At<uint8_t>(places[k / 4])[lane * 4 + k % 4];
  return type == MatrixType::kS8 ? static_cast<int8_t>(byte) : static_cast<int>(byte);
}

float Warp::FloatElement(const std::vector<Register>& places, MatrixType type, int lane, int k) {
  switch (type) {
    case MatrixType::kHalf:  // two registers of 16 bits
      return ToFloat(Half{At<uint16_t>(places[k])[lane]});
    case MatrixType::kBrain:  // one of 32
      return ToFloat(Brain{At<uint16_t>(places[k / 2])[lane * 2 + k % 2]});
    case MatrixType::kTf32:  // the low bits are not looked at
      return BitsAs<float>(At<uint32_t>(places[k])[lane] & ~uint32_t{0x1fff});
    case MatrixType::kE4M3:
      return E4M3(At<uint8_t>(places[k / 4])[lane * 4 + k % 4]);
    default: {
      const uint8_t byte = At<uint8_t>(places[k / 4])[lane * 4 + k % 4];
      return ToFloat(Half{static_cast<uint16_t>(byte << 8)});
    }
  }
}

void Warp::IntegerMatrix(const MatrixOp& op) {
  const auto all =
      Gather<int32_t>(op, 4, [&](const auto& places, MatrixType type, int lane, int k) {
        return IntegerElement(places, type, lane, k);
      });
  std::array<std::array<uint32_t, kLanes>, 4> results;
  for (size_t k = 0; k < op.results.size(); ++k) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place at = PlaceInC(lane, static_cast<int>(k));
      uint32_t sum = At<uint32_t>(op.c[k])[lane];
      for (int d = 0; d < op.depth; ++d) {
        sum += static_cast<uint32_t>(all.a[at.row][d] * all.b[at.column][d]);
      }
      results[k][lane] = sum;
    }
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    Put(op.results[k], results[k].data(), 4, op.is_local);
  }
}

// Products of f64 are added one after the other, each with one rounding.
void Warp::DoubleMatrix(const MatrixOp& op) {
  const auto all = Gather<double>(op, 1, [&](const auto& places, MatrixType, int lane, int k) {
    return At<double>(places[k])[lane];
  });
  const LaneFunction fused = launch_.lanes.ops[kFma][kF64];
  std::array<std::array<double, kLanes>, 4> sums;
  for (size_t k = 0; k < op.results.size(); ++k) {
    alignas(64) std::array<double, kLanes> x, y, sum, next;
    std::memcpy(sum.data(), At<double>(op.c[k]), sizeof sum);
    for (int d = 0; d < op.depth; ++d) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Place at = PlaceInC(lane, static_cast<int>(k));
        x[lane] = all.a[at.row][d];
        y[lane] = all.b[at.column][d];
      }
      fused(next.data(), x.data(), y.data(), sum.data());
      sum = next;
    }
    sums[k] = sum;
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    Put(op.results[k], sums[k].data(), 8, op.is_local);
  }
}

void Warp::FloatMatrix(const MatrixOp& op) {
  const int each = op.a_type == MatrixType::kTf32 ? 1 : IsF8(op.a_type) ? 4 : 2;
  const auto all =
      Gather<float>(op, each, [&](const auto& places, MatrixType type, int lane, int k) {
        return FloatElement(places, type, lane, k);
      });
  const SumForm form = SumFormOf(op, launch_.options.tensor_core);
  std::array<std::array<float, kLanes>, 4> results;
  for (size_t k = 0; k < op.results.size(); ++k) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place at = PlaceInC(lane, static_cast<int>(k));
      float sum = At<float>(op.c[k])[lane];
      for (int d = 0; d < op.depth; d += form.terms) {
        sum = AddProducts(sum, &all.a[at.row][d], &all.b[at.column][d],
                          std::min(form.terms, op.depth - d), form);
      }
      results[k][lane] = sum;
    }
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    Put(op.results[k], results[k].data(), 4, op.is_local);
  }
}

bool Warp::Matrix(const MatrixOp& op) {
  if (!TakesPart(~uint32_t{0}, "a product of matrices")) return false;
  if (IsInteger(op.a_type)) {
    IntegerMatrix(op);
  } else if (op.a_type == MatrixType::kDouble) {
    DoubleMatrix(op);
  } else {
    FloatMatrix(op);
  }
  return true;
}

}  // namespace assay::gpu
