// Puts what was seen together to the arrays of each property and asks the property about it. A part
// of which an element is missing counts as not there, as at the outputs of a program.
#include "reference/interpreter/capture/settled_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/values/property.h"

namespace assay::reference {
namespace {

struct Place {
  const SeenArray* array;
  int64_t element, part, index;
};

using Places = absl::flat_hash_map<const Property*, std::vector<Place>>;

Places PlacesOf(absl::Span<const SeenArray> arrays) {
  Places places;
  for (const SeenArray& array : arrays) {
    for (const auto& [element, origin] : array.computed->facts().origins) {
      if (origin.piece != Origin::kWhole || IsJoint(*origin.property)) continue;
      places[origin.property.get()].push_back({&array, element, origin.part, origin.index});
    }
  }
  return places;
}

bool IsFinite(const Literal& array) {
  if (BoundsPerElement(array.element_type()) == 0) return true;
  for (int64_t k = 0; k < array.component_count(); ++k)
    if (!std::isfinite(array.GetComponent(k))) return false;
  return true;
}

// Tells if the seen values have the property. Keeps the places of those parts alone that are all
// there.
Settled Ask(const Property& property, std::vector<Place>& places) {
  std::vector<Literal> parts;
  std::vector<std::vector<bool>> filled;
  for (const Shape& shape : property.parts) {
    parts.emplace_back(shape);
    filled.emplace_back(static_cast<size_t>(shape.ElementCount()), false);
  }
  for (const Place& place : places) {
    const Literal& from = place.array->seen;
    const size_t width = StorageBytes(from.element_type());
    std::memcpy(parts[place.part].bytes().data() + place.index * width,
                from.bytes().data() + place.element * width, width);
    filled[place.part][place.index] = true;
  }
  std::vector<bool> present;
  for (const std::vector<bool>& part : filled)
    present.push_back(!part.empty() && std::find(part.begin(), part.end(), false) == part.end());
  std::erase_if(places, [&](const Place& place) { return !present[place.part]; });
  if (places.empty()) return Settled::kOpen;
  if (property.violation(parts, present).empty()) return Settled::kRight;
  const bool is_complete = std::find(present.begin(), present.end(), false) == present.end();
  const bool is_finite = std::all_of(parts.begin(), parts.end(), IsFinite);
  return is_complete && is_finite ? Settled::kWrong : Settled::kOpen;
}

}  // namespace

SettledElements SettledByProperty(absl::Span<const SeenArray> arrays) {
  SettledElements settled;
  for (auto& [property, places] : PlacesOf(arrays)) {
    const Settled answer = Ask(*property, places);
    for (const Place& place : places) {
      std::vector<Settled>& elements = settled[place.array->leaf];
      elements.resize(static_cast<size_t>(place.array->seen.element_count()));
      elements[place.element] = answer;
    }
  }
  return settled;
}

void SettleElement(const Literal& seen, int64_t element, ArrayExpectation& expected) {
  const int64_t width = BoundsPerElement(seen.element_type());
  if (width == 0) {
    expected.plain.SetBits(element, seen.GetBits(element));
    expected.choices.erase(element);
    return;
  }
  for (int64_t k = element * width; k < (element + 1) * width; ++k)
    if (std::isnan(seen.GetComponent(k))) return;
  for (int64_t k = element * width; k < (element + 1) * width; ++k) {
    expected.plain.SetComponentBits(k, seen.GetComponentBits(k));
    expected.bounds[k] = {seen.GetComponent(k), 0, 0, kForced};
  }
}

void RefuteElement(int64_t element, ArrayExpectation& expected) {
  const int64_t width = BoundsPerElement(expected.plain.element_type());
  for (int64_t k = element * width; k < (element + 1) * width; ++k)
    expected.bounds[k] = {0, 0, 0, kNotFinite};
}

}  // namespace assay::reference
