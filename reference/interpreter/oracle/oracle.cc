// The Oracle interface on top of the interpreter.
#include <algorithm>
#include <optional>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/interpreter/capture/captured_run.h"
#include "reference/interpreter/dynamic_shapes.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/mesh/exchange.h"
#include "reference/interpreter/oracle/joint_places.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using reference::Array;
using reference::Budget;
using reference::CapturedRun;
using reference::DeviceMesh;
using reference::Interpreter;
using reference::JointPlaces;
using reference::Value;

absl::Status CheckArguments(const Module& module, const std::vector<const Literal*>& arguments) {
  const Computation& entry = *module.entry();
  if (static_cast<int64_t>(arguments.size()) != entry.parameter_count()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat("the module takes ", entry.parameter_count(), " arguments, ",
                            arguments.size(), " were given"));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& wanted = entry.parameter(static_cast<int64_t>(i))->shape();
    if (Compatible(wanted, arguments[i]->shape())) continue;
    return MakeError(ErrorClass::kRejected,
                     StrCat("argument ", i, " has shape ", arguments[i]->shape().ToString(),
                            ", the module takes ", wanted.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Run(const Module& module, const std::vector<const Literal*>& arguments,
                          Budget& budget, Interpreter& interpreter) {
  ASSAY_RETURN_IF_ERROR(CheckArguments(module, arguments));
  std::vector<Value> values;
  for (const Literal* argument : arguments) {
    ASSAY_RETURN_IF_ERROR(budget.memory().Check(argument->shape().ByteSize()));
    values.push_back(reference::MakeGivenValue(*argument, budget.memory()));
  }
  ASSAY_RETURN_IF_ERROR(reference::BindSizes(interpreter, module, values));
  ASSAY_ASSIGN_OR_RETURN(Value result, interpreter.Run(*module.entry(), values));
  if (!reference::HoldsPending(result)) return result;
  return MakeError(ErrorClass::kUnsupported,
                   StrCat("the result holds the context of a transfer that nothing ends: ",
                          module.entry()->root()->name()));
}

// Devices of a run at most; each takes a thread.
constexpr int64_t kMaxDevicesOfRun = 1024;

absl::Status CheckDevices(const DeviceAssignment& devices, size_t inputs) {
  if (devices.replicas < 1 || devices.partitions < 1 ||
      devices.replicas > kMaxDevicesOfRun / devices.partitions) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(devices.replicas, " replicas of ", devices.partitions,
                            " partitions: the oracle runs 1 to ", kMaxDevicesOfRun, " devices"));
  }
  const int64_t count = devices.replicas * devices.partitions;
  if (static_cast<int64_t>(inputs) != count) {
    return MakeError(ErrorClass::kRejected,
                     StrCat("inputs for ", inputs, " devices were given, there are ", count));
  }
  return absl::OkStatus();
}

// Adds the arrays of a value in the order of its leaves. An array that nobody else holds is taken
// over, others are copied.
void TakeArrays(Value value, std::vector<Array>& arrays) {
  if (value.IsTuple()) {
    for (Value& element : value.elements) TakeArrays(std::move(element), arrays);
    return;
  }
  std::optional<Array> owned = value.Release();
  arrays.push_back(owned.has_value() ? *std::move(owned) : *value.array);
}

// Adds the leaves of a value to an expectation. Returns its arrays, of which the origins are left.
std::vector<Array> ExportLeaves(Value value, Expectation& expectation) {
  std::vector<Array> arrays;
  TakeArrays(std::move(value), arrays);
  for (Array& array : arrays) expectation.leaves.push_back(reference::Export(array));
  return arrays;
}

void AddPlainLeaves(const Literal& plain, Expectation& expectation) {
  for (const Literal* leaf : Leaves(plain)) {
    expectation.leaves.emplace_back();
    expectation.leaves.back().plain = *leaf;
  }
}

using Place = PropertyExpectation::Place;

// The properties whose elements reached the outputs, in the order of their first element, each with
// the places of its elements.
class FoundProperties {
 public:
  FoundProperties(const std::vector<Array>& arrays, const Expectation& expectation) {
    for (size_t leaf = 0; leaf < arrays.size(); ++leaf) {
      const auto& origins = arrays[leaf].facts().origins;
      if (origins.empty()) continue;
      for (int64_t i = 0; i < expectation.leaves[leaf].plain.element_count(); ++i) {
        const auto origin = origins.find(i);
        if (origin == origins.end() || origin->second.piece != reference::Origin::kWhole) continue;
        const reference::Property* property = origin->second.property.get();
        if (reference::IsJoint(*property) || property->only_seen) continue;
        if (!places_.contains(property)) order_.push_back(property);
        places_[property].push_back(
            {static_cast<int64_t>(leaf), i, origin->second.part, origin->second.index});
      }
    }
  }
  const std::vector<const reference::Property*>& order() const { return order_; }
  const std::vector<Place>& PlacesOf(const reference::Property* property) const {
    return places_.at(property);
  }

 private:
  absl::flat_hash_map<const reference::Property*, std::vector<Place>> places_;
  std::vector<const reference::Property*> order_;
};

// Adds the parts of a property that are all there. An element that is there more than once is
// judged at its first place.
void ExportProperty(const reference::Property& property, const std::vector<Place>& places,
                    Expectation& expectation) {
  PropertyExpectation exported{property.what, {}, {}, {}, property.violation};
  std::vector<std::vector<bool>> seen;
  std::vector<int64_t> missing;
  for (const Shape& shape : property.parts) {
    exported.parts.emplace_back(shape);
    seen.emplace_back(static_cast<size_t>(shape.ElementCount()), false);
    missing.push_back(shape.ElementCount());
  }
  std::vector<Place> first;
  for (const Place& place : places) {
    if (seen[place.part][place.index]) continue;
    seen[place.part][place.index] = true;
    --missing[place.part];
    first.push_back(place);
  }
  for (int64_t left : missing) exported.present.push_back(left == 0);
  for (const Place& place : first) {
    if (missing[place.part] != 0) continue;
    exported.places.push_back(place);
    ArrayExpectation& leaf = expectation.leaves[place.leaf];
    const int64_t width = BoundsPerElement(leaf.plain.element_type());
    for (int64_t k = 0; k < width; ++k) leaf.bounds[place.element * width + k].flags = kByProperty;
  }
  if (!exported.places.empty()) expectation.properties.push_back(std::move(exported));
}

// Adds the leaves of the result of a device, and the properties whose elements are among them;
// notes its places of joint choices.
void ExportValue(Value value, int64_t device, JointPlaces& joints, Expectation& expectation) {
  const std::vector<Array> arrays = ExportLeaves(std::move(value), expectation);
  const FoundProperties found(arrays, expectation);
  for (const reference::Property* property : found.order())
    ExportProperty(*property, found.PlacesOf(property), expectation);
  joints.Add(device, arrays);
}

// Under the profile xla any NaN serves for a NaN.
void FreeNans(const Profile& profile, Expectation& expectation) {
  if (!profile.IsXla()) return;
  for (ArrayExpectation& leaf : expectation.leaves) leaf.nan_bits = false;
}

// The oracle's own answer must be one of those that it allows.
absl::Status CheckOwnAnswer(const Expectation& expectation) {
  std::vector<const Literal*> plain;
  for (const ArrayExpectation& leaf : expectation.leaves) plain.push_back(&leaf.plain);
  const Judgement judgement = JudgeLeaves(expectation, plain);
  if (judgement.verdict != Verdict::kFail) return absl::OkStatus();
  const ElementFailure& at = judgement.worst;
  return absl::InternalError(
      StrCat("the oracle's own value lies outside its bound, a defect of the oracle: output ",
             at.leaf, ", element ", at.element, ", allowed ",
             DescribeAllowed(expectation.leaves[at.leaf], at.element), ", value ",
             DescribeElement(expectation.leaves[at.leaf].plain, at.element)));
}

class InterpreterOracle : public Oracle {
 public:
  explicit InterpreterOracle(CustomCallFunctions custom_calls)
      : custom_calls_(std::move(custom_calls)) {}

  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, nullptr);
    interpreter.set_custom_calls(&custom_calls_);
    ASSAY_ASSIGN_OR_RETURN(const Value value, Run(module, arguments, budget, interpreter));
    return reference::ToLiteral(value);
  }

  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    return ExpectFrom(module, arguments, {}, profile, limits);
  }

  absl::StatusOr<Expectation> ExpectFrom(const Module& module,
                                         const std::vector<const Literal*>& arguments,
                                         const Captures& captures, const Profile& profile,
                                         const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, &profile);
    interpreter.set_custom_calls(&custom_calls_);
    ASSAY_ASSIGN_OR_RETURN(CapturedRun captured, CapturedRun::Make(module, captures, profile));
    const bool has_captures = captures.visits_all || !captures.values.empty();
    if (has_captures) interpreter.set_captured(&captured);
    absl::StatusOr<Value> value = Run(module, arguments, budget, interpreter);
    Expectation expectation;
    if (reference::IsInconclusive(value.status())) {
      expectation.inconclusive = std::string(ToStd(value.status().message()));
      return WithPlainLeaves(module, arguments, limits, std::move(expectation));
    }
    if (!value.ok()) return value.status();
    JointPlaces joints;
    ExportValue(*std::move(value), 0, joints, expectation);
    Expectation* const device = &expectation;
    joints.Export({&device, 1});
    FreeNans(profile, expectation);
    // Results that come of captured values need not be those that the oracle itself would compute.
    if (!has_captures) ASSAY_RETURN_IF_ERROR(CheckOwnAnswer(expectation));
    return expectation;
  }

  absl::StatusOr<Literal> DrawFrom(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Captures& captures, const DrawOptions& options,
                                   const Limits& limits) override {
    using reference::LegalChoices;
    Budget budget(limits);
    Interpreter interpreter(budget, nullptr);
    interpreter.set_custom_calls(&custom_calls_);
    ASSAY_ASSIGN_OR_RETURN(CapturedRun captured,
                           CapturedRun::Make(module, captures, Profile::Xla()));
    captured.set_draw(&options);
    interpreter.set_captured(&captured);
    // By turns all sums in one order, and each in a direction of its own.
    const auto rule = static_cast<int>(options.seed / 2 % LegalChoices::kRules) + 1;
    LegalChoices choices = options.seed % 2 == 0
                               ? LegalChoices::OfRule(rule)
                               : LegalChoices::OfDirections(options.seed, nullptr);
    if (options.flushes) choices.FlushSubnormals();
    interpreter.set_choices(&choices);
    ASSAY_ASSIGN_OR_RETURN(const Value value, Run(module, arguments, budget, interpreter));
    return reference::ToLiteral(value);
  }

  absl::StatusOr<std::vector<DeviceOutputs>> EvaluateDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Limits& limits) override {
    std::vector<DeviceOutputs> outputs(inputs.size());
    auto take = [&](reference::Device& device, const Value& value) {
      DeviceOutputs& output = outputs[device.number()];
      output.result = reference::ToLiteral(value);
      for (const Value& item : device.outfeed) output.outfeed.push_back(reference::ToLiteral(item));
    };
    ASSAY_RETURN_IF_ERROR(RunDevices({module, devices, inputs}, nullptr, limits, take));
    return outputs;
  }

  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Profile& profile,
      const Limits& limits) override {
    return ExpectDevicesFrom(module, devices, inputs, {}, profile, limits);
  }

  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevicesFrom(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Captures& captures, const Profile& profile,
      const Limits& limits) override {
    std::vector<DeviceExpectation> expectations(inputs.size());
    std::vector<CapturedRun> captured;
    const bool has_captures = captures.visits_all || !captures.values.empty();
    for (size_t d = 0; has_captures && d < inputs.size(); ++d) {
      absl::StatusOr<CapturedRun> run =
          CapturedRun::Make(module, captures, profile, static_cast<int64_t>(d));
      if (!run.ok()) return run.status();
      captured.push_back(*std::move(run));
    }
    JointPlaces joints;
    auto take = [&](reference::Device& device, Value value) {
      DeviceExpectation& expectation = expectations[device.number()];
      ExportValue(std::move(value), device.number(), joints, expectation.result);
      for (Value& item : device.outfeed)
        ExportLeaves(std::move(item), expectation.outfeed.emplace_back());
      FreeNans(profile, expectation.result);
      for (Expectation& item : expectation.outfeed) FreeNans(profile, item);
    };
    absl::Status status =
        RunDevices({module, devices, inputs, absl::MakeSpan(captured)}, &profile, limits, take);
    if (reference::IsInconclusive(status))
      return PlainDevices({module, devices, inputs}, limits, status);
    if (!status.ok()) return status;
    for (const DeviceExpectation& expectation : expectations) {
      if (has_captures) break;
      status = CheckOwnAnswer(expectation.result);
      for (const Expectation& item : expectation.outfeed) status.Update(CheckOwnAnswer(item));
      if (!status.ok()) return status;
    }
    std::vector<Expectation*> devices_results;
    for (DeviceExpectation& expectation : expectations)
      devices_results.push_back(&expectation.result);
    joints.Export(devices_results);
    return expectations;
  }

 private:
  struct DeviceProgram {
    const Module& module;
    const DeviceAssignment& devices;
    const std::vector<DeviceInputs>& inputs;
    absl::Span<CapturedRun> captured = {};  // by device; empty: nothing was seen
  };

  // Runs all devices and hands each one's result and outfeed to `take`.
  absl::Status RunDevices(const DeviceProgram& program, const Profile* profile,
                          const Limits& limits,
                          const std::function<void(reference::Device&, Value)>& take) const {
    ASSAY_RETURN_IF_ERROR(CheckDevices(program.devices, program.inputs.size()));
    Budget budget(limits);
    DeviceMesh mesh(program.devices.replicas, program.devices.partitions);
    auto plans = std::make_shared<reference::Plans>(profile != nullptr);
    return mesh.Run([&](reference::Device& device) -> absl::Status {
      const DeviceInputs& input = program.inputs[device.number()];
      device.infeed.assign(input.infeed.begin(), input.infeed.end());
      Interpreter interpreter(budget, profile, device, plans);
      interpreter.set_custom_calls(&custom_calls_);
      if (!program.captured.empty()) interpreter.set_captured(&program.captured[device.number()]);
      ASSAY_ASSIGN_OR_RETURN(Value value,
                             Run(program.module, input.arguments, budget, interpreter));
      take(device, std::move(value));
      return absl::OkStatus();
    });
  }

  absl::StatusOr<std::vector<DeviceExpectation>> PlainDevices(const DeviceProgram& program,
                                                              const Limits& limits,
                                                              const absl::Status& reason) {
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<DeviceOutputs> outputs,
        EvaluateDevices(program.module, program.devices, program.inputs, limits));
    std::vector<DeviceExpectation> expectations;
    for (const DeviceOutputs& output : outputs) {
      DeviceExpectation& expectation = expectations.emplace_back();
      expectation.result.inconclusive = std::string(ToStd(reason.message()));
      AddPlainLeaves(output.result, expectation.result);
      for (const Literal& item : output.outfeed) {
        expectation.outfeed.emplace_back().inconclusive = expectation.result.inconclusive;
        AddPlainLeaves(item, expectation.outfeed.back());
      }
    }
    return expectations;
  }

  // Adds the plain outputs to an inconclusive expectation: it still says what they are like.
  absl::StatusOr<Expectation> WithPlainLeaves(const Module& module,
                                              const std::vector<const Literal*>& arguments,
                                              const Limits& limits, Expectation expectation) {
    ASSAY_ASSIGN_OR_RETURN(const Literal plain, Evaluate(module, arguments, limits));
    AddPlainLeaves(plain, expectation);
    return expectation;
  }

  const CustomCallFunctions custom_calls_;
};

}  // namespace

