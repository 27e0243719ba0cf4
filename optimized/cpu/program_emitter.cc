// Emits a function per frame: kernel calls, copies, loops and branches.
#include "optimized/cpu/program_emitter.h"

#include <algorithm>

#include "llvm/IR/IRBuilder.h"
#include "optimized/codegen/buffer_address.h"
#include "optimized/codegen/equal_functions.h"
#include "optimized/cpu/native/module_cut.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

namespace {

// One block of instructions that needs no other function of ours.
bool IsStraight(const llvm::Function& kernel) {
  if (kernel.size() != 1) return false;
  for (const llvm::Instruction& instruction : kernel.getEntryBlock()) {
    if (instruction.getType()->isVectorTy()) return false;
    for (const llvm::Use& use : instruction.operands()) {
      const auto* helper = llvm::dyn_cast<llvm::Function>(use.get());
      if (helper != nullptr && !helper->isDeclaration()) return false;
    }
  }
  return true;
}

class ProgramEmitter {
 public:
  ProgramEmitter(const CodeContext& context, const BufferAssignment& buffers)
      : context_(context),
        module_(context.module),
        all_(buffers),
        ir_(context.module.getContext()) {}

  absl::Status Run(const ProgramPlan& plan) {
    for (const FramePlan& planned : plan.frames) {
      const Frame* frame = planned.frame;
      bool entry = frame == &all_.entry();
      auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {ir_.getPtrTy()}, false);
      auto linkage = entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
      std::string name = entry ? kEntryName : "frame." + frame->computation->name();
      llvm::Function* function = llvm::Function::Create(type, linkage, name, module_);
      function->setDoesNotThrow();
      functions_[frame] = function;
      ASSAY_RETURN_IF_ERROR(EmitFrame(planned, function));
      NoteHot(function, planned.in_loop);
    }
    for (const auto& [function, is_hot] : is_hot_) {
      function->addFnAttr(kPartAttribute, is_hot ? kHot : kCold);
    }
    return absl::OkStatus();
  }

 private:
  using Frame = BufferAssignment::Frame;

  absl::Status EmitFrame(const FramePlan& frame, llvm::Function* function);
  absl::Status EmitStep(const FramePlan& frame, const StepPlan& step);
  absl::Status EmitKernelCall(const FramePlan& frame, const StepPlan& step);
  // Writes what a kernel needs to a table of its own, to which `buffers` refer from then on.
  Value* BindTable(KernelBuffers& buffers);
  void NoteHot(llvm::Function* function, bool is_hot) { is_hot_[function] |= is_hot; }
  void EmitTimeCheck(Value* trips, llvm::BasicBlock* done);
  void EmitWhile(const Frame& frame, const Instruction* instruction);
  void EmitConditional(const Frame& frame, const Instruction* instruction);
  void EmitCopies(const std::vector<BufferAssignment::Copy>& copies);
  Value* Address(BufferAssignment::BufferId id) {
    return SliceAddress(ir_, function_->getArg(0), all_.SliceOf(id));
  }
  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, function_);
  }
  void Call(const Frame* callee) { ir_.CreateCall(functions_.at(callee), {function_->getArg(0)}); }

  const CodeContext& context_;
  llvm::Module& module_;
  const BufferAssignment& all_;
  llvm::IRBuilder<> ir_;
  llvm::Function* function_ = nullptr;
  Value* kernel_table_ = nullptr;  // nullptr: kernels of this frame use the program's
  EqualFunctions kernels_;
  absl::flat_hash_map<llvm::Function*, bool> is_hot_;
  absl::flat_hash_map<const Frame*, llvm::Function*> functions_;
};

void ProgramEmitter::EmitCopies(const std::vector<BufferAssignment::Copy>& copies) {
  for (const BufferAssignment::Copy& copy : copies) {
    llvm::Align align(16);
    ir_.CreateMemCpy(Address(copy.to), align, Address(copy.from), align, copy.bytes);
  }
}

