// The table, errors, events, the client and its devices and memories.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::pjrt {
namespace {

absl::Status TableIsWhole(Session& session) {
  constexpr Function kCore[] = {Function::kErrorDestroy,
                                Function::kErrorMessage,
                                Function::kErrorGetCode,
                                Function::kPluginInitialize,
                                Function::kEventDestroy,
                                Function::kEventAwait,
                                Function::kClientCreate,
                                Function::kClientDestroy,
                                Function::kClientPlatformName,
                                Function::kClientAddressableDevices,
                                Function::kClientCompile,
                                Function::kClientBufferFromHostBuffer,
                                Function::kLoadedExecutableDestroy,
                                Function::kLoadedExecutableGetExecutable,
                                Function::kLoadedExecutableExecute,
                                Function::kExecutableDestroy,
                                Function::kExecutableNumOutputs,
                                Function::kBufferDestroy,
                                Function::kBufferElementType,
                                Function::kBufferDimensions,
                                Function::kBufferToHostBuffer};
  for (const Function function : kCore) {
    if (!session.plugin().HasFunction(function)) {
      return Violation(StrCat("the table has no ",
                              FunctionRows()[static_cast<size_t>(function)].name,
                              ", without which nothing can be run"));
    }
  }
  return absl::OkStatus();
}

absl::Status TableHoldsItsFunctions(Session& session) {
  const Api* api = session.plugin().api();
  if (api->head.struct_size % sizeof(void*) != 0)
    return Violation(StrCat("the table has ", api->head.struct_size, " bytes"));
  if (api->version.head.struct_size < ASSAY_PJRT_SIZE(Version, minor_version))
    return Violation(StrCat("its version has ", api->version.head.struct_size, " bytes"));
  return absl::OkStatus();
}

absl::Status ExtensionsEnd(Session& session) {
  constexpr int kMost = 256;
  std::set<int> types;
  const Extension* at = session.plugin().api()->head.extension_start;
  for (int i = 0; at != nullptr; ++i, at = at->next) {
    if (i == kMost) return Violation("the list of extensions does not end");
    if (at->struct_size < sizeof(Extension))
      return Violation(StrCat("an extension of ", at->struct_size, " bytes"));
    if (!types.insert(at->type).second)
      return Violation(StrCat("the extension '", ExtensionName(at->type), "' is there twice"));
  }
  return absl::OkStatus();
}

absl::Status InitializesTwice(Session& session) {
  // Loading has called it once.
  PluginInitializeArgs args{{sizeof(PluginInitializeArgs), nullptr}};
  return session.MustWork(Function::kPluginInitialize, &args, "a second time");
}

// Errors.

absl::Status DestroysNull(Session& session, Function function) {
  RawArgs args(24, nullptr);
  return session.MustWork(function, args.get(), "of null");
}

// An error, not yet destroyed.
absl::StatusOr<Error*> SomeError(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  CompileCall call(client, "this is no program", "hlo", "");
  Error* error = session.CallAsIs(Function::kClientCompile, &call.args);
  if (error == nullptr) return Violation("PJRT_Client_Compile takes words that are no program");
  return error;
}

absl::Status MessagesLast(Session& session) {
  ASSAY_RETURN_IF_ERROR(
      session.Needs({Function::kErrorMessage, Function::kErrorDestroy, Function::kClientCompile}));
  ASSAY_ASSIGN_OR_RETURN(Error * first, SomeError(session));
  const ErrorMessageArgs once = session.MessageOf(first);
  if (once.message == nullptr || once.message_size == 0) return Violation("an error without words");
  const std::string words(once.message, once.message_size);
  ASSAY_ASSIGN_OR_RETURN(Error * second, SomeError(session));
  if (first == second) return Violation("two calls give the same error object");
  session.DestroyError(second);
  const ErrorMessageArgs again = session.MessageOf(first);
  const std::string later(again.message, again.message_size);
  session.DestroyError(first);
  if (later != words) return Violation("an error's words change when another is destroyed");
  return absl::OkStatus();
}

absl::Status CodesAreKnown(Session& session) {
  LoadedExecutable* made = nullptr;
  const std::optional<Refusal> refusal =
      session.CompileBytes("this is no program", "hlo", CompileOptionsBytes({}, 1), &made);
  if (!refusal) return Violation("PJRT_Client_Compile takes words that are no program");
  if (refusal->code == Code::kInternal || static_cast<int>(refusal->code) == 2)
    return Violation(StrCat("bytes that are no program are called ", refusal->Describe()));
  return absl::OkStatus();
}

// Clients, devices and memories.

absl::Status OptionsAreRead(Session& session) {
  const NamedValue option = IntegerOption("no_such_option_of_any_client", 1);
  ClientCreateArgs args = CreateClientArgs({&option, 1});
  return session.MustFail(Function::kClientCreate, &args, "an option that it does not have");
}

absl::Status OlderClientArgs(Session& session) {
  ClientCreateArgs args = CreateClientArgs({});
  args.head.struct_size = ASSAY_PJRT_SIZE(ClientCreateArgs, client);
  ASSAY_RETURN_IF_ERROR(
      session.MustWork(Function::kClientCreate, &args, "of a caller that knows API 0.40"));
  return args.client == nullptr ? Violation("no error and no client") : absl::OkStatus();
}

absl::Status TwoClients(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Client * first, session.GetClient());
  ASSAY_ASSIGN_OR_RETURN(Client * second, session.MakeClient());
  if (first == second) return Violation("two clients are one object");
  ASSAY_RETURN_IF_ERROR(session.Destroy<ClientArgs>(Function::kClientDestroy, second));
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  return session.Bytes(buffer).status();
}

