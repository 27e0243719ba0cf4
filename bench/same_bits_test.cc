// Every op gives the same bits on every instruction set and for every number of threads: what is
// found on one machine is found on another.
#include <gtest/gtest.h>

#include "bench/growth.h"
#include "conformance/inputs/random_literal.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// The outputs' bytes, or what went wrong.
std::string BytesOf(const BackendRegistry& registry, const std::string& backend_name,
                    const Module& module, const std::vector<const Literal*>& inputs) {
  const auto backend = registry.Create(backend_name);
  if (!backend.ok()) return StrCat("error: ", ToStd(backend.status().message()));
  const auto code = (*backend)->Compile(module, CompileOptions());
  if (!code.ok()) return StrCat("error: ", ToStd(code.status().message()));
  const auto run = (*code)->Run({inputs});
  if (!run.ok()) return StrCat("error: ", ToStd(run.status().message()));
  std::string bytes;
  for (const Literal* leaf : Leaves(run->outputs[0])) {
    bytes.append(reinterpret_cast<const char*>(leaf->bytes().data()), leaf->bytes().size());
  }
  return bytes;
}

TEST(SameBitsTest, OnEveryInstructionSetAndForEveryNumberOfThreads) {
  BackendRegistry registry;
  RegisterCpu(registry);
  std::vector<std::string> others = {"cpu:isa=host,threads=2", "cpu:isa=baseline,threads=2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    others.push_back("cpu:isa=avx2,threads=1");
  }
  const auto text = ReadFile(StrCat(ASSAY_SOURCE_DIR, "/bench/growth_cases.txt"));
  ASSERT_TRUE(text.ok()) << text.status();
  const auto cases = ParseGrowthCases(*text);
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const GrowthCase& one : *cases) {
    const auto module = ReadModule(one.ModuleText(one.n));
    ASSERT_TRUE(module.ok()) << one.name << ": " << module.status();
    std::vector<Literal> inputs;
    for (const Instruction* parameter : (*module)->entry()->parameters()) {
      auto input = RandomLiteral(parameter->shape(), ValueRule::Default(parameter->shape()), 1,
                                 static_cast<uint64_t>(parameter->parameter_number()));
      ASSERT_TRUE(input.ok()) << one.name << ": " << input.status();
      inputs.push_back(*std::move(input));
    }
    std::vector<const Literal*> pointers;
    for (const Literal& input : inputs) pointers.push_back(&input);
    const std::string first = BytesOf(registry, "cpu:isa=host,threads=1", **module, pointers);
    EXPECT_EQ(first.find("error: "), std::string::npos) << one.name << ": " << first;
    for (const std::string& other : others) {
      EXPECT_TRUE(BytesOf(registry, other, **module, pointers) == first)
          << one.name << " on " << other;
    }
  }
}

// In f64 the sum is half way between two numbers of f32, and only what f64 cannot hold says that it
// is below: rounded twice it would be the upper one.
TEST(SameBitsTest, AProductBesideATieIsRoundedOnce) {
  BackendRegistry registry;
  RegisterCpu(registry);
  constexpr float kSum = 64 + 0x1p-17F;
  constexpr float kAbove = 0x1p-9F * (1 + 0x1p-20F), kBelow = 0x1p-9F * (1 - 0x1p-20F);
  for (const int64_t n : {int64_t{1}, int64_t{4}, int64_t{256}}) {
    const auto module =
        ReadModule(StrCat("HloModule m\nENTRY e {\n  x = f32[", n, ",2] parameter(0)\n  y = f32[2,",
                          n, "] parameter(1)\n  ROOT r = f32[", n, ",", n,
                          "] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    Literal x(Shape::Array(ElementType::kF32, {n, 2})), y(Shape::Array(ElementType::kF32, {2, n}));
    for (int64_t i = 0; i < n; ++i) {
      x.SetDouble(2 * i, double{kSum});
      x.SetDouble(2 * i + 1, double{kAbove});
      y.SetDouble(i, 1);
      y.SetDouble(n + i, double{kBelow});
    }
    const std::string first = BytesOf(registry, "cpu:isa=host", **module, {&x, &y});
    ASSERT_EQ(first.size(), static_cast<size_t>(n * n) * sizeof(float)) << first;
    EXPECT_EQ(first.substr(0, sizeof(float)),
              std::string(reinterpret_cast<const char*>(&kSum), sizeof(float)));
    EXPECT_TRUE(BytesOf(registry, "cpu:isa=baseline", **module, {&x, &y}) == first) << n;
  }
}

}  // namespace
}  // namespace assay
