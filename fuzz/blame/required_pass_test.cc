// Which required pass is to blame, on our own compiler with mistakes planted in what it must
// rewrite.
#include "fuzz/blame/required_pass.h"

#include "fuzz/blame/blame.h"
#include "fuzz/blame/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimized/cpu/cpu_backend.h"
#include "reference/interpreter/interpreter.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr char kScan[] = R"(HloModule scan
scanned {
  value = s32[] parameter(0)
  carry = s32[] parameter(1)
  next = s32[] subtract(value, carry)
  ROOT both = (s32[], s32[]) tuple(next, next)
}
ENTRY main {
  x = s32[5] parameter(0)
  start = s32[] constant(3)
  ROOT all = (s32[5], s32[]) scan(x, start), dimensions={0}, num_carries=1, to_apply=scanned
}
)";

constexpr char kBatchNorm[] = R"(HloModule norm
ENTRY main {
  x = f32[4,2] parameter(0)
  scale = f32[2] constant({1, 2})
  offset = f32[2] constant({0, 1})
  mean = f32[2] constant({1, 3})
  variance = f32[2] constant({1, 4})
  ROOT y = f32[4,2] batch-norm-inference(x, scale, offset, mean, variance), epsilon=0.5, feature_index=1
}
)";

struct Found {
  Blame blame;
  std::optional<RequiredPass> required;
  bool fails_by_rule = false;
};

Found BlameWith(const char* text, const std::string& defect) {
  Found found;
  BackendRegistry registry;
  RegisterCpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("cpu:threads=1");
  EXPECT_TRUE(backend.ok()) << backend.status();
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!backend.ok() || !module.ok()) return found;
  std::vector<Literal> inputs;
  for (const Instruction* parameter : (*module)->entry()->parameters()) {
    Literal& input = inputs.emplace_back(parameter->shape());
    for (int64_t i = 0; i < input.element_count(); ++i) {
      if (IsFloat(input.element_type())) {
        input.SetDouble(i, static_cast<double>(i * i));
      } else {
        input.SetInteger(i, i * i);
      }
    }
  }
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  CompileOptions options;
  options.defect = defect;
  const CheckSubject subject{*oracle, **backend, Profile::Xla(), options, kTriageLimits};
  found.required = FindRequiredPass(subject, **module, inputs);
  found.blame = BlameDecision(subject, **module, inputs, Outcome::kWrong);
  if (found.blame.found) {
    found.fails_by_rule =
        FailsByRule(subject, **module, inputs, Outcome::kWrong, found.blame.decision.rule);
  }
  return found;
}

TEST(RequiredPass, IsNamedWithTheDecisionThatItMade) {
  const Found found =
      BlameWith(kBatchNorm,
                R"({"name": "t", "summary": "test", "gate": "expand-batch-norm", "kind": "required",
          "op": "drop-op", "parameters": {"opcode": "sqrt"}})");
  ASSERT_TRUE(found.blame.found) << found.blame.note;
  EXPECT_EQ(found.blame.pass, "batch-norm-expander");
  EXPECT_EQ(found.blame.decision.rule, "expand-batch-norm");
  EXPECT_EQ(found.blame.decision.kind, DecisionKind::kRequired);
  EXPECT_THAT(found.blame.before, HasSubstr("batch-norm-inference"));
  EXPECT_THAT(found.blame.after, testing::Not(HasSubstr("batch-norm-inference")));
  EXPECT_TRUE(found.fails_by_rule);
}

TEST(RequiredPass, IsNoneWhereEveryPassIsRight) {
  const Found found = BlameWith(kScan, "");
  ASSERT_TRUE(found.required.has_value());
  EXPECT_EQ(found.required->pass, "");
  EXPECT_EQ(found.required->code, "") << "nothing is wrong";
  EXPECT_FALSE(found.blame.found);
}

}  // namespace
}  // namespace assay
