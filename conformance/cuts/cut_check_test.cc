// Verdicts by cuts on programs whose plain verdict is open: right ones pass, wrong ones fail in the
// stretch that is wrong.
#include "conformance/cuts/cut_check.h"

#include <gtest/gtest.h>

#include "conformance/testing/bent_oracle.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// x := sin(x w) for 60 trips, in which errors grow; then the larger of
// two sums.
constexpr char kProgram[] = R"(HloModule m

body {
  s = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4]{1,0} get-tuple-element(s), index=1
  w = f32[4,4]{1,0} get-tuple-element(s), index=2
  product = f32[4,4]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/while/dot_general" source_file="model.py" source_line=12}
  next_x = f32[4,4]{1,0} sine(product)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(next, next_x, w)
}
condition {
  s = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  trips = s32[] constant(60)
  ROOT go = pred[] compare(i, trips), direction=LT
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY main {
  p = f32[4,4]{1,0} parameter(0)
  w = f32[4,4]{1,0} parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(zero, p, w)
  loop = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) while(start), condition=condition, body=body
  y = f32[4,4]{1,0} get-tuple-element(loop), index=1
  z = f32[4,4]{1,0} dot(y, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  c = f32[] constant(0)
  sums = f32[4]{0} reduce(z, c), dimensions={1}, to_apply=add
  spread = f32[4,4]{1,0} broadcast(sums), dimensions={0}
  scaled = f32[4,4]{1,0} multiply(z, spread)
  more = pred[4,4]{1,0} compare(z, scaled), direction=GT
  ROOT out = f32[4,4]{1,0} select(more, z, scaled)
}
)";

Instruction* Named(Module& module, std::string_view name) {
  for (Computation* computation : module.computations())
    for (Instruction* instruction : *computation)
      if (instruction->name() == name) return instruction;
  return nullptr;
}

class CutCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    module_ = *ReadModule(kProgram);
    for (int k = 0; k < 2; ++k) {
      inputs_.emplace_back(Shape::Array(ElementType::kF32, {4, 4}));
      for (int64_t i = 0; i < 16; ++i)
        inputs_.back().SetDouble(i, k == 0 ? 0.1 * static_cast<double>(i) - 0.7
                                           : static_cast<double>(i * 7 % 16) / 2 - 3.7);
    }
  }

  // A backend that evaluates on the oracle, after `bend` has been at the program.
  std::unique_ptr<Backend> Bent(std::function<void(Module&)> bend) {
    return BentOracle(*oracle_, [bend = std::move(bend)](Module& module, const CompileOptions&) {
      bend(module);
    });
  }

  CutReport Check(Backend& backend, bool in_pieces = false,
                  int64_t sample = CutSubject::kSampleBig) {
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs_) arguments.push_back(&input);
    absl::StatusOr<RunResult> plain = CompileAndRun(backend, *module_, arguments, options_);
    EXPECT_TRUE(plain.ok()) << plain.status();
    plain_ = plain->outputs[0];
    return CheckByCuts({*module_,
                        arguments,
                        *oracle_,
                        backend,
                        Profile::Xla(),
                        options_,
                        Leaves(plain_),
                        {},
                        in_pieces,
                        {},
                        sample});
  }

  std::unique_ptr<Oracle> oracle_ = MakeOracle();
  std::unique_ptr<Module> module_;
  std::vector<Literal> inputs_;
  CompileOptions options_;
  Literal plain_;
};

TEST_F(CutCheckTest, DeepProgramPasses) {
  const std::unique_ptr<Backend> backend = Bent([](Module&) {});
  const CutReport report = Check(*backend);
  EXPECT_EQ(report.verdict, Verdict::kPass) << Describe(report);
  EXPECT_EQ(report.failed, 0);
  EXPECT_EQ(report.outputs_equal, 1);
  EXPECT_EQ(report.plain.elements, 16);
  // Without cuts it is open.
  absl::StatusOr<Expectation> expectation =
      oracle_->Expect(*module_, {&inputs_[0], &inputs_[1]}, Profile::Xla(), Limits{});
  ASSERT_TRUE(expectation.ok());
  EXPECT_EQ(Judge(*expectation, plain_).verdict, Verdict::kInconclusive);
}

