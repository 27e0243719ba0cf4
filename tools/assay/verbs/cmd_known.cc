// assay known: the ledger of causes: list it, add to it, measure it again, write its page.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "conformance/known/ledger.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/backends/releases.h"
#include "fuzz/blame/requests.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/environment.h"
#include "tools/assay/findings/known_folder.h"
#include "tools/assay/peers.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string ledger = "conformance/known/xla-cpu";
  std::string add, name, title;
  std::string backend = "xla", python;
  std::string filter, page, versions;
  double seconds = 60;
  int64_t sets = 3000;
  bool refresh = false, rerun = false, prune = false, check = false, json = false;
};

bool Matches(const Options& options, const Cause& cause) {
  return cause.name.find(options.filter) != std::string::npos;
}

// One that was a bug of a release that can be asked.
bool IsRun(const Cause& cause) {
  return cause.status == CauseStatus::kLive || cause.status == CauseStatus::kFixed;
}

// A cause that does not repeat stays in no ledger that is to be believed.
void Drop(const Options& options, const Cause& cause, std::string_view why) {
  PrintError(StrCat(cause.name, ": ", why));
  std::error_code error;
  if (options.prune) fs::remove_all(cause.folder, error);
}

struct Opened {
  std::unique_ptr<Oracle> oracle = MakeOracle();
  std::unique_ptr<Backend> backend;
  const Profile* profile = nullptr;
};

absl::StatusOr<Opened> Open(const Options& options) {
  Opened opened;
  ASSAY_ASSIGN_OR_RETURN(opened.backend, OpenBackend(options.backend, options.python));
  if (opened.backend->Describe().in_process) {
    return absl::InvalidArgumentError(StrCat(
        options.backend, " is no peer: a ledger is about a compiler in another process, as xla"));
  }
  ASSAY_ASSIGN_OR_RETURN(opened.profile, ChooseProfile("", opened.backend.get()));
  return opened;
}

absl::StatusOr<int> Add(const Options& options) {
  Cause cause;
  cause.name = options.name.empty() ? fs::path(options.add).stem().string() : options.name;
  cause.folder = (fs::path(options.ledger) / cause.name).string();
  std::error_code error;
  if (fs::exists(cause.folder, error)) {
    return absl::AlreadyExistsError(StrCat(cause.folder, " is there already; --name another"));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.add));
  ASSAY_RETURN_IF_ERROR(MakeFolder(cause.folder));
  ASSAY_RETURN_IF_ERROR(WriteFile((fs::path(cause.folder) / "program.hlo").string(), text));
  const fs::path arrays = fs::path(options.add).replace_extension(".npz");
  if (fs::exists(arrays, error))
    fs::copy_file(arrays, fs::path(cause.folder) / "program.npz", error);
  ASSAY_ASSIGN_OR_RETURN(const Opened opened, Open(options));
  cause.title = options.title.empty() ? cause.name : options.title;
  cause.found_by = "hand";
  const KnownPeer peer{*opened.oracle,  *opened.backend,
                       *opened.profile, PythonOf(options.backend, options.python),
                       options.sets,    options.seconds};
  if (const absl::Status made = RefreshFolder(cause, peer); !made.ok()) {
    fs::remove_all(cause.folder, error);
    return made;
  }
  Print(StrCat(cause.folder, ": write its title, severity, component and sentence in cause.json"));
  return kExitOk;
}

absl::StatusOr<int> Refresh(const Options& options, std::vector<Cause>& causes) {
  ASSAY_ASSIGN_OR_RETURN(const Opened opened, Open(options));
  const KnownPeer peer{*opened.oracle,  *opened.backend,
                       *opened.profile, PythonOf(options.backend, options.python),
                       options.sets,    0};
  int exit_code = kExitOk;
  for (Cause& cause : causes) {
    if (!Matches(options, cause) || cause.status != CauseStatus::kLive) continue;
    if (InterruptRequested()) return kExitInterrupted;
    const absl::Status made = RefreshFolder(cause, peer);
    if (made.ok()) {
      Print(StrCat(cause.name, ": ", cause.measured.kind, "; ", cause.measured.got, "; ",
                   cause.measured.bucket, cause.measured.has_jax ? "; jax.py" : ""));
      continue;
    }
    Drop(options, cause, ToStd(made.message()));
    exit_code = kExitFailure;
  }
  return exit_code;
}

// Every folder by its own script, in a process of its own.
int Rerun(const Options& options, const std::vector<Cause>& causes) {
  const std::string python = PythonOf(options.backend, options.python);
  int64_t lives = 0, gone = 0, open = 0;
  for (const Cause& cause : causes) {
    if (!Matches(options, cause) || !IsRun(cause)) continue;
    if (InterruptRequested()) return kExitInterrupted;
    const int status = RunScript(cause, "repro.py", python);
    const int in_jax = cause.measured.has_jax ? RunScript(cause, "jax.py", python) : status;
    ++(status == 1 ? lives : status == 0 ? gone : open);
    const bool should_live = cause.status != CauseStatus::kFixed;
    if ((status == 1) == should_live && in_jax == status) continue;
    Drop(options, cause,
         StrCat("repro.py ends with ", status,
                cause.measured.has_jax ? StrCat(", jax.py with ", in_jax) : ""));
  }
  Print(StrCat(lives, " live, ", gone, " gone, ", open, " cannot be told"));
  return gone + open > 0 ? kExitFailure : kExitOk;
}

void NoteReleases(const std::vector<ReleaseState>& states, Cause& cause) {
  cause.measured.releases = DescribeReleases(states);
  cause.measured.first_bad.clear();
  for (const ReleaseState& state : states) {
    cause.measured.last_asked = state.version;
    if (cause.measured.first_bad.empty() && state.state == "fail")
      cause.measured.first_bad = state.version;
  }
}

