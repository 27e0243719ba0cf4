// One function per template says whether it fits, and how.
#include "optimized/gpu/templates/template_plan.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/analysis/walks/reductions.h"
#include "optimized/analysis/walks/row_kernels.h"
#include "optimized/analysis/walks/walks.h"
#include "optimized/gpu/templates/copied_strips.h"
#include "optimized/gpu/templates/dot_sizes.h"
#include "optimized/passes/fusion/attention_fusion.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay::gpu {
namespace {

constexpr int kAccessBits = 128;  // the widest that a thread moves at once
constexpr int64_t kWarp = 32, kBlock = 256;

// Rows shorter than this are summed by a thread each, longer ones than that by a block each.
constexpr int64_t kShortRow = 8, kLongRow = 1024;
// Fewer elements are not worth more than a thread per result.
constexpr int64_t kFewElements = 256;
constexpr int64_t kShortColumn = 32;
// Dots with a shorter side are computed by a thread per element.
constexpr int64_t kShortDot = 16;

int64_t SizeOf(const Shape& shape, absl::Span<const int64_t> dims) {
  int64_t size = 1;
  for (int64_t d : dims) size *= shape.dimension(d);
  return size;
}

class NestChooser {
 public:
  NestChooser(const KernelPlan& kernel, const NestPlan& nest, const Architecture& architecture,
              Gates& gates)
      : kernel_(kernel),
        nest_(nest),
        root_(*kernel.instruction),
        architecture_(architecture),
        gates_(gates) {
    for (const Instruction* operand : root_.operands()) walks_.AddSource({nullptr, operand});
    if (root_.opcode() == Opcode::kFusion) frame_ = walks_.CalleeFrame({nullptr, &root_});
  }

  TemplateChoice Choose() {
    if (written().ElementCount() == 0) return {};
    for (const auto& [rule, choose] :
         {std::pair("reduce-rows", &NestChooser::Rows),
          std::pair("reduce-columns", &NestChooser::Columns),
          std::pair("tensor-dot", &NestChooser::TensorTiles),
          std::pair("tile-dot", &NestChooser::DotTiles), std::pair("", &NestChooser::Transposed),
          std::pair("", &NestChooser::Vectors)}) {
      std::optional<TemplateChoice> choice = (this->*choose)();
      if (!choice.has_value()) continue;
      if (*rule == '\0') return *std::move(choice);  // the plan has asked
      const Permission permission = gates_.Allow(DecisionKind::kKernel, rule, &root_);
      if (!permission) continue;
      choice->bends = permission.bends();
      return *std::move(choice);
    }
    return {};
  }

  // For the whole kernel, whose results may be rows and single values of rows. Such fusions are
  // made for this template alone: a thread per element would fold its row anew.
  std::optional<TemplateChoice> RowFusion() {
    if (root_.opcode() != Opcode::kFusion || kernel_.form != KernelPlan::Form::kNests) {
      return std::nullopt;
    }
    TemplateChoice choice{.kind = KernelTemplate::kRowFusion,
                          .subjects = FoldsOfRows(*root_.callee())};
    if (choice.subjects.empty()) return std::nullopt;
    const Shape& rows = choice.subjects[0]->operand(0)->shape();
    const int64_t last = rows.rank() - 1, length = rows.dimension(last);
    choice.read_width = ReadWidth(choice.subjects, last);
    int outputs = 0, of_rows = 0;
    for (const NestPlan& nest : kernel_.nests) {
      for (const NestOutput& output : nest.outputs) {
        ++outputs;
        if (!SameDimensions(WrittenShape(*output.instruction), rows)) continue;
        ++of_rows;
        if (!WalksLanes(output.instruction, last)) choice.read_width = 1;
      }
    }
    const size_t turns = FoldsByTurn(*root_.callee()).size();
    // Reduces that read none of each other, and nothing else: what makes several does.
    if (of_rows == 0 && turns == 1) return std::nullopt;
    choice.write_width = choice.read_width;
    choice.team = length > kLongRow ? kBlock : kWarp;
    choice.reason = StrCat(length > kLongRow ? "a block" : "a warp", " for each row of ", length,
                           ", ", choice.subjects.size(), " reduces");
    if (turns != choice.subjects.size()) StrAppend(&choice.reason, " in ", turns, " turns");
    if (outputs > 1) StrAppend(&choice.reason, ", ", outputs, " results");
    return choice;
  }

