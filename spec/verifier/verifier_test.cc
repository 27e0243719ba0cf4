// Tests modules built by hand with a broken structure, which no text can express or no reader lets
// through.
#include "spec/verifier/verifier.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/types/literal.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const Shape kF32 = Shape::Array(ElementType::kF32, {2});
const Shape kS32 = Shape::Scalar(ElementType::kS32);

std::string ErrorOf(const Module& module, const VerifyOptions& options = {}) {
  return std::string(Verify(module, options).message());
}

// An entry that negates its parameter.
Computation* AddNegation(Module& module, std::string_view name) {
  Computation* computation = module.AddComputation(name);
  Instruction* parameter = computation->AddParameter(0, kF32);
  computation->set_root(computation->Add(Opcode::kNegate, kF32, {parameter}));
  return computation;
}

TEST(VerifierTest, AcceptsASoundModule) {
  Module module("m");
  AddNegation(module, "main");
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
}

TEST(VerifierTest, NeedsAnEntryAndARoot) {
  Module empty("m");
  EXPECT_THAT(ErrorOf(empty), HasSubstr("module m has no entry computation"));
  Module module("m");
  module.AddComputation("main")->AddParameter(0, kF32);
  EXPECT_THAT(ErrorOf(module), HasSubstr("computation main: there is no root"));
}

TEST(VerifierTest, ParametersAreContiguousAndUnique) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  main->AddParameter(0, kF32, "a");
  main->set_root(main->AddParameter(0, kF32, "b"));
  EXPECT_THAT(ErrorOf(module), HasSubstr("instruction b: parameter number 0 is also that of a"));

  Module negative("m");
  Computation* entry = negative.AddComputation("main");
  entry->set_root(entry->AddParameter(-1, kF32, "a"));
  EXPECT_THAT(ErrorOf(negative), HasSubstr("instruction a: parameter number -1 is negative"));

  Module huge("m");
  Computation* far = huge.AddComputation("main");
  far->set_root(far->AddParameter(int64_t{1} << 60, kF32, "a"));
  EXPECT_THAT(ErrorOf(huge), HasSubstr("there are 1 parameters but none has number 0"));
}

TEST(VerifierTest, OperandsBelongToTheComputation) {
  Module module("m");
  Computation* main = AddNegation(module, "main");
  Computation* other = module.AddComputation("other");
  other->set_root(other->Add(Opcode::kNegate, kF32, {main->root()}, {}, {}, "thief"));
  EXPECT_THAT(ErrorOf(module),
              HasSubstr("computation other, instruction thief: operand 0 (negate) belongs to "
                        "computation main"));
  other->set_root(main->root());
  EXPECT_THAT(ErrorOf(module),
              HasSubstr("computation other: the root negate belongs to computation main"));
}

TEST(VerifierTest, FindsCyclesOfOperandsAndOfControlEdges) {
  Module module("m");
  Computation* main = AddNegation(module, "main");
  Instruction* first = main->root();
  Instruction* second = main->Add(Opcode::kNegate, kF32, {first});
  first->ReplaceOperand(0, second);
  EXPECT_THAT(ErrorOf(module), HasSubstr("depends on itself"));

  Module control("m");
  Computation* entry = AddNegation(control, "main");
  Instruction* after = entry->Add(Opcode::kNegate, kF32, {entry->root()});
  entry->root()->AddControlPredecessor(after);
  EXPECT_THAT(ErrorOf(control), HasSubstr("depends on itself"));
}

TEST(VerifierTest, DefinitionMayComeAfterUse) {
  Module module("m");
  Computation* main = AddNegation(module, "main");
  main->MoveBefore(main->root(), main->parameter(0));
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
  module.config().is_scheduled = true;
  EXPECT_THAT(ErrorOf(module),
              HasSubstr("is_scheduled: an instruction comes before one that it depends on"));
}

TEST(VerifierTest, RefusesRecursion) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Computation* helper = module.AddComputation("helper");
  for (Computation* computation : {main, helper}) {
    Instruction* parameter = computation->AddParameter(0, kF32);
    Computation* callee = computation == main ? helper : main;
    computation->set_root(computation->Add(Opcode::kCall, kF32, {parameter}, {}, {callee}));
  }
  EXPECT_THAT(ErrorOf(module), HasSubstr("calls itself, directly or through others"));
}

TEST(VerifierTest, AttributesFitTheRow) {
  Module module("m");
  Computation* main = AddNegation(module, "main");
  Instruction* root = main->root();
  root->mutable_attributes().Set(Attr::kIotaDimension, 0);
  EXPECT_THAT(ErrorOf(module), HasSubstr("negate takes no attribute iota_dimension"));

  Module missing("m");
  Computation* entry = AddNegation(missing, "main");
  entry->set_root(entry->Add(Opcode::kReverse, kF32, {entry->root()}));
  EXPECT_THAT(ErrorOf(missing), HasSubstr("reverse: attribute dimensions is missing"));
  entry->root()->mutable_attributes().Set(Attr::kDimensions, 0);
  EXPECT_THAT(ErrorOf(missing), HasSubstr("attribute dimensions holds a value of the wrong kind"));
  entry->root()->mutable_attributes().Set(Attr::kDimensions, {0});
  EXPECT_TRUE(Verify(missing).ok()) << Verify(missing);
}

