// Packing, blocking and threads of contractions.
#include "optimized/runtime/kernels/contraction.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"
#include "spec/types/native.h"

namespace assay {
namespace {

// Terms per block of the contracted dimension: a panel of it stays in the first cache. Where one
// operand is read as it lies, rows of it are pages apart, and fewer at a time keep them all mapped.
constexpr int64_t kTerms = 384, kTermsUnpacked = 128;
constexpr int64_t kBlockRows = 192;      // with kTerms of them: half of the second cache
constexpr int64_t kBlockLanes = 1536;    // of the packed operand that all threads read
constexpr int64_t kSmallWork = 1 << 17;  // products below which threads cost more than they gain

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Where one operand has its elements: element (i, k), i an index of its free axes, k of the
// contracted ones, is at base(i) + tap offset + inner[k % inner.size()], unless its tap falls
// outside.
struct Side {
  struct Axis {
    int64_t size, step, out;  // out: step in the result
    int window = -1;
  };
  struct Tap {  // an axis of the window
    int64_t stride, dilation, low, size, step;
    int64_t taps;
  };
  const void* data = nullptr;
  std::vector<Axis> axes;  // outermost first
  int64_t count = 1;       // of i
  std::vector<Tap> windows;
  int64_t taps = 1;
  std::vector<int64_t> tap_offsets;  // of each tap, beside what windows add
  std::vector<int64_t> inner;
};

// Offsets of consecutive indices of a side's free axes.
struct Places {
  static constexpr int kMax = 64;
  int count = 0;
  int64_t base[kMax];
  int64_t out[kMax];
  int64_t at[ContractionPlan::kMaxWindows][kMax];  // place along each window's axis
};

void Locate(const Side& side, int64_t first, int count, Places& places) {
  places.count = count;
  int64_t index[ContractionPlan::kMaxAxes] = {};
  int64_t rest = first;
  const auto rank = static_cast<int>(side.axes.size());
  for (int a = rank; a-- > 0;) {
    index[a] = rest % side.axes[a].size;
    rest /= side.axes[a].size;
  }
  int64_t base = 0, out = 0;
  for (int a = 0; a < rank; ++a) {
    base += index[a] * side.axes[a].step;
    out += index[a] * side.axes[a].out;
  }
  for (int i = 0; i < count; ++i) {
    places.base[i] = base;
    places.out[i] = out;
    for (int a = 0; a < rank; ++a) {
      if (side.axes[a].window >= 0) places.at[side.axes[a].window][i] = index[a];
    }
    for (int a = rank; a-- > 0;) {
      const Side::Axis& axis = side.axes[a];
      base += axis.step;
      out += axis.out;
      if (++index[a] < axis.size) break;
      base -= axis.size * axis.step;
      out -= axis.size * axis.out;
      index[a] = 0;
    }
  }
}

// Where the elements of one tap are; returns how many exist, their numbers in `exists`.
int LocateTap(const Side& side, const Places& places, int64_t tap, int64_t* from, int* exists) {
  int found = 0;
  int64_t at[ContractionPlan::kMaxWindows] = {};
  int64_t rest = tap;
  for (size_t w = side.windows.size(); w-- > 0;) {
    at[w] = rest % side.windows[w].taps;
    rest /= side.windows[w].taps;
  }
  for (int i = 0; i < places.count; ++i) {
    int64_t offset = places.base[i] + side.tap_offsets[tap];
    bool inside = true;
    for (size_t w = 0; w < side.windows.size(); ++w) {
      const Side::Tap& window = side.windows[w];
      const int64_t place = places.at[w][i] * window.stride + at[w] * window.dilation - window.low;
      inside = inside && place >= 0 && place < window.size;
      offset += place * window.step;
    }
    if (!inside) continue;
    from[found] = offset;
    exists[found++] = i;
  }
  return found;
}

template <typename P, typename S>
P Convert(S value) {
  if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>) {
    return static_cast<P>(static_cast<float>(value));
  } else {
    return static_cast<P>(value);
  }
}

// Packs terms [begin, end) of `places` into `to`: for each step the terms of `width` places side by
// side, zeros behind the last. kStep: terms per step (two for pairs).
template <typename S, typename P, int kStep>
void PackAs(const Side& side, const Places& places, int width, int64_t begin, int64_t end, P* to) {
  const S* data = static_cast<const S*>(side.data);
  const auto inner_count = static_cast<int64_t>(side.inner.size());
  int64_t from[Places::kMax];
  int exists[Places::kMax];
  auto slot = [&](int64_t term) {
    return to + (term - begin) / kStep * width * kStep + (term - begin) % kStep;
  };
  if (kStep > 1 && (end - begin) % kStep != 0) {
    std::memset(slot(end - 1), 0, static_cast<size_t>(width) * kStep * sizeof(P));
  }
  for (int64_t term = begin; term < end;) {
    const int64_t tap = term / inner_count, first = term % inner_count;
    const int64_t last = std::min(inner_count, first + end - term);
    const int found = LocateTap(side, places, tap, from, exists);
    bool contiguous = found == places.count;
    for (int i = 1; contiguous && i < found; ++i) contiguous = from[i] == from[0] + i;
    for (int64_t k = first; k < last; ++k, ++term) {
      P* row = slot(term);
      const S* source = data + side.inner[k];
      if (contiguous) {
        for (int i = 0; i < found; ++i) row[i * kStep] = Convert<P>(source[from[0] + i]);
        for (int i = found; i < width; ++i) row[i * kStep] = P(0);
      } else {
        if (found < width) {
          for (int i = 0; i < width; ++i) row[i * kStep] = P(0);
        }
        for (int i = 0; i < found; ++i) row[exists[i] * kStep] = Convert<P>(source[from[i]]);
      }
    }
  }
}

template <typename P, int kStep>
using PackFn = void (*)(const Side&, const Places&, int, int64_t, int64_t, P*);

template <typename P, int kStep>
PackFn<P, kStep> PackFor(ElementType type) {
  if constexpr (std::is_floating_point_v<P>) {
    switch (type) {
      case ElementType::kF16:
        return PackAs<Half, P, kStep>;
      case ElementType::kBF16:
        return PackAs<BFloat16, P, kStep>;
      case ElementType::kF32:
        return PackAs<float, P, kStep>;
      case ElementType::kF64:
        if constexpr (std::is_same_v<P, double>) return PackAs<double, P, kStep>;
        return nullptr;
      default:
        return nullptr;
    }
  } else {
    switch (type) {
      case ElementType::kS8:
        return PackAs<int8_t, P, kStep>;
      case ElementType::kU8:
        return PackAs<uint8_t, P, kStep>;
      case ElementType::kS16:
        return PackAs<int16_t, P, kStep>;
      default:
        break;
    }
    if constexpr (sizeof(P) >= 4) {
      switch (type) {
        case ElementType::kU16:
          return PackAs<uint16_t, P, kStep>;
        case ElementType::kS32:
          return PackAs<int32_t, P, kStep>;
        case ElementType::kU32:
          return PackAs<uint32_t, P, kStep>;
        case ElementType::kS64:
          return PackAs<int64_t, P, kStep>;
        case ElementType::kU64:
          return PackAs<uint64_t, P, kStep>;
        default:
          break;
      }
    }
    return nullptr;
  }
}

// Takes a tile of sums to the result: `out[row places + lane places]`.
template <typename T, typename O>
void StoreAs(const T* tile, int64_t stride, const Places& rows, const Places& lanes, void* out) {
  O* to = static_cast<O*>(out);
  for (int i = 0; i < rows.count; ++i) {
    O* row = to + rows.out[i];
    for (int j = 0; j < lanes.count; ++j) {
      row[lanes.out[j]] = static_cast<O>(tile[i * stride + j]);
    }
  }
}

template <typename T>
using StoreFn = void (*)(const T*, int64_t, const Places&, const Places&, void*);

template <typename T>
StoreFn<T> StoreFor(ElementType type) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (type) {
      case ElementType::kF32:
        return StoreAs<T, float>;
      case ElementType::kF64:
        return StoreAs<T, double>;
      case ElementType::kF16:
        if constexpr (std::is_same_v<T, float>) return StoreAs<T, Half>;
        return nullptr;
      case ElementType::kBF16:
        if constexpr (std::is_same_v<T, float>) return StoreAs<T, BFloat16>;
        return nullptr;
      default:
        return nullptr;
    }
  } else {
    switch (type) {
      case ElementType::kS8:
      case ElementType::kU8:
        return StoreAs<T, uint8_t>;
      case ElementType::kS16:
      case ElementType::kU16:
        return StoreAs<T, uint16_t>;
      case ElementType::kS32:
      case ElementType::kU32:
        return StoreAs<T, uint32_t>;
      case ElementType::kS64:
      case ElementType::kU64:
        return StoreAs<T, uint64_t>;
      default:
        return nullptr;
    }
  }
}

