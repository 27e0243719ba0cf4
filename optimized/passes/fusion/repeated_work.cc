// Counts evaluations from the root to the operands.
#include "optimized/passes/fusion/repeated_work.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// A kernel may do so many times the work of the ops one by one, and so much more than that, before
// it is taken apart: small ones cost nothing either way.
constexpr double kMostTimesAsMuch = 8, kMuchWork = 1 << 18;
// Ways in which one op is read; with more they count as one.
constexpr size_t kMostSpaces = 32;

double Elements(const Shape& shape) {
  double count = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (leaf.IsArray()) count = std::max(count, static_cast<double>(leaf.ElementCount()));
  });
  return std::max(count, 1.0);
}

// Elements of operand k that one element of the result reads.
double ReadsPerElement(const Instruction& op, int64_t k) {
  const Shape& operand = op.operand(k)->shape();
  const double share = Elements(operand) / Elements(op.shape());
  switch (op.opcode()) {
    case Opcode::kReduce:
    case Opcode::kFusion:
    case Opcode::kMap:
      return operand.rank() == 0 ? 1 : std::max(share, 1.0);
    case Opcode::kDot: {
      double products = 1;
      for (int64_t d : op.attributes().Integers(Attr::kLhsContractingDims))
        products *= static_cast<double>(op.operand(0)->shape().dimension(d));
      return products;
    }
    case Opcode::kConvolution: {
      const Shape& kernel = op.operand(1)->shape();
      const ConvDimLabels* labels = op.attributes().DimLabels();
      const double features =
          labels == nullptr ? 1
                            : static_cast<double>(kernel.dimension(labels->kernel_output_feature));
      return std::max(Elements(kernel) / std::max(features, 1.0), 1.0);
    }
    case Opcode::kReduceWindow: {
      double size = 1;
      for (const WindowDim& dimension : op.attributes().Window(Attr::kWindow))
        size *= operand.rank() == 0 ? 1 : static_cast<double>(dimension.size);
      return std::max(size, 1.0);
    }
    case Opcode::kConcatenate:
      return std::min(share, 1.0);
    default:
      return 1;
  }
}

// Operand k is read at the index of the element that is computed.
bool IsReadInPlace(const Instruction& op, int64_t k) {
  return op.opcode() == Opcode::kTuple || op.opcode() == Opcode::kGetTupleElement ||
         (Info(op.opcode()).Is(kElementwise) && SameDimensions(op.shape(), op.operand(k)->shape()));
}

// The number of times that elements of an op are computed, by the way in which the index is found:
// an element that is read twice at one index is computed once.
using Evaluations = std::map<int, double>;

double Sum(const Evaluations& evaluations) {
  double sum = 0;
  for (const auto& [space, count] : evaluations) sum += count;
  return sum;
}

}  // namespace

bool RepeatsWork(const Computation& fused) {
  absl::flat_hash_map<const Instruction*, Evaluations> evaluations;
  int spaces = 1;
  const std::vector<Instruction*> order = fused.PostOrder();
  evaluations[fused.root()][0] = Elements(fused.root()->shape());
  double once = 0, work = 0;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Instruction& op = **at;
    const Evaluations mine = evaluations[&op];
    if (op.opcode() == Opcode::kParameter || op.opcode() == Opcode::kConstant || mine.empty())
      continue;
    double cost = 1;
    for (int64_t k = 0; k < op.operand_count(); ++k) cost = std::max(cost, ReadsPerElement(op, k));
    once += cost * Elements(op.shape());
    work += cost * Sum(mine);
    for (int64_t k = 0; k < op.operand_count(); ++k) {
      Evaluations& theirs = evaluations[op.operand(k)];
      const double reads = ReadsPerElement(op, k);
      for (const auto& [space, count] : mine) {
        if (IsReadInPlace(op, k)) {
          theirs[space] = std::max(theirs[space], count);
        } else {
          theirs[spaces++] += count * reads;
        }
      }
      if (theirs.size() > kMostSpaces) theirs = {{spaces++, Sum(theirs)}};
    }
  }
  return work > kMostTimesAsMuch * once && work > once + kMuchWork;
}

}  // namespace assay
