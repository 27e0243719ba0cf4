// Cholesky and triangular-solve: calls of the runtime. Document: operation semantics chapter 11.
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/runtime/linear_algebra/triangular.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {

int64_t MatrixCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < shape.rank(); ++d) count *= shape.dimension(d);
  return count;
}

std::string NameFor(const char* function, ElementType type) {
  return StrCat(function, "_", Name(type));
}

int64_t IsaBits(const ArrayKernelContext& context) {
  return static_cast<int64_t>(context.isa()) << kSolveIsaShift;
}

}  // namespace

absl::Status EmitCholesky(ArrayKernelContext& context) {
  const Shape& shape = context.instruction.shape();
  ElementEmitter& e = context.elements;
  const KernelBends& bends = e.builder().bends();
  const Instruction* cholesky = &context.instruction;
  const bool lower = bends.Holds("optimize-kernel/cholesky-lower", cholesky,
                                 cholesky->attributes().Flag(Attr::kLower));
  const int64_t form = (lower ? int64_t{kSolveLower} : 0) | IsaBits(context);
  context.CallRuntime(
      NameFor("assay_cholesky", shape.element_type()).c_str(),
      {context.RunContextOf(), context.operands[0][0], context.results[0],
       e.Index(bends.Number("optimize-kernel/cholesky-matrices", cholesky, MatrixCount(shape))),
       e.Index(bends.Number("optimize-kernel/cholesky-order", cholesky,
                            shape.dimension(shape.rank() - 1))),
       e.Index(form)});
  return absl::OkStatus();
}

absl::Status EmitTriangularSolve(ArrayKernelContext& context) {
  const Attributes& attributes = context.instruction.attributes();
  const Shape &a = context.instruction.operand(0)->shape(), &b = context.instruction.shape();
  const bool left = attributes.Flag(Attr::kLeftSide);
  const auto transpose = attributes.Word<TransposeKind>(Attr::kTransposeA);
  int64_t form = IsaBits(context);
  const KernelBends& bends = context.elements.builder().bends();
  const Instruction* solve = &context.instruction;
  if (bends.Holds("optimize-kernel/solve-left", solve, left)) form |= kSolveLeft;
  const bool lower =
      bends.Holds("optimize-kernel/solve-lower", solve, attributes.Flag(Attr::kLower));
  const bool unit_diagonal = bends.Holds("optimize-kernel/solve-unit-diagonal", solve,
                                         attributes.Flag(Attr::kUnitDiagonal));
  if (lower) form |= kSolveLower;
  if (unit_diagonal) form |= kSolveUnitDiagonal;
  if (!bends.Holds(
          "optimize-kernel/solve-not-transposed", solve,
          transpose != TransposeKind::kTranspose && transpose != TransposeKind::kAdjoint)) {
    form |= kSolveTransposed;
  }
  if (transpose == TransposeKind::kAdjoint &&
      !bends.Holds("optimize-kernel/solve-not-conjugated", solve, false)) {
    form |= kSolveConjugated;
  }
  ElementEmitter& e = context.elements;
  context.CallRuntime(
      NameFor("assay_triangular_solve", b.element_type()).c_str(),
      {context.RunContextOf(), context.operands[0][0], context.operands[1][0], context.results[0],
       e.Index(bends.Number("optimize-kernel/solve-matrices", solve, MatrixCount(a))),
       e.Index(a.dimension(a.rank() - 1)), e.Index(b.dimension(b.rank() - (left ? 1 : 2))),
       e.Index(form)});
  return absl::OkStatus();
}

}  // namespace assay
