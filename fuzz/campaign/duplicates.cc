// Compares opcodes, guilty passes and what silences a failure.
#include "fuzz/campaign/duplicates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/signature.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using Opcodes = std::set<std::string>;

// Words that stand beside opcodes and say more of a cause than they do.
const Opcodes& Signs() {
  static const Opcodes kSigns = {kNarrowIndex, kNanForZero, kUnsignedLoop, kFewBits};
  return kSigns;
}

// What triage saw, which may be another thing than what the campaign saw first: a heap that was
// written over kills the compiler of the next program.
Outcome::Kind KindOf(const CampaignFinding& finding) {
  const std::vector<std::string> parts = absl::StrSplit(finding.triage.bucket, '/');
  return OutcomeKindFromName(parts.size() < 2 ? "" : parts[1]).value_or(finding.kind);
}

Opcodes WordsOf(const CampaignFinding& finding) {
  return absl::StrSplit(finding.triage.opcodes, '+', absl::SkipEmpty());
}
Opcodes OpcodesOf(const CampaignFinding& finding) {
  Opcodes opcodes = WordsOf(finding);
  for (const std::string& sign : Signs()) opcodes.erase(sign);
  return opcodes;
}
bool Has(const CampaignFinding& finding, const char* sign) {
  return WordsOf(finding).contains(sign);
}
bool BothHave(const CampaignFinding& a, const CampaignFinding& b, const char* sign) {
  return Has(a, sign) && Has(b, sign);
}

// Twins are compiled by the same code, or one becomes the other.
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

// What makes constants and moves elements.
const Opcodes& Moves() {
  static const Opcodes kMoves = {"bitcast", "broadcast", "concatenate", "copy",
                                 "iota",    "reshape",   "reverse",     "transpose"};
  return kMoves;
}
bool OnlyMoves(const Opcodes& opcodes) { return Includes(Moves(), opcodes); }

// What takes a complex number apart, or makes one.
const Opcodes& Parts() {
  static const Opcodes kParts = {"complex", "imag", "real"};
  return kParts;
}

bool Computes(const Opcodes& opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(), [](const std::string& name) {
    const std::optional<Opcode> opcode = OpcodeFromName(name);
    return opcode.has_value() && Info(*opcode).Is(kElementwise);
  });
}

// The last part of a bucket without a guilty pass: what kind of numbers the result has and what
// silences the failure ("f-fffpf").
struct Tail {
  std::string numbers, states;
};
Tail TailOf(const CampaignFinding& finding) {
  const std::string& bucket = finding.triage.bucket;
  const std::string last = bucket.substr(bucket.rfind('/') + 1);
  const size_t dash = last.find('-');
  const bool is_tail = dash == 1 && last.find_first_not_of("pfx", 2) == std::string::npos;
  return is_tail ? Tail{last.substr(0, 1), last.substr(2)} : Tail();
}

// A flag under which one of them passes has to silence the other as well; 'x' says nothing.
bool AreSilencedAlike(const std::string& a, const std::string& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i] && a[i] != 'x' && b[i] != 'x') return false;
  }
  return true;
}

bool HaveACommonSilencer(const std::string& a, const std::string& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == 'p' && b[i] == 'p') return true;
  }
  return false;
}

// The place of a pass among UsualFlags, whose states a tail has; -1: it is none of them.
int64_t PlaceOfPass(const std::string& pass) {
  const std::vector<SilencingFlag> flags = UsualFlags();
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i].name == "xla_disable_hlo_passes" && flags[i].value == pass)
      return static_cast<int64_t>(i);
  }
  return -1;
}

// Of UsualFlags the first ones switch off a pass.
bool IsPassAt(size_t place) {
  static const std::vector<SilencingFlag> kFlags = UsualFlags();
  return place < kFlags.size() && kFlags[place].name == "xla_disable_hlo_passes";
}

// Others of them say whether and how ops are fused.
bool IsOfFusion(size_t place) {
  static const std::vector<SilencingFlag> kFlags = UsualFlags();
  return place < kFlags.size() &&
         (kFlags[place].value == "fusion" || kFlags[place].name == "xla_cpu_use_fusion_emitters");
}

