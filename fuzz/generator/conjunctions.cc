// Looks for joint attributes of instructions.
#include "fuzz/generator/conjunctions.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

namespace assay {
namespace {

bool Is(const Instruction& at, Opcode opcode) { return at.opcode() == opcode; }

// ---- Edges.

bool PadOfWideEdges(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kPad)) return false;
  const absl::Span<const PaddingDim> padding = at.attributes().Padding(Attr::kPadding);
  for (size_t d = 0; d < padding.size(); ++d) {
    const int64_t size = at.operand(0)->shape().dimension(static_cast<int64_t>(d));
    const int64_t low = padding[d].low, high = padding[d].high;
    const bool is_wide = std::max(std::abs(low), std::abs(high)) >= size - 1;
    if (size > 1 && low != 0 && high != 0 && is_wide) return true;
  }
  return false;
}

template <bool kOverItsEnd>
bool SliceOfBothEdges(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kSlice)) return false;
  const absl::Span<const SliceRange> ranges = at.attributes().SliceRanges(Attr::kSlice);
  for (size_t d = 0; d < ranges.size(); ++d) {
    const int64_t size = at.operand(0)->shape().dimension(static_cast<int64_t>(d));
    const int64_t length = ranges[d].limit - ranges[d].start;
    if (kOverItsEnd && length > 1 && ranges[d].stride >= length - 1 && ranges[d].stride > 1)
      return true;
    const bool is_within = ranges[d].start > 0 && ranges[d].limit < size;
    if (!kOverItsEnd && is_within && ranges[d].stride > 1) return true;
  }
  return false;
}

bool WindowOfWideEdges(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kReduceWindow)) return false;
  for (const WindowDim& dim : at.attributes().Window(Attr::kWindow)) {
    const int64_t extent = (dim.size - 1) * dim.window_dilation + 1;
    const bool is_wide = std::max(std::abs(dim.low), std::abs(dim.high)) >= extent - 1;
    if (dim.size > 1 && dim.low != 0 && dim.high != 0 && is_wide) return true;
  }
  return false;
}

bool EdgesOnEdges(const Case&, const Instruction& at) {
  return HasEdges(at.opcode()) && at.operand_count() > 0 && HasEdges(at.operand(0)->opcode());
}

// Finds the read, a few ops before, that the update came from; it reads the array that is written
// to.
const Instruction* ReadBefore(const Instruction& update, const Instruction* array) {
  const Instruction* at = &update;
  for (int depth = 0; depth < 4 && at->operand_count() > 0; ++depth) {
    const bool reads = Is(*at, Opcode::kSlice) || Is(*at, Opcode::kDynamicSlice);
    if (reads && at->operand(0) == array) return at;
    at = at->operand(0);
  }
  return nullptr;
}

enum class Written : uint8_t { kWhole, kInPart, kGrown };

template <Written kHow>
bool WrittenBack(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kDynamicUpdateSlice)) return false;
  const Instruction* read = ReadBefore(*at.operand(1), at.operand(0));
  if (read == nullptr) return false;
  bool is_cut = false, has_grown = false;
  for (int64_t d = 0; d < at.shape().rank(); ++d) {
    is_cut |= at.operand(1)->shape().dimension(d) < read->shape().dimension(d);
    has_grown |= at.operand(1)->shape().dimension(d) > read->shape().dimension(d);
  }
  return kHow == Written::kWhole    ? !is_cut && !has_grown
         : kHow == Written::kInPart ? is_cut
                                    : has_grown;
}

// ---- Sizes and layouts.

bool IsBesidePower(int64_t size) {
  const auto bits = static_cast<uint64_t>(size);
  return std::has_single_bit(bits) || std::has_single_bit(bits + 1) ||
         (size > 1 && std::has_single_bit(bits - 1));
}

template <int64_t kLeast>
bool BesidePower(const Case&, const Instruction& at) {
  if (!at.shape().IsArray() || at.shape().rank() < 1) return false;
  return std::any_of(at.shape().dimensions().begin(), at.shape().dimensions().end(),
                     [](int64_t size) { return size >= kLeast && IsBesidePower(size); });
}

bool LongAmongSmall(const Case&, const Instruction& at) {
  if (!at.shape().IsArray() || at.shape().rank() < 3) return false;
  int64_t longest = 0, rest = 1;
  for (int64_t size : at.shape().dimensions()) longest = std::max(longest, size);
  for (int64_t size : at.shape().dimensions()) rest = std::max(rest, size == longest ? 1 : size);
  return longest >= 127 && rest > 1 && rest <= 4;
}

bool LayoutAndChannel(const Case&, const Instruction& at) {
  if (!at.shape().IsArray() || at.shape().rank() < 2 || at.shape().layout().IsRowMajor())
    return false;
  const int64_t fastest = at.shape().dimension(at.shape().layout().minor_to_major()[0]);
  return fastest >= 7 && IsBesidePower(fastest);
}

// ---- Types.

bool BelowAByte(const Case&, const Instruction& at) {
  if (at.operand_count() == 0 || !at.operand(0)->shape().IsArray()) return false;
  const ElementType type = at.operand(0)->shape().element_type();
  if (IsPred(type) || BitWidth(type) >= 8) return false;
  const Shape* result = &at.shape();
  while (result->IsTuple() && !result->elements().empty()) result = &result->elements().back();
  return result->IsArray() && result->element_type() != type;
}