// Hundreds of thousands of elements that are right say nothing of the one that is asked for.
TEST_F(CutCheckTest, AnOpenResultIsNotPassedForWhatIsInside) {
  module_ = *ReadModule(R"(HloModule m
add { x = f32[] parameter(0)
      y = f32[] parameter(1)
      ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  row = f32[1,4] slice(a), slice={[0:1], [0:4]}
  column = f32[4,1] slice(b), slice={[0:4], [0:1]}
  wide = f32[1,4,150] broadcast(row), dimensions={0,1}
  tall = f32[4,1,150] broadcast(column), dimensions={0,1}
  rows = f32[600,1] reshape(wide)
  columns = f32[1,600] reshape(tall)
  product = f32[600,600] dot(rows, columns), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(product, zero), dimensions={0,1}, to_apply=add
})");
  const std::unique_ptr<Backend> backend = Bent([](Module&) {});
  const CutReport report = Check(*backend);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive) << Describe(report);
  EXPECT_GT(report.elements, 100000);
  EXPECT_EQ(report.plain.inconclusive, 1);
}

// A large result that is decided, and one of 4 sums of which so many add up too many numbers for
// their bounds to be useful; the others add up zeros.
std::string OfWhichAreOpen(int64_t open) {
  return StrCat(R"(HloModule m
add { x = f32[] parameter(0)
      y = f32[] parameter(1)
      ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  all = f32[16] reshape(a)
  some = f32[)",
                open, R"(] slice(all), slice={[0:)", open, R"(]}
  zero = f32[] constant(0)
  padded = f32[4] pad(some, zero), padding=0_)",
                4 - open, R"(
  rows = f32[4,1] reshape(padded)
  long = f32[4,4,40000] broadcast(b), dimensions={0,1}
  columns = f32[1,640000] reshape(long)
  product = f32[4,640000] dot(rows, columns), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sums = f32[4] reduce(product, zero), dimensions={1}, to_apply=add
  ROOT t = (f32[4,640000], f32[4]) tuple(product, sums)
})");
}

TEST_F(CutCheckTest, TheShareOfOpenElementsIsAskedOfEachResult) {
  const std::unique_ptr<Backend> backend = Bent([](Module&) {});
  module_ = *ReadModule(OfWhichAreOpen(1));
  const CutReport one = Check(*backend);
  EXPECT_EQ(one.verdict, Verdict::kPass) << Describe(one);
  EXPECT_EQ(one.plain.inconclusive, 1);
  module_ = *ReadModule(OfWhichAreOpen(2));
  const CutReport two = Check(*backend);
  EXPECT_EQ(two.verdict, Verdict::kInconclusive) << Describe(two);
  EXPECT_NE(two.reason.find("among them 2 of 4 of output 1"), std::string::npos) << two.reason;
}

// Nothing useful bounds a sum of so many bf16 numbers that may be rounded at every step, in any
// order. One that a usual order gives is right all the same.
constexpr char kManyNarrow[] = R"(HloModule m
add { x = bf16[] parameter(0)
      y = bf16[] parameter(1)
      ROOT s = bf16[] add(x, y) }
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  narrow = bf16[4,4] convert(a)
  row = bf16[16] reshape(narrow)
  wide = bf16[16,70] broadcast(row), dimensions={0}
  zero = bf16[] constant(0)
  sum = bf16[] reduce(wide, zero), dimensions={0,1}, to_apply=add
  ROOT out = f32[] convert(sum)
})";

TEST_F(CutCheckTest, ASumThatAUsualOrderGivesIsRight) {
  module_ = *ReadModule(kManyNarrow);
  const std::unique_ptr<Backend> good = Bent([](Module&) {});
  const CutReport right = Check(*good);
  EXPECT_EQ(right.verdict, Verdict::kPass) << Describe(right);
  // The bound holds this, which no usual order gives.
  const std::unique_ptr<Backend> doubled = Bent([](Module& module) {
    Instruction* sum = Named(module, "sum");
    Instruction* wrong = sum->parent()->Add(Opcode::kAdd, sum->shape(), {sum, sum});
    sum->ReplaceAllUsesWith(wrong);
    wrong->ReplaceOperand(0, sum);
    wrong->ReplaceOperand(1, sum);
  });
  EXPECT_NE(Check(*doubled).verdict, Verdict::kPass);
}

