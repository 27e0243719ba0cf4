// assay explain: one op, or the numeric profiles side by side.
#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"
#include "conformance/golden.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"
#include "spec/ops/op_table.h"
#include "tools/assay/environment.h"
#include "tools/assay/op_text.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string op;
  bool profiles = false;
};

// "2; data of float": operands that are indices, sizes or random bits have types of their own.
std::string Operands(const OpInfo& op) {
  if (op.types == 0) return OperandsText(op);
  const bool any = op.types == kAnyArray;
  return StrCat(OperandsText(op), "; data of ", TypesText(op.types), any ? " type" : "");
}

// How far this build covers the op.
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

// The worked examples that the op is held to, with their place in the documents.
void ExplainGoldens(const OpInfo& op) {
  absl::StatusOr<std::vector<GoldenCase>> goldens = DocumentGoldens();
  if (!goldens.ok()) return;
  Table table({{"golden"}, {"compared"}, {"document"}});
  int count = 0;
  for (const GoldenCase& golden : *goldens) {
    if (std::find(golden.ops.begin(), golden.ops.end(), op.name) == golden.ops.end()) continue;
    const std::string_view compared = golden.comparison == GoldenComparison::kBits    ? "bits"
                                      : golden.comparison == GoldenComparison::kExact ? "exact"
                                                                                      : "ulps";
    table.Add({golden.name, std::string(compared), golden.citation});
    ++count;
  }
  Print(StrCat("  goldens     ", count));
  if (count > 0) Print(table.ToString());
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
  ExplainGoldens(op);
}

void ExplainProfiles() {
  Print("What a correct implementation may do to floating point:");
  Table table({{"clause"}, {"strict"}, {"xla"}, {"meaning"}});
  for (const Clause& clause : AllClauses()) {
    table.Add({std::string(clause.name), clause.strict ? "granted" : "no",
               clause.xla ? "granted" : "no", std::string(clause.meaning)});
  }
  Print(table.ToString());
  Print("Sources of the grants:");
  for (const Clause& clause : AllClauses()) {
    Print(StrCat("  ", clause.name, ": ", clause.source));
  }
  Print("");
  Print("Ulps per op where the profiles are not zero:");
  Table budgets({{"op"}, {"strict"}, {"xla"}});
  for (const OpInfo& op : AllOps()) {
    if (op.numeric.comparison != ComparisonClass::kUlp) continue;
    budgets.Add({std::string(op.name), Budget(op.numeric.strict), Budget(op.numeric.xla)});
  }
  Print(budgets.ToString());
}

int Run(const Options& options) {
  if (options.profiles) {
    ExplainProfiles();
    return kExitOk;
  }
  std::optional<Opcode> opcode = OpcodeFromName(options.op);
  if (!opcode.has_value()) {
    return Fail(absl::NotFoundError(
        StrCat(options.op.empty() ? "name an op" : StrCat("no op is called '", options.op, "'"),
               "; assay ops lists them")));
  }
  ExplainOp(Info(*opcode));
  return kExitOk;
}

}  // namespace

void DeclareExplain(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("OP", options->op, "Name of an op as in HLO text");
  line.AddFlag("--profiles", options->profiles,
               "The numeric profiles strict and xla, side by side");
  action = [options] { return Run(*options); };
}

}  // namespace assay
