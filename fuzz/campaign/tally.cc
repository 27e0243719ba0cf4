// The counting rules of campaigns.
#include "fuzz/campaign/tally.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "fuzz/campaign/doubles.h"
#include "fuzz/opinions/far_off.h"
#include "fuzz/opinions/second_opinion.h"
#include "fuzz/triage/bucket.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

bool IsWordPart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// Every run of digits becomes one '#', but in the names of element types.
std::string WithoutNumbers(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsWordPart(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (!word.empty() && ElementTypeFromName(word).has_value()) {
      result += word;
    } else {
      for (char c : word) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit || result.empty() || result.back() != '#') result += digit ? '#' : c;
      }
    }
    if (end < text.size()) result += text[end++];
    at = end;
  }
  return result;
}

// Its check waits for a limit.
bool IsSlow(Outcome::Kind kind) {
  return kind == Outcome::kTimeout || kind == Outcome::kOutOfMemory;
}

// Describes a failure by the facts that are known before it is checked again, so that new ones can
// go first.
std::string LooksOf(const Suspect& suspect) {
  return StrCat(static_cast<int64_t>(suspect.backend), ": ", Name(suspect.record.kind), ": ",
                ReasonOf(suspect.record.text));
}

// The words with which a compiler died; "" of other suspects. They stand for Signature::place.
std::string LastWordsOf(const BackendRecord& record) {
  if (record.kind != Outcome::kCompileCrash && record.kind != Outcome::kRejected) return "";
  const std::string signature = CrashSignature(record.text);
  if (signature.size() == DeathIn(signature).size()) return "";
  return StrCat(Name(record.kind), ": ", signature);
}

// The number of findings of one signature that triage looks at: the first ones, then fewer and
// fewer, because each takes as long as a hundred programs. Fewer where all of them so far were one
// bug, and fewest where it names the op that is wrong: of 186 second and later looks in 140 minutes
// on XLA two found a bug that no other signature had shown.
int64_t SampleOf(const Culprit& culprit, int64_t found, bool is_one) {
  const int64_t more = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(found, 0)));
  if (culprit.NamesItsOp()) return 1 + (is_one ? (more - 1) / 4 : more / 3);
  return 1 + (is_one ? more / 2 : more);
}

// The bucket of a finding that triage did not look at.
std::string CoarseBucket(const CampaignFinding& finding) {
  const std::string key = StrCat(finding.backend, ": ", Name(finding.kind));
  if (finding.kind == Outcome::kWrong || finding.kind == Outcome::kNondeterministic) return key;
  return StrCat(key, ": ", WithoutNumbers(finding.text.substr(0, finding.text.find('\n'))));
}

}  // namespace

std::string ReasonOf(const std::string& text) {
  std::string reason =
      WithoutNumbers(text.substr(0, std::min(text.find_first_of("\n%"), size_t{120})));
  while (!reason.empty() && (reason.back() == ' ' || reason.back() == ':')) reason.pop_back();
  return reason;
}

std::vector<CampaignFinding> Tally::TakeRecord(const CaseRecord& record) {
  std::vector<CampaignFinding> counted;
  ++summary_.programs;
  if (!record.illegal.empty()) {
    ++summary_.illegal;
    ++summary_.illegal_reasons[ReasonOf(record.illegal)];
  }
  if (record.avoided) ++summary_.avoided;
  if (record.repeated) ++summary_.repeated;
  summary_.screened += record.screened;
  summary_.stages += record.seconds;
  for (const auto& [rule, count] : record.rules) summary_.rules[rule] += count;
  for (size_t i = 0; i < record.backends.size(); ++i) {
    const BackendRecord& backend = record.backends[i];
    if (backend.rescued) ++summary_.rescued;
    switch (backend.kind) {
      case Outcome::kPassed:
        ++summary_.compared;
        break;
      case Outcome::kMistrusted:
      case Outcome::kNothingToJudge:
        ++summary_.compared;
        ++summary_.mistrusted;
        break;
      case Outcome::kInconclusive:
        ++summary_.inconclusive;
        ++summary_.inconclusive_reasons[ReasonOf(backend.text)];
        break;
      case Outcome::kUnsupported:
        ++summary_.unsupported;
        ++summary_.unsupported_reasons[ReasonOf(backend.text)];
        break;
      case Outcome::kSickMachine:
        ++summary_.sick;
        ++summary_.unsupported_reasons[ReasonOf(backend.text)];
        break;
      case Outcome::kNotRun:
        ++summary_.not_run;
        break;
      default:
        if (IsByLicence(backend.notable) && !IsSampled(backend.notable)) {
          ++summary_.compared;
          ++summary_.alike[StrCat("notable: ", backend.notable)];
          break;
        }
        if (auto alike = AddSuspect({record.index, i, backend}); alike.has_value())
          counted.push_back(*std::move(alike));
    }
  }
  return counted;
}

