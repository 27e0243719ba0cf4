// The steps of planning, in the order in which Plan calls them.
#include "optimized/buffers/frame_planner.h"

#include <algorithm>

#include "optimized/analysis/annotations.h"
#include "optimized/analysis/tasks/task_split.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kMaxNesting = 100;

// A loop without state has no values, and still runs; so do calls for the sake of their effects and
// the queues of the host.
bool RunsAnyway(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kWhile || instruction.opcode() == Opcode::kConditional ||
         instruction.opcode() == Opcode::kCall || instruction.opcode() == Opcode::kInfeed ||
         instruction.opcode() == Opcode::kOutfeed;
}

}  // namespace

bool IsElementForElement(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kCopy:
    case Opcode::kReshape:
      return true;
    case Opcode::kBitcast:
      return BitcastKeepsOrder(instruction);
    case Opcode::kBitcastConvert:
      return BitcastConvertKeepsWidth(instruction);
    case Opcode::kBroadcast:
      return instruction.operand(0)->shape().ElementCount() == 1;
    case Opcode::kConstant:
      return instruction.shape().IsArray() && instruction.shape().ElementCount() == 1;
    case Opcode::kParameter:
      return true;
    case Opcode::kFusion: {
      const Instruction* root = instruction.callee()->root();
      return absl::c_all_of(*instruction.callee(), [&](const Instruction* inner) {
        if (inner == root && inner->opcode() == Opcode::kTuple) return true;
        return inner->opcode() != Opcode::kFusion && inner->shape().IsArray() &&
               IsElementForElement(*inner);
      });
    }
    case Opcode::kComplex:
      return false;  // no operand has room for both parts
    default:
      return IsElementwise(instruction.opcode());
  }
}

std::vector<Shape> LeavesOf(const Shape& shape) {
  std::vector<Shape> leaves;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) { leaves.push_back(leaf); });
  return leaves;
}

void FramePlanner::Schedule() {
  std::vector<Instruction*> order;
  if (computation_->parent()->config().is_scheduled) {
    order.assign(computation_->begin(), computation_->end());
  } else {
    order = computation_->PostOrder();
  }
  absl::flat_hash_set<const Instruction*> live = {computation_->root()};
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Instruction* i = *it;
    // An instruction with an effect on other devices runs although nobody wants its result.
    if (!live.contains(i) && i->opcode() != Opcode::kParameter && purity_.IsPure(*i)) continue;
    for (const Instruction* operand : i->operands()) live.insert(operand);
    schedule_.push_back(i);
  }
  std::reverse(schedule_.begin(), schedule_.end());
}

