// Draws random float programs: ops on the values made so far, arguments with the spread of real
// inputs.
#include "reference/testing/float_program.h"

#include <cmath>
#include <limits>

#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// Random numbers are drawn in statements of their own or in braces: the order of function arguments
// differs between compilers.
class Builder {
 public:
  Builder(Random& random, ElementType type, int64_t size)
      : random_(random),
        type_(type),
        size_(size),
        program_{std::make_unique<Module>("random"), {}} {
    entry_ = program_.module->AddComputation("main");
    program_.module->set_entry(entry_);
    for (Opcode combiner : {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum})
      combiners_.push_back(Combiner(combiner));
  }

  FloatProgram Build(int instructions) {
    const int64_t parameters = 1 + random_.Below(3);
    for (int64_t p = 0; p < parameters; ++p) AddParameter(p);
    for (int k = 0; k < instructions; ++k) AddInstruction();
    std::vector<Instruction*> outputs = {vectors_.back()};
    if (random_.Coin()) outputs.push_back(Pick());
    std::vector<Shape> shapes;
    for (const Instruction* output : outputs) shapes.push_back(output->shape());
    entry_->set_root(entry_->Add(Opcode::kTuple, Shape::Tuple(shapes), outputs));
    return std::move(program_);
  }

 private:
  Shape Vector(ElementType type) const { return Shape::Array(type, {size_}); }
  Instruction* Pick() {
    // Prefers the latest values, so that programs are deep.
    const auto n = static_cast<int64_t>(vectors_.size());
    const int64_t back = random_.Coin() ? random_.Below(std::min<int64_t>(n, 3)) : random_.Below(n);
    return vectors_[n - 1 - back];
  }

  void AddParameter(int64_t number) {
    Literal input(Vector(type_));
    for (int64_t i = 0; i < size_; ++i) input.SetDouble(i, RandomValue(random_, type_));
    program_.inputs.push_back(std::move(input));
    vectors_.push_back(entry_->AddParameter(number, Vector(type_)));
  }

  Computation* Combiner(Opcode opcode) {
    Computation* computation = program_.module->AddComputation(Name(opcode));
    const Shape scalar = Shape::Scalar(type_);
    Instruction* a = computation->AddParameter(0, scalar);
    Instruction* b = computation->AddParameter(1, scalar);
    computation->set_root(computation->Add(opcode, scalar, {a, b}));
    return computation;
  }

  Instruction* Broadcast(Instruction* scalar) {
    return entry_->Add(Opcode::kBroadcast, Vector(scalar->shape().element_type()), {scalar},
                       Attributes().Set(Attr::kDimensions, absl::Span<const int64_t>()));
  }
  Instruction* Constant(double value) {
    Literal literal(Shape::Scalar(type_));
    literal.SetDouble(0, value);
    return entry_->AddConstant(std::move(literal));
  }

  Instruction* AddReduce() {
    const int64_t which = random_.Below(3);
    const FloatFormat& format = Format(type_);
    const double least = format.HasInfinity() ? -INFINITY : -format.MaxFinite();
    const double identity = which == 0 ? 0.0 : which == 1 ? 1.0 : least;
    Instruction* init = Constant(identity);
    Computation* callee = combiners_[which];
    Instruction* scalar =
        entry_->Add(Opcode::kReduce, Shape::Scalar(type_), {Pick(), init},
                    Attributes().Set(Attr::kDimensions, {int64_t{0}}), {&callee, 1});
    return Broadcast(scalar);
  }

  Instruction* AddDot() {
    Instruction* scalar = entry_->Add(Opcode::kDot, Shape::Scalar(type_), {Pick(), Pick()},
                                      Attributes()
                                          .Set(Attr::kLhsBatchDims, absl::Span<const int64_t>())
                                          .Set(Attr::kRhsBatchDims, absl::Span<const int64_t>())
                                          .Set(Attr::kLhsContractingDims, {int64_t{0}})
                                          .Set(Attr::kRhsContractingDims, {int64_t{0}}));
    return Broadcast(scalar);
  }

  // A sum by scatter, of updates that meet, of such that miss the result, into zeros or into
  // another value. Something may be added to it, before or after.
  Instruction* AddScatter() {
    Literal places(Shape::Array(ElementType::kS32, {size_}));
    for (int64_t i = 0; i < size_; ++i)
      places.SetInteger(i, random_.OneIn(8) ? size_ : random_.Below((size_ + 1) / 2));
    Instruction* indices = entry_->AddConstant(std::move(places));
    Instruction* start = random_.Coin() ? Broadcast(Constant(0)) : Pick();
    Instruction* sum = entry_->Add(Opcode::kScatter, Vector(type_), {start, indices, Pick()},
                                   Attributes()
                                       .Set(Attr::kUpdateWindowDims, absl::Span<const int64_t>())
                                       .Set(Attr::kInsertedWindowDims, {int64_t{0}})
                                       .Set(Attr::kScatterDimsToOperandDims, {int64_t{0}})
                                       .Set(Attr::kIndexVectorDim, int64_t{1}),
                                   {&combiners_[0], 1});
    if (random_.OneIn(3)) return sum;
    Instruction* other = Pick();
    if (random_.Coin()) std::swap(sum, other);
    return entry_->Add(Opcode::kAdd, Vector(type_), {sum, other});
  }

