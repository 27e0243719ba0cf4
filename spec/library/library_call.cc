// Reads and checks library calls: one check per family, on the shapes that the op which the routine
// computes would have.
#include "spec/library/library_call.h"

#include <algorithm>
#include <utility>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

using enum LibraryRoutine;
using enum ElementType;

constexpr LibraryTarget kTargets[] = {
    {kGemm, "__cublas$gemm", "cuBLASLt", "alpha A B + beta C"},
    {kGemmLt, "__cublas$lt$matmul", "cuBLASLt", "activation(alpha A B + beta C + bias)"},
    {kConvForward, "__cudnn$convForward", "cuDNN", "scaled convolution"},
    {kConvBackwardInput, "__cudnn$convBackwardInput", "cuDNN", "gradient of its input"},
    {kConvBackwardFilter, "__cudnn$convBackwardFilter", "cuDNN", "gradient of its filter"},
    {kConvBiasActivation, "__cudnn$convBiasActivationForward", "cuDNN",
     "activation(scaled convolution + scaled side input + bias)"},
    {kNormInference, "__cudnn$batchNormalizationForwardInference", "cuDNN",
     "batch normalisation by given statistics"},
    {kNormTraining, "__cudnn$batchNormalizationForwardTraining", "cuDNN",
     "batch normalisation, mean, and 1/sqrt(variance + epsilon)"},
    {kNormBackward, "__cudnn$batchNormalizationBackward", "cuDNN",
     "gradients of batch normalisation"},
    {kCholesky, "__cusolver$cholesky", "cuSOLVER", "Cholesky factor, workspace and info"},
};

constexpr int64_t kMostSpatialDims = 3;

template <typename... Parts>
absl::Status Rejected(const Instruction& at, const Parts&... parts) {
  return MakeError(ErrorClass::kRejected, StrCat(at.name(), ": ", parts...));
}
template <typename... Parts>
absl::Status NotSupported(const Instruction& at, const Parts&... parts) {
  return MakeError(ErrorClass::kUnsupported, StrCat(at.name(), ": ", parts...));
}

// The error of a reader, with its place.
absl::Status At(const Instruction& at, const absl::Status& status) {
  return MakeError(ClassOf(status), StrCat(at.name(), ": ", ToStd(status.message())));
}

bool IsPlainArray(const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); }

absl::Status CheckPlainArrays(const Instruction& at) {
  for (const Instruction* operand : at.operands())
    if (!IsPlainArray(operand->shape()))
      return Rejected(at, "operand ", operand->name(), " is no array of static shape");
  const Shape& shape = at.shape();
  if (!shape.IsTuple())
    return IsPlainArray(shape) ? absl::OkStatus() : Rejected(at, "the result is no array");
  for (const Shape& element : shape.elements())
    if (!IsPlainArray(element)) return Rejected(at, "the result is no tuple of arrays");
  return shape.elements().empty() ? Rejected(at, "the result is an empty tuple") : absl::OkStatus();
}

absl::Status CheckCount(const Instruction& at, int64_t count) {
  if (at.operand_count() == count) return absl::OkStatus();
  return Rejected(at, "takes ", count, " operands, ", at.operand_count(), " were given");
}

bool SameSizes(const Shape& shape, absl::Span<const int64_t> sizes) {
  return absl::Span<const int64_t>(shape.dimensions()) == sizes;
}

// The result is an array, or a tuple of it and at most one workspace of bytes.
absl::Status CheckResultAndWorkspace(const Instruction& at, ElementType bytes) {
  if (!at.shape().IsTuple()) return absl::OkStatus();
  const absl::Span<const Shape> elements = at.shape().elements();
  const bool fits = elements.size() == 1 || (elements.size() == 2 && elements[1].rank() == 1 &&
                                             elements[1].element_type() == bytes);
  return fits ? absl::OkStatus()
              : Rejected(at, "gives an array and a workspace ", Name(bytes), "[n]");
}

