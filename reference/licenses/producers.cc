// The walk from a value to what may have made it.
#include "reference/licenses/producers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

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

// True of a conversion to a type that holds all numbers of the operand's: compilers that keep
// intermediates in excess precision make the wider ones at once.
bool KeepsNumbers(const Instruction& convert) {
  const ElementType from = convert.operand(0)->shape().element_type();
  const ElementType to = convert.shape().element_type();
  if (from == to) return true;
  if (!IsFloat(from) || !IsFloat(to)) return false;
  const FloatFormat &narrow = Format(from), &wide = Format(to);
  return wide.precision() >= narrow.precision() && wide.MaxFinite() >= narrow.MaxFinite() &&
         wide.MinSubnormal() <= narrow.MinSubnormal();
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

// The complex number whose parts are taken apart and put together again; null if there is none.
const Instruction* WholeOf(const Instruction& complex) {
  const Instruction *real = complex.operand(0), *imaginary = complex.operand(1);
  const bool is_whole = real->opcode() == Opcode::kReal && imaginary->opcode() == Opcode::kImag &&
                        real->operand(0) == imaginary->operand(0) &&
                        real->operand(0)->shape() == complex.shape();
  return is_whole ? real->operand(0) : nullptr;
}

// The operand that an op on places moves or reduces to itself; null if there is none.
const Instruction* WhatItMovesWhole(const Instruction& value) {
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

// The value before a conversion and back that lost nothing; null if there is none.
const Instruction* BeforeThereAndBack(const Instruction& back) {
  const Instruction* there = back.operand(0);
  const bool is_pair = there->opcode() == back.opcode() &&
                       there->operand(0)->shape() == back.shape() &&
                       (back.opcode() == Opcode::kBitcastConvert || KeepsNumbers(*there));
  return is_pair ? there->operand(0) : nullptr;
}

// True if all elements of the value are elements of its operands of the same type, and are not
// chosen by a predicate: a compiler that does not know the choice computes after it.
bool MovesElements(const Instruction& value) {
  switch (value.opcode()) {
    case Opcode::kSort:
      return true;
    case Opcode::kScatter: {  // one that overwrites
      const Instruction* root = value.callee()->root();
      return root->opcode() == Opcode::kParameter && root->parameter_number() == 1;
    }
    default:
      return Info(value.opcode()).Is(kDataMovement) && value.opcode() != Opcode::kBitcastConvert;
  }
}

// True of what Visit looks through to all that makes the value.
bool IsWalkedThrough(const Instruction& value) {
  switch (value.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kCall:
    case Opcode::kCopy:
    case Opcode::kFusion:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kParameter:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kTranspose:
      return true;
    default:
      return !value.shape().IsArray();
  }
}

// The value that moves of all its elements to their own places were made of.
const Instruction* BeforeWholeMoves(const Instruction* value) {
  constexpr int kMostMoves = 8;
  for (int i = 0; i < kMostMoves; ++i) {
    const Instruction* operand = WhatItMovesWhole(*value);
    if (operand == nullptr || !(operand->shape() == value->shape())) break;
    value = operand;
  }
  return value;
}

bool AreTheSame(const Instruction* a, const Instruction* b) {
  return a == b || BeforeWholeMoves(a) == BeforeWholeMoves(b);
}

}  // namespace

bool ContractsOneTerm(const Instruction& value) {
  if (value.opcode() == Opcode::kConvolution) {
    const Shape& kernel = value.operand(1)->shape();
    const ConvDimLabels* labels = value.attributes().DimLabels();
    return labels != nullptr &&
           kernel.ElementCount() ==
               kernel.dimensions()[static_cast<size_t>(labels->kernel_output_feature)];
  }
  if (value.opcode() != Opcode::kDot) return false;
  const Shape& lhs = value.operand(0)->shape();
  return absl::c_all_of(
      value.attributes().Integers(Attr::kLhsContractingDims),
      [&lhs](int64_t dim) { return lhs.dimensions()[static_cast<size_t>(dim)] == 1; });
}

const Instruction* UnchangedOperand(const Instruction& value, Constants& constants) {
  const auto is_everywhere = [&](int64_t k, double number) {
    return IsEverywhere(*value.operand(k), number, constants);
  };
  const auto beside = [&](double neutral, bool commutes) -> const Instruction* {
    if (is_everywhere(1, neutral)) return value.operand(0);
    return commutes && is_everywhere(0, neutral) ? value.operand(1) : nullptr;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (value.opcode()) {
    case Opcode::kReal:
    case Opcode::kImag: {
      const Instruction* parts = value.operand(0);
      return parts->opcode() == Opcode::kComplex
                 ? parts->operand(value.opcode() == Opcode::kReal ? 0 : 1)
                 : nullptr;
    }
    case Opcode::kComplex:
      return WholeOf(value);
    case Opcode::kBitcastConvert:
    case Opcode::kConvert:
      return BeforeThereAndBack(value);
    case Opcode::kClamp: {
      const bool has_limits = is_everywhere(0, -kInfinity) && is_everywhere(2, kInfinity);
      return has_limits ? value.operand(1) : nullptr;
    }
    case Opcode::kAdd:
      return beside(0, /*commutes=*/true);
    case Opcode::kSubtract:
      return beside(0, /*commutes=*/false);
    case Opcode::kMultiply:
      return beside(1, /*commutes=*/true);
    case Opcode::kConvolution:
    case Opcode::kDot:
      return ContractsOneTerm(value) ? beside(1, /*commutes=*/true) : nullptr;
    case Opcode::kDivide:
    case Opcode::kPower:
      return beside(1, /*commutes=*/false);
    case Opcode::kMaximum:
      if (AreTheSame(value.operand(0), value.operand(1))) return value.operand(0);
      return beside(-kInfinity, /*commutes=*/true);
    case Opcode::kMinimum:
      if (AreTheSame(value.operand(0), value.operand(1))) return value.operand(0);
      return beside(kInfinity, /*commutes=*/true);
    case Opcode::kSelect:
      return ChosenOperand(value);
    case Opcode::kNegate: {
      const Instruction* inner = value.operand(0);
      return inner->opcode() == Opcode::kNegate ? inner->operand(0) : nullptr;
    }
    case Opcode::kAbs:
      return IsNeverNegative(*value.operand(0), constants) ? value.operand(0) : nullptr;
    default:
      return WhatItMovesWhole(value);
  }
}

bool Producers::Any(const Instruction& value, const Predicate& property) {
  left_ = kMostVisits;
  return Visit(value, {property, /*by_element=*/true});
}

bool Producers::IsA(const Instruction& value, Opcode opcode) {
  return Any(value, [&](const Instruction& made) { return made.opcode() == opcode; });
}

const Instruction* Producers::Find(const Instruction& value, Opcode opcode) {
  const Instruction* found = nullptr;
  Any(value, [&](const Instruction& made) {
    if (made.opcode() == opcode) found = &made;
    return found != nullptr;
  });
  return found;
}

bool Producers::IsWidened(const Instruction& value) {
  left_ = kMostVisits;
  return VisitWidened(value);
}

// Compilers fold every op on constants alone. What the walk looks through need not be evaluated.
double Producers::ConstantMagnitude(const Instruction& value) {
  double largest = -1;
  Any(value, [&](const Instruction& made) {
    if (IsWalkedThrough(made)) return false;
    if (constants_.IsConstant(made)) largest = constants_.Magnitude(made);
    return largest >= 0;
  });
  return largest;
}

bool Producers::IsConstant(const Instruction& value) {
  return Any(value, [&](const Instruction& made) {
    return !IsWalkedThrough(made) && constants_.IsConstant(made);
  });
}

bool Producers::VisitWidened(const Instruction& value) {
  return Visit(value, {[this](const Instruction& made) { return MakesWidened(made); },
                       /*by_element=*/false});
}

bool Producers::MakesWidened(const Instruction& made) {
  if (made.opcode() == Opcode::kBroadcast)
    return made.operand(0)->shape().ElementCount() < made.shape().ElementCount();
  if (!Info(made.opcode()).Is(kElementwise)) return false;
  auto is_constant = [](const Instruction& value) { return value.opcode() == Opcode::kConstant; };
  bool any = false;
  for (const Instruction* operand : made.operands()) {
    const bool is_widened = VisitWidened(*operand);
    if (!is_widened && !Visit(*operand, {is_constant, /*by_element=*/true})) return false;
    any = any || is_widened;
  }
  return any;
}

bool Producers::Visit(const Instruction& value, const Search& search, Path path) {
  if (left_-- <= 0) return false;
  if (path.empty() && search.property(value)) return true;
  auto operand = [&](int64_t i) { return Visit(*value.operand(i), search, path); };
  switch (value.opcode()) {
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kCopy:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kOptBarrier:
      return operand(0);
    case Opcode::kBroadcast: {
      const bool keeps_elements =
          value.shape().ElementCount() == value.operand(0)->shape().ElementCount();
      return (search.by_element || keeps_elements) && operand(0);
    }
    case Opcode::kTuple: {
      if (path.empty()) return false;
      const int64_t element = path.back();
      path.pop_back();
      return operand(element);
    }
    case Opcode::kGetTupleElement:
      path.push_back(value.tuple_index());
      return operand(0);
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kConditional:
      return absl::c_any_of(value.callees(), [&](const Computation* callee) {
        return Visit(*callee->root(), search, path);
      });
    case Opcode::kWhile:  // which may make no trip
      return operand(0) || Visit(*value.callee(1)->root(), search, path);
    case Opcode::kScan:  // which may make no step
      return Visit(*value.callee()->root(), search, path) || VisitStart(value, search, path);
    case Opcode::kParameter:
      return VisitCallers(value, search, path);
    default: {
      const bool is_passed = value.opcode() == Opcode::kConvert
                                 ? KeepsNumbers(value)
                                 : ignores_signs_ && value.opcode() == Opcode::kNegate;
      if (is_passed) return operand(0);
      const Instruction* unchanged = UnchangedOperand(value, constants_);
      if (unchanged != nullptr) return Visit(*unchanged, search, path);
      return search.by_element && VisitMoved(value, search, path);
    }
  }
}

bool Producers::VisitMoved(const Instruction& value, const Search& search, Path path) {
  if (value.shape().IsTuple()) {  // a sort's or a top-k's
    if (path.empty() || path.back() >= value.operand_count()) return false;
    const int64_t element = path.back();
    path.pop_back();
    const bool moves = value.opcode() == Opcode::kSort || value.opcode() == Opcode::kTopK;
    return moves && Visit(*value.operand(element), search, path);
  }
  if (!MovesElements(value)) return false;
  const ElementType type = value.shape().element_type();
  return absl::c_any_of(value.operands(), [&](const Instruction* operand) {
    const bool is_moved = operand->shape().IsArray() && operand->shape().element_type() == type;
    return is_moved && Visit(*operand, search, path);
  });
}

bool Producers::VisitStart(const Instruction& scan, const Search& search, Path path) {
  const bool is_tuple = scan.shape().IsTuple();
  if (is_tuple && path.empty()) return false;
  const int64_t carry = (is_tuple ? path.back() : 0) - OutputsOf(scan);
  if (carry < 0) return false;
  if (is_tuple) path.pop_back();
  return Visit(*scan.operand(InputsOf(scan) + carry), search, path);
}

bool Producers::VisitCallers(const Instruction& parameter, const Search& search, const Path& path) {
  const InliningCallers& callers = constants_.callers();
  const auto at = callers.find(parameter.parent());
  if (at == callers.end()) return false;
  for (const Instruction* caller : at->second) {
    for (const InlinedArgument& argument :
         ArgumentsOf(*caller, *parameter.parent(), parameter.parameter_number())) {
      Path inner = path;
      if (argument.element >= 0) inner.push_back(argument.element);
      if (Visit(*argument.value, search, std::move(inner))) return true;
    }
  }
  return false;
}

}  // namespace assay::reference
