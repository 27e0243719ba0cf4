// Contractions, computations over elements, random numbers, calls and control flow.
#include <algorithm>
#include <limits>

#include "spec/base/status_macros.h"
#include "spec/builder/builder_internal.h"
#include "spec/ops/op_table.h"
#include "spec/verifier/broadcasting.h"

namespace assay {
namespace {

absl::StatusOr<int64_t> WordOf(Attr attr, std::string_view word) {
  const std::optional<int64_t> index = WordIndex(attr, word);
  if (index.has_value()) return *index;
  return absl::InvalidArgumentError(StrCat("'", word, "' is no ", Info(attr).name));
}

Attributes Normalisation(float epsilon, int64_t feature_index) {
  return Attributes()
      .Set(Attr::kEpsilon, AttrValue(static_cast<double>(epsilon)))
      .Set(Attr::kFeatureIndex, AttrValue(feature_index));
}

absl::Status CheckEntries(std::string_view what, size_t entries, size_t wanted) {
  if (entries == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, " has ", entries, " entries, want ", wanted));
}

// Sizes with `dilation - 1` holes between neighbours; no dilations: ones.
absl::StatusOr<Int64List> Dilated(std::string_view what, absl::Span<const int64_t> sizes,
                                  absl::Span<const int64_t> dilations) {
  Int64List dilated(sizes.begin(), sizes.end());
  if (dilations.empty()) return dilated;
  ASSAY_RETURN_IF_ERROR(CheckEntries(what, dilations.size(), sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t between = 0;
    if (dilations[i] < 1 || __builtin_mul_overflow(sizes[i] - 1, dilations[i], &between) ||
        between > std::numeric_limits<int64_t>::max() / 4) {
      return absl::InvalidArgumentError(
          StrCat(what, " has ", dilations[i], " for size ", sizes[i], ", want at least 1"));
    }
    if (sizes[i] > 0) dilated[i] = between + 1;
  }
  return dilated;
}

std::vector<XlaOp> Joined(absl::Span<const XlaOp> first, absl::Span<const XlaOp> second) {
  std::vector<XlaOp> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

}  // namespace

// ---- contractions ----

XlaOp XlaBuilder::Dot(XlaOp lhs, XlaOp rhs) {
  return Record("dot", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({lhs, rhs}));
    for (size_t i = 0; i < 2; ++i) {
      const Shape& shape = operands[i]->shape();
      if (shape.IsArray() && (shape.rank() == 1 || shape.rank() == 2)) continue;
      return absl::InvalidArgumentError(
          StrCat("operand ", i, " (", shape.ToString(), ") is no vector or matrix"));
    }
    return AddOp(Opcode::kDot, operands,
                 Attributes()
                     .Set(Attr::kLhsContractingDims, {operands[0]->shape().rank() - 1})
                     .Set(Attr::kRhsContractingDims, {0}));
  });
}

XlaOp XlaBuilder::DotGeneral(XlaOp lhs, XlaOp rhs, List lhs_contracting, List rhs_contracting,
                             List lhs_batch, List rhs_batch) {
  Attributes attributes;
  attributes.Set(Attr::kLhsContractingDims, lhs_contracting);
  attributes.Set(Attr::kRhsContractingDims, rhs_contracting);
  if (!lhs_batch.empty()) attributes.Set(Attr::kLhsBatchDims, lhs_batch);
  if (!rhs_batch.empty()) attributes.Set(Attr::kRhsBatchDims, rhs_batch);
  return Simple(Opcode::kDot, {lhs, rhs}, std::move(attributes));
}

absl::StatusOr<std::vector<WindowDim>> XlaBuilder::MakeWindow(List operand_sizes, List sizes,
                                                              List strides, Padding padding) const {
  ASSAY_RETURN_IF_ERROR(CheckEntries("window_dimensions", sizes.size(), operand_sizes.size()));
  if (!strides.empty()) {
    ASSAY_RETURN_IF_ERROR(CheckEntries("window_strides", strides.size(), sizes.size()));
  }
  std::vector<WindowDim> window(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    WindowDim& dim = window[i];
    dim.size = sizes[i];
    dim.stride = strides.empty() ? 1 : strides[i];
    if (dim.size < 1 || dim.stride < 1) {
      return absl::InvalidArgumentError(StrCat("window dimension ", i, " has size ", dim.size,
                                               " and stride ", dim.stride, ", want at least 1"));
    }
    if (padding == Padding::kValid) continue;
    const int64_t count = (operand_sizes[i] + dim.stride - 1) / dim.stride;
    const int64_t total =
        std::max<int64_t>((count - 1) * dim.stride + dim.size - operand_sizes[i], 0);
    dim.low = total / 2;
    dim.high = total - dim.low;
  }
  return window;
}