// A contraction without batch and without dilated operands. P: packed element; T: sum; kStep: terms
// per step of a tile.
template <typename P, typename T, int kStep, TileType kTile>
class Blocked {
 public:
  Blocked(RunContext* context, const MicroKernels& kernels, int64_t out_type, ElementType row_type,
          ElementType lane_type, const Side& rows, const Side& lanes, int64_t terms, void* out)
      : context_(context),
        kernels_(kernels),
        rows_(rows),
        lanes_(lanes),
        terms_(terms),
        out_(out),
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
    const int64_t most = unpacked_ ? kTermsUnpacked : kTerms;
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

  // Few rows read each lane too seldom to be worth a copy of it.
  bool CanReadUnpacked(ElementType lane_type) const {
    if (kStep > 1 || terms_ == 0 || rows_.count > 2 * max_rows_ || !lanes_.windows.empty()) {
      return false;
    }
    if (SizeOf(lane_type) != sizeof(P) || IsFloat(lane_type) != std::is_floating_point_v<P>) {
      return false;
    }
    if (lanes_.axes.size() != 1 || lanes_.axes[0].step != 1 || lanes_.count < panel_) return false;
    const auto& inner = lanes_.inner;
    for (size_t k = 2; k < inner.size(); ++k) {
      if (inner[k] - inner[k - 1] != inner[1] - inner[0]) return false;
    }
    return lanes_.taps == 1;
  }

