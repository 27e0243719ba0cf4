// Edits a module op by op.
#include "fuzz/backends/plain_form.h"

#include <algorithm>
#include <array>
#include <vector>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Operands come before what reads them in the stored order, as text wants it.
void SortInstructions(Computation& computation) {
  const std::vector<Instruction*> order = computation.PostOrder();
  for (size_t k = order.size(); k-- > 1;) computation.MoveBefore(order[k - 1], order[k]);
}

// ---- Parameters.

// The value of `shape` as new parameters at the end of the list.
Instruction* AddLeaves(Computation& entry, const Shape& shape, const std::string& name) {
  if (shape.IsToken()) return entry.Add(Opcode::kAfterAll, shape, {});
  if (!shape.IsTuple()) return entry.AddParameter(entry.parameter_count(), shape, name);
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements()) elements.push_back(AddLeaves(entry, element, name));
  return entry.Add(Opcode::kTuple, shape, elements);
}

// The arrays of a value, in order.
void AddArrays(Instruction* value, std::vector<Instruction*>& arrays) {
  if (value->shape().IsArray()) arrays.push_back(value);
  if (!value->shape().IsTuple()) return;
  const std::vector<Shape> shapes = value->shape().elements();
  for (size_t k = 0; k < shapes.size(); ++k) {
    const auto index = static_cast<int64_t>(k);
    AddArrays(value->parent()->Add(Opcode::kGetTupleElement, shapes[k], {value},
                                   Attributes().Set(Attr::kIndex, AttrValue(index))),
              arrays);
  }
}

// ---- Bitcasts.

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() &&
         static_cast<int64_t>(shape.layout().minor_to_major().size()) == shape.rank() &&
         (shape.layout().extras() == nullptr || shape.layout().extras()->tiles.empty());
}

bool FillsBytes(ElementType type) { return BitWidth(type) % 8 == 0; }

// The dimensions of an array from the slowest in memory to the fastest.
DimVector MajorToMinor(const Shape& shape) {
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  return {order.rbegin(), order.rend()};
}

DimVector Sizes(const Shape& shape, const DimVector& dimensions) {
  DimVector sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimension(d));
  return sizes;
}

Instruction* AddTranspose(Instruction* array, const DimVector& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return array;
  const Shape shape =
      Shape::Array(array->shape().element_type(), Sizes(array->shape(), permutation));
  return array->parent()->Add(
      Opcode::kTranspose, shape, {array},
      Attributes().Set(Attr::kDimensions,
                       AttrValue(Int64List(permutation.begin(), permutation.end()))));
}

Instruction* AddReshape(Instruction* array, const DimVector& sizes) {
  const Shape shape = Shape::Array(array->shape().element_type(), sizes);
  if (Compatible(shape, array->shape())) return array;
  return array->parent()->Add(Opcode::kReshape, shape, {array});
}

// The bits of a list as a list of another type.
Instruction* AddBitcastConvert(Instruction* list, ElementType type) {
  const int from = BitWidth(list->shape().element_type()), to = BitWidth(type);
  const int64_t bits = list->shape().ElementCount() * from;
  Computation* computation = list->parent();
  if (from < to) {
    list = AddReshape(list, {bits / to, to / from});
    return computation->Add(Opcode::kBitcastConvert, Shape::Array(type, {bits / to}), {list});
  }
  DimVector sizes = {bits / from};
  if (from > to) sizes.push_back(from / to);
  list = computation->Add(Opcode::kBitcastConvert, Shape::Array(type, sizes), {list});
  return AddReshape(list, {bits / to});
}

// The array with the elements of the operand in the order in which they lie in memory; nullptr
// where only memory itself would show them.
Instruction* WithoutBitcast(Instruction* bitcast) {
  Instruction* operand = bitcast->operand(0);
  const Shape &from = operand->shape(), &to = bitcast->shape();
  if (!IsPlainArray(from) || !IsPlainArray(to)) return nullptr;
  const bool is_same_type = from.element_type() == to.element_type();
  const int64_t bits = from.ElementCount() * BitWidth(from.element_type());
  if (bits != to.ElementCount() * BitWidth(to.element_type())) return nullptr;
  const bool is_convertible = FillsBytes(from.element_type()) && FillsBytes(to.element_type()) &&
                              !IsComplex(from.element_type()) && !IsComplex(to.element_type());
  if (!is_same_type && !is_convertible) return nullptr;
  const DimVector order = MajorToMinor(to);
  Instruction* array = AddTranspose(operand, MajorToMinor(from));
  if (!is_same_type) {
    array = AddReshape(array, {from.ElementCount()});
    array = AddBitcastConvert(array, to.element_type());
  }
  array = AddReshape(array, Sizes(to, order));
  DimVector inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k)
    inverse[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  return AddTranspose(array, inverse);
}

// ---- Asynchronous pairs.

struct Pair {
  Opcode start, done, op;
  int64_t result;  // the element of the start's tuple that is the op's; -1: all of it is
};
constexpr auto kPairs = std::to_array<Pair>({
    {Opcode::kAllReduceStart, Opcode::kAllReduceDone, Opcode::kAllReduce, -1},
    {Opcode::kAllGatherStart, Opcode::kAllGatherDone, Opcode::kAllGather, 1},
    {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone, Opcode::kCollectivePermute,
     1},
    {Opcode::kCopyStart, Opcode::kCopyDone, Opcode::kCopy, 0},
});

