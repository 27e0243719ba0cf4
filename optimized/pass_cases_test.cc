// Every case of testdata/passes: what the passes make of a module, or that they leave it alone.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "optimized/defects/bends.h"
#include "optimized/gates/claim_names.h"
#include "optimized/gates/rule_names.h"
#include "optimized/pass_cases_for_test.h"
#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/passes/library/gpu_facts.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/pipeline/pipeline.h"
#include "optimized/pipeline/registry.h"
#include "optimized/target/target.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

// A machine whose library has every dot of 64 results and more.
const Target& LibraryTarget() {
  static const auto& target = *new Target{
      .name = "library",
      .contraction = [](const Instruction& op, const Target&) -> std::optional<ContractionCode> {
        if (op.opcode() != Opcode::kDot || op.shape().ElementCount() < 64) return std::nullopt;
        return ContractionCode{"gemm", -1};
      }};
  return target;
}

// A machine of eight threads that sorts in its runtime and has a library for dots of 4096 results.
const Target& ThreadsTarget() {
  static const auto& ops = *[] {
    auto* table = new OpSupportTable();
    for (OpSupport& op : *table) op.code = OpSupport::kElements;
    for (Opcode opcode : {Opcode::kSort, Opcode::kOutfeed, Opcode::kCustomCall}) {
      (*table)[static_cast<int>(opcode)].code = OpSupport::kNative;
    }
    return table;
  }();
  static const auto& target = *new Target{
      .name = "threads",
      .levels = {{kThreads, 8}},
      .ops = &ops,
      .contraction = [](const Instruction& op, const Target&) -> std::optional<ContractionCode> {
        if (op.opcode() != Opcode::kDot) return std::nullopt;
        const bool in_library = op.shape().ElementCount() >= 4096;
        return ContractionCode{in_library ? "gemm" : "", in_library ? -1 : 0};
      }};
  return target;
}

PipelineOptions OptionsOf(const PassCase& pass_case) {
  PipelineOptions options;
  options.profile = &Profile::Strict();
  options.passes = pass_case.passes;
  options.verify_each = true;
  for (const std::string& option : pass_case.options) {
    const size_t at = option.find('=');
    const std::string key = option.substr(0, at), value = option.substr(at + 1);
    if (key == "profile") {
      options.profile = *Profile::Find(value);
    } else if (key == "reduce_window_size") {
      EXPECT_TRUE(absl::SimpleAtoi(value, &options.pass_options.reduce_window_size));
    } else if (key == "gpu") {
      options.pass_options.gpu = GpuFacts::Find(value);
      EXPECT_NE(options.pass_options.gpu, nullptr) << value;
    } else if (key == "fast_math") {
      options.pass_options.fast_math = value == "on";
    } else if (key == "verbosity") {
      EXPECT_TRUE(absl::SimpleAtoi(value, &options.pass_options.verbosity));
    } else if (key == "target") {
      EXPECT_TRUE(value == "library" || value == "threads");
      options.pass_options.target = value == "library" ? &LibraryTarget() : &ThreadsTarget();
    } else if (key == "memory_limit") {
      EXPECT_TRUE(absl::SimpleAtoi(value, &options.pass_options.memory_limit));
    } else if (key == "bfloat16") {
      options.pass_options.bfloat16 = BFloat16Support::Find(value);
      EXPECT_NE(options.pass_options.bfloat16, nullptr) << value;
    } else {
      ADD_FAILURE() << pass_case.name << ": option " << key;
    }
  }
  return options;
}

// Aliases and donors, which the hash of a module does not see.
std::string HeaderOf(const Module& module) {
  const std::string text = module.ToString();
  std::string out;
  for (const std::string key : {", input_output_alias=", ", buffer_donor="}) {
    const size_t at = text.substr(0, text.find('\n')).find(key);
    if (at != std::string::npos) StrAppend(&out, text.substr(at, text.find(" }", at) - at));
  }
  return out;
}

void WriteLayouts(Shape& shape) {
  shape.mark_layout_written(true);
  for (Shape& element : shape.mutable_elements()) WriteLayouts(element);
}

