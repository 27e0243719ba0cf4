// Families of mistakes, each a function that lists what can be mistaken in one instruction.
#include "conformance/cuts/mistakes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "conformance/cuts/programs/capture_choice.h"
#include "spec/attributes/attribute_words.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using Make = std::function<void(Instruction*)>;

void Replace(Instruction* instruction, Instruction* with) {
  instruction->ReplaceAllUsesWith(with);
  instruction->parent()->Remove(instruction);
}

Instruction* Like(Instruction* instruction, Opcode opcode,
                  absl::Span<Instruction* const> operands) {
  Attributes attributes;
  if (opcode == instruction->opcode()) attributes = instruction->attributes();
  return instruction->parent()->Add(
      opcode, instruction->shape(), operands, std::move(attributes),
      opcode == instruction->opcode() ? instruction->callees() : absl::Span<Computation* const>());
}

Make OtherOp(Opcode opcode) {
  return [opcode](Instruction* instruction) {
    const OperandVector operands(instruction->operands().begin(), instruction->operands().end());
    Replace(instruction, Like(instruction, opcode, operands));
  };
}

Make SwappedOperands(int64_t first, int64_t second) {
  return [first, second](Instruction* instruction) {
    Instruction* a = instruction->operand(first);
    Instruction* b = instruction->operand(second);
    instruction->ReplaceOperand(first, b);
    instruction->ReplaceOperand(second, a);
  };
}

Make LeftOut(int64_t kept) {
  return [kept](Instruction* instruction) { Replace(instruction, instruction->operand(kept)); };
}

Make OtherAttribute(Attr attr, AttrValue value) {
  return [attr, value = std::move(value)](Instruction* instruction) {
    instruction->mutable_attributes().Set(attr, value);
  };
}

Instruction* Rounded(Instruction* value, int64_t exponent_bits, int64_t mantissa_bits) {
  Attributes attributes;
  attributes.Set(Attr::kExponentBits, AttrValue(exponent_bits));
  attributes.Set(Attr::kMantissaBits, AttrValue(mantissa_bits));
  return value->parent()->Add(Opcode::kReducePrecision, value->shape(), {value},
                              std::move(attributes));
}

// Collects the mistakes of one instruction.
class Lister {
 public:
  Lister(const Instruction& instruction, std::vector<Mistake>& list)
      : instruction_(instruction), list_(list) {}

  void List() {
    if (!instruction_.shape().IsArray() && instruction_.opcode() != Opcode::kSort) return;
    ListOps();
    ListConstant();
    ListConvert();
    ListAxes();
    ListMasks();
    ListIndices();
    ListWindows();
    ListReducers();
    ListPrecision();
  }

 private:
  void Add(std::string_view kind, std::string what, Make make) {
    list_.push_back({instruction_.name(), std::string(kind), std::move(what), std::move(make)});
  }

  void AddOp(Opcode opcode) {
    Add("op", StrCat(Name(opcode), " for ", Name(instruction_.opcode())), OtherOp(opcode));
  }

  void ListOps() {
    static constexpr std::pair<Opcode, Opcode> kTaken[] = {
        {Opcode::kAdd, Opcode::kSubtract},
        {Opcode::kAnd, Opcode::kOr},
        {Opcode::kAbs, Opcode::kNegate},
        {Opcode::kAdd, Opcode::kMultiply},
        {Opcode::kCeil, Opcode::kFloor},
        {Opcode::kCosine, Opcode::kSine},
        {Opcode::kDivide, Opcode::kMultiply},
        {Opcode::kExponential, Opcode::kExponentialMinusOne},
        {Opcode::kFloor, Opcode::kCeil},
        {Opcode::kLog, Opcode::kLogPlusOne},
        {Opcode::kLogPlusOne, Opcode::kLog},
        {Opcode::kMaximum, Opcode::kMinimum},
        {Opcode::kMinimum, Opcode::kMaximum},
        {Opcode::kMultiply, Opcode::kAdd},
        {Opcode::kMultiply, Opcode::kMaximum},
        {Opcode::kNegate, Opcode::kAbs},
        {Opcode::kOr, Opcode::kAnd},
        {Opcode::kPower, Opcode::kMultiply},
        {Opcode::kRsqrt, Opcode::kSqrt},
        {Opcode::kShiftLeft, Opcode::kShiftRightLogical},
        {Opcode::kShiftRightLogical, Opcode::kShiftLeft},
        {Opcode::kSine, Opcode::kCosine},
        {Opcode::kSqrt, Opcode::kRsqrt},
        {Opcode::kSubtract, Opcode::kAdd},
        {Opcode::kTanh, Opcode::kLogistic},
        {Opcode::kXor, Opcode::kOr},
    };
    for (const auto& [right, wrong] : kTaken)
      if (instruction_.opcode() == right) AddOp(wrong);
    switch (instruction_.opcode()) {
      case Opcode::kSubtract:
      case Opcode::kDivide:
      case Opcode::kPower:
        Add("operands", "swapped", SwappedOperands(0, 1));
        break;
      case Opcode::kAbs:
      case Opcode::kExponential:
      case Opcode::kLog:
      case Opcode::kNegate:
      case Opcode::kSqrt:
      case Opcode::kTanh:
        Add("op", "left out", LeftOut(0));
        break;
      case Opcode::kMultiply:
      case Opcode::kAdd:
        Add("op", "second operand left out", LeftOut(0));
        break;
      default:
        break;
    }
  }