absl::Status ProgramEmitter::EmitFrame(const FramePlan& frame, llvm::Function* function) {
  function_ = function;
  ir_.SetInsertPoint(NewBlock("entry"));
  kernel_table_ = frame.table_entries == 0
                      ? nullptr
                      : ir_.CreateAlloca(ir_.getPtrTy(), ir_.getInt64(frame.table_entries));
  for (const StepPlan& step : frame.steps) ASSAY_RETURN_IF_ERROR(EmitStep(frame, step));
  EmitCopies(frame.frame->final_copies);
  ir_.CreateRetVoid();
  return absl::OkStatus();
}

absl::Status ProgramEmitter::EmitStep(const FramePlan& planned, const StepPlan& step) {
  const Instruction* i = step.instruction;
  const Frame& frame = *planned.frame;
  auto before = frame.copies_before.find(i);
  if (before != frame.copies_before.end()) EmitCopies(before->second);
  switch (step.kind) {
    case StepPlan::Kind::kLoop:
      EmitWhile(frame, i);
      return absl::OkStatus();
    case StepPlan::Kind::kBranch:
      EmitConditional(frame, i);
      return absl::OkStatus();
    case StepPlan::Kind::kCall:
      Call(frame.callees.at(i)[0]);
      return absl::OkStatus();
    case StepPlan::Kind::kKernel:
      return EmitKernelCall(planned, step);
  }
  return absl::OkStatus();
}

Value* ProgramEmitter::BindTable(KernelBuffers& buffers) {
  llvm::Type* pointer = ir_.getPtrTy();
  Value* table = function_->getArg(0);
  const auto store = [&](Value* address, int64_t entry) {
    ir_.CreateStore(address, ir_.CreateConstInBoundsGEP1_64(pointer, kernel_table_, entry));
  };
  store(LoadContext(ir_, table), BufferTable::kContext);
  std::vector<BufferSlice> bound;
  // Equal slices have one entry: a kernel sees which of its results lie in an operand's memory.
  const auto bind = [&](BufferSlice& slice) {
    const auto known = std::find(bound.begin(), bound.end(), slice);
    const int entry = BufferTable::kFirstParameter + static_cast<int>(known - bound.begin());
    if (known == bound.end()) {
      store(SliceAddress(ir_, table, slice), entry);
      bound.push_back(slice);
    }
    slice = {entry, 0};
  };
  for (std::vector<BufferSlice>& operand : buffers.operands) {
    for (BufferSlice& slice : operand) bind(slice);
  }
  for (BufferSlice& slice : buffers.results) bind(slice);
  return kernel_table_;
}

absl::Status ProgramEmitter::EmitKernelCall(const FramePlan& frame, const StepPlan& step) {
  KernelBuffers buffers = step.buffers;
  Value* table = kernel_table_ == nullptr ? function_->getArg(0) : BindTable(buffers);
  ASSAY_ASSIGN_OR_RETURN(llvm::Function * kernel, EmitKernel(context_, step.kernel, buffers));
  if (kernel_table_ != nullptr) kernel = kernels_.Unique(kernel);
  NoteHot(kernel, frame.in_loop || !(step.is_cold || IsStraight(*kernel)));
  const SplitPlan& split = step.kernel.split;
  if (!step.kernel.is_parallel) {
    ir_.CreateCall(kernel, {table, ir_.getInt64(0), ir_.getInt64(split.extent)});
    return absl::OkStatus();
  }
  llvm::Type* pointer = ir_.getPtrTy();
  llvm::Type* i64 = ir_.getInt64Ty();
  llvm::FunctionCallee split_among_threads = module_.getOrInsertFunction(
      "assay_parallel_for",
      llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer, pointer, i64, i64}, false));
  ir_.CreateCall(split_among_threads, {LoadContext(ir_, table), kernel, table,
                                       ir_.getInt64(split.extent), ir_.getInt64(split.grain)});
  return absl::OkStatus();
}

