// A verdict on a deep program by cuts: it is compiled once more with chosen values as further
// results, each stretch between such captures is judged with what was captured as its inputs, and
// where the verdict on a stretch stays open, more is captured. Design: "Deep programs are cut".
//
// Why that is sound: an element outside the bound of a stretch is wrong only if all readers of a
// captured value have read what was captured. That holds for values that are made once and kept
// (IsOneForAllReaders), up to the freedoms that spec/backend/captures.h names, so only those are
// followed where a failure is judged. An element inside the bound is right, even if other readers
// have read something else: so for a pass every captured value is followed, the compiler's own
// choices among them (a comparison, a branch).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/cuts/drawn_spread.h"
#include "conformance/cuts/programs/capture_choice.h"
#include "nlohmann/json_fwd.hpp"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"

namespace assay {

enum class CutMode : uint8_t {
  kAuto,  // where the verdict without cuts is inconclusive
  kOff,
  kAll,     // always
  kPieces,  // always, and each stretch compiled by itself
};

// The program with the inputs of its devices. All that is referenced outlives the check.
struct CutSubject {
  const Module& module;
  std::vector<const Literal*> arguments;
  Oracle& oracle;
  Backend& backend;
  const Profile& profile;
  const CompileOptions& options;
  // Leaves of results to be judged: of the plain program on the backend, and stored ones; empty:
  // there are none.
  std::vector<const Literal*> plain, stored;
  bool in_pieces = false;  // CutMode::kPieces
  // Chooses where to cut, once; the answers are then read only as failures are. If empty, cuts are
  // chosen as the verdict needs them.
  std::function<std::vector<CapturePoint>(const Module& flat)> choose = {};
  // The number of elements that are judged of captured dots and convolutions; 0: all. With
  // kSampleBig it is kBigSample for those that would take long, and all for others.
  int64_t sample = kSampleBig;
  uint64_t seed = 1;  // of samples and of random legal evaluations
  // The number of random legal evaluations that elements which stay undecided are compared with.
  int draws = 16;
  // The arguments of each device behind the first; `options` say how many there are, and `plain`
  // and `stored` hold the leaves of all, device by device.
  std::vector<std::vector<const Literal*>> other_arguments = {};
  // Captures all that can be, at once, and what is right has to be so by sharp bounds. For programs
  // that pass as a whole by bounds with room for mistakes that show.
  bool everywhere = false;
  // The program passed or failed as a whole: what takes long is not tried.
  bool has_whole_verdict = false;

  static constexpr int64_t kSampleBig = -1, kBigSample = 4096;
};

// Products of a contraction that the oracle forms in about a tenth of a second.
inline constexpr int64_t kCheapProducts = int64_t{1} << 24;

// One captured array, or one result of the program, and the stretch that leads to it.
struct Stretch {
  std::string name;  // of the instruction in the user's module; "output 3"
  std::string opcode, op_name, source;
  std::vector<std::string> instructions;  // of a stretch that failed, operands first
  bool is_output = false;
  Judgement judgement;
  int64_t not_sampled = 0;  // elements that were not judged, and followed as they were seen
  // Open elements that do not follow from what was captured before, with all freedoms.
  int64_t refused = 0;
  std::string failure;  // several lines: what was seen, what is allowed
};

struct CutReport {
  // Failed over inconclusive over passed; Verdict::kInconclusive with a reason where no captures
  // could be made.
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;              // one line: why not passed
  std::vector<Stretch> stretches;  // in the order of the program, then its results
  // Counts over all captured arrays and results.
  int64_t elements = 0, failed = 0, undecided = 0;
  int64_t not_sampled = 0;
  DrawComparison drawn;     // of undecided elements
  bool everywhere = false;  // CutSubject::everywhere
  // True if all that was captured is right by bounds without room for mistakes that show.
  bool is_sharp = false;
  int64_t captures = 0;  // arrays, not counting the trips of loops
  int64_t rounds = 0;    // compilations with captures
  // The arrays of the program's result, and how many of them equal the plain program's bit for bit.
  int64_t outputs = 0, outputs_equal = 0;
  std::string smallest;              // the smallest part of a failed stretch that fails by itself
  std::string smallest_instruction;  // its name
  Judgement plain, stored;           // of the results that were given
  double seconds = 0, backend_seconds = 0;

  double UndecidedShare() const;
  // Appends the stretch and counts its elements.
  void Add(Stretch stretch);
  // The first result that is left open, with captures or, by its judgement in `plain`, without;
  // empty if there is none.
  std::string OpenResult(const std::vector<Judgement>& plain) const;
};

// The share of the elements judged by cuts, and of those of every result, that may stay undecided
// in a program that passes. Of a result it is counted in whole elements, rounded up, but never all.
inline constexpr double kMostUndecided = 0.01;

// More of the elements are undecided than may be, or all of them: what is right inside, or in other
// results, says nothing of these.
bool IsLeftOpen(const Judgement& judgement);

CutReport CheckByCuts(const CutSubject& subject);

// For people: a line of summary, and the stretches that did not pass.
std::string Describe(const CutReport& report);
nlohmann::json ToJson(const CutReport& report);

}  // namespace assay
