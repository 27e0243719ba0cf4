// Packs panels of both operands block by block, so that blocks fit the caches, and runs the tiles.
#include "optimized/runtime/kernels/contraction_tiles.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "optimized/runtime/kernels/contraction_packing.h"
#include "optimized/runtime/kernels/contraction_rows.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

// Terms per block of the contracted dimension: a panel of it stays in the first cache. Where one
// operand is read as it lies, rows of it are pages apart, and fewer at a time keep them all mapped.
constexpr int64_t kTerms = 384, kTermsUnpacked = 128;
constexpr int64_t kBlockRows = 192;    // with kTerms of them: half of the second cache
constexpr int64_t kPanelsAtOnce = 8;   // that are packed side by side
constexpr int64_t kBlockLanes = 1536;  // of the packed operand that all threads read

// An epilogue gets sums in multiples of its unit, so that a block has all panels of one.
int64_t PanelsPerBlock(int64_t panels, int64_t blocks, int64_t panel,
                       const ContractionFinish* finish) {
  const int64_t together = finish == nullptr ? 1 : std::lcm(panel, finish->unit) / panel;
  return DivideUp(DivideUp(panels, blocks), together) * together;
}

// A contraction without batch and without dilated operands. P: packed element; T: sum; kStep: terms
// per step of a tile.
template <typename P, typename T, int kStep, TileType kTile>
class Blocked {
 public:
  Blocked(RunContext* context, const MicroKernels& kernels, int64_t out_type, ElementType row_type,
          ElementType lane_type, const ContractionSide& rows, const ContractionSide& lanes,
          int64_t terms, void* out, const ContractionFinish* finish)
      : context_(context),
        kernels_(kernels),
        rows_(rows),
        lanes_(lanes),
        terms_(terms),
        out_(out),
        finish_(finish),
        pack_rows_(PackFor<P, kStep>(row_type)),
        pack_lanes_(PackFor<P, kStep>(lane_type)),
        store_(StoreFor<T>(static_cast<ElementType>(out_type))) {
    width_ = kernels.width[static_cast<int>(kTile)];
    max_rows_ = kernels.max_rows[static_cast<int>(kTile)];
    vectors_ = lanes.count > width_ ? 2 : 1;
    panel_ = width_ * vectors_;
    sums_stay_ = SizeOf(static_cast<ElementType>(out_type)) == sizeof(T) &&
                 IsFloat(static_cast<ElementType>(out_type)) == std::is_floating_point_v<T>;
    unpacked_ = CanReadUnpacked(lane_type);
    const int64_t most = IsThin(lane_type) ? kTermsUnpacked : kTerms;
    blocks_ = std::max<int64_t>(1, DivideUp(terms, most));
    block_terms_ = DivideUp(DivideUp(terms, blocks_), kStep) * kStep;
  }

  void Run() {
    for (int64_t first = 0; first < lanes_.count; first += kBlockLanes) {
      RunLanes(first, std::min(kBlockLanes, lanes_.count - first));
    }
  }

 private:
  static int64_t SizeOf(ElementType type) { return BitWidth(type) / 8; }

  // Few rows beside lanes that may be read as they lie. Where sums are interrupted, and so rounded
  // once more, depends on this and not on the machine.
  bool IsThin(ElementType lane_type) const {
    constexpr int64_t kFewRows = 24, kLaneBytes = 128;
    return rows_.count <= kFewRows &&
           lanes_.count * static_cast<int64_t>(sizeof(P)) >= kLaneBytes &&
           MayReadUnpacked(lane_type);
  }

  // Few rows read each lane too seldom to be worth a copy of it.
  bool CanReadUnpacked(ElementType lane_type) const {
    return rows_.count <= 2 * max_rows_ && lanes_.count >= panel_ && MayReadUnpacked(lane_type);
  }

  // True if lanes are found in memory as tiles read them.
  bool MayReadUnpacked(ElementType lane_type) const {
    if (kStep > 1 || terms_ == 0) return false;
    if (SizeOf(lane_type) != sizeof(P) || IsFloat(lane_type) != std::is_floating_point_v<P>) {
      return false;
    }
    return LieInOrder(lanes_);
  }

