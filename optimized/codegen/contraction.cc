#include "optimized/codegen/contraction.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "llvm/IR/Intrinsics.h"
#include "optimized/codegen/complex.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/loop_nest.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

const Instruction* SkipConverts(const Instruction* i) {
  while (i->opcode() == Opcode::kConvert && IsFloat(i->shape().element_type()) &&
         IsFloat(i->operand(0)->shape().element_type())) {
    i = i->operand(0);
  }
  return i;
}

}  // namespace

ElementType AccumulatorOf(ElementType type, std::optional<Opcode> combiner) {
  bool sum = combiner == Opcode::kAdd || combiner == Opcode::kMultiply;
  if (sum && IsFloat(type) && BitWidth(type) < 32) return ElementType::kF32;
  return type;
}

Value* EmitCombiner(ValueBuilder& b, Opcode op, ElementType type, Value* x, Value* y) {
  switch (op) {
    case Opcode::kAdd:
      return EmitAdd(b, type, x, y);
    case Opcode::kMultiply:
      return EmitMultiply(b, type, x, y);
    case Opcode::kMaximum:
      return EmitMaximum(b, type, x, y);
    case Opcode::kMinimum:
      return EmitMinimum(b, type, x, y);
    case Opcode::kAnd:
      return b.ir().CreateAnd(x, y);
    case Opcode::kOr:
      return b.ir().CreateOr(x, y);
    default:
      return b.ir().CreateXor(x, y);
  }
}

namespace {

// The neutral element of a recognised combiner: -0 for a float sum, since +0 would turn a sum of
// -0s into +0.
llvm::Constant* Identity(ValueBuilder& b, Opcode op, ElementType type, int width) {
  llvm::Type* t = b.RegisterType(type, width);
  const double infinity = std::numeric_limits<double>::infinity();
  int bits = BitWidth(type);
  auto code = [&](double value) -> llvm::Constant* {
    if (BitWidth(type) >= 32) return b.Float(t, value);
    const FloatFormat& format = Format(type);
    if (std::isinf(value) && !format.HasInfinity()) {
      value = std::copysign(format.MaxFinite(), value);
      // Without a sign the least value is that of code 0.
      if (value < 0 && format.special == SpecialValues::kExponent) value = DecodeFloat(format, 0);
    }
    return b.Int(t, EncodeFloat(format, value));
  };
  bool lowest = op == Opcode::kMaximum;
  switch (op) {
    case Opcode::kAdd:
      return IsFloat(type) ? code(-0.0) : b.Int(t, 0);
    case Opcode::kMultiply:
      return IsFloat(type) ? code(1) : b.Int(t, 1);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (IsFloat(type)) return code(lowest ? -infinity : infinity);
      if (IsPred(type)) return b.Int(t, lowest ? 0 : 1);
      if (!IsSigned(type)) return b.Int(t, lowest ? 0 : ~uint64_t{0});
      return b.Int(t, lowest ? uint64_t{1} << (bits - 1) : (uint64_t{1} << (bits - 1)) - 1);
    case Opcode::kAnd:
      return b.Int(t, ~uint64_t{0});
    default:
      return b.Int(t, 0);
  }
}

// Folds the lanes of `vector` into one value, halving. The last step combines scalars: a value of
// one lane is never a vector (ValueBuilder::WithWidth).
Value* FoldLanes(ValueBuilder& b, Opcode op, ElementType type, Value* vector) {
  for (int width = b.WidthOf(vector); width > 2; width /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value* upper = b.ir().CreateShuffleVector(vector, high);
    Value* lower = b.ir().CreateShuffleVector(vector, low);
    vector = EmitCombiner(b, op, type, lower, upper);
  }
  return EmitCombiner(b, op, type, b.ir().CreateExtractElement(vector, uint64_t{0}),
                      b.ir().CreateExtractElement(vector, uint64_t{1}));
}

// One running value over `sizes`: vectors along the last of them while whole ones fit, then single
// elements. `element(at, width)` gives the terms, in `type`.
using Term = std::function<absl::StatusOr<Value*>(const std::vector<Value*>& at, int width)>;
absl::StatusOr<Value*> FoldWithLanes(ElementEmitter& e, Opcode op, ElementType type,
                                     absl::Span<const int64_t> sizes, int width, const Term& term) {
  ValueBuilder& b = e.builder();
  absl::Span<const int64_t> outer = sizes.subspan(0, sizes.size() - 1);
  int64_t last = sizes.back();
  int64_t whole = last / width * width;
  ElementValues start = {Identity(b, op, type, width), Identity(b, op, type, 1)};
  absl::StatusOr<ElementValues> total = Nest(
      e, outer, start,
      [&](const std::vector<Value*>& at,
          const ElementValues& carried) -> absl::StatusOr<ElementValues> {
        auto loop = [&](int64_t from, int64_t to, int step, Value* running) {
          return e.Loop(e.Index(from), e.Index(to), step, {running},
                        [&](Value* i, const ElementValues& now) -> absl::StatusOr<ElementValues> {
                          std::vector<Value*> inner = at;
                          inner.push_back(i);
                          absl::StatusOr<Value*> value = term(inner, step);
                          if (!value.ok()) return value.status();
                          return ElementValues{EmitCombiner(b, op, type, now[0], *value)};
                        });
        };
        absl::StatusOr<ElementValues> vector = loop(0, whole, width, carried[0]);
        if (!vector.ok()) return vector;
        if (whole == last) return ElementValues{vector->front(), carried[1]};
        absl::StatusOr<ElementValues> rest = loop(whole, last, 1, carried[1]);
        if (!rest.ok()) return rest;
        return ElementValues{vector->front(), rest->front()};
      });
  if (!total.ok()) return total.status();
  return EmitCombiner(b, op, type, FoldLanes(b, op, type, (*total)[0]), (*total)[1]);
}

struct ReduceDims {
  std::vector<int64_t> kept, reduced;
};
ReduceDims DimsOf(const Instruction& reduce) {
  ReduceDims result;
  absl::Span<const int64_t> dims = reduce.attributes().Integers(Attr::kDimensions);
  for (int64_t d = 0; d < reduce.operand(0)->shape().rank(); ++d) {
    (absl::c_linear_search(dims, d) ? result.reduced : result.kept).push_back(d);
  }
  return result;
}

const Shape& FirstLeaf(const Shape& shape) {
  return shape.IsTuple() ? shape.elements().front() : shape;
}

}  // namespace

