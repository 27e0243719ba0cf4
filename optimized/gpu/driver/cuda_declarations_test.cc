// Our declarations of the CUDA driver's calls against its header; compiled where that is installed.
#include "gtest/gtest.h"
#include "optimized/gpu/driver/cuda_calls.h"
#include "optimized/gpu/driver/testing/declarations_for_test.h"

namespace assay::gpu {
namespace {

// Written down before the header gives some names another meaning.
#define ASSAY_OURS(name, ...) using Ours_##name = CudaResult (*)(__VA_ARGS__);
ASSAY_CUDA_CALLS(ASSAY_OURS)
#undef ASSAY_OURS

}  // namespace
}  // namespace assay::gpu

#include <cuda.h>

namespace assay::gpu {
namespace {

TEST(CudaDeclarations, MatchTheHeader) {
#define ASSAY_CHECK(name, ...) \
  EXPECT_TRUE(Alike(Ours_##name(nullptr), static_cast<decltype(&::name)>(nullptr))) << #name;
  ASSAY_CUDA_CALLS(ASSAY_CHECK)
#undef ASSAY_CHECK
  EXPECT_EQ(kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kCudaNotInitialised, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kCudaInvalidImage, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(kCudaInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(kCudaInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(kCudaNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(kCudaNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kCudaIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(kCudaLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(kCudaLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(kCudaUnknown, CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(kCudaComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kCudaComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kCudaMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kCudaSharedBytesOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(kCudaCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(kCudaCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(kCudaCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(kCudaStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kCudaEventWithoutTime, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kCudaCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(kCudaDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

}  // namespace
}  // namespace assay::gpu
