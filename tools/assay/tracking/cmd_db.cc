// assay db: the result store itself.
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string what, argument;
  std::string db = kDefaultStore;
  double days = 365;
};

nlohmann::json PointJson(const PointRow& point) {
  return {{"type", "point"},
          {"workload", point.workload},
          {"subject", point.subject},
          {"machine", point.machine},
          {"reference", point.reference},
          {"version", point.version},
          {"commit", point.commit},
          {"flags", point.flags},
          {"taken_ms", point.taken_ms},
          {"measures", point.measures},
          {"hashes", point.hashes}};
}

// Lines that `export` wrote become points again. All of the file or nothing.
absl::StatusOr<std::vector<PointRow>> PointsOf(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<PointRow> points;
  std::istringstream lines(text);
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    auto word = [&](const char* name) {
      auto at = json.find(name);
      return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (!json.is_object() || word("type") != "point" || word("workload").empty()) {
      return absl::InvalidArgumentError(
          StrCat(path, ":", number, ": expected a point as assay db export writes it"));
    }
    PointRow point;
    point.workload = word("workload");
    point.subject = word("subject");
    point.machine = word("machine");
    point.reference = word("reference");
    point.version = word("version");
    point.commit = word("commit");
    point.flags = word("flags");
    if (json.contains("taken_ms") && json["taken_ms"].is_number_integer()) {
      point.taken_ms = json["taken_ms"].get<int64_t>();
    }
    if (json.contains("measures") && json["measures"].is_object()) {
      for (const auto& [name, value] : json["measures"].items()) {
        if (value.is_number()) point.measures[name] = value.get<double>();
      }
    }
    if (json.contains("hashes") && json["hashes"].is_object()) {
      for (const auto& [name, value] : json["hashes"].items()) {
        if (value.is_string()) point.hashes[name] = value.get<std::string>();
      }
    }
    points.push_back(std::move(point));
  }
  return points;
}

absl::StatusOr<int> Run(const Options& options) {
  const bool makes = options.what == "import" || options.what == "merge";
  if (std::error_code error; !makes && !std::filesystem::exists(options.db, error)) {
    return absl::NotFoundError(StrCat("there is no result store ", options.db));
  }
  const bool needs = makes || options.what == "query";
  if (needs && options.argument.empty()) {
    return absl::InvalidArgumentError(
        StrCat("assay db ", options.what, " needs ",
               options.what == "query" ? "a SELECT" : "the path of a file"));
  }
  if (std::error_code error; makes && !std::filesystem::exists(options.argument, error)) {
    return absl::NotFoundError(StrCat("there is no file ", options.argument));
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(options.db));
  if (options.what == "check") {
    ASSAY_RETURN_IF_ERROR(store->Check());
    Print(StrCat(options.db, " is sound"));
  } else if (options.what == "query") {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> rows, store->Query(options.argument));
    for (const std::string& row : rows) Print(row);
  } else if (options.what == "merge") {
    ASSAY_ASSIGN_OR_RETURN(const int64_t added, store->Merge(options.argument));
    Print(StrCat(added, " runs and points added"));
  } else if (options.what == "prune") {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    ASSAY_ASSIGN_OR_RETURN(
        const int64_t removed,
        store->Prune(now.count() - static_cast<int64_t>(options.days * 86400e3)));
    Print(StrCat(removed, " runs and points removed"));
  } else if (options.what == "export") {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<PointRow> points, store->Points());
    for (const PointRow& point : points) PrintJson(PointJson(point));
  } else {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<PointRow> points, PointsOf(options.argument));
    ASSAY_RETURN_IF_ERROR(store->AddPoints(points));
    Print(StrCat(Count(static_cast<int64_t>(points.size()), "point"), " added"));
  }
  return kExitOk;
}

}  // namespace

void DeclareDb(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("WHAT", options->what,
           "check: is it sound? query: rows of a SELECT as JSON; merge: take in another store; "
           "prune: forget what is old; export, import: points of series as JSON lines")
      .OneOf({"check", "query", "merge", "prune", "export", "import"})
      .Required();
  line.Add("ARGUMENT", options->argument, "The SELECT, the other store, or the file of points");
  line.Add("--db", options->db, "The result store").ShowDefault();
  line.Add("--days", options->days, "prune: keep what is younger").NonNegative().ShowDefault();
  action = [options] { return Run(*options); };
}

}  // namespace assay
