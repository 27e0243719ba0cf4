// Asks a program of Assay about a workload through its command line.
#include "bench/tracking/side.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "nlohmann/json.hpp"
#include "reports/store.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> PythonWords(const Side& side) {
  if (side.python.empty()) return {};
  return {"--python", side.python};
}

// The object of the line in which "type" is "workload".
absl::StatusOr<nlohmann::json> WorkloadLine(const Ran& ran, const std::string& who) {
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("type", "") != "workload") continue;
    if (json.contains("error") && json["error"].is_string()) {
      return absl::UnavailableError(StrCat(who, ": ", json["error"].get<std::string>()));
    }
    if (json.contains("backends") && json["backends"].is_array() && !json["backends"].empty() &&
        json["backends"][0].is_object()) {
      return json["backends"][0];
    }
  }
  const std::string said = ran.err.substr(0, ran.err.find('\n'));
  return absl::UnavailableError(
      StrCat(who, " ended with status ", ran.status, ": ", said.empty() ? "no word" : said));
}

double Number(const nlohmann::json& json, const char* name, const char* inner = nullptr) {
  auto at = json.find(name);
  if (at == json.end()) return 0;
  if (inner != nullptr) return at->is_object() ? Number(*at, inner) : 0;
  return at->is_number() ? at->get<double>() : 0;
}

std::vector<std::string> BenchWords(const Side& side, const std::string& path,
                                    const SampleOptions& options) {
  std::vector<std::string> words = {
      side.program,        "bench",   path,     "--backend",  side.backend, "--no-roof",
      "--unjudged",        "--no-db", "--json", "--compiles", "1",          "--seed",
      StrCat(options.seed)};
  for (const std::string& word : PythonWords(side)) words.push_back(word);
  return words;
}

}  // namespace

absl::StatusOr<SideSample> TakeSample(const Side& side, const std::string& path,
                                      const SampleOptions& options) {
  std::vector<std::string> words = BenchWords(side, path, options);
  words.insert(words.end(), {"--min-time", StrCat(std::llround(options.min_seconds * 1000), "ms"),
                             "--max-time", StrCat(std::llround(options.max_seconds * 1000), "ms")});
  ASSAY_ASSIGN_OR_RETURN(const Ran ran, RunCommand(words, options.timeout));
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json json, WorkloadLine(ran, side.label));
  SideSample sample;
  sample.run_seconds = Number(json, "run_seconds", "median");
  sample.calm_seconds = Number(json, "calm_run_seconds");
  sample.measures["compile_seconds"] = Number(json, "compile_seconds", "median");
  for (const char* name : {"peak_bytes", "kernels", "bytes_moved"}) {
    if (Number(json, name) > 0) sample.measures[name] = Number(json, name);
  }
  auto statistics = json.find("statistics");
  if (statistics == json.end() || !statistics->is_object()) return sample;
  for (const auto& [name, value] : statistics->items()) {
    if (!value.is_number()) continue;
    if (name.rfind("compile.seconds.", 0) == 0 || name == "code.bytes" || name == "arena.bytes" ||
        name == "constants.bytes") {
      sample.measures[name] = value.get<double>();
    }
  }
  return sample;
}

std::string CodeOf(const Side& side, const std::string& path, double timeout) {
  if (side.backend.rfind("cpu", 0) != 0) return "";
  Side traced = side;
  traced.backend += side.backend.find(':') == std::string::npos ? ":trace=on" : ",trace=on";
  std::vector<std::string> words = BenchWords(traced, path, {});
  words.insert(words.end(), {"--min-time", "1ms", "--max-time", "1ms"});
  const absl::StatusOr<Ran> ran = RunCommand(words, timeout);
  if (!ran.ok()) return "";
  const absl::StatusOr<nlohmann::json> json = WorkloadLine(*ran, side.label);
  if (!json.ok() || !json->contains("statistics")) return "";
  const double hash = Number(*json, "statistics", "code.hash");
  return hash > 0 ? StrCat(static_cast<uint64_t>(hash)) : "";
}

Made MadeBy(const Side& side, const std::string& path, double timeout) {
  Made made;
  auto ask = [&](const char* kind, const char* flag, std::string (*shorten)(const std::string&)) {
    std::vector<std::string> words = {side.program, "print", path, "--optimized", side.backend};
    if (flag != nullptr) words.insert(words.end(), {flag, "--json"});
    for (const std::string& word : PythonWords(side)) words.push_back(word);
    const absl::StatusOr<Ran> ran = RunCommand(words, timeout);
    if (!ran.ok() || ran->status != 0) return;
    made[kind] = shorten != nullptr ? shorten(ran->out) : ran->out;
  };
  ask("hlo", nullptr, nullptr);
  ask("decisions", "--decisions", DecisionText);
  ask("plan", "--plan", PlanText);
  ask("passes", "--passes", PassText);
  std::string code = CodeOf(side, path, timeout);
  if (!code.empty()) made["code"] = std::move(code);
  return made;
}

std::string ThisProgram() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "assay" : path.string();
}

absl::StatusOr<std::string> Freeze(const std::string& program, const std::string& cache) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(program));
  const std::string hash = HashOfContent(bytes);
  ASSAY_RETURN_IF_ERROR(MakeFolder(cache));
  const std::string path = StrCat(cache, "/", hash);
  std::error_code error;
  if (!fs::exists(path, error)) {
    ASSAY_RETURN_IF_ERROR(WriteFile(path, bytes));
    chmod(path.c_str(), 0755);
  }
  return hash;
}

absl::StatusOr<std::string> FrozenProgram(const std::string& hash, const std::string& cache) {
  std::string path = StrCat(cache, "/", hash);
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) {
    return absl::NotFoundError(StrCat("the frozen reference ", hash, " is not in ", cache,
                                      "; begin a new series with --freeze"));
  }
  if (HashOfContent(*bytes) != hash) {
    return absl::DataLossError(StrCat(path, " was changed: its hash is ", HashOfContent(*bytes),
                                      "; remove it and begin a new series with --freeze"));
  }
  return path;
}

absl::StatusOr<Side> SideNamed(const std::string& name, const Side& usual,
                               const CommitBuilds& builds) {
  Side side = usual;
  side.label = name;
  std::error_code error;
  if (fs::is_regular_file(name, error) && access(name.c_str(), X_OK) == 0) {
    side.program = fs::absolute(name).string();
    return side;
  }
  const std::string family = name.substr(0, name.find(':'));
  if (family == "cpu" || family == "xla" || family == "jax" || family == "process") {
    side.backend = name;
    return side;
  }
  absl::StatusOr<std::string> program = ProgramOfCommit(name, builds);
  if (absl::IsNotFound(program.status())) {
    return absl::NotFoundError(StrCat("'", name,
                                      "' is no executable file, no release such as xla@0.4.31, no "
                                      "backend, and no commit of this folder's repository"));
  }
  ASSAY_RETURN_IF_ERROR(program.status());
  side.program = *std::move(program);
  return side;
}

}  // namespace assay
