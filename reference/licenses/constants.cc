// The walk from a value to the literals that it is made of, and back with their values.
#include "reference/licenses/constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Instructions that one question looks at, values that are kept for the callers of a computation,
// and elements of the largest array whose values are asked for.
constexpr int kMostLooks = 256;
constexpr size_t kMostValues = 4;
constexpr int64_t kMostElements = int64_t{1} << 22;

// True of ops whose result is not made of their operands alone, or not the same every time.
bool IsNeverFolded(const Instruction& value) {
  switch (value.opcode()) {
    case Opcode::kCustomCall:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return true;
    default: {
      const OpInfo& info = Info(value.opcode());
      return info.Is(kSideEffect) || info.family == OpFamily::kCommunication ||
             (value.operands().empty() && value.opcode() != Opcode::kIota);
    }
  }
}

// One number as an array of it.
Value Filled(const Array& array, int64_t element, const Shape& shape) {
  Literal filled(Shape::Array(shape.element_type(), shape.dimensions()));
  const size_t width = array.literal.bytes().size() / array.literal.element_count();
  for (int64_t i = 0; i < filled.element_count(); ++i)
    std::memcpy(filled.bytes().data() + i * width, array.literal.bytes().data() + element * width,
                width);
  return {std::make_shared<const Array>(Array(std::move(filled))), {}};
}

// The elements of an array that are smallest and largest, each as a value of that shape: what a
// computation that is applied to its parts may be given.
std::vector<Value> ExtremesAs(const Value& value, const Shape& shape) {
  const Literal& literal = value.array->literal;
  if (literal.element_count() == 0 || shape.ElementCount() > kMostElements) return {};
  const int64_t width = literal.component_count() / literal.element_count();
  int64_t least = 0, most = 0;
  for (int64_t i = 1; i < literal.element_count(); ++i) {
    if (literal.GetComponent(i * width) < literal.GetComponent(least * width)) least = i;
    if (literal.GetComponent(i * width) > literal.GetComponent(most * width)) most = i;
  }
  return {Filled(*value.array, least, shape), Filled(*value.array, most, shape)};
}

std::optional<Value> ElementAt(Value value, const std::vector<int64_t>& path) {
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    if (*at >= static_cast<int64_t>(value.elements.size())) return std::nullopt;
    Value element = value.elements[static_cast<size_t>(*at)];
    value = std::move(element);
  }
  return value;
}

}  // namespace

int64_t InputsOf(const Instruction& scan) {
  return scan.operand_count() - scan.attributes().Integer(Attr::kNumCarries);
}
int64_t OutputsOf(const Instruction& scan) {
  const int64_t results =
      scan.shape().IsTuple() ? static_cast<int64_t>(scan.shape().elements().size()) : 1;
  return results - scan.attributes().Integer(Attr::kNumCarries);
}

std::vector<InlinedArgument> ArgumentsOf(const Instruction& caller, const Computation& computation,
                                         int64_t number) {
  switch (caller.opcode()) {
    case Opcode::kWhile:
      return {{caller.operand(0)}, {caller.callee(1)->root()}};
    case Opcode::kScan: {
      const int64_t carry = number - InputsOf(caller);
      if (carry < 0) return {{caller.operand(number)}};
      const int64_t element = caller.shape().IsTuple() ? OutputsOf(caller) + carry : -1;
      return {{caller.operand(number)}, {caller.callee()->root(), element}};
    }
    case Opcode::kConditional: {
      std::vector<InlinedArgument> arguments;
      for (size_t k = 0; k < caller.callees().size(); ++k)
        if (caller.callees()[k] == &computation)
          arguments.push_back({caller.operand(static_cast<int64_t>(k) + 1)});
      return arguments;
    }
    default:
      return {{caller.operand(number)}};
  }
}

InliningCallers FindInliningCallers(const Module& module) {
  InliningCallers callers;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      switch (instruction->opcode()) {
        case Opcode::kCall:
        case Opcode::kFusion:
        case Opcode::kMap:
        case Opcode::kWhile:
        case Opcode::kScan:
        case Opcode::kConditional:
          for (const Computation* callee : instruction->callees()) {
            std::vector<const Instruction*>& known = callers[callee];
            if (known.empty() || known.back() != instruction) known.push_back(instruction);
          }
          break;
        default:
          break;
      }
    }
  }
  return callers;
}

bool Constants::IsConstant(const Instruction& value) {
  return FoldFor(value, Ask::kWhether).is_constant;
}

double Constants::Magnitude(const Instruction& value) {
  const Folded folded = FoldFor(value, Ask::kValues);
  if (!folded.is_constant) return -1;
  if (folded.values.empty()) return std::numeric_limits<double>::infinity();
  double largest = -1;
  for (const Value& each : folded.values) {
    if (each.IsTuple()) return -1;
    const Literal& literal = each.array->literal;
    if (literal.element_count() == 0) largest = std::max(largest, 0.0);
    for (int64_t k = 0; k < literal.component_count(); ++k) {
      const double size = std::fabs(literal.GetComponent(k));
      // An infinity stays one whatever is added to it, or scales it; a NaN does in any case.
      if (!std::isnan(size)) largest = std::max(largest, std::isinf(size) ? 0 : size);
    }
  }
  return largest;
}

