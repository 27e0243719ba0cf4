// An entry is a line with the size and the hash of what follows, then the cubin.
#include "optimized/gpu/driver/image_cache.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "assay-cubin-1";

std::string HashOf(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (const std::string_view part : parts) {
    hash.update(llvm::StringRef(StrCat(part.size(), ":")));
    hash.update(llvm::StringRef(part.data(), part.size()));
  }
  const auto bytes = hash.final();
  return llvm::toHex(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()), /*LowerCase=*/true);
}

std::string FindPtxas(const std::string& given) {
  std::vector<std::string> places;
  const auto add = [&](const char* variable, const char* behind) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != 0) places.push_back(StrCat(value, behind));
  };
  if (!given.empty()) places.push_back(given);
  if (given.empty()) {
    add("ASSAY_PTXAS", "");
    add("CUDA_HOME", "/bin/ptxas");
    places.emplace_back("/usr/local/cuda/bin/ptxas");
    const char* path = std::getenv("PATH");
    for (const absl::string_view folder :
         absl::StrSplit(absl::string_view(path == nullptr ? "" : path), ':'))
      places.push_back(std::string(folder) + "/ptxas");
  }
  for (const std::string& place : places)
    if (access(place.c_str(), X_OK) == 0 && !fs::is_directory(place)) return place;
  return "";
}

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs a program without a shell, its output and errors in a file. -1: it did not start or end.
int RunProgram(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int started =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The cubin of an entry; "": the entry is not whole.
std::string CubinOf(const std::string& entry) {
  const size_t end = entry.find('\n');
  if (end == std::string::npos) return "";
  const std::string cubin = entry.substr(end + 1);
  return entry.substr(0, end) == StrCat(kMagic, " ", cubin.size(), " ", HashOf({cubin})) ? cubin
                                                                                         : "";
}

}  // namespace

ImageCache::ImageCache(ImageCacheOptions options)
    : options_(std::move(options)), ptxas_(FindPtxas(options_.ptxas)) {
  if (ptxas_.empty()) return;
  const TemporaryFolder folder("assay-ptxas");
  const std::string said = StrCat(folder.path(), "/version");
  if (RunProgram({ptxas_, "--version"}, said) == 0) version_ = ReadWhole(said);
}

std::string ImageCache::PathOf(const std::string& ptx, std::string_view processor) const {
  return StrCat(options_.folder, "/", HashOf({ptx, processor, version_}), ".cubin");
}

absl::StatusOr<std::string> ImageCache::Assemble(const std::string& ptx,
                                                 std::string_view processor) {
  if (ptxas_.empty()) return absl::UnavailableError("there is no ptxas");
  const std::string path = PathOf(ptx, processor);
  if (!options_.folder.empty()) {
    std::string cubin = CubinOf(ReadWhole(path));
    if (!cubin.empty()) {
      ++hits_;
      std::error_code ignored;  // used last now
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
      return cubin;
    }
  }
  ++misses_;
  const TemporaryFolder folder("assay-ptxas");
  if (!folder.ok()) return absl::UnavailableError("there is no folder for ptxas to work in");
  const std::string text = StrCat(folder.path(), "/kernels.ptx"),
                    result = StrCat(folder.path(), "/kernels.cubin"),
                    said = StrCat(folder.path(), "/said");
  std::ofstream(text, std::ios::binary) << ptx;
  const int code = RunProgram({ptxas_, StrCat("-arch=", processor), "-o", result, text}, said);
  std::string cubin = ReadWhole(result);
  if (code != 0 || cubin.empty()) {
    return absl::InternalError(StrCat("ptxas ended with ", code, ": ", ReadWhole(said)));
  }
  if (!options_.folder.empty()) Keep(path, cubin);
  return cubin;
}

void ImageCache::Keep(const std::string& path, const std::string& cubin) const {
  std::error_code failed;
  fs::create_directories(options_.folder, failed);
  static std::atomic<int> number{0};
  const std::string beside = StrCat(path, ".", getpid(), ".", number++, ".part");
  {
    std::ofstream out(beside, std::ios::binary);
    out << kMagic << ' ' << cubin.size() << ' ' << HashOf({cubin}) << '\n' << cubin;
    out.close();
    if (!out.good()) {
      fs::remove(beside, failed);
      return;
    }
  }
  fs::rename(beside, path, failed);
  if (failed) fs::remove(beside, failed);
  DropOldest();
}

void ImageCache::DropOldest() const {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator file(options_.folder, failed), end; !failed && file != end;
       file.increment(failed)) {
    // Files that a killed process left half written are old at some time, and go like others.
    const fs::path extension = file->path().extension();
    if (extension != ".cubin" && extension != ".part") continue;
    Entry entry{{}, 0, file->path()};
    std::error_code gone;  // another process dropped it
    entry.used = file->last_write_time(gone);
    if (!gone) entry.bytes = file->file_size(gone);
    if (gone) continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (bytes <= options_.most_bytes) return;
    bytes -= entry.bytes;
    fs::remove(entry.path, failed);
  }
}

}  // namespace assay::gpu
