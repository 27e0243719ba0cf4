// Bounds of conversions between the types that C++ computes.
#include "reference/bounds/elementwise/convert.h"

#include <limits>

#include "absl/algorithm/container.h"
#include "reference/values/narrow_types.h"

namespace assay::reference {
namespace {

// `x` in the type in which bounds of another element type are computed.
template <typename To, typename From>
Range<To> Recast(const Range<From>& range) {
  return {static_cast<To>(range.centre),
          static_cast<To>(range.radius) + static_cast<To>(std::fabs(range.centre) * From{0x1p-52}) *
                                              (sizeof(To) < sizeof(From) ? 1 : 0),
          range.flags};
}

template <typename To>
constexpr bool IsNarrowerThan(int precision) {
  return FormatOf<To>::kPrecision < precision;
}

// True if the f32 that `convert` makes of an f64 is made an f64 again, as which it may be what it
// was.
bool IsConvertedBack(ClauseSet clauses, const Instruction& convert) {
  if (!clauses.Has(ClauseId::kExcessPrecision)) return false;
  return absl::c_any_of(convert.users(), [](const Instruction* user) {
    return user->opcode() == Opcode::kConvert && user->shape().element_type() == ElementType::kF64;
  });
}

// Ops may read element i, which was rounded, as `unrounded` too, if it is a number of f32's range:
// what is infinite or zero there stays so.
void KeepUnrounded(Array& result, int64_t i, Range<double> unrounded) {
  const Range<double> plain = Point<float>(result.literal.data<float>()[i]);
  unrounded = WithinRange<float>(unrounded);
  if (!unrounded.HasFinite() || (plain.HasFinite() && plain.centre == 0)) return;
  const uint32_t flags = result.facts().BoundOf(i).flags;
  if ((flags & kForced) == 0) {
    const Range<double> rounded = RangeOfBound<double>(result.facts().bounds[i]);
    Store(result, i, HullOf(rounded, unrounded), flags & (kMayFlush | kMayBeZero));
  } else if (plain.flags != unrounded.flags || plain.centre != unrounded.centre) {
    Store(result, i, HullOf(plain, unrounded), uint32_t{kForced} | kAnyView);
  }
}

}  // namespace

absl::Status BoundFloatToFloat(const OpContext& op, Array& result) {
  DispatchReal(op.literal(0).element_type(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchReal(op.type(), [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      using W = Wide<To>;
      const int64_t count = op.count();
      if constexpr (std::is_same_v<From, To>) {
        for (int64_t i = 0; i < count && !op.array(0).facts().bounds.empty(); ++i)
          MoveBound(op.array(0), i, result, i);
        return;
      }
      constexpr bool kRounds = IsNarrowerThan<To>(FormatOf<From>::kPrecision) ||
                               FormatOf<To>::kMaxExponent < FormatOf<From>::kMaxExponent;
      constexpr bool kMayGoBack = std::is_same_v<From, double> && std::is_same_v<To, float>;
      const bool goes_back = kMayGoBack && IsConvertedBack(op.clauses, op.instruction);
      for (int64_t i = 0; i < count; ++i) {
        const Range<Wide<From>> seen = Seen<From>(op.clauses, op.array(0), i);
        const Range<W> x = Recast<W>(seen);
        if (seen.Single()) {
          FinishSingle<To>(op.clauses, result, i, x, View::kNone);
        } else if (kRounds) {
          FinishRounded<To>(op.clauses, result, i, x, View::kNone);
        } else {
          FinishExact<To>(op.clauses, result, i, x);
        }
        if constexpr (kMayGoBack) {
          if (goes_back) KeepUnrounded(result, i, x);
        }
      }
    });
  });
  return absl::OkStatus();
}

// Stores the integers between the images of the ends, and 0 for a NaN.
template <typename To, typename W>
std::vector<uint64_t> IntegersBetween(const Range<W>& range) {
  std::vector<uint64_t> codes;
  auto add = [&codes](To value) {
    codes.push_back(static_cast<uint64_t>(static_cast<std::make_unsigned_t<To>>(value)));
  };
  if (range.HasFinite()) {
    const W slop = std::fabs(range.centre) * kSlop<W>;
    const To low = SaturatingTruncate<To>(range.low() - slop);
    const To high = SaturatingTruncate<To>(range.high() + slop);
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (span >= kMaxChoices) return {};
    for (uint64_t k = 0; k <= span; ++k) add(static_cast<To>(static_cast<uint64_t>(low) + k));
  }
  if ((range.flags & kMayBePosInf) != 0) add(std::numeric_limits<To>::max());
  if ((range.flags & kMayBeNegInf) != 0) add(std::numeric_limits<To>::min());
  if ((range.flags & kMayBeNan) != 0) add(0);
  return codes;
}

absl::Status BoundFloatToOther(const OpContext& op, Array& result) {
  DispatchReal(op.literal(0).element_type(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchComputed(op.type(), [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      if constexpr (!kIsReal<To>) {
        const int64_t count = op.count();
        for (int64_t i = 0; i < count; ++i) {
          const auto x = Seen<From>(op.clauses, op.array(0), i);
          if (x.Single()) continue;
          if (x.Undecided()) {
            SetUndecided(result, i);
          } else if constexpr (kIsPred<To>) {
            const bool may_be_zero = x.Contains(0);
            const bool may_be_other = x.radius != 0 || x.centre != 0 ||
                                      (x.flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf)) != 0;
            if (may_be_zero && may_be_other) SetCodes(result, i, {0, 1});
          } else {
            SetCodes(result, i, IntegersBetween<To>(x));
          }
        }
      }
    });
  });
  return absl::OkStatus();
}

