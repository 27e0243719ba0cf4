// Compilers for GPUs give this to libraries: products of matrices and convolutions with what is
// done to their results, as ops and as the calls that XLA:GPU makes of them.
#include <string>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "spec/library/library_call.h"

namespace assay {
namespace {

using T = ElementType;
constexpr double kScales[] = {2, 0.5, -1, 3, 0.25, -0.75};

Instruction* ScaleLike(Program& program, const Instruction* value) {
  Literal scalar(Shape::Scalar(value->shape().element_type()));
  scalar.SetDouble(0, kScales[program.choices().Draw(std::size(kScales))]);
  return program.Splat(program.Constant(std::move(scalar)), value->shape().dimensions());
}

Instruction* MaybeTimes(Program& program, Instruction* value, int percent) {
  if (!program.choices().Percent(percent)) return value;
  Instruction* scale = ScaleLike(program, value);
  return program.choices().Percent(50) ? program.Binary(Opcode::kMultiply, value, scale)
                                       : program.Binary(Opcode::kMultiply, scale, value);
}

Instruction* EitherOrder(Program& program, Opcode opcode, Instruction* x, Instruction* y) {
  return program.choices().Percent(50) ? program.Binary(opcode, x, y)
                                       : program.Binary(opcode, y, x);
}

Instruction* Relu(Program& program, Instruction* value) {
  Instruction* zero = program.Splat(program.ScalarConstant(value->shape().element_type(), 0),
                                    value->shape().dimensions());
  return EitherOrder(program, Opcode::kMaximum, value, zero);
}

ElementType DrawFloat(Program& program) {
  const ElementType type =
      program.choices().Pick({T::kF32, T::kF32, T::kF32, T::kF16, T::kBF16, T::kF64});
  return program.options().Takes(type) ? type : T::kF32;
}

// Each size around the multiples that tensor cores take.
int64_t DrawSide(Choices& choices) {
  return choices.Percent(70) ? choices.Range(1, 9) : choices.Pick<int64_t>({12, 15, 16, 17, 24});
}

// Dimensions of the two sides and of their product, with batches in front.
struct GemmSides {
  DimVector lhs, rhs, result;
  GemmConfig config;

  explicit GemmSides(Choices& choices) {
    const int64_t m = DrawSide(choices), k = DrawSide(choices), n = DrawSide(choices);
    if (choices.Percent(20)) {
      lhs = rhs = result = {choices.Range(1, 3)};
      config.lhs_batch = config.rhs_batch = {0};
    }
    const auto first = static_cast<int64_t>(lhs.size());
    const bool lhs_turned = choices.Percent(25), rhs_turned = choices.Percent(25);
    lhs.push_back(lhs_turned ? k : m);
    lhs.push_back(lhs_turned ? m : k);
    rhs.push_back(rhs_turned ? n : k);
    rhs.push_back(rhs_turned ? k : n);
    result.push_back(m);
    result.push_back(n);
    config.lhs_contracting = {lhs_turned ? first : first + 1};
    config.rhs_contracting = {rhs_turned ? first + 1 : first};
  }
};

// alpha A B + beta C, a bias along the columns, and relu, each there or not.
Instruction* BuildScaledDot(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type =
      choices.Percent(10) && program.options().Takes(T::kC64) ? T::kC64 : DrawFloat(program);
  const GemmSides sides(choices);
  Instruction* a = program.OperandOf(type, sides.lhs);
  Instruction* b = program.OperandOf(type, sides.rhs);
  Attributes attributes;
  if (!sides.config.lhs_batch.empty()) {
    attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(sides.config.lhs_batch));
    attributes.Set(Attr::kRhsBatchDims, absl::MakeConstSpan(sides.config.rhs_batch));
  }
  attributes.Set(Attr::kLhsContractingDims, absl::MakeConstSpan(sides.config.lhs_contracting))
      .Set(Attr::kRhsContractingDims, absl::MakeConstSpan(sides.config.rhs_contracting));
  const Shape shape = Shape::Array(type, sides.result);
  Instruction* x = program.Emit(Opcode::kDot, shape, {a, b}, std::move(attributes));
  x = MaybeTimes(program, x, 50);
  if (choices.Percent(50)) {
    Instruction* c = program.OperandLike(shape);
    x = EitherOrder(program, Opcode::kAdd, x, MaybeTimes(program, c, 50));
  }
  if (choices.Percent(30)) {
    const auto rank = static_cast<int64_t>(sides.result.size());
    Instruction* bias = program.OperandOf(type, {sides.result[rank - 1]});
    x = EitherOrder(program, Opcode::kAdd, x, program.Broadcast(bias, sides.result, {rank - 1}));
  }
  return !IsComplex(type) && choices.Percent(30) ? Relu(program, x) : x;
}

// The sizes of a forward convolution, channels last.
struct ConvSizes {
  DimVector input, filter, output;
  std::vector<WindowDim> window;
  int64_t groups = 1;

