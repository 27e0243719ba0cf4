// The members of HloModule of the HloModule document that know the binary form, as functions.
// spec/ir/hlo_module.h has the others.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "spec/ir/hlo_module.h"

namespace assay {

namespace proto {
class HloModuleProto;  // spec/proto/hlo.pb.h completes the type
}

namespace hlo_module {

// A module that has no binary form, such as one with an unreadable sharding, ends the program here;
// ModuleToProto (spec/proto/module_proto.h) returns an error.
proto::HloModuleProto ToProto(const HloModule& module);
// `prohibit_empty_literal`: a constant without a value is an error.
absl::StatusOr<std::unique_ptr<HloModule>> CreateFromProto(const proto::HloModuleProto& proto,
                                                           const HloModuleConfig& config,
                                                           bool prohibit_empty_literal = true);
// From the program shape of the message.
absl::StatusOr<HloModuleConfig> CreateModuleConfigFromProto(
    const proto::HloModuleProto& proto, const DebugOptions& debug_options,
    const ExecutionOptions* execution_options = nullptr);

}  // namespace hlo_module

}  // namespace assay
