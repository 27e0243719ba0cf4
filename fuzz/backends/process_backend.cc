// Modules, arrays and answers in the form of the process protocol.
#include "fuzz/backends/process_backend.h"

#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "fuzz/backends/plain_form.h"
#include "fuzz/backends/stablehlo_text.h"
#include "nlohmann/json.hpp"
#include "spec/base/escape.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/clause_limits.h"
#include "spec/process/worker_process.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using Json = nlohmann::json;

RequestLimits ToRequestLimits(const Limits& limits) {
  return {limits.seconds, limits.memory_bytes, limits.backtraces};
}

// Answers are data from outside: every field is checked.
absl::Status BadAnswer(std::string_view what) {
  return MakeError(ErrorClass::kRunCrash, StrCat("the worker's answer makes no sense: ", what));
}

// A compiler that lives and says that it does not do this has refused a program, not crashed,
// whatever its worker calls it.
absl::Status WithRefusalsClassed(const absl::Status& status, bool is_alive) {
  const bool is_crash = !status.ok() && (ClassOf(status) == ErrorClass::kCompileCrash ||
                                         ClassOf(status) == ErrorClass::kRunCrash);
  if (!is_crash || !is_alive) return status;
  const std::string text = absl::AsciiStrToLower(status.message());
  for (const char* broken : {"check failed", "ret_check", "assertion"}) {
    if (absl::StrContains(text, broken)) return status;
  }
  for (const char* refusal :
       {"not_found:", "unimplemented", "not implemented", "notimplementederror", "not supported",
        "unsupported", "no registered implementation", "no ffi handler", "does not support",
        "not yet implemented", "no kernel registered", "unknown custom call"}) {
    if (absl::StrContains(text, refusal))
      return MakeError(ErrorClass::kUnsupported, ToStd(status.message()));
  }
  return status;
}

double SecondsOf(const Json& header) {
  auto at = header.find("seconds");
  return at != header.end() && at->is_number() ? at->get<double>() : 0;
}

absl::StatusOr<Shape> ShapeOf(const Json& array) {
  auto type = array.find("type"), dims = array.find("dims");
  if (type == array.end() || !type->is_string() || dims == array.end() || !dims->is_array()) {
    return BadAnswer("an array without type and dims");
  }
  std::optional<ElementType> element = ElementTypeFromName(type->get<std::string>());
  if (!element || !IsArrayType(*element)) return BadAnswer("an unknown element type");
  DimVector sizes;
  for (const Json& size : *dims) {
    if (!size.is_number_integer() || size.get<int64_t>() < 0) return BadAnswer("a bad dimension");
    sizes.push_back(size.get<int64_t>());
  }
  return Shape::Array(*element, sizes);
}

absl::StatusOr<std::vector<Literal>> DecodeArrays(const Json& header, std::string_view payload) {
  auto arrays = header.find("arrays");
  if (arrays == header.end() || !arrays->is_array()) return BadAnswer("no arrays");
  std::vector<Literal> result;
  for (const Json& array : *arrays) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeOf(array));
    if (shape.ByteSize() > static_cast<int64_t>(payload.size())) {
      return BadAnswer(StrCat("too few bytes for ", shape.ToString()));
    }
    Literal literal(std::move(shape));
    if (!literal.bytes().empty()) {
      std::memcpy(literal.bytes().data(), payload.data(), literal.bytes().size());
    }
    payload.remove_prefix(literal.bytes().size());
    result.push_back(std::move(literal));
  }
  if (!payload.empty()) return BadAnswer("bytes left over");
  return result;
}

// The leaves, in depth-first order from `next`, as a value of the tree of `shape`.
absl::StatusOr<Literal> Unflatten(const Shape& shape, std::vector<Literal>& leaves, size_t& next) {
  if (shape.IsToken()) return Literal(shape);
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      absl::StatusOr<Literal> value = Unflatten(element, leaves, next);
      if (!value.ok()) return value;
      elements.push_back(*std::move(value));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (next >= leaves.size()) return BadAnswer("too few outputs");
  return std::move(leaves[next++]);
}

// The devices that a worker greets with; one that names none has one.
std::vector<std::string> DeviceNames(const Json& hello) {
  std::vector<std::string> names;
  auto at = hello.find("devices");
  if (at != hello.end() && at->is_array()) {
    for (const Json& name : *at) {
      if (name.is_string()) names.push_back(Printable(name.get<std::string>()));
    }
  }
  if (names.empty()) names.emplace_back("cpu:0");
  return names;
}

