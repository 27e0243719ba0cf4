// assay bench --watch: alerts of the store's series, grouped by cause.
#include <cmath>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "bench/tracking/watch.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

std::string AlertText(const Alert& alert) {
  return absl::StrFormat("%s, %s: %.6g to %.6g (%+.2f %%)", alert.workload, alert.measure,
                         alert.before, alert.after,
                         alert.before == 0 ? 0 : (alert.after / alert.before - 1) * 100);
}

nlohmann::json AlertJson(const Alert& alert) {
  return {{"workload", alert.workload},   {"subject", alert.subject},
          {"measure", alert.measure},     {"before", alert.before},
          {"after", alert.after},         {"worse", alert.is_worse},
          {"exact", alert.is_exact},      {"commit_before", alert.commit_before},
          {"commit", alert.commit_after}, {"points_since", alert.from_end},
          {"cause", alert.cause.sentence}};
}

nlohmann::json GroupJson(const AlertGroup& group) {
  nlohmann::json json = {{"type", "alerts"},
                         {"cause", group.sentence},
                         {"key", group.key},
                         {"commit_before", group.commit_before},
                         {"commit", group.commit_after},
                         {"worse", group.is_worse}};
  for (const Alert& alert : group.alerts) json["alerts"].push_back(AlertJson(alert));
  return json;
}

std::string WatchMarkdown(const Watched& watched) {
  std::string page =
      StrCat("## Performance over time\n\n", watched.series, " series, ", watched.points,
             " points.", watched.groups.empty() ? " Nothing changed." : "", "\n");
  for (const AlertGroup& group : watched.groups) {
    page += StrCat("\n### ", group.commit_before, " to ", group.commit_after, ": ", group.sentence,
                   "\n\n");
    for (const Alert& alert : group.alerts) page += StrCat("- ", AlertText(alert), "\n");
  }
  return page;
}

void PrintWatched(const Watched& watched) {
  for (const AlertGroup& group : watched.groups) {
    Print(StrCat(
        Styled(group.is_worse ? Style::kBad : Style::kGood, group.is_worse ? "worse " : "better "),
        group.commit_before, "..", group.commit_after, ": ", group.sentence));
    for (const Alert& alert : group.alerts) Print(StrCat("  ", AlertText(alert)));
  }
  for (const Alert& alert : watched.machine) {
    Print(StrCat(Styled(Style::kDim, "no regression "), AlertText(alert), ": ",
                 alert.cause.sentence));
  }
  Print(StrCat(watched.series, " series, ", watched.points,
               " points: ", Count(static_cast<int64_t>(watched.groups.size()), "group"),
               " of alerts, ", watched.machine.size(), " changes of the machine alone"));
}

}  // namespace

absl::StatusOr<int> WatchSeries(const TrackingOptions& options, const TrackingSetting& setting) {
  if (std::error_code error; !std::filesystem::exists(setting.db, error)) {
    return absl::NotFoundError(
        StrCat("there is no result store ", setting.db, "; assay bench --record writes one"));
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(setting.db));
  ASSAY_ASSIGN_OR_RETURN(std::vector<PointRow> points, store->Points());
  const Watched watched = Watch(SeriesOf(std::move(points)),
                                [&](const std::string& hash) { return store->Text(hash); });
  constexpr size_t kRecent = 5;
  bool is_recent = false;
  for (const AlertGroup& group : watched.groups) {
    for (const Alert& alert : group.alerts) {
      is_recent = is_recent || (alert.is_worse && alert.from_end <= kRecent);
    }
    if (setting.json) PrintJson(GroupJson(group));
  }
  if (setting.json) {
    PrintJson({{"type", "summary"},
               {"verb", "bench"},
               {"series", watched.series},
               {"points", watched.points},
               {"groups", watched.groups.size()},
               {"machine", watched.machine.size()}});
  } else {
    PrintWatched(watched);
  }
  if (!options.markdown.empty()) {
    ASSAY_RETURN_IF_ERROR(WriteFile(options.markdown, WatchMarkdown(watched)));
  }
  return options.gate && is_recent ? kExitFailure : kExitOk;
}

}  // namespace assay
