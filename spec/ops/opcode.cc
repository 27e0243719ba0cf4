#include "spec/ops/opcode.h"

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

constexpr std::string_view kNames[] = {
#define ASSAY_OPCODE_NAME(name, text) text,
    ASSAY_OPCODES(ASSAY_OPCODE_NAME)
#undef ASSAY_OPCODE_NAME
};

struct Entry {
  std::string_view name;
  Opcode opcode;
};

// The enumerators follow the spelling of their names, which is not quite the order of the texts
// ("count-leading-zeros").
const Entry* SortedEntries() {
  static const Entry* const sorted = [] {
    auto* entries = new Entry[kOpcodeCount];
    for (int i = 0; i < kOpcodeCount; ++i) entries[i] = {kNames[i], static_cast<Opcode>(i)};
    std::sort(entries, entries + kOpcodeCount,
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
  }();
  return sorted;
}

}  // namespace

std::string_view Name(Opcode opcode) { return kNames[static_cast<int>(opcode)]; }

std::optional<Opcode> OpcodeFromName(std::string_view name) {
  const Entry* begin = SortedEntries();
  const Entry* end = begin + kOpcodeCount;
  const Entry* at = std::lower_bound(
      begin, end, name, [](const Entry& entry, std::string_view n) { return entry.name < n; });
  if (at == end || at->name != name) return std::nullopt;
  return at->opcode;
}

}  // namespace assay
