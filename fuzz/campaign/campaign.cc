// The processes of a campaign: workers are started, fed, watched, killed when late and replaced.
#include "fuzz/campaign/campaign.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "fuzz/campaign/duties.h"
#include "fuzz/campaign/worker.h"
#include "fuzz/late_worker.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/cpu_time.h"
#include "spec/process/fork_server.h"
#include "spec/process/interrupt.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

constexpr double kOutsideStartSeconds = 60;
// For second checks after the campaign's own time is up: of what looks like nothing seen before,
// and of the rest.
constexpr double kNovelDrainSeconds = 300;
constexpr double kDrainSeconds = 20;
// Cases have at least this share of a campaign's time, whatever triage needs. When the time is up,
// a second check and the triage in hand may still come to their end, and the suspects that are left
// have a little more.
constexpr double kShareOfCases = 0.6;
// The share of the time that is left for programs, whatever the start took, in which the peer is
// asked what it takes.
constexpr double kLeastShareAfterStart = 0.5;
constexpr double kLastWordsSeconds = 2;
constexpr double kShareOfLastChecks = 0.01, kMostSecondsOfLastChecks = 20;

// A place for one worker process at a time.
struct Slot {
  std::unique_ptr<Duty> duty;
  size_t number = 0;
  pid_t pid = -1;
  int fd = -1;
  bool at_end = false;  // the worker closed its side: wait for its exit
  MessageBuffer buffer;
  bool busy = false;
  bool fresh = true;         // has answered nothing yet
  LateWorker time;           // of the work in hand
  double begun = 0;          // Now() when its clock was set
  double waited_before = 0;  // WaitedForCpu before it
  int64_t served = 0;        // cases that its process was given, or pieces of other work
};

