// Walks from an element to the elements that it depends on, and keeps what was emitted already.
#include "optimized/codegen/element_emitter.h"

#include "optimized/codegen/functions/bent_element.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {
// Deeper chains inside one fusion would exhaust the stack of the recursion.
constexpr int kMaxDepth = 2000;

absl::Status Unsupported(const Instruction& instruction, std::string_view why) {
  return MakeError(ErrorClass::kUnsupported, StrCat("cpu: ", why, ", ", Name(instruction.opcode()),
                                                    ": ", instruction.ToString()));
}
// The row-major elements as a private global of the module that is being built.
Value* KernelData(llvm::IRBuilderBase& ir, const Literal& literal) {
  absl::Span<const uint8_t> bytes = literal.bytes();
  llvm::Constant* data = llvm::ConstantDataArray::get(
      ir.getContext(), llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
  auto* global = new llvm::GlobalVariable(*ir.GetInsertBlock()->getModule(), data->getType(),
                                          /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                          data, "constant");
  global->setAlignment(llvm::Align(16));
  return global;
}
}  // namespace

void ElementEmitter::AddSource(const Frame* frame, const Instruction* instruction,
                               std::vector<Value*> pointers) {
  walks_.AddSource({frame, instruction});
  sources_[{frame, instruction}] = std::move(pointers);
}

const ElementEmitter::Frame* ElementEmitter::NewFrame(std::vector<ElementValues> values) {
  const Frame* frame = walks_.NewFrame({.binds_values = true});
  values_[frame] = std::move(values);
  return frame;
}

const std::vector<Value*>* ElementEmitter::FindSource(const Frame* frame,
                                                      const Instruction* instruction) const {
  auto it = sources_.find({frame, instruction});
  return it == sources_.end() ? nullptr : &it->second;
}

Value* ElementEmitter::IndexBinary(llvm::Instruction::BinaryOps op, Value* a, Value* b) {
  auto key = std::make_tuple(static_cast<int>(op), a, b);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto it = scope->indices.find(key);
    if (it != scope->indices.end()) return it->second;
  }
  Value* result = builder_.ir().CreateBinOp(op, a, b);
  scopes_.back().indices[key] = result;
  return result;
}

Value* ElementEmitter::IndexAdd(Value* a, Value* b) {
  auto is_zero = [](Value* v) {
    auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
    return c != nullptr && c->isZero();
  };
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  return IndexBinary(llvm::Instruction::Add, a, b);
}

Value* ElementEmitter::IndexMul(Value* operand, int64_t factor) {
  if (factor == 1) return operand;
  return IndexBinary(llvm::Instruction::Mul, operand, Index(factor));
}

Value* ElementEmitter::LinearOf(absl::Span<const int64_t> dimensions, const ElementIndex& index) {
  if (index.linear != nullptr) return index.linear;
  DimVector strides = RowMajorStrides(dimensions);
  Value* linear = Index(0);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] == 1) continue;
    linear = IndexAdd(linear, IndexMul(index.dims[d], strides[d]));
  }
  return linear;
}

std::vector<Value*> ElementEmitter::Delinearize(absl::Span<const int64_t> dimensions,
                                                Value* linear) {
  DimVector strides = RowMajorStrides(dimensions);
  std::vector<Value*> dims(dimensions.size(), Index(0));
  int64_t remaining = 1;  // number of values that `linear` can still take
  for (int64_t d : dimensions) remaining *= d;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] == 1) continue;
    Value* digit = linear;
    if (strides[d] > 1) {
      digit = IndexBinary(llvm::Instruction::UDiv, linear, Index(strides[d]));
    }
    if (remaining > dimensions[d] * strides[d]) {
      digit = IndexBinary(llvm::Instruction::URem, digit, Index(dimensions[d]));
    }
    dims[d] = digit;
  }
  return dims;
}

Value* ElementEmitter::Address(ElementType type, Value* pointer, Value* element) {
  return builder_.ir().CreateGEP(builder_.StorageType(type), pointer, element);
}

ElementValues ElementEmitter::LoadSource(const Instruction* instruction,
                                         const std::vector<Value*>& pointers,
                                         const ElementIndex& index) {
  ElementValues values;
  const int64_t load_offset = builder_.bends().load_offset;
  size_t leaf = 0;
  ForEachLeaf(instruction->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
    Value* pointer = pointers[leaf++];
    if (!shape.IsArray()) {
      values.push_back(nullptr);
      return;
    }
    Value* element = LinearOf(shape.dimensions(), index);
    if (load_offset != 0 && shape.ElementCount() > 1) {
      // Stays inside the array: what a wrong address reads is wrong, not fatal.
      Value* last = Index(std::max<int64_t>(0, shape.ElementCount() - index.width));
      Value* shifted = builder_.ir().CreateAdd(element, Index(load_offset));
      element = builder_.ir().CreateBinaryIntrinsic(
          llvm::Intrinsic::smax, Index(0),
          builder_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, shifted, last));
    }
    values.push_back(builder_.Load(shape.element_type(),
                                   Address(shape.element_type(), pointer, element), index.width));
  });
  return values;
}

