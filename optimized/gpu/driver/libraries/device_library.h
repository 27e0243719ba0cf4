// One of NVIDIA's libraries on a GPU: which instructions it takes, and the calls that carry one
// out. Errors are values with what was attempted; nothing that a call made is left behind,
// whichever of its parts fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "spec/ir/instruction.h"

namespace assay::gpu {

// The arrays of a call, on the device, and where it is put.
struct LibraryArrays {
  absl::Span<const uint64_t> operands;  // an address each
  absl::Span<const uint64_t> results;   // by leaf
  CudaHandle stream = nullptr;
  // Copies on the device, on the stream.
  std::function<absl::Status(uint64_t to, uint64_t from, uint64_t bytes)> copy;
  // Memory of the device that lives as long as calls for this instruction do.
  std::function<absl::StatusOr<uint64_t>(uint64_t bytes)> workspace;
};

class DeviceLibrary {
 public:
  virtual ~DeviceLibrary() = default;
  virtual std::string_view name() const = 0;
  virtual bool Takes(const Instruction& instruction) const = 0;
  // Puts the work on the stream. Unimplemented: the library refuses it after all, and nothing was
  // put there. Takes(instruction).
  virtual absl::Status Run(const Instruction& instruction, const LibraryArrays& arrays) = 0;
};

// A library is found by a name that is given, by the variable of the environment, or by its usual
// names.
struct LibraryPlace {
  const char* name;      // "cuDNN"
  const char* variable;  // "ASSAY_LIBCUDNN"
  std::vector<std::string> files;
  const char* without;  // "convolutions run by kernels of our own instead"
  const char* package;  // that brings it
};
// Unavailable, with what is missing and how to get it. The library stays loaded: it has threads of
// its own.
absl::StatusOr<void*> OpenLibrary(const LibraryPlace& place, const std::string& given);
absl::Status LacksCall(const LibraryPlace& place, std::string_view call);

// The error of a status of a library's.
struct LibraryStatus {
  int value;
  const char* text;
};
absl::Status LibraryError(const LibraryPlace& place, std::string_view what, int status,
                          absl::Span<const LibraryStatus> known, int out_of_memory,
                          int not_supported);

}  // namespace assay::gpu
