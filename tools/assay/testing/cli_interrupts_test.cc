// The program from outside where it is interrupted, or cannot write.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/assay/testing/cli_for_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Cli, AnInterruptEndsACheck) {
  const std::string folder = testing::TempDir() + "/assay_cli_interrupt";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.hlo") << kGood;
  std::ofstream(folder + "/b.hlo") << "HloModule m\nENTRY e {\n  x = f32[4096,4096] parameter(0)\n"
                                      "  ROOT r = f32[4096,4096] dot(x, x), "
                                      "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
  Output output;
  // On a busy machine the first module may take longer than the second one is waited for.
  for (const char* seconds : {"4", "30"}) {
    output =
        Shell("timeout --preserve-status -s INT " + std::string(seconds) +
              " '" ASSAY_PROGRAM "' check --no-db --backend reference --max-steps 1000000000000 '" +
              folder + "'");
    if (output.text.find("1 module judged") != std::string::npos) break;
  }
  EXPECT_EQ(output.status, 130) << output.text;
  EXPECT_THAT(output.text, HasSubstr("1 module judged"));
  EXPECT_THAT(output.text, HasSubstr("interrupted: 1 module not judged"));
  EXPECT_THAT(output.text, HasSubstr("1 on inputs drawn from seed 1"));
}

// The exit status, and what it says on standard error, with standard output as a shell has it.
Output AssayTo(const std::string& where, const std::string& arguments) {
  return Shell("( '" ASSAY_PROGRAM "' " + arguments + " " + where +
               " 2> words; s=$?; cat words; exit $s )");
}

TEST(Cli, WhatCannotBeWrittenIsNoSuccess) {
  const std::string module = WriteFile("good.hlo", kGood);
  for (const std::string& line :
       {std::string("--help"), std::string("--version"), std::string("help check"),
        std::string("ops"), std::string("backends"), std::string("explain add"),
        std::string("defects"), std::string("completion bash"), std::string("gen --seed 1"),
        std::string("conform --no-db --backend reference --filter concatenate"),
        std::string("fuzz --no-db --no-triage --count 2 --out full"), "run " + module,
        "verify " + module, "print " + module, "print --format proto " + module, "graph " + module,
        "check --no-db " + module, "check --no-db --json " + module, "blame " + module}) {
    for (const char* where : {"> /dev/full", ">&-"}) {
      const Output output = AssayTo(where, line);
      EXPECT_EQ(output.status, 2) << line << where << output.text;
      EXPECT_THAT(output.text, testing::StartsWith("error: standard output cannot be written: "))
          << line << where;
      EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 1) << output.text;
    }
  }
}

TEST(Cli, PlacesThatCannotBeWrittenTo) {
  const std::string module = WriteFile("good.hlo", kGood);
  Shell("rm -rf places && mkdir -p places/out && mkfifo places/out/results.jsonl places/store");
  struct Row {
    std::string line;
    int status;
    const char* text;
  };
  const std::string assay = "'" ASSAY_PROGRAM "' ";
  for (const Row& row :
       {Row{"ulimit -f 0; " + assay + "fuzz --count 20 --no-db --out places/tiny", 2,
            "File too large"},
        Row{"ulimit -f 0; " + assay + "gen --count 2 --out places/gen", 2, "File too large"},
        Row{"ulimit -f 0; " + assay + "ops > places/ops", 2, "File too large"},
        Row{"timeout 20 " + assay + "fuzz --count 2 --no-db --out places/out", 2, "is a pipe"},
        Row{"timeout 20 " + assay + "defects --run --only ds-of-ds-clamp --out " + module, 2,
            "cannot be made"},
        Row{"timeout 20 " + assay + "graph " + module + " -o places/store.dot", 0, ""},
        Row{"timeout 20 " + assay + "check --db places/store " + module, 0, "no regular file"},
        Row{"timeout 20 " + assay + "fuzz --count 2 --no-db --out /proc/nothing", 2,
            "cannot be made"}}) {
    const Output output = Shell("( " + row.line + " )");
    EXPECT_EQ(output.status, row.status) << row.line << "\n" << output.text;
    EXPECT_THAT(output.text, HasSubstr(row.text)) << row.line;
  }
}

TEST(Cli, AnInterruptEndsWhatWaitsForAWorker) {
  const std::string module = WriteFile("good.hlo", kGood);
  const std::string mute = WriteFile("mute.py", "import time\ntime.sleep(1000)\n");
  for (const char* verb : {"conform --no-db", "check --no-db GOOD", "bench --no-db --no-roof GOOD",
                           "fuzz --time 10m --no-db --out mute", "run GOOD"}) {
    std::string line = verb;
    if (const size_t at = line.find("GOOD"); at != std::string::npos) line.replace(at, 4, module);
    for (const char* signal : {"INT", "TERM"}) {
      const Output output =
          Shell("timeout -k 20 --preserve-status -s " + std::string(signal) +
                " 1 '" ASSAY_PROGRAM "' " + line + " --backend 'process:python3 " + mute + "'");
      EXPECT_EQ(output.status, 130) << line << output.text;
      EXPECT_THAT(output.text, HasSubstr("interrupted")) << line;
    }
  }
}

TEST(Cli, AWorkerThatDoesNotGreetIsGivenUp) {
  const std::string module = WriteFile("good.hlo", kGood);
  const std::string mute = WriteFile("mute.py", "import time\ntime.sleep(1000)\n");
  for (const std::string& verb : {"check --no-db " + module, "run " + module,
                                  std::string("conform --no-db"), "bench --no-db " + module}) {
    const Output output = Shell("timeout 30 '" ASSAY_PROGRAM "' " + verb +
                                " --timeout 1s --backend 'process:python3 " + mute + "'");
    EXPECT_EQ(output.status, 2) << verb << output.text;
    EXPECT_THAT(output.text, HasSubstr("did not greet within 1 s")) << verb;
  }
}

TEST(Cli, AnInterruptEndsACampaignAndABench) {
  for (const std::string& line :
       {std::string("fuzz --time 10m --no-db --no-triage --out interrupted"),
        "bench --no-db --no-roof --unjudged " + Source("bench/workloads")}) {
    const Output output =
        Shell("timeout -k 60 --preserve-status -s INT 3 '" ASSAY_PROGRAM "' " + line);
    EXPECT_EQ(output.status, 130) << output.text;
    EXPECT_THAT(output.text, HasSubstr("interrupted")) << line;
  }
}

TEST(Cli, AnInterruptEndsTheRunOfAllDefects) {
  const std::string folder = testing::TempDir() + "/assay_cli_defects";
  std::filesystem::remove_all(folder);
  const Output output = Shell("timeout -k 20 --preserve-status -s INT 3 '" ASSAY_PROGRAM
                              "' defects --run --no-db --no-triage --time 1h --out '" +
                              folder + "'");
  EXPECT_EQ(output.status, 130) << output.text;
  EXPECT_THAT(output.text, HasSubstr(" not run; --resume goes on"));
  std::ifstream results(folder + "/results-1-1.jsonl");
  for (std::string line; std::getline(results, line);) {
    EXPECT_THAT(line, HasSubstr("\"killed\":true")) << "nothing survives in an hour";
  }
}

}  // namespace
}  // namespace assay
