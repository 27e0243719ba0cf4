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
  if (shift <= 0) return value << -shift;
  if (shift > 62) return 0;
  return value < 0 ? -(-value >> shift) : value >> shift;
}

// digits * 2^exponent, towards zero.
float TowardsZero(int64_t digits, int exponent) {
  if (digits == 0) return 0;
  uint64_t magnitude = digits < 0 ? -static_cast<uint64_t>(digits) : digits;
  const int width = std::bit_width(magnitude);
  // Subnormal results have fewer digits.
  const int dropped = std::max(width - 24, -149 - exponent);
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

// c + the products of one group.
float AddProducts(float c, const float* a, const float* b, int count, FloatFormat format,
                  const TensorCore& core) {
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
    const Scaled x = ScaledOf(a[k], format.fraction, format.least);
    const Scaled y = ScaledOf(b[k], format.fraction, format.least);
    terms[k] = {x.digits * y.digits, x.exponent + y.exponent};
    if (terms[k].digits != 0) most = std::max(most, terms[k].exponent);
  }
  int64_t sum = ShiftedDown(start.digits, 23 - core.fraction_bits + most - start.exponent);
  for (int k = 0; k < count; ++k) {
    sum += ShiftedDown(terms[k].digits,
                       2 * format.fraction - core.fraction_bits + most - terms[k].exponent);
  }
  return TowardsZero(sum, most - core.fraction_bits);
}

// The elements of A (16 rows) and B (8 columns), put together from what lanes hold.
template <class T>
struct Elements {
  std::array<std::array<T, 32>, 16> a = {};
  std::array<std::array<T, 32>, 8> b = {};
};

// Each register holds `each` elements side by side of a row; registers of A go down 8 rows, then
// along.
struct Place {
  int row, column;
};
Place PlaceInA(int lane, int number, int each) {
  const int held = number / each;
  return {lane / 4 + (held % 2) * 8, lane % 4 * each + number % each + held / 2 * 4 * each};
}
Place PlaceInB(int lane, int number, int each) {
  return {lane / 4, lane % 4 * each + number % each + number / each * 4 * each};
}

}  // namespace

bool Warp::Matrix(const MatrixOp& op) {
  if (!TakesPart(~uint32_t{0}, "a product of matrices")) return false;
  alignas(64) std::array<std::array<uint32_t, kLanes>, 4> results;
  const auto place_of_c = [](int lane, int k) {
    return Place{lane / 4 + k / 2 * 8, lane % 4 * 2 + k % 2};
  };
  if (op.type == MatrixType::kInteger) {
    Elements<int32_t> all;
    const auto element = [&](Register place, int lane, int k, bool is_signed) {
      const uint8_t byte = At<uint8_t>(place)[lane * 4 + k];
      return is_signed ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
    };
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < 4 * static_cast<int>(op.a.size()); ++k) {
        const Place at = PlaceInA(lane, k, 4);
        all.a[at.row][at.column] = element(op.a[k / 4], lane, k % 4, op.a_is_signed);
      }
      for (int k = 0; k < 4 * static_cast<int>(op.b.size()); ++k) {
        const Place at = PlaceInB(lane, k, 4);
        all.b[at.row][at.column] = element(op.b[k / 4], lane, k % 4, op.b_is_signed);
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        const Place at = place_of_c(lane, k);
        uint32_t sum = At<uint32_t>(op.c[k])[lane];
        for (int d = 0; d < op.depth; ++d) {
          sum += static_cast<uint32_t>(all.a[at.row][d] * all.b[at.column][d]);
        }
        results[k][lane] = sum;
      }
    }
  } else {
    const bool is_half = op.type == MatrixType::kHalf;
    // Halves come as two registers of 16 bits, bfloats as one of 32.
    const auto element = [&](const std::vector<Register>& places, int lane, int k) {
      if (is_half) return ToFloat(Half{At<uint16_t>(places[k])[lane]});
      return ToFloat(Brain{At<uint16_t>(places[k / 2])[lane * 2 + k % 2]});
    };
    Elements<float> all;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < op.depth / 2; ++k) {
        const Place at = PlaceInA(lane, k, 2);
        all.a[at.row][at.column] = element(op.a, lane, k);
      }
      for (int k = 0; k < op.depth / 4; ++k) {
        const Place at = PlaceInB(lane, k, 2);
        all.b[at.row][at.column] = element(op.b, lane, k);
      }
    }
    const FloatFormat format = is_half ? FloatFormat{10, -14} : FloatFormat{7, -126};
    const TensorCore& core = launch_.options.tensor_core;
    const int step = std::clamp(core.terms, 1, op.depth);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        const Place at = place_of_c(lane, k);
        float sum = At<float>(op.c[k])[lane];
        for (int d = 0; d < op.depth; d += step) {
          sum = AddProducts(sum, &all.a[at.row][d], &all.b[at.column][d],
                            std::min(step, op.depth - d), format, core);
        }
        std::memcpy(&results[k][lane], &sum, 4);
      }
    }
  }
  for (int k = 0; k < 4; ++k) Put(op.results[k], results[k].data(), 4, op.is_local);
  return true;
}

}  // namespace assay::gpu
