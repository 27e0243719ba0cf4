// Attributes of instructions: a closed list of names, each with a kind, held in one small sorted
// container. Parser, printer, clone, hash, equality, generator and reducer handle attributes by
// kind and need no code per op. Document: hlo-format chapters 3.4 to 3.8 and 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "spec/attributes/attribute_words.h"
#include "spec/attributes/sharding.h"
#include "spec/attributes/shared_value.h"
#include "spec/types/shape.h"

namespace assay {

// The kind of an attribute says how its value is written and which alternative of AttrValue holds
// it.
enum class AttrKind : uint8_t {
  kFlag,          // true|false                        -> bool
  kInteger,       // 5                                  -> int64_t
  kFloat,         // 0.5                                -> double that f32 holds
  kString,        // "text"                             -> std::string
  kWord,          // one of a fixed list of words       -> int64_t, index into AttrInfo::words
  kIntegers,      // {0,1}                              -> Int64List
  kOneInteger,    // {0}: braces around exactly one     -> Int64List of size 1
  kIntegerLists,  // {{0,1},{2}}                        -> std::vector<Int64List>
  kFlags,         // {true,false}                       -> Int64List of 0 and 1
  kWords,         // {default,high}                     -> Int64List, indices into AttrInfo::words
  kSliceRanges,   // {[0:2:1], [1:5]}                   -> std::vector<SliceRange>
  kPadding,       // 1_2_0x0_0_0                        -> std::vector<PaddingDim>
  kWindow,        // {size=2x3 stride=2x1 ...}          -> std::vector<WindowDim>
  kDimLabels,     // b01f_01io->b01f                    -> ConvDimLabels
  kAliasing,      // {{0}: (1, {}), ...}                -> std::vector<OutputAlias>
  kBlob,      // string or JSON dictionary          -> std::string (the content, unescaped if it was
              // quoted)
  kVerbatim,  // any balanced text, kept as written -> std::string
  kShape,     // f32[2]{0}                         -> SharedValue<Shape>
  kShapes,    // {f32[2]{0}, s32[]}                -> SharedValue<std::vector<Shape>>
  kReplicaGroups,   // {{0,1},{2,3}}, [2,2]<=[4], mesh   -> SharedValue<ReplicaGroups>
  kSharding,        // {devices=[2,1]<=[2]}              -> SharedValue<Sharding>
  kDomainMetadata,  // {kind="sharding", entry={...}, exit={...}} -> SharedValue<DomainMetadata>
  kStringMap,       // {key="value",key2={json}}         -> StringMap
};

// Sorted by key; keys are unique.
using StringMap = std::vector<std::pair<std::string, std::string>>;

struct SliceRange {
  int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceRange&) const = default;
};
struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;  // low and high may be negative
  bool operator==(const PaddingDim&) const = default;
};
struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;
  bool reversal = false;
  bool operator==(const WindowDim&) const = default;
};
struct ConvDimLabels {
  int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0,
          output_batch = 0, output_feature = 0;
  Int64List input_spatial, kernel_spatial, output_spatial;
  bool operator==(const ConvDimLabels&) const = default;
};
struct OutputAlias {
  Int64List output_index;
  int64_t operand = 0;
  Int64List operand_index;
  bool operator==(const OutputAlias&) const = default;
};

using AttrValue =
    std::variant<bool, int64_t, double, std::string, Int64List, std::vector<Int64List>,
                 std::vector<SliceRange>, std::vector<PaddingDim>, std::vector<WindowDim>,
                 SharedValue<ConvDimLabels>, std::vector<OutputAlias>, SharedValue<Shape>,
                 SharedValue<std::vector<Shape>>, SharedValue<ReplicaGroups>, SharedValue<Sharding>,
                 SharedValue<DomainMetadata>, StringMap>;

