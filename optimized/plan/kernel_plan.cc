// Chooses form, nests, walks and split from shapes, types and the target.
#include "optimized/plan/kernel_plan.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/contraction_views.h"
#include "optimized/analysis/walks/reductions.h"
#include "optimized/analysis/walks/walks.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Form = KernelPlan::Form;
using Outputs = absl::Span<const NestOutput>;

class KernelPlanner {
 public:
  KernelPlanner(const Instruction& instruction, const Target& target, Gates& gates,
                const KernelBuffers& buffers)
      : target_(target),
        gates_(gates),
        root_(KernelOf(instruction)),
        buffers_(buffers),
        tasks_(NotedTasks(instruction)) {
    plan_.instruction = &root_;
  }

  absl::StatusOr<KernelPlan> Plan();

 private:
  Permission Ask(std::string_view rule) {
    return gates_.Allow(DecisionKind::kKernel, rule, &root_);
  }
  // Asks for a decision about nests, whose bends hold for them.
  bool AskForNests(std::string_view rule) {
    const Permission permission = Ask(rule);
    if (permission.bends() != nullptr) nest_bends_ = permission.bends();
    return permission;
  }

  void PlanNative();
  void FindSources();
  absl::Status FindOutputs();
  absl::Status AddOutputs(const Instruction& instruction, int& leaf);
  Form ChooseForm();
  // True if one nest makes all outputs.
  bool ChooseOneNest();
  bool ReusesAnOperand() const;
  TaskSpan SpanOf(bool one_nest);
  void SplitAmongThreads(bool one_nest);
  void AddEpilogue();
  void AddUpdate();
  void AddConcatenated();
  void AddNest(std::vector<NestOutput> outputs);
  WalkPlan ChooseWalk(Outputs outputs);
  WalkPlan InTiles(WalkPlan walk, Outputs outputs);
  bool WalksLinearly(Outputs outputs);
  bool WalksInLanes(Outputs outputs, int lane_dim);
  bool AllowVectors();
  int ElementsPerVectorOf(int bits) const { return ElementsPerVector(root_, bits); }

  // The kernel that an outlined kernel's call stands for.
  static const Instruction& KernelOf(const Instruction& instruction) {
    const Instruction* outlined = OutlinedKernel(instruction);
    return outlined == nullptr ? instruction : *outlined;
  }

  const Target& target_;
  Gates& gates_;
  const Instruction& root_;
  const KernelBuffers& buffers_;
  const int64_t tasks_;
  KernelPlan plan_;
  Walks walks_;
  const CallFrame* frame_ = nullptr;  // of what the nests compute
  std::vector<Shape> results_;        // by leaf
  std::vector<NestOutput> outputs_;
  std::optional<ContractionCode> contraction_;
  std::optional<bool> vectors_allowed_;
  const KernelBends* nest_bends_ = nullptr;
};

void KernelPlanner::PlanNative() {
  const OpSupport& support = target_.SupportOf(root_.opcode());
  plan_.form = Form::kNative;
  if (support.has_better != nullptr && support.has_better(root_, target_)) {
    const Permission permission = Ask(support.better_rule);
    plan_.takes_better = permission;
    plan_.form_bends = permission.bends();
  }
  if (support.library_call != nullptr) {
    plan_.library_call = support.library_call(root_, plan_.takes_better);
  }
  plan_.split.extent = 1;
}

void KernelPlanner::FindSources() {
  for (const Instruction* operand : root_.operands()) walks_.AddSource({nullptr, operand});
  ForEachLeaf(root_.shape(),
              [&](const Shape& leaf, absl::Span<const int64_t>) { results_.push_back(leaf); });
  if (root_.opcode() == Opcode::kFusion) frame_ = walks_.CalleeFrame({nullptr, &root_});
}

absl::Status KernelPlanner::FindOutputs() {
  int leaf = 0;
  return AddOutputs(plan_.top(), leaf);
}

