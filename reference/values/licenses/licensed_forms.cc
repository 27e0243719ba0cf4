// The search for operands that license another form of an instruction: quotients of quotients,
// chains of constants, exponentials, roots.
#include "reference/values/licenses/licensed_forms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "reference/values/combiner.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

using Predicate = std::function<bool(const Instruction&)>;

// The functions that a compiler evaluates when their operands are constants, as far as programs
// make constants of them.
struct FoldedFunction {
  Opcode opcode;
  double (*unary)(double);
  double (*binary)(double, double);
};
constexpr FoldedFunction kFoldedFunctions[] = {
    {Opcode::kAbs, [](double x) { return std::fabs(x); }, nullptr},
    {Opcode::kConvert, [](double x) { return x; }, nullptr},
    {Opcode::kExponential, [](double x) { return std::exp(x); }, nullptr},
    {Opcode::kLog, [](double x) { return std::log(x); }, nullptr},
    {Opcode::kNegate, [](double x) { return -x; }, nullptr},
    {Opcode::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, nullptr},
    {Opcode::kSqrt, [](double x) { return std::sqrt(x); }, nullptr},
    {Opcode::kTanh, [](double x) { return std::tanh(x); }, nullptr},
    {Opcode::kAdd, nullptr, [](double x, double y) { return x + y; }},
    {Opcode::kDivide, nullptr, [](double x, double y) { return x / y; }},
    {Opcode::kMultiply, nullptr, [](double x, double y) { return x * y; }},
    {Opcode::kPower, nullptr, [](double x, double y) { return std::pow(x, y); }},
    {Opcode::kSubtract, nullptr, [](double x, double y) { return x - y; }},
};

// About the elements of a small array that is made of constants alone; empty if it is none. One
// element stands for all of a splat.
std::vector<double> FoldedElements(const Instruction& value, int depth = 4) {
  constexpr int64_t kMostElements = 1024;
  const Shape& shape = value.shape();
  if (!shape.IsArray() || !IsFloat(shape.element_type()) || shape.ElementCount() > kMostElements)
    return {};
  std::vector<double> elements;
  if (value.opcode() == Opcode::kConstant) {
    if (value.literal() == nullptr) return {};
    for (int64_t i = 0; i < value.literal()->element_count(); ++i)
      elements.push_back(value.literal()->GetDouble(i));
    return elements;
  }
  if (depth == 0) return {};
  if (value.opcode() == Opcode::kBroadcast && value.operand(0)->shape().IsScalar())
    return FoldedElements(*value.operand(0), depth - 1);
  for (const FoldedFunction& function : kFoldedFunctions) {
    if (function.opcode != value.opcode()) continue;
    const std::vector<double> x = FoldedElements(*value.operand(0), depth - 1);
    if (x.empty()) return {};
    if (function.unary != nullptr) {
      for (double element : x) elements.push_back(function.unary(element));
      return elements;
    }
    const std::vector<double> y = FoldedElements(*value.operand(1), depth - 1);
    for (size_t i = 0; !y.empty() && i < std::max(x.size(), y.size()); ++i)
      elements.push_back(function.binary(x[i % x.size()], y[i % y.size()]));
    return elements;
  }
  return {};
}

// True if no element of the result is larger than the largest of the operands, but for a rounding.
bool KeepsMagnitude(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kClamp:
    case Opcode::kConvert:
    case Opcode::kImag:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRemainder:
    case Opcode::kSelect:
      return true;
    default:
      return Info(opcode).Is(kDataMovement) && opcode != Opcode::kBitcastConvert &&
             opcode != Opcode::kBitcast;
  }
}

// True if a concatenation repeats one number.
bool RepeatsOne(const Instruction& value) {
  if (value.opcode() != Opcode::kConcatenate || value.operand(0)->shape().ElementCount() != 1)
    return false;
  return std::all_of(value.operands().begin(), value.operands().end(),
                     [&](const Instruction* operand) { return operand == value.operand(0); });
}

