// Builds the function of one kernel: which form it takes, what of it threads share, and the nests
// that it consists of.
#include "optimized/cpu/kernel_emitter.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/reduction.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/dot_kernel.h"
#include "optimized/cpu/nest_emitter.h"
#include "optimized/defects/bends.h"
#include "optimized/plan/walk_plan.h"
#include "optimized/plan/work_estimate.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

class KernelBuilder {
 public:
  KernelBuilder(llvm::Module& module, const KernelTarget& target, Gates& gates,
                const Instruction& instruction, const KernelBuffers& buffers)
      : module_(module),
        target_(target),
        gates_(gates),
        root_(instruction),
        buffers_(buffers),
        ir_(module.getContext()),
        values_(ir_, bends_),
        elements_(values_) {}

  absl::StatusOr<Kernel> Build();

 private:
  enum class Form : uint8_t {
    kNests,          // a nest for all outputs, or one for each
    kBlockedDot,     // a large dot, tiled
    kCumulative,     // a reduce-window of everything up to each element, by a running value
    kUpdateInPlace,  // the window of a dynamic-update-slice whose operand is the result's memory
    kConcatenate,    // each operand copied to its place: no element asks where it comes from
  };

  void CreateFunction();
  void BindBuffers();
  absl::Status FindOutputs();
  absl::Status AddOutputs(const Frame* frame, const Instruction* instruction, int& leaf);
  Form ChooseForm();
  SplitPlan PlanSplitOf(Form form);
  LoopPart PartOf(const Kernel& kernel) const;
  absl::Status Emit(Form form, const Kernel& kernel);
  // In one nest: their elements have the same dimensions.
  absl::Status EmitOutputs(absl::Span<const KernelOutput> outputs, LoopPart part);
  absl::Status EmitBlockedDot(const Kernel& kernel);
  absl::Status EmitCumulativeWindow(const Kernel& kernel);
  absl::Status EmitUpdate(LoopPart part);
  absl::Status EmitConcatenate(LoopPart part);
  WalkPlan ChooseWalk(absl::Span<const KernelOutput> outputs);
  WalkPlan InTiles(WalkPlan walk, absl::Span<const KernelOutput> outputs);
  bool WalksLinearly(absl::Span<const KernelOutput> outputs);
  bool AllowVectors();
  void ChooseNests();
  bool ReusesAnOperand() const;

  llvm::Module& module_;
  const KernelTarget& target_;
  Gates& gates_;
  const Instruction& root_;
  const KernelBuffers& buffers_;
  llvm::IRBuilder<> ir_;
  KernelBends bends_;  // in force for what is emitted
  ValueBuilder values_;
  ElementEmitter elements_;
  llvm::Function* function_ = nullptr;
  KernelResults results_;
  std::vector<std::vector<Value*>> sources_;  // of each operand, by leaf
  const Frame* frame_ = nullptr;              // of `top_`
  const Instruction* top_ = nullptr;          // the root of a fusion; otherwise the instruction
  std::vector<KernelOutput> outputs_;
  bool one_nest_ = false;  // for all outputs
  std::optional<bool> vectors_allowed_;
  const GateDefect* planted_ = nullptr;  // bends the nests
};

void KernelBuilder::CreateFunction() {
  llvm::Type* pointer = ir_.getPtrTy();
  llvm::Type* i64 = ir_.getInt64Ty();
  function_ =
      llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), {pointer, i64, i64}, false),
                             llvm::Function::InternalLinkage, "kernel." + root_.name(), module_);
  function_->setDoesNotThrow();
  // Refused: the plain nest, as the instruction selector writes it down.
  if (!gates_.Allow(DecisionKind::kKernel, "optimize-kernel", &root_)) {
    function_->addFnAttr(llvm::Attribute::OptimizeNone);
    function_->addFnAttr(llvm::Attribute::NoInline);
  }
  planted_ = gates_.Planted(DecisionKind::kKernel, "optimize-kernel", &root_);
  // What code takes for granted is asked in every form of kernel.
  if (planted_ != nullptr) bends_.planted = planted_->kernel_bends().planted;
  ir_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
  elements_.set_register_bits(target_.register_bits);
  elements_.set_use_fma(target_.use_fma);
  elements_.set_step_counter(target_.steps);
  values_.set_use_fma(target_.use_fma);
  values_.set_is_rare(target_.is_rare);
}

