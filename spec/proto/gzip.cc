// Gzip in memory, with a limit for what is unpacked.
#include "spec/proto/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kGzipWindow = 16 + MAX_WBITS;  // zlib's way to say that a gzip header is there
constexpr size_t kFirstStep = size_t{1} << 16;

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

absl::StatusOr<std::string> Gunzip(std::string_view bytes, int64_t limit) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    return absl::ResourceExhaustedError("no memory to unpack gzip'd bytes");
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::string out;
  size_t used = 0, read = 0;
  for (;;) {
    if (used == out.size()) {
      if (static_cast<int64_t>(used) > limit) break;
      // One byte past the limit tells what fits from what does not.
      const size_t wanted = std::max(kFirstStep, 2 * used);
      out.resize(std::min(wanted, static_cast<size_t>(limit) + 1));
    }
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    const size_t in = std::min(bytes.size() - read, kMost),
                 room = std::min(out.size() - used, kMost);
    // zlib reads only, but takes a pointer that could write.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    used += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (read == bytes.size()) {
        if (static_cast<int64_t>(used) > limit) break;
        out.resize(used);
        return out;
      }
      if (!IsGzip(bytes.substr(read)) || inflateReset(&stream) != Z_OK) {
        return absl::DataLossError(
            StrCat("gzip'd bytes end at ", read, ", but ", bytes.size() - read, " more follow"));
      }
      continue;
    }
    if (result == Z_OK) continue;
    if (result == Z_BUF_ERROR && read < bytes.size() && used == out.size()) continue;
    return absl::DataLossError(StrCat("gzip'd bytes are ",
                                      result == Z_BUF_ERROR ? "cut off" : "damaged", " at byte ",
                                      read, "; copy the file again"));
  }
  return absl::ResourceExhaustedError(
      StrCat("gzip'd bytes hold more than ", limit,
             " bytes; unpack them with gunzip if they are a module"));
}

}  // namespace assay
