// Common ground of the shape rules: checks of operands, attributes and results, with errors that
// name the op, the operand, the dimension and both sizes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {

// Shapes beyond these limits are rejected: text is nested less deep, and no tuple of a real program
// has as many elements.
inline constexpr int64_t kMaxShapeDepth = 1000;
inline constexpr int64_t kMaxShapeNodes = int64_t{1} << 16;

// An array whose sizes are known, not negative, and give a size in bytes below 2^63 even with zero
// sizes counted as one (so that strides cannot overflow either); its layout is a permutation of the
// dimensions. Tuples: all their leaves, and the limits above.
absl::Status CheckShape(const Shape& shape);

// "op: ..." as an invalid-argument status.
template <typename... Parts>
absl::Status SiteError(const OpSite& site, const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(Name(site.opcode), ": ", parts...));
}

// "operand 1 (f32[2,3])"
std::string DescribeOperand(const OpSite& site, int64_t i);

// The number of operands that the row allows. Every rule starts with it.
absl::Status CheckOperandCount(const OpSite& site);
// The number of computations that the row's callee form asks for.
absl::Status CheckCalleeCount(const OpSite& site);

// Operand i is an array, of known sizes, of a type in `mask`.
absl::Status CheckArray(const OpSite& site, int64_t i, TypeMask mask = kAnyArray);
// Operand i is a scalar of a type in `mask`.
absl::Status CheckScalar(const OpSite& site, int64_t i, TypeMask mask = kAnyArray);
absl::Status CheckSameType(const OpSite& site, int64_t i, int64_t j);
absl::Status CheckSameDimensions(const OpSite& site, int64_t i, int64_t j);

// The attribute is there; the error tells its name.
absl::Status CheckPresent(const OpSite& site, Attr attr);
// The one entry of `dimensions`, a dimension of operand 0.
absl::StatusOr<int64_t> OneDimension(const OpSite& site);
// The list has one entry per dimension of a shape of `rank`.
absl::Status CheckListLength(const OpSite& site, Attr attr, int64_t length, int64_t rank);
// Entries are different and in [0, rank).
absl::Status CheckDimensionList(const OpSite& site, Attr attr, absl::Span<const int64_t> list,
                                int64_t rank);

// The element type of sums of products of operands 0 and 1 (dot, convolution): the higher precision
// of the two, or what is written, an accumulation type. Precisions without a meaning are errors.
absl::StatusOr<ElementType> ProductSumType(const OpSite& site);
// `computation` takes scalars of the types `parameters` and returns one scalar of the type in
// `results`, or a tuple of scalars if there are several.
absl::Status CheckScalarFunction(const OpSite& site, const CalleeSignature& computation,
                                 absl::Span<const ElementType> parameters,
                                 absl::Span<const ElementType> results);
// The reducer rule (hlo-format 4.4): `reducer` takes N running values and N inputs, all scalars of
// `types`, and returns N of them.
absl::Status CheckReducer(const OpSite& site, const CalleeSignature& reducer,
                          absl::Span<const ElementType> types);

// Operands 0 to N - 1 are arrays of the same dimensions, operands N to 2 N - 1 their initial
// values: scalars of the same types, which are returned.
absl::StatusOr<std::vector<ElementType>> CheckInputsAndInitialValues(const OpSite& site);

// The shape that the text gives, which the op cannot do without: an array of acceptable size.
absl::StatusOr<Shape> WrittenArray(const OpSite& site);
// WrittenArray for an op that gives the elements of operand 0 another order: the array must have
// the operand's element type and number of elements.
absl::StatusOr<Shape> WrittenReshape(const OpSite& site);

// `shape` if it passes CheckShape.
absl::StatusOr<Shape> CheckedResult(const OpSite& site, Shape shape);

}  // namespace assay