absl::Status KernelPlanner::AddOutputs(const Instruction& instruction, int& leaf) {
  if (instruction.opcode() == Opcode::kTuple) {
    for (const Instruction* operand : instruction.operands()) {
      ASSAY_RETURN_IF_ERROR(AddOutputs(*operand, leaf));
    }
    return absl::OkStatus();
  }
  NestOutput output{&instruction, {}, {}};
  for (int64_t k = 0; k < LeafCount(instruction.shape()); ++k) output.leaves.push_back(leaf++);
  for (int k : output.leaves) {
    if (!SameDimensions(results_[k], results_[output.leaves[0]])) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat(target_.name, ": results of different sizes in one kernel: ",
                              instruction.ToString()));
    }
  }
  if (!output.leaves.empty()) outputs_.push_back(std::move(output));
  return absl::OkStatus();
}

Form KernelPlanner::ChooseForm() {
  contraction_ = target_.contraction(root_, target_);
  if (contraction_.has_value()) {
    if (const Permission permission = Ask("blocked-dot")) {
      plan_.form_bends = permission.bends();
      plan_.library_call = std::string(contraction_->library_call);
      return Form::kContraction;
    }
  }
  if (RecogniseCumulative(root_).has_value()) {
    if (const Permission permission = Ask("cumulative-window")) {
      plan_.form_bends = permission.bends();
      return Form::kCumulative;
    }
  }
  if (buffers_.update_in_place) return Form::kUpdateInPlace;
  return plan_.top().opcode() == Opcode::kConcatenate ? Form::kConcatenate : Form::kNests;
}

// Several results of the same dimensions are made element by element together.
bool KernelPlanner::ChooseOneNest() {
  if (outputs_.size() < 2) return outputs_.size() == 1;
  const Shape& first = WrittenShape(*outputs_[0].instruction);
  for (const NestOutput& output : outputs_) {
    if (!SameDimensions(WrittenShape(*output.instruction), first)) return false;
  }
  // A result that lies in an operand's memory leaves no other way than one nest.
  return ReusesAnOperand() || AskForNests("store-together");
}

bool KernelPlanner::ReusesAnOperand() const {
  for (const BufferSlice& result : buffers_.results) {
    for (const std::vector<BufferSlice>& operand : buffers_.operands) {
      if (absl::c_linear_search(operand, result)) return true;
    }
  }
  return false;
}

// Finds what threads can share of the kernel. An extent of 0 says nothing.
TaskSpan KernelPlanner::SpanOf(bool one_nest) {
  if (plan_.form == Form::kCumulative) {
    return SpanOfCumulative(root_, *RecogniseCumulative(root_), target_);
  }
  if (plan_.form == Form::kContraction) return SpanOfContraction(root_, *contraction_);
  if (plan_.form != Form::kNests || !one_nest) return {};
  const Shape& result = results_[outputs_[0].leaves[0]];
  if (!result.IsArray()) return {};
  TaskSpan span =
      SpanOfNest(root_, *outputs_[0].instruction, result, WalksLinearly(outputs_), target_);
  span.unit = gates_.Number("split-kernel/unit", &root_, span.unit);
  return span;
}

void KernelPlanner::SplitAmongThreads(bool one_nest) {
  // The module says how many tasks (pass parallel-task-assigner).
  const int64_t tasks = target_.Workers(kThreads) < 2 ? 0 : tasks_;
  plan_.split = PlanSplit(SpanOf(one_nest), tasks);
  if (!plan_.split.is_worthwhile) return;
  const Permission permission = gates_.Allow(DecisionKind::kTask, "split-kernel", &root_);
  plan_.is_parallel = permission;
  if (permission.bends() != nullptr) {
    plan_.split.extent += permission.bends()->loop_bound_offset.value_or(0);
  }
}

