// The lines of a campaign's journal, and the summary as JSON.
#include "fuzz/campaign/journal.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "fuzz/campaign/worker.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

nlohmann::json FindingToJson(const CampaignFinding& finding) {
  nlohmann::json json = {{"index", finding.index},
                         {"backend", finding.backend},
                         {"kind", Name(finding.kind)},
                         {"phase", Name(finding.phase)},
                         {"exact", finding.exact},
                         {"instructions", finding.instructions},
                         {"text", finding.text},
                         {"second_check", finding.second_check},
                         {"signature", finding.signature},
                         {"input_set", finding.set},
                         {"culprit", ToJson(finding.culprit)},
                         {"bucket", finding.bucket}};
  if (!finding.notable.empty()) json["notable"] = finding.notable;
  if (!finding.known.empty()) json["known"] = finding.known;
  if (finding.output >= 0) json["output"] = finding.output;
  if (!finding.place.empty()) json["place"] = finding.place;
  if (!finding.variant.empty()) json["variant"] = finding.variant;
  if (!finding.with.empty()) json["with"] = finding.with;
  if (finding.triaged) json["triage"] = EncodeTriage(finding.triage);
  if (!finding.triage_error.empty()) json["triage_error"] = finding.triage_error;
  return json;
}

nlohmann::json CampaignSummary::ToJson() const {
  nlohmann::json json = {
      {"seed", seed},
      {"first", first},
      {"backends", backends},
      {"versions", versions},
      {"jobs", jobs},
      {"foreign", portable},
      {"interrupted", interrupted},
      {"error", std::string(error.message())},
      {"programs", programs},
      {"earlier", earlier},
      {"illegal", illegal},
      {"avoided", avoided},
      {"compared", compared},
      {"inconclusive", inconclusive},
      {"rescued", rescued},
      {"mistrusted", mistrusted},
      {"unsupported", unsupported},
      {"sick", sick},
      {"not_run", not_run},
      {"probe", probe},
      {"excluded",
       {{"ops", excluded_ops}, {"types", excluded_types}, {"recipes", excluded_recipes}}},
      {"screened", screened},
      {"screened_only", screened_only},
      {"alike", alike},
      {"suspects", suspects},
      {"findings", findings},
      {"unconfirmed", unconfirmed},
      {"unchecked", unchecked},
      {"repeated", repeated},
      {"workers_lost", workers_lost},
      {"lost", nlohmann::json::object()},
      {"buckets", this->buckets.size()},
      {"input_sets", input_sets},
      {"cpu_seconds", cpu_seconds},
      {"cpu_seconds_of_checks", cpu_seconds_of_checks},
      {"cpu_seconds_of_triage", cpu_seconds_of_triage},
      {"cpu_ms_per_program", CpuMillisecondsPerProgram()},
      {"share_of_cpu", ShareOfCpu()},
      {"seconds", seconds},
      {"triage_seconds", triage_seconds},
      {"programs_per_second", ProgramsPerSecond()}};
  json["stages"] = {{"generate", stages.generate}, {"oracle", stages.oracle},
                    {"passes", stages.passes},     {"code", stages.code},
                    {"run", stages.run},           {"judge", stages.judge}};
  for (const auto& [index, text] : lost) json["lost"][absl::StrCat(index)] = text;
  json["kinds"] = kinds;
  json["rules"] = rules;
  json["unsupported_reasons"] = unsupported_reasons;
  json["inconclusive_reasons"] = inconclusive_reasons;
  json["illegal_reasons"] = illegal_reasons;
  json["findings_per_signature"] = signatures;
  json["findings_per_bucket"] = this->buckets;
  json["probably_the_same"] = nlohmann::json::object();
  for (const auto& [bucket, other] : doubles)
    json["probably_the_same"][bucket] = {{"bucket", other.bucket}, {"why", other.why}};
  json["known"] = this->known;
  json["notable"] = this->notable;
  json["refuted"] = refuted;
  json["found"] = nlohmann::json::array();
  for (const CampaignFinding& finding : found) json["found"].push_back(FindingToJson(finding));
  return json;
}

