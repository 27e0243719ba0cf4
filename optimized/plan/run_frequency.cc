// Kernels outside of loops, the cheapest first, while their sum stays a small share of the work.
#include "optimized/plan/run_frequency.h"

#include <algorithm>

#include "optimized/plan/work_estimate.h"

namespace assay {
namespace {

// Code that is not optimized takes up to 20 times as long: at this share of the work it adds less
// than a fifth to a run.
constexpr int64_t kColdShare = 128;
constexpr int64_t kTripsOfLoops = 100;
// Products and sums of contractions are made so many times as fast as other operations.
constexpr int64_t kContractionRate = 32;

bool IsControl(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kWhile || instruction.opcode() == Opcode::kConditional ||
         instruction.opcode() == Opcode::kCall;
}

bool IsContraction(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kDot || instruction.opcode() == Opcode::kConvolution;
}

void FindLoops(const BufferAssignment& buffers, RunFrequency& frequency) {
  // Callers come last.
  const auto& frames = buffers.frames();
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    for (const auto& [instruction, callees] : (*frame)->callees) {
      if (instruction->opcode() != Opcode::kWhile && !frequency.in_loops.contains(frame->get()))
        continue;
      frequency.in_loops.insert(callees.begin(), callees.end());
    }
  }
}

}  // namespace

RunFrequency EstimateRunFrequency(const BufferAssignment& buffers, const Target& target) {
  RunFrequency frequency;
  FindLoops(buffers, frequency);
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
      total += static_cast<double>(work) * (in_loop ? kTripsOfLoops : 1) /
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
