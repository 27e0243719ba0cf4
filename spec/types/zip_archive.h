// The little of the zip format that NumPy archives use: stored and deflated members, no encryption,
// no splitting, no zip64 (4 GiB). Hostile until read. Document: PKWARE APPNOTE 4.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

struct ZipMember {
  std::string name;
  std::string content;
};

// All members in the archive's order, their checksums verified. The sum of the contents stays below
// `byte_limit`; nothing is allocated before sizes were checked against the archive's own size.
absl::StatusOr<std::vector<ZipMember>> ParseZip(std::string_view bytes, int64_t byte_limit);

// An archive of stored members, the same bytes for the same members on every run.
absl::StatusOr<std::string> BuildZip(const std::vector<ZipMember>& members);

}  // namespace assay
