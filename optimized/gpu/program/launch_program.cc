// The host's side of a program. What is not a kernel is a few lines each.
#include "optimized/gpu/program/launch_program.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "llvm/IR/Attributes.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "optimized/gpu/kernels/combine_kernel.h"
#include "optimized/gpu/kernels/device_functions.h"
#include "optimized/gpu/kernels/loop_kernel.h"
#include "optimized/gpu/simulator/finding.h"
#include "optimized/gpu/streams/kernel_ranges.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/library/library_call.h"

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

absl::StatusOr<CombineLaunch> MakeCombine(const KernelContext& context,
                                          const Instruction& reduction,
                                          const SimulatorOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const llvm::Function* function, EmitCombineKernel(context, reduction));
  ASSAY_RETURN_IF_ERROR(LinkDeviceFunctions(context.module));
  absl::StatusOr<std::unique_ptr<DecodedKernel>> code = Decode(*function, options);
  if (!code.ok()) return OfDecoding(code.status());
  int64_t bytes = 0;
  for (const Instruction* operand : reduction.operands()) {
    bytes = std::max(bytes, operand->shape().ByteSize());
  }
  return CombineLaunch{*std::move(code), {bytes, bytes}};
}

std::vector<BufferArgument> LeavesOf(const Shape& shape, const std::vector<BufferSlice>& slices) {
  std::vector<BufferArgument> leaves;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
    const BufferSlice slice = slices[leaves.size()];
    leaves.push_back({slice, leaf.IsArray() ? leaf.ByteSize() : 0});
  });
  return leaves;
}

absl::StatusOr<HostStep> MakeHostStep(const KernelContext& context, const StepPlan& plan,
                                      const SimulatorOptions& options,
                                      const ProgramStreams& streams) {
  const Instruction& instruction = *plan.instruction;
  HostStep step;
  step.work = HostWorkOf(instruction);
  if (IsCollective(instruction.opcode()) && streams.on_device != nullptr)
    step.on_device = streams.on_device(instruction);
  for (int64_t k = 0; k < instruction.operand_count(); ++k) {
    step.operands.push_back(
        LeavesOf(instruction.operand(k)->shape(), plan.buffers.operands[static_cast<size_t>(k)]));
  }
  step.results = LeavesOf(instruction.shape(), plan.buffers.results);
  if (IsCollective(instruction.opcode()) && !instruction.callees().empty()) {
    ASSAY_ASSIGN_OR_RETURN(step.combine, MakeCombine(context, instruction, options));
  }
  return step;
}

bool IsDoneByHost(const StepPlan& plan) {
  return plan.kind == StepPlan::Kind::kKernel && plan.kernel.form == KernelPlan::Form::kNative &&
         !HasDeviceKernel(plan.instruction->opcode());
}

// Which arguments lie where the step leaves results; scratch memory is written, too.
std::vector<uint8_t> MayWrite(const EmittedKernel& kernel, const KernelBuffers& buffers) {
  std::vector<uint8_t> may;
  for (const BufferArgument& argument : kernel.arguments)
    may.push_back(absl::c_linear_search(buffers.results, argument.slice) ? 1 : 0);
  may.resize(may.size() + kernel.scratch.size(), 1);
  return may;
}

// Notes how much a launch touches, for whoever watches it without knowing its program.
void NoteBytes(const EmittedKernel& kernel, const std::vector<uint8_t>& may_write) {
  const auto note = [&](size_t number, int64_t bytes) {
    kernel.function->addParamAttr(
        static_cast<unsigned>(number),
        llvm::Attribute::get(kernel.function->getContext(), kBytesAttribute,
                             StrCat(bytes, may_write[number] != 0 ? " write" : " read")));
  };
  for (size_t k = 0; k < kernel.arguments.size(); ++k) note(k, kernel.arguments[k].bytes);
  for (size_t k = 0; k < kernel.scratch.size(); ++k)
    note(kernel.arguments.size() + k, kernel.scratch[k]);
}

