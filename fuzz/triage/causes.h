// Causes of bugs that a peer's data knows (fuzz/backends/peer.h): what a program has that the peer
// goes wrong about.
#pragma once

#include <set>
#include <string>

#include "fuzz/backends/peer.h"
#include "spec/ir/module.h"

namespace assay {

struct CauseFacts {
  std::string op;                // that is wrong first; "" where it is not known
  bool is_nan_for_zero = false;  // the answer has NaN in the place of a zero
};

// The names of the causes that hold. A row of Peer::causes holds of a program with an instruction
// that has all that the row says:
//   ops             it is one of these
//   types           it gives an array of one of these types
//   operands        its first operand is of one of these types
//   order           "total": it compares by total order
//   start_is_narrow an operand says where to begin, in a type that does not hold all sizes of the
//   first calls           the root of a computation that it calls has all that this row says
// and of which `wrong` names the wrong op and `answer` the answer, where they stand there.
std::set<std::string> CausesOf(const Peer& peer, const Module& module, const CauseFacts& facts);

}  // namespace assay
