#include "reference/custom_call.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <numeric>

#include "reference/bounds/elements.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CustomCallFunction> functions;
};
Registry& UserFunctions() {
  static auto& registry = *new Registry;
  return registry;
}

const std::string& Target(const OpContext& op) {
  return op.instruction.attributes().String(Attr::kCustomCallTarget);
}

// Annotations: the operand, whatever the device, the sharding or the layout.
absl::StatusOr<Value> ApplyIdentity(Interpreter&, const OpContext& op) {
  if (op.operands.size() != 1 || !Compatible(op.instruction.operand(0)->shape(), op.shape)) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(op.instruction.name(), ": ", Target(op),
                            " is the identity only on one operand of the result's shape"));
  }
  return *op.operands[0];
}

// The k largest of the last dimension, NaN first, ties by index.
absl::StatusOr<Value> ApplyTopK(Interpreter& interpreter, const OpContext& op) {
  const bool fits = op.operands.size() == 1 && op.shape.IsTuple() &&
                    op.shape.elements().size() == 2 && op.array(0).literal.shape().rank() >= 1 &&
                    IsFloat(op.array(0).literal.element_type()) &&
                    op.shape.elements()[1].element_type() == ElementType::kS32;
  if (!fits) {
    return MakeError(ErrorClass::kUnsupported, StrCat(op.instruction.name(),
                                                      ": TopK takes an array of floats and gives "
                                                      "values and s32 indices"));
  }
  const Array& operand = op.array(0);
  const int64_t size = operand.literal.shape().dimensions().back();
  const int64_t k = op.shape.elements()[0].dimensions().back();
  if (absl::Status status = interpreter.budget().Take(operand.literal.element_count());
      !status.ok())
    return status;
  Array values{Literal(op.shape.elements()[0])}, indices{Literal(op.shape.elements()[1])};
  const int64_t rows = size == 0 ? 0 : operand.literal.element_count() / size;
  const FloatFormat& format = Format(operand.literal.element_type());
  std::vector<int64_t> order(static_cast<size_t>(size));
  for (int64_t row = 0; row < rows; ++row) {
    std::iota(order.begin(), order.end(), 0);
    auto rank = [&](int64_t i) {
      const uint64_t code = operand.literal.GetBits(row * size + i);
      return IsNanCode(format, code) ? std::numeric_limits<int64_t>::max()
                                     : Ordinal(format, code) * 2 + (code == 0 ? 1 : 0);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
    for (int64_t i = 0; i < k; ++i) {
      values.literal.SetBits(row * k + i, operand.literal.GetBits(row * size + order[i]));
      indices.literal.SetInteger(row * k + i, order[i]);
    }
  }
  if (!operand.Certain()) {
    MakeUndecided(values);
    MakeUndecided(indices);
  }
  return Value::Tuple({MakeValue(std::move(values), interpreter.memory()),
                       MakeValue(std::move(indices), interpreter.memory())});
}

constexpr CustomCallTarget kTargets[] = {
    {"Sharding", ApplyIdentity},
    {"SPMDFullToShardShape", ApplyIdentity},
    {"SPMDShardToFullShape", ApplyIdentity},
    {"LayoutConstraint", ApplyIdentity},
    {"MoveToHost", ApplyIdentity},
    {"MoveToDevice", ApplyIdentity},
    {"annotate_device_placement", ApplyIdentity},
    {"xla.sdy.FuncResultSharding", ApplyIdentity},
    {"TopK", ApplyTopK},
};

ApplyFn FindTarget(std::string_view target) {
  for (const CustomCallTarget& known : kTargets)
    if (known.name == target) return known.apply;
  const absl::Span<const CustomCallTarget> families[] = {FactorizationTargets(), ReflectorTargets(),
                                                         EigenvalueTargets(), SchurTargets()};
  // Names of XLA's expanders begin with a capital letter, those of LAPACK's routines do not.
  for (absl::Span<const CustomCallTarget> family : families)
    for (const CustomCallTarget& known : family)
      if (known.name == target && known.name[0] < 'a') return known.apply;
  constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi";
  const bool is_lapack = target.size() > kPrefix.size() + kSuffix.size() + 1 &&
                         target.substr(0, kPrefix.size()) == kPrefix &&
                         target.substr(target.size() - kSuffix.size()) == kSuffix;
  if (!is_lapack) return nullptr;
  target.remove_prefix(kPrefix.size() + 1);
  target.remove_suffix(kSuffix.size());
  for (absl::Span<const CustomCallTarget> family : families)
    for (const CustomCallTarget& known : family)
      if (known.name == target) return known.apply;
  return nullptr;
}

// A value as C code sees it: `pointers` keeps the arrays of pointers alive.
void* PointerTo(Literal& literal, std::vector<std::unique_ptr<std::vector<void*>>>& pointers) {
  if (!literal.shape().IsTuple()) return literal.bytes().data();
  auto elements = std::make_unique<std::vector<void*>>();
  for (Literal& element : literal.mutable_elements())
    elements->push_back(PointerTo(element, pointers));
  pointers.push_back(std::move(elements));
  return pointers.back()->data();
}

bool IsCertain(const Value& value) {
  if (!value.IsTuple()) return value.array->Certain();
  return std::all_of(value.elements.begin(), value.elements.end(), IsCertain);
}

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
  absl::StatusOr<Literal> result = Literal::Create(op.shape);
  if (!result.ok()) return result.status();
  function(PointerTo(*result, pointers), in.data());
  const Value value = MakeValue(*result, interpreter.memory());
  return certain ? value : Undecided(value, interpreter.memory());
}