  ConvSizes(Choices& choices, bool symmetric) {
    const int64_t spatial = choices.Range(1, 2);
    groups = choices.Percent(15) ? 2 : 1;
    input = {choices.Range(1, 3)};
    output = {input[0]};
    for (int64_t d = 0; d < spatial; ++d) {
      WindowDim dim{.size = choices.Range(1, 3),
                    .stride = choices.Range(1, 2),
                    .window_dilation = choices.Percent(20) ? 2 : 1};
      const int64_t reach = (dim.size - 1) * dim.window_dilation + 1;
      dim.low = choices.Range(0, reach - 1);
      dim.high = symmetric || choices.Percent(50) ? dim.low : choices.Range(0, reach - 1);
      const int64_t size = choices.Range(reach, reach + 4);
      input.push_back(size);
      filter.push_back(dim.size);
      output.push_back((size + dim.low + dim.high - reach) / dim.stride + 1);
      window.push_back(dim);
    }
    const int64_t in = choices.Range(1, 5), out = choices.Range(1, 5) * groups;
    input.push_back(in * groups);
    filter.push_back(in);
    filter.push_back(out);
    output.push_back(out);
  }

  Attributes ToAttributes() const {
    const auto spatial = static_cast<int64_t>(window.size());
    ConvDimLabels labels;
    labels.input_feature = labels.output_feature = spatial + 1;
    labels.kernel_input_feature = spatial;
    labels.kernel_output_feature = spatial + 1;
    for (int64_t d = 0; d < spatial; ++d) {
      labels.input_spatial.push_back(d + 1);
      labels.kernel_spatial.push_back(d);
      labels.output_spatial.push_back(d + 1);
    }
    Attributes attributes;
    attributes.Set(Attr::kWindow, AttrValue(window))
        .Set(Attr::kDimLabels, AttrValue(SharedValue<ConvDimLabels>(labels)));
    if (groups != 1) attributes.Set(Attr::kFeatureGroupCount, AttrValue(groups));
    return attributes;
  }
};

// max(0, alpha1 conv(x, w) + alpha2 side + broadcast(bias)), each part there or not.
Instruction* Epilogue(Program& program, Instruction* value) {
  Choices& choices = program.choices();
  const Shape shape = value->shape();
  value = MaybeTimes(program, value, 50);
  if (choices.Percent(40)) {
    Instruction* side = program.OperandLike(shape);
    value = EitherOrder(program, Opcode::kAdd, value, MaybeTimes(program, side, 50));
  }
  if (choices.Percent(50)) {
    const int64_t last = shape.rank() - 1;
    Instruction* bias = program.OperandOf(shape.element_type(), {shape.dimension(last)});
    value = EitherOrder(program, Opcode::kAdd, value,
                        program.Broadcast(bias, shape.dimensions(), {last}));
  }
  return choices.Percent(60) ? Relu(program, value) : value;
}

Instruction* BuildConvEpilogue(Program& program, Opcode) {
  const ElementType type = DrawFloat(program);
  const ConvSizes sizes(program.choices(), false);
  Instruction* x = program.OperandOf(type, sizes.input);
  Instruction* w = program.OperandOf(type, sizes.filter);
  return Epilogue(program, program.Emit(Opcode::kConvolution, Shape::Array(type, sizes.output),
                                        {x, w}, sizes.ToAttributes()));
}

// A convolution of bytes: sums of s32 that are clamped to bytes, or become floats.
Instruction* BuildConvOfBytes(Program& program, Opcode) {
  Choices& choices = program.choices();
  if (!program.options().Takes(T::kS8) || !program.options().Takes(T::kS32)) return nullptr;
  const ConvSizes sizes(choices, false);
  Instruction* x = program.Convert(program.OperandOf(T::kS8, sizes.input), T::kS32);
  Instruction* w = program.Convert(program.OperandOf(T::kS8, sizes.filter), T::kS32);
  const Shape shape = Shape::Array(T::kS32, sizes.output);
  Instruction* sum = program.Emit(Opcode::kConvolution, shape, {x, w}, sizes.ToAttributes());
  const auto clamp = [&](Instruction* value) {
    Instruction* low = program.ScalarConstant(value->shape().element_type(), -128);
    Instruction* high = program.ScalarConstant(value->shape().element_type(), 127);
    return program.Emit(Opcode::kClamp, value->shape(), {low, value, high});
  };
  const int64_t kind = choices.Range(0, 3);
  if (kind == 0) return program.Convert(clamp(sum), T::kS8);
  Instruction* value = program.Convert(sum, T::kF32);
  if (kind == 1) return value;
  if (kind == 2) return Epilogue(program, value);
  value = MaybeTimes(program, value, 60);
  if (choices.Percent(50)) {
    Instruction* side = program.Convert(program.OperandOf(T::kS8, sizes.output), T::kF32);
    value = program.Binary(Opcode::kAdd, value, MaybeTimes(program, side, 50));
  }
  Instruction* bias = program.OperandOf(T::kF32, {sizes.output.back()});
  const auto last = static_cast<int64_t>(sizes.output.size()) - 1;
  value = program.Binary(Opcode::kAdd, value, program.Broadcast(bias, sizes.output, {last}));
  return program.Convert(clamp(Relu(program, value)), T::kS8);
}

Instruction* EmitCall(Program& program, LibraryRoutine routine, Shape shape,
                      const std::vector<Instruction*>& operands, const std::string& config,
                      Attributes attributes = {}) {
  attributes.Set(Attr::kCustomCallTarget, std::string(TargetOf(routine).name));
  if (!config.empty()) attributes.Set(Attr::kBackendConfig, config);
  return program.Emit(Opcode::kCustomCall, std::move(shape), operands, std::move(attributes));
}

double DrawScale(Choices& choices) { return kScales[choices.Draw(std::size(kScales))]; }

Instruction* BuildGemmCall(Program& program) {
  Choices& choices = program.choices();
  const ElementType type = DrawFloat(program);
  GemmSides sides(choices);
  const Shape shape = Shape::Array(type, sides.result);
  Instruction* a = program.OperandOf(type, sides.lhs);
  std::vector<Instruction*> operands = {a, program.OperandOf(type, sides.rhs)};
  if (choices.Percent(50)) sides.config.alpha_real = DrawScale(choices);
  if (choices.Percent(50)) {
    sides.config.beta = choices.Percent(40) ? 1 : DrawScale(choices);
    operands.push_back(program.OperandLike(shape));
  }
  const bool has_epilogue = choices.Percent(40);
  if (has_epilogue) {
    sides.config.activation = choices.Pick(
        {LibraryActivation::kNone, LibraryActivation::kRelu, LibraryActivation::kGelu});
    sides.config.has_bias = choices.Percent(60);
    if (sides.config.has_bias) operands.push_back(program.OperandOf(type, {sides.result.back()}));
  }
  return EmitCall(program, has_epilogue ? LibraryRoutine::kGemmLt : LibraryRoutine::kGemm, shape,
                  operands, WriteConfig(sides.config));
}

Instruction* BuildConvCall(Program& program) {
  Choices& choices = program.choices();
  const ElementType type = DrawFloat(program);
  const ConvSizes sizes(choices, false);
  const LibraryRoutine routine =
      choices.Pick({LibraryRoutine::kConvForward, LibraryRoutine::kConvBackwardInput,
                    LibraryRoutine::kConvBackwardFilter, LibraryRoutine::kConvBiasActivation});
  const DimVector& first =
      routine == LibraryRoutine::kConvBackwardInput ? sizes.output : sizes.input;
  const DimVector& second =
      routine == LibraryRoutine::kConvBackwardFilter ? sizes.output : sizes.filter;
  const DimVector& result = routine == LibraryRoutine::kConvBackwardInput    ? sizes.input
                            : routine == LibraryRoutine::kConvBackwardFilter ? sizes.filter
                                                                             : sizes.output;
  const Shape shape = Shape::Array(type, result);
  Instruction* lhs = program.OperandOf(type, first);
  std::vector<Instruction*> operands = {lhs, program.OperandOf(type, second)};
  ConvConfig config;
  if (choices.Percent(40)) config.result_scale = DrawScale(choices);
  if (routine == LibraryRoutine::kConvBiasActivation) {
    operands.push_back(program.OperandOf(type, {result.back()}));
    config.activation =
        choices.Pick({LibraryActivation::kNone, LibraryActivation::kRelu, LibraryActivation::kRelu6,
                      LibraryActivation::kElu, LibraryActivation::kLeakyRelu,
                      LibraryActivation::kTanh, LibraryActivation::kSigmoid});
    if (config.activation == LibraryActivation::kLeakyRelu) config.leaky_alpha = 0.25;
    if (choices.Percent(50)) {
      config.side_scale = DrawScale(choices);
      operands.push_back(program.OperandLike(shape));
    }
  }
  Instruction* call = EmitCall(program, routine, Shape::Tuple({shape, Shape::Array(T::kU8, {0})}),
                               operands, WriteConfig(config), sizes.ToAttributes());
  return program.GetTupleElement(call, 0);
}

Instruction* BuildNormCall(Program& program) {
  Choices& choices = program.choices();
  const DimVector dims = {choices.Range(1, 4), choices.Range(1, 4), choices.Range(1, 5)};
  const int64_t feature = choices.Range(0, 2);
  const Shape shape = Shape::Array(T::kF32, dims);
  const Shape features = Shape::Array(T::kF32, {dims[feature]});
  const bool trains = choices.Percent(50);
  std::vector<Instruction*> operands = {program.OperandLike(shape)};
  const int more = trains ? 2 : 4;
  for (int k = 0; k < more; ++k) operands.push_back(program.OperandLike(features));
  // A variance is not negative.
  if (!trains) operands[4] = program.Unary(Opcode::kAbs, operands[4]);
  Literal epsilon(Shape::Scalar(T::kF32));
  epsilon.SetDouble(0, choices.Pick({0.001, 0.5, 1.0}));
  operands.push_back(program.Constant(std::move(epsilon)));
  operands.push_back(program.ScalarConstant(T::kS64, feature));
  if (!trains) return EmitCall(program, LibraryRoutine::kNormInference, shape, operands, "");
  Instruction* call = EmitCall(program, LibraryRoutine::kNormTraining,
                               Shape::Tuple({shape, features, features}), operands, "");
  return program.GetTupleElement(call, choices.Range(0, 2));
}

Instruction* BuildLibraryCall(Program& program, Opcode) {
  if (!program.options().Takes(T::kF32)) return nullptr;
  constexpr Instruction* (*kBuilds[])(Program&) = {BuildGemmCall, BuildConvCall, BuildNormCall};
  return kBuilds[program.choices().Weighted({5, 5, 2})](program);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kDot, "dot-with-scales", RecipeGroup::kDot, 8, BuildScaledDot},
    {Opcode::kConvolution, "convolution-with-epilogue", RecipeGroup::kDot, 5, BuildConvEpilogue},
    {Opcode::kConvolution, "convolution-of-bytes", RecipeGroup::kDot, 2, BuildConvOfBytes},
    {Opcode::kCustomCall, "library-call", RecipeGroup::kDot, 4, BuildLibraryCall, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> LibraryRecipes() { return kRecipes; }

}  // namespace assay
