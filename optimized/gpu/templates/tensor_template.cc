// Dots on tensor cores: a warp multiplies strips of both operands, from shared memory, by products
// of 16 x 8 results. Elements go in as they are stored, two or four to a register; sums are f32 or
// s32. Documents: PTX ISA 8.8, mma.sync (fragments); operation semantics chapter 11.
#include <vector>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/gpu/templates/block_builder.h"
#include "optimized/gpu/templates/dot_sizes.h"
#include "optimized/gpu/templates/templates.h"
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

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }
int64_t SideOf(const TemplateChoice& choice) { return kWarpsAcross * kRows * choice.team; }

class TensorTiler {
 public:
  explicit TensorTiler(TemplateContext& context)
      : c_(context),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        dot_(*context.choice.subjects[0]),
        dims_(DotDims::Of(dot_)),
        sizes_(DotSizes::Of(dot_)),
        type_(dot_.operand(0)->shape().element_type()),
        sum_type_(DotAccumulator(dot_)),
        side_(SideOf(context.choice)),
        tall_(context.choice.team),
        wide_(2 * context.choice.team),
        per_word_(32 / BitWidth(type_)),
        depth_(kDepthWords * per_word_) {}

  absl::Status Emit();

 private:
  int64_t Bent(const char* claim, int64_t known) {
    return c_.bends().Number(claim, c_.plan.instruction, known);
  }
  bool Forgets(const char* claim) { return c_.bends().Holds(claim, c_.plan.instruction, false); }
  Value* Div(Value* dividend, int64_t divisor) {
    return ir_.CreateUDiv(dividend, e_.Index(divisor));
  }
  Value* Rem(Value* dividend, int64_t divisor) {
    return ir_.CreateURem(dividend, e_.Index(divisor));
  }
  Value* Plus(Value* value, int64_t more) { return ir_.CreateAdd(value, e_.Index(more)); }

  std::vector<Value*> ResultAt(Value* row, Value* column);
  absl::StatusOr<Value*> Element(int64_t operand, Value* line, Value* depth);
  absl::Status FillStrip(int64_t operand, Value* first, Value* depth, Value* strip);
  // The register of a strip at a line and a word.
  Value* Word(Value* strip, Value* line, Value* word);
  ElementValues Multiply(Value* lhs, Value* rhs, const ElementValues& sums);
  // sums += a . b, of one product.
  void Product(const std::vector<Value*>& a, const std::vector<Value*>& b, Value** sums);
  absl::Status StoreResults(const ElementValues& sums);

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const Instruction& dot_;
  const DotDims dims_;
  const DotSizes sizes_;
  const ElementType type_, sum_type_;
  const int64_t side_, tall_, wide_;  // of the block; products of a warp in either direction
  const int64_t per_word_, depth_;
  std::vector<Value*> batch_;
  Value *first_row_ = nullptr, *first_column_ = nullptr;  // of the block
  Value *warp_row_ = nullptr, *warp_column_ = nullptr;    // of the warp, in the block
  Value *group_ = nullptr, *member_ = nullptr;            // of the lane: of 8, and of 4
};

std::vector<Value*> TensorTiler::ResultAt(Value* row, Value* column) {
  std::vector<Value*> at = batch_;
  const std::vector<Value*> rows = e_.Delinearize(sizes_.rows, row);
  const std::vector<Value*> columns = e_.Delinearize(sizes_.columns, column);
  at.insert(at.end(), rows.begin(), rows.end());
  at.insert(at.end(), columns.begin(), columns.end());
  return at;
}

// Behind the end of what is contracted there are zeros.
absl::StatusOr<Value*> TensorTiler::Element(int64_t operand, Value* line, Value* depth) {
  const bool is_left = operand == 0;
  const int64_t lines = is_left ? sizes_.row_count : sizes_.column_count;
  Value* exists = nullptr;
  if (lines % side_ != 0) line = block_.AtMost(line, lines - 1);
  if (sizes_.depth_count % depth_ != 0) {
    if (!Forgets("tensor-dot/no-tail")) exists = block_.Below(depth, sizes_.depth_count);
    depth = block_.AtMost(depth, sizes_.depth_count - 1);
  }
  const std::vector<Value*> result =
      ResultAt(is_left ? line : e_.Index(0), is_left ? e_.Index(0) : line);
  const std::vector<Value*> contracted = e_.Delinearize(sizes_.depth, depth);
  ElementIndex index;
  for (int64_t from : is_left ? dims_.lhs : dims_.rhs) {
    index.dims.push_back(from >= 0 ? result[from] : contracted[-1 - from]);
  }
  ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, dot_.operand(operand), index));
  if (exists == nullptr) return value;
  return ir_.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
}

