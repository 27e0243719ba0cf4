// Zip directories and members, checked against the size of the file before anything is read.
#include "spec/types/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
// Deflate cannot do better than this; a claim beyond it is a lie.
constexpr uint64_t kMostExpansion = 1040;

absl::Status BrokenArchive(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("not a readable zip archive: ", what));
}

uint32_t Load(std::string_view bytes, size_t at, int width) {
  uint32_t value = 0;
  for (int i = 0; i < width; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  }
  return value;
}

void Store(std::string& out, uint32_t value, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

uint32_t Checksum(std::string_view content) {
  uLong crc = crc32(0, nullptr, 0);
  // zlib counts in 32 bits.
  constexpr size_t kChunk = size_t{1} << 30;
  for (size_t at = 0; at < content.size(); at += kChunk) {
    std::string_view chunk = content.substr(at, kChunk);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
  }
  return static_cast<uint32_t>(crc);
}

// One record of the central directory.
struct Entry {
  std::string_view name;
  uint32_t method, checksum, packed_size, size, local_offset;
};

absl::StatusOr<size_t> FindEnd(std::string_view bytes) {
  if (bytes.size() < kEndSize) return BrokenArchive("shorter than an empty archive");
  size_t last = bytes.size() - kEndSize;
  size_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (Load(bytes, at, 4) == kEndMagic &&
        Load(bytes, at + 20, 2) == bytes.size() - at - kEndSize) {
      return at;
    }
  }
  return BrokenArchive("no end record");
}

absl::StatusOr<std::vector<Entry>> ReadDirectory(std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(const size_t end, FindEnd(bytes));
  size_t count = Load(bytes, end + 10, 2);
  size_t at = Load(bytes, end + 16, 4);
  std::vector<Entry> entries;
  for (size_t i = 0; i < count; ++i) {
    if (at > end || end - at < kCentralSize || Load(bytes, at, 4) != kCentralMagic) {
      return BrokenArchive("the directory is cut");
    }
    size_t name_size = Load(bytes, at + 28, 2);
    size_t rest = name_size + Load(bytes, at + 30, 2) + Load(bytes, at + 32, 2);
    if (end - at - kCentralSize < rest) return BrokenArchive("the directory is cut");
    Entry entry{bytes.substr(at + kCentralSize, name_size),
                Load(bytes, at + 10, 2),
                Load(bytes, at + 16, 4),
                Load(bytes, at + 20, 4),
                Load(bytes, at + 24, 4),
                Load(bytes, at + 42, 4)};
    if ((Load(bytes, at + 8, 2) & kEncrypted) != 0) return BrokenArchive("a member is encrypted");
    if (entry.size == 0xFFFFFFFF || entry.packed_size == 0xFFFFFFFF) {
      return BrokenArchive("a member of 4 GiB or more");
    }
    entries.push_back(entry);
    at += kCentralSize + rest;
  }
  return entries;
}

// The bytes of a member as they lie in the archive.
absl::StatusOr<std::string_view> PackedBytes(std::string_view bytes, const Entry& entry) {
  size_t at = entry.local_offset;
  if (at > bytes.size() || bytes.size() - at < kLocalSize || Load(bytes, at, 4) != kLocalMagic) {
    return BrokenArchive(StrCat("member ", entry.name, " lies outside"));
  }
  size_t data = at + kLocalSize + Load(bytes, at + 26, 2) + Load(bytes, at + 28, 2);
  if (data > bytes.size() || bytes.size() - data < entry.packed_size) {
    return BrokenArchive(StrCat("member ", entry.name, " is cut"));
  }
  return bytes.substr(data, entry.packed_size);
}

