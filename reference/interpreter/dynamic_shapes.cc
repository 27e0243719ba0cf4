// Run-time sizes: how they follow through ops, the ops that read and set them, and ops that read
// windows of arrays cut off.
#include "reference/interpreter/dynamic_shapes.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/op_evaluations.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

const Shape& SizesOf(const Value& value) { return value.array->literal.shape(); }

absl::Status SizeError(const Instruction& instruction, const std::string& what) {
  return MakeError(ErrorClass::kRejected, StrCat(instruction.name(), ": ", what));
}

// All operands that are not scalars have the same run-time sizes; a run-time size of 1 is not
// broadcast.
absl::StatusOr<Shape> ElementwiseShape(const Instruction& instruction,
                                       absl::Span<const Value* const> operands) {
  const Shape* sizes = nullptr;
  for (const Value* operand : operands) {
    const Shape& shape = SizesOf(*operand);
    if (shape.rank() == 0 && instruction.shape().rank() != 0) continue;
    if (sizes == nullptr) sizes = &shape;
    if (SameDimensions(*sizes, shape)) continue;
    return SizeError(instruction, StrCat("the run-time sizes of the operands differ: ",
                                         sizes->ToString(), " and ", shape.ToString()));
  }
  absl::Span<const int64_t> dimensions =
      sizes != nullptr ? sizes->dimensions() : instruction.shape().dimensions();
  return Shape::Array(instruction.shape().element_type(), dimensions);
}

Shape BroadcastShape(const Instruction& instruction, const Shape& operand) {
  Shape result = Shape::Array(instruction.shape().element_type(), instruction.shape().dimensions());
  absl::Span<const int64_t> mapping = instruction.attributes().Integers(Attr::kDimensions);
  for (size_t i = 0; i < mapping.size(); ++i)
    result.set_dimension(mapping[i], operand.dimension(static_cast<int64_t>(i)));
  return result;
}

// Dimensions whose bounds have equal products belong together; the dynamic one of the result, of
// which there may be one in each group, takes what the others leave.
absl::StatusOr<Shape> ReshapedShape(const Instruction& instruction, const Shape& operand) {
  const Shape &from = instruction.operand(0)->shape(), &to = instruction.shape();
  Shape result = Shape::Array(to.element_type(), to.dimensions());
  const absl::Status unsupported =
      MakeError(ErrorClass::kUnsupported,
                StrCat(instruction.name(), ": the oracle does not know where the run-time size of ",
                       from.ToString(), " goes in ", to.ToString()));
  if (from.ElementCount() == 0) return unsupported;
  int64_t i = 0, k = 0;
  while (i < from.rank() || k < to.rank()) {
    int64_t from_bound = 1, to_bound = 1, size = 1, fixed = 1, open = -1;
    auto take_from = [&] {
      from_bound *= from.dimension(i);
      size *= operand.dimension(i++);
    };
    bool one_open = true;
    auto take_to = [&] {
      to_bound *= to.dimension(k);
      if (!to.is_dynamic(k)) {
        fixed *= to.dimension(k);
      } else {
        one_open = open < 0;
        open = k;
      }
      ++k;
    };
    if (i < from.rank()) take_from();
    if (k < to.rank()) take_to();
    while (from_bound != to_bound && one_open) from_bound < to_bound ? take_from() : take_to();
    if (!one_open) return unsupported;
    if (open < 0) {
      if (size != fixed) return unsupported;
      continue;
    }
    if (size % fixed != 0 || size / fixed > to.dimension(open)) return unsupported;
    result.set_dimension(open, size / fixed);
  }
  return result;
}

// A slice takes the full range of a dynamic dimension, or a part within its run-time size.
absl::StatusOr<Shape> SlicedShape(const Instruction& instruction, const Shape& operand) {
  const Shape& bound = instruction.operand(0)->shape();
  Shape result = Shape::Array(instruction.shape().element_type(), instruction.shape().dimensions());
  absl::Span<const SliceRange> ranges = instruction.attributes().SliceRanges(Attr::kSlice);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const SliceRange& range = ranges[d];
    int64_t limit = range.limit;
    if (limit > operand.dimension(d)) {
      if (range.start != 0 || limit != bound.dimension(d)) {
        return SizeError(instruction,
                         StrCat("slices [", range.start, ", ", limit, ") of dimension ", d,
                                ", whose run-time size is ", operand.dimension(d)));
      }
      limit = operand.dimension(d);
    }
    result.set_dimension(d, (limit - range.start + range.stride - 1) / range.stride);
  }
  return result;
}

