// The tables of rules, their text, and how terms match what makes a value.
#include "reference/licenses/rules.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "absl/algorithm/container.h"
#include "reference/licenses/producers.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

constexpr UnchangedRule kUnchangedRules[] = {
    {"abs(x)", UnchangedRule::kNeverNegative},
    {"add(x, 0)"},
    {"add(0, x)"},
    {"bitcast-convert(bitcast-convert(x))", UnchangedRule::kSameShape},
    {"clamp(-inf, x, inf)"},
    {"complex(real(x), imag(x))", UnchangedRule::kSameShape},
    {"convert(convert(x))", UnchangedRule::kLossless},
    {"convolution(x, 1)", UnchangedRule::kOneTerm},
    {"convolution(1, x)", UnchangedRule::kOneTerm},
    {"divide(x, 1)"},
    {"dot(x, 1)", UnchangedRule::kOneTerm},
    {"dot(1, x)", UnchangedRule::kOneTerm},
    {"imag(complex(y, x))"},
    {"maximum(x, x)"},
    {"maximum(x, -inf)"},
    {"maximum(-inf, x)"},
    {"minimum(x, x)"},
    {"minimum(x, inf)"},
    {"minimum(inf, x)"},
    {"multiply(x, 1)"},
    {"multiply(1, x)"},
    {"negate(negate(x))"},
    {"power(x, 1)"},
    {"real(complex(x, y))"},
    {"select(p, x, x)"},
    {"subtract(x, 0)"},
};

constexpr FormRule kFormRules[] = {
    {ClauseId::kExponentials, "log(sqrt(x))", "multiply(0.5, log(x))",
     [](LicensedForms& found) { found.is_log_of_root = true; }},
    {ClauseId::kExponentials, "power(exponential(x), y)", "exponential(multiply(x, y))",
     [](LicensedForms& found) { found.raises_exponential = true; }},
    {ClauseId::kExponentials, "divide(x, exponential(y))", "multiply(x, exponential(negate(y)))",
     [](LicensedForms& found) { found.inverted = Opcode::kExponential; }},
    {ClauseId::kExponentials, "divide(x, power(y, z))", "multiply(x, power(y, negate(z)))",
     [](LicensedForms& found) { found.inverted = Opcode::kPower; }},
    {ClauseId::kExponentials, "multiply(sqrt(x), sqrt(x))", "x",
     [](LicensedForms& found) { found.squares_root = true; }},
    // Found by code.
    {ClauseId::kConstantChains, "multiply(multiply(x, 0.1), 3)", "multiply(x, multiply(0.1, 3))"},
    {ClauseId::kConstantChains, "divide(multiply(x, 0.1), 3)", "multiply(x, divide(0.1, 3))"},
    {ClauseId::kConstantChains, "multiply(multiply(x, 0.1), multiply(y, 3))",
     "multiply(multiply(x, y), multiply(0.1, 3))"},
    {ClauseId::kConstantChains, "add(subtract(x, 0.1), 3)", "add(x, subtract(3, 0.1))"},
    {ClauseId::kExponentials, "multiply(exponential(x), exponential(y))", "exponential(add(x, y))"},
    {ClauseId::kExponentials, "divide(exponential(x), exponential(y))",
     "exponential(subtract(x, y))"},
    {ClauseId::kNestedQuotients, "divide(divide(x, y), z)", "divide(x, multiply(y, z))"},
    {ClauseId::kNestedQuotients, "divide(x, divide(y, z))", "divide(multiply(x, z), y)"},
    {ClauseId::kNestedQuotients, "divide(x, logistic(y))",
     "multiply(x, add(1, exponential(negate(y))))"},
    {ClauseId::kReciprocalDivision, "divide(x, 3)", "multiply(x, divide(1, 3))"},
    {ClauseId::kReciprocalRoot, "divide(x, sqrt(y))", "multiply(x, rsqrt(y))"},
};

// Reads a term from the front of `text`.
Term TakeTerm(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("(,) "), text.size());
  const std::string word(text.substr(0, end));
  text.remove_prefix(end);
  if (text.empty() || text.front() != '(') {
    const bool is_number = word.size() > 1 || std::isdigit(static_cast<unsigned char>(word[0]));
    if (is_number) return {.kind = Term::kNumber, .number = std::strtod(word.c_str(), nullptr)};
    return {.kind = Term::kVariable, .variable = word[0]};
  }
  Term term{.kind = Term::kOp, .opcode = *OpcodeFromName(word)};
  while (text.front() != ')') {
    text.remove_prefix(text.front() == ',' ? 2 : 1);
    term.operands.push_back(TakeTerm(text));
  }
  text.remove_prefix(1);
  return term;
}