struct TypeRow {
  ElementType operands, result;
};
constexpr TypeRow kGemmTypes[] = {{kF16, kF16}, {kF16, kF32}, {kBF16, kBF16}, {kBF16, kF32},
                                  {kF32, kF32}, {kF64, kF64}, {kC64, kC64},   {kC128, kC128},
                                  {kS8, kS32},  {kS8, kF32}};
constexpr TypeRow kConvTypes[] = {{kF16, kF16}, {kBF16, kBF16}, {kF32, kF32}, {kF64, kF64},
                                  {kS8, kS8},   {kS8, kF32},    {kS8, kS32}};

absl::Status CheckTypes(const Instruction& at, absl::Span<const TypeRow> rows, ElementType a,
                        ElementType b, ElementType result) {
  if (a != b) return Rejected(at, "multiplies ", Name(a), " by ", Name(b));
  for (const TypeRow& row : rows)
    if (row.operands == a && row.result == result) return absl::OkStatus();
  return NotSupported(at, "there is no routine from ", Name(a), " to ", Name(result));
}

absl::Status ReadGemm(const Instruction& at, LibraryCall& call) {
  absl::StatusOr<GemmConfig> config = ReadGemmConfig(at.attributes().String(Attr::kBackendConfig));
  if (!config.ok()) return At(at, config.status());
  call.gemm = *std::move(config);
  const GemmConfig& gemm = call.gemm;
  if (call.routine == kGemm && (gemm.has_bias || gemm.activation != LibraryActivation::kNone))
    return Rejected(at, "an epilogue needs ", TargetOf(kGemmLt).name);
  int64_t count = 2;
  if (gemm.beta != 0) call.addend = count++;
  if (gemm.has_bias) call.bias = count++;
  ASSAY_RETURN_IF_ERROR(CheckCount(at, count));
  ASSAY_RETURN_IF_ERROR(CheckResultAndWorkspace(at, kS8));
  const Shape &a = at.operand(0)->shape(), &b = at.operand(1)->shape(), &out = *call.result;
  ASSAY_RETURN_IF_ERROR(
      CheckTypes(at, kGemmTypes, a.element_type(), b.element_type(), out.element_type()));
  if (gemm.alpha_imag != 0 && !IsComplex(out.element_type()))
    return Rejected(at, "alpha is complex, the result is not");
  if (IsComplex(out.element_type()) && gemm.activation != LibraryActivation::kNone)
    return NotSupported(at, "an activation of complex numbers");
  if (!gemm.precision_algorithm.empty() &&
      !WordIndex(Attr::kAlgorithm, gemm.precision_algorithm).has_value())
    return NotSupported(at, "algorithm ", gemm.precision_algorithm);
  Attributes attributes;
  attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(gemm.lhs_batch))
      .Set(Attr::kRhsBatchDims, absl::MakeConstSpan(gemm.rhs_batch))
      .Set(Attr::kLhsContractingDims, absl::MakeConstSpan(gemm.lhs_contracting))
      .Set(Attr::kRhsContractingDims, absl::MakeConstSpan(gemm.rhs_contracting));
  const Shape* const operands[] = {&a, &b};
  const absl::StatusOr<Shape> product = InferDot(
      {.opcode = Opcode::kDot, .operands = operands, .attributes = attributes, .callees = {}});
  if (!product.ok()) return Rejected(at, ToStd(product.status().message()));
  if (!SameSizes(out, product->dimensions()))
    return Rejected(at, "the product has shape ", product->ToString(), ", the result ",
                    out.ToString());
  if (call.addend >= 0 && !(at.operand(call.addend)->shape().element_type() == out.element_type() &&
                            SameSizes(at.operand(call.addend)->shape(), out.dimensions())))
    return Rejected(at, "C has not the shape of the result");
  if (call.bias < 0) return absl::OkStatus();
  const Shape& bias = at.operand(call.bias)->shape();
  const auto free = b.rank() - static_cast<int64_t>(gemm.rhs_batch.size()) -
                    static_cast<int64_t>(gemm.rhs_contracting.size());
  const auto sizes = absl::Span<const int64_t>(out.dimensions());
  const bool fits = bias.element_type() == out.element_type() &&
                    SameSizes(bias, sizes.subspan(sizes.size() - static_cast<size_t>(free)));
  return fits ? absl::OkStatus()
              : Rejected(at, "the bias has not the sizes of the result's last ", free,
                         " dimensions");
}

