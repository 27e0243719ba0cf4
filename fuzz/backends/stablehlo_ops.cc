// Two tables: ops that are the same in both languages, and the attributes of the others.
#include "fuzz/backends/stablehlo_ops.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

absl::Status NoWord(std::string_view what) {
  return MakeError(ErrorClass::kUnsupported, StrCat("no StableHLO: ", what));
}

struct TypeWord {
  ElementType type;
  std::string_view word;
};
constexpr TypeWord kTypeWords[] = {
    {ElementType::kPred, "i1"},
    {ElementType::kS2, "i2"},
    {ElementType::kS4, "i4"},
    {ElementType::kS8, "i8"},
    {ElementType::kS16, "i16"},
    {ElementType::kS32, "i32"},
    {ElementType::kS64, "i64"},
    {ElementType::kU2, "ui2"},
    {ElementType::kU4, "ui4"},
    {ElementType::kU8, "ui8"},
    {ElementType::kU16, "ui16"},
    {ElementType::kU32, "ui32"},
    {ElementType::kU64, "ui64"},
    {ElementType::kF16, "f16"},
    {ElementType::kF32, "f32"},
    {ElementType::kF64, "f64"},
    {ElementType::kBF16, "bf16"},
    {ElementType::kC64, "complex<f32>"},
    {ElementType::kC128, "complex<f64>"},
    {ElementType::kF8E5M2, "f8E5M2"},
    {ElementType::kF8E4M3FN, "f8E4M3FN"},
    {ElementType::kF8E4M3B11FNUZ, "f8E4M3B11FNUZ"},
    {ElementType::kF8E5M2FNUZ, "f8E5M2FNUZ"},
    {ElementType::kF8E4M3FNUZ, "f8E4M3FNUZ"},
    {ElementType::kF8E4M3, "f8E4M3"},
    {ElementType::kF8E3M4, "f8E3M4"},
    {ElementType::kF8E8M0FNU, "f8E8M0FNU"},
    {ElementType::kF4E2M1FN, "f4E2M1FN"},
};

// Ops of which only the name is to be said: HLO's own with '_' for '-'.
constexpr Opcode kPlain[] = {
    Opcode::kAbs,
    Opcode::kAdd,
    Opcode::kAnd,
    Opcode::kAtan2,
    Opcode::kBitcastConvert,
    Opcode::kCbrt,
    Opcode::kCeil,
    Opcode::kClamp,
    Opcode::kClz,
    Opcode::kComplex,
    Opcode::kConvert,
    Opcode::kCosine,
    Opcode::kDivide,
    Opcode::kDynamicUpdateSlice,
    Opcode::kExponential,
    Opcode::kExponentialMinusOne,
    Opcode::kFloor,
    Opcode::kImag,
    Opcode::kIsFinite,
    Opcode::kLog,
    Opcode::kLogPlusOne,
    Opcode::kLogistic,
    Opcode::kMaximum,
    Opcode::kMinimum,
    Opcode::kMultiply,
    Opcode::kNegate,
    Opcode::kNot,
    Opcode::kOr,
    Opcode::kPartitionId,
    Opcode::kPopcnt,
    Opcode::kPower,
    Opcode::kReal,
    Opcode::kRemainder,
    Opcode::kReplicaId,
    Opcode::kReshape,
    Opcode::kRoundNearestAfz,
    Opcode::kRoundNearestEven,
    Opcode::kRsqrt,
    Opcode::kSelect,
    Opcode::kShiftLeft,
    Opcode::kShiftRightArithmetic,
    Opcode::kShiftRightLogical,
    Opcode::kSign,
    Opcode::kSine,
    Opcode::kSqrt,
    Opcode::kSubtract,
    Opcode::kTan,
    Opcode::kTanh,
    Opcode::kXor,
};

std::string Array(absl::Span<const int64_t> values) {
  return values.empty() ? "array<i64>" : StrCat("array<i64: ", absl::StrJoin(values, ", "), ">");
}
std::string List(absl::Span<const int64_t> values) {
  return StrCat("[", absl::StrJoin(values, ", "), "]");
}
std::string_view Truth(bool value) { return value ? "true" : "false"; }