void KernelBuilder::BindBuffers() {
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
}

absl::Status KernelBuilder::FindOutputs() {
  top_ = &root_;
  if (root_.opcode() == Opcode::kFusion) {
    frame_ = elements_.CalleeFrame(nullptr, &root_);
    top_ = root_.callee()->root();
  }
  int leaf = 0;
  return AddOutputs(frame_, top_, leaf);
}

absl::Status KernelBuilder::AddOutputs(const Frame* frame, const Instruction* instruction,
                                       int& leaf) {
  if (instruction->opcode() == Opcode::kTuple) {
    for (const Instruction* operand : instruction->operands()) {
      ASSAY_RETURN_IF_ERROR(AddOutputs(frame, operand, leaf));
    }
    return absl::OkStatus();
  }
  KernelOutput output{frame, instruction, {}, {}};
  for (int64_t k = 0; k < LeafCount(instruction->shape()); ++k) output.leaves.push_back(leaf++);
  for (int k : output.leaves) {
    if (!SameDimensions(results_.shapes[k], results_.shapes[output.leaves[0]])) {
      return MakeError(
          ErrorClass::kUnsupported,
          StrCat("cpu: results of different sizes in one kernel: ", instruction->ToString()));
    }
  }
  if (!output.leaves.empty()) outputs_.push_back(std::move(output));
  return absl::OkStatus();
}

KernelBuilder::Form KernelBuilder::ChooseForm() {
  if (HasDotKernel(root_) && gates_.Allow(DecisionKind::kKernel, "blocked-dot", &root_)) {
    return Form::kBlockedDot;
  }
  if (RecogniseCumulative(root_).has_value() &&
      gates_.Allow(DecisionKind::kKernel, "cumulative-window", &root_)) {
    return Form::kCumulative;
  }
  if (buffers_.update_in_place) return Form::kUpdateInPlace;
  return top_->opcode() == Opcode::kConcatenate ? Form::kConcatenate : Form::kNests;
}

// Sums of columns walk down rows: several vectors at a time, so that a row's cache line is used up
// while it is at hand.
constexpr int kColumnVectors = 4;
bool ReducesColumns(const Instruction& instruction, int width) {
  if (instruction.opcode() != Opcode::kReduce || instruction.shape().IsTuple()) return false;
  const Shape &from = instruction.operand(0)->shape(), &to = instruction.shape();
  if (width < 2 || to.rank() == 0 || to.ElementCount() == 0) return false;
  const int64_t columns = to.dimension(to.rank() - 1);
  for (int64_t d : instruction.attributes().Integers(Attr::kDimensions)) {
    if (d == from.rank() - 1) return false;
  }
  return columns % (kColumnVectors * width) == 0 || columns >= 16 * kColumnVectors * width;
}

// The elements of a cache line.
int TileSide(const Shape& shape) { return std::max(8, 512 / BitWidth(shape.element_type())); }

