// An input's elements are followed through what only moves them to where they are read as places.
#include "conformance/inputs/drawn_inputs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "conformance/inputs/random_literal.h"
#include "spec/attributes/attribute_words.h"
#include "spec/base/status_macros.h"
#include "spec/ir/hash.h"

namespace assay {
namespace {

// One array among the leaves of a value.
using Leaf = std::pair<const Instruction*, int64_t>;

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The last place along `dimensions` at which a window of `sizes` fits, the least of them.
int64_t LastPlace(const Shape& shape, absl::Span<const int64_t> dimensions,
                  const std::vector<int64_t>& sizes) {
  int64_t last = std::numeric_limits<int64_t>::max();
  for (int64_t d : dimensions) {
    if (d < 0 || d >= shape.rank() || d >= static_cast<int64_t>(sizes.size())) continue;
    last = std::min(last, shape.dimension(d) - sizes[d]);
  }
  return last;
}

// The extent of each dimension of the operand that an update of the scatter covers.
std::vector<int64_t> WindowOfScatter(const Instruction& scatter, const Shape& operand,
                                     const Shape& updates) {
  const Attributes& attributes = scatter.attributes();
  const absl::Span<const int64_t> window = attributes.Integers(Attr::kUpdateWindowDims);
  std::vector<int64_t> sizes;
  size_t next = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool is_inserted = Contains(attributes.Integers(Attr::kInsertedWindowDims), d) ||
                             Contains(attributes.Integers(Attr::kInputBatchingDims), d);
    const bool has_size = !is_inserted && next < window.size();
    sizes.push_back(has_size ? updates.dimension(window[next++]) : 1);
  }
  return sizes;
}

PlaceRole WithPromises(const Instruction& instruction, int64_t last, int64_t components) {
  PlaceRole role{last};
  // A promise about vectors of several components says nothing of each component.
  if (components != 1) return role;
  role.is_sorted = instruction.attributes().Flag(Attr::kIndicesAreSorted);
  role.is_unique = instruction.attributes().Flag(Attr::kUniqueIndices);
  return role;
}

// The dimension that the iota counts whose elements `value` repeats, or nothing.
std::optional<int64_t> CountedBy(const Instruction* value) {
  while (value->opcode() == Opcode::kBroadcast || value->opcode() == Opcode::kReshape ||
         value->opcode() == Opcode::kConvert || value->opcode() == Opcode::kBitcast)
    value = value->operand(0);
  if (value->opcode() != Opcode::kIota) return std::nullopt;
  return value->shape().dimension(value->attributes().Integer(Attr::kIotaDimension));
}

bool IsZero(const Instruction* value) {
  while (value->opcode() == Opcode::kBroadcast || value->opcode() == Opcode::kConvert)
    value = value->operand(0);
  const bool is_scalar = value->opcode() == Opcode::kConstant && value->literal() != nullptr &&
                         value->literal()->element_count() == 1;
  return is_scalar && IsInteger(value->shape().element_type()) &&
         value->literal()->GetInteger(0) == 0;
}

Direction DirectionOf(const Instruction& compare) {
  return compare.attributes().Word<Direction>(Attr::kDirection);
}

// The role of operand `slot` of `user`, if its elements are places.
std::optional<PlaceRole> RoleOf(const Instruction& user, int64_t slot) {
  const Attributes& attributes = user.attributes();
  switch (user.opcode()) {
    case Opcode::kGather: {
      if (slot != 1) return std::nullopt;
      const absl::Span<const int64_t> sizes = attributes.Integers(Attr::kSliceSizes);
      const absl::Span<const int64_t> dimensions = attributes.Integers(Attr::kStartIndexMap);
      return WithPromises(
          user, LastPlace(user.operand(0)->shape(), dimensions, {sizes.begin(), sizes.end()}),
          static_cast<int64_t>(dimensions.size()));
    }
    case Opcode::kScatter: {
      const int64_t arrays = (user.operand_count() - 1) / 2;
      if (slot != arrays) return std::nullopt;
      const Shape& operand = user.operand(0)->shape();
      const absl::Span<const int64_t> dimensions =
          attributes.Integers(Attr::kScatterDimsToOperandDims);
      return WithPromises(
          user,
          LastPlace(operand, dimensions,
                    WindowOfScatter(user, operand, user.operand(arrays + 1)->shape())),
          static_cast<int64_t>(dimensions.size()));
    }
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice: {
      const bool is_update = user.opcode() == Opcode::kDynamicUpdateSlice;
      const int64_t first = is_update ? 2 : 1;
      if (slot < first) return std::nullopt;
      const Shape& operand = user.operand(0)->shape();
      const Shape& slice = is_update ? user.operand(1)->shape() : user.shape();
      const std::vector<int64_t> sizes(slice.dimensions().begin(), slice.dimensions().end());
      std::vector<int64_t> dimensions = {slot - first};
      // The old form has all starts in one vector.
      if (user.operand(slot)->shape().rank() == 1) {
        dimensions.resize(sizes.size());
        std::iota(dimensions.begin(), dimensions.end(), 0);
      }
      return PlaceRole{LastPlace(operand, dimensions, sizes)};
    }
    case Opcode::kSetDimensionSize: {
      // Older text names the dimension by a number, newer text by a list of one.
      absl::Span<const int64_t> dimensions = attributes.Integers(Attr::kDimensions);
      if (dimensions.empty()) dimensions = attributes.Integers(Attr::kDimension);
      if (slot != 1 || dimensions.empty()) return std::nullopt;
      return PlaceRole{user.operand(0)->shape().dimension(dimensions.front()), true};
    }
    case Opcode::kCompare: {
      const std::optional<int64_t> count = CountedBy(user.operand(1 - slot));
      if (!count.has_value() || DirectionOf(user) != Direction::kEq) return std::nullopt;
      return PlaceRole{*count - 1};
    }
    default:
      return std::nullopt;
  }
}

// True if the elements of the result are those of operand `slot`, and maybe others.
bool Moves(const Instruction& user, int64_t slot) {
  switch (user.opcode()) {
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConvert:
    case Opcode::kConcatenate:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return true;
    case Opcode::kSelect:
      return slot > 0;
    case Opcode::kClamp:
      return slot == 1;
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kPad:
      return slot == 0;
    default:
      return false;
  }
}

class RoleSearch {
 public:
  explicit RoleSearch(const Module& module) {
    for (const Computation* computation : module.computations())
      for (const Instruction* instruction : *computation)
        for (const Computation* callee : instruction->callees())
          callers_[callee].push_back(instruction);
  }

