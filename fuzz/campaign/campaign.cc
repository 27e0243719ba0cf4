#include "fuzz/campaign/campaign.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <thread>

#include "absl/strings/str_cat.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/worker.h"
#include "spec/base/error.h"
#include "spec/process/fork_server.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

constexpr double kForeignStartSeconds = 60;
constexpr double kDeathSeconds = 60;  // a killed process that is not gone by then never will be
constexpr double kDrainSeconds = 20;  // for second checks after the campaign's own time is up

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

volatile sig_atomic_t interrupted = 0;
void OnInterrupt(int) { interrupted = 1; }

// SIGINT and SIGTERM set the flag while a campaign runs; a second SIGINT acts as usual.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    struct sigaction action{};
    action.sa_handler = OnInterrupt;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_{}, old_term_{};
};

enum class Role : uint8_t { kCases, kConfirm, kTriage };

// A failure on its way from suspicion to page.
struct Suspect {
  int64_t index = -1;
  size_t backend = 0;
  BackendRecord record;
};

// A place for one worker process at a time, and what it is busy with.
struct Slot {
  Role role = Role::kCases;
  size_t number = 0;
  pid_t pid = -1;
  int fd = -1;
  bool at_end = false;  // the worker closed its side: wait for its exit
  MessageBuffer buffer;
  bool busy = false;
  bool fresh = true;    // has answered nothing yet
  bool killed = false;  // by us, for its time
  double deadline = 0;
  int64_t served = 0;
  int64_t index = -1;  // of the case in hand
  Suspect suspect;     // of kConfirm
  size_t finding = 0;  // of kTriage: position in the findings
};

