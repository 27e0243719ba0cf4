// Values are captured where sums are, and around the ops whose results the oracle finds too wide.
#include "conformance/cuts/programs/capture_choice.h"

#include <algorithm>

#include "conformance/cuts/programs/work.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

enum class Worth { kNone, kSum, kContraction };

// Terms that are added up for an element of the result.
int64_t TermsOf(const Instruction& instruction) {
  const Attributes& attributes = instruction.attributes();
  int64_t terms = 1;
  switch (instruction.opcode()) {
    case Opcode::kDot:
      for (int64_t d : attributes.Integers(Attr::kLhsContractingDims))
        terms *= instruction.operand(0)->shape().dimension(d);
      return terms;
    case Opcode::kConvolution: {
      const ConvDimLabels* labels = attributes.DimLabels();
      const Shape& kernel = instruction.operand(1)->shape();
      if (labels == nullptr || kernel.ElementCount() == 0) return 0;
      return kernel.ElementCount() / kernel.dimension(labels->kernel_output_feature);
    }
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      for (const WindowDim& dimension : attributes.Window(Attr::kWindow)) terms *= dimension.size;
      return terms;
    case Opcode::kReduce:
      for (int64_t d : attributes.Integers(Attr::kDimensions))
        terms *= instruction.operand(0)->shape().dimension(d);
      return terms;
    default:
      return 2;
  }
}

Worth WorthOf(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kConvolution:
      return TermsOf(instruction) > 1 ? Worth::kContraction : Worth::kNone;
    case Opcode::kCholesky:
    case Opcode::kCustomCall:
    case Opcode::kFft:
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kTriangularSolve:
    case Opcode::kWhile:
      return Worth::kContraction;
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      return TermsOf(instruction) > 1 ? Worth::kSum : Worth::kNone;
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
    case Opcode::kScan:
    case Opcode::kScatter:
      return Worth::kSum;
    default:
      return Worth::kNone;
  }
}

std::vector<Shape> LeafShapes(const Shape& shape) {
  std::vector<Shape> leaves;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) { leaves.push_back(leaf); });
  return leaves;
}

bool IsUsed(const Instruction& instruction) {
  return !instruction.users().empty() || instruction.parent()->root() == &instruction;
}

// True if the value is only moved on its way out of the program: the result itself shows it then.
// (Where it is captured as well, XLA:CPU makes it in another layout, and other bits.) Of linear
// algebra more can be asked where it is captured: properties of the whole array.
bool OnlyLeaves(const Instruction& instruction) {
  // A captured array can be judged by a sample, while the oracle computes a result as a whole.
  if (ProductsOf(instruction) > kManyProducts) return false;
  if (instruction.opcode() == Opcode::kTriangularSolve ||
      instruction.opcode() == Opcode::kCustomCall || instruction.opcode() == Opcode::kCholesky)
    return false;
  const Computation& unit = *instruction.parent();
  // A loop gives only its last state, while a capture of it holds the states of all trips.
  if (&unit != unit.parent()->entry() || instruction.opcode() == Opcode::kWhile) return false;
  std::vector<const Instruction*> work = {&instruction};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const Instruction* user : at->users()) {
      if (user == unit.root() && user->opcode() == Opcode::kTuple) continue;
      if (!Info(user->opcode()).Is(kDataMovement) || user->operand_count() != 1) return false;
      work.push_back(user);
    }
  }
  return true;
}

// False of an array that nobody takes out of the tuple: what a library overwrites, keys of a sort.
bool IsLeafUsed(const Instruction& instruction, int64_t leaf) {
  const Shape& shape = instruction.shape();
  if (shape.IsArray() || instruction.parent()->root() == &instruction) return true;
  int64_t leaves_before = 0;
  for (size_t index = 0; index < shape.elements().size(); ++index) {
    const int64_t next = leaves_before + LeafCount(shape.elements()[index]);
    const bool is_in_it = leaves_before <= leaf && leaf < next;
    leaves_before = next;
    if (!is_in_it) continue;
    return std::any_of(
        instruction.users().begin(), instruction.users().end(), [&](const Instruction* user) {
          return user->opcode() != Opcode::kGetTupleElement ||
                 (user->tuple_index() == static_cast<int64_t>(index) && IsUsed(*user));
        });
  }
  return true;
}

bool IsStatic(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && shape.ElementCount() > 0;
}

