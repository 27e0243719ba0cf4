// Lets a long run end early with what it has: SIGINT (Ctrl-C) and SIGTERM ask for it instead of
// killing the process.
#pragma once

namespace assay {

// While one lives, the first SIGINT or SIGTERM only sets the flag of InterruptRequested; a second
// one acts as it did before, but one that a process sends within a second or two of the first,
// which comes of the same request. One at a time.
class InterruptGuard {
 public:
  // Set in a run that has no use for evaluations of this process that are not finished then
  // (EvaluationsShouldEnd); others end with what they have.
  explicit InterruptGuard(bool ends_evaluations = false);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// True if a signal has come since the last guard was made.
bool InterruptRequested();
// True if, moreover, that guard ends evaluations: the oracle stops in the middle of an op.
bool EvaluationsShouldEnd();

// From now on SIGINT and SIGTERM end this process with the status where no guard lives, as they
// would by default, but for those that whoever started it has it ignore.
void ExitOnInterrupt(int status);

}  // namespace assay
