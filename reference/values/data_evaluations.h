// The families of ops that move or combine elements at places found at run time, windows, and
// dynamic sizes.
#pragma once

#include "reference/values/op_evaluations.h"

namespace assay::reference {

absl::Span<const OpEvaluation> WindowEvaluations();
absl::Span<const OpEvaluation> GatherEvaluations();
absl::Span<const OpEvaluation> ScatterEvaluations();
absl::Span<const OpEvaluation> SortEvaluations();
absl::Span<const OpEvaluation> TopKEvaluations();
absl::Span<const OpEvaluation> MapEvaluations();
absl::Span<const OpEvaluation> ScanEvaluations();
absl::Span<const OpEvaluation> BatchNormEvaluations();
absl::Span<const OpEvaluation> DynamicShapeEvaluations();

}  // namespace assay::reference