// Blind to whether a default layout was written out.
uint64_t HashOf(const Module& module) {
  const std::unique_ptr<Module> copy = module.Clone("");
  for (Computation* computation : copy->computations()) {
    for (Instruction* inst : *computation) WriteLayouts(inst->mutable_shape());
  }
  return copy->Hash();
}

// True if the passes made something else of the case than it says.
bool HasOtherResult(const PassCase& pass_case, const Module& module, uint64_t before,
                    bool changed) {
  if (changed == pass_case.untouched) return true;
  if (pass_case.untouched) return HashOf(module) != before;
  if (pass_case.after.empty()) return true;
  const std::unique_ptr<Module> expected = ReadForTest(AsModule(pass_case.after));
  return expected == nullptr || HashOf(module) != HashOf(*expected);
}

// Writes the result into the case file if ASSAY_BLESS=1.
bool BlessResult(const PassCase& pass_case, const Module& module, bool changed) {
  if (!changed) return false;
  const bool is_entry =
      pass_case.before.find("HloModule") == std::string::npos && module.computations().size() == 1;
  std::string text = module.ToString(WriteOptions::Short());
  if (is_entry) {
    text = text.substr(text.find("{\n") + 2);
    text.resize(text.rfind("\n}"));
  }
  return pass_case.file->Bless(pass_case.after_field, text);
}

TEST(PassCases, DoWhatTheySay) {
  const PassCases cases;
  std::set<std::string> names, fired, spared;
  for (const PassCase& pass_case : cases.all()) {
    SCOPED_TRACE(pass_case.name);
    EXPECT_TRUE(names.insert(pass_case.name).second) << "two cases of one name";
    std::unique_ptr<Module> module = ReadForTest(AsModule(pass_case.before));
    ASSERT_NE(module, nullptr);
    const uint64_t before = HashOf(*module);
    const std::string header = HeaderOf(*module);
    PipelineOptions options = OptionsOf(pass_case);
    std::vector<std::string> log;
    bool changed = false;
    options.pass_options.log = [&](std::string_view line) { log.emplace_back(line); };
    if (!pass_case.log.empty()) options.pass_options.explain = options.pass_options.log;
    std::set<std::string> changing;
    options.observer = [&](std::string_view pass, bool now, const Module&) {
      changed |= now && pass != "dce";
      if (now) changing.emplace(pass);
    };
    Gates gates;
    const absl::Status status = Optimize(*module, gates, options);
    EXPECT_EQ(log, pass_case.log);
    if (!pass_case.error.empty()) {
      EXPECT_FALSE(status.ok());
      EXPECT_NE(status.message().find(pass_case.error), std::string::npos) << status;
      continue;
    }
    ASSERT_EQ(status, absl::OkStatus());
    if (HasOtherResult(pass_case, *module, before, changed) &&
        BlessResult(pass_case, *module, changed))
      continue;
    EXPECT_EQ(changed, !pass_case.untouched);
    if (pass_case.untouched) {
      EXPECT_EQ(HashOf(*module), before) << module->ToString();
      EXPECT_EQ(HeaderOf(*module), header);
      spared.insert(pass_case.passes.begin(), pass_case.passes.end());
      continue;
    }
    std::unique_ptr<Module> expected = ReadForTest(AsModule(pass_case.after));
    ASSERT_NE(expected, nullptr);
    EXPECT_EQ(HashOf(*module), HashOf(*expected)) << "got\n"
                                                  << module->ToString() << "expected\n"
                                                  << expected->ToString();
    EXPECT_EQ(HeaderOf(*module), HeaderOf(*expected));
    fired.insert(changing.begin(), changing.end());

    // No decision is forced but the required ones: refused, the module still verifies.
    Gates none(0);
    std::unique_ptr<Module> dull = ReadForTest(AsModule(pass_case.before));
    options.pass_options.log = nullptr;
    EXPECT_EQ(Optimize(*dull, none, options), absl::OkStatus());
  }
  // Every pass that may be left out has its cases here, near misses among them.
  for (const PassInfo& info : AllPasses()) {
    if (info.runs_in == RunsIn::kCompiler) continue;
    const std::string name(info.name);
    const bool only_tells = name == "indexed-array-analysis" || name == "domain-verifier";
    if (name == "memory-scheduler") continue;  // an order is no text: memory_scheduler_test.cc
    EXPECT_TRUE(fired.contains(name) || only_tells) << name;
    EXPECT_TRUE(spared.contains(name)) << name << " has no near miss";
  }
}