bool KernelPlanner::AllowVectors() {
  // One decision per kernel, however many results it has.
  if (!vectors_allowed_.has_value()) vectors_allowed_ = AskForNests("vectorize");
  return *vectors_allowed_;
}

bool KernelPlanner::WalksLinearly(Outputs outputs) {
  return absl::c_all_of(outputs, [&](const NestOutput& output) {
    return output.starts.empty() && output.instruction->shape().IsArray() &&
           walks_.CanWalkLinearly({frame_, output.instruction});
  });
}

bool KernelPlanner::WalksInLanes(Outputs outputs, int lane_dim) {
  return absl::c_all_of(outputs, [&](const NestOutput& output) {
    return walks_.CanWalkLanes({frame_, output.instruction}, lane_dim);
  });
}

WalkPlan KernelPlanner::ChooseWalk(Outputs outputs) {
  const Instruction& first = *outputs[0].instruction;
  WalkChoice choice{WrittenShape(first), results_[outputs[0].leaves[0]]};
  choice.linear = WalksLinearly(outputs);
  choice.width = ElementsPerVectorOf(target_.vector_bits);
  if (ReducesColumns(first, choice.width)) choice.width *= kColumnVectors;
  choice.can_walk_lanes = [&](int lane_dim) { return WalksInLanes(outputs, lane_dim); };
  const WalkPlan walk = PlanWalk(choice);
  const bool is_whole = outputs[0].starts.empty() && plan_.form != Form::kContraction;
  if (walk.kind == WalkPlan::kScalar && is_whole) return InTiles(walk, outputs);
  return walk.width > 1 && !AllowVectors() ? WithoutVectors(walk) : walk;
}

// A transpose goes through squares whose sides are a cache line.
WalkPlan KernelPlanner::InTiles(WalkPlan walk, Outputs outputs) {
  const int64_t dim = TransposedDim(root_);
  if (dim < 0 || !AskForNests("tile-transpose")) return walk;
  walk.kind = WalkPlan::kTiles;
  walk.lane_dim = static_cast<int>(dim);
  walk.tile = TileSide(results_[0], target_);
  const Shape& shape = WrittenShape(*outputs[0].instruction);
  int64_t innermost = shape.rank() - 1;
  while (shape.dimension(innermost) == 1) --innermost;
  const int64_t rows = shape.dimension(dim), columns = shape.dimension(innermost);
  const int side = TurnedSquare(ElementsPerVectorOf(target_.register_bits), rows, columns);
  if (side > 1 && WalksInLanes(outputs, walk.lane_dim) && AllowVectors()) {
    walk.width = side;
    walk.squares_fit = rows % side == 0 && columns % side == 0;
    if (nest_bends_ != nullptr) {
      walk.squares_fit = nest_bends_->Holds("vectorize/squares-fit", &root_, walk.squares_fit);
    }
    const int64_t cut = OutermostDim(shape);
    walk.parts_fit = walk.squares_fit && cut != dim && cut != innermost;
  }
  return walk;
}

// A nest over nothing has no walk.
void KernelPlanner::AddNest(std::vector<NestOutput> outputs) {
  NestPlan nest{std::move(outputs), WalkPlan(), nullptr};
  if (WrittenShape(*nest.outputs[0].instruction).ElementCount() > 0) {
    nest.walk = ChooseWalk(nest.outputs);
    nest.bends = nest_bends_;
  }
  plan_.nests.push_back(std::move(nest));
}

void KernelPlanner::AddEpilogue() {
  const Instruction* sums = SumsBeforeEpilogue(root_);
  if (sums == nullptr) return;
  walks_.AddSource({frame_, sums});
  AddNest(outputs_);
}

void KernelPlanner::AddUpdate() {
  const Instruction& top = plan_.top();
  AddNest({{top.operand(1),
            {0},
            std::vector<int64_t>(top.shape().rank(), NestOutput::kClampedOperand)}});
}

