// Sort and top-k. A comparison of the same function of both sides is emitted as the function of one
// element that gives its key, and the runtime sorts or selects by keys; any other is emitted as a
// function of two element places, and the runtime merges. A second function moves the elements of a
// line to where they belong. Document: operation semantics chapter 10, Sort and TopK.
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/sort_key.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/native/module_cut.h"
#include "optimized/runtime/sort.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {

// A function of its own beside the kernel, with pointers to operands and results for its body.
class SideFunction {
 public:
  SideFunction(ArrayKernelContext& context, const char* purpose, llvm::Type* result,
               llvm::ArrayRef<llvm::Type*> parameters)
      : SideFunction(context, context.elements.builder().bends(), purpose, result, parameters) {}
  SideFunction(ArrayKernelContext& context, const KernelBends& bends, const char* purpose,
               llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters)
      : c_(context),
        before_(context.ir().saveIP()),
        builder_(context.ir(), bends),
        elements_(builder_) {
    builder_.set_use_fma(context.elements.use_fma());
    builder_.set_is_rare(context.elements.builder().is_rare());
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(result, parameters, false), llvm::Function::InternalLinkage,
        StrCat(purpose, ".", context.instruction.name()), context.module);
    function_->setDoesNotThrow();
    context.ir().SetInsertPoint(
        llvm::BasicBlock::Create(context.module.getContext(), "entry", function_));
    Value* table = function_->getArg(0);
    for (const auto& leaves : context.buffers.operands) {
      operands_.push_back(SliceAddress(context.ir(), table, leaves[0]));
    }
    for (BufferSlice slice : context.buffers.results) {
      results_.push_back(SliceAddress(context.ir(), table, slice));
    }
  }
  ~SideFunction() { c_.ir().restoreIP(before_); }

  llvm::Function* function() { return function_; }
  ElementEmitter& elements() { return elements_; }
  Value* Load(int64_t operand, Value* element, int width = 1) {
    const ElementType type = c_.instruction.operand(operand)->shape().element_type();
    return builder_.Load(type, elements_.Address(type, operands_[operand], element), width);
  }
  void Store(int64_t result, ElementType type, Value* value, Value* element) {
    builder_.Store(type, value, elements_.Address(type, results_[result], element));
  }

 private:
  ArrayKernelContext& c_;
  llvm::IRBuilder<>::InsertPoint before_;
  ValueBuilder builder_;
  ElementEmitter elements_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> operands_, results_;
};

// Elements of a line along a dimension: `size` of them, `stride` apart.
struct Lines {
  int64_t size, stride, count;
};
Lines LinesOf(const Shape& shape, int64_t dim) {
  const int64_t size = shape.dimension(dim);
  return {size, RowMajorStrides(shape.dimensions())[dim],
          size == 0 ? 0 : shape.ElementCount() / size};
}

// `order` holds, for each place of the line, the place it is taken from.
Value* TakenFrom(ElementEmitter& emitter, Value* order, Value* place) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  return ir.CreateLoad(ir.getInt64Ty(), ir.CreateGEP(ir.getInt64Ty(), order, place));
}

// The shape of the lines as constant data.
Value* ShapeData(ArrayKernelContext& context, const Lines& lines, int key_bits) {
  SortShape shape;
  shape.lines = lines.count;
  shape.size = lines.size;
  shape.stride = lines.stride;
  shape.key_bytes = key_bits > 32 ? 8 : 4;
  return PlanData(context.module, shape);
}

// The operand that a comparison looks at, and how it does: the root compares two values that are
// the same function of the two elements of one operand.
struct KeyComparison {
  int64_t operand;
  const Instruction* key;  // of the first element
  bool descending;
  bool total_order;
};

// True if `a` becomes `b` when parameter 2 k is read as parameter 2 k + 1. `operand` is k, once
// known.
bool IsMirrored(const Instruction* a, const Instruction* b, int64_t& operand, int depth) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth) return false;
  if (a->opcode() == Opcode::kParameter) {
    if (b->opcode() != Opcode::kParameter || a->parameter_number() % 2 != 0 ||
        b->parameter_number() != a->parameter_number() + 1) {
      return false;
    }
    const int64_t k = a->parameter_number() / 2;
    if (operand >= 0 && operand != k) return false;
    operand = k;
    return true;
  }
  if (a->operand_count() != b->operand_count() || !a->SameOperation(*b) || !a->callees().empty()) {
    return false;
  }
  for (int64_t i = 0; i < a->operand_count(); ++i) {
    if (!IsMirrored(a->operand(i), b->operand(i), operand, depth + 1)) return false;
  }
  return true;
}

