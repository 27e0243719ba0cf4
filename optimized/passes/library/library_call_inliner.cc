// A function per family of routines. Sums and epilogues of floats narrower than f32 are computed in
// f32 and rounded once.
#include "optimized/passes/library/library_call_inliner.h"

#include <vector>

#include "optimized/passes/library/gpu_facts.h"
#include "optimized/passes/library/gradient_forms.h"
#include "optimized/passes/library/op_writer.h"
#include "spec/library/library_call.h"

namespace assay {
namespace {

using enum LibraryRoutine;

class Inlining {
 public:
  Inlining(Instruction* at, const LibraryCall& call)
      : at_(at), call_(call), ops_(at->parent()), type_(call.result->element_type()) {}

  Instruction* Gemm() {
    const GemmConfig& gemm = call_.gemm;
    Attributes attributes;
    if (!gemm.lhs_batch.empty()) {
      attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(gemm.lhs_batch));
      attributes.Set(Attr::kRhsBatchDims, absl::MakeConstSpan(gemm.rhs_batch));
    }
    attributes.Set(Attr::kLhsContractingDims, absl::MakeConstSpan(gemm.lhs_contracting))
        .Set(Attr::kRhsContractingDims, absl::MakeConstSpan(gemm.rhs_contracting));
    if (!gemm.precision_algorithm.empty())
      attributes.Set(Attr::kAlgorithm,
                     AttrValue(*WordIndex(Attr::kAlgorithm, gemm.precision_algorithm)));
    sum_ = ops_.into()->Add(Opcode::kDot, WithType(*call_.result, SumType()),
                            {at_->operand(0), at_->operand(1)}, std::move(attributes));
    const bool scales = gemm.alpha_real != 1 || gemm.alpha_imag != 0;
    const bool ends =
        call_.addend >= 0 || call_.bias >= 0 || gemm.activation != LibraryActivation::kNone;
    if (scales || ends) LeaveIntegers();
    if (scales) sum_ = ops_.Binary(Opcode::kMultiply, sum_, Alpha());
    AddOperand(gemm.beta);
    if (call_.bias >= 0) {
      Int64List dims;
      const int64_t rank = sum_->shape().rank();
      for (int64_t d = rank - at_->operand(call_.bias)->shape().rank(); d < rank; ++d)
        dims.push_back(d);
      AddBias(dims);
    }
    Activate(gemm.activation, 0);
    return WithWorkspace(ops_.InType(sum_, type_));
  }

  Instruction* Convolution() {
    const ConvConfig& conv = call_.conv;
    sum_ = PlainConvolution();
    if (conv.result_scale != 1 || call_.bias >= 0) LeaveIntegers();
    if (conv.result_scale != 1)
      sum_ = ops_.Binary(Opcode::kMultiply, sum_, ops_.Splat(sum_->shape(), conv.result_scale));
    AddOperand(conv.side_scale);
    if (call_.bias >= 0) AddBias({at_->attributes().DimLabels()->output_feature});
    Activate(conv.activation, conv.leaky_alpha);
    if (type_ == ElementType::kS8) {
      sum_ = ops_.Binary(Opcode::kMaximum, sum_, ops_.Splat(sum_->shape(), -128));
      sum_ = ops_.Binary(Opcode::kMinimum, sum_, ops_.Splat(sum_->shape(), 127));
    }
    return WithWorkspace(ops_.InType(sum_, type_));
  }

  Instruction* Norm() {
    if (call_.routine == kNormBackward) return NormGradient();
    const bool trains = call_.routine == kNormTraining;
    Instruction* x = at_->operand(0);
    Instruction* mean = trains ? Mean(x) : at_->operand(3);
    Instruction* centred = ops_.Binary(Opcode::kSubtract, x, Along(mean));
    Instruction* variance =
        trains ? Mean(ops_.Binary(Opcode::kMultiply, centred, centred)) : at_->operand(4);
    Instruction* epsilon =
        ops_.Spread(at_->operand(at_->operand_count() - 2), variance->shape(), {});
    Instruction* inverse = ops_.Unary(Opcode::kRsqrt, ops_.Binary(Opcode::kAdd, variance, epsilon));
    Instruction* unit = ops_.Binary(Opcode::kMultiply, centred, Along(inverse));
    Instruction* y =
        ops_.Binary(Opcode::kAdd, ops_.Binary(Opcode::kMultiply, unit, Along(at_->operand(1))),
                    Along(at_->operand(2)));
    return trains ? ops_.Tuple({y, mean, inverse}) : y;
  }

