#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "conformance/golden.h"
#include "conformance/golden_files.h"
#include "spec/attributes/opcode.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

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
    if (TakePrefix(rest, "devices:")) return Devices(rest);
    for (const ValueLine& kind : kValueLines) {
      rest = line;
      if (!TakePrefix(rest, kind.word)) continue;
      int64_t device = -1;
      if (TakePrefix(rest, "[")) {
        auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), device);
        rest.remove_prefix(static_cast<size_t>(end - rest.data()));
        if (error != std::errc() || device < 0 || device >= DeviceCount() ||
            !TakePrefix(rest, "]")) {
          return Error(StrCat("expected ", kind.word, "[D]: with a device below ", DeviceCount()));
        }
      }
      if (TakePrefix(rest, ":")) return ForDevices(kind, device, rest);
    }
    rest = line;
    if (TakePrefix(rest, "error:")) return RunError(rest);
    if (case_.module != nullptr && !line.empty()) {
      return Error("expected in:, out:, infeed:, outfeed:, error: or the next case");
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

  // Lines of values: for one device, or (without a number) for each of them.
  enum class Kind { kIn, kOut, kInfeed, kOutfeed };
  struct ValueLine {
    std::string_view word;
    Kind kind;
  };
  static constexpr ValueLine kValueLines[] = {{"infeed", Kind::kInfeed},
                                              {"outfeed", Kind::kOutfeed},
                                              {"in", Kind::kIn},
                                              {"out", Kind::kOut}};

  int64_t DeviceCount() const { return case_.devices.replicas * case_.devices.partitions; }

  absl::Status Devices(std::string_view text) {
    const size_t x = text.find('x');
    auto number = [](std::string_view digits, int64_t* value) {
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
      return error == std::errc() && end == digits.data() + digits.size() && *value >= 1 &&
             *value <= 64;
    };
    if (x == std::string_view::npos || !number(text.substr(0, x), &case_.devices.replicas) ||
        !number(text.substr(x + 1), &case_.devices.partitions)) {
      return Error("expected devices: REPLICASxPARTITIONS, each 1 to 64");
    }
    if (case_.module != nullptr) return Error("devices: comes before the module");
    return absl::OkStatus();
  }

  // What the row under way has for one device.
  struct OfDevice {
    std::vector<Literal> in, out, infeed, outfeed;
  };

  bool RowHasEnded() const {
    return !error_.empty() || std::any_of(row_.begin(), row_.end(), [](const OfDevice& device) {
      return !device.out.empty() || !device.outfeed.empty();
    });
  }

  absl::Status ForDevices(const ValueLine& line, int64_t device, std::string_view text) {
    absl::Status status = NeedModule();
    if (!status.ok()) return status;
    const bool input = line.kind == Kind::kIn || line.kind == Kind::kInfeed;
    if (input && RowHasEnded()) {
      // An input after outputs begins the next row.
      status = EndRow();
      if (!status.ok()) return status;
    }
    row_.resize(static_cast<size_t>(DeviceCount()));
    in_row_ = true;
    for (int64_t d = 0; d < DeviceCount(); ++d) {
      if (device >= 0 && d != device) continue;
      status = AddValue(line.kind, text, row_[d]);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddValue(Kind kind, std::string_view text, OfDevice& to) {
    const Computation& entry = *case_.module->entry();
    switch (kind) {
      case Kind::kIn:
        if (static_cast<int64_t>(to.in.size()) == entry.parameter_count()) {
          return Error(StrCat("more inputs than the ", entry.parameter_count(), " parameters"));
        }
        return Value(entry.parameter(static_cast<int64_t>(to.in.size()))->shape(), text, to.in);
      case Kind::kOut:
        if (to.out.size() == leaves_.size()) {
          return Error(StrCat("more outputs than the ", leaves_.size(), " leaves of the result"));
        }
        return Value(leaves_[to.out.size()], text, to.out);
      case Kind::kInfeed:
      case Kind::kOutfeed:
        break;
    }
    // An array with its shape before it.
    const size_t end = std::min(text.find(' '), text.size());
    absl::StatusOr<Shape> shape = ReadShape(text.substr(0, end));
    if (!shape.ok()) return Error(ToStd(shape.status().message()));
    return Value(*shape, text.substr(end), kind == Kind::kInfeed ? to.infeed : to.outfeed);
  }

  absl::Status RunError(std::string_view text) {
    absl::Status status = NeedModule();
    if (!status.ok()) return status;
    if (text.empty()) return Error("expected error: part of the message");
    error_ = std::string(text);
    row_.resize(static_cast<size_t>(DeviceCount()));
    in_row_ = true;
    return absl::OkStatus();
  }

  absl::Status Value(const Shape& shape, std::string_view text, std::vector<Literal>& to) {
    absl::StatusOr<Literal> literal = ReadLiteral(shape, text);
    if (!literal.ok()) {
      return Error(StrCat("value of ", shape.ToString(), ": ", ToStd(literal.status().message())));
    }
    to.push_back(*std::move(literal));
    return absl::OkStatus();
  }

  absl::Status EndRow() {
    if (!in_row_) return absl::OkStatus();
    GoldenCase::Row row;
    const int64_t parameters = case_.module->entry()->parameter_count();
    for (size_t d = 0; d < row_.size(); ++d) {
      OfDevice& device = row_[d];
      const size_t wanted = error_.empty() ? leaves_.size() : 0;
      if (static_cast<int64_t>(device.in.size()) != parameters || device.out.size() != wanted) {
        return Error(StrCat("case ", case_.name, ": a row has ", device.in.size(), " inputs and ",
                            device.out.size(), " outputs, the module ", parameters, " and ", wanted,
                            row_.size() > 1 ? StrCat(" (device ", d, ")") : ""));
      }
      for (Literal& value : device.in) row.inputs.push_back(std::move(value));
      for (Literal& value : device.out) row.expected.push_back(std::move(value));
      row.infeed.push_back(std::move(device.infeed));
      row.outfeed.push_back(std::move(device.outfeed));
    }
    auto empty = [](const std::vector<Literal>& list) { return list.empty(); };
    if (std::all_of(row.infeed.begin(), row.infeed.end(), empty)) row.infeed.clear();
    if (std::all_of(row.outfeed.begin(), row.outfeed.end(), empty)) row.outfeed.clear();
    row.error = std::move(error_);
    error_.clear();
    row_.clear();
    in_row_ = false;
    case_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (!open_) return absl::OkStatus();
    absl::Status status = EndRow();
    if (!status.ok()) return status;
    if (case_.rows.empty()) return Error(StrCat("case ", case_.name, " has no out:"));
    if (case_.citation.empty()) return Error(StrCat("case ", case_.name, " cites no document"));
    if (case_.ops.empty()) return Error(StrCat("case ", case_.name, " names no op"));
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
  std::vector<OfDevice> row_;  // under way
  std::string error_;
  bool in_row_ = false;
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