std::optional<KeyComparison> RecogniseKey(const Computation& comparison) {
  const Instruction* root = comparison.root();
  if (root->opcode() != Opcode::kCompare) return std::nullopt;
  const auto direction = static_cast<Direction>(root->attributes().Integer(Attr::kDirection));
  if (direction != Direction::kLt && direction != Direction::kGt) return std::nullopt;
  const ElementType type = root->operand(0)->shape().element_type();
  const bool sortable = IsInteger(type) || (IsFloat(type) && BitWidth(type) >= 16);
  if (!sortable || BitWidth(type) < 8) return std::nullopt;
  KeyComparison found{-1, root->operand(0), direction == Direction::kGt, false};
  if (!IsMirrored(root->operand(0), root->operand(1), found.operand, 0)) {
    // The other way round: b > a is a < b.
    if (!IsMirrored(root->operand(1), root->operand(0), found.operand, 0)) return std::nullopt;
    found.key = root->operand(1);
    found.descending = !found.descending;
  }
  if (found.operand < 0) return std::nullopt;
  found.total_order = root->attributes().Integer(Attr::kCompareType, 0) ==
                      static_cast<int64_t>(CompareType::kTotalOrder);
  return found;
}

struct KeyOrder {
  ElementType type;
  bool total_order, descending;
};
// The value of as many elements as `width` from a place on.
using ValueAt = std::function<absl::StatusOr<Value*>(SideFunction& side, Value* place, int width)>;

// The function that writes the keys of a line, `width` at a time and then what is left.
absl::StatusOr<llvm::Function*> EmitKeys(ArrayKernelContext& context, const KernelBends& bends,
                                         const Lines& lines, const KeyOrder& order, int width,
                                         const ValueAt& value_at) {
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  SideFunction side(context, bends, "keys", ir.getVoidTy(), {pointer, i64, pointer});
  llvm::Function* keys = side.function();
  ElementEmitter& e = side.elements();
  const auto loop = [&](int64_t from, int64_t to, int step) {
    const auto store = [&](Value* place, const ElementValues&) -> absl::StatusOr<ElementValues> {
      Value* at = e.IndexAdd(keys->getArg(1), e.IndexMul(place, lines.stride));
      ASSAY_ASSIGN_OR_RETURN(auto* value, value_at(side, at, step));
      Value* key = EmitSortKey(e.builder(), order.type, value, order.total_order, order.descending);
      llvm::Type* element = key->getType()->getScalarType();
      ir.CreateAlignedStore(key, ir.CreateGEP(element, keys->getArg(2), place),
                            llvm::Align(element->getScalarSizeInBits() / 8));
      return ElementValues{};
    };
    return e.Loop(e.Index(from), e.Index(to), step, {}, store).status();
  };
  const int64_t whole = lines.size / width * width;
  if (whole > 0) ASSAY_RETURN_IF_ERROR(loop(0, whole, width));
  if (whole < lines.size) ASSAY_RETURN_IF_ERROR(loop(whole, lines.size, 1));
  ir.CreateRetVoid();
  return keys;
}

absl::StatusOr<llvm::Function*> EmitLess(ArrayKernelContext& context) {
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  SideFunction side(context, "less", ir.getInt8Ty(), {pointer, i64, i64});
  llvm::Function* less = side.function();
  std::vector<ElementValues> arguments;
  for (int64_t k = 0; k < context.instruction.operand_count(); ++k) {
    arguments.push_back({side.Load(k, less->getArg(1))});
    arguments.push_back({side.Load(k, less->getArg(2))});
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues before, side.elements().Apply(*context.instruction.callee(),
                                                                     std::move(arguments), 1));
  ir.CreateRet(ir.CreateZExt(before.front(), ir.getInt8Ty()));
  return less;
}

// The dimension along which a sort's lines run.
int64_t SortedDim(const Instruction& sort) {
  const int64_t dim = sort.attributes().Integers(Attr::kDimension)[0];
  return dim < 0 ? dim + sort.operand(0)->shape().rank() : dim;
}

}  // namespace

bool SortsByKey(const Instruction& sort, const Target&) {
  const Shape& shape = sort.operand(0)->shape();
  // Places are 32 bits wide in a sort by keys.
  return shape.ElementCount() > 0 && RecogniseKey(*sort.callee()).has_value() &&
         shape.dimension(SortedDim(sort)) < (int64_t{1} << 31);
}

