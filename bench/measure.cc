// Interleaved measurement of backends on one module.
#include "bench/measure.h"

#include <algorithm>

#include "bench/statistics.h"
#include "spec/backend/donation.h"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"

namespace assay {
namespace {

absl::Status Named(const Backend& backend, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(backend.Describe().name, ": ", Name(ClassOf(status)),
                                            ": ", ToStd(status.message())));
}

// Forwards in even rounds, backwards in odd ones: none is always the first after a pause.
size_t Turn(size_t round, size_t i, size_t count) { return round % 2 == 0 ? i : count - 1 - i; }

// True once the median ratio of the first two is known to the precision that was asked for.
bool IsPrecise(const std::vector<Timings>& timings, double precision) {
  if (timings.size() < 2) return true;
  const MedianInterval ratio =
      EstimateMedian(PairedRatios(timings[1].run_seconds, timings[0].run_seconds));
  return ratio.upper <= ratio.median * (1 + precision) &&
         ratio.lower >= ratio.median * (1 - precision);
}

// Arguments that the module's aliases give away are made anew before each run, which is no part of
// its time, as a caller that feeds back what came out would have them.
class Arguments {
 public:
  Arguments(const Module& module, const std::vector<const Literal*>& inputs)
      : inputs_(inputs), passed_(inputs), given_(inputs.size(), nullptr), copies_(inputs.size()) {
    for (const InputOutputAlias& alias : module.config().input_output_alias) {
      const auto k = static_cast<size_t>(alias.parameter);
      if (k < given_.size()) given_[k] = &copies_[k];
    }
  }
  absl::StatusOr<RunResult> RunOn(Executable& executable) {
    bool gives = false;
    for (size_t k = 0; k < given_.size(); ++k) {
      if (given_[k] == nullptr) continue;
      gives = true;
      copies_[k] = *inputs_[k];
      passed_[k] = given_[k];
    }
    auto* donating = gives ? dynamic_cast<DonatingExecutable*>(&executable) : nullptr;
    return donating == nullptr ? executable.Run({inputs_})
                               : donating->RunDonating({passed_}, {given_});
  }

 private:
  const std::vector<const Literal*>& inputs_;
  std::vector<const Literal*> passed_;
  std::vector<Literal*> given_;
  std::vector<Literal> copies_;
};

}  // namespace

absl::StatusOr<std::vector<Timings>> MeasureInterleaved(const std::vector<Backend*>& backends,
                                                        const Module& module,
                                                        const std::vector<const Literal*>& inputs,
                                                        const MeasureOptions& options) {
  size_t count = backends.size();
  std::vector<Timings> timings(count);
  std::vector<std::unique_ptr<Executable>> executables(count);
  for (int round = 0; round < std::max(1, options.compiles); ++round) {
    for (size_t i = 0; i < count; ++i) {
      if (InterruptRequested()) return absl::CancelledError("interrupted");
      size_t at = Turn(static_cast<size_t>(round), i, count);
      executables[at].reset();
      double start = Now();
      absl::StatusOr<std::unique_ptr<Executable>> executable =
          backends[at]->Compile(module, options.compile);
      if (!executable.ok()) return Named(*backends[at], executable.status());
      const double wall = Now() - start;
      executables[at] = *std::move(executable);
      timings[at].statistics = executables[at]->Statistics();
      auto own = timings[at].statistics.find("compile.seconds");
      timings[at].compile_seconds.push_back(own != timings[at].statistics.end() ? own->second
                                                                                : wall);
    }
  }
  Arguments arguments(module, inputs);
  double begin = Now();
  std::vector<double> spent(count, 0);
  auto enough = [&](size_t rounds) {
    if (rounds >= static_cast<size_t>(options.max_runs)) return true;
    if (rounds >= 2 && Now() - begin > options.max_seconds) return true;
    return rounds >= static_cast<size_t>(options.min_runs) &&
           *std::min_element(spent.begin(), spent.end()) >= options.min_seconds &&
           // Sorting all samples after every round would take the time of many runs.
           (options.precision <= 0 || (rounds % 8 == 0 && IsPrecise(timings, options.precision)));
  };
  constexpr size_t kWarmUp = 2;
  for (size_t round = 0; round < kWarmUp || !enough(round - kWarmUp); ++round) {
    for (size_t i = 0; i < count; ++i) {
      if (InterruptRequested()) return absl::CancelledError("interrupted");
      size_t at = Turn(round, i, count);
      // The last output is let go before the next is made, as a caller that uses it up would.
      timings[at].output = Literal();
      absl::StatusOr<RunResult> run = arguments.RunOn(*executables[at]);
      if (!run.ok()) return Named(*backends[at], run.status());
      timings[at].output = std::move(run->outputs[0]);
      timings[at].peak_bytes = run->peak_bytes;
      if (round < kWarmUp) continue;
      timings[at].run_seconds.push_back(run->seconds);
      spent[at] += run->seconds;
    }
  }
  return timings;
}

}  // namespace assay
