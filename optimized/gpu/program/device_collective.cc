// Blocks of arrays to calls of NCCL. What all members send each other at once is a group of sends
// and receives.
#include "optimized/gpu/program/device_collective.h"

#include <algorithm>
#include <utility>

#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/util/reduction_util.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"

namespace assay::gpu {
namespace {

using Kind = CollectivePlan::Kind;
constexpr int64_t kMostCalls = 512;  // of one array

// A type that NCCL reduces. Truth values are bytes of 0 or 1.
struct TypeRow {
  ElementType type;
  int nccl;
  int64_t unit;
};
constexpr TypeRow kTypes[] = {
    {ElementType::kS8, kNcclInt8, 1},     {ElementType::kU8, kNcclUint8, 1},
    {ElementType::kS32, kNcclInt32, 4},   {ElementType::kU32, kNcclUint32, 4},
    {ElementType::kS64, kNcclInt64, 8},   {ElementType::kU64, kNcclUint64, 8},
    {ElementType::kF16, kNcclFloat16, 2}, {ElementType::kBF16, kNcclBFloat16, 2},
    {ElementType::kF32, kNcclFloat32, 4}, {ElementType::kF64, kNcclFloat64, 8},
    {ElementType::kPred, kNcclUint8, 1},
};

// The operation by which NCCL does what the function does.
std::optional<int> OperationOf(const Computation& function, ElementType type) {
  const Instruction& root = *function.root();
  if (root.operand_count() != 2 || function.parameters().size() != 2) return std::nullopt;
  const Instruction *a = function.parameters()[0], *b = function.parameters()[1];
  const bool is_plain = (root.operand(0) == a && root.operand(1) == b) ||
                        (root.operand(0) == b && root.operand(1) == a);
  if (!is_plain) return std::nullopt;
  const bool is_integer = IsInteger(type);
  switch (root.opcode()) {
    case Opcode::kAdd:
      return IsPred(type) ? std::nullopt : std::optional(kNcclSum);
    case Opcode::kMultiply:
      return IsPred(type) ? std::nullopt : std::optional(kNcclProd);
    case Opcode::kMaximum:
      return is_integer ? std::optional(kNcclMax) : std::nullopt;
    case Opcode::kMinimum:
      return is_integer ? std::optional(kNcclMin) : std::nullopt;
    case Opcode::kOr:
      return IsPred(type) ? std::optional(kNcclMax) : std::nullopt;
    case Opcode::kAnd:
      return IsPred(type) ? std::optional(kNcclMin) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<NcclForm> ReductionForm(const Instruction& collective, const Profile& profile) {
  const ElementType type = collective.operand(0)->shape().element_type();
  for (const Instruction* operand : collective.operands())
    if (operand->shape().element_type() != type) return std::nullopt;
  const auto* const row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                       [&](const TypeRow& each) { return each.type == type; });
  if (row == std::end(kTypes) || collective.callees().size() != 1) return std::nullopt;
  const Computation& function = *collective.callees()[0];
  const std::optional<int> operation = OperationOf(function, type);
  if (!operation.has_value()) return std::nullopt;
  // NCCL adds in an order of its own.
  if (!IsPred(type) && !IsInteger(type) && !MayRegroup(&function, type, profile))
    return std::nullopt;
  return NcclForm{row->nccl, *operation, row->unit};
}

}  // namespace

std::optional<NcclForm> NcclFormOf(const Instruction& collective, const CollectivePlan& plan,
                                   const Profile& profile) {
  if (plan.kind == Kind::kTakeFromRoot || plan.kind == Kind::kRagged) return std::nullopt;
  size_t members = 1;
  for (const std::vector<int64_t>& sources : plan.meeting.sources) {
    if (plan.kind != Kind::kTake && sources.empty()) return std::nullopt;
    members = std::max(members, sources.size());
  }
  for (const CollectivePlan::Array& array : plan.arrays)
    if (array.outer * static_cast<int64_t>(members) > kMostCalls) return std::nullopt;
  if (plan.kind == Kind::kReduce) return ReductionForm(collective, profile);
  return NcclForm();
}

std::optional<NcclForm> CollectiveChooser::Choose(const Instruction& collective) {
  const int64_t number = CollectiveNumber(collective);
  const auto found = chosen_.find(number);
  if (found != chosen_.end()) return found->second;
  std::optional<NcclForm>& chosen = chosen_[number];
  const CollectivePlan& plan = plans_.at(static_cast<size_t>(number));
  // Devices that may meet in one of several collectives go over the host, which holds them against
  // each other.
  const auto at_place =
      std::count_if(plans_.begin(), plans_.end(), [&](const CollectivePlan& other) {
        return !other.position.empty() && other.place == plan.place;
      });
  if (at_place > 1) return chosen;
  chosen = NcclFormOf(collective, plan, profile_);
  if (chosen.has_value() && !gates_.Allow(DecisionKind::kLibrary, "call-library", &collective))
    chosen.reset();
  return chosen;
}

NcclCommunicators::Clique CliqueOf(const CollectivePlan& plan, int64_t device) {
  if (plan.kind != Kind::kTake) return plan.meeting.sources[static_cast<size_t>(device)];
  NcclCommunicators::Clique all;
  for (size_t d = 0; d < plan.meeting.sources.size(); ++d) all.push_back(static_cast<int64_t>(d));
  return all;
}

std::vector<NcclCommunicators::Clique> CliquesOf(const CollectivePlan& plan) {
  std::vector<NcclCommunicators::Clique> cliques;
  for (size_t d = 0; d < plan.meeting.sources.size(); ++d) {
    NcclCommunicators::Clique clique = CliqueOf(plan, static_cast<int64_t>(d));
    if (clique.size() > 1 && std::find(cliques.begin(), cliques.end(), clique) == cliques.end())
      cliques.push_back(std::move(clique));
  }
  return cliques;
}

namespace {

// One device's part in one execution.
class NcclPart {
 public:
  NcclPart(const NcclCommunicators& communicators, const CollectivePlan& plan, const NcclForm& form,
           int64_t device, const CollectiveArrays& arrays)
      : nccl_(communicators.nccl()),
        plan_(plan),
        form_(form),
        device_(device),
        arrays_(arrays),
        sources_(plan.meeting.sources[static_cast<size_t>(device)]),
        readers_(plan.meeting.readers[static_cast<size_t>(device)]),
        operands_(arrays.operands.begin(), arrays.operands.end()) {}

