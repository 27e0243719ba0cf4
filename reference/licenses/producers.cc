// The walk from a value to what may have made it.
#include "reference/licenses/producers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "reference/licenses/rules.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

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
  constexpr Opcode kOps[] = {Opcode::kBitcast,    Opcode::kBroadcast, Opcode::kCall,
                             Opcode::kCopy,       Opcode::kFusion,    Opcode::kGetTupleElement,
                             Opcode::kOptBarrier, Opcode::kParameter, Opcode::kReshape,
                             Opcode::kReverse,    Opcode::kTranspose};
  return absl::c_linear_search(kOps, value.opcode()) || !value.shape().IsArray();
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

bool KeepsNumbers(const Instruction& convert) {
  const ElementType from = convert.operand(0)->shape().element_type();
  const ElementType to = convert.shape().element_type();
  if (from == to) return true;
  if (!IsFloat(from) || !IsFloat(to)) return false;
  const FloatFormat &narrow = Format(from), &wide = Format(to);
  return wide.precision() >= narrow.precision() && wide.MaxFinite() >= narrow.MaxFinite() &&
         wide.MinSubnormal() <= narrow.MinSubnormal();
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
