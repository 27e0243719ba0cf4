// Appends a run to the result store.
#include "tools/assay/record.h"

#include <fstream>
#include <iterator>
#include <optional>

#include "optimized/runtime/ranks/mpi_group.h"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"

namespace assay {

void RecordOptions::Declare(OptionList& line) {
  const DeclaredOption db = line.Add("--db", path, "The result store").ShowDefault();
  line.AddFlag("--no-db", off, "Do not record the run").Excludes(db);
}

void RecordOptions::Save(const RunRow& run) const {
  if (off || IsSilentRank()) return;
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  absl::Status status = store.ok() ? (*store)->Add(run).status() : store.status();
  if (!status.ok()) PrintError(StrCat("the run was not recorded: ", ToStd(status.message())));
}

std::string CommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  size_t space = text.find(' ');
  size_t slash = text.rfind('/', space);
  return slash == std::string::npos ? text : text.substr(slash + 1);
}

bool IsSilentRank() {
  const std::optional<MpiPlace> place = FindMpiPlace();
  return place.has_value() && place->rank > 0 &&
         CommandLine().find("ranks=mpi") != std::string::npos;
}

}  // namespace assay
