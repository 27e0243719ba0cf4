// Halves, quarters and so on of the history are left out as long as the suspect fails without them.
#include "fuzz/campaign/predecessors.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace assay {
namespace {

// Trials that run so many times what the history has end the search. One program that is needed is
// found within a good three times, two that lie apart within nine.
constexpr size_t kMostTimesTheHistory = 9;

}  // namespace

Predecessors::Predecessors(Rounds rounds, int64_t suspect,
                           const std::vector<std::set<int64_t>>& likely)
    : rounds_(std::move(rounds)), suspect_(suspect) {
  for (const std::vector<int64_t>& round : rounds_) {
    std::copy_if(round.begin(), round.end(), std::back_inserter(kept_),
                 [suspect](int64_t index) { return index != suspect; });
  }
  size_ = kept_.size() + 1;
  for (const std::set<int64_t>& some : likely) {
    std::vector<int64_t> here;
    std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(here),
                 [&some](int64_t index) { return some.contains(index); });
    if (!here.empty()) likely_.push_back(std::move(here));
  }
  if (!likely_.empty()) stage_ = Stage::kLikely;
}

std::vector<int64_t> Predecessors::InHand() const {
  if (stage_ == Stage::kLikely) return likely_.front();
  return stage_ == Stage::kFewer ? WithoutChunk() : kept_;
}

std::vector<int64_t> Predecessors::WithoutChunk() const {
  std::vector<int64_t> left(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(at_));
  const size_t end = std::min(at_ + chunk_, kept_.size());
  left.insert(left.end(), kept_.begin() + static_cast<std::ptrdiff_t>(end), kept_.end());
  return left;
}

Rounds Predecessors::Trial() const {
  const std::vector<int64_t> left = InHand();
  Rounds trial;
  for (const std::vector<int64_t>& round : rounds_) {
    std::vector<int64_t> some;
    std::copy_if(round.begin(), round.end(), std::back_inserter(some), [&](int64_t index) {
      return index == suspect_ || std::find(left.begin(), left.end(), index) != left.end();
    });
    if (!some.empty()) trial.push_back(std::move(some));
  }
  return trial;
}

void Predecessors::Take(bool fails) {
  programs_ += 1 + InHand().size();
  switch (stage_) {
    case Stage::kLikely:
      if (fails) kept_ = likely_.front();
      likely_.pop_front();
      if (fails || likely_.empty()) stage_ = fails ? Stage::kFewer : Stage::kAll;
      chunk_ = kept_.size();
      return;
    case Stage::kAll:
      if (!fails) {
        stage_ = Stage::kOver;
        return;
      }
      stage_ = kept_.empty() ? Stage::kAgain : Stage::kFewer;
      // At first all of it: the suspect's own other runs may do.
      chunk_ = kept_.size();
      return;
    case Stage::kFewer:
      if (fails) kept_ = WithoutChunk();
      return Advance(fails);
    case Stage::kAllAgain:
      stage_ = fails ? Stage::kFewer : Stage::kOver;
      return;
    case Stage::kAgain:
      repeats_ = fails;
      stage_ = Stage::kOver;
      return;
    case Stage::kOver:
      return;
  }
}

void Predecessors::Advance(bool removed) {
  if (!removed) at_ += chunk_;
  // Neither half can be done without: either both are needed, or it fails now and then.
  const size_t all = size_ - 1;
  const bool is_doubtful = kept_.size() == all && chunk_ == (all + 1) / 2 && at_ >= all;
  while (at_ >= kept_.size() && chunk_ > 1) {
    chunk_ = std::min((chunk_ + 1) / 2, std::max<size_t>(1, (kept_.size() + 1) / 2));
    at_ = 0;
  }
  const bool is_enough = programs_ >= kMostTimesTheHistory * size_;
  if (at_ >= kept_.size() || is_enough) {
    stage_ = Stage::kAgain;
  } else if (is_doubtful) {
    stage_ = Stage::kAllAgain;
  }
}

}  // namespace assay
