// On which releases of a compiler a program fails: each is a backend of its own, opened when it is
// asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "spec/backend/check.h"

namespace assay {

struct Release {
  std::string version;  // "0.4.31"
  std::function<absl::StatusOr<std::unique_ptr<Backend>>()> open;
  // Optional: starts what `open` would wait for, without waiting for it.
  std::function<void()> prepare = nullptr;
};

struct ReleaseState {
  std::string version;
  std::string state;  // StateWord of the outcome, or "not there" with the reason
};

// Tells how the program fares on the subject, as a StateWord. A crash that shows now and then, as
// of memory that was written over, gets three tries.
std::string StateOn(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind);

// Checks the program on every release, in the order given, otherwise as the subject says. What
// cannot be opened is told and keeps nobody from being asked.
std::vector<ReleaseState> CheckReleases(const CheckSubject& subject, const Module& module,
                                        const std::vector<Literal>& inputs,
                                        absl::Span<const Release> releases);

// "pass: 0.4.13; fail: 0.4.31 to 0.10.2"; neighbours of one state are one range. "" for none.
std::string DescribeReleases(absl::Span<const ReleaseState> states);

}  // namespace assay
