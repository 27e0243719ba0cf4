// The host's side of a program. What is not a kernel is a few lines each.
#include "optimized/gpu/program/launch_program.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "optimized/gpu/kernels/device_functions.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

std::vector<BufferArgument> FreshResults(const StepPlan& step) {
  std::vector<BufferArgument> fresh;
  if (step.buffers.update_in_place) return fresh;
  size_t leaf = 0;
  ForEachLeaf(step.instruction->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
    const BufferSlice slice = step.buffers.results[leaf++];
    if (!shape.IsArray() || shape.ByteSize() == 0) return;
    for (const std::vector<BufferSlice>& operand : step.buffers.operands) {
      if (absl::c_linear_search(operand, slice)) return;
    }
    fresh.push_back({slice, shape.ByteSize()});
  });
  return fresh;
}

// An instruction that the simulator has no code for is no fault of the program.
absl::Status OfDecoding(const absl::Status& status) {
  if (!absl::IsUnimplemented(status)) return status;
  return MakeError(ErrorClass::kUnsupported, StrCat("gpu-sim: ", status.message()));
}

absl::StatusOr<LaunchStep> MakeStep(const KernelContext& context, const StepPlan& plan,
                                    const SimulatorOptions& options) {
  LaunchStep step;
  step.kind = plan.kind;
  step.instruction = plan.instruction;
  if (plan.kind != StepPlan::Kind::kKernel) return step;
  step.fresh = FreshResults(plan);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<EmittedKernel> kernels,
                         EmitKernels(context, plan.kernel, plan.buffers));
  ASSAY_RETURN_IF_ERROR(LinkDeviceFunctions(context.module));
  for (const EmittedKernel& kernel : kernels) {
    absl::StatusOr<std::unique_ptr<DecodedKernel>> code = Decode(*kernel.function, options);
    if (!code.ok()) return OfDecoding(code.status());
    step.launches.push_back({*std::move(code), kernel.shape, kernel.arguments, kernel.scratch});
  }
  return step;
}

}  // namespace

absl::StatusOr<LaunchProgram> MakeLaunchProgram(const KernelContext& context,
                                                const ProgramPlan& plan,
                                                const SimulatorOptions& options) {
  LaunchProgram program;
  for (const FramePlan& frame : plan.frames) {
    program.number_of[frame.frame] = program.steps.size();
    std::vector<LaunchStep>& steps = program.steps.emplace_back();
    for (const StepPlan& step : frame.steps) {
      ASSAY_ASSIGN_OR_RETURN(steps.emplace_back(), MakeStep(context, step, options));
    }
  }
  return program;
}

absl::Status ProgramRun::CheckTime() const {
  if (std::chrono::steady_clock::now() < deadline_) return absl::OkStatus();
  return MakeError(ErrorClass::kTimeout, "gpu-sim: the program did not end in time");
}

