// Captured values travel outwards: from a body to its loop, from a branch to its conditional, from
// there to the results of the entry.
#include "conformance/cuts/programs/capture_module.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using Output = CaptureModule::Output;

// An array of a computation that is to leave it.
struct Extra {
  Instruction* value;
  Output output;
};

Shape PlainShape(const Shape& shape) {
  return Shape::Array(shape.element_type(), shape.dimensions());
}

Shape Stacked(const Shape& shape, int64_t trips) {
  DimVector dimensions = {trips};
  dimensions.insert(dimensions.end(), shape.dimensions().begin(), shape.dimensions().end());
  return Shape::Array(shape.element_type(), dimensions);
}

Instruction* Element(Computation* computation, Instruction* tuple, int64_t index) {
  if (tuple->opcode() == Opcode::kTuple) return tuple->operand(index);
  return computation->Add(Opcode::kGetTupleElement, tuple->shape().elements()[index], {tuple},
                          Attributes().Set(Attr::kIndex, AttrValue(index)));
}

std::vector<Instruction*> Elements(Computation* computation, Instruction* tuple) {
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < tuple->shape().elements().size(); ++i)
    elements.push_back(Element(computation, tuple, static_cast<int64_t>(i)));
  return elements;
}

Instruction* MakeTuple(Computation* computation, const std::vector<Instruction*>& elements) {
  std::vector<Shape> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  return computation->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

// The arrays of a value, depth first.
void AddLeaves(Computation* computation, Instruction* value, std::vector<Instruction*>& leaves) {
  if (!value->shape().IsTuple()) {
    leaves.push_back(value);
    return;
  }
  for (Instruction* element : Elements(computation, value)) AddLeaves(computation, element, leaves);
}

Instruction* Zeros(Computation* computation, const Shape& shape) {
  Instruction* zero = computation->AddConstant(Literal(Shape::Scalar(shape.element_type())));
  if (shape.rank() == 0) return zero;
  return computation->Add(Opcode::kBroadcast, PlainShape(shape), {zero},
                          Attributes().Set(Attr::kDimensions, absl::Span<const int64_t>()));
}

// Whoever reads more than an element of `tuple` reads `whole` instead.
void RedirectWholeUses(Instruction* tuple, Instruction* whole) {
  const OperandVector users(tuple->users().begin(), tuple->users().end());
  for (Instruction* user : users) {
    if (user == whole || user->opcode() == Opcode::kGetTupleElement) continue;
    for (int64_t k = 0; k < user->operand_count(); ++k)
      if (user->operand(k) == tuple) user->ReplaceOperand(k, whole);
  }
  if (tuple->parent()->root() == tuple) tuple->parent()->set_root(whole);
}

// Elements [0, count) of a tuple that has more, as a tuple of their own; only where it is needed.
void KeepOldMeaning(Instruction* tuple, int64_t count) {
  Computation* computation = tuple->parent();
  const bool is_whole_used =
      computation->root() == tuple ||
      std::any_of(tuple->users().begin(), tuple->users().end(), [](const Instruction* user) {
        return user->opcode() != Opcode::kGetTupleElement;
      });
  if (!is_whole_used) return;
  std::vector<Instruction*> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(Element(computation, tuple, i));
  RedirectWholeUses(tuple, MakeTuple(computation, elements));
}

void ExtendParameter(Instruction* parameter, const std::vector<Shape>& more) {
  const auto count = static_cast<int64_t>(parameter->shape().elements().size());
  Shape& shape = parameter->mutable_shape();
  shape.mutable_elements().insert(shape.mutable_elements().end(), more.begin(), more.end());
  KeepOldMeaning(parameter, count);
}

class Instrumentation {
 public:
  Instrumentation(const FlatModule& flat, absl::Span<const CapturePoint> points,
                  const TripRoom& room)
      : room_(room) {
    made_.module = flat.module->Clone("captured");
    map_ = CloneMap(*flat.module, *made_.module);
    for (const CapturePoint& point : points) points_[point.instruction->parent()].push_back(point);
    entry_ = flat.module->entry();
  }

  CaptureModule Run() {
    Computation* entry = made_.module->entry();
    std::vector<Extra> extras = Instrument(*entry_, entry);
    std::vector<Instruction*> leaves;
    AddLeaves(entry, entry->root(), leaves);
    made_.results = static_cast<int64_t>(leaves.size());
    for (Extra& extra : extras) {
      leaves.push_back(extra.value);
      made_.outputs.push_back(std::move(extra.output));
    }
    entry->set_root(MakeTuple(entry, leaves));
    ExtendLayout(entry->root()->shape());
    OrderByUse(*made_.module);
    return std::move(made_);
  }

 private:
  // Gives `copy`, made of the flat computation `original`, its further results, and returns them.
  std::vector<Extra> Instrument(const Computation& original, Computation* copy) {
    std::vector<Extra> extras;
    auto points = points_.find(&original);
    if (points != points_.end()) {
      for (const CapturePoint& point : points->second) {
        if (point.instruction->opcode() == Opcode::kWhile) continue;  // collected by the loop
        std::vector<Instruction*> leaves;
        AddLeaves(copy, map_.at(point.instruction), leaves);
        extras.push_back({leaves[static_cast<size_t>(point.leaf)], {point, {}}});
      }
    }
    for (const Instruction* instruction : original) {
      if (instruction->opcode() == Opcode::kWhile) InstrumentLoop(*instruction, extras);
      if (instruction->opcode() == Opcode::kConditional) InstrumentBranches(*instruction, extras);
    }
    return extras;
  }

  // The loop's state after a trip, as far as it is to be captured.
  std::vector<Extra> StateExtras(const Instruction& loop, Computation* body) {
    std::vector<Extra> extras;
    auto points = points_.find(loop.parent());
    if (points == points_.end()) return extras;
    std::vector<Instruction*> leaves;
    for (const CapturePoint& point : points->second) {
      if (point.instruction != &loop) continue;
      if (leaves.empty()) AddLeaves(body, body->root(), leaves);
      extras.push_back({leaves[static_cast<size_t>(point.leaf)], {point, {}}});
    }
    return extras;
  }

  void InstrumentLoop(const Instruction& loop, std::vector<Extra>& extras) {
    Instruction* copy = map_.at(&loop);
    if (!loop.shape().IsTuple()) return;
    Computation *condition = copy->callee(0), *body = copy->callee(1);
    std::vector<Extra> inner = Instrument(*loop.callee(1), body);
    for (Extra& extra : StateExtras(loop, body)) inner.push_back(std::move(extra));
    if (inner.empty()) return;
    const auto room = room_.find(&loop);
    const int64_t trips = room == room_.end() ? 1 : room->second;
    const auto count = static_cast<int64_t>(loop.shape().elements().size());

    std::vector<Shape> more = {Shape::Scalar(ElementType::kS32)};
    for (const Extra& extra : inner) more.push_back(Stacked(extra.value->shape(), trips));
    for (Computation* each : {condition, body}) ExtendParameter(each->parameter(0), more);

    Instruction* state = body->parameter(0);
    Instruction* number = Element(body, state, count);
    std::vector<Instruction*> next = Elements(body, body->root());
    Instruction* one = body->AddConstant(Literal::Scalar<int32_t>(ElementType::kS32, 1));
    next.push_back(body->Add(Opcode::kAdd, number->shape(), {number, one}));
    for (size_t k = 0; k < inner.size(); ++k) {
      Instruction* stack = Element(body, state, count + 1 + static_cast<int64_t>(k));
      next.push_back(Collect(body, stack, inner[k].value, number));
    }
    body->set_root(MakeTuple(body, next));

    Computation* outside = copy->parent();
    std::vector<Instruction*> first = Elements(outside, copy->operand(0));
    for (const Shape& shape : more) first.push_back(Zeros(outside, shape));
    copy->ReplaceOperand(0, MakeTuple(outside, first));
    copy->mutable_shape() = body->root()->shape();
    KeepOldMeaning(copy, count);
    extras.push_back({Element(outside, copy, count), {{&loop, CaptureModule::kTrips}, {}}});
    for (size_t k = 0; k < inner.size(); ++k) {
      Output output = std::move(inner[k].output);
      output.loops.insert(output.loops.begin(), &loop);
      extras.push_back(
          {Element(outside, copy, count + 1 + static_cast<int64_t>(k)), std::move(output)});
    }
  }

  // `stack` with `value` at place `number`.
  static Instruction* Collect(Computation* body, Instruction* stack, Instruction* value,
                              Instruction* number) {
    Instruction* row = body->Add(Opcode::kReshape, Stacked(value->shape(), 1), {value});
    std::vector<Instruction*> operands = {stack, row, number};
    for (int64_t d = 0; d < value->shape().rank(); ++d)
      operands.push_back(Zeros(body, Shape::Scalar(ElementType::kS32)));
    return body->Add(Opcode::kDynamicUpdateSlice, stack->shape(), operands);
  }

  void InstrumentBranches(const Instruction& conditional, std::vector<Extra>& extras) {
    Instruction* copy = map_.at(&conditional);
    std::vector<std::vector<Extra>> inner;
    std::vector<Shape> more = {Shape::Scalar(ElementType::kS32)};
    std::vector<Output> outputs = {{{&conditional, Capture::kBranchTaken}, {}}};
    for (size_t b = 0; b < conditional.callees().size(); ++b) {
      inner.push_back(Instrument(*conditional.callees()[b], copy->callees()[b]));
      for (Extra& extra : inner.back()) {
        more.push_back(PlainShape(extra.value->shape()));
        outputs.push_back(std::move(extra.output));
      }
    }
    if (more.size() == 1) return;
    const bool was_tuple = conditional.shape().IsTuple();
    size_t next = 0;  // of the extras of all branches
    for (size_t b = 0; b < inner.size(); ++b) {
      Computation* branch = copy->callees()[b];
      std::vector<Instruction*> results =
          was_tuple ? Elements(branch, branch->root()) : std::vector<Instruction*>{branch->root()};
      results.push_back(branch->AddConstant(
          Literal::Scalar<int32_t>(ElementType::kS32, static_cast<int32_t>(b))));
      for (size_t k = 0; k + 1 < more.size(); ++k) {
        const bool is_own = k >= next && k < next + inner[b].size();
        results.push_back(is_own ? inner[b][k - next].value : Zeros(branch, more[k + 1]));
      }
      next += inner[b].size();
      branch->set_root(MakeTuple(branch, results));
    }
    Computation* outside = copy->parent();
    const auto count = was_tuple ? static_cast<int64_t>(conditional.shape().elements().size()) : 1;
    if (was_tuple) {
      copy->mutable_shape() = copy->callee(0)->root()->shape();
      KeepOldMeaning(copy, count);
    } else {
      Instruction* whole = outside->Add(Opcode::kConditional, copy->callee(0)->root()->shape(),
                                        copy->operands(), copy->attributes(), copy->callees());
      copy->ReplaceAllUsesWith(Element(outside, whole, 0));
      outside->Remove(copy);
      copy = whole;
    }
    for (size_t k = 0; k < outputs.size(); ++k)
      extras.push_back(
          {Element(outside, copy, count + static_cast<int64_t>(k)), std::move(outputs[k])});
  }

  // The program's own results keep their layouts.
  void ExtendLayout(const Shape& result) {
    ModuleConfig& config = made_.module->config();
    config.input_output_alias.clear();
    config.buffer_donors.clear();
    if (config.entry_layout == nullptr) return;
    Shape extended = result;
    int64_t leaf = 0;
    ForEachLeaf(config.entry_layout->result, [&](const Shape& each, absl::Span<const int64_t>) {
      extended.mutable_elements()[leaf++] = each;
    });
    for (; leaf < static_cast<int64_t>(extended.elements().size()); ++leaf) {
      Shape& each = extended.mutable_elements()[leaf];
      if (each.IsArray()) each = PlainShape(each);
    }
    config.entry_layout->result = std::move(extended);
  }

  const TripRoom& room_;
  const Computation* entry_;
  CaptureModule made_;
  absl::flat_hash_map<const Instruction*, Instruction*> map_;  // flat to captured
  absl::flat_hash_map<const Computation*, std::vector<CapturePoint>> points_;
};

// The first `count` entries along dimension `d`.
Literal CutTo(const Literal& whole, int64_t d, int64_t count) {
  Shape shape = PlainShape(whole.shape());
  int64_t outer = 1;
  for (int64_t k = 0; k < d; ++k) outer *= shape.dimension(k);
  const int64_t before = shape.dimension(d);
  shape.set_dimension(d, count);
  Literal cut(shape);
  if (cut.element_count() == 0) return cut;
  const size_t row = whole.bytes().size() / static_cast<size_t>(outer);
  const size_t kept = row / static_cast<size_t>(before) * static_cast<size_t>(count);
  for (int64_t o = 0; o < outer; ++o) {
    std::memcpy(cut.bytes().data() + static_cast<size_t>(o) * kept,
                whole.bytes().data() + static_cast<size_t>(o) * row, kept);
  }
  return cut;
}

// The part of a stack that the loops filled; nullopt where one of them made now more trips, now
// fewer. Where a loop was given too little room, that is all of it.
std::optional<Literal> CutToTrips(Literal values, absl::Span<const Instruction* const> loops,
                                  const absl::flat_hash_map<const Instruction*, int64_t>& trips) {
  for (size_t k = 0; k < loops.size(); ++k) {
    const auto d = static_cast<int64_t>(k);
    const int64_t count = trips.at(loops[k]);
    if (count < 0) return std::nullopt;
    if (count < values.shape().dimension(d)) values = CutTo(values, d, count);
  }
  return values;
}

// The loops around the instruction, itself included.
std::vector<const Instruction*> LoopsAround(const Instruction& instruction) {
  const Module& module = *instruction.parent()->parent();
  std::vector<const Instruction*> loops;
  if (instruction.opcode() == Opcode::kWhile) loops.push_back(&instruction);
  const Computation* unit = instruction.parent();
  while (unit != module.entry()) {
    const std::vector<Instruction*> callers = module.Callers(unit);
    if (callers.size() != 1) break;
    if (callers[0]->opcode() == Opcode::kWhile) loops.push_back(callers[0]);
    unit = callers[0]->parent();
  }
  return loops;
}

}  // namespace

