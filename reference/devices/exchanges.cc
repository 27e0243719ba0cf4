// The result of each collective from the operands of its group, one function per op.
#include "reference/devices/exchanges.h"

#include <algorithm>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/devices/permute_slices.h"
#include "reference/devices/rejection.h"
#include "reference/ops/reduction/combine_members.h"
#include "reference/values/leaves.h"
#include "reference/values/property.h"
#include "spec/base/status_macros.h"
#include "spec/ops/collective_groups.h"

namespace assay::reference {
namespace {

absl::StatusOr<Array> NewArray(Interpreter& interpreter, const Shape& shape) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  return Array{Literal(shape)};
}

// Operand k of all members, for some k; what each member gets for it is an array of `shape`.
struct Exchange {
  Interpreter& interpreter;
  const OpContext& op;
  const Shape& shape;
  std::vector<const Value*> given;  // by member
};
using Results = std::vector<Value>;  // by member

// Copies of elements that several devices got: element `number` is the same bit by bit wherever it
// came out.
std::shared_ptr<const Joint> JointCopies(std::string what) {
  auto joint = std::make_shared<Joint>();
  joint->what = std::move(what);
  joint->compares_devices = true;
  joint->joint_violation = [name = joint->what](absl::Span<const JointElement> elements) {
    absl::flat_hash_map<int64_t, JointCode> first;
    for (const JointElement& element : elements) {
      const auto [at, is_new] = first.try_emplace(element.number, element.code);
      if (!is_new && !(at->second == element.code))
        return StrCat(name, ": element ", element.number, " is not the same on all devices");
    }
    return std::string();
  };
  return joint;
}

// Larger arrays are judged one by one only: to know where each element has gone takes more memory
// than the array.
constexpr int64_t kMostCopies = int64_t{1} << 16;

// Every member of a group gets the same bits, whatever the order in which they were combined.
Value JoinMembers(const Exchange& exchange, Value sum) {
  if (!exchange.interpreter.bounding() || exchange.given.size() < 2 || sum.array->Certain() ||
      sum.array->literal.element_count() > kMostCopies)
    return sum;
  Array array = *sum.array;
  const auto joint =
      JointCopies(StrCat("the members of ", exchange.op.instruction.name(), " have one result"));
  for (int64_t i = 0; i < array.literal.element_count(); ++i)
    if (!HasKnownCode(array, i, true)) SetJoint(array, i, joint, i);
  return MakeValue(std::move(array), exchange.interpreter.memory());
}

absl::StatusOr<Results> AllReduce(const Exchange& exchange) {
  ASSAY_ASSIGN_OR_RETURN(
      Value sum, CombineMembers(exchange.interpreter, exchange.op, exchange.shape, exchange.given));
  sum = JoinMembers(exchange, std::move(sum));
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
    CopySteps(*sum.array, {d, static_cast<int64_t>(m) * block, 0, block}, part);
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
    CopySteps(*exchange.given[m]->array, {d, 0, static_cast<int64_t>(m) * block, block}, all);
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
  const int64_t block = size / count;
  Results results;
  for (int64_t m = 0; m < count; ++m) {
    ASSAY_ASSIGN_OR_RETURN(Array part, NewArray(exchange.interpreter, exchange.shape));
    for (int64_t from = 0; from < count; ++from) {
      CopySteps(*exchange.given[from]->array, {d, m * block, from * block, block}, part);
    }
    results.push_back(MakeValue(std::move(part), exchange.interpreter.memory()));
  }
  return results;
}

// The target of each pair gets the operand of its source; who is no target gets zeros.
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

// ---- Ops whose operands are exchanged together.

// All operands of all members.
struct WholeExchange {
  Interpreter& interpreter;
  const OpContext& op;
  const ByMember& given;
};

// An operand as integers that do not depend on rounding.
absl::StatusOr<std::vector<int64_t>> CertainIntegers(const OpContext& op, const Value& value) {
  if (!value.array->Certain())
    return Inconclusive(StrCat("the operands of ", op.instruction.name(), " depend on rounding"));
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < value.array->literal.element_count(); ++i)
    integers.push_back(value.array->literal.GetInteger(i));
  return integers;
}

