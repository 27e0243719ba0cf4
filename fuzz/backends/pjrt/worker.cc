// Requests of the process protocol, answered by a plug-in.
#include "fuzz/backends/pjrt/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/backends/peer.h"
#include "fuzz/backends/pjrt/compile_options.h"
#include "fuzz/backends/pjrt/plugin.h"
#include "fuzz/backends/stablehlo_text.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay::pjrt {
namespace {

using Json = nlohmann::json;

struct Answer {
  Json header = Json::object();
  std::string payload;
};

// The two pipes of the protocol; whatever the plug-in prints goes to standard error.
class Channel {
 public:
  Channel() : in_(dup(STDIN_FILENO)), out_(dup(STDOUT_FILENO)) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
  }

  // False at the end of the requests, and of one that makes no sense.
  bool Receive(Json& header, std::string& payload) {
    std::array<unsigned char, 12> sizes{};
    if (!Read(sizes.data(), sizes.size())) return false;
    uint32_t header_size = 0;
    uint64_t payload_size = 0;
    std::memcpy(&header_size, sizes.data(), 4);
    std::memcpy(&payload_size, sizes.data() + 4, 8);
    constexpr uint64_t kMost = uint64_t{1} << 36;
    if (payload_size > kMost) return false;
    std::string text(header_size, '\0');
    payload.assign(payload_size, '\0');
    if (!Read(text.data(), text.size()) || !Read(payload.data(), payload.size())) return false;
    header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    return header.is_object();
  }

  bool Send(const Answer& answer) {
    const std::string text = answer.header.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto header_size = static_cast<uint32_t>(text.size());
    const auto payload_size = static_cast<uint64_t>(answer.payload.size());
    std::string head(12, '\0');
    std::memcpy(head.data(), &header_size, 4);
    std::memcpy(head.data() + 4, &payload_size, 8);
    return Write(head + text) && Write(answer.payload);
  }

 private:
  bool Read(void* bytes, size_t count) {
    for (auto* at = static_cast<char*>(bytes); count > 0;) {
      const ssize_t got = read(in_, at, count);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      count -= static_cast<size_t>(got);
    }
    return true;
  }
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(out_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

  int in_, out_;
};

// Memory that a program reads before it writes it is no zero by chance: while it runs, the C
// library fills what it hands out.
class FreshMemory {
 public:
  FreshMemory() { mallopt(M_PERTURB, 0xFF ^ 0xFB); }
  ~FreshMemory() { mallopt(M_PERTURB, 0); }
};

// XLA takes a program for several partitions only to partition it again. One that is partitioned
// already is the same as one for as many replicas, whose collectives name no channel.
void MakeReplicas(Module& module, int64_t partitions) {
  module.config().replica_count = partitions;
  module.config().num_partitions = 1;
  for (Computation* computation : module.computations()) {
    std::vector<Instruction*> ids;
    for (Instruction* at : *computation) {
      at->mutable_attributes().Remove(Attr::kChannelId);
      at->mutable_attributes().Remove(Attr::kUseGlobalDeviceIds);
      if (at->opcode() == Opcode::kPartitionId) ids.push_back(at);
    }
    for (Instruction* id : ids)
      id->ReplaceAllUsesWith(computation->Add(Opcode::kReplicaId, id->shape(), {}));
  }
}

class PluginServer {
 public:
  absl::Status Start(const std::string& path, int devices) {
    ASSAY_ASSIGN_OR_RETURN(plugin_, Plugin::Load(path));
    ASSAY_ASSIGN_OR_RETURN(client_, PluginClient::Create(*plugin_, devices));
    devices_ = devices;
    return absl::OkStatus();
  }

  // XLA takes its flags and dumps its passes.
  bool IsXla() const {
    const auto& attributes = plugin_->facts().attributes;
    return std::any_of(attributes.begin(), attributes.end(),
                       [](const auto& attribute) { return attribute.first == "xla_version"; });
  }