std::string PairsOf(absl::Span<const int64_t> values) {
  if (values.empty()) return "dense<> : tensor<0x2xi64>";
  std::string text;
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    StrAppend(&text, text.empty() ? "" : ", ", "[", values[i], ", ", values[i + 1], "]");
  return StrCat("dense<[", text, "]> : tensor<", values.size() / 2, "x2xi64>");
}

// Truth values as nested lists, for their bytes are read in more than one way.
std::string Nested(const Literal& literal, size_t dimension, int64_t& next) {
  const auto& dims = literal.shape().dimensions();
  if (dimension == dims.size()) return std::string(Truth(literal.bytes()[next++] != 0));
  std::string text;
  for (int64_t i = 0; i < dims[dimension]; ++i)
    StrAppend(&text, i == 0 ? "" : ", ", Nested(literal, dimension + 1, next));
  return StrCat("[", text, "]");
}

absl::StatusOr<std::string> Constant(const Instruction& at) {
  if (at.literal() == nullptr) return NoWord("a constant without a value");
  ASSAY_ASSIGN_OR_RETURN(const std::string type, StableHloType(at.shape()));
  const Literal& literal = *at.literal();
  if (literal.bytes().empty()) return StrCat("value = dense<> : ", type);
  if (at.shape().element_type() == ElementType::kPred) {
    int64_t next = 0;
    return StrCat("value = dense<", Nested(literal, 0, next), "> : ", type);
  }
  const std::string bytes(reinterpret_cast<const char*>(literal.bytes().data()),
                          literal.bytes().size());
  return StrCat("value = dense<\"0x", absl::AsciiStrToUpper(absl::BytesToHexString(bytes)),
                "\"> : ", type);
}

std::string Precision(const Instruction& at) {
  const auto* words = at.attributes().Find(Attr::kOperandPrecision);
  std::string text;
  for (size_t i = 0; i < 2; ++i) {
    const auto* list = words != nullptr ? std::get_if<Int64List>(words) : nullptr;
    const std::string_view word =
        list != nullptr && i < list->size() ? WordAt(Attr::kOperandPrecision, (*list)[i]) : "";
    StrAppend(&text, text.empty() ? "" : ", ", "#stablehlo<precision ",
              word == "high"      ? "HIGH"
              : word == "highest" ? "HIGHEST"
                                  : "DEFAULT",
              ">");
  }
  return StrCat("precision_config = [", text, "]");
}

std::string Dot(const Instruction& at) {
  const Attributes& a = at.attributes();
  return StrCat("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = ",
                List(a.Integers(Attr::kLhsBatchDims)),
                ", rhs_batching_dimensions = ", List(a.Integers(Attr::kRhsBatchDims)),
                ", lhs_contracting_dimensions = ", List(a.Integers(Attr::kLhsContractingDims)),
                ", rhs_contracting_dimensions = ", List(a.Integers(Attr::kRhsContractingDims)),
                ">, ", Precision(at));
}

std::string Gather(const Instruction& at) {
  const Attributes& a = at.attributes();
  return StrCat(
      "dimension_numbers = #stablehlo.gather<offset_dims = ", List(a.Integers(Attr::kOffsetDims)),
      ", collapsed_slice_dims = ", List(a.Integers(Attr::kCollapsedSliceDims)),
      ", operand_batching_dims = ", List(a.Integers(Attr::kOperandBatchingDims)),
      ", start_indices_batching_dims = ", List(a.Integers(Attr::kStartIndicesBatchingDims)),
      ", start_index_map = ", List(a.Integers(Attr::kStartIndexMap)),
      ", index_vector_dim = ", a.Integer(Attr::kIndexVectorDim),
      ">, slice_sizes = ", Array(a.Integers(Attr::kSliceSizes)),
      ", indices_are_sorted = ", Truth(a.Flag(Attr::kIndicesAreSorted)));
}

