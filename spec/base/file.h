// Reading and writing whole files whose names come from a user. Only regular files are read, and
// only up to a limit, so that a device, a pipe or an endless file ends in an error and never in
// waiting or in exhausted memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay {

inline constexpr int64_t kDefaultFileLimit = int64_t{4} << 30;

// The bytes of the regular file at `path`, at most `byte_limit` of them. Every error begins with
// the path. NotFound: there is no such file, or a folder on the way is missing. PermissionDenied.
// InvalidArgument: a folder, a device, a pipe, a loop of symbolic links. ResourceExhausted: larger
// than the limit. DataLoss: it ended early or could not be read.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t byte_limit = kDefaultFileLimit);

// Makes `path` hold `bytes`. The file is complete or unchanged: it is written under another name
// and renamed. NotFound: the folder is missing. PermissionDenied. ResourceExhausted: the disk is
// full. Unavailable: anything else that the system says.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

// Makes the folder and those that it lies in, where they are missing.
absl::Status MakeFolder(const std::string& path);

// A descriptor to add to the end of the regular file at `path` with, which is made if it is not
// there and emptied unless it `keeps` what it holds. Never waits for the reader of a pipe. The
// caller closes it.
absl::StatusOr<int> OpenForAppending(const std::string& path, bool keeps);
// Writes all of it. `path` is for the words of an error.
absl::Status AppendTo(int file, const std::string& path, std::string_view bytes);

// Turns an errno of a call on `path` into one of the errors above. `what` is the attempt: "cannot
// be read".
absl::Status FileError(const std::string& path, std::string_view what, int error);

}  // namespace assay
