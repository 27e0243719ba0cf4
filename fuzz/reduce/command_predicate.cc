// Candidates as files, and the exit status of a shell.
#include "fuzz/reduce/command_predicate.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"
#include "spec/process/isolate.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

bool EndsWithZero(const std::string& command, double seconds) {
  // It ends before this process's own limit, and takes its children along.
  constexpr double kMore = 5;
  const std::string limited =
      StrCat("exec timeout -k 1 ", seconds, " sh -c '",
             absl::StrReplaceAll(command, {{"'", "'\\''"}}), "' > /dev/null 2>&1 < /dev/null");
  const Isolated run =
      RunIsolated([&limited] { return std::string(std::system(limited.c_str()) == 0 ? "y" : "n"); },
                  {.seconds = seconds + kMore, .memory_bytes = 0, .ends_on_interrupt = true});
  return run.bytes == "y";
}

}  // namespace

absl::Status WriteCase(const ReduceCase& reduce_case, const std::string& path) {
  ASSAY_RETURN_IF_ERROR(
      WriteFile(path + ".hlo", WriteModule(*reduce_case.module, WriteOptions::Long())));
  return WriteInputs(path + ".npz", reduce_case.inputs);
}

ReducePredicate MakeCommandPredicate(const std::string& command, double seconds) {
  const std::string pattern =
      command.find("{}") == std::string::npos ? StrCat(command, " {}") : command;
  return [pattern, seconds](const Module& module, const std::vector<Literal>& inputs) {
    const TemporaryFolder folder("assay-candidate");
    const std::string path = folder.path() + "/candidate";
    if (!folder.ok() || !WriteCase({module.Clone(""), inputs}, path).ok()) return false;
    return EndsWithZero(absl::StrReplaceAll(pattern, {{"{}", path + ".hlo"}}), seconds);
  };
}

}  // namespace assay