// True if state `index` of the loop is worth collecting: it changes from trip to trip, is no
// counter, and is not written piece by piece, which would capture the whole array at every trip.
bool IsStateWorthIt(const Instruction& loop, int64_t index) {
  const Computation& body = *loop.callee(1);
  const Instruction* root = body.root();
  if (root->opcode() != Opcode::kTuple) return true;
  const Instruction* next = root->operand(index);
  auto is_state = [&](const Instruction* value) {
    return value->opcode() == Opcode::kGetTupleElement &&
           value->operand(0)->opcode() == Opcode::kParameter && value->tuple_index() == index;
  };
  if (is_state(next)) return false;
  if (next->opcode() == Opcode::kDynamicUpdateSlice && is_state(next->operand(0))) return false;
  const bool is_counter = next->opcode() == Opcode::kAdd && is_state(next->operand(0)) &&
                          next->operand(1)->opcode() == Opcode::kConstant &&
                          !IsFloat(next->shape().element_type());
  return !is_counter;
}

void AddPoints(const Instruction& instruction, std::vector<CapturePoint>& points) {
  if (!IsUsed(instruction) || OnlyLeaves(instruction)) return;
  if (instruction.opcode() == Opcode::kWhile) {
    if (!instruction.shape().IsTuple()) return;
    int64_t leaf = 0;
    for (size_t i = 0; i < instruction.shape().elements().size(); ++i) {
      const Shape& element = instruction.shape().elements()[i];
      const auto index = static_cast<int64_t>(i);
      if (IsStatic(element) && IsStateWorthIt(instruction, index))
        points.push_back({&instruction, leaf});
      leaf += LeafCount(element);
    }
    return;
  }
  int64_t leaf = 0;
  for (const Shape& shape : LeafShapes(instruction.shape())) {
    if (IsStatic(shape) && IsLeafUsed(instruction, leaf)) points.push_back({&instruction, leaf});
    ++leaf;
  }
}

// The operand that the instruction shows in another order or shape; nothing where it computes.
const Instruction* MovedOperand(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kGetTupleElement) {
    const Instruction* tuple = instruction.operand(0);
    return tuple->opcode() == Opcode::kTuple ? tuple->operand(instruction.tuple_index()) : nullptr;
  }
  const bool is_move =
      Info(instruction.opcode()).Is(kDataMovement) && instruction.operand_count() == 1;
  return is_move ? instruction.operand(0) : nullptr;
}

// The instruction whose result the operand is, moved at most.
const Instruction* SourceThroughMoves(const Instruction* operand) {
  while (const Instruction* source = MovedOperand(*operand)) operand = source;
  return operand;
}

bool CanBeCaptured(const Instruction& instruction) {
  return !ComputesNothing(instruction.opcode()) && instruction.opcode() != Opcode::kConditional &&
         IsStatic(instruction.shape());
}

// Walks back from an instruction to captured values, out of loops and branches into what entered
// them.
class Stretching {
 public:
  explicit Stretching(const absl::flat_hash_set<CapturePoint>& captured) : captured_(captured) {}

  std::vector<const Instruction*> To(const Instruction& end) {
    Reach(&end);
    while (!work_.empty()) {
      const Instruction* at = work_.back();
      work_.pop_back();
      if (at->opcode() == Opcode::kParameter) {
        Enter(*at, -1);
      } else if (at->opcode() == Opcode::kGetTupleElement &&
                 at->operand(0)->opcode() == Opcode::kParameter) {
        Enter(*at->operand(0), at->tuple_index());
      } else if (at->opcode() == Opcode::kGetTupleElement && RunsUnits(*at->operand(0))) {
        LeaveWith(at->operand(0), at->tuple_index());
      } else if (RunsUnits(*at)) {
        LeaveWith(at, -1);
      } else {
        for (const Instruction* operand : at->operands())
          if (!captured_.contains(CapturePoint{operand, 0})) Reach(operand);
      }
    }
    std::vector<const Instruction*> stretch;
    const std::vector<const Computation*> units = CapturableUnits(*end.parent()->parent());
    for (const Computation* unit : units) {
      for (const Instruction* instruction : unit->PostOrder()) {
        const Opcode opcode = instruction->opcode();
        const bool is_plumbing = opcode == Opcode::kGetTupleElement || opcode == Opcode::kTuple ||
                                 opcode == Opcode::kParameter;
        if (!is_plumbing && inside_.contains(instruction)) stretch.push_back(instruction);
      }
    }
    return stretch;
  }

