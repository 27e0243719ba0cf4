// Top-k, a thread per element: it counts the elements of its line that are better, and stores
// itself at that place if there are fewer than k. Document: operation semantics chapter 10 (TopK).
#include "optimized/codegen/functions/sort_key.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {

using llvm::Value;

namespace {

// An element that is equal counts as better if it comes before.
absl::Status EmitTopKElement(DeviceKernelContext& context) {
  const Instruction& top_k = context.instruction();
  ElementEmitter& e = context.elements;
  ValueBuilder& builder = e.builder();
  llvm::IRBuilder<>& ir = context.ir();
  const Shape& shape = top_k.operand(0)->shape();
  const ElementType type = shape.element_type();
  const int64_t k = top_k.attributes().Integer(Attr::kK);
  const bool largest = builder.bends().Holds("optimize-kernel/top-k-largest", &top_k,
                                             top_k.attributes().Flag(Attr::kLargest, true));
  const int64_t size = std::max(k, builder.bends().Number("optimize-kernel/top-k-size", &top_k,
                                                          shape.dimension(shape.rank() - 1)));
  Value* stride = e.Index(shape.dimension(shape.rank() - 1));
  Value* line = ir.CreateUDiv(context.thread, stride);
  Value* place = ir.CreateURem(context.thread, stride);
  Value* first = ir.CreateMul(line, stride);
  const auto load = [&](Value* at) {
    return builder.Load(type, e.Address(type, context.operands[0][0], ir.CreateAdd(first, at)), 1);
  };
  const auto key_of = [&](Value* element) {
    return EmitSortKey(builder, type, element, /*total_order=*/true, largest);
  };
  Value* mine = load(place);
  Value* key = key_of(mine);

  // The loop ends once the element is out.
  llvm::Function* function = context.function;
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(ir.getContext(), name, function);
  };
  llvm::BasicBlock *before = ir.GetInsertBlock(), *head = block("count"), *body = block("compare");
  llvm::BasicBlock *found = block("ranked"), *store = block("among"), *done = block("stored");
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  llvm::PHINode* at = ir.CreatePHI(ir.getInt64Ty(), 2);
  llvm::PHINode* rank = ir.CreatePHI(ir.getInt64Ty(), 2);
  at->addIncoming(e.Index(0), before);
  rank->addIncoming(e.Index(0), before);
  Value* goes_on =
      ir.CreateAnd(ir.CreateICmpULT(at, e.Index(size)), ir.CreateICmpULT(rank, e.Index(k)));
  ir.CreateCondBr(goes_on, body, found);
  ir.SetInsertPoint(body);
  Value* other = key_of(load(at));
  Value* is_before = ir.CreateAnd(ir.CreateICmpEQ(other, key), ir.CreateICmpULT(at, place));
  Value* is_better = ir.CreateOr(ir.CreateICmpULT(other, key), is_before);
  at->addIncoming(ir.CreateAdd(at, e.Index(1)), ir.GetInsertBlock());
  rank->addIncoming(ir.CreateAdd(rank, ir.CreateZExt(is_better, ir.getInt64Ty())),
                    ir.GetInsertBlock());
  ir.CreateBr(head);
  ir.SetInsertPoint(found);
  ir.CreateCondBr(ir.CreateICmpULT(rank, e.Index(k)), store, done);
  ir.SetInsertPoint(store);
  Value* to = ir.CreateAdd(ir.CreateMul(line, e.Index(k)), rank);
  builder.Store(type, mine, e.Address(type, context.results[0], to));
  builder.Store(ElementType::kS32, ir.CreateTrunc(place, ir.getInt32Ty()),
                e.Address(ElementType::kS32, context.results[1], to));
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  return absl::OkStatus();
}

}  // namespace

std::vector<DeviceStage> TopKStages(const Instruction& top_k, const KernelBuffers&) {
  const bool is_empty = top_k.attributes().Integer(Attr::kK) == 0;
  return {{is_empty ? 0 : top_k.operand(0)->shape().ElementCount(), EmitTopKElement}};
}

}  // namespace assay::gpu
