// The compiler for NVIDIA GPUs, with a simulator in the place of the device, as a Backend.
#pragma once

#include <string>
#include <vector>

#include "spec/backend/backend.h"

namespace assay {

// Registers the family "gpu-sim". Options:
//   arch=sm_80|sm_90|sm_100   the GPU (sm_90)
//   checks=on|off             watch for races, bounds, fresh memory and the like (on)
//   seed=N                    draws the order of blocks and warps (0)
//   ranks=threads|processes|mpi   what several devices are (threads)
//   streams=1..8              that independent launches are spread over (4)
//   profile=xla|strict        floating point freedoms used, and granted by whoever judges (xla)
//   passes=on|off|all         optional HLO passes (on); all: those on request too
//   without=a+b               all passes but these
//   verify=on|off             verify the module after each pass (off)
//   trace=on|off              a record of each pass among the statistics (off)
//   dump-llvm=FOLDER, dump-ptx=FOLDER   write the kernels of each module to FOLDER/NAME.ll, .ptx
void RegisterGpuSim(BackendRegistry& registry);

// Registers the family "gpu", which runs the kernels on the GPUs of the machine, a device of the
// program on each; without one its error says what is missing. Options: those of gpu-sim that
// concern code, graphs=on|off (off), and image-ir=on|off (off): what the driver loads also holds
// the IR, for the stand-in of the tests.
void RegisterGpu(BackendRegistry& registry);
// The libraries that "gpu" finds: a line for each, with its name, or what is missing and how to get
// it. Empty where there is no GPU.
std::vector<std::string> LibrariesOfGpu();

}  // namespace assay
