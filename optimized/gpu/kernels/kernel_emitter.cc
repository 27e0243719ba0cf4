// Gives each thread its element, guards the tail, and leaves the element itself to the emitter that
// all targets share.
#include "optimized/gpu/kernels/kernel_emitter.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/reduction.h"
#include "optimized/defects/defect.h"
#include "optimized/gpu/defects/kernel_mutations.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "optimized/gpu/kernels/called_kernels.h"
#include "optimized/gpu/kernels/kernel_lines.h"
#include "optimized/gpu/kernels/nest_storer.h"
#include "optimized/gpu/templates/templates.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

using llvm::Value;

constexpr unsigned kGlobalSpace = 1;
constexpr int64_t kThreadsPerBlock = 256;

// One kernel: a function whose threads [0, count) have work.
class ThreadKernel {
 public:
  ThreadKernel(const KernelContext& context, const KernelPlan& plan, const KernelBuffers& buffers,
               const KernelBends& bends)
      : context_(context),
        plan_(plan),
        root_(*plan.instruction),
        buffers_(buffers),
        ir_(context.module.getContext()),
        bends_(bends),
        nests_(ir_, plan, bends_),
        elements_(nests_.elements()),
        lines_(ir_) {
    elements_.set_watcher([this](const Instruction* instruction) { lines_.Set(instruction); });
  }

  absl::StatusOr<EmittedKernel> EmitNest(const NestPlan& nest);
  absl::StatusOr<EmittedKernel> EmitTemplate(const NestPlan& nest, const TemplateChoice& choice);
  absl::StatusOr<EmittedKernel> EmitRowFusion(const TemplateChoice& choice);
  absl::StatusOr<EmittedKernel> EmitCumulativeLines();
  absl::StatusOr<EmittedKernel> EmitStage(const DeviceStage& stage, std::vector<int64_t> scratch);
  absl::StatusOr<EmittedKernel> EmitCall(const CalledStage& stage, std::vector<int64_t> scratch);

 private:
  using Work = std::function<absl::Status(Value* thread)>;

  absl::StatusOr<EmittedKernel> Emit(int64_t threads, const Work& work);
  absl::Status SetShape(int64_t threads);
  absl::Status SetBlocks(int64_t blocks, int64_t threads);
  absl::Status Begin();
  void CreateFunction();
  void BindBuffers();
  // Makes the mistake that is planted in the kernel's code.
  absl::Status Mutate();
  absl::StatusOr<EmittedKernel> Done();
  Value* Number(llvm::Intrinsic::ID id);
  TemplateContext ContextOf(const NestPlan& nest, const TemplateChoice& choice);
  Value* Thread();

  const KernelContext& context_;
  const KernelPlan& plan_;
  const Instruction& root_;
  const KernelBuffers& buffers_;
  llvm::IRBuilder<> ir_;
  const KernelBends bends_;
  NestStorer nests_;
  ElementEmitter& elements_;
  KernelLines lines_;
  EmittedKernel kernel_;
  std::vector<Value*> scratch_;
};

absl::Status ThreadKernel::SetShape(int64_t threads) {
  const int64_t warp = context_.architecture.warp_size;
  const int64_t block = std::min(kThreadsPerBlock, (threads + warp - 1) / warp * warp);
  return SetBlocks((threads + block - 1) / block, block);
}

absl::Status ThreadKernel::SetBlocks(int64_t grid, int64_t block) {
  if (grid > context_.architecture.max_grid_x) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("gpu: more elements than a launch has threads: ", root_.ToString()));
  }
  kernel_.shape.grid[0] = static_cast<uint32_t>(grid);
  kernel_.shape.block[0] = static_cast<uint32_t>(block);
  return absl::OkStatus();
}

