// Finds the steps that run together, a block of elements at a time, cuts their operands and puts
// their results together.
#include "reference/interpreter/blockwise.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "reference/bounds/elements.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Elements of a block: few enough that the blocks of some values stay in the processor's cache, and
// enough that the cost of a step beside its elements does not show.
constexpr int64_t kBlock = 2048;
constexpr int64_t kLeastBlocks = 4;  // in an array that is worth it
constexpr size_t kMostSteps = 64;    // at a time; their operands and results are all held

bool IsScalar(const Shape& shape) { return shape.IsArray() && shape.rank() == 0; }

bool HasCount(const Shape& shape, int64_t count) {
  return shape.IsArray() && shape.ElementCount() == count;
}

// True if all that is known of the elements can be cut into blocks.
bool IsBoundsOnly(const Facts& facts) {
  return facts.choices.empty() && facts.forms.empty() && facts.origins.empty();
}

// Marks the steps of [first, end) whose results other steps read, or are the root.
std::vector<bool> ReadLater(const Plan& plan, size_t first, size_t end) {
  std::vector<bool> later(end - first, true);
  for (size_t number = first; number < end; ++number)
    for (int at : plan.steps[number].dead_after)
      if (static_cast<size_t>(at) >= first) later[static_cast<size_t>(at) - first] = false;
  return later;
}

Array CutBlock(const Array& whole, int64_t begin, int64_t count) {
  const ElementType type = whole.literal.element_type();
  Array block{Literal(Shape::Array(type, {count}))};
  const auto bytes = static_cast<int64_t>(StorageBytes(type));
  std::memcpy(block.literal.bytes().data(), whole.literal.bytes().data() + begin * bytes,
              static_cast<size_t>(count * bytes));
  const Facts& from = whole.facts();
  Facts& facts = block.facts();
  facts.significand = from.significand;
  facts.nan_bits = from.nan_bits;
  if (from.bounds.empty()) return block;
  const int64_t width = BoundsPerElement(type);
  facts.bounds.assign(from.bounds.begin() + begin * width,
                      from.bounds.begin() + (begin + count) * width);
  return block;
}

// Writes a block into a whole whose elements before it are there. The bounds of the whole are made
// when the first block has some.
void Paste(const Array& block, int64_t begin, Array& whole) {
  const ElementType type = whole.literal.element_type();
  std::memcpy(whole.literal.bytes().data() + begin * static_cast<int64_t>(StorageBytes(type)),
              block.literal.bytes().data(), block.literal.bytes().size());
  const Facts& from = block.facts();
  Facts& to = whole.facts();
  to.significand = std::min(to.significand, from.significand);
  to.nan_bits = from.nan_bits && (begin == 0 || to.nan_bits);
  for (const auto& [i, codes] : from.choices) to.choices.emplace(begin + i, codes);
  if (from.bounds.empty() && to.bounds.empty()) return;
  const ElementBound forced{0, 0, 0, kForced};
  const int64_t width = BoundsPerElement(type);
  if (to.bounds.empty()) {
    to.bounds.reserve(static_cast<size_t>(whole.literal.component_count()));
    to.bounds.assign(static_cast<size_t>(begin * width), forced);
  }
  if (from.bounds.empty()) {
    to.bounds.resize(static_cast<size_t>((begin + block.literal.element_count()) * width), forced);
  } else {
    to.bounds.insert(to.bounds.end(), from.bounds.begin(), from.bounds.end());
  }
}

// Steps that run together, with the places of their operands: blocks of this run, or whole scalars.
class Blockwise {
 public:
  Blockwise(const Plan& plan, size_t first, size_t end, std::vector<Value>& values)
      : values_(values), count_(plan.steps[first].instruction->shape().ElementCount()) {
    const std::vector<bool> later = ReadLater(plan, first, end);
    std::vector<size_t> last_reader;
    auto place = [&](size_t at) {
      auto [found, is_new] = places_.emplace(at, places_.size());
      if (is_new) last_reader.push_back(0);
      return found->second;
    };
    for (size_t number = first; number < end; ++number) {
      const Plan::Step& step = plan.steps[number];
      if (step.IsLeaf()) continue;
      Part part{&step, step.instruction->shape()};
      for (int operand : step.operands) {
        const auto at = static_cast<size_t>(operand);
        if (IsScalar(plan.steps[at].instruction->shape())) {
          part.operands.push_back({-1, &values[at]});
          continue;
        }
        if (!places_.contains(at)) part.cuts.push_back({place(at), values[at].array.get()});
        part.operands.push_back({static_cast<int>(place(at)), nullptr});
        last_reader[place(at)] = parts_.size();
      }
      part.place = place(number);
      last_reader[part.place] = parts_.size();
      if (later[number - first]) {
        part.output = static_cast<int>(outputs_.size());
        outputs_.push_back({number, &part.step->instruction->shape(), {}});
      }
      parts_.push_back(std::move(part));
    }
    for (size_t k = 0; k < last_reader.size(); ++k) parts_[last_reader[k]].dead.push_back(k);
    blocks_.resize(places_.size());
  }

