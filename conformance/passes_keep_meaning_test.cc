// What passes make of a module means the same: every case of optimized/testdata/passes, and the
// modules of the corpus under every pass, before and after on the oracle.
#include <gtest/gtest.h>

#include "conformance/random_literal.h"
#include "optimized/pass_cases_for_test.h"
#include "optimized/pipeline.h"
#include "reference/interpreter.h"
#include "spec/base/strings.h"
#include "spec/ops/verifier.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

absl::StatusOr<std::unique_ptr<Module>> Optimized(const Module& module, const std::string& name) {
  BackendRegistry registry;
  RegisterPasses(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(name);
  if (!backend.ok()) return backend.status();
  absl::StatusOr<std::unique_ptr<Executable>> executable = (*backend)->Compile(module, {});
  if (!executable.ok()) return executable.status();
  return (*executable)->OptimizedModule();
}

// The module's answer after the passes is one that it allows before.
void ExpectSameMeaning(const Module& before, const Module& after, const Profile& profile,
                       uint64_t seed) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : before.entry()->parameters()) {
    ValueRule rule = ValueRule::Default(parameter->shape());
    // Of one sign: the bounds of long sums would be too wide to convict.
    if (IsFloat(parameter->shape().element_type())) rule.lo = 0.25;
    absl::StatusOr<Literal> literal = RandomLiteral(
        parameter->shape(), rule, seed, static_cast<uint64_t>(parameter->parameter_number()));
    ASSERT_TRUE(literal.ok()) << literal.status();
    arguments.push_back(*std::move(literal));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const absl::StatusOr<Expectation> expected = oracle->Expect(before, pointers, profile, {});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<Literal> got = oracle->Evaluate(after, pointers, {});
  ASSERT_TRUE(got.ok()) << got.status() << "\n" << after.ToString();
  const Judgement judgement = Judge(*expected, *got);
  EXPECT_EQ(judgement.verdict, Verdict::kPass)
      << DescribeFailure(*expected, *got, judgement) << "\n"
      << after.ToString();
}

std::string BackendFor(const PassCase& c, std::string& profile) {
  std::string name = "passes:run=";
  for (size_t i = 0; i < c.passes.size(); ++i) StrAppend(&name, i == 0 ? "" : "+", c.passes[i]);
  for (const std::string& option : c.options) {
    const size_t at = option.find('=');
    const std::string key = option.substr(0, at), value = option.substr(at + 1);
    if (key == "profile") profile = value;
    if (key == "reduce_window_size") StrAppend(&name, ",window=", value);
    if (key == "bfloat16") StrAppend(&name, ",bf16=", value);
  }
  return StrCat(name, ",profile=", profile);
}

TEST(PassesKeepMeaning, InEveryCase) {
  int64_t cases = 0;
  for (const PassCase& c : AllPassCases()) {
    if (!c.error.empty() || c.untouched) continue;
    if (c.before.find("_count=") != std::string::npos) continue;  // for several devices: below
    SCOPED_TRACE(c.name);
    std::string profile = "strict";
    const std::string name = BackendFor(c, profile);
    absl::StatusOr<std::unique_ptr<Module>> before = ReadModule(AsModule(c.before));
    ASSERT_TRUE(before.ok()) << before.status();
    const absl::StatusOr<std::unique_ptr<Module>> after = Optimized(**before, name);
    ASSERT_TRUE(after.ok()) << after.status();
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      ExpectSameMeaning(**before, **after, **Profile::Find(profile), seed);
    }
    ++cases;
  }
  EXPECT_GE(cases, 25);
}

}  // namespace
}  // namespace assay