  void RunLanes(int64_t first, int64_t count) {
    const int64_t panels = DivideUp(count, panel_);
    const int64_t steps = block_terms_ / kStep;
    ScratchPool& scratch = *context_->scratch;
    ScratchPool::Block packed = scratch.Take(panels * panel_ * block_terms_ * sizeof(P));
    // Sums that the result cannot hold between blocks of terms.
    const bool apart = blocks_ > 1 && !sums_stay_;
    ScratchPool::Block sums =
        scratch.Take(apart ? rows_.count * panels * panel_ * static_cast<int64_t>(sizeof(T)) : 64);
    const bool threads = rows_.count * count * terms_ > kSmallWork;
    // Parts of the rows, and of the lanes where rows are few.
    const int64_t workers = threads ? context_->threads() : 1;
    int64_t row_blocks = DivideUp(rows_.count, kBlockRows);
    if (workers > 1 && rows_.count >= workers * max_rows_) {
      row_blocks = DivideUp(row_blocks, workers) * workers;
    }
    const int64_t block_rows = DivideUp(DivideUp(rows_.count, row_blocks), max_rows_) * max_rows_;
    row_blocks = DivideUp(rows_.count, block_rows);
    const int64_t lane_blocks =
        workers > 1 ? std::min(panels, DivideUp(2 * workers, row_blocks)) : 1;
    const int64_t block_panels = DivideUp(panels, lane_blocks);
    for (int64_t block = 0; block < blocks_; ++block) {
      const int64_t begin = block * block_terms_, end = std::min(terms_, begin + block_terms_);
      const Stage stage{first,           count,
                        begin,           end,
                        block == 0,      block + 1 == blocks_,
                        packed.as<P>(),  apart ? sums.as<T>() : nullptr,
                        panels * panel_, steps};
      if (!unpacked_ || count % panel_ != 0) {
        const int64_t start = unpacked_ ? panels - 1 : 0;
        context_->Split(panels - start, threads ? 4 : panels, [&](int64_t from, int64_t to) {
          for (int64_t p = from; p < to; ++p) PackPanel(stage, start + p);
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

  // What all parts of one block of lanes and one of terms share.
  struct Stage {
    int64_t first_lane, lane_count;
    int64_t begin, end;  // terms
    bool first, last;    // of the blocks of terms
    P* packed;
    T* sums;  // apart from the result; nullptr: none
    int64_t sums_stride;
    int64_t steps;  // that a packed panel has room for
  };

  void PackPanel(const Stage& stage, int64_t panel) const {
    Places places;
    const int64_t lane = panel * panel_;
    const auto count = static_cast<int>(std::min<int64_t>(panel_, stage.lane_count - lane));
    Locate(lanes_, stage.first_lane + lane, count, places);
    pack_lanes_(lanes_, places, static_cast<int>(panel_), stage.begin, stage.end,
                stage.packed + panel * panel_ * stage.steps * kStep);
  }

  void RunBlock(const Stage& stage, int64_t first_row, int64_t last_row, int64_t first_panel,
                int64_t last_panel) {
    const int64_t terms = stage.end - stage.begin, steps = DivideUp(terms, kStep);
    const int64_t row_panels = DivideUp(last_row - first_row, max_rows_);
    if (row_panels <= 0 || first_panel >= last_panel) return;
    ScratchPool::Block block =
        context_->scratch->Take(row_panels * max_rows_ * steps * kStep * sizeof(P));
    std::vector<Places> rows(static_cast<size_t>(row_panels));
    for (int64_t r = 0; r < row_panels; ++r) {
      const int64_t row = first_row + r * max_rows_;
      const auto count = static_cast<int>(std::min<int64_t>(max_rows_, last_row - row));
      Locate(rows_, row, count, rows[r]);
      pack_rows_(rows_, rows[r], count, stage.begin, stage.end,
                 block.as<P>() + r * max_rows_ * steps * kStep);
    }
    Places lanes;
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t lane = panel * panel_;
      const auto count = static_cast<int>(std::min<int64_t>(panel_, stage.lane_count - lane));
      Locate(lanes_, stage.first_lane + lane, count, lanes);
      bool contiguous = count == panel_;
      for (int j = 1; contiguous && j < count; ++j) contiguous = lanes.out[j] == lanes.out[0] + j;
      const P* from = stage.packed + panel * panel_ * stage.steps * kStep;
      int64_t stride = panel_;
      if (unpacked_ && count == panel_) {
        from = static_cast<const P*>(lanes_.data) + lanes.base[0] + lanes_.tap_offsets[0] +
               lanes_.inner[stage.begin];
        stride = lanes_.inner.size() > 1 ? lanes_.inner[1] - lanes_.inner[0] : 0;
      }
      for (int64_t r = 0; r < row_panels; ++r) {
        RunTile(stage, rows[r], lanes, contiguous, first_row + r * max_rows_, lane, steps,
                block.as<P>() + r * max_rows_ * steps * kStep, from, stride);
      }
    }
    *context_->work +=
        (last_row - first_row) *
        std::min((last_panel - first_panel) * panel_, stage.lane_count - first_panel * panel_) *
        terms;
  }

  void RunTile(const Stage& stage, const Places& rows, const Places& lanes, bool contiguous,
               int64_t row, int64_t lane, int64_t steps, const P* r, const P* l, int64_t stride) {
    const TileFn tile = kernels_.tile[static_cast<int>(kTile)][vectors_ - 1][rows.count - 1];
    if (stage.sums != nullptr) {
      T* at = stage.sums + row * stage.sums_stride + lane;
      tile(steps, r, l, stride, at, stage.sums_stride, !stage.first);
      if (stage.last) store_(at, stage.sums_stride, rows, lanes, out_);
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
    alignas(64) T buffer[MicroKernels::kMaxRows * Places::kMax];
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
    store_(buffer, panel_, rows, lanes, out_);
  }

  RunContext* context_;
  const MicroKernels& kernels_;
  const Side &rows_, &lanes_;
  int64_t terms_;
  void* out_;
  PackFn<P, kStep> pack_rows_, pack_lanes_;
  StoreFn<T> store_;
  int width_ = 1, max_rows_ = 1, vectors_ = 1;
  int64_t panel_ = 1;
  bool sums_stay_ = false, unpacked_ = false;
  int64_t blocks_ = 1, block_terms_ = 0;
};

// The greatest e with the same result for indices that differ by it: a dilated place repeats.
int64_t Period(int64_t step, int64_t base) { return base / std::gcd(step, base); }

// A plan whose operand is dilated falls apart into plans whose operand is not: places of the result
// that hit the same remainder, with the taps that hit it. Calls run(plan) for each; `empty`: no tap
// hits, so that the sums are zero.
template <typename Run>
void ForEachPhase(const ContractionPlan& plan, int64_t from, const Run& run) {
  int64_t w = from;
  while (w < plan.window_count && plan.windows[w].base_dilation == 1) ++w;
  if (w == plan.window_count) return run(plan);
  const ContractionWindow window = plan.windows[w];
  const ContractionAxis place = plan.m[window.out_axis], tap = plan.sum[window.tap_axis];
  const int64_t base = window.base_dilation;
  const int64_t place_step = Period(window.stride, base), tap_step = Period(window.dilation, base);
  for (int64_t o = 0; o < std::min(place_step, place.size); ++o) {
    int64_t t = 0;
    auto misses = [&] {
      return (o * window.stride + t * window.dilation - window.low) % base != 0;
    };
    while (t < tap_step && misses()) ++t;
    ContractionPlan part = plan;
    ContractionAxis& places = part.m[window.out_axis];
    ContractionAxis& taps = part.sum[window.tap_axis];
    places.size = DivideUp(place.size - o, place_step);
    places.out = place.out * place_step;
    part.out_start += o * place.out;
    taps.size = t < tap.size && t < tap_step ? DivideUp(tap.size - t, tap_step) : 0;
    taps.rhs = tap.rhs * tap_step;
    part.rhs_start += t * tap.rhs;
    ContractionWindow& inner = part.windows[w];
    inner.base_dilation = 1;
    inner.stride = place_step * window.stride / base;
    inner.dilation = tap_step * window.dilation / base;
    inner.low = -((o * window.stride + t * window.dilation - window.low) / base);
    ForEachPhase(part, w + 1, run);
  }
}

// A window that never leaves the operand is two plain axes.
void DropInnerWindows(ContractionPlan& plan) {
  int64_t kept = 0;
  for (int64_t w = 0; w < plan.window_count; ++w) {
    const ContractionWindow window = plan.windows[w];
    ContractionAxis& place = plan.m[window.out_axis];
    ContractionAxis& tap = plan.sum[window.tap_axis];
    const int64_t highest =
        (place.size - 1) * window.stride + (tap.size - 1) * window.dilation - window.low;
    if (window.low > 0 || highest >= window.size || place.size == 0 || tap.size == 0) {
      plan.windows[kept++] = window;
      continue;
    }
    place.lhs = window.stride * window.step;
    tap.lhs = window.dilation * window.step;
    plan.lhs_start -= window.low * window.step;
  }
  plan.window_count = kept;
}

int WindowOf(const ContractionPlan& plan, int64_t axis, int64_t ContractionWindow::* which) {
  for (int64_t w = 0; w < plan.window_count; ++w) {
    if (plan.windows[w].*which == axis) return static_cast<int>(w);
  }
  return -1;
}

// Free axes of a side, those that step far in the result outermost; neighbours that run on into
// each other are one.
void AddAxes(Side& side, std::vector<Side::Axis> axes) {
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Side::Axis& a, const Side::Axis& b) { return a.out > b.out; });
  for (const Side::Axis& axis : axes) {
    side.count *= axis.size;
    if (axis.size == 1 && axis.window < 0) continue;
    if (!side.axes.empty() && axis.window < 0 && side.axes.back().window < 0 &&
        side.axes.back().step == axis.step * axis.size &&
        side.axes.back().out == axis.out * axis.size) {
      Side::Axis merged = axis;
      merged.size *= side.axes.back().size;
      side.axes.back() = merged;
      continue;
    }
    side.axes.push_back(axis);
  }
}

// Offsets of all combinations of indices, the last axis fastest.
std::vector<int64_t> Combine(const std::vector<std::pair<int64_t, int64_t>>& axes) {
  std::vector<int64_t> offsets = {0};
  for (const auto& [size, step] : axes) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(size));
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < size; ++i) next.push_back(offset + i * step);
    }
    offsets = std::move(next);
  }
  return offsets;
}

