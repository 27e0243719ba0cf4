// The loops over batches of f32 bounds. They have no branches, so that compilers make them take
// several elements at once.
#include "reference/bounds/elementwise/float_loop.h"

#include <cstddef>
#include <cstring>

#include "reference/bounds/elementwise/binary.h"

namespace assay::reference {
namespace {

constexpr int64_t kProductFlags = int64_t{kForced} | kSumView;

// A word of ones if the condition holds, else of zeros.
int64_t Mask(bool condition) { return -static_cast<int64_t>(condition); }
double Masked(double x, int64_t mask) {
  return std::bit_cast<double>(std::bit_cast<int64_t>(x) & mask);
}

// Views bounds as raw words, so that loops vectorize over several bounds: centre, centre_low,
// radius, and flags in the lower half of the last one.
using Word [[gnu::may_alias]] = int64_t;
constexpr int kWords = 4;
static_assert(sizeof(ElementBound) == kWords * sizeof(Word));
static_assert(offsetof(ElementBound, centre) == 0 && offsetof(ElementBound, centre_low) == 8 &&
              offsetof(ElementBound, radius) == 16 && offsetof(ElementBound, flags) == 24);
static_assert(std::endian::native == std::endian::little);

// Elements of an operand as [centre - radius, centre + radius].
struct BatchOperand {
  double centre[kBatch], radius[kBatch];
  int64_t is_special[kBatch];  // not to be read so

  void Read(const Array& array, Consumer consumer, int64_t begin, int count) {
    float values[kBatch] = {};
    std::memcpy(values, array.literal.data<float>().data() + begin, count * sizeof(float));
    if (array.facts().bounds.empty()) {
      for (int k = 0; k < kBatch; ++k) {
        centre[k] = values[k];
        radius[k] = 0;
        is_special[k] = 0;
      }
      return;
    }
    Word padded[kWords * kBatch];
    const Word* words = reinterpret_cast<const Word*>(array.facts().bounds.data() + begin);
    if (count < kBatch) {
      std::memset(padded, 0, sizeof(padded));
      std::memcpy(padded, words, count * sizeof(ElementBound));
      words = padded;
    }
    // Forced elements and others come in no order that a processor could predict branches from.
    const int64_t view_flags = consumer == Consumer::kSum ? kProductFlags : 0;
    for (int k = 0; k < kBatch; ++k) {
      const int64_t flags = words[kWords * k + 3] & int64_t{0xFFFFFFFF};
      const auto low = std::bit_cast<double>(int64_t{words[kWords * k + 1]});
      const double reach = std::bit_cast<double>(int64_t{words[kWords * k + 2]}) + std::fabs(low);
      // RangeOfBound does the same: it takes the next number where the trailing part was added.
      const auto stored_radius =
          std::bit_cast<double>(std::bit_cast<int64_t>(reach) + (low != 0 ? 1 : 0));
      const int64_t is_view = Mask(flags == kProductFlags) & Mask(view_flags != 0);
      const int64_t is_interval = Mask(flags == 0) | is_view;
      const double value = values[k];
      const double middle = std::bit_cast<double>(int64_t{words[kWords * k]}) + low;
      centre[k] = std::bit_cast<double>((std::bit_cast<int64_t>(middle) & is_interval) |
                                        (std::bit_cast<int64_t>(value) & ~is_interval));
      radius[k] = Masked(stored_radius, is_interval);
      // Scaling by a power of two may pass a product's view on. A view without radius would be read
      // like a number, but is none.
      is_special[k] =
          (~is_interval & Mask(flags != kForced)) | (is_view & Mask(stored_radius == 0));
    }
  }
};

// The results of a batch, and whether each is stored.
struct BatchResult {
  double centre[kBatch], radius[kBatch];
  double is_fine[kBatch];  // 0 or 1
  int64_t is_special[kBatch], is_forced[kBatch];
  int64_t flags[kBatch];
};

// The spacing of f32 at a magnitude in the range of the loop.
inline double UlpInLoop(double magnitude) {
  constexpr uint64_t kExponent = uint64_t{0x7FF} << 52;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) & kExponent) * 0x1p-23;
}

