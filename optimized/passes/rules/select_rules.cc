// select and compare.
#include <optional>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool SelectSameArms(Instruction* select, RuleContext& context, std::string_view rule) {
  return context.gates.Holds("select-same-arms/same-value", select,
                             SameValue(select->operand(1), select->operand(2))) &&
         ReplaceByExisting(select, select->operand(1), context, rule);
}

bool SelectConstant(Instruction* select, RuleContext& context, std::string_view rule) {
  const std::optional<int64_t> predicate = SplatInteger(select->operand(0));
  return predicate &&
         ReplaceByExisting(select, select->operand(*predicate != 0 ? 1 : 2), context, rule);
}

bool SelectOfNot(Instruction* select, RuleContext& context, std::string_view rule) {
  Instruction* predicate = select->operand(0);
  if (predicate->opcode() != Opcode::kNot) return false;
  return RewriteTo(select, context, rule, Opcode::kSelect,
                   {predicate->operand(0), select->operand(2), select->operand(1)});
}

// select(p, select(p, a, b), c) -> select(p, a, c), and the same in the other arm.
bool SelectOfSelect(Instruction* select, RuleContext& context, std::string_view rule) {
  Instruction* predicate = select->operand(0);
  Instruction* arms[2] = {select->operand(1), select->operand(2)};
  bool changed = false;
  for (int i = 0; i < 2; ++i) {
    if (arms[i]->opcode() != Opcode::kSelect || !SameShape(arms[i]->operand(0), predicate) ||
        !context.gates.Holds("select-of-select/same-predicate", select,
                             arms[i]->operand(0) == predicate)) {
      continue;
    }
    arms[i] = arms[i]->operand(1 + i);
    changed = true;
  }
  return changed &&
         RewriteTo(select, context, rule, Opcode::kSelect, {predicate, arms[0], arms[1]});
}

bool SelectOfBooleans(Instruction* select, RuleContext& context, std::string_view rule) {
  Instruction* predicate = select->operand(0);
  const std::optional<int64_t> on_true = SplatInteger(select->operand(1));
  const std::optional<int64_t> on_false = SplatInteger(select->operand(2));
  if (!IsPred(select->shape().element_type()) || !on_true || !on_false || *on_true == *on_false ||
      !SameShape(select, predicate)) {
    return false;
  }
  if (*on_true == 1) return ReplaceByExisting(select, predicate, context, rule);
  return RewriteTo(select, context, rule, Opcode::kNot, {predicate});
}

Direction DirectionOf(const Instruction* compare) {
  return static_cast<Direction>(compare->attributes().Integer(Attr::kDirection));
}

// Floats compared by number, where NaN is unequal to itself; the total order knows no such thing.
bool ComparesNumbers(const Instruction* compare) {
  return !IsInteger(compare->operand(0)->shape().element_type()) &&
         !IsPred(compare->operand(0)->shape().element_type()) &&
         compare->attributes().Integer(Attr::kCompareType,
                                       static_cast<int64_t>(CompareType::kFloat)) !=
             static_cast<int64_t>(CompareType::kTotalOrder);
}

bool ReplaceByTruth(Instruction* compare, bool truth, RuleContext& context, std::string_view rule) {
  Rewrite rewrite(context.gates, rule, compare);
  return rewrite &&
         rewrite.Replace(AddSplatInteger(compare->parent(), compare->shape(), truth ? 1 : 0));
}

bool CompareSelf(Instruction* compare, RuleContext& context, std::string_view rule) {
  if (compare->operand(0) != compare->operand(1)) return false;
  const Direction direction = DirectionOf(compare);
  const bool strict = direction == Direction::kLt || direction == Direction::kGt;
  if (!context.gates.Holds("compare-self/not-number", compare,
                           !ComparesNumbers(compare) || strict)) {
    return false;
  }
  return ReplaceByTruth(compare, !strict && direction != Direction::kNe, context, rule);
}

// x < least, x >= least, x > most, x <= most have one answer for all integers x.
bool CompareWithEnd(Instruction* compare, RuleContext& context, std::string_view rule) {
  const ElementType type = compare->operand(0)->shape().element_type();
  const std::optional<int64_t> bound = SplatInteger(compare->operand(1));
  if (!IsInteger(type) || !bound) return false;
  const bool is_least =
      context.gates.Holds("compare-with-end/least", compare, *bound == MinInteger(type));
  const bool is_most =
      context.gates.Holds("compare-with-end/most", compare,
                          *bound == (type == ElementType::kU64 ? -1 : MaxInteger(type)));
  switch (DirectionOf(compare)) {
    case Direction::kLt:
      return is_least && ReplaceByTruth(compare, false, context, rule);
    case Direction::kGe:
      return is_least && ReplaceByTruth(compare, true, context, rule);
    case Direction::kGt:
      return is_most && ReplaceByTruth(compare, false, context, rule);
    case Direction::kLe:
      return is_most && ReplaceByTruth(compare, true, context, rule);
    default:
      return false;
  }
}

Direction Opposite(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return Direction::kNe;
    case Direction::kNe:
      return Direction::kEq;
    case Direction::kGe:
      return Direction::kLt;
    case Direction::kLt:
      return Direction::kGe;
    case Direction::kGt:
      return Direction::kLe;
    case Direction::kLe:
      return Direction::kGt;
  }
  return direction;
}

// not(x < y) is x >= y unless NaN makes both false; not(x == y) is x != y even then.
bool NotOfCompare(Instruction* inst, RuleContext& context, std::string_view rule) {
  Instruction* compare = inst->operand(0);
  if (compare->opcode() != Opcode::kCompare) return false;
  const Direction direction = DirectionOf(compare);
  const bool equality = direction == Direction::kEq || direction == Direction::kNe;
  if (!context.gates.Holds("not-of-compare/not-number", inst,
                           !ComparesNumbers(compare) || equality)) {
    return false;
  }
  Attributes attributes = compare->attributes();
  attributes.Set(Attr::kDirection, Opposite(direction));
  return RewriteTo(inst, context, rule, Opcode::kCompare,
                   {compare->operand(0), compare->operand(1)}, std::move(attributes));
}

constexpr Rule kRules[] = {
    {"select-same-arms", Opcode::kSelect, SelectSameArms, "select(p, x, x) -> x"},
    {"select-constant", Opcode::kSelect, SelectConstant, "select of a constant -> the arm"},
    {"select-of-not", Opcode::kSelect, SelectOfNot, "select(not p, x, y) -> select(p, y, x)"},
    {"select-of-select", Opcode::kSelect, SelectOfSelect,
     "select(p, select(p, x, y), z) -> select(p, x, z)"},
    {"select-of-booleans", Opcode::kSelect, SelectOfBooleans,
     "select(p, true, false) -> p, select(p, false, true) -> not p"},
    {"compare-self", Opcode::kCompare, CompareSelf,
     "x < x -> false; x == x -> true (not floats, NaN)"},
    {"compare-with-end", Opcode::kCompare, CompareWithEnd,
     "unsigned x < 0 -> false and its like at both ends of an integer type"},
    {"not-of-compare", Opcode::kNot, NotOfCompare, "not(x < y) -> x >= y (not floats, NaN)"},
};

}  // namespace

absl::Span<const Rule> SelectRules() { return kRules; }

}  // namespace assay
