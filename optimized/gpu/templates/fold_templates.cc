// Reduces in which threads share the elements of a result: each folds some, in order, and a tree of
// shuffles or shared memory joins them. The order hangs on sizes alone, and nothing is atomic:
// every run gives the same bits. Document: operation semantics chapter 10 (the order of a reduce is
// free).
#include <optional>
#include <string>
#include <vector>

#include "optimized/analysis/walks/contractions.h"
#include "optimized/analysis/walks/reductions.h"
#include "optimized/analysis/walks/row_kernels.h"
#include "optimized/codegen/reduction.h"
#include "optimized/gpu/templates/block_builder.h"
#include "optimized/gpu/templates/templates.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr int64_t kWarp = 32;

// The reduces of a kernel: one type and combiner each, the same elements for all.
class Folder {
 public:
  explicit Folder(TemplateContext& context)
      : c_(context),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        dims_(ReduceDims::Of(*context.choice.subjects[0])) {
    const Shape& from = subject(0).operand(0)->shape();
    for (int64_t d : dims_.reduced) sizes_.push_back(from.dimension(d));
    for (int64_t d : dims_.kept) kept_.push_back(from.dimension(d));
    for (int64_t size : sizes_) length_ *= size;
    for (int64_t size : kept_) results_ *= size;
  }

  absl::Status EmitRows();
  absl::Status EmitColumns();

  // The row of a thread's team.
  struct RowPlace {
    Value* member;             // of the team
    Value* exists;             // nullptr: it always does
    std::vector<Value*> kept;  // its place
  };
  RowPlace PlaceOfRow();
  // Tells the emitter what the row's elements come to.
  absl::Status ProvideRow(const RowPlace& place);

 private:
  absl::StatusOr<ElementValues> TotalsOfRow(const RowPlace& place);
  const Instruction& subject(size_t k) const { return *c_.choice.subjects[k]; }
  size_t count() const { return c_.choice.subjects.size(); }
  Opcode CombinerOfSubject(size_t k) const { return *CombinerOf(subject(k)); }
  ElementType Accumulator(size_t k) const {
    return AccumulatorOf(subject(k).shape().element_type(), CombinerOfSubject(k));
  }
  Value* Combine(size_t k, Value* x, Value* y) {
    return EmitCombiner(e_.builder(), CombinerOfSubject(k), Accumulator(k), x, y);
  }
  ElementValues Identities(int width) {
    ElementValues values;
    for (size_t k = 0; k < count(); ++k) {
      values.push_back(EmitIdentity(e_.builder(), CombinerOfSubject(k), Accumulator(k), width));
    }
    return values;
  }
  int64_t Bent(const char* claim, int64_t known) {
    return c_.bends().Number(claim, c_.plan.instruction, known);
  }
  bool Forgets(const char* claim) { return c_.bends().Holds(claim, c_.plan.instruction, false); }

  // The partial results `now`, each combined with the elements from `place` on of the results at
  // `kept`; `lane_dim` of what is read has `width` of them.
  absl::StatusOr<ElementValues> Step(const std::vector<Value*>& kept, Value* place, int width,
                                     int64_t lane_dim, const ElementValues& now);
  // All lanes of each team get what the team has.
  ElementValues JoinLanes(ElementValues partial, int64_t team);
  // All threads of the block get what the block has.
  ElementValues JoinWarps(const ElementValues& partial);
  // Tells the emitter the results at `index`, which follow from the totals.
  absl::Status Provide(const ElementIndex& index, const ElementValues& totals);
  // Does so and has all outputs stored.
  absl::Status Store(const ElementIndex& index, const ElementValues& totals);

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const ReduceDims dims_;
  DimVector sizes_, kept_;
  int64_t length_ = 1, results_ = 1;
};

absl::StatusOr<ElementValues> Folder::Step(const std::vector<Value*>& kept, Value* place, int width,
                                           int64_t lane_dim, const ElementValues& now) {
  const std::vector<Value*> reduced = e_.Delinearize(sizes_, place);
  ElementIndex index;
  index.dims.resize(kept.size() + reduced.size());
  for (size_t d = 0; d < kept.size(); ++d) index.dims[dims_.kept[d]] = kept[d];
  for (size_t d = 0; d < reduced.size(); ++d) index.dims[dims_.reduced[d]] = reduced[d];
  index.width = width;
  if (width > 1) index.lane_dim = static_cast<int>(lane_dim);
  ElementValues next;
  for (size_t k = 0; k < count(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, subject(k).operand(0), index));
    const ElementType type = subject(k).shape().element_type();
    next.push_back(Combine(k, now[k], e_.builder().Convert(type, Accumulator(k), value)));
  }
  return next;
}

