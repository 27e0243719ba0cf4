#include "optimized/codegen/windows.h"

#include "optimized/codegen/contraction.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/loop_nest.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

WindowPlace PlaceInWindow(ElementEmitter& e, const WindowDim& window, int64_t places, int64_t size,
                          Value* o, Value* k) {
  llvm::IRBuilder<>& ir = e.builder().ir();
  Value* at = e.IndexAdd(e.IndexMul(o, window.stride), e.IndexMul(k, window.window_dilation));
  at = e.IndexAdd(at, e.Index(-window.low));
  const int64_t highest =
      (places - 1) * window.stride + (window.size - 1) * window.window_dilation - window.low;
  const bool outside = window.low > 0 || highest > (size - 1) * window.base_dilation;
  WindowPlace place{at, nullptr};
  if (window.base_dilation > 1) {
    // As unsigned a negative place has a quotient far beyond any size.
    Value* step = e.Index(window.base_dilation);
    place.exists = ir.CreateICmpEQ(ir.CreateURem(at, step), e.Index(0));
    place.index = ir.CreateUDiv(at, step);
    if (window.low > 0) place.exists = And(e, place.exists, ir.CreateICmpSGE(at, e.Index(0)));
  }
  if (outside) place.exists = And(e, place.exists, IsInRange(e, place.index, size));
  if (place.exists != nullptr) {
    place.index = ir.CreateSelect(place.exists, place.index, e.Index(0));
  }
  return place;
}

absl::StatusOr<ElementValues> EmitReduceWindow(ElementEmitter& e, const Frame* frame,
                                               const Instruction& i, const ElementIndex& index) {
  ValueBuilder& b = e.builder();
  const int64_t n = i.operand_count() / 2;
  const Computation& combiner = *i.callee();
  const Shape& base = i.operand(0)->shape();
  const Shape& result = i.shape().IsTuple() ? i.shape().elements().front() : i.shape();
  const ElementType type = base.element_type();
  const std::optional<Opcode> recognised = n == 1 ? RecognisedCombiner(combiner) : std::nullopt;
  const ElementType accumulator = AccumulatorOf(type, recognised);

  ElementValues init;
  for (int64_t k = 0; k < n; ++k) {
    absl::StatusOr<Value*> value = e.EmitOne(frame, i.operand(n + k), ElementIndex());
    if (!value.ok()) return value.status();
    init.push_back(*value);
  }
  if (base.ElementCount() == 0) return init;
  if (recognised.has_value()) init[0] = b.Convert(type, accumulator, init[0]);

  absl::Span<const WindowDim> window = i.attributes().Window(Attr::kWindow);
  std::vector<int64_t> sizes;
  for (const WindowDim& w : window) sizes.push_back(w.size);
  std::vector<Value*> o = index.dims;
  o.resize(base.rank(), e.Index(0));
  absl::StatusOr<ElementValues> folded = Nest(
      e, sizes, init,
      [&](const std::vector<Value*>& at,
          const ElementValues& carried) -> absl::StatusOr<ElementValues> {
        ElementIndex place;
        Value* exists = nullptr;
        for (size_t d = 0; d < window.size(); ++d) {
          WindowPlace p =
              PlaceInWindow(e, window[d], result.dimension(d), base.dimension(d), o[d], at[d]);
          place.dims.push_back(p.index);
          exists = And(e, exists, p.exists);
        }
        return Guarded(
            e, exists, carried, [&](const ElementValues& now) -> absl::StatusOr<ElementValues> {
              std::vector<ElementValues> arguments;
              for (Value* v : now) arguments.push_back({v});
              for (int64_t k = 0; k < n; ++k) {
                absl::StatusOr<Value*> value = e.EmitOne(frame, i.operand(k), place);
                if (!value.ok()) return value.status();
                arguments.push_back({*value});
              }
              if (recognised.has_value()) {
                Value* x = b.Convert(type, accumulator, arguments[1][0]);
                return ElementValues{EmitCombiner(b, *recognised, accumulator, now[0], x)};
              }
              return e.Apply(combiner, std::move(arguments), 1);
            });
      });
  if (folded.ok() && recognised.has_value()) {
    folded->front() = b.Convert(accumulator, type, folded->front());
  }
  return folded;
}

namespace {
const ConvDimLabels& LabelsOf(const Instruction& convolution) {
  return std::get<ConvDimLabels>(*convolution.attributes().Find(Attr::kDimLabels));
}
}  // namespace

// Neighbouring output features read the same input and neighbouring kernel columns, unless groups
// cut them apart.
LaneAccess ConvolutionLanes(const Instruction& i, int64_t operand, int lane_dim) {
  const Attributes& a = i.attributes();
  const ConvDimLabels& labels = LabelsOf(i);
  if (lane_dim != labels.output_feature || a.Integer(Attr::kFeatureGroupCount, 1) != 1 ||
      a.Integer(Attr::kBatchGroupCount, 1) != 1) {
    return {LaneAccess::kImpossible, -1};
  }
  if (operand == 0) return {LaneAccess::kUniform, -1};
  return {LaneAccess::kLanes, static_cast<int>(labels.kernel_output_feature)};
}