absl::Status TensorTiler::FillStrip(int64_t operand, Value* first, Value* depth, Value* strip) {
  const std::vector<int64_t>& map = operand == 0 ? dims_.lhs : dims_.rhs;
  const bool depth_first = map.back() < 0;  // what lies side by side in the operand
  const int64_t pitch = Bent("tensor-dot/pitch", kPitchWords) * per_word_;
  const auto turn = [&](Value* number, const ElementValues&) -> absl::StatusOr<ElementValues> {
    Value* at = ir_.CreateAdd(c_.thread, ir_.CreateMul(number, e_.Index(c_.choice.block_size)));
    Value* line = depth_first ? Div(at, depth_) : Rem(at, side_);
    Value* inner = depth_first ? Rem(at, depth_) : Div(at, side_);
    ASSAY_ASSIGN_OR_RETURN(
        Value * value, Element(operand, ir_.CreateAdd(first, line), ir_.CreateAdd(depth, inner)));
    Value* place = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(pitch)), inner);
    e_.builder().Store(type_, value, e_.Address(type_, strip, place));
    return ElementValues{};
  };
  const int64_t turns = side_ * depth_ / c_.choice.block_size;
  return e_.Loop(e_.Index(0), e_.Index(turns), 1, {}, turn).status();
}

Value* TensorTiler::Word(Value* strip, Value* line, Value* word) {
  Value* at = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(kPitchWords)), word);
  return ir_.CreateAlignedLoad(ir_.getInt32Ty(), ir_.CreateGEP(ir_.getInt32Ty(), strip, at),
                               llvm::Align(4));
}

void TensorTiler::Product(const std::vector<Value*>& a, const std::vector<Value*>& b,
                          Value** sums) {
  const bool is_half = type_ == ElementType::kF16;
  const llvm::Intrinsic::ID id = is_half ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                 : type_ == ElementType::kBF16
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
  const int64_t rows = Bent("tensor-dot/rows", sizes_.row_count);
  const int64_t columns = Bent("tensor-dot/columns", sizes_.column_count);
  for (int64_t at = 0; at < static_cast<int64_t>(sums.size()); ++at) {
    const int64_t product = at / 4, i = product / wide_, j = product % wide_;
    Value* row = ir_.CreateAdd(ir_.CreateAdd(first_row_, warp_row_),
                               Plus(group_, i * kRows + (at % 4 / 2) * (kRows / 2)));
    Value* column = ir_.CreateAdd(ir_.CreateAdd(first_column_, warp_column_),
                                  Plus(e_.IndexMul(member_, 2), j * kColumns + at % 2));
    Value* inside = ir_.CreateAnd(block_.Below(row, rows), block_.Below(column, columns));
    ASSAY_RETURN_IF_ERROR(block_.If(inside, [&] {
      ElementIndex index;
      index.dims = ResultAt(row, column);
      const ElementType type = dot_.shape().element_type();
      e_.Provide(c_.frame, &dot_, index, {e_.builder().Convert(sum_type_, type, sums[at])});
      return c_.store(index);
    }));
  }
  return absl::OkStatus();
}

absl::Status TensorTiler::Emit() {
  Value* strips[2];
  for (int operand = 0; operand < 2; ++operand) {
    strips[operand] =
        block_.SharedArray(type_, side_ * kPitchWords * per_word_, operand == 0 ? "lhs" : "rhs");
  }
  const int64_t across = CeilOf(sizes_.column_count, side_), down = CeilOf(sizes_.row_count, side_);
  Value* rest = Div(c_.block, across);
  first_column_ = ir_.CreateMul(Rem(c_.block, across), e_.Index(side_));
  first_row_ = ir_.CreateMul(Rem(rest, down), e_.Index(side_));
  batch_ = e_.Delinearize(sizes_.batch, Div(rest, down));
  Value* warp = Div(c_.thread, kWarp);
  Value* lane = Rem(c_.thread, kWarp);
  warp_row_ = ir_.CreateMul(Div(warp, kWarpsAcross), e_.Index(side_ / kWarpsAcross));
  warp_column_ = ir_.CreateMul(Rem(warp, kWarpsAcross), e_.Index(side_ / kWarpsAcross));
  group_ = Div(lane, 4);
  member_ = Rem(lane, 4);
  const ElementValues zeros(static_cast<size_t>(4 * tall_ * wide_),
                            llvm::Constant::getNullValue(e_.builder().RegisterType(sum_type_)));
  const auto strip = [&](Value* depth, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    ASSAY_RETURN_IF_ERROR(FillStrip(0, first_row_, depth, strips[0]));
    ASSAY_RETURN_IF_ERROR(FillStrip(1, first_column_, depth, strips[1]));
    if (!Forgets("tensor-dot/no-first-barrier")) block_.Barrier();
    ElementValues sums = Multiply(strips[0], strips[1], now);
    if (!Forgets("tensor-dot/no-second-barrier")) block_.Barrier();
    return sums;
  };
  ASSAY_ASSIGN_OR_RETURN(const ElementValues sums,
                         e_.Loop(e_.Index(0), e_.Index(sizes_.depth_count), depth_, zeros, strip));
  return StoreResults(sums);
}

}  // namespace

int64_t TensorBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  const DotSizes sizes = DotSizes::Of(*choice.subjects[0]);
  const int64_t side = SideOf(choice);
  return sizes.batches * CeilOf(sizes.row_count, side) * CeilOf(sizes.column_count, side);
}
absl::Status EmitTensorTiles(TemplateContext& context) { return TensorTiler(context).Emit(); }

}  // namespace assay::gpu
