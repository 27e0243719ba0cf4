// Numbers the collectives of a module before any other pass runs. The copies that passes make of
// one (inlined calls, a body per call site) keep its number: wherever a device reaches it, it is
// the same meeting. Required: the plans of the runtime are found by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "optimized/passes/pass.h"

namespace assay {

// True if all devices read from each other, or one from another; start forms are not among them.
bool IsCollective(Opcode opcode);

// The identity of a collective: its number from 0, and what it is called in messages.
struct CollectiveTag {
  int64_t number = 0;
  std::string name;  // opcode and name before any pass: "all-reduce sum.3"
};
// nullopt: it has none.
std::optional<CollectiveTag> TagOf(const Instruction& collective);
int64_t CollectiveNumber(const Instruction& collective);  // -1: it has none

// Tags every collective and start of one by Attr::kCollectiveTag, which no text shows.
class CollectiveNumbering : public Pass {
 public:
  std::string_view name() const override { return "collective-numbering"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