struct Sides {
  Side lhs, rhs;
  int64_t terms = 1;
};

Sides SidesOf(const ContractionPlan& plan) {
  Sides sides;
  std::vector<Side::Axis> m, n;
  for (int64_t a = 0; a < plan.m_count; ++a) {
    m.push_back({plan.m[a].size, plan.m[a].lhs, plan.m[a].out,
                 WindowOf(plan, a, &ContractionWindow::out_axis)});
  }
  for (int64_t a = 0; a < plan.n_count; ++a) {
    n.push_back({plan.n[a].size, plan.n[a].rhs, plan.n[a].out, -1});
  }
  AddAxes(sides.lhs, std::move(m));
  AddAxes(sides.rhs, std::move(n));
  // Taps outermost, in the order of the windows; the other contracted axes inside.
  std::vector<std::pair<int64_t, int64_t>> lhs_taps, rhs_taps, lhs_inner, rhs_inner;
  for (int64_t w = 0; w < plan.window_count; ++w) {
    const ContractionWindow& window = plan.windows[w];
    const ContractionAxis& tap = plan.sum[window.tap_axis];
    sides.lhs.windows.push_back(
        {window.stride, window.dilation, window.low, window.size, window.step, tap.size});
    lhs_taps.emplace_back(tap.size, 0);
    rhs_taps.emplace_back(tap.size, tap.rhs);
    sides.terms *= tap.size;
  }
  for (int64_t a = 0; a < plan.sum_count; ++a) {
    if (WindowOf(plan, a, &ContractionWindow::tap_axis) >= 0) continue;
    lhs_inner.emplace_back(plan.sum[a].size, plan.sum[a].lhs);
    rhs_inner.emplace_back(plan.sum[a].size, plan.sum[a].rhs);
    sides.terms *= plan.sum[a].size;
  }
  sides.lhs.tap_offsets = Combine(lhs_taps);
  sides.rhs.tap_offsets = Combine(rhs_taps);
  sides.lhs.taps = sides.rhs.taps = static_cast<int64_t>(sides.lhs.tap_offsets.size());
  sides.lhs.inner = Combine(lhs_inner);
  sides.rhs.inner = Combine(rhs_inner);
  return sides;
}

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

