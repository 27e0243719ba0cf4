// A structural hash of a module: equal for modules that differ only in names, metadata, the order
// of independent instructions, and options that no op reads (schedule, flags, seed).
#pragma once

#include <cstdint>
#include <string_view>

#include "spec/ir/module.h"

namespace assay {

// FNV-1a with a final mix; the same on every machine and in every run, so it may be stored.
class StableHash {
 public:
  void Add(uint64_t value);
  void Add(std::string_view text);
  uint64_t Finish() const;

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

uint64_t HashModule(const Module& module);
// The hash of one computation and all it calls.
uint64_t HashComputation(const Computation& computation);
// True if the attributes differ at most in those that carry no meaning: metadata, origin,
// statistics.
bool SameMeaning(const Attributes& a, const Attributes& b);

}  // namespace assay
