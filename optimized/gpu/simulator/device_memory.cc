// Allocations of a simulated device.
#include "optimized/gpu/simulator/device_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr uint64_t kGap = 4096;

}  // namespace

absl::StatusOr<uint64_t> DeviceMemory::Allocate(uint64_t bytes, uint64_t alignment,
                                                std::string_view name) {
  if (!std::has_single_bit(alignment) || alignment > (uint64_t{1} << 30)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("allocation \"%s\": the alignment %d is no power of two", name, alignment));
  }
  if (bytes > limit_ - bytes_in_use_) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("allocation \"%s\" of %d bytes: %d of the device's %d bytes are in use",
                        name, bytes, bytes_in_use_, limit_));
  }
  alignment = std::max<uint64_t>(alignment, 256);
  auto made = std::make_unique<Allocation>();
  made->name = std::string(name);
  made->bytes = bytes;
  made->storage.reset(new (std::nothrow) std::byte[bytes + alignment]);
  if (made->storage == nullptr) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "allocation \"%s\": the host has no %d bytes for it", name, bytes + alignment));
  }
  const auto host = reinterpret_cast<uintptr_t>(made->storage.get());
  made->data = made->storage.get() + ((alignment - host % alignment) % alignment);
  made->shadow.Resize(bytes);
  next_ = (next_ + alignment - 1) & ~(alignment - 1);
  made->address = next_;
  next_ += bytes + kGap;
  bytes_in_use_ += bytes;
  const uint64_t address = made->address;
  allocations_.emplace(address, std::move(made));
  return address;
}

absl::Status DeviceMemory::Free(uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("free of 0x%x, where no allocation begins", address));
  }
  bytes_in_use_ -= found->second->bytes;
  allocations_.erase(found);
  return absl::OkStatus();
}

Allocation* DeviceMemory::Find(uint64_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  Allocation* found = std::prev(after)->second.get();
  return address - found->address <= found->bytes ? found : nullptr;
}

const Allocation* DeviceMemory::Find(uint64_t address) const {
  return const_cast<DeviceMemory*>(this)->Find(address);
}

absl::StatusOr<Allocation*> DeviceMemory::Range(uint64_t address, uint64_t bytes,
                                                std::string_view what) {
  Allocation* found = Find(address);
  if (found == nullptr || bytes > found->bytes - (address - found->address)) {
    return absl::OutOfRangeError(
        absl::StrFormat("%s of %d bytes at 0x%x: not in one allocation", what, bytes, address));
  }
  return found;
}

std::byte* DeviceMemory::HostAddress(uint64_t address, uint64_t bytes) {
  const absl::StatusOr<Allocation*> found = Range(address, bytes, "address");
  return found.ok() ? (*found)->data + (address - (*found)->address) : nullptr;
}

absl::Status DeviceMemory::CopyIn(uint64_t address, absl::Span<const std::byte> bytes) {
  ASSAY_ASSIGN_OR_RETURN(Allocation * to, Range(address, bytes.size(), "copy to the device"));
  if (bytes.empty()) return absl::OkStatus();
  std::memcpy(to->data + (address - to->address), bytes.data(), bytes.size());
  to->shadow.Mark(address - to->address, bytes.size());
  return absl::OkStatus();
}

absl::Status DeviceMemory::CopyOut(uint64_t address, absl::Span<std::byte> bytes) const {
  ASSAY_RETURN_IF_ERROR(CopyOutAnyway(address, bytes));
  const Allocation* from = Find(address);
  const uint64_t begin = address - from->address;
  const uint64_t fresh = from->shadow.FirstFresh(begin, bytes.size());
  if (fresh == begin + bytes.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "copy from the device: byte %d of \"%s\" was never written", fresh - begin, from->name));
}

absl::Status DeviceMemory::CopyOutAnyway(uint64_t address, absl::Span<std::byte> bytes) const {
  ASSAY_ASSIGN_OR_RETURN(
      const Allocation* from,
      const_cast<DeviceMemory*>(this)->Range(address, bytes.size(), "copy from the device"));
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), from->data + (address - from->address), bytes.size());
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::Fill(uint64_t address, uint64_t bytes, std::byte value) {
  ASSAY_ASSIGN_OR_RETURN(Allocation * to, Range(address, bytes, "fill"));
  std::memset(to->data + (address - to->address), static_cast<int>(value), bytes);
  to->shadow.Mark(address - to->address, bytes);
  return absl::OkStatus();
}

absl::Status DeviceMemory::CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) {
  ASSAY_ASSIGN_OR_RETURN(Allocation * target, Range(to, bytes, "copy within the device"));
  ASSAY_ASSIGN_OR_RETURN(Allocation * source, Range(from, bytes, "copy within the device"));
  const uint64_t at = to - target->address, begin = from - source->address;
  std::memmove(target->data + at, source->data + begin, bytes);
  target->shadow.CopyFreshness(at, source->shadow, begin, bytes);
  return absl::OkStatus();
}

absl::Status DeviceMemory::Forget(uint64_t address, uint64_t bytes) {
  ASSAY_ASSIGN_OR_RETURN(Allocation * found, Range(address, bytes, "forgetting"));
  found->shadow.Forget(address - found->address, bytes);
  return absl::OkStatus();
}

void DeviceMemory::ForgetStamps() {
  for (auto& [address, allocation] : allocations_) allocation->shadow.ForgetStamps();
  clock_ = 1;
}

}  // namespace assay::gpu
