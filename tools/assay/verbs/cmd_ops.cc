// assay ops: the op table.
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/op_text.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  bool defined = false;
  bool json = false;
};

absl::StatusOr<int> Run(const Options& options) {
  Table table({{"op"},
               {"operands", Table::kRight},
               {"types"},
               {"comparison"},
               {"meaning"},
               {"compiled"},
               {"chapter"},
               {"summary"}});
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> cpu, OpenBackend("cpu"));
  int64_t defined = 0, compiled = 0, total = 0;
  for (const OpInfo& op : AllOps()) {
    ++total;
    if (op.IsDefined()) ++defined;
    if (IsCompiled(*cpu, op)) ++compiled;
    if (options.defined && !op.IsDefined()) continue;
    if (options.json) {
      PrintJson({{"op", op.name},
                 {"defined", op.IsDefined()},
                 {"compiled", IsCompiled(*cpu, op)},
                 {"min_operands", op.operands.min},
                 {"max_operands", op.operands.max},
                 {"types", TypesText(op.types)},
                 {"comparison", Name(op.numeric.comparison)},
                 {"chapter", op.chapter},
                 {"summary", op.summary}});
      continue;
    }
    table.Add({std::string(op.name), OperandsText(op), TypesText(op.types),
               op.IsDefined() ? std::string(Name(op.numeric.comparison)) : "",
               op.IsDefined() ? Styled(Style::kGood, "yes") : Styled(Style::kDim, "read only"),
               IsCompiled(*cpu, op) ? Styled(Style::kGood, "yes") : "", std::string(op.chapter),
               std::string(op.summary)});
  }
  if (options.json) return kExitOk;
  Print(table.ToString());
  Print(StrCat(
      total, " ops are read and written; ", defined,
      " of them have a meaning: a shape rule, an evaluation, a bound, a recipe and a golden; ",
      compiled, " are compiled by the backend cpu"));
  return kExitOk;
}

}  // namespace

void DeclareOps(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.AddFlag("--defined", options->defined, "Only ops that have a meaning here");
  line.AddFlag("--json", options->json, "One JSON object per op");
  action = [options] { return Run(*options); };
}

}  // namespace assay
