// The table of lane rules: one row per op. Document: operation semantics chapters 5 to 11.
#include "optimized/analysis/walks/lane_access.h"

#include <algorithm>
#include <array>

#include "optimized/analysis/walks/contractions.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/analysis/walks/index_numbers.h"
#include "optimized/analysis/walks/reductions.h"

namespace assay {
namespace {

LaneAccess Lanes(int64_t dim) { return {LaneAccess::kLanes, static_cast<int>(dim)}; }
constexpr LaneAccess kUniform{LaneAccess::kUniform, -1};
constexpr LaneAccess kImpossible{LaneAccess::kImpossible, -1};

bool Always(const Instruction&) { return true; }

// Same index everywhere; operands of rank 0 beside others are uniform.
LaneAccess ElementwiseLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  const Shape& shape = instruction.operand(operand)->shape();
  if (shape.rank() == 0 && instruction.shape().rank() > 0) return kUniform;
  return Lanes(lane_dim);
}

LaneAccess BroadcastLanes(const Instruction& instruction, int64_t, int lane_dim) {
  absl::Span<const int64_t> dims = instruction.attributes().Integers(Attr::kDimensions);
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] != lane_dim) continue;
    bool stretched = instruction.operand(0)->shape().dimension(k) == 1 &&
                     instruction.shape().dimension(lane_dim) != 1;
    return stretched ? kUniform : Lanes(k);
  }
  return kUniform;
}

bool BroadcastIsLinear(const Instruction& instruction) {
  absl::Span<const int64_t> dims = instruction.attributes().Integers(Attr::kDimensions);
  return std::is_sorted(dims.begin(), dims.end());
}

LaneAccess ReshapeLanes(const Instruction& instruction, int64_t, int lane_dim) {
  const Shape& from = instruction.operand(0)->shape();
  const Shape& to = instruction.shape();
  std::vector<int64_t> from_dims = RealDims(from), to_dims = RealDims(to);
  if (from_dims.empty() || to_dims.empty()) return kImpossible;
  // Only the fastest dimension of both keeps its neighbours, and only when it has the same size in
  // both.
  if (to_dims.back() != lane_dim) return kImpossible;
  if (from.dimension(from_dims.back()) != to.dimension(lane_dim)) return kImpossible;
  return Lanes(from_dims.back());
}

LaneAccess BitcastLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  return BitcastKeepsOrder(instruction) ? ReshapeLanes(instruction, operand, lane_dim)
                                        : kImpossible;
}

LaneAccess TransposeLanes(const Instruction& instruction, int64_t, int lane_dim) {
  return Lanes(instruction.attributes().Integers(Attr::kDimensions)[lane_dim]);
}

LaneAccess ReverseLanes(const Instruction&, int64_t, int lane_dim) { return Lanes(lane_dim); }

LaneAccess SliceLanes(const Instruction& instruction, int64_t, int lane_dim) {
  return instruction.attributes().SliceRanges(Attr::kSlice)[lane_dim].stride == 1 ? Lanes(lane_dim)
                                                                                  : kImpossible;
}

LaneAccess DynamicSliceLanes(const Instruction&, int64_t operand, int lane_dim) {
  return operand == 0 ? Lanes(lane_dim) : kUniform;
}

LaneAccess DynamicUpdateSliceLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  if (operand >= 2) return kUniform;
  // An update that spans the lanes' dimension starts at 0 there; any other may begin inside a
  // vector.
  bool spans = instruction.operand(1)->shape().dimension(lane_dim) ==
               instruction.shape().dimension(lane_dim);
  return spans ? Lanes(lane_dim) : kImpossible;
}

LaneAccess PadLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  if (operand == 1) return kUniform;
  const PaddingDim& p = instruction.attributes().Padding(Attr::kPadding)[lane_dim];
  return p.low == 0 && p.high == 0 && p.interior == 0 ? Lanes(lane_dim) : kImpossible;
}

LaneAccess ConcatenateLanes(const Instruction& instruction, int64_t, int lane_dim) {
  return instruction.attributes().Integers(Attr::kDimension)[0] == lane_dim ? kImpossible
                                                                            : Lanes(lane_dim);
}

LaneAccess IotaLanes(const Instruction&, int64_t, int) { return kUniform; }

LaneAccess BitcastConvertLanes(const Instruction& instruction, int64_t, int lane_dim) {
  if (InvolvesComplex(instruction)) return kImpossible;
  return BitcastConvertKeepsWidth(instruction) ? Lanes(lane_dim) : kImpossible;
}

// Lanes along a window's dimension share their start.
LaneAccess GatherLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  const IndexNumbers numbers = IndexNumbers::OfGather(instruction);
  const int64_t inside = numbers.WindowDimOf(instruction.shape().rank(),
                                             instruction.operand(0)->shape().rank())[lane_dim];
  if (inside < 0) return kImpossible;
  return operand == 1 ? kUniform : Lanes(inside);
}

