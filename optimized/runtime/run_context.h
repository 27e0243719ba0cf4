// The context of one run: what compiled code gets of it, and what kernels of the runtime need
// beside their operands.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "optimized/runtime/kernels/fft.h"
#include "optimized/runtime/scratch.h"
#include "optimized/runtime/thread_pool.h"

namespace assay {

class Rendezvous;
struct HostQueues;
struct CollectivePlan;

// The first entry is read by loops of compiled code, the rest by the runtime.
struct RunContext {
  const std::atomic<uint8_t>* stopped = nullptr;  // only with several devices
  ThreadPool* pool = nullptr;                     // none: one thread
  Rendezvous* rendezvous = nullptr;
  const std::vector<CollectivePlan>* plans = nullptr;
  int64_t device = 0, replica = 0, partition = 0;
  HostQueues* host = nullptr;
  std::array<uint64_t, 2> random_state = {};  // low word first; kept from run to run
  std::shared_ptr<ScratchPool> scratch = std::make_shared<ScratchPool>();
  std::shared_ptr<FftPlans> fft_plans = std::make_shared<FftPlans>();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool out_of_time = false;  // a loop ended for that reason
  // Innermost steps that kernels of the runtime have taken: multiply-adds, comparisons,
  // butterflies, moves. They measure the cost of an algorithm, whatever the machine does meanwhile.
  std::shared_ptr<std::atomic<int64_t>> work = std::make_shared<std::atomic<int64_t>>(0);

  // The context without threads, for what runs inside a part.
  RunContext Alone() const {
    RunContext alone = *this;
    alone.pool = nullptr;
    return alone;
  }
  int threads() const { return pool == nullptr ? 1 : pool->threads(); }
  // part(begin, end) for ranges of `grain` that cover [0, extent), on all threads.
  void Split(int64_t extent, int64_t grain,
             const std::function<void(int64_t, int64_t)>& part) const {
    if (extent <= 0) return;
    if (pool == nullptr || extent <= grain) {
      part(0, extent);
    } else {
      pool->Run(extent, grain, part);
    }
  }
};

}  // namespace assay
