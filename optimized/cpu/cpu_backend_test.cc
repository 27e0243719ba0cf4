#include "optimized/cpu/cpu_backend.h"

#include "optimized/codegen/element_emitter.h"
#include "optimized/cpu/testing.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

TEST(CpuBackend, EveryDefinedOpHasALowering) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    EXPECT_EQ(backend->Describe().capability(op.opcode, ElementType::kF32), Capability::kSupported)
        << op.name;
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
