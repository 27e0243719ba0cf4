// Element types of HLO arrays and what each one is made of.
// Documents: operation semantics (type lists of every op); the numbering is that of the binary form
// (HloModuleProto).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"

namespace assay {

enum class ElementType : uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBF16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kS4 = 21,
  kU4 = 22,
  kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25,
  kS2 = 26,
  kU2 = 27,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4E2M1FN = 32,
  kF8E8M0FNU = 33,
  kBuffer = 34,
  kF6E3M2FN = 35,
  kF6E2M3FN = 36,
};
inline constexpr int kElementTypeCount = 37;

enum class TypeClass : uint8_t { kOther, kPred, kSigned, kUnsigned, kFloat, kComplex };

struct TypeInfo {
  ElementType type;
  std::string_view name;  // spelling in HLO text
  TypeClass type_class;
  int bits;           // logical width; complex: both parts; 0 for non-array types
  int storage_bytes;  // bytes of one element in a Literal (sub-byte types take a byte each)
};

extern const std::array<TypeInfo, kElementTypeCount> kTypes;  // in enumerator order
// The row of `type`. Total: every enumerator has one.
inline const TypeInfo& Info(ElementType type) { return kTypes[static_cast<size_t>(type)]; }
// All rows, in enumerator order.
absl::Span<const TypeInfo> AllTypes();
// Text name -> type ("f32"); nullopt for an unknown word.
std::optional<ElementType> ElementTypeFromName(std::string_view name);

inline std::string_view Name(ElementType type) { return Info(type).name; }
inline int BitWidth(ElementType type) { return Info(type).bits; }
inline int StorageBytes(ElementType type) { return Info(type).storage_bytes; }
inline TypeClass ClassOf(ElementType type) { return Info(type).type_class; }

inline bool IsPred(ElementType t) { return t == ElementType::kPred; }
inline bool IsSigned(ElementType t) { return ClassOf(t) == TypeClass::kSigned; }
inline bool IsUnsigned(ElementType t) { return ClassOf(t) == TypeClass::kUnsigned; }
inline bool IsInteger(ElementType t) { return IsSigned(t) || IsUnsigned(t); }
inline bool IsFloat(ElementType t) { return ClassOf(t) == TypeClass::kFloat; }
inline bool IsComplex(ElementType t) { return ClassOf(t) == TypeClass::kComplex; }
// True for types whose arrays hold elements (not tuple, token, opaque, buffer).
inline bool IsArrayType(ElementType t) { return ClassOf(t) != TypeClass::kOther; }

// The type of the real and imaginary part of a complex type; the type itself otherwise.
ElementType ComponentType(ElementType type);

// The common type of two operands that differ only in precision (document hlo-format,
// "HigherPrecision").
ElementType HigherPrecision(ElementType a, ElementType b);

}  // namespace assay
