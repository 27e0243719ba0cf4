// The class names of the HloModule document for the types of this folder.
#pragma once

#include "spec/ir/module.h"
#include "spec/text/writer.h"

namespace assay {

using HloModule = Module;
using HloComputation = Computation;
using HloInstruction = Instruction;
using HloModuleConfig = ModuleConfig;
using HloCloneContext = CloneContext;
using HloSchedule = Schedule;
using HloInputOutputAliasConfig = InputOutputAliasConfig;
using HloSharding = Sharding;
using HloPrintOptions = WriteOptions;
using ComputationLayout = EntryLayout;

}  // namespace assay