absl::StatusOr<LaunchStep> MakeStep(const KernelContext& context, const StepPlan& plan,
                                    const SimulatorOptions& options,
                                    const ProgramStreams& streams) {
  LaunchStep step;
  step.kind = plan.kind;
  step.instruction = plan.instruction;
  if (plan.kind != StepPlan::Kind::kKernel) return step;
  if (IsDoneByHost(plan)) {
    ASSAY_ASSIGN_OR_RETURN(step.host, MakeHostStep(context, plan, options, streams));
    return step;
  }
  step.fresh = FreshResults(plan);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<EmittedKernel> kernels,
                         EmitKernels(context, plan.kernel, plan.buffers));
  ASSAY_RETURN_IF_ERROR(LinkDeviceFunctions(context.module));
  for (const EmittedKernel& kernel : kernels) {
    std::vector<uint8_t> may_write = MayWrite(kernel, plan.buffers);
    NoteBytes(kernel, may_write);
    absl::StatusOr<std::unique_ptr<DecodedKernel>> code = Decode(*kernel.function, options);
    if (!code.ok()) return OfDecoding(code.status());
    step.launches.push_back(
        {*std::move(code), kernel.shape, kernel.arguments, std::move(may_write), kernel.computes});
    step.scratch = kernel.scratch;  // the same of all
  }
  return step;
}

// Ops that are no calls may be a library's all the same.
void AskLibraries(const StepPlan& plan, const ProgramStreams& options, Gates& gates,
                  LaunchStep& step) {
  if (step.launches.empty() || plan.kernel.form != KernelPlan::Form::kNative ||
      options.library_takes == nullptr || !options.library_takes(*plan.instruction) ||
      !gates.Allow(DecisionKind::kLibrary, "call-library", plan.instruction))
    return;
  step.routine.emplace();
  for (const std::vector<BufferSlice>& leaves : plan.buffers.operands)
    step.routine->operands.push_back(leaves[0]);
  step.routine->results = plan.buffers.results;
}

// A loop that one kernel runs is a step like others.
absl::StatusOr<LaunchStep> MakeLoopStep(const KernelContext& context, const StepPlan& loop,
                                        const EmittedKernel& kernel,
                                        const SimulatorOptions& options) {
  ASSAY_RETURN_IF_ERROR(LinkDeviceFunctions(context.module));
  const std::vector<uint8_t> may_write(kernel.arguments.size() + kernel.scratch.size(), 1);
  NoteBytes(kernel, may_write);
  absl::StatusOr<std::unique_ptr<DecodedKernel>> code = Decode(*kernel.function, options);
  if (!code.ok()) return OfDecoding(code.status());
  LaunchStep step;
  step.instruction = loop.instruction;
  step.launches.push_back(
      {*std::move(code), kernel.shape, kernel.arguments, may_write, kernel.computes});
  return step;
}

}  // namespace

