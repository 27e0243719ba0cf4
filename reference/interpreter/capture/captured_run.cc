// Works out what readers of a captured value may see, clause by clause.
#include "reference/interpreter/capture/captured_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/capture/sample.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/open_elements.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// The computations that run as a unit: the entry, and what calls, loops and conditionals run.
std::vector<const Computation*> Units(const Module& module) {
  std::vector<const Computation*> units = {module.entry()};
  absl::flat_hash_set<const Computation*> seen = {module.entry()};
  for (size_t next = 0; next < units.size(); ++next) {
    for (const Instruction* instruction : *units[next]) {
      switch (instruction->opcode()) {
        case Opcode::kCall:
        case Opcode::kWhile:
        case Opcode::kConditional:
          for (const Computation* callee : instruction->callees())
            if (seen.insert(callee).second) units.push_back(callee);
          break;
        default:
          break;
      }
    }
  }
  return units;
}

Shape LeafShape(const Shape& shape, int64_t leaf) {
  Shape found;
  int64_t number = 0;
  ForEachLeaf(shape, [&](const Shape& each, absl::Span<const int64_t>) {
    if (number++ == leaf) found = each;
  });
  return found;
}

// Half the distance from the value of a code to its further neighbour: every number that rounds to
// it is no further away. Infinite for what is not finite.
double LargestRounding(const FloatFormat& format, double value) {
  if (!std::isfinite(value)) return HUGE_VAL;
  const double size = std::fabs(value);
  const uint64_t code = EncodeFloat(format, size);
  double step = DecodeFloat(format, code + 1) - size;
  if (!std::isfinite(step)) step = size - DecodeFloat(format, code - 1);
  return step / 2;
}

bool IsElementwiseOrMove(const Instruction& instruction) {
  const OpInfo& info = Info(instruction.opcode());
  return info.Is(kElementwise) || info.Is(kDataMovement);
}

}  // namespace

absl::StatusOr<CapturedRun> CapturedRun::Make(const Module& module, const Captures& captures,
                                              const Profile& profile, int64_t device) {
  CapturedRun run;
  run.captures_ = &captures;
  run.excess_ = profile.Grants(ClauseId::kExcessPrecision);
  run.contract_ = profile.Grants(ClauseId::kContraction);
  run.rounds_sums_ = profile.Grants(ClauseId::kLiteralReducer);
  run.flush_ = profile.Grants(ClauseId::kFlushSubnormals);
  for (const Capture& capture : captures.values) {
    if (capture.device != device) continue;
    const Instruction& instruction = *capture.instruction;
    const bool is_branch = capture.leaf == Capture::kBranchTaken;
    Followed followed{
        &capture,
        is_branch ? Shape::Scalar(ElementType::kS32) : LeafShape(instruction.shape(), capture.leaf),
        {}};
    const Shape& seen = capture.values.shape();
    const int64_t loops = seen.rank() - (followed.shape.IsArray() ? followed.shape.rank() : 0);
    bool fits = followed.shape.IsArray() && seen.IsArray() && loops >= 0 &&
                seen.element_type() == followed.shape.element_type() &&
                !followed.shape.HasDynamicDimension();
    for (int64_t d = 0; fits && d < followed.shape.rank(); ++d)
      fits = seen.dimension(loops + d) == followed.shape.dimension(d);
    if (!fits) {
      return MakeError(
          ErrorClass::kRejected,
          StrCat("what was captured of ", instruction.name(), ", leaf ", capture.leaf, ", is ",
                 seen.ToString(), ", which is no stack of ", followed.shape.ToString()));
    }
    for (int64_t d = 0; d < loops; ++d) followed.trips.push_back(seen.dimension(d));
    run.watched_.insert(&instruction);
    run.followed_.emplace(std::pair(&instruction, capture.leaf), std::move(followed));
  }
  if (captures.visits_all) {
    for (const Computation* unit : Units(module))
      for (const Instruction* instruction : *unit) run.watched_.insert(instruction);
  }
  return run;
}

