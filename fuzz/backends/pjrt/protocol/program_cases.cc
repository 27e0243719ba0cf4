// Programs: compiled, described, run, donated to, deleted.
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "fuzz/backends/pjrt/compile_options.h"
#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"

namespace assay::pjrt {
namespace {

absl::Status MustRun(Session& session, Session::Run& run) {
  if (run.refusal) return Violation(StrCat("Execute: ", run.refusal->Describe()));
  return session.Await(std::exchange(run.done, nullptr));
}
// An error of the call, or of its event.
absl::Status MustRefuse(Session& session, const Session::Run& run, std::string_view what) {
  if (run.refusal) return absl::OkStatus();
  if (session.ErrorOf(run.done)) return absl::OkStatus();
  return Violation(StrCat("it runs with ", what));
}

absl::Status Runs(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  for (int i = 0; i < 2; ++i) {
    Session::Run run = session.Execute(loaded, {buffer, buffer});
    ASSAY_RETURN_IF_ERROR(MustRun(session, run));
    ASSAY_RETURN_IF_ERROR(session.Holds(run.outputs[0], kDoubled));
  }
  return session.Holds(buffer, kSix);
}

absl::Status RunsPair(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kPairProgram));
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.ExecutableOf(loaded));
  ExecutableCountArgs count{{sizeof(ExecutableCountArgs), nullptr}, executable, 0};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableNumOutputs, &count));
  if (count.count != 2) return Violation(StrCat("a pair is ", count.count, " outputs"));
  Session::Run run = session.Execute(loaded, {buffer, buffer}, 2);
  ASSAY_RETURN_IF_ERROR(MustRun(session, run));
  ASSAY_RETURN_IF_ERROR(session.Holds(run.outputs[0], kDoubled));
  return session.Holds(run.outputs[1], kSquared);
}

// The caller may not want events.
absl::Status RunsWithoutEvents(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  ExecuteCall call(loaded, {{buffer, buffer}}, 1);
  call.args.complete_events = nullptr;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableExecute, &call.args));
  return session.Holds(call.outputs[0][0], kDoubled);
}

absl::Status RunsWithOptions(Session& session, size_t size, Extension* extension) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  struct Larger {
    ExecuteOptions known;
    uint64_t unknown[8];
  } options{};
  std::memset(options.unknown, 0xA5, sizeof(options.unknown));
  options.known.head = {size, extension};
  Session::Run run = session.Execute(loaded, {buffer, buffer}, 1, &options.known);
  ASSAY_RETURN_IF_ERROR(MustRun(session, run));
  return session.Holds(run.outputs[0], kDoubled);
}

absl::Status RefusesArguments(Session& session, size_t count) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  const Session::Run run = session.Execute(loaded, std::vector<Buffer*>(count, buffer));
  return MustRefuse(session, run, StrCat(count, " arguments for 2"));
}

absl::Status RefusesShape(Session& session, BufferType type, const std::vector<int64_t>& dims) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  const std::vector<double> data(64, 1.0);
  ASSAY_ASSIGN_OR_RETURN(Buffer * other, session.ToDevice(type, dims, data.data()));
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  return MustRefuse(session, session.Execute(loaded, {buffer, other}),
                    "an argument of another shape");
}

absl::Status RefusesDeleted(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, session.DeletedBuffer());
  return MustRefuse(session, session.Execute(loaded, {buffer, gone}), "a deleted argument");
}

// For two devices, of which the program was compiled for one.
absl::Status RefusesTwoDevices(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  ExecuteCall call(loaded, {{buffer, buffer}, {buffer, buffer}}, 1);
  return session.MustFail(Function::kLoadedExecutableExecute, &call.args,
                          "arguments for two devices by a program for one");
}

absl::StatusOr<Buffer*> CopyOn(Session& session, Buffer* buffer, Device* device) {
  RawArgs copy(40, buffer);
  static_cast<uint64_t*>(copy.get())[3] = reinterpret_cast<uint64_t>(device);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferCopyToDevice, copy.get()));
  return reinterpret_cast<Buffer*>(copy.Word(32));
}

