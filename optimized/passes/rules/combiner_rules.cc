// Combiners in more words than one op: calls, branches, loops of a few trips, reductions of one
// value. In one op, the rules of reductions and the kernels know them.
#include <optional>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/base/strings.h"
#include "spec/ir/reading/combiner.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Two scalars of the type of the result, so that one op can take their place.
bool IsOfOneType(const Computation& combiner) {
  if (combiner.parameter_count() != 2 || !combiner.root()->shape().IsArray()) return false;
  return SameShape(combiner.parameter(0), combiner.root()) &&
         SameShape(combiner.parameter(1), combiner.root());
}

std::optional<Opcode> AssociativeRoot(const Computation& combiner) {
  const Opcode root = combiner.root()->opcode();
  return Info(root).Is(kAssociative) ? std::optional(root) : std::nullopt;
}

bool CombineByOneOp(Instruction* fold, RuleContext& context, std::string_view rule) {
  if (fold->operand_count() != 2) return false;
  const Computation& combiner = *fold->callee();
  if (!IsOfOneType(combiner) || RecognisedCombiner(&combiner).has_value()) return false;
  std::optional<Opcode> op = ReadCombiner(combiner);
  const bool means_one_op =
      context.gates.Holds(StrCat(rule, "/means-one-op"), fold, op.has_value());
  if (!op.has_value()) op = AssociativeRoot(combiner);
  if (!means_one_op || !op.has_value()) return false;
  Rewrite rewrite(context.gates, rule, fold);
  if (!rewrite) return false;
  const Shape& scalar = combiner.root()->shape();
  Computation* plain = context.module.AddComputation(combiner.name());
  Instruction* first = plain->AddParameter(0, scalar);
  plain->set_root(plain->Add(*op, scalar, {first, plain->AddParameter(1, scalar)}));
  return rewrite.Replace(fold->parent()->Add(fold->opcode(), fold->shape(),
                                             {fold->operand(0), fold->operand(1)},
                                             fold->attributes(), {&plain, 1}));
}

constexpr Rule kRules[] = {
    {"reduce-by-one-op", Opcode::kReduce, CombineByOneOp,
     "reduce by a combiner in more words -> reduce by the op that it means"},
    {"reduce-window-by-one-op", Opcode::kReduceWindow, CombineByOneOp,
     "reduce-window by a combiner in more words -> reduce-window by the op that it means"},
};

}  // namespace

absl::Span<const Rule> CombinerRules() { return kRules; }

}  // namespace assay
