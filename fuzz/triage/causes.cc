// Matches rows about causes with instructions.
#include "fuzz/triage/causes.h"

#include <algorithm>

#include "spec/types/element_type.h"

namespace assay {
namespace {

using Json = nlohmann::json;

bool Lists(const Json& row, const char* field, std::string_view name) {
  const auto list = row.find(field);
  return list == row.end() || std::find(list->begin(), list->end(), name) != list->end();
}

bool ListsType(const Json& row, const char* field, const Shape& shape) {
  if (!row.contains(field)) return true;
  return shape.IsArray() && Lists(row, field, Name(shape.element_type()));
}

// The first of the operands that say where to begin; the number of operands where none does.
int64_t FirstStart(const Instruction& at) {
  return at.opcode() == Opcode::kDynamicSlice         ? 1
         : at.opcode() == Opcode::kDynamicUpdateSlice ? 2
                                                      : at.operand_count();
}

bool HasNarrowStart(const Instruction& at) {
  constexpr int kWideEnough = 62;  // bits, for any size
  for (int64_t i = FirstStart(at); i < at.operand_count(); ++i) {
    const Shape& start = at.operand(i)->shape();
    if (!start.IsArray() || !IsInteger(start.element_type())) continue;
    const int bits = BitWidth(start.element_type()) - (IsSigned(start.element_type()) ? 1 : 0);
    const auto& sizes = at.operand(0)->shape().dimensions();
    const bool is_narrow = std::any_of(sizes.begin(), sizes.end(), [bits](int64_t size) {
      return bits < kWideEnough && size > int64_t{1} << bits;
    });
    if (is_narrow) return true;
  }
  return false;
}

bool ComparesTotally(const Instruction& at) {
  return at.attributes().Integer(Attr::kCompareType, -1) ==
         static_cast<int64_t>(CompareType::kTotalOrder);
}

bool Holds(const Json& row, const Instruction& at) {
  if (!Lists(row, "ops", Name(at.opcode())) || !ListsType(row, "types", at.shape())) return false;
  if (row.contains("operands") &&
      (at.operand_count() == 0 || !ListsType(row, "operands", at.operand(0)->shape())))
    return false;
  if (row.contains("order") && !ComparesTotally(at)) return false;
  if (row.contains("start_is_narrow") && !HasNarrowStart(at)) return false;
  const auto calls = row.find("calls");
  return calls == row.end() ||
         std::any_of(at.callees().begin(), at.callees().end(),
                     [&](const Computation* callee) { return Holds(*calls, *callee->root()); });
}

}  // namespace

std::set<std::string> CausesOf(const Peer& peer, const Module& module, const CauseFacts& facts) {
  std::set<std::string> causes;
  for (const Json& row : peer.causes) {
    if (!Lists(row, "wrong", facts.op)) continue;
    if (row.contains("answer") && !facts.is_nan_for_zero) continue;
    const auto& all = module.computations();
    const bool holds = std::any_of(all.begin(), all.end(), [&row](const Computation* one) {
      return std::any_of(one->begin(), one->end(),
                         [&row](const Instruction* at) { return Holds(row, *at); });
    });
    if (holds) causes.insert(row.at("cause").get<std::string>());
  }
  return causes;
}

}  // namespace assay
