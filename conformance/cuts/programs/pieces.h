// A program in pieces: each stretch up to a captured value is a module of its own, compiled and run
// on what the pieces before it gave. For backends that cannot give more results, and for a second
// look: what fusion across the cuts does wrong is not there.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "conformance/cuts/programs/capture_module.h"
#include "spec/backend/backend.h"

namespace assay {

// True if a piece may end at the point: it is in the entry, outside loops and branches.
bool CanEndPiece(const FlatModule& flat, const CapturePoint& point);

// Runs the program piece by piece.
class PieceRun {
 public:
  // All outlive it.
  PieceRun(const FlatModule& flat, const std::vector<const Literal*>& arguments, Backend& backend,
           const CompileOptions& options)
      : flat_(flat), arguments_(arguments), backend_(backend), options_(options) {}

  // The captured arrays of all `points` (which CanEndPiece), and the leaves of the results.
  absl::StatusOr<std::vector<Capture>> Run(absl::Span<const CapturePoint> points,
                                           std::vector<Literal>& results);
  int64_t compilations() const { return compilations_; }

 private:
  // The leaves of `target`, from what is known.
  absl::StatusOr<std::vector<Literal>> RunPiece(const Instruction& target);

  const FlatModule& flat_;
  const std::vector<const Literal*>& arguments_;
  Backend& backend_;
  const CompileOptions& options_;
  absl::flat_hash_map<const Instruction*, std::vector<Literal>> known_;  // leaves
  int64_t compilations_ = 0;
};

}  // namespace assay
