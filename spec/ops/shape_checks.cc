// The checks that shape rules share, with their error messages.
#include "spec/ops/shape_checks.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay {
namespace {

// Longest shape text in a message.
constexpr size_t kMaxShapeText = 200;

absl::Status CheckLayout(const Shape& shape) {
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  if (static_cast<int64_t>(order.size()) != shape.rank()) {
    return absl::InvalidArgumentError(StrCat("shape ", shape.ToString(), " has rank ", shape.rank(),
                                             " but its layout orders ", order.size(),
                                             " dimensions"));
  }
  std::vector<bool> seen(order.size(), false);
  for (int64_t dimension : order) {
    if (dimension < 0 || dimension >= shape.rank() || seen[dimension]) {
      return absl::InvalidArgumentError(StrCat("the layout of ", shape.ToString(true),
                                               " is not a permutation of its dimensions"));
    }
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckArrayShape(const Shape& shape) {
  // A literal nests as deep as its rank.
  if (shape.rank() > kMaxShapeDepth) {
    return absl::InvalidArgumentError(
        StrCat("the array has ", shape.rank(), " dimensions, more than ", kMaxShapeDepth));
  }
  int64_t bytes = std::max(1, StorageBytes(shape.element_type()));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dimension(d);
    if (size == Shape::kUnbounded) {
      return absl::InvalidArgumentError(StrCat("dimension ", d, " of ", shape.ToString(),
                                               " is unbounded; give it a bound (<=N)"));
    }
    if (size < 0) {
      return absl::InvalidArgumentError(
          StrCat("dimension ", d, " of ", shape.ToString(), " has the negative size ", size));
    }
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(1, size), &bytes)) {
      return absl::InvalidArgumentError(
          StrCat("shape ", shape.ToString(), " has 2^63 bytes or more"));
    }
  }
  return CheckLayout(shape);
}

std::string ShapeText(const Shape& shape) {
  std::string text = shape.ToString();
  if (text.size() > kMaxShapeText) text = text.substr(0, kMaxShapeText) + "...";
  return text;
}

std::string TypeList(TypeMask mask) {
  static constexpr std::pair<TypeMask, std::string_view> kClasses[] = {{kP, "pred"},
                                                                       {kS, "signed integer"},
                                                                       {kU, "unsigned integer"},
                                                                       {kF, "float"},
                                                                       {kC, "complex"}};
  std::string text;
  for (const auto& [bit, name] : kClasses) {
    if ((mask & bit) == 0) continue;
    if (!text.empty()) text += " or ";
    text += name;
  }
  return text;
}

// Parameter or result `what` of a called computation is a scalar of `type`.
absl::Status CheckCalleeScalar(const OpSite& site, const CalleeSignature& callee,
                               std::string_view what, int64_t i, const Shape& shape,
                               ElementType type) {
  if (shape.IsScalar() && shape.element_type() == type) return absl::OkStatus();
  return SiteError(site, what, " ", i, " of computation ", callee.name, " is ", shape.ToString(),
                   ", want ", Name(type), "[]");
}

}  // namespace

absl::Status CheckShape(const Shape& shape) {
  // Explicit stack: the depth of a shape is the reader's limit, not the machine stack's.
  std::vector<std::pair<const Shape*, int64_t>> pending = {{&shape, 1}};
  int64_t nodes = 0;
  while (!pending.empty()) {
    const auto [at, depth] = pending.back();
    pending.pop_back();
    if (++nodes > kMaxShapeNodes) {
      return absl::InvalidArgumentError(
          StrCat("the tuple has more than ", kMaxShapeNodes, " elements"));
    }
    if (depth > kMaxShapeDepth) {
      return absl::InvalidArgumentError(
          StrCat("the tuple is nested more than ", kMaxShapeDepth, " deep"));
    }
    if (!at->IsValid()) return absl::InvalidArgumentError("the shape is missing");
    if (at->IsArray()) ASSAY_RETURN_IF_ERROR(CheckArrayShape(*at));
    for (const Shape& element : at->elements()) pending.push_back({&element, depth + 1});
  }
  return absl::OkStatus();
}

std::string DescribeOperand(const OpSite& site, int64_t i) {
  return StrCat("operand ", i, " (", ShapeText(*site.operands[i]), ")");
}

