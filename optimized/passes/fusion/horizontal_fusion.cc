// Collects small kernels with one consumer and joins them by concatenation.
#include "optimized/passes/fusion/horizontal_fusion.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/reduction_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 18;  // of a kernel that is small
constexpr size_t kMaxKernels = 32;                  // in one fusion
constexpr int64_t kMaxInstructions = 512;           // in one fusion

bool IsRowMajor(const Shape& shape) {
  return shape.layout().IsRowMajor() && shape.layout().extras() == nullptr;
}

bool IsElementwise(const Instruction& inst) {
  return Info(inst.opcode()).Is(kElementwise) && inst.operand_count() > 0 && inst.callees().empty();
}

bool IsSmallKernel(const Instruction& inst, const Purity& purity) {
  if (!IsPlain(inst) || !purity.IsPure(inst) || !IsRowMajor(inst.shape())) return false;
  const int64_t elements = inst.shape().ElementCount();
  if (elements == 0 || elements > kMaxElements) return false;
  if (inst.opcode() == Opcode::kFusion) return inst.callee()->root()->shape().IsArray();
  return IsElementwise(inst) && inst.opcode() != Opcode::kCopy;
}

int64_t SizeOf(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kFusion ? kernel.callee()->instruction_count() : 1;
}

// Kernels that `consumer` alone reads, by element type, in the order of its operands.
std::vector<std::vector<Instruction*>> GroupsOf(const Instruction& consumer, const Purity& purity) {
  std::map<ElementType, std::vector<Instruction*>> by_type;
  absl::flat_hash_set<const Instruction*> seen;
  for (Instruction* operand : consumer.operands()) {
    const auto users = operand->users();
    const bool only_here = std::all_of(users.begin(), users.end(),
                                       [&](const Instruction* user) { return user == &consumer; });
    if (only_here && seen.insert(operand).second && operand != operand->parent()->root() &&
        IsSmallKernel(*operand, purity)) {
      by_type[operand->shape().element_type()].push_back(operand);
    }
  }
  std::vector<std::vector<Instruction*>> groups;
  for (const auto& [type, kernels] : by_type) {
    std::vector<Instruction*> group;
    int64_t size = 0;
    for (Instruction* kernel : kernels) {
      if (group.size() == kMaxKernels ||
          (!group.empty() && size + SizeOf(*kernel) > kMaxInstructions)) {
        groups.push_back(std::move(group));
        group.clear();
        size = 0;
      }
      group.push_back(kernel);
      size += SizeOf(*kernel);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// The kernels inside one computation, their results one behind the other and cut apart again.
Computation* FusedComputation(Module& module, absl::Span<Instruction* const> kernels,
                              std::vector<Instruction*>& operands) {
  Computation* fused = module.AddComputation("horizontally_fused");
  absl::flat_hash_map<const Instruction*, Instruction*> parameters;
  const ElementType type = kernels[0]->shape().element_type();
  std::vector<Instruction*> flat;
  int64_t total = 0;
  for (Instruction* kernel : kernels) {
    std::vector<Instruction*> arguments;
    for (Instruction* operand : kernel->operands()) {
      Instruction*& parameter = parameters[operand];
      if (parameter == nullptr) {
        parameter = fused->AddParameter(static_cast<int64_t>(operands.size()), operand->shape());
        operands.push_back(operand);
      }
      arguments.push_back(parameter);
    }
    Instruction* result = kernel->opcode() == Opcode::kFusion
                              ? fused->CopyFrom(*kernel->callee(), arguments)
                              : fused->Add(kernel->opcode(), kernel->shape(), arguments,
                                           kernel->attributes(), {}, kernel->name());
    const int64_t elements = kernel->shape().ElementCount();
    flat.push_back(fused->Add(Opcode::kReshape, Shape::Array(type, {elements}), {result}));
    total += elements;
  }
  Instruction* all = fused->Add(Opcode::kConcatenate, Shape::Array(type, {total}), flat,
                                Attributes().Set(Attr::kDimension, {0}));
  std::vector<Instruction*> parts;
  std::vector<Shape> shapes;
  int64_t start = 0;
  for (const Instruction* piece : flat) {
    const int64_t limit = start + piece->shape().dimension(0);
    parts.push_back(
        fused->Add(Opcode::kSlice, piece->shape(), {all}, SliceAttr({{start, limit, 1}})));
    shapes.push_back(piece->shape());
    start = limit;
  }
  fused->set_root(fused->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts));
  return fused;
}

bool Fuse(absl::Span<Instruction* const> kernels, Gates& gates) {
  if (kernels.size() < 2) return false;
  if (!gates.Allow(DecisionKind::kKernel, "fuse-horizontally", kernels[0])) return false;
  Computation* computation = kernels[0]->parent();
  std::vector<Instruction*> operands;
  Computation* fused = FusedComputation(*computation->parent(), kernels, operands);
  Instruction* fusion =
      computation->Add(Opcode::kFusion, fused->root()->shape(), operands,
                       Attributes().Set(Attr::kFusionKind, FusionKind::kInput), {&fused, 1});
  for (size_t i = 0; i < kernels.size(); ++i) {
    Instruction* part = AddElement(computation, fusion, static_cast<int64_t>(i));
    // Row-major on both sides: the same bytes.
    kernels[i]->ReplaceAllUsesWith(AddBitcast(part, kernels[i]->shape()));
    computation->RemoveWithDeadOperands(kernels[i]);
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> HorizontalFusion::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (const Instruction* consumer : computation->PostOrder()) {
      for (const std::vector<Instruction*>& group : GroupsOf(*consumer, purity)) {
        changed |= Fuse(group, context.gates);
      }
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
