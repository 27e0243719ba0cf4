// Collectives. Documents: operation semantics 15.1, hlo-format 4.0.7, 4.3.
#include "reference/devices/collectives.h"

#include <algorithm>

#include "reference/bounds/elements.h"
#include "reference/devices/permute_slices.h"
#include "reference/ops/reduction/fold.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay::reference {
namespace {

using Members = std::vector<int64_t>;

template <typename... Parts>
absl::Status Rejected(const OpContext& op, const Parts&... parts) {
  return MakeError(ErrorClass::kRejected, StrCat(op.instruction.name(), ": ", parts...));
}

// ---- Moving parts of arrays.

// Steps [from_start, from_start + size) of dimension `d` of `from`, all of the other dimensions.
void CopyBlock(const Array& from, int64_t from_start, Array& to, int64_t to_start, int64_t d,
               int64_t size) {
  const Shape &source = from.literal.shape(), &target = to.literal.shape();
  int64_t inner = 1, outer = 1;
  for (int64_t i = 0; i < d; ++i) outer *= source.dimension(i);
  for (int64_t i = d + 1; i < source.rank(); ++i) inner *= source.dimension(i);
  const int64_t run = size * inner;
  const size_t width = StorageBytes(source.element_type());
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t at = (o * source.dimension(d) + from_start) * inner;
    const int64_t onto = (o * target.dimension(d) + to_start) * inner;
    if (run > 0) {
      std::memcpy(to.literal.bytes().data() + onto * width,
                  from.literal.bytes().data() + at * width, run * width);
    }
    if (from.Certain() && to.Certain()) continue;
    for (int64_t i = 0; i < run; ++i) MoveBound(from, at + i, to, onto + i);
  }
}

absl::StatusOr<Array> NewArray(Interpreter& interpreter, const Shape& shape) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  return Array{Literal(shape)};
}

// ---- What a group makes of its members' operands. `shape` is that of the result, one array.

struct Exchange {
  Interpreter& interpreter;
  const OpContext& op;
  const Shape& shape;
  const Members& members;
  std::vector<const Value*> given;  // by member
};
using Results = std::vector<Value>;  // by member

absl::StatusOr<Results> AllReduce(const Exchange& exchange) {
  ASSAY_ASSIGN_OR_RETURN(
      Value sum, CombineMembers(exchange.interpreter, exchange.op, exchange.shape, exchange.given));
  return Results(exchange.given.size(), sum);
}

absl::StatusOr<Results> ReduceScatter(const Exchange& exchange) {
  const Shape& whole = exchange.given[0]->array->literal.shape();
  ASSAY_ASSIGN_OR_RETURN(Value sum,
                         CombineMembers(exchange.interpreter, exchange.op, whole, exchange.given));
  const int64_t d = exchange.op.instruction.attributes().Integers(Attr::kDimension)[0];
  const int64_t block = exchange.shape.dimension(d);
  if (block * static_cast<int64_t>(exchange.given.size()) != whole.dimension(d)) {
    return Rejected(exchange.op, "dimension ", d, " of size ", whole.dimension(d),
                    " is not split into ", exchange.given.size(), " blocks of ", block);
  }
  Results results;
  for (size_t m = 0; m < exchange.given.size(); ++m) {
    ASSAY_ASSIGN_OR_RETURN(Array part, NewArray(exchange.interpreter, exchange.shape));
    CopyBlock(*sum.array, static_cast<int64_t>(m) * block, part, 0, d, block);
    results.push_back(MakeValue(std::move(part), exchange.interpreter.memory()));
  }
  return results;
}

absl::StatusOr<Results> AllGather(const Exchange& exchange) {
  const int64_t d = exchange.op.instruction.attributes().Integers(Attr::kDimension)[0];
  const int64_t block = exchange.given[0]->array->literal.shape().dimension(d);
  if (block * static_cast<int64_t>(exchange.given.size()) != exchange.shape.dimension(d)) {
    return Rejected(exchange.op, exchange.given.size(), " members with ", block,
                    " each do not give dimension ", d, " of size ", exchange.shape.dimension(d));
  }
  ASSAY_ASSIGN_OR_RETURN(Array all, NewArray(exchange.interpreter, exchange.shape));
  for (size_t m = 0; m < exchange.given.size(); ++m)
    CopyBlock(*exchange.given[m]->array, 0, all, static_cast<int64_t>(m) * block, d, block);
  return Results(exchange.given.size(), MakeValue(std::move(all), exchange.interpreter.memory()));
}

