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
// select(choice, candidate) says that the choice so far is kept.
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
      absl::Status status = Choose(first, std::min(count, first + kTogether), chosen);
      if (!status.ok()) return status;
    }
    return chosen;
  }

 private:
  // Chooses for the windows from `first` to `last`, for all of them one candidate at a time.
  absl::Status Choose(int64_t first, int64_t last, Destinations& chosen) {
    std::vector<IndexMap> lists(last - first);
    size_t longest = 0;
    for (int64_t o = first; o < last; ++o) {
      IndexMap& list = lists[o - first];
      windows_.List(o, list);
      if (!list.empty()) chosen.plain[o] = list[0];
      longest = std::max(longest, list.size());
    }
    std::vector<bool> suspect(last - first, false);
    for (size_t k = 1; k < longest; ++k) {
      IndexMap open, choices, candidates;
      for (int64_t o = first; o < last; ++o) {
        if (lists[o - first].size() <= k) continue;
        open.push_back(o);
        choices.push_back(chosen.plain[o]);
        candidates.push_back(lists[o - first][k]);
      }
      ASSAY_ASSIGN_OR_RETURN(Value keep, Keeps(choices, candidates));
      const Array& answers = *keep.array;
      for (size_t i = 0; i < open.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (answers.literal.GetBits(at) == 0) chosen.plain[open[i]] = candidates[i];
        if (answers.choices.contains(at)) suspect[open[i] - first] = true;
      }
    }
    for (int64_t o = first; o < last; ++o) {
      if (!suspect[o - first]) continue;
      ASSAY_RETURN_IF_ERROR(AddPossible(o, lists[o - first], chosen));
    }
    return absl::OkStatus();
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

  // Makes every element of window o possible that no other one beats with certainty. In a window
  // that has too many pairs to compare, that is every element.
  absl::Status AddPossible(int64_t o, const IndexMap& list, Destinations& chosen) {
    constexpr size_t kMostCompared = 1024;
    if (chosen.unsure.empty()) chosen.unsure.resize(chosen.plain.size());
    chosen.unsure[o] = true;
    if (list.size() > kMostCompared) {
      for (int64_t element : list) chosen.possible.push_back({element, o});
      return absl::OkStatus();
    }
    IndexMap earlier, later;
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t a = 0; a < list.size(); ++a) {
      for (size_t b = a + 1; b < list.size(); ++b) {
        earlier.push_back(list[a]);
        later.push_back(list[b]);
        pairs.push_back({a, b});
      }
    }
    ASSAY_ASSIGN_OR_RETURN(Value keep, Keeps(earlier, later));
    std::vector<bool> beaten(list.size(), false);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (keep.array->choices.contains(at)) continue;
      const bool kept = keep.array->literal.GetBits(at) != 0;
      beaten[kept ? pairs[i].second : pairs[i].first] = true;
    }
    for (size_t k = 0; k < list.size(); ++k)
      if (!beaten[k] || list[k] == chosen.plain[o]) chosen.possible.push_back({list[k], o});
    return absl::OkStatus();
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
  ASSAY_RETURN_IF_ERROR(windows.TakeSteps(interpreter.budget()));
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
