#include "optimized/cpu/kernel_emitter.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "optimized/codegen/contraction.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/dot_kernel.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

constexpr int64_t kParallelWork =
    1 << 17;  // element operations below which a split costs more than it gains
constexpr int64_t kMaxParts = 64;

int64_t DefectInteger(const Defect& defect, const std::string& name, int64_t absent) {
  auto it = defect.parameters.find(name);
  int64_t value = 0;
  return it != defect.parameters.end() && absl::SimpleAtoi(it->second, &value) ? value : absent;
}

std::string DefectText(const Defect& defect, const std::string& name) {
  auto it = defect.parameters.find(name);
  return it == defect.parameters.end() ? "" : it->second;
}

constexpr int kNoLanes = 1 << 20;

// Widest element that takes part, which sets how many fit into a vector.
int WidestBits(const Instruction& i) {
  int bits = 8;
  auto consider = [&](const Shape& shape) {
    ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (!leaf.IsArray()) return;
      // Complex numbers have no lanes.
      bits =
          std::max(bits, IsComplex(leaf.element_type()) ? kNoLanes : BitWidth(leaf.element_type()));
    });
  };
  consider(i.shape());
  // Index operands are scalars and need no lanes.
  for (const Instruction* operand : i.operands()) {
    if (operand->shape().IsTuple() || operand->shape().rank() > 0) consider(operand->shape());
  }
  if (i.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : *i.callee()) {
      if (inner->shape().IsTuple() || inner->shape().rank() > 0) consider(inner->shape());
    }
  }
  return bits;
}

// Rough element operations per element of the result, for the decision to split.
int64_t WorkPerElement(const Instruction& i) {
  int64_t work = 1;
  auto consider = [&](const Instruction& inner) {
    int64_t count =
        std::max<int64_t>(1, inner.shape().IsArray() ? inner.shape().ElementCount() : 1);
    if (inner.opcode() == Opcode::kDot) {
      int64_t terms = 1;
      for (int64_t d : inner.attributes().Integers(Attr::kLhsContractingDims)) {
        terms *= std::max<int64_t>(1, inner.operand(0)->shape().dimension(d));
      }
      work += terms;
    } else if (inner.opcode() == Opcode::kReduce) {
      work += inner.operand(0)->shape().ElementCount() / count;
    } else if (inner.opcode() == Opcode::kReduceWindow || inner.opcode() == Opcode::kConvolution) {
      double terms = 1;
      for (const WindowDim& w : inner.attributes().Window(Attr::kWindow)) {
        terms *= static_cast<double>(w.size);
      }
      work += static_cast<int64_t>(std::min(terms, 1e9));
    } else {
      work += 1;
    }
  };
  consider(i);
  if (i.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : *i.callee()) consider(*inner);
  }
  return work;
}

class KernelBuilder {
 public:
  KernelBuilder(llvm::Module& module, const KernelTarget& target, Gates& gates,
                const Instruction& i, const KernelBuffers& buffers)
      : module_(module),
        target_(target),
        gates_(gates),
        root_(i),
        buffers_(buffers),
        ir_(module.getContext()),
        values_(ir_),
        elements_(values_) {}

  absl::StatusOr<Kernel> Build();

 private:
  // Elements computed in one nest and where they go.
  struct Output {
    const Frame* frame;
    const Instruction* instruction;
    std::vector<int> leaves;     // results written, one per leaf of the instruction
    std::vector<Value*> starts;  // position of element 0 within the result; empty: the whole result
  };
  struct Walk {
    enum Kind { kScalar, kLinear, kLanes } kind = kScalar;
    int lane_dim = -1;
    int width = 1;
  };

  absl::Status AddOutputs(const Frame* frame, const Instruction* i, int& leaf);
  Walk ChooseWalk(const Output& output);
  absl::Status EmitOutput(const Output& output);
  absl::Status EmitNest(const Output& output, const Walk& walk, const Shape& shape,
                        ElementIndex index, int64_t dim);
  absl::Status EmitLaneLoop(const Output& output, const Walk& walk, Value* begin, Value* end,
                            const std::function<ElementIndex(Value*, int)>& index_at);
  absl::Status StoreAt(const Output& output, const ElementIndex& index);
  void StoreLanes(ElementType type, Value* value, Value* pointer);
  absl::Status EmitUpdate(const Frame* frame, const Instruction* update_slice);
  absl::Status EmitConcatenate(const Frame* frame, const Instruction* concatenate);
  const Shape& ResultShape(int leaf) const { return result_shapes_[leaf]; }
  int64_t OutermostDim(const Shape& shape) const;
  void Split(Kernel& kernel, int64_t extent, int64_t unit);

