// Collectives, tokens, communication with the host.
#include "spec/base/status_macros.h"
#include "spec/builder/builder_internal.h"

namespace assay {
namespace {

Attributes GroupAttributes(const XlaBuilder::Groups& groups, ChannelHandle channel = {}) {
  ReplicaGroups lists;
  lists.lists = groups;
  Attributes attributes;
  attributes.Set(Attr::kReplicaGroups, AttrValue(SharedValue<ReplicaGroups>(std::move(lists))));
  if (channel.handle > 0) attributes.Set(Attr::kChannelId, AttrValue(channel.handle));
  return attributes;
}

absl::Status CheckShards(std::string_view what, const Shape& shape, int64_t dimension,
                         int64_t count) {
  if (dimension < 0 || !shape.IsArray() || dimension >= shape.rank()) {
    return absl::InvalidArgumentError(
        StrCat(what, " ", dimension, " is not in operand 0 (", shape.ToString(), ")"));
  }
  if (count >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("the operand is cut into ", count, " shards"));
}

}  // namespace

XlaOp XlaBuilder::AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                            const Groups& replica_groups, ChannelHandle channel) {
  return Record("all-gather", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    Shape shape = operands[0]->shape();
    ASSAY_RETURN_IF_ERROR(
        CheckShards("all_gather_dimension", shape, all_gather_dimension, shard_count));
    shape.set_dimension(all_gather_dimension, shape.dimension(all_gather_dimension) * shard_count);
    Attributes attributes = GroupAttributes(replica_groups, channel);
    attributes.Set(Attr::kDimension, {all_gather_dimension});
    return AddOp(Opcode::kAllGather, operands, std::move(attributes), {}, &shape);
  });
}

XlaOp XlaBuilder::AllReduce(XlaOp operand, const XlaComputation& computation,
                            const Groups& replica_groups, ChannelHandle channel) {
  return Simple(Opcode::kAllReduce, {operand}, GroupAttributes(replica_groups, channel),
                {&computation});
}

XlaOp XlaBuilder::CrossReplicaSum(XlaOp operand, const Groups& replica_groups) {
  return Record("all-reduce", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& shape = operands[0]->shape();
    if (!shape.IsArray()) {
      return absl::InvalidArgumentError(StrCat("operand 0 (", shape.ToString(), ") is no array"));
    }
    Computation* add = ScalarBinary(Opcode::kAdd, shape.element_type());
    return AddOp(Opcode::kAllReduce, operands, GroupAttributes(replica_groups), {&add, 1});
  });
}

XlaOp XlaBuilder::ReduceScatter(XlaOp operand, const XlaComputation& computation,
                                int64_t scatter_dimension, int64_t shard_count,
                                const Groups& replica_groups, ChannelHandle channel) {
  return Record("reduce-scatter", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    Shape shape = operands[0]->shape();
    ASSAY_RETURN_IF_ERROR(CheckShards("scatter_dimension", shape, scatter_dimension, shard_count));
    if (shape.dimension(scatter_dimension) % shard_count != 0) {
      return absl::InvalidArgumentError(StrCat(
          "dimension ", scatter_dimension, " of operand 0 (", shape.ToString(), ") has size ",
          shape.dimension(scatter_dimension), ", which ", shard_count, " shards do not divide"));
    }
    shape.set_dimension(scatter_dimension, shape.dimension(scatter_dimension) / shard_count);
    ASSAY_ASSIGN_OR_RETURN(Computation * callee, Import(computation));
    Attributes attributes = GroupAttributes(replica_groups, channel);
    attributes.Set(Attr::kDimension, {scatter_dimension});
    return AddOp(Opcode::kReduceScatter, operands, std::move(attributes), {&callee, 1}, &shape);
  });
}

