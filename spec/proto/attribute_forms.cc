// Attributes whose binary form needs code: windows, slices, pairs, shapes, groups, and those whose
// field or meaning depends on the op. Document: hlo-proto chapters 3 and 5.
#include <algorithm>
#include <charconv>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/attribute_codec_internal.h"
#include "spec/proto/shape_proto.h"
#include "spec/proto/text_cursor.h"
#include "spec/text/parser/parser.h"
#include "spec/text/writer.h"

namespace assay::proto {
namespace {

using Proto = HloInstructionProto;

absl::Status WriteWindow(const AttrValue& value, Opcode, Proto* proto) {
  for (const WindowDim& dim : std::get<std::vector<WindowDim>>(value)) {
    WindowDimension* one = proto->mutable_window()->add_dimensions();
    one->set_size(dim.size);
    one->set_stride(dim.stride);
    one->set_padding_low(dim.low);
    one->set_padding_high(dim.high);
    one->set_window_dilation(dim.window_dilation);
    one->set_base_dilation(dim.base_dilation);
    one->set_window_reversal(dim.reversal);
  }
  return absl::OkStatus();
}
MaybeValue ReadWindow(const Site& site) {
  std::vector<WindowDim> window;
  for (const WindowDimension& dim : site.proto.window().dimensions()) {
    window.push_back({.size = dim.size(),
                      .stride = dim.stride(),
                      .low = dim.padding_low(),
                      .high = dim.padding_high(),
                      .base_dilation = dim.base_dilation(),
                      .window_dilation = dim.window_dilation(),
                      .reversal = dim.window_reversal()});
  }
  return std::optional<AttrValue>(AttrValue(std::move(window)));
}

absl::Status WriteDimLabels(const AttrValue& value, Opcode, Proto* proto) {
  const auto& labels = std::get<ConvDimLabels>(value);
  ConvolutionDimensionNumbers* numbers = proto->mutable_convolution_dimension_numbers();
  numbers->set_input_batch_dimension(labels.input_batch);
  numbers->set_input_feature_dimension(labels.input_feature);
  numbers->set_kernel_input_feature_dimension(labels.kernel_input_feature);
  numbers->set_kernel_output_feature_dimension(labels.kernel_output_feature);
  numbers->set_output_batch_dimension(labels.output_batch);
  numbers->set_output_feature_dimension(labels.output_feature);
  FromList(labels.input_spatial, numbers->mutable_input_spatial_dimensions());
  FromList(labels.kernel_spatial, numbers->mutable_kernel_spatial_dimensions());
  FromList(labels.output_spatial, numbers->mutable_output_spatial_dimensions());
  return absl::OkStatus();
}
MaybeValue ReadDimLabels(const Site& site) {
  if (!site.proto.has_convolution_dimension_numbers()) return std::optional<AttrValue>();
  const ConvolutionDimensionNumbers& numbers = site.proto.convolution_dimension_numbers();
  ConvDimLabels labels{.input_batch = numbers.input_batch_dimension(),
                       .input_feature = numbers.input_feature_dimension(),
                       .kernel_input_feature = numbers.kernel_input_feature_dimension(),
                       .kernel_output_feature = numbers.kernel_output_feature_dimension(),
                       .output_batch = numbers.output_batch_dimension(),
                       .output_feature = numbers.output_feature_dimension(),
                       .input_spatial = ToList(numbers.input_spatial_dimensions()),
                       .kernel_spatial = ToList(numbers.kernel_spatial_dimensions()),
                       .output_spatial = ToList(numbers.output_spatial_dimensions())};
  return std::optional<AttrValue>(AttrValue(std::move(labels)));
}

absl::Status WriteSlice(const AttrValue& value, Opcode, Proto* proto) {
  for (const SliceRange& range : std::get<std::vector<SliceRange>>(value)) {
    SliceDimensions* one = proto->add_slice_dimensions();
    one->set_start(range.start);
    one->set_limit(range.limit);
    one->set_stride(range.stride);
  }
  return absl::OkStatus();
}
MaybeValue ReadSlice(const Site& site) {
  std::vector<SliceRange> ranges;
  for (const SliceDimensions& one : site.proto.slice_dimensions()) {
    ranges.push_back({one.start(), one.limit(), one.stride()});
  }
  return std::optional<AttrValue>(AttrValue(std::move(ranges)));
}

absl::Status WritePadding(const AttrValue& value, Opcode, Proto* proto) {
  proto->mutable_padding_config();
  for (const PaddingDim& dim : std::get<std::vector<PaddingDim>>(value)) {
    PaddingDimension* one = proto->mutable_padding_config()->add_dimensions();
    one->set_edge_padding_low(dim.low);
    one->set_edge_padding_high(dim.high);
    one->set_interior_padding(dim.interior);
  }
  return absl::OkStatus();
}
MaybeValue ReadPadding(const Site& site) {
  std::vector<PaddingDim> padding;
  for (const PaddingDimension& one : site.proto.padding_config().dimensions()) {
    padding.push_back({one.edge_padding_low(), one.edge_padding_high(), one.interior_padding()});
  }
  return std::optional<AttrValue>(AttrValue(std::move(padding)));
}

absl::Status WritePairs(const AttrValue& value, Opcode, Proto* proto) {
  for (const Int64List& pair : std::get<std::vector<Int64List>>(value)) {
    if (pair.size() != 2) {
      return absl::InvalidArgumentError(
          StrCat("source_target_pairs: a pair has ", pair.size(), " entries"));
    }
    SourceTarget* one = proto->add_source_target_pairs();
    one->set_source(pair[0]);
    one->set_target(pair[1]);
  }
  return absl::OkStatus();
}
MaybeValue ReadPairs(const Site& site) {
  std::vector<Int64List> pairs;
  for (const SourceTarget& one : site.proto.source_target_pairs()) {
    pairs.push_back({one.source(), one.target()});
  }
  return std::optional<AttrValue>(AttrValue(std::move(pairs)));
}

// The lists of all slices one after the other; each has as many entries as its operand dimensions.
absl::Status WritePermuteSizes(const AttrValue& value, Opcode, Proto* proto) {
  for (const Int64List& sizes : std::get<std::vector<Int64List>>(value)) {
    for (int64_t size : sizes) proto->add_dynamic_slice_sizes(size);
  }
  return absl::OkStatus();
}
MaybeValue ReadPermuteSizes(const Site& site) {
  std::vector<Int64List> lists;
  const Int64List flat = ToList(site.proto.dynamic_slice_sizes());
  Int64List ranks;
  if (!site.operands.empty()) {
    ForEachLeaf(site.operands[0]->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      ranks.push_back(leaf.rank());
    });
  }
  size_t at = 0;
  for (size_t i = 0; at < flat.size(); ++i) {
    const size_t rank = ranks.empty() ? 0 : static_cast<size_t>(ranks[i % ranks.size()]);
    if (rank == 0 || at + rank > flat.size()) {
      return absl::InvalidArgumentError(
          "collective-permute: the slice sizes do not divide among "
          "the operand's arrays");
    }
    lists.emplace_back(flat.begin() + at, flat.begin() + at + rank);
    at += rank;
  }
  return std::optional<AttrValue>(AttrValue(std::move(lists)));
}

absl::Status WriteAliasing(const AttrValue& value, Opcode, Proto* proto) {
  for (const OutputAlias& alias : std::get<std::vector<OutputAlias>>(value)) {
    OutputOperandAliasing* one = proto->add_output_operand_aliasing();
    FromList(alias.output_index, one->mutable_output_shape_index());
    one->set_operand_index(alias.operand);
    FromList(alias.operand_index, one->mutable_operand_shape_index());
  }
  return absl::OkStatus();
}
MaybeValue ReadAliasing(const Site& site) {
  std::vector<OutputAlias> aliases;
  for (const OutputOperandAliasing& one : site.proto.output_operand_aliasing()) {
    aliases.push_back(
        {ToList(one.output_shape_index()), one.operand_index(), ToList(one.operand_shape_index())});
  }
  return std::optional<AttrValue>(AttrValue(std::move(aliases)));
}

absl::Status WriteReplication(const AttrValue& value, Opcode, Proto* proto) {
  for (int64_t flag : List(value)) {
    proto->mutable_parameter_replication()->add_replicated_at_leaf_buffers(flag != 0);
  }
  return absl::OkStatus();
}
MaybeValue ReadReplication(const Site& site) {
  return std::optional<AttrValue>(
      AttrValue(ToList(site.proto.parameter_replication().replicated_at_leaf_buffers())));
}

absl::Status WriteLower(const AttrValue& value, Opcode opcode, Proto* proto) {
  if (opcode == Opcode::kCholesky) {
    proto->mutable_cholesky_options()->set_lower(Flag(value));
  } else {
    proto->mutable_triangular_solve_options()->set_lower(Flag(value));
  }
  return absl::OkStatus();
}
MaybeValue ReadLower(const Site& site) {
  return std::optional<AttrValue>(AttrValue(site.info.opcode == Opcode::kCholesky
                                                ? site.proto.cholesky_options().lower()
                                                : site.proto.triangular_solve_options().lower()));
}

MaybeValue ReadOneDimension(const Site& site, int64_t absent) {
  if (site.proto.dimensions_size() == 0) {
    return absent < 0 ? std::optional<AttrValue>() : std::optional<AttrValue>(AttrValue(absent));
  }
  return std::optional<AttrValue>(AttrValue(int64_t{site.proto.dimensions(0)}));
}

absl::Status WriteChannel(const AttrValue& value, Opcode, Proto* proto) {
  proto->set_channel_id(Integer(value));
  return absl::OkStatus();
}
MaybeValue ReadChannel(const Site& site) {
  int64_t channel = site.proto.channel_id();
  if (channel <= 0) channel = site.proto.all_reduce_id();
  return channel <= 0 ? std::optional<AttrValue>() : std::optional<AttrValue>(AttrValue(channel));
}

absl::Status WriteGroups(const AttrValue& value, Opcode, Proto* proto) {
  return ReplicaGroupsToProto(*std::get<SharedValue<ReplicaGroups>>(value), proto);
}
MaybeValue ReadGroups(const Site& site) {
  ASSAY_ASSIGN_OR_RETURN(ReplicaGroups groups, ReplicaGroupsFromProto(site.proto));
  return std::optional<AttrValue>(AttrValue(SharedValue<ReplicaGroups>(std::move(groups))));
}

absl::Status WriteDomain(const AttrValue& value, Opcode, Proto* proto) {
  const DomainMetadata& domain = *std::get<SharedValue<DomainMetadata>>(value);
  ASSAY_RETURN_IF_ERROR(ShardingToProto(domain.entry, proto->mutable_domain_entry_sharding()));
  return ShardingToProto(domain.exit, proto->mutable_domain_exit_sharding());
}
MaybeValue ReadDomain(const Site& site) {
  DomainMetadata domain;
  ASSAY_ASSIGN_OR_RETURN(domain.entry, ShardingFromProto(site.proto.domain_entry_sharding()));
  ASSAY_ASSIGN_OR_RETURN(domain.exit, ShardingFromProto(site.proto.domain_exit_sharding()));
  return std::optional<AttrValue>(AttrValue(SharedValue<DomainMetadata>(std::move(domain))));
}

absl::Status WriteConstraints(const AttrValue& value, Opcode, Proto* proto) {
  for (const Shape& shape : *std::get<SharedValue<std::vector<Shape>>>(value)) {
    ShapeToProto(shape, proto->add_operand_shapes_with_layout());
  }
  proto->set_constrain_layout(true);
  return absl::OkStatus();
}
MaybeValue ReadConstraints(const Site& site) {
  if (!site.proto.constrain_layout()) return std::optional<AttrValue>();
  std::vector<Shape> shapes;
  for (const ShapeProto& one : site.proto.operand_shapes_with_layout()) {
    ASSAY_ASSIGN_OR_RETURN(shapes.emplace_back(), ShapeFromProto(one));
  }
  return std::optional<AttrValue>(AttrValue(SharedValue<std::vector<Shape>>(std::move(shapes))));
}

absl::Status WriteCallLiteral(const AttrValue& value, Opcode, Proto* proto) {
  const ReadOptions options;
  text_internal::Parser parser(Text(value), options);
  Shape shape;
  Literal literal;
  if (!parser.ParseShape(&shape)) return ToStatus(parser.diagnostics());
  ASSAY_ASSIGN_OR_RETURN(literal, Literal::Create(shape, options.literal_byte_limit));
  if (!parser.ParseLiteral(shape, &literal) || !parser.ExpectEnd()) {
    return ToStatus(parser.diagnostics());
  }
  return LiteralToProto(literal, proto->mutable_literal());
}
MaybeValue ReadCallLiteral(const Site& site) {
  if (!site.proto.has_literal()) return std::optional<AttrValue>();
  ASSAY_ASSIGN_OR_RETURN(const Literal literal, LiteralFromProto(site.proto.literal()));
  return std::optional<AttrValue>(AttrValue(
      StrCat(literal.shape().ToString(/*with_layout=*/true), " ", WriteLiteral(literal))));
}

absl::Status WriteOutfeedShape(const AttrValue& value, Opcode, Proto* proto) {
  ShapeToProto(*std::get<SharedValue<Shape>>(value), proto->mutable_outfeed_shape());
  return absl::OkStatus();
}
MaybeValue ReadOutfeedShape(const Site& site) {
  if (!site.proto.has_outfeed_shape()) return std::optional<AttrValue>();
  ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(site.proto.outfeed_shape()));
  return std::optional<AttrValue>(AttrValue(SharedValue<Shape>(std::move(shape))));
}