  void RunLanes(int64_t first, int64_t count) {
    const int64_t panels = DivideUp(count, panel_);
    const int64_t steps = block_terms_ / kStep;
    ScratchPool& scratch = *context_->scratch;
    // Sums that the result cannot hold between blocks of terms.
    const bool apart = blocks_ > 1 && !sums_stay_;
    ScratchPool::Block sums =
        scratch.Take(apart ? rows_.count * panels * panel_ * static_cast<int64_t>(sizeof(T)) : 64);
    const bool threads = rows_.count * count * terms_ > kSmallContraction;
    // Parts of the rows, and of the lanes where rows are few.
    const int64_t workers = threads ? context_->threads() : 1;
    int64_t row_blocks = DivideUp(rows_.count, kBlockRows);
    // If each panel of lanes meets one block of rows, whoever needs it packs it.
    const bool pack_late = !unpacked_ && row_blocks == 1 && panels >= 2 * workers;
    if (workers > 1 && !pack_late && rows_.count >= workers * max_rows_) {
      row_blocks = DivideUp(row_blocks, workers) * workers;
    }
    const int64_t block_rows = DivideUp(DivideUp(rows_.count, row_blocks), max_rows_) * max_rows_;
    row_blocks = DivideUp(rows_.count, block_rows);
    const int64_t lane_blocks =
        workers > 1 ? std::min(panels, DivideUp(2 * workers, row_blocks)) : 1;
    const int64_t block_panels = PanelsPerBlock(panels, lane_blocks, panel_, finish_);
    ScratchPool::Block packed = scratch.Take(
        pack_late ? 64 : panels * panel_ * block_terms_ * static_cast<int64_t>(sizeof(P)));
    for (int64_t block = 0; block < blocks_; ++block) {
      const int64_t begin = block * block_terms_, end = std::min(terms_, begin + block_terms_);
      const Stage stage{first,
                        count,
                        begin,
                        end,
                        block == 0,
                        block + 1 == blocks_,
                        pack_late ? nullptr : packed.as<P>(),
                        apart ? sums.as<T>() : nullptr,
                        panels * panel_,
                        steps};
      if (!pack_late && (!unpacked_ || count % panel_ != 0)) {
        const int64_t start = unpacked_ ? panels - 1 : 0;
        context_->Split(
            panels - start, threads ? kPanelsAtOnce : panels, [&](int64_t from, int64_t to) {
              for (int64_t p = from; p < to; p += kPanelsAtOnce) {
                PackLanePanels(stage, start + p, start + std::min(to, p + kPanelsAtOnce));
              }
            });
      }
      context_->Split(row_blocks * lane_blocks, threads ? 1 : row_blocks * lane_blocks,
                      [&](int64_t from, int64_t to) {
                        for (int64_t part = from; part < to; ++part) {
                          const int64_t rb = part / lane_blocks, lb = part % lane_blocks;
                          RunBlock(stage, rb * block_rows,
                                   std::min(rows_.count, (rb + 1) * block_rows), lb * block_panels,
                                   std::min(panels, (lb + 1) * block_panels));
                        }
                      });
    }
  }

  // The data that all parts of one block of lanes and one block of terms share.
  struct Stage {
    int64_t first_lane, lane_count;
    int64_t begin, end;  // terms
    bool first, last;    // of the blocks of terms
    P* packed;           // nullptr: panels are packed where they are needed
    T* sums;             // apart from the result; nullptr: none
    int64_t sums_stride;
    int64_t steps;  // that a packed panel has room for
  };

  // Panels of one operand, side by side. Where a term is a line of memory, all of them take their
  // part of a few lines at a time: a line is read once and in order, and few pages are open at
  // once.
  template <typename Width, typename To>
  void PackPanels(PackFn<P, kStep> pack, const ContractionSide& side,
                  absl::Span<const SidePlaces> places, int64_t begin, int64_t end,
                  const Width& width, const To& to) const {
    constexpr int64_t kTermsAtOnce = 16;
    bool are_lines = places.size() > 1;
    for (const SidePlaces& of : places) are_lines = are_lines && of.are_neighbours;
    const int64_t most = are_lines ? kTermsAtOnce : std::max<int64_t>(end - begin, 1);
    for (int64_t at = begin; at < end; at += most) {
      for (size_t p = 0; p < places.size(); ++p) {
        const int lanes = width(places[p]);
        pack(side, places[p], lanes, at, std::min(end, at + most),
             to(static_cast<int64_t>(p)) + (at - begin) * lanes);
      }
    }
  }

