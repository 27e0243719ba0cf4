// Tokens, the host's queues, send and recv, asynchronous copies and computations. Documents:
// operation semantics chapters 15, 17; hlo-format 3.11, 4.0.3, 4.0.6, 4.0.7.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

absl::Status CheckToken(const OpSite& site, int64_t i) {
  if (site.operands[i]->IsToken()) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, i), " is not a token");
}

absl::Status CheckChannel(const OpSite& site) {
  const int64_t channel = site.attributes.Integer(Attr::kChannelId, 1);
  if (channel > 0) return absl::OkStatus();
  return SiteError(site, "channel_id ", channel, " is not positive");
}

// Element 0 of the written (data, ...).
absl::StatusOr<Shape> WrittenData(const OpSite& site) {
  if (site.written == nullptr || !site.written->IsTuple() || site.written->elements().empty())
    return SiteError(site, "the result must be written as a tuple of the data and a token");
  return site.written->elements()[0];
}

// An array, or a tuple of arrays.
absl::Status CheckFlatData(const OpSite& site, const Shape& data) {
  for (const Shape& element : data.elements()) {
    if (!element.IsArray())
      return SiteError(site, "the data ", data.ToString(), " is a nested tuple; take its leaves");
  }
  if (data.IsArray() || data.IsTuple()) return absl::OkStatus();
  return SiteError(site, "the data ", data.ToString(), " is no array and no tuple of arrays");
}

Shape Context(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

absl::Status CheckContext(const OpSite& site) {
  const Shape& context = *site.operands[0];
  const bool fits =
      context.IsTuple() && context.elements().size() == 3 && context.elements()[1].IsScalar() &&
      context.elements()[1].element_type() == ElementType::kU32 && context.elements()[2].IsToken();
  if (fits) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, 0), " is not a context (data, u32[], token[])");
}

// ((arguments), result, contexts) of an asynchronous computation.
absl::Status CheckAsyncShape(const OpSite& site, const Shape& shape) {
  if (shape.IsTuple() && shape.elements().size() >= 2 && shape.elements()[0].IsTuple())
    return absl::OkStatus();
  return SiteError(site, "the shape ", shape.ToString(), " is not ((arguments), result, ...)");
}

}  // namespace

absl::StatusOr<Shape> InferAfterAll(const OpSite& site) {
  // XLA's printer writes arrays here, too: their values are waited for.
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (!site.operands[i]->IsArray())
      ASSAY_RETURN_IF_ERROR(CheckToken(site, static_cast<int64_t>(i)));
  }
  return Shape::Token();
}

absl::StatusOr<Shape> InferAddDependency(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckToken(site, 1));
  return *site.operands[0];
}

absl::StatusOr<Shape> InferCopyStart(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  return Shape::Tuple({*site.operands[0], *site.operands[0], Shape::Scalar(ElementType::kU32)});
}

absl::StatusOr<Shape> InferCopyDone(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  const Shape& start = *site.operands[0];
  if (!start.IsTuple() || start.elements().size() != 3 ||
      !Compatible(start.elements()[0], start.elements()[1])) {
    return SiteError(site, DescribeOperand(site, 0), " is not (copy, original, u32[])");
  }
  return start.elements()[0];
}

absl::StatusOr<Shape> InferInfeed(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckToken(site, 0));
  ASSAY_ASSIGN_OR_RETURN(Shape data, WrittenData(site));
  ASSAY_RETURN_IF_ERROR(CheckFlatData(site, data));
  return CheckedResult(site, Shape::Tuple({std::move(data), Shape::Token()}));
}

absl::StatusOr<Shape> InferOutfeed(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckFlatData(site, *site.operands[0]));
  ASSAY_RETURN_IF_ERROR(CheckToken(site, 1));
  const Shape* shape = site.attributes.GetShape(Attr::kOutfeedShape);
  if (shape != nullptr && !Compatible(*shape, *site.operands[0])) {
    return SiteError(site, "outfeed_shape is ", shape->ToString(), ", but ",
                     DescribeOperand(site, 0), " is given");
  }
  return Shape::Token();
}

