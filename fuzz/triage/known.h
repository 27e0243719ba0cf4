// Bugs that somebody knows already: campaigns count them apart and spend no triage on them, and
// suites count the cases that fail of them as waived (known_cases.h). A file holds a JSON array of
// objects:
//   {"case": "dot/f8e5m2/*",        cases of suites: the name of a module, golden or cell, or
//    "bucket": "xla/wrong value/algsimp/pad*",       a bucket, or
//    "signature": "wrong value: algsimp of pad*",    what a campaign sees before triage, or
//    several;
//                                                    each '*' stands for any text
//    "versions": "0.4.13..0.10.2",   of the backend, both ends included; absent: all
//    "owner": "kernels team",        who sees to it; required of "case"
//    "reason": "issue 1234: ...",    required
//    "expires": "2027-06-30"}        from that day on it is news again; required of "case", else
//                                    never where it is absent
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

struct KnownBug {
  std::string bucket, signature;  // "" matches nothing
  std::string case_name;          // "case" of the file; "" matches nothing
  std::string oldest, newest;     // versions, "" without limit
  std::string reason;
  std::string expires;  // YYYY-MM-DD; "" never
  std::string owner;
  std::string backend;  // a pattern of the version that a backend tells; "" matches all
};

// Each '*' of the pattern stands for any text. An empty pattern matches nothing.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// Errors name the file and the entry.
absl::StatusOr<std::vector<KnownBug>> ReadKnownBugs(const std::string& path);

// The first of `known` that names the bucket or the signature ("" names none) on this version of
// the backend, as its description spells it ("XLA:CPU of jaxlib 0.10.2"; a version without numbers
// is in every range); nullptr if there is none.
const KnownBug* FindKnownBug(const std::vector<KnownBug>& known, const std::string& bucket,
                             const std::string& signature, const std::string& backend_version);

// True if the bug is one of this version of the backend.
bool IsOfVersion(const KnownBug& bug, const std::string& backend_version);

// True if the module has what the bug is about: the instruction that its signature names as wrong
// with those operands, or an instruction that is made of all ops that the signature or the bucket
// names. Most programs with it show the bug.
bool MayShow(const KnownBug& bug, const Module& module);

// Takes out what has expired on the day `today` (YYYY-MM-DD), and returns it.
std::vector<KnownBug> RemoveExpired(std::vector<KnownBug>& known, const std::string& today);

// Today by the clock of this machine, UTC.
std::string TodayUtc();

}  // namespace assay
