// The narrow types and the wider ones in which their ops are done.
#include "reference/values/narrow_types.h"

#include "spec/types/native.h"

namespace assay::reference {

bool IsNarrowType(ElementType type) { return ComputedType(type) != type; }

ElementType ComputedType(ElementType type) {
  if (BitWidth(type) > 8 || IsComputed(type)) return type;
  if (IsFloat(type)) return ElementType::kF32;
  if (IsSigned(type)) return ElementType::kS8;
  return IsUnsigned(type) ? ElementType::kU8 : type;
}

}  // namespace assay::reference
