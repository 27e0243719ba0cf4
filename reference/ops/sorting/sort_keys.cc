// Recognises comparators of one comparison and maps their operands to integers in order.
#include "reference/ops/sorting/sort_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/scalar/compare.h"

namespace assay::reference {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// ---- Recognition.

bool IsScalarConstant(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kConstant && instruction.literal() != nullptr &&
         instruction.shape().IsScalar() && IsFloat(instruction.shape().element_type());
}

bool IsCompare(const Instruction& instruction, Direction direction) {
  return instruction.opcode() == Opcode::kCompare && DirectionOf(instruction) == direction &&
         !IsTotalOrder(instruction);
}

// A parameter of the comparator, and what its side of the comparison does to it before.
struct Side {
  const Instruction* parameter = nullptr;
  bool folds_zeros = false, folds_nans = false, nan_is_negative = false;
  bool operator==(const Side& other) const {
    return folds_zeros == other.folds_zeros && folds_nans == other.folds_nans &&
           (!folds_nans || nan_is_negative == other.nan_is_negative);
  }
};

// Reads a side of the comparison: the parameter x, select(x == 0, 0, side), or
// select(x != x, nan, side).
std::optional<Side> SideOf(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kParameter) return Side{&instruction};
  if (instruction.opcode() != Opcode::kSelect) return std::nullopt;
  const Instruction &condition = *instruction.operand(0), &constant = *instruction.operand(1);
  std::optional<Side> side = SideOf(*instruction.operand(2));
  if (!side.has_value() || !IsScalarConstant(constant)) return std::nullopt;
  const double value = constant.literal()->GetDouble(0);
  if (IsCompare(condition, Direction::kNe) && condition.operand(0) == side->parameter &&
      condition.operand(1) == side->parameter && std::isnan(value)) {
    const FloatFormat& format = Format(constant.shape().element_type());
    side->folds_nans = true;
    side->nan_is_negative = constant.literal()->GetBits(0) >> (format.bits() - 1) != 0;
    return side;
  }
  if (IsCompare(condition, Direction::kEq) && condition.operand(0) == side->parameter &&
      IsScalarConstant(*condition.operand(1)) &&
      condition.operand(1)->literal()->GetDouble(0) == 0 && value == 0) {
    side->folds_zeros = true;
    return side;
  }
  return std::nullopt;
}

// ---- Keys.

// A number that orders encodings of floats by the total order, and integers by value.
template <typename T>
int64_t OrderedKey(T x) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<int64_t>(x ^ (uint64_t{1} << 63));
  } else {
    return TotalOrderKey(x);
  }
}

template <typename T>
class KeyMaker {
 public:
  explicit KeyMaker(const KeySource& source)
      : array_(source.array),
        order_(source.order),
        clauses_(source.clauses),
        moved_only_(source.moved_only),
        nans_tie_(source.nans_tie) {}

  // The key of the plain value.
  int64_t Plain(int64_t i) const {
    const T plain = array_.literal.data<T>()[i];
    int64_t key;
    if constexpr (kIsReal<T>) {
      key = RealKey(plain);
    } else {
      key = OrderedKey(plain);
    }
    return order_.descending ? ~key : key;  // reverses the order without overflow
  }

  SortKey Make(int64_t i) const {
    SortKey key;
    const T plain = array_.literal.data<T>()[i];
    if constexpr (kIsReal<T>) {
      key.plain = RealKey(plain);
      key.low = key.high = key.plain;
      Widen(i, plain, key);
    } else {
      key.plain = key.low = key.high = OrderedKey(plain);
      if (!array_.facts().choices.empty() && array_.facts().choices.contains(i))
        WidenByCodes(i, key);
    }
    if (order_.descending) {
      key.plain = ~key.plain;
      std::swap(key.low, key.high);
      key.low = ~key.low;
      key.high = ~key.high;
    }
    return key;
  }

 private:
  // True if both zeros are one: in IEEE comparison, and in the total order after folding zeros.
  bool OneZero() const { return !order_.total || order_.folds_zeros; }

  int64_t RealKey(T x) const {
    const double value = assay::reference::Widen<double>(x);
    if (value == 0 && OneZero()) return 0;
    if (std::isnan(value) && order_.folds_nans) return order_.nan_is_negative ? kLeast : kGreatest;
    return TotalOrderKey(x);
  }

  void WidenByCodes(int64_t i, SortKey& key) const {
    const std::vector<uint64_t> codes = CodesOf(array_, i);
    if (codes.empty()) {
      key.low = kLeast;
      key.high = kGreatest;
    }
    for (uint64_t code : codes) {
      const int64_t other = OrderedKey(static_cast<T>(code));
      key.low = std::min(key.low, other);
      key.high = std::max(key.high, other);
    }
  }

  void WidenBy(double value, SortKey& key) const {
    // The ends of an interval lie between values of the type; two keys make up for rounding them.
    const int64_t at = RealKey(Round<T>(value));
    key.low = std::min(key.low, at - 2);
    key.high = std::max(key.high, at + 2);
  }

