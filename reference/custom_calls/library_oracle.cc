// The oracle: calls of libraries become computations before anything is evaluated. What was seen of
// the program, and what is shown of it, goes by the instructions of the original.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "reference/custom_calls/library_calls.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using reference::ExpandedModule;

// A module, or the clone that is evaluated in its place, with the captures that belong to it.
class LibraryProgram {
 public:
  static absl::StatusOr<LibraryProgram> Of(const Module& module, const CustomCallFunctions& given) {
    LibraryProgram program(module);
    ASSAY_ASSIGN_OR_RETURN(program.expanded_, reference::ExpandLibraryCalls(module, given));
    return program;
  }

  const Module& module() const {
    return expanded_.module != nullptr ? *expanded_.module : *original_;
  }

  // Moves captures to the instructions of module(); those of the calls' computations are not shown.
  absl::StatusOr<Captures> On(const Captures& captures) const {
    Captures moved = captures;
    if (expanded_.module == nullptr) return moved;
    absl::flat_hash_map<std::string, const Instruction*> clones;
    for (const Computation* computation : module().computations())
      for (const Instruction* instruction : *computation)
        clones.emplace(instruction->name(), instruction);
    for (const auto& [name, call] : expanded_.calls) clones[name] = call;
    absl::flat_hash_map<const Instruction*, const Instruction*> originals;
    for (const Computation* computation : original_->computations()) {
      for (const Instruction* instruction : *computation) {
        const auto clone = clones.find(instruction->name());
        if (clone != clones.end()) originals.emplace(clone->second, instruction);
      }
    }
    for (Capture& capture : moved.values) {
      const auto clone = clones.find(capture.instruction->name());
      if (clone == clones.end())
        return absl::InternalError(StrCat("no clone of ", capture.instruction->name()));
      capture.instruction = clone->second;
    }
    if (captures.visit == nullptr) return moved;
    moved.visit = [originals = std::move(originals),
                   visit = captures.visit](const CaptureVisit& shown) {
      const auto original = originals.find(&shown.instruction);
      if (original == originals.end()) return;
      visit({*original->second, shown.leaf, shown.expected, shown.seen, shown.sample});
    };
    return moved;
  }

 private:
  explicit LibraryProgram(const Module& module) : original_(&module) {}

  const Module* original_;
  ExpandedModule expanded_;
};

class LibraryOracle : public Oracle {
 public:
  explicit LibraryOracle(CustomCallFunctions custom_calls)
      : custom_calls_(custom_calls), inner_(MakeInterpreterOracle(std::move(custom_calls))) {}

  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    return inner_->Evaluate(program.module(), arguments, limits);
  }

  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    return inner_->Expect(program.module(), arguments, profile, limits);
  }

  absl::StatusOr<Expectation> ExpectFrom(const Module& module,
                                         const std::vector<const Literal*>& arguments,
                                         const Captures& captures, const Profile& profile,
                                         const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    if (&program.module() == &module)
      return inner_->ExpectFrom(module, arguments, captures, profile, limits);
    ASSAY_ASSIGN_OR_RETURN(const Captures moved, program.On(captures));
    return inner_->ExpectFrom(program.module(), arguments, moved, profile, limits);
  }

  absl::StatusOr<Literal> DrawFrom(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Captures& captures, const DrawOptions& options,
                                   const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    if (&program.module() == &module)
      return inner_->DrawFrom(module, arguments, captures, options, limits);
    ASSAY_ASSIGN_OR_RETURN(const Captures moved, program.On(captures));
    return inner_->DrawFrom(program.module(), arguments, moved, options, limits);
  }

  absl::StatusOr<std::vector<DeviceOutputs>> EvaluateDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    return inner_->EvaluateDevices(program.module(), devices, inputs, limits);
  }

  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Profile& profile,
      const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    return inner_->ExpectDevices(program.module(), devices, inputs, profile, limits);
  }

  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevicesFrom(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Captures& captures, const Profile& profile,
      const Limits& limits) override {
    ASSAY_ASSIGN_OR_RETURN(const LibraryProgram program, LibraryProgram::Of(module, custom_calls_));
    if (&program.module() == &module)
      return inner_->ExpectDevicesFrom(module, devices, inputs, captures, profile, limits);
    ASSAY_ASSIGN_OR_RETURN(const Captures moved, program.On(captures));
    return inner_->ExpectDevicesFrom(program.module(), devices, inputs, moved, profile, limits);
  }

 private:
  const CustomCallFunctions custom_calls_;
  const std::unique_ptr<Oracle> inner_;
};

}  // namespace

std::unique_ptr<Oracle> MakeOracle() { return MakeOracle(CustomCallFunctions()); }

std::unique_ptr<Oracle> MakeOracle(CustomCallFunctions custom_calls) {
  return std::make_unique<LibraryOracle>(std::move(custom_calls));
}

}  // namespace assay
