// Reads the operators of the kernel kind into fields.
#include "optimized/defects/bends.h"

#include "optimized/defects/defect.h"
#include "optimized/gates/claim_names.h"

namespace assay {

KernelBends BendsOf(const Defect& defect) {
  KernelBends bends;
  if (defect.op == "address-offset") bends.load_offset = defect.Integer("by", 1);
  if (defect.op == "compare-predicate") {
    const std::optional<int64_t> from = WordIndex(Attr::kDirection, defect.Text("from"));
    const std::optional<int64_t> to = WordIndex(Attr::kDirection, defect.Text("to"));
    if (from && to) bends.compare = {static_cast<Direction>(*from), static_cast<Direction>(*to)};
  }
  if (defect.op == "loop-bound-offset") {
    bends.loop_bound_offset = defect.Integer("by", -1);
    bends.only_vector_loop = defect.Text("loop") == "vector";
  }
  if (defect.op == "lane-mask") bends.stale_lane = defect.Integer("lane", KernelBends::kLastLane);
  if (!ClaimOf(defect.gate).empty()) bends.planted = &defect;
  return bends;
}

bool KernelBends::Forgets(std::string_view claim, const Instruction* at) const {
  return ForgetsClaim(*planted, claim, at);
}

int64_t KernelBends::BentNumber(std::string_view claim, const Instruction* at,
                                int64_t known) const {
  return BendNumber(*planted, claim, at, known);
}

}  // namespace assay
