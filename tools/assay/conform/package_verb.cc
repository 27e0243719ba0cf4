// Packages on the command line.
#include "tools/assay/conform/package_verb.h"

#include <fstream>
#include <map>

#include "fuzz/matrix/matrix.h"
#include "reference/interpreter/interpreter.h"
#include "reports/case_name.h"
#include "spec/backend/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/conform/compare.h"
#include "tools/assay/conform/level_claims.h"
#include "tools/assay/conform/suites.h"
#include "tools/assay/environment.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// Runs every so manieth case again, so that about `sample` are; says which end in another way.
absl::StatusOr<int64_t> RunAgain(const Package& package, int64_t sample, const std::string& python,
                                 double timeout) {
  if (package.selection.suite != "matrix")
    return absl::InvalidArgumentError("--sample is of packages of the suite matrix");
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         OpenBackend(package.run.backend, python, timeout));
  ASSAY_ASSIGN_OR_RETURN(const MatrixTier tier, MatrixTierOf(package.selection.tier));
  std::map<std::string, MatrixCell> cells;
  for (const MatrixCell& cell : MatrixCells(tier)) cells.emplace(CaseNameOf(cell), cell);
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, Profile::Find(package.selection.profile));
  Limits limits;
  limits.seconds = timeout;
  const CheckSubject subject{*oracle, *backend, *profile, {}, limits};
  const std::vector<CaseRow>& rows = package.run.cases;
  const size_t step = std::max<size_t>(1, rows.size() / static_cast<size_t>(sample));
  int64_t others = 0, runs = 0;
  for (size_t i = 0; i < rows.size(); i += step) {
    const auto at = cells.find(rows[i].name);
    const std::optional<Case> built = at == cells.end() ? std::nullopt : BuildCell(at->second);
    if (!built.has_value()) return absl::InternalError(StrCat(rows[i].name, " is not there"));
    const CheckResult result = CheckIsolated(subject, CheckCase::Of(*built->module, built->inputs));
    ++runs;
    const std::string_view status = StatusWord(result.outcome.kind);
    if (status == rows[i].status || rows[i].status == "waived") continue;
    ++others;
    Print(StrCat(Styled(Style::kBad, "another result"), " ", rows[i].name, ": ", status, " here, ",
                 rows[i].status, " in the package"));
  }
  Print(StrCat(runs, " cases were run again on ", package.run.backend, ", ", others,
               " ended in another way"));
  return others;
}

// The levels that the results of a package carry, whoever wrote it.
LevelClaims ClaimsOf(const std::vector<CaseRow>& cases, const SuiteSelection& suite) {
  std::map<std::string, int> levels;
  for (size_t i = 0; i < suite.levels.size(); ++i) levels.emplace(suite.names[i], suite.levels[i]);
  LevelClaims claims;
  for (const CaseRow& row : cases) {
    if (const auto at = levels.find(row.name); at != levels.end())
      claims.Add(static_cast<ConformanceLevel>(at->second), std::string(RestOfCase(row.name)),
                 row.status);
  }
  return claims;
}

absl::StatusOr<int> VerifyPackage(const PackageOption& options, const std::string& python,
                                  double timeout) {
  ASSAY_ASSIGN_OR_RETURN(const Package package, ReadPackage(options.verify));
  const SuiteSelection& selection = package.selection;
  ASSAY_ASSIGN_OR_RETURN(const SuiteSelection ours, SelectSuite(selection));
  ASSAY_RETURN_IF_ERROR(CheckAgainstSuite(package, ours));
  Print(StrCat(Styled(Style::kGood, "unchanged"), ": ", package.run.cases.size(), " results of ",
               package.run.backend, " (", package.run.backend_version, ") on ", package.run.cpu,
               "; suite ", selection.suite, " ", selection.hash.substr(0, 12)));
  if (selection.suite == "matrix")
    Print(ClaimsOf(package.run.cases, ours).Sentence(selection.profile));
  if (options.sample == 0) return kExitOk;
  ASSAY_ASSIGN_OR_RETURN(const int64_t others, RunAgain(package, options.sample, python, timeout));
  return others > 0 ? kExitFailure : kExitOk;
}

absl::StatusOr<int> ComparePackages(const PackageOption& options, const std::string& page,
                                    const KnownOption& known) {
  std::vector<Package> packages;
  std::vector<CaseClasses> classes;
  for (const std::string& folder : options.compare) {
    ASSAY_ASSIGN_OR_RETURN(Package package, ReadPackage(folder));
    ASSAY_ASSIGN_OR_RETURN(KnownCases waivers, known.Read(package.run.backend_version));
    classes.emplace_back();
    for (const CaseRow& row : package.run.cases) {
      // The rules of the suite of invalid modules are part of the names of its cases.
      const bool is_whole = package.selection.suite == "invalid";
      const std::string why =
          waivers.Excuse(is_whole ? row.name : std::string(RestOfCase(row.name)), row.status);
      if (!why.empty()) classes.back()[row.name] = why;
    }
    packages.push_back(std::move(package));
  }
  ASSAY_ASSIGN_OR_RETURN(const ModelForms models, CountForms(options.models));
  const std::string text = ComparisonPage(packages, classes, models);
  if (page.empty()) {
    PrintBytes(text);
    return kExitOk;
  }
  std::ofstream file(page);
  file << text;
  file.flush();
  if (!file) return absl::InvalidArgumentError(StrCat("cannot write ", page));
  return kExitOk;
}

}  // namespace

void PackageOption::Declare(OptionList& line) {
  line.Add("--package", folder,
           "Write results, versions, machine and hashes into this new folder, which others can "
           "check");
  line.Add("--verify-package", verify,
           "Check a package: its hashes, its counts, and that its cases are this suite's");
  line.Add("--sample", sample, "Of --verify-package: run about so many of its cases again")
      .NonNegative();
  line.Add("--compare", compare,
           "Lay packages side by side (--page FILE, or standard output); may be repeated");
  line.Add("--models", models,
           "Of --compare: modules, or folders of them, whose instructions weigh the results");
}

absl::StatusOr<std::optional<int>> PackageOption::Do(const std::string& page,
                                                     const std::string& python, double timeout,
                                                     const KnownOption& known) const {
  std::optional<int> exit;
  if (!verify.empty()) {
    ASSAY_ASSIGN_OR_RETURN(exit, VerifyPackage(*this, python, timeout));
  } else if (!compare.empty()) {
    ASSAY_ASSIGN_OR_RETURN(exit, ComparePackages(*this, page, known));
  }
  return exit;
}

absl::Status PackageOption::Save(const RunRow& run, const SuiteSelection& asked,
                                 const std::string& waivers) const {
  if (folder.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const SuiteSelection selection, SelectSuite(asked));
  return WritePackage(folder, run, selection, waivers);
}

}  // namespace assay
