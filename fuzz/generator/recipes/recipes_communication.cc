// Collectives, asynchronous pairs, tokens, queues: what compilers may drop or turn into moves, and
// must not reorder. Most programs are for one device, of which every group has one member; on
// several, what each puts in depends on its number.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

constexpr TypeMask kData = kAnyArray;

Shape ShapeWithoutLayout(const Instruction* operand) {
  return Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
}
Shape Context() { return Shape::Scalar(ElementType::kU32); }

// Something of each device's own, made of its number: mostly another value of the same kind.
Instruction* OfThisDevice(Program& program, Instruction* operand) {
  Choices& choices = program.choices();
  const bool by_replica =
      program.partitions() == 1 || (program.replicas() > 1 && choices.Percent(50));
  Instruction* number = program.Emit(by_replica ? Opcode::kReplicaId : Opcode::kPartitionId,
                                     Shape::Scalar(ElementType::kU32), {});
  const ElementType type = operand->shape().element_type();
  const absl::Span<const int64_t> dimensions = operand->shape().dimensions();
  if (IsPred(type) || choices.Percent(12)) {
    const auto chosen = static_cast<int64_t>(choices.Draw(
        static_cast<uint64_t>(by_replica ? program.replicas() : program.partitions())));
    Instruction* is_chosen =
        program.Compare(Direction::kEq, number, program.ScalarConstant(ElementType::kU32, chosen));
    Instruction* there = program.Splat(is_chosen, dimensions);
    if (IsPred(type)) return program.Binary(Opcode::kXor, operand, there);
    return program.Select(there, program.OperandLike(ShapeWithoutLayout(operand)), operand);
  }
  Instruction* everywhere = program.Splat(program.Convert(number, type), dimensions);
  const Opcode opcode =
      choices.Pick({Opcode::kAdd, Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply,
                    IsComplex(type) ? Opcode::kMultiply : Opcode::kMaximum});
  return program.Binary(opcode, operand, everywhere);
}

// Effects are kept out of loops and branches: how often they happen may depend on rounding.
Instruction* Operand(Program& program) {
  if (!program.scope().entry) return nullptr;
  Instruction* x = program.Operand(kData, 1);
  return program.devices() > 1 && program.choices().Percent(75) ? OfThisDevice(program, x) : x;
}

// An operand of which dimension `d` falls into `parts` equal parts, or nullptr.
Instruction* Divisible(Program& program, Instruction* operand, int64_t d, int64_t parts) {
  if (operand->shape().dimension(d) % parts == 0) return operand;
  DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  sizes[static_cast<size_t>(d)] *= parts;
  const Shape shape = Shape::Array(operand->shape().element_type(), sizes);
  if (!program.Fits(shape)) return nullptr;
  return OfThisDevice(program, program.OperandLike(shape));
}

// Who meets whom, and how many meet: all groups are of one size.
struct Meeting {
  Attributes attributes;
  int64_t members = 1;
};

// Ids in any order, `size` to a group.
ReplicaGroups DrawGroups(Choices& choices, GroupMode mode, int64_t ids, int64_t size,
                         bool may_be_none) {
  ReplicaGroups groups;
  // None written: all are one. Numbers of devices have to be written.
  may_be_none &= size == ids && mode != GroupMode::kFlattened;
  if (may_be_none && choices.Percent(35)) return groups;
  if (choices.Percent(25)) {
    groups.form = ReplicaGroups::Form::kIota;
    const bool turned = size > 1 && size < ids && choices.Percent(50);
    // Turned, a group has every (ids / size)-th device.
    groups.iota = turned ? IotaDevices{{ids / size, size}, {size, ids / size}, {1, 0}}
                         : IotaDevices{{ids / size, size}, {ids}, {}};
    return groups;
  }
  std::vector<int64_t> order;
  for (int64_t id = 0; id < ids; ++id) order.push_back(id);
  if (choices.Percent(70)) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[choices.Draw(i)]);
  }
  for (int64_t begin = 0; begin < ids; begin += size)
    groups.lists.emplace_back(order.begin() + begin, order.begin() + begin + size);
  return groups;
}

// Mostly one that no other collective has.
int64_t Channel(Program& program) {
  if (program.choices().Percent(15)) return 1;
  int64_t channel = 1;
  for (const Instruction* other : *program.scope().computation)
    channel = std::max(channel, other->attributes().Integer(Attr::kChannelId) + 1);
  return channel;
}