// Products that additions may see unrounded; `got` holds the plain values.
template <typename Rule>
void BoundContracted(const BatchOperand& a, const BatchOperand& b, const double* got,
                     BatchResult& out) {
  for (int k = 0; k < kBatch; ++k) {
    const Range<double> exact = Rule::Finite(Range<double>{a.centre[k], a.radius[k], 0},
                                             Range<double>{b.centre[k], b.radius[k], 0});
    const double size = std::fabs(exact.centre), magnitude = size + exact.radius;
    const int is_single = a.radius[k] + b.radius[k] == 0;
    const double of_view = std::max(size * kSlop<double>, std::fabs(exact.centre - got[k]));
    const double of_interval =
        exact.radius + (UlpInLoop(magnitude) / 2 + magnitude * kSlop<double>);
    const double radius = is_single ? of_view : of_interval;
    // A product of two numbers is rounded like any other: the range is that of the exact product.
    const double reach = is_single ? 0 : radius;
    const int is_fine = IsInLoopRange(a.centre[k], a.radius[k]) &
                        IsInLoopRange(b.centre[k], b.radius[k]) &
                        (((size - reach >= kLeastLoopFloat) & (size + reach <= kMostLoopFloat)) |
                         (size + a.radius[k] + b.radius[k] == 0));
    out.centre[k] = exact.centre;
    out.radius[k] = radius;
    out.is_fine[k] = is_fine ? 1 : 0;
  }
  for (int k = 0; k < kBatch; ++k) {
    const double radius = a.radius[k] + b.radius[k];
    out.is_forced[k] = Mask(std::fabs(out.centre[k] - got[k]) + radius == 0);
    out.flags[k] = Mask(radius == 0) & kProductFlags;
  }
}

// Results that are rounded: the images of the ends and what lies between.
template <typename Rule>
void BoundRounded(const BatchOperand& a, const BatchOperand& b, const double* got,
                  BatchResult& out) {
  for (int k = 0; k < kBatch; ++k) {
    const Range<double> exact = Rule::Finite(Range<double>{a.centre[k], a.radius[k], 0},
                                             Range<double>{b.centre[k], b.radius[k], 0});
    const double slop = (std::fabs(exact.centre) + exact.radius) * kSlop<double>;
    const double low = static_cast<float>(exact.low() - slop);
    const double high = static_cast<float>(exact.high() + slop);
    // These are the steps of Range::Hull.
    const double middle = low / 2 + high / 2, half = high / 2 - low / 2;
    const double around =
        half + (std::fabs(middle) + half) * std::numeric_limits<double>::epsilon();
    const double centre = low == high ? low : middle;
    const double radius = low == high ? 0 : around;
    const int is_fine = IsInLoopRange(a.centre[k], a.radius[k]) &
                        IsInLoopRange(b.centre[k], b.radius[k]) &
                        IsInLoopRange(exact.centre, exact.radius) & IsInLoopRange(centre, radius);
    out.centre[k] = centre;
    out.radius[k] = radius;
    out.is_fine[k] = is_fine ? 1 : 0;
  }
  for (int k = 0; k < kBatch; ++k) {
    // The sum of two numbers is the plain value, although the slop widens its range.
    const double of_operands = a.radius[k] + b.radius[k];
    const double off = std::fabs(out.centre[k] - got[k]) + out.radius[k];
    out.is_forced[k] = Mask(std::min(of_operands, off) == 0);
    out.flags[k] = 0;
  }
}

