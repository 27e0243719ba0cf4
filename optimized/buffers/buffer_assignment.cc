// Starts planning at the entry, whose parameters and results are the caller's.
#include "optimized/buffers/buffer_assignment.h"

#include "optimized/buffers/frame_planner.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

BufferAssignment::~BufferAssignment() = default;

absl::StatusOr<std::unique_ptr<BufferAssignment>> BufferAssignment::Run(const Module& module,
                                                                        const MemorySpace& space,
                                                                        Gates& gates,
                                                                        int64_t memory_limit) {
  auto all = std::unique_ptr<BufferAssignment>(new BufferAssignment());
  all->alignment_ = space.alignment;
  FramePlanner::Request request;
  request.computation = module.entry();
  for (const Instruction* parameter : module.entry()->parameters()) {
    std::vector<BufferId>& leaves = request.parameters.emplace_back();
    for (const Shape& leaf : LeavesOf(parameter->shape())) {
      int entry = BufferTable::kFirstParameter + all->parameter_leaves_++;
      Buffer buffer;
      buffer.bytes = leaf.IsArray() ? leaf.ByteSize() : 0;
      buffer.table_index = entry;
      leaves.push_back(leaf.IsArray() ? all->AddBuffer(buffer) : -1);
    }
  }
  for (const Shape& leaf : LeavesOf(module.entry()->root()->shape())) {
    Buffer buffer;
    buffer.bytes = leaf.IsArray() ? leaf.ByteSize() : 0;
    buffer.table_index = all->first_result() + all->result_leaves_++;
    request.destinations.push_back(leaf.IsArray() ? all->AddBuffer(buffer) : -1);
  }
  const Purity purity(module);
  FramePlanner planner(*all, gates, purity, 0);
  ASSAY_RETURN_IF_ERROR(planner.Plan(std::move(request)).status());
  all->entry_ = all->frames_.size() - 1;
  all->arena_bytes_ = all->regions_[planner.region()].bytes;
  int64_t total = all->arena_bytes_ + static_cast<int64_t>(all->constants_.size());
  if (total > memory_limit) {
    return MakeError(ErrorClass::kOutOfMemory,
                     StrCat("cpu: the program needs ", total,
                            " bytes of temporary memory, the limit is ", memory_limit));
  }
  return all;
}

BufferSlice BufferAssignment::SliceOf(BufferId id) const {
  const Buffer& buffer = buffers_[id];
  int64_t offset = buffer.offset;
  for (int region = buffer.region; region >= 0; region = regions_[region].parent) {
    offset += regions_[region].offset;
  }
  return {buffer.table_index, offset};
}

}  // namespace assay
