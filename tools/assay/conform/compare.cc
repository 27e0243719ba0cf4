// Tables of packages.
#include "tools/assay/conform/compare.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "reports/case_name.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"

namespace assay {
namespace {

constexpr std::string_view kStatuses[] = {"passed",           "failed",      "crashed",
                                          "rejected",         "timed out",   "inconclusive",
                                          "nothing to judge", "unsupported", "waived"};

struct Column {
  std::string title;
  const Package* package;
  const CaseClasses* classes;
  std::map<std::string, std::string> statuses;  // by case
};

bool IsBad(std::string_view status) {
  return status == "failed" || status == "crashed" || status == "rejected" || status == "timed out";
}

std::string Row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += StrCat(" ", cell, cell.empty() ? "|" : " |");
  return text + "\n";
}
std::string Head(const std::vector<std::string>& titles) {
  return Row(titles) + Row(std::vector<std::string>(titles.size(), "---"));
}

using Counts = std::map<std::string, int64_t, std::less<>>;

int64_t Of(const Counts& counts, std::string_view status) {
  const auto at = counts.find(status);
  return at == counts.end() ? 0 : at->second;
}

// "ok"; "-" where nothing is supported; else what is not right, of how many.
std::string Cell(const Counts& counts) {
  int64_t all = 0;
  for (const auto& [status, count] : counts) all += count;
  if (all == 0) return "";
  if (Of(counts, "passed") == all) return "ok";
  if (Of(counts, "unsupported") == all) return "-";
  std::string text;
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"failed", "F"},       {"crashed", "C"},     {"rejected", "R"},         {"timed out", "T"},
      {"inconclusive", "?"}, {"unsupported", "-"}, {"nothing to judge", "?"}, {"waived", "w"}};
  for (const auto& [status, mark] : kMarks) {
    const int64_t count = Of(counts, status);
    if (count == 0) continue;
    const std::string one = StrCat(count, " ", mark);
    text += StrCat(text.empty() ? "" : ", ", IsBad(status) ? StrCat("**", one, "**") : one);
  }
  return StrCat(text, " of ", all);
}

std::map<std::string, Counts> CountByGroup(const Column& column) {
  std::map<std::string, Counts> groups;
  for (const auto& [name, status] : column.statuses)
    ++groups[std::string(FamilyOfCase(name))][status];
  return groups;
}

std::string Totals(const std::vector<Column>& columns) {
  std::vector<std::string> titles = {"result"};
  for (const Column& column : columns) titles.push_back(column.title);
  std::string text = Head(titles);
  for (const std::string_view status : kStatuses) {
    std::vector<std::string> cells = {std::string(status)};
    bool is_there = false;
    for (const Column& column : columns) {
      int64_t count = 0;
      for (const auto& [name, one] : column.statuses) count += one == status ? 1 : 0;
      is_there |= count > 0;
      cells.push_back(StrCat(count));
    }
    if (is_there) text += Row(cells);
  }
  return text;
}

std::string ByGroup(const std::vector<Column>& columns) {
  std::vector<std::string> titles = {"op"};
  std::set<std::string> groups;
  std::vector<std::map<std::string, Counts>> counts;
  for (const Column& column : columns) {
    titles.push_back(column.title);
    counts.push_back(CountByGroup(column));
    for (const auto& [group, ignored] : counts.back()) groups.insert(group);
  }
  std::string text = Head(titles), fine;
  for (const std::string& group : groups) {
    std::vector<std::string> cells = {group};
    bool all_pass = true;
    for (const auto& column : counts) {
      const auto at = column.find(group);
      cells.push_back(at == column.end() ? "" : Cell(at->second));
      all_pass &= cells.back() == "ok";
    }
    if (all_pass) {
      fine += StrCat(fine.empty() ? "" : ", ", group);
    } else {
      text += Row(cells);
    }
  }
  if (!fine.empty()) text += StrCat("\nEvery case passes everywhere: ", fine, ".\n");
  return text;
}

// Cases that are wrong in one column, and in no other where they are judged, which one does.
std::string OnlyHere(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) {
    std::map<std::string, int64_t> groups;
    std::vector<std::string> examples;
    int64_t count = 0;
    for (const auto& [name, status] : column.statuses) {
      if (!IsBad(status)) continue;
      bool is_alone = true, passes_elsewhere = false;
      for (const Column& other : columns) {
        const auto at = other.statuses.find(name);
        if (&other == &column || at == other.statuses.end()) continue;
        is_alone &= !IsBad(at->second);
        passes_elsewhere |= at->second == "passed";
      }
      if (!is_alone || !passes_elsewhere) continue;
      ++count;
      ++groups[std::string(FamilyOfCase(name))];
      if (examples.size() < 3) examples.push_back(StrCat("`", name, "` ", status));
    }
    text += StrCat("- ", column.title, ": ", count);
    std::string by_group;
    for (const auto& [group, number] : groups)
      by_group += StrCat(by_group.empty() ? " (" : ", ", group, " ", number);
    if (!by_group.empty()) text += by_group + ")";
    for (const std::string& example : examples) text += StrCat("; ", example);
    text += "\n";
  }
  return text;
}

