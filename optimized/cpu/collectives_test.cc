// Several devices as threads: what the goldens do not show. Values are those of the goldens in
// conformance/goldens/collectives.txt, which run on this backend too.
#include "optimized/cpu/testing.h"
#include "optimized/passes/expanders/async_expander.h"
#include "optimized/passes/pass_testing.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr char kAdd[] =
    "add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }\n";

struct Run {
  std::string text;
  DeviceAssignment devices;
  std::vector<std::vector<Literal>> inputs;  // by device
  double seconds = 60;
  std::string backend = "threads=1";
};

absl::StatusOr<std::vector<std::string>> RunDevices(const Run& run) {
  std::unique_ptr<Backend> backend = MakeCpu(run.backend);
  std::unique_ptr<Module> module = MustRead("HloModule m\n" + run.text);
  if (backend == nullptr || module == nullptr) return absl::InternalError("no module");
  CompileOptions options;
  options.devices = run.devices;
  options.limits.seconds = run.seconds;
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                         backend->Compile(*module, options));
  std::vector<std::vector<const Literal*>> arguments(
      static_cast<size_t>(run.devices.replicas * run.devices.partitions));
  for (size_t d = 0; d < run.inputs.size(); ++d) {
    for (const Literal& input : run.inputs[d]) arguments[d].push_back(&input);
  }
  ASSAY_ASSIGN_OR_RETURN(RunResult result, executable->Run(arguments));
  std::vector<std::string> values;
  for (const Literal& output : result.outputs) values.push_back(output.ToString());
  return values;
}

std::vector<std::vector<Literal>> Scalars(const std::vector<std::string>& by_device) {
  std::vector<std::vector<Literal>> inputs;
  for (const std::string& value : by_device) {
    inputs.emplace_back().push_back(MustReadLiteral("s32[]", value));
  }
  return inputs;
}

std::string ErrorOf(const Run& run) {
  const auto result = RunDevices(run);
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : std::string(result.status().message());
}

using Values = std::vector<std::string>;

// Nobody wants the result, and still every replica has to come; with and without passes.
TEST(Collectives, RunThoughNobodyWantsTheResult) {
  for (const char* backend : {"threads=1", "threads=1,passes=off"}) {
    const std::string text = std::string(kAdd) + R"(
quiet { x = s32[] parameter(0)  unused = s32[] all-reduce(x), to_apply=add  ROOT r = s32[] copy(x) }
loud { x = s32[] parameter(0)  ROOT r = s32[] negate(x) }
ENTRY main {
  p = s32[] parameter(0)
  z = s32[] constant(0)
  c = pred[] compare(p, z), direction=GT
  ROOT r = s32[] conditional(c, p, p), true_computation=quiet, false_computation=loud
})";
    const auto both = RunDevices({text, {2, 1, {}}, Scalars({"1", "2"}), 60, backend});
    ASSERT_TRUE(both.ok()) << both.status();
    EXPECT_EQ(*both, (Values{"1", "2"}));
    EXPECT_NE(ErrorOf({text, {2, 1, {}}, Scalars({"1", "-2"}), 60, backend})
                  .find("replica 0 waits in all-reduce unused for replica 1; replica 1 has "
                        "finished"),
              std::string::npos);
  }
}

// A call, a loop and a branch whose results are dropped run for what is in them.
TEST(Collectives, EffectsOfCalledComputationsStay) {
  const std::string text = std::string(kAdd) + R"(
meet { x = s32[] parameter(0)  ROOT met = s32[] all-reduce(x), to_apply=add }
ENTRY main {
  p = s32[] parameter(0)
  c = s32[] call(p), to_apply=meet
  ROOT r = s32[] negate(p)
})";
  const auto run = RunDevices({text, {2, 1, {}}, Scalars({"1", "2"}), 60, "threads=1,passes=off"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(*run, (Values{"-1", "-2"}));
}

// Runs the program on two replicas with the arguments 5 and -2.
void ExpectWithAndWithoutPasses(const std::string& text, const Values& expected) {
  for (const char* backend : {"threads=1", "threads=1,passes=off"}) {
    const auto run = RunDevices({text, {2, 1, {}}, Scalars({"5", "-2"}), 60, backend});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(*run, expected);
  }
}

// Copies that passes make of one collective still are one: the branches differ, the op does not.
TEST(Collectives, OneComputationCalledFromTwoBranchesMeets) {
  const std::string text = std::string(kAdd) + R"(
meet { x = s32[] parameter(0)  ROOT met = s32[] all-reduce(x), to_apply=add }
one { x = s32[] parameter(0)  ROOT r = s32[] call(x), to_apply=meet }
two { x = s32[] parameter(0)  m = s32[] call(x), to_apply=meet  ROOT r = s32[] negate(m) }
ENTRY main {
  p = s32[] parameter(0)
  z = s32[] constant(0)
  c = pred[] compare(p, z), direction=GT
  ROOT r = s32[] conditional(c, p, p), true_computation=one, false_computation=two
})";
  ExpectWithAndWithoutPasses(text, {"3", "-3"});
}

