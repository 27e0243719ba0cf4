// Dots by tiles: a block computes a square of results from strips of both operands in shared
// memory; a thread has results that lie 16 apart in both directions. Products are added in the
// order of the contracted dimensions, as a thread per element does: the same bits. Document:
// operation semantics chapter 11.
#include <vector>

#include "optimized/analysis/walks/contractions.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/gpu/templates/block_builder.h"
#include "optimized/gpu/templates/dot_sizes.h"
#include "optimized/gpu/templates/templates.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr int64_t kSide = 16;   // threads of a block, in both directions
constexpr int64_t kDepth = 16;  // contracted elements of a strip

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }

class Tiler {
 public:
  explicit Tiler(TemplateContext& context)
      : c_(context),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        dot_(*context.choice.subjects[0]),
        dims_(DotDims::Of(dot_)),
        sizes_(DotSizes::Of(dot_)),
        type_(DotAccumulator(dot_)),
        each_(context.choice.team),
        side_(kSide * each_) {}

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

  // The dimensions of the result at a row and a column of the block's batch.
  std::vector<Value*> ResultAt(Value* row, Value* column);
  // An operand's element, in the accumulator's type; zero behind the end of what is contracted.
  absl::StatusOr<Value*> Element(int64_t operand, Value* line, Value* depth);
  // Fills the strip of an operand that begins at `depth`.
  absl::Status FillStrip(int64_t operand, Value* first, Value* depth, Value* strip);
  // `sums` plus the products of both strips.
  absl::StatusOr<ElementValues> AddProducts(const ElementValues& sums,
                                            const Value* const strips[2]);
  absl::Status StoreResults(const ElementValues& sums);

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const Instruction& dot_;
  const DotDims dims_;
  const DotSizes sizes_;
  const ElementType type_;
  const int64_t each_, side_;
  int64_t pitch_ = 0;
  std::vector<Value*> batch_;
  Value *first_row_ = nullptr, *first_column_ = nullptr, *x_ = nullptr, *y_ = nullptr;
};

std::vector<Value*> Tiler::ResultAt(Value* row, Value* column) {
  std::vector<Value*> at = batch_;
  const std::vector<Value*> rows = e_.Delinearize(sizes_.rows, row);
  const std::vector<Value*> columns = e_.Delinearize(sizes_.columns, column);
  at.insert(at.end(), rows.begin(), rows.end());
  at.insert(at.end(), columns.begin(), columns.end());
  return at;
}