absl::Status WriteSparsity(const AttrValue& value, Opcode, Proto* proto) {
  return ParseSparsity(Text(value), proto->mutable_sparsity_config());
}
MaybeValue ReadSparsity(const Site& site) {
  if (!site.proto.has_sparsity_config()) return std::optional<AttrValue>();
  return std::optional<AttrValue>(AttrValue(SparsityText(site.proto.sparsity_config())));
}

absl::Status WritePrecision(const AttrValue& value, Opcode, Proto* proto) {
  FromList(List(value), proto->mutable_precision_config()->mutable_operand_precision());
  return absl::OkStatus();
}
MaybeValue ReadPrecision(const Site& site) {
  Int64List words = ToList(site.proto.precision_config().operand_precision());
  for (int64_t word : words) {
    if (WordAt(Attr::kOperandPrecision, word) == "?") {
      return absl::InvalidArgumentError(StrCat("operand_precision has no value ", word));
    }
  }
  return std::optional<AttrValue>(AttrValue(std::move(words)));
}

absl::Status WriteAssociative(const AttrValue& value, Opcode, Proto* proto) {
  proto->set_is_associative(Flag(value) ? 1 : 2);
  return absl::OkStatus();
}
MaybeValue ReadAssociative(const Site& site) {
  const int state = site.proto.is_associative();
  return state == 1 || state == 2 ? std::optional<AttrValue>(AttrValue(state == 1))
                                  : std::optional<AttrValue>();
}