double LargestMagnitude(const Literal& literal) {
  double largest = 0;
  for (int64_t k = 0; k < literal.component_count(); ++k)
    largest = std::max(largest, std::fabs(literal.GetComponent(k)));
  return largest;
}

// What is asked of a constant: a look at all elements is saved where one only asks if there is one.
enum class Ask : uint8_t { kWhether, kMagnitude };

// Compilers fold every op on constants alone. A magnitude that none of its elements exceeds, which
// is infinite where it would have to be computed; negative if a value is not made of constants.
double MagnitudeOfConstants(const Instruction& value, Ask ask, int& left) {
  if (left-- <= 0) return -1;
  const OpInfo& info = Info(value.opcode());
  if (info.Is(kSideEffect) || value.opcode() == Opcode::kRng) return -1;
  if (value.opcode() == Opcode::kIota) return static_cast<double>(value.shape().ElementCount());
  if (value.opcode() == Opcode::kConstant) {
    const Literal* literal = value.literal();
    if (literal == nullptr || !literal->shape().IsArray()) return -1;
    return ask == Ask::kMagnitude ? LargestMagnitude(*literal) : 0;
  }
  if (value.operands().empty()) return -1;
  double largest = 0;
  for (const Instruction* operand : value.operands()) {
    const double magnitude = MagnitudeOfConstants(*operand, ask, left);
    if (magnitude < 0) return -1;
    // Indices and predicates only choose.
    const bool is_number = value.opcode() == Opcode::kConvert ||
                           operand->shape().element_type() == value.shape().element_type() ||
                           IsComplex(operand->shape().element_type());
    if (is_number) largest = std::max(largest, magnitude);
  }
  constexpr double kRounded = 1.125;
  return KeepsMagnitude(value.opcode()) ? largest * kRounded
                                        : std::numeric_limits<double>::infinity();
}

// True if the op moves no element and adds none, so that compilers take its operand instead.
bool ChangesNothing(const Instruction& value) {
  const Shape& shape = value.shape();
  if (shape.dimensions() != value.operand(0)->shape().dimensions()) return false;
  switch (value.opcode()) {
    case Opcode::kPad: {
      const absl::Span<const PaddingDim> padding = value.attributes().Padding(Attr::kPadding);
      return std::all_of(padding.begin(), padding.end(), [](const PaddingDim& dim) {
        return dim.low == 0 && dim.high == 0 && dim.interior == 0;
      });
    }
    default:
      return true;  // a slice or a concatenate of the same size
  }
}

// Looks for what makes a value, through what only moves or repeats its elements, since compilers
// compute before they do that, and across the calls that they inline.
class Producers {
 public:
  explicit Producers(const InliningCallers& callers) : callers_(callers) {}

  // True if one of the instructions that may make the value has the property.
  bool Any(const Instruction& value, const Predicate& property) {
    left_ = kMostVisits;
    return Visit(value, property, /*through_broadcasts=*/true);
  }

  bool IsA(const Instruction& value, Opcode opcode) {
    return Any(value, [&](const Instruction& made) { return made.opcode() == opcode; });
  }

  // The first of those with the opcode; null if there is none.
  const Instruction* Find(const Instruction& value, Opcode opcode) {
    const Instruction* found = nullptr;
    Any(value, [&](const Instruction& made) {
      if (made.opcode() == opcode) found = &made;
      return found != nullptr;
    });
    return found;
  }

  // True if a smaller array determines the value: one that was broadcast, or what element-wise ops
  // made of such and of constants. Compilers compute that before it is broadcast.
  bool IsWidened(const Instruction& value) {
    left_ = kMostVisits;
    return VisitWidened(value);
  }

  // From now on functions of constant arrays are constants, and not only those of one number.
  void FoldArrays() { folds_arrays_ = true; }

  // The largest magnitude of the constant that the value is, of complex numbers that of a part;
  // negative if it is none.
  double ConstantMagnitude(const Instruction& value) { return Constant(value, Ask::kMagnitude); }
  bool IsConstant(const Instruction& value) { return Constant(value, Ask::kWhether) >= 0; }

