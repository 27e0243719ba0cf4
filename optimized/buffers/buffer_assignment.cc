// Starts planning at the entry, whose parameters and results are the caller's.
#include "optimized/buffers/buffer_assignment.h"

#include "optimized/buffers/frame_planner.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

BufferAssignment::~BufferAssignment() = default;

namespace {

// The number of a leaf among those of `shape`; -1: there is none.
int LeafAt(const Shape& shape, absl::Span<const int64_t> wanted) {
  int at = 0, found = -1;
  ForEachLeaf(shape, [&](const Shape&, absl::Span<const int64_t> index) {
    if (index == wanted) found = at;
    ++at;
  });
  return found;
}

}  // namespace

// The parameter's leaf that each leaf of the result replaces, by the module's aliases: {parameter,
// leaf} by leaf of the result.
absl::flat_hash_map<int, std::pair<int64_t, int>> BufferAssignment::Donations(const Module& module,
                                                                              Gates& gates) {
  absl::flat_hash_map<int, std::pair<int64_t, int>> donations;
  const Computation* entry = module.entry();
  for (const InputOutputAlias& alias : module.config().input_output_alias) {
    if (alias.parameter < 0 || alias.parameter >= entry->parameter_count()) continue;
    const Instruction* parameter = entry->parameter(alias.parameter);
    const int from = LeafAt(parameter->shape(), alias.parameter_index);
    const int to = LeafAt(entry->root()->shape(), alias.output_index);
    if (from < 0 || to < 0) continue;
    const Shape given = LeavesOf(parameter->shape())[static_cast<size_t>(from)];
    const Shape made = LeavesOf(entry->root()->shape())[static_cast<size_t>(to)];
    if (!given.IsArray() || !made.IsArray() || given.ByteSize() != made.ByteSize()) continue;
    // An alias that must be is no decision.
    if (!alias.must_alias && !gates.Allow(DecisionKind::kBuffer, "donate-argument", parameter)) {
      continue;
    }
    donations[to] = {alias.parameter, from};
  }
  return donations;
}

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
  const auto donations = Donations(module, gates);
  for (const Shape& leaf : LeavesOf(module.entry()->root()->shape())) {
    const int k = all->result_leaves_++;
    const auto donated = donations.find(k);
    if (donated != donations.end()) {
      const auto& [parameter, number] = donated->second;
      request.destinations.push_back(request.parameters[parameter][number]);
      all->result_entries_.push_back(all->buffers_[request.destinations.back()].table_index);
      continue;
    }
    Buffer buffer;
    buffer.bytes = leaf.IsArray() ? leaf.ByteSize() : 0;
    buffer.table_index = all->first_result() + k;
    all->result_entries_.push_back(buffer.table_index);
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

std::vector<std::string> BufferAssignment::CopyTexts() const {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<Copy>& copies, const std::string& where) {
    for (const Copy& copy : copies) {
      lines.push_back(StrCat("copy of ", copy.value->name(), " to ", where, ": ", copy.why, "; ",
                             copy.bytes, " bytes"));
    }
  };
  for (const auto& frame : frames_) {
    for (const Step& step : frame->steps) {
      const auto before = frame->copies_before.find(step.instruction);
      if (before != frame->copies_before.end()) {
        add(before->second, StrCat("the state of ", step.instruction->name()));
      }
    }
    add(frame->final_copies, StrCat("the results of ", frame->computation->name()));
  }
  return lines;
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
