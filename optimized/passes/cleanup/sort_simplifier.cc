// Drops operands of sorts.
#include "optimized/passes/cleanup/sort_simplifier.h"

#include <vector>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

// For each operand, whether the comparator or a reader of the results looks at it. Empty where
// the results are read as a whole.
std::vector<bool> NeededOperands(const Instruction& sort, const Gates& gates) {
  std::vector<bool> needed(static_cast<size_t>(sort.operand_count()));
  if (!sort.shape().IsTuple() || &sort == sort.parent()->root()) return {};
  bool is_alive = false;
  for (const Instruction* reader : sort.users()) {
    if (reader->opcode() != Opcode::kGetTupleElement) return {};
    if (reader->IsDead()) continue;
    needed[static_cast<size_t>(reader->tuple_index())] = true;
    is_alive = true;
  }
  if (!is_alive) return {};
  const Computation& comparator = *sort.callee();
  for (int64_t k = 0; k < comparator.parameter_count(); ++k) {
    const Instruction* parameter = comparator.parameter(k);
    const bool is_read = !parameter->users().empty() || parameter == comparator.root();
    if (is_read && !gates.Holds("sort-unused-operand/not-compared", &sort, false))
      needed[static_cast<size_t>(k / 2)] = true;
  }
  return needed;
}

// A copy of the comparator without the parameters of operands that go.
Computation* ComparatorOf(const Computation& comparator, const std::vector<int64_t>& kept) {
  Computation* copy = comparator.parent()->AddComputation(comparator.name());
  std::vector<Instruction*> arguments(static_cast<size_t>(comparator.parameter_count()));
  int64_t number = 0;
  for (int64_t k : kept) {
    for (int64_t side : {0, 1}) {
      const Instruction* old = comparator.parameter(2 * k + side);
      arguments[static_cast<size_t>(2 * k + side)] =
          copy->AddParameter(number++, old->shape(), old->name());
    }
  }
  // Nobody reads the others; any value stands for them.
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] != nullptr) continue;
    const Shape& shape = comparator.parameter(static_cast<int64_t>(k))->shape();
    arguments[k] = copy->AddConstant(Literal(shape));
  }
  copy->set_root(copy->CopyFrom(comparator, arguments));
  for (Instruction* argument : arguments)
    if (argument->opcode() == Opcode::kConstant && argument->IsDead()) copy->Remove(argument);
  return copy;
}

bool DropOperands(Instruction* sort, Gates& gates) {
  const std::vector<bool> needed = NeededOperands(*sort, gates);
  std::vector<int64_t> kept, place(needed.size(), -1);
  for (size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    place[k] = static_cast<int64_t>(kept.size());
    kept.push_back(static_cast<int64_t>(k));
  }
  if (kept.empty() || kept.size() == needed.size()) return false;
  if (!gates.Allow(DecisionKind::kRewrite, "sort-unused-operand", sort)) return false;
  Computation* computation = sort->parent();
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t k : kept) {
    operands.push_back(sort->operand(k));
    shapes.push_back(sort->shape().elements()[static_cast<size_t>(k)]);
  }
  Computation* comparator = ComparatorOf(*sort->callee(), kept);
  const bool is_one = kept.size() == 1;
  Instruction* smaller = computation->Add(Opcode::kSort, is_one ? shapes[0] : Shape::Tuple(shapes),
                                          operands, sort->attributes(), {&comparator, 1});
  const std::vector<Instruction*> readers(sort->users().begin(), sort->users().end());
  for (Instruction* reader : readers) {
    if (reader->IsDead()) continue;
    const int64_t at = place[static_cast<size_t>(reader->tuple_index())];
    reader->ReplaceAllUsesWith(is_one ? smaller : AddElement(computation, smaller, at));
  }
  // The sort and its readers go with dead code: a walk over the computation may come to them yet.
  return true;
}

}  // namespace

absl::StatusOr<bool> SortSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kSort})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kSort || !inst->control_predecessors().empty() ||
          !inst->control_successors().empty())
        continue;
      changed |= DropOperands(inst, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
