// Counts operations and bytes, then copies the computation into each reader.
#include "optimized/passes/fusion/fusion_merger.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/fusion/repeated_work.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr size_t kMaxReaders = 16;
constexpr int64_t kMaxInstructions = 128;  // of a merged fusion
constexpr int64_t kMaxOperands = 64;

int64_t CountOf(const Computation& computation) {
  int64_t count = 0;
  for (const Instruction* inst : computation) {
    count += inst->opcode() == Opcode::kParameter || inst->opcode() == Opcode::kConstant ? 0 : 1;
  }
  return count;
}

// One per element of what an op computes; data that moves costs nothing.
double OperationsOf(const Computation& computation) {
  double operations = 0;
  for (const Instruction* inst : computation) {
    if (inst->opcode() == Opcode::kReduce || inst->opcode() == Opcode::kReduceWindow) {
      operations += static_cast<double>(inst->operand(0)->shape().ElementCount());
    } else if (Info(inst->opcode()).Is(kElementwise)) {
      operations += static_cast<double>(inst->shape().ElementCount());
    }
  }
  return operations;
}

bool HasReduce(const Computation& computation) {
  return absl::c_any_of(computation, [](const Instruction* inst) {
    return inst->opcode() == Opcode::kReduce || inst->opcode() == Opcode::kReduceWindow;
  });
}

// True if every element is made of elements at its place, and of single numbers: a reduce in front
// of it keeps its threads.
bool IsMap(const Computation& computation) {
  const Shape& result = computation.root()->shape();
  return absl::c_all_of(computation, [&](const Instruction* inst) {
    const bool is_single = inst->shape().IsArray() && inst->shape().rank() == 0;
    const bool is_spread =
        inst->opcode() == Opcode::kBroadcast && inst->operand(0)->shape().rank() == 0;
    const bool maps =
        inst->opcode() == Opcode::kParameter || is_spread || Info(inst->opcode()).Is(kElementwise);
    return is_single || (maps && inst->shape().IsArray() && SameDimensions(inst->shape(), result));
  });
}

bool IsLoop(const Instruction& inst) {
  return inst.opcode() == Opcode::kFusion && inst.control_predecessors().empty() &&
         inst.control_successors().empty();
}

class Merger {
 public:
  Merger(Instruction* producer, Gates& gates) : producer_(producer), gates_(gates) {}

  bool Run() {
    if (!IsProducer() || !MovesNoMore()) return false;
    std::vector<Merged> merged;
    bool fits = true;
    for (Instruction* reader : readers_) {
      merged.push_back(Merge(reader));
      fits = fits && !RepeatsWork(*merged.back().fused) &&
             CountOf(*merged.back().fused) <= kMaxInstructions &&
             static_cast<int64_t>(merged.back().operands.size()) <= kMaxOperands;
    }
    if (!fits || !gates_.Allow(DecisionKind::kKernel, "merge-fusion", producer_)) {
      for (const Merged& each : merged) {
        producer_->parent()->parent()->RemoveComputation(each.fused);
      }
      return false;
    }
    absl::flat_hash_map<const Instruction*, Instruction*> replaced;
    for (size_t k = 0; k < readers_.size(); ++k) {
      // A reader may read another one.
      for (Instruction*& operand : merged[k].operands) {
        const auto found = replaced.find(operand);
        if (found != replaced.end()) operand = found->second;
      }
      replaced[readers_[k]] = Replace(readers_[k], merged[k]);
    }
    // With its last reader the producer goes, too.
    Computation* computation = producer_->parent();
    for (Instruction* reader : readers_) computation->RemoveWithDeadOperands(reader);
    return true;
  }

 private:
  struct Merged {
    Computation* fused = nullptr;
    std::vector<Instruction*> operands;
  };

