// Reading and writing whole files through the system's own calls, whose error numbers say what is
// wrong.
#include "spec/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  // Whoever takes it closes it.
  int Release() { return std::exchange(number_, -1); }
  // The error number of closing, 0 if there is none. Some file systems report a full disk only
  // here.
  int Close() {
    const int status = close(number_);
    number_ = -1;
    return status == 0 ? 0 : errno;
  }

 private:
  int number_;
};

absl::Status NotRegular(const std::string& path, const struct stat& info) {
  const char* what = S_ISDIR(info.st_mode)    ? "is a folder; name a file in it"
                     : S_ISFIFO(info.st_mode) ? "is a pipe; write what it gives into a file first"
                                              : "is a device or socket, not a file";
  return absl::InvalidArgumentError(StrCat(path, ": ", what));
}

absl::Status WriteAll(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(path, "cannot be written", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FileError(const std::string& path, std::string_view what, int error) {
  const std::string text = StrCat(path, ": ", what, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FileError(path, "cannot be made", error.value());
  return absl::OkStatus();
}

absl::StatusOr<int> OpenForAppending(const std::string& path, bool keeps) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | (keeps ? 0 : O_TRUNC);
  Descriptor file(open(path.c_str(), flags, 0666));
  const int error = errno;
  struct stat info;
  const bool is_there = stat(path.c_str(), &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) return NotRegular(path, info);
  if (file.number() < 0) return FileError(path, "cannot be opened", error);
  return file.Release();
}

absl::Status AppendTo(int file, const std::string& path, std::string_view bytes) {
  return WriteAll(file, path, bytes);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t byte_limit) {
  // Opening a pipe would wait for its writer without O_NONBLOCK.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return FileError(path, "cannot be opened", errno);
  struct stat info;
  if (fstat(file.number(), &info) != 0) return FileError(path, "cannot be looked at", errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path, info);
  const int64_t size = info.st_size;
  if (size > byte_limit) {
    return absl::ResourceExhaustedError(
        StrCat(path, ": has ", size, " bytes; the limit is ", byte_limit));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  int64_t have = 0;
  while (have < size) {
    const ssize_t got = read(file.number(), bytes.data() + have, static_cast<size_t>(size - have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path, "cannot be read", errno);
    if (got == 0) return absl::DataLossError(StrCat(path, ": became shorter while it was read"));
    have += got;
  }
  return bytes;
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return NotRegular(path, info);
  // A terminal or a pipe that the user names cannot be replaced by renaming.
  const bool in_place = exists && !S_ISREG(info.st_mode);
  const std::string target = in_place ? path : StrCat(path, ".", getpid(), ".part");
  // Opening a pipe that nobody reads would wait for a reader without O_NONBLOCK.
  const int nonblocking = in_place ? O_NONBLOCK : 0;
  Descriptor file(
      open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | nonblocking, 0666));
  if (file.number() < 0 && errno == ENXIO) {
    return absl::InvalidArgumentError(StrCat(path, ": is a pipe or socket that nobody reads"));
  }
  if (file.number() < 0) return FileError(path, "cannot be written", errno);
  if (in_place) fcntl(file.number(), F_SETFL, fcntl(file.number(), F_GETFL) & ~O_NONBLOCK);
  absl::Status status = WriteAll(file.number(), path, bytes);
  if (const int error = file.Close(); status.ok() && error != 0) {
    status = FileError(path, "cannot be written", error);
  }
  if (in_place) return status;
  if (status.ok() && rename(target.c_str(), path.c_str()) != 0) {
    status = FileError(path, "cannot be written", errno);
  }
  if (!status.ok()) unlink(target.c_str());
  return status;
}

}  // namespace assay
