// Reduce. Document: operation semantics chapter 10.
#include <algorithm>
#include <cstring>

#include "reference/bounds/elements.h"
#include "reference/ops/reduction/fold.h"

namespace assay::reference {
namespace {

// Input element k of result element o is bases[o] + offsets[k]; k counts in row-major order.
class ReduceTerms : public FoldTerms {
 public:
  ReduceTerms(const Shape& operand, absl::Span<const int64_t> reduced) {
    const DimVector strides = RowMajorStrides(operand.dimensions());
    DimVector kept_sizes, kept_strides, reduced_sizes, reduced_strides;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
      (is_reduced ? reduced_sizes : kept_sizes).push_back(operand.dimension(d));
      (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
    }
    bases_ = Places(kept_sizes, kept_strides);
    offsets_ = Places(reduced_sizes, reduced_strides);
  }
  int64_t results() const override { return static_cast<int64_t>(bases_.size()); }
  void List(int64_t o, IndexMap& terms) const override {
    terms.resize(offsets_.size());
    for (size_t k = 0; k < offsets_.size(); ++k) terms[k] = bases_[o] + offsets_[k];
  }

 private:
  static IndexMap Places(absl::Span<const int64_t> sizes, absl::Span<const int64_t> steps) {
    IndexMap places;
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return places;
    DimVector index(sizes.size(), 0);
    do {
      places.push_back(LinearIndex(steps, index));
    } while (NextIndex(sizes, absl::MakeSpan(index)));
    return places;
  }
  IndexMap bases_, offsets_;
};

absl::StatusOr<Value> ApplyReduce(Interpreter& interpreter, const OpContext& op) {
  if (absl::Status status = interpreter.budget().Take(op.literal(0).element_count() + 1);
      !status.ok())
    return status;
  if (absl::Status status = interpreter.memory().Check(op.shape.ByteSize()); !status.ok())
    return status;
  const ReduceTerms terms(op.literal(0).shape(),
                          op.instruction.attributes().Integers(Attr::kDimensions));
  const auto arity = static_cast<int64_t>(op.operands.size() / 2);
  std::vector<const Array*> inputs, inits;
  for (int64_t n = 0; n < arity; ++n) {
    inputs.push_back(&op.array(n));
    inits.push_back(&op.array(arity + n));
  }
  const Shape& leaf = op.shape.IsTuple() ? op.shape.elements()[0] : op.shape;
  absl::StatusOr<std::vector<Array>> results =
      Fold(interpreter, op, *op.instruction.callee(), inputs, inits, terms, leaf.dimensions(), {});
  if (!results.ok()) return results.status();
  return Collate(*std::move(results), op.shape.IsTuple(), interpreter.memory());
}

// Element o of every member but the first, which is the initial value.
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
  if (absl::Status status = interpreter.budget().Take(count * others + 1); !status.ok())
    return status;
  // The others' operands below each other.
  const Shape stacked_shape = Shape::Array(shape.element_type(), {others, count});
  if (absl::Status status = interpreter.memory().Check(stacked_shape.ByteSize()); !status.ok())
    return status;
  Array stacked{Literal(stacked_shape)};
  for (int64_t k = 0; k < others; ++k) {
    const Array& other = *members[k + 1]->array;
    absl::Span<const uint8_t> bytes = other.literal.bytes();
    if (!bytes.empty())
      std::memcpy(stacked.literal.bytes().data() + k * bytes.size(), bytes.data(), bytes.size());
    for (int64_t i = 0; i < count && !(other.Certain() && stacked.Certain()); ++i)
      MoveBound(other, i, stacked, k * count + i);
  }
  const Value rest = MakeValue(std::move(stacked), interpreter.memory());
  const Value* operands[] = {&rest, members[0]};
  const OpContext combined{op.instruction, shape, operands, op.clauses, op.analysis};
  const Array* inputs[] = {&*rest.array};
  const Array* inits[] = {&*members[0]->array};
  absl::StatusOr<std::vector<Array>> results =
      Fold(interpreter, combined, *op.instruction.callee(), inputs, inits,
           MemberTerms(others + 1, count), shape.dimensions(), {});
  if (!results.ok()) return results.status();
  return Collate(*std::move(results), false, interpreter.memory());
}

absl::Span<const OpEvaluation> ReduceEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kReduce, nullptr, nullptr, ApplyReduce},
  };
  return kRows;
}

}  // namespace assay::reference
