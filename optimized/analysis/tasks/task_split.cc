// Finds what threads can cut of each kind of kernel, and counts tasks by its work.
#include "optimized/analysis/tasks/task_split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "optimized/analysis/tasks/work_estimate.h"
#include "optimized/analysis/walks/walks.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"

namespace assay {
namespace {

constexpr int64_t kParallelWork = 1 << 17;  // below this a split costs more than it gains
constexpr int64_t kMostTasks = 256;
constexpr std::string_view kNote = "outer_dimension_partitions";

// Widest element that takes part; nullopt if one of them has no lanes.
std::optional<int> WidestBits(const Instruction& instruction) {
  std::optional<int> bits = 8;
  const auto consider = [&](const Shape& shape) {
    ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (!leaf.IsArray() || !bits) return;
      if (IsComplex(leaf.element_type())) {
        bits = std::nullopt;
      } else {
        bits = std::max(*bits, BitWidth(leaf.element_type()));
      }
    });
  };
  // Index operands are scalars and need no lanes.
  const auto has_lanes = [](const Shape& shape) { return shape.IsTuple() || shape.rank() > 0; };
  consider(instruction.shape());
  for (const Instruction* operand : instruction.operands()) {
    if (has_lanes(operand->shape())) consider(operand->shape());
  }
  if (instruction.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : *instruction.callee()) {
      if (has_lanes(inner->shape())) consider(inner->shape());
    }
  }
  return bits;
}

bool IsKernel(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kOptBarrier:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
      return false;
    default:
      return true;
  }
}

// True of arrays of the entry's caller and of constants: nobody writes there.
bool IsForReading(const Instruction& array) {
  if (array.opcode() == Opcode::kConstant) return true;
  const Computation& computation = *array.parent();
  const Module& module = *computation.parent();
  return array.opcode() == Opcode::kParameter && module.entry() == &computation &&
         absl::c_none_of(module.config().input_output_alias, [&](const InputOutputAlias& alias) {
           return alias.parameter == array.parameter_number();
         });
}

// True if buffer assignment may give an update the memory of the array that it updates: nobody
// reads that later.
bool MayBeInPlace(const Instruction& update) {
  const Instruction& array = *update.operand(0);
  if (IsForReading(array) || update.parent()->root() == &array) return false;
  if (array.users().size() == 1) return true;
  const Computation& computation = *update.parent();
  std::vector<Instruction*> order = computation.PostOrder();
  if (computation.parent()->has_schedule()) order.assign(computation.begin(), computation.end());
  const auto at = absl::c_find(order, &update);
  return absl::c_none_of(array.users(), [&](const Instruction* user) {
    return user != &update && std::find(at, order.end(), user) != order.end();
  });
}

// The instructions whose results a kernel stores.
void AddOutputs(const Instruction& top, std::vector<const Instruction*>& outputs) {
  if (top.opcode() != Opcode::kTuple) {
    outputs.push_back(&top);
    return;
  }
  for (const Instruction* operand : top.operands()) AddOutputs(*operand, outputs);
}

TaskChoice ChooseTasksOfNest(const Instruction& kernel, const Target& target) {
  const bool is_fusion = kernel.opcode() == Opcode::kFusion;
  std::vector<const Instruction*> outputs;
  AddOutputs(is_fusion ? *kernel.callee()->root() : kernel, outputs);
  for (const Instruction* output : outputs) {
    const bool has_array = !output->shape().IsTuple() || LeafCount(output->shape()) > 0;
    if (!has_array || !FirstLeaf(output->shape()).IsArray()) return {0, {}, "no array is made"};
    if (!SameDimensions(FirstLeaf(output->shape()), FirstLeaf(outputs[0]->shape()))) {
      return {0, {}, "results of several sizes"};
    }
  }
  if (outputs.empty()) return {0, {}, "no array is made"};
  Walks walks;
  for (const Instruction* operand : kernel.operands()) walks.AddSource({nullptr, operand});
  const CallFrame* frame = is_fusion ? walks.CalleeFrame({nullptr, &kernel}) : nullptr;
  const bool is_linear = absl::c_all_of(outputs, [&](const Instruction* output) {
    return output->shape().IsArray() && walks.CanWalkLinearly({frame, output});
  });
  return {0, SpanOfNest(kernel, *outputs[0], FirstLeaf(kernel.shape()), is_linear, target), ""};
}