 private:
  double Constant(const Instruction& value, Ask ask) {
    double largest = -1;
    auto is_constant = [&](const Instruction& made) {
      if (made.opcode() != Opcode::kConstant) {
        // What only widens or converts an array is looked through.
        const bool is_one = made.shape().IsArray() && made.shape().ElementCount() == 1;
        const bool is_looked_through = made.opcode() == Opcode::kBroadcast ||
                                       (made.opcode() == Opcode::kConvert && !is_one) ||
                                       !(folds_arrays_ || is_one || RepeatsOne(made));
        if (is_looked_through) return false;
        const std::vector<double> folded = FoldedElements(made);
        if (folded.empty()) {
          int left = kMostVisits;
          if (!IsComplex(made.shape().element_type()))
            largest = MagnitudeOfConstants(made, ask, left);
          return largest >= 0;
        }
        largest = 0;
        // Rounding to a narrow type adds an eighth at most.
        for (double element : folded) {
          if (std::isnan(element)) return false;
          largest = std::max(largest, std::fabs(element) * 1.125);
        }
        return true;
      }
      if (made.literal() == nullptr) return false;
      const Literal& literal = *made.literal();
      if (literal.element_count() == 1 && std::isnan(literal.GetComponent(0))) return false;
      largest = ask == Ask::kMagnitude ? LargestMagnitude(literal) : 0;
      return true;
    };
    return Any(value, is_constant) ? largest : -1;
  }

  bool folds_arrays_ = false;
  // Computations with many callers are looked at in part.
  static constexpr int kMostVisits = 64;

  bool VisitWidened(const Instruction& value) {
    return Visit(value, [this](const Instruction& made) { return MakesWidened(made); }, false);
  }

  bool MakesWidened(const Instruction& made) {
    if (made.opcode() == Opcode::kBroadcast)
      return made.operand(0)->shape().ElementCount() < made.shape().ElementCount();
    if (!Info(made.opcode()).Is(kElementwise)) return false;
    auto is_constant = [](const Instruction& value) { return value.opcode() == Opcode::kConstant; };
    bool any = false;
    for (const Instruction* operand : made.operands()) {
      const bool is_widened = VisitWidened(*operand);
      if (!is_widened && !Visit(*operand, is_constant, /*through_broadcasts=*/true)) return false;
      any = any || is_widened;
    }
    return any;
  }

  bool Visit(const Instruction& value, const Predicate& property, bool through_broadcasts) {
    if (left_-- <= 0) return false;
    if (property(value)) return true;
    auto operand = [&](int64_t i) {
      return Visit(*value.operand(i), property, through_broadcasts);
    };
    switch (value.opcode()) {
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kCopy:
      case Opcode::kTranspose:
      case Opcode::kReverse:
      case Opcode::kOptBarrier:
        return operand(0);
      case Opcode::kConvert:
        return value.shape().element_type() == value.operand(0)->shape().element_type() &&
               operand(0);
      case Opcode::kSlice:
      case Opcode::kPad:
      case Opcode::kConcatenate:
        return ChangesNothing(value) && operand(0);
      case Opcode::kBroadcast: {
        const bool keeps_elements =
            value.shape().ElementCount() == value.operand(0)->shape().ElementCount();
        return (through_broadcasts || keeps_elements) && operand(0);
      }
      case Opcode::kCall:
      case Opcode::kFusion:
        return Visit(*value.callee()->root(), property, through_broadcasts);
      case Opcode::kGetTupleElement: {
        const Instruction* tuple = value.operand(0);
        if (tuple->opcode() == Opcode::kCall || tuple->opcode() == Opcode::kFusion)
          tuple = tuple->callee()->root();
        return tuple->opcode() == Opcode::kTuple &&
               Visit(*tuple->operand(value.tuple_index()), property, through_broadcasts);
      }
      case Opcode::kParameter: {
        const auto at = callers_.find(value.parent());
        return at != callers_.end() &&
               std::any_of(at->second.begin(), at->second.end(), [&](const Instruction* caller) {
                 return Visit(*caller->operand(value.parameter_number()), property,
                              through_broadcasts);
               });
      }
      default:
        return false;
    }
  }

