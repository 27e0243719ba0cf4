// Runs the program as a shell does: exit status, last lines, JSON.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"

namespace assay {

struct Output {
  int status = -1;
  std::string text;  // standard output and standard error

  std::string LastLine() const {
    size_t end = text.find_last_not_of('\n');
    if (end == std::string::npos) return "";
    size_t begin = text.rfind('\n', end);
    begin = begin == std::string::npos ? 0 : begin + 1;
    return text.substr(begin, end + 1 - begin);
  }
  nlohmann::json LastJson() const { return nlohmann::json::parse(LastLine(), nullptr, false); }
};

// Runs in a folder of its own, so that a test leaves and sees no store.
inline Output Shell(const std::string& line) {
  std::string folder = testing::TempDir() + "/assay_cli_test";
  std::filesystem::create_directories(folder);
  std::string command = "cd '" + folder + "' && " + line + " 2>&1";
  Output output;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    output.text.append(buffer.data(), count);
  }
  int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

inline Output Assay(const std::string& arguments) {
  return Shell("ASSAY_PEERS=peers '" ASSAY_PROGRAM "' " + arguments);
}

inline std::string Source(const std::string& path) {
  return std::string(ASSAY_SOURCE_DIR) + "/" + path;
}

inline std::string WriteFile(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

inline constexpr char kBad[] =
    "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[3] add(x, y)\n}\n";
inline constexpr char kGood[] =
    "HloModule m\nENTRY e {\n  x = s32[2] parameter(0)\n  ROOT r = s32[2] add(x, x)\n}\n";

struct StatusRow {
  const char* arguments;
  int status;
  const char* text;  // somewhere in what it says
};

}  // namespace assay
