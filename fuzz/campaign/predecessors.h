// The programs that have to run before another one, in the same process, for that one to fail: a
// program that writes over memory which is not its own spoils those that come after it. Found by
// running fewer and fewer of them again. Starts no process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace assay {

// Cases that a worker got at once, round after round. Those of one round may be compiled together.
using Rounds = std::vector<std::vector<int64_t>>;

class Predecessors {
 public:
  // `rounds` hold what the process ran up to and with the suspect, which is in the last of them.
  // Those behind it in that round may have run before it as well. What of each of `likely` is in
  // the history is tried at first, one set after the other.
  Predecessors(Rounds rounds, int64_t suspect, const std::vector<std::set<int64_t>>& likely = {});

  // True when nothing is left to be tried.
  bool IsOver() const { return stage_ == Stage::kOver; }
  // What to run next, in a fresh process. Only while it is not over.
  Rounds Trial() const;
  // The trial is the last one, of which the programs shall be kept.
  bool IsLast() const { return stage_ == Stage::kAgain; }
  // Whether the suspect failed in the trial.
  void Take(bool fails);

  // Once it is over: the suspect failed in its history, and twice in the smallest part of it that
  // was found.
  bool Repeats() const { return repeats_; }
  // The others that are needed, in the order in which they were handed out. Empty: what ran of the
  // suspect itself, such as its other inputs, is enough.
  std::vector<int64_t> Needed() const { return kept_; }

 private:
  enum class Stage : uint8_t { kLikely, kAll, kFewer, kAllAgain, kAgain, kOver };
  // What the trial runs beside the suspect.
  std::vector<int64_t> InHand() const;
  // What is kept but for the chunk in hand.
  std::vector<int64_t> WithoutChunk() const;
  // The next chunk to do without, or another stage.
  void Advance(bool removed);

  Rounds rounds_;
  int64_t suspect_;
  size_t size_ = 0;            // of the history
  std::vector<int64_t> kept_;  // without the suspect
  std::deque<std::vector<int64_t>> likely_;
  Stage stage_ = Stage::kAll;
  size_t chunk_ = 0, at_ = 0;  // of kept_: the part that the trial does without
  size_t programs_ = 0;        // that all trials have run
  bool repeats_ = false;
};

}  // namespace assay
