// The backend as a whole: what it compiles, and small programs with known results.
#include "optimized/cpu/cpu_backend.h"

#include <set>
#include <string>
#include <string_view>

#include "optimized/codegen/element_emitter.h"
#include "optimized/cpu/cpu_target.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/native/optional_direct.h"
#include "optimized/cpu/testing.h"
#include "optimized/gates/rule_names.h"
#include "optimized/passes/fallbacks/kernel_answers.h"
#include "optimized/passes/fusion/fusion_to_call.h"
#include "optimized/pipeline/registry.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Ops that the oracle has and the compiler does not: campaigns on it leave them out, `assay ops`
// says so. Whoever adds a lowering takes the op off the list.
const std::set<std::string>& NotCompiledYet() {
  static const auto& names = *new std::set<std::string>{
      "dynamic-reshape", "get-dimension-size", "recv", "recv-done", "send",
      "send-done",       "set-dimension-size",
  };
  return names;
}

TEST(CpuBackend, EveryDefinedOpHasALowering) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    const bool compiled =
        backend->Describe().capability(op.opcode, ElementType::kF32) == Capability::kSupported;
    EXPECT_NE(compiled, NotCompiledYet().contains(std::string(op.name))) << op.name;
  }
}

// An op that has a kernel and no code for one element must not stand in a fusion.
TEST(CpuBackend, FusionsHoldNothingThatIsMadeWhole) {
  for (const OpInfo& op : AllOps()) {
    const bool whole = FindArrayKernel(op.opcode) != nullptr;
    const bool by_element = FindElementLowering(op.opcode) != nullptr;
    EXPECT_TRUE(!whole || IsMadeWhole(op.opcode)) << op.name;
    EXPECT_FALSE(by_element && IsMadeWhole(op.opcode)) << op.name;
  }
}

TEST(CpuBackend, AddsTwoVectors) {
  std::unique_ptr<Backend> backend = MakeCpu();
  Literal result =
      RunText(*backend, R"(HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT c = f32[3] add(a, b)
})",
              {MustReadLiteral("f32[3]", "{1, 2, 3}"), MustReadLiteral("f32[3]", "{10, 20, 30}")});
  EXPECT_EQ(result.ToString(), "{11, 22, 33}");
}

// An element that nothing writes is no zero that may be right by chance.
TEST(CpuBackend, PoisonShowsWhatIsNotWritten) {
  std::unique_ptr<Backend> backend = MakeCpu();
  const auto module = ReadModule(R"(HloModule m
ENTRY e {
  a = s32[9] parameter(0)
  ROOT c = s32[9] multiply(a, a)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.defect = R"({"name": "short", "summary": "One element early.", "gate": "optimize-kernel",
      "kind": "kernel", "op": "loop-bound-offset", "parameters": {"by": -1}})";
  options.poison = true;
  const auto executable = backend->Compile(**module, options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal zeros(Shape::Array(ElementType::kS32, {9}));
  const absl::StatusOr<RunResult> run = (*executable)->Run({{&zeros}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].GetInteger(7), 0);
  EXPECT_EQ(run->outputs[0].GetInteger(8), static_cast<int32_t>(0xFBFBFBFB));
}

// A scatter in a fusion, and in a fusion of that fusion: both become calls.
TEST(CpuBackend, RunsFusionsOfWhatIsMadeWhole) {
  std::unique_ptr<Backend> backend = MakeCpu();
  Literal result = RunText(*backend, R"(HloModule m
sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}
inner {
  x = s32[4] parameter(0)
  i = s32[2,1] constant({{1}, {3}})
  u = s32[2] constant({10, 20})
  ROOT s = s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
}
outer {
  x = s32[4] parameter(0)
  f = s32[4] fusion(x), kind=kLoop, calls=inner
  ROOT n = s32[4] negate(f)
}
ENTRY e {
  x = s32[4] parameter(0)
  ROOT f = s32[4] fusion(x), kind=kLoop, calls=outer
})",
                           {MustReadLiteral("s32[4]", "{1, 2, 3, 4}")});
  EXPECT_EQ(result.ToString(), "{-1, -12, -3, -24}");
}

// Lanes are folded for every type and combiner, those that work on bits and those on floats.
TEST(CpuBackend, ReducesEveryTypeAcrossLanes) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (const std::string type : {"pred", "s8", "u16", "s32", "u64", "f16", "bf16", "f32", "f64"}) {
    for (const std::string op : {"add", "maximum", "minimum"}) {
      const std::string text =
          "HloModule m\nf {\n  a = " + type + "[] parameter(0)\n  b = " + type +
          "[] parameter(1)\n  ROOT r = " + type + "[] " + op +
          "(a, b)\n}\nENTRY e {\n  x = " + type + "[67] parameter(0)\n  z = " + type +
          "[] parameter(1)\n  ROOT s = " + type + "[] reduce(x, z), dimensions={0}, to_apply=f\n}";
      std::string ones = "{1";
      for (int i = 1; i < 67; ++i) ones += ", 1";
      const Literal result =
          RunText(*backend, text,
                  {MustReadLiteral(type + "[67]", ones + "}"), MustReadLiteral(type + "[]", "1")});
      const bool sums = op == "add" && type != "pred";
      EXPECT_EQ(result.GetDouble(0), sums ? 68 : 1) << type << " " << op;
    }
  }
}