absl::StatusOr<LaunchProgram> MakeLaunchProgram(const KernelContext& context,
                                                const ProgramPlan& plan,
                                                const BufferAssignment& buffers,
                                                const SimulatorOptions& options,
                                                const ProgramStreams& streams, Gates& gates) {
  LaunchProgram program;
  const StreamOptions planned{
      .streams = streams.streams, .host_alone = streams.host_alone, .is_host = IsDoneByHost};
  static const auto& no_templates = *new TemplateChoices;
  const TemplateChoices& templates =
      context.templates == nullptr ? no_templates : *context.templates;
  int events = 0, stretches = 0;
  for (const FramePlan& frame : plan.frames) {
    program.number_of[frame.frame] = program.frames.size();
    LaunchFrame& made = program.frames.emplace_back();
    if (templates.in_loops.contains(frame.frame)) continue;
    for (const StepPlan& step : frame.steps) {
      const auto loop = templates.of_loops.find(&step);
      if (loop != templates.of_loops.end()) {
        ASSAY_ASSIGN_OR_RETURN(const EmittedKernel kernel,
                               EmitLoopKernel(context, plan, buffers, frame, step, loop->second));
        ASSAY_ASSIGN_OR_RETURN(made.steps.emplace_back(),
                               MakeLoopStep(context, step, kernel, options));
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(made.steps.emplace_back(), MakeStep(context, step, options, streams));
      AskLibraries(step, streams, gates, made.steps.back());
    }
    made.streams = PlanStreams(frame, planned, gates);
    made.first_event = events;
    events += static_cast<int>(frame.steps.size()) + 1;
    made.first_stretch = stretches;
    stretches += static_cast<int>(made.streams.stretches.size());
  }
  return program;
}

namespace {

// A finding says which instruction it is about, and where that is fused.
absl::Status WithInstruction(const absl::Status& status, const LaunchProgram& program) {
  std::optional<KernelFinding> finding = FindingOf(status);
  if (!finding.has_value()) return status;
  const auto name = [&](const Instruction& of_step, const Instruction* at) {
    if (at == nullptr) at = &of_step;
    finding->computes =
        StrCat("%", at->name(), " = ", at->shape().ToString(), " ", Name(at->opcode()));
    if (at != &of_step) StrAppend(&finding->computes, " of %", of_step.name());
  };
  for (const LaunchFrame& frame : program.frames) {
    for (const LaunchStep& step : frame.steps) {
      if (step.host.has_value() && step.host->combine.has_value() &&
          step.host->combine->code->name() == finding->kernel) {
        name(*step.instruction, nullptr);
      }
      for (const KernelLaunch& launch : step.launches) {
        if (launch.code->name() != finding->kernel) continue;
        const bool is_known = finding->line > 0 && finding->line <= launch.computes.size();
        name(*step.instruction, is_known ? launch.computes[finding->line - 1] : nullptr);
      }
    }
  }
  return StatusOf(*finding);
}

}  // namespace

absl::Status ProgramRun::Run() {
  device_.UseStream(0);
  absl::Status status = RunFrame(buffers_.entry());
  if (status.ok()) status = device_.Finish();
  if (absl::IsDeadlineExceeded(status)) {
    return MakeError(ErrorClass::kTimeout, StrCat("gpu-sim: ", status.message()));
  }
  return WithInstruction(status, program_);
}

absl::Status ProgramRun::CheckTime() const {
  // Why the run was stopped is told by whoever stopped it.
  if (context_.stopped != nullptr && *context_.stopped != 0) {
    return absl::CancelledError("gpu-sim: the run was stopped");
  }
  if (std::chrono::steady_clock::now() < context_.deadline) return absl::OkStatus();
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
  const LaunchFrame& launches = program_.frames[program_.number_of.at(&frame)];
  for (size_t k = 0; k < launches.streams.stretches.size(); ++k) {
    ASSAY_RETURN_IF_ERROR(RunStretch(frame, launches, k));
    const auto alone = static_cast<size_t>(launches.streams.stretches[k].end);
    if (alone < launches.steps.size()) {
      ASSAY_RETURN_IF_ERROR(RunStep(frame, launches.steps[alone]));
    }
  }
  return RunCopies(frame.final_copies);
}

absl::Status ProgramRun::RunStretch(const Frame& frame, const LaunchFrame& launches,
                                    size_t number) {
  const Stretch& stretch = launches.streams.stretches[number];
  if (stretch.begin == stretch.end) return absl::OkStatus();
  const int kept = launches.first_stretch + static_cast<int>(number);
  if (stretch.may_replay) {
    ASSAY_RETURN_IF_ERROR(CheckTime());
    ASSAY_ASSIGN_OR_RETURN(const bool is_done, device_.BeginStretch(kept));
    if (is_done) return absl::OkStatus();
  }
  const auto event_of = [&](int step) { return launches.first_event + step + 1; };
  if (stretch.forks) ASSAY_RETURN_IF_ERROR(device_.Record(event_of(StepStream::kFork)));
  for (int k = stretch.begin; k < stretch.end; ++k) {
    const StepStream& place = launches.streams.steps[static_cast<size_t>(k)];
    device_.UseStream(place.stream);
    for (const int step : place.waits) ASSAY_RETURN_IF_ERROR(device_.Await(event_of(step)));
    ASSAY_RETURN_IF_ERROR(RunStep(frame, launches.steps[static_cast<size_t>(k)]));
    if (place.is_awaited) ASSAY_RETURN_IF_ERROR(device_.Record(event_of(k)));
  }
  device_.UseStream(0);
  for (const int step : stretch.joins) ASSAY_RETURN_IF_ERROR(device_.Await(event_of(step)));
  return stretch.may_replay ? device_.EndStretch(kept) : absl::OkStatus();
}

absl::StatusOr<std::vector<KernelArgument>> ProgramRun::TakeScratch(
    const LaunchStep& step, absl::Span<const int64_t> sizes) {
  std::vector<uint64_t>& places = scratch_[&step];
  std::vector<KernelArgument> arguments;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const uint64_t bytes = std::max<uint64_t>(1, static_cast<uint64_t>(sizes[k]));
    if (places.size() == k) {
      const absl::StatusOr<uint64_t> place = device_.Allocate(bytes, StrCat("scratch ", k));
      if (!place.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(place.status().message()));
      places.push_back(*place);
    }
    ASSAY_RETURN_IF_ERROR(device_.Forget(places[k], bytes));
    arguments.push_back(KernelArgument::Buffer(places[k], bytes));
  }
  return arguments;
}

