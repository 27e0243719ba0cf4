// The calls of NCCL that are made, as we declare them (NCCL documentation, "API", version 2.27).
// Nothing of NCCL is needed to build; where its header is installed, nccl_declarations_test.cc
// holds these against it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::gpu {

using NcclResult = int;
using NcclComm = void*;
struct NcclUniqueId {
  char bytes[128];
};

// call(NAME, PARAMETERS): each returns an NcclResult; types and operations are numbers.
// clang-format off: a call a line.
#define ASSAY_NCCL_CALLS(call)                                                                   \
  call(ncclGetVersion, int* version)                                                             \
  call(ncclGetUniqueId, NcclUniqueId* id)                                                        \
  call(ncclCommInitRank, NcclComm* made, int ranks, NcclUniqueId id, int rank)                   \
  call(ncclCommDestroy, NcclComm comm)                                                           \
  call(ncclCommAbort, NcclComm comm)                                                             \
  call(ncclCommGetAsyncError, NcclComm comm, NcclResult* error)                                  \
  call(ncclGroupStart)                                                                           \
  call(ncclGroupEnd)                                                                             \
  call(ncclAllReduce, const void* from, void* to, size_t count, int type, int operation,         \
       NcclComm comm, void* stream)                                                              \
  call(ncclAllGather, const void* from, void* to, size_t count, int type, NcclComm comm,         \
       void* stream)                                                                             \
  call(ncclReduceScatter, const void* from, void* to, size_t count, int type, int operation,     \
       NcclComm comm, void* stream)                                                              \
  call(ncclSend, const void* from, size_t count, int type, int peer, NcclComm comm,              \
       void* stream)                                                                             \
  call(ncclRecv, void* to, size_t count, int type, int peer, NcclComm comm, void* stream)
// clang-format on

struct NcclCalls {
#define ASSAY_NCCL_MEMBER(name, ...) NcclResult (*name)(__VA_ARGS__) = nullptr;
  ASSAY_NCCL_CALLS(ASSAY_NCCL_MEMBER)
#undef ASSAY_NCCL_MEMBER
  const char* (*ncclGetErrorString)(NcclResult result) = nullptr;
};

// Values of the interface's enumerations.
inline constexpr NcclResult kNcclSuccess = 0, kNcclUnhandledCudaError = 1, kNcclSystemError = 2,
                            kNcclInternalError = 3, kNcclInvalidArgument = 4, kNcclInvalidUsage = 5,
                            kNcclRemoteError = 6, kNcclInProgress = 7;
inline constexpr int kNcclInt8 = 0, kNcclUint8 = 1, kNcclInt32 = 2, kNcclUint32 = 3, kNcclInt64 = 4,
                     kNcclUint64 = 5, kNcclFloat16 = 6, kNcclFloat32 = 7, kNcclFloat64 = 8,
                     kNcclBFloat16 = 9;
inline constexpr int kNcclSum = 0, kNcclProd = 1, kNcclMax = 2, kNcclMin = 3;

}  // namespace assay::gpu
