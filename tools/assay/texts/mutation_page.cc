// Sums the scores by class and writes the tables.
#include "tools/assay/texts/mutation_page.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reports/numbers.h"
#include "spec/base/strings.h"
#include "tools/assay/text_files.h"

namespace assay {
namespace {

// The order and the meaning of the classes; one that is not here has no words, and comes last.
struct ClassText {
  std::string_view name, text;
};
constexpr ClassText kClasses[] = {
    {"side-conditions", "side conditions of rewrites that are forgotten"},
    {"facts",
     "ranges, signs, trip counts, known bits, starts, constants that are taken for others"},
    {"identities", "what a rewrite puts in the place of what it removes"},
    {"orders", "orders of dimensions, ranks, operands and memory"},
    {"nan-and-zero", "NaN, infinities and the sign of zero, in rewrites and in code"},
    {"rounding", "rounding, narrow types, subnormal numbers, accumulation"},
    {"integers", "ends of integer types, shifts, divisors, in code"},
    {"constants", "evaluation at compile time, per op and type"},
    {"movement", "indices, edges, strides, dilations, groups and starts, in code"},
    {"kernels", "masks, remainders, lanes, tiles, and the calls of the runtime"},
    {"buffers", "copies that are left out, memory that is shared"},
    {"tasks", "kernels that threads share"},
    {"direct-code", "instructions that are chosen without LLVM: lanes, widths, NaN, clamps"},
    {"contraction-fusions", "what dots read and write through"},
    {"new-passes", "expanders behind native kernels, forms that run by default, slices and sorts"},
    {"new-kernels", "what is merged, packed, selected, turned and called since the first run"},
    {"conjunctions",
     "two or three attributes at once: both edges, an edge and a type, a type and a size"},
    {"library-calls", "what passes pull into calls of libraries, and what the calls are told"},
    {"fallbacks", "ops that stand for kernels that are refused"},
    {"gpu-kernels", "barriers, shuffles, masks and addresses in the code of kernels for GPUs"},
    {"gpu-templates", "numbers and orders that the templates of kernels for GPUs go by"},
};

struct Sum {
  int64_t defects = 0, guarded = 0, run = 0, killed = 0, triaged = 0, right = 0;
};

// Sums by class, of all defects that there are.
std::map<std::string, Sum> SumsOf(const std::vector<MutationScore>& scores) {
  std::map<std::string, Sum> sums;
  for (const PlantedDefect& defect : PlantedDefects()) {
    ++sums[defect.of_class].defects;
    sums[defect.of_class].guarded += defect.guarded ? 1 : 0;
  }
  for (const MutationScore& score : scores) {
    Sum& sum = sums[score.defect.of_class];
    ++sum.run;
    sum.killed += score.killed ? 1 : 0;
    sum.triaged += score.triaged ? 1 : 0;
    sum.right += score.blame_right ? 1 : 0;
  }
  return sums;
}

std::string Row(std::string_view name, std::string_view text, const Sum& sum) {
  return StrCat("| ", name, " | ", text, " | ", sum.defects, " | ", sum.guarded, " | ", sum.run,
                " | ", sum.killed, " | ", sum.triaged, " | ", sum.right, " |\n");
}

std::string ClassTable(const std::map<std::string, Sum>& sums) {
  std::string out =
      "| class | what is wrong | defects | guarded | run | killed | triaged | blamed right |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|\n";
  Sum all;
  std::map<std::string, Sum> left = sums;
  const auto add = [&](std::string_view text, const std::string& name) {
    const Sum& sum = left.at(name);
    all.defects += sum.defects;
    all.guarded += sum.guarded;
    all.run += sum.run;
    all.killed += sum.killed;
    all.triaged += sum.triaged;
    all.right += sum.right;
    out += Row(name, text, sum);
    left.erase(name);
  };
  for (const ClassText& row : kClasses) {
    if (left.contains(std::string(row.name))) add(row.text, std::string(row.name));
  }
  while (!left.empty()) add("", left.begin()->first);
  return StrCat(out, Row("all", "", all), "\n");
}

std::string SurvivorTable(const std::vector<MutationScore>& scores) {
  std::string out = "| defect | reason | what is wrong | why it survived |\n|---|---|---|---|\n";
  for (const MutationScore& score : scores) {
    if (score.killed) continue;
    const auto found = Survivors().find(score.defect.name);
    const bool known = found != Survivors().end();
    StrAppend(&out, "| `", score.defect.name, "` | ",
              known ? found->second.reason : "not looked at", " | ", score.defect.summary, " | ",
              !score.error.empty() ? score.error
              : known              ? found->second.text
                                   : "",
              " |\n");
  }
  return out + "\n";
}

// "on `cpu`, seed 1, at most 12 s each; ..." where all scores agree.
std::string Conditions(const std::vector<MutationScore>& scores) {
  const MutationScore& first = scores.front();
  const bool agree = std::all_of(scores.begin(), scores.end(), [&](const MutationScore& score) {
    return score.seed == first.seed && score.backend == first.backend;
  });
  if (!agree) return "under different conditions";
  const auto [shortest, longest] = std::minmax_element(
      scores.begin(), scores.end(),
      [](const MutationScore& a, const MutationScore& b) { return a.limit < b.limit; });
  const std::string limits = shortest->limit == longest->limit
                                 ? absl::StrFormat("%g", longest->limit)
                                 : absl::StrFormat("%g to %g", shortest->limit, longest->limit);
  std::vector<int64_t> programs;
  for (const MutationScore& score : scores) {
    if (!score.killed) programs.push_back(score.programs);
  }
  std::sort(programs.begin(), programs.end());
  const std::string seen = programs.empty()
                               ? ""
                               : StrCat("; half of the survivors had seen fewer than ",
                                        programs[programs.size() / 2] + 1, " programs by then");
  return StrCat("on `", first.backend, "`, seed ", first.seed, ", at most ", limits, " s each",
                seen);
}

// Who was blamed, and how small the programs became.
std::string TriageText(const std::vector<MutationScore>& scores) {
  int64_t triaged = 0, right = 0;
  std::vector<int64_t> sizes;
  for (const MutationScore& score : scores) {
    triaged += score.triaged ? 1 : 0;
    right += score.triaged && score.blame_right ? 1 : 0;
    if (score.triaged && score.instructions > 0) sizes.push_back(score.instructions);
  }
  if (sizes.empty()) return "";
  std::sort(sizes.begin(), sizes.end());
  return StrCat(" Blame names the planted gate for ", right, " of ", triaged, " (",
                Percent(static_cast<double>(right), static_cast<double>(triaged)),
                "); the median of the reduced programs has ", sizes[sizes.size() / 2],
                " instructions, the largest ", sizes.back(), ".");
}

// Tells how many are killed of all, and of those that can be seen at all.
std::string ScoreText(const std::vector<MutationScore>& scores) {
  int64_t killed = 0, unseen = 0, most = 0;
  std::vector<MutationScore> campaigns, screened;
  for (const MutationScore& score : scores) {
    killed += score.killed ? 1 : 0;
    const auto found = Survivors().find(score.defect.name);
    const bool cannot =
        !score.killed && found != Survivors().end() &&
        (found->second.reason == "equivalent" || found->second.reason == "invisible");
    unseen += cannot ? 1 : 0;
    if (score.bites >= 0) most = std::max(most, score.programs);
    (score.bites >= 0 ? screened : campaigns).push_back(score);
  }
  const auto all = static_cast<int64_t>(scores.size());
  const auto share = [](int64_t part, int64_t of) {
    return Percent(static_cast<double>(part), static_cast<double>(of));
  };
  std::string text = StrCat(killed, " of ", all, " defects killed (", share(killed, all), ")");
  if (unseen > 0) {
    StrAppend(&text, "; ", unseen, " of the survivors change no result that the contract fixes: ",
              share(killed, all - unseen), " of the others");
  }
  text += ".";
  if (!campaigns.empty()) {
    StrAppend(&text, " ", campaigns.size(), " were given to campaigns, ", Conditions(campaigns),
              ".", TriageText(campaigns));
  }
  if (!screened.empty()) {
    StrAppend(&text, " ", screened.size(),
              " were given to a screening (`assay defects --screen`): the first ", most,
              " programs of seed ", screened.front().seed,
              ", and of those the ones in which a defect may bite; programs are counted until the "
              "one that kills.");
  }
  return text + "\n\n";
}

std::string ScoreTable(const std::vector<MutationScore>& scores) {
  std::string out =
      "| defect | class | gate | | seconds | programs | may bite in | blamed | instructions |\n"
      "|---|---|---|---|--:|--:|--:|---|--:|\n";
  for (const MutationScore& score : scores) {
    const std::string blamed =
        !score.triaged ? "" : StrCat(score.blamed, score.blame_right ? "" : " (wrong)");
    StrAppend(&out, "| `", score.defect.name, "` | ", score.defect.of_class, " | `",
              score.defect.gate, "` | ", score.killed ? "killed" : "survived", " | ",
              absl::StrFormat("%.1f", score.seconds), " | ", score.programs, " | ",
              score.bites >= 0 ? StrCat(score.bites) : "", " | ", blamed, " | ",
              score.instructions > 0 ? StrCat(score.instructions) : "", " |\n");
  }
  return out;
}

}  // namespace

nlohmann::json ToJson(const MutationScore& score) {
  return {{"type", "defect"},
          {"defect", score.defect.name},
          {"class", score.defect.of_class},
          {"kind", score.defect.kind},
          {"operator", score.defect.op},
          {"gate", score.defect.gate},
          {"backend", score.backend},
          {"seed", score.seed},
          {"limit", score.limit},
          {"killed", score.killed},
          {"triaged", score.triaged},
          {"seconds", score.seconds},
          {"programs", score.programs},
          {"blamed", score.blamed},
          {"blame_right", score.blame_right},
          {"instructions", score.instructions},
          {"bites", score.bites},
          {"page", score.page},
          {"error", score.error}};
}

absl::Status ReadScores(std::string_view text, std::vector<MutationScore>& scores) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto is = [&](const char* field, nlohmann::json::value_t type) {
      return row.contains(field) && row[field].type() == type;
    };
    using Type = nlohmann::json::value_t;
    if (!row.is_object() || !is("defect", Type::string) || !is("killed", Type::boolean)) {
      return absl::InvalidArgumentError(
          StrCat("results of defects: no score: ", line.substr(0, 80)));
    }
    const absl::StatusOr<PlantedDefect> defect = FindDefect(row["defect"].get<std::string>());
    if (!defect.ok()) continue;
    MutationScore score;
    score.defect = *defect;
    const auto number = [&](const char* field) {
      return row.contains(field) && row[field].is_number() ? row[field].get<double>() : 0.0;
    };
    const auto word = [&](const char* field) {
      return is(field, Type::string) ? row[field].get<std::string>() : std::string();
    };
    const auto flag = [&](const char* field) {
      return is(field, Type::boolean) && row[field].get<bool>();
    };
    score.error = word("error");
    score.backend = word("backend");
    score.blamed = word("blamed");
    score.page = word("page");
    score.seed = static_cast<uint64_t>(std::clamp(number("seed"), 0.0, 9e15));
    score.limit = number("limit");
    score.seconds = number("seconds");
    score.programs = static_cast<int64_t>(std::clamp(number("programs"), 0.0, 9e15));
    score.instructions = static_cast<int64_t>(std::clamp(number("instructions"), 0.0, 9e15));
    score.bites =
        row.contains("bites") ? static_cast<int64_t>(std::clamp(number("bites"), -1.0, 9e15)) : -1;
    score.killed = flag("killed");
    score.triaged = flag("triaged");
    score.blame_right = flag("blame_right");
    const auto same = std::find_if(scores.begin(), scores.end(), [&](const MutationScore& other) {
      return other.defect.name == score.defect.name;
    });
    if (same == scores.end()) {
      scores.push_back(std::move(score));
    } else {
      *same = std::move(score);
    }
  }
  std::sort(scores.begin(), scores.end(), [](const MutationScore& a, const MutationScore& b) {
    return a.defect.name < b.defect.name;
  });
  return absl::OkStatus();
}

std::string MutationPage(const std::vector<MutationScore>& scores) {
  const std::string_view introduction = TextFile("mutation_introduction.md");
  if (scores.empty()) return StrCat(introduction, "No run has been made yet.\n");
  return StrCat(introduction, ScoreText(scores), "## Classes\n\n", ClassTable(SumsOf(scores)),
                "## Survivors\n\n", SurvivorTable(scores), "## Every defect\n\n",
                ScoreTable(scores));
}

}  // namespace assay
