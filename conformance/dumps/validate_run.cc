// One process for a part of a module's states, which sends a message for each state it begins and
// each step it judged.
#include "conformance/dumps/validate_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

// Fewer states in a part do not pay for the state that it reads and runs once more.
constexpr size_t kLeastStates = 8;
// Parts for each process, so that one that takes long does not keep the others waiting.
constexpr size_t kPartsPerProcess = 4;
constexpr int kPollMilliseconds = 200;

// States (first, last] of a module; the state `first` is that before the first step.
struct Part {
  const DumpedModule* dumped = nullptr;
  size_t first = 0, last = 0;
  bool is_last = false;  // of its module
  pid_t process = -1;
  int socket = -1;
  MessageBuffer arrived;
  double since = 0;  // the last message
  size_t at = 0;     // the state that it is busy with
  std::deque<nlohmann::json> events;
  bool is_done = false;
};

nlohmann::json ToJson(const DumpStep& step) {
  const StepVerdict& verdict = step.verdict;
  auto state = [](const DumpSnapshot& each) {
    return nlohmann::json{each.path, each.pipeline, each.pass};
  };
  return {{"before", state(step.before)},
          {"after", state(step.after)},
          {"seconds", step.seconds},
          {"diff", step.diff},
          {"kind", static_cast<int>(verdict.kind)},
          {"reason", verdict.reason},
          {"elements", verdict.elements},
          {"failed", verdict.failed},
          {"undecided", verdict.undecided},
          {"shared", verdict.shared},
          {"renamed", verdict.renamed},
          {"where", verdict.where},
          {"opcode", verdict.opcode},
          {"op_name", verdict.op_name},
          {"source", verdict.source},
          {"stretch", verdict.stretch},
          {"failure", verdict.failure}};
}

DumpStep StepFromJson(const nlohmann::json& json) {
  auto state = [](const nlohmann::json& each) {
    return DumpSnapshot{each.at(0), each.at(1), each.at(2)};
  };
  DumpStep step{
      state(json.at("before")), state(json.at("after")), {}, json.at("seconds"), json.at("diff")};
  StepVerdict& verdict = step.verdict;
  verdict.kind = static_cast<StepVerdict::Kind>(json.at("kind").get<int>());
  verdict.reason = json.at("reason");
  verdict.elements = json.at("elements");
  verdict.failed = json.at("failed");
  verdict.undecided = json.at("undecided");
  verdict.shared = json.at("shared");
  verdict.renamed = json.at("renamed");
  verdict.where = json.at("where");
  verdict.opcode = json.at("opcode");
  verdict.op_name = json.at("op_name");
  verdict.source = json.at("source");
  verdict.stretch = json.at("stretch").get<std::vector<std::string>>();
  verdict.failure = json.at("failure");
  return step;
}

class ValidateRun {
 public:
  ValidateRun(const std::vector<DumpedModule>& dumps,
              const std::function<std::unique_ptr<Oracle>()>& make_oracle,
              const ValidateRunOptions& options, const ValidateListener& listener)
      : make_oracle_(make_oracle), options_(options), listener_(listener) {
    for (const DumpedModule& dumped : dumps) end_.states += Count(dumped);
    for (const DumpedModule& dumped : dumps) Divide(dumped);
  }

  ValidateRunEnd Run() {
    const double end = options_.seconds > 0 ? Now() + options_.seconds : 0;
    while (next_told_ < parts_.size()) {
      end_.interrupted = InterruptRequested();
      end_.out_of_time = end > 0 && Now() > end;
      if (end_.interrupted || end_.out_of_time) break;
      StartMore();
      Receive();
      KillTheSlow();
      TellInOrder();
      listener_.progress(end_.followed, end_.states);
    }
    for (Part& part : parts_) Stop(part);
    TellTheRest();
    return end_;
  }

 private:
  static int64_t Count(const DumpedModule& dumped) {
    return static_cast<int64_t>(dumped.snapshots.size());
  }

  void Divide(const DumpedModule& dumped) {
    const size_t states = dumped.snapshots.size();
    const auto wanted = static_cast<size_t>(std::max(options_.jobs, 1)) * kPartsPerProcess;
    const size_t share = static_cast<size_t>(end_.states) / wanted + 1;
    const size_t each = std::max(share, kLeastStates);
    for (size_t first = 0; first == 0 || first + 1 < states; first += each) {
      Part& part = parts_.emplace_back();
      part.dumped = &dumped;
      part.first = part.at = first;
      part.last = std::min(first + each, states - 1);
      part.is_last = part.last + 1 == states;
    }
  }

  void StartMore() {
    int running = 0;
    for (const Part& part : parts_) running += part.process > 0 ? 1 : 0;
    for (size_t k = next_told_; k < parts_.size() && running < options_.jobs; ++k) {
      if (parts_[k].process > 0 || parts_[k].is_done) continue;
      Start(parts_[k]);
      ++running;
    }
  }

  void Start(Part& part) {
    const auto [mine, theirs] = SocketPair();
    part.process = mine < 0 ? -1 : fork();
    if (part.process == 0) {
      close(mine);
      ConfineThisProcess(0);
      Follow(part, theirs);
      _exit(0);
    }
    if (mine >= 0) close(theirs);
    part.socket = mine;
    part.since = Now();
    if (part.process < 0) Give(part, "no process could be started for it");
  }

