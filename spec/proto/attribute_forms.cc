// Attributes whose binary form needs code: windows, slices, pairs, shapes, groups, and those whose
// field or meaning depends on the op. Document: hlo-proto chapters 3 and 5.
#include <algorithm>

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

// A form is the two directions of one attribute: Write adds a value to the message, Read finds it
// there.
template <typename Form>
constexpr Codec CodecOf(Attr attr) {
  return {attr, Form::Write, Form::Read};
}

struct WindowForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
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
  static MaybeValue Read(const Site& site) {
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
    return Present(std::move(window));
  }
};

struct DimLabelsForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    const ConvDimLabels& labels = *std::get<SharedValue<ConvDimLabels>>(value);
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
  static MaybeValue Read(const Site& site) {
    if (!site.proto.has_convolution_dimension_numbers()) return Absent();
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
    return Present(std::move(labels));
  }
};

struct SliceForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    for (const SliceRange& range : std::get<std::vector<SliceRange>>(value)) {
      SliceDimensions* one = proto->add_slice_dimensions();
      one->set_start(range.start);
      one->set_limit(range.limit);
      one->set_stride(range.stride);
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    std::vector<SliceRange> ranges;
    for (const SliceDimensions& one : site.proto.slice_dimensions()) {
      ranges.push_back({one.start(), one.limit(), one.stride()});
    }
    return Present(std::move(ranges));
  }
};

struct PaddingForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->mutable_padding_config();
    for (const PaddingDim& dim : std::get<std::vector<PaddingDim>>(value)) {
      PaddingDimension* one = proto->mutable_padding_config()->add_dimensions();
      one->set_edge_padding_low(dim.low);
      one->set_edge_padding_high(dim.high);
      one->set_interior_padding(dim.interior);
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    std::vector<PaddingDim> padding;
    for (const PaddingDimension& one : site.proto.padding_config().dimensions()) {
      padding.push_back({one.edge_padding_low(), one.edge_padding_high(), one.interior_padding()});
    }
    return Present(std::move(padding));
  }
};

struct PairsForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
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
  static MaybeValue Read(const Site& site) {
    std::vector<Int64List> pairs;
    for (const SourceTarget& one : site.proto.source_target_pairs()) {
      pairs.push_back({one.source(), one.target()});
    }
    return Present(std::move(pairs));
  }
};

// The lists of all slices one after the other; each has as many entries as its operand dimensions.
struct PermuteSizesForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    for (const Int64List& sizes : std::get<std::vector<Int64List>>(value)) {
      for (int64_t size : sizes) proto->add_dynamic_slice_sizes(size);
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
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
    return Present(std::move(lists));
  }
};

struct AliasingForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    for (const OutputAlias& alias : std::get<std::vector<OutputAlias>>(value)) {
      OutputOperandAliasing* one = proto->add_output_operand_aliasing();
      FromList(alias.output_index, one->mutable_output_shape_index());
      one->set_operand_index(alias.operand);
      FromList(alias.operand_index, one->mutable_operand_shape_index());
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    std::vector<OutputAlias> aliases;
    for (const OutputOperandAliasing& one : site.proto.output_operand_aliasing()) {
      aliases.push_back({ToList(one.output_shape_index()), one.operand_index(),
                         ToList(one.operand_shape_index())});
    }
    return Present(std::move(aliases));
  }
};

struct ReplicationForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    for (int64_t flag : List(value)) {
      proto->mutable_parameter_replication()->add_replicated_at_leaf_buffers(flag != 0);
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    return Present(ToList(site.proto.parameter_replication().replicated_at_leaf_buffers()));
  }
};

struct LowerForm {
  static absl::Status Write(const AttrValue& value, Opcode opcode, Proto* proto) {
    if (opcode == Opcode::kCholesky) {
      proto->mutable_cholesky_options()->set_lower(Flag(value));
    } else {
      proto->mutable_triangular_solve_options()->set_lower(Flag(value));
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    return Present(site.info.opcode == Opcode::kCholesky
                       ? site.proto.cholesky_options().lower()
                       : site.proto.triangular_solve_options().lower());
  }
};

struct ChannelForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->set_channel_id(Integer(value));
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    int64_t channel = site.proto.channel_id();
    if (channel <= 0) channel = site.proto.all_reduce_id();
    return channel <= 0 ? Absent() : Present(channel);
  }
};