// Operands 2 to 5 of a ragged-all-to-all: which rows one member sends and receives. Each list has
// the entries for member 0 first, then those for member 1, ..., equally many for every member.
struct RaggedRows {
  std::vector<int64_t> input_offsets;   // rows of this member's input
  std::vector<int64_t> send_sizes;      // how many from there on
  std::vector<int64_t> output_offsets;  // rows of the receiver's output
  std::vector<int64_t> recv_sizes;      // how many this member expects
};

absl::StatusOr<RaggedRows> RowsOf(const OpContext& op, const std::vector<Value>& operands,
                                  size_t members) {
  RaggedRows rows;
  size_t k = 2;
  for (std::vector<int64_t>* list :
       {&rows.input_offsets, &rows.send_sizes, &rows.output_offsets, &rows.recv_sizes}) {
    ASSAY_ASSIGN_OR_RETURN(*list, CertainIntegers(op, operands[k]));
    if (list->size() % members != 0) {
      return Rejected(op, "operand ", k, " has ", list->size(), " entries for a group of ",
                      members);
    }
    ++k;
  }
  return rows;
}

// Each member sends rows [input_offsets[j], + send_sizes[j]) of its input to member j, which has
// them from row output_offsets[j] of the sender on.
absl::StatusOr<ByMember> RaggedAllToAll(const WholeExchange& exchange) {
  const auto& [interpreter, op, given] = exchange;
  const size_t members = given.size();
  std::vector<RaggedRows> rows;
  std::vector<Array> outputs;
  for (const std::vector<Value>& operands : given) {
    ASSAY_ASSIGN_OR_RETURN(rows.emplace_back(), RowsOf(op, operands, members));
  }
  for (const std::vector<Value>& operands : given) {
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
    outputs.push_back(*operands[1].array);
  }
  auto row_count = [](const Array& array) { return array.literal.shape().dimension(0); };
  for (size_t sender = 0; sender < members; ++sender) {
    const RaggedRows& sent = rows[sender];
    const Array& input = *given[sender][0].array;
    const size_t updates = sent.input_offsets.size() / members;
    for (size_t i = 0; i < sent.input_offsets.size(); ++i) {
      const size_t receiver = i / updates;
      Array& output = outputs[receiver];
      const int64_t from = sent.input_offsets[i], size = sent.send_sizes[i];
      const int64_t onto = sent.output_offsets[i];
      const int64_t expected = rows[receiver].recv_sizes[sender * updates + i % updates];
      if (size != expected) {
        return Rejected(op, "member ", sender, " sends ", size, " rows to member ", receiver,
                        ", which expects ", expected);
      }
      if (size < 0 || from < 0 || onto < 0 || size > row_count(input) ||
          from > row_count(input) - size || size > row_count(output) ||
          onto > row_count(output) - size) {
        return Rejected(op, "member ", sender, " sends rows [", from, ", + ", size, ") of ",
                        row_count(input), " to row ", onto, " of ", row_count(output),
                        " of member ", receiver);
      }
      CopySteps(input, {0, from, onto, size}, output);
    }
  }
  ByMember results;
  for (Array& output : outputs)
    results.push_back({MakeValue(std::move(output), interpreter.memory())});
  return results;
}

// A collective-broadcast with a dynamic root: result k is operand k of the member whose number the
// last operand has at k.
absl::StatusOr<ByMember> BroadcastFromRoots(const WholeExchange& exchange) {
  const auto& [interpreter, op, given] = exchange;
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
  return ByMember(given.size(), chosen);
}

// An all-to-all without a dimension: result j of member i is operand i of member j.
absl::StatusOr<ByMember> TransposeOperands(const WholeExchange& exchange) {
  const ByMember& given = exchange.given;
  if (given[0].size() != given.size()) {
    return Rejected(exchange.op, "has ", given[0].size(), " operands in a group of ", given.size());
  }
  ByMember results(given.size());
  for (size_t i = 0; i < given.size(); ++i)
    for (const std::vector<Value>& operands : given) results[i].push_back(operands[i]);
  return results;
}