  // One element of a constant, of floats also all of them.
  void ListConstant() {
    const Literal* literal = instruction_.literal();
    if (instruction_.opcode() != Opcode::kConstant || literal == nullptr) return;
    const ElementType type = instruction_.shape().element_type();
    if (literal->element_count() == 0 || !(IsFloat(type) || IsInteger(type) || IsPred(type)))
      return;
    if (!IsFloat(type)) {
      Add("constant", IsPred(type) ? "the other value" : "one more",
          OtherElement([](Literal& value, int64_t at) {
            const int64_t old = value.GetInteger(at);
            value.SetInteger(at, IsPred(value.element_type()) ? 1 - old : old + 1);
          }));
      return;
    }
    Add("constant", "a sixteenth more", OtherElement([](Literal& value, int64_t at) {
          const double old = value.GetDouble(at);
          value.SetDouble(at, !std::isfinite(old) ? 0 : old == 0 ? 1 : old * 1.0625);
        }));
    Add("sign of a constant", "the other", OtherElements([](double old) { return -old; }));
    Add("tenth of a constant", "more", OtherElements([](double old) { return old * 1.1; }));
    Add("tenth of a constant", "less", OtherElements([](double old) { return old * 0.9; }));
  }

  template <typename F>
  static Make OtherElement(F change) {
    return [change](Instruction* instruction) {
      Literal value = *instruction->literal();
      change(value, value.element_count() / 2);
      instruction->set_literal(std::make_shared<const Literal>(std::move(value)));
    };
  }

  template <typename F>
  static Make OtherElements(F change) {
    return [change](Instruction* instruction) {
      Literal value = *instruction->literal();
      for (int64_t i = 0; i < value.element_count(); ++i)
        value.SetDouble(i, change(value.GetDouble(i)));
      instruction->set_literal(std::make_shared<const Literal>(std::move(value)));
    };
  }

  // A conversion that is not made: there and back again, the bits taken as they are, or a number
  // that is not brought to a whole one first.
  void ListConvert() {
    if (instruction_.opcode() != Opcode::kConvert) return;
    const Instruction& operand = *instruction_.operand(0);
    const ElementType from = operand.shape().element_type();
    const ElementType to = instruction_.shape().element_type();
    if (operand.opcode() == Opcode::kConvert && operand.operand(0)->shape() == instruction_.shape())
      Add("convert", "left out, there and back", [](Instruction* instruction) {
        Replace(instruction, instruction->operand(0)->operand(0));
      });
    const bool is_float_to_integer = IsFloat(from) && IsInteger(to);
    if (!IsPred(from) && !IsPred(to) && BitWidth(from) == BitWidth(to) && from != to &&
        (IsFloat(from) || IsFloat(to))) {
      Add("convert", "the bits as they are", OtherOp(Opcode::kBitcastConvert));
    }
    if (is_float_to_integer) {
      Add("convert", "to the nearest", [](Instruction* instruction) {
        Instruction* whole = instruction->parent()->Add(
            Opcode::kRoundNearestEven, instruction->operand(0)->shape(), {instruction->operand(0)});
        instruction->ReplaceOperand(0, whole);
      });
    }
  }

