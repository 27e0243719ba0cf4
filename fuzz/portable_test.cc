// Programs on which implementations may differ.
#include "fuzz/portable.h"

#include <utility>

#include "gtest/gtest.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// On these implementations may differ: an initial value beside one element may be dropped, which
// changes nothing only if it is an identity.
TEST(UnportableUses, AreReductionsWhoseInitialValueIsNoIdentity) {
  const std::pair<const char*, int64_t> kCases[] = {
      {"HloModule m\nmax { a = f8e4m3b11fnuz[] parameter(0) b = f8e4m3b11fnuz[] parameter(1)\n"
       "ROOT r = f8e4m3b11fnuz[] maximum(a, b) }\nENTRY e { x = f8e4m3b11fnuz[1] parameter(0)\n"
       "z = f8e4m3b11fnuz[] constant(-30) ROOT r = f8e4m3b11fnuz[] reduce(x, z), dimensions={0}, "
       "to_apply=max }",
       0},
      {"HloModule m\nmax { a = f8e4m3b11fnuz[] parameter(0) b = f8e4m3b11fnuz[] parameter(1)\n"
       "ROOT r = f8e4m3b11fnuz[] maximum(a, b) }\nENTRY e { x = f8e4m3b11fnuz[1] parameter(0)\n"
       "z = f8e4m3b11fnuz[] constant(nan) ROOT r = f8e4m3b11fnuz[] reduce(x, z), dimensions={0}, "
       "to_apply=max }",
       1},
      {"HloModule m\nf { a = c64[] parameter(0) b = c64[] parameter(1)\nROOT r = c64[] add(a, b) "
       "}\n"
       "ENTRY e { x = c64[1] parameter(0) z = c64[] constant((0, -0))\n"
       "ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=f }",
       0},
      {"HloModule m\nf { a = c64[] parameter(0) b = c64[] parameter(1)\nROOT r = c64[] add(a, b) "
       "}\n"
       "ENTRY e { x = c64[1] parameter(0) z = c64[] constant((0, 1))\n"
       "ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=f }",
       1},
      {"HloModule m\nf { a = c64[] parameter(0) b = c64[] parameter(1)\nROOT r = c64[] multiply(a, "
       "b) }\n"
       "ENTRY e { x = c64[1] parameter(0) z = c64[] constant((1, 0))\n"
       "ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=f }",
       0},
      {"HloModule m\nf { a = c64[] parameter(0) b = c64[] parameter(1)\nROOT r = c64[] add(a, a) "
       "}\n"
       "ENTRY e { x = c64[1] parameter(0) z = c64[] constant((0, 0))\n"
       "ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=f }",
       1},
      {"HloModule m\nf { a = s32[] parameter(0) i = s32[] parameter(1) b = s32[] parameter(2)\n"
       "j = s32[] parameter(3) ROOT r = (s32[], s32[]) tuple(a, j) }\n"
       "ENTRY e { x = s32[2,1] parameter(0) o = s32[] constant(1)\n"
       "ROOT r = (s32[2], s32[2]) reduce(x, x, o, o), dimensions={1}, to_apply=f }",
       1},
      {"HloModule m\nf { a = s32[] parameter(0) i = s32[] parameter(1) b = s32[] parameter(2)\n"
       "j = s32[] parameter(3) ROOT r = (s32[], s32[]) tuple(a, j) }\n"
       "ENTRY e { x = s32[2,1] parameter(0) o = s32[] constant(1)\n"
       "ROOT r = (s32[1], s32[1]) reduce(x, x, o, o), dimensions={0}, to_apply=f }",
       0},
      {"HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1) m = s32[] minimum(a, b)\n"
       "ROOT r = s32[] broadcast(m), dimensions={} }\n"
       "ENTRY e { x = s32[1] parameter(0) z = s32[] constant(2147483647)\n"
       "ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=f }",
       0},
      {"HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1) m = s32[] minimum(a, b)\n"
       "ROOT r = s32[] broadcast(m), dimensions={} }\n"
       "ENTRY e { x = s32[1] parameter(0) z = s32[] constant(0)\n"
       "ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=f }",
       1},
  };
  for (const auto& [text, count] : kCases) {
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(UnportableUses(**module, {}).Total(), count) << text;
  }
}

