// assay prove: the rewrites that move data, proved for all sizes or refuted by an instance.
#include <filesystem>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "optimized/proofs/prove.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string rule, forget, out = "assay-out/proofs";
  double seconds = 10;
  bool json = false;
};

std::string_view Word(Proof::Outcome outcome) {
  switch (outcome) {
    case Proof::kProved:
      return "proved";
    case Proof::kRefuted:
      return "refuted";
    case Proof::kOpen:
      return "open";
  }
  return "";
}

std::string InWords(const Assignment& values) {
  std::string text;
  for (const auto& [name, value] : values)
    StrAppend(&text, text.empty() ? "" : ", ", name, " = ", value);
  return text;
}

std::string ClaimsOf(const RuleStatement& statement, std::string_view forgotten) {
  std::string text;
  for (const StatementClaim& claim : statement.claims) {
    StrAppend(&text, text.empty() ? "" : ", ", claim.name.substr(claim.name.find('/') + 1),
              claim.name == forgotten ? " (forgotten)" : "");
  }
  return text;
}

// Writes the instance as a module beside its arguments, as `assay check` and `replay` take them.
absl::StatusOr<std::string> WriteWitness(const RuleStatement& statement, const Proof& proof,
                                         const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const HloInstance instance,
                         BeforeAsHlo(statement, proof.witness, options.forget));
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  const std::string stem = StrCat(options.out, "/", statement.rule->rule);
  ASSAY_RETURN_IF_ERROR(WriteFile(StrCat(stem, ".hlo"), WriteModule(*instance.module)));
  std::vector<std::pair<std::string, const Literal*>> arrays;
  for (size_t i = 0; i < instance.arguments.size(); ++i)
    arrays.emplace_back(StrCat("in", i), &instance.arguments[i]);
  ASSAY_RETURN_IF_ERROR(WriteNpz(StrCat(stem, ".npz"), arrays));
  return StrCat(stem, ".hlo");
}

absl::StatusOr<std::vector<RuleStatement>> Chosen(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<RuleStatement> all, ReadStatements());
  std::vector<RuleStatement> chosen;
  const std::string of_claim = options.forget.substr(0, options.forget.find('/'));
  for (RuleStatement& statement : all) {
    const bool is_wanted = options.rule.empty() || statement.rule->rule == options.rule;
    const bool is_of_claim = options.forget.empty() || statement.rule->rule == of_claim;
    if (is_wanted && is_of_claim) chosen.push_back(std::move(statement));
  }
  if (chosen.empty()) {
    return absl::InvalidArgumentError(StrCat("no statement is about ",
                                             options.rule.empty() ? options.forget : options.rule,
                                             "; assay prove shows all of them"));
  }
  bool is_known = options.forget.empty();
  for (const RuleStatement& statement : chosen)
    for (const StatementClaim& claim : statement.claims) is_known |= claim.name == options.forget;
  if (!is_known) {
    return absl::InvalidArgumentError(
        StrCat(of_claim, " has no claim ", options.forget, "; it has ", ClaimsOf(chosen[0], "")));
  }
  return chosen;
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<RuleStatement> statements, Chosen(options));
  Table table({{"rule"}, {""}, {"ms", Table::kRight}, {"before"}, {"after"}, {"claims"}});
  int64_t proved = 0;
  std::string witnesses;
  double seconds = 0;
  for (const RuleStatement& statement : statements) {
    if (InterruptRequested()) return kExitInterrupted;
    const Proof proof = Prove(statement, options.forget, options.seconds);
    proved += proof.outcome == Proof::kProved ? 1 : 0;
    seconds += proof.seconds;
    std::string path;
    if (proof.outcome == Proof::kRefuted) {
      ASSAY_ASSIGN_OR_RETURN(path, WriteWitness(statement, proof, options));
      StrAppend(&witnesses, "\n", statement.Name(), ": the two sides differ at ",
                InWords(proof.witness), "\n  ", path, "\n");
    }
    if (proof.outcome == Proof::kOpen)
      StrAppend(&witnesses, "\n", statement.Name(), ": the solver says ", proof.reason, "\n");
    if (options.json) {
      PrintJson({{"rule", statement.rule->rule},
                 {"form", statement.rule->form},
                 {"before", statement.rule->before},
                 {"after", statement.rule->after},
                 {"outcome", Word(proof.outcome)},
                 {"seconds", proof.seconds},
                 {"witness", proof.witness},
                 {"path", path}});
      continue;
    }
    const Style style = proof.outcome == Proof::kProved ? Style::kGood : Style::kBad;
    table.Add({statement.Name(), Styled(style, std::string(Word(proof.outcome))),
               absl::StrFormat("%.1f", proof.seconds * 1e3), std::string(statement.rule->before),
               std::string(statement.rule->after), ClaimsOf(statement, options.forget)});
  }
  const auto count = static_cast<int64_t>(statements.size());
  if (!options.json) {
    Print(table.ToString());
    if (!witnesses.empty()) Print(witnesses);
    Print(absl::StrFormat("%d of %d statements proved for all sizes in %.1f s", proved, count,
                          seconds));
  }
  return proved == count ? kExitOk : kExitFailure;
}

}  // namespace

void DeclareProve(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("--rule", options->rule, "This rule alone, as `assay print --passes` names it");
  line.Add("--forget", options->forget,
           "As if the rule did not ask for this claim, RULE/CLAIM: a witness shows why it does");
  line.AddDuration("--timeout", options->seconds, "For each statement");
  line.Add("--out", options->out, "Folder for witnesses: modules with inputs");
  line.AddFlag("--json", options->json, "One JSON object per statement");
  action = [options] { return Run(*options); };
}

}  // namespace assay
