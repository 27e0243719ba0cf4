// The program before a pass is read with the arrays of the program after it: first with all of
// them, then, where something is outside its bound, with fewer and fewer, to tell a wrong array
// from one that was computed anew and from a name that means something else.
#include "conformance/dumps/step.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "conformance/cuts/array_judgement.h"
#include "conformance/cuts/cut_check.h"
#include "conformance/cuts/programs/capture_choice.h"
#include "conformance/dumps/pairing.h"
#include "conformance/dumps/tiled_bitcasts.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kMostCarefulReadings = 3;
// From a wrong array to a result many others may depart, one with every reading; a result that is
// not reached says nothing.
constexpr int kMostReadings = 64;

// The oracle's answer when some of the shared arrays are followed.
struct Reading {
  std::vector<Judgement> values;   // by pair
  std::vector<Judgement> results;  // by leaf
  std::vector<std::string> failures, result_failures;
  std::string inconclusive;  // why the analysis ended early
};

// Tells what the oracle reads in the place of a shared array: the value that the program after
// computed, the one that the program before computes from what it reads, or the one that the
// program before computed when it ran by itself.
enum class Read : uint8_t { kTheirs, kMine, kMyRun };

bool Fails(const Judgement& judgement) { return judgement.failed > 0; }

using PointSet = absl::flat_hash_set<CapturePoint>;

// The shared arrays from which the instruction is reached without another between.
std::vector<CapturePoint> Sources(const Instruction& instruction, const PointSet& shared) {
  std::vector<CapturePoint> sources;
  PointSet seen;
  for (const Instruction* operand : instruction.operands())
    for (const CapturePoint& point : NearestCaptures(*operand, shared))
      if (seen.insert(point).second) sources.push_back(point);
  return sources;
}

class StepCheck {
 public:
  StepCheck(const ProgramRun& before, ProgramRun& after,
            const std::vector<const Literal*>& arguments, Oracle& oracle, const Profile& profile,
            const Limits& limits)
      : before_(before),
        after_(after),
        arguments_(arguments),
        oracle_(oracle),
        profile_(profile),
        limits_(limits) {}

  // Returns the captured values that were lent.
  ~StepCheck() {
    for (size_t k = 0; k < captures_.size(); ++k)
      if (is_lent_[k]) after_.values[pairs_[k].after].values = std::move(captures_[k].values);
  }
  StepCheck(const StepCheck&) = delete;
  StepCheck& operator=(const StepCheck&) = delete;

  absl::StatusOr<StepVerdict> Run() {
    verdict_.reason = WhyNotJudged();
    if (!verdict_.reason.empty()) {
      verdict_.kind = StepVerdict::kNotJudged;
      return std::move(verdict_);
    }
    is_for_tpu_ = IsForTpu(*after_.flat.module);
    Pair();
    std::vector<enum Read> reads(pairs_.size(), Read::kTheirs);
    ASSAY_ASSIGN_OR_RETURN(const Reading bold, ReadWith(reads));
    if (!AnyFails(bold)) return Conclude(bold);
    ASSAY_ASSIGN_OR_RETURN(const Reading careful, ReadCarefully(bold, reads));
    const Reading best = Best(bold, careful);
    if (!AnyFails(best)) return Conclude(best);
    return TellWrongFromRenamed(best, std::move(reads));
  }

 private:
  std::string WhyNotJudged() const {
    const auto &old_ones = before_.unknown, &new_ones = after_.unknown;
    for (const std::string& name : new_ones)
      if (!std::binary_search(old_ones.begin(), old_ones.end(), name))
        return StrCat("the pass names a value that is unknown here: ", name);
    for (const std::string& name : old_ones)
      if (!std::binary_search(new_ones.begin(), new_ones.end(), name))
        return StrCat("the pass removes a value that is unknown here: ", name);
    bool is_same = new_ones == old_ones && before_.results.size() == after_.results.size();
    for (size_t k = 0; is_same && k < before_.results.size(); ++k)
      is_same = Compatible(before_.results[k].shape(), after_.results[k].shape());
    return is_same ? "" : "a call of a library reads arrays of other shapes after the pass";
  }

