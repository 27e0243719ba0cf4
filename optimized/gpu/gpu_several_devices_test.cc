// Several GPUs in one process, with stand-ins for the driver and for NCCL: collectives by NCCL and
// over the host give what gpu-sim gives; an error at each call, partners that do not come, and
// mistakes in calls, planted, end in errors that say so, in time and with nothing left behind.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/backends_for_test.h"
#include "optimized/gpu/cuda_host.h"
#include "optimized/gpu/driver/testing/stand_in_for_test.h"
#include "optimized/plan/program_plan.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kDevices = 4;
constexpr const char* kNccl = "gpu:image-ir=on,libraries=on";
constexpr const char* kHost = "gpu:image-ir=on";

// Every kind of collective, on numbers that tell devices apart.
constexpr char kAll[] = R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
most { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] maximum(a, b) }
greatest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
any { a = pred[] parameter(0) b = pred[] parameter(1) ROOT s = pred[] or(a, b) }
product { a = s8[] parameter(0) b = s8[] parameter(1) ROOT s = s8[] multiply(a, b) }
ENTRY e {
  k = u32[] replica-id()
  n = s32[] convert(k)
  f = f32[] convert(k)
  i = s32[4,8] iota(), iota_dimension=1
  nb = s32[4,8] broadcast(n), dimensions={}
  x = s32[4,8] multiply(i, nb)
  j = f32[4,8] iota(), iota_dimension=0
  fb = f32[4,8] broadcast(f), dimensions={}
  y = f32[4,8] add(j, fb)
  c2 = s32[] constant(2)
  two = s32[4,8] broadcast(c2), dimensions={}
  p = pred[4,8] compare(x, two), direction=EQ
  q = s8[4,8] convert(x)
  r0 = f32[4,8] all-reduce(y), to_apply=add
  r1 = s32[4,8] all-reduce(x), to_apply=most
  r2 = f32[4,8] all-reduce(y), to_apply=greatest
  r3 = pred[4,8] all-reduce(p), to_apply=any
  r4 = s8[4,8] all-reduce(q), replica_groups={{0,2},{3,1}}, to_apply=product
  r5 = f32[4,2] reduce-scatter(y), dimensions={1}, to_apply=add
  r6 = s32[16,8] all-gather(x), dimensions={0}
  r7 = s32[4,16] all-gather(x), dimensions={1}, replica_groups={{1,0},{2,3}}
  r8 = s32[4,8] all-to-all(x), dimensions={1}
  r9 = s32[4,8] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,3}}
  r10 = s32[4,8] collective-broadcast(x), replica_groups={{2,0},{1,3}}
  ROOT r = (f32[4,8], s32[4,8], f32[4,8], pred[4,8], s8[4,8], f32[4,2], s32[16,8], s32[4,16], s32[4,8], s32[4,8], s32[4,8]) tuple(r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10)
}
)";

// A loop, so that communicators are used again and results of one are operands of the next.
constexpr char kLoop[] = R"(HloModule m
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
cond { p = (s32[], s32[40]) parameter(0) i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5) ROOT r = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[40]) parameter(0) i = s32[] get-tuple-element(p), index=0
  x = s32[40] get-tuple-element(p), index=1 o = s32[] constant(1) j = s32[] add(i, o)
  y = s32[40] all-reduce(x), to_apply=add
  z = s32[40] collective-permute(y), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  ROOT r = (s32[], s32[40]) tuple(j, z) }
ENTRY e { k = u32[] replica-id() c = s32[] convert(k) b = s32[40] broadcast(c), dimensions={}
  i = s32[40] iota(), iota_dimension=0 x = s32[40] add(b, i) z = s32[] constant(0)
  t = (s32[], s32[40]) tuple(z, x)
  ROOT w = (s32[], s32[40]) while(t), condition=cond, body=body }
)";

