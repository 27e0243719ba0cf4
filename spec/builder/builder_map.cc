// Map with the static operands of 2017, which HLO's map does not have: scalars are broadcast, which
// says the same; arrays and tuples go through a loop that calls the computation for every element.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_join.h"
#include "spec/base/status_macros.h"
#include "spec/builder/builder_internal.h"
#include "spec/verifier/broadcasting.h"

namespace assay {
namespace {

// Ops of one computation of the loop; the first error stays.
class LoopOps {
 public:
  LoopOps(Computation* computation, const Shape& state)
      : computation_(computation), state_(computation->AddParameter(0, state, "state")) {}

  Instruction* Add(Opcode opcode, std::vector<Instruction*> operands, Attributes attributes = {},
                   const Shape* written = nullptr, absl::Span<Computation* const> callees = {}) {
    if (!status_.ok()) return nullptr;
    absl::StatusOr<Instruction*> made =
        computation_->AddInferred(opcode, operands, std::move(attributes), callees, written);
    if (made.ok()) return *made;
    status_ = made.status();
    return nullptr;
  }
  Instruction* Element(int64_t i) {
    return Add(Opcode::kGetTupleElement, {state_}, Attributes().Set(Attr::kIndex, AttrValue(i)));
  }
  Instruction* Number(int64_t value) {
    Literal literal(Shape::Scalar(ElementType::kS64));
    literal.SetInteger(0, value);
    return computation_->AddConstant(std::move(literal));
  }
  Instruction* Reshaped(Instruction* operand, const Shape& shape) {
    return Add(Opcode::kReshape, {operand}, {}, &shape);
  }
  absl::Status Finish(Instruction* root) {
    if (status_.ok()) computation_->set_root(root);
    return status_;
  }

 private:
  Computation* computation_;
  Instruction* state_;
  absl::Status status_;
};

Shape Flat(const Shape& array) {
  return Shape::Array(array.element_type(), {array.ElementCount()});
}

}  // namespace

XlaOp XlaBuilder::Map(Ops operands, const XlaComputation& computation, List dimensions,
                      Ops static_operands) {
  return Record("map", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(OperandVector resolved, Resolve(operands));
    ASSAY_ASSIGN_OR_RETURN(const OperandVector fixed, Resolve(static_operands));
    ASSAY_ASSIGN_OR_RETURN(Computation * callee, Import(computation));
    if (!fixed.empty() && (resolved.empty() || !resolved[0]->shape().IsArray())) {
      return absl::InvalidArgumentError("static operands need an array to map over beside them");
    }
    if (std::any_of(fixed.begin(), fixed.end(),
                    [](const Instruction* operand) { return !operand->shape().IsScalar(); })) {
      return MapInLoop(resolved, fixed, callee);
    }
    for (Instruction* operand : fixed) {
      ASSAY_ASSIGN_OR_RETURN(
          Instruction * broadcast,
          assay::BroadcastInDim(*entry_, operand, resolved[0]->shape().dimensions(), {}));
      resolved.push_back(broadcast);
    }
    Int64List all(dimensions.begin(), dimensions.end());
    if (all.empty() && !resolved.empty() && resolved[0]->shape().IsArray()) {
      all.resize(resolved[0]->shape().rank());
      std::iota(all.begin(), all.end(), int64_t{0});
    }
    return AddOp(Opcode::kMap, resolved,
                 Attributes().Set(Attr::kDimensions, absl::MakeConstSpan(all)), {&callee, 1});
  });
}

