// Names of opcodes and the way back from them.
#include "spec/attributes/opcode.h"

#include "spec/base/word_table.h"

namespace assay {
namespace {

constexpr std::string_view kNames[] = {
#define ASSAY_OPCODE_NAME(name, text) text,
    ASSAY_OPCODES(ASSAY_OPCODE_NAME)
#undef ASSAY_OPCODE_NAME
};

}  // namespace

std::string_view Name(Opcode opcode) { return kNames[static_cast<int>(opcode)]; }

std::optional<Opcode> OpcodeFromName(std::string_view name) {
  static const auto* const table = [] {
    auto* words = new WordTable<512>();
    for (int i = 0; i < kOpcodeCount; ++i) words->Add(kNames[i], static_cast<int16_t>(i));
    return words;
  }();
  const int16_t found = table->Find(name);
  if (found < 0) return std::nullopt;
  return static_cast<Opcode>(found);
}

}  // namespace assay
