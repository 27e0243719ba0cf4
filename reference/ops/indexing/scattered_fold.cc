#include "reference/ops/indexing/scattered_fold.h"

#include <algorithm>

#include "reference/bounds/elements.h"

namespace assay::reference {
namespace {

// The updates of each element from `first` to `last` that has any, in order.
class Hits : public FoldTerms {
 public:
  Hits(const Destinations& destinations, int64_t first, int64_t last) {
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

// What updates of uncertain destination add to the possibilities: the operand's element stays where
// no update is sure to go, ...
void BoundUnsureHits(const Destinations& destinations, const Hits& hits, const Array& operand,
                     Array& result) {
  for (int64_t o = 0; o < hits.results(); ++o) {
    bool sure = false;
    for (int64_t u : hits.UpdatesOf(o))
      sure = sure || destinations.unsure.empty() || !destinations.unsure[u];
    if (!sure) HullWith(operand, hits.InitOf(o), result, hits.InitOf(o));
  }
}

// ... and other elements may be overwritten or combined with.
void BoundPossible(const Destinations& destinations, bool overwrite, const Array& update,
                   Array& result) {
  for (const Destinations::Possible& may : destinations.possible) {
    if (overwrite) {
      HullWith(update, may.update, result, may.element);
    } else {
      SetUndecided(result, may.element);
    }
  }
  for (size_t u = 0; !overwrite && u < destinations.unsure.size(); ++u)
    if (destinations.unsure[u] && destinations.plain[u] >= 0)
      SetUndecided(result, destinations.plain[u]);
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
  const bool overwrite = IsOverwrite(combiner), bounding = interpreter.bounding();
  const bool unsure = !destinations.unsure.empty() || !destinations.possible.empty();
  std::vector<Array> results;
  for (const Array* operand : operands) results.push_back(*operand);
  const int64_t elements = operands[0]->literal.element_count();
  // Part after part: who updates whom would otherwise take many times the elements themselves.
  const int64_t part = std::max<int64_t>(int64_t{1} << 16, elements / 16);
  for (int64_t first = 0; first < elements; first += part) {
    const Hits hits(destinations, first, std::min(elements, first + part));
    if (overwrite) {
      for (size_t n = 0; n < results.size(); ++n)
        Overwrite(hits, *updates[n], bounding, results[n]);
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
      if (unsure && overwrite) BoundUnsureHits(destinations, hits, *operands[n], results[n]);
      if (unique) BoundBrokenPromise(hits, results[n]);
    }
  }
  for (size_t n = 0; bounding && unsure && n < results.size(); ++n)
    BoundPossible(destinations, overwrite, *updates[n], results[n]);
  return Collate(std::move(results), op.shape.IsTuple(), interpreter.memory());
}

}  // namespace assay::reference
