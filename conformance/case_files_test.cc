// Tests which files of a folder count as cases, and how their arrays are loaded or drawn.
#include "conformance/case_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "conformance/inputs/random_literal.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(testing::TempDir() + "/assay_" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr char kModule[] = R"(HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  p = (s32[], bf16[2]) parameter(1)
  i = s32[] get-tuple-element(p), index=0
  ROOT t = (f32[2], s32[]) tuple(x, i)
}
)";

std::unique_ptr<Module> Read(const char* text) {
  auto module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

TEST(FindCases, TakesModulesWithTheirArraysInOrder) {
  Folder folder("find_cases");
  folder.Write("b.hlo", "");
  folder.Write("a.hlo", "");
  folder.Write("a.npz", "");
  folder.Write("a.opt.hlo", "");
  folder.Write("notes.txt", "");
  folder.Write("module_0001.jit_f.before_optimizations.txt", "");
  auto cases = FindCases(folder.path());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 3u);
  EXPECT_EQ((*cases)[0].name, "a");
  EXPECT_EQ((*cases)[0].arrays_path, folder.path() + "/a.npz");
  EXPECT_EQ((*cases)[1].name, "b");
  EXPECT_EQ((*cases)[1].arrays_path, "");
  auto optimized = FindCases(folder.path() + "/a.opt.hlo");
  ASSERT_TRUE(optimized.ok());
  EXPECT_EQ(optimized->front().arrays_path, folder.path() + "/a.npz");
}

TEST(FindCases, TakesTheBinaryFormWhereThereIsNoText) {
  Folder folder("find_binary_cases");
  for (const char* name : {"a.hlo.pb", "a.hlo", "b.hlo.pb", "b.npz", "c.hlo.pb.gz", "c.hlo.pb",
                           "d.pb", "module_0001.jit_f.before_optimizations.txt",
                           "module_0001.jit_f.before_optimizations.hlo.pb",
                           "module_0002.jit_g.before_optimizations.hlo.pb",
                           "module_0002.jit_g.cpu_after_optimizations.hlo.pb"}) {
    folder.Write(name, "");
  }
  auto cases = FindCases(folder.path());
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::vector<std::string> names;
  for (const CaseFile& file : *cases) {
    names.push_back(std::filesystem::path(file.module_path).filename().string());
  }
  EXPECT_THAT(names, testing::ElementsAre("a.hlo", "b.hlo.pb", "c.hlo.pb",
                                          "module_0001.jit_f.before_optimizations.txt",
                                          "module_0002.jit_g.before_optimizations.hlo.pb"));
  EXPECT_THAT((*cases)[1].arrays_path, HasSubstr("b.npz"));
}

// A program that is written in part for one device has a meaning once the partitioner is done.
TEST(FindCases, TakesTheFormOfOneDeviceOfAShardMap) {
  Folder folder("find_shard_maps");
  for (const char* module : {"module_0001.jit_f", "module_0002.jit_g", "module_0003.jit_h"}) {
    const std::string start = StrCat(folder.path(), "/", module);
    std::ofstream(start + ".before_optimizations.txt")
        << (module[10] == '3' ? "" : "custom_call_target=\"xla.sdy.GlobalToLocalShape\"");
    std::ofstream(start + ".cpu_after_optimizations.txt") << "";
  }
  folder.Write("module_0001.jit_f.0006.spmd.after_spmd-partitioning.before_dce.txt", "");
  auto cases = FindCases(folder.path());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 3u);
  EXPECT_EQ((*cases)[0].name, "module_0001.jit_f.0006.spmd.after_spmd-partitioning.before_dce");
  EXPECT_EQ((*cases)[1].name, "module_0002.jit_g.cpu_after_optimizations");
  EXPECT_EQ((*cases)[2].name, "module_0003.jit_h.before_optimizations");
}

TEST(FindCases, SaysWhatIsNotThere) {
  Folder folder("find_none");
  EXPECT_THAT(std::string(FindCases(folder.path()).status().message()), HasSubstr("no module"));
  EXPECT_FALSE(FindCases(folder.path() + "/missing.hlo").ok());
}