  const InliningCallers& callers_;
  int left_ = 0;
};

bool IsScaling(const Instruction& value) {
  return value.opcode() == Opcode::kMultiply || value.opcode() == Opcode::kDivide;
}
bool IsShift(const Instruction& value) {
  return value.opcode() == Opcode::kAdd || value.opcode() == Opcode::kSubtract;
}

// If the operand `which` of `outer` was made by an op with `is_step` that has a constant operand,
// returns the largest magnitude of that one; otherwise a negative number.
double ConstantBefore(const Instruction& outer, int64_t which, Producers& producers,
                      bool (*is_step)(const Instruction&)) {
  double inner = -1;
  auto is_chain = [&](const Instruction& made) {
    if (!is_step(made)) return false;
    Producers nested(producers);
    for (const Instruction* operand : made.operands())
      inner = std::max(inner, nested.ConstantMagnitude(*operand));
    return inner >= 0;
  };
  return producers.Any(*outer.operand(which), is_chain) ? inner : -1;
}

// The same of the operand beside a constant.
double ChainOfConstants(const Instruction& outer, Producers& producers,
                        bool (*is_step)(const Instruction&)) {
  for (int64_t k : {0, 1}) {
    if (!producers.IsConstant(*outer.operand(k))) continue;
    const double inner = ConstantBefore(outer, 1 - k, producers, is_step);
    if (inner >= 0) return inner;
  }
  return -1;
}

// The same of the operand beside a factor, or a divisor, that is broadcast.
double ScaleBeforeBroadcast(const Instruction& outer, Producers& producers) {
  for (int64_t k : {1, 0}) {
    if (k == 0 && outer.opcode() == Opcode::kDivide) break;
    if (!producers.IsWidened(*outer.operand(k))) continue;
    const double inner = ConstantBefore(outer, 1 - k, producers, IsScaling);
    if (inner >= 0) return inner;
  }
  return -1;
}

bool IsSum(const Instruction& value) {
  return value.opcode() == Opcode::kReduce && value.shape().IsArray() &&
         RecognisedCombiner(*value.callee()) == Opcode::kAdd;
}

int64_t TermsOfOneResult(const Instruction& sum) {
  const int64_t results = sum.shape().ElementCount();
  return results == 0 ? 0 : sum.operand(0)->shape().ElementCount() / results;
}

// The terms of the sum of sums that `sum` is the inner part of; 0 if it is none.
int64_t TermsOfWholeSum(const Instruction& sum) {
  const Instruction* value = &sum;
  while (value->users().size() == 1 && value != value->parent()->root()) {
    const Instruction* user = value->users()[0];
    if (IsSum(*user) && user->operand(0) == value)
      return TermsOfOneResult(sum) * TermsOfOneResult(*user);
    const bool moves = user->opcode() == Opcode::kReshape || user->opcode() == Opcode::kBitcast ||
                       user->opcode() == Opcode::kCopy || user->opcode() == Opcode::kTranspose;
    if (!moves) return 0;
    value = user;
  }
  return 0;
}

bool AddsUp(const Instruction& scatter) {
  return scatter.opcode() == Opcode::kScatter && scatter.shape().IsArray() &&
         (IsFloat(scatter.shape().element_type()) || IsComplex(scatter.shape().element_type())) &&
         RecognisedCombiner(*scatter.callee()) == Opcode::kAdd;
}

