// Matches rows about pairs of findings.
#include "fuzz/campaign/doubles.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "spec/ops/op_table.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;

bool IsOp(const std::string& name, OpFlag flag) {
  const std::optional<Opcode> opcode = OpcodeFromName(name);
  return opcode.has_value() && Info(*opcode).Is(flag);
}

// A row, with the words of its peer.
class Row {
 public:
  Row(const Peer& peer, const Json& json) : peer_(peer), json_(json) {}

  bool Holds(const Reduced& large, const Reduced& small) const {
    if (json_.contains("both"))
      return Has(json_["both"], large) && Has(json_["both"], small) && Agree(large, small);
    const Json &one = json_["one"], &other = json_["other"];
    return (Has(one, large) && Has(other, small) && Agree(large, small)) ||
           (Has(one, small) && Has(other, large) && Agree(small, large));
  }

 private:
  bool IsOneOf(const Json& words, const std::string& name) const {
    return std::any_of(words.begin(), words.end(), [&](const Json& json) {
      const std::string word = json.get<std::string>();
      if (word == "@elementwise") return IsOp(name, kElementwise);
      if (word == "@collective") return IsOp(name, kCollective);
      return peer_.Expand(word).contains(name);
    });
  }

  bool HasField(const Json& wanted, const char* field, const std::string& value) const {
    const auto with = wanted.find(field), without = wanted.find(std::string("without_") + field);
    return (with == wanted.end() || IsOneOf(*with, value)) &&
           (without == wanted.end() || !IsOneOf(*without, value));
  }

  bool HasCauses(const Json& wanted, const Names& causes) const {
    const auto is_there = [&causes](const Json& name) { return causes.contains(name); };
    const auto with = wanted.find("causes"), without = wanted.find("without_causes");
    return (with == wanted.end() || std::all_of(with->begin(), with->end(), is_there)) &&
           (without == wanted.end() || std::none_of(without->begin(), without->end(), is_there));
  }

  bool Has(const Json& wanted, const Reduced& finding) const {
    const Culprit& culprit = finding.culprit;
    const Names& ops = culprit.ops;
    const auto some = wanted.find("some"), within = wanted.find("within");
    return HasField(wanted, "kind", std::string(Name(culprit.kind))) &&
           HasField(wanted, "pass", culprit.pass) && HasField(wanted, "op", culprit.op) &&
           HasField(wanted, "numbers", culprit.numbers) && HasCauses(wanted, culprit.causes) &&
           (some == wanted.end() ||
            std::any_of(ops.begin(), ops.end(),
                        [&](const std::string& op) { return IsOneOf(*some, op); })) &&
           (within == wanted.end() ||
            std::all_of(ops.begin(), ops.end(),
                        [&](const std::string& op) { return IsOneOf(*within, op); })) &&
           wanted.value("is_smallest", finding.is_smallest) == finding.is_smallest;
  }

  std::string Twin(const std::string& name) const {
    const auto at = peer_.twins.find(name);
    return at == peer_.twins.end() ? name : at->second;
  }
  Names Twins(const Names& names) const {
    Names result;
    for (const std::string& name : names) result.insert(Twin(name));
    return result;
  }

  // The ops that count, by the names that count.
  Names OpsOf(const Culprit& culprit) const {
    Names result;
    for (const std::string& op : culprit.ops) {
      const bool is_out = (json_.contains("drop") && IsOneOf(json_["drop"], op)) ||
                          (json_.contains("keep") && !IsOneOf(json_["keep"], op));
      if (is_out) continue;
      const auto as = json_.find("as");
      result.insert(Twin(as == json_.end() ? op : as->value(op, op)));
    }
    return result;
  }

  // Compares how flags, or those that leave out a pass, silence two failures.
  template <typename Condition>
  static bool AnyFlag(const Culprit& a, const Culprit& b, Condition condition) {
    for (size_t i = 0; i < std::min(a.states.size(), b.states.size()); ++i) {
      if (condition(a.states[i], b.states[i])) return true;
    }
    return false;
  }
  static bool Contradict(FlagState a, FlagState b) {
    const auto tells = [](FlagState state) {
      return state == FlagState::kFails || state == FlagState::kPasses;
    };
    return a != b && tells(a) && tells(b);
  }
  bool IsSilencedWithout(const Culprit& culprit, const std::string& pass) const {
    for (size_t i = 0; i < std::min(culprit.states.size(), peer_.telling.size()); ++i) {
      const PeerFlag& flag = peer_.telling[i];
      if (flag.lists_passes && flag.value == pass) return culprit.states[i] == FlagState::kPasses;
    }
    return false;
  }

  bool AreEqual(const std::string& field, const Culprit& a, const Culprit& b) const {
    if (field == "kind") return a.kind == b.kind;
    if (field == "pass") return a.pass == b.pass;
    if (field == "op") return !a.op.empty() && Twin(a.op) == Twin(b.op);
    if (field == "folds") return Twins(a.folds) == Twins(b.folds);
    if (field == "numbers") return a.numbers == b.numbers;
    if (field == "words") return !a.words.empty() && a.words == b.words;
    if (field == "ops") return !OpsOf(a).empty() && OpsOf(a) == OpsOf(b);
    if (field == "states") return !AnyFlag(a, b, Contradict);
    if (field == "silencer") return IsSilencedWithout(a, b.pass);
    if (field == "flag") {
      return AnyFlag(a, b, [](FlagState x, FlagState y) {
        return x == FlagState::kPasses && y == FlagState::kPasses;
      });
    }
    return false;
  }

  bool Agree(const Reduced& a, const Reduced& b) const {
    for (const Json& field : json_.value("equal", Json::array())) {
      if (!AreEqual(field.get<std::string>(), a.culprit, b.culprit)) return false;
    }
    if (!json_.contains("ops")) return true;
    const Names all = OpsOf(a.culprit), some = OpsOf(b.culprit);
    // A function of floats and one of complex numbers say nothing of each other.
    const bool is_other_function = a.culprit.numbers != b.culprit.numbers &&
                                   std::any_of(some.begin(), some.end(), [](const std::string& op) {
                                     return IsOp(op, kElementwise);
                                   });
    return !is_other_function && (!some.empty() || b.culprit.ops.empty()) &&
           std::includes(all.begin(), all.end(), some.begin(), some.end());
  }

  const Peer& peer_;
  const Json& json_;
};

}  // namespace

std::string WhyProbablySame(const Peer& peer, const Reduced& large, const Reduced& small) {
  for (const Json& row : peer.same) {
    if (Row(peer, row).Holds(large, small)) return row.at("why").get<std::string>();
  }
  return "";
}

}  // namespace assay