void Tally::Restore(EarlierCampaign earlier) {
  for (const CampaignFinding& suspect : earlier.unconfirmed) {
    restored_.insert(suspect.index);
    ++summary_.unconfirmed;
  }
  for (const CampaignFinding& suspect : earlier.screened_only) {
    restored_.insert(suspect.index);
    ++summary_.screened_only;
    if (!suspect.place.empty()) ++places_[suspect.place].screened_only;
  }
  for (const CampaignFinding& suspect : earlier.alike) {
    restored_.insert(suspect.index);
    ++summary_.alike[suspect.signature];
    ++places_[suspect.place].alike;
  }
  for (CampaignFinding& finding : earlier.findings) {
    restored_.insert(finding.index);
    if (finding.triaged) {
      ++triaged_[finding.signature];
      triaged_variants_[finding.signature].insert(finding.variant);
    }
    if (!finding.place.empty()) {
      Place& place = places_[finding.place];
      ++place.seen;
      place.culprits.emplace(finding.signature, finding.culprit);
    }
    Keep(std::move(finding));
  }
}

bool Tally::IsSampled(const std::string& notable) {
  const int64_t seen = by_licence_[notable]++;
  return options_.check_all || seen < CheckPolicy::kFarOff || seen % CheckPolicy::kFarOffEvery == 0;
}

CampaignFinding Tally::CountAlike(CampaignFinding finding, const std::string& place) {
  Place& known = places_[place];
  ++known.alike;
  finding.place = place;
  if (!known.culprits.empty()) {
    finding.signature = known.culprits.begin()->first;
    finding.culprit = known.culprits.begin()->second;
  }
  finding.second_check = "not checked as users compile: enough that fail alike were";
  ++summary_.alike[finding.signature];
  return finding;
}

std::optional<CampaignFinding> Tally::AddSuspect(Suspect suspect) {
  if (restored_.contains(suspect.index)) return std::nullopt;
  ++summary_.suspects;
  if (suspect.record.kind == Outcome::kWrong) ++summary_.compared;
  if (options_.most_checked > 0 && checked_ >= options_.most_checked) {
    ++summary_.unchecked;
    return std::nullopt;
  }
  const std::string words = options_.check_all ? "" : LastWordsOf(suspect.record);
  if (!words.empty() && places_[words].HasEnough()) return CountAlike(FindingOf(suspect), words);
  ++checked_;
  suspects_.push_back(std::move(suspect));
  return std::nullopt;
}

bool Tally::HasSuspect(bool slow) const {
  return std::any_of(suspects_.begin(), suspects_.end(), [slow](const Suspect& suspect) {
    return slow || !IsSlow(suspect.record.kind);
  });
}

bool Tally::HasNovelSuspect() const {
  return std::any_of(suspects_.begin(), suspects_.end(), [this](const Suspect& suspect) {
    return handed_out_.count(LooksOf(suspect)) == 0;
  });
}

