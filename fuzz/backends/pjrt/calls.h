// The calls of the PJRT C API whose arguments are several structures, filled in as every caller
// does. A case may change `args` before the call. Document: XLA's pjrt_c_api.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "fuzz/backends/pjrt/abi.h"

namespace assay::pjrt {

// A whole number for a client, as XLA:CPU's cpu_device_count. The name must outlive it.
NamedValue IntegerOption(std::string_view name, int64_t value);
constexpr std::string_view kDeviceCountOption = "cpu_device_count";

// PJRT_Client_Create. The options must outlive it.
ClientCreateArgs CreateClientArgs(absl::Span<const NamedValue> options);

// PJRT_Client_Compile: `code` in the `format` ("hlo", "mlir"), `options` a CompileOptionsProto.
class CompileCall {
 public:
  CompileCall(Client* client, std::string code, std::string format, std::string options);
  CompileCall(const CompileCall&) = delete;
  CompileCall& operator=(const CompileCall&) = delete;

  ClientCompileArgs args{};

 private:
  std::string code_, format_, options_;
  Program program_{};
};

// PJRT_LoadedExecutable_Execute: a list of arguments per device, all of one length, and room for so
// many outputs of each.
class ExecuteCall {
 public:
  ExecuteCall(LoadedExecutable* loaded, std::vector<std::vector<Buffer*>> arguments,
              size_t output_count);
  ExecuteCall(const ExecuteCall&) = delete;
  ExecuteCall& operator=(const ExecuteCall&) = delete;

  ExecuteArgs args{};
  std::vector<std::vector<Buffer*>> outputs;  // by device
  std::vector<Event*> events;                 // one per device

 private:
  std::vector<std::vector<Buffer*>> arguments_;
  std::vector<Buffer* const*> argument_lists_;
  std::vector<Buffer**> output_lists_;
  ExecuteOptions options_{};
};

}  // namespace assay::pjrt
