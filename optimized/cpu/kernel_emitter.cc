// Visits the plan of a kernel: its function, its buffers, then its form or its nests.
#include "optimized/cpu/kernel_emitter.h"

#include "llvm/IR/InlineAsm.h"
#include "optimized/analysis/walks/contraction_views.h"
#include "optimized/codegen/buffer_address.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/reduction.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/dot_kernel.h"
#include "optimized/cpu/nest_emitter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

class KernelEmitter {
 public:
  KernelEmitter(const CodeContext& context, const KernelPlan& plan, const KernelBuffers& buffers)
      : context_(context),
        plan_(plan),
        root_(*plan.instruction),
        buffers_(buffers),
        ir_(context.module.getContext()),
        values_(ir_, bends_),
        elements_(values_) {}

  absl::StatusOr<llvm::Function*> Emit();
  // The function that makes results of the sums of a contraction: an EpilogueFn of the runtime.
  absl::StatusOr<llvm::Function*> EmitEpilogue();
  // The sums whose multiples it is given: a vector where lines consist of vectors.
  int64_t UnitOfEpilogue() const;

 private:
  void CreateFunction(std::string_view prefix, llvm::ArrayRef<llvm::Type*> parameters);
  void BindBuffers();
  void EmitIdle();
  absl::Status EmitForm();
  absl::Status EmitNative();
  absl::Status EmitContraction();
  absl::StatusOr<std::vector<KernelOutput>> OutputsOf(const NestPlan& nest);
  absl::Status EmitNest(const NestPlan& nest);
  absl::StatusOr<KernelOutput> OutputOf(const NestOutput& output);
  // The part of the outermost loop; all of it where threads do not share the kernel.
  LoopPart PartOrAll();

  const CodeContext& context_;
  const KernelPlan& plan_;
  const Instruction& root_;
  const KernelBuffers& buffers_;
  llvm::IRBuilder<> ir_;
  KernelBends bends_;  // in force for what is emitted
  ValueBuilder values_;
  ElementEmitter elements_;
  llvm::Function* function_ = nullptr;
  KernelResults results_;
  std::vector<std::vector<Value*>> sources_;  // of each operand, by leaf
  const Frame* frame_ = nullptr;              // of what the nests compute
};

void KernelEmitter::CreateFunction(std::string_view prefix,
                                   llvm::ArrayRef<llvm::Type*> parameters) {
  function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), parameters, false),
                                     llvm::Function::InternalLinkage, StrCat(prefix, root_.name()),
                                     context_.module);
  function_->setDoesNotThrow();
  // The plain nest, as the instruction selector writes it down.
  if (!plan_.is_optimized) {
    function_->addFnAttr(llvm::Attribute::OptimizeNone);
    function_->addFnAttr(llvm::Attribute::NoInline);
  }
  // Every form of kernel asks what its code takes for granted.
  if (plan_.granted_bends != nullptr) bends_.planted = plan_.granted_bends->planted;
  ir_.SetInsertPoint(llvm::BasicBlock::Create(context_.module.getContext(), "entry", function_));
  elements_.set_target(&context_.target);
  elements_.set_use_fma(context_.target.has_fma);
  elements_.set_step_counter(context_.steps);
  values_.set_use_fma(context_.target.has_fma);
  values_.set_is_rare(plan_.is_rare);
}

void KernelEmitter::BindBuffers() {
  const auto address = [&](const Shape& leaf, BufferSlice slice) {
    return leaf.IsArray() ? SliceAddress(ir_, function_->getArg(0), slice) : nullptr;
  };
  size_t result = 0;
  ForEachLeaf(root_.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    results_.shapes.push_back(leaf);
    results_.pointers.push_back(address(leaf, buffers_.results[result++]));
  });
  for (int64_t k = 0; k < root_.operand_count(); ++k) {
    std::vector<Value*> pointers;
    ForEachLeaf(root_.operand(k)->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      pointers.push_back(address(leaf, buffers_.operands[k][pointers.size()]));
    });
    sources_.push_back(pointers);
    elements_.AddSource(nullptr, root_.operand(k), std::move(pointers));
  }
  if (root_.opcode() == Opcode::kFusion) frame_ = elements_.CalleeFrame(nullptr, &root_);
}

