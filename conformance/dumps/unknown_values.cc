// Asks the oracle whether a call has a meaning, with a program of that call alone.
#include "conformance/dumps/unknown_values.h"

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/case_files.h"
#include "conformance/inputs/random_literal.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"

namespace assay {
namespace {

constexpr std::string_view kUnwritten = "AllocateBuffer";
// A TPU's promise about indices, which are its operand.
constexpr std::string_view kPromise = "AssumeGatherIndicesInBound";

std::string PlainText(const Shape& shape) {
  std::string text;
  ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
    StrAppend(&text, text.empty() ? "" : ", ",
              leaf.IsArray() ? Shape::Array(leaf.element_type(), leaf.dimensions()).ToString()
                             : leaf.ToString());
  });
  return text;
}

absl::StatusOr<Literal> Drawn(const Shape& shape, std::string_view key) {
  StableHash hash;
  hash.Add(key);
  return RandomLiteral(shape, ValueRule::Default(shape), hash.Finish(), 0);
}

class Replacement {
 public:
  Replacement(FlatModule& flat, Oracle& oracle) : flat_(flat), oracle_(oracle) {}

  absl::StatusOr<std::vector<std::string>> Run() {
    std::map<std::string, std::vector<Instruction*>> read;  // what calls of the entry read
    for (Computation* unit : flat_.module->computations()) {
      for (Instruction* instruction : unit->PostOrder()) {
        if (instruction->opcode() != Opcode::kCustomCall || HasMeaning(*instruction)) continue;
        if (IsPromise(*instruction)) {
          instruction->ReplaceAllUsesWith(instruction->operand(0));
          unit->Remove(instruction);
          continue;
        }
        const std::string key = KeyOf(*instruction);
        ASSAY_ASSIGN_OR_RETURN(Instruction * value, Constant(unit, instruction->shape(), key));
        if (TargetOf(*instruction) != kUnwritten) {
          keys_.push_back(key);
          if (unit == flat_.module->entry())
            read[key].assign(instruction->operands().begin(), instruction->operands().end());
        }
        instruction->ReplaceAllUsesWith(value);
        unit->Remove(instruction);
      }
    }
    AddResults(read);
    std::sort(keys_.begin(), keys_.end());
    return std::move(keys_);
  }

 private:
  static const std::string& TargetOf(const Instruction& call) {
    return call.attributes().String(Attr::kCustomCallTarget);
  }

  static bool IsPromise(const Instruction& call) {
    return TargetOf(call) == kPromise && call.operand_count() == 1 &&
           Compatible(call.shape(), call.operand(0)->shape());
  }

  std::string KeyOf(const Instruction& call) const {
    auto origin = flat_.origin.find(&call);
    const std::string& name = origin == flat_.origin.end() || origin->second == nullptr
                                  ? call.name()
                                  : origin->second->name();
    return StrCat(TargetOf(call), " ", name, " ", PlainText(call.shape()));
  }

  bool HasMeaning(const Instruction& call) {
    if (TargetOf(call) == kUnwritten) return false;
    auto [known, is_new] = has_meaning_.emplace(TargetOf(call), true);
    if (is_new) known->second = AskOracle(call);
    return known->second;
  }

  bool AskOracle(const Instruction& call) {
    Module module("probe");
    Computation* entry = module.AddComputation("main");
    std::vector<Instruction*> operands;
    std::vector<Literal> zeros;
    for (const Instruction* operand : call.operands()) {
      operands.push_back(
          entry->AddParameter(static_cast<int64_t>(operands.size()), operand->shape(), "operand"));
      zeros.emplace_back(operand->shape());
    }
    entry->IndexParameters();
    entry->set_root(entry->Add(Opcode::kCustomCall, call.shape(), operands, call.attributes()));
    const absl::StatusOr<Literal> result = oracle_.Evaluate(module, Pointers(zeros), Limits());
    return result.ok() || ClassOf(result.status()) != ErrorClass::kUnsupported;
  }

  // A constant, or a tuple of constants.
  absl::StatusOr<Instruction*> Constant(Computation* unit, const Shape& shape,
                                        const std::string& key) {
    if (!shape.IsTuple()) {
      ASSAY_ASSIGN_OR_RETURN(Literal value, Drawn(shape, key));
      return unit->AddConstant(std::move(value));
    }
    std::vector<Instruction*> elements;
    for (const Shape& element : shape.elements()) {
      ASSAY_ASSIGN_OR_RETURN(Instruction * value,
                             Constant(unit, element, StrCat(key, "/", elements.size())));
      elements.push_back(value);
    }
    return unit->Add(Opcode::kTuple, shape, elements);
  }

  void AddResults(const std::map<std::string, std::vector<Instruction*>>& read) {
    if (read.empty()) return;
    Computation* entry = flat_.module->entry();
    std::vector<Instruction*> results = {entry->root()};
    for (const auto& [key, operands] : read)
      results.insert(results.end(), operands.begin(), operands.end());
    std::vector<Shape> shapes;
    for (const Instruction* result : results) shapes.push_back(result->shape());
    flat_.module->config().entry_layout = nullptr;
    entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results));
  }

  FlatModule& flat_;
  Oracle& oracle_;
  std::map<std::string, bool> has_meaning_;  // by target
  std::vector<std::string> keys_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ReplaceUnknownValues(FlatModule& flat, Oracle& oracle) {
  return Replacement(flat, oracle).Run();
}

absl::StatusOr<std::vector<std::string>> FillElidedConstants(Module& module) {
  std::vector<std::string> keys;
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : *computation) {
      if (instruction->opcode() != Opcode::kConstant || instruction->literal() != nullptr) continue;
      keys.push_back(
          StrCat("constant ", instruction->name(), " ", PlainText(instruction->shape())));
      ASSAY_ASSIGN_OR_RETURN(Literal value, Drawn(instruction->shape(), keys.back()));
      instruction->set_literal(std::make_shared<const Literal>(std::move(value)));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace assay