// The plain op of a start that `done` ends.
Instruction* WithoutPair(Instruction* done, const Pair& pair) {
  const Instruction* start = done->operand(0);
  if (start->opcode() != pair.start || !start->HasOneUse()) return nullptr;
  const Shape& shape = pair.result < 0 ? start->shape() : start->shape().elements()[pair.result];
  Attributes attributes = start->attributes();
  attributes.Remove(Attr::kCrossProgramPrefetchIndex);
  return done->parent()->Add(pair.op, shape, start->operands(), std::move(attributes),
                             start->callees());
}

// The computation of an async-start on what it and the updates after it were given.
Instruction* WithoutAsync(Instruction* done) {
  std::vector<const Instruction*> chain = {done->operand(0)};
  while (chain.back()->opcode() == Opcode::kAsyncUpdate && chain.back()->HasOneUse())
    chain.push_back(chain.back()->operand(0));
  if (chain.back()->opcode() != Opcode::kAsyncStart || !chain.back()->HasOneUse()) return nullptr;
  std::vector<Instruction*> arguments;
  for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
    const size_t first = link == chain.rbegin() ? 0 : 1;
    const absl::Span<Instruction* const> given = (*link)->operands().subspan(first);
    arguments.insert(arguments.end(), given.begin(), given.end());
  }
  const Computation& callee = *chain.back()->callee();
  if (callee.parameter_count() != static_cast<int64_t>(arguments.size())) return nullptr;
  return done->parent()->CopyFrom(callee, arguments);
}

Instruction* Plain(Instruction* op) {
  switch (op->opcode()) {
    case Opcode::kFusion:
      return op->parent()->CopyFrom(*op->callee(), op->operands());
    case Opcode::kBitcast:
      return WithoutBitcast(op);
    case Opcode::kAsyncDone:
      return WithoutAsync(op);
    default:
      break;
  }
  for (const Pair& pair : kPairs) {
    if (op->opcode() == pair.done) return WithoutPair(op, pair);
  }
  return nullptr;
}

// True of ops in place of which others stand in plain form.
bool IsPlainElsewhere(Opcode opcode) {
  return opcode == Opcode::kFusion || opcode == Opcode::kBitcast || opcode == Opcode::kAsyncStart ||
         opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone ||
         std::any_of(kPairs.begin(), kPairs.end(), [opcode](const Pair& pair) {
           return opcode == pair.start || opcode == pair.done;
         });
}

}  // namespace

bool HasTupleOrTokenParameter(const Module& module) {
  const auto& parameters = module.entry()->parameters();
  return std::any_of(parameters.begin(), parameters.end(), [](const Instruction* parameter) {
    return parameter == nullptr || !parameter->shape().IsArray();
  });
}

absl::Status FlattenParameters(Module& module) {
  Computation& entry = *module.entry();
  if (!module.annotations().dynamic_parameter_binding.entries().empty()) {
    return MakeError(ErrorClass::kUnsupported,
                     "an entry parameter that is not an array, beside sizes bound to parameters");
  }
  const std::vector<Instruction*> parameters(entry.parameters().begin(), entry.parameters().end());
  for (const Instruction* parameter : parameters) {
    bool is_supported = parameter != nullptr;
    if (is_supported) {
      ForEachLeaf(parameter->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        is_supported = is_supported && (leaf.IsArray() || leaf.IsToken());
      });
    }
    if (!is_supported) {
      return MakeError(ErrorClass::kUnsupported,
                       "an entry parameter that is neither of arrays nor of tokens");
    }
  }
  for (Instruction* parameter : parameters)
    parameter->ReplaceAllUsesWith(AddLeaves(entry, parameter->shape(), parameter->name()));
  for (size_t k = 0; k < parameters.size(); ++k) entry.RemoveParameter(0);
  SortInstructions(entry);
  ModuleConfig& config = module.config();
  config.input_output_alias = {};
  config.buffer_donors.clear();
  config.entry_layout = nullptr;
  module.annotations() = {};
  return absl::OkStatus();
}

bool HasTokenResult(const Module& module) {
  bool has_token = false;
  ForEachLeaf(module.entry()->root()->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    has_token = has_token || leaf.IsToken();
  });
  return has_token;
}

void DropTokens(Module& module) {
  Computation& entry = *module.entry();
  std::vector<Instruction*> arrays;
  std::vector<Shape> shapes;
  AddArrays(entry.root(), arrays);
  for (const Instruction* array : arrays) shapes.push_back(array->shape());
  entry.set_root(entry.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), arrays));
  module.config().entry_layout = nullptr;
  module.config().input_output_alias = {};
}

bool IsBeyondStableHlo(const Module& module) {
  std::vector<Opcode> opcodes = {Opcode::kFusion, Opcode::kBitcast, Opcode::kAsyncDone};
  for (const Pair& pair : kPairs) opcodes.push_back(pair.done);
  return module.HasAny(opcodes);
}

void MakePlain(Module& module) {
  // Callees first: what is copied is plain already.
  for (Computation* computation : module.ComputationPostOrder()) {
    const std::vector<Instruction*> order = computation->PostOrder();
    bool changed = false;
    // Users first: a bitcast is read by the layout that its operand was written with.
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      Instruction* plain = Plain(*op);
      if (plain == nullptr) continue;
      (*op)->ReplaceAllUsesWith(plain);
      changed = true;
    }
    if (!changed) continue;
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      const bool is_replaced = IsPlainElsewhere((*op)->opcode()) && (*op)->users().empty();
      if (is_replaced && computation->root() != *op) computation->Remove(*op);
    }
    SortInstructions(*computation);
  }
  module.config().is_scheduled = false;
  module.config().entry_layout = nullptr;
  module.RemoveUnusedComputations().IgnoreError();
}

}  // namespace assay
