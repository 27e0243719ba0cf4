// Counts operations of instructions, fusions and whole modules.
#include "optimized/analysis/tasks/work_estimate.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "optimized/analysis/tasks/task_split.h"
#include "optimized/analysis/while_state.h"

namespace assay {

namespace {

// Results of one kernel are made together.
int64_t LargestLeaf(const Shape& shape) {
  int64_t largest = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (leaf.IsArray()) largest = std::max(largest, leaf.ElementCount());
  });
  return largest;
}

}  // namespace

int64_t WorkPerElement(const Instruction& instruction) {
  if (const Instruction* outlined = OutlinedKernel(instruction)) return WorkPerElement(*outlined);
  int64_t work = 1;
  auto consider = [&](const Instruction& inner) {
    const int64_t count = std::max<int64_t>(1, LargestLeaf(inner.shape()));
    if (inner.opcode() == Opcode::kDot) {
      int64_t terms = 1;
      for (int64_t d : inner.attributes().Integers(Attr::kLhsContractingDims)) {
        terms *= std::max<int64_t>(1, inner.operand(0)->shape().dimension(d));
      }
      work += terms;
    } else if (inner.opcode() == Opcode::kReduce) {
      work += inner.operand(0)->shape().ElementCount() / count;
    } else if (inner.opcode() == Opcode::kReduceWindow || inner.opcode() == Opcode::kConvolution) {
      double terms = 1;
      for (const WindowDim& w : inner.attributes().Window(Attr::kWindow)) {
        terms *= static_cast<double>(w.size);
      }
      work += static_cast<int64_t>(std::min(terms, 1e9));
    } else {
      work += 1;
    }
  };
  consider(instruction);
  if (instruction.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : *instruction.callee()) consider(*inner);
  }
  return work;
}

int64_t EstimateKernelWork(const Instruction& instruction) {
  const double work = static_cast<double>(LargestLeaf(instruction.shape())) *
                      static_cast<double>(WorkPerElement(instruction));
  return static_cast<int64_t>(std::min(work, 1e15));
}

double EstimateTrips(const Instruction& loop) {
  constexpr int64_t kUnknown = 100;
  return static_cast<double>(NotedTripCount(loop).value_or(kUnknown));
}

int64_t EstimateWork(const Module& module) {
  absl::flat_hash_map<const Computation*, int64_t> work;
  int64_t entry = 0;
  for (const Computation* computation : module.ComputationPostOrder()) {
    double sum = 0;
    for (const Instruction* i : *computation) {
      bool control = i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
                     i->opcode() == Opcode::kCall;
      if (control) {
        const double weight = i->opcode() == Opcode::kWhile ? EstimateTrips(*i) : 1;
        for (const Computation* callee : i->callees()) sum += weight * work[callee];
      } else if (i->shape().IsArray() || i->opcode() == Opcode::kFusion) {
        sum += static_cast<double>(EstimateKernelWork(*i));
      }
    }
    work[computation] = static_cast<int64_t>(std::min(sum, 1e15));
    if (computation == module.entry()) entry = work[computation];
  }
  return entry;
}

}  // namespace assay
