// Tests how a module of LLVM IR is cut into parts, and what a part holds of it.
#include "optimized/cpu/native/module_cut.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// So many functions "fK" that are parts of their own, each of `length` additions and a call of the
// helper "h"; every fourth is cold if `some_cold`.
std::string Functions(int count, int length, bool some_cold) {
  std::string text = "define internal i64 @h(i64 %x) {\n  ret i64 %x\n}\n";
  for (int k = 0; k < count; ++k) {
    const bool is_cold = some_cold && k % 4 == 0;
    StrAppend(&text, "define i64 @f", k, "(i64 %v0) \"", kPartAttribute, "\"=\"",
              is_cold ? kCold : kHot, "\" {\n");
    for (int i = 0; i < length; ++i) {
      StrAppend(&text, "  %v", i + 1, " = add i64 %v", i, ", ", k + 1, "\n");
    }
    StrAppend(&text, "  %r = call i64 @h(i64 %v", length, ")\n  ret i64 %r\n}\n");
  }
  return text;
}

std::unique_ptr<llvm::Module> Parse(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str();
  return module;
}

TEST(ModuleCut, LongModulesHaveMorePartsThanThreads) {
  llvm::LLVMContext context;
  const auto module = Parse(Functions(100, 1000, /*some_cold=*/true), context);
  for (int threads : {1, 2, 4}) {
    const ModuleCut cut = PlanCut(*module, threads);
    EXPECT_GE(cut.parts.size(), 6u) << threads;
    std::set<std::string> seen;
    for (size_t k = 0; k < cut.parts.size(); ++k) {
      const CodePart& part = cut.parts[k];
      EXPECT_LE(part.functions.size(), 20u);
      EXPECT_LE(part.work, cut.parts[k == 0 ? 0 : k - 1].work);
      for (const std::string& name : part.functions) {
        EXPECT_TRUE(seen.insert(name).second) << name << " is in two parts";
        EXPECT_EQ(IsCold(*module->getFunction(name)), part.is_cold) << name;
      }
    }
    EXPECT_EQ(seen.size(), 100u);
  }
}

TEST(ModuleCut, ShortModulesStayWhole) {
  llvm::LLVMContext context;
  const auto module = Parse(Functions(4, 10, /*some_cold=*/false), context);
  EXPECT_TRUE(PlanCut(*module, 2).parts.empty());
  EXPECT_FALSE(PlanCut(*module, 2).all_cold);
}

TEST(ModuleCut, APartHoldsItsFunctionsAndTheirHelpers) {
  llvm::LLVMContext context, other;
  const auto module = Parse(Functions(3, 2, /*some_cold=*/false), context);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  auto part = ReadPart(llvm::MemoryBufferRef({bitcode.data(), bitcode.size()}, "m"),
                       {.functions = {"f1"}}, other);
  ASSERT_TRUE(static_cast<bool>(part)) << llvm::toString(part.takeError());
  std::set<std::string> defined;
  for (const llvm::Function& function : **part) {
    EXPECT_FALSE(function.isDeclaration()) << function.getName().str();
    defined.insert(function.getName().str());
  }
  EXPECT_EQ(defined, (std::set<std::string>{"f1", "h"}));
}

}  // namespace
}  // namespace assay
