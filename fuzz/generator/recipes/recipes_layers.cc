// Products of matrices large enough to be packed, with what networks make of them: bias,
// activation, residual, scale, conversion. Attention, and running values along long lines.
#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

// One more op behind a product, of the kind that compilers make together with its sums.
Instruction* BehindProduct(Program& program, Instruction* value) {
  Choices& choices = program.choices();
  const Shape shape = value->shape();
  const ElementType type = shape.element_type();
  const DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  const auto either = [&](Opcode opcode, Instruction* other) {
    return choices.Percent(50) ? program.Binary(opcode, value, other)
                               : program.Binary(opcode, other, value);
  };
  const Opcode opcode =
      choices.Pick({Opcode::kAdd, Opcode::kAdd, Opcode::kMultiply, Opcode::kSubtract});
  switch (choices.Weighted({30, 20, 15, 15, 10, 10})) {
    case 0: {  // a bias along one dimension
      const auto d = static_cast<int64_t>(choices.Draw(shape.rank()));
      Instruction* bias = program.OperandOf(type, {shape.dimension(d)});
      return either(opcode, program.Broadcast(bias, dimensions, {d}));
    }
    case 1:  // a residual
      return either(opcode, LargeOperand(program, type, dimensions));
    case 2:  // its square, so that several read it
      return program.Binary(opcode, value, value);
    case 3: {
      if (IsComplex(type)) return value;
      Instruction* zero = program.Splat(program.ScalarConstant(type, 0), dimensions);
      return either(Opcode::kMaximum, zero);
    }
    case 4:
      return IsFloat(type) ? program.Unary(choices.Pick({Opcode::kTanh, Opcode::kLogistic}), value)
                           : program.Unary(Opcode::kNegate, value);
    default:
      if (choices.Percent(40)) {
        return program.Transpose(value, RandomPermutation(choices, shape.rank()));
      }
      return IsComplex(type) ? value : program.Convert(value, program.DrawType(kI | kF));
  }
}

// A product of two matrices that is surely packed, with lines to finish one by one, and what is
// made of it.
Instruction* BuildLayer(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  constexpr int64_t kProducts = 1 << 16;
  const ElementType type = program.DrawType(kI | kF);
  const int64_t m = choices.Pick<int64_t>({7, 16, 31, 33, 48, 65});
  const int64_t n = choices.Pick<int64_t>({16, 31, 32, 33, 48, 65, 96, 131});
  const int64_t k = kProducts / (m * n) + choices.Range(1, 9);
  const bool lhs_turned = choices.Percent(25), rhs_turned = choices.Percent(25);
  DimVector lhs = {lhs_turned ? k : m, lhs_turned ? m : k};
  DimVector rhs = {rhs_turned ? n : k, rhs_turned ? k : n};
  DimVector result = {m, n};
  Attributes attributes;
  const bool is_batched = choices.Percent(20);
  if (is_batched) {
    for (DimVector* sizes : {&lhs, &rhs, &result}) sizes->insert(sizes->begin(), 2);
    attributes.Set(Attr::kLhsBatchDims, {0}).Set(Attr::kRhsBatchDims, {0});
  }
  const int64_t first = is_batched ? 1 : 0;
  attributes.Set(Attr::kLhsContractingDims, {lhs_turned ? first : first + 1});
  attributes.Set(Attr::kRhsContractingDims, {rhs_turned ? first + 1 : first});
  Instruction* x = program.Emit(
      Opcode::kDot, Shape::Array(type, result),
      {LargeOperand(program, type, lhs), LargeOperand(program, type, rhs)}, std::move(attributes));
  for (int64_t more = choices.Range(1, 4); more > 0; --more) x = BehindProduct(program, x);
  return x;
}

// The weights of rows of scores: how much each is of the row's sum, with or without exponentials.
Instruction* WeightsOf(Program& program, Instruction* scores) {
  const Shape shape = scores->shape();
  const ElementType type = shape.element_type();
  const DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  DimVector kept;
  for (int64_t d = 0; d + 1 < shape.rank(); ++d) kept.push_back(d);
  const auto by_row = [&](Opcode combiner, Opcode opcode, Instruction* rows) {
    const Reducer reducer = MakeReducerOf(program, combiner, type);
    Instruction* of_row =
        program.Reduce(rows, reducer.init, {shape.rank() - 1}, reducer.computation);
    return program.Binary(opcode, rows, program.Broadcast(of_row, dimensions, kept));
  };
  Instruction* weights = by_row(Opcode::kMaximum, Opcode::kSubtract, scores);
  if (!program.choices().Percent(75)) return weights;
  return by_row(Opcode::kAdd, Opcode::kDivide, program.Unary(Opcode::kExponential, weights));
}