ElementValues Folder::JoinLanes(ElementValues partial, int64_t team) {
  const int64_t mask = Bent("reduce-rows/mask", 0xFFFFFFFF);
  const int64_t last = Bent("reduce-rows/last-step", 1);
  for (int64_t lanes = team / 2; lanes >= last; lanes /= 2) {
    for (size_t k = 0; k < count(); ++k) {
      partial[k] = Combine(k, partial[k], block_.ShuffleXor(partial[k], lanes, mask));
    }
  }
  return partial;
}

ElementValues Folder::JoinWarps(const ElementValues& partial) {
  const int64_t warps = c_.choice.block_size / kWarp;
  Value* warp = ir_.CreateUDiv(c_.thread, e_.Index(kWarp));
  Value* lane = ir_.CreateURem(c_.thread, e_.Index(kWarp));
  std::vector<Value*> shared;
  for (size_t k = 0; k < count(); ++k) {
    const ElementType type = Accumulator(k);
    shared.push_back(block_.SharedArray(type, warps, StrCat("partial", k)));
    // Each lane has the warp's: the first one writes it.
    (void)block_.If(ir_.CreateICmpEQ(lane, e_.Index(0)), [&] {
      e_.builder().Store(type, partial[k], e_.Address(type, shared[k], warp));
      return absl::OkStatus();
    });
  }
  if (!Forgets("reduce-rows/no-barrier") && !Forgets("optimize-kernel/row-no-barrier")) {
    block_.Barrier();
  }
  ElementValues totals;
  for (size_t k = 0; k < count(); ++k) {
    const ElementType type = Accumulator(k);
    Value* from = ir_.CreateURem(lane, e_.Index(warps));
    totals.push_back(e_.builder().Load(type, e_.Address(type, shared[k], from), 1));
  }
  return JoinLanes(std::move(totals), warps);
}

absl::Status Folder::Provide(const ElementIndex& index, const ElementValues& totals) {
  for (size_t k = 0; k < count(); ++k) {
    const ElementType type = subject(k).shape().element_type();
    ASSAY_ASSIGN_OR_RETURN(Value * initial, e_.EmitSpread(c_.frame, subject(k).operand(1),
                                                          ElementIndex(), index.width));
    Value* all = Combine(k, e_.builder().Convert(type, Accumulator(k), initial), totals[k]);
    e_.Provide(c_.frame, &subject(k), index, {e_.builder().Convert(Accumulator(k), type, all)});
  }
  return absl::OkStatus();
}

absl::Status Folder::Store(const ElementIndex& index, const ElementValues& totals) {
  ASSAY_RETURN_IF_ERROR(Provide(index, totals));
  return c_.store(index);
}

Folder::RowPlace Folder::PlaceOfRow() {
  const int64_t team = c_.choice.team;
  const int64_t rows_of_block = c_.choice.block_size / team;
  RowPlace place{c_.thread, nullptr, {}};
  Value* row = c_.block;
  if (rows_of_block > 1) {
    row = ir_.CreateAdd(ir_.CreateMul(c_.block, e_.Index(rows_of_block)),
                        ir_.CreateUDiv(c_.thread, e_.Index(team)));
    place.member = ir_.CreateURem(c_.thread, e_.Index(team));
  }
  // Lanes without a row help with the last one: all of a warp take part in shuffles.
  if (results_ % rows_of_block != 0) {
    const int64_t end = Bent("reduce-rows/end", results_);
    place.exists = block_.Below(row, end);
    row = block_.AtMost(row, end - 1);
  }
  place.kept = e_.Delinearize(kept_, row);
  return place;
}

