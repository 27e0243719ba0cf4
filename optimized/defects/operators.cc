// The table of operators, and a function for each that bends a rewrite.
#include "optimized/defects/operators.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "optimized/gates/claim_names.h"
#include "spec/base/strings.h"
#include "spec/ir/instruction_site.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// The instructions that the rule added, operands before users (ids grow in the order of adding), in
// computations that it added, too.
std::vector<Instruction*> NewInstructions(Instruction* root, int64_t first_new_id) {
  std::vector<Instruction*> found;
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<Instruction*> open = {root};
  while (!open.empty()) {
    Instruction* at = open.back();
    open.pop_back();
    if (at->id() < first_new_id || !seen.insert(at).second) continue;
    found.push_back(at);
    open.insert(open.end(), at->operands().begin(), at->operands().end());
    for (const Computation* callee : at->callees()) open.push_back(callee->root());
  }
  std::sort(found.begin(), found.end(),
            [](const Instruction* a, const Instruction* b) { return a->id() < b->id(); });
  return found;
}

// True if `inst` obeys the rule of its op and still has the shape that it claims.
bool IsLegal(const Instruction& inst) {
  const OpInfo& info = Info(inst.opcode());
  if (info.infer == nullptr) return true;
  const absl::StatusOr<Shape> inferred = info.infer(*InstructionSite(inst));
  return inferred.ok() && Compatible(*inferred, inst.shape()) &&
         inferred->element_type() == inst.shape().element_type();
}

class Planter {
 public:
  Planter(const Defect& defect, int64_t first_new_id, Instruction* with)
      : defect_(defect), with_(with), added_(NewInstructions(with, first_new_id)) {}

  Instruction* AttrOffset();
  Instruction* DropOp();
  Instruction* SwapOperands();
  Instruction* PermuteDims();
  Instruction* ConstantOffset();
  Instruction* WrongConstant();

 private:
  // The `nth` instruction added whose opcode is the parameter of that name (any opcode if it is not
  // given).
  Instruction* FirstOfOpcode() const {
    const std::string opcode = defect_.Text("opcode");
    int64_t to_skip = defect_.Integer("nth", 0);
    for (Instruction* inst : added_) {
      if ((opcode.empty() || Name(inst->opcode()) == opcode) && to_skip-- == 0) return inst;
    }
    return nullptr;
  }
  const Literal* FirstConstant() {
    int64_t to_skip = defect_.Integer("nth", 0);
    for (Instruction* inst : added_) {
      if (inst->opcode() == Opcode::kConstant && inst->literal() != nullptr && to_skip-- == 0) {
        constant_ = inst;
        return inst->literal();
      }
    }
    return nullptr;
  }
  void SetConstant(Literal value) {
    constant_->set_literal(std::make_shared<Literal>(std::move(value)));
  }

  const Defect& defect_;
  Instruction* with_;
  std::vector<Instruction*> added_;
  Instruction* constant_ = nullptr;
};

// Changes one integer inside an attribute so that the result keeps its size; false if it cannot.
struct OffsetVisitor {
  const Instruction& inst;
  int64_t dim, by;
  const std::string& field;

  bool operator()(bool& value) const {
    value = !value;
    return true;
  }
  bool operator()(int64_t& value) const {
    value += by;
    return true;
  }
  bool operator()(Int64List& list) const {
    if (dim >= static_cast<int64_t>(list.size())) return false;
    list[dim] += by;
    return true;
  }
  bool operator()(std::vector<SliceRange>& ranges) const {
    if (dim >= static_cast<int64_t>(ranges.size())) return false;
    SliceRange& range = ranges[dim];
    if (field == "stride") {
      const int64_t size = inst.shape().dimension(dim);
      if (range.stride + by < 1 || size == 0) return false;
      range.stride += by;
      range.limit = range.start + (size - 1) * range.stride + 1;
    } else if (field.empty() || field == "start") {
      range.start += by;
      range.limit += by;
    } else {
      return false;
    }
    return true;
  }
  bool operator()(std::vector<PaddingDim>& padding) const {
    if (dim >= static_cast<int64_t>(padding.size())) return false;
    PaddingDim& pad = padding[dim];
    if (field == "interior") {
      const int64_t size = inst.operand(0)->shape().dimension(dim);
      pad.interior += by;
      pad.high -= by * std::max<int64_t>(size - 1, 0);
    } else if (field.empty() || field == "low") {
      pad.low += by;
      pad.high -= by;
    } else {
      return false;
    }
    return true;
  }
  template <typename T>
  bool operator()(T&) const {
    return false;
  }
};