// Two devices add up what each has made of its own x, 60 times; then each has a sum of its own.
constexpr char kDevices[] = R"(HloModule m, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
body {
  s = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4]{1,0} get-tuple-element(s), index=1
  w = f32[4,4]{1,0} get-tuple-element(s), index=2
  product = f32[4,4]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  all = f32[4,4]{1,0} all-reduce(product), replica_groups={{0,1}}, to_apply=add
  sum = f32[4,4]{1,0} add(all, x)
  next_x = f32[4,4]{1,0} sine(sum)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(next, next_x, w)
}
condition {
  s = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  trips = s32[] constant(60)
  ROOT go = pred[] compare(i, trips), direction=LT
}
ENTRY main {
  p = f32[4,4]{1,0} parameter(0)
  w = f32[4,4]{1,0} parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(zero, p, w)
  loop = (s32[], f32[4,4]{1,0}, f32[4,4]{1,0}) while(start), condition=condition, body=body
  y = f32[4,4]{1,0} get-tuple-element(loop), index=1
  ROOT z = f32[4,4]{1,0} dot(y, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
)";

TEST_F(CutCheckTest, DevicesAreCutTogether) {
  module_ = *ReadModule(kDevices);
  options_.devices.replicas = 2;
  const std::vector<std::vector<const Literal*>> arguments = {{&inputs_[0], &inputs_[1]},
                                                              {&inputs_[1], &inputs_[1]}};
  auto check = [&](Backend& backend) {
    auto executable = *backend.Compile(*module_, options_);
    const RunResult plain = *executable->Run(arguments);
    std::vector<const Literal*> leaves = {&plain.outputs[0], &plain.outputs[1]};
    CutSubject subject{*module_, arguments[0], *oracle_, backend, Profile::Xla(),
                       options_, leaves,       {},       false,   {}};
    subject.other_arguments = {arguments[1]};
    return CheckByCuts(subject);
  };
  const CutReport right = check(*Bent([](Module&) {}));
  EXPECT_EQ(right.verdict, Verdict::kPass) << Describe(right);
  EXPECT_EQ(right.outputs, 2);
  EXPECT_EQ(right.outputs_equal, 2);
  EXPECT_EQ(right.plain.elements, 32);
  // The sum of all devices leaves one of them out.
  const CutReport wrong = check(*Bent([](Module& module) {
    Instruction* all = Named(module, "all");
    all->ReplaceAllUsesWith(all->operand(0));
  }));
  ASSERT_EQ(wrong.verdict, Verdict::kFail) << Describe(wrong);
  EXPECT_NE(wrong.reason.find("loop"), std::string::npos) << wrong.reason;
  EXPECT_EQ(wrong.reason.find("product"), std::string::npos) << wrong.reason;
}

TEST_F(CutCheckTest, WrongOpInALoopIsNamed) {
  const std::unique_ptr<Backend> backend = Bent([](Module& module) {
    Instruction* sine = Named(module, "next_x");
    Instruction* wrong =
        sine->parent()->Add(Opcode::kTanh, sine->shape(), sine->operands(), sine->attributes());
    sine->ReplaceAllUsesWith(wrong);
  });
  const CutReport report = Check(*backend);
  ASSERT_EQ(report.verdict, Verdict::kFail) << Describe(report);
  // The state after each trip is wrong, the product that made it is not.
  for (const Stretch& stretch : report.stretches) {
    if (stretch.judgement.failed == 0) continue;
    EXPECT_EQ(stretch.name, "loop");
  }
  EXPECT_NE(report.smallest.find("next_x"), std::string::npos) << report.smallest;
}

TEST_F(CutCheckTest, CountsOfOneAreSingular) {
  CutReport report;
  report.captures = report.rounds = report.outputs = 1;
  EXPECT_EQ(
      Describe(report),
      "1 capture, 1 compilation, 0 of 0 elements undecided, 0 of 1 result as without captures");
}

TEST_F(CutCheckTest, StretchHasItsSource) {
  const std::unique_ptr<Backend> backend = Bent([](Module& module) {
    Instruction* dot = Named(module, "product");
    dot->mutable_attributes().Set(Attr::kLhsContractingDims, {0});
  });
  const CutReport report = Check(*backend);
  ASSERT_EQ(report.verdict, Verdict::kFail) << Describe(report);
  const auto first = std::find_if(report.stretches.begin(), report.stretches.end(),
                                  [](const Stretch& s) { return s.judgement.failed > 0; });
  EXPECT_EQ(first->name, "product");
  EXPECT_EQ(first->op_name, "jit(f)/while/dot_general");
  EXPECT_EQ(first->source, "model.py:12");
  EXPECT_EQ(first->instructions, std::vector<std::string>{"product"});
  EXPECT_NE(Describe(report).find("model.py:12"), std::string::npos);
}

TEST_F(CutCheckTest, WrongBehindTheLastCutFails) {
  const std::unique_ptr<Backend> backend = Bent([](Module& module) {
    Instruction* select = Named(module, "out");
    if (select == nullptr) return;
    Instruction *yes = select->operand(1), *no = select->operand(2);
    select->ReplaceOperand(1, no);
    select->ReplaceOperand(2, yes);
  });
  const CutReport report = Check(*backend);
  ASSERT_EQ(report.verdict, Verdict::kFail) << Describe(report);
  EXPECT_TRUE(report.stretches.back().is_output);
  EXPECT_GT(report.stretches.back().judgement.failed, 0);
}

TEST_F(CutCheckTest, WrongWithoutCapturesOnlyIsNoPass) {
  // Only the program without captures is bent, as by a fusion that goes wrong and that captures
  // prevent.
  const std::unique_ptr<Backend> backend = Bent([this](Module& module) {
    if (module.name() != module_->name() && module.name() != module_->name() + "-") return;
    Instruction* loop = Named(module, "scaled");
    Instruction* wrong = loop->parent()->Add(Opcode::kAdd, loop->shape(), loop->operands());
    loop->ReplaceAllUsesWith(wrong);
  });
  const CutReport report = Check(*backend);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive) << Describe(report);
  EXPECT_GT(report.plain.failed, 0);
  EXPECT_NE(report.reason.find("compiled otherwise"), std::string::npos) << report.reason;
}

