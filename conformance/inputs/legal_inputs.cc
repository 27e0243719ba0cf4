// Follows operands that an op puts conditions on back to parameters, and draws those anew.
#include "conformance/inputs/legal_inputs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "spec/base/status_macros.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

// An array among the entry's arguments.
struct Place {
  int64_t parameter = 0;
  ShapeIndex index;
  bool operator<(const Place& other) const {
    return std::pair(parameter, index) < std::pair(other.parameter, other.index);
  }
};

// Integers from lo to hi, both included.
struct Range {
  int64_t lo = 0, hi = 0;
  bool same_on_all_devices = false;
};

// Instructions that are looked through at most.
constexpr int kMostSteps = 200;

// The value that stands for a parameter of a computation that is called: the operand of its first
// caller, from which also a loop begins. nullptr: unknown.
const Instruction* GivenFor(const Instruction& parameter) {
  const Computation* computation = parameter.parent();
  const std::vector<Instruction*> callers = computation->parent()->Callers(computation);
  if (callers.empty()) return nullptr;
  const Instruction& caller = *callers.front();
  auto operand = [&](int64_t k) {
    return k < caller.operand_count() ? caller.operand(k) : nullptr;
  };
  switch (caller.opcode()) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kAsyncStart:
      return operand(parameter.parameter_number());
    case Opcode::kWhile:
      return operand(0);
    case Opcode::kConditional:
      for (size_t branch = 0; branch < caller.callees().size(); ++branch) {
        if (caller.callees()[branch] == computation)
          return operand(static_cast<int64_t>(branch) + 1);
      }
      return nullptr;
    default:
      return nullptr;
  }
}