template <typename Rule>
int BoundBatch(const OpContext& op, Array& result, int64_t begin, int count,
               int (&special)[kBatch]) {
  BatchOperand a, b;
  a.Read(op.array(0), Rule::kConsumer, begin, count);
  b.Read(op.array(1), Rule::kConsumer, begin, count);
  float plain[kBatch] = {};
  std::memcpy(plain, result.literal.data<float>().data() + begin, count * sizeof(float));
  double got[kBatch];
  for (int k = 0; k < kBatch; ++k) got[k] = plain[k];
  BatchResult out;
  bool is_done = false;
  if constexpr (Rule::kView == View::kSum) {
    if (op.clauses.Has(ClauseId::kContraction)) {
      BoundContracted<Rule>(a, b, got, out);
      is_done = true;
    }
  }
  if (!is_done) BoundRounded<Rule>(a, b, got, out);
  int64_t any_special = 0, all_left_out = -1;
  for (int k = 0; k < kBatch; ++k) {
    out.is_special[k] = a.is_special[k] | b.is_special[k] | Mask(out.is_fine[k] == 0);
    out.is_forced[k] |= out.is_special[k];  // to begin with
    any_special |= out.is_special[k];
    all_left_out &= out.is_forced[k];
  }
  if (all_left_out == 0) {
    if (result.facts().bounds.empty()) MakeBounds(result);
    Word padded[kWords * kBatch];
    Word* const bounds = reinterpret_cast<Word*>(result.facts().bounds.data() + begin);
    Word* const words = count < kBatch ? padded : bounds;
    for (int k = 0; k < kBatch; ++k) {
      const int64_t is_stored = ~out.is_forced[k];
      words[kWords * k] = std::bit_cast<int64_t>(Masked(out.centre[k], is_stored));
      words[kWords * k + 1] = 0;
      words[kWords * k + 2] = std::bit_cast<int64_t>(Masked(out.radius[k], is_stored));
      words[kWords * k + 3] = (out.flags[k] & is_stored) | (int64_t{kForced} & ~is_stored);
    }
    if (count < kBatch) std::memcpy(bounds, padded, count * sizeof(ElementBound));
  }
  int specials = 0;
  for (int k = 0; k < count && any_special != 0; ++k)
    if (out.is_special[k] != 0) special[specials++] = k;
  return specials;
}

#ifdef __x86_64__
// Runs the loop above on four elements at once. Results are the same, for nothing is fused.
template <typename Rule>
[[gnu::target("avx2"), gnu::flatten]] int BoundBatchWide(const OpContext& op, Array& result,
                                                         int64_t begin, int count,
                                                         int (&special)[kBatch]) {
  return BoundBatch<Rule>(op, result, begin, count, special);
}
#endif

}  // namespace

template <typename Rule>
int BoundFloatBatch(const OpContext& op, Array& result, int64_t begin, int count,
                    int (&special)[kBatch]) {
  constexpr int kLeastBatch = 8;  // that is not sooner done one by one
  if (count < kLeastBatch) {
    for (int k = 0; k < count; ++k) special[k] = k;
    return count;
  }
#ifdef __x86_64__
  static const bool is_wide = __builtin_cpu_supports("avx2");
  if (is_wide) return BoundBatchWide<Rule>(op, result, begin, count, special);
#endif
  return BoundBatch<Rule>(op, result, begin, count, special);
}

template int BoundFloatBatch<AddBound>(const OpContext& op, Array& result, int64_t begin, int count,
                                       int (&special)[kBatch]);
template int BoundFloatBatch<SubtractBound>(const OpContext& op, Array& result, int64_t begin,
                                            int count, int (&special)[kBatch]);
template int BoundFloatBatch<MultiplyBound>(const OpContext& op, Array& result, int64_t begin,
                                            int count, int (&special)[kBatch]);

bool AnySubnormal(absl::Span<const float> values) {
  int any = 0;
  for (float x : values) any |= (std::fabs(x) <= std::numeric_limits<float>::min()) & (x != 0);
  return any != 0;
}

}  // namespace assay::reference
