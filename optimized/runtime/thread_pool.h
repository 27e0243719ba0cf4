// Threads that compiled code splits its large kernels over. Parts are cut by size, not by thread,
// so what is computed does not depend on how many threads there are.
#pragma once

#include <atomic>
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
  void TakeParts();
  void Serve();
  // True once there is another run than `served`, or the end; looked at for a while without sleep.
  bool SpinForRun(int64_t served) const;

  std::vector<std::thread> workers_;
  std::mutex one_run_;
  const std::function<void(int64_t, int64_t)>* part_ = nullptr;  // written while closed
  int64_t extent_ = 0, grain_ = 1;
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> is_open_ = false;  // workers may look at the run
  std::atomic<int64_t> runs_ = 0;
  std::atomic<int> inside_ = 0;  // workers that look at the run
  // Whoever has waited in vain for a while sleeps.
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> is_waiting_ = false;  // the caller of Run, for the workers inside
  std::atomic<bool> stop_ = false;
};

}  // namespace assay
