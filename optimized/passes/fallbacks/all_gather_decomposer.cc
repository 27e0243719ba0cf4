// The place of a device in its group is looked up in a table of all devices.
#include "optimized/passes/fallbacks/all_gather_decomposer.h"

#include <optional>
#include <utility>
#include <vector>

#include "optimized/passes/util/rule_util.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

// The unsigned type of so many bits; nothing where there is none.
std::optional<ElementType> BitsOf(ElementType type) {
  if (IsPred(type)) return ElementType::kU8;
  switch (BitWidth(type)) {
    case 2:
      return ElementType::kU2;
    case 4:
      return ElementType::kU4;
    case 8:
      return ElementType::kU8;
    case 16:
      return ElementType::kU16;
    case 32:
      return ElementType::kU32;
    case 64:
      return ElementType::kU64;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<std::vector<Int64List>> GroupsOf(const Instruction& gather) {
  const ModuleConfig& config = gather.parent()->parent()->config();
  return ProcessGroups(Opcode::kAllGather, gather.attributes(), config.replica_count,
                       config.num_partitions);
}

Instruction* AsBits(Instruction* value, ElementType bits) {
  const Opcode opcode =
      IsPred(value->shape().element_type()) ? Opcode::kConvert : Opcode::kBitcastConvert;
  return value->parent()->Add(opcode, Shape::Array(bits, value->shape().dimensions()), {value});
}

Instruction* FromBits(Instruction* bits, const Shape& shape) {
  const Opcode opcode = IsPred(shape.element_type()) ? Opcode::kConvert : Opcode::kBitcastConvert;
  return bits->parent()->Add(opcode, shape, {bits});
}

// The place of this device in its group, an s32.
Instruction* AddPlace(const Instruction& gather, Computation* into) {
  const ModuleConfig& config = gather.parent()->parent()->config();
  const int64_t devices = config.replica_count * config.num_partitions;
  Literal places(Shape::Array(ElementType::kS32, {devices}));
  const std::vector<Int64List> groups = *GroupsOf(gather);
  for (const Int64List& group : groups) {
    for (size_t k = 0; k < group.size(); ++k) places.SetInteger(group[k], static_cast<int64_t>(k));
  }
  const Shape u32 = Shape::Scalar(ElementType::kU32);
  Instruction* replica = into->Add(Opcode::kReplicaId, u32, {});
  Instruction* partition = into->Add(Opcode::kPartitionId, u32, {});
  Instruction* count = AddScalarInteger(into, ElementType::kU32, config.num_partitions);
  Instruction* first = into->Add(Opcode::kMultiply, u32, {replica, count});
  Instruction* device = into->Add(Opcode::kAdd, u32, {first, partition});
  Instruction* place =
      into->Add(Opcode::kDynamicSlice, Shape::Array(ElementType::kS32, {1}),
                {into->AddConstant(std::move(places)), device},
                Attributes().Set(Attr::kDynamicSliceSizes, absl::MakeConstSpan(Int64List{1})));
  return into->Add(Opcode::kReshape, Shape::Scalar(ElementType::kS32), {place});
}

Computation* AddSum(Module& module, ElementType type) {
  Computation* sum = module.AddComputation("sum_of_bits");
  Instruction* a = sum->AddParameter(0, Shape::Scalar(type));
  Instruction* b = sum->AddParameter(1, Shape::Scalar(type));
  sum->set_root(sum->Add(Opcode::kAdd, Shape::Scalar(type), {a, b}));
  return sum;
}

}  // namespace

bool AllGatherDecomposer::Matches(const Instruction& inst) const {
  if (inst.operand_count() != 1 || !inst.shape().IsArray() || inst.shape().ElementCount() == 0)
    return false;
  if (!BitsOf(inst.shape().element_type()).has_value()) return false;
  if (!inst.shape().layout().IsRowMajor() || !inst.operand(0)->shape().layout().IsRowMajor())
    return false;
  // Groups of several sizes have no result of one shape. A module that leaves it to its caller how
  // many devices there are does not say who stands where.
  const absl::StatusOr<std::vector<Int64List>> groups = GroupsOf(inst);
  if (!groups.ok() || groups->empty()) return false;
  const int64_t d = inst.attributes().Integers(Attr::kDimension)[0];
  return inst.operand(0)->shape().dimension(d) * static_cast<int64_t>(groups->front().size()) ==
         inst.shape().dimension(d);
}

Instruction* AllGatherDecomposer::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  const ElementType type = *BitsOf(inst->shape().element_type());
  const int64_t d = inst->attributes().Integers(Attr::kDimension)[0];
  const Shape whole = Shape::Array(type, inst->shape().dimensions());
  Instruction* part = AsBits(inst->operand(0), type);
  Instruction* place = AddPlace(*inst, into);
  Instruction* size = AddScalarInteger(into, ElementType::kS32, part->shape().dimension(d));
  std::vector<Instruction*> operands = {AddSplatInteger(into, whole, 0), part};
  for (int64_t k = 0; k < whole.rank(); ++k) {
    operands.push_back(k == d ? into->Add(Opcode::kMultiply, place->shape(), {place, size})
                              : AddScalarInteger(into, ElementType::kS32, 0));
  }
  Instruction* placed = into->Add(Opcode::kDynamicUpdateSlice, whole, operands);
  Attributes who;
  for (Attr attr : {Attr::kReplicaGroups, Attr::kChannelId, Attr::kUseGlobalDeviceIds,
                    Attr::kConstrainLayout, Attr::kCollectiveTag}) {
    if (const AttrValue* value = inst->attributes().Find(attr)) who.Set(attr, *value);
  }
  Instruction* sum = into->Add(Opcode::kAllReduce, whole, {placed}, std::move(who),
                               {AddSum(*into->parent(), type)});
  return FromBits(sum, inst->shape());
}

}  // namespace assay
