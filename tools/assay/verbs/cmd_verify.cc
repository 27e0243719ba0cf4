// assay verify: reads modules and says exactly what is wrong with them.
#include <memory>

#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/files/module_parts.h"
#include "spec/verifier/verifier.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool json = false;
};

// A file that cannot be read says nothing of the module in it.
bool IsUnreadable(const std::string& path) { return !ReadFile(SplitModulePath(path).file).ok(); }

// One line for a good module, the diagnostics for a bad one; the exit status.
int VerifyOne(const CaseFile& file, bool json) {
  absl::StatusOr<std::unique_ptr<Module>> module = LoadCaseModule(file);
  nlohmann::json line = {{"path", file.module_path}, {"ok", module.ok()}};
  if (!module.ok()) {
    line["errors"] = std::string(module.status().message());
    if (json) {
      PrintJson(line);
    } else {
      PrintError(std::string(module.status().message()));
    }
    return IsUnreadable(file.module_path) ? kExitUsage : kExitFailure;
  }
  std::vector<std::string> unsupported = Unsupported(**module);
  int64_t instructions = (*module)->InstructionCount();
  int64_t computations = static_cast<int64_t>((*module)->computations().size());
  line["instructions"] = instructions;
  line["computations"] = computations;
  line["unsupported"] = unsupported;
  std::vector<std::string> warnings;
  for (const VerifyError& warning : FindWarnings(**module)) warnings.push_back(warning.message);
  line["warnings"] = warnings;
  if (json) {
    PrintJson(line);
    return kExitOk;
  }
  std::string text = file.module_path + ": " + Styled(Style::kGood, "ok") + ", " +
                     Count(instructions, "instruction") + " in " +
                     Count(computations, "computation");
  if (!unsupported.empty()) {
    text += "; without a meaning here yet:";
    for (const std::string& name : unsupported) text += " " + name;
  }
  Print(text);
  for (const std::string& warning : warnings)
    Print(file.module_path + ": " + Styled(Style::kWarn, "warning") + ": " + warning);
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  bool is_bad = false, is_unreadable = false;
  for (const std::string& path : options.paths) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<CaseFile> files, FindCases(path));
    // A module is a case for each of its recorded runs.
    for (size_t k = 0; k < files.size(); ++k) {
      if (k > 0 && files[k].module_path == files[k - 1].module_path) continue;
      const int status = VerifyOne(files[k], options.json);
      is_bad = is_bad || status == kExitFailure;
      is_unreadable = is_unreadable || status == kExitUsage;
    }
  }
  if (is_bad) return kExitFailure;
  return is_unreadable ? kExitUsage : kExitOk;
}

}  // namespace

void DeclareVerify(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths, "Modules, or folders of modules").Required();
  line.AddFlag("--json", options->json, "One JSON object per module");
  action = [options] { return Run(*options); };
}

}  // namespace assay
