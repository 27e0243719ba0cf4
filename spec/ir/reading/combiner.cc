// Recognises combiners of one op, seen through converts that lose nothing, and in more words.
#include "spec/ir/reading/combiner.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "spec/attributes/attribute_words.h"
#include "spec/ir/reading/called_instead.h"
#include "spec/ops/combiners.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

const Instruction* SkipConverts(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kConvert) instruction = instruction->operand(0);
  return instruction;
}

// A chain of converts loses nothing on the way if no step narrows.
bool OnlyWidens(const Instruction* from, const Instruction* to) {
  for (; from != to; from = from->operand(0)) {
    const ElementType wide = from->shape().element_type();
    const ElementType narrow = from->operand(0)->shape().element_type();
    const bool are_alike =
        (IsFloat(wide) && IsFloat(narrow)) || (IsComplex(wide) && IsComplex(narrow));
    if (!are_alike || BitWidth(wide) <= BitWidth(narrow)) return false;
  }
  return true;
}

// The meaning of a value in a computation of two numbers, where it is known: one of the two, both
// combined, a constant, or a tuple of such. An array stands for all of its elements.
struct Meaning {
  enum Kind : uint8_t { kUnknown, kFirst, kSecond, kBoth, kConstant, kTuple };
  Kind kind = kUnknown;
  Opcode combiner = Opcode::kAdd;  // of kBoth
  uint64_t bits = 0;               // of kConstant, unless it is
  const Literal* real = nullptr;   // a float or a complex number
  std::vector<Meaning> elements;   // of kTuple

  bool operator==(const Meaning&) const = default;
  bool IsOperand() const { return kind == kFirst || kind == kSecond || kind == kBoth; }
};

