// The clauses that say what a correct implementation may do to floating point, as data. Document:
// operation semantics 1.4, 1.8, 18.2, 19.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace assay {

// The rows in profile.cc say what each clause permits.
enum class ClauseId {
  kFlushSubnormals,
  kExcessPrecision,
  kContraction,
  kReassociation,
  kReciprocalDivision,
  kReciprocalRoot,
  kNestedQuotients,
  kConstantChains,
  kExponentials,
  kLiteralReducer,
  kSumsOfSums,
  kScatterStarts,
  kNarrowFactors,
  kApproximateQuotients,
  kEitherRounding,
  kClauseCount
};

// One permission. It enters a profile only with a source.
struct Clause {
  ClauseId id;
  std::string_view name;
  std::string_view meaning;
  bool rewrites = false;  // it is about one form in place of another, not about single ops
  bool strict;
  bool xla;
  bool gpu = false;         // of XLA on GPUs beside what `xla` says
  std::string_view source;  // citation or measurement for every grant
};

// The clauses that are granted to an implementation, or at one op.
class ClauseSet {
 public:
  constexpr bool Has(ClauseId id) const { return (bits_ & BitOf(id)) != 0; }
  constexpr ClauseSet With(ClauseId id) const { return ClauseSet(bits_ | BitOf(id)); }
  constexpr ClauseSet Without(ClauseId id) const { return ClauseSet(bits_ & ~BitOf(id)); }
  constexpr ClauseSet() = default;

 private:
  constexpr explicit ClauseSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t BitOf(ClauseId id) { return uint32_t{1} << static_cast<int>(id); }

  static_assert(static_cast<int>(ClauseId::kClauseCount) <= 32);
  uint32_t bits_ = 0;
};

class Profile {
 public:
  static const Profile& Strict();
  static const Profile& Xla();
  // XLA's profile on GPUs: it adds clauses of their arithmetic.
  static const Profile& XlaGpu();
  static absl::StatusOr<const Profile*> Find(std::string_view name);

  std::string_view name() const { return name_; }
  bool Grants(ClauseId id) const { return Clauses().Has(id); }
  ClauseSet Clauses() const { return clauses_; }
  // True if functions have XLA's budgets.
  bool IsXla() const { return xla_; }
  // For a profile of XLA, what it permits without putting one form in place of another: campaigns
  // use it to see results that only such a form makes legal and that are yet far off. Any other
  // profile returns itself.
  const Profile& AsWritten() const;
  bool IsAsWritten() const { return xla_ && this == &AsWritten(); }

 private:
  constexpr Profile(std::string_view name, ClauseSet clauses, bool xla)
      : name_(name), clauses_(clauses), xla_(xla) {}
  // All that there are, the ones for users first.
  static absl::Span<const Profile> All();
  std::string_view name_;
  ClauseSet clauses_;
  bool xla_;
};

absl::Span<const Clause> AllClauses();

}  // namespace assay