absl::Status WritePrefetch(const AttrValue& value, Opcode, Proto* proto) {
  proto->set_cross_program_prefetch_index(static_cast<int32_t>(Integer(value)));
  return absl::OkStatus();
}
MaybeValue ReadPrefetch(const Site& site) {
  if (site.proto.has_cross_program_prefetch_index()) {
    return std::optional<AttrValue>(AttrValue(int64_t{site.proto.cross_program_prefetch_index()}));
  }
  return site.proto.is_cross_program_prefetch() ? std::optional<AttrValue>(AttrValue(int64_t{0}))
                                                : std::optional<AttrValue>();
}

// The message holds 32 bits, text the shortest number that gives them.
MaybeValue ReadEpsilon(const Site& site) {
  char buffer[40];
  char* end = std::to_chars(buffer, buffer + sizeof(buffer), site.proto.epsilon()).ptr;
  double value = site.proto.epsilon();
  std::from_chars(buffer, end, value);
  return std::optional<AttrValue>(AttrValue(value));
}
absl::Status WriteEpsilon(const AttrValue& value, Opcode, Proto* proto) {
  proto->set_epsilon(static_cast<float>(std::get<double>(value)));
  return absl::OkStatus();
}

absl::Status WriteDimensionNumber(const AttrValue& value, Opcode, Proto* proto) {
  proto->add_dimensions(Integer(value));
  return absl::OkStatus();
}