absl::StatusOr<ElementValues> ElementEmitter::Emit(const Frame* frame,
                                                   const Instruction* instruction,
                                                   const ElementIndex& index) {
  CacheKey key{{frame, instruction}, index};
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto it = scope->values.find(key);
    if (it != scope->values.end()) return it->second;
  }
  if (++depth_ > kMaxDepth) {
    return Unsupported(*instruction, "a fusion is nested more than 2000 instructions deep");
  }
  absl::StatusOr<ElementValues> values = EmitUncached(frame, instruction, index);
  --depth_;
  if (values.ok()) scopes_.back().values[key] = *values;
  return values;
}

absl::StatusOr<ElementValues> ElementEmitter::EmitParameter(const Frame* frame,
                                                            const Instruction* parameter,
                                                            const ElementIndex& index) {
  if (frame == nullptr) return Unsupported(*parameter, "unbound parameter");
  const int64_t number = parameter->parameter_number();
  if (!frame->binds_values) return Emit(frame->parent, frame->arguments[number], index);
  ElementValues spread;
  for (Value* value : values_.at(frame)[number]) {
    spread.push_back(builder_.Splat(value, index.width));
  }
  return spread;
}

absl::StatusOr<ElementValues> ElementEmitter::EmitTupleElement(const Frame* frame,
                                                               const Instruction* instruction,
                                                               const ElementIndex& index) {
  auto [where, tuple] = walks_.TupleBehind({frame, instruction->operand(0)});
  int64_t first = 0;
  for (int64_t k = 0; k < instruction->tuple_index(); ++k) {
    first += LeafCount(tuple->shape().elements()[k]);
  }
  const int64_t end = first + LeafCount(instruction->shape());
  // A tuple in memory has leaves of many shapes: load the one that is asked for.
  const auto* pointers = FindSource(where, tuple);
  if (pointers == nullptr && tuple->opcode() == Opcode::kTuple) {
    return Emit(where, tuple->operand(instruction->tuple_index()), index);
  }
  if (pointers == nullptr && tuple->opcode() == Opcode::kParameter && where != nullptr &&
      !where->binds_values) {
    pointers = FindSource(where->parent, where->arguments[tuple->parameter_number()]);
  }
  if (pointers != nullptr) {
    return LoadSource(instruction, {pointers->begin() + first, pointers->begin() + end}, index);
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues all, Emit(where, tuple, index));
  return ElementValues(all.begin() + first, all.begin() + end);
}

