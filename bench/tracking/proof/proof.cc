// Planted steps in synthetic and recorded noise, watched point by point as they would have come.
#include "bench/tracking/proof/proof.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "absl/strings/str_format.h"
#include "bench/tracking/change_points.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A draw of the standard normal distribution that is the same with every standard library.
double Normal(std::mt19937_64& random) {
  const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
  const double v = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

using Noise = std::function<std::vector<double>(std::mt19937_64&, int64_t points)>;

// Logarithms of ratios around 0.
std::vector<double> Gaussian(std::mt19937_64& random, int64_t points, double spread) {
  std::vector<double> x;
  for (int64_t i = 0; i < points; ++i) x.push_back(spread * Normal(random));
  return x;
}

// One point in twenty is a machine that had something else to do.
std::vector<double> WithOutliers(std::mt19937_64& random, int64_t points, double spread) {
  std::vector<double> x = Gaussian(random, points, spread);
  for (double& value : x) {
    if (random() % 20 == 0) value += 8 * spread * std::fabs(Normal(random));
  }
  return x;
}

// Neighbours resemble each other: a correlation of 0.5.
std::vector<double> Correlated(std::mt19937_64& random, int64_t points, double spread) {
  std::vector<double> x = Gaussian(random, points, spread);
  for (size_t i = 1; i < x.size(); ++i) x[i] = 0.5 * x[i - 1] + std::sqrt(0.75) * x[i];
  return x;
}

// Blocks of five neighbours of what was recorded, in random order, around the series' own median.
std::vector<double> Recorded(const std::vector<std::vector<double>>& recorded,
                             std::mt19937_64& random, int64_t points) {
  std::vector<double> x;
  const std::vector<double>& source = recorded[random() % recorded.size()];
  std::vector<double> sorted = source;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  while (static_cast<int64_t>(x.size()) < points) {
    const size_t from = random() % source.size();
    for (size_t i = 0; i < 5 && static_cast<int64_t>(x.size()) < points; ++i) {
      x.push_back(std::log(source[(from + i) % source.size()] / middle));
    }
  }
  return x;
}

void Count(const std::vector<RuleAlarm>& alarms, bool has_step, size_t at, size_t points,
           ProofRule& rule) {
  rule.points += static_cast<int64_t>(points);
  bool is_found = false;
  for (const auto& [when, where] : alarms) {
    const bool is_near = has_step && when >= at && when <= at + 12 && where + 3 >= at;
    if (!is_near) {
      ++rule.false_alarms;
    } else if (!is_found) {
      is_found = true;
      ++rule.found;
      rule.delay += static_cast<double>(when - at);
      if (when <= at + 3) ++rule.found_in_time;
    }
  }
  if (has_step) ++rule.planted;
}

}  // namespace

std::vector<std::vector<RuleAlarm>> AlarmsOfRules(const std::vector<double>& values) {
  std::vector<std::vector<RuleAlarm>> alarms(std::size(kRuleNames));
  std::vector<double> prefix;
  for (double value : values) {
    prefix.push_back(value);
    const size_t now = prefix.size() - 1;
    for (const ChangePoint& change : FindChanges(prefix)) {
      bool is_known = false;
      for (const auto& [when, where] : alarms[0]) {
        is_known = is_known || (where + 3 >= change.at && where <= change.at + 3);
      }
      if (!is_known) alarms[0].push_back({now, change.at});
    }
    using Rule = bool (*)(const std::vector<double>&);
    const Rule rules[] = {AlarmsByThirtyPercent, AlarmsByTTest, AlarmsByFence};
    for (size_t i = 0; i < 3; ++i) {
      if (!rules[i](prefix)) continue;
      // A rule that goes on alarming about the same step says one thing.
      const bool goes_on = !alarms[i + 1].empty() && alarms[i + 1].back().when + 8 >= now;
      if (!goes_on) alarms[i + 1].push_back({now, now});
    }
  }
  return alarms;
}

std::vector<ProofRow> ProveDetector(const std::vector<std::vector<double>>& recorded,
                                    int64_t series, int64_t points, uint64_t seed) {
  std::vector<std::pair<std::string, Noise>> noises;
  for (double spread : {0.005, 0.01}) {
    const std::string name = absl::StrFormat("%.1f %%", spread * 100);
    noises.emplace_back("normal " + name,
                        [=](auto& random, int64_t n) { return Gaussian(random, n, spread); });
    noises.emplace_back("outliers " + name,
                        [=](auto& random, int64_t n) { return WithOutliers(random, n, spread); });
    noises.emplace_back("correlated " + name,
                        [=](auto& random, int64_t n) { return Correlated(random, n, spread); });
  }
  if (!recorded.empty()) {
    noises.emplace_back("recorded",
                        [&](auto& random, int64_t n) { return Recorded(recorded, random, n); });
  }
  std::vector<ProofRow> rows;
  for (const auto& [name, noise] : noises) {
    for (double step : {0.0, 0.01, 0.02, 0.05, 0.1, 0.2}) {
      ProofRow row;
      row.noise = name;
      row.step = step;
      for (const char* rule : kRuleNames) {
        row.rules.emplace_back();
        row.rules.back().name = rule;
      }
      std::mt19937_64 random(seed);
      for (int64_t i = 0; i < series; ++i) {
        std::vector<double> x = noise(random, points);
        const size_t at =
            static_cast<size_t>(points) / 3 + random() % static_cast<size_t>(points / 3);
        for (size_t k = 0; k < x.size(); ++k) {
          x[k] = std::exp(x[k]) * (k >= at ? 1 + step : 1);
        }
        const auto alarms = AlarmsOfRules(x);
        for (size_t rule = 0; rule < row.rules.size(); ++rule) {
          Count(alarms[rule], step > 0, at, x.size(), row.rules[rule]);
        }
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string ProofTable(const std::vector<ProofRow>& rows) {
  std::string table =
      "| noise | step | rule | found | within 3 points | mean delay | false alarms per 1000 points "
      "|\n| --- | ---: | --- | ---: | ---: | ---: | ---: |\n";
  for (const ProofRow& row : rows) {
    for (const ProofRule& rule : row.rules) {
      const double planted = static_cast<double>(rule.planted);
      auto share = [&](int64_t count) {
        return planted > 0 ? absl::StrFormat("%.1f %%", 100 * static_cast<double>(count) / planted)
                           : std::string("-");
      };
      table += absl::StrFormat(
          "| %s | %s | %s | %s | %s | %s | %.2f |\n", row.noise,
          row.step > 0 ? absl::StrFormat("%.0f %%", row.step * 100) : "none", rule.name,
          share(rule.found), share(rule.found_in_time),
          rule.found > 0 ? absl::StrFormat("%.1f", rule.delay / static_cast<double>(rule.found))
                         : "-",
          1000 * static_cast<double>(rule.false_alarms) / static_cast<double>(rule.points));
    }
  }
  return table;
}

}  // namespace assay
