// Instructions, operands, omitted shapes. Document: hlo-format chapters 3.2, 3.3, 3.10, 3.11.
#include <algorithm>

#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

std::string Operands(int64_t count) { return StrCat(count, count == 1 ? " operand" : " operands"); }

std::string ArityText(const OpInfo& info) {
  if (info.operands.IsFixed()) return Operands(info.operands.min);
  if (info.operands.max == kAnyNumber) return StrCat("at least ", Operands(info.operands.min));
  return StrCat(info.operands.min, " to ", Operands(info.operands.max));
}

}  // namespace

bool Parser::CheckInstructionName(std::string_view name, size_t position) {
  if (name.empty()) return Unexpected("an instruction: name = shape opcode(operands)");
  if (name.starts_with("__") && !name.starts_with("__xla_")) {
    return Fail(position, StrCat("name ", name, " begins with two underscores"));
  }
  if (std::optional<ElementType> type = ElementTypeFromName(name);
      type.has_value() && name != "tuple" && name != "buffer") {
    return Fail(position, StrCat("'", name, "' is an element type, not a name"));
  }
  return true;
}

bool Parser::ParseInstruction(BodyScope* scope) {
  size_t start = lexer_.Skip();
  bool is_root = lexer_.AcceptWord("ROOT");
  size_t position = lexer_.Skip();
  std::string_view name = lexer_.Name();
  if (!CheckInstructionName(name, position)) return false;
  if (!Expect('=', "an instruction's name")) return false;
  if (is_root && scope->root_was_marked) {
    Fail(start, StrCat("computation ", scope->computation->name(), " has a second ROOT"));
  }
  Instruction* instruction = ParseRightHandSide(scope, name, /*attributes=*/true);
  if (options_.places != nullptr && instruction != nullptr) {
    options_.places->instructions[instruction] = position;
  }
  if (is_root || !scope->root_was_marked) scope->root = instruction;
  scope->root_was_marked |= is_root;
  if (!scope->names.try_emplace(name, instruction).second) {
    return Fail(position, StrCat("a second instruction is called ", name));
  }
  return instruction != nullptr;
}

std::optional<Opcode> Parser::ParseOpcode(std::optional<AsyncSugar>* sugar) {
  size_t position = lexer_.Skip();
  std::string_view word = lexer_.Word();
  if (word.empty()) {
    Unexpected("an opcode");
    return std::nullopt;
  }
  std::optional<Opcode> opcode = OpcodeFromName(word);
  if (opcode.has_value()) return opcode;
  *sugar = FindAsyncSugar(word);
  if (sugar->has_value()) return (*sugar)->opcode;
  Fail(position, StrCat("unknown opcode '", word, "'"));
  return std::nullopt;
}

Instruction* Parser::ParseRightHandSide(BodyScope* scope, std::string_view name, bool attributes) {
  size_t start = lexer_.Skip();
  Shape written;
  bool has_shape = StartsShape();
  if (has_shape && !ParseShape(&written)) return nullptr;
  size_t position = lexer_.Skip();
  std::optional<AsyncSugar> sugar;
  std::optional<Opcode> opcode = ParseOpcode(&sugar);
  if (!opcode.has_value()) return nullptr;
  const OpInfo& info = Info(*opcode);
  if (!Expect('(', info.name)) return nullptr;
  if (sugar.has_value() && *opcode == Opcode::kAsyncStart) {
    return ParseAsyncStart(scope, name, sugar->wrapped, has_shape ? &written : nullptr, position);
  }
  OperandVector operands;
  AttributeState state;
  std::shared_ptr<const Literal> value;
  int64_t parameter_number = -1;
  if (*opcode == Opcode::kParameter) {
    if (!ParseParameterNumber(&parameter_number)) return nullptr;
  } else if (*opcode == Opcode::kConstant) {
    if (!ParseConstantValue(has_shape ? &written : nullptr, &value)) return nullptr;
  } else if (!ParseOperands(scope, &operands)) {
    return nullptr;
  }
  int64_t count = static_cast<int64_t>(operands.size());
  if (!info.operands.Allows(count)) {
    Fail(position, StrCat(info.name, " takes ", ArityText(info), ", ", count, " given"));
    return nullptr;
  }
  if (sugar.has_value() && !CheckAsyncOpcode(*sugar, operands, position)) return nullptr;
  absl::InlinedVector<Computation*, 1> callees;
  if (attributes && !ParseAttributes(info, scope, &state)) return nullptr;
  if (!FinishAttributes(info, operands, &state, position) ||
      !FinishCallees(info, operands, &state, position, &callees)) {
    return nullptr;
  }
  if (*opcode == Opcode::kParameter) {
    state.attributes.Set(Attr::kParameterNumber, AttrValue(parameter_number));
    size_t flags = state.attributes.Integers(Attr::kParameterReplication).size();
    if (flags != 0 && static_cast<int64_t>(flags) != LeafCount(written)) {
      Fail(position, StrCat("parameter_replication has ", flags, " entries; the shape has ",
                            LeafCount(written), " leaves"));
      return nullptr;
    }
  }
  if (!has_shape) {
    std::optional<Shape> inferred = InferShape(info, operands, state.attributes, callees, start);
    if (!inferred.has_value()) return nullptr;
    written = *std::move(inferred);
  }
  std::string anonymous;
  if (name.empty()) name = anonymous = StrCat(info.name, ".anon");
  Instruction* instruction = scope->computation->Add(*opcode, std::move(written), operands,
                                                     std::move(state.attributes), callees, name);
  if (value != nullptr) instruction->set_literal(std::move(value));
  if (parameter_number >= 0) scope->parameters.emplace_back(parameter_number, instruction);
  for (Instruction* predecessor : state.control_predecessors) {
    instruction->AddControlPredecessor(predecessor);
  }
  return instruction;
}

