// Libraries are opened by the first of their names that is there.
#include "optimized/gpu/driver/libraries/device_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "spec/base/strings.h"

namespace assay::gpu {

namespace {
std::string Remedy(const LibraryPlace& place) {
  return StrCat("; ", place.without, ". ", place.name, " comes with ", place.package, "; ",
                place.variable, " names another library");
}
}  // namespace

absl::StatusOr<void*> OpenLibrary(const LibraryPlace& place, const std::string& given) {
  const char* named = std::getenv(place.variable);
  std::vector<std::string> files = place.files;
  if (named != nullptr && *named != 0) files = {named};
  if (!given.empty()) files = {given};
  std::string why;
  for (const std::string& file : files) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    const char* text = dlerror();
    if (why.empty()) why = text == nullptr ? file : text;
  }
  return absl::UnavailableError(StrCat("there is no ", place.name, ": ", why, Remedy(place)));
}

absl::Status LacksCall(const LibraryPlace& place, std::string_view call) {
  return absl::UnavailableError(StrCat(place.name, " has no ", call, Remedy(place)));
}

absl::Status LibraryError(const LibraryPlace& place, std::string_view what, int status,
                          absl::Span<const LibraryStatus> known, int out_of_memory,
                          int not_supported) {
  const char* text = "an unknown error";
  for (const LibraryStatus& each : known)
    if (each.value == status) text = each.text;
  const std::string message = StrCat(place.name, ": ", what, ": ", text, " (status ", status, ")");
  if (status == out_of_memory) return absl::ResourceExhaustedError(message);
  return status == not_supported ? absl::UnimplementedError(message) : absl::InternalError(message);
}

}  // namespace assay::gpu
