// A loop over the groups. What lies outside a group is masked, so that infinities of one group do
// not reach another.
#include "optimized/passes/expanders/ragged_dot_expander.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "optimized/passes/util/counted_loop.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

Instruction* Zeros(Computation* into, const Shape& shape) {
  return AddSplat(into, shape, into->AddConstant(Literal(Shape::Scalar(shape.element_type()))));
}

class Expansion {
 public:
  explicit Expansion(Instruction* op)
      : op_(*op),
        into_(op->parent()),
        lhs_batch_(Copy(Attr::kLhsBatchDims)),
        lhs_sum_(Copy(Attr::kLhsContractingDims)),
        rhs_batch_(Copy(Attr::kRhsBatchDims)),
        rhs_sum_(Copy(Attr::kRhsContractingDims)),
        ragged_(op->attributes().Integers(Attr::kLhsRaggedDims)[0]) {}

  Instruction* Expand() {
    Instruction *lhs = op_.operand(0), *rhs = op_.operand(1), *sizes = op_.operand(2);
    // Groups of batches change nothing.
    if (absl::c_linear_search(lhs_batch_, ragged_)) return Dot(into_, lhs, rhs, op_.shape(), -1);
    if (sizes->shape().dimensions().back() == 0) return Zeros(into_, op_.shape());
    is_summed_ = absl::c_linear_search(lhs_sum_, ragged_);
    limit_ = lhs->shape().dimension(ragged_);
    Instruction* bounded = Bounded(sizes);
    DimVector list(sizes->shape().dimensions().begin(), sizes->shape().dimensions().end());
    const int64_t groups = list.back();
    list.pop_back();
    list_ = Shape::Array(ElementType::kS64, list);
    Instruction* const values[] = {lhs, rhs, bounded, Zeros(into_, list_),
                                   Zeros(into_, op_.shape())};
    return AddCountedLoop(
               into_, groups, values, std::size(values) - 1,
               [this](Computation* body, Instruction* group, absl::Span<Instruction* const> now) {
                 return Trip(body, group, now);
               })
        .front();
  }

 private:
  // Indices along the ragged dimension that belong to the group at hand, for each list of sizes.
  struct Range {
    Instruction *start, *end;
  };

  DimVector Copy(Attr attr) const {
    const absl::Span<const int64_t> dims = op_.attributes().Integers(attr);
    return DimVector(dims.begin(), dims.end());
  }

  // Sizes in s64, of which none is negative or larger than what there is.
  Instruction* Bounded(Instruction* sizes) {
    const ElementType type = sizes->shape().element_type();
    const int64_t most = std::min(limit_, MaxInteger(type));
    Instruction* bounded =
        into_->Add(Opcode::kClamp, sizes->shape(),
                   {AddScalarInteger(into_, type, 0), sizes, AddScalarInteger(into_, type, most)});
    return into_->Add(Opcode::kConvert,
                      Shape::Array(ElementType::kS64, sizes->shape().dimensions()), {bounded});
  }

  // `group_dim`: a dimension of the op's rhs that this one lacks; -1: none.
  Instruction* Dot(Computation* into, Instruction* lhs, Instruction* rhs, const Shape& shape,
                   int64_t group_dim) {
    const auto without = [&](DimVector dims) {
      for (int64_t& d : dims) d -= group_dim >= 0 && d > group_dim ? 1 : 0;
      return dims;
    };
    Attributes attributes;
    attributes.Set(Attr::kLhsBatchDims, lhs_batch_)
        .Set(Attr::kLhsContractingDims, lhs_sum_)
        .Set(Attr::kRhsBatchDims, without(rhs_batch_))
        .Set(Attr::kRhsContractingDims, without(rhs_sum_));
    const AttrValue* precision = op_.attributes().Find(Attr::kOperandPrecision);
    if (precision != nullptr) attributes.Set(Attr::kOperandPrecision, *precision);
    return into->Add(Opcode::kDot, Shape::Array(shape.element_type(), shape.dimensions()),
                     {lhs, rhs}, std::move(attributes));
  }

  // `inside` where the index along `along` is in the range of its list, `outside` elsewhere. The
  // lists' dimensions are `list_dims` of the arrays.
  static Instruction* Masked(Instruction* inside, Instruction* outside, int64_t along,
                             absl::Span<const int64_t> list_dims, Range range) {
    Computation* into = inside->parent();
    const absl::Span<const int64_t> dims = inside->shape().dimensions();
    const Shape places = Shape::Array(ElementType::kS64, dims);
    const Shape mask = Shape::Array(ElementType::kPred, dims);
    Instruction* at =
        into->Add(Opcode::kIota, places, {}, Attributes().Set(Attr::kIotaDimension, along));
    const auto compare = [&](Instruction* bound, Direction direction) {
      Instruction* spread =
          into->Add(Opcode::kBroadcast, places, {bound}, DimensionsAttr(list_dims));
      return into->Add(Opcode::kCompare, mask, {at, spread},
                       Attributes().Set(Attr::kDirection, direction));
    };
    Instruction* belongs =
        into->Add(Opcode::kAnd, mask,
                  {compare(range.start, Direction::kGe), compare(range.end, Direction::kLt)});
    return into->Add(Opcode::kSelect, inside->shape(), {belongs, inside, outside});
  }

