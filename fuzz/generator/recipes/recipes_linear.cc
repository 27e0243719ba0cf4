// Convolutions of every form, factorisations and solutions of matrices that are far from singular,
// random bits (requirements 8, 45, 46).
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr int64_t kMostProducts = 60000;

int64_t DivisorOf(Choices& choices, int64_t size) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= size; ++d)
    if (size % d == 0) divisors.push_back(d);
  return divisors[choices.Draw(divisors.size())];
}

int64_t Dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

WindowDim DrawWindow(Choices& choices, int64_t input_size) {
  WindowDim window;
  window.size = choices.Range(1, std::clamp<int64_t>(input_size, 1, 4));
  window.stride = choices.Percent(30) ? choices.Range(2, 3) : 1;
  if (choices.Percent(40)) {
    window.low = choices.Range(-1, 3);
    window.high = choices.Range(-1, 3);
  }
  if (choices.Percent(25)) window.base_dilation = choices.Range(2, 3);
  if (choices.Percent(25)) window.window_dilation = choices.Range(2, 3);
  window.reversal = choices.Percent(15);
  return window;
}

int64_t WindowPlaces(const WindowDim& window, int64_t input_size) {
  const int64_t base = Dilated(input_size, window.base_dilation) + window.low + window.high;
  const int64_t reach = Dilated(window.size, window.window_dilation);
  return base <= 0 || reach > base ? 0 : (base - reach) / window.stride + 1;
}

// The dimensions of an array in a random order: batch or output feature, feature, spatial.
struct Places {
  int64_t first, second;
  Int64List spatial;
};
Places DrawPlaces(Choices& choices, int64_t rank) {
  const DimVector order = RandomPermutation(choices, rank);
  return {order[0], order[1], Int64List(order.begin() + 2, order.end())};
}

Instruction* BuildConvolution(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kP | kI | kF, 2);
  const Shape input = x->shape();
  if (input.rank() > 5) return nullptr;
  const Places in = DrawPlaces(choices, input.rank());
  const Places kernel = DrawPlaces(choices, input.rank());
  const Places out = DrawPlaces(choices, input.rank());
  const int64_t batch = input.dimension(in.first), features = input.dimension(in.second);
  Attributes attributes;
  int64_t feature_groups = 1, batch_groups = 1;
  if (choices.Percent(30) && features > 0) feature_groups = DivisorOf(choices, features);
  if (feature_groups == 1 && choices.Percent(20) && batch > 0)
    batch_groups = DivisorOf(choices, batch);
  const int64_t outputs = feature_groups * batch_groups * choices.Range(1, 4);
  DimVector kernel_sizes(input.rank()), sizes(input.rank());
  kernel_sizes[kernel.first] = outputs;
  kernel_sizes[kernel.second] = features / feature_groups;
  sizes[out.first] = batch / batch_groups;
  sizes[out.second] = outputs;
  std::vector<WindowDim> window;
  for (size_t d = 0; d < in.spatial.size(); ++d) {
    const int64_t size = input.dimension(in.spatial[d]);
    window.push_back(DrawWindow(choices, size));
    kernel_sizes[kernel.spatial[d]] = window.back().size;
    sizes[out.spatial[d]] = WindowPlaces(window.back(), size);
  }
  int64_t elements = 1, kernel_elements = 1;
  for (int64_t size : sizes) elements *= size;
  for (int64_t size : kernel_sizes) kernel_elements *= size;
  if (!program.Fits(elements) || !program.Fits(kernel_elements) ||
      elements * kernel_elements / outputs > kMostProducts)
    return nullptr;
  Instruction* w = program.OperandOf(input.element_type(), kernel_sizes);
  if (!window.empty()) attributes.Set(Attr::kWindow, AttrValue(window));
  attributes.Set(Attr::kDimLabels, AttrValue(ConvDimLabels{.input_batch = in.first,
                                                           .input_feature = in.second,
                                                           .kernel_input_feature = kernel.second,
                                                           .kernel_output_feature = kernel.first,
                                                           .output_batch = out.first,
                                                           .output_feature = out.second,
                                                           .input_spatial = in.spatial,
                                                           .kernel_spatial = kernel.spatial,
                                                           .output_spatial = out.spatial}));
  if (feature_groups > 1) attributes.Set(Attr::kFeatureGroupCount, AttrValue(feature_groups));
  if (batch_groups > 1) attributes.Set(Attr::kBatchGroupCount, AttrValue(batch_groups));
  return program.Emit(Opcode::kConvolution, Shape::Array(input.element_type(), sizes), {x, w},
                      std::move(attributes));
}

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

