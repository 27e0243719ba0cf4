// The module's names, ids, random numbers, hash, configuration and forms.
#include <set>
#include <thread>

#include "spec/ir/hash.h"
#include "spec/ir/testing/module_api_observations.h"

namespace assay::module_api {

using namespace hlo_module;  // the names of the document

namespace {

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

// Observes that clones hash and match alike, and that every single change shows.
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

ModuleConfig WithReplicas(int64_t count) {
  ModuleConfig config;
  config.replica_count = count;
  return config;
}

}  // namespace

void ObserveIdentity(Observations& see) {
  see["api-name"] = [] { return Sample()->name(); };
  see["api-set-name"] = [] {
    auto module = Sample();
    module->set_name("renamed");
    return HeaderOf(*module);
  };
  see["api-clone-config"] = [] {
    auto clone = Sample()->Clone(WithReplicas(4), "other");
    return StrCat(clone->name(), " ", clone->config().replica_count);
  };
  see["api-hash"] = HashAgainstIdentical;
  see["api-config"] = [] {
    Module module("m", WithReplicas(3));
    return StrCat(std::as_const(module).config().replica_count);
  };
  see["api-set-config"] = [] {
    Module module("m");
    set_config(module, WithReplicas(5));
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
    input_output_alias_config(*module).push_back({{}, 0, {}, false});
    AddCrossProgramPrefetch(*module, 0, {});
    dynamic_parameter_binding(*module).Bind({0, {}}, {0, {}, 0}).IgnoreError();
    const proto::HloModuleProto proto = ToProto(*module);
    return StrCat(proto.schedule().sequences_size(), " ", proto.input_output_alias().entries_size(),
                  " ", proto.cross_program_prefetches_size(), " ",
                  proto.dynamic_parameter_binding().entries_size());
  };
  see["api-create-from-proto"] = [] {
    auto module = Sample();
    mutable_entry_computation_layout(*module);
    proto::HloModuleProto proto = ToProto(*module);
    auto again = CreateFromProto(proto, ModuleConfig());
    const bool same = again.ok() && (*again)->ToString() == module->ToString();
    proto.mutable_computations(0)->set_root_id(1 << 20);
    return StrCat(same ? "equal" : "different", "; ", Text(CreateFromProto(proto, ModuleConfig())));
  };
  see["api-create-module-config-from-proto"] = [] {
    auto config = CreateModuleConfigFromProto(ToProto(*Sample()), DebugOptions());
    return StrCat(config->entry_layout->parameters.size(), " parameters, result ",
                  config->entry_layout->result.ToString());
  };
  see["api-create-module-config-from-shape"] = [] {
    auto config = CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions());
    ExecutionOptions bad;
    bad.num_replicas = 0;
    return StrCat(config->entry_layout->parameters.size(), "; ",
                  Text(CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), &bad)));
  };
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
  see["api-unique-id"] = ThreadedIds;
  see["api-add-computation-and-unify"] = [] {
    auto module = Sample();
    auto added = AddComputationAndUnifyNamesAndIds(*module, Unary("inner"), /*is_entry=*/false);
    return StrCat((*added)->name(), ": ", Names((*added)->instructions()), "; ",
                  Text(CheckUniqueNamesAndIdsForComputationsAndInstructions(*module)));
  };
  see["api-check-unique-names-and-ids"] = [] {
    auto module = Sample();
    const std::string good = Text(CheckUniqueNamesAndIdsForComputationsAndInstructions(*module));
    Find(*module, "s")->ClearUniqueIdInternal();
    return StrCat(good, "; ", Text(CheckUniqueNamesAndIdsForComputationsAndInstructions(*module)));
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
  see["api-field-rng"] = [] { return RandomPrefix(Module("another")); };
  see["api-field-rng-mutex"] = ThreadedRandom;
  see["api-field-computation-name-uniquer"] = [] {
    Module module("m");
    for (int i = 0; i < 3; ++i) {
      AddEmbeddedComputation(module, Unary("f")).status().IgnoreError();
    }
    return Names(module.computations());
  };
  see["api-field-instruction-name-uniquer"] = [] {
    Module module("m");
    auto c = Computation::Create("c");
    Instruction* p = c->AddParameter(0, kF4, "x");
    for (int i = 0; i < 2; ++i) p = c->Add(Opcode::kAbs, kF4, {p}, {}, {}, "x");
    c->set_root(p);
    return Names((*AddEntryComputation(module, std::move(c)))->instructions());
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
    set_config(module, ModuleConfig());
    return Bool(before == module.unique_id() && before != module.Clone()->unique_id());
  };
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
    Computation* added = *AddEmbeddedComputation(module, std::move(computation));
    const int64_t before = added->root()->id();
    added->ClearUniqueIdInternal();
    added->root()->ClearUniqueIdInternal();
    return StrCat(before, " then ", added->id(), " ", added->root()->id());
  };
  see["api-status"] = [] {
    Module module("m");
    return StrCat(Text(AddEntryComputation(module, nullptr)), "; ",
                  Text(AddEntryComputation(module, Computation::Create("empty"))), "; ",
                  Text(CreateFromProto(proto::HloModuleProto(), ModuleConfig())));
  };
  see["flag-hlo-module-config"] = [] {
    const ModuleConfig config;
    return StrCat(config.replica_count, " ", config.num_partitions, " ",
                  Bool(config.entry_layout == nullptr), " ", Bool(config.is_scheduled));
  };
  see["flag-debug-options"] = [] {
    auto config = CreateModuleConfigFromShape({{kF4}, kF4}, {{{"xla_dump_to", "/tmp/d"}}});
    Module module("m", *config);
    return module.Clone()->config().debug_options.flags.at("xla_dump_to");
  };
  see["flag-execution-options"] = [] {
    ExecutionOptions options;
    options.num_replicas = 4;
    options.seed = 7;
    auto given = CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), &options);
    auto null = CreateModuleConfigFromShape({{kF4}, kF4}, DebugOptions(), nullptr);
    return StrCat(given->replica_count, " ", given->seed, "; null ", null->replica_count, " ",
                  null->seed);
  };
  see["flag-prohibit-empty-literal"] = [] {
    auto module = *ReadModule("HloModule m\nENTRY e { ROOT c = f32[4]{0} constant({...}) }");
    const proto::HloModuleProto proto = ToProto(*module);
    return StrCat(Text(CreateFromProto(proto, ModuleConfig())), "; ",
                  Text(CreateFromProto(proto, ModuleConfig(), false)));
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
    auto added = AddComputationAndUnifyNamesAndIds(*module, Unary("main"), /*is_entry=*/false);
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
}

}  // namespace assay::module_api
