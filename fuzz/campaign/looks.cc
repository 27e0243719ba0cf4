// Reads opcodes, signs, states and last words out of what triage has written down.
#include "fuzz/campaign/looks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_split.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/signature.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

const std::vector<SilencingFlag>& Flags() {
  static const std::vector<SilencingFlag> kFlags = UsualFlags();
  return kFlags;
}

bool IsOfFusion(size_t place) {
  return place < Flags().size() &&
         (Flags()[place].value == "fusion" || Flags()[place].name == "xla_cpu_use_fusion_emitters");
}

// The first place where the condition holds of both states; npos: there is none.
template <typename Condition>
bool AnyPlace(const std::string& a, const std::string& b, Condition condition) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (condition(i, a[i], b[i])) return true;
  }
  return false;
}

bool Disagree(char a, char b) { return a != b && a != 'x' && b != 'x'; }
bool BothPass(char a, char b) { return a == 'p' && b == 'p'; }

// A heap that was written over kills the compiler of the next program: what the campaign saw first
// may be another thing than what triage saw.
Outcome::Kind KindOf(const CampaignFinding& finding) {
  const std::vector<std::string> parts = absl::StrSplit(finding.triage.bucket, '/');
  return OutcomeKindFromName(parts.size() < 2 ? "" : parts[1]).value_or(finding.kind);
}

// The passes that make numbers of few bits wider are one, whatever the type; so are those for
// floats of 8 bits.
std::string FamilyOf(const std::string& pass) {
  const std::string family = "float-normalization-";
  if (pass.rfind(family, 0) != 0 || pass.size() == family.size()) return pass;
  const std::string type = pass.substr(family.size());
  if (type[0] == 's' || type[0] == 'u') return family + "of integers";
  const bool is_small = type.rfind("f8", 0) == 0 || type.rfind("f4", 0) == 0;
  return is_small ? family + "of floats of 8 bits and fewer" : pass;
}

std::string WordsOf(const std::string& bucket) {
  const size_t family = bucket.find('/');
  const size_t words = family == bucket.npos ? family : bucket.find('/', family + 1);
  if (words == bucket.npos) return "";
  return bucket.substr(words + 1, bucket.rfind('/') - words - 1);
}

}  // namespace

bool Looks::IsOfRunning() const {
  return kind == Outcome::kWrong || kind == Outcome::kRunCrash ||
         kind == Outcome::kNondeterministic;
}

Looks LooksOf(const CampaignFinding& finding) {
  const TriageResult& triage = finding.triage;
  Looks looks;
  looks.kind = KindOf(finding);
  looks.opcodes = absl::StrSplit(triage.opcodes, '+', absl::SkipEmpty());
  for (const char* sign :
       {kNarrowIndex, kNanForZero, kUnsignedLoop, kFewBits, kOneZero, kOrderOfBrainFloats}) {
    if (looks.opcodes.erase(sign) > 0) looks.signs.insert(sign);
  }
  if (!finding.with.empty()) looks.signs.insert(kBesideAnother);
  looks.place = triage.place;
  looks.numbers = triage.numbers;
  looks.rule = triage.blamed_rule;
  looks.family = FamilyOf(looks.rule);
  looks.silencing = triage.silencing;
  // A bucket without a guilty pass ends with the kind of numbers and the states: "f-fffpf". Those
  // of what dies by chance, "ccccc", say nothing, and agree with all.
  const std::string tail = triage.bucket.substr(triage.bucket.rfind('/') + 1);
  if (tail.find('-') == 1 && tail.find_first_not_of("pfx", 2) == std::string::npos) {
    looks.states = tail.substr(2);
    if (looks.numbers.empty()) looks.numbers = tail.substr(0, 1);
  }
  if (looks.kind == Outcome::kCompileCrash || looks.kind == Outcome::kRejected)
    looks.words = WordsOf(triage.bucket);
  // Of what dies while it runs only a check of the source tells where.
  if (looks.kind == Outcome::kRunCrash) {
    const std::string words = WordsOf(triage.bucket);
    if (words.find(".cc:") != words.npos) looks.words = words;
  }
  looks.is_smallest = triage.is_smallest;
  return looks;
}

std::string TwinOf(const std::string& name) {
  static const std::map<std::string, std::string> kTwins = {
      {"minimum", "maximum"},
      {"reduce[minimum]", "reduce[maximum]"},
      {"reduce-window[minimum]", "reduce-window[maximum]"},
      {"or", "and"},
      {"clamp", "maximum"},
      {"cosine", "sine"},
      {"round-nearest-even", "round-nearest-afz"}};
  const auto at = kTwins.find(name);
  return at == kTwins.end() ? name : at->second;
}

Opcodes WithoutTwins(const Opcodes& opcodes) {
  Opcodes result;
  for (const std::string& name : opcodes) result.insert(TwinOf(name));
  return result;
}

bool Includes(const Opcodes& all, const Opcodes& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool IsMove(const std::string& name) {
  static const Opcodes kMoves = {"bitcast", "broadcast", "concatenate", "copy",
                                 "iota",    "reshape",   "reverse",     "transpose"};
  return kMoves.contains(name);
}

bool IsPart(const std::string& name) {
  return name == "complex" || name == "imag" || name == "real";
}

bool IsElementwise(const std::string& name) {
  const std::optional<Opcode> opcode = OpcodeFromName(name);
  return opcode.has_value() && Info(*opcode).Is(kElementwise);
}

bool IsApproximate(const std::string& name) {
  const std::optional<Opcode> opcode = OpcodeFromName(name);
  return opcode.has_value() && Info(*opcode).Is(kTakesAccuracy);
}

bool IsCollective(const std::string& name) {
  const std::optional<Opcode> opcode = OpcodeFromName(name);
  return opcode.has_value() && Info(*opcode).Is(kCollective);
}

Opcodes WithoutMoves(const Opcodes& opcodes) {
  Opcodes result;
  for (const std::string& name : opcodes) {
    if (!IsMove(name)) result.insert(name);
  }
  return result;
}

bool AreSilencedAlike(const std::string& a, const std::string& b) {
  return !AnyPlace(a, b, [](size_t, char x, char y) { return Disagree(x, y); });
}

bool AreSilencedAlikeUnfused(const std::string& a, const std::string& b) {
  return !AnyPlace(a, b, [](size_t i, char x, char y) { return Disagree(x, y) && !IsOfFusion(i); });
}

bool HaveACommonSilencer(const std::string& a, const std::string& b) {
  return AnyPlace(a, b, [](size_t, char x, char y) { return BothPass(x, y); });
}

bool AreSilentUnfused(const std::string& a, const std::string& b) {
  return AnyPlace(a, b, [](size_t i, char x, char y) { return BothPass(x, y) && IsOfFusion(i); });
}

bool IsPassAt(size_t place) {
  return place < Flags().size() && Flags()[place].name == "xla_disable_hlo_passes";
}

int64_t PlaceOfPass(const std::string& pass) {
  for (size_t i = 0; i < Flags().size(); ++i) {
    if (IsPassAt(i) && Flags()[i].value == pass) return static_cast<int64_t>(i);
  }
  return -1;
}

}  // namespace assay
