// Binds literals to device memory around a run of the launch program.
#include "optimized/gpu/gpu_executable.h"

#include <algorithm>
#include <utility>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

// Warp instructions per second that the simulator is thought to do at most; one launch that is
// allowed more than the run's time would hold it up for too long.
constexpr double kInstructionsPerSecond = 1e8;

void LeavesOfValue(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) LeavesOfValue(element, leaves);
}

absl::StatusOr<Literal> MakeResult(const Shape& shape, int64_t limit) {
  if (!shape.IsTuple()) return Literal::Create(shape, limit);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, MakeResult(element, limit));
    elements.push_back(std::move(literal));
  }
  return Literal::Tuple(std::move(elements));
}

absl::Span<const std::byte> BytesOfLeaf(const Literal& leaf) {
  if (!leaf.shape().IsArray()) return {};
  const absl::Span<const uint8_t> bytes = leaf.bytes();
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

SimulatorOptions WithTime(SimulatorOptions options, double seconds) {
  options.max_instructions =
      static_cast<uint64_t>(std::clamp(seconds, 1.0, 1e4) * kInstructionsPerSecond);
  return options;
}

}  // namespace

GpuExecutable::GpuExecutable(GpuProgram program)
    : program_(std::move(program)),
      simulator_(WithTime(program_.simulator, program_.limits.seconds)) {}

std::map<std::string, double> GpuExecutable::Statistics() const {
  std::map<std::string, double> statistics = program_.statistics;
  const Counters& counters = simulator_.counters();
  const auto note = [&](const char* name, uint64_t value) {
    statistics[StrCat("gpu.", name)] = static_cast<double>(value);
  };
  note("launches", counters.launches);
  note("instructions", counters.warp_instructions);
  note("divergent", counters.divergent_branches);
  note("barriers", counters.barriers);
  note("bytes", counters.global_bytes);
  note("sectors", counters.global_sectors);
  note("sectors.least", counters.least_global_sectors);
  note("bank.conflicts", counters.bank_conflicts);
  return statistics;
}

absl::Status GpuExecutable::CheckArguments(const std::vector<const Literal*>& arguments) const {
  absl::Span<Instruction* const> parameters = program_.module->entry()->parameters();
  if (arguments.size() != parameters.size()) {
    return MakeError(ErrorClass::kRejected, StrCat("gpu-sim: ", arguments.size(), " arguments for ",
                                                   parameters.size(), " parameters"));
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] != nullptr && Compatible(arguments[k]->shape(), parameters[k]->shape())) {
      continue;
    }
    return MakeError(
        ErrorClass::kRejected,
        StrCat("gpu-sim: argument ", k, " is ",
               arguments[k] == nullptr ? "missing" : arguments[k]->shape().ToString(),
               ", parameter ", parameters[k]->name(), " is ", parameters[k]->shape().ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> GpuExecutable::MakeTable(
    const std::vector<const Literal*>& inputs, const std::vector<const Literal*>& results,
    RunDevice& device) const {
  const BufferAssignment& buffers = *program_.buffers;
  std::vector<uint64_t> table(BufferTable::kFirstParameter);
  const auto allocate = [&](uint64_t bytes, std::string_view name) {
    return device.Allocate(std::max<uint64_t>(bytes, 1), name);
  };
  const absl::Span<const std::byte> constants(
      reinterpret_cast<const std::byte*>(buffers.constants().data()), buffers.constants().size());
  ASSAY_ASSIGN_OR_RETURN(table[BufferTable::kArena],
                         allocate(static_cast<uint64_t>(buffers.arena_bytes()), "arena"));
  ASSAY_ASSIGN_OR_RETURN(table[BufferTable::kConstants], allocate(constants.size(), "constants"));
  ASSAY_RETURN_IF_ERROR(device.CopyIn(table[BufferTable::kConstants], constants));
  for (size_t k = 0; k < inputs.size(); ++k) {
    const absl::Span<const std::byte> bytes = BytesOfLeaf(*inputs[k]);
    ASSAY_ASSIGN_OR_RETURN(table.emplace_back(), allocate(bytes.size(), StrCat("parameter ", k)));
    ASSAY_RETURN_IF_ERROR(device.CopyIn(table.back(), bytes));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(table.emplace_back(),
                           allocate(BytesOfLeaf(*results[k]).size(), StrCat("result ", k)));
  }
  return table;
}

absl::StatusOr<std::unique_ptr<RunDevice>> GpuExecutable::MakeDevice() {
  if (program_.cuda != nullptr) return MakeCudaDevice(*program_.cuda->session, program_.image);
  return MakeSimulatedDevice(simulator_, static_cast<uint64_t>(program_.limits.memory_bytes));
}

absl::StatusOr<RunResult> GpuExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  const std::lock_guard<std::mutex> lock(running_);
  if (arguments.size() != 1) {
    return MakeError(ErrorClass::kRejected, "gpu-sim: a program runs on one device");
  }
  ASSAY_RETURN_IF_ERROR(CheckArguments(arguments[0]));
  const auto start = std::chrono::steady_clock::now();
  const auto deadline =
      start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(std::clamp(program_.limits.seconds, 0.0, 1e8)));
  absl::StatusOr<Literal> made =
      MakeResult(program_.module->entry()->root()->shape(), program_.limits.memory_bytes);
  if (!made.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(made.status().message()));
  Literal result = *std::move(made);
  std::vector<const Literal*> inputs, outputs;
  for (const Literal* argument : arguments[0]) LeavesOfValue(*argument, inputs);
  LeavesOfValue(result, outputs);
  std::unique_lock<std::mutex> whole_gpu;
  if (program_.cuda != nullptr) {
    whole_gpu = std::unique_lock<std::mutex>(program_.cuda->running);
    ASSAY_RETURN_IF_ERROR(program_.cuda->session->Enter());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunDevice> device, MakeDevice());
  absl::StatusOr<std::vector<uint64_t>> table = MakeTable(inputs, outputs, *device);
  if (!table.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(table.status().message()));
  ProgramRun program(program_.launches, *program_.buffers, *device, *table, deadline);
  ASSAY_RETURN_IF_ERROR(program.Run());
  for (size_t k = 0; k < outputs.size(); ++k) {
    const absl::Span<const std::byte> bytes = BytesOfLeaf(*outputs[k]);
    if (bytes.empty()) continue;
    const uint64_t address = (*table)[static_cast<size_t>(program_.buffers->first_result()) + k];
    // The literal is this function's own.
    ASSAY_RETURN_IF_ERROR(
        device->CopyOut(address, {const_cast<std::byte*>(bytes.data()), bytes.size()}));
  }
  RunResult run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.peak_bytes = static_cast<int64_t>(device->bytes_in_use());
  run.outputs.push_back(std::move(result));
  run.outfeeds.emplace_back();
  return run;
}

}  // namespace assay::gpu
