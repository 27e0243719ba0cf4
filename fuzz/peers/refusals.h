// The answers of a peer to a probe, kept in the user's cache folder: a release answers the same
// tomorrow.
#pragma once

#include <optional>
#include <string>

#include "fuzz/generator/program.h"

namespace assay {

// $XDG_CACHE_HOME/assay, or ~/.cache/assay.
std::string UserCacheFolder();

// The answers of `options` that a probe gives, as text: what is excluded and refused.
std::string EncodeRefusals(const std::string& key, const GeneratorOptions& options);
// Puts answers for the same key into `options`. False, and no change, where the text is anything
// else: it comes from a file that anybody may have written.
bool DecodeRefusals(const std::string& text, const std::string& key, GeneratorOptions& options);

// The file with the answers for `key`.
std::string RefusalsFile(const std::string& key);
// The answers that were kept for `key`, which names the backend, its release and the questions.
bool ReadRefusals(const std::string& key, GeneratorOptions& options);
// A cache that cannot be written is done without.
void KeepRefusals(const std::string& key, const GeneratorOptions& options);

}  // namespace assay
