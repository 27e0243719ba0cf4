// Scan: a computation applied along a dimension, carrying values from one step to the next.
// Document: hlo-format 4.0.5. The plain value takes one run of the computation per step; the bounds
// of a short associative scan take a number of runs that grows with the square of the length, those
// of a long one the length times its logarithm, and of the longest nothing is known.
#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/bounds/reduce.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/values/leaves.h"
#include "reference/values/lines.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Step `step` of an array along dimension `d`, without that dimension.
Value StepOf(const Array& whole, int64_t d, int64_t step, MemoryMeter& memory) {
  const Shape& shape = whole.literal.shape();
  const Lines lines(shape, d);
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.erase(dimensions.begin() + d);
  Array part{Literal(Shape::Array(shape.element_type(), dimensions))};
  for (int64_t o = 0; o < lines.outer; ++o)
    CopyElements(whole, lines.Block(o, step), part, o * lines.inner, lines.inner);
  return MakeValue(std::move(part), memory);
}

// Writes `part` as step `step` of `whole` along dimension `d`.
void StoreStep(const Array& part, int64_t d, int64_t step, Array& whole) {
  const Lines lines(whole.literal.shape(), d);
  for (int64_t o = 0; o < lines.outer; ++o)
    CopyElements(part, o * lines.inner, whole, lines.Block(o, step), lines.inner);
}

// UNSPECIFIED(hlo-format 4.0.5): the association in which the steps of an associative scan are
// combined. A scan is one of four cases:
enum class Association {
  kExact,    // every association gives the same: a running op of integers, or no steps
  kFold,     // output k is a fold of the steps up to k, whose bounds are known
  kTried,    // another association is tried, and where it differs the result is not unique
  kUnknown,  // the computation has no meaning in another association, or there are too many steps
             // to try one: nothing is known
};

struct Scan {
  Interpreter& interpreter;
  const OpContext& op;
  const Computation& body;
  int64_t d, carries, inputs, length;
  bool reverse;

  int64_t Position(int64_t step) const { return reverse ? length - 1 - step : step; }

  // The inputs at one step, before the carries.
  std::vector<Value> InputsAt(int64_t step) const {
    std::vector<Value> arguments;
    for (int64_t k = 0; k < inputs; ++k)
      arguments.push_back(StepOf(op.array(k), d, Position(step), interpreter.memory()));
    return arguments;
  }
  absl::StatusOr<std::vector<Value>> Apply(std::vector<Value> arguments,
                                           absl::Span<const Value> carried) const {
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    ASSAY_ASSIGN_OR_RETURN(Value value, interpreter.Run(body, arguments));
    return LeavesOf(std::move(value));
  }

  // Runs one step after the other. The results are the stacked outputs, then the last carries.
  absl::StatusOr<std::vector<Array>> InOrder() const;
  // True if the computation combines a step with the running value and gives the new running value
  // as the output too: only then association has a meaning.
  bool IsCombination() const;
  // The op of a computation (x, carry) -> (y, y), y = x op carry, that folds know.
  std::optional<Opcode> RunningOp() const;
  Association AssociationOf() const;

  // Bounds of results whose steps may be combined in any association.
  absl::Status BoundAssociations(std::vector<Array>& results) const;
  absl::Status BoundAsFold(std::vector<Array>& results) const;
  absl::Status CompareFromLastStep(std::vector<Array>& results) const;
  absl::Status CompareByLevels(std::vector<Array>& results) const;
  void MergeStep(absl::Span<const Value> joined, int64_t step, std::vector<Array>& results) const;
  void NoteRunningSizes(std::vector<Array>& results) const;
};

absl::StatusOr<std::vector<Array>> Scan::InOrder() const {
  const absl::Span<const Shape> shapes = LeavesOf(op.shape);
  const size_t outputs = shapes.size() - carries;
  std::vector<Array> stacked;
  for (size_t k = 0; k < outputs; ++k) stacked.emplace_back(Literal(shapes[k]));
  std::vector<Value> carried;
  for (int64_t k = 0; k < carries; ++k) carried.push_back(*op.operands[inputs + k]);
  for (int64_t step = 0; step < length; ++step) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> leaves, Apply(InputsAt(step), carried));
    for (size_t k = 0; k < outputs; ++k) StoreStep(*leaves[k].array, d, Position(step), stacked[k]);
    carried.assign(leaves.begin() + outputs, leaves.end());
  }
  for (const Value& value : carried) stacked.push_back(*value.array);
  return stacked;
}

