// read(write(m)) is m, and canonical text is a fixed point: over the corpus and own samples.
#include <gtest/gtest.h>

#include <cstdio>

#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/testing/corpus.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

std::unique_ptr<Module> Read(std::string_view text, const std::string& name) {
  ReadOptions options;
  options.file_name = name;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text, options);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Everything that text carries, compared through a second reading.
void ExpectRoundTrip(const Module& module, const WriteOptions& options, const std::string& name) {
  std::string first = WriteModule(module, options);
  std::unique_ptr<Module> again = Read(first, name);
  ASSERT_NE(again, nullptr) << first;
  EXPECT_EQ(first, WriteModule(*again, options)) << name;
  EXPECT_EQ(module.Hash(), again->Hash()) << name;
}

TEST(RoundTrip, Corpus) {
  std::vector<CorpusFile> files = CorpusFiles();
  ASSERT_FALSE(files.empty());
  if (std::filesystem::is_directory(ConformanceCorpus())) {
    ASSERT_FALSE(HloFilesBelow(ConformanceCorpus()).empty()) << "conformance/corpus is empty";
  }
  int same_text = 0;
  for (const CorpusFile& file : files) {
    SCOPED_TRACE(file.name);
    std::unique_ptr<Module> module = Read(file.text, file.name);
    if (module == nullptr) continue;
    bool is_long = file.text.find("\n  %") != std::string::npos ||
                   file.text.find("\n  ROOT %") != std::string::npos;
    std::string canonical =
        WriteModule(*module, is_long ? WriteOptions::Long() : WriteOptions::Short());
    if (canonical == file.text || canonical + "\n" == file.text || canonical == file.text + "\n") {
      ++same_text;
    } else if (std::getenv("ASSAY_SHOW_DIFFERENCE") != nullptr) {
      size_t at =
          std::mismatch(canonical.begin(), canonical.end(), file.text.begin(), file.text.end())
              .first -
          canonical.begin();
      std::printf("%s differs:\n  theirs: %s\n  ours:   %s\n", file.name.c_str(),
                  file.text.substr(at > 80 ? at - 80 : 0, 160).c_str(),
                  canonical.substr(at > 80 ? at - 80 : 0, 160).c_str());
    }
    ExpectRoundTrip(*module, WriteOptions::Long(), file.name);
    ExpectRoundTrip(*module, WriteOptions::Short(), file.name);
  }
  std::printf("round trip: %zu corpus files, %d of them byte for byte\n", files.size(), same_text);
}

}  // namespace
}  // namespace assay
