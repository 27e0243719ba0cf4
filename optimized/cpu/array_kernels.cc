#include "optimized/cpu/array_kernels.h"

#include "absl/container/flat_hash_map.h"
#include "optimized/codegen/complex.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay {

using llvm::Value;

void ArrayKernelContext::CallRuntime(const char* name, llvm::ArrayRef<Value*> arguments) const {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(ir().getVoidTy(), types, false));
  ir().CreateCall(callee, arguments);
}

ArrayKernelFn FindArrayKernel(Opcode opcode) {
  static const auto& table = *new absl::flat_hash_map<Opcode, ArrayKernelFn>{
      {Opcode::kAllGather, EmitCollective},
      {Opcode::kAllReduce, EmitCollective},
      {Opcode::kAllToAll, EmitCollective},
      {Opcode::kCholesky, EmitCholesky},
      {Opcode::kCollectiveBroadcast, EmitCollective},
      {Opcode::kCollectivePermute, EmitCollective},
      {Opcode::kFft, EmitFft},
      {Opcode::kPartitionId, EmitDeviceId},
      {Opcode::kRaggedAllToAll, EmitCollective},
      {Opcode::kReduceScatter, EmitCollective},
      {Opcode::kReplicaId, EmitDeviceId},
      {Opcode::kRngBitGenerator, EmitRngBitGenerator},
      {Opcode::kScatter, EmitScatter},
      {Opcode::kSelectAndScatter, EmitSelectAndScatter},
      {Opcode::kSort, EmitSort},
      {Opcode::kTopK, EmitTopK},
      {Opcode::kTriangularSolve, EmitTriangularSolve},
  };
  auto it = table.find(opcode);
  return it == table.end() ? nullptr : it->second;
}

namespace {
// The combiner's parameters have the operands' types: no code converts between them.
bool CombinesAsIs(const Instruction& i) {
  const Computation& combiner = *i.callees().back();
  const int64_t n = combiner.parameter_count() / 2;
  for (int64_t k = 0; k < combiner.parameter_count(); ++k) {
    if (combiner.parameter(k)->shape().element_type() != i.operand(k % n)->shape().element_type()) {
      return false;
    }
  }
  return true;
}

// A collective moves bytes: its results have the operands' types.
absl::Status CheckCollective(const Instruction& i) {
  if (i.attributes().Has(Attr::kPermuteSliceSizes)) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: no code for a collective-permute of slices: ", i.ToString()));
  }
  const auto results = static_cast<int64_t>(LeafCount(i.shape()));
  for (int64_t k = 0; k < results; ++k) {
    const Shape& result = i.shape().IsTuple() ? i.shape().elements()[k] : i.shape();
    if (result.IsArray() && result.element_type() == i.operand(k)->shape().element_type()) continue;
    return MakeError(
        ErrorClass::kUnsupported,
        StrCat("cpu: no code for a collective that converts between types: ", i.ToString()));
  }
  return absl::OkStatus();
}
}  // namespace

absl::Status CheckForm(const Instruction& i) {
  const ElementType type = i.operand_count() > 0 && i.operand(0)->shape().IsArray()
                               ? i.operand(0)->shape().element_type()
                               : ElementType::kPred;
  const bool tiny_float = IsFloat(type) && BitWidth(type) <= 8;
  if (InvolvesComplex(i)) {
    const bool lacks_code =
        i.opcode() == Opcode::kCholesky || i.opcode() == Opcode::kTriangularSolve ||
        i.opcode() == Opcode::kBitcastConvert ||
        (FindElementwise(i.opcode()) != nullptr && FindComplexElementwise(i.opcode()) == nullptr);
    if (lacks_code) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("cpu: no code for this op on complex numbers: ", i.ToString()));
    }
  }
  switch (i.opcode()) {
    case Opcode::kCholesky:
    case Opcode::kReducePrecision:
    case Opcode::kTopK:
    case Opcode::kTriangularSolve:
      if (!tiny_float) return absl::OkStatus();
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("cpu: no code for this op on ", Name(type), ": ", i.ToString()));
    case Opcode::kCompare:
      if (!tiny_float || i.attributes().Integer(Attr::kCompareType, 0) !=
                             static_cast<int64_t>(CompareType::kTotalOrder)) {
        return absl::OkStatus();
      }
      return MakeError(ErrorClass::kUnsupported, StrCat("cpu: no code for the total order of ",
                                                        Name(type), ": ", i.ToString()));
    case Opcode::kRngBitGenerator: {
      const ElementType bits = i.shape().elements()[1].element_type();
      if (BitWidth(bits) >= 8 || !IsSigned(bits)) return absl::OkStatus();
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("cpu: no code for random bits of ", Name(bits), ": ", i.ToString()));
    }
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return CheckCollective(i);
    case Opcode::kConvolution:
      if (IsPlainConvolution(i.attributes())) return absl::OkStatus();
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("cpu: no code for a backward or sparse convolution: ", i.ToString()));
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      if (CombinesAsIs(i)) return absl::OkStatus();
      return MakeError(
          ErrorClass::kUnsupported,
          StrCat("cpu: no code for a combiner of another type than its operands: ", i.ToString()));
    default:
      return absl::OkStatus();
  }
}

}  // namespace assay