int64_t CountOf(const DeviceAssignment& devices) { return devices.replicas * devices.partitions; }

void AppendArray(const Literal& array, Json& arrays, std::string& payload) {
  const Shape& shape = array.shape();
  arrays.push_back(
      {{"type", std::string(Name(shape.element_type()))},
       {"dims", std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end())}});
  absl::Span<const uint8_t> bytes = array.bytes();
  payload.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Adds the arrays of an argument.
void AppendArrays(const Literal& argument, Json& arrays, std::string& payload) {
  for (const Literal* leaf : Leaves(argument)) {
    if (leaf->shape().IsArray()) AppendArray(*leaf, arrays, payload);
  }
}

// A run of an outfeed ends when the host has taken what it sends, which no request of the protocol
// does.
bool SendsToTheHost(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation)
      if (at->opcode() == Opcode::kOutfeed) return true;
  }
  return false;
}

class ProcessBackend;

class ProcessExecutable : public Executable {
 public:
  ProcessExecutable(ProcessBackend& backend, int64_t id, Shape result, std::string text,
                    CompileOptions options)
      : backend_(backend),
        id_(id),
        result_(std::move(result)),
        text_(std::move(text)),
        options_(std::move(options)) {}
  ~ProcessExecutable() override;
  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override;
  std::map<std::string, double> Statistics() const override {
    return {{"compile.seconds", compile_seconds_}};
  }

 private:
  friend class ProcessBackend;
  absl::Status Load();  // compiles in the current worker if an earlier one had it

  ProcessBackend& backend_;
  int64_t id_;
  Shape result_;
  std::string text_;
  CompileOptions options_;
  int64_t generation_ = -1;
  double compile_seconds_ = 0;
};

class ProcessBackend : public Backend {
 public:
  explicit ProcessBackend(ProcessBackendOptions options)
      : options_(std::move(options)), worker_(options_.argv, NurseryOf(options_)) {}