// The class of each wrong case, which is the reason of its waiver; and the cases that have none.
std::string Classes(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) {
    std::map<std::string, std::map<std::string, int64_t>> reasons;  // their cases by pattern
    std::map<std::string, int64_t> unknown;
    for (const CaseRow& row : column.package->run.cases) {
      const std::string name(RestOfCase(row.name));
      const std::string pattern = name.substr(0, name.find('/'));
      if (row.status == "waived") ++reasons[row.detail.substr(0, row.detail.find('\n'))][pattern];
      if (!IsBad(row.status)) continue;
      const auto known = column.classes->find(row.name);
      if (known != column.classes->end()) {
        ++reasons[known->second][pattern];
      } else {
        ++unknown[StrCat(pattern, " ", row.status)];
      }
    }
    const auto list = [](const std::map<std::string, int64_t>& counts) {
      std::string all;
      for (const auto& [name, count] : counts)
        all += StrCat(all.empty() ? "" : ", ", name, " ", count);
      return all;
    };
    for (const auto& [reason, patterns] : reasons)
      text += StrCat("- ", column.title, ": ", reason, ": ", list(patterns), "\n");
    if (!unknown.empty())
      text += StrCat("- ", column.title, ", of no class: ", list(unknown), "\n");
  }
  return text;
}

// A form passes where its cells are judged, one passes and none is wrong.
std::string Weighted(const std::vector<Column>& columns, const ModelForms& models) {
  if (models.modules == 0) return "";
  std::string text;
  for (const Column& column : columns) {
    std::map<std::pair<std::string, std::string>, Counts> forms;
    for (const auto& [name, status] : column.statuses) {
      const std::vector<std::string> parts = absl::StrSplit(name, '/');
      if (parts.size() < 2) continue;
      ++forms[{std::string(FamilyOfCase(name)), parts[1]}][IsBad(status) ? "bad" : status];
    }
    int64_t passed = 0, wrong = 0, open = 0, absent = 0, passed_forms = 0;
    for (const auto& [form, count] : models.counts) {
      const auto at = forms.find(form);
      if (at == forms.end()) {
        absent += count;
      } else if (Of(at->second, "bad") > 0) {
        wrong += count;
      } else if (Of(at->second, "passed") > 0) {
        passed += count;
        ++passed_forms;
      } else {
        open += count;
      }
    }
    const auto share = [&models](int64_t count) {
      return absl::StrFormat(
          "%.1f %%", 100.0 * static_cast<double>(count) / static_cast<double>(models.instructions));
    };
    text += StrCat("- ", column.title, ": ", share(passed), " of the instructions are of the ",
                   passed_forms, " forms of ", models.counts.size(), " that pass; ", share(wrong),
                   " of forms with a wrong cell, ", share(open),
                   " of forms that are open or unsupported, ", share(absent),
                   " of forms without a cell.\n");
  }
  return text;
}

// The backend's name, without folders; its version where packages are of several.
std::string TitleOf(const Package& package, const std::vector<Package>& packages) {
  const std::string& name = package.run.backend;
  for (const Package& other : packages)
    if (other.run.backend == name && other.run.backend_version != package.run.backend_version)
      return package.run.backend_version;
  if (name.starts_with("pjrt:"))
    return StrCat("pjrt:", std::filesystem::path(name).filename().string());
  return name.starts_with("process:") ? package.run.backend_version : name;
}

void CountModule(const Module& module, ModelForms& models) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      const Shape* shape = &at->shape();
      while (shape->IsTuple() && !shape->elements().empty()) shape = &shape->elements()[0];
      if (!shape->IsArray()) continue;
      ++models.counts[{std::string(Name(at->opcode())), std::string(Name(shape->element_type()))}];
      ++models.instructions;
    }
  }
  ++models.modules;
}

}  // namespace

absl::StatusOr<ModelForms> CountForms(const std::vector<std::string>& paths) {
  ModelForms models;
  std::set<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.insert(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".hlo") files.insert(entry.path().string());
  }
  for (const std::string& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(file));
    CountModule(*module, models);
  }
  return models;
}

std::string ComparisonPage(const std::vector<Package>& packages,
                           const std::vector<CaseClasses>& classes, const ModelForms& models) {
  std::vector<std::string> suites;
  for (const Package& package : packages)
    if (std::find(suites.begin(), suites.end(), package.selection.suite) == suites.end())
      suites.push_back(package.selection.suite);
  std::string text =
      "# Conformance side by side\n\nWritten by `assay conform --compare`. F wrong, C died, R a "
      "legal program refused, T too late, ? left open by the bound, - not supported, of how many "
      "cases.\n";
  for (const std::string& suite : suites) {
    std::vector<Column> columns;
    for (size_t i = 0; i < packages.size(); ++i) {
      const Package& package = packages[i];
      if (package.selection.suite != suite) continue;
      Column column = {TitleOf(package, packages), &package, &classes[i], {}};
      for (const CaseRow& row : package.run.cases) column.statuses[row.name] = row.status;
      columns.push_back(std::move(column));
    }
    text += StrCat("\n## Suite ", suite, ", tier ", columns[0].package->selection.tier, "\n\n");
    for (const Column& column : columns)
      text += StrCat("- ", column.title, ": ", column.package->run.backend_version, "; ",
                     column.statuses.size(), " cases in ",
                     static_cast<int64_t>(column.package->run.seconds), " s\n");
    text += StrCat("\n", Totals(columns), "\n### Fails only here\n\n", OnlyHere(columns));
    if (const std::string classes = Classes(columns); !classes.empty())
      text += StrCat("\n### Why they fail\n\n", classes);
    if (suite == "matrix" && models.modules > 0)
      text +=
          StrCat("\n### By how often models contain it\n\n", models.instructions,
                 " instructions of ", models.modules, " modules.\n\n", Weighted(columns, models));
    text += StrCat("\n### By op\n\n", ByGroup(columns));
  }
  return text;
}

}  // namespace assay