// Scores of queries by keys, weights of their rows, and sums of values by these weights.
Instruction* BuildAttention(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kF);
  if (!Admits(Opcode::kExponential, type)) return nullptr;
  const int64_t queries = choices.Pick<int64_t>({1, 3, 8, 17});
  const int64_t keys = choices.Pick<int64_t>({16, 31, 32, 33, 64, 130});
  const int64_t depth = choices.Pick<int64_t>({1, 4, 8});
  const int64_t width = choices.Pick<int64_t>({1, 8, 17});
  const bool is_batched = choices.Percent(40), keys_turned = choices.Percent(30);
  const int64_t first = is_batched ? 1 : 0;
  const auto array = [&](int64_t rows, int64_t columns) {
    DimVector sizes = {rows, columns};
    if (is_batched) sizes.insert(sizes.begin(), 2);
    return sizes;
  };
  const auto product = [&](Instruction* lhs, Instruction* rhs, int64_t of_rhs, DimVector result) {
    Attributes attributes;
    if (is_batched) attributes.Set(Attr::kLhsBatchDims, {0}).Set(Attr::kRhsBatchDims, {0});
    attributes.Set(Attr::kLhsContractingDims, {first + 1});
    attributes.Set(Attr::kRhsContractingDims, {of_rhs});
    return program.Emit(Opcode::kDot, Shape::Array(type, result), {lhs, rhs},
                        std::move(attributes));
  };
  Instruction* q = LargeOperand(program, type, array(queries, depth));
  Instruction* k =
      LargeOperand(program, type, keys_turned ? array(depth, keys) : array(keys, depth));
  Instruction* x = product(q, k, keys_turned ? first : first + 1, array(queries, keys));
  if (choices.Percent(30)) {
    x = program.Binary(Opcode::kMultiply, x,
                       program.Splat(program.KnownScalar(type, 2), array(queries, keys)));
  }
  if (choices.Percent(30)) {  // a mask or a bias, one row of it for all queries
    Instruction* bias = LargeOperand(program, type, {keys});
    x = program.Binary(Opcode::kAdd, x, program.Broadcast(bias, array(queries, keys), {first + 1}));
  }
  Instruction* weights = WeightsOf(program, x);
  Instruction* v = LargeOperand(program, type, array(keys, width));
  x = product(weights, v, first, array(queries, width));
  return choices.Percent(40) ? BehindProduct(program, x) : x;
}

// Running values along lines that are long enough for blocks of threads to share them.
Instruction* BuildLongScan(Program& program, Opcode opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF);
  // Parts of lines beyond 4,096 are shared by blocks. They cost the most, and few are enough.
  const int64_t along = choices.Percent(85)
                            ? choices.Pick<int64_t>({32, 33, 64, 100, 255, 1024, 1025})
                            : choices.Pick<int64_t>({4096, 4100, 9001});
  DimVector dimensions = {along};
  const int64_t more = along > 1000 ? 2 : 9;
  if (choices.Percent(40)) dimensions.insert(dimensions.begin(), choices.Range(2, more));
  if (choices.Percent(40)) dimensions.push_back(choices.Range(2, along > 100 ? 5 : 45));
  const size_t dim = dimensions.size() > 1 && dimensions[0] != along ? 1 : 0;
  std::vector<WindowDim> window(dimensions.size());
  window[dim].size = along;
  (choices.Percent(50) ? window[dim].low : window[dim].high) = along - 1;
  // Products of so many floats would be all zero or infinite.
  const Opcode combiner =
      IsFloat(type)
          ? choices.Pick({Opcode::kAdd, Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum})
          : choices.Pick({Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kXor});
  Instruction* x = LargeOperand(program, type, dimensions);
  const Reducer reducer = MakeReducerOf(program, combiner, type);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(opcode, Shape::Array(type, dimensions), {x, reducer.init},
                      std::move(attributes), {reducer.computation});
}

constexpr Recipe kRecipes[] = {
    {Opcode::kDot, "layer", RecipeGroup::kDot, 6, BuildLayer, kNotPortable},
    {Opcode::kDot, "attention", RecipeGroup::kDot, 4, BuildAttention, kNotPortable},
    {Opcode::kReduceWindow, "long-scan", RecipeGroup::kReduce, 3, BuildLongScan, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> LayerRecipes() { return kRecipes; }

}  // namespace assay
