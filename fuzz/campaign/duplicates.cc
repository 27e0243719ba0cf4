// The rules, and which of them hold where a pass is to blame, where none is, and everywhere.
#include "fuzz/campaign/duplicates.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "fuzz/triage/bucket.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A reason for which the first is the bug of the second.
using Rule = bool (*)(const Looks& large, const Looks& small);

bool AnyHolds(absl::Span<const Rule> rules, const Looks& large, const Looks& small) {
  return std::any_of(rules.begin(), rules.end(), [&](Rule rule) { return rule(large, small); });
}
// Holds whichever of the two has more opcodes.
template <Rule kRule>
bool EitherWay(const Looks& large, const Looks& small) {
  return kRule(large, small) || kRule(small, large);
}

template <typename Predicate>
bool All(const Opcodes& opcodes, Predicate predicate) {
  return std::all_of(opcodes.begin(), opcodes.end(), predicate);
}

bool AreOfOneKind(const Looks& a, const Looks& b) { return a.kind == b.kind; }
bool AreOfRunning(const Looks& a, const Looks& b) { return a.IsOfRunning() && b.IsOfRunning(); }
bool BothHave(const Looks& a, const Looks& b, const char* sign) {
  return a.Has(sign) && b.Has(sign);
}
bool AreOfOtherNumbers(const Looks& a, const Looks& b) {
  return !a.numbers.empty() && !b.numbers.empty() && a.numbers != b.numbers;
}

// ---- Whoever is to blame.

// What is made of the number of trips of a loop is seen by several passes.
bool AreUnsignedLoops(const Looks& large, const Looks& small) {
  return BothHave(large, small, kUnsignedLoop) && AreOfRunning(large, small);
}

// What writes where it must not is a wrong value, a crash, or a process that never answers.
bool HangsOfANarrowIndex(const Looks& hanging, const Looks& other) {
  return hanging.kind == Outcome::kTimeout && other.IsOfRunning() && other.rule.empty() &&
         BothHave(hanging, other, kNarrowIndex);
}

// A collective that takes packed numbers for whole bytes writes beside its arrays.
bool CrossDevicesPacked(const Looks& large, const Looks& small) {
  const auto may_be_spoiled = [](const Looks& looks) {
    return looks.rule.empty() &&
           (looks.kind == Outcome::kTimeout || (looks.IsOfRunning() && !looks.IsWrong()));
  };
  return BothHave(large, small, kFewBits) && may_be_spoiled(large) && may_be_spoiled(small) &&
         std::any_of(large.opcodes.begin(), large.opcodes.end(), [&small](const std::string& name) {
           return IsCollective(name) && small.opcodes.contains(name);
         });
}

// What two programs beside each other need, a single program may hold as well: all that the reduced
// pair has, whatever is computed of it.
bool IsInOneProgram(const Looks& one, const Looks& pair) {
  return pair.Has(kBesideAnother) && !one.Has(kBesideAnother) && one.IsWrong() && pair.IsWrong() &&
         one.rule.empty() && pair.rule.empty() && one.opcodes == pair.opcodes &&
         AreSilencedAlike(one.states, pair.states);
}

// ---- Different passes are to blame, or a pass for one of the two.

// The pass is to blame for the small program; that of `large`, for which none is, passes without
// it and has all that the small one has. What made a constant that is folded matters little.
bool IsSilencedByPassOf(const Looks& large, const Looks& small) {
  if (!large.rule.empty() || !AreOfOneKind(large, small)) return false;
  const int64_t place = PlaceOfPass(small.rule);
  const Opcodes needed =
      small.rule == "constant_folding" ? WithoutMoves(small.opcodes) : small.opcodes;
  return place >= 0 && place < static_cast<int64_t>(large.states.size()) &&
         large.states[static_cast<size_t>(place)] == 'p' && !needed.empty() &&
         Includes(large.opcodes, needed);
}