template <typename P, typename T, int kStep, TileType kTile>
void RunTyped(RunContext* context, const ContractionPlan& plan, Sides& sides, void* out) {
  const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
  const auto lhs = static_cast<ElementType>(plan.lhs_type);
  const auto rhs = static_cast<ElementType>(plan.rhs_type);
  // Lanes are padded to whole vectors: they run along the side that fills them, and along the one
  // that is contiguous in the result where both do.
  const int width = kernels.width[static_cast<int>(kTile)];
  auto is_contiguous = [&](const Side& side) {
    return !side.axes.empty() && side.axes.back().out == 1 && side.axes.back().size >= width;
  };
  auto waste = [&](const Side& side) {
    return static_cast<double>(DivideUp(side.count, width) * width) /
           static_cast<double>(side.count);
  };
  bool along_lhs = waste(sides.lhs) < waste(sides.rhs) / 1.2;
  if (is_contiguous(sides.lhs) && !is_contiguous(sides.rhs)) {
    along_lhs = waste(sides.lhs) < waste(sides.rhs) * 1.5;
  }
  if (along_lhs) {
    Blocked<P, T, kStep, kTile>(context, kernels, plan.out_type, rhs, lhs, sides.rhs, sides.lhs,
                                sides.terms, out)
        .Run();
  } else {
    Blocked<P, T, kStep, kTile>(context, kernels, plan.out_type, lhs, rhs, sides.lhs, sides.rhs,
                                sides.terms, out)
        .Run();
  }
}

