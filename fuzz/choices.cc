// Drawing, recording and replaying choices.
#include "fuzz/choices.h"

#include <bit>

namespace assay {
namespace {

uint64_t SplitMix(uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

RandomStream::RandomStream(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t MixSeeds(uint64_t a, uint64_t b) {
  uint64_t state = a;
  uint64_t first = SplitMix(state);
  state = first ^ (b * 0xD6E8FEB86659FD93u);
  return SplitMix(state);
}

Choices Choices::FromBytes(absl::Span<const uint8_t> bytes) {
  std::vector<uint64_t> recording;
  recording.reserve(bytes.size() / 4 + 1);
  for (size_t i = 0; i < bytes.size(); i += 4) {
    uint64_t value = 0;
    for (size_t k = 0; k < 4 && i + k < bytes.size(); ++k) {
      value |= uint64_t{bytes[i + k]} << (8 * k);
    }
    recording.push_back(value);
  }
  return FromRecording(std::move(recording));
}

uint64_t Choices::Draw(uint64_t bound) {
  if (bound == 0) bound = 1;
  uint64_t value = 0;
  if (stream_.has_value()) {
    // The modulus favours small numbers by less than bound / 2^64: nothing that a campaign could
    // see.
    value = stream_->Next() % bound;
  } else if (next_ < replay_.size()) {
    value = replay_[next_++] % bound;
  }
  recording_.push_back(value);
  return value;
}

uint64_t Choices::Given(uint64_t value, uint64_t bound) {
  if (!stream_.has_value()) return Draw(bound);
  recording_.push_back(value % bound);
  return recording_.back();
}

int64_t Choices::Range(int64_t low, int64_t high) {
  uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  if (span == 0) span = ~uint64_t{0};  // the whole of int64: all but one value of it
  return static_cast<int64_t>(static_cast<uint64_t>(low) + Draw(span));
}

bool Choices::Percent(int percent) { return Draw(100) >= static_cast<uint64_t>(100 - percent); }

size_t Choices::Weighted(absl::Span<const int> weights) {
  uint64_t total = 0;
  for (int weight : weights) total += static_cast<uint64_t>(weight);
  uint64_t at = Draw(total);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (at < static_cast<uint64_t>(weights[i])) return i;
    at -= static_cast<uint64_t>(weights[i]);
  }
  return 0;
}

RandomStream Choices::Fork() { return RandomStream(Draw(uint64_t{1} << 32)); }

}  // namespace assay