Shape InType(const Shape& shape, ElementType type) {
  return Shape::Array(type, shape.dimensions());
}

absl::Status CheckConvShapes(const Instruction& at, const LibraryCall& call) {
  const auto [input, filter, output] = ConvShapesOf(call.routine, at, *call.result);
  const Attributes& given = at.attributes();
  if (given.DimLabels() == nullptr) return Rejected(at, "dim_labels are missing");
  if (given.Integer(Attr::kBatchGroupCount, 1) != 1) return NotSupported(at, "groups of batches");
  for (const WindowDim& dim : given.Window(Attr::kWindow))
    if (dim.base_dilation != 1 || dim.reversal)
      return NotSupported(at, "a window with base dilation or reversal");
  if (given.DimLabels()->input_spatial.size() > static_cast<size_t>(kMostSpatialDims))
    return NotSupported(at, "more than ", kMostSpatialDims, " spatial dimensions");
  Attributes attributes;
  for (Attr attr : {Attr::kWindow, Attr::kDimLabels, Attr::kFeatureGroupCount})
    if (const AttrValue* value = given.Find(attr)) attributes.Set(attr, *value);
  const Shape x = InType(*input, kF32), w = InType(*filter, kF32);
  const Shape* const operands[] = {&x, &w};
  const absl::StatusOr<Shape> forward = InferConvolution({.opcode = Opcode::kConvolution,
                                                          .operands = operands,
                                                          .attributes = attributes,
                                                          .callees = {}});
  if (!forward.ok()) return Rejected(at, ToStd(forward.status().message()));
  if (SameSizes(*output, forward->dimensions())) return absl::OkStatus();
  return Rejected(at, "the forward convolution gives ", forward->ToString(), ", not ",
                  output->ToString());
}

absl::Status CheckConvExtras(const Instruction& at, const LibraryCall& call) {
  const ElementType type = at.operand(0)->shape().element_type(),
                    result = call.result->element_type();
  const bool is_fused = call.routine == kConvBiasActivation;
  if (!is_fused && (call.conv.activation != LibraryActivation::kNone || call.conv.side_scale != 0))
    return Rejected(at, "activation and side input need ", TargetOf(kConvBiasActivation).name);
  if (type == kS8 && call.routine != kConvForward && !is_fused)
    return NotSupported(at, "gradients of integers");
  if (result == kS32 && (is_fused || call.conv.result_scale != 1))
    return NotSupported(at, "sums of integers are given as they are");
  if (call.conv.workspace_bytes < 0) return Rejected(at, "a workspace of less than no bytes");
  if (!is_fused) return absl::OkStatus();
  const Shape& bias = at.operand(2)->shape();
  const ElementType bias_type = type == kS8 ? kF32 : type;
  const int64_t features = call.result->dimension(at.attributes().DimLabels()->output_feature);
  if (bias.element_type() != bias_type || bias.rank() != 1 || bias.dimension(0) != features)
    return Rejected(at, "the bias is no ", Name(bias_type), "[", features, "]");
  if (call.addend < 0) return absl::OkStatus();
  const Shape& side = at.operand(call.addend)->shape();
  const bool fits = side.element_type() == result && SameSizes(side, call.result->dimensions());
  return fits ? absl::OkStatus() : Rejected(at, "the side input has not the shape of the result");
}