  // Two dimensions that are mistaken for each other where the shapes allow it.
  void ListAxes() {
    const std::vector<int64_t> taken(instruction_.attributes().Integers(Attr::kDimensions).begin(),
                                     instruction_.attributes().Integers(Attr::kDimensions).end());
    auto swapped = [&](size_t i, size_t j) {
      Int64List dimensions(taken.begin(), taken.end());
      std::swap(dimensions[i], dimensions[j]);
      Add("axis", StrCat("dimensions ", i, " and ", j, " swapped"),
          OtherAttribute(Attr::kDimensions, std::move(dimensions)));
    };
    auto other = [&](Attr attr, std::vector<int64_t> list, size_t i, int64_t dimension) {
      if (std::find(list.begin(), list.end(), dimension) != list.end()) return;
      list[i] = dimension;
      Add("axis", StrCat("dimension ", dimension, " in place of ", i),
          OtherAttribute(attr, Int64List(list.begin(), list.end())));
    };
    const Opcode opcode = instruction_.opcode();
    if (opcode == Opcode::kTranspose || opcode == Opcode::kBroadcast) {
      for (size_t i = 0; i < taken.size(); ++i)
        for (size_t j = i + 1; j < taken.size(); ++j) swapped(i, j);
    }
    const bool has_list =
        opcode == Opcode::kBroadcast || opcode == Opcode::kReduce || opcode == Opcode::kReverse;
    if (has_list && !taken.empty()) {
      const Shape& whole =
          opcode == Opcode::kReduce ? instruction_.operand(0)->shape() : instruction_.shape();
      for (int64_t d = 0; d < whole.rank(); ++d) other(Attr::kDimensions, taken, 0, d);
    }
    if (opcode == Opcode::kDot) {
      for (const auto& [attr, k] :
           {std::pair(Attr::kLhsContractingDims, 0), std::pair(Attr::kRhsContractingDims, 1)}) {
        const absl::Span<const int64_t> list = instruction_.attributes().Integers(attr);
        if (list.empty()) continue;
        for (int64_t d = 0; d < instruction_.operand(k)->shape().rank(); ++d)
          other(attr, std::vector<int64_t>(list.begin(), list.end()), 0, d);
      }
    }
    if (opcode == Opcode::kIota) {
      for (int64_t d = 0; d < instruction_.shape().rank(); ++d)
        if (d != instruction_.attributes().Integer(Attr::kIotaDimension))
          Add("axis", StrCat("along dimension ", d),
              OtherAttribute(Attr::kIotaDimension, AttrValue(d)));
    }
  }

  void ListMasks() {
    if (instruction_.opcode() == Opcode::kSelect) {
      Add("mask", "arms swapped", SwappedOperands(1, 2));
      Add("mask", "always the first arm", LeftOut(1));
      Add("mask", "always the second arm", LeftOut(2));
    }
    if (instruction_.opcode() == Opcode::kClamp) Add("mask", "left out", LeftOut(1));
    if (instruction_.opcode() != Opcode::kCompare) return;
    static constexpr std::pair<Direction, Direction> kTaken[] = {
        {Direction::kEq, Direction::kNe}, {Direction::kNe, Direction::kEq},
        {Direction::kGe, Direction::kGt}, {Direction::kGt, Direction::kGe},
        {Direction::kLe, Direction::kLt}, {Direction::kLt, Direction::kLe},
        {Direction::kGe, Direction::kLe}, {Direction::kLt, Direction::kGt},
        {Direction::kGt, Direction::kLt}, {Direction::kEq, Direction::kGe}};
    const auto direction = instruction_.attributes().Word<Direction>(Attr::kDirection);
    for (const auto& [right, wrong] : kTaken) {
      if (direction != right) continue;
      const auto index = static_cast<int64_t>(wrong);
      Add("compare", StrCat("compares ", WordAt(Attr::kDirection, index)),
          OtherAttribute(Attr::kDirection, AttrValue(index)));
    }
  }

  static Make OneMore(int64_t operand) {
    return [operand](Instruction* instruction) {
      Computation* unit = instruction->parent();
      Instruction* old = instruction->operand(operand);
      Literal ones(old->shape());
      for (int64_t i = 0; i < ones.element_count(); ++i) ones.SetInteger(i, 1);
      Instruction* one = unit->AddConstant(std::move(ones));
      instruction->ReplaceOperand(operand, unit->Add(Opcode::kAdd, old->shape(), {old, one}));
    };
  }

