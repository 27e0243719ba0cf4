// Sort and top-k: the comparison is emitted as a function of two element places, the runtime
// merges, and a second function moves the elements of a line to where they belong. Document:
// operation semantics chapter 10, Sort and TopK.
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {

// A function of its own beside the kernel, with pointers to operands and results for its body.
class SideFunction {
 public:
  SideFunction(ArrayKernelContext& c, const char* purpose, llvm::Type* result,
               llvm::ArrayRef<llvm::Type*> parameters)
      : c_(c), before_(c.ir().saveIP()), builder_(c.ir()), elements_(builder_) {
    function_ = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                       llvm::Function::InternalLinkage,
                                       StrCat(purpose, ".", c.instruction.name()), c.module);
    function_->setDoesNotThrow();
    c.ir().SetInsertPoint(llvm::BasicBlock::Create(c.module.getContext(), "entry", function_));
    Value* table = function_->getArg(0);
    for (const auto& leaves : c.buffers.operands) {
      operands_.push_back(SliceAddress(c.ir(), table, leaves[0]));
    }
    for (BufferSlice slice : c.buffers.results) {
      results_.push_back(SliceAddress(c.ir(), table, slice));
    }
  }
  ~SideFunction() { c_.ir().restoreIP(before_); }

  llvm::Function* function() { return function_; }
  ElementEmitter& elements() { return elements_; }
  Value* Load(int64_t operand, Value* element) {
    const ElementType type = c_.instruction.operand(operand)->shape().element_type();
    return builder_.Load(type, elements_.Address(type, operands_[operand], element), 1);
  }
  void Store(int64_t result, ElementType type, Value* value, Value* element) {
    builder_.Store(type, value, elements_.Address(type, results_[result], element));
  }

 private:
  ArrayKernelContext& c_;
  llvm::IRBuilder<>::InsertPoint before_;
  ValueBuilder builder_;
  ElementEmitter elements_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> operands_, results_;
};

// Elements of a line along a dimension: `size` of them, `stride` apart.
struct Lines {
  int64_t size, stride, count;
};
Lines LinesOf(const Shape& shape, int64_t dim) {
  const int64_t size = shape.dimension(dim);
  return {size, RowMajorStrides(shape.dimensions())[dim],
          size == 0 ? 0 : shape.ElementCount() / size};
}

// `order` holds, for each place of the line, the place it is taken from.
Value* TakenFrom(ElementEmitter& e, Value* order, Value* place) {
  llvm::IRBuilder<>& ir = e.builder().ir();
  return ir.CreateLoad(ir.getInt64Ty(), ir.CreateGEP(ir.getInt64Ty(), order, place));
}

void CallMerge(ArrayKernelContext& c, const Lines& lines, llvm::Function* less,
               llvm::Function* move) {
  ElementEmitter& e = c.elements;
  c.CallRuntime("assay_sort_lines", {c.function->getArg(0), less, move, e.Index(lines.count),
                                     e.Index(lines.size), e.Index(lines.stride)});
}

// Greater or smaller in the total order of the type's codes.
Value* IsBeforeInTotalOrder(ValueBuilder& b, ElementType type, Value* x, Value* y, bool largest) {
  llvm::IRBuilder<>& ir = b.ir();
  auto key = [&](Value* value) {
    return IsFloat(type) ? EmitTotalOrderKey(b, type, value) : value;
  };
  Value *left = key(largest ? y : x), *right = key(largest ? x : y);
  const bool is_signed = IsFloat(type) || IsSigned(type);
  return is_signed ? ir.CreateICmpSLT(left, right) : ir.CreateICmpULT(left, right);
}

}  // namespace

