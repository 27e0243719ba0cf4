// Tells of two culprits that are not equal whether they are probably the same bug, by the rows of
// the peer's data (fuzz/backends/peer.h). Nothing is merged by it: lists say so.
#pragma once

#include <string>

#include "fuzz/backends/peer.h"
#include "fuzz/culprit.h"

namespace assay {

// One finding that triage has reduced.
struct Reduced {
  const Culprit& culprit;
  bool is_smallest = true;  // the reducer came to its end
};

// Why the two are probably one bug, by the first row of Peer::same that holds; "" where none does.
// `large` has at least as many ops. A row says
//   both, or one and other   what each has to have, in either order; any of
//     kind, pass, op, numbers  one of these, or by without_FIELD none
//     causes, without_causes   all of these, or none
//     some, within             one op of these, or all of its ops are
//     is_smallest              whether the reducer came to its end
//   equal   fields that have to agree; states: no flag tells them apart; flag: one flag silences
//   both;
//           silencer: the pass that is guilty of one silences the other
//   ops     "include": all of the smaller one are in the larger, instead of `equal`
//   drop, keep, as   ops that do not count, that alone do, and that are called otherwise
// "@NAME" stands for Peer::words of that name, "@elementwise" and "@collective" for the ops that
// are; ops that are compiled alike (Peer::twins) have one name.
std::string WhyProbablySame(const Peer& peer, const Reduced& large, const Reduced& small);

}  // namespace assay