Instruction* Planter::AttrOffset() {
  Instruction* inst = FirstOfOpcode();
  if (inst == nullptr) return with_;
  const Attributes before = inst->attributes();
  const std::string name = defect_.Text("attribute");
  const std::string field = defect_.Text("field");
  for (const Attributes::Entry& entry : before.entries()) {
    if (Info(entry.first).name != name) continue;
    AttrValue value = entry.second;
    const OffsetVisitor visitor{*inst, defect_.Integer("dim", 0), defect_.Integer("by", 1), field};
    if (!std::visit(visitor, value)) break;
    inst->mutable_attributes().Set(entry.first, std::move(value));
    if (!IsLegal(*inst)) inst->mutable_attributes() = before;
    break;
  }
  return with_;
}

Instruction* Planter::DropOp() {
  Instruction* inst = FirstOfOpcode();
  if (inst == nullptr || inst->operand_count() == 0) return with_;
  const bool data_is_second = inst->opcode() == Opcode::kClamp || inst->opcode() == Opcode::kSelect;
  const int64_t index = defect_.Integer("operand", data_is_second ? 1 : 0);
  if (index < 0 || index >= inst->operand_count()) return with_;
  Instruction* operand = inst->operand(index);
  if (!(operand->shape() == inst->shape())) return with_;
  if (inst == with_) return operand;  // what was added stays dead and goes with the target
  for (Instruction* user : added_) {
    for (int64_t i = 0; i < user->operand_count(); ++i) {
      if (user->operand(i) == inst) user->ReplaceOperand(i, operand);
    }
  }
  return with_;
}

Instruction* Planter::SwapOperands() {
  Instruction* inst = FirstOfOpcode();
  const int64_t a = defect_.Integer("first", 0), b = defect_.Integer("second", 1);
  if (inst == nullptr || std::min(a, b) < 0 || std::max(a, b) >= inst->operand_count())
    return with_;
  const auto swap = [&] {
    Instruction* first = inst->operand(a);
    Instruction* second = inst->operand(b);
    inst->ReplaceOperand(a, second);
    inst->ReplaceOperand(b, first);
  };
  swap();
  if (!IsLegal(*inst)) swap();
  return with_;
}

Instruction* Planter::PermuteDims() {
  Instruction* inst = FirstOfOpcode();
  if (inst == nullptr) return with_;
  const Attributes before = inst->attributes();
  const std::string name = defect_.Text("attribute", "dimensions");
  const int64_t a = defect_.Integer("first", 0), b = defect_.Integer("second", 1);
  for (const Attributes::Entry& entry : before.entries()) {
    const Int64List* list = std::get_if<Int64List>(&entry.second);
    if (list == nullptr || Info(entry.first).name != name) continue;
    if (std::min(a, b) < 0 || std::max(a, b) >= static_cast<int64_t>(list->size())) break;
    Int64List changed = *list;
    std::swap(changed[a], changed[b]);
    inst->mutable_attributes().Set(entry.first, AttrValue(std::move(changed)));
    if (!IsLegal(*inst)) inst->mutable_attributes() = before;
    break;
  }
  return with_;
}

Instruction* Planter::ConstantOffset() {
  const Literal* literal = FirstConstant();
  if (literal == nullptr || !literal->shape().IsArray() || IsComplex(literal->element_type())) {
    return with_;
  }
  Literal value = *literal;
  const int64_t by = defect_.Integer("by", 1);
  for (int64_t i = 0; i < value.element_count(); ++i) {
    if (IsFloat(value.element_type())) {
      value.SetDouble(i, value.GetDouble(i) + static_cast<double>(by));
    } else {
      const uint64_t sum = static_cast<uint64_t>(value.GetInteger(i)) + static_cast<uint64_t>(by);
      value.SetInteger(i, static_cast<int64_t>(sum));
    }
  }
  SetConstant(std::move(value));
  return with_;
}

