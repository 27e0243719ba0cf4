// Dots with all dimension lists, what surrounds them, and convolutions of every form (requirements
// 8, 43, 44, 47).
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {

Instruction* LargeOperand(Program& program, ElementType type, const DimVector& dimensions) {
  Choices& choices = program.choices();
  const ValueFamily family = choices.Pick(
      {ValueFamily::kOrdinary, ValueFamily::kOrdinary, ValueFamily::kExact, ValueFamily::kWide});
  return program.GivenParameter(LiteralOfFamily(Shape::Array(type, dimensions), family, choices));
}

namespace {

constexpr int64_t kMostProducts = 60000;
constexpr int64_t kMostOfFramework = 8192;  // elements of an array
// Sizes of products that compilers pack: around the work from which that pays.
constexpr int64_t kLeastPacked = 1 << 14, kMostPacked = 1 << 18;

// The part that each dimension of both sides plays. Lists pair by position.
struct DotPlan {
  DimVector lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
  DimVector rhs_dimensions;
  DimVector result_dimensions;
  int64_t products = 1;
};

// Sizes around those of vectors and tiles.
int64_t SizeOfTile(Choices& choices, int64_t most) {
  return std::min(choices.Pick<int64_t>({2, 7, 8, 16, 17, 31, 32, 33, 48, 64, 65, 96, 131}), most);
}

DimVector TakeSome(Choices& choices, DimVector& from, int64_t count) {
  DimVector taken;
  for (int64_t i = 0; i < count && !from.empty(); ++i) {
    int64_t at = static_cast<int64_t>(choices.Draw(from.size()));
    taken.push_back(from[at]);
    from.erase(from.begin() + at);
  }
  return taken;
}

DotPlan DrawPlan(Program& program, const Shape& lhs, bool is_large) {
  Choices& choices = program.choices();
  DotPlan plan;
  DimVector free_dims;
  for (int64_t i = 0; i < lhs.rank(); ++i) free_dims.push_back(i);
  int64_t contracting = static_cast<int64_t>(choices.Weighted({8, 76, 16}));
  int64_t batch = static_cast<int64_t>(choices.Weighted({60, 30, 10}));
  plan.lhs_contracting = TakeSome(choices, free_dims, contracting);
  plan.lhs_batch = TakeSome(choices, free_dims, batch);

  // Right side: the shared dimensions and up to two of its own, in any order.
  int64_t own = static_cast<int64_t>(choices.Weighted({30, 50, 20}));
  DimVector sizes;
  for (int64_t d : plan.lhs_batch) sizes.push_back(lhs.dimension(d));
  for (int64_t d : plan.lhs_contracting) sizes.push_back(lhs.dimension(d));
  int64_t shared = static_cast<int64_t>(sizes.size());
  for (int64_t i = 0; i < own; ++i) {
    sizes.push_back(is_large ? SizeOfTile(choices, 131)
                             : std::min<int64_t>(program.DrawSize(), 130));
  }
  int64_t rank = static_cast<int64_t>(sizes.size());
  DimVector place = RandomPermutation(choices, rank);
  plan.rhs_dimensions.resize(sizes.size());
  for (int64_t i = 0; i < rank; ++i) plan.rhs_dimensions[place[i]] = sizes[i];
  int64_t batches = static_cast<int64_t>(plan.lhs_batch.size());
  for (int64_t i = 0; i < shared; ++i) {
    (i < batches ? plan.rhs_batch : plan.rhs_contracting).push_back(place[i]);
  }
  for (int64_t d : plan.lhs_batch) plan.result_dimensions.push_back(lhs.dimension(d));
  for (int64_t d : free_dims) plan.result_dimensions.push_back(lhs.dimension(d));
  DimVector own_places(place.begin() + shared, place.end());
  std::sort(own_places.begin(), own_places.end());
  for (int64_t d : own_places) plan.result_dimensions.push_back(plan.rhs_dimensions[d]);
  for (int64_t d : plan.lhs_contracting) plan.products *= lhs.dimension(d);
  for (int64_t size : plan.result_dimensions) plan.products *= size;
  return plan;
}

// A computed type of the class of `type` with at least so many bits; `type` if there is none.
ElementType OfClass(Program& program, ElementType type, int least_bits) {
  std::vector<ElementType> types;
  for (ElementType other : ComputedTypes()) {
    if (IsFloat(other) == IsFloat(type) && IsInteger(other) == IsInteger(type) &&
        BitWidth(other) >= least_bits && program.options().Takes(other))
      types.push_back(other);
  }
  return types.empty() ? type : program.choices().Pick(types);
}

// The types of the second operand and of the result. All but the wider result are the contract's,
// which not every compiler has: floats of any two types into any third, integers into one that is
// as wide as both.
struct ProductTypes {
  ElementType rhs, result;
};
ProductTypes DrawProductTypes(Program& program, ElementType type) {
  Choices& choices = program.choices();
  const bool is_number = IsInteger(type) || IsFloat(type);
  if (program.options().portable || !is_number || !choices.Percent(12))
    return {type, choices.Percent(15) ? WiderType(type) : type};
  const ElementType rhs = choices.Percent(50) ? type : OfClass(program, type, 0);
  const int least = IsFloat(type) ? 0 : std::max(BitWidth(type), BitWidth(rhs));
  return {rhs, OfClass(program, BitWidth(rhs) > BitWidth(type) ? rhs : type, least)};
}

TypeMask DotTypes() { return Info(Opcode::kDot).types & kAnyArray; }

Instruction* DotOf(Program& program, Instruction* lhs, bool is_large = false) {
  DotPlan plan = DrawPlan(program, lhs->shape(), is_large);
  if (is_large ? plan.products < kLeastPacked || plan.products > kMostPacked ||
                     plan.lhs_contracting.empty()
               : plan.products > kMostProducts || !program.Fits(Product(plan.result_dimensions)) ||
                     !program.Fits(Product(plan.rhs_dimensions))) {
    return nullptr;
  }
  ElementType type = lhs->shape().element_type();
  const ProductTypes types = DrawProductTypes(program, type);
  Instruction* rhs = is_large ? LargeOperand(program, types.rhs, plan.rhs_dimensions)
                              : program.OperandOf(types.rhs, plan.rhs_dimensions);
  Attributes attributes;
  if (!plan.lhs_batch.empty()) {
    attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(plan.lhs_batch));
    attributes.Set(Attr::kRhsBatchDims, absl::MakeConstSpan(plan.rhs_batch));
  }
  attributes.Set(Attr::kLhsContractingDims, absl::MakeConstSpan(plan.lhs_contracting));
  attributes.Set(Attr::kRhsContractingDims, absl::MakeConstSpan(plan.rhs_contracting));
  return program.Emit(Opcode::kDot, Shape::Array(types.result, plan.result_dimensions), {lhs, rhs},
                      std::move(attributes));
}

Instruction* BuildDot(Program& program, Opcode) {
  return DotOf(program, program.Operand(DotTypes()));
}

// Kernels for complex numbers are other ones, and few programs have such numbers of their own.
ElementType DrawLargeType(Program& program, TypeMask mask) {
  const bool is_complex =
      program.options().Takes(ElementType::kC64) && program.choices().Percent(8);
  return is_complex ? ElementType::kC64 : program.DrawType(mask);
}

// With as many products as are packed: sizes around vectors and tiles, dimensions in any order.
Instruction* BuildLargeDot(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = DrawLargeType(program, DotTypes());
  if (IsPred(type)) return nullptr;
  const int64_t rank = choices.Weighted({70, 20, 10}) + 2;
  DimVector dimensions;
  for (int64_t d = 0; d < rank; ++d)
    dimensions.push_back(SizeOfTile(choices, rank == 2 ? 131 : 33));
  return DotOf(program, LargeOperand(program, type, dimensions), /*is_large=*/true);
}

// dot of a transpose, reverse or convert.
Instruction* BuildDotOfTranspose(Program& program, Opcode) {
  Instruction* x = program.Operand(DotTypes(), 2);
  x = program.Transpose(x, RandomPermutation(program.choices(), x->shape().rank()));
  return DotOf(program, x);
}

// dot + broadcast bias, max with 0, perhaps a second dot.
Instruction* BuildDense(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = DotOf(program, program.Operand(DotTypes(), 1));
  if (x == nullptr || x->shape().rank() == 0) return x;
  const Shape& shape = x->shape();
  int64_t d = static_cast<int64_t>(choices.Draw(shape.rank()));
  Instruction* bias = program.OperandOf(shape.element_type(), {shape.dimension(d)});
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  Instruction* sum = program.Binary(Opcode::kAdd, x, program.Broadcast(bias, dimensions, {d}));
  if (IsComplex(shape.element_type())) return sum;  // which has no maximum
  Instruction* zero = program.Splat(program.ScalarConstant(shape.element_type(), 0), dimensions);
  Instruction* positive = program.Binary(Opcode::kMaximum, sum, zero);
  if (!choices.Percent(40)) return positive;
  Instruction* second = DotOf(program, positive);
  return second == nullptr ? positive : second;
}

// A dot written as multiply and reduce.
Instruction* BuildMultiplyReduce(Program& program, Opcode) {
  Instruction* a = program.Operand(DotTypes(), 1);
  Instruction* b = program.OperandLike(a->shape());
  Instruction* product = program.Binary(Opcode::kMultiply, a, b);
  DimVector dimensions = RandomSubset(program.choices(), a->shape().rank());
  Reducer reducer = MakeReducerOf(program, Opcode::kAdd, a->shape().element_type());
  return program.Reduce(product, reducer.init, dimensions, reducer.computation);
}

// The sum of a broadcast, which simplifiers turn into a product.
Instruction* BuildBroadcastReduce(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(DotTypes());
  int64_t size = choices.Range(0, 6);
  if (!program.Fits(x->shape().ElementCount() * size)) return nullptr;
  int64_t rank = x->shape().rank();
  int64_t at = static_cast<int64_t>(choices.Draw(rank + 1));
  DimVector dimensions, mapping;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i == at) dimensions.push_back(size);
    if (i == rank) break;
    mapping.push_back(static_cast<int64_t>(dimensions.size()));
    dimensions.push_back(x->shape().dimension(i));
  }
  Instruction* wide = program.Broadcast(x, dimensions, mapping);
  Opcode opcode = choices.Pick({Opcode::kAdd, Opcode::kMaximum, Opcode::kAdd});
  if (IsComplex(x->shape().element_type())) opcode = Opcode::kAdd;
  Reducer reducer = MakeReducerOf(program, opcode, x->shape().element_type());
  return program.Reduce(wide, reducer.init, {at}, reducer.computation);
}

