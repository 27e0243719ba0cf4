// Levels of conformance: which cells of the matrix a backend must pass for a claim. A cell is on
// the lowest level that allows all that its program has (ops, element types, devices, dynamic
// sizes), so that nobody who claims a level is asked for more than it says.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/attributes/opcode.h"
#include "spec/ir/module.h"
#include "spec/types/element_type.h"

namespace assay {

// In the order of claims: each has all that is before it.
enum class ConformanceLevel : uint8_t {
  kIntegerCore = 1,    // predicates and integers of 8 to 64 bits: every result has one right answer
  kFloatCore = 2,      // f16, bf16, f32, f64, c64, c128
  kNarrowTypes = 3,    // floats of eight bits and less, integers of less
  kLinearAlgebra = 4,  // factorisations, solutions, transforms
  kControlFlow = 5,    // calls, loops, branches, fusions, tokens, asynchronous work
  kCollectives = 6,    // several devices, and what talks to the host
  kDynamicShapes = 7,  // sizes known at run time
  kNamedCalls = 8,     // custom-call: functions that no document defines, by name
};
inline constexpr int kConformanceLevelCount = 8;

struct LevelInfo {
  ConformanceLevel level;
  std::string_view name;      // "float-core"
  std::string_view contents;  // one line
};
// In order.
absl::Span<const LevelInfo> ConformanceLevels();
const LevelInfo& Info(ConformanceLevel level);
inline std::string_view Name(ConformanceLevel level) { return Info(level).name; }
// "2" or "float-core". Errors: no level is called so; all are listed.
absl::StatusOr<ConformanceLevel> ConformanceLevelOf(std::string_view word);

// The level of an op by itself, on types of the core; of an element type. Total.
ConformanceLevel LevelOf(Opcode opcode);
ConformanceLevel LevelOf(ElementType type);
// The level of a program.
ConformanceLevel LevelOf(const Module& module);

}  // namespace assay
