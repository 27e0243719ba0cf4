#include "spec/text/writer.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/text/writer_attributes.h"

namespace assay {
namespace {

// Elements above which a constant is elided unless large constants are asked for.
constexpr int64_t kSmallConstant = 10;

class Writer {
 public:
  explicit Writer(const WriteOptions& options) : options_(options) {}

  void Module(const assay::Module& module);
  void Computation(const assay::Computation& computation, bool entry);
  void Instruction(const assay::Instruction& instruction);
  std::string Take() { return std::move(out_); }

 private:
  void Header(const assay::Module& module);
  void AliasTable(const ModuleConfig& config);
  void EntryLayout(const assay::EntryLayout& layout);
  void Name(std::string_view name) {
    if (options_.percent) out_ += '%';
    out_ += name;
  }
  void Operands(const assay::Instruction& instruction);
  void Constant(const assay::Instruction& instruction);
  void Callees(const assay::Instruction& instruction);
  void Callee(std::string_view key, const assay::Computation* computation) {
    Separator();
    out_ += key;
    out_ += '=';
    Name(computation->name());
  }
  void CalleeList(std::string_view key, absl::Span<assay::Computation* const> computations);
  void Attribute(const assay::Instruction& instruction, Attr attr);
  void Separator() { out_ += ", "; }
  void IndexComment(size_t i) {
    if (options_.index_comments && i > 0 && i % 5 == 0) StrAppend(&out_, "/*index=", i, "*/");
  }