  absl::Status Start() {
    ASSAY_RETURN_IF_ERROR(worker_.Start(options_.start_seconds));
    const Json& hello = worker_.greeting();
    auto text = [&](const char* field) {
      auto at = hello.find(field);
      return at != hello.end() && at->is_string() ? Printable(at->get<std::string>())
                                                  : std::string();
    };
    auto flag = [&](const char* field) {
      auto at = hello.find(field);
      return at == hello.end() || !at->is_boolean() || at->get<bool>();
    };
    description_.name = options_.name.empty() ? text("name") : options_.name;
    description_.version = text("version");
    description_.devices = DeviceNames(hello);
    description_.deterministic = flag("deterministic");
    description_.can_run = flag("can_run") && !options_.compile_only;
    description_.in_process = false;
    description_.dumps_passes =
        options_.dumps_passes || hello.value("dumps_passes", Json()) == Json(true);
    description_.is_jax = options_.is_jax;
    takes_stablehlo_ = text("takes") == "stablehlo";
    description_.profile = options_.profile != nullptr ? options_.profile : &Profile::Xla();
    if (const auto theirs = Profile::Find(text("profile")); theirs.ok())
      description_.profile = *theirs;
    if (options_.is_jax) {
      constexpr std::string_view kRelease = " of jaxlib ";
      const size_t at = description_.version.find(kRelease);
      if (at != std::string::npos)
        description_.profile = &ProfileOfJaxlib(*description_.profile,
                                                description_.version.substr(at + kRelease.size()));
    }
    description_.capability = [](Opcode, ElementType) { return Capability::kSupported; };
    return TryFlags();
  }

  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    if (!options.defect.empty()) {
      return MakeError(ErrorClass::kRejected, "this backend has no gates to plant a defect in");
    }
    const int64_t wanted = CountOf(options.devices);
    if (const auto have = static_cast<int64_t>(description_.devices.size()); wanted > have) {
      return MakeError(
          ErrorClass::kUnsupported,
          StrCat("the module runs on ", wanted, " devices, this backend has ", have,
                 options_.is_jax ? StrCat("; jax:devices=", wanted, " has more") : ""));
    }
    if (options_.unsupported) {
      if (std::string why = options_.unsupported(module); !why.empty()) {
        return MakeError(ErrorClass::kUnsupported, why);
      }
    }
    if (description_.can_run && SendsToTheHost(module)) {
      return MakeError(ErrorClass::kUnsupported,
                       "an outfeed, and in the worker nobody takes what it sends");
    }
    ASSAY_ASSIGN_OR_RETURN(std::string text, TextFor(module));
    auto executable = std::make_unique<ProcessExecutable>(
        *this, ++next_id_, module.entry()->root()->shape(), std::move(text), options);
    ASSAY_RETURN_IF_ERROR(executable->Load());
    return executable;
  }

  WorkerProcess& worker() { return worker_; }
  const ProcessBackendOptions& options() const { return options_; }

 private:
  static std::shared_ptr<WorkerNursery> NurseryOf(const ProcessBackendOptions& options) {
    if (!options.forks || options.nursery != nullptr) return options.nursery;
    return std::make_shared<WorkerNursery>(options.argv);
  }

  // The text that the worker is given: it takes arrays alone, and JAX takes programs as StableHLO.
  absl::StatusOr<std::string> TextFor(const Module& module) const {
    if (takes_stablehlo_) return WriteStableHlo(module);
    std::unique_ptr<Module> edited;
    if (HasTupleOrTokenParameter(module)) {
      if (options_.compile_only)
        return MakeError(ErrorClass::kUnsupported, "an entry parameter that is not an array");
      edited = module.Clone("");
      ASSAY_RETURN_IF_ERROR(FlattenParameters(*edited));
    }
    if (options_.is_jax && !options_.compile_only && HasTokenResult(module)) {
      if (edited == nullptr) edited = module.Clone("");
      DropTokens(*edited);
    }
    WriteOptions write = WriteOptions::Long();
    write.metadata = false;
    if (options_.is_jax && IsBeyondStableHlo(module)) {
      if (edited == nullptr) edited = module.Clone("");
      MakePlain(*edited);
      write.layouts = false;
    }
    std::string text = WriteModule(edited != nullptr ? *edited : module, write);
    return options_.decimal_negative_zero ? SpellNegativeZeros(text) : text;
  }

  // A flag that the compiler does not know is a mistake of who typed it, not a failure of every
  // module: the flags are tried on a constant. Those that say what to dump would dump it.
  absl::Status TryFlags() {
    Json flags = Json::object();
    for (const auto& [name, value] : options_.flags) {
      if (name.rfind("xla_dump", 0) != 0) flags[name] = value;
    }
    if (flags.empty()) return absl::OkStatus();
    const int64_t id = ++next_id_;
    const absl::StatusOr<WorkerMessage> answer =
        worker_.Request({{"op", "compile"}, {"id", id}, {"flags", flags}},
                        "HloModule flags\nENTRY e { ROOT c = f32[] constant(1) }\n",
                        {options_.start_seconds, 0}, ErrorClass::kCompileCrash);
    if (!answer.ok()) {
      return absl::InvalidArgumentError(
          StrCat(description_.name, ": the flags are refused: ", ToStd(answer.status().message())));
    }
    return worker_
        .Request({{"op", "release"}, {"id", id}}, "", {options_.start_seconds, 0},
                 ErrorClass::kCompileCrash)
        .status();
  }

  ProcessBackendOptions options_;
  WorkerProcess worker_;
  BackendDescription description_;
  bool takes_stablehlo_ = false;
  int64_t next_id_ = 0;
};

ProcessExecutable::~ProcessExecutable() {
  WorkerProcess& worker = backend_.worker();
  if (!worker.running() || worker.generation() != generation_) return;
  // A worker that fails even here shows it at the next request.
  worker.Request({{"op", "release"}, {"id", id_}}, "", {10, 0}, ErrorClass::kRunCrash)
      .IgnoreError();
}

absl::Status ProcessExecutable::Load() {
  WorkerProcess& worker = backend_.worker();
  ASSAY_RETURN_IF_ERROR(worker.Start(backend_.options().start_seconds));
  if (worker.generation() == generation_) return absl::OkStatus();
  Json flags(backend_.options().flags);
  for (const auto& [name, value] : options_.flags) flags[name] = value;
  Json request = {{"op", "compile"}, {"id", id_}, {"flags", flags}};
  if (CountOf(options_.devices) != 1) {
    request["replicas"] = options_.devices.replicas;
    request["partitions"] = options_.devices.partitions;
  }
  const absl::StatusOr<WorkerMessage> answer =
      worker.Request(request, text_, ToRequestLimits(options_.limits), ErrorClass::kCompileCrash);
  if (!answer.ok()) return WithRefusalsClassed(answer.status(), worker.running());
  compile_seconds_ = SecondsOf(answer->header);
  generation_ = worker.generation();
  return absl::OkStatus();
}

