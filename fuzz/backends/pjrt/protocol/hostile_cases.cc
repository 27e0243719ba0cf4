// Calls that no caller may make. The document does not say what happens then, so that an error is a
// kindness; but a plug-in that dies takes its caller along.
#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::pjrt {
namespace {

absl::Status DestroysTwice(Session& session, Function function, const void* object) {
  RawArgs first(24, object), second(24, object);
  ASSAY_RETURN_IF_ERROR(session.MustWork(function, first.get()));
  return session.MustFail(function, second.get(), "an object that it destroyed before");
}

template <typename Getter>
absl::Status Twice(Session& session, Function function, Getter getter) {
  ASSAY_ASSIGN_OR_RETURN(const void* object, getter(session));
  return DestroysTwice(session, function, object);
}

absl::Status UsesDestroyedBuffer(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.Floats({2}, {1, 2}));
  ASSAY_RETURN_IF_ERROR(session.Destroy<BufferArgs>(Function::kBufferDestroy, buffer));
  RawArgs args(28, buffer);
  return session.MustFail(Function::kBufferElementType, args.get(), "a destroyed buffer");
}

absl::Status DeletesTwice(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.DeletedBuffer());
  BufferArgs args{{sizeof(BufferArgs), nullptr}, buffer};
  session.Call(Function::kBufferDelete, &args);
  return session.Destroy<BufferArgs>(Function::kBufferDestroy, buffer);
}

absl::Status TransfersOddly(Session& session, void (*change)(BufferFromHostArgs&),
                            std::string_view what) {
  static const float data[2] = {1, 2};
  static const int64_t dims[1] = {2};
  ASSAY_ASSIGN_OR_RETURN(BufferFromHostArgs args,
                         session.TransferArgs(BufferType::kF32, dims, data));
  change(args);
  return session.MustFail(Function::kClientBufferFromHostBuffer, &args, what);
}

absl::Status ExecutesOddly(Session& session, void (*change)(ExecuteArgs&), std::string_view what) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  ExecuteCall call(loaded, {{buffer, buffer}}, 1);
  call.args.complete_events = nullptr;
  change(call.args);
  return session.MustFail(Function::kLoadedExecutableExecute, &call.args, what);
}

absl::Status NullArgument(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Buffer * buffer, session.SomeBuffer());
  ASSAY_ASSIGN_OR_RETURN(LoadedExecutable * loaded, session.SomeLoaded());
  const Session::Run run = session.Execute(loaded, {buffer, nullptr});
  return run.refusal ? absl::OkStatus() : Violation("it runs with a null argument");
}

absl::Status NoStructure(Session& session, Function function) {
  return session.MustFail(function, nullptr, "null for its structure");
}

absl::Status CompilesOddly(Session& session, void (*change)(ClientCompileArgs&),
                           std::string_view what) {
  ASSAY_ASSIGN_OR_RETURN(Client * client, session.GetClient());
  CompileCall call(client, "no program", "hlo", "");
  change(call.args);
  return session.MustFail(Function::kClientCompile, &call.args, what);
}

