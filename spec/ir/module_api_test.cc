// The members of the HloModule document, one line of testdata/module_rows.txt each.
#include <algorithm>
#include <set>
#include <thread>

#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"
#include "spec/ir/hlo.h"
#include "spec/ops/verifier.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

const Shape kF4 = Shape::Array(ElementType::kF32, {4});

// main calls outer, outer calls inner, and fuses fused.
constexpr std::string_view kSample = R"(HloModule sample

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

std::unique_ptr<Module> Sample() { return *ReadModule(kSample); }

// p0 -> negate, or what `opcode` says.
std::unique_ptr<Computation> Unary(std::string name, Opcode opcode = Opcode::kNegate) {
  auto computation = Computation::Create(std::move(name));
  Instruction* p = computation->AddParameter(0, kF4);
  computation->set_root_instruction(computation->Add(opcode, kF4, {p}));
  return computation;
}

std::string Text(const absl::Status& status) {
  return status.ok() ? "ok" : std::string(status.message());
}
template <typename T>
std::string Text(const absl::StatusOr<T>& value) {
  return Text(value.status());
}
template <typename Range>
std::string Names(const Range& range) {
  std::string names;
  for (const auto* one : range) StrAppend(&names, names.empty() ? "" : " ", one->name());
  return names;
}
std::string Bool(bool value) { return value ? "true" : "false"; }
std::string HeaderOf(const Module& module) {
  const std::string text = module.ToString();
  return text.substr(0, text.find('\n'));
}
Instruction* Find(const Module& module, std::string_view name) {
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : computation->instructions()) {
      if (instruction->name() == name) return instruction;
    }
  }
  return nullptr;
}
std::unique_ptr<Module> ThroughProto(const Module& module) {
  return *Module::CreateFromProto(module.ToProto(), ModuleConfig());
}
// In the module itself, in its clone, and in what its message gives.
std::string Everywhere(const Module& module,
                       const std::function<std::string(const Module&)>& observe) {
  const std::string own = observe(module), clone = observe(*module.Clone()),
                    proto = observe(*ThroughProto(module));
  return own == clone && own == proto ? own
                                      : StrCat("own ", own, " clone ", clone, " proto ", proto);
}
std::string ShardingText(const Sharding& sharding) {
  std::string text;
  AppendSharding(text, sharding);
  return text;
}

// A schedule other than the stored order: of two independent instructions the second first.
constexpr std::string_view kTwoOrders = R"(HloModule m
ENTRY main {
  a = f32[4]{0} parameter(0)
  x = f32[4]{0} negate(a)
  y = f32[4]{0} sine(a)
  ROOT r = f32[4]{0} add(x, y)
}
)";
Schedule SwappedSchedule(const Module& module) {
  Schedule schedule;
  schedule.set_sequence(
      module.entry(), {Find(module, "a"), Find(module, "y"), Find(module, "x"), Find(module, "r")});
  return schedule;
}

std::string RandomPrefix(const Module& module) {
  const uint64_t first = module.RandomNew64();
  return StrCat(first, " ", module.RandomNew64());
}

