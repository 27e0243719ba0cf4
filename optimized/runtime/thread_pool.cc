// Threads take the parts of a kernel from a shared counter.
#include "optimized/runtime/thread_pool.h"

#include <algorithm>

namespace assay {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::TakeParts(std::unique_lock<std::mutex>& lock) {
  while (next_ < extent_) {
    int64_t begin = next_;
    int64_t end = std::min(extent_, begin + grain_);
    next_ = end;
    ++running_;
    const auto* part = part_;
    lock.unlock();
    (*part)(begin, end);
    lock.lock();
    --running_;
  }
  if (running_ == 0) done_.notify_all();
}

void ThreadPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || next_ < extent_; });
    if (stop_) return;
    TakeParts(lock);
  }
}

void ThreadPool::Run(int64_t extent, int64_t grain,
                     const std::function<void(int64_t, int64_t)>& part) {
  std::lock_guard<std::mutex> only(one_run_);
  std::unique_lock<std::mutex> lock(mutex_);
  part_ = &part;
  extent_ = extent;
  grain_ = std::max<int64_t>(1, grain);
  next_ = 0;
  wake_.notify_all();
  TakeParts(lock);
  done_.wait(lock, [this] { return next_ >= extent_ && running_ == 0; });
  part_ = nullptr;
}

}  // namespace assay
