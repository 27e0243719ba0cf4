// The calls of cuSOLVER and cuFFT that are made, as we declare them (cuSOLVER library reference,
// "potrf"; cuFFT library reference; version 13.0). Where their headers are installed,
// cusolver_declarations_test.cc holds these against them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::gpu {

using CusolverStatus = int;
using CusolverHandle = void*;
using CufftStatus = int;
using CufftPlan = int;

// call(NAME, PARAMETERS): each returns a CusolverStatus. Matrices are addresses whatever they hold.
// clang-format off: a call a line.
#define ASSAY_CUSOLVER_POTRF(call, letter)                                                       \
  call(cusolverDn##letter##potrf_bufferSize, CusolverHandle handle, int triangle, int n, void* a, \
       int leading, int* elements)                                                               \
  call(cusolverDn##letter##potrf, CusolverHandle handle, int triangle, int n, void* a,           \
       int leading, void* workspace, int elements, int* info)
#define ASSAY_CUSOLVER_CALLS(call)                                                               \
  call(cusolverDnCreate, CusolverHandle* handle)                                                 \
  call(cusolverDnDestroy, CusolverHandle handle)                                                 \
  call(cusolverDnSetStream, CusolverHandle handle, void* stream)                                 \
  ASSAY_CUSOLVER_POTRF(call, S) ASSAY_CUSOLVER_POTRF(call, D)                                    \
  ASSAY_CUSOLVER_POTRF(call, C) ASSAY_CUSOLVER_POTRF(call, Z)
// Likewise, each returns a CufftStatus.
#define ASSAY_CUFFT_CALLS(call)                                                                  \
  call(cufftCreate, CufftPlan* plan)                                                             \
  call(cufftDestroy, CufftPlan plan)                                                             \
  call(cufftSetStream, CufftPlan plan, void* stream)                                             \
  call(cufftSetAutoAllocation, CufftPlan plan, int by_itself)                                    \
  call(cufftSetWorkArea, CufftPlan plan, void* area)                                             \
  call(cufftMakePlanMany64, CufftPlan plan, int rank, long long* sizes, long long* in_sizes,     \
       long long in_stride, long long in_distance, long long* out_sizes, long long out_stride,   \
       long long out_distance, int type, long long batch, size_t* bytes)                         \
  call(cufftExecC2C, CufftPlan plan, void* in, void* out, int direction)                         \
  call(cufftExecZ2Z, CufftPlan plan, void* in, void* out, int direction)                         \
  call(cufftExecR2C, CufftPlan plan, void* in, void* out)                                        \
  call(cufftExecD2Z, CufftPlan plan, void* in, void* out)
// clang-format on

struct CusolverCalls {
#define ASSAY_CUSOLVER_MEMBER(name, ...) CusolverStatus (*name)(__VA_ARGS__) = nullptr;
  ASSAY_CUSOLVER_CALLS(ASSAY_CUSOLVER_MEMBER)
#undef ASSAY_CUSOLVER_MEMBER
};
struct CufftCalls {
#define ASSAY_CUFFT_MEMBER(name, ...) CufftStatus (*name)(__VA_ARGS__) = nullptr;
  ASSAY_CUFFT_CALLS(ASSAY_CUFFT_MEMBER)
#undef ASSAY_CUFFT_MEMBER
};

// Values of the interfaces' enumerations.
inline constexpr CusolverStatus kCusolverNotInitialised = 1, kCusolverAllocFailed = 2,
                                kCusolverInvalidValue = 3, kCusolverExecutionFailed = 6,
                                kCusolverInternalError = 7, kCusolverNotSupported = 9;
inline constexpr int kCublasLower = 0, kCublasUpper = 1;  // triangles
inline constexpr CufftStatus kCufftInvalidPlan = 1, kCufftAllocFailed = 2, kCufftInvalidValue = 4,
                             kCufftInternalError = 5, kCufftExecFailed = 6, kCufftSetupFailed = 7,
                             kCufftInvalidSize = 8, kCufftNotSupported = 16;
inline constexpr int kCufftR2C = 0x2a, kCufftC2C = 0x29, kCufftD2Z = 0x6a, kCufftZ2Z = 0x69;
inline constexpr int kCufftForward = -1;

}  // namespace assay::gpu
