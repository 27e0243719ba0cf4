// Points-to sets and memory of what the compiler assigns: one line of testdata/buffer_rows.txt per
// row of the documents.
#include <algorithm>
#include <map>

#include "optimized/buffers/buffer_assignment.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/pipeline/pipeline.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using BufferId = BufferAssignment::BufferId;

// twice is called from two places; values die at different times; a loop and a branch carry state.
constexpr char kModule[] = R"(HloModule m
twice { p = f32[64] parameter(0)
  ROOT s = f32[64] add(p, p) }
cond { c = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { b = (s32[], f32[64]) parameter(0)
  i.1 = s32[] get-tuple-element(b), index=0
  x = f32[64] get-tuple-element(b), index=1
  one = s32[] constant(1)
  j = s32[] add(i.1, one)
  y = f32[64] call(x), to_apply=twice
  z = f32[64] reverse(y), dimensions={0}
  ROOT t = (s32[], f32[64]) tuple(j, z) }
then { q = f32[64] parameter(0)
  ROOT e = f32[64] exponential(q) }
else { r = f32[64] parameter(0)
  ROOT g = f32[64] reverse(r), dimensions={0} }
ENTRY main { a = f32[64] parameter(0)
  w = pred[] parameter(1)
  zero = s32[] constant(0)
  a1 = f32[64] reverse(a), dimensions={0}
  a2 = f32[64] reverse(a1), dimensions={0}
  a3 = f32[64] call(a2), to_apply=twice
  a4 = f32[64] add(a1, a3)
  init = (s32[], f32[64]) tuple(zero, a4)
  loop = (s32[], f32[64]) while(init), condition=cond, body=body
  a5 = f32[64] get-tuple-element(loop), index=1
  a6 = f32[64] conditional(w, a5, a2), true_computation=then, false_computation=else
  a7 = f32[64] reverse(a6), dimensions={0}
  ROOT out = (f32[64], f32[64]) tuple(a7, a4) }
)";

// The largest number of call sites that a called computation has.
int MostCallers(const Module& module) {
  std::map<const Computation*, int> callers;
  int most = 0;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : computation->instructions()) {
      for (const Computation* callee : instruction->callees()) {
        most = std::max(most, ++callers[callee]);
      }
    }
  }
  return most;
}

struct Lifetime {
  int first = 0, last = 0;  // steps
};

// The points-to sets of a frame, turned around: when each buffer holds something that is needed.
std::map<BufferId, Lifetime> Lifetimes(const BufferAssignment::Frame& frame) {
  std::map<BufferId, Lifetime> lifetimes;
  const int end = static_cast<int>(frame.steps.size());
  auto extend = [&](const std::vector<BufferId>& buffers, int step) {
    for (BufferId id : buffers) {
      if (id < 0) continue;
      auto [at, added] = lifetimes.try_emplace(id, Lifetime{step, step});
      at->second.last = std::max(at->second.last, step);
    }
  };
  for (const auto& parameter : frame.parameters) extend(parameter, -1);
  for (int step = 0; step < end; ++step) {
    const Instruction* instruction = frame.steps[step].instruction;
    auto own = frame.buffers.find(instruction);
    if (own != frame.buffers.end()) extend(own->second, step);
    for (const Instruction* operand : instruction->operands()) {
      auto read = frame.buffers.find(operand);
      if (read != frame.buffers.end()) extend(read->second, step);
    }
  }
  extend(frame.results, end);
  return lifetimes;
}

// Pairs of buffers of one frame that are live at the same time, and those of them that overlap. A
// value that dies at a step may make room for one that the step makes.
std::string LivePairs(const BufferAssignment& assignment) {
  int pairs = 0, overlaps = 0;
  int64_t bytes = 0;
  for (const auto& frame : assignment.frames()) {
    const std::map<BufferId, Lifetime> lifetimes = Lifetimes(*frame);
    for (auto a = lifetimes.begin(); a != lifetimes.end(); ++a) {
      const BufferSlice x = assignment.SliceOf(a->first);
      if (x.table_index == BufferTable::kArena) bytes += assignment.BytesOf(a->first);
      for (auto b = std::next(a); b != lifetimes.end(); ++b) {
        if (a->second.first >= b->second.last || b->second.first >= a->second.last) continue;
        ++pairs;
        const BufferSlice y = assignment.SliceOf(b->first);
        overlaps += x.table_index == y.table_index &&
                    x.offset < y.offset + assignment.BytesOf(b->first) &&
                    y.offset < x.offset + assignment.BytesOf(a->first);
      }
    }
  }
  return StrCat(pairs, " live pairs, ", overlaps, " overlap; ",
                bytes > assignment.arena_bytes() ? "memory is shared" : "nothing is shared");
}

TEST(BufferRows, EveryRowOfTheDocuments) {
  Observations see;
  see["gloss-points-to"] = [] {
    const std::unique_ptr<Module> module = ReadForTest(kModule);
    const int before = MostCallers(*module);
    Gates gates;
    EXPECT_EQ(RunRequired(Stage::kFlatten, *module, gates, {}), absl::OkStatus());
    const auto assignment = BufferAssignment::Run(*module, {"test"}, gates, int64_t{1} << 30);
    if (!assignment.ok()) return std::string(assignment.status().message());
    const auto& buffers = (*assignment)->entry().buffers;
    auto of = [&](std::string_view name) {
      for (const auto& [instruction, ids] : buffers) {
        if (instruction->name() == name) return ids;
      }
      return std::vector<BufferId>();
    };
    return StrCat("callers of a computation ", before, " and then ", MostCallers(*module), "; a5 ",
                  of("a5") == std::vector<BufferId>{of("loop")[1]} ? "points to" : "leaves",
                  " the loop's array; ", LivePairs(**assignment));
  };
  CheckRowTable("optimized/testdata/buffer_rows.txt", see);
}

}  // namespace
}  // namespace assay
