// Asks about candidates and keeps the smallest case.
#include "fuzz/reduce/reduction.h"

#include <algorithm>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/forks.h"
#include "spec/base/clock.h"
#include "spec/process/interrupt.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// A larger batch asks in vain about more candidates behind the first that will do.
constexpr size_t kBatchPerJob = 4;

uint64_t HashCase(const ReduceCase& reduce_case, const ReduceCost& cost) {
  uint64_t hash = reduce_case.module->Hash();
  auto mix = [&hash](uint64_t word) { hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  mix(static_cast<uint64_t>(cost.header));
  for (const Literal& input : reduce_case.inputs) {
    mix(input.bytes().size());
    for (uint8_t byte : input.bytes()) mix(byte);
  }
  return hash;
}

// Adds to `needed` the unread instructions of `candidate` whose names `best` does not have: a copy
// of an unread instruction, from a body that was inlined, has another name.
void AddNewDead(const Module& candidate, const Module& best,
                absl::flat_hash_set<std::string>& needed) {
  absl::flat_hash_set<std::string> names;
  for (const Computation* computation : best.computations()) {
    for (const Instruction* at : *computation) names.insert(std::string(at->name()));
  }
  for (const std::string& dead : DeadInstructions(candidate)) {
    if (!names.contains(dead)) needed.insert(dead);
  }
}

std::vector<Literal> ValuesOf(const ReduceCase& reduce_case, const EvaluateFunction& evaluate) {
  std::vector<Literal> values;  // by instruction id
  if (!evaluate) return values;
  Exposed all = WithAllArrays(*reduce_case.module, /*with_leaves=*/true);
  absl::StatusOr<Literal> result = evaluate(*all.module, reduce_case.inputs);
  if (!result.ok() || result->elements().size() != all.arrays.size()) return values;
  for (size_t i = 0; i < all.arrays.size(); ++i) {
    const auto id = static_cast<size_t>(all.arrays[i]->id());
    if (values.size() <= id) values.resize(id + 1);
    values[id] = std::move(result->mutable_elements()[i]);
  }
  return values;
}

bool HasDynamicResult(const ReduceCase& reduce_case) {
  return reduce_case.module->entry()->root()->shape().HasDynamicDimension();
}

}  // namespace

Reduction::Reduction(ReduceCase start_case, const ReducePredicate& holds,
                     const ReduceOptions& given)
    : predicate(holds), options(given), start(Now()) {
  const ReduceCost cost = CostOf(start_case);
  best = std::make_unique<BestCase>(BestCase{std::move(start_case), cost, {}, {}, {}});
  progress.instructions = cost.instructions;
  progress.elements = cost.elements;
}

bool Reduction::Expired() const {
  return progress.probes >= options.max_probes || Now() - start >= options.seconds ||
         InterruptRequested();
}

const Equivalence& Candidates::Links(LinkKind kind) {
  std::unique_ptr<const Equivalence>& links = reduction_.best->links[static_cast<size_t>(kind)];
  if (links == nullptr) links = std::make_unique<const Equivalence>(module(), kind);
  return *links;
}

const Literal* Candidates::ValueOf(const Instruction* at) {
  std::optional<std::vector<Literal>>& values = reduction_.best->values;
  if (!values.has_value()) values = ValuesOf(best(), reduction_.options.evaluate);
  const auto id = static_cast<size_t>(at->id());
  return id < values->size() && (*values)[id].shape().IsValid() ? &(*values)[id] : nullptr;
}

void Candidates::Offer(absl::FunctionRef<std::optional<ReduceCase>()> make) {
  if (offered_++ < skipped_ || IsOver()) return;
  if (std::optional<ReduceCase> made = make()) Consider(*std::move(made));
}

void Candidates::Offer(absl::FunctionRef<bool(ReduceCase&)> edit) {
  Offer([&]() -> std::optional<ReduceCase> {
    ReduceCase copy = best().Clone();
    if (!edit(copy)) return std::nullopt;
    return copy;
  });
}