Meeting DrawMeeting(Program& program, Opcode opcode) {
  Meeting meeting;
  Choices& choices = program.choices();
  // With one replica, nobody meets without a channel.
  const int percent = program.devices() == 1 ? 40 : program.replicas() == 1 ? 90 : 50;
  if (choices.Percent(percent)) {
    meeting.attributes.Set(Attr::kChannelId, Channel(program));
    const std::vector<AttrSpec>& specs = Info(opcode).attributes;
    const bool has_flag = std::any_of(specs.begin(), specs.end(), [](const AttrSpec& spec) {
      return spec.attr == Attr::kUseGlobalDeviceIds;
    });
    if (program.devices() > 1 && has_flag && choices.Percent(50))
      meeting.attributes.Set(Attr::kUseGlobalDeviceIds, AttrValue(true));
  }
  const GroupMode mode = GroupModeOf(opcode, meeting.attributes);
  const int64_t ids = IdCount(mode, program.replicas(), program.partitions());
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= ids; ++size) {
    if (ids % size == 0) sizes.push_back(size);
  }
  const int64_t size = choices.Pick(sizes);
  // XLA asks for groups where an array is split.
  const bool may_be_none = !program.options().portable || opcode != Opcode::kAllToAll;
  meeting.members =
      mode == GroupMode::kCrossReplicaAndPartition ? size * program.partitions() : size;
  meeting.attributes.Set(Attr::kReplicaGroups, SharedValue<ReplicaGroups>(DrawGroups(
                                                   choices, mode, ids, size, may_be_none)));
  return meeting;
}

// Implementations promise the plain combiners of arithmetic, and of predicates `and` and `or`.
Computation* Combiner(Program& program, ElementType type, int64_t members) {
  if (!program.options().portable) return MakeReducer(program, type, members).computation;
  Choices& choices = program.choices();
  const Opcode combiner =
      IsPred(type) ? choices.Pick({Opcode::kAnd, Opcode::kOr})
      : IsComplex(type)
          ? Opcode::kAdd
          : choices.Pick({Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum});
  return MakeReducerOf(program, combiner, type).computation;
}

// Dimension `d` is `times` as long, or a part of that many.
Shape Longer(const Instruction* operand, int64_t d, int64_t times) {
  DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  sizes[static_cast<size_t>(d)] *= times;
  return Shape::Array(operand->shape().element_type(), sizes);
}
Shape Part(const Instruction* operand, int64_t d, int64_t parts) {
  DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  sizes[static_cast<size_t>(d)] /= parts;
  return Shape::Array(operand->shape().element_type(), sizes);
}

// One array with another beside it now and then, which is gathered or reduced in the same meeting.
std::vector<Instruction*> WithOthers(Program& program, Instruction* operand) {
  Choices& choices = program.choices();
  std::vector<Instruction*> all = {operand};
  if (program.devices() == 1 ? !choices.Percent(10) : !choices.Percent(30)) return all;
  for (int64_t k = choices.Range(1, 2); k > 0; --k)
    all.push_back(OfThisDevice(program, program.OperandLike(ShapeWithoutLayout(operand))));
  if (choices.Percent(50)) std::swap(all.front(), all.back());
  return all;
}

// The result of a collective on several arrays, or on one.
Instruction* Together(Program& program, Opcode opcode, const Shape& shape,
                      const std::vector<Instruction*>& operands, Attributes attributes,
                      absl::Span<Computation* const> callees = {}) {
  if (operands.size() == 1)
    return program.Emit(opcode, shape, operands, std::move(attributes), callees);
  const Shape tuple = Shape::Tuple(std::vector<Shape>(operands.size(), shape));
  Instruction* all = program.Emit(opcode, tuple, operands, std::move(attributes), callees);
  program.GetTupleElement(all, 0);
  return program.GetTupleElement(all, static_cast<int64_t>(operands.size()) - 1);
}