// Branches with a collective each that share a channel.
TEST(Collectives, BranchesThatShareAChannelMeet) {
  const std::string text = std::string(kAdd) + R"(
one { x = s32[] parameter(0)
  a = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  ROOT r = s32[] add(a, a) }
two { x = s32[] parameter(0)
  ROOT a = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
ENTRY main {
  p = s32[] parameter(0)
  z = s32[] constant(0)
  c = pred[] compare(p, z), direction=GT
  ROOT r = s32[] conditional(c, p, p), true_computation=one, false_computation=two
})";
  ExpectWithAndWithoutPasses(text, {"6", "3"});
}

// Equal collectives are two meetings: merged, the third device would be missed once.
TEST(Collectives, EqualOnesAreNotMergedOrMoved) {
  const std::string text = std::string(kAdd) + R"(
more { t = (s32[], s32[], s32[]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  z = s32[] constant(0)  ROOT p = pred[] compare(n, z), direction=GT }
body { t = (s32[], s32[], s32[]) parameter(0)  n = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)  m = s32[] subtract(n, one)
  v = s32[] get-tuple-element(t), index=1  s = s32[] get-tuple-element(t), index=2
  w = s32[] all-reduce(v), to_apply=add  u = s32[] all-reduce(v), to_apply=add
  a = s32[] add(s, w)  b = s32[] add(a, u)
  ROOT r = (s32[], s32[], s32[]) tuple(m, v, b) }
ENTRY main {
  n = s32[] parameter(0)
  one = s32[] constant(1)
  z = s32[] constant(0)
  t = (s32[], s32[], s32[]) tuple(n, one, z)
  w = (s32[], s32[], s32[]) while(t), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=2
})";
  const auto run = RunDevices({text, {3, 1, {}}, Scalars({"4", "4", "4"})});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(*run, (Values{"24", "24", "24"}));
  EXPECT_NE(
      ErrorOf({text, {3, 1, {}}, Scalars({"4", "3", "4"})}).find("(execution 4) for replica 1"),
      std::string::npos);
}

// A device that computes for ever while another waits: the limit ends both.
TEST(Collectives, TheLimitEndsWaitingAndLoops) {
  const std::string text = std::string(kAdd) + R"(
more { n = s32[] parameter(0)  z = s32[] constant(0)  ROOT p = pred[] compare(n, z), direction=GT }
body { n = s32[] parameter(0)  one = s32[] constant(1)  m = s32[] multiply(n, one)
  ROOT k = s32[] maximum(m, one) }
ENTRY main {
  n = s32[] parameter(0)
  w = s32[] while(n), condition=more, body=body
  ROOT r = s32[] all-reduce(w), to_apply=add
})";
  const std::string error = ErrorOf({text, {2, 1, {}}, Scalars({"0", "1"}), 0.3});
  EXPECT_NE(error.find("did not finish within the time limit: replica 0 waits in all-reduce r for "
                       "replica 1; replica 1 still computes"),
            std::string::npos)
      << error;
}

// The order of the group decides, whoever comes first: 1e8 + 1 - 1e8 in f32, each way round.
TEST(Collectives, ReductionsFollowTheOrderOfTheGroup) {
  const auto sum = [](const std::string& group) {
    const std::string text =
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
        "ENTRY main { x = f32[] parameter(0)\n"
        "  ROOT r = f32[] all-reduce(x), replica_groups={" +
        group + "}, to_apply=add }";
    std::vector<std::vector<Literal>> inputs(3);
    inputs[0].push_back(MustReadLiteral("f32[]", "1e8"));
    inputs[1].push_back(MustReadLiteral("f32[]", "1"));
    inputs[2].push_back(MustReadLiteral("f32[]", "-1e8"));
    std::string result;
    for (int k = 0; k < 20; ++k) {
      const auto run = RunDevices({text, {3, 1, {}}, inputs});
      EXPECT_TRUE(run.ok()) << run.status();
      if (!run.ok()) return result;
      EXPECT_EQ(*run, Values(3, run->front()));
      EXPECT_TRUE(k == 0 || result == run->front());
      result = run->front();
    }
    return result;
  };
  EXPECT_EQ(sum("{0,1,2}"), "0");
  EXPECT_EQ(sum("{0,2,1}"), "1");
}

