// The loop of the reducer: proposes, tries and keeps what is cheaper and still fails.
#include "fuzz/reduce/reducer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/forks.h"
#include "fuzz/reduce/reduction.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/process/interrupt.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// s32 before f32 and pred before the rest: what people read most easily.
int64_t TypeCost(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS32:
      return 0;
    case ElementType::kF32:
      return 1;
    default:
      return 2;
  }
}

int64_t ElementCost(const Literal& literal, int64_t i) {
  if (IsFloat(literal.element_type())) {
    double value = literal.GetDouble(i);
    if (value == 0) return std::signbit(value) ? 4 : 0;
    if (std::isnan(value)) return 6;
    if (value == 1) return 1;
    if (std::trunc(value) != value) return 5;
    return std::abs(value) <= 16 ? 2 : std::isinf(value) ? 5 : 4;
  }
  if (IsComplex(literal.element_type())) return 6;
  int64_t value = literal.GetInteger(i);
  if (value == 0 || value == 1) return value;
  return value > 0 && value <= 16 ? 2 : value >= -16 && value < 0 ? 3 : 4;
}

int64_t ValueCost(const Literal& literal) {
  int64_t cost = 0;
  for (int64_t i = 0; i < literal.element_count(); ++i) cost += ElementCost(literal, i);
  for (const Literal& element : literal.elements()) cost += ValueCost(element);
  return cost;
}

int64_t AttributeCost(const Instruction& instruction) {
  int64_t cost = 0;
  for (const SliceRange& r : instruction.attributes().SliceRanges(Attr::kSlice)) {
    cost += (r.start != 0) + (r.stride != 1);
  }
  for (const PaddingDim& p : instruction.attributes().Padding(Attr::kPadding)) {
    cost += 2 * (p.low != 0) + (p.high != 0) + 2 * (p.interior != 0);
  }
  for (const WindowDim& w : instruction.attributes().Window(Attr::kWindow)) {
    cost += (w.stride != 1) + 2 * (w.low != 0) + (w.high != 0) + (w.base_dilation != 1) +
            (w.window_dilation != 1) + w.reversal;
  }
  for (const AttrSpec& spec : Info(instruction.opcode()).attributes)
    cost += spec.presence == AttrSpec::kOptional && instruction.attributes().Has(spec.attr);
  const ConvDimLabels* labels = instruction.attributes().DimLabels();
  if (labels != nullptr) cost += OtherThanStandard(*labels);
  cost += instruction.tuple_index() > 0 ? instruction.tuple_index() : 0;
  for (Attr common :
       {Attr::kSharding, Attr::kFrontendAttributes, Attr::kMetadata, Attr::kStatistics,
        Attr::kResultAccuracy, Attr::kOrigin, Attr::kBackendConfig}) {
    cost += instruction.attributes().Has(common);
  }
  return cost;
}

bool HasCustomLayout(const Instruction& instruction) {
  bool custom = false;
  ForEachLeaf(instruction.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    custom |= leaf.IsArray() && !leaf.layout().IsRowMajor();
  });
  return custom;
}

int64_t HeaderCost(const ModuleConfig& config) {
  return (config.entry_layout != nullptr) + static_cast<int64_t>(config.input_output_alias.size()) +
         static_cast<int64_t>(config.buffer_donors.size()) + config.is_scheduled +
         static_cast<int64_t>(config.verbatim.size()) + !config.stack_tables.empty();
}

uint64_t HashCase(const ReduceCase& reduce_case) {
  uint64_t hash = reduce_case.module->Hash();
  auto mix = [&hash](uint64_t word) { hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  mix(HeaderCost(reduce_case.module->config()));
  for (const Literal& input : reduce_case.inputs) {
    mix(input.bytes().size());
    for (uint8_t byte : input.bytes()) mix(byte);
  }
  return hash;
}

}  // namespace

ReduceCost CostOf(const ReduceCase& reduce_case) {
  int64_t instructions = 0, computed = 0, elements = 0, ranks = 0, types = 0, plain = 0, values = 0;
  for (const Computation* computation : reduce_case.module->computations()) {
    for (const Instruction* at : *computation) {
      ++instructions;
      computed += !IsLeaf(at);
      plain += AttributeCost(*at) + HasCustomLayout(*at);
      ForEachLeaf(at->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        if (!leaf.IsArray()) return;
        elements += leaf.ElementCount();
        ranks += leaf.rank();
        types += TypeCost(leaf.element_type());
      });
      if (at->literal() != nullptr) values += ValueCost(*at->literal());
    }
  }
  for (const Literal& input : reduce_case.inputs) values += ValueCost(input);
  int64_t computations = static_cast<int64_t>(reduce_case.module->computations().size());
  return {instructions, computed, computations, HeaderCost(reduce_case.module->config()),
          elements,     ranks,    types,        plain,
          values};
}

Reduction::Reduction(ReduceCase start, const ReducePredicate& predicate,
                     const ReduceOptions& options)
    : best_(std::move(start)),
      cost_(CostOf(best_)),
      predicate_(predicate),
      options_(options),
      start_(Now()) {
  progress_.instructions = best_.module->InstructionCount();
  progress_.elements = cost_[4];
}

