// Collects ops by what they do and which arrays they read, then counts their elements.
#include "optimized/passes/forms/slice_sinker.h"

#include <algorithm>
#include <vector>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

bool IsRowMajor(const Shape& shape) {
  return shape.layout().IsRowMajor() && shape.layout().extras() == nullptr;
}

bool IsSlice(const Instruction& inst) { return inst.opcode() == Opcode::kSlice && IsPlain(inst); }

// True if all operands are slices, with the same ranges, of arrays of the same dimensions.
bool ReadsLikeSlices(const Instruction& inst, const Gates& gates) {
  if (!IsElementwise(inst.opcode()) || inst.operand_count() == 0 || !inst.callees().empty() ||
      !IsPlain(inst) || !IsRowMajor(inst.shape()))
    return false;
  const Instruction& first = *inst.operand(0);
  return std::all_of(inst.operands().begin(), inst.operands().end(), [&](const Instruction* slice) {
    return IsSlice(*slice) && IsRowMajor(slice->shape()) &&
           IsRowMajor(slice->operand(0)->shape()) &&
           slice->operand(0)->shape().dimensions() == first.operand(0)->shape().dimensions() &&
           slice->shape().dimensions() == first.shape().dimensions() &&
           gates.Holds("sink-slice/same-ranges", &inst,
                       slice->attributes().SliceRanges(Attr::kSlice) ==
                           first.attributes().SliceRanges(Attr::kSlice));
  });
}

// Both do the same to the same arrays, whatever the ranges.
bool IsSibling(const Instruction& a, const Instruction& b, const Gates& gates) {
  if (a.opcode() != b.opcode() || a.operand_count() != b.operand_count() ||
      a.shape().element_type() != b.shape().element_type() || !(a.attributes() == b.attributes()))
    return false;
  for (int64_t i = 0; i < a.operand_count(); ++i) {
    const Instruction *x = a.operand(i)->operand(0), *y = b.operand(i)->operand(0);
    if (!(x->shape() == y->shape()) || !gates.Holds("sink-slice/same-arrays", &b, x == y))
      return false;
  }
  return true;
}

// The op on the whole arrays.
Instruction* OnWhole(const Instruction& inst) {
  std::vector<Instruction*> sources;
  for (const Instruction* slice : inst.operands()) sources.push_back(slice->operand(0));
  return inst.parent()->Add(
      inst.opcode(), Shape::Array(inst.shape().element_type(), sources[0]->shape().dimensions()),
      sources, inst.attributes());
}

bool Sink(const std::vector<Instruction*>& group, Gates& gates) {
  int64_t elements = 0;
  for (const Instruction* inst : group) elements += inst->shape().ElementCount();
  if (group.size() < 2 || elements < group[0]->operand(0)->operand(0)->shape().ElementCount())
    return false;
  bool changed = false;
  Instruction* whole = nullptr;
  for (Instruction* inst : group) {
    Rewrite rewrite(gates, "sink-slice", inst);
    if (!rewrite) continue;
    if (whole == nullptr) whole = OnWhole(*inst);
    changed |= rewrite.Replace(inst->parent()->Add(Opcode::kSlice, inst->shape(), {whole},
                                                   inst->operand(0)->attributes()));
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> SliceSinker::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kSlice})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    std::vector<std::vector<Instruction*>> groups;
    for (Instruction* inst : computation->InPostOrder()) {
      if (!ReadsLikeSlices(*inst, context.gates)) continue;
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) {
        return IsSibling(*each[0], *inst, context.gates);
      });
      if (group == groups.end()) {
        groups.push_back({inst});
      } else {
        group->push_back(inst);
      }
    }
    for (const std::vector<Instruction*>& group : groups) changed |= Sink(group, context.gates);
  }
  return changed;
}

}  // namespace assay
