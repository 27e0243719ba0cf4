// Tests which texts the reader accepts, and where and how it says that one is wrong.
#include "spec/text/reader.h"
#include "spec/files/load_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "spec/base/strings.h"
#include "spec/text/testing/corpus.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TestData(const std::string& name) {
  return ReadWholeFile(std::filesystem::path(ASSAY_SOURCE_DIR) / "spec" / "text" / "testdata" /
                       name);
}

std::unique_ptr<Module> MustRead(std::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// A module around one or more instructions; x is f32[2], t a tuple, n an s32 scalar.
std::string InEntry(std::string_view instructions) {
  return StrCat(
      "HloModule m\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT c = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[2] parameter(0)\n"
      "  t = (f32[], s32[7]) parameter(1)\n  n = s32[] parameter(2)\n  ",
      instructions, "\n}\n");
}

TEST(Reader, ShortForm) {
  std::string text = TestData("short_form.hlo");
  std::unique_ptr<Module> module = MustRead(text);
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
  EXPECT_EQ(module->entry()->name(), "main.1");
  EXPECT_EQ(module->entry()->parameter_count(), 3);
  EXPECT_EQ(WriteModule(*module, WriteOptions::Short()), text);
}

TEST(Reader, LongFormWithCompactTupleAccess) {
  std::unique_ptr<Module> module = MustRead(TestData("long_form.hlo"));
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
  EXPECT_TRUE(module->config().is_scheduled);
  EXPECT_THAT(module->config().stack_tables, HasSubstr("file_location_id=1"));
  // Each path is one get-tuple-element, before its first use.
  const Instruction* root = module->entry()->root();
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kGetTupleElement);
  EXPECT_EQ(root->operand(0)->tuple_index(), 1);
  EXPECT_EQ(root->operand(0)->name(), "loop.1_1");
  std::string text = WriteModule(*module);
  EXPECT_THAT(text, HasSubstr("\"known_trip_count\":{\"n\":\"3\"}"));
  EXPECT_EQ(WriteModule(*MustRead(text)), text);
}

