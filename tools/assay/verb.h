// The verbs of the program: each is one file with one function that declares its options and leaves
// what to do in `action`.
#pragma once

#include <functional>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace assay {

// What the shell sees. Scripts rely on these.
enum ExitCode : int {
  kExitOk = 0,       // nothing wrong was found
  kExitFailure = 1,  // a failure or a crash was found
  kExitUsage = 2,    // bad usage or unreadable input
};

// Runs after the options were parsed; returns an ExitCode.
using VerbAction = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;
  const char* example;  // printed under --help
  void (*declare)(CLI::App& app, VerbAction& action);
};

void DeclareBench(CLI::App& app, VerbAction& action);
void DeclareBlame(CLI::App& app, VerbAction& action);
void DeclareCheck(CLI::App& app, VerbAction& action);
void DeclareConform(CLI::App& app, VerbAction& action);
void DeclareDefects(CLI::App& app, VerbAction& action);
void DeclareExplain(CLI::App& app, VerbAction& action);
void DeclareFuzz(CLI::App& app, VerbAction& action);
void DeclareGen(CLI::App& app, VerbAction& action);
void DeclareGraph(CLI::App& app, VerbAction& action);
void DeclareOps(CLI::App& app, VerbAction& action);
void DeclarePrint(CLI::App& app, VerbAction& action);
void DeclareReduce(CLI::App& app, VerbAction& action);
void DeclareReplay(CLI::App& app, VerbAction& action);
void DeclareReport(CLI::App& app, VerbAction& action);
void DeclareRun(CLI::App& app, VerbAction& action);
void DeclareVerify(CLI::App& app, VerbAction& action);

}  // namespace assay
