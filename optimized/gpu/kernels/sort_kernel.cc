// Sort, a line per thread, by merging runs of twice the length again and again: stable, and a
// permutation whatever the comparator says. Document: operation semantics chapter 11 (Sort).
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
    const int levels = Levels();
    // The last level ends in the results.
    const std::vector<Value*>& begin = levels % 2 == 0 ? context_.results : context_.scratch;
    const std::vector<Value*>& other = levels % 2 == 0 ? context_.scratch : context_.results;
    ASSAY_RETURN_IF_ERROR(ForEach(length_, [&](Value* place) { return Copy(begin, place); }));
    return ForEach(levels, [&](Value* level) {
      Value* is_even = ir_.CreateICmpEQ(ir_.CreateAnd(level, e_.Index(1)), e_.Index(0));
      std::vector<Value*> from, to;
      for (size_t k = 0; k < begin.size(); ++k) {
        from.push_back(ir_.CreateSelect(is_even, begin[k], other[k]));
        to.push_back(ir_.CreateSelect(is_even, other[k], begin[k]));
      }
      return MergeRuns(ir_.CreateShl(e_.Index(1), level), from, to);
    });
  }

 private:
  template <typename Body>
  absl::Status ForEach(int64_t count, const Body& body) {
    return e_
        .Loop(e_.Index(0), e_.Index(count), 1, {},
              [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                ASSAY_RETURN_IF_ERROR(body(i));
                return ElementValues{};
              })
        .status();
  }

  // Runs are twice as long after each.
  int Levels() const {
    int levels = 0;
    while ((int64_t{1} << levels) < length_) ++levels;
    return levels;
  }

  int64_t count() const { return sort_.operand_count(); }
  ElementType TypeOf(int64_t k) const { return sort_.operand(k)->shape().element_type(); }
  Value* AddressOf(Value* array, int64_t k, Value* place) {
    Value* at = ir_.CreateAdd(first_, ir_.CreateMul(place, e_.Index(stride_)));
    return e_.Address(TypeOf(k), array, at);
  }
  Value* Load(Value* array, int64_t k, Value* place) {
    return e_.builder().Load(TypeOf(k), AddressOf(array, k, place), 1);
  }
  Value* Least(Value* a, Value* b) { return ir_.CreateSelect(ir_.CreateICmpULT(a, b), a, b); }

  // A result may lie where an operand does: all are read before one is written.
  absl::Status Copy(const std::vector<Value*>& to, Value* place) {
    ElementValues element;
    for (int64_t k = 0; k < count(); ++k)
      element.push_back(Load(context_.operands[k][0], k, place));
    Store(to, element, place);
    return absl::OkStatus();
  }
  void Store(const std::vector<Value*>& to, const ElementValues& element, Value* place) {
    for (int64_t k = 0; k < count(); ++k)
      e_.builder().Store(TypeOf(k), element[k], AddressOf(to[k], k, place));
  }

  // Each two neighbouring runs of `width` elements become one. What is next in the left run waits
  // at `i`, in the right one at `j`; each step takes one of the two, whatever the comparator says.
  absl::Status MergeRuns(Value* width, const std::vector<Value*>& from,
                         const std::vector<Value*>& to) {
    Value *zero = e_.Index(0), *length = e_.Index(length_), *last = e_.Index(length_ - 1);
    Value* pair = ir_.CreateShl(width, e_.Index(1));
    const auto step = [&](Value* place,
                          const ElementValues& waiting) -> absl::StatusOr<ElementValues> {
      Value* begin = ir_.CreateAnd(place, ir_.CreateSub(zero, pair));
      Value* middle = Least(ir_.CreateAdd(begin, width), length);
      Value* end = Least(ir_.CreateAdd(begin, pair), length);
      Value* starts = ir_.CreateICmpEQ(place, begin);
      Value* i = ir_.CreateSelect(starts, begin, waiting[0]);
      Value* j = ir_.CreateSelect(starts, middle, waiting[1]);
      ElementValues left, right, taken;
      std::vector<ElementValues> arguments;
      for (int64_t k = 0; k < count(); ++k) {
        left.push_back(Load(from[k], k, Least(i, last)));
        right.push_back(Load(from[k], k, Least(j, last)));
        arguments.push_back({right[k]});
        arguments.push_back({left[k]});
      }
      ASSAY_ASSIGN_OR_RETURN(ElementValues is_first,
                             e_.Apply(*sort_.callee(), std::move(arguments), 1));
      Value* left_ended = ir_.CreateICmpUGE(i, middle);
      Value* has_right = ir_.CreateICmpULT(j, end);
      Value* takes_right = ir_.CreateAnd(has_right, ir_.CreateOr(left_ended, is_first.front()));
      for (int64_t k = 0; k < count(); ++k)
        taken.push_back(ir_.CreateSelect(takes_right, right[k], left[k]));
      Store(to, taken, place);
      Value* one = ir_.CreateZExt(takes_right, ir_.getInt64Ty());
      return ElementValues{ir_.CreateAdd(i, ir_.CreateSub(e_.Index(1), one)),
                           ir_.CreateAdd(j, one)};
    };
    return e_.Loop(zero, length, 1, {zero, zero}, step).status();
  }

  DeviceKernelContext& context_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  const Instruction& sort_;
  int64_t length_ = 1, stride_ = 1;
  Value* first_ = nullptr;  // element of the line
};

absl::Status EmitSortLine(DeviceKernelContext& context) { return LineSorter(context).Run(); }

}  // namespace

std::vector<DeviceStage> SortStages(const Instruction& sort, const KernelBuffers&) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dimension(sort.attributes().Integers(Attr::kDimension)[0]);
  return {{length == 0 ? 0 : shape.ElementCount() / length, EmitSortLine}};
}

std::vector<int64_t> SortScratch(const Instruction& sort) {
  std::vector<int64_t> bytes;
  for (const Instruction* operand : sort.operands()) bytes.push_back(operand->shape().ByteSize());
  return bytes;
}

}  // namespace assay::gpu
