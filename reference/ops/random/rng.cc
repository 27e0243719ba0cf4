// Random numbers that are drawn from a state which the program does not see. Document: operation
// semantics chapter 13, RngUniform and RngNormal.
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>

#include "reference/bounds/elements.h"
#include "reference/interpreter/interpreter.h"
#include "reference/ops/random/draw_tests.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// The neighbour of a finite value towards minus infinity.
template <typename T>
T NextBelow(T value) {
  using Code = std::conditional_t<sizeof(T) == 2, uint16_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  constexpr Code kSign = static_cast<Code>(Code{1} << (8 * sizeof(T) - 1));
  const auto code = std::bit_cast<Code>(value);
  if ((code & ~kSign) == 0) return std::bit_cast<T>(static_cast<Code>(kSign | 1));
  return std::bit_cast<T>(static_cast<Code>((code & kSign) != 0 ? code + 1 : code - 1));
}

template <typename T>
bool IsInterval(T a, T b) {
  using W = Wide<T>;
  return Widen<W>(a) < Widen<W>(b) && std::isfinite(Widen<W>(b) - Widen<W>(a));
}

template <typename T>
T DrawUniform(HiddenStream& stream, T a, T b) {
  const uint64_t bits = stream.Next();
  if constexpr (kIsReal<T>) {
    using W = Wide<T>;
    if (!IsInterval(a, b)) return a;
    constexpr int kBits = std::is_same_v<T, double> ? 52 : 23;
    const W unit = std::ldexp(static_cast<W>(bits >> (64 - kBits)), -kBits);
    const T value = Round<T>(Widen<W>(a) + (Widen<W>(b) - Widen<W>(a)) * unit);
    return Widen<W>(value) < Widen<W>(b) ? value : NextBelow(b);
  } else if constexpr (kIsPred<T>) {
    return (bits & 1) != 0;
  } else {
    if (b <= a) return a;
    const uint64_t size = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    return static_cast<T>(static_cast<uint64_t>(a) + bits % size);
  }
}

// Box-Muller, the uniform under the logarithm kept away from zero.
template <typename T>
T DrawNormal(HiddenStream& stream, T mean, T deviation) {
  const double u = std::max(1e-7, std::ldexp(static_cast<double>(stream.Next() >> 11), -53));
  const double v = std::ldexp(static_cast<double>(stream.Next() >> 11), -53);
  const double z = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  using W = Wide<T>;
  return Round<T>(Widen<W>(mean) + Widen<W>(deviation) * static_cast<W>(z));
}

// UNSPECIFIED(operation semantics 13, RngUniform): which value in [a, b) is drawn, and what is
// drawn where that is no interval.
template <typename T>
void BoundUniform(const OpContext& op, Array& result) {
  if constexpr (kIsReal<T>) {
    using W = Wide<T>;
    const T a = op.literal(0).data<T>()[0], b = op.literal(1).data<T>()[0];
    if (AllCertain(op) && IsInterval(a, b)) {
      // Measured, operation semantics chapter 19: XLA may round up to b in f16 and bf16.
      const T last = kIsNarrow<T> && op.analysis.is_xla ? b : NextBelow(b);
      for (int64_t i = 0; i < op.count(); ++i)
        FinishExact<T>(op.clauses, result, i, Range<W>::Hull(Widen<W>(a), Widen<W>(last)));
      return;
    }
  }
  MakeUndecided(result);
}

// UNSPECIFIED(operation semantics 13, RngNormal): which value is drawn, unless the deviation is
// zero; and then the sign of a mean of zero, to which a draw of either sign times zero is added.
template <typename T>
void BoundNormal(const OpContext& op, Array& result) {
  using W = Wide<T>;
  const bool constant = AllCertain(op) && Widen<W>(op.literal(1).data<T>()[0]) == 0 &&
                        std::isfinite(Widen<W>(op.literal(0).data<T>()[0]));
  if (!constant) return MakeUndecided(result);
  if (Widen<W>(op.literal(0).data<T>()[0]) != 0) return;
  for (int64_t i = 0; i < op.count(); ++i) FinishExact<T>(op.clauses, result, i, Range<W>{});
}

// More integers than these are not told apart: remainders of 32 random bits are uneven then.
constexpr uint64_t kMostIntegers = uint64_t{1} << 20;
// Most draws that are tested together.
constexpr int64_t kMostTested = int64_t{1} << 16;