// One plan without batch and dilated operand, at given places of the arrays.
void RunSides(RunContext* context, const ContractionPlan& plan, Sides& sides, const uint8_t* lhs,
              const uint8_t* rhs, uint8_t* out) {
  sides.lhs.data = lhs;
  sides.rhs.data = rhs;
  switch (TileTypeFor(plan)) {
    case TileType::kF32:
      return RunTyped<float, float, 1, TileType::kF32>(context, plan, sides, out);
    case TileType::kF64:
      return RunTyped<double, double, 1, TileType::kF64>(context, plan, sides, out);
    case TileType::kPairsS16:
      return RunTyped<int16_t, uint32_t, 2, TileType::kPairsS16>(context, plan, sides, out);
    case TileType::kS32:
      return RunTyped<uint32_t, uint32_t, 1, TileType::kS32>(context, plan, sides, out);
    case TileType::kS64:
      return RunTyped<uint64_t, uint64_t, 1, TileType::kS64>(context, plan, sides, out);
  }
}

// Many small contractions whose left operands lie side by side, as in depthwise convolutions: lanes
// run along the batch. T: of operands, sums and result.
template <typename T>
class SideBySide {
 public:
  // `axis` is the batch axis that the lanes run along, the only one.
  SideBySide(RunContext* context, const ContractionPlan& plan, int64_t axis, const void* lhs,
             const void* rhs, void* out)
      : context_(context),
        lane_(plan.batch[axis]),
        lhs_(static_cast<const T*>(lhs)),
        rhs_(static_cast<const T*>(rhs)),
        out_(static_cast<T*>(out)) {
    const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
    if constexpr (std::is_same_v<T, float>) {
      multiply_add_ = kernels.multiply_add_f32;
    } else {
      multiply_add_ = kernels.multiply_add_f64;
    }
    sides_ = SidesOf(plan);
  }