bool Parser::ParseParameterNumber(int64_t* number) {
  size_t position = lexer_.Skip();
  if (!ParseInteger(number)) return false;
  if (*number < 0) return Fail(position, "the number of a parameter is negative");
  return Expect(')', "the number of a parameter");
}

bool Parser::ParseConstantValue(const Shape* shape, std::shared_ptr<const Literal>* value) {
  if (shape == nullptr) return FailHere("the shape of a constant must be written");
  size_t start = lexer_.Skip();
  if (lexer_.Accept('{')) {
    if (lexer_.Accept("...")) {
      if (!shape->IsArray() || shape->rank() == 0) {
        return Fail(start, StrCat("the value of a constant of shape ", shape->ToString(),
                                  " cannot be left out"));
      }
      return Expect('}', "...") && Expect(')', "a constant's value");
    }
    lexer_.Seek(start);
  }
  Literal literal;
  if (!ParseLiteral(*shape, &literal)) return false;
  *value = std::make_shared<const Literal>(std::move(literal));
  return Expect(')', "a constant's value");
}

bool Parser::ParseOperands(BodyScope* scope, OperandVector* operands) {
  bool ok = true;
  bool first = true;
  while (!lexer_.Accept(')')) {
    if (!first && !lexer_.Accept(',')) return Unexpected("',' or ')' after an operand");
    first = false;
    size_t before = diagnostics_.size();
    size_t position = lexer_.Skip();
    Instruction* operand = ParseOperand(scope);
    if (operand == nullptr) {
      // An undefined name is one error; the rest of the list is still read. Anything else ends it.
      bool name_was_read =
          lexer_.position() > position && (lexer_.Peek() == ',' || lexer_.Peek() == ')');
      if (!name_was_read) return false;
      ok = false;
      if (Full() && diagnostics_.size() > before) return false;
      continue;
    }
    operands->push_back(operand);
  }
  return ok;
}

Instruction* Parser::ParseOperand(BodyScope* scope) {
  size_t start = lexer_.Skip();
  std::optional<Shape> declared;
  bool has_shape = StartsShape();
  if (has_shape && !ParseShape(&declared.emplace())) return nullptr;
  size_t position = lexer_.Skip();
  bool percent = lexer_.Peek() == '%';
  std::string_view name = lexer_.Name();
  if (!percent && !name.empty() && lexer_.Peek() == '(') {
    Nesting nesting(this);
    if (nesting.TooDeep()) {
      TooDeep();
      return nullptr;
    }
    lexer_.Seek(start);
    return ParseRightHandSide(scope, "", /*attributes=*/false);
  }
  if (scope->operands_are_parameters && !scope->names.contains(name)) {
    if (!declared.has_value()) {
      Fail(position, "an operand of a single instruction needs its shape",
           "f32[2] x, or a whole module");
      return nullptr;
    }
    int64_t number = static_cast<int64_t>(scope->parameters.size());
    std::string generated = name.empty() ? StrCat("_", number) : std::string(name);
    Instruction* parameter = scope->computation->AddParameter(number, *declared, generated);
    scope->parameters.emplace_back(number, parameter);
    if (!name.empty()) scope->names[name] = parameter;
    return parameter;
  }
  if (name.empty()) {
    Unexpected("the name of an operand");
    return nullptr;
  }
  auto at = scope->names.find(name);
  if (at == scope->names.end()) {
    Fail(position, StrCat("operand ", name, " is not defined before its use in computation ",
                          scope->computation->name()));
    return nullptr;
  }
  Instruction* operand = at->second;
  if (lexer_.Peek() == '#') operand = ParseTupleAccess(scope, operand, name, position);
  if (operand != nullptr && declared.has_value() && !Compatible(*declared, operand->shape())) {
    Fail(start, StrCat("operand ", name, " has shape ", operand->shape().ToString(), ", not ",
                       declared->ToString()));
    return nullptr;
  }
  return operand;
}

