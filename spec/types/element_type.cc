// The table of element types: names, widths and classes.
#include "spec/types/element_type.h"

#include <array>

#include "spec/base/word_table.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr TypeInfo Row(ElementType type, std::string_view name, TypeClass type_class, int bits,
                       int storage_bytes) {
  return {type, name, type_class, bits, storage_bytes};
}

using enum ElementType;
constexpr TypeClass kOther = TypeClass::kOther, kSigned = TypeClass::kSigned,
                    kUnsigned = TypeClass::kUnsigned, kFloat = TypeClass::kFloat,
                    kComplex = TypeClass::kComplex;

constexpr std::array<TypeInfo, kElementTypeCount> kRows = {{
    Row(kInvalid, "invalid", kOther, 0, 0),
    Row(kPred, "pred", TypeClass::kPred, 1, 1),
    Row(kS8, "s8", kSigned, 8, 1),
    Row(kS16, "s16", kSigned, 16, 2),
    Row(kS32, "s32", kSigned, 32, 4),
    Row(kS64, "s64", kSigned, 64, 8),
    Row(kU8, "u8", kUnsigned, 8, 1),
    Row(kU16, "u16", kUnsigned, 16, 2),
    Row(kU32, "u32", kUnsigned, 32, 4),
    Row(kU64, "u64", kUnsigned, 64, 8),
    Row(kF16, "f16", kFloat, 16, 2),
    Row(kF32, "f32", kFloat, 32, 4),
    Row(kF64, "f64", kFloat, 64, 8),
    Row(kTuple, "tuple", kOther, 0, 0),
    Row(kOpaque, "opaque", kOther, 0, 0),
    Row(kC64, "c64", kComplex, 64, 8),
    Row(kBF16, "bf16", kFloat, 16, 2),
    Row(kToken, "token", kOther, 0, 0),
    Row(kC128, "c128", kComplex, 128, 16),
    Row(kF8E5M2, "f8e5m2", kFloat, 8, 1),
    Row(kF8E4M3FN, "f8e4m3fn", kFloat, 8, 1),
    Row(kS4, "s4", kSigned, 4, 1),
    Row(kU4, "u4", kUnsigned, 4, 1),
    Row(kF8E4M3B11FNUZ, "f8e4m3b11fnuz", kFloat, 8, 1),
    Row(kF8E5M2FNUZ, "f8e5m2fnuz", kFloat, 8, 1),
    Row(kF8E4M3FNUZ, "f8e4m3fnuz", kFloat, 8, 1),
    Row(kS2, "s2", kSigned, 2, 1),
    Row(kU2, "u2", kUnsigned, 2, 1),
    Row(kF8E4M3, "f8e4m3", kFloat, 8, 1),
    Row(kF8E3M4, "f8e3m4", kFloat, 8, 1),
    Row(kS1, "s1", kSigned, 1, 1),
    Row(kU1, "u1", kUnsigned, 1, 1),
    Row(kF4E2M1FN, "f4e2m1fn", kFloat, 4, 1),
    Row(kF8E8M0FNU, "f8e8m0fnu", kFloat, 8, 1),
    Row(kBuffer, "buffer", kOther, 0, 0),
    Row(kF6E3M2FN, "f6e3m2fn", kFloat, 6, 1),
    Row(kF6E2M3FN, "f6e2m3fn", kFloat, 6, 1),
}};

constexpr bool RowsAreInOrder() {
  for (int i = 0; i < kElementTypeCount; ++i) {
    if (static_cast<int>(kRows[i].type) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

}  // namespace

const std::array<TypeInfo, kElementTypeCount> kTypes = kRows;

absl::Span<const TypeInfo> AllTypes() { return kTypes; }

std::optional<ElementType> ElementTypeFromName(std::string_view name) {
  if (name.size() < 2 || name.size() > 13) return std::nullopt;
  static const auto* const table = [] {
    auto* words = new WordTable<128>();
    for (const TypeInfo& row : kTypes) {
      if (row.type != kInvalid) words->Add(row.name, static_cast<int16_t>(row.type));
    }
    words->Add("opaque_type", static_cast<int16_t>(kOpaque));
    return words;
  }();
  const int16_t found = table->Find(name);
  if (found < 0) return std::nullopt;
  return static_cast<ElementType>(found);
}

ElementType ComponentType(ElementType type) {
  if (type == kC64) return kF32;
  if (type == kC128) return kF64;
  return type;
}

ElementType HigherPrecision(ElementType a, ElementType b) {
  if (a == b) return a;
  struct Key {
    bool complex;
    int max_exponent, precision, bits;
    bool is_signed;
    auto operator<=>(const Key&) const = default;
  };
  auto key = [](ElementType t) {
    Key k{IsComplex(t), -1, -1, BitWidth(t), IsSigned(t)};
    if (IsFloat(t) || IsComplex(t)) {
      const FloatFormat& format = Format(ComponentType(t));
      k.max_exponent = (1 << format.exponent_bits) - 1 - format.bias;
      k.precision = format.precision();
    }
    return k;
  };
  return key(a) >= key(b) ? a : b;
}

}  // namespace assay
