// The machine that code is made for, as data: lanes, levels of parallelism, memory, and what there
// is native code for. Plans read it; a backend fills it in. Nothing here belongs to one kind of
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

struct Target;

// A level at which work is shared.
struct ParallelLevel {
  std::string_view name;  // kDevices, kThreads
  int64_t workers = 1;
};
inline constexpr std::string_view kDevices = "devices", kThreads = "threads";

// A place in which values lie.
struct MemorySpace {
  std::string_view name;
  int64_t alignment = 64;  // of every value, in bytes
};

// The code that a target has for an op.
struct OpSupport {
  enum Code : uint8_t {
    kNone,
    kElements,  // emitted element by element, in nests
    kNative,    // the result is made as a whole, by a kernel of the target's own, and never fused
  } code = kNone;
  bool only_real = false;  // no code where complex numbers take part
  // Names the part of the instruction's form that has no code; empty when all has. nullptr: all
  // forms have.
  std::string (*missing)(const Instruction& instruction) = nullptr;
  // kNative: a better way that the gate of this rule may refuse, for the instructions that have it.
  std::string_view better_rule = {};
  bool (*has_better)(const Instruction& instruction, const Target& target) = nullptr;
  // kNative: the function of the target's library that does the work; empty: emitted code does.
  std::string (*library_call)(const Instruction& instruction, bool is_better) = nullptr;
  // kNative: false where ops that an expander writes instead do better. nullptr: they never do.
  bool (*pays)(const Instruction& instruction) = nullptr;
};
using OpSupportTable = std::array<OpSupport, kOpcodeCount>;

// The code for a dot or a convolution that is large enough for it.
struct ContractionCode {
  std::string_view library_call = {};  // empty: a nest of tiles
  int64_t split_dim = -1;  // of the result, which threads may cut; -1: none, or the call does it
};

struct Target {
  std::string_view name;  // as in errors: "cpu"

  // The vectors of emitted code have this size on every machine of the kind: sums are split into
  // lanes alike, so that they have the same bits, and narrower registers are used several at a
  // time.
  int vector_bits = 512;
  int register_bits = 256;  // of this machine's vectors; 0 forbids vectors
  bool has_fma = false;
  int line_bits = 512;  // of a cache

  std::vector<ParallelLevel> levels = {};  // outermost first
  std::vector<MemorySpace> memory = {};    // values lie in the first

  bool (*has_type)(ElementType type) = nullptr;
  const OpSupportTable* ops = nullptr;
  std::optional<ContractionCode> (*contraction)(const Instruction& instruction,
                                                const Target& target) = nullptr;

  const OpSupport& SupportOf(Opcode opcode) const { return (*ops)[static_cast<int>(opcode)]; }
  bool IsNative(Opcode opcode) const { return SupportOf(opcode).code == OpSupport::kNative; }
  // The workers at a level; 1 where the target does not have it.
  int64_t Workers(std::string_view level) const;
  // Lanes of what is emitted in `type`.
  int VectorWidth(ElementType type) const;
};

}  // namespace assay
