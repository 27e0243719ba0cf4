// Adds products of single terms to rows of sums that stay in the first cache.
#include "optimized/runtime/kernels/contraction_rows.h"

#include <algorithm>

#include "optimized/runtime/kernels/contraction_packing.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

constexpr int64_t kMinLanes = 32;     // fewer are not worth a walk along them
constexpr int64_t kLaneBytes = 2048;  // of the sums of a row that are added up together

// The side whose lanes lie in order while the other has few rows; nullptr: neither.
const ContractionSide* LanesOf(const ContractionSides& sides) {
  const auto fits = [](const ContractionSide& rows, const ContractionSide& lanes) {
    return rows.count <= ThinProduct::kMaxRows && lanes.count >= kMinLanes &&
           lanes.axes.size() == 1 && lanes.axes[0].out == 1 && LieInOrder(lanes);
  };
  if (fits(sides.lhs, sides.rhs)) return &sides.rhs;
  return fits(sides.rhs, sides.lhs) ? &sides.lhs : nullptr;
}

// T: of the lanes, the sums and the result.
template <typename T>
void RunTyped(RunContext* context, const ContractionPlan& plan, const ContractionSides& sides,
              T* out, const ContractionFinish* finish) {
  const ContractionSide& lanes = *LanesOf(sides);
  const ContractionSide& rows = &lanes == &sides.rhs ? sides.lhs : sides.rhs;
  const int64_t row_type = &lanes == &sides.rhs ? plan.lhs_type : plan.rhs_type;
  SidePlaces places;
  Locate(rows, 0, static_cast<int>(rows.count), places);
  const ScratchPool::Block packed =
      context->scratch->Take(rows.count * sides.terms * static_cast<int64_t>(sizeof(T)));
  PackFor<T, 1>(static_cast<ElementType>(row_type))(rows, places, places.count, 0, sides.terms,
                                                    packed.as<T>());
  const MicroKernels& kernels = KernelsFor(static_cast<KernelIsa>(plan.isa));
  constexpr int64_t kLanes = kLaneBytes / static_cast<int64_t>(sizeof(T));
  const bool small = rows.count * lanes.count * sides.terms < kSmallContraction;
  context->Split(
      DivideUp(lanes.count, kLanes), small ? lanes.count : 1, [&](int64_t begin, int64_t end) {
        alignas(64) T sums[ThinProduct::kMaxRows * kLanes];
        for (int64_t part = begin; part < end; ++part) {
          const int64_t first = part * kLanes, count = std::min(kLanes, lanes.count - first);
          std::fill_n(sums, rows.count * kLanes, T(0));
          ThinProduct product;
          product.rows = rows.count;
          product.terms = sides.terms;
          product.lanes = count;
          product.row_terms = packed.as<T>();
          product.lane_terms =
              static_cast<const T*>(lanes.data) + lanes.tap_moves[0] + lanes.inner[0] + first;
          product.lane_stride = lanes.inner.size() > 1 ? lanes.inner[1] - lanes.inner[0] : 0;
          product.sums = sums;
          product.sums_stride = kLanes;
          (sizeof(T) == sizeof(float) ? kernels.thin_f32 : kernels.thin_f64)(product);
          for (int64_t r = 0; r < rows.count; ++r) {
            T* to = out + places.out[r] + first;
            std::copy_n(sums + r * kLanes, count, to);
            if (finish != nullptr) finish->Run(finish->NumberOf(to), count);
          }
          *context->work += rows.count * count * sides.terms;
        }
      });
}

}  // namespace

bool RunsByRows(const ContractionPlan& plan, const ContractionSides& sides) {
  const auto type = static_cast<ElementType>(plan.sum_type);
  if ((type != ElementType::kF32 && type != ElementType::kF64) || plan.out_type != plan.sum_type) {
    return false;
  }
  const ContractionSide* lanes = sides.terms == 0 ? nullptr : LanesOf(sides);
  if (lanes == nullptr) return false;
  return (lanes == &sides.rhs ? plan.rhs_type : plan.lhs_type) == plan.sum_type;
}

void RunByRows(RunContext* context, const ContractionPlan& plan, const ContractionSides& sides,
               void* out, const ContractionFinish* finish) {
  if (static_cast<ElementType>(plan.sum_type) == ElementType::kF32) {
    RunTyped(context, plan, sides, static_cast<float*>(out), finish);
  } else {
    RunTyped(context, plan, sides, static_cast<double*>(out), finish);
  }
}

}  // namespace assay
