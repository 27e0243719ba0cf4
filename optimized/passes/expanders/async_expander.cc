// Follows a start to its done and puts the plain operation in their place.
#include "optimized/passes/expanders/async_expander.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

Instruction* AddElement(Instruction* tuple, int64_t index) {
  return tuple->parent()->Add(Opcode::kGetTupleElement, tuple->shape().elements()[index], {tuple},
                              Attributes().Set(Attr::kIndex, AttrValue(index)));
}

// Contexts say nothing once the work is done at the start; nullptr for what has no zero.
Instruction* AddContext(Computation* computation, const Shape& shape) {
  if (!shape.IsArray()) return nullptr;
  return computation->AddConstant(Literal(shape));
}

// (what went in, the result, contexts), or (the copy, the original, context).
Instruction* ExpandStart(Instruction* start, Opcode opcode, bool result_first) {
  Computation* computation = start->parent();
  const std::vector<Shape>& shapes = start->shape().elements();
  Instruction* result = computation->Add(opcode, shapes[result_first ? 0 : 1], start->operands(),
                                         start->attributes(), start->callees(), start->name());
  Instruction* operands = start->operand(0);
  if (start->operand_count() > 1)
    operands = computation->Add(Opcode::kTuple, shapes[0], start->operands());
  std::vector<Instruction*> elements = {operands, result};
  if (result_first) std::swap(elements[0], elements[1]);
  for (size_t k = 2; k < shapes.size(); ++k) {
    elements.push_back(AddContext(computation, shapes[k]));
    if (elements.back() == nullptr) return nullptr;
  }
  return computation->Add(Opcode::kTuple, start->shape(), elements);
}

// From what a done ends back to the async-start.
std::vector<Instruction*> ChainOf(const Instruction* done) {
  std::vector<Instruction*> chain = {done->operand(0)};
  while (chain.back()->opcode() == Opcode::kAsyncUpdate) chain.push_back(chain.back()->operand(0));
  return chain;
}

// The computation of the async-start, with everything handed over on the way.
Instruction* ExpandAsyncDone(Instruction* done) {
  const std::vector<Instruction*> chain = ChainOf(done);
  const Instruction* start = chain.back();
  if (start->opcode() != Opcode::kAsyncStart) return nullptr;
  std::vector<Instruction*> arguments(start->operands().begin(), start->operands().end());
  for (auto update = chain.rbegin() + 1; update != chain.rend(); ++update) {
    const auto operands = (*update)->operands();
    arguments.insert(arguments.end(), operands.begin() + 1, operands.end());
  }
  return InlineCopy(done->parent(), *start->callee(), arguments);
}

// Gives the value that stands for the instruction; nullptr if there is none.
Instruction* Expand(Instruction* inst) {
  switch (inst->opcode()) {
    case Opcode::kAllReduceStart:
      return inst->parent()->Add(Opcode::kAllReduce, inst->shape(), inst->operands(),
                                 inst->attributes(), inst->callees(), inst->name());
    case Opcode::kAllReduceDone:
      return inst->operand(0);
    case Opcode::kAllGatherStart:
      return ExpandStart(inst, Opcode::kAllGather, /*result_first=*/false);
    case Opcode::kCollectivePermuteStart:
      return ExpandStart(inst, Opcode::kCollectivePermute, /*result_first=*/false);
    case Opcode::kCopyStart:
      return ExpandStart(inst, Opcode::kCopy, /*result_first=*/true);
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
      return AddElement(inst->operand(0), 1);
    case Opcode::kCopyDone:
      return AddElement(inst->operand(0), 0);
    case Opcode::kAsyncDone:
      return ExpandAsyncDone(inst);
    default:
      return nullptr;
  }
}

constexpr auto kAsync = std::to_array<Opcode>({
    Opcode::kAllGatherDone,
    Opcode::kAllGatherStart,
    Opcode::kAllReduceDone,
    Opcode::kAllReduceStart,
    Opcode::kAsyncDone,
    Opcode::kAsyncStart,
    Opcode::kAsyncUpdate,
    Opcode::kCollectivePermuteDone,
    Opcode::kCollectivePermuteStart,
    Opcode::kCopyDone,
    Opcode::kCopyStart,
});

}  // namespace

bool IsAsync(Opcode opcode) { return absl::c_linear_search(kAsync, opcode); }

absl::StatusOr<bool> AsyncExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny(kAsync)) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    std::vector<Instruction*> order = computation->PostOrder();
    const bool has_any = std::any_of(order.begin(), order.end(), [](const Instruction* inst) {
      return IsAsync(inst->opcode());
    });
    if (!has_any) continue;
    std::vector<Instruction*> passed;  // starts and updates of async computations
    absl::flat_hash_set<const Instruction*> ended;
    for (Instruction* inst : order) {
      if (!IsAsync(inst->opcode())) continue;
      if (inst->opcode() == Opcode::kAsyncStart || inst->opcode() == Opcode::kAsyncUpdate) {
        passed.push_back(inst);
        continue;
      }
      if (inst->opcode() == Opcode::kAsyncDone) {
        for (const Instruction* link : ChainOf(inst)) ended.insert(link);
      }
      Rewrite rewrite(context.gates, "expand-async", inst, /*required=*/true);
      Instruction* with = Expand(inst);
      if (with == nullptr) {
        return MakeError(ErrorClass::kUnsupported,
                         StrCat("cpu: no code for this form of ", inst->ToString()));
      }
      changed |= rewrite.Replace(with);
    }
    // A done takes its start with it unless something else wants that.
    for (auto inst = passed.rbegin(); inst != passed.rend(); ++inst) {
      if (!ended.contains(*inst) || !(*inst)->users().empty() || computation->root() == *inst) {
        return MakeError(
            ErrorClass::kUnsupported,
            StrCat("cpu: no code for an async computation that does not end where it starts: ",
                   (*inst)->ToString()));
      }
      computation->Remove(*inst);
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