  bool IsProducer() {
    if (!IsLoop(*producer_) || !producer_->shape().IsArray() ||
        producer_->parent()->root() == producer_ || producer_->users().empty()) {
      return false;
    }
    for (Instruction* user : producer_->users()) {
      if (!IsLoop(*user) || readers_.size() >= kMaxReaders) return false;
      if (HasReduce(*producer_->callee()) &&
          (!user->shape().IsArray() || !IsMap(*user->callee()))) {
        return false;
      }
      if (!absl::c_linear_search(readers_, user)) readers_.push_back(user);
    }
    double bytes = static_cast<double>(producer_->shape().ByteSize());
    for (const Instruction* operand : producer_->operands()) {
      if (!operand->shape().IsArray()) return false;
      bytes += static_cast<double>(operand->shape().ByteSize());
    }
    return OperationsOf(*producer_->callee()) < FusionMerger::kOperationsPerByte * bytes;
  }

  // Today the producer reads its operands and writes its result, which each reader reads. Merged,
  // each reader reads those operands that it does not read anyway.
  bool MovesNoMore() const {
    int64_t now = producer_->shape().ByteSize(), then = 0;
    for (const Instruction* operand : producer_->operands()) now += operand->shape().ByteSize();
    for (const Instruction* reader : readers_) {
      now += producer_->shape().ByteSize();
      absl::flat_hash_set<const Instruction*> read(reader->operands().begin(),
                                                   reader->operands().end());
      for (const Instruction* operand : producer_->operands()) {
        if (read.insert(operand).second) then += operand->shape().ByteSize();
      }
    }
    return then <= now;
  }

  Merged Merge(const Instruction* reader) const {
    Merged merged;
    merged.fused = producer_->parent()->parent()->AddComputation("fused_merged");
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    const auto value = [&](Instruction* operand) -> Instruction* {
      Instruction*& parameter = inside[operand];
      if (parameter == nullptr) {
        parameter = merged.fused->AddParameter(static_cast<int64_t>(merged.operands.size()),
                                               operand->shape());
        merged.operands.push_back(operand);
      }
      return parameter;
    };
    std::vector<Instruction*> arguments, of_producer;
    for (Instruction* operand : producer_->operands()) of_producer.push_back(value(operand));
    Instruction* result = CopyInto(merged.fused, *producer_->callee(), of_producer);
    for (Instruction* operand : reader->operands()) {
      arguments.push_back(operand == producer_ ? result : value(operand));
    }
    merged.fused->set_root(CopyInto(merged.fused, *reader->callee(), arguments));
    return merged;
  }

  static Instruction* CopyInto(Computation* into, const Computation& from,
                               const std::vector<Instruction*>& arguments) {
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* inst : from.PostOrder()) {
      if (inst->opcode() == Opcode::kParameter) {
        copies[inst] = arguments[static_cast<size_t>(inst->parameter_number())];
        continue;
      }
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inst->operands()) operands.push_back(copies.at(operand));
      Instruction* copy = into->Add(inst->opcode(), inst->shape(), operands, inst->attributes(),
                                    inst->callees(), inst->name());
      copy->set_literal(inst->shared_literal());
      copies[inst] = copy;
    }
    return copies.at(from.root());
  }

  static Instruction* Replace(Instruction* reader, const Merged& merged) {
    Computation* computation = reader->parent();
    Computation* fused = merged.fused;
    Instruction* fusion = computation->Add(Opcode::kFusion, reader->shape(), merged.operands,
                                           reader->attributes(), {&fused, 1});
    reader->ReplaceAllUsesWith(fusion);
    return fusion;
  }

  Instruction* producer_;
  Gates& gates_;
  std::vector<Instruction*> readers_;
};

}  // namespace

absl::StatusOr<bool> FusionMerger::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kFusion})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    // A fusion that others are merged into is a new one: of the list, each is looked at once.
    absl::flat_hash_set<const Instruction*> gone;
    for (Instruction* inst : computation->InPostOrder()) {
      if (gone.contains(inst) || inst->opcode() != Opcode::kFusion) continue;
      std::vector<const Instruction*> readers(inst->users().begin(), inst->users().end());
      if (!Merger(inst, context.gates).Run()) continue;
      gone.insert(readers.begin(), readers.end());
      changed = true;
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