bool Scan::IsCombination() const {
  const Instruction& root = *body.root();
  if (root.opcode() != Opcode::kTuple || inputs != carries) return false;
  if (static_cast<int64_t>(root.operands().size()) != 2 * carries) return false;
  for (int64_t k = 0; k < carries; ++k) {
    if (root.operand(k) != root.operand(carries + k)) return false;
    if (!Compatible(body.parameter(k)->shape(), body.parameter(inputs + k)->shape())) return false;
  }
  return true;
}

// Element `at` of `result` may also be what element `i` of `other` is, which was computed another
// way.
void MergeOther(const Array& other, int64_t i, Array& result, int64_t at) {
  if (BoundsPerElement(result.literal.element_type()) != 0) {
    HullWith(other, i, result, at);
  } else if (result.literal.GetBits(at) != other.literal.GetBits(i) ||
             CodesOf(result, at) != CodesOf(other, i)) {
    SetUndecided(result, at);
  }
}

// The results up to `step` may also be what another association gave.
void Scan::MergeStep(absl::Span<const Value> joined, int64_t step,
                     std::vector<Array>& results) const {
  for (int64_t k = 0; k < carries; ++k) {
    const Array& other = *joined[k].array;
    const Lines lines(results[k].literal.shape(), d);
    for (int64_t i = 0; i < other.literal.element_count(); ++i) {
      MergeOther(other, i, results[k],
                 lines.Block(i / lines.inner, Position(step)) + i % lines.inner);
      if (step == length - 1) MergeOther(other, i, results[carries + k], i);
    }
  }
}

// From the last step back: f(f(f(x2, x1), x0), init). Every output has an association of its own:
// length^2 / 2 runs of the computation.
absl::Status Scan::CompareFromLastStep(std::vector<Array>& results) const {
  std::vector<Value> first;
  for (const Value* value : op.operands.subspan(inputs)) first.push_back(*value);
  for (int64_t last = 1; last < length; ++last) {
    std::vector<Value> joined = InputsAt(last);
    for (int64_t step = last; step-- >= 0;) {
      ASSAY_ASSIGN_OR_RETURN(std::vector<Value> leaves,
                             Apply(std::move(joined), step >= 0 ? InputsAt(step) : first));
      joined.assign(leaves.begin(), leaves.begin() + carries);
    }
    MergeStep(joined, last, results);
  }
  return absl::OkStatus();
}

// At each level a step joins what it has come to with what the step 1, 2, 4, ... before it has:
// length log2(length) runs.
absl::Status Scan::CompareByLevels(std::vector<Array>& results) const {
  std::vector<std::vector<Value>> joined;
  for (int64_t step = 0; step < length; ++step) joined.push_back(InputsAt(step));
  const auto join = [&](int64_t step, absl::Span<const Value> before) -> absl::Status {
    std::vector<Value>& at = joined[static_cast<size_t>(step)];
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> leaves, Apply(std::move(at), before));
    at.assign(leaves.begin(), leaves.begin() + carries);
    return absl::OkStatus();
  };
  std::vector<Value> first;
  for (const Value* value : op.operands.subspan(inputs)) first.push_back(*value);
  ASSAY_RETURN_IF_ERROR(join(0, first));
  for (int64_t distance = 1; distance < length; distance *= 2) {
    for (int64_t step = length - 1; step >= distance; --step)
      ASSAY_RETURN_IF_ERROR(join(step, joined[static_cast<size_t>(step - distance)]));
  }
  for (int64_t step = 1; step < length; ++step)
    MergeStep(joined[static_cast<size_t>(step)], step, results);
  return absl::OkStatus();
}

// Notes as the magnitude of every element the largest number that the scan had come to, or had
// combined, up to its step.
void Scan::NoteRunningSizes(std::vector<Array>& results) const {
  for (int64_t k = 0; k < carries; ++k) {
    Array &stacked = results[k], &last = results[carries + k];
    const Lines lines(stacked.literal.shape(), d);
    const int64_t parts = BoundsPerElement(stacked.literal.element_type());
    if (stacked.facts().bounds.empty() || parts == 0) continue;
    for (int64_t line = 0; line < lines.count; ++line) {
      double largest = 0;
      auto note = [&](const Array& array, int64_t i) {
        for (int64_t slot = i * parts; slot < (i + 1) * parts; ++slot) {
          const double size = std::fabs(array.literal.GetComponent(slot));
          if (std::isfinite(size)) largest = std::max(largest, size);
        }
      };
      auto set = [&](Array& array, int64_t i) {
        for (int64_t slot = i * parts; !array.facts().bounds.empty() && slot < (i + 1) * parts;
             ++slot)
          array.facts().bounds[slot].set_magnitude(
              std::max(array.facts().bounds[slot].magnitude(), largest));
      };
      note(op.array(inputs + k), line);
      for (int64_t step = 0; step < length; ++step) {
        const int64_t at = lines.Element(line, Position(step));
        note(op.array(k), at);
        note(stacked, at);
        set(stacked, at);
      }
      set(last, line);
    }
  }
}

