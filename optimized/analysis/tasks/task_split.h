// Tells what of a kernel threads can cut, into how many tasks, and where the counts are noted.
// Decided from shapes, types and the amount of work, before any code is emitted.
#pragma once

#include <cstdint>
#include <string_view>

#include "optimized/analysis/walks/reductions.h"
#include "optimized/target/target.h"
#include "spec/ir/instruction.h"

namespace assay {

// The number of elements of each array that takes part that fit into a vector: as many as of the
// widest type. It is 1 if a complex number takes part, since they have no lanes.
int ElementsPerVector(const Instruction& instruction, int vector_bits);

// The dimension of the result along which something is read that lies contiguous in memory, where
// it is not the innermost one: of a transpose, or of a fusion with one of the result's dimensions.
// -1: none. A walk in squares uses every cache line of both sides while it is at hand.
int64_t TransposedDim(const Instruction& instruction);

// The first dimension with more than one element; -1 if there is none.
int64_t OutermostDim(const Shape& shape);

// The elements of a cache line.
int TileSide(const Shape& shape, const Target& target);

// Sums of columns walk down rows: several vectors at a time, so that a row's cache line is used up
// while it is at hand.
inline constexpr int kColumnVectors = 4;
bool ReducesColumns(const Instruction& instruction, int width);

// If the loop that threads cut is the innermost as well, parts begin at multiples of so many
// elements.
inline constexpr int64_t kPartUnit = 64;

// Threads can share [0, extent) of a kernel, in parts that begin at multiples of `unit`.
struct TaskSpan {
  int64_t extent = 0;  // 0: nothing
  int64_t unit = 1;
  int64_t work = 0;  // operations of the whole kernel
};
TaskSpan SpanOfContraction(const Instruction& kernel, const ContractionCode& code);
TaskSpan SpanOfCumulative(const Instruction& kernel, const CumulativeWindow& window,
                          const Target& target);
// The span of one nest that makes all results of the kernel, whose first array is `result`.
// `output` is the instruction that computes it; `is_linear`: by one loop over all elements.
TaskSpan SpanOfNest(const Instruction& kernel, const Instruction& output, const Shape& result,
                    bool is_linear, const Target& target);

// The tasks of a kernel: at least 2, or 0 where one does as well. `why` tells people what decided.
struct TaskChoice {
  int64_t tasks = 0;
  TaskSpan span;
  std::string_view why;
};
// Tells also of kernels that lie in a scheduled computation, or run in post-order, whether they may
// be updates in place, which no threads share. Instructions that only rename are no kernels: 0
// tasks, without a reason.
TaskChoice ChooseTasks(const Instruction& instruction, const Target& target);

// The parts into which threads may cut [0, extent).
struct SplitPlan {
  int64_t extent = 0;
  int64_t grain = 1;           // smallest part, a multiple of the unit
  bool is_worthwhile = false;  // false: a split costs more than it gains
};
// At most `tasks` parts. Fewer than 2, or an extent that is too small for two parts: none.
SplitPlan PlanSplit(const TaskSpan& span, int64_t tasks);

// The number of tasks in the kernel's backend_config, {"outer_dimension_partitions":["4"]}, which
// the pass parallel-task-assigner writes and XLA's modules bring along; 0: there is none. Any
// number is legal, for the bits of a result do not depend on it.
int64_t NotedTasks(const Instruction& kernel);
void NoteTasks(Instruction* kernel, int64_t tasks);  // 0 takes the note away

// A call of a computation that is one kernel of its parameters, in their order, and that has tasks:
// it is run as the kernel, which is returned. nullptr: any other instruction.
const Instruction* OutlinedKernel(const Instruction& instruction);

}  // namespace assay
