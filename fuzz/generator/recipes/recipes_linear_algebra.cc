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

// `value` on the diagonals of a batch of square matrices, another elsewhere.
Instruction* Diagonal(Program& program, ElementType type, const DimVector& dimensions,
                      int64_t value, int64_t elsewhere = 0) {
  const auto rank = static_cast<int64_t>(dimensions.size());
  const Shape indices = Shape::Array(ElementType::kS32, dimensions);
  Instruction* rows = program.Iota(indices, rank - 2);
  Instruction* columns = program.Iota(indices, rank - 1);
  Instruction* same = program.Compare(Direction::kEq, rows, columns);
  Instruction* on = program.Splat(program.ScalarConstant(type, value), dimensions);
  Instruction* off = program.Splat(program.ScalarConstant(type, elsewhere), dimensions);
  return program.Select(same, on, off);
}

constexpr int64_t kLargeOrder = 20;

DimVector SquareBatch(Choices& choices, int64_t order) {
  DimVector dimensions;
  if (order < kLargeOrder && choices.Percent(40)) dimensions.push_back(choices.Range(1, 3));
  dimensions.push_back(order);
  dimensions.push_back(order);
  return dimensions;
}

// Most are small; the others lie around the widths of vectors and the sizes of blocks.
int64_t DrawOrder(Choices& choices) {
  switch (choices.Weighted({80, 17, 3})) {
    case 0:
      return choices.Range(1, 5);
    case 1:
      return choices.Pick<int64_t>({8, 7, 9, 15, 16, 17, 31, 32, 33});
    default:
      return choices.Pick<int64_t>({63, 64, 65, 66, 127, 128, 130});
  }
}

// True if an array is larger than others of the program: it then is given as it is, or not at all.
bool IsLarge(const Program& program, const DimVector& dimensions) {
  return !program.Fits(Product(dimensions));
}

// An operand of numbers that lie close together.
Instruction* Numbers(Program& program, ElementType type, const DimVector& dimensions) {
  if (!IsLarge(program, dimensions)) return program.OperandOf(type, dimensions);
  return program.GivenParameter(
      LiteralOfFamily(Shape::Array(type, dimensions), ValueFamily::kOrdinary, program.choices()));
}

// x xᵀ
Instruction* SquareOf(Program& program, Instruction* operand) {
  const int64_t rank = operand->shape().rank();
  Attributes contraction;
  if (rank == 3) {
    contraction.Set(Attr::kLhsBatchDims, {int64_t{0}});
    contraction.Set(Attr::kRhsBatchDims, {int64_t{0}});
  }
  contraction.Set(Attr::kLhsContractingDims, {rank - 1});
  contraction.Set(Attr::kRhsContractingDims, {rank - 1});
  const Shape shape = Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
  return program.Emit(Opcode::kDot, shape, {operand, operand}, std::move(contraction));
}

// The lower or upper triangle of `factor`, zeros in the other one, of which nothing is promised.
// The factor itself is no operand of anything else.
Instruction* Triangle(Program& program, Instruction* factor, bool lower) {
  const Shape shape = factor->shape();
  const Shape indices = Shape::Array(ElementType::kS32, shape.dimensions());
  Instruction* rows = program.Iota(indices, shape.rank() - 2);
  Instruction* columns = program.Iota(indices, shape.rank() - 1);
  Instruction* kept = program.Compare(lower ? Direction::kGe : Direction::kLe, rows, columns);
  Instruction* zero =
      program.Splat(program.ScalarConstant(shape.element_type(), 0), shape.dimensions());
  std::erase(program.scope().values, factor);
  return program.Select(kept, factor, zero);
}

