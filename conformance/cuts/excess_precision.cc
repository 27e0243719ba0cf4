// Types are changed in place; parameters are converted on the way in, results on the way out.
#include "conformance/cuts/excess_precision.h"

#include <algorithm>

#include "conformance/cuts/programs/capture_choice.h"
#include "spec/ops/op_table.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

bool IsNarrow(const Shape& shape) {
  return shape.IsArray() &&
         (shape.element_type() == ElementType::kBF16 || shape.element_type() == ElementType::kF16);
}

bool HasNarrow(const Shape& shape) {
  bool has = false;
  ForEachLeaf(shape,
              [&](const Shape& leaf, absl::Span<const int64_t>) { has = has || IsNarrow(leaf); });
  return has;
}

Shape Widened(Shape shape) {
  if (shape.IsTuple()) {
    for (Shape& element : shape.mutable_elements()) element = Widened(element);
  } else if (IsNarrow(shape)) {
    shape.set_element_type(ElementType::kF32);
  }
  return shape;
}

// Puts `later` between an instruction, its only operand, and all that uses it.
void PutBehind(Instruction* instruction, Instruction* later) {
  instruction->ReplaceAllUsesWith(later);
  later->ReplaceOperand(0, instruction);
}

void RoundTo(const Shape& narrow, Instruction* instruction) {
  const bool is_half = narrow.element_type() == ElementType::kF16;
  Attributes attributes;
  attributes.Set(Attr::kExponentBits, AttrValue(int64_t{is_half ? 5 : 8}));
  attributes.Set(Attr::kMantissaBits, AttrValue(int64_t{is_half ? 10 : 7}));
  PutBehind(instruction, instruction->parent()->Add(Opcode::kReducePrecision, instruction->shape(),
                                                    {instruction}, std::move(attributes)));
}

void WidenConstant(Instruction* constant) {
  Literal wide(Widened(constant->shape()));
  for (int64_t i = 0; i < wide.element_count(); ++i)
    wide.SetDouble(i, constant->literal()->GetDouble(i));
  constant->set_literal(std::make_shared<const Literal>(std::move(wide)));
}

// True if wider numbers change nothing in the meaning of the instruction but its roundings.
bool CanBeWidened(const Instruction& instruction, bool is_in_entry) {
  const Opcode opcode = instruction.opcode();
  bool is_concerned = HasNarrow(instruction.shape());
  for (const Instruction* operand : instruction.operands())
    is_concerned = is_concerned || HasNarrow(operand->shape());
  if (!is_concerned) return true;
  if (opcode == Opcode::kParameter) return !is_in_entry || instruction.shape().IsArray();
  if (opcode == Opcode::kConstant) return instruction.literal() != nullptr;
  return opcode != Opcode::kBitcastConvert && opcode != Opcode::kCustomCall;
}

// The results in the types that they had.
bool NarrowResults(Computation* entry, const Shape& old) {
  Instruction* root = entry->root();
  if (old.IsArray()) {
    if (IsNarrow(old)) entry->set_root(entry->Add(Opcode::kConvert, old, {root}));
    return true;
  }
  if (root->opcode() != Opcode::kTuple) return !HasNarrow(old);
  for (int64_t k = 0; k < root->operand_count(); ++k) {
    const Shape& element = old.elements()[static_cast<size_t>(k)];
    if (!element.IsArray() && HasNarrow(element)) return false;
    if (IsNarrow(element))
      root->ReplaceOperand(k, entry->Add(Opcode::kConvert, element, {root->operand(k)}));
  }
  root->mutable_shape() = old;
  return true;
}

}  // namespace

std::unique_ptr<Module> WithExcessPrecision(const Module& flat, std::mt19937_64& random) {
  std::unique_ptr<Module> wide = flat.Clone("wide");
  const uint64_t rounded = random() % 100;  // of 100
  bool is_any_narrow = false;
  const Shape old_result = wide->entry()->root()->shape();
  const std::vector<const Computation*> units = CapturableUnits(*wide);
  for (Computation* unit : wide->computations()) {
    const bool is_entry = unit == wide->entry();
    const bool is_unit = std::find(units.begin(), units.end(), unit) != units.end();
    std::vector<std::pair<Instruction*, Shape>> narrow;
    for (Instruction* each : *unit) {
      if (!CanBeWidened(*each, is_entry)) return nullptr;
      if (HasNarrow(each->shape())) narrow.push_back({each, each->shape()});
    }
    is_any_narrow = is_any_narrow || !narrow.empty();
    for (auto& [each, old] : narrow) {
      if (each->opcode() == Opcode::kParameter && is_entry) {
        PutBehind(each, unit->Add(Opcode::kConvert, Widened(old), {each}));
        continue;
      }
      if (each->opcode() == Opcode::kConstant) WidenConstant(each);
      each->mutable_shape() = Widened(old);
      const bool is_move = Info(each->opcode()).Is(kDataMovement);
      const bool can_be_rounded = is_unit && old.IsArray() && !is_move &&
                                  each->opcode() != Opcode::kParameter &&
                                  each->opcode() != Opcode::kConstant;
      if (can_be_rounded && random() % 100 < rounded) RoundTo(old, each);
    }
  }
  if (!is_any_narrow || !NarrowResults(wide->entry(), old_result)) return nullptr;
  wide->config().entry_layout.reset();
  OrderByUse(*wide);
  return Verify(*wide).ok() ? std::move(wide) : nullptr;
}

}  // namespace assay