struct GroupsForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    return ReplicaGroupsToProto(*std::get<SharedValue<ReplicaGroups>>(value), proto);
  }
  static MaybeValue Read(const Site& site) {
    ASSAY_ASSIGN_OR_RETURN(ReplicaGroups groups, ReplicaGroupsFromProto(site.proto));
    return Present(SharedValue<ReplicaGroups>(std::move(groups)));
  }
};

struct DomainForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    const DomainMetadata& domain = *std::get<SharedValue<DomainMetadata>>(value);
    ASSAY_RETURN_IF_ERROR(ShardingToProto(domain.entry, proto->mutable_domain_entry_sharding()));
    return ShardingToProto(domain.exit, proto->mutable_domain_exit_sharding());
  }
  static MaybeValue Read(const Site& site) {
    DomainMetadata domain;
    ASSAY_ASSIGN_OR_RETURN(domain.entry, ShardingFromProto(site.proto.domain_entry_sharding()));
    ASSAY_ASSIGN_OR_RETURN(domain.exit, ShardingFromProto(site.proto.domain_exit_sharding()));
    return Present(SharedValue<DomainMetadata>(std::move(domain)));
  }
};

struct ConstraintsForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    for (const Shape& shape : *std::get<SharedValue<std::vector<Shape>>>(value)) {
      ShapeToProto(shape, proto->add_operand_shapes_with_layout());
    }
    proto->set_constrain_layout(true);
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    if (!site.proto.constrain_layout()) return Absent();
    std::vector<Shape> shapes;
    for (const ShapeProto& one : site.proto.operand_shapes_with_layout()) {
      ASSAY_ASSIGN_OR_RETURN(shapes.emplace_back(), ShapeFromProto(one));
    }
    return Present(SharedValue<std::vector<Shape>>(std::move(shapes)));
  }
};

struct CallLiteralForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
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
  static MaybeValue Read(const Site& site) {
    if (!site.proto.has_literal()) return Absent();
    ASSAY_ASSIGN_OR_RETURN(const Literal literal, LiteralFromProto(site.proto.literal()));
    return Present(
        StrCat(literal.shape().ToString(/*with_layout=*/true), " ", WriteLiteral(literal)));
  }
};

struct OutfeedShapeForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    ShapeToProto(*std::get<SharedValue<Shape>>(value), proto->mutable_outfeed_shape());
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    if (!site.proto.has_outfeed_shape()) return Absent();
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(site.proto.outfeed_shape()));
    return Present(SharedValue<Shape>(std::move(shape)));
  }
};

struct SparsityForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    return ParseSparsity(Text(value), proto->mutable_sparsity_config());
  }
  static MaybeValue Read(const Site& site) {
    // XLA writes an empty message at every convolution.
    const SparsityConfig& sparsity = site.proto.sparsity_config();
    if (!sparsity.has_lhs() && !sparsity.has_rhs()) return Absent();
    return Present(SparsityText(sparsity));
  }
};

struct PrecisionForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    FromList(List(value), proto->mutable_precision_config()->mutable_operand_precision());
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    Int64List words = ToList(site.proto.precision_config().operand_precision());
    for (int64_t word : words) {
      if (WordAt(Attr::kOperandPrecision, word) == "?") {
        return absl::InvalidArgumentError(StrCat("operand_precision has no value ", word));
      }
    }
    return Present(std::move(words));
  }
};

struct AssociativeForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->set_is_associative(Flag(value) ? 1 : 2);
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    const int state = site.proto.is_associative();
    return state == 1 || state == 2 ? Present(state == 1) : Absent();
  }
};