// Each row has instructions that are accepted in InEntry, and how the last of them is written.
TEST(Reader, Dialects) {
  const std::pair<const char*, const char*> rows[] = {
      {"ROOT y = add(abs(x), multiply(x, x))", "y = f32[2] add(abs.anon, multiply.anon)"},
      {"ROOT %y = f32[2]{0} add(f32[2]{0} %x, f32[2] x)", "y = f32[2]{0} add(x, x)"},
      {"y = f32[2] batch-norm-inference(x, x, x, x, x), epsilon=0.00100000002, feature_index=0",
       "y = f32[2] batch-norm-inference(x, x, x, x, x), epsilon=0.001, feature_index=0"},
      {"ROOT y = (f32[], f32[]) tuple(t#0, %t#0)", "y = (f32[], f32[]) tuple(t_0, t_0)"},
      {"y = f32[2]{0} /* c */ negate(x) // to the end", "y = f32[2]{0} negate(x)"},
      {"y = f32[] reduce(x, t#0), to_apply={ p = f32[] parameter(0)\n q = f32[] parameter(1)\n "
       "r = add(p, q) }, dimensions={0}",
       "y = f32[] reduce(x, t_0), dimensions={0}, to_apply=_"},
      {"y = f32[2]{0:T(2,*)(1)L(4)E(16)S(5)SC(0:1,2)M(8)} copy(x)",
       "y = f32[2]{0:T(2,*)(1)L(4)E(16)S(5)SC(0:1,2)M(8)} copy(x)"},
      {"y = u32[]{:S(2)} constant(4294967295)", "y = u32[]{:S(2)} constant(4294967295)"},
      {"y = f32[<=2,?] bitcast(x)", "y = f32[<=2,?] bitcast(x)"},
      {"y = f32[3] constant({...})", "y = f32[3] constant({...})"},
      {"y = f32[2] custom-call(x), custom_call_target=\"a\\\"b\", backend_config=\"{\", "
       "sharding={devices=[2,1]<=[2]}, operand_layout_constraints={f32[2]{0}}",
       "y = f32[2] custom-call(x), custom_call_target=\"a\\\"b\", "
       "operand_layout_constraints={f32[2]{0}}, sharding={devices=[2,1]<=[2]}, "
       "backend_config=\"{\""},
      {"y = f32[2] custom-call(x), custom_call_target=\"\", backend_config={num = 3 : i32, s = "
       "\"}\"}",
       "y = f32[2] custom-call(x), custom_call_target=\"\", backend_config={num = 3 : i32, s = "
       "\"}\"}"},
      {"y = f32[2] all-reduce(x), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), "
       "use_global_device_ids=true, to_apply=sum",
       "y = f32[2] all-reduce(x), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), "
       "use_global_device_ids=true, to_apply=sum"},
      {"y = f32[2] all-reduce(x), replica_groups=mesh['a'=2,'b'=4] {'a'}, to_apply=sum",
       "y = f32[2] all-reduce(x), replica_groups=mesh['a'=2,'b'=4] {'a'}, to_apply=sum"},
      {"z = token[] after-all()\n  y = f32[2] negate(x), control-predecessors={z}, "
       "metadata={op_name=\"a{\"}",
       "y = f32[2] negate(x), control-predecessors={z}, metadata={op_name=\"a{\"}"},
      {"y = f32[3] pad(x, t#0), padding=-1_2", "y = f32[3] pad(x, t_0), padding=-1_2"},
      {"y = pred[2] compare(x, x), direction=LT, type=FLOAT",
       "y = pred[2] compare(x, x), direction=LT"},
      {"y = ((), token[], opaque[], b(f32[4]{0})) custom-call(), custom_call_target=\"z\"",
       "y = ((), token[], opaque[], b(f32[4]{0})) custom-call(), custom_call_target=\"z\""},
  };
  WriteOptions options = WriteOptions::Short();
  options.metadata = true;
  for (const auto& [text, written] : rows) {
    SCOPED_TRACE(text);
    std::unique_ptr<Module> module = MustRead(InEntry(text));
    if (module == nullptr) continue;
    EXPECT_EQ(WriteInstruction(*module->entry()->root(), options), written);
    std::string whole = WriteModule(*module);
    EXPECT_EQ(WriteModule(*MustRead(whole)), whole);
  }
}

// Some printers put blanks into shapes.
TEST(Reader, ShapesWithBlanks) {
  const std::unique_ptr<Module> module = MustRead(
      "ENTRY e {\n  p = f32 [3,2] parameter(0)\n  b = b (f32 [2]) custom-call(), "
      "custom_call_target=\"CreateBuffer\"\n"
      "  q = (f32 [ 3 , 2 ], s32 []) parameter(1)\n"
      "  ROOT r = f32[ 3 , 2 ]{1,0} negate(f32 [3,2] p)\n}\n");
  EXPECT_EQ(module->entry()->parameter(0)->shape().ToString(), "f32[3,2]");
  EXPECT_EQ(module->entry()->parameter(1)->shape().ToString(), "(f32[3,2], s32[])");
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "f32[3,2]");
}

TEST(Reader, ApiVersionUnspecifiedIsTheOriginalOne) {
  const std::unique_ptr<Module> module = MustRead(
      "ENTRY e { ROOT r = f32[2] custom-call(), custom_call_target=\"f\", "
      "api_version=API_VERSION_UNSPECIFIED }");
  EXPECT_FALSE(module->entry()->root()->attributes().Has(Attr::kApiVersion));
}

TEST(Reader, ModulesWithoutHeader) {
  EXPECT_EQ(MustRead("ENTRY f { x = f32[] parameter(0) }")->name(), "module_f");
  EXPECT_EQ(MustRead("a { x = f32[] parameter(0) }\nb { y = f32[] parameter(0) }")->entry()->name(),
            "b");
  std::unique_ptr<Module> single = MustRead("y = f32[2] add(f32[2] a, f32[2] %b)");
  EXPECT_EQ(single->entry()->parameter_count(), 2);
  EXPECT_TRUE(Verify(*single).ok()) << Verify(*single);
}

