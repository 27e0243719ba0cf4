// Compares what the compiler made on two sides.
#include "bench/tracking/why.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <sstream>

#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Counts = std::map<std::string, int64_t>;

const std::string& TextOf(const Made& made, const std::string& kind) {
  static const std::string* const kNone = new std::string();
  auto at = made.find(kind);
  return at == made.end() ? *kNone : at->second;
}

// "NAME COUNT" per line; the name may have blanks.
Counts NumbersOf(const std::string& text) {
  Counts counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.rfind(' ');
    if (blank == std::string::npos) continue;
    counts[line.substr(0, blank)] += std::atoll(line.c_str() + blank + 1);
  }
  return counts;
}

Counts LinesOf(const std::string& text) {
  Counts counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) ++counts[line];
  return counts;
}

// Counts how often each opcode stands in a module's text: the word before the first "(" behind " =
// TYPE".
Counts OpcodesOf(const std::string& hlo) {
  Counts counts;
  std::istringstream lines(hlo);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    // A tuple's type has parentheses of its own; an opcode follows a blank and is lower case.
    for (size_t open = line.find('(', equals); open != std::string::npos;
         open = line.find('(', open + 1)) {
      size_t begin = open;
      while (begin > 0 && (std::islower(static_cast<unsigned char>(line[begin - 1])) != 0 ||
                           std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0 ||
                           line[begin - 1] == '-')) {
        --begin;
      }
      if (begin == open || line[begin - 1] != ' ') continue;
      ++counts[line.substr(begin, open - begin)];
      break;
    }
  }
  return counts;
}

// "{1,0}" in the types of results, so that a layout that flipped is seen.
Counts LayoutsOf(const std::string& hlo) {
  Counts counts;
  std::istringstream lines(hlo);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    const size_t open = equals == std::string::npos ? equals : line.find("]{", equals);
    if (open == std::string::npos) continue;
    const size_t close = line.find('}', open);
    if (close != std::string::npos) ++counts[line.substr(open + 1, close - open)];
  }
  return counts;
}

struct Difference {
  std::string name;
  int64_t before = 0, after = 0;
  int64_t Size() const { return std::abs(after - before); }
};

// The differences of two counts. A rule that stopped altogether comes first, then the largest.
std::vector<Difference> DifferencesOf(const Counts& before, const Counts& after) {
  std::vector<Difference> all;
  for (const auto& [name, count] : before) {
    auto at = after.find(name);
    const int64_t now = at == after.end() ? 0 : at->second;
    if (now != count) all.push_back({name, count, now});
  }
  for (const auto& [name, count] : after) {
    if (before.count(name) == 0) all.push_back({name, 0, count});
  }
  std::stable_sort(all.begin(), all.end(), [](const Difference& x, const Difference& y) {
    const bool x_ends = x.before == 0 || x.after == 0, y_ends = y.before == 0 || y.after == 0;
    if (x_ends != y_ends) return x_ends;
    return x.Size() > y.Size();
  });
  return all;
}

std::string LastWord(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

std::string Told(const Difference& one, const std::string& what) {
  if (one.after == 0) {
    return StrCat(what, " ", one.name, " no longer happens (", one.before, " times before)");
  }
  if (one.before == 0) return StrCat(what, " ", one.name, " happens now, ", one.after, " times");
  return StrCat(what, " ", one.name, ": ", one.before, " times before, ", one.after, " now");
}

// A pass that changed the module, as a line of "passes".
struct PassRun {
  std::string name, line;
  std::vector<std::string> rules;
};

std::vector<PassRun> PassRunsOf(const std::string& text) {
  std::vector<PassRun> runs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    PassRun run;
    run.line = line;
    std::istringstream words(line);
    std::string decisions;
    words >> run.name >> decisions;
    for (std::string rule; words >> rule;) run.rules.push_back(rule);
    runs.push_back(std::move(run));
  }
  return runs;
}

// The pass at which both sides part: all that ran before it did the same, so that whatever differs
// behind it may be a consequence.
struct Parting {
  std::string pass;                   // "" where all passes did the same
  bool ends = false, begins = false;  // it changes nothing now, or did not before
  std::set<std::string> rules;
};

