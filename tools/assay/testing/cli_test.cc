// The verbs from outside: exit status, last lines, --json. Scripts rely on all three.
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

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Cli, ExitStatus) {
  const StatusRow kRows[] = {
      {"", 2, "Subcommands:"},
      {"frobnicate", 2, "no verb is called 'frobnicate'"},
      {"--help", 0, "check"},
      {"--version", 0, "assay 0."},
      {"check", 2, "PATH"},
      {"verify /dev/zero", 2, "is a device or socket"},
      {"bench --no-db --no-roof /dev/zero", 2, "is a device or socket"},
      {"check /nonexistent.hlo", 2, "there is no /nonexistent.hlo"},
      {"run /nonexistent.hlo", 2, "nonexistent"},
      {"fuzz --time soon", 2, "'soon' is not a time"},
      {"fuzz --time 30d", 2, "'30d' is not a time"},
      {"fuzz --time -3s", 2, "'-3s' is not a time"},
      {"fuzz --time 1e300", 2, "longer than a year"},
      {"fuzz --profile fast", 2, "fast not in {strict,xla,xla-gpu,xla@2026-09,xla-gpu@2026-09}"},
      {"fuzz --count 99999999999999999999", 2, "--count"},
      {"fuzz --seed -1", 2, "--seed"},
      {"check --timeout 0 x.hlo", 2, "'0' is not a time"},
      {"check --timeout nan x.hlo", 2, "'nan' is not a time"},
      {"check --max-memory 8X x.hlo", 2, "'8X' is not a number of bytes"},
      {"check --max-memory 1e40 x.hlo", 2, "more than any machine has"},
      {"check --timeout 30s --max-memory 8G /nonexistent.hlo", 2, "there is no /nonexistent.hlo"},
      {"check --timeout 500ms --max-memory 64MiB /nonexistent.hlo", 2, "there is no"},
      {"reduce --seconds 2m /nonexistent.hlo", 2, "nonexistent"},
      {"chekc", 2, "did you mean 'check'?"},
      {"check --profle xla x.hlo", 2, "did you mean '--profile'?"},
      {"explain dynamic_slice", 2, "did you mean 'dynamic-slice'?"},
      {"explain DynamicSlice", 2, "did you mean 'dynamic-slice'?"},
      {"help", 0, "Subcommands:"},
      {"-h", 0, "Subcommands:"},
      {"help check", 0, "--power"},
      {"version", 0, "assay 0."},
      {"backends", 0, "jax:platform=cpu|cuda|tpu|PLUGIN.so"},
      {"backends cpu", 0, "cpu: Assay's own compiler"},
      {"backends --json cpu", 0, "\"version\":\"Assay's own compiler"},
      {"check --xla_cpu_x=1 x.hlo", 2, "flags of XLA go with --backend xla"},
      {"graph no-such-file.hlo -o x.bmp", 2, "no-such-file.hlo"},
      {"fuzz --time 1s --defect no-such-defect", 2, "no-such-defect"},
      {"fuzz --time 1s --backend no-such-backend", 2, "no-such-backend"},
      {"explain no-such-op", 2, "no op is called 'no-such-op'"},
      {"explain add", 0, "add"},
      {"explain --pass cse", 0, "near misses"},
      {"explain --pass ces", 2, "did you mean 'cse'?"},
      {"explain --pass tree-reduction-rewriter", 0, "with fast math"},
      {"explain --pass scatter-expander --json", 0, "\"cases\":"},
      {"passes", 0, "for the despecializer"},
      {"print --run cse --optimized cpu /nonexistent.hlo", 2, "nonexistent"},
      // The page holds what the documents ask of the op, also of all binary ops.
      {"explain concatenate", 0, "Concatenate other dims equal: All dims except dimension"},
      {"explain maximum --json", 0, "\"id\":\"shape-binary-same-type\""},
      {"explain --profiles --json", 0, "\"clause\":\"contraction\""},
      {"run --profile fast module.hlo", 2,
       "fast not in {strict,xla,xla-gpu,xla@2026-09,xla-gpu@2026-09}"},
      {"explain --profiles", 0, "xla"},
      {"conform --filter no-such-golden", 2, "no-such-golden"},
      {"conform --tier full", 2, "are of --suite matrix"},
      {"conform --suite matrix --tier nightly", 2, "smoke, ci or full"},
      {"conform --suite matrix --level 9", 2, "1 integer-core, 2 float-core"},
      {"conform --level 2", 2, "are of --suite matrix"},
      {"conform --suite matrix --shard 3/2", 2, "'3/2' is not I/N"},
      {"report html --db no-such.db", 2, "there is no result store no-such.db"},
      {"report junit --db no-such.db", 2, "there is no result store no-such.db"},
      {"check --help", 0, "--python"},
      {"run --help", 0, "--python"},
      {"print --help", 0, "--python"},
      {"defects --help", 0, "--python"},
      {"print --decisions /nonexistent.hlo", 2, "nonexistent"},
      {"print --passes /nonexistent.hlo", 2, "nonexistent"},
      {"print --plan /nonexistent.hlo", 2, "nonexistent"},
      {"replay", 2, "--seed"},
      {"defects", 0, "ds-of-ds-clamp"},
      {"defects --run --shard 3/2", 2, "'3/2' is not I/N"},
      {"defects --run --shard two", 2, "'two' is not I/N"},
      {"defects --page no-such-folder/page.md", 2, "no-such-folder"},
      {"ops --defined", 0, "dynamic-slice"},
      {"explain dynamic-slice", 0, "goldens"},
      {"explain scan", 0, "document    hlo-format 4.0.5"},
      {"explain send", 0, "not compiled"},
      {"explain stochastic-convert", 0, "2; data of float"},
      {"explain exponential", 0, "k: strict"},
      {"--help", 0, "Example:\n  assay "},
      {"graph no-such-file.hlo", 2, "no-such-file.hlo"},
      {"peer add xla-0.4.31", 2, "named like xla@0.4.31"},
      {"peer add xla@0.4.31 --python false", 2, "false does not have jaxlib 0.4.31"},
  };
  for (const StatusRow& row : kRows) {
    Output output = Assay(row.arguments);
    EXPECT_EQ(output.status, row.status) << row.arguments << "\n" << output.text;
    EXPECT_THAT(output.text, HasSubstr(row.text)) << row.arguments;
  }
}

