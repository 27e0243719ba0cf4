// Modules: computations added, removed, ordered and copied.
#include "spec/ir/module.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>

#include "absl/container/flat_hash_map.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"

namespace assay {

namespace {

std::atomic<int64_t> next_unique_module_id{0};

}  // namespace

struct Module::Random {
  std::mutex mutex;
  std::unique_ptr<std::mt19937_64> engine;  // 2.5 KB that few modules need
};

Module::Module(std::string name) : Module(std::move(name), ModuleConfig()) {}

Module::Module(std::string name, ModuleConfig config)
    : name_(std::move(name)),
      config_(std::move(config)),
      unique_id_(next_unique_module_id++),
      random_(std::make_unique<Random>()) {}

uint64_t Module::RandomNew64() const {
  std::lock_guard<std::mutex> lock(random_->mutex);
  if (random_->engine == nullptr) random_->engine = std::make_unique<std::mt19937_64>(42);
  return (*random_->engine)();
}

Module::~Module() {
  for (Computation* computation : computations_) delete computation;
}

Computation* Module::AddComputation(std::string_view name) {
  auto* computation = new Computation();
  computation->name_ = computation_names_.GetUniqueName(name.empty() ? "computation" : name);
  computation->id_ = next_computation_id_++;
  computation->parent_ = this;
  computations_.push_back(computation);
  if (entry_ == nullptr) entry_ = computation;
  return computation;
}

void Module::RemoveComputation(Computation* computation) {
  computations_.erase(std::remove(computations_.begin(), computations_.end(), computation),
                      computations_.end());
  Forget(computation);
}

void Module::Forget(Computation* computation) {
  computation_names_.Release(computation->name_);
  for (Instruction* instruction : *computation) {
    names_.Release(instruction->name());
    computation->Count(*instruction, -1);
  }
  delete computation;
}

bool Module::HasAny(absl::Span<const Opcode> opcodes) const {
  return std::any_of(opcodes.begin(), opcodes.end(),
                     [this](Opcode opcode) { return count_of_[static_cast<size_t>(opcode)] > 0; });
}

absl::Status Module::RemoveUnusedComputations() {
  absl::flat_hash_set<const Computation*> reached;
  std::vector<Computation*> worklist;
  if (entry_ != nullptr) {
    reached.insert(entry_);
    worklist.push_back(entry_);
  }
  while (!worklist.empty()) {
    Computation* at = worklist.back();
    worklist.pop_back();
    if (!at->has_calls()) continue;
    for (Instruction* instruction : *at) {
      for (Computation* callee : instruction->callees()) {
        if (reached.insert(callee).second) worklist.push_back(callee);
      }
    }
  }
  std::vector<Computation*> unused;
  std::erase_if(computations_, [&](Computation* computation) {
    if (reached.contains(computation)) return false;
    unused.push_back(computation);
    return true;
  });
  for (Computation* computation : unused) Forget(computation);
  return absl::OkStatus();
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
      if (next == nullptr || !at->has_calls()) {
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

std::unique_ptr<Module> Module::Clone(std::string_view suffix) const {
  return Clone(config_, suffix);
}

std::unique_ptr<Module> Module::Clone(const ModuleConfig& config, std::string_view suffix) const {
  auto copy = std::make_unique<Module>(suffix.empty() ? name_ : StrCat(name_, "-", suffix), config);
  copy->config_.is_scheduled = config_.is_scheduled;
  copy->config_.input_output_alias = config_.input_output_alias;
  copy->config_.buffer_donors = config_.buffer_donors;
  copy->config_.stack_tables = config_.stack_tables;
  copy->annotations_ = annotations_;
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

Computation* Module::CloneComputation(const Computation& computation, std::string_view suffix,
                                      CloneContext* context) {
  CloneContext local;
  CloneContext& made = context == nullptr ? local : *context;
  // Callees first, so that the copy of a caller finds them.
  absl::flat_hash_map<const Computation*, Computation*>& map = made.computations;
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
  // It may be of another module, or of none yet.
  const Module& home = computation.parent() == nullptr ? *this : *computation.parent();
  for (Computation* candidate : home.ComputationPostOrder()) {
    if (reached.contains(candidate)) order.push_back(candidate);
  }
  if (computation.parent() == nullptr) order.push_back(&computation);
  for (const Computation* source : order) {
    Computation* target = AddComputation(source->name_ + "." + std::string(suffix));
    target->execution_thread_ = source->execution_thread_;
    target->root_ = target->CopyFrom(
        *source, {}, [&map](Computation* callee) { return map.at(callee); }, &made.instructions);
    map[source] = target;
  }
  return map.at(&computation);
}

uint64_t Module::Hash() const { return HashModule(*this); }

}  // namespace assay
