// Joins a defect, its operators and its bends behind the interface that gates know.
#include "optimized/defects/plant.h"

#include <utility>

#include "optimized/defects/bends.h"
#include "optimized/defects/folded.h"
#include "optimized/defects/operators.h"
#include "optimized/gates/claim_names.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

class Planted : public GateDefect {
 public:
  explicit Planted(Defect defect) : defect_(std::move(defect)), bends_(BendsOf(defect_)) {}

  bool Bites(DecisionKind kind, std::string_view rule, const Instruction* at) const override {
    if (defect_.kind != kind) return false;
    if (defect_.gate == rule) return defect_.GuardHolds(at);
    // The claims of a kernel are asked for the instructions in it, and so are their guards.
    return kind == DecisionKind::kKernel && RuleOf(defect_.gate) == rule;
  }
  int64_t BendInteger(int64_t known) const override { return BendKnown(defect_, known); }
  bool Forgets(std::string_view claim, const Instruction* at) const override {
    return ForgetsClaim(defect_, claim, at);
  }
  int64_t BendNumber(std::string_view claim, const Instruction* at, int64_t known) const override {
    return assay::BendNumber(defect_, claim, at, known);
  }
  void BendFolded(const Instruction& at, absl::Span<const Literal* const> operands,
                  Literal& value) const override {
    assay::BendFolded(defect_, at, operands, value);
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
