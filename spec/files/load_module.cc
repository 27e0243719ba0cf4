// Finds out what a file holds, reads it, and gives errors of the verifier their place in the text.
#include "spec/files/load_module.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/gzip.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

std::optional<size_t> PlaceOf(const VerifyError& error, const TextPlaces& places) {
  if (error.instruction != nullptr) {
    auto at = places.instructions.find(error.instruction);
    if (at != places.instructions.end()) return at->second;
  }
  const Computation* computation =
      error.instruction == nullptr ? error.computation : error.instruction->parent();
  if (auto at = places.computations.find(computation); at != places.computations.end()) {
    return at->second;
  }
  auto at = places.header_attributes.find(error.header_attribute);
  if (at != places.header_attributes.end()) return at->second;
  return std::nullopt;
}

// The errors of the verifier in a text, with their places. The text is read a second time for
// them, so that good modules do not pay.
absl::Status Explain(const std::string& text, ReadOptions options,
                     absl::StatusOr<std::unique_ptr<Module>> module) {
  module->reset();
  TextPlaces places;
  options.places = &places;
  module = ReadModule(text, options);
  if (!module.ok()) return module.status();
  std::vector<Diagnostic> diagnostics;
  for (VerifyError& error : FindErrors(**module)) {
    std::optional<size_t> place = PlaceOf(error, places);
    if (place.has_value()) {
      diagnostics.push_back(
          DiagnosticAt(text, *place, options.file_name, std::move(error.message)));
      continue;
    }
    Diagnostic& diagnostic = diagnostics.emplace_back();
    diagnostic.file = options.file_name;
    diagnostic.message = std::move(error.message);
  }
  return ToStatus(diagnostics);
}

// True for MLIR in its text or as bytecode, which frameworks lower to first: it is what users give
// most often instead of HLO. Asked only of files that could not be read.
bool LooksLikeMlir(std::string_view content) {
  if (content.substr(0, 4) == "ML\xEFR") return true;
  size_t at = 0;
  while (at < content.size()) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string_view line = content.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    at = end + 1;
    if (line.empty() || line.substr(0, 2) == "//") continue;
    for (std::string_view start : {"module", "func.func", "builtin.module", "\"builtin.", "#"}) {
      const std::string_view next = line.substr(std::min(start.size(), line.size()), 1);
      const bool is_word =
          start == "#" || next.empty() || next.find_first_of(" {\t\"") == 0 || start.back() == '.';
      if (line.substr(0, start.size()) == start && is_word) return true;
    }
    return false;
  }
  return false;
}

absl::Status NotHlo(const std::string& path) {
  return absl::InvalidArgumentError(StrCat(
      path,
      ": this is MLIR (StableHLO), not HLO. Lower it: in JAX by jax.jit(f).lower(...)"
      ".compiler_ir('hlo').as_serialized_hlo_module_proto(), from a file by python -c \"import "
      "sys; "
      "from jaxlib import _jax; sys.stdout.buffer.write(_jax.mlir.mlir_module_to_xla_computation("
      "open(sys.argv[1], 'rb').read(), False, False).as_serialized_hlo_module_proto())\" ",
      path, " > NAME.hlo.pb"));
}

// The content of the file, unpacked.
absl::StatusOr<std::string> ReadContent(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  if (!IsGzip(content)) return content;
  absl::StatusOr<std::string> unpacked = Gunzip(content);
  if (unpacked.ok()) return unpacked;
  return absl::Status(unpacked.status().code(),
                      StrCat(path, ": ", ToStd(unpacked.status().message())));
}

absl::StatusOr<std::unique_ptr<Module>> Parse(const std::string& path, const std::string& content,
                                              const ReadOptions& options) {
  const bool binary = LooksBinary(content);
  absl::StatusOr<std::unique_ptr<Module>> module =
      binary ? ReadModuleProto(content) : ReadModule(content, options);
  if (module.ok()) return module;
  if (LooksLikeMlir(content)) return NotHlo(path);
  if (!binary) return module.status();
  return absl::Status(module.status().code(), StrCat(path, ": ", ToStd(module.status().message())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string content, ReadContent(path));
  ReadOptions options;
  options.file_name = path;
  absl::StatusOr<std::unique_ptr<Module>> module = Parse(path, content, options);
  if (!module.ok()) return module;
  absl::Status valid = Verify(**module);
  if (valid.ok()) return module;
  if (!LooksBinary(content)) return Explain(content, options, std::move(module));
  return absl::Status(valid.code(), StrCat(path, ": ", ToStd(valid.message())));
}

absl::StatusOr<std::unique_ptr<Module>> LoadUnverifiedModule(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string content, ReadContent(path));
  ReadOptions options;
  options.file_name = path;
  return Parse(path, content, options);
}

}  // namespace assay