TEST(Cli, EveryVerbHasHelpWithAnExample) {
  for (const char* verb :
       {"check", "run",     "verify",     "print",    "graph", "fuzz",    "gen",   "reduce",
        "blame", "replay",  "defects",    "bugs",     "peer",  "conform", "bench", "report",
        "ops",   "explain", "completion", "backends", "known", "passes"}) {
    Output output = Assay(std::string(verb) + " --help");
    EXPECT_EQ(output.status, 0) << verb;
    EXPECT_THAT(output.text, HasSubstr("Example:\n  assay " + std::string(verb))) << verb;
    EXPECT_THAT(output.text, HasSubstr("--json")) << verb;
  }
}

// Returns what bash offers behind `words`, the last of which is being written.
std::string Completions(const std::vector<std::string>& words) {
  std::string script =
      "source <('" ASSAY_PROGRAM "' completion bash); COMP_WORDS=('" ASSAY_PROGRAM "'";
  for (const std::string& word : words) script += " '" + word + "'";
  script += "); COMP_CWORD=" + std::to_string(words.size()) + "; _assay; echo \"${COMPREPLY[*]}\"";
  const std::string file = WriteFile("completion.bash", script + "\n");
  return Shell("bash '" + file + "'").text;
}

TEST(Cli, CompletionOffersVerbsOptionsAndWords) {
  EXPECT_EQ(Completions({"repl"}), "replay\n");
  EXPECT_EQ(Completions({"check", "--pow"}), "--power\n");
  EXPECT_EQ(Completions({"run", "--wi"}), "--widths\n");
  EXPECT_EQ(Completions({"print", "--format", "c"}), "canonical\n");
  EXPECT_EQ(Completions({"fuzz", "--defect", "ds-of-ds-c"}), "ds-of-ds-clamp\n");
  EXPECT_EQ(Completions({"explain", "stochastic"}), "stochastic-convert\n");
  EXPECT_EQ(Completions({"check", "--profile", "s"}), "strict\n");
  EXPECT_EQ(Completions({"bench", "--peer", "xla-"}), "xla-opt\n");
  EXPECT_EQ(Completions({"completion", "f"}), "fish\n");
}

