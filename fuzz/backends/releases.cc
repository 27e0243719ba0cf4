// Opens one release after the other.
#include "fuzz/backends/releases.h"

#include "spec/base/strings.h"

namespace assay {

std::string StateOn(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind) {
  const int tries = kind == Outcome::kRunCrash || kind == Outcome::kNondeterministic ? 3 : 1;
  Outcome outcome;
  for (int i = 0; i < tries && !outcome.IsFailure(); ++i)
    outcome = CheckIsolated(subject, CheckCase::Of(module, inputs)).outcome;
  return std::string(StateWord(outcome));
}

std::vector<ReleaseState> CheckReleases(const CheckSubject& subject, const Module& module,
                                        const std::vector<Literal>& inputs,
                                        absl::Span<const Release> releases) {
  std::vector<ReleaseState> states;
  for (const Release& release : releases) {
    absl::StatusOr<std::unique_ptr<Backend>> backend = release.open();
    if (!backend.ok()) {
      states.push_back({release.version, StrCat("not there: ", ToStd(backend.status().message()))});
      continue;
    }
    const CheckSubject there{subject.oracle, **backend, subject.profile, subject.options,
                             subject.limits};
    states.push_back({release.version, StateOn(there, module, inputs, Outcome::kWrong)});
  }
  return states;
}

std::string DescribeReleases(absl::Span<const ReleaseState> states) {
  std::string text;
  for (size_t i = 0; i < states.size();) {
    size_t last = i;
    while (last + 1 < states.size() && states[last + 1].state == states[i].state) ++last;
    StrAppend(&text, text.empty() ? "" : "; ", states[i].state, ": ", states[i].version,
              last > i ? StrCat(" to ", states[last].version) : "");
    i = last + 1;
  }
  return text;
}

}  // namespace assay