  llvm::Module& module_;
  const KernelTarget& target_;
  Gates& gates_;
  const Instruction& root_;
  const KernelBuffers& buffers_;
  llvm::IRBuilder<> ir_;
  ValueBuilder values_;
  ElementEmitter elements_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> results_;
  std::vector<std::vector<Value*>> sources_;  // of each operand, by leaf
  std::vector<Shape> result_shapes_;
  std::vector<Output> outputs_;
  std::optional<bool> vectorize_allowed_;
  bool parallel_ = false;
  const Defect* defect_ = nullptr;
};

int64_t KernelBuilder::OutermostDim(const Shape& shape) const {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) != 1) return d;
  }
  return -1;
}

absl::Status KernelBuilder::AddOutputs(const Frame* frame, const Instruction* i, int& leaf) {
  if (i->opcode() == Opcode::kTuple) {
    for (const Instruction* operand : i->operands()) {
      absl::Status status = AddOutputs(frame, operand, leaf);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  Output output{frame, i, {}, {}};
  for (int64_t k = 0; k < LeafCount(i->shape()); ++k) output.leaves.push_back(leaf++);
  for (int k : output.leaves) {
    if (!SameDimensions(ResultShape(k), ResultShape(output.leaves[0]))) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("cpu: results of different sizes in one kernel: ", i->ToString()));
    }
  }
  if (!output.leaves.empty()) outputs_.push_back(std::move(output));
  return absl::OkStatus();
}

KernelBuilder::Walk KernelBuilder::ChooseWalk(const Output& output) {
  const Instruction* i = output.instruction;
  const Shape& shape = i->shape().IsTuple() ? i->shape().elements()[0] : i->shape();
  Walk walk;
  int width = std::max(1, target_.vector_bits / WidestBits(root_));
  auto vectorize = [&](int64_t extent) {
    if (width < 2 || extent < width) return false;
    // One decision per kernel, however many results it has.
    if (!vectorize_allowed_.has_value()) {
      vectorize_allowed_ = gates_.Allow(DecisionKind::kKernel, "vectorize", &root_);
      if (const Defect* d = gates_.Planted(DecisionKind::kKernel, "vectorize", &root_)) defect_ = d;
    }
    return *vectorize_allowed_;
  };
  if (output.starts.empty() && i->shape().IsArray() && elements_.CanWalkLinearly(output.frame, i)) {
    walk.kind = Walk::kLinear;
    if (vectorize(shape.ElementCount())) walk.width = width;
    return walk;
  }
  for (int64_t d = shape.rank(); d-- > 0;) {
    if (shape.dimension(d) == 1) continue;
    bool contiguous = true;  // in the result as well, which may be larger than what is written
    for (int64_t behind = d + 1; behind < shape.rank(); ++behind) {
      contiguous = contiguous && ResultShape(output.leaves[0]).dimension(behind) == 1;
    }
    if (contiguous && shape.dimension(d) >= width && width >= 2 &&
        elements_.CanWalkLanes(output.frame, i, static_cast<int>(d)) &&
        vectorize(shape.dimension(d))) {
      walk.kind = Walk::kLanes;
      walk.lane_dim = static_cast<int>(d);
      walk.width = width;
    }
    break;
  }
  return walk;
}

void KernelBuilder::StoreLanes(ElementType type, Value* value, Value* pointer) {
  int width = ValueBuilder::WidthOf(value);
  if (defect_ != nullptr && defect_->op == "lane-mask" && width > 1) {
    int64_t lane = DefectInteger(*defect_, "lane", width - 1);
    if (lane >= 0 && lane < width) {
      value = ir_.CreateInsertElement(
          value, ir_.CreateExtractElement(value, lane == 0 ? 1 : lane - 1), lane);
    }
  }
  values_.Store(type, value, pointer);
}

absl::Status KernelBuilder::StoreAt(const Output& output, const ElementIndex& index) {
  absl::StatusOr<ElementValues> element = elements_.Emit(output.frame, output.instruction, index);
  if (!element.ok()) return element.status();
  for (size_t k = 0; k < output.leaves.size(); ++k) {
    int leaf = output.leaves[k];
    const Shape& shape = ResultShape(leaf);
    if (!shape.IsArray()) continue;
    ElementIndex at = index;
    for (size_t d = 0; d < output.starts.size(); ++d) {
      at.dims[d] = elements_.IndexAdd(at.dims[d], output.starts[d]);
    }
    Value* linear = elements_.LinearOf(shape.dimensions(), at);
    StoreLanes(shape.element_type(), (*element)[k],
               elements_.Address(shape.element_type(), results_[leaf], linear));
  }
  return absl::OkStatus();
}

