// Holds what we declare of NCCL against its header, where that is installed.
#include <nccl.h>

#include "gtest/gtest.h"
#include "optimized/gpu/driver/libraries/nccl_calls.h"
#include "optimized/gpu/driver/testing/declarations_for_test.h"

namespace assay::gpu {
namespace {

TEST(NcclDeclarations, AreThoseOfTheHeader) {
  const NcclCalls ours;
  // It is passed by value.
  static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));
#define ASSAY_NCCL_HOLD(name, ...) EXPECT_TRUE(Alike(ours.name, &::name)) << #name;
  ASSAY_NCCL_CALLS(ASSAY_NCCL_HOLD)
#undef ASSAY_NCCL_HOLD
  EXPECT_TRUE(Alike(ours.ncclGetErrorString, &::ncclGetErrorString));
}

TEST(NcclDeclarations, NumbersAreThoseOfTheHeader) {
  EXPECT_EQ(kNcclSuccess, ncclSuccess);
  EXPECT_EQ(kNcclUnhandledCudaError, ncclUnhandledCudaError);
  EXPECT_EQ(kNcclSystemError, ncclSystemError);
  EXPECT_EQ(kNcclInternalError, ncclInternalError);
  EXPECT_EQ(kNcclInvalidArgument, ncclInvalidArgument);
  EXPECT_EQ(kNcclInvalidUsage, ncclInvalidUsage);
  EXPECT_EQ(kNcclRemoteError, ncclRemoteError);
  EXPECT_EQ(kNcclInProgress, ncclInProgress);
  EXPECT_EQ(kNcclInt8, ncclInt8);
  EXPECT_EQ(kNcclUint8, ncclUint8);
  EXPECT_EQ(kNcclInt32, ncclInt32);
  EXPECT_EQ(kNcclUint32, ncclUint32);
  EXPECT_EQ(kNcclInt64, ncclInt64);
  EXPECT_EQ(kNcclUint64, ncclUint64);
  EXPECT_EQ(kNcclFloat16, ncclFloat16);
  EXPECT_EQ(kNcclFloat32, ncclFloat32);
  EXPECT_EQ(kNcclFloat64, ncclFloat64);
  EXPECT_EQ(kNcclBFloat16, ncclBfloat16);
  EXPECT_EQ(kNcclSum, ncclSum);
  EXPECT_EQ(kNcclProd, ncclProd);
  EXPECT_EQ(kNcclMax, ncclMax);
  EXPECT_EQ(kNcclMin, ncclMin);
}

}  // namespace
}  // namespace assay::gpu