// True if each of the values that the constant may have has the property.
bool Constants::HasOnly(const Instruction& value, const std::function<bool(const Literal&)>& has) {
  if (value.opcode() == Opcode::kConstant)  // saves a copy
    return value.literal() != nullptr && value.shape().IsArray() && has(*value.literal());
  if (!value.shape().IsArray() || !FoldFor(value, Ask::kWhether).is_constant) return false;
  const Folded folded = FoldFor(value, Ask::kValues);
  return !folded.values.empty() &&
         std::all_of(folded.values.begin(), folded.values.end(),
                     [&has](const Value& each) { return has(each.array->literal); });
}

bool Constants::IsEverywhere(const Instruction& value, double number) {
  const bool is_complex = IsComplex(value.shape().element_type());
  return HasOnly(value, [is_complex, number](const Literal& literal) {
    for (int64_t k = 0; k < literal.component_count(); ++k)
      if (literal.GetComponent(k) != (is_complex && k % 2 == 1 ? 0 : number)) return false;
    return literal.element_count() > 0;
  });
}

bool Constants::IsNowhereNegative(const Instruction& value) {
  return HasOnly(value, [](const Literal& literal) {
    for (int64_t k = 0; k < literal.component_count(); ++k)
      if (!(literal.GetComponent(k) >= 0)) return false;
    return literal.element_count() > 0;
  });
}

Constants::Folded Constants::FoldFor(const Instruction& value, Ask ask) {
  ask_ = ask;
  left_ = kMostLooks;
  calls_.clear();
  loops_.clear();
  return Fold(value, {});
}

Constants::Folded Constants::Fold(const Instruction& value, Path path) {
  if (left_-- <= 0) return {};
  // Within a caller that was entered the parameters are those of one call.
  if (!path.empty() || !calls_.empty() || !loops_.empty()) return FoldUnknown(value, path);
  auto& known = known_[static_cast<size_t>(ask_)];
  if (const auto at = known.find(&value); at != known.end()) return at->second;
  Folded folded = FoldUnknown(value, std::move(path));
  if (left_ > 0) known.try_emplace(&value, folded);
  return folded;
}

Constants::Folded Constants::FoldUnknown(const Instruction& value, Path path) {
  switch (value.opcode()) {
    case Opcode::kConstant:
      return FoldLiteral(value, path);
    case Opcode::kParameter:
      return FoldParameter(value, path);
    case Opcode::kTuple: {
      if (path.empty()) return FoldOp(value, path);
      const int64_t element = path.back();
      path.pop_back();
      return Fold(*value.operand(element), std::move(path));
    }
    case Opcode::kGetTupleElement:
      path.push_back(value.tuple_index());
      return Fold(*value.operand(0), std::move(path));
    case Opcode::kOptBarrier:
      return Fold(*value.operand(0), std::move(path));
    case Opcode::kCall:
    case Opcode::kFusion:
      return FoldBody(value, *value.callee(), path);
    case Opcode::kConditional: {
      Folded any;
      for (const Computation* branch : value.callees()) {
        Folded folded = FoldBody(value, *branch, path);
        if (!folded.is_constant) continue;
        const bool is_known = !folded.values.empty() && (!any.is_constant || !any.values.empty());
        any.is_constant = true;
        if (!is_known) any.values.clear();
        for (Value& each : folded.values)
          if (is_known && any.values.size() < kMostValues) any.values.push_back(std::move(each));
      }
      return any;
    }
    case Opcode::kWhile: {
      // The whole loop, if it starts from constants alone; else what none of its trips changes.
      Folded whole = FoldOp(value, path);
      return whole.is_constant ? whole : FoldArguments(value, value, path);
    }
    default:
      return FoldOp(value, path);
  }
}

Constants::Folded Constants::FoldLiteral(const Instruction& constant, const Path& path) const {
  const Literal* literal = constant.literal();
  for (auto at = path.rbegin(); literal != nullptr && at != path.rend(); ++at)
    literal = &literal->elements()[static_cast<size_t>(*at)];
  Folded folded{.is_constant = true, .values = {}};
  const bool is_kept = ask_ == Ask::kValues && literal != nullptr && literal->shape().IsArray() &&
                       literal->element_count() <= kMostElements;
  if (is_kept) folded.values.push_back({std::make_shared<const Array>(Array(*literal)), {}});
  return folded;
}

