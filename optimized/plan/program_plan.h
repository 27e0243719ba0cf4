// A module as a program of steps: which kernels, loops, branches and calls each frame runs, in
// order, and from which buffers into which. Emission is a visitor of it and decides nothing.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/plan/kernel_plan.h"

namespace assay {

struct StepPlan {
  enum class Kind : uint8_t { kKernel, kLoop, kBranch, kCall };

  Kind kind = Kind::kKernel;
  const Instruction* instruction = nullptr;
  // The plan of a kernel and its buffers:
  KernelPlan kernel;
  KernelBuffers buffers;
  bool is_cold = false;  // hardly counts in the time of a run
};

struct FramePlan {
  const BufferAssignment::Frame* frame = nullptr;
  bool in_loop = false;  // of a loop, by any way
  // The size of the table of its own that each kernel gets, in which equal kernels find what they
  // need at equal places; 0: kernels use the program's.
  int64_t table_entries = 0;
  std::vector<StepPlan> steps;
};

struct ProgramPlan {
  std::vector<FramePlan> frames;  // callees before callers; the entry comes last
};

// Asks the gates kernel by kernel, in the order of the steps.
absl::StatusOr<ProgramPlan> PlanProgram(const BufferAssignment& buffers, const Target& target,
                                        Gates& gates);

// One step as text.
struct StepText {
  std::string frame;  // name of the computation
  std::string step;   // name of the instruction
  std::string op;
  std::string plan;   // of the kernel; the computations that others run
  std::string reads;  // "parameter 0, arena + 64"
  std::string writes;
};
std::vector<StepText> Describe(const ProgramPlan& plan, const BufferAssignment& buffers);

// An executable that tells what it was compiled to.
class PlannedExecutable {
 public:
  virtual ~PlannedExecutable() = default;
  // A line per step; empty unless the compilation was asked to trace what it does.
  virtual const std::vector<StepText>& plan() const = 0;
  // Likewise a line for each decision that a pass or the assignment of buffers gave a reason for.
  virtual const std::vector<PassReason>& reasons() const {
    static const auto& none = *new std::vector<PassReason>;
    return none;
  }
};

}  // namespace assay
