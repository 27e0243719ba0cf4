// Slices by the replica's number, and gathers them again.
#include "fuzz/matrix/sharded_mode.h"

#include <algorithm>
#include <vector>

#include "spec/attributes/sharding.h"

namespace assay {
namespace {

constexpr int64_t kReplicas = 2;

// The first dimension of even size, else the first that is longer than one; -1: there is none.
int64_t HalvedDimension(const Shape& shape) {
  if (!shape.IsArray() || shape.HasDynamicDimension()) return -1;
  const DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return -1;
  const auto first = [&sizes](auto is_right) {
    const auto at = std::find_if(sizes.begin(), sizes.end(), is_right);
    return at == sizes.end() ? -1 : at - sizes.begin();
  };
  const int64_t even = first([](int64_t size) { return size % kReplicas == 0; });
  return even >= 0 ? even : first([](int64_t size) { return size > 1; });
}

Instruction* Number(Computation& computation, int64_t value) {
  Literal literal(Shape::Scalar(ElementType::kS32));
  literal.SetInteger(0, value);
  return computation.AddConstant(std::move(literal));
}

// The elements from `start` to `limit` of dimension `d`.
Instruction* Part(Computation& computation, Instruction* array, int64_t d, int64_t start,
                  int64_t limit) {
  const Shape& shape = array->shape();
  DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  std::vector<SliceRange> ranges;
  for (const int64_t size : sizes) ranges.push_back({0, size, 1});
  ranges[static_cast<size_t>(d)] = {start, limit, 1};
  sizes[static_cast<size_t>(d)] = limit - start;
  Attributes attributes;
  attributes.Set(Attr::kSlice, std::move(ranges));
  return computation.Add(Opcode::kSlice, Shape::Array(shape.element_type(), sizes), {array},
                         std::move(attributes));
}

// The half of this replica, and then the whole again. Halves of an odd size have its middle both,
// which is dropped once.
Instruction* SplitAndGather(Computation& computation, Instruction* array, int64_t d) {
  const Shape& shape = array->shape();
  DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  const int64_t size = sizes[static_cast<size_t>(d)];
  const int64_t half = (size + 1) / kReplicas;
  sizes[static_cast<size_t>(d)] = kReplicas * half;
  const Shape whole = Shape::Array(shape.element_type(), sizes);
  sizes[static_cast<size_t>(d)] = half;
  const Shape part = Shape::Array(shape.element_type(), sizes);
  Instruction* replica = computation.Add(Opcode::kReplicaId, Shape::Scalar(ElementType::kU32), {});
  Instruction* number =
      computation.Add(Opcode::kConvert, Shape::Scalar(ElementType::kS32), {replica});
  std::vector<Instruction*> operands = {array};
  for (int64_t i = 0; i < shape.rank(); ++i) {
    operands.push_back(i == d ? computation.Add(Opcode::kMultiply, number->shape(),
                                                {number, Number(computation, size - half)})
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
  Instruction* all = computation.Add(Opcode::kAllGather, whole, {slice}, std::move(of_gather));
  if (size % kReplicas == 0) return all;
  Attributes of_join;
  of_join.Set(Attr::kDimension, {d});
  return computation.Add(
      Opcode::kConcatenate, Shape::Array(shape.element_type(), shape.dimensions()),
      {Part(computation, all, d, 0, half), Part(computation, all, d, half + 1, kReplicas * half)},
      std::move(of_join));
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