// The values of an instruction: those of its operands where it only renames, new ones otherwise.
std::vector<FramePlanner::ValueId> FramePlanner::ValuesOf(const Instruction* instruction,
                                                          int time) {
  switch (instruction->opcode()) {
    case Opcode::kTuple: {
      std::vector<ValueId> values;
      for (const Instruction* operand : instruction->operands()) {
        const std::vector<ValueId>& more = of_[operand];
        values.insert(values.end(), more.begin(), more.end());
      }
      return values;
    }
    case Opcode::kGetTupleElement: {
      const Instruction* tuple = instruction->operand(0);
      int64_t first = 0;
      for (int64_t k = 0; k < instruction->tuple_index(); ++k) {
        first += LeafCount(tuple->shape().elements()[k]);
      }
      auto begin = of_[tuple].begin() + first;
      return {begin, begin + LeafCount(instruction->shape())};
    }
    case Opcode::kAddDependency:
    case Opcode::kOptBarrier:
      return of_[instruction->operand(0)];
    case Opcode::kCustomCall:
      if (IsAnnotation(*instruction)) return of_[instruction->operand(0)];
      break;
    case Opcode::kReshape:
    case Opcode::kBitcast: {
      const Shape& from = instruction->operand(0)->shape();
      bool same_bytes =
          StorageBytes(from.element_type()) == StorageBytes(instruction->shape().element_type());
      if (instruction->opcode() == Opcode::kBitcast &&
          (!same_bytes ||
           !gates_.Holds("alias-reshape/same-order", instruction, BitcastKeepsOrder(*instruction))))
        break;
      if (gates_.Allow(DecisionKind::kBuffer, "alias-reshape", instruction))
        return of_[instruction->operand(0)];
      break;
    }
    default:
      break;
  }
  std::vector<ValueId> values;
  for (const Shape& leaf : LeavesOf(instruction->shape())) {
    if (!leaf.IsArray()) {
      values.push_back(-1);
      continue;
    }
    Value value;
    value.def = instruction;
    value.bytes = leaf.ByteSize();
    value.def_time = time;
    value.owned = true;
    if (instruction->opcode() == Opcode::kConstant) {
      // The pool holds it as the literal does: row-major.
      BufferAssignment::Buffer buffer;
      buffer.bytes = value.bytes;
      buffer.table_index = BufferTable::kConstants;
      buffer.offset = static_cast<int64_t>(all_.constants_.size());
      absl::Span<const uint8_t> bytes = instruction->literal()->bytes();
      all_.constants_.insert(all_.constants_.end(), bytes.begin(), bytes.end());
      all_.constants_.resize(all_.Align(static_cast<int64_t>(all_.constants_.size())));
      value.buffer = all_.AddBuffer(buffer);
      value.owned = false;
    }
    values.push_back(NewValue(value));
  }
  return values;
}

void FramePlanner::CreateValues(const Request& request) {
  for (size_t t = 0; t < schedule_.size(); ++t) {
    const Instruction* i = schedule_[t];
    if (i->opcode() == Opcode::kParameter) {
      std::vector<ValueId> values;
      std::vector<Shape> leaves = LeavesOf(i->shape());
      const std::vector<BufferId>& buffers = request.parameters[i->parameter_number()];
      for (size_t k = 0; k < leaves.size(); ++k) {
        if (buffers[k] < 0) {
          values.push_back(-1);
          continue;
        }
        Value value;
        value.def = i;
        value.bytes = leaves[k].ByteSize();
        value.def_time = kBeforeAll;
        value.owned = absl::c_linear_search(request.destinations, buffers[k]);
        value.buffer = buffers[k];
        values.push_back(NewValue(value));
      }
      of_[i] = std::move(values);
      continue;
    }
    std::vector<ValueId> values = ValuesOf(i, static_cast<int>(t));
    bool renamed = values.empty() || absl::c_none_of(values, [&](ValueId v) {
                     return v >= 0 && values_[v].def == i;
                   });
    of_[i] = std::move(values);
    bool no_code = (renamed && !RunsAnyway(*i)) || i->opcode() == Opcode::kConstant;
    step_of_[i] = frame_->steps.size();
    frame_->steps.push_back({i, no_code, false});
  }
}

void FramePlanner::FindLastUses() {
  for (size_t t = 0; t < schedule_.size(); ++t) {
    const Instruction* i = schedule_[t];
    for (const Instruction* operand : i->operands()) {
      // A renaming uses nothing: what it names does, through the same value.
      bool renaming = false;
      for (ValueId v : of_[i]) renaming = renaming || (v >= 0 && values_[v].def != i);
      if (renaming || i->opcode() == Opcode::kTuple || i->opcode() == Opcode::kGetTupleElement)
        continue;
      for (ValueId v : of_[operand]) {
        if (v >= 0) values_[v].last_use = std::max(values_[v].last_use, static_cast<int>(t));
      }
    }
  }
  for (ValueId v : of_[computation_->root()]) {
    if (v >= 0) values_[v].last_use = static_cast<int>(schedule_.size());
  }
  for (Value& value : values_) value.last_use = std::max(value.last_use, value.def_time);
}

