// Writes a verdict by cuts for people and for programs.
#include <cmath>

#include "conformance/cuts/cut_check.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

nlohmann::json JsonOf(const Judgement& judgement) {
  return {{"elements", judgement.elements},
          {"failed", judgement.failed},
          {"inconclusive", judgement.inconclusive},
          {"forced", judgement.forced},
          {"bound_used", judgement.max_ulps_used}};
}

}  // namespace

double CutReport::UndecidedShare() const {
  return elements == 0 ? 0 : static_cast<double>(undecided) / static_cast<double>(elements);
}

void CutReport::Add(Stretch stretch) {
  elements += stretch.judgement.elements;
  failed += stretch.judgement.failed;
  undecided += stretch.judgement.inconclusive;
  not_sampled += stretch.not_sampled;
  stretches.push_back(std::move(stretch));
}

bool IsLeftOpen(const Judgement& judgement) {
  const auto most =
      static_cast<int64_t>(std::ceil(kMostUndecided * static_cast<double>(judgement.elements)));
  return judgement.inconclusive > most ||
         (judgement.inconclusive == judgement.elements && judgement.elements > 0);
}

std::string CutReport::OpenResult(const std::vector<Judgement>& plain) const {
  size_t number = 0;
  for (const Stretch& stretch : stretches) {
    if (!stretch.is_output) continue;
    const Judgement& judgement =
        number < plain.size() && IsLeftOpen(plain[number]) ? plain[number] : stretch.judgement;
    ++number;
    if (IsLeftOpen(judgement)) {
      return StrCat(judgement.inconclusive, " of ", judgement.elements, " of ", stretch.name);
    }
  }
  return "";
}

std::string Describe(const CutReport& report) {
  auto counted = [](int64_t count, std::string_view what) {
    return StrCat(count, " ", what, count == 1 ? "" : "s");
  };
  std::string text = StrCat(counted(report.captures, "capture"), ", ",
                            counted(report.rounds, "compilation"), ", ", report.undecided, " of ",
                            report.elements, " elements undecided, ", report.outputs_equal, " of ",
                            counted(report.outputs, "result"), " as without captures");
  if (report.not_sampled > 0)
    StrAppend(&text, ", ", report.not_sampled, " more elements not sampled");
  if (!report.reason.empty()) StrAppend(&text, "\n", report.reason);
  if (report.drawn.draws > 0) StrAppend(&text, "\n", Describe(report.drawn));
  for (const Stretch& stretch : report.stretches) {
    if (stretch.judgement.verdict == Verdict::kPass) continue;
    StrAppend(&text, "\n", Name(stretch.judgement.verdict), ": ", stretch.opcode,
              stretch.opcode.empty() ? "" : " ", stretch.name);
    if (!stretch.op_name.empty()) StrAppend(&text, " (", stretch.op_name, ")");
    if (!stretch.source.empty()) StrAppend(&text, " at ", stretch.source);
    StrAppend(&text, ": ", stretch.judgement.failed, " wrong, ", stretch.judgement.inconclusive,
              " undecided of ", stretch.judgement.elements);
    if (stretch.judgement.failed > 0) StrAppend(&text, "\n", stretch.failure);
  }
  if (!report.smallest.empty()) StrAppend(&text, "\nsmallest failing part: ", report.smallest);
  return text;
}

nlohmann::json ToJson(const CutReport& report) {
  nlohmann::json stretches = nlohmann::json::array();
  for (const Stretch& stretch : report.stretches) {
    nlohmann::json entry = JsonOf(stretch.judgement);
    entry["name"] = stretch.name;
    entry["opcode"] = stretch.opcode;
    entry["op_name"] = stretch.op_name;
    entry["source"] = stretch.source;
    entry["is_output"] = stretch.is_output;
    entry["not_sampled"] = stretch.not_sampled;
    entry["refused"] = stretch.refused;
    entry["verdict"] = Name(stretch.judgement.verdict);
    if (!stretch.instructions.empty()) entry["instructions"] = stretch.instructions;
    if (stretch.judgement.failed > 0) entry["failure"] = stretch.failure;
    stretches.push_back(std::move(entry));
  }
  return {{"verdict", Name(report.verdict)},
          {"reason", report.reason},
          {"elements", report.elements},
          {"failed", report.failed},
          {"undecided", report.undecided},
          {"not_sampled", report.not_sampled},
          {"plausible", report.drawn.plausible},
          {"suspect", report.drawn.suspect},
          {"draws", report.drawn.draws},
          {"furthest", report.drawn.furthest},
          {"captures", report.captures},
          {"rounds", report.rounds},
          {"outputs", report.outputs},
          {"outputs_equal", report.outputs_equal},
          {"smallest", report.smallest},
          {"smallest_instruction", report.smallest_instruction},
          {"everywhere", report.everywhere},
          {"plain", JsonOf(report.plain)},
          {"stored", JsonOf(report.stored)},
          {"seconds", report.seconds},
          {"backend_seconds", report.backend_seconds},
          {"stretches", std::move(stretches)}};
}

}  // namespace assay
