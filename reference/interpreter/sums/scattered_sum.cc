// Evaluates additions to the results of scatters in the form that adds first.
#include "reference/interpreter/sums/scattered_sum.h"

#include <algorithm>
#include <memory>

#include "absl/algorithm/container.h"
#include "reference/bounds/elements.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Scatters into the result of another one are followed so far back. The operands of all of them
// stay in memory meanwhile, which a loop would add to on every trip.
constexpr int kMostScatters = 4;

bool IsMoveOfAll(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kReshape || instruction.opcode() == Opcode::kCopy;
}

// Gives the same elements in the same order.
Value InShape(const Value& value, const Shape& shape, MemoryMeter& memory) {
  if (value.array->literal.shape().dimensions() == shape.dimensions()) return value;
  Array moved = *value.array;
  Literal literal(Shape::Array(moved.literal.element_type(), shape.dimensions()));
  std::copy(moved.literal.bytes().begin(), moved.literal.bytes().end(), literal.bytes().begin());
  moved.literal = std::move(literal);
  return MakeValue(std::move(moved), memory);
}

// True if what is added to the array is the sum, whatever it is: the addition is left out.
bool IsPositiveZero(const Array& array) {
  const auto bytes = array.literal.bytes();
  return array.Certain() &&
         std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

bool MakesScatteredSum(const OpContext& op) {
  if (!op.clauses.Has(ClauseId::kScatterStarts)) return false;
  if (IsMoveOfAll(op.instruction)) return op.operands[0]->scattered != nullptr;
  return op.licensed.may_start_from_sum;
}

void NoteScatteredSum(const OpContext& op, Value& value) {
  if (IsMoveOfAll(op.instruction)) {
    value.scattered = op.operands[0]->scattered;
    return;
  }
  ScatteredSum sum{&op.instruction, *op.operands[0], *op.operands[1], *op.operands[2]};
  if (const ScatteredSum* before = sum.operand.scattered.get(); before != nullptr) {
    sum.depth = before->depth + 1;
    if (sum.depth > kMostScatters) {
      sum.depth = 1;
      sum.operand.scattered = nullptr;
    }
  }
  for (Value* other : {&sum.indices, &sum.updates}) other->scattered = nullptr;
  value.scattered = std::make_shared<const ScatteredSum>(std::move(sum));
}

// The scatter of operand `which` of an addition when it starts from a sum.
absl::StatusOr<Value> PulledInto(Interpreter& interpreter, const Evaluation& add,
                                 const OpContext& op, int64_t which) {
  const ScatteredSum& sum = *op.operands[which]->scattered;
  MemoryMeter& memory = interpreter.memory();
  const Shape& shape = sum.scatter->shape();
  Value start = InShape(*op.operands[1 - which], shape, memory);
  if (!IsPositiveZero(*sum.operand.array)) {
    const Value* addends[2] = {&start, &start};
    addends[which] = &sum.operand;
    ASSAY_ASSIGN_OR_RETURN(start, ApplyToScatteredSum(interpreter, add, op.On(shape, addends)));
  }
  const Value* operands[] = {&start, &sum.indices, &sum.updates};
  ASSAY_ASSIGN_OR_RETURN(
      const Value scattered,
      interpreter.Apply(EvaluationOf(*sum.scatter),
                        {*sum.scatter, shape, operands, interpreter.clauses(), op.analysis}));
  return InShape(scattered, op.shape, memory);
}

// Lets the elements of a sum also be what it gives when it is pulled into a scatter.
absl::Status HullWithPulledAddition(Interpreter& interpreter, const Evaluation& add,
                                    const OpContext& op, Value& value) {
  // The errors of this form are not those of the one that the text has.
  Analysis analysis = op.analysis;
  analysis.errors = nullptr;
  const OpContext unfollowed{op.instruction, op.shape, op.operands,
                             op.clauses,     analysis, op.licensed};
  Array result = *value.array;
  for (int64_t which : {0, 1}) {
    if (op.operands[which]->scattered == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(const Value pulled, PulledInto(interpreter, add, unfollowed, which));
    HullArrays(*pulled.array, result);
    result.facts().significand =
        std::min(result.facts().significand, pulled.array->facts().significand);
  }
  value = MakeValue(std::move(result), interpreter.memory());
  return absl::OkStatus();
}

}  // namespace

bool MayMeetScatteredSum(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  return opcode == Opcode::kAdd || opcode == Opcode::kScatter || IsMoveOfAll(instruction);
}

absl::StatusOr<Value> ApplyToScatteredSum(Interpreter& interpreter, const Evaluation& how,
                                          const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(Value value, interpreter.Apply(how, op));
  if (MakesScatteredSum(op)) NoteScatteredSum(op, value);
  const bool has_sum = absl::c_any_of(
      op.operands, [](const Value* operand) { return operand->scattered != nullptr; });
  if (op.instruction.opcode() == Opcode::kAdd && has_sum)
    ASSAY_RETURN_IF_ERROR(HullWithPulledAddition(interpreter, how, op, value));
  return value;
}

}  // namespace assay::reference