  // Converts there and back through another float type, or through integers.
  Instruction* AddConvertPair() {
    static constexpr ElementType kOthers[] = {
        ElementType::kBF16,     ElementType::kF32,    ElementType::kF16,      ElementType::kF64,
        ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kF4E2M1FN, ElementType::kS32};
    const ElementType other = kOthers[random_.Below(std::size(kOthers))];
    Instruction* there = entry_->Add(Opcode::kConvert, Vector(other), {Pick()});
    return entry_->Add(Opcode::kConvert, Vector(type_), {there});
  }

  // To a format with fewer bits of the exponent, too.
  Instruction* AddReducePrecision() {
    const FloatFormat& format = Format(type_);
    const int64_t exponent = 2 + random_.Below(format.exponent_bits - 2);
    const int64_t mantissa = 1 + random_.Below(format.mantissa_bits);
    return entry_->Add(
        Opcode::kReducePrecision, Vector(type_), {Pick()},
        Attributes().Set(Attr::kExponentBits, exponent).Set(Attr::kMantissaBits, mantissa));
  }

  Instruction* AddClamp() {
    double low = RandomValue(random_, type_), high = RandomValue(random_, type_);
    if (low > high) std::swap(low, high);
    Instruction* least = Broadcast(Constant(low));
    Instruction* value = Pick();
    Instruction* most = random_.Coin() ? Broadcast(Constant(high)) : Pick();
    return entry_->Add(Opcode::kClamp, Vector(type_), {least, value, most});
  }

  // Sums or products of all that comes before an element, and of itself.
  Instruction* AddPrefixes() {
    const int64_t which = random_.Below(2);
    Instruction* value = Pick();
    Instruction* init = Constant(which == 0 ? 0.0 : 1.0);
    WindowDim window;
    window.size = size_;
    window.low = size_ - 1;
    return entry_->Add(Opcode::kReduceWindow, Vector(type_), {value, init},
                       Attributes().Set(Attr::kWindow, std::vector<WindowDim>{window}),
                       {&combiners_[which], 1});
  }

  Instruction* AddSelect() {
    const auto direction = static_cast<Direction>(random_.Below(6));
    Instruction* predicate =
        entry_->Add(Opcode::kCompare, Vector(ElementType::kPred), {Pick(), Pick()},
                    Attributes().Set(Attr::kDirection, direction));
    return entry_->Add(Opcode::kSelect, Vector(type_), {predicate, Pick(), Pick()});
  }

  Instruction* Vectorwise(Opcode opcode, std::initializer_list<Instruction*> operands) {
    return entry_->Add(opcode, Vector(type_), operands);
  }

  // Operands that licensed forms are about: of exponentials, powers and roots, of ops with
  // constants, and quotients of quotients.
  Instruction* AddForm() {
    static constexpr Opcode kWithConstant[] = {Opcode::kMultiply, Opcode::kDivide, Opcode::kAdd,
                                               Opcode::kSubtract};
    auto constant = [&] { return Broadcast(Constant(RandomValue(random_, type_))); };
    auto with_constant = [&](int64_t kind) {
      const Opcode opcode = kWithConstant[2 * kind + random_.Below(2)];
      return Vectorwise(opcode, {Pick(), constant()});
    };
    const Opcode scale = random_.Coin() ? Opcode::kMultiply : Opcode::kDivide;
    switch (random_.Below(7)) {
      case 0: {
        Instruction* a = Vectorwise(Opcode::kExponential, {Pick()});
        Instruction* b = Vectorwise(Opcode::kExponential, {Pick()});
        return Vectorwise(scale, {a, b});
      }
      case 1: {
        Instruction* b = Vectorwise(Opcode::kExponential, {Pick()});
        return Vectorwise(Opcode::kDivide, {Pick(), b});
      }
      case 2: {
        Instruction* b = Vectorwise(Opcode::kPower, {Pick(), constant()});
        return Vectorwise(Opcode::kDivide, {Pick(), b});
      }
      case 3: {
        Instruction* root = Vectorwise(Opcode::kSqrt, {Pick()});
        return random_.Coin() ? Vectorwise(Opcode::kLog, {root})
                              : Vectorwise(Opcode::kMultiply, {root, root});
      }
      case 4: {
        Instruction* a = with_constant(0);
        return Vectorwise(scale, {a, random_.Coin() ? constant() : with_constant(0)});
      }
      case 5: {
        Instruction* a = with_constant(1);
        return Vectorwise(random_.Coin() ? Opcode::kAdd : Opcode::kSubtract, {a, constant()});
      }
      default: {
        Instruction* a = random_.Coin() ? Pick() : Vectorwise(Opcode::kDivide, {Pick(), Pick()});
        Instruction* b = random_.Coin() ? Pick() : Vectorwise(Opcode::kDivide, {Pick(), Pick()});
        return Vectorwise(Opcode::kDivide, {a, b});
      }
    }
  }

