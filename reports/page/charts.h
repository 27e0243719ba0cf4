// Charts as inline SVG: no script, colours from the style sheet, readable on paper and by screen
// readers.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay {

// Parts of a whole in one bar, with a legend that names each part and its share. Parts of zero are
// left out; at most seven colours.
std::string SplitBar(const std::vector<std::pair<std::string, double>>& parts);

// Horizontal bars, longest first as given; the value is written behind each.
std::string BarList(const std::vector<std::pair<std::string, double>>& bars);

struct Interval {
  std::string name;
  double value = 0, lower = 0, upper = 0;
};
// Ratios with confidence intervals on a logarithmic axis around 1; "<1" is better.
std::string RatioChart(const std::vector<Interval>& ratios);

}  // namespace assay