  // Does what is not NCCL's: moves operands away that lie where results go, clears, copies.
  absl::Status Prepare() {
    if (OverlapsResults()) ASSAY_RETURN_IF_ERROR(MoveOperandsAway());
    for (size_t k = 0; k < plan_.arrays.size(); ++k) {
      const auto bytes = static_cast<uint64_t>(plan_.arrays[k].outer * plan_.arrays[k].row);
      if (bytes == 0) continue;
      if (sources_.empty()) ASSAY_RETURN_IF_ERROR(arrays_.clear(arrays_.results[k], bytes));
      if (IsAlone() || (plan_.kind == Kind::kTake && sources_.size() == 1 && Takes(device_)))
        ASSAY_RETURN_IF_ERROR(arrays_.copy(arrays_.results[k], operands_[k], bytes));
    }
    return absl::OkStatus();
  }
  // True if no other device takes part in what this one does.
  bool IsAlone() const {
    return plan_.kind != Kind::kTake && sources_.size() == 1 && sources_[0] == device_;
  }
  absl::Status Put(NcclComm comm) {
    for (size_t k = 0; k < plan_.arrays.size(); ++k) {
      const CollectivePlan::Array& array = plan_.arrays[k];
      if (array.outer * array.block == 0) continue;
      ASSAY_RETURN_IF_ERROR(PutArray(comm, k, array));
    }
    return absl::OkStatus();
  }

 private:
  bool Takes(int64_t source) const {
    return std::find(sources_.begin(), sources_.end(), source) != sources_.end();
  }
  uint64_t BytesOf(size_t operand) const {
    return static_cast<uint64_t>(plan_.meeting.operand_bytes[operand]);
  }
  uint64_t ResultBytes(size_t k) const {
    const CollectivePlan::Array& a = plan_.arrays[k];
    const bool is_block = plan_.kind == Kind::kReduce && a.block != a.row;
    return static_cast<uint64_t>(a.outer * (is_block ? a.block : a.row));
  }
  bool OverlapsResults() const {
    for (size_t i = 0; i < operands_.size(); ++i) {
      for (size_t k = 0; k < plan_.arrays.size(); ++k) {
        const uint64_t from = operands_[i], to = arrays_.results[k];
        if (from >= to + ResultBytes(k) || to >= from + BytesOf(i)) continue;
        const bool in_place = plan_.kind == Kind::kReduce && i == k && from == to &&
                              plan_.arrays[k].block == plan_.arrays[k].row;
        if (!in_place) return true;
      }
    }
    return false;
  }
  absl::Status MoveOperandsAway() {
    uint64_t bytes = 0;
    constexpr uint64_t kAlignment = 256;
    const auto room = [&](size_t i) {
      return (BytesOf(i) + kAlignment - 1) / kAlignment * kAlignment;
    };
    for (size_t i = 0; i < operands_.size(); ++i) bytes += room(i);
    ASSAY_ASSIGN_OR_RETURN(uint64_t place, arrays_.workspace(bytes));
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (BytesOf(i) > 0) ASSAY_RETURN_IF_ERROR(arrays_.copy(place, operands_[i], BytesOf(i)));
      operands_[i] = place;
      place += room(i);
    }
    return absl::OkStatus();
  }

