// Instructions: their users, replacements and liveness.
#include "spec/ir/instruction.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "spec/ir/computation.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// In itself or in what it calls.
bool HasSideEffect(const Instruction& instruction, absl::flat_hash_set<const Computation*>& seen) {
  if (Info(instruction.opcode()).Is(kSideEffect) ||
      instruction.attributes().Flag(Attr::kCustomCallHasSideEffect)) {
    return true;
  }
  for (const Computation* callee : instruction.callees()) {
    if (!seen.insert(callee).second) continue;
    for (const Instruction* inner : *callee) {
      if (HasSideEffect(*inner, seen)) return true;
    }
  }
  return false;
}

}  // namespace

bool Instruction::IsDead() const {
  if (!users_.empty() || parent_->root() == this || opcode_ == Opcode::kParameter ||
      !control_successors_.empty() || !control_predecessors_.empty()) {
    return false;
  }
  absl::flat_hash_set<const Computation*> seen;
  return !HasSideEffect(*this, seen);
}

void Instruction::AddControlPredecessor(Instruction* predecessor) {
  auto& list = control_predecessors_;
  if (std::find(list.begin(), list.end(), predecessor) != list.end()) return;
  list.push_back(predecessor);
  predecessor->control_successors_.push_back(this);
}

void Instruction::RemoveUser(Instruction* user) {
  // From the end: removal most often undoes a recent addition.
  for (size_t i = users_.size(); i-- > 0;) {
    if (users_[i] == user) {
      users_.erase(users_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
}

void Instruction::ReplaceOperand(int64_t i, Instruction* with) {
  Instruction* old = operands_[i];
  if (old == with) return;
  old->RemoveUser(this);
  operands_[i] = with;
  with->users_.push_back(this);
}

void Instruction::ReplaceAllUsesWith(Instruction* with) {
  if (with == this) return;
  OperandVector users = std::move(users_);
  users_.clear();
  for (Instruction* user : users) {
    // One entry per slot: replace one slot for each.
    for (auto& operand : user->operands_) {
      if (operand == this) {
        operand = with;
        break;
      }
    }
    with->users_.push_back(user);
  }
  if (parent_->root() == this) parent_->set_root(with);
}

namespace {

// Attributes that carry no meaning for the value.
bool IsProvenance(Attr attr) {
  return attr == Attr::kMetadata || attr == Attr::kOrigin || attr == Attr::kStatistics ||
         attr == Attr::kFrontendAttributes || attr == Attr::kBackendConfig || IsInternal(attr);
}

}  // namespace

bool Instruction::SameOperation(const Instruction& other) const {
  if (opcode_ != other.opcode_ || shape_ != other.shape_ ||
      operands_.size() != other.operands_.size() || callees_ != other.callees_) {
    return false;
  }
  auto a = attributes_.entries(), b = other.attributes_.entries();
  size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && IsProvenance(a[i].first)) ++i;
    while (j < b.size() && IsProvenance(b[j].first)) ++j;
    if (i == a.size() || j == b.size()) break;
    if (a[i++] != b[j++]) return false;
  }
  if (i != a.size() || j != b.size()) return false;
  if (literal_ == other.literal_) return true;
  return literal_ != nullptr && other.literal_ != nullptr &&
         literal_->BitwiseEqual(*other.literal_);
}

}  // namespace assay