// A function is wrong of constants, which are folded, as it is of what comes at run time; whatever
// is folded around it. Of integers the two are wrong in different ways, if at all.
bool IsWrongFoldedOrNot(const Looks& folded, const Looks& other) {
  if (folded.rule != "constant_folding" || !other.rule.empty()) return false;
  const bool is_told = folded.place.empty() ? folded.opcodes == other.opcodes
                                            : other.opcodes == Opcodes{folded.place};
  return is_told && folded.IsWrong() && other.IsWrong() && other.opcodes.size() == 1 &&
         folded.numbers != "i" && !AreOfOtherNumbers(folded, other) &&
         IsElementwise(*other.opcodes.begin());
}

// Integers of few bits are made wider, and what is computed of them is folded then: without either
// pass it is right.
bool AreWidenedAndFolded(const Looks& folded, const Looks& widened) {
  return folded.rule == "constant_folding" && widened.family == "float-normalization-of integers" &&
         AreOfOneKind(folded, widened) && BothHave(folded, widened, kFewBits) &&
         !folded.opcodes.empty() && folded.opcodes == widened.opcodes;
}

// ---- The same pass is to blame for both, or passes of one family.

// What asks for the sign of an integer: a wrong belief about it is one bug, whoever asks. The
// smallest number has no absolute value, so abs is believed as well as it asks.
Opcodes WithoutWhoAsksForTheSign(const Opcodes& opcodes) {
  static const Opcodes kAsking = {"abs", "compare", "divide", "remainder", "sign"};
  Opcodes believed;
  bool is_asked = false;
  for (const std::string& name : opcodes) {
    const bool asks = kAsking.contains(name);
    is_asked |= asks;
    if (!asks && (name == "iota" || !IsMove(name))) believed.insert(name);
  }
  if (believed.empty() && opcodes.contains("abs") && opcodes.size() > 1) believed = {"abs"};
  if (!is_asked || believed.empty()) return opcodes;
  believed.insert("its sign");
  return believed;
}

// The evaluator of constants reads the starts of all ops that have some alike.
Opcodes WithoutWhoHasStarts(const Opcodes& opcodes) {
  static const Opcodes kWithStarts = {"dynamic-slice", "dynamic-update-slice", "gather"};
  Opcodes result;
  bool has_starts = false;
  for (const std::string& name : WithoutMoves(opcodes)) {
    has_starts |= kWithStarts.contains(name);
    result.insert(kWithStarts.contains(name) ? "starts" : name);
  }
  return has_starts ? result : opcodes;
}

// What gathers from few places, or scatters to them, becomes a slice.
Opcodes WithoutWhatBecomesASlice(Opcodes opcodes) {
  if (opcodes.contains("dynamic-slice")) {
    opcodes.erase("gather");
    opcodes.erase("scatter");
  }
  return opcodes;
}

// A quotient by a constant is a product, which is a choice where one factor was a predicate.
Opcodes WithoutQuotientsOfConverts(Opcodes opcodes) {
  if (opcodes == Opcodes{"convert", "divide"}) return {"convert", "multiply"};
  return opcodes;
}

// What other devices are sent, or send, is rewritten as it is on one. A collective that combines
// has a combiner.
Opcodes WithoutCollectives(const Opcodes& opcodes) {
  static const Opcodes kCombiners = {"add", "and", "maximum", "minimum", "multiply", "or", "xor"};
  const bool combines = opcodes.contains("all-reduce") || opcodes.contains("reduce-scatter");
  Opcodes result;
  for (const std::string& name : opcodes)
    if (!IsCollective(name) && !(combines && kCombiners.contains(name))) result.insert(name);
  return result.empty() ? opcodes : result;
}

