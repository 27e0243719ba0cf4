// Counts ops, types and the situations that the generator has to reach.
#include "fuzz/generator/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fuzz/generator/conjunctions.h"
#include "spec/base/strings.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool Is(const Instruction& at, Opcode opcode) { return at.opcode() == opcode; }
bool IsOf(const Instruction& at, Opcode outer, Opcode inner, int64_t operand = 0) {
  return Is(at, outer) && at.operand_count() > operand && Is(*at.operand(operand), inner);
}
// ---- Indices.

// First index operand and the room of each dimension.
struct IndexUse {
  int64_t first;
  absl::Span<const int64_t> dimensions, sizes;
};
std::optional<IndexUse> IndicesOf(const Instruction& at) {
  if (Is(at, Opcode::kDynamicSlice)) {
    return IndexUse{1, at.operand(0)->shape().dimensions(), at.shape().dimensions()};
  }
  if (Is(at, Opcode::kDynamicUpdateSlice)) {
    return IndexUse{2, at.shape().dimensions(), at.operand(1)->shape().dimensions()};
  }
  return std::nullopt;
}

// The value of a scalar that is a constant or an entry parameter of the case.
std::optional<int64_t> KnownValue(const Case& made, const Instruction& scalar) {
  if (!IsInteger(scalar.shape().element_type())) return std::nullopt;
  if (scalar.literal() != nullptr) return scalar.literal()->GetInteger(0);
  if (!Is(scalar, Opcode::kParameter) || scalar.parent() != made.module->entry())
    return std::nullopt;
  return made.inputs[scalar.parameter_number()].GetInteger(0);
}

template <typename F>
bool AnyStart(const Case& made, const Instruction& at, F&& test) {
  std::optional<IndexUse> use = IndicesOf(at);
  // Indices in a vector are looked at by nobody here.
  const auto rank = static_cast<int64_t>(use.has_value() ? use->dimensions.size() : 0);
  if (!use.has_value() || at.operand_count() != use->first + rank) return false;
  for (size_t d = 0; d < use->dimensions.size(); ++d) {
    const Instruction& start = *at.operand(use->first + static_cast<int64_t>(d));
    if (test(made, start, use->dimensions[d], use->sizes[d])) return true;
  }
  return false;
}

template <int kWhich>
bool StartIs(const Case& made, const Instruction& at) {
  return AnyStart(made, at,
                  [](const Case& c, const Instruction& start, int64_t dimension, int64_t size) {
                    std::optional<int64_t> value = KnownValue(c, start);
                    if (!value.has_value()) return false;
                    ElementType type = start.shape().element_type();
                    int64_t last = dimension - size;
                    switch (kWhich) {
                      case 0:
                        return IsSigned(type) && *value < 0;
                      case 1:
                        return *value == last && last > 0;
                      case 2:
                        return *value == last + 1;
                      case 3:
                        return *value == dimension;
                      case 4:
                        return *value > dimension;
                      case 5:
                        return *value == MinOf(type) && IsSigned(type);
                      default:
                        return *value == MaxOf(type);
                    }
                  });
}

template <Opcode kOpcode>
bool StartIsMadeBy(const Case& made, const Instruction& at) {
  return AnyStart(made, at, [](const Case&, const Instruction& start, int64_t, int64_t) {
    return start.opcode() == kOpcode;
  });
}

template <ElementType kType>
bool StartHasType(const Case& made, const Instruction& at) {
  return AnyStart(made, at, [](const Case&, const Instruction& start, int64_t, int64_t) {
    return start.shape().element_type() == kType;
  });
}

bool MixedIndexTypes(const Case&, const Instruction& at) {
  return IsOf(at, Opcode::kDynamicSlice, Opcode::kDynamicSlice) && at.operand_count() > 1 &&
         at.operand(0)->operand_count() > 1 &&
         at.operand(1)->shape().element_type() != at.operand(0)->operand(1)->shape().element_type();
}

bool UpdateFromSelf(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kDynamicUpdateSlice)) return false;
  const Instruction* update = at.operand(1);
  for (int depth = 0; depth < 3 && update->operand_count() > 0; ++depth) {
    if (update->operand(0) == at.operand(0)) return true;
    update = update->operand(0);
  }
  return false;
}

