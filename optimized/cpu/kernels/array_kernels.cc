#include "optimized/cpu/kernels/array_kernels.h"

#include "absl/container/flat_hash_map.h"

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

}  // namespace assay