absl::StatusOr<CaptureModule> MakeCaptureModule(const FlatModule& flat,
                                                absl::Span<const CapturePoint> points,
                                                const TripRoom& room) {
  CaptureModule made = Instrumentation(flat, points, room).Run();
  ASSAY_RETURN_IF_ERROR(Verify(*made.module));
  return made;
}

absl::StatusOr<std::vector<Capture>> ReadCaptures(const CaptureModule& made,
                                                  absl::Span<const Literal* const> leaves,
                                                  TripRoom& room) {
  const auto results = static_cast<size_t>(made.results);
  if (leaves.size() != results + made.outputs.size()) {
    return MakeError(ErrorClass::kRunCrash,
                     StrCat("the program with captures gave ", leaves.size(), " arrays instead of ",
                            results + made.outputs.size()));
  }
  // Trips of each loop, outer ones first; -1 where they differ from one time to the next.
  absl::flat_hash_map<const Instruction*, int64_t> trips;
  bool is_enough = true;
  for (size_t k = 0; k < made.outputs.size(); ++k) {
    const Output& output = made.outputs[k];
    if (output.point.leaf != CaptureModule::kTrips) continue;
    const std::optional<Literal> counts = CutToTrips(*leaves[results + k], output.loops, trips);
    int64_t& known = trips[output.point.instruction] = -1;
    if (!counts.has_value() || counts->element_count() == 0) continue;
    int64_t most = 0, least = counts->GetInteger(0);
    for (int64_t i = 0; i < counts->element_count(); ++i) {
      most = std::max(most, counts->GetInteger(i));
      least = std::min(least, counts->GetInteger(i));
    }
    if (most == least) known = most;
    int64_t& enough = room[output.point.instruction];
    if (most > enough) {
      enough = most;
      is_enough = false;
    }
  }
  std::vector<Capture> captures;
  if (!is_enough) return captures;
  for (size_t k = 0; k < made.outputs.size(); ++k) {
    const Output& output = made.outputs[k];
    if (output.point.leaf == CaptureModule::kTrips) continue;
    std::optional<Literal> values = CutToTrips(*leaves[results + k], output.loops, trips);
    if (!values.has_value()) continue;
    captures.push_back({output.point.instruction, output.point.leaf, *std::move(values)});
  }
  return captures;
}