std::optional<Opcode> RecognisedCombiner(const Computation& computation) {
  const Instruction* root = SkipConverts(computation.root());
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* x = SkipConverts(root->operand(0));
  const Instruction* y = SkipConverts(root->operand(1));
  if (x->opcode() != Opcode::kParameter || y->opcode() != Opcode::kParameter || x == y) {
    return std::nullopt;
  }
  // A detour through a narrower type rounds every step: that is another function.
  if (BitWidth(root->shape().element_type()) <
      BitWidth(computation.root()->shape().element_type())) {
    return std::nullopt;
  }
  return root->opcode();
}

namespace {
// With lanes a combiner runs on vectors, which only element-wise ops do as they are.
bool IsElementwiseComputation(const Computation& computation) {
  return absl::c_all_of(computation, [](const Instruction* i) {
    if (InvolvesComplex(*i)) return false;
    switch (i->opcode()) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return true;
      case Opcode::kConstant:
        return i->shape().IsArray() && i->shape().rank() == 0;
      default:
        return FindElementwise(i->opcode()) != nullptr;
    }
  });
}
}  // namespace

LaneAccess ReduceLanes(const Instruction& i, int64_t operand, int lane_dim) {
  if (!IsElementwiseComputation(*i.callee())) return {LaneAccess::kImpossible, -1};
  if (operand >= i.operand_count() / 2) return {LaneAccess::kUniform, -1};
  ReduceDims dims = DimsOf(i);
  return {LaneAccess::kLanes, static_cast<int>(dims.kept[lane_dim])};
}