template <typename Rule>
struct ReadRule {
  const Rule* rule;
  Term before;
};
template <typename Rule>
using RulesByOpcode = std::array<std::vector<ReadRule<Rule>>, kOpcodeCount>;

template <typename Rule>
RulesByOpcode<Rule> ReadRules(absl::Span<const Rule> rules) {
  RulesByOpcode<Rule> read;
  for (const Rule& rule : rules) {
    Term before = ReadTerm(rule.before);
    read[static_cast<size_t>(before.opcode)].push_back({&rule, std::move(before)});
  }
  return read;
}

// True if the op moves no element and adds none, so that compilers take its operand instead.
bool ChangesNothing(const Instruction& value) {
  const Shape& shape = value.shape();
  if (shape.dimensions() != value.operand(0)->shape().dimensions()) return false;
  switch (value.opcode()) {
    case Opcode::kPad: {
      const absl::Span<const PaddingDim> padding = value.attributes().Padding(Attr::kPadding);
      return std::all_of(padding.begin(), padding.end(), [](const PaddingDim& dim) {
        return dim.low == 0 && dim.high == 0 && dim.interior == 0;
      });
    }
    default:
      return true;  // a slice or a concatenate of the same size
  }
}

// The operand that an op on places moves or reduces to itself; null if there is none.
const Instruction* OperandMovedWhole(const Instruction& value) {
  switch (value.opcode()) {
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kConcatenate:
      return ChangesNothing(value) ? value.operand(0) : nullptr;
    case Opcode::kDynamicSlice:
      return value.shape() == value.operand(0)->shape() ? value.operand(0) : nullptr;
    case Opcode::kDynamicUpdateSlice:
      return value.shape() == value.operand(1)->shape() ? value.operand(1) : nullptr;
    case Opcode::kReduce: {  // over dimensions of one element
      const Shape& shape = value.operand(0)->shape();
      const bool is_kept =
          value.shape().IsArray() && value.shape().ElementCount() == shape.ElementCount();
      return is_kept && shape.ElementCount() > 0 ? value.operand(0) : nullptr;
    }
    case Opcode::kReduceWindow: {  // of one element each
      const bool is_kept = value.shape().IsArray() &&
                           value.shape().dimensions() == value.operand(0)->shape().dimensions() &&
                           absl::c_all_of(value.attributes().Window(Attr::kWindow),
                                          [](const WindowDim& dim) { return dim.size == 1; });
      return is_kept ? value.operand(0) : nullptr;
    }
    default:
      return nullptr;
  }
}

// Skips moves that leave every element in its place.
const Instruction* BeforeWholeMoves(const Instruction* value) {
  constexpr int kMostMoves = 8;
  for (int i = 0; i < kMostMoves; ++i) {
    const Instruction* operand = OperandMovedWhole(*value);
    if (operand == nullptr || !(operand->shape() == value->shape())) break;
    value = operand;
  }
  return value;
}

bool AreTheSame(const Instruction* a, const Instruction* b) {
  return a == b || BeforeWholeMoves(a) == BeforeWholeMoves(b);
}

// Which operand a select gives back everywhere, because its predicate is one constant; null if that
// is not known.
const Instruction* ChosenOperand(const Instruction& select) {
  if (select.operand(1) == select.operand(2)) return select.operand(1);
  const Instruction* at = select.operand(0);
  while (at->opcode() == Opcode::kBroadcast || at->opcode() == Opcode::kReshape)
    at = at->operand(0);
  const Literal* literal = at->opcode() == Opcode::kConstant ? at->literal() : nullptr;
  if (literal == nullptr || literal->element_count() == 0) return nullptr;
  const uint64_t first = literal->GetBits(0);
  for (int64_t i = 1; i < literal->element_count(); ++i)
    if (literal->GetBits(i) != first) return nullptr;
  return select.operand(first != 0 ? 1 : 2);
}

// True if all elements are that number, as far as one sees without evaluating much.
bool IsEverywhere(const Instruction& value, double number, Constants& constants) {
  const Instruction* at = &value;
  while (at->opcode() == Opcode::kBroadcast || at->opcode() == Opcode::kReshape)
    at = at->operand(0);
  return constants.IsEverywhere(*at, number);
}

