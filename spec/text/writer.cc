// Modules, computations and instructions as text. Document: hlo-format chapters 1.2 to 1.4, 3.
#include "spec/text/writer.h"

#include "absl/container/flat_hash_set.h"
#include "spec/base/escape.h"
#include "spec/base/strings.h"
#include "spec/text/async_sugar.h"
#include "spec/text/lexer.h"
#include "spec/text/writer_internal.h"

namespace assay {
namespace {

using text_internal::AppendAttributes;
using text_internal::AppendInteger;
using text_internal::AppendIntegers;

constexpr int64_t kSmallConstant = 10;

void AppendName(std::string& out, const std::string& name, const WriteOptions& options) {
  if (options.percent) out += '%';
  out += name;
}

void AppendOperand(std::string& out, const Instruction& operand, const WriteOptions& options) {
  if (options.operand_shapes) {
    operand.shape().AppendTo(out, options.layouts);
    out += ' ';
  }
  AppendName(out, operand.name(), options);
}

void AppendConstantValue(std::string& out, const Instruction& constant,
                         const WriteOptions& options) {
  const Literal* literal = constant.literal();
  bool elided = literal == nullptr;
  if (!elided && !options.large_constants) {
    elided = literal->shape().IsTuple() || literal->element_count() > kSmallConstant;
  }
  if (elided) {
    out += "{...}";
  } else {
    AppendLiteral(out, *literal);
  }
}

// The options, and what they make of the module at hand.
struct Form {
  WriteOptions options;
  text_internal::SugaredStarts sugared;

