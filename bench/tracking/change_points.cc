// Three methods that find steps in a noisy series, and their vote.
#include "bench/tracking/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/tracking/rank_tests.h"

namespace assay {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double Quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

std::vector<double> Slice(const std::vector<double>& values, size_t from, size_t to) {
  return {values.begin() + static_cast<std::ptrdiff_t>(from),
          values.begin() + static_cast<std::ptrdiff_t>(to)};
}

// Neighbours are taken to resemble each other by half, as recorded ones do: what tens of points
// tell about their own correlation is less certain than that.
constexpr double kCorrelation = 0.5;

// A mean of points that resemble each other is less certain than one of as many that do not: the
// factor of its variance.
double Inflation(double count) {
  double factor = 1, power = 1;
  for (double lag = 1; lag < count && power > 1e-3; ++lag) {
    power *= kCorrelation;
    factor += 2 * (1 - lag / count) * power;
  }
  return factor;
}

// The standard deviation of the difference of two levels.
double SpreadOfDifference(double noise, size_t before, size_t after) {
  const auto n = static_cast<double>(before), m = static_cast<double>(after);
  return noise * std::sqrt(Inflation(n) / n + Inflation(m) / m);
}

// The difference of two levels that still is chance. Five points and more need more: there are more
// of such stretches, and a step that only they show has time.
double ChanceOf(double noise, size_t before, size_t after) {
  constexpr double kSpreads = 3.3, kLate = 1.35;
  return kSpreads * (after > 4 ? kLate : 1) * SpreadOfDifference(noise, before, after);
}

// The level of points by Huber's estimator: a mean in which a point counts by at most one and a
// half spreads, so that it is nearly as sharp as a mean and outliers move it little.
double LevelOf(const std::vector<double>& values, double spread) {
  double level = Median(values);
  for (int round = 0; round < 6; ++round) {
    double sum = 0, weights = 0;
    for (double value : values) {
      const double off = std::fabs(value - level);
      const double weight = off <= 1.5 * spread ? 1 : 1.5 * spread / off;
      sum += weight * value;
      weights += weight;
    }
    level = sum / weights;
  }
  return level;
}

// A lone point far off both of its neighbours is the machine's, whatever caused it: it is put back
// between them before anything is decided.
std::vector<double> WithoutSpikes(const std::vector<double>& x, double noise) {
  std::vector<double> calm = x;
  for (size_t i = 1; i + 1 < x.size(); ++i) {
    const double middle = Median({x[i - 1], x[i], x[i + 1]});
    if (std::fabs(x[i] - middle) > 4 * noise) calm[i] = middle;
  }
  return calm;
}

constexpr size_t kLookBack = 30, kLookAhead = 10;
// Less than this is chance if the place is known: few differences are looked at then.
constexpr double kKnownSpreads = 3;

// Finds the place in [first, last] that splits the points [from, to) best into two levels.
size_t BestSplit(const std::vector<double>& x, size_t first, size_t last, size_t from, size_t to,
                 double noise) {
  double least = std::numeric_limits<double>::infinity();
  size_t best = first;
  for (size_t i = std::max(from + 1, first); i <= last && i + 1 < to; ++i) {
    const double left = LevelOf(Slice(x, from, i), noise);
    const double right = LevelOf(Slice(x, i, to), noise);
    double sum = 0;
    for (size_t k = from; k < to; ++k) {
      const double off = (x[k] - (k < i ? left : right)) / noise;
      sum += std::min(off * off, 12.0);
    }
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  return best;
}

// The first method: up to ten points behind a place against up to thirty before it, as levels. What
// lies behind shows before the place itself is reached: the step is where the points split best.
std::vector<size_t> ByLookBack(const std::vector<double>& x, double noise) {
  std::vector<size_t> found;
  size_t level = 0;  // where the present level began
  auto differs = [&](size_t i) {
    const size_t from = std::max(level, i > kLookBack ? i - kLookBack : 0);
    const size_t to = std::min(x.size(), i + kLookAhead);
    const double before = LevelOf(Slice(x, from, i), noise);
    const double after = LevelOf(Slice(x, i, to), noise);
    return std::fabs(after - before) > ChanceOf(noise, i - from, to - i);
  };
  for (size_t i = kShortestLevel; i + kShortestLevel <= x.size(); ++i) {
    if (i < level + kShortestLevel || !differs(i)) continue;
    const size_t last = std::min(i + kLookAhead, x.size() - kShortestLevel);
    const size_t from = std::max(level, i > kLookBack ? i - kLookBack : 0);
    const size_t at = BestSplit(x, i, last, from, std::min(x.size(), i + 2 * kLookAhead), noise);
    if (!differs(at)) continue;
    found.push_back(at);
    level = at;
  }
  return found;
}

// The second: the cheapest division into level stretches. A point costs its squared distance in
// units of noise, but no more than a limit, so that outliers do not buy levels of their own.
std::vector<size_t> ByPartition(const std::vector<double>& x, double noise) {
  const size_t n = x.size();
  const double penalty = 4 * std::log(static_cast<double>(std::max<size_t>(n, 8))) + 3;
  auto cost = [&](size_t from, size_t to) {
    const double level = Median(Slice(x, from, to));
    double sum = 0;
    for (size_t i = from; i < to; ++i) {
      const double off = (x[i] - level) / noise;
      sum += std::min(off * off, 12.0);
    }
    return sum;
  };
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> last(n + 1, 0);
  best[0] = -penalty;
  for (size_t to = kShortestLevel; to <= n; ++to) {
    const size_t earliest = to > 80 ? to - 80 : 0;
    for (size_t from = earliest; from + kShortestLevel <= to; ++from) {
      if (std::isinf(best[from])) continue;
      const double total = best[from] + cost(from, to) + penalty;
      if (total < best[to]) {
        best[to] = total;
        last[to] = from;
      }
    }
  }
  std::vector<size_t> found;
  for (size_t to = n; to > 0 && last[to] > 0; to = last[to]) found.push_back(last[to]);
  std::reverse(found.begin(), found.end());
  return found;
}

// The third: ranks of three to ten points behind a place against up to thirty before it. The places
// of a run of small probabilities count once, at the smallest.
std::vector<size_t> ByRanks(const std::vector<double>& x) {
  std::vector<size_t> found;
  double smallest = 1;
  size_t at = 0;
  constexpr double kAlpha = 0.008;  // the normal approximation of 3 against 30 ends at 0.005
  for (size_t i = kShortestLevel; i + kShortestLevel <= x.size() + 1; ++i) {
    double p = 1;
    if (i + kShortestLevel <= x.size()) {
      const size_t from = i > kLookBack ? i - kLookBack : 0;
      p = RankSumP(Slice(x, from, i), Slice(x, i, std::min(x.size(), i + kLookAhead)));
    }
    if (p < kAlpha && p < smallest) {
      smallest = p;
      at = i;
    }
    if (p >= kAlpha && smallest < 1) {
      found.push_back(at);
      smallest = 1;
    }
  }
  return found;
}

bool HasNear(const std::vector<size_t>& places, size_t at) {
  return std::any_of(places.begin(), places.end(),
                     [&](size_t place) { return place + 2 >= at && place <= at + 2; });
}

}  // namespace

namespace {

// The root of the mean square, where none counts by more than two spreads. 0.92054 is what that
// limit leaves of the mean square of normal values.
double LimitedSpread(const std::vector<double>& offsets) {
  if (offsets.empty()) return 0;
  std::vector<double> sizes;
  for (double offset : offsets) sizes.push_back(std::fabs(offset));
  double spread = Median(sizes) / 0.6745;
  for (int round = 0; round < 4 && spread > 0; ++round) {
    double sum = 0;
    for (double size : sizes) sum += std::min(size * size, 4 * spread * spread);
    spread = std::sqrt(sum / static_cast<double>(sizes.size()) / 0.92054);
  }
  return spread;
}

// Neighbours that resemble each other differ by less than the points of a level do: the distance
// from the median of thirteen around each point tells by how much, and a step leaves it as it is.
double NoiseOfLevels(const std::vector<double>& x) {
  constexpr size_t kAround = 6;
  std::vector<double> offsets;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t from = i > kAround ? i - kAround : 0;
    offsets.push_back(x[i] - Median(Slice(x, from, std::min(x.size(), i + kAround + 1))));
  }
  // The median of thirteen follows its points, which takes a twentieth off the distances.
  const double spread = std::max(NoiseOf(x), LimitedSpread(offsets) / 0.95);
  // With few points the spread is far off now and then, mostly where it is taken too small.
  return spread * (1 + 1 / static_cast<double>(std::max<size_t>(1, x.size())));
}

}  // namespace

