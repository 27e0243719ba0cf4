// Functions outside HLO that the oracle knows by their targets: those of JAX's linear algebra,
// annotations that change nothing, and what a user registers. Document: operation semantics chapter
// 14, CustomCall.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reference/interpreter.h"

namespace assay::reference {

struct CustomCallTarget {
  std::string_view name;  // of LAPACK's routines the part between the type's letter and "_ffi", of
                          // XLA's expanders all of it
  ApplyFn apply;
};
// lapack_Xname_ffi, X one of s, d, c, z.
absl::Span<const CustomCallTarget> FactorizationTargets();
absl::Span<const CustomCallTarget> ReflectorTargets();
absl::Span<const CustomCallTarget> EigenvalueTargets();
absl::Span<const CustomCallTarget> SchurTargets();

// The number behind `key = ` in the call's typed attributes; nothing if there is none.
std::optional<int64_t> ConfigInteger(const OpContext& op, std::string_view key);
// Whether the one-character option `key` is `letter`, as in LAPACK's arguments.
bool HasOption(const OpContext& op, std::string_view key, char letter);
// Whether the flag `key` is true.
bool HasFlag(const OpContext& op, std::string_view key);

}  // namespace assay::reference

namespace assay {

// A function as linked code has it: arrays are pointers to their elements, row-major; tuples are
// arrays of such pointers. It must be a pure function of its arguments.
using CustomCallFunction = void (*)(void* out, const void** in);
// Calls of `target` evaluate `function` from now on; the last registration counts.
void RegisterCustomCall(const std::string& target, CustomCallFunction function);

}  // namespace assay
