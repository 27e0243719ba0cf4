// The uncertainty of single elements: moved, merged, reinterpreted, and found by trying all codes.
#include "reference/bounds/elements.h"

#include <algorithm>

#include "reference/values/property.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

bool HasBounds(const Array& array) { return BoundsPerElement(array.literal.element_type()) != 0; }

bool IsNanSlot(const Array& array, int64_t slot) {
  return IsNanCode(Format(array.literal.element_type()), array.literal.GetComponentBits(slot));
}

// All values that a slot may have for any consumer, as a range.
Range<long double> WholeRange(const Array& array, int64_t slot) {
  const ElementBound bound = array.facts().BoundOf(slot);
  Range<long double> x{static_cast<long double>(bound.centre) + bound.centre_low, bound.radius,
                       bound.flags & kSpecialFlags};
  if ((bound.flags & kMayBeZero) != 0) x = HullOf(x, Range<long double>{0, 0, kZeroSignFree});
  if ((bound.flags & kForced) == 0) return x;
  const Range<long double> plain = Point<double>(array.literal.GetComponent(slot));
  return (bound.flags & (kSumView | kAnyView)) != 0 ? HullOf(x, plain) : plain;
}

// Slot `to` may also be whatever slot `from` of `source` may be.
void HullSlots(const Array& source, int64_t from, Array& result, int64_t to) {
  const ElementBound a = result.facts().BoundOf(to), b = source.facts().BoundOf(from);
  const bool same_bits =
      result.literal.GetComponentBits(to) == source.literal.GetComponentBits(from) ||
      (IsNanSlot(result, to) && IsNanSlot(source, from));
  if (same_bits && a.flags == kForced && b.flags == kForced) return;
  MakeBounds(result);
  DropForm(result, to);
  Range<long double> hull = HullOf(WholeRange(result, to), WholeRange(source, from));
  constexpr uint32_t kViews = kSumView | kAnyView;
  result.facts().bounds[to].set_magnitude(std::max(a.magnitude(), b.magnitude()),
                                          a.has_known_terms() && b.has_known_terms());
  if (same_bits && (a.flags & b.flags & kForced) != 0) {
    Store(result, to, hull, kForced | ((a.flags | b.flags) & kViews));
    return;
  }
  if (hull.HasFinite() && hull.centre == 0 && hull.radius == 0) hull.flags |= kZeroSignFree;
  Store(result, to, hull, (a.flags | b.flags) & kMayFlush);
}

// The codes of an element that is certain or one of a few.
std::vector<uint64_t> Merge(std::vector<uint64_t> a, const std::vector<uint64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The codes that a float element may have, where they are known one by one: a tie, a select between
// two values. Empty if they are not known.
std::vector<uint64_t> KnownCodes(const Array& array, int64_t i) {
  if (!array.facts().choices.empty()) {
    auto it = array.facts().choices.find(i);
    if (it != array.facts().choices.end()) return it->second;
  }
  if (!IsFloat(array.literal.element_type())) return {};
  if ((array.facts().BoundOf(i).flags & kForced) == 0 || IsNanSlot(array, i)) return {};
  return {array.literal.GetBits(i)};
}

// True if the plain values are the same, bit for bit.
bool SameBits(const Array& a, int64_t i, const Array& b, int64_t j) {
  const int64_t width = std::max<int64_t>(BoundsPerElement(a.literal.element_type()), 1);
  for (int64_t k = 0; k < width; ++k)
    if (a.literal.GetComponentBits(i * width + k) != b.literal.GetComponentBits(j * width + k))
      return false;
  return true;
}

// Sets these codes beside the bound, or forgets them.
void SetKnownCodes(Array& result, int64_t i, std::vector<uint64_t> codes) {
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  if (codes.size() > 1 && codes.size() <= kMaxTies) {
    result.facts().choices[i] = std::move(codes);
  } else if (!result.facts().choices.empty()) {
    result.facts().choices.erase(i);
  }
}

// Takes over the entry of an element, or that it has none.
template <typename Entries>
void MoveEntry(const Entries& source, int64_t from, Entries& result, int64_t to) {
  if (source.empty() && result.empty()) return;
  const auto entry = source.find(from);
  if (entry == source.end()) {
    result.erase(to);
  } else {
    result.insert_or_assign(to, typename Entries::mapped_type(entry->second));
  }
}

}  // namespace

