// Results are taken in parts, waived, kept, joined and laid side by side.
#include <string>

#include "tools/assay/testing/cli_for_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The parts of a suite are disjoint and are the whole; merged, they are one run to look at.
TEST(CliResults, ShardsAreTheWholeTogether) {
  Shell("rm -f part*.db whole.db");
  const Output whole = Assay("conform --backend reference --filter slice --json --db whole.db");
  int64_t passed = 0;
  for (int i = 1; i <= 3; ++i) {
    const std::string part = std::to_string(i);
    const Output output = Assay("conform --backend reference --filter slice --json --shard " +
                                part + "/3 --db part" + part + ".db");
    EXPECT_EQ(output.status, 0) << output.text;
    passed += output.LastJson().value("passed", int64_t{0});
    EXPECT_EQ(Assay("db merge part" + part + ".db --db parts.db").status, 0);
  }
  EXPECT_GT(passed, 3);
  EXPECT_EQ(passed, whole.LastJson().value("passed", int64_t{-1}));
  const Output site = Assay("report html --db parts.db -o parts --json");
  EXPECT_EQ(site.LastJson().value("results", int64_t{-1}), passed);
  Shell("rm -f parts.db");
}

TEST(CliResults, ShardsOfACampaignAreItsProgramsOnce) {
  int64_t programs = 0, seen_first = -1;
  for (int i = 1; i <= 3; ++i) {
    const nlohmann::json summary =
        Assay("fuzz --count 20 --seed 3 --jobs 1 --json --no-db --out shard --shard " +
              std::to_string(i) + "/3")
            .LastJson();
    ASSERT_TRUE(summary.is_object());
    EXPECT_EQ(summary.value("first", int64_t{-1}), programs) << "each begins where one ended";
    EXPECT_GT(summary.value("first", int64_t{-1}), seen_first);
    seen_first = summary.value("first", int64_t{-1});
    programs += summary.value("programs", int64_t{0});
  }
  EXPECT_EQ(programs, 20);
}

TEST(CliResults, PartsThatAreNoneAreNamed) {
  for (const char* line : {"conform --shard 3/2", "check x --shard 0/2", "fuzz --shard a/2",
                           "bench x --shard 2", "conform --suite matrix --shard 1/2/3"}) {
    const Output output = Assay(line);
    EXPECT_EQ(output.status, 2) << line << output.text;
    EXPECT_THAT(output.text, HasSubstr("is not I/N")) << line;
  }
}

// Writes a file of waivers with one entry.
std::string Waivers(const std::string& name, const std::string& expires) {
  return WriteFile(name, R"([{"case": "bad*", "owner": "us", "reason": "issue 7", "expires": ")" +
                             expires + "\"}]");
}

// A stored result that is wrong fails; a waiver excuses it until its day, and no longer than it
// fails.
TEST(CliResults, AWaiverExcusesUntilItsDayAndNoLongerThanNeeded) {
  const std::string corpus = Source("conformance/corpus/unary__exp_f32");
  Shell("rm -rf waived && mkdir waived && sed 's/exponential(/negate(/' '" + corpus +
        ".hlo' > waived/bad.hlo && cp '" + corpus + ".npz' waived/bad.npz");
  const std::string check = "check waived --backend reference --json --no-db";
  Output output = Assay(check);
  ASSERT_EQ(output.status, 1) << output.text;
  const std::string known = Waivers("known.json", "2999-01-01");
  output = Assay(check + " --known " + known);
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.LastJson().value("waived", 0), 1);
  EXPECT_EQ(output.LastJson()["alarms"].size(), 0u);
  EXPECT_THAT(output.text, HasSubstr("issue 7 (us, until 2999-01-01)"));
  const std::string over = Waivers("over.json", "2020-01-01");
  output = Assay(check + " --known " + over);
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_THAT(output.LastJson()["alarms"].dump(), HasSubstr("ended on 2020-01-01"));
  EXPECT_EQ(output.LastJson().value("failed", 0), 1);
  Shell("rm waived/bad.npz");  // nothing is wrong now
  output = Assay("check waived --backend reference --no-db --known " + known);
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_THAT(output.text, HasSubstr("alarm"));
  EXPECT_THAT(output.text, HasSubstr("bad passes; take the waiver out"));
}

