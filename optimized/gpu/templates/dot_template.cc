// Dots by tiles: a block computes a square of results from strips of both operands in shared
// memory; a thread has results that lie 16 apart in both directions. Products are added in the
// order of the contracted dimensions, as a thread per element does: the same bits. Document:
// operation semantics chapter 11.
#include <vector>

#include "optimized/codegen/elementwise.h"
#include "optimized/gpu/templates/dot_block.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr int64_t kSide = 16;  // threads of a block, in both directions

DotBlock::Form FormOf(const TemplateContext& context) {
  const ElementType type = DotAccumulator(*context.choice.subjects[0]);
  return {{type, type},
          type,
          0,
          kSide * context.choice.team,
          kTileDepth,
          {"tile-dot/no-tail", "tile-dot/no-first-barrier", "tile-dot/no-second-barrier",
           "tile-dot/rows", "tile-dot/columns", "tile-dot/open-groups", "tile-dot/buffers"}};
}

class Tiler : public DotBlock {
 public:
  explicit Tiler(TemplateContext& context)
      : DotBlock(context, FormOf(context)),
        each_(context.choice.team),
        pitch_(Bent("tile-dot/pitch", form_.side + 1)) {}

  absl::Status Emit();

 private:
  // `sums` plus the products of both strips.
  absl::StatusOr<ElementValues> AddProducts(const ElementValues& sums,
                                            const std::vector<Value*>& strips);

  const int64_t each_, pitch_;
  Value *x_ = nullptr, *y_ = nullptr;
};

absl::StatusOr<ElementValues> Tiler::AddProducts(const ElementValues& sums,
                                                 const std::vector<Value*>& strips) {
  const ElementType type = form_.sum_type;
  const auto step = [&](Value* k, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    std::vector<Value*> factors[2];
    for (int operand = 0; operand < 2; ++operand) {
      Value* line = ir_.CreateAdd(ir_.CreateMul(k, e_.Index(pitch_)), operand == 0 ? y_ : x_);
      for (int64_t i = 0; i < each_; ++i) {
        factors[operand].push_back(
            e_.builder().Load(type, e_.Address(type, strips[operand], Plus(line, i * kSide)), 1));
      }
    }
    ElementValues next;
    for (int64_t i = 0; i < each_; ++i) {
      for (int64_t j = 0; j < each_; ++j) {
        Value* sum = now[i * each_ + j];
        Value *x = factors[0][i], *y = factors[1][j];
        next.push_back(IsFloat(type) ? e_.builder().MultiplyAdd(x, y, sum)
                                     : EmitAdd(e_.builder(), type, sum,
                                               EmitMultiply(e_.builder(), type, x, y)));
      }
    }
    return next;
  };
  return e_.Loop(e_.Index(0), e_.Index(Bent("tile-dot/depth", kTileDepth)), 1, sums, step);
}

absl::Status Tiler::Emit() {
  MakeStrips(kTileDepth * (form_.side + 1));
  x_ = Rem(c_.thread, kSide);
  y_ = Div(c_.thread, kSide);
  const ElementValues zeros(
      static_cast<size_t>(each_ * each_),
      llvm::Constant::getNullValue(e_.builder().RegisterType(form_.sum_type)));
  const auto place = [&](Value* line, Value* depth) {
    return ir_.CreateAdd(ir_.CreateMul(depth, e_.Index(pitch_)), line);
  };
  const auto fill = [&](Value* depth, Value* buffer) -> absl::Status {
    for (int64_t operand = 0; operand < 2; ++operand) {
      Value* strip = Strip(operand, buffer);
      for (int64_t turn = 0; turn < StripTurns(operand); ++turn) {
        ASSAY_RETURN_IF_ERROR(FillOnce(operand, e_.Index(turn), depth, strip, place));
      }
    }
    return absl::OkStatus();
  };
  ASSAY_ASSIGN_OR_RETURN(const ElementValues sums,
                         SumStrips(zeros, fill, [&](const ElementValues& now, Value* buffer) {
                           return AddProducts(now, {Strip(0, buffer), Strip(1, buffer)});
                         }));
  for (int64_t at = 0; at < each_ * each_; ++at) {
    Value* row = ir_.CreateAdd(first_row_, Plus(y_, at / each_ * kSide));
    Value* column = ir_.CreateAdd(first_column_, Plus(x_, at % each_ * kSide));
    ASSAY_RETURN_IF_ERROR(Store(row, column, sums[at]));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t DotBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  return SquareBlocks(*choice.subjects[0], kSide * choice.team);
}
absl::Status EmitDotTiles(TemplateContext& context) { return Tiler(context).Emit(); }

}  // namespace assay::gpu
