// assay explain: one op, one pass of the compiler, or the numeric profiles side by side.
#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"
#include "conformance/golden.h"
#include "conformance/mission_rows.h"
#include "nlohmann/json.hpp"
#include "spec/base/nearest_word.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/clause_limits.h"
#include "spec/numerics/notable_limits.h"
#include "spec/numerics/profile.h"
#include "spec/ops/op_table.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/op_text.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/pass_text.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string op;
  std::string pass;
  bool profiles = false;
  bool json = false;
};

// "2; data of float": operands that are indices, sizes or random bits have types of their own.
std::string Operands(const OpInfo& op) {
  if (op.types == 0) return OperandsText(op);
  const bool any = op.types == kAnyArray;
  return StrCat(OperandsText(op), "; data of ", TypesText(op.types), any ? " type" : "");
}

// Says how far this build covers the op.
std::string Coverage(const OpInfo& op) {
  if (!op.IsDefined()) return "is read, printed and kept, but has no meaning yet";
  const std::string oracle = "shape rule, evaluation, bound, recipe";
  absl::StatusOr<std::unique_ptr<Backend>> cpu = OpenBackend("cpu");
  if (!cpu.ok()) return oracle;
  return StrCat(oracle,
                IsCompiled(**cpu, op) ? "; compiled" : "; not compiled, the oracle runs it");
}

std::string Budget(const UlpBudget& budget) {
  return absl::StrFormat("f32 %g, f64 %g, f16 %g, bf16 %g", budget.f32, budget.f64, budget.f16,
                         budget.bf16);
}

std::string_view Presence(AttrSpec::Presence presence) {
  switch (presence) {
    case AttrSpec::kRequired:
      return "required";
    case AttrSpec::kAlways:
      return "always printed, may be left out";
    case AttrSpec::kOptional:
      return "optional";
  }
  return "";
}

std::string_view CalleesText(CalleeForm form) {
  switch (form) {
    case CalleeForm::kNone:
      return "";
    case CalleeForm::kToApply:
      return "to_apply=%f";
    case CalleeForm::kCalls:
      return "calls=%f";
    case CalleeForm::kConditionBody:
      return "condition=%c, body=%b";
    case CalleeForm::kSelectScatter:
      return "select=%s, scatter=%t";
    case CalleeForm::kBranches:
      return "true_computation=%t, false_computation=%f or branch_computations={%a, %b}";
    case CalleeForm::kCalledComputations:
      return "called_computations={%a, %b}";
  }
  return "";
}

std::string_view Compared(const GoldenCase& golden) {
  return golden.comparison == GoldenComparison::kBits    ? "bits"
         : golden.comparison == GoldenComparison::kExact ? "exact"
                                                         : "ulps";
}

// The worked examples that the op is held to.
std::vector<GoldenCase> GoldensOf(const OpInfo& op) {
  std::vector<GoldenCase> found;
  absl::StatusOr<std::vector<GoldenCase>> goldens = DocumentGoldens();
  if (!goldens.ok()) return found;
  for (GoldenCase& golden : *goldens) {
    if (std::find(golden.ops.begin(), golden.ops.end(), op.name) == golden.ops.end()) continue;
    found.push_back(std::move(golden));
  }
  return found;
}

// With their place in the documents.
void ExplainGoldens(const OpInfo& op) {
  Table table({{"golden"}, {"compared"}, {"document"}});
  const std::vector<GoldenCase> goldens = GoldensOf(op);
  for (const GoldenCase& golden : goldens) {
    table.Add({golden.name, std::string(Compared(golden)), golden.citation});
  }
  Print(StrCat("  goldens     ", goldens.size()));
  if (!goldens.empty()) Print(table.ToString());
}

// The sentences of the documents about the op; docs/coverage.md says which case asserts each row.
void ExplainRows(const OpInfo& op) {
  const std::vector<const MissionRow*> rows = RowsOfOp(op);
  if (rows.empty()) return;
  Print(StrCat("  documents   ", rows.size(), rows.size() == 1 ? " sentence" : " sentences"));
  for (const MissionRow* row : rows) Print(StrCat("    ", row->name, ": ", row->must));
}

nlohmann::json BudgetJson(const UlpBudget& budget) {
  return {{"f32", budget.f32},
          {"f64", budget.f64},
          {"f16", budget.f16},
          {"bf16", budget.bf16},
          {"complex", budget.complex}};
}

void PrintOpJson(const OpInfo& op) {
  nlohmann::json line = {{"op", op.name},
                         {"summary", op.summary},
                         {"document", ChapterText(op)},
                         {"operands", OperandsText(op)},
                         {"types", TypesText(op.types)},
                         {"defined", op.IsDefined()},
                         {"comparison", Name(op.numeric.comparison)},
                         {"ulps_strict", BudgetJson(op.numeric.strict)},
                         {"ulps_xla", BudgetJson(op.numeric.xla)},
                         {"xla_source", op.numeric.xla_source},
                         {"callees", CalleesText(op.callees)}};
  for (std::string_view list : {"attributes", "sentences", "goldens"}) {
    line[list] = nlohmann::json::array();
  }
  for (const AttrSpec& spec : op.attributes) {
    line["attributes"].push_back({{"name", Info(spec.attr).name},
                                  {"presence", Presence(spec.presence)},
                                  {"words", nlohmann::json(Info(spec.attr).words)}});
  }
  for (const MissionRow* row : RowsOfOp(op)) {
    line["sentences"].push_back({{"id", row->id}, {"name", row->name}, {"must", row->must}});
  }
  for (const GoldenCase& golden : GoldensOf(op)) {
    line["goldens"].push_back(
        {{"name", golden.name}, {"compared", Compared(golden)}, {"citation", golden.citation}});
  }
  PrintJson(line);
}

