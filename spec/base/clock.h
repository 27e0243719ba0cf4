// Wall clock time in seconds, for differences.
#pragma once

#include <chrono>

namespace assay {

// Seconds since some fixed moment; never goes backwards.
inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Adds the time from its construction to its end to a sum.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& sum) : sum_(sum), start_(Now()) {}
  ~ScopedTimer() { sum_ += Now() - start_; }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& sum_;
  double start_;
};

}  // namespace assay
