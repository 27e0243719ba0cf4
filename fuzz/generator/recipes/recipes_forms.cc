// Forms that a program may have and that compilers write otherwise first: heads of sorts, vectors
// of start indices, lengths that are not an operand's own, products of two classes of types, views
// around large products, and what is done twice alike.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

using T = ElementType;

DimVector SizesOf(const Instruction* value) {
  const absl::Span<const int64_t> sizes = value->shape().dimensions();
  return DimVector(sizes.begin(), sizes.end());
}

// ---- The heads of a sort: top-k in the words of a sort.

Instruction* HeadsOf(Program& program, Instruction* values, int64_t k) {
  std::vector<SliceRange> ranges;
  for (int64_t size : values->shape().dimensions()) ranges.push_back({0, size, 1});
  // Now and then it is no head.
  const int64_t start = program.choices().Percent(12) ? 1 : 0;
  ranges.back() = {start, start + k, 1};
  return program.Slice(values, std::move(ranges));
}

Computation* TotalOrder(Program& program, const std::vector<ElementType>& types) {
  std::vector<ElementType> parameters;
  for (ElementType type : types) parameters.insert(parameters.end(), 2, type);
  ScalarScope scope(program, "comparator", parameters);
  const Direction direction = program.choices().Percent(50) ? Direction::kGt : Direction::kLt;
  Instruction* root = program.Compare(direction, scope.at[0], scope.at[1]);
  // Without a total order it is no top-k.
  if (IsFloat(types[0]) && program.choices().Percent(85))
    root->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
  return scope.Finish(root);
}

Instruction* BuildHeadOfSort(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  DimVector sizes;
  for (int64_t more = choices.Range(0, 2); more > 0; --more) sizes.push_back(choices.Range(1, 4));
  sizes.push_back(choices.Range(3, 24));
  if (!program.Fits(Product(sizes))) return nullptr;
  std::vector<Instruction*> operands = {program.OperandOf(type, sizes)};
  std::vector<Shape> shapes = {Shape::Array(type, sizes)};
  std::vector<ElementType> types = {type};
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1, length = sizes.back();
  if (choices.Percent(60)) {
    const int64_t along = choices.Percent(85) ? last : choices.Range(0, last);
    shapes.push_back(Shape::Array(T::kS32, sizes));
    operands.push_back(program.Iota(shapes[1], along));
    types.push_back(T::kS32);
  }
  Attributes attributes;
  attributes.Set(Attr::kDimension, {last});
  attributes.Set(Attr::kIsStable, AttrValue(true));
  Computation* comparator = TotalOrder(program, types);
  const bool is_tuple = operands.size() > 1;
  Instruction* sorted = program.Emit(opcode, is_tuple ? Shape::Tuple(shapes) : shapes[0], operands,
                                     std::move(attributes), {comparator});
  const int64_t k = choices.Range(1, std::max<int64_t>(length / 2, 1));
  if (!is_tuple) {
    // A sort whose whole result is read keeps it.
    std::erase(program.scope().values, sorted);
    return HeadsOf(program, sorted, k);
  }
  const auto head_of = [&](int64_t which) {
    Instruction* element = program.GetTupleElement(sorted, which);
    std::erase(program.scope().values, element);
    return HeadsOf(program, element, k);
  };
  if (choices.Percent(70)) program.AlwaysShow(head_of(1));
  return head_of(0);
}

// ---- Start indices in a vector.

Instruction* VectorOf(Program& program, const std::vector<Instruction*>& scalars) {
  std::vector<Instruction*> parts;
  for (Instruction* scalar : scalars) parts.push_back(program.Reshape(scalar, {1}));
  return parts.size() == 1 ? parts[0] : program.Concatenate(parts, 0);
}

