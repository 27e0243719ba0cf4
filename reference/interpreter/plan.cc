// Makes plans: order, kinds, licensed forms, last uses, and what additions may read unrounded.
#include "reference/interpreter/plan.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "reference/interpreter/blockwise.h"
#include "reference/interpreter/dynamic_shapes.h"
#include "reference/interpreter/folding/constant_folder.h"
#include "reference/interpreter/sums/scattered_sum.h"
#include "reference/licenses/dependence.h"
#include "reference/licenses/find_forms.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// The fate of an operand that an addition could read before it is rounded (kSumView).
enum class ViewOfOperand : uint8_t {
  kMayBeRead,  // the op is an addition, or may hold one
  kPassedOn,   // the result may be read before it is rounded in its turn
  kIgnored,    // the op reads it rounded
};

using Views = std::array<ViewOfOperand, kOpcodeCount>;

Views MakeViews() {
  Views views{};
  for (const OpInfo& info : AllOps())
    if (info.Is(kDataMovement)) views[static_cast<int>(info.opcode)] = ViewOfOperand::kPassedOn;
  for (Opcode opcode :
       {Opcode::kAbs, Opcode::kClamp, Opcode::kDivide, Opcode::kMaximum, Opcode::kMinimum,
        Opcode::kMultiply, Opcode::kNegate, Opcode::kSelect, Opcode::kTuple})
    views[static_cast<int>(opcode)] = ViewOfOperand::kPassedOn;
  for (Opcode opcode : {Opcode::kAtan2,
                        Opcode::kCbrt,
                        Opcode::kCeil,
                        Opcode::kCompare,
                        Opcode::kCosine,
                        Opcode::kErf,
                        Opcode::kExponential,
                        Opcode::kExponentialMinusOne,
                        Opcode::kFloor,
                        Opcode::kIsFinite,
                        Opcode::kLog,
                        Opcode::kLogPlusOne,
                        Opcode::kLogistic,
                        Opcode::kPower,
                        Opcode::kRemainder,
                        Opcode::kRoundNearestAfz,
                        Opcode::kRoundNearestEven,
                        Opcode::kRsqrt,
                        Opcode::kSign,
                        Opcode::kSine,
                        Opcode::kSqrt,
                        Opcode::kTan,
                        Opcode::kTanh})
    views[static_cast<int>(opcode)] = ViewOfOperand::kIgnored;
  return views;
}

ViewOfOperand ViewBy(const Instruction& user) {
  static const Views views = MakeViews();
  return views[static_cast<int>(user.opcode())];
}

// True if operands and control predecessors come before their users.
bool IsExecutable(absl::Span<Instruction* const> order) {
  absl::flat_hash_map<const Instruction*, bool> seen;
  for (const Instruction* instruction : order) {
    for (const Instruction* operand : instruction->operands())
      if (!seen.contains(operand)) return false;
    for (const Instruction* predecessor : instruction->control_predecessors())
      if (!seen.contains(predecessor)) return false;
    seen[instruction] = true;
  }
  return true;
}

bool IsOneElement(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::all_of(shape.elements().begin(), shape.elements().end(), IsOneElement);
  }
  return shape.IsArray() && shape.ElementCount() == 1;
}

// Notes with each step which values it is the last to use.
void SetDeadValues(Plan& plan) {
  std::vector<int> last_user(plan.steps.size(), -1);
  for (size_t number = 0; number < plan.steps.size(); ++number)
    for (int at : plan.steps[number].operands) last_user[at] = static_cast<int>(number);
  for (size_t at = 0; at < last_user.size(); ++at) {
    if (last_user[at] >= 0 && at != plan.root)
      plan.steps[last_user[at]].dead_after.push_back(static_cast<int>(at));
  }
}