absl::StatusOr<Value> ApplyCustomCall(Interpreter& interpreter, const OpContext& op) {
  CustomCallFunction function = nullptr;
  {
    Registry& registry = UserFunctions();
    std::lock_guard<std::mutex> lock(registry.mutex);
    auto it = registry.functions.find(Target(op));
    if (it != registry.functions.end()) function = it->second;
  }
  if (function != nullptr) return CallUserFunction(interpreter, op, function);
  const ApplyFn apply = FindTarget(Target(op));
  if (apply == nullptr) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(op.instruction.name(), ": the oracle knows no custom call \"",
                            Target(op), "\"; register a function for it"));
  }
  return apply(interpreter, op);
}

}  // namespace

std::optional<int64_t> ConfigInteger(const OpContext& op, std::string_view key) {
  const std::string& config = op.instruction.attributes().String(Attr::kBackendConfig);
  const std::string start = StrCat(key, " = ");
  for (size_t at = config.find(start); at != std::string::npos; at = config.find(start, at + 1)) {
    const bool whole_word = at == 0 || config[at - 1] == '{' || config[at - 1] == ' ';
    if (!whole_word) continue;
    int64_t value = 0;
    const char* first = config.data() + at + start.size();
    const auto [end, error] = std::from_chars(first, config.data() + config.size(), value);
    if (error == std::errc() && end != first) return value;
  }
  return std::nullopt;
}

bool HasOption(const OpContext& op, std::string_view key, char letter) {
  return ConfigInteger(op, key).value_or(0) == letter;
}

bool HasFlag(const OpContext& op, std::string_view key) {
  const std::string& config = op.instruction.attributes().String(Attr::kBackendConfig);
  const std::string text = StrCat(key, " = true");
  const size_t at = config.find(text);
  return at != std::string::npos && (at == 0 || config[at - 1] == '{' || config[at - 1] == ' ');
}

absl::Span<const OpEvaluation> CustomCallEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kCustomCall, .apply = ApplyCustomCall},
  };
  return kRows;
}

}  // namespace assay::reference

namespace assay {

void RegisterCustomCall(const std::string& target, CustomCallFunction function) {
  reference::Registry& registry = reference::UserFunctions();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.functions[target] = function;
}

}  // namespace assay