Instruction* BuildVectorOfStarts(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kAnyArray, 1);
  const DimVector whole = SizesOf(x);
  DimVector sizes;
  for (int64_t size : whole) sizes.push_back(size == 0 ? 0 : choices.Range(1, size));
  const std::vector<Instruction*> starts = program.StartIndices(whole, sizes);
  // A vector has one type.
  for (const Instruction* start : starts)
    if (start->shape().element_type() != starts[0]->shape().element_type()) return nullptr;
  Instruction* vector = VectorOf(program, starts);
  const ElementType type = x->shape().element_type();
  if (opcode == Opcode::kDynamicUpdateSlice) {
    Instruction* update = program.OperandOf(type, sizes);
    return program.Emit(opcode, Shape::Array(type, whole), {x, update, vector});
  }
  Attributes attributes;
  attributes.Set(Attr::kDynamicSliceSizes, absl::MakeConstSpan(sizes));
  return program.Emit(opcode, Shape::Array(type, sizes), {x, vector}, std::move(attributes));
}

// ---- Sizes.

Instruction* BuildStaticSize(Program& program, Opcode opcode) {
  Instruction* x = program.Operand(kAnyArray, 1);
  const auto d =
      static_cast<int64_t>(program.choices().Draw(static_cast<uint64_t>(x->shape().rank())));
  Attributes which;
  which.Set(Attr::kDimension, {d});
  Instruction* size = program.Emit(opcode, Shape::Scalar(T::kS32), {x}, std::move(which));
  return program.Binary(Opcode::kAdd, size, program.ScalarConstant(T::kS32, 1));
}

// Takes more or fewer elements than there are: the rest are zeros, or are left out.
Instruction* BuildFftOfLength(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  const ElementType type = choices.Percent(60) ? T::kF32 : T::kF64;
  const ElementType complex = type == T::kF64 ? T::kC128 : T::kC64;
  if (!program.options().Takes(complex) || !program.options().Takes(type)) return nullptr;
  DimVector sizes;
  for (int64_t more = choices.Range(1, 2); more > 0; --more) sizes.push_back(choices.Range(1, 12));
  DimVector lengths;
  for (int64_t axes = choices.Range(1, static_cast<int64_t>(sizes.size())); axes > 0; --axes)
    lengths.push_back(choices.Range(1, 14));
  Instruction* re = program.OperandOf(type, sizes);
  Instruction* im = program.OperandOf(type, sizes);
  const Shape shape = Shape::Array(complex, sizes);
  Instruction* x = program.Emit(Opcode::kComplex, shape, {re, im});
  Attributes attributes;
  attributes.Set(Attr::kFftType, choices.Percent(50) ? FftKind::kFft : FftKind::kIfft);
  attributes.Set(Attr::kFftLength, absl::MakeConstSpan(lengths));
  Instruction* done = program.Emit(opcode, shape, {x}, std::move(attributes));
  return program.Emit(choices.Percent(50) ? Opcode::kReal : Opcode::kImag,
                      Shape::Array(type, sizes), {done});
}

// Bits without the state behind them.
Instruction* BuildBitsAlone(Program& program, Opcode opcode) {
  if (!program.scope().entry) return nullptr;  // the state is given
  Choices& choices = program.choices();
  const ElementType type = choices.Pick({T::kU32, T::kU64, T::kU16, T::kU8});
  const Shape state = Shape::Array(T::kU64, {2});
  const Shape bits = Shape::Array(type, program.DrawDimensions());
  if (!program.options().Takes(type) || !program.options().Takes(T::kU64) || !program.Fits(bits))
    return nullptr;
  Instruction* initial =
      program.GivenParameter(LiteralOfFamily(state, ValueFamily::kOrdinary, choices));
  Attributes attributes;
  attributes.Set(Attr::kRngAlgorithm,
                 choices.Percent(50) ? RngAlgorithm::kPhilox : RngAlgorithm::kThreeFry);
  return program.Emit(opcode, bits, {initial}, std::move(attributes));
}

// ---- Products.