// One list: enumerator, text, kind, words. The order is arbitrary; the print order of an op is that
// of its row in the op table.
#define ASSAY_ATTRIBUTES(X)                                                                        \
  X(kDimensions, "dimensions", kIntegers, "")                                                      \
  X(kDimension, "dimensions", kOneInteger, "")                                                     \
  X(kIndex, "index", kInteger, "")                                                                 \
  X(kDirection, "direction", kWord, "EQ NE GE GT LE LT")                                           \
  X(kCompareType, "type", kWord, "FLOAT TOTALORDER SIGNED UNSIGNED")                               \
  X(kSlice, "slice", kSliceRanges, "")                                                             \
  X(kDynamicSliceSizes, "dynamic_slice_sizes", kIntegers, "")                                      \
  X(kPadding, "padding", kPadding, "")                                                             \
  X(kIotaDimension, "iota_dimension", kInteger, "")                                                \
  X(kInferredDimension, "inferred_dimension", kInteger, "")                                        \
  X(kLhsBatchDims, "lhs_batch_dims", kIntegers, "")                                                \
  X(kLhsContractingDims, "lhs_contracting_dims", kIntegers, "")                                    \
  X(kRhsBatchDims, "rhs_batch_dims", kIntegers, "")                                                \
  X(kRhsContractingDims, "rhs_contracting_dims", kIntegers, "")                                    \
  X(kLhsRaggedDims, "lhs_ragged_dims", kIntegers, "")                                              \
  X(kRhsGroupDims, "rhs_group_dims", kIntegers, "")                                                \
  X(kOperandPrecision, "operand_precision", kWords, "default high highest packed_nibble")          \
  X(kAlgorithm, "algorithm", kWord,                                                                \
    "unset dot_any_f8_any_f8_f32 dot_any_f8_any_f8_f32_fast_accum dot_f16_f16_f16 "                \
    "dot_f16_f16_f32 "                                                                             \
    "dot_bf16_bf16_bf16 dot_bf16_bf16_f32 dot_bf16_bf16_f32_x3 dot_bf16_bf16_f32_x6 "              \
    "dot_bf16_bf16_f32_x9 dot_tf32_tf32_f32 dot_tf32_tf32_f32_x3 dot_f32_f32_f32 dot_f64_f64_f64") \
  X(kExponentBits, "exponent_bits", kInteger, "")                                                  \
  X(kMantissaBits, "mantissa_bits", kInteger, "")                                                  \
  X(kParameterNumber, "parameter_number", kInteger, "")                                            \
  X(kParameterReplication, "parameter_replication", kFlags, "")                                    \
  X(kIsStable, "is_stable", kFlag, "")                                                             \
  X(kK, "k", kInteger, "")                                                                         \
  X(kLargest, "largest", kFlag, "")                                                                \
  X(kOffsetDims, "offset_dims", kIntegers, "")                                                     \
  X(kCollapsedSliceDims, "collapsed_slice_dims", kIntegers, "")                                    \
  X(kStartIndexMap, "start_index_map", kIntegers, "")                                              \
  X(kOperandBatchingDims, "operand_batching_dims", kIntegers, "")                                  \
  X(kStartIndicesBatchingDims, "start_indices_batching_dims", kIntegers, "")                       \
  X(kIndexVectorDim, "index_vector_dim", kInteger, "")                                             \
  X(kSliceSizes, "slice_sizes", kIntegers, "")                                                     \
  X(kIndicesAreSorted, "indices_are_sorted", kFlag, "")                                            \
  X(kUniqueIndices, "unique_indices", kFlag, "")                                                   \
  X(kUpdateWindowDims, "update_window_dims", kIntegers, "")                                        \
  X(kInsertedWindowDims, "inserted_window_dims", kIntegers, "")                                    \
  X(kScatterDimsToOperandDims, "scatter_dims_to_operand_dims", kIntegers, "")                      \
  X(kInputBatchingDims, "input_batching_dims", kIntegers, "")                                      \
  X(kScatterIndicesBatchingDims, "scatter_indices_batching_dims", kIntegers, "")                   \
  X(kWindow, "window", kWindow, "")                                                                \
  X(kDimLabels, "dim_labels", kDimLabels, "")                                                      \
  X(kFeatureGroupCount, "feature_group_count", kInteger, "")                                       \
  X(kBatchGroupCount, "batch_group_count", kInteger, "")                                           \
  X(kConvolutionKind, "convolution_kind", kWord, "unset fprop wgrad dgrad")                        \
  X(kSparsityConfig, "sparsity_config", kVerbatim, "")                                             \
  X(kLower, "lower", kFlag, "")                                                                    \
  X(kLeftSide, "left_side", kFlag, "")                                                             \
  X(kUnitDiagonal, "unit_diagonal", kFlag, "")                                                     \
  X(kTransposeA, "transpose_a", kWord, "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT")         \
  X(kFftType, "fft_type", kWord, "FFT IFFT RFFT IRFFT")                                            \
  X(kFftLength, "fft_length", kIntegers, "")                                                       \
  X(kDistribution, "distribution", kWord, "rng_invalid rng_uniform rng_normal")                    \
  X(kRngAlgorithm, "algorithm", kWord, "rng_default rng_three_fry rng_philox")                     \
  X(kDelta, "delta", kInteger, "")                                                                 \
  X(kEpsilon, "epsilon", kFloat, "")                                                               \
  X(kFeatureIndex, "feature_index", kInteger, "")                                                  \
  X(kNumCarries, "num_carries", kInteger, "")                                                      \
  X(kIsReverse, "is_reverse", kFlag, "")                                                           \
  X(kIsAssociative, "is_associative", kFlag, "")                                                   \
  X(kFusionKind, "kind", kWord, "kLoop kInput kOutput kCustom")                                    \
  X(kOutputToOperandAliasing, "output_to_operand_aliasing", kAliasing, "")                         \
  X(kIsComposite, "is_composite", kFlag, "")                                                       \
  X(kDomain, "domain", kDomainMetadata, "")                                                        \
  X(kPaddingType, "padding_type", kWord, "PADDING_INVALID PADDING_VALID PADDING_SAME")             \
  X(kCustomCallTarget, "custom_call_target", kString, "")                                          \
  X(kOperandLayoutConstraints, "operand_layout_constraints", kShapes, "")                          \
  X(kCustomCallHasSideEffect, "custom_call_has_side_effect", kFlag, "")                            \
  X(kLiteral, "literal", kVerbatim, "")                                                            \
  X(kSchedule, "schedule", kWord, "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST")               \
  X(kApiVersion, "api_version", kWord,                                                             \
    "API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED "      \
    "API_VERSION_TYPED_FFI")                                                                       \
  X(kAsyncExecutionThread, "async_execution_thread", kString, "")                                  \
  X(kCrossProgramPrefetchIndex, "cross_program_prefetch_index", kInteger, "")                      \
  X(kChannelId, "channel_id", kInteger, "")                                                        \
  X(kReplicaGroups, "replica_groups", kReplicaGroups, "")                                          \
  X(kConstrainLayout, "constrain_layout", kFlag, "")                                               \
  X(kUseGlobalDeviceIds, "use_global_device_ids", kFlag, "")                                       \
  X(kHasDynamicRoot, "has_dynamic_root", kFlag, "")                                                \
  X(kSourceTargetPairs, "source_target_pairs", kIntegerLists, "")                                  \
  X(kPermuteSliceSizes, "slice_sizes", kIntegerLists, "")                                          \
  X(kIsHostTransfer, "is_host_transfer", kFlag, "")                                                \
  X(kInfeedConfig, "infeed_config", kString, "")                                                   \
  X(kOutfeedShape, "outfeed_shape", kShape, "")                                                    \
  X(kOutfeedConfig, "outfeed_config", kString, "")                                                 \
  /* common to all instructions, in print order */                                                 \
  X(kSharding, "sharding", kSharding, "")                                                          \
  X(kFrontendAttributes, "frontend_attributes", kStringMap, "")                                    \
  X(kStatistics, "statistics", kVerbatim, "")                                                      \
  X(kResultAccuracy, "result_accuracy", kVerbatim, "")                                             \
  X(kOrigin, "origin", kVerbatim, "")                                                              \
  X(kMetadata, "metadata", kVerbatim, "")                                                          \
  X(kBackendConfig, "backend_config", kBlob, "")                                                   \
  /* known to the compiler alone that holds the module: in no text and no message */               \
  X(kCollectiveTag, "(collective tag)", kString, "")