absl::Status ReadConv(const Instruction& at, LibraryCall& call) {
  absl::StatusOr<ConvConfig> config = ReadConvConfig(at.attributes().String(Attr::kBackendConfig));
  if (!config.ok()) return At(at, config.status());
  call.conv = *std::move(config);
  int64_t count = 2;
  if (call.routine == kConvBiasActivation) {
    call.bias = count++;
    if (call.conv.side_scale != 0) call.addend = count++;
  }
  ASSAY_RETURN_IF_ERROR(CheckCount(at, count));
  ASSAY_RETURN_IF_ERROR(CheckResultAndWorkspace(at, kU8));
  ASSAY_RETURN_IF_ERROR(CheckTypes(at, kConvTypes, at.operand(0)->shape().element_type(),
                                   at.operand(1)->shape().element_type(),
                                   call.result->element_type()));
  ASSAY_RETURN_IF_ERROR(CheckConvShapes(at, call));
  return CheckConvExtras(at, call);
}

// Operands and results of a norm: 'x' of the shape of operand 0, 'f' one number per feature.
struct NormForm {
  std::string_view operands, results;
};
NormForm NormFormOf(LibraryRoutine routine) {
  if (routine == kNormInference) return {"xffff", "x"};
  return routine == kNormTraining ? NormForm{"xff", "xff"} : NormForm{"xfffx", "xff"};
}

absl::Status ReadNorm(const Instruction& at, LibraryCall& call) {
  const NormForm form = NormFormOf(call.routine);
  const auto arrays = static_cast<int64_t>(form.operands.size());
  ASSAY_RETURN_IF_ERROR(CheckCount(at, arrays + 2));
  const Shape& x = at.operand(0)->shape();
  if (x.element_type() != kF32) return NotSupported(at, "norms of ", Name(x.element_type()));
  const Instruction *epsilon = at.operand(arrays), *index = at.operand(arrays + 1);
  if (epsilon->shape() != Shape::Scalar(kF32)) return Rejected(at, "epsilon is no f32[]");
  const bool has_index = index->opcode() == Opcode::kConstant && index->literal() != nullptr &&
                         index->shape() == Shape::Scalar(kS64);
  if (!has_index) return Rejected(at, "feature_index is no constant s64[]");
  call.feature_index = index->literal()->GetInteger(0);
  if (call.feature_index < 0 || call.feature_index >= x.rank())
    return Rejected(at, "feature_index ", call.feature_index, " of ", x.rank(), " dimensions");
  const int64_t features = x.dimension(call.feature_index);
  const auto fits = [&](const Shape& shape, char letter) {
    return shape.element_type() == kF32 &&
           (letter == 'x' ? SameSizes(shape, x.dimensions()) : SameSizes(shape, {features}));
  };
  for (int64_t k = 0; k < arrays; ++k)
    if (!fits(at.operand(k)->shape(), form.operands[k]))
      return Rejected(at, "operand ", k, " has shape ", at.operand(k)->shape().ToString());
  const absl::Span<const Shape> results =
      at.shape().IsTuple() ? at.shape().elements() : absl::Span<const Shape>(&at.shape(), 1);
  bool all_fit =
      results.size() == form.results.size() && at.shape().IsTuple() == (form.results.size() > 1);
  for (size_t k = 0; all_fit && k < results.size(); ++k)
    all_fit = fits(results[k], form.results[k]);
  return all_fit ? absl::OkStatus()
                 : Rejected(at, "the results have shapes ", at.shape().ToString());
}

