// The table of kernels that make a result as a whole, and what they share.
#include "optimized/cpu/kernels/array_kernels.h"

#include "absl/container/flat_hash_map.h"
#include "llvm/IR/Constants.h"
#include "optimized/cpu/kernels/custom_call_kernel.h"

namespace assay {

using llvm::Value;

void ArrayKernelContext::CallRuntime(const char* name, llvm::ArrayRef<Value*> arguments) const {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(ir().getVoidTy(), types, false));
  ir().CreateCall(callee, arguments);
}

Value* ArrayKernelContext::RunContextOf() const { return LoadContext(ir(), function->getArg(0)); }

KernelIsa IsaFor(const ElementEmitter& elements) {
  if (elements.register_bits() >= 512) return KernelIsa::kAvx512;
  return elements.register_bits() >= 256 && elements.use_fma() ? KernelIsa::kAvx2
                                                               : KernelIsa::kBaseline;
}

Value* PlanWords(llvm::Module& module, llvm::ArrayRef<uint64_t> words) {
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), words);
  auto* global = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, data, "plan");
  global->setAlignment(llvm::Align(8));
  return global;
}

ArrayKernelFn FindArrayKernel(Opcode opcode) {
  static const auto& table = *new absl::flat_hash_map<Opcode, ArrayKernelFn>{
      {Opcode::kAllGather, EmitCollective},
      {Opcode::kAllReduce, EmitCollective},
      {Opcode::kAllToAll, EmitCollective},
      {Opcode::kCholesky, EmitCholesky},
      {Opcode::kCollectiveBroadcast, EmitCollective},
      {Opcode::kCollectivePermute, EmitCollective},
      {Opcode::kCustomCall, EmitCustomCall},
      {Opcode::kFft, EmitFft},
      {Opcode::kInfeed, EmitInfeed},
      {Opcode::kOutfeed, EmitOutfeed},
      {Opcode::kPartitionId, EmitDeviceId},
      {Opcode::kRaggedAllToAll, EmitCollective},
      {Opcode::kReduceScatter, EmitCollective},
      {Opcode::kReplicaId, EmitDeviceId},
      {Opcode::kRngBitGenerator, EmitRngBitGenerator},
      {Opcode::kRngGetAndUpdateState, EmitRngGetAndUpdateState},
      {Opcode::kScatter, EmitScatter},
      {Opcode::kSelectAndScatter, EmitSelectAndScatter},
      {Opcode::kSort, EmitSort},
      {Opcode::kTopK, EmitTopK},
      {Opcode::kTriangularSolve, EmitTriangularSolve},
  };
  auto it = table.find(opcode);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace assay
