// Dots on tensor cores: a warp multiplies strips of both operands, from shared memory, by products
// of 16 x 8 results. Elements go in as tensor_forms.h says; sums are f32, f64 or s32. Documents:
// PTX ISA 8.8, mma.sync (fragments); operation semantics chapter 11.
#include <algorithm>
#include <vector>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/gpu/templates/dot_block.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr int64_t kWarp = 32;
constexpr int64_t kRows = 16, kColumns = 8;  // of one product
constexpr int64_t kDepthWords = 8;           // registers' worth of contracted elements
// Words from one line of a strip to the next: eight lines begin in different banks.
constexpr int64_t kPitchWords = 12;
constexpr int64_t kWarpsAcross = 2;

int64_t SideOf(const TemplateChoice& choice) { return kWarpsAcross * kRows * choice.team; }

// Elements that a lane reads at once: 32 bits, or one of f64.
int64_t PerWord(ElementType type) { return std::max(1, 32 / BitWidth(type)); }

// The instruction for elements of these types, of 16 rows, and 8 words of them in depth.
llvm::Intrinsic::ID ProductOf(const TensorForm& form) {
  switch (form.types[0]) {
    case ElementType::kF16:
      return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
    case ElementType::kBF16:
      return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
    case ElementType::kF32:
      return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
    case ElementType::kF64:
      return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_f64;
    case ElementType::kS8:
      return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
    case ElementType::kU8:
      return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8;
    default:
      break;
  }
  const bool wide[] = {form.types[0] == ElementType::kF8E5M2,
                       form.types[1] == ElementType::kF8E5M2};
  if (wide[0]) {
    return wide[1] ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e5m2_e5m2_f32
                   : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e5m2_e4m3_f32;
  }
  return wide[1] ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e4m3_e5m2_f32
                 : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e4m3_e4m3_f32;
}

DotBlock::Form FormOf(const TemplateContext& context) {
  const TensorForm& form = context.choice.tensor;
  return {
      {form.types[0], form.types[1]},
      form.sum,
      form.rounded_bits,
      SideOf(context.choice),
      TensorDepth(form),
      {"tensor-dot/no-tail", "tensor-dot/no-first-barrier", "tensor-dot/no-second-barrier",
       "tensor-dot/rows", "tensor-dot/columns", "tensor-dot/open-groups", "tensor-dot/buffers"}};
}

class TensorTiler : public DotBlock {
 public:
  explicit TensorTiler(TemplateContext& context)
      : DotBlock(context, FormOf(context)),
        tall_(context.choice.team),
        wide_(2 * context.choice.team),
        per_word_(PerWord(form_.types[0])) {}

  absl::Status Emit();

 private:
  void PlaceWarp();
  // The register of a strip at a line and a word.
  Value* Word(Value* strip, Value* line, Value* word);
  ElementValues Multiply(Value* lhs, Value* rhs, const ElementValues& sums);
  bool IsF64() const { return form_.types[0] == ElementType::kF64; }
  Value* Call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> arguments) {
    llvm::Module* module = ir_.GetInsertBlock()->getModule();
    return ir_.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module, id), arguments);
  }
  // sums += a . b, of one product.
  void Product(const std::vector<Value*>& a, const std::vector<Value*>& b, Value** sums);
  void ProductsOfEightRows(const std::vector<Value*>& a, const std::vector<Value*>& b,
                           Value** sums);
  absl::Status StoreResults(const ElementValues& sums);

  const int64_t tall_, wide_;  // products of a warp in either direction
  const int64_t per_word_;
  Value *warp_row_ = nullptr, *warp_column_ = nullptr;  // of the warp, in the block
  Value *group_ = nullptr, *member_ = nullptr;          // of the lane: of 8, and of 4
};

Value* TensorTiler::Word(Value* strip, Value* line, Value* word) {
  Value* at = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(kPitchWords)), word);
  llvm::Type* type = IsF64() ? ir_.getDoubleTy() : static_cast<llvm::Type*>(ir_.getInt32Ty());
  return ir_.CreateAlignedLoad(type, ir_.CreateGEP(type, strip, at), llvm::Align(IsF64() ? 8 : 4));
}

// The words of A go down and then along.
void TensorTiler::Product(const std::vector<Value*>& a, const std::vector<Value*>& b,
                          Value** sums) {
  if (IsF64() && !c_.choice.tensor.is_whole_f64) return ProductsOfEightRows(a, b, sums);
  std::vector<Value*> arguments;
  llvm::Type* pair = llvm::FixedVectorType::get(ir_.getHalfTy(), 2);
  const bool is_half = form_.types[0] == ElementType::kF16;
  for (const std::vector<Value*>* words : {&a, &b}) {
    for (Value* word : *words) arguments.push_back(is_half ? ir_.CreateBitCast(word, pair) : word);
  }
  for (int k = 0; k < 4; ++k) arguments.push_back(sums[k]);
  Value* all = Call(ProductOf(c_.choice.tensor), arguments);
  for (unsigned k = 0; k < 4; ++k) sums[k] = ir_.CreateExtractValue(all, k);
}

