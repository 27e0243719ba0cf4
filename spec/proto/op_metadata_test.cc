// Metadata and stacks as data.
#include "spec/proto/op_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(HloModule m

FileNames
1 "dir/a.py"
2 "b \"c\".py"

FunctionNames
1 "main"
2 "inner"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=13 column=4 end_column=30}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=2 parent_frame_id=5}
4 {file_location_id=2 parent_frame_id=4}
5 {file_location_id=9 parent_frame_id=1}


ENTRY %e (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  %a = f32[2]{0} negate(%x), metadata={op_type="neg" op_name="jit(f)/neg" stack_frame_id=2}
  %b = f32[2]{0} negate(%a), metadata={op_name="n" profile_type={1} source_file="a.py" source_line=3 stack_frame_id=3}
  %c = f32[2]{0} negate(%b), metadata={op_name="n" stack_frame_id=5}
  ROOT %d = f32[2]{0} negate(%c), metadata={op_name="n" stack_frame_id=6}
}
)";

TEST(OpMetadata, IsReadAndSet) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  Instruction* a = (*module)->entry()->root()->operand(0)->operand(0)->operand(0);
  const Instruction& x = *a->operand(0);
  EXPECT_TRUE(*MetadataOf(x) == OpMetadata());
  OpMetadata metadata = *MetadataOf(*a);
  EXPECT_EQ(metadata.op_type, "neg");
  EXPECT_EQ(metadata.op_name, "jit(f)/neg");
  EXPECT_EQ(metadata.stack_frame_id, 2);
  metadata.op_name = "a \"b\"";
  metadata.source_file = "f.py";
  metadata.source_line = 5;
  ASSERT_TRUE(SetMetadata(*a, metadata).ok());
  EXPECT_TRUE(*MetadataOf(*a) == metadata);
  EXPECT_THAT(WriteModule(**module),
              HasSubstr("metadata={op_type=\"neg\" op_name=\"a \\\"b\\\"\" source_file=\"f.py\" "
                        "source_line=5 stack_frame_id=2}"));
  // Metadata without a field here is kept.
  Instruction* b = (*module)->entry()->root()->operand(0)->operand(0);
  ASSERT_TRUE(SetMetadata(*b, *MetadataOf(*b)).ok());
  EXPECT_THAT(b->attributes().String(Attr::kMetadata), HasSubstr("profile_type={1}"));
  ASSERT_TRUE(SetMetadata(*a, OpMetadata()).ok());
  EXPECT_FALSE(a->attributes().Has(Attr::kMetadata));
}

TEST(OpMetadata, StacksAreFollowedOutward) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  // The binary form and back has the same.
  absl::StatusOr<std::unique_ptr<Module>> again = ReadModuleProto(*WriteModuleProto(**module));
  ASSERT_TRUE(again.ok()) << again.status();
  for (const Module* one : {module->get(), again->get()}) {
    const Instruction* d = one->entry()->root();
    const Instruction *c = d->operand(0), *b = c->operand(0), *a = b->operand(0);
    const auto stack = CallStackOf(*a);
    ASSERT_TRUE(stack.ok()) << stack.status();
    ASSERT_EQ(stack->size(), 2u);
    EXPECT_TRUE((*stack)[0] == (SourceLocation{"b \"c\".py", "inner", 7, 7, 1, 9}));
    EXPECT_TRUE((*stack)[1] == (SourceLocation{"dir/a.py", "main", 12, 13, 4, 30}));
    EXPECT_TRUE(CallStackOf(*a->operand(0))->empty());
    EXPECT_THAT(std::string(CallStackOf(*b).status().message()), HasSubstr("calls itself"));
    EXPECT_THAT(std::string(CallStackOf(*c).status().message()), HasSubstr("no place of frame 5"));
    EXPECT_THAT(std::string(CallStackOf(*d).status().message()), HasSubstr("no stack frame 6"));
  }
}

}  // namespace
}  // namespace assay
