// The backend gpu by way of the stand-in for its driver: the same bits as the simulator's own
// backend, and what is said without one.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "optimized/gpu/simulator/finding.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::unique_ptr<Backend> OpenGpu(const std::string& name) {
  BackendRegistry registry;
  RegisterGpuSim(registry);
  RegisterGpu(registry);
  auto backend = registry.Create(name);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

constexpr const char* kModules[] = {
    // Element by element.
    "HloModule m\nENTRY main {\n x = f32[300] iota(), iota_dimension=0\n"
    " c = f32[] constant(0.25)\n b = f32[300] broadcast(c), dimensions={}\n"
    " y = f32[300] multiply(x, b)\n ROOT r = f32[300] exponential(y)\n}\n",
    // A reduction, and two results.
    "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT r = f32[] add(a, b) }\nENTRY main {\n x = f32[7,40] iota(), iota_dimension=1\n"
    " z = f32[] constant(0)\n s = f32[7] reduce(x, z), dimensions={1}, to_apply=add\n"
    " t = f32[40,7] transpose(x), dimensions={1,0}\n"
    " ROOT r = (f32[7], f32[40,7]) tuple(s, t)\n}\n",
    // Functions that are linked into kernels, kernels in C++ with several launches, and a step of
    // the host.
    "HloModule m\nENTRY main {\n x = f32[12] iota(), iota_dimension=0\n"
    " k = f32[] constant(1e20)\n b = f32[12] broadcast(k), dimensions={}\n"
    " far = f32[12] multiply(x, b)\n s = f32[12] sine(far)\n c = c64[12] complex(s, x)\n"
    " f = c64[12] fft(c), fft_type=FFT, fft_length={12}\n l = c64[12] log(f)\n"
    " q = f32[3,4] reshape(s)\n"
    " u = (f32[3,4], s32[3], s32[]) custom-call(q), custom_call_target=\"lapack_sgetrf_ffi\"\n"
    " v = f32[3,4] get-tuple-element(u), index=0\n"
    " t = (f32[2], s32[2]) topk(s), k=2, largest=true\n w = f32[2] get-tuple-element(t), index=0\n"
    " ROOT r = (c64[12], f32[3,4], f32[2]) tuple(l, v, w)\n}\n",
    // A product with what is done to its result, which cuBLASLt gives.
    "HloModule m\nENTRY main {\n a = f32[3,5] iota(), iota_dimension=1\n"
    " b = f32[5,4] iota(), iota_dimension=0\n"
    " d = f32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    " two = f32[] constant(2)\n twos = f32[3,4] broadcast(two), dimensions={}\n"
    " x = f32[3,4] multiply(d, twos)\n c = f32[3,4] iota(), iota_dimension=1\n"
    " ROOT r = f32[3,4] add(x, c)\n}\n",
    // A loop whose condition the host reads.
    "HloModule m\ncond { p = (s32[], f32[16]) parameter(0)\n"
    " i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(5)\n"
    " ROOT r = pred[] compare(i, n), direction=LT }\n"
    "body { p = (s32[], f32[16]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
    " x = f32[16] get-tuple-element(p), index=1\n o = s32[] constant(1)\n"
    " j = s32[] add(i, o)\n y = f32[16] add(x, x)\n"
    " ROOT r = (s32[], f32[16]) tuple(j, y) }\n"
    "ENTRY main {\n z = s32[] constant(0)\n x = f32[16] iota(), iota_dimension=0\n"
    " t = (s32[], f32[16]) tuple(z, x)\n"
    " ROOT r = (s32[], f32[16]) while(t), condition=cond, body=body\n}\n",
};

TEST(GpuBackend, GivesTheBitsOfTheSimulator) {
  setenv("ASSAY_LIBCUDA", ASSAY_STAND_IN, 1);
  setenv("ASSAY_LIBCUBLASLT", ASSAY_STAND_IN, 1);
  // Transforms of a library have other bits, and one that is installed has no use for a stand-in.
  for (const char* variable : {"ASSAY_LIBCUDNN", "ASSAY_LIBCUSOLVER", "ASSAY_LIBCUFFT"})
    setenv(variable, "libno-such-library.so", 1);
  const std::unique_ptr<Backend> simulated = OpenGpu("gpu-sim:libraries=on");
  const std::unique_ptr<Backend> device = OpenGpu("gpu:image-ir=on,libraries=on");
  ASSERT_NE(simulated, nullptr);
  ASSERT_NE(device, nullptr);
  EXPECT_NE(device->Describe().devices[0].find("Stand-in, sm_90"), std::string::npos);
  for (const char* text : kModules) {
    const std::unique_ptr<Module> module = MustRead(text);
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(RunModule(*device, *module, {}).ToString(),
              RunModule(*simulated, *module, {}).ToString());
  }
}

// Mistakes in the code of kernels: the finding says for which instruction of the module the place
// that went wrong computes, and of which fusion it is a part.
TEST(GpuBackend, FindingsNameTheInstruction) {
  const struct {
    const char *gate, *mutation, *body, *kind, *computes;
  } cases[] = {
      {"reduce-rows/code", "drop-barrier",
       "x = f32[3,3000] parameter(0)\n z = f32[] constant(0)\n"
       "ROOT total = f32[3] reduce(x, z), dimensions={1}, to_apply=sum\n",
       "uninitialised", "%total.1 = f32[3] reduce of %fusion"},
      {"optimize-kernel/code", "global-off-by-one",
       "x = f32[30] parameter(0)\n far = f32[30] exponential(x)\n"
       "ROOT near = f32[30] negate(far)\n",
       "out-of-bounds", "%far.1 = f32[30] exponential of %fusion"},
  };
  const std::unique_ptr<Backend> simulated = OpenGpu("gpu-sim");
  for (const auto& one : cases) {
    SCOPED_TRACE(StrCat(one.gate, " ", one.mutation));
    const std::unique_ptr<Module> module =
        MustRead(StrCat("HloModule m\nsum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                        " ROOT r = f32[] add(a, b) }\nENTRY main {\n",
                        one.body, "}\n"));
    ASSERT_NE(module, nullptr);
    CompileOptions planted;
    planted.defect =
        StrCat(R"({"name": "d", "kind": "kernel", "gate": ")", one.gate,
               R"(", "op": "mutate-kernel", "parameters": {"mutation": ")", one.mutation, R"("}})");
    const Literal argument(module->entry()->parameters()[0]->shape());
    const auto run = CompileAndRun(*simulated, *module, {&argument}, planted);
    ASSERT_FALSE(run.ok());
    const std::optional<gpu::KernelFinding> finding = gpu::FindingOf(run.status());
    ASSERT_TRUE(finding.has_value()) << run.status();
    EXPECT_EQ(finding->computes, one.computes);
    const std::string text(run.status().message());
    EXPECT_NE(text.find(one.kind), std::string::npos) << text;
    EXPECT_NE(text.find(StrCat("; computes ", one.computes, "; ")), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace assay