absl::Status ProgramRun::RunCopies(const std::vector<BufferAssignment::Copy>& copies) {
  for (const BufferAssignment::Copy& copy : copies) {
    if (copy.bytes == 0) continue;
    ASSAY_RETURN_IF_ERROR(device_.CopyWithin(AddressOf(buffers_.SliceOf(copy.to)),
                                             AddressOf(buffers_.SliceOf(copy.from)),
                                             static_cast<uint64_t>(copy.bytes)));
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::RunFrame(const Frame& frame) {
  for (const LaunchStep& step : program_.steps[program_.number_of.at(&frame)]) {
    ASSAY_RETURN_IF_ERROR(RunStep(frame, step));
  }
  return RunCopies(frame.final_copies);
}

absl::Status ProgramRun::AddScratch(const KernelLaunch& launch,
                                    std::vector<KernelArgument>& arguments) {
  if (launch.scratch.empty()) return absl::OkStatus();
  std::vector<uint64_t>& places = scratch_[&launch];
  for (size_t k = 0; k < launch.scratch.size(); ++k) {
    const uint64_t bytes = std::max<uint64_t>(1, static_cast<uint64_t>(launch.scratch[k]));
    if (places.size() == k) {
      const absl::StatusOr<uint64_t> place = device_.Allocate(bytes, StrCat("scratch ", k));
      if (!place.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(place.status().message()));
      places.push_back(*place);
    }
    ASSAY_RETURN_IF_ERROR(device_.Forget(places[k], bytes));
    arguments.push_back(KernelArgument::Buffer(places[k], bytes));
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::RunKernels(const LaunchStep& step) {
  for (const BufferArgument& result : step.fresh) {
    ASSAY_RETURN_IF_ERROR(
        device_.Forget(AddressOf(result.slice), static_cast<uint64_t>(result.bytes)));
  }
  for (const KernelLaunch& launch : step.launches) {
    std::vector<KernelArgument> arguments;
    for (const BufferArgument& argument : launch.arguments) {
      arguments.push_back(
          KernelArgument::Buffer(AddressOf(argument.slice), static_cast<uint64_t>(argument.bytes)));
    }
    ASSAY_RETURN_IF_ERROR(AddScratch(launch, arguments));
    ASSAY_RETURN_IF_ERROR(CheckTime());
    const absl::Status status = device_.Launch(*launch.code, launch.shape, arguments);
    if (absl::IsDeadlineExceeded(status)) {
      return MakeError(ErrorClass::kTimeout, StrCat("gpu-sim: ", status.message()));
    }
    ASSAY_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::RunStep(const Frame& frame, const LaunchStep& step) {
  const auto before = frame.copies_before.find(step.instruction);
  if (before != frame.copies_before.end()) ASSAY_RETURN_IF_ERROR(RunCopies(before->second));
  switch (step.kind) {
    case StepPlan::Kind::kLoop:
      return RunLoop(frame, step.instruction);
    case StepPlan::Kind::kBranch:
      return RunBranch(frame, step.instruction);
    case StepPlan::Kind::kCall:
      return RunFrame(*frame.callees.at(step.instruction)[0]);
    case StepPlan::Kind::kKernel:
      return RunKernels(step);
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::RunLoop(const Frame& frame, const Instruction* loop) {
  const Frame& condition = *frame.callees.at(loop)[0];
  const Frame& body = *frame.callees.at(loop)[1];
  while (true) {
    ASSAY_RETURN_IF_ERROR(CheckTime());
    ASSAY_RETURN_IF_ERROR(RunFrame(condition));
    std::byte goes_on{};
    ASSAY_RETURN_IF_ERROR(device_.CopyOut(AddressOf(buffers_.SliceOf(condition.results[0])),
                                          absl::MakeSpan(&goes_on, 1)));
    if (goes_on == std::byte{0}) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(RunFrame(body));
  }
}

// Whatever is out of range selects the last branch.
absl::Status ProgramRun::RunBranch(const Frame& frame, const Instruction* conditional) {
  const std::vector<const Frame*>& branches = frame.callees.at(conditional);
  const Instruction* selector = conditional->operand(0);
  const uint64_t address = AddressOf(buffers_.SliceOf(frame.buffers.at(selector)[0]));
  int64_t index = 0;
  if (IsPred(selector->shape().element_type())) {  // true selects branch 0
    std::byte flag{};
    ASSAY_RETURN_IF_ERROR(device_.CopyOut(address, absl::MakeSpan(&flag, 1)));
    index = flag == std::byte{0} ? 1 : 0;
  } else {
    int32_t number = 0;
    ASSAY_RETURN_IF_ERROR(device_.CopyOut(
        address, absl::MakeSpan(reinterpret_cast<std::byte*>(&number), sizeof(number))));
    index = number;
  }
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  return RunFrame(*branches[index < 0 || index > last ? last : index]);
}

}  // namespace assay::gpu
