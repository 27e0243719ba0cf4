// Lists the ops, element types and forms of ops that have code on the CPU.
#include "optimized/cpu/cpu_target.h"

#include <string>

#include "optimized/analysis/annotations.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/custom_calls.h"
#include "optimized/cpu/kernels/dot_kernel.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/expanders/top_k_expander.h"
#include "optimized/plan/support.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

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

std::string IsKnownCall(const Instruction& instruction) {
  const bool known =
      IsAnnotation(instruction) || IsTopKCall(instruction) || LapackCallOf(instruction).has_value();
  return known ? "" : "this custom call";
}

struct Form {
  Opcode opcode;
  std::string (*missing)(const Instruction& instruction);
};
constexpr Form kForms[] = {
    {Opcode::kCholesky, HasNoTinyFloats},         {Opcode::kConvolution, IsForwardConvolution},
    {Opcode::kCustomCall, IsKnownCall},           {Opcode::kReduceWindow, CombinesOwnType},
    {Opcode::kRngBitGenerator, GivesWholeWords},  {Opcode::kScatter, CombinesOwnType},
    {Opcode::kSelectAndScatter, CombinesOwnType}, {Opcode::kTriangularSolve, HasNoTinyFloats},
};

OpSupportTable SupportTable() {
  OpSupportTable table;
  for (int k = 0; k < kOpcodeCount; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    OpSupport& op = table[k];
    if (FindArrayKernel(opcode) != nullptr) {
      op.code = OpSupport::kNative;
      op.library_call = RuntimeCallOf;
    } else if (FindElementLowering(opcode) != nullptr) {
      op.code = OpSupport::kElements;
    }
    op.only_real = FindElementwise(opcode) != nullptr && FindComplexElementwise(opcode) == nullptr;
    if (IsCollective(opcode)) op.missing = MovesWholeArrays;
  }
  for (const auto& [opcode, missing] : kForms) table[static_cast<int>(opcode)].missing = missing;
  OpSupport& scatter = table[static_cast<int>(Opcode::kScatter)];
  scatter.better_rule = "scatter-rows";
  scatter.has_better = ScattersRows;
  OpSupport& sort = table[static_cast<int>(Opcode::kSort)];
  sort.better_rule = "sort-by-key";
  sort.has_better = SortsByKey;
  return table;
}

}  // namespace

const Target& CpuTarget() {
  static const auto& ops = *new OpSupportTable(SupportTable());
  static const auto& target = *new Target{.name = "cpu",
                                          .memory = {{"host"}},
                                          .has_type = ValueBuilder::Supports,
                                          .ops = &ops,
                                          .contraction = ContractionCodeOf};
  return target;
}

}  // namespace assay
