// Values of arrays by family: what inputs and constants of generated programs are filled with.
// Families follow the value sections of the generator's requirements; none floods a program with
// NaN or infinity.
#pragma once

#include <string_view>

#include "fuzz/choices.h"
#include "spec/attributes/opcode.h"
#include "spec/types/literal.h"

namespace assay {

enum class ValueFamily : uint8_t {
  kExact,       // small integers, mostly 0 and 1: sums in any order give the same bits
  kOrdinary,    // dense near decision points: halves and quarters in [-4, 4]; small integers
  kWide,        // exponents from the whole comfortable range; integers from all bits
  kSpecials,    // ordinary values with edges of the type among them
  kOneSpecial,  // one edge value at the first, the last or a random position
  kIota,
  kAllEqual,
  kAlternating,  // x, -x, x, ...
};
inline constexpr int kValueFamilyCount = 8;
std::string_view Name(ValueFamily family);

// A new literal of `shape`, an array of a computed element type, with values of the family.
Literal LiteralOfFamily(const Shape& shape, ValueFamily family, Choices& choices);

// One code of `type` that is an edge of it: zeros, ones, subnormals, largest values, infinities,
// NaNs; integer limits and powers of two.
// Ordinary values with an edge of the type at every `every`-th number from `first` on.
Literal LiteralWithEdges(const Shape& shape, int64_t first, int64_t every, Choices& choices);
uint64_t EdgeCode(ElementType type, RandomStream& stream);
// A scalar of the kind that rules ask about: small integers, halves, thirds, the ends of this type
// and of narrower ones, the widths of types, all edges, any bits.
Literal BaitScalar(ElementType type, Choices& choices);
// Half of the time what rules about the second operand of that op ask for: amounts of shifts,
// masks, ends of types for what compares, exponents.
Literal BaitScalarFor(Opcode opcode, ElementType type, Choices& choices);
// A value that a rule about a constant operand of that op may ask for, always: the ends of this
// type and of all others, powers of two of any size, amounts around widths, exponents whole and
// broken.
Literal GridScalar(Opcode opcode, ElementType type, Choices& choices);
// Every element is another bait for that op.
Literal LiteralWithBait(Opcode opcode, const Shape& shape, Choices& choices);

// Values at which a conversion to `to` decides: numbers of it, halfway between two of them, its
// ends, and what lies beside these in the last place of the shape's own type. Real types only.
Literal LiteralNearCodes(const Shape& shape, ElementType to, Choices& choices);

// Least and greatest value of an integer type, as the bits of an int64 (u64: greatest is -1).
int64_t MinOf(ElementType integer);
int64_t MaxOf(ElementType integer);

}  // namespace assay