TEST(VerifierTest, CalleeCountFollowsTheForm) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* parameter = main->AddParameter(0, kF32);
  Computation* helper = AddNegation(module, "helper");
  main->set_root(main->Add(Opcode::kWhile, kF32, {parameter}, {}, {helper}));
  EXPECT_THAT(ErrorOf(module), HasSubstr("while: calls 2 computations, has 1"));
  main->set_root(main->Add(Opcode::kNegate, kF32, {parameter}, {}, {helper}));
  EXPECT_THAT(ErrorOf(module), HasSubstr("negate: calls 0 computations, has 1"));
}

TEST(VerifierTest, ConstantsHoldALiteralOfTheirShape) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* constant = main->AddConstant(Literal::Scalar(ElementType::kS32, int32_t{7}), "c");
  main->set_root(constant);
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
  constant->mutable_shape() = Shape::Scalar(ElementType::kF32);
  EXPECT_THAT(ErrorOf(module),
              HasSubstr("instruction c: the literal is s32[], the constant f32[]"));
  constant->mutable_shape() = kS32;
  constant->set_literal(nullptr);
  EXPECT_THAT(ErrorOf(module), HasSubstr("instruction c: the value is elided"));
}

TEST(VerifierTest, ShapesAreSane) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  main->set_root(main->AddParameter(0, Shape::Array(ElementType::kF32, {-3}), "a"));
  EXPECT_THAT(ErrorOf(module), HasSubstr("dimension 0 of f32[-3] has the negative size -3"));
  main->root()->mutable_shape().set_element_type(ElementType::kInvalid);
  EXPECT_THAT(ErrorOf(module), HasSubstr("the shape is missing"));
  main->root()->mutable_shape() = kF32;
  main->root()->mutable_shape().set_layout(Layout(absl::Span<const int64_t>({1})));
  EXPECT_THAT(ErrorOf(module), HasSubstr("is not a permutation of its dimensions"));
}

TEST(VerifierTest, DoublingTuplesStaySmall) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* at = main->AddParameter(0, kF32);
  absl::Status status;
  for (int i = 0; i < 64 && status.ok(); ++i) {
    auto next = main->AddInferred(Opcode::kTuple, std::vector<Instruction*>{at, at});
    status = next.status();
    if (status.ok()) at = *next;
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("elements, more than 65536"));
}

TEST(VerifierTest, LongChainsNeedNoStack) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* at = main->AddParameter(0, kF32);
  for (int i = 0; i < 200000; ++i) at = main->Add(Opcode::kNegate, kF32, {at});
  main->set_root(at);
  EXPECT_TRUE(Verify(module).ok());
  main->MoveBefore(at, main->parameter(0));
  EXPECT_TRUE(Verify(module).ok());
}

TEST(VerifierTest, ReportsSeveralErrorsUpToTheLimit) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* at = main->AddParameter(0, kF32);
  for (int i = 0; i < 5; ++i) at = main->Add(Opcode::kNegate, kS32, {at});
  main->set_root(at);
  const std::string message = ErrorOf(module, {.max_errors = 1});
  EXPECT_THAT(message, HasSubstr("negate: the written shape is s32[], the operands give f32[2]"));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << message;
  main->Add(Opcode::kNegate, kF32, {at});
  EXPECT_THAT(ErrorOf(module, {.max_errors = 1}), HasSubstr("\n... and 1 more"));
}

TEST(VerifierTest, LayoutsCountOnlyWhenAskedFor) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Shape tuple = Shape::Tuple({Shape::Array(ElementType::kF32, {2, 3})});
  Instruction* parameter = main->AddParameter(0, tuple);
  Shape column_major = Shape::Array(ElementType::kF32, {2, 3});
  column_major.set_layout(Layout(absl::Span<const int64_t>({0, 1})));
  main->set_root(main->Add(Opcode::kGetTupleElement, column_major, {parameter},
                           Attributes().Set(Attr::kIndex, 0)));
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
  EXPECT_THAT(ErrorOf(module, {.layout_sensitive = true}),
              HasSubstr("the written layout is f32[2,3]{0,1}, the operands give f32[2,3]{1,0}"));
}

// Exactly the ops without a shape rule are named, whichever they are.
TEST(VerifierTest, UnsupportedNamesOps) {
  for (const OpInfo& info : AllOps()) {
    Module module("m");
    Computation* main = AddNegation(module, "main");
    EXPECT_TRUE(Unsupported(module).empty());
    main->Add(info.opcode, Shape::Array(ElementType::kF32, {2}), {main->root()});
    EXPECT_EQ(Unsupported(module).empty(), info.IsDefined()) << info.name;
  }
}

}  // namespace
}  // namespace assay
