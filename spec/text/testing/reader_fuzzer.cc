// libFuzzer target: text -> module -> verifier -> text -> module. A text that reads must write,
// read again and write the same.
#include <cstdio>
#include <cstdlib>

#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::ReadOptions options;
  options.literal_byte_limit = int64_t{16} << 20;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto module = assay::ReadModule(text, options);
  if (!module.ok()) return 0;
  assay::Verify(**module).IgnoreError();
  for (const assay::WriteOptions& form :
       {assay::WriteOptions::Long(), assay::WriteOptions::Short()}) {
    std::string written = assay::WriteModule(**module, form);
    auto again = assay::ReadModule(written, options);
    bool same = again.ok() && assay::WriteModule(**again, form) == written &&
                (*again)->Hash() == (*module)->Hash();
    if (!same) {
      std::fprintf(stderr, "written:\n%s\n%s\n", written.c_str(),
                   again.ok() ? assay::WriteModule(**again, form).c_str()
                              : again.status().ToString().c_str());
      std::abort();
    }
  }
  return 0;
}
