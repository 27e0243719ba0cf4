// Bits and stamps of a piece of memory.
#include "optimized/gpu/simulator/shadow.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace assay::gpu {
namespace {

// Calls `f(word, mask)` for the words of a bit range.
template <class F>
void ForWords(uint64_t begin, uint64_t count, F f) {
  const uint64_t end = begin + count;
  while (begin < end) {
    const uint64_t shift = begin & 63, here = std::min<uint64_t>(64 - shift, end - begin);
    const uint64_t ones = here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1;
    if (!f(begin >> 6, ones << shift)) return;
    begin += here;
  }
}

}  // namespace

void Shadow::Resize(uint64_t bytes) {
  bytes_ = bytes;
  written_.assign(bytes / 64 + 2, 0);  // one more, so that two words can always be read
  writes_.clear();
  reads_.clear();
  granule_shift_ = 2;
}

void Shadow::Mark(uint64_t begin, uint64_t count) {
  ForWords(begin, count, [&](uint64_t word, uint64_t mask) {
    written_[word] |= mask;
    return true;
  });
}

void Shadow::Forget(uint64_t begin, uint64_t count) {
  ForWords(begin, count, [&](uint64_t word, uint64_t mask) {
    written_[word] &= ~mask;
    return true;
  });
}

uint64_t Shadow::FirstFresh(uint64_t begin, uint64_t count) const {
  uint64_t found = begin + count;
  ForWords(begin, count, [&](uint64_t word, uint64_t mask) {
    const uint64_t fresh = ~written_[word] & mask;
    if (fresh == 0) return true;
    found = word * 64 + std::countr_zero(fresh);
    return false;
  });
  return found;
}

void Shadow::CopyFreshness(uint64_t to, const Shadow& from, uint64_t begin, uint64_t count) {
  if (from.FirstFresh(begin, count) == begin + count) return Mark(to, count);
  std::vector<bool> bits(count);
  for (uint64_t k = 0; k < count; ++k) bits[k] = from.IsWritten(begin + k, 1);
  for (uint64_t k = 0; k < count; ++k) bits[k] ? Mark(to + k, 1) : Forget(to + k, 1);
}

void Shadow::PrepareStamps(uint64_t begin, uint64_t access) {
  const bool small = access % 4 != 0 || begin % 4 != 0;
  if (writes_.empty()) {
    granule_shift_ = small ? 0 : 2;
    const uint64_t granules = (bytes_ >> granule_shift_) + 1;
    writes_.assign(granules, 0);
    reads_.assign(granules, 0);
    return;
  }
  if (!small || granule_shift_ == 0) return;
  std::vector<uint32_t> writes(bytes_ + 4), reads(bytes_ + 4);
  for (uint64_t k = 0; k < writes.size(); ++k) {
    const uint64_t old = std::min<uint64_t>(k >> 2, writes_.size() - 1);
    writes[k] = writes_[old];
    reads[k] = reads_[old];
  }
  writes_ = std::move(writes);
  reads_ = std::move(reads);
  granule_shift_ = 0;
}

void Shadow::ForgetStamps() {
  std::fill(writes_.begin(), writes_.end(), 0);
  std::fill(reads_.begin(), reads_.end(), 0);
}

}  // namespace assay::gpu