// Plans how threads share the kernel. An extent of 0 says that they cannot.
SplitPlan KernelBuilder::PlanSplitOf(Form form) {
  if (form == Form::kCumulative) {
    constexpr int64_t kColumns = 16;  // side by side they fill the lines of a cache
    const CumulativeWindow window = *RecogniseCumulative(root_);
    const LineSizes sizes = LineSizes::Of(root_, window);
    const int64_t extent = sizes.extent();
    const int64_t unit = sizes.splits_columns() ? kColumns : 1;
    return PlanSplit(extent, extent > 64 * target_.threads ? 64 : unit,
                     root_.operand(0)->shape().ElementCount(), target_.threads);
  }
  if (form != Form::kBlockedDot && (form != Form::kNests || !one_nest_)) return SplitPlan();
  const Shape& first = results_.shapes[0];
  const int64_t work = first.IsArray() ? first.ElementCount() * WorkPerElement(root_) : 0;
  if (form == Form::kBlockedDot) {
    const int64_t dim = DotSplitDim(root_);
    const int64_t extent = dim < 0 ? 1 : root_.shape().dimension(dim);
    return PlanSplit(extent, /*unit=*/4, work, target_.threads);
  }
  const Shape& shape = results_.shapes[outputs_[0].leaves[0]];
  const int64_t outer = OutermostDim(shape);
  const bool linear = shape.IsArray() && WalksLinearly(outputs_);
  const bool innermost = outer >= 0 && shape.ElementCount() == shape.dimension(outer);
  const int64_t rows = outer < 0 ? 1 : shape.dimension(outer);
  // Parts that begin on a whole vector keep the vector loop on the same elements for every split;
  // those of a transpose along its rows are whole tiles.
  int64_t unit = linear || innermost ? kPartUnit : 1;
  if (unit == 1 && outer >= 0 && TransposedDim(root_) == outer) unit = TileSide(shape);
  // Columns are walked in wider vectors, of which no part may cut one.
  const int width = ElementsPerVector(root_, kVectorBits);
  if (innermost && ReducesColumns(*outputs_[0].instruction, width)) {
    unit = std::max<int64_t>(unit, kColumnVectors * width);
  }
  unit = gates_.Number("split-kernel/unit", &root_, unit);
  return PlanSplit(linear ? shape.ElementCount() : rows, unit, work, target_.threads);
}

LoopPart KernelBuilder::PartOf(const Kernel& kernel) const {
  if (!kernel.parallel) return LoopPart();
  return {function_->getArg(1), function_->getArg(2)};
}

bool KernelBuilder::AllowVectors() {
  // One decision per kernel, however many results it has.
  if (!vectors_allowed_.has_value()) {
    vectors_allowed_ = gates_.Allow(DecisionKind::kKernel, "vectorize", &root_);
    const GateDefect* planted = gates_.Planted(DecisionKind::kKernel, "vectorize", &root_);
    if (planted != nullptr) planted_ = planted;
  }
  return *vectors_allowed_;
}

// Several results of the same dimensions are made element by element together.
void KernelBuilder::ChooseNests() {
  one_nest_ = outputs_.size() == 1;
  if (outputs_.size() < 2) return;
  for (const KernelOutput& output : outputs_) {
    if (!SameDimensions(WrittenShape(output), WrittenShape(outputs_[0]))) return;
  }
  // A result that lies in an operand's memory leaves no other way than one nest.
  one_nest_ = ReusesAnOperand() || gates_.Allow(DecisionKind::kKernel, "store-together", &root_);
  const GateDefect* planted = gates_.Planted(DecisionKind::kKernel, "store-together", &root_);
  if (planted != nullptr) planted_ = planted;
}

bool KernelBuilder::ReusesAnOperand() const {
  for (const BufferSlice& result : buffers_.results) {
    for (const std::vector<BufferSlice>& operand : buffers_.operands) {
      if (absl::c_linear_search(operand, result)) return true;
    }
  }
  return false;
}

bool KernelBuilder::WalksLinearly(absl::Span<const KernelOutput> outputs) {
  return absl::c_all_of(outputs, [&](const KernelOutput& output) {
    return output.starts.empty() && output.instruction->shape().IsArray() &&
           elements_.CanWalkLinearly(output.frame, output.instruction);
  });
}

