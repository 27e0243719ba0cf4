// Lists of known bugs: what a file may hold, and what an entry names.
#include "fuzz/triage/known.h"
#include "fuzz/triage/known_cases.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::vector<KnownBug>> Read(const std::string& text) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / ("known" + std::to_string(getpid()) + ".json"))
          .string();
  std::ofstream(path) << text;
  return ReadKnownBugs(path);
}

TEST(KnownTest, AnEntryNamesABucketOrASignatureAndVersions) {
  absl::StatusOr<std::vector<KnownBug>> known = Read(R"([
      {"bucket": "xla/wrong value/algsimp/pad*", "versions": "0.4.13..0.10.2", "reason": "one"},
      {"signature": "wrong value: import", "reason": "two", "expires": "2027-06-30"}])");
  ASSERT_TRUE(known.ok()) << known.status();
  const std::string jaxlib = "XLA:CPU of jaxlib 0.10.2", newer = "XLA:CPU of jaxlib 0.11.0";
  auto reason = [&](const std::string& bucket, const std::string& signature,
                    const std::string& version) -> std::string {
    const KnownBug* bug = FindKnownBug(*known, bucket, signature, version);
    return bug == nullptr ? "" : bug->reason;
  };
  EXPECT_EQ(reason("xla/wrong value/algsimp/pad+slice", "", jaxlib), "one");
  EXPECT_EQ(reason("xla/wrong value/algsimp/pad", "", "XLA:CPU of jaxlib 0.4.13"), "one");
  EXPECT_EQ(reason("xla/wrong value/algsimp/pad", "", newer), "");
  EXPECT_EQ(reason("xla/wrong value/algsimp/pad", "", "XLA:CPU of jaxlib 0.4.9"), "");
  EXPECT_EQ(reason("xla/wrong value/algsimp", "wrong value: import", newer), "two");
  EXPECT_EQ(reason("", "wrong value: import of slice", jaxlib), "");
  EXPECT_EQ(reason("", "", jaxlib), "");
}

TEST(KnownTest, AStarStandsForAnyTextWhereverItIs) {
  const std::string name = "wrong value: algsimp at slice(pad+slice) of floats";
  const std::pair<const char*, bool> rows[] = {
      {"wrong value: algsimp*", true},
      {"*of floats", true},
      {"wrong value: * at slice*", true},
      {"*algsimp*pad*floats", true},
      {"*", true},
      {"wrong value: algsimp at slice(pad+slice) of floats*", true},
      {"wrong value: * of integers", false},
      {"*pad*algsimp*", false},
      {"algsimp*", false},
      {"wrong value: algsimp at slice(pad+slice) of f*f floats", false},
      {"wrong value: algsimp at slice(pad+slice) of floats*s", false},
  };
  for (const auto& [pattern, matches] : rows) {
    std::vector<KnownBug> known(1);
    known[0].signature = pattern;
    EXPECT_EQ(FindKnownBug(known, "", name, "0.10.2") != nullptr, matches) << pattern;
  }
}

TEST(KnownTest, WhatHasExpiredIsNewsAgain) {
  absl::StatusOr<std::vector<KnownBug>> known = Read(
      R"([{"bucket": "a", "reason": "r", "expires": "2027-06-30"}, {"bucket": "b", "reason": "s"}])");
  ASSERT_TRUE(known.ok());
  EXPECT_TRUE(RemoveExpired(*known, "2027-06-29").empty());
  const std::vector<KnownBug> expired = RemoveExpired(*known, "2027-06-30");
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].bucket, "a");
  ASSERT_EQ(known->size(), 1u);
  EXPECT_EQ((*known)[0].bucket, "b");
}