// Batch, feature, then the spatial dimensions in order; of the kernel output and input feature.
static ConvDimLabels DefaultLabels(int64_t spatial_rank) {
  ConvDimLabels labels{.input_batch = 0,
                       .input_feature = 1,
                       .kernel_input_feature = 1,
                       .kernel_output_feature = 0,
                       .output_batch = 0,
                       .output_feature = 1};
  for (int64_t d = 0; d < spatial_rank; ++d) labels.input_spatial.push_back(2 + d);
  labels.kernel_spatial = labels.output_spatial = labels.input_spatial;
  return labels;
}

XlaOp XlaBuilder::Conv(XlaOp lhs, XlaOp rhs, List window_strides, Padding padding) {
  return Record("convolution", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({lhs, rhs}));
    const Shape &input = operands[0]->shape(), &kernel = operands[1]->shape();
    for (const Shape* shape : {&input, &kernel}) {
      if (shape->IsArray() && shape->rank() >= 2) continue;
      return absl::InvalidArgumentError(
          StrCat(shape->ToString(), " has no batch and feature dimension"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                           MakeWindow(input.dimensions().subspan(2), kernel.dimensions().subspan(2),
                                      window_strides, padding));
    const ConvDimLabels labels = DefaultLabels(input.rank() - 2);
    return AddOp(Opcode::kConvolution, operands,
                 Attributes()
                     .Set(Attr::kWindow, AttrValue(window))
                     .Set(Attr::kDimLabels, AttrValue(labels)));
  });
}

XlaOp XlaBuilder::ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, List window_strides,
                                         const std::vector<std::pair<int64_t, int64_t>>& padding,
                                         List lhs_dilation, List rhs_dilation,
                                         int64_t feature_group_count, int64_t batch_group_count) {
  const ConvDimLabels labels = DefaultLabels(static_cast<int64_t>(padding.size()));
  const auto list = [](List values) { return Int64List(values.begin(), values.end()); };
  return ConvGeneralDilated(lhs, rhs, labels,
                            {.strides = list(window_strides),
                             .padding = padding,
                             .lhs_dilation = list(lhs_dilation),
                             .rhs_dilation = list(rhs_dilation),
                             .feature_group_count = feature_group_count,
                             .batch_group_count = batch_group_count});
}

XlaOp XlaBuilder::ConvGeneralDilated(XlaOp lhs, XlaOp rhs, const ConvDimLabels& dimension_numbers,
                                     const ConvOptions& options) {
  return Record("convolution", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({lhs, rhs}));
    const Shape& kernel = operands[1]->shape();
    const Int64List& spatial = dimension_numbers.kernel_spatial;
    std::vector<WindowDim> window(spatial.size());
    auto fill = [&](std::string_view what, const auto& list, auto store) -> absl::Status {
      if (list.empty()) return absl::OkStatus();
      ASSAY_RETURN_IF_ERROR(CheckEntries(what, list.size(), spatial.size()));
      for (size_t i = 0; i < list.size(); ++i) store(window[i], list[i]);
      return absl::OkStatus();
    };
    ASSAY_RETURN_IF_ERROR(fill("window_strides", options.strides,
                               [](WindowDim& dim, int64_t value) { dim.stride = value; }));
    ASSAY_RETURN_IF_ERROR(fill("padding", options.padding, [](WindowDim& dim, const auto& value) {
      dim.low = value.first;
      dim.high = value.second;
    }));
    ASSAY_RETURN_IF_ERROR(fill("lhs_dilation", options.lhs_dilation,
                               [](WindowDim& dim, int64_t value) { dim.base_dilation = value; }));
    ASSAY_RETURN_IF_ERROR(fill("rhs_dilation", options.rhs_dilation,
                               [](WindowDim& dim, int64_t value) { dim.window_dilation = value; }));
    for (size_t i = 0; i < spatial.size(); ++i) {
      if (spatial[i] < 0 || spatial[i] >= kernel.rank()) {
        return absl::InvalidArgumentError(
            StrCat("kernel spatial dimension ", spatial[i], " is not in ", kernel.ToString()));
      }
      window[i].size = kernel.dimension(spatial[i]);
    }
    Attributes attributes;
    attributes.Set(Attr::kWindow, AttrValue(window));
    attributes.Set(Attr::kDimLabels, AttrValue(dimension_numbers));
    if (options.feature_group_count != 1) {
      attributes.Set(Attr::kFeatureGroupCount, AttrValue(options.feature_group_count));
    }
    if (options.batch_group_count != 1) {
      attributes.Set(Attr::kBatchGroupCount, AttrValue(options.batch_group_count));
    }
    return AddOp(Opcode::kConvolution, operands, std::move(attributes));
  });
}