namespace {

// What is proposed after the first that will do is asked in vain.
constexpr size_t kProposalsPerJob = 4;

}  // namespace

bool Reduction::Expired() const {
  const size_t enough = kProposalsPerJob * static_cast<size_t>(std::max(options_.jobs, 1));
  if (mode_ == Mode::kPropose && proposals_.size() >= enough) return true;
  return is_paused_ || progress_.probes >= options_.max_probes ||
         Now() - start_ >= options_.seconds || InterruptRequested();
}

bool Reduction::Wants() {
  if (Expired()) return false;
  if (!is_counting_) return true;
  if (mode_ == Mode::kApply) refused_ = std::max(refused_, position_);
  return ++position_ > refused_;
}

// A copy of what nothing reads, from a body that is taken in, has another name.
void Reduction::AddNewDead(const ReduceCase& candidate,
                           absl::flat_hash_set<std::string>& needed) const {
  absl::flat_hash_set<std::string> names;
  for (const Computation* computation : best_.module->computations()) {
    for (const Instruction* at : *computation) names.insert(std::string(at->name()));
  }
  for (const std::string& dead : DeadInstructions(*candidate.module)) {
    if (!names.contains(dead)) needed.insert(dead);
  }
}

bool Reduction::Try(ReduceCase candidate, std::string_view step) {
  if (Expired()) return false;
  absl::flat_hash_set<std::string> needed = needed_;
  if (!needed.empty()) AddNewDead(candidate, needed);
  RemoveUnused(candidate, needed);
  ReduceCost cost = CostOf(candidate);
  if (!(cost < cost_)) return false;
  const uint64_t hash = HashCase(candidate);
  if (tried_.contains(hash)) return false;
  // A result of run-time size does not come back at its size from every compiler.
  const bool gains_size = candidate.module->entry()->root()->shape().HasDynamicDimension() &&
                          !best_.module->entry()->root()->shape().HasDynamicDimension();
  if (gains_size || !Verify(*candidate.module).ok()) {
    tried_.insert(hash);
    return false;
  }
  if (mode_ == Mode::kPropose) {
    const bool is_known = answers_.contains(hash) ||
                          std::any_of(proposals_.begin(), proposals_.end(),
                                      [hash](const Proposal& other) { return other.hash == hash; });
    if (!is_known) proposals_.push_back({hash, std::move(candidate)});
    return false;
  }
  if (mode_ == Mode::kApply && !answers_.contains(hash)) {
    is_paused_ = true;
    return false;
  }
  tried_.insert(hash);
  ++progress_.probes;
  if (!Holds(candidate, hash)) return false;
  best_ = std::move(candidate);
  needed_ = std::move(needed);
  cost_ = cost;
  values_known_ = false;
  links_ = {};
  is_counting_ = false;
  ++progress_.accepted;
  progress_.instructions = cost[0];
  progress_.elements = cost[4];
  progress_.seconds = Now() - start_;
  progress_.step = step;
  if (options_.progress) options_.progress(progress_);
  if (options_.best) options_.best(best_);
  return true;
}

bool Reduction::Holds(const ReduceCase& candidate, uint64_t hash) {
  return mode_ == Mode::kApply ? answers_.at(hash)
                               : predicate_(*candidate.module, candidate.inputs);
}

void Reduction::AskAboutProposals() {
  const std::vector<std::optional<bool>> answers =
      AskInForks(static_cast<int64_t>(proposals_.size()), options_.jobs, [this](int64_t i) {
        const ReduceCase& candidate = proposals_[static_cast<size_t>(i)].candidate;
        return predicate_(*candidate.module, candidate.inputs);
      });
  for (size_t i = 0; i < proposals_.size(); ++i) {
    if (answers[i].has_value()) answers_[proposals_[i].hash] = *answers[i];
  }
  // Where no process can be had, this one answers, so that every trial run leads somewhere.
  if (!proposals_.empty() && !answers[0].has_value() && !InterruptRequested()) {
    const Proposal& first = proposals_[0];
    answers_[first.hash] = predicate_(*first.candidate.module, first.candidate.inputs);
  }
  proposals_.clear();
}

bool Reduction::RunOnce(bool (*step)(Reduction&), Mode mode) {
  mode_ = mode;
  position_ = 0;
  const bool changed = step(*this);
  mode_ = Mode::kTry;
  return changed;
}

bool Reduction::Run(bool (*step)(Reduction&)) {
  if (options_.jobs <= 1) return step(*this);
  bool changed = false;
  refused_ = 0;
  do {
    is_counting_ = true;
    RunOnce(step, Mode::kPropose);
    AskAboutProposals();
    is_paused_ = false;
    changed |= RunOnce(step, Mode::kApply);
    if (!is_counting_) refused_ = 0;
  } while (std::exchange(is_paused_, false) && !Expired());
  is_counting_ = false;
  return changed;
}

