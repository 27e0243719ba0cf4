// assay report: what the runs of a store came to, as a site, as one page, or for other programs.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "nlohmann/json.hpp"
#include "reports/forms/machine_reports.h"
#include "reports/page/page.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/reporting/report_diff.h"
#include "tools/assay/reporting/report_serve.h"
#include "tools/assay/reporting/report_site.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

constexpr char kDefaultFolder[] = "assay-out/report";

struct Options {
  std::string form = "html";
  std::string out;  // "": of pages kDefaultFolder, of the other forms standard output
  std::string db = kDefaultStore;
  int64_t runs = 200;
  std::vector<std::string> ledgers, campaigns, named;
  std::string python = "python3", as = "text";
  int64_t port = 8000;
  bool json = false;
};

// To the file, or to standard output.
absl::StatusOr<int> WriteForm(const std::string& text, size_t runs, const Options& options) {
  if (options.out.empty()) {
    PrintBytes(text);
    return kExitOk;
  }
  ASSAY_RETURN_IF_ERROR(WriteFile(options.out, text));
  if (options.json) {
    PrintJson({{"page", options.out}, {"runs", runs}});
  } else {
    Print(StrCat("wrote ", options.out, " about ", Count(static_cast<int64_t>(runs), "run")));
  }
  return kExitOk;
}

std::string FolderOf(const Options& options) {
  return options.out.empty() ? kDefaultFolder : options.out;
}

SiteRequest SiteOf(const Options& options) {
  return {FolderOf(options), options.runs, options.ledgers, options.campaigns};
}

absl::StatusOr<int> WriteHtml(Store& store, const Options& options) {
  const SiteRequest request = SiteOf(options);
  ASSAY_ASSIGN_OR_RETURN(const SiteTotals totals, WriteSiteOf(store, request));
  const std::string page = request.folder + "/index.html";
  if (options.json) {
    PrintJson({{"page", page},
               {"runs", totals.runs},
               {"results", totals.results},
               {"files", totals.files},
               {"bytes", totals.bytes},
               {"largest", totals.largest}});
    return kExitOk;
  }
  Print(StrCat("wrote ", page, " about ", Count(totals.runs, "run"), " and ",
               Grouped(totals.results), " results"));
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.form == "diff") {
    return ReportDiff({options.named, options.db, options.json ? "json" : options.as, options.out});
  }
  if (!options.named.empty()) return absl::InvalidArgumentError("runs are named for diff alone");
  // A store is made for those who write; whoever asks for a report has mistyped its path.
  if (std::error_code error; !std::filesystem::exists(options.db, error)) {
    return absl::NotFoundError(StrCat("there is no result store ", options.db,
                                      "; assay check, fuzz, conform and bench write one (--db)"));
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(options.db));
  if (options.form == "html") return WriteHtml(*store, options);
  if (options.form == "serve") {
    return ReportServe({SiteOf(options), options.db, options.python, options.port});
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store->Latest(options.runs));
  if (runs.empty()) {
    return absl::NotFoundError(
        StrCat("the result store ", options.db,
               " holds no run yet; assay check, fuzz, conform and bench add theirs"));
  }
  for (const ReportForm& form : ReportForms()) {
    if (options.form == form.name) return WriteForm(form.render(runs), runs.size(), options);
  }
  PageOptions page;
  page.folder = FolderOf(options);
  ASSAY_ASSIGN_OR_RETURN(std::string path, WritePage(runs, page));
  if (options.json) {
    PrintJson({{"page", path}, {"runs", runs.size()}});
    return kExitOk;
  }
  Print(StrCat("wrote ", path, " about ", Count(static_cast<int64_t>(runs.size()), "run")));
  return kExitOk;
}

}  // namespace

void DeclareReport(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add(
          "FORM", options->form,
          "html: a site about the whole store; page: one page of the latest runs, without scripts; "
          "diff: the verdicts of two runs; serve: the site on 127.0.0.1 while results come in; or "
          "a form that other programs read")
      .OneOf({"html", "page", "diff", "serve", "junit", "sarif", "markdown", "json"})
      .Required();
  line.Add(
      "-o,--out", options->out,
      "Folder of the pages (default: assay-out/report), file of another form (default: standard "
      "output)");
  line.Add("--db", options->db, "The result store").ShowDefault();
  line.Add("--runs", options->runs, "Look at so many of the newest runs").Positive().ShowDefault();
  line.Add("RUN", options->named,
           "diff: two runs, each a number, last, last~1, FILE.db or FILE.db:NUMBER");
  line.Add("--as", options->as, "diff: how it is told")
      .OneOf({"text", "markdown", "json"})
      .ShowDefault();
  line.Add("--port", options->port, "serve: the port").Positive().ShowDefault();
  line.Add("--python", options->python, "serve: a Python 3, whose http.server is used")
      .ShowDefault();
  line.Add("--ledger", options->ledgers,
           "html: show the known causes of this folder, such as conformance/known/xla-cpu");
  line.Add("--campaign", options->campaigns,
           "html: show how far the campaign in this folder (--out of assay fuzz) got");
  line.AddFlag("--json", options->json, "One JSON object instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
