// Members of HloModule that convert to and from messages.
#include "spec/proto/hlo_module_proto.h"

#include "spec/base/check.h"
#include "spec/base/status_macros.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/proto/shape_proto.h"

namespace assay::hlo_module {

proto::HloModuleProto ToProto(const HloModule& module) {
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(module);
  ASSAY_CHECK(proto.ok(), proto.status().ToString().c_str());
  return *std::move(proto);
}

absl::StatusOr<std::unique_ptr<HloModule>> CreateFromProto(const proto::HloModuleProto& proto,
                                                           const HloModuleConfig& config,
                                                           bool prohibit_empty_literal) {
  return ModuleFromProto(proto, config, prohibit_empty_literal);
}

absl::StatusOr<HloModuleConfig> CreateModuleConfigFromProto(
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

}  // namespace assay::hlo_module
