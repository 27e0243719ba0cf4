// Elements of which no bound can say whether they are right, held against what random legal
// evaluations give for them. That is a hint and no verdict. Design: "Deep programs are cut".
#pragma once

#include <string>
#include <vector>

#include "spec/backend/captures.h"
#include "spec/backend/oracle.h"
#include "spec/types/literal.h"

namespace assay {

// The answer of random legal evaluations on elements that stay undecided. None of it counts as
// passed or failed.
struct DrawComparison {
  int64_t draws = 0;  // evaluations; 0: there was no comparison
  int64_t plausible = 0, suspect = 0;
  std::string furthest;  // one line: the suspect that lies furthest out
};

// A program, what was seen of a run of it, and how much is to be drawn. All of it outlives the
// comparison.
struct DrawSubject {
  const Module& module;
  const std::vector<const Literal*>& arguments;
  Oracle& oracle;
  const Limits& limits;
  std::vector<Capture>& captures;  // lent to the oracle meanwhile
  const std::vector<Literal>& results;
  int draws = 0;
  uint64_t seed = 1;
  double until = 0;  // by Now(): no further evaluation begins then
};

// `open`: elements of every captured array in the order of evaluation, then of every result.
DrawComparison CompareWithLegalValues(const DrawSubject& subject, const ElementLists& open);

// For people: one line.
std::string Describe(const DrawComparison& comparison);

class DrawnSpread {
 public:
  // `looked_at` outlives it: rising linear indices, a list for each array.
  explicit DrawnSpread(const ElementLists& looked_at);

  // The values of one legal evaluation for a list, beside what was seen of the whole array. `drawn`
  // is the whole array, too, or (`is_whole` false) the list alone, and `seen` with it.
  void Add(size_t list, const Literal& drawn, const Literal& seen, bool is_whole);

  // Plausible is what an evaluation gave as it was seen, or what lies within the spread of all
  // evaluations widened to both sides by that spread and a unit in the last place, to which
  // evaluations are rounded. All else is suspect.
  int64_t plausible() const;
  int64_t suspect() const;
  // The suspect that lies furthest out in parts of its spread; -1: there is none.
  int64_t furthest_list() const { return Furthest().list; }
  int64_t furthest_element() const { return Furthest().element; }
  // "seen 3, legal evaluations give 1 to 1.5".
  std::string Describe() const;

 private:
  // One number: of a complex element there are two.
  struct Slot {
    double low = 0, high = 0, seen = 0, unit = 0;
    int64_t draws = 0;
    bool is_met = false, was_nan = false;

    double Beyond() const;  // of the widened spread, in parts of it; 0: within
  };
  struct Place {
    int64_t list = -1, element = -1, slot = 0;
  };
  Place Furthest() const;
  bool IsSuspect(size_t list, size_t k) const;

  const ElementLists& looked_at_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<int64_t> parts_;  // slots of an element, by list
};

}  // namespace assay