TEST(Cli, FishCompletes) {
  if (Shell("command -v fish").status != 0) GTEST_SKIP() << "no fish here";
  const auto offered = [](const std::string& line) {
    return Shell("fish --no-config -c \"'" ASSAY_PROGRAM
                 "' completion fish | source; complete -C '" +
                 line + "'\"")
        .text;
  };
  EXPECT_THAT(offered("assay repl"), HasSubstr("replay\t"));
  EXPECT_THAT(offered("assay check --pow"), HasSubstr("--power\t"));
  EXPECT_THAT(offered("assay print --format c"), HasSubstr("canonical"));
  EXPECT_THAT(offered("assay explain stochastic"), HasSubstr("stochastic-convert"));
}

TEST(Cli, ZshReadsItsScript) {
  if (Shell("command -v zsh").status != 0) GTEST_SKIP() << "no zsh here";
  const Output output =
      Shell("zsh -f -c \"autoload -Uz compinit; compinit -D; source <('" ASSAY_PROGRAM
            "' completion zsh); echo \\$_comps[assay]; "
            // The function, with what it would hand to zsh's own.
            "_describe() { print -l \\$verbs }; _arguments() { print -l -- \\$@ }; "
            "words=(assay ''); CURRENT=2; _assay; words=(assay print ''); CURRENT=3; _assay\"");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("_assay\n"));
  EXPECT_THAT(output.text, HasSubstr("replay:Run one case"));
  EXPECT_THAT(output.text, HasSubstr(":value:(short long canonical proto)"));
}

TEST(Cli, ReadsWhatItWritesInBinary) {
  const std::string text = WriteFile("binary.hlo", kGood);
  const std::string binary = text + ".pb";
  ASSERT_EQ(Assay("print --format proto " + text + " > " + binary).status, 0);
  // The binary form always has the entry's layouts, which the header of the text leaves out.
  auto body = [](const std::string& printed) { return printed.substr(printed.find('\n')); };
  EXPECT_EQ(body(Assay("print --format short " + binary).text),
            body(Assay("print --format short " + text).text));
  EXPECT_EQ(Assay("verify " + binary).status, 0);
  EXPECT_EQ(Assay("run " + binary).status, 0);
  EXPECT_EQ(Assay("check " + binary).status, 0);
  EXPECT_THAT(Assay("graph " + binary).text, HasSubstr("digraph"));
}

TEST(Cli, PrintsPrefixesOfThePipeline) {
  const std::string twice = WriteFile("twice.hlo",
                                      "HloModule m\nENTRY e {\n  x = s32[2] parameter(0)\n"
                                      "  dead = s32[2] abs(x)\n  y = s32[2] negate(x)\n"
                                      "  ROOT r = s32[2] negate(y)\n}\n");
  const std::string print = "print --format short --optimized cpu " + twice;
  const std::string all = Assay(print).text;
  EXPECT_THAT(all, Not(HasSubstr("negate")));
  const std::string prefix = Assay(print + " --stop-after dce").text;
  EXPECT_THAT(prefix, HasSubstr("negate"));
  EXPECT_THAT(prefix, Not(HasSubstr("abs")));
  EXPECT_THAT(Assay(print + " --stop-after form-expander").text, HasSubstr("abs"));
  EXPECT_THAT(Assay(print + " --without algebraic-simplifier+loop-fusion").text,
              HasSubstr("negate"));
  EXPECT_THAT(Assay(print + " --stop-after horizontal-fusion").text, HasSubstr("does not run"));
  EXPECT_EQ(Assay(print + " --dump-each each").text, all);
  const std::string dumped = Shell("cat each/*-dce.hlo").text;
  EXPECT_THAT(dumped, HasSubstr("negate"));
  EXPECT_THAT(dumped, Not(HasSubstr("abs")));
  EXPECT_EQ(Assay("print --without dce " + twice).status, 2);
}