Instruction* BuildAllReduce(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Meeting meeting = DrawMeeting(program, opcode);
  Shape shape = ShapeWithoutLayout(x);
  if (opcode == Opcode::kReduceScatter) {
    const int64_t d = program.choices().Range(0, x->shape().rank() - 1);
    x = Divisible(program, x, d, meeting.members);
    if (x == nullptr) return nullptr;
    shape = Part(x, d, meeting.members);
    meeting.attributes.Set(Attr::kDimension, {d});
  }
  Computation* combiner = Combiner(program, x->shape().element_type(), meeting.members);
  if (opcode != Opcode::kAllReduceStart) {
    return Together(program, opcode, shape, WithOthers(program, x), std::move(meeting.attributes),
                    {combiner});
  }
  Instruction* start = program.Emit(opcode, shape, {x}, std::move(meeting.attributes), {combiner});
  // A value under way may be read by its done alone.
  std::erase(program.scope().values, start);
  return program.Emit(Opcode::kAllReduceDone, shape, {start});
}

Instruction* BuildAllGather(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Meeting meeting = DrawMeeting(program, opcode);
  const int64_t d = program.choices().Range(0, x->shape().rank() - 1);
  meeting.attributes.Set(Attr::kDimension, {d});
  const Shape gathered = Longer(x, d, meeting.members);
  if (!program.Fits(gathered)) return nullptr;
  if (opcode != Opcode::kAllGatherStart) {
    return Together(program, opcode, gathered, WithOthers(program, x),
                    std::move(meeting.attributes));
  }
  Instruction* start = program.Emit(opcode, Shape::Tuple({ShapeWithoutLayout(x), gathered}), {x},
                                    std::move(meeting.attributes));
  return program.Emit(Opcode::kAllGatherDone, gathered, {start});
}

// A block for each member, as parts of an array or as an operand of its own.
Instruction* BuildAllToAll(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Meeting meeting = DrawMeeting(program, opcode);
  // Others may die of an operand for each member, and each death costs a process.
  if (program.choices().Percent(program.options().portable ? 92 : 70)) {
    const int64_t d = program.choices().Range(0, x->shape().rank() - 1);
    x = Divisible(program, x, d, meeting.members);
    if (x == nullptr) return nullptr;
    meeting.attributes.Set(Attr::kDimension, {d});
    return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(meeting.attributes));
  }
  std::vector<Instruction*> blocks = {x};
  std::vector<Shape> shapes = {ShapeWithoutLayout(x)};
  while (static_cast<int64_t>(blocks.size()) < meeting.members) {
    blocks.push_back(OfThisDevice(program, program.OperandLike(ShapeWithoutLayout(x))));
    shapes.push_back(shapes.front());
  }
  Instruction* received =
      program.Emit(opcode, Shape::Tuple(shapes), blocks, std::move(meeting.attributes));
  const auto last = static_cast<int64_t>(blocks.size()) - 1;
  if (last > 0) program.GetTupleElement(received, program.choices().Range(0, last - 1));
  return program.GetTupleElement(received, last);
}

Instruction* BuildCollectiveBroadcast(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Meeting meeting = DrawMeeting(program, opcode);
  return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(meeting.attributes));
}

// On several devices where rows go depends on tables of both sides, which have to agree: on one
// device alone.
Instruction* BuildRaggedAllToAll(Program& program, Opcode opcode) {
  if (program.devices() > 1) return nullptr;
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Instruction* output = program.OperandLike(x->shape());
  const int64_t rows = x->shape().dimension(0);
  const int64_t size = program.choices().Range(0, rows);
  auto row = [&](int64_t value) {
    Literal literal(Shape::Array(ElementType::kS32, {1}));
    literal.SetInteger(0, value);
    return program.Constant(std::move(literal));
  };
  Instruction* from = row(program.choices().Range(0, rows - size));
  Instruction* sizes = row(size);
  Instruction* onto = row(program.choices().Range(0, rows - size));
  return program.Emit(opcode, ShapeWithoutLayout(output), {x, output, from, sizes, onto, sizes},
                      DrawMeeting(program, opcode).attributes);
}

// Each device sends to one at most, and is sent to by one at most; who gets nothing has zeros.
Instruction* BuildPermute(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Choices& choices = program.choices();
  Attributes attributes;
  if (program.devices() > 1 && choices.Percent(50))
    attributes.Set(Attr::kChannelId, Channel(program));
  const GroupMode mode = GroupModeOf(Opcode::kCollectivePermute, attributes);
  const int64_t ids = IdCount(mode, program.replicas(), program.partitions());
  const DimVector targets = RandomPermutation(choices, ids);
  std::vector<Int64List> pairs;
  for (int64_t id = 0; id < ids; ++id) {
    if (choices.Percent(75)) pairs.push_back({id, targets[static_cast<size_t>(id)]});
  }
  attributes.Set(Attr::kSourceTargetPairs, AttrValue(std::move(pairs)));
  if (opcode == Opcode::kCollectivePermute)
    return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(attributes));
  Instruction* start = program.Emit(
      opcode, Shape::Tuple({ShapeWithoutLayout(x), ShapeWithoutLayout(x), Context(), Context()}),
      {x}, std::move(attributes));
  return program.Emit(Opcode::kCollectivePermuteDone, ShapeWithoutLayout(x), {start});
}