TEST(LoadArrays, FillsParametersLeafByLeaf) {
  Folder folder("load_arrays");
  auto module = Read(kModule);
  Literal x(Shape::Array(ElementType::kF32, {2})), i(Shape::Scalar(ElementType::kS32));
  Literal codes(Shape::Array(ElementType::kU16, {2}));  // bf16 is stored as its code
  x.SetDouble(1, 2.5);
  i.SetInteger(0, 7);
  codes.SetBits(0, 0x3F80);
  std::string path = folder.path() + "/m.npz";
  ASSERT_TRUE(
      WriteNpz(path, {{"in0", &x}, {"in1", &i}, {"in2", &codes}, {"out0", &x}, {"out1", &i}}).ok());
  auto arrays = LoadArrays(*module, path, 1);
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_FALSE(arrays->generated);
  ASSERT_EQ(arrays->arguments.size(), 2u);
  EXPECT_EQ(arrays->arguments[0].GetDouble(1), 2.5);
  EXPECT_EQ(arrays->arguments[1].elements()[0].GetInteger(0), 7);
  EXPECT_EQ(arrays->arguments[1].elements()[1].GetDouble(0), 1.0);
  EXPECT_EQ(arrays->stored.size(), 2u);
}

TEST(LoadArrays, NamesWhatDoesNotFit) {
  Folder folder("load_bad");
  auto module = Read(kModule);
  Literal wrong(Shape::Array(ElementType::kF32, {3})), i(Shape::Scalar(ElementType::kS32));
  std::string path = folder.path() + "/m.npz";
  ASSERT_TRUE(WriteNpz(path, {{"in0", &wrong}}).ok());
  EXPECT_THAT(std::string(LoadArrays(*module, path, 1).status().message()), HasSubstr("'in0'"));
  Literal right(Shape::Array(ElementType::kF32, {2}));
  ASSERT_TRUE(WriteNpz(path, {{"in0", &right}}).ok());
  EXPECT_THAT(std::string(LoadArrays(*module, path, 1).status().message()), HasSubstr("'in1'"));
}

// An array that is not looked at must not count as judged.
TEST(LoadArrays, NamesWhatIsTooMuchAndWhatIsMissing) {
  Folder folder("load_names");
  const auto module = Read(
      "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(x)\n"
      "  ROOT r = (f32[2], f32[2]) tuple(y, x)\n}\n");
  const Literal x(Shape::Array(ElementType::kF32, {2}));
  const std::string path = folder.path() + "/m.npz";
  struct Row {
    std::vector<const char*> names;
    const char* error;
  };
  for (const Row& row : std::vector<Row>{
           {{"in0", "output0", "Out0"},
            "the array 'output0' is none of this module's, which has in0 "
            "and out0 to out1"},
           {{"in0", "in1"}, "the array 'in1' is none of this module's"},
           {{"in0", "in00"}, "the array 'in00' is none of this module's"},
           {{"in0", "out0_dx"}, "the array 'out0_dx' is none of this module's"},
           {{"in0", "out1"},
            "the arrays have no 'out0', which should be f32[2]; they have in0, out1"},
           {{"in0", "out0"}, "the arrays have no 'out1'"},
           {{"in0_d0", "in0_d1", "out0_d1", "out1_d1"}, "the arrays have no 'out0'"},
           {{"in0_d0", "in0_d1", "out0_d0", "out1_d0"}, "the arrays have no 'out0_d1'"},
           {{"out0", "out1"}, "the arrays have no 'in0'"}}) {
    std::vector<std::pair<std::string, const Literal*>> arrays;
    for (const char* name : row.names) arrays.emplace_back(name, &x);
    ASSERT_TRUE(WriteNpz(path, arrays).ok());
    EXPECT_THAT(std::string(LoadArrays(*module, path, 1).status().message()), HasSubstr(row.error));
  }
}

TEST(LoadArrays, AnArrayThatIsTooLargeIsNotUnpacked) {
  Folder folder("load_large");
  const auto module = Read("HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n");
  const Literal large(Shape::Array(ElementType::kF32, {1 << 20}));
  const std::string path = folder.path() + "/m.npz";
  ASSERT_TRUE(WriteNpz(path, {{"in0", &large}}).ok());
  EXPECT_THAT(std::string(LoadArrays(*module, path, 1).status().message()),
              HasSubstr("bytes where f32[2] takes 8"));
}

