// Tells how the elements of an instruction can be walked together with all that it reads, through
// what was fused into it, up to the sources that lie in memory: by one linear index, or with vector
// lanes along a dimension. Knows HLO alone, so that plans can ask before any code exists.
#pragma once

#include <deque>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// A call of a computation: which computation, and what its parameters are.
struct CallFrame {
  const CallFrame* parent = nullptr;              // where `arguments` live
  absl::Span<Instruction* const> arguments = {};  // what the parameters are bound to ...
  bool binds_values = false;                      // ... unless they have values, whatever the index
};

// An instruction as seen from a call; no call: from the computation that is compiled.
struct Seen {
  const CallFrame* frame = nullptr;
  const Instruction* instruction = nullptr;

  bool operator==(const Seen&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Seen& seen) {
    return H::combine(std::move(h), seen.frame, seen.instruction);
  }
};

// An array constant inside a fused computation has no buffer: it is data of the kernel.
bool IsKernelData(const Instruction& instruction);

class Walks {
 public:
  // The values of an instruction come from memory: one row-major array per leaf.
  void AddSource(Seen source) { sources_.insert(source); }
  bool IsSource(Seen seen) const { return sources_.contains(seen); }

  const CallFrame* NewFrame(CallFrame frame);
  // The frame of the computation that a fusion or a call runs; the same one each time.
  const CallFrame* CalleeFrame(Seen caller);

  // True if the instruction and all that it reads up to sources can be walked by one index.
  bool CanWalkLinearly(Seen seen);
  // True if they can be walked with lanes along `lane_dim` of the instruction.
  bool CanWalkLanes(Seen seen, int lane_dim);

  // The instruction that made a tuple: one within a tuple that is built in the kernel has no
  // elements of its own.
  Seen TupleBehind(Seen tuple) const;

 private:
  // Looks through parameters, up to a tuple that is in memory or is built in the kernel.
  Seen TupleOrSource(Seen tuple) const;
  bool FindLinear(Seen seen);
  bool FindLanes(Seen seen, int lane_dim);

  std::deque<CallFrame> frames_;
  absl::flat_hash_set<Seen> sources_;
  absl::flat_hash_map<Seen, const CallFrame*> callee_frames_;
  absl::flat_hash_map<std::pair<Seen, int>, bool> known_;
  int depth_ = 0;
};

}  // namespace assay