namespace {

CampaignFinding FindingFromJson(const nlohmann::json& json) {
  CampaignFinding finding;
  finding.index = json.value("index", int64_t{-1});
  finding.backend = json.value("backend", "");
  finding.kind = OutcomeKindFromName(json.value("kind", "")).value_or(Outcome::kWrong);
  finding.phase = PhaseFromName(json.value("phase", "")).value_or(Phase::kJudge);
  finding.exact = json.value("exact", false);
  finding.set = json.value("input_set", int64_t{0});
  finding.output = json.value("output", finding.output);
  finding.with = json.value("with", finding.with);
  finding.instructions = json.value("instructions", int64_t{0});
  finding.culprit = CulpritFromJson(json.value("culprit", nlohmann::json()));
  finding.signature = json.value("signature", "");
  finding.place = json.value("place", "");
  finding.variant = json.value("variant", "");
  finding.text = json.value("text", "");
  finding.second_check = json.value("second_check", "");
  finding.notable = json.value("notable", "");
  finding.known = json.value("known", "");
  return finding;
}

void TakeLine(const nlohmann::json& line, EarlierCampaign& campaign) {
  const std::string type = line.value("type", "");
  for (const auto& [name, kept] :
       {std::pair("finding", &campaign.findings), std::pair("unconfirmed", &campaign.unconfirmed),
        std::pair("screened only", &campaign.screened_only), std::pair("alike", &campaign.alike)}) {
    if (type == name) kept->push_back(FindingFromJson(line));
  }
  if (type == "progress") {
    campaign.next = std::max(campaign.next, line.value("next", int64_t{0}));
    campaign.programs = line.value("programs", int64_t{0});
  }
  if (type != "triage" || !line.contains("triage")) return;
  for (CampaignFinding& finding : campaign.findings) {
    if (finding.index != line.value("index", int64_t{-1}) || finding.triaged) continue;
    finding.triage = DecodeTriage(line["triage"]);
    finding.triaged = true;
    finding.bucket = finding.triage.bucket;
    finding.notable = finding.triage.notable;
    return;
  }
}

// An obstacle to the campaign's writing is no fault of the compiler under test.
absl::Status AsSick(const absl::Status& status) {
  return status.ok() ? status : MakeError(ErrorClass::kSickMachine, ToStd(status.message()));
}

}  // namespace

CampaignIdentity IdentityOf(const CampaignOptions& options, const CampaignSummary& summary) {
  CampaignIdentity identity = {
      {"seed", absl::StrCat(options.seed)},
      {"backend", absl::StrJoin(options.backends, " ")},
      {"defect", options.compile.defect},
      {"profile", options.profile},
      {"flags", absl::StrJoin(options.compile.flags, " ", absl::PairFormatter("="))},
      {"programs to screen", absl::StrCat(options.screened_percent)}};
  // Told by the backends, once they are there.
  if (summary.versions.empty()) return identity;
  identity["version"] = absl::StrJoin(summary.versions, " ");
  identity["kind of programs"] = summary.portable ? "foreign" : "all";
  identity["sets of inputs"] = absl::StrCat(summary.input_sets);
  identity["generator"] = summary.generator;
  return identity;
}

absl::Status ExpectSameCampaign(const EarlierCampaign& earlier, const CampaignIdentity& now,
                                const std::string& out_dir) {
  const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
  std::string differences;
  for (const auto& [name, value] : now) {
    const auto before = earlier.identity.find(name);
    if (before != earlier.identity.end() && before->second == value) continue;
    absl::StrAppend(&differences, differences.empty() ? "" : "; ", name, " ",
                    before == earlier.identity.end() ? "not known" : shown(before->second),
                    ", not ", shown(value));
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the campaign in ", out_dir, " has ", differences,
                                                 ": name another --out, or ask as it was asked"));
}

absl::StatusOr<EarlierCampaign> ReadJournal(const std::string& out_dir) {
  const std::string path = (std::filesystem::path(out_dir) / "results.jsonl").string();
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok() && !absl::IsNotFound(bytes.status())) return bytes.status();
  EarlierCampaign campaign;
  bool has_begun = false;
  for (const absl::string_view text : absl::StrSplit(bytes.ok() ? *bytes : "", '\n')) {
    const nlohmann::json line =
        nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;
    try {
      if (line.value("type", "") == "begin" && !(has_begun && line.value("resumed", false))) {
        has_begun = true;
        campaign = EarlierCampaign();
        campaign.identity = line.value("campaign", CampaignIdentity());
        campaign.first = campaign.next = line.value("first", int64_t{0});
      }
      TakeLine(line, campaign);
    } catch (const nlohmann::json::exception&) {
      continue;
    }
  }
  if (has_begun) return campaign;
  return absl::NotFoundError(absl::StrCat("there is no campaign to go on with: ", path,
                                          " is missing or has no beginning"));
}