Instruction* DotOfMatrices(Program& program, ElementType type, Instruction* lhs, Instruction* rhs,
                           int64_t lhs_sum, int64_t rhs_sum) {
  Attributes attributes;
  attributes.Set(Attr::kLhsContractingDims, {lhs_sum});
  attributes.Set(Attr::kRhsContractingDims, {rhs_sum});
  const DimVector sizes = {lhs->shape().dimension(1 - lhs_sum),
                           rhs->shape().dimension(1 - rhs_sum)};
  return program.Emit(Opcode::kDot, Shape::Array(type, sizes), {lhs, rhs}, std::move(attributes));
}

// Integers by floats, as floats; floats that are added up as such and given as integers.
Instruction* BuildDotOfClasses(Program& program, Opcode) {
  Choices& choices = program.choices();
  const auto taken = [&](std::initializer_list<ElementType> types) {
    const ElementType type = choices.Pick(types);
    return program.options().Takes(type) ? type : T::kF32;
  };
  ElementType lhs = taken({T::kS8, T::kU8, T::kS32, T::kS16, T::kPred});
  ElementType rhs = taken({T::kF32, T::kBF16, T::kF16, T::kF64});
  ElementType result = choices.Percent(70) ? rhs : taken({T::kF32, T::kF64, T::kS32});
  if (choices.Percent(50)) std::swap(lhs, rhs);
  const int64_t m = choices.Range(1, 6), k = choices.Range(1, 9), n = choices.Range(1, 6);
  const int64_t lhs_sum = choices.Range(0, 1), rhs_sum = choices.Range(0, 1);
  const auto sizes = [&](int64_t sum, int64_t free) {
    return sum == 0 ? DimVector{k, free} : DimVector{free, k};
  };
  Instruction* x = program.OperandOf(lhs, sizes(lhs_sum, m));
  Instruction* y = program.OperandOf(rhs, sizes(rhs_sum, n));
  return DotOfMatrices(program, result, x, y, lhs_sum, rhs_sum);
}

// A matrix that is no array of its own: some part or order of one, or its numbers in another type.
Instruction* ViewOfMatrix(Program& program, ElementType type, int64_t rows, int64_t columns) {
  Choices& choices = program.choices();
  const auto given = [&](ElementType of, DimVector sizes) {
    const ValueFamily family = choices.Pick({ValueFamily::kOrdinary, ValueFamily::kExact});
    return program.GivenParameter(LiteralOfFamily(Shape::Array(of, sizes), family, choices));
  };
  const int64_t row = choices.Range(0, 3), column = choices.Range(0, 3);
  switch (choices.Draw(6)) {
    case 0:
      return given(type, {rows, columns});
    case 1:
      return program.Transpose(given(type, {columns, rows}), {1, 0});
    case 2: {
      Instruction* larger = given(type, {rows + 5, columns + 5});
      return program.Slice(larger, {{row, row + rows, 1}, {column, column + columns, 1}});
    }
    case 3: {
      Instruction* flat = program.Transpose(given(type, {2, columns, rows}), {0, 2, 1});
      Instruction* part = program.Slice(flat, {{1, 2, 1}, {0, rows, 1}, {0, columns, 1}});
      return program.Reshape(part, {rows, columns});
    }
    case 4: {
      Instruction* larger = given(type, {rows + 5, columns});
      Instruction* zero = program.ScalarConstant(T::kS32, 0);
      Instruction* start = program.KnownScalar(T::kS32, row);
      return program.DynamicSlice(larger, {start, zero}, {rows, columns});
    }
    default:
      return program.Convert(given(IsFloat(type) ? T::kS8 : type, {rows, columns}), type);
  }
}