absl::Status AgainAfterDestroy(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Client * first, session.MakeClient());
  ASSAY_RETURN_IF_ERROR(session.Destroy<ClientArgs>(Function::kClientDestroy, first));
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  return session.Bytes(buffer).status();
}

absl::StatusOr<int> IntegerOf(Session& session, Function function, const void* subject) {
  RawArgs args(28, subject);
  ASSAY_RETURN_IF_ERROR(session.MustWork(function, args.get()));
  return args.Integer(24);
}

absl::StatusOr<std::vector<const void*>> ListOf(Session& session, Function function,
                                                const void* subject) {
  RawArgs args(40, subject);
  ASSAY_RETURN_IF_ERROR(session.MustWork(function, args.get()));
  const auto* list = static_cast<const void* const*>(args.Address(24));
  return std::vector<const void*>(list, list + args.Word(32));
}

absl::Status AddressableAreDevices(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  ASSAY_ASSIGN_OR_RETURN(const auto all, ListOf(session, Function::kClientDevices, client));
  ASSAY_ASSIGN_OR_RETURN(const auto own,
                         ListOf(session, Function::kClientAddressableDevices, client));
  for (const void* device : own) {
    if (std::find(all.begin(), all.end(), device) == all.end())
      return Violation("an addressable device is not among the devices");
    RawArgs args(25, device);
    ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kDeviceIsAddressable, args.get()));
    if (args.Byte(24) == 0) return Violation("an addressable device says that it is not");
  }
  return absl::OkStatus();
}

absl::Status LookUp(Session& session, Function function, int id, const void** device) {
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  RawArgs args(40, client);
  static_cast<uint64_t*>(args.get())[3] = static_cast<uint32_t>(id);
  static_cast<uint64_t*>(args.get())[4] = 0;
  if (device == nullptr)
    return session.MustFail(function, args.get(), StrCat("the number ", id, " of no device"));
  ASSAY_RETURN_IF_ERROR(session.MustWork(function, args.get()));
  *device = args.Address(32);
  return absl::OkStatus();
}

absl::Status LooksUpById(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Device*> devices, session.Devices());
  std::set<int> seen;
  for (Device* device : devices) {
    DeviceDescribeArgs describe{{sizeof(DeviceDescribeArgs), nullptr}, device, nullptr};
    ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kDeviceGetDescription, &describe));
    ASSAY_ASSIGN_OR_RETURN(
        const int id, IntegerOf(session, Function::kDeviceDescriptionId, describe.description));
    if (!seen.insert(id).second) return Violation(StrCat("two devices have the number ", id));
    const void* found = nullptr;
    ASSAY_RETURN_IF_ERROR(LookUp(session, Function::kClientLookupDevice, id, &found));
    if (found != device) return Violation(StrCat("device ", id, " is another when looked up"));
  }
  return absl::OkStatus();
}

absl::Status LooksUpByHardware(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Device*> devices, session.Devices());
  for (Device* device : devices) {
    ASSAY_ASSIGN_OR_RETURN(const int id,
                           IntegerOf(session, Function::kDeviceLocalHardwareId, device));
    if (id < 0) return NotThere("its devices have no hardware numbers");
    const void* found = nullptr;
    ASSAY_RETURN_IF_ERROR(LookUp(session, Function::kClientLookupAddressableDevice, id, &found));
    if (found != device) return Violation(StrCat("hardware ", id, " is another when looked up"));
  }
  return absl::OkStatus();
}

