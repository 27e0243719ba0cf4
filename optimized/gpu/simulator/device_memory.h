// The memory of a simulated device: allocations at device addresses, and a shadow that knows which
// bytes were written and, within one launch, by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gpu/simulator/shadow.h"

namespace assay::gpu {

struct Allocation {
  std::string name;
  uint64_t address = 0;  // on the device
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> storage;
  std::byte* data = nullptr;  // on the host, as aligned as the address
  Shadow shadow;
};

// Addresses are never given twice and there are gaps between allocations, so that what was freed or
// missed is noticed.
class DeviceMemory {
 public:
  // `limit`: bytes that all allocations may have together. Memories with addresses of their own
  // begin at multiples of kAddresses behind the default.
  static constexpr uint64_t kFirstAddress = uint64_t{0x7f} << 40, kAddresses = uint64_t{1} << 40;
  explicit DeviceMemory(uint64_t limit = uint64_t{1} << 40, uint64_t first = kFirstAddress)
      : next_(first), limit_(limit) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // The device address of `bytes` fresh bytes, which nobody has initialised. `alignment`: a power
  // of two; at least 256 is used.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, uint64_t alignment, std::string_view name);
  absl::Status Free(uint64_t address);

  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes);
  // FailedPrecondition where a byte was never written.
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) const;
  // CopyOut of what may be there in part: fresh bytes have some value.
  absl::Status CopyOutAnyway(uint64_t address, absl::Span<std::byte> bytes) const;
  absl::Status Fill(uint64_t address, uint64_t bytes, std::byte value);
  // Within the device; bytes that were never written stay so. The two may overlap.
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes);
  // Makes bytes fresh again, as when another buffer begins to live there.
  absl::Status Forget(uint64_t address, uint64_t bytes);

  // The allocation that holds the address, or null.
  Allocation* Find(uint64_t address);
  const Allocation* Find(uint64_t address) const;
  // The host's address of `bytes` bytes; null where they are not in one allocation.
  std::byte* HostAddress(uint64_t address, uint64_t bytes);
  uint64_t bytes_in_use() const { return bytes_in_use_; }
  size_t allocation_count() const { return allocations_.size(); }
  // Counts launches and barriers of all launches on this memory; see Shadow.
  uint32_t& clock() { return clock_; }
  // Starts the clock anew, for which no stamp may be left.
  void ForgetStamps();

 private:
  absl::StatusOr<Allocation*> Range(uint64_t address, uint64_t bytes, std::string_view what);

  std::map<uint64_t, std::unique_ptr<Allocation>> allocations_;  // by address
  uint64_t next_;
  uint64_t limit_;
  uint64_t bytes_in_use_ = 0;
  uint32_t clock_ = 1;
};

}  // namespace assay::gpu