// What is believed of the sign of an integer is believed behind what hands the integer on, too.
bool IsBelievedBehindWhatHandsOn(const Looks& large, const Looks& small) {
  static const Opcodes kHandingOn = {"compare", "convert", "sort"};  // sorts compare
  static const std::string kItsSign = "its sign";
  if (large.family != "algsimp" || large.numbers != "i" || small.numbers != "i") return false;
  const Opcodes all = WithoutWhoAsksForTheSign(large.opcodes);
  const Opcodes believed = WithoutWhoAsksForTheSign(small.opcodes);
  return all.contains(kItsSign) && believed.contains(kItsSign) && Includes(all, believed) &&
         All(all, [&believed](const std::string& name) {
           return believed.contains(name) || kHandingOn.contains(name) || IsMove(name);
         });
}

// Constants are folded op by op: what is folded before and behind the op that is wrong is no other
// bug.
bool IsFoldedAlike(const Looks& large, const Looks& small) {
  const bool are_folded = large.rule == "constant_folding" && small.rule == large.rule;
  return are_folded && !large.place.empty() && large.numbers == small.numbers &&
         TwinOf(large.place) == TwinOf(small.place) &&
         WithoutMoves(small.opcodes) == Opcodes{small.place};
}

// What the pass does not look at is left out, or given one name.
Opcodes WithoutVariants(const Looks& looks) {
  if (looks.family == "constant_folding" || looks.family == "import")
    return WithoutWhoHasStarts(looks.opcodes);
  if (looks.family == "algsimp") {
    // A comparison of floats forgets NaN, whatever cannot be negative else.
    if (looks.numbers == "f" && looks.place == "compare") return {"compare"};
    // A batch norm is many ops by then, of which it rewrites some, whatever gives it its operands.
    for (const char* norm : {"batch-norm-training", "batch-norm-inference", "batch-norm-grad"}) {
      if (looks.opcodes.contains(norm)) return {norm};
    }
    Opcodes opcodes = WithoutWhatBecomesASlice(WithoutCollectives(looks.opcodes));
    if (looks.numbers == "f" && opcodes.size() > 1) opcodes.erase("real");  // a float is its own
    return looks.numbers == "i" ? WithoutWhoAsksForTheSign(opcodes)
                                : WithoutQuotientsOfConverts(opcodes);
  }
  // What computes in too many bits and is converted then, is the same whatever it computes.
  const bool is_converted = looks.family.rfind("float-normalization-", 0) == 0 &&
                            looks.opcodes.contains("convert") && looks.opcodes.size() == 2;
  return is_converted ? Opcodes{"convert"} : looks.opcodes;
}

bool IsAVariant(const Looks& large, const Looks& small) {
  const Opcodes main = WithoutVariants(large), other = WithoutVariants(small);
  const bool differ = main != large.opcodes || other != small.opcodes || large.rule != small.rule;
  return differ && main == other;
}

// A pass goes wrong about an op of which it matters little what gives it its operands: a slice by
// a sum of starts, say.
bool IsOfSameRewrite(const Looks& large, const Looks& small) {
  return !large.place.empty() && large.place == small.place && !IsElementwise(large.place) &&
         !small.opcodes.empty() && Includes(large.opcodes, small.opcodes) &&
         All(large.opcodes, [&small](const std::string& name) {
           return small.opcodes.contains(name) || IsElementwise(name) || IsMove(name);
         });
}

// The same rewrite in the body of a loop or in a branch, with what counts the trips.
bool IsInControlFlow(const Looks& large, const Looks& small) {
  static const Opcodes kControl = {"call", "conditional", "fusion", "while"};
  static const Opcodes kCounting = {"add", "and", "compare", "subtract"};
  const bool is_controlled =
      std::any_of(large.opcodes.begin(), large.opcodes.end(),
                  [](const std::string& name) { return kControl.contains(name); });
  return is_controlled && !small.opcodes.empty() && Includes(large.opcodes, small.opcodes) &&
         All(large.opcodes, [&small](const std::string& name) {
           return small.opcodes.contains(name) || kControl.contains(name) ||
                  kCounting.contains(name);
         });
}

