// From a word to its place in a list of words, for the readers: one hash, one comparison.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "spec/base/name_hash.h"

namespace assay {

// kSlots: a power of two above the number of words.
template <size_t kSlots>
class WordTable {
 public:
  void Add(std::string_view word, int16_t value) {
    size_t slot = Hash(word);
    while (!words_[slot].empty()) slot = (slot + 1) % kSlots;
    words_[slot] = word;
    values_[slot] = value;
  }
  // The value of `word`; -1 when it is not in the table.
  int16_t Find(std::string_view word) const {
    for (size_t slot = Hash(word); !words_[slot].empty(); slot = (slot + 1) % kSlots) {
      if (words_[slot] == word) return values_[slot];
    }
    return -1;
  }

 private:
  static_assert((kSlots & (kSlots - 1)) == 0);
  static size_t Hash(std::string_view word) {
    const size_t part = word.size() < 8 ? word.size() : 8;
    const uint64_t head = NameHash::UpToEight(word.data(), part);
    const uint64_t tail = NameHash::UpToEight(word.data() + (word.size() - part), part);
    const uint64_t mixed = (head ^ word.size()) * 0x9E3779B97F4A7C15u + tail * 0xD6E8FEB86659FD93u;
    return (mixed ^ mixed >> 29) * 0x9E3779B97F4A7C15u >> 32 & (kSlots - 1);
  }

  std::array<std::string_view, kSlots> words_ = {};
  std::array<int16_t, kSlots> values_ = {};
};

}  // namespace assay