absl::Status EmitSort(ArrayKernelContext& c) {
  const Instruction& i = c.instruction;
  llvm::IRBuilder<>& ir = c.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  const Shape& shape = i.operand(0)->shape();
  int64_t dim = i.attributes().Integers(Attr::kDimension)[0];
  if (dim < 0) dim += shape.rank();
  const Lines lines = LinesOf(shape, dim);
  if (shape.ElementCount() == 0) return absl::OkStatus();

  llvm::Function *less = nullptr, *move = nullptr;
  {
    SideFunction side(c, "less", ir.getInt8Ty(), {pointer, i64, i64});
    less = side.function();
    std::vector<ElementValues> arguments;
    for (int64_t k = 0; k < i.operand_count(); ++k) {
      arguments.push_back({side.Load(k, less->getArg(1))});
      arguments.push_back({side.Load(k, less->getArg(2))});
    }
    absl::StatusOr<ElementValues> before =
        side.elements().Apply(*i.callee(), std::move(arguments), 1);
    if (!before.ok()) return before.status();
    ir.CreateRet(ir.CreateZExt(before->front(), ir.getInt8Ty()));
  }
  {
    SideFunction side(c, "move", ir.getVoidTy(), {pointer, i64, i64, pointer});
    move = side.function();
    ElementEmitter& e = side.elements();
    Value* first = move->getArg(1);
    absl::Status status =
        e.Loop(e.Index(0), e.Index(lines.size), 1, {},
               [&](Value* place, const ElementValues&) -> absl::StatusOr<ElementValues> {
                 Value* from = TakenFrom(e, move->getArg(3), place);
                 from = e.IndexAdd(first, e.IndexMul(from, lines.stride));
                 Value* to = e.IndexAdd(first, e.IndexMul(place, lines.stride));
                 for (int64_t k = 0; k < i.operand_count(); ++k) {
                   side.Store(k, i.operand(k)->shape().element_type(), side.Load(k, from), to);
                 }
                 return ElementValues{};
               })
            .status();
    if (!status.ok()) return status;
    ir.CreateRetVoid();
  }
  CallMerge(c, lines, less, move);
  return absl::OkStatus();
}

absl::Status EmitTopK(ArrayKernelContext& c) {
  const Instruction& i = c.instruction;
  llvm::IRBuilder<>& ir = c.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  const Shape& shape = i.operand(0)->shape();
  const ElementType type = shape.element_type();
  const int64_t k = i.attributes().Integer(Attr::kK);
  const bool largest = i.attributes().Flag(Attr::kLargest, true);
  const Lines lines = LinesOf(shape, shape.rank() - 1);
  if (shape.ElementCount() == 0 || k == 0) return absl::OkStatus();

  llvm::Function *less = nullptr, *move = nullptr;
  {
    SideFunction side(c, "less", ir.getInt8Ty(), {pointer, i64, i64});
    less = side.function();
    Value* before =
        IsBeforeInTotalOrder(side.elements().builder(), type, side.Load(0, less->getArg(1)),
                             side.Load(0, less->getArg(2)), largest);
    ir.CreateRet(ir.CreateZExt(before, ir.getInt8Ty()));
  }
  {
    SideFunction side(c, "move", ir.getVoidTy(), {pointer, i64, i64, pointer});
    move = side.function();
    ElementEmitter& e = side.elements();
    absl::Status status =
        e.Loop(e.Index(0), e.Index(k), 1, {},
               [&](Value* place, const ElementValues&) -> absl::StatusOr<ElementValues> {
                 Value* from = TakenFrom(e, move->getArg(3), place);
                 Value* to = e.IndexAdd(e.IndexMul(move->getArg(2), k), place);
                 side.Store(0, type, side.Load(0, e.IndexAdd(move->getArg(1), from)), to);
                 side.Store(1, ElementType::kS32, ir.CreateTrunc(from, ir.getInt32Ty()), to);
                 return ElementValues{};
               })
            .status();
    if (!status.ok()) return status;
    ir.CreateRetVoid();
  }
  CallMerge(c, lines, less, move);
  return absl::OkStatus();
}

}  // namespace assay