absl::Status KernelBuilder::EmitLaneLoop(const Output& output, const Walk& walk, Value* begin,
                                         Value* end,
                                         const std::function<ElementIndex(Value*, int)>& index_at) {
  auto loop = [&](Value* from, Value* to, int step) -> absl::Status {
    return elements_
        .Loop(from, to, step, {},
              [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                absl::Status status = StoreAt(output, index_at(i, step));
                if (!status.ok()) return status;
                return ElementValues{};
              })
        .status();
  };
  // "loop" of the operator: the one of whole vectors, or (any other word) the innermost as a whole.
  Value* offset = nullptr;
  if (defect_ != nullptr && defect_->op == "loop-bound-offset") {
    offset = elements_.Index(DefectInteger(*defect_, "by", -1));
    if (DefectText(*defect_, "loop") != "vector") end = ir_.CreateAdd(end, offset);
  }
  if (walk.width == 1) return loop(begin, end, 1);
  Value* length = ir_.CreateSub(end, begin);
  Value* whole = ir_.CreateAdd(begin, ir_.CreateAnd(length, elements_.Index(-int64_t{walk.width})));
  bool short_vectors = offset != nullptr && DefectText(*defect_, "loop") == "vector";
  absl::Status status =
      loop(begin,
           short_vectors ? ir_.CreateAdd(whole, ir_.CreateMul(offset, elements_.Index(walk.width)))
                         : whole,
           walk.width);
  if (!status.ok()) return status;
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(length);
  if (constant != nullptr && constant->getSExtValue() % walk.width == 0) return absl::OkStatus();
  return loop(whole, end, 1);
}

absl::Status KernelBuilder::EmitNest(const Output& output, const Walk& walk, const Shape& shape,
                                     ElementIndex index, int64_t dim) {
  if (dim == shape.rank()) return StoreAt(output, index);
  if (shape.dimension(dim) == 1) {
    index.dims.push_back(elements_.Index(0));
    return EmitNest(output, walk, shape, std::move(index), dim + 1);
  }
  bool outermost = parallel_ && dim == OutermostDim(shape);
  Value* begin = outermost ? function_->getArg(1) : elements_.Index(0);
  Value* end = outermost ? function_->getArg(2) : elements_.Index(shape.dimension(dim));
  bool innermost = true;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) innermost = innermost && shape.dimension(d) == 1;
  if (innermost) {
    return EmitLaneLoop(output, walk, begin, end, [&](Value* i, int width) {
      ElementIndex at = index;
      at.dims.push_back(i);
      at.dims.resize(shape.rank(), elements_.Index(0));
      at.width = width;
      at.lane_dim = width > 1 ? walk.lane_dim : -1;
      return at;
    });
  }
  return elements_
      .Loop(begin, end, 1, {},
            [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
              ElementIndex inner = index;
              inner.dims.push_back(i);
              absl::Status status = EmitNest(output, walk, shape, std::move(inner), dim + 1);
              if (!status.ok()) return status;
              return ElementValues{};
            })
      .status();
}

absl::Status KernelBuilder::EmitOutput(const Output& output) {
  const Shape& whole = output.instruction->shape();
  const Shape& shape = whole.IsTuple() ? whole.elements()[0] : whole;
  if (shape.ElementCount() == 0) return absl::OkStatus();
  Walk walk = ChooseWalk(output);
  if (defect_ != nullptr && defect_->op == "address-offset") {
    elements_.set_load_offset(DefectInteger(*defect_, "by", 1));
  }
  if (defect_ != nullptr && defect_->op == "compare-predicate") {
    std::optional<int64_t> from = WordIndex(Attr::kDirection, DefectText(*defect_, "from"));
    std::optional<int64_t> to = WordIndex(Attr::kDirection, DefectText(*defect_, "to"));
    if (from && to) {
      values_.set_bent_compare(static_cast<Direction>(*from), static_cast<Direction>(*to));
    }
  }
  if (walk.kind == Walk::kLinear) {
    Value* begin = parallel_ ? function_->getArg(1) : elements_.Index(0);
    Value* end = parallel_ ? function_->getArg(2) : elements_.Index(shape.ElementCount());
    if (shape.ElementCount() == 1) {
      ElementIndex index;
      index.linear = elements_.Index(0);
      return StoreAt(output, index);
    }
    return EmitLaneLoop(output, walk, begin, end, [&](Value* i, int width) {
      ElementIndex at;
      at.linear = i;
      at.width = width;
      return at;
    });
  }
  return EmitNest(output, walk, shape, ElementIndex(), 0);
}