// A collective-permute with slice_sizes.
absl::StatusOr<ByMember> PermuteWithSlices(const WholeExchange& exchange) {
  const auto& [interpreter, op, given] = exchange;
  DeviceMesh& mesh = interpreter.device().mesh();
  const auto pairs = ProcessPairs(op.instruction.attributes(), mesh.replicas(), mesh.partitions());
  if (!pairs.ok()) return Rejected(op, ToStd(pairs.status().message()));
  return PermuteSlices(interpreter, op, *pairs, given);
}

// ---- All collectives.

using ExchangeFn = absl::StatusOr<Results> (*)(const Exchange& exchange);
using WholeExchangeFn = absl::StatusOr<ByMember> (*)(const WholeExchange& exchange);

struct CollectiveRow {
  Opcode opcode;
  ExchangeFn exchange = nullptr;    // operand by operand
  WholeExchangeFn whole = nullptr;  // of all operands together, where `is_whole` says so
  bool (*is_whole)(const Attributes& attributes) = nullptr;  // null: always
};

bool HasNoDimension(const Attributes& attributes) { return !attributes.Has(Attr::kDimension); }
bool HasDynamicRoot(const Attributes& attributes) { return attributes.Flag(Attr::kHasDynamicRoot); }
bool HasSliceSizes(const Attributes& attributes) {
  return attributes.Has(Attr::kPermuteSliceSizes);
}

constexpr CollectiveRow kCollectives[] = {
    {.opcode = Opcode::kAllReduce, .exchange = AllReduce},
    {.opcode = Opcode::kAllReduceStart, .exchange = AllReduce},
    {.opcode = Opcode::kReduceScatter, .exchange = ReduceScatter},
    {.opcode = Opcode::kAllGather, .exchange = AllGather},
    {.opcode = Opcode::kAllGatherStart, .exchange = AllGather},
    {.opcode = Opcode::kAllToAll,
     .exchange = AllToAll,
     .whole = TransposeOperands,
     .is_whole = HasNoDimension},
    {.opcode = Opcode::kRaggedAllToAll, .whole = RaggedAllToAll},
    {.opcode = Opcode::kCollectivePermute,
     .exchange = Permute,
     .whole = PermuteWithSlices,
     .is_whole = HasSliceSizes},
    {.opcode = Opcode::kCollectivePermuteStart,
     .exchange = Permute,
     .whole = PermuteWithSlices,
     .is_whole = HasSliceSizes},
    {.opcode = Opcode::kCollectiveBroadcast,
     .exchange = Broadcast,
     .whole = BroadcastFromRoots,
     .is_whole = HasDynamicRoot},
};

}  // namespace

const Shape& FinalShape(const OpContext& op) {
  switch (op.instruction.opcode()) {
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return op.shape.elements()[1];
    default:
      return op.shape;
  }
}

absl::StatusOr<ByMember> ExchangeOperands(Interpreter& interpreter, const OpContext& op,
                                          const ByMember& given) {
  const auto row = std::find_if(
      std::begin(kCollectives), std::end(kCollectives),
      [&](const CollectiveRow& each) { return each.opcode == op.instruction.opcode(); });
  if (row == std::end(kCollectives)) return absl::InternalError("a collective without a meaning");
  const bool is_whole = row->whole != nullptr &&
                        (row->is_whole == nullptr || row->is_whole(op.instruction.attributes()));
  if (is_whole) return row->whole({interpreter, op, given});
  const absl::Span<const Shape> shapes = LeavesOf(FinalShape(op));
  ByMember results(given.size());
  for (size_t k = 0; k < given[0].size(); ++k) {
    Exchange one{interpreter, op, shapes[k], {}};
    for (const std::vector<Value>& operands : given) one.given.push_back(&operands[k]);
    ASSAY_ASSIGN_OR_RETURN(const Results part, row->exchange(one));
    for (size_t m = 0; m < results.size(); ++m) results[m].push_back(part[m]);
  }
  return results;
}

}  // namespace assay::reference
