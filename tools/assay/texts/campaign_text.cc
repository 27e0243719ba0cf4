// The words of a campaign on the terminal and in JSON.
#include "tools/assay/texts/campaign_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "fuzz/triage/signature.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

std::string Lines(const std::string& text, int indent, size_t limit) {
  std::string out;
  size_t count = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (++count > limit) {
      StrAppend(&out, std::string(static_cast<size_t>(indent), ' '), "...\n");
      break;
    }
    StrAppend(&out, std::string(static_cast<size_t>(indent), ' '), ToStd(line), "\n");
  }
  return out;
}

std::string FileText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? *std::move(text) : "";
}

std::string TitleOf(const CampaignFinding& finding) {
  if (finding.triaged && !finding.triage.title.empty()) return finding.triage.title;
  return StrCat(Name(finding.kind), " on ", finding.backend);
}

// `examined`: how many findings of the bucket were looked at; more of its looks may only be
// counted.
void PrintBucket(const BucketShown& bucket, int64_t examined) {
  const CampaignFinding& finding = *bucket.finding;
  Print("");
  Print(StrCat(Styled(Style::kBad, StrCat("bug ", bucket.number, "  ")),
               Styled(Style::kBold, TitleOf(finding)), "  (examined ", examined,
               examined == 1 ? " time" : " times", ", first in case ", bucket.first, ")"));
  if (bucket.same_as > 0)
    Print(StrCat("  probably  the same as bug ", bucket.same_as, ": ", bucket.why));
  if (!finding.triaged) {
    if (!finding.triage_error.empty()) Print("  not triaged: " + finding.triage_error);
    Print(Lines(finding.text, 2, 8));
    return;
  }
  const TriageResult& triage = finding.triage;
  if (!triage.blamed_rule.empty()) {
    // A backend that does not number its decisions is blamed by pass.
    std::string what = triage.blamed_decision < 0
                           ? std::string("pass ")
                           : StrCat("decision ", triage.blamed_decision, ": ");
    const char* place = triage.blamed_decision < 0 ? " of " : " at ";
    Print(StrCat("  blamed    ", what, Styled(Style::kAccent, triage.blamed_rule),
                 triage.blamed_where.empty() ? "" : place, triage.blamed_where));
  }
  if (!triage.silencing.empty()) Print("  right     without pass " + triage.silencing);
  if (!triage.second_opinion.empty() && triage.second_opinion != "none") {
    Print(StrCat("  numpy     ", triage.second_opinion));
  }
  if (triage.instructions > 0) {
    std::string program = triage.page.empty() ? "" : FileText(triage.page + "/repro.hlo");
    // A smaller program of the same bucket may have taken the page since.
    const auto module = ReadModule(program);
    const int64_t instructions = module.ok() ? (*module)->InstructionCount() : triage.instructions;
    Print(StrCat("  reduced   to ", Count(instructions, "instruction")));
    if (!program.empty()) Print(Lines(program, 4, 40));
  }
  if (!triage.page.empty()) Print("  bug page  " + triage.page);
}

// True if a finding has a bucket; those beyond what is triaged are counted only.
bool IsSorted(const CampaignSummary& summary, const CampaignFinding& finding) {
  const bool is_failure = finding.known.empty() && finding.notable.empty() &&
                          finding.triage.second_opinion != "refutes";
  return is_failure && summary.buckets.count(finding.bucket) > 0;
}

void PrintStages(const StageSeconds& stages) {
  double total = stages.total();
  if (total <= 0) return;
  auto share = [&](const char* name, double seconds) {
    return absl::StrFormat("%s %.0f %%", name, 100 * seconds / total);
  };
  Print(StrCat("  time          ", share("generate", stages.generate), ", ",
               share("oracle", stages.oracle), ", ", share("passes", stages.passes), ", ",
               share("code", stages.code), ", ", share("run", stages.run), ", ",
               share("judge", stages.judge)));
}

void PrintReasons(const char* title, const std::map<std::string, int64_t>& reasons,
                  size_t most = 5) {
  if (reasons.empty()) return;
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [reason, count] : reasons) sorted.emplace_back(-count, reason);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() > most) sorted.resize(most);
  for (const auto& [count, reason] : sorted) {
    Print(StrCat("    ", title, " ", -count, ": ", reason.substr(0, 100)));
  }
}

