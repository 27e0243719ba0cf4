// Programs of other commits of the repository in the current folder: each is built once, in a
// worktree of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct CommitBuilds {
  std::string cache;  // a folder: the worktree, its build folder and a program per commit
  // Run by sh in the worktree of the commit; it leaves the program at $PROGRAM. "": CMake and
  // Ninja, by way of ccache where there is one.
  std::string command;
  std::function<void(const std::string&)> tell = nullptr;  // optional: takes what is being done
};

// The 40 digits of a commit. NotFound: this folder's repository has none of that name.
absl::StatusOr<std::string> CommitNamed(const std::string& name);

// The commits between two, both included, along first parents, oldest first, as 40 digits.
// Errors: `good` is no ancestor of `bad` on that line; one of them is no commit.
absl::StatusOr<std::vector<std::string>> CommitsBetween(const std::string& good,
                                                        const std::string& bad);

// The path of the commit's program, which is built unless it was before. Unavailable: it cannot be
// built; the message ends with what the build said last.
absl::StatusOr<std::string> ProgramOfCommit(const std::string& name, const CommitBuilds& builds);

}  // namespace assay