size_t Tally::BestSuspect() const {
  std::pair<bool, int64_t> least;
  size_t best = suspects_.size();
  for (size_t i = 0; i < suspects_.size(); ++i) {
    const auto seen = handed_out_.find(LooksOf(suspects_[i]));
    const std::pair<bool, int64_t> cost = {IsSlow(suspects_[i].record.kind),
                                           seen == handed_out_.end() ? 0 : seen->second};
    if (best < suspects_.size() && cost >= least) continue;
    least = cost;
    best = i;
    if (cost == std::pair<bool, int64_t>()) break;
  }
  return best;
}

Suspect Tally::NextSuspect() {
  const auto at = suspects_.begin() + static_cast<std::ptrdiff_t>(BestSuspect());
  Suspect next = std::move(*at);
  suspects_.erase(at);
  ++handed_out_[LooksOf(next)];
  return next;
}

bool Tally::Place::HasEnough() const {
  // The next one at a place where many of few kinds were seen is hardly of a new kind.
  const auto kinds = static_cast<int64_t>(culprits.size());
  const bool is_known = kinds > 0 && seen >= CheckPolicy::kOfEachSignature * kinds;
  const bool is_none = seen == 0 && screened_only >= CheckPolicy::kOfEachSignature;
  return (is_known || is_none) && (seen + screened_only + alike) % CheckPolicy::kCheckedEvery != 0;
}

FamiliarPlaces Tally::Familiar() const {
  using Policy = CheckPolicy;
  FamiliarPlaces familiar;
  for (const auto& [name, place] : places_) {
    const bool is_known = place.seen >= Policy::kFamiliar && place.culprits.size() == 1;
    const int64_t every =
        place.seen < Policy::kMany ? Policy::kInFullEvery : Policy::kOfManyInFullEvery;
    if (is_known && place.seen % every != 0) {
      familiar.culprits[name] = place.culprits.begin()->second;
    }
    if (!options_.check_all && place.HasEnough()) familiar.enough.insert(name);
  }
  return familiar;
}

CampaignFinding Tally::FindingOf(const Suspect& suspect) const {
  CampaignFinding finding;
  finding.index = suspect.index;
  finding.backend = options_.backends[suspect.backend];
  finding.kind = suspect.record.kind;
  finding.phase = suspect.record.phase;
  finding.exact = suspect.record.exact;
  finding.set = suspect.record.set;
  finding.text = suspect.record.text;
  return finding;
}

Confirmation Tally::TakeConfirm(const Suspect& suspect, const ConfirmRecord& confirm) {
  Confirmation result{.finding = FindingOf(suspect)};
  CampaignFinding& finding = result.finding;
  finding.culprit = confirm.culprit;
  finding.signature = confirm.signature;
  finding.variant = confirm.variant;
  finding.notable = confirm.notable;
  finding.instructions = confirm.instructions;
  finding.output = confirm.output;
  finding.with = confirm.with;
  finding.place = confirm.place.empty() ? LastWordsOf(suspect.record) : confirm.place;
  if (confirm.output >= 0 && confirm.fails > 0) finding.text = confirm.record.text;
  finding.second_check =
      StrCat("failed again in ", confirm.fails, " of ", confirm.runs, " runs of a fresh process",
             confirm.exact.empty() ? "" : "; with exact inputs: ", confirm.exact);
  if (!finding.with.empty()) {
    StrAppend(&finding.second_check, "; only in one program with case ",
              absl::StrJoin(finding.with, ", "));
  }
  if (confirm.alike) {
    finding = CountAlike(std::move(finding), confirm.place);
    return result;
  }
  if (confirm.fails == 0) {
    if (confirm.fails_cheaply && !confirm.place.empty()) ++places_[confirm.place].screened_only;
    ++(confirm.fails_cheaply ? summary_.screened_only : summary_.unconfirmed);
    return result;
  }
  const bool always = confirm.fails == confirm.runs;
  if (!always && finding.kind != Outcome::kOurFault) {
    finding.kind = Outcome::kNondeterministic;
  } else if (always && IsFinding(confirm.record.kind) &&
             confirm.record.kind != Outcome::kOurFault && finding.kind != Outcome::kOurFault &&
             confirm.record.kind != finding.kind) {
    // A write to the wrong place is now a crash, now a wrong value.
    finding.kind = confirm.record.kind;
    finding.phase = confirm.record.phase;
    finding.text = confirm.record.text;
  }
  if (finding.signature.empty()) {
    finding.culprit.kind = finding.kind;
    finding.culprit.words = ReasonOf(finding.text);
    finding.signature = SignatureText(finding.culprit);
  }
  result.confirmed = true;
  if (!finding.place.empty()) {
    Place& place = places_[finding.place];
    ++place.seen;
    place.culprits.emplace(finding.signature, finding.culprit);
  }
  Keep(finding);
  return result;
}

