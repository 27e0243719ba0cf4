// Parts of a module to objects, side by side, and LLVM's linker, set up once per instruction set
// and tier.
#include "optimized/cpu/native/jit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "absl/algorithm/container.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
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

// Address space for code is reserved in pieces of this size, from which programs get their pages.
constexpr size_t kCodeSlab = size_t{1} << 22;

absl::StatusOr<std::unique_ptr<llvm::MemoryBuffer>> EmitWhole(ObjectEmitter& emitter,
                                                              llvm::Module& module) {
  ASSAY_RETURN_IF_ERROR(emitter.Emit(module));
  return llvm::MemoryBuffer::getMemBufferCopy(emitter.object());
}

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
  isa_ = isa;
  tier_ = tier;
  emitters_.resize(1);
  ASSAY_RETURN_IF_ERROR(EmitterOf(0, tier).status());
  return CreateLinker(emitter().machine().getTargetTriple());
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
  module->setDataLayout(emitter().machine().createDataLayout());
  module->setTargetTriple(emitter().machine().getTargetTriple());
  return module;
}

absl::StatusOr<ObjectEmitter*> Jit::EmitterOf(size_t thread, Tier tier) {
  std::unique_ptr<ObjectEmitter>& emitter = emitters_[thread][static_cast<size_t>(tier)];
  if (emitter == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(emitter, ObjectEmitter::Create(isa_, tier));
  }
  return emitter.get();
}

absl::StatusOr<std::vector<Jit::Object>> Jit::EmitObjects(llvm::Module& module, int threads) {
  ModuleCut cut;
  if (tier_ == Tier::kFull) {
    ObjectEmitter::MarkRareFunctions(module);
    cut = PlanCut(module, threads);
    const auto is_cold = [](const CodePart& part) { return part.is_cold; };
    if (!cut.all_cold && absl::c_none_of(cut.parts, is_cold)) SpareCold(module);
    if (!cut.parts.empty()) return EmitParts(module, cut, threads);
  }
  std::vector<Object> objects(1);
  ASSAY_ASSIGN_OR_RETURN(ObjectEmitter * emitter, EmitterOf(0, cut.all_cold ? Tier::kFast : tier_));
  ASSAY_ASSIGN_OR_RETURN(objects[0], EmitWhole(*emitter, module));
  return objects;
}

absl::StatusOr<Jit::Object> Jit::EmitPart(llvm::MemoryBufferRef bitcode, const CodePart& part,
                                          size_t thread) {
  ASSAY_ASSIGN_OR_RETURN(ObjectEmitter * emitter,
                         EmitterOf(thread, part.is_cold ? Tier::kFast : tier_));
  llvm::LLVMContext context;
  auto module = ReadPart(bitcode, part, context);
  if (!module) return FromLlvm(module.takeError(), "reading a part of the code");
  return EmitWhole(*emitter, **module);
}

absl::StatusOr<std::vector<Jit::Object>> Jit::EmitParts(llvm::Module& module, const ModuleCut& cut,
                                                        int threads) {
  ExportParts(module);
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  for (llvm::Function& function : module) function.deleteBody();  // parts have all that is needed
  const llvm::MemoryBufferRef whole({bitcode.data(), bitcode.size()}, module.getName());
  std::vector<absl::StatusOr<Object>> made(cut.parts.size());
  std::atomic<size_t> next{0};
  const auto work = [&](size_t thread) {
    for (size_t k = next++; k < made.size(); k = next++) {
      made[k] = EmitPart(whole, cut.parts[k], thread);
    }
  };
  const size_t workers = std::min<size_t>(std::max(1, threads), made.size());
  if (emitters_.size() < workers) emitters_.resize(workers);
  std::vector<std::thread> others;
  for (size_t k = 1; k < workers; ++k) others.emplace_back(work, k);
  work(0);
  for (std::thread& other : others) other.join();
  std::vector<Object> objects;
  for (absl::StatusOr<Object>& object : made) {
    ASSAY_RETURN_IF_ERROR(object.status());
    objects.push_back(*std::move(object));
  }
  return objects;
}

absl::Status Jit::Link(std::vector<Object> objects, const char* entry, JitCode& code) {
  link_errors_.clear();
  llvm::orc::ExecutionSession& session = jit_->getExecutionSession();
  code.library_ = &session.createBareJITDylib("program" + std::to_string(next_library_++));
  code.library_->addToLinkOrder(*runtime_);
  // Unloaded here: the destructor would wait for the lock that is held.
  const auto give_up = [&](llvm::Error failed, const std::string& what) {
    llvm::consumeError(session.removeJITDylib(*code.library_));
    code.library_ = nullptr;
    return FromLlvm(std::move(failed), what);
  };
  for (Object& object : objects) {
    if (llvm::Error failed = jit_->addObjectFile(*code.library_, std::move(object))) {
      return give_up(std::move(failed), "adding an object");
    }
  }
  llvm::Expected<llvm::orc::ExecutorAddr> address = jit_->lookup(*code.library_, entry);
  if (!address) return give_up(address.takeError(), StrCat("linking: ", link_errors_));
  code.entry_ = address->toPtr<JitCode::Entry>();
  return absl::OkStatus();
}

std::unique_ptr<JitCode> Jit::CompileDirectly(const llvm::Module& module, const char* entry,
                                              const KernelBends& bends) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<DirectTranslation> direct = TranslateDirectly(module, entry, bends);
  if (!direct.has_value()) return nullptr;
  auto code = std::make_unique<JitCode>();
  code->entry_ = reinterpret_cast<JitCode::Entry>(direct->entry);
  code->object_bytes_ = direct->bytes;
  code->parts_ = 1;
  code->direct_ = std::move(direct->memory);
  code->llvm_seconds_ = Seconds(start);
  return code;
}

absl::StatusOr<std::unique_ptr<JitCode>> Jit::Compile(llvm::Module& module, const char* entry,
                                                      int threads, bool may_be_direct,
                                                      const KernelBends& bends) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto start = std::chrono::steady_clock::now();
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    return MakeError(ErrorClass::kCompileCrash,
                     StrCat("cpu: wrong LLVM IR was generated: ", problem));
  }
  if (may_be_direct && isa_ != Isa::kBaseline && CanTranslateDirectly() &&
      (tier_ == Tier::kFast || PlanCut(module, threads).all_cold)) {
    if (auto direct = CompileDirectly(module, entry, bends)) return direct;
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<Object> objects, EmitObjects(module, threads));
  auto code = std::make_unique<JitCode>();
  code->jit_ = this;
  code->llvm_seconds_ = Seconds(start);
  for (const Object& object : objects) {
    code->object_bytes_ += static_cast<int64_t>(object->getBufferSize());
    code->object_hash_ = code->object_hash_ * 31 + llvm::xxh3_64bits(object->getBuffer());
  }
  code->parts_ = static_cast<int>(objects.size());
  start = std::chrono::steady_clock::now();
  ASSAY_RETURN_IF_ERROR(Link(std::move(objects), entry, *code));
  code->link_seconds_ = Seconds(start);
  return code;
}

JitCode::~JitCode() {
  if (library_ == nullptr) return;
  std::lock_guard<std::mutex> lock(jit_->mutex_);
  llvm::consumeError(jit_->jit_->getExecutionSession().removeJITDylib(*library_));
}

}  // namespace assay
