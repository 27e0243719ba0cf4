// The backend "pjrt" against the stand-in plug-in, which misbehaves in every way there is a case
// of; the declarations against XLA's header, where a test is given one.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fuzz/backends/pjrt/pjrt_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] =
    "HloModule m\nENTRY e { p = s32[2,3] parameter(0) q = s32[2,3] parameter(1)\n"
    "a = s32[2,3] add(p, q) t = s32[3,2] transpose(a), dimensions={1,0}\n"
    "ROOT r = (s32[3,2], s32[2,3]) tuple(t, a) }\n";

struct StandIn {
  explicit StandIn(const std::string& trouble) {
    setenv("ASSAY_STAND_IN", trouble.c_str(), 1);
    registry_ = std::make_unique<BackendRegistry>();
    RegisterPjrt(*registry_, ASSAY_PJRT_WORKER);
    backend = registry_->Create(StrCat("pjrt:", ASSAY_STAND_IN_PLUGIN));
  }
  absl::StatusOr<std::unique_ptr<Backend>> backend;

 private:
  std::unique_ptr<BackendRegistry> registry_;
};

std::string Words(const absl::Status& status) {
  return StrCat(Name(ClassOf(status)), ": ", ToStd(status.message()));
}

// The stage at which the program ends, and its words: "run | run crash: ...".
std::pair<std::string, std::string> Outcome(const std::string& trouble) {
  StandIn stand_in(trouble);
  if (!stand_in.backend.ok()) return {"open", std::string(stand_in.backend.status().message())};
  auto module = ReadModule(kProgram);
  EXPECT_TRUE(module.ok()) << module.status();
  auto executable = (*stand_in.backend)->Compile(**module, {});
  if (!executable.ok()) return {"compile", Words(executable.status())};
  Literal p(Shape::Array(ElementType::kS32, {2, 3})), q = p;
  for (int i = 0; i < 6; ++i) {
    p.SetInteger(i, i);
    q.SetInteger(i, 10);
  }
  auto result = (*executable)->Run({{&p, &q}});
  if (!result.ok()) return {"run", Words(result.status())};
  const std::vector<Literal>& leaves = result->outputs[0].elements();
  if (leaves.size() != 2 || leaves[0].GetInteger(1) != 13 || leaves[1].GetInteger(1) != 11)
    return {"wrong", result->outputs[0].ToString()};
  auto optimized = (*executable)->OptimizedModule();
  if (!optimized.ok()) return {"optimized", Words(optimized.status())};
  return {"right", ""};
}

TEST(Pjrt, EveryTroubleHasItsWords) {
  std::ifstream file(StrCat(ASSAY_SOURCE_DIR, "/fuzz/backends/pjrt/testing/cases.txt"));
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind('#', 0) == 0) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, '|');
    ASSERT_EQ(parts.size(), 3u) << line;
    const auto strip = [](const std::string& text) {
      return std::string(absl::StripAsciiWhitespace(text));
    };
    SCOPED_TRACE(line);
    const auto [stage, words] = Outcome(strip(parts[0]));
    EXPECT_EQ(stage, strip(parts[1])) << words;
    EXPECT_THAT(words, HasSubstr(strip(parts[2])));
    ++count;
  }
  EXPECT_GE(count, 180);
}

TEST(Pjrt, TellsWhoItIs) {
  StandIn stand_in("strange-words");
  ASSERT_TRUE(stand_in.backend.ok()) << stand_in.backend.status();
  const BackendDescription& description = (*stand_in.backend)->Describe();
  EXPECT_THAT(description.version, HasSubstr("stand-in, "));
  EXPECT_THAT(description.version, HasSubstr("PJRT API 0.55"));
  EXPECT_EQ(description.version.find('\x1b'), std::string::npos);
  EXPECT_FALSE(description.dumps_passes);
  setenv("ASSAY_STAND_IN", "", 1);
  const auto facts = ProbePjrt(ASSAY_STAND_IN_PLUGIN, ASSAY_PJRT_WORKER);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->at("attributes").at("stand_in"), "7");
  EXPECT_EQ(facts->at("extensions"), nlohmann::json({"layouts"}));
  EXPECT_GT(facts->at("missing functions"), 0);
}

TEST(Pjrt, DevicesAreAskedFor) {
  setenv("ASSAY_STAND_IN", "few-devices", 1);
  BackendRegistry registry;
  RegisterPjrt(registry, ASSAY_PJRT_WORKER);
  const auto few = registry.Create(StrCat("pjrt:", ASSAY_STAND_IN_PLUGIN, ",devices=3"));
  ASSERT_FALSE(few.ok());
  EXPECT_THAT(ToStd(few.status().message()), HasSubstr("3 devices were asked for"));
  setenv("ASSAY_STAND_IN", "", 1);
  const auto three = registry.Create(StrCat("pjrt:", ASSAY_STAND_IN_PLUGIN, ",devices=3"));
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ((*three)->Describe().devices.size(), 3u);
}

TEST(Pjrt, WrongOptionsSaySo) {
  for (const auto& [options, words] :
       {std::pair{"", "names no plug-in"}, std::pair{"a.so,devices=0", "not a number from 1"},
        std::pair{"a.so,colour=red", "unknown option 'colour'"}}) {
    const auto parsed = PjrtOptions(options, "assay");
    ASSERT_FALSE(parsed.ok());
    EXPECT_THAT(ToStd(parsed.status().message()), HasSubstr(words));
  }
  BackendRegistry registry;
  RegisterPjrt(registry, ASSAY_PJRT_WORKER);
  const auto missing = registry.Create("pjrt:/no/such/plugin.so");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(ToStd(missing.status().message()), HasSubstr("cannot load the plug-in"));
  const auto other = registry.Create("pjrt:/lib/x86_64-linux-gnu/libm.so.6");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(ToStd(other.status().message()), HasSubstr("is no PJRT plug-in"));
}

}  // namespace
}  // namespace assay