// Block i of every member goes to member i.
absl::StatusOr<Results> AllToAll(const Exchange& exchange) {
  const int64_t d = exchange.op.instruction.attributes().Integers(Attr::kDimension)[0];
  const auto count = static_cast<int64_t>(exchange.given.size());
  const int64_t size = exchange.shape.dimension(d);
  if (size % count != 0) {
    return Rejected(exchange.op, "dimension ", d, " of size ", size, " is not divisible by the ",
                    count, " members");
  }
  Results results;
  for (int64_t m = 0; m < count; ++m) {
    ASSAY_ASSIGN_OR_RETURN(Array part, NewArray(exchange.interpreter, exchange.shape));
    for (int64_t from = 0; from < count; ++from) {
      CopyBlock(*exchange.given[from]->array, m * (size / count), part, from * (size / count), d,
                size / count);
    }
    results.push_back(MakeValue(std::move(part), exchange.interpreter.memory()));
  }
  return results;
}

// Who is no target gets zeros.
absl::StatusOr<Results> Permute(const Exchange& exchange) {
  DeviceMesh& mesh = exchange.interpreter.device().mesh();
  const auto pairs =
      ProcessPairs(exchange.op.instruction.attributes(), mesh.replicas(), mesh.partitions());
  if (!pairs.ok()) return Rejected(exchange.op, ToStd(pairs.status().message()));
  Results results(exchange.given.size());
  for (const auto& [source, target] : *pairs) results[target] = *exchange.given[source];
  for (Value& result : results) {
    if (result.array != nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(Array zeros, NewArray(exchange.interpreter, exchange.shape));
    result = MakeValue(std::move(zeros), exchange.interpreter.memory());
  }
  return results;
}

absl::StatusOr<Results> Broadcast(const Exchange& exchange) {
  return Results(exchange.given.size(), *exchange.given[0]);
}

// ---- Ops with operands that belong together.

absl::StatusOr<std::vector<int64_t>> CertainIntegers(const OpContext& op, const Value& value) {
  if (!value.array->Certain())
    return Inconclusive(StrCat("the operands of ", op.instruction.name(), " depend on rounding"));
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < value.array->literal.element_count(); ++i)
    integers.push_back(value.array->literal.GetInteger(i));
  return integers;
}

// Each member sends rows [input_offsets[j], + send_sizes[j]) of its input to member j, which has
// them from row output_offsets[j] of the sender on. With several updates per member, those for
// member j follow each other.
absl::StatusOr<std::vector<std::vector<Value>>> RaggedAllToAll(
    Interpreter& interpreter, const OpContext& op, const std::vector<std::vector<Value>>& given) {
  const size_t count = given.size();
  std::vector<std::vector<std::vector<int64_t>>> numbers(count);
  for (size_t m = 0; m < count; ++m) {
    for (size_t k = 2; k < 6; ++k) {
      ASSAY_ASSIGN_OR_RETURN(std::vector<int64_t> list, CertainIntegers(op, given[m][k]));
      if (list.size() % count != 0) {
        return Rejected(op, "operand ", k, " has ", list.size(), " entries for a group of ", count);
      }
      numbers[m].push_back(std::move(list));
    }
  }
  std::vector<Array> outputs;
  for (size_t m = 0; m < count; ++m) {
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
    outputs.push_back(*given[m][1].array);
  }
  auto rows = [](const Array& array) { return array.literal.shape().dimension(0); };
  for (size_t sender = 0; sender < count; ++sender) {
    const auto& [from, size, onto, received] =
        std::tie(numbers[sender][0], numbers[sender][1], numbers[sender][2], numbers[sender][3]);
    const size_t updates = from.size() / count;
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t receiver = i / updates;
      const Array& input = *given[sender][0].array;
      Array& output = outputs[receiver];
      const int64_t expected = numbers[receiver][3][sender * updates + i % updates];
      if (size[i] != expected) {
        return Rejected(op, "member ", sender, " sends ", size[i], " rows to member ", receiver,
                        ", which expects ", expected);
      }
      if (size[i] < 0 || from[i] < 0 || onto[i] < 0 || size[i] > rows(input) ||
          from[i] > rows(input) - size[i] || size[i] > rows(output) ||
          onto[i] > rows(output) - size[i]) {
        return Rejected(op, "member ", sender, " sends rows [", from[i], ", + ", size[i], ") of ",
                        rows(input), " to row ", onto[i], " of ", rows(output), " of member ",
                        receiver);
      }
      CopyBlock(input, from[i], output, onto[i], 0, size[i]);
    }
  }
  std::vector<std::vector<Value>> results;
  for (Array& output : outputs)
    results.push_back({MakeValue(std::move(output), interpreter.memory())});
  return results;
}