absl::StatusOr<ElementValues> Folder::TotalsOfRow(const RowPlace& place) {
  const int64_t team = c_.choice.team;
  const int width = c_.choice.read_width;
  const int64_t stride = Bent("reduce-rows/stride", team * width);
  const int64_t length = Bent("reduce-rows/length", length_);
  ASSAY_ASSIGN_OR_RETURN(ElementValues partial,
                         e_.Loop(e_.IndexMul(place.member, width), e_.Index(length), stride,
                                 Identities(width), [&](Value* at, const ElementValues& now) {
                                   return Step(place.kept, at, width, dims_.reduced.back(), now);
                                 }));
  for (size_t k = 0; k < count(); ++k) {
    partial[k] = EmitFoldedLanes(e_.builder(), CombinerOfSubject(k), Accumulator(k), partial[k]);
  }
  ElementValues totals = JoinLanes(std::move(partial), std::min(team, kWarp));
  return team > kWarp ? JoinWarps(totals) : std::move(totals);
}

absl::Status Folder::EmitRows() {
  const RowPlace place = PlaceOfRow();
  ASSAY_ASSIGN_OR_RETURN(const ElementValues totals, TotalsOfRow(place));
  Value* writes = ir_.CreateICmpEQ(place.member, e_.Index(0));
  if (place.exists != nullptr) writes = ir_.CreateAnd(writes, place.exists);
  return block_.If(writes, [&] {
    ElementIndex index;
    index.dims = place.kept;
    return Store(index, totals);
  });
}

absl::Status Folder::ProvideRow(const RowPlace& place) {
  ASSAY_ASSIGN_OR_RETURN(const ElementValues totals, TotalsOfRow(place));
  ElementIndex index;
  index.dims = place.kept;
  return Provide(index, totals);
}

absl::Status Folder::EmitColumns() {
  const int width = c_.choice.read_width;
  const int64_t groups = c_.choice.block_size / kWarp;
  Value* lane = ir_.CreateURem(c_.thread, e_.Index(kWarp));
  Value* group = ir_.CreateUDiv(c_.thread, e_.Index(kWarp));
  Value* column = e_.IndexMul(ir_.CreateAdd(ir_.CreateMul(c_.block, e_.Index(kWarp)), lane), width);
  // Threads without columns help with the last ones: all of a block meet at the barrier.
  Value* exists = block_.Below(column, Bent("reduce-columns/end", results_));
  const std::vector<Value*> kept = e_.Delinearize(kept_, block_.AtMost(column, results_ - width));
  ASSAY_ASSIGN_OR_RETURN(ElementValues partial,
                         e_.Loop(group, e_.Index(Bent("reduce-columns/length", length_)),
                                 Bent("reduce-columns/stride", groups), Identities(width),
                                 [&](Value* place, const ElementValues& now) {
                                   return Step(kept, place, width, dims_.kept.back(), now);
                                 }));
  const int64_t pitch = Bent("reduce-columns/pitch", kWarp * width);
  Value* place = e_.IndexMul(lane, width);
  std::vector<Value*> shared;
  for (size_t k = 0; k < count(); ++k) {
    const ElementType type = Accumulator(k);
    shared.push_back(block_.SharedArray(type, groups * kWarp * width, StrCat("columns", k)));
    Value* at = ir_.CreateAdd(ir_.CreateMul(group, e_.Index(pitch)), place);
    e_.builder().Store(type, partial[k], e_.Address(type, shared[k], at));
  }
  if (!Forgets("reduce-columns/no-barrier")) block_.Barrier();
  Value* writes = ir_.CreateAnd(exists, ir_.CreateICmpEQ(group, e_.Index(0)));
  return block_.If(writes, [&]() -> absl::Status {
    ElementValues totals;
    for (size_t k = 0; k < count(); ++k) {
      const ElementType type = Accumulator(k);
      Value* total = nullptr;
      for (int64_t g = 0; g < Bent("reduce-columns/groups", groups); ++g) {
        Value* at = ir_.CreateAdd(e_.Index(g * pitch), place);
        Value* part = e_.builder().Load(type, e_.Address(type, shared[k], at), width);
        total = total == nullptr ? part : Combine(k, total, part);
      }
      totals.push_back(total);
    }
    ElementIndex index;
    index.dims = kept;
    index.width = width;
    if (width > 1) index.lane_dim = static_cast<int>(kept.size()) - 1;
    return Store(index, totals);
  });
}

