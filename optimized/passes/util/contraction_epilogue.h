// Finds what is made of a contraction's sums element by element and may be made by its kernel:
// bias, activation, residual, the step of an optimizer. Document: HLO passes, "Instruction fusion".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ir/module.h"

namespace assay {

struct Epilogue {
  std::vector<Instruction*> members;  // operands before users; empty: there is none
  Instruction* result = nullptr;      // the member that others read
  std::string why_not;                // nothing more is taken in
};

// Looks at one computation, whose instructions may be replaced by fusions meanwhile.
class EpilogueFinder {
 public:
  EpilogueFinder(Computation* computation, const Purity& purity);

  // Finds ops that may be done where `sums` are made, and of which others read one array.
  Epilogue Find(Instruction* sums) const;
  // `fusion` stands where `replaced` stood.
  void Replaced(const Instruction* replaced, const Instruction* fusion) {
    position_[fusion] = PositionOf(replaced);
  }

 private:
  using Region = absl::flat_hash_set<const Instruction*>;

  size_t PositionOf(const Instruction* inst) const;
  // True if nothing leads from `sums` to `inst`; false if that is not known.
  bool IsIndependent(const Instruction* inst, const Instruction* sums) const;
  // nullopt if `inst` may be made of elements of the region and of others at the same places; empty
  // if it is no op of that kind.
  std::optional<std::string> WhyNot(const Instruction& inst, const Instruction& sums,
                                    const Region& region) const;
  // The longest beginning of `members` of which others read one result; 0: there is none.
  static size_t ReadAsOne(const Instruction* sums, const std::vector<Instruction*>& members);
  // Adds operands of members that nobody else reads, or that are cheaper to make than to read.
  void AddProducers(std::vector<Instruction*>& members, const Instruction* sums) const;

  const Computation* computation_;
  const Purity& purity_;
  absl::flat_hash_map<const Instruction*, size_t> position_;
};

}  // namespace assay