std::vector<CapturePoint> Affordable(absl::Span<const CapturePoint> points, const TripRoom& room,
                                     int64_t most_bytes) {
  std::vector<CapturePoint> affordable;
  int64_t bytes = 0;
  for (const CapturePoint& point : points) {
    int64_t size = 0, leaf = 0;
    ForEachLeaf(point.instruction->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
      if (leaf++ == point.leaf) size = shape.ByteSize();
    });
    for (const Instruction* loop : LoopsAround(*point.instruction))
      size *= std::max<int64_t>(1, room.at(loop));
    if (size > most_bytes - bytes) continue;
    bytes += size;
    affordable.push_back(point);
  }
  return affordable;
}

absl::StatusOr<CapturedResults> RunWithCaptures(
    const FlatModule& flat, absl::Span<const CapturePoint> points, TripRoom& room,
    const std::function<absl::StatusOr<std::vector<Literal>>(const Module&)>& run) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    CapturedResults seen;
    ASSAY_ASSIGN_OR_RETURN(const CaptureModule made, MakeCaptureModule(flat, points, room));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> results, run(*made.module));
    bool has_room = true;
    for (size_t device = 0; device < results.size(); ++device) {
      const std::vector<const Literal*> leaves = Leaves(results[device]);
      ASSAY_ASSIGN_OR_RETURN(std::vector<Capture> captures, ReadCaptures(made, leaves, room));
      has_room = has_room && (!captures.empty() || points.empty());
      for (Capture& capture : captures) {
        capture.device = static_cast<int64_t>(device);
        seen.captures.push_back(std::move(capture));
      }
      for (int64_t k = 0; k < made.results; ++k)
        seen.results.push_back(*leaves[static_cast<size_t>(k)]);
    }
    if (has_room) return seen;
  }
  return MakeError(ErrorClass::kUnsupported, "a loop makes another number of trips at each run");
}

}  // namespace assay