TEST(Cli, PrintsCodeAndPlanOfTheSimulatedGpu) {
  const std::string sum = WriteFile("sum.hlo",
                                    "HloModule m\nadd { a = f32[] parameter(0) b = f32[] "
                                    "parameter(1) ROOT s = f32[] add(a, b) }\n"
                                    "ENTRY e {\n  x = f32[4,6,8] parameter(0)\n"
                                    "  z = f32[] constant(0)\n  ROOT r = f32[4] reduce(x, z), "
                                    "dimensions={1,2}, to_apply=add\n}\n");
  const std::string print = "print --optimized gpu-sim " + sum;
  EXPECT_THAT(Assay(print + " --llvm").text, HasSubstr("define ptx_kernel void"));
  const std::string ptx = Assay(print + " --ptx").text;
  EXPECT_THAT(ptx, HasSubstr(".target sm_90"));
  EXPECT_THAT(ptx, HasSubstr(".entry kernel_"));
  EXPECT_THAT(Assay(print + " --ptx --json").text, HasSubstr("\"file\":\"m.ptx\""));
  EXPECT_THAT(Assay(print + " --plan").text, HasSubstr("nests"));
  EXPECT_THAT(Assay(print + " --passes").text, HasSubstr("1 group-reduced-dims"));
  EXPECT_THAT(Assay("print --optimized cpu --llvm " + sum).text, HasSubstr("define"));
  EXPECT_THAT(Assay("run --backend gpu-sim " + sum).text, HasSubstr("simulated clock: "));
  EXPECT_THAT(Assay("run --json --backend gpu-sim " + sum).LastJson()["clock"].value("path", 0.0),
              Gt(1e-6));
  EXPECT_THAT(Assay("run --backend cpu " + sum).text, Not(HasSubstr("clock")));
  const Output none = Assay("print --optimized passes --llvm " + sum);
  EXPECT_EQ(none.status, 2) << none.text;
}

// The list of a target's passes needs no module.
TEST(Cli, ListsThePassesOfATarget) {
  const std::string gpu = Assay("print --passes --optimized gpu-sim").text;
  EXPECT_THAT(gpu, HasSubstr("reduction-dimension-grouper"));
  EXPECT_THAT(gpu, HasSubstr("until nothing changes"));
  EXPECT_THAT(Assay("print --passes --optimized cpu").text,
              Not(HasSubstr("reduction-dimension-grouper")));
  EXPECT_EQ(Assay("print --passes --optimized xla").status, 2);
  EXPECT_EQ(Assay("print").status, 2);
}

TEST(Cli, VerifyPointsAtWhatIsWrong) {
  Output bad = Assay("verify " + WriteFile("bad.hlo", kBad));
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.text, HasSubstr("bad.hlo:4:26: error"));
  Output good = Assay("verify --json " + WriteFile("good.hlo", kGood));
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.LastJson().value("instructions", 0), 2);
}

TEST(Cli, PrintIsReadAgain) {
  std::string path = WriteFile("good.hlo", kGood);
  for (const char* format : {"short", "long", "canonical"}) {
    Output first = Assay(std::string("print --format ") + format + " " + path);
    ASSERT_EQ(first.status, 0) << first.text;
    std::string again = WriteFile("again.hlo", first.text);
    EXPECT_EQ(Assay(std::string("print --format ") + format + " " + again).text, first.text);
  }
}

TEST(Cli, ModulesGoOutAsJson) {
  const std::string path = WriteFile("good.hlo", kGood);
  for (const std::string& arguments :
       {"print --json " + path, "print --format proto --json " + path, "graph --json " + path,
        std::string("gen --json")}) {
    const nlohmann::json line = Assay(arguments).LastJson();
    EXPECT_TRUE(line.is_object()) << arguments;
    EXPECT_TRUE(line.contains("text") || line.contains("base64") || line.contains("dot"))
        << arguments;
  }
  EXPECT_EQ(Assay("gen --stats --count 5 --json").LastJson().value("programs", 0), 5);
}

TEST(Cli, CheckEndsInItsCounts) {
  std::string modules = Source("conformance/corpus/int__int32_compare.hlo") + " " +
                        Source("conformance/corpus/dot__int32.hlo");
  Output text = Assay("check " + modules);
  EXPECT_EQ(text.status, 0) << text.text;
  EXPECT_EQ(text.LastLine(), "2 passed, 0 failed, 0 inconclusive, 0 unsupported, 0 crashed");
  EXPECT_THAT(text.text, Not(HasSubstr("\033"))) << "no colour in a pipe";
  Output json = Assay("check --json " + modules);
  nlohmann::json summary = json.LastJson();
  ASSERT_TRUE(summary.is_object()) << json.text;
  EXPECT_EQ(summary.value("type", ""), "summary");
  EXPECT_EQ(summary.value("passed", -1), 2);
  EXPECT_EQ(summary.value("failed", -1), 0);
}