std::string Tally::KnownAs(const CampaignFinding& finding) const {
  const auto at = std::find(options_.backends.begin(), options_.backends.end(), finding.backend);
  const auto backend = static_cast<size_t>(at - options_.backends.begin());
  const std::string version = backend < summary_.versions.size() ? summary_.versions[backend] : "";
  const KnownBug* bug = FindKnownBug(options_.known, finding.bucket, finding.signature, version);
  return bug == nullptr ? "" : bug->reason;
}

void Tally::EndTriage(size_t at) {
  CampaignFinding& finding = findings_[at];
  // A legal answer is so whatever became of it while it was reduced.
  const bool is_legal = IsByLicence(finding.notable) && finding.triage.notable.empty();
  if (!is_legal) finding.notable = finding.triage.notable;
  triaged_buckets_[finding.signature].insert(finding.bucket);
  if (finding.known.empty()) finding.known = KnownAs(finding);
}

void Tally::Keep(CampaignFinding finding) {
  finding.known = KnownAs(finding);
  ++summary_.findings;
  ++summary_.kinds[std::string(Name(finding.kind))];
  ++summary_.signatures[finding.signature];
  findings_.push_back(std::move(finding));
}

bool Tally::IsNovel(const CampaignFinding& finding) const {
  return triaged_.count(finding.signature) == 0;
}

bool Tally::IsSecondVariant(const CampaignFinding& finding) const {
  const auto seen = triaged_variants_.find(finding.signature);
  return seen != triaged_variants_.end() && seen->second.size() == 1 && !finding.variant.empty() &&
         !seen->second.contains(finding.variant);
}

std::optional<size_t> Tally::NextToTriage() const {
  std::optional<size_t> best;
  std::tuple<bool, bool, int64_t, bool, int64_t> least;
  for (size_t i = 0; i < findings_.size(); ++i) {
    const CampaignFinding& finding = findings_[i];
    const bool is_done = finding.triaged || !finding.triage_error.empty();
    const bool is_asked = finding.known.empty() && (options_.notable || finding.notable.empty());
    if (is_done || in_triage_.count(i) > 0 || !is_asked) continue;
    const auto at = triaged_.find(finding.signature);
    const int64_t seen = at == triaged_.end() ? 0 : at->second;
    const auto found = summary_.signatures.find(finding.signature);
    const auto known = triaged_buckets_.find(finding.signature);
    const bool is_one = known == triaged_buckets_.end() || known->second.size() < 2;
    const bool is_enough = found != summary_.signatures.end() &&
                           seen >= SampleOf(finding.culprit, found->second, is_one);
    if (is_enough && options_.most_triaged == 0 && !IsSecondVariant(finding)) continue;
    // News comes before what is looked at once more, and a failure before what is no more than
    // notable.
    const std::tuple<bool, bool, int64_t, bool, int64_t> cost = {
        seen > 0, !finding.notable.empty(), seen, IsSlow(finding.kind), finding.instructions};
    if (best.has_value() && cost >= least) continue;
    least = cost;
    best = i;
  }
  return best;
}

int64_t Tally::UntriagedSignatures() const {
  std::set<std::string> waiting;
  for (const CampaignFinding& finding : findings_) {
    const bool is_failure = finding.known.empty() && finding.notable.empty();
    if (is_failure && IsNovel(finding) && !IsSlow(finding.kind)) waiting.insert(finding.signature);
  }
  return static_cast<int64_t>(waiting.size());
}

