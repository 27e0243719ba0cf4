// Functions outside HLO that the oracle knows by their targets: those of JAX's linear algebra,
// annotations that change nothing, and the functions given to the oracle. Document: operation
// semantics chapter 14, CustomCall.
#pragma once

#include <string>
#include <string_view>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// A function on batches of matrices.
struct CustomCallTarget {
  // For LAPACK's routines the part between the type's letter and "_ffi", for XLA's expanders the
  // whole target.
  std::string_view name;
  ApplyFn apply;
  std::string_view signature;               // call_signature.h
  std::string_view options = {};            // typed attributes that must be there, by blanks
  std::string_view complex_signature = {};  // for complex operands, if it is another one
};
// lapack_Xname_ffi, X one of s, d, c, z; blas_Xname_ffi; and without _ffi the same routine as it
// was called before the typed interface (legacy_calls.cc).
absl::Span<const CustomCallTarget> FactorizationTargets();
absl::Span<const CustomCallTarget> ReflectorTargets();
absl::Span<const CustomCallTarget> EigenvalueTargets();
absl::Span<const CustomCallTarget> SchurTargets();

// The result of a call by the typed interface, or by the one before it. unsupported: shapes that
// are not those of the target, options that are missing.
absl::StatusOr<Value> ApplyTypedCall(Interpreter& interpreter, const OpContext& op,
                                     const CustomCallTarget& target);
absl::StatusOr<Value> ApplyLegacyCall(Interpreter& interpreter, const OpContext& op,
                                      const CustomCallTarget& typed);

// A value with the plain elements of `value`, all of them undecided.
Value Undecided(const Value& value, MemoryMeter& meter);

}  // namespace assay::reference
