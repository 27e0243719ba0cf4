// LLVM IR to object code for one instruction set and tier. What LLVM sets up for that is made once
// and kept; an emitter serves one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace assay {

enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512, kHost };
enum class Tier : uint8_t {
  kFast,
  kFull
};  // kFast: least compile time; kFull: the optimizer's work as well

class ObjectEmitter {
 public:
  // Unsupported where this machine lacks the instructions.
  static absl::StatusOr<std::unique_ptr<ObjectEmitter>> Create(Isa isa, Tier tier);

  // Has formulas that few use put where they are used. Before a module is cut: uses are counted.
  static void MarkRareFunctions(llvm::Module& module);
  // Optimizes and generates code. The module is spent; the object stays until the next call.
  absl::Status Emit(llvm::Module& module);
  llvm::StringRef object() const { return {object_.data(), object_.size()}; }

  const llvm::TargetMachine& machine() const { return *machine_; }
  int vector_bits() const { return vector_bits_; }
  bool has_fma() const { return has_fma_; }
  const std::string& cpu() const { return cpu_; }

 private:
  ObjectEmitter() = default;
  absl::Status Initialize(Isa isa, Tier tier);
  void Optimize(llvm::Module& module);

  Tier tier_ = Tier::kFast;
  std::string cpu_;
  int vector_bits_ = 128;
  bool has_fma_ = false;
  std::unique_ptr<llvm::TargetMachine> machine_;
  // LLVM's passes that select and write instructions, kept: making them anew would take a tenth of
  // the time that a small program takes.
  llvm::SmallVector<char, 0> object_;
  std::unique_ptr<llvm::raw_svector_ostream> object_stream_;
  std::unique_ptr<llvm::legacy::PassManager> codegen_;
};

}  // namespace assay
