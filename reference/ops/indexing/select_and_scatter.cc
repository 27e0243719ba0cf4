// SelectAndScatter. Document: operation semantics chapter 10, SelectAndScatter.
#include <algorithm>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/element_computation.h"
#include "reference/ops/indexing/scattered_fold.h"
#include "reference/ops/reduction/windows.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Finds the element of every window that survives when its elements are compared in order, where
// select(choice, candidate) says that the choice so far is kept. Where an answer is open, both ways
// are followed: an element that was dropped on one of them may win on the other, and select need
// not be an order.
class Selection {
 public:
  Selection(Interpreter& interpreter, const OpContext& op, const WindowTerms& windows)
      : interpreter_(interpreter),
        operand_(op.array(0)),
        select_(*op.instruction.callee(0)),
        windows_(windows) {}

  absl::StatusOr<Destinations> Run() {
    constexpr int64_t kTogether = 1 << 14;
    const int64_t count = windows_.results();
    Destinations chosen;
    chosen.plain.assign(count, -1);
    for (int64_t first = 0; first < count; first += kTogether) {
      ASSAY_RETURN_IF_ERROR(Choose(first, std::min(count, first + kTogether), chosen));
    }
    return chosen;
  }

 private:
  // With more possible choices at a time every element of the window is possible, so that the work
  // stays linear in the size of the window.
  static constexpr size_t kMostFollowed = 32;

  struct Window {
    IndexMap elements;
    // The elements that may be the choice so far, the plain one first.
    IndexMap choices;
    bool is_any = false;  // there were too many to follow: choices holds the plain one alone
  };

  // Chooses for the windows from `first` to `last`, for all of them one candidate at a time.
  absl::Status Choose(int64_t first, int64_t last, Destinations& chosen) {
    std::vector<Window> windows(last - first);
    size_t longest = 0;
    for (int64_t o = first; o < last; ++o) {
      Window& window = windows[o - first];
      windows_.List(o, window.elements);
      if (!window.elements.empty()) window.choices = {window.elements[0]};
      longest = std::max(longest, window.elements.size());
    }
    for (size_t k = 1; k < longest; ++k) ASSAY_RETURN_IF_ERROR(TakeCandidates(k, windows));
    for (int64_t o = first; o < last; ++o) {
      const Window& window = windows[o - first];
      if (!window.choices.empty()) chosen.plain[o] = window.choices[0];
      if (window.choices.size() > 1 || window.is_any)
        AddPossible(o, window.is_any ? window.elements : window.choices, chosen);
    }
    return absl::OkStatus();
  }

  // Compares element k of every window that has one with all that may be chosen so far.
  absl::Status TakeCandidates(size_t k, std::vector<Window>& windows) {
    IndexMap choices, candidates;
    for (const Window& window : windows) {
      if (window.elements.size() <= k) continue;
      choices.insert(choices.end(), window.choices.begin(), window.choices.end());
      candidates.resize(choices.size(), window.elements[k]);
    }
    if (choices.empty()) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const Value keep, Keeps(choices, candidates));
    int64_t at = 0;
    for (Window& window : windows) {
      if (window.elements.size() <= k) continue;
      TakeAnswers(*keep.array, at, window.elements[k], window);
    }
    return absl::OkStatus();
  }

  // Takes the answers for the choices of a window, which begin at `at`, and moves `at` past them.
  static void TakeAnswers(const Array& answers, int64_t& at, int64_t candidate, Window& window) {
    IndexMap kept;
    bool may_replace = false;
    const bool plain_replaces = answers.literal.GetBits(at) == 0;
    for (int64_t choice : window.choices) {
      const bool is_open = answers.facts().choices.contains(at);
      const bool keeps = answers.literal.GetBits(at) != 0;
      if (is_open || keeps) kept.push_back(choice);
      may_replace = may_replace || is_open || !keeps;
      ++at;
    }
    if (may_replace) kept.insert(plain_replaces ? kept.begin() : kept.end(), candidate);
    window.choices = std::move(kept);
    if (window.choices.size() > kMostFollowed) window.is_any = true;
    if (window.is_any) window.choices.resize(1);
  }

  absl::StatusOr<Value> Keeps(const IndexMap& choices, const IndexMap& candidates) {
    const auto count = static_cast<int64_t>(choices.size());
    ASSAY_RETURN_IF_ERROR(interpreter_.budget().Take(count));
    MemoryMeter& memory = interpreter_.memory();
    const Value arguments[] = {PickElements(operand_, choices, memory),
                               PickElements(operand_, candidates, memory)};
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> keep,
                           ApplyToElements(interpreter_, select_, arguments, {count}));
    return std::move(keep[0]);
  }

  static void AddPossible(int64_t o, const IndexMap& elements, Destinations& chosen) {
    if (chosen.unsure.empty()) chosen.unsure.resize(chosen.plain.size());
    chosen.unsure[o] = true;
    for (int64_t element : elements) chosen.possible.push_back({element, o});
  }

  Interpreter& interpreter_;
  const Array& operand_;
  const Computation& select_;
  const WindowTerms& windows_;
};

// Makes every element of `result` the scalar.
absl::Status Fill(const Array& scalar, Array& result) {
  const IndexMap zeros(result.literal.element_count(), 0);
  if (!scalar.Certain()) MoveBounds(scalar, zeros, result);
  return MoveElements(scalar.literal, zeros, result.literal);
}

}  // namespace

absl::StatusOr<Value> ApplySelectAndScatter(Interpreter& interpreter, const OpContext& op) {
  const Literal& source = op.literal(1);
  for (int64_t need : {op.shape.ByteSize(), 8 * source.element_count()})
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(need));
  const WindowTerms windows(op.literal(0).shape(),
                            op.instruction.attributes().Window(Attr::kWindow),
                            source.shape().dimensions());
  ASSAY_RETURN_IF_ERROR(windows.TakeSteps(interpreter.budget(), /*visiting=*/false));
  ASSAY_ASSIGN_OR_RETURN(Destinations destinations, Selection(interpreter, op, windows).Run());
  Array initial{Literal(op.shape)};
  ASSAY_RETURN_IF_ERROR(Fill(op.array(2), initial));
  const Array *operand = &initial, *updates = &op.array(1);
  return CombineScattered(interpreter, {.op = op,
                                        .combiner = *op.instruction.callee(1),
                                        .operands = {&operand, 1},
                                        .updates = {&updates, 1},
                                        .destinations = destinations});
}

}  // namespace assay::reference