  void Run() {
    const int64_t row_blocks = DivideUp(sides_.lhs.count, kRows);
    const int64_t chunk = row_blocks < 8 ? 128 : 512;
    const int64_t chunks = DivideUp(lane_.size, chunk);
    const bool small = lane_.size * sides_.lhs.count * sides_.rhs.count * sides_.terms < kSmallWork;
    context_->Split(row_blocks * chunks, small ? row_blocks * chunks : 1,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t part = begin; part < end; ++part) {
                        const int64_t lane = part % chunks * chunk;
                        RunRows(part / chunks * kRows, lane, std::min(chunk, lane_.size - lane));
                      }
                    });
  }

 private:
  static constexpr int64_t kRows = 8;

  void RunRows(int64_t first, int64_t lane, int64_t lanes) {
    const auto rows = static_cast<int>(std::min(kRows, sides_.lhs.count - first));
    ScratchPool::Block block =
        context_->scratch->Take((kRows + 1) * lanes * static_cast<int64_t>(sizeof(T)));
    T* sums = block.as<T>();
    T* factors = sums + kRows * lanes;
    Places places, columns;
    Locate(sides_.lhs, first, rows, places);
    for (int64_t n = 0; n < sides_.rhs.count; ++n) {
      Locate(sides_.rhs, n, 1, columns);
      std::fill(sums, sums + rows * lanes, T(0));
      AddTerms(places, columns.base[0], lane, lanes, sums, factors);
      for (int i = 0; i < rows; ++i) {
        T* to = out_ + places.out[i] + columns.out[0] + lane * lane_.out;
        for (int64_t l = 0; l < lanes; ++l) to[l * lane_.out] = sums[i * lanes + l];
      }
    }
    *context_->work += rows * lanes * sides_.rhs.count * sides_.terms;
  }

  void AddTerms(const Places& places, int64_t column, int64_t lane, int64_t lanes, T* sums,
                T* factors) const {
    int64_t from[Places::kMax];
    int exists[Places::kMax];
    const auto inner = static_cast<int64_t>(sides_.lhs.inner.size());
    for (int64_t tap = 0; tap < sides_.lhs.taps; ++tap) {
      const int found = LocateTap(sides_.lhs, places, tap, from, exists);
      for (int64_t k = 0; found > 0 && k < inner; ++k) {
        const T* right =
            rhs_ + column + sides_.rhs.tap_offsets[tap] + sides_.rhs.inner[k] + lane * lane_.rhs;
        if (lane_.rhs != 1) {
          for (int64_t l = 0; l < lanes; ++l) factors[l] = right[l * lane_.rhs];
          right = factors;
        }
        for (int i = 0; i < found; ++i) {
          multiply_add_(lanes, lhs_ + from[i] + sides_.lhs.inner[k] + lane, right,
                        sums + exists[i] * lanes);
        }
      }
    }
  }

  RunContext* context_;
  ContractionAxis lane_;
  const T *lhs_, *rhs_;
  T* out_;
  Sides sides_;
  void (*multiply_add_)(int64_t, const T*, const T*, T*);
};

// The only batch axis, if contractions of it are too small for tiles and lie side by side; -1:
// none.
int64_t LaneAxis(const ContractionPlan& plan) {
  const bool one_type = plan.lhs_type == plan.rhs_type && plan.lhs_type == plan.sum_type &&
                        plan.lhs_type == plan.out_type;
  const auto type = static_cast<ElementType>(plan.lhs_type);
  if (!one_type || (type != ElementType::kF32 && type != ElementType::kF64)) return -1;
  if (plan.batch_count != 1 || plan.batch[0].lhs != 1 || plan.batch[0].size < 8) return -1;
  int64_t columns = 1, inner = 1;
  for (int64_t a = 0; a < plan.n_count; ++a) columns *= plan.n[a].size;
  for (int64_t a = 0; a < plan.sum_count; ++a) {
    if (WindowOf(plan, a, &ContractionWindow::tap_axis) < 0) inner *= plan.sum[a].size;
  }
  return columns <= 4 && (inner <= 4 || columns == 1) ? 0 : -1;
}

