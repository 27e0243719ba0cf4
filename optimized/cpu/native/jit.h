// LLVM IR to running code, in process. A Jit belongs to one instruction set and one tier; it is
// made once and reused, and is safe to use from several threads, one compilation at a time.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "optimized/cpu/native/module_cut.h"
#include "optimized/cpu/native/object_emitter.h"
#include "optimized/cpu/native/optional_direct.h"

namespace assay {

// Code of one module; unloaded when this dies.
class JitCode {
 public:
  ~JitCode();
  using Entry = void (*)(void** table);
  Entry entry() const { return entry_; }
  double llvm_seconds() const { return llvm_seconds_; }
  double link_seconds() const { return link_seconds_; }
  int64_t object_bytes() const { return object_bytes_; }
  // A hash of the code before it is linked, so that it is the same in every process; 0 where LLVM's
  // code generation was not needed.
  uint64_t object_hash() const { return object_hash_; }
  int parts() const { return parts_; }
  // True if LLVM's code generation was not needed.
  bool is_direct() const { return direct_ != nullptr; }

 private:
  friend class Jit;
  class Jit* jit_ = nullptr;
  llvm::orc::JITDylib* library_ = nullptr;
  std::shared_ptr<const void> direct_;  // code without LLVM
  Entry entry_ = nullptr;
  double llvm_seconds_ = 0, link_seconds_ = 0;
  int64_t object_bytes_ = 0;
  uint64_t object_hash_ = 0;
  int parts_ = 0;
};

class Jit {
 public:
  // The Jit for an instruction set and tier; lives as long as the process. Unsupported where this
  // machine lacks the instructions.
  static absl::StatusOr<Jit*> Get(Isa isa, Tier tier);

  // A module for EmitProgram to fill, with this target's data layout.
  std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext& context,
                                          const std::string& name) const;
  // Optimizes, generates code, on up to so many threads, and links. The module is spent. Code that
  // is cold as a whole is translated directly where that can be and may be; `bends`: what a planted
  // defect changes in such code.
  absl::StatusOr<std::unique_ptr<JitCode>> Compile(llvm::Module& module, const char* entry,
                                                   int threads, bool may_be_direct,
                                                   const KernelBends& bends = kNoBends);

  int vector_bits() const { return emitter().vector_bits(); }
  bool has_fma() const { return emitter().has_fma(); }
  // Instruction set and features, for the version line.
  const std::string& cpu() const { return emitter().cpu(); }

 private:
  friend class JitCode;
  using Object = std::unique_ptr<llvm::MemoryBuffer>;
  Jit() = default;
  absl::Status Initialize(Isa isa, Tier tier);
  absl::Status CreateLinker(const llvm::Triple& triple);
  // The emitter of a thread, made when it is first needed.
  absl::StatusOr<ObjectEmitter*> EmitterOf(size_t thread, Tier tier);
  const ObjectEmitter& emitter() const { return *emitters_[0][static_cast<size_t>(tier_)]; }
  absl::StatusOr<std::vector<Object>> EmitObjects(llvm::Module& module, int threads);
  absl::StatusOr<std::vector<Object>> EmitParts(llvm::Module& module, const ModuleCut& cut,
                                                int threads);
  absl::StatusOr<Object> EmitPart(llvm::MemoryBufferRef bitcode, const CodePart& part,
                                  size_t thread);
  absl::Status Link(std::vector<Object> objects, const char* entry, JitCode& code);
  // nullptr: LLVM has to.
  std::unique_ptr<JitCode> CompileDirectly(const llvm::Module& module, const char* entry,
                                           const KernelBends& bends);

  Isa isa_ = Isa::kHost;
  Tier tier_ = Tier::kFast;
  std::mutex mutex_;
  using OfTiers = std::array<std::unique_ptr<ObjectEmitter>, 2>;
  std::vector<OfTiers> emitters_;  // by thread and tier
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  int64_t next_library_ = 0;
  std::string link_errors_;  // what the session reported beside the status of the lookup
};

}  // namespace assay
