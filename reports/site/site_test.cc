// The site as files, and as a browser shows it that opens them from disk. Without a browser (in
// $ASSAY_BROWSER, or chromium on the path) the tests that need one are skipped and counted so.
#include "reports/site/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "reports/site/data_file.h"
#include "reports/site/site_files.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string FreshFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/assay_site_" + name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

RunRow RunOf(const std::string& verb, const std::string& backend, Json summary) {
  RunRow run = BeginRun(verb, backend, "assay " + verb + " --backend " + backend);
  run.backend_version = backend + " 1.0";
  run.started_ms = 1790000000000;
  summary["verb"] = verb;
  run.summary = summary.dump();
  return run;
}

CaseRow CellOf(const std::string& op, const std::string& type, int number,
               const std::string& status) {
  CaseRow row;
  row.name = StrCat(op, "__", op, "/", type, "/s", number, "/ordinary/arguments");
  row.subject = "cpu";
  row.status = status;
  if (status != "passed") row.detail = "1 of 4 elements <lies> outside \"its\" bound\n  first";
  row.elements = 4;
  row.bound_used = 0.1 * (number % 10);
  return row;
}

RunRow MatrixRun(int64_t ops, int cells, const std::string& first_status) {
  RunRow run = RunOf("conform", "cpu", {{"suite", "matrix"}, {"tier", "ci"}});
  for (int64_t op = 0; op < ops; ++op) {
    for (int i = 0; i < cells; ++i) {
      const bool is_first = op == 0 && i == 0;
      run.cases.push_back(CellOf(StrCat("op-", op), i % 2 == 0 ? "f32" : "s8", i,
                                 is_first ? first_status : "passed"));
    }
  }
  return run;
}

SiteSeries Slower() {
  SiteSeries series;
  for (int i = 0; i < 20; ++i) {
    PointRow point;
    point.id = i + 1;
    point.workload = "norm";
    point.subject = "cpu";
    point.commit = StrCat("c", i);
    point.taken_ms = 1790000000000 + i * 1000;
    point.measures = {{"ratio", i < 10 ? 1.0 : 1.2}, {"kernels", 4}};
    series.points.push_back(point);
  }
  series.noise = {{"ratio", 0.004}};
  SiteChange change;
  change.measure = "ratio";
  change.before = 1;
  change.after = 1.2;
  change.is_worse = true;
  change.commit_before = "c9";
  change.commit_after = "c10";
  change.point_after = 11;
  change.cause = "the rule add-fusion fires no longer";
  series.changes = {change};
  return series;
}

// A store with a bit of everything, and its site in `folder`.
SiteTotals WriteExample(const std::string& folder, int64_t ops = 6, int cells = 10) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder + "/store.db");
  EXPECT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Add(MatrixRun(ops, cells, "passed")).ok());
  EXPECT_TRUE((*store)->Add(MatrixRun(ops, cells, "failed")).ok());
  RunRow check = RunOf("check", "cpu", {});
  CaseRow module;
  module.name = "mlp__wide";
  module.subject = "cpu";
  module.status = "passed";
  module.source = "/models/mlp wide.hlo";
  module.inputs = "drawn from seed 3";
  check.cases.push_back(module);
  EXPECT_TRUE((*store)->Add(check).ok());
  RunRow fuzz = RunOf("fuzz", "cpu", {{"programs", 1000}, {"findings", 1}, {"buckets", 1}});
  fuzz.findings.push_back(
      {"cpu/wrong", "abs is <b>wrong</b>", "wrong value", "abs-rule", "", 7, 3});
  EXPECT_TRUE((*store)->Add(fuzz).ok());
  RunRow bench = RunOf("bench", "cpu", {});
  bench.benchmarks = {{"gemm", "run_seconds", "cpu", 0.001, 0.0009, 0.0011, 9},
                      {"gemm", "flops", "", 2e6, 2e6, 2e6, 1},
                      {"gemm", "compulsory_bytes", "", 3e5, 3e5, 3e5, 1},
                      {"machine", "roof.flops_per_second", "", 5e10, 5e10, 5e10, 1},
                      {"machine", "roof.bytes_per_second.L1", "", 1e11, 1e11, 1e11, 1}};
  EXPECT_TRUE((*store)->Add(bench).ok());
  RunRow ulps = RunOf("accuracy", "cpu", {{"functions", 2}});
  for (const auto& [name, worst] : {std::pair("exp f32", 1.5), {"tanh bf16", 0.5}}) {
    for (const auto& [metric, value] : {std::pair("worst", worst),
                                        {"worst_at", 88.25},
                                        {"inputs", 1000.0},
                                        {"nearest", 990.0},
                                        {"upto.0.5", 990.0},
                                        {"upto.1.5", 10.0}}) {
      ulps.benchmarks.push_back({name, StrCat("ulp.", metric), "cpu", value, value, value, 1000});
    }
  }
  EXPECT_TRUE((*store)->Add(ulps).ok());
  SiteOptions options;
  options.folder = folder + "/site";
  options.series = {Slower()};
  options.causes = {R"({"name":"abs-dies","title":"abs dies","severity":"abort",)"
                    R"("component":"HLO pass x","status":"live","program":"HloModule m"})"};
  std::ofstream(folder + "/results.jsonl")
      << R"({"type":"begin","seed":9,"count":500,"backends":["cpu"]})"
      << "\nnot json\n"
      << R"({"type":"progress","next":10,"programs":123})" << "\n"
      << R"({"type":"fin)";
  options.journals = {folder + "/results.jsonl", folder + "/none.jsonl"};
  absl::StatusOr<SiteTotals> totals = WriteSite(**store, options);
  EXPECT_TRUE(totals.ok()) << totals.status();
  return totals.value_or(SiteTotals());
}