absl::Status RunsOn(Session& session, size_t number) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Device*> devices, session.Devices());
  if (devices.size() <= number) return NotThere("too few devices");
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  if (number > 0) {
    ASSAY_ASSIGN_OR_RETURN(buffer, CopyOn(session, buffer, devices[number]));
  }
  // A program for no device in particular.
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded,
                         session.Compile(kSumProgram, PortableOptionsBytes()));
  ExecuteCall call(loaded, {{buffer, buffer}}, 1);
  call.args.complete_events = nullptr;
  call.args.execute_device = devices[number];
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableExecute, &call.args));
  Buffer* output = call.outputs[0][0];
  RawArgs where(32, output);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferDevice, where.get()));
  if (where.Address(24) != devices[number]) return Violation("the result is on another device");
  return session.Holds(output, kDoubled);
}

// Donation.

struct Donation {
  Session::Run run;
  Buffer* argument = nullptr;
  LoadedExecutable* loaded = nullptr;
};
absl::StatusOr<Donation> Donate(Session& session, bool may) {
  Donation donation;
  ASSAY_ASSIGN_OR_RETURN(donation.loaded, session.Compile(kDonateProgram));
  ASSAY_ASSIGN_OR_RETURN(donation.argument,
                         session.Floats({1024}, std::vector<float>(1024, 41.0f)));
  const int64_t first = 0;
  ExecuteOptions options{};
  options.head.struct_size = ASSAY_PJRT_SIZE(ExecuteOptions, incarnation_ids);
  if (!may) {
    options.not_donated = &first;
    options.not_donated_count = 1;
  }
  donation.run = session.Execute(donation.loaded, {donation.argument}, 1, &options);
  ASSAY_RETURN_IF_ERROR(MustRun(session, donation.run));
  ASSAY_RETURN_IF_ERROR(session.Holds(donation.run.outputs[0], std::vector<float>(1024, 42.0f)));
  return donation;
}

absl::Status DonatedIsGone(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const Donation donation, Donate(session, true));
  ASSAY_ASSIGN_OR_RETURN(const bool deleted, session.IsDeleted(donation.argument));
  if (!deleted) return session.Holds(donation.argument, std::vector<float>(1024, 41.0f));
  return MustRefuse(session, session.Execute(donation.loaded, {donation.argument}),
                    "an argument that was given away before");
}

absl::Status KeptIsKept(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const Donation donation, Donate(session, false));
  ASSAY_ASSIGN_OR_RETURN(const bool deleted, session.IsDeleted(donation.argument));
  if (deleted) return Violation("an argument that must not be donated is deleted");
  return session.Holds(donation.argument, std::vector<float>(1024, 41.0f));
}

absl::Status DonatedWhileReferred(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kDonateProgram));
  ASSAY_ASSIGN_OR_RETURN(Buffer * argument,
                         session.Floats({1024}, std::vector<float>(1024, 41.0f)));
  BufferArgs reference{{sizeof(BufferArgs), nullptr}, argument};
  ASSAY_RETURN_IF_ERROR(
      session.MustWork(Function::kBufferIncreaseExternalReferenceCount, &reference));
  RawArgs where(32, argument);
  ASSAY_RETURN_IF_ERROR(
      session.MustWork(Function::kBufferOpaqueDeviceMemoryDataPointer, where.get()));
  RawArgs on_cpu(25, argument);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kBufferIsOnCpu, on_cpu.get()));
  if (on_cpu.Byte(24) == 0) return NotThere("its memory is not the host's");
  Session::Run run = session.Execute(loaded, {argument});
  if (run.refusal) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(MustRun(session, run));
  float first = 0;
  std::memcpy(&first, where.Address(24), sizeof(first));
  if (first != 41) return Violation("a buffer that another holds is overwritten");
  return absl::OkStatus();
}

// Lifetimes.

