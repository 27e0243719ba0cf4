// A warp: 32 threads that run one operation after the other, those of them that are at the same
// place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optimized/gpu/simulator/machine/launch_state.h"

namespace assay::gpu {

// kWaiting: it has asked whether an mbarrier is complete, and others go on before it asks again.
enum class WarpState : uint8_t { kReady, kWaiting, kAtBarrier, kDone, kFailed };

class Warp {
 public:
  Warp(LaunchState& launch, uint32_t number);

  // At the start of a block.
  void Start();
  // Until a barrier, the end, or an error, which is then in the launch's status.
  void Run();

  WarpState state() const { return state_; }
  uint32_t number() const { return number_; }
  uint32_t thread_count() const { return __builtin_popcount(existing_); }
  // A warp that waits knows which barrier, and for how many threads (0: all of the block).
  uint32_t barrier() const { return barrier_; }
  uint32_t barrier_count() const { return barrier_count_; }
  void Release() { state_ = WarpState::kReady; }
  void Resume() {
    if (state_ == WarpState::kWaiting) state_ = WarpState::kReady;
  }
  void Synchronised(uint32_t stamp) { warp_stamp_ = stamp; }
  // Arrivals without waiting since this was last asked, as (barrier, count).
  std::vector<std::pair<uint32_t, uint32_t>> TakeArrivals();
  // Ends the launch with a finding at what this warp did last.
  void Report(FindingKind kind, int lane, std::string detail);

 private:
  friend class MemoryUnit;
  struct Waiting {
    uint32_t block;
    uint32_t mask;
  };

  template <class T>
  T* At(Register place) {
    return reinterpret_cast<T*>(files_[place & 1] + (place & ~1u));
  }
  void SetThreads();
  bool Step(const Op& op);
  void RunLanes(const Op& op);
  void Blend(Register to, Register from, uint32_t bytes);
  bool Require(const Op& op);
  // Control.
  uint32_t Truths(Register place);
  void Follow(uint32_t edge, uint32_t mask);
  void Take(uint32_t edge);
  void Branch(const Op& op);
  void Switch(const Op& op);
  void Next();
  bool CountBlock();
  bool AtBarrier(const Op& op);
  // Lanes among each other.
  bool TakesPart(uint32_t lanes, const char* what);
  bool SyncLanes(const Op& op);
  bool Shuffle(const ShuffleOp& op);
  bool Vote(const Op& op);
  bool Reduce(const Op& op);
  bool Match(const Op& op);
  bool Matrix(const MatrixOp& op);
  void IntegerMatrix(const MatrixOp& op);
  void DoubleMatrix(const MatrixOp& op);
  void FloatMatrix(const MatrixOp& op);
  // Element k of those that a lane holds in `places`.
  int IntegerElement(const std::vector<Register>& places, MatrixType type, int lane, int k);
  float FloatElement(const std::vector<Register>& places, MatrixType type, int lane, int k);
  void CommitCopies();
  void Put(Register to, const void* values, uint32_t bytes, bool is_local);

  LaunchState& launch_;
  const KernelCode& code_;
  uint32_t number_;
  uint32_t existing_ = 0;  // lanes that are threads of the block
  uint32_t live_ = 0;      // those that have not ended
  uint32_t mask_ = 0;      // those that run now
  uint32_t at_ = 0;        // the operation after this one
  uint32_t first_of_block_ = 0;
  std::vector<Waiting> others_;  // where the other lanes wait: the last is the first in order
  std::byte* files_[2] = {};
  WarpState state_ = WarpState::kDone;
  uint32_t barrier_ = 0, barrier_count_ = 0;
  uint32_t warp_stamp_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> arrivals_;
  std::array<uint32_t, kLanes> groups_ = {};  // that each lane has closed
};

}  // namespace assay::gpu