absl::StatusOr<ElementValues> ElementEmitter::EmitTuple(const Frame* frame,
                                                        const Instruction* tuple,
                                                        const ElementIndex& index) {
  ElementValues all;
  for (const Instruction* operand : tuple->operands()) {
    ASSAY_ASSIGN_OR_RETURN(ElementValues values, Emit(frame, operand, index));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

absl::StatusOr<ElementValues> ElementEmitter::EmitUncached(const Frame* frame,
                                                           const Instruction* instruction,
                                                           const ElementIndex& index) {
  // One element of a constant is cheaper than a load, wherever the array lives.
  if (instruction->opcode() == Opcode::kConstant && instruction->literal() != nullptr &&
      instruction->literal()->element_count() == 1 && instruction->shape().IsArray()) {
    Value* value = builder_.ConstantElement(*instruction->literal(), 0);
    return ElementValues{builder_.Splat(value, index.width)};
  }
  if (IsKernelData(*instruction) && FindSource(frame, instruction) == nullptr) {
    AddSource(frame, instruction, {KernelData(builder_.ir(), *instruction->literal())});
  }
  if (const auto* pointers = FindSource(frame, instruction)) {
    return LoadSource(instruction, *pointers, index);
  }
  switch (instruction->opcode()) {
    case Opcode::kParameter:
      return EmitParameter(frame, instruction, index);
    case Opcode::kFusion:
    case Opcode::kCall:
      return Emit(CalleeFrame(frame, instruction), instruction->callee()->root(), index);
    case Opcode::kGetTupleElement:
      return EmitTupleElement(frame, instruction, index);
    case Opcode::kTuple:
      return EmitTuple(frame, instruction, index);
    default:
      break;
  }
  if (!watcher_ || (frame != nullptr && frame->binds_values)) {
    return Lower(frame, *instruction, index);
  }
  const Instruction* around = watched_;
  Watch(instruction);
  absl::StatusOr<ElementValues> values = Lower(frame, *instruction, index);
  Watch(around);
  return values;
}

absl::StatusOr<ElementValues> ElementEmitter::Lower(const Frame* frame,
                                                    const Instruction& instruction,
                                                    const ElementIndex& index) {
  const ElementLowering* row = FindElementLowering(instruction.opcode());
  if (row == nullptr) return Unsupported(instruction, "no lowering inside a kernel");
  if (builder_.bends().planted == nullptr) return row->emit(*this, frame, instruction, index);
  return row->emit(*this, frame, instruction, BentIndex(*this, instruction, index));
}

absl::StatusOr<Value*> ElementEmitter::EmitOne(const Frame* frame, const Instruction* instruction,
                                               const ElementIndex& index) {
  ASSAY_ASSIGN_OR_RETURN(ElementValues values, Emit(frame, instruction, index));
  if (values.size() != 1) return Unsupported(*instruction, "an array is needed, not a tuple");
  return values.front();
}

absl::StatusOr<Value*> ElementEmitter::EmitSpread(const Frame* frame,
                                                  const Instruction* instruction,
                                                  const ElementIndex& index, int width) {
  ASSAY_ASSIGN_OR_RETURN(auto* value, EmitOne(frame, instruction, index));
  return builder_.Splat(value, width);
}

absl::StatusOr<ElementValues> ElementEmitter::Apply(const Computation& computation,
                                                    std::vector<ElementValues> arguments,
                                                    int width) {
  if (arguments.empty()) {
    return Unsupported(*computation.root(), "a computation without parameters");
  }
  const Frame* frame = NewFrame(std::move(arguments));
  ElementIndex index;
  index.width = width;
  if (width > 1) index.linear = Index(0);  // scalars: the position does not matter, the width does
  return Emit(frame, computation.root(), index);
}

void ElementEmitter::CountSteps(int64_t steps) {
  if (step_counter_ == nullptr) return;
  llvm::IRBuilder<>& ir = builder_.ir();
  Value* counter = ir.CreateIntToPtr(
      ir.getInt64(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(step_counter_))),
      ir.getPtrTy());
  ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, counter, ir.getInt64(static_cast<uint64_t>(steps)),
                     llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
}

absl::Status ElementEmitter::Scoped(const std::function<absl::Status()>& body) {
  scopes_.emplace_back();
  absl::Status status = body();
  scopes_.pop_back();
  return status;
}

absl::StatusOr<ElementValues> ElementEmitter::Loop(Value* begin, Value* end, int64_t step,
                                                   ElementValues carried, const LoopBody& body) {
  llvm::IRBuilder<>& ir = builder_.ir();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = ir.GetInsertBlock();
  auto* header = llvm::BasicBlock::Create(builder_.context(), "loop", function);
  auto* inside = llvm::BasicBlock::Create(builder_.context(), "body", function);
  auto* exit = llvm::BasicBlock::Create(builder_.context(), "done", function);
  ir.CreateBr(header);
  ir.SetInsertPoint(header);
  llvm::PHINode* i = ir.CreatePHI(ir.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  std::vector<llvm::PHINode*> phis;
  ElementValues current;
  for (Value* v : carried) {
    phis.push_back(ir.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
    current.push_back(phis.back());
  }
  ir.CreateCondBr(ir.CreateICmpSLT(i, end), inside, exit);
  ir.SetInsertPoint(inside);
  scopes_.emplace_back();
  absl::StatusOr<ElementValues> result = body(i, current);
  scopes_.pop_back();
  ASSAY_ASSIGN_OR_RETURN(const ElementValues next, std::move(result));
  CountSteps(step);
  llvm::BasicBlock* last = ir.GetInsertBlock();
  i->addIncoming(ir.CreateNSWAdd(i, Index(step)), last);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], last);
  ir.CreateBr(header);
  ir.SetInsertPoint(exit);
  return current;
}

absl::StatusOr<Value*> ElementEmitter::ClampedStart(const Frame* frame, const Instruction* start,
                                                    int64_t limit) {
  ElementIndex scalar;
  ASSAY_ASSIGN_OR_RETURN(auto* value, EmitOne(frame, start, scalar));
  llvm::IRBuilder<>& ir = builder_.ir();
  const KernelBends& bends = builder_.bends();
  bool is_signed = IsSigned(start->shape().element_type());
  Value* wide = ir.CreateIntCast(value, ir.getInt64Ty(), is_signed);
  limit = bends.Number("optimize-kernel/start-limit", start, limit);
  // Cached by the scalar's own value, so that two slices with one start share their addresses.
  auto key = std::make_tuple(is_signed ? -1 : -2, wide, static_cast<Value*>(Index(limit)));
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto it = scope->indices.find(key);
    if (it != scope->indices.end()) return it->second;
  }
  Value* clamped = ir.CreateBinaryIntrinsic(
      bends.Holds("optimize-kernel/start-unsigned", start, !is_signed) ? llvm::Intrinsic::umin
                                                                       : llvm::Intrinsic::smin,
      wide, Index(limit));
  if (is_signed) clamped = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, clamped, Index(0));
  scopes_.back().indices[key] = clamped;
  return clamped;
}

}  // namespace assay
