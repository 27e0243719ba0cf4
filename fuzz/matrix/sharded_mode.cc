// Slices by the replica's number, and gathers them again.
#include "fuzz/matrix/sharded_mode.h"

#include <vector>

#include "spec/attributes/sharding.h"

namespace assay {
namespace {

constexpr int64_t kReplicas = 2;

// The first dimension of even size; -1: there is none.
int64_t HalvedDimension(const Shape& shape) {
  if (!shape.IsArray() || shape.HasDynamicDimension()) return -1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dimensions()[static_cast<size_t>(d)];
    if (size > 0 && size % kReplicas == 0) return d;
  }
  return -1;
}

Instruction* Number(Computation& computation, int64_t value) {
  Literal literal(Shape::Scalar(ElementType::kS32));
  literal.SetInteger(0, value);
  return computation.AddConstant(std::move(literal));
}

// The half of this replica, and then the whole again.
Instruction* SplitAndGather(Computation& computation, Instruction* array, int64_t d) {
  const Shape& shape = array->shape();
  DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  const int64_t half = sizes[static_cast<size_t>(d)] / kReplicas;
  sizes[static_cast<size_t>(d)] = half;
  const Shape whole = Shape::Array(shape.element_type(), shape.dimensions());
  const Shape part = Shape::Array(shape.element_type(), sizes);
  Instruction* replica = computation.Add(Opcode::kReplicaId, Shape::Scalar(ElementType::kU32), {});
  Instruction* number =
      computation.Add(Opcode::kConvert, Shape::Scalar(ElementType::kS32), {replica});
  std::vector<Instruction*> operands = {array};
  for (int64_t i = 0; i < shape.rank(); ++i) {
    operands.push_back(i == d ? computation.Add(Opcode::kMultiply, number->shape(),
                                                {number, Number(computation, half)})
                              : Number(computation, 0));
  }
  Attributes of_slice;
  of_slice.Set(Attr::kDynamicSliceSizes, part.dimensions());
  Instruction* slice = computation.Add(Opcode::kDynamicSlice, part, operands, std::move(of_slice));
  Attributes of_gather;
  of_gather.Set(Attr::kDimension, {d});
  ReplicaGroups groups;
  groups.lists = {{0, 1}};
  of_gather.Set(Attr::kReplicaGroups, SharedValue<ReplicaGroups>(std::move(groups)));
  return computation.Add(Opcode::kAllGather, whole, {slice}, std::move(of_gather));
}

}  // namespace

std::unique_ptr<Module> ShardedMode(const Module& module) {
  std::unique_ptr<Module> made = module.Clone("");
  Computation& callee = *made->entry();
  Computation& entry = *made->AddComputation("in_mode");
  std::vector<Instruction*> arguments;
  bool is_split = false;
  const auto split = [&](Instruction* value) {
    const int64_t d = HalvedDimension(value->shape());
    if (d < 0) return value;
    is_split = true;
    return SplitAndGather(entry, value, d);
  };
  for (const Instruction* parameter : callee.parameters())
    arguments.push_back(split(entry.AddParameter(entry.parameter_count(), parameter->shape())));
  entry.set_root(split(entry.Add(Opcode::kCall, callee.root()->shape(), arguments, {}, {&callee})));
  if (!is_split) return nullptr;
  made->set_entry(&entry);
  made->config().replica_count = kReplicas;
  return made;
}

}  // namespace assay