TEST(UnportableUses, AreCombinersOfWindowsThatHaveSidesOrAnInitialValueThatIsNoIdentity) {
  const std::pair<const char*, int64_t> kCases[] = {
      {"HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = s32[] add(a, b) "
       "}\n"
       "ENTRY e { x = s32[2] parameter(0) o = s32[] constant(0)\n"
       "ROOT r = s32[2] reduce-window(x, o), window={size=1}, to_apply=f }",
       0},
      {"HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = s32[] add(a, b) "
       "}\n"
       "ENTRY e { x = s32[2] parameter(0) o = s32[] constant(1)\n"
       "ROOT r = s32[2] reduce-window(x, o), window={size=1}, to_apply=f }",
       1},
      {"HloModule m\ng { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = pred[] "
       "compare(a, b), direction=GE }\n"
       "f { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = s32[] add(a, b) }\n"
       "ENTRY e { x = s32[3] parameter(0) s = s32[2] parameter(1) o = s32[] constant(1)\n"
       "ROOT r = s32[3] select-and-scatter(x, s, o), window={size=2}, select=g, scatter=f }",
       0},
      {"HloModule m\ng { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = pred[] "
       "compare(a, b), direction=GE }\n"
       "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }\n"
       "ENTRY e { x = s32[3] parameter(0) s = s32[2] parameter(1) o = s32[] constant(1)\n"
       "ROOT r = s32[3] select-and-scatter(x, s, o), window={size=2}, select=g, scatter=f }",
       1},
      // Nothing is scattered.
      {"HloModule m\ng { a = s32[] parameter(0) b = s32[] parameter(1)\nROOT r = pred[] "
       "compare(a, b), direction=GE }\n"
       "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }\n"
       "ENTRY e { x = s32[1] parameter(0) s = s32[0] parameter(1) o = s32[] constant(1)\n"
       "ROOT r = s32[1] select-and-scatter(x, s, o), window={size=2}, select=g, scatter=f }",
       0},
  };
  for (const auto& [text, uses] : kCases) {
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(UnportableUses(**module, {}).Total(), uses) << text;
  }
}

// A scan that is said to be associative has to combine what it is given.
TEST(UnportableUses, AreScansThatOnlySayTheyAreAssociative) {
  const auto uses = [](const std::string& next, const std::string& out, bool associative) {
    const std::string text =
        "HloModule m\nf { v = f32[] parameter(0) c = f32[] parameter(1)\ns = f32[] " + next +
        "\nROOT t = (f32[], f32[]) tuple(" + out +
        ", s) }\nENTRY e { x = f32[4] parameter(0) i = f32[] parameter(1)\n"
        "ROOT r = (f32[4], f32[]) scan(x, i), dimensions={0}, num_carries=1, is_associative=" +
        (associative ? "true" : "false") + ", to_apply=f }";
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() ? UnportableUses(**module, {}).Total() : -1;
  };
  EXPECT_EQ(uses("add(v, c)", "s", true), 0);
  EXPECT_EQ(uses("subtract(v, c)", "s", true), 1);
  EXPECT_EQ(uses("subtract(v, c)", "s", false), 0);
  EXPECT_EQ(uses("add(v, v)", "s", true), 1);
  EXPECT_EQ(uses("add(v, c)", "v", true), 1);
}