// The time for reducing ran out. A function of floats and one of complex numbers are rewritten by
// two rules.
bool WouldBecomeSmaller(const Looks& large, const Looks& small) {
  const bool is_other_function =
      AreOfOtherNumbers(large, small) &&
      std::any_of(small.opcodes.begin(), small.opcodes.end(), IsElementwise);
  return !is_other_function && !large.is_smallest && !small.opcodes.empty() &&
         small.opcodes.size() < large.opcodes.size() &&
         Includes(WithoutTwins(large.opcodes), WithoutTwins(small.opcodes));
}

// A square is a product, a power or a contraction, and what a pass takes it for is one belief.
bool AreOfASquare(const Looks& large, const Looks& small) {
  const auto squared = [](const Looks& looks) {
    Opcodes result;
    for (const std::string& name : WithoutMoves(looks.opcodes)) {
      const bool is_square = name == "power" || name == "convolution" || name == "dot";
      result.insert(is_square ? "multiply" : name);
    }
    return result;
  };
  const Opcodes one = squared(large);
  return (one == Opcodes{"abs", "multiply"} || one == Opcodes{"multiply", "sqrt"}) &&
         one == squared(small) && !AreOfOtherNumbers(large, small);
}

// An import looks at one instruction at a time: what is misread is so whatever is done with it. A
// constant is misread where all that is left moves it, pads with it, takes it apart, or hands it to
// other devices.
bool IsImportedAlike(const Looks& large, const Looks& small) {
  if (large.rule != "import") return false;
  if (small.opcodes.empty()) {
    static const Opcodes kCombiners = {"add", "maximum", "minimum", "multiply"};
    const bool is_sent = std::any_of(large.opcodes.begin(), large.opcodes.end(), IsCollective);
    return All(large.opcodes, [is_sent](const std::string& name) {
      return IsMove(name) || IsPart(name) || name == "pad" || IsCollective(name) ||
             (is_sent && kCombiners.contains(name));
    });
  }
  const bool is_other_function =
      AreOfOtherNumbers(large, small) && small.opcodes.size() < large.opcodes.size() &&
      std::any_of(small.opcodes.begin(), small.opcodes.end(), IsElementwise);
  return !is_other_function && Includes(WithoutTwins(large.opcodes), WithoutTwins(small.opcodes));
}

// ---- No pass is to blame: the compiler dies or refuses.