absl::Status EmitSort(ArrayKernelContext& context) {
  const Instruction& i = context.instruction;
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  const Shape& shape = i.operand(0)->shape();
  const Lines lines = LinesOf(shape, SortedDim(i));
  if (shape.ElementCount() == 0) return absl::OkStatus();

  std::optional<KeyComparison> comparison = RecogniseKey(*i.callee());
  const bool by_key = context.plan.takes_better;
  const KernelBends& bends = context.plan.form_bends == nullptr ? context.elements.builder().bends()
                                                                : *context.plan.form_bends;
  if (by_key && bends.Holds("sort-by-key/ascending", &i, false)) comparison->descending = false;
  llvm::Function *first_function = nullptr, *move = nullptr;
  int key_bits = 32;
  if (by_key) {
    const ElementType type = comparison->key->shape().element_type();
    key_bits = BitWidth(type);
    absl::StatusOr<llvm::Function*> keys =
        EmitKeys(context, bends, lines, {type, comparison->total_order, comparison->descending},
                 /*width=*/1, [&](SideFunction& side, Value* at, int) -> absl::StatusOr<Value*> {
                   // Both elements are the one at hand: only the first is looked at.
                   std::vector<ElementValues> arguments(2 * i.operand_count());
                   for (int64_t k = 0; k < i.operand_count(); ++k) {
                     arguments[2 * k] = arguments[2 * k + 1] = {side.Load(k, at)};
                   }
                   const auto* frame = side.elements().NewFrame(std::move(arguments));
                   return side.elements().EmitOne(frame, comparison->key, ElementIndex());
                 });
    if (!keys.ok()) return keys.status();
    first_function = *keys;
  } else {
    ASSAY_ASSIGN_OR_RETURN(first_function, EmitLess(context));
  }
  {
    SideFunction side(context, "move", ir.getVoidTy(), {pointer, i64, i64, pointer});
    move = side.function();
    ElementEmitter& e = side.elements();
    Value* first = move->getArg(1);
    absl::Status status =
        e.Loop(e.Index(0), e.Index(lines.size), 1, {},
               [&](Value* place, const ElementValues&) -> absl::StatusOr<ElementValues> {
                 Value* from = TakenFrom(e, move->getArg(3), place);
                 from = e.IndexAdd(first, e.IndexMul(from, lines.stride));
                 Value* to = e.IndexAdd(first, e.IndexMul(place, lines.stride));
                 for (int64_t k = 0; k < i.operand_count(); ++k) {
                   side.Store(k, i.operand(k)->shape().element_type(), side.Load(k, from), to);
                 }
                 return ElementValues{};
               })
            .status();
    if (!status.ok()) return status;
    ir.CreateRetVoid();
  }
  context.CallRuntime(by_key ? "assay_sort_lines_by_key" : "assay_sort_lines",
                      {context.RunContextOf(), ShapeData(context, lines, key_bits),
                       context.function->getArg(0), first_function, move});
  return absl::OkStatus();
}

absl::Status EmitTopK(ArrayKernelContext& context) {
  const Instruction& i = context.instruction;
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type *pointer = ir.getPtrTy(), *i64 = ir.getInt64Ty();
  const Shape& shape = i.operand(0)->shape();
  const ElementType type = shape.element_type();
  const int64_t k = i.attributes().Integer(Attr::kK);
  const KernelBends& bends = context.elements.builder().bends();
  const bool largest =
      bends.Holds("optimize-kernel/top-k-largest", &i, i.attributes().Flag(Attr::kLargest, true));
  Lines lines = LinesOf(shape, shape.rank() - 1);
  lines.size = std::max(k, bends.Number("optimize-kernel/top-k-size", &i, lines.size));
  if (shape.ElementCount() == 0 || k == 0) return absl::OkStatus();

  // The total order of the type's codes.
  // As vectors where each element is a word of memory.
  const bool has_lanes = BitWidth(type) == 32 || BitWidth(type) == 64;
  const int width = has_lanes ? std::max(1, context.elements.vector_width(type)) : 1;
  ASSAY_ASSIGN_OR_RETURN(
      auto* keys, EmitKeys(context, bends, lines, {type, /*total_order=*/true, largest}, width,
                           [](SideFunction& side, Value* at, int lanes) -> absl::StatusOr<Value*> {
                             return side.Load(0, at, lanes);
                           }));
  llvm::Function* move = nullptr;
  {
    SideFunction side(context, "move", ir.getVoidTy(), {pointer, i64, i64, pointer});
    move = side.function();
    // A few elements of a line that was read whole.
    if (k <= lines.size / 16) move->addFnAttr(kPartAttribute, kCold);
    ElementEmitter& e = side.elements();
    absl::Status status =
        e.Loop(e.Index(0), e.Index(k), 1, {},
               [&](Value* place, const ElementValues&) -> absl::StatusOr<ElementValues> {
                 Value* from = TakenFrom(e, move->getArg(3), place);
                 Value* to = e.IndexAdd(e.IndexMul(move->getArg(2), k), place);
                 side.Store(0, type, side.Load(0, e.IndexAdd(move->getArg(1), from)), to);
                 side.Store(1, ElementType::kS32, ir.CreateTrunc(from, ir.getInt32Ty()), to);
                 return ElementValues{};
               })
            .status();
    if (!status.ok()) return status;
    ir.CreateRetVoid();
  }
  context.CallRuntime("assay_select_lines_by_key",
                      {context.RunContextOf(), ShapeData(context, lines, BitWidth(type)),
                       context.elements.Index(k), context.function->getArg(0), keys, move});
  return absl::OkStatus();
}

}  // namespace assay
