// Rebuilds a reduce on other operands and dimensions.
#include "optimized/passes/util/reduction_util.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool IsOrderedArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && shape.layout().extras() == nullptr;
}

// The value that changes nothing; nothing if none is known. -0 for sums of floats, which keeps the
// sign of a sum of nothing but -0.
struct Identity {
  double real = 0;
  int64_t integer = 0;
};
std::optional<Identity> IdentityOf(Opcode combiner, ElementType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!IsFloat(type) && !IsInteger(type)) return std::nullopt;
  const bool is_extremum = combiner == Opcode::kMinimum || combiner == Opcode::kMaximum;
  if (is_extremum && IsFloat(type) && !Format(type).HasInfinity()) return std::nullopt;
  switch (combiner) {
    case Opcode::kAdd:
      return Identity{-0.0, 0};
    case Opcode::kMultiply:
      return Identity{1, 1};
    case Opcode::kMinimum:
      if (type == ElementType::kU64) return std::nullopt;  // its largest does not fit
      return Identity{kInfinity, MaxInteger(type)};
    case Opcode::kMaximum:
      return Identity{-kInfinity, MinInteger(type)};
    default:
      return std::nullopt;
  }
}

bool GrantsRegrouping(ElementType type, const Profile& profile) {
  if (!IsFloat(type)) return true;
  return profile.Grants(ClauseId::kReassociation) &&
         (BitWidth(type) >= 32 || profile.Grants(ClauseId::kLiteralReducer));
}

std::optional<Identity> IdentityOf(const Computation* function, ElementType type) {
  const std::optional<Opcode> combiner = RecognisedCombiner(function);
  return combiner ? IdentityOf(*combiner, type) : std::nullopt;
}

}  // namespace

bool MayRegroup(const Computation* function, ElementType type, const Profile& profile) {
  return IdentityOf(function, type).has_value() && GrantsRegrouping(type, profile);
}

Instruction* AddNeutral(Computation* computation, const Computation* function, ElementType type) {
  const Identity identity = IdentityOf(function, type).value_or(Identity());
  return IsFloat(type) ? AddScalarFloat(computation, type, identity.real)
                       : AddScalarInteger(computation, type, identity.integer);
}

bool IsPlainReduce(const Instruction& inst) {
  if (inst.opcode() != Opcode::kReduce || !inst.control_predecessors().empty() ||
      !inst.control_successors().empty()) {
    return false;
  }
  const absl::Span<const Shape> results = ReduceResults(inst);
  return std::all_of(results.begin(), results.end(), IsOrderedArray) &&
         std::all_of(inst.operands().begin(), inst.operands().end(),
                     [](const Instruction* operand) { return IsOrderedArray(operand->shape()); });
}

absl::Span<Instruction* const> ReducedOperands(const Instruction& reduce) {
  return reduce.operands().subspan(0, reduce.operands().size() / 2);
}

bool IsReduced(const Instruction& reduce, int64_t dimension) {
  const absl::Span<const int64_t> dimensions = reduce.attributes().Integers(Attr::kDimensions);
  return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
}

Instruction* AddBitcast(Instruction* inst, const Shape& shape) {
  if (inst->shape() == shape) return inst;
  return inst->parent()->Add(Opcode::kBitcast, shape, {inst});
}

absl::Span<const Shape> ReduceResults(const Instruction& reduce) {
  if (reduce.shape().IsTuple()) return reduce.shape().elements();
  return {&reduce.shape(), 1};
}

bool ReplaceReduce(Rewrite& rewrite, Instruction* reduce, absl::Span<Instruction* const> data,
                   absl::Span<const int64_t> dimensions, absl::Span<const Shape> results) {
  Computation* computation = reduce->parent();
  std::vector<Instruction*> operands(data.begin(), data.end());
  const auto initial = reduce->operands().subspan(data.size());
  operands.insert(operands.end(), initial.begin(), initial.end());
  const bool is_tuple = reduce->shape().IsTuple();
  const Shape shape =
      is_tuple ? Shape::Tuple(std::vector<Shape>(results.begin(), results.end())) : results[0];
  Attributes attributes = reduce->attributes();
  attributes.Set(Attr::kDimensions, dimensions);
  Instruction* with =
      computation->Add(Opcode::kReduce, shape, operands, attributes, reduce->callees());
  if (!is_tuple) return rewrite.Replace(AddBitcast(with, reduce->shape()));
  if (with->shape() == reduce->shape()) return rewrite.Replace(with);
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < results.size(); ++i) {
    elements.push_back(AddBitcast(AddElement(computation, with, static_cast<int64_t>(i)),
                                  reduce->shape().elements()[i]));
  }
  return rewrite.Replace(computation->Add(Opcode::kTuple, reduce->shape(), elements));
}

}  // namespace assay
