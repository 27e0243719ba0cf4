// Documents: operation semantics chapter 14, hlo-format 4.0.6 and 4.4. Shapes are compared without
// layouts and dynamic bits; the verifier compares layouts when asked to.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// A computation's signature is known: no gap among the parameters, a root.
absl::Status CheckWhole(const OpSite& site, const CalleeSignature& callee) {
  for (int64_t i = 0; i < callee.parameter_count(); ++i) {
    if (callee.parameters[i] == nullptr)
      return SiteError(site, "computation ", callee.name, " lacks parameter ", i);
  }
  if (callee.result == nullptr) return SiteError(site, "computation ", callee.name, " has no root");
  return absl::OkStatus();
}

// The callee has one parameter, compatible with operand i.
absl::Status CheckOneParameter(const OpSite& site, const CalleeSignature& callee,
                               std::string_view role, int64_t i) {
  ASSAY_RETURN_IF_ERROR(CheckWhole(site, callee));
  if (callee.parameter_count() != 1) {
    return SiteError(site, role, " ", callee.name, " takes ", callee.parameter_count(),
                     " parameters, want 1");
  }
  const Shape& parameter = *callee.parameters[0];
  if (Compatible(parameter, *site.operands[i])) return absl::OkStatus();
  return SiteError(site, role, " ", callee.name, " takes ", parameter.ToString(), ", but ",
                   DescribeOperand(site, i), " is given");
}

// The callee takes the operands, in order.
absl::Status CheckArguments(const OpSite& site, const CalleeSignature& callee) {
  ASSAY_RETURN_IF_ERROR(CheckWhole(site, callee));
  const int64_t count = static_cast<int64_t>(site.operands.size());
  if (callee.parameter_count() != count) {
    return SiteError(site, "computation ", callee.name, " takes ", callee.parameter_count(),
                     " parameters, has ", count, " operands");
  }
  for (int64_t i = 0; i < count; ++i) {
    const Shape& parameter = *callee.parameters[i];
    if (Compatible(parameter, *site.operands[i])) continue;
    return SiteError(site, "parameter ", i, " of computation ", callee.name, " is ",
                     parameter.ToString(), ", but ", DescribeOperand(site, i), " is given");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferWhile(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  const CalleeSignature& condition = site.callees[0];
  const CalleeSignature& body = site.callees[1];
  ASSAY_RETURN_IF_ERROR(CheckOneParameter(site, condition, "condition", 0));
  ASSAY_RETURN_IF_ERROR(CheckOneParameter(site, body, "body", 0));
  const Shape& verdict = *condition.result;
  if (!verdict.IsScalar() || !IsPred(verdict.element_type())) {
    return SiteError(site, "condition ", condition.name, " returns ", verdict.ToString(),
                     ", want pred[]");
  }
  const Shape& next = *body.result;
  if (!Compatible(next, *site.operands[0])) {
    return SiteError(site, "body ", body.name, " returns ", next.ToString(), ", but the state is ",
                     DescribeOperand(site, 0));
  }
  return *site.operands[0];
}

absl::StatusOr<Shape> InferConditional(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, 0));
  const ElementType selector = site.operands[0]->element_type();
  if (!IsPred(selector) && selector != ElementType::kS32) {
    return SiteError(site, DescribeOperand(site, 0), " selects the branch, want pred[] or s32[]");
  }
  const int64_t branches = static_cast<int64_t>(site.callees.size());
  if (IsPred(selector) && branches != 2) {
    return SiteError(site, "has ", branches, " branches; a pred selector chooses between 2");
  }
  if (static_cast<int64_t>(site.operands.size()) != branches + 1) {
    return SiteError(site, "has ", branches, " branches and ", site.operands.size() - 1,
                     " operands after the selector; want one per branch");
  }
  for (int64_t i = 0; i < branches; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckOneParameter(site, site.callees[i], "branch", i + 1));
  }
  const Shape& first = *site.callees[0].result;
  for (int64_t i = 1; i < branches; ++i) {
    const Shape& other = *site.callees[i].result;
    if (Compatible(first, other)) continue;
    return SiteError(site, "branch ", site.callees[0].name, " returns ", first.ToString(),
                     ", branch ", site.callees[i].name, " returns ", other.ToString());
  }
  return first;
}

absl::StatusOr<Shape> InferCall(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArguments(site, site.callees[0]));
  return CheckedResult(site, *site.callees[0].result);
}

absl::StatusOr<Shape> InferFusion(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kFusionKind));
  return InferCall(site);
}

}  // namespace assay
