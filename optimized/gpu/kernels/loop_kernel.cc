// First all buffers are collected, which are the kernel's arguments; then frame by frame is
// written down.
#include "optimized/gpu/kernels/loop_kernel.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/gpu/kernels/kernel_lines.h"
#include "optimized/gpu/kernels/nest_storer.h"
#include "optimized/gpu/templates/block_builder.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

using llvm::Value;
using Frame = BufferAssignment::Frame;

constexpr unsigned kGlobalSpace = 1;
constexpr int64_t kAligned = 16;

// The arguments of the kernel: every slice of memory that it touches.
class SliceArguments {
 public:
  void Add(BufferSlice slice, int64_t bytes) {
    for (BufferArgument& known : arguments_) {
      if (known.slice != slice) continue;
      known.bytes = std::max(known.bytes, bytes);
      return;
    }
    arguments_.push_back({slice, bytes});
  }
  size_t NumberOf(BufferSlice slice) const {
    size_t k = 0;
    while (arguments_[k].slice != slice) ++k;
    return k;
  }
  const std::vector<BufferArgument>& all() const { return arguments_; }

 private:
  std::vector<BufferArgument> arguments_;
};

class LoopKernel {
 public:
  LoopKernel(const KernelContext& context, const ProgramPlan& plan, const BufferAssignment& buffers,
             const StepPlan& loop, const TemplateChoice& choice)
      : context_(context),
        plan_(plan),
        buffers_(buffers),
        loop_(*loop.instruction),
        choice_(choice),
        bends_(choice.bends == nullptr ? kNoBends : *choice.bends),
        ir_(context.module.getContext()),
        values_(ir_, bends_),
        elements_(values_),
        block_(elements_),
        lines_(ir_) {}

  absl::StatusOr<EmittedKernel> Emit(const FramePlan& caller);

 private:
  const FramePlan& PlanOf(const Frame* frame) const {
    size_t k = 0;
    while (plan_.frames[k].frame != frame) ++k;
    return plan_.frames[k];
  }
  bool Forgets(const char* claim) const { return bends_.Holds(claim, &loop_, false); }

  void CollectLoop(const FramePlan& caller, const Instruction* loop);
  void CollectFrame(const FramePlan& frame);
  void CollectCopies(const std::vector<BufferAssignment::Copy>& copies);
  static void ForBuffers(const StepPlan& step,
                         const std::function<void(const Shape&, BufferSlice)>& visit);

  absl::Status EmitLoop(const FramePlan& caller, const Instruction* loop);
  absl::Status EmitFrame(const FramePlan& frame);
  absl::Status EmitStep(const StepPlan& step);
  absl::Status EmitCopies(const std::vector<BufferAssignment::Copy>& copies);
  // `body` for each of [0, count), which the threads share; then all meet.
  absl::Status Share(int64_t count, const char* barrier,
                     const std::function<absl::Status(Value*)>& body);
  Value* Pointer(BufferSlice slice) {
    return function_->getArg(static_cast<unsigned>(arguments_.NumberOf(slice)));
  }

  const KernelContext& context_;
  const ProgramPlan& plan_;
  const BufferAssignment& buffers_;
  const Instruction& loop_;
  const TemplateChoice& choice_;
  const KernelBends bends_;
  llvm::IRBuilder<> ir_;
  ValueBuilder values_;
  ElementEmitter elements_;  // of index arithmetic
  BlockBuilder block_;
  KernelLines lines_;
  SliceArguments arguments_;
  llvm::Function* function_ = nullptr;
  Value* thread_ = nullptr;
};

void LoopKernel::ForBuffers(const StepPlan& step,
                            const std::function<void(const Shape&, BufferSlice)>& visit) {
  for (int64_t k = 0; k < step.instruction->operand_count(); ++k) {
    size_t at = 0;
    ForEachLeaf(step.instruction->operand(k)->shape(),
                [&](const Shape& leaf, absl::Span<const int64_t>) {
                  visit(leaf, step.buffers.operands[static_cast<size_t>(k)][at++]);
                });
  }
  size_t at = 0;
  ForEachLeaf(step.instruction->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    visit(leaf, step.buffers.results[at++]);
  });
}

