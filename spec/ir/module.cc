#include "spec/ir/module.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/hash.h"
#include "spec/text/writer.h"

namespace assay {

ModuleConfig::ModuleConfig(const ModuleConfig& other) { *this = other; }

ModuleConfig& ModuleConfig::operator=(const ModuleConfig& other) {
  if (this == &other) return *this;
  is_scheduled = other.is_scheduled;
  input_output_alias = other.input_output_alias;
  buffer_donors = other.buffer_donors;
  alias_passthrough_params = other.alias_passthrough_params;
  entry_layout =
      other.entry_layout == nullptr ? nullptr : std::make_unique<EntryLayout>(*other.entry_layout);
  replica_count = other.replica_count;
  num_partitions = other.num_partitions;
  verbatim = other.verbatim;
  stack_tables = other.stack_tables;
  return *this;
}

Module::~Module() {
  for (Computation* computation : computations_) delete computation;
}

Computation* Module::AddComputation(std::string_view name) {
  auto* computation = new Computation();
  computation->name_ = UniqueIn(computation_names_, name.empty() ? "computation" : name);
  computation->id_ = next_id_++;
  computation->parent_ = this;
  computations_.push_back(computation);
  if (entry_ == nullptr) entry_ = computation;
  return computation;
}

void Module::RemoveComputation(Computation* computation) {
  computations_.erase(std::remove(computations_.begin(), computations_.end(), computation),
                      computations_.end());
  computation_names_.erase(computation->name_);
  for (Instruction* instruction : *computation) names_.erase(instruction->name());
  delete computation;
}

void Module::RemoveUnusedComputations() {
  absl::flat_hash_set<const Computation*> reached;
  std::vector<Computation*> worklist;
  if (entry_ != nullptr) {
    reached.insert(entry_);
    worklist.push_back(entry_);
  }
  while (!worklist.empty()) {
    Computation* at = worklist.back();
    worklist.pop_back();
    for (Instruction* instruction : *at) {
      for (Computation* callee : instruction->callees()) {
        if (reached.insert(callee).second) worklist.push_back(callee);
      }
    }
  }
  for (Computation* computation : std::vector<Computation*>(computations_)) {
    if (!reached.contains(computation)) RemoveComputation(computation);
  }
}

std::vector<Computation*> Module::ComputationPostOrder() const {
  std::vector<Computation*> order;
  absl::flat_hash_set<const Computation*> seen;
  // (computation, next instruction to look at), so that depth costs heap and not stack.
  std::vector<std::pair<Computation*, Instruction*>> stack;
  auto enter = [&](Computation* computation) {
    if (!seen.insert(computation).second) return;
    stack.emplace_back(computation, *computation->begin());
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      if (next == nullptr) {
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      Instruction* instruction = next;
      next = instruction->next();
      // Callees are entered one at a time: come back to the same instruction until all are seen.
      for (Computation* callee : instruction->callees()) {
        if (seen.insert(callee).second) {
          next = instruction;
          stack.emplace_back(callee, *callee->begin());
          break;
        }
      }
    }
  };
  for (Computation* computation : computations_) {
    if (computation != entry_) enter(computation);
  }
  if (entry_ != nullptr) enter(entry_);
  return order;
}

int64_t Module::InstructionCount() const {
  int64_t count = 0;
  for (const Computation* computation : computations_) count += computation->instruction_count();
  return count;
}

std::vector<Instruction*> Module::Callers(const Computation* computation) const {
  std::vector<Instruction*> callers;
  for (const Computation* candidate : computations_) {
    for (Instruction* instruction : *candidate) {
      auto callees = instruction->callees();
      if (std::find(callees.begin(), callees.end(), computation) != callees.end())
        callers.push_back(instruction);
    }
  }
  return callers;
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->config_ = config_;
  absl::flat_hash_map<const Computation*, Computation*> map;
  for (Computation* computation : computations_)
    map[computation] = copy->AddComputation(computation->name_);
  for (Computation* computation : computations_) {
    Computation* target = map[computation];
    absl::flat_hash_map<const Instruction*, Instruction*> clones;
    clones.reserve(computation->count_);
    // Stored order, operands patched afterwards: a schedule must survive, and stored order need not
    // be a post-order.
    for (Instruction* original : *computation) {
      absl::InlinedVector<Computation*, 1> callees;
      for (Computation* callee : original->callees_) callees.push_back(map.at(callee));
      Instruction* instruction =
          target->Add(original->opcode_, original->shape_, absl::Span<Instruction* const>(),
                      original->attributes_, callees, original->name_);
      instruction->literal_ = original->literal_;
      clones[original] = instruction;
    }
    for (Instruction* original : *computation) {
      Instruction* instruction = clones[original];
      for (Instruction* operand : original->operands_) {
        instruction->operands_.push_back(clones.at(operand));
        clones.at(operand)->users_.push_back(instruction);
      }
      for (Instruction* predecessor : original->control_predecessors_) {
        instruction->AddControlPredecessor(clones.at(predecessor));
      }
    }
    target->IndexParameters();
    target->root_ = computation->root_ == nullptr ? nullptr : clones.at(computation->root_);
    target->execution_thread_ = computation->execution_thread_;
  }
  copy->entry_ = entry_ == nullptr ? nullptr : map.at(entry_);
  return copy;
}

Computation* Module::CloneComputation(const Computation& computation, std::string_view suffix) {
  // Callees first, so that the copy of a caller finds them.
  absl::flat_hash_map<const Computation*, Computation*> map;
  std::vector<const Computation*> order;
  absl::flat_hash_set<const Computation*> reached = {&computation};
  std::vector<const Computation*> worklist = {&computation};
  while (!worklist.empty()) {
    const Computation* at = worklist.back();
    worklist.pop_back();
    for (Instruction* instruction : *at) {
      for (Computation* callee : instruction->callees()) {
        if (reached.insert(callee).second) worklist.push_back(callee);
      }
    }
  }
  for (Computation* candidate : ComputationPostOrder()) {
    if (reached.contains(candidate)) order.push_back(candidate);
  }
  for (const Computation* source : order) {
    Computation* target = AddComputation(source->name_ + "." + std::string(suffix));
    target->execution_thread_ = source->execution_thread_;
    target->root_ =
        target->CopyFrom(*source, {}, [&map](Computation* callee) { return map.at(callee); });
    map[source] = target;
  }
  return map.at(&computation);
}

std::string Module::UniqueName(std::string_view base) { return UniqueIn(names_, base); }

std::string Module::UniqueIn(absl::flat_hash_set<std::string>& names, std::string_view base) {
  auto [at, is_new] = names.emplace(base);
  if (is_new) return *at;
  // Strip an existing numeric suffix so that clones of clones do not grow one per generation.
  std::string stem(base);
  size_t dot = stem.rfind('.');
  if (dot != std::string::npos && dot > 0 && dot + 1 < stem.size() &&
      std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(dot) + 1, stem.end(),
                  [](char c) { return c >= '0' && c <= '9'; })) {
    stem.resize(dot);
  }
  int64_t& suffix = next_suffix_[stem];
  for (;;) {
    std::string candidate = stem + "." + std::to_string(++suffix);
    if (names.insert(candidate).second) return candidate;
  }
}

uint64_t Module::Hash() const { return HashModule(*this); }

std::string Module::ToString() const { return WriteModule(*this); }

}  // namespace assay
