// The table that compiled code receives: where the arena, the constants, the run's context, the
// parameters and the results are.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

// Entries of the table that compiled code receives.
struct BufferTable {
  static constexpr int kArena = 0;
  static constexpr int kConstants = 1;
  static constexpr int kContext = 2;  // a RunContext
  static constexpr int kFirstParameter = 3;
};

struct BufferSlice {
  int table_index = BufferTable::kArena;
  int64_t offset = 0;

  bool operator==(const BufferSlice&) const = default;
};

// Operands and results by leaf.
struct KernelBuffers {
  std::vector<std::vector<BufferSlice>> operands;
  std::vector<BufferSlice> results;
  bool update_in_place = false;
};

}  // namespace assay
