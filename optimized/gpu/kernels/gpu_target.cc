// Lists the ops, element types and forms of ops that have code on GPUs.
#include "optimized/gpu/kernels/gpu_target.h"

#include <optional>
#include <string>

#include "optimized/analysis/annotations.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/gpu/host/host_step.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "optimized/plan/support.h"
#include "spec/base/strings.h"
#include "spec/library/library_call.h"

namespace assay::gpu {
namespace {

std::string HostCall(const Instruction& instruction, bool) {
  if (const LibraryTarget* target =
          FindLibraryTarget(instruction.attributes().String(Attr::kCustomCallTarget));
      target != nullptr) {
    return std::string(target->library);
  }
  return StrCat("host ", HostCallOf(instruction.opcode()));
}

std::string MissingCallForm(const Instruction& call) {
  return IsAnnotation(call) ? "" : MissingHostForm(call);
}

struct Form {
  Opcode opcode;
  std::string (*missing)(const Instruction& instruction);
};
constexpr Form kForms[] = {
    {Opcode::kCholesky, HasNoTinyFloats},         {Opcode::kConvolution, IsForwardConvolution},
    {Opcode::kCustomCall, MissingCallForm},       {Opcode::kReduceWindow, CombinesOwnType},
    {Opcode::kRngBitGenerator, GivesWholeWords},  {Opcode::kScatter, CombinesOwnType},
    {Opcode::kSelectAndScatter, CombinesOwnType}, {Opcode::kTriangularSolve, HasNoTinyFloats},
};

// The kernel compares each element of a line with all; a sort of a long line does less.
bool IsShortTopK(const Instruction& top_k) {
  constexpr int64_t kMostInLine = 1024;
  const Shape& shape = top_k.operand(0)->shape();
  return shape.dimension(shape.rank() - 1) <= kMostInLine;
}

OpSupportTable SupportTable() {
  OpSupportTable table;
  for (int k = 0; k < kOpcodeCount; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    OpSupport& op = table[k];
    if (HasDeviceKernel(opcode)) {
      op.code = OpSupport::kNative;
    } else if (!HostCallOf(opcode).empty()) {
      op.code = OpSupport::kNative;
      op.library_call = HostCall;
      op.missing = MissingHostForm;
    } else if (FindElementLowering(opcode) != nullptr) {
      op.code = OpSupport::kElements;
    }
    op.only_real = FindElementwise(opcode) != nullptr && FindComplexElementwise(opcode) == nullptr;
  }
  for (const auto& [opcode, missing] : kForms) table[static_cast<int>(opcode)].missing = missing;
  table[static_cast<int>(Opcode::kTopK)].pays = IsShortTopK;
  return table;
}

}  // namespace

const Target& GpuTarget() {
  static const auto& ops = *new OpSupportTable(SupportTable());
  static const auto no_contraction = [](const Instruction&,
                                        const Target&) -> std::optional<ContractionCode> {
    return std::nullopt;
  };
  // Threads move 16 bytes at once where that pays; vectors of arithmetic there are none.
  static const auto& target = *new Target{.name = "gpu",
                                          .vector_bits = 128,
                                          .register_bits = 0,
                                          .has_fma = true,
                                          .memory = {{"device", 256}},
                                          .has_type = ValueBuilder::Supports,
                                          .ops = &ops,
                                          .contraction = no_contraction};
  return target;
}

}  // namespace assay::gpu