bool CapturedRun::Watches(const Instruction& instruction) const {
  return watched_.contains(&instruction);
}

std::optional<Literal> CapturedRun::Seen(const Followed& followed) const {
  if (aside_ != 0 || followed.trips.size() != trips_.size()) return std::nullopt;
  int64_t number = 0;
  for (size_t k = 0; k < trips_.size(); ++k) {
    if (trips_[k] >= followed.trips[k]) return std::nullopt;
    number = number * followed.trips[k] + trips_[k];
  }
  Literal seen(followed.shape);
  const size_t size = seen.bytes().size();
  if (seen.element_count() == 0) return seen;
  std::memcpy(seen.bytes().data(),
              followed.capture->values.bytes().data() + static_cast<size_t>(number) * size, size);
  return seen;
}

int64_t CapturedRun::BranchTaken(const Instruction& conditional) const {
  auto found = followed_.find(std::pair(&conditional, int64_t{Capture::kBranchTaken}));
  if (found == followed_.end()) return -1;
  const std::optional<Literal> seen = Seen(found->second);
  return seen.has_value() ? seen->GetInteger(0) : -1;
}

// Clause by clause (spec/numerics/profile.h), what the reader of a captured value may have read:
// - excess precision: of a type narrower than f32, any number that rounds to it;
// - contraction: of what may be a product (element-wise ops and what they moved; sums of two or
//   more terms are none), any number that rounds to it, where it is added;
// - flushing: zero for a subnormal number, which readers allow for themselves;
// - reassociation, constant chains, quotients, exponentials: what they join across the cut is read
//   off the program's text where the reader is evaluated, which does not change.
Array CapturedRun::AsRead(const Instruction& instruction, const Array& computed, Literal seen,
                          absl::Span<const int64_t> open) const {
  Array array(std::move(seen));
  if (draw_ != nullptr) return array;
  Widen(instruction, computed, array);
  for (int64_t element : open) CopyElements(computed, element, array, element, 1);
  return array;
}

// Lets readers have more of the array's elements than what was seen.
void CapturedRun::Widen(const Instruction& instruction, const Array& computed, Array& array) const {
  const ElementType type = array.literal.element_type();
  if (!IsFloat(type)) return;
  const FloatFormat& format = Format(type);
  array.facts().significand = std::min(computed.facts().significand, format.precision());
  const bool is_narrow = format.precision() < Format(ElementType::kF32).precision();
  uint32_t view = 0;
  if (captures_->as_seen) {
    view = 0;
  } else if (is_narrow) {
    view = excess_ ? uint32_t{kAnyView} : 0;
  } else if (contract_ && IsElementwiseOrMove(instruction)) {
    view = kSumView;
  }
  if (view == 0) return;
  MakeBounds(array);
  for (int64_t i = 0; i < array.literal.element_count(); ++i) {
    const double value = array.literal.GetDouble(i);
    if (std::isnan(value)) continue;
    ElementBound& bound = array.facts().bounds[i];
    const double radius = LargestRounding(format, value);
    if (!std::isfinite(radius)) {
      // A value beyond the largest number may have been kept in the wider type.
      if (is_narrow) bound = {0, 0, 0, kForced | kUndecided | view};
      continue;
    }
    const bool may_be_flushed =
        flush_ && type != ElementType::kF16 && std::fabs(value) < format.MinNormal();
    bound = {value, 0, may_be_flushed ? format.MinNormal() : radius, kForced | view};
  }
}

std::vector<int64_t> CapturedRun::OpenOf(const Capture& capture, const ArrayExpectation& expected,
                                         const Literal& seen) const {
  if (!captures_->keeps_open || capture.is_right || !IsFloat(seen.element_type())) return {};
  return UndecidedElements(expected, seen);
}

