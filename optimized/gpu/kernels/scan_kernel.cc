// Running values along lines by blocks: threads fold neighbours, shuffles join a warp, shared
// memory joins the warps, and what came before is combined in last. Lines that are too long for one
// block take three launches: what each part comes to, what comes before each part, and the parts.
// The order hangs on sizes alone: every run gives the same bits. Document: operation semantics
// chapter 10 (the order of a recognised combiner is free).
#include <optional>

#include "optimized/analysis/walks/reductions.h"
#include "optimized/codegen/reduction.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "optimized/gpu/templates/block_builder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr int64_t kWarp = 32;

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }

class Scanner {
 public:
  Scanner(DeviceKernelContext& context, const TemplateChoice& choice)
      : c_(context),
        choice_(choice),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        window_(context.instruction()),
        cumulative_(*RecogniseCumulative(window_)),
        sizes_(LineSizes::Of(window_, cumulative_)),
        op_(*CombinerOf(window_)),
        type_(window_.shape().element_type()),
        accumulator_(AccumulatorOf(type_, op_)),
        parts_(CeilOf(sizes_.along, choice.part)) {}

  // A block for each part of a line; `with_before`: what comes before it was computed already.
  absl::Status EmitParts(bool with_before);
  // Folds each part.
  absl::Status EmitTotals();
  // Replaces what each part comes to by what comes before it: a thread for each line.
  absl::Status EmitBefore();
  absl::Status EmitSideBySide();

 private:
  int64_t Bent(const char* claim, int64_t known) const {
    return e_.builder().bends().Number(claim, &window_, known);
  }
  bool Forgets(const char* claim) const {
    return e_.builder().bends().Holds(claim, &window_, false);
  }
  int each() const { return static_cast<int>(std::max<int64_t>(4, choice_.read_width)); }
  Value* Combine(Value* x, Value* y) { return EmitCombiner(e_.builder(), op_, accumulator_, x, y); }
  Value* Identity() { return EmitIdentity(e_.builder(), op_, accumulator_, 1); }
  absl::StatusOr<Value*> Initial() {
    ASSAY_ASSIGN_OR_RETURN(Value * initial,
                           e_.EmitSpread(nullptr, window_.operand(1), ElementIndex(), 1));
    return e_.builder().Convert(type_, accumulator_, initial);
  }

  // The elements of a thread, in the order of the scan.
  absl::StatusOr<ElementValues> LoadEach(Value* line, Value* first);
  absl::Status StoreEach(Value* line, Value* first, const ElementValues& values);
  absl::StatusOr<Value*> LoadAt(Value* linear, int width);
  Value* Linear(Value* line, Value* place);
  // In the first tile of the block's part.
  Value* FirstOfThread() {
    Value* part = ir_.CreateURem(c_.block, e_.Index(parts_));
    return ir_.CreateAdd(ir_.CreateMul(part, e_.Index(choice_.part)),
                         ir_.CreateMul(c_.thread, e_.Index(each())));
  }
  // All of a line before and up to each thread of a tile: `running` before it, then behind it.
  struct Tile {
    Value *before, *behind;
  };
  Tile JoinThreads(Value* of_thread, Value* running);
  absl::StatusOr<Value*> Fold(Value* first, Value* end, Value* from, Value* column,
                              const std::function<absl::Status(Value*, Value*)>& each);

  DeviceKernelContext& c_;
  const TemplateChoice& choice_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const Instruction& window_;
  const CumulativeWindow cumulative_;
  const LineSizes sizes_;
  const Opcode op_;
  const ElementType type_, accumulator_;
  const int64_t parts_;
  Value* warps_ = nullptr;  // shared: what each warp comes to
};

Value* Scanner::Linear(Value* line, Value* place) {
  return ir_.CreateAdd(ir_.CreateMul(line, e_.Index(sizes_.along)), place);
}

absl::StatusOr<Value*> Scanner::LoadAt(Value* linear, int width) {
  ElementIndex at;
  at.linear = linear;
  at.width = width;
  return e_.EmitOne(nullptr, window_.operand(0), at);
}

