// Passes keep the meaning of a module: every case of optimized/testdata/passes, before
// and after on the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/inputs/random_literal.h"
#include "optimized/pass_cases_for_test.h"
#include "optimized/pipeline/pipeline.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

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

// `exact`: floats of few bits, of which sums are not rounded, so that their order does not matter.
absl::StatusOr<std::vector<Literal>> ArgumentsFor(const Module& module, uint64_t seed, bool exact) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    ValueRule rule = ValueRule::Default(parameter->shape());
    // Floats have one sign: with two, the bounds of long sums would be too wide to convict.
    if (IsFloat(parameter->shape().element_type())) rule.lo = 0.25;
    absl::StatusOr<Literal> literal = RandomLiteral(
        parameter->shape(), rule, seed, static_cast<uint64_t>(parameter->parameter_number()));
    if (!literal.ok()) return literal.status();
    if (exact && IsFloat(literal->element_type())) {
      for (int64_t i = 0; i < literal->shape().ElementCount(); ++i) {
        literal->SetDouble(i, std::floor(literal->GetDouble(i) * 64) / 64);
      }
    }
    arguments.push_back(*std::move(literal));
  }
  return arguments;
}

// The module's answer after the passes is one that it allows before, on every device.
void ExpectSameMeaning(const Module& before, const Module& after, const Profile& profile,
                       uint64_t seed, bool exact) {
  const DeviceAssignment devices{before.config().replica_count, before.config().num_partitions, {}};
  std::vector<std::vector<Literal>> arguments;
  for (int64_t d = 0; d < devices.replicas * devices.partitions; ++d) {
    absl::StatusOr<std::vector<Literal>> drawn = ArgumentsFor(before, seed * 100 + d, exact);
    ASSERT_TRUE(drawn.ok()) << drawn.status();
    arguments.push_back(*std::move(drawn));
  }
  std::vector<DeviceInputs> inputs(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    for (const Literal& argument : arguments[d]) inputs[d].arguments.push_back(&argument);
  }
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const auto expected = oracle->ExpectDevices(before, devices, inputs, profile, {});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto got = oracle->EvaluateDevices(after, devices, inputs, {});
  ASSERT_TRUE(got.ok()) << got.status() << "\n" << after.ToString();
  for (size_t d = 0; d < inputs.size(); ++d) {
    const Expectation& want = (*expected)[d].result;
    const Judgement judgement = Judge(want, (*got)[d].result);
    EXPECT_EQ(judgement.verdict, Verdict::kPass)
        << "device " << d << ": " << DescribeFailure(want, (*got)[d].result, judgement) << "\n"
        << after.ToString();
  }
}

std::string BackendFor(const PassCase& pass_case, std::string& profile) {
  std::string name = "passes:run=";
  for (size_t i = 0; i < pass_case.passes.size(); ++i)
    StrAppend(&name, i == 0 ? "" : "+", pass_case.passes[i]);
  for (const std::string& option : pass_case.options) {
    const size_t at = option.find('=');
    const std::string key = option.substr(0, at), value = option.substr(at + 1);
    if (key == "profile") profile = value;
    if (key == "reduce_window_size") StrAppend(&name, ",window=", value);
    if (key == "fast_math") StrAppend(&name, ",fast_math=", value);
    if (key == "bfloat16") StrAppend(&name, ",bf16=", value);
  }
  return StrCat(name, ",profile=", profile);
}

TEST(PassesKeepMeaning, InEveryCase) {
  int64_t cases = 0;
  const PassCases all;
  for (const PassCase& pass_case : all.all()) {
    if (!pass_case.error.empty() || pass_case.untouched) continue;
    // The code of several partitions in one module has no meaning on devices that all run it.
    if (pass_case.name == "cross-combiner-mpmd") continue;
    // Its loops go on for as long as their argument says.
    if (pass_case.name == "tasks-of-loops-and-calls") continue;
    SCOPED_TRACE(pass_case.name);
    std::string profile = "strict";
    const std::string name = BackendFor(pass_case, profile);
    absl::StatusOr<std::unique_ptr<Module>> before = ReadModule(AsModule(pass_case.before));
    ASSERT_TRUE(before.ok()) << before.status();
    const absl::StatusOr<std::unique_ptr<Module>> after = Optimized(**before, name);
    ASSERT_TRUE(after.ok()) << after.status();
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      ExpectSameMeaning(**before, **after, **Profile::Find(profile), seed,
                        name.find("fast_math=on") != std::string::npos);
    }
    ++cases;
  }
  EXPECT_GE(cases, 130);
}

}  // namespace
}  // namespace assay
