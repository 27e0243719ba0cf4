// Has graphviz's dot draw what is not DOT.
#include "tools/assay/graphs/graph_file.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>

#include "absl/status/statusor.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

extern char** environ;

namespace assay {
namespace {

// The format that graphviz is asked for, by the ending of the file's name; "" for DOT itself.
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

}  // namespace

absl::Status CheckGraphPath(const std::string& path) { return PictureFormat(path).status(); }

absl::Status WriteGraph(const std::string& path, const std::string& dot) {
  ASSAY_ASSIGN_OR_RETURN(const std::string format, PictureFormat(path));
  return format.empty() ? WriteFile(path, dot) : WritePicture(path, format, dot);
}

}  // namespace assay
