// assay graph: a module as a picture.
#include <memory>

#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/text/dot.h"
#include "tools/assay/environment.h"
#include "tools/assay/graphs/graph_file.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string path, output;
  bool json = false;
};

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadModule(options.path));
  const std::string dot = WriteDot(*module);
  nlohmann::json line{{"module", module->name()}};
  if (options.output.empty() && options.json) {
    line["dot"] = dot;
    PrintJson(line);
    return kExitOk;
  }
  if (options.output.empty()) {
    PrintBytes(dot);
    return kExitOk;
  }
  ASSAY_RETURN_IF_ERROR(WriteGraph(options.output, dot));
  line["written"] = options.output;
  if (options.json) PrintJson(line);
  return kExitOk;
}

}  // namespace

void DeclareGraph(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->path, "A module").Required();
  line.Add("-o,--output", options->output,
           "Where to: .svg, .png and .pdf are drawn by graphviz, .dot is DOT; default: DOT on the "
           "standard output");
  line.AddFlag("--json", options->json, "One JSON object instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
