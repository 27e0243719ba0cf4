// Collectives on the one device of a generated program, asynchronous pairs, tokens, queues: what
// compilers may drop or turn into moves, and must not reorder.
#include <string>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr TypeMask kData = kP | kI | kF;

// Effects are kept out of loops and branches: how often they happen may depend on rounding.
Instruction* Operand(Program& program) {
  return program.scope().entry ? program.Operand(kData, 1) : nullptr;
}

Shape ShapeWithoutLayout(const Instruction* operand) {
  return Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
}
Shape Context() { return Shape::Scalar(ElementType::kU32); }

// Groups of one device, in the forms in which they can be written.
Attributes Groups(Program& program) {
  Attributes attributes;
  ReplicaGroups groups;
  Choices& choices = program.choices();
  const size_t form = choices.Weighted({4, 4, 2});
  if (form == 1) groups.lists = {{0}};
  if (form == 2) {
    groups.form = ReplicaGroups::Form::kIota;
    groups.iota = {{1, 1}, {1}, {}};
  }
  attributes.Set(Attr::kReplicaGroups, SharedValue<ReplicaGroups>(std::move(groups)));
  if (choices.Percent(40)) attributes.Set(Attr::kChannelId, 1);
  return attributes;
}

Computation* Combiner(Program& program, ElementType type) {
  return MakeReducer(program, type, 1).computation;
}

Instruction* BuildAllReduce(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Computation* combiner = Combiner(program, x->shape().element_type());
  Attributes attributes = Groups(program);
  if (opcode == Opcode::kReduceScatter) {
    const int64_t d = program.choices().Range(0, x->shape().rank() - 1);
    attributes.Set(Attr::kDimension, {d});
  }
  Instruction* result =
      program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(attributes), {combiner});
  if (opcode != Opcode::kAllReduceStart) return result;
  // A value under way may be read by its done alone.
  std::erase(program.scope().values, result);
  return program.Emit(Opcode::kAllReduceDone, ShapeWithoutLayout(x), {result});
}

Instruction* BuildAllGather(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Attributes attributes = Groups(program);
  attributes.Set(Attr::kDimension, {program.choices().Range(0, x->shape().rank() - 1)});
  if (opcode != Opcode::kAllGatherStart)
    return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(attributes));
  Instruction* start =
      program.Emit(opcode, Shape::Tuple({ShapeWithoutLayout(x), ShapeWithoutLayout(x)}), {x},
                   std::move(attributes));
  return program.Emit(Opcode::kAllGatherDone, ShapeWithoutLayout(x), {start});
}

Instruction* BuildExchange(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Attributes attributes = Groups(program);
  if (opcode == Opcode::kCollectiveBroadcast || program.choices().Percent(70)) {
    if (opcode == Opcode::kAllToAll)
      attributes.Set(Attr::kDimension, {program.choices().Range(0, x->shape().rank() - 1)});
    return program.Emit(opcode, ShapeWithoutLayout(x), {x}, std::move(attributes));
  }
  Instruction* blocks =
      program.Emit(opcode, Shape::Tuple({ShapeWithoutLayout(x)}), {x}, std::move(attributes));
  return program.GetTupleElement(blocks, 0);
}

Instruction* BuildRaggedAllToAll(Program& program, Opcode opcode) {
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
                      Groups(program));
}

// To itself, or to nobody: zeros.
Instruction* BuildPermute(Program& program, Opcode opcode) {
  Instruction* x = Operand(program);
  if (x == nullptr) return nullptr;
  Attributes attributes;
  std::vector<Int64List> pairs;
  if (program.choices().Percent(70)) pairs.push_back({0, 0});
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
  // What another computation sends out has no order either, and it may be called twice.
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
  // What goes out has an order: behind the last one of this computation, and in no other one.
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
    {Opcode::kAllReduce, "all-reduce", kGroup, 4, BuildAllReduce, kNotPortable},
    {Opcode::kAllReduceStart, "all-reduce-start", kGroup, 1, BuildAllReduce, kNotPortable},
    {Opcode::kAllReduceDone, "all-reduce-done", kGroup, 0, BuildAllReduce, kNotPortable},
    {Opcode::kReduceScatter, "reduce-scatter", kGroup, 2, BuildAllReduce, kNotPortable},
    {Opcode::kAllGather, "all-gather", kGroup, 2, BuildAllGather, kNotPortable},
    {Opcode::kAllGatherStart, "all-gather-start", kGroup, 1, BuildAllGather, kNotPortable},
    {Opcode::kAllGatherDone, "all-gather-done", kGroup, 0, BuildAllGather, kNotPortable},
    {Opcode::kAllToAll, "all-to-all", kGroup, 2, BuildExchange, kNotPortable},
    {Opcode::kCollectiveBroadcast, "collective-broadcast", kGroup, 1, BuildExchange, kNotPortable},
    {Opcode::kRaggedAllToAll, "ragged-all-to-all", kGroup, 1, BuildRaggedAllToAll, kNotPortable},
    {Opcode::kCollectivePermute, "collective-permute", kGroup, 2, BuildPermute, kNotPortable},
    {Opcode::kCollectivePermuteStart, "collective-permute-start", kGroup, 1, BuildPermute,
     kNotPortable},
    {Opcode::kCollectivePermuteDone, "collective-permute-done", kGroup, 0, BuildPermute,
     kNotPortable},
    {Opcode::kReplicaId, "replica-id", kGroup, 1, BuildDeviceId, kNotPortable},
    {Opcode::kPartitionId, "partition-id", kGroup, 1, BuildDeviceId, kNotPortable},
    {Opcode::kAddDependency, "add-dependency", kGroup, 2, BuildDependency, kNotPortable},
    {Opcode::kAfterAll, "after-all", kGroup, 1, BuildDependency, kNotPortable},
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
