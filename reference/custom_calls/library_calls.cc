// One function per family of routines writes the computation down.
#include "reference/custom_calls/library_calls.h"

#include <limits>
#include <utility>
#include <vector>

#include "spec/base/status_macros.h"
#include "spec/library/library_call.h"

namespace assay::reference {
namespace {

using enum LibraryRoutine;

// Adds ops to the computation of one call, whose parameters are the operands.
class CallBody {
 public:
  explicit CallBody(Computation* into) : into_(into) {}

  Instruction* Operand(int64_t i) const { return into_->parameter(i); }
  Instruction* Add(Opcode opcode, const Shape& shape, std::initializer_list<Instruction*> operands,
                   Attributes attributes = {}) {
    return into_->Add(opcode, shape, operands, std::move(attributes));
  }
  Instruction* Number(const Shape& shape, double value) {
    Literal scalar(Shape::Scalar(shape.element_type()));
    scalar.SetDouble(0, value);
    return Splat(shape, into_->AddConstant(std::move(scalar)));
  }
  Instruction* Complex(const Shape& shape, double real, double imaginary) {
    const ElementType part = ComponentType(shape.element_type());
    return Splat(shape,
                 Add(Opcode::kComplex, Shape::Scalar(shape.element_type()),
                     {Number(Shape::Scalar(part), real), Number(Shape::Scalar(part), imaginary)}));
  }
  Instruction* Splat(const Shape& shape, Instruction* scalar) {
    return shape.rank() == 0 ? scalar : Spread(shape, scalar, {});
  }
  // Dimension i of `values` is dimension dims[i] of the result.
  Instruction* Spread(const Shape& shape, Instruction* values, Int64List dims) {
    Attributes attributes;
    attributes.Set(Attr::kDimensions, absl::MakeConstSpan(dims));
    return Add(Opcode::kBroadcast, Shape::Array(values->shape().element_type(), shape.dimensions()),
               {values}, std::move(attributes));
  }
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y) {
    return Add(opcode, x->shape(), {x, y});
  }
  Instruction* Unary(Opcode opcode, Instruction* value) {
    return Add(opcode, value->shape(), {value});
  }
  Instruction* Times(Instruction* value, double factor) {
    return factor == 1 ? value : Binary(Opcode::kMultiply, value, Number(value->shape(), factor));
  }
  Instruction* InType(Instruction* value, ElementType type) {
    if (value->shape().element_type() == type) return value;
    return Add(Opcode::kConvert, Shape::Array(type, value->shape().dimensions()), {value});
  }
  Instruction* Compare(Instruction* x, Instruction* y, Direction direction) {
    return Add(Opcode::kCompare, Shape::Array(ElementType::kPred, x->shape().dimensions()), {x, y},
               Attributes().Set(Attr::kDirection, direction));
  }
  Instruction* Select(Instruction* which, Instruction* x, Instruction* y) {
    return Add(Opcode::kSelect, x->shape(), {which, x, y});
  }
  Instruction* Unspecified(const Shape& shape) {
    return Add(Opcode::kCustomCall, shape, {},
               Attributes().Set(Attr::kCustomCallTarget, std::string(kUnspecifiedTarget)));
  }
  Instruction* Sum(Instruction* value, int64_t kept) {
    if (sum_ == nullptr) sum_ = AddSum();
    Int64List dims;
    for (int64_t d = 0; d < value->shape().rank(); ++d)
      if (d != kept) dims.push_back(d);
    const Shape shape =
        Shape::Array(value->shape().element_type(), {value->shape().dimension(kept)});
    Instruction* zero = Number(Shape::Scalar(ElementType::kF32), 0);
    Attributes attributes;
    attributes.Set(Attr::kDimensions, absl::MakeConstSpan(dims));
    Computation* const callees[] = {sum_};
    return into_->Add(Opcode::kReduce, shape, {value, zero}, std::move(attributes), callees);
  }
  Instruction* Activation(Instruction* value, LibraryActivation activation, double leaky_alpha);
  // `shape` is the call's: an array, or a tuple of it and a workspace.
  void Finish(const Shape& shape, Instruction* result) {
    if (!shape.IsTuple()) return into_->set_root(result);
    std::vector<Instruction*> elements = {result};
    for (size_t k = 1; k < shape.elements().size(); ++k)
      elements.push_back(Unspecified(shape.elements()[k]));
    FinishTuple(elements);
  }
  void FinishTuple(const std::vector<Instruction*>& elements) {
    std::vector<Shape> shapes;
    for (const Instruction* element : elements) shapes.push_back(element->shape());
    into_->set_root(into_->Add(Opcode::kTuple, Shape::Tuple(shapes), elements));
  }