TEST(Cli, ValidateFollowsADumpAndShowsTheBadStep) {
  const std::string dump = Source("conformance/dumps/testdata/cpu_conv");
  const Output right = Assay("validate --json " + dump);
  EXPECT_EQ(right.status, 0) << right.text;
  EXPECT_EQ(right.LastJson().value("failed", -1), 0);
  EXPECT_GT(right.LastJson().value("passed", 0), 2);
  const Output wrong = Shell("rm -rf bent && cp -r '" + dump +
                             "' bent && sed -i 's/stride=2x2 pad=1_0x0_1/stride=2x2 pad=0_1x1_0/' "
                             "bent/*.0012.* && '" ASSAY_PROGRAM
                             "' validate bent --page page.html; s=$?; grep -c '<pre>' page.html; "
                             "exit $s");
  EXPECT_EQ(wrong.status, 1) << wrong.text;
  EXPECT_THAT(wrong.text, HasSubstr("the stretch to conv_general_dilated.3 is wrong"));
  EXPECT_THAT(wrong.text, HasSubstr("+ %conv_general_dilated.3"));
  EXPECT_EQ(Assay("validate " + testing::TempDir() + "/none").status, 2);
}

TEST(Cli, AWrongResultThatWasRecordedIsConvicted) {
  const std::string dump = Source("conformance/dumps/testdata/cpu_recorded");
  const std::string recorded = "inputs recorded in " + dump;
  const std::string wrong = "the result recorded in " + dump;
  const struct {
    const char* verb;
    int status;
    std::string says;
  } kRows[] = {
      {"check --no-db ", 1, "stored: failed"},
      {"reduce -o recorded_bugs ", 1, "what leads to out1 is 3 of 5 instructions"},
      {"blame ", 1, "pass algsimp of pipeline simplification is to blame"},
      {"replay ", 1, "recorded result: fail"},
      {"run ", 0, "out1 as recorded: 3 of 3 elements differ"},
      {"validate ", 1, "the stretch to exp.1 is wrong"},
  };
  for (const auto& row : kRows) {
    const Output output = Assay(row.verb + dump);
    EXPECT_EQ(output.status, row.status) << output.text;
    EXPECT_THAT(output.text, HasSubstr(row.says));
    EXPECT_THAT(output.text, HasSubstr(recorded)) << "the inputs' origin is said";
  }
  EXPECT_THAT(Assay("blame " + dump).text, HasSubstr(wrong));
  const Output part = Assay("check --no-db --backend none recorded_bugs");
  EXPECT_THAT(part.text, HasSubstr("0 passed, 1 failed"));
}

TEST(Cli, AMistakeIsOneErrorLine) {
  for (const char* arguments : {"check", "chekc", "check --no-such x.hlo", "explain no-such-op",
                                "fuzz --time soon", "run /nonexistent.hlo"}) {
    const Output output = Assay(arguments);
    EXPECT_EQ(output.text.rfind("error: ", 0), 0u) << output.text;
    EXPECT_EQ(output.text.find("error:", 1), std::string::npos) << output.text;
  }
}

TEST(Cli, EveryRunSaysWhoIsJudged) {
  const std::string module = Source("conformance/corpus/int__int32_compare.hlo");
  EXPECT_EQ(Assay("check --no-db " + module).text.rfind("cpu: Assay's own compiler", 0), 0u);
  EXPECT_EQ(
      Assay("check --no-db --backend none " + module).text.rfind("none: the stored results", 0),
      0u);
  EXPECT_EQ(Assay("conform --no-db --backend reference --filter concatenate")
                .text.rfind("reference: Assay's oracle", 0),
            0u);
  EXPECT_EQ(Assay("fuzz --no-db --count 1").text.rfind("cpu: Assay's own compiler", 0), 0u);
  EXPECT_THAT(Assay("check --no-db --json " + module).LastJson().value("backend_version", ""),
              HasSubstr("Assay's own compiler"));
}