Json DataOf(const std::string& folder, const std::string& key) {
  const absl::StatusOr<std::string> text = ReadFile(folder + "/site/data/" + key + ".js");
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return Json();
  const std::string head = "assay.give(\"" + key + "\",";
  EXPECT_EQ(text->substr(0, head.size()), head);
  return Json::parse(text->substr(head.size(), text->size() - head.size() - 3), nullptr, false);
}

TEST(Site, KnowsWhatRunsCameTo) {
  const std::string folder = FreshFolder("index");
  const SiteTotals totals = WriteExample(folder);
  EXPECT_EQ(totals.runs, 6);
  EXPECT_EQ(totals.results, 121);
  const Json index = DataOf(folder, "index");
  EXPECT_EQ(index["runs"].size(), 6u);
  EXPECT_THAT(index["headline"].get<std::string>(), HasSubstr("1 failed"));
  // The two runs of the matrix are one kind, of which the newer one is what is known.
  EXPECT_EQ(index["kinds"].size(), 5u);
  const Json summary = DataOf(folder, "run-2");
  EXPECT_EQ(summary["families"].size(), 6u);
  EXPECT_EQ(summary["families"][0]["c"]["f32"], Json({{"0", 4}, {"1", 1}}));
  EXPECT_NE(summary["families"][0]["d"], DataOf(folder, "run-1")["families"][0]["d"]);
  EXPECT_EQ(summary["families"][1]["d"], DataOf(folder, "run-1")["families"][1]["d"]);
}

// A run of a part of the cases adds to what is known and hides nothing.
TEST(Site, PartsOfASuiteAreKnownTogether) {
  const std::string folder = FreshFolder("shards");
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder + "/store.db");
  ASSERT_TRUE(store.ok()) << store.status();
  for (int shard = 1; shard <= 3; ++shard) {
    RunRow run = RunOf("conform", "cpu",
                       {{"suite", "matrix"}, {"tier", "ci"}, {"shard", StrCat(shard, "/3")}});
    for (int i = 0; i < 4; ++i) run.cases.push_back(CellOf("add", "f32", shard * 10 + i, "passed"));
    ASSERT_TRUE((*store)->Add(run).ok());
  }
  SiteOptions options;
  options.folder = folder + "/site";
  ASSERT_TRUE(WriteSite(**store, options).ok());
  const Json kinds = DataOf(folder, "index")["kinds"];
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0]["counts"]["passed"], 12);
  EXPECT_EQ(DataOf(folder, kinds[0]["data"])["families"][0]["c"]["f32"]["0"], 12);
}

TEST(Site, DataFilesStayBelowTheirLimit) {
  const std::string folder = FreshFolder("limit");
  const SiteTotals totals = WriteExample(folder, 40, 1500);
  EXPECT_EQ(totals.results, 120001);
  EXPECT_LE(totals.largest, kMostSiteBytes);
  int64_t cases = 0;
  const Json summary = DataOf(folder, "run-2");
  for (const Json& family : summary["families"]) {
    for (const Json& part : family["p"]) {
      const Json data = DataOf(folder, StrCat("run-2-", part.get<int64_t>()));
      cases += static_cast<int64_t>(data["f"][family["n"].get<std::string>()].size());
    }
  }
  EXPECT_EQ(cases, 60000);
}

// A campaign of modules without families must not make a summary that no browser takes at once.
TEST(Site, ManyFamiliesStandTogether) {
  const std::string folder = FreshFolder("families");
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder + "/store.db");
  ASSERT_TRUE(store.ok()) << store.status();
  RunRow run = RunOf("check", "cpu", {});
  for (int i = 0; i < 9000; ++i) {
    CaseRow row;
    row.name = StrCat("module_of_some_user_", i);
    row.subject = "cpu";
    row.status = "passed";
    run.cases.push_back(row);
  }
  ASSERT_TRUE((*store)->Add(run).ok());
  SiteOptions options;
  options.folder = folder + "/site";
  const absl::StatusOr<SiteTotals> totals = WriteSite(**store, options);
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_LE(totals->largest, kMostSiteBytes);
  EXPECT_EQ(DataOf(folder, "run-1")["families"].size(), 4001u);
}

