// All of NVIDIA's libraries that a machine has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/gpu/driver/libraries/device_library.h"

namespace assay::gpu {

class DeviceLibraries {
 public:
  // Opens all that are there; a context is current.
  static DeviceLibraries Load();
  // The library that takes the instruction; nullptr: none.
  DeviceLibrary* Find(const Instruction& instruction) const;
  bool has_any() const { return !libraries_.empty(); }
  std::vector<std::string> names() const;
  // Why each of the others is not, a line each.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  std::vector<std::unique_ptr<DeviceLibrary>> libraries_;
  std::vector<std::string> missing_;
};

}  // namespace assay::gpu