  void Pair() {
    pairs_ = PairValues(before_, after_);
    verdict_.shared = static_cast<int64_t>(pairs_.size());
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const Capture& mine = before_.values[pairs_[k].before];
      Capture& theirs = after_.values[pairs_[k].after];
      const bool is_rounded = is_for_tpu_ && IsReadInBf16(*theirs.instruction);
      is_lent_.push_back(!is_rounded);
      captures_.push_back(
          {mine.instruction, mine.leaf, is_rounded ? theirs.values : std::move(theirs.values)});
      if (is_rounded) RoundToBf16(captures_.back().values);
      const CapturePoint point{mine.instruction, mine.leaf};
      const CapturePoint other{theirs.instruction, theirs.leaf};
      number_[point] = k;
      // If an instruction gives several arrays, the first stands for all in walks over operands.
      for (int64_t leaf : {mine.leaf, int64_t{0}}) shared_before_.insert({mine.instruction, leaf});
      for (int64_t leaf : {theirs.leaf, int64_t{0}})
        shared_after_.insert({theirs.instruction, leaf});
      partner_[other.instruction] = point.instruction;
    }
  }

  absl::StatusOr<Reading> ReadWith(const std::vector<enum Read>& reads) {
    Reading reading;
    reading.values.resize(pairs_.size());
    reading.failures.resize(pairs_.size());
    Captures captures;
    for (size_t k = 0; k < captures_.size(); ++k) {
      if (reads[k] == Read::kMyRun) {
        captures.values.push_back(before_.values[pairs_[k].before]);
        continue;
      }
      captures.values.push_back(std::move(captures_[k]));
      captures.values.back().is_followed = reads[k] == Read::kTheirs;
    }
    captures.visit = [&](const CaptureVisit& visit) {
      auto found = number_.find(CapturePoint{&visit.instruction, visit.leaf});
      if (visit.seen == nullptr || found == number_.end()) return;
      // A followed value may have been rounded since; of one in a loop the literal holds all trips.
      const Literal& whole = after_.values[pairs_[found->second].after].values;
      const bool is_whole = !is_lent_[found->second] &&
                            whole.shape().dimensions() == visit.seen->shape().dimensions();
      const Literal& seen = is_whole ? whole : *visit.seen;
      Judgement judgement = JudgeArray(visit.expected, seen, &reading.failures[found->second]);
      if (IsOwnAnswer(visit.expected, seen)) AllPass(judgement);
      // A comparison that may come out either way is right, and followed from here.
      if (IsPred(visit.seen->element_type())) {
        judgement.passed += judgement.inconclusive;
        judgement.inconclusive = 0;
      }
      AddTo(reading.values[found->second], judgement);
    };
    absl::StatusOr<Expectation> allowed =
        oracle_.ExpectFrom(*before_.flat.module, arguments_, captures, profile_, limits_);
    for (size_t k = 0; k < captures_.size(); ++k)
      if (reads[k] != Read::kMyRun) captures_[k] = std::move(captures.values[k]);
    if (!allowed.ok()) return allowed.status();
    reading.inconclusive = allowed->inconclusive;
    reading.result_failures.resize(after_.results.size());
    for (size_t k = 0; k < after_.results.size(); ++k) {
      reading.results.push_back(
          JudgeResult(*allowed, k, after_.results[k], &reading.result_failures[k]));
      const bool is_there = allowed->inconclusive.empty() && k < allowed->leaves.size();
      if (is_there && IsOwnAnswer(allowed->leaves[k], after_.results[k]))
        AllPass(reading.results.back());
    }
    return reading;
  }

  // A value that the program before computes itself is right, however little is known of other
  // right values.
  static bool IsOwnAnswer(const ArrayExpectation& expected, const Literal& seen) {
    return expected.plain.bytes() == seen.bytes();
  }

  static void AllPass(Judgement& judgement) {
    judgement.passed = judgement.elements;
    judgement.failed = judgement.inconclusive = 0;
    SetVerdict(judgement);
  }

  static bool AnyFails(const Reading& reading) {
    return std::any_of(reading.values.begin(), reading.values.end(), Fails) ||
           std::any_of(reading.results.begin(), reading.results.end(), Fails);
  }

  // An element inside any bound that right values lead to is right, so the better of both answers
  // counts.
  static Reading Best(const Reading& a, const Reading& b) {
    Reading best = b;
    auto take = [](const Judgement& other, Judgement& mine) {
      if (std::pair(other.failed, other.inconclusive) < std::pair(mine.failed, mine.inconclusive))
        mine = other;
    };
    for (size_t k = 0; k < best.values.size(); ++k) take(a.values[k], best.values[k]);
    for (size_t k = 0; k < best.results.size(); ++k) take(a.results[k], best.results[k]);
    return best;
  }

  // The pairs that lead to the array before the pass and do not after it: there it was computed
  // from other arrays, and these were computed anew for it.
  std::vector<size_t> ComputedAnew(const Instruction& before, const Instruction& after) const {
    absl::flat_hash_set<const Instruction*> read;
    for (const CapturePoint& point : Sources(after, shared_after_)) {
      auto partner = partner_.find(point.instruction);
      if (partner != partner_.end()) read.insert(partner->second);
    }
    std::vector<size_t> anew;
    for (const CapturePoint& point : Sources(before, shared_before_)) {
      if (read.contains(point.instruction)) continue;
      for (size_t k = 0; k < pairs_.size(); ++k)
        if (captures_[k].instruction == point.instruction) anew.push_back(k);
    }
    return anew;
  }

  // Reads again without the arrays that the failed ones were not computed from. Arrays that still
  // fail are read without those that they were computed from, too: each of these may mean something
  // else and still be inside its bound, where all of it is the rounding of a larger sum.
  absl::StatusOr<Reading> ReadCarefully(const Reading& bold, std::vector<enum Read>& reads) {
    Reading reading = bold;
    for (int number = 0; number < kMostCarefulReadings; ++number) {
      if (!LetGo(reading, &StepCheck::ComputedAnew, reads)) break;
      ASSAY_ASSIGN_OR_RETURN(reading, ReadWith(reads));
    }
    reading = Best(bold, reading);
    if (!LetGo(reading, &StepCheck::SourcesBefore, reads)) return reading;
    ASSAY_ASSIGN_OR_RETURN(const Reading without, ReadWith(reads));
    return Best(reading, without);
  }

  // For every array that fails, lets those go that `which` names. False: none was followed.
  bool LetGo(const Reading& reading,
             std::vector<size_t> (StepCheck::*which)(const Instruction&, const Instruction&) const,
             std::vector<enum Read>& reads) const {
    bool is_new = false;
    auto let_go = [&](const Instruction& mine, const Instruction& theirs) {
      for (size_t each : (this->*which)(mine, theirs)) {
        is_new = is_new || reads[each] == Read::kTheirs;
        reads[each] = Read::kMine;
      }
    };
    for (size_t k = 0; k < pairs_.size(); ++k) {
      if (Fails(reading.values[k]))
        let_go(*captures_[k].instruction, *after_.values[pairs_[k].after].instruction);
    }
    for (size_t k = 0; k < reading.results.size(); ++k) {
      if (Fails(reading.results[k])) let_go(ResultOf(before_, k), ResultOf(after_, k));
    }
    return is_new;
  }

  std::vector<size_t> SourcesBefore(const Instruction& before, const Instruction&) const {
    absl::flat_hash_set<const Instruction*> sources;
    for (const CapturePoint& point : Sources(before, shared_before_))
      sources.insert(point.instruction);
    std::vector<size_t> pairs;
    for (size_t k = 0; k < pairs_.size(); ++k)
      if (sources.contains(captures_[k].instruction)) pairs.push_back(k);
    return pairs;
  }

  // The instruction whose operands lead to the leaf of the result.
  static const Instruction& ResultOf(const ProgramRun& run, size_t leaf) {
    const Instruction* root = run.flat.module->entry()->root();
    const auto k = static_cast<int64_t>(leaf);
    const bool is_flat = root->opcode() == Opcode::kTuple && k < root->operand_count() &&
                         LeafCount(root->shape()) == root->operand_count();
    return is_flat ? *root->operand(k) : *root;
  }

  // An array that departs from its bound, although the values that it was computed from are read,
  // is wrong, or its name means something else after the pass. The results tell which: with all
  // such arrays let go, they are right if names alone were wrong. Where they stay open, the values
  // that the program before computed by itself are read in their place: the array is wrong if the
  // results are right with them and wrong without.
  absl::StatusOr<StepVerdict> TellWrongFromRenamed(const Reading& best,
                                                   std::vector<enum Read> reads) {
    std::vector<size_t> departed;
    for (size_t k = 0; k < pairs_.size(); ++k)
      if (Fails(best.values[k])) departed.push_back(k);
    std::vector<enum Read> let_go = reads;
    ASSAY_ASSIGN_OR_RETURN(Reading reading, ReadWithout(departed, Read::kMine, let_go));
    const bool is_consistent = !AnyResultFails(best);
    bool is_wrong = AnyResultFails(reading);
    if (!is_wrong && is_consistent && OpenResults(reading) > OpenResults(best)) {
      ASSAY_ASSIGN_OR_RETURN(const Reading mine, ReadWithout(departed, Read::kMyRun, reads));
      is_wrong = AnyResultFails(mine);
    }
    verdict_.renamed = std::count(let_go.begin(), let_go.end(), Read::kMine);
    if (is_wrong) {
      Fail(best, reading, departed);
      if (IsNarrowed()) {
        verdict_ = StepVerdict();
        verdict_.kind = StepVerdict::kNotJudged;
        verdict_.reason =
            "the pass keeps f32 values in bf16, which a TPU's dots and convolutions of default "
            "precision allow";
      }
      return std::move(verdict_);
    }
    for (size_t k = 0; k < pairs_.size(); ++k)
      if (let_go[k] != Read::kTheirs) reading.values[k] = Judgement();  // they say nothing
    ASSAY_ASSIGN_OR_RETURN(StepVerdict verdict, Conclude(reading));
    verdict.is_doubtful = is_consistent;
    return verdict;
  }

  // Reads `without` as `how` says, and then all that departs for that reason, until nothing does.
  absl::StatusOr<Reading> ReadWithout(const std::vector<size_t>& without, enum Read how,
                                      std::vector<enum Read>& reads) {
    for (size_t each : without) reads[each] = Replaced(each, how);
    ASSAY_ASSIGN_OR_RETURN(Reading reading, ReadWith(reads));
    for (int number = 0; number < kMostReadings; ++number) {
      bool is_new = false;
      for (size_t k = 0; k < pairs_.size(); ++k) {
        if (reads[k] != Read::kTheirs || !Fails(reading.values[k])) continue;
        reads[k] = Replaced(k, how);
        is_new = true;
      }
      if (!is_new) break;
      ASSAY_ASSIGN_OR_RETURN(reading, ReadWith(reads));
    }
    return reading;
  }

  // A loop that makes another number of trips after the pass has no run to put in its place.
  enum Read Replaced(size_t pair, enum Read how) const {
    const Shape& mine = before_.values[pairs_[pair].before].values.shape();
    return Compatible(mine, captures_[pair].values.shape()) ? how : Read::kMine;
  }

  static bool AnyResultFails(const Reading& reading) {
    return std::any_of(reading.results.begin(), reading.results.end(), Fails);
  }

  static int64_t OpenResults(const Reading& reading) {
    Judgement sum;
    for (const Judgement& judgement : reading.results) AddTo(sum, judgement);
    return sum.inconclusive;
  }

  static bool IsRoundingToBf16(const Instruction& instruction) {
    return instruction.opcode() == Opcode::kConvert &&
           instruction.shape().element_type() == ElementType::kBF16 &&
           instruction.operand(0)->shape().element_type() == ElementType::kF32;
  }

  // A TPU's dots and convolutions of default precision may read f32 in bf16, and its compiler keeps
  // such values in bf16. Layouts with tiles are a TPU's.
  static bool IsForTpu(const Module& flat) {
    bool has_tiles = false, has_dots = false;
    for (const Computation* computation : flat.computations()) {
      for (const Instruction* each : *computation) {
        const bool is_dot =
            each->opcode() == Opcode::kDot || each->opcode() == Opcode::kConvolution;
        has_dots = has_dots || (is_dot && each->shape().element_type() == ElementType::kF32 &&
                                each->attributes().Find(Attr::kOperandPrecision) == nullptr);
        has_tiles = has_tiles || HasTiles(each->shape());
      }
    }
    return has_tiles && has_dots;
  }

  // All that read the value read it rounded.
  static bool IsReadInBf16(const Instruction& instruction) {
    return !instruction.users().empty() && instruction.parent()->root() != &instruction &&
           std::all_of(instruction.users().begin(), instruction.users().end(),
                       [](const Instruction* user) { return IsRoundingToBf16(*user); });
  }

  static void RoundToBf16(Literal& values) {
    const FloatFormat& format = Format(ElementType::kBF16);
    for (int64_t i = 0; i < values.element_count(); ++i)
      values.SetDouble(i, DecodeFloat(format, EncodeFloat(format, values.GetDouble(i))));
  }

  // True if the pass rounds more values to bf16 than were rounded before it.
  bool IsNarrowed() const {
    auto count = [](const Module& module) {
      int64_t narrowed = 0;
      for (const Computation* computation : module.computations())
        for (const Instruction* each : *computation) narrowed += IsRoundingToBf16(*each);
      return narrowed;
    };
    return is_for_tpu_ && count(*after_.flat.module) > count(*before_.flat.module);
  }

  std::string NameOf(size_t pair) const {
    return OriginOf(before_.flat, *captures_[pair].instruction).name();
  }

  void Fail(const Reading& best, const Reading& last, const std::vector<size_t>& departed) {
    verdict_.kind = StepVerdict::kFailed;
    Count(best);
    if (!departed.empty()) {
      const size_t first = departed.front();
      Blame(*captures_[first].instruction, captures_[first].leaf);
      verdict_.where = NameOf(first);
      verdict_.failure = best.failures[first];
    } else {
      for (const Reading* reading : {&best, &last}) {
        for (size_t k = 0; k < reading->results.size() && verdict_.where.empty(); ++k) {
          if (!Fails(reading->results[k])) continue;
          Blame(ResultOf(before_, k), 0);
          verdict_.where = StrCat("result ", k);
          verdict_.failure = reading->result_failures[k];
        }
      }
    }
    verdict_.reason = StrCat("the stretch to ", verdict_.where, " is wrong");
  }

  void Blame(const Instruction& instruction, int64_t leaf) {
    const Instruction& origin = OriginOf(before_.flat, instruction);
    verdict_.opcode = Name(origin.opcode());
    verdict_.op_name = OpNameOf(origin);
    verdict_.source = SourceOf(origin);
    for (const Instruction* each : StretchOf({&instruction, leaf}, shared_before_))
      verdict_.stretch.push_back(OriginOf(before_.flat, *each).name());
  }

  void Count(const Reading& reading) {
    Judgement sum;
    for (const Judgement& judgement : reading.values) AddTo(sum, judgement);
    for (const Judgement& judgement : reading.results) AddTo(sum, judgement);
    verdict_.elements = sum.elements;
    verdict_.failed = sum.failed;
    verdict_.undecided = sum.inconclusive;
  }

  // Nothing fails.
  absl::StatusOr<StepVerdict> Conclude(const Reading& reading) {
    Count(reading);
    Judgement results;
    for (const Judgement& judgement : reading.results) AddTo(results, judgement);
    const double most = kMostUndecided * static_cast<double>(verdict_.elements);
    verdict_.kind = StepVerdict::kPassed;
    if (!reading.inconclusive.empty()) {
      verdict_.kind = StepVerdict::kInconclusive;
      verdict_.reason = reading.inconclusive;
    } else if (static_cast<double>(verdict_.undecided) > most) {
      verdict_.kind = StepVerdict::kInconclusive;
      verdict_.reason =
          StrCat(verdict_.undecided, " of ", verdict_.elements, " elements stay undecided, ",
                 results.inconclusive, " of them in the results", FirstOpen(reading));
    }
    return std::move(verdict_);
  }

  std::string FirstOpen(const Reading& reading) const {
    for (size_t k = 0; k < pairs_.size(); ++k) {
      if (reading.values[k].inconclusive == 0) continue;
      const Instruction& origin = OriginOf(before_.flat, *captures_[k].instruction);
      return StrCat("; the first is ", Name(origin.opcode()), " ", origin.name());
    }
    return "";
  }

  const ProgramRun& before_;
  ProgramRun& after_;
  const std::vector<const Literal*>& arguments_;
  Oracle& oracle_;
  const Profile& profile_;
  const Limits& limits_;
  std::vector<ValuePair> pairs_;
  std::vector<Capture> captures_;  // by pair: instructions of `before`, values of `after`
  std::vector<bool> is_lent_;      // by pair: the value was moved, not copied
  absl::flat_hash_map<CapturePoint, size_t> number_;
  PointSet shared_before_, shared_after_;
  absl::flat_hash_map<const Instruction*, const Instruction*> partner_;  // after to before
  bool is_for_tpu_ = false;
  StepVerdict verdict_;
};

}  // namespace