void MakeBounds(Array& result) {
  if (!HasBounds(result) || !result.facts().bounds.empty()) return;
  result.facts().bounds.assign(result.literal.component_count(), ElementBound{0, 0, 0, kForced});
}

void SetUndecided(Array& result, int64_t i) {
  DropJoint(result, i);
  const ElementType type = result.literal.element_type();
  if (const int64_t width = BoundsPerElement(type); width != 0) {
    MakeBounds(result);
    for (int64_t k = 0; k < width; ++k)
      result.facts().bounds[i * width + k] = {0, 0, 0, kUndecided};
    DropForm(result, i);
    if (!result.facts().choices.empty()) result.facts().choices.erase(i);
  } else if (IsPred(type)) {
    result.facts().choices[i] = {0, 1};
  } else {
    result.facts().choices[i] = {};
  }
}

void MakeUndecided(Array& result) {
  for (int64_t i = 0; i < result.literal.element_count(); ++i) SetUndecided(result, i);
}

void MoveForm(const Array& source, int64_t from, Array& result, int64_t to) {
  if (source.facts().forms.empty()) {
    DropForm(result, to);
    return;
  }
  if (result.facts().forms.empty()) result.facts().forms.resize(result.facts().bounds.size());
  result.facts().forms[to] = source.facts().forms[from];
}

void MoveBound(const Array& source, int64_t from, Array& result, int64_t to) {
  Facts& facts = result.facts();
  const Facts& theirs = source.facts();
  MoveEntry(theirs.origins, from, facts.origins, to);
  if (const int64_t width = BoundsPerElement(source.literal.element_type()); width != 0) {
    if (theirs.bounds.empty() && facts.bounds.empty()) return;
    MakeBounds(result);
    for (int64_t k = 0; k < width; ++k)
      facts.bounds[to * width + k] = theirs.BoundOf(from * width + k);
    MoveForm(source, from, result, to);
  }
  MoveEntry(theirs.choices, from, facts.choices, to);
}

void HullWith(const Array& source, int64_t from, Array& result, int64_t to) {
  const int64_t width = BoundsPerElement(source.literal.element_type());
  if (result.facts().nan_bits && !(source.facts().nan_bits && SameBits(source, from, result, to)))
    result.facts().nan_bits = false;
  if (!result.facts().origins.empty()) result.facts().origins.erase(to);
  if (width != 0) {
    std::vector<uint64_t> codes = KnownCodes(result, to);
    const std::vector<uint64_t> more = KnownCodes(source, from);
    codes = codes.empty() || more.empty() ? std::vector<uint64_t>() : Merge(codes, more);
    for (int64_t k = 0; k < width; ++k) HullSlots(source, from * width + k, result, to * width + k);
    SetKnownCodes(result, to, std::move(codes));
    return;
  }
  const std::vector<uint64_t> a = CodesOf(result, to), b = CodesOf(source, from);
  SetCodes(result, to, a.empty() || b.empty() ? std::vector<uint64_t>() : Merge(a, b));
}

void HullArrays(const Array& source, Array& result) {
  for (int64_t i = 0; i < result.literal.element_count(); ++i) HullWith(source, i, result, i);
}

bool IsMovedOnly(const Instruction& instruction) {
  const Instruction* source = &instruction;
  while (Info(source->opcode()).Is(kDataMovement) && source->operand_count() == 1 &&
         source->shape().IsArray() &&
         source->shape().element_type() == source->operand(0)->shape().element_type())
    source = source->operand(0);
  if (source->opcode() == Opcode::kConstant) return true;
  return source->opcode() == Opcode::kParameter &&
         source->parent() == source->parent()->parent()->entry();
}

bool HasKnownCode(const Array& array, int64_t i, bool moved_only) {
  const int64_t width = BoundsPerElement(array.literal.element_type());
  if (width == 0) return !array.facts().choices.contains(i);
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot) {
    if ((array.facts().BoundOf(slot).flags & kForced) == 0) return false;
    if (!moved_only && IsNanSlot(array, slot)) return false;
  }
  return true;
}

