// Whatever the limit, the pipeline leaves a module that verifies, and it decides the same twice.
#include "optimized/pipeline/pipeline.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimized/gates/rule_names.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/pipeline/registry.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"

namespace assay {
namespace {

constexpr char kMixed[] = R"(HloModule mixed
sum { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }
twice { x = f32[8,4] parameter(0)
        two = f32[] constant(2)
        b = f32[8,4] broadcast(two), dimensions={}
        ROOT r = f32[8,4] multiply(x, b) }
then { x = f32[8] parameter(0)
       ROOT r = f32[8] negate(x) }
else { x = f32[8] parameter(0)
       ROOT r = f32[8] exponential(x) }
ENTRY main {
  x = f32[8,4] parameter(0)
  i = s32[] parameter(1)
  p = pred[] parameter(2)
  y = f32[8,4] call(x), to_apply=twice
  t = f32[4,8] transpose(y), dimensions={1,0}
  tt = f32[8,4] transpose(t), dimensions={1,0}
  e = f32[8,4] exponential(tt)
  z = f32[] constant(-0)
  r = f32[8] reduce(e, z), dimensions={1}, to_apply=sum
  zero = s32[] constant(0)
  d = f32[6,4] dynamic-slice(e, i, zero), dynamic_slice_sizes={6,4}
  d2 = f32[2,4] dynamic-slice(d, i, zero), dynamic_slice_sizes={2,4}
  c = f32[8] conditional(p, r, r), true_computation=then, false_computation=else
  ROOT out = (f32[8], f32[2,4]) tuple(c, d2)
})";

std::vector<std::string> Rules(const Gates& gates) {
  std::vector<std::string> rules;
  for (const Decision& d : gates.decisions()) rules.push_back(d.rule + " " + d.where);
  return rules;
}

// Passes skip a module that has no op of theirs: what it knows of its ops agrees with a walk.
void ExpectKnowsItsOps(const Module& module) {
  std::set<Opcode> ops;
  for (const Computation* computation : module.computations()) {
    bool has_calls = false;
    for (const Instruction* inst : *computation) {
      ops.insert(inst->opcode());
      has_calls = has_calls || !inst->callees().empty();
    }
    EXPECT_EQ(computation->has_calls(), has_calls) << computation->name();
  }
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    EXPECT_EQ(module.HasAny({opcode}), ops.contains(opcode)) << Name(opcode);
  }
}

// Every limit up to `most` different ones, spread over all decisions.
void CheckLimits(const Module& module, int64_t most) {
  Gates all;
  std::unique_ptr<Module> optimized = module.Clone("");
  PipelineOptions options;
  options.verify_each = true;
  ASSERT_EQ(Optimize(*optimized, all, options), absl::OkStatus());
  ExpectKnowsItsOps(*optimized);
  Gates again;
  std::unique_ptr<Module> second = module.Clone("");
  ASSERT_EQ(Optimize(*second, again, options), absl::OkStatus());
  EXPECT_EQ(Rules(all), Rules(again));
  for (const Decision& decision : all.decisions()) {
    const DecisionRule* rule = FindRule(decision.rule);
    ASSERT_NE(rule, nullptr) << decision.rule << " is not in optimized/gates/rule_names.cc";
    EXPECT_EQ(rule->kind, decision.kind) << decision.rule;
  }
  EXPECT_EQ(optimized->ToString(), second->ToString());
  const int64_t step = std::max<int64_t>(1, all.count() / most);
  for (int64_t limit = 0; limit < all.count(); limit += step) {
    Gates gates(limit);
    std::unique_ptr<Module> limited = module.Clone("");
    ASSERT_EQ(Optimize(*limited, gates, options), absl::OkStatus()) << "limit " << limit;
    ExpectKnowsItsOps(*limited);
    for (int64_t i = 0; i < limit; ++i) {
      ASSERT_EQ(gates.decisions()[i].rule, all.decisions()[i].rule) << "limit " << limit;
    }
  }
}

TEST(Pipeline, EveryLimitVerifies) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  ASSERT_NE(module, nullptr);
  CheckLimits(*module, 1000);
}