std::string_view Name(StepVerdict::Kind kind) {
  switch (kind) {
    case StepVerdict::kUnchanged:
      return "unchanged";
    case StepVerdict::kPassed:
      return "passed";
    case StepVerdict::kInconclusive:
      return "inconclusive";
    case StepVerdict::kNotJudged:
      return "not judged";
    case StepVerdict::kFailed:
      return "failed";
  }
  return "";
}

std::string WhyNotComparable(const Module& before, const Module& after) {
  const Computation &a = *before.entry(), &b = *after.entry();
  if (a.parameter_count() != b.parameter_count()) {
    return StrCat("the program takes ", b.parameter_count(), " parameters after the pass and ",
                  a.parameter_count(), " before");
  }
  for (int64_t k = 0; k < a.parameter_count(); ++k) {
    const Shape &mine = a.parameter(k)->shape(), &theirs = b.parameter(k)->shape();
    if (!Compatible(mine, theirs)) {
      return StrCat("parameter ", k, " is ", theirs.ToString(), " after the pass and ",
                    mine.ToString(), " before");
    }
  }
  const Shape &mine = a.root()->shape(), &theirs = b.root()->shape();
  if (Compatible(mine, theirs)) return "";
  return StrCat("the result is ", theirs.ToString(), " after the pass and ", mine.ToString(),
                " before");
}

absl::StatusOr<StepVerdict> JudgeStep(const ProgramRun& before, ProgramRun& after,
                                      const std::vector<const Literal*>& arguments, Oracle& oracle,
                                      const Profile& profile, const Limits& limits) {
  return StepCheck(before, after, arguments, oracle, profile, limits).Run();
}

}  // namespace assay
