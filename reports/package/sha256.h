// SHA-256, FIPS 180-4: what a package says of its files.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace assay
