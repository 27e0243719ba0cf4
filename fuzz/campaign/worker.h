// What runs on the other side of the fork server: the warm bench that every worker starts from, and
// the loop that serves it. Requests and replies are JSON objects, one per message:
//   {"slot": k}                                        first, no reply: where to note the phase
//   {"do": "case", "index": i}                         CaseRecord
//   {"do": "confirm", "index", "backend", "exact"}     ConfirmRecord; writes the case to disk first
//   {"do": "triage", "index", "backend", "exact", "kind", "phase", "text", "second_check"}
//   TriageResult or {"error": text}
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/case_runner.h"

namespace assay {

// Memory shared between the campaign and its workers: one state per slot.
class SharedStates {
 public:
  static absl::StatusOr<std::unique_ptr<SharedStates>> Create(size_t slots);
  ~SharedStates();
  SharedStates(const SharedStates&) = delete;
  SharedStates& operator=(const SharedStates&) = delete;
  WorkerState& at(size_t slot) { return states_[slot]; }
  size_t size() const { return count_; }
  // What the template tells about the backends, for the summary: JSON text. Written before any
  // worker exists.
  void set_note(const std::string& text);
  std::string note() const;

 private:
  static constexpr size_t kNoteBytes = 1 << 16;
  SharedStates(void* memory, size_t bytes, size_t count);
  size_t bytes_, count_;
  WorkerState* states_;
  char* note_;
};

class Bench {
 public:
  Bench(const CampaignOptions& options, const CampaignTools& tools, SharedStates& shared)
      : options_(options), tools_(tools), shared_(shared) {}

  // In the template: makes the oracle and the backends and compiles one small program, so that
  // workers start warm. A backend that is not in-process is only looked at: each worker makes its
  // own.
  absl::Status Warm();
  // In a worker: serves requests until the other side closes.
  void Serve(int fd);

 private:
  absl::Status MakeForeignBackends();
  nlohmann::json Answer(const nlohmann::json& request, WorkerState& state);
  nlohmann::json Triage(const nlohmann::json& request);
  absl::Status WriteCase(const Finding& finding) const;

  const CampaignOptions& options_;
  const CampaignTools& tools_;
  SharedStates& shared_;
  std::unique_ptr<Oracle> oracle_;
  std::vector<std::unique_ptr<Backend>> backends_;  // nullptr: made by each worker
  CaseRunnerOptions runner_options_;
  std::unique_ptr<CaseRunner> runner_;
};

nlohmann::json EncodeTriage(const TriageResult& result);
TriageResult DecodeTriage(const nlohmann::json& json);

}  // namespace assay
