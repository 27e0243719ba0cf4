// One case's view of a plug-in: the objects that cases are about, made when they are first asked
// for, and calls whose errors are looked at. Lives in a process of its own: what a case does may
// end it.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "fuzz/backends/pjrt/calls.h"
#include "fuzz/backends/pjrt/compile_options.h"
#include "fuzz/backends/pjrt/plugin.h"
#include "fuzz/backends/pjrt/protocol/functions.h"

namespace assay::pjrt {

// A case ends with a status: OK is passed.
absl::Status Violation(std::string_view what);
// The plug-in has no such function, or says that it does not implement it.
absl::Status NotThere(std::string_view what);
bool IsNotThere(const absl::Status& status);

// An error as the plug-in gave it.
struct Refusal {
  Code code = Code::kOk;
  std::string message;
  std::string Describe() const;  // "INVALID_ARGUMENT: words"
};

// A structure of arguments as words, so that one code asks every function of the table; behind its
// end lie words that nobody may write.
class RawArgs {
 public:
  RawArgs(size_t size, const void* subject);
  void* get() { return words_; }
  void SetSize(size_t size) { words_[0] = size; }
  void SetExtension(Extension* extension) { words_[1] = reinterpret_cast<uint64_t>(extension); }
  uint64_t Word(size_t offset) const { return words_[offset / 8]; }
  int Integer(size_t offset) const { return static_cast<int>(words_[offset / 8]); }
  uint8_t Byte(size_t offset) const { return static_cast<uint8_t>(words_[offset / 8]); }
  const void* Address(size_t offset) const { return reinterpret_cast<const void*>(Word(offset)); }
  // True if a byte at `size` or behind it was written.
  bool IsWrittenBehind(size_t size) const;

 private:
  static constexpr size_t kWords = 64;
  uint64_t words_[kWords];
};

// Once an object was asked for, threads may share it and make calls at once.
class Session {
 public:
  Session(const Plugin& plugin, int devices) : plugin_(plugin), device_count_(devices) {}

  const Plugin& plugin() const { return plugin_; }

  // The function must be there. The error is the caller's.
  Error* CallAsIs(Function function, void* args) const;
  ErrorMessageArgs MessageOf(const Error* error) const;
  void DestroyError(Error* error) const;
  // nullopt: no error. Every error is read and destroyed; one without words or with an unknown code
  // is noted.
  std::optional<Refusal> Call(Function function, void* args);
  // Not there, or a violation that says which function refused what it must take.
  absl::Status MustWork(Function function, void* args, std::string_view what = "");
  // A violation where the call is answered as if all was well.
  absl::Status MustFail(Function function, void* args, std::string_view what);
  // A violation if an error that was read had no words or an unknown code.
  absl::Status Noted() const;
  // Not there where one is missing.
  absl::Status Needs(std::initializer_list<Function> functions) const;

  // The objects. Each lives until the session ends.
  absl::StatusOr<Client*> GetClient();
  absl::StatusOr<std::vector<Device*>> Devices();
  absl::StatusOr<Device*> FirstDevice();
  absl::StatusOr<DeviceDescription*> Description();
  absl::StatusOr<Memory*> FirstMemory();
  // It is f32[2,3] and holds kSix.
  absl::StatusOr<Buffer*> SomeBuffer();
  // A new one, of the same, that was deleted.
  absl::StatusOr<Buffer*> DeletedBuffer();
  // A program for SomeBuffer twice: their sum.
  absl::StatusOr<LoadedExecutable*> SomeLoaded();
  absl::StatusOr<PluginExecutable*> SomeExecutable();
  absl::StatusOr<Event*> SomeEvent();
  absl::StatusOr<const void*> Topology();
  absl::StatusOr<const void*> Of(Subject subject);

  absl::StatusOr<Client*> MakeClient();
  // Takes HLO text, which goes as "hlo", else as StableHLO.
  absl::StatusOr<LoadedExecutable*> Compile(const std::string& text,
                                            const std::string& options = CompileOptionsBytes({},
                                                                                             1));
  // The result of compiling raw bytes; nullopt: no error.
  std::optional<Refusal> CompileBytes(const std::string& code, const std::string& format,
                                      const std::string& options, LoadedExecutable** made);
  absl::StatusOr<PluginExecutable*> ExecutableOf(LoadedExecutable* loaded);
  // An array for the first device. `dims` and `data` must outlive it.
  absl::StatusOr<BufferFromHostArgs> TransferArgs(BufferType type, absl::Span<const int64_t> dims,
                                                  const void* data);
  absl::StatusOr<Buffer*> ToDevice(BufferType type, const std::vector<int64_t>& dims,
                                   const void* data);
  absl::StatusOr<Buffer*> Floats(const std::vector<int64_t>& dims, const std::vector<float>& data);
  absl::StatusOr<std::string> Bytes(Buffer* buffer);
  absl::StatusOr<std::vector<float>> ToFloats(Buffer* buffer);
  // A violation where it holds others.
  absl::Status Holds(Buffer* buffer, const std::vector<float>& wanted);
  absl::StatusOr<bool> IsDeleted(Buffer* buffer);
  absl::Status Delete(Buffer* buffer);
  absl::StatusOr<Event*> ReadyEvent(Buffer* buffer);
  // Both wait. The event may be null; Await destroys it.
  absl::Status Await(Event* event);
  std::optional<Refusal> ErrorOf(Event* event);

  // One execution on one device.
  struct Run {
    std::vector<Buffer*> outputs;
    Event* done = nullptr;
    std::optional<Refusal> refusal;
  };
  Run Execute(LoadedExecutable* loaded, std::vector<Buffer*> arguments, size_t outputs = 1,
              ExecuteOptions* options = nullptr);

  template <typename Args, typename Object>
  absl::Status Destroy(Function function, Object* object) {
    Args args{{ASSAY_PJRT_SIZE(Args, head) + sizeof(void*), nullptr}, object};
    return MustWork(function, &args);
  }

 private:
  const Plugin& plugin_;
  int device_count_;
  mutable std::mutex odd_mutex_;
  std::vector<std::string> odd_;
  Client* client_ = nullptr;
  Buffer* buffer_ = nullptr;
  LoadedExecutable* loaded_ = nullptr;
  PluginExecutable* executable_ = nullptr;
};

// A violation that tells the values where they are not those wanted.
absl::Status SameValues(const std::vector<float>& got, const std::vector<float>& wanted);

// Values of f32[2,3], and what becomes of them.
extern const std::vector<float> kSix, kDoubled, kSquared;

// The programs of the cases.
extern const char kSumProgram[];      // f32[2,3], f32[2,3] -> their sum
extern const char kProductProgram[];  // the same with their product
extern const char kPairProgram[];     // both, as a tuple
extern const char kDonateProgram[];   // f32[1024] + 1 into its argument's buffer, if that is given
extern const char kLongProgram[];     // f32[64,64], twenty products of matrices

}  // namespace assay::pjrt
