// Edits of one instruction.
#include "fuzz/matrix/invalid.h"

#include <set>

#include "fuzz/matrix/matrix.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// The parts of an instruction, from which another one is made in its place.
struct Parts {
  Computation& computation;
  const Instruction& at;
  Shape shape;
  std::vector<Instruction*> operands;
  Attributes attributes;
  std::vector<Computation*> callees;
};

// Makes its rule broken; false where there is nothing to break.
using Break = bool (*)(Parts& parts);

ElementType OtherType(ElementType type) {
  return type == ElementType::kF32 ? ElementType::kS32 : ElementType::kF32;
}
Shape WithDimensions(const Shape& shape, DimVector dimensions) {
  return Shape::Array(shape.element_type(), dimensions);
}
DimVector DimensionsOf(const Shape& shape) {
  return DimVector(shape.dimensions().begin(), shape.dimensions().end());
}

bool ChangeResultType(Parts& parts) {
  if (!parts.shape.IsArray()) return false;
  parts.shape = Shape::Array(OtherType(parts.shape.element_type()), DimensionsOf(parts.shape));
  return true;
}
bool ChangeResultSize(Parts& parts) {
  if (!parts.shape.IsArray() || parts.shape.rank() == 0) return false;
  DimVector dimensions = DimensionsOf(parts.shape);
  dimensions[0] += 3;
  parts.shape = WithDimensions(parts.shape, std::move(dimensions));
  return true;
}
bool ChangeResultRank(Parts& parts) {
  if (!parts.shape.IsArray()) return false;
  DimVector dimensions = DimensionsOf(parts.shape);
  dimensions.push_back(2);
  parts.shape = WithDimensions(parts.shape, std::move(dimensions));
  return true;
}
bool ResultIsTuple(Parts& parts) {
  parts.shape = Shape::Tuple({parts.shape, parts.shape});
  return true;
}
bool LeaveOutOperand(Parts& parts) {
  if (parts.operands.empty()) return false;
  parts.operands.pop_back();
  return true;
}
bool AddOperand(Parts& parts) {
  if (parts.operands.empty()) return false;
  parts.operands.push_back(parts.operands.back());
  return true;
}
bool ReplaceOperand(Parts& parts, size_t number, const Shape& shape) {
  if (parts.computation.parent()->entry() != &parts.computation) return false;
  parts.operands[number] =
      parts.computation.AddParameter(parts.computation.parameter_count(), shape);
  return true;
}
bool ChangeOperandType(Parts& parts) {
  if (parts.operands.empty() || !parts.operands[0]->shape().IsArray()) return false;
  const Shape& shape = parts.operands[0]->shape();
  return ReplaceOperand(parts, 0,
                        Shape::Array(OtherType(shape.element_type()), DimensionsOf(shape)));
}
bool ChangeOperandRank(Parts& parts) {
  if (parts.operands.empty() || !parts.operands[0]->shape().IsArray()) return false;
  DimVector dimensions = DimensionsOf(parts.operands[0]->shape());
  dimensions.push_back(3);
  return ReplaceOperand(parts, 0,
                        WithDimensions(parts.operands[0]->shape(), std::move(dimensions)));
}
bool ChangeLastOperandSize(Parts& parts) {
  if (parts.operands.size() < 2) return false;
  const Shape& shape = parts.operands.back()->shape();
  if (!shape.IsArray() || shape.rank() == 0) return false;
  DimVector dimensions = DimensionsOf(shape);
  dimensions[0] += 5;
  return ReplaceOperand(parts, parts.operands.size() - 1,
                        WithDimensions(shape, std::move(dimensions)));
}
bool OperandIsTuple(Parts& parts) {
  if (parts.operands.empty() || !parts.operands[0]->shape().IsArray()) return false;
  return ReplaceOperand(parts, 0, Shape::Tuple({parts.operands[0]->shape()}));
}
bool LeaveOutAttribute(Parts& parts) {
  for (const AttrSpec& spec : Info(parts.at.opcode()).attributes) {
    if (spec.presence == AttrSpec::kOptional || !parts.attributes.Has(spec.attr)) continue;
    parts.attributes.Remove(spec.attr);
    return true;
  }
  return false;
}

// Edits the first attribute that is a list of integers.
bool EditIntegers(Parts& parts, bool (*edit)(Int64List& list)) {
  for (const auto& [attr, value] : parts.attributes.entries()) {
    if (Info(attr).kind != AttrKind::kIntegers) continue;
    const absl::Span<const int64_t> old = parts.attributes.Integers(attr);
    Int64List list(old.begin(), old.end());
    if (!edit(list)) continue;
    parts.attributes.Set(attr, absl::MakeConstSpan(list.data(), list.size()));
    return true;
  }
  return false;
}
bool OutOfRange(Parts& parts) {
  return EditIntegers(parts, [](Int64List& list) {
    if (list.empty()) return false;
    list[0] = 1000;
    return true;
  });
}
bool Negative(Parts& parts) {
  return EditIntegers(parts, [](Int64List& list) {
    if (list.empty()) return false;
    list[0] = -1;
    return true;
  });
}
bool Twice(Parts& parts) {
  return EditIntegers(parts, [](Int64List& list) {
    if (list.empty()) return false;
    list.push_back(list[0]);
    return true;
  });
}
bool TooShort(Parts& parts) {
  return EditIntegers(parts, [](Int64List& list) {
    if (list.empty()) return false;
    list.pop_back();
    return true;
  });
}