// A fixed point runs passes again.
std::vector<std::string> FirstMentions(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  for (const std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  return once;
}

// The passes that run by themselves on the module, for no target; each once.
void AddPassesOf(absl::Span<const PipelineStep> steps, const Module& module,
                 std::vector<std::string>& names) {
  const PassOptions options;
  for (const PipelineStep& step : steps) {
    if (step.stage != Stage::kOptimize) continue;
    if (step.when != nullptr && !step.when->holds({module, kOnCpu, options})) continue;
    if (step.IsFixedPoint()) {
      AddPassesOf(step.inner, module, names);
    } else {
      names.emplace_back(step.pass);
    }
  }
}
std::vector<std::string> PassesOfModule(const Module& module) {
  std::vector<std::string> names;
  AddPassesOf(PipelineSteps(), module, names);
  return FirstMentions(names);
}

TEST(Pipeline, FusesAndReports) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  Gates gates;
  std::vector<std::string> seen;
  PipelineOptions options;
  options.observer = [&](std::string_view pass, bool, const Module&) { seen.emplace_back(pass); };
  ASSERT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  EXPECT_EQ(FirstMentions(seen), PassesOfModule(*module));
  std::map<std::string, int64_t> counts = gates.Counts();
  EXPECT_EQ(counts["call-inline"], 1);
  EXPECT_EQ(counts["transpose-of-transpose"], 1);
  EXPECT_EQ(counts["ds-of-ds"], 1);
  EXPECT_GT(counts["fuse-loop"], 0);
}

TEST(Pipeline, StopsAfterAPass) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  Gates gates;
  PipelineOptions options;
  options.stop_after_pass = "call-inliner";
  ASSERT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  EXPECT_EQ(gates.count(), 1);
  options.stop_after_pass = "no-such-pass";
  EXPECT_EQ(Optimize(*module, gates, options).code(), absl::StatusCode::kInvalidArgument);
}

// A step runs where its condition holds, and with every pass.
TEST(Pipeline, ConditionsChooseSteps) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  const auto runs = [&](PipelineOptions options, std::string_view wanted) {
    bool seen = false;
    options.observer = [&](std::string_view pass, bool, const Module&) { seen |= pass == wanted; };
    Gates gates;
    EXPECT_EQ(Optimize(*module->Clone(""), gates, options), absl::OkStatus());
    return seen;
  };
  PipelineOptions fast;
  fast.pass_options.fast_math = true;
  EXPECT_FALSE(runs({}, "tree-reduction-rewriter"));
  EXPECT_TRUE(runs(fast, "tree-reduction-rewriter"));
  EXPECT_FALSE(runs({}, "all-reduce-combiner"));
  EXPECT_TRUE(runs(EveryPassOptions(), "all-reduce-combiner"));
  EXPECT_FALSE(runs({}, "dot-decomposer"));
  PipelineOptions for_gpu;
  for_gpu.target = kOnGpu;
  EXPECT_FALSE(runs({}, "variadic-op-splitter"));
  EXPECT_TRUE(runs(for_gpu, "variadic-op-splitter"));
}

TEST(Pipeline, LeavesPassesOut) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  Gates gates;
  PipelineOptions options;
  std::vector<std::string> seen;
  options.observer = [&](std::string_view pass, bool, const Module&) { seen.emplace_back(pass); };
  options.without = *ParseWithout("cse+loop-fusion");
  ASSERT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  EXPECT_EQ(FirstMentions(seen).size(), PassesOfModule(*module).size() - 2);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "cse"), 0);
  EXPECT_EQ(gates.Counts()["fuse-loop"], 0);
  EXPECT_THAT(std::string(ParseWithout("call-graph-flattener").status().message()),
              ::testing::HasSubstr("required"));
  EXPECT_FALSE(ParseWithout("no-such-pass").ok());
  const std::vector<std::string> drawn = *ParseWithout("1000003");
  ASSERT_EQ(drawn.size(), 1);
  EXPECT_NE(FindPass(drawn[0]), nullptr);
}

// Every step of the one list names a pass, those of the optional stage among others; the required
// ones come first and last.
TEST(Pipeline, StepsNamePasses) {
  std::vector<Stage> stages;
  for (const PipelineStep& step : PipelineSteps()) {
    EXPECT_NE(FindPass(step.pass) != nullptr, step.IsFixedPoint()) << step.pass;
    for (const PipelineStep& inner : step.inner) {
      EXPECT_NE(FindPass(inner.pass), nullptr) << inner.pass;
      EXPECT_EQ(inner.stage, step.stage) << inner.pass;
    }
    EXPECT_TRUE(step.stage == Stage::kOptimize || !step.on_request) << step.pass;
    stages.push_back(step.stage);
  }
  EXPECT_EQ(CheckPipelineSteps(), absl::OkStatus());
  EXPECT_EQ(CheckOrder(EveryPass()), absl::OkStatus());
  EXPECT_TRUE(std::is_sorted(stages.begin(), stages.end()));
  EXPECT_EQ(PassesOf(Stage::kLegalize).front(), "descheduler");
  EXPECT_EQ(PassesOf(Stage::kFlatten).back(), "call-graph-flattener");
}

