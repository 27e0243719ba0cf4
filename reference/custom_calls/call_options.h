// Options of custom calls: the typed attributes of their backend_config, "{key = value : type,
// ...}". Document: operation semantics chapter 14, CustomCall.
#pragma once

#include <optional>
#include <string_view>

#include "reference/values/op_context.h"

namespace assay::reference {

// The text behind `key = ` in the call's typed attributes; nothing if there is none.
std::optional<std::string_view> FindOption(const OpContext& op, std::string_view key);
// The number behind `key = ` in the call's typed attributes; nothing if there is none.
std::optional<int64_t> ConfigInteger(const OpContext& op, std::string_view key);
// True if the one-character option `key` is `letter`, as in LAPACK's arguments.
bool HasOption(const OpContext& op, std::string_view key, char letter);
// True if the flag `key` is set.
bool HasFlag(const OpContext& op, std::string_view key);

}  // namespace assay::reference