// A window over all there is becomes a reduction, unless the pass that makes it so is off.
bool IsReductionInDisguise(const CampaignFinding& window, const CampaignFinding& reduction) {
  const std::string prefix = "reduce-window[", place = TwinOf(window.triage.place);
  if (place.rfind(prefix, 0) != 0 || KindOf(window) != KindOf(reduction)) return false;
  const Tail a = TailOf(window), b = TailOf(reduction);
  if (StrCat("reduce[", place.substr(prefix.size())) != TwinOf(reduction.triage.place) ||
      a.numbers != b.numbers) {
    return false;
  }
  for (size_t i = 0; i < std::min(a.states.size(), b.states.size()); ++i) {
    const bool is_undone = IsPassAt(i) && a.states[i] == 'p';
    if (a.states[i] != b.states[i] && !is_undone) return false;
  }
  return true;
}

// The pass is to blame for the small program; that of `large`, for which none is, passes without
// it and has all that the small one has. What made a constant that is folded matters little.
bool IsSilencedByPassOf(const CampaignFinding& large, const CampaignFinding& small) {
  if (!large.triage.blamed_rule.empty() || KindOf(large) != KindOf(small)) return false;
  const std::string states = TailOf(large).states;
  const int64_t place = PlaceOfPass(small.triage.blamed_rule);
  Opcodes needed;
  for (const std::string& name : OpcodesOf(small)) {
    const bool is_constant =
        small.triage.blamed_rule == "constant_folding" && Moves().contains(name);
    if (!is_constant) needed.insert(name);
  }
  return place >= 0 && place < static_cast<int64_t>(states.size()) &&
         states[static_cast<size_t>(place)] == 'p' && !needed.empty() &&
         Includes(OpcodesOf(large), needed);
}

// The passes that make numbers of few bits wider are one, whatever the type; so are those for
// floats of 8 bits.
std::string FamilyOf(const std::string& pass) {
  const std::string family = "float-normalization-";
  if (pass.rfind(family, 0) != 0 || pass.size() == family.size()) return pass;
  const std::string type = pass.substr(family.size());
  if (type[0] == 's' || type[0] == 'u') return family + "of integers";
  return type.rfind("f8", 0) == 0 ? family + "of floats of 8 bits" : pass;
}

// How the compiler died, as a bucket has it before the opcodes; "" of other failures, and where it
// left no words.
std::string LastWords(const CampaignFinding& finding) {
  const Outcome::Kind kind = KindOf(finding);
  const bool died = kind == Outcome::kCompileCrash || kind == Outcome::kRejected;
  const std::string& bucket = finding.triage.bucket;
  const size_t family = bucket.find('/');
  const size_t words = family == bucket.npos ? family : bucket.find('/', family + 1);
  if (!died || words == bucket.npos) return "";
  return bucket.substr(words + 1, bucket.rfind('/') - words - 1);
}

// What a compiler that died looked at: neither moves nor, of integers, which of the two divisions.
Opcodes Telling(const CampaignFinding& finding) {
  Opcodes telling;
  for (const std::string& name : OpcodesOf(finding)) {
    if (!Moves().contains(name)) telling.insert(name == "divide" ? "remainder" : name);
  }
  return telling;
}

bool ShareAnOpThatIsNotElementwise(const Opcodes& a, const Opcodes& b) {
  return std::any_of(a.begin(), a.end(), [&b](const std::string& name) {
    return b.contains(name) && !Computes({name});
  });
}

// The words of two refusals, of which the last may be cut off, when at most one of them differs
// besides signs.
bool AreTheSameWords(const std::string& a, const std::string& b) {
  constexpr size_t kFewest = 8;  // with less said one word may be all that tells
  const std::vector<std::string> left = absl::StrSplit(a, absl::ByAnyChar(" -"), absl::SkipEmpty());
  const std::vector<std::string> right =
      absl::StrSplit(b, absl::ByAnyChar(" -"), absl::SkipEmpty());
  const size_t common = std::min(left.size(), right.size());
  if (common < kFewest) return false;
  int differing = 0;
  for (size_t i = 0; i + 1 < common; ++i) differing += left[i] == right[i] ? 0 : 1;
  return differing <= 1;
}

// The text of a constant is refused, whatever is computed of it.
bool IsSameRefusal(const CampaignFinding& large, const CampaignFinding& small) {
  const auto tells = [](const CampaignFinding& finding) {
    const Opcodes telling = Telling(finding);
    return std::any_of(telling.begin(), telling.end(),
                       [](const std::string& name) { return !Computes({name}); });
  };
  return KindOf(large) == Outcome::kRejected && KindOf(small) == Outcome::kRejected &&
         !tells(large) && !tells(small) && AreTheSameWords(LastWords(large), LastWords(small));
}

