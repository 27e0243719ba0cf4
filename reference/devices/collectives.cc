// Devices join the meeting of a collective; the last one computes the results of all.
#include "reference/devices/collectives.h"

#include "reference/bounds/elements.h"
#include "reference/devices/exchanges.h"
#include "reference/devices/rejection.h"
#include "spec/base/status_macros.h"
#include "spec/ops/collective_groups.h"

namespace assay::reference {
namespace {

// The process groups of a collective.
absl::StatusOr<const DeviceMesh::Groups*> GroupsOf(DeviceMesh& mesh, const OpContext& op) {
  auto [it, is_new] = mesh.groups.try_emplace(&op.instruction);
  DeviceMesh::Groups& groups = it->second;
  if (!is_new) return &groups;
  if (op.instruction.attributes().Has(Attr::kSourceTargetPairs)) {
    // All devices meet: those without a source get zeros.
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

// True if both give and take the same shapes.
bool HasSameShapes(const Instruction& a, const Instruction& b) {
  if (a.operand_count() != b.operand_count() || !Compatible(a.shape(), b.shape())) return false;
  for (int64_t k = 0; k < a.operand_count(); ++k)
    if (!Compatible(a.operand(k)->shape(), b.operand(k)->shape())) return false;
  return true;
}

// The collective by which the devices in this one are known to meet: the first of the module that
// shares its channel.
const Instruction& MeetingPlace(const Instruction& collective) {
  const Attributes& attributes = collective.attributes();
  if (!attributes.Has(Attr::kChannelId)) return collective;
  for (const Computation* computation : collective.parent()->parent()->computations()) {
    for (const Instruction* other : *computation) {
      if (other == &collective) return collective;
      if (other->opcode() == collective.opcode() && HasSameShapes(*other, collective) &&
          ShareChannel(other->attributes(), attributes))
        return *other;
    }
  }
  return collective;
}

// A device outside every group, which only a collective-broadcast has, gets zeros.
absl::StatusOr<std::shared_ptr<Meeting>> MeetingOfNobody(Interpreter& interpreter,
                                                         const OpContext& op) {
  auto meeting = std::make_shared<Meeting>();
  for (const Value* operand : op.operands) {
    const Shape& shape = operand->array->literal.shape();
    ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
    meeting->results.push_back(MakeValue(Array{Literal(shape)}, interpreter.memory()));
  }
  if (op.shape.IsTuple()) meeting->results = {Value::Tuple(std::move(meeting->results))};
  meeting->complete = true;
  return meeting;
}

// The place of a device in a meeting: its results are those of this member.
struct Place {
  std::shared_ptr<Meeting> meeting;
  size_t member;
};

// Joins the meeting of this device's group for this execution of the op; the member that comes last
// computes the results of all.
absl::StatusOr<Place> JoinMeeting(Interpreter& interpreter, const OpContext& op) {
  Device& device = interpreter.device();
  DeviceMesh& mesh = device.mesh();
  ASSAY_ASSIGN_OR_RETURN(const DeviceMesh::Groups* groups, GroupsOf(mesh, op));
  const auto [group, member] = groups->group_of[device.number()];
  const Instruction& place_of_all = MeetingPlace(op.instruction);
  const int64_t execution = device.CountExecution(place_of_all);
  if (group < 0) {
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Meeting> alone, MeetingOfNobody(interpreter, op));
    return Place{std::move(alone), 0};
  }
  const MeetingKey key(&place_of_all, group, execution);
  auto [at, is_first] = mesh.meetings.try_emplace(key);
  if (is_first) {
    at->second = std::make_shared<Meeting>();
    at->second->instruction = &op.instruction;
    at->second->group = group;
    at->second->execution = execution;
    at->second->members = groups->members[group];
    at->second->missing = static_cast<int64_t>(at->second->members.size());
    at->second->given.resize(at->second->members.size());
  }
  Place place{at->second, static_cast<size_t>(member)};
  Meeting& meeting = *place.meeting;
  for (const Value* operand : op.operands) meeting.given[place.member].push_back(*operand);
  if (--meeting.missing > 0) return place;
  mesh.meetings.erase(key);
  ASSAY_ASSIGN_OR_RETURN(ByMember results, ExchangeOperands(interpreter, op, meeting.given));
  const bool is_tuple = FinalShape(op).IsTuple();
  for (std::vector<Value>& values : results)
    meeting.results.push_back(is_tuple ? Value::Tuple(std::move(values)) : std::move(values[0]));
  meeting.given.clear();
  meeting.complete = true;
  return place;
}

// The members that the meeting waits for, as text.
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
  ASSAY_ASSIGN_OR_RETURN(const Place place, JoinMeeting(interpreter, op));
  DeviceMesh& mesh = interpreter.device().mesh();
  ASSAY_RETURN_IF_ERROR(interpreter.device().WaitUntil(
      [&] { return place.meeting->complete; }, [&] { return WaitsFor(*place.meeting, mesh); }));
  return place.meeting->results[place.member];
}

absl::StatusOr<Value> ApplyCollectiveStart(Interpreter& interpreter, const OpContext& op) {
  ASSAY_ASSIGN_OR_RETURN(const Place place, JoinMeeting(interpreter, op));
  DeviceMesh* mesh = &interpreter.device().mesh();
  // A start of an all-reduce has the shape of its result; others give what they were given first.
  const bool has_context = &FinalShape(op) != &op.shape;
  std::vector<Value> given;
  for (const Value* operand : op.operands) given.push_back(*operand);
  Value operands = given.size() == 1 ? given[0] : Value::Tuple(std::move(given));
  Value value;
  value.pending = std::make_shared<const Pending>(
      Pending{[place] { return place.meeting->complete; },
              [place, mesh] { return WaitsFor(*place.meeting, *mesh); },
              [place] { return place.meeting->results[place.member]; },
              [&interpreter, &shape = op.instruction.shape(), has_context,
               operands = std::move(operands)](const Value& result) {
                return has_context ? ContextOf(interpreter, shape, {operands, result}) : result;
              }});
  return value;
}

absl::StatusOr<Value> ApplyId(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  Array id{Literal(op.shape)};
  const Device& device = interpreter.device();
  id.literal.SetInteger(
      0, op.instruction.opcode() == Opcode::kReplicaId ? device.replica() : device.partition());
  return MakeValue(std::move(id), interpreter.memory());
}

}  // namespace

bool HoldsPending(const Value& value) {
  if (value.pending != nullptr && value.elements.empty()) return true;
  return std::any_of(value.elements.begin(), value.elements.end(), HoldsPending);
}

std::shared_ptr<const Pending> Ready(Value value) {
  return std::make_shared<const Pending>(Pending{[] { return true; }, [] { return std::string(); },
                                                 [value] { return value; },
                                                 [](const Value& taken) { return taken; }});
}

Value ContextOf(Interpreter& interpreter, const Shape& shape, std::vector<Value> first) {
  const std::vector<Shape>& shapes = shape.elements();
  for (size_t k = first.size(); k < shapes.size(); ++k) {
    if (!shapes[k].IsArray()) {
      first.push_back(MakeValue(Literal(shapes[k]), interpreter.memory()));
      continue;
    }
    Array number{Literal(shapes[k])};
    if (interpreter.bounding()) MakeUndecided(number);
    first.push_back(MakeValue(std::move(number), interpreter.memory()));
  }
  return Value::Tuple(std::move(first));
}

absl::StatusOr<Value> EndPending(Interpreter& interpreter, const OpContext& op,
                                 const Value& value) {
  Value settled = value;
  if (value.pending != nullptr && value.elements.empty()) {
    ASSAY_RETURN_IF_ERROR(interpreter.device().WaitUntil(value.pending->ready, [&] {
      return StrCat(op.instruction.name(), ", ", value.pending->for_what());
    }));
    const Value taken = value.pending->take();
    settled = value.pending->elements(taken);
    settled.pending = Ready(taken);
  }
  for (Value& element : settled.elements) {
    ASSAY_ASSIGN_OR_RETURN(element, EndPending(interpreter, op, element));
  }
  return settled;
}

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
      {.opcode = Opcode::kAllGather, .apply = ApplyCollective},
      {.opcode = Opcode::kAllGatherStart, .apply = ApplyCollectiveStart},
      {.opcode = Opcode::kAllGatherDone, .apply = ApplyDone},
      {.opcode = Opcode::kAllReduce, .apply = ApplyCollective},
      {.opcode = Opcode::kAllReduceStart, .apply = ApplyCollectiveStart},
      {.opcode = Opcode::kAllReduceDone, .apply = ApplyDone},
      {.opcode = Opcode::kAllToAll, .apply = ApplyCollective},
      {.opcode = Opcode::kCollectiveBroadcast, .apply = ApplyCollective},
      {.opcode = Opcode::kCollectivePermute, .apply = ApplyCollective},
      {.opcode = Opcode::kCollectivePermuteStart, .apply = ApplyCollectiveStart},
      {.opcode = Opcode::kCollectivePermuteDone, .apply = ApplyDone},
      {.opcode = Opcode::kRaggedAllToAll, .apply = ApplyCollective},
      {.opcode = Opcode::kReduceScatter, .apply = ApplyCollective},
      {.opcode = Opcode::kReplicaId, .apply = ApplyId},
      {.opcode = Opcode::kPartitionId, .apply = ApplyId},
  };
  return kRows;
}

}  // namespace assay::reference