  // Follows the leaf to all places where it is read.
  std::optional<PlaceRole> Find(const Leaf& start) {
    role_.reset();
    is_wrapped_ = false;
    seen_.clear();
    pending_ = {start};
    while (!pending_.empty()) {
      const Leaf leaf = pending_.back();
      pending_.pop_back();
      if (!seen_.insert(leaf).second) continue;
      // Each user once, though it may read the value several times.
      absl::flat_hash_set<const Instruction*> users;
      for (const Instruction* user : leaf.first->users())
        if (users.insert(user).second) Visit(leaf, *user);
      if (leaf.first->parent()->root() == leaf.first) Return(leaf);
    }
    if (role_.has_value()) role_->is_wrapped = is_wrapped_;
    return role_;
  }

 private:
  void Visit(const Leaf& leaf, const Instruction& user) {
    int64_t before = 0;  // leaves of the operands before
    for (int64_t slot = 0; slot < user.operand_count(); ++slot) {
      const Instruction* operand = user.operand(slot);
      if (operand == leaf.first) VisitSlot(leaf, user, slot, before);
      before += LeafCount(operand->shape());
    }
  }

  void VisitSlot(const Leaf& leaf, const Instruction& user, int64_t slot, int64_t before) {
    if (const std::optional<PlaceRole> role = RoleOf(user, slot)) Add(*role);
    switch (user.opcode()) {
      case Opcode::kCompare:
        is_wrapped_ = is_wrapped_ ||
                      (slot == 0 && DirectionOf(user) == Direction::kLt && IsZero(user.operand(1)));
        return;
      case Opcode::kTuple:
        pending_.emplace_back(&user, before + leaf.second);
        return;
      case Opcode::kOptBarrier:
        pending_.emplace_back(&user, leaf.second);
        return;
      case Opcode::kGetTupleElement: {
        int64_t first = 0;
        const std::vector<Shape>& elements = leaf.first->shape().elements();
        for (int64_t k = 0; k < user.tuple_index(); ++k) first += LeafCount(elements[k]);
        const int64_t count = LeafCount(user.shape());
        if (leaf.second >= first && leaf.second < first + count)
          pending_.emplace_back(&user, leaf.second - first);
        return;
      }
      case Opcode::kWhile:
        for (const Computation* callee : user.callees())
          pending_.emplace_back(callee->parameter(0), leaf.second);
        pending_.emplace_back(&user, leaf.second);
        return;
      case Opcode::kConditional:
        if (slot > 0) pending_.emplace_back(user.callee(slot - 1)->parameter(0), leaf.second);
        return;
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kAsyncStart:
        pending_.emplace_back(user.callee()->parameter(slot), leaf.second);
        return;
      default:
        if (Moves(user, slot)) pending_.emplace_back(&user, 0);
        return;
    }
  }

