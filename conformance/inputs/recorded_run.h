// Runs that a compiler recorded: HloSnapshot and HloUnoptimizedSnapshot files, with the arguments
// of a run and maybe what came of it. Such a file lies beside the module that it is a run of, or
// is asked for itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"
#include "spec/proto/module_proto.h"

namespace assay {

// The recorded run in the file, whose errors name it.
absl::StatusOr<Snapshot> ReadRecordedRun(const std::string& path);

// True for a file with recorded arguments or a recorded result. Reads all of it.
bool HoldsRecordedRun(const std::string& path);

// The arrays of a recorded run, as the entry of `module` takes and gives them: arguments per device
// and parameter, and the leaves of the result, empty where none was recorded.
struct RecordedArrays {
  size_t devices = 1;
  std::vector<Literal> arguments;
  std::vector<Literal> result;
};
absl::StatusOr<RecordedArrays> FitRecordedRun(const Module& module, Snapshot run);

// Fills constants that a text left out ("constant({...})") from one of the same name, type and
// dimensions. False: some are still without a value; `missing` names the first.
bool FillConstants(Module& module, const Module& source, std::string* missing);

// Reads and verifies the module. Constants that its text left out are those of the binary form
// beside it, or else those of the recorded run in `run_path`, if there is one.
absl::StatusOr<std::unique_ptr<Module>> LoadDumpedModule(const std::string& path,
                                                         const std::string& run_path);

}  // namespace assay