  Json Greeting() const {
    const PluginFacts& facts = plugin_->facts();
    Json attributes = Json::object(), extensions = Json::array();
    for (const auto& [name, value] : facts.attributes) attributes[name] = value;
    for (const int type : facts.extensions) extensions.push_back(ExtensionName(type));
    std::vector<std::string> names;
    for (int i = 0; i < devices_; ++i) names.push_back(StrCat(client_->platform(), ":", i));
    const bool is_gpu = client_->platform() == "cuda" || client_->platform() == "rocm";
    return {{"protocol", 1},
            {"name", "pjrt"},
            {"version", StrCat(client_->platform(), ", ", client_->platform_version(),
                               " (PJRT API ", facts.major_version, ".", facts.minor_version, ")")},
            {"can_run", true},
            {"deterministic", client_->platform() == "cpu"},
            {"devices", names},
            {"dumps_passes", IsXla()},
            {"profile", is_gpu ? "xla-gpu" : "xla"},
            {"plugin",
             {{"api", StrCat(facts.major_version, ".", facts.minor_version)},
              {"attributes", attributes},
              {"extensions", extensions},
              {"missing functions", facts.missing_functions},
              {"devices", client_->DeviceTexts()},
              {"memories", client_->MemoryTexts()}}}};
  }

  absl::StatusOr<Answer> Handle(const Json& request, const std::string& payload) {
    const std::string op = request.value("op", "");
    const int64_t id = request.value("id", int64_t{0});
    if (op == "compile") return Compile(id, request, payload);
    if (op == "run") return Run(id, request, payload);
    if (op == "optimized") return Optimized(id);
    if (op == "release") {
      programs_.erase(id);
      return Answer();
    }
    return MakeError(ErrorClass::kUnsupported, StrCat("unknown request '", op, "'"));
  }

 private:
  absl::StatusOr<Answer> Compile(int64_t id, const Json& request, const std::string& text) {
    int64_t replicas = request.value("replicas", int64_t{1});
    const int64_t partitions = request.value("partitions", int64_t{1});
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(text));
    if (partitions > 1 && replicas > 1) {
      return MakeError(ErrorClass::kUnsupported,
                       "a partitioned program cannot be given for several replicas, too");
    }
    if (partitions > 1) {
      MakeReplicas(*module, partitions);
      replicas = partitions;
    }
    Flags flags = IsXla() ? PeerOfFamily("xla").users : Flags();
    if (const auto at = request.find("flags"); at != request.end() && at->is_object())
      for (const auto& [name, value] : at->items())
        if (value.is_string()) flags[name] = value.get<std::string>();
    std::string format = kAnyFormat;
    if (const auto at = flags.find("format"); at != flags.end()) {
      format = at->second;
      flags.erase(at);
    }
    const double start = Now();
    ASSAY_ASSIGN_OR_RETURN(programs_[id],
                           CompileAs(format, *module, CompileOptionsBytes(flags, replicas)));
    return Answer{{{"seconds", Now() - start}}, ""};
  }

  absl::StatusOr<std::unique_ptr<PluginProgram>> CompileAs(const std::string& format,
                                                           const Module& module,
                                                           const std::string& options) {
    if (format == "mlir" || (format == kAnyFormat && wants_stablehlo_ == true)) {
      ASSAY_ASSIGN_OR_RETURN(std::string code, WriteStableHlo(module));
      return PluginProgram::Compile(*client_, std::move(code), "mlir", options);
    }
    ASSAY_ASSIGN_OR_RETURN(std::string code, WriteModuleProto(module));
    auto program = PluginProgram::Compile(*client_, std::move(code), "hlo", options);
    if (program.ok() || format != kAnyFormat || !WantsStableHlo()) return program;
    return CompileAs("mlir", module, options);
  }

  // Asked where a program was refused: is it HLO that the plug-in does not take?
  bool WantsStableHlo() {
    if (wants_stablehlo_.has_value()) return *wants_stablehlo_;
    const auto module = ReadModule("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }");
    if (!module.ok()) return false;
    const std::string options = CompileOptionsBytes({}, 1);
    wants_stablehlo_ =
        !CompileAs("hlo", **module, options).ok() && CompileAs("mlir", **module, options).ok();
    return *wants_stablehlo_;
  }

  absl::StatusOr<const PluginProgram*> Find(int64_t id) const {
    const auto at = programs_.find(id);
    if (at == programs_.end() || at->second == nullptr)
      return MakeError(ErrorClass::kRunCrash, StrCat("no program ", id, " was compiled"));
    return at->second.get();
  }

