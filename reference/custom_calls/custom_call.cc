// The table of custom-call targets, and the calls that need no matrix.
#include "reference/custom_calls/custom_call.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "reference/bounds/elements.h"
#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/call_signature.h"
#include "reference/custom_calls/library_calls.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/values/leaves.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

const std::string& Target(const OpContext& op) {
  return op.instruction.attributes().String(Attr::kCustomCallTarget);
}

// Annotations that say something about device, sharding, layout or the buffer to keep and have the
// value of the operand; that of a buffer is the array in it.
const Shape& InBuffer(const Shape& shape) { return shape.IsBuffer() ? shape.elements()[0] : shape; }

absl::StatusOr<Value> GiveFirstOperand(Interpreter&, const OpContext& op) {
  if (op.operands.size() != 1 ||
      !Compatible(InBuffer(op.instruction.operand(0)->shape()), InBuffer(op.shape))) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(op.instruction.name(), ": ", Target(op),
                            " is the identity only on one operand of the result's shape"));
  }
  return *op.operands[0];
}

// TopK: the k largest elements along the last dimension by the total order, equal ones by index.
absl::StatusOr<Value> ApplyTopK(Interpreter& interpreter, const OpContext& op) {
  bool fits = op.operands.size() == 1 && !op.operands[0]->IsTuple() &&
              op.array(0).literal.shape().rank() >= 1 &&
              IsFloat(op.array(0).literal.element_type()) && op.shape.IsTuple() &&
              op.shape.elements().size() == 2;
  for (size_t k = 0; fits && k < 2; ++k) {
    const Shape &of = op.array(0).literal.shape(), &shape = op.shape.elements()[k];
    fits = shape.IsArray() && shape.rank() == of.rank() &&
           shape.element_type() == (k == 0 ? of.element_type() : ElementType::kS32) &&
           shape.dimensions().back() == op.shape.elements()[0].dimensions().back() &&
           shape.dimensions().back() <= of.dimensions().back();
    for (int64_t d = 0; fits && d + 1 < of.rank(); ++d)
      fits = shape.dimension(d) == of.dimension(d);
  }
  if (!fits) {
    return MakeError(ErrorClass::kUnsupported, StrCat(op.instruction.name(),
                                                      ": TopK takes an array of floats and gives "
                                                      "values and s32 indices"));
  }
  // Without attributes of its own it is the op of that name.
  return TopKEvaluations()[0].apply(interpreter, op);
}

// An array of which nothing is known.
absl::StatusOr<Value> GiveAnything(Interpreter& interpreter, const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(const Literal zeros, Literal::Create(op.shape));
  const Value value = MakeValue(zeros, interpreter.memory());
  return interpreter.bounding() ? Undecided(value, interpreter.memory()) : value;
}

// Targets that check their shapes themselves.
struct PlainTarget {
  std::string_view name;
  ApplyFn apply;
};
constexpr PlainTarget kPlainTargets[] = {
    {"Sharding", GiveFirstOperand},
    {"SPMDFullToShardShape", GiveFirstOperand},
    {"SPMDShardToFullShape", GiveFirstOperand},
    {"LayoutConstraint", GiveFirstOperand},
    {"MoveToHost", GiveFirstOperand},
    {"MoveToDevice", GiveFirstOperand},
    {"annotate_device_placement", GiveFirstOperand},
    {"Pin", GiveFirstOperand},
    {"Unpin", GiveFirstOperand},
    {"xla.sdy.FuncResultSharding", GiveFirstOperand},
    {"TopK", ApplyTopK},
    {kUnspecifiedTarget, GiveAnything},
};

// The name of a routine within a target: "getrf" for lapack_sgetrf_ffi and lapack_sgetrf, empty for
// targets of another form. `typed`: the target has the typed interface.
std::string_view RoutineName(std::string_view target, bool* typed) {
  constexpr std::string_view kSuffix = "_ffi";
  *typed = target.ends_with(kSuffix);
  if (*typed) target.remove_suffix(kSuffix.size());
  for (std::string_view prefix : {"lapack_", "blas_"})
    if (target.starts_with(prefix) && target.size() > prefix.size() + 1)
      return target.substr(prefix.size() + 1);
  return "";
}