// 0 stands for the version that is named here, as for 1.
MaybeValue ReadApiVersion(const Site& site) {
  const int version = std::max(site.proto.custom_call_api_version(), 1);
  if (version > 4) {
    return absl::InvalidArgumentError(StrCat("api_version has no value of the number ", version));
  }
  return std::optional<AttrValue>(AttrValue(static_cast<int64_t>(version - 1)));
}
absl::Status WriteApiVersion(const AttrValue& value, Opcode, Proto* proto) {
  proto->set_custom_call_api_version(static_cast<int>(Integer(value)) + 1);
  return absl::OkStatus();
}

constexpr Codec kCodecs[] = {
    {Attr::kSlice, WriteSlice, ReadSlice},
    {Attr::kPadding, WritePadding, ReadPadding},
    {Attr::kIotaDimension, WriteDimensionNumber,
     [](const Site& site) { return ReadOneDimension(site, 0); }},
    {Attr::kInferredDimension, WriteDimensionNumber,
     [](const Site& site) { return ReadOneDimension(site, -1); }},
    {Attr::kOperandPrecision, WritePrecision, ReadPrecision},
    {Attr::kParameterReplication, WriteReplication, ReadReplication},
    {Attr::kIndexVectorDim,
     [](const AttrValue& value, Opcode opcode, Proto* proto) {
       if (opcode == Opcode::kGather) {
         proto->mutable_gather_dimension_numbers()->set_index_vector_dim(Integer(value));
       } else {
         proto->mutable_scatter_dimension_numbers()->set_index_vector_dim(Integer(value));
       }
       return absl::OkStatus();
     },
     [](const Site& site) -> MaybeValue {
       return std::optional<AttrValue>(
           AttrValue(int64_t{site.info.opcode == Opcode::kGather
                                 ? site.proto.gather_dimension_numbers().index_vector_dim()
                                 : site.proto.scatter_dimension_numbers().index_vector_dim()}));
     }},
    {Attr::kWindow, WriteWindow, ReadWindow},
    {Attr::kDimLabels, WriteDimLabels, ReadDimLabels},
    {Attr::kSparsityConfig, WriteSparsity, ReadSparsity},
    {Attr::kLower, WriteLower, ReadLower},
    {Attr::kEpsilon, WriteEpsilon, ReadEpsilon},
    {Attr::kIsAssociative, WriteAssociative, ReadAssociative},
    {Attr::kOutputToOperandAliasing, WriteAliasing, ReadAliasing},
    {Attr::kDomain, WriteDomain, ReadDomain},
    {Attr::kOperandLayoutConstraints, WriteConstraints, ReadConstraints},
    {Attr::kLiteral, WriteCallLiteral, ReadCallLiteral},
    {Attr::kApiVersion, WriteApiVersion, ReadApiVersion},
    {Attr::kCrossProgramPrefetchIndex, WritePrefetch, ReadPrefetch},
    {Attr::kChannelId, WriteChannel, ReadChannel},
    {Attr::kReplicaGroups, WriteGroups, ReadGroups},
    {Attr::kSourceTargetPairs, WritePairs, ReadPairs},
    {Attr::kPermuteSliceSizes, WritePermuteSizes, ReadPermuteSizes},
    {Attr::kOutfeedShape, WriteOutfeedShape, ReadOutfeedShape},
};

}  // namespace

absl::Span<const Codec> FormCodecs() { return kCodecs; }

}  // namespace assay::proto
