// Rank tests, their corrections, and the decision that they end in.
#include "bench/tracking/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

double NormalTail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

// Ranks from 1; equal values share the mean of theirs.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return values[x] < values[y]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = (static_cast<double>(i + end) + 1) / 2;
    i = end;
  }
  return ranks;
}

// P(W <= w) for the sum of a random subset of the ranks 1..n.
double ExactSignedRankCdf(size_t n, double w) {
  std::vector<double> ways(n * (n + 1) / 2 + 1, 0);
  ways[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t sum = ways.size(); sum-- > rank;) ways[sum] += ways[sum - rank];
  }
  double count = 0;
  for (size_t sum = 0; sum < ways.size() && static_cast<double>(sum) <= w; ++sum)
    count += ways[sum];
  return count / std::pow(2.0, static_cast<double>(n));
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments MomentsOf(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Moments moments;
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / (n - 1);
  }
  return moments;
}

// The regularized incomplete beta function by Simpson's rule on the angle: x = sin^2, which keeps
// the integrand of half-integer exponents smooth.
double StudentTail(double t, double freedom) {
  // P(T > t) = 1/2 - integral of the density from 0 to t.
  constexpr int kSteps = 2000;
  const double scale =
      std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) / std::sqrt(M_PI);
  // With t = sqrt(freedom) tan(a), the density is scale * cos(a)^(freedom - 1).
  const double end = std::atan(t / std::sqrt(freedom));
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::cos(end * i / kSteps), freedom - 1);
  }
  return std::max(0.0, 0.5 - scale * sum * end / kSteps / 3);
}

}  // namespace

const char* Name(Change change) {
  switch (change) {
    case Change::kSame:
      return "same";
    case Change::kFaster:
      return "faster";
    case Change::kSlower:
      return "slower";
    case Change::kUndecided:
      break;
  }
  return "need more samples";
}

double SignedRankP(const std::vector<double>& values, double center) {
  std::vector<double> sizes, signs;
  for (double value : values) {
    if (value == center) continue;
    sizes.push_back(std::fabs(value - center));
    signs.push_back(value > center ? 1 : 0);
  }
  const size_t n = sizes.size();
  if (n == 0) return 1;
  const std::vector<double> ranks = Ranks(sizes);
  double positive = 0;
  for (size_t i = 0; i < n; ++i) positive += ranks[i] * signs[i];
  const double whole = static_cast<double>(n) * static_cast<double>(n + 1) / 2;
  const double smaller = std::min(positive, whole - positive);
  if (n <= 20) return std::min(1.0, 2 * ExactSignedRankCdf(n, smaller));
  const double variance = whole * (2 * static_cast<double>(n) + 1) / 12;
  double ties = 0;
  for (double rank : ranks) {
    // Each of k equal values adds (k^2 - 1) / 48 to what the variance is too large by.
    const auto k = static_cast<double>(std::count(ranks.begin(), ranks.end(), rank));
    ties += (k * k - 1) / 48;
  }
  const double z = (whole / 2 - smaller - 0.5) / std::sqrt(std::max(1e-12, variance - ties));
  return std::min(1.0, 2 * NormalTail(std::max(0.0, z)));
}

double RankSumP(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<double> ranks = Ranks(all);
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<int64_t>(n), 0.0);
  const double u = sum - n * (n + 1) / 2;
  double ties = 0;
  for (double rank : ranks) {
    const auto k = static_cast<double>(std::count(ranks.begin(), ranks.end(), rank));
    ties += k * k - 1;
  }
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;
  const double z = (std::fabs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * NormalTail(std::max(0.0, z)));
}

double CliffsDelta(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (double x : a) {
    for (double y : b) sum += y > x ? 1 : y < x ? -1 : 0;
  }
  return a.empty() || b.empty()
             ? 0
             : sum / static_cast<double>(a.size()) / static_cast<double>(b.size());
}

double WelchP(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const Moments x = MomentsOf(a), y = MomentsOf(b);
  const double vx = x.variance / static_cast<double>(a.size());
  const double vy = y.variance / static_cast<double>(b.size());
  if (vx + vy <= 0) return x.mean == y.mean ? 1 : 0;
  const double t = std::fabs(x.mean - y.mean) / std::sqrt(vx + vy);
  const double freedom =
      (vx + vy) * (vx + vy) /
      (vx * vx / static_cast<double>(a.size() - 1) + vy * vy / static_cast<double>(b.size() - 1));
  return std::min(1.0, 2 * StudentTail(t, freedom));
}

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

std::vector<Comparison> Compare(const std::vector<PairedSamples>& all, double margin,
                                double alpha) {
  std::vector<Comparison> results(all.size());
  std::vector<double> p;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> ratios = PairedRatios(all[i].b, all[i].a);
    std::vector<double> logs;
    for (double ratio : ratios) logs.push_back(std::log(ratio));
    results[i].ratio = EstimateMedian(ratios);
    results[i].delta = CliffsDelta(all[i].a, all[i].b);
    results[i].p = std::min(1.0, SignedRankP(logs) * all[i].looks);
    p.push_back(results[i].p);
  }
  const std::vector<double> adjusted = HolmAdjusted(p);
  for (size_t i = 0; i < all.size(); ++i) {
    Comparison& one = results[i];
    one.adjusted_p = adjusted[i];
    if (one.ratio.samples == 0) continue;
    const bool is_within = one.ratio.coverage >= 0.95 && one.ratio.upper <= 1 + margin &&
                           one.ratio.lower >= 1 / (1 + margin);
    if (one.adjusted_p <= alpha && std::fabs(std::log(one.ratio.median)) > margin / 2) {
      one.change = one.ratio.median > 1 ? Change::kSlower : Change::kFaster;
    } else if (is_within) {
      one.change = Change::kSame;
    }
  }
  return results;
}

}  // namespace assay
