// Values of a program that nobody can compute here: calls of libraries, and constants that the dump
// left out. A pass can be judged all the same where it leaves them alone: they are drawn, the same
// for the same name before and after the pass, and what the calls read must be right.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/cuts/programs/flat_module.h"
#include "spec/backend/oracle.h"

namespace assay {

// Puts constants in the place of unknown values of the flat module, and adds what the calls of its
// entry read to its result. Returns what the values are, sorted: two programs can be compared where
// that is the same. A buffer that holds anything until it is written is filled, and not listed.
absl::StatusOr<std::vector<std::string>> ReplaceUnknownValues(FlatModule& flat, Oracle& oracle);

// The constants that a dump left out ("constant({...})"), drawn by name so that the module can be
// verified; returns what they are, as above.
absl::StatusOr<std::vector<std::string>> FillElidedConstants(Module& module);

}  // namespace assay