// A list that breaks a rule is refused, and the message names both passes.
TEST(Pipeline, RefusesAWrongOrder) {
  for (const OrderRule& rule : OrderRules()) {
    ASSERT_NE(FindPass(rule.first), nullptr) << rule.first;
    ASSERT_NE(FindPass(rule.second), nullptr) << rule.second;
    EXPECT_FALSE(rule.why.empty()) << rule.first;
    const std::vector<std::string_view> right = {rule.first, "call-inliner", rule.second};
    const std::vector<std::string_view> wrong = {rule.second, "call-inliner", rule.first};
    EXPECT_EQ(CheckOrder(right), absl::OkStatus());
    const absl::Status status = CheckOrder(wrong);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << rule.first;
    EXPECT_THAT(ToStd(status.message()), ::testing::HasSubstr(std::string(rule.first)));
    EXPECT_THAT(ToStd(status.message()), ::testing::HasSubstr(std::string(rule.second)));
  }
}

// A fixed point leaves nothing to do for itself, and passes over an unchanged module run once.
TEST(Pipeline, FixedPointsRunUntilNothingChanges) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  std::map<std::string, int> runs;
  PipelineOptions options;
  options.verify_each = true;
  options.stop_after_pass = "while-loop-trip-count-annotator";
  options.observer = [&](std::string_view pass, bool, const Module&) { ++runs[std::string(pass)]; };
  Gates gates;
  ASSERT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  EXPECT_GT(runs["while-simplifier"], 1);
  const int64_t taken = gates.count();
  EXPECT_GT(taken, 0);
  runs.clear();
  Gates again;
  const uint64_t hash = module->Hash();
  ASSERT_EQ(Optimize(*module, again, options), absl::OkStatus());
  EXPECT_EQ(module->Hash(), hash);
  EXPECT_EQ(runs["while-simplifier"], 1);
  EXPECT_EQ(runs["tuple-simplifier"], 1);
}

TEST(PassTrace, IsCarriedByStatistics) {
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  Gates gates;
  PassTrace trace(gates);
  PipelineOptions options;
  options.observer = [&](std::string_view pass, bool changed, const Module&) {
    trace.Note(pass, changed);
  };
  ASSERT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  std::map<std::string, double> statistics = {{"code.bytes", 1}, {"tier.full", 0}};
  AddStatistics(trace.records(), statistics);
  const std::vector<PassRecord> read = PassRecordsOf(statistics);
  ASSERT_EQ(read.size(), trace.records().size());
  int64_t decisions = 0;
  for (size_t k = 0; k < read.size(); ++k) {
    EXPECT_EQ(read[k].pass, trace.records()[k].pass);
    EXPECT_EQ(read[k].changed, trace.records()[k].changed);
    decisions += read[k].decisions;
  }
  EXPECT_EQ(decisions, gates.count());
}

TEST(PassesBackend, StopsAtTheDecision) {
  BackendRegistry registry;
  RegisterPasses(registry);
  std::unique_ptr<Module> module = ReadForTest(kMixed);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("passes:1,profile=strict");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_FALSE((*backend)->Describe().can_run);
  absl::StatusOr<std::unique_ptr<Executable>> executable = (*backend)->Compile(*module, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  int64_t taken = 0;
  for (const Decision& decision : (*executable)->decisions()) taken += decision.taken;
  EXPECT_EQ(taken, 1);
  absl::StatusOr<std::unique_ptr<Module>> optimized = (*executable)->OptimizedModule();
  ASSERT_TRUE(optimized.ok());
  EXPECT_EQ(Verify(**optimized), absl::OkStatus());
  EXPECT_EQ(ClassOf((*executable)->Run({}).status()), ErrorClass::kUnsupported);
  EXPECT_FALSE(registry.Create("passes:-1").ok());
  // An option is no limit of 0.
  backend = registry.Create("passes:profile=strict");
  ASSERT_TRUE(backend.ok()) << backend.status();
  executable = (*backend)->Compile(*module, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_GT((*executable)->decisions().size(), 1);
  for (const Decision& decision : (*executable)->decisions()) EXPECT_TRUE(decision.taken);
  for (const char* wrong :
       {"fusion=maybe", "run=cse+nothing", "without=nothing", "window=x", "bf16=some"}) {
    EXPECT_FALSE(registry.Create(StrCat("passes:", wrong)).ok()) << wrong;
  }
}

// Modules of the conformance corpus, or of the folder that ASSAY_CORPUS names.
TEST(Pipeline, CorpusVerifiesAtEveryLimit) {
  const char* override_folder = std::getenv("ASSAY_CORPUS");
  const std::filesystem::path folder = override_folder != nullptr
                                           ? override_folder
                                           : std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus";
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder << " is not there";
  int modules = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".hlo") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    absl::StatusOr<std::unique_ptr<Module>> module = LoadModule(file.string());
    if (!module.ok()) continue;  // the reader's and verifier's own tests answer for it
    SCOPED_TRACE(file.string());
    CheckLimits(**module, 6);
    ++modules;
  }
  EXPECT_GT(modules, 0);
  RecordProperty("modules", modules);
}

}  // namespace
}  // namespace assay