// Capturing the product changes its last bits, and errors grow from trip to trip.
TEST_F(CutCheckTest, ACaptureThatMovesAResultIsLeftOut) {
  const std::unique_ptr<Backend> backend = Bent([](Module& module) {
    Instruction* product = Named(module, "product");
    if (product->users().size() < 2) return;
    Computation* body = product->parent();
    const Shape wide = Shape::Array(ElementType::kF64, {4, 4});
    std::vector<Instruction*> operands;
    for (Instruction* operand : product->operands())
      operands.push_back(body->Add(Opcode::kConvert, wide, {operand}));
    Instruction* exact = body->Add(Opcode::kDot, wide, operands, product->attributes());
    Literal near_one(wide);
    for (int64_t i = 0; i < near_one.element_count(); ++i) near_one.SetDouble(i, 1 + 0x1p-25);
    Instruction* other =
        body->Add(Opcode::kMultiply, wide, {exact, body->AddConstant(std::move(near_one))});
    product->ReplaceAllUsesWith(body->Add(Opcode::kConvert, product->shape(), {other}));
  });
  const CutReport report = Check(*backend);
  EXPECT_EQ(report.verdict, Verdict::kPass) << Describe(report);
  EXPECT_EQ(report.outputs_equal, 1);
  EXPECT_EQ(report.plain.passed, 16);
}

TEST(QuietCaptures, AreFoundInHalves) {
  const std::unique_ptr<Module> module = *ReadModule(kProgram);
  const std::vector<CapturePoint> points = AllPoints(*module);
  ASSERT_GE(points.size(), 7u);
  int trials = 0;
  QuietCaptures quiet(
      [&](const std::vector<CapturePoint>& tried) {
        ++trials;
        return std::find(tried.begin(), tried.end(), points[3]) == tried.end();
      },
      /*most_trials=*/100);
  EXPECT_TRUE(quiet.Grow(points));
  std::vector<CapturePoint> others = points;
  others.erase(others.begin() + 3);
  EXPECT_EQ(quiet.points(), others);
  EXPECT_LE(trials, 9);
  EXPECT_FALSE(quiet.Grow(points));
}

