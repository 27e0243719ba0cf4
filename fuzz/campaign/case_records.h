// The records of a campaign's work: what came of a case, the key of a case that is looked at again,
// and what came of that. They travel between its processes as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

#include "fuzz/culprit.h"
#include "fuzz/generator/generate.h"
#include "spec/backend/outcome.h"
#include "spec/ir/module.h"

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
  // The cases that were compiled together with a failure, in one program.
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
  // The leaf of the result that is left of it, with what computes that; -1: all are.
  int64_t output = -1;
  // Asks whether it is far off by a licence (fuzz/opinions/far_off.h).
  bool by_licence = false;
  // Cases that are part of the same program, behind it (JoinModules): it fails only beside them.
  std::vector<int64_t> with = {};
  // Cases that it was compiled with when it failed, each of which may be needed for that.
  std::vector<int64_t> pack = {};

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
  Culprit culprit;            // Signature::culprit
  std::string signature;      // its text; "" when it did not fail again
  std::string place;          // Signature::place
  std::string variant;        // Signature::variant
  int64_t output = -1;        // what failed again is the program with this output alone
  std::string notable;        // what of a wrong value is only notable; "" of a failure
  std::vector<int64_t> with;  // CaseKey::with: it fails in one program with these alone

  nlohmann::json ToJson() const;
  static ConfirmRecord FromJson(const nlohmann::json& json);
};

// True if each run of the module draws other numbers, and may.
bool DrawsNumbers(const Module& module);

// Writes an outcome down: an error of the oracle says whose it is, and a program that the oracle
// rejects was generated wrongly.
BackendRecord RecordOf(const Outcome& outcome, bool exact);

}  // namespace assay