// Everything but the count.
TaskChoice FindSpan(const Instruction& kernel, const Target& target) {
  if (target.IsNative(kernel.opcode())) return {0, {}, "the runtime makes it as a whole"};
  if (target.contraction != nullptr) {
    if (const std::optional<ContractionCode> code = target.contraction(kernel, target)) {
      if (!code->library_call.empty()) return {0, {}, "the library shares its own work"};
      return {0, SpanOfContraction(kernel, *code), ""};
    }
  }
  if (const std::optional<CumulativeWindow> window = RecogniseCumulative(kernel)) {
    return {0, SpanOfCumulative(kernel, *window, target), ""};
  }
  if (kernel.opcode() == Opcode::kDynamicUpdateSlice && MayBeInPlace(kernel)) {
    return {0, {}, "an update in place"};
  }
  const Instruction& top = kernel.opcode() == Opcode::kFusion ? *kernel.callee()->root() : kernel;
  if (top.opcode() == Opcode::kConcatenate) return {0, {}, "pieces are copied one by one"};
  return ChooseTasksOfNest(kernel, target);
}

int64_t CountTasks(const TaskSpan& span) {
  const int64_t parts = std::min<int64_t>(span.work / kParallelWork + 1, kMostTasks);
  const int64_t grain = (span.extent / parts + span.unit) / span.unit * span.unit;
  return (span.extent + grain - 1) / grain;
}

}  // namespace

int ElementsPerVector(const Instruction& instruction, int vector_bits) {
  const std::optional<int> widest = WidestBits(instruction);
  return widest ? std::max(1, vector_bits / *widest) : 1;
}

int64_t TransposedDim(const Instruction& instruction) {
  const Shape& shape =
      instruction.shape().IsTuple() ? instruction.shape().elements()[0] : instruction.shape();
  const auto dim_of = [&](const Instruction& inner) -> int64_t {
    if (inner.opcode() != Opcode::kTranspose || !SameDimensions(inner.shape(), shape)) return -1;
    const absl::Span<const int64_t> from = inner.attributes().Integers(Attr::kDimensions);
    int64_t innermost = shape.rank() - 1, source = shape.rank() - 1;
    while (innermost > 0 && shape.dimension(innermost) == 1) --innermost;
    while (source > 0 && inner.operand(0)->shape().dimension(source) == 1) --source;
    for (int64_t d = 0; d < innermost; ++d) {
      if (from[d] == source) return d;
    }
    return -1;
  };
  if (instruction.opcode() != Opcode::kFusion) return dim_of(instruction);
  for (const Instruction* inner : *instruction.callee()) {
    if (const int64_t dim = dim_of(*inner); dim >= 0) return dim;
  }
  return -1;
}

int64_t OutermostDim(const Shape& shape) {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) != 1) return d;
  }
  return -1;
}

int TileSide(const Shape& shape, const Target& target) {
  return std::max(8, target.line_bits / BitWidth(shape.element_type()));
}

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

TaskSpan SpanOfContraction(const Instruction& kernel, const ContractionCode& code) {
  const int64_t extent = code.split_dim < 0 ? 1 : kernel.shape().dimension(code.split_dim);
  return {extent, /*unit=*/4, kernel.shape().ElementCount() * WorkPerElement(kernel)};
}

TaskSpan SpanOfCumulative(const Instruction& kernel, const CumulativeWindow& window,
                          const Target& target) {
  constexpr int64_t kColumns = 16;  // side by side they fill the lines of a cache
  const LineSizes sizes = LineSizes::Of(kernel, window);
  const int64_t unit = sizes.splits_columns() ? kColumns : 1;
  const bool is_long = sizes.extent() > 64 * target.Workers(kThreads);
  return {sizes.extent(), is_long ? 64 : unit, kernel.operand(0)->shape().ElementCount()};
}

