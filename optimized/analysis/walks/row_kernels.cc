// Checks each instruction against the two shapes that there may be: rows, and one value per row.
#include "optimized/analysis/walks/row_kernels.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/analysis/walks/reductions.h"

namespace assay {
namespace {

bool FoldsInnermost(const Instruction& inst) {
  if (inst.opcode() != Opcode::kReduce || inst.operand_count() != 2) return false;
  const absl::Span<const int64_t> dims = inst.attributes().Integers(Attr::kDimensions);
  return dims.size() == 1 && dims[0] == inst.operand(0)->shape().rank() - 1;
}

bool IsSplat(const Instruction& broadcast) {
  return broadcast.opcode() == Opcode::kBroadcast && broadcast.operand(0)->shape().rank() == 0;
}

class RowChecker {
 public:
  explicit RowChecker(const Computation& fused) : RowChecker(fused, RowsOf(fused)) {}
  RowChecker(const Computation& fused, const Shape& rows) : fused_(fused), rows_(rows) {}

  std::vector<const Instruction*> Folds() {
    if (!rows_.IsArray() || rows_.rank() == 0 || rows_.ElementCount() == 0) return {};
    for (const Instruction* inst : fused_.PostOrder()) {
      if (!Fits(*inst)) return {};
    }
    return folds_;
  }

  bool Fits(const Instruction& inst) {
    if (&inst == fused_.root() && inst.opcode() == Opcode::kTuple) {
      return absl::c_all_of(inst.operands(), [&](const Instruction* result) {
        return IsRows(result->shape()) || IsPerRow(result->shape());
      });
    }
    if (!IsPlain(inst.shape())) return false;
    switch (inst.opcode()) {
      case Opcode::kParameter:
        return true;
      case Opcode::kConstant:
        return inst.shape().rank() == 0;
      case Opcode::kIota:
        return true;
      case Opcode::kBroadcast:
        return IsSplat(inst) || FitsBroadcast(inst);
      case Opcode::kReduce:
        return FitsReduce(inst);
      default:
        if (!IsElementwise(inst.opcode()) || !inst.callees().empty()) return false;
        for (const Instruction* operand : inst.operands()) {
          if (!SameDimensions(operand->shape(), inst.shape())) return false;
        }
        return inst.shape().rank() == 0 || IsRows(inst.shape()) || IsPerRow(inst.shape());
    }
  }

 private:
  bool IsRows(const Shape& shape) const { return SameDimensions(shape, rows_); }
  bool IsPerRow(const Shape& shape) const {
    if (!shape.IsArray() || shape.rank() != rows_.rank() - 1) return false;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.dimension(d) != rows_.dimension(d)) return false;
    }
    return true;
  }
  bool IsPlain(const Shape& shape) const {
    return shape.IsArray() && !IsComplex(shape.element_type());
  }

  // One value per row over its row; other arrays only as they lie in memory.
  bool FitsBroadcast(const Instruction& inst) const {
    const Instruction& operand = *inst.operand(0);
    if (operand.opcode() == Opcode::kParameter) return true;
    if (!IsRows(inst.shape()) || !IsPerRow(operand.shape())) return false;
    const absl::Span<const int64_t> dims = inst.attributes().Integers(Attr::kDimensions);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] != static_cast<int64_t>(d)) return false;
    }
    return true;
  }

  bool FitsReduce(const Instruction& inst) {
    if (inst.operand_count() != 2 || !IsRows(inst.operand(0)->shape())) return false;
    const absl::Span<const int64_t> dims = inst.attributes().Integers(Attr::kDimensions);
    if (dims.size() != 1 || dims[0] != rows_.rank() - 1 || !CombinerOf(inst).has_value()) {
      return false;
    }
    folds_.push_back(&inst);
    return true;
  }

  const Computation& fused_;
  const Shape& rows_;
  std::vector<const Instruction*> folds_;
};

}  // namespace

const Shape& RowsOf(const Computation& fused) {
  for (const Instruction* inst : fused) {
    if (FoldsInnermost(*inst)) return inst->operand(0)->shape();
  }
  return fused.root()->shape();
}

const Shape& RowsOf(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kFusion) return RowsOf(*instruction.callee());
  return FoldsInnermost(instruction) ? instruction.operand(0)->shape() : instruction.shape();
}