// Notes which results an addition may read before they are rounded. The uses of a result in other
// computations are not looked at; the results of the program itself are rounded.
void SetViewsOfSums(Plan& plan, bool is_entry) {
  for (size_t number = 0; number < plan.steps.size(); ++number)
    plan.steps[number].may_feed_sum = number == plan.root && !is_entry;
  for (size_t number = plan.steps.size(); number-- > 0;) {
    const Plan::Step& user = plan.steps[number];
    const ViewOfOperand view = ViewBy(*user.instruction);
    if (view == ViewOfOperand::kIgnored) continue;
    if (view == ViewOfOperand::kPassedOn && !user.may_feed_sum) continue;
    for (int at : user.operands) plan.steps[at].may_feed_sum = true;
  }
  for (Plan::Step& step : plan.steps) {
    const Opcode opcode = step.instruction->opcode();
    const bool is_product = opcode == Opcode::kMultiply || opcode == Opcode::kDivide;
    step.is_rounded_product =
        is_product && !step.may_feed_sum && IsFloat(step.instruction->shape().element_type());
  }
}

}  // namespace

Plans::Plans(bool bounding) : bounding_(bounding) {}

Plans::~Plans() = default;

bool Plans::HasEffect(const Instruction& instruction) const {
  if (Info(instruction.opcode()).Is(kSideEffect) ||
      instruction.attributes().Flag(Attr::kCustomCallHasSideEffect)) {
    return true;
  }
  return std::any_of(instruction.callees().begin(), instruction.callees().end(),
                     [&](const Computation* callee) {
                       const auto it = effects_.find(callee);
                       return it != effects_.end() && it->second;
                     });
}

// Runs that bound nothing only ask what values are made by.
void Plans::MakeConstants() {
  Constants::Evaluate evaluate;
  if (bounding_) {
    if (folder_ == nullptr) folder_ = std::make_unique<ConstantFolder>();
    evaluate = [folder = folder_.get()](const Instruction& instruction, const Shape& shape,
                                        absl::Span<const Value* const> operands) {
      return folder->Evaluate(instruction, shape, operands);
    };
  }
  constants_ = std::make_unique<Constants>(inlining_callers_, std::move(evaluate));
}

bool Plans::HasEffects(const Computation& computation) {
  const Module& module = *computation.parent();
  if (module_ != &module) {
    module_ = &module;
    effects_.clear();
    inlining_callers_ = FindInliningCallers(module);
    MakeConstants();
    has_scatter_ = false;
    for (const Computation* each : module.ComputationPostOrder()) {
      for (const Instruction* instruction : *each)
        has_scatter_ = has_scatter_ || instruction->opcode() == Opcode::kScatter;
      effects_[each] = std::any_of(each->begin(), each->end(), [&](const Instruction* instruction) {
        return HasEffect(*instruction);
      });
    }
  }
  return effects_[&computation];
}

std::vector<const Instruction*> Plans::StepsOf(const Computation& computation) {
  std::vector<Instruction*> order = computation.PostOrder();
  absl::flat_hash_map<const Instruction*, bool> needed;
  needed[computation.root()] = true;
  if (HasEffects(computation)) {
    // Effects happen in the order that the text gives, if it is one that can be executed.
    std::vector<Instruction*> stored(computation.begin(), computation.end());
    if (IsExecutable(stored)) order = std::move(stored);
    for (const Instruction* instruction : order)
      if (HasEffect(*instruction)) needed[instruction] = true;
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!needed[*it]) continue;
    for (const Instruction* operand : (*it)->operands()) needed[operand] = true;
  }
  std::vector<const Instruction*> steps;
  for (const Instruction* instruction : order)
    if (needed[instruction]) steps.push_back(instruction);
  return steps;
}

StepKind Plans::KindOf(const Plan::Step& step) const {
  const Instruction& instruction = *step.instruction;
  if (instruction.opcode() == Opcode::kParameter) return StepKind::kParameter;
  if (instruction.opcode() == Opcode::kConstant) return StepKind::kConstant;
  if (TouchesDynamic(instruction))
    return ReadsWindows(instruction) ? StepKind::kWindows : StepKind::kRunTimeSize;
  const bool may_meet_sum = bounding_ && has_scatter_ && MayMeetScatteredSum(instruction);
  return may_meet_sum ? StepKind::kScatteredSum : StepKind::kPlain;
}