Instruction* Planter::WrongConstant() {
  const Literal* literal = FirstConstant();
  if (literal == nullptr || !literal->shape().IsArray() || IsComplex(literal->element_type())) {
    return with_;
  }
  const std::string wanted = defect_.Text("value", "zero");
  const bool is_float = IsFloat(literal->element_type());
  Literal value = *literal;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    if (wanted == "nan" && is_float) {
      value.SetDouble(i, std::numeric_limits<double>::quiet_NaN());
    } else if (wanted == "infinity" && is_float) {
      value.SetDouble(i, std::numeric_limits<double>::infinity());
    } else if (wanted == "negate" && is_float) {
      value.SetDouble(i, -value.GetDouble(i));
    } else if (wanted == "negate") {
      value.SetInteger(i, static_cast<int64_t>(-static_cast<uint64_t>(value.GetInteger(i))));
    } else if (wanted == "zero" || wanted == "one") {
      value.SetInteger(i, wanted == "one" ? 1 : 0);
    }
  }
  SetConstant(std::move(value));
  return with_;
}

// The operators: what each is for, which parameters it takes, and its code when it bends what a
// rewrite added.
struct Operator {
  DefectOperatorInfo info;
  std::vector<std::string_view> text_parameters;
  std::vector<std::string_view> integer_parameters;
  Instruction* (Planter::*apply)() = nullptr;
};

const std::vector<Operator>& Operators() {
  static const auto& operators = *new std::vector<Operator>{
      {{"attr-offset", DecisionKind::kRewrite,
        "adds `by` (1) to entry `dim` (0) of `attribute` of the added instruction number `nth` (0) "
        "with `opcode`; "
        "`field` is start or stride of a slice, low or interior of a padding, whose other end "
        "follows so that the "
        "size stays"},
       {"opcode", "attribute", "field"},
       {"dim", "by", "nth"},
       &Planter::AttrOffset},
      {{"drop-op", DecisionKind::kRewrite,
        "bypasses the added instruction number `nth` (0) with `opcode`, giving `operand` (1 of "
        "clamp and select, 0 "
        "otherwise), whose shape must be the same"},
       {"opcode"},
       {"operand", "nth"},
       &Planter::DropOp},
      {{"swap-operands", DecisionKind::kRewrite,
        "exchanges operands `first` (0) and `second` (1) of the added instruction number `nth` (0) "
        "with `opcode`"},
       {"opcode"},
       {"first", "second", "nth"},
       &Planter::SwapOperands},
      {{"permute-dims", DecisionKind::kRewrite,
        "exchanges entries `first` (0) and `second` (1) of the list `attribute` (dimensions) of "
        "the added "
        "instruction number `nth` (0) with `opcode`"},
       {"opcode", "attribute"},
       {"first", "second", "nth"},
       &Planter::PermuteDims},
      {{"constant-offset", DecisionKind::kRewrite,
        "adds `by` (1) to every element of the added constant number `nth` (0)"},
       {},
       {"by", "nth"},
       &Planter::ConstantOffset},
      {{"wrong-constant", DecisionKind::kRewrite,
        "replaces every element of the added constant number `nth` (0) by `value`: zero (default), "
        "one, nan, "
        "infinity, or negate"},
       {"value"},
       {"nth"},
       &Planter::WrongConstant},
      {{"integer-offset", DecisionKind::kFact,
        "adds `by` (1) to a number that an analysis found or a rule goes by, unless the sum lies "
        "below `least` or above `most`"},
       {},
       {"by", "least", "most"}},
      {{"claim-true", DecisionKind::kFact,
        "lets a side condition hold that does not: a buffer is free, a copy is not needed, a "
        "precondition is met"},
       {},
       {}},
      {{"loop-bound-offset", DecisionKind::kKernel,
        "adds `by` (-1) to the bound of a kernel's loop"},
       {"loop"},
       {"by", "dim"}},
      {{"compare-predicate", DecisionKind::kKernel,
        "compares by `to` where the kernel should by `from`"},
       {"from", "to"},
       {}},
      {{"address-offset", DecisionKind::kKernel,
        "adds `by` (1) elements to the addresses a kernel loads from"},
       {},
       {"by", "operand"}},
      {{"lane-mask", DecisionKind::kKernel,
        "the vector lane `lane` (the last) keeps a stale or wrong value"},
       {},
       {"lane"}},
      {{"mutate-kernel", DecisionKind::kKernel,
        "makes `mutation` (of the list of optimized/gpu/defects) at the place number `place` (0) "
        "of a kernel for a GPU where it can be made"},
       {"mutation"},
       {"place"}},
      {{"folded-value", DecisionKind::kRewrite,
        "an element computed at compile time `becomes` another value `when` the element of "
        "`operand` (0) is of a kind (with `number`); `from` (0) is the operand that it may become"},
       {"when", "becomes"},
       {"operand", "number", "from"}},
      {{"element-value", DecisionKind::kKernel,
        "an element computed by a kernel `becomes` another value `when` the element of `operand` "
        "(0) is of a kind (with `number`); `from` (0) is the operand that it may become"},
       {"when", "becomes"},
       {"operand", "number", "from"}},
      {{"element-index", DecisionKind::kKernel,
        "a kernel gives the elements `where` along `dim` (0), the first, the last (default) or "
        "all, "
        "the value of a neighbour"},
       {"where"},
       {"dim"}},
  };
  return operators;
}