class GpuSeveralDevices : public testing::Test {
 protected:
  void SetUp() override { Reset(); }
  void TearDown() override {
    unsetenv("ASSAY_STAND_IN_DEVICES");
    gpu::ForgetCudaHost();
    gpu::ResetStandIn();
  }

  static void Reset(const char* nccl = ASSAY_STAND_IN) {
    setenv("ASSAY_STAND_IN_DEVICES", StrCat(kDevices).c_str(), 1);
    setenv("ASSAY_LIBCUDA", ASSAY_STAND_IN, 1);
    setenv("ASSAY_LIBNCCL", nccl, 1);
    for (const char* variable :
         {"ASSAY_LIBCUBLASLT", "ASSAY_LIBCUDNN", "ASSAY_LIBCUSOLVER", "ASSAY_LIBCUFFT"})
      setenv(variable, "libno-such-library.so", 1);
    gpu::ForgetCudaHost();
    gpu::ResetStandIn();
  }
  static absl::StatusOr<std::unique_ptr<Executable>> Compile(const std::string& backend,
                                                             const char* text,
                                                             int64_t replicas = kDevices,
                                                             double seconds = 60) {
    CompileOptions options;
    options.devices.replicas = replicas;
    options.limits.seconds = seconds;
    return OpenGpuBackend(backend)->Compile(*MustRead(text), options);
  }
  static absl::StatusOr<std::string> Run(Executable& executable) {
    const auto run = executable.Run(std::vector<std::vector<const Literal*>>(kDevices));
    if (!run.ok()) return run.status();
    std::string text;
    for (const Literal& output : run->outputs) StrAppend(&text, output.ToString(), "\n");
    return text;
  }
  // Numbers are small and whole, so that sums in any order have the same bits.
  static std::string Wanted(const char* text) {
    auto executable = Compile("gpu-sim", text);
    EXPECT_TRUE(executable.ok()) << executable.status();
    auto run = Run(**executable);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : "";
  }
};

TEST_F(GpuSeveralDevices, GiveWhatTheSimulatorGives) {
  for (const char* text : {kAll, kLoop}) {
    const std::string wanted = Wanted(text);
    for (const char* name : {kHost, kNccl}) {
      SCOPED_TRACE(name);
      Reset();
      auto executable = Compile(name, text);
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int k = 0; k < 3; ++k) {
        const auto run = Run(**executable);
        ASSERT_TRUE(run.ok()) << run.status() << gpu::ReportOfStandIn();
        EXPECT_EQ(*run, wanted);
      }
      EXPECT_EQ(gpu::CountOf("ncclSend") > 0, name == kNccl);
      if (name == kNccl && text == kAll) {
        // They are made once, for all runs: those of all devices, and of two pairs of groups.
        EXPECT_EQ(gpu::CountOf("ncclCommInitRank"), 3 * 4);
        EXPECT_EQ(gpu::CountOf("ncclAllReduce"), 3 * 4 * 4);
        EXPECT_EQ(gpu::CountOf("ncclReduceScatter"), 3 * 4 * 4);
        EXPECT_EQ(gpu::CountOf("ncclAllGather"), 3 * (1 + 4) * 4);
        // Only the greatest of floats goes over the host.
        EXPECT_EQ((*executable)->Statistics().at("collectives.on.device"), 10);
      }
      executable = absl::UnavailableError("");
      EXPECT_EQ(gpu::LivingInStandIn(), 0);
      gpu::ForgetCudaHost();
      EXPECT_EQ(gpu::ReportOfStandIn(), "");
    }
  }
}

std::string PlanOf(const Executable& executable) {
  const auto* planned = dynamic_cast<const PlannedExecutable*>(&executable);
  EXPECT_NE(planned, nullptr);
  std::string plan;
  if (planned == nullptr) return plan;
  for (const StepText& step : planned->plan()) StrAppend(&plan, step.step, ": ", step.plan, "\n");
  return plan;
}

