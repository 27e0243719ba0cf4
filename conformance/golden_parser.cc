#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "conformance/golden.h"
#include "conformance/golden_files.h"
#include "spec/base/strings.h"
#include "spec/ops/opcode.h"
#include "spec/ops/verifier.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

bool TakePrefix(std::string_view& line, std::string_view prefix) {
  if (line.substr(0, prefix.size()) != prefix) return false;
  line.remove_prefix(prefix.size());
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return true;
}

class GoldenParser {
 public:
  GoldenParser(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  absl::StatusOr<std::vector<GoldenCase>> Parse() {
    for (absl::string_view piece : absl::StrSplit(ToAbsl(text_), '\n')) {
      ++line_;
      absl::Status status = Line(ToStd(piece));
      if (!status.ok()) return status;
    }
    absl::Status status = Finish();
    if (!status.ok()) return status;
    return std::move(cases_);
  }

 private:
  absl::Status Error(std::string_view message) const {
    return absl::InvalidArgumentError(StrCat(file_, ":", line_, ": ", message));
  }

  absl::Status Line(std::string_view line) {
    if (!line.empty() && line.front() == '#') return absl::OkStatus();
    std::string_view rest = line;
    if (TakePrefix(rest, "== ")) return Begin(rest);
    if (!open_) {
      return line.empty() ? absl::OkStatus() : Error("expected a case: == name");
    }
    if (TakePrefix(rest, "op:")) return Ops(rest);
    if (TakePrefix(rest, "cite:")) {
      case_.citation = std::string(rest);
      return absl::OkStatus();
    }
    if (TakePrefix(rest, "row:")) {
      for (absl::string_view id : absl::StrSplit(ToAbsl(rest), ' ', absl::SkipEmpty()))
        case_.checklist.emplace_back(id.data(), id.size());
      return absl::OkStatus();
    }
    if (TakePrefix(rest, "compare:")) return Comparison(rest);
    if (TakePrefix(rest, "in:")) return Input(rest);
    if (TakePrefix(rest, "out:")) return Output(rest);
    if (case_.module != nullptr && !line.empty()) {
      return Error("expected in:, out: or the next case");
    }
    StrAppend(&hlo_, line, "\n");
    return absl::OkStatus();
  }

  absl::Status Begin(std::string_view name) {
    absl::Status status = Finish();
    if (!status.ok()) return status;
    case_ = GoldenCase();
    case_.file = std::string(file_);
    case_.line = line_;
    case_.name = std::string(name);
    hlo_.clear();
    open_ = true;
    return absl::OkStatus();
  }

  absl::Status Ops(std::string_view names) {
    for (absl::string_view name : absl::StrSplit(ToAbsl(names), ' ', absl::SkipEmpty())) {
      if (!OpcodeFromName(ToStd(name)).has_value()) {
        return Error(StrCat("no op is called '", ToStd(name), "'"));
      }
      case_.ops.emplace_back(name);
    }
    return absl::OkStatus();
  }

  absl::Status Comparison(std::string_view words) {
    if (words == "bits") {
      case_.comparison = GoldenComparison::kBits;
    } else if (words == "exact") {
      case_.comparison = GoldenComparison::kExact;
    } else if (TakePrefix(words, "ulp ")) {
      case_.comparison = GoldenComparison::kUlp;
      auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), case_.ulps);
      if (error != std::errc() || end != words.data() + words.size()) {
        return Error("expected a number of ulps");
      }
    } else {
      return Error("expected bits, exact or ulp K");
    }
    return absl::OkStatus();
  }

  // The module ends where the first value begins.
  absl::Status NeedModule() {
    if (case_.module != nullptr) return absl::OkStatus();
    ReadOptions options;
    options.file_name = StrCat(file_, ":", case_.name);
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(hlo_, options);
    if (!module.ok()) return module.status();
    absl::Status verified = Verify(**module);
    if (!verified.ok()) return Error(StrCat(case_.name, ": ", ToStd(verified.message())));
    case_.module = *std::move(module);
    leaves_.clear();
    ForEachLeaf(case_.module->entry()->root()->shape(),
                [&](const Shape& leaf, absl::Span<const int64_t>) { leaves_.push_back(leaf); });
    return absl::OkStatus();
  }

  absl::Status Input(std::string_view value) {
    absl::Status status = NeedModule();
    if (!status.ok()) return status;
    // An input after outputs begins the next row.
    if (case_.rows.empty() || !case_.rows.back().expected.empty()) {
      status = RowComplete();
      if (!status.ok()) return status;
      case_.rows.emplace_back();
    }
    GoldenCase::Row& row = case_.rows.back();
    const Computation& entry = *case_.module->entry();
    if (static_cast<int64_t>(row.inputs.size()) == entry.parameter_count()) {
      return Error(StrCat("more inputs than the ", entry.parameter_count(), " parameters"));
    }
    return Value(entry.parameter(static_cast<int64_t>(row.inputs.size()))->shape(), value,
                 row.inputs);
  }

  absl::Status Output(std::string_view value) {
    absl::Status status = NeedModule();
    if (!status.ok()) return status;
    if (case_.rows.empty()) case_.rows.emplace_back();
    GoldenCase::Row& row = case_.rows.back();
    if (row.expected.size() == leaves_.size()) {
      return Error(StrCat("more outputs than the ", leaves_.size(), " leaves of the result"));
    }
    return Value(leaves_[row.expected.size()], value, row.expected);
  }

  absl::Status Value(const Shape& shape, std::string_view text, std::vector<Literal>& to) {
    absl::StatusOr<Literal> literal = ReadLiteral(shape, text);
    if (!literal.ok()) {
      return Error(StrCat("value of ", shape.ToString(), ": ", ToStd(literal.status().message())));
    }
    to.push_back(*std::move(literal));
    return absl::OkStatus();
  }

  absl::Status RowComplete() const {
    if (case_.rows.empty()) return absl::OkStatus();
    const GoldenCase::Row& row = case_.rows.back();
    if (static_cast<int64_t>(row.inputs.size()) != case_.module->entry()->parameter_count() ||
        row.expected.size() != leaves_.size()) {
      return Error(StrCat("case ", case_.name, ": a row has ", row.inputs.size(), " inputs and ",
                          row.expected.size(), " outputs, the module ",
                          case_.module->entry()->parameter_count(), " and ", leaves_.size()));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (!open_) return absl::OkStatus();
    if (case_.rows.empty()) return Error(StrCat("case ", case_.name, " has no out:"));
    if (case_.citation.empty()) return Error(StrCat("case ", case_.name, " cites no document"));
    if (case_.ops.empty()) return Error(StrCat("case ", case_.name, " names no op"));
    absl::Status status = RowComplete();
    if (!status.ok()) return status;
    cases_.push_back(std::move(case_));
    open_ = false;
    return absl::OkStatus();
  }

  std::string_view file_, text_;
  int64_t line_ = 0;
  bool open_ = false;
  GoldenCase case_;
  std::string hlo_;
  std::vector<Shape> leaves_;
  std::vector<GoldenCase> cases_;
};

}  // namespace

absl::StatusOr<std::vector<GoldenCase>> ParseGoldens(std::string_view file, std::string_view text) {
  return GoldenParser(file, text).Parse();
}

absl::StatusOr<std::vector<GoldenCase>> DocumentGoldens() {
  std::vector<GoldenCase> all;
  for (const auto& [name, text] : GoldenFiles()) {
    absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldens(name, text);
    if (!cases.ok()) return cases.status();
    for (GoldenCase& golden : *cases) all.push_back(std::move(golden));
  }
  return all;
}

absl::StatusOr<std::vector<GoldenCase>> GoldensOfFolder(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  if (error) return absl::NotFoundError(StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenCase> all;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldens(path.string(), text.str());
    if (!cases.ok()) return cases.status();
    for (GoldenCase& golden : *cases) all.push_back(std::move(golden));
  }
  return all;
}

}  // namespace assay