TEST(Cli, NumbersOutOfRangeAreUsageErrors) {
  const std::string module = WriteFile("good.hlo", kGood);
  for (const char* line : {"check --backend none --sample=-2 ", "run --random=-5 ",
                           "run --elements=-1 ", "reduce --index=-3 ", "bench --precision=-1 "}) {
    const Output output = Assay(line + module);
    EXPECT_EQ(output.status, 2) << line << output.text;
    EXPECT_THAT(output.text, HasSubstr("error: --")) << line;
  }
}

TEST(Cli, BlameOfWhatPassesIsJsonOnRequest) {
  const Output output = Assay("blame --json " + WriteFile("good.hlo", kGood));
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.LastJson().value("found", true), false);
}

TEST(Cli, BlameTakesSeveralDevicesWithTheSameInputs) {
  const std::string module = WriteFile("meet.hlo", R"(HloModule m, replica_count=2
ENTRY e {
  p = f32[3] parameter(0)
  ROOT c = f32[3] collective-permute(p), source_target_pairs={{0,1},{1,0}}
}
)");
  const Output same = Assay("blame --json " + module);
  EXPECT_EQ(same.status, 0) << same.text;
  ASSERT_EQ(Assay("run " + module + " --save meet.npz").status, 0);
  const Output different = Assay("blame " + module + " --inputs meet.npz");
  EXPECT_EQ(different.status, 2);
  EXPECT_THAT(different.text, HasSubstr("inputs of device 1 differ from those of device 0"));
}

TEST(Cli, GraphDrawsWhatItsNameSays) {
  const std::string module = WriteFile("good.hlo", kGood);
  const Output strange = Assay("graph " + module + " -o picture.bmp");
  EXPECT_EQ(strange.status, 2);
  EXPECT_THAT(strange.text, HasSubstr("no picture ends in .bmp"));
  const Output missing = Assay("graph " + module + " -o no/such/folder/picture.dot");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.text, HasSubstr("No such file or directory"));
  const Output png = Assay("graph " + module + " -o picture.png");
  if (Shell("command -v dot").status == 0) {
    EXPECT_EQ(png.status, 0) << png.text;
    EXPECT_EQ(Shell("head -c 4 picture.png | tail -c 3").text, "PNG");
  } else {
    EXPECT_EQ(png.status, 2);
    EXPECT_THAT(png.text, HasSubstr("graphviz's dot did not run"));
  }
}

TEST(Cli, CheckDrawsTheBoundsThatItsCutsUsed) {
  const std::string module = Source("conformance/corpus/model__mlp_sgd_step.hlo");
  const Output drawn = Assay("check --no-db --backend reference --graph bounds.dot " + module);
  EXPECT_EQ(drawn.status, 0) << drawn.text;
  EXPECT_THAT(drawn.text, HasSubstr("by cuts: "));
  const std::string graph = Shell("cat bounds.dot").text;
  EXPECT_THAT(graph, HasSubstr("% of the bound"));
  EXPECT_THAT(graph, HasSubstr("legend"));
  // One module on a backend, and a name that says what to draw.
  EXPECT_EQ(Assay("check --graph b.dot --backend none " + module).status, 2);
  EXPECT_EQ(Assay("check --graph b.dot " + module + " " + module).status, 2);
  EXPECT_EQ(Assay("check --graph b.bmp " + module).status, 2);
}

TEST(Cli, CheckCountsWhatCannotBeReadAndWhatHasNoMeaning) {
  Output unreadable = Assay("check " + WriteFile("bad.hlo", kBad));
  EXPECT_EQ(unreadable.status, 2) << unreadable.text;
  EXPECT_THAT(unreadable.text, HasSubstr("1 unreadable"));
  std::string foreign =
      WriteFile("foreign.hlo",
                "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  "
                "ROOT r = f32[4] custom-call(x), custom_call_target=\"nobody_knows\"\n}\n");
  Output unsupported = Assay("check " + foreign);
  EXPECT_EQ(unsupported.status, 2) << unsupported.text;
  EXPECT_THAT(unsupported.text, HasSubstr("nobody_knows"));
  EXPECT_EQ(unsupported.LastLine(), "0 passed, 0 failed, 0 inconclusive, 1 unsupported, 0 crashed");
}

