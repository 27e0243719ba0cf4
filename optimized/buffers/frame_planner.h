// Plans one frame of a buffer assignment, after and with the frames that it calls: its schedule,
// its values and their last uses, a buffer for each, and the region that holds them. Internal to
// buffer_assignment.h.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/passes/util/module_util.h"

namespace assay {

// The leaves of a shape, depth first; arrays and tokens.
std::vector<Shape> LeavesOf(const Shape& shape);

// True if element i of the result depends on no other element of the operand than its element i, in
// row-major order.
bool IsElementForElement(const Instruction& instruction);

class FramePlanner {
 public:
  using BufferId = BufferAssignment::BufferId;
  using Frame = BufferAssignment::Frame;

  FramePlanner(BufferAssignment& assignment, Gates& gates, const Purity& purity, int nesting)
      : all_(assignment), gates_(gates), purity_(purity), nesting_(nesting) {}

  struct Request {
    const Computation* computation;
    std::vector<std::vector<BufferId>> parameters;
    // The result's leaves go there; empty: they may be anywhere. A buffer that holds a leaf of a
    // parameter, too, may be written when that has been read for the last time.
    std::vector<BufferId> destinations;
  };
  absl::StatusOr<const Frame*> Plan(Request request);
  int region() const { return region_; }

 private:
  static constexpr int kBeforeAll = -1;  // the time of parameters

  struct Value {
    const Instruction* def = nullptr;
    int64_t bytes = 0;
    int def_time = 0;
    int last_use = kBeforeAll;
    bool owned = false;  // may be overwritten once dead
    BufferId buffer = -1;
    BufferId destination = -1;
  };
  using ValueId = int;
  // A piece of this frame's region.
  struct Item {
    const Instruction* at;
    int start, end;
    int64_t bytes;
    BufferId buffer = -1;
    int child_region = -1;
    int64_t offset = 0;
    bool is_lent = false;  // lies in a result's memory
  };

  ValueId NewValue(Value value) {
    values_.push_back(value);
    return static_cast<ValueId>(values_.size()) - 1;
  }
  void Schedule();
  void CreateValues(const Request& request);
  std::vector<ValueId> ValuesOf(const Instruction* instruction, int time);
  void FindLastUses();
  void AssignDestinations(const Request& request);
  void StartAtDestinations(const Instruction& loop, int time);
  void LendResults(const Request& request);
  absl::Status AssignBuffers(const Instruction* instruction, int time);
  absl::Status AssignWhile(const Instruction* instruction, int time);
  absl::Status AssignBranches(const Instruction* instruction, int time);
  BufferId NewBuffer(const Instruction* at, int64_t bytes, int start);
  void Place(ValueId value, int time);
  void Occupy(BufferId buffer, const Value& value);
  bool DestinationIsFree(const Value& value, int time);
  bool ReuseOperand(const Instruction* instruction, size_t leaf, int time,
                    absl::flat_hash_set<BufferId>& taken);
  bool UpdateInPlace(const Instruction* instruction, ValueId result, int time);
  bool Dies(const Value& value, int time) const;
  absl::StatusOr<const Frame*> PlanCallee(const Instruction* instruction, int time,
                                          Request request);
  void FinalCopies(const Request& request);
  std::string_view WhyLoopStateIsCopied(const Value& init, const Value& state, bool alone) const;
  std::string_view WhyResultIsCopied(const Value& value, BufferId to) const;
  int64_t Room(const Item& item) const { return all_.Align(std::max<int64_t>(item.bytes, 1)); }
  int64_t LowestFit(const Item& item, const std::vector<const Item*>& placed, bool touches) const;
  std::vector<Item*> PackingOrder();
  void PackRegion();
  std::vector<BufferId> BuffersOf(const std::vector<ValueId>& values) const {
    std::vector<BufferId> result;
    for (ValueId v : values) result.push_back(v < 0 ? -1 : values_[v].buffer);
    return result;
  }

  BufferAssignment& all_;
  Gates& gates_;
  const Purity& purity_;
  int nesting_;
  int region_ = -1;
  Frame* frame_ = nullptr;
  const Computation* computation_ = nullptr;
  std::vector<const Instruction*> schedule_;
  std::vector<Value> values_;
  absl::flat_hash_map<const Instruction*, std::vector<ValueId>> of_;
  absl::flat_hash_map<const Instruction*, size_t> step_of_;
  absl::flat_hash_map<BufferId, int> busy_until_;  // latest use of anything that lives in a buffer
  absl::flat_hash_map<BufferId, size_t> item_of_;  // buffers of this region
  absl::flat_hash_set<BufferId> loop_state_;       // destinations that hold a parameter too
  std::vector<Item> items_;
};

}  // namespace assay