std::vector<std::vector<const Instruction*>> FoldsByTurn(const Computation& fused) {
  std::vector<std::vector<const Instruction*>> turns;
  absl::flat_hash_map<const Instruction*, size_t> turn;  // from which on a value is there
  for (const Instruction* inst : fused.PostOrder()) {
    size_t first = 0;
    for (const Instruction* operand : inst->operands()) first = std::max(first, turn.at(operand));
    turn[inst] = first;
    if (inst->opcode() != Opcode::kReduce) continue;
    if (turns.size() == first) turns.emplace_back();
    turns[first].push_back(inst);
    turn[inst] = first + 1;
  }
  return turns;
}

std::vector<const Instruction*> FoldsOfRows(const Computation& fused) {
  return RowChecker(fused).Folds();
}

namespace {

// The weights and all that they are made of, up to the scores; empty: there is more than one dot.
absl::flat_hash_set<const Instruction*> RowsUpTo(const Instruction* weights,
                                                 const Instruction*& scores) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> left = {weights};
  while (!left.empty()) {
    const Instruction* at = left.back();
    left.pop_back();
    if (at->opcode() == Opcode::kDot) {
      if (scores != nullptr && scores != at) return {};
      scores = at;
      continue;
    }
    if (!seen.insert(at).second) continue;
    left.insert(left.end(), at->operands().begin(), at->operands().end());
  }
  return seen;
}

// True if the dot sums along the innermost dimension of the operand and keeps its others.
bool SumsRows(const Instruction& dot, int64_t operand) {
  const DotDims dims = DotDims::Of(dot);
  const std::vector<int64_t>& of = operand == 0 ? dims.lhs : dims.rhs;
  if (of.empty() || of.back() >= 0) return false;
  return std::count_if(of.begin(), of.end(), [](int64_t d) { return d < 0; }) == 1;
}

std::optional<RowAttention> AttentionBy(const Computation& fused, const Instruction* sums,
                                        int64_t operand) {
  RowAttention found{nullptr, sums->operand(operand), sums, operand};
  const absl::flat_hash_set<const Instruction*> rows = RowsUpTo(found.weights, found.scores);
  if (rows.empty() || found.scores == nullptr || !SumsRows(*sums, operand) ||
      found.weights->opcode() == Opcode::kParameter ||
      !SameDimensions(found.weights->shape(), found.scores->shape())) {
    return std::nullopt;
  }
  RowChecker checker(fused, found.scores->shape());
  bool has_reduce = false;
  // A row of the scores, and of all that is made of them up to the weights, is at hand at a time.
  absl::flat_hash_set<const Instruction*> of_row, of_sums;
  const auto reads = [](const Instruction& inst,
                        const absl::flat_hash_set<const Instruction*>& of) {
    return absl::c_any_of(inst.operands(),
                          [&](const Instruction* each) { return of.contains(each); });
  };
  for (const Instruction* inst : fused.PostOrder()) {
    if (!inst->shape().IsArray() || IsComplex(inst->shape().element_type())) return std::nullopt;
    const bool is_map = IsElementwise(inst->opcode()) && inst->callees().empty();
    if (inst == found.scores) {
      of_row.insert(inst);
    } else if (inst == sums) {
      if (of_row.contains(sums->operand(1 - operand))) return std::nullopt;
      of_sums.insert(inst);
    } else if (rows.contains(inst)) {
      if (!checker.Fits(*inst)) return std::nullopt;
      has_reduce = has_reduce || inst->opcode() == Opcode::kReduce;
      if (reads(*inst, of_row)) of_row.insert(inst);
    } else if (reads(*inst, of_row)) {
      return std::nullopt;
    } else if (reads(*inst, of_sums)) {
      if (!is_map || !SameDimensions(inst->shape(), sums->shape())) return std::nullopt;
      of_sums.insert(inst);
    } else if (!is_map && inst->opcode() != Opcode::kParameter &&
               inst->opcode() != Opcode::kConstant && inst->opcode() != Opcode::kBroadcast) {
      return std::nullopt;
    }
  }
  if (!of_sums.contains(fused.root())) return std::nullopt;
  return has_reduce ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<RowAttention> AttentionOf(const Computation& fused) {
  for (const Instruction* inst : fused) {
    if (inst->opcode() != Opcode::kDot || inst->shape().ElementCount() == 0) continue;
    for (int64_t operand : {0, 1}) {
      if (auto found = AttentionBy(fused, inst, operand)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace assay
