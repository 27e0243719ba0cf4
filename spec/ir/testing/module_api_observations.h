// Common ground of the observations of module_rows.txt: modules to try things on, and what they
// show as text. Each file that includes this observes one side of the module's interface.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "spec/attributes/sharding_text.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/ir/hlo_module.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/hlo_module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay::module_api {

// The computations: added, replaced, called, ordered, outlined, cleaned up.
void ObserveComputations(Observations& see);
// Names, ids, random numbers, hashes, configuration, forms.
void ObserveIdentity(Observations& see);
// Observes what lies beside the computations: schedule, shardings, aliases, bindings, prefetches.
void ObserveAnnotations(Observations& see);

inline const Shape kF4 = Shape::Array(ElementType::kF32, {4});

// main calls outer, outer calls inner, and fuses fused.
inline constexpr std::string_view kSample = R"(HloModule sample

inner {
  p = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(p)
}

fused {
  q = f32[4]{0} parameter(0)
  ROOT e = f32[4]{0} exponential(q)
}

outer {
  o = f32[4]{0} parameter(0)
  f = f32[4]{0} fusion(o), kind=kLoop, calls=fused
  ROOT c = f32[4]{0} call(f), to_apply=inner
}

ENTRY main {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} parameter(1)
  k = f32[4]{0} call(a), to_apply=outer
  s = f32[4]{0} sine(k)
  ROOT r = f32[4]{0} add(s, b)
}
)";

inline constexpr std::string_view kTwoOrders = R"(HloModule m
ENTRY main {
  a = f32[4]{0} parameter(0)
  x = f32[4]{0} negate(a)
  y = f32[4]{0} sine(a)
  ROOT r = f32[4]{0} add(x, y)
}
)";

inline std::unique_ptr<Module> Sample() { return *ReadModule(kSample); }

// p0 -> negate, or what `opcode` says.
inline std::unique_ptr<Computation> Unary(std::string name, Opcode opcode = Opcode::kNegate) {
  auto computation = Computation::Create(std::move(name));
  Instruction* p = computation->AddParameter(0, kF4);
  hlo_module::set_root_instruction(*computation, computation->Add(opcode, kF4, {p}));
  return computation;
}

inline std::string Text(const absl::Status& status) {
  return status.ok() ? "ok" : std::string(status.message());
}

template <typename T>
inline std::string Text(const absl::StatusOr<T>& value) {
  return Text(value.status());
}

template <typename Range>
inline std::string Names(const Range& range) {
  std::string names;
  for (const auto* one : range) StrAppend(&names, names.empty() ? "" : " ", one->name());
  return names;
}

inline std::string Bool(bool value) { return value ? "true" : "false"; }

inline std::string HeaderOf(const Module& module) {
  const std::string text = module.ToString();
  return text.substr(0, text.find('\n'));
}

inline Instruction* Find(const Module& module, std::string_view name) {
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : computation->instructions()) {
      if (instruction->name() == name) return instruction;
    }
  }
  return nullptr;
}

inline std::unique_ptr<Module> ThroughProto(const Module& module) {
  return *hlo_module::CreateFromProto(hlo_module::ToProto(module), ModuleConfig());
}

// In the module itself, in its clone, and in what its message gives.
inline std::string Everywhere(const Module& module,
                              const std::function<std::string(const Module&)>& observe) {
  const std::string own = observe(module), clone = observe(*module.Clone()),
                    proto = observe(*ThroughProto(module));
  return own == clone && own == proto ? own
                                      : StrCat("own ", own, " clone ", clone, " proto ", proto);
}

inline std::string ShardingText(const Sharding& sharding) {
  std::string text;
  AppendSharding(text, sharding);
  return text;
}

// A schedule of kTwoOrders with its two independent instructions exchanged.
inline Schedule SwappedSchedule(const Module& module) {
  Schedule schedule;
  schedule.set_sequence(
      module.entry(), {Find(module, "a"), Find(module, "y"), Find(module, "x"), Find(module, "r")});
  return schedule;
}

}  // namespace assay::module_api
