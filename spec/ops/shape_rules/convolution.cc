// Document: operation semantics chapter 11 (ConvGeneral), hlo-format 4.4 (window output,
// convolution).
#include <algorithm>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"
#include "spec/ops/shape_rules/window.h"

namespace assay {
namespace {

// The labels give every dimension of a shape of `rank` one part.
absl::Status CheckLabels(const OpSite& site, std::string_view side, int64_t rank, int64_t first,
                         int64_t second, const Int64List& spatial) {
  std::vector<bool> seen(rank, false);
  Int64List all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  for (int64_t d : all) {
    if (d < 0 || d >= rank || seen[d]) {
      return SiteError(site, "dim_labels of the ", side, " do not name each of its ", rank,
                       " dimensions once");
    }
    seen[d] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckRanks(const OpSite& site, const ConvDimLabels& labels, int64_t spatial) {
  for (int64_t i : {0, 1}) {
    if (site.operands[i]->rank() == spatial + 2) continue;
    return SiteError(site, DescribeOperand(site, i), " has rank ", site.operands[i]->rank(),
                     ", a convolution over ", spatial, " spatial dimensions takes ", spatial + 2);
  }
  const auto sizes = {labels.input_spatial.size(), labels.kernel_spatial.size(),
                      labels.output_spatial.size()};
  for (size_t size : sizes) {
    if (static_cast<int64_t>(size) == spatial) continue;
    return SiteError(site, "dim_labels name ", size, " spatial dimensions, the window has ",
                     spatial);
  }
  ASSAY_RETURN_IF_ERROR(CheckLabels(site, "input", spatial + 2, labels.input_batch,
                                    labels.input_feature, labels.input_spatial));
  ASSAY_RETURN_IF_ERROR(CheckLabels(site, "kernel", spatial + 2, labels.kernel_input_feature,
                                    labels.kernel_output_feature, labels.kernel_spatial));
  return CheckLabels(site, "output", spatial + 2, labels.output_batch, labels.output_feature,
                     labels.output_spatial);
}

absl::Status CheckDivides(const OpSite& site, Attr attr, int64_t groups, int64_t operand,
                          int64_t dimension, std::string_view what) {
  const int64_t size = site.operands[operand]->dimension(dimension);
  if (size % groups == 0) return absl::OkStatus();
  return SiteError(site, Info(attr).name, " ", groups, " does not divide the ", what, " dimension ",
                   dimension, " of ", DescribeOperand(site, operand), ", of size ", size);
}

absl::Status CheckGroups(const OpSite& site, const ConvDimLabels& labels) {
  const int64_t feature_groups = site.attributes.Integer(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = site.attributes.Integer(Attr::kBatchGroupCount, 1);
  for (auto [attr, groups] : {std::pair(Attr::kFeatureGroupCount, feature_groups),
                              std::pair(Attr::kBatchGroupCount, batch_groups)}) {
    if (groups >= 1) continue;
    return SiteError(site, Info(attr).name, " is ", groups, ", want at least 1");
  }
  if (feature_groups > 1 && batch_groups > 1) {
    return SiteError(site, "feature_group_count ", feature_groups, " and batch_group_count ",
                     batch_groups, " are both above 1");
  }
  ASSAY_RETURN_IF_ERROR(CheckDivides(site, Attr::kFeatureGroupCount, feature_groups, 0,
                                     labels.input_feature, "feature"));
  ASSAY_RETURN_IF_ERROR(CheckDivides(site, Attr::kFeatureGroupCount, feature_groups, 1,
                                     labels.kernel_output_feature, "output feature"));
  ASSAY_RETURN_IF_ERROR(
      CheckDivides(site, Attr::kBatchGroupCount, batch_groups, 0, labels.input_batch, "batch"));
  ASSAY_RETURN_IF_ERROR(CheckDivides(site, Attr::kBatchGroupCount, batch_groups, 1,
                                     labels.kernel_output_feature, "output feature"));
  const int64_t features = site.operands[0]->dimension(labels.input_feature);
  const int64_t kernel_features = site.operands[1]->dimension(labels.kernel_input_feature);
  if (features / feature_groups == kernel_features) return absl::OkStatus();
  return SiteError(site, "dimension ", labels.input_feature, " of ", DescribeOperand(site, 0),
                   " has ", features, " features in ", feature_groups, " groups, dimension ",
                   labels.kernel_input_feature, " of ", DescribeOperand(site, 1), " has ",
                   kernel_features, ", want ", features / feature_groups);
}

}  // namespace

bool IsPlainConvolution(const Attributes& attributes) {
  const auto kind = attributes.Word<ConvolutionKind>(Attr::kConvolutionKind);
  return !attributes.Has(Attr::kSparsityConfig) &&
         (kind == ConvolutionKind::kUnset || kind == ConvolutionKind::kForward);
}

absl::StatusOr<Shape> InferConvolution(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  for (size_t i = 0; i < site.operands.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckArray(site, static_cast<int64_t>(i)));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimLabels));
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, ProductSumType(site));
  // Backward forms and sparse operands have shapes of their own, which are taken as written.
  if (!IsPlainConvolution(site.attributes)) return WrittenArray(site);
  if (site.operands.size() != 2) {
    return SiteError(site, "takes 2 operands without sparsity_config, has ", site.operands.size());
  }
  const ConvDimLabels* found = site.attributes.DimLabels();
  if (found == nullptr) return SiteError(site, "dim_labels hold a value of the wrong kind");
  const ConvDimLabels& labels = *found;
  const absl::Span<const WindowDim> window = site.attributes.Window(Attr::kWindow);
  ASSAY_RETURN_IF_ERROR(CheckRanks(site, labels, static_cast<int64_t>(window.size())));
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, labels));
  DimVector dimensions(window.size() + 2);
  dimensions[labels.output_batch] = site.operands[0]->dimension(labels.input_batch) /
                                    site.attributes.Integer(Attr::kBatchGroupCount, 1);
  dimensions[labels.output_feature] = site.operands[1]->dimension(labels.kernel_output_feature);
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t kernel = site.operands[1]->dimension(labels.kernel_spatial[d]);
    if (kernel != window[d].size) {
      return SiteError(site, "the window has size ", window[d].size, " in spatial dimension ", d,
                       ", dimension ", labels.kernel_spatial[d], " of ", DescribeOperand(site, 1),
                       " has ", kernel);
    }
    ASSAY_ASSIGN_OR_RETURN(dimensions[labels.output_spatial[d]],
                           WindowCount(site, static_cast<int64_t>(d), window[d],
                                       site.operands[0]->dimension(labels.input_spatial[d])));
  }
  return CheckedResult(site, Shape::Array(type, dimensions));
}

}  // namespace assay