absl::StatusOr<ElementValues> Scanner::LoadEach(Value* line, Value* first) {
  const int width = choice_.read_width;
  const int64_t end = Bent("scan-blocks/end", sizes_.along);
  ElementValues values;
  for (int at = 0; at < each(); at += width) {
    Value* place = at == 0 ? first : ir_.CreateAdd(first, e_.Index(at));
    const ElementValues none(static_cast<size_t>(width), Identity());
    const auto load = [&]() -> absl::StatusOr<ElementValues> {
      // Backwards, the first element of the scan is the last one in memory.
      Value* from =
          cumulative_.reverse ? ir_.CreateSub(e_.Index(sizes_.along - width), place) : place;
      ASSAY_ASSIGN_OR_RETURN(Value * read, LoadAt(Linear(line, from), width));
      ElementValues lanes;
      for (int k = 0; k < width; ++k) {
        const auto lane = static_cast<uint64_t>(cumulative_.reverse ? width - 1 - k : k);
        Value* one = width == 1 ? read : ir_.CreateExtractElement(read, lane);
        lanes.push_back(e_.builder().Convert(type_, accumulator_, one));
      }
      return lanes;
    };
    ASSAY_ASSIGN_OR_RETURN(const ElementValues read,
                           block_.ValuesIf(block_.Below(place, end), none, load));
    values.insert(values.end(), read.begin(), read.end());
  }
  return values;
}

absl::Status Scanner::StoreEach(Value* line, Value* first, const ElementValues& values) {
  const int width = choice_.write_width;
  const auto store = [&](Value* place, Value* value) {
    if (cumulative_.reverse) place = ir_.CreateSub(e_.Index(sizes_.along - width), place);
    e_.builder().Store(type_, value, e_.Address(type_, c_.results[0], Linear(line, place)));
  };
  for (int at = 0; at < each(); at += width) {
    Value* place = at == 0 ? first : ir_.CreateAdd(first, e_.Index(at));
    Value* vector = nullptr;
    for (int k = 0; k < width; ++k) {
      const int lane = cumulative_.reverse ? width - 1 - k : k;
      Value* one =
          e_.builder().Convert(accumulator_, type_, values[static_cast<size_t>(at + lane)]);
      if (width == 1) {
        vector = one;
        break;
      }
      if (k == 0) vector = llvm::PoisonValue::get(ValueBuilder::WithWidth(one->getType(), width));
      vector = ir_.CreateInsertElement(vector, one, static_cast<uint64_t>(k));
    }
    ASSAY_RETURN_IF_ERROR(
        block_.If(block_.Below(place, Bent("scan-blocks/stored", sizes_.along)), [&] {
          store(place, vector);
          return absl::OkStatus();
        }));
  }
  return absl::OkStatus();
}

Scanner::Tile Scanner::JoinThreads(Value* of_thread, Value* running) {
  Value* lane = ir_.CreateURem(c_.thread, e_.Index(kWarp));
  Value* warp = ir_.CreateUDiv(c_.thread, e_.Index(kWarp));
  const int64_t mask = Bent("scan-blocks/mask", 0xFFFFFFFF);
  Value* sum = of_thread;
  for (int64_t lanes = 1; lanes < Bent("scan-blocks/warp", kWarp); lanes *= 2) {
    Value* other = block_.ShuffleUp(sum, lanes, mask);
    sum = ir_.CreateSelect(block_.Below(lane, lanes), sum, Combine(other, sum));
  }
  Value* before = ir_.CreateSelect(block_.Below(lane, 1), Identity(), block_.ShuffleUp(sum, 1));
  // The last lane has the warp's; a barrier on either side keeps tiles apart.
  (void)block_.If(ir_.CreateICmpEQ(lane, e_.Index(kWarp - 1)), [&] {
    e_.builder().Store(accumulator_, sum, e_.Address(accumulator_, warps_, warp));
    return absl::OkStatus();
  });
  if (!Forgets("scan-blocks/no-barrier")) block_.Barrier();
  Value* all = running;
  Value* before_warp = running;
  for (int64_t w = 0; w < choice_.block_size / kWarp; ++w) {
    before_warp = ir_.CreateSelect(ir_.CreateICmpEQ(warp, e_.Index(w)), all, before_warp);
    Value* of_warp =
        e_.builder().Load(accumulator_, e_.Address(accumulator_, warps_, e_.Index(w)), 1);
    all = Combine(all, of_warp);
  }
  if (!Forgets("scan-blocks/no-second-barrier")) block_.Barrier();
  return {Combine(before_warp, before), all};
}