  // Likewise.
  std::optional<TemplateChoice> Attention() {
    if (root_.opcode() != Opcode::kFusion || kernel_.form != KernelPlan::Form::kNests ||
        kernel_.nests.size() != 1 || nest_.outputs.size() != 1) {
      return std::nullopt;
    }
    const std::optional<RowAttention> found = AttentionOf(*root_.callee());
    if (!found.has_value()) return std::nullopt;
    const int64_t length = found->scores->shape().dimensions().back();
    if (length > AttentionFusion::kLongestRow) return std::nullopt;
    TemplateChoice choice{.kind = KernelTemplate::kAttention,
                          .subjects = {found->scores, found->weights, found->sums}};
    choice.team = kWarp;
    // Each warp keeps a row of both in shared memory.
    const int64_t bytes = length * (StorageBytes(found->scores->shape().element_type()) +
                                    StorageBytes(found->weights->shape().element_type()));
    while (choice.block_size > kWarp && choice.block_size / kWarp * bytes > kDeclaredSharedBytes) {
      choice.block_size /= 2;
    }
    choice.reason = StrCat("a warp for each row of ", length, " scores");
    return choice;
  }

 private:
  const Shape& written() const { return WrittenShape(*nest_.outputs[0].instruction); }
  int Width() const { return ElementsPerVector(root_, kAccessBits); }
  bool WalksLanes(const Instruction* instruction, int64_t dim) {
    return walks_.CanWalkLanes({frame_, instruction}, static_cast<int>(dim));
  }

  // The ops that `is_subject` names, behind nothing but element-wise ops: whoever knows their
  // values at an index knows the results there. Empty if one is read at another index, too.
  template <class IsSubject>
  std::vector<const Instruction*> Behind(const IsSubject& is_subject) const {
    std::vector<const Instruction*> subjects, left;
    absl::flat_hash_set<const Instruction*> seen;
    for (const NestOutput& output : nest_.outputs) left.push_back(output.instruction);
    while (!left.empty()) {
      const Instruction* at = left.back();
      left.pop_back();
      if (!seen.insert(at).second || walks_.IsSource({frame_, at})) continue;
      if (is_subject(*at)) {
        if (!SameDimensions(at->shape(), written())) return {};
        subjects.push_back(at);
      } else if (IsElementwise(at->opcode()) && SameDimensions(at->shape(), written())) {
        left.insert(left.end(), at->operands().begin(), at->operands().end());
      }
    }
    absl::c_sort(subjects,
                 [](const Instruction* a, const Instruction* b) { return a->name() < b->name(); });
    return subjects;
  }

  static bool IsFold(const Instruction& reduce) {
    return reduce.opcode() == Opcode::kReduce && !reduce.shape().IsTuple() &&
           CombinerOf(reduce).has_value() && !IsComplex(reduce.shape().element_type()) &&
           reduce.operand(0)->shape().ElementCount() > 0;
  }
  // Reduces of the same elements; empty: none, or others.
  std::vector<const Instruction*> Folds() const {
    std::vector<const Instruction*> folds = Behind(IsFold);
    for (const Instruction* fold : folds) {
      if (!SameDimensions(fold->operand(0)->shape(), folds[0]->operand(0)->shape()) ||
          ReduceDims::Of(*fold).reduced != ReduceDims::Of(*folds[0]).reduced) {
        return {};
      }
    }
    return folds;
  }
  // Elements that are read at once along dimension `dim` of what all of `folds` read.
  int ReadWidth(const std::vector<const Instruction*>& folds, int64_t dim) {
    int width = Width();
    for (const Instruction* fold : folds) {
      while (width > 1 && fold->operand(0)->shape().dimension(dim) % width != 0) width /= 2;
      if (!WalksLanes(fold->operand(0), dim)) width = 1;
    }
    return width;
  }

