// Dots on tensor cores: a warp multiplies strips of both operands, from shared memory, by products
// of 16 x 8 results. Elements go in as they are stored, two or four to a register; sums are f32 or
// s32. Documents: PTX ISA 8.8, mma.sync (fragments); operation semantics chapter 11.
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

DotBlock::Form FormOf(const TemplateContext& context) {
  const Instruction& dot = *context.choice.subjects[0];
  const ElementType type = dot.operand(0)->shape().element_type();
  return {type,
          DotAccumulator(dot),
          SideOf(context.choice),
          kDepthWords * 32 / BitWidth(type),
          {"tensor-dot/no-tail", "tensor-dot/no-first-barrier", "tensor-dot/no-second-barrier",
           "tensor-dot/rows", "tensor-dot/columns"}};
}

class TensorTiler : public DotBlock {
 public:
  explicit TensorTiler(TemplateContext& context)
      : DotBlock(context, FormOf(context)),
        tall_(context.choice.team),
        wide_(2 * context.choice.team),
        per_word_(32 / BitWidth(form_.type)) {}

  absl::Status Emit();

 private:
  void PlaceWarp();
  // The register of a strip at a line and a word.
  Value* Word(Value* strip, Value* line, Value* word);
  ElementValues Multiply(Value* lhs, Value* rhs, const ElementValues& sums);
  // sums += a . b, of one product.
  void Product(const std::vector<Value*>& a, const std::vector<Value*>& b, Value** sums);
  absl::Status StoreResults(const ElementValues& sums);

  const int64_t tall_, wide_;  // products of a warp in either direction
  const int64_t per_word_;
  Value *warp_row_ = nullptr, *warp_column_ = nullptr;  // of the warp, in the block
  Value *group_ = nullptr, *member_ = nullptr;          // of the lane: of 8, and of 4
};

Value* TensorTiler::Word(Value* strip, Value* line, Value* word) {
  Value* at = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(kPitchWords)), word);
  return ir_.CreateAlignedLoad(ir_.getInt32Ty(), ir_.CreateGEP(ir_.getInt32Ty(), strip, at),
                               llvm::Align(4));
}

void TensorTiler::Product(const std::vector<Value*>& a, const std::vector<Value*>& b,
                          Value** sums) {
  const bool is_half = form_.type == ElementType::kF16;
  const llvm::Intrinsic::ID id = is_half ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                 : form_.type == ElementType::kBF16
                                     ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                                     : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
  std::vector<Value*> arguments;
  llvm::Type* pair = llvm::FixedVectorType::get(ir_.getHalfTy(), 2);
  for (const std::vector<Value*>* words : {&a, &b}) {
    for (Value* word : *words) arguments.push_back(is_half ? ir_.CreateBitCast(word, pair) : word);
  }
  for (int k = 0; k < 4; ++k) arguments.push_back(sums[k]);
  llvm::Module* module = ir_.GetInsertBlock()->getModule();
  Value* all = ir_.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module, id), arguments);
  for (unsigned k = 0; k < 4; ++k) sums[k] = ir_.CreateExtractValue(all, k);
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
  std::vector<Value*> strips;
  for (const char* name : {"lhs", "rhs"}) {
    strips.push_back(block_.SharedArray(form_.type, form_.side * kPitchWords * per_word_, name));
  }
  PlaceWarp();
  const ElementValues zeros(
      static_cast<size_t>(4 * tall_ * wide_),
      llvm::Constant::getNullValue(e_.builder().RegisterType(form_.sum_type)));
  const int64_t pitch = Bent("tensor-dot/pitch", kPitchWords) * per_word_;
  const auto place = [&](Value* line, Value* depth) {
    return ir_.CreateAdd(ir_.CreateMul(line, e_.Index(pitch)), depth);
  };
  const auto fill = [&](Value* depth) -> absl::Status {
    for (int64_t operand = 0; operand < 2; ++operand) {
      const auto turn = [&](Value* number, const ElementValues&) -> absl::StatusOr<ElementValues> {
        ASSAY_RETURN_IF_ERROR(FillOnce(operand, number, depth, strips[operand], place));
        return ElementValues{};
      };
      ASSAY_RETURN_IF_ERROR(e_.Loop(e_.Index(0), e_.Index(StripTurns()), 1, {}, turn).status());
    }
    return absl::OkStatus();
  };
  ASSAY_ASSIGN_OR_RETURN(
      const ElementValues sums, SumStrips(zeros, fill, [&](const ElementValues& now) {
        return absl::StatusOr<ElementValues>(Multiply(strips[0], strips[1], now));
      }));
  return StoreResults(sums);
}

}  // namespace

int64_t TensorBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  return SquareBlocks(*choice.subjects[0], SideOf(choice));
}
absl::Status EmitTensorTiles(TemplateContext& context) { return TensorTiler(context).Emit(); }

}  // namespace assay::gpu
