// Our declarations of cuDNN's calls against its headers; compiled where those are installed.
#include "gtest/gtest.h"
#include "optimized/gpu/driver/libraries/cudnn_calls.h"
#include "optimized/gpu/driver/testing/declarations_for_test.h"

namespace assay::gpu {
namespace {

// Written down before the header gives some names another meaning.
#define ASSAY_OURS(name, ...) using OursOfDnn_##name = CudnnStatus (*)(__VA_ARGS__);
ASSAY_CUDNN_CALLS(ASSAY_OURS)
#undef ASSAY_OURS

}  // namespace
}  // namespace assay::gpu

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

namespace assay::gpu {
namespace {

TEST(CudnnDeclarations, MatchTheHeader) {
#define ASSAY_CHECK(name, ...) \
  EXPECT_TRUE(Alike(OursOfDnn_##name(nullptr), static_cast<decltype(&::name)>(nullptr))) << #name;
  ASSAY_CUDNN_CALLS(ASSAY_CHECK)
#undef ASSAY_CHECK
  EXPECT_EQ(kCudnnNotInitialised, CUDNN_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(kCudnnBadParameter, CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(kCudnnNotSupported, CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(kCudnnInternalError, CUDNN_STATUS_INTERNAL_ERROR);
  EXPECT_EQ(kCudnnHostMemory, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  EXPECT_EQ(kCudnnDeviceMemory, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
  EXPECT_EQ(kCudnnExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(kCudnnFloat, CUDNN_DATA_FLOAT);
  EXPECT_EQ(kCudnnDouble, CUDNN_DATA_DOUBLE);
  EXPECT_EQ(kCudnnHalf, CUDNN_DATA_HALF);
  EXPECT_EQ(kCudnnBFloat16, CUDNN_DATA_BFLOAT16);
  EXPECT_EQ(kCudnnFeaturesFirst, CUDNN_TENSOR_NCHW);
  EXPECT_EQ(kCudnnFeaturesLast, CUDNN_TENSOR_NHWC);
  EXPECT_EQ(kCudnnCrossCorrelation, CUDNN_CROSS_CORRELATION);
  EXPECT_EQ(kCudnnDefaultMath, CUDNN_DEFAULT_MATH);
  EXPECT_EQ(kCudnnFmaMath, CUDNN_FMA_MATH);
  EXPECT_EQ(kCudnnRelu, CUDNN_ACTIVATION_RELU);
  EXPECT_EQ(kCudnnIdentity, CUDNN_ACTIVATION_IDENTITY);
  EXPECT_EQ(kCudnnPropagateNan, CUDNN_PROPAGATE_NAN);
  EXPECT_EQ(kCudnnForwardPrecomputed, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
  EXPECT_EQ(kCudnnBackwardData1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
  EXPECT_EQ(kCudnnBackwardFilter1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
}

}  // namespace
}  // namespace assay::gpu
