// The Oracle interface on top of the interpreter.
#include <algorithm>

#include "reference/interpreter/dynamic_shapes.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using reference::Array;
using reference::Budget;
using reference::Interpreter;
using reference::Machine;
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
  if (absl::Status status = CheckArguments(module, arguments); !status.ok()) return status;
  std::vector<Value> values;
  for (const Literal* argument : arguments) {
    if (absl::Status status = budget.memory().Check(argument->shape().ByteSize()); !status.ok())
      return status;
    values.push_back(reference::MakeValue(*argument, budget.memory()));
  }
  if (absl::Status status = reference::BindSizes(interpreter, module, values); !status.ok())
    return status;
  return interpreter.Run(*module.entry(), values);
}

// A thread each.
constexpr int64_t kMaxDevicesOfRun = 1024;

// Runs all devices and hands each one's result and outfeed to `take`.
absl::Status RunDevices(const Module& module, const DeviceAssignment& devices,
                        const std::vector<DeviceInputs>& inputs, const Profile* profile,
                        const Limits& limits,
                        const std::function<void(reference::Device&, Value)>& take) {
  if (devices.replicas < 1 || devices.partitions < 1 ||
      devices.replicas > kMaxDevicesOfRun / devices.partitions) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(devices.replicas, " replicas of ", devices.partitions,
                            " partitions: the oracle runs 1 to ", kMaxDevicesOfRun, " devices"));
  }
  const int64_t count = devices.replicas * devices.partitions;
  if (static_cast<int64_t>(inputs.size()) != count) {
    return MakeError(ErrorClass::kRejected, StrCat("inputs for ", inputs.size(),
                                                   " devices were given, there are ", count));
  }
  Budget budget(limits);
  Machine machine(devices.replicas, devices.partitions);
  auto plans = std::make_shared<reference::Plans>();
  return machine.Run([&](reference::Device& device) -> absl::Status {
    const DeviceInputs& input = inputs[device.number()];
    device.infeed.assign(input.infeed.begin(), input.infeed.end());
    Interpreter interpreter(budget, profile, device, plans);
    absl::StatusOr<Value> value = Run(module, input.arguments, budget, interpreter);
    if (value.ok()) take(device, *std::move(value));
    return value.status();
  });
}

// What callers outside see of an array: no views, the centre of forced elements filled in. The
// bounds of an array that nobody else holds are taken over.
ArrayExpectation Export(const std::shared_ptr<const Array>& array) {
  ArrayExpectation leaf;
  leaf.plain = array->literal;
  leaf.choices = array->choices;
  const bool all_forced =
      std::all_of(array->bounds.begin(), array->bounds.end(),
                  [](const ElementBound& bound) { return (bound.flags & kForced) != 0; });
  if (all_forced) return leaf;
  leaf.significand = array->significand;
  if (array.use_count() == 1) {
    leaf.bounds = std::move(const_cast<Array&>(*array).bounds);
  } else {
    leaf.bounds = array->bounds;
  }
  const bool is_f32 = leaf.plain.element_type() == ElementType::kF32;
  const float* values = is_f32 ? leaf.plain.data<float>().data() : nullptr;
  for (size_t i = 0; i < leaf.bounds.size(); ++i) {
    if ((leaf.bounds[i].flags & kForced) == 0) continue;
    const double value = is_f32 ? values[i] : leaf.plain.GetComponent(static_cast<int64_t>(i));
    leaf.bounds[i] = {value, 0, 0, kForced};
  }
  return leaf;
}

void ExportLeaves(const Value& value, std::vector<ArrayExpectation>& leaves) {
  if (!value.IsTuple()) {
    leaves.push_back(Export(value.array));
    return;
  }
  for (const Value& element : value.elements) ExportLeaves(element, leaves);
}

void AddPlainLeaves(const Literal& plain, Expectation& expectation) {
  for (const Literal* leaf : Leaves(plain)) {
    expectation.leaves.emplace_back();
    expectation.leaves.back().plain = *leaf;
  }
}

void CollectOrigins(const Value& value, std::vector<const Array*>& arrays) {
  if (!value.IsTuple()) {
    arrays.push_back(value.array.get());
    return;
  }
  for (const Value& element : value.elements) CollectOrigins(element, arrays);
}

