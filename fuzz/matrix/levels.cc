// The tables of levels.
#include "fuzz/matrix/levels.h"

#include <algorithm>
#include <string>

#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using L = ConformanceLevel;

constexpr LevelInfo kLevels[] = {
    {L::kIntegerCore, "integer-core", "predicates and integers of 8 to 64 bits: one right answer"},
    {L::kFloatCore, "float-core", "f16, bf16, f32, f64, c64, c128"},
    {L::kNarrowTypes, "narrow-types", "floats of 8 bits and less, integers of less than 8"},
    {L::kLinearAlgebra, "linear-algebra", "cholesky, triangular-solve, fft"},
    {L::kControlFlow, "control-flow",
     "calls, loops, branches, fusions, tokens, asynchronous work, and the modes call, loop, "
     "branch"},
    {L::kCollectives, "collectives", "several devices, the host's queues, and the mode sharded"},
    {L::kDynamicShapes, "dynamic-shapes", "sizes known at run time"},
    {L::kNamedCalls, "named-calls", "custom-call: functions that no document defines"},
};

// Ops whose family does not say it.
constexpr std::pair<Opcode, L> kOps[] = {
    {Opcode::kConstant, L::kIntegerCore},
    {Opcode::kParameter, L::kIntegerCore},
    {Opcode::kTuple, L::kIntegerCore},
    {Opcode::kGetTupleElement, L::kIntegerCore},
    {Opcode::kCopyStart, L::kControlFlow},
    {Opcode::kCopyDone, L::kControlFlow},
    {Opcode::kSetDimensionSize, L::kDynamicShapes},
    {Opcode::kGetDimensionSize, L::kDynamicShapes},
    {Opcode::kDynamicReshape, L::kDynamicShapes},
    {Opcode::kCustomCall, L::kNamedCalls},
};

L LevelOfFamily(OpFamily family) {
  switch (family) {
    case OpFamily::kLinearAlgebra:
      return L::kLinearAlgebra;
    case OpFamily::kControl:
      return L::kControlFlow;
    case OpFamily::kCommunication:
      return L::kCollectives;
    default:
      return L::kIntegerCore;
  }
}

L LevelOfShape(const Shape& shape) {
  L level = L::kIntegerCore;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) level = std::max(level, LevelOfShape(element));
    return level;
  }
  level = LevelOf(shape.element_type());
  return shape.IsArray() && shape.HasDynamicDimension() ? std::max(level, L::kDynamicShapes)
                                                        : level;
}

}  // namespace

absl::Span<const LevelInfo> ConformanceLevels() { return kLevels; }

const LevelInfo& Info(ConformanceLevel level) { return kLevels[static_cast<size_t>(level) - 1]; }

absl::StatusOr<ConformanceLevel> ConformanceLevelOf(std::string_view word) {
  std::string all;
  for (const LevelInfo& info : kLevels) {
    const std::string number = StrCat(static_cast<int>(info.level));
    if (word == number || word == info.name) return info.level;
    all += StrCat(all.empty() ? "" : ", ", number, " ", info.name);
  }
  return absl::InvalidArgumentError(StrCat("no level '", word, "'; ", all));
}

ConformanceLevel LevelOf(Opcode opcode) {
  for (const auto& [listed, level] : kOps)
    if (listed == opcode) return level;
  return LevelOfFamily(Info(opcode).family);
}

ConformanceLevel LevelOf(ElementType type) {
  // A token orders effects, which programs of plain arrays have none of.
  if (!IsArrayType(type)) return L::kControlFlow;
  const int bits = BitWidth(type);
  if (IsFloat(type)) return bits <= 8 ? L::kNarrowTypes : L::kFloatCore;
  if (IsComplex(type)) return L::kFloatCore;
  return IsInteger(type) && bits < 8 ? L::kNarrowTypes : L::kIntegerCore;
}

ConformanceLevel LevelOf(const Module& module) {
  L level = L::kIntegerCore;
  if (module.config().replica_count > 1 || module.config().num_partitions > 1)
    level = L::kCollectives;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* each : *computation)
      level = std::max({level, LevelOf(each->opcode()), LevelOfShape(each->shape())});
  }
  return level;
}

}  // namespace assay