 private:
  void Reach(const Instruction* instruction) {
    if (inside_.insert(instruction).second) work_.push_back(instruction);
  }

  // Follows the value that entered the loop or branch as this parameter, or as its element `index`.
  void Enter(const Instruction& parameter, int64_t index) {
    const Computation* unit = parameter.parent();
    const Module& module = *unit->parent();
    if (unit == module.entry()) return;
    for (const Instruction* caller : module.Callers(unit)) {
      if (caller->opcode() == Opcode::kWhile) {
        EnterWith(caller->operand(0), index);
        // The trip before gave it.
        ReachRoot(*unit, *caller, index);
      } else if (caller->opcode() == Opcode::kConditional) {
        for (size_t b = 0; b < caller->callees().size(); ++b)
          if (caller->callees()[b] == unit)
            EnterWith(caller->operand(static_cast<int64_t>(b) + 1), index);
      }
    }
  }

  static bool RunsUnits(const Instruction& instruction) {
    return instruction.opcode() == Opcode::kWhile || instruction.opcode() == Opcode::kConditional;
  }

  // Leaves a loop or branch by its result, or by element `index` of it: the values inside that lead
  // to it, and those that entered.
  void LeaveWith(const Instruction* caller, int64_t index) {
    inside_.insert(caller);
    if (caller->opcode() == Opcode::kWhile) {
      if (ReachRoot(*caller->callee(1), *caller, index)) EnterWith(caller->operand(0), index);
      return;
    }
    if (!captured_.contains(CapturePoint{caller->operand(0), 0})) Reach(caller->operand(0));
    for (const Computation* branch : caller->callees()) ReachRoot(*branch, *caller, index);
  }

  // Reaches the root of what the caller runs, or element `index` of it; false if that was captured.
  bool ReachRoot(const Computation& unit, const Instruction& caller, int64_t index) {
    const Instruction* root = unit.root();
    if (index < 0 || root->opcode() != Opcode::kTuple) {
      Reach(root);
      return true;
    }
    int64_t leaf = 0;
    for (int64_t k = 0; k < index; ++k) leaf += LeafCount(caller.shape().elements()[k]);
    if (captured_.contains(CapturePoint{&caller, leaf})) return false;
    if (!captured_.contains(CapturePoint{root->operand(index), 0})) Reach(root->operand(index));
    return true;
  }

  void EnterWith(const Instruction* given, int64_t index) {
    if (index >= 0 && given->opcode() == Opcode::kTuple) given = given->operand(index);
    if (!captured_.contains(CapturePoint{given, 0})) Reach(given);
  }

  const absl::flat_hash_set<CapturePoint>& captured_;
  absl::flat_hash_set<const Instruction*> inside_;
  std::vector<const Instruction*> work_;
};

}  // namespace

std::vector<const Computation*> CapturableUnits(const Module& flat) {
  std::vector<const Computation*> units = {flat.entry()};
  for (size_t next = 0; next < units.size(); ++next) {
    for (const Instruction* instruction : *units[next]) {
      if (instruction->opcode() == Opcode::kWhile) units.push_back(instruction->callee(1));
      if (instruction->opcode() == Opcode::kConditional)
        units.insert(units.end(), instruction->callees().begin(), instruction->callees().end());
    }
  }
  return units;
}

