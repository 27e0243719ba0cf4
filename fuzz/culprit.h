// The facts that tell one bug from another: they are found by the second check, found once more of
// the reduced program, and kept as values up to the store. Names and sentences are made of them,
// and nothing is read back from those.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json_fwd.hpp"

#include "spec/backend/outcome.h"

namespace assay {

// The answer of a program that failed with a flag of its compiler set. By chance: a write to the
// wrong place does another thing under each flag.
enum class FlagState : uint8_t { kFails, kPasses, kOtherwise, kByChance };

struct Culprit {
  std::string
      peer;  // "xla", "cpu": a backend without its options; "assay" where nobody else is guilty
  Outcome::Kind kind = Outcome::kWrong;
  std::string notable;   // what is only notable ("sign of a zero"); "" of a failure
  std::string decision;  // of a compiler that numbers them: the guilty one, or what else is known
  std::string pass;      // of one that dumps them: the guilty pass; "import" before the first
  // Without a guilty pass, and of an import: under each of Peer::telling; else empty.
  std::vector<FlagState> states;
  std::string words;  // how a compiler died or refused, without what differs from case to case
  std::string op;     // that is wrong first; "" where it is not known
  // The ops that it folds by, and those of its operands that matter.
  std::set<std::string> folds, operands;
  std::set<std::string> ops;     // all of the reduced program, or what a guilty pass changed
  std::string numbers;           // of the output, or compared: "f", "c", "p" or "i"
  std::set<std::string> causes;  // of the peer's data (fuzz/backends/peer.h): "narrow-index"

  // Sooner known than `op`: "log(exponential)".
  std::string Place() const;
  // True if another failure of the same is hardly another bug.
  bool NamesItsOp() const;
  bool operator==(const Culprit&) const = default;
};

// The mark of a failure that only shows in one program with another one.
inline constexpr char kBesideAnother[] = "beside-another";

// "wrong value: algsimp at log(exponential) f": equal before reduction for what is probably one
// bug.
std::string SignatureText(const Culprit& culprit);

// "xla/wrong value/algsimp/dynamic-slice+pad": the decision; or the pass and the ops without which
// it does not fail; where no pass is guilty, also what kind of numbers the result has and what
// silences it. Culprits that are equal have one bucket. Usable as a folder name after '/' is
// replaced.
std::string BucketName(const Culprit& culprit);

// The part of words that says that a worker died, before what it wrote last: "the worker died of
// SIGABRT;". "" if they do not say so.
std::string_view DeathIn(std::string_view words);

nlohmann::json ToJson(const Culprit& culprit);
// Fields that are missing or make no sense are left out.
Culprit CulpritFromJson(const nlohmann::json& json);

}  // namespace assay