  Instruction* Cholesky() {
    Instruction* a = at_->operand(0);
    const Shape& shape = a->shape();
    const int64_t rank = shape.rank(), n = shape.dimension(rank - 1);
    Instruction* factor = ops_.into()->Add(Opcode::kCholesky, WithType(shape, type_), {a},
                                           Attributes().Set(Attr::kLower, AttrValue(call_.lower)));
    const absl::Span<const Shape> results = at_->shape().elements();
    Instruction* none = ops_.Splat(results[2], 0);
    Instruction* info = none;
    if (n > 0) {
      std::vector<SliceRange> corner;
      DimVector sizes;
      for (int64_t d = 0; d < rank; ++d) {
        corner.push_back({d < rank - 2 ? 0 : n - 1, shape.dimension(d), 1});
        sizes.push_back(d < rank - 2 ? shape.dimension(d) : 1);
      }
      Instruction* last =
          ops_.into()->Add(Opcode::kSlice, Shape::Array(type_, sizes), {factor},
                           Attributes().Set(Attr::kSlice, AttrValue(std::move(corner))));
      last = ops_.Reshape(last, results[2].dimensions());
      info = ops_.Select(ops_.Compare(Direction::kNe, last, last), ops_.Splat(results[2], 1), none);
    }
    return ops_.Tuple({factor, ops_.Splat(results[1], 0), info});
  }

 private:
  ElementType SumType() const {
    const ElementType type = at_->operand(0)->shape().element_type();
    if (type == ElementType::kS8) return ElementType::kS32;
    return IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
  }
  void LeaveIntegers() {
    if (sum_->shape().element_type() == ElementType::kS32)
      sum_ = ops_.InType(sum_, ElementType::kF32);
  }
  Instruction* Alpha() {
    const GemmConfig& gemm = call_.gemm;
    if (gemm.alpha_imag == 0) return ops_.Splat(sum_->shape(), gemm.alpha_real);
    const Shape part = WithType(sum_->shape(), ComponentType(sum_->shape().element_type()));
    return ops_.into()->Add(Opcode::kComplex, WithType(sum_->shape(), sum_->shape().element_type()),
                            {ops_.Splat(part, gemm.alpha_real), ops_.Splat(part, gemm.alpha_imag)});
  }
  void AddOperand(double factor) {
    if (call_.addend < 0) return;
    Instruction* more = ops_.InType(at_->operand(call_.addend), sum_->shape().element_type());
    if (factor != 1) more = ops_.Binary(Opcode::kMultiply, more, ops_.Splat(more->shape(), factor));
    sum_ = ops_.Binary(Opcode::kAdd, sum_, more);
  }
  void AddBias(absl::Span<const int64_t> dims) {
    Instruction* bias = ops_.InType(at_->operand(call_.bias), sum_->shape().element_type());
    sum_ = ops_.Binary(Opcode::kAdd, sum_, ops_.Spread(bias, sum_->shape(), dims));
  }
  void Activate(LibraryActivation activation, double leaky_alpha);

  Instruction* PlainConvolution() {
    const auto [input, filter, output] = ConvShapesOf(call_.routine, *at_, *call_.result);
    const Shape sums = WithType(*call_.result, SumType());
    Instruction *lhs = at_->operand(0), *rhs = at_->operand(1);
    if (lhs->shape().ElementCount() == 0 || rhs->shape().ElementCount() == 0)
      return ops_.Splat(sums, 0);
    const ConvForm forward = ConvForm::Of(at_->attributes());
    SpatialSizes sizes;
    for (int64_t d : forward.labels.input_spatial) sizes.input.push_back(input->dimension(d));
    for (int64_t d : forward.labels.output_spatial) sizes.output.push_back(output->dimension(d));
    ConvForm form = forward;
    if (call_.routine == kConvBackwardInput) {
      form = InputGradient(forward, sizes);
      rhs = SwapFeatures(rhs, forward.labels.kernel_output_feature,
                         forward.labels.kernel_input_feature, forward.feature_groups);
    }
    if (call_.routine == kConvBackwardFilter) form = FilterGradient(forward, sizes);
    return ops_.into()->Add(Opcode::kConvolution, sums, {lhs, rhs}, form.ToAttributes());
  }