// What a compiler that died looked at: neither moves nor, of integers, which of the two divisions.
Opcodes Telling(const Looks& looks) {
  Opcodes telling;
  for (const std::string& name : WithoutMoves(looks.opcodes))
    telling.insert(name == "divide" ? "remainder" : name);
  return telling;
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
bool IsSameRefusal(const Looks& large, const Looks& small) {
  const bool is_of_a_constant = large.words.find(" part ") != std::string::npos &&
                                large.words.find(" is o") != std::string::npos;
  const auto may_have = [is_of_a_constant](const Looks& looks) {
    return is_of_a_constant || All(Telling(looks), IsElementwise);
  };
  return large.kind == Outcome::kRejected && small.kind == Outcome::kRejected && may_have(large) &&
         may_have(small) && AreTheSameWords(large.words, small.words);
}

// The same check of the compiler fails in both; or both die of the same op without a word, as of a
// division by zero while constants are folded, or of a check that many ops share, as are those that
// MLIR makes of each of its operations.
bool IsSameDeath(const Looks& large, const Looks& small) {
  const std::string& words = large.words;
  if (!AreOfOneKind(large, small) || words.empty() || words != small.words) return false;
  const Opcodes all = Telling(large), some = Telling(small);
  const bool is_shared_check =
      words.find("status_macros.cc:") != words.npos || words.find(" error: # op ") != words.npos;
  const bool share_an_op = std::any_of(all.begin(), all.end(), [&some](const std::string& name) {
    return some.contains(name) && !IsElementwise(name);
  });
  if (is_shared_check && share_an_op) return true;
  const std::string_view death = DeathIn(words);
  if (is_shared_check || death == words) return !some.empty() && Includes(all, some);
  const bool is_check = !death.empty() || words.find(".cc:") != words.npos;
  return is_check || Includes(large.opcodes, small.opcodes);
}

// What becomes the same few ops has one cause, whichever of its checks a compiler fails first: that
// may depend on the order of addresses.
bool DieOfTheSameOps(const Looks& large, const Looks& small) {
  return AreOfOneKind(large, small) && large.kind == Outcome::kCompileCrash && large.is_smallest &&
         small.is_smallest && large.opcodes.size() > 1 && large.opcodes == small.opcodes &&
         large.numbers == small.numbers && !large.words.empty() && !small.words.empty();
}

// ---- No pass is to blame: the program runs, and is wrong or dies.

// The same op is wrong in both, on the same kind of numbers, whatever stands around it. One of the
// usual flags may silence it in a program where it leaves the pass nothing to do that is wrong.
bool IsOfSamePlace(const Looks& large, const Looks& small) {
  if (small.place.empty() || !AreOfOneKind(large, small) || large.numbers != small.numbers)
    return false;
  const bool have_one_silencer = !large.silencing.empty() && large.silencing == small.silencing;
  if (TwinOf(large.place) == TwinOf(small.place)) {
    return have_one_silencer || AreSilencedAlike(large.states, small.states) ||
           HaveACommonSilencer(large.states, small.states);
  }
  // A combiner in more words has no name by which the op could fold.
  const auto op_of = [](const std::string& place) { return place.substr(0, place.find('[')); };
  return have_one_silencer && op_of(large.place) == op_of(small.place) &&
         Includes(large.opcodes, small.opcodes);
}

// A function is wrong alone, and in the other program with what computes its operand: whether they
// are fused decides what of the operand is rounded. One that is alone in both has one formula, of
// which an optimizer may round a step otherwise.
bool IsOfSameFunction(const Looks& large, const Looks& small) {
  const bool is_formula = large.opcodes == small.opcodes && IsApproximate(small.place);
  return AreOfOneKind(large, small) && IsElementwise(small.place) && large.place == small.place &&
         small.opcodes == Opcodes{small.place} && large.numbers == small.numbers &&
         (is_formula || AreSilencedAlikeUnfused(large.states, small.states));
}

// An op that moves elements is wrong in one program, and kills another in which all do no more, as
// what writes beside its array does.
bool AreWrongAndDeadOfAMove(const Looks& wrong, const Looks& dead) {
  return wrong.IsWrong() && dead.kind == Outcome::kRunCrash && IsMove(wrong.place) &&
         dead.opcodes.contains(wrong.place) && All(wrong.opcodes, IsMove) &&
         All(dead.opcodes, IsMove);
}

// A window over all there is becomes a reduction, and a combiner in many words one op, unless the
// pass that makes it so is off.
bool IsReductionInDisguise(const Looks& disguised, const Looks& reduction) {
  const std::string prefix = "reduce-window[", plain = "reduce[", wanted = TwinOf(reduction.place);
  std::string place = TwinOf(disguised.place);
  if (place.rfind(prefix, 0) == 0) place = plain + place.substr(prefix.size());
  if (wanted.rfind(plain, 0) != 0 || place != wanted || !AreOfOneKind(disguised, reduction) ||
      disguised.numbers != reduction.numbers) {
    return false;
  }
  std::string states = disguised.states;
  for (size_t i = 0; i < std::min(states.size(), reduction.states.size()); ++i) {
    if (IsPassAt(i) && states[i] == 'p') states[i] = reduction.states[i];
  }
  return states == reduction.states;
}

// A convolution without a window is a dot, and whoever multiplies complex numbers there, wherever
// their parts stand, overflows in the same way.
bool ContractComplexNumbers(const Looks& large, const Looks& small) {
  const auto contracts = [](const Looks& looks) {
    return looks.IsWrong() && looks.numbers == "c" && !WithoutMoves(looks.opcodes).empty() &&
           All(WithoutMoves(looks.opcodes),
               [](const std::string& name) { return name == "dot" || name == "convolution"; });
  };
  return contracts(large) && contracts(small);
}

// Within the bodies of loops, scans and windows 8-bit floats of one zero are converted by code that
// is wrong about their least numbers, whatever is done with them.
bool AreConvertedInBodies(const Looks& large, const Looks& small) {
  static const Opcodes kWithBodies = {"reduce-window", "scan", "select-and-scatter", "while"};
  const auto has_body = [](const Looks& looks) {
    return looks.IsWrong() &&
           std::any_of(looks.opcodes.begin(), looks.opcodes.end(),
                       [](const std::string& name) { return kWithBodies.contains(name); });
  };
  return BothHave(large, small, kOneZero) && has_body(large) && has_body(small);
}

// A topk becomes a sort.
bool Sorts(const Looks& looks) {
  return looks.opcodes.contains("sort") || looks.opcodes.contains("topk");
}

// What sorts by such an order goes wrong whatever else is sorted along.
bool SortByOrderOfBrainFloats(const Looks& large, const Looks& small) {
  return BothHave(large, small, kOrderOfBrainFloats) && Sorts(large) && Sorts(small) &&
         AreSilencedAlike(large.states, small.states);
}

// Numbers of fewer than 8 bits are packed: who sorts them writes what is not theirs, and what is
// computed of them in one kernel is unpacked and packed by the same code, which may write too much.
bool AreOfPackedNumbers(const Looks& large, const Looks& small) {
  if (!BothHave(large, small, kFewBits)) return false;
  if (Sorts(large) && Sorts(small)) return true;
  if (!large.place.empty() && large.place == small.place) return true;
  // A program that died has no states; it counts where nothing else could have killed it.
  const auto is_of_a_kernel = [](const Looks& looks) {
    return looks.IsWrong() ? AreSilentUnfused(looks.states, looks.states)
                           : All(looks.opcodes, [](const std::string& name) {
                               return IsElementwise(name) || IsMove(name);
                             });
  };
  const bool both_compute = large.IsWrong() && small.IsWrong() && IsElementwise(large.place) &&
                            IsElementwise(small.place);
  if (both_compute && HaveACommonSilencer(large.states, small.states)) return true;
  if (large.IsWrong() && small.IsWrong()) return AreSilentUnfused(large.states, small.states);
  return is_of_a_kernel(large) && is_of_a_kernel(small);
}

// Nobody can tell which op is wrong of one of them, because it is right when all are results; both
// fold with the same op, and what stands around that is fused with it.
bool FoldAlike(const Looks& large, const Looks& small) {
  const auto folds = [](const Looks& looks) {
    Opcodes result;
    for (const std::string& name : WithoutMoves(looks.opcodes)) {
      if (!IsElementwise(name) && !IsCollective(name)) result.insert(name);
    }
    return result;
  };
  const Opcodes all = WithoutTwins(large.opcodes), some = WithoutTwins(small.opcodes);
  static const Opcodes kCombiners = {"add", "and", "maximum", "multiply", "xor"};
  const bool share_a_combiner = std::any_of(
      kCombiners.begin(), kCombiners.end(),
      [&](const std::string& name) { return all.contains(name) && some.contains(name); });
  return (large.place.empty() || small.place.empty()) && large.IsWrong() && small.IsWrong() &&
         !folds(large).empty() && folds(large) == folds(small) && share_a_combiner &&
         large.numbers == small.numbers && AreSilencedAlike(large.states, small.states);
}

// Nobody can tell which op is wrong of either. Both compute the same and move it otherwise; a pass
// that rewrites the moves of one may silence that.
bool AreMovedOtherwise(const Looks& large, const Looks& small) {
  const auto computing = [](const Looks& looks) {
    Opcodes result = WithoutTwins(WithoutMoves(looks.opcodes));
    result.erase("pad");
    return result;
  };
  std::string states = large.states;
  for (size_t i = 0; i < std::min(states.size(), small.states.size()); ++i) {
    if (IsPassAt(i)) states[i] = small.states[i];
  }
  const Opcodes all = computing(large);
  return large.place.empty() && small.place.empty() && large.IsWrong() && small.IsWrong() &&
         large.numbers == small.numbers && all.size() > 1 && all == computing(small) &&
         AreSilencedAlike(states, small.states);
}

// Nobody can tell which op is wrong, and all are moves: an update in place of what it is cut from,
// whatever moves the result.
bool UpdateWhatTheyRead(const Looks& large, const Looks& small) {
  const auto updates = [](const Looks& looks) {
    return looks.IsWrong() && looks.place.empty() &&
           WithoutMoves(looks.opcodes) == Opcodes{"dynamic-update-slice", "slice"};
  };
  return updates(large) && updates(small) && AreSilencedAlike(large.states, small.states);
}

// What is wrong in the small program is in the large one, too.
bool HasAllOf(const Looks& large, const Looks& small) {
  if (small.Has(kFewBits) && !large.Has(kFewBits)) return false;
  if (small.opcodes.empty() ||
      !Includes(WithoutTwins(large.opcodes), WithoutTwins(small.opcodes))) {
    return false;
  }
  const bool is_function = std::any_of(small.opcodes.begin(), small.opcodes.end(), IsElementwise);
  return !(is_function && AreOfOtherNumbers(large, small)) &&
         AreSilencedAlike(large.states, small.states);
}

// Signs that name a cause: who has one is no duplicate of who has not, and of all others that have
// it. What is right but for another program in the same module is one; starts in a type that is too
// narrow go wrong in many ways, and so do numbers that a type lost.
constexpr const char* kCauses[] = {kBesideAnother, kNarrowIndex, kNanForZero};

constexpr Rule kRulesOfAll[] = {AreUnsignedLoops, EitherWay<HangsOfANarrowIndex>,
                                CrossDevicesPacked, EitherWay<IsInOneProgram>};
constexpr Rule kRulesAcrossPasses[] = {EitherWay<IsSilencedByPassOf>, EitherWay<IsWrongFoldedOrNot>,
                                       EitherWay<AreWidenedAndFolded>};
constexpr Rule kRulesOfPasses[] = {
    IsAVariant,    IsOfSameRewrite,    IsInControlFlow, IsBelievedBehindWhatHandsOn,
    IsFoldedAlike, WouldBecomeSmaller, IsImportedAlike, AreOfASquare};
constexpr Rule kRulesOfDeaths[] = {IsSameDeath, DieOfTheSameOps, IsSameRefusal};
constexpr Rule kRulesOfRunning[] = {IsOfSamePlace,
                                    IsOfSameFunction,
                                    EitherWay<AreWrongAndDeadOfAMove>,
                                    EitherWay<IsReductionInDisguise>,
                                    ContractComplexNumbers,
                                    AreConvertedInBodies,
                                    AreOfPackedNumbers,
                                    SortByOrderOfBrainFloats,
                                    FoldAlike,
                                    AreMovedOtherwise,
                                    UpdateWhatTheyRead,
                                    HasAllOf};

}  // namespace

bool IsDuplicate(const Looks& large, const Looks& small) {
  if (AnyHolds(kRulesOfAll, large, small)) return true;
  if (large.family != small.family) return AnyHolds(kRulesAcrossPasses, large, small);
  if (!large.family.empty())
    return AreOfOneKind(large, small) && AnyHolds(kRulesOfPasses, large, small);
  if (AnyHolds(kRulesOfDeaths, large, small)) return true;
  if (!AreOfRunning(large, small)) return false;
  for (const char* cause : kCauses) {
    if (large.Has(cause) || small.Has(cause)) return BothHave(large, small, cause);
  }
  return AnyHolds(kRulesOfRunning, large, small);
}

}  // namespace assay