// Products are summed in one order, spatial positions outermost, and not contracted: the same bits
// on every machine.
absl::StatusOr<ElementValues> EmitConvolution(ElementEmitter& e, const Frame* frame,
                                              const Instruction& i, const ElementIndex& index) {
  ValueBuilder& b = e.builder();
  llvm::IRBuilder<>& ir = b.ir();
  const Attributes& a = i.attributes();
  const ConvDimLabels& labels = LabelsOf(i);
  absl::Span<const WindowDim> window = a.Window(Attr::kWindow);
  const Shape &input = i.operand(0)->shape(), &kernel = i.operand(1)->shape();
  const ElementType accumulator = DotAccumulator(i), type = i.shape().element_type();
  llvm::Type* t = b.RegisterType(accumulator, index.width);
  const ElementValues zero = {llvm::Constant::getNullValue(t)};
  auto finish = [&](Value* sum) { return ElementValues{b.Convert(accumulator, type, sum)}; };
  if (input.ElementCount() == 0 || kernel.ElementCount() == 0) return finish(zero[0]);

  // Which batch and which features of the input the group of this output feature reads.
  const int64_t feature_groups = a.Integer(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = a.Integer(Attr::kBatchGroupCount, 1);
  const int64_t group_inputs = kernel.dimension(labels.kernel_input_feature);
  Value* batch = index.dims[labels.output_batch];
  Value* output_feature = index.dims[labels.output_feature];
  Value* first_feature = e.Index(0);
  if (feature_groups * batch_groups > 1) {
    const int64_t group_outputs =
        i.shape().dimension(labels.output_feature) / (feature_groups * batch_groups);
    Value* group = ir.CreateUDiv(output_feature, e.Index(group_outputs));
    if (feature_groups > 1) first_feature = e.IndexMul(group, group_inputs);
    if (batch_groups > 1) {
      batch = e.IndexAdd(e.IndexMul(group, i.shape().dimension(labels.output_batch)), batch);
    }
  }

  std::vector<int64_t> spatial;
  for (const WindowDim& w : window) spatial.push_back(w.size);
  auto sum_features = [&](ElementIndex lhs, ElementIndex rhs, const ElementValues& carried) {
    return e.Loop(e.Index(0), e.Index(group_inputs), 1, carried,
                  [&](Value* feature, const ElementValues& now) -> absl::StatusOr<ElementValues> {
                    lhs.dims[labels.input_feature] = e.IndexAdd(first_feature, feature);
                    rhs.dims[labels.kernel_input_feature] = feature;
                    Value* factors[2];
                    for (int k = 0; k < 2; ++k) {
                      absl::StatusOr<Value*> value =
                          e.EmitOne(frame, i.operand(k), k == 0 ? lhs : rhs);
                      if (!value.ok()) return value.status();
                      const ElementType from = i.operand(k)->shape().element_type();
                      factors[k] = b.Splat(b.Convert(from, accumulator, *value), index.width);
                    }
                    Value* product = EmitMultiply(b, accumulator, factors[0], factors[1]);
                    return ElementValues{EmitAdd(b, accumulator, now[0], product)};
                  });
  };
  absl::StatusOr<ElementValues> sum =
      Nest(e, spatial, zero,
           [&](const std::vector<Value*>& at,
               const ElementValues& carried) -> absl::StatusOr<ElementValues> {
             ElementIndex lhs, rhs;
             lhs.dims.assign(input.rank(), nullptr);
             rhs.dims.assign(kernel.rank(), nullptr);
             lhs.dims[labels.input_batch] = batch;
             rhs.dims[labels.kernel_output_feature] = output_feature;
             rhs.width = index.width;
             if (index.width > 1) rhs.lane_dim = static_cast<int>(labels.kernel_output_feature);
             Value* exists = nullptr;
             for (size_t d = 0; d < window.size(); ++d) {
               WindowPlace place =
                   PlaceInWindow(e, window[d], i.shape().dimension(labels.output_spatial[d]),
                                 input.dimension(labels.input_spatial[d]),
                                 index.dims[labels.output_spatial[d]], at[d]);
               exists = And(e, exists, place.exists);
               lhs.dims[labels.input_spatial[d]] = place.index;
               rhs.dims[labels.kernel_spatial[d]] =
                   window[d].reversal ? ir.CreateSub(e.Index(window[d].size - 1), at[d]) : at[d];
             }
             return Guarded(e, exists, carried,
                            [&](const ElementValues& now) { return sum_features(lhs, rhs, now); });
           });
  if (!sum.ok()) return sum;
  return finish(sum->front());
}

}  // namespace assay