XlaOp XlaBuilder::Fft(XlaOp operand, std::string_view fft_type, List fft_length) {
  return Record("fft", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    ASSAY_ASSIGN_OR_RETURN(const int64_t type, WordOf(Attr::kFftType, fft_type));
    return AddOp(
        Opcode::kFft, operands,
        Attributes().Set(Attr::kFftType, AttrValue(type)).Set(Attr::kFftLength, fft_length));
  });
}

XlaOp XlaBuilder::Cholesky(XlaOp a, bool lower) {
  Attributes attributes;
  if (lower) attributes.Set(Attr::kLower, AttrValue(true));
  return Simple(Opcode::kCholesky, {a}, std::move(attributes));
}

XlaOp XlaBuilder::TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                                  std::string_view transpose_a) {
  return Record("triangular-solve", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({a, b}));
    ASSAY_ASSIGN_OR_RETURN(const int64_t transpose, WordOf(Attr::kTransposeA, transpose_a));
    Attributes attributes;
    if (left_side) attributes.Set(Attr::kLeftSide, AttrValue(true));
    if (lower) attributes.Set(Attr::kLower, AttrValue(true));
    if (unit_diagonal) attributes.Set(Attr::kUnitDiagonal, AttrValue(true));
    if (transpose != 0) attributes.Set(Attr::kTransposeA, AttrValue(transpose));
    return AddOp(Opcode::kTriangularSolve, operands, std::move(attributes));
  });
}

// ---- computations over elements ----

XlaOp XlaBuilder::Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                         List dimensions) {
  return Reduce(Ops({operand}), Ops({init_value}), computation, dimensions);
}

XlaOp XlaBuilder::Reduce(Ops operands, Ops init_values, const XlaComputation& computation,
                         List dimensions) {
  return Simple(Opcode::kReduce, Joined(operands, init_values),
                Attributes().Set(Attr::kDimensions, dimensions), {&computation});
}

XlaOp XlaBuilder::ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                               List window_dimensions, List window_strides, Padding padding,
                               List base_dilations, List window_dilations) {
  return ReduceWindow(Ops({operand}), Ops({init_value}), computation, window_dimensions,
                      window_strides, padding, base_dilations, window_dilations);
}

XlaOp XlaBuilder::ReduceWindow(Ops operands, Ops init_values, const XlaComputation& computation,
                               List window_dimensions, List window_strides, Padding padding,
                               List base_dilations, List window_dilations) {
  return Record("reduce-window", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector resolved, Resolve(Joined(operands, init_values)));
    if (resolved.empty()) return absl::InvalidArgumentError("there are no operands");
    // kSame pads what the dilated window needs over the dilated base.
    ASSAY_ASSIGN_OR_RETURN(
        const Int64List base,
        Dilated("base_dilations", resolved[0]->shape().dimensions(), base_dilations));
    ASSAY_ASSIGN_OR_RETURN(const Int64List extents,
                           Dilated("window_dilations", window_dimensions, window_dilations));
    ASSAY_ASSIGN_OR_RETURN(std::vector<WindowDim> window,
                           MakeWindow(base, extents, window_strides, padding));
    for (size_t i = 0; i < window.size(); ++i) {
      window[i].size = window_dimensions[i];
      if (!base_dilations.empty()) window[i].base_dilation = base_dilations[i];
      if (!window_dilations.empty()) window[i].window_dilation = window_dilations[i];
    }
    ASSAY_ASSIGN_OR_RETURN(Computation * callee, Import(computation));
    return AddOp(Opcode::kReduceWindow, resolved,
                 Attributes().Set(Attr::kWindow, AttrValue(window)), {&callee, 1});
  });
}