// (i, out, operands as vectors, static operands) := (0, zeros, ...); while i < n: out[i] :=
// callee(elements i of the operands, static operands), i := i + 1.
XlaBuilder::Result XlaBuilder::MapInLoop(const OperandVector& mapped, const OperandVector& fixed,
                                         Computation* callee) {
  const Shape& over = mapped[0]->shape();
  const Shape& result = callee->root()->shape();
  for (const Instruction* operand : mapped) {
    if (operand->shape().IsArray() && SameDimensions(operand->shape(), over)) continue;
    return absl::InvalidArgumentError(StrCat("operands ", over.ToString(), " and ",
                                             operand->shape().ToString(),
                                             " have different dimensions"));
  }
  if (!result.IsScalar() || over.HasDynamicDimension()) {
    return absl::InvalidArgumentError(StrCat("a computation that returns ", result.ToString(),
                                             " over ", over.ToString(),
                                             ": want a scalar and static sizes"));
  }
  Instruction* zero = entry_->AddConstant(Literal(Shape::Scalar(result.element_type())));
  const int64_t count = over.ElementCount();
  if (count == 0) return assay::BroadcastInDim(*entry_, zero, over.dimensions(), {});
  const Shape out = Shape::Array(result.element_type(), {count});
  std::vector<Shape> parts = {Shape::Scalar(ElementType::kS64), out};
  for (const Instruction* operand : mapped) parts.push_back(Flat(operand->shape()));
  for (const Instruction* operand : fixed) parts.push_back(operand->shape());
  const Shape state = Shape::Tuple(parts);

  Computation* condition = module_->AddComputation("map_goes_on");
  LoopOps go(condition, state);
  ASSAY_RETURN_IF_ERROR(go.Finish(go.Add(Opcode::kCompare, {go.Element(0), go.Number(count)},
                                         Attributes().Set(Attr::kDirection, Direction::kLt))));

  Computation* body = module_->AddComputation("map_element");
  LoopOps step(body, state);
  std::vector<Instruction*> next, arguments;
  Instruction* i = step.Element(0);
  next.push_back(step.Add(Opcode::kAdd, {i, step.Number(1)}));
  next.push_back(nullptr);
  for (size_t k = 2; k < parts.size(); ++k) {
    next.push_back(step.Element(static_cast<int64_t>(k)));
    if (k >= 2 + mapped.size()) {
      arguments.push_back(next.back());
      continue;
    }
    Instruction* one = step.Add(Opcode::kDynamicSlice, {next.back(), i},
                                Attributes().Set(Attr::kDynamicSliceSizes, {1}));
    arguments.push_back(step.Reshaped(one, Shape::Scalar(parts[k].element_type())));
  }
  Instruction* value = step.Add(Opcode::kCall, arguments, {}, nullptr, {&callee, 1});
  next[1] = step.Add(
      Opcode::kDynamicUpdateSlice,
      {step.Element(1), step.Reshaped(value, Shape::Array(result.element_type(), {1})), i});
  ASSAY_RETURN_IF_ERROR(step.Finish(step.Add(Opcode::kTuple, next)));

  std::vector<Instruction*> initial = {
      entry_->AddConstant(Literal(Shape::Scalar(ElementType::kS64)))};
  ASSAY_ASSIGN_OR_RETURN(initial.emplace_back(),
                         assay::BroadcastInDim(*entry_, zero, out.dimensions(), {}));
  for (Instruction* operand : mapped) {
    const Shape flat = Flat(operand->shape());
    ASSAY_ASSIGN_OR_RETURN(initial.emplace_back(),
                           AddOp(Opcode::kReshape, {&operand, 1}, {}, {}, &flat));
  }
  initial.insert(initial.end(), fixed.begin(), fixed.end());
  ASSAY_ASSIGN_OR_RETURN(Instruction * tuple, AddOp(Opcode::kTuple, initial));
  Computation* const callees[] = {condition, body};
  ASSAY_ASSIGN_OR_RETURN(Instruction * loop, AddOp(Opcode::kWhile, {&tuple, 1}, {}, callees));
  ASSAY_ASSIGN_OR_RETURN(Instruction * vector, AddOp(Opcode::kGetTupleElement, {&loop, 1},
                                                     Attributes().Set(Attr::kIndex, 1)));
  const Shape shape = Shape::Array(result.element_type(), over.dimensions());
  return AddOp(Opcode::kReshape, {&vector, 1}, {}, {}, &shape);
}

}  // namespace assay