// A slice or a reduction of a dot: pushed into the operands by simplifiers.
Instruction* BuildPartOfDot(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = DotOf(program, program.Operand(DotTypes(), 1));
  if (x == nullptr || x->shape().rank() == 0) return x;
  std::vector<SliceRange> ranges;
  for (int64_t size : x->shape().dimensions()) {
    int64_t start = size > 1 ? choices.Range(0, size - 1) : 0;
    ranges.push_back({start, size, choices.Percent(25) ? 2 : 1});
  }
  return program.Slice(x, std::move(ranges));
}

// Groups along a free, a contracting or a batch dimension of lhs. Sizes are given: they cover the
// dimension, or leave a rest, or reach beyond it.
Instruction* BuildRaggedDot(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  const auto mode = choices.Draw(3);  // ragged: free, contracting, batch
  const bool batched = mode == 2 || choices.Percent(40);
  const ElementType type = program.DrawType(kI | kF | kC);
  auto size = [&] { return std::min<int64_t>(program.DrawSize(), 9); };
  const int64_t b = size(), m = size(), k = size(), n = size();
  const int64_t groups = choices.Range(1, 4);
  DimVector lhs = {m, k}, rhs = {k, n}, result = {m, n};
  if (batched)
    for (DimVector* dimensions : {&lhs, &rhs, &result}) dimensions->insert(dimensions->begin(), b);
  if (mode == 0) rhs.insert(rhs.begin(), groups);
  if (mode == 1) result.insert(result.begin(), groups);
  if (!program.Fits(Product(lhs)) || !program.Fits(Product(rhs)) || !program.Fits(Product(result)))
    return nullptr;
  const int64_t at = batched ? 1 : 0;
  // The dimension that is summed over stands behind the other one, or before it.
  const bool lhs_turned = choices.Percent(35), rhs_turned = choices.Percent(35);
  const int64_t lhs_sum = lhs_turned ? at : at + 1, lhs_free = lhs_turned ? at + 1 : at;
  const int64_t rhs_first = mode == 0 ? at + 1 : at;
  if (lhs_turned) std::swap(lhs[lhs_sum], lhs[lhs_free]);
  if (rhs_turned) std::swap(rhs[rhs_first], rhs[rhs_first + 1]);
  const int64_t ragged = mode == 2 ? 0 : mode == 1 ? lhs_sum : lhs_free;
  // Once for all, or for each batch.
  DimVector sizes_shape = {groups};
  if (batched && mode != 2 && choices.Percent(50)) sizes_shape.insert(sizes_shape.begin(), b);
  Literal sizes(Shape::Array(ElementType::kS32, sizes_shape));
  const int64_t most = 2 * lhs[ragged] / groups + 1;
  for (int64_t i = 0; i < sizes.element_count(); ++i) sizes.SetInteger(i, choices.Range(0, most));
  Instruction* x = program.OperandOf(type, lhs);
  Instruction* y = program.OperandOf(type, rhs);
  Instruction* counts = program.Constant(std::move(sizes));
  Attributes attributes;
  if (batched) {
    attributes.Set(Attr::kLhsBatchDims, {0});
    attributes.Set(Attr::kRhsBatchDims, {mode == 0 ? 1 : 0});
  }
  attributes.Set(Attr::kLhsContractingDims, {lhs_sum});
  attributes.Set(Attr::kRhsContractingDims, {rhs_turned ? rhs_first + 1 : rhs_first});
  attributes.Set(Attr::kLhsRaggedDims, {ragged});
  attributes.Set(Attr::kRhsGroupDims, mode == 0 ? DimVector{0} : DimVector{});
  return program.Emit(opcode, Shape::Array(type, result), {x, y, counts}, std::move(attributes));
}

