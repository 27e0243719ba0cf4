// Batch normalisation. Documents: operation semantics chapter 12; hlo-format 4.0.5.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// Operand 0 is the batch; the `vectors` are rank 1 and as long as its feature dimension.
absl::StatusOr<int64_t> CheckFeatures(const OpSite& site, std::initializer_list<int64_t> vectors) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kF));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kEpsilon));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kFeatureIndex));
  const Shape& batch = *site.operands[0];
  const int64_t feature = site.attributes.Integer(Attr::kFeatureIndex);
  if (feature < 0 || feature >= batch.rank()) {
    return SiteError(site, "feature_index ", feature, " is not in [0, ", batch.rank(), ") of ",
                     DescribeOperand(site, 0));
  }
  for (int64_t i : vectors) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i, kF));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, i));
    if (site.operands[i]->rank() != 1) {
      return SiteError(site, DescribeOperand(site, i), " has rank ", site.operands[i]->rank(),
                       ", want 1");
    }
    if (site.operands[i]->dimension(0) != batch.dimension(feature)) {
      return SiteError(site, DescribeOperand(site, i), " has ", site.operands[i]->dimension(0),
                       " elements for the ", batch.dimension(feature), " features of ",
                       DescribeOperand(site, 0));
    }
  }
  return feature;
}

// (like the batch, per feature, per feature)
absl::StatusOr<Shape> BatchAndTwoVectors(const OpSite& site, int64_t feature) {
  const Shape& batch = *site.operands[0];
  Shape vector = Shape::Array(batch.element_type(), {batch.dimension(feature)});
  vector.set_dynamic(0, batch.is_dynamic(feature));
  return CheckedResult(site, Shape::Tuple({batch, vector, vector}));
}

}  // namespace

absl::StatusOr<Shape> InferBatchNormTraining(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN(int64_t feature, CheckFeatures(site, {1, 2}));
  return BatchAndTwoVectors(site, feature);
}

absl::StatusOr<Shape> InferBatchNormInference(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] int64_t feature, CheckFeatures(site, {1, 2, 3, 4}));
  return *site.operands[0];
}

absl::StatusOr<Shape> InferBatchNormGrad(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN(int64_t feature, CheckFeatures(site, {1, 2, 3}));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 4, kF));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 4));
  ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, 4));
  return BatchAndTwoVectors(site, feature);
}

}  // namespace assay