// ---- Pads.

template <int kWhich>
bool PadIs(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kPad)) return false;
  for (const PaddingDim& dim : at.attributes().Padding(Attr::kPadding)) {
    bool shows = kWhich == 0   ? dim.low < 0 || dim.high < 0
                 : kWhich == 1 ? dim.interior > 0
                 : kWhich == 2 ? dim.low < 0 && dim.interior > 0
                               : (dim.low < 0) != (dim.high < 0);
    if (shows) return true;
  }
  return false;
}

// ---- Permutations and shapes.

bool ThreeCycle(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kTranspose)) return false;
  absl::Span<const int64_t> to = at.attributes().Integers(Attr::kDimensions);
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[to[i]] != static_cast<int64_t>(i)) return true;
  }
  return false;
}

template <int64_t kLow, int64_t kHigh>
bool HasSize(const Case&, const Instruction& at) {
  if (!at.shape().IsArray()) return false;
  return std::any_of(at.shape().dimensions().begin(), at.shape().dimensions().end(),
                     [](int64_t size) { return size >= kLow && size <= kHigh; });
}

template <int64_t kRank>
bool HasRank(const Case&, const Instruction& at) {
  return at.shape().IsArray() && at.shape().rank() >= kRank;
}

// ---- Loops and conditionals.

bool InEntry(const Case& made, const Instruction& at) {
  return at.parent() == made.module->entry();
}

const Instruction* LoopCompare(const Instruction& at) {
  const Instruction* root = at.callee(0)->root();
  if (Is(*root, Opcode::kAnd)) {
    bool left = Is(*root->operand(0), Opcode::kCompare) &&
                !Is(*root->operand(0)->operand(0), Opcode::kConstant);
    root = left ? root->operand(0) : root->operand(1);
  }
  return Is(*root, Opcode::kCompare) ? root : nullptr;
}

template <Direction kDirection>
bool LoopDirection(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kWhile)) return false;
  const Instruction* compare = LoopCompare(at);
  return compare != nullptr &&
         compare->attributes().Integer(Attr::kDirection) == static_cast<int64_t>(kDirection);
}

bool LoopCounterNarrow(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kWhile)) return false;
  const Instruction* compare = LoopCompare(at);
  return compare != nullptr && BitWidth(compare->operand(0)->shape().element_type()) == 8;
}

template <int kWhich>
bool LoopState(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kWhile)) return false;
  const Instruction* body = at.callee(1)->root();
  if (kWhich == 0) return at.shape().IsArray();
  if (!Is(*body, Opcode::kTuple) || !Is(*at.operand(0), Opcode::kTuple)) return false;
  std::set<const Instruction*> seen;
  for (int64_t i = 0; i < body->operand_count(); ++i) {
    const Instruction& next = *body->operand(i);
    bool passed_on = Is(next, Opcode::kGetTupleElement) && Is(*next.operand(0), Opcode::kParameter);
    if (kWhich == 1 && passed_on && next.tuple_index() == i) return true;
    if (kWhich == 2 && passed_on && next.tuple_index() != i) return true;
    if (kWhich == 3 && !seen.insert(at.operand(0)->operand(i)).second) return true;
  }
  return false;
}

bool LoopInLoop(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kWhile)) return false;
  for (const Instruction* inner : *at.callee(1)) {
    if (Is(*inner, Opcode::kWhile) || Is(*inner, Opcode::kConditional)) return true;
  }
  return false;
}

bool SelectorOutOfRange(const Case& made, const Instruction& at) {
  if (!Is(at, Opcode::kConditional)) return false;
  std::optional<int64_t> value = KnownValue(made, *at.operand(0));
  return value.has_value() && (*value < 0 || *value >= at.operand_count() - 1);
}

bool SharedCallee(const Case& made, const Instruction& at) {
  return !at.callees().empty() && made.module->Callers(at.callee(0)).size() > 1;
}

bool RootIsParameter(const Case&, const Instruction& at) {
  for (const Computation* callee : at.callees()) {
    const Instruction* root = callee->root();
    if (Is(*root, Opcode::kParameter) || Is(*root, Opcode::kGetTupleElement)) return true;
  }
  return false;
}