double NoiseOf(const std::vector<double>& logarithms) {
  std::vector<double> steps;
  for (size_t i = 1; i < logarithms.size(); ++i) {
    steps.push_back(logarithms[i] - logarithms[i - 1]);
  }
  return std::max(0.0005, LimitedSpread(steps) / std::sqrt(2.0));
}

std::vector<ChangePoint> FindChanges(const std::vector<double>& values) {
  std::vector<ChangePoint> changes;
  if (values.size() < 2 * kShortestLevel + 2) return changes;
  std::vector<double> logs;
  for (double value : values) logs.push_back(std::log(std::max(value, 1e-300)));
  const std::vector<double> x = WithoutSpikes(logs, NoiseOf(logs));
  const double noise = NoiseOfLevels(x);
  const std::vector<std::vector<size_t>> votes = {ByLookBack(x, noise), ByPartition(x, 1.3 * noise),
                                                  ByRanks(x)};
  std::vector<size_t> places;
  for (const std::vector<size_t>& method : {votes[1], votes[0]}) {
    for (size_t at : method) {
      int count = 0;
      for (const std::vector<size_t>& other : votes) count += HasNear(other, at) ? 1 : 0;
      if (count >= 2 && !HasNear(places, at)) places.push_back(at);
    }
  }
  std::sort(places.begin(), places.end());
  for (size_t k = 0; k < places.size(); ++k) {
    const size_t from = k == 0 ? 0 : places[k - 1];
    const size_t to = k + 1 < places.size() ? places[k + 1] : x.size();
    ChangePoint change;
    change.at = BestSplit(x, places[k] > 2 ? places[k] - 2 : 0, places[k] + 2, from, to, noise);
    const double before = LevelOf(Slice(x, from, change.at), noise);
    const double after = LevelOf(Slice(x, change.at, to), noise);
    const double chance = ChanceOf(noise, change.at - from, to - change.at);
    if (std::fabs(after - before) < std::max(chance, 0.004)) continue;
    change.before = std::exp(before);
    change.after = std::exp(after);
    for (const std::vector<size_t>& method : votes) {
      change.votes += HasNear(method, places[k]) ? 1 : 0;
    }
    changes.push_back(change);
  }
  return changes;
}

