// LLVM IR to running code, in process. A Jit belongs to one instruction set and one tier; it is
// made once and reused, and is safe to use from several threads, one compilation at a time.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace assay {

enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512, kHost };
enum class Tier : uint8_t {
  kFast,
  kFull
};  // kFast: least compile time; kFull: the optimizer's work as well

// Code of one module; unloaded when this dies.
class JitCode {
 public:
  ~JitCode();
  using Entry = void (*)(void** table);
  Entry entry() const { return entry_; }
  double llvm_seconds() const { return llvm_seconds_; }
  double link_seconds() const { return link_seconds_; }
  int64_t object_bytes() const { return object_bytes_; }

 private:
  friend class Jit;
  class Jit* jit_ = nullptr;
  llvm::orc::JITDylib* library_ = nullptr;
  Entry entry_ = nullptr;
  double llvm_seconds_ = 0, link_seconds_ = 0;
  int64_t object_bytes_ = 0;
};

class Jit {
 public:
  // The Jit for an instruction set and tier; lives as long as the process. Unsupported where this
  // machine lacks the instructions.
  static absl::StatusOr<Jit*> Get(Isa isa, Tier tier);

  // A module for EmitProgram to fill, with this target's data layout.
  std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext& context,
                                          const std::string& name) const;
  // Optimizes, generates code and links. The module is spent.
  absl::StatusOr<std::unique_ptr<JitCode>> Compile(llvm::Module& module, const char* entry);

  int vector_bits() const { return vector_bits_; }
  bool has_fma() const { return has_fma_; }
  // Instruction set and features, for the version line.
  const std::string& cpu() const { return cpu_; }

 private:
  friend class JitCode;
  Jit() = default;
  absl::Status Initialize(Isa isa, Tier tier);
  absl::Status CreateLinker(const llvm::Triple& triple);
  void Optimize(llvm::Module& module);
  // Writes the code of `module` to `object_`.
  absl::Status EmitObject(llvm::Module& module);

  Tier tier_ = Tier::kFast;
  std::string cpu_;
  int vector_bits_ = 128;
  bool has_fma_ = false;
  std::mutex mutex_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  // LLVM's passes that select and write instructions, kept: making them anew would take a tenth of
  // the time that a small program takes.
  llvm::SmallVector<char, 0> object_;
  std::unique_ptr<llvm::raw_svector_ostream> object_stream_;
  std::unique_ptr<llvm::legacy::PassManager> codegen_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  int64_t next_library_ = 0;
  std::string link_errors_;  // what the session reported beside the status of the lookup
};

}  // namespace assay
