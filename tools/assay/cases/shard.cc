// Reads I/N.
#include "tools/assay/cases/shard.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "spec/base/strings.h"

namespace assay {

void ShardOption::Declare(OptionList& line) {
  line.Add(
      "--shard", text,
      "I/N: only the I-th of N parts, for several machines; assay db merge joins their stores");
}

absl::StatusOr<Shard> ShardOption::Get() const {
  if (text.empty()) return Shard();
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  Shard shard;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &shard.index) &&
      absl::SimpleAtoi(parts[1], &shard.count) && shard.index >= 1 && shard.index <= shard.count) {
    --shard.index;
    return shard;
  }
  return absl::InvalidArgumentError(
      StrCat("--shard: '", text, "' is not I/N with 1 <= I <= N, as in 2/3"));
}

}  // namespace assay