 private:
  Computation* AddSum() {
    Computation* sum = into_->parent()->AddComputation("sum");
    Instruction* x = sum->AddParameter(0, Shape::Scalar(ElementType::kF32));
    Instruction* y = sum->AddParameter(1, Shape::Scalar(ElementType::kF32));
    sum->IndexParameters();
    sum->set_root(sum->Add(Opcode::kAdd, x->shape(), {x, y}));
    return sum;
  }

  Computation* into_;
  Computation* sum_ = nullptr;
};

Instruction* CallBody::Activation(Instruction* value, LibraryActivation activation,
                                  double leaky_alpha) {
  Instruction* zero = activation == LibraryActivation::kNone ? nullptr : Number(value->shape(), 0);
  switch (activation) {
    case LibraryActivation::kNone:
      return value;
    case LibraryActivation::kSigmoid:
      return Unary(Opcode::kLogistic, value);
    case LibraryActivation::kRelu:
      return Binary(Opcode::kMaximum, value, zero);
    case LibraryActivation::kRelu6:
      return Binary(Opcode::kMinimum, Binary(Opcode::kMaximum, value, zero),
                    Number(value->shape(), 6));
    case LibraryActivation::kTanh:
      return Unary(Opcode::kTanh, value);
    case LibraryActivation::kElu:
      return Select(Compare(value, zero, Direction::kGt), value,
                    Unary(Opcode::kExponentialMinusOne, value));
    case LibraryActivation::kLeakyRelu:
      return Select(Compare(value, zero, Direction::kGt), value, Times(value, leaky_alpha));
    case LibraryActivation::kGelu: {
      Instruction* cube = Binary(Opcode::kMultiply, Binary(Opcode::kMultiply, value, value), value);
      Instruction* inner = Binary(Opcode::kAdd, value, Times(cube, 0.044715));
      Instruction* tanh = Unary(Opcode::kTanh, Times(inner, 0.79788456080286541));
      Instruction* factor = Binary(Opcode::kAdd, tanh, Number(value->shape(), 1));
      return Binary(Opcode::kMultiply, Times(value, 0.5), factor);
    }
  }
  return value;
}

// The type of sums of products of elements of `type`.
ElementType SumType(ElementType type) {
  if (type == ElementType::kS8) return ElementType::kS32;
  return IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
}

void WriteGemm(const Instruction& at, const LibraryCall& call, CallBody& body) {
  const GemmConfig& gemm = call.gemm;
  Attributes attributes;
  attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(gemm.lhs_batch))
      .Set(Attr::kRhsBatchDims, absl::MakeConstSpan(gemm.rhs_batch))
      .Set(Attr::kLhsContractingDims, absl::MakeConstSpan(gemm.lhs_contracting))
      .Set(Attr::kRhsContractingDims, absl::MakeConstSpan(gemm.rhs_contracting));
  if (!gemm.precision_algorithm.empty())
    attributes.Set(Attr::kAlgorithm,
                   AttrValue(*WordIndex(Attr::kAlgorithm, gemm.precision_algorithm)));
  const ElementType type = call.result->element_type();
  const Shape sums =
      Shape::Array(SumType(at.operand(0)->shape().element_type()), call.result->dimensions());
  Instruction* sum =
      body.Add(Opcode::kDot, sums, {body.Operand(0), body.Operand(1)}, std::move(attributes));
  const bool is_plain = gemm.alpha_real == 1 && gemm.alpha_imag == 0 && call.addend < 0 &&
                        call.bias < 0 && gemm.activation == LibraryActivation::kNone;
  if (is_plain) return body.Finish(at.shape(), body.InType(sum, type));
  if (sums.element_type() == ElementType::kS32) sum = body.InType(sum, ElementType::kF32);
  if (gemm.alpha_imag != 0) {
    Instruction* alpha = body.Complex(sum->shape(), gemm.alpha_real, gemm.alpha_imag);
    sum = body.Binary(Opcode::kMultiply, sum, alpha);
  } else {
    sum = body.Times(sum, gemm.alpha_real);
  }
  const ElementType wide = sum->shape().element_type();
  if (call.addend >= 0) {
    Instruction* addend = body.InType(body.Operand(call.addend), wide);
    sum = body.Binary(Opcode::kAdd, sum, body.Times(addend, gemm.beta));
  }
  if (call.bias >= 0) {
    Instruction* bias = body.InType(body.Operand(call.bias), wide);
    Int64List dims;
    for (int64_t d = sum->shape().rank() - bias->shape().rank(); d < sum->shape().rank(); ++d)
      dims.push_back(d);
    sum = body.Binary(Opcode::kAdd, sum, body.Spread(sum->shape(), bias, dims));
  }
  sum = body.Activation(sum, gemm.activation, 0);
  body.Finish(at.shape(), body.InType(sum, type));
}