TEST(RandomLiteral, OfATokenIsUnsupportedNotZero) {
  const auto token = RandomLiteral(Shape::Token(), ValueRule(), 1, 0);
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(ClassOf(token.status()), ErrorClass::kUnsupported);
  EXPECT_NE(token.status().message().find("token[]"), absl::string_view::npos) << token.status();
}

TEST(LoadArrays, DrawsForTheDevicesOfTheHeader) {
  const std::string entry = "\nENTRY main {\n  ROOT x = f32[2] parameter(0)\n}\n";
  const auto loaded = [&](const std::string& header) {
    return LoadArrays(*Read((header + entry).c_str()), "", 1);
  };
  auto four = loaded("HloModule m, replica_count=2, num_partitions=2\n");
  ASSERT_TRUE(four.ok()) << four.status();
  EXPECT_EQ(four->devices.replicas, 2);
  EXPECT_EQ(four->devices.partitions, 2);
  EXPECT_EQ(four->arguments.size(), 4u);
  EXPECT_NE(four->arguments[0].ToString(), four->arguments[1].ToString());
  EXPECT_EQ(loaded("HloModule m\n")->arguments.size(), 1u);
  EXPECT_THAT(std::string(loaded("HloModule m, replica_count=100000\n").status().message()),
              HasSubstr("more than 1024 devices"));
}

// The drawn argument of a parameter on each device.
std::vector<Literal> Drawn(const std::string& text, int64_t parameter, uint64_t seed) {
  const auto module = Read(text.c_str());
  auto loaded = LoadArrays(*module, "", seed);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  std::vector<Literal> drawn;
  const int64_t each = module->entry()->parameter_count();
  for (size_t at = static_cast<size_t>(parameter); loaded.ok() && at < loaded->arguments.size();
       at += static_cast<size_t>(each))
    drawn.push_back(loaded->arguments[at]);
  return drawn;
}

TEST(LoadArrays, DrawsRowsThatDevicesAgreeOn) {
  const std::string text = R"(HloModule m, replica_count=2
ENTRY e {
  p = f32[8,2] parameter(0)
  t = (s32[2], s32[2]) parameter(1)
  o = f32[9,2] parameter(2)
  io = s32[2] get-tuple-element(t), index=0
  s = s32[2] get-tuple-element(t), index=1
  oo = s32[2] parameter(3)
  r = s32[2] parameter(4)
  ROOT x = f32[9,2] ragged-all-to-all(p, o, io, s, oo, r), replica_groups={{0,1}}
}
)";
  int64_t rows = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Literal> given = Drawn(text, 1, seed), onto = Drawn(text, 3, seed),
                               expected = Drawn(text, 4, seed);
    ASSERT_EQ(given.size(), 2u);
    for (size_t sender : {0, 1}) {
      for (int64_t receiver : {0, 1}) {
        const int64_t from = given[sender].elements()[0].GetInteger(receiver);
        const int64_t size = given[sender].elements()[1].GetInteger(receiver);
        const int64_t to = onto[sender].GetInteger(receiver);
        EXPECT_EQ(size,
                  expected[static_cast<size_t>(receiver)].GetInteger(static_cast<int64_t>(sender)));
        EXPECT_TRUE(size >= 0 && from >= 0 && to >= 0 && from + size <= 8 && to + size <= 9);
        rows += size;
      }
    }
  }
  EXPECT_GT(rows, 0);
}

TEST(LoadArrays, DrawsSizesAndPlacesThatAreThere) {
  const auto is_within = [](const std::string& line, const std::string& type, int64_t lo,
                            int64_t hi, size_t count) {
    const std::string text = StrCat(
        "HloModule m, replica_count=2\nadd {\n  a = f32[] parameter(0)\n  b = f32[] "
        "parameter(1)\n  ROOT c = f32[] add(a, b)\n}\nENTRY e {\n  x = f32[50] parameter(0)\n"
        "  n = ",
        type, " parameter(1)\n  u = f32[10] parameter(2)\n  ROOT r = ", line, "\n}\n");
    std::set<int64_t> seen;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      for (const Literal& drawn : Drawn(text, 1, seed))
        for (int64_t i = 0; i < drawn.element_count(); ++i) seen.insert(drawn.GetInteger(i));
    }
    EXPECT_GE(*seen.begin(), lo) << line;
    EXPECT_LE(*seen.rbegin(), hi) << line;
    EXPECT_GE(seen.size(), count) << line;
  };
  is_within("f32[<=50] set-dimension-size(x, n), dimensions={0}", "s32[]", 0, 50, 8);
  is_within("f32[50] collective-broadcast(x, n), replica_groups={{1,0}}, has_dynamic_root=true",
            "s32[1]", 0, 1, 2);
}

