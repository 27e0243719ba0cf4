// --shard I/N: the part of a run's cases that this machine takes. The parts of equal options are
// disjoint and are all together the whole, so that `assay db merge` of their stores is one run's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/assay/command_line.h"

namespace assay {

struct Shard {
  int64_t index = 0, count = 1;  // index < count

  bool IsAll() const { return count == 1; }
  bool Has(size_t place) const { return static_cast<int64_t>(place) % count == index; }
  // Leaves the elements of this part, in their order.
  template <typename T>
  std::vector<T> Of(const std::vector<T>& all) const {
    std::vector<T> part;
    for (size_t i = static_cast<size_t>(index); i < all.size(); i += static_cast<size_t>(count))
      part.push_back(all[i]);
    return part;
  }
};

struct ShardOption {
  std::string text;  // "2/8": the second of eight; "": all

  void Declare(OptionList& line);
  // An error where the text is no part.
  absl::StatusOr<Shard> Get() const;
};

}  // namespace assay