Parting PartingOf(const std::string& before, const std::string& after) {
  const std::vector<PassRun> old_runs = PassRunsOf(before), new_runs = PassRunsOf(after);
  size_t i = 0;
  while (i < old_runs.size() && i < new_runs.size() && old_runs[i].line == new_runs[i].line) ++i;
  Parting parting;
  const PassRun* was = i < old_runs.size() ? &old_runs[i] : nullptr;
  const PassRun* is = i < new_runs.size() ? &new_runs[i] : nullptr;
  if (was == nullptr && is == nullptr) return parting;
  const bool same_pass = was != nullptr && is != nullptr && was->name == is->name;
  const auto comes_in = [i](const PassRun* run, const std::vector<PassRun>& runs) {
    return std::any_of(runs.begin() + static_cast<std::ptrdiff_t>(i), runs.end(),
                       [run](const PassRun& other) { return other.name == run->name; });
  };
  if (!same_pass) {
    // If both passes stand on the other side, too, one was put in front of the other.
    parting.ends = is == nullptr || (was != nullptr && !comes_in(was, new_runs));
    parting.begins = !parting.ends;
  }
  const PassRun& blamed = parting.begins ? *is : *was;
  parting.pass = blamed.name;
  parting.rules.insert(blamed.rules.begin(), blamed.rules.end());
  if (same_pass) parting.rules.insert(is->rules.begin(), is->rules.end());
  return parting;
}

// Decisions by the stage at which they are made: a rewrite that is lost changes what kernels there
// are to decide about, never the other way round.
int StageOf(const std::string& name) {
  static constexpr const char* kOrder[] = {"rewrite", "required", "fact", "kernel",
                                           "buffer",  "library",  "task", "llvm"};
  const std::string kind = name.substr(0, name.find(' '));
  for (int i = 0; i < 8; ++i) {
    if (kind == kOrder[i]) return i;
  }
  return 8;
}

// The decision to blame: among rules that stopped or began altogether one of the earliest stage,
// else of the earliest stage that differs the largest.
const Difference* Blamed(const std::vector<Difference>& rules) {
  const Difference* best = nullptr;
  auto rank = [](const Difference& one) {
    const bool ends = one.before == 0 || one.after == 0;
    return std::make_tuple(ends ? 0 : 1, one.after < one.before ? 0 : 1, StageOf(one.name),
                           -one.Size());
  };
  for (const Difference& one : rules) {
    if (best == nullptr || rank(one) < rank(*best)) best = &one;
  }
  return best;
}

void Tell(const std::vector<Difference>& differences, const std::string& what, ChangeCause& cause) {
  for (const Difference& one : differences) {
    if (cause.details.size() < 40) cause.details.push_back(Told(one, what));
  }
}

bool SameText(const Made& before, const Made& after, const std::string& kind) {
  return TextOf(before, kind) == TextOf(after, kind);
}

// Fills the key and the sentence from the rules that differ; false: none does.
bool ExplainByRules(const std::vector<Difference>& rules, const Counts& ops_before,
                    const Counts& ops_after, ChangeCause& cause) {
  const Difference* blamed = Blamed(rules);
  if (blamed == nullptr) return false;
  const std::string rule = LastWord(blamed->name);
  cause.key = StrCat("rule ", rule);
  auto count = [](const Counts& counts, const char* name) {
    auto at = counts.find(name);
    return at == counts.end() ? int64_t{0} : at->second;
  };
  const int64_t fused = count(ops_after, "fusion") - count(ops_before, "fusion");
  const int64_t copied = count(ops_after, "copy") - count(ops_before, "copy");
  if (blamed->after == 0) {
    cause.sentence = StrCat("the rule ", rule, " no longer fires (", blamed->before, " before)");
  } else if (blamed->before == 0) {
    cause.sentence = StrCat("the rule ", rule, " fires now (", blamed->after, ")");
  } else {
    cause.sentence =
        StrCat("the rule ", rule, " fires ", blamed->after, " times, ", blamed->before, " before");
  }
  if (fused != 0)
    cause.sentence += StrCat("; ", std::abs(fused), fused > 0 ? " more" : " fewer", " fusions");
  if (copied != 0)
    cause.sentence += StrCat("; ", std::abs(copied), copied > 0 ? " more" : " fewer", " copies");
  return true;
}

}  // namespace

