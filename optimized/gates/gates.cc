// Numbers decisions, refuses those above the limit, and replaces instructions for rewrites.
#include "optimized/gates/gates.h"

#include <utility>

#include "optimized/gates/rule_names.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string Place(const Instruction* at) {
  if (at == nullptr) return "";
  return StrCat(at->parent() != nullptr ? at->parent()->name() : "", "/", at->name());
}

}  // namespace

Gates::Gates(int64_t limit, std::shared_ptr<const GateDefect> defect, Refusals refusals)
    : limit_(limit), defect_(std::move(defect)), refusals_(std::move(refusals)) {}

Permission Gates::Decide(DecisionKind kind, std::string_view rule, const Instruction* at,
                         bool is_taken) {
  decisions_.push_back(Decision{count() + 1, kind, std::string(rule), Place(at), is_taken});
  const bool bites = is_taken && defect_ != nullptr && defect_->Bites(kind, rule, at);
  return {is_taken, bites ? defect_.get() : nullptr};
}

Permission Gates::Allow(DecisionKind kind, std::string_view rule, const Instruction* at) {
  const bool is_allowed = limit_ < 0 || count() + 1 <= limit_;
  return Decide(kind, rule, at, is_allowed && !refusals_.Refuses(kind, rule));
}

Permission Gates::Require(DecisionKind kind, std::string_view rule, const Instruction* at) {
  return Decide(kind, rule, at, true);
}

std::optional<int64_t> Gates::IntegerFact(std::string_view rule, const Instruction* at,
                                          std::optional<int64_t> known) {
  if (!known) return std::nullopt;
  const Permission permission = Allow(DecisionKind::kFact, rule, at);
  if (!permission) return std::nullopt;
  return permission.planted == nullptr ? known : permission.planted->BendInteger(*known);
}

bool Gates::Claim(DecisionKind kind, std::string_view rule, const Instruction* at, bool holds) {
  // A claim that is false and stays false decides nothing and takes no number.
  const bool bent = defect_ != nullptr && defect_->ClaimsTrue() && defect_->Bites(kind, rule, at);
  if (!holds && !bent) return false;
  return Allow(kind, rule, at);
}

std::map<std::string, int64_t> Gates::Counts() const {
  std::map<std::string, int64_t> counts;
  for (const Decision& decision : decisions_) counts[decision.rule] += decision.taken ? 1 : 0;
  return counts;
}

Rewrite::Rewrite(Gates& gates, std::string_view rule, Instruction* target, bool required)
    : target_(target) {
  const DecisionRule* known = required ? FindRule(rule) : nullptr;
  const Permission permission =
      required
          ? gates.Require(known == nullptr ? DecisionKind::kRequired : known->kind, rule, target)
          : gates.Allow(DecisionKind::kRewrite, rule, target);
  allowed_ = permission;
  planted_ = permission.planted;
  first_new_id_ = target->parent()->parent()->next_id();
}

bool Rewrite::Replace(Instruction* with) {
  if (planted_ != nullptr) with = planted_->BendRewrite(first_new_id_, with);
  target_->ReplaceAllUsesWith(with);
  target_->parent()->RemoveWithDeadOperands(target_);
  return true;
}

}  // namespace assay