absl::Status ReadCholesky(const Instruction& at, LibraryCall& call) {
  const absl::StatusOr<bool> lower =
      ReadCholeskyLower(at.attributes().String(Attr::kBackendConfig));
  if (!lower.ok()) return At(at, lower.status());
  call.lower = *lower;
  ASSAY_RETURN_IF_ERROR(CheckCount(at, 1));
  const Shape& a = at.operand(0)->shape();
  const ElementType type = a.element_type();
  if (type != kF32 && type != kF64 && type != kC64 && type != kC128)
    return NotSupported(at, "factors of ", Name(type));
  const int64_t rank = a.rank();
  if (rank < 2 || a.dimension(rank - 1) != a.dimension(rank - 2))
    return Rejected(at, "operand 0 is no square matrix");
  const auto batch = absl::Span<const int64_t>(a.dimensions()).subspan(0, rank - 2);
  const absl::Span<const Shape> results =
      at.shape().IsTuple() ? at.shape().elements() : absl::Span<const Shape>();
  const bool fits = results.size() == 3 && results[0].element_type() == type &&
                    SameSizes(results[0], a.dimensions()) && results[1].rank() == 1 &&
                    results[2].element_type() == kS32 && SameSizes(results[2], batch);
  return fits ? absl::OkStatus()
              : Rejected(at, "gives a matrix, a workspace and an s32 per matrix");
}

}  // namespace

absl::Span<const LibraryTarget> LibraryTargets() { return kTargets; }

const LibraryTarget& TargetOf(LibraryRoutine routine) {
  return kTargets[static_cast<int>(routine)];
}

const LibraryTarget* FindLibraryTarget(std::string_view name) {
  const auto* at = std::find_if(std::begin(kTargets), std::end(kTargets),
                                [&](const LibraryTarget& target) { return target.name == name; });
  return at == std::end(kTargets) ? nullptr : at;
}

bool IsLibraryCall(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kCustomCall &&
         FindLibraryTarget(instruction.attributes().String(Attr::kCustomCallTarget)) != nullptr;
}

bool IsConvolution(LibraryRoutine routine) {
  return routine >= kConvForward && routine <= kConvBiasActivation;
}

ConvShapes ConvShapesOf(LibraryRoutine routine, const Instruction& instruction,
                        const Shape& result) {
  const Shape &first = instruction.operand(0)->shape(), &second = instruction.operand(1)->shape();
  if (routine == kConvBackwardInput) return {&result, &second, &first};
  if (routine == kConvBackwardFilter) return {&first, &result, &second};
  return {&first, &second, &result};
}

absl::StatusOr<LibraryCall> ReadLibraryCall(const Instruction& instruction) {
  LibraryCall call;
  const LibraryTarget* target =
      FindLibraryTarget(instruction.attributes().String(Attr::kCustomCallTarget));
  if (instruction.opcode() != Opcode::kCustomCall || target == nullptr)
    return NotSupported(instruction, "no library call");
  ASSAY_RETURN_IF_ERROR(CheckPlainArrays(instruction));
  call.routine = target->routine;
  const Shape& shape = instruction.shape();
  call.result = shape.IsTuple() ? &shape.elements()[0] : &shape;
  if (call.routine <= kGemmLt) {
    ASSAY_RETURN_IF_ERROR(ReadGemm(instruction, call));
  } else if (IsConvolution(call.routine)) {
    ASSAY_RETURN_IF_ERROR(ReadConv(instruction, call));
  } else if (call.routine == kCholesky) {
    ASSAY_RETURN_IF_ERROR(ReadCholesky(instruction, call));
  } else {
    ASSAY_RETURN_IF_ERROR(ReadNorm(instruction, call));
  }
  return call;
}

absl::Status CheckLibraryCall(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCustomCall) return absl::OkStatus();
  const std::string& name = instruction.attributes().String(Attr::kCustomCallTarget);
  if (FindLibraryTarget(name) == nullptr) {
    if (!name.starts_with("__cudnn$batchNormalization")) return absl::OkStatus();
    return Rejected(instruction, "cuDNN has no \"", name, "\"; there are ",
                    TargetOf(kNormInference).name, ", ", TargetOf(kNormTraining).name, " and ",
                    TargetOf(kNormBackward).name);
  }
  const absl::Status status = ReadLibraryCall(instruction).status();
  return ClassOf(status) == ErrorClass::kUnsupported ? absl::OkStatus() : status;
}

}  // namespace assay