// Prints what no program had, by name: a user wants to know what was not looked at.
void PrintLeftOut(const CampaignSummary& summary) {
  if (summary.avoided > 0) {
    Print(absl::StrFormat("  %-13s %8s   may show what is known; see --known", "avoided",
                          Grouped(summary.avoided)));
  }
  std::vector<std::string> names = summary.excluded_ops;
  for (const auto* more : {&summary.excluded_types, &summary.excluded_recipes}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  if (names.empty()) return;
  Print(absl::StrFormat("  %-13s %8s   not taken by the backend: %s", "left out",
                        Grouped(static_cast<int64_t>(names.size())),
                        ToAbsl(absl::StrJoin(names, ", "))));
  if (!summary.probe.empty()) Print(absl::StrFormat("  %-24s %s", "", summary.probe));
}

void PrintRow(std::string_view name, int64_t value, const std::string& note = "") {
  Print(absl::StrFormat("  %-13s %8s", ToAbsl(name), Grouped(value)) +
        (note.empty() ? "" : "   " + note));
}

// Prints what kept programs and suspects from a verdict that counts, where something did.
void PrintUnsettled(const CampaignSummary& summary) {
  struct Row {
    const char* name;
    int64_t count;
    const char* note;
  };
  for (const Row& row :
       {Row{"sick machine", summary.sick, ""}, Row{"workers lost", summary.workers_lost, ""},
        Row{"unconfirmed", summary.unconfirmed, "did not repeat in a process of its own"},
        Row{"unchecked", summary.unchecked, "failed; not checked again"}}) {
    if (row.count > 0) PrintRow(row.name, row.count, row.note);
  }
  // Lost cases that are findings are listed as such.
  size_t shown = 0;
  for (const auto& [index, text] : summary.lost) {
    if (++shown > 5) break;
    Print(StrCat("    lost at program ", index, ": ", text));
  }
}

// Signatures in words.
class Words {
 public:
  explicit Words(const CampaignSummary& summary) {
    for (const CampaignFinding& finding : summary.found)
      words_.emplace(finding.signature, InWords(finding.culprit));
  }
  std::string Of(const std::string& signature) const {
    const auto at = words_.find(signature);
    return at == words_.end() ? signature : at->second;
  }

 private:
  std::map<std::string, std::string> words_;
};

// Suspects that were only counted.
void PrintAlike(const CampaignSummary& summary, const Words& all) {
  if (summary.alike.empty()) return;
  PrintRow("alike", CampaignSummary::SumOf(summary.alike),
           "where many were checked with one result; only counted (see --check-all)");
  std::map<std::string, int64_t> words;
  for (const auto& [signature, count] : summary.alike)
    words[signature.empty() ? "failed only there" : all.Of(signature)] += count;
  PrintReasons("alike", words, words.size());
}

// Splits the CPU time per program into what findings took, where that is a millisecond or more.
std::string PartsOfCpu(const CampaignSummary& summary) {
  const double checks = summary.MillisecondsPerProgram(summary.cpu_seconds_of_checks);
  const double triage = summary.MillisecondsPerProgram(summary.cpu_seconds_of_triage);
  if (checks + triage < 1) return "";
  const double all = summary.MillisecondsPerProgram(summary.cpu_seconds);
  return absl::StrFormat(": %.1f for the programs, %.1f for second checks and %.1f for triage",
                         all - checks - triage, checks, triage);
}

}  // namespace

std::string ProgressText(const CampaignProgress& progress) {
  const CampaignSummary& now = progress.so_far;
  if (progress.triaging) return StrCat("triaging ", Count(now.findings, "finding"));
  std::string text = StrCat(Grouped(now.programs), " programs, ",
                            absl::StrFormat("%.0f/s", now.ProgramsPerSecond()), ", ",
                            Count(now.findings, "finding"));
  if (progress.seconds_left >= 0) {
    StrAppend(&text, ", ", absl::StrFormat("%.0f s left", progress.seconds_left));
  }
  return text;
}

std::vector<BucketShown> BucketsShown(const CampaignSummary& summary) {
  // A finding tells more of its bucket when triage has put it there itself, not because it is a
  // duplicate; then, when its program is small.
  const auto rank = [](const CampaignFinding& finding) {
    return std::tuple(!finding.triaged, finding.triage.bucket != finding.bucket,
                      finding.triage.instructions);
  };
  std::vector<BucketShown> shown;
  std::map<std::string, size_t> numbers;
  for (const CampaignFinding& finding : summary.found) {
    if (!IsSorted(summary, finding)) continue;
    const auto [at, is_new] = numbers.emplace(finding.bucket, shown.size());
    if (is_new) shown.push_back({&finding, finding.index, static_cast<int64_t>(shown.size()) + 1});
    BucketShown& bucket = shown[at->second];
    bucket.first = std::min(bucket.first, finding.index);
    if (rank(finding) < rank(*bucket.finding)) bucket.finding = &finding;
  }
  for (BucketShown& bucket : shown) {
    const auto same = summary.doubles.find(bucket.finding->bucket);
    if (same == summary.doubles.end()) continue;
    const auto other = numbers.find(same->second.bucket);
    if (other == numbers.end()) continue;
    bucket.same_as = shown[other->second].number;
    bucket.why = same->second.why;
  }
  return shown;
}

