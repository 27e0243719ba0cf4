// Factorisations and solutions of matrices that are far from singular, Fourier transforms
// (requirement 45).
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

ElementType DrawSolved(Program& program) {
  return program.choices().Percent(50) && program.options().Takes(ElementType::kF64)
             ? ElementType::kF64
             : ElementType::kF32;
}

// `value` on the diagonals of a batch of square matrices, zero elsewhere.
Instruction* Diagonal(Program& program, ElementType type, const DimVector& dimensions,
                      int64_t value) {
  const auto rank = static_cast<int64_t>(dimensions.size());
  const Shape indices = Shape::Array(ElementType::kS32, dimensions);
  Instruction* rows = program.Iota(indices, rank - 2);
  Instruction* columns = program.Iota(indices, rank - 1);
  Instruction* same = program.Compare(Direction::kEq, rows, columns);
  Instruction* on = program.Splat(program.ScalarConstant(type, value), dimensions);
  Instruction* off = program.Splat(program.ScalarConstant(type, 0), dimensions);
  return program.Select(same, on, off);
}

DimVector SquareBatch(Choices& choices, int64_t order) {
  DimVector dimensions;
  if (choices.Percent(40)) dimensions.push_back(choices.Range(1, 3));
  dimensions.push_back(order);
  dimensions.push_back(order);
  return dimensions;
}

// Most are small; the others lie around the widths of vectors and the sizes of blocks.
int64_t DrawOrder(Choices& choices) {
  if (!choices.Percent(20)) return choices.Range(1, 5);
  return choices.Pick<int64_t>({8, 7, 9, 15, 16, 17, 31, 32, 33});
}

// x xᵀ + a diagonal that keeps it far from singular.
Instruction* BuildCholesky(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawSolved(program);
  const DimVector dimensions = SquareBatch(choices, DrawOrder(choices));
  if (!program.Fits(Shape::Array(type, dimensions))) return nullptr;
  Instruction* x = program.OperandOf(type, dimensions);
  const auto rank = static_cast<int64_t>(dimensions.size());
  Attributes contraction;
  if (rank == 3) {
    contraction.Set(Attr::kLhsBatchDims, {int64_t{0}});
    contraction.Set(Attr::kRhsBatchDims, {int64_t{0}});
  }
  contraction.Set(Attr::kLhsContractingDims, {rank - 1});
  contraction.Set(Attr::kRhsContractingDims, {rank - 1});
  Instruction* square =
      program.Emit(Opcode::kDot, Shape::Array(type, dimensions), {x, x}, std::move(contraction));
  Instruction* a = program.Binary(Opcode::kAdd, square, Diagonal(program, type, dimensions, 16));
  Attributes attributes;
  if (choices.Percent(60)) attributes.Set(Attr::kLower, AttrValue(true));
  return program.Emit(Opcode::kCholesky, Shape::Array(type, dimensions), {a},
                      std::move(attributes));
}

Instruction* BuildTriangularSolve(Program& program, Opcode) {
  Choices& choices = program.choices();
  ElementType type = DrawSolved(program);
  if (choices.Percent(25)) {
    const ElementType complex = type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
    if (program.options().Takes(complex)) type = complex;
  }
  const int64_t order = DrawOrder(choices), solutions = choices.Range(1, 4);
  const DimVector dimensions = SquareBatch(choices, order);
  DimVector sizes = dimensions;
  const bool left = choices.Percent(60), unit = choices.Percent(20);
  sizes[sizes.size() - (left ? 1 : 2)] = solutions;
  if (!program.Fits(Shape::Array(type, dimensions)) || !program.Fits(Shape::Array(type, sizes)))
    return nullptr;
  Instruction* a = program.OperandOf(type, dimensions);
  if (!unit) a = program.Binary(Opcode::kAdd, a, Diagonal(program, type, dimensions, 16));
  Instruction* b = program.OperandOf(type, sizes);
  Attributes attributes;
  if (left) attributes.Set(Attr::kLeftSide, AttrValue(true));
  if (choices.Percent(50)) attributes.Set(Attr::kLower, AttrValue(true));
  if (unit) attributes.Set(Attr::kUnitDiagonal, AttrValue(true));
  attributes.Set(Attr::kTransposeA,
                 AttrValue(choices.Range(static_cast<int64_t>(TransposeKind::kNone),
                                         static_cast<int64_t>(TransposeKind::kAdjoint))));
  return program.Emit(Opcode::kTriangularSolve, Shape::Array(type, sizes), {a, b},
                      std::move(attributes));
}

// rfft or, of two arrays as parts, fft; then the inverse, or a part of the spectrum.
Instruction* BuildFft(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawSolved(program);
  const ElementType complex = type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(complex)) return nullptr;
  DimVector dimensions = program.DrawDimensions(1);
  const auto rank = static_cast<int64_t>(dimensions.size());
  const int64_t axes = choices.Range(1, std::min<int64_t>(rank, 3));
  for (int64_t& size : dimensions) size = std::min<int64_t>(size, 40);
  const Shape time = Shape::Array(type, dimensions);
  if (!program.Fits(2 * time.ElementCount())) return nullptr;
  auto transform = [&](Instruction* x, FftKind kind, Shape shape) {
    Attributes attributes;
    attributes.Set(Attr::kFftType, kind);
    attributes.Set(Attr::kFftLength,
                   absl::MakeConstSpan(dimensions).subspan(static_cast<size_t>(rank - axes)));
    return program.Emit(Opcode::kFft, std::move(shape), {x}, std::move(attributes));
  };
  Instruction* x = program.OperandLike(time);
  const bool real = choices.Percent(50);
  DimVector sizes = dimensions;
  Instruction* spectrum;
  if (real) {
    if (sizes.back() > 0) sizes.back() = sizes.back() / 2 + 1;
    spectrum = transform(x, FftKind::kRfft, Shape::Array(complex, sizes));
  } else {
    Instruction* y = program.OperandLike(time);
    const Shape shape = Shape::Array(complex, sizes);
    spectrum = transform(program.Emit(Opcode::kComplex, shape, {x, y}), FftKind::kFft, shape);
  }
  if (choices.Percent(40)) {
    Instruction* back = real ? transform(spectrum, FftKind::kIrfft, time)
                             : transform(spectrum, FftKind::kIfft, Shape::Array(complex, sizes));
    if (real) return back;
    spectrum = back;
  }
  const bool first = choices.Percent(50);
  return program.Emit(first ? Opcode::kReal : Opcode::kImag, Shape::Array(type, sizes), {spectrum});
}

constexpr RecipeGroup kGroup = RecipeGroup::kDot;
constexpr Recipe kRecipes[] = {
    {Opcode::kCholesky, "cholesky", kGroup, 3, BuildCholesky},
    {Opcode::kTriangularSolve, "triangular-solve", kGroup, 3, BuildTriangularSolve},
    {Opcode::kFft, "fft", kGroup, 3, BuildFft},
};

}  // namespace

absl::Span<const Recipe> LinearAlgebraRecipes() { return kRecipes; }

}  // namespace assay