void FramePlanner::AssignDestinations(const Request& request) {
  for (const auto& buffers : request.parameters) {
    for (BufferId buffer : buffers) {
      if (absl::c_linear_search(request.destinations, buffer)) loop_state_.insert(buffer);
    }
  }
  const std::vector<ValueId>& roots = of_[computation_->root()];
  for (size_t k = 0; k < roots.size() && k < request.destinations.size(); ++k) {
    if (roots[k] < 0) continue;
    Value& value = values_[roots[k]];
    if (value.destination < 0 && value.buffer < 0) value.destination = request.destinations[k];
  }
  for (size_t t = schedule_.size(); t-- > 0;) {
    if (schedule_[t]->opcode() == Opcode::kWhile)
      StartAtDestinations(*schedule_[t], static_cast<int>(t));
  }
}

// The state of a loop that is a result begins where the result must be, so that it need not be
// copied there.
void FramePlanner::StartAtDestinations(const Instruction& loop, int time) {
  const std::vector<ValueId>& results = of_[&loop];
  const std::vector<ValueId>& inits = of_[loop.operand(0)];
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k] < 0) continue;
    const BufferId destination = values_[results[k]].destination;
    Value& init = values_[inits[k]];
    if (destination >= 0 && !loop_state_.contains(destination) && init.owned && init.buffer < 0 &&
        init.destination < 0 && init.last_use <= time &&
        std::count(inits.begin(), inits.end(), inits[k]) == 1) {
      init.destination = destination;
    }
  }
}

bool FramePlanner::Dies(const Value& value, int time) const {
  auto busy = busy_until_.find(value.buffer);
  return value.last_use <= time && (busy == busy_until_.end() || busy->second <= time);
}

FramePlanner::BufferId FramePlanner::NewBuffer(const Instruction* at, int64_t bytes, int start) {
  BufferAssignment::Buffer buffer;
  buffer.bytes = bytes;
  buffer.region = region_;
  BufferId id = all_.AddBuffer(buffer);
  item_of_[id] = items_.size();
  items_.push_back({at, start, start, bytes, id, -1, 0});
  return id;
}

void FramePlanner::Occupy(BufferId buffer, const Value& value) {
  int& busy = busy_until_.try_emplace(buffer, kBeforeAll).first->second;
  busy = std::max(busy, value.last_use);
  auto item = item_of_.find(buffer);
  if (item != item_of_.end()) items_[item->second].end = std::max(items_[item->second].end, busy);
}

// Outputs and branch results are free until they are written. Loop state holds the old value until
// its last reader is done.
bool FramePlanner::DestinationIsFree(const Value& value, int time) {
  if (value.destination < 0) return false;
  if (!loop_state_.contains(value.destination)) return true;
  auto busy = busy_until_.find(value.destination);
  bool free = busy == busy_until_.end() || busy->second < time;
  return gates_.Claim(DecisionKind::kBuffer, "while-copy-elision", value.def, free);
}

void FramePlanner::Place(ValueId id, int time) {
  Value& value = values_[id];
  value.buffer =
      DestinationIsFree(value, time) ? value.destination : NewBuffer(value.def, value.bytes, time);
  Occupy(value.buffer, value);
}