// ---- Reducers.

template <Opcode kOpcode>
bool ReducerHas(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kReduce)) return false;
  for (const Instruction* inner : *at.callee()) {
    if (inner->opcode() == kOpcode) return true;
  }
  return false;
}

bool ReducesAll(const Case&, const Instruction& at) {
  return Is(at, Opcode::kReduce) && at.operand_count() == 2 && at.shape().IsScalar();
}
bool ReducesNothing(const Case&, const Instruction& at) {
  return Is(at, Opcode::kReduce) && at.attributes().Integers(Attr::kDimensions).empty();
}
bool ReducesMiddle(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kReduce)) return false;
  absl::Span<const int64_t> dimensions = at.attributes().Integers(Attr::kDimensions);
  int64_t rank = at.operand(0)->shape().rank();
  return dimensions.size() == 1 && dimensions[0] > 0 && dimensions[0] < rank - 1;
}

// ---- Values.

bool HasFloatSpecial(const Case& made, const Instruction& at) {
  const Literal* values = at.literal();
  if (values == nullptr && Is(at, Opcode::kParameter) && InEntry(made, at)) {
    values = &made.inputs[at.parameter_number()];
  }
  if (values == nullptr || !IsFloat(values->element_type())) return false;
  const FloatFormat& format = Format(values->element_type());
  for (int64_t i = 0; i < values->element_count(); ++i) {
    double value = values->GetDouble(i);
    bool subnormal = value != 0 && std::abs(value) < format.MinNormal();
    if (IsNanCode(format, values->GetBits(i)) || std::isinf(value) || subnormal) return true;
  }
  return false;
}

bool HasIntegerLimit(const Case& made, const Instruction& at) {
  const Literal* values = at.literal();
  if (values == nullptr && Is(at, Opcode::kParameter) && InEntry(made, at)) {
    values = &made.inputs[at.parameter_number()];
  }
  if (values == nullptr || !IsIndexType(values->element_type())) return false;
  for (int64_t i = 0; i < values->element_count(); ++i) {
    if (values->GetInteger(i) == MaxOf(values->element_type())) return true;
  }
  return false;
}

bool SameOperandTwice(const Case&, const Instruction& at) {
  return at.operand_count() == 2 && at.operand(0) == at.operand(1);
}

bool ConvertBack(const Case&, const Instruction& at) {
  return IsOf(at, Opcode::kConvert, Opcode::kConvert) &&
         at.shape().element_type() == at.operand(0)->operand(0)->shape().element_type();
}

bool DotBatched(const Case&, const Instruction& at) {
  return Is(at, Opcode::kDot) && !at.attributes().Integers(Attr::kLhsBatchDims).empty();
}
bool DotOuter(const Case&, const Instruction& at) {
  return Is(at, Opcode::kDot) && at.attributes().Integers(Attr::kLhsContractingDims).empty();
}
bool DotTwoContracting(const Case&, const Instruction& at) {
  return Is(at, Opcode::kDot) && at.attributes().Integers(Attr::kLhsContractingDims).size() == 2;
}
bool DotWidens(const Case&, const Instruction& at) {
  return Is(at, Opcode::kDot) && at.shape().element_type() != at.operand(0)->shape().element_type();
}
bool MultiplyReduce(const Case&, const Instruction& at) {
  return IsOf(at, Opcode::kReduce, Opcode::kMultiply);
}

bool OtherLayout(const Case&, const Instruction& at) {
  return at.shape().IsArray() && !at.shape().layout().IsRowMajor();
}
bool DuplicateOutput(const Case& made, const Instruction& at) {
  if (&at != made.module->entry()->root() || !Is(at, Opcode::kTuple)) return false;
  std::set<const Instruction*> seen(at.operands().begin(), at.operands().end());
  return static_cast<int64_t>(seen.size()) < at.operand_count();
}
bool ConcatenateMany(const Case&, const Instruction& at) {
  return Is(at, Opcode::kConcatenate) && at.operand_count() >= 6;
}