nlohmann::json Parse(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

// A message without what differs from case to case: the bucket of findings that are not triaged.
std::string Coarse(const CampaignFinding& finding) {
  std::string key = absl::StrCat(finding.backend, ": ", std::string(Name(finding.kind)));
  if (finding.kind == FindingKind::kWrongValue || finding.kind == FindingKind::kNondeterministic) {
    return key;
  }
  std::string line = finding.text.substr(0, finding.text.find('\n'));
  absl::StrAppend(&key, ": ");
  for (char c : line) {
    bool digit = c >= '0' && c <= '9';
    if (digit && key.back() == '#') continue;
    key += digit ? '#' : c;
  }
  return key;
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const CampaignTools& tools)
      : options_(options), tools_(tools) {}

  absl::StatusOr<CampaignSummary> Run() {
    if (absl::Status status = Start(); !status.ok()) return status;
    while (!Done() && error_.ok()) {
      Dispatch();
      Wait();
      KillLate();
      Report(false);
    }
    Finish();
    if (!error_.ok()) return error_;
    return std::move(summary_);
  }

 private:
  // ---- Start and end.

  absl::Status Start() {
    if (options_.count <= 0 && options_.seconds <= 0) {
      return absl::InvalidArgumentError("a campaign needs a count or a time");
    }
    if (options_.backends.empty()) return absl::InvalidArgumentError("a campaign needs a backend");
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    int jobs = options_.jobs > 0 ? options_.jobs : std::max(1, cores);
    absl::StatusOr<std::unique_ptr<SharedStates>> shared =
        SharedStates::Create(static_cast<size_t>(jobs) + 2);
    if (!shared.ok()) return shared.status();
    shared_ = *std::move(shared);
    bench_ = std::make_unique<Bench>(options_, tools_, *shared_);
    absl::StatusOr<std::unique_ptr<ForkServer>> server =
        ForkServer::Start([this] { return bench_->Warm(); }, [this](int fd) { bench_->Serve(fd); });
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    nlohmann::json note = Parse(shared_->note());
    summary_.seed = options_.seed;
    summary_.first = options_.first;
    summary_.backends = options_.backends;
    summary_.versions = note.value("versions", std::vector<std::string>());
    summary_.foreign = note.value("foreign", false);
    summary_.jobs = jobs;
    slots_.resize(static_cast<size_t>(jobs) + 2);
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].number = i;
    slots_[slots_.size() - 2].role = Role::kConfirm;
    slots_.back().role = Role::kTriage;
    next_index_ = options_.first;
    if (absl::Status status = journal_.Open(options_); !status.ok()) return status;
    start_ = Now();
    return journal_.Begin(summary_, options_);
  }

  bool CasesLeft() const {
    if (interrupted != 0 || TimeIsUp()) return false;
    if (options_.stop_after_findings > 0 && summary_.findings >= options_.stop_after_findings) {
      return false;
    }
    return options_.count <= 0 || next_index_ < options_.first + options_.count;
  }
  bool TimeIsUp() const { return options_.seconds > 0 && Now() - start_ >= options_.seconds; }
  bool Busy(Role role) const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.role == role && slot.busy; });
  }

  bool Done() {
    if (interrupted != 0) return true;
    if (CasesLeft() || Busy(Role::kCases)) return false;
    if (cases_end_ == 0) cases_end_ = Now();
    bool draining = Now() - cases_end_ < kDrainSeconds + options_.case_seconds;
    if (draining && (!suspects_.empty() || Busy(Role::kConfirm))) return false;
    return !Busy(Role::kTriage) && !NextToTriage().has_value();
  }

  void Finish() {
    summary_.interrupted = interrupted != 0;
    summary_.seconds = (cases_end_ > 0 ? cases_end_ : Now()) - start_;
    summary_.unchecked += static_cast<int64_t>(suspects_.size());
    if (Busy(Role::kConfirm)) ++summary_.unchecked;
    server_.reset();
    for (Slot& slot : slots_) CloseFd(slot);
    for (CampaignFinding& finding : findings_) {
      if (finding.bucket.empty()) finding.bucket = Coarse(finding);
      // With triage, only what it looked at is in a bucket: anything else may be the same bug.
      if (!tools_.triage || finding.triaged) ++summary_.buckets[finding.bucket];
    }
    std::sort(findings_.begin(), findings_.end(),
              [](const CampaignFinding& a, const CampaignFinding& b) { return a.index < b.index; });
    summary_.found = std::move(findings_);
    error_.Update(journal_.End(summary_));
    findings_.clear();
    if (options_.progress) options_.progress({summary_, options_.count, 0, false});
  }

  // ---- Handing out work.

  void Dispatch() {
    for (Slot& slot : slots_) {
      if (slot.busy || !error_.ok()) continue;
      switch (slot.role) {
        case Role::kCases:
          if (CasesLeft()) DispatchCase(slot);
          break;
        case Role::kConfirm:
          if (!suspects_.empty()) DispatchConfirm(slot);
          break;
        case Role::kTriage:
          if (std::optional<size_t> at = NextToTriage()) DispatchTriage(slot, *at);
          break;
      }
    }
  }

  void DispatchCase(Slot& slot) {
    if (slot.pid >= 0 && slot.served >= options_.cases_per_worker) Retire(slot);
    if (!EnsureWorker(slot)) return;
    slot.index = next_index_++;
    Send(slot, {{"do", "case"}, {"index", slot.index}}, options_.case_seconds);
  }

  void DispatchConfirm(Slot& slot) {
    Retire(slot);  // always a fresh process
    if (!EnsureWorker(slot)) return;
    slot.suspect = std::move(suspects_.front());
    suspects_.pop_front();
    slot.index = slot.suspect.index;
    Send(slot,
         {{"do", "confirm"},
          {"index", slot.index},
          {"backend", slot.suspect.backend},
          {"exact", slot.suspect.record.exact}},
         3 * options_.case_seconds);
  }

  // The smallest program first: it is the quickest to explain.
  std::optional<size_t> NextToTriage() const {
    if (!tools_.triage || triaged_ >= options_.most_triaged) return std::nullopt;
    std::optional<size_t> best;
    for (size_t i = 0; i < findings_.size(); ++i) {
      const CampaignFinding& finding = findings_[i];
      if (finding.triaged || !finding.triage_error.empty()) continue;
      if (!best.has_value() || finding.instructions < findings_[*best].instructions) best = i;
    }
    return best;
  }

  void DispatchTriage(Slot& slot, size_t at) {
    Retire(slot);
    if (!EnsureWorker(slot)) return;
    CampaignFinding& finding = findings_[at];
    slot.finding = at;
    slot.index = finding.index;
    ++triaged_;
    size_t backend = static_cast<size_t>(
        std::find(options_.backends.begin(), options_.backends.end(), finding.backend) -
        options_.backends.begin());
    Send(slot,
         {{"do", "triage"},
          {"index", finding.index},
          {"backend", backend},
          {"exact", finding.exact},
          {"kind", static_cast<int>(finding.kind)},
          {"phase", static_cast<int>(finding.phase)},
          {"text", finding.text},
          {"second_check", finding.second_check}},
         options_.triage_seconds);
  }

  bool EnsureWorker(Slot& slot) {
    if (slot.pid >= 0) return !slot.at_end;
    double start = Now();
    absl::StatusOr<ForkServer::Worker> worker = server_->Spawn();
    if (!worker.ok()) {
      error_ = worker.status();
      return false;
    }
    slot.pid = worker->pid;
    slot.fd = worker->fd;
    slot.at_end = slot.killed = false;
    slot.fresh = true;
    slot.served = 0;
    slot.buffer = MessageBuffer();
    SendMessage(slot.fd, nlohmann::json({{"slot", slot.number}}).dump());
    if (summary_.workers_lost > 0) summary_.respawn_seconds += Now() - start;
    return true;
  }

  void Send(Slot& slot, const nlohmann::json& request, double seconds) {
    slot.busy = true;
    slot.killed = false;
    slot.deadline = Now() + seconds + (slot.fresh && summary_.foreign ? kForeignStartSeconds : 0);
    // A worker that died in between shows by its exit, with this request still in hand.
    std::string text = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    SendMessage(slot.fd, text);
  }

  // Lets an idle worker go; it ends at end of file.
  void Retire(Slot& slot) {
    if (slot.pid < 0) return;
    retired_.push_back(slot.pid);
    CloseFd(slot);
    slot.pid = -1;
  }

  static void CloseFd(Slot& slot) {
    if (slot.fd >= 0) close(slot.fd);
    slot.fd = -1;
  }

  // ---- Answers and deaths.

  void Wait() {
    std::vector<pollfd> fds = {{server_->fd(), POLLIN, 0}};
    std::vector<Slot*> polled = {nullptr};
    double until = Now() + options_.progress_seconds;
    for (Slot& slot : slots_) {
      if (slot.busy) until = std::min(until, slot.deadline);
      if (slot.fd < 0 || slot.at_end) continue;
      fds.push_back({slot.fd, POLLIN, 0});
      polled.push_back(&slot);
    }
    int timeout = std::max(1, static_cast<int>((until - Now()) * 1000));
    if (poll(fds.data(), fds.size(), timeout) <= 0) return;
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents != 0) TakeReplies(*polled[i]);
    }
    if (fds[0].revents != 0) error_.Update(server_->Poll());
    while (std::optional<ForkServer::Exit> exit = server_->NextExit()) TakeExit(*exit);
  }

  void TakeReplies(Slot& slot) {
    if (!slot.buffer.Fill(slot.fd)) slot.at_end = true;
    while (std::optional<std::string> message = slot.buffer.Next()) {
      if (slot.busy) TakeReply(slot, *message);
    }
  }

  void TakeReply(Slot& slot, const std::string& message) {
    nlohmann::json reply = Parse(message);
    slot.busy = false;
    slot.fresh = false;
    ++slot.served;
    // A worker whose memory was trampled on may send anything: what does not read back is a crash
    // of it.
    try {
      if (slot.role != Role::kTriage && reply.contains("error")) {
        error_ = MakeError(ErrorClass::kSickMachine, reply.value("error", ""));
        return;
      }
      switch (slot.role) {
        case Role::kCases:
          return TakeRecord(CaseRecord::FromJson(reply));
        case Role::kConfirm:
          return TakeConfirm(slot.suspect, ConfirmRecord::FromJson(reply));
        case Role::kTriage:
          return TakeTriage(slot.finding, reply);
      }
    } catch (const nlohmann::json::exception&) {
      slot.busy = true;
      kill(slot.pid, SIGKILL);
    }
  }

  void TakeExit(const ForkServer::Exit& exit) {
    auto retired = std::find(retired_.begin(), retired_.end(), exit.pid);
    if (retired != retired_.end()) {
      retired_.erase(retired);
      return;
    }
    for (Slot& slot : slots_) {
      if (slot.pid != exit.pid) continue;
      TakeReplies(slot);
      bool busy = slot.busy;
      slot.busy = false;
      slot.pid = -1;
      CloseFd(slot);
      if (busy) TakeDeath(slot, exit);
      return;
    }
  }

  BackendRecord RecordOfDeath(const Slot& slot, const ForkServer::Exit& exit) const {
    Isolated how;
    how.end = ClassifyEnd(exit.status, exit.stderr_tail, slot.killed);
    how.stderr_tail = exit.stderr_tail;
    how.seconds = options_.case_seconds;
    if (WIFSIGNALED(exit.status)) how.signal = WTERMSIG(exit.status);
    if (WIFEXITED(exit.status)) how.code = WEXITSTATUS(exit.status);
    const WorkerState& state = shared_->at(slot.number);
    BackendRecord record;
    record.outcome = CaseOutcome::kFinding;
    record.phase = static_cast<CasePhase>(state.phase.load());
    record.exact = state.exact.load() != 0;
    record.text =
        absl::StrCat("the worker ", how.Describe(), " (", std::string(Name(record.phase)), ")");
    bool compiling = record.phase == CasePhase::kCompile, running = record.phase == CasePhase::kRun;
    if (!compiling && !running) {
      record.kind = FindingKind::kHarness;
    } else if (how.end == Isolated::End::kTimeout) {
      record.kind = FindingKind::kTimeout;
    } else if (how.end == Isolated::End::kOutOfMemory) {
      record.kind = FindingKind::kOutOfMemory;
    } else {
      record.kind = compiling ? FindingKind::kCompileCrash : FindingKind::kRunCrash;
    }
    return record;
  }

  void TakeDeath(Slot& slot, const ForkServer::Exit& exit) {
    ++summary_.workers_lost;
    BackendRecord record = RecordOfDeath(slot, exit);
    size_t backend =
        std::min<size_t>(shared_->at(slot.number).backend.load(), options_.backends.size() - 1);
    switch (slot.role) {
      case Role::kCases: {
        CaseRecord dead;
        dead.index = slot.index;
        dead.backends.resize(options_.backends.size());
        // What came before went unreported and what comes after never ran: they are counted as not
        // supported.
        for (BackendRecord& other : dead.backends) {
          other.outcome = CaseOutcome::kUnsupported;
          other.text = "the worker died of another backend";
        }
        dead.backends[backend] = std::move(record);
        return TakeRecord(dead);
      }
      case Role::kConfirm: {
        ConfirmRecord confirm;
        confirm.runs = confirm.fails = 1;
        confirm.record = std::move(record);
        return TakeConfirm(slot.suspect, confirm);
      }
      case Role::kTriage:
        findings_[slot.finding].triage_error = absl::StrCat("triage: ", record.text);
        return;
    }
  }

  void KillLate() {
    double now = Now();
    for (Slot& slot : slots_) {
      if (!slot.busy || slot.pid < 0 || now < slot.deadline) continue;
      if (slot.killed && now > slot.deadline + kDeathSeconds) {
        error_ =
            MakeError(ErrorClass::kSickMachine, absl::StrCat("worker ", slot.pid,
                                                             " does not die; is the disk or the "
                                                             "memory of this machine stuck?"));
        return;
      }
      if (slot.killed) continue;
      slot.killed = true;
      kill(slot.pid, SIGKILL);
    }
  }

  // ---- Counting.

  void TakeRecord(const CaseRecord& record) {
    ++summary_.programs;
    if (record.repeated) ++summary_.repeated;
    summary_.stages += record.seconds;
    for (const auto& [rule, count] : record.rules) summary_.rules[rule] += count;
    for (size_t i = 0; i < record.backends.size(); ++i) {
      const BackendRecord& backend = record.backends[i];
      if (backend.rescued) ++summary_.rescued;
      switch (backend.outcome) {
        case CaseOutcome::kPass:
          ++summary_.compared;
          break;
        case CaseOutcome::kMistrusted:
          ++summary_.compared;
          ++summary_.mistrusted;
          break;
        case CaseOutcome::kInconclusive:
          ++summary_.inconclusive;
          ++summary_.inconclusive_reasons[Reason(backend.text)];
          break;
        case CaseOutcome::kUnsupported:
          ++summary_.unsupported;
          ++summary_.unsupported_reasons[Reason(backend.text)];
          break;
        case CaseOutcome::kSick:
          ++summary_.sick;
          ++summary_.unsupported_reasons[Reason(backend.text)];
          break;
        case CaseOutcome::kFinding:
          Suspicion({record.index, i, backend});
          break;
      }
    }
  }

  // First line without numbers and instruction texts, so that a thousand cases make a short table.
  static std::string Reason(const std::string& text) {
    std::string reason;
    for (char c : text.substr(0, std::min(text.find_first_of("\n%"), size_t{120}))) {
      bool digit = c >= '0' && c <= '9';
      if (digit && !reason.empty() && reason.back() == '#') continue;
      reason += digit ? '#' : c;
    }
    while (!reason.empty() && (reason.back() == ' ' || reason.back() == ':')) reason.pop_back();
    return reason;
  }

  void Suspicion(Suspect suspect) {
    ++summary_.suspects;
    if (suspect.record.kind == FindingKind::kWrongValue) ++summary_.compared;
    if (checked_ >= options_.most_checked) {
      ++summary_.unchecked;
      return;
    }
    ++checked_;
    suspects_.push_back(std::move(suspect));
  }

  void TakeConfirm(const Suspect& suspect, const ConfirmRecord& confirm) {
    CampaignFinding finding;
    finding.index = suspect.index;
    finding.backend = options_.backends[suspect.backend];
    finding.kind = suspect.record.kind;
    finding.phase = suspect.record.phase;
    finding.exact = suspect.record.exact;
    finding.text = suspect.record.text;
    finding.instructions = confirm.instructions;
    finding.second_check = absl::StrCat("failed again in ", confirm.fails, " of ", confirm.runs,
                                        " runs of a fresh process");
    if (!confirm.exact.empty()) {
      absl::StrAppend(&finding.second_check, "; with exact inputs: ", confirm.exact);
    }
    bool machine =
        finding.kind == FindingKind::kTimeout || finding.kind == FindingKind::kOutOfMemory;
    if (confirm.fails == 0 && machine) {
      ++summary_.unconfirmed;
      error_.Update(journal_.Unconfirmed(finding));
      return;
    }
    bool always = confirm.fails == confirm.runs;
    if (!always && finding.kind != FindingKind::kHarness) {
      finding.kind = FindingKind::kNondeterministic;
    } else if (always && confirm.record.kind == FindingKind::kNondeterministic) {
      finding.kind = FindingKind::kNondeterministic;
      finding.text = confirm.record.text;
    }
    ++summary_.findings;
    ++summary_.kinds[std::string(Name(finding.kind))];
    error_.Update(journal_.Found(finding));
    findings_.push_back(std::move(finding));
  }

  void TakeTriage(size_t at, const nlohmann::json& reply) {
    CampaignFinding& finding = findings_[at];
    if (reply.contains("error")) {
      finding.triage_error = absl::StrCat("triage: ", reply.value("error", ""));
      return;
    }
    finding.triaged = true;
    finding.triage = DecodeTriage(reply);
    finding.bucket = finding.triage.bucket;
    error_.Update(journal_.Triaged(finding));
  }

  void Report(bool force) {
    double now = Now();
    if (!options_.progress || (!force && now - reported_ < options_.progress_seconds)) return;
    reported_ = now;
    bool cases_done = cases_end_ > 0;
    summary_.seconds = (cases_done ? cases_end_ : now) - start_;
    double left = -1;
    if (options_.seconds > 0) left = std::max(0.0, options_.seconds - summary_.seconds);
    if (options_.count > 0 && summary_.programs > 0) {
      double rate = summary_.ProgramsPerSecond();
      double by_count = static_cast<double>(options_.count - summary_.programs) / rate;
      left = left < 0 ? by_count : std::min(left, by_count);
    }
    options_.progress({summary_, options_.count, left, cases_done});
  }

  const CampaignOptions& options_;
  const CampaignTools& tools_;
  CampaignSummary summary_;
  absl::Status error_;
  Journal journal_;
  std::unique_ptr<SharedStates> shared_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<ForkServer> server_;
  std::vector<Slot> slots_;
  std::vector<pid_t> retired_;
  std::deque<Suspect> suspects_;
  std::vector<CampaignFinding> findings_;  // confirmed, in order of confirmation
  int64_t next_index_ = 0, checked_ = 0, triaged_ = 0;
  double start_ = 0, cases_end_ = 0, reported_ = 0;
};

}  // namespace

absl::StatusOr<CampaignSummary> RunCampaign(const CampaignOptions& options,
                                            const CampaignTools& tools) {
  InterruptGuard guard;
  return Campaign(options, tools).Run();
}

}  // namespace assay
