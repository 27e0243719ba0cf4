// assay report: the page about the latest runs.
#include <filesystem>
#include <memory>
#include <system_error>

#include "nlohmann/json.hpp"
#include "reports/page.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string form = "html";
  std::string folder = "assay-out/report";
  std::string db = kDefaultStore;
  int64_t runs = 200;
  bool json = false;
};

absl::StatusOr<int> Run(const Options& options) {
  // A store is made for those who write; whoever asks for a report has mistyped its path.
  if (std::error_code error; !std::filesystem::exists(options.db, error)) {
    return absl::NotFoundError(StrCat("there is no result store ", options.db,
                                      "; assay check, fuzz, conform and bench write one (--db)"));
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(options.db));
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store->Latest(options.runs));
  if (runs.empty()) {
    return absl::NotFoundError(
        StrCat("the result store ", options.db,
               " holds no run yet; assay check, fuzz, conform and bench add theirs"));
  }
  PageOptions page;
  page.folder = options.folder;
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
  line.Add("FORM", options->form, "html").OneOf({"html"}).Required();
  line.Add("-o,--out", options->folder, "Folder of the page").ShowDefault();
  line.Add("--db", options->db, "The result store").ShowDefault();
  line.Add("--runs", options->runs, "Look at so many of the newest runs").Positive().ShowDefault();
  line.AddFlag("--json", options->json, "One JSON object instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