absl::Status AssignsDevices(Session& session) {
  ASSAY_RETURN_IF_ERROR(session.Needs({Function::kClientDefaultDeviceAssignment}));
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  // {replicas, partitions}, room, address
  std::vector<int> assignment(4, -7);
  RawArgs args(48, client);
  auto* words = static_cast<uint64_t*>(args.get());
  words[3] = 1 | uint64_t{1} << 32;
  words[4] = assignment.size();
  words[5] = reinterpret_cast<uint64_t>(assignment.data());
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kClientDefaultDeviceAssignment, args.get()));
  if (assignment[0] < 0) return Violation("the assignment names no device");
  for (size_t i = 1; i < assignment.size(); ++i)
    if (assignment[i] != -7) return Violation("more is written than one replica needs");
  return absl::OkStatus();
}

absl::Status RefusesShortAssignment(Session& session) {
  ASSAY_RETURN_IF_ERROR(session.Needs({Function::kClientDefaultDeviceAssignment}));
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  int one[4] = {};
  RawArgs args(48, client);
  auto* words = static_cast<uint64_t*>(args.get());
  words[3] = 2 | uint64_t{1} << 32;
  words[4] = 1;
  words[5] = reinterpret_cast<uint64_t>(one);
  return session.MustFail(Function::kClientDefaultDeviceAssignment, args.get(),
                          "room for one of two replicas");
}

absl::Status MemoriesAgree(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Device * device, session.FirstDevice());
  ASSAY_ASSIGN_OR_RETURN(const auto memories,
                         ListOf(session, Function::kDeviceAddressableMemories, device));
  RawArgs args(32, device);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kDeviceDefaultMemory, args.get()));
  if (std::find(memories.begin(), memories.end(), args.Address(24)) == memories.end())
    return Violation("a device's default memory is not among its memories");
  for (const void* memory : memories) {
    ASSAY_ASSIGN_OR_RETURN(const auto back,
                           ListOf(session, Function::kMemoryAddressableByDevices, memory));
    if (std::find(back.begin(), back.end(), device) == back.end())
      return Violation("a memory does not name the device that names it");
  }
  return absl::OkStatus();
}

// Events.

absl::Status EventsEnd(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Event * event, session.SomeEvent());
  EventArgs args{{sizeof(EventArgs), nullptr}, event};
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kEventAwait, &args, "a second time"));
  RawArgs ready(25, event);
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kEventIsReady, ready.get()));
  if (ready.Byte(24) != 1) return Violation("an event that was awaited is not ready");
  ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kEventError, &args));
  return session.MustWork(Function::kEventDestroy, &args);
}

struct Heard {
  std::atomic<int> calls{0};
  std::atomic<bool> has_error{false};
  Session* session = nullptr;
};
void Hear(Error* error, void* argument) {
  auto* heard = static_cast<Heard*>(argument);
  heard->has_error = error != nullptr;
  if (error != nullptr) heard->session->DestroyError(error);
  ++heard->calls;
}

absl::Status CallsBackOnce(Session& session, Event* event, bool with_error) {
  Heard first, second;
  for (Heard* heard : {&first, &second}) {
    heard->session = &session;
    EventOnReadyArgs args{{sizeof(EventOnReadyArgs), nullptr}, event, Hear, heard};
    ASSAY_RETURN_IF_ERROR(session.MustWork(Function::kEventOnReady, &args));
  }
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && (first.calls == 0 || second.calls == 0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const Heard* heard : {&first, &second}) {
    if (heard->calls != 1)
      return Violation(StrCat("a callback was called ", heard->calls.load(), " times"));
    if (heard->has_error != with_error)
      return Violation(with_error ? "the callback gets no error" : "the callback gets an error");
  }
  return absl::OkStatus();
}

absl::Status ReadyEventsCallBack(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Event * event, session.SomeEvent());
  return CallsBackOnce(session, event, false);
}

absl::StatusOr<Event*> FailedEvent(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * gone, session.DeletedBuffer());
  return session.ReadyEvent(gone);
}

absl::Status FailedEventsCallBack(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Event * event, FailedEvent(session));
  return CallsBackOnce(session, event, true);
}

absl::Status FailedEventsKeepTheirError(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Event * failed, FailedEvent(session));
  EventArgs event{{sizeof(EventArgs), nullptr}, failed};
  const std::optional<Refusal> first = session.Call(Function::kEventAwait, &event);
  if (!first) return Violation("awaiting the event of a deleted buffer gives no error");
  ASSAY_RETURN_IF_ERROR(session.Needs({Function::kEventError}));
  for (int i = 0; i < 2; ++i) {
    const std::optional<Refusal> again = session.Call(Function::kEventError, &event);
    if (!again || again->message != first->message || again->code != first->code)
      return Violation("PJRT_Event_Error gives another error than PJRT_Event_Await");
  }
  return session.MustWork(Function::kEventDestroy, &event);
}