// It left no words: there is nothing behind the sentence that it died.
bool DiedSilently(const std::string& words) { return !words.empty() && DeathIn(words) == words; }

// The same check of the compiler fails in both; or both die of the same op without a word, as of a
// division by zero while constants are folded, or of a check that many ops share.
bool IsSameDeath(const CampaignFinding& large, const CampaignFinding& small) {
  const std::string words = LastWords(large);
  if (KindOf(large) != KindOf(small) || words.empty() || words != LastWords(small)) return false;
  const Opcodes all = Telling(large), some = Telling(small);
  const bool is_shared_check = words.find("status_macros.cc:") != words.npos;
  if (is_shared_check && ShareAnOpThatIsNotElementwise(all, some)) return true;
  if (DiedSilently(words) || is_shared_check) return !some.empty() && Includes(all, some);
  const bool is_check = !DeathIn(words).empty() || words.find(".cc:") != words.npos;
  return is_check || Includes(OpcodesOf(large), OpcodesOf(small));
}

// What asks for the sign of an integer: a wrong belief about it is one bug, whoever asks. The
// smallest number has no absolute value, so abs is believed as well as it asks.
Opcodes WithoutWhoAsksForTheSign(const Opcodes& opcodes) {
  static const Opcodes kAsking = {"abs", "compare", "divide", "remainder", "sign"};
  Opcodes believed;
  bool is_asked = false;
  for (const std::string& name : opcodes) {
    const bool asks = kAsking.contains(name);
    is_asked |= asks;
    if (!asks && (name == "iota" || !Moves().contains(name))) believed.insert(name);
  }
  if (believed.empty() && opcodes.contains("abs") && opcodes.size() > 1) believed = {"abs"};
  if (!is_asked || believed.empty()) return opcodes;
  believed.insert("its sign");
  return believed;
}

// What computes in too many bits and is converted then, is the same whatever it computes; and
// what gathers from few places becomes a slice.
Opcodes WithoutVariants(const std::string& family, const std::string& numbers,
                        const Opcodes& opcodes) {
  Opcodes result;
  // The evaluator of constants reads the starts of all of them alike.
  static const Opcodes kWithStarts = {"dynamic-slice", "dynamic-update-slice", "gather"};
  if (family == "constant_folding" && ShareAnOpThatIsNotElementwise(opcodes, kWithStarts)) {
    for (const std::string& name : opcodes) {
      if (!kWithStarts.contains(name) && !Moves().contains(name)) result.insert(name);
    }
    result.insert("starts");
    return result;
  }
  if (family == "algsimp" && numbers == "i") return WithoutWhoAsksForTheSign(opcodes);
  const bool is_converted = family.rfind("float-normalization-", 0) == 0 &&
                            opcodes.contains("convert") && opcodes.size() == 2;
  for (const std::string& name : opcodes) {
    const bool is_variant = (is_converted && name != "convert") ||
                            (name == "gather" && opcodes.contains("dynamic-slice"));
    if (!is_variant) result.insert(name);
  }
  return result;
}

// A pass goes wrong about an op of which it matters little what gives it its operands: a slice by
// a sum of starts, say.
bool IsOfSameRewrite(const CampaignFinding& large, const CampaignFinding& small) {
  const std::string& place = large.triage.place;
  if (place.empty() || place != small.triage.place || Computes({place})) return false;
  const Opcodes all = OpcodesOf(large), some = OpcodesOf(small);
  return !some.empty() && Includes(all, some) &&
         std::all_of(all.begin(), all.end(), [&some](const std::string& name) {
           return some.contains(name) || Computes({name}) || Moves().contains(name);
         });
}

// The same rewrite in the body of a loop or in a branch, with what counts the trips.
bool IsInControlFlow(const CampaignFinding& large, const CampaignFinding& small) {
  static const Opcodes kControl = {"call", "conditional", "fusion", "while"};
  static const Opcodes kCounting = {"add", "and", "compare", "subtract"};
  const Opcodes all = OpcodesOf(large), some = OpcodesOf(small);
  bool is_controlled = false;
  for (const std::string& name : all) {
    const bool is_control = kControl.contains(name);
    is_controlled |= is_control;
    if (!is_control && !some.contains(name) && !kCounting.contains(name)) return false;
  }
  return is_controlled && !some.empty() && Includes(all, some);
}