// HLO's array form splits and concatenates along one dimension. Between two, the blocks of the
// split dimension become one of their own, which the op exchanges, and then move.
XlaOp XlaBuilder::AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension,
                           int64_t split_count, const Groups& replica_groups) {
  if (split_dimension == concat_dimension) {
    return Record("all-to-all", [&]() -> Result {
      ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
      const Shape& shape = operands[0]->shape();
      ASSAY_RETURN_IF_ERROR(CheckShards("split_dimension", shape, split_dimension, split_count));
      if (shape.dimension(split_dimension) % split_count != 0) {
        return absl::InvalidArgumentError(StrCat(
            "dimension ", split_dimension, " of operand 0 (", shape.ToString(), ") has size ",
            shape.dimension(split_dimension), ", which ", split_count, " blocks do not divide"));
      }
      Attributes attributes = GroupAttributes(replica_groups);
      attributes.Set(Attr::kDimension, {split_dimension});
      return AddOp(Opcode::kAllToAll, operands, std::move(attributes), {}, &shape);
    });
  }
  DimVector split;
  Record("all-to-all", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& shape = operands[0]->shape();
    ASSAY_RETURN_IF_ERROR(CheckShards("split_dimension", shape, split_dimension, split_count));
    ASSAY_RETURN_IF_ERROR(CheckShards("concat_dimension", shape, concat_dimension, split_count));
    if (shape.dimension(split_dimension) % split_count != 0) {
      return absl::InvalidArgumentError(StrCat(
          "dimension ", split_dimension, " of operand 0 (", shape.ToString(), ") has size ",
          shape.dimension(split_dimension), ", which ", split_count, " blocks do not divide"));
    }
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d == split_dimension) split.push_back(split_count);
      split.push_back(d == split_dimension ? shape.dimension(d) / split_count : shape.dimension(d));
    }
    return operands[0];
  });
  if (!error_.ok()) return XlaOp(this, nullptr);
  const XlaOp blocks = Reshape(operand, split);
  const XlaOp exchanged =
      AllToAll(blocks, split_dimension, split_dimension, split_count, replica_groups);
  // Dimension split_dimension now numbers the members; it goes before concat_dimension.
  Int64List order;
  Int64List sizes;
  const int64_t rank = static_cast<int64_t>(split.size());
  const int64_t target = concat_dimension + (concat_dimension > split_dimension ? 1 : 0);
  for (int64_t d = 0; d < rank; ++d) {
    if (d == split_dimension) continue;
    if (d == target) order.push_back(split_dimension);
    order.push_back(d);
    sizes.push_back(d == target ? split[d] * split_count : split[d]);
  }
  return Reshape(Transpose(exchanged, order), sizes);
}

XlaOp XlaBuilder::CollectivePermute(
    XlaOp operand, const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs) {
  std::vector<Int64List> pairs;
  for (const auto& [source, target] : source_target_pairs) pairs.push_back({source, target});
  return Simple(Opcode::kCollectivePermute, {operand},
                Attributes().Set(Attr::kSourceTargetPairs, AttrValue(pairs)));
}

XlaOp XlaBuilder::CollectiveBroadcast(XlaOp operand, const Groups& replica_groups) {
  return Simple(Opcode::kCollectiveBroadcast, {operand}, GroupAttributes(replica_groups));
}

XlaOp XlaBuilder::ReplicaId() { return Simple(Opcode::kReplicaId, {}); }
XlaOp XlaBuilder::PartitionId() { return Simple(Opcode::kPartitionId, {}); }
// A module may order arrays by it, too; whoever builds one has tokens, as XLA's own builder asks.
XlaOp XlaBuilder::AfterAll(Ops tokens) {
  return Record("after-all", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve(tokens));
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k]->shape().IsToken()) continue;
      return absl::InvalidArgumentError(StrCat(
          "after-all: operand ", k, " (", operands[k]->shape().ToString(), ") is not a token"));
    }
    return AddOp(Opcode::kAfterAll, operands);
  });
}

XlaOp XlaBuilder::Infeed(const Shape& shape, const std::string& config) {
  return GetTupleElement(InfeedWithToken(CreateToken(), shape, config), 0);
}

XlaOp XlaBuilder::InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config) {
  Attributes attributes;
  if (!config.empty()) attributes.Set(Attr::kInfeedConfig, AttrValue(config));
  const Shape written = Shape::Tuple({shape, Shape::Token()});
  return Simple(Opcode::kInfeed, {token}, std::move(attributes), {}, &written);
}

XlaOp XlaBuilder::Outfeed(XlaOp operand, const std::string& config) {
  const XlaOp token = CreateToken();
  return Record("outfeed", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand, token}));
    Attributes attributes;
    attributes.Set(Attr::kOutfeedShape, AttrValue(SharedValue<Shape>(operands[0]->shape())));
    if (!config.empty()) attributes.Set(Attr::kOutfeedConfig, AttrValue(config));
    return AddOp(Opcode::kOutfeed, operands, std::move(attributes));
  });
}

void XlaBuilder::Send(XlaOp operand, ChannelHandle channel) {
  const XlaOp token = CreateToken();
  Record("send", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand, token}));
    ASSAY_ASSIGN_OR_RETURN(Instruction * send,
                           Instruction::CreateSend(operands[0], operands[1], channel.handle));
    return Instruction::CreateSendDone(send);
  });
}

XlaOp XlaBuilder::Recv(const Shape& shape, ChannelHandle channel) {
  const XlaOp token = CreateToken();
  const XlaOp done = Record("recv", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({token}));
    ASSAY_ASSIGN_OR_RETURN(Instruction * recv,
                           Instruction::CreateRecv(shape, operands[0], channel.handle));
    return Instruction::CreateRecvDone(recv);
  });
  return GetTupleElement(done, 0);
}

}  // namespace assay