void LoopKernel::CollectCopies(const std::vector<BufferAssignment::Copy>& copies) {
  for (const BufferAssignment::Copy& copy : copies) {
    if (copy.bytes == 0) continue;
    arguments_.Add(buffers_.SliceOf(copy.from), copy.bytes);
    arguments_.Add(buffers_.SliceOf(copy.to), copy.bytes);
  }
}

void LoopKernel::CollectFrame(const FramePlan& frame) {
  for (const StepPlan& step : frame.steps) {
    const auto before = frame.frame->copies_before.find(step.instruction);
    if (before != frame.frame->copies_before.end()) CollectCopies(before->second);
    if (step.kind == StepPlan::Kind::kLoop) {
      CollectLoop(frame, step.instruction);
      continue;
    }
    ForBuffers(step, [&](const Shape& leaf, BufferSlice slice) {
      if (leaf.IsArray()) arguments_.Add(slice, leaf.ByteSize());
    });
  }
  CollectCopies(frame.frame->final_copies);
}

void LoopKernel::CollectLoop(const FramePlan& caller, const Instruction* loop) {
  const std::vector<const Frame*>& callees = caller.frame->callees.at(loop);
  for (const Frame* callee : callees) CollectFrame(PlanOf(callee));
  arguments_.Add(buffers_.SliceOf(callees[0]->results[0]), 1);
}

absl::Status LoopKernel::Share(int64_t count, const char* barrier,
                               const std::function<absl::Status(Value*)>& body) {
  const int64_t stride = bends_.Number("loop-kernel/stride", &loop_, choice_.block_size);
  const auto one = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ASSAY_RETURN_IF_ERROR(body(i));
    return ElementValues{};
  };
  ASSAY_RETURN_IF_ERROR(elements_.Loop(thread_, elements_.Index(count), stride, {}, one).status());
  if (!Forgets(barrier)) block_.Barrier();
  return absl::OkStatus();
}