absl::Status DeletedDoesNotRun(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kSumProgram));
  RawArgs before(25, loaded), after(25, loaded);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableIsDeleted, before.get()));
  if (before.Byte(24) != 0) return Violation("a new executable says that it is deleted");
  LoadedExecutableArgs args{{sizeof(LoadedExecutableArgs), nullptr}, loaded};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableDelete, &args));
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableIsDeleted, after.get()));
  if (after.Byte(24) == 0) return Violation("a deleted executable says that it is not");
  ASSAY_RETURN_IF_ERROR(
      MustRefuse(session, session.Execute(loaded, {buffer, buffer}), "a program that was deleted"));
  return session.MustWork(Function::kLoadedExecutableDestroy, &args);
}

absl::Status DescriptionOutlives(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kSumProgram));
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.ExecutableOf(loaded));
  LoadedExecutableArgs args{{sizeof(LoadedExecutableArgs), nullptr}, loaded};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kLoadedExecutableDestroy, &args));
  RawArgs name(40, executable);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableName, name.get()));
  return session.Destroy<ExecutableArgs>(Function::kExecutableDestroy, executable);
}

absl::StatusOr<Buffer*> LongArgument(Session& session) {
  return session.Floats({64, 64}, std::vector<float>(4096, 1.0f));
}

// Program, argument and event are destroyed while it runs.
absl::Status OutlivesItsMakers(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kLongProgram));
  ASSAY_ASSIGN_OR_RETURN(Buffer * argument, LongArgument(session));
  Session::Run run = session.Execute(loaded, {argument});
  if (run.refusal) return Violation(run.refusal->Describe());
  ASSAY_RETURN_IF_ERROR(session.Destroy<EventArgs>(Function::kEventDestroy, run.done));
  ASSAY_RETURN_IF_ERROR(session.Destroy<BufferArgs>(Function::kBufferDestroy, argument));
  ASSAY_RETURN_IF_ERROR(
      session.Destroy<LoadedExecutableArgs>(Function::kLoadedExecutableDestroy, loaded));
  return session.Holds(run.outputs[0], std::vector<float>(4096, 1.0f));
}

absl::Status OutputsMayGoFirst(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kLongProgram));
  ASSAY_ASSIGN_OR_RETURN(Buffer * argument, LongArgument(session));
  Session::Run run = session.Execute(loaded, {argument});
  if (run.refusal) return Violation(run.refusal->Describe());
  ASSAY_RETURN_IF_ERROR(session.Destroy<BufferArgs>(Function::kBufferDestroy, run.outputs[0]));
  return session.Await(run.done);
}

// Each run takes the result of the one before it, which may not be ready yet.
absl::Status Chains(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kLongProgram));
  ASSAY_ASSIGN_OR_RETURN(Buffer * at, LongArgument(session));
  constexpr int kLength = 8;
  std::vector<Event*> events;
  for (int i = 0; i < kLength; ++i) {
    Session::Run run = session.Execute(loaded, {at});
    if (run.refusal) return Violation(run.refusal->Describe());
    events.push_back(run.done);
    ASSAY_RETURN_IF_ERROR(session.Destroy<BufferArgs>(Function::kBufferDestroy, at));
    at = run.outputs[0];
  }
  // The last first: the others need not be awaited for it.
  std::reverse(events.begin(), events.end());
  for (Event* event : events) ASSAY_RETURN_IF_ERROR(session.Await(event));
  return session.Holds(at, std::vector<float>(4096, 1.0f));
}

absl::Status ReadyAfterDone(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kLongProgram));
  ASSAY_ASSIGN_OR_RETURN(Buffer * argument, LongArgument(session));
  Session::Run run = session.Execute(loaded, {argument});
  ASSAY_RETURN_IF_ERROR(MustRun(session, run));
  // The run is complete, and with it its outputs.
  ASSAY_ASSIGN_OR_RETURN(Event * event, session.ReadyEvent(run.outputs[0]));
  return session.Await(event);
}