absl::Status CheckOperandCount(const OpSite& site) {
  const OpInfo& info = Info(site.opcode);
  const int64_t count = static_cast<int64_t>(site.operands.size());
  if (info.operands.Allows(count)) {
    return absl::OkStatus();
  }
  const std::string_view bound = info.operands.IsFixed() ? "" : "at least ";
  return SiteError(site, "takes ", bound, info.operands.min, " operands, has ", count);
}

absl::Status CheckCalleeCount(const OpSite& site) {
  const int64_t count = static_cast<int64_t>(site.callees.size());
  auto exactly = [&](int64_t wanted) {
    return count == wanted ? absl::OkStatus()
                           : SiteError(site, "calls ", wanted, " computations, has ", count);
  };
  switch (Info(site.opcode).callees) {
    case CalleeForm::kNone:
      return exactly(0);
    case CalleeForm::kToApply:
    case CalleeForm::kCalls:
      return exactly(1);
    case CalleeForm::kConditionBody:
    case CalleeForm::kSelectScatter:
      return exactly(2);
    case CalleeForm::kBranches:
      return count >= 1 ? absl::OkStatus()
                        : SiteError(site, "needs at least one branch computation");
    case CalleeForm::kCalledComputations:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status CheckArray(const OpSite& site, int64_t i, TypeMask mask) {
  const Shape& shape = *site.operands[i];
  if (!shape.IsArray()) return SiteError(site, DescribeOperand(site, i), " is not an array");
  if (!Matches(mask, shape.element_type())) {
    return SiteError(site, DescribeOperand(site, i), " has element type ",
                     Name(shape.element_type()), ", want ", TypeList(mask));
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) >= 0) continue;
    return SiteError(site, DescribeOperand(site, i), ": the size of dimension ", d,
                     shape.dimension(d) == Shape::kUnbounded ? " is unbounded" : " is negative");
  }
  return absl::OkStatus();
}

absl::Status CheckScalar(const OpSite& site, int64_t i, TypeMask mask) {
  ASSAY_RETURN_IF_ERROR(CheckArray(site, i, mask));
  if (site.operands[i]->IsScalar()) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, i), " has rank ", site.operands[i]->rank(),
                   ", want a scalar");
}

absl::Status CheckSameType(const OpSite& site, int64_t i, int64_t j) {
  const ElementType a = site.operands[i]->element_type(), b = site.operands[j]->element_type();
  if (a == b) return absl::OkStatus();
  return SiteError(site, "element types differ: ", DescribeOperand(site, i), " is ", Name(a), ", ",
                   DescribeOperand(site, j), " is ", Name(b), "; convert one of them");
}

absl::Status CheckSameDimensions(const OpSite& site, int64_t i, int64_t j) {
  const Shape& a = *site.operands[i];
  const Shape& b = *site.operands[j];
  if (a.rank() != b.rank()) {
    return SiteError(site, "ranks differ: ", DescribeOperand(site, i), " has ", a.rank(), ", ",
                     DescribeOperand(site, j), " has ", b.rank(), "; broadcast explicitly");
  }
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.dimension(d) == b.dimension(d)) continue;
    return SiteError(site, "dimension ", d, " differs: ", a.dimension(d), " in ",
                     DescribeOperand(site, i), ", ", b.dimension(d), " in ",
                     DescribeOperand(site, j));
  }
  return absl::OkStatus();
}

absl::Status CheckPresent(const OpSite& site, Attr attr) {
  if (site.attributes.Has(attr)) return absl::OkStatus();
  return SiteError(site, "attribute ", Info(attr).name, " is missing");
}

absl::StatusOr<int64_t> OneDimension(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimension));
  const absl::Span<const int64_t> list = site.attributes.Integers(Attr::kDimension);
  if (list.size() != 1)
    return SiteError(site, "dimensions has ", list.size(), " entries, want one");
  if (list[0] >= 0 && list[0] < site.operands[0]->rank()) return list[0];
  return SiteError(site, "dimension ", list[0], " is not in [0, ", site.operands[0]->rank(),
                   ") of ", DescribeOperand(site, 0));
}

absl::Status CheckListLength(const OpSite& site, Attr attr, int64_t length, int64_t rank) {
  if (length == rank) return absl::OkStatus();
  return SiteError(site, Info(attr).name, " has ", length, " entries for rank ", rank);
}

