// A PJRT plug-in in this process: loaded, asked who it is, given programs and arrays. What a
// plug-in does to a process cannot be undone, so that only disposable processes load one
// (worker.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/backends/pjrt/abi.h"
#include "spec/base/error.h"
#include "spec/types/literal.h"

namespace assay::pjrt {

// The facts that a plug-in tells before it has a client.
struct PluginFacts {
  int major_version = 0, minor_version = 0;
  std::vector<std::pair<std::string, std::string>> attributes;  // "xla_version", "1"
  std::vector<int> extensions;                                  // their types' numbers
  int missing_functions = 0;  // entries of the table that are null, of those declared here
};

// A plug-in's name for an extension; "extension 40" of one that is not known.
std::string ExtensionName(int type);
// "INVALID_ARGUMENT"; "an unknown code".
std::string_view CodeName(Code code);

class Plugin {
 public:
  // Errors: sick machine (no such file, no PJRT plug-in, an API that is too old, its own words).
  static absl::StatusOr<std::unique_ptr<Plugin>> Load(const std::string& path);

  const PluginFacts& facts() const { return facts_; }
  bool HasFunction(Function function) const;
  // The table is as the plug-in gave it.
  const Api* api() const { return api_; }

  // Calls a function. An error of the plug-in becomes a status of the class that its code says;
  // `otherwise` where that says little.
  absl::Status Call(Function function, void* args, ErrorClass otherwise) const;
  // Destroys an object; errors of that are of no interest.
  template <typename Args, typename Object>
  void Destroy(Function function, Object* object) const {
    if (object == nullptr || !HasFunction(function)) return;
    Args args{{sizeof(Args), nullptr}, object};
    Call(function, &args, ErrorClass::kSickMachine).IgnoreError();
  }
  // Waits for the event, which may be null, and destroys it.
  absl::Status Await(Event* event, ErrorClass otherwise) const;

 private:
  explicit Plugin(const Api* api) : api_(api) {}
  absl::Status ReadFacts();

  const Api* api_;
  PluginFacts facts_;
};

// Everything below is in the order of use: a client, programs compiled on it, runs of them.
class PluginClient {
 public:
  // `devices` above 1 are asked for by the option cpu_device_count, which XLA:CPU has.
  static absl::StatusOr<std::unique_ptr<PluginClient>> Create(const Plugin& plugin, int devices);
  ~PluginClient();
  PluginClient(const PluginClient&) = delete;
  PluginClient& operator=(const PluginClient&) = delete;

  const Plugin& plugin() const { return plugin_; }
  Client* client() const { return client_; }
  const std::string& platform() const { return platform_; }         // "cpu"
  const std::string& platform_version() const { return version_; }  // in its own words
  const std::vector<Device*>& devices() const { return devices_; }  // addressable ones
  std::vector<std::string> DeviceTexts() const;
  std::vector<std::string> MemoryTexts() const;

  // On one device, row-major, one storage unit per element as in a Literal.
  absl::StatusOr<Buffer*> ToDevice(const Shape& shape, const uint8_t* bytes, Device* device) const;
  // Waits for it.
  absl::StatusOr<Literal> ToHost(Buffer* buffer) const;

 private:
  PluginClient(const Plugin& plugin, Client* client) : plugin_(plugin), client_(client) {}
  absl::Status ReadFacts();

  const Plugin& plugin_;
  Client* client_;
  std::string platform_, version_;
  std::vector<Device*> devices_;
};

class PluginProgram {
 public:
  // `code` in the `format` ("hlo", "mlir"), `options` a CompileOptionsProto.
  static absl::StatusOr<std::unique_ptr<PluginProgram>> Compile(const PluginClient& client,
                                                                std::string code,
                                                                const std::string& format,
                                                                const std::string& options);
  ~PluginProgram();
  PluginProgram(const PluginProgram&) = delete;
  PluginProgram& operator=(const PluginProgram&) = delete;

  struct Result {
    double seconds = 0;
    std::vector<std::vector<Literal>> outputs;  // by device
  };
  // `arguments` by device, alike in number. An argument that is not donated and comes back changed
  // is an error of class run crash.
  absl::StatusOr<Result> Run(const std::vector<std::vector<Literal>>& arguments) const;

  // The program after the compiler's passes, in the plug-in's format: {code, format}.
  absl::StatusOr<std::pair<std::string, std::string>> Optimized() const;

 private:
  PluginProgram(const PluginClient& client, LoadedExecutable* loaded)
      : client_(client), plugin_(client.plugin()), loaded_(loaded) {}
  absl::Status ReadOutputCount();
  absl::Status Execute(const std::vector<std::vector<Buffer*>>& arguments,
                       std::vector<std::vector<Buffer*>>& outputs) const;
  // An error where an argument that still exists is not what was given.
  absl::Status FindOverwritten(const std::vector<Buffer*>& buffers,
                               const std::vector<Literal>& values) const;

  const PluginClient& client_;
  const Plugin& plugin_;
  LoadedExecutable* loaded_;
  PluginExecutable* executable_ = nullptr;
  size_t output_count_ = 0;
};

// The plug-in's number of an element type; nullopt where it has none.
std::optional<BufferType> ToBufferType(ElementType type);
std::optional<ElementType> FromBufferType(BufferType type);

}  // namespace assay::pjrt