  // In the process of the part.
  void Follow(const Part& part, int socket) {
    const std::unique_ptr<Oracle> oracle = make_oracle_();
    ValidateOptions validate = options_.validate;
    validate.first = part.first;
    validate.last = part.last;
    validate.judges_recorded = part.is_last;
    auto send = [&](const nlohmann::json& json) {
      SendMessage(socket, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    };
    validate.begin = [&](size_t state) { send({{"begin", state}}); };
    const absl::Status status = ValidateDump(*part.dumped, *oracle, validate,
                                             [&](const DumpStep& step) { send(ToJson(step)); });
    if (!status.ok()) send({{"error", ToStd(status.message())}});
    send({{"done", true}});
  }

  void Receive() {
    std::vector<pollfd> sockets;
    std::vector<Part*> of;
    for (Part& part : parts_) {
      if (part.process <= 0) continue;
      sockets.push_back({part.socket, POLLIN, 0});
      of.push_back(&part);
    }
    if (poll(sockets.data(), sockets.size(), kPollMilliseconds) <= 0) return;
    for (size_t k = 0; k < sockets.size(); ++k)
      if (sockets[k].revents != 0) ReadFrom(*of[k]);
  }

  void ReadFrom(Part& part) {
    const bool is_open = part.arrived.Fill(part.socket);
    while (std::optional<std::string> message = part.arrived.Next()) {
      nlohmann::json event = nlohmann::json::parse(*message, nullptr, false);
      part.since = Now();
      if (event.contains("begin")) {
        part.at = event["begin"];
        ++end_.followed;
      } else if (event.contains("done")) {
        part.is_done = true;
      } else {
        part.events.push_back(std::move(event));
      }
    }
    if (part.is_done) {
      Stop(part);
    } else if (!is_open) {
      Stop(part);
      Give(part, "the process that judged it died");
    }
  }

  void KillTheSlow() {
    if (options_.step_seconds <= 0) return;
    for (Part& part : parts_) {
      if (part.process <= 0 || Now() - part.since < options_.step_seconds) continue;
      Stop(part);
      Give(part, StrCat("it took longer than ", static_cast<int64_t>(options_.step_seconds),
                        " s; --timeout raises the limit"));
    }
  }

  // The step that the part was busy with stays open, and the part goes on behind it.
  void Give(Part& part, const std::string& why) {
    const std::vector<DumpSnapshot>& states = part.dumped->snapshots;
    DumpStep step{states[part.at == 0 ? 0 : part.at - 1], states[part.at], {}, 0, ""};
    step.verdict.kind = StepVerdict::kInconclusive;
    step.verdict.reason = why;
    part.events.push_back(ToJson(step));
    part.is_done = part.at >= part.last;
    part.first = part.at;
    part.at = part.first + 1;
    part.arrived = MessageBuffer();
  }

  static void Stop(Part& part) {
    if (part.process > 0) {
      kill(part.process, SIGKILL);
      waitpid(part.process, nullptr, 0);
    }
    if (part.socket >= 0) close(part.socket);
    part.process = part.socket = -1;
  }

  void TellInOrder() {
    while (next_told_ < parts_.size()) {
      Part& part = parts_[next_told_];
      Open(*part.dumped);
      bool has_failed = false;
      for (; !part.events.empty() && !has_failed; part.events.pop_front())
        has_failed = Tell(part.events.front());
      if (has_failed) EndModule(*part.dumped);
      if (!has_failed && !part.is_done) return;
      if (has_failed || part.is_last) Close();
      if (!has_failed) ++next_told_;
    }
  }

  // If a run ends early, tells what parts behind an unfinished one have judged already.
  void TellTheRest() {
    const DumpedModule* failed = nullptr;
    for (; next_told_ < parts_.size(); ++next_told_) {
      Part& part = parts_[next_told_];
      for (; !part.events.empty() && part.dumped != failed; part.events.pop_front()) {
        Open(*part.dumped);
        if (Tell(part.events.front())) failed = part.dumped;
      }
    }
    Close();
  }

  void Open(const DumpedModule& dumped) {
    if (open_ == &dumped) return;
    Close();
    listener_.begin(dumped);
    open_ = &dumped;
  }

  void Close() {
    if (open_ != nullptr) listener_.end();
    open_ = nullptr;
  }

  // True: the module ends here.
  bool Tell(const nlohmann::json& event) {
    if (event.contains("error")) {
      listener_.excuse(absl::InvalidArgumentError(event["error"].get<std::string>()));
      return true;
    }
    const DumpStep step = StepFromJson(event);
    listener_.tell(step);
    return step.verdict.kind == StepVerdict::kFailed;
  }

  void EndModule(const DumpedModule& dumped) {
    while (next_told_ < parts_.size() && parts_[next_told_].dumped == &dumped) {
      Stop(parts_[next_told_]);
      ++next_told_;
    }
  }

  const std::function<std::unique_ptr<Oracle>()>& make_oracle_;
  const ValidateRunOptions& options_;
  const ValidateListener& listener_;
  std::deque<Part> parts_;
  size_t next_told_ = 0;
  const DumpedModule* open_ = nullptr;  // that was begun
  ValidateRunEnd end_;
};

}  // namespace

ValidateRunEnd ValidateDumps(const std::vector<DumpedModule>& dumps,
                             const std::function<std::unique_ptr<Oracle>()>& make_oracle,
                             const ValidateRunOptions& options, const ValidateListener& listener) {
  return ValidateRun(dumps, make_oracle, options, listener).Run();
}

}  // namespace assay
