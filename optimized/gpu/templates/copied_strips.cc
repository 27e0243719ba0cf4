// Asynchronous copies move 4 to 16 bytes as they are (PTX ISA 8.8, cp.async), so that elements must
// be stored as they are multiplied, and small ones lie along the contracted dimension.
#include "optimized/gpu/templates/copied_strips.h"

#include <algorithm>

#include "optimized/analysis/walks/contractions.h"
#include "optimized/gpu/templates/dot_sizes.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

// Contractions of fewer strips have nothing to copy ahead.
constexpr int64_t kFewestStrips = 3;
constexpr int64_t kLeastBytes = 4, kMostBytes = 16;  // of a copy

// True if the operand is an array in memory, seen through the parameters of calls.
bool IsInMemory(const Walks& walks, Seen seen) {
  while (!walks.IsSource(seen)) {
    if (seen.instruction->opcode() != Opcode::kParameter || seen.frame == nullptr ||
        seen.frame->binds_values) {
      return false;
    }
    const auto number = static_cast<size_t>(seen.instruction->parameter_number());
    seen = {seen.frame->parent, seen.frame->arguments[number]};
  }
  return true;
}

// True if the last of the contracted dimensions is the operand's innermost.
bool LastContractedIsInnermost(const Instruction& contraction, int64_t operand) {
  if (contraction.opcode() == Opcode::kConvolution) return DepthIsInnermost(contraction, operand);
  const DotDims dims = DotDims::Of(contraction);
  const auto count = static_cast<int64_t>(DotSizes::Of(contraction).depth.size());
  return (operand == 0 ? dims.lhs : dims.rhs).back() == -count;
}

// Elements of one copy; 0: none can be made.
int64_t ElementsOfCopy(const Instruction& contraction, int64_t operand, const StripForm& form,
                       int64_t threads) {
  const int64_t bytes = StorageBytes(form.types[operand]);
  if (bytes >= kLeastBytes) return 1;
  if (!form.is_depth_innermost || !LastContractedIsInnermost(contraction, operand)) return 0;
  int64_t count = std::min(kMostBytes, form.side * form.depth * bytes / threads) / bytes;
  const int64_t length = DotSizes::Of(contraction).depth.back();
  while (count > 1 && length % count != 0) count /= 2;
  return count * bytes < kLeastBytes ? 0 : count;
}

}  // namespace

void CopyStripsAhead(const Walks& walks, const CallFrame* frame, const StripForm& form,
                     TemplateChoice& choice) {
  const Instruction& contraction = *choice.subjects[0];
  if (choice.tensor.rounded_bits > 0 ||
      DotSizes::Of(contraction).depth_count < kFewestStrips * form.depth) {
    return;
  }
  int64_t copied[2] = {0, 0};
  for (int64_t k = 0; k < 2; ++k) {
    const Instruction* operand = contraction.operand(k);
    if (operand->shape().element_type() != form.types[k]) return;
    if (!IsInMemory(walks, {frame, operand})) return;
    copied[k] = ElementsOfCopy(contraction, k, form, choice.block_size);
    if (copied[k] == 0) return;
  }
  choice.copied[0] = copied[0];
  choice.copied[1] = copied[1];
  StrAppend(&choice.reason, ", strips copied ahead");
}

}  // namespace assay::gpu