  std::vector<Instruction*> Trip(Computation* body, Instruction* group,
                                 absl::Span<Instruction* const> now) {
    Instruction *lhs = now[0], *rhs = now[1], *sizes = now[2], *start = now[3], *sums = now[4];
    Instruction* size = AddSliceAt(body, sizes, sizes->shape().rank() - 1, group);
    Instruction* end = body->Add(Opcode::kAdd, list_, {start, size});
    end = body->Add(Opcode::kMinimum, list_, {end, AddSplatInteger(body, list_, limit_)});
    Instruction* next = is_summed_ ? SumOfGroup(group, lhs, rhs, sums, {start, end})
                                   : RowsOfGroup(group, lhs, rhs, sums, {start, end});
    return {lhs, rhs, sizes, end, next};
  }

  // Rows of the group meet its matrix.
  Instruction* RowsOfGroup(Instruction* group, Instruction* lhs, Instruction* rhs,
                           Instruction* sums, Range range) {
    Computation* body = group->parent();
    const int64_t group_dim = op_.attributes().Integers(Attr::kRhsGroupDims)[0];
    Instruction* products =
        Dot(body, lhs, AddSliceAt(body, rhs, group_dim, group), op_.shape(), group_dim);
    // The result begins with the batch dimensions and the free ones of lhs.
    auto along = static_cast<int64_t>(lhs_batch_.size());
    for (int64_t d = 0; d < ragged_; ++d) {
      along += absl::c_linear_search(lhs_batch_, d) || absl::c_linear_search(lhs_sum_, d) ? 0 : 1;
    }
    DimVector list_dims;
    for (int64_t d = 0; d < list_.rank(); ++d) list_dims.push_back(d);
    return Masked(products, sums, along, list_dims, range);
  }

  // The group's part of the contracted dimension gives one of the results.
  Instruction* SumOfGroup(Instruction* group, Instruction* lhs, Instruction* rhs, Instruction* sums,
                          Range range) {
    Computation* body = group->parent();
    const int64_t place = absl::c_find(lhs_sum_, ragged_) - lhs_sum_.begin();
    const auto part = [&](Instruction* side, const DimVector& batch, const DimVector& sum) {
      DimVector list_dims;
      if (list_.rank() > 0) {
        list_dims = batch;
        list_dims.insert(list_dims.end(), sum.begin(), sum.begin() + place);
      }
      return Masked(side, Zeros(body, side->shape()), sum[place], list_dims, range);
    };
    DimVector one(op_.shape().dimensions().begin() + 1, op_.shape().dimensions().end());
    Instruction* dot = Dot(body, part(lhs, lhs_batch_, lhs_sum_), part(rhs, rhs_batch_, rhs_sum_),
                           Shape::Array(op_.shape().element_type(), one), -1);
    return AddUpdateAt(body, sums, 0, group, dot);
  }

  const Instruction& op_;
  Computation* into_;
  DimVector lhs_batch_, lhs_sum_, rhs_batch_, rhs_sum_;
  int64_t ragged_;
  bool is_summed_ = false;
  int64_t limit_ = 0;
  Shape list_;  // of one list of starts per list of sizes
};

// Elements are left out by zeros, which f8e8m0fnu does not have: what is of that type is computed
// as f64, in which all of its products are exact. Returns the ragged dot to expand; `result` is
// what stands for `op`.
Instruction* WithZeros(Instruction* op, Instruction** result) {
  constexpr ElementType kNoZero = ElementType::kF8E8M0FNU;
  Computation* into = op->parent();
  const auto wide = [&](Instruction* x) {
    const Shape& shape = x->shape();
    if (shape.element_type() != kNoZero) return x;
    return into->Add(Opcode::kConvert, Shape::Array(ElementType::kF64, shape.dimensions()), {x});
  };
  Instruction *lhs = wide(op->operand(0)), *rhs = wide(op->operand(1));
  *result = op;
  const bool gives_such = op->shape().element_type() == kNoZero;
  if (lhs == op->operand(0) && rhs == op->operand(1) && !gives_such) return op;
  const ElementType type = gives_such ? ElementType::kF64 : op->shape().element_type();
  Instruction* dot = into->Add(Opcode::kRaggedDot, Shape::Array(type, op->shape().dimensions()),
                               {lhs, rhs, op->operand(2)}, op->attributes());
  *result = gives_such ? into->Add(Opcode::kConvert, op->shape(), {dot}) : dot;
  return dot;
}

}  // namespace

absl::StatusOr<bool> RaggedDotExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kRaggedDot})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kRaggedDot) continue;
      Rewrite rewrite(context.gates, "expand-ragged-dot", inst, /*required=*/true);
      Instruction* result = nullptr;
      Instruction* dot = WithZeros(inst, &result);
      Instruction* expanded = Expansion(dot).Expand();
      if (result != dot) result->ReplaceOperand(0, expanded);
      changed |= rewrite.Replace(result != dot ? result : expanded);
      if (dot != inst) computation->Remove(dot);
    }
  }
  return changed;
}

}  // namespace assay