  std::optional<TemplateChoice> Rows() {
    TemplateChoice choice{.kind = KernelTemplate::kRows, .subjects = Folds()};
    if (choice.subjects.empty()) return std::nullopt;
    const Shape& from = choice.subjects[0]->operand(0)->shape();
    const ReduceDims dims = ReduceDims::Of(*choice.subjects[0]);
    if (dims.reduced.empty() || dims.reduced.back() != from.rank() - 1) return std::nullopt;
    const int64_t length = SizeOf(from, dims.reduced), rows = SizeOf(from, dims.kept);
    if (length < kShortRow || from.ElementCount() < kFewElements) return std::nullopt;
    choice.read_width = ReadWidth(choice.subjects, from.rank() - 1);
    if (length > kLongRow) {
      choice.team = kBlock;
      choice.reason = StrCat("a block for each row of ", length);
    } else {
      choice.team = 2;
      while (choice.team < kWarp && choice.team * choice.read_width < length) choice.team *= 2;
      choice.reason = StrCat(choice.team, " lanes for each row of ", length);
      choice.block_size = std::min(kBlock, (rows * choice.team + kWarp - 1) / kWarp * kWarp);
    }
    return choice;
  }

  std::optional<TemplateChoice> Columns() {
    TemplateChoice choice{.kind = KernelTemplate::kColumns, .subjects = Folds()};
    if (choice.subjects.empty()) return std::nullopt;
    const Shape& from = choice.subjects[0]->operand(0)->shape();
    const ReduceDims dims = ReduceDims::Of(*choice.subjects[0]);
    if (dims.reduced.empty() || dims.kept.empty() || dims.kept.back() != from.rank() - 1) {
      return std::nullopt;
    }
    const int64_t length = SizeOf(from, dims.reduced), columns = SizeOf(from, dims.kept);
    if (length < kShortColumn || from.dimension(from.rank() - 1) < kShortRow) return std::nullopt;
    const auto last = static_cast<int64_t>(dims.kept.size()) - 1;
    int width = ReadWidth(choice.subjects, from.rank() - 1);
    for (const NestOutput& output : nest_.outputs) {
      if (!WalksLanes(output.instruction, last)) width = 1;
    }
    // Wide only where enough blocks are left for the whole GPU.
    if (columns < 64 * kWarp * width) width = 1;
    choice.read_width = choice.write_width = width;
    choice.reason = StrCat("a warp for ", kWarp * width, " columns of ", length);
    return choice;
  }

  // Dots, and convolutions whose windows are the rows of one.
  static bool IsContraction(const Instruction& instruction) {
    if (instruction.opcode() == Opcode::kDot) return true;
    return instruction.opcode() == Opcode::kConvolution &&
           IsPlainConvolution(instruction.attributes()) &&
           instruction.attributes().Integer(Attr::kBatchGroupCount, 1) == 1;
  }
  static bool IsDot(const Instruction& instruction) {
    return IsContraction(instruction) && !InvolvesComplex(instruction);
  }
  static std::string_view KindOf(const Instruction& contraction) {
    return contraction.opcode() == Opcode::kConvolution ? " of windows" : "";
  }
  std::optional<TemplateChoice> DotTiles() {
    TemplateChoice choice{.kind = KernelTemplate::kDotTiles, .subjects = Behind(IsDot)};
    if (choice.subjects.size() != 1) return std::nullopt;
    const Instruction& dot = *choice.subjects[0];
    const DotSizes sizes = DotSizes::Of(dot);
    const int64_t rows = sizes.row_count, columns = sizes.column_count, depth = sizes.depth_count;
    const int64_t least = std::min(rows, columns);
    if (least < kShortDot || depth < kShortDot) return std::nullopt;
    choice.team = least >= 4 * kShortDot ? 4 : least >= 2 * kShortDot ? 2 : 1;
    choice.reason = StrCat("squares of ", 16 * choice.team, " of ", rows, " x ", columns, ", ",
                           depth, " contracted", KindOf(dot));
    const ElementType type = DotAccumulator(dot);
    CopyStripsAhead(walks_, frame_, {{type, type}, 16 * choice.team, kTileDepth}, choice);
    return choice;
  }

