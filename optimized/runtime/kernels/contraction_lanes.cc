// Adds products of whole vectors of the batch, term by term.
#include "optimized/runtime/kernels/contraction_lanes.h"

#include <algorithm>
#include <type_traits>

#include "optimized/runtime/kernels/contraction_sides.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

// Many small contractions whose left operands lie side by side, as in depthwise convolutions: lanes
// run along the batch. T: of operands, sums and result.
template <typename T>
class SideBySide {
 public:
  SideBySide(RunContext* context, const ContractionPlan& plan, const void* lhs, const void* rhs,
             void* out)
      : context_(context),
        lane_(plan.batch[0]),
        lhs_(static_cast<const T*>(lhs) + plan.lhs_start),
        rhs_(static_cast<const T*>(rhs) + plan.rhs_start),
        out_(static_cast<T*>(out) + plan.out_start) {
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
    const bool small =
        lane_.size * sides_.lhs.count * sides_.rhs.count * sides_.terms < kSmallContraction;
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
    SidePlaces places, columns;
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

  void AddTerms(const SidePlaces& places, int64_t column, int64_t lane, int64_t lanes, T* sums,
                T* factors) const {
    int64_t from[SidePlaces::kMax];
    int exists[SidePlaces::kMax];
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
  ContractionAxis lane_;  // the batch
  const T *lhs_, *rhs_;
  T* out_;
  ContractionSides sides_;
  void (*multiply_add_)(int64_t, const T*, const T*, T*);
};

}  // namespace

bool RunsAlongBatch(const ContractionPlan& plan) {
  const bool one_type = plan.lhs_type == plan.rhs_type && plan.lhs_type == plan.sum_type &&
                        plan.lhs_type == plan.out_type;
  const auto type = static_cast<ElementType>(plan.lhs_type);
  if (!one_type || (type != ElementType::kF32 && type != ElementType::kF64)) return false;
  if (plan.batch_count != 1 || plan.batch[0].lhs != 1 || plan.batch[0].size < 8) return false;
  int64_t columns = 1, inner = 1;
  for (int64_t a = 0; a < plan.n_count; ++a) columns *= plan.n[a].size;
  for (int64_t a = 0; a < plan.sum_count; ++a) {
    if (WindowOf(plan, a, &ContractionWindow::tap_axis) < 0) inner *= plan.sum[a].size;
  }
  return columns <= 4 && (inner <= 4 || columns == 1);
}

void RunAlongBatch(RunContext* context, const ContractionPlan& plan, const void* lhs,
                   const void* rhs, void* out) {
  if (static_cast<ElementType>(plan.lhs_type) == ElementType::kF32) {
    SideBySide<float>(context, plan, lhs, rhs, out).Run();
  } else {
    SideBySide<double>(context, plan, lhs, rhs, out).Run();
  }
}

}  // namespace assay