absl::Status ProgramRun::Combine(const LaunchStep& step, absl::Span<std::byte> accumulator,
                                 absl::Span<const std::byte> operand, int64_t count) {
  if (count == 0) return absl::OkStatus();
  const CombineLaunch& combine = *step.host->combine;
  ASSAY_ASSIGN_OR_RETURN(std::vector<KernelArgument> arguments, TakeScratch(step, combine.scratch));
  ASSAY_RETURN_IF_ERROR(device_.CopyIn(arguments[0].bits, accumulator));
  ASSAY_RETURN_IF_ERROR(device_.CopyIn(arguments[1].bits, operand));
  arguments.push_back(KernelArgument::Scalar(static_cast<uint64_t>(count)));
  ASSAY_RETURN_IF_ERROR(device_.Launch(*combine.code, CombineShape(count), arguments, {}));
  return device_.CopyOut(arguments[0].bits, accumulator);
}

namespace {

// The runtime calls a plain function: this is what it does on a thread, and the first thing that
// went wrong.
struct Combination {
  std::function<absl::Status(void*, const void*, int64_t)> combine;
  absl::Status status;
};
thread_local Combination* combination = nullptr;

void CombineOnDevice(void* accumulator, const void* operand, int64_t count) {
  if (combination->status.ok()) {
    combination->status = combination->combine(accumulator, operand, count);
  }
}

}  // namespace

// Devices meet on the host first, without their arrays: one that does not come is named at once,
// and none waits on its device for it.
absl::Status ProgramRun::Meet(const LaunchStep& step, const std::vector<uint64_t>& operands,
                              const std::vector<uint64_t>& results) {
  const auto number = static_cast<size_t>(CollectiveNumber(*step.instruction));
  const CollectivePlan& plan = context_.plans->at(number);
  if (!context_.rendezvous->Arrive(context_.device, plan.place, nullptr, 0))
    return absl::CancelledError("gpu: the run was stopped");
  return device_.Collect({*step.instruction, plan, *step.host->on_device, context_.device},
                         operands, results);
}

absl::StatusOr<bool> ProgramRun::RunOnDevice(const LaunchStep& step) {
  const bool collects = step.host->on_device.has_value() && device_.HasCollectives();
  if (!collects && !IsLibraryCall(*step.instruction)) return false;
  std::vector<uint64_t> operands, results;
  for (const std::vector<BufferArgument>& leaves : step.host->operands)
    operands.push_back(AddressOf(leaves[0].slice));
  for (const BufferArgument& leaf : step.host->results) results.push_back(AddressOf(leaf.slice));
  if (!collects) return device_.CallLibrary(*step.instruction, operands, results);
  ASSAY_RETURN_IF_ERROR(Meet(step, operands, results));
  return true;
}