std::shared_ptr<const Equivalence> Reduction::Links(LinkKind kind) {
  std::shared_ptr<const Equivalence>& links = links_[static_cast<size_t>(kind)];
  if (links == nullptr) links = std::make_shared<const Equivalence>(*best_.module, kind);
  return links;
}

const std::vector<Literal>& Reduction::Values() {
  if (values_known_) return values_;
  values_known_ = true;
  values_.clear();
  if (!options_.evaluate) return values_;
  Exposed all = WithAllArrays(*best_.module, /*with_leaves=*/true);
  absl::StatusOr<Literal> result = options_.evaluate(*all.module, best_.inputs);
  if (!result.ok() || result->elements().size() != all.arrays.size()) return values_;
  for (size_t i = 0; i < all.arrays.size(); ++i) {
    const auto id = static_cast<size_t>(all.arrays[i]->id());
    if (values_.size() <= id) values_.resize(id + 1);
    values_[id] = std::move(result->mutable_elements()[i]);
  }
  return values_;
}

absl::Span<const ReduceStep> ReduceSteps() {
  constexpr auto kStructure = ReduceStep::kStructure, kDetails = ReduceStep::kDetails;
  static constexpr ReduceStep kSteps[] = {
      {"drop the header", DropHeader, kStructure},
      {"drop outputs", DropOutputs, kStructure},
      {"drop effects", DropEffects, kStructure},
      {"numbers to truth values", NumbersToTruth, kStructure},
      {"shrink everything", ShrinkEverything, kStructure},
      {"earlier root", EarlierRoot, kStructure},
      {"operands as outputs", OutputsByOperands, kStructure},
      {"lift a callee", LiftCallee, kStructure},
      {"inline calls", InlineCalls, kStructure},
      {"inline shared callees", InlineSharedCallees, kStructure},
      {"merge computations", MergeComputations, kStructure},
      {"forward tuples", ForwardTuples, kStructure},
      {"cut operands", CutOperands, kStructure},
      {"replace by operand", ReplaceByOperand, kStructure},
      {"plainer operation", PlainerOperation, kStructure},
      {"retarget elements", RetargetElements, kStructure},
      {"read elements", ReadElements, kStructure},
      {"prune loop state", PruneLoopState, kStructure},
      {"prune branches", PruneBranches, kStructure},
      {"drop variadic operands", DropVariadicOperands, kStructure},
      {"drop parts", DropParts, kStructure},
      {"simplify callees", SimplifyCallees, kStructure},
      {"any earlier root", AnyEarlierRoot, kStructure},
      {"merge leaves", MergeLeaves, kStructure},
      {"merge leaves of other sizes", MergeFittedLeaves, kStructure},
      {"shrink dimensions", ShrinkDimensions, kDetails},
      {"drop dimensions", DropDimensions, kDetails},
      {"simplify attributes", SimplifyAttributes, kDetails},
      {"standard labels", StandardLabels, kDetails},
      {"simplify types", SimplifyTypes, kDetails},
      {"simplify values", SimplifyValues, kDetails},
  };
  return kSteps;
}

namespace {

// A compiler may fail over what nothing reads.
bool IsNeededDead(const ReduceCase& start, const ReducePredicate& predicate) {
  if (DeadInstructions(*start.module).empty()) return false;
  ReduceCase without = start.Clone();
  RemoveUnused(without);
  return !predicate(*without.module, without.inputs);
}

// Rounds of steps until one changes nothing, or the time is over; true if the last changed
// something.
bool RunRounds(Reduction& reduction, bool with_details) {
  bool changed = true;
  while (changed && !reduction.Expired()) {
    changed = false;
    for (const ReduceStep& step : ReduceSteps()) {
      if (reduction.Expired()) break;
      if (step.changes == ReduceStep::kDetails && !with_details) continue;
      changed |= reduction.Run(step.run);
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<ReduceResult> Reduce(const Module& module, const std::vector<Literal>& inputs,
                                    const ReducePredicate& predicate,
                                    const ReduceOptions& options) {
  ASSAY_RETURN_IF_ERROR(Verify(module));
  if (!predicate(module, inputs)) {
    return absl::FailedPreconditionError(
        "the program does not show the failure to begin with: nothing to reduce");
  }
  Reduction reduction({module.Clone(""), inputs}, predicate, options);
  if (IsNeededDead(reduction.best(), predicate)) reduction.KeepDead();
  ReduceResult result;
  if (options.is_enough) {
    RunRounds(reduction, /*with_details=*/false);
    result.was_enough = !reduction.Expired() && options.is_enough(reduction.best());
  }
  if (!result.was_enough) {
    bool changed = RunRounds(reduction, /*with_details=*/true);
    // Last, since from there steps on the tuple see nothing that they can take away; but others
    // may.
    if (!reduction.Expired() && reduction.Run(WholeResult))
      changed = RunRounds(reduction, /*with_details=*/true);
    result.complete = !changed && !reduction.Expired();
  }
  result.progress = reduction.progress();
  result.reduced = reduction.best().Clone();
  return result;
}

}  // namespace assay
