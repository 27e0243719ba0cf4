// The results of a rank as one string.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "optimized/runtime/host_queues.h"
#include "optimized/runtime/run_context.h"
#include "spec/types/literal.h"

namespace assay {

// The result of the program, what it sent to the host, and the state of its random numbers.
std::string PackResults(const Literal& result, const HostQueues& host, const RunContext& context);
// Into a result of the same shape.
absl::Status UnpackResults(std::string_view packed, Literal& result, HostQueues& host,
                           RunContext& context);

}  // namespace assay
