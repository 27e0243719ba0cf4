// Joins a defect, its operators and its bends behind the interface that gates know.
#include "optimized/defects/plant.h"

#include <limits>
#include <utility>

#include "optimized/defects/bends.h"
#include "optimized/defects/operators.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

class Planted : public GateDefect {
 public:
  explicit Planted(Defect defect) : defect_(std::move(defect)), bends_(BendsOf(defect_)) {}

  bool Bites(DecisionKind kind, std::string_view rule, const Instruction* at) const override {
    return defect_.kind == kind && defect_.gate == rule && defect_.GuardHolds(at);
  }
  int64_t BendInteger(int64_t known) const override {
    int64_t bent = 0;
    if (defect_.op != "integer-offset" ||
        __builtin_add_overflow(known, defect_.Integer("by", 1), &bent)) {
      return known;
    }
    return bent < defect_.Integer("least", std::numeric_limits<int64_t>::min()) ? known : bent;
  }
  bool ClaimsTrue() const override { return defect_.op == "claim-true"; }
  Instruction* BendRewrite(int64_t first_new_id, Instruction* with) const override {
    return assay::BendRewrite(defect_, first_new_id, with);
  }
  const KernelBends& kernel_bends() const override { return bends_; }

 private:
  Defect defect_;
  KernelBends bends_;
};

}  // namespace

std::shared_ptr<const GateDefect> Plant(Defect defect) {
  return std::make_shared<Planted>(std::move(defect));
}

absl::StatusOr<std::shared_ptr<const GateDefect>> PlantFromText(const std::string& json) {
  if (json.empty()) return std::shared_ptr<const GateDefect>();
  ASSAY_ASSIGN_OR_RETURN(Defect defect, ParseDefect(json));
  return Plant(std::move(defect));
}

}  // namespace assay