TEST(Reader, ParametersInAnyOrder) {
  std::unique_ptr<Module> module = MustRead(
      "ENTRY f {\n c = f32[] parameter(2)\n b = f32[] parameter(1)\n a = f32[] parameter(0)\n}");
  ASSERT_EQ(module->entry()->parameter_count(), 3);
  EXPECT_EQ(module->entry()->parameter(2)->name(), "c");
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
}

// '@' marks the place of the error.
struct Rejection {
  const char* text;
  const char* message;
};

void ExpectRejected(const std::string& marked, const std::string& message) {
  SCOPED_TRACE(marked);
  size_t at = marked.find('@');
  ASSERT_NE(at, std::string::npos);
  std::string text = marked;
  text.erase(at, 1);
  std::vector<Diagnostic> diagnostics;
  auto module = ReadModule(text, {}, &diagnostics);
  ASSERT_FALSE(module.ok());
  ASSERT_FALSE(diagnostics.empty());
  size_t line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  line_start = line_start == std::string::npos ? 0 : line_start + 1;
  EXPECT_EQ(diagnostics[0].line,
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  EXPECT_EQ(diagnostics[0].column, static_cast<int64_t>(at - line_start) + 1);
  EXPECT_THAT(diagnostics[0].ToString(), HasSubstr(message));
  EXPECT_EQ(diagnostics.size(), 1u) << module.status();
}

TEST(Reader, RejectsInstructions) {
  const Rejection rows[] = {
      {"y = f32[2] @frobnicate(x)", "unknown opcode 'frobnicate'"},
      {"y = f32[2] @negate-start(x)", "needs a written shape ((arguments), result, ...)"},
      {"y = ((f32[2]), f32[2]) @subtract-start(x)", "takes another number"},
      {"y = f32[2] @all-reduce-update(x)", "unknown opcode 'all-reduce-update'"},
      {"y = ((f32[2]), f32[2]) @send-start(x)", "unknown opcode 'send-start'"},
      {"y = ((f32[2]), f32[2]) @negate-begin(x)", "unknown opcode 'negate-begin'"},
      {"y = f32[2] negate @x)", "'(' after negate"},
      {"y = f32[2] negate(x @; x)", "',' or ')' after an operand"},
      {"y = f32[2] negate(@z)", "operand z is not defined before its use"},
      {"y = f32[2] negate(@y)", "operand y is not defined before its use"},
      {"y = f32[2] negate(@a)", "operand a is not defined before its use"},
      {"y = f32[2] @add(x)", "add takes 2 operands, 1 given"},
      {"y = f32[2] batch-norm-inference(x, x, x, x, x), epsilon=@1e39, feature_index=0",
       "'1e39' is no finite number"},
      {"y = f32[2] @negate()", "negate takes 1 operand, 0 given"},
      {"y = f32[2] negate(@x#0)", "x is no tuple"},
      {"y = f32[] negate(@t#2)", "element 2 of t, a tuple of 2"},
      {"y = f32[] negate(@t#-1)", "element -1 of t"},
      {"y = f32[] negate(t#@)", "an integer"},
      {"y = @reshape(x)", "the result shape of reshape must be written"},
      {"y = f32[2] negate(@f32[3] x)", "operand x has shape f32[2], not f32[3]"},
      {"y = f32[2] negate(@s32[2] x)", "operand x has shape f32[2], not s32[2]"},
      {"y = f32[2] negate(x), @dimensions={0}", "negate has no attribute dimensions"},
      {"y = f32[] reduce(x, t#0), dimensions={0}, @dimensions={0}, to_apply=sum", "given twice"},
      {"y = f32[] @reduce(x, t#0), to_apply=sum", "reduce needs the attribute dimensions"},
      {"y = f32[] @reduce(x, t#0), dimensions={0}", "reduce needs the attribute to_apply"},
      {"y = f32[] reduce(x, t#0), dimensions={0}, to_apply=@main",
       "computation main is not defined"},
      {"y = f32[2] sort(x), dimensions=@{}, to_apply=sum", "dimensions has 0 entries"},
      {"y = f32[2] sort(x), dimensions=@{0,1}, to_apply=sum", "dimensions has 2 entries"},
      {"y = f32[2] sort(x), dimensions={0}, is_stable=@1, to_apply=sum", "true or false"},
      {"y = s32[2] iota(), iota_dimension=@true", "an integer"},
      {"y = f32[1] slice(x), slice=@[0:1]", "'{' after slice="},
      {"y = pred[2] compare(x, x), direction=@XX", "'XX' is no direction"},
      {"y = f32[2] fusion(x), kind=@kBig, calls=sum", "'kBig' is no kind"},
      {"y = f32[2] @conditional(n, x), true_computation=sum, false_computation=sum",
       "conditional needs the attribute branch_computations"},
      {"y = f32[2] reduce-window(x, t#0), window=@{stride=1}, to_apply=sum",
       "the window has no size"},
      {"y = f32[2] reduce-window(x, t#0), window=@{size=2 stride=1x1}, to_apply=sum",
       "stride has 2 entries, the size has 1"},
      {"y = f32[2] reduce-window(x, t#0), window=@{size=2 pad=0_0_0}, to_apply=sum",
       "no value of window field pad"},
      {"y = f32[2] reduce-window(x, t#0), window={size=2 @size=2}, to_apply=sum", "given twice"},
      {"y = f32[2] reduce-window(x, t#0), window=@{size=2 depth=1}, to_apply=sum",
       "unknown window field depth"},
      {"y = f32[2] convolution(x, x), dim_labels=@bf0_0io->bb0", "are no dimension labels"},
      {"y = f32[2] convolution(x, x), dim_labels=@b0f_01io->b0f", "are no dimension labels"},
      {"y = f32[2] convolution(x, x), dim_labels=@b1f_1io->b1f", "are no dimension labels"},
      {"y = f32[2] collective-permute(x), source_target_pairs={{0,1},@0}", "'{'"},
      {"y = f32[2] negate(x), control-predecessors={@q}", "control predecessor q is not defined"},
      {"y = f32[2] negate(x), metadata=@{op_name=\"a}", "bracket is not closed"},
      {"@x = f32[2] parameter(3)", "a second instruction is called x"},
      {"@f32 = f32[2] negate(x)", "'f32' is an element type"},
      {"@__y = f32[2] negate(x)", "begins with two underscores"},
      {"y = f32[2] parameter(@-1)", "the number of a parameter is negative"},
      {"y = f32[2] @parameter(3), parameter_replication={true,false}",
       "has 2 entries; the shape has 1"},
      {"y = @f33[2] negate(x)", "unknown element type 'f33'"},
      {"y = f32[@-1] negate(x)", "size of a dimension is negative"},
      {"y = f32[@a] negate(x)", "the size of a dimension"},
      {"y = f32[2]@{0,1} negate(x)", "layout of 2 dimensions on an array of rank 1"},
      {"y = f32[2]@{1} negate(x)", "no permutation"},
      {"y = f32[2]{0:@Q(1)} negate(x)", "unknown layout property 'Q'"},
      {"y = f32[2]{0:@P(f32[2])} negate(x)", "no physical shape"},
      {"y = f32[2]{0:#(@s32)} negate(x)", "unsigned integers"},
      {"y = f32[2]{0:@S1} negate(x)", "unknown layout property 'S1'"},
      {"y = f32[2]{0:S@[1]} negate(x)", "'(' after a layout property"},
      {"y = b(@) negate(x)", "a shape"},
      {"y = b(f32[2]@, f32[2]) negate(x)", "')' after the array of a buffer"},
      {"y = f32[2] all-reduce(x), channel_id=@99999999999999999999999, to_apply=sum",
       "does not fit 64 bits"},
      {"y = f32[2] negate(x) @/* open", "a comment that does not end"},
  };
  for (const Rejection& row : rows) ExpectRejected(InEntry(row.text), row.message);
}

TEST(Reader, RejectsLiterals) {
  const Rejection rows[] = {
      {"y = f32[2] constant({1@})", "dimension 0 of f32[2] has 2 entries; this level has 1"},
      {"y = f32[2] constant({1, 2, @3})", "more than the 2 entries"},
      {"y = f32[2] constant(@1)", "braces 1 deep"},
      {"y = f32[2] constant({@{1, 2}})", "a value of f32"},
      {"y = f32[1,2] constant({@1, 2})", "braces 2 deep"},
      {"y = u4[] constant(@-1)", "out of the range of u4"},
      {"y = s4[] constant(@8)", "out of the range of s4"},
      {"y = u32[] constant(@4294967296)", "out of the range of u32"},
      {"y = s64[] constant(@9223372036854775808)", "out of the range of s64"},
      {"y = s32[] constant(@1.5)", "not an integer"},
      {"y = f16[] constant(@65520)", "out of the range of f16"},
      {"y = bf16[] constant(@1e100)", "out of the range of bf16"},
      {"y = f64[] constant(@1.8e308)", "no number that f64 can hold"},
      {"y = f8e4m3fn[] constant(@500)", "out of the range of f8e4m3fn"},
      {"y = s8[] constant(@-inf)", "out of the range of s8"},
      {"y = f4e2m1fn[] constant(@nan)", "has no NaN"},
      {"y = bf16[] constant(@nan(0x80))", "fit 7 bits"},
      {"y = f32[] constant(@nan(0x0))", "non-zero"},
      {"y = f8e4m3fn[] constant(@nan(0x1))", "have no payload"},
      {"y = f32[] constant(@(1, 2))", "a value of f32"},
      {"y = c64[] constant(@1)", "(real, imaginary)"},
      {"y = pred[] constant(@maybe)", "true, false, 0 or 1"},
      {"y = f32[] constant(@{...})", "cannot be left out"},
      {"y = token[] constant(@token)", "cannot be written"},
      {"y = f32[1000000000] constant(@{1})", "fewer values than the 1000000000"},
      {"y = (f32[], f32[]) constant((1@))", "a value of f32"},
      {"y = constant(@1)", "the shape of a constant must be written"},
  };
  for (const Rejection& row : rows) ExpectRejected(InEntry(row.text), row.message);
}

TEST(Reader, RejectsModules) {
  const Rejection rows[] = {
      {"@", "the text is empty"},
      {"  \n\t@", "the text is empty"},
      {"@!$%", "a computation"},
      {"HloModule m\n@", "the module has no computation"},
      {"HloModule@", "the module's name"},
      {"HloModule m, is_scheduled=@1\nENTRY e { x = f32[] parameter(0) }", "true or false"},
      {"HloModule m, is_scheduled=true, @is_scheduled=true\nENTRY e { x = f32[] parameter(0) }",
       "given twice"},
      {"HloModule m, @num_partition=2\nENTRY e { x = f32[] parameter(0) }",
       "a module has no attribute num_partition; did you mean 'num_partitions'?"},
      {"HloModule m, @zzz=2\nENTRY e { x = f32[] parameter(0) }", "a header has is_scheduled, "},
      {"HloModule m, replica_count=@0\nENTRY e { x = f32[] parameter(0) }", "must be positive"},
      {"HloModule m, input_output_alias={ {0}: @0 }\nENTRY e { x = f32[] parameter(0) }", "'('"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, @nil) }\nENTRY e { x = f32[] parameter(0) }",
       "may-alias or must-alias"},
      {"HloModule m, buffer_donor={ (0@) }\nENTRY e { x = f32[] parameter(0) }", "','"},
      {"HloModule m\n\nFileNames\n1 \"a\"\n@ENTRY e { x = f32[] parameter(0) }", "FunctionNames"},
      {"ENTRY e @{ x = f32[] parameter(0)", "is not closed"},
      {"ENTRY e {@}", "has no instruction"},
      {"ENTRY e {\n  ROOT x = f32[] parameter(0)\n  @ROOT y = f32[] negate(x)\n}", "a second ROOT"},
      {"ENTRY e { x = f32[] parameter(0) }\n@ENTRY f { x = f32[] parameter(0) }", "a second ENTRY"},
      {"e { x = f32[] parameter(0) }\n@e { x = f32[] parameter(0) }", "a second computation"},
      {"ENTRY e @(x: f32[]) -> f32[2] { x = f32[] parameter(0) }", "its root x has shape f32[]"},
      {"ENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] parameter(0)\n@}",
       "two parameters numbered 0"},
      {"HloModule a\nENTRY e { x = f32[] parameter(0) }\n@HloModule b", "a second module"},
      {"x = f32[] negate(f32[] y)\n@z = f32[] negate(x)", "after a single instruction"},
      {"x = f32[] negate(@y)", "needs its shape"},
  };
  for (const Rejection& row : rows) ExpectRejected(row.text, row.message);
}