std::string Scatter(const Instruction& at) {
  const Attributes& a = at.attributes();
  return StrCat(
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = ",
      List(a.Integers(Attr::kUpdateWindowDims)),
      ", inserted_window_dims = ", List(a.Integers(Attr::kInsertedWindowDims)),
      ", input_batching_dims = ", List(a.Integers(Attr::kInputBatchingDims)),
      ", scatter_indices_batching_dims = ", List(a.Integers(Attr::kScatterIndicesBatchingDims)),
      ", scatter_dims_to_operand_dims = ", List(a.Integers(Attr::kScatterDimsToOperandDims)),
      ", index_vector_dim = ", a.Integer(Attr::kIndexVectorDim),
      ">, indices_are_sorted = ", Truth(a.Flag(Attr::kIndicesAreSorted)),
      ", unique_indices = ", Truth(a.Flag(Attr::kUniqueIndices)));
}

// One field of every dimension.
template <typename Rows, typename Field>
std::string ArrayOf(const Rows& rows, Field field) {
  Int64List values;
  for (const auto& row : rows) values.push_back(row.*field);
  return Array(values);
}

std::string PaddingOf(absl::Span<const WindowDim> window) {
  Int64List values;
  for (const WindowDim& dim : window) {
    values.push_back(dim.low);
    values.push_back(dim.high);
  }
  return PairsOf(values);
}

std::string SelectAndScatter(const Instruction& at) {
  const auto& window = at.attributes().Window(Attr::kWindow);
  return StrCat("window_dimensions = ", ArrayOf(window, &WindowDim::size),
                ", window_strides = ", ArrayOf(window, &WindowDim::stride),
                ", padding = ", PaddingOf(window));
}

std::string ReduceWindow(const Instruction& at) {
  const auto& window = at.attributes().Window(Attr::kWindow);
  return StrCat(SelectAndScatter(at),
                ", base_dilations = ", ArrayOf(window, &WindowDim::base_dilation),
                ", window_dilations = ", ArrayOf(window, &WindowDim::window_dilation));
}

std::string Labels(size_t rank, int64_t first, std::string_view first_word, int64_t second,
                   std::string_view second_word, absl::Span<const int64_t> spatial) {
  std::vector<std::string> words(rank);
  words[static_cast<size_t>(first)] = std::string(first_word);
  words[static_cast<size_t>(second)] = std::string(second_word);
  for (size_t i = 0; i < spatial.size(); ++i) words[static_cast<size_t>(spatial[i])] = StrCat(i);
  return StrCat("[", absl::StrJoin(words, ", "), "]");
}

absl::StatusOr<std::string> Convolution(const Instruction& at) {
  const Attributes& a = at.attributes();
  const ConvDimLabels* labels = a.DimLabels();
  if (labels == nullptr) return NoWord("a convolution without labels");
  const size_t rank = labels->input_spatial.size() + 2;
  const auto& window = a.Window(Attr::kWindow);
  std::string reversal;
  for (const WindowDim& dim : window)
    StrAppend(&reversal, reversal.empty() ? ": " : ", ", Truth(dim.reversal));
  return StrCat(
      "dimension_numbers = #stablehlo.conv<",
      Labels(rank, labels->input_batch, "b", labels->input_feature, "f", labels->input_spatial),
      "x",
      Labels(rank, labels->kernel_input_feature, "i", labels->kernel_output_feature, "o",
             labels->kernel_spatial),
      "->",
      Labels(rank, labels->output_batch, "b", labels->output_feature, "f", labels->output_spatial),
      ">, window_strides = ", ArrayOf(window, &WindowDim::stride),
      ", padding = ", PaddingOf(window),
      ", lhs_dilation = ", ArrayOf(window, &WindowDim::base_dilation),
      ", rhs_dilation = ", ArrayOf(window, &WindowDim::window_dilation),
      ", window_reversal = array<i1", reversal,
      ">, feature_group_count = ", a.Integer(Attr::kFeatureGroupCount, 1),
      " : i64, batch_group_count = ", a.Integer(Attr::kBatchGroupCount, 1), " : i64, ",
      Precision(at));
}