absl::StatusOr<RunResult> ProcessExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  if (!backend_.Describe().can_run) {
    return MakeError(ErrorClass::kUnsupported, "this backend only compiles");
  }
  const auto devices = static_cast<size_t>(CountOf(options_.devices));
  if (arguments.size() != devices) {
    return absl::InvalidArgumentError(StrCat("arguments for ", arguments.size(),
                                             " devices; the module was compiled for ", devices));
  }
  ASSAY_RETURN_IF_ERROR(Load());
  Json arrays = Json::array();
  std::string payload;
  for (const std::vector<const Literal*>& of_device : arguments) {
    for (const Literal* argument : of_device) AppendArrays(*argument, arrays, payload);
  }
  Json request = {{"op", "run"}, {"id", id_}, {"arrays", std::move(arrays)}};
  if (devices != 1) request["devices"] = devices;
  const absl::StatusOr<WorkerMessage> answer = backend_.worker().Request(
      request, payload, ToRequestLimits(options_.limits), ErrorClass::kRunCrash);
  if (!answer.ok()) return WithRefusalsClassed(answer.status(), backend_.worker().running());
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> leaves,
                         DecodeArrays(answer->header, answer->payload));
  RunResult result;
  size_t next = 0;
  for (size_t device = 0; device < devices; ++device) {
    ASSAY_ASSIGN_OR_RETURN(Literal value, Unflatten(result_, leaves, next));
    result.outputs.push_back(std::move(value));
  }
  if (next != leaves.size()) return BadAnswer("too many outputs");
  result.seconds = SecondsOf(answer->header);
  return result;
}

absl::StatusOr<std::unique_ptr<Module>> ProcessExecutable::OptimizedModule() const {
  WorkerProcess& worker = backend_.worker();
  if (!worker.running() || worker.generation() != generation_) {
    return MakeError(ErrorClass::kSickMachine, "the worker that compiled this is gone");
  }
  ASSAY_ASSIGN_OR_RETURN(WorkerMessage answer, worker.Request({{"op", "optimized"}, {"id", id_}},
                                                              "", ToRequestLimits(options_.limits),
                                                              ErrorClass::kCompileCrash));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(answer.payload);
  if (!module.ok()) {
    return MakeError(ErrorClass::kUnsupported, StrCat("the optimized module cannot be read: ",
                                                      ToStd(module.status().message())));
  }
  return module;
}

}  // namespace

// Only float literals hold the word -0: integers have no such value, and names no such start.
std::string SpellNegativeZeros(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    out.push_back(text[i]);
    if (text[i] != '0' || i < 2 || text[i - 1] != '-' || i + 1 >= text.size()) continue;
    bool begins = std::strchr(" ({,", text[i - 2]) != nullptr;
    bool ends = std::strchr(" )},", text[i + 1]) != nullptr;
    if (begins && ends) out += ".0";
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Backend>> MakeProcessBackend(ProcessBackendOptions options) {
  auto backend = std::make_unique<ProcessBackend>(std::move(options));
  ASSAY_RETURN_IF_ERROR(backend->Start());
  return backend;
}

void RegisterProcess(BackendRegistry& registry, double start_seconds) {
  registry.Register(
      "process", "any program that speaks the process protocol: process:COMMAND",
      [start_seconds](const std::string& command) -> absl::StatusOr<std::unique_ptr<Backend>> {
        ProcessBackendOptions options;
        options.start_seconds = start_seconds;
        options.name = StrCat("process:", command);
        options.argv = absl::StrSplit(command, ' ', absl::SkipEmpty());
        if (options.argv.empty()) {
          return absl::InvalidArgumentError("process: needs a command, as in process:./worker.py");
        }
        if (options.argv.size() > 1 && options.argv.back() == "--fork-server") {
          options.argv.pop_back();  // the nursery gives it
          options.forks = true;
        }
        return MakeProcessBackend(std::move(options));
      });
}

}  // namespace assay
