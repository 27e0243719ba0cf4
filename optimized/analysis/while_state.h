// Collects what is known of a while loop's state, element by element. A state that is a single
// array counts as one element. Document: operation semantics chapter 14, While.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/ir/instruction.h"

namespace assay {

class WhileState {
 public:
  // `loop` must be a verified while.
  explicit WhileState(const Instruction* loop);

  bool is_tuple() const { return is_tuple_; }
  int64_t size() const { return size_; }
  // Element i as the loop gets it, if that is an instruction of its own (operand of a tuple); else
  // nullptr.
  Instruction* Initial(int64_t i) const;
  // Element i as the body gives it on, likewise.
  Instruction* Next(int64_t i) const;
  // The element that `inst`, of body or condition, reads: the state itself or a get-tuple-element
  // of it.
  std::optional<int64_t> ElementRead(const Instruction* inst) const;
  // The body gives element i on as it got it.
  bool IsInvariant(int64_t i) const;
  // All readers of the tuple in `computation` (body or condition) take single elements, or are the
  // root of the body.
  bool IsReadByElement(const Computation* computation) const;

 private:
  const Instruction* loop_;
  bool is_tuple_;
  int64_t size_;
};

// Counts how often the body of `loop` runs, if that follows from constants: an integer counter that
// the body moves by a constant, compared with a constant bound. A counter that wraps on its way is
// counted by doing, in its type, so that wrapping is what it is, up to 10,000. nullopt if it is
// more than `most`.
std::optional<int64_t> TripCount(const Instruction* loop, int64_t most);

// The number of trips in the loop's backend_config, {"known_trip_count":{"n":"5"}}, which XLA's
// modules bring along and the pass while-loop-trip-count-annotator writes; nullopt: there is none.
// Nobody may rely on it for the meaning of a program.
std::optional<int64_t> NotedTripCount(const Instruction& loop);
void NoteTripCount(Instruction* loop, int64_t trips);

}  // namespace assay
