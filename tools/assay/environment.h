// The ground that every verb needs: the backends by name, the oracle, modules and inputs from disk,
// limits.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "conformance/case_files.h"
#include "fuzz/generator/generate.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "tools/assay/command_line.h"

namespace assay {

// All families of backends that this build has. `python`: the interpreter with jaxlib that the xla
// backends use; "": $ASSAY_XLA_PYTHON.
std::unique_ptr<const BackendRegistry> MakeBackends(const std::string& python = "",
                                                    double start_seconds = 0);
// `start_seconds`: that a worker of process:COMMAND has to greet (--timeout); 0: the usual time.
absl::StatusOr<std::unique_ptr<Backend>> OpenBackend(const std::string& name,
                                                     const std::string& python = "",
                                                     double start_seconds = 0);
// "cpu: Assay's own compiler, LLVM 19": who is judged, for the first line of a run.
std::string WhoIs(const BackendDescription& description);
// Declares the option `name` (--backend) with its default, and --python.
void AddBackendOption(OptionList& line, std::string& backend, std::string& python,
                      const std::string& text, const std::string& name = "--backend");
// " --python PATH" when it was given, for commands that repeat something.
std::string PythonArgument(const std::string& python);
// The options by which a campaign on that backend generates programs; "": without regard to any
// backend.
absl::StatusOr<GeneratorOptions> GeneratorFor(const std::string& backend, const std::string& python,
                                              bool portable);

// Options that many verbs share.
struct LimitOptions {
  double timeout = Limits{}.seconds;
  int64_t max_memory = Limits{}.memory_bytes;
  int64_t max_steps = Limits{}.steps;

  void Declare(OptionList& line);
  Limits Get() const;
};

struct InputOptions {
  std::string inputs;   // an .npz file or a recorded run; "": what lies beside the module
  uint64_t random = 0;  // draw inputs from this seed, whatever lies beside the module
  bool random_given = false;
  bool draw_elided = false;  // constants that the module leaves out, from the same seed
  DeviceAssignment devices;  // when given
  bool devices_given = false;

  void Declare(OptionList& line);
  // --replicas and --partitions, of verbs that run several devices.
  void DeclareDevices(OptionList& line);
  // " --replicas 2 --partitions 1" when they were given, for commands that repeat something.
  std::string DevicesArgument() const;
};

struct LoadedCase {
  CaseFile file;       // with the arrays that were taken
  std::string inputs;  // where they come from: "inputs drawn, seed 1"
  std::unique_ptr<Module> module;
  int64_t constants_drawn = 0;  // in the place of elided ones
  CaseArrays arrays;
};
// The text of --draw-elided, and what is said where it was used.
inline constexpr char kDrawElidedText[] =
    "Draw constants that the file leaves out ({...}) from the seed: another program of the same "
    "shapes";
std::string DrawnConstantsText(int64_t count);
// Reads and verifies the module and finds its inputs. A folder with one module stands for it; of
// several recorded runs the first is taken.
absl::StatusOr<LoadedCase> LoadCase(const std::string& path, const InputOptions& inputs);

// Declares the option --profile; `text` says what it is for, and who chooses where nobody did.
DeclaredOption AddProfileOption(OptionList& line, std::string& profile, const std::string& text);
// The profile called `name`; for "" the backend's own, or xla.
absl::StatusOr<const Profile*> ChooseProfile(const std::string& name, const Backend* backend);

}  // namespace assay