TaskSpan SpanOfNest(const Instruction& kernel, const Instruction& output, const Shape& result,
                    bool is_linear, const Target& target) {
  TaskSpan span;
  span.work = result.ElementCount() * WorkPerElement(kernel);
  const int64_t outer = OutermostDim(result);
  const int64_t rows = outer < 0 ? 1 : result.dimension(outer);
  const bool innermost = outer >= 0 && result.ElementCount() == rows;
  span.extent = is_linear ? result.ElementCount() : rows;
  // Parts that begin on a whole vector keep the vector loop on the same elements for every split;
  // those of a transpose along its rows are whole tiles.
  span.unit = is_linear || innermost ? kPartUnit : 1;
  if (span.unit == 1 && outer >= 0 && TransposedDim(kernel) == outer) {
    span.unit = TileSide(result, target);
  }
  // Columns are walked in wider vectors, of which no part may cut one.
  const int width = ElementsPerVector(kernel, target.vector_bits);
  if (innermost && ReducesColumns(output, width)) {
    span.unit = std::max<int64_t>(span.unit, kColumnVectors * width);
  }
  return span;
}

TaskChoice ChooseTasks(const Instruction& instruction, const Target& target) {
  if (!IsKernel(instruction)) return {};
  TaskChoice choice = FindSpan(instruction, target);
  if (!choice.why.empty()) return choice;
  const TaskSpan& span = choice.span;
  if (span.work < kParallelWork) {
    choice.why = "too little work";
  } else if (span.extent < 2 * span.unit || CountTasks(span) < 2) {
    choice.why = "too few rows";
  } else {
    choice.tasks = CountTasks(span);
    choice.why = "by its work";
  }
  return choice;
}

SplitPlan PlanSplit(const TaskSpan& span, int64_t tasks) {
  SplitPlan split;
  split.extent = span.extent;
  if (tasks < 2 || span.extent < 2 * span.unit) return split;
  split.is_worthwhile = true;
  const int64_t least = (span.extent + tasks - 1) / tasks;
  split.grain = (least + span.unit - 1) / span.unit * span.unit;
  return split;
}

int64_t NotedTasks(const Instruction& kernel) {
  const std::string& config = kernel.attributes().String(Attr::kBackendConfig);
  if (config.find(kNote) == std::string::npos) return 0;
  const auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains(kNote) || !json.at(kNote).is_array()) return 0;
  int64_t tasks = 1;
  for (const auto& count : json.at(kNote)) {
    int64_t number = 0;
    if (!count.is_string() || !absl::SimpleAtoi(count.get<std::string>(), &number) || number < 1) {
      return 0;
    }
    tasks = std::min(tasks * std::min(number, kMostTasks), kMostTasks);
  }
  return tasks < 2 ? 0 : tasks;
}

void NoteTasks(Instruction* kernel, int64_t tasks) {
  const std::string& config = kernel->attributes().String(Attr::kBackendConfig);
  auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) json = nlohmann::json::object();
  json.erase(std::string(kNote));
  if (tasks > 0) json[std::string(kNote)] = {StrCat(tasks)};
  if (json.empty()) {
    kernel->mutable_attributes().Remove(Attr::kBackendConfig);
  } else {
    kernel->mutable_attributes().Set(Attr::kBackendConfig, json.dump());
  }
}

const Instruction* OutlinedKernel(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCall || NotedTasks(instruction) < 2) return nullptr;
  const Instruction* kernel = instruction.callee()->root();
  if (!IsKernel(*kernel) || kernel->operand_count() != instruction.operand_count()) return nullptr;
  for (int64_t k = 0; k < kernel->operand_count(); ++k) {
    const Instruction* operand = kernel->operand(k);
    if (operand->opcode() != Opcode::kParameter || operand->parameter_number() != k) return nullptr;
  }
  return kernel;
}

}  // namespace assay