// Ops whose shape rule, applied to run-time sizes, gives the run-time sizes of the result.
bool FollowsItsRule(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kDot:
    case Opcode::kConvolution:
    case Opcode::kScatter:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kMap:
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad:
    case Opcode::kDynamicUpdateSlice:
      return true;
    default:
      return false;
  }
}

// Ops that carry values as they are, or read sizes themselves.
bool TakesSizesAlong(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kCopy:
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
    case Opcode::kDynamicReshape:
      return true;
    default:
      return false;
  }
}

// ---- The ops of the chapter.

absl::Status EvaluateGetDimensionSize(const OpContext& op, Literal& result) {
  const int64_t d = op.instruction.attributes().Integers(Attr::kDimension)[0];
  result.SetInteger(0, op.literal(0).shape().dimension(d));
  return absl::OkStatus();
}

absl::Status BoundNothing(const OpContext&, Array&) { return absl::OkStatus(); }

// Gives the first elements of an array along every dimension, or the array with undecided elements
// beyond.
absl::StatusOr<Array> Resized(Interpreter& interpreter, const Array& array, const Shape& shape) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  const Shape& before = array.literal.shape();
  Array result{Literal(shape)};
  const DimVector strides = RowMajorStrides(before.dimensions());
  const size_t width = StorageBytes(shape.element_type());
  DimVector index(shape.rank(), 0);
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    bool inside = true;
    for (int64_t d = 0; d < shape.rank(); ++d) inside = inside && index[d] < before.dimension(d);
    if (inside) {
      const int64_t from = LinearIndex(strides, index);
      std::memcpy(result.literal.bytes().data() + i * width,
                  array.literal.bytes().data() + from * width, width);
      if (interpreter.bounding() && (!array.Certain() || !result.Certain()))
        MoveBound(array, from, result, i);
    } else if (interpreter.bounding()) {
      SetUndecided(result, i);
    }
    NextIndex(shape.dimensions(), absl::MakeSpan(index));
  }
  return result;
}

// Reads a run-time size, which must be one number.
absl::StatusOr<int64_t> ReadSize(const OpContext& op, int64_t operand) {
  if (!op.array(operand).Certain()) {
    return Inconclusive(
        StrCat("a run-time size of ", op.instruction.name(), " depends on rounding"));
  }
  return op.literal(operand).GetInteger(0);
}

// Cuts the operand off at a size. Beyond its own end the elements are undecided.
absl::StatusOr<Value> ApplySetDimensionSize(Interpreter& interpreter, const OpContext& op) {
  const int64_t d = op.instruction.attributes().Integers(Attr::kDimension)[0];
  ASSAY_ASSIGN_OR_RETURN(int64_t size, ReadSize(op, 1));
  const int64_t bound = op.instruction.operand(0)->shape().dimension(d);
  if (size < 0 || size > bound) {
    return SizeError(op.instruction, StrCat("the run-time size ", size, " of dimension ", d,
                                            " is not in [0, ", bound, "]"));
  }
  const Shape& before = op.literal(0).shape();
  Shape shape = Shape::Array(before.element_type(), before.dimensions());
  shape.set_dimension(d, size);
  ASSAY_ASSIGN_OR_RETURN(Array result, Resized(interpreter, op.array(0), shape));
  return MakeValue(std::move(result), interpreter.memory());
}

// Gives the elements, in row-major order, the sizes that the operands say.
absl::StatusOr<Value> ApplyDynamicReshape(Interpreter& interpreter, const OpContext& op) {
  const Array& operand = op.array(0);
  Shape shape =
      Shape::Array(op.instruction.shape().element_type(), op.instruction.shape().dimensions());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    ASSAY_ASSIGN_OR_RETURN(int64_t size, ReadSize(op, d + 1));
    const bool dynamic = op.instruction.shape().is_dynamic(d);
    if (size < 0 || size > shape.dimension(d) || (!dynamic && size != shape.dimension(d))) {
      return SizeError(op.instruction, StrCat("the run-time size ", size, " of dimension ", d,
                                              " does not fit ", op.instruction.shape().ToString()));
    }
    shape.set_dimension(d, size);
  }
  if (shape.ElementCount() != operand.literal.element_count()) {
    return SizeError(op.instruction,
                     StrCat("the run-time sizes ", shape.ToString(), " hold ", shape.ElementCount(),
                            " elements, the operand ", operand.literal.element_count()));
  }
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  Array result{Literal(shape)};
  std::memcpy(result.literal.bytes().data(), operand.literal.bytes().data(),
              result.literal.bytes().size());
  result.facts().bounds = operand.facts().bounds;
  result.facts().choices = operand.facts().choices;
  return MakeValue(std::move(result), interpreter.memory());
}

