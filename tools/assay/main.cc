// assay: the one program. A table of verbs; everything else is in their files.
#include <malloc.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/backends/pjrt/worker.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/command_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

const std::vector<Verb> kVerbs = {
    {"check", "Judge a backend's and stored results of modules against the oracle's bounds",
     "assay check conformance/corpus --backend cpu", DeclareCheck},
    {"run", "Run one module and print what comes out",
     "assay run module.hlo --inputs module.npz --backend reference --bounds", DeclareRun},
    {"validate", "Judge every pass of a dump: is each state what the one before allows?",
     "assay validate xla_dump --page step.html", DeclareValidate},
    {"verify", "Say exactly what is wrong with a module", "assay verify module.hlo", DeclareVerify},
    {"print", "Write a module in another form, or after optimization",
     "assay print module.hlo --format short", DeclarePrint},
    {"prove", "Prove the rewrites that move data for all sizes, or refute them",
     "assay prove --forget slice-of-pad/no-interior", DeclareProve},
    {"graph", "Draw a module: DOT, or SVG by graphviz", "assay graph module.hlo -o module.svg",
     DeclareGraph},
    {"fuzz", "Compare a backend with the oracle on random programs",
     "assay fuzz --backend cpu --time 30s --seed 1", DeclareFuzz},
    {"gen", "Write random programs", "assay gen --seed 7 --index 12", DeclareGen},
    {"reduce", "Shrink a failing module to the smallest that shows the same bug",
     "assay reduce dump.hlo --inputs dump.npz --backend cpu -o assay-out/bug", DeclareReduce},
    {"blame", "Find the one decision of the compiler that makes a module fail",
     "assay blame dump.hlo --inputs dump.npz --backend cpu", DeclareBlame},
    {"replay", "Run one case of a campaign, or a bug folder, again",
     "assay replay --seed 7 --index 12 --backend cpu", DeclareReplay},
    {"defects", "List the planted defects; measure how many a campaign kills",
     "assay defects --run --time 60s", DeclareDefects},
    {"bugs", "List the distinct bugs that campaigns found, from the result store",
     "assay bugs --backend xla --json", DeclareBugs},
    {"known", "The ledger of causes: list it, add to it, run it again, write its page",
     "assay known --rerun --backend xla", DeclareKnown},
    {"peer", "Other releases of compilers, for blame by versions: add one, or list them",
     "assay peer add xla@0.4.31", DeclarePeer},
    {"conform", "Run the suites of the documents' golden values",
     "assay conform --backend cpu --suite goldens", DeclareConform},
    {"accuracy", "Measure how many ulps a backend's functions are off, on every argument",
     "assay accuracy cpu --type bf16 --out cpu.jsonl", DeclareAccuracy},
    {"bench", "Measure run and compile time beside a peer, interleaved",
     "assay bench bench/workloads --backend cpu --peer xla", DeclareBench},
    {"backends", "List who can be judged, with their options", "assay backends cpu",
     DeclareBackends},
    {"db", "Look through, query, join or empty the result store", "assay db check", DeclareDb},
    {"report", "Write a site about the runs of a store, or what other programs read",
     "assay report html -o assay-out/report", DeclareReport},
    {"ops", "The op table: what is read, what has a meaning", "assay ops --defined", DeclareOps},
    {"explain", "Meaning, constraints and numeric contract of an op", "assay explain dynamic-slice",
     DeclareExplain},
    {"passes", "The compiler's passes, and how many modules each changes",
     "assay passes conformance/corpus", DeclarePasses},
    {"completion", "Write what lets a shell complete verbs, options and words",
     "assay completion bash > ~/.local/share/bash-completion/completions/assay", DeclareCompletion},
};

}  // namespace

const std::vector<Verb>& Verbs() { return kVerbs; }

// A run whose output could not be written has failed, whatever the verb says.
int Main(int argc, char** argv) {
  OpenStandardStreams();
  if (IsSilentRank() && std::freopen("/dev/null", "w", stdout) == nullptr) return kExitUsage;
  // A file that may not grow further is an error of the write, which has a place and a remedy.
  signal(SIGXFSZ, SIG_IGN);
  ExitOnInterrupt(kExitInterrupted);
  const int exit_code = RunVerbs(kVerbs, argc, argv);
  const absl::Status output = OutputStatus();
  if (output.ok()) return exit_code;
  PrintError(ToStd(output.message()));
  return kExitUsage;
}

}  // namespace assay

int main(int argc, char** argv) {
  // The process that holds a plug-in is this program, too, but none of its verbs.
  if (argc == 4 && std::string_view(argv[1]) == assay::pjrt::kWorkerWord)
    return assay::pjrt::Serve(argv[2], std::atoi(argv[3]));
  // Big arrays come and go with every op: keep their pages instead of having them zeroed each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
  return assay::Main(argc, argv);
}
