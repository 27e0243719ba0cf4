// The members of Module that know the binary form. Document: HloModule.
#include "spec/base/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_rules/inference_util.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/proto/shape_proto.h"

namespace assay {

proto::HloModuleProto Module::ToProto() const {
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*this);
  ASSAY_CHECK(proto.ok(), proto.status().ToString().c_str());
  return *std::move(proto);
}

absl::StatusOr<std::unique_ptr<Module>> Module::CreateFromProto(const proto::HloModuleProto& proto,
                                                                const ModuleConfig& config,
                                                                bool prohibit_empty_literal) {
  return ModuleFromProto(proto, config, prohibit_empty_literal);
}

absl::StatusOr<ModuleConfig> Module::CreateModuleConfigFromProto(
    const proto::HloModuleProto& proto, const DebugOptions& debug_options,
    const ExecutionOptions* execution_options) {
  if (!proto.has_host_program_shape()) {
    return absl::InvalidArgumentError("there is no host program shape");
  }
  ProgramShape shape;
  for (const proto::ShapeProto& parameter : proto.host_program_shape().parameters()) {
    ASSAY_ASSIGN_OR_RETURN(shape.parameters.emplace_back(), proto::ShapeFromProto(parameter));
  }
  ASSAY_ASSIGN_OR_RETURN(shape.result, proto::ShapeFromProto(proto.host_program_shape().result()));
  return CreateModuleConfigFromShape(shape, debug_options, execution_options);
}

absl::StatusOr<ModuleConfig> Module::CreateModuleConfigFromShape(
    const ProgramShape& program_shape, const DebugOptions& debug_options,
    const ExecutionOptions* execution_options) {
  for (const Shape& parameter : program_shape.parameters) {
    ASSAY_RETURN_IF_ERROR(CheckShape(parameter));
  }
  ASSAY_RETURN_IF_ERROR(CheckShape(program_shape.result));
  ModuleConfig config;
  config.entry_layout = std::make_unique<EntryLayout>(program_shape, /*ignore_layouts=*/false);
  config.debug_options = debug_options;
  if (execution_options == nullptr) return config;
  if (execution_options->num_replicas < 1 || execution_options->num_partitions < 1) {
    return absl::InvalidArgumentError(StrCat("there are ", execution_options->num_replicas,
                                             " replicas and ", execution_options->num_partitions,
                                             " partitions, want at least one of each"));
  }
  config.seed = execution_options->seed;
  config.replica_count = execution_options->num_replicas;
  config.num_partitions = execution_options->num_partitions;
  config.alias_passthrough_params = execution_options->alias_passthrough_params;
  if (execution_options->shape_with_output_layout.has_value()) {
    const Shape& result = *execution_options->shape_with_output_layout;
    if (!Compatible(result, program_shape.result)) {
      return absl::InvalidArgumentError(StrCat("the output layout is of the shape ",
                                               result.ToString(), ", the result is ",
                                               program_shape.result.ToString()));
    }
    config.entry_layout->result = result;
  }
  // What the execution asks for wins.
  for (const auto& [name, value] : execution_options->debug_options.flags) {
    config.debug_options.flags[name] = value;
  }
  return config;
}

}  // namespace assay
