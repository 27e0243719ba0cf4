// Tests the oracle's expectation where the documents leave results free or undefined: it takes
// every answer that they allow and no other. Each line of testdata/oracle_rows.txt is one test.
#include "reference/interpreter/interpreter.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// The verdicts on the given values of the first output (others as the oracle has them), one word
// each.
std::string Verdicts(const std::string& text, const std::vector<const char*>& answers,
                     const Profile& profile = Profile::Xla()) {
  const auto module = *ReadModule(text);
  const auto oracle = MakeOracle();
  const auto expectation = oracle->Expect(*module, {}, profile, Limits{});
  if (!expectation.ok()) return std::string(expectation.status().message());
  const Literal plain = *oracle->Evaluate(*module, {}, Limits{});
  std::string out(Name(Judge(*expectation, plain).verdict));
  for (const char* answer : answers) {
    std::vector<const Literal*> leaves = Leaves(plain);
    const Literal first = *ReadLiteral(leaves[0]->shape(), answer);
    leaves[0] = &first;
    StrAppend(&out, " ", Name(JudgeLeaves(*expectation, leaves).verdict));
  }
  return out;
}

std::string Sum(std::string_view type, std::string_view values, std::string_view op = "add") {
  return StrCat("HloModule m\nf { x = ", type, "[] parameter(0) y = ", type,
                "[] parameter(1) ROOT r = ", type, "[] ", op, "(x, y) }\nENTRY e { a = ", type,
                "[3] constant(", values, ") z = ", type, "[] constant(0) ROOT r = ", type,
                "[] reduce(a, z), dimensions={0}, to_apply=f }");
}

// The last update wins; of two with one target either may be the last.
std::string Scatter(std::string_view indices, std::string_view promise = "") {
  return StrCat(R"(HloModule m
last { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ENTRY e { x = f32[3] constant({1, 2, 3})
  i = s32[2,1] constant()",
                indices, R"()
  u = f32[2] constant({10, 20})
  ROOT s = f32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1)",
                promise, R"(, to_apply=last }
)");
}

// Two keys are equal: an unstable sort may leave their payloads in either order.
constexpr char kSort[] = R"(HloModule m
lt { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e { k = s32[3] constant({5, 1, 5})
  p = s32[3] constant({7, 8, 9})
  s = (s32[3], s32[3]) sort(k, p), dimensions={0}, to_apply=lt
  ROOT r = s32[3] get-tuple-element(s), index=1 }
)";
constexpr char kCholesky[] = R"(HloModule m
ENTRY e { a = f32[2,2] constant({{4, 0}, {2, 5}})
  ROOT c = f32[2,2] cholesky(a), lower=true }
)";
constexpr char kUniform[] = R"(HloModule m
ENTRY e { a = f32[] constant(0)
  b = f32[] constant(1)
  ROOT r = f32[2] rng(a, b), distribution=rng_uniform }
)";
constexpr char kDivide[] = R"(HloModule m
ENTRY e { a = s32[3] constant({7, -2147483648, -3})
  b = s32[3] constant({0, -1, 2})
  ROOT r = s32[3] divide(a, b) }
)";
constexpr char kNan[] = R"(HloModule m
ENTRY e { a = f32[] constant(inf)
  ROOT r = f32[] subtract(a, a) }
)";

// Sums over a parameter of run-time size that parameter 1 holds.
std::string WithSize(std::string_view size, std::string_view shape = "f32[2,<=3]") {
  const auto module = *ReadModule(StrCat(R"(HloModule m
f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
ENTRY e { a = )",
                                         shape, R"( parameter(0)
  n = s32[] parameter(1)
  z = f32[] constant(0)
  s = f32[2] reduce(a, z), dimensions={1}, to_apply=f
  m = s32[] get-dimension-size(a), dimensions={1}
  ROOT t = (f32[2], s32[]) tuple(s, m) })"));
  module->annotations().dynamic_parameter_binding.Bind({1, {}}, {0, {}, 1}).IgnoreError();
  const Literal a = *ReadLiteral(*ReadShape("f32[2,3]"), "{{1, 2, 3}, {10, 20, 30}}");
  const Literal n = *ReadLiteral(*ReadShape("s32[]"), size);
  const auto value = MakeOracle()->Evaluate(*module, {&a, &n}, Limits{});
  return value.ok() ? value->ToString() : std::string(value.status().message());
}