absl::Status LoopKernel::EmitCopies(const std::vector<BufferAssignment::Copy>& copies) {
  for (const BufferAssignment::Copy& copy : copies) {
    if (copy.bytes == 0) continue;
    Value *from = Pointer(buffers_.SliceOf(copy.from)), *to = Pointer(buffers_.SliceOf(copy.to));
    // Values begin at multiples of 16.
    const int64_t unit = copy.bytes % 4 == 0 ? 4 : 1;
    llvm::Type* type = unit == 4 ? ir_.getInt32Ty() : ir_.getInt8Ty();
    const int64_t count = bends_.Number("loop-kernel/copied", &loop_, copy.bytes / unit);
    ASSAY_RETURN_IF_ERROR(Share(count, "loop-kernel/no-copy-barrier", [&](Value* i) {
      ir_.CreateStore(ir_.CreateLoad(type, ir_.CreateInBoundsGEP(type, from, i)),
                      ir_.CreateInBoundsGEP(type, to, i));
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::Status LoopKernel::EmitStep(const StepPlan& step) {
  const KernelPlan& kernel = step.kernel;
  std::vector<std::vector<Value*>> operands;
  std::vector<Value*> results;
  const auto pointer = [&](const Shape& leaf, BufferSlice slice) {
    return leaf.IsArray() ? Pointer(slice) : nullptr;
  };
  for (int64_t k = 0; k < step.instruction->operand_count(); ++k) {
    std::vector<Value*>& leaves = operands.emplace_back();
    ForEachLeaf(step.instruction->operand(k)->shape(),
                [&](const Shape& leaf, absl::Span<const int64_t>) {
                  const auto& slices = step.buffers.operands[static_cast<size_t>(k)];
                  leaves.push_back(pointer(leaf, slices[leaves.size()]));
                });
  }
  ForEachLeaf(step.instruction->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    results.push_back(pointer(leaf, step.buffers.results[results.size()]));
  });
  KernelBends bends = kernel.granted_bends == nullptr ? kNoBends : *kernel.granted_bends;
  if (kernel.form_bends != nullptr) bends = *kernel.form_bends;
  for (const NestPlan& nest : kernel.nests) {
    if (nest.bends != nullptr) bends = *nest.bends;
    const int64_t count = WrittenShape(*nest.outputs[0].instruction).ElementCount();
    if (count == 0) continue;
    NestStorer storer(ir_, kernel, bends);
    storer.elements().set_watcher([this](const Instruction* at) { lines_.Set(at); });
    storer.elements().Watch(step.instruction);
    storer.Bind(operands, results);
    ASSAY_RETURN_IF_ERROR(Share(count, "loop-kernel/no-barrier", [&](Value* i) {
      return storer.elements().Scoped([&] { return storer.StoreElement(nest, i); });
    }));
  }
  return absl::OkStatus();
}

absl::Status LoopKernel::EmitFrame(const FramePlan& frame) {
  for (const StepPlan& step : frame.steps) {
    const auto before = frame.frame->copies_before.find(step.instruction);
    if (before != frame.frame->copies_before.end()) {
      ASSAY_RETURN_IF_ERROR(EmitCopies(before->second));
    }
    if (step.kind == StepPlan::Kind::kLoop) {
      ASSAY_RETURN_IF_ERROR(EmitLoop(frame, step.instruction));
    } else {
      ASSAY_RETURN_IF_ERROR(EmitStep(step));
    }
  }
  return EmitCopies(frame.frame->final_copies);
}

absl::Status LoopKernel::EmitLoop(const FramePlan& caller, const Instruction* loop) {
  const std::vector<const Frame*>& callees = caller.frame->callees.at(loop);
  const auto new_block = [&](const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  };
  llvm::BasicBlock *head = new_block("condition"), *trip = new_block("trip"),
                   *done = new_block("ended");
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  ASSAY_RETURN_IF_ERROR(EmitFrame(PlanOf(callees[0])));
  Value* goes_on =
      values_.Load(ElementType::kPred, Pointer(buffers_.SliceOf(callees[0]->results[0])), 1);
  // All have read the condition before anyone goes on to change what it is made of.
  block_.Barrier();
  ir_.CreateCondBr(goes_on, trip, done);
  ir_.SetInsertPoint(trip);
  ASSAY_RETURN_IF_ERROR(EmitFrame(PlanOf(callees[1])));
  ir_.CreateBr(head);
  ir_.SetInsertPoint(done);
  return absl::OkStatus();
}

absl::StatusOr<EmittedKernel> LoopKernel::Emit(const FramePlan& caller) {
  CollectLoop(caller, &loop_);
  const std::vector<BufferArgument>& arguments = arguments_.all();
  if (arguments.size() * 8 > context_.architecture.parameter_bytes) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("gpu: more buffers than a launch has parameters: ", loop_.ToString()));
  }
  const std::vector<llvm::Type*> types(arguments.size(),
                                       llvm::PointerType::get(ir_.getContext(), kGlobalSpace));
  function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), types, false),
                                     llvm::Function::ExternalLinkage, StrCat("loop.", loop_.name()),
                                     context_.module);
  function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function_->setDoesNotThrow();
  for (unsigned k = 0; k < arguments.size(); ++k) {
    if (arguments[k].slice.offset % kAligned != 0) continue;
    function_->addParamAttr(
        k, llvm::Attribute::getWithAlignment(ir_.getContext(), llvm::Align(kAligned)));
  }
  ir_.SetInsertPoint(llvm::BasicBlock::Create(ir_.getContext(), "entry", function_));
  lines_.Begin(*function_);
  lines_.Set(&loop_);
  Value* thread =
      ir_.CreateIntrinsic(ir_.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  thread_ = ir_.CreateZExt(thread, ir_.getInt64Ty());
  ASSAY_RETURN_IF_ERROR(EmitLoop(caller, &loop_));
  ir_.CreateRetVoid();
  EmittedKernel kernel;
  kernel.function = function_;
  kernel.shape.block[0] = static_cast<uint32_t>(choice_.block_size);
  kernel.arguments = arguments;
  kernel.computes = lines_.Take();
  return kernel;
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitLoopKernel(const KernelContext& context, const ProgramPlan& plan,
                                             const BufferAssignment& buffers,
                                             const FramePlan& caller, const StepPlan& loop,
                                             const TemplateChoice& choice) {
  return LoopKernel(context, plan, buffers, loop, choice).Emit(caller);
}

}  // namespace assay::gpu
