// Files that hold a module in another form, several of them, or none at all.
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/files/module_parts.h"
#include "spec/files/other_files.h"
#include "spec/files/text_proto.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WriteTo(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

constexpr char kTwo[] =
    "// a comment\nHloModule first\nENTRY e { ROOT p = f32[4] parameter(0) }\n\n// -----\n\n"
    "// -----\nHloModule second\nENTRY e {\n  ROOT q = f32[4] paramete(0)\n}\n";

TEST(ModuleParts, EachIsNamedAndKeepsItsLines) {
  const std::string path = WriteTo("two.hlo", kTwo);
  EXPECT_THAT(ModulePathsOf(path), ElementsAre(path + "#first", path + "#second"));
  const auto first = LoadModule(path + "#first");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->name(), "first");
  EXPECT_THAT(std::string(LoadModule(path + "#second").status().message()),
              HasSubstr("two.hlo:10:19: error: unknown opcode 'paramete'"));
  EXPECT_THAT(std::string(LoadModule(path).status().message()),
              HasSubstr("holds 2 modules; name one: " + path + "#first, " + path + "#second"));
  EXPECT_THAT(std::string(LoadModule(path + "#third").status().message()),
              HasSubstr("none called third"));
}

TEST(ModuleParts, NumbersWhereNamesAreTakenOrMissing) {
  const auto names = [](std::string_view text) {
    std::string all;
    for (const ModulePart& part : PartsOf(text)) StrAppend(&all, part.name, " ");
    return all;
  };
  EXPECT_EQ(names("HloModule a\nx\nHloModule a\nx\n"), "1 2 ");
  EXPECT_EQ(names("ENTRY e {}\n// -----\nENTRY f {}"), "1 2 ");
  EXPECT_EQ(names("HloModule a, is_scheduled=true\nHloModule %b\n"), "a b ");
  EXPECT_EQ(names("HloModule a\n// -----\n// nothing\n"), "a ");
  EXPECT_EQ(names(""), "");
  const std::string one =
      WriteTo("one#part.hlo", "HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }\n");
  EXPECT_TRUE(LoadModule(one).ok());
}

constexpr char kMessage[] = R"(# proto-message: HloProto
hlo_module {
  name: "t"
  entry_computation_name: "op"
  entry_computation_id: 1
  device_assignment { replica_count: 2 computation_count: 1 }
  profile_info { profile_type: WINDOW source: "}" }
  computations {
    name: "op"
    id: 1
    root_id: 3
    instructions { name: "p" opcode: "parameter" id: 1 shape { element_type: F8E4M3FN dimensions: 4
      layout { minor_to_major: 0 } } sharding { type: REPLICATED } not_known { a: [1, 2] } }
    instructions { name: "c" opcode: "convert" id: 2 operand_ids: 1
      shape { element_type: C64 dimensions: 4 layout { minor_to_major: 0 } } }
    instructions { name: "a" opcode: "fft" id: 3 operand_ids: [2] fft_type: IFFT fft_length: 4
      shape { element_type: C64 dimensions: 4 layout { minor_to_major: 0 } } }
  }
  host_program_shape {
    parameters { element_type: F8E4M3FN dimensions: 4 layout { minor_to_major: 0 } }
    result { element_type: C64 dimensions: 4 layout { minor_to_major: 0 } }
  }
}
)";

TEST(TextProto, IsReadAsTheMessageThatItIs) {
  const auto module = LoadModule(WriteTo("m.pbtxt", kMessage));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->config().replica_count, 2);
  EXPECT_THAT(WriteModule(**module), HasSubstr("fft(%c), fft_type=IFFT, fft_length={4}"));
}

TEST(TextProto, TheEntrysShapesStandForThoseOfTheHost) {
  std::string text = kMessage;
  const size_t at = text.find("  host_program_shape");
  text.replace(at, text.size() - at, "}\n");
  const auto module = LoadModule(WriteTo("h.pbtxt", text));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->config().entry_layout, nullptr);
}