// Element i of every result is stored when element i of all operands has been read.
bool FramePlanner::ReuseOperand(const Instruction* instruction, size_t leaf, int time,
                                absl::flat_hash_set<BufferId>& taken) {
  const Shape& shape =
      instruction->shape().IsTuple() ? instruction->shape().elements()[leaf] : instruction->shape();
  Value& value = values_[of_[instruction][leaf]];
  const bool is_state = value.destination >= 0 && loop_state_.contains(value.destination);
  const auto busy = busy_until_.find(value.destination);
  const bool is_home_free = !is_state || busy == busy_until_.end() || busy->second < time;
  const Value* best = nullptr;
  for (const Instruction* operand : instruction->operands()) {
    if (!operand->shape().IsArray() || of_[operand][0] < 0) continue;
    const Value& candidate = values_[of_[operand][0]];
    if (!candidate.owned || candidate.bytes != value.bytes || value.bytes == 0 ||
        taken.contains(candidate.buffer) ||
        operand->shape().ElementCount() != shape.ElementCount()) {
      continue;
    }
    // A result that has its place already is not worth less of it.
    if (value.destination >= 0 && candidate.buffer != value.destination && is_home_free) continue;
    // Prefers, among the operands that die here, the one whose memory is where the result must end
    // up.
    const auto rank = [&](const Value& of) {
      return 2 * (Dies(of, time) ? 1 : 0) + (of.buffer == value.destination ? 1 : 0);
    };
    if (best == nullptr || rank(candidate) > rank(*best)) best = &candidate;
  }
  if (best == nullptr) return false;
  if (!gates_.Claim(DecisionKind::kBuffer, "reuse-elementwise", instruction, Dies(*best, time)))
    return false;
  value.buffer = best->buffer;
  taken.insert(value.buffer);
  Occupy(value.buffer, value);
  return true;
}

bool FramePlanner::UpdateInPlace(const Instruction* instruction, ValueId result, int time) {
  const bool is_scatter = instruction->opcode() == Opcode::kScatter;
  if (!is_scatter && instruction->opcode() != Opcode::kDynamicUpdateSlice) return false;
  Value& value = values_[result];
  ValueId operand = of_[instruction->operand(0)][0];
  if (operand < 0 || !values_[operand].owned) return false;
  bool separate = true;
  for (int64_t k = 1; k < instruction->operand_count(); ++k) {
    for (ValueId v : of_[instruction->operand(k)]) {
      separate = separate && (v < 0 || values_[v].buffer != values_[operand].buffer);
    }
  }
  bool dies =
      gates_.Holds(is_scatter ? "in-place-scatter/operand-dies" : "in-place-dus/operand-dies",
                   instruction, Dies(values_[operand], time));
  separate =
      gates_.Holds(is_scatter ? "in-place-scatter/updates-apart" : "in-place-dus/updates-apart",
                   instruction, separate);
  const char* rule = is_scatter ? "in-place-scatter" : "in-place-dus";
  if (!gates_.Claim(DecisionKind::kBuffer, rule, instruction, dies && separate)) return false;
  value.buffer = values_[operand].buffer;
  Occupy(value.buffer, value);
  return true;
}

absl::StatusOr<const FramePlanner::Frame*> FramePlanner::PlanCallee(const Instruction* instruction,
                                                                    int time, Request request) {
  if (nesting_ >= kMaxNesting) {
    return MakeError(ErrorClass::kUnsupported, StrCat("cpu: control flow nested deeper than ",
                                                      kMaxNesting, " at ", instruction->name()));
  }
  FramePlanner planner(all_, gates_, purity_, nesting_ + 1);
  ASSAY_ASSIGN_OR_RETURN(const Frame* frame, planner.Plan(std::move(request)));
  int child = planner.region();
  Item item{instruction, time, time, all_.regions_[child].bytes, -1, child, 0};
  if (item.bytes > 0) items_.push_back(item);
  all_.regions_[child].parent = region_;
  frame_->callees[instruction].push_back(frame);
  return frame;
}

std::string_view FramePlanner::WhyLoopStateIsCopied(const Value& init, const Value& state,
                                                    bool alone) const {
  if (!alone) return "several elements of the state begin with it";
  if (init.def->opcode() == Opcode::kConstant) return "it is a constant";
  if (!init.owned) return "it is the caller's";
  if (state.destination == state.buffer && state.destination >= 0) {
    return "the state lies where the result must be";
  }
  return "it is read later, too";
}

std::string_view FramePlanner::WhyResultIsCopied(const Value& value, BufferId to) const {
  if (value.def->opcode() == Opcode::kConstant) return "a result is a constant";
  if (value.def->opcode() == Opcode::kParameter) return "a result is an argument";
  if (loop_state_.contains(to)) return "the old value is read after the new one is made";
  return "two results are one value";
}