absl::StatusOr<ElementValues> EmitReduce(ElementEmitter& e, const Frame* frame,
                                         const Instruction& i, const ElementIndex& index) {
  ValueBuilder& b = e.builder();
  const int64_t n = i.operand_count() / 2;
  const Computation& combiner = *i.callee();
  const ReduceDims dims = DimsOf(i);
  const Shape& from = i.operand(0)->shape();
  std::optional<Opcode> recognised = n == 1 ? RecognisedCombiner(combiner) : std::nullopt;
  ElementType type = from.element_type();
  ElementType accumulator = AccumulatorOf(type, recognised);

  ElementValues init;
  for (int64_t k = 0; k < n; ++k) {
    absl::StatusOr<Value*> value =
        e.EmitSpread(frame, i.operand(n + k), ElementIndex(), index.width);
    if (!value.ok()) return value.status();
    init.push_back(*value);
  }
  if (from.ElementCount() == 0 && FirstLeaf(i.shape()).ElementCount() == 0) return init;

  std::vector<Value*> at_result = index.dims;
  if (at_result.empty()) at_result.assign(dims.kept.size(), e.Index(0));
  auto operand_index = [&](const std::vector<Value*>& at, int width, int lane_dim) {
    ElementIndex full;
    full.dims.assign(from.rank(), nullptr);
    for (size_t d = 0; d < dims.kept.size(); ++d) full.dims[dims.kept[d]] = at_result[d];
    for (size_t d = 0; d < dims.reduced.size(); ++d) full.dims[dims.reduced[d]] = at[d];
    full.width = width;
    full.lane_dim = width > 1 ? lane_dim : -1;
    return full;
  };
  std::vector<int64_t> sizes;
  for (int64_t d : dims.reduced) sizes.push_back(from.dimension(d));

  const int lanes = e.vector_width(accumulator);
  if (recognised.has_value() && index.width == 1 && lanes > 1 && !sizes.empty() &&
      sizes.back() >= lanes &&
      e.CanWalkLanes(frame, i.operand(0), static_cast<int>(dims.reduced.back()))) {
    absl::StatusOr<Value*> sum = FoldWithLanes(
        e, *recognised, accumulator, sizes, lanes,
        [&](const std::vector<Value*>& at, int width) -> absl::StatusOr<Value*> {
          absl::StatusOr<Value*> value = e.EmitOne(
              frame, i.operand(0), operand_index(at, width, static_cast<int>(dims.reduced.back())));
          if (!value.ok()) return value;
          return b.Convert(type, accumulator, *value);
        });
    if (!sum.ok()) return sum.status();
    Value* first = b.Convert(type, accumulator, init[0]);
    return ElementValues{
        b.Convert(accumulator, type, EmitCombiner(b, *recognised, accumulator, first, *sum))};
  }

  int lane_dim = index.width > 1 ? static_cast<int>(dims.kept[index.lane_dim]) : -1;
  if (recognised.has_value()) init[0] = b.Convert(type, accumulator, init[0]);
  absl::StatusOr<ElementValues> result =
      Nest(e, sizes, init,
           [&](const std::vector<Value*>& at,
               const ElementValues& carried) -> absl::StatusOr<ElementValues> {
             ElementIndex full = operand_index(at, index.width, lane_dim);
             std::vector<ElementValues> arguments;
             for (Value* v : carried) arguments.push_back({v});
             for (int64_t k = 0; k < n; ++k) {
               absl::StatusOr<Value*> value = e.EmitOne(frame, i.operand(k), full);
               if (!value.ok()) return value.status();
               arguments.push_back({*value});
             }
             if (recognised.has_value()) {
               Value* x = b.Convert(type, accumulator, arguments[1][0]);
               return ElementValues{EmitCombiner(b, *recognised, accumulator, carried[0], x)};
             }
             return e.Apply(combiner, std::move(arguments), index.width);
           });
  if (!result.ok()) return result;
  if (recognised.has_value()) result->front() = b.Convert(accumulator, type, result->front());
  return result;
}

ElementType DotAccumulator(const Instruction& dot) {
  ElementType result = dot.shape().element_type();
  if (!IsFloat(result)) return result;
  for (const Instruction* operand : dot.operands()) {
    if (operand->shape().element_type() == ElementType::kF64) return ElementType::kF64;
  }
  return result == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
}

namespace {
struct DotDims {
  std::vector<int64_t> lhs,
      rhs;  // result dimension of each operand dimension; -1 - k: the k-th contracted one
};
DotDims DotDimsOf(const Instruction& dot) {
  const Attributes& a = dot.attributes();
  absl::Span<const int64_t> lhs_batch = a.Integers(Attr::kLhsBatchDims);
  absl::Span<const int64_t> rhs_batch = a.Integers(Attr::kRhsBatchDims);
  absl::Span<const int64_t> lhs_sum = a.Integers(Attr::kLhsContractingDims);
  absl::Span<const int64_t> rhs_sum = a.Integers(Attr::kRhsContractingDims);
  int64_t next = static_cast<int64_t>(lhs_batch.size());
  auto map = [&](const Shape& shape, absl::Span<const int64_t> batch,
                 absl::Span<const int64_t> sum) {
    std::vector<int64_t> result(shape.rank(), 0);
    for (int64_t d = 0; d < shape.rank(); ++d) {
      auto b = absl::c_find(batch, d);
      auto s = absl::c_find(sum, d);
      if (b != batch.end()) {
        result[d] = b - batch.begin();
      } else if (s != sum.end()) {
        result[d] = -1 - (s - sum.begin());
      } else {
        result[d] = next++;
      }
    }
    return result;
  };
  DotDims dims;
  dims.lhs = map(dot.operand(0)->shape(), lhs_batch, lhs_sum);
  dims.rhs = map(dot.operand(1)->shape(), rhs_batch, rhs_sum);
  return dims;
}
}  // namespace

