// Folds the operands of the members of a process group.
#include "reference/ops/reduction/combine_members.h"

#include "reference/bounds/copy_elements.h"
#include "reference/ops/reduction/fold.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Element o of every member but the first, whose elements are the initial values. The inputs are
// the arrays of the other members, one behind the other.
class MemberTerms : public FoldTerms {
 public:
  MemberTerms(int64_t members, int64_t count) : members_(members), count_(count) {}
  int64_t results() const override { return count_; }
  int64_t InitOf(int64_t o) const override { return o; }
  void List(int64_t o, IndexMap& terms) const override {
    terms.clear();
    for (int64_t k = 0; k + 1 < members_; ++k) terms.push_back(k * count_ + o);
  }

 private:
  int64_t members_, count_;
};

}  // namespace

absl::StatusOr<Value> CombineMembers(Interpreter& interpreter, const OpContext& op,
                                     const Shape& shape, absl::Span<const Value* const> members) {
  if (members.size() == 1) return *members[0];
  const auto others = static_cast<int64_t>(members.size()) - 1;
  const int64_t count = shape.ElementCount();
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(count * others + 1));
  const Shape stacked_shape = Shape::Array(shape.element_type(), {others, count});
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(stacked_shape.ByteSize()));
  Array stacked{Literal(stacked_shape)};
  for (int64_t k = 0; k < others; ++k)
    CopyElements(*members[k + 1]->array, 0, stacked, k * count, count);
  const Value rest = MakeValue(std::move(stacked), interpreter.memory());
  const Value* operands[] = {&rest, members[0]};
  const OpContext combined = op.On(shape, operands);
  const Array* inputs[] = {&*rest.array};
  const Array* inits[] = {&*members[0]->array};
  ASSAY_ASSIGN_OR_RETURN(std::vector<Array> results,
                         Fold(interpreter, {.op = combined,
                                            .combiner = *op.instruction.callee(),
                                            .inputs = inputs,
                                            .inits = inits,
                                            .terms = MemberTerms(others + 1, count),
                                            .dimensions = shape.dimensions()}));
  return MakeValue(std::move(results[0]), interpreter.memory());
}

}  // namespace assay::reference