absl::Status Scanner::EmitParts(bool with_before) {
  warps_ = block_.SharedArray(accumulator_, choice_.block_size / kWarp, "warps");
  Value* line = ir_.CreateUDiv(c_.block, e_.Index(parts_));
  Value* begin = FirstOfThread();
  Value* running = nullptr;
  if (with_before) {
    Value* at = e_.Address(accumulator_, c_.scratch[0], c_.block);
    running = e_.builder().Load(accumulator_, at, 1);
  } else {
    ASSAY_ASSIGN_OR_RETURN(running, Initial());
  }
  const int64_t tile = choice_.block_size * each();
  const auto step = [&](Value* offset, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    Value* first = ir_.CreateAdd(offset, begin);
    ASSAY_ASSIGN_OR_RETURN(ElementValues values, LoadEach(line, first));
    for (size_t k = 1; k < values.size(); ++k) values[k] = Combine(values[k - 1], values[k]);
    const Tile joined = JoinThreads(values.back(), now[0]);
    for (Value*& value : values) value = Combine(joined.before, value);
    ASSAY_RETURN_IF_ERROR(StoreEach(line, first, values));
    return ElementValues{joined.behind};
  };
  const int64_t length = Bent("scan-blocks/length", std::min(choice_.part, sizes_.along));
  return e_.Loop(e_.Index(0), e_.Index(length), tile, {running}, step).status();
}

absl::Status Scanner::EmitTotals() {
  warps_ = block_.SharedArray(accumulator_, choice_.block_size / kWarp, "warps");
  Value* line = ir_.CreateUDiv(c_.block, e_.Index(parts_));
  Value* begin = FirstOfThread();
  const auto step = [&](Value* offset, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    Value* first = ir_.CreateAdd(offset, begin);
    ASSAY_ASSIGN_OR_RETURN(ElementValues values, LoadEach(line, first));
    for (size_t k = 1; k < values.size(); ++k) values[k] = Combine(values[k - 1], values[k]);
    return ElementValues{JoinThreads(values.back(), now[0]).behind};
  };
  ASSAY_ASSIGN_OR_RETURN(const ElementValues all,
                         e_.Loop(e_.Index(0), e_.Index(choice_.part), choice_.block_size * each(),
                                 {Identity()}, step));
  return block_.If(block_.Below(c_.thread, 1), [&] {
    e_.builder().Store(accumulator_, all[0], e_.Address(accumulator_, c_.scratch[0], c_.block));
    return absl::OkStatus();
  });
}

absl::Status Scanner::EmitBefore() {
  Value* first = ir_.CreateMul(c_.thread, e_.Index(parts_));
  ASSAY_ASSIGN_OR_RETURN(Value * initial, Initial());
  return e_
      .Loop(e_.Index(0), e_.Index(parts_), 1, {initial},
            [&](Value* k, const ElementValues& now) -> absl::StatusOr<ElementValues> {
              Value* at = e_.Address(accumulator_, c_.scratch[0], ir_.CreateAdd(first, k));
              Value* part = e_.builder().Load(accumulator_, at, 1);
              e_.builder().Store(accumulator_, now[0], at);
              return ElementValues{Combine(now[0], part)};
            })
      .status();
}

// Elements [first, end) of a column's scan, after `from`.
absl::StatusOr<Value*> Scanner::Fold(Value* first, Value* end, Value* from, Value* column,
                                     const std::function<absl::Status(Value*, Value*)>& each) {
  const auto step = [&](Value* k, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    Value* place = cumulative_.reverse ? ir_.CreateSub(e_.Index(sizes_.along - 1), k) : k;
    Value* linear = ir_.CreateAdd(column, ir_.CreateMul(place, e_.Index(sizes_.inner)));
    ASSAY_ASSIGN_OR_RETURN(Value * read, LoadAt(linear, 1));
    Value* next = Combine(now[0], e_.builder().Convert(type_, accumulator_, read));
    ASSAY_RETURN_IF_ERROR(each(linear, next));
    return ElementValues{next};
  };
  ASSAY_ASSIGN_OR_RETURN(const ElementValues all, e_.Loop(first, end, 1, {from}, step));
  return all[0];
}

