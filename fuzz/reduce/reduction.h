// The state of one reduction, and the sink to which its steps offer candidates.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "fuzz/reduce/cost.h"
#include "fuzz/reduce/links/equivalence.h"
#include "fuzz/reduce/reducer.h"

namespace assay {

// The smallest case so far, with what is found out about it when a step first asks.
struct BestCase {
  ReduceCase reduce_case;
  ReduceCost cost;
  absl::flat_hash_set<std::string> needed;  // names of instructions that stay although unread
  std::array<std::unique_ptr<const Equivalence>, kLinkKinds> links;
  std::optional<std::vector<Literal>> values;
};

struct Reduction {
  Reduction(ReduceCase start, const ReducePredicate& predicate, const ReduceOptions& options);
  bool Expired() const;

  const ReducePredicate& predicate;
  const ReduceOptions& options;
  std::unique_ptr<BestCase> best;
  absl::flat_hash_set<uint64_t> refused;  // hashes of candidates
  ReduceProgress progress;
  double start;
};

// Takes the candidates that a step makes of the best case and asks the predicate about them, about
// several at once where there are several cores. The first of them that will do is the next best
// case, whatever the number of cores: a step offers the same candidates in the same order whatever
// the answers are.
class Candidates {
 public:
  // The first `skipped` candidates are not made.
  Candidates(Reduction& reduction, int64_t skipped) : reduction_(reduction), skipped_(skipped) {}

  const ReduceCase& best() const { return reduction_.best->reduce_case; }
  const Module& module() const { return *best().module; }
  const Computation& entry() const { return *module().entry(); }
  // The dimensions or types of the best case that have to change together.
  const Equivalence& Links(LinkKind kind);
  // The value of an instruction of the entry on the best inputs; null where it is not known.
  const Literal* ValueOf(const Instruction* at);

  // A candidate is made only if it is still wanted. Each of the three says in its way that the
  // candidate cannot be made.
  void Offer(absl::FunctionRef<std::optional<ReduceCase>()> make);
  // Edits a copy of the best case,
  void Offer(absl::FunctionRef<bool(ReduceCase&)> edit);
  // or what stands there where `at` stands in the best case.
  void Offer(const Instruction* at, absl::FunctionRef<bool(ReduceCase&, Instruction*)> edit);

  // True where all that is offered from now on is ignored.
  bool IsOver() const { return next_ != nullptr || reduction_.Expired(); }
  // To be called after the last offer: the next best case, or null.
  std::unique_ptr<BestCase> TakeNext();
  // The number of the candidate that it was.
  int64_t number_of_next() const { return number_of_next_; }

 private:
  struct Candidate {
    BestCase next;
    uint64_t hash;
    int64_t number;
  };
  void Consider(ReduceCase made);
  void AskAboutBatch();
  void Settle(Candidate& candidate, bool holds);

  Reduction& reduction_;
  int64_t skipped_, offered_ = 0;
  std::vector<Candidate> batch_;
  std::unique_ptr<BestCase> next_;
  int64_t number_of_next_ = 0;
};

// One kind of simplification.
struct ReduceStep {
  enum Changes : uint8_t { kStructure, kDetails };  // which ops there are, or sizes, types, values
  std::string_view name;
  void (*offer)(Candidates&);
  Changes changes;
};

// Goes once through what the step offers, from each accepted candidate on with what it offers of
// the new best case; true if any was accepted.
bool RunStep(Reduction& reduction, const ReduceStep& step);

}  // namespace assay
