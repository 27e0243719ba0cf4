// assay graph: a module as a picture.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/text/dot.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

extern char** environ;

namespace assay {
namespace {

struct Options {
  std::string path, output;
  bool json = false;
};

bool EndsWith(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

absl::Status WriteFile(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(StrCat(path, ": cannot be written"));
}

// Graphviz makes the picture.
absl::Status WriteSvg(const std::string& path, const std::string& dot) {
  const std::string source = path + ".dot";
  ASSAY_RETURN_IF_ERROR(WriteFile(source, dot));
  std::string program = "dot", format = "-Tsvg", out = "-o" + path, in = source;
  char* const arguments[] = {program.data(), format.data(), out.data(), in.data(), nullptr};
  pid_t child = 0;
  int status = 1;
  const bool started = posix_spawnp(&child, "dot", nullptr, nullptr, arguments, environ) == 0 &&
                       waitpid(child, &status, 0) == child;
  if (started && status == 0) {
    std::remove(source.c_str());
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      StrCat("graphviz's dot did not run (apt install graphviz); the graph is in ", source));
}

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
    std::fwrite(dot.data(), 1, dot.size(), stdout);
    return kExitOk;
  }
  const absl::Status status = EndsWith(options.output, ".svg") ? WriteSvg(options.output, dot)
                                                               : WriteFile(options.output, dot);
  if (!status.ok()) return status;
  line["written"] = options.output;
  if (options.json) PrintJson(line);
  return kExitOk;
}

}  // namespace

void DeclareGraph(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->path, "A module").Required();
  line.Add("-o,--output", options->output,
           "Where to: a .svg is drawn by graphviz, anything else is DOT; default: DOT on the "
           "standard output");
  line.AddFlag("--json", options->json, "One JSON object instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