template <Opcode kOuter, Opcode kInner, int64_t kOperand = 0>
bool Chain(const Case&, const Instruction& at) {
  return IsOf(at, kOuter, kInner, kOperand);
}

// ---- Types.

template <TypeMask kMask, int kMostBits>
bool HasType(const Case&, const Instruction& at) {
  if (!at.shape().IsArray()) return false;
  const ElementType type = at.shape().element_type();
  return Matches(kMask, type) && BitWidth(type) <= kMostBits;
}
template <TypeMask kMask, int kMostBits>
bool ConstantHasType(const Case& made, const Instruction& at) {
  return Is(at, Opcode::kConstant) && HasType<kMask, kMostBits>(made, at);
}

// ---- Sizes, windows, constants.

bool HasManyElements(const Case&, const Instruction& at) {
  return at.shape().IsArray() && at.shape().ElementCount() >= int64_t{1} << 11 &&
         at.shape().ElementCount() <= int64_t{1} << 17;
}

template <Opcode kOpcode, int kWhich>
bool WindowIs(const Case&, const Instruction& at) {
  if (!Is(at, kOpcode)) return false;
  for (const WindowDim& dim : at.attributes().Window(Attr::kWindow)) {
    const bool shows = kWhich == 0   ? dim.low < 0 || dim.high < 0
                       : kWhich == 1 ? dim.low >= dim.size || dim.high >= dim.size
                       : kWhich == 2
                           ? dim.base_dilation > 1
                           : dim.size == 1 && dim.stride == 1 && (dim.low | dim.high) != 0;
    if (shows) return true;
  }
  return false;
}

// An index type that cannot name every place of its dimension.
bool IndexTooNarrow(const Case& made, const Instruction& at) {
  return AnyStart(made, at, [](const Case&, const Instruction& start, int64_t dimension, int64_t) {
    const ElementType type = start.shape().element_type();
    const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
    return bits < 62 && dimension > (int64_t{1} << bits);
  });
}

bool OperandsAreConstants(const Case&, const Instruction& at) {
  return at.operand_count() > 0 &&
         std::all_of(at.operands().begin(), at.operands().end(),
                     [](const Instruction* operand) { return Is(*operand, Opcode::kConstant); });
}

bool SharedStart(const Case&, const Instruction& at) {
  const bool views = Is(at, Opcode::kDynamicSlice) || Is(at, Opcode::kDynamicUpdateSlice);
  const Instruction* inner = views ? at.operand(0) : nullptr;
  if (inner == nullptr) return false;
  const bool chained = Is(*inner, Opcode::kDynamicSlice) || Is(*inner, Opcode::kDynamicUpdateSlice);
  if (!chained || inner->shape().rank() == 0) return false;
  const int64_t last = at.operand_count() - 1;
  return at.operand(last) == inner->operand(inner->operand_count() - 1);
}

