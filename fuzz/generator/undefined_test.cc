// Behaviour that the documents call undefined: the oracle comes back from it with a value or an
// error, and the generator keeps away from it. testdata/generator_rows.txt has the lines.
#include "fuzz/generator/generate.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/base/error.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// Value, or class of the error; twice, so that a difference would show. In a child process, which
// must return.
std::string Outcome(const std::string& text, const Limits& limits = {}) {
  const auto module = *ReadModule(text);
  auto run = [&] {
    const auto oracle = MakeOracle();
    const auto value = oracle->Evaluate(*module, {}, limits);
    if (!value.ok()) return std::string(Name(ClassOf(value.status())));
    const auto expectation = oracle->Expect(*module, {}, Profile::Xla(), limits);
    if (!expectation.ok()) return std::string(expectation.status().message());
    return StrCat(value->ToString(), " ", Name(Judge(*expectation, *value).verdict));
  };
  const std::string fate = Fate([&] { run(); });
  if (fate != "returns") return fate;
  const std::string first = run();
  return first == run() ? first : StrCat(first, " and then another");
}

std::string UndefinedCases() {
  Limits few;
  few.steps = 10000;
  return StrCat("indices ", Outcome(R"(ENTRY e { x = s32[3] constant({1, 2, 3})
  i = s32[3,1] constant({{-2147483648}, {1}, {2147483647}})
  ROOT g = s32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} })"),
                "; updates ", Outcome(R"(last { a = s32[] parameter(0)
  ROOT b = s32[] parameter(1) }
ENTRY e { x = s32[3] constant({1, 2, 3})
  i = s32[3,1] constant({{-2147483648}, {1}, {2147483647}})
  u = s32[3] constant({7, 8, 9})
  ROOT s = s32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last })"),
                "; shifts ", Outcome(R"(ENTRY e { x = s32[2] constant({5, -5})
  n = s32[2] constant({40, -1})
  a = s32[2] shift-left(x, n)
  b = s32[2] shift-right-arithmetic(x, n)
  ROOT t = (s32[2], s32[2]) tuple(a, b) })"),
                "; conversions ", Outcome(R"(ENTRY e { x = f32[3] constant({nan, inf, -1e30})
  ROOT c = s8[3] convert(x) })"),
                "; run-time sizes ", Outcome(R"(ENTRY e { x = f32[4] constant({1, 2, 3, 4})
  two = s32[] constant(2)
  three = s32[] constant(3)
  a = f32[<=4] set-dimension-size(x, two), dimensions={0}
  b = f32[<=4] set-dimension-size(x, three), dimensions={0}
  ROOT s = f32[<=4] add(a, b) })"),
                "; a size beyond the bound ", Outcome(R"(ENTRY e { x = f32[4] constant({1, 2, 3, 4})
  n = s32[] constant(99)
  ROOT a = f32[<=4] set-dimension-size(x, n), dimensions={0} })"),
                "; no end ",
                Outcome(R"(c { p = s32[] parameter(0)
  ROOT t = pred[] constant(true) }
b { q = s32[] parameter(0)
  ROOT n = s32[] not(q) }
ENTRY e { x = s32[] constant(1)
  ROOT w = s32[] while(x), condition=c, body=b })",
                        few),
                "; nobody sends ", Outcome(R"(ENTRY e { t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=1
  d = (f32[2], token[]) recv-done(r), channel_id=1
  ROOT v = f32[2] get-tuple-element(d), index=0 })"));
}

// Programs of the generator with their inputs: each has a value, which is inside its own bound.
std::string GeneratedPrograms() {
  constexpr int kPrograms = 300;
  int values = 0, right = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const Case made = GenerateCase(11, static_cast<uint64_t>(i));
    const CheckCase on_devices = CheckCase::Of(*made.module, made.inputs);
    const auto oracle = MakeOracle();
    const auto value = EvaluateOn(*oracle, on_devices, Limits{});
    if (!value.ok()) continue;
    ++values;
    const auto expectation = ExpectOn(*oracle, on_devices, Profile::Strict(), Limits{});
    right += expectation.ok() && Judge(expectation->results, *value).verdict != Verdict::kFail;
  }
  return StrCat(values, " of ", kPrograms, " generated programs have a value, ", right,
                " inside their bounds");
}

TEST(GeneratorRows, EveryRowOfTheDocuments) {
  Observations see;
  see["gloss-undefined-behavior"] = [] {
    return StrCat(UndefinedCases(), "; ", GeneratedPrograms());
  };
  CheckRowTable("fuzz/testdata/generator_rows.txt", see);
}

}  // namespace
}  // namespace assay
