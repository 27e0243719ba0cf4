// Finds out what a file holds, reads it, and gives errors of the verifier their place in the text.
#include "spec/files/load_module.h"

#include <optional>
#include <string_view>

#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/module_parts.h"
#include "spec/files/other_files.h"
#include "spec/files/text_proto.h"
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

// The content of the file, unpacked.
absl::StatusOr<std::string> ReadContent(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  if (!IsGzip(content)) return content;
  absl::StatusOr<std::string> unpacked = Gunzip(content);
  if (unpacked.ok()) return unpacked;
  return absl::Status(unpacked.status().code(),
                      StrCat(path, ": ", ToStd(unpacked.status().message())));
}

struct Source {
  std::string file;     // the path without the name of a part
  std::string content;  // of the file or of the part
  std::string message;  // the text of a message of which `content` is the binary form
  bool binary = false;
};

absl::StatusOr<Source> ReadSource(const std::string& path) {
  const ModulePath parts = SplitModulePath(path);
  Source source;
  source.file = parts.file;
  ASSAY_ASSIGN_OR_RETURN(source.content, ReadContent(parts.file));
  if (LooksLikeTextProto(source.content)) {
    absl::StatusOr<std::string> message = BinaryOfTextProto(source.content);
    if (!message.ok()) {
      const std::string other = WhatElseItIs(parts.file, source.content);
      if (!other.empty()) return absl::InvalidArgumentError(StrCat(parts.file, ": ", other));
      return absl::Status(message.status().code(),
                          StrCat(parts.file, ":", ToStd(message.status().message())));
    }
    source.message = std::move(source.content);
    source.content = *std::move(message);
    source.binary = true;
    return source;
  }
  source.binary = LooksBinary(source.content);
  if (source.binary) return source;
  ASSAY_ASSIGN_OR_RETURN(source.content,
                         PickPart(parts.file, std::move(source.content), parts.part));
  return source;
}

ReadOptions OptionsFor(const Source& source) {
  ReadOptions options;
  options.file_name = source.file;
  return options;
}

absl::StatusOr<std::unique_ptr<Module>> Parse(const Source& source) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      source.binary ? ReadModuleProto(source.content)
                    : ReadModule(source.content, OptionsFor(source));
  if (module.ok()) return module;
  const std::string other =
      WhatElseItIs(source.file, source.message.empty() ? source.content : source.message);
  if (!other.empty()) return absl::InvalidArgumentError(StrCat(source.file, ": ", other));
  if (!source.binary) return module.status();
  return absl::Status(module.status().code(),
                      StrCat(source.file, ": ", ToStd(module.status().message())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const Source source, ReadSource(path));
  absl::StatusOr<std::unique_ptr<Module>> module = Parse(source);
  if (!module.ok()) return module;
  absl::Status valid = Verify(**module);
  if (valid.ok()) return module;
  if (!source.binary) return Explain(source.content, OptionsFor(source), std::move(module));
  return absl::Status(valid.code(), StrCat(source.file, ": ", ToStd(valid.message())));
}

absl::StatusOr<std::unique_ptr<Module>> LoadUnverifiedModule(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const Source source, ReadSource(path));
  return Parse(source);
}

}  // namespace assay
