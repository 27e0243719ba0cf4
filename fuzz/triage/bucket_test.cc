// Tests what is left of a crash report once what belongs to one case is gone.
#include "fuzz/triage/bucket.h"

#include "fuzz/triage/causes.h"

#include <string>

#include "gtest/gtest.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

TEST(CrashSignature, HasNoShapesOfOneCase) {
  const std::string words = "rejected: Conversion between complex and real type ";
  EXPECT_EQ(CrashSignature(words + "c128[1,2,2]"), CrashSignature(words + "c64[7]"));
  EXPECT_NE(CrashSignature(words + "c128[1]"), CrashSignature(words + "f32[1]"));
  const std::string sizes = "Check: no custom element sizes on other types: ";
  EXPECT_EQ(CrashSignature(sizes + "%iota = s32[2,9]{1,0:E(4)} iota(), iota_dimension=1"),
            CrashSignature(sizes + "%convert.2 = f32[3]{0:E(2)} convert(%select)"));
}

TEST(CrashSignature, HasNoNamesThatAreDrawn) {
  const std::string words = "compile crash: the verifier: Window goo.gle/debug";
  EXPECT_EQ(CrashSignature(words + "only  dimensions {"),
            CrashSignature(words + "str dimensions {"));
  EXPECT_NE(CrashSignature(words + "str dimensions {"), CrashSignature(words + "str size {"));
}

TEST(CrashSignature, HasNoNamesOfThisProgram) {
  const std::string words = "compile crash: map_util.h:50] Check failed: Map key not found: ";
  EXPECT_EQ(CrashSignature(words + "while.1_computation, false"),
            CrashSignature(words + "comparator.12, false"));
  EXPECT_EQ(CrashSignature(words + "while.1_computation, false"),
            CrashSignature(words + "while_computation, false"));
  const std::string slice = "compile crash: FAILED_PRECONDITION: not assigned for instruction ";
  EXPECT_EQ(CrashSignature(slice + "while.2 at index {}"),
            CrashSignature(slice + "while at index {}"));
  EXPECT_NE(CrashSignature(slice + "while at index {}"), CrashSignature(slice + "while at end"));
  EXPECT_NE(CrashSignature(words + "while.1"), CrashSignature("compile crash: set_util.h:50] no"));
}

TEST(CrashSignature, HasNoPlaceInThisProgram) {
  const std::string words = "'mhlo.constant' op result #0 must be statically shaped";
  EXPECT_EQ(CrashSignature("compile crash: UNKNOWN: <unknown>:0: error: " + words),
            CrashSignature("compile crash: UNKNOWN: <unknown>:0: error: loc(\"add.1\"): " + words));
  EXPECT_NE(CrashSignature("compile crash: UNKNOWN: <unknown>:0: error: " + words),
            CrashSignature("compile crash: UNKNOWN: <unknown>:0: error: loc(\"add.1\"): no"));
}

TEST(CrashSignature, HasNoAlarmThatItDidNotDieOf) {
  const std::string died = "compile crash: the worker died of SIGABRT\n";
  const std::string alarm =
      "E1127 12:47:16.59 8365 slow_operation_alarm.cc:73] Constant folding is taking > 1s:\n\n"
      "  %sort.5 = u8[65537]{0} sort(%constant.33), dimensions={0}, to_apply=%region_5.6\n\n"
      "This isn't necessarily a bug; constant-folding is inherently a trade-off between them.\n\n"
      "If you'd like to file a bug, run with envvar XLA_FLAGS=--xla_dump_to=/tmp/foo.\n"
      "E1127 12:47:19.59 8365 slow_operation_alarm.cc:140] The operation took 3s\n";
  const std::string check = "F1127 12:47:20.1 8365 map_util.h:50] Check failed: it != end\n";
  EXPECT_EQ(CrashSignature(died + alarm + check), CrashSignature(died + check));
  EXPECT_NE(CrashSignature(died + alarm + check), CrashSignature(died + alarm));
}

TEST(CrashSignature, ASpoiledHeapIsOneWhoeverNotices) {
  const std::string died = "run crash: the worker died of SIGABRT\n";
  EXPECT_EQ(
      CrashSignature(died + "free(): invalid next size (fast)"),
      CrashSignature(died + "Fatal glibc error: malloc assertion failure in sysmalloc: (old"));
  EXPECT_EQ(CrashSignature(died + "free(): invalid size"),
            CrashSignature(died + "Traceback (most recent call last):\n"
                                  "  File \"<string>\", line 568, in <module>\n"
                                  "  File \"<string>\", line 64, in send\n"
                                  "OSError: [Errno 14] Bad address"));
  EXPECT_NE(CrashSignature(died + "free(): invalid size"), CrashSignature(died + "Check failed"));
}

// XLA:CPU makes a sort by total order of each topk.
TEST(Causes, BrainFloatsAreInOrderWhereTheyAreSortedByTotalOrder) {
  const auto has_order = [](const std::string& type, const std::string& order) {
    const std::string row = type + "[3]";
    const auto module = ReadModule(
        order == "topk"
            ? "HloModule m\nENTRY e {\n p = " + row + " parameter(0)\n ROOT t = (" + row +
                  ", s32[1]) topk(p), k=1, largest=true\n}\n"
            : "HloModule m\nENTRY e {\n p = " + row +
                  " parameter(0)\n ROOT c = pred[3] compare(p, p), direction=LT" + order + "\n}\n");
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() && CausesOf(PeerOfFamily("xla"), **module, {}).contains("order-of-bf16");
  };
  EXPECT_TRUE(has_order("bf16", ", type=TOTALORDER"));
  EXPECT_TRUE(has_order("bf16", "topk"));
  EXPECT_FALSE(has_order("bf16", ""));
  EXPECT_FALSE(has_order("f16", "topk"));
  EXPECT_FALSE(has_order("f16", ", type=TOTALORDER"));
}

TEST(Causes, AreToldByTypesStartsAndAnswers) {
  const auto module = ReadModule(R"(HloModule m
ENTRY e {
  x = f32[300] parameter(0)
  at = s8[] parameter(1)
  y = s4[9] parameter(2)
  z = f8e4m3fnuz[2] parameter(3)
  part = f32[2] dynamic-slice(x, at), dynamic_slice_sizes={2}
  ROOT all = (f32[2], s4[9], f8e4m3fnuz[2]) tuple(part, y, z)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const Peer& xla = PeerOfFamily("xla");
  EXPECT_EQ(CausesOf(xla, **module, {}),
            (std::set<std::string>{"few-bits", "narrow-index", "one-zero"}));
  EXPECT_TRUE(CausesOf(xla, **module, {.is_nan_for_zero = true}).contains("nan-for-zero"));
  EXPECT_TRUE(CausesOf(PeerOfFamily("cpu"), **module, {}).empty()) << "nobody knows any of it";
}

// The index type and the class of the numbers, of an output that is not the first one too.
TEST(VariantOf, NamesClassesAndIndexTypes) {
  const auto module = ReadModule(R"(HloModule m
ENTRY e {
  x = f32[9] parameter(0)
  at = s8[] parameter(1)
  y = s4[9] parameter(2)
  part = f32[2] dynamic-slice(x, at), dynamic_slice_sizes={2}
  ROOT both = (f32[2], s4[9]) tuple(part, y)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(VariantOf(**module), "f by s8");
  EXPECT_EQ(VariantOf(**module, 1), "i of few bits by s8");
  EXPECT_EQ(VariantOf(**module, 7), "f by s8");
}

}  // namespace
}  // namespace assay
