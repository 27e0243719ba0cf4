// Writes several instructions, fusions among them, down as one fusion.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

class FusionWriter {
 public:
  // Copies `members`, of one computation, into a new one; `results` are those of them that others
  // read. Nothing else changes yet.
  FusionWriter(std::vector<Instruction*> members, std::vector<Instruction*> results,
               std::string_view name);
  FusionWriter(const FusionWriter&) = delete;
  FusionWriter& operator=(const FusionWriter&) = delete;

  const Computation& computation() const { return *fused_; }
  size_t operand_count() const { return operands_.size(); }

  // Puts the fusion in the place of the members.
  void Replace();
  // Forgets what was written.
  void Drop() { module_->RemoveComputation(fused_); }

 private:
  Instruction* Inside(Instruction* value);
  Instruction* CopyMember(const Instruction& member);
  Instruction* Copy(const Instruction& like, const std::vector<Instruction*>& operands);

  const std::vector<Instruction*> members_, results_;
  Module* module_;
  Computation* fused_;
  std::vector<Instruction*> operands_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
};

}  // namespace assay
