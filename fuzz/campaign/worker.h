// The other side of the fork server: the warm template that every worker starts from, and the loop
// that serves it. Requests and replies are JSON objects, one per message:
//   {"slot": k}                                        first, no reply: where to note the phase
//   {"do": "cases", "index": i, "count": n}            {"records": [CaseRecord, ...]}
//   {"do": "confirm", "familiar": {..}}  with a CaseKey: ConfirmRecord; writes the case to disk
//   first
//   {"do": "triage", ..., "kind", "phase", "text", "second_check"}  with a CaseKey: TriageResult or
//   {"error": text}
// All replies but those of cases have "cpu_seconds", what the worker and all that it started have
// used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/case_runner.h"
#include "spec/process/shared_array.h"

namespace assay {

// Memory that the campaign shares with its workers: the state of each slot, and what the template
// tells about the backends.
class WorkerStates {
 public:
  // Errors: sick machine, without shared memory.
  static absl::StatusOr<std::unique_ptr<WorkerStates>> Create(size_t slots);
  WorkerState& at(size_t slot) { return states_[slot]; }
  size_t size() const { return states_.size(); }
  // JSON text. Written before any worker exists.
  void set_note(const std::string& text);
  std::string note() const { return &note_[0]; }

 private:
  static constexpr size_t kNoteBytes = 1 << 16;
  explicit WorkerStates(size_t slots) : states_(slots), note_(kNoteBytes) {}
  SharedArray<WorkerState> states_;
  SharedArray<char> note_;
};

// Holds the oracle and the backends, ready to work, in the process that workers are forked from.
class WarmTemplate {
 public:
  WarmTemplate(const CampaignOptions& options, const CampaignTools& tools, WorkerStates& shared)
      : options_(options), tools_(tools), shared_(shared) {}

  // In the template: makes the oracle and the backends and compiles one small program, so that
  // workers start warm. A backend that is not in-process starts a process of its own in each
  // worker.
  absl::Status Warm();
  // In a worker: serves requests until the other side closes.
  void Serve(int fd);

 private:
  // A hash of the first programs of the seed, with their inputs: another generator makes others.
  std::string FingerprintOfPrograms() const;
  nlohmann::json Answer(const nlohmann::json& request, WorkerState& state);
  nlohmann::json Triage(const CaseKey& key, const nlohmann::json& request);
  // `with`: what is joined to it, for the name of its files.
  absl::Status WriteCase(const Finding& finding, const std::vector<int64_t>& with = {}) const;

  const CampaignOptions& options_;
  const CampaignTools& tools_;
  WorkerStates& shared_;
  std::unique_ptr<Oracle> oracle_;
  std::vector<std::unique_ptr<Backend>>
      backends_;  // one in another process starts it when it is used
  CaseRunnerOptions runner_options_;
  std::unique_ptr<CaseRunner> runner_;
};

nlohmann::json EncodeTriage(const TriageResult& result);
TriageResult DecodeTriage(const nlohmann::json& json);

}  // namespace assay
