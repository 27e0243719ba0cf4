// Counts the products of contractions from shapes alone.
#include "conformance/cuts/programs/work.h"

namespace assay {

double ProductsOf(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kDot && instruction.opcode() != Opcode::kConvolution)
    return 0;
  const Attributes& attributes = instruction.attributes();
  auto products = static_cast<double>(instruction.shape().ElementCount());
  if (instruction.opcode() == Opcode::kDot) {
    const Shape& lhs = instruction.operand(0)->shape();
    for (int64_t d : attributes.Integers(Attr::kLhsContractingDims))
      products *= static_cast<double>(lhs.dimension(d));
    return products;
  }
  // Each element of a convolution takes as many products as the kernel has elements for one output
  // feature.
  const Shape& kernel = instruction.operand(1)->shape();
  const ConvDimLabels* labels = attributes.DimLabels();
  if (labels == nullptr) return products;
  for (int64_t d = 0; d < kernel.rank(); ++d)
    if (d != labels->kernel_output_feature) products *= static_cast<double>(kernel.dimension(d));
  return products;
}

double ProductsOf(const Module& module) {
  double products = 0;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) products += ProductsOf(*instruction);
  }
  return products;
}

Limits LimitsFor(const Module& module, const Limits& small) {
  double elements = 0;
  const auto add = [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (leaf.IsArray()) elements += static_cast<double>(leaf.ElementCount());
  };
  for (const Instruction* parameter : module.entry()->parameters())
    ForEachLeaf(parameter->shape(), add);
  ForEachLeaf(module.entry()->root()->shape(), add);
  Limits limits = small;
  limits.seconds *= 1 + ProductsOf(module) / 0x1p34 + elements / 0x1p28 +
                    static_cast<double>(module.InstructionCount()) / 1e4;
  return limits;
}

}  // namespace assay