// Descriptions of programs.

absl::Status TellsOutputs(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kPairProgram));
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.ExecutableOf(loaded));
  RawArgs types(40, executable);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableOutputElementTypes, types.get()));
  if (types.Word(32) != 2) return Violation(StrCat(types.Word(32), " types of a pair"));
  const auto* list = static_cast<const int*>(types.Address(24));
  if (list[0] != static_cast<int>(BufferType::kF32) || list[1] != list[0])
    return Violation("the outputs' types are others");
  RawArgs dims(48, executable);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableOutputDimensions, dims.get()));
  const auto* sizes = static_cast<const size_t*>(dims.Address(40));
  const auto* all = static_cast<const int64_t*>(dims.Address(32));
  if (dims.Word(24) != 2 || sizes == nullptr || all == nullptr || sizes[0] != 2 || sizes[1] != 2)
    return Violation("the outputs' ranks are others");
  const std::vector<int64_t> wanted = {2, 3, 2, 3};
  if (!std::equal(wanted.begin(), wanted.end(), all))
    return Violation("the outputs' dimensions are others");
  return absl::OkStatus();
}

absl::Status TellsKinds(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(kPairProgram));
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.ExecutableOf(loaded));
  RawArgs kinds(48, executable);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableOutputMemoryKinds, kinds.get()));
  const auto* texts = static_cast<const char* const*>(kinds.Address(32));
  const auto* sizes = static_cast<const size_t*>(kinds.Address(40));
  if (kinds.Word(24) != 2 || texts == nullptr || sizes == nullptr)
    return Violation(StrCat(kinds.Word(24), " kinds of memory of a pair"));
  for (int i = 0; i < 2; ++i)
    if (texts[i] == nullptr || sizes[i] == 0) return Violation("a kind of memory without name");
  return absl::OkStatus();
}

absl::StatusOr<std::string> Fingerprint(Session& session, const char* program) {
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.Compile(program));
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.ExecutableOf(loaded));
  RawArgs args(40, executable);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableFingerprint, args.get()));
  return std::string(static_cast<const char*>(args.Address(24)), args.Word(32));
}

absl::Status FingerprintsTell(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const std::string first, Fingerprint(session, kSumProgram));
  ASSAY_ASSIGN_OR_RETURN(const std::string second, Fingerprint(session, kSumProgram));
  ASSAY_ASSIGN_OR_RETURN(const std::string other, Fingerprint(session, kProductProgram));
  if (first != second) return Violation("a program compiled twice has two fingerprints");
  if (first == other) return Violation("two programs have one fingerprint");
  return absl::OkStatus();
}

struct SerializeArgs {
  Head head;
  PluginExecutable* executable;
  const char* bytes;
  size_t size;
  void* backing;
  void (*deleter)(void*);
};
struct LoadArgs {
  Head head;
  Client* client;
  const char* bytes;
  size_t size;
  LoadedExecutable* loaded;
  const char* options;
  size_t options_size;
};

absl::Status Serializes(Session& session, size_t load_size) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.SomeExecutable());
  SerializeArgs args{};
  args.head.struct_size = sizeof(SerializeArgs);
  args.executable = executable;
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableSerialize, &args));
  const std::string bytes(args.bytes, args.size);
  if (args.deleter == nullptr) return Violation("a serialization without its deleter");
  args.deleter(args.backing);
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  LoadArgs load{{load_size, nullptr}, client, bytes.data(), bytes.size(), nullptr, nullptr, 0};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableDeserializeAndLoad, &load));
  Session::Run run = session.Execute(load.loaded, {buffer, buffer});
  ASSAY_RETURN_IF_ERROR(MustRun(session, run));
  return session.Holds(run.outputs[0], kDoubled);
}

absl::Status RefusesSerialized(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  const std::string bytes = "these bytes are no executable";
  LoadArgs load{
      {sizeof(LoadArgs), nullptr}, client, bytes.data(), bytes.size(), nullptr, nullptr, 0};
  return session.MustFail(Function::kExecutableDeserializeAndLoad, &load,
                          "bytes that are no executable");
}