absl::Status FramePlanner::AssignWhile(const Instruction* instruction, int time) {
  const std::vector<ValueId>& results = of_[instruction];
  const std::vector<ValueId>& inits = of_[instruction->operand(0)];
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k] < 0) continue;
    Value& state = values_[results[k]];
    const Value& init = values_[inits[k]];
    // Two elements of the state that start as one value need two places.
    bool alone = gates_.Holds("while-init-in-place/alone", instruction,
                              std::count(inits.begin(), inits.end(), inits[k]) == 1);
    bool placed = state.destination >= 0 && state.destination != init.buffer &&
                  !loop_state_.contains(state.destination);
    if (!placed && init.owned && alone &&
        gates_.Claim(DecisionKind::kBuffer, "while-init-in-place", instruction, Dies(init, time))) {
      state.buffer = init.buffer;
      Occupy(state.buffer, state);
      continue;
    }
    Place(results[k], time);
    if (state.bytes > 0) {
      frame_->copies_before[instruction].push_back({init.buffer, state.buffer, state.bytes,
                                                    init.def,
                                                    WhyLoopStateIsCopied(init, state, alone)});
    }
  }
  std::vector<BufferId> state = BuffersOf(results);
  Request condition{instruction->callee(0), {state}, {}};
  ASSAY_RETURN_IF_ERROR(PlanCallee(instruction, time, std::move(condition)).status());
  Request body{instruction->callee(1), {state}, state};
  return PlanCallee(instruction, time, std::move(body)).status();
}

absl::Status FramePlanner::AssignBranches(const Instruction* instruction, int time) {
  for (ValueId v : of_[instruction]) {
    if (v >= 0) Place(v, time);
  }
  std::vector<BufferId> results = BuffersOf(of_[instruction]);
  for (size_t k = 0; k < instruction->callees().size(); ++k) {
    Request request{instruction->callee(k), {}, results};
    if (instruction->opcode() == Opcode::kCall) {
      for (const Instruction* operand : instruction->operands()) {
        request.parameters.push_back(BuffersOf(of_[operand]));
      }
    } else if (request.computation->parameter_count() > 0) {
      request.parameters.push_back(BuffersOf(of_[instruction->operand(1 + k)]));
    }
    ASSAY_RETURN_IF_ERROR(PlanCallee(instruction, time, std::move(request)).status());
  }
  return absl::OkStatus();
}

absl::Status FramePlanner::AssignBuffers(const Instruction* instruction, int time) {
  switch (instruction->opcode()) {
    case Opcode::kWhile:
      return AssignWhile(instruction, time);
    case Opcode::kConditional:
      return AssignBranches(instruction, time);
    case Opcode::kCall:
      if (OutlinedKernel(*instruction) == nullptr) return AssignBranches(instruction, time);
      break;
    default:
      break;
  }
  const std::vector<ValueId> results = of_[instruction];
  if (results.size() == 1 && results[0] >= 0) {
    if (UpdateInPlace(instruction, results[0], time)) {
      frame_->steps[step_of_.at(instruction)].update_in_place = true;
      return absl::OkStatus();
    }
  }
  const Instruction* outlined = OutlinedKernel(*instruction);
  bool reuses = IsElementForElement(outlined == nullptr ? *instruction : *outlined);
  if (instruction->opcode() == Opcode::kCopy) {
    // It was made because the next state goes there.
    const ValueId operand = of_[instruction->operand(0)][0];
    reuses &= operand < 0 || !loop_state_.contains(values_[operand].buffer);
  }
  absl::flat_hash_set<BufferId> taken;
  for (size_t leaf = 0; leaf < results.size(); ++leaf) {
    if (results[leaf] < 0) continue;
    if (!reuses || !ReuseOperand(instruction, leaf, time, taken)) Place(results[leaf], time);
  }
  return absl::OkStatus();
}