Instruction* BuildDotOfViews(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  if (!IsComputed(type) || !program.options().Takes(T::kS8)) return nullptr;
  const auto size = [&] { return choices.Pick<int64_t>({16, 17, 24, 32, 33, 48, 64}); };
  const int64_t m = size(), k = size(), n = size();
  const int64_t lhs_sum = choices.Range(0, 1), rhs_sum = choices.Range(0, 1);
  Instruction* x = ViewOfMatrix(program, type, lhs_sum == 0 ? k : m, lhs_sum == 0 ? m : k);
  Instruction* y = ViewOfMatrix(program, type, rhs_sum == 0 ? k : n, rhs_sum == 0 ? n : k);
  const ElementType result = choices.Percent(30) ? WiderType(type) : type;
  Instruction* product = DotOfMatrices(program, result, x, y, lhs_sum, rhs_sum);
  switch (choices.Draw(5)) {
    case 0:
      return program.Transpose(product, {1, 0});
    case 1:
      return program.Slice(product, {{choices.Range(0, m / 2), m, 1}, {0, n, 1}});
    case 2:
      return program.Reshape(product, {m * n});
    case 3:
      return program.Convert(product, type);
    default:
      return product;
  }
}

// ---- The same done twice, or nearly so: what moves out of branches, behind slices and reorders.

// No other recipe reads it.
Instruction* Hidden(Program& program, Instruction* value) {
  std::erase(program.scope().values, value);
  return value;
}

Instruction* SomeBinary(Program& program, Instruction* left, Instruction* right) {
  const Opcode opcode = program.choices().Pick({Opcode::kSubtract, Opcode::kAdd, Opcode::kMaximum});
  return program.Binary(opcode, left, right);
}

// The op that both branches end with; floats now and then by an op that has attributes of its own.
struct Ending {
  Opcode opcode;
  int64_t mantissa_bits;
};

Instruction* EndWith(Program& program, const Ending& ending, Instruction* value) {
  if (ending.opcode != Opcode::kReducePrecision) return program.Unary(ending.opcode, value);
  Attributes attributes;
  attributes.Set(Attr::kExponentBits, AttrValue(int64_t{8}));
  attributes.Set(Attr::kMantissaBits, AttrValue(ending.mantissa_bits));
  return program.Emit(ending.opcode, value->shape(), {value}, std::move(attributes));
}

Computation* AlikeBranch(Program& program, const Shape& tuple, Opcode opcode,
                         const Ending& ending) {
  ScalarScope branch(program, "branch", absl::MakeConstSpan(&tuple, 1));
  Instruction* left = program.GetTupleElement(branch.at[0], 0);
  Instruction* right = program.GetTupleElement(branch.at[0], 1);
  Instruction* inner = program.Binary(opcode, left, right);
  // A branch of few ops is run whatever is chosen, and there is nothing to move.
  constexpr int kOps = 6;
  for (int k = 0; k < kOps; ++k) {
    inner =
        program.Binary(k % 2 == 0 ? Opcode::kSubtract : opcode, inner, k % 3 == 0 ? left : right);
  }
  return branch.Finish(program.Tuple({EndWith(program, ending, inner)}));
}

Instruction* BuildAlikeBranches(Program& program, Opcode opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = choices.Pick({T::kF32, T::kS32, T::kF32});
  const DimVector sizes = program.DrawDimensions();
  if (!program.Fits(3 * Product(sizes))) return nullptr;
  Instruction* left = program.OperandOf(type, sizes);
  Instruction* right = program.OperandOf(type, sizes);
  const Shape shape = Shape::Array(type, sizes);
  const Opcode shared = choices.Pick(
      {Opcode::kNegate, Opcode::kAbs, IsFloat(type) ? Opcode::kReducePrecision : Opcode::kNegate});
  const Ending ending = {shared, choices.Range(2, 6)};
  Ending other = ending;
  if (choices.Percent(30)) other.mantissa_bits = choices.Range(2, 6);
  // One of the operands is computed for its branch alone.
  const auto handed = [&] {
    Instruction* made = choices.Percent(50) ? program.Unary(Opcode::kNegate, left)
                                            : program.Binary(Opcode::kSubtract, left, right);
    return program.Tuple({Hidden(program, made), right});
  };
  Instruction* first = handed();
  Instruction* second = choices.Percent(50) ? program.Tuple({left, right}) : handed();
  const Shape taken = first->shape();
  Computation* on_true = AlikeBranch(program, taken, Opcode::kAdd, ending);
  Computation* on_false = AlikeBranch(program, taken, Opcode::kMaximum, other);
  Instruction* number = program.OperandOf(T::kS32, {});
  Instruction* chosen = program.Compare(Direction::kLt, number, program.ScalarConstant(T::kS32, 2));
  Instruction* both =
      program.Emit(opcode, Shape::Tuple({shape}), {chosen, first, second}, {}, {on_true, on_false});
  return program.GetTupleElement(both, 0);
}

