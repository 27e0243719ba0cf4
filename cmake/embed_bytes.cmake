# Writes the bytes of FROM to TO as an array in C++.
file(READ ${FROM} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${TO} "// Made by cmake/embed_bytes.cmake.
#include <cstddef>
namespace assay::gpu {
extern const unsigned char kDeviceCode[];
extern const size_t kDeviceCodeBytes;
alignas(8) const unsigned char kDeviceCode[] = {
${bytes}};
const size_t kDeviceCodeBytes = ${count};
}  // namespace assay::gpu
")
