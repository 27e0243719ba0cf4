// Differences that a user may want to know of and that are no bug of a compiler: a zero of the
// other sign, or a zero for a subnormal number where the profile has no licence for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/reduce/wrong_instruction.h"
#include "spec/backend/check.h"

namespace assay {

// Names what all failing elements of the answer have in common: "sign of a zero", "a subnormal
// number became zero", or both; "" if one of them is really wrong, or none fails.
std::string NotableDifference(const Expectation& expectation, const Literal& answer);

struct NotedOutcome {
  Outcome outcome;
  std::string notable;  // of a wrong value
  Literal answer;       // an invalid shape if there was none
};
// Checks a program in this process; for backends that run elsewhere: nothing that ours do is only
// notable. By the profile xla-as-written it says what is FarOffByLicence.
NotedOutcome CheckAndNote(const CheckSubject& subject, const Module& module,
                          const std::vector<Literal>& inputs, const CheckRequest& request = {});

struct NotedOrigin {
  std::string notable;              // "" if there is more to it
  std::optional<WrongArray> first;  // of the program, where it was asked for
};

// Describes what is notable of the first array that is wrong when all are outputs (a sign of a zero
// whose bits are looked at later, say), if all else is right or notable with the right value of
// that array for an input; "sign of a zero", too, where the answer is right for a program in which
// the zeros of one array have the other sign. For a program whose own outputs (`answer`) are really
// wrong, on a backend that runs elsewhere. Compiles one program, unless the caller knows what is
// wrong first, and two more per notable array.
NotedOrigin NotableOrigin(const CheckSubject& subject, const Module& module,
                          const std::vector<Literal>& inputs, const Literal& answer,
                          std::optional<WrongArray> first = std::nullopt);

}  // namespace assay
