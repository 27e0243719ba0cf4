// Every decision of the compiler passes a gate. The decisions of one compilation form one numbered
// sequence, the same on every run and for every number of compile threads. A gate counts, reports,
// refuses above a limit, and lets a planted defect (planted_defect.h) bend what passes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/gates/planted_defect.h"
#include "optimized/gates/refusals.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// The answer of a gate: whether the decision may be taken, and, if it is, the defect that is
// planted in it, which lives as long as the gates.
struct Permission {
  bool is_taken = false;
  const GateDefect* planted = nullptr;

  operator bool() const { return is_taken; }
  // The changes that the defect makes in generated code; nullptr: there is none.
  const KernelBends* bends() const {
    return planted == nullptr ? nullptr : &planted->kernel_bends();
  }
};

class Gates {
 public:
  // limit < 0: nothing is refused but by name. `defect` may be null.
  explicit Gates(int64_t limit = -1, std::shared_ptr<const GateDefect> defect = nullptr,
                 Refusals refusals = {});

  // An optional decision about `at`. Where it is not taken: take the conservative fallback. Rules
  // are those of rule_names.h.
  Permission Allow(DecisionKind kind, std::string_view rule, const Instruction* at);
  // A decision that must be taken for the result to compile: counted and reported, never refused.
  Permission Require(DecisionKind kind, std::string_view rule, const Instruction* at);

  // A fact that an analysis found; `nullopt` and false mean "not known". Refused: not known. A
  // defect bends what passes: integers by an amount, claims from false to true. Only what
  // is known, or claimed true, takes a number: ask for a claim last, when a decision hangs on it.
  std::optional<int64_t> IntegerFact(std::string_view rule, const Instruction* at,
                                     std::optional<int64_t> known);
  bool Claim(DecisionKind kind, std::string_view rule, const Instruction* at, bool holds);

  // A side condition of a rule, by its name in claim_names.h: what `holds` says, unless a planted
  // defect forgets it at `at`. It takes no number, for the decision is the rule's.
  bool Holds(std::string_view claim, const Instruction* at, bool holds) const {
    return holds || (defect_ != nullptr && defect_->Forgets(claim, at));
  }
  // A number that a rule goes by, likewise.
  int64_t Number(std::string_view claim, const Instruction* at, int64_t known) const {
    return defect_ == nullptr ? known : defect_->BendNumber(claim, at, known);
  }
  // A value that was computed at compile time, likewise.
  Literal Folded(const Instruction& at, absl::Span<const Literal* const> operands,
                 Literal value) const {
    if (defect_ != nullptr) defect_->BendFolded(at, operands, value);
    return value;
  }

  const std::vector<Decision>& decisions() const { return decisions_; }
  int64_t count() const { return static_cast<int64_t>(decisions_.size()); }
  // Decisions taken, by rule.
  std::map<std::string, int64_t> Counts() const;

 private:
  Permission Decide(DecisionKind kind, std::string_view rule, const Instruction* at, bool is_taken);

  int64_t limit_;
  std::shared_ptr<const GateDefect> defect_;
  Refusals refusals_;
  std::vector<Decision> decisions_;
};

// One rewrite: asks the gate, notes which instructions the rule adds, and replaces. Usage:
//   Rewrite rewrite(gates, "slice-of-slice", slice);
//   if (!rewrite) return false;
//   Instruction* merged = computation->Add(...);
//   return rewrite.Replace(merged);
class Rewrite {
 public:
  // One that is `required` is never refused; its decision is of the rule's own kind.
  Rewrite(Gates& gates, std::string_view rule, Instruction* target, bool required = false);
  explicit operator bool() const { return allowed_; }
  // Replaces all uses of the target by `with` (after a planted defect, if one sits here, was
  // applied to what the rule added), then removes the target and what became dead. Returns true.
  bool Replace(Instruction* with);

 private:
  Instruction* target_;
  bool allowed_ = false;
  const GateDefect* planted_ = nullptr;  // bites here
  int64_t first_new_id_ = 0;             // instructions from this id on were added by the rule
};

}  // namespace assay
