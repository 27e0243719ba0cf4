// The shadow of a piece of memory: a bit per byte that says whether it was written, and stamps of
// the last write and the last reads.
//
// A stamp is 20 bits of a clock, 10 bits of the thread's number in its block, and 2 bits more. The
// clock ticks at the start of a launch, at the start of a block, at each barrier and at each
// synchronisation of a warp; blocks run one after the other. So what orders two accesses can be
// told from the older one's stamp alone (StampLimits), and no stamp needs to be removed afterwards.
// There is a stamp per granule: 4 bytes, or 1 from the moment on at which something smaller is
// accessed.
#pragma once

#include <cstdint>
#include <vector>

#include "optimized/gpu/simulator/lanes/stamps.h"

namespace assay::gpu {

class Shadow {
 public:
  // All bytes are fresh.
  void Resize(uint64_t bytes);
  uint64_t bytes() const { return bytes_; }

  void Mark(uint64_t begin, uint64_t count);
  void Forget(uint64_t begin, uint64_t count);
  // The first byte of the range that was never written, or `begin + count`.
  uint64_t FirstFresh(uint64_t begin, uint64_t count) const;
  bool IsWritten(uint64_t begin, uint64_t count) const {
    if (count <= 32) {
      const uint64_t mask = (uint64_t{1} << count) - 1;
      const uint64_t word = begin >> 6, shift = begin & 63;
      uint64_t bits = written_[word] >> shift;
      if (shift + count > 64) bits |= written_[word + 1] << (64 - shift);
      return (bits & mask) == mask;
    }
    return FirstFresh(begin, count) == begin + count;
  }
  void MarkFew(uint64_t begin, uint64_t count) {
    const uint64_t mask = (uint64_t{1} << count) - 1;
    const uint64_t word = begin >> 6, shift = begin & 63;
    written_[word] |= mask << shift;
    if (shift + count > 64) written_[word + 1] |= mask >> (64 - shift);
  }
  // Takes over which bytes of `from` are fresh.
  void CopyFreshness(uint64_t to, const Shadow& from, uint64_t begin, uint64_t count);

  // Makes room for stamps, with granules that an access of `access` bytes at `begin` does not share
  // with others.
  void PrepareStamps(uint64_t begin, uint64_t access);
  bool has_stamps() const { return !writes_.empty(); }
  void ForgetStamps();
  int granule_shift() const { return granule_shift_; }
  uint32_t* writes() { return writes_.data(); }
  uint32_t* reads() { return reads_.data(); }

 private:
  uint64_t bytes_ = 0;
  int granule_shift_ = 2;
  std::vector<uint64_t> written_;
  std::vector<uint32_t> writes_, reads_;
};

}  // namespace assay::gpu