enum class Attr : uint8_t {
#define ASSAY_ATTRIBUTE_ENUM(name, ...) name,
  ASSAY_ATTRIBUTES(ASSAY_ATTRIBUTE_ENUM)
#undef ASSAY_ATTRIBUTE_ENUM
};
inline constexpr int kAttrCount = static_cast<int>(Attr::kCollectiveTag) + 1;
// True of attributes that passes keep for the compiler's own use. No form of a module has them.
constexpr bool IsInternal(Attr attr) { return attr > Attr::kBackendConfig; }

struct AttrInfo {
  Attr attr;
  std::string_view name;  // in HLO text; two attributes may share one name when no op has both
  AttrKind kind;
  std::vector<std::string_view> words;
};
const AttrInfo& Info(Attr attr);
// Index of `word` in the attribute's list, ignoring case; nullopt if absent.
std::optional<int64_t> WordIndex(Attr attr, std::string_view word);
std::string_view WordAt(Attr attr, int64_t index);

class Attributes {
 public:
  using Entry = std::pair<Attr, AttrValue>;

  // Out of line, as is all that touches values of seventeen kinds: compiled once.
  Attributes();
  Attributes(const Attributes& other);
  Attributes& operator=(const Attributes& other);
  Attributes(Attributes&& other) noexcept;
  Attributes& operator=(Attributes&& other) noexcept;
  ~Attributes();