TEST(Site, TextOfAnyBytesIsJson) {
  std::string out;
  AppendJsonText(out, "a\"\\\n\xff</script>");
  EXPECT_FALSE(Json::parse(out, nullptr, false).is_discarded()) << out;
}

std::string Browser() {
  if (const char* named = std::getenv("ASSAY_BROWSER")) return named;
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser"}) {
    if (fs::exists(path)) return path;
  }
  return "";
}

// The text of elements by id that the browser shows after the walk script below.
Json Walk(const std::string& folder, const std::vector<std::string>& addresses) {
  std::string page = *ReadFile(folder + "/site/index.html");
  const std::string script = StrCat(R"(<script>assay.start().then(async () => {
  const seen = { paint: performance.getEntriesByType("paint").map(p => p.startTime), ready: performance.now() };
  for (const address of )",
                                    Json(addresses).dump(), R"() {
    location.hash = address;
    await assay.show();
    seen[address] = document.getElementById("view").textContent;
    seen[address + " svg"] = document.querySelectorAll("#view svg").length;
  }
  document.body.replaceChildren();
  document.body.dataset.walk = JSON.stringify(seen);
});</script>)");
  page = absl::StrReplaceAll(page, {{"<script>assay.start();</script>", script}});
  std::ofstream(folder + "/site/walk.html") << page;
  const std::string command =
      StrCat(Browser(), " --headless --no-sandbox --disable-gpu --user-data-dir=", folder,
             "/profile --virtual-time-budget=20000 --dump-dom 'file://", folder,
             "/site/walk.html' > ", folder, "/dom.html 2> ", folder, "/browser.log");
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string dom = ReadFile(folder + "/dom.html").value_or("");
  const std::string mark = "data-walk=\"";
  const size_t at = dom.find(mark);
  EXPECT_NE(at, std::string::npos) << dom.substr(0, 2000);
  if (at == std::string::npos) return Json();
  const size_t end = dom.find('"', at + mark.size());
  return Json::parse(
      absl::StrReplaceAll(dom.substr(at + mark.size(), end - at - mark.size()),
                          {{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}),
      nullptr, false);
}

TEST(Site, BrowsersShowEveryPageFromDisk) {
  if (Browser().empty()) GTEST_SKIP() << "no browser: 1 test of pages not run";
  const std::string folder = FreshFolder("browser");
  WriteExample(folder);
  const std::string one = "#/kind/4/op-0/f32/op-0%2Ff32%2Fs0%2Fordinary%2Farguments";
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"#/overview", "the rule add-fusion fires no longer"},
      {"#/matrix", "op-5"},
      {"#/kind/4", "What changed in the last run"},
      {"#/kind/4/op-0/f32", "1 of 4 elements <lies> outside"},
      {one, "assay conform --suite matrix --tier ci --backend cpu --filter op-0/f32/s0"},
      {"#/run/3/mlp/cpu/wide", "assay check '/models/mlp wide.hlo' --backend cpu --seed 3"},
      {"#/performance", "norm: slower by 20.0 %"},
      {"#/performance/0", "95 % of the points lie within"},
      {"#/bugs", "abs is <b>wrong</b>"},
      {"#/bugs/bug/0", "abs-rule"},
      {"#/bugs/cause/0", "HloModule m"},
      {"#/campaigns", "123 of 500"},
      {"#/run/4", "Campaign on cpu"},
      {"#/accuracy", "share of the bound"},
      {"#/accuracy", "2 functions of one type each"},
      {"#/compare/1/2", "1 verdict differ"},
      {"#/compare/4/4", "distinct bugs"},
      {"#/compare/1/4", "have nothing in common"},
      {"#/runs", "assay bench --backend cpu"},
      {"#/run/99", "There is no run 99"},
      {"#/nowhere", "No such page"}};
  std::vector<std::string> addresses;
  for (const auto& [address, text] : wanted) addresses.push_back(address);
  const Json seen = Walk(folder, addresses);
  for (const auto& [address, text] : wanted) {
    EXPECT_THAT(seen.value(address, "nothing"), HasSubstr(text)) << address;
  }
  EXPECT_GE(seen.value("#/performance svg", 0), 2) << "a series and the roofline";
  EXPECT_GE(seen.value("#/performance/0 svg", 0), 1);
  EXPECT_GE(seen.value("#/accuracy svg", 0), 10);
}

}  // namespace
}  // namespace assay
