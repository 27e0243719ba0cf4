// Async sugar: what is said by it alone is printed so and reads back as the same program.
#include "spec/text/async_sugar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Module> Read(std::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

constexpr std::string_view kSum =
    "sum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
    "  ROOT z = f32[] add(x, y)\n}\n";

// The long form without percent signs, sugar where possible.
WriteOptions Sugared() {
  WriteOptions options = WriteOptions::Long();
  options.percent = false;
  options.async_sugar = true;
  return options;
}

// The start's line of the entry.
std::string StartLine(std::string_view text) {
  const std::unique_ptr<Module> module = Read(text);
  if (module == nullptr) return "";
  const std::string written = WriteModule(*module, Sugared());
  // Sugar or not, the program is the same.
  const std::unique_ptr<Module> again = Read(written);
  if (again == nullptr) return written;
  EXPECT_EQ(WriteModule(*again, Sugared()), written);
  EXPECT_EQ(module->Hash(), again->Hash()) << written;
  const size_t at = written.find("  s = ");
  return written.substr(at + 2, written.find('\n', at) - at - 2);
}

struct Case {
  std::string_view body, thread, start, line;
};
constexpr std::string_view kPair = "((f32[4], f32[4]), f32[4], s32[]) ";
constexpr Case kSugared[] = {
    {"ROOT r = f32[4] subtract(a, b)", "", "async-start(p, q), calls=w", "subtract-start(p, q)"},
    {"ROOT r = f32[4] add(a, b), metadata={op_name=\"n\"}, backend_config={\"k\":\"1\"}", "",
     "async-start(p, q), calls=w, metadata={op_name=\"n\"}, backend_config={\"k\":\"1\"}",
     "add-start(p, q), metadata={op_name=\"n\"}, backend_config={\"k\":\"1\"}"},
    {"ROOT r = f32[4] custom-call(a, b), custom_call_target=\"f\"", "other",
     "async-start(p, q), async_execution_thread=\"other\", calls=w, sharding={replicated}",
     "custom-call-start(p, q), async_execution_thread=\"other\", custom_call_target=\"f\", "
     "sharding={replicated}"},
};
constexpr Case kPlain[] = {
    {"ROOT r = f32[4] subtract(b, a)", "", "async-start(p, q), calls=w", ""},
    {"ROOT r = f32[4] negate(a)", "", "async-start(p, q), calls=w", ""},
    {"n = f32[4] negate(a)\n  ROOT r = f32[4] add(n, b)", "", "async-start(p, q), calls=w", ""},
    {"ROOT r = f32[4] add(a, b), metadata={op_name=\"n\"}", "", "async-start(p, q), calls=w", ""},
    {"ROOT r = f32[4] add(a, b), sharding={replicated}", "", "async-start(p, q), calls=w", ""},
    {"ROOT r = f32[4] add(a, b)", "", "async-start(p, q), calls=w, frontend_attributes={k=\"v\"}",
     ""},
};

std::string ModuleOf(const Case& one) {
  std::string thread;
  if (!one.thread.empty()) thread = StrCat(", execution_thread=\"", one.thread, "\"");
  return StrCat("HloModule m\n", "w {\n  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  ",
                one.body, "\n}", thread,
                "\nENTRY e {\n  p = f32[4] parameter(0)\n  q = f32[4] parameter(1)\n  s = ", kPair,
                one.start, "\n  u = ", kPair,
                "async-update(s)\n  ROOT d = f32[4] async-done(u)\n}\n");
}

TEST(AsyncSugar, OneInstructionIsWrittenWithoutItsComputation) {
  for (const Case& one : kSugared) {
    SCOPED_TRACE(one.body);
    EXPECT_EQ(StartLine(ModuleOf(one)), StrCat("s = ((f32[4], f32[4]), f32[4], s32[]) ", one.line));
  }
}

TEST(AsyncSugar, WhatItCannotSayStaysPlain) {
  for (const Case& one : kPlain) {
    SCOPED_TRACE(one.body);
    EXPECT_THAT(StartLine(ModuleOf(one)), HasSubstr("async-start(p, q), calls=w"));
  }
}

TEST(AsyncSugar, UpdatesAndDonesFollowTheirStart) {
  const std::unique_ptr<Module> module = Read(ModuleOf(kSugared[0]));
  ASSERT_NE(module, nullptr);
  WriteOptions options = WriteOptions::Long();
  EXPECT_THAT(WriteModule(*module, options), HasSubstr("async-update(%s)"));
  EXPECT_EQ(WriteInstruction(*module->entry()->root(), options), "%d = f32[4] async-done(%u)");
  options.async_sugar = true;
  const std::string text = WriteModule(*module, options);
  EXPECT_THAT(text, HasSubstr("%s = ((f32[4], f32[4]), f32[4], s32[]) "
                              "subtract-start(%p, %q)\n"));
  EXPECT_THAT(text, HasSubstr("subtract-update(%s)\n"));
  EXPECT_THAT(text, HasSubstr("ROOT %d = f32[4] subtract-done(%u)\n"));
  EXPECT_THAT(text, Not(HasSubstr("%w ")));
  EXPECT_EQ(WriteInstruction(*module->entry()->root(), options), "%d = f32[4] subtract-done(%u)");
}

// Metadata that is not written does not keep the sugar away.
TEST(AsyncSugar, TheShortFormHasSugar) {
  const std::unique_ptr<Module> module = Read(ModuleOf(kPlain[3]));
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(WriteModule(*module, WriteOptions::Short()), HasSubstr(" add-start(p, q)\n"));
}

TEST(AsyncSugar, CalledComputationsAreKept) {
  const std::string text = StrCat("HloModule m\n", kSum, R"(w {
  a = f32[4] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] reduce(a, b), dimensions={0}, to_apply=sum
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[] constant(0)
  s = ((f32[4], f32[]), f32[], s32[]) async-start(p, q), calls=w
  ROOT d = f32[] async-done(s)
}
)");
  EXPECT_EQ(StartLine(text),
            "s = ((f32[4], f32[]), f32[], s32[]) reduce-start(p, q), dimensions={0}, "
            "to_apply=sum");
}

// all-reduce-start is an op of its own: the sugar would be read as that.
TEST(AsyncSugar, OpsWithPairsOfTheirOwnHaveNone) {
  const std::string text = StrCat("HloModule m\n", kSum, R"(w {
  a = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(a), to_apply=sum
}
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=w
  ROOT d = f32[4] async-done(s)
}
)");
  EXPECT_THAT(StartLine(text), HasSubstr("async-start(p), calls=w"));
}

TEST(AsyncSugar, AComputationOfTwoStartsIsPrinted) {
  const std::unique_ptr<Module> module = Read(R"(HloModule m
w {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4]) async-start(p), calls=w
  d = f32[4] async-done(s)
  t = ((f32[4]), f32[4]) async-start(d), calls=w
  ROOT f = f32[4] async-done(t)
}
)");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(WriteModule(*module, WriteOptions::Short()), Not(HasSubstr("negate-start")));
}

}  // namespace
}  // namespace assay