  bool empty() const { return entries_.empty(); }
  absl::Span<const Entry> entries() const { return entries_; }  // sorted by Attr

  bool Has(Attr attr) const { return Find(attr) != nullptr; }
  const AttrValue* Find(Attr attr) const;
  AttrValue* Find(Attr attr);
  Attributes& Set(Attr attr, AttrValue value);
  Attributes& Set(Attr attr, absl::Span<const int64_t> value);
  Attributes& Set(Attr attr, std::initializer_list<int64_t> value);
  Attributes& Set(Attr attr, const char* value);
  Attributes& Set(Attr attr, int value) { return SetInteger(attr, value); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  Attributes& Set(Attr attr, Enum word) {
    return SetInteger(attr, static_cast<int64_t>(word));
  }
  void Remove(Attr attr);

  // The labels of a convolution; nullptr where they are absent.
  const ConvDimLabels* DimLabels() const;

  // Typed reads; the value that an absent attribute stands for when it is not there.
  bool Flag(Attr attr, bool absent = false) const;
  int64_t Integer(Attr attr, int64_t absent = 0) const;
  // A kWord attribute as its enumerator (attribute_words.h).
  template <typename Enum>
  Enum Word(Attr attr, Enum absent = Enum{}) const {
    return static_cast<Enum>(Integer(attr, static_cast<int64_t>(absent)));
  }
  double Float(Attr attr, double absent = 0) const;
  const std::string& String(Attr attr) const;           // absent: ""
  absl::Span<const int64_t> Integers(Attr attr) const;  // absent: {}
  absl::Span<const SliceRange> SliceRanges(Attr attr) const;
  absl::Span<const PaddingDim> Padding(Attr attr) const;
  absl::Span<const WindowDim> Window(Attr attr) const;
  // nullptr when absent.
  const ReplicaGroups* Groups(Attr attr) const;
  const Sharding* GetSharding(Attr attr) const;
  const Shape* GetShape(Attr attr) const;
  // The value of `key` in a map; nullptr when there is none.
  const std::string* MapValue(Attr attr, std::string_view key) const;

  bool operator==(const Attributes& other) const;

 private:
  Attributes& SetInteger(Attr attr, int64_t value);

  absl::InlinedVector<Entry, 2> entries_;
};

}  // namespace assay