  // All arguments of the first device come first, then those of the second.
  static absl::StatusOr<std::vector<std::vector<Literal>>> Decode(const Json& request,
                                                                  std::string_view payload) {
    const auto bad = [] { return MakeError(ErrorClass::kRunCrash, "arrays that make no sense"); };
    const auto devices = request.value("devices", size_t{1});
    const auto arrays = request.find("arrays");
    if (arrays == request.end() || !arrays->is_array() || devices == 0 ||
        arrays->size() % devices != 0)
      return bad();
    const size_t count = arrays->size() / devices;
    std::vector<std::vector<Literal>> arguments(devices);
    for (size_t i = 0; i < arrays->size(); ++i) {
      const Json& array = (*arrays)[i];
      const auto type = ElementTypeFromName(array.value("type", ""));
      const auto sizes = array.value("dims", std::vector<int64_t>());
      if (!type || !IsArrayType(*type)) return bad();
      ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Create(Shape::Array(
                                                  *type, DimVector(sizes.begin(), sizes.end()))));
      if (literal.bytes().size() > payload.size()) return bad();
      std::memcpy(literal.bytes().data(), payload.data(), literal.bytes().size());
      payload.remove_prefix(literal.bytes().size());
      arguments[i / std::max<size_t>(count, 1)].push_back(std::move(literal));
    }
    return arguments;
  }

  absl::StatusOr<Answer> Run(int64_t id, const Json& request, const std::string& payload) {
    ASSAY_ASSIGN_OR_RETURN(const PluginProgram* program, Find(id));
    ASSAY_ASSIGN_OR_RETURN(const auto arguments, Decode(request, payload));
    absl::StatusOr<PluginProgram::Result> result = [&] {
      const FreshMemory fresh;
      return program->Run(arguments);
    }();
    ASSAY_RETURN_IF_ERROR(result.status());
    Answer answer;
    Json arrays = Json::array();
    for (const std::vector<Literal>& of_device : result->outputs) {
      for (const Literal& output : of_device) {
        const auto& dims = output.shape().dimensions();
        arrays.push_back({{"type", std::string(Name(output.element_type()))},
                          {"dims", std::vector<int64_t>(dims.begin(), dims.end())}});
        answer.payload.append(reinterpret_cast<const char*>(output.bytes().data()),
                              output.bytes().size());
      }
    }
    answer.header = {{"seconds", result->seconds}, {"arrays", std::move(arrays)}};
    return answer;
  }

  absl::StatusOr<Answer> Optimized(int64_t id) const {
    ASSAY_ASSIGN_OR_RETURN(const PluginProgram* program, Find(id));
    ASSAY_ASSIGN_OR_RETURN(const auto optimized, program->Optimized());
    const auto& [code, format] = optimized;
    if (format.rfind("hlo", 0) != 0) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("the optimized program has the format '", format, "'"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModuleProto(code));
    return Answer{Json::object(), WriteModule(*module, WriteOptions::Long())};
  }

  std::unique_ptr<Plugin> plugin_;
  std::unique_ptr<PluginClient> client_;
  std::map<int64_t, std::unique_ptr<PluginProgram>> programs_;
  int devices_ = 1;
  std::optional<bool> wants_stablehlo_;  // once it is known

  static constexpr char kAnyFormat[] = "any";
};

// A refusal that XLA classes as a wrong program.
absl::Status WithRefusals(const absl::Status& status, bool is_xla) {
  if (status.ok() || !is_xla) return status;
  for (const std::string& words : PeerOfFamily("xla").refusals) {
    if (status.message().find(words) != std::string_view::npos)
      return MakeError(ErrorClass::kUnsupported, ToStd(status.message()));
  }
  return status;
}

Answer ErrorAnswer(const absl::Status& status) {
  return {{{"error", std::string(Name(ClassOf(status)))}, {"message", ToStd(status.message())}},
          ""};
}

}  // namespace

int Serve(const std::string& plugin, int devices) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The handlers of whoever started this are not the plug-in's.
  for (const int number : {SIGINT, SIGTERM, SIGXFSZ}) signal(number, SIG_DFL);
  Channel channel;
  PluginServer server;
  if (const absl::Status status = server.Start(plugin, devices); !status.ok()) {
    Answer answer = ErrorAnswer(status);
    answer.header["protocol"] = 1;
    channel.Send(answer);
    return 1;
  }
  if (!channel.Send({server.Greeting(), ""})) return 1;
  const bool is_xla = server.IsXla();
  Json request;
  std::string payload;
  while (channel.Receive(request, payload)) {
    const absl::StatusOr<Answer> answer = server.Handle(request, payload);
    const bool is_sent =
        channel.Send(answer.ok() ? *answer : ErrorAnswer(WithRefusals(answer.status(), is_xla)));
    if (!is_sent) return 1;
  }
  // Threads of the plug-in may still be at work: nothing waits for them.
  _exit(0);
}

}  // namespace assay::pjrt