struct PrefetchForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->set_cross_program_prefetch_index(static_cast<int32_t>(Integer(value)));
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    if (site.proto.has_cross_program_prefetch_index()) {
      return Present(int64_t{site.proto.cross_program_prefetch_index()});
    }
    return site.proto.is_cross_program_prefetch() ? Present(int64_t{0}) : Absent();
  }
};

// The message holds 32 bits, text the shortest number that gives them.
struct EpsilonForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->set_epsilon(static_cast<float>(std::get<double>(value)));
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    return Present(static_cast<double>(site.proto.epsilon()));
  }
};

// The one entry of `dimensions`; without it `kAbsent`, or nothing if that is negative.
template <int64_t kAbsent>
struct OneDimensionForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->add_dimensions(Integer(value));
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    if (site.proto.dimensions_size() > 0) return Present(int64_t{site.proto.dimensions(0)});
    if (kAbsent < 0) return Absent();
    return Present(kAbsent);
  }
};

struct IndexVectorDimForm {
  static absl::Status Write(const AttrValue& value, Opcode opcode, Proto* proto) {
    if (opcode == Opcode::kGather) {
      proto->mutable_gather_dimension_numbers()->set_index_vector_dim(Integer(value));
    } else {
      proto->mutable_scatter_dimension_numbers()->set_index_vector_dim(Integer(value));
    }
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    return Present(int64_t{site.info.opcode == Opcode::kGather
                               ? site.proto.gather_dimension_numbers().index_vector_dim()
                               : site.proto.scatter_dimension_numbers().index_vector_dim()});
  }
};

// 0 stands for the version that is named here, as for 1.
struct ApiVersionForm {
  static absl::Status Write(const AttrValue& value, Opcode, Proto* proto) {
    proto->set_custom_call_api_version(static_cast<int>(Integer(value)) + 1);
    return absl::OkStatus();
  }
  static MaybeValue Read(const Site& site) {
    const int version = std::max(site.proto.custom_call_api_version(), 1);
    if (version > 4) {
      return absl::InvalidArgumentError(StrCat("api_version has no value of the number ", version));
    }
    return Present(static_cast<int64_t>(version - 1));
  }
};

constexpr Codec kFormCodecs[] = {
    CodecOf<SliceForm>(Attr::kSlice),
    CodecOf<PaddingForm>(Attr::kPadding),
    CodecOf<OneDimensionForm<0>>(Attr::kIotaDimension),
    CodecOf<OneDimensionForm<-1>>(Attr::kInferredDimension),
    CodecOf<PrecisionForm>(Attr::kOperandPrecision),
    CodecOf<ReplicationForm>(Attr::kParameterReplication),
    CodecOf<IndexVectorDimForm>(Attr::kIndexVectorDim),
    CodecOf<WindowForm>(Attr::kWindow),
    CodecOf<DimLabelsForm>(Attr::kDimLabels),
    CodecOf<SparsityForm>(Attr::kSparsityConfig),
    CodecOf<LowerForm>(Attr::kLower),
    CodecOf<EpsilonForm>(Attr::kEpsilon),
    CodecOf<AssociativeForm>(Attr::kIsAssociative),
    CodecOf<AliasingForm>(Attr::kOutputToOperandAliasing),
    CodecOf<DomainForm>(Attr::kDomain),
    CodecOf<ConstraintsForm>(Attr::kOperandLayoutConstraints),
    CodecOf<CallLiteralForm>(Attr::kLiteral),
    CodecOf<ApiVersionForm>(Attr::kApiVersion),
    CodecOf<PrefetchForm>(Attr::kCrossProgramPrefetchIndex),
    CodecOf<ChannelForm>(Attr::kChannelId),
    CodecOf<GroupsForm>(Attr::kReplicaGroups),
    CodecOf<PairsForm>(Attr::kSourceTargetPairs),
    CodecOf<PermuteSizesForm>(Attr::kPermuteSliceSizes),
    CodecOf<OutfeedShapeForm>(Attr::kOutfeedShape),
};

}  // namespace

absl::Span<const Codec> FormCodecs() { return kFormCodecs; }

}  // namespace assay::proto