void ThreadKernel::CreateFunction() {
  const auto add = [&](const Shape& leaf, BufferSlice slice) {
    if (leaf.IsArray()) kernel_.arguments.push_back({slice, leaf.ByteSize()});
  };
  for (int64_t k = 0; k < root_.operand_count(); ++k) {
    size_t at = 0;
    ForEachLeaf(root_.operand(k)->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      add(leaf, buffers_.operands[k][at++]);
    });
  }
  size_t at = 0;
  ForEachLeaf(root_.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    add(leaf, buffers_.results[at++]);
  });
  const std::vector<llvm::Type*> types(kernel_.arguments.size() + kernel_.scratch.size(),
                                       llvm::PointerType::get(ir_.getContext(), kGlobalSpace));
  kernel_.function = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), types, false),
                                            llvm::Function::ExternalLinkage,
                                            StrCat("kernel.", root_.name()), context_.module);
  kernel_.function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel_.function->setDoesNotThrow();
  constexpr uint64_t kAligned = 16;
  for (size_t k = 0; k < kernel_.arguments.size(); ++k) {
    if (kernel_.arguments[k].slice.offset % static_cast<int64_t>(kAligned) != 0) continue;
    kernel_.function->addParamAttr(
        static_cast<unsigned>(k),
        llvm::Attribute::getWithAlignment(ir_.getContext(), llvm::Align(kAligned)));
  }
  ir_.SetInsertPoint(llvm::BasicBlock::Create(ir_.getContext(), "entry", kernel_.function));
  lines_.Begin(*kernel_.function);
  elements_.Watch(&root_);
}

void ThreadKernel::BindBuffers() {
  unsigned next = 0;
  const auto argument = [&](const Shape& leaf) -> Value* {
    return leaf.IsArray() ? kernel_.function->getArg(next++) : nullptr;
  };
  std::vector<std::vector<Value*>> operands;
  std::vector<Value*> results;
  for (const Instruction* operand : root_.operands()) {
    std::vector<Value*>& pointers = operands.emplace_back();
    ForEachLeaf(operand->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      pointers.push_back(argument(leaf));
    });
  }
  ForEachLeaf(root_.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    results.push_back(argument(leaf));
  });
  for (size_t k = 0; k < kernel_.scratch.size(); ++k)
    scratch_.push_back(kernel_.function->getArg(next++));
  nests_.Bind(std::move(operands), std::move(results));
}

Value* ThreadKernel::Number(llvm::Intrinsic::ID id) {
  return ir_.CreateZExt(ir_.CreateIntrinsic(ir_.getInt32Ty(), id, {}), ir_.getInt64Ty());
}

Value* ThreadKernel::Thread() {
  Value* block = Number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  Value* thread = Number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  return ir_.CreateAdd(ir_.CreateMul(block, elements_.Index(kernel_.shape.block[0])), thread);
}

absl::StatusOr<EmittedKernel> ThreadKernel::Emit(int64_t threads, const Work& work) {
  ASSAY_RETURN_IF_ERROR(SetShape(threads));
  ASSAY_RETURN_IF_ERROR(Begin());
  Value* thread = Thread();
  auto* inside = llvm::BasicBlock::Create(ir_.getContext(), "inside", kernel_.function);
  auto* done = llvm::BasicBlock::Create(ir_.getContext(), "done", kernel_.function);
  ir_.CreateCondBr(ir_.CreateICmpULT(thread, elements_.Index(threads)), inside, done);
  ir_.SetInsertPoint(inside);
  ASSAY_RETURN_IF_ERROR(work(thread));
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
  return Done();
}

absl::Status ThreadKernel::Mutate() {
  const Defect* planted = bends_.planted;
  if (planted == nullptr || planted->op != "mutate-kernel" || !planted->GuardHolds(&root_)) {
    return absl::OkStatus();
  }
  const std::string name = planted->Text("mutation");
  const KernelMutation* mutation = FindKernelMutation(name);
  if (mutation == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("defect ", planted->name, ": no mistake in kernels is called '", name, "'"));
  }
  const auto place = static_cast<size_t>(planted->Integer("place", 0));
  assay::gpu::Mutate(*mutation, place, *kernel_.function);
  return absl::OkStatus();
}

absl::StatusOr<EmittedKernel> ThreadKernel::Done() {
  ir_.CreateRetVoid();
  ASSAY_RETURN_IF_ERROR(Mutate());
  kernel_.computes = lines_.Take();
  return std::move(kernel_);
}

absl::Status ThreadKernel::Begin() {
  CreateFunction();
  if ((kernel_.arguments.size() + kernel_.scratch.size()) * 8 >
      context_.architecture.parameter_bytes) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("gpu: more buffers than a launch has parameters: ", root_.ToString()));
  }
  BindBuffers();
  return absl::OkStatus();
}

absl::StatusOr<EmittedKernel> ThreadKernel::EmitNest(const NestPlan& nest) {
  const int64_t count = WrittenShape(*nest.outputs[0].instruction).ElementCount();
  return Emit(std::max<int64_t>(1, count + bends_.loop_bound_offset.value_or(0)),
              [&](Value* thread) { return nests_.StoreElement(nest, thread); });
}

