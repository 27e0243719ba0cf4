// Document: operation semantics chapter 11 (Cholesky, TriangularSolve, Fft), hlo-format 4.0.4.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// Operand 0 is a batch of square matrices.
absl::Status CheckSquare(const OpSite& site) {
  const Shape& a = *site.operands[0];
  if (a.rank() < 2) {
    return SiteError(site, DescribeOperand(site, 0), " has rank ", a.rank(), ", want at least 2");
  }
  const int64_t rows = a.dimension(a.rank() - 2), columns = a.dimension(a.rank() - 1);
  if (rows == columns) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, 0), " is no batch of square matrices: dimension ",
                   a.rank() - 2, " has size ", rows, ", dimension ", a.rank() - 1, " has ",
                   columns);
}

absl::Status CheckFftOperand(const OpSite& site, FftKind kind) {
  const ElementType type = site.operands[0]->element_type();
  if (kind != FftKind::kRfft) return CheckArray(site, 0, kC);
  if (type == ElementType::kF32 || type == ElementType::kF64) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, 0), " has element type ", Name(type),
                   ", RFFT takes f32 or f64");
}

// The number of values of a real signal's spectrum that are kept along the last axis.
int64_t HalfSpectrum(int64_t length) { return length == 0 ? 0 : length / 2 + 1; }

}  // namespace

absl::StatusOr<Shape> InferCholesky(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kF | kC));
  ASSAY_RETURN_IF_ERROR(CheckSquare(site));
  return CheckedResult(
      site, Shape::Array(site.operands[0]->element_type(), site.operands[0]->dimensions()));
}

absl::StatusOr<Shape> InferTriangularSolve(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kF | kC));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1, kF | kC));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  ASSAY_RETURN_IF_ERROR(CheckSquare(site));
  if (site.attributes.Word<TransposeKind>(Attr::kTransposeA) == TransposeKind::kInvalid) {
    return SiteError(site, "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  const Shape &a = *site.operands[0], &b = *site.operands[1];
  if (a.rank() != b.rank()) {
    return SiteError(site, "ranks differ: ", DescribeOperand(site, 0), " has ", a.rank(), ", ",
                     DescribeOperand(site, 1), " has ", b.rank());
  }
  for (int64_t d = 0; d + 2 < a.rank(); ++d) {
    if (a.dimension(d) == b.dimension(d)) continue;
    return SiteError(site, "batch dimension ", d, " of ", DescribeOperand(site, 0), " has size ",
                     a.dimension(d), ", of ", DescribeOperand(site, 1), " ", b.dimension(d));
  }
  const bool left = site.attributes.Flag(Attr::kLeftSide);
  const int64_t shared = b.rank() - (left ? 2 : 1), order = a.dimension(a.rank() - 1);
  if (b.dimension(shared) != order) {
    return SiteError(site, "dimension ", shared, " of ", DescribeOperand(site, 1), " has size ",
                     b.dimension(shared), ", the matrices of ", DescribeOperand(site, 0),
                     " on the ", left ? "left" : "right", " have order ", order);
  }
  return CheckedResult(site, Shape::Array(b.element_type(), b.dimensions()));
}

absl::StatusOr<Shape> InferFft(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kF | kC));
  const auto kind = site.attributes.Word<FftKind>(Attr::kFftType);
  ASSAY_RETURN_IF_ERROR(CheckFftOperand(site, kind));
  const Shape& operand = *site.operands[0];
  const absl::Span<const int64_t> lengths = site.attributes.Integers(Attr::kFftLength);
  const auto axes = static_cast<int64_t>(lengths.size());
  if (axes < 1 || axes > 3) {
    return SiteError(site, "fft_length has ", axes, " entries, want 1 to 3");
  }
  if (operand.rank() < axes) {
    return SiteError(site, DescribeOperand(site, 0), " has rank ", operand.rank(),
                     ", fft_length has ", axes, " entries");
  }
  DimVector dimensions(operand.dimensions().begin(), operand.dimensions().end());
  for (int64_t i = 0; i < axes; ++i) {
    const int64_t d = operand.rank() - axes + i;
    if (lengths[i] < 0) {
      return SiteError(site, "fft_length has the negative entry ", lengths[i]);
    }
    // The complex transforms cut their operand to the length, or pad it with zeros, and bring the
    // result back to the operand's size in the same way.
    if (kind == FftKind::kFft || kind == FftKind::kIfft) continue;
    const bool half = kind == FftKind::kIrfft && i == axes - 1;
    const int64_t wanted = half ? HalfSpectrum(lengths[i]) : lengths[i];
    if (operand.dimension(d) != wanted) {
      return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, 0), " has size ",
                       operand.dimension(d), ", fft_length ", lengths[i], " wants ", wanted);
    }
  }
  ElementType type = operand.element_type();
  if (kind == FftKind::kRfft) {
    type = type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
    dimensions.back() = HalfSpectrum(lengths.back());
  } else if (kind == FftKind::kIrfft) {
    type = ComponentType(type);
    dimensions.back() = lengths.back();
  }
  return CheckedResult(site, Shape::Array(type, dimensions));
}

}  // namespace assay