const CustomCallTarget* FindMatrixTarget(std::string_view target, bool* typed) {
  // Names of XLA's expanders begin with a capital letter, those of LAPACK's routines do not.
  const std::string_view routine = RoutineName(target, typed);
  const bool is_expander = routine.empty();
  if (is_expander) *typed = true;
  for (absl::Span<const CustomCallTarget> family :
       {FactorizationTargets(), ReflectorTargets(), EigenvalueTargets(), SchurTargets()})
    for (const CustomCallTarget& known : family)
      if (known.name == (is_expander ? target : routine) && (known.name[0] < 'a') == is_expander)
        return &known;
  return nullptr;
}

// The address at which C code finds the value; `pointers` keeps the arrays of pointers alive.
void* PointerTo(Literal& literal, std::vector<std::unique_ptr<std::vector<void*>>>& pointers) {
  if (!literal.shape().IsTuple()) return literal.bytes().data();
  auto elements = std::make_unique<std::vector<void*>>();
  for (Literal& element : literal.mutable_elements())
    elements->push_back(PointerTo(element, pointers));
  pointers.push_back(std::move(elements));
  return pointers.back()->data();
}

bool IsCertain(const Value& value) {
  const std::vector<const Array*> arrays = ArraysOf(value);
  return std::all_of(arrays.begin(), arrays.end(),
                     [](const Array* array) { return array->Certain(); });
}

absl::StatusOr<Value> CallUserFunction(Interpreter& interpreter, const OpContext& op,
                                       CustomCallFunction function) {
  std::vector<std::unique_ptr<std::vector<void*>>> pointers;
  std::vector<Literal> operands;
  bool certain = true;
  for (const Value* operand : op.operands) {
    operands.push_back(ToLiteral(*operand));
    certain = certain && IsCertain(*operand);
  }
  std::vector<const void*> in;
  for (Literal& operand : operands) in.push_back(PointerTo(operand, pointers));
  ASSAY_ASSIGN_OR_RETURN(Literal result, Literal::Create(op.shape));
  function(PointerTo(result, pointers), in.data());
  const Value value = MakeValue(result, interpreter.memory());
  return certain ? value : Undecided(value, interpreter.memory());
}

absl::StatusOr<Value> ApplyCustomCall(Interpreter& interpreter, const OpContext& op) {
  if (const CustomCallFunction function = interpreter.custom_call(Target(op)); function != nullptr)
    return CallUserFunction(interpreter, op, function);
  for (const PlainTarget& known : kPlainTargets)
    if (known.name == Target(op)) return known.apply(interpreter, op);
  bool typed = true;
  if (const CustomCallTarget* known = FindMatrixTarget(Target(op), &typed)) {
    return typed ? ApplyTypedCall(interpreter, op, *known)
                 : ApplyLegacyCall(interpreter, op, *known);
  }
  const bool is_for_partitioner = Target(op).find("xla.sdy.") == 0;
  return MakeError(
      ErrorClass::kUnsupported,
      StrCat(op.instruction.name(), ": the oracle knows no custom call \"", Target(op), "\"; ",
             is_for_partitioner
                 ? "the program has parts that are written for one device (shard_map): check what "
                   "the partitioner makes of it, which a dump has after spmd-partitioning or after "
                   "optimizations"
                 : "register a function for it"));
}

}  // namespace

Value Undecided(const Value& value, MemoryMeter& meter) {
  if (value.IsTuple()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements) elements.push_back(Undecided(element, meter));
    return Value::Tuple(std::move(elements));
  }
  Array array = *value.array;
  MakeUndecided(array);
  return MakeValue(std::move(array), meter);
}

absl::StatusOr<Value> ApplyTypedCall(Interpreter& interpreter, const OpContext& op,
                                     const CustomCallTarget& target) {
  const bool is_complex =
      !op.operands.empty() && !op.operands[0]->IsTuple() && IsComplex(op.literal(0).element_type());
  ASSAY_RETURN_IF_ERROR(CheckSignature(op, is_complex && !target.complex_signature.empty()
                                               ? target.complex_signature
                                               : target.signature));
  for (std::string_view rest = target.options; !rest.empty();) {
    const std::string_view option = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(option.size() + 1, rest.size()));
    if (!FindOption(op, option).has_value()) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat(op.instruction.name(), ": ", Target(op), " needs ", option,
                              " in its backend_config; texts of old versions leave it out"));
    }
  }
  return target.apply(interpreter, op);
}

absl::Span<const OpEvaluation> CustomCallEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kCustomCall, .apply = ApplyCustomCall},
  };
  return kRows;
}

}  // namespace assay::reference