// The properties whose elements reached the outputs: of each the parts that are all there. An
// element that is there more than once is judged at its first place.
void ExportProperties(const Value& value, Expectation& expectation) {
  using Place = PropertyExpectation::Place;
  std::vector<const Array*> arrays;
  CollectOrigins(value, arrays);
  absl::flat_hash_map<const reference::Property*, std::vector<Place>> found;
  std::vector<const reference::Property*> order;
  for (size_t leaf = 0; leaf < arrays.size(); ++leaf) {
    const Array& array = *arrays[leaf];
    for (int64_t i = 0; !array.origins.empty() && i < array.literal.element_count(); ++i) {
      auto origin = array.origins.find(i);
      if (origin == array.origins.end() || origin->second.piece != reference::Origin::kWhole)
        continue;
      const reference::Property* property = origin->second.property.get();
      if (!found.contains(property)) order.push_back(property);
      found[property].push_back(
          {static_cast<int64_t>(leaf), i, origin->second.part, origin->second.index});
    }
  }
  for (const reference::Property* property : order) {
    PropertyExpectation exported{property->what, {}, {}, {}, property->violation};
    std::vector<std::vector<bool>> seen;
    std::vector<int64_t> missing;
    for (const Shape& shape : property->parts) {
      exported.parts.emplace_back(shape);
      seen.emplace_back(static_cast<size_t>(shape.ElementCount()), false);
      missing.push_back(shape.ElementCount());
    }
    std::vector<Place> first;
    for (const Place& place : found[property]) {
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
      for (int64_t k = 0; k < width; ++k)
        leaf.bounds[place.element * width + k].flags = kByProperty;
    }
    if (!exported.places.empty()) expectation.properties.push_back(std::move(exported));
  }
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
  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, nullptr);
    absl::StatusOr<Value> value = Run(module, arguments, budget, interpreter);
    if (!value.ok()) return value.status();
    return reference::ToLiteral(*value);
  }

  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    Budget budget(limits);
    Interpreter interpreter(budget, &profile);
    absl::StatusOr<Value> value = Run(module, arguments, budget, interpreter);
    Expectation expectation;
    if (reference::IsInconclusive(value.status())) {
      expectation.inconclusive = std::string(ToStd(value.status().message()));
      return WithPlainLeaves(module, arguments, limits, std::move(expectation));
    }
    if (!value.ok()) return value.status();
    ExportLeaves(*value, expectation.leaves);
    ExportProperties(*value, expectation);
    if (absl::Status status = CheckOwnAnswer(expectation); !status.ok()) return status;
    return expectation;
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
    absl::Status status = RunDevices(module, devices, inputs, nullptr, limits, take);
    if (!status.ok()) return status;
    return outputs;
  }

  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Profile& profile,
      const Limits& limits) override {
    std::vector<DeviceExpectation> expectations(inputs.size());
    auto take = [&](reference::Device& device, const Value& value) {
      DeviceExpectation& expectation = expectations[device.number()];
      ExportLeaves(value, expectation.result.leaves);
      ExportProperties(value, expectation.result);
      for (const Value& item : device.outfeed)
        ExportLeaves(item, expectation.outfeed.emplace_back().leaves);
    };
    absl::Status status = RunDevices(module, devices, inputs, &profile, limits, take);
    if (reference::IsInconclusive(status))
      return PlainDevices(module, devices, inputs, limits, status);
    if (!status.ok()) return status;
    for (const DeviceExpectation& expectation : expectations) {
      status = CheckOwnAnswer(expectation.result);
      for (const Expectation& item : expectation.outfeed) status.Update(CheckOwnAnswer(item));
      if (!status.ok()) return status;
    }
    return expectations;
  }

 private:
  absl::StatusOr<std::vector<DeviceExpectation>> PlainDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Limits& limits, const absl::Status& reason) {
    auto outputs = EvaluateDevices(module, devices, inputs, limits);
    if (!outputs.ok()) return outputs.status();
    std::vector<DeviceExpectation> expectations;
    for (const DeviceOutputs& output : *outputs) {
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

  // An inconclusive expectation still says what the outputs are like.
  absl::StatusOr<Expectation> WithPlainLeaves(const Module& module,
                                              const std::vector<const Literal*>& arguments,
                                              const Limits& limits, Expectation expectation) {
    absl::StatusOr<Literal> plain = Evaluate(module, arguments, limits);
    if (!plain.ok()) return plain.status();
    AddPlainLeaves(*plain, expectation);
    return expectation;
  }
};

}  // namespace

std::unique_ptr<Oracle> MakeOracle() { return std::make_unique<InterpreterOracle>(); }

}  // namespace assay