TEST(OracleRows, EveryRowOfTheDocuments) {
  Observations see;
  // 2^24 + 1 is a tie and rounds to 2^24: from the left the ones are lost, from the right they are
  // not.
  see["shape-reduce-reassociate"] = [] {
    const std::string f32 = Sum("f32", "{16777216, 1, 1}"), s32 = Sum("s32", "{16777216, 1, 1}");
    const std::vector<const char*> floats = {"16777216", "16777218", "16777200", "16777230"};
    const std::vector<const char*> integers = {"16777218", "16777216", "16777217"};
    return StrCat("strict ", Verdicts(f32, floats, Profile::Strict()), "; xla ",
                  Verdicts(f32, floats), "; integers ", Verdicts(s32, integers));
  };
  see["gloss-roughly-associative"] = [] {
    return StrCat(Verdicts(Sum("f32", "{0.1, 0.2, 0.3}"), {"0.6", "0.6000001", "0.61", "0.59"}),
                  "; ", Verdicts(Sum("f16", "{2048, 1, 1}"), {"2048", "2050", "2060"}), "; ",
                  Verdicts(Sum("s8", "{100, 100, 100}"), {"44", "127", "45"}), "; ",
                  Verdicts(Sum("f32", "{0.1, 0.2, 0.3}", "maximum"), {"0.3", "0.2"}));
  };
  see["shape-scatter-order"] = [] {
    return Verdicts(Scatter("{{1}, {1}}"), {"{1, 10, 3}", "{1, 20, 3}", "{1, 15, 3}", "{1, 2, 3}"});
  };
  // Kept: nothing else is right. Broken: nothing is wrong where updates meet.
  see["attr-scatter-unique-indices"] = [] {
    constexpr char kPromise[] = ", unique_indices=true";
    return StrCat("kept ", Verdicts(Scatter("{{2}, {1}}", kPromise), {"{1, 20, 10}", "{1, 20, 3}"}),
                  "; broken ",
                  Verdicts(Scatter("{{1}, {1}}", kPromise), {"{1, 20, 3}", "{1, 15, 3}"}));
  };
  see["attr-scatter-indices-are-sorted"] = [] {
    constexpr char kPromise[] = ", indices_are_sorted=true";
    return StrCat("kept ", Verdicts(Scatter("{{0}, {1}}", kPromise), {"{10, 20, 3}", "{10, 2, 3}"}),
                  "; broken ", Verdicts(Scatter("{{1}, {0}}", kPromise), {"{1, 10, 3}"}));
  };
  see["attr-sort-is-stable"] = [] {
    std::string stable = kSort;
    stable.insert(stable.find(", to_apply"), ", is_stable=true");
    const std::vector<const char*> orders = {"{8, 7, 9}", "{8, 9, 7}"};
    return StrCat("by default ", Verdicts(kSort, orders), "; stable ", Verdicts(stable, orders));
  };
  see["gloss-implementation-defined"] = [] {
    return StrCat("sort ", Verdicts(kSort, {"{8, 7, 9}", "{8, 9, 7}", "{8, 7, 10}"}), "; cholesky ",
                  Verdicts(kCholesky, {"{{2, 0}, {1, 2}}", "{{2, 7}, {1, 2}}", "{{2, 0}, {1, 3}}"}),
                  "; rng ", Verdicts(kUniform, {"{0, 0.5}", "{0.25, 1.5}"}), "; divide ",
                  Verdicts(kDivide, {"{-1, -2147483648, -1}", "{0, -2147483648, -1}"}), "; nan ",
                  Verdicts(kNan, {"nan", "-nan", "inf"}));
  };
  see["api-dynamic-parameter-binding"] = [] {
    return StrCat(WithSize("2"), "; ", WithSize("3"), "; ", WithSize("0"), "; ", WithSize("4"),
                  "; ", WithSize("2", "f32[2,3]"));
  };
  CheckRowTable("reference/testdata/oracle_rows.txt", see);
}

}  // namespace
}  // namespace assay