  void PackLanePanels(const Stage& stage, int64_t first, int64_t last) const {
    SidePlaces places[kPanelsAtOnce];
    for (int64_t p = first; p < last; ++p) {
      const int64_t lane = p * panel_;
      const auto count = static_cast<int>(std::min<int64_t>(panel_, stage.lane_count - lane));
      Locate(lanes_, stage.first_lane + lane, count, places[p - first]);
    }
    PackPanels(
        pack_lanes_, lanes_, absl::MakeConstSpan(places, static_cast<size_t>(last - first)),
        stage.begin, stage.end, [&](const SidePlaces&) { return static_cast<int>(panel_); },
        [&](int64_t p) { return stage.packed + (first + p) * panel_ * stage.steps * kStep; });
  }

  void PackLanes(const Stage& stage, const SidePlaces& places, P* to) const {
    pack_lanes_(lanes_, places, static_cast<int>(panel_), stage.begin, stage.end, to);
  }

  // The places of a tile's rows in the result.
  struct RowPlaces {
    int count;
    int64_t out[MicroKernels::kMaxRows];
  };

  void RunBlock(const Stage& stage, int64_t first_row, int64_t last_row, int64_t first_panel,
                int64_t last_panel) {
    const int64_t terms = stage.end - stage.begin, steps = DivideUp(terms, kStep);
    const int64_t row_panels = DivideUp(last_row - first_row, max_rows_);
    if (row_panels <= 0 || first_panel >= last_panel) return;
    ScratchPool::Block block =
        context_->scratch->Take((row_panels * max_rows_ + (stage.packed == nullptr ? panel_ : 0)) *
                                steps * kStep * static_cast<int64_t>(sizeof(P)));
    P* panel_here = block.as<P>();  // on a cache line, unlike rows, of which single terms are read
    P* packed_rows = panel_here + (stage.packed == nullptr ? panel_ * steps * kStep : 0);
    std::vector<RowPlaces> rows(static_cast<size_t>(row_panels));
    for (int64_t r = 0; r < row_panels; r += kPanelsAtOnce) {
      SidePlaces places[kPanelsAtOnce];
      const int64_t together = std::min(kPanelsAtOnce, row_panels - r);
      for (int64_t p = 0; p < together; ++p) {
        const int64_t row = first_row + (r + p) * max_rows_;
        const auto count = static_cast<int>(std::min<int64_t>(max_rows_, last_row - row));
        Locate(rows_, row, count, places[p]);
        rows[r + p].count = count;
        std::copy_n(places[p].out, count, rows[r + p].out);
      }
      PackPanels(
          pack_rows_, rows_, absl::MakeConstSpan(places, static_cast<size_t>(together)),
          stage.begin, stage.end, [](const SidePlaces& of) { return of.count; },
          [&](int64_t p) { return packed_rows + (r + p) * max_rows_ * steps * kStep; });
    }
    SidePlaces lanes;
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t lane = panel * panel_;
      const auto count = static_cast<int>(std::min<int64_t>(panel_, stage.lane_count - lane));
      Locate(lanes_, stage.first_lane + lane, count, lanes);
      bool contiguous = count == panel_;
      for (int j = 1; contiguous && j < count; ++j) contiguous = lanes.out[j] == lanes.out[0] + j;
      if (stage.packed == nullptr) PackLanes(stage, lanes, panel_here);
      const P* from = stage.packed == nullptr ? panel_here
                                              : stage.packed + panel * panel_ * stage.steps * kStep;
      int64_t stride = panel_;
      if (unpacked_ && count == panel_) {
        from = static_cast<const P*>(lanes_.data) + lanes.base[0] + lanes_.tap_offsets[0] +
               lanes_.inner[stage.begin];
        stride = lanes_.inner.size() > 1 ? lanes_.inner[1] - lanes_.inner[0] : 0;
        if (panel + 1 < last_panel) FetchAhead(from + panel_, terms, stride);
      }
      for (int64_t r = 0; r < row_panels; ++r) {
        RunTile(stage, rows[r], lanes, contiguous, first_row + r * max_rows_, lane, steps,
                packed_rows + r * max_rows_ * steps * kStep, from, stride);
      }
      const int64_t done = (panel - first_panel) % kPanelsAtOnce + 1;
      const bool is_due = done == kPanelsAtOnce || panel + 1 == last_panel;
      if (finish_ != nullptr && stage.last && is_due) FinishPanels(stage, rows, panel + 1, done);
    }
    *context_->work +=
        (last_row - first_row) *
        std::min((last_panel - first_panel) * panel_, stage.lane_count - first_panel * panel_) *
        terms;
  }

  // The sums of the `count` panels before `last` are complete.
  void FinishPanels(const Stage& stage, const std::vector<RowPlaces>& rows, int64_t last,
                    int64_t count) const {
    std::vector<int64_t> places;
    for (const RowPlaces& of : rows) places.insert(places.end(), of.out, of.out + of.count);
    const int64_t begin = (last - count) * panel_, end = std::min(last * panel_, stage.lane_count);
    finish_->RunLines(out_, places, lanes_, stage.first_lane + begin, end - begin);
  }

  // Rows of an operand that is read as it lies are so far apart that the machine does not see which
  // come next.
  void FetchAhead(const P* panel, int64_t terms, int64_t stride) const {
    constexpr int64_t kLine = 64;
    const int64_t bytes = panel_ * static_cast<int64_t>(sizeof(P));
    for (int64_t k = 0; k < terms; ++k) {
      const auto* row = reinterpret_cast<const uint8_t*>(panel + k * stride);
      for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at);
    }
  }

  void RunTile(const Stage& stage, const RowPlaces& rows, const SidePlaces& lanes, bool contiguous,
               int64_t row, int64_t lane, int64_t steps, const P* r, const P* l, int64_t stride) {
    const TileFn tile = kernels_.tile[static_cast<int>(kTile)][vectors_ - 1][rows.count - 1];
    if (stage.sums != nullptr) {
      T* at = stage.sums + row * stage.sums_stride + lane;
      tile(steps, r, l, stride, at, stage.sums_stride, !stage.first);
      if (stage.last) Store(at, stage.sums_stride, rows, lanes);
      return;
    }
    if (sums_stay_ && contiguous) {
      bool even = true;
      for (int i = 2; even && i < rows.count; ++i) {
        even = rows.out[i] - rows.out[i - 1] == rows.out[1] - rows.out[0];
      }
      if (even) {
        T* at = static_cast<T*>(out_) + rows.out[0] + lanes.out[0];
        tile(steps, r, l, stride, at, rows.count > 1 ? rows.out[1] - rows.out[0] : 0, !stage.first);
        return;
      }
    }
    alignas(64) T buffer[MicroKernels::kMaxRows * SidePlaces::kMax];
    const bool add = !stage.first;
    if (add) {
      const T* from = static_cast<const T*>(out_);
      for (int i = 0; i < rows.count; ++i) {
        for (int j = 0; j < lanes.count; ++j) {
          buffer[i * panel_ + j] = from[rows.out[i] + lanes.out[j]];
        }
        for (int64_t j = lanes.count; j < panel_; ++j) buffer[i * panel_ + j] = T(0);
      }
    }
    tile(steps, r, l, stride, buffer, panel_, add);
    Store(buffer, panel_, rows, lanes);
  }

  void Store(const T* tile, int64_t stride, const RowPlaces& rows, const SidePlaces& lanes) const {
    store_(tile, stride, absl::MakeConstSpan(rows.out, static_cast<size_t>(rows.count)),
           absl::MakeConstSpan(lanes.out, static_cast<size_t>(lanes.count)), out_);
  }

  RunContext* context_;
  const MicroKernels& kernels_;
  const ContractionSide &rows_, &lanes_;
  int64_t terms_;
  void* out_;
  const ContractionFinish* finish_;  // nullptr: nothing is left to do
  PackFn<P, kStep> pack_rows_, pack_lanes_;
  StoreFn<T> store_;
  int width_ = 1, max_rows_ = 1, vectors_ = 1;
  int64_t panel_ = 1;
  bool sums_stay_ = false, unpacked_ = false;
  int64_t blocks_ = 1, block_terms_ = 0;
};