// A loop that does nothing, but says otherwise, so that no optimizer leaves it out.
void KernelEmitter::EmitIdle() {
  if (context_.idle == 0) return;
  llvm::LLVMContext& code = ir_.getContext();
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  llvm::BasicBlock* turn = llvm::BasicBlock::Create(code, "idle", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(code, "work", function_);
  ir_.CreateBr(turn);
  ir_.SetInsertPoint(turn);
  llvm::PHINode* count = ir_.CreatePHI(ir_.getInt64Ty(), 2);
  llvm::FunctionType* type =
      llvm::FunctionType::get(ir_.getInt64Ty(), {ir_.getInt64Ty()}, /*isVarArg=*/false);
  Value* same =
      ir_.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/true), {count});
  Value* next = ir_.CreateSub(same, ir_.getInt64(1));
  count->addIncoming(ir_.getInt64(static_cast<uint64_t>(context_.idle)), before);
  count->addIncoming(next, turn);
  ir_.CreateCondBr(ir_.CreateICmpNE(next, ir_.getInt64(0)), turn, after);
  ir_.SetInsertPoint(after);
}

LoopPart KernelEmitter::PartOrAll() {
  if (plan_.is_parallel) return {function_->getArg(1), function_->getArg(2)};
  return {elements_.Index(0), elements_.Index(plan_.split.extent)};
}

absl::StatusOr<KernelOutput> KernelEmitter::OutputOf(const NestOutput& output) {
  KernelOutput emitted{frame_, output.instruction, output.leaves, {}};
  const Instruction& top = plan_.top();
  for (size_t d = 0; d < output.starts.size(); ++d) {
    Value* start = nullptr;
    if (output.starts[d] == NestOutput::kClampedOperand) {
      const int64_t room = top.shape().dimension(d) - output.instruction->shape().dimension(d);
      ASSAY_ASSIGN_OR_RETURN(
          start, elements_.ClampedStart(frame_, top.operand(2 + static_cast<int64_t>(d)), room));
    } else {
      start = elements_.Index(output.starts[d]);
    }
    emitted.starts.push_back(start);
  }
  return emitted;
}

absl::StatusOr<std::vector<KernelOutput>> KernelEmitter::OutputsOf(const NestPlan& nest) {
  std::vector<KernelOutput> outputs;
  for (const NestOutput& output : nest.outputs) {
    ASSAY_ASSIGN_OR_RETURN(KernelOutput emitted, OutputOf(output));
    outputs.push_back(std::move(emitted));
  }
  return outputs;
}

absl::Status KernelEmitter::EmitNest(const NestPlan& nest) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<KernelOutput> outputs, OutputsOf(nest));
  if (WrittenShape(*nest.outputs[0].instruction).ElementCount() == 0) return absl::OkStatus();
  if (nest.bends != nullptr) bends_ = *nest.bends;
  const LoopPart part = plan_.is_parallel ? PartOrAll() : LoopPart();
  return NestEmitter(elements_, results_, part).Emit(outputs, nest.walk);
}

absl::Status KernelEmitter::EmitNative() {
  ArrayKernelContext context{context_.module, plan_,     elements_, root_,
                             buffers_,        function_, sources_,  results_.pointers};
  return FindArrayKernel(root_.opcode())(context);
}

// Sums lie where a result of their size will, whose elements are made of those at the same places.
absl::Status KernelEmitter::EmitContraction() {
  const auto [begin, end] = PartOrAll();
  const auto [lhs, rhs] = OperandsOfContraction(root_);
  DotEpilogue epilogue;
  size_t place = 0;
  if (!plan_.nests.empty()) {
    ASSAY_ASSIGN_OR_RETURN(epilogue.function,
                           KernelEmitter(context_, plan_, buffers_).EmitEpilogue());
    epilogue.unit = UnitOfEpilogue();
    const ElementType sums = SumsBeforeEpilogue(root_)->shape().element_type();
    const auto has_room = [&](const Shape& result) {
      return StorageBytes(result.element_type()) == StorageBytes(sums);
    };
    while (place < results_.shapes.size() && !has_room(results_.shapes[place])) ++place;
    epilogue.sums_apart = place == results_.shapes.size();
    if (epilogue.sums_apart) place = 0;
  }
  return EmitDotKernel(elements_, root_,
                       {sources_[lhs][0], sources_[rhs][0], results_.pointers[place]}, {begin, end},
                       epilogue);
}

