// Messages in the text form of protobuf (*.pbtxt, *.textproto), which dumps and test data have.
// Document: https://protobuf.dev/reference/protobuf/textformat-spec; hlo-proto for the messages.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace assay {

// True for what begins as a message does, "hlo_module {" or "name: ", and HLO text does not.
bool LooksLikeTextProto(std::string_view text);

// The message in the binary form, as spec/proto/module_proto.h reads it: a bare module, one with
// its config, an HloProto or a snapshot, by the fields that the text has. Hostile until read:
// nesting is limited, errors begin with LINE:COLUMN.
absl::StatusOr<std::string> BinaryOfTextProto(std::string_view text);

}  // namespace assay
