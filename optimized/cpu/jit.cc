// LLVM's target, optimizer and linker, set up once per instruction set and tier.
#include "optimized/cpu/jit.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"
#include "optimized/codegen/functions/math_functions.h"
#include "optimized/runtime/symbols.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

namespace {

absl::Status FromLlvm(llvm::Error error, std::string_view what) {
  return MakeError(ErrorClass::kCompileCrash,
                   StrCat("cpu: ", what, ": ", llvm::toString(std::move(error))));
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

// LLVM ends the process after this; the reason at least is told.
void ReportFatal(void*, const char* reason, bool) {
  std::fprintf(stderr, "assay: LLVM cannot go on: %s\n", reason);
}

void InitializeLlvm() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(ReportFatal);
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

void InlineRareFunctions(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  for (llvm::Function& function : module) {
    if (!function.getName().starts_with(kSharedFunctionPrefix)) continue;
    const bool is_rare = function.getNumUses() <= kMostInlined;
    function.addFnAttr(is_rare ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.run(module, analyses);
}

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

// Address space for code is reserved in pieces of this size, from which programs get their pages.
constexpr size_t kCodeSlab = size_t{1} << 22;

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

absl::StatusOr<Jit*> Jit::Get(Isa isa, Tier tier) {
  static std::mutex& mutex = *new std::mutex();
  static auto& made = *new std::array<std::array<Jit*, 2>, 4>{};
  std::lock_guard<std::mutex> lock(mutex);
  Jit*& slot = made[static_cast<size_t>(isa)][static_cast<size_t>(tier)];
  if (slot == nullptr) {
    auto jit = std::unique_ptr<Jit>(new Jit());
    ASSAY_RETURN_IF_ERROR(jit->Initialize(isa, tier));
    slot = jit.release();
  }
  return slot;
}

absl::Status Jit::Initialize(Isa isa, Tier tier) {
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
  auto level = tier == Tier::kFast ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  machine_.reset(target->createTargetMachine(triple, cpu_, features, options, llvm::Reloc::PIC_,
                                             llvm::CodeModel::Small, level, true));
  if (machine_ == nullptr) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: LLVM has no target machine for ", cpu_));
  }
  machine_->setFastISel(tier == Tier::kFast);
  return CreateLinker(triple);
}

absl::Status Jit::CreateLinker(const llvm::Triple& triple) {
  auto memory =
      llvm::orc::MapperJITLinkMemoryManager::CreateWithMapper<llvm::orc::InProcessMemoryMapper>(
          kCodeSlab);
  if (!memory) return FromLlvm(memory.takeError(), "reserving memory for code");
  auto control =
      llvm::orc::SelfExecutorProcessControl::Create(nullptr, nullptr, std::move(*memory));
  if (!control) return FromLlvm(control.takeError(), "creating the JIT");
  auto jit = llvm::orc::LLJITBuilder()
                 .setExecutorProcessControl(std::move(*control))
                 .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(triple))
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit) return FromLlvm(jit.takeError(), "creating the JIT");
  jit_ = std::move(*jit);
  llvm::orc::ExecutionSession& session = jit_->getExecutionSession();
  session.setErrorReporter([this](llvm::Error failed) {
    link_errors_ += StrCat(link_errors_.empty() ? "" : "; ", llvm::toString(std::move(failed)));
  });
  runtime_ = &session.createBareJITDylib("runtime");
  llvm::orc::SymbolMap symbols;
  for (const RuntimeSymbol& symbol : RuntimeSymbols()) {
    symbols[jit_->mangleAndIntern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
        llvm::orc::ExecutorAddr::fromPtr(symbol.address), llvm::JITSymbolFlags::Exported};
  }
  if (llvm::Error failed = runtime_->define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    return FromLlvm(std::move(failed), "defining runtime functions");
  }
  return absl::OkStatus();
}

std::unique_ptr<llvm::Module> Jit::NewModule(llvm::LLVMContext& context,
                                             const std::string& name) const {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setDataLayout(machine_->createDataLayout());
  module->setTargetTriple(machine_->getTargetTriple());
  return module;
}

void Jit::Optimize(llvm::Module& module) {
  if (tier_ == Tier::kFast) return;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  InlineRareFunctions(module, modules);
  // Kernels on vectors are what they should be: LLVM's vectorizer would cut up the few elements
  // that are left over, for nearly half of the time.
  llvm::FunctionPassManager of_scalars = PassesFor(/*has_vectors=*/false);
  llvm::FunctionPassManager of_vectors = PassesFor(/*has_vectors=*/true);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::FunctionPassManager& passes = HasVectors(function) ? of_vectors : of_scalars;
    functions.invalidate(function, passes.run(function, functions));
  }
}

absl::Status Jit::EmitObject(llvm::Module& module) {
  object_.clear();
  if (codegen_ == nullptr) {
    auto codegen = std::make_unique<llvm::legacy::PassManager>();
    object_stream_ = std::make_unique<llvm::raw_svector_ostream>(object_);
    llvm::MCContext* context = nullptr;
    if (machine_->addPassesToEmitMC(*codegen, context, *object_stream_, /*DisableVerify=*/true)) {
      return MakeError(ErrorClass::kCompileCrash, "cpu: LLVM cannot emit objects for this target");
    }
    codegen_ = std::move(codegen);
  }
  codegen_->run(module);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<JitCode>> Jit::Compile(llvm::Module& module, const char* entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto start = std::chrono::steady_clock::now();
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    return MakeError(ErrorClass::kCompileCrash,
                     StrCat("cpu: wrong LLVM IR was generated: ", problem));
  }
  Optimize(module);
  ASSAY_RETURN_IF_ERROR(EmitObject(module));
  auto code = std::make_unique<JitCode>();
  code->jit_ = this;
  code->llvm_seconds_ = Seconds(start);
  code->object_bytes_ = static_cast<int64_t>(object_.size());

  start = std::chrono::steady_clock::now();
  link_errors_.clear();
  llvm::orc::ExecutionSession& session = jit_->getExecutionSession();
  code->library_ = &session.createBareJITDylib("program" + std::to_string(next_library_++));
  code->library_->addToLinkOrder(*runtime_);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy({object_.data(), object_.size()});
  if (llvm::Error failed = jit_->addObjectFile(*code->library_, std::move(buffer))) {
    llvm::consumeError(session.removeJITDylib(*code->library_));
    code->library_ = nullptr;
    return FromLlvm(std::move(failed), "adding the object");
  }
  llvm::Expected<llvm::orc::ExecutorAddr> address = jit_->lookup(*code->library_, entry);
  if (!address) {
    // Unloaded here: the destructor would wait for the lock that is held.
    llvm::consumeError(session.removeJITDylib(*code->library_));
    code->library_ = nullptr;
    return FromLlvm(address.takeError(), StrCat("linking: ", link_errors_));
  }
  code->entry_ = address->toPtr<JitCode::Entry>();
  code->link_seconds_ = Seconds(start);
  return code;
}

JitCode::~JitCode() {
  if (library_ == nullptr) return;
  std::lock_guard<std::mutex> lock(jit_->mutex_);
  llvm::consumeError(jit_->jit_->getExecutionSession().removeJITDylib(*library_));
}

}  // namespace assay
