// Outcomes as records, and records as JSON.
#include "fuzz/campaign/case_records.h"

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {

bool DrawsNumbers(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      const Opcode opcode = at->opcode();
      if (opcode == Opcode::kRng || opcode == Opcode::kRngGetAndUpdateState) return true;
    }
  }
  return false;
}

BackendRecord RecordOf(const Outcome& outcome, bool exact) {
  BackendRecord record;
  record.kind = outcome.kind;
  record.phase = outcome.phase;
  record.exact = exact;
  record.text = outcome.reason;
  if (outcome.Fails(Outcome::kWrong)) record.leaf = outcome.judgement.first.leaf;
  if (outcome.phase == Phase::kOracle) {
    record.text = StrCat("oracle: ", record.text);
    // A generated program verifies: what the oracle rejects was generated wrongly.
    if (outcome.kind == Outcome::kRejected) record.kind = Outcome::kOurFault;
  }
  // A program without elements in its outputs has run, and shows nothing.
  if (outcome.kind == Outcome::kNothingToJudge) {
    record.kind = Outcome::kMistrusted;
    record.text.clear();
  }
  return record;
}

bool IsFinding(Outcome::Kind kind) {
  return (kind >= Outcome::kRejected && kind <= Outcome::kOutOfMemory) ||
         kind == Outcome::kOurFault;
}

StageSeconds& StageSeconds::operator+=(const StageSeconds& other) {
  generate += other.generate;
  oracle += other.oracle;
  passes += other.passes;
  code += other.code;
  run += other.run;
  judge += other.judge;
  return *this;
}

namespace {

nlohmann::json Encode(const BackendRecord& record) {
  return {{"kind", Name(record.kind)},   {"phase", Name(record.phase)}, {"exact", record.exact},
          {"set", record.set},           {"rescued", record.rescued},   {"text", record.text},
          {"screened", record.screened}, {"leaf", record.leaf},         {"notable", record.notable},
          {"pack", record.pack}};
}

BackendRecord DecodeBackend(const nlohmann::json& json) {
  BackendRecord record;
  record.kind = OutcomeKindFromName(json.value("kind", "")).value_or(Outcome::kNotRun);
  record.phase = PhaseFromName(json.value("phase", "")).value_or(Phase::kIdle);
  record.exact = json.value("exact", false);
  record.set = json.value("set", int64_t{0});
  record.rescued = json.value("rescued", false);
  record.screened = json.value("screened", false);
  record.leaf = json.value("leaf", int64_t{-1});
  record.notable = json.value("notable", "");
  record.pack = json.value("pack", record.pack);
  record.text = json.value("text", "");
  return record;
}

}  // namespace

nlohmann::json CaseRecord::ToJson() const {
  nlohmann::json json = {{"index", index},
                         {"instructions", instructions},
                         {"avoided", avoided},
                         {"theme", static_cast<int>(theme)},
                         {"seconds",
                          {seconds.generate, seconds.oracle, seconds.passes, seconds.code,
                           seconds.run, seconds.judge}},
                         {"repeated", repeated},
                         {"screened", screened},
                         {"illegal", illegal}};
  json["rules"] = rules;
  json["backends"] = nlohmann::json::array();
  for (const BackendRecord& record : backends) json["backends"].push_back(Encode(record));
  return json;
}

CaseRecord CaseRecord::FromJson(const nlohmann::json& json) {
  CaseRecord record;
  record.index = json.value("index", int64_t{-1});
  record.instructions = json.value("instructions", int64_t{0});
  record.theme = static_cast<Theme>(json.value("theme", 0));
  record.repeated = json.value("repeated", false);
  record.screened = json.value("screened", int64_t{0});
  record.illegal = json.value("illegal", "");
  record.avoided = json.value("avoided", false);
  std::vector<double> seconds = json.value("seconds", std::vector<double>(6));
  seconds.resize(6);
  record.seconds = {seconds[0], seconds[1], seconds[2], seconds[3], seconds[4], seconds[5]};
  record.rules = json.value("rules", std::map<std::string, int64_t>());
  for (const nlohmann::json& backend : json.value("backends", nlohmann::json::array())) {
    record.backends.push_back(DecodeBackend(backend));
  }
  return record;
}

nlohmann::json ConfirmRecord::ToJson() const {
  return {{"runs", runs},
          {"fails", fails},
          {"fails_cheaply", fails_cheaply},
          {"alike", alike},
          {"draws_numbers", draws_numbers},
          {"record", Encode(record)},
          {"exact", exact},
          {"instructions", instructions},
          {"culprit", assay::ToJson(culprit)},
          {"signature", signature},
          {"variant", variant},
          {"place", place},
          {"output", output},
          {"notable", notable},
          {"with", with}};
}

nlohmann::json CaseKey::ToJson() const {
  return {{"index", index}, {"backend", backend},   {"exact", exact},   {"set", set},
          {"flags", flags}, {"screened", screened}, {"output", output}, {"by_licence", by_licence},
          {"with", with},   {"pack", pack}};
}

CaseKey CaseKey::FromJson(const nlohmann::json& json) {
  CaseKey key;
  key.index = json.value("index", int64_t{0});
  key.backend = json.value("backend", size_t{0});
  key.exact = json.value("exact", false);
  key.set = json.value("set", int64_t{0});
  key.flags = json.value("flags", key.flags);
  key.screened = json.value("screened", false);
  key.output = json.value("output", key.output);
  key.by_licence = json.value("by_licence", false);
  key.with = json.value("with", key.with);
  key.pack = json.value("pack", key.pack);
  return key;
}

ConfirmRecord ConfirmRecord::FromJson(const nlohmann::json& json) {
  ConfirmRecord confirm;
  confirm.runs = json.value("runs", int64_t{0});
  confirm.fails = json.value("fails", int64_t{0});
  confirm.fails_cheaply = json.value("fails_cheaply", false);
  confirm.alike = json.value("alike", false);
  confirm.draws_numbers = json.value("draws_numbers", false);
  confirm.record = DecodeBackend(json.value("record", nlohmann::json::object()));
  confirm.exact = json.value("exact", "");
  confirm.instructions = json.value("instructions", int64_t{0});
  confirm.culprit = CulpritFromJson(json.value("culprit", nlohmann::json()));
  confirm.signature = json.value("signature", "");
  confirm.variant = json.value("variant", "");
  confirm.place = json.value("place", "");
  confirm.output = json.value("output", confirm.output);
  confirm.notable = json.value("notable", "");
  confirm.with = json.value("with", confirm.with);
  return confirm;
}

}  // namespace assay
