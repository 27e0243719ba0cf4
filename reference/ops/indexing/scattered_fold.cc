// Sorts updates by the element that they reach and folds those of each element.
#include "reference/ops/indexing/scattered_fold.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/values/leaves.h"
#include "reference/values/row_choice.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// The updates that go to each element from `first` to `last`, in order; elements without any are
// left out. Result o of the fold is the o-th element that has some.
class UpdatesByElement : public FoldTerms {
 public:
  UpdatesByElement(const Destinations& destinations, int64_t first, int64_t last) {
    IndexMap counts(last - first, 0);
    for (int64_t at : destinations.plain)
      if (at >= first && at < last) ++counts[at - first];
    IndexMap slot(last - first, -1);
    begins_.push_back(0);
    for (int64_t e = first; e < last; ++e) {
      if (counts[e - first] == 0) continue;
      slot[e - first] = static_cast<int64_t>(elements_.size());
      elements_.push_back(e);
      begins_.push_back(begins_.back() + counts[e - first]);
    }
    updates_.resize(begins_.back());
    IndexMap next(begins_.begin(), begins_.end() - 1);
    for (size_t u = 0; u < destinations.plain.size(); ++u) {
      const int64_t at = destinations.plain[u];
      if (at >= first && at < last) updates_[next[slot[at - first]]++] = static_cast<int64_t>(u);
    }
  }

  int64_t results() const override { return static_cast<int64_t>(elements_.size()); }
  int64_t InitOf(int64_t o) const override { return elements_[o]; }
  void List(int64_t o, IndexMap& terms) const override {
    terms.assign(updates_.begin() + begins_[o], updates_.begin() + begins_[o + 1]);
  }
  absl::Span<const int64_t> UpdatesOf(int64_t o) const {
    return absl::MakeConstSpan(updates_).subspan(begins_[o], begins_[o + 1] - begins_[o]);
  }

 private:
  IndexMap elements_, begins_, updates_;
};

// True if the combiner returns its N updates, parameters N to 2N - 1.
bool IsOverwrite(const Computation& combiner) {
  const Instruction* root = combiner.root();
  const int64_t n = combiner.parameter_count() / 2;
  if (n == 1) return root == combiner.parameter(1);
  if (root->opcode() != Opcode::kTuple) return false;
  for (int64_t k = 0; k < n; ++k)
    if (root->operand(k) != combiner.parameter(n + k)) return false;
  return true;
}

// The last update wins.
// UNSPECIFIED(operation semantics 9, Scatter): which of several updates of an element is the last.
void Overwrite(const UpdatesByElement& updates, const Array& update, bool bounding, Array& result) {
  for (int64_t o = 0; o < updates.results(); ++o) {
    const absl::Span<const int64_t> candidates = updates.UpdatesOf(o);
    const int64_t element = updates.InitOf(o);
    CopyElements(update, candidates.back(), result, element, 1);
    for (size_t k = 0; bounding && k + 1 < candidates.size(); ++k)
      HullWith(update, candidates[k], result, element);
  }
}

// True if no update is sure to go to the o-th element that has some.
bool MayStay(const Destinations& destinations, const UpdatesByElement& updates, int64_t o) {
  if (destinations.unsure.empty()) return false;
  for (int64_t u : updates.UpdatesOf(o))
    if (!destinations.unsure[u]) return false;
  return true;
}

// Elements to which no update is sure to go may also stay what they are in the operand.
void BoundUnsureElements(const Destinations& destinations, const UpdatesByElement& updates,
                         const Array& operand, Array& result) {
  for (int64_t o = 0; o < updates.results(); ++o) {
    if (MayStay(destinations, updates, o))
      HullWith(operand, updates.InitOf(o), result, updates.InitOf(o));
  }
}

// The update that wins is the same in all results.
void JoinResults(const ScatteredFold& fold, const UpdatesByElement& updates,
                 std::vector<Array>& results) {
  const auto columns = static_cast<int64_t>(results.size());
  for (int64_t o = 0; o < updates.results(); ++o) {
    const bool may_stay = MayStay(fold.destinations, updates, o);
    if (updates.UpdatesOf(o).size() + (may_stay ? 1 : 0) < 2) continue;
    const int64_t element = updates.InitOf(o);
    RowChoice choice(columns, 1);
    for (int64_t u : updates.UpdatesOf(o)) choice.AddRow(fold.updates, u, 0, 0);
    if (may_stay) choice.AddRow(fold.operands, element, 0, 0);
    const auto joint = JointOf(
        StrCat("the last update of an element by ", fold.op.instruction.name()), std::move(choice));
    for (int64_t n = 0; n < columns; ++n)
      if (!HasKnownCode(results[n], element, true)) SetJoint(results[n], element, joint, n);
  }
}