// The sum s is 2.998, rounded to 3: whoever reads it before that floors it to 2, so twice of it is
// 4 or 6. The compiler has rounded s, but t it read unrounded. So `doubled` is right only if s is
// read as it was seen, and r only if t is not; that r is right can be known only where both are.
constexpr char kTwoReadings[] = R"(HloModule m
narrow_add { x = bf16[] parameter(0)
             y = bf16[] parameter(1)
             ROOT s = bf16[] add(x, y) }
add { x = f32[] parameter(0)
      y = f32[] parameter(1)
      ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  left = f32[4,2] slice(a), slice={[0:4], [0:2]}
  right = f32[4,2] slice(b), slice={[0:4], [0:2]}
  narrow_left = bf16[4,2] convert(left)
  narrow_right = bf16[4,2] convert(right)
  none = bf16[] constant(0)
  zero = f32[] constant(0)
  s = bf16[4] reduce(narrow_left, none), dimensions={1}, to_apply=narrow_add
  whole = bf16[4] floor(s)
  wide_s = f32[4] convert(whole)
  two_s = f32[4,2] broadcast(wide_s), dimensions={0}
  doubled = f32[4] reduce(two_s, zero), dimensions={1}, to_apply=add
  t = bf16[4] reduce(narrow_right, none), dimensions={1}, to_apply=narrow_add
  wide_t = f32[4] convert(t)
  ROOT r = f32[4] add(doubled, wide_t)
})";

TEST_F(CutCheckTest, WhatOneReadingCallsRightHelpsTheOther) {
  module_ = *ReadModule(kTwoReadings);
  for (int64_t row = 0; row < 4; ++row) {
    inputs_[0].SetDouble(4 * row, 2.5);
    inputs_[0].SetDouble(4 * row + 1, 0.498046875);
    inputs_[1].SetDouble(4 * row, 0.1);
    inputs_[1].SetDouble(4 * row + 1, 0.0005);
  }
  const std::unique_ptr<Backend> backend = Bent([](Module& module) {
    const Instruction* t = Named(module, "t");
    Instruction* r = Named(module, "r");
    Computation* unit = r->parent();
    Instruction* terms =
        unit->Add(Opcode::kConvert, Shape::Array(ElementType::kF32, {4, 2}), {t->operand(0)});
    Instruction* unrounded = unit->Add(Opcode::kReduce, r->shape(), {terms, Named(module, "zero")},
                                       t->attributes(), {Named(module, "doubled")->callee()});
    r->ReplaceOperand(1, unrounded);
  });
  const CutReport report = Check(*backend);
  EXPECT_EQ(report.verdict, Verdict::kPass) << Describe(report);
}

TEST_F(CutCheckTest, PiecesAreCompiledOneByOne) {
  const std::unique_ptr<Backend> good = Bent([](Module&) {});
  const CutReport report = Check(*good, /*in_pieces=*/true);
  EXPECT_EQ(report.failed, 0) << Describe(report);
  // The product behind the loop, and the result.
  EXPECT_GE(report.rounds, 2);
  EXPECT_GE(report.captures, 1);
}

TEST_F(CutCheckTest, BackendWithoutCapturesLeavesTheVerdictOpen) {
  FakeBackend::Script script;
  script.description.name = "plain";
  script.compile = [](const Module& module, const CompileOptions&) {
    return module.entry()->root()->shape().IsTuple()
               ? MakeError(ErrorClass::kUnsupported, "one result is all there is")
               : absl::OkStatus();
  };
  script.run =
      [this](
          const Module& module, const CompileOptions&,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    RunResult result;
    result.outputs.push_back(*oracle_->Evaluate(module, arguments[0], Limits{}));
    return result;
  };
  FakeBackend backend(std::move(script));
  const CutReport report = Check(backend);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_NE(report.reason.find("one result is all there is"), std::string::npos) << report.reason;
}