absl::Status ProgramRun::RunOnHost(const LaunchStep& step) {
  const HostStep& host = *step.host;
  ASSAY_RETURN_IF_ERROR(CheckTime());
  ASSAY_ASSIGN_OR_RETURN(const bool is_done, RunOnDevice(step));
  if (is_done) return absl::OkStatus();
  std::vector<std::vector<std::byte>>& copies = host_arrays_[&step];
  copies.clear();
  HostArrays arrays{context_, {}, {}};
  for (const std::vector<BufferArgument>& leaves : host.operands) {
    std::vector<const void*>& operand = arrays.operands.emplace_back();
    for (const BufferArgument& leaf : leaves) {
      std::vector<std::byte>& copy = copies.emplace_back(static_cast<size_t>(leaf.bytes));
      if (leaf.bytes > 0) {
        ASSAY_RETURN_IF_ERROR(device_.CopyOut(AddressOf(leaf.slice), absl::MakeSpan(copy)));
      }
      operand.push_back(copy.data());
    }
  }
  const size_t first_result = copies.size();
  for (const BufferArgument& leaf : host.results) {
    arrays.results.push_back(copies.emplace_back(static_cast<size_t>(leaf.bytes)).data());
  }
  Combination here;
  if (host.combine.has_value()) {
    const auto element =
        static_cast<size_t>(StorageBytes(step.instruction->operand(0)->shape().element_type()));
    here.combine = [&, element](void* accumulator, const void* operand, int64_t count) {
      const size_t bytes = element * static_cast<size_t>(count);
      return Combine(step, {static_cast<std::byte*>(accumulator), bytes},
                     {static_cast<const std::byte*>(operand), bytes}, count);
    };
    arrays.combine = CombineOnDevice;
    combination = &here;
  }
  const absl::Status status = host.work(arrays);
  combination = nullptr;
  ASSAY_RETURN_IF_ERROR(status);
  ASSAY_RETURN_IF_ERROR(here.status);
  ASSAY_RETURN_IF_ERROR(CheckTime());
  for (size_t k = 0; k < host.results.size(); ++k) {
    if (host.results[k].bytes == 0) continue;
    ASSAY_RETURN_IF_ERROR(
        device_.CopyIn(AddressOf(host.results[k].slice), copies[first_result + k]));
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::RunKernels(const LaunchStep& step) {
  if (step.host.has_value()) return RunOnHost(step);
  for (const BufferArgument& result : step.fresh) {
    ASSAY_RETURN_IF_ERROR(
        device_.Forget(AddressOf(result.slice), static_cast<uint64_t>(result.bytes)));
  }
  if (step.routine.has_value()) {
    std::vector<uint64_t> operands, results;
    for (const BufferSlice slice : step.routine->operands) operands.push_back(AddressOf(slice));
    for (const BufferSlice slice : step.routine->results) results.push_back(AddressOf(slice));
    ASSAY_ASSIGN_OR_RETURN(const bool is_done,
                           device_.CallLibrary(*step.instruction, operands, results));
    if (is_done) return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<KernelArgument> scratch,
                         TakeScratch(step, step.scratch));
  for (const KernelLaunch& launch : step.launches) {
    std::vector<KernelArgument> arguments;
    for (const BufferArgument& argument : launch.arguments) {
      arguments.push_back(
          KernelArgument::Buffer(AddressOf(argument.slice), static_cast<uint64_t>(argument.bytes)));
    }
    arguments.insert(arguments.end(), scratch.begin(), scratch.end());
    ASSAY_RETURN_IF_ERROR(CheckTime());
    ASSAY_RETURN_IF_ERROR(device_.Launch(*launch.code, launch.shape, arguments, launch.may_write));
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
