// Finds answers that are right by a licence to put one form of arithmetic in place of another, and
// yet far from what the program says: no failure, but a user may want to know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/backend/check.h"

namespace assay {

// Describes an answer that lies further from the program's value than 16 times what the rounding of
// each op explains (at least half an ulp): "legal, and of another class" (a number for an infinity,
// a zero for a number, ...), "legal, and a part of a complex number is lost" (off by its whole
// size), or "legal, and far off". "" if none of it does, or nothing is known. `as_written` is of
// the profile xla-as-written.
std::string FarOff(const Expectation& as_written, const Literal& answer);

// True if the answer is the oracle's own value, or within three ulps of it, so that FarOff would
// say nothing. Most answers are. The expectation is of any profile.
bool IsNearPlain(const Expectation& expectation, const Literal& answer);

// Like FarOff, for an answer that is wrong as the program is written; "" as well where it is wrong
// by the profile xla, too. `subject.profile` is xla-as-written.
std::string FarOffByLicence(const CheckSubject& subject, const Module& module,
                            const std::vector<const Literal*>& arguments, const Literal& answer);

// True if FarOff said so.
bool IsByLicence(std::string_view notable);

}  // namespace assay
