// Sorts by comparators of many forms, and top-k (requirement 27).
#include <algorithm>
#include <iterator>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kAnyArray;

// A function of keys by which they can be told apart, more or less; copy for none.
Opcode KeyOf(Program& program, ElementType type) {
  if (IsComplex(type)) return program.choices().Pick({Opcode::kReal, Opcode::kImag});
  const Opcode drawn = program.choices().Pick({Opcode::kNegate, Opcode::kAbs, Opcode::kNot});
  return Admits(drawn, type) && program.options().Takes(drawn) ? drawn : Opcode::kCopy;
}

Computation* Comparator(Program& program, absl::Span<const ElementType> types, bool strict_total) {
  Choices& choices = program.choices();
  std::vector<ElementType> parameters;
  for (ElementType type : types) parameters.insert(parameters.end(), 2, type);
  ScalarScope scope(program, "comparator", parameters);
  const Direction direction = choices.Percent(60) ? Direction::kLt : Direction::kGt;
  const size_t key = choices.Draw(types.size());
  const bool mirrored = choices.Percent(25);
  const bool is_plain = !IsComplex(types[key]) && (strict_total || !choices.Percent(15));
  const Opcode function = is_plain ? Opcode::kCopy : KeyOf(program, types[key]);
  const auto is_real = [&](size_t k) { return IsFloat(types[k]) || IsComplex(types[k]); };
  auto precedes = [&](size_t k, Direction which) {
    Instruction *a = scope.at[2 * k], *b = scope.at[2 * k + 1];
    if (k == key && function != Opcode::kCopy) {
      a = program.Unary(function, a);
      b = program.Unary(function, b);
    }
    Instruction* compare = mirrored ? program.Compare(which, b, a) : program.Compare(which, a, b);
    if (is_real(k) && which != Direction::kEq)
      compare->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
    return compare;
  };
  Instruction* root = precedes(key, direction);
  // Lexicographic over two operands, the second one integers.
  const size_t second = (key + 1) % types.size();
  if (types.size() >= 2 && !is_real(key) && !is_real(second) &&
      (strict_total || choices.Percent(40))) {
    Instruction* equal = precedes(key, Direction::kEq);
    Instruction* then = precedes(second, choices.Percent(50) ? Direction::kLt : Direction::kGt);
    root = program.Binary(Opcode::kOr, root, program.Binary(Opcode::kAnd, equal, then));
  }
  return scope.Finish(root);
}

Instruction* BuildSort(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  const int64_t rank = x->shape().rank();
  std::vector<Instruction*> operands = {x};
  const int64_t more = choices.Weighted({45, 35, 20});
  const auto d = static_cast<int64_t>(choices.Draw(rank));
  for (int64_t i = 0; i < more; ++i) {
    if (choices.Percent(40)) {
      operands.push_back(program.Iota(Shape::Array(ElementType::kS32, x->shape().dimensions()), d));
    } else {
      const ElementType type = program.DrawType(kMovable);
      operands.push_back(program.OperandOf(type, x->shape().dimensions()));
    }
  }
  std::vector<ElementType> types;
  std::vector<Shape> shapes;
  for (Instruction* operand : operands) {
    types.push_back(operand->shape().element_type());
    shapes.push_back(Shape::Array(types.back(), x->shape().dimensions()));
  }
  Computation* comparator = Comparator(program, types, false);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {d});
  if (operands.size() > 1 || choices.Percent(50)) attributes.Set(Attr::kIsStable, AttrValue(true));
  Shape shape = operands.size() == 1 ? shapes[0] : Shape::Tuple(shapes);
  Instruction* sorted =
      program.Emit(Opcode::kSort, std::move(shape), operands, std::move(attributes), {comparator});
  if (operands.size() == 1) return sorted;
  for (size_t k = 1; k < operands.size(); ++k)
    program.GetTupleElement(sorted, static_cast<int64_t>(k));
  return program.GetTupleElement(sorted, 0);
}