// A function is wrong of constants, which are folded, as it is of what comes at run time.
bool IsWrongFoldedOrNot(const CampaignFinding& folded, const CampaignFinding& other) {
  const Opcodes opcodes = OpcodesOf(folded);
  return folded.triage.blamed_rule == "constant_folding" && other.triage.blamed_rule.empty() &&
         KindOf(folded) == Outcome::kWrong && KindOf(other) == Outcome::kWrong &&
         opcodes.size() == 1 && Computes(opcodes) && opcodes == OpcodesOf(other);
}

// Writing where one must not is now a wrong value, now a crash.
bool IsOfRunning(const CampaignFinding& finding) {
  const Outcome::Kind kind = KindOf(finding);
  return kind == Outcome::kWrong || kind == Outcome::kRunCrash ||
         kind == Outcome::kNondeterministic;
}

// Apart from whether anything is fused, which decides what of a function's operand is rounded, the
// same flags silence both.
bool AreSilencedAlikeUnfused(const std::string& a, const std::string& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i] && a[i] != 'x' && b[i] != 'x' && !IsOfFusion(i)) return false;
  }
  return true;
}

// A function is wrong alone under all flags, and in the other program with what computes its
// operand.
bool IsOfSameFunction(const CampaignFinding& large, const CampaignFinding& small) {
  const std::string& place = small.triage.place;
  const Tail a = TailOf(large), b = TailOf(small);
  return KindOf(large) == KindOf(small) && Computes({place}) && large.triage.place == place &&
         OpcodesOf(small) == Opcodes{place} && a.numbers == b.numbers &&
         AreSilencedAlikeUnfused(a.states, b.states);
}

// The same op is wrong in both, on the same kind of numbers, whatever stands around it.
bool IsOfSamePlace(const CampaignFinding& large, const CampaignFinding& small) {
  const Tail a = TailOf(large), b = TailOf(small);
  return !small.triage.place.empty() && KindOf(large) == KindOf(small) &&
         TwinOf(large.triage.place) == TwinOf(small.triage.place) && a.numbers == b.numbers &&
         (AreSilencedAlike(a.states, b.states) || HaveACommonSilencer(a.states, b.states));
}

// An op that moves elements is wrong in one program, and kills another in which all do no more, as
// what writes beside its array does.
bool AreWrongAndDeadOfAMove(const CampaignFinding& wrong, const CampaignFinding& dead) {
  return KindOf(wrong) == Outcome::kWrong && KindOf(dead) == Outcome::kRunCrash &&
         Moves().contains(wrong.triage.place) && OpcodesOf(dead).contains(wrong.triage.place) &&
         OnlyMoves(OpcodesOf(wrong)) && OnlyMoves(OpcodesOf(dead));
}

// Both pass where nothing is fused, or where the code of fusions is made otherwise.
bool AreSilentUnfused(const std::string& a, const std::string& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (IsOfFusion(i) && a[i] == 'p' && b[i] == 'p') return true;
  }
  return false;
}

bool OnlyComputesAndMoves(const Opcodes& opcodes) {
  return std::all_of(opcodes.begin(), opcodes.end(), [](const std::string& name) {
    return Computes({name}) || Moves().contains(name);
  });
}

// Numbers of fewer than 8 bits are packed: who sorts them writes what is not theirs, and what is
// computed of them in one kernel is unpacked and packed by the same code, which may write too much.
bool AreOfPackedNumbers(const CampaignFinding& large, const CampaignFinding& small) {
  if (!BothHave(large, small, kFewBits)) return false;
  const Opcodes all = OpcodesOf(large), some = OpcodesOf(small);
  if (all.contains("sort") && some.contains("sort")) return true;
  if (!large.triage.place.empty() && large.triage.place == small.triage.place) return true;
  const bool is_wrong = KindOf(large) == Outcome::kWrong;
  if (is_wrong != (KindOf(small) == Outcome::kWrong)) {
    const CampaignFinding& wrong = is_wrong ? large : small;
    const std::string states = TailOf(wrong).states;
    return OnlyComputesAndMoves(is_wrong ? some : all) && AreSilentUnfused(states, states);
  }
  if (!is_wrong) return OnlyComputesAndMoves(all) && OnlyComputesAndMoves(some);
  const std::string a = TailOf(large).states, b = TailOf(small).states;
  const bool both_compute = Computes({large.triage.place}) && Computes({small.triage.place});
  return AreSilentUnfused(a, b) || (both_compute && HaveACommonSilencer(a, b));
}

