// From HloModuleProto to a module. Each reference in the message is checked before it is followed.
#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/attribute_codec.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/proto/shape_proto.h"
#include "spec/text/lexer.h"

namespace assay {
namespace {

using proto::ToList;

// Opcodes of files from before compare had a direction.
struct OldComparison {
  std::string_view opcode, direction;
};
constexpr std::array kOldComparisons = {
    OldComparison{"equal-to", "EQ"},     OldComparison{"not-equal-to", "NE"},
    OldComparison{"greater-than", "GT"}, OldComparison{"greater-than-or-equal-to", "GE"},
    OldComparison{"less-than", "LT"},    OldComparison{"less-than-or-equal-to", "LE"}};

// A name that HLO text could have: what a file calls its things is not trusted to be one.
bool IsName(std::string_view name) {
  if (name.empty() || name.size() > 4096) return false;
  for (char c : name) {
    if (!IsWordCharacter(c)) return false;
  }
  return IsWordStart(name[0]);
}

// The values of `literal` in one of exactly this shape: text does not always write a layout.
Literal InShape(const Literal& literal, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < shape.elements().size(); ++i) {
      elements.push_back(InShape(literal.elements()[i], shape.elements()[i]));
    }
    return Literal::Tuple(std::move(elements));
  }
  Literal result(shape);
  absl::c_copy(literal.bytes(), result.bytes().begin());
  return result;
}

class Reader {
 public:
  Reader(const proto::HloModuleProto& proto, bool prohibit_empty_literal)
      : proto_(proto), prohibit_empty_literal_(prohibit_empty_literal) {}

  absl::StatusOr<std::unique_ptr<Module>> Read(const ModuleConfig& config) {
    module_ = std::make_unique<Module>(IsName(proto_.name()) ? proto_.name() : "module", config);
    for (const proto::HloComputationProto& computation : proto_.computations()) {
      ASSAY_RETURN_IF_ERROR(In("computation", computation.name(), ReadComputation(computation)));
    }
    auto entry = computations_.find(proto_.entry_computation_id());
    if (entry == computations_.end()) {
      return absl::InvalidArgumentError(
          StrCat("there is no computation of the entry's id ", proto_.entry_computation_id()));
    }
    module_->set_entry(entry->second);
    ASSAY_RETURN_IF_ERROR(ReadEntryLayout());
    ReadTables();
    ASSAY_RETURN_IF_ERROR(ReadSchedule());
    ASSAY_RETURN_IF_ERROR(ReadAnnotations());
    KeepUnread();
    return std::move(module_);
  }

 private:
  static absl::Status In(std::string_view what, std::string_view name, const absl::Status& status) {
    if (status.ok()) return status;
    return absl::Status(status.code(),
                        StrCat(what, " ", name.substr(0, 100), ": ", ToStd(status.message())));
  }

  absl::Status ReadComputation(const proto::HloComputationProto& in) {
    if (!IsName(in.name())) return absl::InvalidArgumentError("its name is not a name");
    Computation* computation = module_->AddComputation(in.name());
    if (computation->name() != in.name()) return absl::InvalidArgumentError("its name is taken");
    if (in.execution_thread() != "main") computation->set_execution_thread(in.execution_thread());
    instructions_.clear();
    for (const proto::HloInstructionProto& instruction : in.instructions()) {
      ASSAY_RETURN_IF_ERROR(
          In("instruction", instruction.name(), ReadInstruction(instruction, computation)));
    }
    computation->IndexParameters();
    ASSAY_ASSIGN_OR_RETURN(Instruction * root, Resolve(in.root_id(), "the root"));
    computation->set_root(root);
    int64_t parameters = 0;
    for (const Instruction* instruction : *computation) {
      parameters += instruction->opcode() == Opcode::kParameter;
    }
    if (parameters != computation->parameter_count() ||
        absl::c_count(computation->parameters(), nullptr) > 0) {
      return absl::InvalidArgumentError("its parameters are not numbered 0, 1, 2, ...");
    }
    if (!computations_.emplace(in.id(), computation).second) {
      return absl::InvalidArgumentError(StrCat("its id ", in.id(), " is taken"));
    }
    // The schedule refers to ids of all computations: only needed where there is one.
    if (proto_.schedule().sequences().contains(in.id())) {
      scheduled_.push_back({computation, in.id(), instructions_});
    }
    return absl::OkStatus();
  }

  // By the low half of the id, among what came before in the computation.
  absl::StatusOr<Instruction*> Resolve(int64_t id, std::string_view what) const {
    auto at = instructions_.find(static_cast<uint32_t>(id));
    if (at == instructions_.end()) {
      return absl::InvalidArgumentError(
          StrCat(what, " has the id ", id, ", which no instruction before has"));
    }
    return at->second;
  }

