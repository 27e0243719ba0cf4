// The template process of a campaign and the loop of its workers.
#include "fuzz/campaign/worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "absl/strings/str_format.h"
#include "fuzz/campaign/second_check.h"
#include "fuzz/peers/probe.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"
#include "spec/process/cpu_time.h"
#include "spec/process/isolate.h"
#include "spec/process/wire.h"
#include "spec/process/worker_process.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

// Cases that a worker gets at once where they are compiled together: as many as make whole packs of
// those that are screened and of the rest.
constexpr int64_t kBatch = 160;
// Programs in hand of a worker whose backend is in its own process: fewer, for all of them wait
// where one hangs.
constexpr int64_t kBatchInProcess = 16;
// A compilation elsewhere costs as much as some hundred runs of what it made.
constexpr int64_t kForeignInputSets = 8;
constexpr int64_t kForeignRepeatEvery = 400, kOwnRepeatEvery = 100;
// A second set here, where parameters meet the edges of their types.
constexpr int64_t kOwnInputSets = 2;

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Two ops, so that a compiler loads what it needs for any program.
std::unique_ptr<Module> WarmUpModule() {
  auto module = std::make_unique<Module>("warm_up");
  Computation* entry = module->AddComputation("main");
  Shape shape = Shape::Array(ElementType::kF32, {4});
  Instruction* x = entry->AddParameter(0, shape);
  Instruction* sum = entry->Add(Opcode::kAdd, shape, {x, x});
  entry->set_root(entry->Add(Opcode::kNegate, shape, {sum}));
  module->set_entry(entry);
  return module;
}

void CompileAndRunOnce(Backend& backend, Oracle& oracle) {
  std::unique_ptr<Module> module = WarmUpModule();
  Literal input(Shape::Array(ElementType::kF32, {4}));
  // The result does not matter; a failure shows again, and is recorded, in the cases.
  if (backend.Describe().can_run) {
    CompileAndRun(backend, *module, {&input}).status().IgnoreError();
  }
  oracle.Expect(*module, {&input}, Profile::Xla(), Limits()).status().IgnoreError();
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerStates>> WorkerStates::Create(size_t slots) {
  std::unique_ptr<WorkerStates> states(new WorkerStates(slots));
  if (states->states_.is_shared() && states->note_.is_shared()) return states;
  return MakeError(ErrorClass::kSickMachine, "this machine has no shared memory left");
}

void WorkerStates::set_note(const std::string& text) {
  const size_t size = std::min(text.size(), kNoteBytes - 1);
  std::memcpy(&note_[0], text.data(), size);
  note_[size] = '\0';
}

absl::Status WarmTemplate::Warm() {
  ASSAY_ASSIGN_OR_RETURN(oracle_, tools_.make_oracle());
  nlohmann::json versions = nlohmann::json::array();
  bool portable = options_.portable;
  std::string probe;
  for (const std::string& name : options_.backends) {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, tools_.make_backend(name));
    const BackendDescription& description = backend->Describe();
    versions.push_back(description.version);
    for (const KnownBug& bug : options_.known) {
      if (IsOfVersion(bug, description.version)) runner_options_.known.push_back(bug);
    }
    // Only asked what it takes: each worker starts its own process of it.
    if (!description.in_process) {
      portable = true;
      ASSAY_ASSIGN_OR_RETURN(probe, ProbePeer(*backend, runner_options_.generator));
      if (options_.screened_percent > 0) runner_options_.screening = CheapFlags(*backend);
      backends_.push_back(std::move(backend));
      continue;
    }
    if (description.capability) {
      ExcludeUnsupported(description.capability, runner_options_.generator);
    }
    CompileAndRunOnce(*backend, *oracle_);
    backends_.push_back(std::move(backend));
  }
  if (!probe.empty() && tools_.triage && tools_.prepare_triage) tools_.prepare_triage();
  runner_options_.seed = options_.seed;
  runner_options_.generator.portable = portable;
  runner_options_.compile = options_.compile;
  runner_options_.profile = options_.profile;
  runner_options_.python = tools_.python;
  runner_options_.notable = options_.notable;
  runner_options_.screened_percent = options_.screened_percent;
  runner_options_.repeat_every = options_.repeat_every >= 0 ? options_.repeat_every
                                 : portable                 ? kForeignRepeatEvery
                                                            : kOwnRepeatEvery;
  runner_options_.input_sets = options_.input_sets > 0 ? options_.input_sets
                               : portable              ? kForeignInputSets
                                                       : kOwnInputSets;
  const GeneratorOptions& generator = runner_options_.generator;
  shared_.set_note(Dump({{"versions", versions},
                         {"generator", FingerprintOfPrograms()},
                         {"foreign", portable},
                         {"input_sets", runner_options_.input_sets},
                         {"batch", runner_options_.screening.empty() ? kBatchInProcess : kBatch},
                         {"elsewhere", !probe.empty()},
                         {"probe", probe},
                         {"excluded_ops", generator.ExcludedOps()},
                         {"excluded_types", generator.ExcludedTypes()},
                         {"excluded_recipes", generator.excluded_recipes}}));
  return absl::OkStatus();
}

