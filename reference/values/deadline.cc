// Adds up the CPU time of the threads of a run.
#include "reference/values/deadline.h"

#include <atomic>
#include <ctime>

#include "spec/process/interrupt.h"

namespace assay::reference {
namespace {

double SecondsOfThisThread() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The system gives the identity of a thread that has ended to another one.
int64_t NumberOfThisThread() {
  static std::atomic<int64_t> threads = 0;
  thread_local const int64_t number = threads++;
  return number;
}

}  // namespace

Deadline::Deadline(double seconds)
    : seconds_left_(seconds), clocks_({{NumberOfThisThread(), SecondsOfThisThread()}}) {}

void Deadline::Look() {
  until_look_ = kInterval;
  const double now = SecondsOfThisThread();
  double& before = clocks_[NumberOfThisThread()];
  seconds_left_ -= now - before;
  before = now;
  is_interrupted_ = EvaluationsShouldEnd();
  is_over_ = seconds_left_ <= 0 || is_interrupted_;
}

}  // namespace assay::reference