void FramePlanner::FinalCopies(const Request& request) {
  const std::vector<ValueId>& roots = of_[computation_->root()];
  if (request.destinations.empty()) {
    frame_->results = BuffersOf(roots);
    return;
  }
  frame_->results = request.destinations;
  std::vector<BufferAssignment::Copy> direct, staged;
  for (size_t k = 0; k < roots.size(); ++k) {
    if (roots[k] < 0) continue;
    const Value& value = values_[roots[k]];
    BufferId to = request.destinations[k];
    if (value.buffer == to || value.bytes == 0) continue;
    // A value that another copy overwrites is set aside first.
    if (absl::c_linear_search(request.destinations, value.buffer)) {
      BufferId aside = NewBuffer(value.def, value.bytes, static_cast<int>(schedule_.size()));
      constexpr std::string_view kAside = "another result goes where it lies";
      frame_->final_copies.push_back({value.buffer, aside, value.bytes, value.def, kAside});
      staged.push_back({aside, to, value.bytes, value.def, kAside});
    } else {
      direct.push_back({value.buffer, to, value.bytes, value.def, WhyResultIsCopied(value, to)});
    }
  }
  for (const auto* copies : {&direct, &staged}) {
    frame_->final_copies.insert(frame_->final_copies.end(), copies->begin(), copies->end());
  }
}

// A result's memory is free until the first value is written there: values that are dead by then
// lie in it, the largest first, each in the smallest that has room.
void FramePlanner::LendResults(const Request& request) {
  constexpr int64_t kSmall = 1024;  // not worth a thought
  struct Lender {
    BufferId buffer;
    int64_t bytes;
    int first;
    std::vector<const Item*> placed;
  };
  std::vector<Lender> lenders;
  for (BufferId buffer : request.destinations) {
    if (buffer < 0 || all_.buffers_[buffer].table_index < all_.first_result()) continue;
    int first = static_cast<int>(schedule_.size());
    for (const Value& value : values_) {
      if (value.buffer == buffer) first = std::min(first, value.def_time);
    }
    if (all_.buffers_[buffer].bytes >= kSmall) {
      lenders.push_back({buffer, all_.buffers_[buffer].bytes, first, {}});
    }
  }
  std::stable_sort(lenders.begin(), lenders.end(),
                   [](const Lender& a, const Lender& b) { return a.bytes < b.bytes; });
  std::vector<Item*> items;
  for (Item& item : items_) {
    if (item.buffer >= 0 && item.bytes >= kSmall && !lenders.empty()) items.push_back(&item);
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item* a, const Item* b) { return a->bytes > b->bytes; });
  for (Item* item : items) {
    for (Lender& lender : lenders) {
      if (item->bytes > lender.bytes ||
          !gates_.Holds("lend-result/dead", item->at, item->end < lender.first)) {
        continue;
      }
      const int64_t offset = LowestFit(*item, lender.placed, false);
      if (offset + item->bytes > lender.bytes) continue;
      if (!gates_.Allow(DecisionKind::kBuffer, "lend-result", item->at)) break;
      item->offset = offset;
      item->is_lent = true;
      lender.placed.push_back(item);
      BufferAssignment::Buffer& buffer = all_.buffers_[item->buffer];
      buffer.table_index = all_.buffers_[lender.buffer].table_index;
      buffer.offset = offset;
      buffer.region = -1;
      break;
    }
  }
}

// The lowest place of `item` beside those that are placed and live while it lives. With `touches`
// two lives may share the step in which one ends and the other begins.
int64_t FramePlanner::LowestFit(const Item& item, const std::vector<const Item*>& placed,
                                bool touches) const {
  const auto is_over = [&](const Item& first, const Item& second) {
    return first.end < second.start ||
           (touches && first.end <= second.start && first.start < second.start);
  };
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const Item* other : placed) {
    if (is_over(*other, item) || is_over(item, *other)) continue;
    taken.emplace_back(other->offset, other->offset + Room(*other));
  }
  std::sort(taken.begin(), taken.end());
  int64_t offset = 0;
  for (const auto& [from, to] : taken) {
    if (from >= offset + item.bytes && from > offset) break;
    offset = std::max(offset, to);
  }
  return offset;
}