TEST_F(CutCheckTest, JudgesASample) {
  const std::unique_ptr<Backend> good = Bent([](Module&) {});
  const CutReport passed = Check(*good, false, /*sample=*/8);
  EXPECT_EQ(passed.verdict, Verdict::kPass) << Describe(passed);
  EXPECT_GT(passed.not_sampled, 0);
  for (const Stretch& stretch : passed.stretches) {
    if (stretch.opcode != "dot") continue;
    EXPECT_GT(stretch.not_sampled, 0) << stretch.name;
    EXPECT_EQ((stretch.judgement.elements + stretch.not_sampled) % 16, 0) << stretch.name;
  }
  EXPECT_NE(Describe(passed).find("not sampled"), std::string::npos);
  const std::unique_ptr<Backend> wrong = Bent([](Module& module) {
    Named(module, "product")->mutable_attributes().Set(Attr::kLhsContractingDims, {0});
  });
  const CutReport failed = Check(*wrong, false, /*sample=*/8);
  EXPECT_EQ(failed.verdict, Verdict::kFail) << Describe(failed);
  EXPECT_EQ(Check(*good, false, /*sample=*/0).not_sampled, 0);
}

// In some orders the product underflows on the way, so that nothing can be said of it.
constexpr char kUnderflow[] = R"(HloModule m

multiply {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] multiply(a, b)
}
ENTRY main {
  x = f32[3]{0} parameter(0)
  one = f32[] constant(1)
  ROOT out = f32[] reduce(x, one), dimensions={0}, to_apply=multiply
}
)";

TEST_F(CutCheckTest, ComparesOpenElementsWithLegalEvaluations) {
  module_ = *ReadModule(kUnderflow);
  inputs_.assign(1, Literal(Shape::Array(ElementType::kF32, {3})));
  for (int64_t i = 0; i < 3; ++i) inputs_[0].SetDouble(i, i == 2 ? 1e15 : 1e-25);
  const std::unique_ptr<Backend> good = Bent([](Module&) {});
  const CutReport plausible = Check(*good);
  EXPECT_EQ(plausible.verdict, Verdict::kInconclusive);
  EXPECT_GE(plausible.drawn.draws, 2);
  EXPECT_GE(plausible.drawn.plausible, 1);
  EXPECT_EQ(plausible.drawn.suspect, 0) << Describe(plausible);
  // Far off: a hint, and no failure.
  const std::unique_ptr<Backend> far = Bent([](Module& module) {
    Literal hundred(Shape::Scalar(ElementType::kF32));
    hundred.SetDouble(0, 100);
    Named(module, "one")->set_literal(std::make_shared<const Literal>(hundred));
  });
  const CutReport suspect = Check(*far);
  EXPECT_EQ(suspect.verdict, Verdict::kInconclusive);
  EXPECT_EQ(suspect.failed, 0);
  EXPECT_EQ(suspect.drawn.plausible, 0) << Describe(suspect);
  EXPECT_GE(suspect.drawn.suspect, 1);
  EXPECT_NE(Describe(suspect).find("furthest out"), std::string::npos);
}

TEST(DrawnSpread, TellsTheSuspectFromThePlausible) {
  Literal seen(Shape::Array(ElementType::kF32, {4})), drawn(Shape::Array(ElementType::kF32, {4}));
  const double values[] = {1.9, 3.5, 7, 2};
  for (int64_t i = 0; i < 4; ++i) seen.SetDouble(i, values[i]);
  const ElementLists looked_at = {{0, 1, 3}};
  DrawnSpread spread(looked_at);
  for (double value : {1.0, 2.0, 1.5}) {
    for (int64_t i = 0; i < 4; ++i) drawn.SetDouble(i, value);
    spread.Add(0, drawn, seen, /*is_whole=*/true);
  }
  // From 1 to 2, and as much again to both sides.
  EXPECT_EQ(spread.plausible(), 2);
  EXPECT_EQ(spread.suspect(), 1);
  EXPECT_EQ(spread.furthest_element(), 1);
  EXPECT_EQ(spread.Describe(), "seen 3.5, legal evaluations give 1 to 2");
}

}  // namespace
}  // namespace assay