std::optional<ChangePoint> ChangeAt(const std::vector<double>& values, size_t from, size_t at,
                                    size_t to) {
  from = std::max(from, at > kLookBack ? at - kLookBack : 0);
  to = std::min({to, values.size(), at + kLookAhead});
  if (at < from + kShortestLevel || to < at + kShortestLevel) return std::nullopt;
  std::vector<double> logs;
  for (double value : values) logs.push_back(std::log(std::max(value, 1e-300)));
  const std::vector<double> x = WithoutSpikes(logs, NoiseOf(logs));
  const double noise = NoiseOfLevels(x);
  const double before = LevelOf(Slice(x, from, at), noise);
  const double after = LevelOf(Slice(x, at, to), noise);
  const double chance = SpreadOfDifference(noise, at - from, to - at);
  if (std::fabs(after - before) < std::max(kKnownSpreads * chance, 0.004)) return std::nullopt;
  return ChangePoint{at, std::exp(before), std::exp(after), 1};
}

std::vector<ChangePoint> FindSteps(const std::vector<double>& values, double tolerance) {
  std::vector<ChangePoint> steps;
  for (size_t i = 1; i < values.size(); ++i) {
    const double before = values[i - 1], after = values[i];
    const double scale = std::max(std::fabs(before), std::fabs(after));
    if (std::fabs(after - before) <= tolerance * scale) continue;
    steps.push_back({i, before, after, kChangeMethods});
  }
  return steps;
}

bool AlarmsByThirtyPercent(const std::vector<double>& prefix) {
  if (prefix.size() < 6) return false;
  const double before = Median(Slice(prefix, prefix.size() - 6, prefix.size() - 1));
  return std::fabs(prefix.back() / before - 1) > 0.3;
}

bool AlarmsByTTest(const std::vector<double>& prefix) {
  if (prefix.size() < 17) return false;
  const std::vector<double> before = Slice(prefix, prefix.size() - 17, prefix.size() - 5);
  const std::vector<double> after = Slice(prefix, prefix.size() - 5, prefix.size());
  double x = 0, y = 0;
  for (double value : before) x += value / static_cast<double>(before.size());
  for (double value : after) y += value / static_cast<double>(after.size());
  return std::fabs(y / x - 1) > 0.02 && WelchP(before, after) < 0.05;
}

bool AlarmsByFence(const std::vector<double>& prefix) {
  if (prefix.size() < 12) return false;
  std::vector<double> steps;
  const size_t from = prefix.size() > 32 ? prefix.size() - 32 : 0;
  for (size_t i = from + 1; i + 1 < prefix.size(); ++i) {
    steps.push_back(std::fabs(prefix[i] / prefix[i - 1] - 1));
  }
  const double q1 = Quantile(steps, 0.25), q3 = Quantile(steps, 0.75);
  return std::fabs(prefix.back() / prefix[prefix.size() - 2] - 1) > q3 + 3 * (q3 - q1);
}

}  // namespace assay
