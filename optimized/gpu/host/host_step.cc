// The table of host steps. Their functions are those that code for the CPU calls.
#include "optimized/gpu/host/host_step.h"

#include <cstring>
#include <optional>

#include "optimized/cpu/kernels/custom_calls.h"
#include "optimized/gpu/library/host_library.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/expanders/top_k_expander.h"
#include "optimized/plan/support.h"
#include "optimized/runtime/host_queues.h"
#include "optimized/runtime/linear_algebra/lapack.h"
#include "optimized/runtime/random.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

absl::Status TakeFromQueue(const Instruction& infeed, const HostArrays& arrays) {
  const std::string shape = infeed.shape().elements()[0].ToString(/*with_layout=*/true);
  TakeInfeed(&arrays.context, infeed.name().c_str(), shape.c_str(), arrays.results.data());
  return absl::OkStatus();
}

absl::Status SendToQueue(const Instruction& outfeed, const HostArrays& arrays) {
  const std::string shape = outfeed.operand(0)->shape().ToString();
  SendOutfeed(&arrays.context, outfeed.name().c_str(), shape.c_str(), arrays.operands[0].data());
  return absl::OkStatus();
}

absl::Status Collective(const Instruction& collective, const HostArrays& arrays) {
  std::vector<const void*> operands;
  for (const std::vector<const void*>& leaves : arrays.operands) operands.push_back(leaves[0]);
  RunCollective(&arrays.context, CollectiveNumber(collective), operands.data(),
                arrays.results.data(), arrays.combine);
  return absl::OkStatus();
}

absl::Status DeviceNumber(const Instruction& id, const HostArrays& arrays) {
  auto* result = static_cast<uint32_t*>(arrays.results[0]);
  (id.opcode() == Opcode::kReplicaId ? ReplicaId : PartitionId)(&arrays.context, result);
  return absl::OkStatus();
}

absl::Status RandomState(const Instruction& state, const HostArrays& arrays) {
  NextRandomState(&arrays.context, static_cast<uint64_t*>(arrays.results[0]),
                  static_cast<uint64_t>(state.attributes().Integer(Attr::kDelta)));
  return absl::OkStatus();
}

absl::Status Factorise(const Instruction& custom_call, const HostArrays& arrays) {
  const std::optional<LapackCall> call = LapackCallOf(custom_call);
  if (!call.has_value()) {
    return MakeError(ErrorClass::kUnsupported, StrCat("gpu: no code for ", custom_call.ToString()));
  }
  std::vector<const void*> operands;
  for (size_t k = call->first_operand; k < arrays.operands.size(); ++k)
    operands.push_back(arrays.operands[k][0]);
  if (call->factor.has_value()) operands.push_back(arrays.operands[*call->factor][0]);
  std::vector<void*> results;
  for (int64_t k : call->results) results.push_back(arrays.results[k]);
  for (int64_t k : call->cleared) {
    const int64_t bytes = custom_call.shape().elements()[k].ByteSize();
    if (bytes > 0) std::memset(arrays.results[k], 0, static_cast<size_t>(bytes));
  }
  RunLapack(&arrays.context, &call->plan, operands.data(), results.data());
  return absl::OkStatus();
}

absl::Status CallByName(const Instruction& custom_call, const HostArrays& arrays) {
  if (!IsLibraryCall(custom_call)) return Factorise(custom_call, arrays);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(custom_call));
  std::vector<const void*> operands;
  for (const std::vector<const void*>& leaves : arrays.operands) operands.push_back(leaves[0]);
  RunOnHost(custom_call, call, operands, arrays.results);
  return absl::OkStatus();
}

std::string IsKnownByName(const Instruction& call) {
  const bool known =
      IsTopKCall(call) || LapackCallOf(call).has_value() || ReadLibraryCall(call).ok();
  return known ? "" : "this custom call";
}

struct Row {
  Opcode opcode;
  std::string_view name;
  absl::Status (*work)(const Instruction& instruction, const HostArrays& arrays);
  std::string (*missing)(const Instruction& instruction) = nullptr;
};
constexpr Row kRows[] = {
    {Opcode::kCustomCall, "assay_lapack", CallByName, IsKnownByName},
    {Opcode::kInfeed, "assay_infeed", TakeFromQueue},
    {Opcode::kOutfeed, "assay_outfeed", SendToQueue},
    {Opcode::kPartitionId, "assay_partition_id", DeviceNumber},
    {Opcode::kReplicaId, "assay_replica_id", DeviceNumber},
    {Opcode::kRngGetAndUpdateState, "assay_next_random_state", RandomState},
};
constexpr Row kCollective{Opcode::kAllReduce, "assay_collective", Collective, MovesWholeArrays};

const Row* FindRow(Opcode opcode) {
  if (IsCollective(opcode)) return &kCollective;
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return &row;
  }
  return nullptr;
}

}  // namespace

std::string HostCallOf(Opcode opcode) {
  const Row* row = FindRow(opcode);
  return row == nullptr ? "" : std::string(row->name);
}

std::string MissingHostForm(const Instruction& instruction) {
  const Row* row = FindRow(instruction.opcode());
  return row == nullptr || row->missing == nullptr ? "" : row->missing(instruction);
}

HostWork HostWorkOf(const Instruction& instruction) {
  const Row* row = FindRow(instruction.opcode());
  if (row == nullptr) return nullptr;
  return [row, &instruction](const HostArrays& arrays) { return row->work(instruction, arrays); };
}

}  // namespace assay::gpu