// A release is opened once and asked about all causes.
absl::StatusOr<int> AskReleases(const Options& options, std::vector<Cause>& causes) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> peers, PeersIn(options.versions));
  std::vector<std::vector<ReleaseState>> states(causes.size());
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  for (const Release& release : ReleasesOf(peers)) {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, release.open());
    for (size_t i = 0; i < causes.size(); ++i) {
      if (!Matches(options, causes[i]) || !IsRun(causes[i])) continue;
      if (InterruptRequested()) return kExitInterrupted;
      ASSAY_ASSIGN_OR_RETURN(const Profile* profile, Profile::Find(causes[i].profile));
      const CaseFile file = causes[i].Case();
      ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadCaseModule(file));
      ASSAY_ASSIGN_OR_RETURN(const CaseArrays arrays, LoadArrays(*module, file.arrays_path, 1));
      const CheckSubject subject{*oracle, *backend, *profile, {}, kTriageLimits};
      const Outcome::Kind kind =
          OutcomeKindFromName(causes[i].measured.kind).value_or(Outcome::kWrong);
      states[i].push_back({release.version, StateOn(subject, *module, arrays.arguments, kind)});
    }
  }
  for (size_t i = 0; i < causes.size(); ++i) {
    if (states[i].empty()) continue;
    NoteReleases(states[i], causes[i]);
    ASSAY_RETURN_IF_ERROR(WriteCause(causes[i]));
  }
  return kExitOk;
}

// The page with the list in its place, which the lines around it name by the ledger.
absl::StatusOr<std::string> WithList(const std::string& page, const std::string& list,
                                     const Options& options) {
  const std::string mark =
      StrCat("<!-- assay known ", fs::path(options.ledger).filename().string());
  const std::string first = mark + " begins -->\n", last = mark + " ends -->\n";
  const size_t begin = page.find(first), end = page.find(last);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return absl::InvalidArgumentError(
        StrCat(options.page, " has no place for the list: add the lines\n", first, last));
  }
  return StrCat(page.substr(0, begin + first.size()), list, page.substr(end));
}

// The page's list and, beside the folders, bugs.json; with --check both must be there already.
absl::StatusOr<int> WritePage(const Options& options, const std::vector<Cause>& causes) {
  std::error_code error;
  const fs::path folder = fs::path(options.page).parent_path();
  const std::string link =
      fs::relative(options.ledger, folder.empty() ? "." : folder, error).string();
  ASSAY_ASSIGN_OR_RETURN(const std::string before, ReadFile(options.page));
  ASSAY_ASSIGN_OR_RETURN(const std::string page,
                         WithList(before, LedgerMarkdown(causes, link), options));
  const std::string list = (fs::path(options.ledger) / "bugs.json").string();
  const std::string json = LedgerJson(causes);
  if (options.check) {
    const absl::StatusOr<std::string> json_before = ReadFile(list);
    if (page == before && json_before.ok() && *json_before == json) return kExitOk;
    PrintError(StrCat(options.page, " and ", list, " are not made of the ledger ", options.ledger,
                      "; assay known --page ", options.page, " writes them anew"));
    return kExitFailure;
  }
  ASSAY_RETURN_IF_ERROR(WriteFile(options.page, page));
  ASSAY_RETURN_IF_ERROR(WriteFile(list, json));
  Print(StrCat("wrote ", options.page, " and ", list));
  return kExitOk;
}

int List(const Options& options, const std::vector<Cause>& causes) {
  if (options.json) {
    Print(LedgerJson(causes));
    return kExitOk;
  }
  Table table({{"cause"}, {"severity"}, {"component"}, {"status"}});
  for (const Cause& cause : causes) {
    table.Add({cause.name, std::string(Name(cause.severity)), cause.component,
               std::string(Name(cause.status))});
  }
  Print(table.ToString());
  Print(Count(static_cast<int64_t>(causes.size()), "cause"));
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  const InterruptGuard guard;
  if (!options.add.empty()) return Add(options);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Cause> causes, ReadLedger(options.ledger));
  if (options.refresh) return Refresh(options, causes);
  if (options.rerun) return Rerun(options, causes);
  if (!options.versions.empty()) return AskReleases(options, causes);
  if (!options.page.empty()) return WritePage(options, causes);
  return List(options, causes);
}

}  // namespace

void DeclareKnown(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("--ledger", options->ledger, "The folder of causes").ShowDefault();
  line.Add("--add", options->add,
           "Make a folder of this module, with the .npz beside it if there is one");
  line.Add("--name", options->name, "How the new folder is called (default: as the file)");
  line.Add("--title", options->title, "What is wrong, in one sentence");
  line.Add("--seconds", options->seconds, "That a new program may be reduced; 0: it stays")
      .ShowDefault();
  line.Add("--sets", options->sets, "Sets of inputs to try where none are noted").ShowDefault();
  line.AddFlag("--refresh", options->refresh, "Write values, scripts, blame and siblings anew");
  line.AddFlag("--rerun", options->rerun, "Run the scripts of each folder in a fresh process");
  line.AddFlag("--prune", options->prune, "Remove the folders that do not repeat");
  line.Add("--versions", options->versions,
           "Ask these releases about all: a range, or all; see assay peer");
  line.Add("--filter", options->filter, "Only causes with this text in their name");
  line.Add("--page", options->page, "Write the table to its place in this file, and bugs.json");
  line.AddFlag("--check", options->check, "With --page: only compare");
  AddBackendOption(line, options->backend, options->python, "Who is asked");
  line.AddFlag("--json", options->json, "A JSON object per cause");
  action = [options] { return Run(*options); };
}

}  // namespace assay