absl::Status TellsOptimized(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(PluginExecutable * executable, session.SomeExecutable());
  Program program{};
  program.head.struct_size = ASSAY_PJRT_SIZE(Program, format_size);
  OptimizedProgramArgs args{{sizeof(OptimizedProgramArgs), nullptr}, executable, &program};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableOptimizedProgram, &args));
  if (program.code_size == 0) return Violation("an optimized program of no bytes");
  constexpr char kMark = 0x5A;
  std::string room(program.code_size + 64, kMark);
  program.code = room.data();
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kExecutableOptimizedProgram, &args));
  if (program.format == nullptr || program.format_size == 0)
    return Violation("an optimized program of no format");
  for (size_t i = room.size() - 64; i < room.size(); ++i)
    if (room[i] != kMark) return Violation("more bytes are written than it said");
  return absl::OkStatus();
}

absl::Status RefusesBytes(Session& session, const std::string& code, const std::string& format) {
  LoadedExecutable* made = nullptr;
  ASSAY_RETURN_IF_ERROR(session.GetClient().status());
  if (session.CompileBytes(code, format, CompileOptionsBytes({}, 1), &made)) {
    return made == nullptr ? absl::OkStatus() : Violation("an error and an executable");
  }
  return Violation(StrCat("it compiles ", code.size(), " bytes of the format '", format, "'"));
}

absl::Status RefusesTruncated(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(kSumProgram));
  ASSAY_ASSIGN_OR_RETURN(const std::string code, WriteModuleProto(*module));
  return RefusesBytes(session, code.substr(0, code.size() / 2), "hlo");
}

absl::Status ThreadsRun(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_RETURN_IF_ERROR(session.SomeLoaded().status());
  constexpr int kThreads = 4, kRuns = 5;
  std::vector<absl::Status> ends(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&session, buffer, &end = ends[static_cast<size_t>(t)], t] {
      end = [&]() -> absl::Status {
        ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * own,
                               session.Compile(t % 2 == 0 ? kSumProgram : kProductProgram));
        for (int i = 0; i < kRuns; ++i) {
          Session::Run run = session.Execute(own, {buffer, buffer});
          ASSAY_RETURN_IF_ERROR(MustRun(session, run));
          ASSAY_RETURN_IF_ERROR(session.Holds(run.outputs[0], t % 2 == 0 ? kDoubled : kSquared));
        }
        return absl::OkStatus();
      }();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) ASSAY_RETURN_IF_ERROR(end);
  return absl::OkStatus();
}

Extension& UnknownExtension() {
  static Extension extension{sizeof(Extension), 0x7ffffff0, nullptr};
  return extension;
}

