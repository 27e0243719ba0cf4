// The little of the zip format that NumPy archives use: stored and deflated members, no encryption,
// no splitting, no zip64 (4 GiB). Hostile until read. Document: PKWARE APPNOTE 4.3.
#pragma once

#include <cstdint>
#include <functional>
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

// Says before a member is unpacked whether a content of `size` bytes is wanted under that name.
using ZipAdmission = std::function<absl::Status(std::string_view name, int64_t size)>;

// All members in the archive's order, their checksums verified. The sum of the contents stays below
// `byte_limit`; nothing is allocated before sizes were checked against the archive's own size and
// `admit`, if there is one, has taken every member.
absl::StatusOr<std::vector<ZipMember>> ParseZip(std::string_view bytes, int64_t byte_limit,
                                                const ZipAdmission& admit = nullptr);

// An archive of stored members, the same bytes for the same members on every run.
absl::StatusOr<std::string> BuildZip(const std::vector<ZipMember>& members);

}  // namespace assay