std::string ThreadedIds() {
  std::vector<std::vector<int64_t>> ids(4);
  std::vector<std::thread> threads;
  for (auto& list : ids) {
    threads.emplace_back([&list] {
      for (int i = 0; i < 200; ++i) list.push_back(Module("m").unique_id());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> unique;
  for (const auto& list : ids) unique.insert(list.begin(), list.end());
  return StrCat(unique.size(), " different of 800");
}

std::string ThreadedRandom() {
  Module module("m");
  std::vector<std::vector<uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& list : drawn) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) list.push_back(module.RandomNew64());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::multiset<uint64_t> all;
  for (const auto& list : drawn) all.insert(list.begin(), list.end());
  Module other("n");
  std::multiset<uint64_t> wanted;
  for (int i = 0; i < 1000; ++i) wanted.insert(other.RandomNew64());
  return all == wanted ? "the same 1000 numbers" : "other numbers";
}

// Whether clones hash and match alike, and every single change shows.
std::string HashAgainstIdentical() {
  const auto sample = Sample();
  int same = 0, different = 0;
  auto clone = sample->Clone();
  same += sample->Hash() == clone->Hash() &&
          sample->entry()->root()->Identical(*clone->entry()->root());
  const std::function<void(Module&)> changes[] = {
      [](Module& m) { m.entry()->root()->ReplaceOperand(0, m.entry()->parameter(1)); },
      [](Module& m) { Find(m, "s")->mutable_shape() = Shape::Array(ElementType::kF32, {4, 1}); },
      [](Module& m) { m.entry()->set_root(Find(m, "s")); },
      [](Module& m) { Find(m, "k")->set_callee(0, m.GetComputationWithName("inner")); },
      [](Module& m) { Find(m, "r")->mutable_attributes().Set(Attr::kBackendConfig, "x"); }};
  for (const auto& change : changes) {
    auto changed = sample->Clone();
    change(*changed);
    different += sample->Hash() != changed->Hash() &&
                 !sample->entry()->root()->Identical(*changed->entry()->root());
  }
  return StrCat(same, " same, ", different, " of ", std::size(changes), " changes seen");
}

// Callees before callers in 50 random acyclic call graphs.
std::string RandomPostOrders() {
  Module source("m");
  int right = 0;
  for (int graph = 0; graph < 50; ++graph) {
    Module module("g");
    std::vector<Computation*> made;
    for (int i = 0; i < 12; ++i) {
      auto computation = Computation::Create(StrCat("c", i));
      Instruction* value = computation->AddParameter(0, kF4);
      for (Computation* callee : made) {
        if (source.RandomNew64() % 4 != 0) continue;
        value = computation->Add(Opcode::kCall, kF4, {value}, {}, {callee});
      }
      computation->set_root(value);
      made.push_back(*module.AddEmbeddedComputation(std::move(computation)));
    }
    module.set_entry(made.back());
    std::set<const Computation*> before;
    bool good = true;
    for (Computation* computation : module.MakeComputationPostOrder()) {
      for (Instruction* instruction : computation->instructions()) {
        for (Computation* callee : instruction->callees()) good = good && before.contains(callee);
      }
      before.insert(computation);
    }
    right += good && before.size() == made.size();
  }
  return StrCat(right, " of 50 graphs");
}

std::string DynamicBinding(const Module& module) {
  std::string out;
  for (const auto& [dimension, size] : module.dynamic_parameter_binding().entries()) {
    StrAppend(&out, "parameter ", dimension.parameter_num, " dimension ", dimension.dimension,
              " by parameter ", size.parameter_num);
  }
  return out;
}

std::unique_ptr<Module> Bound() {
  auto module = Sample();
  module->dynamic_parameter_binding().Bind({1, {}}, {0, {}, 0}).IgnoreError();
  return module;
}

std::unique_ptr<Module> Sharded() {
  auto module = Sample();
  module->set_spmd_parameters_shardings(
      {*ReadSharding("{devices=[2]<=[2]}"), *ReadSharding("{replicated}")});
  module->set_spmd_output_sharding(*ReadSharding("{maximal device=1}"));
  return module;
}
std::string ParameterShardings(const Module& module) {
  std::string out;
  for (const Sharding& sharding : module.spmd_parameters_shardings()) out += ShardingText(sharding);
  return out;
}

std::unique_ptr<Module> Prefetching() {
  auto module = Sample();
  module->AddCrossProgramPrefetch(1, {});
  module->AddCrossProgramPrefetch(0, {2, 3});
  return module;
}
std::string Prefetches(const Module& module) {
  std::string out;
  for (const auto& [parameter, index] : module.CrossProgramPrefetches()) {
    StrAppend(&out, out.empty() ? "" : ", ", parameter, " at ", index.size());
  }
  return out;
}

std::unique_ptr<Module> Aliased() {
  auto module = Sample();
  module->input_output_alias_config().push_back({{}, 0, {}, true});
  return module;
}
std::string Aliases(const Module& module) {
  const std::string header = HeaderOf(module);
  const size_t at = header.find("input_output_alias");
  return at == std::string::npos ? "none" : header.substr(at, 46);
}

std::string Outlined() {
  auto module = Sample();
  const uint64_t inner = HashComputation(*module->GetComputationWithName("inner"));
  auto call = module->OutlineExpressionFromComputation({Find(*module, "k"), Find(*module, "s")},
                                                       "expression", module->entry());
  if (!call.ok()) return Text(call);
  return StrCat(
      (*call)->ToString(), "; root ", Name((*call)->callee()->root()->opcode()), "; ",
      Text(Verify(*module)), "; inner ",
      inner == HashComputation(*module->GetComputationWithName("inner")) ? "kept" : "changed");
}

std::string TwoOutputs() {
  auto module = *ReadModule(kTwoOrders);
  return Text(module->OutlineExpressionFromComputation({Find(*module, "x"), Find(*module, "y")},
                                                       "two", module->entry()));
}

ModuleConfig WithReplicas(int64_t count) {
  ModuleConfig config;
  config.replica_count = count;
  return config;
}

Observations All() {
  Observations see;
  see["api-hlo-module"] = [] {
    auto module = Sample();
    return StrCat(module->computation_count(), " computations, entry ", module->entry()->name());
  };
  see["api-hlo-computation"] = [] {
    auto module = Sample();
    return StrCat(module->entry()->instruction_count(), " instructions, root ",
                  module->entry()->root_instruction()->name());
  };
  see["api-hlo-instruction"] = [] {
    auto module = Sample();
    return StrCat(Find(*module, "k")->callee()->name(), " is what ", Find(*module, "k")->name(),
                  " calls");
  };
  see["api-ctor"] = [] {
    Module module("m", ModuleConfig());
    return StrCat(module.name(), ", ", module.computation_count(), " computations, replicas ",
                  module.config().replica_count);
  };
  see["api-add-entry-computation"] = [] {
    Module module("m");
    auto first = module.AddEntryComputation(Unary("main"));
    auto second = module.AddEntryComputation(Unary("again"));
    return StrCat((*first)->name(), "; ", Text(second), "; ", module.computation_count());
  };
  see["api-add-entry-computation-with-layouts"] = [] {
    Module module("m");
    auto computation = Computation::Create("main");
    Shape shape = Shape::Array(ElementType::kF32, {2, 3});
    shape.set_layout(Layout({0, 1}));
    computation->set_root(computation->AddParameter(0, shape));
    module.AddEntryComputationWithLayouts(std::move(computation)).status().IgnoreError();
    return module.entry_computation_layout().result.ToString(true);
  };
  see["api-replace-entry-computation"] = [] {
    auto module = Sample();
    Module other("other");
    Computation* foreign = *other.AddEntryComputation(Unary("x"));
    const std::string wrong = Text(module->ReplaceEntryComputation(foreign));
    const std::string right =
        Text(module->ReplaceEntryComputation(module->GetComputationWithName("outer")));
    return StrCat(wrong, "; ", right, "; ", module->entry()->name());
  };
  see["api-add-embedded-computation"] = [] {
    auto module = Sample();
    auto added = module->AddEmbeddedComputation(Unary("inner"));
    return StrCat((*added)->name(), " ", module->computation_count(), " ", module->entry()->name());
  };
  see["api-remove-embedded-computation"] = [] {
    auto module = Sample();
    Module other("other");
    Computation* foreign = *other.AddEntryComputation(Unary("x"));
    Computation* unused = *module->AddEmbeddedComputation(Unary("unused"));
    return StrCat(Text(module->RemoveEmbeddedComputation(foreign)), "; ",
                  Text(module->RemoveEmbeddedComputation(module->entry())), "; ",
                  Text(module->RemoveEmbeddedComputation(module->GetComputationWithName("inner"))),
                  "; ", Text(module->RemoveEmbeddedComputation(unused)));
  };
  see["api-remove-unused-computations"] = [] {
    auto module = Sample();
    module->AddEmbeddedComputation(Unary("unused")).status().IgnoreError();
    const std::string status = Text(module->RemoveUnusedComputations());
    return StrCat(status, "; ", Names(module->computations()));
  };
  see["api-replace-computations"] = [] {
    auto module = Sample();
    Computation* other = *module->AddEmbeddedComputation(Unary("other", Opcode::kSine));
    Computation* main = *module->AddEmbeddedComputation(Unary("main2"));
    module->ReplaceComputations(
        {{module->GetComputationWithName("inner"), other}, {module->entry(), main}});
    return StrCat(Find(*module, "c")->callee()->name(), " ", module->entry()->name());
  };
  see["api-name"] = [] { return Sample()->name(); };
  see["api-set-name"] = [] {
    auto module = Sample();
    module->set_name("renamed");
    return HeaderOf(*module);
  };
  see["api-clone-suffix"] = [] {
    auto module = Sample();
    auto clone = module->Clone();
    std::string text = clone->ToString();
    clone->set_name(module->name());
    return StrCat(text.substr(0, text.find('\n')), "; otherwise ",
                  clone->ToString() == module->ToString() ? "equal" : "different", "; ",
                  module->Clone("x")->name());
  };
  see["api-clone-config"] = [] {
    auto clone = Sample()->Clone(WithReplicas(4), "other");
    return StrCat(clone->name(), " ", clone->config().replica_count);
  };
  see["api-deep-clone-computation"] = [] {
    auto module = Sample();
    CloneContext context;
    Computation* outer = module->GetComputationWithName("outer");
    Computation* clone = module->DeepCloneComputation(outer, &context);
    Computation* inner = module->GetComputationWithName("inner");
    return StrCat(clone->name(), " calls ", clone->root()->callee()->name(), "; inner is ",
                  context.computations.at(inner)->name(), "; ", context.instructions.size(),
                  " instructions; ", Bool(clone->Equal(*outer)));
  };
  see["api-entry-computation"] = [] {
    Module empty("m");
    return StrCat(Sample()->entry_computation()->name(), "; without one ",
                  Fate([&] { empty.entry_computation(); }));
  };
  see["api-has-entry-computation"] = [] {
    Module module("m");
    const bool before = module.has_entry_computation();
    module.AddEntryComputation(Unary("main")).status().IgnoreError();
    return StrCat(Bool(before), " ", Bool(module.has_entry_computation()));
  };
  see["api-result-shape"] = [] {
    Module empty("m");
    return StrCat(Sample()->result_shape().ToString(), "; without one ",
                  Fate([&] { empty.result_shape(); }));
  };
  see["api-compute-computation-layout"] = [] {
    auto module = *ReadModule(
        "HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}\n"
        "ENTRY e { ROOT a = f32[2,3]{0,1} parameter(0) }");
    return module->compute_computation_layout().result.ToString(true);
  };
  see["api-mutable-entry-computation-layout"] = [] {
    auto module = Sample();
    module->mutable_entry_computation_layout()->result = Shape::Array(ElementType::kF32, {7});
    return module->entry_computation_layout().result.ToString();
  };
  see["api-entry-computation-layout"] = [] {
    auto module = Sample();
    module->mutable_entry_computation_layout();
    return HeaderOf(**ReadModule(module->ToString()));
  };
  see["api-hash"] = HashAgainstIdentical;
  see["api-computations-const"] = [] {
    const auto module = Sample();
    std::string names;
    for (const Computation* c : std::as_const(*module).computations()) names += c->name() + " ";
    return names;
  };
  see["api-computation-instructions"] = [] { return Names(Sample()->entry()->instructions()); };
  see["api-computations-mutable"] = [] {
    auto module = Sample();
    for (Computation* c : module->computations()) c->set_execution_thread("t");
    return StrCat(module->MakeComputationPostOrder({"t"}).size(), " of ",
                  module->computation_count());
  };
  see["api-get-computation-with-name"] = [] {
    auto module = Sample();
    return StrCat(module->GetComputationWithName("inner")->name(), " ",
                  Bool(module->GetComputationWithName("none") == nullptr));
  };
  see["api-computation-count"] = [] { return StrCat(Sample()->computation_count()); };
  see["api-mutable-computation"] = [] {
    auto module = Sample();
    return StrCat(module->mutable_computation(0)->name(), "; 4 ",
                  Fate([&] { module->mutable_computation(4); }), "; -1 ",
                  Fate([&] { module->mutable_computation(-1); }));
  };
  see["api-instruction-count"] = [] { return StrCat(Sample()->instruction_count()); };
  see["api-cleanup"] = [] {
    auto module = Sample();
    int64_t removed = 0;
    for (Computation* c : module->computations()) {
      Instruction* dead = c->Add(Opcode::kAbs, kF4, {c->parameter(0)});
      c->RemoveInstruction(dead).IgnoreError();
      removed += c->removed_count();
    }
    module->Cleanup();
    int64_t left = 0;
    for (Computation* c : module->computations()) left += c->removed_count();
    return StrCat(removed, " then ", left);
  };
  see["api-make-computation-post-order"] = RandomPostOrders;
  see["api-make-computation-sorted"] = [] {
    // The same computations in another stored order under other names.
    Module a("a"), b("b");
    for (Opcode op : {Opcode::kNegate, Opcode::kSine, Opcode::kCosine}) {
      a.AddEmbeddedComputation(Unary("x", op)).status().IgnoreError();
    }
    for (Opcode op : {Opcode::kCosine, Opcode::kNegate, Opcode::kSine}) {
      b.AddEmbeddedComputation(Unary("y", op)).status().IgnoreError();
    }
    std::string first, second;
    for (Computation* c : a.MakeComputationSorted()) first += Name(c->root()->opcode());
    for (Computation* c : b.MakeComputationSorted()) second += Name(c->root()->opcode());
    return StrCat(a.MakeComputationSorted().size(), " ", first == second ? "same" : "other",
                  " order");
  };
  see["api-make-nonfusion-computations"] = [] {
    auto module = Sample();
    std::string names;
    for (Computation* c : module->MakeNonfusionComputations()) {
      module->AddEmbeddedComputation(Unary("new")).status().IgnoreError();
      StrAppend(&names, c->name(), " ");
    }
    return names;
  };
  see["api-make-nonfusion-computations-sorted"] = [] {
    auto module = Sample();
    auto sorted = module->MakeNonfusionComputationsSorted();
    return StrCat(sorted.size(), " ",
                  Bool(std::none_of(sorted.begin(), sorted.end(),
                                    [](Computation* c) { return c->IsFusionComputation(); })));
  };
  see["api-config"] = [] {
    Module module("m", WithReplicas(3));
    return StrCat(std::as_const(module).config().replica_count);
  };
  see["api-set-config"] = [] {
    Module module("m");
    module.set_config(WithReplicas(5));
    return StrCat(module.config().replica_count);
  };
  see["api-to-string"] = [] {
    auto module = Sample();
    return Bool(module->ToString() == module->ToString(HloPrintOptions()));
  };
  see["api-to-string-options"] = [] {
    auto module = Sample();
    const std::string text = module->ToString(WriteOptions::Short());
    auto again = *ReadModule(text);
    return StrCat(text.find('%') == std::string::npos ? "no %" : "%", ", reads back ",
                  again->ToString(WriteOptions::Short()) == text ? "equal" : "different");
  };
  see["api-to-proto"] = [] {
    auto module = *ReadModule(kTwoOrders);
    module->set_schedule(SwappedSchedule(*module)).IgnoreError();
    module->input_output_alias_config().push_back({{}, 0, {}, false});
    module->AddCrossProgramPrefetch(0, {});
    module->dynamic_parameter_binding().Bind({0, {}}, {0, {}, 0}).IgnoreError();
    const proto::HloModuleProto proto = module->ToProto();
    return StrCat(proto.schedule().sequences_size(), " ", proto.input_output_alias().entries_size(),
                  " ", proto.cross_program_prefetches_size(), " ",
                  proto.dynamic_parameter_binding().entries_size());
  };
  see["api-create-from-proto"] = [] {
    auto module = Sample();
    module->mutable_entry_computation_layout();
    proto::HloModuleProto proto = module->ToProto();
    auto again = Module::CreateFromProto(proto, ModuleConfig());
    const bool same = again.ok() && (*again)->ToString() == module->ToString();
    proto.mutable_computations(0)->set_root_id(1 << 20);
    return StrCat(same ? "equal" : "different", "; ",
                  Text(Module::CreateFromProto(proto, ModuleConfig())));
  };
  see["api-create-module-config-from-proto"] = [] {
    auto config = Module::CreateModuleConfigFromProto(Sample()->ToProto(), DebugOptions());
    return StrCat(config->entry_layout->parameters.size(), " parameters, result ",
                  config->entry_layout->result.ToString());
  };
  see["api-create-module-config-from-shape"] = [] {
    auto config = Module::CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions());
    ExecutionOptions bad;
    bad.num_replicas = 0;
    return StrCat(config->entry_layout->parameters.size(), "; ",
                  Text(Module::CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), &bad)));
  };
  see["api-outline-expression"] = [] { return StrCat(Outlined(), "; ", TwoOutputs()); };
  see["api-random-new64"] = [] { return RandomPrefix(Module("m")); };
  see["api-instruction-name-uniquer"] = [] {
    auto module = Sample();
    return module->instruction_name_uniquer().GetUniqueName("r");
  };
  see["api-new-unique-instruction-id"] = [] {
    Module module("m");
    std::string ids;
    for (int i = 0; i < 3; ++i) StrAppend(&ids, module.NewUniqueInstructionId(), " ");
    return ids;
  };
  see["api-input-output-alias-config"] = [] {
    return Aliases(**ReadModule(Aliased()->ToString()));
  };
  see["api-input-output-alias-config-const"] = [] {
    auto module = Aliased();
    return StrCat(std::as_const(*module).input_output_alias_config().size());
  };
  see["api-dynamic-parameter-binding-const"] = [] {
    auto module = Bound();
    return StrCat(std::as_const(*module).dynamic_parameter_binding().entries().size(), "; again ",
                  Text(module->dynamic_parameter_binding().Bind({1, {}}, {0, {}, 0})));
  };
  see["api-unique-id"] = ThreadedIds;
  see["api-set-schedule"] = [] {
    auto module = *ReadModule(kTwoOrders);
    Schedule wrong;
    wrong.set_sequence(module->entry(), {Find(*module, "x"), Find(*module, "a")});
    const std::string refused = Text(module->set_schedule(wrong));
    const std::string taken = Text(module->set_schedule(SwappedSchedule(*module)));
    return StrCat(refused, "; ", taken, "; ", Names(module->entry()->instructions()));
  };
  see["api-clear-schedule"] = [] {
    auto module = *ReadModule(kTwoOrders);
    module->set_schedule(SwappedSchedule(*module)).IgnoreError();
    module->clear_schedule();
    return Bool(module->has_schedule());
  };
  see["api-has-schedule"] = [] {
    auto module = *ReadModule(kTwoOrders);
    const bool before = module->has_schedule();
    module->set_schedule(SwappedSchedule(*module)).IgnoreError();
    return StrCat(Bool(before), " ", Bool(module->has_schedule()));
  };
  see["api-schedule-const"] = [] {
    const auto module = *ReadModule(kTwoOrders);
    auto scheduled = module->Clone();
    scheduled->set_schedule(SwappedSchedule(*scheduled)).IgnoreError();
    return StrCat(Names(std::as_const(*scheduled).schedule().sequence(scheduled->entry())),
                  "; without one ", Fate([&] { std::as_const(*module).schedule(); }));
  };
  see["api-schedule-mutable"] = [] {
    auto module = *ReadModule(kTwoOrders);
    module->set_schedule(SwappedSchedule(*module)).IgnoreError();
    module->schedule().set_sequence(module->entry(), {Find(*module, "a"), Find(*module, "x"),
                                                      Find(*module, "y"), Find(*module, "r")});
    const std::string changed = Names(module->schedule().sequence(module->entry()));
    const std::string taken = Text(module->set_schedule(Schedule(module->schedule())));
    return StrCat(changed, "; ", taken, "; ", Names(module->entry()->instructions()));
  };
  see["api-add-computation-and-unify"] = [] {
    auto module = Sample();
    auto added = module->AddComputationAndUnifyNamesAndIds(Unary("inner"), /*is_entry=*/false);
    return StrCat((*added)->name(), ": ", Names((*added)->instructions()), "; ",
                  Text(module->CheckUniqueNamesAndIdsForComputationsAndInstructions()));
  };
  see["api-check-unique-names-and-ids"] = [] {
    auto module = Sample();
    const std::string good = Text(module->CheckUniqueNamesAndIdsForComputationsAndInstructions());
    Find(*module, "s")->ClearUniqueIdInternal();
    return StrCat(good, "; ", Text(module->CheckUniqueNamesAndIdsForComputationsAndInstructions()));
  };
  see["api-has-spmd-parameters-shardings"] = [] {
    return StrCat(Bool(Sample()->has_spmd_parameters_shardings()), " ",
                  Bool(Sharded()->has_spmd_parameters_shardings()));
  };
  see["api-spmd-parameters-shardings"] = [] {
    auto unset = Sample();
    return StrCat(ParameterShardings(*Sharded()), "; unset ",
                  Fate([&] { unset->spmd_parameters_shardings(); }));
  };
  see["api-set-spmd-parameters-shardings"] = [] {
    return Everywhere(*Sharded(), ParameterShardings);
  };
  see["api-has-spmd-output-sharding"] = [] {
    return StrCat(Bool(Sample()->has_spmd_output_sharding()), " ",
                  Bool(Sharded()->has_spmd_output_sharding()));
  };
  see["api-spmd-output-sharding"] = [] {
    auto unset = Sample();
    return StrCat(ShardingText(Sharded()->spmd_output_sharding()), "; unset ",
                  Fate([&] { unset->spmd_output_sharding(); }));
  };
  see["api-set-spmd-output-sharding"] = [] {
    return Everywhere(*Sharded(),
                      [](const Module& m) { return ShardingText(m.spmd_output_sharding()); });
  };
  see["api-add-cross-program-prefetch"] = [] {
    auto module = Prefetching();
    module->AddCrossProgramPrefetch(1, {4});
    return StrCat(module->CrossProgramPrefetches().size(), ", last ",
                  module->CrossProgramPrefetches().back().first);
  };
  see["api-cross-program-prefetches"] = [] { return Prefetches(*Prefetching()); };
  see["api-add-computation-internal"] = [] {
    // Without layouts of its own an entry gets the default ones, with them it keeps them.
    std::string out;
    for (bool keep : {false, true}) {
      Module module("m");
      auto computation = Computation::Create("main");
      Shape shape = Shape::Array(ElementType::kF32, {2, 3});
      shape.set_layout(Layout({0, 1}));
      computation->set_root(computation->AddParameter(0, shape));
      auto added = keep ? module.AddComputationAndUnifyNamesAndIds(std::move(computation), true)
                        : module.AddEntryComputation(std::move(computation));
      StrAppend(&out, module.entry_computation_layout().result.ToString(true), " ");
    }
    return out;
  };
  see["api-field-name"] = [] {
    auto clone = Sample()->Clone("");
    return HeaderOf(*clone);
  };
  see["api-field-config"] = [] {
    ModuleConfig config = WithReplicas(2);
    Module module("m", config);
    config.replica_count = 9;
    return StrCat(module.config().replica_count);
  };
  see["api-field-entry-computation"] = [] { return Bool(Module("m").entry() == nullptr); };
  see["api-field-computations"] = [] {
    Module module("m");
    Computation* added = *module.AddEmbeddedComputation(Unary("x"));
    return Bool(added->parent() == &module);
  };
  see["api-field-rng"] = [] { return RandomPrefix(Module("another")); };
  see["api-field-rng-mutex"] = ThreadedRandom;
  see["api-field-computation-name-uniquer"] = [] {
    Module module("m");
    for (int i = 0; i < 3; ++i) {
      module.AddEmbeddedComputation(Unary("f")).status().IgnoreError();
    }
    return Names(module.computations());
  };
  see["api-field-instruction-name-uniquer"] = [] {
    Module module("m");
    auto c = Computation::Create("c");
    Instruction* p = c->AddParameter(0, kF4, "x");
    for (int i = 0; i < 2; ++i) p = c->Add(Opcode::kAbs, kF4, {p}, {}, {}, "x");
    c->set_root(p);
    return Names((*module.AddEntryComputation(std::move(c)))->instructions());
  };
  see["api-field-next-unique-id"] = [] { return StrCat(Module("m").next_id()); };
  see["api-field-next-unique-module-id"] = [] {
    Module a("a"), b("b");
    return a.unique_id() < b.unique_id() ? "grows" : "does not grow";
  };
  see["api-field-unique-id"] = [] {
    Module module("m");
    const int64_t before = module.unique_id();
    module.set_name("n");
    module.set_config(ModuleConfig());
    return Bool(before == module.unique_id() && before != module.Clone()->unique_id());
  };
  see["api-field-schedule"] = [] {
    auto module = Sample();
    Schedule schedule = Schedule::FromStoredOrder(*module);
    const size_t scheduled = schedule.size();
    module->set_schedule(std::move(schedule)).IgnoreError();
    return StrCat(scheduled, " of ", module->computation_count(), "; ", HeaderOf(*module), "; ",
                  Everywhere(*module, [](const Module& m) { return Bool(m.has_schedule()); }));
  };
  see["api-field-input-output-alias-config"] = [] { return Everywhere(*Aliased(), Aliases); };
  see["api-field-dynamic-parameter-binding"] = [] { return Everywhere(*Bound(), DynamicBinding); };
  see["api-field-spmd-parameters-shardings"] = [] {
    return Everywhere(*Sharded(), [](const Module& m) {
      return StrCat(m.spmd_parameters_shardings().size(), " shardings");
    });
  };
  see["api-field-spmd-output-sharding"] = [] {
    return Everywhere(*Sharded(), [](const Module& m) {
      return Bool(m.spmd_output_sharding() == *ReadSharding("{maximal device=1}"));
    });
  };
  see["api-field-cross-program-prefetches"] = [] { return Everywhere(*Prefetching(), Prefetches); };
  see["api-identical"] = [] {
    auto module = *ReadModule(R"(HloModule m
ENTRY e {
  a = f32[4]{0} parameter(0)
  x = f32[4]{0} negate(a), metadata={op_name="one"}
  y = f32[4]{0} negate(a), metadata={op_name="two"}
  z = f32[4]{0} negate(x)
  ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(x, y, z)
})");
    Instruction *x = Find(*module, "x"), *y = Find(*module, "y"), *z = Find(*module, "z");
    return StrCat(Bool(x->Identical(*y)), " ", Bool(x->SameOperation(*y)), " ",
                  Bool(x->Identical(*z)));
  };
  see["api-clear-unique-id-internal"] = [] {
    auto computation = Unary("c");
    Module module("m");
    Computation* added = *module.AddEmbeddedComputation(std::move(computation));
    const int64_t before = added->root()->id();
    added->ClearUniqueIdInternal();
    added->root()->ClearUniqueIdInternal();
    return StrCat(before, " then ", added->id(), " ", added->root()->id());
  };
  see["api-computation-cleanup"] = [] {
    auto module = Sample();
    Computation* inner = module->GetComputationWithName("inner");
    Instruction* dead = inner->Add(Opcode::kAbs, kF4, {inner->parameter(0)});
    const std::string used = Text(inner->RemoveInstruction(inner->parameter(0)));
    const std::string root = Text(inner->RemoveInstruction(inner->root()));
    inner->RemoveInstruction(dead).IgnoreError();
    const std::string still = dead->name();
    inner->Cleanup();
    return StrCat(used, "; ", root, "; ", still, " kept until Cleanup; ", inner->removed_count());
  };
  see["api-is-fusion-computation"] = [] {
    auto module = Sample();
    std::string out;
    for (Computation* c : module->computations()) {
      StrAppend(&out, c->name(), " ", Bool(c->IsFusionComputation()), " ");
    }
    return out;
  };
  see["api-root-instruction"] = [] {
    auto module = Sample();
    module->entry()->set_root_instruction(Find(*module, "s"));
    return module->entry()->root_instruction()->name();
  };
  see["api-status"] = [] {
    Module module("m");
    return StrCat(Text(module.AddEntryComputation(nullptr)), "; ",
                  Text(module.AddEntryComputation(Computation::Create("empty"))), "; ",
                  Text(Module::CreateFromProto(proto::HloModuleProto(), ModuleConfig())));
  };
  see["flag-hlo-module-config"] = [] {
    const ModuleConfig config;
    return StrCat(config.replica_count, " ", config.num_partitions, " ",
                  Bool(config.entry_layout == nullptr), " ", Bool(config.is_scheduled));
  };
  see["flag-debug-options"] = [] {
    auto config = Module::CreateModuleConfigFromShape({{kF4}, kF4}, {{{"xla_dump_to", "/tmp/d"}}});
    Module module("m", *config);
    return module.Clone()->config().debug_options.flags.at("xla_dump_to");
  };
  see["flag-execution-options"] = [] {
    ExecutionOptions options;
    options.num_replicas = 4;
    options.seed = 7;
    auto given = Module::CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), &options);
    auto null = Module::CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), nullptr);
    return StrCat(given->replica_count, " ", given->seed, "; null ", null->replica_count, " ",
                  null->seed);
  };
  see["flag-prohibit-empty-literal"] = [] {
    auto module = *ReadModule("HloModule m\nENTRY e { ROOT c = f32[4]{0} constant({...}) }");
    const proto::HloModuleProto proto = module->ToProto();
    return StrCat(Text(Module::CreateFromProto(proto, ModuleConfig())), "; ",
                  Text(Module::CreateFromProto(proto, ModuleConfig(), false)));
  };
  see["flag-ignore-layouts"] = [] {
    Shape shape = Shape::Array(ElementType::kF32, {2, 3});
    shape.set_layout(Layout({0, 1}));
    const ProgramShape program{{shape}, shape};
    return StrCat(EntryLayout(program, false).result.ToString(true), " ",
                  EntryLayout(program, true).result.ToString(true));
  };
  see["flag-uniquify-identifiers"] = [] {
    auto module = Sample();
    auto added = module->AddComputationAndUnifyNamesAndIds(Unary("main"), /*is_entry=*/false);
    return StrCat((*added)->name(), "; ", Names((*added)->instructions()));
  };
  see["flag-backend-config"] = [] {
    auto module = *ReadModule("f32[4] negate(f32[4] a), backend_config={\"alpha\":1,\"n\":\"5\"}");
    return Everywhere(*module, [](const Module& m) {
      return (*ReadModule(m.ToString()))
          ->entry()
          ->root()
          ->attributes()
          .String(Attr::kBackendConfig);
    });
  };
  return see;
}

TEST(ModuleApi, EveryMemberOfTheDocument) {
  CheckRowTable("spec/ir/testdata/module_rows.txt", All());
}

}  // namespace
}  // namespace assay
