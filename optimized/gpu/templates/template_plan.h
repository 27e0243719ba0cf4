// Which kernel makes the results of a nest: a thread per element, or one in which the threads of a
// warp or a block work together. Decided from the plan and the architecture, before any code
// exists, with a reason for people to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/gates/gates.h"
#include "optimized/gpu/target/architecture.h"
#include "optimized/gpu/templates/tensor_forms.h"
#include "optimized/plan/program_plan.h"

namespace assay::gpu {

enum class KernelTemplate : uint8_t {
  kThreads,      // an element per thread
  kVectors,      // 16 neighbouring bytes per thread
  kRows,         // reduces along the innermost dimension, a warp or a block per row
  kRowFusion,    // reduces along rows and what is made of them for each element, row by row
  kColumns,      // reduces along other dimensions, a warp for neighbouring columns
  kTransposed,   // squares that are turned in shared memory
  kDotTiles,     // dots by strips of both operands in shared memory
  kTensorTiles,  // the same on tensor cores
  kScan,         // running values along lines, by warps and blocks
  kSortTiles,    // lines that are sorted in shared memory, tile by tile
  kTopTiles,     // the best of lines, by the same network
  kLoop,         // a loop with a small body, which one block runs
  kAttention,    // rows of scores, weights and sums by them, a warp for each row
};
std::string_view Name(KernelTemplate kind);  // "rows"

struct TemplateChoice {
  KernelTemplate kind = KernelTemplate::kThreads;
  std::string reason;
  // The instructions that the template itself computes, as seen from the kernel's fusion; all else
  // is element-wise behind them. Reduces, which walk the same elements; a transpose.
  std::vector<const Instruction*> subjects;
  // Elements that a thread moves at once where it reads, and where it writes.
  int read_width = 1, write_width = 1;
  // kRows: threads that share a row; kDotTiles: a thread's results in either direction;
  // kTensorTiles: products of a warp, which are 16 x 8, down (and twice as many across).
  // kScan: threads side by side, across lines; 1: all of a block share a line.
  int64_t team = 1;
  int64_t block_size = 256;  // threads
  // kScan: elements of a line for each block; kSortTiles, kTopTiles: places in shared memory.
  int64_t part = 0;
  TensorForm tensor;  // kTensorTiles
  // Elements of a dot that one asynchronous copy of either operand moves to shared memory while the
  // products of the strip before are added; 0: threads load and store strips.
  int64_t copied[2] = {0, 0};
  const KernelBends* bends = nullptr;
};
struct TemplateChoices {
  absl::flat_hash_map<const NestPlan*, TemplateChoice> of_nests;
  absl::flat_hash_map<const KernelPlan*, TemplateChoice> of_kernels;  // made as a whole
  absl::flat_hash_map<const StepPlan*, TemplateChoice> of_loops;      // that are one kernel
  // The frames that those loops run: nothing else is made for them.
  absl::flat_hash_set<const BufferAssignment::Frame*> in_loops;
};

// For kernels that have no nests: kThreads if no template fits, or the gate refuses.
TemplateChoice ChooseForKernel(const KernelPlan& kernel, Gates& gates);

// Adds the loop to `choices` if its frames are small and the gate allows it; what was chosen inside
// of it is taken back.
void ChooseForLoop(const ProgramPlan& plan, const FramePlan& caller, const StepPlan& loop,
                   Gates& gates, TemplateChoices& choices);

// Asks the gates for every template but the first two, in the order of the steps.
TemplateChoices ChooseTemplates(const ProgramPlan& plan, const Architecture& architecture,
                                Gates& gates);

// Appends what was chosen to the lines that Describe made of the plan.
void AddTemplates(const ProgramPlan& plan, const TemplateChoices& choices,
                  std::vector<StepText>& lines);

}  // namespace assay::gpu
