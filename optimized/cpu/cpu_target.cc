// Lists the ops, element types and forms of ops that have code on the CPU.
#include "optimized/cpu/cpu_target.h"

#include <string>

#include "optimized/analysis/annotations.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/codegen/scatter.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/custom_calls.h"
#include "optimized/cpu/kernels/dot_kernel.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/expanders/top_k_expander.h"
#include "optimized/plan/support.h"
#include "spec/base/strings.h"
#include "spec/library/library_call.h"

namespace assay {
namespace {

std::string IsKnownCall(const Instruction& instruction) {
  const bool known = IsAnnotation(instruction) || IsTopKCall(instruction) ||
                     LapackCallOf(instruction).has_value() || ReadLibraryCall(instruction).ok();
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
