// Makes intermediate arrays outputs or inputs.
#include "fuzz/reduce/wrong_instruction.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "fuzz/reduce/edit.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr int64_t kMostSteps = 4;

// Counts the steps to `from` from each instruction that it uses, directly or not.
std::map<const Instruction*, int64_t> StepsBefore(const Instruction* from) {
  std::map<const Instruction*, int64_t> steps = {{from, 0}};
  std::vector<const Instruction*> layer = {from};
  for (int64_t step = 1; !layer.empty(); ++step) {
    std::vector<const Instruction*> next;
    for (const Instruction* at : layer) {
      for (const Instruction* operand : at->operands()) {
        if (steps.emplace(operand, step).second) next.push_back(operand);
      }
    }
    layer = std::move(next);
  }
  return steps;
}

}  // namespace

WrongArray FirstWrongArray(const CheckSubject& subject, const Module& module,
                           const std::vector<Literal>& inputs) {
  const Exposed exposed = WithAllArrays(module, /*with_leaves=*/false);
  if (exposed.arrays.empty() || !Verify(*exposed.module).ok()) return {};
  const CheckCase check_case = CheckCase::Of(*exposed.module, inputs);
  Checker checker(subject, check_case);
  const Outcome outcome = checker.Check().outcome;
  const int64_t leaf = outcome.judgement.first.leaf;
  const bool is_one = outcome.Fails(Outcome::kWrong) && leaf >= 0 &&
                      leaf < static_cast<int64_t>(exposed.arrays.size());
  if (!is_one) return {nullptr, -1, checker.answer()};
  return {exposed.arrays[static_cast<size_t>(leaf)], leaf, checker.answer()};
}

int64_t NumberOfArray(const Module& module, const Instruction* instruction) {
  const Exposed exposed = WithAllArrays(module, /*with_leaves=*/false);
  const auto at = std::find(exposed.arrays.begin(), exposed.arrays.end(), instruction);
  return at == exposed.arrays.end() ? -1 : at - exposed.arrays.begin();
}

std::optional<ReduceCase> WithArrayGiven(const ReduceCase& whole, int64_t number,
                                         const EvaluateFunction& evaluate) {
  const Exposed exposed = WithAllArrays(*whole.module, /*with_leaves=*/false);
  if (number < 0 || number >= static_cast<int64_t>(exposed.arrays.size())) return std::nullopt;
  const auto at = static_cast<size_t>(number);
  const absl::StatusOr<Literal> value = evaluate(*exposed.module, whole.inputs);
  if (!value.ok() || value->elements().size() != exposed.arrays.size()) return std::nullopt;
  ReduceCase program = whole.Clone();
  program.module->config() = ModuleConfig();
  Instruction* from = Counterpart(*program.module, exposed.arrays[at]);
  Instruction* given = AddInput(program, value->elements()[at]);
  if (from == program.module->entry()->root()) return std::nullopt;
  from->ReplaceAllUsesWith(given);
  RemoveUnused(program);
  if (!Verify(*program.module).ok()) return std::nullopt;
  return program;
}

std::set<std::string> TellingOperands(const Instruction& instruction) {
  std::set<std::string> operands;
  for (const Instruction* operand : instruction.operands()) {
    const bool says_nothing = IsLeaf(operand) || operand->opcode() == Opcode::kTuple ||
                              operand->opcode() == Opcode::kGetTupleElement ||
                              operand->opcode() == Opcode::kBroadcast;
    if (!says_nothing) operands.insert(std::string(Name(operand->opcode())));
  }
  return operands;
}

std::string PlaceOf(const Instruction& instruction) {
  const std::set<std::string> operands = TellingOperands(instruction);
  const std::string name(Name(instruction.opcode()));
  return operands.empty() ? name : StrCat(name, "(", absl::StrJoin(operands, "+"), ")");
}

const Instruction& Origin(const Instruction& instruction) {
  const Instruction* at = &instruction;
  while (at->opcode() == Opcode::kGetTupleElement) at = at->operand(0);
  return *at;
}

