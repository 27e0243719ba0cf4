// Our declarations of cuSOLVER's and cuFFT's calls against their headers; compiled where those are
// installed.
#include "gtest/gtest.h"
#include "optimized/gpu/driver/libraries/cusolver_calls.h"
#include "optimized/gpu/driver/testing/declarations_for_test.h"

namespace assay::gpu {
namespace {

// Written down before the headers give some names another meaning.
#define ASSAY_OURS(name, ...) using OursOfMath_##name = int (*)(__VA_ARGS__);
ASSAY_CUSOLVER_CALLS(ASSAY_OURS)
ASSAY_CUFFT_CALLS(ASSAY_OURS)
#undef ASSAY_OURS

}  // namespace
}  // namespace assay::gpu

#include <cufft.h>
#include <cusolverDn.h>

namespace assay::gpu {
namespace {

TEST(CusolverDeclarations, MatchTheHeaders) {
#define ASSAY_CHECK(name, ...) \
  EXPECT_TRUE(Alike(OursOfMath_##name(nullptr), static_cast<decltype(&::name)>(nullptr))) << #name;
  ASSAY_CUSOLVER_CALLS(ASSAY_CHECK)
  ASSAY_CUFFT_CALLS(ASSAY_CHECK)
#undef ASSAY_CHECK
  EXPECT_EQ(kCusolverNotInitialised, CUSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(kCusolverAllocFailed, CUSOLVER_STATUS_ALLOC_FAILED);
  EXPECT_EQ(kCusolverInvalidValue, CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(kCusolverExecutionFailed, CUSOLVER_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(kCusolverInternalError, CUSOLVER_STATUS_INTERNAL_ERROR);
  EXPECT_EQ(kCusolverNotSupported, CUSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(kCublasLower, CUBLAS_FILL_MODE_LOWER);
  EXPECT_EQ(kCublasUpper, CUBLAS_FILL_MODE_UPPER);
  EXPECT_EQ(kCufftInvalidPlan, CUFFT_INVALID_PLAN);
  EXPECT_EQ(kCufftAllocFailed, CUFFT_ALLOC_FAILED);
  EXPECT_EQ(kCufftInvalidValue, CUFFT_INVALID_VALUE);
  EXPECT_EQ(kCufftInternalError, CUFFT_INTERNAL_ERROR);
  EXPECT_EQ(kCufftExecFailed, CUFFT_EXEC_FAILED);
  EXPECT_EQ(kCufftSetupFailed, CUFFT_SETUP_FAILED);
  EXPECT_EQ(kCufftInvalidSize, CUFFT_INVALID_SIZE);
  EXPECT_EQ(kCufftNotSupported, CUFFT_NOT_SUPPORTED);
  EXPECT_EQ(kCufftR2C, CUFFT_R2C);
  EXPECT_EQ(kCufftC2C, CUFFT_C2C);
  EXPECT_EQ(kCufftD2Z, CUFFT_D2Z);
  EXPECT_EQ(kCufftZ2Z, CUFFT_Z2Z);
  EXPECT_EQ(kCufftForward, CUFFT_FORWARD);
}

}  // namespace
}  // namespace assay::gpu