  // The result of a computation is that of its callers.
  void Return(const Leaf& leaf) {
    const auto callers = callers_.find(leaf.first->parent());
    if (callers == callers_.end()) return;
    for (const Instruction* caller : callers->second) {
      const Opcode opcode = caller->opcode();
      const bool is_given = opcode == Opcode::kCall || opcode == Opcode::kFusion ||
                            opcode == Opcode::kConditional ||
                            (opcode == Opcode::kWhile && leaf.first->shape().IsTuple());
      if (is_given) pending_.emplace_back(caller, leaf.second);
    }
  }

  void Add(const PlaceRole& role) {
    if (role.last == std::numeric_limits<int64_t>::max()) return;
    if (!role_.has_value()) role_ = role;
    role_->last = std::min(role_->last, role.last);
    role_->is_sorted = role_->is_sorted || role.is_sorted;
    role_->is_unique = role_->is_unique || role.is_unique;
  }

  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>> callers_;
  absl::flat_hash_set<Leaf> seen_;
  std::vector<Leaf> pending_;
  std::optional<PlaceRole> role_;
  bool is_wrapped_ = false;
};

// A number in [0, 1) for an element.
double Fraction(uint64_t seed, uint64_t stream, int64_t element) {
  StableHash hash;
  hash.Add(std::string_view("place"));
  hash.Add(seed);
  hash.Add(stream);
  hash.Add(static_cast<uint64_t>(element));
  return static_cast<double>(hash.Finish() >> 11) * 0x1p-53;
}

// Every sixteenth place, by chance, becomes one beside those that there are.
void StepOut(const PlaceRole& role, uint64_t seed, uint64_t stream, Literal& literal) {
  const bool is_signed = IsSigned(literal.element_type());
  const int64_t most = BitWidth(literal.element_type()) >= 32 ? role.last + 2 : role.last;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const double u = 64 * Fraction(seed, stream, i);
    if (u < 2) literal.SetInteger(i, is_signed ? -1 - static_cast<int64_t>(u) : 0);
    if (u >= 2 && u < 4)
      literal.SetInteger(i, std::min(most, role.last + static_cast<int64_t>(u) - 1));
  }
}