TEST(Reader, NulByteIsNamed) {
  std::string text = InEntry("y = f32[2] negate(x)");
  text[text.find("negate") - 1] = '\0';
  EXPECT_THAT(std::string(ReadModule(text).status().message()), HasSubstr("NUL byte"));
}

TEST(Reader, ShowsTheLineAndGoesOn) {
  std::string text =
      "ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[2] sine(q)\n  z = f32[2] nope(y)\n"
      "  w = f32[2] negate(y)\n  ROOT v = f32[2] add(x, r)\n}\n";
  ReadOptions options;
  options.file_name = "file.hlo";
  std::vector<Diagnostic> diagnostics;
  absl::Status status = ReadModule(text, options, &diagnostics).status();
  // Uses of what could not be read are no errors of their own.
  ASSERT_EQ(diagnostics.size(), 3u) << status;
  EXPECT_EQ(diagnostics[0].ToString(),
            "file.hlo:3:19: error: operand q is not defined before its use in computation main\n"
            "    y = f32[2] sine(q)\n"
            "                    ^");
  EXPECT_EQ(diagnostics[1].line, 4);
  EXPECT_EQ(diagnostics[2].line, 6);
}

// The verifier's errors have the places of a text, also where a name was made unique.
// A body that ends on the line of an error ends there, and what follows is read as what it is.
TEST(Reader, ABraceBehindAnErrorEndsTheBody) {
  const absl::Status status = ReadModule(R"(HloModule m
f { a = s32[] parameter(0)
  ROOT r = s32[] add(a, nowhere), metadata={op_name="}"} }
ENTRY e { x = s32[] parameter(0)
  ROOT r = s32[] call(x), to_apply=f }
)")
                                  .status();
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("nowhere"));
  EXPECT_THAT(message, Not(HasSubstr("second ROOT")));
  EXPECT_THAT(message, Not(HasSubstr("numbered 0")));
  // One brace too many ends nothing: the next error is reported too.
  const absl::Status two = ReadModule(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)
  s = f32[1] slice(x, y), slice={[0:1]}}
  ROOT r = f32[1] negate(nowhere)
}
)")
                               .status();
  EXPECT_THAT(std::string(two.message()), HasSubstr("nowhere"));
}

