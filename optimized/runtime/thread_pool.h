// Threads that compiled code splits its large kernels over. Parts are cut by size, not by thread,
// so what is computed does not depend on how many threads there are.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {

class ThreadPool {
 public:
  // `threads` in all, the caller of Run included.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls part(begin, end) for consecutive ranges of [0, extent) of `grain` elements, the last one
  // maybe shorter; returns when all are done. One caller at a time; parts must not call Run.
  void Run(int64_t extent, int64_t grain, const std::function<void(int64_t, int64_t)>& part);

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

 private:
  void Work();
  void TakeParts(std::unique_lock<std::mutex>& lock);

  std::vector<std::thread> workers_;
  std::mutex one_run_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int64_t, int64_t)>* part_ = nullptr;
  int64_t extent_ = 0, grain_ = 1, next_ = 0, running_ = 0;
  bool stop_ = false;
};

}  // namespace assay
