// Attributes that are one field of the instruction's message, or of a message in it: a row each.
// Document: hlo-proto chapters 3 and 5.
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/attribute_codec_internal.h"
#include "spec/proto/shape_proto.h"

namespace assay::proto {
namespace {

using Proto = HloInstructionProto;

// ---- rows of a scalar or list field ----

#define ASSAY_SCALAR(attr, kind, parent, field)                                   \
  Codec {                                                                         \
    Attr::attr,                                                                   \
        [](const AttrValue& value, Opcode, Proto* proto) {                        \
          proto ASSAY_##parent##_MUTABLE->set_##field(kind(value));               \
          return absl::OkStatus();                                                \
        },                                                                        \
        [](const Site& site) -> MaybeValue {                                      \
          return Present(kind##Value(site.proto ASSAY_##parent##_CONST.field())); \
        }                                                                         \
  }
#define ASSAY_LIST(attr, message, field)                                             \
  Codec {                                                                            \
    Attr::attr,                                                                      \
        [](const AttrValue& value, Opcode, Proto* proto) {                           \
          FromList(List(value), proto ASSAY_##message##_MUTABLE->mutable_##field()); \
          return absl::OkStatus();                                                   \
        },                                                                           \
        [](const Site& site) -> MaybeValue {                                         \
          return Present(ToList(site.proto ASSAY_##message##_CONST.field()));        \
        }                                                                            \
  }

int64_t IntegerValue(int64_t value) { return value; }
bool FlagValue(bool value) { return value; }
std::string TextValue(const std::string& value) { return value; }

// ---- words ----

// Numbers of the message by index of the attribute's word; -1: the word has none.
template <typename Get>
MaybeValue ReadWord(Attr attr, absl::Span<const int> numbers, Get number) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == number) return Present(static_cast<int64_t>(i));
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
          proto ASSAY_##parent##_MUTABLE->set_##field(number);                               \
          return absl::OkStatus();                                                           \
        },                                                                                   \
        [](const Site& site) {                                                               \
          static constexpr int kNumbers[] = {__VA_ARGS__};                                   \
          return ReadWord(Attr::attr, kNumbers, site.proto ASSAY_##parent##_CONST.field());  \
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
  if (word.empty()) return Absent();
  const std::optional<int64_t> index = WordIndex(attr, word);
  if (!index.has_value()) {
    return absl::InvalidArgumentError(StrCat("'", word, "' is no ", Info(attr).name));
  }
  return Present(*index);
}

// The macros say where a field stands: in the instruction itself or in one of its messages.
#define ASSAY_SELF_MUTABLE
#define ASSAY_SELF_CONST
#define ASSAY_DOT_MUTABLE ->mutable_dot_dimension_numbers()
#define ASSAY_DOT_CONST .dot_dimension_numbers()
#define ASSAY_RAGGED_MUTABLE ->mutable_ragged_dot_dimension_numbers()
#define ASSAY_RAGGED_CONST .ragged_dot_dimension_numbers()
#define ASSAY_GATHER_MUTABLE ->mutable_gather_dimension_numbers()
#define ASSAY_GATHER_CONST .gather_dimension_numbers()
#define ASSAY_SCATTER_MUTABLE ->mutable_scatter_dimension_numbers()
#define ASSAY_SCATTER_CONST .scatter_dimension_numbers()
#define ASSAY_SOLVE_MUTABLE ->mutable_triangular_solve_options()
#define ASSAY_SOLVE_CONST .triangular_solve_options()
#define ASSAY_PRECISION_MUTABLE ->mutable_precision_config()
#define ASSAY_PRECISION_CONST .precision_config()

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
#define ASSAY_DOT(attr, field)                                                            \
  Codec {                                                                                 \
    Attr::attr,                                                                           \
        [](const AttrValue& value, Opcode opcode, Proto* proto) {                         \
          FromList(List(value), MutableDot(opcode, proto)->mutable_##field());            \
          return absl::OkStatus();                                                        \
        },                                                                                \
        [](const Site& site) -> MaybeValue { return Present(ToList(Dot(site).field())); } \
  }

constexpr Codec kFieldCodecs[] = {
    ASSAY_LIST(kDimensions, SELF, dimensions),
    ASSAY_LIST(kDimension, SELF, dimensions),
    ASSAY_SCALAR(kIndex, Integer, SELF, tuple_index),
    ASSAY_NAMED(kDirection, comparison_direction),
    ASSAY_NAMED(kCompareType, comparison_type),
    ASSAY_LIST(kDynamicSliceSizes, SELF, dynamic_slice_sizes),
    ASSAY_DOT(kLhsBatchDims, lhs_batch_dimensions),
    ASSAY_DOT(kLhsContractingDims, lhs_contracting_dimensions),
    ASSAY_DOT(kRhsBatchDims, rhs_batch_dimensions),
    ASSAY_DOT(kRhsContractingDims, rhs_contracting_dimensions),
    ASSAY_LIST(kLhsRaggedDims, RAGGED, lhs_ragged_dimensions),
    ASSAY_LIST(kRhsGroupDims, RAGGED, rhs_group_dimensions),
    ASSAY_WORD(kAlgorithm, PRECISION, algorithm, 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 9, 10, 11, 12),
    ASSAY_SCALAR(kExponentBits, Integer, SELF, exponent_bits),
    ASSAY_SCALAR(kMantissaBits, Integer, SELF, mantissa_bits),
    ASSAY_SCALAR(kParameterNumber, Integer, SELF, parameter_number),
    ASSAY_SCALAR(kIsStable, Flag, SELF, is_stable),
    ASSAY_SCALAR(kK, Integer, SELF, k),
    ASSAY_SCALAR(kLargest, Flag, SELF, largest),
    ASSAY_LIST(kOffsetDims, GATHER, offset_dims),
    ASSAY_LIST(kCollapsedSliceDims, GATHER, collapsed_slice_dims),
    ASSAY_LIST(kStartIndexMap, GATHER, start_index_map),
    ASSAY_LIST(kOperandBatchingDims, GATHER, operand_batching_dims),
    ASSAY_LIST(kStartIndicesBatchingDims, GATHER, start_indices_batching_dims),
    ASSAY_LIST(kSliceSizes, SELF, gather_slice_sizes),
    ASSAY_SCALAR(kIndicesAreSorted, Flag, SELF, indices_are_sorted),
    ASSAY_SCALAR(kUniqueIndices, Flag, SELF, unique_indices),
    ASSAY_LIST(kUpdateWindowDims, SCATTER, update_window_dims),
    ASSAY_LIST(kInsertedWindowDims, SCATTER, inserted_window_dims),
    ASSAY_LIST(kScatterDimsToOperandDims, SCATTER, scatter_dims_to_operand_dims),
    ASSAY_LIST(kInputBatchingDims, SCATTER, input_batching_dims),
    ASSAY_LIST(kScatterIndicesBatchingDims, SCATTER, scatter_indices_batching_dims),
    ASSAY_SCALAR(kFeatureGroupCount, Integer, SELF, feature_group_count),
    ASSAY_SCALAR(kBatchGroupCount, Integer, SELF, batch_group_count),
    ASSAY_WORD(kConvolutionKind, SELF, conv_kind, 0, 1, 3, 2),
    ASSAY_SCALAR(kLeftSide, Flag, SOLVE, left_side),
    ASSAY_SCALAR(kUnitDiagonal, Flag, SOLVE, unit_diagonal),
    ASSAY_WORD(kTransposeA, SOLVE, transpose_a, 0, 1, 2, 3),
    ASSAY_WORD(kFftType, SELF, fft_type, 0, 1, 2, 3),
    ASSAY_LIST(kFftLength, SELF, fft_length),
    ASSAY_WORD(kDistribution, SELF, distribution, 0, 1, 2),
    ASSAY_WORD(kRngAlgorithm, SELF, rng_algorithm, 0, 1, 2),
    ASSAY_SCALAR(kDelta, Integer, SELF, delta),
    ASSAY_SCALAR(kFeatureIndex, Integer, SELF, feature_index),
    ASSAY_SCALAR(kNumCarries, Integer, SELF, num_carries),
    ASSAY_SCALAR(kIsReverse, Flag, SELF, is_reverse),
    ASSAY_NAMED(kFusionKind, fusion_kind),
    ASSAY_SCALAR(kIsComposite, Flag, SELF, is_composite),
    ASSAY_WORD(kPaddingType, SELF, padding_type, 0, 1, 2),
    ASSAY_SCALAR(kCustomCallTarget, Text, SELF, custom_call_target),
    ASSAY_SCALAR(kCustomCallHasSideEffect, Flag, SELF, custom_call_has_side_effect),
    ASSAY_WORD(kSchedule, SELF, custom_call_schedule, 0, 1, 2),
    ASSAY_SCALAR(kAsyncExecutionThread, Text, SELF, async_execution_thread),
    ASSAY_SCALAR(kConstrainLayout, Flag, SELF, constrain_layout),
    ASSAY_SCALAR(kUseGlobalDeviceIds, Flag, SELF, use_global_device_ids),
    ASSAY_SCALAR(kHasDynamicRoot, Flag, SELF, has_dynamic_root),
    ASSAY_SCALAR(kIsHostTransfer, Flag, SELF, is_host_transfer),
    ASSAY_SCALAR(kInfeedConfig, Text, SELF, infeed_config),
    ASSAY_SCALAR(kOutfeedConfig, Text, SELF, outfeed_config),
};

}  // namespace

absl::Span<const Codec> FieldCodecs() { return kFieldCodecs; }

}  // namespace assay::proto