bool MayLosePayload(ClauseSet clauses, ElementType type) {
  return clauses.Has(ClauseId::kExcessPrecision) && IsFloat(type) && BitWidth(type) <= 16;
}

bool IsUndecided(const Array& array, int64_t i) {
  const int64_t width = BoundsPerElement(array.literal.element_type());
  if (width == 0) {
    auto it = array.facts().choices.find(i);
    if (it == array.facts().choices.end()) return false;
    return it->second.empty() || (IsPred(array.literal.element_type()) && it->second.size() == 2);
  }
  if (array.facts().bounds.empty()) return false;
  bool all = true;
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
    all = all && (array.facts().bounds[slot].flags & kUndecided) != 0;
  return all;
}

bool SameBound(const Array& a, const Array& b, int64_t i) {
  const int64_t width = BoundsPerElement(a.literal.element_type());
  if (width == 0)
    return a.literal.GetBits(i) == b.literal.GetBits(i) && CodesOf(a, i) == CodesOf(b, i);
  if ((!a.facts().choices.empty() || !b.facts().choices.empty()) &&
      KnownCodes(a, i) != KnownCodes(b, i))
    return false;
  constexpr ElementBound kAllForced{0, 0, 0, kForced};
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot) {
    if (a.literal.GetComponentBits(slot) != b.literal.GetComponentBits(slot)) return false;
    const ElementBound p = a.facts().bounds.empty() ? kAllForced : a.facts().bounds[slot];
    const ElementBound q = b.facts().bounds.empty() ? kAllForced : b.facts().bounds[slot];
    if (p.flags != q.flags) return false;
    if (p.flags == kForced) continue;
    if (p.centre != q.centre || p.centre_low != q.centre_low || p.radius != q.radius) return false;
  }
  return true;
}

bool IsSeenUnrounded(const Array& array, int64_t i) {
  return !array.facts().bounds.empty() && (array.facts().bounds[i].flags & kAnyView) != 0;
}

void ReinterpretBound(const Array& source, int64_t from, Array& result, int64_t to,
                      bool moved_only) {
  if (HasKnownCode(source, from, moved_only)) return;
  if (!HasBounds(source) && !HasBounds(result)) {
    SetCodes(result, to, CodesOf(source, from));
  } else {
    SetUndecided(result, to);
  }
}

std::vector<uint64_t> CodesOf(const Array& array, int64_t i) {
  auto it = array.facts().choices.find(i);
  return it != array.facts().choices.end() ? it->second
                                           : std::vector<uint64_t>{array.literal.GetBits(i)};
}

void SetCodes(Array& result, int64_t i, std::vector<uint64_t> codes) {
  if (codes.empty()) {
    SetUndecided(result, i);
    return;
  }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  if (codes.size() > kMaxTies) {
    SetUndecided(result, i);
  } else if (codes.size() == 1 && codes[0] == result.literal.GetBits(i)) {
    result.facts().choices.erase(i);
  } else {
    result.facts().choices[i] = std::move(codes);
  }
}

namespace {

// Tries the codes that elements of the operands may have, those of many elements at once.
class Enumeration {
 public:
  Enumeration(const OpContext& op, Array& result, EvaluateFn evaluate)
      : op_(op), result_(result), evaluate_(evaluate), columns_(op.operands.size()) {}

  // Element i may be what any combination of `lists` gives, a list of codes for each operand.
  absl::Status Add(int64_t i, absl::Span<const std::vector<uint64_t>> lists, size_t combinations) {
    for (size_t c = 0; c < combinations; ++c) {
      size_t rest = c;
      for (size_t k = 0; k < lists.size(); ++k) {
        columns_[k].push_back(lists[k][rest % lists[k].size()]);
        rest /= lists[k].size();
      }
    }
    open_.emplace_back(i, columns_[0].size());
    return columns_[0].size() < kTogether ? absl::OkStatus() : Finish();
  }

  absl::Status Finish() {
    if (open_.empty()) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const Literal outcomes, Evaluate());
    size_t at = 0;
    for (const auto& [i, end] : open_) {
      std::vector<uint64_t> codes;
      for (; at < end; ++at) codes.push_back(outcomes.GetBits(static_cast<int64_t>(at)));
      SetCodes(result_, i, std::move(codes));
    }
    open_.clear();
    for (std::vector<uint64_t>& column : columns_) column.clear();
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kTogether = 4096;  // combinations