// A sort by what is no order may do anything, which makes no finding.
TEST(UnportableUses, AreComparatorsThatAreNoOrder) {
  const std::pair<const char*, int64_t> kRoots[] = {
      {"compare(a, b), direction=LT", 0},
      {"compare(b, a), direction=GT", 0},
      {"compare(a, b), direction=LE", 1},
      {"compare(a, a), direction=LT", 1},
      {"compare(n, a), direction=LT", 1},
      {"compare(n, b), direction=GT", 0},
      {"constant(true)", 1},
      {"constant(false)", 0},  // all are equal
  };
  for (const auto& [root, count] : kRoots) {
    const std::string text = StrCat(
        "HloModule m\nless { a = s32[] parameter(0) b = s32[] parameter(1) n = s32[] not(a)\n",
        "ROOT r = pred[] ", root, " }\nENTRY e { x = s32[3] parameter(0)\n",
        "ROOT s = s32[3] sort(x), dimensions={0}, to_apply=less }");
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    EXPECT_EQ(UnportableUses(**module, {}).Total(), count) << text;
  }
}

// One whose body is a reduction of its own may combine its operands; one that gives back the first
// of them does not, and no reduction of the former shall end there.
TEST(UnportableUses, AreCertainOrPossible) {
  const auto count = [](const char* body) {
    const std::string text =
        StrCat("HloModule m\nleast { a = s32[] parameter(0) b = s32[] parameter(1) ",
               "ROOT r = s32[] minimum(a, b) }\n",
               "sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }\n",
               "reducer { a = s32[] parameter(0) b = s32[] parameter(1) ", body, " }\n",
               "ENTRY e { x = s32[3] parameter(0) i = s32[] constant(2147483647)\n",
               "ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=reducer }");
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    EXPECT_TRUE(module.ok()) << module.status() << text;
    return module.ok() ? UnportableUses(**module, {}) : UnportableCount();
  };
  const UnportableCount plain = count("ROOT r = s32[] minimum(a, b)");
  const UnportableCount words = count(
      "m = s32[] call(a, b), to_apply=least v = s32[3] broadcast(m), dimensions={} "
      "j = s32[] constant(0) ROOT r = s32[] reduce(v, j), dimensions={0}, to_apply=sum");
  const UnportableCount first = count("ROOT r = s32[] copy(a)");
  const UnportableCount again = count("m = s32[] minimum(a, b) ROOT r = s32[] minimum(a, m)");
  const UnportableCount choice =
      count("l = pred[] compare(a, b), direction=LT ROOT r = s32[] select(l, a, b)");
  const UnportableCount other =
      count("l = pred[] compare(a, b), direction=NE ROOT r = s32[] select(l, a, b)");
  EXPECT_EQ(plain.Total(), 0);
  EXPECT_EQ(again.Total(), 0);
  EXPECT_EQ(choice.Total(), 0) << "it is the least";
  EXPECT_EQ(other.possible, 1);
  EXPECT_EQ(words.possible, 1);
  EXPECT_EQ(words.certain, 0);
  EXPECT_EQ(first.certain, 1);
  EXPECT_TRUE(first.IsWorseThan(words));
  EXPECT_FALSE(words.IsWorseThan(first));
  EXPECT_FALSE(plain.IsWorseThan(words));
}

// A product in which one side appears twice is none, an identity within it changes nothing.
TEST(UnportableUses, AreProductsOfOneSideMoreOften) {
  const std::pair<const char*, int64_t> kBodies[] = {
      {"ROOT r = s32[] multiply(a, b)", 0},
      {"m = s32[] multiply(a, one) ROOT r = s32[] multiply(m, b)", 0},
      {"m = s32[] multiply(a, a) ROOT r = s32[] multiply(m, b)", 1},
      {"m = s32[] multiply(a, two) ROOT r = s32[] multiply(m, b)", 1},
      {"m = s32[] negate(a) ROOT r = s32[] multiply(m, b)", 1},
  };
  for (const auto& [body, count] : kBodies) {
    const std::string text =
        StrCat("HloModule m\nreducer { a = s32[] parameter(0) b = s32[] parameter(1) ",
               "one = s32[] constant(1) two = s32[] constant(2) ", body, " }\n",
               "ENTRY e { x = s32[3] parameter(0) i = s32[] constant(1)\n",
               "ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=reducer }");
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    EXPECT_EQ(UnportableUses(**module, {}).Total(), count) << text;
  }
}

}  // namespace
}  // namespace assay
