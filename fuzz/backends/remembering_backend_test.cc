// Tests that what was compiled last is kept, and what else it depends on.
#include "fuzz/backends/remembering_backend.h"

#include "gtest/gtest.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

std::unique_ptr<Module> Adding(int64_t number) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule(StrCat("HloModule m\nENTRY e { p = s32[] parameter(0)\n  c = s32[] constant(",
                        number, ")\n  ROOT r = s32[] add(p, c) }\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Answers with the constant of the program and the argument.
FakeBackend::Script Adder() {
  FakeBackend::Script script;
  script.run =
      [](const Module& module, const CompileOptions&,
         const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    RunResult result;
    Literal sum(Shape::Scalar(ElementType::kS32));
    sum.SetInteger(0, arguments[0][0]->GetInteger(0) +
                          module.entry()->root()->operand(1)->literal()->GetInteger(0));
    result.outputs.push_back(std::move(sum));
    return result;
  };
  return script;
}

int64_t RunOn(Backend& backend, const Module& module, int64_t argument,
              const CompileOptions& options = {}) {
  Literal given(Shape::Scalar(ElementType::kS32));
  given.SetInteger(0, argument);
  const absl::StatusOr<RunResult> run = CompileAndRun(backend, module, {&given}, options);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? run->outputs[0].GetInteger(0) : -1;
}

TEST(RememberingBackendTest, AProgramIsCompiledOnceForAllInputs) {
  FakeBackend compiler(Adder());
  const std::unique_ptr<Backend> backend = Remembering(compiler);
  const std::unique_ptr<Module> one = Adding(1), two = Adding(2), one_more = Adding(1);
  EXPECT_EQ(RunOn(*backend, *one, 10), 11);
  EXPECT_EQ(RunOn(*backend, *two, 10), 12);
  EXPECT_EQ(RunOn(*backend, *one, 20), 21);
  EXPECT_EQ(RunOn(*backend, *one_more, 30), 31);
  EXPECT_EQ(compiler.compiles(), 2);
  EXPECT_EQ(compiler.runs(), 4);
}

TEST(RememberingBackendTest, OptionsMakeAnotherProgramOfIt) {
  FakeBackend compiler(Adder());
  const std::unique_ptr<Backend> backend = Remembering(compiler);
  const std::unique_ptr<Module> module = Adding(1);
  CompileOptions flag, quick, poisoned, defective, limited;
  flag.flags["xla_disable_hlo_passes"] = "algsimp";
  quick.limits.seconds = 1;
  poisoned.poison = true;
  defective.defect = "{}";
  limited.decision_limit = 3;
  int compiles = 0;
  for (const CompileOptions& options :
       {CompileOptions(), flag, quick, poisoned, defective, limited}) {
    RunOn(*backend, *module, 1, options);
    RunOn(*backend, *module, 2, options);
    EXPECT_EQ(compiler.compiles(), ++compiles);
  }
}

TEST(RememberingBackendTest, WhatWritesFilesOrIsRefusedIsAskedAgain) {
  FakeBackend::Script script = Adder();
  script.compile = [](const Module&, const CompileOptions& options) {
    return options.flags.empty() ? MakeError(ErrorClass::kCompileCrash, "died") : absl::OkStatus();
  };
  FakeBackend compiler(std::move(script));
  const std::unique_ptr<Backend> backend = Remembering(compiler);
  const std::unique_ptr<Module> module = Adding(1);
  CompileOptions dump;
  dump.flags["xla_dump_to"] = "somewhere";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ClassOf(backend->Compile(*module, {}).status()), ErrorClass::kCompileCrash);
    EXPECT_EQ(RunOn(*backend, *module, 1, dump), 2);
  }
  EXPECT_EQ(compiler.compiles(), 4);
}

TEST(RememberingBackendTest, TheOldestIsForgotten) {
  FakeBackend compiler(Adder());
  const std::unique_ptr<Backend> backend = Remembering(compiler, /*most=*/2);
  const std::unique_ptr<Module> one = Adding(1), two = Adding(2), three = Adding(3);
  const auto compiled = [&](const Module& module) {
    const int before = compiler.compiles();
    RunOn(*backend, module, 0);
    return compiler.compiles() > before;
  };
  EXPECT_TRUE(compiled(*one));
  EXPECT_TRUE(compiled(*two));
  EXPECT_FALSE(compiled(*one)) << "and now it is the last that was asked for";
  EXPECT_TRUE(compiled(*three));
  EXPECT_FALSE(compiled(*one));
  EXPECT_TRUE(compiled(*two));
}

}  // namespace
}  // namespace assay
