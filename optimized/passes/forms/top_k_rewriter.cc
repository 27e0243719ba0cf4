// Matches sorts of values, alone or with their places, by one comparison of the values.
#include "optimized/passes/forms/top_k_rewriter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

// A sort whose head costs about as much as the whole gains nothing.
constexpr int64_t kLeastRatio = 2;

// True: the comparator puts larger values first, false: smaller ones; nothing: it is no comparison
// of values, or no total order.
std::optional<bool> PutsLargerFirst(const Instruction& sort, const Gates& gates) {
  const Instruction& compare = *sort.callee()->root();
  if (compare.opcode() != Opcode::kCompare) return std::nullopt;
  const Instruction *a = compare.operand(0), *b = compare.operand(1);
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter) return std::nullopt;
  const bool straight = a->parameter_number() == 0 && b->parameter_number() == 1;
  const bool crossed = a->parameter_number() == 1 && b->parameter_number() == 0;
  if (!straight && !crossed) return std::nullopt;
  const bool is_total =
      !IsFloat(a->shape().element_type()) || compare.attributes().Integer(Attr::kCompareType, 0) ==
                                                 static_cast<int64_t>(CompareType::kTotalOrder);
  if (!gates.Holds("sort-to-top-k/total-order", &sort, is_total)) return std::nullopt;
  const auto direction = static_cast<Direction>(compare.attributes().Integer(Attr::kDirection));
  if (direction == Direction::kGt) return straight;
  if (direction == Direction::kLt) return crossed;
  return std::nullopt;
}

// Values, and perhaps their places along the last dimension.
bool SortsLines(const Instruction& sort, const Gates& gates) {
  const Shape& values = sort.operand(0)->shape();
  if (values.rank() == 0 || sort.attributes().Integers(Attr::kDimension)[0] != values.rank() - 1)
    return false;
  if (IsComplex(values.element_type())) return false;
  if (sort.operand_count() == 1) return true;
  const Instruction& places = *sort.operand(1);
  return sort.operand_count() == 2 && places.opcode() == Opcode::kIota &&
         places.shape().element_type() == ElementType::kS32 &&
         gates.Holds("sort-to-top-k/places", &sort,
                     places.attributes().Integer(Attr::kIotaDimension) == values.rank() - 1);
}

// The number of elements that the slice takes from the head of each line.
std::optional<int64_t> HeadOf(const Instruction& slice, const Gates& gates) {
  if (slice.opcode() != Opcode::kSlice || !IsPlain(slice)) return std::nullopt;
  const absl::Span<const SliceRange> ranges = slice.attributes().SliceRanges(Attr::kSlice);
  const Shape& whole = slice.operand(0)->shape();
  const auto last = static_cast<size_t>(whole.rank() - 1);
  for (size_t d = 0; d < ranges.size(); ++d) {
    const int64_t size = whole.dimension(static_cast<int64_t>(d));
    if (d < last && (ranges[d].start != 0 || ranges[d].limit != size || ranges[d].stride != 1))
      return std::nullopt;
  }
  const bool from_start = ranges[last].start == 0 && ranges[last].stride == 1;
  if (!gates.Holds("sort-to-top-k/head", &slice, from_start)) return std::nullopt;
  return slice.shape().dimension(whole.rank() - 1);
}

struct Heads {
  std::vector<Instruction*> slices;
  std::vector<int64_t> of;  // for each slice, which result of the sort it cuts
  int64_t k = 0;
};

// All readers of the sort, if they are slices of one length from the head.
std::optional<Heads> HeadsOf(const Instruction& sort, const Gates& gates) {
  Heads heads;
  const auto add = [&](const Instruction& result, int64_t number) {
    if (&result == sort.parent()->root()) return false;
    for (Instruction* reader : result.users()) {
      if (reader->IsDead()) continue;
      const std::optional<int64_t> k = HeadOf(*reader, gates);
      if (!k || (!heads.slices.empty() && *k != heads.k)) return false;
      heads.k = *k;
      heads.slices.push_back(reader);
      heads.of.push_back(number);
    }
    return true;
  };
  if (!sort.shape().IsTuple()) {
    if (!add(sort, 0)) return std::nullopt;
  } else {
    if (&sort == sort.parent()->root()) return std::nullopt;
    for (const Instruction* element : sort.users()) {
      if (element->opcode() != Opcode::kGetTupleElement || !add(*element, element->tuple_index()))
        return std::nullopt;
    }
  }
  if (heads.slices.empty()) return std::nullopt;
  return heads;
}

bool ToTopK(Instruction* sort, Gates& gates) {
  if (!IsPlainOrTuple(*sort) || sort->operand(0)->shape().ElementCount() == 0 ||
      !SortsLines(*sort, gates))
    return false;
  const std::optional<bool> largest = PutsLargerFirst(*sort, gates);
  const std::optional<Heads> heads = largest ? HeadsOf(*sort, gates) : std::nullopt;
  const Shape& values = sort->operand(0)->shape();
  const int64_t last = values.rank() - 1;
  if (!heads || heads->k < 1 || heads->k * kLeastRatio > values.dimension(last)) return false;
  if (!gates.Allow(DecisionKind::kLibrary, "native-top-k", sort)) return false;
  Shape top = Shape::Array(values.element_type(), values.dimensions());
  top.set_dimension(last, heads->k);
  const Shape places = Shape::Array(ElementType::kS32, top.dimensions());
  Instruction* top_k = nullptr;
  bool changed = false;
  for (size_t i = 0; i < heads->slices.size(); ++i) {
    Instruction* slice = heads->slices[i];
    Rewrite rewrite(gates, "sort-to-top-k", slice);
    if (!rewrite) continue;
    if (top_k == nullptr) {
      top_k = sort->parent()->Add(Opcode::kTopK, Shape::Tuple({top, places}), {sort->operand(0)},
                                  Attributes()
                                      .Set(Attr::kK, AttrValue(heads->k))
                                      .Set(Attr::kLargest, AttrValue(*largest))
                                      .Set(Attr::kIsStable, AttrValue(true)));
    }
    Instruction* head = AddElement(sort->parent(), top_k, heads->of[i]);
    if (!SameShape(head, slice)) head = sort->parent()->Add(Opcode::kCopy, slice->shape(), {head});
    changed |= rewrite.Replace(head);
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> TopKRewriter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kSort})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    std::vector<Instruction*> sorts;
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() == Opcode::kSort) sorts.push_back(inst);
    }
    for (Instruction* sort : sorts) changed |= ToTopK(sort, context.gates);
  }
  return changed;
}

}  // namespace assay
