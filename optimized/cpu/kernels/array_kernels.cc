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
  const int register_bits = elements.target() == nullptr ? 0 : elements.target()->register_bits;
  if (register_bits >= 512) return KernelIsa::kAvx512;
  return register_bits >= 256 && elements.use_fma() ? KernelIsa::kAvx2 : KernelIsa::kBaseline;
}

Value* PlanWords(llvm::Module& module, llvm::ArrayRef<uint64_t> words) {
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), words);
  auto* global = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, data, "plan");
  global->setAlignment(llvm::Align(8));
  return global;
}

namespace {

struct ArrayKernel {
  ArrayKernelFn emit = nullptr;
  std::string_view runtime_call = {};
};

const ArrayKernel& KernelOf(Opcode opcode) {
  constexpr ArrayKernel kCollective{EmitCollective, "assay_collective"};
  static const auto& table = *new absl::flat_hash_map<Opcode, ArrayKernel>{
      {Opcode::kAllGather, kCollective},
      {Opcode::kAllReduce, kCollective},
      {Opcode::kAllToAll, kCollective},
      {Opcode::kCholesky, {EmitCholesky, "assay_cholesky"}},
      {Opcode::kCollectiveBroadcast, kCollective},
      {Opcode::kCollectivePermute, kCollective},
      {Opcode::kCustomCall, {EmitCustomCall, "assay_lapack"}},
      {Opcode::kFft, {EmitFft, "assay_fft"}},
      {Opcode::kInfeed, {EmitInfeed, "assay_infeed"}},
      {Opcode::kOutfeed, {EmitOutfeed, "assay_outfeed"}},
      {Opcode::kPartitionId, {EmitDeviceId, "assay_partition_id"}},
      {Opcode::kRaggedAllToAll, kCollective},
      {Opcode::kReduceScatter, kCollective},
      {Opcode::kReplicaId, {EmitDeviceId, "assay_replica_id"}},
      {Opcode::kRngBitGenerator, {EmitRngBitGenerator, "assay_philox_bits"}},
      {Opcode::kRngGetAndUpdateState, {EmitRngGetAndUpdateState, "assay_next_random_state"}},
      {Opcode::kScatter, {EmitScatter}},
      {Opcode::kSelectAndScatter, {EmitSelectAndScatter}},
      {Opcode::kSort, {EmitSort, "assay_sort_lines"}},
      {Opcode::kTopK, {EmitTopK, "assay_select_lines_by_key"}},
      {Opcode::kTriangularSolve, {EmitTriangularSolve, "assay_triangular_solve"}},
  };
  static constexpr ArrayKernel kNone;
  auto it = table.find(opcode);
  return it == table.end() ? kNone : it->second;
}

}  // namespace

ArrayKernelFn FindArrayKernel(Opcode opcode) { return KernelOf(opcode).emit; }

std::string RuntimeCallOf(const Instruction& instruction, bool is_better) {
  std::string call(KernelOf(instruction.opcode()).runtime_call);
  if (instruction.opcode() == Opcode::kSort && is_better) call += "_by_key";
  if (instruction.opcode() == Opcode::kRngBitGenerator &&
      instruction.attributes().Word<RngAlgorithm>(Attr::kRngAlgorithm) == RngAlgorithm::kThreeFry) {
    call = "assay_three_fry_bits";
  }
  return call;
}

}  // namespace assay