LaneAccess DotLanes(const Instruction& i, int64_t operand, int lane_dim) {
  DotDims dims = DotDimsOf(i);
  const std::vector<int64_t>& map = operand == 0 ? dims.lhs : dims.rhs;
  for (size_t d = 0; d < map.size(); ++d) {
    if (map[d] == lane_dim) return {LaneAccess::kLanes, static_cast<int>(d)};
  }
  return {LaneAccess::kUniform, -1};
}

absl::StatusOr<ElementValues> EmitDot(ElementEmitter& e, const Frame* frame, const Instruction& i,
                                      const ElementIndex& index) {
  ValueBuilder& b = e.builder();
  const DotDims dims = DotDimsOf(i);
  const ElementType accumulator = DotAccumulator(i);
  const ElementType result_type = i.shape().element_type();
  std::vector<Value*> at_result = index.dims;
  if (at_result.empty()) at_result.assign(i.shape().rank(), e.Index(0));

  absl::Span<const int64_t> contracted = i.attributes().Integers(Attr::kLhsContractingDims);
  std::vector<int64_t> sizes;
  for (int64_t d : contracted) sizes.push_back(i.operand(0)->shape().dimension(d));

  // The operand's element for contraction indices `at`; lanes along result dimension `result_lane`
  // or contracted dimension `sum_lane`.
  auto element = [&](int64_t operand, const std::vector<Value*>& at, int width, int result_lane,
                     int sum_lane) -> absl::StatusOr<Value*> {
    const std::vector<int64_t>& map = operand == 0 ? dims.lhs : dims.rhs;
    ElementIndex full;
    for (size_t d = 0; d < map.size(); ++d) {
      full.dims.push_back(map[d] >= 0 ? at_result[map[d]] : at[-1 - map[d]]);
      bool lane = map[d] >= 0 ? map[d] == result_lane : -1 - map[d] == sum_lane;
      if (lane && width > 1) full.lane_dim = static_cast<int>(d);
    }
    full.width = full.lane_dim >= 0 ? width : 1;
    absl::StatusOr<Value*> value = e.EmitOne(frame, i.operand(operand), full);
    if (!value.ok()) return value;
    return b.Splat(b.Convert(i.operand(operand)->shape().element_type(), accumulator, *value),
                   width);
  };
  auto finish = [&](Value* sum) { return ElementValues{b.Convert(accumulator, result_type, sum)}; };

  int lanes = e.vector_width(accumulator);
  int last = static_cast<int>(sizes.size()) - 1;
  if (index.width == 1 && lanes > 1 && !sizes.empty() && sizes.back() >= lanes &&
      e.CanWalkLanes(frame, i.operand(0), static_cast<int>(contracted.back())) &&
      e.CanWalkLanes(frame, i.operand(1),
                     static_cast<int>(i.attributes().Integers(Attr::kRhsContractingDims).back()))) {
    absl::StatusOr<Value*> sum =
        FoldWithLanes(e, Opcode::kAdd, accumulator, sizes, lanes,
                      [&](const std::vector<Value*>& at, int width) -> absl::StatusOr<Value*> {
                        absl::StatusOr<Value*> x = element(0, at, width, -1, last);
                        if (!x.ok()) return x;
                        absl::StatusOr<Value*> y = element(1, at, width, -1, last);
                        if (!y.ok()) return y;
                        return EmitMultiply(b, accumulator, *x, *y);
                      });
    if (!sum.ok()) return sum.status();
    return finish(*sum);
  }

  llvm::Type* t = b.RegisterType(accumulator, index.width);
  absl::StatusOr<ElementValues> sum =
      Nest(e, sizes, {llvm::Constant::getNullValue(t)},
           [&](const std::vector<Value*>& at,
               const ElementValues& carried) -> absl::StatusOr<ElementValues> {
             absl::StatusOr<Value*> x = element(0, at, index.width, index.lane_dim, -1);
             if (!x.ok()) return x.status();
             absl::StatusOr<Value*> y = element(1, at, index.width, index.lane_dim, -1);
             if (!y.ok()) return y.status();
             if (IsFloat(accumulator) && e.use_fma()) {
               return ElementValues{
                   b.ir().CreateIntrinsic(llvm::Intrinsic::fma, {t}, {*x, *y, carried[0]})};
             }
             return ElementValues{
                 EmitAdd(b, accumulator, carried[0], EmitMultiply(b, accumulator, *x, *y))};
           });
  if (!sum.ok()) return sum;
  return finish(sum->front());
}

}  // namespace assay
