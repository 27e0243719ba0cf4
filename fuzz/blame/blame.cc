// The search for the guilty decision, in one child process or in one per check.
#include "fuzz/blame/blame.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "fuzz/blame/requests.h"
#include "fuzz/blame/required_pass.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/process/isolate.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxDecisions = int64_t{1} << 24;
constexpr int64_t kUnclearWindow = 16;  // limits tried around an unclear one
constexpr int64_t kLookBelow = 8;   // limits tried just below the answer, and as many spread below
constexpr int kFewOccurrences = 4;  // of one rule in one compilation: each is tried by itself
constexpr double kSearchChecks = 40;  // checks that a whole search in one child may take

class Search {
 public:
  explicit Search(const std::function<ProbeAnswer(int64_t)>& probe) : probe_(probe) {}

  BlameSearch Run(int64_t total) {
    if (Ask(0) == ProbeAnswer::kFail) {
      result_.fails_without_decisions = true;
      result_.note = "it fails with every decision refused";
      return Finish(0);
    }
    if (Ask(0) == ProbeAnswer::kUnclear)
      return Finish(0, "without decisions the verdict is unclear");
    if (total < 0) total = FindFailingLimit();
    if (total < 0) return Finish(0, "no limit was found at which it fails");
    if (Ask(total) != ProbeAnswer::kFail) return Finish(0, "it does not fail again");
    int64_t guilty = Between(0, total);
    for (int64_t lower = LowerFailure(guilty); lower > 0; lower = LowerFailure(guilty)) {
      result_.note = "not monotone: a smaller limit fails as well";
      guilty = Between(0, lower);
    }
    if (Ask(guilty - 1) != ProbeAnswer::kPass) {
      return Finish(guilty, "the verdict just below the guilty decision is unclear");
    }
    return Finish(guilty);
  }

 private:
  ProbeAnswer Ask(int64_t limit) {
    auto [at, inserted] = answers_.try_emplace(limit, ProbeAnswer::kUnclear);
    if (inserted) {
      ++result_.probes;
      at->second = probe_(limit);
    }
    return at->second;
  }

  BlameSearch Finish(int64_t guilty, std::string note = "") {
    result_.guilty = guilty;
    if (!note.empty()) result_.note = std::move(note);
    return result_;
  }

  int64_t FindFailingLimit() {
    for (int64_t limit = 1; limit <= kMaxDecisions; limit *= 2) {
      if (Ask(limit) == ProbeAnswer::kFail) return limit;
    }
    return -1;
  }

  // `good` passes (or is 0), `bad` fails: a limit in (good, bad] that fails, whose predecessor does
  // not.
  int64_t Between(int64_t good, int64_t bad) {
    while (bad - good > 1) {
      int64_t middle = Decided(good, bad, good + (bad - good) / 2);
      if (middle == good) break;  // all limits in between are unclear
      (Ask(middle) == ProbeAnswer::kFail ? bad : good) = middle;
    }
    return bad;
  }

  // The limit nearest to `middle` with a clear answer, in a window; `good` if there is none.
  int64_t Decided(int64_t good, int64_t bad, int64_t middle) {
    for (int64_t step = 0; step < kUnclearWindow; ++step) {
      for (int64_t limit : {middle + step, middle - step}) {
        if (limit <= good || limit >= bad) continue;
        if (Ask(limit) != ProbeAnswer::kUnclear) return limit;
      }
    }
    return good;
  }

  // A failing limit below `guilty`, from a window just below and from points spread over the rest;
  // 0: none.
  int64_t LowerFailure(int64_t guilty) {
    for (int64_t limit = guilty - 1; limit > 0 && limit >= guilty - kLookBelow; --limit) {
      if (Ask(limit) == ProbeAnswer::kFail) return limit;
    }
    for (int64_t i = 1; i < kLookBelow; ++i) {
      int64_t limit = guilty * i / kLookBelow;
      if (limit > 0 && Ask(limit) == ProbeAnswer::kFail) return limit;
    }
    return 0;
  }

  const std::function<ProbeAnswer(int64_t)>& probe_;
  std::map<int64_t, ProbeAnswer> answers_;
  BlameSearch result_;
};

ProbeAnswer AnswerOf(const Outcome& outcome, Outcome::Kind kind) {
  if (outcome.Fails(kind)) return ProbeAnswer::kFail;
  // Inconclusive elements are so for every limit: the expectation is of the program. So it is
  // enough that none fails.
  const bool passes = outcome.IsPass() || outcome.kind == Outcome::kNothingToJudge ||
                      (outcome.kind == Outcome::kInconclusive && outcome.phase == Phase::kJudge);
  return passes ? ProbeAnswer::kPass : ProbeAnswer::kUnclear;
}

