// Records what each pass of a compilation did, for people who look for the one that broke or slowed
// a program.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/gates/gates.h"

namespace assay {

struct PassRecord {
  std::string pass;
  bool changed = false;
  int64_t decisions = 0;  // asked in it; those of all passes follow each other from number 1
  double seconds = 0;
};

// Why a pass, or what comes after the passes, decided as it did.
struct PassReason {
  std::string pass;  // also "buffer-assignment"
  std::string line;
};

// Told after each pass (PipelineOptions::observer).
class PassTrace {
 public:
  explicit PassTrace(const Gates& gates) : gates_(gates) {}
  void Note(std::string_view pass, bool changed);
  // Work other than passes lies behind: the time of the next one begins now.
  void Resume() { last_ = std::chrono::steady_clock::now(); }
  const std::vector<PassRecord>& records() const { return records_; }
  // A reason of the pass that runs, whose name Note tells.
  void Explain(std::string_view line) { reasons_.push_back({"", std::string(line)}); }
  // All reasons that have no name yet are of this.
  void NameReasons(std::string_view pass);
  const std::vector<PassReason>& reasons() const { return reasons_; }

 private:
  const Gates& gates_;
  int64_t seen_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<PassRecord> records_;
  std::vector<PassReason> reasons_;
};

// Records as statistics of an executable (Executable::Statistics), and back. The keys are
// "pass.NNN.NAME.changed", "... .decisions" and "... .seconds".
void AddStatistics(const std::vector<PassRecord>& records,
                   std::map<std::string, double>& statistics);
std::vector<PassRecord> PassRecordsOf(const std::map<std::string, double>& statistics);

}  // namespace assay
