// One case from seed to verdict: generate, ask the oracle, compile, run, judge; and the second
// check of what failed (second_check.cc). Runs in a worker process, which may die of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "nlohmann/json_fwd.hpp"

#include "fuzz/finding.h"
#include "fuzz/generator/generate.h"
#include "fuzz/peers/pack.h"
#include "fuzz/reduce/reducer.h"
#include "fuzz/triage/known.h"
#include "fuzz/triage/signature.h"
#include "spec/backend/backend.h"
#include "spec/backend/check.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"

namespace assay {

// True of outcomes that a campaign looks into: a failure of the backend, or of Assay itself.
bool IsFinding(Outcome::Kind kind);

// Seconds per stage. The compile time of a backend is split by its statistic
// "compile.seconds.passes", when it has one.
struct StageSeconds {
  double generate = 0, oracle = 0, passes = 0, code = 0, run = 0, judge = 0;
  double total() const { return generate + oracle + passes + code + run + judge; }
  StageSeconds& operator+=(const StageSeconds& other);
};

struct BackendRecord {
  Outcome::Kind kind = Outcome::kPassed;
  Phase phase = Phase::kJudge;
  bool exact = false;     // the verdict is about the exact inputs
  int64_t set = 0;        // otherwise about this set of inputs (InputSet)
  bool rescued = false;   // inconclusive on its own inputs, decided on the exact ones
  bool screened = false;  // failed in a cheap compilation or beside others; not tried otherwise
  int64_t leaf = -1;      // of the result, that holds the first wrong value; -1: there is none
  std::string notable;    // what of a wrong value is only notable; "" of a failure
  std::string text;       // judgement, error or reason
  // Of a failure: the cases that were compiled together with it, in one program.
  std::vector<int64_t> pack;
};

struct CaseRecord {
  int64_t index = 0;
  int64_t instructions = 0;
  Theme theme = Theme::kIndex;
  StageSeconds seconds;
  std::vector<BackendRecord> backends;   // in the campaign's order
  std::map<std::string, int64_t> rules;  // decisions taken
  bool repeated = false;                 // run and compiled several times
  int64_t screened = 0;                  // backends that screened it
  std::string illegal;                   // why the program does not verify; then nobody got it
  bool avoided = false;                  // it may show a known bug, and nobody got it

  bool IsRun() const { return illegal.empty() && !avoided; }

  nlohmann::json ToJson() const;
  static CaseRecord FromJson(const nlohmann::json& json);
};

// Names a program, its backend and its inputs: with the campaign's seed, all that it takes to run
// the case again.
struct CaseKey {
  int64_t index = 0;
  size_t backend = 0;  // number in the campaign
  bool exact = false;
  int64_t set = 0;                                // unless exact
  std::map<std::string, std::string> flags = {};  // beyond the campaign's own
  bool screened = false;  // it failed while it was screened, and was not tried otherwise
  // Arrays of the entry that are inputs with the oracle's values, one after the other, each by its
  // number in what is left (WithArrayGiven): what computes them is wrong, and another bug is
  // behind.
  std::vector<int64_t> given = {};
  // The leaf of the result that is left of it, with what computes that; -1: all are.
  int64_t output = -1;
  // What is asked is whether it is far off by a licence (fuzz/opinions/far_off.h).
  bool by_licence = false;
  // Cases that are part of the same program, behind it (JoinModules): it fails only beside them.
  std::vector<int64_t> with = {};

  nlohmann::json ToJson() const;
  static CaseKey FromJson(const nlohmann::json& json);
};

// Answer of the second check, made in a fresh process.
struct ConfirmRecord {
  int64_t runs = 0, fails = 0;
  // It did not fail again, but does so where it is compiled as it was when it was screened.
  bool fails_cheaply = false;
  // It fails where it is compiled cheaply, at a place of which enough is known
  // (FamiliarPlaces::enough), and was not checked again as users compile.
  bool alike = false;
  bool draws_numbers = false;  // on which it may depend whether it fails
  BackendRecord record;        // of a failing run, if there was one
  // The outcome on exact inputs: "fail" or the name of another outcome; "" when there are no
  // floats.
  std::string exact;
  int64_t instructions = 0;
  std::string signature;  // Signature::text; "" when it did not fail again
  std::string place;      // Signature::place
  std::string variant;    // Signature::variant
  // Under these flags the bug of the signature is silent and another one shows, with its signature.
  std::map<std::string, std::string> unmasking;
  std::vector<int64_t> given;  // or with these arrays given (CaseKey::given)
  std::string behind;
  int64_t output = -1;  // what failed again is the program with this output alone
  std::string notable;  // what of a wrong value is only notable; "" of a failure