Instruction* BuildDeviceId(Program& program, Opcode opcode) {
  if (!program.scope().entry) return nullptr;
  return program.Emit(opcode, Context(), {});
}

Instruction* Token(Program& program) { return program.Emit(Opcode::kAfterAll, Shape::Token(), {}); }

Instruction* BuildDependency(Program& program, Opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Instruction* token = Token(program);
  if (program.choices().Percent(40)) {
    Instruction* other = Token(program);
    token = program.Emit(Opcode::kAfterAll, Shape::Token(), {token, other});
  }
  return program.Emit(Opcode::kAddDependency, ShapeWithoutLayout(x), {x, token});
}

Instruction* BuildDomain(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  DomainMetadata domain;
  domain.exit.kind = Sharding::Kind::kMaximal;
  Attributes attributes;
  attributes.Set(Attr::kDomain, SharedValue<DomainMetadata>(std::move(domain)));
  return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(attributes));
}

Instruction* BuildAsyncCopy(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Instruction* start = program.Emit(
      opcode, Shape::Tuple({ShapeWithoutLayout(x), ShapeWithoutLayout(x), Context()}), {x});
  return program.Emit(Opcode::kCopyDone, ShapeWithoutLayout(x), {start});
}

// An item that goes out, then an infeed of nothing: the queues of a run are empty.
Instruction* BuildQueues(Program& program, Opcode opcode) {
  // An item that another computation sends out has no order either, and it may be called twice.
  if (opcode == Opcode::kOutfeed && !program.scope().entry) return nullptr;
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Instruction* token = Token(program);
  if (opcode == Opcode::kInfeed) {
    // A second one would need an order.
    for (const Instruction* other : *program.scope().computation)
      if (other->opcode() == Opcode::kInfeed) return nullptr;
    Instruction* fed =
        program.Emit(opcode, Shape::Tuple({Shape::Tuple({}), Shape::Token()}), {token});
    token = program.GetTupleElement(fed, 1);
    return program.Emit(Opcode::kAddDependency, ShapeWithoutLayout(x), {x, token});
  }
  // Items go out in an order: behind the last one of this computation, and in no other one.
  for (const Computation* computation : program.module().computations()) {
    for (Instruction* other : *computation) {
      if (other->opcode() != Opcode::kOutfeed) continue;
      if (computation != program.scope().computation) return nullptr;
      token = other;
    }
  }
  Attributes attributes;
  attributes.Set(Attr::kOutfeedShape, SharedValue<Shape>(ShapeWithoutLayout(x)));
  token = program.Emit(Opcode::kOutfeed, Shape::Token(), {x, token}, std::move(attributes));
  return program.Emit(Opcode::kAddDependency, ShapeWithoutLayout(x), {x, token});
}

// A device sends to itself.
Instruction* BuildChannel(Program& program, Opcode) {
  if (program.devices() > 1) return nullptr;
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  int64_t channel = 1;
  for (const Instruction* other : *program.scope().computation)
    if (other->opcode() == Opcode::kSend) ++channel;
  Attributes attributes;
  attributes.Set(Attr::kChannelId, AttrValue(channel));
  Instruction* token = Token(program);
  const Shape context = Shape::Tuple({ShapeWithoutLayout(x), Context(), Shape::Token()});
  Instruction* recv = program.Emit(Opcode::kRecv, context, {token}, attributes);
  Instruction* send = program.Emit(Opcode::kSend, context, {x, token}, attributes);
  Instruction* received = program.Emit(
      Opcode::kRecvDone, Shape::Tuple({ShapeWithoutLayout(x), Shape::Token()}), {recv}, attributes);
  program.Emit(Opcode::kSendDone, Shape::Token(), {send}, attributes);
  return program.GetTupleElement(received, 0);
}