// x xᵀ + a diagonal that keeps it far from singular.
Instruction* BuildCholesky(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawSolved(program);
  const DimVector dimensions = SquareBatch(choices, DrawOrder(choices));
  if (IsLarge(program, dimensions) && !program.scope().entry) return nullptr;
  Instruction* x = Numbers(program, type, dimensions);
  const auto order = dimensions.back();
  Instruction* a = nullptr;
  const ElementType complex = type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().portable && choices.Percent(25) && program.options().Takes(complex)) {
    // One triangle is read, and of the diagonal the real part.
    Instruction* real =
        program.Binary(Opcode::kAdd, x,
                       Diagonal(program, type, dimensions, order >= kLargeOrder ? 8 * order : 32));
    Instruction* y = Numbers(program, type, dimensions);
    Instruction* imaginary =
        program.Binary(Opcode::kMultiply, y, Diagonal(program, type, dimensions, 0, 1));
    a = program.Emit(Opcode::kComplex, Shape::Array(complex, dimensions), {real, imaginary});
  } else if (order >= kLargeOrder) {
    // A diagonal that outweighs the rest of each row costs less than a product.
    a = program.Binary(Opcode::kAdd, x, Diagonal(program, type, dimensions, 8 * order));
  } else {
    Instruction* square = SquareOf(program, x);
    a = program.Binary(Opcode::kAdd, square, Diagonal(program, type, dimensions, 16));
  }
  Attributes attributes;
  const bool lower = choices.Percent(60);
  if (lower) attributes.Set(Attr::kLower, AttrValue(true));
  const ElementType solved = a->shape().element_type();
  Instruction* factor =
      program.Emit(Opcode::kCholesky, Shape::Array(solved, dimensions), {a}, std::move(attributes));
  constexpr int kWholePercent = 10;
  return choices.Percent(kWholePercent) ? factor : Triangle(program, factor, lower);
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
  if (IsLarge(program, dimensions) && !program.scope().entry) return nullptr;
  Instruction* a = Numbers(program, type, dimensions);
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

// Powers of two, products of small factors, primes; now and then one that is cut into two.
int64_t LongLength(Choices& choices) {
  if (choices.Percent(8)) return choices.Pick<int64_t>({4352, 5000, 6144, 8192});
  return choices.Pick<int64_t>(
      {64, 81, 97, 100, 101, 127, 128, 243, 250, 256, 257, 512, 1000, 1009, 1024});
}

// rfft or, of two arrays as parts, fft; then the inverse, or a part of the spectrum.
Instruction* BuildFft(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawSolved(program);
  const ElementType complex = type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(complex)) return nullptr;
  DimVector dimensions = program.DrawDimensions(1);
  for (int64_t& size : dimensions) size = std::min<int64_t>(size, 40);
  const bool is_long = program.scope().entry && choices.Percent(10);
  if (is_long) dimensions = {LongLength(choices)};
  const Shape time = Shape::Array(type, dimensions);
  if (!is_long && !program.Fits(2 * time.ElementCount())) return nullptr;
  const auto rank = static_cast<int64_t>(dimensions.size());
  const int64_t axes = choices.Range(1, std::min<int64_t>(rank, 3));
  auto transform = [&](Instruction* x, FftKind kind, Shape shape) {
    Attributes attributes;
    attributes.Set(Attr::kFftType, kind);
    attributes.Set(Attr::kFftLength,
                   absl::MakeConstSpan(dimensions).subspan(static_cast<size_t>(rank - axes)));
    return program.Emit(Opcode::kFft, std::move(shape), {x}, std::move(attributes));
  };
  const auto operand = [&] {
    if (!is_long) return program.OperandLike(time);
    return program.GivenParameter(LiteralOfFamily(time, ValueFamily::kOrdinary, choices));
  };
  Instruction* x = operand();
  const bool real = choices.Percent(50);
  DimVector sizes = dimensions;
  Instruction* spectrum;
  if (real) {
    if (sizes.back() > 0) sizes.back() = sizes.back() / 2 + 1;
    // Parts of a spectrum that a real one has not are not looked at.
    if (!program.options().portable && !is_long && choices.Percent(25)) {
      const Shape part = Shape::Array(type, sizes), whole = Shape::Array(complex, sizes);
      spectrum = program.Emit(Opcode::kComplex, whole,
                              {program.OperandLike(part), program.OperandLike(part)});
      return transform(spectrum, FftKind::kIrfft, time);
    }
    spectrum = transform(x, FftKind::kRfft, Shape::Array(complex, sizes));
  } else {
    Instruction* y = operand();
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
