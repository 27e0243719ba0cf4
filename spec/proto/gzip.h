// Files that gzip made (NAME.hlo.pb.gz of dumps).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace assay {

bool IsGzip(std::string_view bytes);

// More than any module that was seen; a few kilobytes can claim to be terabytes.
inline constexpr int64_t kMostUnpackedBytes = int64_t{1} << 29;

// The unpacked bytes of all members one after the other; an error where they are damaged or cut
// off, or are more than `limit`.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, int64_t limit = kMostUnpackedBytes);

}  // namespace assay