XlaOp XlaBuilder::SelectAndScatter(XlaOp operand, const XlaComputation& select,
                                   List window_dimensions, List window_strides, Padding padding,
                                   XlaOp source, XlaOp init_value, const XlaComputation& scatter) {
  return Record("select-and-scatter", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand, source, init_value}));
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<WindowDim> window,
        MakeWindow(operands[0]->shape().dimensions(), window_dimensions, window_strides, padding));
    Computation* callees[2];
    ASSAY_ASSIGN_OR_RETURN(callees[0], Import(select));
    ASSAY_ASSIGN_OR_RETURN(callees[1], Import(scatter));
    return AddOp(Opcode::kSelectAndScatter, operands,
                 Attributes().Set(Attr::kWindow, AttrValue(window)), callees);
  });
}

XlaOp XlaBuilder::Sort(Ops operands, const XlaComputation& comparator, int64_t dimension,
                       bool is_stable) {
  return Record("sort", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector resolved, Resolve(operands));
    ASSAY_ASSIGN_OR_RETURN(Computation * callee, Import(comparator));
    int64_t along = dimension;
    if (along == -1 && !resolved.empty()) along = resolved[0]->shape().rank() - 1;
    Attributes attributes;
    attributes.Set(Attr::kDimension, {along});
    if (is_stable) attributes.Set(Attr::kIsStable, AttrValue(true));
    return AddOp(Opcode::kSort, resolved, std::move(attributes), {&callee, 1});
  });
}

XlaOp XlaBuilder::Sort(XlaOp operand) {
  return Record("sort", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& shape = operands[0]->shape();
    if (!shape.IsArray() || shape.rank() == 0) {
      return absl::InvalidArgumentError(
          StrCat("operand 0 (", shape.ToString(), ") has no last dimension"));
    }
    Attributes less;
    less.Set(Attr::kDirection, Direction::kLt);
    // NaNs need a place: the total order gives them one.
    if (IsFloat(shape.element_type())) less.Set(Attr::kCompareType, CompareType::kTotalOrder);
    Computation* comparator = ScalarBinary(Opcode::kCompare, shape.element_type(), less);
    return AddOp(Opcode::kSort, operands, Attributes().Set(Attr::kDimension, {shape.rank() - 1}),
                 {&comparator, 1});
  });
}

XlaOp XlaBuilder::TopK(XlaOp operand, int64_t k, bool largest) {
  return Simple(Opcode::kTopK, {operand},
                Attributes()
                    .Set(Attr::kK, AttrValue(k))
                    .Set(Attr::kLargest, AttrValue(largest))
                    .Set(Attr::kIsStable, AttrValue(true)));
}

XlaOp XlaBuilder::BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                                    int64_t feature_index) {
  return Simple(Opcode::kBatchNormTraining, {operand, scale, offset},
                Normalisation(epsilon, feature_index));
}

XlaOp XlaBuilder::BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean,
                                     XlaOp variance, float epsilon, int64_t feature_index) {
  return Simple(Opcode::kBatchNormInference, {operand, scale, offset, mean, variance},
                Normalisation(epsilon, feature_index));
}

XlaOp XlaBuilder::BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp mean, XlaOp variance,
                                XlaOp grad_output, float epsilon, int64_t feature_index) {
  return Simple(Opcode::kBatchNormGrad, {operand, scale, mean, variance, grad_output},
                Normalisation(epsilon, feature_index));
}

// ---- random numbers ----

XlaOp XlaBuilder::RngUniform(XlaOp a, XlaOp b, const Shape& shape) {
  return Simple(Opcode::kRng, {a, b},
                Attributes().Set(Attr::kDistribution, RngDistribution::kUniform), {}, &shape);
}

XlaOp XlaBuilder::RngNormal(XlaOp mean, XlaOp sigma, const Shape& shape) {
  return Simple(Opcode::kRng, {mean, sigma},
                Attributes().Set(Attr::kDistribution, RngDistribution::kNormal), {}, &shape);
}

