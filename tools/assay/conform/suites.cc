// Names and hashes of cases.
#include "tools/assay/conform/suites.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "conformance/golden.h"
#include "conformance/golden_files.h"
#include "fuzz/matrix/invalid.h"
#include "fuzz/matrix/levels.h"
#include "reports/package/sha256.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"
#include "tools/assay/conform/invalid_cases.h"

namespace assay {
namespace {

void Append(const Literal& value, std::string& text) {
  const absl::Span<const uint8_t> bytes = value.bytes();
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Literal& element : value.elements()) Append(element, text);
}

// A hash of hashes, so that the programs need not be in memory together.
class SuiteHash {
 public:
  void Add(const std::string& name, const std::string& program) {
    text_ += StrCat(name, "\n", Sha256(program), "\n");
  }
  std::string Get() const { return Sha256(text_); }

 private:
  std::string text_;
};

absl::Status SelectMatrix(SuiteSelection& selection) {
  ASSAY_ASSIGN_OR_RETURN(const MatrixTier tier, MatrixTierOf(selection.tier));
  ASSAY_ASSIGN_OR_RETURN(const auto part, PartOf(selection.shard));
  ConformanceLevel highest = ConformanceLevels().back().level;
  if (!selection.level.empty()) {
    ASSAY_ASSIGN_OR_RETURN(highest, ConformanceLevelOf(selection.level));
  }
  SuiteHash hash;
  for (const MatrixCell& cell : MatrixCells(tier, part.first, part.second)) {
    if (cell.Name().find(selection.filter) == std::string::npos) continue;
    const std::optional<Case> built = BuildCell(cell);
    if (!built.has_value()) continue;
    const ConformanceLevel level = LevelOf(*built->module);
    if (level > highest) continue;
    selection.levels.push_back(static_cast<int>(level));
    std::string program = WriteModule(*built->module, WriteOptions::Long());
    for (const Literal& input : built->inputs) Append(input, program);
    selection.names.push_back(CaseNameOf(cell));
    hash.Add(selection.names.back(), program);
  }
  selection.hash = hash.Get();
  return absl::OkStatus();
}

absl::Status SelectGoldens(SuiteSelection& selection) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<GoldenCase> goldens, DocumentGoldens());
  SuiteHash hash;
  for (const Embedded& file : GoldenFiles())
    hash.Add(std::string(file.name), std::string(file.content));
  for (const GoldenCase& golden : goldens) {
    if (golden.name.find(selection.filter) == std::string::npos) continue;
    selection.names.push_back(
        StrCat(golden.file.substr(0, golden.file.find('.')), "__", golden.name));
  }
  selection.hash = hash.Get();
  return absl::OkStatus();
}

absl::Status SelectInvalid(SuiteSelection& selection) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InvalidCase> cases, InvalidCases(selection.filter));
  SuiteHash hash;
  for (const InvalidCase& one : cases) {
    selection.names.push_back(one.name);
    hash.Add(one.name,
             one.module != nullptr ? WriteModule(*one.module, WriteOptions::Long()) : one.text);
  }
  selection.hash = hash.Get();
  return absl::OkStatus();
}

}  // namespace

std::string CaseNameOf(const MatrixCell& cell) {
  return StrCat(Name(cell.opcode()), "__", cell.Name());
}

absl::StatusOr<std::pair<int64_t, int64_t>> PartOf(const std::string& shard) {
  if (shard.empty()) return std::pair<int64_t, int64_t>(0, 1);
  const std::vector<std::string> parts = absl::StrSplit(shard, '/');
  int64_t index = 0, count = 0;
  const bool is_good = parts.size() == 2 && absl::SimpleAtoi(parts[0], &index) &&
                       absl::SimpleAtoi(parts[1], &count) && index >= 1 && index <= count;
  if (!is_good)
    return absl::InvalidArgumentError(StrCat("--shard ", shard, ": not of the form 2/8"));
  return std::pair(index - 1, count);
}

absl::StatusOr<SuiteSelection> SelectSuite(const SuiteSelection& asked) {
  SuiteSelection selection = {asked.suite, asked.tier,  asked.filter,
                              asked.shard, asked.level, asked.profile};
  if (asked.suite == "matrix") {
    ASSAY_RETURN_IF_ERROR(SelectMatrix(selection));
  } else if (asked.suite == "goldens") {
    ASSAY_RETURN_IF_ERROR(SelectGoldens(selection));
  } else if (asked.suite == "invalid") {
    ASSAY_RETURN_IF_ERROR(SelectInvalid(selection));
  } else {
    return absl::InvalidArgumentError(
        StrCat("suite ", asked.suite, ": packages are of matrix, goldens and invalid"));
  }
  return selection;
}

}  // namespace assay
