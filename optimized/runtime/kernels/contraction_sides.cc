// Merges the axes of an operand and finds the elements of a run of indices.
#include "optimized/runtime/kernels/contraction_sides.h"

#include <algorithm>

namespace assay {

void Locate(const ContractionSide& side, int64_t first, int count, SidePlaces& places) {
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
      const ContractionSide::Axis& axis = side.axes[a];
      base += axis.step;
      out += axis.out;
      if (++index[a] < axis.size) break;
      base -= axis.size * axis.step;
      out -= axis.size * axis.out;
      index[a] = 0;
    }
  }
  for (size_t w = 0; w < side.windows.size(); ++w) {
    const ContractionSide::Tap& window = side.windows[w];
    places.lowest[w] = places.highest[w] = count > 0 ? places.at[w][0] * window.stride : 0;
    for (int i = 0; i < count; ++i) {
      const int64_t at = places.at[w][i] *= window.stride;
      places.base[i] += at * window.step;
      places.lowest[w] = std::min(places.lowest[w], at);
      places.highest[w] = std::max(places.highest[w], at);
    }
  }
  places.are_neighbours = count > 0;
  for (int i = 1; i < count; ++i) {
    places.are_neighbours = places.are_neighbours && places.base[i] == places.base[0] + i;
  }
}

bool IsInside(const ContractionSide& side, const SidePlaces& places, int64_t tap) {
  const int64_t* shifts = side.tap_shifts.data() + tap * static_cast<int64_t>(side.windows.size());
  bool inside = true;
  for (size_t w = 0; w < side.windows.size(); ++w) {
    inside = inside && places.lowest[w] + shifts[w] >= 0 &&
             places.highest[w] + shifts[w] < side.windows[w].size;
  }
  return inside;
}

int LocateTap(const ContractionSide& side, const SidePlaces& places, int64_t tap, int64_t* from,
              int* exists) {
  const int64_t move = side.tap_moves[tap];
  if (IsInside(side, places, tap)) {
    for (int i = 0; i < places.count; ++i) from[i] = places.base[i] + move;
    for (int i = 0; i < places.count; ++i) exists[i] = i;
    return places.count;
  }
  const int64_t* shifts = side.tap_shifts.data() + tap * static_cast<int64_t>(side.windows.size());
  int found = 0;
  for (int i = 0; i < places.count; ++i) {
    bool inside = true;
    for (size_t w = 0; w < side.windows.size(); ++w) {
      const int64_t place = places.at[w][i] + shifts[w];
      inside = inside && place >= 0 && place < side.windows[w].size;
    }
    if (!inside) continue;
    from[found] = places.base[i] + move;
    exists[found++] = i;
  }
  return found;
}

bool LieInOrder(const ContractionSide& side) {
  if (!side.windows.empty() || side.taps != 1) return false;
  if (side.axes.size() != 1 || side.axes[0].step != 1) return false;
  for (size_t k = 2; k < side.inner.size(); ++k) {
    if (side.inner[k] - side.inner[k - 1] != side.inner[1] - side.inner[0]) return false;
  }
  return true;
}

int WindowOf(const ContractionPlan& plan, int64_t axis, int64_t ContractionWindow::* which) {
  for (int64_t w = 0; w < plan.window_count; ++w) {
    if (plan.windows[w].*which == axis) return static_cast<int>(w);
  }
  return -1;
}

namespace {

// Free axes of a side, those that step far in the result outermost; neighbours that run on into
// each other are one.
void AddAxes(ContractionSide& side, std::vector<ContractionSide::Axis> axes) {
  std::stable_sort(
      axes.begin(), axes.end(),
      [](const ContractionSide::Axis& a, const ContractionSide::Axis& b) { return a.out > b.out; });
  for (const ContractionSide::Axis& axis : axes) {
    side.count *= axis.size;
    if (axis.size == 1 && axis.window < 0) continue;
    if (!side.axes.empty() && axis.window < 0 && side.axes.back().window < 0 &&
        side.axes.back().step == axis.step * axis.size &&
        side.axes.back().out == axis.out * axis.size) {
      ContractionSide::Axis merged = axis;
      merged.size *= side.axes.back().size;
      side.axes.back() = merged;
      continue;
    }
    side.axes.push_back(axis);
  }
}

}  // namespace

std::vector<int64_t> CombineOffsets(const std::vector<std::pair<int64_t, int64_t>>& axes) {
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

namespace {

// Prepares what each tap adds, with the windows and beside them.
void PrepareTaps(ContractionSide& side) {
  side.taps = static_cast<int64_t>(side.tap_offsets.size());
  side.tap_moves = side.tap_offsets;
  side.tap_shifts.resize(side.tap_moves.size() * side.windows.size());
  for (int64_t tap = 0; tap < side.taps; ++tap) {
    int64_t rest = tap;
    for (size_t w = side.windows.size(); w-- > 0;) {
      const ContractionSide::Tap& window = side.windows[w];
      const int64_t shift = rest % window.taps * window.dilation - window.low;
      rest /= window.taps;
      side.tap_shifts[static_cast<size_t>(tap) * side.windows.size() + w] = shift;
      side.tap_moves[tap] += shift * window.step;
    }
  }
  side.inner_is_run = true;
  for (size_t k = 1; k < side.inner.size(); ++k) {
    side.inner_is_run = side.inner_is_run && side.inner[k] == side.inner[k - 1] + 1;
  }
}

}  // namespace

ContractionSides SidesOf(const ContractionPlan& plan) {
  ContractionSides sides;
  std::vector<ContractionSide::Axis> m, n;
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
  sides.lhs.tap_offsets = CombineOffsets(lhs_taps);
  sides.rhs.tap_offsets = CombineOffsets(rhs_taps);
  sides.lhs.inner = CombineOffsets(lhs_inner);
  sides.rhs.inner = CombineOffsets(rhs_inner);
  PrepareTaps(sides.lhs);
  PrepareTaps(sides.rhs);
  return sides;
}

}  // namespace assay