// True if nothing uses the value but an addition, moves and scatters on the way looked through. In
// computations that compilers inline it may leave them, or go into others.
bool OnlyMeetsAddition(const Instruction& value, const InliningCallers& callers) {
  constexpr int kMostSteps = 16;  // so that a chain of scatters is not walked once for each
  const Instruction* at = &value;
  for (int step = 0; step < kMostSteps; ++step) {
    const bool is_inlined = callers.contains(at->parent());
    if (at == at->parent()->root()) return is_inlined && at->users().empty();
    if (at->users().size() != 1) return false;
    const Instruction* user = at->users()[0];
    switch (user->opcode()) {
      case Opcode::kAdd:
      case Opcode::kCall:
      case Opcode::kFusion:
        return true;
      case Opcode::kTuple:
        return is_inlined;
      case Opcode::kReshape:
      case Opcode::kCopy:
        break;
      case Opcode::kScatter:
        if (!AddsUp(*user) || user->operand(0) != at) return false;
        break;
      default:
        return false;
    }
    at = user;
  }
  return false;
}

// Constants that scale what was scaled, or are added to what was shifted.
void FindChains(const Instruction& instruction, Producers& producers, LicensedForms& found) {
  if (IsScaling(instruction)) {
    const double inner = std::max(ChainOfConstants(instruction, producers, IsScaling),
                                  ScaleBeforeBroadcast(instruction, producers));
    found.scales_twice = inner >= 0;
    found.first_scale = std::max(inner, 0.0);
  }
  if (IsShift(instruction)) {
    producers.FoldArrays();
    const double inner = ChainOfConstants(instruction, producers, IsShift);
    found.shifts_twice = inner >= 0;
    found.first_shift = std::max(inner, 0.0);
  }
}

bool IsExponential(const Instruction& value, Producers& producers) {
  auto is_exponential = [&](const Instruction& made) {
    if (made.opcode() == Opcode::kExponential) return true;
    if (made.opcode() != Opcode::kMultiply) return false;
    Producers nested(producers);
    return nested.IsA(*made.operand(0), Opcode::kExponential) &&
           nested.IsA(*made.operand(1), Opcode::kExponential);
  };
  return producers.Any(value, is_exponential);
}

}  // namespace

InliningCallers FindInliningCallers(const Module& module) {
  InliningCallers callers;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (instruction->opcode() == Opcode::kCall || instruction->opcode() == Opcode::kFusion)
        callers[instruction->callee()].push_back(instruction);
    }
  }
  return callers;
}

bool DividesByRoot(const Instruction& quotient, const InliningCallers& callers) {
  return Producers(callers).IsA(*quotient.operand(1), Opcode::kSqrt);
}

LicensedForms LicensedFormsOf(const Instruction& instruction, const InliningCallers& callers) {
  LicensedForms found;
  if (IsSum(instruction)) found.terms_of_whole_sum = TermsOfWholeSum(instruction);
  if (AddsUp(instruction)) found.may_start_from_sum = OnlyMeetsAddition(instruction, callers);
  const ElementType type = instruction.shape().element_type();
  if (!IsFloat(type) && !IsComplex(type)) return found;
  Producers producers(callers);
  const Opcode opcode = instruction.opcode();
  if (IsComplex(type)) {
    FindChains(instruction, producers, found);
    return found;
  }
  if (opcode == Opcode::kLog) {
    found.is_log_of_root = producers.IsA(*instruction.operand(0), Opcode::kSqrt);
    return found;
  }
  if (opcode == Opcode::kDivide) {
    for (const Instruction* operand : instruction.operands())
      found.quotients += producers.IsA(*operand, Opcode::kDivide) ? 1 : 0;
    for (Opcode function : {Opcode::kExponential, Opcode::kPower})
      if (producers.IsA(*instruction.operand(1), function)) found.inverted = function;
  }
  if (IsScaling(instruction)) {
    found.joins_exponentials = IsExponential(*instruction.operand(0), producers) &&
                               IsExponential(*instruction.operand(1), producers);
  }
  if (opcode == Opcode::kMultiply) {
    const Instruction* root = producers.Find(*instruction.operand(0), Opcode::kSqrt);
    const Instruction* other = producers.Find(*instruction.operand(1), Opcode::kSqrt);
    found.squares_root =
        root != nullptr && other != nullptr && root->operand(0) == other->operand(0);
  }
  FindChains(instruction, producers, found);
  return found;
}

}  // namespace assay::reference
