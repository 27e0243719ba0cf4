// A row per library.
#include "optimized/gpu/driver/libraries/device_libraries.h"

#include <utility>

#include "optimized/gpu/driver/libraries/cublas.h"
#include "optimized/gpu/driver/libraries/cudnn.h"
#include "optimized/gpu/driver/libraries/cusolver.h"

namespace assay::gpu {
namespace {

using Loader = absl::StatusOr<std::unique_ptr<DeviceLibrary>> (*)(const std::string& library);

absl::StatusOr<std::unique_ptr<DeviceLibrary>> LoadCublasLt(const std::string& library) {
  absl::StatusOr<std::unique_ptr<CublasLt>> made = CublasLt::Load(library);
  if (!made.ok()) return made.status();
  return *std::move(made);
}

constexpr Loader kLoaders[] = {LoadCublasLt, LoadCudnn, LoadCusolver, LoadCufft};

}  // namespace

DeviceLibraries DeviceLibraries::Load() {
  DeviceLibraries all;
  for (const Loader loader : kLoaders) {
    absl::StatusOr<std::unique_ptr<DeviceLibrary>> made = loader("");
    if (made.ok()) {
      all.libraries_.push_back(*std::move(made));
    } else {
      all.missing_.emplace_back(made.status().message());
    }
  }
  return all;
}

std::vector<std::string> DeviceLibraries::names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<DeviceLibrary>& library : libraries_)
    names.emplace_back(library->name());
  return names;
}

DeviceLibrary* DeviceLibraries::Find(const Instruction& instruction) const {
  for (const std::unique_ptr<DeviceLibrary>& library : libraries_)
    if (library->Takes(instruction)) return library.get();
  return nullptr;
}

}  // namespace assay::gpu