absl::Status KernelEmitter::EmitForm() {
  if (plan_.form == KernelPlan::Form::kNative) return EmitNative();
  if (plan_.form_bends != nullptr) bends_ = *plan_.form_bends;
  if (plan_.form == KernelPlan::Form::kContraction) return EmitContraction();
  if (plan_.form == KernelPlan::Form::kCumulative) {
    const auto [begin, end] = PartOrAll();
    return EmitCumulative(elements_, root_, *RecogniseCumulative(root_), results_.pointers, begin,
                          end);
  }
  for (const NestPlan& nest : plan_.nests) ASSAY_RETURN_IF_ERROR(EmitNest(nest));
  return absl::OkStatus();
}

int64_t KernelEmitter::UnitOfEpilogue() const {
  const int64_t width = plan_.nests[0].walk.width;
  const std::optional<ContractionView> view = ViewContraction(root_);
  return view.has_value() && LineOfSums(*view) % width == 0 ? width : 1;
}

absl::StatusOr<llvm::Function*> KernelEmitter::EmitEpilogue() {
  llvm::Type *pointer = ir_.getPtrTy(), *i64 = ir_.getInt64Ty();
  CreateFunction("epilogue.", {pointer, i64, i64, pointer});
  BindBuffers();
  const NestPlan& nest = plan_.nests[0];
  if (nest.bends != nullptr) bends_ = *nest.bends;
  const KernelBends& form = plan_.form_bends == nullptr ? bends_ : *plan_.form_bends;
  const int64_t late = form.Number("blocked-dot/epilogue-begin", &root_, 0);
  const int64_t further = form.Number("blocked-dot/epilogue-end", &root_, 0);
  const Instruction* sums = SumsBeforeEpilogue(root_);
  Value* begin = function_->getArg(1);
  // The sums are found by the number of their elements, too.
  Value* first = ir_.CreateNeg(begin);
  if (const int64_t by = form.Number("blocked-dot/epilogue-sums", &root_, 0); by != 0) {
    Value* is_inside = ir_.CreateICmpSGT(begin, elements_.Index(0));
    first =
        ir_.CreateAdd(first, ir_.CreateSelect(is_inside, elements_.Index(by), elements_.Index(0)));
  }
  const ElementType type = sums->shape().element_type();
  elements_.AddSource(frame_, sums, {elements_.Address(type, function_->getArg(3), first)});
  ASSAY_ASSIGN_OR_RETURN(const std::vector<KernelOutput> outputs, OutputsOf(nest));
  const LoopPart part = {elements_.IndexAdd(begin, elements_.Index(late)),
                         elements_.IndexAdd(function_->getArg(2), elements_.Index(further))};
  const bool is_bent = late != 0 || further != 0;
  ASSAY_RETURN_IF_ERROR(
      NestEmitter(elements_, results_, part)
          .EmitElementsOfPart(outputs, nest.walk, is_bent ? 1 : UnitOfEpilogue()));
  ir_.CreateRetVoid();
  return function_;
}

absl::StatusOr<llvm::Function*> KernelEmitter::Emit() {
  llvm::Type *pointer = ir_.getPtrTy(), *i64 = ir_.getInt64Ty();
  CreateFunction("kernel.", {pointer, i64, i64});
  EmitIdle();
  BindBuffers();
  ASSAY_RETURN_IF_ERROR(EmitForm());
  ir_.CreateRetVoid();
  return function_;
}

}  // namespace

absl::StatusOr<llvm::Function*> EmitKernel(const CodeContext& context, const KernelPlan& plan,
                                           const KernelBuffers& buffers) {
  return KernelEmitter(context, plan, buffers).Emit();
}

}  // namespace assay