WalkPlan KernelBuilder::ChooseWalk(absl::Span<const KernelOutput> outputs) {
  WalkChoice choice{WrittenShape(outputs[0]), results_.shapes[outputs[0].leaves[0]]};
  choice.linear = WalksLinearly(outputs);
  choice.width = ElementsPerVector(root_, kVectorBits);
  if (ReducesColumns(*outputs[0].instruction, choice.width)) choice.width *= kColumnVectors;
  choice.can_walk_lanes = [&](int lane_dim) {
    return absl::c_all_of(outputs, [&](const KernelOutput& output) {
      return elements_.CanWalkLanes(output.frame, output.instruction, lane_dim);
    });
  };
  const WalkPlan walk = PlanWalk(choice);
  if (walk.kind == WalkPlan::kScalar && outputs[0].starts.empty()) return InTiles(walk, outputs);
  return walk.width > 1 && !AllowVectors() ? WithoutVectors(walk) : walk;
}

// A transpose goes through squares whose sides are a cache line.
WalkPlan KernelBuilder::InTiles(WalkPlan walk, absl::Span<const KernelOutput> outputs) {
  const int64_t dim = TransposedDim(root_);
  if (dim < 0 || !gates_.Allow(DecisionKind::kKernel, "tile-transpose", &root_)) return walk;
  const GateDefect* planted = gates_.Planted(DecisionKind::kKernel, "tile-transpose", &root_);
  if (planted != nullptr) planted_ = planted;
  walk.kind = WalkPlan::kTiles;
  walk.lane_dim = static_cast<int>(dim);
  walk.tile = TileSide(results_.shapes[0]);
  const Shape& shape = WrittenShape(outputs[0]);
  int64_t innermost = shape.rank() - 1;
  while (shape.dimension(innermost) == 1) --innermost;
  const int64_t rows = shape.dimension(dim), columns = shape.dimension(innermost);
  const int side = TurnedSquare(ElementsPerVector(root_, target_.register_bits), rows, columns);
  const bool can_turn = absl::c_all_of(outputs, [&](const KernelOutput& output) {
    return elements_.CanWalkLanes(output.frame, output.instruction, walk.lane_dim);
  });
  if (side > 1 && can_turn && AllowVectors()) {
    walk.width = side;
    walk.squares_fit = rows % side == 0 && columns % side == 0;
    if (planted_ != nullptr) {
      const KernelBends& bends = planted_->kernel_bends();
      walk.squares_fit = bends.Holds("vectorize/squares-fit", &root_, walk.squares_fit);
    }
    const int64_t cut = OutermostDim(shape);
    walk.parts_fit = walk.squares_fit && cut != dim && cut != innermost;
  }
  return walk;
}

absl::Status KernelBuilder::EmitOutputs(absl::Span<const KernelOutput> outputs, LoopPart part) {
  if (WrittenShape(outputs[0]).ElementCount() == 0) return absl::OkStatus();
  const WalkPlan walk = ChooseWalk(outputs);
  if (planted_ != nullptr) bends_ = planted_->kernel_bends();
  return NestEmitter(elements_, results_, part).Emit(outputs, walk);
}

absl::Status KernelBuilder::EmitBlockedDot(const Kernel& kernel) {
  const GateDefect* planted = gates_.Planted(DecisionKind::kKernel, "blocked-dot", &root_);
  if (planted != nullptr) bends_ = planted->kernel_bends();
  DotKernelRange range{elements_.Index(0), elements_.Index(kernel.extent)};
  if (kernel.parallel) range = {function_->getArg(1), function_->getArg(2)};
  return EmitDotKernel(elements_, root_, sources_[0][0], sources_[1][0], results_.pointers[0],
                       range);
}