// The filter of grouped convolutions for gradients of their input: input features take the place of
// output features, group by group.
Instruction* SwapFeatures(CallBody& body, Instruction* filter, const ConvDimLabels& labels,
                          int64_t groups) {
  if (groups == 1) return filter;
  const Shape& shape = filter->shape();
  const int64_t in = labels.kernel_input_feature, out = labels.kernel_output_feature;
  DimVector split, merged;
  Int64List order;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const auto place = [out](int64_t dim) { return dim > out ? dim + 1 : dim; };
    if (d == out) split.push_back(groups);
    split.push_back(d == out ? shape.dimension(d) / groups : shape.dimension(d));
    if (d == in) order.push_back(out);
    order.push_back(d == out ? out + 1 : place(d));
    merged.push_back(d == in    ? shape.dimension(d) * groups
                     : d == out ? shape.dimension(d) / groups
                                : shape.dimension(d));
  }
  const ElementType type = shape.element_type();
  Instruction* apart = body.Add(Opcode::kReshape, Shape::Array(type, split), {filter});
  DimVector moved;
  for (int64_t d : order) moved.push_back(split[d]);
  Attributes attributes;
  attributes.Set(Attr::kDimensions, absl::MakeConstSpan(order));
  Instruction* together =
      body.Add(Opcode::kTranspose, Shape::Array(type, moved), {apart}, std::move(attributes));
  return body.Add(Opcode::kReshape, Shape::Array(type, merged), {together});
}

int64_t Dilated(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

// The gradient of x is a convolution of that of the output, spread by the strides, with the filter
// turned round.
Instruction* ConvBackwardInput(const Instruction& at, const Shape& result, CallBody& body) {
  const Attributes& given = at.attributes();
  const ConvDimLabels& forward = *given.DimLabels();
  const int64_t groups = given.Integer(Attr::kFeatureGroupCount, 1);
  const Shape& gradient = at.operand(0)->shape();
  const absl::Span<const WindowDim> dims = given.Window(Attr::kWindow);
  std::vector<WindowDim> window;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& of = dims[d];
    const int64_t reach = (of.size - 1) * of.window_dilation, low = reach - of.low;
    const int64_t from = Dilated(gradient.dimension(forward.output_spatial[d]), of.stride);
    const int64_t to = result.dimension(forward.input_spatial[d]);
    window.push_back({.size = of.size,
                      .low = low,
                      .high = to - from + reach - low,
                      .base_dilation = of.stride,
                      .window_dilation = of.window_dilation,
                      .reversal = true});
  }
  ConvDimLabels labels = forward;
  labels.input_batch = forward.output_batch;
  labels.input_feature = forward.output_feature;
  labels.input_spatial = forward.output_spatial;
  labels.output_batch = forward.input_batch;
  labels.output_feature = forward.input_feature;
  labels.output_spatial = forward.input_spatial;
  std::swap(labels.kernel_input_feature, labels.kernel_output_feature);
  Instruction* filter = SwapFeatures(body, body.Operand(1), forward, groups);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)))
      .Set(Attr::kDimLabels, AttrValue(SharedValue<ConvDimLabels>(labels)))
      .Set(Attr::kFeatureGroupCount, AttrValue(groups));
  const Shape sums = Shape::Array(SumType(gradient.element_type()), result.dimensions());
  return body.Add(Opcode::kConvolution, sums, {body.Operand(0), filter}, std::move(attributes));
}