  absl::Status ReadInstruction(const proto::HloInstructionProto& in, Computation* computation) {
    if (!IsName(in.name())) return absl::InvalidArgumentError("its name is not a name");
    for (const OldComparison& old : kOldComparisons) {
      if (old.opcode != in.opcode()) continue;
      proto::HloInstructionProto compare = in;
      compare.set_opcode("compare");
      compare.set_comparison_direction(std::string(old.direction));
      return ReadInstruction(compare, computation);
    }
    const std::optional<Opcode> opcode = OpcodeFromName(in.opcode());
    if (!opcode.has_value()) {
      return absl::InvalidArgumentError(StrCat("unknown opcode '", in.opcode().substr(0, 60), "'"));
    }
    const OpInfo& info = Info(*opcode);
    ASSAY_ASSIGN_OR_RETURN(Shape shape, proto::ShapeFromProto(in.shape()));
    OperandVector operands;
    for (int64_t id : in.operand_ids()) {
      ASSAY_ASSIGN_OR_RETURN(operands.emplace_back(), Resolve(id, "an operand"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Computation*> callees, Callees(in, info));
    ASSAY_ASSIGN_OR_RETURN(Attributes attributes,
                           proto::AttributesFromProto(in, info, shape, operands, proto_));
    Instruction* instruction = computation->Add(*opcode, std::move(shape), operands,
                                                std::move(attributes), callees, in.name());
    if (instruction->name() != in.name()) return absl::InvalidArgumentError("its name is taken");
    for (int64_t id : in.control_predecessor_ids()) {
      ASSAY_ASSIGN_OR_RETURN(Instruction * predecessor, Resolve(id, "a control predecessor"));
      instruction->AddControlPredecessor(predecessor);
    }
    if (*opcode == Opcode::kConstant) ASSAY_RETURN_IF_ERROR(ReadLiteral(in, instruction));
    if (in.id() < 0 || !instructions_.emplace(static_cast<uint32_t>(in.id()), instruction).second) {
      return absl::InvalidArgumentError(StrCat("its id ", in.id(), " is negative or taken"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadLiteral(const proto::HloInstructionProto& in, Instruction* constant) {
    if (!in.has_literal()) {
      return prohibit_empty_literal_ ? absl::InvalidArgumentError("the constant has no value")
                                     : absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(Literal literal, proto::LiteralFromProto(in.literal()));
    if (!Compatible(literal.shape(), constant->shape())) {
      return absl::InvalidArgumentError(StrCat("the constant has the shape ",
                                               constant->shape().ToString(), ", its value ",
                                               literal.shape().ToString()));
    }
    constant->set_literal(std::make_shared<const Literal>(InShape(literal, constant->shape())));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Computation*>> Callees(const proto::HloInstructionProto& in,
                                                    const OpInfo& info) const {
    std::vector<Computation*> callees;
    // The body of an async op's end is that of its start, which text does not repeat.
    if (info.callees == CalleeForm::kNone) return callees;
    for (int64_t id : in.called_computation_ids()) {
      auto at = computations_.find(id);
      if (at == computations_.end()) {
        return absl::InvalidArgumentError(
            StrCat("it calls the computation of id ", id, ", which does not come before"));
      }
      callees.push_back(at->second);
    }
    if (info.callees == CalleeForm::kConditionBody && callees.size() == 2) {
      std::swap(callees[0], callees[1]);
    }
    const bool one = info.callees == CalleeForm::kToApply || info.callees == CalleeForm::kCalls;
    const bool two =
        info.callees == CalleeForm::kConditionBody || info.callees == CalleeForm::kSelectScatter;
    if ((one && callees.size() != 1) || (two && callees.size() != 2)) {
      return absl::InvalidArgumentError(
          StrCat("it calls ", callees.size(), " computations, want ", one ? 1 : 2));
    }
    return callees;
  }

  absl::Status ReadEntryLayout() {
    if (module_->config().entry_layout != nullptr) return absl::OkStatus();
    // Messages that were written by hand leave it out: the entry's own shapes stand for it.
    if (!proto_.has_host_program_shape()) return absl::OkStatus();
    EntryLayout layout;
    for (const proto::ShapeProto& parameter : proto_.host_program_shape().parameters()) {
      ASSAY_ASSIGN_OR_RETURN(layout.parameters.emplace_back(), proto::ShapeFromProto(parameter));
    }
    ASSAY_ASSIGN_OR_RETURN(layout.result,
                           proto::ShapeFromProto(proto_.host_program_shape().result()));
    module_->config().entry_layout = std::make_unique<EntryLayout>(std::move(layout));
    return absl::OkStatus();
  }

  // The message itself has no counts of devices; its assignment does. Those of a config that came
  // with it win.
  void ReadDeviceCounts() {
    ModuleConfig& config = module_->config();
    if (config.replica_count != 1 || config.num_partitions != 1) return;
    const proto::DeviceAssignmentProto& devices = proto_.device_assignment();
    config.replica_count = std::max(devices.replica_count(), 1);
    config.num_partitions = std::max(devices.computation_count(), 1);
  }

  void ReadTables() {
    ReadDeviceCounts();
    ModuleConfig& config = module_->config();
    config.input_output_alias.clear();
    for (const proto::AliasEntryProto& entry : proto_.input_output_alias().entries()) {
      config.input_output_alias.push_back(
          {ToList(entry.output_shape_index()), entry.parameter_number(),
           ToList(entry.parameter_shape_index()), entry.kind() != 1});
    }
    config.buffer_donors.clear();
    for (const proto::BufferDonorEntryProto& entry : proto_.buffer_donor().entries()) {
      config.buffer_donors.push_back(
          {entry.parameter_number(), ToList(entry.parameter_shape_index())});
    }
    if (proto_.frontend_attributes().map_size() > 0) {
      config.verbatim.emplace_back("frontend_attributes",
                                   proto::FrontendAttributesText(proto_.frontend_attributes()));
    }
    const proto::StackFrameIndexProto& index = proto_.stack_frame_index();
    if (index.file_names_size() + index.function_names_size() + index.file_locations_size() +
            index.stack_frames_size() >
        0) {
      config.stack_tables = proto::StackTablesText(index);
    }
  }

  absl::Status ReadSchedule() {
    if (!proto_.has_schedule()) {
      module_->config().is_scheduled = false;
      return absl::OkStatus();
    }
    const std::vector<Computation*> nonfusion = module_->MakeNonfusionComputations();
    const absl::flat_hash_set<const Computation*> wanted(nonfusion.begin(), nonfusion.end());
    Schedule schedule;
    for (const auto& [computation, number, ids] : scheduled_) {
      if (!wanted.contains(computation)) continue;
      Schedule::Sequence sequence;
      for (int64_t id : proto_.schedule().sequences().at(number).instruction_ids()) {
        auto at = ids.find(static_cast<uint32_t>(id));
        if (at == ids.end()) {
          return absl::InvalidArgumentError(
              StrCat("the schedule of ", computation->name(), " names the unknown id ", id));
        }
        sequence.push_back(at->second);
      }
      schedule.set_sequence(computation, std::move(sequence));
    }
    return module_->set_schedule(std::move(schedule));
  }

  void KeepUnread() {
    proto::HloModuleProto rest;
    rest.set_is_dynamic(proto_.is_dynamic());
    *rest.mutable_profile_info() = proto_.profile_info();
    if (proto_.has_device_assignment())
      *rest.mutable_device_assignment() = proto_.device_assignment();
    rest.set_use_auto_spmd_partitioning(proto_.use_auto_spmd_partitioning());
    if (proto_.has_original_value_recovery_table()) {
      rest.set_original_value_recovery_table(proto_.original_value_recovery_table());
    }
    rest.set_device_type(proto_.device_type());
    if (proto_.has_pjrt_id()) rest.set_pjrt_id(proto_.pjrt_id());
    *rest.mutable_debug_attributes() = proto_.debug_attributes();
    module_->annotations().unread_fields = rest.SerializeAsString();
  }

  absl::Status ReadAnnotations() {
    ModuleAnnotations& annotations = module_->annotations();
    for (const proto::DynamicBindingProto& entry : proto_.dynamic_parameter_binding().entries()) {
      ASSAY_RETURN_IF_ERROR(annotations.dynamic_parameter_binding.Bind(
          {entry.dynamic_param_num(), ToList(entry.dynamic_param_index())},
          {entry.target_param_num(), ToList(entry.target_param_index()),
           entry.target_param_dim_num()}));
    }
    for (const proto::CrossProgramPrefetch& prefetch : proto_.cross_program_prefetches()) {
      annotations.cross_program_prefetches.emplace_back(prefetch.parameter(),
                                                        ToList(prefetch.index()));
    }
    if (proto_.has_spmd_output_sharding()) {
      ASSAY_ASSIGN_OR_RETURN(const Sharding sharding,
                             proto::ShardingFromProto(proto_.spmd_output_sharding()));
      annotations.spmd_output_sharding = sharding;
    }
    if (proto_.spmd_parameters_shardings_size() > 0) {
      std::vector<Sharding> shardings;
      for (const proto::OpSharding& one : proto_.spmd_parameters_shardings()) {
        ASSAY_ASSIGN_OR_RETURN(shardings.emplace_back(), proto::ShardingFromProto(one));
      }
      annotations.spmd_parameters_shardings = std::move(shardings);
    }
    return absl::OkStatus();
  }

  using InstructionIds = absl::flat_hash_map<uint32_t, Instruction*>;
  const proto::HloModuleProto& proto_;
  bool prohibit_empty_literal_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_map<int64_t, Computation*> computations_;
  InstructionIds instructions_;  // of the computation that is being read
  struct Scheduled {
    Computation* computation;
    int64_t number;
    InstructionIds ids;
  };
  std::vector<Scheduled> scheduled_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ModuleFromProto(const proto::HloModuleProto& proto,
                                                        const ModuleConfig& config,
                                                        bool prohibit_empty_literal) {
  return Reader(proto, prohibit_empty_literal).Read(config);
}

}  // namespace assay
