// Numbers decisions, refuses those above the limit, and replaces instructions for rewrites.
#include "optimized/gates/gates.h"

#include <utility>

#include "spec/base/strings.h"

namespace assay {
namespace {

std::string Place(const Instruction* at) {
  if (at == nullptr) return "";
  return StrCat(at->parent() != nullptr ? at->parent()->name() : "", "/", at->name());
}

}  // namespace

Gates::Gates(int64_t limit, std::shared_ptr<const GateDefect> defect)
    : limit_(limit), defect_(std::move(defect)) {}

bool Gates::Allow(DecisionKind kind, std::string_view rule, const Instruction* at) {
  const int64_t number = count() + 1;
  const bool taken = limit_ < 0 || number <= limit_;
  decisions_.push_back(Decision{number, kind, std::string(rule), Place(at), taken});
  return taken;
}

void Gates::Require(DecisionKind kind, std::string_view rule, const Instruction* at) {
  decisions_.push_back(Decision{count() + 1, kind, std::string(rule), Place(at), true});
}

std::optional<int64_t> Gates::IntegerFact(std::string_view rule, const Instruction* at,
                                          std::optional<int64_t> known) {
  if (!known || !Allow(DecisionKind::kFact, rule, at)) return std::nullopt;
  const GateDefect* planted = Planted(DecisionKind::kFact, rule, at);
  return planted == nullptr ? known : planted->BendInteger(*known);
}

bool Gates::Claim(DecisionKind kind, std::string_view rule, const Instruction* at, bool holds) {
  // A claim that is false and stays false decides nothing and takes no number.
  const bool bent = defect_ != nullptr && defect_->ClaimsTrue() && defect_->Bites(kind, rule, at);
  if (!holds && !bent) return false;
  return Allow(kind, rule, at);
}

const GateDefect* Gates::Planted(DecisionKind kind, std::string_view rule,
                                 const Instruction* at) const {
  if (defect_ == nullptr || decisions_.empty()) return nullptr;
  const Decision& latest = decisions_.back();
  if (!latest.taken || latest.kind != kind || latest.rule != rule) return nullptr;
  return defect_->Bites(kind, rule, at) ? defect_.get() : nullptr;
}

std::map<std::string, int64_t> Gates::Counts() const {
  std::map<std::string, int64_t> counts;
  for (const Decision& decision : decisions_) counts[decision.rule] += decision.taken ? 1 : 0;
  return counts;
}

Rewrite::Rewrite(Gates& gates, std::string_view rule, Instruction* target, bool required)
    : target_(target) {
  const DecisionKind kind = required ? DecisionKind::kRequired : DecisionKind::kRewrite;
  allowed_ = true;
  if (required) {
    gates.Require(kind, rule, target);
  } else {
    allowed_ = gates.Allow(kind, rule, target);
  }
  planted_ = gates.Planted(kind, rule, target);
  first_new_id_ = target->parent()->parent()->next_id();
}

bool Rewrite::Replace(Instruction* with) {
  if (planted_ != nullptr) with = planted_->BendRewrite(first_new_id_, with);
  target_->ReplaceAllUsesWith(with);
  target_->parent()->RemoveWithDeadOperands(target_);
  return true;
}

}  // namespace assay