using O = Opcode;
using T = ElementType;
constexpr RequirementTrigger kTriggers[] = {
    {1, "start negative", StartIs<0>},
    {1, "start at the last legal place", StartIs<1>},
    {1, "start one past it", StartIs<2>},
    {1, "start at the dimension size", StartIs<3>},
    {1, "start far past", StartIs<4>},
    {1, "start at the least of its type", StartIs<5>},
    {1, "start at the greatest of its type", StartIs<6>},
    {2, "slice of slice", Chain<O::kSlice, O::kSlice>},
    {2, "dynamic-slice of dynamic-slice", Chain<O::kDynamicSlice, O::kDynamicSlice>},
    {2, "dynamic-slice of slice", Chain<O::kDynamicSlice, O::kSlice>},
    {2, "update of an update", Chain<O::kDynamicUpdateSlice, O::kDynamicUpdateSlice>},
    {2, "dynamic-slice of an update", Chain<O::kDynamicSlice, O::kDynamicUpdateSlice>},
    {3, "update from the updated array", UpdateFromSelf},
    {4, "negative edge padding", PadIs<0>},
    {4, "interior padding", PadIs<1>},
    {4, "negative edge and interior padding", PadIs<2>},
    {4, "edges of both signs", PadIs<3>},
    {4, "pad of pad", Chain<O::kPad, O::kPad>},
    {4, "slice of pad", Chain<O::kSlice, O::kPad>},
    {6, "s8 start", StartHasType<T::kS8>},
    {6, "u8 start", StartHasType<T::kU8>},
    {6, "s16 start", StartHasType<T::kS16>},
    {6, "u16 start", StartHasType<T::kU16>},
    {6, "s32 start", StartHasType<T::kS32>},
    {6, "u32 start", StartHasType<T::kU32>},
    {6, "s64 start", StartHasType<T::kS64>},
    {6, "u64 start", StartHasType<T::kU64>},
    {6, "index types mixed along a chain", MixedIndexTypes},
    {7, "start is a parameter", StartIsMadeBy<O::kParameter>},
    {7, "start is a constant", StartIsMadeBy<O::kConstant>},
    {7, "start is computed", StartIsMadeBy<O::kAdd>},
    {8, "transpose that is not its own inverse", ThreeCycle},
    {8, "transpose of transpose", Chain<O::kTranspose, O::kTranspose>},
    {9, "dimension of size 0", HasSize<0, 0>},
    {9, "dimension of size 1", HasSize<1, 1>},
    {10, "slice of broadcast", Chain<O::kSlice, O::kBroadcast>},
    {10, "reduce of broadcast", Chain<O::kReduce, O::kBroadcast>},
    {10, "slice of iota", Chain<O::kSlice, O::kIota>},
    {11, "reverse of reverse", Chain<O::kReverse, O::kReverse>},
    {12, "concatenate of slices", Chain<O::kConcatenate, O::kSlice>},
    {12, "concatenate of concatenate", Chain<O::kConcatenate, O::kConcatenate>},
    {12, "concatenate of many", ConcatenateMany},
    {17, "loop while less", LoopDirection<Direction::kLt>},
    {17, "loop while less or equal", LoopDirection<Direction::kLe>},
    {17, "loop while greater", LoopDirection<Direction::kGt>},
    {17, "loop while greater or equal", LoopDirection<Direction::kGe>},
    {17, "loop until equal", LoopDirection<Direction::kNe>},
    {18, "loop counter of 8 bits", LoopCounterNarrow},
    {19, "loop state is an array", LoopState<0>},
    {19, "invariant state element", LoopState<1>},
    {19, "state elements change places", LoopState<2>},
    {19, "duplicate state elements", LoopState<3>},
    {20, "root of a callee is a parameter", RootIsParameter},
    {21, "loop of a loop's result", Chain<O::kWhile, O::kWhile>},
    {22, "shared computation", SharedCallee},
    {23, "loop or conditional in a loop", LoopInLoop},
    {24, "branch index out of range", SelectorOutOfRange},
    {26, "reducer with a convert", ReducerHas<O::kConvert>},
    {26, "reducer with select", ReducerHas<O::kSelect>},
    {26, "reducer with a constant", ReducerHas<O::kConstant>},
    {26, "reducer of several results", ReducerHas<O::kTuple>},
    {29, "float special value", HasFloatSpecial},
    {30, "greatest integer", HasIntegerLimit},
    {31, "same operand twice", SameOperandTwice},
    {31, "log of exp", Chain<O::kLog, O::kExponential>},
    {31, "negate of negate", Chain<O::kNegate, O::kNegate>},
    {31, "select on a negated predicate", Chain<O::kSelect, O::kNot>},
    {31, "min of max", Chain<O::kMinimum, O::kMaximum>},
    {33, "size around 64", HasSize<63, 65>},
    {33, "size around 256", HasSize<255, 257>},
    {33, "size above 1000", HasSize<1000, 1 << 20>},
    {34, "reduce a middle dimension", ReducesMiddle},
    {34, "reduce all", ReducesAll},
    {34, "reduce no dimension", ReducesNothing},
    {35, "rank of 6 or more", HasRank<6>},
    {36, "layout that is not row-major", OtherLayout},
    {41, "convert there and back", ConvertBack},
    {42, "bits of floats as integers", Chain<O::kBitcastConvert, O::kBitcastConvert>},
    {43, "dot with batch dimensions", DotBatched},
    {43, "dot without contraction", DotOuter},
    {43, "dot with two contracting dimensions", DotTwoContracting},
    {43, "dot into a wider type", DotWidens},
    {43, "dot of transpose", Chain<O::kDot, O::kTranspose>},
    {43, "slice of dot", Chain<O::kSlice, O::kDot>},
    {44, "multiply then reduce", MultiplyReduce},
    {44, "convert then reduce", Chain<O::kReduce, O::kConvert>},
    {52, "duplicate output", DuplicateOutput},
    {33, "array of 2^11 to 2^17 elements", HasManyElements},
    {6, "index type too narrow for its dimension", IndexTooNarrow},
    {3, "the same start twice along a chain", SharedStart},
    {7, "op on constants alone", OperandsAreConstants},
    {41, "complex numbers", HasType<kC, 128>},
    {41, "integers of 2 or 4 bits", HasType<kI, 4>},
    {41, "floats of 4 or 8 bits", HasType<kF, 8>},
    {41, "complex constant", ConstantHasType<kC, 128>},
    {41, "constant of 2 or 4 bits", ConstantHasType<kI, 4>},
    {31, "exp of log", Chain<O::kExponential, O::kLog>},
    {31, "root of a product", Chain<O::kSqrt, O::kMultiply>},
    {30, "compare of an absolute value", Chain<O::kCompare, O::kAbs>},
    {30, "compare of a remainder", Chain<O::kCompare, O::kRemainder>},
    {30, "compare of a clamp", Chain<O::kCompare, O::kClamp>},
    {30, "convert of an and", Chain<O::kConvert, O::kAnd>},
    {5, "convolution with negative padding", WindowIs<O::kConvolution, 0>},
    {5, "convolution with padding as wide as its window", WindowIs<O::kConvolution, 1>},
    {5, "convolution with a dilated base", WindowIs<O::kConvolution, 2>},
    {5, "convolution by one element with padding", WindowIs<O::kConvolution, 3>},
    {5, "reduce-window with negative padding", WindowIs<O::kReduceWindow, 0>},
    {5, "reduce-window with padding as wide as its window", WindowIs<O::kReduceWindow, 1>},
    {5, "reduce-window with a dilated base", WindowIs<O::kReduceWindow, 2>},
};

}  // namespace

