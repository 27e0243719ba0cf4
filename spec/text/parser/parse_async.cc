// Reads async sugar. Document: hlo-format chapter 3.11.
#include "spec/base/strings.h"
#include "spec/text/async_sugar.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

struct Suffix {
  std::string_view text;
  Opcode opcode;
};
constexpr Suffix kSuffixes[] = {{"-start", Opcode::kAsyncStart},
                                {"-update", Opcode::kAsyncUpdate},
                                {"-done", Opcode::kAsyncDone}};

// The root of the computation that an update or done belongs to; nullptr when its operand came
// through other ops.
const Instruction* WrappedRoot(const Instruction* at) {
  while (at->opcode() == Opcode::kAsyncUpdate && at->operand_count() > 0) at = at->operand(0);
  if (at->opcode() != Opcode::kAsyncStart || at->callees().empty()) return nullptr;
  return at->callee()->root();
}

}  // namespace

std::optional<AsyncSugar> FindAsyncSugar(std::string_view word) {
  for (const Suffix& suffix : kSuffixes) {
    if (!word.ends_with(suffix.text)) continue;
    const std::optional<Opcode> wrapped =
        OpcodeFromName(word.substr(0, word.size() - suffix.text.size()));
    if (wrapped.has_value() && TakesAsyncSugar(*wrapped))
      return AsyncSugar{suffix.opcode, *wrapped};
  }
  return std::nullopt;
}

// Behind the '('.
Instruction* Parser::ParseAsyncStart(BodyScope* scope, std::string_view name, Opcode opcode,
                                     const Shape* written, size_t position) {
  const OpInfo& info = Info(opcode);
  OperandVector operands;
  if (!ParseOperands(scope, &operands)) return nullptr;
  if (written == nullptr || !written->IsTuple() || written->elements().size() < 2 ||
      !written->elements()[0].IsTuple() ||
      written->elements()[0].elements().size() < operands.size()) {
    Fail(position, StrCat(info.name, "-start needs a written shape ((arguments), result, ...)"));
    return nullptr;
  }
  const std::vector<Shape>& arguments = written->elements()[0].elements();
  const auto count = static_cast<int64_t>(arguments.size());
  if (!info.operands.Allows(count)) {
    Fail(position, StrCat(info.name, "-start lists ", count, " arguments, ", info.name,
                          " takes another number"));
    return nullptr;
  }
  AttributeState state;
  state.async = true;
  if (!ParseAttributes(info, scope, &state)) return nullptr;
  Computation* wrapped = module_->AddComputation("async_wrapped");
  OperandVector parameters;
  for (int64_t i = 0; i < count; ++i)
    parameters.push_back(wrapped->AddParameter(i, arguments[i], "async_param"));
  absl::InlinedVector<Computation*, 1> callees;
  if (!FinishAttributes(info, parameters, &state, position) ||
      !FinishCallees(info, parameters, &state, position, &callees)) {
    return nullptr;
  }
  Attributes outer = std::move(state.async_attributes);
  if (const AttrValue* sharding = state.attributes.Find(Attr::kSharding)) {
    outer.Set(Attr::kSharding, *sharding);
    state.attributes.Remove(Attr::kSharding);
  }
  for (Attr attr : kSharedWithWrapped) {
    if (const AttrValue* value = state.attributes.Find(attr)) outer.Set(attr, *value);
  }
  wrapped->set_execution_thread(outer.String(Attr::kAsyncExecutionThread));
  wrapped->set_root(wrapped->Add(opcode, written->elements()[1], parameters,
                                 std::move(state.attributes), callees, info.name));
  const std::string generated = name.empty() ? StrCat(info.name, "-start.anon") : std::string(name);
  Instruction* start = scope->computation->Add(Opcode::kAsyncStart, *written, operands,
                                               std::move(outer), {wrapped}, generated);
  for (Instruction* predecessor : state.control_predecessors)
    start->AddControlPredecessor(predecessor);
  return start;
}

bool Parser::CheckAsyncOpcode(const AsyncSugar& sugar, const OperandVector& operands,
                              size_t position) {
  if (operands.empty()) return true;
  const Instruction* root = WrappedRoot(operands[0]);
  if (root == nullptr || root->opcode() == sugar.wrapped) return true;
  return Fail(position, StrCat("this belongs to the start of ", Name(root->opcode()), ", not of ",
                               Name(sugar.wrapped)));
}

}  // namespace assay::text_internal