// Lanes take neighbouring lines, and groups of them parts of the lines.
absl::Status Scanner::EmitSideBySide() {
  const int64_t lanes = choice_.team, groups = choice_.block_size / lanes;
  const int64_t across = CeilOf(sizes_.inner, lanes);
  Value* lane = ir_.CreateURem(c_.thread, e_.Index(lanes));
  Value* group = ir_.CreateUDiv(c_.thread, e_.Index(lanes));
  Value* number = ir_.CreateAdd(
      ir_.CreateMul(ir_.CreateURem(c_.block, e_.Index(across)), e_.Index(lanes)), lane);
  // Threads without a line help with the last one: all of a block meet at the barrier.
  Value* exists = block_.Below(number, Bent("scan-blocks/lines", sizes_.inner));
  Value* column = ir_.CreateAdd(ir_.CreateMul(ir_.CreateUDiv(c_.block, e_.Index(across)),
                                              e_.Index(sizes_.along * sizes_.inner)),
                                block_.AtMost(number, sizes_.inner - 1));
  const int64_t part = Bent("scan-blocks/part", CeilOf(sizes_.along, groups));
  Value* first = ir_.CreateMul(group, e_.Index(part));
  Value* end = block_.AtMost(ir_.CreateAdd(first, e_.Index(part)), sizes_.along);
  ASSAY_ASSIGN_OR_RETURN(Value * mine, Fold(first, end, Identity(), column,
                                            [](Value*, Value*) { return absl::OkStatus(); }));
  Value* shared = block_.SharedArray(accumulator_, choice_.block_size, "parts");
  e_.builder().Store(accumulator_, mine, e_.Address(accumulator_, shared, c_.thread));
  if (!Forgets("scan-blocks/no-barrier")) block_.Barrier();
  ASSAY_ASSIGN_OR_RETURN(Value * initial, Initial());
  ASSAY_ASSIGN_OR_RETURN(
      const ElementValues before,
      e_.Loop(e_.Index(0), group, 1, {initial},
              [&](Value* g, const ElementValues& now) -> absl::StatusOr<ElementValues> {
                Value* at = ir_.CreateAdd(ir_.CreateMul(g, e_.Index(lanes)), lane);
                Value* of_group =
                    e_.builder().Load(accumulator_, e_.Address(accumulator_, shared, at), 1);
                return ElementValues{Combine(now[0], of_group)};
              }));
  const auto store = [&](Value* linear, Value* value) {
    e_.builder().Store(type_, e_.builder().Convert(accumulator_, type_, value),
                       e_.Address(type_, c_.results[0], linear));
    return absl::OkStatus();
  };
  return block_.If(exists, [&] { return Fold(first, end, before[0], column, store).status(); });
}

}  // namespace

WholeKernel ScanKernel(const Instruction& window, const TemplateChoice& choice) {
  const LineSizes sizes = LineSizes::Of(window, *RecogniseCumulative(window));
  const auto stage = [&](int64_t blocks, auto emit) {
    return DeviceStage{blocks * choice.block_size,
                       [choice, emit](DeviceKernelContext& context) {
                         Scanner scanner(context, choice);
                         return emit(scanner);
                       },
                       choice.block_size};
  };
  if (choice.team > 1) {
    return {{stage(sizes.outer * CeilOf(sizes.inner, choice.team),
                   [](Scanner& s) { return s.EmitSideBySide(); })},
            {}};
  }
  const int64_t parts = CeilOf(sizes.along, choice.part);
  if (parts == 1) {
    return {{stage(sizes.outer, [](Scanner& s) { return s.EmitParts(/*with_before=*/false); })},
            {}};
  }
  const ElementType type = window.shape().element_type();
  const int64_t bytes = StorageBytes(AccumulatorOf(type, CombinerOf(window)));
  DeviceStage before{sizes.outer, [choice](DeviceKernelContext& context) {
                       return Scanner(context, choice).EmitBefore();
                     }};
  return {
      {stage(sizes.outer * parts, [](Scanner& s) { return s.EmitTotals(); }), before,
       stage(sizes.outer * parts, [](Scanner& s) { return s.EmitParts(/*with_before=*/true); })},
      {sizes.outer * parts * bytes}};
}

}  // namespace assay::gpu
