// Holds the declarations of abi.h against XLA's own header. Built where CMake is told of one:
// -DASSAY_PJRT_HEADER=FOLDER, the folder of pjrt_c_api.h.
#include "fuzz/backends/pjrt/abi.h"

#include <type_traits>

#include "gtest/gtest.h"
#include "pjrt_c_api.h"

namespace assay::pjrt {
namespace {

template <typename Ours, typename Theirs>
constexpr bool kSameSize = sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);

static_assert(kSameSize<Version, PJRT_Api_Version>);
static_assert(kSameSize<NamedValue, PJRT_NamedValue>);
static_assert(kSameSize<ErrorMessageArgs, PJRT_Error_Message_Args>);
static_assert(kSameSize<ErrorGetCodeArgs, PJRT_Error_GetCode_Args>);
static_assert(kSameSize<PluginAttributesArgs, PJRT_Plugin_Attributes_Args>);
static_assert(kSameSize<EventArgs, PJRT_Event_Await_Args>);
static_assert(kSameSize<EventIsReadyArgs, PJRT_Event_IsReady_Args>);
static_assert(kSameSize<EventOnReadyArgs, PJRT_Event_OnReady_Args>);
static_assert(kSameSize<BufferReadyEventArgs, PJRT_Buffer_ReadyEvent_Args>);
static_assert(kSameSize<ClientCreateArgs, PJRT_Client_Create_Args>);
static_assert(kSameSize<ClientTextArgs, PJRT_Client_PlatformName_Args>);
static_assert(kSameSize<ClientDevicesArgs, PJRT_Client_AddressableDevices_Args>);
static_assert(kSameSize<ClientMemoriesArgs, PJRT_Client_AddressableMemories_Args>);
static_assert(kSameSize<Program, PJRT_Program>);
static_assert(kSameSize<ClientCompileArgs, PJRT_Client_Compile_Args>);
static_assert(kSameSize<DeviceDescribeArgs, PJRT_Device_GetDescription_Args>);
static_assert(kSameSize<DescriptionTextArgs, PJRT_DeviceDescription_ToString_Args>);
static_assert(kSameSize<MemoryTextArgs, PJRT_Memory_ToString_Args>);
static_assert(kSameSize<TiledLayout, PJRT_Buffer_MemoryLayout_Tiled>);
static_assert(kSameSize<MemoryLayout, PJRT_Buffer_MemoryLayout>);
static_assert(kSameSize<BufferFromHostArgs, PJRT_Client_BufferFromHostBuffer_Args>);
static_assert(kSameSize<BufferTypeArgs, PJRT_Buffer_ElementType_Args>);
static_assert(kSameSize<BufferDimensionsArgs, PJRT_Buffer_Dimensions_Args>);
static_assert(kSameSize<BufferIsDeletedArgs, PJRT_Buffer_IsDeleted_Args>);
static_assert(kSameSize<BufferToHostArgs, PJRT_Buffer_ToHostBuffer_Args>);
static_assert(kSameSize<GetExecutableArgs, PJRT_LoadedExecutable_GetExecutable_Args>);
static_assert(kSameSize<ExecutableCountArgs, PJRT_Executable_NumOutputs_Args>);
static_assert(kSameSize<OptimizedProgramArgs, PJRT_Executable_OptimizedProgram_Args>);
static_assert(kSameSize<ExecuteOptions, PJRT_ExecuteOptions>);
static_assert(kSameSize<ExecuteArgs, PJRT_LoadedExecutable_Execute_Args>);

static_assert(static_cast<int>(BufferType::kF4E2M1FN) == PJRT_Buffer_Type_F4E2M1FN);
static_assert(static_cast<int>(BufferType::kS2) == PJRT_Buffer_Type_S2);
static_assert(static_cast<int>(Code::kUnimplemented) == PJRT_Error_Code_UNIMPLEMENTED);
static_assert(static_cast<int>(ValueKind::kBool) == PJRT_NamedValue_kBool);

constexpr size_t Place(Function function) {
  return offsetof(Api, functions) + static_cast<size_t>(function) * sizeof(void*);
}

TEST(PjrtAbi, FunctionsStandWhereTheHeaderHasThem) {
  EXPECT_EQ(offsetof(Api, version), offsetof(PJRT_Api, pjrt_api_version));
  EXPECT_EQ(Place(Function::kErrorDestroy), offsetof(PJRT_Api, PJRT_Error_Destroy));
  EXPECT_EQ(Place(Function::kEventAwait), offsetof(PJRT_Api, PJRT_Event_Await));
  EXPECT_EQ(Place(Function::kClientCompile), offsetof(PJRT_Api, PJRT_Client_Compile));
  EXPECT_EQ(Place(Function::kDeviceGetDescription), offsetof(PJRT_Api, PJRT_Device_GetDescription));
  EXPECT_EQ(Place(Function::kMemoryToString), offsetof(PJRT_Api, PJRT_Memory_ToString));
  EXPECT_EQ(Place(Function::kExecutableOptimizedProgram),
            offsetof(PJRT_Api, PJRT_Executable_OptimizedProgram));
  EXPECT_EQ(Place(Function::kLoadedExecutableExecute),
            offsetof(PJRT_Api, PJRT_LoadedExecutable_Execute));
  EXPECT_EQ(Place(Function::kBufferDestroy), offsetof(PJRT_Api, PJRT_Buffer_Destroy));
  EXPECT_EQ(Place(Function::kBufferIsDeleted), offsetof(PJRT_Api, PJRT_Buffer_IsDeleted));
  EXPECT_EQ(Place(Function::kBufferToHostBuffer), offsetof(PJRT_Api, PJRT_Buffer_ToHostBuffer));
  EXPECT_EQ(Place(Function::kTopologyCreate), offsetof(PJRT_Api, PJRT_TopologyDescription_Create));
  EXPECT_EQ(Place(Function::kCompile), offsetof(PJRT_Api, PJRT_Compile));
  EXPECT_EQ(Place(Function::kMemoryKindId), offsetof(PJRT_Api, PJRT_Memory_Kind_Id));
  EXPECT_EQ(Place(Function::kBufferCopyRawToHost), offsetof(PJRT_Api, PJRT_Buffer_CopyRawToHost));
  EXPECT_EQ(Place(Function::kLoadedExecutableGetDeviceAssignment),
            offsetof(PJRT_Api, PJRT_LoadedExecutable_GetDeviceAssignment));
}

TEST(PjrtAbi, FieldsStandWhereTheHeaderHasThem) {
  EXPECT_EQ(offsetof(ClientCreateArgs, client), offsetof(PJRT_Client_Create_Args, client));
  EXPECT_EQ(offsetof(ClientCompileArgs, executable),
            offsetof(PJRT_Client_Compile_Args, executable));
  EXPECT_EQ(offsetof(BufferFromHostArgs, semantics),
            offsetof(PJRT_Client_BufferFromHostBuffer_Args, host_buffer_semantics));
  EXPECT_EQ(offsetof(BufferFromHostArgs, buffer),
            offsetof(PJRT_Client_BufferFromHostBuffer_Args, buffer));
  EXPECT_EQ(offsetof(MemoryLayout, type), offsetof(PJRT_Buffer_MemoryLayout, type));
  EXPECT_EQ(offsetof(ExecuteArgs, output_lists),
            offsetof(PJRT_LoadedExecutable_Execute_Args, output_lists));
  EXPECT_EQ(offsetof(ExecuteOptions, launch_id), offsetof(PJRT_ExecuteOptions, launch_id));
}

}  // namespace
}  // namespace assay::pjrt
