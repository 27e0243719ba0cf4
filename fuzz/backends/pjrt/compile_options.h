// The options of one compilation in the form that plug-ins take: a CompileOptionsProto of XLA.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace assay::pjrt {

// `flags` are XLA's debug options by name; a value is a truth value, a number or text, as it reads.
std::string CompileOptionsBytes(const std::map<std::string, std::string>& flags, int64_t replicas);

// For one device, which is named when the program is run.
std::string PortableOptionsBytes();

}  // namespace assay::pjrt
