// The calls of the CUDA driver that are made, as we declare them (CUDA Driver API reference,
// version 13.0). Nothing of CUDA is needed to build; where its headers are installed,
// cuda_declarations_test.cc holds these against them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::gpu {

using CudaResult = int;
using CudaDevice = int;
using CudaPointer = unsigned long long;  // the type of the interface
using CudaHandle = void*;                // contexts, modules, functions, streams, events

// call(NAME, PARAMETERS): each returns a CudaResult.
// clang-format off: a call a line.
#define ASSAY_CUDA_CALLS(call) \
  call(cuInit, unsigned flags) \
  call(cuDriverGetVersion, int* version) \
  call(cuGetErrorName, CudaResult error, const char** text) \
  call(cuGetErrorString, CudaResult error, const char** text) \
  call(cuDeviceGetCount, int* count) \
  call(cuDeviceGet, CudaDevice* device, int ordinal) \
  call(cuDeviceGetName, char* name, int bytes, CudaDevice device) \
  call(cuDeviceGetAttribute, int* value, int attribute, CudaDevice device) \
  call(cuDeviceTotalMem_v2, size_t* bytes, CudaDevice device) \
  call(cuDevicePrimaryCtxRetain, CudaHandle* context, CudaDevice device) \
  call(cuDevicePrimaryCtxRelease_v2, CudaDevice device) \
  call(cuCtxSetCurrent, CudaHandle context) \
  call(cuModuleLoadDataEx, CudaHandle* module, const void* image, unsigned options, int* \
         names, void** values) \
  call(cuModuleUnload, CudaHandle module) \
  call(cuModuleGetFunction, CudaHandle* function, CudaHandle module, const char* name) \
  call(cuFuncSetAttribute, CudaHandle function, int attribute, int value) \
  call(cuMemAlloc_v2, CudaPointer* address, size_t bytes) \
  call(cuMemFree_v2, CudaPointer address) \
  call(cuMemcpyHtoDAsync_v2, CudaPointer to, const void* from, size_t bytes, CudaHandle \
         stream) \
  call(cuMemcpyDtoHAsync_v2, void* to, CudaPointer from, size_t bytes, CudaHandle stream) \
  call(cuMemcpyDtoDAsync_v2, CudaPointer to, CudaPointer from, size_t bytes, CudaHandle \
         stream) \
  call(cuMemsetD8Async, CudaPointer to, unsigned char value, size_t bytes, CudaHandle stream) \
  call(cuStreamCreate, CudaHandle* stream, unsigned flags) \
  call(cuStreamDestroy_v2, CudaHandle stream) \
  call(cuStreamSynchronize, CudaHandle stream) \
  call(cuStreamQuery, CudaHandle stream) \
  call(cuStreamWaitEvent, CudaHandle stream, CudaHandle event, unsigned flags) \
  call(cuStreamBeginCapture_v2, CudaHandle stream, int mode) \
  call(cuStreamEndCapture, CudaHandle stream, CudaHandle* graph) \
  call(cuGraphInstantiateWithFlags, CudaHandle* executable, CudaHandle graph, unsigned long \
         long flags) \
  call(cuGraphLaunch, CudaHandle executable, CudaHandle stream) \
  call(cuGraphExecDestroy, CudaHandle executable) \
  call(cuGraphDestroy, CudaHandle graph) \
  call(cuEventCreate, CudaHandle* event, unsigned flags) \
  call(cuEventRecord, CudaHandle event, CudaHandle stream) \
  call(cuEventDestroy_v2, CudaHandle event) \
  call(cuLaunchKernel, CudaHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, \
         CudaHandle stream, void** parameters, void** extra)
// clang-format on

struct CudaCalls {
#define ASSAY_CUDA_MEMBER(name, ...) CudaResult (*name)(__VA_ARGS__) = nullptr;
  ASSAY_CUDA_CALLS(ASSAY_CUDA_MEMBER)
#undef ASSAY_CUDA_MEMBER
};

// Values of the interface's enumerations.
inline constexpr CudaResult kCudaSuccess = 0, kCudaInvalidValue = 1, kCudaOutOfMemory = 2,
                            kCudaNotInitialised = 3, kCudaNoDevice = 100, kCudaInvalidImage = 200,
                            kCudaInvalidContext = 201, kCudaInvalidHandle = 400,
                            kCudaNotFound = 500, kCudaNotReady = 600, kCudaIllegalAddress = 700,
                            kCudaLaunchTimeout = 702, kCudaLaunchFailed = 719,
                            kCudaCaptureUnsupported = 900, kCudaCaptureInvalidated = 901,
                            kCudaCaptureUnjoined = 904, kCudaUnknown = 999;
inline constexpr int kCudaComputeMajor = 75, kCudaComputeMinor = 76;  // of a device
inline constexpr int kCudaMultiprocessors = 16, kCudaSharedBytesOptIn = 97;
inline constexpr unsigned kCudaStreamNonBlocking = 1, kCudaEventWithoutTime = 2;
inline constexpr int kCudaCaptureThreadLocal = 1;
inline constexpr int kCudaDynamicSharedBytes = 8;  // of a function

}  // namespace assay::gpu