// 1 where a uniform draw of [0, 1) is below the mean: a mean of NaN gives zeros.
XlaOp XlaBuilder::RngBernoulli(XlaOp mean, const Shape& shape) {
  const absl::StatusOr<Shape> type = GetShape(mean);
  const bool scalar = type.ok() && *type == Shape::Scalar(ElementType::kF32);
  if (!scalar || !shape.IsArray() || shape.element_type() != ElementType::kU32) {
    return Record("rng-bernoulli", [&]() -> Result {
      ASSAY_RETURN_IF_ERROR(Resolve({mean}).status());
      return absl::InvalidArgumentError(StrCat("the mean is ", type->ToString(), ", the result ",
                                               shape.ToString(),
                                               ": want a mean f32[] and an array of u32"));
    });
  }
  Literal one(Shape::Scalar(ElementType::kF32));
  one.SetDouble(0, 1);
  const XlaOp zero = ConstantLiteral(Literal(Shape::Scalar(ElementType::kF32)));
  const XlaOp upper = ConstantLiteral(one);
  Shape draws = shape;
  draws.set_element_type(ElementType::kF32);
  const XlaOp draw = RngUniform(zero, upper, draws);
  const XlaOp threshold = BroadcastInDim(mean, shape.dimensions(), {});
  return ConvertElementType(Lt(draw, threshold), ElementType::kU32);
}

XlaOp XlaBuilder::RngBitGenerator(std::string_view algorithm, XlaOp initial_state,
                                  const Shape& shape) {
  return Record("rng-bit-generator", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({initial_state}));
    ASSAY_ASSIGN_OR_RETURN(const int64_t word, WordOf(Attr::kRngAlgorithm, algorithm));
    const Shape written = Shape::Tuple({operands[0]->shape(), shape});
    return AddOp(Opcode::kRngBitGenerator, operands,
                 Attributes().Set(Attr::kRngAlgorithm, AttrValue(word)), {}, &written);
  });
}

// ---- calls and control flow ----

XlaOp XlaBuilder::Call(const XlaComputation& computation, Ops operands) {
  return Simple(Opcode::kCall, operands, {}, {&computation});
}

XlaOp XlaBuilder::CompositeCall(const XlaComputation& computation, Ops operands,
                                const std::string& name, std::optional<std::string> attributes,
                                int64_t version) {
  if (name.empty() || version < 0) {
    return Record("call", [&]() -> Result {
      return absl::InvalidArgumentError(StrCat("composite '", name, "' of version ", version,
                                               ": want a name and a version that is not negative"));
    });
  }
  StringMap map;
  if (attributes.has_value()) map.emplace_back("composite.attributes", *attributes);
  map.emplace_back("composite.name", name);
  map.emplace_back("composite.version", StrCat(version));
  return Simple(Opcode::kCall, operands,
                Attributes()
                    .Set(Attr::kIsComposite, AttrValue(true))
                    .Set(Attr::kFrontendAttributes, AttrValue(map)),
                {&computation});
}

XlaOp XlaBuilder::While(const XlaComputation& condition, const XlaComputation& body, XlaOp init) {
  return Simple(Opcode::kWhile, {init}, {}, {&condition, &body});
}

XlaOp XlaBuilder::Conditional(XlaOp predicate, XlaOp true_operand,
                              const XlaComputation& true_computation, XlaOp false_operand,
                              const XlaComputation& false_computation) {
  return Simple(Opcode::kConditional, {predicate, true_operand, false_operand}, {},
                {&true_computation, &false_computation});
}

XlaOp XlaBuilder::Conditional(XlaOp branch_index,
                              absl::Span<const XlaComputation> branch_computations,
                              Ops branch_operands) {
  std::vector<const XlaComputation*> branches;
  for (const XlaComputation& branch : branch_computations) branches.push_back(&branch);
  return Simple(Opcode::kConditional, Joined({branch_index}, branch_operands), {},
                std::move(branches));
}

XlaOp XlaBuilder::CustomCall(const std::string& call_target_name, Ops operands, const Shape& shape,
                             const std::string& opaque, bool has_side_effect) {
  return Record("custom-call", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector resolved, Resolve(operands));
    if (call_target_name.empty()) return absl::InvalidArgumentError("the target has no name");
    Attributes attributes;
    attributes.Set(Attr::kCustomCallTarget, AttrValue(call_target_name));
    if (has_side_effect) attributes.Set(Attr::kCustomCallHasSideEffect, AttrValue(true));
    if (!opaque.empty()) attributes.Set(Attr::kBackendConfig, AttrValue(opaque));
    // The shape is the caller's alone: no rule could infer it.
    if (!assay::Info(Opcode::kCustomCall).IsDefined()) {
      return entry_->Add(Opcode::kCustomCall, shape, resolved, std::move(attributes));
    }
    return AddOp(Opcode::kCustomCall, resolved, std::move(attributes), {}, &shape);
  });
}

}  // namespace assay