  std::optional<TemplateChoice> TensorTiles() {
    TemplateChoice choice{.kind = KernelTemplate::kTensorTiles,
                          .subjects = Behind([&](const Instruction& instruction) {
                            return IsContraction(instruction) &&
                                   TensorFormOf(instruction, architecture_).has_value();
                          })};
    if (choice.subjects.size() != 1) return std::nullopt;
    choice.tensor = *TensorFormOf(*choice.subjects[0], architecture_);
    const DotSizes sizes = DotSizes::Of(*choice.subjects[0]);
    const int64_t least = std::min(sizes.row_count, sizes.column_count);
    if (least < kShortDot || sizes.depth_count < kShortDot) return std::nullopt;
    choice.team = least >= 8 * kShortDot ? 2 : 1;
    choice.block_size = 4 * kWarp;
    choice.reason = StrCat("squares of ", 32 * choice.team, " of ", sizes.row_count, " x ",
                           sizes.column_count, ", ", sizes.depth_count, " contracted",
                           KindOf(*choice.subjects[0]), "; ", choice.tensor.reason);
    const TensorForm& form = choice.tensor;
    CopyStripsAhead(walks_, frame_,
                    {{form.types[0], form.types[1]}, 32 * choice.team, TensorDepth(form), true},
                    choice);
    return choice;
  }

  static bool IsTranspose(const Instruction& instruction) {
    return instruction.opcode() == Opcode::kTranspose;
  }
  std::optional<TemplateChoice> Transposed() {
    if (nest_.walk.kind != WalkPlan::kTiles) return std::nullopt;
    TemplateChoice choice{.kind = KernelTemplate::kTransposed, .subjects = Behind(IsTranspose)};
    if (choice.subjects.size() != 1) return std::nullopt;
    const Instruction* turned = choice.subjects[0];
    const Shape& from = turned->operand(0)->shape();
    int64_t source = from.rank() - 1, innermost = written().rank() - 1;
    while (source > 0 && from.dimension(source) == 1) --source;
    while (innermost > 0 && written().dimension(innermost) == 1) --innermost;
    const int64_t along = nest_.walk.lane_dim;
    if (turned->attributes().Integers(Attr::kDimensions)[along] != source) return std::nullopt;
    if (written().dimension(along) < 8 || written().dimension(innermost) < 8) return std::nullopt;
    const auto fitting = [&](int64_t extent) {
      int width = Width();
      while (width > 1 && extent % width != 0) width /= 2;
      return width;
    };
    if (WalksLanes(turned->operand(0), source)) choice.read_width = fitting(from.dimension(source));
    walks_.AddSource({frame_, turned});
    choice.write_width = fitting(written().dimension(innermost));
    for (const NestOutput& output : nest_.outputs) {
      if (!WalksLanes(output.instruction, innermost)) choice.write_width = 1;
    }
    choice.reason = StrCat("dimension ", along, " is the innermost of what is read");
    return choice;
  }

