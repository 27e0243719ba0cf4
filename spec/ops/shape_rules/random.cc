// Document: operation semantics chapter 13, hlo-format 4.0.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {

absl::StatusOr<Shape> InferRng(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  const auto distribution = site.attributes.Word<RngDistribution>(Attr::kDistribution);
  if (distribution == RngDistribution::kInvalid) {
    return SiteError(site, "distribution must be rng_uniform or rng_normal");
  }
  const TypeMask types = distribution == RngDistribution::kNormal ? kF : kP | kI | kF;
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, 0, types));
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, 1, types));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, WrittenArray(site));
  if (shape.element_type() != site.operands[0]->element_type()) {
    return SiteError(site, "the result ", shape.ToString(), " differs in element type from ",
                     DescribeOperand(site, 0));
  }
  return shape;
}

absl::StatusOr<Shape> InferRngBitGenerator(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kU));
  const Shape& state = *site.operands[0];
  if (state.element_type() != ElementType::kU64 || state.rank() != 1) {
    return SiteError(site, DescribeOperand(site, 0), " is no state: want u64[2] or u64[3]");
  }
  const auto algorithm = site.attributes.Word<RngAlgorithm>(Attr::kRngAlgorithm);
  const bool two_words = algorithm == RngAlgorithm::kThreeFry;
  const int64_t length = state.dimension(0);
  if (length != 2 && (length != 3 || two_words)) {
    return SiteError(site, DescribeOperand(site, 0), " has ", length, " words of state, ",
                     WordAt(Attr::kRngAlgorithm, static_cast<int64_t>(algorithm)), " takes 2",
                     two_words ? "" : " or 3");
  }
  if (site.written == nullptr) return SiteError(site, "the result shape must be written");
  ASSAY_RETURN_IF_ERROR(CheckShape(*site.written));
  const bool alone = site.written->IsArray();
  const bool pair = site.written->IsTuple() && site.written->elements().size() == 2;
  if (!alone && (!pair || !Compatible(site.written->elements()[0], state))) {
    return SiteError(site, "the result ", site.written->ToString(),
                     " is no pair of the next state, ", state.ToString(), ", and bits");
  }
  const Shape& bits = alone ? *site.written : site.written->elements()[1];
  if (!bits.IsArray() || !IsInteger(bits.element_type())) {
    return SiteError(site, "the bits ", bits.ToString(), " are no array of integers");
  }
  return *site.written;
}

absl::StatusOr<Shape> InferRngGetAndUpdateState(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, WrittenArray(site));
  if (shape.element_type() != ElementType::kU64 || shape.rank() != 1 || shape.dimension(0) != 2) {
    return SiteError(site, "the result ", shape.ToString(), " is no state: want u64[2]");
  }
  return shape;
}

}  // namespace assay