std::string Slice(const Instruction& at) {
  const auto& ranges = at.attributes().SliceRanges(Attr::kSlice);
  return StrCat("start_indices = ", ArrayOf(ranges, &SliceRange::start),
                ", limit_indices = ", ArrayOf(ranges, &SliceRange::limit),
                ", strides = ", ArrayOf(ranges, &SliceRange::stride));
}

std::string Pad(const Instruction& at) {
  const auto& padding = at.attributes().Padding(Attr::kPadding);
  return StrCat("edge_padding_low = ", ArrayOf(padding, &PaddingDim::low),
                ", edge_padding_high = ", ArrayOf(padding, &PaddingDim::high),
                ", interior_padding = ", ArrayOf(padding, &PaddingDim::interior));
}

std::string Compare(const Instruction& at) {
  const Attributes& a = at.attributes();
  const ElementType type = at.operand(0)->shape().element_type();
  std::string kind = "UNSIGNED";
  if (a.Has(Attr::kCompareType)) {
    kind = std::string(WordAt(Attr::kCompareType, a.Integer(Attr::kCompareType)));
  } else if (IsFloat(type) || IsComplex(type)) {
    kind = "FLOAT";
  } else if (IsSigned(type)) {
    kind = "SIGNED";
  }
  return StrCat("comparison_direction = #stablehlo<comparison_direction ",
                WordAt(Attr::kDirection, a.Integer(Attr::kDirection)),
                ">, compare_type = #stablehlo<comparison_type ", kind, ">");
}

std::string TriangularSolve(const Instruction& at) {
  const Attributes& a = at.attributes();
  return StrCat("left_side = ", Truth(a.Flag(Attr::kLeftSide)),
                ", lower = ", Truth(a.Flag(Attr::kLower)),
                ", unit_diagonal = ", Truth(a.Flag(Attr::kUnitDiagonal)),
                ", transpose_a = #stablehlo<transpose ",
                WordAt(Attr::kTransposeA, a.Integer(Attr::kTransposeA)), ">");
}

std::string Fft(const Instruction& at) {
  const Attributes& a = at.attributes();
  return StrCat("fft_type = #stablehlo<fft_type ",
                WordAt(Attr::kFftType, a.Integer(Attr::kFftType)),
                ">, fft_length = ", Array(a.Integers(Attr::kFftLength)));
}

std::string BatchNorm(const Instruction& at) {
  return StrCat("epsilon = ", absl::StrFormat("%.9e", at.attributes().Float(Attr::kEpsilon)),
                " : f32, feature_index = ", at.attributes().Integer(Attr::kFeatureIndex), " : i64");
}

// HLO's one attribute in the words of StableHLO.
struct AttributeWord {
  Opcode opcode;
  std::string_view name;  // of the op
  std::string (*attributes)(const Instruction& at);
};

std::string DimensionsAs(const Instruction& at, std::string_view word) {
  return StrCat(word, " = ", Array(at.attributes().Integers(Attr::kDimensions)));
}