// Places of which none is there twice: a shuffled row of numbers with gaps.
void MakeUnique(const PlaceRole& role, uint64_t seed, uint64_t stream, Literal& literal) {
  const int64_t count = literal.element_count();
  std::vector<int64_t> places(static_cast<size_t>(role.last + 1));
  std::iota(places.begin(), places.end(), 0);
  for (int64_t i = 0; i < count; ++i) {
    const auto left = static_cast<double>(role.last + 1 - i);
    std::swap(places[i], places[i + static_cast<int64_t>(left * Fraction(seed, stream, i))]);
  }
  if (role.is_sorted) std::sort(places.begin(), places.begin() + count);
  for (int64_t i = 0; i < count; ++i) literal.SetInteger(i, places[i]);
}

void SortAll(Literal& literal) {
  std::vector<int64_t> places(static_cast<size_t>(literal.element_count()));
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = literal.GetInteger(static_cast<int64_t>(i));
  std::sort(places.begin(), places.end());
  for (size_t i = 0; i < places.size(); ++i) literal.SetInteger(static_cast<int64_t>(i), places[i]);
}

absl::StatusOr<Literal> DrawPlaces(const Shape& shape, const PlaceRole& role, uint64_t seed,
                                   uint64_t stream) {
  constexpr int64_t kMostPlaces = int64_t{1} << 22;  // that are shuffled
  PlaceRole fitting = role;
  const int bits = BitWidth(shape.element_type()) - (IsSigned(shape.element_type()) ? 1 : 0);
  if (bits < 62) fitting.last = std::min(role.last, (int64_t{1} << bits) - 1);
  ValueRule rule;
  const bool is_wrapped =
      role.is_wrapped && !role.is_sorted && !role.is_unique && IsSigned(shape.element_type());
  rule.lo = is_wrapped ? -1 - static_cast<double>(fitting.last) : 0;
  rule.hi = static_cast<double>(fitting.last) + 1;
  ASSAY_ASSIGN_OR_RETURN(Literal literal, RandomLiteral(shape, rule, seed, stream));
  const bool may_be_unique =
      role.is_unique && literal.element_count() <= fitting.last + 1 && fitting.last < kMostPlaces;
  if (may_be_unique) MakeUnique(fitting, seed, stream, literal);
  if (role.is_sorted && !may_be_unique) SortAll(literal);
  if (!role.is_sorted && !role.is_unique) StepOut(fitting, seed, stream, literal);
  return literal;
}

}  // namespace

DrawnInputs::DrawnInputs(const Module& module) {
  RoleSearch search(module);
  for (const Instruction* parameter : module.entry()->parameters()) {
    int64_t leaf = 0;
    ForEachLeaf(parameter->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
      const int64_t number = leaf++;
      if (!shape.IsArray() || !IsInteger(shape.element_type())) return;
      const std::optional<PlaceRole> role = search.Find({parameter, number});
      // A single place shows nothing.
      if (role.has_value() && role->last > 0)
        roles_[{parameter->parameter_number(), number}] = *role;
    });
  }
}

absl::StatusOr<Literal> DrawnInputs::Draw(const Instruction& parameter, uint64_t seed,
                                          uint64_t& stream) const {
  int64_t leaf = 0;
  const auto draw = [&](const auto& self, const Shape& shape) -> absl::StatusOr<Literal> {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.elements()) {
        ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), self(self, element));
      }
      return Literal::Tuple(std::move(elements));
    }
    const auto role = roles_.find({parameter.parameter_number(), leaf++});
    if (shape.IsToken()) return Literal(shape);
    if (role != roles_.end()) return DrawPlaces(shape, role->second, seed, stream++);
    // An array of dynamic size is drawn at its bound.
    const bool is_bounded = std::all_of(shape.dimensions().begin(), shape.dimensions().end(),
                                        [](int64_t size) { return size >= 0; });
    const Shape drawn = is_bounded ? Shape::Array(shape.element_type(), shape.dimensions()) : shape;
    const bool is_dynamic = shape.HasDynamicDimension() && is_bounded;
    return RandomLiteral(is_dynamic ? drawn : shape, ValueRule::Default(shape), seed, stream++);
  };
  return draw(draw, parameter.shape());
}

}  // namespace assay