void PrintCampaign(const CampaignSummary& summary, const std::string& defect) {
  Print(StrCat(Styled(Style::kBold, "campaign"), " seed ", summary.seed, " on ",
               summary.backends.empty() ? "" : summary.backends.front(), ", ",
               Count(summary.jobs, "worker"),
               defect.empty() ? "" : StrCat(", with the planted defect ", defect),
               summary.interrupted ? ", interrupted" : ""));
  double verdicts = static_cast<double>(summary.compared + summary.inconclusive);
  PrintRow("programs", summary.programs,
           absl::StrFormat("%.0f per second for %s", summary.ProgramsPerSecond(),
                           Seconds(summary.seconds)) +
               (summary.triage_seconds >= 1
                    ? StrCat(", then triage for ", Seconds(summary.triage_seconds))
                    : ""));
  if (summary.illegal > 0) {
    PrintRow("illegal", summary.illegal, "did not verify and were skipped: the generator's fault");
  }
  PrintReasons("illegal", summary.illegal_reasons);
  if (summary.cpu_seconds > 0) {
    Print(absl::StrFormat("  %-13s %5.1f ms   per program%s; the campaign had %.0f %% of the CPU",
                          "CPU", summary.CpuMillisecondsPerProgram(), PartsOfCpu(summary),
                          100 * summary.ShareOfCpu()));
  }
  PrintRow("compared", summary.compared,
           summary.rescued > 0 ? StrCat(summary.rescued, " of them on exact inputs") : "");
  PrintRow("inconclusive", summary.inconclusive,
           Percent(static_cast<double>(summary.inconclusive), verdicts));
  if (summary.mistrusted > 0) {
    PrintRow("mistrusted", summary.mistrusted, "passed, but with outputs that show little");
  }
  if (summary.unsupported > 0) PrintRow("unsupported", summary.unsupported);
  PrintReasons("unsupported", summary.unsupported_reasons);
  if (summary.not_run > 0)
    PrintRow("not run", summary.not_run, "the worker died of another backend");
  PrintLeftOut(summary);
  if (summary.screened > 0) {
    PrintRow(
        "screened", summary.screened,
        StrCat("compiled cheaply, or together; ", summary.screened_only, " failed only there"));
  }
  const Words all(summary);
  PrintAlike(summary, all);
  PrintUnsettled(summary);
  if (!summary.known.empty())
    PrintRow("known", CampaignSummary::SumOf(summary.known), "see --known");
  PrintReasons("known", summary.known, summary.known.size());
  if (!summary.notable.empty()) {
    PrintRow("notable", CampaignSummary::SumOf(summary.notable), "no failures, but worth knowing");
  }
  PrintReasons("notable", summary.notable, summary.notable.size());
  if (summary.refuted > 0) {
    PrintRow("refuted", summary.refuted, "false alarms, by the second opinion");
  }
  int64_t sorted = 0;
  for (const auto& bucket : summary.buckets) sorted += bucket.second;
  const int64_t failures = summary.Failures();
  PrintRow(
      "findings", failures,
      StrCat("in ", Count(static_cast<int64_t>(summary.buckets.size()), "bucket"),
             sorted < failures ? StrCat("; ", failures - sorted, " of them counted, not triaged")
                               : ""));
  std::map<std::string, int64_t> seen;
  for (const auto& [signature, count] : summary.signatures) seen[all.Of(signature)] += count;
  PrintReasons("seen", seen, seen.size());
  PrintStages(summary.stages);
  for (const BucketShown& bucket : BucketsShown(summary)) {
    PrintBucket(bucket, summary.buckets.at(bucket.finding->bucket));
  }
}

nlohmann::json CampaignJson(const CampaignSummary& summary, const std::string& defect) {
  nlohmann::json json = summary.ToJson();
  json["type"] = "summary";
  json["verb"] = "fuzz";
  json["backend"] = summary.backends.empty() ? "" : summary.backends.front();
  json["defect"] = defect;
  return json;
}

void AddFindings(const CampaignSummary& summary, RunRow& run) {
  const auto add = [&](const CampaignFinding& finding, const std::string& note = "") {
    if (finding.triaged && !finding.triage.confirmed) return;
    run.findings.push_back({finding.bucket, TitleOf(finding) + note,
                            std::string(Name(finding.kind)), finding.triage.blamed_rule,
                            finding.triage.page, finding.index, finding.triage.instructions});
  };
  // The page shows of each bucket what comes first: what the terminal shows.
  std::set<const CampaignFinding*> shown;
  const std::vector<BucketShown> all = BucketsShown(summary);
  for (const BucketShown& bucket : all) {
    shown.insert(bucket.finding);
    if (bucket.same_as == 0) {
      add(*bucket.finding);
      continue;
    }
    const CampaignFinding& other = *all[static_cast<size_t>(bucket.same_as) - 1].finding;
    add(*bucket.finding, StrCat("; probably the same as ", TitleOf(other), " (", bucket.why, ")"));
  }
  for (const CampaignFinding& finding : summary.found) {
    if (IsSorted(summary, finding) && !shown.contains(&finding)) add(finding);
  }
}

}  // namespace assay