// "#1#0" behind a name: makes the get-tuple-element instructions, one per path.
Instruction* Parser::ParseTupleAccess(BodyScope* scope, Instruction* tuple, std::string_view name,
                                      size_t position) {
  std::string path(name);
  std::string generated(name);
  while (lexer_.Accept('#')) {
    int64_t index = 0;
    if (!ParseInteger(&index)) return nullptr;
    if (tuple == nullptr) continue;  // an error that was reported at its definition
    const Shape& shape = tuple->shape();
    if (!shape.IsTuple()) {
      Fail(position, StrCat(path, " is no tuple: its shape is ", shape.ToString()));
      return nullptr;
    }
    if (index < 0 || index >= static_cast<int64_t>(shape.elements().size())) {
      Fail(position,
           StrCat("element ", index, " of ", path, ", a tuple of ", shape.elements().size()));
      return nullptr;
    }
    StrAppend(&path, "#", index);
    StrAppend(&generated, "_", index);
    auto [slot, is_new] = scope->tuple_accesses.try_emplace(path, nullptr);
    if (is_new) {
      shape_budget_ -= ShapeCost(shape.elements()[index]);
      if (shape_budget_ < 0) {
        Fail(position, "the shapes that the text leaves out are too large");
        return nullptr;
      }
      slot->second =
          scope->computation->Add(Opcode::kGetTupleElement, shape.elements()[index], {tuple},
                                  Attributes().Set(Attr::kIndex, AttrValue(index)), {}, generated);
    }
    tuple = slot->second;
  }
  return tuple;
}

// Nodes and dimensions of a shape, in units of what one node weighs.
int64_t Parser::ShapeCost(const Shape& shape) {
  if (!shape.IsTuple() && !shape.IsBuffer()) return 1 + shape.rank() / 4;
  int64_t cost = 1;
  for (const Shape& element : shape.elements()) cost += ShapeCost(element);
  return cost;
}

std::optional<Shape> Parser::InferShape(const OpInfo& info, const OperandVector& operands,
                                        const Attributes& attributes,
                                        absl::Span<Computation* const> callees, size_t position) {
  if (!info.Is(kShapeInferable) || !info.IsDefined()) {
    Fail(position, StrCat("the result shape of ", info.name, " must be written"),
         StrCat("name = shape ", info.name, "(...)"));
    return std::nullopt;
  }
  absl::InlinedVector<const Shape*, 4> shapes;
  for (Instruction* operand : operands) {
    shapes.push_back(&operand->shape());
    // Shapes that a rule may copy are paid for before it runs, see shape_budget_.
    if (info.opcode == Opcode::kGetTupleElement) continue;
    if (!operand->shape().IsTuple()) {
      shape_budget_ -= ShapeCost(operand->shape());
      continue;
    }
    auto [cost, is_new] = tuple_costs_.try_emplace(operand, 0);
    if (is_new) cost->second = ShapeCost(operand->shape());
    shape_budget_ -= cost->second;
  }
  if (info.opcode == Opcode::kGetTupleElement && operands[0]->shape().IsTuple()) {
    const auto& elements = operands[0]->shape().elements();
    int64_t index = attributes.Integer(Attr::kIndex, -1);
    if (index >= 0 && index < static_cast<int64_t>(elements.size())) {
      shape_budget_ -= ShapeCost(elements[index]);
    }
  }
  for (Computation* callee : callees) {
    Instruction* root = callee->root();
    if (root == nullptr) continue;
    auto [cost, is_new] = tuple_costs_.try_emplace(root, 0);
    if (is_new) cost->second = ShapeCost(root->shape());
    shape_budget_ -= cost->second;
  }
  if (shape_budget_ < 0) {
    Fail(position, "the shapes that the text leaves out are too large", "a written result shape");
    return std::nullopt;
  }
  absl::StatusOr<Shape> shape =
      info.infer(OpSite{info.opcode, shapes, attributes, SignaturesOf(callees), nullptr});
  if (!shape.ok()) {
    Fail(position, StrCat(info.name, ": ", ToStd(shape.status().message())));
    return std::nullopt;
  }
  return *std::move(shape);
}

}  // namespace assay::text_internal
