// docs/accuracy.md: the columns of several backends side by side, and JAX's published figures
// beside what was measured.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/accuracy/sweep.h"

namespace assay::accuracy {

// All pieces of one subject on one backend, joined.
struct Measured {
  PieceResult result;  // its errors are those of all pieces
  int64_t pieces = 0;  // that are there, of result.pieces
};

// Files of results, a line each; what is there twice counts once. Errors name file and line.
absl::StatusOr<std::vector<PieceResult>> ReadResults(const std::vector<std::string>& files);
// In the order of the first piece of each.
std::vector<Measured> Join(const std::vector<PieceResult>& pieces);
// Markdown.
absl::StatusOr<std::string> AccuracyPage(const std::vector<Measured>& measured);

// JAX's figure for XLA on x86-64.
struct Published {
  std::string function, type;
  double low = 0, high = 0;  // ulps; two where machines differ
};
absl::StatusOr<std::vector<Published>> PublishedByJax();

}  // namespace assay::accuracy
