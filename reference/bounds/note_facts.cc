// Precision, bits of NaNs and magnitudes of results, from those of their operands.
#include "reference/bounds/note_facts.h"

#include <algorithm>

#include "reference/bounds/magnitudes.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

int LeastSignificand(const Value& value) {
  if (!value.IsTuple()) return value.array->facts().significand;
  int least = ArrayExpectation::kOwnSignificand;
  for (const Value& element : value.elements) least = std::min(least, LeastSignificand(element));
  return least;
}

// Sets the precision of what an op made: that of its operands, and of its own rounding if there is
// more than one answer. Integers and predicates are exact.
void NotePrecision(const OpContext& op, Array& result) {
  const ElementType type = result.literal.element_type();
  if (BoundsPerElement(type) == 0) return;
  Facts& facts = result.facts();
  for (const Value* operand : op.operands)
    facts.significand = std::min(facts.significand, LeastSignificand(*operand));
  const int own = Format(ComponentType(type)).precision();
  if (own >= facts.significand) return;
  const bool is_rounded =
      std::any_of(facts.bounds.begin(), facts.bounds.end(),
                  [](const ElementBound& bound) { return (bound.flags & kForced) == 0; });
  if (is_rounded) facts.significand = own;
}

// Moves keep the bits of NaNs.
bool KeepsNanBits(const OpContext& op) {
  return IsMove(op.instruction.opcode()) &&
         std::all_of(op.operands.begin(), op.operands.end(), [](const Value* operand) {
           if (operand->IsTuple()) return false;
           const Array& array = *operand->array;
           return array.facts().nan_bits || BoundsPerElement(array.literal.element_type()) == 0;
         });
}

}  // namespace

void NoteFacts(const OpContext& op, Array& result) {
  NotePrecision(op, result);
  result.facts().nan_bits = KeepsNanBits(op);
  NoteMagnitudes(op, result);
}

void NoteFreshFacts(const OpContext& op, MemoryMeter& memory, Value& value) {
  for (Value& element : value.elements) NoteFreshFacts(op, memory, element);
  if (value.IsTuple() || value.array->facts().significand != ArrayExpectation::kOwnSignificand)
    return;
  std::optional<Array> fresh = value.Release();
  if (!fresh.has_value()) return;
  NotePrecision(op, *fresh);
  NoteFreshMagnitudes(op, *fresh);
  value.array = MakeValue(*std::move(fresh), memory).array;
}

}  // namespace assay::reference