// One operand scaled or both, by factors of one type for blocks of the contracting dimension.
Instruction* BuildScaledDot(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  const bool narrow = choices.Percent(50);
  const ElementType data =
      narrow ? choices.Pick({ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kF4E2M1FN})
             : ElementType::kBF16;
  const ElementType factor = choices.Pick({ElementType::kBF16, ElementType::kF8E8M0FNU});
  for (ElementType type : {data, factor, ElementType::kBF16, ElementType::kF32})
    if (!program.options().Takes(type)) return nullptr;
  auto size = [&] { return std::min<int64_t>(program.DrawSize(), 9); };
  const int64_t m = size(), n = size(), blocks = choices.Range(1, 4), block = choices.Range(1, 4);
  const int64_t k = blocks * block;
  auto operand = [&](DimVector dimensions, ElementType type) {
    return program.Convert(program.OperandOf(ElementType::kBF16, dimensions), type);
  };
  Instruction* lhs = operand({m, k}, data);
  Instruction* rhs = operand({k, n}, data);
  const auto scaled = choices.Draw(3);  // both, lhs, rhs
  Instruction* one = program.ScalarConstant(factor, 1);
  Instruction* lhs_scale = scaled == 2 ? one : operand({m, blocks}, factor);
  Instruction* rhs_scale = scaled == 1 ? one : operand({blocks, n}, factor);
  Attributes attributes;
  attributes.Set(Attr::kLhsContractingDims, {1});
  attributes.Set(Attr::kRhsContractingDims, {0});
  return program.Emit(opcode, Shape::Array(ElementType::kF32, {m, n}),
                      {lhs, rhs, lhs_scale, rhs_scale}, std::move(attributes));
}

