// Lists the ops, element types and forms of ops that have code.
#include "optimized/cpu/support.h"

#include <string>

#include "optimized/analysis/annotations.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/custom_calls.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/expanders/async_expander.h"
#include "optimized/passes/expanders/top_k_expander.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// Ops that the frame itself handles.
bool IsStructural(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kFusion:
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
      return true;
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

// Ops that a required pass has put in terms of others before code is generated.
bool IsExpanded(Opcode opcode) {
  return opcode == Opcode::kBatchNormGrad || opcode == Opcode::kBatchNormInference ||
         opcode == Opcode::kBatchNormTraining || opcode == Opcode::kRaggedDot ||
         opcode == Opcode::kRng || opcode == Opcode::kScaledDot || opcode == Opcode::kScan ||
         IsAsync(opcode);
}

// The combiner's parameters have the operands' types: no code converts between them.
bool CombinesAsIs(const Instruction& instruction) {
  const Computation& combiner = *instruction.callees().back();
  const int64_t n = combiner.parameter_count() / 2;
  for (int64_t k = 0; k < combiner.parameter_count(); ++k) {
    if (combiner.parameter(k)->shape().element_type() !=
        instruction.operand(k % n)->shape().element_type()) {
      return false;
    }
  }
  return true;
}

// A collective moves bytes: its results have the operands' types.
bool ConvertsBetweenTypes(const Instruction& collective) {
  const auto results = static_cast<int64_t>(LeafCount(collective.shape()));
  for (int64_t k = 0; k < results; ++k) {
    const Shape& result =
        collective.shape().IsTuple() ? collective.shape().elements()[k] : collective.shape();
    if (!result.IsArray() ||
        result.element_type() != collective.operand(k)->shape().element_type()) {
      return true;
    }
  }
  return false;
}

// True if only real numbers have element-wise code.
bool IsRealElementwise(Opcode opcode) {
  return FindElementwise(opcode) != nullptr && FindComplexElementwise(opcode) == nullptr;
}

// Names the part of the instruction's form that has no code; empty when all has.
std::string MissingForm(const Instruction& instruction) {
  const bool of_array =
      instruction.operand_count() > 0 && instruction.operand(0)->shape().IsArray();
  const ElementType type =
      of_array ? instruction.operand(0)->shape().element_type() : ElementType::kPred;
  const bool tiny_float = IsFloat(type) && BitWidth(type) <= 8;
  if (InvolvesComplex(instruction) && IsRealElementwise(instruction.opcode()))
    return "this op on complex numbers";
  if (IsCollective(instruction.opcode())) {
    if (instruction.attributes().Has(Attr::kPermuteSliceSizes))
      return "a collective-permute of slices";
    return ConvertsBetweenTypes(instruction) ? "a collective that converts between types" : "";
  }
  switch (instruction.opcode()) {
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
      return tiny_float ? StrCat("this op on ", Name(type)) : "";
    case Opcode::kRngBitGenerator: {
      const ElementType bits = instruction.shape().elements()[1].element_type();
      return BitWidth(bits) < 8 && IsSigned(bits) ? StrCat("random bits of ", Name(bits)) : "";
    }
    case Opcode::kCustomCall:
      return IsAnnotation(instruction) || IsTopKCall(instruction) ||
                     LapackCallOf(instruction).has_value()
                 ? ""
                 : "this custom call";
    case Opcode::kConvolution:
      return IsPlainConvolution(instruction.attributes()) ? "" : "a backward or sparse convolution";
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      return CombinesAsIs(instruction) ? "" : "a combiner of another type than its operands";
    default:
      return "";
  }
}

absl::Status CheckShape(const Instruction& instruction) {
  absl::Status status;
  ForEachLeaf(instruction.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    if (!status.ok() || leaf.IsToken()) return;
    if (!leaf.IsArray() || !ValueBuilder::Supports(leaf.element_type())) {
      status = MakeError(ErrorClass::kUnsupported,
                         StrCat("cpu: no code for element type ", Name(leaf.element_type()), ": ",
                                instruction.ToString()));
    } else if (leaf.HasDynamicDimension()) {
      status = MakeError(ErrorClass::kUnsupported,
                         StrCat("cpu: no code for dynamic dimensions: ", instruction.ToString()));
    }
  });
  return status;
}

absl::Status CheckInstruction(const Instruction& instruction) {
  const auto unsupported = [&](std::string_view what) {
    return MakeError(ErrorClass::kUnsupported, StrCat("cpu: ", what, instruction.ToString()));
  };
  ASSAY_RETURN_IF_ERROR(CheckShape(instruction));
  if (!IsCompiled(instruction.opcode())) return unsupported("no code for ");
  if (const std::string missing = MissingForm(instruction); !missing.empty()) {
    return unsupported(StrCat("no code for ", missing, ": "));
  }
  if (instruction.opcode() == Opcode::kConstant &&
      (instruction.literal() == nullptr || !instruction.shape().IsArray())) {
    return unsupported("a constant needs an array value: ");
  }
  if (instruction.opcode() == Opcode::kBitcast &&
      BitWidth(instruction.shape().element_type()) !=
          BitWidth(instruction.operand(0)->shape().element_type())) {
    return unsupported("a bitcast between widths: ");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsCompiled(Opcode opcode) {
  return IsStructural(opcode) || IsExpanded(opcode) || FindElementLowering(opcode) != nullptr ||
         FindArrayKernel(opcode) != nullptr;
}

bool IsCompiledFor(Opcode opcode, ElementType type) {
  if (!IsCompiled(opcode) || !ValueBuilder::Supports(type)) return false;
  if (!IsComplex(type)) return opcode != Opcode::kComplex || BitWidth(type) >= 32;
  return !IsRealElementwise(opcode);
}

absl::Status CheckSupported(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      ASSAY_RETURN_IF_ERROR(CheckInstruction(*instruction));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay
