// Names that are unique in a module: "add", "add.1", "add.2", ... Document: HloModule
// (instruction_name_uniquer).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace assay {

class NameUniquer {
 public:
  explicit NameUniquer(char separator = '.') : separator_(separator) {}

  // `prefix` itself if it is free, else prefix.1, prefix.2, ...; the result is taken. A numeric
  // suffix of `prefix` is stripped first, so that clones of clones do not grow one per generation.
  std::string GetUniqueName(std::string_view prefix);
  void Release(std::string_view name);

 private:
  char separator_;
  // By the hash of a name, for a long module's names alone would fill the caches. A name whose hash
  // is that of another counts as taken and gets a suffix.
  absl::flat_hash_set<uint64_t> names_;
  absl::flat_hash_map<uint64_t, int64_t> next_suffix_;
};

}  // namespace assay
