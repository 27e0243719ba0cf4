// Tests the checker of buffers: plans pass, and plans with a planted mistake do not.
#include "optimized/buffers/buffer_checker.h"

#include "gtest/gtest.h"
#include "optimized/defects/plant.h"
#include "optimized/passes/pass_testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Asks the checker about the buffers of a module, made with a mistake or without one.
std::string Said(const std::string& text, const std::string& defect) {
  const std::unique_ptr<Module> module = ReadForTest(text);
  auto planted = PlantFromText(defect);
  EXPECT_TRUE(planted.ok()) << planted.status();
  if (module == nullptr || !planted.ok()) return "?";
  Gates gates(-1, *planted);
  const MemorySpace space{"host"};
  const auto buffers = BufferAssignment::Run(*module, space, gates, int64_t{1} << 30);
  EXPECT_TRUE(buffers.ok()) << buffers.status();
  return buffers.ok() ? StrCat(ToStd(CheckBuffers(**buffers, *module).message())) : "?";
}

std::string Claim(const std::string& gate) {
  return StrCat(R"({"name": "d", "summary": "s", "gate": ")", gate,
                R"(", "kind": "buffer", "op": "claim-true"})");
}

struct Mistake {
  std::string gate, said, text;
};

const std::vector<Mistake>& Mistakes() {
  static const auto& mistakes = *new std::vector<Mistake>{
      {"reuse-elementwise", "buffers: c reads a where by then b lies instead of a",
       R"(
  x = f32[8] parameter(0)
  a = f32[8] cosine(x)
  b = f32[8] negate(a)
  d = f32[4] slice(b), slice={[0:4]}
  c = f32[8] reverse(a), dimensions={0}
  ROOT t = (f32[4], f32[8]) tuple(d, c))"},
      {"in-place-dus/operand-dies", "buffers: c reads a where by then b lies instead of a",
       R"(
  x = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  a = f32[8] cosine(x)
  b = f32[8] dynamic-update-slice(a, u, i)
  d = f32[4] slice(b), slice={[0:4]}
  c = f32[8] reverse(a), dimensions={0}
  ROOT t = (f32[4], f32[8]) tuple(d, c))"},
      {"in-place-dus/updates-apart", "buffers: b writes over a",
       R"(
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  a = f32[8] cosine(x)
  b = f32[8] dynamic-update-slice(a, a, i)
  ROOT d = f32[4] slice(b), slice={[0:4]})"},
      {"share-arena", "buffers: ",
       R"(
  x = f32[8] parameter(0)
  a = f32[8] cosine(x)
  b = f32[8] reverse(a), dimensions={0}
  c = f32[8] reverse(b), dimensions={0}
  ROOT d = f32[4] slice(c), slice={[0:4]})"},
      {"while-init-in-place", "buffers: c reads a where by then w lies instead of a",
       R"(HloModule m
body { p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p) }
condition { p = f32[8] parameter(0)
  ROOT t = pred[] constant(false) }
ENTRY e { x = f32[8] parameter(0)
  a = f32[8] cosine(x)
  w = f32[8] while(a), condition=condition, body=body
  d = f32[4] slice(w), slice={[0:4]}
  c = f32[8] reverse(a), dimensions={0}
  ROOT t = (f32[4], f32[8]) tuple(d, c) })"},
      {"while-copy-elision", "buffers: n writes over x",
       R"(HloModule m
body { p = (f32[8], f32[4]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  n = f32[8] reverse(x), dimensions={0}
  r = f32[4] slice(x), slice={[0:4]}
  ROOT t = (f32[8], f32[4]) tuple(n, r) }
condition { p = (f32[8], f32[4]) parameter(0)
  ROOT t = pred[] constant(false) }
ENTRY e { x = f32[8] parameter(0)
  a = f32[8] cosine(x)
  b = f32[4] slice(a), slice={[4:8]}
  s = (f32[8], f32[4]) tuple(a, b)
  ROOT w = (f32[8], f32[4]) while(s), condition=condition, body=body })"},
      {"lend-result/dead", "buffers: b writes over a",
       R"(
  x = f32[512] parameter(0)
  a = f32[512] cosine(x)
  b = f32[512] reverse(a), dimensions={0}
  c = f32[256] slice(a), slice={[0:256]}
  ROOT t = (f32[512], f32[256]) tuple(b, c))"},
  };
  return mistakes;
}

TEST(BufferChecker, FindsEachMistakeAndNothingElse) {
  for (const Mistake& mistake : Mistakes()) {
    SCOPED_TRACE(mistake.gate);
    EXPECT_EQ(Said(mistake.text, ""), "");
    const std::string said = Said(mistake.text, Claim(mistake.gate));
    EXPECT_EQ(said.substr(0, mistake.said.size()), mistake.said) << said;
  }
}

}  // namespace
}  // namespace assay
