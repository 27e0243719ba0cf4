// Names that are unique in a module: "add", "add.1", "add.2", ... Document: HloModule
// (instruction_name_uniquer).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/base/name_hash.h"

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
  absl::flat_hash_set<std::string, NameHash, std::equal_to<>> names_;
  absl::flat_hash_map<std::string, int64_t> next_suffix_;
};

}  // namespace assay
