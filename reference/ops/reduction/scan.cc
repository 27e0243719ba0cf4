// Scan: a computation applied along a dimension, carrying values from one step to the next.
// Document: hlo-format 4.0.5.
#include <cstring>

#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/reduction/fold.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Elements of an array along dimension `d`: outer lines of `length` steps of `inner` elements each.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
  Lines(const Shape& shape, int64_t d) : length(shape.dimension(d)) {
    for (int64_t k = 0; k < shape.rank(); ++k)
      if (k != d) (k < d ? outer : inner) *= shape.dimension(k);
  }
  int64_t At(int64_t line, int64_t step) const { return (line * length + step) * inner; }
};

// Copies `inner` elements with what is known about them.
void CopyRun(const Array& source, int64_t from, Array& result, int64_t to, int64_t inner) {
  const size_t width = StorageBytes(source.literal.element_type());
  std::memcpy(result.literal.bytes().data() + to * width,
              source.literal.bytes().data() + from * width, inner * width);
  for (int64_t k = 0; k < inner && !(source.Certain() && result.Certain()); ++k)
    MoveBound(source, from + k, result, to + k);
}

// Step `step` of an array along `d`, without that dimension.
Value StepOf(const Array& whole, int64_t d, int64_t step, MemoryMeter& memory) {
  const Shape& shape = whole.literal.shape();
  const Lines lines(shape, d);
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.erase(dimensions.begin() + d);
  Array part{Literal(Shape::Array(shape.element_type(), dimensions))};
  for (int64_t line = 0; line < lines.outer; ++line)
    CopyRun(whole, lines.At(line, step), part, line * lines.inner, lines.inner);
  return MakeValue(std::move(part), memory);
}

void StoreStep(const Array& part, int64_t d, int64_t step, Array& whole) {
  const Lines lines(whole.literal.shape(), d);
  for (int64_t line = 0; line < lines.outer; ++line)
    CopyRun(part, line * lines.inner, whole, lines.At(line, step), lines.inner);
}

std::vector<Value> LeavesOf(Value value) {
  return value.IsTuple() ? std::move(value.elements) : std::vector<Value>{std::move(value)};
}

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
    absl::StatusOr<Value> value = interpreter.Run(body, arguments);
    if (!value.ok()) return value.status();
    return LeavesOf(*std::move(value));
  }

  // One step after the other: the stacked outputs, then the last carries.
  absl::StatusOr<std::vector<Array>> InOrder() const;
  // Whether the computation combines a step with the running value, and gives the new running value
  // as the output too: then association has a meaning.
  bool IsCombination() const;
  // Marks what another association of the steps gives differently.
  absl::Status CompareAssociations(std::vector<Array>& results) const;
};

