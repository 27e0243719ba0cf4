// Replica groups and shardings: read, printed, expanded, rejected.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/attributes/sharding_text.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

struct Printed {
  const char* text;
  const char* printed;  // "": as the text
};

TEST(DevicesTest, ShardingsPrintCanonically) {
  const Printed rows[] = {
      {"{replicated}", ""},
      {"{manual}", ""},
      {"{unknown}", ""},
      {"{unreduced}", ""},
      {"{maximal device=3}", ""},
      {"{ maximal device = 3 }", "{maximal device=3}"},
      {"{maximal device=-1}", ""},
      {"{devices=[2,1]0,1}", ""},
      {"{devices=[2,2]3,2,1,0}", ""},
      {"{devices=[2,1]<=[2]}", ""},
      {"{devices=[4,2]<=[2,4]T(1,0)}", ""},
      {"{devices=[2,2]<=[4]T(0)}", "{devices=[2,2]<=[4]}"},
      {"{devices=[2,1,2]<=[4] last_tile_dim_replicate}", ""},
      {"{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}", ""},
      {"{devices=[2,2]<=[4] last_tile_dims={replicated}}",
       "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
      {"{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}", ""},
      {"{devices=[2,1]<=[2] shard_as 4}", ""},
      {"{replicated shard_like 1}", ""},
      {"{replicated metadata={op_name=\"a}b\"}}", ""},
      {"{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}", ""},
      {"{}", ""},
      {"{{replicated}}", ""},
      {"{{replicated}, {devices=[2]<=[2]}, {manual}, {maximal device=0}, {unknown}, {replicated}}",
       "{{replicated}, {devices=[2]<=[2]}, {manual}, {maximal device=0}, {unknown}, "
       "/*index=5*/{replicated}}"},
      {"{mesh['a'=2,'b'=4], [{'a'}, {'b':(2)2, ?}, {}]}", ""},
      {"{mesh[\"a\"=2,\"b\"=4], [{\"1\"}]}", "{mesh['a'=2,'b'=4], [{'b'}]}"},
      {"{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a', 'b'}]}", ""},
      {"{mesh['a'=8,'b'=8], device_ids=([4,16]T(1,0)), [{?}]}", ""},
      {"{mesh['a'=2], [{}], replicated={'a'}}", ""},
      {"{mesh['a'=2,'b'=2], [{}], unreduced={'b'}, manual={'a'}}", ""},
      {"{mesh['a'=2], replicated}", ""},
      {"{mesh['a'=2], manual}", ""},
      {"{mesh['a'=2], unreduced=max}", ""},
      {"{maximal_mesh[device_id=3]}", ""},
      {"{mesh['a'=2], [{'a'}], metadata={op_name=\"x\"}}", ""},
  };
  for (const Printed& row : rows) {
    SCOPED_TRACE(row.text);
    const absl::StatusOr<Sharding> read = ReadSharding(row.text);
    ASSERT_TRUE(read.ok()) << read.status().message();
    std::string printed;
    AppendSharding(printed, *read);
    const std::string_view wanted = *row.printed == '\0' ? row.text : row.printed;
    EXPECT_EQ(printed, wanted);
    const absl::StatusOr<Sharding> again = ReadSharding(printed);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(*again, *read);
  }
}

struct Rejected {
  const char* text;
  const char* message;
};

// hlo-format chapter 7, "must be rejected" 15.
TEST(DevicesTest, BadShardingsSayWhy) {
  const Rejected rows[] = {
      {"{devices=[2,2]0,1,2}", "the device tile has 4 places, 3 devices are listed"},
      {"{devices=[1,1]0}", "at least 2 entries"},
      {"{devices=[2]0,0}", "device 0 is listed twice"},
      {"{devices=[2,2]<=[8]}", "the iota lists 8 devices, the tile has 4"},
      {"{devices=[4]<=[2,2]}", "needs T(permutation)"},
      {"{devices=[4]<=[2,2]T(0)}", "has 1 entries, the iota 2 dimensions"},
      {"{devices=[4]<=[2,2]T(0,2)}", "no permutation"},
      {"{devices=[0,2]<=[2]}", "size 0"},
      {"{devices=[1000000,1000000]<=[1000000000000]}", "more than 131072 devices"},
      {"{replicated devices=[2]0,1}", "second kind"},
      {"{manual device=1}", "only a maximal sharding has a device"},
      {"{maximal}", "needs one device=N"},
      {"{devices=}", "'[' after"},
      {"{last_tile_dim_replicate}", "has no kind"},
      {"{replicated last_tile_dims={manual}}", "only a sharding with devices"},
      {"{devices=[2]<=[2] last_tile_dims={manual, manual}}", "last_tile_dims has 2 entries"},
      {"{sharded}", "'sharded' is no part of a sharding"},
      {"{{replicated}, {{manual}}}", "found '{'"},
      {"{{replicated}, manual}", "'{'"},
      {"{mesh['a'=2], [{'b'}]}", "the mesh has no axis 'b'"},
      {"{mesh['a'=2], [{'7'}]}", "axis 7 is out of the bounds"},
      {"{mesh['a'=2,'b'=2], device_ids=(0,1), [{'a'}]}",
       "device_ids lists 2 devices, the mesh has 4"},
      {"{mesh['a'=2,'b'=2], device_ids=([2,4]T(1,0)), [{'a'}]}", "device_ids lists 8 devices"},
      {"{mesh['a'=2], [{?, 'a'}]}", "behind '?'"},
      {"{mesh['a'=2], unreduced=product}", "no reduction"},
      {"{mesh['a'=2], sharded={'a'}}", "no part of a sharding"},
      {"{mesh['a'=2], [{'a'}, {'a'}]}", "the axis 'a' is used twice"},
      {"{mesh['a'=8], [{'a':(2)3}]}", "does not fit the axis 'a' of size 8"},
      {"{mesh['a'=2,'a'=2], [{'a'}]}", "two axes 'a'"},
  };
  for (const Rejected& row : rows) {
    SCOPED_TRACE(row.text);
    const absl::StatusOr<Sharding> read = ReadSharding(row.text);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(row.message));
  }
}