const Decision* FindDecision(const std::vector<Decision>& decisions, int64_t number) {
  for (const Decision& d : decisions) {
    if (d.number == number) return &d;
  }
  return nullptr;
}

// The search, given a way to check; remembers the decisions of each compilation.
Blame BlameWith(const std::function<CheckResult(int64_t)>& check, Outcome::Kind kind) {
  Blame blame;
  CheckResult whole = check(-1);
  ++blame.probes;
  if (!whole.outcome.Fails(kind)) {
    blame.note = StrCat("it does not fail this way again: ", StateWord(whole.outcome));
    return blame;
  }
  blame.total = whole.decisions.empty() ? -1 : static_cast<int64_t>(whole.decisions.size());
  std::map<int64_t, std::vector<Decision>> seen;
  auto probe = [&](int64_t limit) {
    CheckResult result = check(limit);
    seen[limit] = std::move(result.decisions);
    return AnswerOf(result.outcome, kind);
  };
  BlameSearch search = SearchBlame(blame.total, probe);
  blame.probes += search.probes;
  blame.note = search.note;
  blame.fails_without_decisions = search.fails_without_decisions;
  if (search.guilty == 0) return blame;
  // A compilation that died told nothing, but the one just below it has the same decision as its
  // first refused one.
  const Decision* decision = FindDecision(seen[search.guilty], search.guilty);
  if (decision == nullptr) decision = FindDecision(seen[search.guilty - 1], search.guilty);
  if (decision == nullptr) decision = FindDecision(whole.decisions, search.guilty);
  if (decision == nullptr) {
    blame.note = StrCat("decision ", search.guilty, " is guilty but was not reported");
    return blame;
  }
  blame.found = true;
  blame.decision = *decision;
  blame.confirmed = check(search.guilty).outcome.Fails(kind) &&
                    AnswerOf(check(search.guilty - 1).outcome, kind) == ProbeAnswer::kPass;
  blame.probes += 2;
  return blame;
}

