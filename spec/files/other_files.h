// Tells what a file is that holds no module: users pick one of the many that stand beside modules
// in a dump.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// A sentence that says what the content is and what to give instead; "" where it is nothing known.
// Asked only of files that could not be read as a module.
std::string WhatElseItIs(const std::string& path, std::string_view content);

}  // namespace assay