  Form(const WriteOptions& chosen, const Module* module) : options(chosen) {
    if (options.async_sugar && module != nullptr)
      sugared = text_internal::FindSugaredStarts(*module, options.metadata);
  }
};

void AppendOpcode(std::string& out, Opcode opcode, const Instruction* wrapped) {
  if (wrapped == nullptr) {
    out += Name(opcode);
    return;
  }
  out += Name(wrapped->opcode());
  out += opcode == Opcode::kAsyncStart    ? "-start"
         : opcode == Opcode::kAsyncUpdate ? "-update"
                                          : "-done";
}

void AppendInstruction(std::string& out, const Instruction& instruction, const Form& form) {
  const WriteOptions& options = form.options;
  const Instruction* wrapped =
      form.sugared.empty() ? nullptr : text_internal::SugaredRoot(form.sugared, instruction);
  AppendName(out, instruction.name(), options);
  out += " = ";
  instruction.shape().AppendTo(out, options.layouts);
  out += ' ';
  AppendOpcode(out, instruction.opcode(), wrapped);
  out += '(';
  if (instruction.opcode() == Opcode::kParameter) {
    AppendInteger(out, instruction.parameter_number());
  } else if (instruction.opcode() == Opcode::kConstant) {
    AppendConstantValue(out, instruction, options);
  } else {
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      if (i > 0) out += ", ";
      if (options.index_comments && i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
      AppendOperand(out, *instruction.operand(i), options);
    }
  }
  out += ')';
  AppendAttributes(out, instruction, options,
                   instruction.opcode() == Opcode::kAsyncStart ? wrapped : nullptr);
}

// Stored order where every operand comes before its users, as text needs it; otherwise the same
// with operands moved ahead.
std::vector<const Instruction*> TextOrder(const Computation& computation) {
  std::vector<const Instruction*> order;
  order.reserve(computation.instruction_count());
  bool sorted = true;
  int64_t last_id = -1;
  for (const Instruction* instruction : computation) {
    sorted = sorted && instruction->id() > last_id;
    last_id = instruction->id();
    auto is_earlier = [instruction](const Instruction* other) {
      return other->id() < instruction->id();
    };
    for (const Instruction* operand : instruction->operands())
      sorted = sorted && is_earlier(operand);
    for (const Instruction* predecessor : instruction->control_predecessors()) {
      sorted = sorted && is_earlier(predecessor);
    }
    order.push_back(instruction);
  }
  if (sorted) return order;
  order.clear();
  absl::flat_hash_set<const Instruction*> entered, done;
  std::vector<const Instruction*> stack;
  for (const Instruction* start : computation) {
    stack.push_back(start);
    while (!stack.empty()) {
      const Instruction* at = stack.back();
      if (done.contains(at)) {
        stack.pop_back();
        continue;
      }
      if (!entered.insert(at).second) {
        stack.pop_back();
        done.insert(at);
        order.push_back(at);
        continue;
      }
      auto push = [&](const Instruction* other) {
        if (!entered.contains(other)) stack.push_back(other);
      };
      for (int64_t i = at->operand_count(); i-- > 0;) push(at->operand(i));
      for (const Instruction* predecessor : at->control_predecessors()) push(predecessor);
    }
  }
  return order;
}

// Stored order where callees come before callers; otherwise the same with callees moved ahead.
std::vector<const Computation*> TextOrder(const Module& module) {
  std::vector<const Computation*> order;
  absl::flat_hash_set<const Computation*> entered;
  std::vector<std::pair<const Computation*, const Instruction*>> stack;
  auto enter = [&](const Computation* computation) {
    if (entered.insert(computation).second) stack.emplace_back(computation, *computation->begin());
  };
  for (const Computation* start : module.computations()) {
    enter(start);
    while (!stack.empty()) {
      auto [at, instruction] = stack.back();
      if (instruction == nullptr) {
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      stack.back().second = instruction->next();
      for (size_t i = instruction->callees().size(); i-- > 0;) enter(instruction->callees()[i]);
    }
  }
  return order;
}

void AppendSignature(std::string& out, const Computation& computation) {
  out += " (";
  bool first = true;
  for (const Instruction* parameter : computation.parameters()) {
    if (parameter == nullptr) continue;
    if (!first) out += ", ";
    first = false;
    out += parameter->name();
    out += ": ";
    parameter->shape().AppendTo(out, /*with_layout=*/false);
  }
  out += ") -> ";
  if (computation.root() != nullptr) {
    computation.root()->shape().AppendTo(out, /*with_layout=*/false);
  }
}

void AppendComputationText(std::string& out, const Computation& computation, bool is_entry,
                           const Form& form) {
  const WriteOptions& options = form.options;
  if (is_entry) out += "ENTRY ";
  AppendName(out, computation.name(), options);
  if (options.percent) AppendSignature(out, computation);
  out += " {\n";
  for (const Instruction* instruction : TextOrder(computation)) {
    out += "  ";
    if (instruction == computation.root()) out += "ROOT ";
    AppendInstruction(out, *instruction, form);
    out += '\n';
  }
  out += '}';
  if (!computation.execution_thread().empty() && computation.execution_thread() != "main") {
    out += ", execution_thread=\"";
    AppendEscaped(out, computation.execution_thread());
    out += '"';
  }
}

void AppendAliases(std::string& out, const ModuleConfig& config) {
  if (!config.input_output_alias.empty()) {
    out += ", input_output_alias={ ";
    bool first = true;
    for (const InputOutputAlias& alias : config.input_output_alias) {
      if (!first) out += ", ";
      first = false;
      AppendIntegers(out, alias.output_index);
      StrAppend(&out, ": (", alias.parameter, ", ");
      AppendIntegers(out, alias.parameter_index);
      out += alias.must_alias ? ", must-alias)" : ", may-alias)";
    }
    out += " }";
  }
  if (!config.buffer_donors.empty()) {
    out += ", buffer_donor={ ";
    bool first = true;
    for (const BufferDonor& donor : config.buffer_donors) {
      if (!first) out += ", ";
      first = false;
      StrAppend(&out, "(", donor.parameter, ", ");
      AppendIntegers(out, donor.parameter_index);
      out += ')';
    }
    out += " }";
  }
}

void AppendEntryLayout(std::string& out, const EntryLayout& layout) {
  out += ", entry_computation_layout={(";
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
    layout.parameters[i].AppendTo(out, /*with_layout=*/true);
  }
  out += ")->";
  layout.result.AppendTo(out, /*with_layout=*/true);
  out += '}';
}

// The attributes that are kept as text, in the place that the document gives the known ones.
void AppendVerbatim(std::string& out, const ModuleConfig& config, bool before_counts) {
  constexpr std::string_view kBefore = "allow_spmd_sharding_propagation_to_";
  for (const auto& [name, value] : config.verbatim) {
    if (std::string_view(name).starts_with(kBefore) != before_counts) continue;
    StrAppend(&out, ", ", name, "=", value);
  }
}

void AppendHeader(std::string& out, const Module& module, const WriteOptions& options) {
  const ModuleConfig& config = module.config();
  StrAppend(&out, "HloModule ", module.name());
  if (config.is_scheduled) out += ", is_scheduled=true";
  AppendAliases(out, config);
  if (config.alias_passthrough_params) out += ", alias_passthrough_params=true";
  if (config.entry_layout != nullptr) AppendEntryLayout(out, *config.entry_layout);
  AppendVerbatim(out, config, /*before_counts=*/true);
  if (config.replica_count != 1) StrAppend(&out, ", replica_count=", config.replica_count);
  if (config.num_partitions != 1) StrAppend(&out, ", num_partitions=", config.num_partitions);
  AppendVerbatim(out, config, /*before_counts=*/false);
  out += '\n';
  if (options.metadata && !config.stack_tables.empty()) {
    StrAppend(&out, "\n", config.stack_tables, "\n\n");
  }
}

}  // namespace

WriteOptions WriteOptions::Short() {
  WriteOptions options;
  options.percent = false;
  options.metadata = false;
  options.index_comments = false;
  options.async_sugar = true;
  return options;
}

std::string WriteModule(const Module& module, const WriteOptions& options) {
  std::string out;
  out.reserve(static_cast<size_t>(module.InstructionCount()) * 96);
  const Form form(options, &module);
  absl::flat_hash_set<const Computation*> written_at_their_starts;
  for (const Instruction* start : form.sugared) written_at_their_starts.insert(start->callee());
  AppendHeader(out, module, options);
  for (const Computation* computation : TextOrder(module)) {
    if (written_at_their_starts.contains(computation)) continue;
    out += '\n';
    AppendComputationText(out, *computation, computation == module.entry(), form);
    out += '\n';
  }
  return out;
}

std::string WriteComputation(const Computation& computation, const WriteOptions& options) {
  std::string out;
  bool is_entry = computation.parent() != nullptr && computation.parent()->entry() == &computation;
  AppendComputationText(out, computation, is_entry, Form(options, computation.parent()));
  return out;
}

std::string WriteInstruction(const Instruction& instruction, const WriteOptions& options) {
  std::string out;
  const Computation* computation = instruction.parent();
  AppendInstruction(out, instruction,
                    Form(options, computation != nullptr ? computation->parent() : nullptr));
  return out;
}

}  // namespace assay
