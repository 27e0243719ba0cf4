// Alerts over series, with causes, in groups.
#include "bench/tracking/watch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "bench/tracking/change_points.h"

namespace assay {
namespace {

using TextSource = std::function<absl::StatusOr<std::string>(const std::string&)>;

std::string HashIn(const PointRow& point, const std::string& kind) {
  auto at = point.hashes.find(kind);
  return at == point.hashes.end() ? "" : at->second;
}

Made MadeAt(const PointRow& point, const TextSource& text) {
  Made made;
  for (const auto& [kind, hash] : point.hashes) {
    absl::StatusOr<std::string> content = text(hash);
    // The hash stands for a text that is gone: equal ones still say that nothing changed.
    made[kind] = content.ok() ? *std::move(content) : hash;
  }
  return made;
}

bool IsTime(const std::string& measure) {
  return measure.rfind("ratio", 0) == 0 || measure == "run_seconds" ||
         measure.rfind("compile", 0) == 0;
}

// True if the compiler made the same on both sides, as far as hashes tell.
bool IsSameCode(const PointRow& before, const PointRow& after) {
  const std::string code = HashIn(before, "code");
  return !code.empty() && code == HashIn(after, "code");
}

// The first point of the new level, moved by at most two to where the code changed, which the
// hashes know better than any statistics. False: the code did not change there.
bool SnapToCode(const Series& series, size_t& at) {
  bool is_known = false;
  for (size_t off : {0, 1, 2}) {
    for (const size_t place : {at - std::min(at, off), at + off}) {
      if (place == 0 || place >= series.size()) continue;
      if (HashIn(series[place], "code").empty() || HashIn(series[place - 1], "code").empty()) {
        continue;
      }
      is_known = true;
      if (!IsSameCode(series[place - 1], series[place])) {
        at = place;
        return true;
      }
    }
  }
  return !is_known;
}

// Adds the steps at places where the code changed, unless one was found near: such a place need not
// be looked for.
void AddKnownPlaces(const Series& series, const std::vector<double>& values,
                    std::vector<ChangePoint>& changes) {
  std::vector<size_t> borders;
  for (const ChangePoint& change : changes) borders.push_back(change.at);
  std::vector<size_t> places;
  for (size_t i = 1; i < series.size(); ++i) {
    const bool is_known =
        !HashIn(series[i], "code").empty() && !HashIn(series[i - 1], "code").empty();
    if (!is_known || IsSameCode(series[i - 1], series[i])) continue;
    places.push_back(i);
    borders.push_back(i);
  }
  std::sort(borders.begin(), borders.end());
  const size_t found = changes.size();
  for (const size_t place : places) {
    const bool is_found = std::any_of(
        changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(found),
        [place](const ChangePoint& one) { return one.at + 2 >= place && one.at <= place + 2; });
    if (is_found) continue;
    const auto next = std::upper_bound(borders.begin(), borders.end(), place);
    const auto here = std::lower_bound(borders.begin(), borders.end(), place);
    const size_t from = here == borders.begin() ? 0 : *(here - 1);
    const size_t to = next == borders.end() ? values.size() : *next;
    const std::optional<ChangePoint> change = ChangeAt(values, from, place, to);
    if (change.has_value()) changes.push_back(*change);
  }
  std::sort(changes.begin(), changes.end(),
            [](const ChangePoint& x, const ChangePoint& y) { return x.at < y.at; });
}

Alert AlertOf(const Series& series, const std::string& measure, const ChangePoint& change,
              size_t at, const TextSource& text) {
  Alert alert;
  const PointRow &before = series[at - 1], &after = series[at];
  alert.workload = after.workload;
  alert.subject = after.subject;
  alert.measure = measure;
  alert.before = change.before;
  alert.after = change.after;
  alert.is_exact = !IsTime(measure);
  alert.is_worse = change.after > change.before;
  alert.commit_before = before.commit;
  alert.commit_after = after.commit;
  alert.point_before = before.id;
  alert.point_after = after.id;
  alert.from_end = series.size() - at;
  alert.cause = CauseBetween(before, after, text);
  return alert;
}

void WatchMeasure(const Series& series, const std::string& measure, const TextSource& text,
                  Watched& watched) {
  // Points that lack the measure are left out; the others keep their order.
  Series present;
  std::vector<double> values;
  for (const PointRow& point : series) {
    auto at = point.measures.find(measure);
    if (at == point.measures.end()) continue;
    present.push_back(point);
    values.push_back(at->second);
  }
  // Counted instructions of the same code differ by what the loader and the allocator do.
  const double tolerance = measure == "instructions" ? 0.002 : 0;
  const bool is_time = IsTime(measure);
  std::vector<ChangePoint> changes = is_time ? FindChanges(values) : FindSteps(values, tolerance);
  if (is_time) AddKnownPlaces(present, values, changes);
  for (const ChangePoint& change : changes) {
    size_t at = change.at;
    const bool is_code = !is_time || SnapToCode(present, at);
    Alert alert = AlertOf(present, measure, change, at, text);
    if (!is_code) {
      watched.machine.push_back(std::move(alert));
      continue;
    }
    const auto same =
        std::find_if(watched.groups.begin(), watched.groups.end(), [&](const AlertGroup& group) {
          return group.key == alert.cause.key && group.commit_after == alert.commit_after;
        });
    if (same == watched.groups.end()) {
      watched.groups.push_back({alert.cause.key,
                                alert.cause.sentence,
                                alert.commit_before,
                                alert.commit_after,
                                alert.is_worse,
                                {alert}});
    } else {
      same->is_worse = same->is_worse || alert.is_worse;
      same->alerts.push_back(std::move(alert));
    }
  }
}

double SizeOf(const AlertGroup& group) {
  double largest = 0;
  for (const Alert& alert : group.alerts) {
    if (alert.before > 0 && alert.after > 0 && alert.measure == "ratio") {
      largest = std::max(largest, std::fabs(std::log(alert.after / alert.before)));
    }
  }
  return largest;
}

}  // namespace

std::vector<Series> SeriesOf(std::vector<PointRow> points) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, Series> by;
  for (PointRow& point : points) {
    auto key =
        std::tuple(point.workload, point.subject, point.machine, point.reference, point.flags);
    by[std::move(key)].push_back(std::move(point));
  }
  std::vector<Series> all;
  for (auto& [key, series] : by) all.push_back(std::move(series));
  return all;
}

ChangeCause CauseBetween(const PointRow& before, const PointRow& after, const TextSource& text) {
  return Explain(MadeAt(before, text), MadeAt(after, text));
}

Watched Watch(const std::vector<Series>& all, const TextSource& text) {
  Watched watched;
  for (const Series& series : all) {
    ++watched.series;
    watched.points += static_cast<int64_t>(series.size());
    std::set<std::string> measures;
    for (const PointRow& point : series) {
      for (const auto& [name, value] : point.measures) {
        // Raw times are the machine's as much as ours: kept for pages, never an alert.
        if (name == "ratio" || !IsTime(name)) measures.insert(name);
      }
    }
    for (const std::string& measure : measures) WatchMeasure(series, measure, text, watched);
  }
  std::stable_sort(watched.groups.begin(), watched.groups.end(),
                   [](const AlertGroup& x, const AlertGroup& y) {
                     if (x.is_worse != y.is_worse) return x.is_worse;
                     return SizeOf(x) > SizeOf(y);
                   });
  return watched;
}

}  // namespace assay
