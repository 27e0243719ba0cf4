// One page about what just happened: opens from disk, needs nothing else, light or dark, readable
// on paper.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/store.h"

namespace assay {

struct PageOptions {
  // Folder the page will lie in: links to bug pages are made relative to it.
  std::string folder;
  std::string title = "Assay";
};

// `runs` newest first, as Store::Latest gives them. The page shows what is known of each kind of
// run (latest.h) and lists all at the end.
std::string RenderPage(const std::vector<RunRow>& runs, const PageOptions& options);

// Writes FOLDER/index.html; returns its path.
absl::StatusOr<std::string> WritePage(const std::vector<RunRow>& runs, const PageOptions& options);

}  // namespace assay
