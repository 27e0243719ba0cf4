// One compilation of a program with captures, what the oracle says of its run in three ways, and
// the judgement of every captured array and result by all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/cuts/cut_check.h"
#include "conformance/cuts/drawn_spread.h"
#include "conformance/cuts/programs/capture_module.h"

namespace assay {

// Fewer elements that stay undecided are not worth another compilation.
inline constexpr double kFewUndecided = 1e-4;

using PointSet = absl::flat_hash_set<CapturePoint>;

// The oracle's answer to one run with captures.
struct Reading {
  absl::flat_hash_map<CapturePoint, Judgement> captured;
  absl::flat_hash_map<CapturePoint, std::string> failures;
  std::vector<CapturePoint> order;  // of evaluation
  UselessElements useless;
  // For each instruction, whether its array had elements with a useless bound when it was visited
  // last; and those that had some while their operands had none, in some trip.
  absl::flat_hash_map<const Instruction*, bool> is_useless_now;
  std::vector<const Instruction*> first_losses;
  absl::flat_hash_map<CapturePoint, int64_t> not_sampled;
  int64_t blunt = 0;  // elements of captured arrays whose bounds have room for mistakes that show
  // The elements that did not pass of every captured array, in the order in which they were shown;
  // of arrays that were sampled the sample is looked at.
  ElementLists open;
  Expectation results;
};

// One compilation with captures, and its run.
struct Round {
  std::vector<CapturePoint> points;
  std::vector<Capture> captures;
  std::vector<Literal> results;  // the program's own leaves
  Reading reading;
  std::optional<Reading> as_seen;  // where that leaves too much open
  std::optional<Reading> careful;  // where that follows what readers may have computed anew
};

// The ways in which captured values are followed.
enum class Way {
  kBold,     // all of them, with what readers may have beside what was seen; undecided ones are not
  kAsSeen,   // all of them, as they were seen; undecided ones are not
  kCareful,  // those that all readers have in common
};

// Makes rounds and judges by them. Subject and program outlive it.
class Rounds {
 public:
  Rounds(const CutSubject& subject, const FlatModule& flat);

  // A program of so many products that every reading takes long.
  bool IsBig() const { return is_big_; }
  bool HasDevices() const { return !subject_.other_arguments.empty(); }
  int64_t compilations() const { return compilations_; }
  double backend_seconds() const { return backend_seconds_; }

  // Compiles and runs with the captures, as far as there is room for them.
  absl::Status Capture(const std::vector<CapturePoint>& wanted, Round& round);

  // Asks the oracle about a run: once with all captures followed; if that leaves much open, again
  // with what was seen and nothing else; and with those alone that all readers have in common.
  // `may_capture_more`: of a big program that is left open for the most part, the first is enough.
  absl::Status Read(Round& round, bool may_capture_more = false);
  absl::Status ReadOnce(Round& round, Way way, Reading& reading);

  // By all readings of the round; `failure` gets the words of the one that convicts.
  Judgement CapturedJudgement(const Round& round, const CapturePoint& point) const;
  Judgement ResultJudgement(const Round& round, size_t leaf, const Literal& seen,
                            std::string* failure) const;

  // True if the first reading alone calls all of it right, by bounds without room for mistakes that
  // show.
  static bool IsRightBySharpBounds(const Round& round);

  // The instruction that makes a leaf of the program's results.
  const Instruction* ResultAt(size_t leaf) const;

 private:
  absl::Status CapturePieces(Round& round);
  absl::Status ReadWithWhatIsRight(Round& round);
  absl::StatusOr<Expectation> ExpectFrom(const Captures& captures);
  void Note(const CaptureVisit& visit, bool is_careful, Reading& reading) const;
  void OpenBlunt(const ArrayExpectation& expected, Judgement& judgement) const;
  void CarryOpen(const Round& round, size_t leaf, Judgement& judgement) const;

  const CutSubject& subject_;
  const FlatModule& flat_;
  TripRoom room_;
  bool is_big_;
  int64_t cheap_products_;
  int64_t compilations_ = 0;
  double backend_seconds_ = 0;
};

// Describes what is wrong with a captured array, in the words of the reading that convicts it.
std::string FailureAt(const Round& round, const CapturePoint& point);

}  // namespace assay
