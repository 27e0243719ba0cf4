// Sort, a line per thread, by insertion from the end: stable, and a permutation whatever the
// comparator says. Document: operation semantics chapter 11 (Sort).
#include "optimized/gpu/kernels/array_kernels.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

class LineSorter {
 public:
  explicit LineSorter(DeviceKernelContext& context)
      : context_(context), e_(context.elements), ir_(context.ir()), sort_(context.instruction()) {
    const Shape& shape = sort_.operand(0)->shape();
    const int64_t dim = sort_.attributes().Integers(Attr::kDimension)[0];
    length_ = shape.dimension(dim);
    for (int64_t d = dim + 1; d < shape.rank(); ++d) stride_ *= shape.dimension(d);
  }

  absl::Status Run() {
    Value* outer = ir_.CreateUDiv(context_.thread, e_.Index(stride_));
    Value* inner = ir_.CreateURem(context_.thread, e_.Index(stride_));
    first_ = ir_.CreateAdd(ir_.CreateMul(outer, e_.Index(length_ * stride_)), inner);
    return e_
        .Loop(e_.Index(0), e_.Index(length_), 1, {},
              [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                ASSAY_RETURN_IF_ERROR(Insert(i));
                return ElementValues{};
              })
        .status();
  }

 private:
  ElementType TypeOf(int64_t k) const { return sort_.operand(k)->shape().element_type(); }
  Value* AddressOf(Value* array, int64_t k, Value* place) {
    Value* at = ir_.CreateAdd(first_, ir_.CreateMul(place, e_.Index(stride_)));
    return e_.Address(TypeOf(k), array, at);
  }
  Value* Load(Value* array, int64_t k, Value* place) {
    return e_.builder().Load(TypeOf(k), AddressOf(array, k, place), 1);
  }
  void Store(int64_t k, Value* value, Value* place) {
    e_.builder().Store(TypeOf(k), value, AddressOf(context_.results[k], k, place));
  }

  // Moves what has to stand behind element `next` up, and puts it in between.
  absl::Status Insert(Value* next) {
    const auto count = static_cast<int64_t>(sort_.operand_count());
    ElementValues element;
    for (int64_t k = 0; k < count; ++k) element.push_back(Load(context_.operands[k][0], k, next));
    const auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(ir_.getContext(), name, context_.function);
    };
    llvm::BasicBlock *before = ir_.GetInsertBlock(), *test = block("sort.test");
    llvm::BasicBlock *compare = block("sort.compare"), *move = block("sort.move");
    llvm::BasicBlock* done = block("sort.done");
    ir_.CreateBr(test);
    ir_.SetInsertPoint(test);
    llvm::PHINode* place = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    place->addIncoming(next, before);
    ir_.CreateCondBr(ir_.CreateICmpSGT(place, e_.Index(0)), compare, done);
    ir_.SetInsertPoint(compare);
    Value* lower = ir_.CreateSub(place, e_.Index(1));
    ElementValues left;
    std::vector<ElementValues> arguments;
    for (int64_t k = 0; k < count; ++k) {
      left.push_back(Load(context_.results[k], k, lower));
      arguments.push_back({element[k]});
      arguments.push_back({left[k]});
    }
    ASSAY_ASSIGN_OR_RETURN(ElementValues first, e_.Apply(*sort_.callee(), std::move(arguments), 1));
    ir_.CreateCondBr(first.front(), move, done);
    ir_.SetInsertPoint(move);
    for (int64_t k = 0; k < count; ++k) Store(k, left[k], place);
    place->addIncoming(lower, move);
    ir_.CreateBr(test);
    ir_.SetInsertPoint(done);
    for (int64_t k = 0; k < count; ++k) Store(k, element[k], place);
    return absl::OkStatus();
  }

  DeviceKernelContext& context_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  const Instruction& sort_;
  int64_t length_ = 1, stride_ = 1;
  Value* first_ = nullptr;  // element of the line
};

}  // namespace

int64_t SortThreads(const Instruction& sort) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dimension(sort.attributes().Integers(Attr::kDimension)[0]);
  return length == 0 ? 0 : shape.ElementCount() / length;
}

absl::Status EmitSortLine(DeviceKernelContext& context) { return LineSorter(context).Run(); }

}  // namespace assay::gpu