std::optional<CapturedRun::Sample> CapturedRun::SampleOf(const Instruction& instruction,
                                                         int64_t products) const {
  auto found = followed_.find(std::pair(&instruction, int64_t{0}));
  if (found == followed_.end() || !found->second.capture->is_followed) return std::nullopt;
  const Opcode opcode = instruction.opcode();
  const bool is_contraction = opcode == Opcode::kDot || opcode == Opcode::kConvolution;
  if (draw_ == nullptr && (captures_->sample == 0 || !is_contraction)) return std::nullopt;
  // The arrays inside a unit are shown before its result; of a tuple all arrays are shown.
  const bool is_unit = opcode == Opcode::kWhile || opcode == Opcode::kCall ||
                       opcode == Opcode::kConditional || opcode == Opcode::kFusion;
  if (is_unit || !instruction.shape().IsArray()) return std::nullopt;
  std::optional<Literal> seen = Seen(found->second);
  if (!seen.has_value()) return std::nullopt;
  if (draw_ != nullptr) {
    if (draw_->looked_at == nullptr || shown_ >= draw_->looked_at->size()) return std::nullopt;
    const std::vector<int64_t>& elements = (*draw_->looked_at)[shown_];
    if (!elements.empty() && !is_contraction) return std::nullopt;
    return Sample{*std::move(seen), elements};
  }
  if (products <= captures_->cheap_products || seen->element_count() <= captures_->sample)
    return std::nullopt;
  std::vector<int64_t> elements =
      ChooseSample(*seen, captures_->sample, captures_->sample_seed + shown_);
  return Sample{*std::move(seen), std::move(elements)};
}

void CapturedRun::Show(const CaptureVisit& visit) {
  if (visit.seen != nullptr) ++shown_;
  if (captures_->visit) captures_->visit(visit);
}

absl::StatusOr<Value> CapturedRun::EvaluateSample(Interpreter& interpreter, const Plan::Step& step,
                                                  const OpContext& op, Sample sample) {
  const Shape list = Shape::Array(op.type(), {static_cast<int64_t>(sample.elements.size())});
  Value value = MakeValue(Array{Literal(list)}, interpreter.memory());
  if (!sample.elements.empty()) {
    Analysis analysis = op.analysis;
    analysis.sample = &sample.elements;
    const OpContext part{op.instruction, list, op.operands, op.clauses, analysis, op.licensed};
    ASSAY_ASSIGN_OR_RETURN(value, interpreter.Apply(step.evaluation, part));
  }
  ASSAY_RETURN_IF_ERROR(PassSample(op.instruction, std::move(sample), value, interpreter.memory()));
  return value;
}

absl::StatusOr<Value> CapturedRun::Evaluate(Interpreter& interpreter, const Plan::Step& step,
                                            const OpContext& op) {
  if (step.HasShapeOfInstruction()) {
    const auto cost = step.evaluation.general->cost;
    std::optional<Sample> sample = SampleOf(op.instruction, cost != nullptr ? cost(op) : 0);
    if (sample.has_value()) return EvaluateSample(interpreter, step, op, *std::move(sample));
  }
  ASSAY_ASSIGN_OR_RETURN(Value value, interpreter.Evaluate(step, op));
  // The states of loops are captured trip by trip.
  if (op.instruction.opcode() != Opcode::kWhile)
    ASSAY_RETURN_IF_ERROR(Pass(op.instruction, value, interpreter.memory(), op.operands));
  return value;
}

absl::Status CapturedRun::PassSample(const Instruction& instruction, Sample sample, Value& value,
                                     MemoryMeter& memory) {
  Array computed = *value.array;
  const Literal seen = ElementsOf(sample.seen, sample.elements);
  const ArrayExpectation expected = Export(computed);
  Show({instruction, 0, expected, &seen, &sample.elements});
  ASSAY_RETURN_IF_ERROR(memory.Check(sample.seen.shape().ByteSize()));
  Array read = AsRead(instruction, *value.array, std::move(sample.seen));
  const auto& followed = followed_.at(std::pair(&instruction, int64_t{0}));
  for (int64_t at : OpenOf(*followed.capture, expected, seen))
    CopyElements(*value.array, at, read, sample.elements[at], 1);
  value = MakeValue(std::move(read), memory);
  return absl::OkStatus();
}

