// The base of tests of the oracle's expectation of a program and of its verdicts on answers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {

class ExpectationTest : public testing::Test {
 protected:
  // `entry`: the lines of the entry computation.
  void Load(const std::string& entry, const std::string& computations = "") {
    absl::StatusOr<std::unique_ptr<Module>> module =
        ReadModule(StrCat("HloModule m\n", computations, "ENTRY main {\n", entry, "}\n"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    ASSERT_TRUE(Verify(**module).ok()) << Verify(**module);
    module_ = *std::move(module);
  }

  Expectation Expect(const Profile& profile) {
    absl::StatusOr<Expectation> expectation = MakeOracle()->Expect(*module_, {}, profile, Limits{});
    EXPECT_TRUE(expectation.ok()) << expectation.status();
    return expectation.ok() ? *expectation : Expectation();
  }

  // The verdict on a result written as text.
  Judgement JudgementOn(const std::string& result, const Profile& profile) {
    absl::StatusOr<Literal> literal = ReadLiteral(module_->entry()->root()->shape(), result);
    EXPECT_TRUE(literal.ok()) << literal.status().message();
    return Judge(Expect(profile), *literal);
  }

  std::unique_ptr<Module> module_;
};

}  // namespace assay::reference