CampaignFinding& Tally::BeginTriage(size_t at) {
  in_triage_.insert(at);
  ++triaged_[findings_[at].signature];
  triaged_variants_[findings_[at].signature].insert(findings_[at].variant);
  return findings_[at];
}

void Tally::GiveBackToTriage(size_t at) {
  in_triage_.erase(at);
  const auto seen = triaged_.find(findings_[at].signature);
  if (seen != triaged_.end() && --seen->second == 0) triaged_.erase(seen);
}

void Tally::NoteDoubles() {
  // One reduction of a bucket that came to its end speaks for those that did not.
  std::set<std::string> smallest;
  // The first of each bucket that is a failure, by the number of its ops.
  std::map<std::string, CampaignFinding*> buckets;
  for (CampaignFinding& finding : findings_) {
    const bool is_shown = finding.triaged && finding.triage.confirmed && finding.notable.empty();
    if (!is_shown) continue;
    if (finding.triage.is_smallest) smallest.insert(finding.bucket);
    buckets.emplace(finding.bucket, &finding);
  }
  std::vector<CampaignFinding*> by_size;
  for (const auto& [name, finding] : buckets) by_size.push_back(finding);
  const auto size = [](const CampaignFinding* finding) {
    return finding->triage.culprit.ops.size();
  };
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](const auto* a, const auto* b) { return size(a) < size(b); });
  for (size_t i = 0; i < by_size.size(); ++i) {
    CampaignFinding& large = *by_size[i];
    for (size_t j = 0; j < i; ++j) {
      const CampaignFinding& small = *by_size[j];
      if (large.backend != small.backend) continue;
      const std::string why =
          WhyProbablySame(PeerOfFamily(BackendFamily(large.backend)),
                          {large.triage.culprit, smallest.contains(large.bucket)},
                          {small.triage.culprit, smallest.contains(small.bucket)});
      if (!why.empty()) summary_.doubles[large.bucket] = {small.bucket, why};
      if (!why.empty()) break;
    }
  }
}

void Tally::SpreadKnown() {
  // By signature: why all of it that triage has looked at is known; "" where some of it is news.
  std::map<std::string, std::string> reasons;
  for (const CampaignFinding& finding : findings_) {
    if (!finding.triaged || !finding.triage.confirmed || !finding.notable.empty()) continue;
    const auto [at, is_new] = reasons.emplace(finding.signature, finding.known);
    if (!is_new && finding.known.empty()) at->second.clear();
  }
  for (CampaignFinding& finding : findings_) {
    const auto reason = reasons.find(finding.signature);
    const bool is_open = !finding.triaged || !finding.triage.confirmed;
    if (finding.known.empty()) finding.known = KnownAs(finding);
    if (finding.known.empty() && is_open && reason != reasons.end()) finding.known = reason->second;
  }
}

void Tally::Finish(bool with_triage) {
  for (CampaignFinding& finding : findings_) {
    if (finding.bucket.empty()) finding.bucket = CoarseBucket(finding);
  }
  SpreadKnown();
  NoteDoubles();
  summary_.unchecked += static_cast<int64_t>(suspects_.size());
  suspects_.clear();
  for (CampaignFinding& finding : findings_) {
    if (!finding.known.empty()) {
      ++summary_.known[finding.known];
      continue;
    }
    if (!finding.notable.empty()) {
      ++summary_.notable[finding.notable];
      continue;
    }
    if (finding.triage.second_opinion == Name(OpinionState::kRefutes)) {
      ++summary_.refuted;
      continue;
    }
    // With triage, only what it looked at, and saw fail again, is in a bucket: anything else may be
    // the same bug, or none.
    if (!with_triage || finding.triage.confirmed) ++summary_.buckets[finding.bucket];
  }
  std::sort(findings_.begin(), findings_.end(),
            [](const CampaignFinding& a, const CampaignFinding& b) { return a.index < b.index; });
  summary_.found = std::move(findings_);
  findings_.clear();
}

}  // namespace assay
