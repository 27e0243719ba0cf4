// Whether a property accepts NaN everywhere.
#include "reference/values/property.h"

#include "spec/types/float_format.h"

namespace assay::reference {

bool AcceptsNan(const Property& property) {
  std::vector<Literal> parts;
  for (const Shape& shape : property.parts) {
    Literal& part = parts.emplace_back(shape);
    for (int64_t k = 0; k < part.component_count(); ++k)
      part.SetComponentBits(k, QuietNan(Format(part.element_type())));
  }
  return property.violation(parts, std::vector<bool>(parts.size(), true)).empty();
}

}  // namespace assay::reference