absl::StatusOr<Shape> RunTimeShape(const Instruction& instruction,
                                   absl::Span<const Value* const> operands) {
  const Opcode opcode = instruction.opcode();
  if (TakesSizesAlong(opcode)) return instruction.shape();
  if (opcode == Opcode::kBroadcast) return BroadcastShape(instruction, SizesOf(*operands[0]));
  if (opcode == Opcode::kReshape) return ReshapedShape(instruction, SizesOf(*operands[0]));
  if (opcode == Opcode::kSlice) return SlicedShape(instruction, SizesOf(*operands[0]));
  const OpInfo& info = Info(opcode);
  if (info.Is(kElementwise) && instruction.shape().IsArray() && !operands.empty())
    return ElementwiseShape(instruction, operands);
  if (!FollowsItsRule(opcode)) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(instruction.name(), ": the oracle does not evaluate ", info.name,
                            " on dynamic shapes"));
  }
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const Value* operand : operands) shapes.push_back(&SizesOf(*operand));
  absl::StatusOr<Shape> shape = info.infer({.opcode = opcode,
                                            .operands = shapes,
                                            .attributes = instruction.attributes(),
                                            .callees = SignaturesOf(instruction.callees())});
  if (!shape.ok()) return SizeError(instruction, std::string(ToStd(shape.status().message())));
  return shape;
}

}  // namespace

bool IsDynamic(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() && shape.HasDynamicDimension();
  return std::any_of(shape.elements().begin(), shape.elements().end(), IsDynamic);
}

bool ReadsWindows(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kGather || instruction.opcode() == Opcode::kDynamicSlice;
}

absl::StatusOr<Value> ApplyToWindows(Interpreter& interpreter, const Evaluation& how,
                                     const OpContext& op) {
  const Instruction& instruction = op.instruction;
  const Shape& bound = instruction.operand(0)->shape();
  ASSAY_ASSIGN_OR_RETURN(
      Array padded,
      Resized(interpreter, op.array(0), Shape::Array(bound.element_type(), bound.dimensions())));
  const Value whole = MakeValue(std::move(padded), interpreter.memory());
  absl::InlinedVector<const Value*, 4> operands(op.operands.begin(), op.operands.end());
  operands[0] = &whole;
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const Value* operand : operands) shapes.push_back(&SizesOf(*operand));
  absl::StatusOr<Shape> shape = Info(instruction.opcode())
                                    .infer({.opcode = instruction.opcode(),
                                            .operands = shapes,
                                            .attributes = instruction.attributes(),
                                            .callees = SignaturesOf(instruction.callees())});
  if (!shape.ok()) return SizeError(instruction, std::string(ToStd(shape.status().message())));
  absl::StatusOr<Value> value = interpreter.Apply(how, op.On(*shape, operands));
  if (!value.ok()) return value;
  // Windows as long as a dynamic dimension end where that does.
  Shape cut = *shape;
  const absl::Span<const int64_t> sizes = instruction.attributes().Integers(
      instruction.opcode() == Opcode::kGather ? Attr::kSliceSizes : Attr::kDynamicSliceSizes);
  const absl::Span<const int64_t> offset_dims =
      instruction.attributes().Integers(Attr::kOffsetDims);
  const absl::Span<const int64_t> collapsed =
      instruction.attributes().Integers(Attr::kCollapsedSliceDims);
  const absl::Span<const int64_t> batching =
      instruction.attributes().Integers(Attr::kOperandBatchingDims);
  auto lists = [](absl::Span<const int64_t> list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  size_t offset = 0;
  for (int64_t d = 0; d < bound.rank(); ++d) {
    if (lists(collapsed, d) || lists(batching, d)) continue;
    const int64_t at = instruction.opcode() == Opcode::kGather ? offset_dims[offset++] : d;
    if (bound.is_dynamic(d) && sizes[d] == bound.dimension(d))
      cut.set_dimension(at, SizesOf(*op.operands[0]).dimension(d));
  }
  if (SameDimensions(cut, *shape)) return value;
  ASSAY_ASSIGN_OR_RETURN(Array result, Resized(interpreter, *value->array, cut));
  return MakeValue(std::move(result), interpreter.memory());
}

