// Times and sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace assay {

// Seconds of "30s", "500ms", "10m", "1.5h" or a bare number of seconds; more than 0 and no more
// than a year.
absl::StatusOr<double> ParseDuration(const std::string& text);

// Bytes of "8G", "512M", "64K", "1T" (powers of 1024; "8GB" and "8GiB" are the same) or a bare
// number of bytes; at least 1 and less than 2^62.
absl::StatusOr<int64_t> ParseByteCount(const std::string& text);

}  // namespace assay
