// Charts as text of SVG.
#include "reports/page/charts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "reports/numbers.h"
#include "reports/page/html.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kColours = 7;
constexpr double kWidth = 900;

std::string Rect(double x, double y, double width, double height, size_t colour) {
  return absl::StrFormat(
      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" fill=\"var(--c%d)\"/>",
      x, y, width, height, static_cast<int>(colour % kColours));
}

std::string Text(double x, double y, std::string_view text, std::string_view extra = "") {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" ", x, y) + std::string(extra) + ">" +
         EscapeHtml(text) + "</text>";
}

std::string Open(double height, std::string_view label) {
  return absl::StrFormat("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", kWidth,
                         height) +
         EscapeHtml(label) + "\">";
}

}  // namespace

std::string SplitBar(const std::vector<std::pair<std::string, double>>& parts) {
  double total = 0;
  for (const auto& part : parts) total += std::max(0.0, part.second);
  if (total <= 0) return "";
  std::string svg = Open(26, "where the time went");
  std::string legend = "<div class=\"legend\">";
  double x = 0;
  size_t colour = 0;
  for (const auto& [name, value] : parts) {
    if (value <= 0) continue;
    double width = kWidth * value / total;
    svg += Rect(x, 0, std::max(0.5, width - 1.5), 26, colour);
    StrAppend(&legend, "<span><i style=\"background:var(--c", colour % kColours, ")\"></i>",
              EscapeHtml(name), absl::StrFormat(" %.1f %%</span>", 100 * value / total));
    x += width;
    ++colour;
  }
  return svg + "</svg>" + legend + "</div>\n";
}

std::string BarList(const std::vector<std::pair<std::string, double>>& bars) {
  double largest = 0;
  for (const auto& bar : bars) largest = std::max(largest, bar.second);
  if (largest <= 0) return "";
  constexpr double kRow = 22, kLeft = 290, kRight = 90;
  std::string svg = Open(kRow * static_cast<double>(bars.size()), "counts");
  for (size_t i = 0; i < bars.size(); ++i) {
    double y = kRow * static_cast<double>(i);
    double width = (kWidth - kLeft - kRight) * bars[i].second / largest;
    svg += Text(kLeft - 10, y + 15, bars[i].first, "text-anchor=\"end\"");
    svg += Rect(kLeft, y + 4, std::max(1.0, width), kRow - 8, 0);
    svg += Text(kLeft + width + 8, y + 15,
                Grouped(static_cast<int64_t>(std::llround(bars[i].second))), "class=\"soft\"");
  }
  return svg + "</svg>\n";
}

std::string RatioChart(const std::vector<Interval>& ratios) {
  double reach = std::log(2.0);  // at least from 1/2 to 2
  for (const Interval& ratio : ratios) {
    for (double value : {ratio.value, ratio.lower, ratio.upper}) {
      if (value > 0 && std::isfinite(value)) reach = std::max(reach, std::abs(std::log(value)));
    }
  }
  reach *= 1.08;
  constexpr double kRow = 28, kLeft = 290, kRight = 120, kTop = 24;
  double span = kWidth - kLeft - kRight;
  auto place = [&](double value) { return kLeft + span * (std::log(value) + reach) / (2 * reach); };
  double height = kTop + kRow * static_cast<double>(ratios.size()) + 4;
  std::string svg = Open(height, "ratios with confidence intervals; above one is better");
  for (double tick : {0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 100.0}) {
    if (std::abs(std::log(tick)) > reach) continue;
    svg += absl::StrFormat(
        "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"%s/>", place(tick),
        place(tick), kTop - 6, height, tick == 1 ? " stroke-width=\"2.5\"" : "");
    svg += Text(place(tick), kTop - 11, absl::StrFormat("%g", tick),
                "text-anchor=\"middle\" class=\"soft\"");
  }
  for (size_t i = 0; i < ratios.size(); ++i) {
    const Interval& ratio = ratios[i];
    double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    svg += Text(kLeft - 10, y + 4, ratio.name, "text-anchor=\"end\"");
    if (!(ratio.value > 0)) continue;
    std::string_view colour = ratio.value >= 1 ? "var(--good)" : "var(--c3)";
    if (ratio.lower > 0 && ratio.upper > ratio.lower) {
      svg += absl::StrFormat(
          "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke-width=\"3\" "
          "stroke-linecap=\"round\" stroke=\"",
          place(ratio.lower), place(ratio.upper), y, y);
      StrAppend(&svg, colour, "\" opacity=\".45\"/>");
    }
    svg +=
        absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"", place(ratio.value), y);
    StrAppend(&svg, colour, "\"/>");
    svg += Text(kWidth - kRight + 14, y + 4, absl::StrFormat("%.2f", ratio.value));
  }
  return svg + "</svg>\n";
}

}  // namespace assay