int64_t DivisorOf(Choices& choices, int64_t size) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= size; ++d)
    if (size % d == 0) divisors.push_back(d);
  return divisors[choices.Draw(divisors.size())];
}

int64_t Dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

// Mostly some places beyond an edge or within it, now and then as many as there are.
int64_t DrawEdge(Choices& choices, int64_t size) {
  const int64_t all = std::min<int64_t>(size, 12);
  return choices.Percent(12) ? choices.Range(-all, all) : choices.Range(-2, 3);
}

WindowDim DrawWindow(Choices& choices, int64_t input_size) {
  WindowDim window;
  window.size = choices.Percent(12) ? 1 : choices.Range(1, std::clamp<int64_t>(input_size, 1, 4));
  window.stride = choices.Percent(30) ? choices.Range(2, 3) : 1;
  const bool has_edges = choices.Percent(50);
  if (choices.Percent(25)) window.base_dilation = choices.Range(2, 3);
  if (choices.Percent(25)) window.window_dilation = choices.Range(2, 3);
  if (has_edges) {
    const int64_t size = Dilated(input_size, window.base_dilation);
    window.low = DrawEdge(choices, size);
    window.high = DrawEdge(choices, size);
  }
  window.reversal = choices.Percent(15);
  return window;
}

int64_t WindowPlaces(const WindowDim& window, int64_t input_size) {
  const int64_t base = Dilated(input_size, window.base_dilation) + window.low + window.high;
  const int64_t reach = Dilated(window.size, window.window_dilation);
  return base <= 0 || reach > base ? 0 : (base - reach) / window.stride + 1;
}