absl::StatusOr<EmittedKernel> ThreadKernel::EmitTemplate(const NestPlan& nest,
                                                         const TemplateChoice& choice) {
  const TemplateCode& code = CodeOf(choice.kind);
  ASSAY_RETURN_IF_ERROR(SetBlocks(code.blocks(nest, choice), choice.block_size));
  ASSAY_RETURN_IF_ERROR(Begin());
  TemplateContext context = ContextOf(nest, choice);
  if (!choice.subjects.empty()) elements_.Watch(choice.subjects[0]);
  ASSAY_RETURN_IF_ERROR(code.emit(context));
  AlignAccesses(*kernel_.function);
  return Done();
}

TemplateContext ThreadKernel::ContextOf(const NestPlan& nest, const TemplateChoice& choice) {
  return {plan_,
          nest,
          choice,
          elements_,
          nests_.frame(),
          Number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
          Number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x),
          [this, &nest](const ElementIndex& index) { return nests_.StoreAt(nest, index); },
          nullptr};
}

// The results of all nests, by what they have of a row.
absl::StatusOr<EmittedKernel> ThreadKernel::EmitRowFusion(const TemplateChoice& choice) {
  const int64_t rank = choice.subjects[0]->operand(0)->shape().rank();
  NestPlan rows, per_row;
  for (const NestPlan& nest : plan_.nests) {
    for (const NestOutput& output : nest.outputs) {
      const bool is_row = WrittenShape(*output.instruction).rank() == rank;
      (is_row ? rows : per_row).outputs.push_back(output);
    }
  }
  const int64_t blocks = CodeOf(choice.kind).blocks(rows, choice);
  ASSAY_RETURN_IF_ERROR(SetBlocks(blocks, choice.block_size));
  ASSAY_RETURN_IF_ERROR(Begin());
  TemplateContext context = ContextOf(rows, choice);
  if (rows.outputs.empty()) context.store = nullptr;
  if (!per_row.outputs.empty()) {
    context.store_per_row = [&](const ElementIndex& index) {
      return nests_.StoreAt(per_row, index);
    };
  }
  elements_.Watch(choice.subjects[0]);
  ASSAY_RETURN_IF_ERROR(CodeOf(choice.kind).emit(context));
  AlignAccesses(*kernel_.function);
  return Done();
}

absl::StatusOr<EmittedKernel> ThreadKernel::EmitCumulativeLines() {
  return Emit(plan_.split.extent, [&](Value* line) {
    return EmitCumulative(elements_, root_, *RecogniseCumulative(root_), nests_.results(), line,
                          elements_.IndexAdd(line, elements_.Index(1)));
  });
}

absl::StatusOr<EmittedKernel> ThreadKernel::EmitStage(const DeviceStage& stage,
                                                      std::vector<int64_t> scratch) {
  kernel_.scratch = std::move(scratch);
  const auto emit = [&](Value* thread, Value* block) {
    DeviceKernelContext whole{plan_,  elements_,         buffers_,         kernel_.function,
                              thread, nests_.operands(), nests_.results(), scratch_,
                              block};
    return stage.emit(whole);
  };
  if (stage.block_size == 0) {
    return Emit(stage.threads, [&](Value* thread) { return emit(thread, nullptr); });
  }
  ASSAY_RETURN_IF_ERROR(SetBlocks(stage.threads / stage.block_size, stage.block_size));
  ASSAY_RETURN_IF_ERROR(Begin());
  Value* block = Number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  ASSAY_RETURN_IF_ERROR(emit(Number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), block));
  AlignAccesses(*kernel_.function);
  return Done();
}

// The function takes pointers into any space.
absl::StatusOr<EmittedKernel> ThreadKernel::EmitCall(const CalledStage& stage,
                                                     std::vector<int64_t> scratch) {
  kernel_.scratch = std::move(scratch);
  return Emit(stage.threads, [&](Value* thread) {
    std::vector<Value*> arguments;
    std::vector<llvm::Type*> types;
    for (const StepArray& array : stage.arrays) {
      const auto k = static_cast<size_t>(array.number);
      Value* pointer = array.kind == StepArray::kOperand  ? nests_.operands()[k][0]
                       : array.kind == StepArray::kResult ? nests_.results()[k]
                                                          : scratch_[k];
      arguments.push_back(ir_.CreateAddrSpaceCast(pointer, ir_.getPtrTy()));
    }
    for (int64_t number : stage.numbers) arguments.push_back(elements_.Index(number));
    arguments.push_back(thread);
    for (Value* argument : arguments) types.push_back(argument->getType());
    ir_.CreateCall(context_.module.getOrInsertFunction(
                       stage.function, llvm::FunctionType::get(ir_.getVoidTy(), types, false)),
                   arguments);
    return absl::OkStatus();
  });
}

