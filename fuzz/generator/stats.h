// Counts what a set of generated programs holds: ops by element type, and the triggers of the
// generator's requirements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "fuzz/generator/generate.h"

namespace assay {

// One thing that programs must be able to show.
struct RequirementTrigger {
  int requirement;  // number in the document of the generator's requirements
  std::string_view name;
  // True if the case shows it. `at` is visited for every instruction; one hit is enough.
  bool (*shows)(const Case& made, const Instruction& at);
};
absl::Span<const RequirementTrigger> AllTriggers();

class GeneratorStats {
 public:
  void Add(const Case& made);

  int64_t programs() const { return programs_; }
  // Programs that have the op with this element type among its results (tuples: each element).
  const std::map<std::pair<Opcode, ElementType>, int64_t>& op_types() const { return op_types_; }
  // Programs per trigger, in the order of AllTriggers().
  const std::vector<int64_t>& triggers() const { return triggers_; }
  const std::map<std::string, int64_t>& themes() const { return themes_; }
  // Programs by instruction count, in steps of 4.
  const std::map<int64_t, int64_t>& sizes() const { return sizes_; }

  // Programs by the elements of their largest array: the greatest power of two that is not above.
  const std::map<int64_t, int64_t>& largest_arrays() const { return largest_arrays_; }
  // Programs that have the second op on a result of the first.
  const std::map<std::pair<Opcode, Opcode>, int64_t>& op_pairs() const { return op_pairs_; }

  // The number of pairs whose ops have edges or indices.
  int64_t EdgePairs() const;
  // Per op, a bit k if some dimension of it is 2^k or beside it.
  const std::map<Opcode, uint32_t>& powers() const { return powers_; }

  // Tables for people.
  std::string ToString() const;

 private:
  int64_t programs_ = 0;
  std::map<std::pair<Opcode, ElementType>, int64_t> op_types_;
  std::vector<int64_t> triggers_;
  std::map<std::string, int64_t> themes_;
  std::map<int64_t, int64_t> sizes_;
  std::map<int64_t, int64_t> largest_arrays_;
  std::map<std::pair<Opcode, Opcode>, int64_t> op_pairs_;
  std::map<Opcode, uint32_t> powers_;
};

}  // namespace assay