std::string Encode(const Blame& blame) {
  const Json object = {{"found", blame.found},
                       {"decision", ToJson(blame.decision)},
                       {"confirmed", blame.confirmed},
                       {"total", blame.total},
                       {"probes", blame.probes},
                       {"note", blame.note},
                       {"before", blame.before},
                       {"after", blame.after},
                       {"pass", blame.pass},
                       {"code", blame.code},
                       {"fails_without_decisions", blame.fails_without_decisions}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// False for anything but what Encode made: a child may send anything.
bool Decode(const std::string& bytes, Blame& blame) {
  const Json object = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("decision")) return false;
  try {
    blame.found = object.value("found", false);
    blame.decision = DecisionFromJson(object["decision"]);
    blame.confirmed = object.value("confirmed", false);
    blame.total = object.value("total", int64_t{-1});
    blame.probes = object.value("probes", 0);
    blame.note = object.value("note", "");
    blame.before = object.value("before", "");
    blame.after = object.value("after", "");
    blame.pass = object.value("pass", "");
    blame.code = object.value("code", "");
    blame.fails_without_decisions = object.value("fails_without_decisions", false);
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

// Looks for the required pass, or the code, that is wrong with every decision refused.
void BlameWhatIsRequired(const CheckSubject& subject, const Module& module,
                         const std::vector<Literal>& inputs, Blame& blame) {
  const std::optional<RequiredPass> required = FindRequiredPass(subject, module, inputs);
  if (!required.has_value()) return;
  if (required->pass.empty()) {
    blame.code = required->code;
    StrAppend(&blame.note, ", and every pass leaves the module right",
              blame.code.empty() ? "" : StrCat(": the code of ", blame.code));
    return;
  }
  blame.found = true;
  blame.pass = required->pass;
  blame.decision = required->decision;
  blame.before = required->before;
  blame.after = required->after;
}

bool IsRequired(const Decision& decision) { return decision.kind == DecisionKind::kRequired; }

// True if one of the rule's decisions in `decisions` makes the difference. Of many the search
// finds the guilty one with fewer compilations than trying each.
bool RuleMatters(const std::function<CheckResult(int64_t)>& check,
                 const std::vector<Decision>& decisions, Outcome::Kind kind,
                 const std::string& rule) {
  int occurrences = 0;
  for (const Decision& d : decisions) {
    if (d.rule == rule && IsRequired(d)) return check(0).outcome.Fails(kind);
    if (d.rule != rule || !d.taken) continue;
    if (++occurrences > kFewOccurrences) {
      const Blame blame = BlameWith(check, kind);
      return blame.found && blame.decision.rule == rule;
    }
    if (check(d.number).outcome.Fails(kind) &&
        AnswerOf(check(d.number - 1).outcome, kind) == ProbeAnswer::kPass) {
      return true;
    }
  }
  return false;
}

// Failures that end the process: each check needs a child of its own.
bool Kills(Outcome::Kind kind) {
  return kind == Outcome::kCompileCrash || kind == Outcome::kRunCrash ||
         kind == Outcome::kTimeout || kind == Outcome::kOutOfMemory;
}

}  // namespace

BlameSearch SearchBlame(int64_t total, const std::function<ProbeAnswer(int64_t limit)>& probe) {
  return Search(probe).Run(total);
}

Blame BlameDecision(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind) {
  Blame blame;
  const BackendDescription& description = subject.backend.Describe();
  if (!description.has_decisions) {
    blame.note = "this backend does not number its decisions";
    return blame;
  }
  Checker checker(subject, CheckCase::Of(module, inputs));
  auto in_here = [&] {
    auto check = [&](int64_t limit) { return checker.Check(RequestFor(kind, limit)); };
    Blame found = BlameWith(check, kind);
    if (found.fails_without_decisions) {
      BlameWhatIsRequired(subject, module, inputs, found);
    } else if (found.found) {
      found.before = checker.OptimizedText(found.decision.number - 1);
      found.after = checker.OptimizedText(found.decision.number);
    }
    return found;
  };
  if (!description.in_process) return in_here();
  // The whole search in one child while nothing dies; otherwise each check in its own.
  if (!Kills(kind)) {
    IsolateLimits limits{subject.limits.seconds * kSearchChecks, subject.limits.memory_bytes};
    Isolated end = RunIsolated([&] { return Encode(in_here()); }, limits);
    if (end.ok() && Decode(end.bytes, blame)) return blame;
  }
  blame = BlameWith(
      [&](int64_t limit) {
        return CheckIsolated(subject, CheckCase::Of(module, inputs), RequestFor(kind, limit));
      },
      kind);
  if (!blame.fails_without_decisions) return blame;
  const IsolateLimits limits{subject.limits.seconds * kSearchChecks, subject.limits.memory_bytes};
  const Isolated end = RunIsolated(
      [&] {
        BlameWhatIsRequired(subject, module, inputs, blame);
        return Encode(blame);
      },
      limits);
  if (end.ok()) Decode(end.bytes, blame);
  return blame;
}

bool FailsByRule(const CheckSubject& subject, const Module& module,
                 const std::vector<Literal>& inputs, Outcome::Kind kind, const std::string& rule) {
  Checker checker(subject, CheckCase::Of(module, inputs));
  auto in_here = [&] {
    auto check = [&](int64_t limit) { return checker.Check(RequestFor(kind, limit)); };
    CheckResult whole = check(-1);
    if (!whole.outcome.Fails(kind)) return false;
    if (rule.empty() || RuleMatters(check, whole.decisions, kind, rule)) return true;
    // A required pass that makes no decisions goes by its name.
    const bool is_counted = std::any_of(whole.decisions.begin(), whole.decisions.end(),
                                        [&](const Decision& d) { return d.rule == rule; });
    if (is_counted || !check(0).outcome.Fails(kind)) return false;
    const std::optional<RequiredPass> required = FindRequiredPass(subject, module, inputs);
    return required.has_value() && required->decision.rule == rule;
  };
  if (!subject.backend.Describe().in_process) return in_here();
  if (!Kills(kind)) {
    const IsolateLimits limits{subject.limits.seconds * kSearchChecks, subject.limits.memory_bytes};
    Isolated end = RunIsolated([&] { return std::string(in_here() ? "y" : "n"); }, limits);
    return end.ok() && end.bytes == "y";
  }
  if (!CheckIsolated(subject, CheckCase::Of(module, inputs)).outcome.Fails(kind)) return false;
  if (rule.empty()) return true;
  Blame blame = BlameDecision(subject, module, inputs, kind);
  return blame.found && blame.decision.rule == rule;
}

}  // namespace assay
