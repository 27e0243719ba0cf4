// The conformance matrix: every pattern of every op, on every element type that it takes, with
// sizes of every style, in every mode. A cell is a program and inputs, and a function of its name
// alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/generator/generate.h"
#include "fuzz/matrix/modes.h"

namespace assay {

enum class MatrixTier : uint8_t {
  kSmoke,  // one cell of every pattern and type
  kCi,     // several styles of sizes, and one mode besides
  kFull,   // all
};
absl::StatusOr<MatrixTier> MatrixTierOf(std::string_view word);  // "smoke", "ci", "full"

// The element types of the matrix in the order of its columns.
absl::Span<const ElementType> MatrixTypes();

struct MatrixCell {
  PatternRequest pattern;
  MatrixMode mode = MatrixMode::kArguments;

  Opcode opcode() const;
  // "dot-general/bf16/small/ordinary/loop": pattern, type, sizes, values, mode.
  std::string Name() const;
};

// The cells of a tier in a fixed order, those of shard `index` of `count`. Patterns that do not
// apply to a type on none of eight seeds have no cells there. Every cell of a smaller tier is in
// the larger ones.
std::vector<MatrixCell> MatrixCells(MatrixTier tier, int64_t index = 0, int64_t count = 1);

// nullopt where the mode is not for that program. What comes out verifies.
std::optional<Case> BuildCell(const MatrixCell& cell);

}  // namespace assay