  void ListIndices() {
    switch (instruction_.opcode()) {
      case Opcode::kSlice:
        ListShiftedSlice();
        break;
      case Opcode::kDynamicSlice:
        for (int64_t k = 1; k < instruction_.operand_count(); ++k)
          Add("start", StrCat("start ", k - 1, " is one more"), OneMore(k));
        break;
      case Opcode::kDynamicUpdateSlice:
        for (int64_t k = 2; k < instruction_.operand_count(); ++k)
          Add("start", StrCat("start ", k - 2, " is one more"), OneMore(k));
        break;
      case Opcode::kGather:
      case Opcode::kScatter:
        Add("index", "indices are one more", OneMore(1));
        break;
      case Opcode::kConcatenate:
        if (instruction_.operand_count() > 1 &&
            instruction_.operand(0)->shape() == instruction_.operand(1)->shape())
          Add("operands", "swapped", SwappedOperands(0, 1));
        break;
      default:
        break;
    }
  }

  void ListShiftedSlice() {
    const absl::Span<const SliceRange> taken = instruction_.attributes().SliceRanges(Attr::kSlice);
    for (size_t d = 0; d < taken.size(); ++d) {
      const int64_t size = instruction_.operand(0)->shape().dimension(static_cast<int64_t>(d));
      const int64_t step = taken[d].limit < size ? 1 : taken[d].start > 0 ? -1 : 0;
      if (step == 0) continue;
      std::vector<SliceRange> ranges(taken.begin(), taken.end());
      ranges[d].start += step;
      ranges[d].limit += step;
      Add("start", StrCat("dimension ", d, " begins ", step, " further"),
          OtherAttribute(Attr::kSlice, AttrValue(std::move(ranges))));
    }
  }

  void ListWindows() {
    const absl::Span<const WindowDim> window = instruction_.attributes().Window(Attr::kWindow);
    for (size_t d = 0; d < window.size(); ++d) {
      std::vector<WindowDim> other(window.begin(), window.end());
      if (other[d].size == 1) continue;
      if (instruction_.opcode() == Opcode::kConvolution) {
        other[d].reversal = !other[d].reversal;
        Add("window", StrCat("dimension ", d, " reversed"),
            OtherAttribute(Attr::kWindow, AttrValue(other)));
        other[d] = window[d];
      }
      --other[d].low;
      ++other[d].high;
      Add("window", StrCat("dimension ", d, " one further"),
          OtherAttribute(Attr::kWindow, AttrValue(std::move(other))));
    }
    const absl::Span<const PaddingDim> padding = instruction_.attributes().Padding(Attr::kPadding);
    for (size_t d = 0; d < padding.size(); ++d) {
      if (padding[d].low == 0 && padding[d].high == 0) continue;
      std::vector<PaddingDim> other(padding.begin(), padding.end());
      const int64_t step = other[d].low > 0 ? -1 : 1;
      other[d].low += step;
      other[d].high -= step;
      Add("window", StrCat("dimension ", d, " padded ", step, " further"),
          OtherAttribute(Attr::kPadding, AttrValue(std::move(other))));
    }
  }

  // Another op in the computation that a reduction applies; of a sort, the other direction.
  void ListReducers() {
    if (instruction_.callees().size() != 1) return;
    const Instruction* root = instruction_.callee()->root();
    if (root->operand_count() != 2) return;
    const bool is_sort = instruction_.opcode() == Opcode::kSort;
    if (!is_sort && !instruction_.shape().IsArray()) return;
    const std::optional<Opcode> wrong =
        is_sort                               ? std::nullopt
        : root->opcode() == Opcode::kAdd      ? std::optional(Opcode::kMaximum)
        : root->opcode() == Opcode::kMaximum  ? std::optional(Opcode::kAdd)
        : root->opcode() == Opcode::kMinimum  ? std::optional(Opcode::kMaximum)
        : root->opcode() == Opcode::kMultiply ? std::optional(Opcode::kAdd)
        : root->opcode() == Opcode::kAnd      ? std::optional(Opcode::kOr)
        : root->opcode() == Opcode::kOr       ? std::optional(Opcode::kAnd)
                                              : std::nullopt;
    if (wrong.has_value()) {
      Add("op", StrCat("reduced by ", Name(*wrong)),
          [op = *wrong](Instruction* instruction) { OtherOp(op)(OwnCallee(instruction)->root()); });
    } else if (is_sort && root->opcode() == Opcode::kCompare) {
      Add("op", "the other direction",
          [](Instruction* instruction) { SwappedOperands(0, 1)(OwnCallee(instruction)->root()); });
    }
  }