absl::Span<const RequirementTrigger> AllTriggers() {
  static const auto& all = *new std::vector<RequirementTrigger>([] {
    std::vector<RequirementTrigger> joined(std::begin(kTriggers), std::end(kTriggers));
    for (const Conjunction& conjunction : AllConjunctions()) joined.push_back(conjunction.trigger);
    return joined;
  }());
  return all;
}

namespace {

// One bit for the exponent of the power of two that the size is, or lies beside.
uint32_t PowerBeside(int64_t size) {
  for (const int64_t by : {-1, 0, 1}) {
    const auto power = static_cast<uint64_t>(size + by);
    if (size > 0 && std::has_single_bit(power)) return uint32_t{1} << std::countr_zero(power);
  }
  return 0;
}

}  // namespace

int64_t GeneratorStats::EdgePairs() const {
  return std::count_if(op_pairs_.begin(), op_pairs_.end(), [](const auto& entry) {
    return HasEdges(entry.first.first) && HasEdges(entry.first.second);
  });
}

void GeneratorStats::Add(const Case& made) {
  const absl::Span<const RequirementTrigger> triggers = AllTriggers();
  ++programs_;
  triggers_.resize(triggers.size());
  ++themes_[std::string(Name(made.theme))];
  ++sizes_[(made.module->InstructionCount() + 3) / 4 * 4];
  std::set<std::pair<Opcode, ElementType>> seen;
  std::vector<bool> shown(triggers.size());
  std::set<std::pair<Opcode, Opcode>> pairs;
  int64_t largest = 0;
  for (const Computation* computation : made.module->computations()) {
    for (const Instruction* instruction : *computation) {
      uint32_t powers = 0;
      ForEachLeaf(instruction->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        seen.emplace(instruction->opcode(), leaf.element_type());
        largest = std::max(largest, leaf.ElementCount());
        for (int64_t size : leaf.dimensions()) powers |= PowerBeside(size);
      });
      for (const Instruction* operand : instruction->operands()) {
        if (operand->shape().IsArray())
          for (int64_t size : operand->shape().dimensions()) powers |= PowerBeside(size);
        pairs.emplace(operand->opcode(), instruction->opcode());
      }
      powers_[instruction->opcode()] |= powers;
      for (size_t i = 0; i < shown.size(); ++i) {
        if (!shown[i]) shown[i] = triggers[i].shows(made, *instruction);
      }
    }
  }
  for (const auto& pair : seen) ++op_types_[pair];
  for (const auto& pair : pairs) ++op_pairs_[pair];
  ++largest_arrays_[static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(largest)))];
  for (size_t i = 0; i < shown.size(); ++i) triggers_[i] += shown[i] ? 1 : 0;
}