// Operand k is that of the member whose number the last operand has at k.
absl::StatusOr<std::vector<std::vector<Value>>> BroadcastFromRoots(
    const OpContext& op, const std::vector<std::vector<Value>>& given) {
  std::vector<Value> chosen;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> roots, CertainIntegers(op, given[0].back()));
  for (const std::vector<Value>& operands : given) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> others, CertainIntegers(op, operands.back()));
    if (others != roots) return Rejected(op, "the members of a group name different roots");
  }
  for (size_t k = 0; k < roots.size(); ++k) {
    if (roots[k] < 0 || roots[k] >= static_cast<int64_t>(given.size()))
      return Rejected(op, "root ", roots[k], " is not in [0, ", given.size(), ")");
    chosen.push_back(given[roots[k]][k]);
  }
  return std::vector<std::vector<Value>>(given.size(), chosen);
}

// Element j of member i's result is operand i of member j.
std::vector<std::vector<Value>> ExchangeOperands(const std::vector<std::vector<Value>>& given) {
  std::vector<std::vector<Value>> results(given.size());
  for (size_t i = 0; i < given.size(); ++i)
    for (const std::vector<Value>& operands : given) results[i].push_back(operands[i]);
  return results;
}

// ---- All collectives.

using ExchangeFn = absl::StatusOr<Results> (*)(const Exchange& exchange);
struct CollectiveRow {
  Opcode opcode;
  ExchangeFn exchange;  // operand by operand
};
constexpr CollectiveRow kCollectives[] = {
    {Opcode::kAllReduce, AllReduce},           {Opcode::kAllReduceStart, AllReduce},
    {Opcode::kReduceScatter, ReduceScatter},   {Opcode::kAllGather, AllGather},
    {Opcode::kAllGatherStart, AllGather},      {Opcode::kAllToAll, AllToAll},
    {Opcode::kCollectivePermute, Permute},     {Opcode::kCollectivePermuteStart, Permute},
    {Opcode::kCollectiveBroadcast, Broadcast},
};

// The shape of what the collective gives in the end.
const Shape& FinalShape(const OpContext& op) {
  switch (op.instruction.opcode()) {
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return op.shape.elements()[1];
    default:
      return op.shape;
  }
}

// Results of every member, an array per operand.
absl::StatusOr<std::vector<std::vector<Value>>> Combine(
    Interpreter& interpreter, const OpContext& op, const Members& members,
    const std::vector<std::vector<Value>>& given) {
  const Attributes& attributes = op.instruction.attributes();
  switch (op.instruction.opcode()) {
    case Opcode::kRaggedAllToAll:
      return RaggedAllToAll(interpreter, op, given);
    case Opcode::kCollectiveBroadcast:
      if (attributes.Flag(Attr::kHasDynamicRoot)) return BroadcastFromRoots(op, given);
      break;
    case Opcode::kAllToAll:
      if (!attributes.Has(Attr::kDimension)) {
        if (given[0].size() != given.size()) {
          return Rejected(op, "has ", given[0].size(), " operands in a group of ", given.size());
        }
        return ExchangeOperands(given);
      }
      break;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      if (attributes.Has(Attr::kPermuteSliceSizes)) {
        DeviceMesh& mesh = interpreter.device().mesh();
        const auto pairs = ProcessPairs(attributes, mesh.replicas(), mesh.partitions());
        if (!pairs.ok()) return Rejected(op, ToStd(pairs.status().message()));
        return PermuteSlices(interpreter, op, *pairs, given);
      }
      break;
    default:
      break;
  }
  ExchangeFn exchange = nullptr;
  for (const CollectiveRow& row : kCollectives)
    if (row.opcode == op.instruction.opcode()) exchange = row.exchange;
  if (exchange == nullptr) return absl::InternalError("a collective without a meaning");
  const Shape& result = FinalShape(op);
  std::vector<std::vector<Value>> results(given.size());
  for (size_t k = 0; k < given[0].size(); ++k) {
    Exchange one{interpreter, op, result.IsTuple() ? result.elements()[k] : result, members, {}};
    for (const std::vector<Value>& operands : given) one.given.push_back(&operands[k]);
    ASSAY_ASSIGN_OR_RETURN(const Results part, exchange(one));
    for (size_t m = 0; m < results.size(); ++m) results[m].push_back(part[m]);
  }
  return results;
}

