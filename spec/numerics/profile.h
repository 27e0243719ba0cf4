// What a correct implementation may do to floating point, as data. Document: operation
// semantics 1.4, 1.8, 18.2, 19.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace assay {

// One freedom. It enters a profile only with a source.
struct Clause {
  std::string_view name;
  std::string_view meaning;
  bool strict;
  bool xla;
  std::string_view source;  // citation or measurement for every grant
};

enum class ClauseId {
  kFlushSubnormals,     // subnormal inputs and results of arithmetic may become zero
  kExcessPrecision,     // intermediates of types narrower than f32 may keep f32 precision
  kContraction,         // a product that feeds an addition or subtraction may stay unrounded
  kReassociation,       // sums and products of reductions, dots, convolutions, scans in any order
  kReciprocalDivision,  // x / c may be x * (1 / c) when c is a constant or a broadcast scalar
  kReciprocalRoot,      // x / sqrt(y) may be x * rsqrt(y)
  kNestedQuotients,     // (a / b) / c may be a / (b * c), and a / (b / c) may be (a * c) / b
  kConstantChains,      // (x + c) + d may be x + (c + d), (x * c) * d may be x * (c * d)
  kExponentials,        // exp(a) * exp(b) may be exp(a + b), x / exp(a) may be x * exp(-a)
  kLiteralReducer,      // a reducer of a narrow type may round at every step, as its text says
  kClauseCount
};

class Profile {
 public:
  static const Profile& Strict();
  static const Profile& Xla();
  static absl::StatusOr<const Profile*> Find(std::string_view name);

  std::string_view name() const { return name_; }
  bool Grants(ClauseId id) const;
  bool IsXla() const { return xla_; }

 private:
  constexpr Profile(std::string_view name, bool xla) : name_(name), xla_(xla) {}
  std::string_view name_;
  bool xla_;
};

absl::Span<const Clause> AllClauses();

}  // namespace assay
