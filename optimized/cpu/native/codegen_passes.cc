// Leaves out passes by their names. Each costs little, but there are more than fifty of them, each
// runs on every function, and a function of ours often has ten instructions.
#include "optimized/cpu/native/codegen_passes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "llvm/Pass.h"
#include "spec/base/error.h"

namespace assay {
namespace {

// These passes serve what we never emit: exceptions, garbage collection, statepoints, tiles of AMX,
// atomics, jumps to computed places, thread-local data, calls through tables, debug values; and
// what others ask of programs that strangers attack or profile. A pass that a later LLVM calls
// otherwise is run.
constexpr auto kIdlePasses = std::to_array<std::string_view>({
    "Analyze Machine Code For Garbage Collection",
    "Argument Stack Rebase",
    "Assignment Tracking Analysis",
    "Check CFA info and insert CFI instructions if needed",
    "Contiguously Lay Out Funclets",
    "Exception handling preparation",
    "Expand Atomic instructions",
    "Expand indirectbr instructions",
    "Fast Tile Register Configure",
    "Fast Tile Register Preconfigure",
    "Fixup Statepoint Caller Saved",
    "Implement the 'patchable-function' attribute",
    "Insert KCFI indirect call checks",
    "Insert XRay ops",
    "Insert fentry calls",
    "Insert stack protectors",
    "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
    "Live DEBUG_VALUE analysis",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Lower Garbage Collection Instructions",
    "Machine Sanitizer Binary Metadata",
    "Prepare callbr",
    "Pseudo Probe Inserter",
    "Remove Loads Into Fake Uses",
    "Remove Redundant DEBUG_VALUE analysis",
    "Safe Stack instrumentation pass",
    "Shadow Stack GC Lowering",
    "Stack Frame Layout Analysis",
    "StackMap Liveness Analysis",
    "X86 DynAlloca Expander",
    "X86 Indirect Branch Tracking",
    "X86 Indirect Thunks",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "X86 Lower Tile Copy",
    "X86 PIC Global Base Reg Initialization",
    "X86 Return Thunks",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Suppress APX features for relocation",
    "X86 insert wait instruction",
    "X86 speculative load hardening",
});
static_assert(std::is_sorted(kIdlePasses.begin(), kIdlePasses.end()));

class WithoutIdlePasses : public llvm::legacy::PassManagerBase {
 public:
  explicit WithoutIdlePasses(llvm::legacy::PassManager& passes) : passes_(passes) {}

  void add(llvm::Pass* pass) override {
    const llvm::StringRef name = pass->getPassName();
    if (std::binary_search(kIdlePasses.begin(), kIdlePasses.end(),
                           std::string_view(name.data(), name.size()))) {
      delete pass;
    } else {
      passes_.add(pass);
    }
  }

 private:
  llvm::legacy::PassManager& passes_;
};

}  // namespace

absl::Status AddCodegenPasses(llvm::TargetMachine& machine, llvm::raw_pwrite_stream& object,
                              llvm::legacy::PassManager& passes) {
  WithoutIdlePasses kept(passes);
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(kept, context, object, /*DisableVerify=*/true)) {
    return MakeError(ErrorClass::kCompileCrash, "cpu: LLVM cannot emit objects for this target");
  }
  return absl::OkStatus();
}

}  // namespace assay