  void AddInstruction() {
    static constexpr Opcode kUnary[] = {Opcode::kNegate,
                                        Opcode::kAbs,
                                        Opcode::kExponential,
                                        Opcode::kLog,
                                        Opcode::kTanh,
                                        Opcode::kSqrt,
                                        Opcode::kRsqrt,
                                        Opcode::kFloor,
                                        Opcode::kRoundNearestEven,
                                        Opcode::kSign,
                                        Opcode::kCeil,
                                        Opcode::kReverse,
                                        Opcode::kLogistic,
                                        Opcode::kErf,
                                        Opcode::kCbrt,
                                        Opcode::kSine,
                                        Opcode::kCosine,
                                        Opcode::kTan,
                                        Opcode::kLogPlusOne,
                                        Opcode::kExponentialMinusOne};
    static constexpr Opcode kBinary[] = {Opcode::kAdd,       Opcode::kSubtract, Opcode::kMultiply,
                                         Opcode::kMultiply,  Opcode::kAdd,      Opcode::kMaximum,
                                         Opcode::kMinimum,   Opcode::kDivide,   Opcode::kSubtract,
                                         Opcode::kRemainder, Opcode::kPower,    Opcode::kAtan2};
    Instruction* made = nullptr;
    const int64_t kind = random_.Below(27);
    if (kind < 9) {
      const Opcode opcode = kBinary[random_.Below(std::size(kBinary))];
      made = entry_->Add(opcode, Vector(type_), {Pick(), Pick()});
    } else if (kind < 13) {
      const Opcode opcode = kUnary[random_.Below(std::size(kUnary))];
      Attributes attributes;
      if (opcode == Opcode::kReverse) attributes.Set(Attr::kDimensions, {int64_t{0}});
      made = entry_->Add(opcode, Vector(type_), {Pick()}, std::move(attributes));
    } else if (kind < 14) {
      made = AddReduce();
    } else if (kind < 15) {
      made = AddDot();
    } else if (kind < 16) {
      made = AddConvertPair();
    } else if (kind < 17) {
      made = AddSelect();
    } else if (kind < 18) {
      Instruction* divisor = random_.Coin() ? entry_->Add(Opcode::kSqrt, Vector(type_), {Pick()})
                                            : Broadcast(Constant(RandomValue(random_, type_)));
      made = entry_->Add(Opcode::kDivide, Vector(type_), {Pick(), divisor});
    } else if (kind < 19) {
      made = AddScatter();
    } else if (kind < 22) {
      made = AddForm();
    } else if (kind < 23) {
      made = AddClamp();
    } else if (kind < 24) {
      made = BitWidth(type_) > 8 ? AddReducePrecision() : AddClamp();
    } else if (kind < 25) {
      made = AddPrefixes();
    } else {
      const Opcode opcode = random_.Coin() ? Opcode::kMultiply : Opcode::kAdd;
      made = entry_->Add(opcode, Vector(type_),
                         {Pick(), Broadcast(Constant(RandomValue(random_, type_)))});
    }
    vectors_.push_back(made);
  }

  Random& random_;
  ElementType type_;
  int64_t size_;
  FloatProgram program_;
  Computation* entry_;
  std::vector<Computation*> combiners_;
  std::vector<Instruction*> vectors_;
};

}  // namespace

FloatProgram RandomFloatProgram(Random& random, ElementType type, int64_t size, int instructions) {
  return Builder(random, type, size).Build(instructions);
}

double RandomValue(Random& random, ElementType type) {
  const FloatFormat& format = Format(type);
  const double sign = random.Coin() ? 1 : -1;
  switch (random.Below(40)) {
    case 0:
      return sign * 0.0;
    case 1:
      return sign * format.MinSubnormal() * static_cast<double>(1 + random.Below(100));
    case 2:
      return sign * format.MaxFinite() * random.Between(0.1, 1);
    case 3:
      return random.OneIn(3) ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    case 4:
    case 5:
    case 6:
    case 7:
      return sign * static_cast<double>(random.Below(17));
    case 8:
    case 9: {
      const int exponent = static_cast<int>(random.Below(20)) - 10;
      return sign * std::ldexp(random.Between(1, 2), exponent);
    }
    default:
      return random.Between(-4, 4);
  }
}

}  // namespace assay::reference