// The distribution of draws with parameters a and b; none where the document leaves it open, or
// numbers near the end of their type would not be finite.
template <typename T>
std::optional<Distribution> DistributionOf(const OpContext& op, bool normal, T a, T b) {
  if constexpr (kIsPred<T>) {
    return Distribution{Distribution::kIntegers, op.type(), 0, 0, 2};
  } else if constexpr (!kIsReal<T>) {
    if (!AllCertain(op) || !(a < b)) return std::nullopt;
    const uint64_t size = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    if (size > kMostIntegers) return std::nullopt;
    return Distribution{Distribution::kIntegers, op.type(), static_cast<double>(a), 0, size};
  } else {
    using W = Wide<T>;
    if (!AllCertain(op)) return std::nullopt;
    const auto first = static_cast<double>(Widen<W>(a)), second = static_cast<double>(Widen<W>(b));
    const double largest = Format(op.type()).MaxFinite();
    if (normal) {
      // Numbers are spread finely enough about the mean, and none leaves the range.
      const bool fine = second > 0 && std::isfinite(first) && std::fabs(first) <= 8 * second &&
                        second >= Format(op.type()).MinNormal() * 0x1p20 && second <= largest / 64;
      if (!fine) return std::nullopt;
      return Distribution{Distribution::kNormal, op.type(), first, second, 0};
    }
    // An interval far from zero has few numbers.
    const double span = second - first;
    const bool fine = IsInterval(a, b) && std::isfinite(span) &&
                      span >= std::max(std::fabs(first), std::fabs(second)) / 4 &&
                      span >= Format(op.type()).MinNormal() * 0x1p20;
    if (!fine) return std::nullopt;
    return Distribution{Distribution::kUniform, op.type(), first, second, 0};
  }
}

template <typename T>
void JoinDraws(const OpContext& op, bool normal, Array& result) {
  const std::optional<Distribution> distribution =
      DistributionOf<T>(op, normal, op.literal(0).data<T>()[0], op.literal(1).data<T>()[0]);
  if (!distribution.has_value()) return;
  const auto joint = JointDraws(*distribution);
  for (int64_t i = 0; i < std::min(op.count(), kMostTested); ++i) SetJoint(result, i, joint, i);
}

absl::StatusOr<Value> ApplyRng(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(op.count()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  const bool normal = op.instruction.attributes().Word<RngDistribution>(Attr::kDistribution) ==
                      RngDistribution::kNormal;
  Array result{Literal(op.shape)};
  const bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T a = op.literal(0).data<T>()[0], b = op.literal(1).data<T>()[0];
    for (T& element : result.literal.data<T>()) {
      if constexpr (kIsReal<T>) {
        element = normal ? DrawNormal(interpreter.random(), a, b)
                         : DrawUniform(interpreter.random(), a, b);
      } else {
        element = DrawUniform(interpreter.random(), a, b);
      }
    }
    if (!interpreter.bounding()) return;
    if constexpr (kIsReal<T>) {
      if (normal) {
        BoundNormal<T>(op, result);
        return JoinDraws<T>(op, true, result);
      }
    }
    BoundUniform<T>(op, result);
    JoinDraws<T>(op, false, result);
  });
  if (!done) return UnsupportedType(op, op.type());
  return MakeValue(std::move(result), interpreter.memory());
}

// UNSPECIFIED(operation semantics 13, RngGetAndUpdateState): the state that a device begins with;
// here it is zero.
absl::StatusOr<Value> ApplyRngGetAndUpdateState(Interpreter& interpreter, const OpContext& op) {
  Array result{Literal(op.shape)};
  const unsigned __int128 state = interpreter.AdvanceRandomState(
      static_cast<uint64_t>(op.instruction.attributes().Integer(Attr::kDelta)));
  result.literal.data<uint64_t>()[0] = static_cast<uint64_t>(state);
  result.literal.data<uint64_t>()[1] = static_cast<uint64_t>(state >> 64);
  if (interpreter.bounding()) MakeUndecided(result);
  return MakeValue(std::move(result), interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> RngEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kRng, .apply = ApplyRng},
      {.opcode = Opcode::kRngGetAndUpdateState, .apply = ApplyRngGetAndUpdateState},
  };
  return kRows;
}

}  // namespace assay::reference