absl::StatusOr<std::string> Inflate(std::string_view packed, const Entry& entry) {
  if (entry.size > packed.size() * kMostExpansion) {
    return BrokenArchive(StrCat("member ", entry.name, " claims more than deflate can give"));
  }
  std::string content(entry.size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return absl::InternalError("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  int result = inflate(&stream, Z_FINISH);
  bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) return BrokenArchive(StrCat("member ", entry.name, " does not inflate to its size"));
  return content;
}

absl::StatusOr<std::string> Content(std::string_view bytes, const Entry& entry) {
  ASSAY_ASSIGN_OR_RETURN(const std::string_view packed, PackedBytes(bytes, entry));
  std::string content;
  if (entry.method == kStored) {
    if (entry.size != entry.packed_size) {
      return BrokenArchive(StrCat("stored member ", entry.name, " has two sizes"));
    }
    content = std::string(packed);
  } else if (entry.method == kDeflated) {
    ASSAY_ASSIGN_OR_RETURN(content, Inflate(packed, entry));
  } else {
    return BrokenArchive(StrCat("member ", entry.name, " is packed by method ", entry.method,
                                "; only stored (0) and deflated (8) are read"));
  }
  if (Checksum(content) != entry.checksum) {
    return BrokenArchive(StrCat("checksum of member ", entry.name, " is wrong"));
  }
  return content;
}

}  // namespace

absl::StatusOr<std::vector<ZipMember>> ParseZip(std::string_view bytes, int64_t byte_limit,
                                                const ZipAdmission& admit) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadDirectory(bytes));
  int64_t total = 0;
  // Members that share their bytes would multiply the archive's size.
  uint64_t packed_total = 0;
  for (const Entry& entry : entries) {
    if (admit != nullptr) ASSAY_RETURN_IF_ERROR(admit(entry.name, entry.size));
    total += entry.size;
    packed_total += entry.packed_size;
  }
  if (packed_total > bytes.size()) return BrokenArchive("members overlap");
  if (total > byte_limit) {
    return absl::ResourceExhaustedError(StrCat("the archive's members take ", total,
                                               " bytes, more than the limit of ", byte_limit));
  }
  std::vector<ZipMember> members;
  members.reserve(entries.size());
  for (const Entry& entry : entries) {
    ASSAY_ASSIGN_OR_RETURN(std::string content, Content(bytes, entry));
    members.push_back({std::string(entry.name), std::move(content)});
  }
  return members;
}

absl::StatusOr<std::string> BuildZip(const std::vector<ZipMember>& members) {
  constexpr size_t kMost = 0xFFFFFFFE;
  if (members.size() > 0xFFFE)
    return absl::InvalidArgumentError("too many members for a zip archive");
  std::string out, directory;
  for (const ZipMember& member : members) {
    if (member.content.size() > kMost - out.size() || member.name.size() > 0xFFFF) {
      return absl::ResourceExhaustedError("the zip archive would pass 4 GiB");
    }
    uint32_t offset = static_cast<uint32_t>(out.size());
    // Version needed, flags, method, time, date (1980-01-01), checksum, sizes, name, extra.
    std::string common;
    Store(common, 20, 2);
    Store(common, 0, 2);
    Store(common, kStored, 2);
    Store(common, 0, 2);
    Store(common, 0x21, 2);
    Store(common, Checksum(member.content), 4);
    Store(common, static_cast<uint32_t>(member.content.size()), 4);
    Store(common, static_cast<uint32_t>(member.content.size()), 4);
    Store(common, static_cast<uint32_t>(member.name.size()), 2);
    Store(common, 0, 2);
    Store(out, kLocalMagic, 4);
    out += common;
    out += member.name;
    out += member.content;
    Store(directory, kCentralMagic, 4);
    Store(directory, 20, 2);  // version made by
    directory += common;
    Store(directory, 0, 2);  // comment
    Store(directory, 0, 2);  // disk
    Store(directory, 0, 2);  // internal attributes
    Store(directory, 0, 4);  // external attributes
    Store(directory, offset, 4);
    directory += member.name;
  }
  size_t start = out.size();
  if (start > kMost) return absl::ResourceExhaustedError("the zip archive would pass 4 GiB");
  out += directory;
  Store(out, kEndMagic, 4);
  Store(out, 0, 4);
  Store(out, static_cast<uint32_t>(members.size()), 2);
  Store(out, static_cast<uint32_t>(members.size()), 2);
  Store(out, static_cast<uint32_t>(directory.size()), 4);
  Store(out, static_cast<uint32_t>(start), 4);
  Store(out, 0, 2);
  return out;
}

}  // namespace assay