// ---- Meetings.

absl::StatusOr<const DeviceMesh::Groups*> GroupsOf(DeviceMesh& mesh, const OpContext& op) {
  auto [it, is_new] = mesh.groups.try_emplace(&op.instruction);
  DeviceMesh::Groups& groups = it->second;
  if (!is_new) return &groups;
  if (op.instruction.attributes().Has(Attr::kSourceTargetPairs)) {
    // Everybody meets: who has no source gets zeros.
    groups.members.emplace_back();
    for (int64_t d = 0; d < mesh.device_count(); ++d) groups.members[0].push_back(d);
  } else {
    auto members = ProcessGroups(op.instruction.opcode(), op.instruction.attributes(),
                                 mesh.replicas(), mesh.partitions());
    if (!members.ok()) {
      mesh.groups.erase(&op.instruction);
      return Rejected(op, ToStd(members.status().message()));
    }
    groups.members = *std::move(members);
  }
  groups.group_of.assign(mesh.device_count(), {-1, 0});
  for (size_t g = 0; g < groups.members.size(); ++g) {
    for (size_t m = 0; m < groups.members[g].size(); ++m)
      groups.group_of[groups.members[g][m]] = {g, m};
  }
  return &groups;
}

// This device's place in a meeting.
struct Seat {
  std::shared_ptr<Meeting> meeting;
  size_t member;
};

absl::StatusOr<Seat> Join(Interpreter& interpreter, const OpContext& op) {
  Device& device = interpreter.device();
  DeviceMesh& mesh = device.mesh();
  ASSAY_ASSIGN_OR_RETURN(const DeviceMesh::Groups* groups, GroupsOf(mesh, op));
  const auto [group, member] = groups->group_of[device.number()];
  const int64_t execution = device.CountExecution(op.instruction);
  std::vector<Value> operands;
  for (const Value* operand : op.operands) operands.push_back(*operand);
  if (group < 0) {
    // Only a collective-broadcast has such devices.
    auto meeting = std::make_shared<Meeting>();
    for (const Value* operand : op.operands) {
      ASSAY_ASSIGN_OR_RETURN(Array zeros, NewArray(interpreter, operand->array->literal.shape()));
      meeting->results.push_back(MakeValue(std::move(zeros), interpreter.memory()));
    }
    if (op.shape.IsTuple()) meeting->results = {Value::Tuple(std::move(meeting->results))};
    meeting->complete = true;
    return Seat{std::move(meeting), 0};
  }
  auto& meetings = mesh.meetings;
  auto at = std::find_if(meetings.begin(), meetings.end(), [&](const auto& open) {
    return open->instruction == &op.instruction && open->group == group &&
           open->execution == execution;
  });
  if (at == meetings.end()) {
    auto meeting = std::make_shared<Meeting>();
    meeting->instruction = &op.instruction;
    meeting->group = group;
    meeting->execution = execution;
    meeting->members = groups->members[group];
    meeting->missing = static_cast<int64_t>(meeting->members.size());
    meeting->given.resize(meeting->members.size());
    at = meetings.insert(meetings.end(), std::move(meeting));
  }
  Seat seat{*at, static_cast<size_t>(member)};
  Meeting& meeting = *seat.meeting;
  meeting.given[seat.member] = std::move(operands);
  if (--meeting.missing > 0) return seat;
  meetings.erase(at);
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::vector<Value>> results,
                         Combine(interpreter, op, meeting.members, meeting.given));
  const bool tuple = FinalShape(op).IsTuple();
  for (std::vector<Value>& values : results)
    meeting.results.push_back(tuple ? Value::Tuple(std::move(values)) : std::move(values[0]));
  meeting.given.clear();
  meeting.complete = true;
  return seat;
}

