// Plans frame by frame, callees first.
#include "optimized/plan/program_plan.h"

#include <algorithm>

#include "optimized/analysis/tasks/work_estimate.h"
#include "optimized/plan/run_frequency.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// From so many kernels on, a frame outside of loops gives each a table of its own. Loops have no
// time for that.
constexpr int64_t kSharesKernels = 24;

// From so many operations on, the formulas of functions of f64 are worth their translation outside
// of loops: below, calls of the runtime take a few microseconds.
constexpr int64_t kWorthFormulas = 1024;

StepPlan::Kind KindOf(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kWhile:
      return StepPlan::Kind::kLoop;
    case Opcode::kConditional:
      return StepPlan::Kind::kBranch;
    case Opcode::kCall:
      return OutlinedKernel(instruction) == nullptr ? StepPlan::Kind::kCall
                                                    : StepPlan::Kind::kKernel;
    default:
      return StepPlan::Kind::kKernel;
  }
}

std::vector<BufferSlice> SlicesOf(const BufferAssignment& buffers,
                                  const std::vector<BufferAssignment::BufferId>& ids) {
  std::vector<BufferSlice> slices;
  for (BufferAssignment::BufferId id : ids) {
    slices.push_back(id < 0 ? BufferSlice() : buffers.SliceOf(id));
  }
  return slices;
}

int64_t TableEntries(const BufferAssignment::Frame& frame) {
  int64_t kernels = 0, entries = 0;
  for (const BufferAssignment::Step& step : frame.steps) {
    if (step.alias) continue;
    int64_t leaves = LeafCount(step.instruction->shape());
    for (const Instruction* operand : step.instruction->operands()) {
      leaves += LeafCount(operand->shape());
    }
    entries = std::max(entries, BufferTable::kFirstParameter + leaves);
    ++kernels;
  }
  return kernels < kSharesKernels ? 0 : entries;
}

class ProgramPlanner {
 public:
  ProgramPlanner(const BufferAssignment& buffers, const Target& target, Gates& gates)
      : buffers_(buffers),
        target_(target),
        gates_(gates),
        frequency_(EstimateRunFrequency(buffers, target)) {}

  absl::StatusOr<ProgramPlan> Plan() {
    ProgramPlan plan;
    for (const auto& frame : buffers_.frames()) {
      FramePlan& planned = plan.frames.emplace_back();
      planned.frame = frame.get();
      planned.in_loop = frequency_.in_loops.contains(frame.get());
      if (!planned.in_loop) planned.table_entries = TableEntries(*frame);
      for (const BufferAssignment::Step& step : frame->steps) {
        if (step.alias) continue;
        ASSAY_ASSIGN_OR_RETURN(StepPlan next, PlanStep(planned, step));
        planned.steps.push_back(std::move(next));
      }
    }
    return plan;
  }

 private:
  absl::StatusOr<StepPlan> PlanStep(const FramePlan& frame, const BufferAssignment::Step& step) {
    StepPlan plan;
    plan.instruction = step.instruction;
    plan.kind = KindOf(*step.instruction);
    if (plan.kind != StepPlan::Kind::kKernel) return plan;
    const auto slices = [&](const Instruction* of) {
      return SlicesOf(buffers_, frame.frame->buffers.at(of));
    };
    for (const Instruction* operand : step.instruction->operands()) {
      plan.buffers.operands.push_back(slices(operand));
    }
    plan.buffers.results = slices(step.instruction);
    plan.buffers.update_in_place = step.update_in_place;
    plan.is_cold = !frame.in_loop && frequency_.cold.contains(step.instruction);
    ASSAY_ASSIGN_OR_RETURN(plan.kernel,
                           PlanKernel(*step.instruction, target_, gates_, plan.buffers));
    plan.kernel.is_rare =
        !frame.in_loop && (plan.is_cold || EstimateKernelWork(*step.instruction) < kWorthFormulas);
    return plan;
  }

  const BufferAssignment& buffers_;
  const Target& target_;
  Gates& gates_;
  const RunFrequency frequency_;
};

class Describer {
 public:
  explicit Describer(const BufferAssignment& buffers) : buffers_(buffers) {}

  StepText Of(const FramePlan& frame, const StepPlan& step) const {
    StepText text;
    text.frame = frame.frame->computation->name();
    text.step = step.instruction->name();
    text.op = std::string(Name(step.instruction->opcode()));
    if (step.kind == StepPlan::Kind::kKernel) {
      text.plan = ToString(step.kernel);
    } else {
      for (const Computation* callee : step.instruction->callees()) {
        StrAppend(&text.plan, text.plan.empty() ? "runs " : ", ", callee->name());
      }
    }
    for (const Instruction* operand : step.instruction->operands()) {
      Append(frame.frame->buffers.at(operand), text.reads);
    }
    Append(frame.frame->buffers.at(step.instruction), text.writes);
    return text;
  }

 private:
  void Append(const std::vector<BufferAssignment::BufferId>& ids, std::string& text) const {
    for (BufferAssignment::BufferId id : ids) {
      if (id >= 0) StrAppend(&text, text.empty() ? "" : ", ", NameOf(buffers_.SliceOf(id)));
    }
  }

  std::string NameOf(BufferSlice slice) const {
    const auto at = [&](std::string_view where) { return StrCat(where, " + ", slice.offset); };
    if (slice.table_index == BufferTable::kArena) return at("arena");
    if (slice.table_index == BufferTable::kConstants) return at("constants");
    if (slice.table_index >= buffers_.first_result()) {
      return StrCat("result ", slice.table_index - buffers_.first_result());
    }
    return StrCat("parameter ", slice.table_index - BufferTable::kFirstParameter);
  }

  const BufferAssignment& buffers_;
};

}  // namespace

absl::StatusOr<ProgramPlan> PlanProgram(const BufferAssignment& buffers, const Target& target,
                                        Gates& gates) {
  return ProgramPlanner(buffers, target, gates).Plan();
}

std::vector<StepText> Describe(const ProgramPlan& plan, const BufferAssignment& buffers) {
  const Describer describer(buffers);
  std::vector<StepText> lines;
  for (const FramePlan& frame : plan.frames) {
    for (const StepPlan& step : frame.steps) lines.push_back(describer.Of(frame, step));
  }
  return lines;
}

}  // namespace assay