std::string WarmTemplate::FingerprintOfPrograms() const {
  constexpr int64_t kPrograms = 16;
  std::vector<Backend*> backends;
  for (const auto& backend : backends_) backends.push_back(backend.get());
  const CaseRunner runner(runner_options_, *oracle_, std::move(backends));
  StableHash hash;
  for (int64_t index = 0; index < kPrograms; ++index) {
    const Finding made = runner.MakeFinding({.index = index});
    hash.Add(made.module_text);
    for (const Literal& input : made.inputs) {
      for (const Literal* leaf : Leaves(input)) {
        const auto* bytes = reinterpret_cast<const char*>(leaf->bytes().data());
        hash.Add(std::string_view(bytes, leaf->bytes().size()));
      }
    }
  }
  return absl::StrFormat("%016x", hash.Finish());
}

void WarmTemplate::Serve(int fd) {
  std::optional<std::string> first = ReceiveMessage(fd);
  if (!first.has_value()) return;
  nlohmann::json hello = nlohmann::json::parse(*first, nullptr, false);
  size_t slot = hello.is_object() ? hello.value("slot", size_t{0}) : 0;
  WorkerState& state = shared_.at(std::min(slot, shared_.size() - 1));
  // Children of this process inherit the limit, and what runs out of process has its own needs.
  bool in_process = std::none_of(backends_.begin(), backends_.end(), [](const auto& backend) {
    return !backend->Describe().in_process;
  });
  ConfineThisProcess(in_process ? options_.worker_memory_bytes : 0);
  std::vector<Backend*> backends;
  for (const auto& backend : backends_) backends.push_back(backend.get());
  runner_ = std::make_unique<CaseRunner>(runner_options_, *oracle_, std::move(backends));
  while (std::optional<std::string> message = ReceiveMessage(fd)) {
    nlohmann::json request = nlohmann::json::parse(*message, nullptr, false);
    if (!request.is_object()) return;
    nlohmann::json answer = Answer(request, state);
    // A second check and triage have a process of their own.
    if (request.value("do", "") != "cases") {
      answer["cpu_seconds"] = CpuSecondsOfTree(getpid()) + CpuSecondsOfWorkersElsewhere();
    }
    if (!SendMessage(fd, Dump(answer))) return;
  }
}

