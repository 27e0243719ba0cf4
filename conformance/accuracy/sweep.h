// Runs subjects on a backend and counts their errors, piece by piece, on several threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/accuracy/arguments.h"
#include "conformance/accuracy/errors.h"
#include "nlohmann/json_fwd.hpp"
#include "spec/backend/backend.h"

namespace assay::accuracy {

// The errors of one piece of a subject: a line of a file of results.
struct PieceResult {
  std::string backend, version;
  SubjectKind kind = SubjectKind::kReal;
  std::string name, argument, result;  // of the subject
  int64_t piece = 0, pieces = 1;
  int64_t stride = 1, samples = 0;  // where they count; else 1 and 0
  bool flushes = false;             // the backend takes subnormal numbers for zero
  double seconds = 0;               // of this piece, run and judged
  std::string refusal;              // why the backend does not run it; "": it does
  Errors errors;

  // Two results of one key are of the same piece.
  std::string Key() const;
};
nlohmann::json ToJson(const PieceResult& result);
absl::StatusOr<PieceResult> PieceFromJson(const nlohmann::json& json);

struct SweepOptions {
  SweepSize size;
  Limits limits;
  int jobs = 0;                 // 0: one per core
  int64_t part = 0, parts = 1;  // of the pieces every `parts`-th is done, from `part` on
  std::function<bool(const std::string& key)> is_done;   // left out; may be empty
  std::function<absl::Status(const PieceResult&)> take;  // one call at a time
  std::function<bool()> stop;                            // asked between pieces; may be empty
};

// `oracle` says what is right for integers; nullptr: they are left out. Errors: those of `take`.
absl::Status Sweep(const std::vector<Subject>& subjects, Backend& backend, Backend* oracle,
                   const SweepOptions& options);

}  // namespace assay::accuracy
