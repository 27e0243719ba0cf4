// PTX assembled by ptxas, kept on disk under a hash of the text, the processor and the assembler's
// version. Several processes may share a folder: entries are written beside their place and
// renamed, and an entry that is not whole is none. Where there is no ptxas, the driver's own
// compiler serves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::gpu {

struct ImageCacheOptions {
  std::string folder;  // made where it is not there; "": nothing is kept
  // The oldest entries go once the folder has more.
  uint64_t most_bytes = uint64_t{256} << 20;
  // A path; "": $ASSAY_PTXAS, or that of $CUDA_HOME, of /usr/local/cuda or of the path.
  std::string ptxas;
};

class ImageCache {
 public:
  explicit ImageCache(ImageCacheOptions options);
  bool has_ptxas() const { return !ptxas_.empty(); }
  // The cubin of a text for "sm_90". Unavailable: there is no ptxas. Internal: it refused the text,
  // as its message says. A folder that cannot be written to is no error.
  absl::StatusOr<std::string> Assemble(const std::string& ptx, std::string_view processor);
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  std::string PathOf(const std::string& ptx, std::string_view processor) const;
  void Keep(const std::string& path, const std::string& cubin) const;
  void DropOldest() const;

  ImageCacheOptions options_;
  std::string ptxas_, version_;
  uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace assay::gpu