// The gradient of w is a convolution of x with that of the output, in which batches are summed over
// and features stand where batches do.
Instruction* ConvBackwardFilter(const Instruction& at, const Shape& result, CallBody& body) {
  const Attributes& given = at.attributes();
  const ConvDimLabels& forward = *given.DimLabels();
  const Shape &x = at.operand(0)->shape(), &gradient = at.operand(1)->shape();
  const absl::Span<const WindowDim> dims = given.Window(Attr::kWindow);
  std::vector<WindowDim> window;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& of = dims[d];
    const int64_t size = gradient.dimension(forward.output_spatial[d]);
    const int64_t reach = Dilated(size, of.stride) + (of.size - 1) * of.window_dilation;
    window.push_back({.size = size,
                      .stride = of.window_dilation,
                      .low = of.low,
                      .high = reach - x.dimension(forward.input_spatial[d]) - of.low,
                      .window_dilation = of.stride});
  }
  ConvDimLabels labels;
  labels.input_batch = forward.input_feature;
  labels.input_feature = forward.input_batch;
  labels.input_spatial = forward.input_spatial;
  labels.kernel_input_feature = forward.output_batch;
  labels.kernel_output_feature = forward.output_feature;
  labels.kernel_spatial = forward.output_spatial;
  labels.output_batch = forward.kernel_input_feature;
  labels.output_feature = forward.kernel_output_feature;
  labels.output_spatial = forward.kernel_spatial;
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)))
      .Set(Attr::kDimLabels, AttrValue(SharedValue<ConvDimLabels>(labels)))
      .Set(Attr::kBatchGroupCount, AttrValue(given.Integer(Attr::kFeatureGroupCount, 1)));
  const Shape sums = Shape::Array(SumType(x.element_type()), result.dimensions());
  return body.Add(Opcode::kConvolution, sums, {body.Operand(0), body.Operand(1)},
                  std::move(attributes));
}

Instruction* ConvForward(const Instruction& at, const Shape& result, CallBody& body) {
  Attributes attributes;
  for (Attr attr : {Attr::kWindow, Attr::kDimLabels, Attr::kFeatureGroupCount})
    if (const AttrValue* value = at.attributes().Find(attr)) attributes.Set(attr, *value);
  const Shape sums =
      Shape::Array(SumType(at.operand(0)->shape().element_type()), result.dimensions());
  return body.Add(Opcode::kConvolution, sums, {body.Operand(0), body.Operand(1)},
                  std::move(attributes));
}

Instruction* ConvSums(const Instruction& at, const LibraryCall& call, CallBody& body) {
  if (call.routine == kConvForward || call.routine == kConvBiasActivation)
    return ConvForward(at, *call.result, body);
  // Sums of nothing; windows have no size 0.
  if (at.operand(0)->shape().ElementCount() == 0 || at.operand(1)->shape().ElementCount() == 0)
    return body.Number(
        Shape::Array(SumType(call.result->element_type()), call.result->dimensions()), 0);
  return call.routine == kConvBackwardInput ? ConvBackwardInput(at, *call.result, body)
                                            : ConvBackwardFilter(at, *call.result, body);
}

