// Finds the uses of a program on which implementations of HLO may differ.
#include "fuzz/portable.h"

#include <array>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "spec/attributes/attribute_words.h"
#include "spec/ir/reading/called_instead.h"
#include "spec/ir/reading/combiner.h"
#include "spec/ops/combiners.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int64_t kMostInstructionsOfReducer = 16;  // Uses visits paths

// True if `at` depends on parameter `number`.
bool Uses(const Instruction* at, int64_t number) {
  if (at->opcode() == Opcode::kParameter) return at->parameter_number() == number;
  for (const Instruction* operand : at->operands()) {
    if (Uses(operand, number)) return true;
  }
  return false;
}

const Instruction* SkipConverts(const Instruction* at) {
  while (at->opcode() == Opcode::kConvert) at = at->operand(0);
  return at;
}

// The number of times that each parameter is combined with the rest; nothing where something else
// is.
using Appearances = std::optional<std::array<int64_t, 2>>;

// Counts in a tree of nothing but `combiner`, its identities and the two parameters.
Appearances CountParameters(const Instruction* at, Opcode combiner) {
  at = SkipConverts(at);
  std::array<int64_t, 2> count = {0, 0};
  if (at->opcode() == Opcode::kParameter) {
    ++count[static_cast<size_t>(at->parameter_number())];
    return count;
  }
  if (at->opcode() == Opcode::kConstant)
    return IsIdentity(*at->literal(), combiner) ? Appearances(count) : std::nullopt;
  if (at->opcode() != combiner) return std::nullopt;
  for (const Instruction* operand : at->operands()) {
    const Appearances more = CountParameters(operand, combiner);
    if (!more.has_value()) return std::nullopt;
    for (size_t i = 0; i < count.size(); ++i) count[i] += (*more)[i];
  }
  return count;
}

// The op by which `result` combines two parameters, each once or as often as matters nothing;
// nullopt for other forms.
std::optional<Opcode> CombinerIn(const Instruction* result) {
  const Computation& reducer = *result->parent();
  if (reducer.parameter_count() != 2 || reducer.instruction_count() > kMostInstructionsOfReducer) {
    return std::nullopt;
  }
  const Opcode combiner = SkipConverts(result)->opcode();
  if (!Info(combiner).Is(kAssociative)) return std::nullopt;
  const Appearances count = CountParameters(result, combiner);
  if (!count.has_value()) return std::nullopt;
  const bool is_combined = (*count)[0] > 0 && (*count)[1] > 0;
  const bool is_once = (*count)[0] == 1 && (*count)[1] == 1;
  return is_once || (is_combined && IsIdempotent(combiner)) ? std::optional(combiner)
                                                            : std::nullopt;
}

std::optional<Opcode> CombinerOf(const Computation& reducer) {
  const std::optional<Opcode> read = ReadCombiner(reducer);
  return read.has_value() ? read : CombinerIn(CalledInstead(reducer).root());
}

const Literal* ValueOf(const Instruction* init, const std::vector<Literal>& inputs) {
  if (init->opcode() == Opcode::kConstant) return init->literal();
  bool input =
      init->opcode() == Opcode::kParameter && init->parent() == init->parent()->parent()->entry();
  if (!input || init->parameter_number() >= static_cast<int64_t>(inputs.size())) return nullptr;
  return &inputs[init->parameter_number()];
}

// True if every result is made of one element, beside which an initial value may be dropped.
bool ReducesOneElement(const Instruction* reduce) {
  const Shape& from = reduce->operand(0)->shape();
  return absl::c_all_of(reduce->attributes().Integers(Attr::kDimensions),
                        [&](int64_t d) { return from.dimension(d) == 1; });
}

bool IsPortableReduce(const Instruction* reduce, const std::vector<Literal>& inputs) {
  // Variadic forms have no simple identity.
  if (reduce->operand_count() != 2) return !ReducesOneElement(reduce);
  std::optional<Opcode> combiner = CombinerOf(*reduce->callee());
  const Literal* init = ValueOf(reduce->operand(1), inputs);
  return combiner && init != nullptr && init->shape().IsArray() && IsIdentity(*init, *combiner);
}