  WriteOptions options_;
  std::string out_;
};

void Writer::Operands(const assay::Instruction& instruction) {
  out_ += '(';
  if (instruction.opcode() == Opcode::kParameter) {
    StrAppend(&out_, instruction.parameter_number());
  } else if (instruction.opcode() == Opcode::kConstant) {
    Constant(instruction);
  } else {
    for (size_t i = 0; i < instruction.operands().size(); ++i) {
      if (i > 0) Separator();
      IndexComment(i);
      if (options_.operand_shapes) {
        instruction.operand(i)->shape().AppendTo(out_, options_.layouts);
        out_ += ' ';
      }
      Name(instruction.operand(i)->name());
    }
  }
  out_ += ')';
}

void Writer::Constant(const assay::Instruction& instruction) {
  const Literal* literal = instruction.literal();
  bool elide = literal == nullptr ||
               (!options_.large_constants &&
                (literal->shape().IsTuple() || literal->element_count() > kSmallConstant));
  if (elide) {
    out_ += "{...}";
  } else {
    AppendLiteral(out_, *literal);
  }
}

void Writer::CalleeList(std::string_view key, absl::Span<assay::Computation* const> computations) {
  Separator();
  out_ += key;
  out_ += "={";
  for (size_t i = 0; i < computations.size(); ++i) {
    if (i > 0) Separator();
    Name(computations[i]->name());
  }
  out_ += '}';
}

void Writer::Callees(const assay::Instruction& instruction) {
  auto callees = instruction.callees();
  if (callees.empty()) return;
  switch (Info(instruction.opcode()).callees) {
    case CalleeForm::kNone:
      break;
    case CalleeForm::kToApply:
      Callee("to_apply", callees[0]);
      break;
    case CalleeForm::kCalls:
      Callee("calls", callees[0]);
      break;
    case CalleeForm::kConditionBody:
      Callee("condition", callees[0]);
      Callee("body", callees[1]);
      break;
    case CalleeForm::kSelectScatter:
      Callee("select", callees[0]);
      Callee("scatter", callees[1]);
      break;
    case CalleeForm::kBranches:
      if (instruction.operand_count() > 0 &&
          IsPred(instruction.operand(0)->shape().element_type()) && callees.size() == 2) {
        Callee("true_computation", callees[0]);
        Callee("false_computation", callees[1]);
      } else {
        CalleeList("branch_computations", callees);
      }
      break;
    case CalleeForm::kCalledComputations:
      CalleeList("called_computations", callees);
      break;
  }
}

void Writer::Attribute(const assay::Instruction& instruction, Attr attr) {
  const AttrValue* value = instruction.attributes().Find(attr);
  if (value == nullptr) return;
  // A padding or window without dimensions has no text that can be read back.
  if (attr == Attr::kPadding && instruction.attributes().Padding(attr).empty()) return;
  if (attr == Attr::kWindow && instruction.attributes().Window(attr).empty()) return;
  Separator();
  AppendAttribute(out_, attr, *value);
}

void Writer::Instruction(const assay::Instruction& instruction) {
  Name(instruction.name());
  out_ += " = ";
  instruction.shape().AppendTo(out_, options_.layouts);
  out_ += ' ';
  out_ += assay::Name(instruction.opcode());
  Operands(instruction);
  for (const AttrSpec& spec : Info(instruction.opcode()).attributes) {
    bool later = spec.attr == Attr::kParameterNumber || spec.attr == Attr::kResultAccuracy ||
                 spec.attr == Attr::kIsComposite;
    if (!later) Attribute(instruction, spec.attr);
  }
  Callees(instruction);
  Attribute(instruction,
            Attr::kIsComposite);  // the one attribute that follows the computation it describes
  Attribute(instruction, Attr::kSharding);
  Attribute(instruction, Attr::kFrontendAttributes);
  if (!instruction.control_predecessors().empty()) {
    out_ += ", control-predecessors={";
    for (size_t i = 0; i < instruction.control_predecessors().size(); ++i) {
      if (i > 0) Separator();
      Name(instruction.control_predecessors()[i]->name());
    }
    out_ += '}';
  }
  Attribute(instruction, Attr::kStatistics);
  Attribute(instruction, Attr::kResultAccuracy);
  Attribute(instruction, Attr::kOrigin);
  if (options_.metadata) Attribute(instruction, Attr::kMetadata);
  Attribute(instruction, Attr::kBackendConfig);
}

// Stored order if every operand stands before its users there, as a reader needs it; otherwise
// post-order (rewrites add what they make at the end of the stored order).
std::vector<assay::Instruction*> TextOrder(const assay::Computation& computation) {
  std::vector<assay::Instruction*> order;
  absl::flat_hash_set<const assay::Instruction*> seen;
  order.reserve(computation.instruction_count());
  seen.reserve(computation.instruction_count());
  auto stands_before = [&seen](const assay::Instruction* earlier) {
    return seen.contains(earlier);
  };
  for (assay::Instruction* instruction : computation) {
    if (!absl::c_all_of(instruction->operands(), stands_before) ||
        !absl::c_all_of(instruction->control_predecessors(), stands_before)) {
      return computation.PostOrder();
    }
    seen.insert(instruction);
    order.push_back(instruction);
  }
  return order;
}

void Writer::Computation(const assay::Computation& computation, bool entry) {
  if (entry) out_ += "ENTRY ";
  Name(computation.name());
  out_ += ' ';
  if (options_.percent) {
    out_ += '(';
    for (int64_t i = 0; i < computation.parameter_count(); ++i) {
      if (i > 0) Separator();
      if (computation.parameter(i) == nullptr) continue;
      out_ += computation.parameter(i)->name();
      out_ += ": ";
      computation.parameter(i)->shape().AppendTo(out_, false);
    }
    out_ += ") -> ";
    if (computation.root() != nullptr) computation.root()->shape().AppendTo(out_, false);
    out_ += ' ';
  }
  out_ += "{\n";
  for (const assay::Instruction* instruction : TextOrder(computation)) {
    out_ += instruction == computation.root() ? "  ROOT " : "  ";
    Instruction(*instruction);
    out_ += '\n';
  }
  out_ += '}';
  if (!computation.execution_thread().empty()) {
    out_ += ", execution_thread=";
    AppendQuoted(out_, computation.execution_thread());
  }
  out_ += '\n';
}

void AppendIndex(std::string& out, const Int64List& index) {
  out += '{';
  for (size_t i = 0; i < index.size(); ++i) StrAppend(&out, i > 0 ? "," : "", index[i]);
  out += '}';
}

void Writer::AliasTable(const ModuleConfig& config) {
  if (!config.input_output_alias.empty()) {
    out_ += ", input_output_alias={ ";
    for (size_t i = 0; i < config.input_output_alias.size(); ++i) {
      const InputOutputAlias& alias = config.input_output_alias[i];
      if (i > 0) Separator();
      AppendIndex(out_, alias.output_index);
      StrAppend(&out_, ": (", alias.parameter, ", ");
      AppendIndex(out_, alias.parameter_index);
      out_ += alias.must_alias ? ", must-alias)" : ", may-alias)";
    }
    out_ += " }";
  }
  if (!config.buffer_donors.empty()) {
    out_ += ", buffer_donor={ ";
    for (size_t i = 0; i < config.buffer_donors.size(); ++i) {
      if (i > 0) Separator();
      StrAppend(&out_, "(", config.buffer_donors[i].parameter, ", ");
      AppendIndex(out_, config.buffer_donors[i].parameter_index);
      out_ += ')';
    }
    out_ += " }";
  }
}

void Writer::EntryLayout(const assay::EntryLayout& layout) {
  out_ += ", entry_computation_layout={(";
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    if (i > 0) Separator();
    IndexComment(i);
    layout.parameters[i].AppendTo(out_, true);
  }
  out_ += ")->";
  layout.result.AppendTo(out_, true);
  out_ += '}';
}

void Writer::Header(const assay::Module& module) {
  const ModuleConfig& config = module.config();
  StrAppend(&out_, "HloModule ", module.name());
  if (config.is_scheduled) out_ += ", is_scheduled=true";
  AliasTable(config);
  if (config.alias_passthrough_params) out_ += ", alias_passthrough_params=true";
  if (config.entry_layout != nullptr) EntryLayout(*config.entry_layout);
  auto verbatim = [&](bool before_counts) {
    for (const auto& [name, text] : config.verbatim) {
      // Print order: the propagation lists stand before the counts, everything else after them.
      bool propagation = name.rfind("allow_spmd", 0) == 0;
      if (propagation == before_counts) StrAppend(&out_, ", ", name, "=", text);
    }
  };
  verbatim(true);
  if (config.replica_count != 1) StrAppend(&out_, ", replica_count=", config.replica_count);
  if (config.num_partitions != 1) StrAppend(&out_, ", num_partitions=", config.num_partitions);
  verbatim(false);
  out_ += "\n\n";
  if (options_.metadata && !config.stack_tables.empty())
    StrAppend(&out_, config.stack_tables, "\n\n");
}

void Writer::Module(const assay::Module& module) {
  Header(module);
  // Stored order, but callees must stand before their callers for the reader.
  absl::flat_hash_set<const assay::Computation*> printed;
  bool in_order = true;
  for (const assay::Computation* computation : module.computations()) {
    for (const assay::Instruction* instruction : *computation) {
      for (const assay::Computation* callee : instruction->callees())
        in_order = in_order && printed.contains(callee);
    }
    printed.insert(computation);
  }
  std::vector<assay::Computation*> order =
      in_order ? std::vector<assay::Computation*>(module.computations().begin(),
                                                  module.computations().end())
               : module.ComputationPostOrder();
  for (const assay::Computation* computation : order) {
    Computation(*computation, computation == module.entry());
    out_ += '\n';
  }
}

}  // namespace

WriteOptions WriteOptions::Short() {
  WriteOptions options;
  options.percent = false;
  options.metadata = false;
  options.index_comments = false;
  return options;
}

std::string WriteModule(const Module& module, const WriteOptions& options) {
  Writer writer(options);
  writer.Module(module);
  return writer.Take();
}

std::string WriteComputation(const Computation& computation, const WriteOptions& options) {
  Writer writer(options);
  writer.Computation(computation, computation.parent()->entry() == &computation);
  return writer.Take();
}

std::string WriteInstruction(const Instruction& instruction, const WriteOptions& options) {
  Writer writer(options);
  writer.Instruction(instruction);
  return writer.Take();
}

}  // namespace assay