constexpr AttributeWord kWithAttributes[] = {
    {Opcode::kBatchNormGrad, "batch_norm_grad", BatchNorm},
    {Opcode::kBatchNormInference, "batch_norm_inference", BatchNorm},
    {Opcode::kBatchNormTraining, "batch_norm_training", BatchNorm},
    {Opcode::kBroadcast, "broadcast_in_dim",
     [](const Instruction& at) { return DimensionsAs(at, "broadcast_dimensions"); }},
    {Opcode::kCholesky, "cholesky",
     [](const Instruction& at) {
       return StrCat("lower = ", Truth(at.attributes().Flag(Attr::kLower)));
     }},
    {Opcode::kCompare, "compare", Compare},
    {Opcode::kConcatenate, "concatenate",
     [](const Instruction& at) {
       return StrCat("dimension = ", at.attributes().Integers(Attr::kDimension)[0], " : i64");
     }},
    {Opcode::kDot, "dot_general", Dot},
    {Opcode::kDynamicSlice, "dynamic_slice",
     [](const Instruction& at) {
       return StrCat("slice_sizes = ", Array(at.attributes().Integers(Attr::kDynamicSliceSizes)));
     }},
    {Opcode::kFft, "fft", Fft},
    {Opcode::kGather, "gather", Gather},
    {Opcode::kIota, "iota",
     [](const Instruction& at) {
       return StrCat("iota_dimension = ", at.attributes().Integer(Attr::kIotaDimension), " : i64");
     }},
    {Opcode::kMap, "map", [](const Instruction& at) { return DimensionsAs(at, "dimensions"); }},
    {Opcode::kPad, "pad", Pad},
    {Opcode::kReduce, "reduce",
     [](const Instruction& at) { return DimensionsAs(at, "dimensions"); }},
    {Opcode::kReducePrecision, "reduce_precision",
     [](const Instruction& at) {
       return StrCat("exponent_bits = ", at.attributes().Integer(Attr::kExponentBits),
                     " : i32, mantissa_bits = ", at.attributes().Integer(Attr::kMantissaBits),
                     " : i32");
     }},
    {Opcode::kReduceWindow, "reduce_window", ReduceWindow},
    {Opcode::kReverse, "reverse",
     [](const Instruction& at) { return DimensionsAs(at, "dimensions"); }},
    {Opcode::kScatter, "scatter", Scatter},
    {Opcode::kSelectAndScatter, "select_and_scatter", SelectAndScatter},
    {Opcode::kSlice, "slice", Slice},
    {Opcode::kSort, "sort",
     [](const Instruction& at) {
       return StrCat("dimension = ", at.attributes().Integers(Attr::kDimension)[0],
                     " : i64, is_stable = ", Truth(at.attributes().Flag(Attr::kIsStable)));
     }},
    {Opcode::kTranspose, "transpose",
     [](const Instruction& at) { return DimensionsAs(at, "permutation"); }},
    {Opcode::kTriangularSolve, "triangular_solve", TriangularSolve},
};

}  // namespace

absl::StatusOr<std::string> StableHloType(const Shape& shape) {
  if (!shape.IsArray()) return NoWord(StrCat("the type ", shape.ToString()));
  std::string text = "tensor<";
  for (size_t i = 0; i < shape.dimensions().size(); ++i) {
    if (shape.is_dynamic(static_cast<int64_t>(i)))
      return NoWord(StrCat("bounded sizes, ", shape.ToString()));
    StrAppend(&text, shape.dimensions()[i], "x");
  }
  for (const auto& [type, word] : kTypeWords)
    if (type == shape.element_type()) return StrCat(text, word, ">");
  return NoWord(StrCat("the element type ", Name(shape.element_type())));
}

absl::StatusOr<StableHloOp> StableHloOpOf(const Instruction& at) {
  if (at.opcode() == Opcode::kConstant) {
    ASSAY_ASSIGN_OR_RETURN(std::string value, Constant(at));
    return StableHloOp{"stablehlo.constant", std::move(value)};
  }
  if (at.opcode() == Opcode::kConvolution) {
    ASSAY_ASSIGN_OR_RETURN(std::string attributes, Convolution(at));
    return StableHloOp{"stablehlo.convolution", std::move(attributes)};
  }
  for (const Opcode opcode : kPlain) {
    if (opcode == at.opcode())
      return StableHloOp{
          StrCat("stablehlo.", absl::StrReplaceAll(std::string(Name(opcode)), {{"-", "_"}})), ""};
  }
  for (const AttributeWord& row : kWithAttributes) {
    if (row.opcode == at.opcode())
      return StableHloOp{StrCat("stablehlo.", row.name), row.attributes(at)};
  }
  return NoWord(StrCat("the op ", Name(at.opcode())));
}

}  // namespace assay
