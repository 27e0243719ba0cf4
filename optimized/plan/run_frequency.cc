// Kernels outside of loops, the cheapest first, while their sum stays a small share of the work.
#include "optimized/plan/run_frequency.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "optimized/analysis/tasks/task_split.h"
#include "optimized/analysis/tasks/work_estimate.h"

namespace assay {
namespace {

// Code that is not optimized takes up to 20 times as long: at this share of the work it adds less
// than a fifth to a run.
constexpr int64_t kColdShare = 128;
// Products and sums of contractions are made so many times as fast as other operations.
constexpr int64_t kContractionRate = 32;

bool IsControl(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kWhile || instruction.opcode() == Opcode::kConditional ||
         (instruction.opcode() == Opcode::kCall && OutlinedKernel(instruction) == nullptr);
}

bool IsContraction(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kDot || instruction.opcode() == Opcode::kConvolution;
}

// The number of times that each frame runs, and the frames that loops call.
absl::flat_hash_map<const BufferAssignment::Frame*, double> TimesOfFrames(
    const BufferAssignment& buffers, RunFrequency& frequency) {
  absl::flat_hash_map<const BufferAssignment::Frame*, double> times;
  // Callers come last.
  const auto& frames = buffers.frames();
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const double here = times.emplace(frame->get(), 1).first->second;
    const bool in_loop = frequency.in_loops.contains(frame->get());
    for (const auto& [instruction, callees] : (*frame)->callees) {
      const bool is_loop = instruction->opcode() == Opcode::kWhile;
      for (const BufferAssignment::Frame* callee : callees) {
        double& of_callee = times.emplace(callee, 0).first->second;
        of_callee = std::max(of_callee, here * (is_loop ? EstimateTrips(*instruction) : 1));
        if (is_loop || in_loop) frequency.in_loops.insert(callee);
      }
    }
  }
  return times;
}

}  // namespace

RunFrequency EstimateRunFrequency(const BufferAssignment& buffers, const Target& target) {
  RunFrequency frequency;
  const auto times = TimesOfFrames(buffers, frequency);
  struct Weighed {
    int64_t work;
    const Instruction* instruction;
  };
  std::vector<Weighed> outside;
  double total = 0;
  for (const auto& frame : buffers.frames()) {
    const bool in_loop = frequency.in_loops.contains(frame.get());
    for (const BufferAssignment::Step& step : frame->steps) {
      const Instruction& i = *step.instruction;
      if (step.alias || IsControl(i)) continue;
      const int64_t work = EstimateKernelWork(i);
      total += static_cast<double>(work) * times.at(frame.get()) /
               (IsContraction(i) ? kContractionRate : 1);
      // A native kernel is compiled ahead of time.
      if (!in_loop && !target.IsNative(i.opcode())) outside.push_back({work, &i});
    }
  }
  std::stable_sort(outside.begin(), outside.end(),
                   [](const Weighed& a, const Weighed& b) { return a.work < b.work; });
  double left = total / kColdShare;
  for (const Weighed& each : outside) {
    left -= static_cast<double>(each.work);
    if (left < 0) break;
    frequency.cold.insert(each.instruction);
  }
  return frequency;
}

}  // namespace assay