nlohmann::json Parse(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

// The worker ended with a request in hand, in the state that it noted last.
BackendRecord RecordOfDeath(const Isolated& death, const WorkerState& state) {
  const Outcome outcome = OutcomeOfDeath(death, state.phase.load());
  BackendRecord record;
  record.kind = outcome.kind;
  // An oracle or a judge at its limit leaves the verdict open. The generator always comes to an
  // end, so one that does not is a bug of ours.
  const bool is_open = outcome.phase == Phase::kOracle || outcome.phase == Phase::kJudge;
  if (!IsFinding(record.kind) && !is_open) record.kind = Outcome::kOurFault;
  record.phase = outcome.phase;
  record.exact = state.exact.load() != 0;
  record.set = state.set.load();
  record.text = StrCat("the worker ", death.Describe(), " (", Name(record.phase), ")");
  return record;
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const CampaignTools& tools)
      : options_(options), tools_(tools), desk_{options, tools, Tally(options), {}} {}

  absl::StatusOr<CampaignSummary> Run() {
    ASSAY_RETURN_IF_ERROR(Start());
    while (!Done() && error_.ok()) {
      Dispatch();
      Wait();
      KillLate();
      Report();
    }
    Finish();
    return std::move(summary());
  }

 private:
  CampaignSummary& summary() { return desk_.tally.summary(); }

  // ---- Start and end.

  absl::Status Start() {
    if (options_.count <= 0 && options_.seconds <= 0) {
      return absl::InvalidArgumentError("a campaign needs a count or a time");
    }
    if (options_.backends.empty()) return absl::InvalidArgumentError("a campaign needs a backend");
    if (options_.screened_percent < 0 || options_.screened_percent > 100) {
      return absl::InvalidArgumentError(
          StrCat("of 100 programs ", options_.screened_percent, " cannot be screened"));
    }
    const double called = Now();
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    summary().cores = std::max(1, cores);
    const int jobs = options_.jobs > 0 ? options_.jobs : std::max(1, cores);
    EarlierCampaign earlier;
    if (options_.resume) {
      ASSAY_ASSIGN_OR_RETURN(earlier, ReadJournal(options_.out_dir));
      ASSAY_RETURN_IF_ERROR(
          ExpectSameCampaign(earlier, IdentityOf(options_, summary()), options_.out_dir));
      if (options_.first != 0 && options_.first != earlier.first) {
        return absl::InvalidArgumentError(StrCat("the campaign in ", options_.out_dir,
                                                 " began with program ", earlier.first, ", not ",
                                                 options_.first));
      }
    }
    ASSAY_RETURN_IF_ERROR(desk_.journal.Open(options_));
    ASSAY_ASSIGN_OR_RETURN(shared_, WorkerStates::Create(3 * static_cast<size_t>(jobs) + 2));
    ASSAY_RETURN_IF_ERROR(StartTemplate());
    summary().seed = options_.seed;
    summary().first = options_.first;
    summary().backends = options_.backends;
    summary().jobs = jobs;
    for (int i = 0; i < jobs; ++i) AddSlot(MakeCaseDuty(desk_));
    confirm_ = AddSlot(MakeConfirmDuty(desk_, /*is_spare=*/false));
    for (int i = 1; i < jobs; ++i) AddSlot(MakeConfirmDuty(desk_, /*is_spare=*/true));
    triage_ = AddSlot(MakeTriageDuty(desk_, /*is_spare=*/false));
    for (int i = 1; i < jobs; ++i) AddSlot(MakeTriageDuty(desk_, /*is_spare=*/true));
    desk_.late_workers = jobs;
    desk_.next_index = options_.first;
    if (options_.resume) ASSAY_RETURN_IF_ERROR(Resume(std::move(earlier)));
    start_ = Now();
    desk_.started = start_;
    cpu_start_ = CpuSecondsOfTree(getpid());
    seconds_ =
        std::max(options_.seconds - (start_ - called), kLeastShareAfterStart * options_.seconds);
    if (seconds_ > 0) desk_.ends = start_ + seconds_;
    return desk_.journal.Begin(summary(), options_);
  }

  absl::Status Resume(EarlierCampaign earlier) {
    ASSAY_RETURN_IF_ERROR(
        ExpectSameCampaign(earlier, IdentityOf(options_, summary()), options_.out_dir));
    summary().first = earlier.first;
    summary().earlier = earlier.programs;
    desk_.next_index = earlier.next;
    desk_.tally.Restore(std::move(earlier));
    return absl::OkStatus();
  }

  absl::Status StartTemplate() {
    template_ = std::make_unique<WarmTemplate>(options_, tools_, *shared_);
    const auto warm = [this] {
      desk_.journal.LeaveToParent();
      return template_->Warm();
    };
    ASSAY_ASSIGN_OR_RETURN(server_,
                           ForkServer::Start(warm, [this](int fd) { template_->Serve(fd); }));
    template_started_ = Now();
    const nlohmann::json note = Parse(shared_->note());
    summary().versions = note.value("versions", std::vector<std::string>());
    summary().portable = note.value("foreign", false);
    is_elsewhere_ = note.value("elsewhere", false);
    summary().input_sets = note.value("input_sets", int64_t{1});
    desk_.batch = std::max(int64_t{1}, note.value("batch", int64_t{1}));
    summary().generator = note.value("generator", "");
    summary().probe = note.value("probe", "");
    summary().excluded_ops = note.value("excluded_ops", std::vector<std::string>());
    summary().excluded_recipes = note.value("excluded_recipes", std::vector<std::string>());
    summary().excluded_types = note.value("excluded_types", std::vector<std::string>());
    return absl::OkStatus();
  }

  // The template process is gone, killed by somebody or by a machine without memory, and its
  // workers with it. What they had in hand goes back, and a new one is started; `why` ends the
  // campaign where that happens again and again.
  absl::Status RestartTemplate(const absl::Status& why) {
    constexpr int kMostRestarts = 10, kMostInARow = 2;
    constexpr double kShortLife = 5;
    in_a_row_ = Now() - template_started_ < kShortLife ? in_a_row_ + 1 : 0;
    if (++restarts_ > kMostRestarts || in_a_row_ > kMostInARow || InterruptRequested()) return why;
    for (Slot& slot : slots_) {
      if (slot.fd >= 0 && !slot.at_end) TakeReplies(slot);
      const bool busy = slot.busy;
      slot.busy = false;
      slot.pid = -1;
      CloseFd(slot);
      if (!busy) continue;
      ++summary().workers_lost;
      slot.duty->TakeLoss();
    }
    retired_.clear();
    server_.reset();
    const CampaignIdentity was = IdentityOf(options_, summary());
    ASSAY_RETURN_IF_ERROR(StartTemplate());
    if (IdentityOf(options_, summary()) == was) return absl::OkStatus();
    return MakeError(ErrorClass::kSickMachine,
                     StrCat(ToStd(why.message()), ", and the backend has become another one"));
  }

  size_t AddSlot(std::unique_ptr<Duty> duty) {
    const size_t number = slots_.size();
    slots_.emplace_back();
    slots_.back().number = number;
    slots_.back().duty = std::move(duty);
    return number;
  }

  bool CasesRunning() const {
    return std::any_of(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(confirm_),
                       [](const Slot& slot) { return slot.busy; });
  }
  bool HasWork(size_t slot) const { return slots_[slot].busy || slots_[slot].duty->HasWork(); }

  bool ChecksHaveWork() const { return HaveWork(confirm_, triage_); }
  bool TriageHasWork() const { return HaveWork(triage_, slots_.size()); }
  bool HaveWork(size_t first, size_t end) const {
    for (size_t slot = first; slot < end; ++slot) {
      if (HasWork(slot)) return true;
    }
    return false;
  }

  // Leaves as much of the time to second checks and triage as they need, and never more than their
  // share.
  void EndCasesForTriage() {
    if (!tools_.triage || desk_.TriageEnds() == 0 || desk_.is_over) return;
    const double now = Now();
    const bool is_late = now - start_ > kShareOfCases * seconds_;
    const double backlog = desk_.TriageBacklog() + desk_.CheckBacklog();
    desk_.is_over = is_late && now + backlog > desk_.TriageEnds();
  }

  bool Done() {
    if (InterruptRequested()) return true;
    EndCasesForTriage();
    if (desk_.CasesLeft() || CasesRunning()) return false;
    if (cases_end_ == 0) cases_end_ = Now();
    if (desk_.TriageEnds() > 0 && Now() > desk_.TriageEnds() + kLastWordsSeconds) {
      const double more = std::min(kMostSecondsOfLastChecks, kShareOfLastChecks * seconds_);
      return !ChecksHaveWork() || Now() > desk_.TriageEnds() + more;
    }
    const bool is_novel = desk_.tally.HasNovelSuspect();
    const bool draining = Now() - cases_end_ <
                          (is_novel ? kNovelDrainSeconds : kDrainSeconds) + options_.case_seconds;
    if (draining && ChecksHaveWork()) return false;
    return !TriageHasWork();
  }

  void TakeCpuSeconds() {
    summary().cpu_seconds = CpuSecondsOfTree(getpid()) - cpu_start_;
    summary().cpu_seconds_of_checks = desk_.cpu_seconds_of_checks;
    summary().cpu_seconds_of_triage = desk_.cpu_seconds_of_triage;
  }

  void Finish() {
    summary().interrupted = InterruptRequested();
    TakeCpuSeconds();
    summary().seconds = (cases_end_ > 0 ? cases_end_ : Now()) - start_;
    summary().triage_seconds = cases_end_ > 0 ? Now() - cases_end_ : 0;
    for (size_t slot = confirm_; slot < triage_; ++slot) {
      if (slots_[slot].busy) ++summary().unchecked;
    }
    server_.reset();
    for (Slot& slot : slots_) CloseFd(slot);
    desk_.tally.Finish(static_cast<bool>(tools_.triage));
    summary().error = error_;
    summary().error.Update(desk_.journal.End(summary()));
    if (options_.progress) options_.progress({summary(), options_.count, 0, false});
  }

  // ---- Handing out work.

  void Dispatch() {
    for (Slot& slot : slots_) {
      if (slot.busy || !error_.ok() || !slot.duty->HasWork()) continue;
      const bool is_worn = slot.served >= options_.cases_per_worker;
      if (is_worn || slot.duty->WantsFreshProcess()) Retire(slot);
      if (EnsureWorker(slot)) Send(slot, slot.duty->Next());
    }
  }

  bool EnsureWorker(Slot& slot) {
    if (slot.pid >= 0) return !slot.at_end;
    const double start = Now();
    absl::StatusOr<ForkServer::Worker> worker = server_->Spawn();
    if (!worker.ok()) {
      error_ = RestartTemplate(worker.status());
      return false;
    }
    slot.pid = worker->pid;
    slot.fd = worker->fd;
    slot.at_end = slot.time.killed = false;
    slot.fresh = true;
    slot.served = 0;
    slot.buffer = MessageBuffer();
    SendMessage(slot.fd, nlohmann::json({{"slot", slot.number}}).dump());
    if (summary().workers_lost > 0) summary().respawn_seconds += Now() - start;
    return true;
  }

  void Send(Slot& slot, const WorkOrder& order) {
    slot.busy = true;
    slot.served += order.request.value("count", int64_t{1});
    SetClock(slot, Now(), order.seconds);
    // A worker that died in between shows by its exit, with this request still in hand.
    SendMessage(slot.fd,
                order.request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  void SetClock(Slot& slot, double begun, double seconds) {
    slot.begun = begun;
    slot.waited_before = WaitedForCpu(slot.pid);
    const bool starts = slot.fresh && summary().portable;
    slot.time = {.deadline = begun + seconds + (starts ? kOutsideStartSeconds : 0),
                 .seconds = seconds};
  }

  // A worker with several cases in hand has the time of one for each, from when it begins it.
  void FollowWorker(Slot& slot) {
    const WorkerState& state = shared_->at(slot.number);
    const double begun = state.begun.load();
    if (begun <= slot.begun || slot.time.killed) return;
    SetClock(slot, begun, desk_.CaseSeconds() * state.times.load());
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
      if (slot.busy) until = std::min(until, slot.time.deadline);
      if (slot.fd < 0 || slot.at_end) continue;
      fds.push_back({slot.fd, POLLIN, 0});
      polled.push_back(&slot);
    }
    const int timeout = std::max(1, static_cast<int>((until - Now()) * 1000));
    if (poll(fds.data(), fds.size(), timeout) <= 0) return;
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents != 0) TakeReplies(*polled[i]);
    }
    const absl::Status template_status = fds[0].revents != 0 ? server_->Poll() : absl::OkStatus();
    while (std::optional<ForkServer::Exit> exit = server_->NextExit()) TakeExit(*exit);
    if (!template_status.ok()) error_.Update(RestartTemplate(template_status));
  }

  void TakeReplies(Slot& slot) {
    if (!slot.buffer.Fill(slot.fd)) slot.at_end = true;
    while (std::optional<std::string> message = slot.buffer.Next()) {
      if (slot.busy) TakeReply(slot, *message);
    }
  }

  void TakeReply(Slot& slot, const std::string& message) {
    slot.busy = false;
    slot.fresh = false;
    // A worker with corrupted memory may send anything; a reply that does not parse counts as its
    // crash.
    try {
      error_.Update(slot.duty->TakeReply(Parse(message)));
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
      const bool busy = slot.busy;
      slot.busy = false;
      slot.pid = -1;
      CloseFd(slot);
      if (busy) TakeDeath(slot, exit);
      return;
    }
  }

  void TakeDeath(Slot& slot, const ForkServer::Exit& exit) {
    ++summary().workers_lost;
    Isolated death = EndOfProcess(exit.status, exit.stderr_tail, slot.time.killed);
    death.seconds = options_.case_seconds;
    const WorkerState& state = shared_->at(slot.number);
    const size_t backend = std::min<size_t>(state.backend.load(), options_.backends.size() - 1);
    BackendRecord record = RecordOfDeath(death, state);
    // Another compiler's process has limits of its own, which end before those of a worker that
    // waits for it. Where they did not, nobody got at the processor, or it was many short runs.
    if (slot.time.killed && is_elsewhere_ && record.kind == Outcome::kTimeout)
      record.kind = Outcome::kSickMachine;
    if (!IsFinding(record.kind) && summary().lost.size() < CampaignSummary::kMostLost)
      summary().lost.emplace(state.index.load(), record.text);
    error_.Update(slot.duty->TakeDeath({record, backend, state.index.load()}));
  }

  void KillLate() {
    const double now = Now();
    for (Slot& slot : slots_) {
      if (!slot.busy || slot.pid < 0 || now < slot.time.deadline) continue;
      FollowWorker(slot);
      if (now < slot.time.deadline) continue;
      slot.time.waited = WaitedForCpu(slot.pid) - slot.waited_before;
      switch (slot.time.NextStep(now)) {
        case LateWorker::Step::kWait:
          break;
        case LateWorker::Step::kKill:
          slot.time.killed = true;
          slot.time.killed_at = now;
          kill(slot.pid, SIGKILL);
          break;
        case LateWorker::Step::kGiveUp:
          error_ = MakeError(ErrorClass::kSickMachine,
                             StrCat("worker ", slot.pid,
                                    " does not die; is the disk or the memory of this machine "
                                    "stuck?"));
          return;
      }
    }
  }

  void Report() {
    const double now = Now();
    if (!options_.progress || now - reported_ < options_.progress_seconds) return;
    reported_ = now;
    const bool cases_done = cases_end_ > 0;
    summary().seconds = (cases_done ? cases_end_ : now) - start_;
    double left = -1;
    if (seconds_ > 0) left = std::max(0.0, seconds_ - summary().seconds);
    if (options_.count > 0 && summary().programs > 0) {
      const double rate = summary().ProgramsPerSecond();
      const double by_count = static_cast<double>(options_.count - summary().programs) / rate;
      left = left < 0 ? by_count : std::min(left, by_count);
    }
    options_.progress({summary(), options_.count, left, cases_done});
  }

  const CampaignOptions& options_;
  const CampaignTools& tools_;
  CampaignDesk desk_;
  absl::Status error_;
  std::unique_ptr<WorkerStates> shared_;
  std::unique_ptr<WarmTemplate> template_;
  std::unique_ptr<ForkServer> server_;
  // The slots that run cases, from confirm_ on second checks, then one that replays and one that
  // joins, then triage.
  std::vector<Slot> slots_;
  size_t confirm_ = 0, triage_ = 0;
  std::vector<pid_t> retired_;
  double start_ = 0, cases_end_ = 0, reported_ = 0, cpu_start_ = 0;
  double seconds_ = 0;  // from start_ on; 0: no limit
  double template_started_ = 0;
  int restarts_ = 0, in_a_row_ = 0;  // of the template; after short lives
  bool is_elsewhere_ = false;        // a backend runs in a process of its own
};

}  // namespace

absl::StatusOr<CampaignSummary> RunCampaign(const CampaignOptions& options,
                                            const CampaignTools& tools) {
  InterruptGuard guard;
  return Campaign(options, tools).Run();
}

}  // namespace assay