bool Contains(const std::vector<std::string_view>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool Fits(const Operator& op, const Defect& defect) {
  const DecisionKind gate = defect.kind;
  const bool is_claim = !ClaimOf(defect.gate).empty();
  if (op.info.name == "claim-true" || (is_claim && op.info.name == "integer-offset")) return true;
  const bool of_opcode = op.info.name == "folded-value" || op.info.name == "element-value" ||
                         op.info.name == "element-index";
  if ((of_opcode || op.info.name == "mutate-kernel") && !is_claim) return false;
  if (op.info.kind == DecisionKind::kRewrite) {
    return gate == DecisionKind::kRewrite || gate == DecisionKind::kRequired;
  }
  if (op.info.kind == DecisionKind::kKernel) {
    return gate == DecisionKind::kKernel || gate == DecisionKind::kLlvm ||
           gate == DecisionKind::kTask;
  }
  return gate == op.info.kind;
}

}  // namespace

absl::Span<const DefectOperatorInfo> DefectOperators() {
  static const auto& infos = *[] {
    auto* list = new std::vector<DefectOperatorInfo>;
    for (const Operator& op : Operators()) list->push_back(op.info);
    return list;
  }();
  return infos;
}

absl::Status CheckOperator(const Defect& defect) {
  const auto fail = [&](const auto&... parts) {
    return absl::InvalidArgumentError(StrCat("defect ", defect.name, ": ", parts...));
  };
  const auto& operators = Operators();
  const auto op = std::find_if(operators.begin(), operators.end(),
                               [&](const Operator& o) { return o.info.name == defect.op; });
  if (op == operators.end()) {
    std::string names;
    for (const Operator& o : operators) StrAppend(&names, names.empty() ? "" : ", ", o.info.name);
    return fail("unknown operator '", defect.op, "'; the operators are ", names);
  }
  if (!Fits(*op, defect)) {
    return fail("operator ", defect.op, " does not work on a gate of kind ", Name(defect.kind));
  }
  for (const auto& [name, value] : defect.parameters) {
    int64_t number = 0;
    if (Contains(op->text_parameters, name)) continue;
    if (!Contains(op->integer_parameters, name)) {
      return fail("operator ", defect.op, " has no parameter '", name, "'");
    }
    constexpr int64_t kLargest = int64_t{1} << 40;  // no sum with a size overflows
    if (!absl::SimpleAtoi(value, &number) || number < -kLargest || number > kLargest) {
      return fail("parameter '", name, "' must be an integer up to 2^40, not '", value, "'");
    }
  }
  for (const char* index : {"dim", "nth", "first", "second", "operand", "from"}) {
    const auto found = defect.parameters.find(index);
    if (found != defect.parameters.end() && !found->second.empty() && found->second[0] == '-') {
      return fail("parameter '", index, "' must not be negative");
    }
  }
  return absl::OkStatus();
}

Instruction* BendRewrite(const Defect& defect, int64_t first_new_id, Instruction* with) {
  for (const Operator& op : Operators()) {
    if (op.info.name != defect.op || op.apply == nullptr) continue;
    Planter planter(defect, first_new_id, with);
    return (planter.*op.apply)();
  }
  return with;
}

}  // namespace assay