  std::optional<TemplateChoice> Vectors() {
    const WalkPlan& walk = nest_.walk;
    if (walk.width <= 1 || written().ElementCount() < kWarp * walk.width) return std::nullopt;
    int width = std::min(walk.width, Width());
    const bool one_row = walk.kind == WalkPlan::kLinear ||
                         written().ElementCount() == written().dimension(walk.lane_dim);
    // Rows of other lengths begin at odd addresses.
    if (!one_row) {
      while (width > 1 && written().dimension(walk.lane_dim) % width != 0) width /= 2;
    }
    if (width == 1) return std::nullopt;
    return TemplateChoice{.kind = KernelTemplate::kVectors,
                          .reason = StrCat(width, " neighbours per thread"),
                          .read_width = width,
                          .write_width = width};
  }

  const KernelPlan& kernel_;
  const NestPlan& nest_;
  const Instruction& root_;
  const Architecture& architecture_;
  Gates& gates_;
  Walks walks_;
  const CallFrame* frame_ = nullptr;
};

}  // namespace

std::string_view Name(KernelTemplate kind) {
  constexpr std::string_view kNames[] = {"threads",  "vectors",    "rows",        "row fusion",
                                         "columns",  "transposed", "tiles",       "tensor tiles",
                                         "scan",     "sort tiles", "top-k tiles", "loop in a block",
                                         "attention"};
  return kNames[static_cast<int>(kind)];
}

TemplateChoices ChooseTemplates(const ProgramPlan& plan, const Architecture& architecture,
                                Gates& gates) {
  TemplateChoices choices;
  for (const FramePlan& frame : plan.frames) {
    for (const StepPlan& step : frame.steps) {
      if (step.kind == StepPlan::Kind::kLoop) ChooseForLoop(plan, frame, step, gates, choices);
      if (step.kind != StepPlan::Kind::kKernel) continue;
      // Made by a pass for this template; however plain code is to be, threads would do far more.
      if (!step.kernel.nests.empty()) {
        NestChooser chooser(step.kernel, step.kernel.nests[0], architecture, gates);
        if (std::optional<TemplateChoice> attention = chooser.Attention()) {
          choices.of_kernels[&step.kernel] = *std::move(attention);
          continue;
        }
      }
      if (!step.kernel.is_optimized) continue;
      TemplateChoice whole = ChooseForKernel(step.kernel, gates);
      if (whole.kind != KernelTemplate::kThreads) {
        choices.of_kernels[&step.kernel] = std::move(whole);
        continue;
      }
      if (!step.kernel.nests.empty()) {
        NestChooser chooser(step.kernel, step.kernel.nests[0], architecture, gates);
        if (std::optional<TemplateChoice> rows = chooser.RowFusion()) {
          choices.of_kernels[&step.kernel] = *std::move(rows);
          continue;
        }
      }
      for (const NestPlan& nest : step.kernel.nests) {
        TemplateChoice choice = NestChooser(step.kernel, nest, architecture, gates).Choose();
        if (choice.kind != KernelTemplate::kThreads) choices.of_nests[&nest] = std::move(choice);
      }
    }
  }
  return choices;
}

void AddTemplates(const ProgramPlan& plan, const TemplateChoices& choices,
                  std::vector<StepText>& lines) {
  size_t line = 0;
  for (const FramePlan& frame : plan.frames) {
    for (const StepPlan& step : frame.steps) {
      std::string& text = lines[line++].plan;
      const auto add = [&](const TemplateChoice& choice) {
        StrAppend(&text, "; ", Name(choice.kind), ": ", choice.reason);
      };
      const auto loop = choices.of_loops.find(&step);
      if (loop != choices.of_loops.end()) add(loop->second);
      const auto whole = choices.of_kernels.find(&step.kernel);
      if (whole != choices.of_kernels.end()) add(whole->second);
      for (const NestPlan& nest : step.kernel.nests) {
        const auto found = choices.of_nests.find(&nest);
        if (found != choices.of_nests.end()) add(found->second);
      }
    }
  }
}

}  // namespace assay::gpu