constexpr CaseRow kRows[] = {
    {"twice/buffer", "a buffer destroyed twice",
     [](Session& s) {
       return Twice(s, Function::kBufferDestroy, [](Session& x) { return x.Floats({2}, {1, 2}); });
     }},
    {"twice/loaded-executable", "a program destroyed twice",
     [](Session& s) {
       return Twice(s, Function::kLoadedExecutableDestroy,
                    [](Session& x) { return x.Compile(kSumProgram); });
     }},
    {"twice/executable", "an executable destroyed twice",
     [](Session& s) {
       return Twice(s, Function::kExecutableDestroy, [](Session& x) { return x.SomeExecutable(); });
     }},
    {"twice/event", "an event destroyed twice",
     [](Session& s) {
       return Twice(s, Function::kEventDestroy, [](Session& x) { return x.SomeEvent(); });
     }},
    {"twice/client", "a client destroyed twice",
     [](Session& s) {
       return Twice(s, Function::kClientDestroy, [](Session& x) { return x.MakeClient(); });
     }},
    {"twice/buffer-delete", "a buffer deleted twice", DeletesTwice},
    {"after-destroy/buffer", "a buffer used after it was destroyed", UsesDestroyedBuffer},
    {"transfer/null-data", "null for the data",
     [](Session& s) {
       return TransfersOddly(s, [](BufferFromHostArgs& a) { a.data = nullptr; }, "null data");
     }},
    {"transfer/null-dims", "null for the dimensions",
     [](Session& s) {
       return TransfersOddly(s, [](BufferFromHostArgs& a) { a.dims = nullptr; }, "null dimensions");
     }},
    {"transfer/negative-dims", "a negative dimension",
     [](Session& s) {
       static const int64_t negative[1] = {-2};
       return TransfersOddly(
           s, [](BufferFromHostArgs& a) { a.dims = negative; }, "a negative dimension");
     }},
    {"transfer/huge-dims", "more elements than there are addresses",
     [](Session& s) {
       static const int64_t huge[3] = {int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 40};
       return TransfersOddly(
           s,
           [](BufferFromHostArgs& a) {
             a.dims = huge;
             a.dim_count = 3;
           },
           "2^120 elements");
     }},
    {"transfer/nowhere", "neither a device nor a memory",
     [](Session& s) {
       return TransfersOddly(s, [](BufferFromHostArgs& a) { a.device = nullptr; }, "no device");
     }},
    {"transfer/null-client", "null for the client",
     [](Session& s) {
       return TransfersOddly(s, [](BufferFromHostArgs& a) { a.client = nullptr; }, "no client");
     }},
    {"transfer/few-strides", "fewer strides than dimensions",
     [](Session& s) {
       static const int64_t strides[1] = {4};
       static const int64_t dims[2] = {1, 2};
       return TransfersOddly(
           s,
           [](BufferFromHostArgs& a) {
             a.dims = dims;
             a.dim_count = 2;
             a.byte_strides = strides;
             a.byte_stride_count = 1;
           },
           "one stride for two dimensions");
     }},
    {"transfer/semantics", "semantics of no name",
     [](Session& s) {
       return TransfersOddly(
           s, [](BufferFromHostArgs& a) { a.semantics = static_cast<HostBuffer>(77); },
           "unknown semantics");
     }},
    {"execute/null-options", "null for the options",
     [](Session& s) {
       return ExecutesOddly(s, [](ExecuteArgs& a) { a.options = nullptr; }, "no options");
     }},
    {"execute/null-outputs", "null for the outputs",
     [](Session& s) {
       return ExecutesOddly(s, [](ExecuteArgs& a) { a.output_lists = nullptr; }, "no room");
     }},
    {"execute/null-arguments", "null for the arguments",
     [](Session& s) {
       return ExecutesOddly(s, [](ExecuteArgs& a) { a.argument_lists = nullptr; }, "no arguments");
     }},
    {"execute/null-argument", "null for one argument", NullArgument},
    {"execute/no-devices", "no devices",
     [](Session& s) {
       return ExecutesOddly(s, [](ExecuteArgs& a) { a.device_count = 0; }, "no devices");
     }},
    {"compile/null-program", "null for the program",
     [](Session& s) {
       return CompilesOddly(s, [](ClientCompileArgs& a) { a.program = nullptr; }, "no program");
     }},
    {"compile/bad-options", "options that are no message",
     [](Session& s) {
       return CompilesOddly(
           s,
           [](ClientCompileArgs& a) {
             a.options = "\xff\xff\xff\xff";
             a.options_size = 4;
           },
           "options that are no message");
     }},
    {"no-structure/PJRT_Client_PlatformName", "null for a structure",
     [](Session& s) { return NoStructure(s, Function::kClientPlatformName); }},
    {"no-structure/PJRT_Client_Create", "null for a structure",
     [](Session& s) { return NoStructure(s, Function::kClientCreate); }},
};

}  // namespace

void AddHostileCases(std::vector<ProtocolCase>& cases) {
  for (const CaseRow& row : kRows) {
    cases.push_back({StrCat("hostile/", row.name), CaseLevel::kOpen,
                     StrCat(row.rule, " is an error"), row.body});
  }
}

}  // namespace assay::pjrt
