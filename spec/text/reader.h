// Reads HLO text in all its dialects: short (JAX), long (dumps), with or without operand shapes,
// percent signs, signatures. Document: hlo-format chapters 1 to 5, 7, 8. Text is hostile until
// read: no input crashes, hangs, recurses without limit or takes memory beyond a multiple of its
// size and of the literal limit.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/ir/module.h"
#include "spec/text/diagnostic.h"

namespace assay {

// The places in the text where names stand, as byte offsets. Instructions that the text does not
// name (nested operands, expanded shorthands) are left out.
struct TextPlaces {
  absl::flat_hash_map<const Instruction*, size_t> instructions;
  absl::flat_hash_map<const Computation*, size_t> computations;
  absl::flat_hash_map<std::string, size_t> header_attributes;
};

struct ReadOptions {
  std::string file_name;     // for diagnostics
  int max_diagnostics = 10;  // stop after so many errors
  int max_nesting = 1000;    // shapes, tuple literals, nested operands, inline computations
  int64_t literal_byte_limit = int64_t{1} << 30;  // of all constants together
  TextPlaces* places = nullptr;                   // filled if given
};

// One module. The result is parsed, not verified: call Verify (spec/verifier/verifier.h) before
// anything else uses it. On failure the status holds every diagnostic; `diagnostics`, if given,
// receives them structured.
absl::StatusOr<std::unique_ptr<Module>> ReadModule(std::string_view text,
                                                   const ReadOptions& options = {},
                                                   std::vector<Diagnostic>* diagnostics = nullptr);

absl::StatusOr<Shape> ReadShape(std::string_view text);
// A literal of the given shape, in HLO text form.
absl::StatusOr<Literal> ReadLiteral(const Shape& shape, std::string_view text);
absl::StatusOr<Sharding> ReadSharding(std::string_view text);
absl::StatusOr<ReplicaGroups> ReadReplicaGroups(std::string_view text);

}  // namespace assay
