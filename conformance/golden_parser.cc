// Goldens from case files: the fields of a case become its module, its inputs and what must come
// out.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "absl/strings/str_split.h"
#include "conformance/golden.h"
#include "conformance/golden_files.h"
#include "spec/attributes/opcode.h"
#include "spec/base/case_file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr std::string_view kKeys[] = {"op",  "cite",   "compare", "devices", "in",
                                      "out", "infeed", "outfeed", "error"};

// Makes one GoldenCase of one block.
class GoldenReader {
 public:
  GoldenReader(std::string_view file, const CaseBlock& block) : file_(file), block_(block) {
    case_.file = std::string(file);
    case_.line = block.line;
    case_.name = block.name;
    case_.citation = std::string(block.Value("cite"));
    case_.checklist = block.Words("row");
  }

  absl::StatusOr<GoldenCase> Read() {
    for (const CaseField& field : block_.fields) {
      line_ = field.line;
      ASSAY_RETURN_IF_ERROR(Field(field));
    }
    line_ = block_.line;
    ASSAY_RETURN_IF_ERROR(EndRow());
    if (case_.rows.empty()) return Error(StrCat("case ", case_.name, " has no out:"));
    if (case_.citation.empty()) return Error(StrCat("case ", case_.name, " cites no document"));
    if (case_.ops.empty()) return Error(StrCat("case ", case_.name, " names no op"));
    return std::move(case_);
  }

 private:
  enum class Kind { kIn, kOut, kInfeed, kOutfeed };

  absl::Status Error(std::string_view message) const { return CaseError(file_, line_, message); }

  absl::Status Field(const CaseField& field) {
    if (!field.text.empty()) return Error(StrCat("expected a value behind ", field.key, ":"));
    if (field.key == "op") return Ops(field.value);
    if (field.key == "compare") return Comparison(field.value);
    if (field.key == "devices") return Devices(field.value);
    if (field.key == "error") return RunError(field.value);
    if (field.key == "in") return ForDevices(Kind::kIn, field);
    if (field.key == "out") return ForDevices(Kind::kOut, field);
    if (field.key == "infeed") return ForDevices(Kind::kInfeed, field);
    if (field.key == "outfeed") return ForDevices(Kind::kOutfeed, field);
    return absl::OkStatus();  // cite, row
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
    } else if (words.substr(0, 4) == "ulp ") {
      words.remove_prefix(4);
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

  // The first value needs the module; it stands above.
  absl::Status NeedModule() {
    if (case_.module != nullptr) return absl::OkStatus();
    if (block_.text_line > line_) return Error("expected the module before its values");
    ReadOptions options;
    options.file_name = StrCat(file_, ":", case_.name);
    ASSAY_ASSIGN_OR_RETURN(case_.module, ReadModule(block_.text, options));
    const absl::Status verified = Verify(*case_.module);
    if (!verified.ok()) return Error(StrCat(case_.name, ": ", ToStd(verified.message())));
    ForEachLeaf(case_.module->entry()->root()->shape(),
                [&](const Shape& leaf, absl::Span<const int64_t>) { leaves_.push_back(leaf); });
    return absl::OkStatus();
  }

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

  // The values of the row under way that belong to one device.
  struct OfDevice {
    std::vector<Literal> in, out, infeed, outfeed;
  };

  bool RowHasEnded() const {
    return !error_.empty() || std::any_of(row_.begin(), row_.end(), [](const OfDevice& device) {
      return !device.out.empty() || !device.outfeed.empty();
    });
  }

  // A value for one device, or (without an index) for each of them.
  absl::Status ForDevices(Kind kind, const CaseField& field) {
    if (field.index != CaseField::kNoIndex && field.index >= DeviceCount()) {
      return Error(StrCat("expected ", field.key, "[D]: with a device below ", DeviceCount()));
    }
    ASSAY_RETURN_IF_ERROR(NeedModule());
    const bool is_input = kind == Kind::kIn || kind == Kind::kInfeed;
    // An input after outputs begins the next row.
    if (is_input && RowHasEnded()) ASSAY_RETURN_IF_ERROR(EndRow());
    row_.resize(static_cast<size_t>(DeviceCount()));
    in_row_ = true;
    for (int64_t device = 0; device < DeviceCount(); ++device) {
      if (field.index != CaseField::kNoIndex && device != field.index) continue;
      ASSAY_RETURN_IF_ERROR(AddValue(kind, field.value, row_[device]));
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
    const absl::StatusOr<Shape> shape = ReadShape(text.substr(0, end));
    if (!shape.ok()) return Error(ToStd(shape.status().message()));
    return Value(*shape, text.substr(end), kind == Kind::kInfeed ? to.infeed : to.outfeed);
  }

  absl::Status RunError(std::string_view text) {
    ASSAY_RETURN_IF_ERROR(NeedModule());
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

  std::string_view file_;
  const CaseBlock& block_;
  int64_t line_ = 0;
  GoldenCase case_;
  std::vector<Shape> leaves_;
  std::vector<OfDevice> row_;  // under way
  std::string error_;
  bool in_row_ = false;
};

}  // namespace

absl::StatusOr<std::vector<GoldenCase>> ParseGoldens(std::string_view file, std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseBlock> blocks, ParseCases(file, text, kKeys));
  std::vector<GoldenCase> cases;
  for (const CaseBlock& block : blocks) {
    ASSAY_ASSIGN_OR_RETURN(GoldenCase golden, GoldenReader(file, block).Read());
    cases.push_back(std::move(golden));
  }
  return cases;
}

absl::StatusOr<std::vector<GoldenCase>> DocumentGoldens() {
  std::vector<GoldenCase> all;
  for (const auto& [name, text] : GoldenFiles()) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<GoldenCase> cases, ParseGoldens(name, text));
    for (GoldenCase& golden : cases) all.push_back(std::move(golden));
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
    ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadCaseText(path.string()));
    ASSAY_ASSIGN_OR_RETURN(std::vector<GoldenCase> cases, ParseGoldens(path.string(), text));
    for (GoldenCase& golden : cases) all.push_back(std::move(golden));
  }
  return all;
}

}  // namespace assay