int64_t Results(const NestPlan& nest) {
  return WrittenShape(*nest.outputs[0].instruction).ElementCount();
}
int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }

}  // namespace

int64_t RowBlocks(const NestPlan& nest, const TemplateChoice& choice) {
  return CeilOf(Results(nest), choice.block_size / choice.team);
}
int64_t ColumnBlocks(const NestPlan& nest, const TemplateChoice& choice) {
  return CeilOf(Results(nest), kWarp * choice.read_width);
}
absl::Status EmitRows(TemplateContext& context) { return Folder(context).EmitRows(); }
absl::Status EmitColumns(TemplateContext& context) { return Folder(context).EmitColumns(); }

int64_t RowFusionBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  const Shape& shape = choice.subjects[0]->operand(0)->shape();
  const int64_t rows = shape.ElementCount() / shape.dimension(shape.rank() - 1);
  return CeilOf(rows, choice.block_size / choice.team);
}

// Turn after turn of reduces, each of which may read those before it; the results at last.
absl::Status EmitRowFusion(TemplateContext& context) {
  ElementEmitter& e = context.elements;
  BlockBuilder block(e);
  std::optional<Folder::RowPlace> place;
  for (const auto& turn : FoldsByTurn(*context.plan.instruction->callee())) {
    TemplateChoice one = context.choice;
    one.subjects = turn;
    TemplateContext of_one{
        context.plan,  context.nest,         one, e, context.frame, context.block, context.thread,
        context.store, context.store_per_row};
    Folder folder(of_one);
    if (!place.has_value()) place = folder.PlaceOfRow();
    ASSAY_RETURN_IF_ERROR(folder.ProvideRow(*place));
  }
  const int width = context.choice.read_width;
  const Shape& rows = context.choice.subjects[0]->operand(0)->shape();
  const auto bent = [&](const char* claim, int64_t known) {
    return context.bends().Number(claim, context.plan.instruction, known);
  };
  const int64_t end = bent("optimize-kernel/row-end", rows.dimension(rows.rank() - 1));
  const int64_t stride = bent("optimize-kernel/row-stride", context.choice.team * width);
  const auto elements = [&]() -> absl::Status {
    return e
        .Loop(e.IndexMul(place->member, width), e.Index(end), stride, {},
              [&](Value* at, const ElementValues&) -> absl::StatusOr<ElementValues> {
                ElementIndex index;
                index.dims = place->kept;
                index.dims.push_back(at);
                index.width = width;
                if (width > 1) index.lane_dim = static_cast<int>(index.dims.size()) - 1;
                ASSAY_RETURN_IF_ERROR(context.store(index));
                return ElementValues{};
              })
        .status();
  };
  const auto results = [&]() -> absl::Status {
    if (context.store_per_row != nullptr) {
      Value* writes = e.builder().ir().CreateICmpEQ(place->member,
                                                    e.Index(bent("optimize-kernel/row-writer", 0)));
      ASSAY_RETURN_IF_ERROR(block.If(writes, [&] {
        ElementIndex index;
        index.dims = place->kept;
        return context.store_per_row(index);
      }));
    }
    return context.store == nullptr ? absl::OkStatus() : elements();
  };
  return place->exists == nullptr ? results() : block.If(place->exists, results);
}

namespace {

// Rows of scores and weights in shared memory, a row for each warp.
class Attention {
 public:
  explicit Attention(TemplateContext& context)
      : c_(context),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        attention_(*AttentionOf(*context.plan.instruction->callee())),
        length_(attention_.scores->shape().dimensions().back()) {}

  absl::Status Emit();