  void Widen(int64_t i, T plain, SortKey& key) const {
    const double value = assay::reference::Widen<double>(plain);
    const ElementBound bound = array_.facts().BoundOf(i);
    if ((bound.flags & kForced) != 0) {
      if (std::isnan(value)) WidenNan(key, moved_only_);
    } else if ((bound.flags & kUndecided) != 0) {
      key.low = kLeast;
      key.high = kGreatest;
      key.may_be_unordered = !order_.total;
    } else {
      if ((bound.flags & kNotFinite) == 0) {
        WidenBy(bound.centre - bound.radius, key);
        WidenBy(bound.centre + bound.radius, key);
      }
      const double infinity = std::numeric_limits<double>::infinity();
      if ((bound.flags & kMayBePosInf) != 0) WidenBy(infinity, key);
      if ((bound.flags & kMayBeNegInf) != 0) WidenBy(-infinity, key);
      if ((bound.flags & (kMayFlush | kMayBeZero)) != 0) WidenBy(0, key);
      if ((bound.flags & kMayBeNan) != 0) WidenNan(key, false);
    }
    // A comparison may take a subnormal for zero; so may the one that folds zeros.
    const auto tiny = static_cast<double>(Tiny<T>());
    const bool subnormal = value != 0 && std::fabs(value) < tiny;
    if (clauses_.Has(ClauseId::kFlushSubnormals) && kFlushes<T> && OneZero() && subnormal) {
      key.low = std::min<int64_t>(key.low, 0);
      key.high = std::max<int64_t>(key.high, 0);
    }
  }

  void WidenNan(SortKey& key, bool known_bits) const {
    if (order_.folds_nans) {
      const int64_t at = order_.nan_is_negative ? kLeast : kGreatest;
      key.low = std::min(key.low, at);
      key.high = std::max(key.high, at);
    } else if (!order_.total) {
      key.may_be_unordered = true;
    } else if (!known_bits) {
      key.low = kLeast;
      key.high = kGreatest;
    } else if (nans_tie_) {
      const double infinity = std::numeric_limits<double>::infinity();
      const bool is_negative = key.plain < 0;
      const int64_t end = RealKey(Round<T>(is_negative ? -infinity : infinity));
      key.low = is_negative ? kLeast : end + 1;
      key.high = is_negative ? end - 1 : kGreatest;
    }
  }

  const Array& array_;
  const KeyOrder& order_;
  ClauseSet clauses_;
  bool moved_only_, nans_tie_;
};

}  // namespace

std::optional<KeyOrder> RecognisedOrder(const Computation& comparator) {
  const Instruction& root = *comparator.root();
  if (root.opcode() != Opcode::kCompare) return std::nullopt;
  const std::optional<Side> a = SideOf(*root.operand(0)), b = SideOf(*root.operand(1));
  if (!a.has_value() || !b.has_value() || !(*a == *b)) return std::nullopt;
  const int64_t p = a->parameter->parameter_number(), q = b->parameter->parameter_number();
  const ElementType type = a->parameter->shape().element_type();
  if (p / 2 != q / 2 || p == q || !IsComputed(type)) return std::nullopt;
  KeyOrder order;
  order.operand = p / 2;
  order.total = IsTotalOrder(root) && IsFloat(type);
  order.folds_zeros = a->folds_zeros;
  order.folds_nans = order.total && a->folds_nans;
  order.nan_is_negative = a->nan_is_negative;
  switch (DirectionOf(root)) {
    case Direction::kLt:
      break;
    case Direction::kGt:
      order.descending = true;
      break;
    case Direction::kLe:
      order.strict = false;
      break;
    case Direction::kGe:
      order.descending = true;
      order.strict = false;
      break;
    default:
      return std::nullopt;
  }
  if (p > q) order.descending = !order.descending;
  return order;
}

std::vector<SortKey> KeysOf(const KeySource& source, const Lines& lines, int64_t first,
                            int64_t last) {
  std::vector<SortKey> keys;
  keys.reserve((last - first) * lines.length);
  DispatchComputed(source.array.literal.element_type(), [&](auto tag) {
    const KeyMaker<typename decltype(tag)::type> maker(source);
    for (int64_t line = first; line < last; ++line)
      for (int64_t k = 0; k < lines.length; ++k) keys.push_back(maker.Make(lines.Element(line, k)));
  });
  return keys;
}

PositionRanges RangesByKeys(absl::Span<const SortKey> keys, bool stable) {
  const auto length = static_cast<int64_t>(keys.size());
  PositionRanges ranges(length);
  for (int64_t a = 0; a < length; ++a) {
    for (int64_t b = a + 1; b < length; ++b) {
      if (keys[a].high < keys[b].low || (stable && keys[a].high == keys[b].low)) {
        ranges.Before(a, b);
      } else if (keys[b].high < keys[a].low) {
        ranges.Before(b, a);
      }
    }
  }
  return ranges;
}

bool MayBeUnordered(const KeySource& source, const Lines& lines, int64_t first, int64_t last) {
  bool may = false;
  if (source.order.total || !IsFloat(source.array.literal.element_type())) return false;
  DispatchComputed(source.array.literal.element_type(), [&](auto tag) {
    const KeyMaker<typename decltype(tag)::type> maker(source);
    for (int64_t line = first; line < last && !may; ++line)
      for (int64_t k = 0; k < lines.length && !may; ++k)
        may = maker.Make(lines.Element(line, k)).may_be_unordered;
  });
  return may;
}

void OrderLine(const KeySource& source, const Lines& lines, int64_t line,
               absl::Span<int64_t> order) {
  DispatchComputed(source.array.literal.element_type(), [&](auto tag) {
    const KeyMaker<typename decltype(tag)::type> maker(source);
    auto sort_by = [&](auto key) {
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const int64_t x = key(a), y = key(b);
        return x != y ? x < y : a < b;
      });
    };
    // The keys of a long line are made anew for every comparison: to keep them would take more
    // memory than the elements.
    constexpr int64_t kMostKept = 1 << 16;
    if (lines.length > kMostKept)
      return sort_by([&](int64_t k) { return maker.Plain(lines.Element(line, k)); });
    std::vector<int64_t> keys(lines.length);
    for (int64_t k = 0; k < lines.length; ++k) keys[k] = maker.Plain(lines.Element(line, k));
    sort_by([&](int64_t k) { return keys[k]; });
  });
}

}  // namespace assay::reference