// Lines that are longer than what is sorted by comparing, with keys of all bits or few.
Instruction* BuildLongSort(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  if (!IsComputed(type)) return nullptr;
  const DimVector dimensions = {choices.Range(1, 2), choices.Pick<int64_t>({513, 600, 1025, 2049})};
  const ValueFamily family =
      choices.Pick({ValueFamily::kWide, ValueFamily::kWide, ValueFamily::kOrdinary});
  const Shape shape = Shape::Array(type, dimensions);
  Instruction* x = program.GivenParameter(LiteralOfFamily(shape, family, choices));
  std::vector<Instruction*> operands = {x};
  std::vector<Shape> shapes = {shape};
  std::vector<ElementType> types = {type};
  if (choices.Percent(50)) {
    shapes.push_back(Shape::Array(ElementType::kS32, dimensions));
    operands.push_back(program.Iota(shapes[1], 1));
    types.push_back(ElementType::kS32);
  }
  Computation* comparator = Comparator(program, types, false);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {int64_t{1}});
  attributes.Set(Attr::kIsStable, AttrValue(true));
  const bool is_tuple = operands.size() > 1;
  Instruction* sorted = program.Emit(Opcode::kSort, is_tuple ? Shape::Tuple(shapes) : shape,
                                     operands, std::move(attributes), {comparator});
  if (!is_tuple) return sorted;
  program.GetTupleElement(sorted, 1);
  return program.GetTupleElement(sorted, 0);
}

// Keys of which many are equal, zeros of both signs among them: their order is that of the operand.
Instruction* BuildTiedSort(Program& program, Opcode opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kF);
  const Shape shape = Shape::Array(type, {choices.Range(4, 40)});
  Literal keys(shape);
  RandomStream stream = choices.Fork();
  for (int64_t i = 0; i < keys.element_count(); ++i) {
    constexpr double kFew[] = {0, -0.0, 1, -1, 0, -0.0, 2};
    keys.SetDouble(i, kFew[stream.Next() % std::size(kFew)]);
  }
  Instruction* x = program.FixedParameter(std::move(keys));
  ScalarScope scope(program, "comparator", {type, type});
  Computation* comparator = scope.Finish(program.Compare(
      choices.Percent(50) ? Direction::kLt : Direction::kGt, scope.at[0], scope.at[1]));
  Attributes attributes;
  attributes.Set(Attr::kDimension, {int64_t{0}});
  attributes.Set(Attr::kIsStable, AttrValue(true));
  return program.Emit(opcode, shape, {x}, std::move(attributes), {comparator});
}

// Lines of several blocks, with numbers of all bits or with many that are equal.
Instruction* LongLines(Program& program) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  if (!IsComputed(type)) return nullptr;
  const DimVector dimensions = {choices.Range(1, 3),
                                choices.Pick<int64_t>({63, 64, 65, 129, 200, 256, 513, 1000})};
  const ValueFamily family =
      choices.Pick({ValueFamily::kWide, ValueFamily::kOrdinary, ValueFamily::kIota});
  return program.GivenParameter(LiteralOfFamily(Shape::Array(type, dimensions), family, choices));
}

Instruction* BuildTopK(Program& program, Opcode) {
  Choices& choices = program.choices();
  // Few of long lines are selected where most of them are sorted.
  const bool is_long = program.scope().entry && choices.Percent(25);
  Instruction* x = is_long ? LongLines(program) : program.Operand(kI | kF, 1);
  if (x == nullptr) return nullptr;
  const int64_t last = x->shape().rank() - 1, length = x->shape().dimension(last);
  int64_t k = choices.Range(std::min<int64_t>(length, 1), length);
  if (choices.Percent(10)) k = choices.Percent(50) ? 0 : length;
  if (is_long || choices.Percent(30)) k = std::min<int64_t>(length, choices.Range(1, 4));
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  dimensions[last] = k;
  Attributes attributes;
  attributes.Set(Attr::kK, AttrValue(k));
  attributes.Set(Attr::kLargest, AttrValue(choices.Percent(60)));
  attributes.Set(Attr::kIsStable, AttrValue(true));
  Shape shape = Shape::Tuple({Shape::Array(x->shape().element_type(), dimensions),
                              Shape::Array(ElementType::kS32, dimensions)});
  Instruction* both = program.Emit(Opcode::kTopK, std::move(shape), {x}, std::move(attributes));
  program.GetTupleElement(both, 1);
  return program.GetTupleElement(both, 0);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kSort, "sort", RecipeGroup::kReduce, 4, BuildSort},
    {Opcode::kTopK, "topk", RecipeGroup::kReduce, 2, BuildTopK},
    {Opcode::kSort, "long-sort", RecipeGroup::kReduce, 1, BuildLongSort},
    {Opcode::kSort, "tied-sort", RecipeGroup::kReduce, 1, BuildTiedSort},
};

}  // namespace

absl::Span<const Recipe> SortingRecipes() { return kRecipes; }

}  // namespace assay
