#include "reference/scattered_fold.h"

#include <algorithm>

#include "reference/bounds/elements.h"

namespace assay::reference {
namespace {

// The updates of each element that has any, in order.
class Hits : public FoldTerms {
 public:
  Hits(const Destinations& destinations, int64_t elements) {
    IndexMap counts(elements, 0);
    for (int64_t at : destinations.plain)
      if (at >= 0) ++counts[at];
    IndexMap slot(elements, -1);
    begins_.push_back(0);
    for (int64_t e = 0; e < elements; ++e) {
      if (counts[e] == 0) continue;
      slot[e] = static_cast<int64_t>(elements_.size());
      elements_.push_back(e);
      begins_.push_back(begins_.back() + counts[e]);
    }
    updates_.resize(begins_.back());
    IndexMap next(begins_.begin(), begins_.end() - 1);
    for (size_t u = 0; u < destinations.plain.size(); ++u) {
      const int64_t at = destinations.plain[u];
      if (at >= 0) updates_[next[slot[at]]++] = static_cast<int64_t>(u);
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

// Whether the combiner returns its N updates, parameters N to 2N - 1.
bool IsOverwrite(const Computation& combiner) {
  const Instruction* root = combiner.root();
  const int64_t n = combiner.parameter_count() / 2;
  if (n == 1) return root == combiner.parameter(1);
  if (root->opcode() != Opcode::kTuple) return false;
  for (int64_t k = 0; k < n; ++k)
    if (root->operand(k) != combiner.parameter(n + k)) return false;
  return true;
}

void CopyElement(const Array& source, int64_t from, Array& result, int64_t to) {
  const size_t width = StorageBytes(result.literal.element_type());
  std::memcpy(result.literal.bytes().data() + to * width,
              source.literal.bytes().data() + from * width, width);
  if (!source.Certain() || !result.Certain()) MoveBound(source, from, result, to);
}

// The last update wins; any of several may be the last.
void Overwrite(const Hits& hits, const Array& update, bool bounding, Array& result) {
  for (int64_t o = 0; o < hits.results(); ++o) {
    const absl::Span<const int64_t> updates = hits.UpdatesOf(o);
    const int64_t element = hits.InitOf(o);
    CopyElement(update, updates.back(), result, element);
    for (size_t k = 0; bounding && k + 1 < updates.size(); ++k)
      HullWith(update, updates[k], result, element);
  }
}

// What updates of uncertain destination add to the possibilities.
void BoundUnsure(const Destinations& destinations, const Hits& hits, bool overwrite,
                 const Array& operand, const Array& update, Array& result) {
  if (!overwrite) {
    for (const Destinations::Possible& may : destinations.possible)
      SetUndecided(result, may.element);
    for (size_t u = 0; u < destinations.unsure.size(); ++u)
      if (destinations.unsure[u] && destinations.plain[u] >= 0)
        SetUndecided(result, destinations.plain[u]);
    return;
  }
  // The operand's element stays where no update is sure to go.
  for (int64_t o = 0; o < hits.results(); ++o) {
    bool sure = false;
    for (int64_t u : hits.UpdatesOf(o))
      sure = sure || destinations.unsure.empty() || !destinations.unsure[u];
    if (!sure) HullWith(operand, hits.InitOf(o), result, hits.InitOf(o));
  }
  for (const Destinations::Possible& may : destinations.possible)
    HullWith(update, may.update, result, may.element);
}

// More than one update in a place where the op promised one: nothing is promised in return.
void BoundBrokenPromise(const Hits& hits, Array& result) {
  for (int64_t o = 0; o < hits.results(); ++o)
    if (hits.UpdatesOf(o).size() > 1) SetUndecided(result, hits.InitOf(o));
}

}  // namespace

absl::StatusOr<Value> CombineScattered(Interpreter& interpreter, const OpContext& op,
                                       const Computation& combiner,
                                       absl::Span<const Array* const> operands,
                                       absl::Span<const Array* const> updates,
                                       const Destinations& destinations, bool unique) {
  const Hits hits(destinations, operands[0]->literal.element_count());
  const bool overwrite = IsOverwrite(combiner), bounding = interpreter.bounding();
  std::vector<Array> results;
  for (const Array* operand : operands) results.push_back(*operand);
  if (overwrite) {
    for (size_t n = 0; n < results.size(); ++n) Overwrite(hits, *updates[n], bounding, results[n]);
  } else {
    absl::StatusOr<std::vector<Array>> combined =
        Fold(interpreter, op, combiner, updates, operands, hits, {hits.results()},
             {.stepwise = true, .any_order = true});
    if (!combined.ok()) return combined.status();
    for (size_t n = 0; n < results.size(); ++n)
      for (int64_t o = 0; o < hits.results(); ++o)
        CopyElement((*combined)[n], o, results[n], hits.InitOf(o));
  }
  for (size_t n = 0; bounding && n < results.size(); ++n) {
    if (!destinations.unsure.empty() || !destinations.possible.empty())
      BoundUnsure(destinations, hits, overwrite, *operands[n], *updates[n], results[n]);
    if (unique) BoundBrokenPromise(hits, results[n]);
  }
  return Collate(std::move(results), op.shape.IsTuple(), interpreter.memory());
}

}  // namespace assay::reference