// The window of a dynamic-update-slice whose operand is the result's memory.
absl::Status KernelBuilder::EmitUpdate(const Frame* frame, const Instruction* update_slice) {
  const Shape& whole = update_slice->shape();
  const Instruction* update = update_slice->operand(1);
  Output output{frame, update, {0}, {}};
  for (int64_t d = 0; d < whole.rank(); ++d) {
    absl::StatusOr<Value*> start = elements_.ClampedStart(
        frame, update_slice->operand(2 + d), whole.dimension(d) - update->shape().dimension(d));
    if (!start.ok()) return start.status();
    output.starts.push_back(*start);
  }
  return EmitOutput(output);
}

// Each operand copied to its place: no element asks which operand it comes from.
absl::Status KernelBuilder::EmitConcatenate(const Frame* frame, const Instruction* concatenate) {
  int64_t along = concatenate->attributes().Integers(Attr::kDimension)[0];
  int64_t offset = 0;
  for (const Instruction* operand : concatenate->operands()) {
    Output output{frame, operand, {0}, {}};
    output.starts.assign(concatenate->shape().rank(), elements_.Index(0));
    output.starts[along] = elements_.Index(offset);
    absl::Status status = EmitOutput(output);
    if (!status.ok()) return status;
    offset += operand->shape().dimension(along);
  }
  return absl::OkStatus();
}

// Decides whether [0, extent) is worth cutting, into parts of a multiple of `unit`.
void KernelBuilder::Split(Kernel& kernel, int64_t extent, int64_t unit) {
  kernel.extent = extent;
  int64_t work =
      ResultShape(0).IsArray() ? ResultShape(0).ElementCount() * WorkPerElement(root_) : 0;
  if (target_.threads < 2 || work < kParallelWork || extent < 2 * unit) return;
  parallel_ = gates_.Allow(DecisionKind::kTask, "split-kernel", &root_);
  kernel.parallel = parallel_;
  int64_t parts = std::min<int64_t>(work / kParallelWork + 1, int64_t{4} * kMaxParts);
  kernel.grain = (extent / parts + unit) / unit * unit;
}

