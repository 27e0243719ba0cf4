// Tests the program of steps that modules become, as text.
#include "optimized/plan/program_plan.h"

#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string PlanOf(const std::string& text) {
  std::unique_ptr<Module> module = MustRead(text);
  std::unique_ptr<Backend> backend = MakeCpu("threads=4,isa=baseline,trace=on");
  if (module == nullptr || backend == nullptr) return "";
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend->Compile(*module, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return "";
  const auto* planned = dynamic_cast<const PlannedExecutable*>(executable->get());
  std::string lines = "\n";
  for (const StepText& step : planned->plan()) {
    StrAppend(&lines, step.frame, "/", step.step, " = ", step.plan, "; ", step.reads, " -> ",
              step.writes, "\n");
  }
  return lines;
}

TEST(ProgramPlan, SaysWhatEachStepIsMadeOf) {
  EXPECT_EQ(PlanOf(R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[512,256] parameter(0)
  y = f32[256,512] parameter(1)
  d = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[512,512] exponential(d)
  zero = f32[] constant(0)
  r = f32[512] reduce(e, zero), dimensions={1}, to_apply=add
  s = f32[512] sort(r), dimensions={0}, to_apply=less
  w = f32[256,512] transpose(x), dimensions={1,0}
  ROOT t = (f32[512], f32[256,512]) tuple(s, w) })"),
            R"(
main/fusion = contraction: assay_contract: linear by 16; parameter 0, parameter 1 -> arena + 0
main/fusion.1 = nests: one by one; 512 in parts of 192; arena + 0 -> result 1
main/s = native: assay_sort_lines_by_key; result 1 -> result 0
main/w = nests: tiles of 16 along dimension 0; 256 in parts of 96; parameter 0 -> result 1
)");
}

TEST(ProgramPlan, LoopsComeAfterWhatTheyRun) {
  EXPECT_EQ(PlanOf(R"(HloModule m
condition { p = (s32[], s32[], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  x = f32[8,64] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  f = f32[] convert(i)
  b = f32[1,64] broadcast(f), dimensions={}
  u = f32[8,64] dynamic-update-slice(x, b, i, zero)
  ROOT t = (s32[], s32[], f32[8,64]) tuple(j, n, u) }
ENTRY main { x = f32[8,64] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  state = (s32[], s32[], f32[8,64]) tuple(zero, n, x)
  w = (s32[], s32[], f32[8,64]) while(state), condition=condition, body=body
  ROOT r = f32[8,64] get-tuple-element(w), index=2 })"),
            R"(
condition/l = nests: linear; arena + 0, arena + 64 -> arena + 128
body/fusion.1 = nests: linear; arena + 0 -> arena + 192
body/fusion = nests: linear by 16; arena + 0 -> arena + 256
body/u = update-in-place: lanes of dimension 1 by 16 at [?,?]; result 0, arena + 256, arena + 0, constants + 64 -> result 0
main/w = runs condition, body; constants + 0, parameter 1, parameter 0 -> arena + 0, arena + 64, result 0
)");
}

}  // namespace
}  // namespace assay
