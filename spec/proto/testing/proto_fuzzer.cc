// libFuzzer target: bytes, or a message in text form -> module -> verifier -> bytes -> module. A
// message that reads and verifies must write and read the same.
#include <cstdio>
#include <cstdlib>

#include "spec/files/text_proto.h"
#include "spec/proto/module_proto.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes_read(reinterpret_cast<const char*>(data), size);
  if (assay::LooksLikeTextProto(bytes_read)) {
    auto binary = assay::BinaryOfTextProto(bytes_read);
    if (!binary.ok()) return 0;
    bytes_read = *std::move(binary);
  }
  auto snapshot = assay::ReadSnapshot(bytes_read);
  if (!snapshot.ok() || !assay::Verify(*snapshot->module).ok()) return 0;
  const std::string text = assay::WriteModule(*snapshot->module);
  auto bytes = assay::WriteModuleProto(*snapshot->module);
  if (!bytes.ok()) return 0;  // a form that only text has
  auto again = assay::ReadModuleProto(*bytes);
  if (again.ok()) {
    auto second = assay::WriteModuleProto(**again);
    if (second.ok() && *second == *bytes) return 0;
  }
  std::fprintf(stderr, "read:\n%s\n%s\n", text.c_str(), again.status().ToString().c_str());
  std::abort();
}