// The dimensions of an array: batch or output feature, feature, spatial.
struct Places {
  int64_t first, second;
  Int64List spatial;
};
struct ConvolutionPlaces {
  Places in, kernel, out;
};

Places DrawPlaces(Choices& choices, int64_t rank) {
  const DimVector order = RandomPermutation(choices, rank);
  return {order[0], order[1], Int64List(order.begin() + 2, order.end())};
}

// Any order in each array.
ConvolutionPlaces AnyPlaces(Choices& choices, int64_t rank) {
  Places in = DrawPlaces(choices, rank);
  Places kernel = DrawPlaces(choices, rank);
  Places out = DrawPlaces(choices, rank);
  return {std::move(in), std::move(kernel), std::move(out)};
}

// The orders of dimensions that frameworks use: batch, space, features and space, input, output; or
// batch, features, space and output, input, space.
ConvolutionPlaces FrameworkPlaces(Choices& choices, int64_t rank) {
  const bool features_last = choices.Percent(60);
  const auto from = [rank](int64_t begin) {
    Int64List spatial;
    for (int64_t d = 0; d + 2 < rank; ++d) spatial.push_back(begin + d);
    return spatial;
  };
  if (!features_last) return {{0, 1, from(2)}, {0, 1, from(2)}, {0, 1, from(2)}};
  const Places array = {0, rank - 1, from(1)};
  return {array, {rank - 1, rank - 2, from(0)}, array};
}

// Around the widths of vectors and blocks.
int64_t DrawChannels(Choices& choices) {
  return choices.Pick<int64_t>({8, 16, 32}) + choices.Range(-1, 1);
}

struct ConvolutionStyle {
  bool is_large = false;                    // as many products as are packed
  std::optional<ConvolutionPlaces> places;  // of a framework, with numbers of channels to match
};