TEST(LoadArrays, DrawsTokensAndArraysOfDynamicSize) {
  const std::string text = R"(HloModule m
ENTRY e {
  t = token[] parameter(0)
  x = f32[<=4] parameter(1)
  ROOT r = f32[<=4] negate(x)
}
)";
  EXPECT_TRUE(Drawn(text, 0, 1)[0].shape().IsToken());
  EXPECT_EQ(Drawn(text, 1, 1)[0].element_count(), 4);
}

TEST(LoadArrays, ArraysWithoutADeviceAreForAllThatMeet) {
  Folder folder("load_arrays_of_all");
  Literal x(Shape::Array(ElementType::kF32, {2}));
  const std::string path = folder.path() + "/m.npz";
  ASSERT_TRUE(WriteNpz(path, {{"in0", &x}}).ok());
  const auto devices = [&](const char* root) {
    const std::string text = StrCat(
        "HloModule m, replica_count=2\nENTRY main {\n  x = f32[2] parameter(0)\n", root, "}\n");
    auto loaded = LoadArrays(*Read(text.c_str()), path, 1);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? loaded->arguments.size() : 0;
  };
  EXPECT_EQ(devices("  ROOT y = f32[2] collective-permute(x), source_target_pairs={{0,1}}\n"), 2u);
  EXPECT_EQ(devices("  ROOT y = f32[2] negate(x)\n"), 1u);
}

TEST(LoadArrays, DrawsTheSameFromTheSameSeed) {
  auto module = Read(kModule);
  auto one = LoadArrays(*module, "", 5), same = LoadArrays(*module, "", 5),
       other = LoadArrays(*module, "", 6);
  ASSERT_TRUE(one.ok() && same.ok() && other.ok());
  EXPECT_TRUE(one->generated);
  EXPECT_TRUE(one->arguments[0].BitwiseEqual(same->arguments[0]));
  EXPECT_FALSE(one->arguments[0].BitwiseEqual(other->arguments[0]));
}

TEST(RandomLiteral, StaysInItsRange) {
  ValueRule rule;
  rule.lo = -3;
  rule.hi = 5;
  auto ints = RandomLiteral(Shape::Array(ElementType::kS8, {1000}), rule, 1, 0);
  ASSERT_TRUE(ints.ok());
  int64_t low = 100, high = -100;
  for (int64_t i = 0; i < 1000; ++i) {
    low = std::min(low, ints->GetInteger(i));
    high = std::max(high, ints->GetInteger(i));
  }
  EXPECT_EQ(low, -3);
  EXPECT_EQ(high, 4);
  rule.sorted = true;
  auto floats = RandomLiteral(Shape::Array(ElementType::kF32, {2, 50}), rule, 1, 0);
  ASSERT_TRUE(floats.ok());
  for (int64_t i = 1; i < 50; ++i) EXPECT_LE(floats->GetDouble(i - 1), floats->GetDouble(i));
}

// The values themselves are part of the contract: they are the same on every machine.
TEST(RandomLiteral, IsAFunctionOfTheSeedAlone) {
  ValueRule rule;
  rule.lo = 0;
  rule.hi = 1 << 30;
  auto drawn = RandomLiteral(Shape::Array(ElementType::kS32, {3}), rule, 42, 7);
  ASSERT_TRUE(drawn.ok());
  EXPECT_EQ(drawn->ToString(), "{51938733, 387442967, 810768170}");
}

TEST(RandomLiteral, RefusesWhatItCannotDraw) {
  ValueRule rule;
  EXPECT_FALSE(RandomLiteral(Shape::Token(), rule, 1, 0).ok());
  rule.hi = rule.lo;
  EXPECT_FALSE(RandomLiteral(Shape::Array(ElementType::kF32, {3}), rule, 1, 0).ok());
}

}  // namespace
}  // namespace assay