void KernelPlanner::AddConcatenated() {
  const Instruction& top = plan_.top();
  const int64_t along = top.attributes().Integers(Attr::kDimension)[0];
  int64_t offset = 0;
  for (const Instruction* operand : top.operands()) {
    NestOutput output{operand, {0}, std::vector<int64_t>(top.shape().rank(), 0)};
    output.starts[along] = offset;
    AddNest({std::move(output)});
    offset += operand->shape().dimension(along);
  }
}

absl::StatusOr<KernelPlan> KernelPlanner::Plan() {
  const Permission permission = Ask("optimize-kernel");
  plan_.is_optimized = permission;
  plan_.granted_bends = nest_bends_ = permission.bends();
  if (target_.IsNative(root_.opcode())) {
    PlanNative();
    return std::move(plan_);
  }
  FindSources();
  ASSAY_RETURN_IF_ERROR(FindOutputs());
  plan_.form = ChooseForm();
  const bool one_nest = plan_.form == Form::kNests && ChooseOneNest();
  SplitAmongThreads(one_nest);
  if (plan_.form == Form::kContraction) AddEpilogue();
  if (plan_.form == Form::kUpdateInPlace) AddUpdate();
  if (plan_.form == Form::kConcatenate) AddConcatenated();
  if (plan_.form == Form::kNests && one_nest) AddNest(outputs_);
  if (plan_.form == Form::kNests && !one_nest) {
    for (const NestOutput& output : outputs_) AddNest({output});
  }
  return std::move(plan_);
}

std::string ToString(const NestPlan& nest) {
  std::string text = ToString(nest.walk);
  if (nest.outputs.size() > 1) StrAppend(&text, " of ", nest.outputs.size(), " results");
  std::string starts;
  for (int64_t start : nest.outputs[0].starts) {
    StrAppend(&starts, starts.empty() ? "" : ",",
              start == NestOutput::kClampedOperand ? "?" : StrCat(start));
  }
  if (!starts.empty()) StrAppend(&text, " at [", starts, "]");
  return text;
}

}  // namespace

const Instruction& KernelPlan::top() const {
  return instruction->opcode() == Opcode::kFusion ? *instruction->callee()->root() : *instruction;
}

std::string_view Name(KernelPlan::Form form) {
  constexpr std::string_view kNames[] = {"native",          "contraction", "cumulative",
                                         "update-in-place", "concatenate", "nests"};
  return kNames[static_cast<int>(form)];
}

const Shape& WrittenShape(const Instruction& output) { return FirstLeaf(output.shape()); }

absl::StatusOr<KernelPlan> PlanKernel(const Instruction& instruction, const Target& target,
                                      Gates& gates, const KernelBuffers& buffers) {
  return KernelPlanner(instruction, target, gates, buffers).Plan();
}

std::string ToString(const WalkPlan& walk) {
  const std::string by = walk.width > 1 ? StrCat(" by ", walk.width) : "";
  switch (walk.kind) {
    case WalkPlan::kScalar:
      return "one by one";
    case WalkPlan::kLinear:
      return StrCat("linear", by);
    case WalkPlan::kLanes:
      return StrCat("lanes of dimension ", walk.lane_dim, by);
    case WalkPlan::kTiles:
      return StrCat("tiles of ", walk.tile, " along dimension ", walk.lane_dim,
                    walk.width > 1 ? StrCat(", turned", by) : "");
  }
  return "";
}

std::string ToString(const KernelPlan& plan) {
  std::string text(Name(plan.form));
  if (!plan.library_call.empty()) StrAppend(&text, ": ", plan.library_call);
  for (size_t k = 0; k < plan.nests.size(); ++k) {
    StrAppend(&text, k == 0 ? ": " : "; ", ToString(plan.nests[k]));
  }
  if (plan.is_parallel) {
    StrAppend(&text, "; ", plan.split.extent, " in parts of ", plan.split.grain);
  }
  return text;
}

}  // namespace assay
