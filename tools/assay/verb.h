// The verbs of the program: each is one file with one function that declares its options and leaves
// what to do in `action`.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/assay/command_line.h"

namespace assay {

// Exit statuses; scripts rely on these.
enum ExitCode : int {
  kExitOk = 0,             // nothing wrong was found
  kExitFailure = 1,        // a failure or a crash was found
  kExitUsage = 2,          // bad usage, unreadable input, nothing to judge, or nowhere to write to
  kExitInterrupted = 130,  // by Ctrl-C or SIGTERM before the end; what was done until then is shown
};

// Runs after the options were parsed; returns an ExitCode. An error is printed, and the exit code
// is that of bad usage.
using VerbAction = std::function<absl::StatusOr<int>()>;

struct Verb {
  const char* name;
  const char* summary;
  const char* example;  // printed under --help
  void (*declare)(OptionList& line, VerbAction& action);
};

// The table, in main.cc.
const std::vector<Verb>& Verbs();

void DeclareAccuracy(OptionList& line, VerbAction& action);
void DeclareBackends(OptionList& line, VerbAction& action);
void DeclareBench(OptionList& line, VerbAction& action);
void DeclareBlame(OptionList& line, VerbAction& action);
void DeclareBugs(OptionList& line, VerbAction& action);
void DeclareCheck(OptionList& line, VerbAction& action);
void DeclareCompletion(OptionList& line, VerbAction& action);
void DeclareConform(OptionList& line, VerbAction& action);
void DeclareDb(OptionList& line, VerbAction& action);
void DeclareDefects(OptionList& line, VerbAction& action);
void DeclareExplain(OptionList& line, VerbAction& action);
void DeclareFuzz(OptionList& line, VerbAction& action);
void DeclareGen(OptionList& line, VerbAction& action);
void DeclareGraph(OptionList& line, VerbAction& action);
void DeclareKnown(OptionList& line, VerbAction& action);
void DeclareOps(OptionList& line, VerbAction& action);
void DeclarePasses(OptionList& line, VerbAction& action);
void DeclarePeer(OptionList& line, VerbAction& action);
void DeclarePrint(OptionList& line, VerbAction& action);
void DeclareProve(OptionList& line, VerbAction& action);
void DeclareReduce(OptionList& line, VerbAction& action);
void DeclareReplay(OptionList& line, VerbAction& action);
void DeclareReport(OptionList& line, VerbAction& action);
void DeclareRun(OptionList& line, VerbAction& action);
void DeclareValidate(OptionList& line, VerbAction& action);
void DeclareVerify(OptionList& line, VerbAction& action);

}  // namespace assay
