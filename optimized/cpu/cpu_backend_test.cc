// The backend as a whole: what it compiles, and small programs with known results.
#include "optimized/cpu/cpu_backend.h"

#include <set>
#include <string>

#include "optimized/codegen/element_emitter.h"
#include "optimized/cpu/testing.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Ops that the oracle has and the compiler does not: campaigns on it leave them out, `assay ops`
// says so. Whoever adds a lowering takes the op off the list.
const std::set<std::string>& NotCompiledYet() {
  static const auto& names = *new std::set<std::string>{
      "dynamic-reshape",
      "get-dimension-size",
      "infeed",
      "outfeed",
      "ragged-dot",
      "recv",
      "recv-done",
      "rng",
      "rng-get-and-update-state",
      "scaled-dot",
      "scan",
      "send",
      "send-done",
      "set-dimension-size",
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

TEST(CpuBackend, RefusesWrongOptions) {
  BackendRegistry registry;
  RegisterCpu(registry);
  for (const char* name :
       {"cpu:isa=mips", "cpu:threads=0", "cpu:tier=slow", "cpu:what=1", "cpu:passes=maybe"}) {
    EXPECT_FALSE(registry.Create(name).ok()) << name;
  }
}

}  // namespace
}  // namespace assay