LaneAccess ReduceLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  if (!IsElementwiseComputation(*instruction.callee())) return kImpossible;
  if (operand >= instruction.operand_count() / 2) return kUniform;
  return Lanes(ReduceDims::Of(instruction).kept[lane_dim]);
}

// Along a dimension in which the window is a single element.
LaneAccess ReduceWindowLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  const WindowDim& window = instruction.attributes().Window(Attr::kWindow)[lane_dim];
  if (!IsSingle(window) || !IsElementwiseComputation(*instruction.callee())) return kImpossible;
  return operand >= instruction.operand_count() / 2 ? kUniform : Lanes(lane_dim);
}

LaneAccess DotLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  const DotDims dims = DotDims::Of(instruction);
  const std::vector<int64_t>& map = operand == 0 ? dims.lhs : dims.rhs;
  for (size_t d = 0; d < map.size(); ++d) {
    if (map[d] == lane_dim) return Lanes(static_cast<int64_t>(d));
  }
  return kUniform;
}

// Neighbouring output features read the same input and neighbouring kernel columns, unless groups
// cut them apart.
LaneAccess ConvolutionLanes(const Instruction& instruction, int64_t operand, int lane_dim) {
  const Attributes& a = instruction.attributes();
  const ConvDimLabels& labels = *a.DimLabels();
  if (lane_dim != labels.output_feature || a.Integer(Attr::kFeatureGroupCount, 1) != 1 ||
      a.Integer(Attr::kBatchGroupCount, 1) != 1) {
    return kImpossible;
  }
  return operand == 0 ? kUniform : Lanes(labels.kernel_output_feature);
}

struct Row {
  Opcode opcode = Opcode::kParameter;
  LaneAccess (*lanes)(const Instruction& instruction, int64_t operand, int lane_dim) = nullptr;
  bool (*is_linear)(const Instruction& instruction) = nullptr;  // nullptr: never
};

constexpr Row kRows[] = {
    {.opcode = Opcode::kBitcast, .lanes = BitcastLanes, .is_linear = BitcastKeepsOrder},
    {.opcode = Opcode::kBitcastConvert,
     .lanes = BitcastConvertLanes,
     .is_linear = BitcastConvertKeepsWidth},
    {.opcode = Opcode::kBroadcast, .lanes = BroadcastLanes, .is_linear = BroadcastIsLinear},
    {.opcode = Opcode::kConcatenate, .lanes = ConcatenateLanes},
    {.opcode = Opcode::kConvolution, .lanes = ConvolutionLanes},
    {.opcode = Opcode::kCopy, .lanes = ElementwiseLanes, .is_linear = Always},
    {.opcode = Opcode::kDomain, .lanes = ElementwiseLanes, .is_linear = Always},
    {.opcode = Opcode::kDot, .lanes = DotLanes},
    {.opcode = Opcode::kDynamicSlice, .lanes = DynamicSliceLanes},
    {.opcode = Opcode::kDynamicUpdateSlice, .lanes = DynamicUpdateSliceLanes},
    {.opcode = Opcode::kGather, .lanes = GatherLanes},
    {.opcode = Opcode::kIota, .lanes = IotaLanes},
    {.opcode = Opcode::kOptBarrier, .lanes = ElementwiseLanes, .is_linear = Always},
    {.opcode = Opcode::kPad, .lanes = PadLanes},
    {.opcode = Opcode::kReduce, .lanes = ReduceLanes},
    {.opcode = Opcode::kReduceWindow, .lanes = ReduceWindowLanes},
    {.opcode = Opcode::kReshape, .lanes = ReshapeLanes, .is_linear = Always},
    {.opcode = Opcode::kReverse, .lanes = ReverseLanes},
    {.opcode = Opcode::kSlice, .lanes = SliceLanes},
    {.opcode = Opcode::kTranspose, .lanes = TransposeLanes},
};

using Table = std::array<Row, kOpcodeCount>;
const Table& Rows() {
  static const Table& table = *[] {
    auto* rows = new Table();
    for (int k = 0; k < kOpcodeCount; ++k) {
      const auto opcode = static_cast<Opcode>(k);
      if (IsElementwise(opcode)) (*rows)[k] = {opcode, ElementwiseLanes, Always};
    }
    for (const Row& row : kRows) (*rows)[static_cast<int>(row.opcode)] = row;
    return rows;
  }();
  return table;
}

}  // namespace

LaneAccess LanesOf(const Instruction& instruction, int64_t operand, int lane_dim) {
  const Row& row = Rows()[static_cast<int>(instruction.opcode())];
  return row.lanes == nullptr ? kImpossible : row.lanes(instruction, operand, lane_dim);
}

bool HasLanes(Opcode opcode) { return Rows()[static_cast<int>(opcode)].lanes != nullptr; }

bool IsLinear(const Instruction& instruction) {
  const Row& row = Rows()[static_cast<int>(instruction.opcode())];
  return row.is_linear != nullptr && row.is_linear(instruction);
}

std::vector<int64_t> RealDims(const Shape& shape) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) != 1) dims.push_back(d);
  }
  return dims;
}

}  // namespace assay
