// The worked examples of operation semantics, from testdata/goldens.txt: plain values, and a bound
// that lets only them pass.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

struct Golden {
  std::string name, computations, instructions, expected;

  std::string Text() const {
    return StrCat("HloModule golden\n", computations, "ENTRY main {\n", instructions, "}\n");
  }
};

std::vector<Golden> ReadGoldens() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/reference/testdata/goldens.txt");
  std::vector<Golden> goldens;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("== ")) {
      goldens.push_back({line.substr(3), "", "", ""});
    } else if (line.starts_with("=> ")) {
      goldens.back().expected = line.substr(3);
    } else if (line == "ENTRY") {
      goldens.back().computations = std::move(goldens.back().instructions);
      goldens.back().instructions.clear();
    } else {
      goldens.back().instructions += line + "\n";
    }
  }
  return goldens;
}

bool SameBits(const Literal& a, const Literal& b) {
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const bool both_nan = IsFloat(a.element_type()) &&
                          IsNanCode(Format(a.element_type()), a.GetBits(i)) &&
                          IsNanCode(Format(b.element_type()), b.GetBits(i));
    if (!both_nan && a.GetBits(i) != b.GetBits(i)) return false;
  }
  return true;
}

TEST(Goldens, HaveTheirValuesAndNoOther) {
  const std::vector<Golden> goldens = ReadGoldens();
  ASSERT_GE(goldens.size(), 80u);
  auto oracle = MakeOracle();
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.name);
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(golden.Text());
    ASSERT_TRUE(module.ok()) << module.status().message();
    ASSERT_TRUE(Verify(**module).ok()) << Verify(**module);
    absl::StatusOr<Literal> wanted =
        ReadLiteral((*module)->entry()->root()->shape(), golden.expected);
    ASSERT_TRUE(wanted.ok()) << wanted.status().message();
    absl::StatusOr<Literal> got = oracle->Evaluate(**module, {}, Limits{});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(SameBits(*got, *wanted))
        << "got " << got->ToString() << ", wanted " << wanted->ToString();
    absl::StatusOr<Expectation> strict = oracle->Expect(**module, {}, Profile::Strict(), Limits{});
    ASSERT_TRUE(strict.ok()) << strict.status();
    EXPECT_NE(Judge(*strict, *wanted).verdict, Verdict::kFail);
    // One flipped bit must not pass, whatever the element.
    for (int64_t i = 0; i < wanted->element_count(); ++i) {
      if (IsFloat(wanted->element_type()) &&
          IsNanCode(Format(wanted->element_type()), wanted->GetBits(i)))
        continue;
      const bool inexact_function =
          golden.name.starts_with("power |") || golden.name.starts_with("remainder f64");
      if (inexact_function) continue;
      Literal bent = *wanted;
      bent.SetBits(i, bent.GetBits(i) ^ 1);
      EXPECT_EQ(Judge(*strict, bent).verdict, Verdict::kFail) << "element " << i;
    }
  }
  std::printf("goldens: %d worked examples\n", static_cast<int>(goldens.size()));
}

}  // namespace
}  // namespace assay::reference
