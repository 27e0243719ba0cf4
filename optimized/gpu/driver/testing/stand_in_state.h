// Stand-ins of libraries share this with that of the driver, in whose library they are.
#pragma once

#include <string>

#include "optimized/gpu/driver/cuda_calls.h"
#include "optimized/gpu/simulator/device_memory.h"

namespace assay::gpu {

// Each call of a library begins here: 0, or the error that it is told to give.
int EnterStandIn(const char* name);
DeviceMemory& StandInMemory();
// Something was done wrong.
void NoteMisuse(const std::string& text);
bool HasStandInStream(CudaHandle stream);

}  // namespace assay::gpu