// ---- Loops and selections.

bool SharesItsBody(const Case& made, const Instruction& at) {
  if (!Is(at, Opcode::kWhile)) return false;
  int64_t loops = 0;
  for (const Instruction* caller : made.module->Callers(at.callee(1)))
    loops += Is(*caller, Opcode::kWhile) ? 1 : 0;
  return loops > 1;
}

bool SelectsOverSeveral(const Case&, const Instruction& at) {
  if (!Is(at, Opcode::kReduce) || at.operand_count() < 4) return false;
  int64_t several = 0;
  for (int64_t d : at.attributes().Integers(Attr::kDimensions))
    several += at.operand(0)->shape().dimension(d) > 1 ? 1 : 0;
  return several > 1;
}

std::optional<int64_t> ValueOf(const Case& made, const Instruction& scalar) {
  if (scalar.literal() != nullptr) return scalar.literal()->GetInteger(0);
  const bool is_given = Is(scalar, Opcode::kParameter) && scalar.parent() == made.module->entry();
  if (!is_given) return std::nullopt;
  return made.inputs[static_cast<size_t>(scalar.parameter_number())].GetInteger(0);
}

// A counter of 8 or 16 bits that reaches an end of its type within a few steps.
bool CounterMeetsItsEnd(const Case& made, const Instruction& at) {
  if (!Is(at, Opcode::kWhile) || !Is(*at.operand(0), Opcode::kTuple)) return false;
  const Instruction* next = at.callee(1)->root();
  if (!Is(*next, Opcode::kTuple)) return false;
  for (int64_t k = 0; k < next->operand_count(); ++k) {
    const Instruction& step = *next->operand(k);
    const bool steps = Is(step, Opcode::kAdd) || Is(step, Opcode::kSubtract);
    if (!steps || !step.shape().IsScalar() || !IsIndexType(step.shape().element_type())) continue;
    const ElementType type = step.shape().element_type();
    if (BitWidth(type) > 16 || step.operand(1)->literal() == nullptr) continue;
    const std::optional<int64_t> start = ValueOf(made, *at.operand(0)->operand(k));
    if (!start.has_value()) continue;
    int64_t by = step.operand(1)->literal()->GetInteger(0);
    if (Is(step, Opcode::kSubtract)) by = -by;
    constexpr int64_t kFewSteps = 3;
    const int64_t after = *start + kFewSteps * by;
    if (after > MaxOf(type) || after < MinOf(type)) return true;
  }
  return false;
}

// ---- Matrices.

bool LargeFactors(const Case&, const Instruction& at) {
  const bool factors =
      Is(at, Opcode::kCholesky) || Is(at, Opcode::kTriangularSolve) || Is(at, Opcode::kCustomCall);
  if (!factors || at.operand_count() == 0 || !at.operand(0)->shape().IsArray()) return false;
  const Shape& matrix = at.operand(0)->shape();
  return matrix.rank() >= 2 && matrix.dimension(matrix.rank() - 1) >= 31 &&
         matrix.dimension(matrix.rank() - 1) == matrix.dimension(matrix.rank() - 2);
}

constexpr Conjunction kConjunctions[] = {
    {{kConjunction, "pad with two edges as wide as its dimension", PadOfWideEdges}, 4, 1},
    {{kConjunction, "strided slice within both ends", SliceOfBothEdges<false>}, 4, 1},
    {{kConjunction, "slice with a stride as long as its range", SliceOfBothEdges<true>}, 4, 1},
    {{kConjunction, "window with two edges as wide as itself", WindowOfWideEdges}, 2, 1},
    {{kConjunction, "edges or indices on edges or indices", EdgesOnEdges}, 100, 20},
    {{kConjunction, "written back whole", WrittenBack<Written::kWhole>}, 4, 1},
    {{kConjunction, "written back in part", WrittenBack<Written::kInPart>}, 2, 0.5},
    {{kConjunction, "written back grown", WrittenBack<Written::kGrown>}, 2, 0.5},
    {{kConjunction, "dimension beside a power of two from 2^8 on", BesidePower<255>}, 50, 50},
    {{kConjunction, "dimension beside a power of two from 2^12 on", BesidePower<4095>}, 4, 20},
    {{kConjunction, "one long dimension among small ones", LongAmongSmall}, 10, 10},
    {{kConjunction, "layout and the size of its fastest dimension", LayoutAndChannel}, 4, 1},
    {{kConjunction, "operand below a byte, result of another type", BelowAByte}, 10, 5},
    {{kConjunction, "two loops with one body", SharesItsBody}, 3, 1},
    {{kConjunction, "selection over several dimensions", SelectsOverSeveral}, 3, 0.5},
    {{kConjunction, "short counter that meets the end of its type", CounterMeetsItsEnd}, 3, 0.5},
    {{kConjunction, "factors of a matrix of order 31 and more", LargeFactors}, 1, 0.2},
};

}  // namespace

absl::Span<const Conjunction> AllConjunctions() { return kConjunctions; }

bool HasEdges(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kConcatenate:
    case Opcode::kReverse:
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kReduceWindow:
    case Opcode::kIota:
    case Opcode::kConvolution:
    case Opcode::kSelectAndScatter:
      return true;
    default:
      return false;
  }
}

}  // namespace assay
