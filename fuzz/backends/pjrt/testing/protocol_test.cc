// The protocol suite against the stand-in plug-in: one that behaves passes every case that is
// there, and each planted misbehaviour is told by its case.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "fuzz/backends/pjrt/protocol/suite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay {
[[gnu::used]] void (*const kWhatThePluginNeeds)(BackendRegistry&) = RegisterReference;

namespace pjrt {
namespace {

using testing::HasSubstr;

constexpr double kSeconds = 30;

TEST(Protocol, NamesAreUniqueAndMany) {
  std::set<std::string> names;
  for (const ProtocolCase& one : ProtocolCases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.rule.empty()) << one.name;
  }
  EXPECT_GE(names.size(), 500u);
}

TEST(Protocol, OneThatBehavesPasses) {
  setenv("ASSAY_STAND_IN", "", 1);
  std::map<CaseEnd, int> ends;
  int number = 0;
  for (const ProtocolCase& one : ProtocolCases()) {
    if (one.level != CaseLevel::kMust) continue;
    // A third is enough here of those that ask each function alike.
    const bool is_asked = one.name.find("/PJRT_") != std::string::npos;
    if (is_asked && ++number % 3 != 0) continue;
    const CaseResult result = RunProtocolCase(one, ASSAY_STAND_IN_PLUGIN, kSeconds);
    ++ends[result.end];
    EXPECT_TRUE(result.end == CaseEnd::kPassed || result.end == CaseEnd::kNotThere)
        << one.name << ": " << Name(result.end) << " " << result.detail;
  }
  EXPECT_GE(ends[CaseEnd::kPassed], 90);
}

TEST(Protocol, MisbehaviourIsTold) {
  std::map<std::string, ProtocolCase> cases;
  for (ProtocolCase& one : ProtocolCases()) cases.emplace(one.name, one);
  std::ifstream file(StrCat(ASSAY_SOURCE_DIR, "/fuzz/backends/pjrt/testing/protocol_cases.txt"));
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind('#', 0) == 0) continue;
    std::vector<std::string> parts = absl::StrSplit(line, '|');
    ASSERT_EQ(parts.size(), 4u) << line;
    for (std::string& part : parts) absl::StripAsciiWhitespace(&part);
    ASSERT_TRUE(cases.contains(parts[1])) << line;
    setenv("ASSAY_STAND_IN", parts[0].c_str(), 1);
    const CaseResult result = RunProtocolCase(cases.at(parts[1]), ASSAY_STAND_IN_PLUGIN, kSeconds);
    EXPECT_EQ(Name(result.end), parts[2]) << line << "\n" << result.detail;
    EXPECT_THAT(result.detail, HasSubstr(parts[3])) << line;
    ++count;
  }
  EXPECT_GE(count, 40);
}

TEST(Protocol, WhatIsNoPluginIsAnError) {
  const auto missing = TryPlugin("/no/such/plugin.so");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(ToStd(missing.status().message()), HasSubstr("cannot load the plug-in"));
}

}  // namespace
}  // namespace pjrt
}  // namespace assay
