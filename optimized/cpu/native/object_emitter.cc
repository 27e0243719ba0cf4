// LLVM's target machine, optimizer and instruction selection, set up once.
#include "optimized/cpu/native/object_emitter.h"

#include <cstdio>

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "optimized/codegen/functions/math_functions.h"
#include "optimized/cpu/native/codegen_passes.h"
#include "optimized/cpu/native/module_cut.h"
#include "optimized/cpu/native/plain_forms.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

namespace {

// LLVM ends the process after this; the reason at least is told.
void ReportFatal(void*, const char* reason, bool) {
  std::fprintf(stderr, "assay: LLVM cannot go on: %s\n", reason);
}

// Our loops come with the addresses that they are meant to have: rewriting their induction
// variables would take a fifth of the time and change next to nothing.
void SetPassOptions() {
  for (const char* name : {"disable-lsr"}) {
    auto& known = llvm::cl::getRegisteredOptions();
    const auto option = known.find(name);
    if (option != known.end()) option->second->addOccurrence(0, name, "true");
  }
}

void InitializeLlvm() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(ReportFatal);
    SetPassOptions();
    return true;
  }();
  (void)done;
}

bool HasVectors(const llvm::Function& function) {
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      if (instruction.getType()->isVectorTy()) return true;
    }
  }
  return false;
}

// Up to so many calls a formula stands where it is used: no registers are saved around it. Beyond
// that the code would grow with the number of calls, and with it the time that it takes.
constexpr unsigned kMostInlined = 8;

llvm::FunctionPassManager PassesFor(bool has_vectors) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(true));
  if (!has_vectors) passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LoopRotatePass());
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), true));
  passes.addPass(llvm::GVNPass());
  if (!has_vectors) {
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::InstCombinePass());
  }
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

struct Analyses {
  explicit Analyses(llvm::TargetMachine* machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

struct IsaRow {
  Isa isa;
  const char* cpu;  // LLVM's name; nullptr: the host's
  int vector_bits;
  const char* needs;  // feature the machine must have
};
constexpr IsaRow kIsas[] = {
    {Isa::kBaseline, "x86-64", 128, nullptr},
    {Isa::kAvx2, "x86-64-v3", 256, "avx2"},
    {Isa::kAvx512, "x86-64-v4", 512, "avx512vl"},
    {Isa::kHost, nullptr, 0, nullptr},
};

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectEmitter>> ObjectEmitter::Create(Isa isa, Tier tier) {
  auto emitter = std::unique_ptr<ObjectEmitter>(new ObjectEmitter());
  const absl::Status made = emitter->Initialize(isa, tier);
  if (!made.ok()) return made;
  return emitter;
}

absl::Status ObjectEmitter::Initialize(Isa isa, Tier tier) {
  InitializeLlvm();
  tier_ = tier;
  const IsaRow& row = kIsas[static_cast<size_t>(isa)];
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](const char* feature) { return host.lookup(feature); };
  if (row.needs != nullptr && !has(row.needs)) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: this machine has no ", row.needs, "; choose isa=host"));
  }
  std::string features;
  cpu_ = row.cpu != nullptr ? row.cpu : llvm::sys::getHostCPUName().str();
  vector_bits_ = row.vector_bits;
  if (row.cpu == nullptr) {
    for (const auto& feature : host) {
      features += StrCat(features.empty() ? "" : ",", feature.second ? "+" : "-",
                         std::string(feature.first()));
    }
    vector_bits_ = has("avx512vl") ? 512 : has("avx2") ? 256 : 128;
  }
  has_fma_ = row.cpu == nullptr ? has("fma") : isa != Isa::kBaseline;
  // Conversions to bf16 by instruction would flush subnormals; arithmetic on f16 would keep no f32
  // steps.
  for (const char* off : {"-avx512bf16", "-avx512fp16"}) {
    features += StrCat(features.empty() ? "" : ",", off);
  }
  if (vector_bits_ == 512) features += ",-prefer-256-bit";

  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    return MakeError(ErrorClass::kUnsupported, StrCat("cpu: no LLVM target: ", error));
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto level = tier == Tier::kFast ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less;
  machine_.reset(target->createTargetMachine(triple, cpu_, features, options, llvm::Reloc::PIC_,
                                             llvm::CodeModel::Small, level, true));
  if (machine_ == nullptr) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: LLVM has no target machine for ", cpu_));
  }
  machine_->setFastISel(tier == Tier::kFast);
  return absl::OkStatus();
}

void ObjectEmitter::MarkRareFunctions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.getName().starts_with(kSharedFunctionPrefix)) continue;
    const bool is_rare = function.getNumUses() <= kMostInlined;
    function.addFnAttr(is_rare ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  }
}

void ObjectEmitter::Optimize(llvm::Module& module) {
  if (tier_ == Tier::kFast) return;
  Analyses analyses(machine_.get());
  llvm::ModulePassManager of_module;
  of_module.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  of_module.run(module, analyses.modules);
  // Kernels on vectors are what they should be: LLVM's vectorizer would cut up the few elements
  // that are left over, for nearly half of the time.
  llvm::FunctionPassManager of_scalars = PassesFor(/*has_vectors=*/false);
  llvm::FunctionPassManager of_vectors = PassesFor(/*has_vectors=*/true);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || IsCold(function)) continue;
    llvm::FunctionPassManager& passes = HasVectors(function) ? of_vectors : of_scalars;
    analyses.functions.invalidate(function, passes.run(function, analyses.functions));
  }
}

absl::Status ObjectEmitter::Emit(llvm::Module& module) {
  if (tier_ == Tier::kFast) UsePlainForms(module);
  Optimize(module);
  object_.clear();
  if (codegen_ == nullptr) {
    auto codegen = std::make_unique<llvm::legacy::PassManager>();
    object_stream_ = std::make_unique<llvm::raw_svector_ostream>(object_);
    ASSAY_RETURN_IF_ERROR(AddCodegenPasses(*machine_, *object_stream_, *codegen));
    codegen_ = std::move(codegen);
  }
  codegen_->run(module);
  return absl::OkStatus();
}

}  // namespace assay
