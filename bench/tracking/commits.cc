// A worktree that goes from commit to commit, so that each build takes over what did not change.
#include "bench/tracking/commits.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "absl/strings/str_format.h"
#include "bench/tracking/side.h"
#include "reports/store.h"
#include "spec/base/clock.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double kBuildSeconds = 4 * 3600.0;

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

constexpr char kUsualBuild[] =
    "launcher=; command -v ccache >/dev/null && launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache\n"
    "cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_TESTS=OFF $launcher "
    ">/dev/null\n"
    "ninja -C build assay >&2\n"
    "cp build/bin/assay \"$PROGRAM\"\n";

// Takes the worktree to the commit and builds there. A program appears under its name only when it
// is whole.
std::string ScriptOf(const std::string& commit, const std::string& tree, const std::string& program,
                     const std::string& command) {
  return StrCat("set -e\nif [ -e ", Quoted(tree), "/.git ]; then git -C ", Quoted(tree),
                " checkout -q --detach --force ", commit,
                " >&2; else git worktree add -q -f --detach ", Quoted(tree), " ", commit,
                " >&2; fi\ncd ", Quoted(tree), "\nPROGRAM=", Quoted(program + ".new"),
                "\nexport PROGRAM\n", command.empty() ? kUsualBuild : command + "\n",
                "chmod +x \"$PROGRAM\"\nmv \"$PROGRAM\" ", Quoted(program), "\n");
}

}  // namespace

absl::StatusOr<std::string> CommitNamed(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(
      const Ran which,
      RunCommand({"git", "rev-parse", "--verify", "--quiet", StrCat(name, "^{commit}")}, 30));
  std::string commit = which.out.substr(0, which.out.find('\n'));
  if (which.status == 0 && commit.size() >= 40) return commit;
  return absl::NotFoundError(StrCat("'", name, "' is no commit of this folder's repository"));
}

absl::StatusOr<std::vector<std::string>> CommitsBetween(const std::string& good,
                                                        const std::string& bad) {
  ASSAY_ASSIGN_OR_RETURN(const std::string first, CommitNamed(good));
  ASSAY_ASSIGN_OR_RETURN(const std::string last, CommitNamed(bad));
  ASSAY_ASSIGN_OR_RETURN(const Ran ran,
                         RunCommand({"git", "rev-list", "--reverse", "--first-parent",
                                     "--ancestry-path", StrCat(first, "..", last)},
                                    60));
  std::vector<std::string> commits = {first};
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) commits.push_back(line);
  if (ran.status != 0 || (commits.size() == 1 && first != last)) {
    return absl::InvalidArgumentError(StrCat("no commits lead from ", good, " to ", bad,
                                             "; the first has to be an ancestor of the second ",
                                             ran.err));
  }
  return commits;
}

absl::StatusOr<std::string> ProgramOfCommit(const std::string& name, const CommitBuilds& builds) {
  ASSAY_ASSIGN_OR_RETURN(const std::string commit, CommitNamed(name));
  ASSAY_RETURN_IF_ERROR(MakeFolder(builds.cache));
  const std::string at = fs::absolute(builds.cache).string();
  const std::string variant =
      builds.command.empty() ? "" : StrCat("-", HashOfContent(builds.command).substr(0, 8));
  const std::string program = StrCat(at, "/commit-", commit, variant);
  if (std::error_code error; fs::exists(program, error)) return program;
  if (builds.tell) builds.tell(StrCat("building ", commit.substr(0, 12)));
  const double start = Now();
  ASSAY_ASSIGN_OR_RETURN(
      const Ran built,
      RunCommand({"/bin/sh", "-c", ScriptOf(commit, at + "/tree", program, builds.command)},
                 kBuildSeconds));
  const std::string seconds = absl::StrFormat("%.1f s", Now() - start);
  if (built.status != 0) {
    const std::string said = built.err + built.out;
    return absl::UnavailableError(StrCat(
        "commit ", commit.substr(0, 12), " cannot be built (status ", built.status, " after ",
        seconds, "): ", said.substr(said.size() - std::min<size_t>(said.size(), 600))));
  }
  if (builds.tell) builds.tell(StrCat("built ", commit.substr(0, 12), " in ", seconds));
  return program;
}

}  // namespace assay