absl::Status KernelBuilder::EmitCumulativeWindow(const Kernel& kernel) {
  const GateDefect* planted = gates_.Planted(DecisionKind::kKernel, "cumulative-window", &root_);
  if (planted != nullptr) bends_ = planted->kernel_bends();
  Value* begin = kernel.parallel ? function_->getArg(1) : elements_.Index(0);
  Value* end = kernel.parallel ? function_->getArg(2) : elements_.Index(kernel.extent);
  return EmitCumulative(elements_, root_, *RecogniseCumulative(root_), results_.pointers, begin,
                        end);
}

absl::Status KernelBuilder::EmitUpdate(LoopPart part) {
  const Shape& whole = top_->shape();
  const Instruction* update = top_->operand(1);
  KernelOutput output{frame_, update, {0}, {}};
  for (int64_t d = 0; d < whole.rank(); ++d) {
    ASSAY_ASSIGN_OR_RETURN(
        auto* start, elements_.ClampedStart(frame_, top_->operand(2 + d),
                                            whole.dimension(d) - update->shape().dimension(d)));
    output.starts.push_back(start);
  }
  return EmitOutputs({&output, 1}, part);
}

absl::Status KernelBuilder::EmitConcatenate(LoopPart part) {
  const int64_t along = top_->attributes().Integers(Attr::kDimension)[0];
  int64_t offset = 0;
  for (const Instruction* operand : top_->operands()) {
    KernelOutput output{frame_, operand, {0}, {}};
    output.starts.assign(top_->shape().rank(), elements_.Index(0));
    output.starts[along] = elements_.Index(offset);
    ASSAY_RETURN_IF_ERROR(EmitOutputs({&output, 1}, part));
    offset += operand->shape().dimension(along);
  }
  return absl::OkStatus();
}

absl::Status KernelBuilder::Emit(Form form, const Kernel& kernel) {
  const LoopPart part = PartOf(kernel);
  switch (form) {
    case Form::kBlockedDot:
      return EmitBlockedDot(kernel);
    case Form::kCumulative:
      return EmitCumulativeWindow(kernel);
    case Form::kUpdateInPlace:
      return EmitUpdate(part);
    case Form::kConcatenate:
      return EmitConcatenate(part);
    case Form::kNests:
      if (one_nest_) return EmitOutputs(outputs_, part);
      for (const KernelOutput& output : outputs_) {
        ASSAY_RETURN_IF_ERROR(EmitOutputs({&output, 1}, part));
      }
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> KernelBuilder::Build() {
  CreateFunction();
  BindBuffers();
  Kernel kernel;
  kernel.function = function_;
  if (const ArrayKernelFn emit = FindArrayKernel(root_.opcode()); emit != nullptr) {
    ArrayKernelContext context{module_,  gates_,    elements_, root_,
                               buffers_, function_, sources_,  results_.pointers};
    ASSAY_RETURN_IF_ERROR(emit(context));
    kernel.extent = 1;
  } else {
    ASSAY_RETURN_IF_ERROR(FindOutputs());
    const Form form = ChooseForm();
    if (form == Form::kNests) ChooseNests();
    const SplitPlan split = PlanSplitOf(form);
    kernel.extent = split.extent;
    kernel.grain = split.grain;
    kernel.parallel =
        split.is_worthwhile && gates_.Allow(DecisionKind::kTask, "split-kernel", &root_);
    const GateDefect* planted =
        kernel.parallel ? gates_.Planted(DecisionKind::kTask, "split-kernel", &root_) : nullptr;
    if (planted != nullptr) {
      kernel.extent += planted->kernel_bends().loop_bound_offset.value_or(0);
    }
    ASSAY_RETURN_IF_ERROR(Emit(form, kernel));
  }
  ir_.CreateRetVoid();
  return kernel;
}

}  // namespace

absl::StatusOr<Kernel> EmitKernel(llvm::Module& module, const KernelTarget& target, Gates& gates,
                                  const Instruction& instruction, const KernelBuffers& buffers) {
  return KernelBuilder(module, target, gates, instruction, buffers).Build();
}

}  // namespace assay
