// Loads from the table.
#include "optimized/codegen/buffer_address.h"

namespace assay {

using llvm::Value;

Value* SliceAddress(llvm::IRBuilder<>& ir, Value* table, BufferSlice slice) {
  Value* entry = ir.CreateConstInBoundsGEP1_64(ir.getPtrTy(), table, slice.table_index);
  Value* base = ir.CreateLoad(ir.getPtrTy(), entry);
  if (slice.offset == 0) return base;
  return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, slice.offset);
}

Value* LoadContext(llvm::IRBuilder<>& ir, Value* table) {
  llvm::Type* pointer = ir.getPtrTy();
  return ir.CreateLoad(pointer,
                       ir.CreateConstInBoundsGEP1_64(pointer, table, BufferTable::kContext));
}

}  // namespace assay
