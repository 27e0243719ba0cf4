// Modules in the binary form: HloModuleProto and the files around it. Document: hlo-proto chapters
// 1, 2 and 7. Bytes are hostile until read: memory is a multiple of their size, what a message
// refers to must come before it, so nothing is cyclic, and everything wrong is an error that says
// where.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

namespace proto {
class HloModuleProto;  // spec/proto/hlo.pb.h completes the type
}

absl::StatusOr<proto::HloModuleProto> ModuleToProto(const Module& module);
// Serialised deterministically: the same module gives the same bytes.
absl::StatusOr<std::string> WriteModuleProto(const Module& module);

// `config` is what the message does not hold: counts of devices, options; its layouts, if any, win
// over the message's. Parsed, not verified.
absl::StatusOr<std::unique_ptr<Module>> ModuleFromProto(const proto::HloModuleProto& proto,
                                                        const ModuleConfig& config,
                                                        bool prohibit_empty_literal = true);

// True for what cannot be HLO text.
bool LooksBinary(std::string_view bytes);

// A module with the arguments it was run with, per partition, and the result if there is one.
struct Snapshot {
  std::unique_ptr<Module> module;
  std::vector<std::vector<Literal>> arguments;
  std::optional<Literal> result;
  std::string platform;
};
// Any of the files: a bare module, one with its config, an HloProto, an HloSnapshot, an
// HloUnoptimizedSnapshot with literals inside or behind it.
absl::StatusOr<Snapshot> ReadSnapshot(std::string_view bytes);
absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(std::string_view bytes);

absl::StatusOr<std::string> WriteSnapshot(const Snapshot& snapshot);             // HloSnapshot
absl::StatusOr<std::string> WriteUnoptimizedSnapshot(const Snapshot& snapshot);  // literals behind

}  // namespace assay
