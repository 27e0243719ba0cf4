// The plan of one kernel, decided before any code exists: its form, its nests with what each writes
// and how it walks, how threads share it, and the library's function that does the work. A kernel
// computes one instruction, or one fusion, from buffers into buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_table.h"
#include "optimized/defects/bends.h"
#include "optimized/gates/gates.h"
#include "optimized/plan/walk_plan.h"
#include "optimized/target/target.h"
#include "spec/ir/module.h"

namespace assay {

// Elements computed in one nest and where they go.
struct NestOutput {
  const Instruction* instruction = nullptr;  // as seen from the kernel's fusion, if it is one
  std::vector<int> leaves;                   // results written, one per leaf of the instruction
  // By dimension, where element 0 lies in the result; empty: the whole result is written.
  std::vector<int64_t> starts;

  static constexpr int64_t kClampedOperand = -1;  // a start index of the dynamic-update-slice
};

// One nest of loops. Its outputs have the same dimensions: what they share is computed once.
struct NestPlan {
  std::vector<NestOutput> outputs;
  WalkPlan walk;
  const KernelBends* bends = nullptr;  // in force from here on; nullptr: as before
};

struct KernelPlan {
  enum class Form : uint8_t {
    kNative,         // made as a whole by a kernel of the target's own
    kContraction,    // a large dot or convolution: a call of the library, or tiles
    kCumulative,     // a reduce-window of everything up to each element, by a running value
    kUpdateInPlace,  // the window of a dynamic-update-slice whose operand is the result's memory
    kConcatenate,    // each operand copied to its place: no element asks where it comes from
    kNests,          // a nest for all outputs, or one for each
  };

  const Instruction* instruction = nullptr;  // of a call of an outlined kernel, the kernel
  Form form = Form::kNests;
  bool is_optimized = true;   // false: code as plain as can be
  bool is_rare = false;       // runs too rarely for formulas of f64 to be worth their translation
  bool takes_better = false;  // of kNative: the way that the target prefers
  std::string library_call;   // empty: emitted code does the work
  std::vector<NestPlan>
      nests;                 // of kContraction: what is made of its sums; none: they are the result
  SplitPlan split;           // of [0, extent)
  bool is_parallel = false;  // threads share it

  // The changes of planted defects, where there are any: in what code takes for granted, and in the
  // form. They live as long as the gates.
  const KernelBends* granted_bends = nullptr;
  const KernelBends* form_bends = nullptr;

  // The instruction that the nests compute: the root of a fusion; otherwise the instruction itself.
  const Instruction& top() const;
};
std::string_view Name(KernelPlan::Form form);  // "update-in-place"

// The array of an output's elements: of the first leaf, whose dimensions all have.
const Shape& WrittenShape(const Instruction& output);

// Decides, and asks the gates in this order: optimize-kernel; the better way of a native kernel, or
// blocked-dot, cumulative-window, store-together, split-kernel; then for each nest tile-transpose
// and vectorize.
absl::StatusOr<KernelPlan> PlanKernel(const Instruction& instruction, const Target& target,
                                      Gates& gates, const KernelBuffers& buffers);

// "nests: linear by 16" or "native: assay_sort_lines_by_key": all that was decided, on one line.
std::string ToString(const KernelPlan& plan);
std::string ToString(const WalkPlan& walk);

}  // namespace assay