// Beside windows of one element, and in padding, an initial value may be dropped.
bool IsPortableWindow(const Instruction* window, const std::vector<Literal>& inputs) {
  if (window->operand_count() != 2) return true;  // as variadic reductions of several elements
  const std::optional<Opcode> combiner = CombinerOf(*window->callee());
  const Literal* init = ValueOf(window->operand(1), inputs);
  return combiner && init != nullptr && init->shape().IsArray() && IsIdentity(*init, *combiner);
}

// True if what is scattered to one place is combined in a way that has no order and no sides: XLA
// gives the combiner the two in the other order than the document says.
bool IsPortableSelectAndScatter(const Instruction* scatter) {
  const bool is_nothing_scattered = scatter->operand(1)->shape().ElementCount() == 0;
  return is_nothing_scattered || CombinerOf(*scatter->callees().back()).has_value();
}

// True if what is said to be associative combines all there is: the next carry, which is also the
// output.
bool IsPortableScan(const Instruction* scan) {
  if (!scan->attributes().Flag(Attr::kIsAssociative)) return true;
  const Computation& body = *scan->callee();
  const Instruction* root = body.root();
  const bool is_one = root->opcode() == Opcode::kTuple && root->operand_count() == 2 &&
                      root->operand(0) == root->operand(1);
  return is_one && CombinerIn(root->operand(0)).has_value();
}

// True if the comparator is one of two elements and tells equal ones from smaller ones, or says
// that all are equal: sorting by anything else is no order, and an implementation may do with it
// what it likes.
bool IsPortableSort(const Instruction* sort) {
  constexpr int64_t kMaxInstructions = 16;  // Uses visits paths
  const Computation& comparator = *sort->callee();
  const Instruction* root = comparator.root();
  if (comparator.instruction_count() > kMaxInstructions) return true;
  if (root->literal() != nullptr) return root->literal()->GetInteger(0) == 0;
  if (root->opcode() == Opcode::kCompare) {
    const auto direction = static_cast<Direction>(root->attributes().Integer(Attr::kDirection));
    if (direction != Direction::kLt && direction != Direction::kGt) return false;
  }
  for (int64_t k = 0; k + 1 < comparator.parameter_count(); k += 2) {
    if (Uses(root, k) && Uses(root, k + 1)) return true;
  }
  return false;
}

bool IsPortable(const Instruction* at, const std::vector<Literal>& inputs) {
  switch (at->opcode()) {
    case Opcode::kReduce:
      return IsPortableReduce(at, inputs);
    case Opcode::kReduceWindow:
      return IsPortableWindow(at, inputs);
    case Opcode::kSelectAndScatter:
      return IsPortableSelectAndScatter(at);
    case Opcode::kSort:
      return IsPortableSort(at);
    case Opcode::kScan:
      return IsPortableScan(at);
    default:
      return true;
  }
}

// True if the called computation says in more words than these functions understand what it does:
// it is long, calls others, or combines both of its operands in another way than by one op alone.
bool MayBePortable(const Instruction* at) {
  const Computation& called = CalledInstead(*at->callees().back());
  if (called.instruction_count() > kMostInstructionsOfReducer) return true;
  if (absl::c_any_of(called, [](const Instruction* inner) { return !inner->callees().empty(); }))
    return true;
  if (at->opcode() == Opcode::kSort || at->opcode() == Opcode::kScan) return false;
  const Instruction* root = SkipConverts(called.root());
  return called.parameter_count() == 2 && Uses(root, 0) && Uses(root, 1) &&
         !CountParameters(root, root->opcode()).has_value();
}

}  // namespace

UnportableCount UnportableUses(const Module& module, const std::vector<Literal>& inputs) {
  UnportableCount count;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (IsPortable(at, inputs)) continue;
      ++(MayBePortable(at) ? count.possible : count.certain);
    }
  }
  return count;
}

}  // namespace assay