absl::StatusOr<std::vector<Array>> Scan::InOrder() const {
  std::vector<Shape> shapes =
      op.shape.IsTuple() ? op.shape.elements() : std::vector<Shape>{op.shape};
  const size_t outputs = shapes.size() - carries;
  std::vector<Array> stacked;
  for (size_t k = 0; k < outputs; ++k) stacked.emplace_back(Literal(shapes[k]));
  std::vector<Value> carried;
  for (int64_t k = 0; k < carries; ++k) carried.push_back(*op.operands[inputs + k]);
  for (int64_t step = 0; step < length; ++step) {
    absl::StatusOr<std::vector<Value>> leaves = Apply(InputsAt(step), carried);
    if (!leaves.ok()) return leaves.status();
    for (size_t k = 0; k < outputs; ++k)
      StoreStep(*(*leaves)[k].array, d, Position(step), stacked[k]);
    carried.assign(leaves->begin() + outputs, leaves->end());
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

// Element `i` may also be what another way to compute it gives.
void MergeOther(const Array& other, int64_t i, Array& result, int64_t at) {
  if (BoundsPerElement(result.literal.element_type()) != 0) {
    HullWith(other, i, result, at);
  } else if (result.literal.GetBits(at) != other.literal.GetBits(i) ||
             CodesOf(result, at) != CodesOf(other, i)) {
    SetUndecided(result, at);
  }
}

absl::Status Scan::CompareAssociations(std::vector<Array>& results) const {
  if (!IsCombination()) {
    for (Array& result : results) MakeUndecided(result);
    return absl::OkStatus();
  }
  std::vector<Value> first;
  for (int64_t k = 0; k < carries; ++k) first.push_back(*op.operands[inputs + k]);
  // From the last step back: f(f(f(x2, x1), x0), init).
  for (int64_t last = 1; last < length; ++last) {
    std::vector<Value> joined = InputsAt(last);
    for (int64_t step = last; step-- >= 0;) {
      absl::StatusOr<std::vector<Value>> leaves =
          Apply(std::move(joined), step >= 0 ? InputsAt(step) : first);
      if (!leaves.ok()) return leaves.status();
      joined.assign(leaves->begin(), leaves->begin() + carries);
    }
    for (int64_t k = 0; k < carries; ++k) {
      const Array& other = *joined[k].array;
      const Lines lines(results[k].literal.shape(), d);
      for (int64_t i = 0; i < other.literal.element_count(); ++i) {
        MergeOther(other, i, results[k],
                   lines.At(i / lines.inner, Position(last)) + i % lines.inner);
        if (last == length - 1) MergeOther(other, i, results[carries + k], i);
      }
    }
  }
  return absl::OkStatus();
}

// The steps up to one, of a running sum or the like, as terms of a fold.
class PrefixTerms : public FoldTerms {
 public:
  PrefixTerms(const Lines& lines, bool reverse) : lines_(lines), reverse_(reverse) {}
  int64_t results() const override { return lines_.outer * lines_.length * lines_.inner; }
  int64_t InitOf(int64_t o) const override {
    return o / lines_.inner / lines_.length * lines_.inner + o % lines_.inner;
  }
  void List(int64_t o, IndexMap& terms) const override {
    const int64_t line = o / lines_.inner / lines_.length, last = o / lines_.inner % lines_.length;
    terms.clear();
    for (int64_t step = 0; step < lines_.length; ++step)
      if (reverse_ ? step >= last : step <= last)
        terms.push_back(lines_.At(line, step) + o % lines_.inner);
  }

 private:
  Lines lines_;
  bool reverse_;
};

// The op of a body (x, carry) -> (y, y), y = x op carry, that folds know.
std::optional<Opcode> RunningOp(const Scan& scan) {
  if (scan.carries != 1 || !scan.IsCombination()) return std::nullopt;
  const Instruction& y = *scan.body.root()->operand(0);
  if (y.operands().size() != 2 || y.operand(0) == y.operand(1)) return std::nullopt;
  for (const Instruction* operand : y.operands())
    if (operand->opcode() != Opcode::kParameter) return std::nullopt;
  if (!Info(y.opcode()).Is(kAssociative)) return std::nullopt;
  return y.opcode();
}

// Steps may be combined in any association: running sums and the like have the bounds of folds.
absl::Status BoundAssociative(const Scan& scan, std::vector<Array>& results) {
  const std::optional<Opcode> running = RunningOp(scan);
  const ElementType type = scan.op.array(0).literal.element_type();
  if (scan.length == 0) return absl::OkStatus();
  if (running.has_value() && !IsFloat(type) && !IsComplex(type)) return absl::OkStatus();  // exact
  if (!running.has_value() || !IsFloat(type) || !IsComputed(type))
    return scan.CompareAssociations(results);
  const PrefixTerms terms(Lines(scan.op.literal(0).shape(), scan.d), scan.reverse);
  if (absl::Status status = scan.interpreter.budget().Take(terms.results() * scan.length);
      !status.ok())
    return status;
  results[0].bounds.clear();
  // The plain value was rounded at every step, which is one of the ways.
  BoundRecognisedFold(scan.op, *running, scan.op.array(0), scan.op.array(1), terms,
                      {.stepwise = true}, results[0]);
  const Value last =
      StepOf(results[0], scan.d, scan.Position(scan.length - 1), scan.interpreter.memory());
  results[1] = *last.array;
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
  if (absl::Status status = interpreter.memory().Check(op.shape.ByteSize()); !status.ok())
    return status;
  if (absl::Status status = interpreter.budget().Take(scan.length + 1); !status.ok()) return status;
  absl::StatusOr<std::vector<Array>> results = scan.InOrder();
  if (!results.ok()) return results.status();
  const bool associative = attributes.Flag(Attr::kIsAssociative);
  if (interpreter.bounding() && associative && op.clauses.Has(ClauseId::kReassociation)) {
    if (absl::Status status = BoundAssociative(scan, *results); !status.ok()) return status;
  }
  return Collate(*std::move(results), op.shape.IsTuple(), interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> ScanEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kScan, nullptr, nullptr, ApplyScan},
  };
  return kRows;
}

}  // namespace assay::reference
