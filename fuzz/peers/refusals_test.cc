// Tests that answers of probes are read back, and that a cache with anything else in it is not.
#include "fuzz/peers/refusals.h"

#include "fuzz/generator/recipes/recipes.h"
#include "gtest/gtest.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr char kKey[] = "xla, jaxlib 1.2.3, questions 7";

std::string First() { return std::string(AllRecipes()[0].name); }
std::string Second() { return std::string(AllRecipes()[1].name); }

GeneratorOptions Some() {
  GeneratorOptions options;
  options.excluded_types.set(static_cast<size_t>(ElementType::kF8E3M4));
  options.excluded_ops.set(static_cast<size_t>(Opcode::kDomain));
  options.excluded_recipes.insert(First());
  options.refused_types[Second()].set(static_cast<size_t>(ElementType::kC64));
  return options;
}

TEST(Refusals, AreReadBack) {
  const GeneratorOptions before = Some();
  GeneratorOptions after;
  ASSERT_TRUE(DecodeRefusals(EncodeRefusals(kKey, before), kKey, after));
  EXPECT_EQ(after.excluded_types, before.excluded_types);
  EXPECT_EQ(after.excluded_ops, before.excluded_ops);
  EXPECT_EQ(after.excluded_recipes, before.excluded_recipes);
  EXPECT_EQ(after.refused_types, before.refused_types);
}

TEST(Refusals, OfAnotherReleaseOrGarbageChangeNothing) {
  const std::string good = EncodeRefusals(kKey, Some());
  std::vector<std::string> bad = {"",
                                  "[]",
                                  "{}",
                                  "null",
                                  good.substr(0, good.size() / 2),
                                  EncodeRefusals("another key", Some())};
  for (const std::string& word :
       {First(), Second(), std::string("f8e3m4"), std::string("c64"), std::string("domain")}) {
    std::string changed = good;
    changed.replace(changed.find(StrCat("\"", word, "\"")) + 1, word.size(), "no such name");
    bad.push_back(changed);
  }
  for (const std::string& text : bad) {
    GeneratorOptions options;
    EXPECT_FALSE(DecodeRefusals(text, kKey, options)) << text;
    EXPECT_TRUE(options.excluded_types.none() && options.excluded_recipes.empty() &&
                options.refused_types.empty())
        << text;
  }
}

}  // namespace
}  // namespace assay
