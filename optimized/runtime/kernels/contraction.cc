// Divides a contraction into plans without dilated operands and into its batch, and chooses how
// each part runs.
#include "optimized/runtime/kernels/contraction.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "optimized/runtime/kernels/contraction_lanes.h"
#include "optimized/runtime/kernels/contraction_sides.h"
#include "optimized/runtime/kernels/contraction_tiles.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

// The greatest e with the same result for indices that differ by it: a dilated place repeats.
int64_t Period(int64_t step, int64_t base) { return base / std::gcd(step, base); }

// A plan whose operand is dilated falls apart into plans whose operand is not: places of the result
// that hit the same remainder, with the taps that hit it. Calls run(plan) for each; one that no tap
// hits has no terms, so that its sums are zero.
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

// Returns true if `finish` got all sums.
bool RunPhase(RunContext* context, ContractionPlan plan, const uint8_t* lhs, const uint8_t* rhs,
              uint8_t* out, const ContractionFinish* finish) {
  if (RunsAlongBatch(plan)) {
    RunAlongBatch(context, plan, lhs, rhs, out);
    return false;
  }
  DropInnerWindows(plan);
  ContractionSides sides = SidesOf(plan);
  if (sides.lhs.count == 0 || sides.rhs.count == 0) return false;
  if (finish != nullptr && !CompletesLines(plan, sides)) finish = nullptr;
  const int64_t lhs_bytes = BitWidth(static_cast<ElementType>(plan.lhs_type)) / 8;
  const int64_t rhs_bytes = BitWidth(static_cast<ElementType>(plan.rhs_type)) / 8;
  const int64_t out_bytes = BitWidth(static_cast<ElementType>(plan.out_type)) / 8;
  std::vector<std::pair<int64_t, int64_t>> lhs_axes, rhs_axes, out_axes;
  for (int64_t a = 0; a < plan.batch_count; ++a) {
    lhs_axes.emplace_back(plan.batch[a].size, plan.batch[a].lhs);
    rhs_axes.emplace_back(plan.batch[a].size, plan.batch[a].rhs);
    out_axes.emplace_back(plan.batch[a].size, plan.batch[a].out);
  }
  const std::vector<int64_t> lhs_at = CombineOffsets(lhs_axes), rhs_at = CombineOffsets(rhs_axes),
                             out_at = CombineOffsets(out_axes);
  const auto batch = static_cast<int64_t>(out_at.size());
  auto run = [&](RunContext* of, ContractionSides& mine, int64_t b) {
    RunTiles(of, plan, mine, lhs + (plan.lhs_start + lhs_at[b]) * lhs_bytes,
             rhs + (plan.rhs_start + rhs_at[b]) * rhs_bytes,
             out + (plan.out_start + out_at[b]) * out_bytes, finish);
  };
  const int64_t work = sides.lhs.count * sides.rhs.count * std::max<int64_t>(1, sides.terms);
  const bool many = batch > 1 && batch >= 2 * context->threads() && work < (int64_t{1} << 24);
  if (!many || work * batch < kSmallContraction) {
    RunContext alone = context->Alone();
    const bool small = work < kSmallContraction;
    for (int64_t b = 0; b < batch; ++b) run(small ? &alone : context, sides, b);
    return finish != nullptr;
  }
  // Many small ones: a thread takes whole ones.
  const int64_t grain = std::max<int64_t>(
      1, std::min(batch / (4 * context->threads()), DivideUp(kSmallContraction, work)));
  context->Split(batch, grain, [&](int64_t begin, int64_t end) {
    RunContext alone = context->Alone();
    ContractionSides mine = sides;
    for (int64_t b = begin; b < end; ++b) run(&alone, mine, b);
  });
  return finish != nullptr;
}

// Returns true if `finish` got all sums.
bool ContractReal(RunContext* context, const ContractionPlan& plan, const void* lhs,
                  const void* rhs, void* out, const ContractionFinish* finish = nullptr) {
  // Phases write to elements that are apart.
  const bool is_dilated =
      std::any_of(plan.windows, plan.windows + plan.window_count,
                  [](const ContractionWindow& window) { return window.base_dilation > 1; });
  if (is_dilated) finish = nullptr;
  bool is_finished = true;
  ForEachPhase(plan, 0, [&](const ContractionPlan& part) {
    is_finished &= RunPhase(context, part, static_cast<const uint8_t*>(lhs),
                            static_cast<const uint8_t*>(rhs), static_cast<uint8_t*>(out), finish);
  });
  return is_finished;
}

