// The choice sequence: every decision of the generators is a number drawn below a bound. A seeded
// stream, an old recording, a mutated recording and the bytes of libFuzzer are sources of the same
// sequence, so programs can be replayed, mutated and shrunk without the generators knowing. Smaller
// numbers mean simpler programs; an exhausted recording yields zeros.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace assay {

// xoshiro256** seeded through splitmix64: the same stream on every machine.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed);
  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  uint64_t state_[4];
};

// One well-mixed number from two, for seeds of sub-streams.
uint64_t MixSeeds(uint64_t a, uint64_t b);

class Choices {
 public:
  static Choices FromSeed(uint64_t seed) { return Choices(RandomStream(seed), {}); }
  static Choices FromRecording(std::vector<uint64_t> recording) {
    return Choices(std::nullopt, std::move(recording));
  }
  // Four bytes per choice, little-endian; a shorter rest counts as one.
  static Choices FromBytes(absl::Span<const uint8_t> bytes);

  // In [0, bound); a bound of 0 counts as 1.
  uint64_t Draw(uint64_t bound);
  // `value`, below `bound`, instead of a random number: recorded as if it had been drawn. Where the
  // choices come from a recording, what stands there.
  uint64_t Given(uint64_t value, uint64_t bound);
  // In [low, high], low <= high.
  int64_t Range(int64_t low, int64_t high);
  // True in `percent` of 100 cases; the simple answer is false.
  bool Percent(int percent);
  // Index of a weight, with probability in proportion; weights >= 0, the first positive one is the
  // simple answer.
  size_t Weighted(absl::Span<const int> weights);
  size_t Weighted(std::initializer_list<int> weights) {
    return Weighted(absl::MakeConstSpan(weights.begin(), weights.size()));
  }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Draw(from.size())];
  }
  template <typename T>
  T Pick(std::initializer_list<T> from) {
    return from.begin()[Draw(from.size())];
  }
  // A stream of its own for bulk data, so that large arrays cost one choice.
  RandomStream Fork();

  // Everything drawn so far, each below the bound that it was drawn with.
  const std::vector<uint64_t>& recording() const { return recording_; }

 private:
  Choices(std::optional<RandomStream> stream, std::vector<uint64_t> replay)
      : stream_(std::move(stream)), replay_(std::move(replay)) {}

  std::optional<RandomStream> stream_;
  std::vector<uint64_t> replay_;
  size_t next_ = 0;
  std::vector<uint64_t> recording_;
};

}  // namespace assay