// A claim is about what was asked for, and a cell that is unsupported is a cell that is lacking.
TEST(CliResults, ALevelOfConformanceIsHeldOrLacksCells) {
  const std::string matrix = "conform --suite matrix --no-db --json --backend ";
  Output output = Assay(matrix + "reference --filter get-dimension-size/s32/small");
  ASSERT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.LastJson()["holds"], 7);
  EXPECT_EQ(output.LastJson()["levels"][6]["passed"], 1);
  output = Assay(matrix + "cpu --filter get-dimension-size/s32/small");
  EXPECT_EQ(output.status, 0) << output.text;  // nothing is wrong, and nothing is held
  EXPECT_EQ(output.LastJson()["holds"], 0);
  EXPECT_EQ(output.LastJson()["levels"][6]["first"],
            "get-dimension-size/s32/small/ordinary/arguments unsupported");
  output = Assay(matrix + "cpu --filter get-dimension-size/s32/small --level dynamic-shapes");
  EXPECT_EQ(output.status, 1) << output.text;
  output = Assay(matrix + "cpu --filter /u8/small/ordinary --level integer-core --profile strict");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.LastJson()["profile"], "strict");
  EXPECT_GT(output.LastJson().value("beyond the level", 0), 20);
  EXPECT_EQ(output.LastJson()["holds"], 1);
  Shell("rm -rf claim");
  output =
      Assay("conform --suite matrix --no-db --backend cpu --filter abs/ --level 2 --package claim");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("of which a part was run: holds level 2 of 8, float-core"));
  output = Assay("conform --verify-package claim");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("holds level 2 of 8, float-core, by profile xla"));
}

TEST(CliResults, WaiversAreAlikeForSuitesAndCampaigns) {
  const std::string stale =
      WriteFile("stale.json",
                R"([{"case": "*", "owner": "us", "reason": "issue 8", "expires": "2999-01-01"}])");
  for (const char* line :
       {"conform --backend reference --filter concatenate",
        "conform --backend reference --suite invalid --filter operand-tuple__dot",
        "conform --backend reference --suite matrix --filter not/s8/small/ordinary/arguments"}) {
    const Output output = Assay(std::string(line) + " --no-db --known " + stale);
    EXPECT_EQ(output.status, 1) << output.text;
    EXPECT_THAT(output.text, HasSubstr("take the waiver out")) << line;
  }
  const Output campaign =
      Assay("fuzz --count 5 --seed 3 --jobs 1 --no-db --out waived_fuzz --known " +
            Waivers("over.json", "2020-01-01"));
  EXPECT_EQ(campaign.status, 1) << campaign.text;
  EXPECT_THAT(campaign.text, HasSubstr("ended on 2020-01-01"));
  const std::string ownerless = WriteFile("nobody.json", R"([{"case": "a", "reason": "b"}])");
  const Output nobody = Assay("conform --backend reference --known " + ownerless);
  EXPECT_EQ(nobody.status, 2);
  EXPECT_THAT(nobody.text, HasSubstr("there must be an owner and expires"));
}

TEST(CliResults, TwoRunsSideBySide) {
  Shell("rm -f two.db");
  ASSERT_EQ(Assay("conform --backend reference --filter concatenate --db two.db").status, 0);
  ASSERT_EQ(Assay("conform --backend reference --filter slice --db two.db").status, 0);
  Output output = Assay("report diff 1 last --db two.db");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("from passed to not there"));
  EXPECT_THAT(output.LastLine(), HasSubstr("0 worse, 0 better"));
  output = Assay("report diff last last --db two.db --json");
  EXPECT_EQ(output.LastJson()["changes"].size(), 0u);
  output = Assay("report diff two.db:1 two.db --as markdown");
  EXPECT_THAT(output.text, HasSubstr("| passed | not there |"));
  for (const char* line : {"report diff 1 9 --db two.db", "report diff 1 --db two.db",
                           "report diff last~7 1 --db two.db", "report diff 1 never --db two.db",
                           "report diff none.db:1 1 --db two.db"}) {
    EXPECT_EQ(Assay(line).status, 2) << line;
  }
}