// By the template that was chosen for the kernel as a whole.
absl::StatusOr<std::vector<EmittedKernel>> EmitWhole(const KernelContext& context,
                                                     const KernelPlan& plan,
                                                     const KernelBuffers& buffers,
                                                     const TemplateChoice& choice,
                                                     const KernelBends& of_plan) {
  std::vector<EmittedKernel> kernels;
  const KernelBends* bends = choice.bends;
  for (const NestPlan& nest : plan.nests) {
    if (bends == nullptr) bends = nest.bends;
  }
  if (bends == nullptr) bends = &of_plan;
  if (choice.kind == KernelTemplate::kRowFusion) {
    ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                           ThreadKernel(context, plan, buffers, *bends).EmitRowFusion(choice));
    return kernels;
  }
  if (choice.kind == KernelTemplate::kAttention) {
    ASSAY_ASSIGN_OR_RETURN(
        kernels.emplace_back(),
        ThreadKernel(context, plan, buffers, *bends).EmitTemplate(plan.nests[0], choice));
    return kernels;
  }
  const WholeKernel made = KernelOf(plan, choice);
  for (const DeviceStage& stage : made.stages) {
    if (stage.threads == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(
        kernels.emplace_back(),
        ThreadKernel(context, plan, buffers, *bends).EmitStage(stage, made.scratch));
  }
  return kernels;
}

}  // namespace

std::unique_ptr<llvm::Module> NewKernelModule(llvm::LLVMContext& context, const std::string& name) {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  module->setDataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64");
  return module;
}

absl::StatusOr<std::vector<EmittedKernel>> EmitKernels(const KernelContext& context,
                                                       const KernelPlan& plan,
                                                       const KernelBuffers& buffers) {
  std::vector<EmittedKernel> kernels;
  KernelBends bends = plan.granted_bends == nullptr ? kNoBends : *plan.granted_bends;
  if (plan.form_bends != nullptr) bends = *plan.form_bends;
  if (context.templates != nullptr) {
    const auto whole = context.templates->of_kernels.find(&plan);
    if (whole != context.templates->of_kernels.end()) {
      return EmitWhole(context, plan, buffers, whole->second, bends);
    }
  }
  if (plan.form == KernelPlan::Form::kNative) {
    if (IsCalledKernel(plan.instruction->opcode())) {
      const CalledKernel called = CalledKernelOf(*plan.instruction, bends);
      for (const CalledStage& stage : called.stages) {
        if (stage.threads == 0) continue;
        ASSAY_ASSIGN_OR_RETURN(
            kernels.emplace_back(),
            ThreadKernel(context, plan, buffers, bends).EmitCall(stage, called.scratch));
      }
      return kernels;
    }
    const DeviceKernel* found = FindDeviceKernel(plan.instruction->opcode());
    if (found == nullptr) return kernels;  // a step of the host
    const std::vector<int64_t> scratch =
        found->scratch == nullptr ? std::vector<int64_t>() : found->scratch(*plan.instruction);
    for (const DeviceStage& stage : found->stages(*plan.instruction, buffers)) {
      if (stage.threads == 0) continue;
      ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                             ThreadKernel(context, plan, buffers, bends).EmitStage(stage, scratch));
    }
    return kernels;
  }
  if (plan.form == KernelPlan::Form::kCumulative) {
    if (plan.split.extent == 0) return kernels;
    ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                           ThreadKernel(context, plan, buffers, bends).EmitCumulativeLines());
    return kernels;
  }
  for (const NestPlan& nest : plan.nests) {
    if (WrittenShape(*nest.outputs[0].instruction).ElementCount() == 0) continue;
    if (nest.bends != nullptr) bends = *nest.bends;
    const TemplateChoice* choice = nullptr;
    if (context.templates != nullptr) {
      const auto found = context.templates->of_nests.find(&nest);
      if (found != context.templates->of_nests.end()) choice = &found->second;
    }
    if (choice != nullptr) {
      const KernelBends& own = choice->bends == nullptr ? bends : *choice->bends;
      ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                             ThreadKernel(context, plan, buffers, own).EmitTemplate(nest, *choice));
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                           ThreadKernel(context, plan, buffers, bends).EmitNest(nest));
  }
  return kernels;
}

}  // namespace assay::gpu
