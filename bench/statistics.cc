// Medians with intervals from order statistics, paired ratios and geometric means.
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// P(X <= k) for X binomial with n fair coins.
double FairBinomialCdf(int64_t n, int64_t k) {
  double sum = 0;
  for (int64_t i = 0; i <= k; ++i) {
    sum += std::exp(
        std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(i + 1)) -
        std::lgamma(static_cast<double>(n - i + 1)) - static_cast<double>(n) * std::log(2.0));
  }
  return sum;
}

}  // namespace

MedianInterval EstimateMedian(std::vector<double> samples) {
  MedianInterval result;
  result.samples = static_cast<int64_t>(samples.size());
  if (samples.empty()) return result;
  std::sort(samples.begin(), samples.end());
  int64_t n = result.samples;
  auto at = [&](int64_t i) { return samples[static_cast<size_t>(i)]; };
  result.median = n % 2 == 1 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
  // [sorted[k], sorted[n-1-k]] misses the true median when at most k coins fall on one side.
  int64_t k = 0;
  while (2 * (k + 1) < n && 1 - 2 * FairBinomialCdf(n, k + 1) >= 0.95) ++k;
  result.lower = at(k);
  result.upper = at(n - 1 - k);
  result.coverage = std::max(0.0, 1 - 2 * FairBinomialCdf(n, k));
  return result;
}

double CalmTenth(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 10);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

std::vector<double> PairedRatios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  }
  return ratios;
}

double GeometricMean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace assay