void CapturedRun::SettleSums(const UsualSums& sums, const Literal& seen, ArrayExpectation& expected,
                             std::vector<int64_t>& open) {
  std::erase_if(open, [&](int64_t element) {
    if (!sums.Give(element, seen.GetDouble(element))) return false;
    SettleElement(seen, element, expected);
    return true;
  });
}

void CapturedRun::AddSeen(const Instruction& instruction, const Value& value, int64_t& number,
                          std::vector<SeenArray>& arrays) const {
  for (const Value& element : value.elements) AddSeen(instruction, element, number, arrays);
  if (value.IsTuple()) return;
  const int64_t leaf = number++;
  if (value.array->facts().origins.empty()) return;
  auto found = followed_.find(std::pair(&instruction, leaf));
  if (found == followed_.end()) return;
  std::optional<Literal> seen = Seen(found->second);
  if (seen.has_value()) arrays.push_back({leaf, value.array.get(), *std::move(seen)});
}

absl::Status CapturedRun::PassLeaf(const Leaf& leaf, Value& value, MemoryMeter& memory) {
  auto found = followed_.find(std::pair(&leaf.instruction, leaf.number));
  std::optional<Literal> seen;
  if (found != followed_.end()) seen = Seen(found->second);
  if (!seen.has_value() && !captures_->visits_all) return absl::OkStatus();
  const bool is_followed = seen.has_value() && found->second.capture->is_followed;
  std::vector<int64_t> open;
  if (captures_->visit) {
    Array copy = *value.array;
    ArrayExpectation expected = Export(copy);
    if (auto settled = leaf.settled.find(leaf.number); settled != leaf.settled.end()) {
      for (int64_t element : UndecidedElements(expected, *seen)) {
        if (settled->second[element] == Settled::kRight) SettleElement(*seen, element, expected);
        if (settled->second[element] == Settled::kWrong) RefuteElement(element, expected);
      }
    }
    if (is_followed) open = OpenOf(*found->second.capture, expected, *seen);
    if (!open.empty() && rounds_sums_) {
      const std::optional<UsualSums> sums = UsualSums::Of(leaf.instruction, leaf.operands);
      if (sums.has_value()) SettleSums(*sums, *seen, expected, open);
    }
    Show({leaf.instruction, leaf.number, expected, seen.has_value() ? &*seen : nullptr});
  }
  if (!is_followed) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(memory.Check(seen->shape().ByteSize()));
  value.array =
      MakeValue(AsRead(leaf.instruction, *value.array, *std::move(seen), open), memory).array;
  return absl::OkStatus();
}

absl::Status CapturedRun::PassLeaves(Leaf& leaf, Value& value, MemoryMeter& memory) {
  if (!value.IsTuple()) {
    ASSAY_RETURN_IF_ERROR(PassLeaf(leaf, value, memory));
    ++leaf.number;
    return absl::OkStatus();
  }
  for (Value& element : value.elements) {
    if (absl::Status status = PassLeaves(leaf, element, memory); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CapturedRun::Pass(const Instruction& instruction, Value& value, MemoryMeter& memory,
                               absl::Span<const Value* const> operands) {
  if (aside_ != 0 || !Watches(instruction) || value.pending != nullptr) return absl::OkStatus();
  Leaf leaf{instruction, 0, operands};
  if (captures_->visit && draw_ == nullptr) {
    int64_t number = 0;
    std::vector<SeenArray> arrays;
    AddSeen(instruction, value, number, arrays);
    leaf.settled = SettledByProperty(arrays);
  }
  return PassLeaves(leaf, value, memory);
}

}  // namespace assay::reference
