// Grows a region from the sums to their users, cuts it where one array leaves it, and then grows it
// to what only it reads.
#include "optimized/passes/util/contraction_epilogue.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/algorithm/container.h"
#include "optimized/passes/util/fusible.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMaxMembers = 48;
constexpr size_t kMaxLooks = 256;  // instructions on the way back from an operand
constexpr size_t kMaxUsers = 64;   // of a member

bool IsFromOneNumber(const Instruction& inst) {
  return inst.opcode() == Opcode::kConstant || inst.opcode() == Opcode::kIota ||
         inst.opcode() == Opcode::kBroadcast;
}

}  // namespace

EpilogueFinder::EpilogueFinder(Computation* computation, const Purity& purity)
    : computation_(computation), purity_(purity) {
  size_t next = 0;
  for (const Instruction* inst : computation->PostOrder()) position_[inst] = next++;
}

size_t EpilogueFinder::PositionOf(const Instruction* inst) const {
  const auto at = position_.find(inst);
  return at == position_.end() ? std::numeric_limits<size_t>::max() : at->second;
}

bool EpilogueFinder::IsIndependent(const Instruction* inst, const Instruction* sums) const {
  const size_t first = PositionOf(sums);
  absl::flat_hash_set<const Instruction*> seen = {inst};
  std::vector<const Instruction*> open = {inst};
  while (!open.empty()) {
    const Instruction* at = open.back();
    open.pop_back();
    if (at == sums || seen.size() > kMaxLooks) return false;
    if (PositionOf(at) < first) continue;  // comes before
    for (const Instruction* operand : at->operands()) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  return true;
}

std::optional<std::string> EpilogueFinder::WhyNot(const Instruction& inst, const Instruction& sums,
                                                  const Region& region) const {
  const std::string name(Name(inst.opcode()));
  if (!IsElementwiseOp(inst) || !IsFusible(inst, purity_) ||
      !SameDimensions(inst.shape(), sums.shape())) {
    return "";
  }
  for (const Instruction* operand : inst.operands()) {
    if (region.contains(operand)) continue;
    if (IsComplex(operand->shape().element_type()) || !HasPlainMemory(operand->shape())) {
      return StrCat(name, " behind it reads what no kernel reads");
    }
    if (!IsIndependent(operand, &sums)) {
      return StrCat(name, " behind it reads what else is made of it");
    }
    // It would be made on the way into loops, but not by the contraction.
    if (MovesData(operand->opcode()) && operand->opcode() != Opcode::kReshape &&
        !IsFromOneNumber(*operand) && operand->users().size() == 1) {
      return StrCat(name, " behind it reads a ", Name(operand->opcode()), " of its own");
    }
  }
  return std::nullopt;
}

size_t EpilogueFinder::ReadAsOne(const Instruction* sums,
                                 const std::vector<Instruction*>& members) {
  for (size_t count = members.size(); count > 0; --count) {
    const auto end = members.begin() + static_cast<int64_t>(count);
    const auto is_read_outside = [&](const Instruction* of) {
      return of == of->parent()->root() || absl::c_any_of(of->users(), [&](const Instruction* to) {
               return std::find(members.begin(), end, to) == end;
             });
    };
    if (is_read_outside(sums)) continue;
    if (std::count_if(members.begin(), end, is_read_outside) == 1) return count;
  }
  return 0;
}

void EpilogueFinder::AddProducers(std::vector<Instruction*>& members,
                                  const Instruction* sums) const {
  absl::flat_hash_set<const Instruction*> inside(members.begin(), members.end());
  std::vector<Instruction*> open = members;
  while (!open.empty() && members.size() < kMaxMembers) {
    Instruction* member = open.back();
    open.pop_back();
    for (Instruction* operand : member->operands()) {
      if (operand == sums || inside.contains(operand) || !IsFusible(*operand, purity_)) continue;
      const bool is_own = absl::c_all_of(
          operand->users(), [&](const Instruction* user) { return inside.contains(user); });
      const bool is_made =
          IsFromOneNumber(*operand) ||
          (is_own && operand != computation_->root() && IsElementwiseOp(*operand) &&
           SameDimensions(operand->shape(), sums->shape()));
      if (!is_made) continue;
      inside.insert(operand);
      members.push_back(operand);
      open.push_back(operand);
    }
  }
  absl::c_sort(members, [&](const Instruction* a, const Instruction* b) {
    return PositionOf(a) < PositionOf(b);
  });
}

Epilogue EpilogueFinder::Find(Instruction* sums) const {
  Epilogue epilogue;
  if (IsComplex(sums->shape().element_type()) || sums == computation_->root()) return epilogue;
  Region region = {sums};
  // By position: all operands of one are decided before it.
  std::map<size_t, Instruction*> candidates;
  const auto add_users = [&](const Instruction* of) {
    for (Instruction* user : of->users()) candidates[PositionOf(user)] = user;
  };
  add_users(sums);
  while (!candidates.empty() && epilogue.members.size() < kMaxMembers) {
    Instruction* candidate = candidates.begin()->second;
    candidates.erase(candidates.begin());
    const std::optional<std::string> why = WhyNot(*candidate, *sums, region);
    if (why.has_value()) {
      if (epilogue.why_not.empty()) epilogue.why_not = *why;
      continue;
    }
    if (candidate->users().empty() && candidate != computation_->root()) continue;
    region.insert(candidate);
    epilogue.members.push_back(candidate);
    if (candidate->users().size() <= kMaxUsers) add_users(candidate);
  }
  const size_t count = ReadAsOne(sums, epilogue.members);
  if (count == 0 && !epilogue.members.empty()) epilogue.why_not = "several arrays are made of it";
  epilogue.members.resize(count);
  if (count == 0) return epilogue;
  epilogue.result = epilogue.members.back();
  AddProducers(epilogue.members, sums);
  return epilogue;
}

}  // namespace assay