std::set<std::string> FoldsOf(const Instruction& instruction) {
  const Instruction* at = &Origin(instruction);
  std::set<std::string> folds;
  if (at->opcode() == Opcode::kWhile) return folds;
  for (const Computation* callee : at->callees()) {
    if (!IsLeaf(callee->root())) folds.insert(std::string(Name(callee->root()->opcode())));
  }
  return folds;
}

std::string OpWithFolds(const Instruction& instruction) {
  const std::string name(Name(Origin(instruction).opcode()));
  const std::set<std::string> folds = FoldsOf(instruction);
  return folds.empty() ? name : StrCat(name, "[", absl::StrJoin(folds, "+"), "]");
}

std::string ApplicationOf(const ReduceCase& whole, int64_t leaf, int64_t element,
                          const EvaluateFunction& evaluate) {
  const Instruction* at = whole.module->entry()->root();
  if (at->opcode() == Opcode::kTuple && leaf >= 0 && leaf < at->operand_count())
    at = at->operand(leaf);
  const std::string name = OpWithFolds(*at);
  if (!at->shape().IsArray() || !Info(at->opcode()).Is(kElementwise) || at->operands().empty())
    return name;
  const Exposed exposed = WithAllArrays(*whole.module, /*with_leaves=*/true);
  const absl::StatusOr<Literal> value = evaluate(*exposed.module, whole.inputs);
  if (!value.ok() || value->elements().size() != exposed.arrays.size()) return name;
  std::vector<std::string> operands;
  for (const Instruction* operand : at->operands()) {
    const auto found = std::find(exposed.arrays.begin(), exposed.arrays.end(), operand);
    if (found == exposed.arrays.end()) return name;
    const Literal& array =
        value->elements()[static_cast<size_t>(std::distance(exposed.arrays.begin(), found))];
    const int64_t i = array.element_count() == 1 ? 0 : element;
    if (i < 0 || i >= array.element_count()) return name;
    Literal one(Shape::Array(array.element_type(), {}));
    const int64_t parts = one.component_count();
    for (int64_t k = 0; k < parts; ++k)
      one.SetComponentBits(k, array.GetComponentBits(parts * i + k));
    operands.push_back(one.ToString());
  }
  return StrCat(name, "(", absl::StrJoin(operands, ", "), ")");
}

std::vector<ReduceCase> ProgramsAround(const ReduceCase& whole, const Instruction* instruction,
                                       const EvaluateFunction& evaluate) {
  std::vector<ReduceCase> programs;
  const Exposed exposed = WithAllArrays(*whole.module, /*with_leaves=*/false);
  const absl::StatusOr<Literal> value = evaluate(*exposed.module, whole.inputs);
  if (!value.ok() || value->elements().size() != exposed.arrays.size()) return programs;
  const std::map<const Instruction*, int64_t> steps = StepsBefore(instruction);
  for (int64_t step = 1; step <= kMostSteps; ++step) {
    ReduceCase program = whole.Clone();
    program.module->config() = ModuleConfig();
    std::vector<std::pair<Instruction*, const Literal*>> cuts;
    for (size_t i = 0; i < exposed.arrays.size(); ++i) {
      const auto at = steps.find(exposed.arrays[i]);
      if (at == steps.end() || at->second != step) continue;
      cuts.emplace_back(Counterpart(*program.module, at->first), &value->elements()[i]);
    }
    program.module->entry()->set_root(Counterpart(*program.module, instruction));
    for (const auto& [from, known] : cuts) {
      // An earlier cut may have taken it along.
      if (from->users().empty()) continue;
      from->ReplaceAllUsesWith(AddInput(program, *known));
    }
    RemoveUnused(program);
    if (Verify(*program.module).ok()) programs.push_back(std::move(program));
    if (cuts.empty()) break;
  }
  return programs;
}

}  // namespace assay