bool TouchesDynamic(const Instruction& instruction) {
  if (IsDynamic(instruction.shape())) return true;
  return std::any_of(instruction.operands().begin(), instruction.operands().end(),
                     [](const Instruction* operand) { return IsDynamic(operand->shape()); });
}

absl::StatusOr<Value> ApplyAtRunTimeSize(Interpreter& interpreter, const Evaluation& how,
                                         const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, RunTimeShape(op.instruction, op.operands));
  return interpreter.Apply(how, op.On(shape, op.operands));
}

namespace {

// An array among the entry's arguments, with its shape in the module.
struct Leaf {
  Value* value;
  const Shape* shape;
};
absl::StatusOr<Leaf> LeafAt(const Module& module, std::vector<Value>& arguments, int64_t parameter,
                            absl::Span<const int64_t> index) {
  const absl::Status missing =
      MakeError(ErrorClass::kRejected, StrCat("a dynamic parameter binding names an array of "
                                              "parameter ",
                                              parameter, " that is not there"));
  if (parameter < 0 || parameter >= static_cast<int64_t>(arguments.size())) return missing;
  Leaf leaf{&arguments[parameter], &module.entry()->parameter(parameter)->shape()};
  for (int64_t i : index) {
    const auto count = static_cast<int64_t>(leaf.shape->elements().size());
    if (i < 0 || i >= count) return missing;
    leaf = {&leaf.value->elements[i], &leaf.shape->elements()[i]};
  }
  return leaf.shape->IsArray() ? absl::StatusOr<Leaf>(leaf) : missing;
}

}  // namespace

absl::Status BindSizes(Interpreter& interpreter, const Module& module,
                       std::vector<Value>& arguments) {
  for (const auto& [bound, size] : module.annotations().dynamic_parameter_binding.entries()) {
    ASSAY_ASSIGN_OR_RETURN(Leaf number,
                           LeafAt(module, arguments, size.parameter_num, size.parameter_index));
    ASSAY_ASSIGN_OR_RETURN(Leaf leaf,
                           LeafAt(module, arguments, bound.parameter_num, bound.parameter_index));
    const int64_t d = bound.dimension;
    const std::string place =
        StrCat("dynamic parameter binding: dimension ", d, " of parameter ", bound.parameter_num,
               " at {", absl::StrJoin(bound.parameter_index, ","), "}");
    if (!number.shape->IsScalar() || !IsInteger(number.shape->element_type()) || d < 0 ||
        d >= leaf.shape->rank()) {
      return MakeError(ErrorClass::kRejected,
                       StrCat(place, ", of shape ", leaf.shape->ToString(), ", by the size in ",
                              number.shape->ToString(), "; want a dimension and an integer"));
    }
    if (!leaf.shape->is_dynamic(d)) {
      return MakeError(ErrorClass::kRejected,
                       StrCat(place, " is static in the module; write it as <=N"));
    }
    const int64_t wanted = number.value->array->literal.GetInteger(0);
    if (wanted < 0 || wanted > leaf.shape->dimension(d)) {
      return MakeError(
          ErrorClass::kRejected,
          StrCat(place, " has the size ", wanted, ", not in [0, ", leaf.shape->dimension(d), "]"));
    }
    const Shape& given = SizesOf(*leaf.value);
    Shape cut = Shape::Array(given.element_type(), given.dimensions());
    cut.set_dimension(d, wanted);
    ASSAY_ASSIGN_OR_RETURN(Array array, Resized(interpreter, *leaf.value->array, cut));
    *leaf.value = MakeValue(std::move(array), interpreter.memory());
  }
  return absl::OkStatus();
}

absl::Span<const OpEvaluation> DynamicShapeEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kGetDimensionSize,
       .evaluate = EvaluateGetDimensionSize,
       .bound = BoundNothing,
       .any_type = true},
      {.opcode = Opcode::kSetDimensionSize, .apply = ApplySetDimensionSize},
      {.opcode = Opcode::kDynamicReshape, .apply = ApplyDynamicReshape},
  };
  return kRows;
}

}  // namespace assay::reference