// Ends the loop once the time of the run is over, which is looked at every so many trips.
void ProgramEmitter::EmitTimeCheck(Value* trips, llvm::BasicBlock* done) {
  constexpr uint64_t kTripsBetween = 64;  // a power of two
  llvm::BasicBlock* ask = NewBlock("while.ask");
  llvm::BasicBlock* in_time = NewBlock("while.in_time");
  Value* rest = ir_.CreateAnd(trips, ir_.getInt64(kTripsBetween - 1));
  ir_.CreateCondBr(ir_.CreateICmpEQ(rest, ir_.getInt64(kTripsBetween - 1)), ask, in_time);
  ir_.SetInsertPoint(ask);
  llvm::FunctionCallee is_out_of_time = module_.getOrInsertFunction(
      "assay_is_out_of_time", llvm::FunctionType::get(ir_.getInt8Ty(), {ir_.getPtrTy()}, false));
  Value* over = ir_.CreateCall(is_out_of_time, {LoadContext(ir_, function_->getArg(0))});
  ir_.CreateCondBr(ir_.CreateICmpNE(over, ir_.getInt8(0)), done, in_time);
  ir_.SetInsertPoint(in_time);
}

void ProgramEmitter::EmitWhile(const Frame& frame, const Instruction* instruction) {
  const Frame* condition = frame.callees.at(instruction)[0];
  const Frame* body = frame.callees.at(instruction)[1];
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  llvm::BasicBlock* test = NewBlock("while.test");
  llvm::BasicBlock* inside = NewBlock("while.body");
  llvm::BasicBlock* done = NewBlock("while.done");
  ir_.CreateBr(test);
  ir_.SetInsertPoint(test);
  llvm::PHINode* trips = ir_.CreatePHI(ir_.getInt64Ty(), 2);
  trips->addIncoming(ir_.getInt64(0), before);
  EmitTimeCheck(trips, done);
  if (context_.target.Workers(kDevices) > 1) {
    // Once another device has failed, what this one computes is of no use.
    llvm::BasicBlock* goes_on = NewBlock("while.goes_on");
    Value* stopped = ir_.CreateLoad(ir_.getPtrTy(), LoadContext(ir_, function_->getArg(0)));
    llvm::LoadInst* stop = ir_.CreateAlignedLoad(ir_.getInt8Ty(), stopped, llvm::Align(1));
    stop->setAtomic(llvm::AtomicOrdering::Monotonic);
    ir_.CreateCondBr(ir_.CreateICmpNE(stop, ir_.getInt8(0)), done, goes_on);
    ir_.SetInsertPoint(goes_on);
  }
  Call(condition);
  Value* flag = ir_.CreateLoad(ir_.getInt8Ty(), Address(condition->results[0]));
  ir_.CreateCondBr(ir_.CreateICmpNE(flag, ir_.getInt8(0)), inside, done);
  ir_.SetInsertPoint(inside);
  Call(body);
  trips->addIncoming(ir_.CreateAdd(trips, ir_.getInt64(1)), ir_.GetInsertBlock());
  ir_.CreateBr(test);
  ir_.SetInsertPoint(done);
}

void ProgramEmitter::EmitConditional(const Frame& frame, const Instruction* instruction) {
  const auto& branches = frame.callees.at(instruction);
  const Instruction* selector = instruction->operand(0);
  Value* address = Address(frame.buffers.at(selector)[0]);
  llvm::BasicBlock* done = NewBlock("branch.done");
  bool two_way = IsPred(selector->shape().element_type());
  Value* index = nullptr;
  if (two_way) {  // true selects branch 0
    Value* flag = ir_.CreateLoad(ir_.getInt8Ty(), address);
    index =
        ir_.CreateSelect(ir_.CreateICmpNE(flag, ir_.getInt8(0)), ir_.getInt32(0), ir_.getInt32(1));
  } else {
    index = ir_.CreateLoad(ir_.getInt32Ty(), address);
  }
  // Whatever is out of range selects the last branch.
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t k = 0; k < branches.size(); ++k) blocks.push_back(NewBlock("branch"));
  llvm::SwitchInst* choice = ir_.CreateSwitch(index, blocks.back(), blocks.size());
  for (size_t k = 0; k + 1 < blocks.size(); ++k) choice->addCase(ir_.getInt32(k), blocks[k]);
  for (size_t k = 0; k < blocks.size(); ++k) {
    ir_.SetInsertPoint(blocks[k]);
    Call(branches[k]);
    ir_.CreateBr(done);
  }
  ir_.SetInsertPoint(done);
}

}  // namespace

absl::Status EmitProgram(const CodeContext& context, const ProgramPlan& plan,
                         const BufferAssignment& buffers) {
  return ProgramEmitter(context, buffers).Run(plan);
}

}  // namespace assay
