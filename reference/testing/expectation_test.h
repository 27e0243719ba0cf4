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
    inputs_.clear();
  }

  // The argument for the next parameter of the entry computation, as text.
  void AddInput(const std::string& text) {
    const auto number = static_cast<int64_t>(inputs_.size());
    ASSERT_LT(number, module_->entry()->parameter_count());
    absl::StatusOr<Literal> literal =
        ReadLiteral(module_->entry()->parameter(number)->shape(), text);
    ASSERT_TRUE(literal.ok()) << literal.status().message();
    inputs_.push_back(*std::move(literal));
  }

  Expectation Expect(const Profile& profile) {
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs_) arguments.push_back(&input);
    absl::StatusOr<Expectation> expectation =
        MakeOracle()->Expect(*module_, arguments, profile, Limits{});
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
  std::vector<Literal> inputs_;
};

}  // namespace assay::reference
