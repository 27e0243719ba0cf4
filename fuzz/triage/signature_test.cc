// Names of failures before they are reduced.
#include "fuzz/triage/signature.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/reduce/testing/negates_nothing.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// A backend like XLA that negates nothing, because `pass` takes the negation of a sum away.
FakeBackend::Script WrongAfter(const std::string& pass, Oracle& oracle) {
  FakeBackend::Script script = NegatesNothing(oracle);
  script.description.dumps_passes = true;
  script.compile = [pass](const Module&, const CompileOptions& options) {
    const auto folder = options.flags.find("xla_dump_to");
    if (folder == options.flags.end()) return absl::OkStatus();
    const std::string sum = "ENTRY e {\n  x = s32[3] parameter(0)\n  ";
    std::ofstream(StrCat(folder->second, "/0000.simplify.after_start.before_", pass, ".txt"))
        << sum << "a = s32[3] add(x, x)\n  ROOT n = s32[3] negate(a)\n}\n";
    std::ofstream(StrCat(folder->second, "/0001.simplify.after_", pass, ".before_end.txt"))
        << sum << "ROOT a = s32[3] add(x, x)\n}\n";
    return absl::OkStatus();
  };
  return script;
}

// The maker of its operands matters where a pass rewrites the op, which is then tried alone.
TEST(Signature, OfAFoldingNamesTheOpWithoutTryingItAlone) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const auto module = ReadModule(R"(HloModule m
ENTRY e {
  x = s32[3] parameter(0)
  a = s32[3] add(x, x)
  ROOT n = s32[3] negate(a)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Literal> inputs;
  inputs.emplace_back(Shape::Array(ElementType::kS32, {3}));
  for (int64_t i = 0; i < 3; ++i) inputs[0].SetInteger(i, i + 1);
  std::vector<int> compiles;
  for (const char* pass : {"constant_folding", "algsimp"}) {
    FakeBackend backend(WrongAfter(pass, *oracle));
    const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
    const Outcome outcome = CheckIsolated(subject, CheckCase::Of(**module, inputs)).outcome;
    const int before = backend.compiles();
    EXPECT_EQ(SignatureOf(subject, **module, inputs, outcome, {}).text,
              StrCat("wrong value: ", pass, " at negate i"));
    compiles.push_back(backend.compiles() - before);
  }
  EXPECT_EQ(compiles[0], compiles[1] - 1) << "whatever made the constants, they are folded";
}

}  // namespace
}  // namespace assay