// Elements to which updates of uncertain destination may go may be overwritten.
void BoundPossible(const Destinations& destinations, const Array& update, Array& result) {
  for (const Destinations::Possible& may : destinations.possible)
    HullWith(update, may.update, result, may.element);
}

// Elements with which updates of uncertain destination may be combined. Where there is one such
// update, and it goes there or nowhere, the element is what comes out with or without it; two of
// them may be taken in four ways, and each order is another.
absl::Status BoundUnsureCombinations(Interpreter& interpreter, const ScatteredFold& fold,
                                     std::vector<Array>& results) {
  const Destinations& destinations = fold.destinations;
  absl::flat_hash_map<int64_t, int64_t> unsure;  // how many updates may be left out, by element
  Destinations without{destinations.plain, {}, {}};
  for (size_t u = 0; u < destinations.unsure.size(); ++u) {
    if (!destinations.unsure[u] || destinations.plain[u] < 0) continue;
    ++unsure[destinations.plain[u]];
    without.plain[u] = -1;
  }
  for (const Destinations::Possible& may : destinations.possible) unsure[may.element] += 2;
  ASSAY_ASSIGN_OR_RETURN(const Value rest, CombineScattered(interpreter, {.op = fold.op,
                                                                          .combiner = fold.combiner,
                                                                          .operands = fold.operands,
                                                                          .updates = fold.updates,
                                                                          .destinations = without,
                                                                          .unique = fold.unique}));
  const std::vector<const Array*> others = ArraysOf(rest);
  for (size_t n = 0; n < results.size(); ++n) {
    for (const auto& [element, count] : unsure) {
      if (count == 1) {
        HullWith(*others[n], element, results[n], element);
      } else {
        SetUndecided(results[n], element);
      }
    }
  }
  return absl::OkStatus();
}

// UNSPECIFIED(operation semantics 9, Scatter): elements with several updates where unique_indices
// promises at most one.
void BoundBrokenPromise(const UpdatesByElement& updates, Array& result) {
  for (int64_t o = 0; o < updates.results(); ++o)
    if (updates.UpdatesOf(o).size() > 1) SetUndecided(result, updates.InitOf(o));
}

}  // namespace

absl::StatusOr<Value> CombineScattered(Interpreter& interpreter, const ScatteredFold& fold) {
  const Destinations& destinations = fold.destinations;
  const bool overwrite = IsOverwrite(fold.combiner), bounding = interpreter.bounding();
  const bool unsure = !destinations.unsure.empty() || !destinations.possible.empty();
  std::vector<Array> results;
  for (size_t n = 0; n < fold.operands.size(); ++n) {
    results.push_back(*fold.operands[n]);
    // Combining elements does not move them.
    results[n].facts().nan_bits =
        overwrite && results[n].facts().nan_bits && fold.updates[n]->facts().nan_bits;
  }
  const int64_t elements = fold.operands[0]->literal.element_count();
  // The operand is updated part by part: the list of updates by element would otherwise take many
  // times the memory of the elements themselves.
  const int64_t part = std::max<int64_t>(int64_t{1} << 16, elements / 16);
  for (int64_t first = 0; first < elements; first += part) {
    const UpdatesByElement updates(destinations, first, std::min(elements, first + part));
    if (overwrite) {
      for (size_t n = 0; n < results.size(); ++n)
        Overwrite(updates, *fold.updates[n], bounding, results[n]);
    } else {
      const int64_t count = updates.results();
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Array> combined,
                             Fold(interpreter, {.op = fold.op,
                                                .combiner = fold.combiner,
                                                .inputs = fold.updates,
                                                .inits = fold.operands,
                                                .terms = updates,
                                                .dimensions = absl::MakeConstSpan(&count, 1),
                                                .rules = {.stepwise = true, .any_order = true}}));
      for (size_t n = 0; n < results.size(); ++n)
        for (int64_t o = 0; o < count; ++o)
          CopyElements(combined[n], o, results[n], updates.InitOf(o), 1);
    }
    for (size_t n = 0; bounding && unsure && overwrite && n < results.size(); ++n)
      BoundUnsureElements(destinations, updates, *fold.operands[n], results[n]);
    if (bounding && overwrite && results.size() > 1) JoinResults(fold, updates, results);
    for (size_t n = 0; bounding && n < results.size(); ++n) {
      if (fold.unique) BoundBrokenPromise(updates, results[n]);
    }
  }
  for (size_t n = 0; bounding && unsure && overwrite && n < results.size(); ++n)
    BoundPossible(destinations, *fold.updates[n], results[n]);
  if (bounding && unsure && !overwrite) {
    ASSAY_RETURN_IF_ERROR(BoundUnsureCombinations(interpreter, fold, results));
  }
  return ValueOfLeaves(std::move(results), fold.op.shape, interpreter.memory());
}

}  // namespace assay::reference
