// Programs on a plug-in: compiled, run, asked what became of them.
#include <algorithm>
#include <cstring>

#include "fuzz/backends/pjrt/calls.h"
#include "fuzz/backends/pjrt/plugin.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::pjrt {
namespace {

// Sets of buffers, each with the buffers of one device, which are destroyed in the end.
class OwnedBuffers {
 public:
  OwnedBuffers(const Plugin& plugin, size_t devices) : of_device(devices), plugin_(plugin) {}
  ~OwnedBuffers() {
    for (const std::vector<Buffer*>& buffers : of_device) {
      for (Buffer* buffer : buffers) plugin_.Destroy<BufferArgs>(Function::kBufferDestroy, buffer);
    }
  }
  OwnedBuffers(const OwnedBuffers&) = delete;
  OwnedBuffers& operator=(const OwnedBuffers&) = delete;

  std::vector<std::vector<Buffer*>> of_device;

 private:
  const Plugin& plugin_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PluginProgram>> PluginProgram::Compile(const PluginClient& client,
                                                                      std::string code,
                                                                      const std::string& format,
                                                                      const std::string& options) {
  CompileCall call(client.client(), std::move(code), format, options);
  ASSAY_RETURN_IF_ERROR(
      client.plugin().Call(Function::kClientCompile, &call.args, ErrorClass::kCompileCrash));
  if (call.args.executable == nullptr)
    return MakeError(ErrorClass::kCompileCrash, "the plug-in made no executable, and no error");
  std::unique_ptr<PluginProgram> made(new PluginProgram(client, call.args.executable));
  ASSAY_RETURN_IF_ERROR(made->ReadOutputCount());
  return made;
}

PluginProgram::~PluginProgram() {
  plugin_.Destroy<ExecutableArgs>(Function::kExecutableDestroy, executable_);
  plugin_.Destroy<LoadedExecutableArgs>(Function::kLoadedExecutableDestroy, loaded_);
}

absl::Status PluginProgram::ReadOutputCount() {
  GetExecutableArgs get{{sizeof(GetExecutableArgs), nullptr}, loaded_, nullptr};
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kLoadedExecutableGetExecutable, &get, ErrorClass::kCompileCrash));
  executable_ = get.executable;
  ExecutableCountArgs count{{sizeof(ExecutableCountArgs), nullptr}, executable_, 0};
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kExecutableNumOutputs, &count, ErrorClass::kCompileCrash));
  constexpr size_t kMostOutputs = 1 << 20;
  if (count.count > kMostOutputs)
    return MakeError(ErrorClass::kCompileCrash, StrCat(count.count, " outputs of the executable"));
  output_count_ = count.count;
  return absl::OkStatus();
}

absl::Status PluginProgram::Execute(const std::vector<std::vector<Buffer*>>& arguments,
                                    std::vector<std::vector<Buffer*>>& outputs) const {
  ExecuteCall call(loaded_, arguments, output_count_);
  absl::Status status =
      plugin_.Call(Function::kLoadedExecutableExecute, &call.args, ErrorClass::kRunCrash);
  outputs = call.outputs;
  for (Event* event : call.events) {
    const absl::Status done = plugin_.Await(event, ErrorClass::kRunCrash);
    if (status.ok()) status = done;
  }
  return status;
}

absl::Status PluginProgram::FindOverwritten(const std::vector<Buffer*>& buffers,
                                            const std::vector<Literal>& values) const {
  for (size_t i = 0; i < buffers.size(); ++i) {
    BufferIsDeletedArgs deleted{
        {ASSAY_PJRT_SIZE(BufferIsDeletedArgs, is_deleted), nullptr}, buffers[i], false};
    const absl::Status asked =
        plugin_.Call(Function::kBufferIsDeleted, &deleted, ErrorClass::kRunCrash);
    // Nobody says what the rest of a byte holds in which a smaller number stands.
    const bool is_packed =
        BitWidth(values[i].element_type()) < 8 && !IsPred(values[i].element_type());
    if (!asked.ok() || deleted.is_deleted || is_packed) continue;
    ASSAY_ASSIGN_OR_RETURN(const Literal now, client_.ToHost(buffers[i]));
    if (!std::equal(now.bytes().begin(), now.bytes().end(), values[i].bytes().begin(),
                    values[i].bytes().end()))
      return MakeError(ErrorClass::kRunCrash, StrCat("the run wrote over its argument ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<PluginProgram::Result> PluginProgram::Run(
    const std::vector<std::vector<Literal>>& arguments) const {
  if (arguments.empty() || arguments.size() > client_.devices().size()) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("arguments for ", arguments.size(), " devices; the plug-in has ",
                            client_.devices().size()));
  }
  OwnedBuffers given(plugin_, arguments.size()), made(plugin_, arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    for (const Literal& argument : arguments[d]) {
      ASSAY_ASSIGN_OR_RETURN(
          Buffer * buffer,
          client_.ToDevice(argument.shape(), argument.bytes().data(), client_.devices()[d]));
      given.of_device[d].push_back(buffer);
    }
  }
  Result result;
  const double start = Now();
  ASSAY_RETURN_IF_ERROR(Execute(given.of_device, made.of_device));
  result.seconds = Now() - start;
  for (size_t d = 0; d < arguments.size(); ++d) {
    ASSAY_RETURN_IF_ERROR(FindOverwritten(given.of_device[d], arguments[d]));
    result.outputs.emplace_back();
    for (Buffer* buffer : made.of_device[d]) {
      if (buffer == nullptr)
        return MakeError(ErrorClass::kRunCrash, "the plug-in left out a result");
      ASSAY_ASSIGN_OR_RETURN(Literal value, client_.ToHost(buffer));
      result.outputs.back().push_back(std::move(value));
    }
  }
  return result;
}

absl::StatusOr<std::pair<std::string, std::string>> PluginProgram::Optimized() const {
  Program program{};
  program.head.struct_size = ASSAY_PJRT_SIZE(Program, format_size);
  OptimizedProgramArgs args{{sizeof(OptimizedProgramArgs), nullptr}, executable_, &program};
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kExecutableOptimizedProgram, &args, ErrorClass::kCompileCrash));
  constexpr size_t kMostBytes = size_t{1} << 31;
  if (program.code_size > kMostBytes)
    return MakeError(ErrorClass::kUnsupported, "the optimized program is larger than 2 GiB");
  std::string code(program.code_size, '\0');
  program.code = code.data();
  ASSAY_RETURN_IF_ERROR(
      plugin_.Call(Function::kExecutableOptimizedProgram, &args, ErrorClass::kCompileCrash));
  std::string format =
      program.format != nullptr ? std::string(program.format, program.format_size) : "";
  return std::pair{std::move(code), std::move(format)};
}

}  // namespace assay::pjrt