std::string WaitsFor(const Meeting& meeting, DeviceMesh& mesh) {
  std::string text = StrCat(Name(meeting.instruction->opcode()), " ", meeting.instruction->name());
  if (meeting.execution > 0) StrAppend(&text, " (execution ", meeting.execution + 1, ")");
  StrAppend(&text, " for ");
  int named = 0;
  for (size_t m = 0; m < meeting.members.size(); ++m) {
    if (!meeting.given[m].empty()) continue;
    if (++named > 4) {
      StrAppend(&text, " and others");
      break;
    }
    StrAppend(&text, named > 1 ? " and " : "", mesh.device(meeting.members[m]).name());
  }
  return text;
}

absl::StatusOr<Value> ApplyCollective(Interpreter& interpreter, const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(const Seat seat, Join(interpreter, op));
  DeviceMesh& mesh = interpreter.device().mesh();
  ASSAY_RETURN_IF_ERROR(interpreter.device().WaitUntil(
      [&] { return seat.meeting->complete; }, [&] { return WaitsFor(*seat.meeting, mesh); }));
  return seat.meeting->results[seat.member];
}

absl::StatusOr<Value> ApplyCollectiveStart(Interpreter& interpreter, const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(const Seat seat, Join(interpreter, op));
  DeviceMesh* mesh = &interpreter.device().mesh();
  Value value;
  value.pending = std::make_shared<const Pending>(
      Pending{[seat] { return seat.meeting->complete; },
              [seat, mesh] { return WaitsFor(*seat.meeting, *mesh); },
              [seat] { return seat.meeting->results[seat.member]; }});
  return value;
}

absl::StatusOr<Value> ApplyId(Interpreter& interpreter, const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(Array id, NewArray(interpreter, op.shape));
  const Device& device = interpreter.device();
  id.literal.SetInteger(
      0, op.instruction.opcode() == Opcode::kReplicaId ? device.replica() : device.partition());
  return MakeValue(std::move(id), interpreter.memory());
}

}  // namespace

// Waits for what a start instruction has begun.
absl::StatusOr<Value> ApplyDone(Interpreter& interpreter, const OpContext& op) {
  const std::shared_ptr<const Pending> pending = op.operands[0]->pending;
  if (pending == nullptr)
    return Rejected(op, "its operand ", op.instruction.operand(0)->name(), " started nothing");
  ASSAY_RETURN_IF_ERROR(interpreter.device().WaitUntil(
      pending->ready, [&] { return StrCat(op.instruction.name(), ", ", pending->for_what()); }));
  return pending->take();
}

absl::Span<const OpEvaluation> CollectiveEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kAllGather, nullptr, nullptr, ApplyCollective},
      {Opcode::kAllGatherStart, nullptr, nullptr, ApplyCollectiveStart},
      {Opcode::kAllGatherDone, nullptr, nullptr, ApplyDone},
      {Opcode::kAllReduce, nullptr, nullptr, ApplyCollective},
      {Opcode::kAllReduceStart, nullptr, nullptr, ApplyCollectiveStart},
      {Opcode::kAllReduceDone, nullptr, nullptr, ApplyDone},
      {Opcode::kAllToAll, nullptr, nullptr, ApplyCollective},
      {Opcode::kCollectiveBroadcast, nullptr, nullptr, ApplyCollective},
      {Opcode::kCollectivePermute, nullptr, nullptr, ApplyCollective},
      {Opcode::kCollectivePermuteStart, nullptr, nullptr, ApplyCollectiveStart},
      {Opcode::kCollectivePermuteDone, nullptr, nullptr, ApplyDone},
      {Opcode::kRaggedAllToAll, nullptr, nullptr, ApplyCollective},
      {Opcode::kReduceScatter, nullptr, nullptr, ApplyCollective},
      {Opcode::kReplicaId, nullptr, nullptr, ApplyId},
      {Opcode::kPartitionId, nullptr, nullptr, ApplyId},
  };
  return kRows;
}

}  // namespace assay::reference
