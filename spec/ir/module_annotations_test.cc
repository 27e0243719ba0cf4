// Tests the data that a module keeps beside its computations, in itself, in clones and in its
// message.
#include "spec/ir/testing/module_api_observations.h"

namespace assay::module_api {

using namespace hlo_module;  // the names of the document

namespace {

std::string DynamicBinding(const Module& module) {
  std::string out;
  for (const auto& [dimension, size] : dynamic_parameter_binding(module).entries()) {
    StrAppend(&out, "parameter ", dimension.parameter_num, " dimension ", dimension.dimension,
              " by parameter ", size.parameter_num);
  }
  return out;
}

std::unique_ptr<Module> Bound() {
  auto module = Sample();
  dynamic_parameter_binding(*module).Bind({1, {}}, {0, {}, 0}).IgnoreError();
  return module;
}

std::unique_ptr<Module> Sharded() {
  auto module = Sample();
  set_spmd_parameters_shardings(
      *module, {*ReadSharding("{devices=[2]<=[2]}"), *ReadSharding("{replicated}")});
  set_spmd_output_sharding(*module, *ReadSharding("{maximal device=1}"));
  return module;
}

std::string ParameterShardings(const Module& module) {
  std::string out;
  for (const Sharding& sharding : spmd_parameters_shardings(module)) out += ShardingText(sharding);
  return out;
}

std::unique_ptr<Module> Prefetching() {
  auto module = Sample();
  AddCrossProgramPrefetch(*module, 1, {});
  AddCrossProgramPrefetch(*module, 0, {2, 3});
  return module;
}

std::string Prefetches(const Module& module) {
  std::string out;
  for (const auto& [parameter, index] : CrossProgramPrefetches(module)) {
    StrAppend(&out, out.empty() ? "" : ", ", parameter, " at ", index.size());
  }
  return out;
}

std::unique_ptr<Module> Aliased() {
  auto module = Sample();
  input_output_alias_config(*module).push_back({{}, 0, {}, true});
  return module;
}

std::string Aliases(const Module& module) {
  const std::string header = HeaderOf(module);
  const size_t at = header.find("input_output_alias");
  return at == std::string::npos ? "none" : header.substr(at, 46);
}

}  // namespace

void ObserveAnnotations(Observations& see) {
  see["api-input-output-alias-config"] = [] {
    return Aliases(**ReadModule(Aliased()->ToString()));
  };
  see["api-input-output-alias-config-const"] = [] {
    auto module = Aliased();
    return StrCat(input_output_alias_config(std::as_const(*module)).size());
  };
  see["api-dynamic-parameter-binding-const"] = [] {
    auto module = Bound();
    return StrCat(dynamic_parameter_binding(std::as_const(*module)).entries().size(), "; again ",
                  Text(dynamic_parameter_binding(*module).Bind({1, {}}, {0, {}, 0})));
  };
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
  see["api-has-spmd-parameters-shardings"] = [] {
    return StrCat(Bool(has_spmd_parameters_shardings(*Sample())), " ",
                  Bool(has_spmd_parameters_shardings(*Sharded())));
  };
  see["api-spmd-parameters-shardings"] = [] {
    auto unset = Sample();
    return StrCat(ParameterShardings(*Sharded()), "; unset ",
                  Fate([&] { spmd_parameters_shardings(*unset); }));
  };
  see["api-set-spmd-parameters-shardings"] = [] {
    return Everywhere(*Sharded(), ParameterShardings);
  };
  see["api-has-spmd-output-sharding"] = [] {
    return StrCat(Bool(has_spmd_output_sharding(*Sample())), " ",
                  Bool(has_spmd_output_sharding(*Sharded())));
  };
  see["api-spmd-output-sharding"] = [] {
    auto unset = Sample();
    return StrCat(ShardingText(spmd_output_sharding(*Sharded())), "; unset ",
                  Fate([&] { spmd_output_sharding(*unset); }));
  };
  see["api-set-spmd-output-sharding"] = [] {
    return Everywhere(*Sharded(),
                      [](const Module& m) { return ShardingText(spmd_output_sharding(m)); });
  };
  see["api-add-cross-program-prefetch"] = [] {
    auto module = Prefetching();
    AddCrossProgramPrefetch(*module, 1, {4});
    return StrCat(CrossProgramPrefetches(*module).size(), ", last ",
                  CrossProgramPrefetches(*module).back().first);
  };
  see["api-cross-program-prefetches"] = [] { return Prefetches(*Prefetching()); };
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
      return StrCat(spmd_parameters_shardings(m).size(), " shardings");
    });
  };
  see["api-field-spmd-output-sharding"] = [] {
    return Everywhere(*Sharded(), [](const Module& m) {
      return Bool(spmd_output_sharding(m) == *ReadSharding("{maximal device=1}"));
    });
  };
  see["api-field-cross-program-prefetches"] = [] { return Everywhere(*Prefetching(), Prefetches); };
}

}  // namespace assay::module_api
