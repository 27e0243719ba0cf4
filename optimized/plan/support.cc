// Asks the target's table for what frames and required passes do not take care of by themselves.
#include "optimized/plan/support.h"

#include <string>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/expanders/async_expander.h"
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

// Likewise of an op for which there is no code in other forms.
bool IsExpandedForm(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kGetDimensionSize &&
         !instruction.operand(0)->shape().is_dynamic(
             instruction.attributes().Integers(Attr::kDimension)[0]);
}

class SupportCheck {
 public:
  explicit SupportCheck(const Target& target) : target_(target) {}

  absl::Status Check(const Instruction& instruction) const {
    ASSAY_RETURN_IF_ERROR(CheckShape(instruction));
    if (!IsCompiled(target_, instruction.opcode()) && !IsExpandedForm(instruction))
      return Missing("no code for ", instruction);
    if (const std::string missing = MissingForm(instruction); !missing.empty()) {
      return Missing(StrCat("no code for ", missing, ": "), instruction);
    }
    if (instruction.opcode() == Opcode::kConstant &&
        (instruction.literal() == nullptr || !instruction.shape().IsArray())) {
      return Missing("a constant needs an array value: ", instruction);
    }
    if (instruction.opcode() == Opcode::kBitcast &&
        BitWidth(instruction.shape().element_type()) !=
            BitWidth(instruction.operand(0)->shape().element_type())) {
      return Missing("a bitcast between widths: ", instruction);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Missing(std::string_view what, const Instruction& instruction) const {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(target_.name, ": ", what, instruction.ToString()));
  }

  std::string MissingForm(const Instruction& instruction) const {
    const OpSupport& support = target_.SupportOf(instruction.opcode());
    if (support.only_real && InvolvesComplex(instruction)) return "this op on complex numbers";
    return support.missing == nullptr ? "" : support.missing(instruction);
  }

  absl::Status CheckShape(const Instruction& instruction) const {
    absl::Status status;
    ForEachLeaf(instruction.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (!status.ok() || leaf.IsToken()) return;
      if (!leaf.IsArray() || !target_.has_type(leaf.element_type())) {
        status = Missing(StrCat("no code for element type ", Name(leaf.element_type()), ": "),
                         instruction);
      } else if (leaf.HasDynamicDimension()) {
        status = Missing("no code for dynamic dimensions: ", instruction);
      }
    });
    return status;
  }

  const Target& target_;
};

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

}  // namespace

bool IsCompiled(const Target& target, Opcode opcode) {
  return IsStructural(opcode) || IsExpanded(opcode) ||
         target.SupportOf(opcode).code != OpSupport::kNone;
}

bool IsCompiledFor(const Target& target, Opcode opcode, ElementType type) {
  if (!IsCompiled(target, opcode) || !target.has_type(type)) return false;
  if (!IsComplex(type)) return opcode != Opcode::kComplex || BitWidth(type) >= 32;
  return !target.SupportOf(opcode).only_real;
}

absl::Status CheckSupported(const Target& target, const Module& module) {
  const SupportCheck check(target);
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      ASSAY_RETURN_IF_ERROR(check.Check(*instruction));
    }
  }
  return absl::OkStatus();
}

std::string CombinesOwnType(const Instruction& instruction) {
  const Computation& combiner = *instruction.callees().back();
  const int64_t n = combiner.parameter_count() / 2;
  for (int64_t k = 0; k < combiner.parameter_count(); ++k) {
    if (combiner.parameter(k)->shape().element_type() !=
        instruction.operand(k % n)->shape().element_type()) {
      return "a combiner of another type than its operands";
    }
  }
  return "";
}

std::string IsForwardConvolution(const Instruction& instruction) {
  return IsPlainConvolution(instruction.attributes()) ? "" : "a backward or sparse convolution";
}

std::string MovesWholeArrays(const Instruction& instruction) {
  if (instruction.attributes().Has(Attr::kPermuteSliceSizes))
    return "a collective-permute of slices";
  return ConvertsBetweenTypes(instruction) ? "a collective that converts between types" : "";
}

std::string HasNoTinyFloats(const Instruction& instruction) {
  const ElementType type = instruction.operand(0)->shape().element_type();
  return IsFloat(type) && BitWidth(type) <= 8 ? StrCat("this op on ", Name(type)) : "";
}

std::string GivesWholeWords(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  const ElementType bits = (shape.IsArray() ? shape : shape.elements()[1]).element_type();
  return BitWidth(bits) < 8 && IsSigned(bits) ? StrCat("random bits of ", Name(bits)) : "";
}

}  // namespace assay
