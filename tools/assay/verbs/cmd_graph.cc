// assay graph: a module as a picture.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "spec/base/file.h"
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

// What graphviz is asked for by the ending of the file's name; "" for DOT itself.
absl::StatusOr<std::string> PictureFormat(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  for (std::string_view known : {".svg", ".png", ".pdf"}) {
    if (ending == known) return ending.substr(1);
  }
  if (ending.empty() || ending == ".dot" || ending == ".gv") return std::string();
  return absl::InvalidArgumentError(
      StrCat(path, ": no picture ends in ", ending, "; there are .svg, .png, .pdf and .dot"));
}

// Graphviz makes the picture.
absl::Status WritePicture(const std::string& path, const std::string& picture_format,
                          const std::string& dot) {
  const std::string source = path + ".dot";
  ASSAY_RETURN_IF_ERROR(WriteFile(source, dot));
  std::string program = "dot", format = "-T" + picture_format, out = "-o" + path, in = source;
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
  ASSAY_ASSIGN_OR_RETURN(const std::string format, PictureFormat(options.output));
  ASSAY_RETURN_IF_ERROR(format.empty() ? WriteFile(options.output, dot)
                                       : WritePicture(options.output, format, dot));
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