uint64_t AllOnes(ElementType type) {
  const int width = IsPred(type) ? 1 : BitWidth(type);
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// One op, with converts around it that lose nothing.
std::optional<Opcode> PlainCombiner(const Computation& outer) {
  const Computation& computation = CalledInstead(outer);
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* root = SkipConverts(computation.root());
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
  const Instruction* a = SkipConverts(root->operand(0));
  const Instruction* b = SkipConverts(root->operand(1));
  const Instruction *first = computation.parameter(0), *second = computation.parameter(1);
  if (!((a == first && b == second) || (a == second && b == first))) return std::nullopt;
  if (!OnlyWidens(root->operand(0), a) || !OnlyWidens(root->operand(1), b)) return std::nullopt;
  // The converts around the root lead back in one step to the type that the parameters have.
  if (computation.root() != root &&
      (computation.root()->operand(0) != root ||
       computation.root()->shape().element_type() != a->shape().element_type()))
    return std::nullopt;
  return root->opcode();
}

uint64_t IdentityBits(Opcode combiner, ElementType type) {
  return IdentityOf(combiner, type).GetBits(0);
}

// Follows calls, branches, short loops, and folds of one value.
class Reader {
 public:
  Meaning Of(const Instruction* at, const std::vector<Meaning>& parameters) {
    constexpr int64_t kMostSteps = 1000;
    if (++steps_ > kMostSteps) return {};
    switch (at->opcode()) {
      case Opcode::kParameter:
        return parameters[static_cast<size_t>(at->parameter_number())];
      case Opcode::kConstant:
        return ConstantOf(*at);
      case Opcode::kTuple:
        return {.kind = Meaning::kTuple, .elements = OfOperands(*at, parameters)};
      case Opcode::kGetTupleElement:
        return ElementOf(Of(at->operand(0), parameters), at->tuple_index());
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kSlice:
        return Of(at->operand(0), parameters);
      case Opcode::kSort:
        return at->operand_count() == 1 ? Of(at->operand(0), parameters) : Meaning();
      case Opcode::kCall:
        return OfCall(*at, OfOperands(*at, parameters));
      case Opcode::kConditional:
        return OfConditional(*at, parameters);
      case Opcode::kWhile:
        return OfLoop(*at, Of(at->operand(0), parameters));
      case Opcode::kReduce:
        return OfReduce(*at, parameters);
      case Opcode::kCompare:
        return OfCompare(*at, parameters);
      case Opcode::kSelect:
        return OfSelect(*at, parameters);
      default:
        return OfBinary(*at, parameters);
    }
  }

 private:
  std::vector<Meaning> OfOperands(const Instruction& at, const std::vector<Meaning>& parameters) {
    std::vector<Meaning> operands;
    for (const Instruction* operand : at.operands()) operands.push_back(Of(operand, parameters));
    return operands;
  }

  static Meaning Constant(uint64_t bits) { return {.kind = Meaning::kConstant, .bits = bits}; }
  static bool IsExact(ElementType type) { return IsInteger(type) || IsPred(type); }
  // Has an order that combining with the least or the greatest value, or with itself, respects.
  static bool HasOrder(ElementType type) { return IsExact(type) || IsFloat(type); }

  static Meaning ConstantOf(const Instruction& at) {
    const Shape& shape = at.shape();
    if (!shape.IsArray() || !shape.IsScalar() || at.literal() == nullptr) return {};
    if (!IsExact(shape.element_type())) return {.kind = Meaning::kConstant, .real = at.literal()};
    return Constant(at.literal()->GetBits(0) & AllOnes(shape.element_type()));
  }

  Meaning OfCall(const Instruction& at, const std::vector<Meaning>& operands) {
    const bool has_both =
        operands.size() == 2 &&
        ((operands[0].kind == Meaning::kFirst && operands[1].kind == Meaning::kSecond) ||
         (operands[0].kind == Meaning::kSecond && operands[1].kind == Meaning::kFirst));
    const std::optional<Opcode> plain = has_both ? PlainCombiner(*at.callee()) : std::nullopt;
    if (plain.has_value()) return {.kind = Meaning::kBoth, .combiner = *plain};
    return Of(at.callee()->root(), operands);
  }

  static Meaning ElementOf(const Meaning& tuple, int64_t index) {
    const bool is_there =
        tuple.kind == Meaning::kTuple && index < static_cast<int64_t>(tuple.elements.size());
    return is_there ? tuple.elements[static_cast<size_t>(index)] : Meaning();
  }

  // Whichever branch is taken, if all mean the same.
  Meaning OfConditional(const Instruction& at, const std::vector<Meaning>& parameters) {
    std::vector<Meaning> branches;
    for (size_t k = 0; k < at.callees().size(); ++k) {
      const auto number = static_cast<int64_t>(k);
      branches.push_back(Of(at.callee(number)->root(), {Of(at.operand(number + 1), parameters)}));
    }
    const bool are_alike = std::all_of(branches.begin(), branches.end(),
                                       [&](const Meaning& one) { return one == branches.front(); });
    return are_alike && !branches.empty() ? branches.front() : Meaning();
  }

  Meaning OfLoop(const Instruction& at, Meaning state) {
    constexpr int kMostTrips = 4;
    for (int trip = 0; trip <= kMostTrips; ++trip) {
      const Meaning goes_on = Of(at.callee(0)->root(), {state});
      if (goes_on.kind != Meaning::kConstant) return {};
      if (goes_on.bits == 0) return state;
      state = Of(at.callee(1)->root(), {state});
    }
    return {};
  }

  // A fold of equal values, which are there, is the value itself.
  Meaning OfReduce(const Instruction& at, const std::vector<Meaning>& parameters) {
    if (at.operand_count() != 2) return {};
    const ElementType type = at.operand(0)->shape().element_type();
    const int64_t count = at.operand(0)->shape().ElementCount();
    const std::optional<Opcode> combiner = ReadCombiner(*at.callee());
    if (!combiner.has_value() || !HasOrder(type) || count == 0) return {};
    // A sum of floats loses the sign of a zero.
    if ((count > 1 || !IsExact(type)) && !IsIdempotent(*combiner)) return {};
    const Meaning init = Of(at.operand(1), parameters);
    return IsIdentityOf(init, *combiner, type) ? Of(at.operand(0), parameters) : Meaning();
  }

  // Decides a comparison of two constants, as of the trips of a loop.
  Meaning OfCompare(const Instruction& at, const std::vector<Meaning>& parameters) {
    const ElementType type = at.operand(0)->shape().element_type();
    const Meaning a = Of(at.operand(0), parameters), b = Of(at.operand(1), parameters);
    const bool are_known = a.kind == Meaning::kConstant && b.kind == Meaning::kConstant;
    if (!are_known || !IsInteger(type)) return {};
    // With the sign turned over the order of signed numbers is that of their bits.
    const uint64_t sign = IsSigned(type) ? AllOnes(type) / 2 + 1 : 0;
    const uint64_t x = a.bits ^ sign, y = b.bits ^ sign;
    switch (static_cast<Direction>(at.attributes().Integer(Attr::kDirection))) {
      case Direction::kEq:
        return Constant(x == y ? 1 : 0);
      case Direction::kNe:
        return Constant(x != y ? 1 : 0);
      case Direction::kLt:
        return Constant(x < y ? 1 : 0);
      case Direction::kLe:
        return Constant(x <= y ? 1 : 0);
      case Direction::kGt:
        return Constant(x > y ? 1 : 0);
      case Direction::kGe:
        return Constant(x >= y ? 1 : 0);
    }
    return {};
  }

  // The larger or the smaller of two that are compared.
  Meaning OfSelect(const Instruction& at, const std::vector<Meaning>& parameters) {
    const Instruction* compare = at.operand(0);
    const bool is_compared = compare->opcode() == Opcode::kCompare &&
                             IsInteger(compare->operand(0)->shape().element_type());
    if (!is_compared) return {};
    const std::vector<Meaning> compared = OfOperands(*compare, parameters);
    const Meaning yes = Of(at.operand(1), parameters), no = Of(at.operand(2), parameters);
    const bool is_straight = yes == compared[0] && no == compared[1];
    const bool is_crossed = yes == compared[1] && no == compared[0];
    if (!is_straight && !is_crossed) return {};
    const auto direction = static_cast<Direction>(compare->attributes().Integer(Attr::kDirection));
    const bool is_greater = direction == Direction::kGt || direction == Direction::kGe;
    const bool is_less = direction == Direction::kLt || direction == Direction::kLe;
    if (!is_greater && !is_less) return {};
    return Combine(is_greater == is_straight ? Opcode::kMaximum : Opcode::kMinimum,
                   at.shape().element_type(), compared[0], compared[1]);
  }

  Meaning OfBinary(const Instruction& at, const std::vector<Meaning>& parameters) {
    if (at.operand_count() != 2 || !at.shape().IsArray() || !Info(at.opcode()).Is(kAssociative))
      return {};
    return Combine(at.opcode(), at.shape().element_type(), Of(at.operand(0), parameters),
                   Of(at.operand(1), parameters));
  }

  static Meaning Combine(Opcode combiner, ElementType type, const Meaning& a, const Meaning& b) {
    const bool are_known = a.kind == Meaning::kConstant && b.kind == Meaning::kConstant;
    if (are_known && combiner == Opcode::kAdd && IsInteger(type))
      return Constant((a.bits + b.bits) & AllOnes(type));
    if (IsIdentityOf(b, combiner, type)) return a;
    if (IsIdentityOf(a, combiner, type)) return b;
    if (!IsExact(type)) return CombineFloats(combiner, a, b);
    if (!a.IsOperand() || !b.IsOperand()) return {};
    if (a == b) return IsIdempotent(combiner) ? a : Meaning();
    const Meaning both{.kind = Meaning::kBoth, .combiner = combiner};
    const bool has_both = a.kind == Meaning::kBoth || b.kind == Meaning::kBoth;
    if (!has_both) return both;
    // max(max(a, b), a)
    const bool is_same =
        (a.kind != Meaning::kBoth || a == both) && (b.kind != Meaning::kBoth || b == both);
    return is_same && IsIdempotent(combiner) ? both : Meaning();
  }

  // An identity of floats may change the sign of a zero, and of complex numbers what is NaN:
  // whoever folds may leave it out all the same. The largest number of a type without infinities is
  // none: it bounds those of a wider type that is computed in.
  static bool IsIdentityOf(const Meaning& value, Opcode combiner, ElementType type) {
    if (value.kind != Meaning::kConstant) return false;
    if (IsExact(type)) return value.bits == IdentityBits(combiner, type);
    if (value.real == nullptr || !IsIdentity(*value.real, combiner)) return false;
    return !IsIdempotent(combiner) || std::isinf(value.real->GetDouble(0));
  }

  // Rounding and NaN leave this.
  static Meaning CombineFloats(Opcode combiner, const Meaning& a, const Meaning& b) {
    const bool are_two = (a.kind == Meaning::kFirst && b.kind == Meaning::kSecond) ||
                         (a.kind == Meaning::kSecond && b.kind == Meaning::kFirst);
    return are_two ? Meaning{.kind = Meaning::kBoth, .combiner = combiner} : Meaning();
  }

  int64_t steps_ = 0;
};

// The op by which a computation combines two numbers, in however many words.
std::optional<Opcode> CombinerInMoreWords(const Computation& computation) {
  if (computation.parameter_count() != 2) return std::nullopt;
  const Shape& shape = computation.root()->shape();
  if (!shape.IsScalar()) return std::nullopt;
  for (const Instruction* parameter : computation.parameters()) {
    const bool is_alike =
        parameter->shape().IsScalar() && parameter->shape().element_type() == shape.element_type();
    if (!is_alike) return std::nullopt;
  }
  const Meaning meaning =
      Reader().Of(computation.root(), {{.kind = Meaning::kFirst}, {.kind = Meaning::kSecond}});
  return meaning.kind == Meaning::kBoth ? std::optional(meaning.combiner) : std::nullopt;
}

}  // namespace

std::optional<Opcode> ReadCombiner(const Computation& computation) {
  const std::optional<Opcode> plain = PlainCombiner(computation);
  return plain.has_value() ? plain : CombinerInMoreWords(computation);
}

}  // namespace assay
