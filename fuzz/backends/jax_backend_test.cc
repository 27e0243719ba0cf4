// Tests programs on the JAX of a Python interpreter, which ASSAY_XLA_PYTHON names; without it they
// are skipped.
#include <cstdlib>

#include "fuzz/backends/process_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

class JaxBackend : public testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("ASSAY_XLA_PYTHON");
    if (python == nullptr || *python == '\0') {
      GTEST_SKIP() << "ASSAY_XLA_PYTHON names no Python with jax";
    }
  }

  static absl::StatusOr<std::unique_ptr<Backend>> Open(const std::string& name) {
    BackendRegistry registry;
    RegisterXla(registry);
    return registry.Create(name);
  }
};

std::unique_ptr<Module> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Rows of numbers, row-major.
Literal Floats(std::initializer_list<int64_t> sizes, const std::vector<double>& values) {
  Literal literal(Shape::Array(ElementType::kF32, sizes));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

TEST_F(JaxBackend, SaysWhoItIs) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Open("jax:devices=3");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_THAT((*backend)->Describe().version, HasSubstr("XLA:CPU of jaxlib"));
  EXPECT_EQ((*backend)->Describe().devices.size(), 3u);
}

// The text of this module comes from jax.numpy.linalg.solve. Its calls of LAPACK jump to addresses
// that JAX sets itself when it lowers such a call.
TEST_F(JaxBackend, CallsOfLapackAreInitialised) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Open("jax");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const absl::StatusOr<std::string> text =
      ReadFile(StrCat(ASSAY_SOURCE_DIR, "/fuzz/testdata/linalg_solve.hlo"));
  ASSERT_TRUE(text.ok()) << text.status();
  // The solution of this system is {1, 2, 3}.
  const Literal a = Floats({3, 3}, {2, 1, 0, 1, 3, 1, 0, 1, 4});
  const Literal b = Floats({3}, {4, 10, 14});
  absl::StatusOr<RunResult> run = CompileAndRun(**backend, *Read(*text), {&a, &b});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(run->outputs[0].GetDouble(i), 1 + i, 1e-5);
}

TEST_F(JaxBackend, RunsOnSeveralDevices) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Open("jax:platform=cpu,devices=2");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const std::unique_ptr<Module> module = Read(R"(HloModule m, replica_count=2
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0)
  s = f32[2] all-reduce(x), replica_groups={}, to_apply=sum
  ROOT r = (f32[2], f32[2]) tuple(s, x) }
)");
  CompileOptions options;
  options.devices.replicas = 2;
  absl::StatusOr<std::unique_ptr<Executable>> executable = (*backend)->Compile(*module, options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal first = Floats({2}, {1, 2}), second = Floats({2}, {10, 20});
  absl::StatusOr<RunResult> run = (*executable)->Run({{&first}, {&second}});
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->outputs.size(), 2u);
  for (const Literal& output : run->outputs) {
    EXPECT_EQ(output.elements()[0].GetDouble(0), 11);
    EXPECT_EQ(output.elements()[0].GetDouble(1), 22);
  }
  EXPECT_TRUE(run->outputs[0].elements()[1].BitwiseEqual(first));
  EXPECT_TRUE(run->outputs[1].elements()[1].BitwiseEqual(second));
  options.devices.replicas = 3;
  EXPECT_EQ(ClassOf((*backend)->Compile(*module, options).status()), ErrorClass::kUnsupported);
}

TEST_F(JaxBackend, FlagsOfXlaAreTriedBeforeAnythingElse) {
  const absl::Status unknown = Open("xla:xla_no_such=true").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument) << unknown;
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("XLA has no such flag"));
  // Commas within the value of a flag of XLA belong to it.
  EXPECT_TRUE(Open("jax:--xla_disable_hlo_passes=fusion,algsimp,devices=1").ok());
}

// StableHLO, in which jaxlib takes programs, has neither tuple parameters nor what follows.
TEST_F(JaxBackend, IsGivenWhatStableHloHasNoPlaceForInOtherOps) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Open("xla");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const auto module = Read(R"(HloModule m, is_scheduled=true
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
sums {
  p = f32[2,3]{0,1} parameter(0)
  b = f32[3,2]{1,0} bitcast(p)
  z = f32[] constant(0)
  ROOT r = f32[3] reduce(b, z), dimensions={1}, to_apply=add
}
negates {
  p = f32[3] parameter(0)
  ROOT n = f32[3] negate(p)
}
ENTRY e {
  t = (f32[2,3]{0,1}, token[]) parameter(0)
  p = f32[2,3]{0,1} get-tuple-element(t), index=0
  f = f32[3] fusion(p), kind=kInput, calls=sums
  s = ((f32[3]), f32[3], s32[]) async-start(f), calls=negates
  ROOT d = f32[3] async-done(s)
}
)");
  ASSERT_NE(module, nullptr);
  const Literal argument =
      Literal::Tuple({Floats({2, 3}, {1, 2, 3, 10, 20, 30}), Literal(Shape::Token())});
  const auto result = CompileAndRun(**backend, *module, {&argument});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outputs[0].ToString(), "{-11, -22, -33}");
}

TEST_F(JaxBackend, ARefusalIsNoCrash) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Open("xla");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const auto module = Read(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  ROOT c = f32[2] custom-call(p), custom_call_target="NobodyHasThis"
}
)");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(ClassOf((*backend)->Compile(*module, {}).status()), ErrorClass::kUnsupported);
}

}  // namespace
}  // namespace assay
