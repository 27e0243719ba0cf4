// Names of culprits, and culprits as JSON.
#include "fuzz/culprit.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr std::string_view kStates = "fpxc";  // by FlagState

std::string Letters(const std::vector<FlagState>& states) {
  std::string letters;
  for (const FlagState state : states) letters += kStates[static_cast<size_t>(state)];
  return letters;
}

bool IsCrashOrRefusal(Outcome::Kind kind) {
  return kind == Outcome::kCompileCrash || kind == Outcome::kRunCrash ||
         kind == Outcome::kRejected || kind == Outcome::kOurFault;
}

std::string Who(const Culprit& culprit) {
  if (!culprit.words.empty()) return StrCat(": ", culprit.words);
  if (!culprit.decision.empty()) return StrCat(": ", culprit.decision);
  if (culprit.states.empty()) return culprit.pass.empty() ? "" : StrCat(": ", culprit.pass);
  return StrCat(culprit.pass.empty() ? ": code " : ": import ", Letters(culprit.states));
}

}  // namespace

std::string Culprit::Place() const {
  return operands.empty() ? op : StrCat(op, "(", absl::StrJoin(operands, "+"), ")");
}

bool Culprit::NamesItsOp() const {
  return !op.empty() && op != Name(Opcode::kGetTupleElement) && op != Name(Opcode::kCall);
}

std::string SignatureText(const Culprit& culprit) {
  if (!culprit.notable.empty()) return StrCat("notable: ", culprit.notable);
  std::string text = StrCat(Name(culprit.kind), Who(culprit));
  if (!culprit.op.empty()) {
    StrAppend(&text, " at ", culprit.Place(), culprit.numbers.empty() ? "" : " ", culprit.numbers);
  } else if (!culprit.ops.empty()) {
    StrAppend(&text, " of ", absl::StrJoin(culprit.ops, "+"));
  }
  if (culprit.causes.contains(kBesideAnother)) text += ", beside another program";
  return text;
}

std::string BucketName(const Culprit& culprit) {
  const std::string ops = absl::StrJoin(culprit.ops, "+");
  const std::string bucket = StrCat(culprit.peer, "/",
                                    culprit.notable.empty() ? std::string(Name(culprit.kind))
                                                            : StrCat("notable: ", culprit.notable));
  if (!culprit.decision.empty()) return StrCat(bucket, "/", culprit.decision);
  if (!culprit.pass.empty()) return StrCat(bucket, "/", culprit.pass, "/", ops);
  // A bare signal says little: what is in the program tells one crash from another.
  if (IsCrashOrRefusal(culprit.kind) && !culprit.words.empty())
    return StrCat(bucket, "/", culprit.words, "/", ops);
  return StrCat(bucket, "/", ops, "/", culprit.numbers, culprit.states.empty() ? "" : "-",
                Letters(culprit.states));
}

std::string_view DeathIn(std::string_view words) {
  for (const std::string_view death : {"the worker closed its output", "the worker died of "}) {
    const size_t at = words.find(death);
    if (at == words.npos) continue;
    const size_t end = words.find(';', at);
    return words.substr(at, end == words.npos ? end : end + 1 - at);
  }
  return "";
}

nlohmann::json ToJson(const Culprit& culprit) {
  nlohmann::json json = {{"peer", culprit.peer}, {"kind", Name(culprit.kind)}};
  for (const auto& [name, value] :
       {std::pair("notable", &culprit.notable), std::pair("decision", &culprit.decision),
        std::pair("pass", &culprit.pass), std::pair("words", &culprit.words),
        std::pair("op", &culprit.op), std::pair("numbers", &culprit.numbers)}) {
    if (!value->empty()) json[name] = *value;
  }
  if (!culprit.states.empty()) json["states"] = Letters(culprit.states);
  for (const auto& [name, values] :
       {std::pair("folds", &culprit.folds), std::pair("operands", &culprit.operands),
        std::pair("ops", &culprit.ops), std::pair("causes", &culprit.causes)}) {
    if (!values->empty()) json[name] = *values;
  }
  return json;
}

Culprit CulpritFromJson(const nlohmann::json& json) {
  Culprit culprit;
  if (!json.is_object()) return culprit;
  const auto text = [&json](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_string() ? at->get<std::string>() : "";
  };
  culprit.kind = OutcomeKindFromName(text("kind")).value_or(Outcome::kWrong);
  for (const auto& [name, value] :
       {std::pair("peer", &culprit.peer), std::pair("notable", &culprit.notable),
        std::pair("decision", &culprit.decision), std::pair("pass", &culprit.pass),
        std::pair("words", &culprit.words), std::pair("op", &culprit.op),
        std::pair("numbers", &culprit.numbers)}) {
    *value = text(name);
  }
  for (const char letter : text("states")) {
    const size_t state = kStates.find(letter);
    if (state != kStates.npos) culprit.states.push_back(static_cast<FlagState>(state));
  }
  for (const auto& [name, values] :
       {std::pair("folds", &culprit.folds), std::pair("operands", &culprit.operands),
        std::pair("ops", &culprit.ops), std::pair("causes", &culprit.causes)}) {
    for (const nlohmann::json& one : json.value(name, nlohmann::json::array())) {
      if (one.is_string()) values->insert(one.get<std::string>());
    }
  }
  return culprit;
}

}  // namespace assay
