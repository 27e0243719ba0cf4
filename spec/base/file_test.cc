// A file that cannot be read or written ends in an error of the right class, without waiting.
#include "spec/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace assay {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("file_test" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsWhatWasWrittenUpToTheLimit) {
  const std::string bytes("a\0b\nc", 5);
  ASSERT_TRUE(WriteFile(Path("f"), "longer than what follows").ok());
  ASSERT_TRUE(WriteFile(Path("f"), bytes).ok());
  EXPECT_EQ(ReadFile(Path("f")).value(), bytes);
  EXPECT_EQ(ReadFile(Path("f"), 5).value(), bytes);
  EXPECT_EQ(ReadFile(Path("f"), 4).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  EXPECT_EQ(ReadFile("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(folder_.string()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteFile(folder_.string(), "x").code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(Path("pipe")).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::create_symlink("loop", Path("loop"));
  EXPECT_EQ(ReadFile(Path("loop")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, MissingFilesFoldersAndAFullDiskAreNamed) {
  EXPECT_EQ(ReadFile(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFile(Path("none/f"), "x").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFile("/dev/full", "x").code(), absl::StatusCode::kResourceExhausted);
  const absl::Status status = ReadFile(Path("none")).status();
  EXPECT_NE(status.message().find(Path("none")), absl::string_view::npos);
}

TEST_F(FileTest, MissingPermissionIsNamed) {
  EXPECT_EQ(FileError("f", "cannot be read", EACCES).code(), absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(WriteFile(Path("f"), "x").ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0), 0);
  if (geteuid() != 0) {
    EXPECT_EQ(ReadFile(Path("f")).status().code(), absl::StatusCode::kPermissionDenied);
  }
}

}  // namespace
}  // namespace assay
