// A walk from the result and the effects to what they are made of, until nothing new is live.
#include "optimized/analysis/liveness.h"

#include <algorithm>

#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Whatever becomes of its result, this is done.
bool HasEffect(const Instruction& inst) {
  const OpInfo& info = Info(inst.opcode());
  return info.Is(kSideEffect) || info.Is(kCollective) || inst.opcode() == Opcode::kCustomCall ||
         !inst.control_predecessors().empty() || !inst.control_successors().empty();
}

}  // namespace

int64_t FirstLeaf(const Shape& shape, int64_t i) {
  int64_t first = 0;
  for (int64_t k = 0; k < i; ++k) first += LeafCount(shape.elements()[static_cast<size_t>(k)]);
  return first;
}

Liveness::Liveness(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* inst : *computation) {
      for (const Computation* callee : inst->callees()) callers_[callee].push_back(inst);
      // A loop that stays runs until it ends, whoever reads its result.
      if (inst->opcode() == Opcode::kWhile) MarkAll(inst->callee(0)->root());
      if (!HasEffect(*inst)) continue;
      MarkAll(inst);
      for (const Instruction* operand : inst->operands()) MarkAll(operand);
    }
  }
  MarkAll(module.entry()->root());
  while (!open_.empty()) {
    const Instruction* inst = open_.back();
    open_.pop_back();
    Spread(inst);
  }
}

bool Liveness::IsLive(const Instruction* inst, int64_t leaf) const {
  const auto found = live_.find(inst);
  return found != live_.end() && found->second[static_cast<size_t>(leaf)];
}

bool Liveness::IsElementLive(const Instruction* tuple, int64_t i) const {
  const int64_t first = FirstLeaf(tuple->shape(), i), last = FirstLeaf(tuple->shape(), i + 1);
  for (int64_t leaf = first; leaf < last; ++leaf) {
    if (IsLive(tuple, leaf)) return true;
  }
  return false;
}

void Liveness::Mark(const Instruction* inst, int64_t leaf) {
  std::vector<bool>& live = live_[inst];
  if (live.empty()) live.resize(static_cast<size_t>(LeafCount(inst->shape())), false);
  if (live[static_cast<size_t>(leaf)]) return;
  live[static_cast<size_t>(leaf)] = true;
  open_.push_back(inst);
}

void Liveness::MarkAll(const Instruction* inst) {
  const int64_t count = LeafCount(inst->shape());
  for (int64_t leaf = 0; leaf < count; ++leaf) Mark(inst, leaf);
  // A value without leaves is needed as it is.
  if (count == 0) open_.push_back(inst);
}

void Liveness::SpreadToCallers(const Instruction* parameter, int64_t leaf) {
  for (const Instruction* caller : callers_[parameter->parent()]) {
    switch (caller->opcode()) {
      case Opcode::kWhile:
        Mark(caller, leaf);
        break;
      case Opcode::kCall:
        Mark(caller->operand(parameter->parameter_number()), leaf);
        break;
      default:
        for (const Instruction* operand : caller->operands()) MarkAll(operand);
    }
  }
}

void Liveness::Spread(const Instruction* inst) {
  const std::vector<bool> live = live_[inst];
  for (size_t k = 0; k < live.size(); ++k) {
    if (!live[k]) continue;
    const auto leaf = static_cast<int64_t>(k);
    switch (inst->opcode()) {
      case Opcode::kGetTupleElement: {
        const Instruction* tuple = inst->operand(0);
        Mark(tuple, FirstLeaf(tuple->shape(), inst->tuple_index()) + leaf);
        break;
      }
      case Opcode::kTuple: {
        int64_t i = 0;
        while (FirstLeaf(inst->shape(), i + 1) <= leaf) ++i;
        Mark(inst->operand(i), leaf - FirstLeaf(inst->shape(), i));
        break;
      }
      case Opcode::kParameter:
        SpreadToCallers(inst, leaf);
        break;
      case Opcode::kWhile:
        Mark(inst->operand(0), leaf);
        Mark(inst->callee(1)->root(), leaf);
        break;
      case Opcode::kCall:
        Mark(inst->callee()->root(), leaf);
        break;
      default:
        for (const Instruction* operand : inst->operands()) MarkAll(operand);
        for (const Computation* callee : inst->callees()) MarkAll(callee->root());
    }
  }
}

}  // namespace assay