  Instruction* Along(Instruction* features) {
    return ops_.Spread(features, at_->operand(0)->shape(), {call_.feature_index});
  }
  Instruction* Mean(Instruction* value) {
    Instruction* sum = ops_.SumToFeature(value, call_.feature_index);
    const int64_t features = sum->shape().ElementCount();
    const int64_t count = features == 0 ? 0 : value->shape().ElementCount() / features;
    return ops_.Binary(Opcode::kDivide, sum, ops_.Splat(sum->shape(), static_cast<double>(count)));
  }
  Instruction* NormGradient() {
    Instruction *x = at_->operand(0), *inverse = at_->operand(3), *gradient = at_->operand(4);
    Instruction* unit =
        ops_.Binary(Opcode::kMultiply, ops_.Binary(Opcode::kSubtract, x, Along(at_->operand(2))),
                    Along(inverse));
    Instruction* products = ops_.Binary(Opcode::kMultiply, gradient, unit);
    Instruction* rest = ops_.Binary(Opcode::kSubtract, gradient, Along(Mean(gradient)));
    rest = ops_.Binary(Opcode::kSubtract, rest,
                       ops_.Binary(Opcode::kMultiply, unit, Along(Mean(products))));
    Instruction* factor = Along(ops_.Binary(Opcode::kMultiply, at_->operand(1), inverse));
    return ops_.Tuple({ops_.Binary(Opcode::kMultiply, factor, rest),
                       ops_.SumToFeature(products, call_.feature_index),
                       ops_.SumToFeature(gradient, call_.feature_index)});
  }
  Instruction* WithWorkspace(Instruction* result) {
    if (!at_->shape().IsTuple()) return result;
    std::vector<Instruction*> elements = {result};
    for (size_t k = 1; k < at_->shape().elements().size(); ++k)
      elements.push_back(ops_.Splat(at_->shape().elements()[k], 0));
    return ops_.Tuple(elements);
  }

  Instruction* at_;
  const LibraryCall& call_;
  OpWriter ops_;
  ElementType type_;
  Instruction* sum_ = nullptr;
};

void Inlining::Activate(LibraryActivation activation, double leaky_alpha) {
  if (activation == LibraryActivation::kNone) return;
  const auto number = [&](double value) { return ops_.Splat(sum_->shape(), value); };
  const auto positive = [&](Instruction* other) {
    return ops_.Select(ops_.Compare(Direction::kGt, sum_, number(0)), sum_, other);
  };
  switch (activation) {
    case LibraryActivation::kNone:
      break;
    case LibraryActivation::kSigmoid:
      sum_ = ops_.Unary(Opcode::kLogistic, sum_);
      break;
    case LibraryActivation::kTanh:
      sum_ = ops_.Unary(Opcode::kTanh, sum_);
      break;
    case LibraryActivation::kRelu:
    case LibraryActivation::kRelu6:
      sum_ = ops_.Binary(Opcode::kMaximum, sum_, number(0));
      if (activation == LibraryActivation::kRelu6)
        sum_ = ops_.Binary(Opcode::kMinimum, sum_, number(6));
      break;
    case LibraryActivation::kElu:
      sum_ = positive(ops_.Unary(Opcode::kExponentialMinusOne, sum_));
      break;
    case LibraryActivation::kLeakyRelu:
      sum_ = positive(ops_.Binary(Opcode::kMultiply, sum_, number(leaky_alpha)));
      break;
    case LibraryActivation::kGelu: {
      constexpr double kCubic = 0.044715, kRootOfTwoOverPi = 0.79788456080286541;
      Instruction* cube =
          ops_.Binary(Opcode::kMultiply, ops_.Binary(Opcode::kMultiply, sum_, sum_), sum_);
      Instruction* inner =
          ops_.Binary(Opcode::kAdd, sum_, ops_.Binary(Opcode::kMultiply, cube, number(kCubic)));
      Instruction* bent = ops_.Unary(
          Opcode::kTanh, ops_.Binary(Opcode::kMultiply, inner, number(kRootOfTwoOverPi)));
      sum_ = ops_.Binary(Opcode::kMultiply, ops_.Binary(Opcode::kMultiply, sum_, number(0.5)),
                         ops_.Binary(Opcode::kAdd, bent, number(1)));
      break;
    }
  }
}

}  // namespace

Instruction* InlineLibraryCall(Instruction* at, const LibraryCall& call) {
  Inlining inlining(at, call);
  if (call.routine <= kGemmLt) return inlining.Gemm();
  if (IsConvolution(call.routine)) return inlining.Convolution();
  return call.routine == kCholesky ? inlining.Cholesky() : inlining.Norm();
}

absl::StatusOr<bool> LibraryCallInliner::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kCustomCall})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsLibraryCall(*inst)) continue;
      const absl::StatusOr<LibraryCall> call = ReadLibraryCall(*inst);
      if (!call.ok()) continue;  // what has no meaning has no code, as the target then says
      const GpuFacts* gpu = context.options.gpu;
      const bool is_taken = gpu == nullptr || gpu->takes == nullptr || gpu->takes(*inst);
      if (context.options.libraries && is_taken &&
          context.gates.Allow(DecisionKind::kLibrary, "call-library", inst))
        continue;
      Rewrite rewrite(context.gates, "inline-library-call", inst, /*required=*/true);
      changed |= rewrite.Replace(InlineLibraryCall(inst, *call));
    }
  }
  return changed;
}

}  // namespace assay
