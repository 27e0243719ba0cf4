// Tests of passes: before and after as HLO text.
#pragma once

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "optimized/passes/cleanup/dce.h"
#include "optimized/passes/pass.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {

// A module from the lines of its entry, or from whole text that begins with HloModule.
inline std::unique_ptr<Module> ReadForTest(const std::string& text) {
  const bool whole = text.find("HloModule") != std::string::npos;
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule(whole ? text : "HloModule m\n\nENTRY main {\n" + text + "\n}\n");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return nullptr;
  const absl::Status verified = Verify(**module);
  EXPECT_TRUE(verified.ok()) << verified << "\n" << text;
  return *std::move(module);
}

// Runs the pass and dead code elimination; the result must verify.
template <typename P>
bool RunForTest(Module& module, const Profile& profile = Profile::Strict()) {
  Gates gates;
  PassContext context{gates, profile};
  const absl::StatusOr<bool> changed = P().Run(module, context);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(DeadCodeElimination().Run(module, context).ok());
  const absl::Status verified = Verify(module);
  EXPECT_TRUE(verified.ok()) << verified << "\n" << module.ToString();
  return changed.ok() && *changed;
}

// The pass makes `after` of `before`, up to names.
template <typename P>
void ExpectRewrite(const std::string& before, const std::string& after,
                   const Profile& profile = Profile::Strict()) {
  std::unique_ptr<Module> module = ReadForTest(before);
  std::unique_ptr<Module> expected = ReadForTest(after);
  ASSERT_NE(module, nullptr);
  ASSERT_NE(expected, nullptr);
  EXPECT_TRUE(RunForTest<P>(*module, profile)) << "nothing changed in\n" << before;
  EXPECT_EQ(module->Hash(), expected->Hash()) << "got\n"
                                              << module->ToString() << "expected\n"
                                              << expected->ToString();
}

// A near miss: the pass leaves it alone.
template <typename P>
void ExpectUntouched(const std::string& before, const Profile& profile = Profile::Strict()) {
  std::unique_ptr<Module> module = ReadForTest(before);
  ASSERT_NE(module, nullptr);
  EXPECT_FALSE(RunForTest<P>(*module, profile)) << "got\n" << module->ToString();
}

}  // namespace assay
