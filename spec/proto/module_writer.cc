// From a module to HloModuleProto. Computations and instructions are numbered so that equal modules
// give equal bytes.
#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/attribute_codec.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/proto/shape_proto.h"

namespace assay {
namespace {

using proto::FromList;

void ProgramShapeToProto(const std::vector<Shape>& parameters, const Shape& result,
                         const Computation& computation, proto::ProgramShapeProto* proto) {
  for (const Shape& parameter : parameters) {
    proto::ShapeToProto(parameter, proto->add_parameters());
  }
  proto::ShapeToProto(result, proto->mutable_result());
  for (const Instruction* parameter : computation.parameters()) {
    proto->add_parameter_names(parameter == nullptr ? "" : parameter->name());
  }
}

// Ids as the format makes them: the computation's in the high half, a local number in the low one.
class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {}

  absl::StatusOr<proto::HloModuleProto> Write() {
    proto::HloModuleProto out;
    if (!module_.annotations().unread_fields.empty() &&
        !out.ParseFromString(module_.annotations().unread_fields)) {
      return absl::InternalError("the fields kept from the binary form do not read");
    }
    if (module_.entry() == nullptr) {
      return absl::FailedPreconditionError(StrCat("module ", module_.name(), " has no entry"));
    }
    out.set_name(module_.name());
    out.set_id(module_.unique_id());
    const Computation& entry = *module_.entry();
    out.set_entry_computation_name(entry.name());
    for (const Computation* computation : module_.MakeNonfusionComputations()) {
      nonfusion_.insert(computation);
    }
    for (const Computation* computation : module_.ComputationPostOrder()) {
      numbers_.emplace(computation, static_cast<int64_t>(numbers_.size()) + 1);
      ASSAY_RETURN_IF_ERROR(WriteComputation(*computation, out.add_computations()));
    }
    out.set_entry_computation_id(numbers_.at(&entry));
    const EntryLayout* layout = module_.config().entry_layout.get();
    const EntryLayout computed =
        layout != nullptr ? *layout
                          : EntryLayout(entry.ComputeProgramShape(), /*ignore_layouts=*/false);
    ProgramShapeToProto(computed.parameters, computed.result, entry,
                        out.mutable_host_program_shape());
    ASSAY_RETURN_IF_ERROR(WriteDeviceCounts(&out));
    WriteTables(&out);
    ASSAY_RETURN_IF_ERROR(WriteAnnotations(&out));
    return out;
  }

 private:
  int64_t IdOf(const Instruction* instruction) const { return ids_.at(instruction); }

  absl::Status WriteComputation(const Computation& computation, proto::HloComputationProto* out) {
    if (computation.root() == nullptr) {
      return absl::FailedPreconditionError(
          StrCat("computation ", computation.name(), " has no root"));
    }
    const int64_t id = numbers_.at(&computation);
    out->set_name(computation.name());
    out->set_id(id);
    out->set_execution_thread(
        computation.execution_thread().empty() ? "main" : computation.execution_thread());
    out->set_is_fusion_computation(!nonfusion_.contains(&computation));
    int64_t local = 0;
    for (const Instruction* instruction : InOrder(computation)) {
      ids_[instruction] = (id << 32) | local++;
      ASSAY_RETURN_IF_ERROR(WriteInstruction(*instruction, out->add_instructions()));
    }
    out->set_root_id(IdOf(computation.root()));
    const ProgramShape shape = computation.ComputeProgramShape();
    ProgramShapeToProto(shape.parameters, shape.result, computation, out->mutable_program_shape());
    return absl::OkStatus();
  }

  // Stored order where it puts operands first, as it does wherever it is a schedule.
  static std::vector<Instruction*> InOrder(const Computation& computation) {
    std::vector<Instruction*> stored(computation.begin(), computation.end());
    absl::flat_hash_set<const Instruction*> seen;
    for (const Instruction* instruction : stored) {
      for (auto list : {instruction->operands(), instruction->control_predecessors()}) {
        for (const Instruction* operand : list) {
          if (!seen.contains(operand)) return computation.PostOrder();
        }
      }
      seen.insert(instruction);
    }
    return stored;
  }

  absl::Status WriteInstruction(const Instruction& instruction, proto::HloInstructionProto* out) {
    out->set_name(instruction.name());
    out->set_opcode(std::string(Name(instruction.opcode())));
    proto::ShapeToProto(instruction.shape(), out->mutable_shape());
    out->set_id(IdOf(&instruction));
    for (const Instruction* operand : instruction.operands()) {
      out->add_operand_ids(IdOf(operand));
    }
    for (const Instruction* predecessor : instruction.control_predecessors()) {
      out->add_control_predecessor_ids(IdOf(predecessor));
    }
    for (const Computation* callee : instruction.callees()) {
      out->add_called_computation_ids(numbers_.at(callee));
    }
    // The format has the body of a while first.
    if (Info(instruction.opcode()).callees == CalleeForm::kConditionBody &&
        out->called_computation_ids_size() == 2) {
      out->mutable_called_computation_ids()->SwapElements(0, 1);
    }
    if (instruction.literal() != nullptr) {
      ASSAY_RETURN_IF_ERROR(LiteralToProto(*instruction.literal(), out->mutable_literal()));
    }
    return proto::AttributesToProto(instruction, out);
  }