void ExplainOp(const OpInfo& op) {
  Print(StrCat(Styled(Style::kBold, op.name), ": ", op.summary));
  Print(StrCat("  document    ", ChapterText(op)));
  Print(StrCat("  operands    ", Operands(op)));
  Print(StrCat("  here        ", Coverage(op)));
  if (!op.attributes.empty()) {
    Table table({{"attribute"}, {"presence"}, {"words"}});
    for (const AttrSpec& spec : op.attributes) {
      const AttrInfo& info = Info(spec.attr);
      std::string words;
      for (std::string_view word : info.words) StrAppend(&words, words.empty() ? "" : " ", word);
      table.Add({std::string(info.name), std::string(Presence(spec.presence)), words});
    }
    Print(table.ToString());
  }
  const NumericContract& numeric = op.numeric;
  Print(StrCat("  comparison  ", Name(numeric.comparison), ": ", Meaning(numeric.comparison)));
  if (numeric.comparison == ComparisonClass::kUlp) {
    Print(StrCat("  strict      ", Budget(numeric.strict), " ulps"));
    Print(StrCat("  xla         ", Budget(numeric.xla), " ulps"));
  }
  if (numeric.strict.complex > 0 || numeric.xla.complex > 0) {
    Print(absl::StrFormat("  complex     |error| <= k (eps |exact| + tiny); k: strict %g, xla %g",
                          numeric.strict.complex, numeric.xla.complex));
  }
  if (!numeric.xla_source.empty()) Print(StrCat("  source      ", numeric.xla_source));
  if (op.callees != CalleeForm::kNone) Print(StrCat("  calls       ", CalleesText(op.callees)));
  ExplainRows(op);
  ExplainGoldens(op);
}

void PrintProfilesJson() {
  for (const Clause& clause : AllClauses()) {
    PrintJson({{"clause", clause.name},
               {"strict", clause.strict},
               {"xla", clause.xla},
               {"xla-gpu", clause.xla || clause.gpu},
               {StrCat("xla@", kGated), clause.xla && !IsGated(clause.id)},
               {"rewrites", clause.rewrites},
               {"changes", LimitOf(clause.id).changes},
               {"kept_by", LimitOf(clause.id).kept_by},
               {"meaning", clause.meaning},
               {"source", clause.source}});
  }
}

void ExplainProfiles() {
  Print("What a correct implementation may do to floating point:");
  Table table({{"clause"}, {"strict"}, {"xla"}, {"xla-gpu"}, {"may change"}, {"meaning"}});
  for (const Clause& clause : AllClauses()) {
    const char* granted = clause.rewrites ? "as a form" : "granted";
    table.Add({std::string(clause.name), clause.strict ? granted : "no",
               clause.xla ? granted : "no", clause.xla || clause.gpu ? granted : "no",
               std::string(LimitOf(clause.id).changes), std::string(clause.meaning)});
  }
  Print(table.ToString());
  Print(
      "A licence grants digits and the order of sums: an infinity, a NaN, a finite number, a sign "
      "or "
      "a part of a complex number that the program makes certain stays, but for what the column "
      "\"may change\" names.");
  Print(StrCat("xla@", kGated, " and xla-gpu@", kGated,
               ", for releases from that month on, do not grant:"));
  for (const Clause& clause : AllClauses())
    if (IsGated(clause.id)) Print(StrCat("  ", clause.name));
  Print("Sources of the grants:");
  for (const Clause& clause : AllClauses()) {
    Print(StrCat("  ", clause.name, ": ", clause.source));
  }
  Print("What campaigns on other compilers note beside the clauses:");
  for (const NotableLimit& limit : kNotableLimits)
    Print(StrCat("  ", limit.name, " ", limit.number, ": ", limit.meaning,
                 "; source: ", limit.source));
  Print("");
  Print("Ulps per op where the profiles are not zero:");
  Table budgets({{"op"}, {"strict"}, {"xla"}});
  for (const OpInfo& op : AllOps()) {
    if (op.numeric.comparison != ComparisonClass::kUlp) continue;
    budgets.Add({std::string(op.name), Budget(op.numeric.strict), Budget(op.numeric.xla)});
  }
  Print(budgets.ToString());
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.profiles) {
    options.json ? PrintProfilesJson() : ExplainProfiles();
    return kExitOk;
  }
  if (!options.pass.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const PassDescription pass, DescribePass(options.pass));
    options.json ? PrintJson(ToJson(pass)) : Print(ToText(pass));
    return kExitOk;
  }
  std::optional<Opcode> opcode = OpcodeFromName(options.op);
  if (!opcode.has_value()) {
    if (options.op.empty()) return absl::NotFoundError("name an op; assay ops lists them");
    std::vector<std::string> names;
    for (const OpInfo& op : AllOps()) names.emplace_back(op.name);
    const std::string meant = DidYouMean(options.op, names);
    return absl::NotFoundError(StrCat("no op is called '", options.op, "'",
                                      meant.empty() ? ";" : meant, " assay ops lists them"));
  }
  options.json ? PrintOpJson(Info(*opcode)) : ExplainOp(Info(*opcode));
  return kExitOk;
}

}  // namespace

void DeclareExplain(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("OP", options->op, "Name of an op as in HLO text");
  line.Add("--pass", options->pass,
           "A pass of the compiler instead: what it does, when it runs, and a case of it");
  line.AddFlag("--profiles", options->profiles,
               "The numeric profiles strict, xla and xla-gpu, side by side");
  line.AddFlag("--json", options->json, "One JSON object; with --profiles one per clause");
  action = [options] { return Run(*options); };
}

}  // namespace assay