// The parameter whose elements come to the array `index` of `from` by moves and conversions of
// integers alone. `whole`: all of them in their order; else some of them may.
std::optional<Place> PlaceOf(const Instruction* from, ShapeIndex index, bool whole) {
  for (int step = 0; step < kMostSteps && from != nullptr; ++step) {
    switch (from->opcode()) {
      case Opcode::kParameter:
        if (from->parent() == from->parent()->parent()->entry())
          return Place{from->parameter_number(), index};
        from = GivenFor(*from);
        continue;
      case Opcode::kGetTupleElement:
        index.insert(index.begin(), from->tuple_index());
        break;
      case Opcode::kTuple: {
        if (index.empty()) return std::nullopt;
        const int64_t element = index.front();
        index.erase(index.begin());
        from = from->operand(element);
        continue;
      }
      case Opcode::kBitcast:
      case Opcode::kConvert: {
        const Shape& of = from->operand(0)->shape();
        if (!of.IsArray() || !IsInteger(of.element_type())) return std::nullopt;
        break;
      }
      case Opcode::kCopy:
      case Opcode::kOptBarrier:
      case Opcode::kAddDependency:
      case Opcode::kReshape:
        break;
      case Opcode::kBroadcast:
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
      case Opcode::kTranspose:
        if (whole) return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
    from = from->operand(0);
  }
  return std::nullopt;
}

// Numbers that depend on the seed and on what is mixed in.
class Numbers {
 public:
  Numbers(uint64_t seed, const Place& place, int64_t device) : state_(seed) {
    Mix(place.parameter);
    for (int64_t i : place.index) Mix(i);
    Mix(device);
  }
  // In [0, count).
  int64_t Below(int64_t count) {
    return count <= 1 ? 0 : static_cast<int64_t>(Next() % static_cast<uint64_t>(count));
  }

 private:
  void Mix(int64_t with) { state_ = Next() ^ (static_cast<uint64_t>(with) + 0x632BE59BD9B4E019u); }
  // splitmix64
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

int64_t DimensionOf(const Instruction& op) {
  for (const Attr attribute : {Attr::kDimension, Attr::kDimensions}) {
    const absl::Span<const int64_t> list = op.attributes().Integers(attribute);
    if (!list.empty()) return list[0];
  }
  return -1;
}

// The demands of ops on arrays that are arguments.
class Demands {
 public:
  Demands(const Module& module, const DeviceAssignment& devices)
      : module_(module), devices_(devices) {
    for (const auto& [bound, size] : module.annotations().dynamic_parameter_binding.entries())
      VisitBinding(bound, size);
    for (const Computation* computation : module.computations()) {
      for (const Instruction* instruction : *computation) Visit(*instruction);
    }
  }
  const std::map<Place, Range>& ranges() const { return ranges_; }
  const std::vector<const Instruction*>& ragged() const { return ragged_; }

 private:
  // If several ops read an array, all have their way as far as they agree.
  void Limit(const Instruction* operand, const ShapeIndex& index, Range range) {
    const std::optional<Place> place = PlaceOf(operand, index, /*whole=*/false);
    if (!place.has_value() || range.hi < range.lo) return;
    const auto [at, is_new] = ranges_.try_emplace(*place, range);
    if (is_new) return;
    Range& both = at->second;
    both.same_on_all_devices |= range.same_on_all_devices;
    const int64_t lo = std::max(both.lo, range.lo), hi = std::min(both.hi, range.hi);
    if (lo > hi) return;
    both.lo = lo;
    both.hi = hi;
  }

  void VisitBinding(const DynamicParameterBinding::DynamicDimension& bound,
                    const DynamicParameterBinding::DynamicParameter& size) {
    const Computation& entry = *module_.entry();
    const auto is_there = [&](int64_t k) { return k >= 0 && k < entry.parameter_count(); };
    if (!is_there(bound.parameter_num) || !is_there(size.parameter_num)) return;
    const Shape* shape = &entry.parameter(bound.parameter_num)->shape();
    for (int64_t i : bound.parameter_index) {
      if (i < 0 || i >= static_cast<int64_t>(shape->elements().size())) return;
      shape = &shape->elements()[static_cast<size_t>(i)];
    }
    if (!shape->IsArray() || bound.dimension < 0 || bound.dimension >= shape->rank()) return;
    const ShapeIndex index(size.parameter_index.begin(), size.parameter_index.end());
    Limit(entry.parameter(size.parameter_num), index, {0, shape->dimension(bound.dimension)});
  }

  void Visit(const Instruction& op) {
    switch (op.opcode()) {
      case Opcode::kSetDimensionSize:
        if (const int64_t d = DimensionOf(op); d >= 0 && d < op.shape().rank())
          Limit(op.operand(1), {}, {0, op.operand(0)->shape().dimension(d)});
        return;
      case Opcode::kDynamicReshape:
        for (int64_t k = 1; k < op.operand_count() && k <= op.shape().rank(); ++k)
          Limit(op.operand(k), {}, {op.shape().dimension(k - 1), op.shape().dimension(k - 1)});
        return;
      case Opcode::kConditional:
        if (IsInteger(op.operand(0)->shape().element_type()))
          Limit(op.operand(0), {}, {0, static_cast<int64_t>(op.callees().size())});
        return;
      case Opcode::kRaggedAllToAll:
        if (op.operand_count() == 6) ragged_.push_back(&op);
        return;
      case Opcode::kCollectiveBroadcast:
        if (op.attributes().Flag(Attr::kHasDynamicRoot)) VisitRoot(op);
        return;
      case Opcode::kCollectivePermute:
      case Opcode::kCollectivePermuteStart:
        if (op.operand_count() == 4) VisitPermutedSlices(op);
        return;
      default:
        return;
    }
  }

  void VisitRoot(const Instruction& op) {
    const auto groups =
        ProcessGroups(op.opcode(), op.attributes(), devices_.replicas, devices_.partitions);
    if (!groups.ok() || groups->empty()) return;
    size_t members = groups->front().size();
    for (const Int64List& group : *groups) members = std::min(members, group.size());
    Limit(op.operand(op.operand_count() - 1), {}, {0, static_cast<int64_t>(members) - 1, true});
  }

  void VisitPermutedSlices(const Instruction& op) {
    const AttrValue* value = op.attributes().Find(Attr::kPermuteSliceSizes);
    if (value == nullptr) return;
    const auto& sizes = std::get<std::vector<Int64List>>(*value);
    for (const int64_t side : {0, 1}) {
      const Shape& array = op.operand(side)->shape();
      const Shape& starts = op.operand(side + 2)->shape();
      if (!array.IsArray() || !starts.IsTuple() || starts.elements().empty()) continue;
      const bool several = starts.elements()[0].IsTuple();
      for (size_t s = 0; s < sizes.size() && (several || s == 0); ++s) {
        ShapeIndex index;
        if (several) index.push_back(static_cast<int64_t>(s));
        index.push_back(0);
        for (int64_t d = 0; d < array.rank() && d < static_cast<int64_t>(sizes[s].size()); ++d) {
          index.back() = d;
          Limit(op.operand(side + 2), index,
                {0, array.dimension(d) - sizes[s][static_cast<size_t>(d)], true});
        }
      }
    }
  }

  const Module& module_;
  const DeviceAssignment& devices_;
  std::map<Place, Range> ranges_;
  std::vector<const Instruction*> ragged_;
};

// The drawn arguments of all devices.
class Arguments {
 public:
  Arguments(const Module& module, const DeviceAssignment& devices, uint64_t seed,
            std::vector<Literal>& all)
      : module_(module),
        devices_(devices),
        count_(devices.replicas * devices.partitions),
        seed_(seed),
        all_(all) {}

  void DrawIn(const Place& place, const Range& range) {
    for (int64_t d = 0; d < count_; ++d) {
      Literal* array = ArrayAt(place, d);
      if (array == nullptr) return;
      Numbers drawn(seed_, place, range.same_on_all_devices ? 0 : d);
      const ElementType type = array->element_type();
      const int64_t lo = IsSigned(type) ? range.lo : std::max<int64_t>(range.lo, 0);
      // All numbers are there in a wide type.
      const int64_t most =
          BitWidth(type) >= 32 ? range.hi : (int64_t{1} << (BitWidth(type) - 1)) - 1;
      const int64_t hi = std::max(lo, std::min(range.hi, most));
      std::vector<int64_t> numbers(static_cast<size_t>(array->element_count()));
      for (int64_t& number : numbers) number = lo + drawn.Below(hi - lo + 1);
      for (size_t i = 0; i < numbers.size(); ++i)
        array->SetInteger(static_cast<int64_t>(i), numbers[i]);
    }
  }

  void DrawRagged(const Instruction& op) {
    std::vector<Place> places;
    for (int64_t k = 2; k < 6; ++k) {
      const std::optional<Place> place = PlaceOf(op.operand(k), {}, /*whole=*/true);
      if (!place.has_value()) return;
      places.push_back(*place);
    }
    const auto groups =
        ProcessGroups(op.opcode(), op.attributes(), devices_.replicas, devices_.partitions);
    for (size_t g = 0; groups.ok() && g < groups->size(); ++g) DrawRows(op, places, (*groups)[g]);
  }

 private:
  // The array at a place of a device; nullptr if it holds no integers.
  Literal* ArrayAt(const Place& place, int64_t device) {
    Literal* array =
        &all_[static_cast<size_t>(device * module_.entry()->parameter_count() + place.parameter)];
    for (int64_t i : place.index) {
      if (!array->shape().IsTuple() || i >= static_cast<int64_t>(array->elements().size()))
        return nullptr;
      array = &array->mutable_elements()[static_cast<size_t>(i)];
    }
    return array->shape().IsArray() && IsInteger(array->element_type()) ? array : nullptr;
  }

  // Each member sends every other a drawn part of a block; the blocks lie one behind the other on
  // both sides.
  void DrawRows(const Instruction& op, const std::vector<Place>& places, const Int64List& group) {
    const auto members = static_cast<int64_t>(group.size());
    const int64_t entries = op.operand(2)->shape().ElementCount();
    if (members == 0 || entries == 0 || entries % members != 0) return;
    const int64_t rows =
        std::min(op.operand(0)->shape().dimension(0), op.operand(1)->shape().dimension(0));
    const int64_t each = entries / members, block = rows / entries;
    for (int64_t sender = 0; sender < members; ++sender) {
      Literal* own[3];
      for (size_t k : {0, 1, 2}) own[k] = ArrayAt(places[k], group[static_cast<size_t>(sender)]);
      if (own[0] == nullptr || own[1] == nullptr || own[2] == nullptr) return;
      Numbers drawn(seed_, places[1], group[static_cast<size_t>(sender)]);
      for (int64_t i = 0; i < entries; ++i) {
        const int64_t count = drawn.Below(block + 1), there = sender * each + i % each;
        Literal* expected = ArrayAt(places[3], group[static_cast<size_t>(i / each)]);
        if (expected == nullptr) return;
        own[0]->SetInteger(i, i * block);
        own[1]->SetInteger(i, count);
        own[2]->SetInteger(i, there * block);
        expected->SetInteger(there, count);
      }
    }
  }

  const Module& module_;
  const DeviceAssignment& devices_;
  const int64_t count_;
  const uint64_t seed_;
  std::vector<Literal>& all_;
};

}  // namespace

void MakeLegal(const Module& module, const DeviceAssignment& devices, uint64_t seed,
               std::vector<Literal>& drawn) {
  const Demands demands(module, devices);
  Arguments arguments(module, devices, seed, drawn);
  for (const auto& [place, range] : demands.ranges()) arguments.DrawIn(place, range);
  for (const Instruction* ragged : demands.ragged()) arguments.DrawRagged(*ragged);
}

}  // namespace assay