 private:
  int64_t Bent(const char* claim, int64_t known) const {
    return c_.bends().Number(claim, c_.plan.instruction, known);
  }
  bool Forgets(const char* claim) const {
    return c_.bends().Holds(claim, c_.plan.instruction, false);
  }
  // Computes a row of `value`, keeps it in shared memory, and has it read from there.
  absl::Status Keep(const Instruction& value, const Folder::RowPlace& place, const char* name);
  absl::Status StoreSums(const Folder::RowPlace& place);

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const RowAttention attention_;
  const int64_t length_;
};

absl::Status Attention::Keep(const Instruction& value, const Folder::RowPlace& place,
                             const char* name) {
  const ElementType type = value.shape().element_type();
  const int64_t warps = c_.choice.block_size / kWarp;
  Value* shared = block_.SharedArray(type, warps * length_, name);
  Value* warp = ir_.CreateUDiv(c_.thread, e_.Index(kWarp));
  const int64_t pitch = Bent("optimize-kernel/attention-pitch", length_);
  Value* first = ir_.CreateMul(warp, e_.Index(pitch));
  const auto element = [&](Value* at, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ElementIndex index;
    index.dims = place.kept;
    index.dims.push_back(at);
    ASSAY_ASSIGN_OR_RETURN(Value * one, e_.EmitOne(c_.frame, &value, index));
    e_.builder().Store(type, one, e_.Address(type, shared, ir_.CreateAdd(first, at)));
    return ElementValues{};
  };
  const int64_t end = Bent("optimize-kernel/attention-end", length_);
  ASSAY_RETURN_IF_ERROR(e_.Loop(place.member, e_.Index(end), kWarp, {}, element).status());
  // The array as a whole begins where row 0 would lie.
  ElementIndex begin;
  begin.dims = place.kept;
  begin.dims.push_back(e_.Index(0));
  Value* row = e_.LinearOf(value.shape().dimensions(), begin);
  e_.AddSource(c_.frame, &value, {e_.Address(type, shared, ir_.CreateSub(first, row))});
  return absl::OkStatus();
}

// Lanes take neighbouring elements of the row's sums.
absl::Status Attention::StoreSums(const Folder::RowPlace& place) {
  const Instruction& sums = *attention_.sums;
  const DotDims dims = DotDims::Of(sums);
  const std::vector<int64_t>& of_weights = attention_.operand == 0 ? dims.lhs : dims.rhs;
  std::vector<Value*> at(sums.shape().rank(), nullptr);
  for (size_t d = 0; d + 1 < of_weights.size(); ++d) at[of_weights[d]] = place.kept[d];
  DimVector others;
  int64_t count = 1;
  for (int64_t d = 0; d < sums.shape().rank(); ++d) {
    if (at[d] != nullptr) continue;
    others.push_back(sums.shape().dimension(d));
    count *= others.back();
  }
  count = Bent("optimize-kernel/attention-columns", count);
  const auto column = [&](Value* number, const ElementValues&) -> absl::StatusOr<ElementValues> {
    const std::vector<Value*> rest = e_.Delinearize(others, number);
    ElementIndex index;
    index.dims = at;
    size_t next = 0;
    for (Value*& dim : index.dims) {
      if (dim == nullptr) dim = rest[next++];
    }
    ASSAY_RETURN_IF_ERROR(c_.store(index));
    return ElementValues{};
  };
  return e_.Loop(place.member, e_.Index(count), kWarp, {}, column).status();
}

absl::Status Attention::Emit() {
  std::optional<Folder::RowPlace> place;
  for (const auto& turn : FoldsByTurn(*c_.plan.instruction->callee())) {
    TemplateChoice one = c_.choice;
    one.subjects = turn;
    TemplateContext of_one{c_.plan,  c_.nest,   one,      e_,     c_.frame,
                           c_.block, c_.thread, c_.store, nullptr};
    Folder folder(of_one);
    if (!place.has_value()) {
      place = folder.PlaceOfRow();
      // Lanes read only scores that they wrote themselves.
      ASSAY_RETURN_IF_ERROR(Keep(*attention_.scores, *place, "scores"));
    }
    ASSAY_RETURN_IF_ERROR(folder.ProvideRow(*place));
  }
  ASSAY_RETURN_IF_ERROR(Keep(*attention_.weights, *place, "weights"));
  if (!Forgets("optimize-kernel/attention-no-barrier")) block_.Barrier();
  const auto sums = [&] { return StoreSums(*place); };
  return place->exists == nullptr ? sums() : block_.If(place->exists, sums);
}

}  // namespace

int64_t AttentionBlocks(const NestPlan& /*nest*/, const TemplateChoice& choice) {
  const Shape& scores = choice.subjects[0]->shape();
  return CeilOf(scores.ElementCount() / scores.dimensions().back(),
                choice.block_size / choice.team);
}
absl::Status EmitAttention(TemplateContext& context) { return Attention(context).Emit(); }

}  // namespace assay::gpu