ChangeCause Explain(const Made& before, const Made& after) {
  ChangeCause cause;
  const std::string& code = TextOf(before, "code");
  const bool same_code = !code.empty() && code == TextOf(after, "code");
  const bool same_hlo = SameText(before, after, "hlo"), same_plan = SameText(before, after, "plan");
  const bool same_rules = SameText(before, after, "decisions");
  const bool knows_code = !code.empty() && !TextOf(after, "code").empty();
  if (same_code || (!knows_code && same_hlo && same_plan && same_rules)) {
    cause.key = "machine or library";
    cause.sentence = same_code
                         ? "the same code: machine or library"
                         : "the same optimized HLO and plan: code generation, machine or library";
    cause.is_same_code = same_code;
    return cause;
  }
  const std::vector<Difference> rules =
      DifferencesOf(NumbersOf(TextOf(before, "decisions")), NumbersOf(TextOf(after, "decisions")));
  const Counts ops_before = OpcodesOf(TextOf(before, "hlo"));
  const Counts ops_after = OpcodesOf(TextOf(after, "hlo"));
  const std::vector<Difference> passes =
      DifferencesOf(LinesOf(TextOf(before, "passes")), LinesOf(TextOf(after, "passes")));
  const std::vector<Difference> ops = DifferencesOf(ops_before, ops_after);
  const std::vector<Difference> layouts =
      DifferencesOf(LayoutsOf(TextOf(before, "hlo")), LayoutsOf(TextOf(after, "hlo")));
  const std::vector<Difference> forms =
      DifferencesOf(LinesOf(TextOf(before, "plan")), LinesOf(TextOf(after, "plan")));
  Tell(rules, "the decision", cause);
  Tell(passes, "the pass", cause);
  Tell(ops, "the op", cause);
  Tell(forms, "the kernel", cause);
  Tell(layouts, "the layout", cause);
  const Parting parting = PartingOf(TextOf(before, "passes"), TextOf(after, "passes"));
  std::vector<Difference> of_pass = rules;
  std::erase_if(of_pass, [&parting](const Difference& one) {
    return !parting.pass.empty() && parting.rules.count(LastWord(one.name)) == 0;
  });
  if (ExplainByRules(of_pass, ops_before, ops_after, cause)) return cause;
  if (!parting.pass.empty()) {
    cause.key = StrCat("pass ", parting.pass);
    cause.sentence = StrCat("the pass ", parting.pass,
                            parting.ends     ? " changes nothing any more"
                            : parting.begins ? " changes the module now"
                                             : " does something else");
  } else if (!ops.empty()) {
    cause.key = StrCat("op ", ops[0].name);
    cause.sentence = StrCat("the optimized module has ", ops[0].after, " ", ops[0].name, ", ",
                            ops[0].before, " before");
  } else if (!layouts.empty()) {
    cause.key = "layout";
    cause.sentence = Told(layouts[0], "the layout");
  } else if (!forms.empty()) {
    cause.key = "kernel form";
    cause.sentence = StrCat("a kernel changed its form: ", Told(forms[0], "the form"));
  } else {
    cause.key = "code generation";
    cause.sentence =
        knows_code
            ? "the same optimized HLO, plan and decisions, other machine code: code generation"
            : "the same ops and layouts in the optimized HLO: code generation, its runtime or "
              "a library";
  }
  return cause;
}

namespace {

// The JSON objects of the lines that are some.
std::vector<nlohmann::json> ObjectsOf(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object()) objects.push_back(std::move(json));
  }
  return objects;
}

std::string Field(const nlohmann::json& json, const char* name) {
  auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

std::string CountText(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += StrCat(name, " ", count, "\n");
  return text;
}

}  // namespace

std::string DecisionText(const std::string& json_lines) {
  Counts counts;
  for (const nlohmann::json& json : ObjectsOf(json_lines)) {
    if (json.contains("taken") && json["taken"].is_boolean() && json["taken"].get<bool>()) {
      ++counts[StrCat(Field(json, "kind"), " ", Field(json, "rule"))];
    }
  }
  return CountText(counts);
}

std::string PlanText(const std::string& json_lines) {
  std::string text;
  for (const nlohmann::json& json : ObjectsOf(json_lines)) {
    text += StrCat(Field(json, "op"), " | ", Field(json, "plan"), "\n");
  }
  return text;
}

std::string PassText(const std::string& json_lines) {
  std::string text;
  for (const nlohmann::json& json : ObjectsOf(json_lines)) {
    if (!json.contains("changed") || !json["changed"].is_boolean() || !json["changed"].get<bool>())
      continue;
    auto decisions = json.find("decisions");
    const int64_t count =
        decisions != json.end() && decisions->is_number() ? decisions->get<int64_t>() : 0;
    std::string rules = Field(json, "rules");
    std::replace(rules.begin(), rules.end(), ',', ' ');
    StrAppend(&text, Field(json, "pass"), " ", count, " ", rules, "\n");
  }
  return text;
}

}  // namespace assay
