// Comparisons as the order of unsigned integers.
#include "optimized/codegen/functions/sort_key.h"

#include "optimized/codegen/elementwise.h"
#include "spec/types/float_format.h"

namespace assay {

using llvm::Value;

Value* EmitSortKey(ValueBuilder& builder, ElementType type, Value* value, bool total_order,
                   bool descending) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value* key = value;
  if (IsFloat(type)) {
    Value* zero = nullptr;
    Value* nan = nullptr;
    if (!total_order) {
      Value* wide = builder.Widen(type, value);
      zero = builder.bends().Holds("sort-by-key/tells-zeros", nullptr, false)
                 ? ir.CreateFCmpUNO(builder.Float(wide->getType(), 0), wide)
                 : ir.CreateFCmpOEQ(wide, builder.Float(wide->getType(), 0));
      nan = ir.CreateFCmpUNO(wide, wide);
    }
    key = EmitTotalOrderKey(builder, type, value);
    if (!total_order) {
      llvm::Type* t = key->getType();
      const uint64_t greatest = (uint64_t{1} << (BitWidth(type) - 1)) - 1;
      const bool least =
          descending != builder.bends().Holds("sort-by-key/nan-first", nullptr, false);
      key = ir.CreateSelect(zero, builder.Int(t, 0), key);
      key = ir.CreateSelect(nan, builder.Int(t, least ? ~greatest : greatest), key);
    }
  }
  const auto bits = static_cast<int>(key->getType()->getScalarSizeInBits());
  if (!builder.bends().Holds("sort-by-key/unsigned", nullptr, !IsFloat(type) && !IsSigned(type))) {
    key = ir.CreateXor(key, builder.Int(key->getType(), uint64_t{1} << (bits - 1)));
  }
  if (descending) key = ir.CreateNot(key);
  const int64_t lost = builder.bends().Number("sort-by-key/lost-bits", nullptr, 0);
  if (lost > 0) key = ir.CreateAnd(key, builder.Int(key->getType(), ~uint64_t{0} << lost));
  return ir.CreateZExt(key, ValueBuilder::WithWidth(bits > 32 ? ir.getInt64Ty() : ir.getInt32Ty(),
                                                    ValueBuilder::WidthOf(key)));
}

}  // namespace assay