  static Computation* OwnCallee(Instruction* instruction) {
    Module& module = *instruction->parent()->parent();
    Computation* own = module.CloneComputation(*instruction->callee(), "mistaken");
    instruction->set_callee(0, own);
    return own;
  }

  void ListPrecision() {
    const ElementType type = instruction_.shape().element_type();
    if (!instruction_.shape().IsArray() || !IsFloat(type)) return;
    ListAccumulation(type);
    static constexpr Opcode kRounded[] = {
        Opcode::kDot,    Opcode::kConvolution, Opcode::kReduce, Opcode::kExponential,
        Opcode::kDivide, Opcode::kMultiply,    Opcode::kRsqrt,  Opcode::kTanh};
    if (std::find(std::begin(kRounded), std::end(kRounded), instruction_.opcode()) ==
        std::end(kRounded))
      return;
    const bool is_half = type == ElementType::kF16;
    const int64_t exponent = is_half ? 5 : 8;
    const int64_t mantissa = type == ElementType::kF32 ? 10 : is_half ? 7 : 4;
    Add("rounding", StrCat("to ", mantissa, " bits"), [=](Instruction* instruction) {
      Instruction* copy = Like(instruction, instruction->opcode(), instruction->operands());
      Replace(instruction, Rounded(copy, exponent, mantissa));
    });
  }

  void ListAccumulation(ElementType type) {
    const Opcode opcode = instruction_.opcode();
    if (type == ElementType::kF32 && (opcode == Opcode::kDot || opcode == Opcode::kConvolution)) {
      Add("accumulation", "operands in bf16", [](Instruction* instruction) {
        for (int64_t k = 0; k < 2; ++k)
          instruction->ReplaceOperand(k, Rounded(instruction->operand(k), 8, 7));
      });
    }
    const bool is_sum = opcode == Opcode::kReduce && type == ElementType::kF32 &&
                        instruction_.operand_count() == 2 &&
                        instruction_.callee()->root()->opcode() == Opcode::kAdd;
    if (is_sum) Add("accumulation", "a sum in bf16", SumInBf16);
  }

  static void SumInBf16(Instruction* instruction) {
    Computation* unit = instruction->parent();
    auto converted = [&](Instruction* value, ElementType type) {
      Shape shape = value->shape();
      shape.set_element_type(type);
      return unit->Add(Opcode::kConvert, std::move(shape), {value});
    };
    Computation* reducer = OwnCallee(instruction);
    for (Instruction* each : *reducer) each->mutable_shape().set_element_type(ElementType::kBF16);
    Shape shape = instruction->shape();
    shape.set_element_type(ElementType::kBF16);
    Instruction* sum = unit->Add(Opcode::kReduce, std::move(shape),
                                 {converted(instruction->operand(0), ElementType::kBF16),
                                  converted(instruction->operand(1), ElementType::kBF16)},
                                 instruction->attributes(), instruction->callees());
    Replace(instruction, converted(sum, ElementType::kF32));
  }

  const Instruction& instruction_;
  std::vector<Mistake>& list_;
};

}  // namespace

std::vector<Mistake> MistakesIn(const Module& flat) {
  std::vector<Mistake> list;
  for (const Computation* unit : CapturableUnits(flat)) {
    for (const Instruction* instruction : *unit) {
      // A loop's counter: with a mistake in it the loop might not end.
      const Shape& shape = instruction->shape();
      const bool may_count =
          unit != flat.entry() && shape.IsScalar() && !IsFloat(shape.element_type());
      if (!may_count) Lister(*instruction, list).List();
    }
  }
  return list;
}

absl::StatusOr<std::unique_ptr<Module>> WithMistake(const Module& module, const Mistake& mistake) {
  std::unique_ptr<Module> copy = module.Clone("");
  Instruction* instruction = nullptr;
  for (Computation* computation : copy->computations())
    for (Instruction* each : *computation)
      if (each->name() == mistake.instruction) instruction = each;
  if (instruction == nullptr) {
    return absl::NotFoundError(
        StrCat("module ", module.name(), " has no instruction ", mistake.instruction));
  }
  mistake.make(instruction);
  OrderByUse(*copy);
  ASSAY_RETURN_IF_ERROR(Verify(*copy));
  return copy;
}

}  // namespace assay