// A set of integers becomes the interval between the least and the greatest. A forced integer is
// converted with one rounding, which a narrow result may skip.
absl::Status BoundOtherToFloat(const OpContext& op, Array& result) {
  const Literal& operand = op.literal(0);
  const bool any_view = op.clauses.Has(ClauseId::kExcessPrecision);
  DispatchComputed(operand.element_type(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchReal(op.type(), [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      using W = Wide<To>;
      if constexpr (!kIsReal<From>) {
        if (op.array(0).facts().choices.empty() && !(kIsNarrow<To> && any_view)) return;
        absl::Span<const From> in = operand.data<From>();
        for (int64_t i = 0; i < op.count(); ++i) {
          if (!op.array(0).facts().choices.contains(i)) {
            FinishSingle<To>(op.clauses, result, i, {static_cast<W>(in[i]), 0, 0}, View::kNone);
            continue;
          }
          const std::vector<uint64_t> codes = CodesOf(op.array(0), i);
          if (codes.empty()) {
            SetUndecided(result, i);
            continue;
          }
          Range<W> x{0, 0, kNotFinite};
          for (uint64_t code : codes)
            x = HullOf(x, Range<W>{static_cast<W>(static_cast<From>(code)), 0, 0});
          FinishRounded<To>(op.clauses, result, i, x, View::kNone);
        }
      }
    });
  });
  return absl::OkStatus();
}

// Bits of elements that are not forced are unknown, and so are those of a NaN.
absl::Status BoundBitcastConvert(const OpContext& op, Array& result) {
  const Array& operand = op.array(0);
  const int64_t from = operand.literal.element_count(), to = op.count();
  const bool moved_only = IsMovedOnly(*op.instruction.operand(0));
  if (from == 0 || to == 0) return absl::OkStatus();
  if (from == to) {
    for (int64_t i = 0; i < to; ++i) ReinterpretBound(operand, i, result, i, moved_only);
    return absl::OkStatus();
  }
  // Element i of the longer side belongs to element i / ratio of the shorter one.
  const int64_t ratio = from > to ? from / to : to / from;
  for (int64_t i = 0; i < from; ++i) {
    if (HasKnownCode(operand, i, moved_only)) continue;
    if (from > to) {
      SetUndecided(result, i / ratio);
    } else {
      for (int64_t k = 0; k < ratio; ++k) SetUndecided(result, i * ratio + k);
    }
  }
  return absl::OkStatus();
}

absl::Status BoundReducePrecision(const OpContext& op, Array& result) {
  const FloatFormat& format = Format(op.type());
  if (IsNarrowType(op.type())) {
    for (int64_t i = 0; i < op.count(); ++i)
      if (!HasKnownCode(op.array(0), i, true) || IsSeenUnrounded(op.array(0), i))
        SetUndecided(result, i);
    return absl::OkStatus();
  }
  const auto& attributes = op.instruction.attributes();
  const int exponent_bits = static_cast<int>(attributes.Integer(Attr::kExponentBits));
  const int mantissa_bits = static_cast<int>(attributes.Integer(Attr::kMantissaBits));
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for (int64_t i = 0; i < op.count(); ++i) {
      // Without a mantissa a NaN becomes +infinity; XLA:CPU 0.10.2 keeps it a NaN.
      if (op.analysis.is_xla && mantissa_bits == 0 &&
          std::isnan(Widen<W>(op.literal(0).data<T>()[i]))) {
        Store(result, i, Range<W>::Unknown(), 0);
        continue;
      }
      const Range<W> x = Seen<T>(op.clauses, op.array(0), i);
      if (x.Single()) continue;
      if (!x.HasFinite() || x.flags != 0) {
        Store(result, i, Range<W>::Unknown(), 0);
        continue;
      }
      // The op never falls: results lie between the images of the ends. What a narrow type has not
      // rounded yet may be reduced before it is.
      auto image_in = [&](auto stored, const FloatFormat& in) {
        uint64_t code = 0;
        std::memcpy(&code, &stored, sizeof(stored));
        return static_cast<W>(
            DecodeFloat(in, ReducePrecision(in, exponent_bits, mantissa_bits, code)));
      };
      const W slop = std::fabs(x.centre) * kSlop<W>;
      W low = image_in(Round<T>(x.low() - slop), format);
      W high = image_in(Round<T>(x.high() + slop), format);
      if constexpr (kIsNarrow<T>) {
        const FloatFormat& single = Format(ElementType::kF32);
        low = std::min(low, image_in(Round<float>(x.low() - slop), single));
        high = std::max(high, image_in(Round<float>(x.high() + slop), single));
      }
      if (!std::isfinite(low) || !std::isfinite(high)) {
        Store(result, i, Range<W>::Unknown(), 0);
        continue;
      }
      FinishStep<T>(op.clauses, result, i, Range<W>::Hull(low, high));
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