// Writes down which side conditions are asked where they do not hold, and forgets one of them.
class Forgetter : public GateDefect {
 public:
  explicit Forgetter(std::string_view forgotten) : forgotten_(forgotten) {}

  bool Bites(DecisionKind, std::string_view, const Instruction*) const override { return false; }
  int64_t BendInteger(int64_t known) const override { return known; }
  bool ClaimsTrue() const override { return false; }
  bool Forgets(std::string_view claim, const Instruction*) const override {
    asked_.insert(std::string(claim));
    return claim == forgotten_;
  }
  int64_t BendNumber(std::string_view claim, const Instruction*, int64_t known) const override {
    asked_.insert(std::string(claim));
    return known;
  }
  void BendFolded(const Instruction&, absl::Span<const Literal* const>, Literal&) const override {}
  Instruction* BendRewrite(int64_t, Instruction* with) const override { return with; }
  const KernelBends& kernel_bends() const override { return kNoBends; }

  const std::set<std::string>& asked() const { return asked_; }

 private:
  std::string forgotten_;
  mutable std::set<std::string> asked_;
};

// The hash of the module that the passes make of a case whose side condition is `forgotten`; 0
// where they refuse.
uint64_t HashWithout(const PassCase& pass_case, std::string_view forgotten,
                     std::set<std::string>* asked = nullptr) {
  const auto forgetter = std::make_shared<Forgetter>(forgotten);
  std::unique_ptr<Module> module = ReadForTest(AsModule(pass_case.before));
  if (module == nullptr) return 0;
  Gates gates(-1, forgetter);
  const absl::Status status = Optimize(*module, gates, OptionsOf(pass_case));
  if (asked != nullptr) *asked = forgetter->asked();
  return status.ok() ? HashOf(*module) : 0;
}

TEST(Claims, OfPassesAreAskedByCasesThatNeedThem) {
  const PassCases cases;
  std::map<std::string, std::vector<const PassCase*>> asking;
  for (const PassCase& pass_case : cases.all()) {
    if (!pass_case.error.empty()) continue;
    std::set<std::string> asked;
    HashWithout(pass_case, "", &asked);
    for (const std::string& claim : asked) asking[claim].push_back(&pass_case);
  }
  for (const auto& [claim, who] : asking) EXPECT_TRUE(FindClaim(claim).has_value()) << claim;
  std::set<std::string> unasked;
  for (const ClaimName& claim : ClaimNames()) {
    const DecisionRule* rule = FindRule(RuleOf(claim.name));
    ASSERT_NE(rule, nullptr) << claim.name;
    if (rule->kind != DecisionKind::kRewrite) continue;  // of code and of buffers
    const std::vector<const PassCase*>& who = asking[std::string(claim.name)];
    const bool matters =
        claim.kind == ClaimKind::kNumber
            ? !who.empty()
            : std::any_of(who.begin(), who.end(), [&](const PassCase* pass_case) {
                return HashWithout(*pass_case, claim.name) != HashWithout(*pass_case, "");
              });
    if (!matters) unasked.insert(std::string(claim.name));
  }
  // A pad with holes has another size as well, and is refused for that.
  const std::set<std::string> expected = {"trivial-pad/no-interior"};
  EXPECT_EQ(unasked, expected);
}

// The gates of native kernels that the pipeline asks in a case.
std::set<std::string> KernelsOf(const PassCase& pass_case, const PipelineOptions& options) {
  std::set<std::string> kernels;
  if (!pass_case.error.empty()) return kernels;
  std::unique_ptr<Module> module = ReadForTest(AsModule(pass_case.before));
  Gates gates;
  EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus()) << pass_case.name;
  for (const Decision& decision : gates.decisions()) {
    if (decision.kind == DecisionKind::kLibrary) kernels.insert(decision.rule);
  }
  return kernels;
}