absl::Status ThreadsAsk(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(const void* client, session.GetClient());
  ASSAY_ASSIGN_OR_RETURN(const void* device, session.FirstDevice());
  ASSAY_ASSIGN_OR_RETURN(const void* buffer, session.SomeBuffer());
  constexpr int kThreads = 4, kCalls = 200;
  const auto has = [&](Function function) { return session.plugin().HasFunction(function); };
  std::atomic<int> refusals{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Session own(session.plugin(), 1);
      for (int i = 0; i < kCalls; ++i) {
        RawArgs name(40, client), dims(40, buffer), memory(32, device);
        if (own.Call(Function::kClientPlatformName, name.get())) ++refusals;
        if (own.Call(Function::kBufferDimensions, dims.get())) ++refusals;
        if (has(Function::kDeviceDefaultMemory) &&
            own.Call(Function::kDeviceDefaultMemory, memory.get()))
          ++refusals;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return refusals == 0 ? absl::OkStatus() : Violation(StrCat(refusals.load(), " calls failed"));
}

constexpr CaseRow kRows[] = {
    {"table/core", "every function without which nothing runs is there", TableIsWhole},
    {"table/size", "table and version tell sizes that hold them", TableHoldsItsFunctions},
    {"table/extensions", "the list of extensions ends, each once", ExtensionsEnd},
    {"plugin/initialize-twice", "PJRT_Plugin_Initialize may be called again", InitializesTwice},
    {"error/message-lasts", "an error's words live until it is destroyed", MessagesLast},
    {"error/code", "bytes that are no program get a code that says so", CodesAreKnown, 1,
     CaseLevel::kOpen},
    {"client/unknown-option", "an option that it does not have is an error", OptionsAreRead, 1,
     CaseLevel::kOpen},
    {"client/older-caller", "a caller without the last two fields gets its client",
     OlderClientArgs},
    {"client/two", "two clients live side by side", TwoClients},
    {"client/again", "a client can be made after another was destroyed", AgainAfterDestroy},
    {"device/addressable", "addressable devices are devices, and say so", AddressableAreDevices},
    {"device/addressable-of-four", "the same with four devices", AddressableAreDevices, 4},
    {"device/look-up", "a device is found by its number", LooksUpById},
    {"device/look-up-of-four", "the same with four devices", LooksUpById, 4},
    {"device/look-up-by-hardware", "a device is found by its hardware number", LooksUpByHardware},
    {"device/look-up-none", "a number of no device is an error",
     [](Session& s) { return LookUp(s, Function::kClientLookupDevice, 4711, nullptr); }},
    {"device/look-up-negative", "a negative number is an error",
     [](Session& s) { return LookUp(s, Function::kClientLookupDevice, -5, nullptr); }},
    {"device/look-up-no-hardware", "a hardware number of no device is an error",
     [](Session& s) { return LookUp(s, Function::kClientLookupAddressableDevice, 4711, nullptr); }},
    {"device/assignment", "the default assignment writes as many numbers as devices",
     AssignsDevices},
    {"device/assignment-room", "too little room for an assignment is an error",
     RefusesShortAssignment},
    {"memory/agrees", "devices and memories name one another", MemoriesAgree},
    {"memory/agrees-of-four", "the same with four devices", MemoriesAgree, 4},
    {"event/ends", "an awaited event is ready and stays so", EventsEnd},
    {"event/calls-back", "a callback is called once, without error", ReadyEventsCallBack},
    {"event/calls-back-with-error", "a callback of a failed event gets its error",
     FailedEventsCallBack},
    {"event/keeps-error", "an event gives the same error each time", FailedEventsKeepTheirError},
    {"threads/ask", "four threads ask at once", ThreadsAsk},
};

}  // namespace

void AddObjectCases(std::vector<ProtocolCase>& cases) {
  AddRows(kRows, cases);
  for (const Function function :
       {Function::kEventDestroy, Function::kClientDestroy, Function::kExecutableDestroy,
        Function::kLoadedExecutableDestroy, Function::kBufferDestroy, Function::kTopologyDestroy,
        Function::kExecuteContextDestroy, Function::kStreamDestroy, Function::kTransferDestroy}) {
    cases.push_back({StrCat("destroy-null/", FunctionRows()[static_cast<size_t>(function)].name),
                     CaseLevel::kMust, "null is destroyed without an error",
                     [function](Session& session) { return DestroysNull(session, function); }});
  }
  cases.push_back({"destroy-null/PJRT_Error_Destroy", CaseLevel::kMust,
                   "null is destroyed without an error", [](Session& session) -> absl::Status {
                     ASSAY_RETURN_IF_ERROR(session.Needs({Function::kErrorDestroy}));
                     session.DestroyError(nullptr);
                     return absl::OkStatus();
                   }});
}

}  // namespace assay::pjrt