absl::StatusOr<Plan::Step> Plans::MakeStep(const Instruction& instruction,
                                           MemoryMeter& memory) const {
  Plan::Step step;
  step.instruction = &instruction;
  step.evaluation = EvaluationOf(instruction);
  if (step.evaluation.general == nullptr) {
    return MakeError(
        ErrorClass::kUnsupported,
        StrCat(instruction.name(), ": the oracle does not evaluate ", Name(instruction.opcode())));
  }
  step.kind = KindOf(step);
  step.in_blocks = step.HasShapeOfInstruction() && IsElementByElement(step) &&
                   !(keeps_whole_ && keeps_whole_(instruction));
  if (bounding_) step.licensed = LicensedFormsOf(instruction, *constants_);
  if (step.kind != StepKind::kConstant) return step;
  if (instruction.literal() == nullptr) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(instruction.name(),
                            ": the text leaves the value of this constant out ({...}); print "
                            "the module with large constants"));
  }
  step.constant = MakeGivenValue(*instruction.literal(), memory);
  return step;
}

bool PassesOneElementOn(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kSort:
      return instruction.operand_count() == 1 && instruction.operand(0)->shape().IsArray() &&
             IsOneElement(instruction.operand(0)->shape()) && IsOneElement(instruction.shape());
    default:
      return false;
  }
}

bool Plans::IsLiftable(const Instruction& instruction) {
  if (!IsOneElement(instruction.shape()) || TouchesDynamic(instruction)) return false;
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return true;
    case Opcode::kCall:
    case Opcode::kConditional:
      return absl::c_all_of(instruction.callees(),
                            [this](const Computation* callee) { return IsLiftable(*callee); });
    default:
      break;
  }
  const bool is_elementwise =
      Info(instruction.opcode()).Is(kElementwise) && FindEvaluation(instruction.opcode());
  return is_elementwise || PassesOneElementOn(instruction);
}

bool Plans::IsLiftable(const Computation& computation) {
  constexpr int kMostLevels = 64;
  if (!liftable_.try_emplace(&computation, false).second || lift_depth_ >= kMostLevels)
    return liftable_[&computation];
  ++lift_depth_;
  const bool is_liftable =
      absl::c_all_of(StepsOf(computation),
                     [this](const Instruction* instruction) { return IsLiftable(*instruction); });
  --lift_depth_;
  return liftable_[&computation] = is_liftable;
}

absl::StatusOr<const Plan*> Plans::PlanOf(const Computation& computation, MemoryMeter& memory) {
  std::unique_ptr<Plan>& slot = plans_[&computation];
  if (slot != nullptr) return slot.get();
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  plan->liftable = true;
  const bool is_entry = computation.parent()->entry() == &computation;
  absl::flat_hash_map<const Instruction*, int> place;
  Dependences dependences;
  for (const Instruction* instruction : StepsOf(computation)) {
    ASSAY_ASSIGN_OR_RETURN(Plan::Step step, MakeStep(*instruction, memory));
    dependences[instruction] = DependenceOf(*instruction, is_entry, dependences);
    if (instruction->opcode() == Opcode::kDivide) {
      step.licensed.divisor_is_invariant =
          dependences[instruction->operand(1)] == Dependence::kNone;
      step.licensed.divides_by_root = DividesByRoot(*instruction, *constants_);
    }
    for (const Instruction* operand : instruction->operands())
      step.operands.push_back(place[operand]);
    plan->liftable = plan->liftable && IsLiftable(*instruction);
    place[instruction] = static_cast<int>(plan->steps.size());
    if (instruction == computation.root()) plan->root = plan->steps.size();
    plan->steps.push_back(std::move(step));
  }
  constants_->Forget();
  SetDeadValues(*plan);
  SetViewsOfSums(*plan, is_entry);
  // `slot` still points into the map: nothing since has planned another computation.
  slot = std::move(plan);
  return slot.get();
}

}  // namespace assay::reference