// Every such gate is asked in some case; refused by its name, what it is about is gone.
TEST(PassCases, RefusedKernelsAreWrittenInOtherOps) {
  PipelineOptions options;
  options.fusion = false;
  PipelineOptions verified = options;
  verified.verify_each = true;
  std::set<std::string> refused, wanted;
  const PassCases cases;
  for (const PassCase& pass_case : cases.all()) {
    for (const std::string& kernel : KernelsOf(pass_case, options)) {
      SCOPED_TRACE(pass_case.name + ": " + kernel);
      refused.insert(kernel);
      const Refusals refusals = *Refusals::Parse(kernel);
      std::unique_ptr<Module> module = ReadForTest(AsModule(pass_case.before));
      Gates gates(-1, nullptr, refusals);
      ASSERT_EQ(Optimize(*module, gates, verified), absl::OkStatus());
      EXPECT_EQ(gates.Counts()[kernel], 0);
      // Nothing that a kernel makes is left for the expanders.
      Gates again(-1, nullptr, refusals);
      PipelineOptions watched = options;
      watched.observer = [&](std::string_view pass, bool changed, const Module&) {
        const bool is_expander = pass.ends_with("-expander") || pass.ends_with("-decomposer") ||
                                 pass.ends_with("-converter");
        EXPECT_FALSE(is_expander && changed) << pass;
      };
      ASSERT_EQ(Optimize(*module, again, watched), absl::OkStatus());
    }
  }
  // Calls of NVIDIA's libraries are a choice on GPUs alone.
  for (const DecisionRule& rule : DecisionRules()) {
    if (rule.kind == DecisionKind::kLibrary && rule.name.starts_with("native-")) {
      wanted.emplace(rule.name);
    }
  }
  EXPECT_EQ(refused, wanted);
}

TEST(PassCases, RefusalsAreRulesAndKinds) {
  const Refusals refusals = *Refusals::Parse("vectorize+library");
  EXPECT_TRUE(refusals.Refuses(DecisionKind::kKernel, "vectorize"));
  EXPECT_TRUE(refusals.Refuses(DecisionKind::kLibrary, "native-gather"));
  EXPECT_FALSE(refusals.Refuses(DecisionKind::kKernel, "blocked-dot"));
  const absl::Status wrong = Refusals::Parse("native-gathr").status();
  EXPECT_NE(wrong.message().find("'native-gather'"), std::string::npos) << wrong;
}

TEST(PassRegistry, IsSortedAndKnowsEveryPassByItsName) {
  std::string last;
  std::set<std::string> in_pipeline;
  for (const std::string& name : PassNames()) in_pipeline.insert(name);
  for (const PassInfo& info : AllPasses()) {
    const std::string name(info.name);
    EXPECT_LT(last, name);
    EXPECT_EQ(info.make()->name(), name);
    EXPECT_EQ(FindPass(name), &info);
    EXPECT_FALSE(info.meaning.empty());
    if (info.runs_in != RunsIn::kCompiler) {
      EXPECT_EQ(in_pipeline.contains(name), info.runs_in == RunsIn::kPipeline) << name;
      std::vector<std::string_view> every = EveryPass();
      const std::vector<std::string_view> of_gpus = EveryPass(kOnGpu);
      every.insert(every.end(), of_gpus.begin(), of_gpus.end());
      every.push_back("domain-verifier");  // refuses programs
      EXPECT_NE(std::find(every.begin(), every.end(), name), every.end()) << name;
    }
    last = name;
  }
  EXPECT_EQ(FindPass("no-such-pass"), nullptr);
}

TEST(PassRegistry, ParsesLists) {
  EXPECT_EQ(*ParsePassNames("cse,dce", ','), (std::vector<std::string>{"cse", "dce"}));
  EXPECT_GT(ParsePassNames("all", ',')->size(), PassNames().size());
  const absl::Status wrong = ParsePassNames("cse,nothing", ',').status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.message().find("'nothing'"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace assay