  // Writes an assignment of devices, which is the one place of the format for the counts: the one
  // that was read where it has them, else device 0, 1, ... in the order of replicas and partitions.
  absl::Status WriteDeviceCounts(proto::HloModuleProto* out) const {
    const int64_t replicas = module_.config().replica_count;
    const int64_t partitions = module_.config().num_partitions;
    const proto::DeviceAssignmentProto& read = out->device_assignment();
    if (std::max<int64_t>(read.replica_count(), 1) == replicas &&
        std::max<int64_t>(read.computation_count(), 1) == partitions) {
      return absl::OkStatus();
    }
    out->clear_device_assignment();
    if (replicas == 1 && partitions == 1) return absl::OkStatus();
    constexpr int64_t kMost = int64_t{1} << 20;  // far more than any machine has
    if (replicas < 1 || partitions < 1 || replicas > kMost || partitions > kMost / replicas) {
      return absl::InvalidArgumentError(StrCat("the binary form has no place for ", replicas,
                                               " replicas of ", partitions, " partitions"));
    }
    proto::DeviceAssignmentProto* devices = out->mutable_device_assignment();
    devices->set_replica_count(static_cast<int>(replicas));
    devices->set_computation_count(static_cast<int>(partitions));
    for (int64_t p = 0; p < partitions; ++p) {
      auto* ids = devices->add_computation_devices();
      for (int64_t r = 0; r < replicas; ++r) ids->add_replica_device_ids(r * partitions + p);
    }
    return absl::OkStatus();
  }

  void WriteTables(proto::HloModuleProto* out) const {
    const ModuleConfig& config = module_.config();
    if (config.is_scheduled) {
      for (const Computation* computation : module_.MakeNonfusionComputations()) {
        proto::InstructionSequence& sequence =
            (*out->mutable_schedule()->mutable_sequences())[numbers_.at(computation)];
        for (const Instruction* instruction : *computation) {
          sequence.add_instruction_ids(IdOf(instruction));
        }
      }
    }
    for (const InputOutputAlias& alias : config.input_output_alias) {
      proto::AliasEntryProto* entry = out->mutable_input_output_alias()->add_entries();
      FromList(alias.output_index, entry->mutable_output_shape_index());
      entry->set_parameter_number(alias.parameter);
      FromList(alias.parameter_index, entry->mutable_parameter_shape_index());
      entry->set_kind(alias.must_alias ? 2 : 1);
    }
    for (const BufferDonor& donor : config.buffer_donors) {
      proto::BufferDonorEntryProto* entry = out->mutable_buffer_donor()->add_entries();
      entry->set_parameter_number(donor.parameter);
      FromList(donor.parameter_index, entry->mutable_parameter_shape_index());
    }
  }

  absl::Status WriteAnnotations(proto::HloModuleProto* out) const {
    const ModuleAnnotations& annotations = module_.annotations();
    for (const auto& [dimension, size] : annotations.dynamic_parameter_binding.entries()) {
      proto::DynamicBindingProto* entry = out->mutable_dynamic_parameter_binding()->add_entries();
      entry->set_dynamic_param_num(size.parameter_num);
      FromList(size.parameter_index, entry->mutable_dynamic_param_index());
      entry->set_target_param_num(dimension.parameter_num);
      FromList(dimension.parameter_index, entry->mutable_target_param_index());
      entry->set_target_param_dim_num(dimension.dimension);
    }
    for (const auto& [parameter, index] : annotations.cross_program_prefetches) {
      proto::CrossProgramPrefetch* prefetch = out->add_cross_program_prefetches();
      prefetch->set_parameter(parameter);
      FromList(index, prefetch->mutable_index());
    }
    if (annotations.spmd_output_sharding.has_value()) {
      ASSAY_RETURN_IF_ERROR(proto::ShardingToProto(*annotations.spmd_output_sharding,
                                                   out->mutable_spmd_output_sharding()));
    }
    if (annotations.spmd_parameters_shardings.has_value()) {
      for (const Sharding& sharding : *annotations.spmd_parameters_shardings) {
        ASSAY_RETURN_IF_ERROR(
            proto::ShardingToProto(sharding, out->add_spmd_parameters_shardings()));
      }
    }
    if (!module_.config().stack_tables.empty()) {
      ASSAY_RETURN_IF_ERROR(
          proto::ParseStackTables(module_.config().stack_tables, out->mutable_stack_frame_index()));
    }
    for (const auto& [name, value] : module_.config().verbatim) {
      if (name != "frontend_attributes") continue;
      ASSAY_RETURN_IF_ERROR(
          proto::ParseFrontendAttributes(value, out->mutable_frontend_attributes()));
    }
    return absl::OkStatus();
  }

  const Module& module_;
  absl::flat_hash_map<const Computation*, int64_t> numbers_;
  absl::flat_hash_map<const Instruction*, int64_t> ids_;
  absl::flat_hash_set<const Computation*> nonfusion_;
};

}  // namespace

absl::StatusOr<proto::HloModuleProto> ModuleToProto(const Module& module) {
  return Writer(module).Write();
}

absl::StatusOr<std::string> WriteModuleProto(const Module& module) {
  ASSAY_ASSIGN_OR_RETURN(proto::HloModuleProto proto, ModuleToProto(module));
  proto.set_id(0);  // the process's count, not the module's
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  if (!proto.SerializeToCodedStream(&coded)) {
    return absl::ResourceExhaustedError("the module is larger than a message can be");
  }
  coded.Trim();
  return bytes;
}

}  // namespace assay