bool ComputesNothing(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

bool IsOneForAllReaders(const Instruction& instruction) {
  return WorthOf(instruction) != Worth::kNone;
}

std::vector<CapturePoint> SumsOf(const Module& flat, bool only_contractions) {
  std::vector<CapturePoint> points;
  for (const Computation* unit : CapturableUnits(flat)) {
    for (const Instruction* instruction : *unit) {
      const Worth worth = WorthOf(*instruction);
      const bool is_wanted =
          worth == Worth::kContraction || (worth == Worth::kSum && !only_contractions);
      if (is_wanted) AddPoints(*instruction, points);
    }
  }
  return points;
}

std::vector<CapturePoint> AllPoints(const Module& flat) {
  std::vector<CapturePoint> points;
  for (const Computation* unit : CapturableUnits(flat)) {
    for (const Instruction* instruction : *unit)
      if (CanBeCaptured(*instruction) && IsUsed(*instruction)) points.push_back({instruction, 0});
  }
  return points;
}

std::vector<CapturePoint> PointsAlike(const Module& flat, absl::Span<const CapturePoint> points) {
  absl::flat_hash_set<std::string> kinds;
  auto kind_of = [](const Instruction& instruction) {
    return StrCat(Name(instruction.opcode()), " ", instruction.shape().ToString());
  };
  for (const CapturePoint& point : points) kinds.insert(kind_of(*point.instruction));
  std::vector<CapturePoint> alike;
  for (const CapturePoint& point : AllPoints(flat))
    if (kinds.contains(kind_of(*point.instruction))) alike.push_back(point);
  return alike;
}

std::vector<const Instruction*> Losses(const Module& flat, const UselessElements& useless,
                                       const absl::flat_hash_set<CapturePoint>& captured) {
  auto is_useless = [&](const Instruction* instruction) {
    // A captured array is read as it was seen.
    if (captured.contains(CapturePoint{instruction, 0})) return false;
    auto found = useless.find(CapturePoint{instruction, 0});
    return found != useless.end() && found->second > 0;
  };
  std::vector<const Instruction*> losses;
  for (const Computation* unit : CapturableUnits(flat)) {
    for (const Instruction* instruction : *unit) {
      auto found = useless.find(CapturePoint{instruction, 0});
      if (found == useless.end() || found->second == 0) continue;
      const bool is_first =
          std::none_of(instruction->operands().begin(), instruction->operands().end(), is_useless);
      if (is_first) losses.push_back(instruction);
    }
  }
  return losses;
}

std::vector<CapturePoint> AroundLosses(absl::Span<const Instruction* const> losses,
                                       const absl::flat_hash_set<CapturePoint>& captured) {
  std::vector<CapturePoint> points;
  absl::flat_hash_set<CapturePoint> seen = captured;
  auto add = [&](const Instruction* instruction) {
    if (CanBeCaptured(*instruction) && seen.insert({instruction, 0}).second)
      points.push_back({instruction, 0});
  };
  for (const Instruction* loss : losses) {
    for (const Instruction* operand : loss->operands()) add(SourceThroughMoves(operand));
    add(SourceThroughMoves(loss));
  }
  return points;
}

std::vector<CapturePoint> NearestCaptures(const Instruction& instruction,
                                          const absl::flat_hash_set<CapturePoint>& captured) {
  std::vector<CapturePoint> nearest;
  absl::flat_hash_set<const Instruction*> seen = {&instruction};
  std::vector<const Instruction*> work = {&instruction};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    if (captured.contains(CapturePoint{at, 0})) {
      nearest.push_back({at, 0});
      continue;
    }
    for (const Instruction* operand : at->operands())
      if (seen.insert(operand).second) work.push_back(operand);
  }
  return nearest;
}

std::optional<CapturePoint> CapturedSource(const Instruction& instruction,
                                           const absl::flat_hash_set<CapturePoint>& captured) {
  for (const Instruction* at = &instruction; at != nullptr; at = MovedOperand(*at)) {
    const bool is_state =
        at->opcode() == Opcode::kGetTupleElement && at->operand(0)->opcode() == Opcode::kWhile;
    const CapturePoint point =
        is_state ? CapturePoint{at->operand(0), at->tuple_index()} : CapturePoint{at, 0};
    if (captured.contains(point)) return point;
  }
  return std::nullopt;
}

std::vector<const Instruction*> StretchOf(const CapturePoint& point,
                                          const absl::flat_hash_set<CapturePoint>& captured) {
  Stretching stretching(captured);
  const Instruction* end = point.instruction;
  if (end->opcode() == Opcode::kWhile) {
    // Its state after a trip comes of the body.
    end = end->callee(1)->root();
    if (end->opcode() == Opcode::kTuple && point.leaf < end->operand_count())
      end = end->operand(point.leaf);
  }
  return stretching.To(*end);
}

bool QuietCaptures::Grow(absl::Span<const CapturePoint> points) {
  const size_t before = points_.size();
  std::vector<CapturePoint> fresh;
  for (const CapturePoint& point : points)
    if (tried_.insert(point).second) fresh.push_back(point);
  TryTogether(fresh);
  return points_.size() > before;
}

void QuietCaptures::TryTogether(absl::Span<const CapturePoint> points) {
  if (points.empty() || trials_left_ == 0) return;
  --trials_left_;
  std::vector<CapturePoint> together = points_;
  together.insert(together.end(), points.begin(), points.end());
  if (is_quiet_(together)) {
    points_ = std::move(together);
  } else if (points.size() > 1) {
    TryTogether(points.first(points.size() / 2));
    TryTogether(points.subspan(points.size() / 2));
  }
}

}  // namespace assay