TileType TileTypeFor(const ContractionPlan& plan) {
  const auto sum = static_cast<ElementType>(plan.sum_type);
  if (sum == ElementType::kF64) return TileType::kF64;
  if (IsFloat(sum)) return TileType::kF32;
  auto is_short = [](int64_t type) {
    const auto t = static_cast<ElementType>(type);
    return t == ElementType::kS8 || t == ElementType::kU8 || t == ElementType::kS16;
  };
  if (BitWidth(sum) <= 32 && is_short(plan.lhs_type) && is_short(plan.rhs_type)) {
    return TileType::kPairsS16;
  }
  return BitWidth(sum) <= 32 ? TileType::kS32 : TileType::kS64;
}

// Lanes are padded to whole vectors: they run along the side that fills them, and along the one
// that is contiguous in the result where both do.
bool LanesAlongLhs(const ContractionPlan& plan, const ContractionSides& sides) {
  const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
  const int width = kernels.width[static_cast<int>(TileTypeFor(plan))];
  auto is_contiguous = [&](const ContractionSide& side) {
    return !side.axes.empty() && side.axes.back().out == 1 && side.axes.back().size >= width;
  };
  auto waste = [&](const ContractionSide& side) {
    return static_cast<double>(DivideUp(side.count, width) * width) /
           static_cast<double>(side.count);
  };
  bool along_lhs = waste(sides.lhs) < waste(sides.rhs) / 1.2;
  if (is_contiguous(sides.lhs) && !is_contiguous(sides.rhs)) {
    along_lhs = waste(sides.lhs) < waste(sides.rhs) * 1.5;
  }
  return along_lhs;
}