  absl::Status Run(MemoryMeter& memory, ApplyStep apply) {
    ASSAY_RETURN_IF_ERROR(MakeOutputs(memory));
    for (int64_t begin = 0; begin < count_; begin += kBlock) {
      const int64_t count = std::min(kBlock, count_ - begin);
      for (Part& part : parts_) {
        ASSAY_RETURN_IF_ERROR(RunPart(part, begin, count, memory, apply));
      }
    }
    for (Output& output : outputs_)
      values_[output.number] = MakeValue(*std::move(output.array), memory);
    return absl::OkStatus();
  }

 private:
  struct Operand {
    int place;            // of a block
    const Value* scalar;  // or this
  };
  struct Cutting {
    size_t place;
    const Array* whole;
  };
  struct Part {
    const Plan::Step* step;
    Shape shape;  // of the block
    std::vector<Operand> operands;
    std::vector<Cutting> cuts;  // blocks that it is the first to read
    std::vector<size_t> dead;   // blocks that it is the last to read
    size_t place = 0;           // of its result
    int output = -1;
  };
  struct Output {
    size_t number;  // of its step
    const Shape* shape;
    std::optional<Array> array;
  };

  absl::Status MakeOutputs(const MemoryMeter& memory) {
    int64_t all = 0;
    for (Output& output : outputs_) {
      const int64_t bounds = BoundsPerElement(output.shape->element_type()) * count_ *
                             static_cast<int64_t>(sizeof(ElementBound));
      for (int64_t need : {output.shape->ByteSize(), bounds}) {
        constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
        all = need > kMost - all ? kMost : all + need;
        ASSAY_RETURN_IF_ERROR(memory.Check(all));
      }
      output.array.emplace(Literal(*output.shape));
    }
    return absl::OkStatus();
  }

  absl::Status RunPart(Part& part, int64_t begin, int64_t count, MemoryMeter& memory,
                       ApplyStep apply) {
    for (const Cutting& cut : part.cuts)
      blocks_[cut.place] = MakeValue(CutBlock(*cut.whole, begin, count), memory);
    absl::InlinedVector<const Value*, 4> operands;
    for (const Operand& operand : part.operands)
      operands.push_back(operand.scalar != nullptr ? operand.scalar : &blocks_[operand.place]);
    if (begin == 0 || count < kBlock) part.shape = Shape::Array(part.shape.element_type(), {count});
    ASSAY_ASSIGN_OR_RETURN(Value value, apply(*part.step, part.shape, operands));
    if (part.output >= 0) Paste(*value.array, begin, *outputs_[part.output].array);
    blocks_[part.place] = std::move(value);
    for (size_t place : part.dead) blocks_[place] = Value();
    return absl::OkStatus();
  }

  std::vector<Value>& values_;
  const int64_t count_;
  absl::flat_hash_map<size_t, size_t> places_;  // of the steps' results among the blocks
  std::vector<Part> parts_;
  std::vector<Output> outputs_;
  std::vector<Value> blocks_;
};

}  // namespace

bool IsElementByElement(const Plan::Step& step) {
  const Instruction& instruction = *step.instruction;
  if (step.evaluation.general->evaluate == nullptr || !instruction.shape().IsArray()) return false;
  const bool is_scalars_broadcast =
      instruction.opcode() == Opcode::kBroadcast && IsScalar(instruction.operand(0)->shape());
  if (!Info(instruction.opcode()).Is(kElementwise) && !is_scalars_broadcast) return false;
  return std::all_of(instruction.operands().begin(), instruction.operands().end(),
                     [count = instruction.shape().ElementCount()](const Instruction* operand) {
                       return IsScalar(operand->shape()) || HasCount(operand->shape(), count);
                     });
}

size_t EndOfBlockwiseSteps(const Plan& plan, size_t first, absl::Span<const Value> values) {
  const int64_t count = plan.steps[first].instruction->shape().ElementCount();
  if (count < kLeastBlocks * kBlock) return first;
  size_t end = first, steps = 0;
  for (size_t number = first; number < plan.steps.size(); ++number) {
    const Plan::Step& step = plan.steps[number];
    if (step.IsLeaf()) continue;
    const bool is_like_first = step.in_blocks && step.instruction->shape().ElementCount() == count;
    if (steps == kMostSteps || !is_like_first) break;
    const bool all_cut = std::all_of(step.operands.begin(), step.operands.end(), [&](int at) {
      const Value& operand = values[at];
      // The results of the steps before are not there yet: of those, scalars are not read.
      if (operand.array == nullptr)
        return static_cast<size_t>(at) >= first && !IsScalar(plan.steps[at].instruction->shape());
      // An addition to the sums of a scatter has another form beside it, which has no blocks.
      return operand.scattered == nullptr && IsBoundsOnly(operand.array->facts());
    });
    if (!all_cut) break;
    ++steps;
    end = number + 1;
  }
  if (steps < 2) return first;
  // Without a value that stays inside there is nothing to gain.
  const std::vector<bool> later = ReadLater(plan, first, end);
  size_t outputs = 0;
  for (size_t number = first; number < end; ++number)
    if (!plan.steps[number].IsLeaf() && later[number - first]) ++outputs;
  return 2 * outputs <= steps ? end : first;
}

absl::Status RunBlockwise(const Plan& plan, size_t first, size_t end, MemoryMeter& memory,
                          ApplyStep apply, std::vector<Value>& values) {
  Blockwise run(plan, first, end, values);
  return run.Run(memory, apply);
}

}  // namespace assay::reference
