#include <fstream>
#include <optional>
#include <sstream>

#include "spec/base/strings.h"
#include "spec/ops/verifier.h"
#include "spec/proto/gzip.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"

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

// What the verifier says about a text, with places. The text is read a second time for them, so
// that good modules do not pay.
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

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(StrCat(path, ": cannot be opened; give the path of an HLO file"));
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return absl::DataLossError(StrCat(path, ": cannot be read to its end"));
  std::string content = text.str();
  if (IsGzip(content)) {
    absl::StatusOr<std::string> unpacked = Gunzip(content);
    if (!unpacked.ok()) {
      return absl::Status(unpacked.status().code(),
                          StrCat(path, ": ", ToStd(unpacked.status().message())));
    }
    content = *std::move(unpacked);
  }
  ReadOptions options;
  options.file_name = path;
  const bool binary = LooksBinary(content);
  absl::StatusOr<std::unique_ptr<Module>> module =
      binary ? ReadModuleProto(content) : ReadModule(content, options);
  if (!module.ok()) {
    if (!binary) return module.status();
    return absl::Status(module.status().code(),
                        StrCat(path, ": ", ToStd(module.status().message())));
  }
  absl::Status valid = Verify(**module);
  if (valid.ok()) return module;
  if (!binary) return Explain(content, options, std::move(module));
  return absl::Status(valid.code(), StrCat(path, ": ", ToStd(valid.message())));
}

}  // namespace assay
