// Sums of products of two arrays, for compiled code: dots of any transposition and convolutions of
// any layout, stride, dilation and group, all through one path. Operands are packed block by block
// into the order in which tiles read them, straight from where they lie (no array of patches is
// made), blocks fit the caches, and tiles run in vector registers (micro_kernels.h). Every sum runs
// in an order that depends on the plan alone: results do not depend on the number of threads.
// Document: operation semantics chapter 11.
#pragma once

#include <cstdint>

#include "optimized/runtime/kernels/micro_kernels.h"

namespace assay {

struct RunContext;

// One dimension of the contraction, with steps in elements of each array that it moves through.
struct ContractionAxis {
  int64_t size = 1;
  int64_t lhs = 0, rhs = 0, out = 0;
};

// A dimension of the window of a convolution. At place o of axis m[out_axis] and tap t of axis
// sum[tap_axis] the left operand is read at p = (o * stride + t * dilation - low) / base_dilation,
// `step` elements apart; nothing is added where that is no whole number in [0, size).
struct ContractionWindow {
  int64_t out_axis = 0, tap_axis = 0;
  int64_t stride = 1, dilation = 1, base_dilation = 1, low = 0;
  int64_t size = 0, step = 0;
};

// Integers only: the compiler lays it out as constant data.
struct ContractionPlan {
  static constexpr int kMaxAxes = 8;
  static constexpr int kMaxWindows = 4;
  int64_t isa = 0;  // KernelIsa
  // Values of ElementType; operands of one kind with the sums: floats, or integers.
  int64_t lhs_type = 0, rhs_type = 0, sum_type = 0, out_type = 0;
  // Complex elements of all arrays: types are those of the parts, steps and starts count elements,
  // and there is an axis of sums to spare. A complex product is four real ones.
  int64_t is_complex = 0;
  int64_t lhs_start = 0, rhs_start = 0, out_start = 0;  // in elements
  // ContractThen keeps the sums apart from the result, whose elements have another size.
  int64_t sums_apart = 0;
  // It hands on sums in multiples of so many, from multiples of it on: a power of two up to 64 of
  // which lines of the result are multiples.
  int64_t epilogue_unit = 1;
  int64_t batch_count = 0, m_count = 0, n_count = 0, sum_count = 0, window_count = 0;
  ContractionAxis batch[kMaxAxes];  // of both operands and the result
  ContractionAxis m[kMaxAxes];      // of the left operand and the result
  ContractionAxis n[kMaxAxes];      // of the right operand and the result
  ContractionAxis sum[kMaxAxes];    // of both operands
  ContractionWindow windows[kMaxWindows];
};

// True if Contract has code for these types.
bool CanContract(int64_t lhs_type, int64_t rhs_type, int64_t sum_type, int64_t out_type);

// Writes every element of the result that the plan names.
void Contract(RunContext* context, const ContractionPlan* plan, const void* lhs, const void* rhs,
              void* out);

// Compiled code that makes elements [begin, end) of the results out of their sums, of which `sums`
// is the first. They may lie where one of the results does.
using EpilogueFn = void (*)(void** table, int64_t begin, int64_t end, const void* sums);

// Contracts, and hands each sum once to `epilogue`, as soon as a block of them is complete and
// while it is in the cache. The plan names every element of the result.
void ContractThen(RunContext* context, const ContractionPlan* plan, const void* lhs,
                  const void* rhs, void* out, EpilogueFn epilogue, void** table);

}  // namespace assay
