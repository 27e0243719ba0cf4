// Calls are inlined from the entry on; a computation that two places run is copied for the second.
#include "conformance/cuts/programs/flat_module.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Calls of calls may double the program at each level.
constexpr int64_t kMostInstructions = 200'000;

class Flattening {
 public:
  Flattening(FlatModule& flat, Fusions fusions) : flat_(flat), fusions_(fusions) {}

  absl::Status Run() {
    std::vector<Computation*> work = {flat_.module->entry()};
    while (!work.empty()) {
      Computation* unit = work.back();
      work.pop_back();
      ASSAY_RETURN_IF_ERROR(InlineCalls(unit));
      for (Instruction* instruction : unit->PostOrder()) {
        if (instruction->opcode() != Opcode::kWhile &&
            instruction->opcode() != Opcode::kConditional)
          continue;
        for (size_t k = 0; k < instruction->callees().size(); ++k)
          work.push_back(OwnCallee(instruction, static_cast<int64_t>(k)));
      }
    }
    ASSAY_RETURN_IF_ERROR(flat_.module->RemoveUnusedComputations());
    OrderByUse(*flat_.module);
    return absl::OkStatus();
  }

 private:
  absl::Status InlineCalls(Computation* unit) {
    std::vector<Instruction*> calls;
    for (Instruction* instruction : unit->PostOrder())
      if (IsInlined(*instruction)) calls.push_back(instruction);
    while (!calls.empty()) {
      Instruction* call = calls.back();
      calls.pop_back();
      const Computation& callee = *call->callee();
      if (flat_.module->InstructionCount() + callee.instruction_count() > kMostInstructions) {
        return absl::ResourceExhaustedError(StrCat("the program has more than ", kMostInstructions,
                                                   " instructions when its calls ",
                                                   "are inlined; check it with --cut off"));
      }
      absl::flat_hash_map<const Instruction*, Instruction*> copies;
      Instruction* root = unit->CopyFrom(callee, call->operands(), {}, &copies);
      for (const auto& [original, copy] : copies) {
        if (original->opcode() == Opcode::kParameter && call->operand_count() > 0) continue;
        flat_.origin[copy] = OriginOf(original);
        if (IsInlined(*copy)) calls.push_back(copy);
      }
      call->ReplaceAllUsesWith(root);
      unit->Remove(call);
    }
    return absl::OkStatus();
  }

  bool IsInlined(const Instruction& instruction) const {
    return instruction.opcode() == Opcode::kCall ||
           (fusions_ == Fusions::kInlined && instruction.opcode() == Opcode::kFusion);
  }

  // The callee, if no other place runs it, or else a copy.
  Computation* OwnCallee(Instruction* instruction, int64_t k) {
    Computation* callee = instruction->callee(k);
    if (owned_.insert(callee).second) return callee;
    CloneContext made;
    Computation* copy = flat_.module->CloneComputation(*callee, "again", &made);
    for (const auto& [original, each] : made.instructions) flat_.origin[each] = OriginOf(original);
    instruction->set_callee(k, copy);
    owned_.insert(copy);
    return copy;
  }

  const Instruction* OriginOf(const Instruction* instruction) const {
    auto found = flat_.origin.find(instruction);
    return found == flat_.origin.end() ? nullptr : found->second;
  }

  FlatModule& flat_;
  const Fusions fusions_;
  absl::flat_hash_set<const Computation*> owned_;
};

// The text behind `key=` in the metadata, without quotes.
std::string MetadataValue(const Instruction& instruction, std::string_view key) {
  const std::string& text = instruction.attributes().String(Attr::kMetadata);
  const std::string start = StrCat(key, "=");
  size_t at = text.find(start);
  while (at != std::string::npos && at > 0 && text[at - 1] != ' ' && text[at - 1] != '{')
    at = text.find(start, at + 1);
  if (at == std::string::npos) return "";
  at += start.size();
  if (at < text.size() && text[at] == '"') {
    const size_t end = text.find('"', at + 1);
    return end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
  }
  return text.substr(at, text.find_first_of(" }", at) - at);
}

}  // namespace

absl::flat_hash_map<const Instruction*, Instruction*> CloneMap(const Module& module,
                                                               const Module& clone) {
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  for (size_t k = 0; k < module.computations().size(); ++k) {
    auto copy = clone.computations()[k]->begin();
    for (const Instruction* original : *module.computations()[k]) {
      map[original] = *copy;
      ++copy;
    }
  }
  return map;
}

absl::StatusOr<FlatModule> Flatten(const Module& module, Fusions fusions) {
  FlatModule flat;
  flat.module = module.Clone("");
  flat.module->config().is_scheduled = false;
  for (const auto& [original, copy] : CloneMap(module, *flat.module)) flat.origin[copy] = original;
  ASSAY_RETURN_IF_ERROR(Flattening(flat, fusions).Run());
  return flat;
}

void OrderByUse(Module& module) {
  for (Computation* computation : module.computations()) {
    const std::vector<Instruction*> order = computation->PostOrder();
    for (size_t i = order.size(); i-- > 1;) computation->MoveBefore(order[i - 1], order[i]);
  }
}

std::string OpNameOf(const Instruction& instruction) {
  return MetadataValue(instruction, "op_name");
}

std::string SourceOf(const Instruction& instruction) {
  const std::string file = MetadataValue(instruction, "source_file");
  const std::string line = MetadataValue(instruction, "source_line");
  return file.empty() ? "" : line.empty() ? file : StrCat(file, ":", line);
}

}  // namespace assay
