// The cache of assembled images: what is kept, what is not believed, and how much it may grow. A
// script stands in for ptxas; where the real one is installed, it assembles, too.
#include "optimized/gpu/driver/image_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

class ImageCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.ok());
    SetVersion("1");
  }
  // The stand-in copies its text and refuses one that says so.
  void SetVersion(const std::string& version) {
    const std::string path = Ptxas();
    std::ofstream(path)
        << "#!/bin/sh\n[ \"$1\" = --version ] && { echo version " << version
        << "; exit 0; }\ngrep -q refuse \"$4\" && { echo 'line 3: no such'; exit 7; }\n"
        << "echo x >>'" << folder_.path() << "/calls'\n"
        << "{ echo \"$1\"; cat \"$4\"; } >\"$3\"\n";
    chmod(path.c_str(), 0755);
  }
  std::string Ptxas() const { return StrCat(folder_.path(), "/ptxas"); }
  std::string Kept() const { return StrCat(folder_.path(), "/kept"); }
  ImageCache Open(uint64_t most = 1 << 20) {
    return ImageCache({.folder = Kept(), .most_bytes = most, .ptxas = Ptxas()});
  }
  size_t Calls() const {
    std::ifstream in(StrCat(folder_.path(), "/calls"));
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(in), {}, 'x'));
  }
  std::vector<fs::path> Entries() const {
    std::vector<fs::path> entries;
    for (const auto& file : fs::directory_iterator(Kept())) entries.push_back(file.path());
    return entries;
  }

  TemporaryFolder folder_{"assay-cache-test"};
};

TEST_F(ImageCacheTest, KeepsByTextProcessorAndVersion) {
  for (int k = 0; k < 2; ++k) {
    ImageCache cache = Open();
    EXPECT_EQ(*cache.Assemble("text", "sm_90"), "-arch=sm_90\ntext");
    EXPECT_EQ(*cache.Assemble("text", "sm_80"), "-arch=sm_80\ntext");
    EXPECT_EQ(*cache.Assemble("more", "sm_80"), "-arch=sm_80\nmore");
    EXPECT_EQ(cache.hits(), k == 0 ? 0u : 3u);
  }
  EXPECT_EQ(Calls(), 3u);
  SetVersion("2");
  EXPECT_TRUE(Open().Assemble("text", "sm_90").ok());
  EXPECT_EQ(Calls(), 4u);
}

TEST_F(ImageCacheTest, BelievesNoEntryThatIsNotWhole) {
  ASSERT_TRUE(Open().Assemble("a text of some length", "sm_90").ok());
  const fs::path entry = Entries()[0];
  std::ifstream in(entry, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    std::ofstream(entry, std::ios::binary) << whole.substr(0, bytes);
    EXPECT_EQ(*Open().Assemble("a text of some length", "sm_90"),
              "-arch=sm_90\na text of some length");
    std::string bent = whole;
    bent[bytes] ^= 1;
    std::ofstream(entry, std::ios::binary) << bent;
    EXPECT_EQ(*Open().Assemble("a text of some length", "sm_90"),
              "-arch=sm_90\na text of some length");
  }
}

TEST_F(ImageCacheTest, DropsTheOldest) {
  ImageCache cache = Open(3000);
  for (int k = 0; k < 12; ++k)
    ASSERT_TRUE(cache.Assemble(StrCat(std::string(700, 'a'), k), "sm_90").ok());
  uint64_t bytes = 0;
  for (const fs::path& entry : Entries()) bytes += fs::file_size(entry);
  EXPECT_LE(bytes, 3000u);
  EXPECT_GT(bytes, 1500u);
  ASSERT_TRUE(cache.Assemble(StrCat(std::string(700, 'a'), 11), "sm_90").ok());
  EXPECT_EQ(cache.hits(), 1u);
}

// A process that is killed while it writes leaves a file that nobody renames.
TEST_F(ImageCacheTest, DropsWhatWasNeverWhole) {
  ImageCache cache = Open(3000);
  ASSERT_TRUE(cache.Assemble("first", "sm_90").ok());
  const fs::path left = fs::path(Kept()) / "0123.cubin.77.0.part";
  std::ofstream(left) << std::string(2500, 'p');
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.Assemble(std::string(700, 'a'), "sm_90").ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(Entries().size(), 2u);
}

TEST_F(ImageCacheTest, ManyWriteAtOnce) {
  std::vector<std::thread> writers;
  for (int w = 0; w < 6; ++w) {
    writers.emplace_back([this] {
      ImageCache cache = Open(2000);
      for (int k = 0; k < 6; ++k) {
        const auto cubin = cache.Assemble(StrCat(std::string(500, 'b'), k), "sm_90");
        EXPECT_EQ(cubin.value_or(""), StrCat("-arch=sm_90\n", std::string(500, 'b'), k));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const fs::path& entry : Entries()) EXPECT_EQ(entry.extension(), ".cubin") << entry;
}

TEST_F(ImageCacheTest, SaysWhatPtxasSays) {
  const auto refused = Open().Assemble("refuse", "sm_90");
  EXPECT_NE(std::string(refused.status().message()).find("line 3: no such"), std::string::npos);
  ImageCache none({.folder = Kept(), .ptxas = "/no/such/ptxas"});
  EXPECT_FALSE(none.has_ptxas());
  EXPECT_EQ(none.Assemble("text", "sm_90").status().code(), absl::StatusCode::kUnavailable);
  // A folder that cannot be made costs time, not results.
  ImageCache nowhere({.folder = "/proc/no/such", .ptxas = Ptxas()});
  EXPECT_TRUE(nowhere.Assemble("text", "sm_90").ok());
}

TEST_F(ImageCacheTest, AssemblesWithTheRealOne) {
  ImageCache cache({.folder = Kept()});
  if (!cache.has_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  const std::string text =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
  const auto cubin = cache.Assemble(text, "sm_80");
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  EXPECT_EQ(cubin->substr(1, 3), "ELF");
  EXPECT_EQ(*cache.Assemble(text, "sm_80"), *cubin);
  EXPECT_EQ(cache.hits(), 1u);
}

}  // namespace
}  // namespace assay::gpu
