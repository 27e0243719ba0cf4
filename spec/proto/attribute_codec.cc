#include "spec/proto/attribute_codec.h"

#include <algorithm>
#include <charconv>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/attribute_defaults.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/shape_proto.h"
#include "spec/proto/text_cursor.h"
#include "spec/text/parser.h"
#include "spec/text/writer.h"

namespace assay::proto {
namespace {

using Proto = HloInstructionProto;
using MaybeValue = absl::StatusOr<std::optional<AttrValue>>;

// What a reading of one attribute may look at.
struct Site {
  const Proto& proto;
  const OpInfo& info;
  const Shape& shape;
  absl::Span<Instruction* const> operands;
};

struct Codec {
  Attr attr;
  absl::Status (*write)(const AttrValue& value, Opcode opcode, Proto* proto);
  MaybeValue (*read)(const Site& site);
};

const Int64List& List(const AttrValue& value) { return std::get<Int64List>(value); }
int64_t Integer(const AttrValue& value) { return std::get<int64_t>(value); }
bool Flag(const AttrValue& value) { return std::get<bool>(value); }
const std::string& Text(const AttrValue& value) { return std::get<std::string>(value); }

// ---- rows of a scalar or list field ----

#define ASSAY_SCALAR(attr, kind, field)                                                           \
  Codec {                                                                                         \
    Attr::attr,                                                                                   \
        [](const AttrValue& value, Opcode, Proto* proto) {                                        \
          proto->set_##field(kind(value));                                                        \
          return absl::OkStatus();                                                                \
        },                                                                                        \
        [](const Site& site) -> MaybeValue { return AttrValue(kind##Value(site.proto.field())); } \
  }
#define ASSAY_LIST(attr, message, field)                                     \
  Codec {                                                                    \
    Attr::attr,                                                              \
        [](const AttrValue& value, Opcode, Proto* proto) {                   \
          FromList(List(value), proto message##_MUTABLE->mutable_##field()); \
          return absl::OkStatus();                                           \
        },                                                                   \
        [](const Site& site) -> MaybeValue {                                 \
          return AttrValue(ToList(site.proto message##_CONST.field()));      \
        }                                                                    \
  }

int64_t IntegerValue(int64_t value) { return value; }
bool FlagValue(bool value) { return value; }
std::string TextValue(const std::string& value) { return value; }

// ---- words ----

// Numbers of the message by index of the attribute's word; -1: the word has none.
template <typename Get>
MaybeValue ReadWord(Attr attr, absl::Span<const int> numbers, Get number) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == number) return std::optional<AttrValue>(AttrValue(static_cast<int64_t>(i)));
  }
  return absl::InvalidArgumentError(
      StrCat(Info(attr).name, " has no value of the number ", number));
}
absl::StatusOr<int> WordNumber(Attr attr, absl::Span<const int> numbers, const AttrValue& value) {
  const int64_t word = Integer(value);
  if (word >= 0 && word < static_cast<int64_t>(numbers.size())) return numbers[word];
  return absl::InvalidArgumentError(StrCat(Info(attr).name, " has no word ", word));
}
#define ASSAY_WORD(attr, parent, field, ...)                                                 \
  Codec {                                                                                    \
    Attr::attr,                                                                              \
        [](const AttrValue& value, Opcode, Proto* proto) -> absl::Status {                   \
          static constexpr int kNumbers[] = {__VA_ARGS__};                                   \
          ASSAY_ASSIGN_OR_RETURN(const int number, WordNumber(Attr::attr, kNumbers, value)); \
          proto parent##_MUTABLE->set_##field(number);                                       \
          return absl::OkStatus();                                                           \
        },                                                                                   \
        [](const Site& site) {                                                               \
          static constexpr int kNumbers[] = {__VA_ARGS__};                                   \
          return ReadWord(Attr::attr, kNumbers, site.proto parent##_CONST.field());          \
        }                                                                                    \
  }
// Words that the message has as text.
#define ASSAY_NAMED(attr, field)                                                   \
  Codec {                                                                          \
    Attr::attr,                                                                    \
        [](const AttrValue& value, Opcode, Proto* proto) {                         \
          proto->set_##field(std::string(WordAt(Attr::attr, Integer(value))));     \
          return absl::OkStatus();                                                 \
        },                                                                         \
        [](const Site& site) { return ReadNamed(Attr::attr, site.proto.field()); } \
  }
MaybeValue ReadNamed(Attr attr, const std::string& word) {
  if (word.empty()) return std::optional<AttrValue>();
  const std::optional<int64_t> index = WordIndex(attr, word);
  if (!index.has_value()) {
    return absl::InvalidArgumentError(StrCat("'", word, "' is no ", Info(attr).name));
  }
  return std::optional<AttrValue>(AttrValue(*index));
}

// Where a field stands: in the instruction itself or in one of its messages.
#define SELF_MUTABLE
#define SELF_CONST
#define DOT_MUTABLE ->mutable_dot_dimension_numbers()
#define DOT_CONST .dot_dimension_numbers()
#define RAGGED_MUTABLE ->mutable_ragged_dot_dimension_numbers()
#define RAGGED_CONST .ragged_dot_dimension_numbers()
#define GATHER_MUTABLE ->mutable_gather_dimension_numbers()
#define GATHER_CONST .gather_dimension_numbers()
#define SCATTER_MUTABLE ->mutable_scatter_dimension_numbers()
#define SCATTER_CONST .scatter_dimension_numbers()
#define SOLVE_MUTABLE ->mutable_triangular_solve_options()
#define SOLVE_CONST .triangular_solve_options()
#define PRECISION_MUTABLE ->mutable_precision_config()
#define PRECISION_CONST .precision_config()

// ---- the forms that need code ----

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

// Ragged dot has its own message around the numbers of dot.
DotDimensionNumbers* MutableDot(Opcode opcode, Proto* proto) {
  return opcode == Opcode::kRaggedDot
             ? proto->mutable_ragged_dot_dimension_numbers()->mutable_dot_dimension_numbers()
             : proto->mutable_dot_dimension_numbers();
}
const DotDimensionNumbers& Dot(const Site& site) {
  return site.info.opcode == Opcode::kRaggedDot
             ? site.proto.ragged_dot_dimension_numbers().dot_dimension_numbers()
             : site.proto.dot_dimension_numbers();
}
#define ASSAY_DOT(attr, field)                                                   \
  Codec {                                                                        \
    Attr::attr,                                                                  \
        [](const AttrValue& value, Opcode opcode, Proto* proto) {                \
          FromList(List(value), MutableDot(opcode, proto)->mutable_##field());   \
          return absl::OkStatus();                                               \
        },                                                                       \
        [](const Site& site) -> MaybeValue {                                     \
          return std::optional<AttrValue>(AttrValue(ToList(Dot(site).field()))); \
        }                                                                        \
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
    ASSAY_LIST(kDimensions, SELF, dimensions),
    ASSAY_LIST(kDimension, SELF, dimensions),
    ASSAY_SCALAR(kIndex, Integer, tuple_index),
    ASSAY_NAMED(kDirection, comparison_direction),
    ASSAY_NAMED(kCompareType, comparison_type),
    {Attr::kSlice, WriteSlice, ReadSlice},
    ASSAY_LIST(kDynamicSliceSizes, SELF, dynamic_slice_sizes),
    {Attr::kPadding, WritePadding, ReadPadding},
    {Attr::kIotaDimension, WriteDimensionNumber,
     [](const Site& site) { return ReadOneDimension(site, 0); }},
    {Attr::kInferredDimension, WriteDimensionNumber,
     [](const Site& site) { return ReadOneDimension(site, -1); }},
    ASSAY_DOT(kLhsBatchDims, lhs_batch_dimensions),
    ASSAY_DOT(kLhsContractingDims, lhs_contracting_dimensions),
    ASSAY_DOT(kRhsBatchDims, rhs_batch_dimensions),
    ASSAY_DOT(kRhsContractingDims, rhs_contracting_dimensions),
    ASSAY_LIST(kLhsRaggedDims, RAGGED, lhs_ragged_dimensions),
    ASSAY_LIST(kRhsGroupDims, RAGGED, rhs_group_dimensions),
    {Attr::kOperandPrecision, WritePrecision, ReadPrecision},
    ASSAY_WORD(kAlgorithm, PRECISION, algorithm, 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 9, 10, 11, 12),
    ASSAY_SCALAR(kExponentBits, Integer, exponent_bits),
    ASSAY_SCALAR(kMantissaBits, Integer, mantissa_bits),
    ASSAY_SCALAR(kParameterNumber, Integer, parameter_number),
    {Attr::kParameterReplication, WriteReplication, ReadReplication},
    ASSAY_SCALAR(kIsStable, Flag, is_stable),
    ASSAY_SCALAR(kK, Integer, k),
    ASSAY_SCALAR(kLargest, Flag, largest),
    ASSAY_LIST(kOffsetDims, GATHER, offset_dims),
    ASSAY_LIST(kCollapsedSliceDims, GATHER, collapsed_slice_dims),
    ASSAY_LIST(kStartIndexMap, GATHER, start_index_map),
    ASSAY_LIST(kOperandBatchingDims, GATHER, operand_batching_dims),
    ASSAY_LIST(kStartIndicesBatchingDims, GATHER, start_indices_batching_dims),
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
    ASSAY_LIST(kSliceSizes, SELF, gather_slice_sizes),
    ASSAY_SCALAR(kIndicesAreSorted, Flag, indices_are_sorted),
    ASSAY_SCALAR(kUniqueIndices, Flag, unique_indices),
    ASSAY_LIST(kUpdateWindowDims, SCATTER, update_window_dims),
    ASSAY_LIST(kInsertedWindowDims, SCATTER, inserted_window_dims),
    ASSAY_LIST(kScatterDimsToOperandDims, SCATTER, scatter_dims_to_operand_dims),
    ASSAY_LIST(kInputBatchingDims, SCATTER, input_batching_dims),
    ASSAY_LIST(kScatterIndicesBatchingDims, SCATTER, scatter_indices_batching_dims),
    {Attr::kWindow, WriteWindow, ReadWindow},
    {Attr::kDimLabels, WriteDimLabels, ReadDimLabels},
    ASSAY_SCALAR(kFeatureGroupCount, Integer, feature_group_count),
    ASSAY_SCALAR(kBatchGroupCount, Integer, batch_group_count),
    ASSAY_WORD(kConvolutionKind, SELF, conv_kind, 0, 1, 3, 2),
    {Attr::kSparsityConfig, WriteSparsity, ReadSparsity},
    {Attr::kLower, WriteLower, ReadLower},
    {Attr::kLeftSide,
     [](const AttrValue& value, Opcode, Proto* proto) {
       proto->mutable_triangular_solve_options()->set_left_side(Flag(value));
       return absl::OkStatus();
     },
     [](const Site& site) -> MaybeValue {
       return std::optional<AttrValue>(
           AttrValue(site.proto.triangular_solve_options().left_side()));
     }},
    {Attr::kUnitDiagonal,
     [](const AttrValue& value, Opcode, Proto* proto) {
       proto->mutable_triangular_solve_options()->set_unit_diagonal(Flag(value));
       return absl::OkStatus();
     },
     [](const Site& site) -> MaybeValue {
       return std::optional<AttrValue>(
           AttrValue(site.proto.triangular_solve_options().unit_diagonal()));
     }},
    ASSAY_WORD(kTransposeA, SOLVE, transpose_a, 0, 1, 2, 3),
    ASSAY_WORD(kFftType, SELF, fft_type, 0, 1, 2, 3),
    ASSAY_LIST(kFftLength, SELF, fft_length),
    ASSAY_WORD(kDistribution, SELF, distribution, 0, 1, 2),
    ASSAY_WORD(kRngAlgorithm, SELF, rng_algorithm, 0, 1, 2),
    ASSAY_SCALAR(kDelta, Integer, delta),
    {Attr::kEpsilon, WriteEpsilon, ReadEpsilon},
    ASSAY_SCALAR(kFeatureIndex, Integer, feature_index),
    ASSAY_SCALAR(kNumCarries, Integer, num_carries),
    ASSAY_SCALAR(kIsReverse, Flag, is_reverse),
    {Attr::kIsAssociative, WriteAssociative, ReadAssociative},
    ASSAY_NAMED(kFusionKind, fusion_kind),
    {Attr::kOutputToOperandAliasing, WriteAliasing, ReadAliasing},
    ASSAY_SCALAR(kIsComposite, Flag, is_composite),
    {Attr::kDomain, WriteDomain, ReadDomain},
    ASSAY_WORD(kPaddingType, SELF, padding_type, 0, 1, 2),
    ASSAY_SCALAR(kCustomCallTarget, Text, custom_call_target),
    {Attr::kOperandLayoutConstraints, WriteConstraints, ReadConstraints},
    ASSAY_SCALAR(kCustomCallHasSideEffect, Flag, custom_call_has_side_effect),
    {Attr::kLiteral, WriteCallLiteral, ReadCallLiteral},
    ASSAY_WORD(kSchedule, SELF, custom_call_schedule, 0, 1, 2),
    {Attr::kApiVersion, WriteApiVersion, ReadApiVersion},
    ASSAY_SCALAR(kAsyncExecutionThread, Text, async_execution_thread),
    {Attr::kCrossProgramPrefetchIndex, WritePrefetch, ReadPrefetch},
    {Attr::kChannelId, WriteChannel, ReadChannel},
    {Attr::kReplicaGroups, WriteGroups, ReadGroups},
    ASSAY_SCALAR(kConstrainLayout, Flag, constrain_layout),
    ASSAY_SCALAR(kUseGlobalDeviceIds, Flag, use_global_device_ids),
    ASSAY_SCALAR(kHasDynamicRoot, Flag, has_dynamic_root),
    {Attr::kSourceTargetPairs, WritePairs, ReadPairs},
    {Attr::kPermuteSliceSizes, WritePermuteSizes, ReadPermuteSizes},
    ASSAY_SCALAR(kIsHostTransfer, Flag, is_host_transfer),
    ASSAY_SCALAR(kInfeedConfig, Text, infeed_config),
    {Attr::kOutfeedShape, WriteOutfeedShape, ReadOutfeedShape},
    ASSAY_SCALAR(kOutfeedConfig, Text, outfeed_config),
};

const Codec* FindCodec(Attr attr) {
  static const auto* by_attr = [] {
    auto* table = new std::vector<const Codec*>(kAttrCount, nullptr);
    for (const Codec& codec : kCodecs) (*table)[static_cast<size_t>(codec.attr)] = &codec;
    return table;
  }();
  return (*by_attr)[static_cast<size_t>(attr)];
}

// The attributes that every instruction may carry.
absl::Status WriteCommon(Attr attr, const AttrValue& value, Proto* proto) {
  if (attr == Attr::kSharding) {
    return ShardingToProto(*std::get<SharedValue<Sharding>>(value), proto->mutable_sharding());
  }
  if (attr == Attr::kFrontendAttributes) {
    for (const auto& [key, text] : std::get<StringMap>(value)) {
      (*proto->mutable_frontend_attributes()->mutable_map())[key] = text;
    }
    return absl::OkStatus();
  }
  const std::string& text = Text(value);
  switch (attr) {
    case Attr::kStatistics:
      return ParseStatistics(text, proto->mutable_statistics_viz());
    case Attr::kResultAccuracy:
      return ParseResultAccuracy(text, proto->mutable_result_accuracy());
    case Attr::kOrigin:
      return ParseOrigin(text, proto->mutable_original_value());
    case Attr::kMetadata:
      return ParseMetadata(text, proto->mutable_metadata());
    default:
      proto->set_backend_config(text);
      return absl::OkStatus();
  }
}

absl::Status ReadCommon(const Proto& proto, const Shape& shape, const HloModuleProto& module,
                        Attributes* attributes) {
  auto set = [attributes](Attr attr, std::string text) {
    if (!text.empty()) attributes->Set(attr, AttrValue(std::move(text)));
  };
  if (proto.has_sharding()) {
    ASSAY_ASSIGN_OR_RETURN(Sharding sharding, ShardingFromProto(proto.sharding()));
    attributes->Set(Attr::kSharding, AttrValue(SharedValue<Sharding>(std::move(sharding))));
  }
  if (proto.frontend_attributes().map_size() > 0) {
    attributes->Set(Attr::kFrontendAttributes,
                    AttrValue(FrontendAttributesMap(proto.frontend_attributes())));
  }
  if (proto.statistics_viz().statistics_size() > 0) {
    set(Attr::kStatistics, StatisticsText(proto.statistics_viz()));
  }
  if (proto.has_result_accuracy()) {
    set(Attr::kResultAccuracy, ResultAccuracyText(proto.result_accuracy()));
  }
  if (proto.has_original_value()) {
    set(Attr::kOrigin, OriginText(proto.original_value(), shape));
  }
  if (proto.has_metadata()) set(Attr::kMetadata, MetadataText(proto.metadata()));
  std::string config = proto.backend_config();
  if (proto.has_backend_config_payload()) {
    const Payload& payload = proto.backend_config_payload();
    if (payload.has_id()) {
      if (payload.id() < 0 || payload.id() >= module.payloads_size()) {
        return absl::InvalidArgumentError(
            StrCat("the module has no payload ", payload.id(), " of ", module.payloads_size()));
      }
      config = module.payloads(static_cast<int>(payload.id()));
    } else {
      config = payload.value();
    }
  }
  set(Attr::kBackendConfig, std::move(config));
  return absl::OkStatus();
}

}  // namespace

absl::Status AttributesToProto(const Instruction& instruction, HloInstructionProto* proto) {
  auto in = [&](const absl::Status& status) {
    return status.ok() ? status
                       : absl::Status(status.code(),
                                      StrCat(instruction.name(), ": ", ToStd(status.message())));
  };
  for (const auto& [attr, value] : instruction.attributes().entries()) {
    if (IsCommon(attr)) {
      ASSAY_RETURN_IF_ERROR(in(WriteCommon(attr, value, proto)));
    } else if (const Codec* codec = FindCodec(attr)) {
      ASSAY_RETURN_IF_ERROR(in(codec->write(value, instruction.opcode(), proto)));
    } else {
      return in(absl::UnimplementedError(StrCat(Info(attr).name, " has no binary form")));
    }
  }
  // What absence would say otherwise: the format stores these defaults.
  for (const AttrSpec& spec : Info(instruction.opcode()).attributes) {
    const AttrKind kind = Info(spec.attr).kind;
    if (instruction.attributes().Has(spec.attr) || spec.default_value == 0) continue;
    if (spec.default_value < 0 || (kind != AttrKind::kInteger && kind != AttrKind::kFlag)) continue;
    const AttrValue value =
        kind == AttrKind::kFlag ? AttrValue(true) : AttrValue(spec.default_value);
    if (const Codec* codec = FindCodec(spec.attr)) {
      ASSAY_RETURN_IF_ERROR(in(codec->write(value, instruction.opcode(), proto)));
    }
  }
  if (instruction.opcode() == Opcode::kCompare && proto->comparison_type().empty() &&
      instruction.operand_count() > 0) {
    const CompareType usual = DefaultCompareType(instruction.operand(0)->shape().element_type());
    proto->set_comparison_type(
        std::string(WordAt(Attr::kCompareType, static_cast<int64_t>(usual))));
  }
  if (instruction.opcode() == Opcode::kCustomCall && proto->custom_call_api_version() == 0) {
    proto->set_custom_call_api_version(1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Attributes> AttributesFromProto(const HloInstructionProto& proto, const OpInfo& info,
                                               const Shape& shape,
                                               absl::Span<Instruction* const> operands,
                                               const HloModuleProto& module) {
  Attributes attributes;
  const Site site{proto, info, shape, operands};
  auto read = [&](const AttrSpec& spec) -> absl::Status {
    const Codec* codec = FindCodec(spec.attr);
    if (codec == nullptr) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(std::optional<AttrValue> value, codec->read(site));
    const AttrKind kind = Info(spec.attr).kind;
    if (!value.has_value()) {
      if (spec.presence == AttrSpec::kOptional) return absl::OkStatus();
      if (spec.presence == AttrSpec::kRequired) {
        return absl::InvalidArgumentError(
            StrCat(info.name, " needs the attribute ", Info(spec.attr).name));
      }
      value = DefaultValue(spec, kind);
    }
    // Counts of which the message may say 0 for 1.
    if (kind == AttrKind::kInteger && spec.default_value == 1 && std::get<int64_t>(*value) == 0) {
      value = AttrValue(int64_t{1});
    }
    if (kind == AttrKind::kOneInteger && std::get<Int64List>(*value).size() != 1) {
      if (spec.presence == AttrSpec::kOptional && std::get<Int64List>(*value).empty()) {
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError(StrCat(info.name, ": ", Info(spec.attr).name, " has ",
                                               std::get<Int64List>(*value).size(),
                                               " entries, want 1"));
    }
    if (spec.presence == AttrSpec::kOptional && IsDefaultValue(spec, kind, *value)) {
      return absl::OkStatus();
    }
    attributes.Set(spec.attr, *std::move(value));
    return absl::OkStatus();
  };
  for (const AttrSpec& spec : info.attributes) ASSAY_RETURN_IF_ERROR(read(spec));
  if (info.opcode == Opcode::kParameter) {
    attributes.Set(Attr::kParameterNumber, AttrValue(int64_t{proto.parameter_number()}));
  }
  if (info.opcode == Opcode::kCompare && !operands.empty()) {
    const CompareType usual = DefaultCompareType(operands[0]->shape().element_type());
    if (attributes.Integer(Attr::kCompareType, -1) == static_cast<int64_t>(usual)) {
      attributes.Remove(Attr::kCompareType);
    }
  }
  ASSAY_RETURN_IF_ERROR(ReadCommon(proto, shape, module, &attributes));
  return attributes;
}

}  // namespace assay::proto