TEST_F(GpuSeveralDevices, PlansSayWhichWayCollectivesGo) {
  auto executable = Compile(StrCat(kNccl, ",trace=on"), kAll);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const std::string plan = PlanOf(**executable);
  EXPECT_THAT(plan, testing::HasSubstr("r0: native: host assay_collective, by NCCL"));
  EXPECT_THAT(plan, testing::HasSubstr("r2: native: host assay_collective, over the host: NCCL's "
                                       "maximum of floats drops NaN"));
  // Narrow sums in another order need a profile that grants them.
  constexpr char kNarrow[] = R"(HloModule m
add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT s = bf16[] add(a, b) }
ENTRY e { x = bf16[4] iota(), iota_dimension=0 ROOT r = bf16[4] all-reduce(x), to_apply=add }
)";
  auto strict = Compile(StrCat(kNccl, ",trace=on,profile=strict"), kNarrow);
  ASSERT_TRUE(strict.ok()) << strict.status();
  EXPECT_THAT(PlanOf(**strict), testing::HasSubstr("which the profile does not grant"));
  auto loose = Compile(StrCat(kNccl, ",trace=on,profile=xla"), kNarrow);
  ASSERT_TRUE(loose.ok()) << loose.status();
  EXPECT_THAT(PlanOf(**loose), testing::HasSubstr("by NCCL"));
}

TEST_F(GpuSeveralDevices, WithoutNcclGoOverTheHost) {
  Reset("libno-such-nccl.so");
  auto executable = Compile(kNccl, kAll);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto run = Run(**executable);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(*run, Wanted(kAll));
  EXPECT_EQ(gpu::CountOf("ncclSend"), 0);
}

TEST_F(GpuSeveralDevices, MoreThanThereAreAreUnsupported) {
  const auto executable = Compile(kHost, kLoop, 5);
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(ClassOf(executable.status()), ErrorClass::kUnsupported);
  EXPECT_THAT(std::string(executable.status().message()),
              testing::AllOf(testing::HasSubstr("5 replicas"), testing::HasSubstr("4 devices")));
  EXPECT_EQ(ClassOf(Compile(StrCat(kHost, ",ranks=processes"), kLoop).status()),
            ErrorClass::kUnsupported);
}

TEST_F(GpuSeveralDevices, AnswerAnErrorAtEachCall) {
  constexpr int kOutOfMemory = 2;
  int failed = 0;
  for (const char* name : {kNccl, kHost}) {
    const std::string wanted = Wanted(kLoop);
    Reset();
    auto executable = Compile(name, kLoop);
    ASSERT_TRUE(executable.ok()) << executable.status();
    // The first run makes what later ones keep.
    for (int at = 0, behind = 0; behind < 3; at += name == kNccl ? 1 : 11) {
      SCOPED_TRACE(StrCat(name, ", call ", at));
      const int before = gpu::CallsSoFar();
      gpu::FailAt(at, kOutOfMemory);
      const auto run = Run(**executable);
      const bool was_told = gpu::CallsSoFar() > before + at;
      gpu::FailAt(-1, 0);
      if (!was_told) ++behind;
      if (run.ok()) {
        EXPECT_EQ(*run, wanted);
      } else {
        ASSERT_TRUE(was_told) << run.status();
        ++failed;
        EXPECT_GT(run.status().message().size(), 12u);
        EXPECT_EQ(gpu::LivingInStandIn(), 0) << run.status();
      }
      EXPECT_EQ(gpu::ReportOfStandIn(), "") << run.status();
      ASSERT_LT(at, 5000);
    }
    const auto run = Run(**executable);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(*run, wanted);
    executable = absl::UnavailableError("");
    gpu::ForgetCudaHost();
    EXPECT_EQ(gpu::ReportOfStandIn(), "");
  }
  EXPECT_GT(failed, 200);
}

