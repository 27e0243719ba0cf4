// assay: the one program. A table of verbs; everything else is in their files.
#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "reports/version.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

constexpr Verb kVerbs[] = {
    {"check", "Judge a backend's and stored results of modules against the oracle's bounds",
     "assay check conformance/corpus --backend cpu", DeclareCheck},
    {"run", "Run one module and print what comes out",
     "assay run module.hlo --inputs module.npz --backend reference --bounds", DeclareRun},
    {"verify", "Say exactly what is wrong with a module", "assay verify module.hlo", DeclareVerify},
    {"print", "Write a module in another form, or after optimization",
     "assay print module.hlo --format short", DeclarePrint},
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
    {"conform", "Run the suites of the documents' golden values",
     "assay conform --backend cpu --suite goldens", DeclareConform},
    {"bench", "Measure run and compile time beside a peer, interleaved",
     "assay bench bench/workloads --backend cpu --peer xla", DeclareBench},
    {"report", "Write one page about the latest runs", "assay report html -o assay-out/report",
     DeclareReport},
    {"ops", "The op table: what is read, what has a meaning", "assay ops --defined", DeclareOps},
    {"explain", "Meaning, constraints and numeric contract of an op", "assay explain dynamic-slice",
     DeclareExplain},
};

bool IsVerb(const std::string& word) {
  return std::any_of(std::begin(kVerbs), std::end(kVerbs),
                     [&](const Verb& verb) { return word == verb.name; });
}

int Main(int argc, char** argv) {
  CLI::App app("Assay tells whether a tensor compiler is right and fast.", "assay");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("assay ") + kAssayVersion + " (" + kAssayCommit + ")");
  app.footer("assay VERB --help shows the options of a verb and an example.");
  VerbAction actions[std::size(kVerbs)];
  for (size_t i = 0; i < std::size(kVerbs); ++i) {
    CLI::App* verb = app.add_subcommand(kVerbs[i].name, kVerbs[i].summary);
    verb->footer(std::string("Example:\n  ") + kVerbs[i].example);
    kVerbs[i].declare(*verb, actions[i]);
  }
  if (argc < 2) {
    Print(app.help());
    return kExitUsage;
  }
  if (argv[1][0] != '-' && !IsVerb(argv[1])) {
    PrintError(std::string("no verb is called '") + argv[1] + "'; assay --help lists them");
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (size_t i = 0; i < std::size(kVerbs); ++i) {
    if (app.got_subcommand(kVerbs[i].name)) return actions[i]();
  }
  return kExitUsage;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  // Big arrays come and go with every op: keep their pages instead of having them zeroed each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
  return assay::Main(argc, argv);
}