absl::Status CheckDimensionList(const OpSite& site, Attr attr, absl::Span<const int64_t> list,
                                int64_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t dimension : list) {
    if (dimension < 0 || dimension >= rank) {
      return SiteError(site, Info(attr).name, " names dimension ", dimension,
                       ", which is not in [0, ", rank, ")");
    }
    if (seen[dimension])
      return SiteError(site, Info(attr).name, " names dimension ", dimension, " twice");
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckScalarFunction(const OpSite& site, const CalleeSignature& computation,
                                 absl::Span<const ElementType> parameters,
                                 absl::Span<const ElementType> results) {
  const int64_t wanted = static_cast<int64_t>(parameters.size());
  if (computation.parameter_count() != wanted) {
    return SiteError(site, "computation ", computation.name, " takes ",
                     computation.parameter_count(), " parameters, want ", wanted);
  }
  for (int64_t i = 0; i < wanted; ++i) {
    const Shape* parameter = computation.parameters[i];
    if (parameter == nullptr)
      return SiteError(site, "computation ", computation.name, " lacks parameter ", i);
    ASSAY_RETURN_IF_ERROR(
        CheckCalleeScalar(site, computation, "parameter", i, *parameter, parameters[i]));
  }
  if (computation.result == nullptr)
    return SiteError(site, "computation ", computation.name, " has no root");
  const Shape& result = *computation.result;
  const int64_t n = static_cast<int64_t>(results.size());
  if (n == 1) return CheckCalleeScalar(site, computation, "result", 0, result, results[0]);
  if (!result.IsTuple() || static_cast<int64_t>(result.elements().size()) != n) {
    return SiteError(site, "computation ", computation.name, " returns ", result.ToString(),
                     ", want a tuple of ", n, " scalars");
  }
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckCalleeScalar(site, computation, "result", i, result.elements()[i], results[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckReducer(const OpSite& site, const CalleeSignature& reducer,
                          absl::Span<const ElementType> types) {
  const int64_t n = static_cast<int64_t>(types.size());
  if (reducer.parameter_count() != 2 * n) {
    return SiteError(site, "computation ", reducer.name, " takes ", reducer.parameter_count(),
                     " parameters, want ", 2 * n, ": ", n, " running values, then ", n, " inputs");
  }
  std::vector<ElementType> parameters(types.begin(), types.end());
  parameters.insert(parameters.end(), types.begin(), types.end());
  return CheckScalarFunction(site, reducer, parameters, types);
}

absl::StatusOr<std::vector<ElementType>> CheckInputsAndInitialValues(const OpSite& site) {
  const int64_t count = static_cast<int64_t>(site.operands.size());
  if (count % 2 != 0) {
    return SiteError(site, "has ", count, " operands; want as many initial values as inputs");
  }
  const int64_t n = count / 2;
  std::vector<ElementType> types;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, i));
    ASSAY_RETURN_IF_ERROR(CheckScalar(site, n + i));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, i, n + i));
    types.push_back(site.operands[i]->element_type());
  }
  return types;
}

absl::StatusOr<Shape> WrittenArray(const OpSite& site) {
  if (site.written == nullptr) return SiteError(site, "the result shape must be written");
  if (!site.written->IsArray()) {
    return SiteError(site, "the result ", ShapeText(*site.written), " is not an array");
  }
  return CheckedResult(site, *site.written);
}

absl::StatusOr<Shape> WrittenReshape(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenArray(site));
  const Shape& operand = *site.operands[0];
  if (operand.element_type() != written.element_type()) {
    return SiteError(site, DescribeOperand(site, 0), " has element type ",
                     Name(operand.element_type()), ", the result ", Name(written.element_type()));
  }
  if (operand.ElementCount() != written.ElementCount()) {
    return SiteError(site, DescribeOperand(site, 0), " has ", operand.ElementCount(),
                     " elements, the result ", written.ToString(), " has ", written.ElementCount());
  }
  return written;
}

absl::StatusOr<Shape> CheckedResult(const OpSite& site, Shape shape) {
  if (absl::Status status = CheckShape(shape); !status.ok()) {
    return SiteError(site, "result: ", ToStd(status.message()));
  }
  return shape;
}

}  // namespace assay