constexpr CaseRow kRows[] = {
    {"execute/runs", "a program runs twice and leaves its arguments", Runs},
    {"execute/pair", "a program with two results has two outputs", RunsPair},
    {"execute/without-events", "the caller may not want events", RunsWithoutEvents},
    {"execute/older-options", "options that end before the last four fields are taken",
     [](Session& s) {
       return RunsWithOptions(s, ASSAY_PJRT_SIZE(ExecuteOptions, context), nullptr);
     }},
    {"execute/oldest-options", "options of API 0.40 are taken",
     [](Session& s) {
       return RunsWithOptions(s, ASSAY_PJRT_SIZE(ExecuteOptions, not_donated_count), nullptr);
     }},
    {"execute/newer-options", "options larger than it knows are taken",
     [](Session& s) { return RunsWithOptions(s, sizeof(ExecuteOptions) + 64, nullptr); }},
    {"execute/options-extension", "an extension of the options that it does not know is skipped",
     [](Session& s) { return RunsWithOptions(s, sizeof(ExecuteOptions), &UnknownExtension()); }},
    {"execute/no-arguments", "too few arguments are an error",
     [](Session& s) { return RefusesArguments(s, 0); }},
    {"execute/one-argument", "too few arguments are an error",
     [](Session& s) { return RefusesArguments(s, 1); }},
    {"execute/three-arguments", "too many arguments are an error",
     [](Session& s) { return RefusesArguments(s, 3); }},
    {"execute/other-sizes", "an argument of other sizes is an error",
     [](Session& s) { return RefusesShape(s, BufferType::kF32, {2, 4}); }},
    {"execute/smaller-sizes", "an argument of fewer bytes is an error",
     [](Session& s) { return RefusesShape(s, BufferType::kF32, {1}); }},
    {"execute/other-type", "an argument of another type is an error",
     [](Session& s) { return RefusesShape(s, BufferType::kF64, {2, 3}); }},
    {"execute/other-type-alike", "an argument of another type of the same width is an error",
     [](Session& s) { return RefusesShape(s, BufferType::kS32, {2, 3}); }},
    {"execute/deleted-argument", "a deleted argument is an error", RefusesDeleted},
    {"execute/two-devices-for-one", "arguments of more devices than it has are an error",
     RefusesTwoDevices, 2},
    {"execute/on-first", "a portable program runs on the device that is named",
     [](Session& s) { return RunsOn(s, 0); }, 2},
    {"execute/on-second", "a portable program runs on the device that is named",
     [](Session& s) { return RunsOn(s, 1); }, 2},
    {"donation/donated", "an argument that was given away is deleted, or as it was", DonatedIsGone},
    {"donation/kept", "an argument that must not be donated is kept", KeptIsKept},
    {"donation/referred", "an argument that another holds is not overwritten",
     DonatedWhileReferred},
    {"lifetime/deleted-program", "a deleted program says so and does not run", DeletedDoesNotRun, 1,
     CaseLevel::kOpen},
    {"lifetime/description", "an executable outlives what it was got from", DescriptionOutlives},
    {"lifetime/makers", "a result outlives program, argument and event", OutlivesItsMakers},
    {"lifetime/outputs", "a result may be destroyed before it is ready", OutputsMayGoFirst},
    {"order/chain", "results that are not ready are arguments", Chains},
    {"order/ready", "a complete run's outputs become ready", ReadyAfterDone},
    {"executable/outputs", "types and dimensions of outputs are told", TellsOutputs},
    {"executable/memory-kinds", "each output has a kind of memory", TellsKinds},
    {"executable/fingerprint", "equal programs have equal fingerprints, others others",
     FingerprintsTell},
    {"executable/serialize", "a serialized program runs when it is loaded",
     [](Session& s) { return Serializes(s, sizeof(LoadArgs)); }},
    {"executable/serialize-older", "the same by a caller without the last two fields",
     [](Session& s) { return Serializes(s, offsetof(LoadArgs, options)); }},
    {"executable/not-serialized", "bytes that are no executable are an error", RefusesSerialized},
    {"executable/optimized", "the optimized program is as large as it said", TellsOptimized},
    {"compile/no-bytes", "no bytes are an error",
     [](Session& s) { return RefusesBytes(s, "", "hlo"); }},
    {"compile/no-bytes-of-mlir", "no bytes are an error",
     [](Session& s) { return RefusesBytes(s, "", "mlir"); }, 1, CaseLevel::kOpen},
    {"compile/words", "bytes that are no program are an error",
     [](Session& s) { return RefusesBytes(s, "this is no program", "mlir"); }},
    {"compile/no-format", "a format without name is an error",
     [](Session& s) { return RefusesBytes(s, "x", ""); }},
    {"compile/unknown-format", "a format that it does not know is an error",
     [](Session& s) { return RefusesBytes(s, "x", "fortran"); }},
    {"compile/truncated", "half of a program is an error", RefusesTruncated},
    {"threads/run", "four threads compile and run at once", ThreadsRun},
};

}  // namespace

void AddProgramCases(std::vector<ProtocolCase>& cases) { AddRows(kRows, cases); }

}  // namespace assay::pjrt
