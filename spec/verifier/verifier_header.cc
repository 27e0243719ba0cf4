// Checks what the module header says against the entry computation. Document: hlo-format 1.2
// ("Verification of alias data").
#include <set>
#include <utility>

#include "spec/verifier/verifier_internal.h"

namespace assay::verifier {
namespace {

using Leaf = std::pair<int64_t, Int64List>;  // parameter number, tuple index

std::string LeafText(const Leaf& leaf) {
  return StrCat("parameter ", leaf.first, " at ", IndexText(leaf.second));
}

// The array at a parameter's leaf; nullptr, with an error, if there is none.
const Shape* ParameterLeaf(const Computation& entry, const Leaf& leaf, std::string_view table,
                           Errors& errors) {
  if (leaf.first < 0 || leaf.first >= entry.parameter_count()) {
    errors.AddAtHeader(table, ": there is no parameter ", leaf.first, "; the entry has ",
                       entry.parameter_count());
    return nullptr;
  }
  const Shape* shape = SubShape(entry.parameter(leaf.first)->shape(), leaf.second);
  if (shape != nullptr && shape->IsArray()) return shape;
  errors.AddAtHeader(table, ": ", LeafText(leaf), " is not an array of ",
                     entry.parameter(leaf.first)->shape().ToString());
  return nullptr;
}

int64_t MemorySpace(const Shape& shape) {
  const LayoutExtras* extras = shape.layout().extras();
  return extras == nullptr ? 0 : extras->memory_space;
}

void CheckAliases(const Module& module, Errors& errors) {
  const Computation& entry = *module.entry();
  constexpr std::string_view kTable = "input_output_alias";
  std::set<Int64List> outputs;
  std::set<Leaf> aliased;
  for (const InputOutputAlias& alias : module.config().input_output_alias) {
    const Leaf leaf(alias.parameter, alias.parameter_index);
    const Shape* parameter = ParameterLeaf(entry, leaf, kTable, errors);
    const Shape* output = SubShape(entry.root()->shape(), alias.output_index);
    if (output == nullptr || !output->IsArray()) {
      errors.AddAtHeader(kTable, ": the result ", entry.root()->shape().ToString(),
                         " has no array at ", IndexText(alias.output_index));
      continue;
    }
    if (!outputs.insert(alias.output_index).second) {
      errors.AddAtHeader(kTable, ": output ", IndexText(alias.output_index), " is aliased twice");
    }
    if (parameter == nullptr) continue;
    if (!aliased.insert(leaf).second)
      errors.AddAtHeader(kTable, ": ", LeafText(leaf), " is aliased twice");
    if (parameter->ByteSize() != output->ByteSize()) {
      errors.AddAtHeader(kTable, ": ", LeafText(leaf), " has ", parameter->ByteSize(),
                         " bytes, output ", IndexText(alias.output_index), " has ",
                         output->ByteSize());
    }
    if (alias.must_alias &&
        (!Compatible(*parameter, *output) || MemorySpace(*parameter) != MemorySpace(*output))) {
      errors.AddAtHeader(kTable, ": must-alias of ", LeafText(leaf), ", ",
                         parameter->ToString(true), ", and output ", IndexText(alias.output_index),
                         ", ", output->ToString(true), ", needs equal shapes");
    }
  }
  for (const BufferDonor& donor : module.config().buffer_donors) {
    const Leaf leaf(donor.parameter, donor.parameter_index);
    if (ParameterLeaf(entry, leaf, "buffer_donor", errors) != nullptr && aliased.contains(leaf)) {
      errors.AddAtHeader("buffer_donor", ": ", LeafText(leaf), " is already in input_output_alias");
    }
  }
}

void CheckEntryLayout(const Module& module, Errors& errors) {
  const EntryLayout* layout = module.config().entry_layout.get();
  if (layout == nullptr) return;
  const Computation& entry = *module.entry();
  const int64_t count = static_cast<int64_t>(layout->parameters.size());
  if (count != entry.parameter_count()) {
    errors.AddAtHeader("entry_computation_layout", " has ", count, " parameters, the entry has ",
                       entry.parameter_count());
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const Shape& shape = entry.parameter(i)->shape();
    if (Compatible(layout->parameters[i], shape)) continue;
    errors.AddAtHeader("entry_computation_layout", ": parameter ", i, " is ",
                       layout->parameters[i].ToString(), ", the entry's is ", shape.ToString());
  }
  if (!Compatible(layout->result, entry.root()->shape())) {
    errors.AddAtHeader("entry_computation_layout", ": the result is ", layout->result.ToString(),
                       ", the entry's is ", entry.root()->shape().ToString());
  }
}

void CheckSchedule(const Module& module, Errors& errors) {
  std::set<const Computation*> fused;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (instruction->opcode() == Opcode::kFusion) {
        fused.insert(instruction->callees().begin(), instruction->callees().end());
      }
    }
  }
  for (const Computation* computation : module.computations()) {
    if (fused.contains(computation) || OrderIsExecutable(*computation)) continue;
    errors.AddAt(*computation, "is_scheduled: an instruction comes before one that it depends on");
  }
}

}  // namespace

void CheckHeader(const Module& module, Errors& errors) {
  const ModuleConfig& config = module.config();
  if (config.replica_count < 1)
    errors.AddAtHeader("replica_count", " ", config.replica_count, " is not positive");
  if (config.num_partitions < 1)
    errors.AddAtHeader("num_partitions", " ", config.num_partitions, " is not positive");
  CheckEntryLayout(module, errors);
  CheckAliases(module, errors);
  if (config.is_scheduled) CheckSchedule(module, errors);
}

}  // namespace assay::verifier
