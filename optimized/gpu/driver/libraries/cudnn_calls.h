// The calls of cuDNN that are made, as we declare them (cuDNN 9 API reference, "cudnn_ops",
// "cudnn_cnn" and "cudnn_graph": the calls of convolutions that do not go by graphs). Where its
// headers are installed, cudnn_declarations_test.cc holds these against them.
#pragma once

#include <cstddef>

namespace assay::gpu {

using CudnnStatus = int;
using CudnnHandle = void*;  // of the library, and of descriptors

// call(NAME, PARAMETERS): each returns a CudnnStatus.
// clang-format off: a call a line.
#define ASSAY_CUDNN_CALLS(call)                                                                  \
  call(cudnnCreate, CudnnHandle* handle)                                                         \
  call(cudnnDestroy, CudnnHandle handle)                                                         \
  call(cudnnSetStream, CudnnHandle handle, void* stream)                                         \
  call(cudnnCreateTensorDescriptor, CudnnHandle* tensor)                                         \
  call(cudnnDestroyTensorDescriptor, CudnnHandle tensor)                                         \
  call(cudnnSetTensorNdDescriptor, CudnnHandle tensor, int type, int rank, const int* sizes,     \
       const int* strides)                                                                       \
  call(cudnnCreateFilterDescriptor, CudnnHandle* filter)                                         \
  call(cudnnDestroyFilterDescriptor, CudnnHandle filter)                                         \
  call(cudnnSetFilterNdDescriptor, CudnnHandle filter, int type, int format, int rank,           \
       const int* sizes)                                                                         \
  call(cudnnCreateConvolutionDescriptor, CudnnHandle* convolution)                               \
  call(cudnnDestroyConvolutionDescriptor, CudnnHandle convolution)                               \
  call(cudnnSetConvolutionNdDescriptor, CudnnHandle convolution, int rank, const int* padding,   \
       const int* strides, const int* dilation, int mode, int compute_type)                      \
  call(cudnnSetConvolutionGroupCount, CudnnHandle convolution, int groups)                       \
  call(cudnnSetConvolutionMathType, CudnnHandle convolution, int math)                           \
  call(cudnnCreateActivationDescriptor, CudnnHandle* activation)                                 \
  call(cudnnDestroyActivationDescriptor, CudnnHandle activation)                                 \
  call(cudnnSetActivationDescriptor, CudnnHandle activation, int mode, int nan, double limit)    \
  call(cudnnGetConvolutionForwardWorkspaceSize, CudnnHandle handle, CudnnHandle x,               \
       CudnnHandle w, CudnnHandle convolution, CudnnHandle y, int algorithm, size_t* bytes)      \
  call(cudnnGetConvolutionBackwardDataWorkspaceSize, CudnnHandle handle, CudnnHandle w,          \
       CudnnHandle dy, CudnnHandle convolution, CudnnHandle dx, int algorithm, size_t* bytes)    \
  call(cudnnGetConvolutionBackwardFilterWorkspaceSize, CudnnHandle handle, CudnnHandle x,        \
       CudnnHandle dy, CudnnHandle convolution, CudnnHandle dw, int algorithm, size_t* bytes)    \
  call(cudnnConvolutionForward, CudnnHandle handle, const void* alpha, CudnnHandle x_tensor,     \
       const void* x, CudnnHandle w_filter, const void* w, CudnnHandle convolution,              \
       int algorithm, void* workspace, size_t workspace_bytes, const void* beta,                 \
       CudnnHandle y_tensor, void* y)                                                            \
  call(cudnnConvolutionBackwardData, CudnnHandle handle, const void* alpha,                      \
       CudnnHandle w_filter, const void* w, CudnnHandle dy_tensor, const void* dy,               \
       CudnnHandle convolution, int algorithm, void* workspace, size_t workspace_bytes,          \
       const void* beta, CudnnHandle dx_tensor, void* dx)                                        \
  call(cudnnConvolutionBackwardFilter, CudnnHandle handle, const void* alpha,                    \
       CudnnHandle x_tensor, const void* x, CudnnHandle dy_tensor, const void* dy,               \
       CudnnHandle convolution, int algorithm, void* workspace, size_t workspace_bytes,          \
       const void* beta, CudnnHandle dw_filter, void* dw)                                        \
  call(cudnnConvolutionBiasActivationForward, CudnnHandle handle, const void* alpha,             \
       CudnnHandle x_tensor, const void* x, CudnnHandle w_filter, const void* w,                 \
       CudnnHandle convolution, int algorithm, void* workspace, size_t workspace_bytes,          \
       const void* side_alpha, CudnnHandle z_tensor, const void* z, CudnnHandle bias_tensor,     \
       const void* bias, CudnnHandle activation, CudnnHandle y_tensor, void* y)
// clang-format on

struct CudnnCalls {
#define ASSAY_CUDNN_MEMBER(name, ...) CudnnStatus (*name)(__VA_ARGS__) = nullptr;
  ASSAY_CUDNN_CALLS(ASSAY_CUDNN_MEMBER)
#undef ASSAY_CUDNN_MEMBER
};

// Values of the interface's enumerations.
inline constexpr CudnnStatus kCudnnSuccess = 0, kCudnnNotInitialised = 1001,
                             kCudnnBadParameter = 2000, kCudnnNotSupported = 3000,
                             kCudnnInternalError = 4000, kCudnnHostMemory = 4003,
                             kCudnnDeviceMemory = 4004, kCudnnExecutionFailed = 5000;
inline constexpr int kCudnnFloat = 0, kCudnnDouble = 1, kCudnnHalf = 2, kCudnnBFloat16 = 9;
inline constexpr int kCudnnFeaturesFirst = 0, kCudnnFeaturesLast = 1;  // formats of filters
inline constexpr int kCudnnCrossCorrelation = 1;
inline constexpr int kCudnnDefaultMath = 0, kCudnnFmaMath = 3;
inline constexpr int kCudnnRelu = 1, kCudnnIdentity = 5;
inline constexpr int kCudnnPropagateNan = 1;
// Algorithms that give the same bits on every run.
inline constexpr int kCudnnForwardPrecomputed = 1, kCudnnBackwardData1 = 1,
                     kCudnnBackwardFilter1 = 1;

}  // namespace assay::gpu