void WriteConv(const Instruction& at, const LibraryCall& call, CallBody& body) {
  Instruction* sum = ConvSums(at, call, body);
  const ConvConfig& conv = call.conv;
  const ElementType type = call.result->element_type();
  const bool is_integer = sum->shape().element_type() == ElementType::kS32;
  if (is_integer && (conv.result_scale != 1 || call.bias >= 0))
    sum = body.InType(sum, ElementType::kF32);
  const ElementType wide = sum->shape().element_type();
  sum = body.Times(sum, conv.result_scale);
  if (call.addend >= 0) {
    Instruction* side = body.InType(body.Operand(call.addend), wide);
    sum = body.Binary(Opcode::kAdd, sum, body.Times(side, conv.side_scale));
  }
  if (call.bias >= 0) {
    Instruction* bias = body.InType(body.Operand(call.bias), wide);
    const int64_t features = at.attributes().DimLabels()->output_feature;
    sum = body.Binary(Opcode::kAdd, sum, body.Spread(sum->shape(), bias, {features}));
  }
  sum = body.Activation(sum, conv.activation, conv.leaky_alpha);
  if (type == ElementType::kS8) {
    sum = body.Binary(Opcode::kMaximum, sum, body.Number(sum->shape(), -128));
    sum = body.Binary(Opcode::kMinimum, sum, body.Number(sum->shape(), 127));
  }
  body.Finish(at.shape(), body.InType(sum, type));
}

// The two norms that only scale and shift, and 1/sqrt(variance + epsilon).
Instruction* InverseDeviation(CallBody& body, Instruction* variance, Instruction* epsilon) {
  Instruction* shifted =
      body.Binary(Opcode::kAdd, variance, body.Splat(variance->shape(), epsilon));
  return body.Unary(Opcode::kRsqrt, shifted);
}

void WriteNorm(const Instruction& at, const LibraryCall& call, CallBody& body) {
  const int64_t feature = call.feature_index;
  Instruction *x = body.Operand(0), *scale = body.Operand(1);
  Instruction* epsilon = body.Operand(at.operand_count() - 2);
  const auto spread = [&](Instruction* values) {
    return body.Spread(x->shape(), values, {feature});
  };
  const int64_t features = x->shape().dimension(feature);
  const double count =
      features == 0 ? 0 : static_cast<double>(x->shape().ElementCount() / features);
  const auto mean = [&](Instruction* values) {
    Instruction* sum = body.Sum(values, feature);
    return body.Binary(Opcode::kDivide, sum, body.Number(sum->shape(), count));
  };
  const auto normal = [&](Instruction* centred, Instruction* inverse) {
    Instruction* scaled = body.Binary(
        Opcode::kMultiply, body.Binary(Opcode::kMultiply, centred, spread(inverse)), spread(scale));
    return body.Binary(Opcode::kAdd, scaled, spread(body.Operand(2)));
  };
  if (call.routine == kNormInference) {
    Instruction* inverse = InverseDeviation(body, body.Operand(4), epsilon);
    Instruction* centred = body.Binary(Opcode::kSubtract, x, spread(body.Operand(3)));
    return body.Finish(at.shape(), normal(centred, inverse));
  }
  if (call.routine == kNormTraining) {
    Instruction* average = mean(x);
    Instruction* centred = body.Binary(Opcode::kSubtract, x, spread(average));
    Instruction* variance = mean(body.Binary(Opcode::kMultiply, centred, centred));
    Instruction* inverse = InverseDeviation(body, variance, epsilon);
    return body.FinishTuple({normal(centred, inverse), average, inverse});
  }
  Instruction *inverse = body.Operand(3), *gradient = body.Operand(4);
  Instruction* centred = body.Binary(Opcode::kSubtract, x, spread(body.Operand(2)));
  Instruction* unit = body.Binary(Opcode::kMultiply, centred, spread(inverse));
  Instruction* products = body.Binary(Opcode::kMultiply, gradient, unit);
  Instruction* slope = body.Binary(Opcode::kMultiply, unit, spread(mean(products)));
  Instruction* rest = body.Binary(
      Opcode::kSubtract, body.Binary(Opcode::kSubtract, gradient, spread(mean(gradient))), slope);
  Instruction* factor = spread(body.Binary(Opcode::kMultiply, scale, inverse));
  body.FinishTuple({body.Binary(Opcode::kMultiply, factor, rest), body.Sum(products, feature),
                    body.Sum(gradient, feature)});
}