TEST(LoadModule, TheVerifierShowsTheLine) {
  const std::string path = testing::TempDir() + "/verifier_places.hlo";
  std::ofstream(path) << "HloModule m, input_output_alias={ {}: (7, {}) }\n"
                         "f {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n"
                         "ENTRY e {\n  x = f32[2] parameter(0)\n  k = f32[3] parameter(1)\n"
                         "  y = f32[2] add(x, k)\n  ROOT z = f32[3] call(x), to_apply=f\n}\n";
  const std::string message(LoadModule(path).status().message());
  EXPECT_THAT(
      message,
      HasSubstr(path +
                ":4:8: error: computation f, instruction y: negate: the written shape is "
                "f32[3], the operands give f32[2]\n    ROOT y = f32[3] negate(x)\n         ^\n"));
  EXPECT_THAT(message,
              HasSubstr(path + ":9:3: error: computation e, instruction y.1: add: dimension 0 "
                               "differs: 2 in operand 0 (f32[2]), 3 in operand 1 (f32[3])\n"
                               "    y = f32[2] add(x, k)\n    ^\n"));
  EXPECT_THAT(message,
              HasSubstr(path + ":1:14: error: input_output_alias: there is no parameter 7"));
}

TEST(LoadModule, ARankHasALimit) {
  const std::string path = testing::TempDir() + "/rank_limit.hlo";
  for (int rank : {1000, 1001}) {
    std::string sizes = "1";
    for (int i = 1; i < rank; ++i) sizes += ",1";
    std::ofstream(path) << "HloModule m\nENTRY e { ROOT x = f32[" << sizes << "] parameter(0) }\n";
    absl::Status status = LoadModule(path).status();
    EXPECT_EQ(status.ok(), rank == 1000) << status;
    if (!status.ok()) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("1001 dimensions, more than 1000"));
    }
  }
}

