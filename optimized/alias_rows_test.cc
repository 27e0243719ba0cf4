// Tests what alias analysis says of the buffers of an entry's result, before and after copy
// insertion. Each line of testdata/alias_rows.txt is one test.
#include "optimized/analysis/alias_analysis.h"
#include "optimized/passes/memory/copy_insertion.h"
#include "optimized/passes/pass_testing.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string Asked(const Module& module) {
  const AliasAnalysis aliases(module);
  const InstructionAliasSet& set = aliases.Of(module.entry()->root());
  return StrCat(set.IsAmbiguous() ? "ambiguous" : "unambiguous",
                set.IsDistinct() ? " distinct" : " shared");
}

std::unique_ptr<Module> WithEntry(const std::string& lines) {
  return ReadForTest(
      "HloModule m\n"
      "same { ROOT a = f32[2] parameter(0) }\n"
      "less { b = f32[2] parameter(0)\n  ROOT n = f32[2] negate(b) }\n"
      "ENTRY e { x = f32[2] parameter(0)\n  p = pred[] parameter(1)\n  s = f32[2] sine(x)\n" +
      lines + " }");
}
std::string OfEntry(const std::string& lines) { return Asked(*WithEntry(lines)); }

TEST(AliasRows, EveryRowOfTheDocuments) {
  const std::string branches =
      " c = f32[2] conditional(p, s, s), true_computation=same, false_computation=less\n";
  const std::string both = branches + "  ROOT t = (f32[2], f32[2]) tuple(c, s)";
  Observations see;
  see["gloss-alias-set"] = [&] {
    const std::unique_ptr<Module> copied = WithEntry(both);
    EXPECT_TRUE(RunForTest<CopyInsertion>(*copied));
    return StrCat("new value: ", OfEntry("  ROOT n = f32[2] negate(s)"),
                  "; same twice: ", OfEntry("  ROOT t = (f32[2], f32[2]) tuple(s, s)"),
                  "; branch that hands on: ", OfEntry("  ROOT" + branches),
                  "; that and its argument: ", OfEntry(both), "; after copies: ", Asked(*copied));
  };
  CheckRowTable("optimized/testdata/alias_rows.txt", see);
}

}  // namespace
}  // namespace assay