TEST_F(GpuSeveralDevices, APartnerThatDoesNotComeEndsTheRunInTime) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* call : {"ncclSend@1", "ncclRecv@2"}) {
    SCOPED_TRACE(call);
    Reset();
    auto executable = Compile(kNccl, kLoop, kDevices, /*seconds=*/1);
    ASSERT_TRUE(executable.ok()) << executable.status();
    gpu::BendCall(call, call[4] == 'S' ? 1 : -1);
    const auto run = Run(**executable);
    EXPECT_EQ(ClassOf(run.status()), ErrorClass::kTimeout) << run.status();
    EXPECT_EQ(gpu::LivingInStandIn(), 0);
    // The process goes on.
    gpu::BendCall(call, 0);
    const auto again = Run(**executable);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, Wanted(kLoop));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// NCCL tells it to who asks while a stream waits: long before the time limit.
TEST_F(GpuSeveralDevices, AnErrorThatComesUpWhileADeviceWaitsEndsTheRun) {
  constexpr int kRemoteError = 6;
  auto executable = Compile(kNccl, kLoop, kDevices, /*seconds=*/60);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto start = std::chrono::steady_clock::now();
  // Device 1 sends to another one than its partner, which waits.
  gpu::BendCall("ncclSend@1", 1);
  gpu::BendCall("ncclCommGetAsyncError@2", kRemoteError);
  const auto run = Run(**executable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              testing::HasSubstr("a communicator of device 2"));
  EXPECT_EQ(gpu::LivingInStandIn(), 0);
  gpu::BendCall("ncclSend@1", 0);
  gpu::BendCall("ncclCommGetAsyncError@2", 0);
  const auto again = Run(**executable);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, Wanted(kLoop));
}

TEST_F(GpuSeveralDevices, DevicesThatGoDifferentWaysAreNamed) {
  // Device 0 leaves the loop, in which the others wait for it.
  constexpr char kWays[] = R"(HloModule m
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
yes { p = s32[4] parameter(0) ROOT r = s32[4] all-reduce(p), to_apply=add }
no { ROOT p = s32[4] parameter(0) }
ENTRY e { k = u32[] replica-id() z = u32[] constant(0) c = pred[] compare(k, z), direction=NE
  i = s32[4] iota(), iota_dimension=0
  ROOT r = s32[4] conditional(c, i, i), true_computation=yes, false_computation=no }
)";
  auto executable = Compile(kNccl, kWays);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto start = std::chrono::steady_clock::now();
  const auto run = Run(**executable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()), testing::HasSubstr("replica 0 has finished"));
  EXPECT_EQ(gpu::LivingInStandIn(), 0);
}

// Each mistake is noted, or gives other numbers, or ends the run.
TEST_F(GpuSeveralDevices, MistakesInCallsAreFound) {
  const std::pair<const char*, int64_t> mistakes[] = {
      {"ncclAllReduce", -1},      {"ncclAllReduce@2", -1},
      {"ncclAllReduce", 1000},    {"ncclAllGather", -1},
      {"ncclAllGather@3", 1},     {"ncclReduceScatter", -1},
      {"ncclReduceScatter@0", 1}, {"ncclSend", 1},
      {"ncclSend@1", 1},          {"ncclRecv", 1},
      {"ncclRecv@2", -1},         {"ncclCommInitRank", 1},
      {"ncclCommInitRank@1", 1},  {"ncclGroupEnd", 1},
      {"cuMemcpyDtoDAsync", -1},
  };
  const std::string wanted = Wanted(kAll);
  for (const auto& [call, by] : mistakes) {
    SCOPED_TRACE(StrCat(call, " by ", by));
    Reset();
    auto executable = Compile(kNccl, kAll, kDevices, /*seconds=*/1);
    ASSERT_TRUE(executable.ok()) << executable.status();
    gpu::BendCall(call, by);
    const auto run = Run(**executable);
    EXPECT_TRUE(!run.ok() || *run != wanted || !gpu::ReportOfStandIn().empty());
    gpu::BendCall(call, 0);
  }
}

}  // namespace
}  // namespace assay