absl::StatusOr<Shape> InferSend(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckChannel(site));
  ASSAY_RETURN_IF_ERROR(CheckFlatData(site, *site.operands[0]));
  ASSAY_RETURN_IF_ERROR(CheckToken(site, 1));
  return Context(*site.operands[0]);
}

absl::StatusOr<Shape> InferSendDone(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckContext(site));
  return Shape::Token();
}

absl::StatusOr<Shape> InferRecv(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckChannel(site));
  ASSAY_RETURN_IF_ERROR(CheckToken(site, 0));
  ASSAY_ASSIGN_OR_RETURN(Shape data, WrittenData(site));
  ASSAY_RETURN_IF_ERROR(CheckFlatData(site, data));
  return CheckedResult(site, Context(data));
}

absl::StatusOr<Shape> InferRecvDone(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckContext(site));
  return Shape::Tuple({site.operands[0]->elements()[0], Shape::Token()});
}

absl::StatusOr<Shape> InferAsyncStart(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  if (site.written == nullptr) return SiteError(site, "the result shape must be written");
  ASSAY_RETURN_IF_ERROR(CheckAsyncShape(site, *site.written));
  const CalleeSignature& wrapped = site.callees[0];
  if (wrapped.result == nullptr)
    return SiteError(site, "computation ", wrapped.name, " has no root");
  const auto count = static_cast<int64_t>(site.operands.size());
  if (count > wrapped.parameter_count()) {
    return SiteError(site, "computation ", wrapped.name, " takes ", wrapped.parameter_count(),
                     " parameters, has ", count, " operands");
  }
  // Later arguments may come with updates.
  std::vector<Shape> arguments = site.written->elements()[0].elements();
  if (static_cast<int64_t>(arguments.size()) < count ||
      static_cast<int64_t>(arguments.size()) > wrapped.parameter_count()) {
    return SiteError(site, "the written result lists ", arguments.size(), " arguments, ", count,
                     " operands are given and computation ", wrapped.name, " takes ",
                     wrapped.parameter_count());
  }
  for (int64_t i = 0; i < static_cast<int64_t>(arguments.size()); ++i) {
    if (wrapped.parameters[i] == nullptr)
      return SiteError(site, "computation ", wrapped.name, " lacks parameter ", i);
    const Shape& parameter = *wrapped.parameters[i];
    if (i < count && !Compatible(parameter, *site.operands[i])) {
      return SiteError(site, "parameter ", i, " of computation ", wrapped.name, " is ",
                       parameter.ToString(), ", but ", DescribeOperand(site, i), " is given");
    }
    arguments[i] = parameter;
  }
  std::vector<Shape> elements = {Shape::Tuple(std::move(arguments)), *wrapped.result};
  for (size_t i = 2; i < site.written->elements().size(); ++i)
    elements.push_back(site.written->elements()[i]);
  return CheckedResult(site, Shape::Tuple(std::move(elements)));
}

absl::StatusOr<Shape> InferAsyncUpdate(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckAsyncShape(site, *site.operands[0]));
  if (site.operands.size() == 1 || site.written == nullptr) return *site.operands[0];
  // The arguments that come with the update are listed from now on.
  ASSAY_RETURN_IF_ERROR(CheckAsyncShape(site, *site.written));
  Shape result = *site.operands[0];
  std::vector<Shape>& arguments = result.mutable_elements()[0].mutable_elements();
  const size_t listed = site.written->elements()[0].elements().size();
  for (size_t i = 1; i < site.operands.size() && arguments.size() < listed; ++i)
    arguments.push_back(*site.operands[i]);
  return result;
}

absl::StatusOr<Shape> InferAsyncDone(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckAsyncShape(site, *site.operands[0]));
  return site.operands[0]->elements()[1];
}

}  // namespace assay
