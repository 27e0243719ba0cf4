// A package reads back, and no edit of it does.
#include "reports/package/package.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "reports/package/sha256.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"

namespace assay {
namespace {

std::string Slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void Spill(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::filesystem::remove_all(folder_);
    run_.verb = "conform";
    run_.backend = "cpu";
    run_.backend_version = "of today";
    run_.command = "assay conform --backend cpu";
    run_.machine = "host";
    run_.cpu = "some processor";
    run_.cores = 2;
    run_.started_ms = 1234;
    run_.seconds = 1.5;
    run_.version = "1.0";
    run_.commit = "abc";
    selection_ = {"matrix", "smoke",           "", "", "2", "xla", {"add__a", "dot__b", "sort__c"},
                  {},       Sha256("programs")};
    for (const std::string& name : selection_.names) {
      CaseRow row;
      row.name = name;
      row.status = name == "dot__b" ? "failed" : "passed";
      row.detail = name == "dot__b" ? "element 3 is 2, want 1" : "";
      run_.cases.push_back(row);
    }
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/package_test");
  RunRow run_;
  SuiteSelection selection_;
};

TEST(Sha256Test, StandardsExamples) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(PackageTest, ReadsBack) {
  ASSERT_TRUE(WritePackage(folder_, run_, selection_, "[]").ok());
  const auto package = ReadPackage(folder_);
  ASSERT_TRUE(package.ok()) << package.status();
  EXPECT_EQ(package->run.cases.size(), 3u);
  EXPECT_EQ(package->run.cases[1].detail, "element 3 is 2, want 1");
  EXPECT_EQ(package->run.cpu, "some processor");
  EXPECT_EQ(package->waivers, "[]");
  EXPECT_TRUE(CheckAgainstSuite(*package, selection_).ok());
  EXPECT_FALSE(WritePackage(folder_, run_, selection_, "").ok());
}

TEST_F(PackageTest, AnotherSuiteIsSeen) {
  ASSERT_TRUE(WritePackage(folder_, run_, selection_, "").ok());
  const auto package = ReadPackage(folder_);
  ASSERT_TRUE(package.ok()) << package.status();
  SuiteSelection other = selection_;
  other.hash = Sha256("other programs");
  EXPECT_FALSE(CheckAgainstSuite(*package, other).ok());
  other = selection_;
  other.names.push_back("left-out");
  EXPECT_FALSE(CheckAgainstSuite(*package, other).ok());
  other = selection_;
  other.names.pop_back();
  EXPECT_FALSE(CheckAgainstSuite(*package, other).ok());
}

// Every member of the manifest and every line and byte of the results, in turn.
TEST_F(PackageTest, EditsAreRefused) {
  int edits = 0;
  const auto expect_refused = [&](const std::string& what) {
    ++edits;
    EXPECT_FALSE(ReadPackage(folder_).ok()) << what;
    std::filesystem::remove_all(folder_);
  };
  const auto write = [&] { ASSERT_TRUE(WritePackage(folder_, run_, selection_, "[ ]").ok()); };
  const std::string manifest_path = folder_ + "/manifest.json";
  const std::string results_path = folder_ + "/results.jsonl";
  write();
  const auto manifest = nlohmann::json::parse(Slurp(manifest_path));
  const std::string results = Slurp(results_path);
  std::filesystem::remove_all(folder_);
  for (const auto& member : manifest.items()) {
    for (const bool is_removed : {false, true}) {
      write();
      nlohmann::json edited = manifest;
      if (is_removed) {
        edited.erase(member.key());
      } else if (member.value().is_string()) {
        edited[member.key()] = member.value().get<std::string>() + "x";
      } else {
        edited[member.key()] = 7;
      }
      Spill(manifest_path, edited.dump(2) + "\n");
      expect_refused(StrCat(member.key(), is_removed ? " removed" : " changed"));
    }
  }
  for (size_t at = 0; at < results.size(); at += 3) {
    write();
    std::string edited = results;
    edited[at] = static_cast<char>(edited[at] ^ 1);
    Spill(results_path, edited);
    expect_refused(StrCat("byte ", at));
  }
  const size_t line = results.find('\n') + 1;
  for (const std::string& edited :
       {results.substr(line), results + results.substr(0, line), std::string(),
        results.substr(line) + results.substr(0, line), results.substr(0, results.size() - 1)}) {
    write();
    Spill(results_path, edited);
    expect_refused("lines");
  }
  // Members stand in another order; then a hash fits results that were changed.
  write();
  Spill(manifest_path, manifest.dump());
  expect_refused("another form");
  write();
  const std::string better = std::string(results).replace(results.find("failed"), 6, "passed");
  nlohmann::json fitting = manifest;
  fitting["results_sha256"] = Sha256(better);
  Spill(results_path, better);
  Spill(manifest_path, fitting.dump(2) + "\n");
  expect_refused("results with their hash");
  for (const char* name : {"/manifest.json", "/results.jsonl", "/waivers.json"}) {
    write();
    std::filesystem::remove(folder_ + name);
    expect_refused(StrCat(name, " removed"));
  }
  write();
  Spill(folder_ + "/waivers.json", "[{}]");
  expect_refused("waivers");
  write();
  Spill(folder_ + "/note.txt", "");
  expect_refused("another file");
  EXPECT_GE(edits, 100);
}

}  // namespace
}  // namespace assay