template <typename P, typename T, int kStep, TileType kTile>
void RunTyped(RunContext* context, const ContractionPlan& plan, ContractionSides& sides, void* out,
              const ContractionFinish* finish) {
  const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
  const auto lhs = static_cast<ElementType>(plan.lhs_type);
  const auto rhs = static_cast<ElementType>(plan.rhs_type);
  if (LanesAlongLhs(plan, sides)) {
    Blocked<P, T, kStep, kTile>(context, kernels, plan.out_type, rhs, lhs, sides.rhs, sides.lhs,
                                sides.terms, out, finish)
        .Run();
  } else {
    Blocked<P, T, kStep, kTile>(context, kernels, plan.out_type, lhs, rhs, sides.lhs, sides.rhs,
                                sides.terms, out, finish)
        .Run();
  }
}

}  // namespace

bool HasTiles(const ContractionPlan& plan) {
  const auto lhs = static_cast<ElementType>(plan.lhs_type);
  const auto rhs = static_cast<ElementType>(plan.rhs_type);
  const auto out = static_cast<ElementType>(plan.out_type);
  auto known = [&](auto pack_lhs, auto pack_rhs, auto store) {
    return pack_lhs != nullptr && pack_rhs != nullptr && store != nullptr;
  };
  switch (TileTypeFor(plan)) {
    case TileType::kF32:
      return known(PackFor<float, 1>(lhs), PackFor<float, 1>(rhs), StoreFor<float>(out));
    case TileType::kF64:
      return known(PackFor<double, 1>(lhs), PackFor<double, 1>(rhs), StoreFor<double>(out));
    case TileType::kPairsS16:
      return known(PackFor<int16_t, 2>(lhs), PackFor<int16_t, 2>(rhs), StoreFor<uint32_t>(out));
    case TileType::kS32:
      return known(PackFor<uint32_t, 1>(lhs), PackFor<uint32_t, 1>(rhs), StoreFor<uint32_t>(out));
    case TileType::kS64:
      return known(PackFor<uint64_t, 1>(lhs), PackFor<uint64_t, 1>(rhs), StoreFor<uint64_t>(out));
  }
  return false;
}

bool CompletesLines(const ContractionPlan& plan, const ContractionSides& sides) {
  if (RunsByRows(plan, sides)) return true;
  constexpr int64_t kShortest = 16;
  const ContractionSide& lanes = LanesAlongLhs(plan, sides) ? sides.lhs : sides.rhs;
  const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
  const int64_t width = kernels.width[static_cast<int>(TileTypeFor(plan))];
  if (kPanelsAtOnce * width % plan.epilogue_unit != 0) return false;
  return !lanes.axes.empty() && lanes.axes.back().out == 1 && lanes.axes.back().size >= kShortest;
}

void RunTiles(RunContext* context, const ContractionPlan& plan, ContractionSides& sides,
              const uint8_t* lhs, const uint8_t* rhs, uint8_t* out,
              const ContractionFinish* finish) {
  sides.lhs.data = lhs;
  sides.rhs.data = rhs;
  if (RunsByRows(plan, sides)) return RunByRows(context, plan, sides, out, finish);
  switch (TileTypeFor(plan)) {
    case TileType::kF32:
      return RunTyped<float, float, 1, TileType::kF32>(context, plan, sides, out, finish);
    case TileType::kF64:
      return RunTyped<double, double, 1, TileType::kF64>(context, plan, sides, out, finish);
    case TileType::kPairsS16:
      return RunTyped<int16_t, uint32_t, 2, TileType::kPairsS16>(context, plan, sides, out, finish);
    case TileType::kS32:
      return RunTyped<uint32_t, uint32_t, 1, TileType::kS32>(context, plan, sides, out, finish);
    case TileType::kS64:
      return RunTyped<uint64_t, uint64_t, 1, TileType::kS64>(context, plan, sides, out, finish);
  }
}

}  // namespace assay
