// Joins modules, and hands each member its part of the common answer.
#include "fuzz/peers/pack.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool TalksToOthers(const Instruction& instruction) {
  const OpInfo& info = Info(instruction.opcode());
  return info.Is(kSideEffect) || info.Is(kCollective) || info.family == OpFamily::kCommunication;
}

// The result of `module` within the entry of the joint module, whose next parameters it gets.
Instruction* AddMember(const Module& module, Computation& entry,
                       const absl::flat_hash_map<const Computation*, Computation*>& callees) {
  std::vector<Instruction*> parameters;
  for (const Instruction* parameter : module.entry()->parameters()) {
    parameters.push_back(entry.AddParameter(entry.parameter_count(), parameter->shape()));
  }
  return entry.CopyFrom(*module.entry(), parameters,
                        [&callees](Computation* callee) { return callees.at(callee); });
}

bool AreEqual(const std::vector<Literal>& set, const std::vector<const Literal*>& arguments) {
  return std::equal(set.begin(), set.end(), arguments.begin(), arguments.end(),
                    [](const Literal& a, const Literal* b) { return a.BitwiseEqual(*b); });
}

class MadePack;

class MemberExecutable : public Executable {
 public:
  MemberExecutable(MadePack& pack, size_t member) : pack_(pack), member_(member) {}
  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;

 private:
  MadePack& pack_;
  size_t member_;
};

class MemberBackend : public Backend {
 public:
  MemberBackend(MadePack& pack, size_t member, BackendDescription description)
      : pack_(pack), member_(member), description_(std::move(description)) {}
  const BackendDescription& Describe() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module&,
                                                      const CompileOptions&) override {
    return std::make_unique<MemberExecutable>(pack_, member_);
  }

 private:
  MadePack& pack_;
  size_t member_;
  BackendDescription description_;
};

class MadePack : public Pack {
 public:
  explicit MadePack(std::vector<PackMember> members) : members_(std::move(members)) {}

  bool CompileAndRunSets(Backend& backend, const CompileOptions& options) {
    std::vector<const Module*> modules;
    for (const PackMember& member : members_) modules.push_back(member.module);
    const std::unique_ptr<Module> joint = JoinModules(modules);
    {
      ScopedTimer timer(compile_seconds_);
      absl::StatusOr<std::unique_ptr<Executable>> executable = backend.Compile(*joint, options);
      if (!executable.ok()) return false;
      executable_ = *std::move(executable);
    }
    ScopedTimer timer(run_seconds_);
    for (size_t set = 0; set < members_.front().sets.size(); ++set) {
      absl::StatusOr<RunResult> run = RunSet(set, members_.size(), {});
      if (!run.ok()) return false;
      answers_.push_back(std::move(run->outputs[0]));
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      backends_.push_back(std::make_unique<MemberBackend>(*this, i, backend.Describe()));
    }
    return true;
  }

  absl::StatusOr<RunResult> RunMember(size_t member, const std::vector<const Literal*>& arguments) {
    const std::vector<std::vector<Literal>>& sets = members_[member].sets;
    RunResult result;
    for (size_t set = 0; set < sets.size(); ++set) {
      if (!AreEqual(sets[set], arguments)) continue;
      result.outputs.push_back(answers_[set].elements()[member]);
      return result;
    }
    ASSAY_ASSIGN_OR_RETURN(RunResult all, RunSet(0, member, arguments));
    result.outputs.push_back(std::move(all.outputs[0].elements()[member]));
    result.seconds = all.seconds;
    return result;
  }

  Backend& BackendOf(size_t member) override { return *backends_[member]; }
  const std::vector<std::vector<Literal>>& SetsOf(size_t member) const override {
    return members_[member].sets;
  }
  double compile_seconds() const override { return Share(compile_seconds_); }
  double run_seconds() const override { return Share(run_seconds_); }

 private:
  double Share(double seconds) const { return seconds / static_cast<double>(members_.size()); }