absl::StatusOr<Kernel> KernelBuilder::Build() {
  llvm::Type* pointer = ir_.getPtrTy();
  llvm::Type* i64 = ir_.getInt64Ty();
  function_ =
      llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), {pointer, i64, i64}, false),
                             llvm::Function::InternalLinkage, "kernel." + root_.name(), module_);
  function_->setDoesNotThrow();
  // Refused: the plain nest, as the instruction selector writes it down.
  bool optimize = gates_.Allow(DecisionKind::kKernel, "optimize-kernel", &root_);
  defect_ = gates_.Planted(DecisionKind::kKernel, "optimize-kernel", &root_);
  if (!optimize) {
    function_->addFnAttr(llvm::Attribute::OptimizeNone);
    function_->addFnAttr(llvm::Attribute::NoInline);
  }
  ir_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
  elements_.set_vector_bits(target_.vector_bits);
  elements_.set_use_fma(target_.use_fma);

  ForEachLeaf(root_.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    result_shapes_.push_back(leaf);
  });
  for (size_t k = 0; k < buffers_.results.size(); ++k) {
    bool array = result_shapes_[k].IsArray();
    results_.push_back(array ? SliceAddress(ir_, function_->getArg(0), buffers_.results[k])
                             : nullptr);
  }
  for (int64_t k = 0; k < root_.operand_count(); ++k) {
    std::vector<Value*> pointers;
    size_t leaf = 0;
    ForEachLeaf(root_.operand(k)->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
      BufferSlice slice = buffers_.operands[k][leaf++];
      pointers.push_back(shape.IsArray() ? SliceAddress(ir_, function_->getArg(0), slice)
                                         : nullptr);
    });
    sources_.push_back(pointers);
    elements_.AddSource(nullptr, root_.operand(k), std::move(pointers));
  }

  if (ArrayKernelFn emit = FindArrayKernel(root_.opcode()); emit != nullptr) {
    ArrayKernelContext context{module_, elements_, root_, buffers_, function_, sources_, results_};
    absl::Status status = emit(context);
    if (!status.ok()) return status;
    ir_.CreateRetVoid();
    Kernel kernel;
    kernel.function = function_;
    kernel.extent = 1;
    return kernel;
  }
  const Frame* frame = nullptr;
  const Instruction* top = &root_;
  if (root_.opcode() == Opcode::kFusion) {
    frame = elements_.NewFrame({nullptr, root_.operands(), {}});
    top = root_.callee()->root();
  }
  int leaf = 0;
  absl::Status status = AddOutputs(frame, top, leaf);
  if (!status.ok()) return status;

  Kernel kernel;
  kernel.function = function_;
  const bool blocked_dot = HasDotKernel(root_, target_.vector_bits) &&
                           gates_.Allow(DecisionKind::kKernel, "blocked-dot", &root_);
  const bool special = buffers_.update_in_place || top->opcode() == Opcode::kConcatenate;
  if (blocked_dot) {
    int64_t dim = DotSplitDim(root_);
    Split(kernel, dim < 0 ? 1 : root_.shape().dimension(dim), /*unit=*/4);
  } else if (outputs_.size() == 1 && !special) {
    const Shape& shape = ResultShape(outputs_[0].leaves[0]);
    int64_t outer = OutermostDim(shape);
    bool linear =
        shape.IsArray() && top->shape().IsArray() && elements_.CanWalkLinearly(frame, top);
    bool innermost = outer >= 0 && shape.ElementCount() == shape.dimension(outer);
    // Parts that begin on a whole vector keep the vector loop on the same elements for every split.
    Split(kernel,
          linear      ? shape.ElementCount()
          : outer < 0 ? 1
                      : shape.dimension(outer),
          linear || innermost ? 64 : 1);
  }
  if (blocked_dot) {
    DotKernelRange range{elements_.Index(0), elements_.Index(kernel.extent)};
    if (kernel.parallel) range = {function_->getArg(1), function_->getArg(2)};
    status = EmitDotKernel(elements_, root_, sources_[0][0], sources_[1][0], results_[0], range);
  } else if (buffers_.update_in_place) {
    status = EmitUpdate(frame, top);
  } else if (top->opcode() == Opcode::kConcatenate) {
    status = EmitConcatenate(frame, top);
  } else {
    for (const Output& output : outputs_) {
      status = EmitOutput(output);
      if (!status.ok()) break;
    }
  }
  if (!status.ok()) return status;
  ir_.CreateRetVoid();
  return kernel;
}

}  // namespace

int64_t EstimateWork(const Module& module) {
  constexpr int64_t kLoopWeight = 100;  // trips of a loop whose count nobody knows
  absl::flat_hash_map<const Computation*, int64_t> work;
  int64_t entry = 0;
  for (const Computation* computation : module.ComputationPostOrder()) {
    double sum = 0;
    for (const Instruction* i : *computation) {
      bool control = i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
                     i->opcode() == Opcode::kCall;
      if (control) {
        double weight = i->opcode() == Opcode::kWhile ? kLoopWeight : 1;
        for (const Computation* callee : i->callees()) sum += weight * work[callee];
      } else if (i->shape().IsArray()) {
        sum += static_cast<double>(i->shape().ElementCount()) * WorkPerElement(*i);
      }
    }
    work[computation] = static_cast<int64_t>(std::min(sum, 1e15));
    if (computation == module.entry()) entry = work[computation];
  }
  return entry;
}

Value* SliceAddress(llvm::IRBuilder<>& ir, Value* table, BufferSlice slice) {
  Value* entry = ir.CreateConstInBoundsGEP1_64(ir.getPtrTy(), table, slice.table_index);
  Value* base = ir.CreateLoad(ir.getPtrTy(), entry);
  if (slice.offset == 0) return base;
  return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, slice.offset);
}

Value* LoadContext(llvm::IRBuilder<>& ir, Value* table) {
  llvm::Type* pointer = ir.getPtrTy();
  return ir.CreateLoad(pointer,
                       ir.CreateConstInBoundsGEP1_64(pointer, table, BufferTable::kContext));
}

absl::StatusOr<Kernel> EmitKernel(llvm::Module& module, const KernelTarget& target, Gates& gates,
                                  const Instruction& instruction, const KernelBuffers& buffers) {
  return KernelBuilder(module, target, gates, instruction, buffers).Build();
}

}  // namespace assay