  // The plain values of the op on all combinations.
  absl::StatusOr<Literal> Evaluate() const {
    const DimVector sizes = {static_cast<int64_t>(columns_[0].size())};
    std::vector<Value> values;
    for (size_t k = 0; k < columns_.size(); ++k) {
      const ElementType type = op_.literal(static_cast<int64_t>(k)).element_type();
      Literal codes(Shape::Array(type, sizes));
      for (int64_t i = 0; i < sizes[0]; ++i) codes.SetBits(i, columns_[k][static_cast<size_t>(i)]);
      values.push_back({std::make_shared<const Array>(std::move(codes)), {}});
    }
    absl::InlinedVector<const Value*, 3> operands;
    for (const Value& value : values) operands.push_back(&value);
    const Shape shape = Shape::Array(op_.type(), sizes);
    Literal outcomes(shape);
    ASSAY_RETURN_IF_ERROR(evaluate_(op_.On(shape, operands), outcomes));
    return outcomes;
  }

  const OpContext& op_;
  Array& result_;
  const EvaluateFn evaluate_;
  std::vector<std::vector<uint64_t>> columns_;
  std::vector<std::pair<int64_t, size_t>> open_;  // elements, and where their combinations end
};

}  // namespace

absl::Status BoundByEnumeration(const OpContext& op, Array& result, EvaluateFn evaluate) {
  if (AllCertain(op)) return absl::OkStatus();
  const size_t operands = op.operands.size();
  std::vector<int64_t> uncertain;
  for (size_t k = 0; k < operands; ++k) {
    const Array& operand = op.array(static_cast<int64_t>(k));
    const bool for_all =
        operand.literal.element_count() != op.count() && !operand.facts().choices.empty();
    for (const auto& [i, codes] : operand.facts().choices)
      if (!for_all) uncertain.push_back(i);
    for (int64_t i = 0; for_all && i < op.count(); ++i) uncertain.push_back(i);
  }
  std::sort(uncertain.begin(), uncertain.end());
  uncertain.erase(std::unique(uncertain.begin(), uncertain.end()), uncertain.end());
  Enumeration enumeration(op, result, evaluate);
  for (int64_t i : uncertain) {
    std::vector<std::vector<uint64_t>> lists;
    size_t combinations = 1;
    for (size_t k = 0; k < operands; ++k) {
      const Array& operand = op.array(static_cast<int64_t>(k));
      lists.push_back(CodesOf(operand, operand.literal.element_count() == op.count() ? i : 0));
      combinations *= lists.back().size();  // 0: an operand is undecided
    }
    constexpr size_t kMostTried = kMaxChoices * kMaxChoices * kMaxChoices;
    if (combinations == 0 || combinations > kMostTried) {
      SetUndecided(result, i);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(enumeration.Add(i, lists, combinations));
  }
  return enumeration.Finish();
}

// The error of an op that is rounded correctly elsewhere where quotients are approximate, in ulps
// of f32, in which narrower types are computed.
double ApproximateUlps(const OpContext& op, Opcode opcode) {
  if (!op.clauses.Has(ClauseId::kApproximateQuotients)) return 0;
  return opcode == Opcode::kDivide ? 2 : opcode == Opcode::kSqrt ? 1 : 0;
}

template <typename T>
double UlpsOf(const OpContext& op, Opcode opcode) {
  const NumericContract& contract = Info(opcode).numeric;
  const UlpBudget& budget = op.analysis.is_xla ? contract.xla : contract.strict;
  const double approximate = ApproximateUlps(op, opcode);
  if constexpr (std::is_same_v<T, Half>) return budget.f16 + 0x1p-13 * approximate;
  if constexpr (std::is_same_v<T, BFloat16>) return budget.bf16 + 0x1p-16 * approximate;
  if constexpr (std::is_same_v<T, float>) return budget.f32 + approximate;
  return budget.f64;
}
template double UlpsOf<Half>(const OpContext& op, Opcode opcode);
template double UlpsOf<BFloat16>(const OpContext& op, Opcode opcode);
template double UlpsOf<float>(const OpContext& op, Opcode opcode);
template double UlpsOf<double>(const OpContext& op, Opcode opcode);

}  // namespace assay::reference