void WriteCholesky(const Instruction& at, const LibraryCall& call, CallBody& body) {
  Instruction* a = body.Operand(0);
  const Shape& shape = a->shape();
  const int64_t rank = shape.rank(), n = shape.dimension(rank - 1);
  const absl::Span<const Shape> results = at.shape().elements();
  Instruction* factor = body.Add(Opcode::kCholesky, shape, {a},
                                 Attributes().Set(Attr::kLower, AttrValue(call.lower)));
  const Shape places = Shape::Array(ElementType::kS32, shape.dimensions());
  const auto index = [&](int64_t d) {
    return body.Add(Opcode::kIota, places, {},
                    Attributes().Set(Attr::kIotaDimension, AttrValue(d)));
  };
  Instruction* inside =
      body.Compare(index(rank - 2), index(rank - 1), call.lower ? Direction::kGe : Direction::kLe);
  Instruction* packed = body.Select(inside, factor, body.Unspecified(shape));
  Instruction* zero = body.Number(results[2], 0);
  if (n == 0) return body.FinishTuple({packed, body.Unspecified(results[1]), zero});
  // The last element of the factor is a number if and only if all the minors are positive.
  std::vector<SliceRange> corner;
  for (int64_t d = 0; d < rank; ++d)
    corner.push_back({d < rank - 2 ? 0 : n - 1, shape.dimension(d), 1});
  DimVector corner_sizes(shape.dimensions().begin(), shape.dimensions().end());
  corner_sizes[rank - 1] = corner_sizes[rank - 2] = 1;
  Instruction* last = body.Add(Opcode::kSlice, Shape::Array(shape.element_type(), corner_sizes),
                               {factor}, Attributes().Set(Attr::kSlice, AttrValue(corner)));
  last = body.Add(Opcode::kReshape, Shape::Array(shape.element_type(), results[2].dimensions()),
                  {last});
  // One stands for the number of any minor that is not positive.
  Instruction* info =
      body.Select(body.Compare(last, last, Direction::kEq), zero, body.Number(results[2], 1));
  body.FinishTuple({packed, body.Unspecified(results[1]), info});
}

void WriteBody(const Instruction& at, const LibraryCall& call, Computation* into) {
  for (int64_t i = 0; i < at.operand_count(); ++i) into->AddParameter(i, at.operand(i)->shape());
  into->IndexParameters();
  CallBody body(into);
  if (call.routine <= kGemmLt) return WriteGemm(at, call, body);
  if (IsConvolution(call.routine)) return WriteConv(at, call, body);
  if (call.routine == kCholesky) return WriteCholesky(at, call, body);
  WriteNorm(at, call, body);
}

bool Expands(const Instruction& instruction, const CustomCallFunctions& given) {
  return IsLibraryCall(instruction) &&
         !given.contains(instruction.attributes().String(Attr::kCustomCallTarget));
}

}  // namespace

absl::StatusOr<ExpandedModule> ExpandLibraryCalls(const Module& module,
                                                  const CustomCallFunctions& given) {
  ExpandedModule expanded;
  if (!module.HasAny({Opcode::kCustomCall})) return expanded;
  bool any = false;
  for (const Computation* computation : module.computations())
    for (const Instruction* instruction : *computation) any = any || Expands(*instruction, given);
  if (!any) return expanded;
  expanded.module = module.Clone("");
  std::vector<Instruction*> calls;
  for (Computation* computation : expanded.module->computations())
    for (Instruction* instruction : *computation)
      if (Expands(*instruction, given)) calls.push_back(instruction);
  for (Instruction* at : calls) {
    ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(*at));
    Computation* body = expanded.module->AddComputation(at->name());
    WriteBody(*at, call, body);
    Computation* const callees[] = {body};
    Instruction* with =
        at->parent()->Add(Opcode::kCall, at->shape(), at->operands(), {}, callees, at->name());
    for (Instruction* before : at->control_predecessors()) with->AddControlPredecessor(before);
    const std::vector<Instruction*> successors(at->control_successors().begin(),
                                               at->control_successors().end());
    for (Instruction* behind : successors) behind->AddControlPredecessor(with);
    at->parent()->MoveBefore(with, at);
    at->ReplaceAllUsesWith(with);
    expanded.calls.emplace(at->name(), with);
    at->parent()->Remove(at);
  }
  return expanded;
}

}  // namespace assay::reference
