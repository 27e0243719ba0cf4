// Finds the asynchronous instructions that the short form writes as one, and takes their names
// apart.
#include "spec/text/async_sugar.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace assay::text_internal {
namespace {

template <typename Range>
bool Contains(const Range& range, Attr attr) {
  return std::find(std::begin(range), std::end(range), attr) != std::end(range);
}

bool HasInRow(Opcode opcode, Attr attr) {
  const auto& attributes = Info(opcode).attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [attr](const AttrSpec& spec) { return spec.attr == attr; });
}

// Only parameters and a root that takes them in their order.
bool IsOneInstruction(const Computation& computation) {
  const Instruction* root = computation.root();
  if (root == nullptr || computation.instruction_count() != root->operand_count() + 1) return false;
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    const Instruction* operand = root->operand(i);
    if (operand->opcode() != Opcode::kParameter || operand->parameter_number() != i) return false;
    for (const auto& [attr, value] : operand->attributes().entries())
      if (attr != Attr::kParameterNumber) return false;
  }
  return root->control_predecessors().empty();
}

bool AttributesFit(const Instruction& start, const Instruction& root, bool metadata) {
  for (const auto& [attr, value] : root.attributes().entries()) {
    if (IsInternal(attr)) continue;
    if (!HasInRow(root.opcode(), attr) && !Contains(kSharedWithWrapped, attr)) return false;
  }
  for (const auto& [attr, value] : start.attributes().entries()) {
    const bool known = attr == Attr::kSharding || attr == Attr::kAsyncExecutionThread ||
                       attr == Attr::kOutputToOperandAliasing || Contains(kSharedWithWrapped, attr);
    // The reader gives the wrapped op what both could have.
    if (!known || HasInRow(root.opcode(), attr)) return false;
  }
  for (Attr attr : kSharedWithWrapped) {
    if (attr == Attr::kMetadata && !metadata) continue;
    const AttrValue *outer = start.attributes().Find(attr), *inner = root.attributes().Find(attr);
    const bool same = outer == nullptr || inner == nullptr ? outer == inner : *outer == *inner;
    if (!same) return false;
  }
  return true;
}

bool ShapesFit(const Instruction& start, const Instruction& root) {
  const Shape& shape = start.shape();
  if (!shape.IsTuple() || shape.elements().size() < 2 || !shape.elements()[0].IsTuple())
    return false;
  const std::vector<Shape>& arguments = shape.elements()[0].elements();
  if (arguments.size() != static_cast<size_t>(root.operand_count())) return false;
  for (int64_t i = 0; i < root.operand_count(); ++i)
    if (!(arguments[static_cast<size_t>(i)] == root.operand(i)->shape())) return false;
  return shape.elements()[1] == root.shape();
}

bool FitsSugar(const Instruction& start, bool metadata) {
  if (start.callees().size() != 1 || !IsOneInstruction(*start.callee())) return false;
  const Instruction& root = *start.callee()->root();
  const std::string& thread = start.attributes().String(Attr::kAsyncExecutionThread);
  const std::string& wrapped = start.callee()->execution_thread();
  auto is_main = [](const std::string& name) { return name.empty() || name == "main"; };
  return TakesAsyncSugar(root.opcode()) &&
         (thread == wrapped || (is_main(thread) && is_main(wrapped))) && ShapesFit(start, root) &&
         AttributesFit(start, root, metadata);
}

}  // namespace

bool TakesAsyncSugar(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kCollectivePermute:
    case Opcode::kCopy:
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return false;
    default:
      return true;
  }
}

SugaredStarts FindSugaredStarts(const Module& module, bool metadata) {
  SugaredStarts starts;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation)
      if (instruction->opcode() == Opcode::kAsyncStart && FitsSugar(*instruction, metadata))
        starts.insert(instruction);
  }
  if (starts.empty()) return starts;
  absl::flat_hash_map<const Computation*, int> calls;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation)
      for (const Computation* callee : instruction->callees()) ++calls[callee];
  }
  for (auto it = starts.begin(); it != starts.end();) {
    const Computation* wrapped = (*it)->callee();
    const bool alone = calls[wrapped] == 1 && wrapped != module.entry();
    if (alone) {
      ++it;
    } else {
      starts.erase(it++);
    }
  }
  return starts;
}

const Instruction* SugaredRoot(const SugaredStarts& starts, const Instruction& instruction) {
  const Instruction* at = &instruction;
  if (at->opcode() == Opcode::kAsyncDone && at->operand_count() > 0) at = at->operand(0);
  while (at->opcode() == Opcode::kAsyncUpdate && at->operand_count() > 0) at = at->operand(0);
  return starts.contains(at) ? at->callee()->root() : nullptr;
}

}  // namespace assay::text_internal