  static void* At(uint64_t address, int64_t offset) {
    return reinterpret_cast<void*>(address + static_cast<uint64_t>(offset));
  }
  // `offset`: of the place in the operand, and in the result.
  absl::Status Send(NcclComm comm, size_t operand, int64_t offset, int64_t bytes,
                    size_t peer) const {
    return nccl_.Check(
        nccl_.calls().ncclSend(At(operands_[operand], offset), static_cast<size_t>(bytes),
                               kNcclUint8, static_cast<int>(peer), comm, arrays_.stream),
        StrCat("sending in ", plan_.meeting.name));
  }
  absl::Status Receive(NcclComm comm, size_t k, int64_t offset, int64_t bytes, size_t peer) const {
    return nccl_.Check(
        nccl_.calls().ncclRecv(At(arrays_.results[k], offset), static_cast<size_t>(bytes),
                               kNcclUint8, static_cast<int>(peer), comm, arrays_.stream),
        StrCat("receiving in ", plan_.meeting.name));
  }

  absl::Status PutArray(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    switch (plan_.kind) {
      case Kind::kReduce:
        return array.block == array.row ? AllReduce(comm, k, array) : Scatter(comm, k, array);
      case Kind::kGather:
        return Gather(comm, k, array);
      case Kind::kExchange:
        return Exchange(comm, k, array);
      case Kind::kExchangeOperands: {
        // To each member the operand of its place, and from each the one of ours.
        ASSAY_RETURN_IF_ERROR(Send(comm, k, 0, array.outer * array.row, k));
        return Receive(comm, k, 0, array.outer * array.row, k);
      }
      default:
        return Take(comm, k, array);
    }
  }
  absl::Status AllReduce(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    const auto count = static_cast<size_t>(array.outer * array.row / form_.unit);
    return nccl_.Check(
        nccl_.calls().ncclAllReduce(At(operands_[k], 0), At(arrays_.results[k], 0), count,
                                    form_.type, form_.operation, comm, arrays_.stream),
        plan_.meeting.name);
  }
  absl::Status Scatter(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    for (int64_t o = 0; o < array.outer; ++o) {
      ASSAY_RETURN_IF_ERROR(nccl_.Check(
          nccl_.calls().ncclReduceScatter(At(operands_[k], o * array.row),
                                          At(arrays_.results[k], o * array.block),
                                          static_cast<size_t>(array.block / form_.unit), form_.type,
                                          form_.operation, comm, arrays_.stream),
          plan_.meeting.name));
    }
    return absl::OkStatus();
  }
  absl::Status Gather(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    for (int64_t o = 0; o < array.outer; ++o) {
      ASSAY_RETURN_IF_ERROR(
          nccl_.Check(nccl_.calls().ncclAllGather(
                          At(operands_[k], o * array.block), At(arrays_.results[k], o * array.row),
                          static_cast<size_t>(array.block), kNcclUint8, comm, arrays_.stream),
                      plan_.meeting.name));
    }
    return absl::OkStatus();
  }
  absl::Status Exchange(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    for (int64_t o = 0; o < array.outer; ++o) {
      for (size_t m = 0; m < sources_.size(); ++m) {
        const int64_t at = o * array.row + static_cast<int64_t>(m) * array.block;
        ASSAY_RETURN_IF_ERROR(Send(comm, k, at, array.block, m));
        ASSAY_RETURN_IF_ERROR(Receive(comm, k, at, array.block, m));
      }
    }
    return absl::OkStatus();
  }
  // Ranks are numbers of devices; what a device has itself was copied.
  absl::Status Take(NcclComm comm, size_t k, const CollectivePlan::Array& array) const {
    const int64_t bytes = array.outer * array.row;
    for (const int64_t reader : readers_)
      if (reader != device_)
        ASSAY_RETURN_IF_ERROR(Send(comm, k, 0, bytes, static_cast<size_t>(reader)));
    for (const int64_t source : sources_)
      if (source != device_)
        ASSAY_RETURN_IF_ERROR(Receive(comm, k, 0, bytes, static_cast<size_t>(source)));
    return absl::OkStatus();
  }

  const Nccl& nccl_;
  const CollectivePlan& plan_;
  const NcclForm& form_;
  const int64_t device_;
  const CollectiveArrays& arrays_;
  const std::vector<int64_t>&sources_, &readers_;
  std::vector<uint64_t> operands_;
};

}  // namespace

absl::Status PutCollective(NcclCommunicators& communicators, const CollectivePlan& plan,
                           const NcclForm& form, int64_t device, const CollectiveArrays& arrays) {
  NcclPart part(communicators, plan, form, device, arrays);
  ASSAY_RETURN_IF_ERROR(part.Prepare());
  const NcclCommunicators::Clique clique = CliqueOf(plan, device);
  if (part.IsAlone() || clique.size() < 2) return absl::OkStatus();
  return communicators.Call(clique, device, plan.meeting.name,
                            [&](NcclComm comm) { return part.Put(comm); });
}

}  // namespace assay::gpu