int64_t ResultsOf(const ContractionPlan& plan) {
  int64_t results = 1;
  for (int64_t a = 0; a < plan.batch_count; ++a) results *= plan.batch[a].size;
  for (int64_t a = 0; a < plan.m_count; ++a) results *= plan.m[a].size;
  for (int64_t a = 0; a < plan.n_count; ++a) results *= plan.n[a].size;
  return results;
}

// The plan with steps in parts instead of elements.
ContractionPlan OfParts(ContractionPlan plan) {
  plan.is_complex = 0;
  for (ContractionAxis* axes : {plan.batch, plan.m, plan.n, plan.sum}) {
    for (int64_t a = 0; a < ContractionPlan::kMaxAxes; ++a) {
      axes[a].lhs *= 2;
      axes[a].rhs *= 2;
      axes[a].out *= 2;
    }
  }
  for (ContractionWindow& window : plan.windows) window.step *= 2;
  plan.lhs_start *= 2;
  plan.rhs_start *= 2;
  plan.out_start *= 2;
  return plan;
}

// One more axis of sums goes over the parts of the left operand. Imaginary parts of sums meet the
// parts of the right one in the other order; real parts meet those of its conjugate, of which a
// copy is made.
template <typename T>
void ContractComplex(RunContext* context, const ContractionPlan& plan, const void* lhs,
                     const T* rhs, T* out) {
  ContractionPlan parts = OfParts(plan);
  int64_t first = parts.rhs_start, last = parts.rhs_start;  // parts of rhs that are read
  const auto reach = [&](const ContractionAxis* axes, int64_t count) {
    for (int64_t a = 0; a < count; ++a) {
      const int64_t step = std::max<int64_t>(axes[a].size - 1, 0) * axes[a].rhs;
      (step < 0 ? first : last) += step;
    }
  };
  reach(parts.batch, parts.batch_count);
  reach(parts.n, parts.n_count);
  reach(parts.sum, parts.sum_count);
  const int64_t count = last - first + 2;
  const ScratchPool::Block block = context->scratch->Take(count * static_cast<int64_t>(sizeof(T)));
  T* conjugate = block.as<T>();
  for (int64_t i = 0; i < count; i += 2) {
    conjugate[i] = rhs[first + i];
    conjugate[i + 1] = -rhs[first + i + 1];
  }
  ContractionAxis& part = parts.sum[parts.sum_count++];
  part = {2, 1, 1, 0};
  const int64_t rhs_start = parts.rhs_start;
  parts.rhs_start -= first;
  ContractReal(context, parts, lhs, conjugate, out);
  part.rhs = -1;
  parts.rhs_start = rhs_start + 1;
  parts.out_start += 1;
  ContractReal(context, parts, lhs, rhs, out);
}

}  // namespace

bool CanContract(int64_t lhs_type, int64_t rhs_type, int64_t sum_type, int64_t out_type) {
  ContractionPlan plan;
  plan.lhs_type = lhs_type;
  plan.rhs_type = rhs_type;
  plan.sum_type = sum_type;
  plan.out_type = out_type;
  return HasTiles(plan);
}

void Contract(RunContext* context, const ContractionPlan* plan, const void* lhs, const void* rhs,
              void* out) {
  if (plan->is_complex == 0) {
    ContractReal(context, *plan, lhs, rhs, out);
  } else if (static_cast<ElementType>(plan->sum_type) == ElementType::kF32) {
    ContractComplex(context, *plan, lhs, static_cast<const float*>(rhs), static_cast<float*>(out));
  } else {
    ContractComplex(context, *plan, lhs, static_cast<const double*>(rhs),
                    static_cast<double*>(out));
  }
}

void ContractThen(RunContext* context, const ContractionPlan* plan, const void* lhs,
                  const void* rhs, void* out, EpilogueFn epilogue, void** table) {
  constexpr int64_t kGrain = 4096;
  const int64_t bytes = BitWidth(static_cast<ElementType>(plan->out_type)) / 8;
  const int64_t results = ResultsOf(*plan);
  const ScratchPool::Block apart =
      context->scratch->Take(plan->sums_apart != 0 ? results * bytes : 64);
  if (plan->sums_apart != 0) out = apart.as<uint8_t>();
  const ContractionFinish finish{epilogue, table, static_cast<const uint8_t*>(out), bytes,
                                 plan->epilogue_unit};
  if (ContractReal(context, *plan, lhs, rhs, out, &finish)) return;
  context->Split(results, kGrain,
                 [&](int64_t begin, int64_t end) { finish.Run(begin, end - begin); });
}

}  // namespace assay