// Large arrays, kernels split over a pool that all devices share.
TEST(Collectives, LargeArraysAndAPool) {
  const std::string text = std::string(kAdd) + R"(
ENTRY main {
  x = s32[] parameter(0)
  b = s32[300000] broadcast(x), dimensions={}
  i = s32[300000] iota(), iota_dimension=0
  v = s32[300000] add(b, i)
  s = s32[100000] reduce-scatter(v), dimensions={0}, to_apply=add
  g = s32[300000] all-gather(s), dimensions={0}
  three = s32[] constant(3)
  t = s32[300000] broadcast(three), dimensions={}
  w = s32[300000] multiply(i, t)
  d = s32[300000] subtract(g, w)
  z = s32[] constant(0)
  ROOT r = s32[] reduce(d, z), dimensions={0}, to_apply=add
})";
  const auto run = RunDevices({text, {3, 1, {}}, Scalars({"1", "2", "4"}), 60, "threads=2"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(*run, Values(3, "2100000"));
}

TEST(Collectives, ErrorsNameTheOpAndTheDevice) {
  const std::string sum = std::string(kAdd) +
                          "ENTRY main { x = s32[] parameter(0)\n"
                          "  ROOT r = s32[] all-reduce(x), replica_groups={{0,2}}, to_apply=add }";
  EXPECT_NE(ErrorOf({sum, {2, 1, {}}, Scalars({"1", "2"})})
                .find("all-reduce r: all-reduce: replica_groups names replica 2"),
            std::string::npos);
  const std::string gather =
      "ENTRY main { x = s32[1] parameter(0)\n"
      "  ROOT r = s32[3] all-gather(x), dimensions={0} }";
  EXPECT_NE(ErrorOf({gather, {2, 1, {}}, {}}).find("all-gather r: dimension 0 has 3 and 1"),
            std::string::npos);
  const std::string broadcast =
      "ENTRY main { x = s32[] parameter(0)\n  v = s32[1] reshape(x)\n"
      "  ROOT r = s32[] collective-broadcast(x, v), has_dynamic_root=true }";
  EXPECT_NE(ErrorOf({broadcast, {2, 1, {}}, Scalars({"2", "2"})})
                .find("collective-broadcast r: root 2 is not in [0, 2)"),
            std::string::npos);
  EXPECT_NE(ErrorOf({broadcast, {2, 1, {}}, Scalars({"0", "1"})}).find("different roots"),
            std::string::npos);
  EXPECT_NE(ErrorOf({broadcast, {1000, 1, {}}, {}}).find("1000 replicas of 1 partitions"),
            std::string::npos);
}

// Pieces outside of their arrays are an error, whatever the sizes say.
TEST(Collectives, RaggedPiecesMustFit) {
  const std::string text = R"(
ENTRY main {
  n = s32[] parameter(0)
  in = s32[3] iota(), iota_dimension=0
  z = s32[] constant(0)
  out = s32[4] broadcast(z), dimensions={}
  zero = s32[1] reshape(z)
  size = s32[1] reshape(n)
  ROOT r = s32[4] ragged-all-to-all(in, out, zero, size, size, size), replica_groups={{0}}
})";
  const auto run = RunDevices({text, {1, 1, {}}, Scalars({"2"})});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(*run, Values{"{0, 0, 0, 1}"});
  for (const char* size : {"3", "-1", "2147483647"}) {
    EXPECT_NE(ErrorOf({text, {1, 1, {}}, Scalars({size})}).find("does not fit"), std::string::npos)
        << size;
  }
}

TEST(AsyncExpander, PairsBecomeTheOp) {
  ExpectRewrite<AsyncExpander>(std::string("HloModule m\n") + kAdd + R"(ENTRY main {
  x = s32[2] parameter(0)
  rs = s32[2] all-reduce-start(x), to_apply=add
  gs = (s32[2], s32[4]) all-gather-start(x), dimensions={0}
  ps = (s32[2], s32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1}}
  p = s32[2] collective-permute-done(ps)
  g = s32[4] all-gather-done(gs)
  r = s32[2] all-reduce-done(rs)
  cs = (s32[2], s32[2], u32[]) copy-start(p)
  c = s32[2] copy-done(cs)
  ROOT t = (s32[2], s32[4], s32[2]) tuple(r, g, c)
})",
                               std::string("HloModule m\n") + kAdd + R"(ENTRY main {
  x = s32[2] parameter(0)
  r = s32[2] all-reduce(x), to_apply=add
  g = s32[4] all-gather(x), dimensions={0}
  gt = (s32[2], s32[4]) tuple(x, g)
  p = s32[2] collective-permute(x), source_target_pairs={{0,1}}
  z1 = u32[] constant(0)
  z2 = u32[] constant(0)
  pt = (s32[2], s32[2], u32[], u32[]) tuple(x, p, z1, z2)
  p1 = s32[2] get-tuple-element(pt), index=1
  g1 = s32[4] get-tuple-element(gt), index=1
  c = s32[2] copy(p1)
  z3 = u32[] constant(0)
  ct = (s32[2], s32[2], u32[]) tuple(c, p1, z3)
  c0 = s32[2] get-tuple-element(ct), index=0
  ROOT t = (s32[2], s32[4], s32[2]) tuple(r, g1, c0)
})");
}

TEST(AsyncExpander, ComputationsRunAtTheDone) {
  ExpectRewrite<AsyncExpander>(R"(HloModule m
wrapped { a = s32[2] parameter(0)  b = s32[2] parameter(1)  ROOT s = s32[2] subtract(a, b) }
ENTRY main {
  x = s32[2] parameter(0)
  y = s32[2] parameter(1)
  s = ((s32[2]), s32[2]) async-start(x), calls=wrapped
  u = ((s32[2], s32[2]), s32[2]) async-update(s, y)
  ROOT r = s32[2] async-done(u)
})",
                               R"(
  x = s32[2] parameter(0)
  y = s32[2] parameter(1)
  ROOT r = s32[2] subtract(x, y))");
}

}  // namespace
}  // namespace assay
