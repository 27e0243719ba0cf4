// Everything under test, behind one interface: the oracle, our compiler, a prefix of its passes,
// XLA, IREE, any process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/base/error.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"
#include "spec/types/literal.h"

namespace assay {

struct Limits {
  double seconds = 60;  // per compile and per run
  int64_t memory_bytes = int64_t{8} << 30;
  int64_t steps = int64_t{1} << 33;  // interpreters: element evaluations
  // A compiler in another process that finds itself in the wrong may say where before it dies,
  // which can take longer than all that it did before; without, it is ended once it has said why.
  bool backtraces = true;
};

// Device of each (replica, partition); empty: device 0 runs the only one.
struct DeviceAssignment {
  int64_t replicas = 1;
  int64_t partitions = 1;
  std::vector<int64_t> device_ids;  // replica-major
};

struct CompileOptions {
  std::map<std::string, std::string> flags;  // the backend's own, e.g. isa=avx2
  DeviceAssignment devices;
  Limits limits;
  std::vector<BufferDonor> donated;  // beyond the module's own donors
  // Decisions numbered above this are refused (blame searches over it); negative: none is. Backends
  // without gates ignore it.
  int64_t decision_limit = -1;
  // A planted defect as JSON text (fuzz/defects), "" for none. Backends without gates reject a
  // non-empty one.
  std::string defect;
  // Before each run, memory that the program shall write is filled with what no program means, so
  // that what it reads before is seen. Backends that cannot do that ignore it.
  bool poison = false;
};

enum class DecisionKind : uint8_t {
  kRewrite,
  kRequired,
  kFact,
  kBuffer,
  kKernel,
  kLlvm,
  kLibrary,
  kTask
};
std::string_view Name(DecisionKind kind);

// One decision of a compiler that can count them.
struct Decision {
  int64_t number = 0;  // from 1
  DecisionKind kind = DecisionKind::kRewrite;
  std::string rule;   // stable name: "ds-of-ds"
  std::string where;  // computation and instruction
  bool taken = true;  // false: refused by the limit
};

struct RunResult {
  std::vector<Literal> outputs;                // per device
  std::vector<std::vector<Literal>> outfeeds;  // per device, in order; empty when there are none
  double seconds = 0;
  int64_t peak_bytes = 0;  // 0: not known
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Arguments per device, in parameter order.
  virtual absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) = 0;
  // Arrays that the infeeds of the next run take, per device. Default: unsupported.
  virtual absl::Status SetInfeed(std::vector<std::vector<Literal>> items);
  // The module that is executed, after optimization.
  virtual absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const;  // default: unsupported
  virtual absl::StatusOr<std::string> Serialize() const;                    // default: unsupported
  virtual const std::vector<Decision>& decisions() const;                   // default: none
  // Named figures, e.g. "compile.seconds.llvm", "code.bytes", "arena.bytes".
  virtual std::map<std::string, double> Statistics() const { return {}; }
};

enum class Capability : uint8_t { kSupported, kUnsupported };

struct BackendDescription {
  std::string name;  // as on the command line, options included
  std::string version;
  std::vector<std::string> devices;
  bool deterministic = true;   // same inputs, same bits, run to run
  bool can_run = true;         // false: compile only
  bool in_process = true;      // false: a crash cannot take the caller with it
  bool has_decisions = false;  // fills Executable::decisions and obeys decision_limit and defect
  bool dumps_passes = false;   // XLA's flags xla_dump_to and xla_disable_hlo_passes work on it
  bool is_jax = false;         // a script that needs jax alone shows what it does
  const Profile* profile = nullptr;  // by which it is judged unless the user says otherwise
  std::function<Capability(Opcode, ElementType)> capability;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendDescription& Describe() const = 0;
  // The module must verify. It is not modified and need not outlive the call.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                              const CompileOptions& options) = 0;
};

// Compile and run on one device.
absl::StatusOr<RunResult> CompileAndRun(Backend& backend, const Module& module,
                                        const std::vector<const Literal*>& arguments,
                                        const CompileOptions& options = {});

// Backends by name. A name is "family" or "family:option=value,option" ("cpu:threads=1,isa=avx2",
// "pipeline:12", "xla").
class BackendRegistry {
 public:
  using Factory =
      std::function<absl::StatusOr<std::unique_ptr<Backend>>(const std::string& options)>;
  void Register(std::string family, std::string summary, Factory factory);
  absl::StatusOr<std::unique_ptr<Backend>> Create(const std::string& name) const;
  std::vector<std::pair<std::string, std::string>> Families() const;  // name, summary

 private:
  std::map<std::string, std::pair<std::string, Factory>> families_;
};
// "a=1,b" -> {a: "1", b: ""}; an error for a malformed or repeated option, or one not in `known`.
absl::StatusOr<std::map<std::string, std::string>> ParseBackendOptions(
    const std::string& options, absl::Span<const std::string_view> known);

}  // namespace assay