nlohmann::json WarmTemplate::Answer(const nlohmann::json& request, WorkerState& state) {
  const std::string what = request.value("do", "");
  if (what == "cases") {
    nlohmann::json records = nlohmann::json::array();
    const int64_t count = std::clamp(request.value("count", int64_t{1}), int64_t{1}, kBatch);
    std::vector<int64_t> indices(static_cast<size_t>(count));
    std::iota(indices.begin(), indices.end(), request.value("index", int64_t{0}));
    for (const CaseRecord& record : runner_->Run(indices, state)) {
      records.push_back(record.ToJson());
    }
    return {{"records", std::move(records)}};
  }
  CaseKey key = CaseKey::FromJson(request);
  key.backend = std::min(key.backend, backends_.size() - 1);
  if (what == "triage") return Triage(key, request);
  CaseKey whole = key;
  whole.output = -1;
  absl::Status written = WriteCase(runner_->MakeFinding(whole));
  FamiliarPlaces familiar;
  const nlohmann::json places = request.value("familiar", nlohmann::json::object());
  for (const auto& [place, culprit] : places.items())
    familiar.culprits[place] = CulpritFromJson(culprit);
  familiar.enough = request.value("enough", familiar.enough);
  const ConfirmRecord confirm = SecondCheck(*runner_, key, familiar, state).Run();
  if (!confirm.with.empty()) {
    whole.with = confirm.with;
    written.Update(WriteCase(runner_->MakeFinding(whole), whole.with));
  }
  nlohmann::json reply = confirm.ToJson();
  if (!written.ok()) reply["error"] = std::string(written.message());
  return reply;
}

nlohmann::json WarmTemplate::Triage(const CaseKey& key, const nlohmann::json& request) {
  Finding finding = runner_->MakeFinding(key);
  finding.kind = OutcomeKindFromName(request.value("kind", "")).value_or(Outcome::kWrong);
  finding.phase = PhaseFromName(request.value("phase", "")).value_or(Phase::kJudge);
  finding.judgement = request.value("text", "");
  finding.second_check = request.value("second_check", "");
  finding.triage_seconds = request.value("seconds", 0.0);
  absl::StatusOr<TriageResult> result = tools_.triage(finding, *oracle_, *backends_[key.backend]);
  if (!result.ok()) return {{"error", std::string(result.status().message())}};
  return EncodeTriage(*result);
}

absl::Status WarmTemplate::WriteCase(const Finding& finding,
                                     const std::vector<int64_t>& with) const {
  if (options_.out_dir.empty()) return absl::OkStatus();
  std::filesystem::path folder = std::filesystem::path(options_.out_dir) / "cases";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string name = StrCat(finding.seed, "-", finding.index);
  for (const int64_t index : with) StrAppend(&name, "+", index);
  const std::string base = (folder / name).string();
  ASSAY_RETURN_IF_ERROR(WriteFile(base + ".hlo", finding.module_text));
  return WriteInputs(base + ".npz", finding.inputs);
}

nlohmann::json EncodeTriage(const TriageResult& result) {
  return {{"confirmed", result.confirmed},
          {"bucket", result.bucket},
          {"title", result.title},
          {"blamed_rule", result.blamed_rule},
          {"blamed_where", result.blamed_where},
          {"silencing", result.silencing},
          {"blamed_decision", result.blamed_decision},
          {"instructions", result.instructions},
          {"culprit", ToJson(result.culprit)},
          {"is_smallest", result.is_smallest},
          {"notable", result.notable},
          {"second_opinion", result.second_opinion},
          {"variant", result.variant},
          {"page", result.page}};
}

TriageResult DecodeTriage(const nlohmann::json& json) {
  TriageResult result;
  result.confirmed = json.value("confirmed", false);
  result.bucket = json.value("bucket", "");
  result.title = json.value("title", "");
  result.blamed_rule = json.value("blamed_rule", "");
  result.blamed_where = json.value("blamed_where", "");
  result.silencing = json.value("silencing", "");
  result.blamed_decision = json.value("blamed_decision", int64_t{-1});
  result.instructions = json.value("instructions", int64_t{0});
  result.culprit = CulpritFromJson(json.value("culprit", nlohmann::json()));
  result.is_smallest = json.value("is_smallest", false);
  result.notable = json.value("notable", "");
  result.second_opinion = json.value("second_opinion", "");
  result.variant = json.value("variant", "");
  result.page = json.value("page", "");
  return result;
}

}  // namespace assay