TEST(CliResults, TheSiteIsServedWhileResultsComeIn) {
  Shell("rm -rf served served.db");
  ASSERT_EQ(Assay("conform --backend reference --filter concatenate --db served.db").status, 0);
  const std::string serve =
      "'" ASSAY_PROGRAM "' report serve --db served.db -o served --port 18431";
  const Output output =
      Shell(serve +
            " > served.log & S=$!; G='import urllib.request as u; print(u.urlopen(\"http://"
            "127.0.0.1:18431/data/index.js\").read().decode().count(\"started\") or 1)'; "
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.2; "
            "python3 -c \"$G\" 2> /dev/null && break; done; kill -INT $S; wait $S; echo ended $?");
  EXPECT_THAT(output.text, HasSubstr("ended 0"));
  EXPECT_THAT(output.text, HasSubstr("1\n"));
  EXPECT_THAT(Shell("cat served.log").text, HasSubstr("http://127.0.0.1:18431/"));
}

TEST(CliResults, TheStoreIsLookedThroughAndJoined) {
  Shell("rm -f one.db other.db points.jsonl");
  ASSERT_EQ(Assay("conform --backend reference --filter concatenate --db one.db").status, 0);
  Output output = Assay("db check --db one.db");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("is sound"));
  output = Assay("db query 'SELECT COUNT(*) AS n FROM runs' --db one.db");
  EXPECT_EQ(output.LastJson().value("n", 0), 1);
  EXPECT_EQ(Assay("db merge one.db --db other.db").LastLine(), "1 runs and points added");
  EXPECT_EQ(Assay("db merge one.db --db other.db").LastLine(), "0 runs and points added");
  Shell(
      R"(echo '{"type":"point","workload":"w","taken_ms":5,"measures":{"ratio":1.5}}' > points.jsonl)");
  EXPECT_EQ(Assay("db import points.jsonl --db one.db").LastLine(), "1 point added");
  output = Assay("db export --db one.db");
  EXPECT_EQ(output.LastJson()["measures"].value("ratio", 0.0), 1.5);
  EXPECT_EQ(Assay("db prune --days 1 --db one.db").LastLine(), "1 runs and points removed");
  const StatusRow rows[] = {
      {"db query 'DELETE FROM runs' --db one.db", 2, "must be one SELECT"},
      {"db query 'SELECT absent FROM runs' --db one.db", 2, "no such column"},
      {"db query --db one.db", 2, "needs a SELECT"},
      {"db merge none.db --db one.db", 2, "there is no file none.db"},
      {"db check --db none.db", 2, "there is no result store none.db"},
      {"db import one.db --db one.db", 2, "expected a point"},
      {"db burn --db one.db", 2, "burn"},
  };
  for (const StatusRow& row : rows) {
    output = Assay(row.arguments);
    EXPECT_EQ(output.status, row.status) << row.arguments << output.text;
    EXPECT_THAT(output.text, HasSubstr(row.text)) << row.arguments;
  }
}

// Eight processes run eight devices with one command, and one of them speaks.
TEST(CliResults, RanksOfMpirunShareARun) {
  if (Shell("command -v mpirun").status != 0) GTEST_SKIP() << "no mpirun here";
  const std::string module =
      WriteFile("ranks.hlo",
                "HloModule m, replica_count=4, num_partitions=2\n"
                "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n"
                "ENTRY e {\n  x = s32[8] parameter(0)\n"
                "  y = s32[8] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add\n"
                "  k = u32[] partition-id()\n  c = s32[] convert(k)\n  b = s32[8] broadcast(c), "
                "dimensions={}\n  ROOT r = s32[8] add(y, b)\n}\n");
  for (const char* backend : {"cpu", "gpu-sim"}) {
    const Output output = Shell("mpirun --allow-run-as-root --oversubscribe -n 8 '" ASSAY_PROGRAM
                                "' check --json --no-db --replicas 4 --partitions 2 --backend " +
                                std::string(backend) + ":ranks=mpi " + module);
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_EQ(output.LastJson().value("passed", 0), 1) << output.text;
  }
}

}  // namespace
}  // namespace assay
