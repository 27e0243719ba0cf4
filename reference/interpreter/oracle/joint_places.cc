// Collects the places and makes properties of expectations of them.
#include "reference/interpreter/oracle/joint_places.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace assay::reference {

void JointPlaces::Add(int64_t device, absl::Span<const Array> outputs) {
  absl::flat_hash_set<std::pair<const Property*, int64_t>> seen;  // an element counts once
  for (size_t leaf = 0; leaf < outputs.size(); ++leaf) {
    std::vector<int64_t> elements;
    for (const auto& [element, origin] : outputs[leaf].facts().origins)
      if (IsJoint(*origin.property)) elements.push_back(element);
    std::sort(elements.begin(), elements.end());
    for (int64_t element : elements) {
      const Origin& origin = outputs[leaf].facts().origins.at(element);
      if (!seen.insert({origin.property.get(), origin.index}).second) continue;
      const auto [at, is_new] = index_.try_emplace(origin.property.get(), joints_.size());
      if (is_new) joints_.push_back({std::static_pointer_cast<const Joint>(origin.property), {}});
      joints_[at->second].second.push_back(
          {device, static_cast<int64_t>(leaf), element, origin.index});
    }
  }
}

void JointPlaces::Export(absl::Span<Expectation* const> devices) const {
  for (const Entry& entry : joints_) ExportJoint(entry, devices);
}

void JointPlaces::ExportJoint(const Entry& entry, absl::Span<Expectation* const> devices) {
  std::vector<Place> places = entry.second;
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.device < b.device; });
  const int64_t first = places.front().device;
  if (entry.first->compares_devices && places.back().device == first) return;
  // One part for each array that has elements.
  PropertyExpectation exported;
  exported.what = entry.first->what;
  std::vector<std::vector<int64_t>> numbers;  // by part
  std::vector<ElementType> types;
  int64_t before = 0, device = first;  // leaves of the devices from the first one on
  int64_t last_leaf = -1;
  for (const Place& place : places) {
    for (; device < place.device; ++device)
      before += static_cast<int64_t>(devices[static_cast<size_t>(device)]->leaves.size());
    const int64_t leaf = before + place.leaf;
    if (leaf != last_leaf) {
      numbers.emplace_back();
      types.push_back(devices[static_cast<size_t>(place.device)]
                          ->leaves[static_cast<size_t>(place.leaf)]
                          .plain.element_type());
      last_leaf = leaf;
    }
    exported.places.push_back({leaf, place.element, static_cast<int64_t>(numbers.size()) - 1,
                               static_cast<int64_t>(numbers.back().size())});
    numbers.back().push_back(place.number);
  }
  for (size_t k = 0; k < numbers.size(); ++k)
    exported.parts.emplace_back(Shape::Array(types[k], {static_cast<int64_t>(numbers[k].size())}));
  exported.present.assign(numbers.size(), true);
  exported.violation = [joint = entry.first, numbers = std::move(numbers)](
                           absl::Span<const Literal> parts, const std::vector<bool>&) {
    std::vector<JointElement> elements;
    for (size_t k = 0; k < parts.size(); ++k)
      for (size_t i = 0; i < numbers[k].size(); ++i)
        elements.push_back({numbers[k][i], CodeOf(parts[k], static_cast<int64_t>(i))});
    return joint->joint_violation(elements);
  };
  devices[static_cast<size_t>(first)]->properties.push_back(std::move(exported));
}

}  // namespace assay::reference