TEST(Cli, CheckDoesNotPassWhatNobodyCompared) {
  const std::string module = WriteFile("good.hlo", kGood);
  const Output output = Assay("check --no-db --backend none " + module);
  EXPECT_EQ(output.status, 2) << output.text;
  EXPECT_THAT(output.text, HasSubstr("1 nothing to judge"));
  EXPECT_EQ(output.LastLine(), "0 passed, 0 failed, 0 inconclusive, 0 unsupported, 0 crashed");
  const nlohmann::json summary = Assay("check --no-db --json --backend none " + module).LastJson();
  EXPECT_EQ(summary.value("nothing to judge", -1), 1);
}

TEST(Cli, RunPrintsValuesAndBounds) {
  Output output = Assay("run --random 3 --bounds " + WriteFile("good.hlo", kGood));
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("exactly one right answer"));
  EXPECT_THAT(output.LastLine(), HasSubstr("verdict: pass"));
}

TEST(Cli, ALimitOfTheOracleIsInconclusiveAndNamesItsOption) {
  const std::string loop = WriteFile("loop.hlo", R"(HloModule m
body { b = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT n = s32[] add(b, one) }
condition { c = s32[] parameter(0)
  m = s32[] constant(1000000000)
  ROOT l = pred[] compare(c, m), direction=LT }
ENTRY e { x = s32[] constant(0)
  ROOT w = s32[] while(x), condition=condition, body=body }
)");
  for (const char* option : {"--max-steps 1000", "--timeout 0.2", "--max-memory 5"}) {
    const Output output = Assay(std::string("check --no-db --backend none ") + option + " " + loop);
    EXPECT_EQ(output.status, 2) << output.text;
    EXPECT_EQ(output.LastLine(), "0 passed, 0 failed, 1 inconclusive, 0 unsupported, 0 crashed");
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    EXPECT_THAT(output.text, HasSubstr(name)) << output.text;
  }
  EXPECT_THAT(Assay("check --no-db --backend none --max-steps 1000 " + loop).text,
              HasSubstr("instruction "));
}

TEST(Cli, WhatIsNoFileIsNamed) {
  Shell("mkdir -p odd && cd odd && rm -f fifo loop && mkfifo fifo && ln -s loop loop");
  const std::string module = WriteFile("good.hlo", kGood);
  for (const char* verb : {"run", "verify", "print", "graph"}) {
    EXPECT_THAT(Assay(std::string(verb) + " /dev/zero").text, HasSubstr("is a device or socket"));
    EXPECT_THAT(Assay(std::string(verb) + " odd/fifo").text, HasSubstr("is a pipe"));
    EXPECT_THAT(Assay(std::string(verb) + " odd/loop").text, HasSubstr("symbolic links"));
    EXPECT_THAT(Assay(std::string(verb) + " odd").text, HasSubstr("folder"));
  }
  for (const char* arrays : {"/dev/zero", "odd/fifo", "odd/loop", "odd", "odd/none.npz"}) {
    const Output output = Assay("run " + module + " --inputs " + arrays);
    EXPECT_EQ(output.status, 2) << output.text;
    EXPECT_THAT(output.text, HasSubstr(arrays));
  }
}

TEST(Cli, MlirIsNamedAsSuch) {
  const std::string text = WriteFile(
      "stable.mlir",
      "// a comment\nmodule @f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public "
      "@main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n}\n");
  for (const char* verb : {"check", "run", "print", "graph", "blame", "reduce"}) {
    const Output output = Assay(std::string(verb) + " " + text);
    EXPECT_EQ(output.status, 2) << verb << output.text;
    EXPECT_THAT(output.text, HasSubstr("this is MLIR (StableHLO), not HLO. Lower it")) << verb;
  }
  EXPECT_EQ(Assay("verify " + text).status, 1);
  const std::string bytecode = WriteFile("stable.mlirbc", std::string("ML\xEFR\x0D\x01\0", 7));
  EXPECT_THAT(Assay("verify " + bytecode).text, HasSubstr("this is MLIR"));
  // HLO that is wrong stays HLO.
  EXPECT_THAT(Assay("verify " + WriteFile("bad.hlo", kBad)).text, Not(HasSubstr("MLIR")));
}

}  // namespace
}  // namespace assay