namespace {

// "12.345" of a thousand programs.
double PerThousand(int64_t count, int64_t programs) {
  return programs > 0 ? 1000.0 * static_cast<double>(count) / static_cast<double>(programs) : 0;
}

// The types that some program has, in the order of the lists.
std::vector<ElementType> TypesIn(const std::map<std::pair<Opcode, ElementType>, int64_t>& counts) {
  std::set<ElementType> present;
  for (const auto& entry : counts) present.insert(entry.first.second);
  std::vector<ElementType> types;
  for (const absl::Span<const ElementType> list : {ComputedTypes(), RareTypes()}) {
    for (ElementType type : list) {
      if (present.contains(type)) types.push_back(type);
    }
  }
  return types;
}

}  // namespace

std::string GeneratorStats::ToString() const {
  const std::vector<ElementType> types = TypesIn(op_types_);
  std::string text = absl::StrFormat("%d programs\n\n%-24s", programs_, "op");
  for (ElementType type : types) {
    const std::string name(Name(type));
    absl::StrAppendFormat(&text, " %*s", std::max<int>(6, static_cast<int>(name.size())), name);
  }
  text += '\n';
  for (const OpInfo& info : AllOps()) {
    if (!info.IsDefined()) continue;
    absl::StrAppendFormat(&text, "%-24s", std::string(info.name));
    for (ElementType type : types) {
      auto found = op_types_.find({info.opcode, type});
      absl::StrAppendFormat(&text, " %*d", std::max<int>(6, static_cast<int>(Name(type).size())),
                            found == op_types_.end() ? 0 : found->second);
    }
    text += '\n';
  }
  text += "\nrequirement  programs  of 1,000  trigger\n";
  for (size_t i = 0; i < triggers_.size(); ++i) {
    absl::StrAppendFormat(&text, "%11d  %8d  %8.2f  %s\n", AllTriggers()[i].requirement,
                          triggers_[i], PerThousand(triggers_[i], programs_),
                          std::string(AllTriggers()[i].name));
  }
  text += "\ninstructions  programs  of 1,000\n";
  for (const auto& [size, count] : sizes_) {
    absl::StrAppendFormat(&text, "%5d..%-5d  %8d  %8.2f\n", size - 3, size, count,
                          PerThousand(count, programs_));
  }
  text += "\nlargest array  programs  of 1,000\n";
  for (const auto& [size, count] : largest_arrays_) {
    absl::StrAppendFormat(&text, "%13s  %8d  %8.2f\n",
                          StrCat(size, "..", std::max<int64_t>(2 * size - 1, 0)), count,
                          PerThousand(count, programs_));
  }
  text += "\ntheme         programs\n";
  for (const auto& [theme, count] : themes_)
    absl::StrAppendFormat(&text, "%-12s  %8d\n", theme, count);
  absl::StrAppendFormat(&text, "\n%d ordered pairs of ops\n", op_pairs_.size());
  absl::StrAppendFormat(&text, "%d ordered pairs of ops with edges or indices\n", EdgePairs());
  absl::StrAppendFormat(&text, "%d ops with a dimension beside 2^8 or more\n",
                        std::count_if(powers_.begin(), powers_.end(),
                                      [](const auto& entry) { return entry.second >> 8 != 0; }));
  return text;
}

}  // namespace assay