  nlohmann::json ToJson() const;
  static ConfirmRecord FromJson(const nlohmann::json& json);
};

// The case and phase that a worker is in, kept in memory that it shares with the campaign and that
// outlives it.
struct WorkerState {
  // Now() when the piece of work in hand began, and how many times the time of one case it may
  // take: several programs that are compiled together are one piece.
  std::atomic<double> begun{0}, times{1};
  std::atomic<int64_t> index{-1};  // -1: of no case, or of several at once
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<uint8_t> backend{0};  // number in the campaign
  std::atomic<uint8_t> exact{0};
  std::atomic<int64_t> set{0};

  void Begin(int64_t piece, double as_long_as = 1);
};

// What another compiler gets for one request before it counts as a suspect that hangs, which the
// second check gives all the time of the limits. A heap that was written over makes programs spin.
inline constexpr double kQuickSeconds = 4;

// Programs of a hundred that are compiled cheaply at first. Two thirds of the others are of the
// shortest quarter: without triage a program costs 30 ms on XLA so, and 23 where all are cheap.
inline constexpr int64_t kScreenedPercent = 70;

struct CaseRunnerOptions {
  uint64_t seed = 0;
  GeneratorOptions generator;
  CompileOptions compile;
  std::string profile;         // "": each backend's own
  int64_t repeat_every = 100;  // every so many-th case is run and compiled several times; 0: none
  int64_t repeats = 3;
  int64_t oracle_steps = int64_t{1} << 26;
  // Flags under which most cases are compiled first, several at once where that is possible;
  // empty: none is.
  std::map<std::string, std::string> screening;
  int64_t screened_percent = kScreenedPercent;  // how many of a hundred
  int64_t input_sets = 1;                       // each executable runs so many, until one fails
  // Three of four programs that may show one of these are not run.
  std::vector<KnownBug> known;
  std::string python;   // CampaignTools::python
  bool notable = true;  // what is legal and yet far off is looked for
};

// True if each run of the module draws other numbers, and may.
bool DrawsNumbers(const Module& module);

// How an outcome is written down: an error of the oracle says whose it is, and a program that the
// oracle rejects was generated wrongly.
BackendRecord RecordOf(const Outcome& outcome, bool exact);

class CaseRunner {
 public:
  // Everything outlives the runner.
  CaseRunner(const CaseRunnerOptions& options, Oracle& oracle, std::vector<Backend*> backends)
      : options_(options), oracle_(oracle), backends_(std::move(backends)) {}

  // Cases of the seed, one after the other; those that can be are compiled together.
  std::vector<CaseRecord> Run(const std::vector<int64_t>& indices, WorkerState& state);
  // Runs the case three times more, on the backend and the inputs of the key alone, and signs what
  // fails always.
  ConfirmRecord Confirm(const CaseKey& key, const FamiliarPlaces& familiar, WorkerState& state);
  // The finding as triage wants it, without judgement.
  Finding MakeFinding(const CaseKey& key) const;

 private:
  // A case on its way to its record.
  struct Prepared {
    Case made;
    CaseRecord record;
    std::unique_ptr<Pack> pack;   // that it leads
    Backend* together = nullptr;  // what it is of the pack that it is in
    std::vector<int64_t> others;  // the cases that are in it, too
    const std::vector<std::vector<Literal>>* sets = nullptr;  // and its inputs there
  };
  // Further sets of inputs for an executable: numbers 1 to `count` - 1, where nothing fails before.
  struct MoreSets {
    int64_t count = 0;
    const std::vector<std::vector<Literal>>* made = nullptr;  // those that exist already, from 0 on
  };