// One was found behind the other, in the same program and at the same op: what a pass does there,
// code generation does once more.
bool IsBehindTheOther(const CampaignFinding& large, const CampaignFinding& small) {
  return large.index == small.index && large.flags != small.flags && !large.triage.place.empty() &&
         large.triage.place == small.triage.place && large.triage.numbers == small.triage.numbers;
}

bool IsDuplicateOfCode(const CampaignFinding& large, const CampaignFinding& small) {
  if (IsSameDeath(large, small) || IsSameRefusal(large, small)) return true;
  const bool is_of_running = IsOfRunning(large) && IsOfRunning(small);
  // Starts in a type that is too narrow go wrong in many ways, and so do numbers that a type lost.
  for (const char* sign : {kNarrowIndex, kNanForZero}) {
    if (!is_of_running) break;
    if (Has(large, sign) != Has(small, sign)) return false;
    if (Has(large, sign)) return true;
  }
  if (IsOfSamePlace(large, small) || IsOfSameFunction(large, small) ||
      AreWrongAndDeadOfAMove(large, small) || AreWrongAndDeadOfAMove(small, large) ||
      IsReductionInDisguise(large, small) || IsReductionInDisguise(small, large)) {
    return true;
  }
  if (!is_of_running) return false;
  if (AreOfPackedNumbers(large, small)) return true;
  if (Has(small, kFewBits) && !Has(large, kFewBits)) return false;
  const Opcodes needed = OpcodesOf(small);
  if (needed.empty() || !Includes(WithoutTwins(OpcodesOf(large)), WithoutTwins(needed))) {
    return false;
  }
  const Tail a = TailOf(large), b = TailOf(small);
  const bool is_other_number = !a.numbers.empty() && !b.numbers.empty() && a.numbers != b.numbers;
  return !(is_other_number && Computes(needed)) && AreSilencedAlike(a.states, b.states);
}

}  // namespace

size_t OpcodeCount(const CampaignFinding& finding) { return OpcodesOf(finding).size(); }

bool IsDuplicate(const CampaignFinding& large, const CampaignFinding& small) {
  if (!large.triaged || !small.triaged || large.backend != small.backend) return false;
  // What it makes of the number of trips is seen by several passes.
  const bool are_of_running = IsOfRunning(large) && IsOfRunning(small);
  if (BothHave(large, small, kUnsignedLoop) && are_of_running) return true;
  if (IsBehindTheOther(large, small)) return true;
  const std::string family = FamilyOf(large.triage.blamed_rule);
  if (family != FamilyOf(small.triage.blamed_rule)) {
    return IsSilencedByPassOf(large, small) || IsSilencedByPassOf(small, large) ||
           IsWrongFoldedOrNot(large, small) || IsWrongFoldedOrNot(small, large);
  }
  const Opcodes all = OpcodesOf(large), some = OpcodesOf(small);
  if (family.empty()) return IsDuplicateOfCode(large, small);
  if (KindOf(large) != KindOf(small)) return false;
  const Opcodes main = WithoutVariants(family, large.triage.numbers, all),
                other = WithoutVariants(family, small.triage.numbers, some);
  const bool is_other_type = large.triage.blamed_rule != small.triage.blamed_rule;
  if ((main != all || other != some || is_other_type) && main == other) return true;
  if (IsOfSameRewrite(large, small) || IsInControlFlow(large, small)) return true;
  if (!Includes(WithoutTwins(all), WithoutTwins(some))) return false;
  // A function of floats and one of complex numbers are rewritten by two rules.
  const bool is_other_number = large.triage.numbers != small.triage.numbers && Computes(some) &&
                               !large.triage.numbers.empty() && !small.triage.numbers.empty();
  if (is_other_number && some.size() < all.size()) return false;
  if (!large.triage.is_smallest && !some.empty() && some.size() < all.size()) return true;
  // An import looks at one instruction at a time.
  if (large.triage.blamed_rule != "import") return false;
  const bool is_taken_apart = std::all_of(all.begin(), all.end(), [](const std::string& name) {
    return Moves().contains(name) || Parts().contains(name);
  });
  return !some.empty() || is_taken_apart;
}

}  // namespace assay
