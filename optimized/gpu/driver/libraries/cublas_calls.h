// The calls of cuBLASLt that are made, as we declare them (cuBLAS library reference, version 13.0).
// Nothing of CUDA is needed to build; where its headers are installed, cublas_declarations_test.cc
// holds these against them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::gpu {

using CublasStatus = int;
using CublasHandle = void*;  // of the library, of a description, of a layout

// call(NAME, PARAMETERS): each returns a CublasStatus.
#define ASSAY_CUBLAS_CALLS(call)                                                                  \
  call(cublasLtCreate, CublasHandle* handle) call(cublasLtDestroy, CublasHandle handle)           \
      call(cublasLtMatmulDescCreate, CublasHandle* description, int compute_type, int scale_type) \
          call(cublasLtMatmulDescDestroy, CublasHandle description)                               \
              call(cublasLtMatmulDescSetAttribute, CublasHandle description, int attribute,       \
                   const void* value, size_t bytes)                                               \
                  call(cublasLtMatrixLayoutCreate, CublasHandle* layout, int type, uint64_t rows, \
                       uint64_t columns, int64_t leading)                                         \
                      call(cublasLtMatrixLayoutDestroy, CublasHandle layout)                      \
                          call(cublasLtMatrixLayoutSetAttribute, CublasHandle layout,             \
                               int attribute, const void* value, size_t bytes)                    \
                              call(cublasLtMatmul, CublasHandle handle, CublasHandle description, \
                                   const void* alpha, const void* a, CublasHandle a_layout,       \
                                   const void* b, CublasHandle b_layout, const void* beta,        \
                                   const void* c, CublasHandle c_layout, void* d,                 \
                                   CublasHandle d_layout, const void* algorithm, void* workspace, \
                                   size_t workspace_bytes, void* stream)

struct CublasCalls {
#define ASSAY_CUBLAS_MEMBER(name, ...) CublasStatus (*name)(__VA_ARGS__) = nullptr;
  ASSAY_CUBLAS_CALLS(ASSAY_CUBLAS_MEMBER)
#undef ASSAY_CUBLAS_MEMBER
};

// Values of the interface's enumerations.
inline constexpr CublasStatus kCublasSuccess = 0, kCublasNotInitialised = 1, kCublasAllocFailed = 3,
                              kCublasInvalidValue = 7, kCublasArchMismatch = 8,
                              kCublasExecutionFailed = 13, kCublasInternalError = 14,
                              kCublasNotSupported = 15;
inline constexpr int kCublasCompute32F = 68, kCublasCompute64F = 70;
inline constexpr int kCudaR16F = 2, kCudaR16BF = 14, kCudaR32F = 0, kCudaR64F = 1, kCudaC32F = 4,
                     kCudaC64F = 5;  // types of data
inline constexpr int kCublasTransposeA = 3, kCublasTransposeB = 4, kCublasEpilogue = 7,
                     kCublasBiasPointer = 8;                         // attributes of a description
inline constexpr int kCublasBatchCount = 5, kCublasBatchStride = 6;  // of a layout
inline constexpr int32_t kCublasKeep = 0, kCublasTranspose = 1;
inline constexpr uint32_t kCublasEpilogueNone = 1, kCublasEpilogueRelu = 2, kCublasEpilogueBias = 4,
                          kCublasEpilogueGelu = 32;

}  // namespace assay::gpu