  // Every member runs on its set of that number, but `other` on `arguments`.
  absl::StatusOr<RunResult> RunSet(size_t set, size_t other,
                                   const std::vector<const Literal*>& arguments) {
    std::vector<const Literal*> all;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (i == other) {
        all.insert(all.end(), arguments.begin(), arguments.end());
        continue;
      }
      for (const Literal& input : members_[i].sets[set]) all.push_back(&input);
    }
    ASSAY_ASSIGN_OR_RETURN(RunResult run, executable_->Run({all}));
    if (run.outputs.size() != 1 || run.outputs[0].elements().size() != members_.size()) {
      return MakeError(ErrorClass::kRunCrash, "the answer to joined programs has another form");
    }
    return run;
  }

  std::vector<PackMember> members_;
  std::unique_ptr<Executable> executable_;
  std::vector<Literal> answers_;  // by set
  std::vector<std::unique_ptr<MemberBackend>> backends_;
  double compile_seconds_ = 0, run_seconds_ = 0;
};

absl::StatusOr<RunResult> MemberExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  return pack_.RunMember(member_, arguments.at(0));
}

}  // namespace

bool CanBeJoined(const Module& module) {
  const ModuleConfig& config = module.config();
  const bool has_header = config.is_scheduled || !config.input_output_alias.empty() ||
                          !config.buffer_donors.empty() || config.entry_layout != nullptr ||
                          config.replica_count != 1 || config.num_partitions != 1;
  if (has_header) return false;
  for (const Instruction* parameter : module.entry()->parameters()) {
    if (parameter == nullptr || !parameter->shape().IsArray()) return false;
  }
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (TalksToOthers(*at)) return false;
    }
  }
  return true;
}

std::unique_ptr<Module> JoinModules(absl::Span<const Module* const> modules) {
  auto joint = std::make_unique<Module>("joined");
  // Callees stand before who calls them.
  absl::flat_hash_map<const Computation*, Computation*> callees;
  for (const Module* module : modules) {
    for (const Computation* source : module->ComputationPostOrder()) {
      if (source == module->entry()) continue;
      Computation* copy = joint->AddComputation(source->name());
      copy->set_root(copy->CopyFrom(
          *source, {}, [&callees](Computation* callee) { return callees.at(callee); }));
      callees[source] = copy;
    }
  }
  Computation* entry = joint->AddComputation("main");
  joint->set_entry(entry);
  std::vector<Instruction*> results;
  std::vector<Shape> shapes;
  for (const Module* module : modules) {
    results.push_back(AddMember(*module, *entry, callees));
    shapes.push_back(results.back()->shape());
  }
  entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results));
  return joint;
}

void FlattenResult(Module& module) {
  Instruction* nested = module.entry()->root();
  std::vector<Instruction*> leaves, waiting = {nested};
  while (!waiting.empty()) {
    Instruction* at = waiting.back();
    waiting.pop_back();
    if (!at->shape().IsTuple()) {
      leaves.push_back(at);
      continue;
    }
    const std::vector<Shape>& elements = at->shape().elements();
    for (size_t k = elements.size(); k-- > 0;) {
      const auto number = static_cast<int64_t>(k);
      if (at->opcode() == Opcode::kTuple) {
        waiting.push_back(at->operand(number));
        continue;
      }
      Instruction* element = module.entry()->Add(Opcode::kGetTupleElement, elements[k], {at});
      element->mutable_attributes().Set(Attr::kIndex, AttrValue(number));
      waiting.push_back(element);
    }
  }
  std::vector<Shape> shapes;
  for (const Instruction* leaf : leaves) shapes.push_back(leaf->shape());
  module.entry()->set_root(
      module.entry()->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), leaves));
  if (nested->IsDead()) module.entry()->RemoveWithDeadOperands(nested);
}

std::unique_ptr<Pack> Pack::Run(Backend& backend, const CompileOptions& options,
                                std::vector<PackMember> members) {
  auto pack = std::make_unique<MadePack>(std::move(members));
  if (!pack->CompileAndRunSets(backend, options)) return nullptr;
  return pack;
}

void AskInHalves(size_t count, const std::function<bool(size_t, size_t)>& is_taken) {
  const auto ask = [&is_taken](size_t first, size_t some) {
    if (some < 2) return false;
    if (is_taken(first, some)) return true;
    AskInHalves(some, [&](size_t at, size_t few) { return is_taken(first + at, few); });
    return false;
  };
  size_t first = 0;
  while (count > 1) {
    const size_t half = count / 2;
    const bool is_second_to_blame = ask(first, half);
    first += half;
    count -= half;
    if (is_second_to_blame) continue;
    ask(first, count);
    return;
  }
}

}  // namespace assay
