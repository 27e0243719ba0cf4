// Tells whether a property accepts NaN everywhere, and which elements belong to a joint choice.
#include "reference/values/property.h"

#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

uint64_t WithOneNan(const FloatFormat& format, uint64_t code) {
  return IsNanCode(format, code) ? QuietNan(format) : code;
}

}  // namespace

bool AcceptsNan(const Property& property) {
  if (IsJoint(property) || property.only_seen) return false;
  std::vector<Literal> parts;
  for (const Shape& shape : property.parts) {
    Literal& part = parts.emplace_back(shape);
    for (int64_t k = 0; k < part.component_count(); ++k)
      part.SetComponentBits(k, QuietNan(Format(part.element_type())));
  }
  return property.violation(parts, std::vector<bool>(parts.size(), true)).empty();
}

JointCode CodeOf(const Literal& literal, int64_t i) {
  const ElementType type = literal.element_type();
  if (BoundsPerElement(type) == 0) return {literal.GetBits(i), 0};
  const FloatFormat& format = Format(ComponentType(type));
  if (!IsComplex(type)) return {WithOneNan(format, literal.GetBits(i)), 0};
  return {WithOneNan(format, literal.GetComponentBits(2 * i)),
          WithOneNan(format, literal.GetComponentBits(2 * i + 1))};
}

void SetJoint(Array& array, int64_t i, const std::shared_ptr<const Joint>& joint, int64_t number) {
  array.facts().origins.insert_or_assign(i, Origin{joint, 0, number});
}

void DropJoint(Array& array, int64_t i) {
  if (array.facts().origins.empty()) return;
  const auto origin = array.facts().origins.find(i);
  if (origin != array.facts().origins.end() && IsJoint(*origin->second.property))
    array.facts().origins.erase(origin);
}

}  // namespace assay::reference