void RunPhase(RunContext* context, ContractionPlan plan, const uint8_t* lhs, const uint8_t* rhs,
              uint8_t* out) {
  if (const int64_t axis = LaneAxis(plan); axis >= 0) {
    auto run = [&](auto zero) {
      using T = decltype(zero);
      SideBySide<T>(context, plan, axis, reinterpret_cast<const T*>(lhs) + plan.lhs_start,
                    reinterpret_cast<const T*>(rhs) + plan.rhs_start,
                    reinterpret_cast<T*>(out) + plan.out_start)
          .Run();
    };
    return static_cast<ElementType>(plan.lhs_type) == ElementType::kF32 ? run(float())
                                                                        : run(double());
  }
  DropInnerWindows(plan);
  Sides sides = SidesOf(plan);
  if (sides.lhs.count == 0 || sides.rhs.count == 0) return;
  const int64_t lhs_bytes = BitWidth(static_cast<ElementType>(plan.lhs_type)) / 8;
  const int64_t rhs_bytes = BitWidth(static_cast<ElementType>(plan.rhs_type)) / 8;
  const int64_t out_bytes = BitWidth(static_cast<ElementType>(plan.out_type)) / 8;
  std::vector<std::pair<int64_t, int64_t>> lhs_axes, rhs_axes, out_axes;
  for (int64_t a = 0; a < plan.batch_count; ++a) {
    lhs_axes.emplace_back(plan.batch[a].size, plan.batch[a].lhs);
    rhs_axes.emplace_back(plan.batch[a].size, plan.batch[a].rhs);
    out_axes.emplace_back(plan.batch[a].size, plan.batch[a].out);
  }
  const std::vector<int64_t> lhs_at = Combine(lhs_axes), rhs_at = Combine(rhs_axes),
                             out_at = Combine(out_axes);
  const auto batch = static_cast<int64_t>(out_at.size());
  auto run = [&](RunContext* of, Sides& mine, int64_t b) {
    RunSides(of, plan, mine, lhs + (plan.lhs_start + lhs_at[b]) * lhs_bytes,
             rhs + (plan.rhs_start + rhs_at[b]) * rhs_bytes,
             out + (plan.out_start + out_at[b]) * out_bytes);
  };
  const int64_t work = sides.lhs.count * sides.rhs.count * std::max<int64_t>(1, sides.terms);
  const bool many = batch > 1 && batch >= 2 * context->threads() && work < (int64_t{1} << 24);
  if (!many || work * batch < kSmallWork) {
    RunContext alone = context->Alone();
    const bool small = work < kSmallWork;
    for (int64_t b = 0; b < batch; ++b) run(small ? &alone : context, sides, b);
    return;
  }
  // Many small ones: a thread takes whole ones.
  const int64_t grain =
      std::max<int64_t>(1, std::min(batch / (4 * context->threads()), DivideUp(kSmallWork, work)));
  context->Split(batch, grain, [&](int64_t begin, int64_t end) {
    RunContext alone = context->Alone();
    Sides mine = sides;
    for (int64_t b = begin; b < end; ++b) run(&alone, mine, b);
  });
}

}  // namespace

bool CanContract(int64_t lhs_type, int64_t rhs_type, int64_t sum_type, int64_t out_type) {
  ContractionPlan plan;
  plan.lhs_type = lhs_type;
  plan.rhs_type = rhs_type;
  plan.sum_type = sum_type;
  const auto lhs = static_cast<ElementType>(lhs_type), rhs = static_cast<ElementType>(rhs_type);
  const auto out = static_cast<ElementType>(out_type);
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

void Contract(RunContext* context, const ContractionPlan* plan, const void* lhs, const void* rhs,
              void* out) {
  ForEachPhase(*plan, 0, [&](const ContractionPlan& part) {
    RunPhase(context, part, static_cast<const uint8_t*>(lhs), static_cast<const uint8_t*>(rhs),
             static_cast<uint8_t*>(out));
  });
}

}  // namespace assay