absl::StatusOr<Value*> Tiler::Element(int64_t operand, Value* line, Value* depth) {
  const bool is_left = operand == 0;
  const int64_t lines = is_left ? sizes_.row_count : sizes_.column_count;
  Value* exists = nullptr;
  if (lines % side_ != 0) line = block_.AtMost(line, lines - 1);
  if (sizes_.depth_count % kDepth != 0) {
    if (!Forgets("tile-dot/no-tail")) exists = block_.Below(depth, sizes_.depth_count);
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
  value = e_.builder().Convert(dot_.operand(operand)->shape().element_type(), type_, value);
  if (exists == nullptr) return value;
  return ir_.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
}

absl::Status Tiler::FillStrip(int64_t operand, Value* first, Value* depth, Value* strip) {
  // Neighbouring threads read along what is contiguous in the operand.
  const std::vector<int64_t>& map = operand == 0 ? dims_.lhs : dims_.rhs;
  const bool depth_first = map.back() < 0;
  for (int64_t turn = 0; turn < each_; ++turn) {
    Value* at = ir_.CreateAdd(c_.thread, e_.Index(turn * c_.choice.block_size));
    Value* line = depth_first ? Div(at, kDepth) : Rem(at, side_);
    Value* inner = depth_first ? Rem(at, kDepth) : Div(at, side_);
    ASSAY_ASSIGN_OR_RETURN(
        Value * value, Element(operand, ir_.CreateAdd(first, line), ir_.CreateAdd(depth, inner)));
    Value* place = ir_.CreateAdd(ir_.CreateMul(inner, e_.Index(pitch_)), line);
    e_.builder().Store(type_, value, e_.Address(type_, strip, place));
  }
  return absl::OkStatus();
}

absl::StatusOr<ElementValues> Tiler::AddProducts(const ElementValues& sums,
                                                 const Value* const strips[2]) {
  const auto step = [&](Value* k, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    std::vector<Value*> factors[2];
    for (int operand = 0; operand < 2; ++operand) {
      Value* line = ir_.CreateAdd(ir_.CreateMul(k, e_.Index(pitch_)), operand == 0 ? y_ : x_);
      for (int64_t i = 0; i < each_; ++i) {
        Value* at = ir_.CreateAdd(line, e_.Index(i * kSide));
        factors[operand].push_back(e_.builder().Load(
            type_, e_.Address(type_, const_cast<Value*>(strips[operand]), at), 1));
      }
    }
    ElementValues next;
    for (int64_t i = 0; i < each_; ++i) {
      for (int64_t j = 0; j < each_; ++j) {
        Value* sum = now[i * each_ + j];
        Value *x = factors[0][i], *y = factors[1][j];
        next.push_back(IsFloat(type_) ? e_.builder().MultiplyAdd(x, y, sum)
                                      : EmitAdd(e_.builder(), type_, sum,
                                                EmitMultiply(e_.builder(), type_, x, y)));
      }
    }
    return next;
  };
  return e_.Loop(e_.Index(0), e_.Index(Bent("tile-dot/depth", kDepth)), 1, sums, step);
}

absl::Status Tiler::StoreResults(const ElementValues& sums) {
  for (int64_t i = 0; i < each_; ++i) {
    for (int64_t j = 0; j < each_; ++j) {
      Value* row = ir_.CreateAdd(first_row_, ir_.CreateAdd(y_, e_.Index(i * kSide)));
      Value* column = ir_.CreateAdd(first_column_, ir_.CreateAdd(x_, e_.Index(j * kSide)));
      Value* inside =
          ir_.CreateAnd(block_.Below(row, Bent("tile-dot/rows", sizes_.row_count)),
                        block_.Below(column, Bent("tile-dot/columns", sizes_.column_count)));
      ASSAY_RETURN_IF_ERROR(block_.If(inside, [&] {
        ElementIndex index;
        index.dims = ResultAt(row, column);
        e_.Provide(c_.frame, &dot_, index,
                   {e_.builder().Convert(type_, dot_.shape().element_type(), sums[i * each_ + j])});
        return c_.store(index);
      }));
    }
  }
  return absl::OkStatus();
}

absl::Status Tiler::Emit() {
  pitch_ = Bent("tile-dot/pitch", side_ + 1);
  Value* strips[2];
  for (int operand = 0; operand < 2; ++operand) {
    strips[operand] = block_.SharedArray(type_, kDepth * (side_ + 1), operand == 0 ? "lhs" : "rhs");
  }
  const int64_t across = CeilOf(sizes_.column_count, side_), down = CeilOf(sizes_.row_count, side_);
  Value* rest = Div(c_.block, across);
  first_column_ = ir_.CreateMul(Rem(c_.block, across), e_.Index(side_));
  first_row_ = ir_.CreateMul(Rem(rest, down), e_.Index(side_));
  batch_ = e_.Delinearize(sizes_.batch, Div(rest, down));
  x_ = Rem(c_.thread, kSide);
  y_ = Div(c_.thread, kSide);
  const ElementValues zeros(static_cast<size_t>(each_ * each_),
                            llvm::Constant::getNullValue(e_.builder().RegisterType(type_)));
  const auto strip = [&](Value* depth, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    ASSAY_RETURN_IF_ERROR(FillStrip(0, first_row_, depth, strips[0]));
    ASSAY_RETURN_IF_ERROR(FillStrip(1, first_column_, depth, strips[1]));
    if (!Forgets("tile-dot/no-first-barrier")) block_.Barrier();
    ASSAY_ASSIGN_OR_RETURN(ElementValues sums, AddProducts(now, strips));
    if (!Forgets("tile-dot/no-second-barrier")) block_.Barrier();
    return sums;
  };
  ASSAY_ASSIGN_OR_RETURN(const ElementValues sums,
                         e_.Loop(e_.Index(0), e_.Index(sizes_.depth_count), kDepth, zeros, strip));
  return StoreResults(sums);
}

}  // namespace

int64_t DotBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  const DotSizes sizes = DotSizes::Of(*choice.subjects[0]);
  const int64_t side = kSide * choice.team;
  return sizes.batches * CeilOf(sizes.row_count, side) * CeilOf(sizes.column_count, side);
}
absl::Status EmitDotTiles(TemplateContext& context) { return Tiler(context).Emit(); }

}  // namespace assay::gpu