void Candidates::Offer(const Instruction* at,
                       absl::FunctionRef<bool(ReduceCase&, Instruction*)> edit) {
  Offer([&](ReduceCase& copy) { return edit(copy, Counterpart(*copy.module, at)); });
}

// Cleans the candidate and puts it to the others, if it is smaller, verifies and was not refused.
void Candidates::Consider(ReduceCase made) {
  const BestCase& now = *reduction_.best;
  absl::flat_hash_set<std::string> needed = now.needed;
  if (!needed.empty()) AddNewDead(*made.module, module(), needed);
  RemoveUnused(made, needed);
  const ReduceCost cost = CostOf(made);
  if (!(cost < now.cost)) return;
  const uint64_t hash = HashCase(made, cost);
  const bool is_known = reduction_.refused.contains(hash) ||
                        std::any_of(batch_.begin(), batch_.end(),
                                    [hash](const Candidate& other) { return other.hash == hash; });
  if (is_known) return;
  // A result of run-time size does not come back at its size from every compiler.
  const bool gains_size = HasDynamicResult(made) && !HasDynamicResult(best());
  if (gains_size || !Verify(*made.module).ok()) {
    reduction_.refused.insert(hash);
    return;
  }
  batch_.push_back(
      {BestCase{std::move(made), cost, std::move(needed), {}, {}}, hash, offered_ - 1});
  const int jobs = reduction_.options.jobs;
  if (jobs <= 1 || batch_.size() >= kBatchPerJob * static_cast<size_t>(jobs)) AskAboutBatch();
}

void Candidates::Settle(Candidate& candidate, bool holds) {
  ++reduction_.progress.probes;
  if (holds) {
    number_of_next_ = candidate.number;
    next_ = std::make_unique<BestCase>(std::move(candidate.next));
  } else {
    reduction_.refused.insert(candidate.hash);
  }
}

void Candidates::AskAboutBatch() {
  const int jobs = reduction_.options.jobs;
  size_t first = 0;  // that is not settled
  const auto holds = [this, &first](int64_t i) {
    const ReduceCase& candidate = batch_[first + static_cast<size_t>(i)].next.reduce_case;
    return reduction_.predicate(*candidate.module, candidate.inputs);
  };
  while (first < batch_.size() && !IsOver()) {
    std::vector<std::optional<bool>> answers;
    if (jobs > 1) answers = AskInForks(static_cast<int64_t>(batch_.size() - first), jobs, holds);
    // This process answers if no other can be had.
    const bool has_none = answers.empty() || !answers[0].has_value();
    if (has_none && !InterruptRequested()) answers.assign(1, holds(0));
    // If a process died of a candidate, those that it would have come to have no answer yet.
    for (size_t i = 0; i < answers.size() && answers[i].has_value() && next_ == nullptr; ++i)
      Settle(batch_[first++], *answers[i]);
  }
  batch_.clear();
}

std::unique_ptr<BestCase> Candidates::TakeNext() {
  AskAboutBatch();
  return std::move(next_);
}

bool RunStep(Reduction& reduction, const ReduceStep& step) {
  bool changed = false;
  for (int64_t skipped = 0;;) {
    Candidates candidates(reduction, skipped);
    step.offer(candidates);
    std::unique_ptr<BestCase> next = candidates.TakeNext();
    if (next == nullptr) return changed;
    changed = true;
    skipped = candidates.number_of_next();
    reduction.best = std::move(next);
    ReduceProgress& progress = reduction.progress;
    ++progress.accepted;
    progress.instructions = reduction.best->cost.instructions;
    progress.elements = reduction.best->cost.elements;
    progress.seconds = Now() - reduction.start;
    progress.step = step.name;
    if (reduction.options.progress) reduction.options.progress(progress);
    if (reduction.options.best) reduction.options.best(reduction.best->reduce_case);
  }
}

}  // namespace assay