// The result of an op on constants, or the element of it that is asked for.
Constants::Folded Constants::FoldOp(const Instruction& value, const Path& path) {
  if (IsNeverFolded(value)) return {};
  std::vector<Folded> operands;
  size_t combinations = 1;
  for (const Instruction* operand : value.operands()) {
    operands.push_back(Fold(*operand, {}));
    if (!operands.back().is_constant) return {};
    combinations *= operands.back().values.size();
  }
  Folded folded{.is_constant = true, .values = {}};
  if (ask_ == Ask::kWhether) return folded;
  for (size_t c = 0; c < std::min(combinations, kMostValues); ++c) {
    std::vector<Value> chosen;
    size_t rest = c;
    for (const Folded& operand : operands) {
      chosen.push_back(operand.values[rest % operand.values.size()]);
      rest /= operand.values.size();
    }
    std::optional<Value> result = EvaluateOp(value, std::move(chosen));
    if (result.has_value()) result = ElementAt(*std::move(result), path);
    if (!result.has_value()) return {.is_constant = true, .values = {}};
    folded.values.push_back(*std::move(result));
  }
  return folded;
}

std::optional<Value> Constants::EvaluateOp(const Instruction& value,
                                           std::vector<Value> operands) const {
  if (evaluate_ == nullptr) return std::nullopt;
  const auto is_one = [](const Value& each) {
    return !each.IsTuple() && each.array->literal.element_count() == 1;
  };
  if (value.opcode() == Opcode::kBroadcast && is_one(operands[0])) return operands[0];
  const bool are_numbers = !operands.empty() && Info(value.opcode()).Is(kElementwise) &&
                           std::all_of(operands.begin(), operands.end(), is_one);
  const Shape& whole = value.shape();
  const Shape shape = are_numbers ? Shape::Scalar(whole.element_type()) : whole;
  if (shape.IsArray() && shape.ElementCount() > kMostElements) return std::nullopt;
  std::vector<const Value*> pointers;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Shape& wanted = value.operand(static_cast<int64_t>(k))->shape();
    if (is_one(operands[k])) {
      if (!are_numbers && wanted.ElementCount() > kMostElements) return std::nullopt;
      operands[k] = Filled(*operands[k].array, 0,
                           are_numbers ? Shape::Scalar(wanted.element_type()) : wanted);
    }
    pointers.push_back(&operands[k]);
  }
  return evaluate_(value, shape, pointers);
}

Constants::Folded Constants::FoldBody(const Instruction& caller, const Computation& body,
                                      const Path& path) {
  calls_.push_back(&caller);
  Folded folded = Fold(*body.root(), path);
  calls_.pop_back();
  return folded;
}

Constants::Folded Constants::FoldParameter(const Instruction& parameter, const Path& path) {
  const auto at = callers_.find(parameter.parent());
  if (at == callers_.end()) return {};
  if (!calls_.empty()) {
    const absl::Span<Computation* const> callees = calls_.back()->callees();
    if (std::find(callees.begin(), callees.end(), parameter.parent()) != callees.end()) {
      const Instruction* caller = calls_.back();
      calls_.pop_back();
      Folded folded = FoldArguments(*caller, parameter, path);
      calls_.push_back(caller);
      return folded;
    }
  }
  for (const Instruction* caller : at->second) {
    Folded folded = FoldArguments(*caller, parameter, path);
    if (folded.is_constant) return folded;
  }
  return {};
}

// The constants that a caller gives for a parameter, or, of a loop, those that come out of it. Of a
// loop that goes on these are what it starts from and what its body makes of that.
Constants::Folded Constants::FoldArguments(const Instruction& caller, const Instruction& parameter,
                                           const Path& path) {
  const Shape& shape = parameter.shape();
  const bool is_result = &caller == &parameter;
  const Computation& computation = is_result ? *caller.callee(1) : *parameter.parent();
  const int64_t number = is_result ? 0 : parameter.parameter_number();
  Folded any;
  for (const InlinedArgument& argument : ArgumentsOf(caller, computation, number)) {
    const bool is_carried = argument.value->parent() != caller.parent();
    if (is_carried && !loops_.insert(&caller).second) continue;
    Path inner = path;
    if (argument.element >= 0) inner.push_back(argument.element);
    Folded folded = is_carried ? FoldBody(caller, *argument.value->parent(), inner)
                               : Fold(*argument.value, std::move(inner));
    if (is_carried) loops_.erase(&caller);
    if (!folded.is_constant) continue;
    any.is_constant = true;
    for (Value& each : folded.values) {
      std::vector<Value> taken = {each};
      // A computation of scalars, or of slices, is given parts of the array.
      const bool is_part = path.empty() && !each.IsTuple() && shape.IsArray() &&
                           each.array->literal.element_count() != 1 &&
                           each.array->literal.shape().dimensions() != shape.dimensions();
      if (is_part) taken = ExtremesAs(each, shape);
      for (Value& one : taken)
        if (any.values.size() < kMostValues) any.values.push_back(std::move(one));
    }
  }
  return any;
}

}  // namespace assay::reference