Instruction* BuildAsync(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Scope scope;
  scope.computation = program.NewComputation("async_computation");
  scope.control = false;
  Scope* outer = program.EnterScope(&scope);
  Instruction* inner = program.ScopeParameter(0, ShapeWithoutLayout(x));
  scope.computation->set_root(program.Emit(Opcode::kCopy, ShapeWithoutLayout(inner), {inner}));
  program.EnterScope(outer);
  const Shape shape =
      Shape::Tuple({Shape::Tuple({ShapeWithoutLayout(x)}), ShapeWithoutLayout(x), Context()});
  Instruction* value =
      program.Emit(Opcode::kAsyncStart, shape, {x}, Attributes(), {scope.computation});
  if (opcode == Opcode::kAsyncUpdate || program.choices().Percent(50))
    value = program.Emit(Opcode::kAsyncUpdate, shape, {value});
  return program.Emit(Opcode::kAsyncDone, ShapeWithoutLayout(x), {value});
}

constexpr RecipeGroup kGroup = RecipeGroup::kCommunication;
constexpr Recipe kRecipes[] = {
    {Opcode::kAllReduce, "all-reduce", kGroup, 4, BuildAllReduce},
    {Opcode::kAllReduceStart, "all-reduce-start", kGroup, 1, BuildAllReduce, kNotPortable},
    {Opcode::kAllReduceDone, "all-reduce-done", kGroup, 0, BuildAllReduce, kNotPortable},
    {Opcode::kReduceScatter, "reduce-scatter", kGroup, 2, BuildAllReduce},
    {Opcode::kAllGather, "all-gather", kGroup, 2, BuildAllGather},
    {Opcode::kAllGatherStart, "all-gather-start", kGroup, 1, BuildAllGather, kNotPortable},
    {Opcode::kAllGatherDone, "all-gather-done", kGroup, 0, BuildAllGather, kNotPortable},
    {Opcode::kAllToAll, "all-to-all", kGroup, 2, BuildAllToAll},
    {Opcode::kCollectiveBroadcast, "collective-broadcast", kGroup, 1, BuildCollectiveBroadcast},
    {Opcode::kRaggedAllToAll, "ragged-all-to-all", kGroup, 1, BuildRaggedAllToAll, kNotPortable},
    {Opcode::kCollectivePermute, "collective-permute", kGroup, 2, BuildPermute},
    {Opcode::kCollectivePermuteStart, "collective-permute-start", kGroup, 1, BuildPermute,
     kNotPortable},
    {Opcode::kCollectivePermuteDone, "collective-permute-done", kGroup, 0, BuildPermute,
     kNotPortable},
    {Opcode::kReplicaId, "replica-id", kGroup, 1, BuildDeviceId},
    {Opcode::kPartitionId, "partition-id", kGroup, 1, BuildDeviceId},
    {Opcode::kAddDependency, "add-dependency", kGroup, 2, BuildDependency},
    {Opcode::kAfterAll, "after-all", kGroup, 1, BuildDependency},
    {Opcode::kDomain, "domain", kGroup, 1, BuildDomain, kNotPortable},
    {Opcode::kCopyStart, "copy-start", kGroup, 1, BuildAsyncCopy, kNotPortable},
    {Opcode::kCopyDone, "copy-done", kGroup, 0, BuildAsyncCopy, kNotPortable},
    {Opcode::kInfeed, "infeed", kGroup, 1, BuildQueues, kNotPortable},
    {Opcode::kOutfeed, "outfeed", kGroup, 1, BuildQueues, kNotPortable},
    {Opcode::kSend, "send", kGroup, 1, BuildChannel, kNotPortable},
    {Opcode::kSendDone, "send-done", kGroup, 0, BuildChannel, kNotPortable},
    {Opcode::kRecv, "recv", kGroup, 0, BuildChannel, kNotPortable},
    {Opcode::kRecvDone, "recv-done", kGroup, 0, BuildChannel, kNotPortable},
    {Opcode::kAsyncStart, "async-start", kGroup, 1, BuildAsync, kNotPortable},
    {Opcode::kAsyncUpdate, "async-update", kGroup, 1, BuildAsync, kNotPortable},
    {Opcode::kAsyncDone, "async-done", kGroup, 0, BuildAsync, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> CommunicationRecipes() { return kRecipes; }

}  // namespace assay
