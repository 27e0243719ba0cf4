// Costs are counts of elements, so that they are whole numbers and equal on every machine.
#include "optimized/passes/library/algorithm_pickers.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/library/call_match.h"
#include "optimized/passes/library/op_writer.h"
#include "optimized/passes/memory/copy_insertion.h"

namespace assay {
namespace {

using enum LibraryRoutine;

// Tiles of a product's result that a block computes; the number of the row is the algorithm's.
struct GemmTile {
  int64_t rows, columns;
};
constexpr GemmTile kGemmTiles[] = {{128, 256}, {128, 128}, {128, 64}, {64, 64},
                                   {64, 32},   {32, 32},   {16, 64},  {16, 16}};
// Blocks that run at the same time on the GPUs of the table, about.
constexpr int64_t kBlocksAtOnce = 128;

int64_t Parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

// Waves of blocks, times the reads and the work of one block; the first of equals.
int64_t PickGemmTile(int64_t matrices, int64_t rows, int64_t columns) {
  int64_t best = 0;
  double least = 0;
  for (size_t k = 0; k < std::size(kGemmTiles); ++k) {
    const auto [height, width] = kGemmTiles[k];
    const double blocks = static_cast<double>(matrices) * static_cast<double>(Parts(rows, height)) *
                          static_cast<double>(Parts(columns, width));
    const double waves = std::max(1.0, blocks / static_cast<double>(kBlocksAtOnce));
    const double cost = waves * static_cast<double>(height * width + 32 * (height + width));
    if (k == 0 || cost < least) {
      least = cost;
      best = static_cast<int64_t>(k);
    }
  }
  return best;
}

// The calls of a module that read as such.
std::vector<MadeByCall> CallsOf(Module& module) {
  std::vector<MadeByCall> calls;
  if (!module.HasAny({Opcode::kCustomCall})) return calls;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsLibraryCall(*inst)) continue;
      absl::StatusOr<LibraryCall> read = ReadLibraryCall(*inst);
      if (read.ok()) calls.push_back({inst, *std::move(read)});
    }
  }
  return calls;
}

// cuDNN's numbers of algorithms.
enum ConvAlgorithm : int64_t { kImplicitGemm = 0, kPrecomputedGemm = 1, kWinograd = 6 };

struct ConvChoice {
  int64_t algorithm = kImplicitGemm, workspace = 0;
};

ConvChoice PickConv(const Instruction& call, const LibraryCall& read, int64_t most_bytes) {
  const auto [x, w, y] = ConvShapesOf(read.routine, call, *read.result);
  const absl::Span<const WindowDim> window = call.attributes().Window(Attr::kWindow);
  const bool is_3x3 =
      window.size() == 2 && std::all_of(window.begin(), window.end(), [](const WindowDim& dim) {
        return dim.size == 3 && dim.stride == 1 && dim.window_dilation == 1;
      });
  constexpr int64_t kManyElements = 4096;
  if (y->ElementCount() < kManyElements) return {};
  // Transformed tiles of 4x4 for outputs of 2x2: four times the input; offsets: one per element.
  ConvChoice choice{kPrecomputedGemm, 4 * y->ElementCount()};
  if (is_3x3 && x->element_type() != ElementType::kS8)
    choice = {kWinograd, 4 * x->ByteSize() + 2 * w->ByteSize()};
  return choice.workspace <= most_bytes ? choice : ConvChoice{};
}

}  // namespace

absl::StatusOr<bool> GemmAlgorithmPicker::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (const MadeByCall& made : CallsOf(module)) {
    if (made.read.routine > kGemmLt || made.read.gemm.algorithm >= 0) continue;
    const Shape& out = *made.read.result;
    const int64_t rank = out.rank();
    if (rank < 2 || out.ElementCount() == 0) continue;
    const int64_t rows = out.dimension(rank - 2), columns = out.dimension(rank - 1);
    Rewrite rewrite(context.gates, "pick-gemm-algorithm", made.call);
    if (!rewrite) continue;
    CallPlan plan = PlanOf(made);
    GemmConfig config = made.read.gemm;
    config.algorithm = PickGemmTile(out.ElementCount() / (rows * columns), rows, columns);
    plan.config = WriteConfig(config);
    changed |= rewrite.Replace(plan.AddTo(made.call->parent()));
  }
  return changed;
}

absl::StatusOr<bool> GpuConvAlgorithmPicker::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (const MadeByCall& made : CallsOf(module)) {
    const Shape& shape = made.call->shape();
    const bool has_no_workspace =
        shape.IsTuple() && shape.elements().size() == 2 && shape.elements()[1].ElementCount() == 0;
    if (!IsConvolution(made.read.routine) || made.read.conv.algorithm >= 0 || !has_no_workspace)
      continue;
    Rewrite rewrite(context.gates, "pick-conv-algorithm", made.call);
    if (!rewrite) continue;
    const ConvChoice choice =
        PickConv(*made.call, made.read, FactsOf(context).most_workspace_bytes);
    CallPlan plan = PlanOf(made);
    ConvConfig config = made.read.conv;
    config.algorithm = choice.algorithm;
    config.workspace_bytes = choice.workspace;
    plan.config = WriteConfig(config);
    plan.shape =
        Shape::Tuple({shape.elements()[0], Shape::Array(ElementType::kU8, {choice.workspace})});
    Computation* into = made.call->parent();
    const OpWriter ops(into);
    Instruction* call = plan.AddTo(into);
    Instruction* nothing = into->AddConstant(Literal(shape.elements()[1]));
    changed |=
        rewrite.Replace(choice.workspace == 0 ? call : ops.Tuple({ops.Element(call, 0), nothing}));
  }
  return changed;
}

absl::StatusOr<bool> GpuCopyInsertion::Run(Module& module, PassContext& context) {
  absl::StatusOr<bool> generic = CopyInsertion().Run(module, context);
  if (!generic.ok()) return generic.status();
  bool changed = *generic;
  for (const MadeByCall& made : CallsOf(module)) {
    const bool is_norm = made.read.routine >= kNormInference && made.read.routine <= kNormBackward;
    // The last two of a norm say something, and are read on the host.
    const int64_t arrays = made.call->operand_count() - (is_norm ? 2 : 0);
    for (int64_t k = 0; k < arrays; ++k) {
      Instruction* operand = made.call->operand(k);
      bool is_twice = false;
      for (int64_t j = 0; j < k; ++j) is_twice = is_twice || made.call->operand(j) == operand;
      if (operand->opcode() != Opcode::kConstant && !is_twice) continue;
      context.gates.Require(DecisionKind::kRequired, "copy-library-operand", made.call);
      Instruction* copy = made.call->parent()->Add(Opcode::kCopy, operand->shape(), {operand});
      made.call->ReplaceOperand(k, copy);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