TEST(TextProto, ErrorsHaveTheirPlaces) {
  std::string text = kMessage;
  text.replace(text.find("id: 1\n  device"), 5, "id: x");
  EXPECT_THAT(std::string(LoadModule(WriteTo("w.pbtxt", text)).status().message()),
              HasSubstr("w.pbtxt:5:25: error: Expected integer"));
}

TEST(TextProto, IsNoHloText) {
  for (std::string_view text :
       {"HloModule m\n", "add { a = f32[] parameter(0) }", "add {\n  ROOT a = f32[] parameter(0) }",
        "ENTRY e {}", "add {}", "", "# nothing", "%add (a: f32[]) -> f32[] {", "a b",
        "HloModule: x"})
    EXPECT_FALSE(LooksLikeTextProto(text)) << text;
  for (std::string_view text : {"hlo_module {\n name: \"a\" }", "name: \"a\"", "# c\n\nid : 1",
                                "hlo { hlo_module { name: \"x\" } }"})
    EXPECT_TRUE(LooksLikeTextProto(text)) << text;
}

// Hostile texts are errors, however deep, cut or unbalanced they are.
TEST(TextProto, HostileTexts) {
  std::string deep, unknown;
  for (int i = 0; i < 100000; ++i) {
    deep += "shape { tuple_shapes { ";
    unknown += "x { ";
  }
  EXPECT_FALSE(BinaryOfTextProto("computations { instructions { " + deep).ok());
  EXPECT_FALSE(BinaryOfTextProto(unknown).ok());
  const std::string whole = kMessage;
  for (size_t i = 0; i < whole.size(); ++i) {
    BinaryOfTextProto(whole.substr(0, i)).IgnoreError();
    std::string changed = whole;
    for (char c : {'"', '{', '\\', '[', '\0', '#', ':'}) {
      changed[i] = c;
      BinaryOfTextProto(changed).IgnoreError();
    }
  }
}

TEST(OtherFiles, AreCalledByTheirName) {
  struct Row {
    const char* content;
    const char* expected;
  };
  const Row rows[] = {
      {"BufferAssignment:\nallocation 0: size 64\n", "a buffer assignment"},
      {"; ModuleID = 'm'\nsource_filename = \"m\"\n", "LLVM IR"},
      {"module @jit_f {\n}\n", "MLIR (StableHLO)"},
      {"000: kFusion fusion.1\n", "(thunks)"},
      {"\nTotal bytes used: 192 (192B)\n", "a list of a compiled program's buffers"},
      {"Memory Space: default (color=0)\n", "memory usage"},
      {"HloLiveRange (max 3):\n", "live ranges"},
      {"digraph G {\nrankdir = TB;\n", "drawing"},
      {"xla_dump_to: \"/d\"\n", "options"},
      {"\x7F"
       "ELF\x02\x01",
       "machine code"},
      {"PK\x03\x04rest", "arrays"},
  };
  for (const Row& row : rows) {
    const std::string path = WriteTo("other", row.content);
    EXPECT_THAT(std::string(LoadModule(path).status().message()), HasSubstr(row.expected));
  }
  EXPECT_EQ(WhatElseItIs("f", "some text"), "");
}

TEST(Warnings, InfeedsWithoutOrder) {
  const auto module = LoadModule(
      WriteTo("infeeds.hlo",
              "ENTRY e {\n  t = token[] after-all()\n  a = (f32[3], token[]) infeed(t)\n"
              "  b = (f32[3], token[]) infeed(t)\n  x = f32[3] get-tuple-element(a), index=0\n"
              "  y = f32[3] get-tuple-element(b), index=0\n  ROOT s = f32[3] add(x, y)\n}\n"));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<VerifyError> warnings = FindWarnings(**module);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0].message, HasSubstr("nothing orders it after the infeed of a"));
}

}  // namespace
}  // namespace assay