// x xᵀ + a diagonal that keeps it far from singular.
Instruction* BuildCholesky(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawSolved(program);
  const DimVector dimensions = SquareBatch(choices, choices.Range(1, 5));
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
  const ElementType type = DrawSolved(program);
  const int64_t order = choices.Range(1, 5), solutions = choices.Range(1, 4);
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

// An annotation, which changes nothing.
Instruction* BuildCustomCall(Program& program, Opcode) {
  Instruction* x = program.Operand(kAnyArray);
  Attributes attributes;
  attributes.Set(Attr::kCustomCallTarget, "Sharding");
  return program.Emit(Opcode::kCustomCall, x->shape(), {x}, std::move(attributes));
}

Instruction* BuildRngBitGenerator(Program& program, Opcode) {
  Choices& choices = program.choices();
  const auto algorithm =
      static_cast<RngAlgorithm>(choices.Range(0, static_cast<int64_t>(RngAlgorithm::kPhilox)));
  const int64_t words = algorithm == RngAlgorithm::kThreeFry || choices.Percent(50) ? 2 : 3;
  const ElementType type =
      choices.Pick({ElementType::kU32, ElementType::kU64, ElementType::kU16, ElementType::kU8});
  if (!program.options().Takes(type) || !program.options().Takes(ElementType::kU64)) return nullptr;
  const Shape state = Shape::Array(ElementType::kU64, {words});
  const Shape bits = Shape::Array(type, program.DrawDimensions());
  if (!program.Fits(bits)) return nullptr;
  Instruction* initial = program.OperandLike(state);
  Attributes attributes;
  attributes.Set(Attr::kRngAlgorithm, algorithm);
  Instruction* pair = program.Emit(Opcode::kRngBitGenerator, Shape::Tuple({state, bits}), {initial},
                                   std::move(attributes));
  if (choices.Percent(30)) program.GetTupleElement(pair, 0);
  return program.GetTupleElement(pair, 1);
}

// Draws nobody can predict; what is asked of them has one answer.
// In the entry only: a fused computation may not keep a draw that nobody reads.
Instruction* BuildRng(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kF);
  const DimVector dimensions = program.DrawDimensions();
  const Shape shape = Shape::Array(type, dimensions);
  if (!program.Fits(shape)) return nullptr;
  const bool normal = choices.Percent(40);
  const int64_t from = choices.Range(-4, 4);
  Instruction* a = program.ScalarConstant(type, from);
  Instruction* b = program.ScalarConstant(type, normal ? 0 : from + choices.Range(1, 8));
  Attributes attributes;
  attributes.Set(Attr::kDistribution,
                 normal ? RngDistribution::kNormal : RngDistribution::kUniform);
  Instruction* drawn = program.Emit(Opcode::kRng, shape, {a, b}, std::move(attributes));
  return normal ? drawn : program.Compare(Direction::kGe, drawn, program.Splat(a, dimensions));
}

Instruction* BuildRandomState(Program& program, Opcode) {
  if (!program.scope().entry || !program.options().Takes(ElementType::kU64)) return nullptr;
  Attributes attributes;
  attributes.Set(Attr::kDelta, AttrValue(program.choices().Range(1, 100)));
  Instruction* state =
      program.Emit(Opcode::kRngGetAndUpdateState, Shape::Array(ElementType::kU64, {2}), {},
                   std::move(attributes));
  return program.Compare(Direction::kEq, state, state);
}

constexpr RecipeGroup kGroup = RecipeGroup::kDot;
constexpr Recipe kRecipes[] = {
    {Opcode::kConvolution, "convolution", kGroup, 12, BuildConvolution},
    {Opcode::kCholesky, "cholesky", kGroup, 3, BuildCholesky},
    {Opcode::kTriangularSolve, "triangular-solve", kGroup, 3, BuildTriangularSolve},
    {Opcode::kFft, "fft", kGroup, 3, BuildFft},
    {Opcode::kRngBitGenerator, "rng-bit-generator", kGroup, 2, BuildRngBitGenerator},
    {Opcode::kCustomCall, "annotation", kGroup, 1, BuildCustomCall, kNotPortable},
    {Opcode::kRng, "rng", kGroup, 1, BuildRng},
    {Opcode::kRngGetAndUpdateState, "random-state", kGroup, 1, BuildRandomState, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> LinearRecipes() { return kRecipes; }

}  // namespace assay