TEST(Reader, StopsAtTheLimitOfDiagnostics) {
  std::string text = "ENTRY main {\n";
  for (int i = 0; i < 50; ++i) StrAppend(&text, "  v", i, " = f32[] nope()\n");
  text += "}\n";
  std::vector<Diagnostic> diagnostics;
  EXPECT_FALSE(ReadModule(text, {}, &diagnostics).ok());
  EXPECT_EQ(diagnostics.size(), 10u);
}

std::string Repeat(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(Reader, NestingHasALimit) {
  for (int depth : {500, 100000}) {
    std::string shape = Repeat("(", depth) + "f32[]" + Repeat(")", depth);
    std::string operands = Repeat("abs(", depth) + "x" + Repeat(")", depth);
    std::string inline_bodies =
        Repeat("y = f32[] map(x), dimensions={}, to_apply={ x = f32[] parameter(0) ", depth);
    std::string closing = Repeat("}", depth);
    for (const std::string& text :
         {InEntry("y = " + shape + " custom-call(), custom_call_target=\"c\""),
          InEntry("y = abs(" + operands + ")"),
          "ENTRY e { x = f32[] parameter(0) " + inline_bodies + closing + "}"}) {
      absl::Status status = ReadModule(text).status();
      if (depth == 500) {
        EXPECT_TRUE(status.ok()) << status.message().substr(0, 300);
      } else {
        EXPECT_THAT(std::string(status.message()), HasSubstr("nested deeper than the limit"));
      }
    }
  }
}

TEST(Reader, ShapesLeftOutCannotGrowExponentially) {
  std::string text = "t0 = (f32[], f32[]) tuple(t#0, t#0)\n";
  for (int i = 1; i < 64; ++i) {
    StrAppend(&text, "  t", i, " = tuple(t", i - 1, ", t", i - 1, ")\n");
  }
  EXPECT_THAT(std::string(ReadModule(InEntry(text)).status().message()),
              HasSubstr("the shapes that the text leaves out are too large"));
}

// Cuts, doubled pieces and flipped bytes: whatever is read must write and read again.
TEST(Reader, DamagedText) {
  std::vector<std::string> texts = {TestData("short_form.hlo"), TestData("long_form.hlo")};
  std::vector<CorpusFile> corpus = CorpusFiles();
  for (size_t i = 0; i < corpus.size(); i += 23) {
    if (corpus[i].text.size() < 20000) texts.push_back(corpus[i].text);
  }
  uint64_t state = 20260101;
  auto random = [&state](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>((state >> 33) % below);
  };
  int readable = 0, total = 0;
  auto check = [&](const std::string& text) {
    ++total;
    auto module = ReadModule(text);
    if (!module.ok()) return;
    ++readable;
    std::string written = WriteModule(**module);
    auto again = ReadModule(written);
    ASSERT_TRUE(again.ok()) << again.status() << "\nfrom\n" << text << "\nwritten\n" << written;
    EXPECT_EQ(WriteModule(**again), written) << text;
  };
  for (const std::string& text : texts) {
    for (int round = 0; round < 300; ++round) {
      size_t at = random(text.size());
      size_t length = random(std::min<size_t>(text.size() - at, 80)) + 1;
      check(text.substr(0, at));
      check(text.substr(0, at) + text.substr(at, length) + text.substr(at));
      check(text.substr(0, at) + text.substr(at + length));
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << random(8));
      check(flipped);
      if (HasFatalFailure()) return;
    }
  }
  std::printf("damaged text: %d variants, %d of them readable\n", total, readable);
  EXPECT_GT(readable, 0);
}

}  // namespace
}  // namespace assay