struct Expanded {
  const char* text;
  std::vector<Int64List> groups;
};

TEST(DevicesTest, ReplicaGroupsExpand) {
  const Expanded rows[] = {
      {"{}", {}},
      {"{{1,2,3},{4,5,0}}", {{1, 2, 3}, {4, 5, 0}}},
      {"[2,4]<=[8]", {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"[2,4]<=[4,2]T(1,0)", {{0, 2, 4, 6}, {1, 3, 5, 7}}},
      {"[4,2]<=[2,2,2]T(0,2,1)", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
      {"mesh['a'=2,'b'=4] {'a'}", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
      {"mesh['a'=2,'b'=4] {'b'}", {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"mesh['a'=2,'b'=4] {'b':(1)2}", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
      {"mesh['a'=2,'b'=4] {'b':(2)2}", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
      {"mesh['a'=2,'b'=4] {'a','b':(2)2}", {{0, 1, 4, 5}, {2, 3, 6, 7}}},
      {"mesh['a'=2,'b'=2] {'b','a'}", {{0, 2, 1, 3}}},
      {"mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'b'}", {{3, 2}, {1, 0}}},
      {"mesh['a'=2,'b'=1] {}", {{0}, {1}}},
      {"maximal_mesh[device_id=5] {}", {{5}}},
  };
  for (const Expanded& row : rows) {
    SCOPED_TRACE(row.text);
    const absl::StatusOr<ReplicaGroups> read = ReadReplicaGroups(row.text);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->Groups(), row.groups);
    std::string printed;
    AppendReplicaGroups(printed, *read);
    EXPECT_EQ(printed, row.text);
  }
}

TEST(DevicesTest, BadReplicaGroupsSayWhy) {
  const Rejected rows[] = {
      {"[2,2,2]<=[8]", "have 2 sizes"},
      {"[2,4]<=[9]", "the iota lists 9 devices, the tile has 8"},
      {"[2,4]<=[2,4]", "needs T(permutation)"},
      {"[2,4]", "'<='"},
      {"mesh['a'=2] {'b'}", "no axis 'b'"},
      {"all", "no replica groups stand here"},
      {"{{0,1},2}", "'{'"},
  };
  for (const Rejected& row : rows) {
    SCOPED_TRACE(row.text);
    const absl::StatusOr<ReplicaGroups> read = ReadReplicaGroups(row.text);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(row.message));
  }
}

TEST(DevicesTest, MapsAreSortedAndKeepTheirValues) {
  const std::string text =
      "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0), "
      "frontend_attributes={b=\"x \\\"y\\\"\",a={n=1},_c=\"\"}\n}\n";
  auto module = ReadModule(text);
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Attributes& attributes = (*module)->entry()->root()->attributes();
  EXPECT_EQ(*attributes.MapValue(Attr::kFrontendAttributes, "b"), "x \"y\"");
  EXPECT_EQ(*attributes.MapValue(Attr::kFrontendAttributes, "a"), "{n=1}");
  EXPECT_EQ(attributes.MapValue(Attr::kFrontendAttributes, "z"), nullptr);
  EXPECT_THAT(WriteModule(**module),
              HasSubstr("frontend_attributes={_c=\"\",a={n=1},b=\"x \\\"y\\\"\"}"));
}

}  // namespace
}  // namespace assay