// True if no element has a minus that abs would take away, but for that of a zero or a NaN.
bool IsNeverNegative(const Instruction& value, Constants& constants, int depth = 4) {
  if (IsComplex(value.shape().element_type()) || depth == 0) return false;
  const auto is_never = [&](int64_t k) {
    return IsNeverNegative(*value.operand(k), constants, depth - 1);
  };
  switch (value.opcode()) {
    case Opcode::kAbs:
    case Opcode::kExponential:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return true;
    case Opcode::kMultiply:
      return value.operand(0) == value.operand(1) || (is_never(0) && is_never(1));
    case Opcode::kAdd:
    case Opcode::kDivide:
    case Opcode::kMinimum:
      return is_never(0) && is_never(1);
    case Opcode::kMaximum:
      return is_never(0) || is_never(1);
    case Opcode::kSelect:
      return is_never(1) && is_never(2);
    case Opcode::kConvert: {
      const ElementType from = value.operand(0)->shape().element_type();
      return (IsInteger(from) && !IsSigned(from)) || is_never(0);
    }
    case Opcode::kBroadcast:
    case Opcode::kPower:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return is_never(0);
    default:
      return constants.IsNowhereNegative(value);
  }
}

bool Holds(UnchangedRule::Condition condition, const Instruction& value, const Instruction& operand,
           Constants& constants) {
  switch (condition) {
    case UnchangedRule::kLossless:
      return KeepsNumbers(*value.operand(0)) && operand.shape() == value.shape();
    case UnchangedRule::kSameShape:
      return operand.shape() == value.shape();
    case UnchangedRule::kNeverNegative:
      return IsNeverNegative(operand, constants);
    default:
      return true;
  }
}

bool MatchOperands(const TermMatcher& matcher, const Term& term, const Instruction& value,
                   Variables& variables) {
  for (size_t k = 0; k < term.operands.size(); ++k) {
    if (!matcher.Match(term.operands[k], *value.operand(static_cast<int64_t>(k)), variables))
      return false;
  }
  return true;
}

}  // namespace

absl::Span<const UnchangedRule> UnchangedRules() { return kUnchangedRules; }

absl::Span<const FormRule> FormRules() { return kFormRules; }

Term ReadTerm(std::string_view text) { return TakeTerm(text); }

bool TermMatcher::Match(const Term& term, const Instruction& value, Variables& variables) const {
  if (term.kind == Term::kNumber) return IsEverywhere(value, term.number, constants);
  if (term.kind == Term::kVariable) {
    const Instruction*& known = variables[static_cast<size_t>(term.variable - 'a')];
    if (known == nullptr) known = &value;
    return AreTheSame(known, &value);
  }
  const auto matches = [&](const Instruction& made) {
    if (made.opcode() != term.opcode) return false;
    Variables attempt = variables;
    const bool all = MatchOperands(*this, term, made, attempt);
    if (all) variables = attempt;
    return all;
  };
  return producers != nullptr ? Producers(*producers).Any(value, matches) : matches(value);
}

const Instruction* UnchangedOperand(const Instruction& value, Constants& constants) {
  static const RulesByOpcode<UnchangedRule> rules = ReadRules(UnchangedRules());
  const TermMatcher matcher{constants};
  for (const auto& [rule, before] : rules[static_cast<size_t>(value.opcode())]) {
    if (rule->condition == UnchangedRule::kOneTerm && !ContractsOneTerm(value)) continue;
    Variables variables = {};
    if (!MatchOperands(matcher, before, value, variables)) continue;
    const Instruction* x = variables['x' - 'a'];
    if (Holds(rule->condition, value, *x, constants)) return x;
  }
  if (value.opcode() == Opcode::kSelect) return ChosenOperand(value);
  return OperandMovedWhole(value);
}

void NoteFormsByRules(const Instruction& value, const TermMatcher& matcher,
                      const Instruction& (*operand)(const Instruction& value, int64_t which),
                      LicensedForms& found) {
  static const RulesByOpcode<FormRule> rules = ReadRules(FormRules());
  for (const auto& [rule, before] : rules[static_cast<size_t>(value.opcode())]) {
    if (rule->note == nullptr) continue;
    Variables variables = {};
    bool all = true;
    for (size_t k = 0; k < before.operands.size(); ++k) {
      all = all &&
            matcher.Match(before.operands[k], operand(value, static_cast<int64_t>(k)), variables);
    }
    if (all) rule->note(found);
  }
}

}  // namespace assay::reference