Journal::~Journal() { LeaveToParent(); }

void Journal::LeaveToParent() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::Status Journal::Open(const CampaignOptions& options) {
  if (options.out_dir.empty()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(AsSick(MakeFolder(options.out_dir)));
  path_ = (std::filesystem::path(options.out_dir) / "results.jsonl").string();
  absl::StatusOr<int> opened = OpenForAppending(path_, /*keeps=*/true);
  if (!opened.ok()) return AsSick(opened.status());
  fd_ = *opened;
  // A file system that knows no locks has none to offer.
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another campaign writes to ", options.out_dir, ": wait for it, or name another --out"));
  }
  // A line that was cut off must not swallow the next one.
  return options.resume ? WriteText("\n") : absl::OkStatus();
}

absl::Status Journal::Write(nlohmann::json line) {
  if (fd_ < 0) return absl::OkStatus();
  return WriteText(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

absl::Status Journal::ExpectThere() const {
  struct stat ours, there;
  const bool is_there = fstat(fd_, &ours) == 0 && stat(path_.c_str(), &there) == 0 &&
                        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  if (is_there) return absl::OkStatus();
  return MakeError(ErrorClass::kSickMachine,
                   absl::StrCat(path_,
                                " was taken away while the campaign ran: what it found from "
                                "then on is not kept"));
}

absl::Status Journal::WriteText(const std::string& text) {
  ASSAY_RETURN_IF_ERROR(ExpectThere());
  const absl::Status written = AppendTo(fd_, path_, text);
  if (written.ok()) return written;
  return MakeError(ErrorClass::kSickMachine,
                   absl::StrCat(written.message(), "; free some space and go on with --resume"));
}

absl::Status Journal::Begin(const CampaignSummary& summary, const CampaignOptions& options) {
  nlohmann::json line = {{"type", "begin"},
                         {"seed", summary.seed},
                         {"first", summary.first},
                         {"backends", summary.backends},
                         {"versions", summary.versions},
                         {"jobs", summary.jobs},
                         {"foreign", summary.portable},
                         {"count", options.count},
                         {"time_limit", options.seconds},
                         {"defect", options.compile.defect},
                         {"flags", options.compile.flags},
                         {"campaign", IdentityOf(options, summary)},
                         {"resumed", options.resume}};
  return Write(std::move(line));
}

absl::Status Journal::Found(const CampaignFinding& finding) {
  return WriteFinding("finding", finding);
}

absl::Status Journal::Unconfirmed(const CampaignFinding& finding) {
  return WriteFinding("unconfirmed", finding);
}

absl::Status Journal::ScreenedOnly(const CampaignFinding& finding) {
  return WriteFinding("screened only", finding);
}

absl::Status Journal::Alike(const CampaignFinding& finding) {
  return WriteFinding("alike", finding);
}

absl::Status Journal::WriteFinding(const char* type, const CampaignFinding& finding) {
  nlohmann::json line = FindingToJson(finding);
  line["type"] = type;
  return Write(std::move(line));
}

absl::Status Journal::Triaged(const CampaignFinding& finding) {
  return Write({{"type", "triage"},
                {"index", finding.index},
                {"backend", finding.backend},
                {"triage", EncodeTriage(finding.triage)}});
}

absl::Status Journal::Progress(int64_t next, int64_t programs) {
  constexpr double kEvery = 2;
  if (fd_ < 0 || Now() - progressed_ < kEvery) return absl::OkStatus();
  progressed_ = Now();
  return Write({{"type", "progress"}, {"next", next}, {"programs", programs}});
}

absl::Status Journal::End(const CampaignSummary& summary) {
  nlohmann::json line = summary.ToJson();
  line["type"] = "end";
  return Write(std::move(line));
}

}  // namespace assay
