// The program runs once, with every array that is worth a look as a further result.
#include "conformance/dumps/program_run.h"

#include <algorithm>
#include <utility>

#include "conformance/cuts/programs/capture_choice.h"
#include "conformance/cuts/programs/capture_module.h"
#include "conformance/dumps/async_pairs.h"
#include "conformance/dumps/mixed_precision.h"
#include "conformance/dumps/tiled_bitcasts.h"
#include "conformance/dumps/unknown_values.h"
#include "spec/base/status_macros.h"
#include "spec/files/load_module.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Each of the two runs that are compared may hold so much.
constexpr int64_t kMostBytes = int64_t{1} << 29;
// Trips of a loop that there is room for at first; the loop's own count says how many it made.
constexpr int64_t kFirstRoom = 16;

// True of values that show nothing which others do not show, copies of a scalar among them.
bool SaysNothing(const Instruction& instruction) {
  return ComputesNothing(instruction.opcode()) || IsUnderWay(instruction.opcode()) ||
         (instruction.opcode() == Opcode::kBroadcast &&
          instruction.operand(0)->shape().rank() == 0);
}

std::vector<CapturePoint> PointsOf(const Module& flat) {
  std::vector<CapturePoint> points;
  for (const Computation* unit : CapturableUnits(flat)) {
    for (const Instruction* instruction : unit->PostOrder()) {
      if (SaysNothing(*instruction)) continue;
      int64_t leaf = 0;
      ForEachLeaf(instruction->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
        if (shape.IsArray() && !shape.HasDynamicDimension() && shape.ElementCount() > 0)
          points.push_back({instruction, leaf});
        ++leaf;
      });
    }
  }
  // States of loops, as far as they change from trip to trip as a whole.
  for (const CapturePoint& point : SumsOf(flat, /*only_contractions=*/true))
    if (point.instruction->opcode() == Opcode::kWhile) points.push_back(point);
  return points;
}

}  // namespace

absl::StatusOr<ProgramState> LoadState(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadUnverifiedModule(path));
  ProgramState state;
  if (module->entry() != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(state.unknown, FillElidedConstants(*module));
    if (!Verify(*module).ok()) MakePrecisionExplicit(*module);
  }
  // Errors are told of the file as it is.
  if (!Verify(*module).ok()) return LoadModule(path).status();
  UntileBitcasts(*module);
  std::unique_ptr<Module> joined = WithoutAsyncPairs(*module);
  state.module = std::move(module);
  state.joined = joined == nullptr ? state.module : std::move(joined);
  return state;
}

absl::StatusOr<ProgramRun> RunProgram(const ProgramState& state,
                                      const std::vector<const Literal*>& arguments, Oracle& oracle,
                                      const Limits& limits) {
  ProgramRun run;
  run.module = state.joined;
  ASSAY_ASSIGN_OR_RETURN(run.flat, Flatten(*run.module, Fusions::kInlined));
  ASSAY_ASSIGN_OR_RETURN(run.unknown, ReplaceUnknownValues(run.flat, oracle));
  run.unknown.insert(run.unknown.end(), state.unknown.begin(), state.unknown.end());
  std::sort(run.unknown.begin(), run.unknown.end());
  TripRoom room;
  for (const Computation* unit : CapturableUnits(*run.flat.module))
    for (const Instruction* instruction : *unit)
      if (instruction->opcode() == Opcode::kWhile) room[instruction] = kFirstRoom;
  const std::vector<CapturePoint> points = Affordable(PointsOf(*run.flat.module), room, kMostBytes);
  auto evaluate = [&](const Module& captured) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<Literal> results;
    ASSAY_ASSIGN_OR_RETURN(results.emplace_back(), oracle.Evaluate(captured, arguments, limits));
    return results;
  };
  ASSAY_ASSIGN_OR_RETURN(CapturedResults seen, RunWithCaptures(run.flat, points, room, evaluate));
  run.values = std::move(seen.captures);
  run.results = std::move(seen.results);
  return run;
}

const Instruction& OriginOf(const FlatModule& flat, const Instruction& instruction) {
  auto origin = flat.origin.find(&instruction);
  return origin == flat.origin.end() || origin->second == nullptr ? instruction : *origin->second;
}

}  // namespace assay
