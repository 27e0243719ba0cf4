// Sizes that follow from the rules of the ops.
#include "fuzz/reduce/links/follow.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/links/equivalence.h"
#include "spec/attributes/attribute_words.h"
#include "spec/ir/instruction_site.h"
#include "spec/ops/op_table.h"
#include "spec/ops/shape_rules/window.h"

namespace assay {
namespace {

std::vector<WindowDim> WindowsOf(const Instruction* at) {
  const absl::Span<const WindowDim> windows = at->attributes().Window(Attr::kWindow);
  return {windows.begin(), windows.end()};
}

// A kernel is as large as the window.
void FitKernel(Instruction* changed) {
  const ConvDimLabels* labels = changed->attributes().DimLabels();
  std::vector<WindowDim> windows = WindowsOf(changed);
  if (labels == nullptr || windows.size() != labels->kernel_spatial.size()) return;
  const Shape& kernel = changed->operand(1)->shape();
  for (size_t i = 0; i < windows.size(); ++i)
    windows[i].size = kernel.dimension(labels->kernel_spatial[i]);
  if (!windows.empty())
    changed->mutable_attributes().Set(Attr::kWindow, AttrValue(std::move(windows)));
}

void FitSlices(Instruction* changed) {
  const absl::Span<const int64_t> old = changed->attributes().Integers(Attr::kSliceSizes);
  Int64List sizes(old.begin(), old.end());
  const Shape& operand = changed->operand(0)->shape();
  for (size_t d = 0; d < std::min<size_t>(sizes.size(), operand.rank()); ++d)
    sizes[d] = std::min(sizes[d], operand.dimension(d));
  changed->mutable_attributes().Set(Attr::kSliceSizes, AttrValue(std::move(sizes)));
}

// The last length of a transform to real numbers keeps its parity, of which half a spectrum does
// not tell.
void FitLengths(Instruction* changed) {
  const absl::Span<const int64_t> old = changed->attributes().Integers(Attr::kFftLength);
  Int64List lengths(old.begin(), old.end());
  const Shape& operand = changed->operand(0)->shape();
  const int64_t first = operand.rank() - static_cast<int64_t>(lengths.size());
  if (first < 0 || lengths.empty()) return;
  const bool is_odd = lengths.back() % 2 != 0;
  for (size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = operand.dimension(first + static_cast<int64_t>(i));
  if (changed->attributes().Word<FftKind>(Attr::kFftType) == FftKind::kIrfft)
    lengths.back() = std::max<int64_t>(2 * (lengths.back() - 1) + (is_odd ? 1 : 0), 0);
  changed->mutable_attributes().Set(Attr::kFftLength, AttrValue(std::move(lengths)));
}

// There is an update for each place of the window.
std::vector<FollowingSize> SizesOfUpdates(const Instruction* original, const Instruction* changed) {
  const InstructionSite site(*changed);
  std::vector<FollowingSize> sizes;
  const Shape &operand = changed->operand(0)->shape(), &updates = changed->operand(1)->shape();
  const absl::Span<const WindowDim> windows = changed->attributes().Window(Attr::kWindow);
  for (int64_t d = 0; d < std::min<int64_t>(operand.rank(), windows.size()); ++d) {
    const absl::StatusOr<int64_t> places = WindowCount(*site, d, windows[d], operand.dimension(d));
    if (places.ok() && *places != updates.dimension(d))
      sizes.push_back({original->operand(1), 0, d, *places});
  }
  return sizes;
}

// The scattered updates are no larger than the operand.
std::vector<FollowingSize> SizesOfScattered(const Instruction* original,
                                            const Instruction* changed) {
  const Attributes& attributes = changed->attributes();
  const int64_t arrays = changed->operand_count() / 2;
  const Instruction* updates = changed->operand(arrays + 1);
  const Shape& operand = changed->operand(0)->shape();
  std::vector<FollowingSize> sizes;
  size_t at = 0;
  const absl::Span<const int64_t> window = attributes.Integers(Attr::kUpdateWindowDims);
  for (int64_t d = 0; d < operand.rank() && at < window.size(); ++d) {
    if (absl::c_linear_search(attributes.Integers(Attr::kInsertedWindowDims), d) ||
        absl::c_linear_search(attributes.Integers(Attr::kInputBatchingDims), d)) {
      continue;
    }
    const int64_t of_updates = window[at++];
    if (of_updates >= updates->shape().rank()) break;
    if (updates->shape().dimension(of_updates) > operand.dimension(d))
      sizes.push_back({original->operand(arrays + 1), 0, of_updates, operand.dimension(d)});
  }
  return sizes;
}

// A kernel takes the features of one group.
std::vector<FollowingSize> SizesOfFeatures(const Instruction* original,
                                           const Instruction* changed) {
  const ConvDimLabels* labels = changed->attributes().DimLabels();
  if (labels == nullptr) return {};
  const int64_t groups = changed->attributes().Integer(Attr::kFeatureGroupCount, 1);
  const int64_t features = changed->operand(0)->shape().dimension(labels->input_feature);
  const int64_t taken = changed->operand(1)->shape().dimension(labels->kernel_input_feature);
  if (groups < 1 || features == groups * taken) return {};
  if (features > groups * taken)
    return {{original->operand(0), 0, labels->input_feature, groups * taken}};
  if (features % groups != 0) return {};
  return {{original->operand(1), 0, labels->kernel_input_feature, features / groups}};
}

std::vector<FollowingSize> SizesOfOperands(const Instruction* original,
                                           const Instruction* changed) {
  switch (changed->opcode()) {
    case Opcode::kSelectAndScatter:
      return SizesOfUpdates(original, changed);
    case Opcode::kScatter:
      return SizesOfScattered(original, changed);
    case Opcode::kConvolution:
      return SizesOfFeatures(original, changed);
    default:
      return {};
  }
}

}  // namespace

void FitAttributes(Instruction* changed) {
  switch (changed->opcode()) {
    case Opcode::kConvolution:
      return FitKernel(changed);
    case Opcode::kGather:
      return FitSlices(changed);
    case Opcode::kFft:
      return FitLengths(changed);
    case Opcode::kTopK: {
      const Shape& operand = changed->operand(0)->shape();
      if (!operand.IsArray() || operand.rank() == 0) return;
      const int64_t most = operand.dimension(operand.rank() - 1);
      const int64_t k = std::min(changed->attributes().Integer(Attr::kK), most);
      changed->mutable_attributes().Set(Attr::kK, AttrValue(k));
      return;
    }
    default:
      return;
  }
}

std::vector<FollowingSize> FollowingSizes(const Instruction* original, const Instruction* changed) {
  const OpInfo& info = Info(changed->opcode());
  if (!info.IsDefined() || changed->operand_count() == 0) return {};
  std::vector<FollowingSize> sizes = SizesOfOperands(original, changed);
  if (!sizes.empty()) return sizes;
  const absl::StatusOr<Shape> inferred = info.infer(*InstructionSite(*changed));
  if (!inferred.ok()) return {};
  const std::vector<const Shape*> wanted = ShapeLeaves(*inferred);
  const std::vector<const Shape*> now = ShapeLeaves(changed->shape());
  for (size_t leaf = 0; leaf < std::min(wanted.size(), now.size()); ++leaf) {
    if (!wanted[leaf]->IsArray() || !now[leaf]->IsArray()) continue;
    for (int64_t d = 0; d < std::min(wanted[leaf]->rank(), now[leaf]->rank()); ++d) {
      if (wanted[leaf]->dimension(d) != now[leaf]->dimension(d))
        sizes.push_back({original, static_cast<int64_t>(leaf), d, wanted[leaf]->dimension(d)});
    }
  }
  return sizes;
}

}  // namespace assay