  Prepared Prepare(int64_t index, WorkerState& state) const;
  // The program of a key, with its inputs: one case, or several joined.
  Case Make(const CaseKey& key) const;
  // Whether the program of this key, of so many instructions, is compiled cheaply at first.
  bool IsScreened(const CaseKey& key, int64_t instructions) const;
  bool IsScreened(const CaseKey& key) const;  // makes the program again to count them
  bool IsRepeated(int64_t index) const;
  // Compiles those together for which that is possible, the screened ones and the rest apart.
  void RunPacks(std::vector<Prepared>& cases, WorkerState& state);
  // Where they cannot be compiled together or run, in smaller packs.
  void RunPack(absl::Span<Prepared* const> members, bool screened);
  // False where that is not possible.
  bool RunTogether(absl::Span<Prepared* const> members, bool screened);
  // `record` receives the times and rules, and says whether to run and compile repeatedly.
  // Inputs that the key does not name follow when those that it names show no failure. The flags of
  // the key are set beside the campaign's own. The backend is that of the key, or how it looks from
  // within a pack.
  BackendRecord RunOn(Backend& backend, const Case& made, const CaseKey& key, const MoreSets& more,
                      CaseRecord& record, WorkerState& state);
  // In a cheap way if there is one for the case: what fails there goes to the second check, which
  // compiles it as users do. Otherwise as a user compiles it.
  BackendRecord RunScreened(Prepared& prepared, const CaseKey& key, WorkerState& state);
  // Of the last run of the checker.
  BackendRecord RecordOfRun(const Outcome& outcome, const Checker& checker, const CaseKey& key);
  // What is notable of the last run of the checker, of which `passed` is the record.
  std::optional<BackendRecord> FarOffOf(const Checker& checker, const BackendRecord& passed) const;
  // The first failure, else the first set of which something is notable, or one of the sets that
  // pass; otherwise inconclusive.
  BackendRecord RunMoreSets(const Case& made, int64_t index, const MoreSets& more, Checker& checker,
                            CaseRecord& record, WorkerState& state);
  // The set of that number, or the one of `more` if it is there; `drawn` keeps what is drawn.
  CheckCase CaseOf(const Case& made, int64_t index, int64_t set, const MoreSets& more,
                   std::vector<Literal>& drawn) const;
  // The second check of backends in this process and in others.
  void ConfirmHere(const Case& made, const CaseKey& key, ConfirmRecord& confirm,
                   WorkerState& state);
  void ConfirmThere(const Case& made, const CaseKey& key, const FamiliarPlaces& familiar,
                    ConfirmRecord& confirm, WorkerState& state);
  // The same with one output of the program alone, which compiles in less time: that of the key,
  // and where it is only notable, the others. Nothing where it does not fail by itself,
  // however it is compiled.
  std::optional<ConfirmRecord> ConfirmOutputs(const Case& made, const CaseKey& key,
                                              const FamiliarPlaces& familiar,
                                              const ConfirmRecord& confirm, WorkerState& state);
  std::optional<ConfirmRecord> ConfirmOutput(const Case& made, const CaseKey& key,
                                             const FamiliarPlaces& familiar, ConfirmRecord confirm,
                                             WorkerState& state);
  // A program that is checked again, and the one that it is a part of.
  struct Part {
    const Case& made;
    const ReduceCase* whole = nullptr;  // null: it is no part
  };
  void ConfirmPart(const Part& part, const CaseKey& key, const FamiliarPlaces& familiar,
                   ConfirmRecord& confirm, WorkerState& state);
  // What is wrong first in the module where it is compiled cheaply, of one output that is a wrong
  // value; nothing of other suspects, nor where that is only seen if it is compiled as users do.
  std::optional<WrongArray> FirstWhereCheap(const CheckSubject& subject, const Module& module,
                                            const std::vector<Literal>& inputs,
                                            const CaseKey& key) const;
  // The runs of the latter: the outcome of the last that failed, and in `confirm` how many did.
  Outcome RunAgain(const CheckSubject& subject, const CheckCase& check_case, const CaseKey& key,
                   Checker& checker, ConfirmRecord& confirm) const;
  // Of a suspect compiled as it was when it was seen first, but in a process and a module of its
  // own.
  Outcome OutcomeAsScreened(const CheckSubject& subject, const CheckCase& check_case,
                            const CaseKey& key) const;
  // The case of a key with the oracle's values for the arrays that are given in it.
  ReduceCase WithGivenArrays(ReduceCase program, const std::vector<int64_t>& given) const;
  // What else a program shows once the array with this number, which is wrong, is given.
  void LookBehind(const CheckSubject& subject, ReduceCase program, const Signature& first,
                  int64_t wrong, const SigningHints& hints, ConfirmRecord& confirm) const;
  EvaluateFunction OraclesValues() const;
  // The signature of a program that fails always, and of what shows when its bug is switched off.
  // Notable instead, where the answer that the hints have is right but for the order of arithmetic.
  void Sign(const CheckSubject& subject, const Part& part, const std::vector<Literal>& inputs,
            const Outcome& outcome, const SigningHints& hints, ConfirmRecord& confirm) const;
  const Profile& ProfileOf(const CaseKey& key) const;
  // The campaign's options, and the flags of the case.
  CompileOptions OptionsFor(const CaseKey& key) const;
  // With at most kQuickSeconds where the backend runs elsewhere.
  CompileOptions Quick(CompileOptions compile, const Backend& backend) const;

  const CaseRunnerOptions& options_;
  Oracle& oracle_;
  std::vector<Backend*> backends_;
};

}  // namespace assay
