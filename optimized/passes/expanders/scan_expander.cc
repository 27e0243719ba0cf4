// A loop whose state holds the inputs, the stacked outputs and what is carried.
#include "optimized/passes/expanders/scan_expander.h"

#include <vector>

#include "optimized/passes/util/counted_loop.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

Instruction* Expand(Instruction* op) {
  Computation* into = op->parent();
  const Attributes& attributes = op->attributes();
  const int64_t d = attributes.Integers(Attr::kDimension)[0];
  const auto carries = static_cast<size_t>(attributes.Integer(Attr::kNumCarries));
  const bool reverse = attributes.Flag(Attr::kIsReverse, false);
  const size_t inputs = static_cast<size_t>(op->operand_count()) - carries;
  const bool is_tuple = op->shape().IsTuple();
  const std::vector<Shape> shapes =
      is_tuple ? op->shape().elements() : std::vector<Shape>{op->shape()};
  const size_t outputs = shapes.size() - carries;
  Computation* step = op->callee();

  const int64_t length = op->operand(0)->shape().dimension(d);
  std::vector<Instruction*> state(op->operands().begin(),
                                  op->operands().begin() + static_cast<std::ptrdiff_t>(inputs));
  for (size_t k = 0; k < outputs; ++k) {
    const Shape scalar = Shape::Scalar(shapes[k].element_type());
    state.push_back(AddSplat(into, shapes[k], into->AddConstant(Literal(scalar))));
  }
  for (size_t k = 0; k < carries; ++k) {
    state.push_back(op->operand(static_cast<int64_t>(inputs + k)));
  }
  const auto build_step = [&](Computation* body, Instruction* trip,
                              absl::Span<Instruction* const> now) {
    Instruction* at = trip;
    if (reverse) {
      at = body->Add(Opcode::kSubtract, trip->shape(),
                     {AddScalarInteger(body, ElementType::kS64, length - 1), trip});
    }
    std::vector<Instruction*> arguments;
    for (size_t k = 0; k < inputs; ++k) arguments.push_back(AddSliceAt(body, now[k], d, at));
    for (size_t k = 0; k < carries; ++k) arguments.push_back(now[inputs + outputs + k]);
    Instruction* call = body->Add(Opcode::kCall, step->root()->shape(), arguments, {}, {&step, 1});
    std::vector<Instruction*> next(now.begin(), now.end());
    for (size_t k = 0; k < outputs + carries; ++k) {
      Instruction* value = is_tuple ? AddElement(body, call, static_cast<int64_t>(k)) : call;
      Instruction*& place = next[inputs + k];
      place = k < outputs ? AddUpdateAt(body, place, d, at, value) : value;
    }
    return next;
  };
  if (length > 0) {
    state = AddCountedLoop(into, length, state, inputs, build_step);
  } else {
    state.erase(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(inputs));
  }
  return is_tuple ? into->Add(Opcode::kTuple, op->shape(), state) : state[0];
}

}  // namespace

absl::StatusOr<bool> ScanExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kScan})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kScan) continue;
      Rewrite rewrite(context.gates, "expand-scan", inst, /*required=*/true);
      changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
