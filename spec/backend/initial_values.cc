// Replaces reductions of single elements by reshapes.
#include "spec/backend/initial_values.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace assay {
namespace {

bool ReducesSingleElements(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kReduce) return false;
  const Shape& from = instruction.operand(0)->shape();
  return absl::c_all_of(instruction.attributes().Integers(Attr::kDimensions),
                        [&](int64_t d) { return from.dimension(d) == 1; });
}

// The elements in the shape of the result.
Instruction* ElementsOf(Instruction* reduce) {
  Computation* computation = reduce->parent();
  if (reduce->shape().IsArray())
    return computation->Add(Opcode::kReshape, reduce->shape(), {reduce->operand(0)});
  std::vector<Instruction*> arrays;
  for (size_t k = 0; k < reduce->shape().elements().size(); ++k) {
    arrays.push_back(computation->Add(Opcode::kReshape, reduce->shape().elements()[k],
                                      {reduce->operand(static_cast<int64_t>(k))}));
  }
  return computation->Add(Opcode::kTuple, reduce->shape(), arrays);
}

}  // namespace

std::unique_ptr<Module> WithoutInitialValues(const Module& module) {
  std::unique_ptr<Module> other = module.Clone("");
  std::vector<Instruction*> reductions;
  for (Computation* computation : other->computations()) {
    for (Instruction* instruction : *computation)
      if (ReducesSingleElements(*instruction)) reductions.push_back(instruction);
  }
  for (Instruction* reduce : reductions) reduce->ReplaceAllUsesWith(ElementsOf(reduce));
  return reductions.empty() ? nullptr : std::move(other);
}

}  // namespace assay
