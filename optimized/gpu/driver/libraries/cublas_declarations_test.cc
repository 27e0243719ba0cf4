// Our declarations of cuBLASLt's calls against its header; compiled where that is installed.
#include "gtest/gtest.h"
#include "optimized/gpu/driver/libraries/cublas_calls.h"
#include "optimized/gpu/driver/testing/declarations_for_test.h"

namespace assay::gpu {
namespace {

// Written down before the header gives some names another meaning.
#define ASSAY_OURS(name, ...) using OursOf_##name = CublasStatus (*)(__VA_ARGS__);
ASSAY_CUBLAS_CALLS(ASSAY_OURS)
#undef ASSAY_OURS

}  // namespace
}  // namespace assay::gpu

#include <cublasLt.h>

namespace assay::gpu {
namespace {

TEST(CublasDeclarations, MatchTheHeader) {
#define ASSAY_CHECK(name, ...) \
  EXPECT_TRUE(Alike(OursOf_##name(nullptr), static_cast<decltype(&::name)>(nullptr))) << #name;
  ASSAY_CUBLAS_CALLS(ASSAY_CHECK)
#undef ASSAY_CHECK
  EXPECT_EQ(kCublasNotInitialised, CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(kCublasAllocFailed, CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(kCublasInvalidValue, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(kCublasArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
  EXPECT_EQ(kCublasExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(kCublasInternalError, CUBLAS_STATUS_INTERNAL_ERROR);
  EXPECT_EQ(kCublasNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(kCublasCompute32F, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(kCublasCompute64F, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(kCudaR16F, CUDA_R_16F);
  EXPECT_EQ(kCudaR16BF, CUDA_R_16BF);
  EXPECT_EQ(kCudaR32F, CUDA_R_32F);
  EXPECT_EQ(kCudaR64F, CUDA_R_64F);
  EXPECT_EQ(kCudaC32F, CUDA_C_32F);
  EXPECT_EQ(kCudaC64F, CUDA_C_64F);
  EXPECT_EQ(kCublasTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(kCublasTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(kCublasEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_EQ(kCublasBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_EQ(kCublasBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(kCublasBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(kCublasKeep, CUBLAS_OP_N);
  EXPECT_EQ(kCublasTranspose, CUBLAS_OP_T);
  EXPECT_EQ(kCublasEpilogueNone, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(kCublasEpilogueRelu, CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(kCublasEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(kCublasEpilogueGelu, CUBLASLT_EPILOGUE_GELU);
}

}  // namespace
}  // namespace assay::gpu
