// A loop is one kernel where a block has done a trip before the host could launch the next kernel.
#include <algorithm>

#include "optimized/analysis/tasks/work_estimate.h"
#include "optimized/gpu/templates/template_plan.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kMostThreads = 256;
// The most that a trip may have: operations of one kernel and of all, copied bytes, kernels.
constexpr int64_t kMostWork = 16384, kMostWorkOfTrip = 32768;
constexpr int64_t kMostCopied = 32768;
constexpr int kMostKernels = 32;

class LoopMeasurer {
 public:
  LoopMeasurer(const ProgramPlan& plan, const TemplateChoices& choices)
      : plan_(plan), choices_(choices) {}

  // False if a frame does what a kernel cannot, or too much.
  bool Add(const FramePlan& caller, const Instruction* loop) {
    for (const BufferAssignment::Frame* callee : caller.frame->callees.at(loop)) {
      if (callee->shared || !AddFrame(callee)) return false;
    }
    return true;
  }

  TemplateChoice Choice() const {
    TemplateChoice choice{.kind = KernelTemplate::kLoop};
    choice.block_size = std::clamp((most_ + kWarp - 1) / kWarp * kWarp, kWarp, kMostThreads);
    choice.reason = StrCat("a trip is ", kernels_, " kernels of at most ", most_, " elements");
    return choice;
  }
  const std::vector<const FramePlan*>& frames() const { return frames_; }

 private:
  bool AddFrame(const BufferAssignment::Frame* frame) {
    size_t at = 0;
    while (plan_.frames[at].frame != frame) ++at;
    const FramePlan& planned = plan_.frames[at];
    frames_.push_back(&planned);
    for (const StepPlan& step : planned.steps) {
      const auto before = frame->copies_before.find(step.instruction);
      if (before != frame->copies_before.end() && !AddCopies(before->second)) return false;
      const bool fits =
          step.kind == StepPlan::Kind::kLoop ? Add(planned, step.instruction) : AddStep(step);
      if (!fits) return false;
    }
    return AddCopies(frame->final_copies);
  }

  bool AddCopies(const std::vector<BufferAssignment::Copy>& copies) {
    for (const BufferAssignment::Copy& copy : copies) copied_ += copy.bytes;
    return copied_ <= kMostCopied;
  }

  bool AddStep(const StepPlan& step) {
    if (step.kind != StepPlan::Kind::kKernel) return false;
    const KernelPlan::Form form = step.kernel.form;
    if (form != KernelPlan::Form::kNests && form != KernelPlan::Form::kUpdateInPlace &&
        form != KernelPlan::Form::kConcatenate) {
      return false;
    }
    // An element of attention takes a row of scores: its own template alone keeps them.
    const auto chosen = choices_.of_kernels.find(&step.kernel);
    if (chosen != choices_.of_kernels.end() && chosen->second.kind == KernelTemplate::kAttention) {
      return false;
    }
    int64_t work = 0;
    for (const NestPlan& nest : step.kernel.nests) {
      const int64_t count = WrittenShape(*nest.outputs[0].instruction).ElementCount();
      most_ = std::max(most_, count);
      work = std::max(work, count);
      ++kernels_;
    }
    // An update in place makes its window alone.
    if (form != KernelPlan::Form::kUpdateInPlace) {
      work = std::max(work, EstimateKernelWork(*step.instruction));
    }
    work_ += work;
    return work <= kMostWork && work_ <= kMostWorkOfTrip && kernels_ <= kMostKernels;
  }

  const ProgramPlan& plan_;
  const TemplateChoices& choices_;
  std::vector<const FramePlan*> frames_;
  int kernels_ = 0;
  int64_t most_ = 1, work_ = 0, copied_ = 0;
};

}  // namespace

void ChooseForLoop(const ProgramPlan& plan, const FramePlan& caller, const StepPlan& loop,
                   Gates& gates, TemplateChoices& choices) {
  LoopMeasurer measurer(plan, choices);
  if (!measurer.Add(caller, loop.instruction)) return;
  const Permission permission = gates.Allow(DecisionKind::kKernel, "loop-kernel", loop.instruction);
  if (!permission) return;
  TemplateChoice choice = measurer.Choice();
  choice.bends = permission.bends();
  for (const FramePlan* frame : measurer.frames()) {
    choices.in_loops.insert(frame->frame);
    for (const StepPlan& step : frame->steps) {
      choices.of_loops.erase(&step);
      choices.of_kernels.erase(&step.kernel);
      for (const NestPlan& nest : step.kernel.nests) choices.of_nests.erase(&nest);
    }
  }
  choices.of_loops[&loop] = std::move(choice);
}

}  // namespace assay::gpu