// A chain of `layers` in which few kinds of kernel occur many times, on arrays that alternate.
std::string Layers(int layers) {
  const std::vector<std::string> functions = {"tanh",     "sine",   "cosine", "exponential",
                                              "logistic", "negate", "erf",    "abs"};
  std::string text =
      "HloModule m\nENTRY e {\n  x0 = f32[3,67] parameter(0)\n  y = f32[3,67] parameter(1)\n";
  for (int k = 0; k < layers; ++k) {
    const std::string n = std::to_string(k);
    text += "  p" + n + " = f32[3,67] multiply(x" + n + ", y)\n  q" + n + " = f32[3,67] " +
            functions[k % functions.size()] + "(p" + n + ")\n  x" + std::to_string(k + 1) +
            " = f32[3,67] subtract(q" + n + ", x" + n + ")\n";
  }
  return text + "  ROOT r = f32[3,67] negate(x" + std::to_string(layers) + ")\n}";
}

struct LayersRun {
  Literal output;
  double code_bytes, parts;
};
LayersRun RunLayers(const std::string& options, int layers) {
  std::unique_ptr<Backend> backend = MakeCpu("passes=off," + options);
  std::unique_ptr<Module> module = MustRead(Layers(layers));
  Literal x(Shape::Array(ElementType::kF32, {3, 67})), y(x.shape());
  for (int64_t i = 0; i < x.element_count(); ++i) {
    x.SetDouble(i, 0.01 * static_cast<double>(i) - 1);
    y.SetDouble(i, 1.5 - 0.02 * static_cast<double>(i));
  }
  const auto executable = backend->Compile(*module, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  const std::map<std::string, double> statistics = (*executable)->Statistics();
  return {RunModule(*backend, *module, {x, y}), statistics.at("code.bytes"),
          statistics.at("code.parts")};
}

TEST(CpuBackend, CompilesPartsSideBySideToTheSameResults) {
  const LayersRun one = RunLayers("tier=full,threads=1", 40);
  const LayersRun two = RunLayers("tier=full,threads=2", 40);
  const LayersRun fast = RunLayers("tier=fast,threads=2", 40);
  const LayersRun few = RunLayers("tier=full,threads=2", 1);
  EXPECT_GT(two.parts, one.parts);
  EXPECT_EQ(fast.parts, 1);
  EXPECT_EQ(few.parts, 1);
  EXPECT_EQ(one.output.ToString(), two.output.ToString());
  EXPECT_EQ(one.output.ToString(), fast.output.ToString());
}

// Twice the layers are twice the calls, and no more kernels.
TEST(CpuBackend, CompilesEqualKernelsOnce) {
  const double alone = RunLayers("tier=full,threads=1", 4).code_bytes / 4;
  const double together = (RunLayers("tier=full,threads=1", 80).code_bytes -
                           RunLayers("tier=full,threads=1", 40).code_bytes) /
                          40;
  EXPECT_LT(together, alone / 2);
}

TEST(CpuBackend, TranslatesShortProgramsWithoutLlvm) {
  const std::unique_ptr<Module> module = MustRead(R"(HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  ROOT c = f32[3] multiply(a, a)
})");
  const Literal argument = MustReadLiteral("f32[3]", "{1, -2, 3}");
  for (const auto& [options, is_direct] :
       {std::pair("threads=1,direct=auto", CanTranslateDirectly()),
        {"direct=off", false},
        {"idle=1000", false}}) {
    std::unique_ptr<Backend> backend = MakeCpu(options);
    const auto executable = backend->Compile(*module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    EXPECT_EQ((*executable)->Statistics().at("code.direct"), is_direct ? 1 : 0) << options;
    const auto run = (*executable)->Run({{&argument}});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->outputs[0].ToString(), "{1, 4, 9}") << options;
  }
}

TEST(CpuBackend, RefusesWrongOptions) {
  BackendRegistry registry;
  RegisterCpu(registry);
  for (const char* name : {"cpu:isa=mips", "cpu:direct=yes", "cpu:threads=0", "cpu:tier=slow",
                           "cpu:what=1", "cpu:passes=maybe", "cpu:idle=-1"}) {
    EXPECT_FALSE(registry.Create(name).ok()) << name;
  }
}

// Whatever a kernel makes as a whole is written in other ops when it is refused, or there is a
// reason why not.
TEST(CpuTarget, KernelsHaveAnAnswer) {
  std::set<Opcode> answered;
  std::set<std::string_view> gates;
  for (const KernelAnswer& answer : KernelAnswers()) {
    answered.insert(answer.opcode);
    EXPECT_EQ(answer.gate.empty(), answer.pass.empty()) << Name(answer.opcode);
    EXPECT_FALSE(answer.gate.empty() && answer.none_because.empty()) << Name(answer.opcode);
    if (answer.gate.empty()) continue;
    gates.insert(answer.gate);
    const DecisionRule* rule = FindRule(answer.gate);
    ASSERT_NE(rule, nullptr) << answer.gate;
    EXPECT_EQ(rule->kind, DecisionKind::kLibrary) << answer.gate;
    EXPECT_NE(FindPass(answer.pass), nullptr) << answer.pass;
  }
  for (int k = 0; k < kOpcodeCount; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    if (CpuTarget().IsNative(opcode)) {
      EXPECT_TRUE(answered.contains(opcode)) << Name(opcode);
    }
  }
  for (const DecisionRule& rule : DecisionRules()) {
    if (rule.kind == DecisionKind::kLibrary && rule.name.starts_with("native-")) {
      EXPECT_TRUE(gates.contains(rule.name)) << rule.name;
    }
  }
}

}  // namespace
}  // namespace assay
