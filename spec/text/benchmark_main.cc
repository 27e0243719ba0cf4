// text_benchmark FILE...: how fast modules are read from text and written. Per file one line: its
// bytes, then modules and megabytes per second of reading, of writing the short form and of writing
// the long one. Verifying is not part of it.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "spec/base/clock.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

// Seconds of one call: the least over at least ten calls and a quarter of a second.
double SecondsOf(const std::function<void()>& work) {
  double best = 1e9;
  const double end = Now() + 0.25;
  for (int run = 0; run < 10 || Now() < end; ++run) {
    const double start = Now();
    work();
    best = std::min(best, Now() - start);
  }
  return best;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: text_benchmark FILE...\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    if (!module.ok()) {
      std::fprintf(stderr, "%s: %s\n", argv[i], std::string(module.status().message()).c_str());
      return 2;
    }
    std::printf("{\"file\": \"%s\", \"bytes\": %zu", argv[i], text.size());
    const double read = SecondsOf([&] { (void)ReadModule(text).ok(); });
    std::printf(", \"reads_per_s\": %.0f, \"read_mb_per_s\": %.1f", 1 / read,
                text.size() / read / 1e6);
    for (const auto& [name, options] :
         {std::pair{"short", WriteOptions::Short()}, std::pair{"long", WriteOptions::Long()}}) {
      const double bytes = WriteModule(**module, options).size();
      const double write = SecondsOf([&] { (void)WriteModule(**module, options).empty(); });
      std::printf(", \"write_%s_mb_per_s\": %.1f", name, bytes / write / 1e6);
    }
    std::printf("}\n");
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main(argc, argv); }
