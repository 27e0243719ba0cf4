// The places at which elements of joint choices come out of a program, on one device or several.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "reference/values/property.h"

namespace assay::reference {

class JointPlaces {
 public:
  // Notes the places in the outputs of a device; devices in any order, each once.
  void Add(int64_t device, absl::Span<const Array> outputs);
  // Adds to the expectation of the first device that has a part in a joint choice what is asked of
  // all that have. A place on a later device is counted on from this device's leaves through those
  // of the devices between, as Expectation::Append puts them together.
  void Export(absl::Span<Expectation* const> devices) const;

 private:
  struct Place {
    int64_t device, leaf, element, number;
  };
  using Entry = std::pair<std::shared_ptr<const Joint>, std::vector<Place>>;

  static void ExportJoint(const Entry& entry, absl::Span<Expectation* const> devices);

  absl::flat_hash_map<const Property*, size_t> index_;
  std::vector<Entry> joints_;
};

}  // namespace assay::reference
