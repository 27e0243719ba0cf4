// Infeed and outfeed: calls of the runtime. Document: operation semantics chapter 15.
#include <cstring>

#include "optimized/cpu/kernels/array_kernels.h"
#include "spec/ops/shape_inference.h"

namespace assay {

using llvm::Value;

namespace {

// A text as constant data.
Value* TextOf(ArrayKernelContext& context, std::string_view text) {
  std::vector<uint64_t> words(text.size() / sizeof(uint64_t) + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return PlanWords(context.module, words);
}

// An array on the stack that holds the pointers to the arrays of a value.
Value* Leaves(ArrayKernelContext& context, llvm::ArrayRef<Value*> pointers) {
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type* pointer = ir.getPtrTy();
  Value* list = ir.CreateAlloca(pointer, ir.getInt64(pointers.size()));
  for (size_t k = 0; k < pointers.size(); ++k)
    ir.CreateStore(pointers[k], ir.CreateConstInBoundsGEP1_64(pointer, list, k));
  return list;
}

}  // namespace

absl::Status EmitInfeed(ArrayKernelContext& context) {
  const Shape& shape = context.instruction.shape().elements()[0];
  const llvm::ArrayRef<Value*> results = context.results;
  context.CallRuntime("assay_infeed",
                      {context.RunContextOf(), TextOf(context, context.instruction.name()),
                       TextOf(context, shape.ToString(/*with_layout=*/true)),
                       Leaves(context, results.take_front(LeafCount(shape)))});
  return absl::OkStatus();
}

absl::Status EmitOutfeed(ArrayKernelContext& context) {
  const Shape& shape = context.instruction.operand(0)->shape();
  context.CallRuntime("assay_outfeed",
                      {context.RunContextOf(), TextOf(context, context.instruction.name()),
                       TextOf(context, shape.ToString()), Leaves(context, context.operands[0])});
  return absl::OkStatus();
}

}  // namespace assay