// The order in which to place the items: by their beginning, or the largest first, whichever takes
// less memory. Large frames have the first alone, since trying the second takes as long again.
std::vector<FramePlanner::Item*> FramePlanner::PackingOrder() {
  std::vector<Item*> by_start;
  for (Item& item : items_) {
    if (!item.is_lent) by_start.push_back(&item);
  }
  std::sort(by_start.begin(), by_start.end(), [](const Item* a, const Item* b) {
    return std::pair(a->start, a) < std::pair(b->start, b);  // elements of one vector: by position
  });
  constexpr size_t kMany = 4000;
  if (items_.size() > kMany) return by_start;
  std::vector<Item*> by_size = by_start;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Item* a, const Item* b) { return a->bytes > b->bytes; });
  const auto height = [&](const std::vector<Item*>& order) {
    std::vector<const Item*> placed;
    int64_t high = 0;
    for (Item* item : order) {
      item->offset = LowestFit(*item, placed, false);
      high = std::max(high, item->offset + Room(*item));
      placed.push_back(item);
    }
    return high;
  };
  return height(by_size) < height(by_start) ? by_size : by_start;
}

// Memory of the dead is shared where the gate allows it.
void FramePlanner::PackRegion() {
  std::vector<const Item*> placed;
  int64_t high = 0;
  for (Item* next : PackingOrder()) {
    Item& item = *next;
    item.offset = LowestFit(item, placed, false);
    if (item.offset < high) {
      if (!gates_.Claim(DecisionKind::kBuffer, "share-arena", item.at, true)) item.offset = high;
    } else if (int64_t early = LowestFit(item, placed, true);
               early < high && gates_.Claim(DecisionKind::kBuffer, "share-arena", item.at, false)) {
      item.offset = early;  // only a planted defect claims memory that is still read
    }
    high = std::max(high, item.offset + Room(item));
    placed.push_back(&item);
    if (item.buffer >= 0) all_.buffers_[item.buffer].offset = item.offset;
    if (item.child_region >= 0) all_.regions_[item.child_region].offset = item.offset;
  }
  all_.regions_[region_].bytes = high;
}

absl::StatusOr<const FramePlanner::Frame*> FramePlanner::Plan(Request request) {
  computation_ = request.computation;
  region_ = static_cast<int>(all_.regions_.size());
  all_.regions_.emplace_back();
  auto frame = std::make_unique<Frame>();
  frame_ = frame.get();
  frame_->computation = computation_;
  frame_->parameters = request.parameters;
  Schedule();
  CreateValues(request);
  FindLastUses();
  AssignDestinations(request);
  for (const Value& value : values_) {
    if (value.buffer >= 0) Occupy(value.buffer, value);
  }
  for (size_t t = 0; t < schedule_.size(); ++t) {
    const Instruction* i = schedule_[t];
    bool defines = absl::c_any_of(of_[i], [&](ValueId v) { return v >= 0 && values_[v].def == i; });
    if (i->opcode() != Opcode::kParameter && i->opcode() != Opcode::kConstant &&
        (defines || RunsAnyway(*i))) {
      ASSAY_RETURN_IF_ERROR(AssignBuffers(i, static_cast<int>(t)));
    }
  }
  FinalCopies(request);
  if (nesting_ == 0) LendResults(request);
  PackRegion();
  for (const Instruction* i : schedule_) frame_->buffers[i] = BuffersOf(of_[i]);
  all_.frames_.push_back(std::move(frame));
  return frame_;
}

}  // namespace assay