// Adds the same products in the same order, by instructions of 8 rows that are 4 deep.
void TensorTiler::ProductsOfEightRows(const std::vector<Value*>& a, const std::vector<Value*>& b,
                                      Value** sums) {
  for (size_t k = 0; k < a.size(); ++k) {
    Value** rows = sums + k % 2 * 2;
    Value* both =
        Call(llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64, {a[k], b[k / 2], rows[0], rows[1]});
    for (unsigned i = 0; i < 2; ++i) rows[i] = ir_.CreateExtractValue(both, i);
  }
}

ElementValues TensorTiler::Multiply(Value* lhs, Value* rhs, const ElementValues& sums) {
  ElementValues next = sums;
  std::vector<std::vector<Value*>> right;
  Value* far = Plus(member_, Bent("tensor-dot/half", kDepthWords / 2));
  for (int64_t j = 0; j < wide_; ++j) {
    Value* line = ir_.CreateAdd(ir_.CreateAdd(warp_column_, group_), e_.Index(j * kColumns));
    right.push_back({Word(rhs, line, member_), Word(rhs, line, far)});
  }
  for (int64_t i = 0; i < tall_; ++i) {
    Value* line = ir_.CreateAdd(ir_.CreateAdd(warp_row_, group_), e_.Index(i * kRows));
    Value* below = Plus(line, kRows / 2);
    const std::vector<Value*> left = {Word(lhs, line, member_), Word(lhs, below, member_),
                                      Word(lhs, line, far), Word(lhs, below, far)};
    for (int64_t j = 0; j < wide_; ++j) Product(left, right[j], &next[4 * (i * wide_ + j)]);
  }
  return next;
}

absl::Status TensorTiler::StoreResults(const ElementValues& sums) {
  for (int64_t at = 0; at < static_cast<int64_t>(sums.size()); ++at) {
    const int64_t product = at / 4, i = product / wide_, j = product % wide_;
    Value* row = ir_.CreateAdd(ir_.CreateAdd(first_row_, warp_row_),
                               Plus(group_, i * kRows + (at % 4 / 2) * (kRows / 2)));
    Value* column = ir_.CreateAdd(ir_.CreateAdd(first_column_, warp_column_),
                                  Plus(e_.IndexMul(member_, 2), j * kColumns + at % 2));
    ASSAY_RETURN_IF_ERROR(Store(row, column, sums[at]));
  }
  return absl::OkStatus();
}

void TensorTiler::PlaceWarp() {
  Value* warp = Div(c_.thread, kWarp);
  Value* lane = Rem(c_.thread, kWarp);
  Value* share = e_.Index(form_.side / kWarpsAcross);
  warp_row_ = ir_.CreateMul(Div(warp, kWarpsAcross), share);
  warp_column_ = ir_.CreateMul(Rem(warp, kWarpsAcross), share);
  group_ = Div(lane, 4);
  member_ = Rem(lane, 4);
}

absl::Status TensorTiler::Emit() {
  const int64_t elements = form_.side * kPitchWords * per_word_;
  MakeStrips(elements);
  PlaceWarp();
  const ElementValues zeros(
      static_cast<size_t>(4 * tall_ * wide_),
      llvm::Constant::getNullValue(e_.builder().RegisterType(form_.sum_type)));
  const int64_t pitch = Bent("tensor-dot/pitch", kPitchWords) * per_word_;
  const auto place = [&](Value* line, Value* depth) {
    return ir_.CreateAdd(ir_.CreateMul(line, e_.Index(pitch)), depth);
  };
  const auto fill = [&](Value* depth, Value* buffer) -> absl::Status {
    for (int64_t operand = 0; operand < 2; ++operand) {
      const auto turn = [&](Value* number, const ElementValues&) -> absl::StatusOr<ElementValues> {
        ASSAY_RETURN_IF_ERROR(FillOnce(operand, number, depth, Strip(operand, buffer), place));
        return ElementValues{};
      };
      ASSAY_RETURN_IF_ERROR(
          e_.Loop(e_.Index(0), e_.Index(StripTurns(operand)), 1, {}, turn).status());
    }
    return absl::OkStatus();
  };
  ASSAY_ASSIGN_OR_RETURN(
      const ElementValues sums,
      SumStrips(zeros, fill, [&](const ElementValues& now, Value* buffer) {
        return absl::StatusOr<ElementValues>(Multiply(Strip(0, buffer), Strip(1, buffer), now));
      }));
  return StoreResults(sums);
}

}  // namespace

int64_t TensorBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  return SquareBlocks(*choice.subjects[0], SideOf(choice));
}
absl::Status EmitTensorTiles(TemplateContext& context) { return TensorTiler(context).Emit(); }

}  // namespace assay::gpu
