// Carries out collectives on bytes: each device makes its own result from the operands of its
// group, in the order of the group, so that timing decides nothing. Document: operation semantics
// 15.1.
#pragma once

#include <string>
#include <vector>

#include "optimized/runtime/rendezvous.h"
#include "optimized/runtime/run_context.h"

namespace assay {

// A collective as the runtime sees it: everything but the operands. Arrays are row-major.
struct CollectivePlan {
  enum class Kind : uint8_t {
    kReduce,            // all-reduce and reduce-scatter
    kGather,            // all-gather
    kExchange,          // all-to-all along a dimension
    kExchangeOperands,  // all-to-all whose blocks are operands
    kTake,              // the one source's operands, or zeros: permute, broadcast
    kTakeFromRoot,      // broadcast whose last operand names the source of each
    kRagged,            // ragged-all-to-all
  };
  // An array as `outer` rows, each of `row` bytes, of which a block has `block`.
  struct Array {
    int64_t outer = 1, row = 0, block = 0, element = 1;
  };
  struct Ragged {
    int64_t input_rows = 0, output_rows = 0, row_bytes = 0;
    int64_t entries = 0;  // of each list of offsets and sizes
    int64_t index_bytes = 4;
    bool index_signed = true;
  };
  Kind kind = Kind::kReduce;
  int64_t place = 0;              // number of the plan at whose meeting the devices meet
  Meeting meeting;                // sources in the order of the group
  std::vector<int64_t> position;  // by device: its place in its group
  std::vector<Array> arrays;      // by operand that has a result
  int64_t operand_count = 0;
  Ragged ragged;
};

// accumulator[i] = f(accumulator[i], operand[i]) for `count` elements.
using CombineFn = void (*)(void* accumulator, const void* operand, int64_t count);

// One execution of collective `number`. Results may be anything once the run ends early.
void RunCollective(RunContext* context, int64_t number, const void* const* operands,
                   void* const* results, CombineFn combine);
void ReplicaId(const RunContext* context, uint32_t* result);
void PartitionId(const RunContext* context, uint32_t* result);

}  // namespace assay