Instruction* ConvolutionOf(Program& program, Instruction* operand, ConvolutionStyle style) {
  Choices& choices = program.choices();
  const bool is_large = style.is_large;
  const Shape input = operand->shape();
  if (input.rank() > 5) return nullptr;
  const bool is_of_framework = style.places.has_value();
  const auto& [in, kernel, out] =
      is_of_framework ? *style.places : AnyPlaces(choices, input.rank());
  const int64_t batch = input.dimension(in.first), features = input.dimension(in.second);
  Attributes attributes;
  int64_t feature_groups = 1, batch_groups = 1;
  if (choices.Percent(30) && features > 0) feature_groups = DivisorOf(choices, features);
  if (feature_groups == 1 && choices.Percent(20) && batch > 0)
    batch_groups = DivisorOf(choices, batch);
  const bool is_grouped = feature_groups * batch_groups > 1;
  const int64_t per_group = is_large                         ? choices.Pick<int64_t>({4, 8, 9, 16})
                            : is_of_framework && !is_grouped ? DrawChannels(choices)
                                                             : choices.Range(1, 4);
  const int64_t outputs = feature_groups * batch_groups * per_group;
  DimVector kernel_sizes(input.rank()), sizes(input.rank());
  kernel_sizes[kernel.first] = outputs;
  kernel_sizes[kernel.second] = features / feature_groups;
  sizes[out.first] = batch / batch_groups;
  sizes[out.second] = outputs;
  std::vector<WindowDim> window;
  // The gradient of another convolution turns every dimension.
  const bool is_turned = choices.Percent(is_large ? 25 : 10);
  for (size_t d = 0; d < in.spatial.size(); ++d) {
    const int64_t size = input.dimension(in.spatial[d]);
    window.push_back(DrawWindow(choices, size));
    window.back().reversal |= is_turned;
    kernel_sizes[kernel.spatial[d]] = window.back().size;
    sizes[out.spatial[d]] = WindowPlaces(window.back(), size);
  }
  int64_t elements = 1, kernel_elements = 1;
  for (int64_t size : sizes) elements *= size;
  for (int64_t size : kernel_sizes) kernel_elements *= size;
  const int64_t products = elements * kernel_elements / outputs;
  const int64_t most = is_of_framework ? kMostOfFramework : program.element_cap();
  if (is_large ? products < kLeastPacked || products > kMostPacked
               : std::max(elements, kernel_elements) > most || products > kMostProducts) {
    return nullptr;
  }
  Instruction* w = is_large || is_of_framework
                       ? LargeOperand(program, input.element_type(), kernel_sizes)
                       : program.OperandOf(input.element_type(), kernel_sizes);
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
  return program.Emit(Opcode::kConvolution, Shape::Array(input.element_type(), sizes), {operand, w},
                      std::move(attributes));
}

Instruction* BuildConvolution(Program& program, Opcode) {
  return ConvolutionOf(program, program.Operand(kAnyArray, 2), {});
}

Instruction* BuildFrameworkConvolution(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF | kC);
  const int64_t rank = choices.Weighted({30, 60, 10}) + 3;
  ConvolutionStyle style = {.places = FrameworkPlaces(choices, rank)};
  DimVector dimensions(static_cast<size_t>(rank));
  for (int64_t& size : dimensions) size = choices.Range(2, rank == 5 ? 4 : 7);
  dimensions[style.places->in.first] = choices.Range(1, 3);
  dimensions[style.places->in.second] = DrawChannels(choices);
  return ConvolutionOf(program, LargeOperand(program, type, dimensions), std::move(style));
}

Instruction* BuildLargeConvolution(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = DrawLargeType(program, kI | kF | kC);
  DimVector dimensions;
  for (int64_t rank = choices.Percent(70) ? 3 : 4; rank > 0; --rank)
    dimensions.push_back(choices.Pick<int64_t>({2, 3, 8, 12, 16, 17, 24}));
  ConvolutionStyle style = {.is_large = true};
  if (choices.Percent(50))
    style.places = FrameworkPlaces(choices, static_cast<int64_t>(dimensions.size()));
  return ConvolutionOf(program, LargeOperand(program, type, dimensions), std::move(style));
}

constexpr RecipeGroup kGroup = RecipeGroup::kDot;
constexpr Recipe kRecipes[] = {
    {Opcode::kDot, "dot", kGroup, 10, BuildDot},
    {Opcode::kDot, "dot-of-transpose", kGroup, 5, BuildDotOfTranspose},
    {Opcode::kDot, "dense", kGroup, 4, BuildDense},
    {Opcode::kDot, "part-of-dot", kGroup, 3, BuildPartOfDot},
    {Opcode::kRaggedDot, "ragged-dot", kGroup, 2, BuildRaggedDot, kNotPortable},
    {Opcode::kScaledDot, "scaled-dot", kGroup, 1, BuildScaledDot, kNotPortable},
    {Opcode::kReduce, "multiply-reduce", kGroup, 6, BuildMultiplyReduce},
    {Opcode::kReduce, "broadcast-reduce", kGroup, 5, BuildBroadcastReduce},
    {Opcode::kConvolution, "convolution", kGroup, 9, BuildConvolution},
    {Opcode::kConvolution, "framework-convolution", kGroup, 9, BuildFrameworkConvolution},
    {Opcode::kDot, "large-dot", kGroup, 2, BuildLargeDot, kNotPortable},
    {Opcode::kConvolution, "large-convolution", kGroup, 3, BuildLargeConvolution, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> ContractionRecipes() { return kRecipes; }

}  // namespace assay