// A computation with one parameter more than the last callee has, or another result.
bool ReplaceCallee(Parts& parts, bool more_parameters) {
  if (parts.callees.empty()) return false;
  Module& module = *parts.computation.parent();
  const Computation& callee = *parts.callees.back();
  Computation* other = module.AddComputation("wrong_callee");
  for (const Instruction* parameter : callee.parameters())
    other->AddParameter(other->parameter_count(), parameter->shape());
  if (more_parameters) {
    other->AddParameter(other->parameter_count(), Shape::Scalar(ElementType::kU16));
    other->set_root(other->AddConstant(Literal(callee.root()->shape().IsArray()
                                                   ? callee.root()->shape()
                                                   : Shape::Scalar(ElementType::kF32))));
  } else {
    other->set_root(other->AddConstant(Literal(Shape::Array(ElementType::kU16, {7}))));
  }
  parts.callees.back() = other;
  return true;
}
bool CalleeTakesMore(Parts& parts) { return ReplaceCallee(parts, true); }
bool CalleeGivesOther(Parts& parts) { return ReplaceCallee(parts, false); }

struct Rule {
  InvalidRule rule;
  Break broken;
};
constexpr Rule kRules[] = {
    {{"result-type", "the result is of another element type"}, ChangeResultType},
    {{"result-size", "the result is three longer"}, ChangeResultSize},
    {{"result-rank", "the result has a dimension more"}, ChangeResultRank},
    {{"result-tuple", "the result is a pair of it"}, ResultIsTuple},
    {{"operand-missing", "the last operand is left out"}, LeaveOutOperand},
    {{"operand-extra", "the last operand is there twice"}, AddOperand},
    {{"operand-type", "the first operand is of another element type"}, ChangeOperandType},
    {{"operand-rank", "the first operand has a dimension more"}, ChangeOperandRank},
    {{"operand-size", "the last operand is five longer"}, ChangeLastOperandSize},
    {{"operand-tuple", "the first operand is in a tuple"}, OperandIsTuple},
    {{"attribute-missing", "an attribute that is required is left out"}, LeaveOutAttribute},
    {{"list-out-of-range", "the first of a list of integers is 1000"}, OutOfRange},
    {{"list-negative", "the first of a list of integers is -1"}, Negative},
    {{"list-twice", "the first of a list of integers is there twice"}, Twice},
    {{"list-short", "the last of a list of integers is left out"}, TooShort},
    {{"callee-parameters", "the computation that is called takes a parameter more"},
     CalleeTakesMore},
    {{"callee-result", "the computation that is called gives u16[7]"}, CalleeGivesOther},
};

// The module with the rule broken on its instruction of that op; nullptr where it stays valid.
std::unique_ptr<Module> Broken(const Module& valid, Opcode opcode, Break broken) {
  std::unique_ptr<Module> module = valid.Clone("");
  for (Instruction* at : *module->entry()) {
    if (at->opcode() != opcode) continue;
    Parts parts = {*module->entry(), *at,
                   at->shape(),      {at->operands().begin(), at->operands().end()},
                   at->attributes(), {at->callees().begin(), at->callees().end()}};
    if (!broken(parts)) return nullptr;
    Instruction* other = module->entry()->Add(opcode, parts.shape, parts.operands,
                                              std::move(parts.attributes), parts.callees);
    at->ReplaceAllUsesWith(other);
    return Verify(*module).ok() ? nullptr : std::move(module);
  }
  return nullptr;
}

// Ops whose instructions hold what no list of operands says.
bool IsPlain(Opcode opcode) { return opcode != Opcode::kParameter && opcode != Opcode::kConstant; }

}  // namespace

absl::Span<const InvalidRule> InvalidRules() {
  static const auto& rules = *[] {
    auto* all = new std::vector<InvalidRule>;
    for (const Rule& rule : kRules) all->push_back(rule.rule);
    return all;
  }();
  return rules;
}

std::vector<InvalidModule> DerivedInvalidModules() {
  std::vector<InvalidModule> modules;
  std::set<std::string> names;
  for (const MatrixCell& cell : MatrixCells(MatrixTier::kSmoke)) {
    const std::string_view op = Name(cell.opcode());
    // The first type on which a rule can be broken.
    const bool is_done = [&] {
      for (const Rule& rule : kRules)
        if (!names.contains(StrCat(rule.rule.name, "/", op))) return false;
      return true;
    }();
    if (is_done || !IsPlain(cell.opcode())) continue;
    const std::optional<Case> built = BuildCell(cell);
    if (!built.has_value()) continue;
    for (const Rule& rule : kRules) {
      const std::string name = StrCat(rule.rule.name, "/", op);
      if (names.contains(name)) continue;
      std::unique_ptr<Module> module = Broken(*built->module, cell.opcode(), rule.broken);
      if (module == nullptr) continue;
      names.insert(name);
      modules.push_back({name, rule.rule.name, std::move(module)});
    }
  }
  return modules;
}

}  // namespace assay
