// Counts operations and compulsory bytes of a module.
#include "bench/cost.h"

#include <algorithm>
#include <map>

#include "spec/ops/op_table.h"

namespace assay {
namespace {

double Elements(const Shape& shape) {
  double count = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (leaf.IsArray()) count += static_cast<double>(leaf.ElementCount());
  });
  return count;
}

// Multiplications that one element of a dot or convolution adds up.
double TermsOf(const Instruction& instruction) {
  double terms = 1;
  if (instruction.opcode() == Opcode::kDot) {
    for (int64_t d : instruction.attributes().Integers(Attr::kLhsContractingDims)) {
      terms *= static_cast<double>(instruction.operand(0)->shape().dimension(d));
    }
    return terms;
  }
  for (const WindowDim& w : instruction.attributes().Window(Attr::kWindow)) {
    terms *= static_cast<double>(w.size);
  }
  if (instruction.opcode() != Opcode::kConvolution) return terms;
  const ConvDimLabels& labels = *instruction.attributes().DimLabels();
  return terms * static_cast<double>(
                     instruction.operand(1)->shape().dimension(labels.kernel_input_feature));
}

class Counter {
 public:
  Cost Of(const Computation& computation) {
    auto known = costs_.find(&computation);
    if (known != costs_.end()) return known->second;
    Cost sum;
    for (const Instruction* i : computation) AddInstruction(*i, sum);
    return costs_[&computation] = sum;
  }

 private:
  void Add(const Cost& cost, double times, Cost& sum) {
    sum.flops += cost.flops * times;
    sum.transcendentals += cost.transcendentals * times;
  }

  void AddInstruction(const Instruction& instruction, Cost& sum) {
    switch (instruction.opcode()) {
      case Opcode::kDot:
      case Opcode::kConvolution:
        sum.flops += 2 * Elements(instruction.shape()) * TermsOf(instruction);
        return;
      case Opcode::kReduce:
        return Add(Of(*instruction.callee()), Elements(instruction.operand(0)->shape()), sum);
      case Opcode::kReduceWindow:
        return Add(Of(*instruction.callee()), Elements(instruction.shape()) * TermsOf(instruction),
                   sum);
      case Opcode::kScatter:
        return Add(Of(*instruction.callee()),
                   Elements(instruction.operand(instruction.operand_count() - 1)->shape()), sum);
      case Opcode::kMap:
        return Add(Of(*instruction.callee()), Elements(instruction.shape()), sum);
      case Opcode::kSort:  // a comparison sort's n log n is the algorithm's, not the op's
      case Opcode::kSelectAndScatter:
        sum.flops += Elements(instruction.operand(0)->shape());
        return;
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kConditional:
      case Opcode::kWhile:
        for (const Computation* callee : instruction.callees()) Add(Of(*callee), 1, sum);
        return;
      default:
        // Functions whose contract counts ulps are those that need more than an instruction.
        if (!Info(instruction.opcode()).Is(kElementwise)) return;
        if (Info(instruction.opcode()).numeric.comparison == ComparisonClass::kUlp) {
          sum.transcendentals += Elements(instruction.shape());
        } else {
          sum.flops += Elements(instruction.shape());
        }
    }
  }

  std::map<const Computation*, Cost> costs_;
};

}  // namespace

Cost CostOf(const Module& module) {
  const Computation& entry = *module.entry();
  Counter counter;
  Cost cost = counter.Of(entry);
  for (const Instruction* parameter : entry.parameters()) {
    cost.bytes += static_cast<double>(parameter->shape().ByteSize());
  }
  cost.bytes += static_cast<double>(entry.root()->shape().ByteSize());
  return cost;
}

}  // namespace assay
