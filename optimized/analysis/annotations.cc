// The targets of annotations.
#include "optimized/analysis/annotations.h"

#include <string_view>

#include "absl/algorithm/container.h"

namespace assay {
namespace {

constexpr std::string_view kAnnotations[] = {
    "Sharding",   "SPMDFullToShardShape", "SPMDShardToFullShape",      "LayoutConstraint",
    "MoveToHost", "MoveToDevice",         "annotate_device_placement", "xla.sdy.FuncResultSharding",
};

}  // namespace

bool IsAnnotation(const Instruction& custom_call) {
  return absl::c_linear_search(kAnnotations,
                               custom_call.attributes().String(Attr::kCustomCallTarget)) &&
         custom_call.operand_count() == 1 &&
         Compatible(custom_call.operand(0)->shape(), custom_call.shape());
}

}  // namespace assay