// An op on the two parts of the same arrays; now and then the parts or the arrays differ.
Instruction* BuildAlikeSlices(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  const int64_t half = choices.Range(2, 9), rows = choices.Range(1, 4);
  const DimVector sizes = {2 * half, rows};
  if (!program.Fits(2 * half * rows)) return nullptr;
  Instruction* left = program.OperandOf(type, sizes);
  Instruction* right = program.OperandOf(type, sizes);
  const auto part = [&](Instruction* whole, int64_t start) {
    return Hidden(program, program.Slice(whole, {{start, start + half, 1}, {0, rows, 1}}));
  };
  Instruction* other = choices.Percent(20) ? program.OperandOf(type, sizes) : right;
  const int64_t start = choices.Percent(20) ? half - 1 : half;
  const Opcode opcode = choices.Pick({Opcode::kSubtract, Opcode::kAdd, Opcode::kMaximum});
  Instruction* low = program.Binary(opcode, part(left, 0), part(right, 0));
  Instruction* high = program.Binary(opcode, part(left, half), part(other, start));
  program.AlwaysShow(low);
  program.AlwaysShow(high);
  return high;
}

// An op on arrays that are reordered alike; now and then not quite.
Instruction* BuildAlikeReorders(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  const int64_t size = choices.Range(2, 4);
  const DimVector sizes = {size, size, size};
  const DimVector order = RandomPermutation(choices, 3);
  const DimVector other = choices.Percent(25) ? RandomPermutation(choices, 3) : order;
  Instruction* left = program.OperandOf(type, sizes);
  Instruction* right = program.OperandOf(type, sizes);
  left = Hidden(program, program.Transpose(left, order));
  right = Hidden(program, program.Transpose(right, other));
  return SomeBinary(program, left, right);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kSort, "head-of-sort", RecipeGroup::kReduce, 2, BuildHeadOfSort, kNotPortable},
    {Opcode::kDynamicSlice, "vector-of-starts", RecipeGroup::kIndex, 2, BuildVectorOfStarts,
     kNotPortable},
    {Opcode::kDynamicUpdateSlice, "update-at-vector", RecipeGroup::kIndex, 2, BuildVectorOfStarts,
     kNotPortable},
    {Opcode::kGetDimensionSize, "static-size", RecipeGroup::kReduce, 1, BuildStaticSize,
     kNotPortable},
    {Opcode::kFft, "fft-of-length", RecipeGroup::kDot, 1, BuildFftOfLength, kNotPortable},
    {Opcode::kRngBitGenerator, "bits-alone", RecipeGroup::kDot, 1, BuildBitsAlone, kNotPortable},
    {Opcode::kDot, "dot-of-classes", RecipeGroup::kDot, 2, BuildDotOfClasses, kNotPortable},
    {Opcode::kDot, "dot-of-views", RecipeGroup::kDot, 6, BuildDotOfViews, kNotPortable},
    {Opcode::kConditional, "alike-branches", RecipeGroup::kControl, 4, BuildAlikeBranches,
     kNotPortable},
    {Opcode::kSlice, "alike-slices", RecipeGroup::kIndex, 3, BuildAlikeSlices, kNotPortable},
    {Opcode::kTranspose, "alike-reorders", RecipeGroup::kIndex, 3, BuildAlikeReorders,
     kNotPortable},
};

}  // namespace

absl::Span<const Recipe> FormRecipes() { return kRecipes; }

}  // namespace assay
