// Decides where every value of a module lives: parameters and results in the caller's memory,
// constants in a pool, everything else in one arena by liveness. Values are row-major arrays, one
// buffer per leaf; tuples exist only here, as lists of buffers.
//
// Each computation that runs as a unit (entry, loop bodies and conditions, branches, called
// functions) has a frame: a region of the arena that is live while it runs. A computation with one
// caller has its frame inside the caller's and reads the caller's operands in place; one with
// several callers has a frame of its own, with arguments and results copied.
//
// Decisions (kind kBuffer): "alias-reshape", "reuse-elementwise", "in-place-dus",
// "in-place-scatter", "while-copy-elision", "share-arena", "donate-argument". Refused: a buffer of
// its own and a copy.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_table.h"
#include "optimized/gates/gates.h"
#include "optimized/target/target.h"
#include "spec/ir/module.h"

namespace assay {

class BufferAssignment {
 public:
  using BufferId = int;  // -1: no memory (tokens)

  // The things to emit for one instruction of a frame, beside the instruction itself.
  struct Step {
    const Instruction* instruction = nullptr;
    bool alias = false;            // no code: the result is the operand's memory
    bool update_in_place = false;  // dynamic-update-slice (or a fusion ending in one), scatter: the
                                   // operand's memory is the result's
  };
  struct Copy {
    BufferId from, to;
    int64_t bytes;
    const Instruction* value = nullptr;  // that is copied
    std::string_view why = {};
  };
  // Every copy, for people: "x to loop w: its first value is read later, too; 64 bytes".
  std::vector<std::string> CopyTexts() const;
  struct Frame {
    const Computation* computation = nullptr;
    std::vector<Step> steps;
    absl::flat_hash_map<const Instruction*, std::vector<BufferId>> buffers;  // leaves, depth first
    std::vector<std::vector<BufferId>> parameters;                           // leaves of each
    std::vector<BufferId> results;   // where the caller wants them, or where they are
    std::vector<Copy> final_copies;  // in order, after the last step
    absl::flat_hash_map<const Instruction*, std::vector<Copy>>
        copies_before;  // loop state, call arguments
    absl::flat_hash_map<const Instruction*, std::vector<Copy>> copies_after;  // call results
    absl::flat_hash_map<const Instruction*, std::vector<const Frame*>>
        callees;          // in the order of Instruction::callees
    bool shared = false;  // several callers
  };

  // All values lie in `space`.
  static absl::StatusOr<std::unique_ptr<BufferAssignment>> Run(const Module& module,
                                                               const MemorySpace& space,
                                                               Gates& gates, int64_t memory_limit);
  ~BufferAssignment();

  const Frame& entry() const { return *frames_[entry_]; }
  // All frames, callees before callers.
  const std::vector<std::unique_ptr<Frame>>& frames() const { return frames_; }
  BufferSlice SliceOf(BufferId id) const;
  int64_t BytesOf(BufferId id) const { return buffers_[id].bytes; }
  int64_t arena_bytes() const { return arena_bytes_; }
  int result_leaves() const { return result_leaves_; }
  int first_result() const { return BufferTable::kFirstParameter + parameter_leaves_; }
  // The entry of the table where leaf `k` of the result is left: its own, or that of the leaf of a
  // parameter whose memory it takes, by the module's input-output aliases.
  int ResultEntry(int k) const { return result_entries_[static_cast<size_t>(k)]; }
  // Contents of the constant pool.
  const std::vector<uint8_t>& constants() const { return constants_; }

 private:
  friend class FramePlanner;
  struct Region {  // a frame's part of the arena
    int parent = -1;
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  struct Buffer {
    int64_t bytes = 0;
    int table_index = BufferTable::kArena;
    int64_t offset = 0;  // within its region, or within its table entry
    int region = -1;     // -1: not in the arena
  };

  static absl::flat_hash_map<int, std::pair<int64_t, int>> Donations(const Module& module,
                                                                     Gates& gates);
  int64_t Align(int64_t bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }
  BufferId AddBuffer(Buffer buffer) {
    buffers_.push_back(buffer);
    return static_cast<BufferId>(buffers_.size()) - 1;
  }

  std::vector<std::unique_ptr<Frame>> frames_;
  size_t entry_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<Region> regions_;
  std::vector<uint8_t> constants_;
  int64_t alignment_ = 1;
  int64_t arena_bytes_ = 0;
  int parameter_leaves_ = 0;
  int result_leaves_ = 0;
  std::vector<int> result_entries_;
};

}  // namespace assay