// A running sum or the like as a fold: the terms of an element are the steps of its line up to its
// own.
class PrefixTerms : public FoldTerms {
 public:
  PrefixTerms(const Lines& lines, bool reverse) : lines_(lines), reverse_(reverse) {}
  int64_t results() const override { return lines_.count * lines_.length; }
  int64_t InitOf(int64_t o) const override {
    return o / lines_.inner / lines_.length * lines_.inner + o % lines_.inner;
  }
  void List(int64_t o, IndexMap& terms) const override {
    const int64_t outer = o / lines_.inner / lines_.length, last = o / lines_.inner % lines_.length;
    terms.clear();
    for (int64_t step = 0; step < lines_.length; ++step)
      if (reverse_ ? step >= last : step <= last)
        terms.push_back(lines_.Block(outer, step) + o % lines_.inner);
  }
  Visited Visit(int64_t k, IndexMap& more) const override {
    const int64_t step = k % lines_.length, place = reverse_ ? lines_.length - 1 - step : step;
    const int64_t o = lines_.Element(k / lines_.length, place);
    more.assign(1, o);
    return {o, step != 0};
  }

 private:
  Lines lines_;
  bool reverse_;
};

std::optional<Opcode> Scan::RunningOp() const {
  if (carries != 1 || !IsCombination()) return std::nullopt;
  const Instruction& y = *body.root()->operand(0);
  if (y.operands().size() != 2 || y.operand(0) == y.operand(1)) return std::nullopt;
  for (const Instruction* operand : y.operands())
    if (operand->opcode() != Opcode::kParameter) return std::nullopt;
  if (!Info(y.opcode()).Is(kAssociative)) return std::nullopt;
  return y.opcode();
}

Association Scan::AssociationOf() const {
  if (length == 0) return Association::kExact;
  const ElementType type = op.array(0).literal.element_type();
  if (RunningOp().has_value()) {
    if (!IsFloat(type) && !IsComplex(type)) return Association::kExact;
    if (IsFloat(type) && IsComputed(type)) return Association::kFold;
  }
  // A second or two of runs.
  constexpr int64_t kMostSteps = 1 << 15;
  return IsCombination() && length <= kMostSteps ? Association::kTried : Association::kUnknown;
}

// Folds are bounded as if they rounded at every step, which the plain value did.
absl::Status Scan::BoundAsFold(std::vector<Array>& results) const {
  const PrefixTerms terms(Lines(op.literal(0).shape(), d), reverse);
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(terms.results()));
  results[0].facts().bounds.clear();
  BoundRecognisedFold(op, {*RunningOp(), op.array(0), op.array(1), terms, {.stepwise = true}},
                      results[0]);
  const Value last = StepOf(results[0], d, Position(length - 1), interpreter.memory());
  results[1] = *last.array;
  return absl::OkStatus();
}

absl::Status Scan::BoundAssociations(std::vector<Array>& results) const {
  switch (AssociationOf()) {
    case Association::kExact:
      return absl::OkStatus();
    case Association::kFold:
      return BoundAsFold(results);
    case Association::kTried: {
      constexpr int64_t kFewSteps = 512;
      ASSAY_RETURN_IF_ERROR(length <= kFewSteps ? CompareFromLastStep(results)
                                                : CompareByLevels(results));
      NoteRunningSizes(results);
      return absl::OkStatus();
    }
    case Association::kUnknown:
      break;
  }
  for (Array& result : results) MakeUndecided(result);
  return absl::OkStatus();
}

absl::StatusOr<Value> ApplyScan(Interpreter& interpreter, const OpContext& op) {
  const Attributes& attributes = op.instruction.attributes();
  const int64_t d = attributes.Integers(Attr::kDimension)[0];
  const int64_t carries = attributes.Integer(Attr::kNumCarries);
  const Scan scan{interpreter,
                  op,
                  *op.instruction.callee(),
                  d,
                  carries,
                  static_cast<int64_t>(op.operands.size()) - carries,
                  op.literal(0).shape().dimension(d),
                  attributes.Flag(Attr::kIsReverse)};
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(scan.length + 1));
  ASSAY_ASSIGN_OR_RETURN(std::vector<Array> results, scan.InOrder());
  const bool associative = attributes.Flag(Attr::kIsAssociative);
  if (interpreter.bounding() && associative && op.clauses.Has(ClauseId::kReassociation)) {
    ASSAY_RETURN_IF_ERROR(scan.BoundAssociations(results));
  }
  return ValueOfLeaves(std::move(results), op.shape, interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> ScanEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kScan, .apply = ApplyScan},
  };
  return kRows;
}

}  // namespace assay::reference