TEST(KnownTest, WaiversAreStrict) {
  absl::StatusOr<std::vector<KnownBug>> known = Read(
      R"([{"case": "dot/*", "owner": "us", "reason": "r", "expires": "2027-06-30"},
          {"case": "pad", "owner": "them", "reason": "old", "expires": "2026-01-01"},
          {"case": "abs", "owner": "us", "reason": "s", "expires": "2027-06-30", "versions": "2.0..3.0"}])");
  ASSERT_TRUE(known.ok()) << known.status();
  KnownCases cases(*known, "a 1.0", "2026-06-01");
  EXPECT_EQ(cases.Excuse("dot/f32", "failed"), "r (us, until 2027-06-30)");
  EXPECT_EQ(cases.Excuse("dot/f32", "unsupported"), "");
  EXPECT_EQ(cases.Excuse("pad", "failed"), "") << "ended";
  EXPECT_EQ(cases.Excuse("abs", "failed"), "") << "of other versions";
  EXPECT_EQ(cases.Excuse("dot/s8", "passed"), "");
  ASSERT_EQ(cases.Alarms().size(), 1u) << "one of the cases of dot still fails";
  EXPECT_THAT(cases.Alarms()[0],
              HasSubstr("the waiver of pad, owned by them, ended on 2026-01-01"));
  KnownCases gone(*known, "a 2.0", "2025-06-01");
  EXPECT_EQ(gone.Excuse("dot/f32", "passed"), "");
  EXPECT_EQ(gone.Excuse("abs", "passed"), "");
  EXPECT_EQ(gone.Excuse("pad", "crashed"), "old (them, until 2026-01-01)");
  ASSERT_EQ(gone.Alarms().size(), 2u);
  EXPECT_THAT(gone.Alarms()[0], HasSubstr("dot/f32 passes; take the waiver out"));
}

TEST(KnownTest, AWaiverMayBeOfOneBackend) {
  const absl::StatusOr<std::vector<KnownBug>> known = Read(
      R"([{"case": "pad", "owner": "us", "reason": "r", "expires": "2027-06-30", "backend": "IREE*"}])");
  ASSERT_TRUE(known.ok()) << known.status();
  KnownCases theirs(*known, "IREE 3.13.0 llvm-cpu", "2026-11-29");
  EXPECT_FALSE(theirs.Excuse("pad", "failed").empty());
  KnownCases others(*known, "XLA:CPU of jaxlib 0.10.2", "2026-11-29");
  EXPECT_TRUE(others.Excuse("pad", "failed").empty());
}

TEST(KnownTest, MistakesAreNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "JSON array"},
      {"[3]", "known bug 1: it is no object"},
      {R"([{"bucket": "a"}])", "no reason"},
      {R"([{"reason": "a"}])", "neither case nor bucket nor signature"},
      {R"([{"bucket": "a", "reason": "r", "expires": "soon"}])", "no day"},
      {R"([{"case": "a", "reason": "r", "expires": "2027-06-30"}])", "must be an owner"},
      {R"([{"case": "a", "reason": "r", "owner": "us"}])", "must be an owner"},
      {R"([{"bucket": "a", "reason": "r", "versions": "old"}])", "no range"},
      {R"([{"bucket": "a", "reason": "r"}, {"bucked": "a", "reason": "r"}])",
       "known bug 2: unknown field bucked"},
  };
  for (const auto& [text, message] : rows) {
    absl::StatusOr<std::vector<KnownBug>> known = Read(text);
    ASSERT_FALSE(known.ok()) << text;
    EXPECT_THAT(std::string(known.status().message()), HasSubstr(message));
  }
}

TEST(KnownTest, ABugIsAboutAnInstructionOrASetOfOps) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[4] parameter(1)
  a = f32[4] exponential(x)
  l = f32[4] log(a)
  m = s32[4] multiply(i, i)
  n = s32[4] abs(m)
  ROOT t = (f32[4], s32[4]) tuple(l, n)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto shows = [&](const std::string& bucket, const std::string& signature) {
    KnownBug bug;
    bug.bucket = bucket;
    bug.signature = signature;
    return MayShow(bug, **module);
  };
  EXPECT_TRUE(shows("", "wrong value: algsimp at log(exponential) f"));
  EXPECT_TRUE(shows("", "wrong value: algsimp at log*"));
  EXPECT_FALSE(shows("", "wrong value: algsimp at log(exponential) c")) << "complex numbers";
  EXPECT_FALSE(shows("", "wrong value: algsimp at log")) << "of a parameter";
  EXPECT_TRUE(shows("", "wrong value: constant_folding at log f")) << "of whatever is folded";
  EXPECT_TRUE(shows("", "wrong value: code fffff at log f"));
  EXPECT_FALSE(shows("", "wrong value: constant_folding at log c")) << "complex numbers";
  EXPECT_TRUE(shows("xla/wrong value/algsimp/abs+multiply", ""));
  EXPECT_TRUE(shows("xla/wrong value/abs/i-fffff", ""));
  EXPECT_FALSE(shows("xla/wrong value/algsimp/exponential+multiply", "")) << "not of each other";
  EXPECT_FALSE(shows("xla/wrong value/algsimp", "")) << "names no op";
  EXPECT_FALSE(shows("", "compile crash: some words"));
}

}  // namespace
}  // namespace assay
