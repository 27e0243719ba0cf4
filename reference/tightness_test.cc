// The tightness of the bounds: radius over the worst deviation that a search over inputs and legal
// evaluations finds, for the families of testdata/tightness.txt. Prints the table.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "reference/interpreter/interpreter.h"
#include "reference/testing/legal_evaluator.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

struct Family {
  std::string name, type, inputs, program;
  int64_t n = 0;
  double limit = 0;
};

std::vector<Family> ReadFamilies() {
  CasesForTest cases("reference/testdata/tightness.txt", {"type", "n", "inputs", "limit"});
  std::vector<Family> families;
  for (const CaseBlock& block : cases.blocks()) {
    Family family{block.name, std::string(block.Value("type")), std::string(block.Value("inputs")),
                  block.text};
    EXPECT_TRUE(absl::SimpleAtoi(ToAbsl(block.Value("n")), &family.n)) << block.name;
    EXPECT_TRUE(absl::SimpleAtod(ToAbsl(block.Value("limit")), &family.limit)) << block.name;
    families.push_back(std::move(family));
  }
  return families;
}

// The module's text: the reducers, the parameters, the program, its last value in a tuple.
std::string TextOf(const Family& family) {
  const std::string vector = StrCat(family.type, "[", family.n, "]"), scalar = family.type + "[]";
  std::string text = "HloModule tightness\n";
  for (std::string_view reducer : {"add", "multiply", "largest"}) {
    const std::string_view op = reducer == "largest" ? "maximum" : reducer;
    StrAppend(&text, reducer, " {\n  a = ", scalar, " parameter(0)\n  b = ", scalar,
              " parameter(1)\n  ROOT c = ", scalar, " ", op, "(a, b)\n}\n");
  }
  StrAppend(&text, "ENTRY main {\n");
  int number = 0;
  for (std::string_view name : {"x", "y", "z"})
    StrAppend(&text, "  ", name, " = ", vector, " parameter(", number++, ")\n");
  StrAppend(&text, "  zero = ", scalar, " constant(0)\n  one = ", scalar, " constant(1)\n");
  bool is_vector = true;
  for (absl::string_view step : absl::StrSplit(family.program, '\n', absl::SkipEmpty())) {
    const std::string line(step);
    is_vector = line.find("= V ") != std::string::npos;
    StrAppend(&text, "  ",
              absl::StrReplaceAll(
                  line, {{"= V ", StrCat("= ", vector, " ")}, {"= T ", StrCat("= ", scalar, " ")}}),
              "\n");
  }
  StrAppend(&text, "  ROOT out = (", is_vector ? vector : scalar, ") tuple(r)\n}\n");
  return text;
}

double Draw(Random& random, const std::string& rule) {
  if (rule == "spread") return random.Between(-4, 4);
  if (rule == "positive") return random.Between(0.5, 2);
  if (rule == "near-one") return random.Between(0.99, 1.01);
  return 4.0 / 3;
}

// The smallest ratio of the radius of an element to how far legal evaluations stray from its
// centre; infinite if none strays, or no element has a radius.
double RatioOf(const Family& family, const Module& module, const Profile& profile) {
  constexpr int kInputs = 12;
  const int evaluations = family.n > 1000 ? 12 : 40;
  auto oracle = MakeOracle();
  double largest_part = 0;
  for (uint64_t seed = 1; seed <= kInputs; ++seed) {
    Random random(seed);
    std::vector<Literal> inputs;
    for (int64_t p = 0; p < module.entry()->parameter_count(); ++p) {
      inputs.emplace_back(module.entry()->parameter(p)->shape());
      for (int64_t i = 0; i < family.n; ++i) inputs[p].SetDouble(i, Draw(random, family.inputs));
    }
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs) arguments.push_back(&input);
    const auto expectation = oracle->Expect(module, arguments, profile, Limits{});
    EXPECT_TRUE(expectation.ok()) << family.name << ": " << expectation.status();
    if (!expectation.ok()) return 0;
    const ArrayExpectation& leaf = expectation->leaves[0];
    for (int run = 0; run < evaluations && !leaf.bounds.empty(); ++run) {
      const Literal legal = EvaluateLegally(module, arguments, profile, random);
      const Literal& got = *Leaves(legal)[0];
      for (int64_t i = 0; i < got.element_count(); ++i) {
        const ElementBound& bound = leaf.bounds[i];
        if ((bound.flags & (kForced | kUndecided | kNotFinite)) != 0 || bound.radius == 0) continue;
        const long double centre = static_cast<long double>(bound.centre) + bound.centre_low;
        const auto away = static_cast<double>(std::fabs(got.GetDouble(i) - centre));
        largest_part = std::max(largest_part, away / bound.radius);
      }
    }
  }
  return largest_part > 0 ? 1 / largest_part : INFINITY;
}

TEST(Tightness, RadiusOverWorstDeviation) {
  const std::vector<Family> families = ReadFamilies();
  ASSERT_GT(families.size(), 30u);
  std::printf("%-24s %8s %8s\n", "family", "ratio", "limit");
  for (const Family& family : families) {
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(TextOf(family));
    ASSERT_TRUE(module.ok()) << family.name << "\n" << module.status();
    ASSERT_TRUE(Verify(**module).ok()) << family.name << "\n" << Verify(**module);
    const double ratio = RatioOf(family, **module, Profile::Xla());
    std::printf("%-24s %8.2f %8.0f\n", family.name.c_str(), ratio, family.limit);
    EXPECT_LE(ratio, family.limit) << family.name;
    // Nothing legal lies outside; the judge grants the comparison itself a few bits.
    EXPECT_GT(ratio, 1 - 1e-9) << family.name;
  }
}

}  // namespace
}  // namespace assay::reference
