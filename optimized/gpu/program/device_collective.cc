// Blocks of arrays to calls of NCCL. What all members send each other at once is a group of sends
// and receives.
#include "optimized/gpu/program/device_collective.h"

#include <algorithm>
#include <utility>

#include "optimized/analysis/walks/reductions.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/util/reduction_util.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"

namespace assay::gpu {
namespace {

using Kind = CollectivePlan::Kind;
constexpr int64_t kMostCalls = 512;  // of one array

// A type that NCCL reduces, as which of its own.
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

// Opcodes of reducers, by what the elements are, and NCCL's operation. Truth values are bytes of 0
// or 1.
enum class Elements : uint8_t { kInteger, kFloat, kPred };
struct OperationRow {
  Opcode opcode;
  Elements elements;
  int nccl;
};
constexpr OperationRow kOperations[] = {
    {Opcode::kAdd, Elements::kInteger, kNcclSum},
    {Opcode::kMultiply, Elements::kInteger, kNcclProd},
    {Opcode::kMaximum, Elements::kInteger, kNcclMax},
    {Opcode::kMinimum, Elements::kInteger, kNcclMin},
    {Opcode::kAdd, Elements::kFloat, kNcclSum},
    {Opcode::kMultiply, Elements::kFloat, kNcclProd},
    {Opcode::kOr, Elements::kPred, kNcclMax},
    {Opcode::kAnd, Elements::kPred, kNcclMin},
};
Elements ElementsOf(ElementType type) {
  if (IsPred(type)) return Elements::kPred;
  return IsInteger(type) ? Elements::kInteger : Elements::kFloat;
}

std::optional<NcclForm> ReductionForm(const Instruction& collective, const Profile& profile,
                                      std::string& why) {
  const auto no = [&why](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  const ElementType type = collective.operand(0)->shape().element_type();
  for (const Instruction* operand : collective.operands())
    if (operand->shape().element_type() != type) return no("its operands have several types");
  const auto* const row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                       [&](const TypeRow& each) { return each.type == type; });
  if (row == std::end(kTypes)) return no(StrCat("NCCL reduces no ", Name(type)));
  const Computation& function = *collective.callees()[0];
  const std::optional<Opcode> opcode = RecognisedCombiner(function);
  if (!opcode.has_value()) return no("NCCL has no such function");
  const Elements elements = ElementsOf(type);
  const auto* const operation =
      std::find_if(std::begin(kOperations), std::end(kOperations), [&](const OperationRow& each) {
        return each.opcode == *opcode && each.elements == elements;
      });
  if (operation == std::end(kOperations)) {
    const bool is_extreme = *opcode == Opcode::kMaximum || *opcode == Opcode::kMinimum;
    return no(elements == Elements::kFloat && is_extreme
                  ? StrCat("NCCL's ", Name(*opcode), " of floats drops NaN")
                  : StrCat("NCCL has no ", Name(*opcode), " of ", Name(type)));
  }
  if (elements == Elements::kFloat && !MayRegroup(&function, type, profile))
    return no("NCCL adds in an order of its own, which the profile does not grant this function");
  return NcclForm{row->nccl, operation->nccl, row->unit};
}

}  // namespace

std::optional<NcclForm> NcclFormOf(const Instruction& collective, const CollectivePlan& plan,
                                   const Profile& profile, std::string& why) {
  if (plan.kind == Kind::kTakeFromRoot || plan.kind == Kind::kRagged) {
    why = "who sends what is known from the data alone";
    return std::nullopt;
  }
  size_t members = 1;
  for (const std::vector<int64_t>& sources : plan.meeting.sources) {
    if (plan.kind != Kind::kTake && sources.empty()) {
      why = "some devices are in no group";
      return std::nullopt;
    }
    members = std::max(members, sources.size());
  }
  for (const CollectivePlan::Array& array : plan.arrays) {
    if (array.outer * static_cast<int64_t>(members) <= kMostCalls) continue;
    why = StrCat("an array goes in ", array.outer, " pieces");
    return std::nullopt;
  }
  if (plan.kind == Kind::kReduce) return ReductionForm(collective, profile, why);
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
  std::string& why = why_not_[number];
  if (at_place > 1) {
    why = "devices may meet in another one of its channel";
    return chosen;
  }
  chosen = NcclFormOf(collective, plan, profile_, why);
  if (chosen.has_value() && !gates_.Allow(DecisionKind::kLibrary, "call-library", &collective)) {
    chosen.reset();
    why = "refused";
  }
  return chosen;
}

const std::string& CollectiveChooser::WhyNot(const Instruction& collective) {
  return why_not_[CollectiveNumber(collective)];
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
