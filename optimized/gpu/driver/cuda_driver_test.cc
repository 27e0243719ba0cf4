// The way through the driver, with the stand-in for its library: a kernel that runs, every call
// that fails, and lost contexts.
#include "optimized/gpu/driver/cuda_driver.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "optimized/gpu/driver/module_image.h"
#include "optimized/gpu/driver/testing/stand_in_for_test.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr const char* kKernel = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @twice(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, %n
  br i1 %c, label %body, label %end
body:
  %p = getelementptr inbounds float, ptr addrspace(1) %in, i32 %t
  %v = load float, ptr addrspace(1) %p
  %w = fadd float %v, %v
  %q = getelementptr inbounds float, ptr addrspace(1) %out, i32 %t
  store float %w, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
)";

KernelImage Image() {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(kKernel, diagnostic, context);
  const auto image = MakeKernelImage(*module, {.processor = "sm_80", .with_ir = true});
  EXPECT_TRUE(image.ok()) << image.status();
  return image.ok() ? *image : KernelImage();
}

class CudaDriverTest : public testing::Test {
 protected:
  CudaDriverTest() { ResetStandIn(); }
  // Everything that a program does, from the library to the result.
  absl::Status RunAll(uint32_t launched_threads = 64) {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<CudaDriver> driver,
                           CudaDriver::Load(ASSAY_STAND_IN));
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<CudaSession> session,
                           CudaSession::Open(*driver, 0));
    const absl::Status status = RunIn(*session, launched_threads);
    was_lost_ = session->is_lost();
    if (was_lost_) {
      EXPECT_EQ(session->Synchronise().code(), absl::StatusCode::kFailedPrecondition);
      return status;
    }
    // An error that loses nothing leaves a session that works.
    if (!status.ok()) {
      const absl::Status again = RunIn(*session, 64);
      EXPECT_TRUE(again.ok()) << again << " after " << status;
    }
    return status;
  }

  absl::Status RunIn(CudaSession& session, uint32_t threads) {
    std::vector<float> values(50);
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k) + 0.25f;
    const uint64_t bytes = values.size() * sizeof(float);
    auto* start = reinterpret_cast<std::byte*>(values.data());
    ASSAY_ASSIGN_OR_RETURN(const CudaBuffer in, session.Allocate(bytes));
    ASSAY_ASSIGN_OR_RETURN(const CudaBuffer out, session.Allocate(bytes));
    ASSAY_RETURN_IF_ERROR(session.CopyIn(in.address(), {start, bytes}));
    ASSAY_RETURN_IF_ERROR(session.Fill(out.address(), bytes, std::byte{0}));
    ASSAY_ASSIGN_OR_RETURN(const CudaModule module, session.Load(image_.text));
    ASSAY_ASSIGN_OR_RETURN(CudaHandle const kernel,
                           session.Function(module, image_.names.at("twice")));
    const uint64_t arguments[] = {in.address(), out.address(), threads == 64 ? 50u : threads};
    ASSAY_RETURN_IF_ERROR(session.Launch(
        kernel,
        {.block = {threads, 1, 1}, .dynamic_shared_bytes = 64 * 1024, .arguments = arguments}));
    ASSAY_RETURN_IF_ERROR(session.CopyWithin(in.address(), out.address(), bytes));
    std::vector<float> results(values.size());
    ASSAY_RETURN_IF_ERROR(
        session.CopyOut(in.address(), {reinterpret_cast<std::byte*>(results.data()), bytes}));
    for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(results[k], 2 * values[k]);
    return absl::OkStatus();
  }

  const KernelImage image_ = Image();
  bool was_lost_ = false;
};

TEST_F(CudaDriverTest, RunsAKernel) {
  const absl::Status status = RunAll();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReportOfStandIn(), "");
}

TEST_F(CudaDriverTest, AnswersEveryErrorAtEveryCall) {
  ASSERT_TRUE(RunAll().ok());
  const int calls = CallsSoFar();
  EXPECT_GT(calls, 25);
  int failed = 0;
  for (const CudaResult code : {kCudaOutOfMemory, kCudaInvalidValue, kCudaLaunchFailed}) {
    for (int at = 0; at < calls; ++at) {
      SCOPED_TRACE(absl::StrCat("call ", at, ", error ", code));
      ResetStandIn();
      FailAt(at, code);
      const absl::Status status = RunAll();
      // Errors while things are given back have nobody to tell; those that end the context are
      // noted.
      if (status.ok()) continue;
      ++failed;
      EXPECT_GT(status.message().size(), 20u);
      if (code != kCudaLaunchFailed) {
        EXPECT_FALSE(was_lost_);
        EXPECT_EQ(ReportOfStandIn(), "");
      }
    }
  }
  EXPECT_GT(failed, 3 * 20);
}

TEST_F(CudaDriverTest, AKernelThatStraysLosesTheContext) {
  const absl::Status status = RunAll(96);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(was_lost_);
  EXPECT_NE(std::string(status.message()).find("only a new process"), std::string::npos) << status;
  EXPECT_NE(ReportOfStandIn().find("out-of-bounds"), std::string::npos) << ReportOfStandIn();
}

TEST_F(CudaDriverTest, MemoryOfADeviceIsRefusedOnAnotherOnesStream) {
  setenv("ASSAY_STAND_IN_DEVICES", "2", 1);
  ResetStandIn();
  unsetenv("ASSAY_STAND_IN_DEVICES");
  const auto driver = CudaDriver::Load(ASSAY_STAND_IN);
  ASSERT_TRUE(driver.ok()) << driver.status();
  const auto first = CudaSession::Open(**driver, 0);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto buffer = (*first)->Allocate(64);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_TRUE((*first)->Fill(buffer->address(), 64, std::byte{1}).ok());
  {
    const auto second = CudaSession::Open(**driver, 1);
    ASSERT_TRUE(second.ok()) << second.status();
    std::vector<std::byte> bytes(64);
    EXPECT_FALSE((*second)->CopyOut(buffer->address(), absl::MakeSpan(bytes)).ok());
    EXPECT_NE(ReportOfStandIn(), "");
  }
  // The buffer goes in its own context.
  (void)(*first)->Enter();
}

TEST(CudaDriver, SaysHowToGetOne) {
  const auto driver = CudaDriver::Load("libno-such-driver.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(driver.status().message()).find("nvidia-driver"), std::string::npos);
}

}  // namespace
}  // namespace assay::gpu
