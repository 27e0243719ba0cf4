// TopK. Document: operation semantics chapter 10, TopK.
#include <numeric>
#include <optional>

#include "reference/bounds/elements.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/widening.h"
#include "reference/ops/sorting/position_ranges.h"
#include "reference/ops/sorting/sort_keys.h"
#include "reference/values/index_map.h"
#include "reference/values/narrow_types.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// True if the line has one possible order only; ties by index if `stable`.
bool IsUnique(absl::Span<const SortKey> keys, absl::Span<const int64_t> order, bool stable) {
  for (const SortKey& key : keys)
    if (!key.IsSingle()) return false;
  for (size_t p = 1; p < order.size(); ++p)
    if (!stable && keys[order[p - 1]].low == keys[order[p]].low) return false;
  return true;
}

absl::StatusOr<Value> ApplyTopK(Interpreter& interpreter, const OpContext& op) {
  const Array& operand = op.array(0);
  const ElementType type = operand.literal.element_type();
  if (!IsComputed(type) && !IsNarrowType(type)) return UnsupportedType(op, type);
  const int64_t elements = operand.literal.element_count();
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(elements + 1));
  for (int64_t need : {op.shape.ByteSize(), 8 * elements})
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(need));
  const Attributes& attributes = op.instruction.attributes();
  // UNSPECIFIED(operation semantics 10, TopK): the order of equal elements unless is_stable.
  const bool stable = attributes.Flag(Attr::kIsStable, true);
  // Top-k orders by the total order, in which NaNs have places too.
  const KeyOrder by{.descending = attributes.Flag(Attr::kLargest, true), .total = true};
  // Narrow types are ordered like the wider ones that hold their values.
  std::optional<Array> wide;
  if (IsNarrowType(type)) {
    ASSAY_ASSIGN_OR_RETURN(Array converted,
                           ConvertArray(op, operand, ComputedType(type), interpreter.bounding()));
    wide = std::move(converted);
  }
  const KeySource source{wide.has_value() ? *wide : operand, by, op.clauses,
                         IsMovedOnly(*op.instruction.operand(0)),
                         wide.has_value() || MayLosePayload(op.clauses, type)};
  Array values{Literal(op.shape.elements()[0])}, indices{Literal(op.shape.elements()[1])};
  const Shape& shape = operand.literal.shape();
  const int64_t length = shape.dimension(shape.rank() - 1);
  const int64_t k = op.shape.elements()[0].dimension(shape.rank() - 1);
  const Lines all(shape, shape.rank() - 1);
  const int64_t lines = length == 0 ? 0 : elements / length;
  IndexMap order(length);
  for (int64_t line = 0; line < lines; ++line) {
    std::iota(order.begin(), order.end(), int64_t{0});
    OrderLine(source, all, line, absl::MakeSpan(order));
    for (int64_t p = 0; p < k; ++p) {
      values.literal.SetBits(line * k + p, operand.literal.GetBits(line * length + order[p]));
      indices.literal.SetInteger(line * k + p, order[p]);
    }
    if (!interpreter.bounding()) continue;
    const std::vector<SortKey> of_line = KeysOf(source, all, line, line + 1);
    if (IsUnique(of_line, order, stable)) {
      for (int64_t p = 0; p < k; ++p)
        BoundAsOneOf(operand, {line * length + order[p]}, values, line * k + p);
      continue;
    }
    if (length > kMaxAnalysedLine) {
      for (Array* result : {&values, &indices})
        for (int64_t p = 0; p < k; ++p) SetUndecided(*result, line * k + p);
      continue;
    }
    const std::vector<std::vector<int64_t>> candidates =
        CandidatesByPosition(RangesByKeys(of_line, stable), order);
    for (int64_t p = 0; p < k; ++p) {
      IndexMap from;
      std::vector<uint64_t> codes;
      for (int64_t at : candidates[p]) {
        from.push_back(line * length + at);
        codes.push_back(static_cast<uint64_t>(at));
      }
      BoundAsOneOf(operand, from, values, line * k + p);
      SetCodes(indices, line * k + p, std::move(codes));
    }
  }
  std::vector<Value> results;
  results.push_back(MakeValue(std::move(values), interpreter.memory()));
  results.push_back(MakeValue(std::move(indices), interpreter.memory()));
  return Value::Tuple(std::move(results));
}

}  // namespace

absl::Span<const OpEvaluation> TopKEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kTopK, .apply = ApplyTopK},
  };
  return kRows;
}

}  // namespace assay::reference