namespace reference {

ArrayExpectation Export(Array& array) {
  ArrayExpectation leaf;
  leaf.plain = std::move(array.literal);
  leaf.choices = std::move(array.facts().choices);
  leaf.nan_bits = array.facts().nan_bits;
  const bool all_forced =
      std::all_of(array.facts().bounds.begin(), array.facts().bounds.end(),
                  [](const ElementBound& bound) { return (bound.flags & kForced) != 0; });
  if (all_forced) return leaf;
  leaf.significand = array.facts().significand;
  leaf.bounds = std::move(array.facts().bounds);
  const bool is_f32 = leaf.plain.element_type() == ElementType::kF32;
  const float* values = is_f32 ? leaf.plain.data<float>().data() : nullptr;
  for (size_t i = 0; i < leaf.bounds.size(); ++i) {
    if ((leaf.bounds[i].flags & kForced) == 0) continue;
    const double value = is_f32 ? values[i] : leaf.plain.GetComponent(static_cast<int64_t>(i));
    leaf.bounds[i] = {value, 0, 0, kForced};
  }
  return leaf;
}

}  // namespace reference

std::unique_ptr<Oracle> MakeInterpreterOracle(CustomCallFunctions custom_calls) {
  return std::make_unique<InterpreterOracle>(std::move(custom_calls));
}

}  // namespace assay
